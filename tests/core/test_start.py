# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that start from the last one are those from cold."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Contact,
    ConvexHull,
    Relation,
    Sphere,
    contact,
    contacts,
    epa,
    gjk,
    gjk_intersects,
    verify,
)
from contact_lens.core.batched.coherence import motion_bounds, update_states
from contact_lens.core.batched.hull_intersection import intersect_hulls
from contact_lens.core.batched.hull_table import HullTable
from contact_lens.core.batched.portals import APART, MEET, OPEN
from contact_lens.core.narrow_phase.epa import epa_again

from .generators import CLASSES, pair, rotation
from .oracles import EPS


def promised(a, b, signed_distance: float) -> float:
    extent, magnitude = min(a.extent, b.extent), max(a.magnitude, b.magnitude)
    return 1e-9 * abs(signed_distance) + 1e-10 * extent + 64 * EPS * magnitude


def same(warm: Contact, cold: Contact, a, b) -> None:
    tol = 2.0 * promised(a, b, cold.signed_distance)
    assert warm.relation == cold.relation
    assert warm.intersects == cold.intersects or abs(cold.signed_distance) <= tol
    assert abs(warm.signed_distance - cold.signed_distance) <= tol
    assert warm.lower_bound <= cold.upper_bound
    assert warm.upper_bound >= cold.lower_bound
    assert warm.status == cold.status
    assert (warm.region is None) == (cold.region is None)
    if len(cold.ties) == 1 and abs(cold.signed_distance) > 1e-4 * a.extent:
        assert np.allclose(warm.normal, cold.normal, rtol=0, atol=1e-6)


