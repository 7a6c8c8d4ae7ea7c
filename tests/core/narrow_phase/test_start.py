# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that start from the last one agree with those from cold."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Contact,
    ConvexHull,
    Relation,
    ShapeSet,
    Sphere,
    contact,
    contacts,
    epa,
    gjk,
    gjk_intersects,
    pairs_intersect,
)
from contact_lens.core.many import contacts as front_door
from contact_lens.core.many.batched.coherence import motion_bounds
from contact_lens.core.many.batched.hull_table import HullTable
from contact_lens.core.narrow_phase.epa import epa_again

from ..assertions import assert_verified
from ..generators import CLASSES, CUBE, direction, disc, pair, rotation, rotation_about, sphere_points
from ..oracles import tolerance


def numbers(answer: Contact) -> tuple:
    """The fields of an answer that `verify` reads, besides those that follow from them."""
    arrays = answer.normal, answer.ties, answer.point_on_a, answer.point_on_b
    proof = answer.certificate
    names = proof.index_a, proof.index_b, proof.weights, proof.pairs, proof.facets
    return answer.status, answer.signed_distance, *(array.tobytes() for array in arrays), *names


def assert_same(warm: Contact, cold: Contact, a, b) -> None:
    """An answer from a start is verified and agrees with the one from cold."""
    tol = 2e-10 * min(a.extent, b.extent) + 2.0 * tolerance([a.magnitude], [b.magnitude], cold.signed_distance)
    assert (warm.relation, warm.status) == (cold.relation, cold.status)
    assert warm.intersects == cold.intersects or abs(cold.signed_distance) <= tol
    assert abs(warm.signed_distance - cold.signed_distance) <= tol
    assert warm.lower_bound <= cold.upper_bound
    assert warm.upper_bound >= cold.lower_bound
    assert (warm.region is None) == (cold.region is None)
    if len(cold.ties) == 1 and abs(cold.signed_distance) > 1e-4 * a.extent:
        assert np.allclose(warm.normal, cold.normal, rtol=0, atol=1e-6)


def shape_of(rng: np.random.Generator, kind: int) -> np.ndarray:
    """A box, a round hull, a simplex or a square in space."""
    size = rng.uniform(0.5, 1.5, 3)
    return (
        CUBE * size if kind == 0
        else sphere_points(rng, int(rng.integers(4, 60))) if kind == 1
        else rng.normal(size=(5, 3)) * 0.7 if kind == 2
        else CUBE[:4] * size
    )  # fmt: skip


def few_points(rng: np.random.Generator, dim: int, lattice: bool) -> np.ndarray:
    """One point and more; on the lattice doubled, in one plane or on one line too."""
    count = int(rng.choice([1, 2, 3, 4, 6, 10, 20]))
    if not lattice:
        return rng.normal(size=(count, dim))
    points = rng.integers(-2, 3, (count, dim)).astype(float)
    points[:, int(rng.integers(2, dim + 2)) :] = 0.0
    return points


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_along_random_paths_through_contact_and_back(seed):
    """Pairs pass through each other with steps of all sizes, some of which are none."""
    rng = np.random.default_rng(seed)
    met = 0
    for _ in range(15):
        local = [shape_of(rng, int(rng.integers(4))) for _ in range(2)]
        along, axis, speed = direction(rng), rng.normal(size=3), 10.0 ** rng.uniform(-4, 0)
        turn = rotation(rng) if rng.integers(2) else np.eye(3)
        a, last = ConvexHull(local[0]), None
        for place in np.sin(np.linspace(0.0, np.pi, int(rng.integers(4, 16)))) * 3.0 - 3.2 + rng.uniform(0, 1):
            turn = rotation_about(axis, speed) @ turn
            # The last time's answer may be of a step that is tiny, or none at all.
            for shift in (0.0, 0.0, 10.0 ** rng.uniform(-12, -2)):
                b = ConvexHull(local[1] @ turn.T + (place + shift) * along)
                cold = contact(a, b, clearance=0.1)
                warm = contact(a, b, clearance=0.1, start=last)
                assert_same(warm, cold, a, b)
                assert_verified(warm, a, b)
                met += cold.intersects and last is not None
                last = warm
    assert met > 60


