# SPDX-License-Identifier: GPL-3.0-or-later
"""Curved shapes, polytopes and compounds against meshes.

Oracles: closed forms; `contact` and `compound_contact` with the convex solids that the meshes are made of; `verify`.
"""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Relation,
    Sphere,
    contact,
    verify,
)
from contact_lens.core.curved.curved_inside import protrusion, spread
from contact_lens.core.meshes import solid_facets
from contact_lens.core.meshes.body import Body
from contact_lens.core.meshes.curved_nearest import nearest_to_mesh
from contact_lens.core.meshes.solid_facets import inner_hull, mesh_of

from ..assertions import assert_progress, assert_verified
from ..generators import rotation
from ..mesh_shapes import block, flipped, joined, prism, sheet, sphere, torus

pytestmark = pytest.mark.slow

FLOOR = ConvexHull([[x, y, z] for x in (-5, 5) for y in (-5, 5) for z in (-2, 0)])
L_PIECES = [
    ConvexHull([[x, y, z] for x in (0, 3) for y in (0, 1) for z in (0, 1)]),
    ConvexHull([[x, y, z] for x in (0, 1) for y in (1, 3) for z in (0, 1)]),
]
SWAPPED = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}


def l_mesh(turn=None) -> Mesh:
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
    points, triangles = prism(outline, [(0, 1, 2), (0, 2, 3), (0, 3, 5), (5, 3, 4)])
    return Mesh(points if turn is None else points @ turn.T, triangles)


def both_ways(solid, mesh, **options):
    """The contact both ways round, after it was verified and both were compared."""
    c, back = contact(solid, mesh, **options), contact(mesh, solid, **options)
    size = mesh.extent + solid.extent
    assert back.relation is SWAPPED.get(c.relation, c.relation)
    assert back.signed_distance == pytest.approx(c.signed_distance, abs=1e-9 * size)
    for told, pair in ((c, (solid, mesh)), (back, (mesh, solid))):
        assert_verified(told, *pair)
        assert told.lower_bound <= told.signed_distance <= told.upper_bound
    return c


@pytest.mark.parametrize(
    ("shape", "relation", "signed_distance"),
    [
        (Sphere([0, 0, 1.25], 1.0), Relation.SEPARATED, 0.25),
        (Sphere([0, 0, 1.0], 1.0), Relation.TOUCHING, 0.0),
        (Sphere([0, 0, 0.8], 1.0), Relation.PENETRATING, -0.2),
        (Sphere([0, 0, -1.0], 0.5), Relation.A_INSIDE_B, -1.5),
        (Sphere([0, 0, 0.0], 50.0), Relation.B_INSIDE_A, -50.0),
        (Sphere([6.0, 6.0, 1.0], 1.0), Relation.SEPARATED, 3.0**0.5 - 1.0),
        (Capsule([-1, 0, 1.3], [1, 0, 1.1], 1.0), Relation.SEPARATED, 0.1),
        (Capsule([-1, 0, 0.9], [1, 0, 0.7], 1.0), Relation.PENETRATING, -0.3),
        (Cylinder([0, 0, 0.5], [0, 0, 2.0], 1.0), Relation.SEPARATED, 0.5),
        (Cylinder([0, 0, 0.0], [0, 0, 2.0], 1.0), Relation.TOUCHING, 0.0),
        (Cylinder([0, 0, -0.1], [0, 0, 2.0], 1.0), Relation.PENETRATING, -0.1),
        (Cone([0, 0, 3.0], [0, 0, 0.25], 1.0), Relation.SEPARATED, 0.25),
        (Cone([0, 0, 3.0], [0, 0, -0.25], 1.0), Relation.PENETRATING, -0.25),
        (Ellipsoid([0, 0, 1.0], [2.0, 1.0, 0.75]), Relation.SEPARATED, 0.25),
        (Ellipsoid([0, 0, 0.5], [2.0, 1.0, 0.75]), Relation.PENETRATING, -0.25),
        (Box([0, 0, 0.5], [1, 1, 1]), Relation.TOUCHING, 0.0),
        (Box([0, 0, 0.25], [1, 1, 1]), Relation.PENETRATING, -0.25),
    ],
)
def test_closed_forms_above_a_floor(shape, relation, signed_distance):
    c = both_ways(shape, mesh_of([FLOOR]))
    assert c.relation is relation
    assert c.signed_distance == pytest.approx(signed_distance, abs=1e-9)
    assert c.upper_bound - c.lower_bound <= 1e-8
    assert c.signed_distance == pytest.approx(contact(shape, FLOOR).signed_distance, abs=1e-9)