def axis_turn(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis / np.linalg.norm(axis)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


def shape_of(rng: np.random.Generator, kind: int) -> np.ndarray:
    cube = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    if kind == 0:
        return cube * rng.uniform(0.5, 1.5, 3)
    if kind == 1:
        points = rng.normal(size=(int(rng.integers(4, 60)), 3))
        return points / np.linalg.norm(points, axis=1)[:, None]
    if kind == 2:
        return rng.normal(size=(5, 3)) * 0.7
    return cube[:4] * rng.uniform(0.5, 1.5, 3)  # flat


@pytest.mark.parametrize("seed", range(5))
def test_along_random_paths_through_contact_and_back(seed):
    """Pairs pass through each other with steps of all sizes, some of which are none."""
    rng = np.random.default_rng(seed)
    met = 0
    for _ in range(40):
        local = [shape_of(rng, int(rng.integers(4))) for _ in range(2)]
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        axis, speed = rng.normal(size=3), 10.0 ** rng.uniform(-4, 0)
        turn = rotation(rng) if rng.integers(2) else np.eye(3)
        a = ConvexHull(local[0])
        last = None
        for place in np.sin(np.linspace(0.0, np.pi, int(rng.integers(4, 16)))) * 3.0 - 3.2 + rng.uniform(0, 1):
            turn = axis_turn(axis, speed) @ turn
            # The last time's answer may be of a step that is tiny, or none at all.
            for shift in (0.0, 0.0, 10.0 ** rng.uniform(-12, -2)):
                b = ConvexHull(local[1] @ turn.T + (place + shift) * way)
                cold = contact(a, b, clearance=0.1)
                if last is not None and len(b.vertices) == len(local[1]):
                    warm = contact(a, b, clearance=0.1, start=last)
                    same(warm, cold, a, b)
                    assert verify(warm, a, b).ok
                    met += cold.intersects
                    last = warm
                else:
                    last = cold
    assert met > 200


@pytest.mark.parametrize("offset", range(3))
def test_any_start_will_do(offset):
    """Of other shapes, of another class, the same ones swapped."""
    last = None
    for k in range(2 * len(CLASSES)):
        _, points_a, points_b = pair(41 + offset, k)
        a, b = ConvexHull(points_a), ConvexHull(points_b)
        cold = contact(a, b)
        for start in (last, cold, contact(b, a)):
            if start is not None:
                same(contact(a, b, start=start), cold, a, b)
        last = cold


def numbers(answer: Contact) -> tuple:
    """What of an answer `verify` looks at, besides what follows from it."""
    arrays = answer.normal, answer.ties, answer.point_on_a, answer.point_on_b
    proof = answer.certificate
    names = proof.index_a, proof.index_b, proof.weights, proof.pairs, proof.facets
    return answer.status, answer.signed_distance, *(array.tobytes() for array in arrays), *names


def few_or_many_points(rng: np.random.Generator, dim: int, lattice: bool) -> np.ndarray:
    """One point and more; on the lattice doubled, in one plane or on one line too."""
    count = int(rng.choice([1, 2, 3, 4, 6, 10, 20]))
    if not lattice:
        return rng.normal(size=(count, dim))
    points = rng.integers(-2, 3, (count, dim)).astype(float)
    points[:, int(rng.integers(2, dim + 2)) :] = 0.0
    return points


def turned(rng: np.random.Generator, dim: int, lattice: bool) -> np.ndarray:
    """A turn, or a mirror image, that the lattice has too."""
    if lattice:
        return np.eye(dim)[rng.permutation(dim)] * rng.choice([-1.0, 1.0], dim)
    return np.linalg.qr(rng.normal(size=(dim, dim)))[0]


@pytest.mark.parametrize("lattice", [True, False])
@pytest.mark.parametrize("dim", [2, 3])
def test_foreign_and_stale_starts_change_no_answer(dim, lattice):
    """5,000 times each the answer of another pair, of the same pair the other way round, and of the same pair as it was
    before a turn that gives its vertices other numbers. Hulls of one, two or few points have not all the vertices
    named, and a start of the plane says nothing about space."""
    rng = np.random.default_rng((dim, lattice))
    points = [few_or_many_points(rng, dim, lattice) for _ in range(60)]
    shapes = [ConvexHull(p) for p in points]
    pairs, starts = [], []
    for _ in range(250):
        i, j = rng.integers(0, len(points), 2)
        shift = rng.integers(-2, 3, dim) if lattice else rng.normal(size=dim)
        turn = turned(rng, dim, lattice)
        a, b = shapes[i], ConvexHull(points[j] + shift)
        pairs.append((a, b, contact(a, b)))
        before = ConvexHull(rng.permutation(points[i] @ turn)), ConvexHull(rng.permutation((points[j] + shift) @ turn))
        starts.append((contact(*before), contact(b, a)))
    other_dim = [contact(*(ConvexHull(rng.integers(-2, 3, (8, 5 - dim))) for _ in range(2))) for _ in range(20)]
    foreign = [cold for _, _, cold in pairs] + other_dim
    assert {cold.relation for cold in foreign} >= {Relation.SEPARATED, Relation.TOUCHING, Relation.PENETRATING} or (
        not lattice
    )
    count = 0
    for (a, b, cold), own in zip(pairs, starts, strict=True):
        assert verify(cold, a, b).ok
        verified = {numbers(cold)}
        for start in (*own, *(foreign[k] for k in rng.integers(0, len(foreign), 18))):
            warm = contact(a, b, start=start)
            same(warm, cold, a, b)
            if numbers(warm) not in verified:
                assert verify(warm, a, b).ok
                verified.add(numbers(warm))
            count += 1
    assert count == 5_000


def test_a_polytope_that_goes_round_twice_is_not_grown():
    """A five-sided bipyramid whose vertices got other numbers, so that its facets follow a pentagram: bent outward
    everywhere, all facing away from the origin, and yet no polytope."""
    turn = 2.0 * np.pi * np.arange(5) / 5.0
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(5)], axis=1)
    a, b = ConvexHull([*ring, [0, 0, 1.1], [0, 0, -1.2]]), ConvexHull([[0.0, 0.0, 0.0]])
    named = [int(np.linalg.norm(a.vertices - p, axis=1).argmin()) for p in (*ring, [0, 0, 1.1], [0, 0, -1.2])]
    pairs = [(k, 0) for k in named]
    for step, found in ((1, True), (2, False)):
        sides = [(step * k % 5, step * (k + 1) % 5) for k in range(5)]
        facets = [(i, j, 5) for i, j in sides] + [(j, i, 6) for i, j in sides]
        assert (epa_again(a, b, pairs, facets) is not None) == found


def test_a_polytope_with_corners_on_one_line_is_not_grown():
    line = ConvexHull([[-1, 0, 0], [1, 0, 0]])
    pairs, facets = [(0, 0), (1, 0), (0, 1), (1, 1)], [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)]
    assert epa_again(line, line, pairs, facets) is None