@pytest.mark.parametrize("offset", range(3))
def test_any_start_will_do(offset):
    """The answer of a pair of another class, of the same pair, of the same one with the shapes exchanged."""
    last = None
    for k in range(2 * len(CLASSES)):
        a, b = map(ConvexHull, pair(41 + offset, k)[1:])
        cold = contact(a, b)
        for start in (last, cold, contact(b, a)):
            assert_same(contact(a, b, start=start), cold, a, b)
        last = cold


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("lattice", [True, False])
@pytest.mark.parametrize("dim", [2, 3])
def test_foreign_and_stale_starts_change_no_answer(dim, lattice):
    """1,000 times each the answer of another pair, of the same pair with the shapes exchanged, and of the same pair
    before a turn that gives its vertices other numbers. Hulls of one, two or few points have not all the vertices
    named, and a start of the plane has no meaning in space."""
    rng = np.random.default_rng((dim, lattice))
    points = [few_points(rng, dim, lattice) for _ in range(60)]
    pairs, starts = [], []
    for _ in range(50):
        p, q = (points[k] for k in rng.integers(0, len(points), 2))
        q = q + (rng.integers(-2, 3, dim) if lattice else rng.normal(size=dim))
        a, b = ConvexHull(p), ConvexHull(q)
        # A turn, or a mirror image, that the lattice has too.
        turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
        if lattice:
            turn = np.eye(dim)[rng.permutation(dim)] * rng.choice([-1.0, 1.0], dim)
        pairs.append((a, b, contact(a, b)))
        before = ConvexHull(rng.permutation(p @ turn)), ConvexHull(rng.permutation(q @ turn))
        starts.append((contact(*before), contact(b, a)))
    foreign = [cold for _, _, cold in pairs]
    foreign += [contact(*(ConvexHull(rng.integers(-2, 3, (8, 5 - dim))) for _ in range(2))) for _ in range(10)]
    assert {Relation.SEPARATED, Relation.PENETRATING} <= {cold.relation for cold in foreign}
    for (a, b, cold), own in zip(pairs, starts, strict=True):
        assert_verified(cold, a, b)
        verified = {numbers(cold)}
        for start in (*own, *(foreign[k] for k in rng.integers(0, len(foreign), 18))):
            warm = contact(a, b, start=start)
            assert_same(warm, cold, a, b)
            if numbers(warm) not in verified:
                assert_verified(warm, a, b)
                verified.add(numbers(warm))


def test_a_polytope_that_goes_round_twice_is_not_grown():
    """A five-sided bipyramid whose vertices got other numbers, so that its facets follow a pentagram: bent outward
    everywhere, all facing away from the origin, and yet no polytope."""
    points = np.concatenate([disc(5), [[0, 0, 1.1], [0, 0, -1.2]]])
    a, b = ConvexHull(points), ConvexHull([[0.0, 0.0, 0.0]])
    named = np.linalg.norm(a.vertices[None] - points[:, None], axis=2).argmin(axis=1).tolist()
    pairs = [(k, 0) for k in named]
    for step, found in ((1, True), (2, False)):
        sides = [(step * k % 5, step * (k + 1) % 5) for k in range(5)]
        facets = [(i, j, 5) for i, j in sides] + [(j, i, 6) for i, j in sides]
        assert (epa_again(a, b, pairs, facets) is not None) == found
    # Nor one with corners on one line.
    line = ConvexHull([[-1, 0, 0], [1, 0, 0]])
    pairs, facets = [(0, 0), (1, 0), (0, 1), (1, 1)], [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)]
    assert epa_again(line, line, pairs, facets) is None


