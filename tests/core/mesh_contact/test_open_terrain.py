# SPDX-License-Identifier: GPL-3.0-or-later
"""Solids that sink into open surfaces, and the side of one that they are on.

Oracle: along a direction, a point of the surface is inside of a convex piece for one interval of translations. The
shortest translation that no interval contains, of many points and directions.
"""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, Capsule, Compound, ConvexHull, Mesh, Relation, Sphere, Status, contact, verify

from ..assertions import assert_verified
from ..generators import rotation
from ..mesh_shapes import Surface, block, flipped, joined, sheet


def landscape(steps: int = 24, size: float = 4.0) -> Surface:
    """A square grid about the origin, with hills; its normals point upward."""
    points, triangles = sheet(steps, size, (-0.5 * size, -0.5 * size, 0.0))
    points[:, 2] = 0.15 * np.sin(2.3 * points[:, 0]) * np.cos(1.7 * points[:, 1] + 0.4)
    return points, triangles


def dense(surface: Surface, cuts: int) -> np.ndarray:
    """Points (k, 3) on all triangles of a surface, corners and sides among them."""
    i, j = np.meshgrid(np.arange(cuts + 1), np.arange(cuts + 1), indexing="ij")
    inside = i + j <= cuts
    weights = np.stack([i[inside], j[inside], cuts - i[inside] - j[inside]], axis=1) / cuts
    return np.einsum("wc,tcx->twx", weights, surface[0][surface[1]]).reshape(-1, 3)


def way_out(heights: list[np.ndarray], normals: list[np.ndarray], direction: np.ndarray) -> float:
    """How far convex pieces move along a direction until no point is inside of one; heights (k, f) above facets."""
    starts, ends = [], []
    for above, facets in zip(heights, normals, strict=True):
        slopes = facets @ direction
        with np.errstate(divide="ignore", invalid="ignore"):
            times = above / slopes
        first = np.where(slopes > 0.0, times, -np.inf).max(axis=1)
        last = np.where(slopes < 0.0, times, np.inf).min(axis=1)
        beside = ((slopes == 0.0) & (above >= 0.0)).any(axis=1)
        real = (first < last) & (last > 0.0) & ~beside
        starts.append(first[real])
        ends.append(last[real])
    start, end = np.concatenate(starts), np.concatenate(ends)
    if not len(start) or start.min() > 0.0:
        return 0.0
    order = np.argsort(start)
    start, end = start[order], np.maximum.accumulate(end[order])
    gaps = np.flatnonzero(start[1:] > end[:-1])
    return float(end[gaps[0]] if len(gaps) else end[-1])


