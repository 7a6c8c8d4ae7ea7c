# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes: what must hold for every kind of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import cKDTree

from contact_lens.core import Box, ConvexHull, contact
from contact_lens.core.bounding.bounding_sphere import Spheres
from contact_lens.core.bounding.bounding_volumes import bounding_volumes, volumes_of_shapes, volumes_of_triangles
from contact_lens.core.bounding.kdop import KDops
from contact_lens.core.bounding.obb import OrientedBoxes
from contact_lens.core.bounding.volumes import Volumes
from contact_lens.core.progress import Cancelled

from .generators import pairs, rotation

KINDS_3D = [("sphere", None), ("aabb", None), ("obb", None), ("kdop", 6), ("kdop", 14), ("kdop", 18), ("kdop", 26)]
KINDS_2D = [("sphere", None), ("aabb", None), ("obb", None), ("kdop", 4), ("kdop", 8)]
KINDS = [(kind, k, 3) for kind, k in KINDS_3D] + [(kind, k, 2) for kind, k in KINDS_2D]
every_kind = pytest.mark.parametrize(("kind", "k", "dim"), KINDS)
pytestmark = pytest.mark.filterwarnings("error")


def spun(rng: np.random.Generator, dim: int) -> np.ndarray:
    if dim == 3:
        return rotation(rng)
    w = rng.uniform(0, 7)
    return np.array([[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]])


def groups(seed: int, dim: int, count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Groups of points of every nasty sort: single, equal, collinear, flat, tiny, huge, far away, whole numbers."""
    rng = np.random.default_rng(seed)
    parts = []
    for i in range(count):
        n = int(rng.choice([1, 2, 3, 4, 5, 8, 20]))
        points = rng.normal(size=(n, dim))
        sort = i % 8
        if sort == 1:
            points[:] = points[0]
        elif sort == 2:
            points = points[:1] + np.outer(rng.normal(size=n), rng.normal(size=dim))
        elif sort == 3:
            points[:, -1] = 0.0
            points = points @ spun(rng, dim).T
        elif sort == 4:
            points *= 10.0 ** rng.uniform(-6, 6)
        elif sort == 5:
            points = points + 1e6 * rng.normal(size=dim)
        elif sort == 6:
            points = rng.integers(-3, 4, (n, dim)).astype(float)
        elif sort == 7:
            points = np.repeat(points[: max(1, n // 2)], 2, axis=0)
        parts.append(points)
    sizes = np.array([len(points) for points in parts])
    return np.concatenate(parts), np.cumsum(sizes) - sizes


def group_of(starts: np.ndarray, count: int) -> np.ndarray:
    """The number of the group of every point."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=count))


def tolerance(points: np.ndarray) -> float:
    return 1e-13 * float(np.abs(points).max())


def holds(volumes: Volumes, points: np.ndarray, owner: np.ndarray) -> bool:
    return bool(volumes.take(owner).contains(points).all())


def excess_exactly(volumes: Volumes, index: int, point: np.ndarray) -> bool:
    """Whether a point is outside of a volume, in exact arithmetic."""
    p = [Fraction(x) for x in point.tolist()]
    if isinstance(volumes, Spheres):
        c = [Fraction(x) for x in volumes.center[index].tolist()]
        away = sum(((x - y) ** 2 for x, y in zip(p, c, strict=True)), Fraction(0))
        return away > Fraction(float(volumes.radius[index])) ** 2
    if isinstance(volumes, KDops):
        for direction, low, high in zip(
            volumes.directions.tolist(), volumes.low[index].tolist(), volumes.high[index].tolist(), strict=True
        ):
            value = sum((int(d) * x for d, x in zip(direction, p, strict=True)), Fraction(0))
            if not Fraction(low) <= value <= Fraction(high):
                return True
        return False
    assert isinstance(volumes, OrientedBoxes)
    c = [Fraction(x) for x in volumes.center[index].tolist()]
    for axis, half in zip(volumes.axes[index].tolist(), volumes.half[index].tolist(), strict=True):
        value = sum((Fraction(u) * (x - y) for u, x, y in zip(axis, p, c, strict=True)), Fraction(0))
        if abs(value) > Fraction(half):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------------------
# Holding what is inside


@every_kind
def test_every_point_is_in_its_volume_even_in_exact_arithmetic(kind, k, dim):
    for seed in range(6):
        points, starts = groups(seed, dim)
        volumes = bounding_volumes(kind, points, starts, k=k)
        owner = group_of(starts, len(points))
        assert len(volumes) == len(starts)
        assert volumes.dim == dim
        assert holds(volumes, points, owner)
        assert not any(excess_exactly(volumes, int(i), point) for i, point in zip(owner, points, strict=True))


@every_kind
def test_mixtures_of_points_are_in_the_volume_and_points_far_outside_are_not(kind, k, dim):
    rng = np.random.default_rng(1)
    points, starts = groups(7, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    for group, (begin, end) in enumerate(pairwise([*starts.tolist(), len(points)])):
        mixed = rng.dirichlet(np.ones(end - begin), 5) @ points[begin:end]  # rounded, and so perhaps just outside
        assert volumes.take([group] * 5).inflated(tolerance(mixed)).contains(mixed).all()
    away = volumes.centers + 3.0 * np.sqrt(volumes.surface_area + 1.0)[:, None] * (1.0 + volumes.surface_area[:, None])
    assert not volumes.contains(away).any()


@every_kind
@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-9, 1e12, 1e200, 1e300])
def test_the_smallest_and_the_largest_floats_are_lengths_like_any_other(kind, k, dim, size):
    points = np.random.default_rng(2).uniform(-1, 1, (40, dim)) * size
    starts = np.arange(0, 40, 4)
    volumes = bounding_volumes(kind, points, starts, k=k)
    assert holds(volumes, points, np.repeat(np.arange(10), 4))
    joined = volumes.reduce_groups([0, 5])
    assert holds(joined, points, np.repeat([0, 1], 20))
    assert holds(volumes.merged(volumes.take(np.arange(10)[::-1])), points, np.repeat(np.arange(10), 4))
    assert joined.overlaps(joined).all()
    assert (joined.gap(joined) == 0.0).all()


