# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for bounding volumes of every kind: nothing is left out, and no overlap is missed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from contact_lens.core import Box, ConvexHull, contact
from contact_lens.core.kdop import kdop_directions
from contact_lens.core.volumes import Volumes, bounding_volumes, volumes_of_shapes

from .generators import rotation

SPACE = [("sphere", None), ("aabb", None), ("obb", None), ("kdop", 6), ("kdop", 14), ("kdop", 18), ("kdop", 26)]
PLANE = [("sphere", None), ("aabb", None), ("obb", None), ("kdop", 4), ("kdop", 8)]
every_kind = pytest.mark.parametrize(
    ("kind", "k", "dim"), [(*kind, 3) for kind in SPACE] + [(*kind, 2) for kind in PLANE]
)


def clouds(rng: np.random.Generator, dim: int, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Points in groups, and where these begin: blobs, coincident, collinear, flat, on a grid, huge, tiny, far away."""
    parts = []
    for number in range(count):
        points = rng.normal(size=(int(rng.integers(1, 12)), dim))
        kind = number % 8
        if kind == 1:
            points[:] = points[0]
        elif kind == 2:
            points = points[:1] + np.outer(rng.normal(size=len(points)), points[0])
        elif kind == 3:
            points[:, -1] = 0.0
        elif kind == 4:
            points = np.round(points * 2.0)
        elif kind == 5:
            points *= 10.0 ** rng.uniform(-6, 6)
        elif kind == 6:
            points += 1e6
        parts.append(points + 2.0 * rng.normal(size=dim))
    return np.concatenate(parts), np.cumsum([0, *(len(part) for part in parts[:-1])])


def groups(points: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    return np.split(points, starts[1:])


def holds(volumes: Volumes, index: int, points: np.ndarray) -> bool:
    return bool(volumes.take(np.full(len(points), index)).contain(points).all())


@every_kind
def test_no_point_is_left_out_and_none_far_outside_is_held(kind, k, dim):
    rng = np.random.default_rng(1)
    for _ in range(10):
        points, starts = clouds(rng, dim)
        volumes = bounding_volumes(kind, points, starts, k=k)
        assert (len(volumes), volumes.dim) == (len(starts), dim)
        for index, group in enumerate(groups(points, starts)):
            assert holds(volumes, index, group)
            size = float(np.ptp(group, axis=0).max()) + 1e-9 * float(np.abs(group).max())
            assert not holds(volumes, index, group[:1] + 4.0 * size + 1e-12)


@every_kind
def test_merged_volumes_hold_both_and_ranges_all(kind, k, dim):
    rng = np.random.default_rng(2)
    points, starts = clouds(rng, dim)
    volumes, parts = bounding_volumes(kind, points, starts, k=k), groups(points, starts)
    half = len(volumes) // 2
    merged = volumes.take(np.arange(half)).merged(volumes.take(np.arange(half, 2 * half)))
    for index in range(half):
        assert holds(merged, index, parts[index])
        assert holds(merged, index, parts[index + half])
    ranges = volumes.merged_ranges(np.array([0, 1, 7, 20]))
    for index, (begin, end) in enumerate([(0, 1), (1, 7), (7, 20), (20, len(parts))]):
        assert holds(ranges, index, np.concatenate(parts[begin:end]))
    both = type(volumes).joined([volumes, merged])
    assert len(both) == len(volumes) + half
    assert np.array_equal(both.take(np.arange(len(volumes), len(both))).centers(), merged.centers())


@every_kind
def test_overlap_is_never_missed_and_the_gap_never_too_wide(kind, k, dim):
    rng = np.random.default_rng(3)
    apart = near = 0
    for _ in range(250):
        a, b = rng.normal(size=(2, 6, dim))
        b = b + rng.normal(size=dim) * 2.0
        truth = contact(ConvexHull(a), ConvexHull(b))
        one, other = (bounding_volumes(kind, points, k=k) for points in (a, b))
        overlap, gap = bool(one.overlap(other)[0]), float(one.gap(other)[0])
        assert (overlap, gap) == (bool(other.overlap(one)[0]), pytest.approx(float(other.gap(one)[0]), abs=1e-12))
        if truth.intersects:
            assert overlap
            near += 1
        else:
            assert gap <= truth.signed_distance * (1.0 + 1e-14)
            apart += not overlap
        assert (gap > 0.0) == (not overlap)
    assert near > 20
    assert apart > 40


@every_kind
def test_touching_counts(kind, k, dim):
    square = np.array([[x, y] for x in (0.0, 1.0) for y in (0.0, 1.0)])
    cube = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    points = square if dim == 2 else cube
    one = bounding_volumes(kind, points, k=k)
    assert one.overlap(bounding_volumes(kind, points + np.eye(dim)[0], k=k))[0]
    assert one.overlap(one)[0]
    assert one.gap(one)[0] == 0.0


@every_kind
def test_grown_volumes_hold_all_within_the_margin(kind, k, dim):
    rng = np.random.default_rng(4)
    points, starts = clouds(rng, dim)
    margin = 0.75
    grown = bounding_volumes(kind, points, starts, k=k).grown(margin)
    for index, group in enumerate(groups(points, starts)):
        away = rng.normal(size=(200, dim))
        away *= margin / np.linalg.norm(away, axis=1, keepdims=True)
        assert holds(grown, index, group[rng.integers(len(group), size=200)] + (1.0 - 1e-9) * away)


@every_kind
def test_contents_and_surfaces_are_those_of_the_polytope(kind, k, dim):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(30, dim))
    volumes = bounding_volumes(kind, points, k=k)
    polytope = volumes.polytope(0)
    content = float(volumes.volumes()[0])
    hull = ConvexHull(points)
    assert content >= (hull.area if dim == 2 else hull.volume)
    if polytope is None:
        radius = float(np.linalg.norm(points - volumes.centers()[0], axis=1).max())
        assert content == pytest.approx(np.pi * radius**2 if dim == 2 else 4 / 3 * np.pi * radius**3)
        return
    assert content == pytest.approx(polytope.area if dim == 2 else polytope.volume)
    assert (hull.vertices @ polytope.normals.T <= (polytope.offsets + polytope.normals @ polytope.center) + 1e-12).all()
    if kind in ("aabb", "obb") and dim == 3:
        assert float(volumes.sizes()[0]) == pytest.approx(polytope.area)


@every_kind
def test_zero_volumes_are_a_batch_too(kind, k, dim):
    none = bounding_volumes(kind, np.zeros((0, dim)), np.zeros(0, dtype=int), k=k)
    assert len(none) == len(none.centers()) == len(none.overlap(none)) == len(none.gap(none)) == 0
    assert len(none.take([])) == len(none.merged(none)) == len(none.grown(1.0)) == 0


# ---------------------------------------------------------------------------------------------------------------------
# k-DOPs


def test_the_articles_triangle_has_the_articles_slabs():
    found = bounding_volumes("kdop", [[3, 1], [5, 4], [1, 5]], k=8)
    assert found.directions.tolist() == [[1, 0], [0, 1], [1, 1], [1, -1]]
    assert found.low[:, 0].tolist() == [1, 1, 4, -4]
    assert found.high[:, 0].tolist() == [5, 5, 9, 2]


@pytest.mark.parametrize(("k", "dim"), [(6, 3), (14, 3), (18, 3), (26, 3), (4, 2), (8, 2)])
def test_directions_are_different_and_of_minus_one_zero_and_one(k, dim):
    directions = kdop_directions(k, dim)
    assert directions.shape == (k // 2, dim)
    assert set(np.unique(directions)) <= {-1.0, 0.0, 1.0}
    assert len({tuple(d) for d in np.concatenate([directions, -directions]).tolist()}) == k


def test_more_planes_are_tighter():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(200, 3))
    contents = [float(bounding_volumes("kdop", points, k=k).volumes()[0]) for k in (6, 14, 18, 26)]
    assert contents[0] > contents[1] > contents[3] > ConvexHull(points).volume
    assert contents[0] > contents[2] > contents[3]


# ---------------------------------------------------------------------------------------------------------------------
# Spheres


@pytest.mark.parametrize("dim", [2, 3])
def test_no_sphere_through_some_of_the_points_is_smaller(dim):
    """Against all spheres through up to dim + 1 of the points, by brute force."""
    rng = np.random.default_rng(7)
    for case in range(150):
        points = rng.normal(size=(int(rng.integers(1, 9)), dim))
        if case % 3 == 0:
            points = np.round(points * 2.0)
        best = np.inf
        distinct = np.unique(points, axis=0)
        for count in range(1, dim + 2):
            for some in combinations(range(len(distinct)), count):
                chosen = distinct[list(some)]
                ways = chosen[1:] - chosen[0]
                solution = np.linalg.lstsq(ways, 0.5 * (ways * ways).sum(axis=1), rcond=None)[0] if count > 1 else 0.0
                center = chosen[0] + solution
                best = min(best, float(np.linalg.norm(points - center, axis=1).max()))
        assert float(bounding_volumes("sphere", points).radius[0]) == pytest.approx(best, rel=1e-9, abs=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Boxes at an angle


def test_a_box_at_an_angle_is_found_again():
    rng = np.random.default_rng(8)
    for _ in range(50):
        size = rng.uniform(0.1, 3.0, 3)
        box = Box(rng.normal(size=3), size, rng.normal(size=4))
        found = volumes_of_shapes("obb", [ConvexHull(box.vertices)])
        assert float(found.volumes()[0]) == pytest.approx(size.prod(), rel=1e-9)


def test_the_rectangle_in_the_plane_is_the_smallest():
    """One side of it is flush with a side of the hull, so all of these are tried."""
    rng = np.random.default_rng(9)
    for _ in range(100):
        points = rng.normal(size=(int(rng.integers(3, 20)), 2)) * [2.0, 0.5] @ rotation(rng)[:2, :2]
        hull = ConvexHull(points)
        ways = hull.vertices[hull.edges[:, 1]] - hull.vertices[hull.edges[:, 0]]
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        across = np.stack([-ways[:, 1], ways[:, 0]], axis=1)
        areas = np.ptp(points @ ways.T, axis=0) * np.ptp(points @ across.T, axis=0)
        assert float(bounding_volumes("obb", points).volumes()[0]) == pytest.approx(areas.min(), rel=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


@pytest.mark.parametrize(
    ("words", "arguments", "options"),
    [
        ("^kind must be one of", ("cylinder", np.zeros((1, 3))), {}),
        ("^k must be one of 6, 14, 18, 26", ("kdop", np.zeros((1, 3))), {"k": 10}),
        ("^k must be one of 4, 8", ("kdop", np.zeros((1, 2))), {"k": 14}),
        ("^k is for", ("aabb", np.zeros((1, 3))), {"k": 6}),
        ("^points: all numbers must be finite", ("aabb", [[0.0, np.inf, 0.0]]), {}),
        ("^points: at least one point", ("sphere", np.zeros((0, 3))), {}),
        ("^points: an array", ("obb", np.zeros((2, 4))), {}),
        ("^starts", ("aabb", np.zeros((3, 3)), [0, 2, 2]), {}),
        ("^starts", ("aabb", np.zeros((3, 3)), [0, 3]), {}),
        ("^starts", ("aabb", np.zeros((3, 3)), [0.5]), {}),
    ],
)
def test_wrong_arguments_are_named(words, arguments, options):
    with pytest.raises(ValueError, match=words):
        bounding_volumes(*arguments, **options)


def test_shapes_of_two_dimensions_and_what_is_no_shape_are_refused():
    with pytest.raises(ValueError, match=r"^shapes: all must have the same dimension"):
        volumes_of_shapes("aabb", [ConvexHull(np.eye(3)), ConvexHull(np.eye(2))])
    with pytest.raises(ValueError, match=r"^shapes\[1\] must be a shape"):
        volumes_of_shapes("aabb", [ConvexHull(np.eye(3)), np.eye(3)])
