# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for many pairs agrees with the one for a single pair, row by row."""

from __future__ import annotations

import dataclasses
import sys
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    Contact,
    Contacts,
    ConvexHull,
    Cylinder,
    Mesh,
    Polytope,
    Relation,
    Sphere,
    Status,
    contact,
    contact_region,
    contacts,
    nearest_neighbours,
    pairs_intersect,
    verify,
)
from contact_lens.core.many.batched.convex_pairs import ARRAYS

from ..assertions import assert_progress, fingerprint
from ..generators import CLASSES, COMPOSED, CUBE, LARGE, sphere_points
from ..many_shapes import BOX_KINDS, gap_across, make_boxes, outside, promised, random_pairs
from ..mesh_shapes import block, bumpy, flipped, joined, sheet, sphere, torus

FRONT_DOOR = sys.modules["contact_lens.core.many.contacts"]


def test_meshes_intersect_where_their_contacts_say_so() -> None:
    """Crossing, one in the other, in the hollow of the other, apart, and bare surfaces; no depth is searched."""
    rng = np.random.default_rng(29)
    shapes = [Mesh(*bumpy(rng)).translated(rng.uniform(-1.0, 1.0, 3)) for _ in range(6)]
    points, triangles = sphere(8)
    hollow = Mesh(*joined([sphere(9), flipped((0.6 * points, triangles))]))
    far = Mesh(*torus(12, 8)).translated([5.0, 0.0, 0.0])
    shapes += [Mesh(*sphere(6)).scaled(0.2), hollow, Mesh(*sheet(4)), far]
    pairs = np.array(list(combinations(range(len(shapes)), 2)))
    wanted = [contact(shapes[i], shapes[j], budget=0.0).intersects for i, j in pairs.tolist()]
    assert 10 < sum(wanted) < len(pairs)
    assert pairs_intersect(shapes, pairs).tolist() == wanted


@pytest.mark.slow
def test_without_depths_the_relations_are_those_with_them_and_the_bounds_hold() -> None:
    """Of meshes, compounds, curved and bare ones, in, through, beside and against each other."""
    rng = np.random.default_rng(3)
    shapes = [Mesh(*bumpy(rng)).translated(rng.uniform(-1.0, 1.0, 3)) for _ in range(3)]
    shapes += [Mesh(*sphere(6)).scaled(0.2), Mesh(*sheet(4)), Mesh(*sphere(6)).translated([9.0, 0.0, 0.0])]
    shapes += [
        Mesh(*block()),
        Mesh(*block()).translated([1.0, 0.25, 0.0]),
        Mesh(*block()),
        Sphere([0.6, 0.0, 0.0], 0.5),
    ]
    shapes += [Compound([Box([0, 0, 0], [1, 1, 1]), Box([1, 0, 0], [1, 1, 1])]), Box([0.2, 0.2, 0.2], [1, 1, 1])]
    shapes += [Compound([Sphere([0, 0, 0], 0.5), Box([1.2, 0.5, 0], [1, 1, 0.2])])]
    quick = contacts(shapes, budget=0.0, depths=False)
    whole = contacts(shapes, quick.pairs, budget=0.0)
    assert (quick.relation == whole.relation).all()
    assert (quick.intersects == whole.intersects).all()
    open_ = quick.status == Status.BOUNDS_ONLY
    assert set(quick.relation[open_]) >= {Relation.PENETRATING, Relation.A_INSIDE_B, Relation.COINCIDENT}
    assert np.isnan(quick.depth[open_]).all()
    assert not np.hstack([quick.mtv, quick.normal])[open_].any()
    assert (quick.lower_bound[open_] <= whole.upper_bound[open_]).all()
    assert (quick.upper_bound[open_] >= whole.lower_bound[open_]).all()
    assert (quick.signed_distance[~open_] == whole.signed_distance[~open_]).all()
    for k in range(len(quick)):
        found = quick.contact(k)
        assert found.has_depth == (found.status not in (Status.BOUNDS_ONLY, Status.NO_DEPTH))
        assert (found.to_dict()["depth"] is None) == (not found.has_depth)
        assert [c.points.tolist() for c in found.curves] == [c.points.tolist() for c in whole.contact(k).curves]
        assert verify(found, *(shapes[n] for n in quick.pairs[k].tolist()))


