# SPDX-License-Identifier: GPL-3.0-or-later
"""What is convex, and where it is concave. Oracles: exact fractions, shapely, known bodies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from shapely.geometry import Polygon as Shape

from contact_lens.core.contact import contact
from contact_lens.core.decomposition.mesh_convexity import mesh_convexity
from contact_lens.core.decomposition.polygon import Polygon
from contact_lens.core.decomposition.polygon_convexity import polygon_convexity
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.shapes.hull import ConvexHull

from ..exact import exact
from ..generators import rotation
from ..mesh_shapes import joined, sphere, torus
from ..meshes.test_mesh_distance import box
from .test_decompose_mesh import extruded
from .test_decompose_polygon import L, polygons


def exact_corners(points: np.ndarray) -> list[int]:
    p = [exact(row) for row in points]
    n = len(p)
    turns = []
    for k in range(n):
        (ax, ay), (bx, by), (cx, cy) = p[k - 1], p[k], p[(k + 1) % n]
        turns.append((bx - ax) * (cy - by) - (by - ay) * (cx - bx))
    area = sum(p[k - 1][0] * p[k][1] - p[k - 1][1] * p[k][0] for k in range(n))
    return [k for k, turn in enumerate(turns) if turn * area < 0]


def test_concave_corners_of_random_polygons():
    for points in polygons(300, 11):
        found = polygon_convexity(points)
        assert found.corners.tolist() == exact_corners(points)
        assert found.convex == (len(found.corners) == 0)
        shape = Shape(points)
        assert found.counter_clockwise == shape.exterior.is_ccw
        assert (found.depth > 0) == (shape.convex_hull.area - shape.area > 1e-12)
        hull = shape.convex_hull.exterior
        # No corner is less deep than its corner's distance from the hull.
        for corner, depth in zip(found.corners, found.depths, strict=True):
            assert (
                depth >= hull.distance(Shape(np.repeat(points[corner][None], 3, axis=0) + np.eye(3, 2) * 1e-13)) - 1e-9
            )


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
def test_convex_polygons_are_convex_wherever_they_are(far, size):
    rng = np.random.default_rng(3)
    for _ in range(60):
        hull = ConvexHull(rng.normal(size=(int(rng.integers(3, 40)), 2)))
        fraction = np.sort(rng.random(3))[:, None]
        v = hull.vertices
        fine = np.concatenate([a + fraction * (b - a) for a, b in zip(v, np.roll(v, -1, axis=0), strict=True)])
        for points in (v, v[::-1], fine, np.repeat(fine, 2, axis=0)):
            moved = points * size + far
            assert polygon_convexity(moved).convex
            assert len(polygon_convexity(moved).corners) == 0


def test_the_concave_corner_does_not_depend_on_how_the_polygon_is_given():
    found = polygon_convexity(L)
    assert not found.convex
    assert found.corners.tolist() == [3]
    assert found.depths[0] == pytest.approx(0.5**0.5, rel=1e-15)
    assert polygon_convexity(np.roll(L, 2, axis=0)).corners.tolist() == [5]
    back = polygon_convexity(L[::-1])
    assert back.corners.tolist() == [2]
    assert not back.counter_clockwise
    assert polygon_convexity(L, tolerance=0.3).convex
    assert polygon_convexity(np.ldexp(L, -600)).depths[0] == np.ldexp(found.depths[0], -600)


def test_a_star_that_only_turns_left_is_not_convex():
    angle = 4 * np.pi * np.arange(5) / 5
    with pytest.raises(ValueError, match=r"^points: .*crosses"):
        polygon_convexity(np.column_stack([np.cos(angle), np.sin(angle)]))
    twice = np.concatenate([L[[0, 1, 5]], L[[0, 1, 5]]])
    with pytest.raises(ValueError, match=r"^points: "):
        polygon_convexity(twice)


def test_a_polygon_is_the_hull_of_its_outline():
    rng = np.random.default_rng(1)
    for _ in range(40):
        a, b = (ConvexHull(rng.normal(size=(12, 2)) + shift) for shift in (0.0, rng.uniform(-3, 3, 2)))
        p, q = Polygon(a.vertices), Polygon(b.vertices[::-1])
        assert np.array_equal(p.vertices, a.vertices)
        assert q.area == pytest.approx(b.area)
        assert contact(p, q).signed_distance == pytest.approx(contact(a, b).signed_distance, abs=1e-14)
    with pytest.raises(ValueError, match=r"^points: not convex: corner 3 at \(1, 1\) is concave, 0.707 deep;"):
        Polygon(L)
    assert Polygon([[0, 0], [1, 1]]).rank == 1


# ---------------------------------------------------------------------------------------------------------------------
# Meshes


def test_convex_meshes_are_convex():
    rng = np.random.default_rng(6)
    for points, triangles in (box(), sphere(7), extruded(L[[0, 1, 4, 5]])):
        for turned, far, size in product((False, True), (0.0, 1e6), (1e-4, 1.0, 1e5)):
            p = (points @ rotation(rng).T if turned else points) * size + far
            for faces in (triangles, triangles[:, ::-1], rng.permutation(triangles)):
                found = mesh_convexity(Mesh(p, faces))
                assert found.convex, found.reason
                assert found.closed
                assert found.depth == 0.0
                assert len(found.edges) == 0


def test_the_concave_edge_of_an_l():
    points, triangles = extruded(L, 10.0)
    rng = np.random.default_rng(4)
    for _ in range(10):
        found = mesh_convexity(Mesh(points @ rotation(rng).T + rng.normal(size=3), triangles))
        assert not found.convex
        assert np.sort(found.edges, axis=1).tolist() == [[3, 9]]
        assert found.bends[0] == pytest.approx(np.pi / 2)
        assert found.depth == pytest.approx(0.5**0.5, rel=2e-2)
        assert "concave" in found.reason


def test_a_torus_bends_inward_on_its_inner_side():
    points, triangles = torus(16, 12)
    found = mesh_convexity(Mesh(points, triangles))
    middle = points[found.edges].mean(axis=1)
    assert (np.hypot(middle[:, 0], middle[:, 1]) < 1.0).all()
    assert len(found.edges) > 16
    assert (np.diff(found.bends) <= 0).all()


def test_open_doubled_and_flat_meshes():
    points, triangles = box()
    opened = mesh_convexity(Mesh(points, triangles[:-1]))
    assert not opened.convex
    assert not opened.closed
    assert "not closed" in opened.reason
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    assert mesh_convexity(Mesh(square, [[0, 1, 2], [0, 2, 3]])).convex
    assert mesh_convexity(Mesh(square[:3], [[0, 1, 2]])).convex
    for other in ((points + [3, 0, 0], triangles), (0.5 * points, triangles[:, ::-1])):
        assert not mesh_convexity(Mesh(*joined([(points, triangles), other]))).convex


def test_shallow_concavities_of_single_precision_are_reported_and_tolerated():
    rng = np.random.default_rng(12)
    points, triangles = box()
    concave = 0
    for _ in range(20):
        rounded = (points @ rotation(rng).T).astype(np.float32)
        found = mesh_convexity(Mesh(rounded, triangles))
        concave += not found.convex
        assert found.depth < 1e-6
        assert found.convex or found.reason
        assert mesh_convexity(Mesh(rounded, triangles), tolerance=1e-6).convex
    assert concave > 0


def test_bad_arguments_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^mesh must be a Mesh"):
        mesh_convexity(np.eye(3))
    with pytest.raises(ValueError, match=r"^tolerance"):
        mesh_convexity(Mesh([[0, 0, 0]], [[0, 0, 0]]), tolerance=-1)