def test_a_cylinder_stands_on_a_floor_in_a_disk():
    c = contact(mesh_of([FLOOR]), Cylinder([0.3, 0.2, 0.0], [0.3, 0.2, 2.0], 0.5))
    assert sum(region.area for region in c.regions) == pytest.approx(0.25 * np.pi, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_rigid_motion_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    turn = rotation(rng)
    ball, rod = np.array([1.4, 1.3, 0.5]), np.array([[1.4, 1.3, 0.2], [2.0, 2.5, 0.9]])
    depth = np.hypot(0.1, 0.2)  # 0.5 less 0.4 and 0.3, out of both arms at once
    c = both_ways(Sphere(turn @ ball, 0.5), l_mesh(turn))
    assert c.signed_distance == pytest.approx(-depth, abs=1e-9)
    assert c.normal == pytest.approx(
        turn @ (np.array([-0.1, -0.2, 0.0]) / depth), abs=1e-6
    ) or c.normal == pytest.approx(turn @ (np.array([-0.2, -0.1, 0.0]) / depth), abs=1e-6)
    plain = contact(Cylinder(*rod, 0.2), l_mesh())
    turned = both_ways(Cylinder(*(rod @ turn.T), 0.2), l_mesh(turn))
    assert turned.relation is plain.relation
    assert turned.signed_distance == pytest.approx(plain.signed_distance, abs=1e-8)


@pytest.mark.parametrize(
    "shape",
    [
        Sphere([1.4, 1.3, 0.5], 0.5),
        Cylinder([1.4, 1.3, 0.0], [1.5, 1.35, 1.0], 0.5),
        Cone([1.0, 0.3, 0.0], [1.4, 1.3, 1.0], 0.5),
        Ellipsoid([1.0, 0.3, 0.5], [0.5, 0.6, 0.4]),
        Compound([Sphere([1.4, 1.3, 0.5], 0.5), Box([2.0, 1.2, 0.5], [0.5, 0.5, 0.5])]),
        Compound(L_PIECES).translated(np.array([0.7, 0.8, 0.0])),
    ],
)
def test_in_a_notch_they_are_as_deep_as_in_its_pieces(shape):
    c = both_ways(shape, l_mesh())
    of_pieces = contact(shape, Compound(L_PIECES))
    assert c.signed_distance == pytest.approx(of_pieces.signed_distance, rel=1e-6)
    assert c.relation is Relation.PENETRATING


@pytest.mark.parametrize("shape", [Sphere([1.0, 0.0, 0.1], 0.2), Ellipsoid([1.0, 0.3, 0.5], [0.5, 0.6, 0.4])])
def test_a_mesh_without_exact_pieces_brackets_the_depth(shape):
    ring = Mesh(*torus(24, 12))
    c = both_ways(shape, ring)
    assert c.intersects
    assert c.depth > 0.0
    assert any(
        "facets" in note.text and note.lengths == (c.certificate.slack_a,) and note.about == "A" for note in c.notes
    )
    # A moved out by it, the curved surface itself is free.
    after = nearest_to_mesh([shape.translated(-c.mtv)], Body.of(ring), 1e-9)
    assert after.signed_distance >= -1e-9


def test_the_depth_in_an_open_surface_is_how_far_a_ball_sank():
    pane = Mesh(*sheet(4, 2.0, [-1.0, -1.0, 0.0]))
    c = both_ways(Sphere([0.1, 0.1, 0.5], 1.0), pane)
    assert c.relation is Relation.PENETRATING
    assert c.normal == pytest.approx([0.0, 0.0, -1.0], abs=1e-6)
    assert c.signed_distance == pytest.approx(-0.5)
    assert both_ways(Sphere([0.1, 0.1, 1.5], 1.0), pane).signed_distance == pytest.approx(0.5)
    assert both_ways(Sphere([0.1, 0.1, 1.0], 1.0), pane).relation is Relation.TOUCHING


def test_a_ball_in_a_hollow_is_apart_and_one_in_the_wall_is_inside():
    hollow = Mesh(*joined([block([6, 6, 6], [-3, -3, -3]), flipped(block([2, 2, 2], [-1, -1, -1]))]))
    c = both_ways(Sphere([0.0, 0.0, 0.0], 0.75), hollow)
    assert c.relation is Relation.SEPARATED
    assert c.signed_distance == pytest.approx(0.25)
    c = both_ways(Cylinder([0.0, 0.0, -0.5], [0.0, 0.0, 0.5], 0.75), hollow)
    assert c.relation is Relation.SEPARATED
    assert c.signed_distance == pytest.approx(0.25)
    assert both_ways(Sphere([0.0, 0.0, 2.0], 0.75), hollow).relation is Relation.A_INSIDE_B


@pytest.mark.parametrize(("size", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e6)])
def test_sizes_and_places(size, shift):
    shapes = [
        (Sphere(np.array([0.0, 0.0, 1.25]) * size + shift, size), 0.25),
        (Cylinder(np.array([0, 0, 0.25]) * size + shift, np.array([0, 0, 2.0]) * size + shift, size), 0.25),
        (Sphere(np.array([0.0, 0.0, 0.75]) * size + shift, size), -0.25),
    ]
    floor = mesh_of([ConvexHull(FLOOR.vertices * size + shift)])
    for shape, expected in shapes:
        assert both_ways(shape, floor).signed_distance == pytest.approx(expected * size, rel=1e-6)