def test_without_depths_unchanged_rows_are_taken_over(monkeypatch) -> None:
    shapes = [Mesh(*block()), Mesh(*block()).translated([0.5, 0.25, 0.0]), Mesh(*sphere(6))]
    found = contacts(shapes, depths=False)
    assert (found.status == Status.BOUNDS_ONLY).any()
    monkeypatch.setattr(sys.modules[contacts.__module__], "contact", None)
    again = contacts(shapes, depths=False, start=found)
    assert again.to_dict() == found.to_dict()


def check_row(found: Contacts, k: int, a, b, single: Contact) -> None:
    """Row k agrees with the single call."""
    assert found.relation[k] == single.relation
    low, high, distance, normal = (
        getattr(found, name)[k] for name in ("lower_bound", "upper_bound", "signed_distance", "normal")
    )
    assert low <= single.upper_bound
    assert high >= single.lower_bound
    if not single.has_depth:
        return
    assert abs(np.linalg.norm(normal) - 1.0) <= 32 * np.finfo(float).eps
    tol = 2.0 * promised(a, b, single.signed_distance)
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        assert gap_across(a, b, normal) >= distance - tol
    if found.status[k] == Status.BOUNDS_ONLY:
        assert single.relation == Relation.SEPARATED
        assert distance == low > found.clearance
        assert np.isnan([found.point_on_a[k], found.point_on_b[k], found.center[k]]).all()
        return
    assert abs(distance - single.signed_distance) <= tol
    assert low <= distance <= high
    if single.status == Status.CERTIFIED:
        assert found.status[k] == Status.CERTIFIED
        assert high - low <= tol
    if not isinstance(a, Mesh) and not isinstance(b, Mesh):
        miss = found.point_on_b[k] - found.point_on_a[k] - distance * normal
        assert np.linalg.norm(miss) <= tol
    for shape, point in ((a, found.point_on_a[k]), (b, found.point_on_b[k])):
        assert not (isinstance(shape, Polytope) and shape.rank == shape.dim) or outside(shape, point) <= tol
    if found.region is not None:
        region = found.region[k]
        assert (region is None) == (single.region is None)
        if region is not None and single.region is not None and np.array_equal(normal, single.normal):
            assert region.kind == single.region.kind
            assert np.array_equal(found.center[k], region.centroid)


