# SPDX-License-Identifier: GPL-3.0-or-later
"""Hulls of six points from the signs of their determinants."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull as QHull

from contact_lens.core.batched.first_hulls import FACETS, VERTICES, first_hulls

LIMIT = 1e-10


def points_of(count: int, seed: int, middle: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, VERTICES, count)) + middle


@pytest.mark.parametrize("count", [1, 40, 1_000, 20_000])
def test_facets_are_those_of_qhull_and_look_away_from_the_middle(count):
    points = points_of(count, count, 0.5)  # some hulls contain the origin, some do not
    hull, corners = first_hulls(points, np.full(count, LIMIT))
    assert (np.diff(hull) >= 0).all()
    p, q, r = (points[:, corners[:, k], hull] for k in range(3))
    outward = np.cross(q - p, r - p, axis=0)
    assert (np.einsum("ck,ck->k", outward, p - points.mean(axis=1)[:, hull]) > 0.0).all()
    assert np.bincount(hull, minlength=count).max() <= FACETS
    rng = np.random.default_rng(0)
    for k in rng.choice(count, min(count, 200), replace=False).tolist():
        true = QHull(points[:, :, k].T)
        found = {frozenset(row) for row in corners[hull == k].tolist()}
        assert found == {frozenset(row) for row in true.simplices.tolist()}


def test_each_edge_is_there_once_in_either_direction():
    points = points_of(500, 3)
    hull, corners = first_hulls(points, np.full(500, LIMIT))
    sides = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    codes = np.tile(hull, 3) * VERTICES**2 + sides @ [VERTICES, 1]
    other = np.tile(hull, 3) * VERTICES**2 + sides @ [1, VERTICES]
    assert len(hull) > 1_000
    assert len(np.unique(codes)) == len(codes)
    assert set(codes.tolist()) == set(other.tolist())


def test_hulls_in_doubt_have_no_facets():
    points = points_of(4, 5)
    points[2, :4, 0] = 1.0  # four points in one plane
    points[:, 5, 1] = points[:, 4, 1]  # twice the same
    points[:, :, 2] += 50.0  # far from the origin
    points[:, :5, 3] = np.concatenate([2.0 * np.eye(3), -2.0 * np.eye(3)[:, :2]], axis=1) + 1e-3 * points[:, :5, 3]
    points[:, 5, 3] = 0.1  # inside: no corner of any facet
    hull, corners = first_hulls(points, np.full(4, LIMIT))
    assert set(hull.tolist()) == {2, 3}
    assert 5 not in corners[hull == 3]
    assert (hull == 3).sum() == 6
