# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh against mesh: relation, distance, depth with its bounds, containment, and what is told of faulty meshes.

Oracles: python-fcl; `contact` for convex meshes; shapely for prisms; and the answer's own claims, tried on the meshes:
B moved by the MTV shares nothing with A, B moved by less than the least depth does.
"""

from __future__ import annotations

import importlib
from dataclasses import replace

import fcl
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from shapely import Polygon as Flat

from contact_lens.core import (
    Box,
    Circle,
    Compound,
    Contact,
    ConvexHull,
    Mesh,
    Relation,
    Sphere,
    Status,
    contact,
    mesh_pieces,
)
from contact_lens.core.budget import Budget
from contact_lens.core.compounds.compound_contact import compound_contact
from contact_lens.core.decomposition.mesh_pieces import check_pieces
from contact_lens.core.mesh_contact.mesh_contact import mesh_contact
from contact_lens.core.meshes.body import Body, are_disjoint
from contact_lens.core.meshes.crossings import Meeting
from contact_lens.core.meshes.decomposition import Decomposition
from contact_lens.core.meshes.separation import SeparationSearch
from contact_lens.core.meshes.triangle_pairs import crossing_triangles

from ..assertions import assert_progress, assert_verified
from ..generators import rotation, sphere_points
from ..mesh_shapes import Surface, block, bumpy, flipped, joined, prism, sheet, sphere, torus, voxels
from ..meshes.test_mesh_distance import fcl_object

NEAR = 1e-7  # times the size: more than the rounding of any of these


def moved(surface: Surface, move, rotation=None) -> Surface:
    points = surface[0] if rotation is None else surface[0] @ np.asarray(rotation).T
    return points + np.asarray(move, dtype=float), surface[1]


def met(a: Surface, b: Surface, **options) -> Contact:
    return contact(Mesh(*a), Mesh(*b), **options)


def claims_hold(c: Contact, a: Surface, b: Surface) -> None:
    """What an answer says of two meshes, tried on them."""
    one, other = Body.of(Mesh(*a)), Body.of(Mesh(*b))
    size = max(one.mesh.extent, other.mesh.extent)
    assert c.lower_bound <= c.signed_distance <= c.upper_bound
    assert c.intersects == (not are_disjoint(one, other))
    if c.normal.any():
        assert abs(np.linalg.norm(c.normal) - 1.0) < 1e-12
    if not c.intersects:
        assert np.allclose(c.point_on_b - c.point_on_a, c.signed_distance * c.normal, atol=1e-9 * size)
    if c.depth > 0.0:
        assert are_disjoint(one, other.translated(c.mtv + NEAR * size * c.normal))
        for direction in sphere_points(np.random.default_rng(0), 12):
            assert not are_disjoint(one, other.translated(0.99 * c.least_depth * direction))
    if c.relation in (Relation.PENETRATING, Relation.A_INSIDE_B, Relation.B_INSIDE_A, Relation.TOUCHING):
        assert c.intersects or c.relation is Relation.TOUCHING
    # Swapped, it is the same.
    back = met(b, a, pieces_a=c.certificate.pieces_b, pieces_b=c.certificate.pieces_a)
    swapped = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}
    assert back.relation is swapped.get(c.relation, c.relation)
    assert back.intersects == c.intersects
    assert abs(max(back.signed_distance, 0.0) - max(c.signed_distance, 0.0)) <= 1e-9 * size
    assert back.upper_bound >= c.lower_bound - NEAR * size
    assert back.lower_bound <= c.upper_bound + NEAR * size


BOX = block()
HOLLOW = joined([block([3, 3, 3], [-1, -1, -1]), flipped(BOX)])
RING = torus(12, 6)
UPRIGHT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
PANE = sheet(4, 1.0, [-0.5, -0.5, 0.0])
STANDING = PANE[0][:, [2, 0, 1]], PANE[1]


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize(
    ("a", "b", "relation", "signed_distance"),
    [
        (BOX, moved(BOX, [2, 0, 0]), Relation.SEPARATED, 1.0),
        (BOX, moved(BOX, [1, 0.3, 0]), Relation.TOUCHING, 0.0),
        (BOX, moved(BOX, [1.0 + 1e-7, 0.3, 0]), Relation.TOUCHING, 1e-7),
        (BOX, moved(BOX, [0.9, 0.3, 0.2]), Relation.PENETRATING, -0.1),
        (BOX, BOX, Relation.COINCIDENT, -1.0),
        (block([0.2] * 3, [0.4] * 3), BOX, Relation.A_INSIDE_B, -0.6),
        (BOX, block([0.2] * 3, [0.4, 0.4, 0.0]), Relation.B_INSIDE_A, -0.2),
        (block([0.5] * 3, [0.2] * 3), HOLLOW, Relation.SEPARATED, 0.2),
        (BOX, HOLLOW, Relation.TOUCHING, 0.0),
        (block([2] * 3, [-0.5] * 3), HOLLOW, Relation.PENETRATING, -2.5),
        (RING, moved(RING, [1, 0, 0], UPRIGHT), Relation.SEPARATED, None),
        (RING, moved(RING, [0.6, 0.02, 0.01], UPRIGHT), Relation.PENETRATING, None),
        (RING, block([0.5, 0.5, 4], [-0.25, -0.25, -2]), Relation.SEPARATED, None),
        (PANE, BOX, Relation.TOUCHING, 0.0),
        (sheet(4, 0.5, [0.2, 0.2, 0.5]), BOX, Relation.A_INSIDE_B, -0.5),
        (BOX, sheet(4, 3.0, [-1, -1, 0.5]), Relation.PENETRATING, -0.5),
        (PANE, STANDING, Relation.PENETRATING, 0.0),
        (PANE, moved(STANDING, [0.1, 0.05, 0.03]), Relation.PENETRATING, 0.0),
        (PANE, moved(STANDING, [0.1, 0.05, 0.5]), Relation.TOUCHING, 0.0),
        (PANE, PANE, Relation.COINCIDENT, 0.0),
        (PANE, moved(PANE, [0, 0, 0.1]), Relation.SEPARATED, 0.1),
    ],
)
def test_relations_and_distances_at_any_size_and_place(a, b, relation, signed_distance):
    c = met(a, b)
    assert c.relation is relation
    if signed_distance is not None:
        assert c.signed_distance == pytest.approx(signed_distance, rel=1e-6, abs=1e-9)
    if c.certificate.a_solid and c.certificate.b_solid:
        claims_hold(c, a, b)
    for size, shift in ((1e-4, 0.0), (1e5, 0.0), (1.0, 1e6)):
        far = [(points * size + shift, triangles) for points, triangles in (a, b)]
        other = met(*far)
        if shift == 0.0:
            assert other.relation is relation
            assert other.signed_distance == pytest.approx(c.signed_distance * size, rel=1e-6, abs=1e-9 * size)
        elif relation not in (Relation.TOUCHING, Relation.COINCIDENT):
            assert other.relation is relation
            assert other.signed_distance == pytest.approx(c.signed_distance, abs=1e-6)


def test_convex_meshes_are_their_hulls():
    rng = np.random.default_rng(1)
    for _ in range(40):
        shapes = []
        for _ in range(2):
            hull = ConvexHull(rng.normal(size=(12, 3)) * rng.uniform(0.3, 2.0, size=3) + rng.normal(size=3) * 0.7)
            faces = [[f[0], f[i], f[i + 1]] for f in hull.facets for i in range(1, len(f) - 1)]
            shapes.append((hull, (hull.vertices, np.array(faces))))
        expected = contact(shapes[0][0], shapes[1][0])
        c = met(shapes[0][1], shapes[1][1])
        assert c.intersects == expected.intersects
        assert c.signed_distance == pytest.approx(expected.signed_distance, abs=1e-8)
        assert c.relation is expected.relation
        assert c.lower_bound - 1e-9 <= expected.signed_distance <= c.upper_bound + 1e-9


@pytest.mark.slow
def test_prisms_collide_as_their_outlines_do():
    rng = np.random.default_rng(2)
    ell = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], [(3, 4, 5), (3, 5, 0), (3, 0, 1), (3, 1, 2)]
    cup = (
        [(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)],
        [(4, 1, 2), (4, 2, 3), (4, 0, 1), (5, 0, 4), (5, 6, 7), (5, 7, 0)],
    )
    for k in range(60):
        outlines = []
        second = cup if k % 2 else ell
        for corners, _ in (ell, second):
            turn = rng.uniform(0.0, 2.0 * np.pi)
            matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
            outlines.append(np.array(corners) @ matrix.T + rng.uniform(-1.5, 1.5, size=2))
        one, other = map(Flat, outlines)
        a, b = prism(outlines[0], ell[1]), prism(outlines[1], second[1], (-9.0, 9.0))
        c = met(a, b)
        assert c.certificate.pieces_a is None or c.certificate.pieces_a.exact
        assert c.intersects == one.intersects(other)
        if c.intersects:
            # Out of the plane it takes more than any of these: the depth is that of the outlines.
            after = Flat(outlines[1] + c.mtv[:2] * (1.0 + 1e-7))
            assert abs(c.mtv[2]) < 1e-9
            assert one.intersection(after).area < 1e-6
            assert c.lower_bound - 1e-9 <= -c.depth <= c.upper_bound + 1e-9
            assert c.depth - c.least_depth <= 1e-6
        else:
            assert c.signed_distance == pytest.approx(one.distance(other), abs=1e-9)


@pytest.mark.slow
def test_bumpy_solids_agree_with_fcl():
    rng = np.random.default_rng(3)
    for _ in range(12):
        a, b = bumpy(rng), moved(bumpy(rng), rng.normal(size=3) * 1.3, Rotation.random(random_state=rng).as_matrix())
        models = fcl_object(a), fcl_object(b)
        c = met(a, b)
        if len(c.certificate.crossings) or not c.intersects:
            assert (fcl.collide(*models) > 0) == (len(c.certificate.crossings) > 0)
        if not c.intersects:
            assert max(c.signed_distance, 0.0) == pytest.approx(fcl.distance(*models), abs=1e-6)
        claims_hold(c, a, b)


@pytest.mark.slow
def test_depth_of_large_meshes_is_bounded_by_the_meshes():
    """A fine ring and a ball: no exact pieces, so both bounds are of the meshes."""
    ring, ball = torus(40, 20), sphere(10, [1.2, 0.3, 0.1])
    c = met(ring, ball)
    assert c.certificate.compound is None
    assert not c.notes
    assert c.relation is Relation.PENETRATING
    assert 0.3 < c.least_depth < c.depth < 1.3
    assert not c.regions
    claims_hold(c, ring, ball)
    small = sphere(8)[0] * 0.1 + [1.0, 0, 0], sphere(8)[1]
    c = met(small, ring)
    assert c.relation is Relation.A_INSIDE_B
    assert c.certificate.surface_distance == pytest.approx(0.2, abs=0.01)
    assert c.depth == pytest.approx(0.4, abs=0.01)  # out through the nearest side: of the ball's own width too
    claims_hold(c, small, ring)
    same = met(ring, ring)
    assert same.relation is Relation.COINCIDENT
    assert same.depth == pytest.approx(0.6, rel=1e-2)


@pytest.mark.slow
def test_touching_meshes():
    c = met(BOX, moved(BOX, [1, 0.25, 0]))
    assert [region.area for region in c.regions] == pytest.approx([0.75])
    assert c.curves
    for clearance, relation in ((0.25, Relation.WITHIN_CLEARANCE), (0.15, Relation.SEPARATED)):
        assert met(BOX, moved(BOX, [1.2, 0, 0]), clearance=clearance).relation is relation
    ring = torus(40, 20)
    plate = block([4, 4, 1], [-2, -2, 0.3 * np.sin(np.pi / 2)])
    c = met(ring, plate)
    assert c.relation is Relation.TOUCHING
    assert c.signed_distance == pytest.approx(0.0, abs=1e-5)
    c = met(ring, moved(plate, [0, 0, -0.01]))
    assert c.relation is Relation.PENETRATING
    assert c.depth == pytest.approx(0.01, rel=2e-3)


def test_all_of_a_mesh_counts():
    """Parts of one inside parts of the other and the other way round; a part far away; parts that undo each other."""
    a = joined([block([3, 3, 3]), block([0.5, 0.5, 0.5], [11, 1, 1])])
    b = joined([block([0.5, 0.5, 0.5], [1, 1, 1]), block([3, 3, 3], [10, 0, 0])])
    c = met(a, b)
    assert c.intersects
    assert not len(c.certificate.crossings)
    claims_hold(c, a, b)
    parts = joined([block([1, 1, 1], [1, 1, 1]), block([1, 1, 1], [20, 0, 0])])
    turn = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1.0]])
    wire = moved(block([1.0, 1e-8, 1e-8]), [0, 0, 0], turn)
    for a, b, solid, relation in (
        (parts, block([3, 3, 3]), True, Relation.PENETRATING),
        (joined([BOX, flipped(BOX)]), block([0.5] * 3, [0.25] * 3), False, Relation.SEPARATED),
        (wire, block([4.0] * 3, [-2.0] * 3), True, Relation.A_INSIDE_B),
    ):
        c = met(a, b)
        assert (c.certificate.a_solid, c.relation) == (solid, relation)


def test_faults_are_reported_and_not_refused():
    points, triangles = BOX
    corner = moved(BOX, [0.5, 0.5, 0.5])
    crossing = joined([block([2, 2, 2]), block([2, 2, 2], [1, 1, 1])])
    soup = points.take(triangles.ravel(), axis=0), np.arange(36).reshape(-1, 3)
    doubled = points, np.concatenate([triangles, triangles[:1]])
    flat = PANE[0], np.concatenate([PANE[1], PANE[1][:, ::-1]])
    for a, b, solid, depth, words in (
        ((points, triangles[1:]), corner, False, 0.5, ["A: not closed (3 open edges), so only its surface collides"]),
        (
            doubled,
            corner,
            False,
            0.5,
            ["A: not closed (3 edges with more than two faces), so only its surface collides"],
        ),
        (doubled, corner, False, 0.5, ["A: 1 duplicate face"]),
        (crossing, moved(BOX, [1.2] * 3), True, None, ["A: crosses itself in "]),
        (soup, corner, True, 0.5, ["A: closed after merging points in the same place"]),
        (flat, BOX, False, 0.0, []),
        (flipped(BOX), moved(BOX, [0.9, 0, 0]), True, 0.1, []),
    ):
        c = met(a, b)
        assert c.intersects
        assert c.certificate.a_solid is solid
        assert c.certificate.b_solid
        assert depth is None or c.depth == pytest.approx(depth)
        for beginning in words:
            assert any(str(note).startswith(beginning) for note in c.notes)


def test_no_depth_is_longer_than_another_translation_that_is_known_to_separate():
    """Pieces that are a little larger than the meshes, but fit, need longer ones than these do."""
    for size, move in ((1e-6, [0.7, 0.1, 0.2]), (2e-6, [0.1, 0.2, 0.9])):
        a, b = Mesh(*BOX), Mesh(*moved(BOX, move))
        hulls = contact(ConvexHull(a.points), ConvexHull(b.points))
        grown = []
        for mesh in (a, b):
            middle = mesh.points.mean(axis=0)
            hull = ConvexHull(middle + (1.0 + size) * (mesh.points - middle))
            grown.append(Decomposition((hull,), False, 1.1 * size, 0, "grown"))
        for pair, pieces in (((a, b), grown), ((b, a), grown[::-1])):
            c = contact(*pair, pieces_a=pieces[0], pieces_b=pieces[1])
            assert c.certificate.compound is not None
            assert c.certificate.compound.depth > hulls.depth + 0.9 * size
            assert c.depth == pytest.approx(hulls.depth, abs=1e-12)
            assert c.lower_bound <= c.signed_distance <= c.upper_bound
            assert_verified(c, *pair)


def test_the_pieces_do_not_make_a_depth_longer_though_their_search_ends_early(monkeypatch):
    """That of exact pieces stands for one that the budget ended: the meshes know a shorter way out."""

    def ended(a, b, **options):
        found = compound_contact(a, b, **options)
        longer = replace(found, signed_distance=-1.5, lower_bound=-1.5, normal=np.array([0.0, 0.0, 1.0]))
        return replace(longer, ties=np.array([[0.0, 0.0, 1.0]]), status=Status.BUDGET)

    module = importlib.import_module("contact_lens.core.mesh_contact.pair_pieces")
    monkeypatch.setattr(module, "compound_contact", ended)
    c = met(BOX, moved(BOX, [0.7, 0.1, 0.2]))
    assert c.mtv == pytest.approx([0.3, 0.0, 0.0], abs=1e-9)
    assert c.upper_bound == pytest.approx(c.signed_distance)


def test_arguments_are_checked():
    mesh, pieces = Mesh(*BOX), mesh_pieces(Mesh(*BOX))
    for message, b, options in (
        ("b must be a shape", BOX, {}),
        (".*same dimension", Circle([0.0, 0.0], 1.0), {}),
        ("pieces_b must be None: a Sphere is its own pieces", Sphere([0.0, 0.0, 0.0], 1.0), {"pieces_b": pieces}),
        ("clearance", mesh, {"clearance": -1.0}),
        ("contact_tolerance", mesh, {"contact_tolerance": np.nan}),
        ("pieces_b", mesh, {"pieces_b": []}),
    ):
        with pytest.raises(ValueError, match=f"^({message})"):
            contact(mesh, b, **options)
    other = Mesh(*moved(BOX, [0.5, 0.5, 0.5]))
    assert contact(mesh, other, pieces_a=pieces).certificate.pieces_a is pieces
    for b in (mesh, other):
        assert_progress(lambda progress, b=b: contact(mesh, b, pieces_a=pieces, progress=progress), start=0.1)


def test_a_peg_that_fits_its_slot_leaves_along_it():
    slot = Mesh(*voxels([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (2, 0, 1), (0, 0, 2), (2, 0, 2)]))
    peg = Mesh(*voxels([(1, 0, 0), (1, 0, 1)]))
    for sunk in (0.25, 0.5):
        c = contact(slot, Mesh(peg.points + [0.0, 0.0, 1.0 - sunk], peg.triangles))
        assert c.signed_distance == pytest.approx(-sunk, abs=1e-9)
        assert np.allclose(c.mtv, [0.0, 0.0, sunk], atol=1e-9)
        assert c.lower_bound <= c.signed_distance <= c.upper_bound


@pytest.mark.slow
def test_cubes_that_touch_have_a_normal_in_every_pose():
    rng = np.random.default_rng(11)
    cube = Mesh(*voxels([(0, 0, 0)]))
    for _ in range(60):
        turn = rotation(rng)
        one = Mesh(cube.points @ turn.T, cube.triangles)
        other = Mesh((cube.points + [1.0, 0.25, 0.25]) @ turn.T, cube.triangles)
        c = contact(one, other)
        assert c.relation is Relation.TOUCHING
        assert not c.normal.any() or np.linalg.norm(c.normal) == pytest.approx(1.0)
        assert np.isfinite(c.mtv).all()


@pytest.mark.parametrize(
    "part",
    [BOX, pytest.param(torus(16, 8), marks=pytest.mark.slow), joined([block(), moved(block(), [3.0, 0.0, 0.0])])],
)
def test_pieces_of_another_mesh_are_refused_by_name(part):
    """Of the mesh before it was moved, turned or scaled, or of a part of it; its own are taken, at any size."""
    mesh, other = Mesh(*part), Mesh(*moved(BOX, [0.25, 0.5, 0.125]))
    pieces = mesh_pieces(mesh)
    turn = Rotation.from_rotvec([0.3, 0.0, 0.2]).as_matrix()
    stale_ones = [
        moved(part, [0.5, 0.0, 0.0]),
        moved(part, [0.0, 0.0, 100.0]),
        (part[0] * 0.5, part[1]),
        joined([part, moved(BOX, [9.0, 9.0, 9.0])]),
    ]
    if pieces.exact:  # else these are no farther from the pieces than the pieces are said to be from their mesh
        stale_ones += [moved(part, [0.0, 0.0, 0.0], turn), (part[0] * 1.5, part[1]), moved(part, [1e-9, 0.0, 0.0])]
    for stale in (Mesh(*surface) for surface in stale_ones):
        with pytest.raises(ValueError, match=r"^pieces_a: not the pieces of this mesh"):
            contact(stale, other, pieces_a=pieces)
        with pytest.raises(ValueError, match=r"^pieces_b: not the pieces of this mesh"):
            contact(other, stale, pieces_b=pieces)
    for size, way in ((1.0, 0.0), (1e-6, 1e3), (1e9, 1.0), (1.0, 1e9)):
        same = Mesh(part[0] * size + way, part[1])
        check_pieces("pieces_a", same, mesh_pieces(same))


@pytest.mark.slow
def test_pieces_are_asked_for_when_they_are_needed():
    """Making them may take long: not for what is apart, nor beside an open surface."""
    ring, asked = Mesh(*torus(16, 8)), []

    def pieces():
        asked.append(ring)
        return mesh_pieces(ring)

    in_hole = Mesh(*moved((0.1 * BOX[0], BOX[1]), [0.0, 0.0, 0.0]))
    for other in (in_hole, Mesh(*sheet(4)), Sphere((0.0, 0.0, 0.0), 0.1), Sphere((9.0, 0.0, 0.0), 1.0)):
        contact(ring, other, pieces_a=pieces)
        contact(other, ring, pieces_b=pieces)
    assert asked == []
    crate = Mesh(*moved(BOX, [1.0, 0.0, 0.0]))
    for other in (crate, Sphere((1.0, 0.0, 0.0), 0.5)):
        asked.clear()
        found = contact(ring, other, pieces_a=pieces)
        assert len(asked) == 1
        given = contact(ring, other, pieces_a=mesh_pieces(ring))
        assert (found.signed_distance, found.lower_bound) == (given.signed_distance, given.lower_bound)
    assert contact(ring, crate, pieces_a=lambda: None).certificate.pieces_a is None
    with pytest.raises(ValueError, match=r"^pieces_b must be None or what mesh_pieces returns, not int"):
        contact(crate, ring, pieces_b=lambda: 7)
    with pytest.raises(ValueError, match=r"^pieces_b: not the pieces of this mesh"):
        contact(Mesh(*BOX), crate, pieces_b=pieces)


def test_surfaces_that_stick_out_of_each_other_are_not_sampled(monkeypatch):
    """Samples tell whether one is in the other or the same, and take most of the time."""
    surface = moved(sheet(6), [0.3, 0.2, 0.0], Rotation.from_rotvec([0.9, 0.4, 0.2]).as_matrix())
    expected = met(sheet(6), surface)
    assert met(sheet(6), sheet(6)).relation is Relation.COINCIDENT

    def sampled(*_: object) -> None:
        raise AssertionError("sampled")

    monkeypatch.setattr(importlib.import_module("contact_lens.core.mesh_contact.mesh_pair"), "sample_surface", sampled)
    assert expected.relation is met(sheet(6), surface).relation is Relation.PENETRATING
    with pytest.raises(AssertionError, match="sampled"):
        met(sheet(6), sheet(6))


def test_solids_flush_on_all_sides_are_deep_by_a_point_of_a_face(monkeypatch):
    """No triangle of one goes through one of the other."""
    a, b = Mesh(*block()), Mesh(*block(low=[0.7, 0.0, 0.0]))
    assert not len(crossing_triangles(a, b).of_kind(Meeting.CROSSING))

    def sampled(*_: object) -> None:
        raise AssertionError("sampled")

    monkeypatch.setattr(importlib.import_module("contact_lens.core.mesh_contact.mesh_pair"), "sample_surface", sampled)
    for first, second in ((a, b), (b, a)):
        related = contact(first, second, depth=False)
        assert related.relation is Relation.PENETRATING
        assert related.upper_bound == pytest.approx(-0.3, rel=1e-6)
        c = contact(first, second, budget=0.0)
        assert (c.relation, c.depth) == (Relation.PENETRATING, pytest.approx(0.3, rel=1e-6))
        assert_verified(c, first, second)


def test_a_mesh_of_parts_turned_against_each_other_is_a_solid():
    a = Mesh(*joined([block(), flipped(block(low=[3.0, 0, 0]))]))
    assert a.volume == pytest.approx(0.0, abs=1e-12)
    for low, relation, signed_distance in (
        ([0.9, 0.0, 0.0], Relation.PENETRATING, -0.1),
        ([3.9, 0.0, 0.0], Relation.PENETRATING, -0.1),
        ([1.0, 0.0, 0.0], Relation.TOUCHING, 0.0),
    ):
        b = Mesh(*block(low=low))
        c = contact(a, b)
        assert c.certificate.a_solid
        assert c.relation is relation
        assert c.signed_distance == pytest.approx(signed_distance, abs=1e-9)
        assert_verified(c, a, b)
    inside = contact(a, Mesh(*block([0.5] * 3, [3.25, 0.25, 0.25])))
    assert inside.relation is Relation.B_INSIDE_A


def test_room_in_two_parts_turned_against_each_other_is_outside():
    # A box with a bite: the part that bites is wound inward and stands out of the box.
    a = Mesh(*joined([block([4.0] * 3, [-2.0] * 3), flipped(block([1.0] * 3, [1.5, -0.5, -0.5]))]))
    bite = Mesh(*block([0.25] * 3, [1.625, -0.125, -0.125]))
    assert contact(a, bite).relation is Relation.SEPARATED
    b = Mesh(*block([0.5, 0.25, 0.25], [1.25, -0.125, -0.125]))
    c = contact(a, b)
    assert c.relation is Relation.PENETRATING
    # Moved by a quarter it is in the bite, which is not a part of the solid.
    assert c.least_depth <= 0.25 <= c.depth
    assert c.certificate.pieces_a is None
    assert_verified(c, a, b)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("corners", [1, 2, 3, 4, 7])
def test_a_flat_piece_leaves_the_others_of_a_compound_solid(corners):
    turns = np.arange(corners) / corners * 2.0 * np.pi
    flat = ConvexHull(np.stack([3.0 + np.cos(turns), np.sin(turns), 0.1 * np.cos(turns)], axis=1))
    inner = Mesh(*block([0.3, 0.3, 0.3], [-0.1, -0.1, -0.1]))
    for whole in (Box([0, 0, 0], [2, 2, 2]), Sphere([0, 0, 0], 1)):
        alone = contact(whole, inner)
        both = Compound([whole, flat])
        for a, b, relation in ((both, inner, Relation.B_INSIDE_A), (inner, both, Relation.A_INSIDE_B)):
            c = contact(a, b)
            assert c.relation is relation
            assert c.depth == pytest.approx(alone.depth, rel=1e-6)
            assert_verified(c, a, b)


PAIRS_WITHOUT_DEPTH = {
    "cross": (torus(24, 12), moved(torus(24, 12), (0.9, 0.0, 0.1), rotation(np.random.default_rng(1))), False),
    "nested": (block((4.0, 4.0, 4.0)), block((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)), False),
    "touch": (block(), moved(block(), (1.0 - 1e-9, 0.1, 0.2)), True),
    "nearly fits": (block((2.0, 2.0, 2.0)), block((1.0, 1.0, 1.0), (-1e-9, 0.5, 0.5)), False),
    "the same": (torus(24, 12), torus(24, 12), False),
    "apart": (torus(24, 12), moved(torus(24, 12), (4.0, 0.0, 0.0)), True),
    "open": (sheet(4), moved(sheet(4), (0.1, 0.1, -0.3), [[1, 0, 0], [0, 0, -1], [0, 1, 0]]), False),
}


@pytest.mark.parametrize("name", PAIRS_WITHOUT_DEPTH)
def test_without_the_depth_the_relation_and_the_curves_are_those_with_it(name: str) -> None:
    a, b, has_depth = PAIRS_WITHOUT_DEPTH[name]
    whole = met(a, b)
    quick = mesh_contact(Mesh(*a), Mesh(*b), budget=Budget(0), depth=False)
    assert quick.relation is whole.relation
    assert quick.has_depth == has_depth
    assert quick.intersects == whole.intersects
    assert_verified(quick, Mesh(*a), Mesh(*b))
    assert [c.points.tolist() for c in quick.curves] == [c.points.tolist() for c in whole.curves]
    if whole.relation is Relation.SEPARATED:
        assert quick.signed_distance == whole.signed_distance


@pytest.mark.parametrize("depth", [True, False])
def test_solids_that_nearly_coincide_do_not_touch(depth: bool) -> None:
    """Faces are within the contact tolerance of the other's, corners are not: no point of a surface is deep inside."""
    a = Mesh(*block((3.0, 2.0, 1.0)))
    b = a.translated(np.full(3, 0.7e-5 * a.extent))
    found = contact(a, b, budget=0.0, depth=depth)
    assert found.relation is Relation.PENETRATING
    assert (found.least_depth > 0.5, found.has_depth) == (True, depth)
    assert_verified(found, a, b)


