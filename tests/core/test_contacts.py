# SPDX-License-Identifier: GPL-3.0-or-later
"""Many pairs in one call say what the single call says of each."""

from __future__ import annotations

import dataclasses
import sys
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Cancelled,
    Capsule,
    Contact,
    Contacts,
    ConvexHull,
    Cylinder,
    Polytope,
    Relation,
    Sphere,
    Status,
    box_sat,
    contact,
    contacts,
    gjk_intersects,
    nearest_neighbours,
    pairs_intersect,
    verify,
)
from contact_lens.core.batched.box_axes import (
    SingleChunks,
    box_axes,
    boxes_intersect,
    double_chunks,
    intersecting_boxes,
)
from contact_lens.core.batched.box_regions import BoxRegions, box_regions
from contact_lens.core.batched.boxes import OrientedBoxes
from contact_lens.core.batched.contacts import RELATIONS, STATUSES
from contact_lens.core.batched.depth import hull_depths
from contact_lens.core.batched.distance import hull_distances
from contact_lens.core.batched.hull_intersection import are_separated, intersect_hulls, rays_meet, widest_slabs
from contact_lens.core.batched.hull_table import HullTable
from contact_lens.core.batched.portals import APART, MEET, OPEN, search_portals
from contact_lens.core.region.region import region_between

from .generators import CLASSES, COMPOSED, CUBE, LARGE, pair, rotation
from .oracles import EPS

SIZES = (1, 40, 1_000, 20_000)


def promised(a, b, signed_distance: float) -> float:
    extent, magnitude = min(a.extent, b.extent), max(a.magnitude, b.magnitude)
    return 1e-9 * abs(signed_distance) + 1e-10 * extent + 64 * EPS * magnitude


def gap_across(a: Polytope, b: Polytope, normal: np.ndarray) -> float:
    """Gap along a normal, measured from between the shapes so that nothing is lost far from the origin."""
    shift = float((b.center - a.center) @ normal)
    return float((b._centred @ normal).min() - (a._centred @ normal).max()) + shift


def outside(shape: Polytope, point: np.ndarray) -> float:
    """How far a point is outside of a solid polytope's planes."""
    return float(((point - shape.center) @ shape.normals.T - shape.offsets).max())


def check(found: Contacts, shapes, singles: dict[int, Contact]) -> None:
    """Every row says what the single call says."""
    for k, single in singles.items():
        i, j = found.pairs[k].tolist()
        a, b = shapes[i], shapes[j]
        what = f"row {k}, pair {i}, {j}"
        assert RELATIONS[found.relation[k]] == single.relation, what
        low, high = found.lower_bound[k], found.upper_bound[k]
        assert low <= single.upper_bound, what
        assert high >= single.lower_bound, what
        assert abs(np.linalg.norm(found.normal[k]) - 1.0) <= 32 * EPS, what
        tol = 2.0 * promised(a, b, single.signed_distance)
        status = STATUSES[found.status[k]]
        if isinstance(a, Polytope) and isinstance(b, Polytope):
            assert gap_across(a, b, found.normal[k]) >= found.signed_distance[k] - tol, what
        if status == Status.BOUNDS_ONLY:
            assert single.relation == Relation.SEPARATED, what
            assert found.signed_distance[k] == low, what
            assert low > max(0.0, found.clearance), what
            assert np.isnan(found.point_on_a[k]).all(), what
            assert np.isnan(found.point_on_b[k]).all(), what
            continue
        assert abs(found.signed_distance[k] - single.signed_distance) <= tol, what
        assert low <= found.signed_distance[k] <= high, what
        if single.status == Status.CERTIFIED:
            assert status == Status.CERTIFIED, what
            assert high - low <= tol, what
        miss = found.point_on_b[k] - found.point_on_a[k] - found.signed_distance[k] * found.normal[k]
        assert np.linalg.norm(miss) <= tol, what
        for shape, point in ((a, found.point_on_a[k]), (b, found.point_on_b[k])):
            if isinstance(shape, Polytope) and shape.rank == shape.dim:
                assert outside(shape, point) <= tol, what
        if found.region is not None:
            region = found.region[k]
            assert (region is None) == (single.region is None), what
            if region is not None and single.region is not None and np.array_equal(found.normal[k], single.normal):
                assert region.kind == single.region.kind, what


@cache
def shapes_of_classes(dim: int) -> tuple[ConvexHull, ...]:
    """Two shapes of every class, a few times over."""
    result = []
    for name, make in {**CLASSES, **COMPOSED, **{k: LARGE[k] for k in ("large_hulls",)}}.items():
        for turn in range(3):
            a, b = make(np.random.default_rng([77, turn, *name.encode()]))
            if a.shape[1] == dim:
                result += [ConvexHull(a), ConvexHull(b)]
    return tuple(result)


def boxes(count: int, kind: str, seed: int = 5) -> list[Box]:
    rng = np.random.default_rng(seed)
    quarter = [(1, 0, 0, 0), (1, 0, 0, 1), (1, 1, 0, 0), (1, 1e-7, 0, 0), (1, 0, 3e-12, 0)]
    result = []
    for _ in range(count):
        place, size, turn = rng.uniform(-3, 3, 3), rng.uniform(0.5, 1.5, 3), rng.normal(size=4)
        if kind == "lattice":
            place, size, turn = rng.integers(-3, 4, 3), rng.integers(1, 3, 3), quarter[0]
        elif kind == "quarter turns":
            place, size, turn = rng.integers(-3, 4, 3), rng.integers(1, 3, 3), quarter[rng.integers(5)]
        elif kind == "far":
            place = place + 1e6
        elif kind == "slabs and needles":
            size = 10.0 ** rng.uniform(-4, 0.7, 3)
        elif kind == "about z":
            turn = np.array([1.0, 0.0, 0.0, rng.normal()])
            place[2] = rng.integers(-2, 3)
            size[2] = 1.0
        elif kind == "tiny":
            place, size = 1e-4 * place, 1e-4 * size
        elif kind == "huge":
            place, size = 1e5 * place, 1e5 * size
        elif kind == "all sizes":
            place, size = (scale := 10.0 ** rng.uniform(-17, 0)) * place, scale * size
        elif kind == "minute":
            place, size = 1e-40 * place, 1e-40 * size
        elif kind == "flat too":
            size = size * rng.integers(0, 2, 3)
        result.append(Box(place, size, turn))
    return result


KINDS = (
    "turned",
    "lattice",
    "quarter turns",
    "far",
    "slabs and needles",
    "about z",
    "tiny",
    "huge",
    "flat too",
)


def random_pairs(count: int, shapes: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, shapes, (count, 2))


def singles_of(shapes, pairs: np.ndarray, rows=None, **options) -> dict[int, Contact]:
    rows = range(len(pairs)) if rows is None else rows
    return {k: contact(shapes[pairs[k, 0]], shapes[pairs[k, 1]], **options) for k in rows}


# ---------------------------------------------------------------------------------------------------------------------
# The same as the single call