@every_kind
def test_one_call_for_many_groups_gives_what_many_calls_give(kind, k, dim):
    points, starts = groups(11, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    for group, (begin, end) in enumerate(pairwise([*starts.tolist(), len(points)])):
        alone = bounding_volumes(kind, points[begin:end], k=k)
        one = volumes.take([group])
        np.testing.assert_allclose(alone.centers, one.centers, rtol=0, atol=tolerance(points))
        np.testing.assert_allclose(alone.surface_area, one.surface_area, rtol=1e-9, atol=tolerance(points))


@pytest.mark.fast_cases(12)
@every_kind
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_ten_thousand_groups_of_one_size_are_the_same_as_the_same_groups_among_others(kind, k, dim, size):
    count = 300 if kind == "obb" and size > 3 else 10_000
    points = np.random.default_rng(size).normal(size=(count * size, dim))
    starts = np.arange(0, count * size, size)
    alike = bounding_volumes(kind, points, starts, k=k)
    longer = np.concatenate([points, np.zeros((5, dim))])
    mixed = bounding_volumes(kind, longer, np.append(starts, count * size), k=k).take(np.arange(count))
    if kind in ("aabb", "kdop"):
        np.testing.assert_array_equal(alike.centers, mixed.centers)
        np.testing.assert_array_equal(alike.volume, mixed.volume)
    else:  # there are formulas for few points
        np.testing.assert_allclose(alike.centers, mixed.centers, rtol=0, atol=1e-12)
        np.testing.assert_allclose(alike.volume, mixed.volume, rtol=1e-9, atol=1e-12)


@every_kind
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_triangles_of_a_mesh_have_the_volumes_of_their_corners(kind, k, dim, size):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(400, dim)) * size
    triangles = rng.integers(0, 400, (20_000 if kind in ("aabb", "kdop") else 500, 3))
    of_mesh = volumes_of_triangles(kind, points, triangles, k=k)
    alone = bounding_volumes(kind, points[triangles].reshape(-1, dim), np.arange(0, triangles.size, 3), k=k)
    np.testing.assert_array_equal(of_mesh.centers, alone.centers)
    np.testing.assert_array_equal(of_mesh.surface_area, alone.surface_area)
    if isinstance(of_mesh, KDops) and isinstance(alone, KDops):
        np.testing.assert_array_equal(of_mesh.low, alone.low)
        np.testing.assert_array_equal(of_mesh.high, alone.high)
    assert len(volumes_of_triangles(kind, points, triangles[:0], k=k)) == 0


@every_kind
def test_shapes_have_the_volumes_of_their_vertices(kind, k, dim):
    rng = np.random.default_rng(3)
    shapes = [ConvexHull(rng.normal(size=(int(rng.integers(1, 30)), dim))) for _ in range(30)]
    if dim == 3:
        shapes.append(Box((1, 2, 3), (1, 0.5, 2), (0.5, 0.1, 0.7, 0.2)))
    volumes = volumes_of_shapes(kind, shapes, k=k)
    for i, shape in enumerate(shapes):
        alone = bounding_volumes(kind, shape.vertices, k=k)
        if kind != "obb":  # several boxes may be equally good
            np.testing.assert_allclose(volumes.take([i]).centers, alone.centers, rtol=0, atol=1e-13)
        np.testing.assert_allclose(volumes.take([i]).volume, alone.volume, rtol=1e-9, atol=1e-13)


# ---------------------------------------------------------------------------------------------------------------------
# Merging and growing


@every_kind
def test_a_merged_volume_holds_the_points_of_both(kind, k, dim):
    for seed in range(4):
        points, starts = groups(20 + seed, dim)
        volumes = bounding_volumes(kind, points, starts, k=k)
        owner = group_of(starts, len(points))
        other = np.random.default_rng(seed).permutation(len(starts))
        both = volumes.merged(volumes.take(other))
        assert holds(both, points, owner)
        back = np.argsort(other)
        assert holds(both, points, back[owner])