def shortest_way_out(points: np.ndarray, pieces: list[ConvexHull], count: int = 150) -> float:
    """The length of the shortest translation of convex pieces away from points, over directions made ever denser."""
    heights = [(points - piece.center) @ piece.normals.T - piece.offsets for piece in pieces]
    normals = [piece.normals for piece in pieces]
    k = np.arange(count)
    z, turn = (2.0 * k + 1.0) / count - 1.0, np.pi * (1.0 + 5.0**0.5) * k
    directions = np.column_stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z])
    rng, spread = np.random.default_rng(1), 0.15
    best, along = np.inf, directions[0]
    for _ in range(4):
        lengths = [way_out(heights, normals, direction) for direction in directions]
        if min(lengths) < best:
            best, along = min(lengths), directions[int(np.argmin(lengths))]
        directions = along + spread * rng.normal(size=(30, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        spread *= 0.4
    return best


def moving(turn: np.ndarray) -> np.ndarray:
    """The matrix of a rotation or reflection and a step."""
    return np.block([[turn, np.array([[3.0], [1.0], [2.0]])], [np.zeros((1, 3)), np.ones((1, 1))]])


def seat_and_legs() -> list[Surface]:
    """A chair: a leg of each length goes into the seat."""
    legs = [
        block([0.12, 0.12, 0.62 + more], [x, y, -more])
        for (x, y), more in zip(
            ((-0.4, -0.4), (-0.4, 0.28), (0.28, -0.4), (0.28, 0.28)), (0.0, 0.02, 0.05, 0.01), strict=True
        )
    ]
    return [block([0.8, 0.8, 0.12], [-0.4, -0.4, 0.6]), *legs]


CHAIR = seat_and_legs()
STONE = np.random.default_rng(3).normal(size=(30, 3)) * (0.5, 0.4, 0.35)


def assert_depth(terrain: Surface, solid: object, pieces: list[ConvexHull], slack: float) -> None:
    """The depth is the shortest way out, in both orders and after a rigid motion, and verified."""
    points = dense(terrain, 4)
    low, high = np.array([piece.bounds for piece in pieces]).transpose(1, 0, 2)
    near = ((points > low.min(axis=0) - 0.6) & (points < high.max(axis=0) + 0.6)).all(axis=1)
    oracle = shortest_way_out(points[near], pieces)
    pose = moving(rotation(np.random.default_rng(7)))
    ground = Mesh(*terrain)
    found = [
        (ground, solid),
        (solid, ground),
        (ground.transformed(pose), solid.transformed(pose)),
    ]
    depths = []
    for a, b in found:
        c = contact(a, b)
        assert c.relation is Relation.PENETRATING
        assert c.has_depth
        assert_verified(c, a, b)
        assert c.least_depth <= oracle + slack
        assert c.depth <= 1.02 * oracle + slack
        assert c.depth >= oracle - slack
        assert not any("faces of" in note.text for note in c.notes)
        depths.append(c.depth)
    assert depths == pytest.approx([depths[0]] * 3, rel=1e-2)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("sunk", [0.02, 0.08, 0.2])
def test_a_chair_on_wavy_ground_is_as_deep_as_in_its_surface(sunk):
    terrain = landscape()
    lowest = -0.1 - sunk
    moved = [(points + [0.3, 0.2, lowest], triangles) for points, triangles in CHAIR]
    pieces = [ConvexHull(points) for points, _ in moved]
    assert_depth(terrain, Mesh(*joined(moved)), pieces, 5e-3)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("height", [0.1, 0.3])
def test_a_rock_on_a_landscape_is_as_deep_as_in_its_surface(height):
    rock = ConvexHull(STONE + [0.4, -0.3, height])
    assert_depth(landscape(), rock, [rock], 5e-3)


FLOOR = sheet(1, 20.0, (-10.0, -10.0, 0.0))


@pytest.mark.parametrize("solid", [Box, Mesh])
@pytest.mark.parametrize("sink", [1e-4, 0.1, 0.45])
def test_a_box_in_a_floor_of_two_triangles_is_as_deep_as_it_sank(solid, sink):
    low = np.array([0.3, 0.2, -sink])
    crate = Mesh(*block(low=low)) if solid is Mesh else Box(low + 0.5, [1.0, 1.0, 1.0])
    for a, b, sign in ((Mesh(*FLOOR), crate, 1.0), (crate, Mesh(*FLOOR), -1.0)):
        c = contact(a, b)
        assert c.depth == pytest.approx(sink, rel=1e-6)
        assert c.normal == pytest.approx([0.0, 0.0, sign], abs=1e-6)
        assert 0.9 * sink <= c.least_depth <= sink * (1.0 + 1e-9)
        assert_verified(c, a, b)


@pytest.mark.parametrize(
    ("ball", "depth"), [(Sphere((0.1, 0.2, 0.3), 0.5), 0.2), (Capsule((0.1, 0.2, 0.4), (0.6, 0.1, 0.7), 0.5), 0.1)]
)
def test_a_round_shape_in_a_grid_is_as_deep_as_it_sank(ball, depth):
    ground = Mesh(*sheet(12, 4.0, (-2.0, -2.0, 0.0)))
    for a, b in ((ground, ball), (ball, ground)):
        c = contact(a, b)
        assert c.depth == pytest.approx(depth, rel=1e-4)
        assert 0.0 < c.least_depth <= c.depth
        assert_verified(c, a, b)


def test_a_surface_inside_a_solid_has_the_depth_of_the_nearest_way_out():
    pane, crate = Mesh(*sheet(3, 1.0, (1.2, 1.3, 3.5))), Box([2.0, 2.0, 2.0], [4.0, 4.0, 4.0])
    for a, b, relation in ((pane, crate, Relation.A_INSIDE_B), (crate, pane, Relation.B_INSIDE_A)):
        c = contact(a, b)
        assert c.relation is relation
        assert c.depth == pytest.approx(0.5, rel=1e-6)
        assert c.least_depth == pytest.approx(0.5, rel=0.02)
        assert_verified(c, a, b)


def test_two_open_surfaces_that_cross_have_curves_and_no_depth():
    a, b = Mesh(*landscape()), Mesh(*sheet(4, 2.0, (-1.0, -1.0, 0.05)))
    c = contact(a, b)
    assert (c.status, c.has_depth, c.depth, bool(c.curves)) == (Status.NO_DEPTH, False, 0.0, True)
    assert_verified(c, a, b)


# --- the side -------------------------------------------------------------------------------------------------------


def side(a: object, b: object) -> str:
    """What the notes say of the side, in one word."""
    said = [str(note) for note in contact(a, b).notes if "faces of" in note.text]
    return " ".join(said)


SOLIDS = [
    Box([0.3, 0.2, 0.0], [0.6, 0.6, 0.6]),
    ConvexHull(0.5 * STONE),
    Sphere((0.2, 0.1, 0.0), 0.4),
    Compound([Box([0.0, 0.0, 0.0], [1.0, 0.2, 0.2]), Box([0.4, 0.0, 0.2], [0.2, 0.2, 0.4])]),
    Mesh(*joined(CHAIR)),
]


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_a_solid_above_the_ground_is_in_front_of_its_faces(solid):
    poses = moving(rotation(np.random.default_rng(2))), moving(np.diag([-1.0, 1.0, 1.0]))
    for surface, in_front in ((landscape(8), 1.0), (flipped(landscape(8)), -1.0)):
        for height in (1.5, -1.5):
            ground, moved = Mesh(*surface), solid.translated([0.0, 0.0, height])
            words = "in front of" if height * in_front > 0.0 else "behind"
            assert side(ground, moved) == f"B is {words} the faces of A"
            assert side(moved, ground) == f"A is {words} the faces of B"
            for pose in poses:
                assert side(ground.transformed(pose), moved.transformed(pose)) == side(ground, moved)


@pytest.mark.slow
def test_the_side_is_left_out_where_it_is_not_clear():
    ground = Mesh(*landscape())
    # Around the edge of the ground, which goes through the bracket's mouth.
    bracket = Compound(
        [Box([2.3, 0, 0], [0.2, 1, 1.4]), Box([1.9, 0, 0.6], [1, 1, 0.2]), Box([1.9, 0, -0.6], [1, 1, 0.2])]
    )
    beside = Box([3.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    in_plane = Mesh(*sheet(2)), Mesh(*block([1.0, 1.0, 1e-9], [2.0, 0.0, 0.0]))
    points, triangles = landscape()
    triangles = np.concatenate([triangles[:40, ::-1], triangles[40:]])
    crate = Box([0.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    closed = Mesh(*block([4.0, 4.0, 0.1], [-2.0, -2.0, -0.05]))
    for a, b in (
        (ground, bracket),
        (ground, beside),
        in_plane,
        (Mesh(points, triangles), crate),
        (closed, crate),
        (ground, Mesh(*sheet(3, 1.0, (0.0, 0.0, 1.0)))),
        (Mesh(*FLOOR), Box([0.0, 0.0, 0.5], [1.0, 1.0, 1.0])),  # they touch
    ):
        assert not contact(a, b).depth
        assert side(a, b) == side(b, a) == ""
        assert verify(contact(a, b), a, b).ok