def test_facets_are_inside_and_slack_is_certain():
    for shape in (
        Sphere([1, 2, 3], 2.0),
        Capsule([0, 0, 0], [9, 0, 0], 0.1),
        Cylinder([0, 0, 0], [0, 1, 9], 3.0),
        Cone([0, 0, 0], [0, 0.1, 0], 3.0),
        Ellipsoid([0, 0, 0], [5.0, 1.0, 0.1]),
    ):
        hull, slack = inner_hull(shape)
        assert protrusion(hull, shape, np.inf) <= 1e-12 * shape.extent
        ways = spread(3, 5_000)
        reach = (shape.supports(ways) * ways).sum(axis=1) - (hull.vertices @ ways.T).max(axis=0)
        assert reach.max() <= slack


def test_points_and_segments_meet_a_mesh():
    floor = mesh_of([FLOOR])
    for points in ([[0, 0, 1.0]], [[0, 0, 1.0], [1, 0, 2.0]], [[0, 0, 1.0], [1, 0, 1.0], [0, 1, 1.0]]):
        c = both_ways(ConvexHull(points), floor)
        assert c.signed_distance == pytest.approx(1.0)
        assert not c.certificate.a_solid
    assert both_ways(Sphere([0, 0, 1.0], 0.0), floor).signed_distance == pytest.approx(1.0)


def test_a_contact_of_other_solids_fails_its_verification():
    mesh, ball = mesh_of([FLOOR]), Sphere([0, 0, 2.0], 1.0)
    assert not verify(contact(mesh, ball), ball, ball)
    assert not verify(contact(ball, ball), mesh, ball)
    assert not verify(contact(ball, ball), Compound([ball]), ball)


def test_progress_rises_and_cancels_whatever_way_the_work_takes():
    """Apart, and inside of a mesh whose pieces are not exact, where one way is given up for another."""
    ring = Mesh(*torus(12, 8))
    for shape in (Ellipsoid((0.0, 0.0, 1.0), (0.9, 0.8, 0.4)), Ellipsoid((1.0, 0.0, 0.2), (0.3, 0.4, 0.2))):
        contact(shape, ring)  # what is computed once per mesh reports no progress again
        reported = assert_progress(lambda progress, shape=shape: contact(shape, ring, progress=progress), start=0.1)
        assert len(reported) > 10


def test_only_pieces_inside_a_mesh_are():
    mesh = Mesh(*block())
    inside = Sphere([0.5, 0.5, 0.5], 0.2)
    for other in (Sphere([0.5, 0.5, 0.6], 0.2), Ellipsoid([0.4, 0.5, 0.5], [0.2, 0.1, 0.1])):
        assert both_ways(Compound([inside, other]), mesh).relation is Relation.A_INSIDE_B
    for other in (Sphere([5.0, 0.5, 0.5], 0.2), Ellipsoid([5.0, 0.5, 0.5], [0.2, 0.1, 0.1])):
        assert both_ways(Compound([inside, other]), mesh).relation is Relation.PENETRATING


@pytest.mark.parametrize(
    ("shape", "inside"),
    [
        (Sphere([0.3, 1.0, 0.5], 0.3), True),
        (Sphere([0.3 - 1e-7, 1.0, 0.5], 0.3), True),
        (Sphere([0.3 - 1e-3, 1.0, 0.5], 0.3), False),
        (Cylinder([0.3, 0.5, 0.5], [0.3, 2.0, 0.5], 0.3), True),
        (Compound([Ellipsoid([0.3, 1.0, 0.5], [0.3, 0.4, 0.2]), Box([0.2, 0.5, 0.5], [0.4, 0.4, 0.4])]), True),
        (Compound([Ellipsoid([0.3, 1.0, 0.5], [0.3, 0.4, 0.2]), Box([0.2, 0.5, 0.5], [0.5, 0.4, 0.4])]), False),
        (Compound([Ellipsoid([0.3, 1.0, 0.5], [0.3, 0.4, 0.2]), Box([2.0, 2.0, 0.5], [0.4, 0.4, 0.4])]), False),
    ],
)
def test_what_touches_a_mesh_from_inside_is_inside(shape, inside):
    # Across the cut between the two pieces of the mesh.
    wanted = Relation.A_INSIDE_B if inside else Relation.PENETRATING
    assert both_ways(shape, l_mesh()).relation is wanted


def test_no_facets_are_made_of_a_round_shape_apart_from_a_mesh(monkeypatch):
    def refuse(*_):
        raise AssertionError("facets were made")

    monkeypatch.setattr(solid_facets, "inner_hull", refuse)
    mesh = Mesh(*sphere(6))
    for shape in (Cylinder((2, 0, 0), (2, 0.3, 1), 0.4), Sphere((2, 0, 0), 0.5), Cone((2, 0, 0), (2, 0.3, 1), 0.4)):
        c = contact(shape, mesh)
        assert c.relation is Relation.SEPARATED
        assert c.signed_distance == pytest.approx(contact(shape, ConvexHull(mesh.points)).signed_distance, abs=1e-9)