@every_kind
def test_a_volume_of_a_range_holds_the_points_of_all_in_it(kind, k, dim):
    for seed in range(4):
        points, starts = groups(30 + seed, dim, 80)
        volumes = bounding_volumes(kind, points, starts, k=k)
        firsts = np.array([0, 1, 3, 10, 11, 40, 79])
        joined = volumes.reduce_groups(firsts)
        assert len(joined) == len(firsts)
        owner = np.searchsorted(firsts, group_of(starts, len(points)), side="right") - 1
        assert holds(joined, points, owner)
        later = volumes.reduce_groups(firsts[2:])  # the first items may be in no range
        np.testing.assert_array_equal(later.centers, joined.centers[2:])


@every_kind
def test_merging_in_a_tree_of_a_thousand_loses_nothing(kind, k, dim):
    points = np.random.default_rng(4).normal(size=(1024, dim)) * [[1.0]] + 1e3
    level = bounding_volumes(kind, points, np.arange(1024), k=k)
    width = 1
    while len(level) > 1:
        level = level.merged(level) if len(level) == 1 else level.reduce_groups(np.arange(0, len(level), 2))
        width *= 2
        assert holds(level, points, np.arange(1024) // width)


@every_kind
def test_joined_batches_come_one_after_the_other(kind, k, dim):
    points, starts = groups(40, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    parts = [volumes.take([3, 1]), volumes.take([]), volumes]
    together = type(volumes).concatenate(parts)
    assert len(together) == len(volumes) + 2
    for name in ("centers", "surface_area", "volume"):
        wanted = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(getattr(together, name), wanted)


@every_kind
def test_a_volume_merged_with_itself_or_with_what_is_inside_stays(kind, k, dim):
    points, starts = groups(5, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    same = volumes.merged(volumes)
    np.testing.assert_allclose(same.surface_area, volumes.surface_area, rtol=1e-9, atol=1e-11)
    large = bounding_volumes(kind, points, k=k).take(np.zeros(len(starts), dtype=int))
    np.testing.assert_allclose(large.merged(volumes).volume, large.volume, rtol=1e-6)


@every_kind
@pytest.mark.parametrize("margin", [0.0, 1e-9, 0.3, 1e3])
def test_a_grown_volume_holds_everything_within_the_margin(kind, k, dim, margin):
    rng = np.random.default_rng(6)
    points, starts = groups(6, dim)
    volumes = bounding_volumes(kind, points, starts, k=k).inflated(margin)
    owner = group_of(starts, len(points))
    ways = [rng.normal(size=points.shape) for _ in range(20)]
    ways += [np.broadcast_to(axis, points.shape) for axis in np.vstack([np.eye(dim), -np.eye(dim)])]
    tried = 0
    for way in ways:
        moved = points + margin * (1.0 - 1e-12) * way / np.linalg.norm(way, axis=1)[:, None]
        within = np.linalg.norm(moved - points, axis=1) * (1.0 + 1e-15) <= margin  # rounding may move it farther
        assert holds(volumes, moved[within], owner[within])
        tried += np.count_nonzero(within)
    assert tried > 5 * len(points)


@every_kind
def test_pairs_within_the_margin_overlap_when_one_is_grown(kind, k, dim):
    points, starts = groups(8, dim)
    owner = group_of(starts, len(points))
    volumes = bounding_volumes(kind, points, starts, k=k)
    i, j = np.triu_indices(len(starts), 1)
    distance = np.full((len(starts), len(starts)), np.inf)
    for first, tree in enumerate([cKDTree(points[owner == g]) for g in range(len(starts))]):
        np.minimum.at(distance[first], owner, tree.query(points)[0])
    for margin in (0.1, 1.0, 100.0):
        near = volumes.inflated(margin).take(i).overlaps(volumes.take(j))
        assert near[distance[i, j] <= margin * (1 - 1e-12)].all()


# ---------------------------------------------------------------------------------------------------------------------
# Overlap and gap


@pytest.mark.fast_cases(3)
@every_kind
def test_no_pair_that_touches_is_told_apart_and_no_gap_is_wider_than_the_distance(kind, k, dim):
    """Against GJK and EPA with their certified bounds, on pairs of every class that is hard to collide."""
    a, b = [], []
    for _, first, second in pairs(77, 24 * 25):
        if first.shape[1] == dim:
            a.append(ConvexHull(first))
            b.append(ConvexHull(second))
    results = [contact(x, y) for x, y in zip(a, b, strict=True)]
    upper = np.array([c.upper_bound for c in results])
    first, second = volumes_of_shapes(kind, a, k=k), volumes_of_shapes(kind, b, k=k)
    together, gap = first.overlaps(second), first.gap(second)
    assert together[upper <= 0.0].all()
    assert (gap <= np.maximum(upper, 0.0)).all()
    assert (gap >= 0.0).all()
    assert (gap[together] == 0.0).all()
    np.testing.assert_array_equal(together, second.overlaps(first))
    far = np.array([c.lower_bound / max(x.extent, y.extent, 1e-300) for c, x, y in zip(results, a, b, strict=True)])
    assert not together[far > 2.0].any()  # and a volume is no larger than it has to be


@pytest.mark.fast_cases(4)
@every_kind
def test_volumes_that_share_a_point_overlap(kind, k, dim):
    """The hardest case: hulls that have nothing in common but one point, exactly."""
    rng = np.random.default_rng(9)
    for scale, far in ((1.0, 0.0), (1e-6, 1.0), (1e6, 1.0), (1.0, 1e6)):
        count = 300
        points = rng.normal(size=(count, 4, dim)) * scale + far * rng.normal(size=(count, 1, dim))
        other = rng.normal(size=(count, 4, dim)) * scale
        # A generic direction separates the two at the point they share.
        way = rng.normal(size=(count, dim))
        way /= np.linalg.norm(way, axis=1)[:, None]
        top = np.einsum("ijk,ik->ij", points, way).argmax(axis=1)
        bottom = np.einsum("ijk,ik->ij", other, way).argmin(axis=1)
        every = np.arange(count)
        other += (points[every, top] - other[every, bottom])[:, None]
        other[every, bottom] = points[every, top]
        starts = np.arange(0, 4 * count, 4)
        first = bounding_volumes(kind, points.reshape(-1, dim), starts, k=k)
        second = bounding_volumes(kind, other.reshape(-1, dim), starts, k=k)
        assert first.overlaps(second).all()
        assert (first.gap(second) == 0.0).all()


@every_kind
def test_boxes_that_share_a_side_overlap(kind, k, dim):
    corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * dim), axis=-1).reshape(-1, dim)
    one = bounding_volumes(kind, corners, k=k)
    for axis in np.eye(dim):
        for shift in (axis, -axis, 3 * axis):
            other = bounding_volumes(kind, corners + shift, k=k)
            touches = np.abs(shift).max() == 1.0
            assert one.overlaps(other)[0] == touches
            assert (one.gap(other)[0] == 0.0) == touches


@every_kind
def test_segments_that_cross_between_their_ends_overlap(kind, k, dim):
    """They share a point that is no corner of either: whole numbers, so that they share it exactly."""
    rng = np.random.default_rng(10)
    count = 500
    middle = rng.integers(-1000, 1000, (count, 1, dim)) * rng.choice([1.0, 2.0**-30, 2.0**30], (count, 1, 1))
    arms = rng.integers(-1000, 1000, (2, count, 1, dim)) * 2.0 ** rng.integers(-8, 1, (2, count, 1, 1))
    ends = [np.concatenate([middle - arm, middle + arm], axis=1).reshape(-1, dim) for arm in arms]
    first, second = (bounding_volumes(kind, e, np.arange(0, 2 * count, 2), k=k) for e in ends)
    assert first.overlaps(second).all()
    assert (first.gap(second) == 0.0).all()


@every_kind
def test_a_gap_grows_to_the_distance_of_small_things_far_apart(kind, k, dim):
    rng = np.random.default_rng(12)
    points = rng.normal(size=(200, 2, dim))
    ends = points[:, 1] * 1e4
    near = bounding_volumes(kind, points.reshape(-1, dim)[::2], np.arange(200), k=k)
    far = bounding_volumes(kind, ends, np.arange(200), k=k)
    distance = np.linalg.norm(points[:, 0] - ends, axis=1)
    gap = near.gap(far)
    assert (gap <= distance).all()
    assert (gap >= 0.57 * distance).all()  # one over the root of three, with room for the boxes


def test_the_tighter_of_two_k_dops_tells_apart_what_the_other_does():
    points, starts = groups(13, 3, 200)
    i, j = np.triu_indices(200, 1)
    told = []
    for k in (6, 14, 18, 26):
        volumes = bounding_volumes("kdop", points, starts, k=k)
        told.append(~volumes.take(i).overlaps(volumes.take(j)))
    for less, more in ((0, 1), (0, 2), (1, 3), (2, 3)):
        assert not (told[less] & ~told[more]).any()


# ---------------------------------------------------------------------------------------------------------------------
# Motion and measures


@every_kind
def test_a_moved_volume_is_the_volume_of_the_moved_points(kind, k, dim):
    rng = np.random.default_rng(14)
    points = rng.normal(size=(300, dim))
    starts = np.arange(0, 300, 6)
    before = bounding_volumes(kind, points, starts, k=k)
    way = rng.normal(size=dim)
    moved = bounding_volumes(kind, points + way, starts, k=k)
    np.testing.assert_allclose(moved.centers, before.centers + way, atol=1e-12)
    np.testing.assert_allclose(moved.volume, before.volume, rtol=1e-11)
    np.testing.assert_allclose(moved.surface_area, before.surface_area, rtol=1e-11)
    larger = bounding_volumes(kind, 4.0 * points, starts, k=k)
    np.testing.assert_allclose(larger.volume, 4.0**dim * before.volume, rtol=1e-11)
    np.testing.assert_allclose(larger.surface_area, 4.0 ** (dim - 1) * before.surface_area, rtol=1e-11)
    if kind in ("sphere", "obb"):
        turn = spun(rng, dim)
        turned = bounding_volumes(kind, points @ turn.T, starts, k=k)
        np.testing.assert_allclose(turned.volume, before.volume, rtol=1e-9)


@pytest.mark.fast_cases(4)
@every_kind
def test_contents_and_surfaces_are_those_of_the_polytope(kind, k, dim):
    if kind == "sphere":
        one = bounding_volumes("sphere", np.vstack([2.0 * np.eye(dim), -2.0 * np.eye(dim)]))
        assert one.polytope(0) is None
        assert one.volume[0] == pytest.approx(4 * np.pi if dim == 2 else 32 / 3 * np.pi)
        assert one.surface_area[0] == pytest.approx(4 * np.pi if dim == 2 else 16 * np.pi)
        return
    points, starts = groups(15, dim, 48)
    volumes = bounding_volumes(kind, points, starts, k=k)
    contents, sizes = volumes.volume, volumes.surface_area
    for i, (begin, end) in enumerate(pairwise([*starts.tolist(), len(points)])):
        shape = volumes.polytope(i)
        assert shape is not None
        extent = max(shape.extent, 1e-300)
        inside = shape.normals @ (points[begin:end] - shape.center).T <= shape.offsets[:, None] + tolerance(points)
        assert inside.all()
        content = shape.volume if dim == 3 else shape.area
        slack = 1e-9 * extent + 1e3 * tolerance(points[begin:end])
        assert contents[i] == pytest.approx(content, rel=1e-9, abs=slack * extent ** (dim - 1))
        if dim == 3 and shape.rank == 3:
            surface = shape.area
            assert sizes[i] >= surface * (1 - 1e-9) - slack * extent
            if k in (None, 6):
                assert sizes[i] == pytest.approx(surface, rel=1e-9, abs=slack * extent)


# ---------------------------------------------------------------------------------------------------------------------
# Nothing, one, and what is refused


@every_kind
def test_no_groups_give_no_volumes_and_every_answer_is_empty(kind, k, dim):
    none = bounding_volumes(kind, np.empty((0, dim)), np.empty(0, dtype=int), k=k)
    assert len(none) == 0
    assert none.dim == dim
    for result in (none.take([]), none.merged(none), none.reduce_groups([]), none.inflated(1.0)):
        assert len(result) == 0
        assert result.dim == dim
    for array in (
        none.overlaps(none),
        none.gap(none),
        none.surface_area,
        none.volume,
        none.contains(np.empty((0, dim))),
    ):
        assert array.shape == (0,)
    assert none.centers.shape == (0, dim)
    some = bounding_volumes(kind, np.zeros((3, dim)), [0], k=k)
    assert len(some.take([])) == len(some.reduce_groups([])) == 0


@pytest.mark.parametrize(("kind", "k"), KINDS_3D)
def test_no_shapes_give_no_volumes_in_space(kind, k):
    none = volumes_of_shapes(kind, [], k=k)
    assert (len(none), none.dim) == (0, 3)


@every_kind
def test_volumes_cannot_be_changed_and_the_points_are_not_kept(kind, k, dim):
    points = np.random.default_rng(16).normal(size=(12, dim))
    volumes = bounding_volumes(kind, points, [0, 4, 8], k=k)
    before = volumes.centers.copy()
    points[:] = 99.0
    np.testing.assert_array_equal(volumes.centers, before)
    for name in ("low", "high", "center", "radius", "axes", "half"):
        array = getattr(volumes, name, None)
        if array is not None:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0


@every_kind
def test_a_point_is_a_volume_without_size_exactly_there(kind, k, dim):
    points = np.random.default_rng(17).normal(size=(50, dim)) * 1e6
    volumes = bounding_volumes(kind, points, np.arange(50), k=k)
    np.testing.assert_array_equal(volumes.centers, points)
    assert volumes.contains(points).all()
    if kind != "kdop":
        assert (volumes.surface_area == 0.0).all()


def test_arguments_are_refused_by_name():
    points = np.zeros((4, 3))
    for wrong, kwargs, words in (
        (("ball", points), {}, "^kind must be one of sphere, aabb, obb, kdop, not 'ball'"),
        (("aabb", points), {"k": 6}, '^k is for "kdop" only'),
        (("kdop", points), {"k": 8}, "^k must be one of 6, 14, 18, 26 in dimension 3, not 8"),
        (("kdop", points[:, :2]), {"k": 6}, "^k must be one of 4, 8 in dimension 2, not 6"),
        (("aabb", np.zeros((4, 4))), {}, r"^points: an array \(n, 2\) or \(n, 3\) expected"),
        (("aabb", np.zeros(3)), {}, "^points: an array"),
        (("aabb", np.empty((0, 3))), {}, "^points: at least one point expected"),
        (("aabb", [[0, 0, np.nan]]), {}, "^points: all numbers must be finite"),
        (("aabb", [[0, 0, np.inf]]), {}, "^points: all numbers must be finite"),
        (("aabb", [[0, 0, 1e303]]), {}, "^points: no coordinate may be beyond"),
        (("aabb", points, [0, 4]), {}, "^starts: all must be from 0 to 3"),
        (("aabb", points, [-1, 2]), {}, "^starts: all must be from 0"),
        (("aabb", points, [0, 2, 2]), {}, r"^starts must grow, but starts\[1\] is 2"),
        (("aabb", points, [0.0, 2.0]), {}, r"^starts: whole numbers \(m,\) expected"),
        (("aabb", points, 0), {}, "^starts: whole numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            bounding_volumes(*wrong, **kwargs)
    for triangles, words in (
        ([0, 1, 2], r"^triangles: whole numbers \(m, 3\) expected, got the shape \(3,\)"),
        ([[0.0, 1.0, 2.0]], r"^triangles: whole numbers \(m, 3\) expected, .* dtype float64"),
        ([[0, 1, 4]], r"^triangles: all must be from 0 to 3, for there are 4 points"),
        ([[0, 1, -1]], r"^triangles: all must be from 0 to 3"),
    ):
        with pytest.raises(ValueError, match=words):
            volumes_of_triangles("aabb", np.zeros((4, 3)), triangles)
    with pytest.raises(ValueError, match=r"^points: "):
        volumes_of_triangles("aabb", [[0.0, 0.0, np.nan]], [[0, 0, 0]])
    with pytest.raises(ValueError, match=r"^shapes\[1\] must be a shape"):
        volumes_of_shapes("aabb", [ConvexHull(points), points])
    with pytest.raises(ValueError, match=r"^shapes: all must have the same dimension"):
        volumes_of_shapes("aabb", [ConvexHull(points), ConvexHull(points[:, :2])])


@every_kind
def test_methods_refuse_by_name_what_they_cannot_take(kind, k, dim):
    volumes = bounding_volumes(kind, np.zeros((4, dim)), [0, 2], k=k)
    other = bounding_volumes("aabb" if kind != "aabb" else "sphere", np.zeros((4, dim)), [0, 2])
    for method in (volumes.merged, volumes.overlaps, volumes.gap):
        with pytest.raises(ValueError, match=r"^other must have the same length"):
            method(volumes.take([0]))
        if kind != "kdop":
            with pytest.raises(ValueError, match=r"^other must be \w+ like the first, not \w+"):
                method(other)
    for indices in ([2], [-1], [0.5], [[0]]):
        with pytest.raises(ValueError, match=r"^indices: "):
            volumes.take(indices)
    for starts in ([0, 2], [1, 1], [-1], [0.5]):
        with pytest.raises(ValueError, match=r"^starts"):
            volumes.reduce_groups(starts)
    for margin in (-1.0, np.nan, np.inf, "1"):
        with pytest.raises(ValueError, match=r"^margin must be a finite number"):
            volumes.inflated(margin)
    for points in (np.zeros((1, dim)), np.zeros((2, 5)), np.full((2, dim), np.nan)):
        with pytest.raises(ValueError, match=r"^points: "):
            volumes.contains(points)
    for index in (2, -1, 0.0, True):
        with pytest.raises(ValueError, match=r"^index must be a whole number from 0 to 1"):
            volumes.polytope(index)


@every_kind
@pytest.mark.parametrize("margin", [1e302, 1e305, 5e307, 1.7e308])
def test_a_margin_of_any_size_reaches_everything(kind, k, dim, margin):
    points = np.random.default_rng(18).normal(size=(60, dim))
    points[30:] *= 1e300
    volumes = bounding_volumes(kind, points, np.arange(0, 60, 3), k=k)
    grown = volumes.inflated(margin).inflated(margin)
    some = np.random.default_rng(19).permutation(20)
    for each in (volumes.inflated(margin), grown):
        assert each.overlaps(volumes.take(some)).all()
        assert volumes.take(some).overlaps(each).all()
        assert (each.gap(volumes.take(some)) == 0.0).all()
        assert each.contains(points[some * 3]).all()
        assert each.overlaps(each.take(some)).all()
        assert not np.isnan(each.volume).any()
        assert not np.isnan(each.surface_area).any()
        assert each.merged(volumes).contains(points[::3]).all()


@pytest.mark.fast_cases(15)
@every_kind
@pytest.mark.parametrize("size", [1e-308, 1e-312, 1e-316, 1e-320, 1e-322])
def test_near_the_least_float_every_point_is_still_in_its_volume(kind, k, dim, size):
    rng = np.random.default_rng(20)
    for count in (1, 2, 3, 6):
        points = rng.normal(size=(60 * count, dim)) * size
        starts = np.arange(0, len(points), count)
        volumes = bounding_volumes(kind, points, starts, k=k)
        owner = np.arange(len(points)) // count
        assert holds(volumes, points, owner)
        assert not any(excess_exactly(volumes, int(i), point) for i, point in zip(owner, points, strict=True))
        joined = volumes.reduce_groups(np.arange(0, 60, 3))
        assert holds(joined, points, owner // 3)
        assert holds(volumes.merged(volumes.take(np.arange(60)[::-1])), points, owner)
        together = volumes.take(owner).overlaps(bounding_volumes(kind, points, np.arange(len(points)), k=k))
        assert together.all()
        assert (volumes.take(owner).gap(bounding_volumes(kind, points, np.arange(len(points)), k=k)) == 0.0).all()


def test_a_side_that_the_least_float_can_just_tell_is_not_lost():
    u = 5e-324
    for points in ([[0, 0], [u, 2 * u]], [[0, 0], [3 * u, u]], [[0, 0], [2 * u, u], [u, 3 * u]], [[0, 0], [0, u]]):
        volumes = bounding_volumes("obb", points)
        assert volumes.take([0] * len(points)).contains(points).all()
        assert not any(excess_exactly(volumes, 0, point) for point in np.array(points))


@every_kind
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-200, 1e-155, 1e-150, 1.0, 1e150, 1e155, 1e200, 1e300])
def test_what_is_apart_is_told_apart_at_every_size_and_overlap_and_gap_agree(kind, k, dim, size):
    rng = np.random.default_rng(21)
    points = rng.uniform(-1, 1, (10, 4, dim))
    centers = np.zeros((10, 1, dim))
    centers[:, 0, 0] = 5.0 * np.arange(10)
    volumes = bounding_volumes(kind, (0.02 * (points + centers) * size).reshape(-1, dim), np.arange(0, 40, 4), k=k)
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(10), np.arange(10)))
    together, gap = volumes.take(i).overlaps(volumes.take(j)), volumes.take(i).gap(volumes.take(j))
    np.testing.assert_array_equal(together, gap == 0.0)
    np.testing.assert_array_equal(together, i == j)