@pytest.mark.parametrize("dim", [2, 3])
def test_pairs_of_every_class_say_what_the_single_call_says(dim):
    shapes, numbers = [], []
    for k in range(3 * len(CLASSES)):
        _, a, b = pair(19, k)
        if a.shape[1] == dim:
            numbers.append((len(shapes), len(shapes) + 1))
            shapes += [ConvexHull(a), ConvexHull(b)]
    pairs = np.array(numbers)
    singles = singles_of(shapes, pairs, clearance=0.05)
    many = np.tile(pairs, (1 + 700 // len(pairs), 1))  # enough for a batch
    check(contacts(shapes, many, clearance=0.05), shapes, singles)
    check(contacts(shapes, many, clearance=0.05, distances=False, regions=False), shapes, singles)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("distances", [True, False])
def test_hulls_in_batches_of_any_size(count, distances):
    shapes = shapes_of_classes(3)
    pairs = random_pairs(count, len(shapes), seed=count)
    if distances:
        pairs = pairs[:4_000]
    found = contacts(shapes, pairs, clearance=0.3, distances=distances, regions=False)
    rows = np.random.default_rng(count).choice(len(pairs), min(len(pairs), 1_500), replace=False).tolist()
    check(found, shapes, singles_of(shapes, pairs, rows, clearance=0.3))


@pytest.mark.parametrize("count", SIZES)
def test_boxes_in_batches_of_any_size(count):
    shapes = boxes(300, "turned", seed=count)
    pairs = random_pairs(count, len(shapes), seed=count)
    found = contacts(shapes, pairs, distances=False, regions=False)
    rows = np.random.default_rng(count).choice(count, min(count, 2_000), replace=False).tolist()
    check(found, shapes, singles_of(shapes, pairs, rows))


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("regions", [True, False])
def test_boxes_of_every_kind(kind, regions):
    shapes = boxes(250, kind)
    pairs = random_pairs(1_200, len(shapes))
    size = max(shape.extent for shape in shapes)
    singles = singles_of(shapes, pairs, clearance=0.2 * size)
    check(contacts(shapes, pairs, clearance=0.2 * size, regions=regions), shapes, singles)
    check(contacts(shapes, pairs, clearance=0.2 * size, distances=False, regions=regions), shapes, singles)


def test_shapes_of_all_kinds_mixed():
    rng = np.random.default_rng(4)
    shapes: list = [
        *boxes(30, "turned"),
        *(ConvexHull(rng.normal(size=(20, 3)) + rng.uniform(-3, 3, 3)) for _ in range(30)),
    ]
    shapes += [Sphere(rng.uniform(-3, 3, 3), 0.7) for _ in range(5)]
    shapes += [Capsule(rng.uniform(-3, 3, 3), rng.uniform(-3, 3, 3), 0.5) for _ in range(5)]
    shapes += [
        Box.from_matrix([[1, 0.3, 0, k], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [-1] * 3, [1] * 3) for k in range(5)
    ]
    shapes.append(Cylinder((0, 0, 0), (0, 0, 1), 1.0))
    pairs = random_pairs(1_000, len(shapes))
    singles = singles_of(shapes, pairs, range(0, 1_000, 3), clearance=0.4)
    check(contacts(shapes, pairs, clearance=0.4), shapes, singles)
    check(contacts(shapes, pairs, clearance=0.4, distances=False), shapes, singles)


@pytest.mark.parametrize("exponent", [-300, -120, 120, 900])
def test_sizes_at_the_ends_of_float64(exponent):
    shapes = [shape.scaled(2.0**exponent) for shape in shapes_of_classes(3)[:20]]
    plain = boxes(50, "turned")
    shapes += [Box(np.ldexp(b.center, exponent), np.ldexp(2.0 * b.half, exponent)) for b in plain]
    pairs = random_pairs(500, len(shapes))
    singles = singles_of(shapes, pairs, range(0, 500, 2))
    found = contacts(shapes, pairs, distances=False, regions=False)
    for k, single in singles.items():
        assert RELATIONS[found.relation[k]] == single.relation
        assert found.lower_bound[k] <= single.upper_bound
        assert found.upper_bound[k] >= single.lower_bound


def test_extreme_and_ordinary_boxes_together():
    shapes = [*boxes(40, "turned"), *(Box((0, 0, 0), (2.0**k, 2.0**-k, 1.0)) for k in (90, 150, 400))]
    pairs = random_pairs(300, len(shapes))
    found = contacts(shapes, pairs, regions=False)
    for k, single in singles_of(shapes, pairs).items():
        assert RELATIONS[found.relation[k]] == single.relation


@pytest.mark.parametrize(
    ("count", "room"), [(200, 9.0), (1_000, 9.0), (20_000, 9.0), (200, 1.5), (1_000, 1.5), (5_000, 1.5)]
)
def test_hulls_are_answered_together(count, room, monkeypatch):
    """That hulls in batches say what the single call says is shown above; this is that they were a batch."""
    rng = np.random.default_rng(count)
    shapes = [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-room, room, 3)) for n in rng.integers(5, 60, 60)]
    pairs = random_pairs(count, len(shapes))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    asked: list = []
    monkeypatch.setattr(
        sys.modules["contact_lens.core.batched.contacts"],
        "convex_contact",
        lambda a, b, **_: asked.append(0) or contact(a, b),
    )
    found = contacts(shapes, pairs, regions=False)
    apart = found.signed_distance > 0.0
    assert (apart.mean() > 0.5) == (room == 9.0)
    assert len(asked) <= 0.1 * count + 64  # of either kind fewer than that are no batch
    rows = rng.choice(len(pairs), min(len(pairs), 400), replace=False).tolist()
    check(found, shapes, singles_of(shapes, pairs, rows))


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_depth_of_many_hulls_is_that_of_epa(far):
    shapes = [ConvexHull(s.vertices + far) for s in shapes_of_classes(3)]
    i, j = np.ascontiguousarray(random_pairs(4_000, len(shapes)).T)
    found = hull_depths(HullTable.of(shapes), i, j)
    told = np.flatnonzero(found.found)
    assert len(told) > 800
    for k in told.tolist():
        a, b = shapes[i[k]], shapes[j[k]]
        true = contact(a, b)
        tol = promised(a, b, true.signed_distance)
        assert found.depth[k] + found.rounding[k] >= -true.upper_bound
        assert found.inner[k] - found.rounding[k] <= -true.lower_bound
        assert gap_across(a, b, found.normal[:, k]) >= -found.depth[k] - tol


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_distance_of_many_hulls_is_that_of_gjk(far):
    shapes = [ConvexHull(s.vertices + far) for s in shapes_of_classes(3)]
    i, j = np.ascontiguousarray(random_pairs(3_000, len(shapes)).T)
    table = HullTable.of(shapes)
    nothing = np.zeros((3, len(i)))
    found = hull_distances(table, i, j, nothing, np.zeros(len(i)))
    again = hull_distances(table, i, j, found.normal, np.zeros(len(i)))
    assert found.found.sum() > 300
    for k in np.flatnonzero(found.found).tolist():
        a, b = shapes[i[k]], shapes[j[k]]
        true = contact(a, b)
        tol = promised(a, b, true.signed_distance)
        assert found.distance[k] - found.rounding[k] <= true.upper_bound
        assert found.upper[k] + found.rounding[k] >= true.lower_bound
        assert gap_across(a, b, found.normal[:, k]) >= found.distance[k] - tol
        assert again.distance[k] - again.rounding[k] <= true.upper_bound


def test_distances_of_hulls_that_all_meet_are_told_of_none():
    rng = np.random.default_rng(26)
    shapes = [ConvexHull(rng.normal(size=(n, 3))) for n in (5, 9, 20, 40)]
    i, j = np.triu_indices(len(shapes), 0)
    found = hull_distances(HullTable.of(shapes), i, j, np.zeros((3, len(i))), np.zeros(len(i)))
    assert not found.found.any()


def test_the_distance_of_many_hulls_is_of_the_corners_that_are_named():
    """A long row of corners, so that their numbers are large, and pairs of which each has other ones."""
    turn = np.linspace(0.0, 2.0 * np.pi, 300, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(300)], axis=1)
    apex = [[0.0, 0.0, 1.5]]
    shapes = [ConvexHull(np.concatenate([ring, apex]) + [4.0 * k, 0.3 * k * k, 0.1 * k]) for k in range(8)]
    i, j = np.triu_indices(len(shapes), 1)
    found = hull_distances(HullTable.of(shapes), i, j, np.zeros((3, len(i))), np.zeros(len(i)))
    assert found.found.sum() >= len(i) - 2
    for k in np.flatnonzero(found.found).tolist():
        a, b = shapes[i[k]], shapes[j[k]]
        true = contact(a, b).signed_distance
        assert found.distance[k] == pytest.approx(true, rel=1e-12)
        assert gap_across(a, b, found.normal[:, k]) == pytest.approx(true, rel=1e-12)
        assert np.linalg.norm(found.on_b[:, k] - found.on_a[:, k]) == pytest.approx(true, rel=1e-12)
        assert np.abs(a.signed_distance(found.on_a[:, k][None])).max() <= 1e-12
        assert np.abs(b.signed_distance(found.on_b[:, k][None])).max() <= 1e-12


