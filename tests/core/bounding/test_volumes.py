# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes: what must be true of every kind of them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contact_lens.core import Box, Contact, ConvexHull, contact
from contact_lens.core.bounding.bounding_sphere import Spheres
from contact_lens.core.bounding.bounding_volumes import bounding_volumes, volumes_of_shapes, volumes_of_triangles
from contact_lens.core.bounding.kdop import KDops
from contact_lens.core.bounding.obb import OrientedBoxes
from contact_lens.core.bounding.volumes import Volumes

from ..assertions import assert_progress
from ..generators import pairs, rotation

KINDS_3D = [("sphere", None), ("aabb", None), ("obb", None), ("kdop", 6), ("kdop", 14), ("kdop", 18), ("kdop", 26)]
KINDS_2D = [("sphere", None), ("aabb", None), ("obb", None), ("kdop", 4), ("kdop", 8)]
KINDS = [(kind, k, 3) for kind, k in KINDS_3D] + [(kind, k, 2) for kind, k in KINDS_2D]
every_kind = pytest.mark.parametrize(("kind", "k", "dim"), KINDS)

LEAST = 5e-324


def spun(rng: np.random.Generator, dim: int) -> np.ndarray:
    if dim == 3:
        return rotation(rng)
    w = rng.uniform(0, 7)
    return np.array([[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]])