@pytest.mark.parametrize("exponent", [-1060, -1000, -700, -500, -480, 0, 480, 500, 600, 900])
def test_spheres_touch_at_every_size_when_they_do(exponent):
    radius = np.ldexp(np.array([3.0, 2.0, 2.0, 2.0, 0.0]), exponent)
    center = np.ldexp(np.array([[0, 0, 0], [3, 4, 0], [3, 4, 1], [0, 0, 0], [3, 0, 0.0]]), exponent)
    spheres = Spheres(center, radius)
    assert spheres.take([0] * 5).overlaps(spheres).tolist() == [True, True, False, True, True]
    tiny = Spheres(center[:2], np.ldexp(np.array([1e-12, 1e-12]), min(exponent, -400)))
    far = Spheres(np.array([[1e200, 0.0, 0.0]] * 2), np.ones(2))
    assert not tiny.overlaps(far).any()


def test_spheres_whose_centres_are_next_to_each_other_are_merged_without_a_warning():
    a = Spheres(np.zeros((3, 3)), np.array([1.0, 2.0, 1e300]))
    b = Spheres(np.array([[1e-310, 0.0, 0.0], [0.0, 5e-324, 0.0], [1.0, 0.0, 0.0]]), np.array([2.0, 1.0, 1e-300]))
    np.testing.assert_allclose(a.merged(b).radius, [2.0, 2.0, 1e300], rtol=1e-14)
    assert a.merged(b).contains(b.center).all()