@pytest.mark.parametrize("count", SIZES)
def test_depths_and_distances_of_hulls_do_not_depend_on_their_company(count):
    """Pairs take the places of others that are done: what comes out is what it is among few."""
    rng = np.random.default_rng(count)
    shapes = [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-2, 2, 3)) for n in rng.integers(4, 50, 80)]
    table = HullTable.of(shapes)
    pairs = rng.integers(0, len(shapes), (count, 2))
    i, j = np.ascontiguousarray(pairs[pairs[:, 0] != pairs[:, 1]].T)
    nothing, width = np.zeros((3, len(i))), np.zeros(len(i))
    deep, apart = hull_depths(table, i, j), hull_distances(table, i, j, nothing, width)
    assert not (deep.found & apart.found).any()
    # The last two of a search are left to the single call.
    assert (~deep.found & ~apart.found).sum() <= 6 + 0.02 * count
    few = np.sort(rng.choice(len(i), len(i) // 2, replace=False))
    again = hull_depths(table, i[few], j[few])
    again_apart = hull_distances(table, i[few], j[few], nothing[:, few], width[few])
    both = np.flatnonzero(again.found & deep.found[few])
    both_apart = np.flatnonzero(again_apart.found & apart.found[few])
    assert len(both) + len(both_apart) >= 0.9 * len(few) - 10
    assert np.abs(again.depth - deep.depth[few])[both].max(initial=0.0) <= 1e-14
    assert np.abs(again_apart.distance - apart.distance[few])[both_apart].max(initial=0.0) <= 1e-14
    assert np.abs(again_apart.upper - apart.upper[few])[both_apart].max(initial=0.0) <= 1e-14


def test_few_depths_of_hulls_are_left_to_the_single_call():
    rng = np.random.default_rng(32)
    points = rng.normal(size=(400, 32, 3))
    points /= np.linalg.norm(points, axis=2)[:, :, None]
    shapes = [ConvexHull(p + rng.uniform(-0.8, 0.8, 3)) for p in points]
    i, j = np.ascontiguousarray(random_pairs(3_000, len(shapes)).T)
    meet = intersect_hulls(HullTable.of(shapes), i, j) == MEET
    i, j = i[meet], j[meet]
    assert len(i) > 2_500
    assert (~hull_depths(HullTable.of(shapes), i, j).found).sum() <= 8


@pytest.mark.parametrize("shape", ["spheres", "cubes"])
def test_regular_shapes_that_are_not_turned_are_answered_together(shape):
    """Four of their support points are often in one plane."""
    rng = np.random.default_rng(14)
    polar, around = np.meshgrid(np.linspace(0.0, np.pi, 9), np.arange(16) * np.pi / 8.0, indexing="ij")
    sphere = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    points = sphere.reshape(-1, 3) if shape == "spheres" else CUBE
    shapes = [ConvexHull(points + rng.normal(size=3) * 0.5) for _ in range(40)]
    i, j = np.triu_indices(len(shapes), 1)
    table = HullTable.of(shapes)
    met = np.flatnonzero(intersect_hulls(table, i, j) == MEET)
    found = hull_depths(table, i[met], j[met])
    assert found.found.mean() > 0.95
    for k in np.flatnonzero(found.found)[::20].tolist():
        single = contact(shapes[i[met[k]]], shapes[j[met[k]]])
        assert found.depth[k] == pytest.approx(single.depth, rel=1e-9)


def test_hulls_of_which_the_polytope_needs_many_corners_go_on_together():
    """Nearly round shapes, one in the other: the polytope grows on all sides, and loses corners on the way."""
    rng = np.random.default_rng(100)
    points = rng.normal(size=(60, 120, 3))
    points /= np.linalg.norm(points, axis=2)[:, :, None]
    shapes = [ConvexHull(p + rng.uniform(-0.3, 0.3, 3)) for p in points]
    i, j = np.ascontiguousarray(random_pairs(400, len(shapes)).T)
    i, j = i[i != j], j[i != j]
    found = hull_depths(HullTable.of(shapes), i, j)
    assert (~found.found).mean() <= 0.1
    for k in np.flatnonzero(found.found)[:120].tolist():
        true = contact(shapes[i[k]], shapes[j[k]])
        assert found.depth[k] + found.rounding[k] >= -true.upper_bound
        assert found.inner[k] - found.rounding[k] <= -true.lower_bound
        assert abs(found.depth[k] - true.depth) <= 1e-12


@pytest.mark.parametrize("thickness", [0.0, 1e-12])
@pytest.mark.parametrize("distances", [True, False])
def test_many_hulls_of_which_none_has_an_inside(thickness, distances):
    rng = np.random.default_rng(12)
    points = rng.normal(size=(40, 6, 3)) * [1.0, 1.0, thickness]
    shapes = [ConvexHull(p @ rotation(rng) + rng.uniform(0.0, 2.0, 3)) for p in points]
    pairs = random_pairs(400, len(shapes))
    found = contacts(shapes, pairs, distances=distances, regions=False)
    singly = [contact(shapes[i], shapes[j]) for i, j in pairs]
    assert found.relations == [c.relation for c in singly]
    assert pairs_intersect(shapes, pairs).tolist() == [c.intersects for c in singly]


def test_pairs_that_do_not_penetrate_have_no_depth():
    """Polytopes may begin with the origin outside: where nothing comes to hold it, nothing is told."""
    rng = np.random.default_rng(7)
    shapes = [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-6.0, 6.0, 3)) for n in rng.integers(4, 40, 80)]
    i, j = np.ascontiguousarray(random_pairs(2_000, len(shapes)).T)
    i, j = i[i != j], j[i != j]
    table = HullTable.of(shapes)
    apart = intersect_hulls(table, i, j) == APART
    found = hull_depths(table, i, j)
    assert apart.sum() > 1_000
    assert (~apart).sum() > 100
    assert not found.found[apart].any()
    assert found.found[~apart].mean() > 0.9


