# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes in poses have the contacts of transformed shapes, and a set of shapes those of its shapes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Mesh,
    Relation,
    ShapeSet,
    Sphere,
    Status,
    contact,
    contacts,
    nearest_neighbours,
    pairs_intersect,
    verify,
)

from ..generators import CUBE, rotation, rotation_about
from ..many_shapes import make_boxes, promised, random_pairs
from .test_contacts import check_row

POSES = ("rigid", "rounded", "single", "even", "mirrored", "scaled", "sheared", "flat", "still")


def poses_of(kind: str, count: int, seed: int = 3, room: float = 2.5) -> np.ndarray:
    """(count, 4, 4) matrices of a kind."""
    rng = np.random.default_rng([seed, *kind.encode()])
    matrices = np.tile(np.eye(4), (count, 1, 1))
    for matrix in matrices if kind != "still" else ():
        turn = rotation(rng)
        if kind == "rounded":  # a rotation as far from one as a chain of products makes it
            turn = turn * (1.0 + 100.0 * 2.0**-52 * rng.uniform(-1, 1, (3, 3)))
        elif kind == "single":
            turn = turn.astype(np.float32)
        elif kind in ("even", "mirrored"):
            turn = turn * rng.uniform(0.5, 2.0) @ np.diag([1.0, 1.0, -1.0 if kind == "mirrored" else 1.0])
        elif kind == "scaled":
            turn = turn @ np.diag(rng.uniform(0.3, 2.0, 3))
        elif kind == "sheared":
            turn = turn + 0.3 * rng.normal(size=(3, 3))
        elif kind == "flat":
            turn = turn @ np.diag([1.0, 1.0, float(rng.choice([0.0, 1e-14, 1.0]))])
        matrix[:3, :3], matrix[:3, 3] = turn, rng.uniform(-room, room, 3)
    return matrices


def local_shapes(kind: str) -> list:
    """Shapes about the origin: of few kinds of which there are many, or of all kinds."""
    rng = np.random.default_rng(list(kind.encode()))
    boxes = [Box(rng.normal(size=3) * 0.2, rng.uniform(0.5, 2.0, 3), rng.normal(size=4)) for _ in range(20)]
    hulls = [ConvexHull(rng.normal(size=(n, 3)) * 0.8 + 0.3) for n in rng.integers(4, 60, 20)]
    if kind in ("boxes", "hulls"):
        return boxes if kind == "boxes" else hulls
    sheared = np.eye(4)
    sheared[0, 1] = 0.5
    shapes = [*boxes[:8], *hulls[:8], ConvexHull(CUBE * [1, 1, 0]), Box.from_matrix(sheared, [-1] * 3, [1] * 3)]
    if kind == "polytopes":
        return [*shapes, Box((0, 0, 0), (1, 1, 0)), ConvexHull([[0.1, 0.2, 0.3], [1.0, 0.0, 0.0]])]
    cut = [ConvexHull(CUBE * [2, 0.5, 0.5]), ConvexHull(CUBE * [0.5, 2, 0.5] + [-0.7, 0.7, 0])]
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [triangle for a, b, c, d in quads for triangle in ([a, b, c], [a, c, d])]
    curved = [Sphere((0.1, 0, 0), 0.7), Capsule((0, 0, 0), (1, 0, 0.5), 0.4)]
    return [*shapes[::4], *curved, Compound(cut), Mesh(CUBE * 1.5, triangles)]