def test_answers_of_other_kinds_of_shapes_are_starts_too():
    """Boxes, hulls and spheres in space, and polygons: each pair from the answers of all others."""
    solid = [Box((0, 0, 0), (2, 2, 2)), Box((1, 1, 1), (1, 1, 1)), ConvexHull(np.eye(3)), Sphere((1, 0, 0), 0.5)]
    solid += [Box((5, 0, 0), (1, 1, 1)), ConvexHull([[0.5, 0.5, 1.0]])]
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]])
    flat = [ConvexHull(square), ConvexHull(square + [1, 2]), ConvexHull(square[:1]), ConvexHull(square[:2] + 0.5)]
    pairs = [(a, b) for shapes in (solid, flat) for a in shapes for b in shapes]
    answers = [contact(a, b) for a, b in pairs]
    for (a, b), cold in zip(pairs, answers, strict=True):
        for start in answers:
            same(contact(a, b, start=start), cold, a, b)


def test_boxes_that_slide_rest_and_turn_on_each_other():
    rng = np.random.default_rng(3)
    a, last = Box((0, 0, 0), (2, 2, 1)), None
    for k in range(200):
        turn = (np.cos(0.01 * k), 0, 0, np.sin(0.01 * k)) if k > 50 else (1, 0, 0, 0)
        b = Box((0.01 * k, 0.3, 1.0 - 0.002 * rng.integers(-1, 3)), (1, 1, 1), turn)
        cold = contact(a, b)
        same(contact(a, b, start=last), cold, a, b)
        last = contact(a, b, start=last)


def test_one_support_point_settles_what_stands_still():
    rng = np.random.default_rng(5)
    for _ in range(60):
        points = rng.normal(size=(2, 30, 3))
        points /= np.linalg.norm(points, axis=2)[:, :, None]
        a, b = ConvexHull(points[0]), ConvexHull(points[1] + rng.uniform(0.3, 2.0, 3))
        cold = contact(a, b)
        warm = contact(a, b, start=cold)
        assert warm.iterations <= 2
        same(warm, cold, a, b)
        direction = cold.normal
        assert gjk_intersects(a, b, direction) == cold.intersects


def test_epa_goes_on_only_where_its_polytope_still_is_one():
    rng = np.random.default_rng(6)
    again = 0
    for _ in range(60):
        a, b = ConvexHull(rng.normal(size=(20, 3))), ConvexHull(rng.normal(size=(20, 3)) + rng.normal(size=3))
        proof = contact(a, b).certificate
        for size in (0.0, 1e-3, 0.3):
            moved = ConvexHull(b.vertices @ axis_turn(rng.normal(size=3), size).T + size * rng.normal(size=3))
            if len(moved.vertices) != len(b.vertices):
                continue
            found = epa_again(a, moved, proof.pairs, proof.facets)
            simplex = gjk(a, moved)
            if found is not None:
                again += 1
                assert simplex.intersects
                assert np.isclose(found.depth, epa(a, moved, simplex).depth, rtol=1e-12, atol=1e-12)
    assert again > 40


