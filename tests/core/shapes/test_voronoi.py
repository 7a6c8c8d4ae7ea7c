# SPDX-License-Identifier: GPL-3.0-or-later
"""Voronoi regions of a simplex in the plane."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.shapes.simplex import nearest_on_simplex
from contact_lens.core.shapes.voronoi import voronoi_regions

WINDOW = np.array([(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)])


def depth(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How far each of points (n, 2) is inside a convex polygon, wound either way."""
    along = np.roll(polygon, -1, axis=0) - polygon
    heights = along[:, 0] * (points[:, None, 1] - polygon[:, 1]) - along[:, 1] * (points[:, None, 0] - polygon[:, 0])
    heights = heights / np.linalg.norm(along, axis=1)
    return np.maximum(heights.min(axis=1), (-heights).min(axis=1))


def area(polygon: np.ndarray) -> float:
    (x, y), (u, v) = polygon.T, np.roll(polygon, -1, axis=0).T
    return abs(float((x * v - y * u).sum())) / 2.0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_point_is_in_the_region_of_the_face_nearest_to_it(count: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        simplex = rng.uniform(-1.5, 1.5, (count, 2))
        regions = voronoi_regions(simplex, WINDOW)
        assert sum(map(area, regions.values())) == pytest.approx(16.0)
        points = rng.uniform(-2.0, 2.0, (100, 2))
        for point in points:
            found = nearest_on_simplex(
                tuple((*(corner - point).tolist(), 0.0, k, k) for k, corner in enumerate(simplex))
            )
            assert found is not None
            face = tuple(sorted(corner[3] for corner in found[3]))
            assert depth(regions[face], point[None])[0] > -1e-9, f"{point} is nearest to {face} of {simplex.tolist()}"


def test_faces_without_an_area_in_the_window_have_no_region() -> None:
    regions = voronoi_regions(np.array([(-1.0, 0.0), (1.0, 0.0)]), WINDOW[:, ::1] * (0.5, 1.0))
    assert list(regions) == [(0, 1)]


def test_corners_in_a_line_or_in_one_place_have_the_regions_of_their_segment_or_point() -> None:
    regions = voronoi_regions(np.array([(-1.0, 0.0), (0.0, 0.0), (1.0, 0.0)]), WINDOW)
    assert (0,) in regions
    assert (2,) in regions
    assert (0, 1, 2) not in regions
