# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact centre: in the middle of where two shapes meet, whatever rounding does to the witness points.

Oracles: shapely's centroid of the overlap of two faces, in the plane of the faces as they were built, before any number
was rounded to single precision; closed forms elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import shapely

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Mesh,
    Polygon,
    Relation,
    Sphere,
    Status,
    contact,
    contacts,
    verify,
)

from ..generators import as_matrix, box, direction, rotation, rotation_about
from ..mesh_shapes import block, sheet

CORNERS = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


@dataclass(frozen=True)
class Pressed:
    """A crate pressed by a face onto the face of another one, the pair then turned and moved."""

    a: np.ndarray
    b: np.ndarray
    """(8, 3) corners in the world, each by a matrix of its own in single precision."""
    center: np.ndarray
    """(3,) centroid of the overlap of the two faces, half-way between them; of the numbers before they were rounded."""
    normal: np.ndarray
    """(3,) of the face of A."""
    overlap: shapely.Polygon
    """In the plane of the faces."""
    placed: np.ndarray
    """(4, 4) from that plane to the world."""


def by_matrix(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def single(matrix: np.ndarray) -> np.ndarray:
    """A matrix as Blender stores it."""
    return matrix.astype(np.float32).astype(np.float64)


def pressed(seed: int, depth: float = 0.02) -> Pressed:
    rng = np.random.default_rng(seed)
    size_a, size_b = rng.uniform(0.6, 1.6, (2, 3))
    spin, shift = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-0.45, 0.45, 2)
    world = as_matrix(rotation(rng), rng.uniform(-3.0, 3.0, 3))
    turn_b = rotation_about((0, 0, 1), spin)
    height = 0.5 * (size_a[2] + size_b[2]) - depth
    matrix_a, matrix_b = single(world), single(world @ as_matrix(turn_b, (*shift, height)))
    faces = [
        shapely.Polygon(CORNERS * size_a[:2]),
        shapely.Polygon((CORNERS * size_b[:2]) @ turn_b[:2, :2].T + shift),
    ]
    overlap = faces[0].intersection(faces[1])
    placed = world @ as_matrix(np.eye(3), (0.0, 0.0, 0.5 * size_a[2] - 0.5 * depth))
    return Pressed(
        by_matrix(box(size_a), matrix_a),
        by_matrix(box(size_b), matrix_b),
        by_matrix(np.array([overlap.centroid.x, overlap.centroid.y, 0.0]), placed),
        world[:3, 2],
        overlap,
        placed,
    )


SEEDS = range(30)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_turned_crates_it_is_the_centroid_of_the_faces_overlap_in_any_order_pose_and_scale(seed):
    p, rng = pressed(seed), np.random.default_rng(seed)
    c = contact(ConvexHull(p.a), ConvexHull(p.b))
    assert float(c.normal @ p.normal) == pytest.approx(1.0, abs=1e-9)
    assert np.linalg.norm(c.center - p.center) < 1e-4
    assert np.abs((c.region.vertices - c.center) @ c.normal).max() < 1e-9
    flat = by_matrix(np.vstack([c.center, c.region.vertices]), np.linalg.inv(p.placed))[:, :2]
    assert shapely.Polygon(flat[1:]).contains(shapely.Point(flat[0]))
    assert contact(ConvexHull(p.b), ConvexHull(p.a)).center == pytest.approx(c.center, abs=1e-12)
    moved = as_matrix(rotation(rng), rng.uniform(-9.0, 9.0, 3))
    turned = contact(ConvexHull(by_matrix(p.a, moved)), ConvexHull(by_matrix(p.b, moved)))
    assert turned.center == pytest.approx(by_matrix(c.center, moved), abs=1e-7)
    for scale in (1e-3, 1e4, 2.0**-300, 2.0**300):  # the last two: where a square is no float64
        scaled = contact(ConvexHull(scale * p.a), ConvexHull(scale * p.b))
        assert scaled.center / scale == pytest.approx(c.center, abs=1e-9 if 1e-9 < scale < 1e9 else 1e-12)