def test_starts_of_gjk_that_are_none_are_refused():
    a, b = ConvexHull(np.eye(3)), ConvexHull(np.eye(3) + 2.0)
    for start in ([(0, 3)], [(-1, 0)], [(0, 0), (0, 1), (1, 0), (1, 1)]):
        with pytest.raises(ValueError, match=r"^start"):
            gjk(a, b, start=start)
    with pytest.raises(ValueError, match=r"^start"):
        contact(a, b, start=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^direction"):
        gjk_intersects(a, b, np.zeros(3))


def test_curved_shapes_take_a_start_too():
    a, b = Sphere((0, 0, 0), 1.0), Sphere((1.5, 0, 0), 1.0)
    last = contact(a, b)
    assert contact(a, b, start=last).relation == last.relation == Relation.PENETRATING
    hull = ConvexHull(np.eye(3))
    assert contact(hull, b, start=last).signed_distance == contact(hull, b).signed_distance


# ---------------------------------------------------------------------------------------------------------------------
# Many pairs


def scene(rng: np.random.Generator, count: int) -> list:
    shapes: list = []
    for k in range(count):
        place = rng.uniform(-1.5, 1.5, 3) * count ** (1 / 3)
        if k % 3 == 0:
            shapes.append(Box(place, rng.uniform(0.5, 2.0, 3), rng.normal(size=4)))
        elif k % 10 == 1:
            shapes.append(Sphere(place, 0.7))
        else:
            shapes.append(ConvexHull(shape_of(rng, int(rng.integers(4))) + place))
    return shapes


def moved(shape, way: np.ndarray):
    if isinstance(shape, Sphere):
        return Sphere(shape.center + way, shape.radius)
    if isinstance(shape, Box):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = shape.axes.T, shape.center + way
        return Box.from_matrix(matrix, -shape.half, shape.half)
    return ConvexHull(shape.vertices + way)


@pytest.mark.parametrize("options", [{}, {"distances": False, "regions": False}])
@pytest.mark.parametrize(("count", "pairs"), [(12, 40), (30, 1_000), (40, 20_000), (80, None)])
def test_scenes_in_which_some_move_say_what_they_say_from_cold(options, count, pairs):
    if pairs is not None and pairs > 2_000 and not options:
        pairs = 2_000
    rng = np.random.default_rng(count)
    shapes, last = scene(rng, count), None
    numbers = None if pairs is None else rng.integers(0, count, (pairs, 2))
    for frame in range(4):
        cold = contacts(shapes, numbers, clearance=0.2, **options)
        warm = contacts(shapes, numbers, clearance=0.2, start=last, **options)
        assert np.array_equal(warm.pairs, cold.pairs)
        assert warm.relations == cold.relations
        bounds = np.isnan(cold.point_on_a).any(axis=1) | np.isnan(warm.point_on_a).any(axis=1)
        assert not (bounds.any() and not options)
        assert np.allclose(warm.signed_distance[~bounds], cold.signed_distance[~bounds], rtol=1e-9, atol=1e-9)
        assert (warm.lower_bound <= cold.upper_bound).all()
        assert (cold.lower_bound <= warm.upper_bound).all()
        assert (warm.region is None) == (cold.region is None)
        if warm.region is not None and cold.region is not None:
            assert [r is None for r in warm.region] == [r is None for r in cold.region]
        last = warm
        for k in rng.choice(count, count // 3, replace=False).tolist():
            shapes[k] = moved(shapes[k], rng.normal(size=3) * 10.0 ** rng.uniform(-6, -0.5))
        if frame == 2:  # others come and go: numbers say nothing any more
            shapes[0], shapes[5], shapes[7] = shapes[7], shapes[0], shapes[5]


@pytest.mark.parametrize("dim", [2, 3])
def test_answers_of_other_shapes_are_starts_of_many_pairs_too(dim):
    """Other shapes and other numbers of them, the same ones in another order, in the plane and in space, light ones."""
    rng = np.random.default_rng(dim)
    sets = [
        [ConvexHull(few_or_many_points(rng, d, True) + rng.integers(-2, 3, d)) for _ in range(count)]
        for d, count in ((dim, 12), (dim, 5), (dim, 30), (5 - dim, 12))
    ]
    sets.append(sets[0][::-1])
    cold = contacts(sets[0])
    starts = [contacts(shapes) for shapes in sets]
    starts += [contacts(sets[2], distances=False, regions=False), contacts(sets[0], others=sets[1])]
    for start in starts:
        warm = contacts(sets[0], start=start)
        assert np.array_equal(warm.pairs, cold.pairs)
        assert warm.relations == cold.relations
        assert np.allclose(warm.signed_distance, cold.signed_distance, rtol=1e-9, atol=1e-9)
        assert np.array_equal(warm.status, cold.status)


def test_what_did_not_move_is_not_looked_at_again(monkeypatch):
    shapes = scene(np.random.default_rng(1), 30)
    last = contacts(shapes)
    asked: list = []
    module = sys.modules["contact_lens.core.batched.contacts"]
    monkeypatch.setattr(module, "contact", lambda a, b, **_: asked.append((a, b)) or contact(a, b))
    again = contacts(shapes, start=last)
    assert not asked
    assert again.signed_distance.tobytes() == last.signed_distance.tobytes()
    assert again.region == last.region
    turned, back = shapes[::-1], len(shapes) - 1 - last.pairs
    assert np.array_equal(contacts(turned, back, start=last).signed_distance, last.signed_distance)
    assert not asked
    contacts(turned, back[:, ::-1], start=last)
    assert len(asked) == len(last)  # A and B have changed places
    for options in ({"clearance": 0.1}, {"contact_tolerance": 1e-4}, {"method": "sat"}):
        asked.clear()
        contacts(shapes, start=last, **options)
        assert asked


def test_two_sets_start_from_the_last_answer_too():
    rng = np.random.default_rng(2)
    first, second = scene(rng, 25), scene(rng, 20)
    last = contacts(first, others=second)
    first[3] = moved(first[3], np.full(3, 1e-3))
    warm, cold = contacts(first, others=second, start=last), contacts(first, others=second)
    assert np.array_equal(warm.pairs, cold.pairs)
    assert warm.relations == cold.relations
    assert np.allclose(warm.signed_distance, cold.signed_distance, rtol=1e-9, atol=1e-9)
    light = contacts(first, others=second, certificates=False)
    assert contacts(first, others=second, start=light).relations == cold.relations
    assert contacts(first, start=last).relations == contacts(first).relations
    with pytest.raises(ValueError, match=r"^start"):
        contacts(first, start=contact(first[0], second[0]))  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, 40, 1_000, 20_000])