@pytest.mark.parametrize("step", [0.0, 1e-9, 0.2, -0.2])
def test_what_fits_into_an_opening_touches_without_a_search_for_a_depth(step: float, monkeypatch) -> None:
    """However it slides along it; a grid of translations would take most of the time of an answer."""
    frame = Mesh(*voxels([(x, 0, z) for x in range(3) for z in range(3) if (x, z) != (1, 1)]))
    panel = Mesh(*block((1.0, 0.5, 1.0), (1.0, 0.25 + step, 1.0)))
    thick = Mesh(*block((1.01, 0.5, 1.0), (1.0, 0.25 + step, 1.0)))
    assert contact(frame, thick, budget=0.0).relation is Relation.PENETRATING
    monkeypatch.setattr(SeparationSearch, "explore", None)
    flush = Mesh(*block((3.0, 1.0, 1.0), (0.0, 0.0, -0.5)))  # its sides are in the planes of the frame's
    deep = contact(frame, flush, budget=0.0, depth=False)
    assert (deep.relation, deep.status) == (Relation.PENETRATING, Status.BOUNDS_ONLY)
    assert_verified(deep, frame, flush)
    found = contact(frame, panel, budget=0.0)
    assert (found.relation, found.status) == (Relation.TOUCHING, Status.NO_DEPTH)
    assert found.regions
    assert_verified(found, frame, panel)