def test_the_ball_inside_is_no_larger_than_the_depth_where_faces_are_slivers():
    """Pairs of these classes whose polytopes have slivers: the normals of those lose half of the digits."""
    shapes = shapes_of_classes(3)
    for one, other in ((77, 138), (138, 77), (47, 46)):
        a, b = shapes[one], shapes[other]
        i, j = np.array([[one, other]] * 80).T
        found = hull_depths(HullTable.of(shapes), i, j)
        bound = -contact(a, b).lower_bound + found.rounding
        assert (found.inner <= bound)[found.found].all()


def test_swapped_pairs_say_the_same():
    shapes = [*boxes(60, "turned"), *shapes_of_classes(3)[:60]]
    pairs = random_pairs(1_500, len(shapes))
    one, other = contacts(shapes, pairs, regions=False), contacts(shapes, pairs[:, ::-1], regions=False)
    swapped = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}
    for k, (x, y) in enumerate(zip(one.relations, other.relations, strict=True)):
        i, j = pairs[k]
        assert swapped.get(x, x) == y
        tol = 2.0 * promised(shapes[i], shapes[j], one.signed_distance[k])
        assert abs(one.signed_distance[k] - other.signed_distance[k]) <= tol


def test_the_regions_of_boxes_are_those_of_their_normals():
    shapes = boxes(120, "about z")
    found = contacts(shapes)
    assert found.region is not None
    told = 0
    for k, region in enumerate(found.region):
        if region is None:
            assert found.signed_distance[k] > 0.0
            continue
        i, j = found.pairs[k]
        told += 1
        single = contact(shapes[i], shapes[j])
        if len(single.ties) == 1 and np.allclose(single.normal, found.normal[k], atol=1e-9):
            assert single.region is not None
            assert single.region.kind == region.kind
            assert np.isclose(single.region.area, region.area, rtol=1e-6, atol=1e-6)
            assert np.allclose(single.region.centroid, region.centroid, atol=1e-6)
            assert np.allclose(single.point_on_a, found.point_on_a[k], atol=1e-6)
    assert told > 100


