# SPDX-License-Identifier: GPL-3.0-or-later
"""Deepest points: closed forms, dense samples, what may not matter, what has no answer, and answers that are wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from contact_lens.core import (
    Box,
    Cancelled,
    Capsule,
    Circle,
    Compound,
    ConvexHull,
    Cylinder,
    DeepestPoint,
    DeepestPoints,
    Mesh,
    Polygon,
    Sphere,
    deepest_point,
    verify,
)

from ..generators import as_matrix, box, cloud, rotation, rotation_about
from ..mesh_shapes import block, bumpy, flipped, joined, sheet, sphere, suzanne, torus


def assert_deepest(found: DeepestPoint | None, distance: float, relative: float = 1e-3) -> DeepestPoint:
    assert found is not None
    assert found.lower <= found.distance <= found.upper
    assert found.lower <= distance * (1.0 + 1e-12)
    assert found.upper >= distance * (1.0 - 1e-12)
    assert found.upper - found.lower <= 1.01 * relative * distance
    return found


def assert_verified(found: DeepestPoints, a, b) -> None:
    verification = verify(found, a, b)
    assert verification, str(verification)


def samples(mesh: Mesh, count: int, rng: np.random.Generator) -> np.ndarray:
    return trimesh.sample.sample_surface(
        trimesh.Trimesh(mesh.points, mesh.triangles), count, seed=int(rng.integers(9))
    )[0]


def sampled_depth(own: Mesh, other: Mesh, count: int, rng: np.random.Generator) -> float:
    """How deep the deepest of random points of a surface and its corners is inside a closed mesh."""
    points = np.concatenate([own.points, samples(own, count, rng)]) if count else own.points
    p, q, r = (other.points[other.triangles[:, k]] - points[:, None] for k in range(3))
    lp, lq, lr = (np.linalg.norm(side, axis=2) for side in (p, q, r))
    spread = lp * lq * lr + (p * q).sum(2) * lr + (q * r).sum(2) * lp + (r * p).sum(2) * lq
    turns = np.arctan2((p * np.cross(q, r)).sum(2), spread).sum(axis=1) / (2.0 * np.pi)
    inside = points[np.abs(turns) > 0.5]
    if not len(inside):
        return 0.0
    return float(trimesh.proximity.closest_point_naive(trimesh.Trimesh(other.points, other.triangles), inside)[1].max())


@pytest.mark.parametrize(("size", "far"), [(1.0, 0.0), (1.0, 1e6), (1e-6, 1e6), (1e6, 0.0)])
def test_boxes_in_each_other_are_as_deep_as_they_overlap_or_as_half_a_side(size: float, far: float) -> None:
    """A box through a side of another; a pin across a plate, of which one is deep by half its thickness."""
    place = size * far * np.array([1.0, -0.5, 0.25])
    a = Box(place, (2 * size, 2 * size, 2 * size))
    through = Box(place + size * np.array([1.5, 0.5, 0.0]), (2 * size, 2 * size, 4 * size))
    found = deepest_point(a, through)
    exact = 1e-9 if not far else 1e-6
    for deepest, point in ((found.of_a, 1.0), (found.of_b, 0.5)):
        assert_deepest(deepest, 0.5 * size, exact)
        assert deepest.point[0] == pytest.approx(place[0] + size * point, abs=1e-9 * size * max(far, 1.0))
        assert np.linalg.norm(deepest.point - deepest.nearest) == pytest.approx(deepest.distance)
    assert_verified(found, a, through)
    plate, pin = Box(place, (9 * size, 9 * size, size)), Box(place, (size / 4, size / 4, 9 * size))
    found = deepest_point(plate, pin)
    assert_deepest(found.of_a, 0.125 * size)
    assert_deepest(found.of_b, 0.5 * size)
    assert_verified(found, plate, pin)


def test_boxes_and_their_meshes_agree() -> None:
    rng = np.random.default_rng(5)
    for _ in range(3):
        shapes = [ConvexHull(box(rng.uniform(0.5, 2.0, 3)) @ rotation(rng) + shift) for shift in (0.0, 0.4)]
        meshes = [
            Mesh(hull.vertices, [(f[0], *f[k : k + 2]) for f in hull.facets for k in range(1, len(f) - 1)])
            for hull in shapes
        ]
        expected = deepest_point(*shapes)
        for pair in (meshes, (meshes[0], shapes[1]), (shapes[0], meshes[1])):
            found = deepest_point(*pair)
            for own, other in ((found.of_a, expected.of_a), (found.of_b, expected.of_b)):
                assert (own is None) == (other is None)
                if own is not None:
                    assert own.distance == pytest.approx(other.distance, rel=1e-5)
    assert_verified(expected, *shapes)
    assert_verified(found, *pair)


def test_round_shapes_are_as_deep_as_their_formulas_say() -> None:
    ball, inner, through = Sphere((0, 0, 0), 1.0), Sphere((0.2, 0, 0), 0.5), Sphere((1.2, 0, 0), 0.5)
    found = deepest_point(inner, ball)
    assert_deepest(found.of_a, 0.7)
    assert found.of_b is None
    found = deepest_point(through, ball)
    assert_deepest(found.of_a, 0.3)
    assert_deepest(found.of_b, 0.3)
    assert found.of_a.point == pytest.approx([0.7, 0, 0], abs=0.02)
    room = Box((0, 0, 0), (4, 4, 4))
    for shape, depth, of_room in (
        (Sphere((1.5, 0, 0), 1.0), 1.5, 1.0 - 0.5),
        (Capsule((1.5, -1, 0), (1.5, 1, 0), 0.75), 0.75 + 0.5, 0.25),
        (Cylinder((1.5, 0, -3), (1.5, 0, 3), 0.75), 0.75 + 0.5, 0.75),
    ):
        found = deepest_point(shape, room)
        assert_deepest(found.of_a, depth)
        assert_deepest(found.of_b, of_room)
    assert_verified(found, shape, room)
    # A ball that reaches through a corner of a mesh.
    corner = Mesh(*block((2, 2, 2)))
    found = deepest_point(Sphere((0, 0, 0), 0.5), corner)
    assert_deepest(found.of_a, 0.5 / np.sqrt(3.0))
    assert_deepest(found.of_b, 0.5)
    assert_verified(found, Sphere((0, 0, 0), 0.5), corner)


def test_shapes_in_the_plane() -> None:
    square, other = Polygon([(0, 0), (4, 0), (4, 4), (0, 4)]), Polygon([(3, 1), (8, 1), (8, 3), (3, 3)])
    found = deepest_point(square, other)
    assert_deepest(found.of_a, 1.0)
    assert_deepest(found.of_b, 1.0)
    assert found.of_a.point == pytest.approx([4, 2])
    assert_verified(found, square, other)
    round_one = Circle((4.5, 2), 1.0)
    found = deepest_point(square, round_one)
    assert_deepest(found.of_a, 0.5)
    assert_deepest(found.of_b, 0.5)
    assert_verified(found, square, round_one)
    assert deepest_point(square, other.translated([2, 0])) == DeepestPoints(None, None)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.fast_cases(1)
def test_samples_of_meshes_are_never_deeper_and_pose_and_order_do_not_matter(seed: int) -> None:
    """Bumpy solids: not convex, no edge as another; swapped, moved, mirrored, scaled, and in another order."""
    rng = np.random.default_rng(seed)
    points, triangles = bumpy(rng, 5)
    a = Mesh(points, triangles)
    other, others = bumpy(rng, 5)
    b = Mesh(other @ rotation(rng).T + rng.uniform(-0.8, 0.8, 3), others)
    found = deepest_point(a, b)
    assert_verified(found, a, b)
    for deepest, own, mesh in ((found.of_a, a, b), (found.of_b, b, a)):
        depth = sampled_depth(own, mesh, 1500, rng)
        assert depth <= deepest.upper
        assert sampled_depth(Mesh(deepest.point[None], [[0, 0, 0]]), mesh, 0, rng) == pytest.approx(deepest.distance)
        assert deepest.upper - deepest.lower <= 1.01e-3 * deepest.distance
    swapped = deepest_point(b, a)
    assert (swapped.of_a.distance, swapped.of_b.distance) == (found.of_b.distance, found.of_a.distance)
    matrix = as_matrix(2.0 * rotation(rng) * rng.choice([1.0, -1.0]), [5.0, -3.0, 7.0])
    order, mixed = rng.permutation(len(points)), rng.permutation(len(triangles))
    shuffled = Mesh(points[order], np.argsort(order)[triangles[mixed]])
    for again, scale in (
        (deepest_point(a.transformed(matrix), b.transformed(matrix)), 2.0),
        (deepest_point(shuffled, b), 1.0),
    ):
        for one, same in ((found.of_a, again.of_a), (found.of_b, again.of_b)):
            assert same.lower <= scale * one.upper * (1.0 + 1e-9)
            assert same.upper >= scale * one.lower * (1.0 - 1e-9)


def test_fine_grids_of_flat_sides_end_early_with_bounds_that_hold() -> None:
    """Where sides face each other everywhere, each point is as deep."""
    fine, turn = 8, as_matrix(rotation_about((0, 0, 1), 0.3), [0.1, 0.05, 0.97])
    side, low = sheet(fine)
    points = np.concatenate([side, side + [0, 0, 1]])
    # A box of two fine sides, and four that end in the corners of these.
    k = np.arange(fine)
    rim = np.concatenate([k * (fine + 1), fine * (fine + 1) + k, fine + (fine - k) * (fine + 1), fine - k])
    rim = np.unique(np.concatenate([rim, [0, fine, fine * (fine + 1), (fine + 1) ** 2 - 1]]))
    rim = rim[np.argsort(np.arctan2(*(side[rim, :2] - 0.5).T[::-1]))]
    after, top = np.roll(rim, -1), len(side)
    walls = np.concatenate([np.stack([rim, after, after + top], 1), np.stack([rim, after + top, rim + top], 1)])
    a = Mesh(points, np.concatenate([low[:, ::-1], low + top, walls]))
    assert a.is_closed
    assert a.volume == pytest.approx(1.0)
    # A cup of it is not convex.
    b = Mesh(*joined([(a.points, a.triangles), flipped(block((0.4, 0.4, 0.4), (0.3, 0.3, 0.3)))])).transformed(turn)
    calls: list[float] = []
    found = deepest_point(a, b, progress=calls.append)
    assert len(calls) < 200
    assert_deepest(found.of_a, 0.03, 2e-2)
    assert_deepest(found.of_b, 0.03, 2e-2)
    assert_verified(found, a, b)


def test_what_is_apart_touches_coincides_or_is_nested() -> None:
    cube, finer = Mesh(*block()), Mesh(*block())
    beside, away = cube.translated([1, 0, 0]), cube.translated([3, 0, 0])
    for other in (beside, away, finer, cube.translated([1, 0.3, 0.2])):
        found = deepest_point(cube, other)
        assert (found.of_a, found.of_b, found.unsupported_reason) == (None, None, "")
    assert_verified(found, cube, other)
    hulls = Box((0, 0, 0), (1, 1, 1)), Box((1, 0.3, 0), (1, 1, 1))
    assert deepest_point(*hulls) == DeepestPoints(None, None)
    shell = Mesh(*joined([block((4, 4, 4), (-1.5, -1.5, -1.5)), flipped(block((2, 2, 2), (-0.5, -0.5, -0.5)))]))
    inner = Mesh(*block((0.5, 0.5, 0.5)))
    assert deepest_point(inner, shell) == DeepestPoints(None, None)
    nested = deepest_point(cube, Mesh(*block((4, 4, 4), (-1, -1.5, -1.5))))
    assert_deepest(nested.of_a, 2.0, 1e-5)
    assert nested.of_b is None
    # Wound inward it is the same solid.
    assert deepest_point(inner, Mesh(*flipped(block()))).of_a.distance == pytest.approx(0.25 + 0.25)


def test_a_plane_through_the_corners_of_a_sphere_meets_only_its_edges() -> None:
    plane, ball = Mesh(*sheet(1, 9.0, (-3.0, -4.0, 0.0))), Mesh(*sphere(6))
    found = deepest_point(plane, ball)
    # The polygon around the equator, and the sides that lean inward from there.
    assert found.of_a.distance == pytest.approx(
        sampled_depth(Mesh(*sheet(40, 2.0, (-1, -1, 0))), ball, 0, np.random.default_rng(1)), rel=2e-3
    )
    assert found.of_a.point[2] == 0.0
    assert found.of_b is None
    assert found.unsupported_reason == "A is open: only a closed mesh has an inside."
    assert_verified(found, plane, ball)


def test_what_has_no_inside_says_so_and_is_measured_inside_of_others() -> None:
    room = Mesh(*block((9, 9, 9), (-4.5, -4.5, -4.5)))
    monkey = Mesh(*suzanne(0))
    found = deepest_point(monkey, room)
    assert found.of_b is None
    assert found.unsupported_reason == "A is open: only a closed mesh has an inside."
    depth = 4.5 - np.abs(monkey.points).max(axis=1).min()
    assert found.of_a.distance >= depth * (1.0 - 1e-9)
    assert_verified(found, monkey, room)
    crossed = Mesh(*joined([block(), block((1, 1, 1), (0.5, 0.5, 0.5))]))
    flat, pieces = (
        ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0]]),
        Compound([Box((0, 0, 0), (1, 1, 1)), Box((1, 0, 0), (1, 1, 1))]),
    )
    for shape, reason in (
        (crossed, "B crosses itself: it has no clear inside."),
        (flat, "B is flat: it has no inside."),
        (Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]]), "B encloses nothing: it has no inside."),
        (pieces, "B is a compound: surfaces of its pieces are inside of it, so take its mesh or a single piece."),
    ):
        found = deepest_point(room, shape)
        assert found.unsupported_reason == reason
        assert found.of_a is None
        assert (found.of_b is None) == (shape is pieces)
        assert_verified(found, room, shape)
    assert deepest_point(Compound([Box((0, 0, 0), (1, 1, 1))]), room).of_a.distance == pytest.approx(4.0)
    both = deepest_point(monkey, flat).unsupported_reason
    assert both == "A is open: only a closed mesh has an inside. B is flat: it has no inside."


def test_answers_that_are_wrong_fail() -> None:
    rng = np.random.default_rng(3)
    pairs = (
        (Mesh(*bumpy(rng, 3)), Mesh(*bumpy(rng, 3)).translated([0.7, 0.2, 0.1])),
        (ConvexHull(cloud(rng, 20)), ConvexHull(cloud(rng, 20) + 0.3)),
        (Mesh(*torus(9, 6)), Sphere((1.0, 0, 0.2), 0.4)),
    )
    for a, b in pairs:
        found = deepest_point(a, b)
        assert_verified(found, a, b)
        good = found.of_a
        away = (good.nearest - good.point) / good.distance
        # A point near the deepest one that is not, with all else as it is there.
        shorter = replace(good, distance=0.98 * good.distance, lower=0.97 * good.distance, upper=0.981 * good.distance)
        forged = (
            replace(good, distance=1.01 * good.distance, upper=1.02 * good.distance),
            replace(good, lower=1.001 * good.distance, upper=1.002 * good.distance),
            replace(good, upper=0.99 * good.distance),
            replace(good, point=good.point + 0.01 * away * good.distance),
            replace(good, nearest=good.nearest + 0.01 * away * good.distance),
            replace(good, lower=-good.lower),
            replace(good, distance=np.nan),
            replace(good, point=good.point[:2]),
            shorter,
            replace(shorter, point=good.point + 0.02 * away * good.distance),
            None,
        )
        for wrong in forged if isinstance(b, Mesh) else forged[::4]:
            assert not verify(replace(found, of_a=wrong), a, b), wrong
        assert not verify(replace(found, unsupported_reason="B is open."), a, b)
        if not np.isclose(found.of_a.distance, found.of_b.distance, rtol=1e-6):
            assert not verify(DeepestPoints(found.of_b, found.of_a), a, b)
    # A real point of the surface, measured rightly, that is not the deepest one.
    a, b = Box((0, 0, 0), (2, 2, 2)), Mesh(*block((4, 4, 4), (0.5, -2, -2)))
    good = deepest_point(a, b).of_a
    beside = DeepestPoint(0.49, 0.49 - 1e-9, 0.49 + 1e-9, np.array([0.99, 1, 0]), np.array([0.5, 1, 0]))
    assert good.distance == pytest.approx(0.5)
    assert not verify(replace(deepest_point(a, b), of_a=beside), a, b)


def test_it_is_written_as_numbers_and_can_be_cancelled() -> None:
    a, b = Mesh(*bumpy(np.random.default_rng(1), 5)), Mesh(*torus(9, 6))
    found = deepest_point(a, b)
    written = json.loads(json.dumps(found.to_dict()))
    assert written["of_a"]["point"] == found.of_a.point.tolist()
    assert written["unsupported_reason"] == ""
    fractions: list[float] = []
    deepest_point(a, b, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    with pytest.raises(Cancelled):
        deepest_point(a, b, progress=lambda done: done < 0.5)
    with pytest.raises(ValueError, match=r"^a must be a shape"):
        deepest_point(None, b)


@pytest.mark.slow
def test_fine_meshes_side_by_side_keep_bounds_that_hold() -> None:
    """Rings in each other, whose surfaces run side by side, use up all points."""
    a, b = Mesh(*torus(48, 20, thick=0.27)), Mesh(*torus(50, 22))
    found = deepest_point(a, b)
    assert sampled_depth(a, b, 200, np.random.default_rng(2)) <= found.of_a.upper
    assert found.of_a.upper <= 1.5 * found.of_a.lower
    assert_verified(found, a, b)