def test_answers_of_other_kinds_of_shapes_are_starts_too():
    """Boxes, hulls and spheres in space, and polygons: each pair from the answers of many others."""
    solid = [Box((0, 0, 0), (2, 2, 2)), Box((1, 1, 1), (1, 1, 1)), ConvexHull(np.eye(3)), Sphere((1, 0, 0), 0.5)]
    solid += [Box((5, 0, 0), (1, 1, 1)), ConvexHull([[0.5, 0.5, 1.0]])]
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]])
    flat = [ConvexHull(square), ConvexHull(square + [1, 2]), ConvexHull(square[:1]), ConvexHull(square[:2] + 0.5)]
    pairs = [(a, b) for shapes in (solid, flat) for a in shapes for b in shapes]
    answers = [contact(a, b) for a, b in pairs]
    for k, ((a, b), cold) in enumerate(zip(pairs, answers, strict=True)):
        for start in answers[k % 4 :: 4]:
            assert_same(contact(a, b, start=start), cold, a, b)


def test_one_support_point_settles_what_stands_still():
    rng = np.random.default_rng(5)
    for _ in range(40):
        a, b = ConvexHull(sphere_points(rng, 30)), ConvexHull(sphere_points(rng, 30) + rng.uniform(0.3, 2.0, 3))
        cold = contact(a, b)
        warm = contact(a, b, start=cold)
        assert warm.iterations <= 2
        assert_same(warm, cold, a, b)
        assert gjk_intersects(a, b, cold.normal) == cold.intersects


def test_epa_goes_on_only_where_its_polytope_still_is_one():
    rng = np.random.default_rng(6)
    again = 0
    for _ in range(60):
        a, b = ConvexHull(rng.normal(size=(20, 3))), ConvexHull(rng.normal(size=(20, 3)) + rng.normal(size=3))
        proof = contact(a, b).certificate
        for size in (0.0, 1e-3, 0.3):
            image = ConvexHull(b.vertices @ rotation_about(rng.normal(size=3), size).T + size * rng.normal(size=3))
            found = epa_again(a, image, proof.pairs, proof.facets) if len(image.vertices) == len(b.vertices) else None
            if found is not None:
                again += 1
                simplex = gjk(a, image)
                assert simplex.intersects
                assert np.isclose(found.depth, epa(a, image, simplex).depth, rtol=1e-12, atol=1e-12)
    assert again > 40


def test_starts_of_gjk_that_are_none_are_refused():
    a, b = ConvexHull(np.eye(3)), ConvexHull(np.eye(3) + 2.0)
    for start in ([(0, 3)], [(-1, 0)], [(0, 0), (0, 1), (1, 0), (1, 1)]):
        with pytest.raises(ValueError, match=r"^start"):
            gjk(a, b, start=start)
    with pytest.raises(ValueError, match=r"^start"):
        contact(a, b, start=1)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------------------
# Many pairs


def assert_same_scene(warm, cold) -> None:
    assert np.array_equal(warm.pairs, cold.pairs)
    assert (warm.relation == cold.relation).all()
    # A pair known to be apart without its distance has no witness points.
    known = ~(np.isnan(cold.point_on_a) | np.isnan(warm.point_on_a)).any(axis=1)
    assert np.allclose(warm.signed_distance[known], cold.signed_distance[known], rtol=1e-9, atol=1e-9)
    assert (warm.lower_bound <= cold.upper_bound).all()
    assert (cold.lower_bound <= warm.upper_bound).all()
    assert (warm.region is None) == (cold.region is None)
    if warm.region is not None:
        assert known.all()
        assert [r is None for r in warm.region] == [r is None for r in cold.region]