@cache
def shapes_of_kind(kind: str) -> tuple:
    """Shapes for many pairs: boxes of one kind, hulls of every class, or shapes of all kinds."""
    if kind in BOX_KINDS:
        return tuple(make_boxes(120, kind))
    if kind in ("plane", "space"):
        pairs = [
            make(np.random.default_rng([77, turn, *name.encode()]))
            for name, make in {**CLASSES, **COMPOSED, "large": LARGE["large_hulls"]}.items()
            for turn in range(3)
        ]
        return tuple(
            ConvexHull(points) for pair in pairs for points in pair if points.shape[1] == 2 + (kind == "space")
        )
    rng = np.random.default_rng(4)
    if kind == "thin":
        return tuple(
            ConvexHull(rng.normal(size=(6, 3)) * [1, 1, thin] + rng.uniform(0, 2, 3)) for thin in [0, 1e-12] * 20
        )
    shapes = [
        *make_boxes(30, "turned"),
        *(ConvexHull(rng.normal(size=(20, 3)) + rng.uniform(-3, 3, 3)) for _ in range(30)),
    ]
    shapes += [Sphere(rng.uniform(-3, 3, 3), 0.7) for _ in range(4)]
    shapes += [Capsule(rng.uniform(-3, 3, 3), rng.uniform(-3, 3, 3), 0.5) for _ in range(4)]
    shapes += [
        Box.from_matrix([[1, 0.3, 0, k], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [-1] * 3, [1] * 3) for k in (0, 2)
    ]
    shapes += [
        Cylinder((0, 0, 0), (0, 0, 1), 1.0),
        *shapes_of_kind("far")[:2],
        Box((0, 0, 0), (2.0**150, 2.0**-150, 1)),
    ]
    if kind == "all":
        corner = Compound([ConvexHull(CUBE * [2, 0.5, 0.5]), ConvexHull(CUBE * [0.5, 2, 0.5] + [-0.7, 0.7, 0])])
        solid = Mesh(
            CUBE * 1.5,
            [
                [0, 1, 3],
                [0, 3, 2],
                [4, 6, 7],
                [4, 7, 5],
                [0, 4, 5],
                [0, 5, 1],
                [2, 3, 7],
                [2, 7, 6],
                [0, 2, 6],
                [0, 6, 4],
                [1, 5, 7],
                [1, 7, 3],
            ],
        )
        shapes += [
            corner,
            corner.translated([2, 1, 0]),
            solid,
            solid.translated([1, 1, 1]),
            Mesh(CUBE, [[0, 1, 3], [0, 3, 2]]),
        ]
    return tuple(shapes)


MOST = {"all": 100, "mixed": 7_000, "thin": 7_000}
"""Limits on the pairs of kinds that are for the most part answered one by one."""
OPTIONS = ({}, {"clearance": 0.3}, {"distances": False}, {"distances": False, "regions": False}, {"regions": False})


@pytest.mark.fast_cases(20)
@pytest.mark.parametrize("kind", [*BOX_KINDS, "plane", "space", "thin", "mixed", "all"])
@pytest.mark.parametrize("count", [1, 40, 900, pytest.param(20_000, marks=pytest.mark.slow)])
def test_every_row_agrees_with_the_single_call(kind, count):
    """Whatever the shapes, their number, their order and the options are; swapped and among other pairs too."""
    shapes = shapes_of_kind(kind)
    rng = np.random.default_rng(count)
    options = OPTIONS[rng.integers(len(OPTIONS))] if count < 900 else OPTIONS[(len(kind) + count) % len(OPTIONS)]
    if count < 900:
        options = {**options, "reproducible": bool(rng.integers(2))}
    pairs = random_pairs(min(count, MOST.get(kind, count)), len(shapes), seed=count)
    found = contacts(shapes, pairs, **options)
    rows = rng.choice(len(pairs), min(len(pairs), 100 if count < 1_000 else 400), replace=False).tolist()
    single_options = {name: value for name, value in options.items() if name == "clearance"}
    meet = pairs_intersect(shapes, pairs)
    for k in rows:
        a, b = (shapes[n] for n in pairs[k])
        single = contact(a, b, **single_options)
        check_row(found, k, a, b, single)
        if abs(single.signed_distance) > promised(a, b, 0.0):
            assert meet[k] == found.intersects[k] == single.intersects
    again = contacts(shapes, pairs, **options)
    for field in dataclasses.fields(Contacts):
        value = getattr(found, field.name)
        if isinstance(value, np.ndarray):
            assert value.tobytes() == getattr(again, field.name).tobytes()
            assert not value.flags.writeable
    names = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}
    few = np.sort(rng.choice(len(pairs), len(pairs) // 2, replace=False))
    some, swapped = contacts(shapes, pairs[few], **options), contacts(shapes, pairs[few][:, ::-1], **options)
    for n, k in enumerate(few.tolist()):
        assert some.relation[n] == found.relation[k] == names.get(swapped.relation[n], swapped.relation[n])
        tol = 2.0 * promised(*(shapes[m] for m in pairs[k]), found.signed_distance[k])
        for other in (some, swapped):
            both = (other.status[n] == Status.BOUNDS_ONLY) or (found.status[k] == Status.BOUNDS_ONLY)
            assert both or abs(other.signed_distance[n] - found.signed_distance[k]) <= tol


@pytest.mark.parametrize("count", [1, 5, 12])
@pytest.mark.parametrize("kind", ["turned", "lattice", "space"])
def test_few_rows_are_those_of_the_single_call(kind, count):
    """To the last bit; reproducible rows of the same pairs are to the promise."""
    shapes, pairs = shapes_of_kind(kind), random_pairs(count, 40)
    found, other = (contacts(shapes, pairs, reproducible=reproducible) for reproducible in (False, True))
    assert other.reproducible > found.reproducible
    assert found.relation.tolist() == other.relation.tolist()
    for k, (i, j) in enumerate(pairs.tolist()):
        single = contact(shapes[i], shapes[j])
        for name in (*ARRAYS, "relation", "status"):
            assert np.array_equal(getattr(found, name)[k], getattr(single, name)), name
        assert fingerprint(found.region[k]) == fingerprint(single.region)
        check_row(other, k, shapes[i], shapes[j], single)


@pytest.mark.parametrize("exponent", [-300, -120, 120, 900])
def test_sizes_at_the_ends_of_float64(exponent):
    shapes = [shape.scaled(2.0**exponent) for shape in (*shapes_of_kind("space")[:20], *make_boxes(50, "turned"))]
    pairs = random_pairs(400, len(shapes))
    found = contacts(shapes, pairs, distances=False, regions=False)
    for k in range(0, 400, 4):
        single = contact(*(shapes[n] for n in pairs[k]))
        assert found.relation[k] == single.relation
        assert found.lower_bound[k] <= single.upper_bound
        assert found.upper_bound[k] >= single.lower_bound


@pytest.mark.slow
@pytest.mark.parametrize(("count", "room"), [(200, 9.0), (1_000, 1.5), (5_000, 9.0)])
def test_few_hulls_are_left_to_the_single_call(count, room, monkeypatch):
    rng = np.random.default_rng(count)
    shapes = [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-room, room, 3)) for n in rng.integers(5, 60, 60)]
    pairs = random_pairs(count, len(shapes))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    calls: list = []
    monkeypatch.setattr(FRONT_DOOR, "contact", lambda a, b, **_: calls.append(0) or contact(a, b))
    contacts(shapes, pairs, regions=False)
    assert len(calls) <= 0.1 * count + 64  # of either kind fewer than that are no batch