def on_top_of_each_other(count: int, how: str) -> list[Box]:
    """Boxes two by two, the second on the first, all turned the same way at random."""
    rng = np.random.default_rng([7, *how.encode()])
    result = []
    for _ in range(count):
        sizes = rng.uniform(0.5, 1.5, (2, 3))
        x, y = rng.uniform(-0.6, 0.6, 2)
        angle = rng.uniform(-np.pi, np.pi)
        if how in ("aligned", "flush", "beside", "corner"):
            angle = 0.5 * np.pi * rng.integers(4)
            if angle % np.pi:
                sizes[1, :2] = sizes[1, 1::-1]  # as wide along x as said once it is turned
        reach = 0.5 * sizes[:, :2].sum(axis=0)
        if how == "flush":
            x, y = rng.choice([-0.5, 0.5], 2) * (sizes[0, :2] - sizes[1, :2])
        elif how == "beside":
            x = reach[0]
        elif how == "corner":
            x, y = reach
        elif how == "contained":
            sizes[1] *= 0.2
            x, y = 0.2 * x, 0.2 * y
        if how in ("aligned", "flush", "beside", "corner") and angle % np.pi:
            sizes[1, :2] = sizes[1, 1::-1]
        turn = np.eye(4)
        turn[:3, :3] = rotation(rng) if rng.integers(2) else np.eye(3)
        about = np.eye(4)
        about[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        about[:3, 3] = x, y, 0.5 * sizes[:, 2].sum() - rng.choice([0.0, 0.01])
        for matrix, size in ((turn, sizes[0]), (turn @ about, sizes[1])):
            result.append(Box.from_matrix(matrix, -0.5 * size, 0.5 * size))
    return result


def pairs_of_kind(kind: str) -> tuple[list[Box], np.ndarray]:
    """Boxes, and pairs of them, of all of which regions are asked for."""
    if kind in KINDS:
        shapes = [box for box in boxes(250, kind) if box.rank == 3]
        return shapes, random_pairs(3_000, len(shapes))
    shapes = on_top_of_each_other(250, kind)
    return shapes, np.arange(500).reshape(-1, 2)


def regions_of_boxes(shapes: list[Box], found: Contacts, swapped: bool = False) -> BoxRegions:
    """The regions for the normals and witness points of what was found."""
    table = OrientedBoxes.of(shapes)
    a, b = found.pairs[:, ::-1].T if swapped else found.pairs.T
    extents = np.array([[shapes[k].extent for k in side.tolist()] for side in (a, b)])
    magnitude = np.array([[shapes[k].magnitude for k in side.tolist()] for side in (a, b)]).max(axis=0)
    points = (found.point_on_b.T, found.point_on_a.T) if swapped else (found.point_on_a.T, found.point_on_b.T)
    width = 1e-6 * extents.min(axis=0)
    return box_regions(table, a, b, (-found.normal if swapped else found.normal).T, width, extents, magnitude, *points)


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("kind", [*KINDS, "turned faces", "aligned", "flush", "beside", "corner", "contained"])
def test_regions_of_many_boxes_are_those_of_one_pair(kind):
    shapes, pairs = pairs_of_kind(kind)
    found = contacts(shapes, pairs, regions=False)
    pairs = pairs[(found.signed_distance <= 0.0) & (pairs[:, 0] != pairs[:, 1])]
    found = contacts(shapes, pairs, regions=False)
    many, other = regions_of_boxes(shapes, found), regions_of_boxes(shapes, found, swapped=True)
    assert np.array_equal(many.found, other.found)
    assert many.found.mean() >= (0.8 if kind == "quarter turns" else 0.99)  # nearly touching slivers are left
    kinds = set()
    for k in np.flatnonzero(many.found).tolist():
        a, b = (shapes[n] for n in pairs[k])
        normal, points = found.normal[k], (found.point_on_a[k].tolist(), found.point_on_b[k].tolist())
        single = region_between(a, b, normal, 1e-6 * min(a.extent, b.extent), *points)
        region, swapped = many.region(k), other.region(k)
        kinds.add(region.kind)
        tol = 64.0 * EPS * max(a.magnitude, b.magnitude)
        assert region.kind == single.kind, k
        assert len(region.vertices) == len(single.vertices), k
        away = np.abs(region.vertices[:, None] - single.vertices[None]).max(axis=2)
        order = away.argmin(axis=1)
        if kind != "quarter turns":  # there sides cross at 1e-7: where, is uncertain by that much more
            assert away.min(axis=1).max() <= tol, k
            assert np.abs(region.centroid - single.centroid).max() <= 8.0 * tol, k
        assert len(order) < 3 or ((np.roll(order, -1) - order) % len(order) == 1).all(), k
        assert abs(region.area - single.area) <= tol * (single.length + 1.0), k
        assert abs(region.length - single.length) <= 8.0 * tol, k
        assert np.abs(region.depths - single.depths[order]).max() <= 2.0 * tol, k
        if kind != "quarter turns":
            names = [{(f.kind, frozenset(f.vertices)) for f in pair} for pair in region.features]
            assert names == [{(f.kind, frozenset(f.vertices)) for f in single.features[n]} for n in order], k
        # Swapped, it is the same the other way round, to the last digit.
        assert np.array_equal(swapped.vertices, region.vertices[::-1]), k
        assert np.array_equal(swapped.depths, region.depths[::-1]), k
        assert (swapped.area, swapped.length) == (region.area, region.length), k
        assert [pair[::-1] for pair in swapped.features[::-1]] == list(region.features), k
        if k % 5 == 0:
            true = contact(a, b)
            if np.array_equal(true.normal, normal) and true.contact_tolerance == 1e-6:
                assert verify(dataclasses.replace(true, region=region), a, b).ok, k
    assert len(kinds) >= {"lattice": 3, "quarter turns": 2, "about z": 2}.get(kind, 1)


def test_sides_of_faces_nearly_along_each_other_have_the_region_of_one_pair():
    """Whether a long side and a short one are on one line depends on which of them is asked: rounding decides."""
    shapes = []
    for k in range(60):
        turn = np.eye(4)
        turn[:2, :2] = [[1.0, angle := (k - 30) * 1e-15], [-angle, 1.0]]
        turn[:3, 3] = 0.1 * k - 3.0, 2.0, 1.0
        shapes += [Box((0, 0, 0), (8, 2, 1)), Box.from_matrix(turn, (-0.5, -1, -0.5), (0.5, 1, 0.5))]
    pairs = np.arange(120).reshape(-1, 2)
    found = contacts(shapes, pairs)
    assert found.region is not None
    for k, (i, j) in enumerate(pairs.tolist()):
        a, b, region = shapes[i], shapes[j], found.region[k]
        points = found.point_on_a[k].tolist(), found.point_on_b[k].tolist()
        single = region_between(a, b, found.normal[k], 1e-5 * min(a.extent, b.extent), *points)
        assert region is not None
        assert region.kind == single.kind, k
        assert abs(region.length - single.length) <= 1e-12, k
        assert np.abs(region.centroid - single.centroid).max() <= 1e-12, k


def test_regions_of_contacts_are_made_when_they_are_asked_for():
    shapes = [*boxes(120, "about z"), *(ConvexHull(CUBE + k) for k in range(3))]
    found = contacts(shapes)
    assert found.region is not None
    assert len(found.region) == len(found)
    told = [region for region in found.region if region is not None]
    assert len(told) > 100
    assert found.region[-1] is found.region[len(found) - 1]
    assert all(x is y for x, y in zip(found.region[3:40:2], list(found.region)[3:40:2], strict=True))
    assert not told[0].vertices.flags.writeable
    with pytest.raises(IndexError):
        found.region[len(found)]
    again = contacts(shapes, start=found)
    assert again.region is not None
    for one, other in zip(found.region, again.region, strict=True):
        assert (one is None) == (other is None)
        assert one is None or (other is not None and np.array_equal(one.vertices, other.vertices))


def test_mirrored_boxes_name_their_faces_the_right_way_round():
    top = Box.from_matrix(np.diag([-1.0, 1.0, 1.0, 1.0]), [-0.2, -0.2, 0.5], [0.2, 0.2, 1.0])
    for base in (Box((0, 0, 0), (1, 1, 1)), Box.from_matrix(np.diag([1.0, -1.0, 1.0, 1.0]), [-0.5] * 3, [0.5] * 3)):
        found = contacts([base, top], [[0, 1]], regions=False)
        region, single = regions_of_boxes([base, top], found).region(0), contact(base, top).region
        assert single is not None
        of_base = {pair[0].vertices for pair in region.features}
        assert len(of_base) == 1
        (loop,), (true,) = of_base, {pair[0].vertices for pair in single.features}
        assert loop in [true[k:] + true[:k] for k in range(4)]


# ---------------------------------------------------------------------------------------------------------------------
# What else it promises


def test_without_pairs_all_that_are_near_are_found():
    shapes = [*boxes(120, "turned"), *shapes_of_classes(3)[:40]]
    for clearance in (0.0, 0.5):
        found = contacts(shapes, clearance=clearance, distances=False, regions=False)
        near = {tuple(p) for p in found.pairs.tolist()}
        assert all(i < j for i, j in near)
        assert list(near) == list(near)
        assert [tuple(p) for p in found.pairs.tolist()] == sorted(near)
        every = np.array([(i, j) for j in range(len(shapes)) for i in range(j)])
        all_of_them = contacts(shapes, every, clearance=clearance, distances=False, regions=False)
        for row, relation in zip(every.tolist(), all_of_them.relations, strict=True):
            if relation != Relation.SEPARATED:
                assert tuple(row) in near


def test_touching_across_a_gap_in_the_band_is_found():
    shapes = [Box((0, 0, 0), (1, 1, 1)), Box((1 + 5e-6, 0, 0), (1, 1, 1)), Sphere((0, 0, 1.1 + 4e-7), 0.6)]
    assert contacts(shapes[:2]).relations == [Relation.TOUCHING]
    point = ConvexHull([[1.0 + 5e-6, 0.0, 0.0]])
    found = contacts([ConvexHull(2.0 * CUBE), point])
    assert found.relations == [contact(ConvexHull(2.0 * CUBE), point).relation]


def test_the_full_contact_of_a_row():
    shapes = boxes(60, "turned")
    found = contacts(shapes, clearance=0.25, contact_tolerance=1e-6)
    for k in range(0, len(found), 7):
        full = found.contact(k)
        a, b = (shapes[i] for i in found.pairs[k])
        assert isinstance(full, Contact)
        assert full.relation == found.relations[k]
        assert full.clearance == 0.25
        assert full.contact_tolerance == 1e-6
        assert verify(full, a, b).ok
    with pytest.raises(IndexError):
        found.contact(len(found))
    light = contacts(shapes, certificates=False)
    assert light.shapes is None
    with pytest.raises(ValueError, match="certificates"):
        light.contact(0)


def test_depth_and_translation_follow_from_the_distance():
    found = contacts(boxes(80, "turned"))
    assert np.array_equal(found.intersects, found.signed_distance <= 0.0)
    assert np.array_equal(found.depth, np.maximum(-found.signed_distance, 0.0))
    assert np.array_equal(found.mtv, found.depth[:, None] * found.normal)
    assert len(found) == len(found.pairs) == len(found.statuses)


def test_moving_b_by_the_translation_separates():
    shapes = boxes(150, "turned")
    found = contacts(shapes, regions=False)
    for k in np.flatnonzero(found.depth > 0.01)[:200]:
        a, b = (shapes[i] for i in found.pairs[k])
        moved = Box(b.center + found.mtv[k], 2.0 * b.half)
        assert gap_across(a, b, found.normal[k]) >= -found.depth[k] - promised(a, b, found.depth[k])
        assert moved.rank == 3


@pytest.mark.parametrize("method", ["sat", "gjk", "both"])
def test_other_methods_answer_too(method):
    shapes = boxes(12, "turned")
    found = contacts(shapes, method=method)
    check(found, shapes, singles_of(shapes, found.pairs, method=method))
    assert found.contact(0).method == contact(*(shapes[i] for i in found.pairs[0]), method=method).method


def test_the_same_input_gives_the_same_bytes():
    shapes = [*boxes(60, "turned"), *shapes_of_classes(3)[:40]]
    pairs = random_pairs(2_000, len(shapes))
    one, other = (contacts(shapes, pairs, distances=False, regions=False) for _ in range(2))
    for field in dataclasses.fields(Contacts):
        value = getattr(one, field.name)
        if isinstance(value, np.ndarray):
            assert value.tobytes() == getattr(other, field.name).tobytes()
            assert not value.flags.writeable


def test_what_a_row_says_does_not_depend_on_the_others():
    shapes = boxes(200, "turned")
    pairs = random_pairs(11_500, len(shapes))
    whole = contacts(shapes, pairs, distances=False, regions=False)
    for part in (slice(0, 1_000), slice(1_000, 6_000), slice(6_000, 11_500)):
        some = contacts(shapes, pairs[part], distances=False, regions=False)
        assert np.array_equal(some.signed_distance, whole.signed_distance[part])
        assert np.array_equal(some.normal, whole.normal[part])


def test_the_pairs_given_are_not_changed_and_not_kept():
    shapes = boxes(10, "turned")
    pairs = np.array([[0, 1], [2, 3]], dtype=np.int32)
    found = contacts(shapes, pairs)
    pairs[:] = 0
    assert found.pairs.tolist() == [[0, 1], [2, 3]]
    assert pairs.flags.writeable


def test_nothing_to_do():
    assert len(contacts([])) == 0
    assert len(contacts([], [])) == 0
    assert len(contacts(boxes(3, "turned"), np.zeros((0, 2), dtype=int))) == 0
    found = contacts([Box((0, 0, 0), (1, 1, 1))])
    assert found.normal.shape == (0, 3)
    assert contacts([ConvexHull(CUBE[:, :2])]).normal.shape == (0, 2)


# ---------------------------------------------------------------------------------------------------------------------
# Two sets, and the nearest of each


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("count", "other"), [(1, 1), (7, 1), (30, 40), (150, 100)])
def test_a_set_against_another_says_what_the_single_call_says(count, other):
    first = [*boxes(count, "turned", seed=1), *shapes_of_classes(3)[: count // 2]]
    second = [*boxes(other, "turned", seed=2), *shapes_of_classes(3)[-other // 2 :]]
    for options in ({}, {"distances": False, "regions": False}):
        found = contacts(first, others=second, clearance=0.4, **options)
        i, j = found.pairs.T
        assert found.shapes is not None
        assert found.others is not None
        together = contacts([*first, *second], np.stack([i, j + len(first)], axis=1), clearance=0.4, **options)
        assert found.relations == together.relations
        assert np.array_equal(found.signed_distance, together.signed_distance)
        for k in range(0, len(found), 9):
            single = contact(first[i[k]], second[j[k]], clearance=0.4)
            assert found.contact(k).signed_distance == single.signed_distance
            assert found.relations[k] == single.relation
        near = set(map(tuple, found.pairs.tolist()))
        for a, x in enumerate(first):
            for b, y in enumerate(second):
                if (a, b) not in near and (a + b) % 13 == 0:
                    assert contact(x, y, clearance=0.4).relation == Relation.SEPARATED


def test_a_set_against_another_by_pairs_and_against_nothing():
    first, second = boxes(5, "turned", seed=1), boxes(3, "turned", seed=2)
    found = contacts(first, [[4, 2], [0, 0]], others=second)
    assert found.pairs.tolist() == [[4, 2], [0, 0]]
    assert found.signed_distance[0] == contact(first[4], second[2]).signed_distance
    assert len(contacts(first, others=[])) == len(contacts([], others=second)) == 0
    with pytest.raises(ValueError, match=r"^pairs: row 1.*3 others"):
        contacts(first, [[4, 2], [4, 3]], others=second)
    with pytest.raises(ValueError, match=r"^others: number 0 has dimension 2"):
        contacts(first, others=[ConvexHull(CUBE[:, :2])])
    with pytest.raises(ValueError, match=r"^others"):
        contacts(first, others=[None])


def mixed(count: int, seed: int = 6) -> list:
    rng = np.random.default_rng(seed)
    result: list = []
    for k in range(count):
        place, size = rng.uniform(-4, 4, 3), 10.0 ** rng.uniform(-2, 0.3)
        if k % 3 == 0:
            result.append(Box(place, size * rng.uniform(0.2, 1.0, 3), rng.normal(size=4)))
        elif k % 3 == 1:
            result.append(ConvexHull(place + size * rng.normal(size=(9, 3))))
        else:
            result.append(Sphere(place, 0.5 * size))
    return result


@pytest.mark.parametrize(("count", "other"), [(2, None), (40, None), (90, None), (1, 1), (3, 40), (60, 5)])
def test_the_nearest_neighbour_is_that_of_all_pairs(count, other):
    shapes, others = mixed(count), None if other is None else mixed(other, seed=9)
    found = nearest_neighbours(shapes, others, clearance=0.1)
    assert found.pairs[:, 0].tolist() == list(range(count))
    for k, j in found.pairs.tolist():
        every = [
            (np.inf if others is None and m == k else contact(shapes[k], b).signed_distance)
            for m, b in enumerate(shapes if others is None else others)
        ]
        a, b = shapes[k], (shapes if others is None else others)[j]
        assert not (others is None and j == k)
        assert every[j] <= min(every) + promised(a, b, min(every))
        assert abs(found.signed_distance[k] - min(every)) <= 2 * promised(a, b, min(every))


def test_the_nearest_neighbour_in_the_plane_on_a_lattice_and_of_none():
    flat = shapes_of_classes(2)
    found = nearest_neighbours(flat, regions=False)
    for k in range(0, len(flat), 5):
        assert found.signed_distance[k] <= 1e-9 + min(
            contact(flat[k], b).signed_distance for m, b in enumerate(flat) if m != k
        )
    lattice = [Box((2.0 * x, 2.0 * y, 2.0 * z), (1, 1, 1)) for x in range(6) for y in range(6) for z in range(6)]
    assert np.allclose(nearest_neighbours(lattice, regions=False).signed_distance, 1.0)
    assert len(nearest_neighbours([])) == len(nearest_neighbours(lattice[:1])) == 0
    assert len(nearest_neighbours(lattice, [])) == len(nearest_neighbours([], lattice)) == 0
    told: list[float] = []
    nearest_neighbours(lattice[:20], progress=told.append)
    assert told[-1] == 1.0
    assert all(x <= y for x, y in pairwise(told))
    with pytest.raises(Cancelled):
        nearest_neighbours(lattice[:20], progress=lambda _: False)


# ---------------------------------------------------------------------------------------------------------------------
# Yes or no


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("what", ["hulls", "boxes", "all"])
def test_yes_or_no_is_that_of_the_single_call(count, what):
    shapes = {
        "hulls": list(shapes_of_classes(3)),
        "boxes": [*boxes(200, "turned"), *boxes(50, "quarter turns"), *boxes(50, "slabs and needles")],
        "all": [*boxes(100, "flat too"), *shapes_of_classes(3)[:100], Sphere((0, 0, 0), 1.0)],
    }[what]
    pairs = random_pairs(count, len(shapes), seed=count + 1)
    said = pairs_intersect(shapes, pairs)
    rows = np.random.default_rng(count).choice(count, min(count, 3_000), replace=False).tolist()
    for k in rows:
        a, b = (shapes[i] for i in pairs[k])
        single = contact(a, b)
        if abs(single.signed_distance) > promised(a, b, 0.0):
            assert said[k] == single.intersects, (k, pairs[k])


def test_yes_or_no_of_every_class():
    shapes, numbers, truth = [], [], []
    for k in range(10 * len(CLASSES)):
        _, a, b = pair(23, k)
        if a.shape[1] == 3:
            numbers.append((len(shapes), len(shapes) + 1))
            shapes += [ConvexHull(a), ConvexHull(b)]
            single = contact(*shapes[-2:])
            sure = abs(single.signed_distance) > promised(*shapes[-2:], 0.0)
            truth.append(single.intersects if sure else None)
    said = pairs_intersect(shapes, np.tile(numbers, (1 + 700 // len(numbers), 1)))
    for k, true in enumerate(truth):
        assert true is None or said[k] == true, k
    assert np.array_equal(said[: len(numbers)], said[len(numbers) : 2 * len(numbers)])


def test_yes_or_no_in_the_plane_and_of_nothing():
    shapes = shapes_of_classes(2)
    pairs = random_pairs(400, len(shapes))
    assert np.array_equal(pairs_intersect(shapes, pairs), [contact(shapes[i], shapes[j]).intersects for i, j in pairs])
    assert pairs_intersect([], []).shape == (0,)


# ---------------------------------------------------------------------------------------------------------------------
# Tables


def test_boxes_from_poses_are_those_from_shapes():
    shapes = boxes(60, "turned")
    told = OrientedBoxes.of(shapes)
    posed = OrientedBoxes.from_poses(
        *(np.array(rows) for rows in zip(*((b.center, b.axes, b.half) for b in shapes), strict=True))
    )
    assert np.array_equal(told.frames, posed.frames)
    assert len(told) == 60
    low, high = posed.bounds()
    for k, shape in enumerate(shapes):
        assert np.allclose(low[:, k], shape.bounds[0], atol=1e-14)
        assert np.allclose(high[:, k], shape.bounds[1], atol=1e-14)


def test_the_axis_of_every_pair_of_boxes_is_that_of_one():
    shapes = boxes(200, "turned")
    table = OrientedBoxes.of(shapes)
    i, j = random_pairs(3_000, 200).T
    found = box_axes(table, i, j)
    for k in range(3_000):
        single = box_sat(shapes[i[k]], shapes[j[k]])
        assert (found.signed_distance[k] <= 0.0) == single.intersects
        if single.intersects:
            assert found.axis[k] == single.axis
            assert np.isclose(found.signed_distance[k], single.signed_distance, rtol=0.0, atol=1e-13)
            assert np.allclose(found.normal[:, k], single.normal, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("kind", [*KINDS, "all sizes", "minute"])
def test_no_axis_is_better_than_the_one_that_decides(kind):
    """What single precision leaves out must be worse for sure, however boxes differ in size, and whatever ties."""
    shapes = [box for box in boxes(150, kind) if box.rank == 3]
    table = OrientedBoxes.of(shapes)
    i, j = random_pairs(2_000, len(shapes)).T
    found = box_axes(table, i, j)
    met, doubtful = boxes_intersect(table, i, j)
    sure = np.ones(len(met), dtype=bool)
    sure[doubtful] = False
    for k in range(len(i)):
        single = box_sat(shapes[i[k]], shapes[j[k]])
        room = 2.0 * found.rounding[k]
        if abs(single.signed_distance) > room:
            assert (found.signed_distance[k] <= 0.0) == single.intersects, k
            assert not sure[k] or met[k] == single.intersects, k
        if single.intersects:
            assert abs(found.signed_distance[k] - single.signed_distance) <= room, k
            assert found.axis[k] == single.axis or kind != "turned", k


@pytest.mark.parametrize("kind", [*KINDS, "all sizes", "minute"])
def test_overlaps_in_single_precision_are_within_their_rounding(kind):
    table = OrientedBoxes.of(boxes(200, kind))
    i, j = np.ascontiguousarray(random_pairs(3_000, 200).T)
    chunk = SingleChunks(table, len(i))
    offset, square, reach = chunk.spheres(i, j)
    single = chunk.edges(chunk.faces(i, j, offset, np.maximum(reach, np.sqrt(square))), np.arange(len(i)))
    for part, exact in double_chunks(table, i, j):
        exact.edges(careful=False)
        room = single.rounding[part].astype(float)
        assert (np.abs(single.overlap[:, part] - table.scale * exact.overlap) <= 0.5 * room).all()
        sine = np.sqrt(exact.square), np.sqrt(single.square[..., part].astype(float))
        assert np.abs(sine[0] - sine[1]).max() <= 8.0 * 2.0**-24


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 40, 1_000, 20_000])
def test_boxes_that_meet_are_those_whose_axes_say_so(kind, count):
    table = OrientedBoxes.of(boxes(250, kind))
    i, j = np.ascontiguousarray(random_pairs(count, 250).reshape(-1, 2).T)
    places, axes = intersecting_boxes(table, i, j)
    every = box_axes(table, i, j)
    assert np.array_equal(places, np.flatnonzero(every.signed_distance <= 0.0))
    expected = every.take(places)
    for name in ("signed_distance", "normal", "axis", "rounding"):
        assert np.array_equal(getattr(axes, name), getattr(expected, name)), name


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_moved_tables_are_those_of_moved_shapes(far):
    rng = np.random.default_rng(9)
    local = [ConvexHull(rng.normal(size=(n, 3))) for n in rng.integers(4, 40, 80)]
    axes = np.array([rotation(rng) for _ in local])
    centers = rng.uniform(-3, 3, (80, 3)) + far
    shapes = [ConvexHull(h.vertices @ a + c) for h, a, c in zip(local, axes, centers, strict=True)]
    i, j = np.ascontiguousarray(random_pairs(2_000, 80).T)
    table = HullTable.of(local).posed(axes, centers)
    one, other = intersect_hulls(table, i, j), intersect_hulls(HullTable.of(shapes), i, j)
    sure = (one != OPEN) & (other != OPEN)
    assert np.array_equal(one[sure], other[sure])
    assert sure.sum() > 1_900
    low, high = table.bounds()
    for k, shape in enumerate(shapes):
        assert np.allclose(low[:, k], shape.bounds[0], atol=1e-9)
        assert np.allclose(high[:, k], shape.bounds[1], atol=1e-9)


def test_what_a_batch_says_of_hulls_is_proved():
    shapes = shapes_of_classes(3)
    i, j = np.ascontiguousarray(random_pairs(4_000, len(shapes)).T)
    table = HullTable.of(shapes)
    state, left = widest_slabs(table, i, j), np.arange(len(i))
    for found, at in ((state, left), (search_portals(table, i, j), left)):
        for k in at[found.state == APART].tolist():
            a, b = shapes[i[k]], shapes[j[k]]
            assert found.gap[k] >= 0.0
            assert gap_across(a, b, found.normal[:, k]) >= found.gap[k]
    rays = rays_meet(table, i, j)
    for k in np.flatnonzero(rays)[:800].tolist():
        single = contact(shapes[i[k]], shapes[j[k]])
        assert single.signed_distance <= promised(shapes[i[k]], shapes[j[k]], 0.0)


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("wide", [False, True])
def test_slabs_in_single_precision_part_no_shapes_that_meet(far, wide):
    shapes = [ConvexHull(s.vertices + far) for s in shapes_of_classes(3)]
    if wide:  # then numbers of single precision tell nothing of the others
        shapes.append(ConvexHull(CUBE + 1e12))
    i, j = np.ascontiguousarray(random_pairs(4_000, len(shapes)).T)
    table = HullTable.of(shapes)
    parted, slabs = are_separated(table, i, j), widest_slabs(table, i, j)
    assert parted.any()
    assert (slabs.state[parted] == APART).all()
    for k in np.flatnonzero(slabs.state == APART).tolist():
        assert gap_across(shapes[i[k]], shapes[j[k]], slabs.normal[:, k]) >= slabs.gap[k] > 0.0


def test_slabs_tell_gaps_down_to_a_millionth():
    """Cubes side by side along a fixed direction."""
    gaps = np.array([1e-2, 1e-4, 1e-5, -1e-7, -1e-3])
    shapes = [ConvexHull(CUBE), *(ConvexHull(CUBE + [np.ptp(CUBE[:, 0]) + gap, 0.3, -0.2]) for gap in gaps)]
    other = np.arange(1, 6)
    assert are_separated(HullTable.of(shapes), np.zeros(5, dtype=np.intp), other).tolist() == [True] * 3 + [False] * 2


def test_rays_settle_most_pairs_with_a_common_point_between_their_middles():
    """What is known along a grid of directions is less than the true reach, but not much."""
    rng = np.random.default_rng(21)
    shapes = [ConvexHull(rng.normal(size=(40, 3)) + rng.uniform(-2.0, 2.0, 3)) for _ in range(40)]
    i, j = np.ascontiguousarray(random_pairs(1_500, 40).T)
    i, j = i[i != j], j[i != j]
    axes, centers = rotation(rng), rng.uniform(-9.0, 9.0, 3)
    local = HullTable.of(shapes)
    told = rays_meet(local, i, j)
    moved = local.posed(np.repeat(axes[None], 40, axis=0), np.repeat(centers[None], 40, axis=0))
    reach = []
    for a, b in zip(i.tolist(), j.tolist(), strict=True):
        means = [local.centers[:3, n] + local.centers[3:, n] for n in (a, b)]
        way = means[1] - means[0]
        steepest = []
        for n, mean, sign in ((a, means[0], 1.0), (b, means[1], -1.0)):
            heights = shapes[n].offsets - shapes[n].normals @ (mean - shapes[n].center)
            steepest.append(float((sign * (shapes[n].normals @ way) / heights).max()))
        reach.append(1.0 / steepest[0] + 1.0 / steepest[1])
    true = np.array(reach)
    assert not (told & (true < 1.0 - 1e-12)).any()
    assert told[true > 1.1].all()
    assert (rays_meet(moved, i, j) == told).mean() > 0.99


def test_few_corners_leave_few_pairs_open():
    """Of shapes with few corners the three of a first portal are often one and the same."""
    rng = np.random.default_rng(22)
    shapes = [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-1.0, 1.0, 3)) for n in rng.integers(4, 8, 100)]
    i, j = np.ascontiguousarray(random_pairs(5_000, 100).T)
    i, j = i[i != j], j[i != j]
    state = search_portals(HullTable.of(shapes), i, j).state
    assert (state == OPEN).mean() < 0.005
    for k in range(0, len(i), 10):
        if state[k] != OPEN:
            assert (state[k] == APART) == (not gjk_intersects(shapes[i[k]], shapes[j[k]]))


# ---------------------------------------------------------------------------------------------------------------------
# Progress and errors


def test_progress_rises_and_cancels():
    shapes = [*boxes(60, "turned"), *shapes_of_classes(3)[:30]]
    pairs = random_pairs(1_500, len(shapes))
    told: list[float] = []
    contacts(shapes, pairs, progress=told.append)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert len(told) > 5
    assert all(x <= y for x, y in pairwise(told))
    for allowed in (0, 1, len(told) // 2):
        left = iter(range(allowed))
        with pytest.raises(Cancelled):
            contacts(shapes, pairs, progress=lambda _, left=left: next(left, None) is not None)


@cache
def many_hulls(count: int, corners: int, side: float) -> tuple[ConvexHull, ...]:
    """Different hulls, here and there in a cube."""
    rng = np.random.default_rng(11)
    points = rng.normal(size=(count, corners, 3))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    return tuple(ConvexHull(p + rng.uniform(0.0, side, 3)) for p in points)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("options", [{}, {"distances": False}, {"regions": False}, {"clearance": 0.3}])
@pytest.mark.parametrize(("count", "corners", "side"), [(400, 60, 9.0), (400, 20, 18.0), (150, 300, 5.0)])
def test_progress_of_many_hulls_goes_in_small_steps(count, corners, side, options):
    """What takes long is told while it goes on, and can be stopped there."""
    shapes = many_hulls(count, corners, side)
    told = [0.0]
    found = contacts(shapes, progress=told.append, **options)
    assert (found.signed_distance < 0.0).sum() > 100
    steps = np.diff([*told, 1.0])
    assert steps.min() >= 0.0
    assert steps.max() < 0.2
    for stop in (0.1, 0.3, 0.5, 0.7, 0.9):
        with pytest.raises(Cancelled):
            contacts(shapes, progress=lambda share, stop=stop: share < stop, **options)
    told = [0.0]
    pairs_intersect(shapes, found.pairs, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_progress_of_depths_rises_where_first_hulls_are_looked_for_again():
    rng = np.random.default_rng(13)
    shapes = [ConvexHull(CUBE * side) for side in rng.integers(1, 4, 60)]
    told: list[float] = []
    contacts(shapes, random_pairs(5_000, len(shapes)), regions=False, progress=told.append)
    assert told == sorted(told)


def test_progress_of_pairs_one_by_one_is_told_of_each():
    shapes = [Sphere(np.zeros(3), 1.0), *(Capsule([0.1 * k, 1.0, 0.0], [0.2 * k, 3.0, 1.0], 0.5) for k in range(20))]
    told: list[float] = []
    contacts(shapes, [[0, k] for k in range(1, 21)], progress=told.append)
    assert np.diff(told).max() < 0.15


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([[0, 3]], "row 0"),
        ([[0, 1], [-1, 0]], "row 1"),
        ([0, 1], "shape"),
        ([[0, 1, 2]], "shape"),
        ([[0.0, 1.0]], "whole"),
        ([[0, 1], [2]], "length"),
        ("ab", "whole"),
    ],
)
def test_pairs_that_are_none_are_refused(pairs, words):
    with pytest.raises(ValueError, match=rf"^pairs.*{words}"):
        contacts(boxes(3, "turned"), pairs)


@pytest.mark.parametrize("wrong", [None, 3, [None], [CUBE], "boxes"])
def test_shapes_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match=r"^shapes"):
        contacts(wrong)


def test_shapes_of_different_dimension_are_refused():
    with pytest.raises(ValueError, match=r"^shapes: number 1 has dimension 2"):
        contacts([ConvexHull(CUBE), ConvexHull(CUBE[:, :2])])


@pytest.mark.parametrize("name", ["clearance", "contact_tolerance"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, None, "1"])
def test_lengths_that_are_none_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name}"):
        contacts(boxes(2, "turned"), **{name: value})


@pytest.mark.parametrize("method", ["", "GJK", None, 1])
def test_unknown_methods_are_refused(method):
    with pytest.raises(ValueError, match=r"^method"):
        contacts(boxes(2, "turned"), method=method)


def test_rotation_of_the_whole_changes_nothing():
    rng = np.random.default_rng(8)
    turn, shift = rotation(rng), rng.uniform(-5, 5, 3)
    matrix = np.eye(4)
    plain, moved = [], []
    for box in boxes(100, "turned"):
        matrix[:3, :3], matrix[:3, 3] = box.axes.T, box.center
        plain.append(Box.from_matrix(matrix, -box.half, box.half))
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = turn, shift
        moved.append(Box.from_matrix(whole @ matrix, -box.half, box.half))
    pairs = random_pairs(800, 100)
    one, other = contacts(plain, pairs, regions=False), contacts(moved, pairs, regions=False)
    assert one.relations == other.relations
    assert np.allclose(one.signed_distance, other.signed_distance, rtol=1e-9, atol=1e-9)