@every_kind
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-100, 1e100, 1e160, 1e300])
def test_contents_are_numbers_at_every_size(kind, k, dim, size):
    rng = np.random.default_rng(22)
    points = rng.normal(size=(40, dim))
    flat = points.copy()
    flat[:, -1] = 0.0
    for each in (points, flat, points * np.append(np.ones(dim - 1), 1e-8)):
        starts = np.arange(0, 40, 8)
        small = bounding_volumes(kind, each, starts, k=k).volume
        content = bounding_volumes(kind, each * size, starts, k=k).volume
        assert not np.isnan(content).any()
        assert (content >= 0.0).all()
        power = np.log10(size) * dim
        if abs(power) < 301:
            np.testing.assert_allclose(content, small * size**dim, rtol=1e-9, atol=1e-14 * size**dim)
        elif each is points:
            assert (content == (0.0 if power < 0 else np.inf)).all()
    assert not np.isnan(bounding_volumes(kind, flat * size, starts, k=k).surface_area).any()
    if kind in ("aabb", "obb"):
        long = np.diag([1e300, 1e-200, 1e-100][:dim])
        box = np.concatenate([long, -long])
        assert bounding_volumes("aabb", box).volume[0] == pytest.approx(8.0 if dim == 3 else 4e100, rel=1e-9)
        assert bounding_volumes("aabb", np.diag([1e300] * dim) * 0.0).volume[0] == 0.0