def nasty_group(rng: np.random.Generator, sort: int, n: int, dim: int) -> np.ndarray:
    """Points of the nasty sort with this number, 0 to 7."""
    points = rng.normal(size=(n, dim))
    flat = points * np.append(np.ones(dim - 1), 0.0) @ spun(rng, dim).T
    return [
        points,
        np.repeat(points[:1], n, axis=0),
        points[:1] + np.outer(rng.normal(size=n), rng.normal(size=dim)),
        flat,
        points * 10.0 ** rng.uniform(-6, 6),
        points + 1e6 * rng.normal(size=dim),
        rng.integers(-3, 4, (n, dim)).astype(float),
        np.repeat(points[: max(1, n // 2)], 2, axis=0),
    ][sort]


def groups(seed: int, dim: int, count: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Groups of points: single, equal, collinear, flat, tiny, huge, far away, whole numbers."""
    rng = np.random.default_rng(seed)
    parts = [nasty_group(rng, i % 8, int(rng.choice([1, 2, 3, 4, 5, 8, 20])), dim) for i in range(count)]
    sizes = np.array([len(points) for points in parts])
    return np.concatenate(parts), np.cumsum(sizes) - sizes


def groups_of_size(size: float, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """64 groups of one to six points with coordinates of about this size."""
    rng = np.random.default_rng(2)
    counts = np.tile([1, 2, 3, 6], 16)
    return rng.uniform(-1, 1, (counts.sum(), dim)) * size, np.cumsum(counts) - counts


def group_of(starts: np.ndarray, count: int) -> np.ndarray:
    """The number of the group of every point."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=count))


def tolerance(points: np.ndarray) -> float:
    return 1e-13 * float(np.abs(points).max())


def contain(volumes: Volumes, points: np.ndarray, owner: np.ndarray) -> bool:
    return bool(volumes.take(owner).contains(points).all())


def is_outside(volumes: Volumes, index: int, point: np.ndarray) -> bool:
    """Whether a point is outside of a volume, in exact arithmetic."""
    p = [Fraction(x) for x in point.tolist()]

    def dot(direction: list[float], origin: list[Fraction]) -> Fraction:
        return sum((Fraction(d) * (x - y) for d, x, y in zip(direction, p, origin, strict=True)), Fraction(0))

    if isinstance(volumes, KDops):
        slabs = zip(volumes.directions.tolist(), volumes.low[index].tolist(), volumes.high[index].tolist(), strict=True)
        return any(not Fraction(low) <= dot(d, [Fraction(0)] * len(p)) <= Fraction(high) for d, low, high in slabs)
    assert isinstance(volumes, Spheres | OrientedBoxes)
    c = [Fraction(x) for x in volumes.center[index].tolist()]
    if isinstance(volumes, Spheres):
        return sum((x - y) ** 2 for x, y in zip(p, c, strict=True)) > Fraction(float(volumes.radius[index])) ** 2
    sides = zip(volumes.axes[index].tolist(), volumes.half[index].tolist(), strict=True)
    return any(abs(dot(axis, c)) > Fraction(half) for axis, half in sides)


# ---------------------------------------------------------------------------------------------------------------------
# Every point inside


def assert_every_point_is_inside(kind: str, k: int | None, points: np.ndarray, starts: np.ndarray) -> None:
    """Inside its volume, in exact arithmetic too, and inside what is made of that and another by merging."""
    volumes = bounding_volumes(kind, points, starts, k=k)
    owner, count = group_of(starts, len(points)), len(starts)
    assert (len(volumes), volumes.dim) == (count, points.shape[1])
    assert contain(volumes, points, owner)
    assert not any(is_outside(volumes, int(i), point) for i, point in zip(owner, points, strict=True))
    other = np.random.default_rng(count).permutation(count)
    both = volumes.merged(volumes.take(other))
    assert contain(both, points, owner)
    assert contain(both, points, np.argsort(other)[owner])
    firsts = np.array([0, 1, 3, 10, 11, 40])
    reduced = volumes.reduce_groups(firsts)
    assert contain(reduced, points, np.searchsorted(firsts, owner, side="right") - 1)
    np.testing.assert_array_equal(volumes.reduce_groups(firsts[2:]).centers, reduced.centers[2:])
    alone = bounding_volumes(kind, points, np.arange(len(points)), k=k)
    assert volumes.take(owner).overlaps(alone).all()
    assert (volumes.take(owner).gap(alone) == 0.0).all()


@every_kind
@settings(max_examples=1)
@given(seed=st.integers(0, 9999))
def test_every_point_is_inside_even_in_exact_arithmetic(kind, k, dim, seed):
    assert_every_point_is_inside(kind, k, *groups(seed, dim))


@pytest.mark.fast_cases(3)
@every_kind
@settings(max_examples=4)
@given(exponent=st.floats(-322.0, 300.0))
@example(exponent=-322.0)
@example(exponent=-312.0)
@example(exponent=300.0)
def test_the_smallest_and_the_largest_floats_are_lengths_like_any_other(kind, k, dim, exponent):
    assert_every_point_is_inside(kind, k, *groups_of_size(10.0**exponent, dim))


@pytest.mark.parametrize("points", [[[0, 0], [1, 2]], [[0, 0], [3, 1]], [[0, 0], [2, 1], [1, 3]], [[0, 0], [0, 1]]])
def test_a_side_as_long_as_the_least_float_is_kept(points):
    points = np.array(points) * LEAST
    volumes = bounding_volumes("obb", points)
    assert contain(volumes, points, np.zeros(len(points), dtype=int))
    assert not any(is_outside(volumes, 0, point) for point in points)


@every_kind
def test_mixtures_of_points_are_inside_and_points_far_away_are_not(kind, k, dim):
    rng = np.random.default_rng(1)
    points, starts = groups(7, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    for group, (begin, end) in enumerate(pairwise([*starts.tolist(), len(points)])):
        mixed = rng.dirichlet(np.ones(end - begin), 5) @ points[begin:end]  # rounded, and so perhaps just outside
        assert volumes.take([group] * 5).inflated(tolerance(mixed)).contains(mixed).all()
    away = volumes.centers + 3.0 * np.sqrt(volumes.surface_area + 1.0)[:, None] * (1.0 + volumes.surface_area[:, None])
    assert not volumes.contains(away).any()


@every_kind
def test_merging_in_a_tree_of_a_thousand_loses_nothing(kind, k, dim):
    points = np.random.default_rng(4).normal(size=(1024, dim)) + 1e3
    level = bounding_volumes(kind, points, np.arange(1024), k=k)
    np.testing.assert_array_equal(level.centers, points)
    for step in range(10):
        level = level.reduce_groups(np.arange(0, len(level), 2))
        assert contain(level, points, np.arange(1024) >> (step + 1))


# ---------------------------------------------------------------------------------------------------------------------
# The same volumes, however they are asked for


def assert_same(volumes: Volumes, other: Volumes, points: np.ndarray, exact: bool) -> None:
    if exact:
        for name in volumes._fields:
            np.testing.assert_array_equal(getattr(volumes, name), getattr(other, name))
    else:
        for name in ("centers", "surface_area", "volume"):
            np.testing.assert_allclose(getattr(volumes, name), getattr(other, name), rtol=1e-9, atol=tolerance(points))


@pytest.mark.fast_cases(3)
@every_kind
def test_groups_are_measured_alike_alone_together_and_among_others(kind, k, dim):
    for size in (1, 2, 3, 4):
        count = 300 if kind == "obb" and size > 3 else 10_000
        points = np.random.default_rng(size).normal(size=(count * size, dim))
        starts = np.arange(0, count * size, size)
        alike = bounding_volumes(kind, points, starts, k=k)
        more = np.concatenate([points, np.zeros((5, dim))])
        among = bounding_volumes(kind, more, np.append(starts, count * size), k=k).take(np.arange(count))
        assert_same(alike, among, points, exact=kind in ("aabb", "kdop"))  # there are formulas for few points
        for i in range(0, count, 97):
            alone = bounding_volumes(kind, points[starts[i] : starts[i] + size], k=k)
            assert_same(alone, alike.take([i]), points, exact=kind in ("aabb", "kdop"))


@pytest.mark.fast_cases(3)
@every_kind
@settings(max_examples=2)
@given(exponent=st.floats(-300.0, 300.0))
@example(exponent=-300.0)
def test_triangles_of_a_mesh_have_the_volumes_of_their_corners(kind, k, dim, exponent):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(400, dim)) * 10.0**exponent
    triangles = rng.integers(0, 400, (20_000 if kind in ("aabb", "kdop") else 500, 3))
    of_corners = bounding_volumes(kind, points[triangles].reshape(-1, dim), np.arange(0, triangles.size, 3), k=k)
    assert_same(volumes_of_triangles(kind, points, triangles, k=k), of_corners, points, exact=True)
    for nothing in (triangles[:0], [], ()):
        assert len(volumes_of_triangles(kind, points, nothing, k=k)) == 0


@every_kind
def test_shapes_have_the_volumes_of_their_vertices(kind, k, dim):
    rng = np.random.default_rng(3)
    shapes = [ConvexHull(rng.normal(size=(int(rng.integers(1, 30)), dim))) for _ in range(30)]
    if dim == 3:
        shapes.append(Box((1, 2, 3), (1, 0.5, 2), (0.5, 0.1, 0.7, 0.2)))
    volumes = volumes_of_shapes(kind, iter(shapes), k=k)
    for i, shape in enumerate(shapes):
        alone = bounding_volumes(kind, shape.vertices, k=k)
        if kind != "obb":  # several boxes may be equally good
            np.testing.assert_allclose(volumes.take([i]).centers, alone.centers, rtol=0, atol=1e-13)
        np.testing.assert_allclose(volumes.take([i]).volume, alone.volume, rtol=1e-9, atol=1e-13)


@every_kind
def test_concatenated_batches_come_one_after_the_other(kind, k, dim):
    points, starts = groups(40, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    together = type(volumes).concatenate([volumes.take([3, 1]), volumes.take([]), volumes])
    assert_same(together, volumes.take([3, 1, *range(len(starts))]), points, exact=True)


@every_kind
def test_merging_with_itself_or_with_something_inside_does_not_widen(kind, k, dim):
    points, starts = groups(5, dim)
    volumes = bounding_volumes(kind, points, starts, k=k)
    same = volumes.merged(volumes)
    np.testing.assert_allclose(same.surface_area, volumes.surface_area, rtol=1e-9, atol=1e-11)
    large = bounding_volumes(kind, points, k=k).take(np.zeros(len(starts), dtype=int))
    ratio = large.merged(volumes).volume / large.volume
    assert (ratio <= 1.0 + 1e-5).all()
    assert (ratio >= (0.99 if kind == "obb" else 1.0 - 1e-6)).all()  # a box along the axes of another may be smaller


# ---------------------------------------------------------------------------------------------------------------------
# Margins


@pytest.mark.fast_cases(3)
@every_kind
@settings(max_examples=3)
@given(margin=st.floats(-9.0, 3.0).map(lambda exponent: 10.0**exponent))
@example(margin=0.0)
def test_an_inflated_volume_contains_everything_within_the_margin(kind, k, dim, margin):
    rng = np.random.default_rng(6)
    points, starts = groups(6, dim)
    volumes = bounding_volumes(kind, points, starts, k=k).inflated(margin)
    owner = group_of(starts, len(points))
    directions = [rng.normal(size=points.shape) for _ in range(20)]
    directions += [np.broadcast_to(axis, points.shape) for axis in np.vstack([np.eye(dim), -np.eye(dim)])]
    tried = 0
    for direction in directions:
        moved = points + margin * (1.0 - 1e-12) * direction / np.linalg.norm(direction, axis=1)[:, None]
        within = np.linalg.norm(moved - points, axis=1) * (1.0 + 1e-15) <= margin  # rounding may move it farther
        assert contain(volumes, moved[within], owner[within])
        tried += np.count_nonzero(within)
    assert tried > 5 * len(points)


@pytest.mark.fast_cases(3)
@every_kind
@settings(max_examples=3)
@given(margin=st.floats(1e302, 1.7e308))
@example(margin=1.7e308)
def test_a_margin_of_any_size_reaches_everything(kind, k, dim, margin):
    points = np.random.default_rng(18).normal(size=(60, dim))
    points[30:] *= 1e300
    volumes = bounding_volumes(kind, points, np.arange(0, 60, 3), k=k)
    order = np.random.default_rng(19).permutation(20)
    others = volumes.take(order)
    for inflated in (volumes.inflated(margin), volumes.inflated(margin).inflated(margin)):
        assert inflated.overlaps(others).all()
        assert others.overlaps(inflated).all()
        assert (inflated.gap(others) == 0.0).all()
        assert inflated.contains(points[order * 3]).all()
        assert inflated.overlaps(inflated.take(order)).all()
        assert not np.isnan([inflated.volume, inflated.surface_area]).any()
        assert inflated.merged(volumes).contains(points[::3]).all()


# ---------------------------------------------------------------------------------------------------------------------
# Overlap and gap


@cache
def hard_pairs(dim: int) -> tuple[list[tuple[ConvexHull, ConvexHull]], list[Contact]]:
    chosen = [(ConvexHull(first), ConvexHull(second)) for _, first, second in pairs(77, 360) if first.shape[1] == dim]
    return chosen, [contact(a, b) for a, b in chosen]


@pytest.mark.fast_cases(4)
@every_kind
def test_overlap_and_gap_against_certified_distances(kind, k, dim):
    """Against GJK and EPA with their certified bounds, on pairs of every class that is hard to collide."""
    chosen, results = hard_pairs(dim)
    upper = np.array([c.upper_bound for c in results])
    first, second = (volumes_of_shapes(kind, shapes, k=k) for shapes in zip(*chosen, strict=True))
    together, gap = first.overlaps(second), first.gap(second)
    assert together[upper <= 0.0].all()
    assert (gap <= np.maximum(upper, 0.0)).all()
    assert (gap >= 0.0).all()
    assert (gap[together] == 0.0).all()
    np.testing.assert_array_equal(together, second.overlaps(first))
    far = np.array([c.lower_bound / max(a.extent, b.extent, 1e-300) for c, (a, b) in zip(results, chosen, strict=True)])
    assert not together[far > 2.0].any()  # and a volume is no larger than it has to be


def tetrahedra_with_one_common_point(dim: int, scale: float, far: float) -> tuple[np.ndarray, np.ndarray]:
    """Simplices (n, 4, dim) that have nothing in common but one vertex, exactly."""
    rng = np.random.default_rng(9)
    count = 100
    points = rng.normal(size=(count, 4, dim)) * scale + far * rng.normal(size=(count, 1, dim))
    other = rng.normal(size=(count, 4, dim)) * scale
    # A generic direction separates the two at the point they share.
    direction = rng.normal(size=(count, dim))
    top = np.einsum("ijk,ik->ij", points, direction).argmax(axis=1)
    bottom = np.einsum("ijk,ik->ij", other, direction).argmin(axis=1)
    every = np.arange(count)
    other += (points[every, top] - other[every, bottom])[:, None]
    other[every, bottom] = points[every, top]
    return points, other


def crossing_segments(dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Segments (n, 2, dim) with a common point between their ends: whole numbers, so that they share it exactly."""
    rng = np.random.default_rng(10)
    middle = rng.integers(-1000, 1000, (500, 1, dim)) * rng.choice([1.0, 2.0**-30, 2.0**30], (500, 1, 1))
    arms = rng.integers(-1000, 1000, (2, 500, 1, dim)) * 2.0 ** rng.integers(-8, 1, (2, 500, 1, 1))
    first, second = (np.concatenate([middle - arm, middle + arm], axis=1) for arm in arms)
    return first, second


@pytest.mark.fast_cases(6)
@every_kind
def test_volumes_that_share_a_point_overlap(kind, k, dim):
    cases = [tetrahedra_with_one_common_point(dim, *c) for c in ((1.0, 0.0), (1e-6, 1.0), (1e6, 1.0), (1.0, 1e6))]
    for both in (*cases, crossing_segments(dim)):
        first, second = (
            bounding_volumes(kind, p.reshape(-1, dim), np.arange(0, p[..., 0].size, p.shape[1]), k=k) for p in both
        )
        assert first.overlaps(second).all()
        assert (first.gap(second) == 0.0).all()


@every_kind
def test_a_gap_grows_to_the_distance_of_small_things_far_apart(kind, k, dim):
    points = np.random.default_rng(12).normal(size=(2, 200, dim)) * [[[1.0]], [[1e4]]]
    near, far = (bounding_volumes(kind, p, np.arange(200), k=k) for p in points)
    distance = np.linalg.norm(points[0] - points[1], axis=1)
    gap = near.gap(far)
    assert (gap <= distance).all()
    assert (gap >= 0.57 * distance).all()  # one over the root of three, with room for the boxes


def test_more_planes_separate_all_that_fewer_of_them_do():
    points, starts = groups(13, 3, 200)
    i, j = np.triu_indices(200, 1)
    volumes = {k: bounding_volumes("kdop", points, starts, k=k) for k in (6, 14, 18, 26)}
    apart = {k: ~v.take(i).overlaps(v.take(j)) for k, v in volumes.items()}
    for fewer, more in ((6, 14), (6, 18), (14, 26), (18, 26)):
        assert not (apart[fewer] & ~apart[more]).any()


@every_kind
@settings(max_examples=5)
@given(exponent=st.floats(-320.0, 300.0))
@example(exponent=-320.0)
@example(exponent=-155.0)
@example(exponent=155.0)
@example(exponent=300.0)
def test_overlap_and_gap_agree_at_every_size(kind, k, dim, exponent):
    size = 10.0**exponent
    points = np.random.default_rng(21).uniform(-1, 1, (10, 4, dim))
    points[:, :, 0] += 5.0 * np.arange(10)[:, None]
    volumes = bounding_volumes(kind, (0.02 * points * size).reshape(-1, dim), np.arange(0, 40, 4), k=k)
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(10), np.arange(10)))
    together, gap = volumes.take(i).overlaps(volumes.take(j)), volumes.take(i).gap(volumes.take(j))
    np.testing.assert_array_equal(together, gap == 0.0)
    np.testing.assert_array_equal(together, i == j)


@given(exponent=st.integers(-1060, 900))
@example(exponent=-1060)
@example(exponent=-500)
@example(exponent=500)
@example(exponent=900)
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
    b = Spheres(np.array([[1e-310, 0.0, 0.0], [0.0, LEAST, 0.0], [1.0, 0.0, 0.0]]), np.array([2.0, 1.0, 1e-300]))
    np.testing.assert_allclose(a.merged(b).radius, [2.0, 2.0, 1e300], rtol=1e-14)
    assert a.merged(b).contains(b.center).all()


# ---------------------------------------------------------------------------------------------------------------------
# Motion and measures


@every_kind
def test_a_moved_volume_is_the_volume_of_the_moved_points(kind, k, dim):
    rng = np.random.default_rng(14)
    points = rng.normal(size=(300, dim))
    starts = np.arange(0, 300, 6)
    before = bounding_volumes(kind, points, starts, k=k)
    vector = rng.normal(size=dim)
    moved = bounding_volumes(kind, points + vector, starts, k=k)
    np.testing.assert_allclose(moved.centers, before.centers + vector, atol=1e-12)
    np.testing.assert_allclose(moved.volume, before.volume, rtol=1e-11)
    np.testing.assert_allclose(moved.surface_area, before.surface_area, rtol=1e-11)
    larger = bounding_volumes(kind, 4.0 * points, starts, k=k)
    np.testing.assert_allclose(larger.volume, 4.0**dim * before.volume, rtol=1e-11)
    np.testing.assert_allclose(larger.surface_area, 4.0 ** (dim - 1) * before.surface_area, rtol=1e-11)
    if kind in ("sphere", "obb"):
        turned = bounding_volumes(kind, points @ spun(rng, dim).T, starts, k=k)
        np.testing.assert_allclose(turned.volume, before.volume, rtol=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_sphere_has_the_measures_of_the_formula_and_no_polytope(dim):
    sphere = bounding_volumes("sphere", np.vstack([2.0 * np.eye(dim), -2.0 * np.eye(dim)]))
    assert sphere.polytope(0) is None
    assert sphere.volume[0] == pytest.approx(4 * np.pi if dim == 2 else 32 / 3 * np.pi)
    assert sphere.surface_area[0] == pytest.approx(4 * np.pi if dim == 2 else 16 * np.pi)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(("kind", "k", "dim"), [case for case in KINDS if case[0] != "sphere"])
def test_measures_are_those_of_the_polytope(kind, k, dim):
    points, starts = groups(15, dim, 16)
    volumes = bounding_volumes(kind, points, starts, k=k)
    for i, (begin, end) in enumerate(pairwise([*starts.tolist(), len(points)])):
        shape = volumes.polytope(i)
        assert shape is not None
        extent = max(shape.extent, 1e-300)
        heights = shape.normals @ (points[begin:end] - shape.center).T
        assert (heights <= shape.offsets[:, None] + tolerance(points)).all()
        slack = 1e-9 * extent + 1e3 * tolerance(points[begin:end])
        content = shape.volume if dim == 3 else shape.area
        assert volumes.volume[i] == pytest.approx(content, rel=1e-9, abs=slack * extent ** (dim - 1))
        if dim == 3 and shape.rank == 3:
            assert volumes.surface_area[i] >= shape.area * (1 - 1e-9) - slack * extent
            if k in (None, 6):
                assert volumes.surface_area[i] == pytest.approx(shape.area, rel=1e-9, abs=slack * extent)


@pytest.mark.fast_cases(3)
@every_kind
def test_measures_are_numbers_at_every_size(kind, k, dim):
    points = np.random.default_rng(22).normal(size=(40, dim))
    starts = np.arange(0, 40, 8)
    for size, thickness in product((1e-320, 1e-200, 1e-100, 1e100, 1e160, 1e300), (1.0, 1e-8, 0.0)):
        power = np.log10(size) * dim
        thin = points * np.append(np.ones(dim - 1), thickness)
        volumes = bounding_volumes(kind, thin * size, starts, k=k)
        assert not np.isnan([volumes.volume, volumes.surface_area]).any()
        assert (volumes.volume >= 0.0).all()
        if abs(power) < 301:
            wanted = bounding_volumes(kind, thin, starts, k=k).volume * size**dim
            np.testing.assert_allclose(volumes.volume, wanted, rtol=1e-9, atol=1e-14 * size**dim)
        elif thickness == 1.0:
            assert (volumes.volume == (0.0 if power < 0 else np.inf)).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_the_volume_of_a_box_as_long_as_it_is_thin_is_a_number(dim):
    long = np.diag([1e300, 1e-200, 1e-100][:dim])
    box = np.concatenate([long, -long])
    assert bounding_volumes("aabb", box).volume[0] == pytest.approx(8.0 if dim == 3 else 4e100, rel=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Nothing, one, and what is refused


@every_kind
def test_no_groups_give_no_volumes_and_every_result_is_empty(kind, k, dim):
    nothing = bounding_volumes(kind, np.empty((0, dim)), np.empty(0, dtype=int), k=k)
    point = bounding_volumes(kind, np.zeros((3, dim)), [0], k=k)
    results = (nothing, nothing.take([]), nothing.merged(nothing), nothing.reduce_groups([]), nothing.inflated(1.0))
    for result in (*results, point.take([]), point.reduce_groups([])):
        assert (len(result), result.dim, result.centers.shape) == (0, dim, (0, dim))
    inside = nothing.contains(np.empty((0, dim)))
    for array in (nothing.overlaps(nothing), nothing.gap(nothing), nothing.surface_area, nothing.volume, inside):
        assert array.shape == (0,)
    if dim == 3:
        of_no_shapes = volumes_of_shapes(kind, [], k=k)
        assert (len(of_no_shapes), of_no_shapes.dim) == (0, 3)


@every_kind
def test_a_point_is_a_volume_without_size_exactly_there(kind, k, dim):
    points = np.random.default_rng(17).normal(size=(50, dim)) * 1e6
    volumes = bounding_volumes(kind, points, np.arange(50), k=k)
    np.testing.assert_array_equal(volumes.centers, points)
    assert volumes.contains(points).all()
    if kind != "kdop":
        assert (volumes.surface_area == 0.0).all()


def test_volumes_are_read_only_and_the_arrays_of_the_caller_are_not():
    points, low, directions = np.random.default_rng(16).normal(size=(12, 3)), np.zeros((3, 2)), np.eye(3)
    center, axes, half, radius = np.zeros((2, 3)), np.stack([np.eye(3)] * 2), np.ones((2, 3)), np.ones(2)
    made = [bounding_volumes(kind, points, [0, 4, 8]) for kind in ("sphere", "kdop", "obb")]
    before = [volumes.centers.copy() for volumes in made]
    points += 99.0
    for volumes, centers in zip(made, before, strict=True):
        np.testing.assert_array_equal(volumes.centers, centers)
    for volumes in (*made, KDops(directions, low, low), OrientedBoxes(center, axes, half), Spheres(center, radius)):
        assert not any(getattr(volumes, name).flags.writeable for name in volumes._fields)
    assert all(array.flags.writeable for array in (low, directions, center, axes, half, radius))


POINTS = np.zeros((4, 3))
RAGGED = [[0, 1, 2], [1]]
SIMPLEX = ConvexHull(np.eye(3))


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (bounding_volumes, ("ball", POINTS), "^kind must be one of sphere, aabb, obb, kdop, not 'ball'"),
        (bounding_volumes, (["aabb"], POINTS), "^kind must be one of sphere"),
        (bounding_volumes, (np.array(["aabb", "obb"]), POINTS), "^kind must be one of sphere, aabb, obb, kdop"),
        (partial(bounding_volumes, k=6), ("aabb", POINTS), '^k is for "kdop" only'),
        (partial(bounding_volumes, k=8), ("kdop", POINTS), "^k must be one of 6, 14, 18, 26 in dimension 3, not 8"),
        (partial(bounding_volumes, k=6), ("kdop", POINTS[:, :2]), "^k must be one of 4, 8 in dimension 2, not 6"),
        (partial(bounding_volumes, k=[6]), ("kdop", POINTS), r"^k must be one of 6, .* in dimension 3, not \[6\]"),
        (partial(bounding_volumes, k=6.0), ("kdop", POINTS), r"^k must be one of 6, .* in dimension 3, not 6\.0"),
        (bounding_volumes, ("aabb", np.zeros((4, 4))), r"^points: an array \(n, 2\) or \(n, 3\) expected"),
        (bounding_volumes, ("aabb", np.zeros(3)), "^points: an array"),
        (bounding_volumes, ("aabb", np.empty((0, 3))), "^points: at least one point expected"),
        (bounding_volumes, ("aabb", [[0, 0, np.nan]]), "^points: all numbers must be finite"),
        (bounding_volumes, ("aabb", [[0, 0, np.inf]]), "^points: all numbers must be finite"),
        (bounding_volumes, ("aabb", [[0, 0, 1e303]]), "^points: no coordinate may be beyond"),
        (bounding_volumes, ("aabb", POINTS, [0, 4]), "^starts: all must be from 0 to 3"),
        (bounding_volumes, ("aabb", POINTS, [-1, 2]), "^starts: all must be from 0"),
        (bounding_volumes, ("aabb", POINTS, [0, 2, 2]), r"^starts must grow, but starts\[1\] is 2"),
        (bounding_volumes, ("aabb", POINTS, [0.0, 2.0]), r"^starts: whole numbers \(m,\) expected"),
        (bounding_volumes, ("aabb", POINTS, 0), "^starts: whole numbers"),
        (bounding_volumes, ("aabb", POINTS, RAGGED), r"^starts: whole numbers \(m,\) expected"),
        (volumes_of_triangles, ("aabb", POINTS, [0, 1, 2]), r"^triangles: .* expected, got the shape \(3,\)"),
        (volumes_of_triangles, ("aabb", POINTS, [[0.0, 1.0, 2.0]]), r"^triangles: .* expected, .* dtype float64"),
        (volumes_of_triangles, ("aabb", POINTS, [[0, 1, 4]]), r"^triangles: .* 0 to 3, for there are 4 points"),
        (volumes_of_triangles, ("aabb", POINTS, [[0, 1, -1]]), r"^triangles: all must be from 0 to 3"),
        (volumes_of_triangles, ("aabb", POINTS, RAGGED), r"^triangles: whole numbers \(m, 3\) expected"),
        (volumes_of_triangles, ("aabb", POINTS, np.zeros((2, 0), int)), r"^triangles: whole numbers"),
        (volumes_of_triangles, ("aabb", [[0.0, 0.0, np.nan]], [[0, 0, 0]]), "^points: "),
        (volumes_of_shapes, ("aabb", None), "^shapes must be a list of shapes, not NoneType"),
        (volumes_of_shapes, ("aabb", SIMPLEX), "^shapes must be a list of shapes, not ConvexHull"),
        (volumes_of_shapes, ("obb", 3), "^shapes must be a list"),
        (volumes_of_shapes, ("aabb", [SIMPLEX, POINTS]), r"^shapes\[1\] must be a shape"),
        (
            volumes_of_shapes,
            ("aabb", [SIMPLEX, ConvexHull(POINTS[:, :2])]),
            "^shapes: all must have the same dimension",
        ),
    ],
)
def test_arguments_that_are_not_valid_are_refused_by_name(function, arguments, words):
    with pytest.raises(ValueError, match=words):
        function(*arguments)


@every_kind
def test_methods_refuse_by_name_what_they_cannot_take(kind, k, dim):
    volumes = bounding_volumes(kind, np.zeros((4, dim)), [0, 2], k=k)
    kinds = [case for case in KINDS if case not in ((kind, k, dim), ("aabb", None, dim), ("kdop", 2 * dim, dim))]
    others = [bounding_volumes(other, np.zeros((4, d)), [0, 2], k=n) for other, n, d in kinds]
    of_other_kind = r"must be \w+ of dimension \d.* like the first, not \w+ of dimension \d"
    refused = [
        (method, other, f"^other {of_other_kind}") for method in ("merged", "overlaps", "gap") for other in others
    ]
    refused += [
        (method, volumes.take([0]), "^other must have the same length") for method in ("merged", "overlaps", "gap")
    ]
    refused += [("concatenate", [volumes, other], rf"^parts\[1\] {of_other_kind}") for other in others]
    refused += [("concatenate", value, "^parts: a list of one or more batches") for value in ([], None)]
    refused += [("concatenate", [volumes, None], r"^parts\[1\] must be \w+ .*, not NoneType")]
    refused += [("take", value, "^indices: ") for value in ([2], [-1], [0.5], [[0]], RAGGED)]
    refused += [("reduce_groups", value, "^starts") for value in ([0, 2], [1, 1], [-1], [0.5])]
    refused += [("inflated", value, "^margin must be a finite number") for value in (-1.0, np.nan, np.inf, "1")]
    refused += [("contains", p, "^points: ") for p in (np.zeros((1, dim)), np.zeros((2, 5)), np.full((2, dim), np.nan))]
    refused += [("polytope", value, "^index must be a whole number from 0 to 1") for value in (2, -1, 0.0, True)]
    for method, value, words in refused:
        with pytest.raises(ValueError, match=words):
            getattr(volumes, method)(value)


# ---------------------------------------------------------------------------------------------------------------------
# Progress


@pytest.mark.fast_cases(3)
@every_kind
def test_progress_rises_to_one_and_cancels(kind, k, dim):
    rng = np.random.default_rng(24)
    points, few = rng.normal(size=(90_000, dim)), rng.normal(size=(800, dim))
    triangles = rng.integers(0, 90_000, (40_000, 3))
    shapes = [ConvexHull(few[i : i + 8]) for i in range(0, 80, 8)]

    def count(function, *arguments) -> int:
        return len(assert_progress(lambda progress: function(kind, *arguments, k=k, progress=progress)))

    assert count(bounding_volumes, points, np.arange(0, 90_000, 3)) > 3
    assert count(bounding_volumes, points[:0], []) >= 2
    between_groups = count(bounding_volumes, few, np.arange(0, 800, 8))
    assert between_groups > 100 or kind != "obb", "these take a millisecond each"
    assert count(volumes_of_triangles, points, triangles) > 3
    assert count(volumes_of_triangles, points, triangles[:0]) >= 2
    assert count(volumes_of_shapes, shapes) >= 2
    if dim == 3:
        assert count(volumes_of_shapes, []) >= 2
    assert count(bounding_volumes, points) >= 3, "within a large group"
    round_points = points[:6000] / np.linalg.norm(points[:6000], axis=1)[:, None]
    assert count(bounding_volumes, round_points) >= 3, "within a group of many corners"