@pytest.mark.fast_cases(20)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gap", [0.0, 1e-6])
def test_of_a_crate_at_rest_it_stays_when_coordinates_are_nudged_by_a_last_digit(seed, gap):
    p = pressed(seed, depth=-gap)
    rng = np.random.default_rng(seed)
    centers, relations = [], set()
    for _ in range(8):
        nudged = p.b + rng.uniform(-1e-7, 1e-7, p.b.shape)
        c = contact(ConvexHull(p.a), ConvexHull(nudged))
        centers.append(c.center)
        relations.add(c.relation)
    assert relations == {Relation.TOUCHING}
    assert np.ptp(centers, axis=0).max() < 1e-4
    assert np.linalg.norm(centers - p.center, axis=1).max() < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_of_meshes_and_compounds_it_is_the_same_point(seed):
    p = pressed(seed)
    halves = [Compound([ConvexHull(half) for half in in_halves(points)]) for points in (p.a, p.b)]
    meshes = [Mesh(points, block()[1]) for points in (p.a, p.b)]
    for c in (contact(*halves), contact(*meshes), contact(meshes[0], halves[1])):
        assert np.linalg.norm(c.center - p.center) < 1e-4
        assert np.array_equal(c.center, c.regions[0].centroid)


def in_halves(corners: np.ndarray) -> list[np.ndarray]:
    """A box cut in two across its first axis."""
    middle = 0.5 * (corners[:4] + corners[4:])
    return [np.vstack([corners[:4], middle]), np.vstack([middle, corners[4:]])]


BAR = ConvexHull(box((10, 3, 1)) + (0, 0, 0.5))
POSTS = Compound([ConvexHull(box((1, 1, 1)) + (-4, 0, -0.5)), ConvexHull(box((1, 3, 1)) + (4, 0, -0.5))])
PRISM = np.array([(0, -0.5, 0), (0, 0.5, 0), (-0.2, -0.5, -1), (-0.2, 0.5, -1), (0.2, -0.5, -1), (0.2, 0.5, -1)])
TIP = np.array([(0, 0, 0), (-0.2, -0.2, -1), (0.2, -0.2, -1), (0, 0.2, -1)])
TABLE = ConvexHull(box((4, 4, 1)) + (-2, 0, -0.5))
BLOCK, WIDE_BLOCK, SHEET = Mesh(*block((2, 1, 1))), Mesh(*block((4, 4, 1))), sheet(1, 6, (-2, -2, 0.25))
CUT = Mesh(SHEET[0] - (3, 0, 0), SHEET[1])
FIN = np.array([(0, 0, 0), (-0.2, -0.2, 1), (0.2, -0.2, 1)])