def test_without_pairs_all_that_are_near_are_found():
    shapes = [*make_boxes(100, "turned"), *shapes_of_kind("space")[:30], *shapes_of_kind("all")[-5:-3]]
    every = np.array([(i, j) for i in range(len(shapes)) for j in range(i + 1, len(shapes))])
    for clearance in (0.0, 0.5):
        options = {"clearance": clearance, "distances": False, "regions": False}
        found, together = contacts(shapes, **options), contacts(shapes, every, **options)
        near = [tuple(pair) for pair in found.pairs.tolist()]
        assert near == sorted(near)
        assert set(near) >= {tuple(pair) for pair in every[together.relation != Relation.SEPARATED].tolist()}
    shapes = [Box((0, 0, 0), (1, 1, 1)), Box((1 + 5e-6, 0, 0), (1, 1, 1)), ConvexHull([[2.0, 0.5, 0.5]])]
    assert contacts(shapes).relation.tolist() == [Relation.TOUCHING]


def test_what_follows_from_the_arrays():
    shapes = make_boxes(80, "about z")
    found = contacts(shapes, clearance=0.25, contact_tolerance=1e-6)
    assert np.array_equal(found.depth, np.maximum(-found.signed_distance, 0.0))
    assert np.array_equal(found.mtv, found.depth[:, None] * found.normal)
    assert len(found) == len(found.pairs) == len(found.region)
    for k in range(0, len(found), 7):
        full = found.contact(k)
        assert (full.relation, full.clearance, full.contact_tolerance) == (found.relation[k], 0.25, 1e-6)
        assert verify(full, *(shapes[n] for n in found.pairs[k])).ok
    assert found.region[-1] is found.region[len(found) - 1]
    assert all(x is y for x, y in zip(found.region[3:40:2], list(found.region)[3:40:2], strict=True))
    light = contacts(shapes, certificates=False, regions=False)
    assert light.shapes is light.region is None
    assert np.isnan(light.center[light.intersects]).all()
    with pytest.raises(ValueError, match="certificates"):
        light.contact(0)
    with pytest.raises(IndexError):
        found.contact(len(found))
    with pytest.raises(TypeError, match="integer"):
        found.contact(None)
    with pytest.raises(IndexError):
        found.region[len(found)]