def test_what_has_no_meaning_is_refused_by_name():
    points = np.zeros((4, 3))
    shape = ConvexHull(np.eye(3))
    ragged = [[0, 1, 2], [1]]
    fourteen, eighteen = (bounding_volumes("kdop", points, k=k) for k in (14, 18))
    for call, words in (
        (lambda: volumes_of_shapes("aabb", None), "^shapes must be a list of shapes, not NoneType"),
        (lambda: volumes_of_shapes("aabb", shape), "^shapes must be a list of shapes, not ConvexHull"),
        (lambda: volumes_of_shapes("obb", 3), "^shapes must be a list"),
        (lambda: bounding_volumes("kdop", points, k=[6]), r"^k must be one of 6, 14, 18, 26 in dimension 3, not \[6\]"),
        (lambda: bounding_volumes("kdop", points, k=6.0), r"^k must be one of 6, 14, 18, 26 in dimension 3, not 6\.0"),
        (lambda: bounding_volumes("aabb", points, ragged), r"^starts: whole numbers \(m,\) expected"),
        (lambda: fourteen.take(ragged), r"^indices: whole numbers \(m,\) expected"),
        (lambda: volumes_of_triangles("aabb", points, ragged), r"^triangles: whole numbers \(m, 3\) expected"),
        (lambda: volumes_of_triangles("aabb", points, np.zeros((2, 0), int)), r"^triangles: whole numbers"),
        (lambda: bounding_volumes(np.array(["aabb", "obb"]), points), "^kind must be one of sphere, aabb, obb, kdop"),
        (lambda: bounding_volumes(["aabb"], points), "^kind must be one of sphere"),
        (lambda: KDops.concatenate([fourteen, eighteen]), r"^parts must have the same k, but there are \[14, 18\]"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    for kind, cls in (("aabb", KDops), ("sphere", Spheres), ("obb", OrientedBoxes)):
        one, flat = bounding_volumes(kind, points), bounding_volumes(kind, points[:, :2])
        for parts, words in (
            ([], "^parts: a list of one or more batches"),
            (None, "^parts: a list of one or more batches"),
            ([one, None], r"^parts\[1\] must be \w+, not NoneType"),
            ([one, bounding_volumes("obb" if kind == "sphere" else "sphere", points)], r"^parts\[1\] must be \w+, not"),
            ([one, flat], r"^parts\[1\] must be of dimension 3 like the first, not 2"),
        ):
            with pytest.raises(ValueError, match=words):
                cls.concatenate(parts)


@every_kind
def test_no_triangles_and_shapes_from_a_generator_are_accepted(kind, k, dim):
    points = np.random.default_rng(23).normal(size=(12, dim))
    for none in ([], np.empty((0, 3), dtype=int), ()):
        assert len(volumes_of_triangles(kind, points, none, k=k)) == 0
    made = volumes_of_shapes(kind, (ConvexHull(points[i : i + 4]) for i in (0, 4)), k=k)
    assert holds(made, points[:8], np.repeat([0, 1], 4))


def test_arrays_of_the_caller_stay_his_own():
    low, center, axes = np.zeros((3, 2)), np.zeros((2, 3)), np.stack([np.eye(3)] * 2)
    half, radius, directions = np.ones((2, 3)), np.ones(2), np.eye(3)
    made = (KDops(directions, low, low), OrientedBoxes(center, axes, half), Spheres(center, radius))
    for array in (low, center, axes, half, radius, directions):
        assert array.flags.writeable
        array += 0.0
    for volumes, names in zip(made, (("low", "high"), ("center", "axes", "half"), ("center", "radius")), strict=True):
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(volumes, name)[...] = 1.0


# ---------------------------------------------------------------------------------------------------------------------
# Progress


def told(call) -> list[float]:
    """What is told while a call works: it rises from 0 to 1, and each time it may be cancelled."""
    shares: list[float] = []
    call(lambda share: shares.append(share) is None)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    for most in (1, 2, len(shares)):
        seen: list[float] = []
        with pytest.raises(Cancelled):
            call(lambda share, seen=seen, most=most: seen.append(share) is None and len(seen) < most)
        assert seen == shares[:most]
    return shares


@every_kind
def test_progress_rises_to_one_and_cancels(kind, k, dim):
    rng = np.random.default_rng(24)
    points = rng.normal(size=(90_000, dim))
    shares = told(lambda progress: bounding_volumes(kind, points, np.arange(0, 90_000, 3), k=k, progress=progress))
    assert len(shares) > 3
    assert len(told(lambda progress: bounding_volumes(kind, points[:0], [], k=k, progress=progress))) >= 2
    few = rng.normal(size=(800, dim))
    shares = told(lambda progress: bounding_volumes(kind, few, np.arange(0, 800, 8), k=k, progress=progress))
    if kind == "obb":
        assert len(shares) > 100, "between groups, which take a millisecond each"
    triangles = rng.integers(0, 90_000, (40_000, 3))
    assert len(told(lambda progress: volumes_of_triangles(kind, points, triangles, k=k, progress=progress))) > 3
    told(lambda progress: volumes_of_triangles(kind, points, triangles[:0], k=k, progress=progress))
    shapes = [ConvexHull(few[i : i + 8]) for i in range(0, 80, 8)]
    told(lambda progress: volumes_of_shapes(kind, shapes, k=k, progress=progress))
    told(lambda progress: volumes_of_shapes(kind, [], k=k if dim == 3 else None, progress=progress))


@every_kind
@pytest.mark.parametrize("corners", ["few", "many"])
def test_one_large_group_tells_its_progress_too(kind, k, dim, corners):
    rng = np.random.default_rng(25)
    points = rng.normal(size=(200_000 if corners == "few" else 6_000, dim))
    if corners == "many":
        points /= np.linalg.norm(points, axis=1)[:, None]
    shares = told(lambda progress: bounding_volumes(kind, points, k=k, progress=progress))
    assert len(set(shares)) >= 3
