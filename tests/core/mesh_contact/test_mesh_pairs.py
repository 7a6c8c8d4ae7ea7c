# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored pairs of meshes are as described: solids that penetrate, and translations that separate them."""

from __future__ import annotations

import fcl
import numpy as np
import pytest

from ..mesh_pairs import COUNT, MESHES, mesh_of, mesh_pairs
from ..mesh_shapes import Surface
from ..meshes.test_mesh_distance import fcl_object


@pytest.mark.parametrize("index", range(MESHES))
def test_meshes_are_closed_and_of_the_stated_size(index):
    points, triangles = mesh_of(index)
    assert 500 <= len(triangles) <= 12_000
    sides = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    there, counts = np.unique(sides, axis=0, return_counts=True)
    assert (counts == 1).all()
    assert np.array_equal(there, np.unique(sides[:, ::-1], axis=0))
    assert volume((points, triangles)) > 0.0


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("index", range(COUNT))
def test_best_translation_separates_and_a_shorter_one_does_not(index: int):
    (pair,) = mesh_pairs([index])

    def meet(fraction: float) -> bool:
        moved = pair.b[0] + fraction * pair.best, pair.b[1]
        return fcl.collide(fcl_object(pair.a), fcl_object(moved)) > 0

    assert not meet(1.0)
    assert meet(1.0 - 1e-5)
    assert meet(0.0) or turns_around(pair.a, pair.b[0][0]) == pytest.approx(1.0)


def volume(surface: Surface) -> float:
    """The volume inside a closed surface."""
    p, q, r = (surface[0][surface[1][:, k]] for k in range(3))
    return float((p * np.cross(q, r)).sum() / 6.0)


def turns_around(surface: Surface, point: np.ndarray) -> float:
    """How many times a closed surface winds around a point: 1 inside."""
    corners = surface[0][surface[1]] - point
    p, q, r = (corners[:, k] for k in range(3))
    lp, lq, lr = np.linalg.norm(corners, axis=2).T
    cosines = lp * lq * lr + (p * q).sum(axis=1) * lr + (q * r).sum(axis=1) * lp + (r * p).sum(axis=1) * lq
    return float(np.arctan2((p * np.cross(q, r)).sum(axis=1), cosines).sum() / (2.0 * np.pi))