@pytest.mark.parametrize("kind", ["turned", "lattice", "mixed", "all"])
def test_each_pair_may_have_a_tolerance_of_its_own(kind):
    shapes = shapes_of_kind(kind)
    pairs = random_pairs(60 if kind == "all" else 400, len(shapes), seed=6)
    tolerance = 10.0 ** np.random.default_rng(6).uniform(-9, -1, len(pairs))
    found = contacts(shapes, pairs, contact_tolerance=tolerance)
    assert np.array_equal(found.contact_tolerance, tolerance)
    for k in range(0, len(pairs), 3):
        single = contact(*(shapes[n] for n in pairs[k]), contact_tolerance=tolerance[k])
        check_row(found, k, *(shapes[n] for n in pairs[k]), single)
        assert found.contact(k).contact_tolerance == tolerance[k]
    # Rows of which only the tolerance is another are solved again.
    coarse = np.where(np.arange(len(pairs)) % 2, 0.05, tolerance)
    for given in (coarse, 0.05):
        again, cold = (contacts(shapes, pairs, contact_tolerance=given, start=last) for last in (found, None))
        assert (again.relation == cold.relation).all()


@pytest.mark.parametrize("kind", ["space", "mixed", "lattice"])
def test_regions_of_many_hulls_are_those_of_one_pair(kind):
    """Of points, which are made when they are looked at, and of edges and faces that meet."""
    shapes = [ConvexHull(shape.vertices) for shape in shapes_of_kind(kind) if isinstance(shape, Polytope)]
    pairs = random_pairs(2_500, len(shapes), seed=8)
    found = contacts(shapes, pairs)
    kinds = []
    for k in np.flatnonzero(found.intersects)[::3].tolist():
        a, b = (shapes[n] for n in pairs[k])
        region, points = found.region[k], (found.point_on_a[k], found.point_on_b[k])
        assert region is found.region[k]
        assert np.array_equal(found.center[k], region.centroid)
        if not (a.extent and b.extent):
            continue
        width = 1e-5 * min(a.diameter, b.diameter)
        single = contact_region(a, b, found.normal[k], width, *points)
        tol = 64.0 * np.finfo(float).eps * max(a.magnitude, b.magnitude)
        assert region.kind == single.kind
        assert np.abs(region.centroid - single.centroid).max() <= max(tol, 0.1 * width)
        assert set(region.features) == set(single.features)
        kinds.append(region.kind)
    assert kinds.count("polygon" if kind == "lattice" else "point") > 20


def test_the_budget_reaches_compounds_and_meshes():
    shapes = shapes_of_kind("all")[-5:-1]
    first, whole = (contacts(shapes, budget=budget) for budget in (0, None))
    assert np.array_equal(first.pairs, whole.pairs)
    for k, pair in enumerate(first.pairs.tolist()):
        a, b = (shapes[n] for n in pair)
        assert first.contact(k).to_dict() == contact(a, b, budget=0).to_dict()
        assert verify(first.contact(k), a, b).ok
    refined = contacts(shapes, start=first)  # first answers are not taken over where more is asked for
    assert np.array_equal(refined.lower_bound, whole.lower_bound)
    assert np.array_equal(refined.upper_bound, whole.upper_bound)


@pytest.mark.parametrize("method", ["sat", "gjk", "both"])
def test_other_methods_solve_pair_by_pair(method):
    shapes = make_boxes(12, "turned")
    found = contacts(shapes, method=method)
    for k, pair in enumerate(found.pairs.tolist()):
        a, b = (shapes[n] for n in pair)
        check_row(found, k, a, b, contact(a, b, method=method))
    assert found.contact(0).method == contact(*(shapes[n] for n in found.pairs[0]), method=method).method


def test_compounds_and_meshes_are_solved_once(monkeypatch):
    shapes = list(shapes_of_kind("all")[-5:])
    found = contacts(shapes)
    monkeypatch.setattr(FRONT_DOOR, "contact", None)
    again = contacts(shapes[::-1], len(shapes) - 1 - found.pairs, start=found)
    for k in range(len(found)):
        assert found.contact(k) is again.contact(k)
        assert np.array_equal(found.center[k], found.contact(k).center)
        assert verify(found.contact(k), *(shapes[n] for n in found.pairs[k])).ok


