# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles whose boxes overlap, against a look at all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest

from contact_lens.core.meshes import triangle_candidates as module
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.triangle_candidates import triangle_candidates


def overlapping(a: Mesh, b: Mesh) -> np.ndarray:
    """All pairs of triangles whose boxes overlap, one triangle of A at a time."""
    corners = [mesh.points[mesh.triangles] for mesh in (a, b)]
    (low, high), (its_low, its_high) = ((c.min(axis=1), c.max(axis=1)) for c in corners)
    rows = []
    for i in range(len(low)):
        j = np.flatnonzero(((low[i] <= its_high) & (its_low <= high[i])).all(axis=1))
        rows.append(np.stack([np.full(len(j), i), j], axis=1))
    return np.concatenate(rows)


def soup(rng: np.random.Generator, count: int, size: float) -> np.ndarray:
    """Corners (count, 3, 3) of small triangles in a cube of side 2."""
    return rng.uniform(-1.0, 1.0, (count, 1, 3)) + size * rng.normal(size=(count, 3, 3))


def pairs_of_soups() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Two sets of triangles, of kinds that are hard on cells."""
    rng = np.random.default_rng(7)
    for size in (0.01, 0.05, 0.3):
        yield f"size {size}", soup(rng, 900, size), soup(rng, 700, size)
        yield f"beside, {size}", soup(rng, 900, size), soup(rng, 700, size) + [1.9, 0.3, -0.2]
    giant = soup(rng, 900, 0.02)
    giant[17] *= 50.0
    yield "a giant", giant, soup(rng, 700, 0.02)
    yield "lattice", np.round(8.0 * soup(rng, 900, 0.05)), np.round(8.0 * soup(rng, 700, 0.05)) + [3.0, 0.0, 0.0]
    yield "one plane", soup(rng, 900, 0.05) * [1.0, 1.0, 0.0], soup(rng, 700, 0.05) * [1.0, 1.0, 0.0]
    yield "boxes touch", np.clip(soup(rng, 900, 0.05), -1, 0), np.clip(soup(rng, 700, 0.05), [0, -1, -1], 1)
    yield "one point", np.full((900, 3, 3), 0.7), np.full((700, 3, 3), 0.7)
    yield "far", soup(rng, 900, 0.05) + 1e6, soup(rng, 700, 0.05) + 1e6
    yield "rounded", soup(rng, 900, 0.05) * 1e-10 + 1e5, soup(rng, 700, 0.05) * 1e-10 + 1e5
    for scale in (1e-300, 1e-150, 1e150):
        yield f"times {scale}", soup(rng, 900, 0.05) * scale, soup(rng, 700, 0.05) * scale
    yield "a small one in a large one", soup(rng, 900, 0.05), soup(rng, 700, 0.05) * 1e-3 + 0.1
    yield "far apart", soup(rng, 900, 0.05), soup(rng, 700, 0.05) + 10.0


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("chunk", [100, 1 << 15])
def test_candidates_are_those_of_a_look_at_all(chunk: int) -> None:
    culled = 0
    for name, one, other in pairs_of_soups():
        a, b = (Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)) for corners in (one, other))
        with mock.patch.object(module, "_CHUNK", chunk):
            found = triangle_candidates(a, b)
            culled += len(a.triangles) + len(b.triangles) - sum(map(len, module._in_common(a, b)))
        assert np.array_equal(found.T, overlapping(a, b)), name
    assert culled > 5000


def test_a_point_that_no_triangle_uses_changes_nothing() -> None:
    rng = np.random.default_rng(8)
    one, other = soup(rng, 900, 0.05), soup(rng, 700, 0.05)
    numbers = [np.arange(3 * len(corners)).reshape(-1, 3) for corners in (one, other)]
    b = Mesh(other.reshape(-1, 3), numbers[1])
    plain = triangle_candidates(Mesh(one.reshape(-1, 3), numbers[0]), b)
    more = Mesh(np.concatenate([one.reshape(-1, 3), [[1e150, -1e150, 0.0]]]), numbers[0])
    assert np.array_equal(triangle_candidates(more, b), plain)


def test_the_reach_of_any_number_of_points() -> None:
    rng = np.random.default_rng(9)
    for count in (1, 2, 63, 64, 65, 128, 1000):
        points = rng.normal(size=(count, 3))
        low, high = Mesh(points, [[0, 0, 0]]).reach
        assert np.array_equal(low, points.min(axis=0))
        assert np.array_equal(high, points.max(axis=0))