CASES = [(kind, poses) for kind in ("boxes", "hulls", "polytopes") for poses in POSES]


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("distances", [True, False])
@pytest.mark.parametrize(("kind", "poses"), [*CASES, *(("all", poses) for poses in ("rigid", "even", "mirrored"))])
def test_shapes_in_poses_have_the_contacts_of_transformed_shapes(kind, poses, distances):
    local = local_shapes(kind)
    index = np.random.default_rng(1).integers(0, len(local), 40)
    shapes = ShapeSet([local[k] for k in index])
    matrices = poses_of(poses, len(shapes))
    made = [shape.transformed(matrix) for shape, matrix in zip(shapes, matrices, strict=True)]
    pairs = random_pairs(60 if kind == "all" else 700, len(shapes))
    found = contacts(shapes, pairs, poses=matrices, distances=distances)
    meet = pairs_intersect(shapes, pairs, poses=matrices)
    for k in range(0, len(pairs), 1 if kind == "all" else 9):
        a, b = (made[n] for n in pairs[k])
        single = contact(a, b)
        check_row(found, k, a, b, single)
        if abs(single.signed_distance) > promised(a, b, 0.0):
            assert meet[k] == found.intersects[k] == single.intersects
        if k % 5 == 0:
            assert found.contact(k).to_dict() == single.to_dict()
    # The same from a plain sequence, and again from the set, whatever was asked before.
    for given in (list(shapes), shapes):
        again = contacts(given, pairs, poses=matrices, distances=distances)
        assert again.signed_distance.tobytes() == found.signed_distance.tobytes()
        assert again.normal.tobytes() == found.normal.tobytes()
    # Without pairs, all that are near.
    options = {"clearance": 0.1, "distances": False, "regions": False}
    near, whole = contacts(shapes, poses=matrices, **options), contacts(made, **options)
    apart = {(i, j) for i, j in np.stack(np.triu_indices(len(shapes), 1), 1).tolist()}
    for one, other in ((near, whole), (whole, near)):
        some = {tuple(pair): relation for pair, relation in zip(one.pairs.tolist(), one.relation, strict=True)}
        same = {tuple(pair): relation for pair, relation in zip(other.pairs.tolist(), other.relation, strict=True)}
        for pair in apart:
            assert some.get(pair, Relation.SEPARATED) == same.get(pair, Relation.SEPARATED)


def test_the_boxes_of_rigid_poses_stay_boxes(monkeypatch):
    """Also where a chain of products has made the matrices rigid to a hundred last digits only."""
    shapes = ShapeSet(local_shapes("boxes"))
    pairs = random_pairs(400, len(shapes))
    monkeypatch.setattr(type(shapes._tables), "hulls", None)
    for kind in ("rigid", "rounded", "even", "mirrored", "still"):
        contacts(shapes, pairs, poses=poses_of(kind, len(shapes)), distances=False)


def test_flat_shapes_in_poses_of_the_plane():
    rng = np.random.default_rng(2)
    local = [ConvexHull(rng.normal(size=(n, 2))) for n in rng.integers(1, 9, 12)]
    matrices = np.tile(np.eye(3), (12, 1, 1))
    matrices[:, :2, :2] += 0.4 * rng.normal(size=(12, 2, 2))
    matrices[:, :2, 2] = rng.uniform(-2, 2, (12, 2))
    made = [shape.transformed(matrix) for shape, matrix in zip(local, matrices, strict=True)]
    found, cold = contacts(local, poses=matrices), contacts(made)
    assert np.array_equal(found.pairs, cold.pairs)
    assert found.signed_distance.tobytes() == cold.signed_distance.tobytes()
    assert np.array_equal(pairs_intersect(local, cold.pairs, poses=matrices), cold.intersects)


def test_two_sets_in_poses_and_one_that_stands_still():
    first, second = local_shapes("polytopes"), local_shapes("hulls")
    one, two = poses_of("sheared", len(first)), poses_of("rigid", len(second), seed=4)
    for poses in (({"poses": one}), {"other_poses": two}, {"poses": one, "other_poses": two}):
        both = [
            [s.transformed(m) for s, m in zip(shapes, poses[name], strict=True)] if name in poses else shapes
            for shapes, name in ((first, "poses"), (second, "other_poses"))
        ]
        found, cold = contacts(ShapeSet(first), others=second, **poses), contacts(both[0], others=both[1])
        assert np.array_equal(found.pairs, cold.pairs)
        assert (found.relation == cold.relation).all()
        assert np.allclose(found.signed_distance, cold.signed_distance, rtol=0, atol=1e-9)
        k = int(found.signed_distance.argmin())
        assert verify(found.contact(k), *(shapes[n] for shapes, n in zip(both, found.pairs[k], strict=True))).ok
        again = contacts(ShapeSet(first), others=second, start=found, **poses)
        assert again.signed_distance.tobytes() == found.signed_distance.tobytes()