def test_nothing_to_do_and_the_pairs_given_are_copied():
    shapes = make_boxes(10, "turned")
    assert len(contacts([])) == len(contacts([], [])) == len(contacts(shapes, np.zeros((0, 2), dtype=int))) == 0
    assert contacts(shapes[:1]).normal.shape == (0, 3)
    assert contacts([ConvexHull(CUBE[:, :2])]).normal.shape == (0, 2)
    assert pairs_intersect([], []).shape == (0,)
    pairs = np.array([[0, 1], [2, 3]], dtype=np.int32)
    found = contacts(shapes, pairs)
    pairs[:] = 0
    assert found.pairs.tolist() == [[0, 1], [2, 3]]


# ---------------------------------------------------------------------------------------------------------------------
# Two sets, and the nearest of each


@pytest.mark.parametrize(("count", "other"), [(1, 1), (30, 40), pytest.param(150, 100, marks=pytest.mark.slow)])
def test_a_set_against_another_is_the_same_as_one_set_of_both(count, other):
    first = [*make_boxes(count, "turned", seed=1), *shapes_of_kind("space")[: count // 2]]
    second = [*make_boxes(other, "turned", seed=2), *shapes_of_kind("space")[-other // 2 :]]
    every = np.stack(np.meshgrid(np.arange(len(first)), np.arange(len(second)), indexing="ij"), axis=-1).reshape(-1, 2)
    for options in ({}, {"distances": False, "regions": False}):
        found = contacts(first, others=second, clearance=0.4, **options)
        together = contacts([*first, *second], found.pairs + [0, len(first)], clearance=0.4, **options)
        assert (found.relation == together.relation).all()
        assert np.array_equal(found.signed_distance, together.signed_distance)
        if len(found):
            i, j = found.pairs[0]
            assert found.contact(0).signed_distance == contact(first[i], second[j]).signed_distance
        whole = contacts(first, every, others=second, clearance=0.4, distances=False, regions=False)
        near = {tuple(pair) for pair in every[whole.relation != Relation.SEPARATED].tolist()}
        assert near <= {tuple(pair) for pair in found.pairs.tolist()}


@pytest.mark.parametrize(("count", "other"), [(2, None), (50, None), (1, 1), (3, 40), (60, 5)])
def test_the_nearest_neighbour_is_that_of_all_pairs(count, other):
    def mixed(count: int, seed: int) -> list:
        rng = np.random.default_rng(seed)
        shapes: list = []
        for k in range(count):
            place, size = rng.uniform(-4, 4, 3), 10.0 ** rng.uniform(-2, 0.3)
            if k % 3:
                shapes.append(ConvexHull(place + size * rng.normal(size=(9, 3))) if k % 3 == 1 else Sphere(place, size))
            else:
                shapes.append(Box(place, size * rng.uniform(0.2, 1.0, 3), rng.normal(size=4)))
        return shapes

    shapes, others = mixed(count, 6), None if other is None else mixed(other, 9)
    found = nearest_neighbours(shapes, others, clearance=0.1)
    candidates = shapes if others is None else others
    assert found.pairs[:, 0].tolist() == list(range(count))
    for k, j in found.pairs.tolist():
        every = [
            np.inf if others is None and m == k else contact(shapes[k], b).signed_distance
            for m, b in enumerate(candidates)
        ]
        tol = promised(shapes[k], candidates[j], min(every))
        assert every[j] <= min(every) + tol
        assert abs(found.signed_distance[k] - min(every)) <= 2 * tol


def test_the_nearest_neighbour_in_the_plane_on_a_lattice_and_of_none():
    flat = shapes_of_kind("plane")
    found = nearest_neighbours(flat, regions=False)
    for k in range(0, len(flat), 9):
        least = min(contact(flat[k], b).signed_distance for m, b in enumerate(flat) if m != k)
        assert found.signed_distance[k] <= 1e-9 + least
    lattice = [Box((2.0 * x, 2.0 * y, 2.0 * z), (1, 1, 1)) for x in range(5) for y in range(5) for z in range(5)]
    assert np.allclose(nearest_neighbours(lattice, regions=False).signed_distance, 1.0)
    assert len(nearest_neighbours([])) == len(nearest_neighbours(lattice[:1])) == 0
    assert len(nearest_neighbours(lattice, [])) == len(nearest_neighbours([], lattice)) == 0


# ---------------------------------------------------------------------------------------------------------------------
# Progress and errors


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("options", [{}, {"distances": False}, {"regions": False}])
@pytest.mark.parametrize("kind", ["boxes", "round", "concentric", "singly", "nearest", "test"])
def test_progress_rises_in_small_steps_and_cancels(kind, options):
    rng = np.random.default_rng(11)
    count, corners, room = {"round": (400, 20, 18.0), "concentric": (80, 100, 3.0)}.get(kind, (60, 9, 6.0))
    hulls = [ConvexHull(sphere_points(rng, corners) + rng.uniform(0.0, room, 3)) for _ in range(count)]
    shapes = {
        "boxes": make_boxes(200, "turned"),
        "singly": [Capsule([0.1 * k, 1.0, 0.0], [0.2 * k, 3.0, 1.0], 0.5) for k in range(20)],
    }.get(kind, hulls)
    pairs = random_pairs(15_000 if kind == "boxes" else 4_000 if kind == "test" else 300, len(shapes))
    near = None if kind in ("round", "concentric") else pairs

    def call(progress) -> None:
        if kind == "nearest":
            nearest_neighbours(shapes, progress=progress)
        elif kind == "test":
            pairs_intersect(shapes, pairs, progress=progress)
        else:
            contacts(shapes, near, progress=progress, **options)

    assert np.diff(assert_progress(call)).max() < 0.5


@pytest.mark.parametrize(
    ("words", "shapes", "options"),
    [
        ("pairs: row 0", 3, {"pairs": [[0, 3]]}),
        ("pairs: row 1", 3, {"pairs": [[0, 1], [-1, 0]]}),
        ("pairs.*shape", 3, {"pairs": [0, 1]}),
        ("pairs.*shape", 3, {"pairs": [[0, 1, 2]]}),
        ("pairs.*whole", 3, {"pairs": [[0.0, 1.0]]}),
        ("pairs.*length", 3, {"pairs": [[0, 1], [2]]}),
        ("pairs.*whole", 3, {"pairs": "ab"}),
        ("pairs: row 1.*3 others", 5, {"pairs": [[4, 2], [4, 3]], "others": make_boxes(3, "turned")}),
        ("others: number 0 has dimension 2", 3, {"others": [ConvexHull(CUBE[:, :2])]}),
        ("others", 3, {"others": [None]}),
        ("shapes", None, {}),
        ("shapes", [None], {}),
        ("shapes: number 0", [CUBE], {}),
        ("shapes", "boxes", {}),
        ("shapes: number 1 has dimension 2", [ConvexHull(CUBE), ConvexHull(CUBE[:, :2])], {}),
        *(
            (name, 2, {name: value})
            for name in ("clearance", "contact_tolerance")
            for value in (-1.0, np.nan, None, "1")
        ),
        *(
            ("contact_tolerance.*3 pairs", 3, {"pairs": [[0, 1]] * 3, "contact_tolerance": value})
            for value in ([1e-5], [1e-5, -1e-5, 0.0], [[1e-5, 0.0, 0.0]])
        ),
        ("contact_tolerance", 3, {"pairs": [[0, 1]], "contact_tolerance": ["1"]}),
        ("contact_tolerance", 3, {"contact_tolerance": [1e-5] * 3}),
        ("budget", 3, {"budget": -1.0}),
        *(("method", 2, {"method": value}) for value in ("", "GJK", None, 1)),
        ("start", 2, {"start": 1}),
    ],
)
def test_wrong_arguments_are_named(words, shapes, options):
    with pytest.raises(ValueError, match=rf"^{words}"):
        contacts(make_boxes(shapes, "turned") if isinstance(shapes, int) else shapes, **options)