def scene(rng: np.random.Generator, count: int) -> list:
    """Boxes, some spheres, and hulls of all kinds."""
    shapes: list = [ConvexHull(shape_of(rng, int(rng.integers(4)))) for _ in range(count)]
    shapes[1::10] = [Sphere((0, 0, 0), 0.7) for _ in shapes[1::10]]
    shapes[::3] = [Box((0, 0, 0), rng.uniform(0.5, 2.0, 3), rng.normal(size=4)) for _ in shapes[::3]]
    return [shape.translated(rng.uniform(-1.5, 1.5, 3) * count ** (1 / 3)) for shape in shapes]


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("options", [{}, {"distances": False, "regions": False}])
@pytest.mark.parametrize(
    ("count", "pairs"), [(12, 40), (30, 1_000), pytest.param(40, 20_000, marks=pytest.mark.slow), (80, None)]
)
def test_scenes_in_which_some_move_have_the_answers_from_cold(options, count, pairs):
    rng = np.random.default_rng(count)
    shapes, last = scene(rng, count), None
    numbers = None if pairs is None else rng.integers(0, count, (pairs if options else min(pairs, 2_000), 2))
    for frame in range(4):
        cold = contacts(shapes, numbers, clearance=0.2, **options)
        last = contacts(shapes, numbers, clearance=0.2, start=last, **options)
        assert_same_scene(last, cold)
        for k in rng.choice(count, count // 3, replace=False).tolist():
            shapes[k] = shapes[k].translated(rng.normal(size=3) * 10.0 ** rng.uniform(-6, -0.5))
        if frame == 2:  # others come and go: numbers mean nothing any more
            shapes[0], shapes[5], shapes[7] = shapes[7], shapes[0], shapes[5]


@pytest.mark.parametrize("dim", [2, 3])
def test_answers_of_other_shapes_are_starts_of_many_pairs_too(dim):
    """Other shapes and other numbers of them, the same ones in another order, in the plane and in space, light ones."""
    rng = np.random.default_rng(dim)
    sets = [
        [ConvexHull(few_points(rng, d, True) + rng.integers(-2, 3, d)) for _ in range(count)]
        for d, count in ((dim, 12), (dim, 5), (dim, 30), (5 - dim, 12))
    ]
    sets.append(sets[0][::-1])
    cold = contacts(sets[0])
    starts = [contacts(shapes) for shapes in sets]
    starts += [contacts(sets[2], distances=False, regions=False), contacts(sets[0], others=sets[1])]
    for start in starts:
        warm = contacts(sets[0], start=start)
        assert_same_scene(warm, cold)
        assert np.array_equal(warm.status, cold.status)


def test_pairs_that_did_not_move_are_not_tested_again(monkeypatch):
    shapes = scene(np.random.default_rng(1), 30)
    last = contacts(shapes)
    asked: list[int] = []
    take_over = front_door.take_over

    def counted(*arguments):
        left = take_over(*arguments)
        asked.append(len(left))
        return left

    monkeypatch.setattr(front_door, "take_over", counted)
    again = contacts(shapes, start=last)
    assert not any(asked)
    assert again.signed_distance.tobytes() == last.signed_distance.tobytes()
    assert again.region[:] == last.region[:]
    turned, back = shapes[::-1], len(shapes) - 1 - last.pairs
    assert np.array_equal(contacts(turned, back, start=last).signed_distance, last.signed_distance)
    assert not any(asked)
    contacts(turned, back[:, ::-1], start=last)
    assert sum(asked) == len(last)  # A and B have changed places
    for options in ({"clearance": 0.1}, {"contact_tolerance": 1e-4}, {"method": "sat"}):
        asked.clear()
        contacts(shapes, start=last, **options)
        assert any(asked)


def test_two_sets_start_from_the_last_answer_too():
    rng = np.random.default_rng(2)
    first, second = scene(rng, 25), scene(rng, 20)
    last = contacts(first, others=second)
    first[3] = first[3].translated(np.full(3, 1e-3))
    cold = contacts(first, others=second)
    assert_same_scene(contacts(first, others=second, start=last), cold)
    light = contacts(first, others=second, certificates=False)
    assert (contacts(first, others=second, start=light).relation == cold.relation).all()
    assert (contacts(first, start=last).relation == contacts(first).relation).all()
    with pytest.raises(ValueError, match=r"^start"):
        contacts(first, start=contact(first[0], second[0]))  # type: ignore[arg-type]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("count", [1, 40, 1_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_hulls_that_move_little_are_known_without_a_test(count):
    """Thousands of pairs along random paths have the answers from cold, as long as a start is kept."""
    rng = np.random.default_rng(count)
    shapes = ShapeSet([ConvexHull(shape_of(rng, int(rng.integers(3)))) for _ in range(60)])
    poses = np.tile(np.eye(4), (60, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = [rotation(rng) for _ in shapes], rng.uniform(-2, 2, (60, 3))
    pairs, start = rng.integers(0, 60, (count, 2)), None
    for frame, speed in enumerate((0.0, 1e-12, 1e-3, 1e-2, 1e-4, 0.3, 1e-3, 0.05)):
        poses = poses.copy()
        for pose in poses:
            pose[:3, :3] = rotation_about(rng.normal(size=3), speed * rng.random()) @ pose[:3, :3]
            pose[:3, 3] += speed * rng.normal(size=3)
        warm = pairs_intersect(shapes, pairs, poses=poses, start=start)
        sure = np.ones(count, dtype=bool)
        if frame % 2 == 0:
            start = contacts(shapes, pairs, poses=poses, start=start, distances=False, regions=False)
            sure = np.abs(start.signed_distance) > 1e-9
            assert np.array_equal(warm[sure], start.intersects[sure])
        cold = pairs_intersect(shapes, pairs, poses=poses)
        assert np.array_equal(warm[sure], cold[sure])


def test_a_table_posed_twice_and_the_bounds_of_its_motion():
    rng = np.random.default_rng(5)
    local = [ConvexHull(rng.normal(size=(int(rng.integers(5, 40)), 3)) + [0.5, 0.0, 0.0]) for _ in range(40)]
    table, every = HullTable.of(local), np.arange(40)
    first, second = np.array([[rotation(rng) for _ in local] for _ in range(2)])
    second[::2] += 0.2 * rng.normal(size=(20, 3, 3))
    centers = rng.uniform(-1.5, 1.5, (40, 3))
    affine = [
        np.concatenate([linear, offsets[:, :, None]], axis=2).transpose(1, 2, 0)
        for linear, offsets in ((first, 0.0 * centers), (second, centers), (second @ first, centers))
    ]
    twice, at_once = table.posed(every, affine[0]).posed(every, affine[1]), table.posed(every, affine[2])
    numbers, points = rng.integers(0, 40, 2_000), rng.normal(size=(3, 2_000))
    assert np.allclose(twice.gauges_at(numbers, points), at_once.gauges_at(numbers, points), rtol=1e-6)
    tables = ShapeSet(local)._tables
    still, poses, translated = np.tile(np.eye(4), (3, 40, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3], translated[:, :3, 3] = second @ first, centers, centers
    moves = [h.transformed(pose).vertices - h.vertices for h, pose in zip(local, poses, strict=True)]
    longest = np.array([np.linalg.norm(move, axis=1).max() for move in moves])
    for before, now, sign in ((still, poses, 1.0), (poses, still, -1.0)):
        steps, more = motion_bounds(tables.sizes, tables.radii, before, now)
        bounds = np.linalg.norm(steps, axis=0) + more
        assert (bounds >= longest).all()
        assert (bounds <= 3.0 * longest).all()
        for i, j in rng.integers(0, 40, (100, 2)).tolist():
            relative = sign * (moves[j][None] - moves[i][:, None])
            bound = np.linalg.norm(steps[:, j] - steps[:, i]) + more[i] + more[j]
            assert np.linalg.norm(relative, axis=2).max() <= bound
    steps, more = motion_bounds(tables.sizes, tables.radii, poses, poses)
    assert not steps.any()
    assert more.max() <= 1e-12
    steps, more = motion_bounds(tables.sizes, tables.radii, still, translated)
    assert np.allclose(steps, centers.T, rtol=0, atol=1e-12)
    assert more.max() <= 1e-12