@pytest.mark.parametrize(
    ("a", "b", "source", "center"),
    [
        # Tops of posts have the areas 1 and 3; on two edges each counts by its length, on corners alone all are alike.
        (BAR, POSTS, "regions", (2, 0, 0)),
        (
            BAR,
            Compound([ConvexHull(PRISM + (-4, 0, 0)), ConvexHull(PRISM * (1, 3, 1) + (4, 0, 0))]),
            "regions",
            (2, 0, 0),
        ),
        (BAR, Compound([ConvexHull(TIP + (x, 0, 0)) for x in (-4, 0, 1)]), "regions", (-1, 0, 0)),
        # A strip of the face of A; the depth decides the normal, it is less than the strip is wide.
        *(
            (
                ConvexHull(box((1, 1, 1))),
                ConvexHull(box((1, 1, 1)) + (1 - w, 0.25, 1 - 0.1 * w)),
                "region",
                (0.5 - 0.5 * w, 0.125, 0.5 - 0.05 * w),
            )
            for w in (0.1, 1e-3, 1e-5)
        ),
        # A can stands with half of its base on a table's edge: half a disk, its centroid is 4 r / 3 pi from the edge.
        (TABLE, Cylinder((0, 0, -0.01), (0, 0, 2), 0.6), "arcs", (-4 * 0.6 / (3 * np.pi), 0, -0.005)),
        # A capsule that lies on it: the middle of its line, as far as the table goes. Pipes that cross.
        (TABLE, Capsule((-1, 0, 0.49), (1, 0, 0.49), 0.5), "region", (-0.5, 0, -0.005)),
        (
            Capsule((-1, 0, 0), (1, 0, 0), 0.2),
            Capsule((-1, -0.01, 0.39), (1.5, 0.015, 0.39), 0.2),
            "region",
            (0, 0, 0.195),
        ),
        # A sheet goes right through a block, or ends in it, at x = 1: then the curve is a rectangle open at one side.
        (BLOCK, Mesh(*SHEET), "curves", (1, 0.5, 0.25)),
        (BLOCK, CUT, "curves", (1 / 3, 0.5, 0.25)),
        (CUT, BLOCK, "curves", (1 / 3, 0.5, 0.25)),
        # Regions that are points count alike; without any it is the middle of the witness points.
        (
            WIDE_BLOCK,
            Mesh(np.vstack([FIN + (1, 1, 1), FIN + (2, 3, 1)]), [(0, 1, 2), (3, 4, 5)]),
            "regions",
            (1.5, 2, 1),
        ),
        (WIDE_BLOCK, Mesh(FIN + (1, 1, 3), [(0, 1, 2)]), "witness", (1, 1, 2)),
    ],
)
def test_of_closed_forms(a, b, source, center):
    c = contact(a, b)
    sources = {"arcs": c.region and c.region.arcs, "region": c.region, "regions": c.regions, "curves": c.curves}
    assert next((name for name, value in sources.items() if value), "witness") == source
    assert c.center == pytest.approx(center, abs=1e-6 if isinstance(b, Capsule) else 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_where_edges_meet_it_is_on_both_of_them(seed):
    rng = np.random.default_rng(seed)
    world = single(as_matrix(rotation(rng), rng.uniform(-3.0, 3.0, 3)))
    quarter = rotation_about((1, 0, 0), np.pi / 4)
    over = rotation_about((0, 0, 1), np.pi / 2) @ quarter
    depth, edge = 0.02, np.sqrt(0.5)
    a = box((4, 1, 1)) @ quarter.T
    crossing = box((4, 1, 1)) @ over.T + (0.3, -0.4, 2 * edge - depth)
    c = contact(ConvexHull(by_matrix(a, world)), ConvexHull(by_matrix(crossing, world)))
    assert c.region.kind == "point"
    assert c.center == pytest.approx(by_matrix(np.array([0.3, 0, edge - 0.5 * depth]), world), abs=1e-5)
    # An edge on a face shares a segment with it: the face goes from -1 to 1, the edge from -0.5 to 3.5.
    face, along = box((2, 1, 1)), box((4, 1, 1)) @ quarter.T + (1.5, 0.1, 0.5 + edge - depth)
    c = contact(ConvexHull(by_matrix(face, world)), ConvexHull(by_matrix(along, world)))
    assert c.region.kind == "segment"
    assert c.center == pytest.approx(by_matrix(np.array([0.25, 0.1, 0.5 - 0.5 * depth]), world), abs=1e-5)


def test_apart_it_is_the_middle_of_the_witness_points():
    rng = np.random.default_rng(0)
    for shift in (direction(rng) * 4 for _ in range(5)):
        c = contact(ConvexHull(box((1, 1, 1))), ConvexHull(box((1, 1, 1)) @ rotation(rng).T + shift))
        assert c.region is None
        assert np.array_equal(c.center, 0.5 * c.point_on_a + 0.5 * c.point_on_b)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("shape", [Capsule, Cylinder])
@pytest.mark.parametrize("depth", [0.0, 0.02])
def test_of_pipes_along_each_other_it_is_in_the_middle_of_what_they_share(shape, depth):
    # One lies from x = -1 to 1, the other on it from 0 to 2; then both are turned and rounded to single precision.
    rng = np.random.default_rng(11)
    for _ in range(25):
        turn, place = rotation(rng), rng.normal(size=3)

        def pipe(begin, height, turn=turn, place=place):
            ends = np.array([(begin, 0, height), (begin + 2, 0, height)]) @ turn.T + place
            return shape(*ends.astype(np.float32).astype(float), 0.2)

        a, b = pipe(-1, 0), pipe(0, 0.4 - depth)
        c = contact(a, b)
        assert c.region.length == pytest.approx(1.0, abs=1e-5)
        assert c.center == pytest.approx(turn @ (0.5, 0, 0.2 - depth / 2) + place, abs=1e-5)
        assert contact(b, a).center == pytest.approx(c.center, abs=1e-12)
        assert verify(c, a, b)


def test_in_the_plane_it_is_the_middle_of_the_segment():
    rng = np.random.default_rng(5)
    for _ in range(10):
        turn = rotation_about((0, 0, 1), rng.uniform(0, 6))[:2, :2].astype(np.float32).astype(float)
        a, b = CORNERS @ turn.T, (CORNERS + (0.4, 0.99)) @ turn.T
        c = contact(Polygon(a), Polygon(b))
        assert c.center == pytest.approx(turn @ (0.2, 0.495), abs=1e-6)


# --- many pairs ------------------------------------------------------------------------------------------------------


def crates() -> tuple[list[ConvexHull], np.ndarray]:
    """A hundred pressed pairs, a hundred apart."""
    built = [pressed(seed, depth) for depth in (0.02, -0.3) for seed in range(100)]
    return [ConvexHull(points) for p in built for points in (p.a, p.b)], np.arange(400).reshape(200, 2)


def boxes() -> tuple[list[Box], np.ndarray]:
    """Boxes at any angle in a crowd, and a stack of aligned ones."""
    rng = np.random.default_rng(3)
    crowd = [Box(rng.uniform(-2, 2, 3), rng.uniform(0.5, 1.5, 3), rng.normal(size=4)) for _ in range(40)]
    stack = [Box((4 + 0.1 * k, 0.05 * k, 0.9 * k), (1, 1, 1)) for k in range(60)]
    shapes = crowd + stack
    return shapes, np.array([(i, j) for i in range(100) for j in range(i) if i < 40 or i - j == 1])


def curved() -> tuple[list[Sphere | Cylinder], np.ndarray]:
    return [Cylinder((k, 0, 0), (k, 0, 1), 0.52) for k in range(4)] + [Sphere((0, 0, 1.4), 0.5)], np.array(
        [(0, 1), (1, 2), (0, 2), (0, 4)]
    )


@pytest.mark.parametrize("make", [crates, boxes, curved])
def test_many_at_once_have_the_centers_that_each_pair_has(make):
    shapes, pairs = make()
    found = contacts(shapes, pairs)
    assert found.center.shape == (len(pairs), 3)
    assert not found.center.flags.writeable
    regions = 0
    for k, (i, j) in enumerate(pairs.tolist()):
        one = contact(shapes[i], shapes[j])
        if np.abs(one.normal - found.normal[k]).max() > 1e-9:
            continue  # of equally good normals another was chosen
        regions += one.region is not None
        assert found.center[k] == pytest.approx(one.center, abs=1e-7)
    assert regions > 0


def test_in_the_plane_many_at_once_have_them_too():
    squares = [Polygon(CORNERS + (0.9 * k, 0.1 * k)) for k in range(3)]
    found = contacts(squares, [(0, 1), (1, 2), (0, 2)])
    assert found.center == pytest.approx(np.array([(0.45, 0.05), (1.35, 0.15), (0.9, 0.1)]), abs=1e-9)


def test_a_center_that_was_not_asked_for_is_no_number():
    shapes, pairs = crates()
    pairs = np.concatenate([pairs, pairs])
    full = contacts(shapes, pairs)
    meets = np.arange(len(pairs)) % 200 < 100
    bare = contacts(shapes, pairs, regions=False)
    assert np.isnan(bare.center[meets]).all()
    assert bare.center[~meets] == pytest.approx(full.center[~meets], abs=1e-9)
    near = contacts(shapes, pairs, distances=False)
    bounds_only = near.status == Status.BOUNDS_ONLY
    assert bounds_only.sum() > 100
    assert np.isnan(near.center[bounds_only]).all()
    assert near.center[~bounds_only] == pytest.approx(full.center[~bounds_only], abs=1e-9)
    again = contacts(shapes, pairs, start=full)
    assert np.array_equal(again.center, full.center)