def test_hulls_that_move_little_are_known_without_a_look(count):
    """Thousands of pairs along random paths: what is said is what is said from cold."""
    rng = np.random.default_rng(count)
    local = [ConvexHull(shape_of(rng, int(rng.integers(3)))) for _ in range(60)]
    table = HullTable.of(local)
    centers, axes = rng.uniform(-2, 2, (60, 3)), np.array([rotation(rng) for _ in local])
    i, j = np.ascontiguousarray(rng.integers(0, 60, (count, 2)).T)
    last, before = None, table.posed(axes, centers)
    kept = 0
    for speed in (0.0, 1e-12, 1e-3, 1e-2, 1e-4, 0.3, 1e-3, 0.05):
        axes = np.array([a @ axis_turn(rng.normal(size=3), speed * rng.random()) for a in axes])
        centers = centers + speed * rng.normal(size=(60, 3))
        now = table.posed(axes, centers)
        motion = motion_bounds(before, now)
        if last is not None:
            kept += int((last.margin > motion[i] + motion[j]).sum())
        warm, cold = update_states(now, i, j, last, motion), intersect_hulls(now, i, j)
        both = (warm.state != OPEN) & (cold != OPEN)
        assert both.mean() > 0.9 or count < 1_000
        assert np.array_equal(warm.state[both], cold[both])
        some = rng.choice(count, min(count, 40), replace=False).tolist()
        for k in some:  # the margin is no more than the distance or the depth
            a, b = (ConvexHull(local[n].vertices @ axes[n] + centers[n]) for n in (i[k], j[k]))
            true = contact(a, b).signed_distance
            assert warm.margin[k] <= abs(true) + 1e-12
            assert warm.state[k] != (APART if true < -1e-9 else MEET if true > 1e-9 else None)
        last, before = warm, now
    assert kept > 2 * count or count < 1_000


def test_tables_are_moved_again():
    rng = np.random.default_rng(5)
    local = [ConvexHull(rng.normal(size=(9, 3))) for _ in range(40)]
    one, other = (np.array([rotation(rng) for _ in local]) for _ in range(2))
    table = HullTable.of(local)
    centers = rng.uniform(-1.5, 1.5, (40, 3))
    twice = table.posed(one, np.zeros((40, 3))).posed(other, centers)
    at_once = table.posed(one @ other, centers)
    numbers, points = rng.integers(0, 40, 2_000), rng.normal(size=(3, 2_000))
    assert np.allclose(twice.gauge(numbers, points), at_once.gauge(numbers, points), rtol=1e-6)
    assert motion_bounds(twice, at_once).max() <= 1e-12


def test_motions_are_those_of_the_corners():
    rng = np.random.default_rng(4)
    local = [ConvexHull(rng.normal(size=(n, 3))) for n in (5, 9, 40)]
    table = HullTable.of(local)
    axes, centers = np.array([rotation(rng) for _ in local]), rng.normal(size=(3, 3))
    moved_table = table.posed(axes, centers)
    true = [
        np.linalg.norm(h.vertices @ a + c - h.vertices, axis=1).max()
        for h, a, c in zip(local, axes, centers, strict=True)
    ]
    assert (motion_bounds(table, moved_table) >= true).all()
    assert (
        motion_bounds(table, table.posed(np.array([np.eye(3)] * 3), centers)) <= np.linalg.norm(centers, axis=1) + 1e-12
    ).all()