# ---------------------------------------------------------------------------------------------------------------------
# From the last result


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("options", [{}, {"distances": False, "regions": False}, {"distances": False}])
@pytest.mark.parametrize("kind", ["boxes", "hulls", "all"])
def test_poses_that_change_have_the_answers_from_cold(kind, options):
    local = local_shapes(kind)
    count = 24
    rng = np.random.default_rng(count)
    shapes = ShapeSet([local[k % len(local)] for k in range(count)])
    matrices, pairs, last = poses_of("rigid", count), random_pairs(60 if kind == "all" else 500, count), None
    first = contacts(shapes, pairs, poses=matrices, clearance=0.2, **options)
    for speed in (0.0, 1e-12, 1e-3, 1e-2, 0.3):
        matrices = matrices.copy()
        for k in rng.choice(count, count // 2, replace=False).tolist():
            turn = np.eye(4)
            turn[:3, :3] = rotation_about(rng.normal(size=3), speed * rng.random())
            turn[:3, 3] = speed * rng.normal(size=3)
            matrices[k] = turn @ matrices[k]
        cold = contacts(shapes, pairs, poses=matrices, clearance=0.2, **options)
        last = contacts(shapes, pairs, poses=matrices, clearance=0.2, start=last, **options)
        assert (last.relation == cold.relation).all()
        assert (last.lower_bound <= cold.upper_bound).all()
        assert (last.upper_bound >= cold.lower_bound).all()
        known = (last.status != Status.BOUNDS_ONLY) & (cold.status != Status.BOUNDS_ONLY)
        assert np.allclose(last.signed_distance[known], cold.signed_distance[known], rtol=0, atol=1e-9)
        made = [shape.transformed(matrix) for shape, matrix in zip(shapes, matrices, strict=True)]
        for k in np.flatnonzero(last.status == Status.BOUNDS_ONLY)[:40].tolist():
            check_row(last, k, *(made[n] for n in pairs[k]), contact(*(made[n] for n in pairs[k]), clearance=0.2))
        for start in (first, last, cold):
            assert np.array_equal(pairs_intersect(shapes, pairs, poses=matrices, start=start), cold.intersects)


def test_a_key_that_is_turned_out_of_its_hole_is_not_taken_for_deep():
    """A rotation may free what is not convex, though no point moves as far as the shortest translation does."""
    cheeks = [Box((0, y, 0), (4, 1, 1)) for y in (-1.0, 1.0)]
    ends = [Box((x, 0, 0), (1, 1, 1)) for x in (-1.5, 1.5)]
    hole = Compound([*cheeks, *ends])
    key = Compound([Box((0, 0, 0), (1.9, 0.9, 3.0))])
    turned = np.eye(4)
    turned[:3, :3] = rotation_about(np.array([0.0, 0.0, 1.0]), 0.3)
    shapes, pairs, still = ShapeSet([hole, key]), [[0, 1]], np.eye(4)
    start = contacts(shapes, pairs, poses=[still, turned])
    assert start.depth[0] > 0.05
    assert not pairs_intersect(shapes, pairs, poses=[still, still], start=start)[0]


def test_pairs_that_moved_less_than_their_distance_are_not_tested(monkeypatch):
    shapes = ShapeSet(local_shapes("hulls"))
    pairs, matrices = random_pairs(400, len(shapes)), poses_of("rigid", len(shapes))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    start = contacts(shapes, pairs, poses=matrices)
    far = pairs[np.abs(start.signed_distance) > 0.1]
    monkeypatch.setattr(type(shapes._tables), "hulls", None)
    monkeypatch.setattr(ConvexHull, "transformed", None)
    moved = matrices.copy()
    moved[:, :3, 3] += 0.02
    said = pairs_intersect(shapes, far, poses=moved, start=start)
    assert np.array_equal(said, start.intersects[np.abs(start.signed_distance) > 0.1])


def test_standing_still_is_taken_over_and_solved_compounds_with_it():
    local = local_shapes("all")
    shapes = ShapeSet([*local, *local])
    matrices = poses_of("rigid", len(shapes), room=1.0)
    first = contacts(shapes, poses=matrices)
    again = contacts(shapes, poses=matrices.copy(), start=first)
    assert np.array_equal(first.pairs, again.pairs)
    for name in ("signed_distance", "normal", "point_on_a", "center", "upper_bound"):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()
    assert again.region[:] == first.region[:]
    nonconvex = [k for k, (i, j) in enumerate(first.pairs.tolist()) if isinstance(shapes[i], Compound | Mesh)]
    assert nonconvex
    assert all(again.contact(k) is first.contact(k) for k in nonconvex)


# ---------------------------------------------------------------------------------------------------------------------
# Sets of shapes


def test_a_set_is_a_sequence_of_its_shapes():
    local = [*local_shapes("polytopes")[:4], Sphere((0, 0, 0), 1.0)]
    given = [*local, *local[::-1], *local]
    shapes = ShapeSet(given)
    assert list(shapes) == given == list(shapes[:])
    assert shapes[-1] is local[-1]
    assert shapes[1:3] == tuple(given[1:3])
    assert (len(shapes), shapes.dim, local[2] in shapes) == (15, 3, True)
    assert repr(shapes) == "ShapeSet(15 shapes, 5 different)"
    with pytest.raises(IndexError):
        shapes[15]
    cold = contacts(given)
    for other in (shapes, pickle.loads(pickle.dumps(shapes)), copy.deepcopy(shapes), ShapeSet(shapes)):
        found = contacts(other)
        assert found.shapes is other
        assert np.array_equal(found.pairs, cold.pairs)
        assert found.signed_distance.tobytes() == cold.signed_distance.tobytes()
        assert np.array_equal(nearest_neighbours(other, regions=False).pairs, nearest_neighbours(given).pairs)
    assert len(ShapeSet([])) == len(contacts(ShapeSet([]), poses=np.empty((0, 4, 4)))) == 0


@pytest.mark.parametrize("poses", ["rigid", "sheared", "flat", "mirrored"])
def test_bounds_in_poses_are_those_of_transformed_shapes(poses):
    local = local_shapes("all" if poses in ("rigid", "mirrored") else "polytopes")
    shapes, matrices = ShapeSet([*local, *local]), poses_of(poses, 2 * len(local))
    for given, made in ((None, shapes), (matrices, [s.transformed(m) for s, m in zip(shapes, matrices, strict=True)])):
        for corners, k in zip(shapes.bounds(given), (0, 1), strict=True):
            assert np.allclose(corners, [shape.bounds[k] for shape in made], rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match=r"^poses"):
        shapes.bounds(matrices[1:])
    assert ShapeSet([]).bounds()[0].shape == (0, 3)


def test_tables_of_a_set_are_made_once_of_what_is_asked_for():
    boxes = make_boxes(60, "turned")
    shapes = ShapeSet([*local_shapes("hulls"), *boxes])
    pairs = random_pairs(800, 10)
    contacts(shapes, pairs, regions=False)
    tables = shapes._tables
    nothing = np.zeros(0, dtype=np.intp)
    once, _ = tables.hulls(nothing)
    assert len(once) == len(np.unique(pairs))
    contacts(shapes, pairs, regions=False)
    assert tables.hulls(nothing)[0] is once
    # What is made later is joined, and its answers are those from cold.
    mixed = random_pairs(900, len(shapes))
    found, cold = contacts(shapes, mixed, regions=False), contacts(list(shapes), mixed, regions=False)
    assert (found.relation == cold.relation).all()
    assert np.allclose(found.signed_distance, cold.signed_distance, rtol=0, atol=1e-12)
    assert len(tables.hulls(nothing)[0]) > len(once)


CAPSULE = Capsule((0, 0, 0), (1, 0, 0), 1.0)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (r"poses: an array \(3, 4, 4\)", {"poses": np.eye(4)}),
        (r"poses: an array \(3, 4, 4\)", {"poses": np.tile(np.eye(4), (2, 1, 1))}),
        (r"poses: an array \(3, 4, 4\)", {"poses": "abc"}),
        ("poses: all numbers must be finite", {"poses": np.full((3, 4, 4), np.nan)}),
        ("poses: row 1: the last row", {"poses": [np.eye(4), np.ones((4, 4)), np.eye(4)]}),
        ("poses: row 2: ", {"poses": [np.eye(4), np.eye(4), np.diag([1e300, 1e300, 1e300, 1.0])]}),
        ("poses: row 0: .*", {"poses": [np.diag([1.0, 1.0, 3.0, 1.0]), np.eye(4), np.eye(4)]}),
        ("other_poses: others expected", {"other_poses": np.tile(np.eye(4), (3, 1, 1))}),
        (
            "other_poses: row 0: ",
            {"others": [Capsule((0, 0, 0), (1, 0, 0), 1.0)], "other_poses": [np.diag([1, 1, 3, 1])]},
        ),
    ],
)
def test_wrong_poses_are_named(words, options):
    shapes = [CAPSULE, ConvexHull(CUBE), Box((0, 0, 0), (1e10, 1, 1))]
    for given in (shapes, ShapeSet(shapes)):
        with pytest.raises(ValueError, match=rf"^{words}"):
            contacts(given, **options)
    if "poses" in options:
        with pytest.raises(ValueError, match=rf"^{words}"):
            pairs_intersect(shapes, [[0, 1], [1, 2]], poses=options["poses"])
