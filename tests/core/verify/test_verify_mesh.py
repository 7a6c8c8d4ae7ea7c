# SPDX-License-Identifier: GPL-3.0-or-later
"""Verification of contacts of meshes: honest ones pass, and each planted lie fails the check that looks for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Box, Compound, ConvexHull, Mesh, Relation, Status, contact, verify
from contact_lens.core.meshes.body import Body
from contact_lens.core.meshes.crossings import Crossings
from contact_lens.core.meshes.depth_proof import (
    CommonBall,
    CommonCells,
    CommonPoints,
    CrossingBoxes,
    CrossingPair,
    PointInside,
)
from contact_lens.core.verify.pieces_inside import sticks_out

from ..assertions import assert_lies_found, assert_verified, changed
from ..generators import rotation
from ..mesh_shapes import Surface, block, joined, sheet, sphere, torus


def mesh(surface: Surface, move=(0.0, 0.0, 0.0), seed: int | None = None) -> Mesh:
    turn = np.eye(3) if seed is None else rotation(np.random.default_rng(seed))
    return Mesh(surface[0] @ turn.T + np.array(move), surface[1])


PAIRS = {
    "apart": (mesh(block()), mesh(block(), [3, 0.2, 0.1], 1)),
    "apart, in a hollow": (mesh(torus(16, 8)), mesh(block([0.2, 0.2, 0.2], [-0.1, -0.1, -0.1]), [0, 0, 0], 2)),
    "links of a chain": (
        mesh(torus(24, 8)),
        mesh((torus(24, 8)[0][:, [0, 2, 1]], torus(24, 8)[1][:, ::-1]), [1.0, 0, 0]),
    ),
    "blocks": (mesh(block()), mesh(block(), [0.7, 0.2, 0.1])),
    "inside": (mesh(block([4, 4, 4])), mesh(block(), [1, 1.5, 2])),
    "touching": (mesh(block()), mesh(block(), [1.0, 0.2, 0.1])),
    "not exact": (mesh(torus(16, 8)), mesh(sphere(6), [1.0, 0.3, 0.4], 3)),
    "crossed bars": (mesh(block([10, 1, 1], [-5, 0, 0])), mesh(block([0.8, 10, 0.7], [0.1, -5, 0.2]))),
    "a bar through a sheet": (
        mesh(block([10, 1, 1], [-5, -0.5, -0.5])),
        mesh((np.array([[-9, -9, 0.1], [9, -9, 0.1], [0, 9, 0.12]]), np.array([[0, 1, 2]]))),
    ),
    "a sheet": (mesh(sheet(3)), mesh(block(), [0.2, 0.2, -0.5])),
}


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("kind", PAIRS)
def test_an_honest_answer_passes_both_ways(kind):
    for a, b in (PAIRS[kind], PAIRS[kind][::-1]):
        c = contact(a, b)
        result = verify(c, a, b)
        assert result.ok, str(result)
        if kind == "not exact":
            assert any(check.name.startswith("not checked") for check in result.checks)


def wrong_proofs(proof):
    yield "well-formed", "x"
    if isinstance(proof, CommonCells | CommonPoints):
        none = {name: value[:0] for name, value in vars(proof).items() if isinstance(value, np.ndarray)}
        yield "well-formed", replace(proof, **none)
    if isinstance(proof, CommonCells):
        yield "no shorter translation", replace(proof, of_a=proof.of_a[::2], of_b=proof.of_b[::2])
        yield "no shorter translation", replace(proof, of_a=proof.of_a + 1, of_b=proof.of_b + 1000)
        for shift in (4, 1000):  # across the surface, and outside
            yield "no shorter translation", replace(proof, of_a=proof.of_a + shift, of_b=proof.of_b + shift)
        yield "well-formed", replace(proof, of_a=proof.of_a[1:])
        yield "well-formed", replace(proof, of_a=proof.of_a + 0.5)
        yield "well-formed", replace(proof, lattice=replace(proof.lattice, frame=2.0 * proof.lattice.frame))
        yield "well-formed", replace(proof, least=np.nan)
    elif isinstance(proof, CommonPoints):
        off_surface = proof.points + 3.0 * proof.lattice.size
        yield "no shorter translation", replace(proof, points=off_surface)
        yield "no shorter translation", replace(proof, triangles=np.roll(proof.triangles, len(proof.triangles) // 2))
        yield "no shorter translation", replace(proof, of_a=not proof.of_a)
        for shift in (4, 1000):  # across the surface of the solid, and outside
            yield "no shorter translation", replace(proof, cells=proof.cells + shift)
        half = {name: getattr(proof, name)[::2] for name in ("points", "triangles", "cells")}
        yield "no shorter translation", replace(proof, **half)
        yield "well-formed", replace(proof, points=proof.points[1:])
        yield "well-formed", replace(proof, triangles=proof.triangles + 10**6)
        yield "well-formed", replace(proof, triangles=proof.triangles + 0.5)
        yield "well-formed", replace(proof, cells=proof.cells + 0.5)
        yield "well-formed", replace(proof, lattice=replace(proof.lattice, size=0.0))
        yield "well-formed", replace(proof, least=np.nan)
    elif isinstance(proof, PointInside):
        yield "no shorter translation", replace(proof, point=proof.point + [0.0, 0.0, 10.0 * proof.least])
        yield "no shorter translation", replace(proof, point=proof.point + 0.1 * proof.least)  # off the surface
        yield "no shorter translation", replace(proof, of_a=not proof.of_a)
        yield "well-formed", replace(proof, point=np.zeros(2))
        yield "well-formed", replace(proof, triangle=10**6)
        yield "well-formed", replace(proof, triangle=-1)
        yield "well-formed", replace(proof, triangle="x")
        yield "well-formed", replace(proof, least=np.nan)
    elif isinstance(proof, CommonBall):
        yield "no shorter translation", replace(proof, middle=proof.middle + proof.radius)
        yield "no shorter translation", replace(proof, radius=0.5 * proof.radius)
        yield "well-formed", replace(proof, middle=np.zeros(2))
    elif isinstance(proof, CrossingPair):
        yield "no shorter translation", replace(proof, triangle_a=0 if proof.triangle_a else 1)
        yield "well-formed", replace(proof, triangle_b=10**6)
    elif isinstance(proof, CrossingBoxes):
        turned = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        for octree in (
            replace(proof.octree, reach=2.0 * proof.octree.reach),
            replace(proof.octree, frame=turned @ proof.octree.frame),
        ):
            yield "no shorter translation", replace(proof, octree=octree)
        yield "no shorter translation", replace(proof, least=0.0)
        half = {name: getattr(proof, name)[::2] for name in ("levels", "places", "pairs")}
        yield "no shorter translation", replace(proof, **half)
        yield "no shorter translation", replace(proof, pairs=np.roll(proof.pairs, len(proof.pairs) // 2, axis=0))
        yield "no shorter translation", replace(proof, levels=np.maximum(proof.levels - 1, 0))
        yield "no shorter translation", replace(proof, places=proof.places + 1000)
        yield "no shorter translation", replace(proof, places=proof.places - 1000)
        yield "well-formed", replace(proof, octree=replace(proof.octree, frame=2.0 * proof.octree.frame))
        yield "well-formed", replace(proof, octree=replace(proof.octree, reach=np.nan))
        yield "well-formed", replace(proof, octree="x")
        yield "well-formed", replace(proof, levels=proof.levels[1:])
        yield "well-formed", replace(proof, levels=proof.levels + 60)
        yield "well-formed", replace(proof, levels=proof.levels[:0], places=proof.places[:0], pairs=proof.pairs[:0])
        yield "well-formed", replace(proof, levels="x")
        yield "well-formed", replace(proof, places=proof.places + 0.5)
        yield "well-formed", replace(proof, pairs=proof.pairs + 10**6)
        yield "well-formed", replace(proof, least=np.nan)


def lies(c):
    yield "points prove the upper|contain the signed", {"upper_bound": c.signed_distance - 1e-3}
    yield "points lie on their meshes", {"point_on_a": c.point_on_a + 9.0}
    sign = 1e-3 if c.intersects else 0.0
    yield (
        "they intersect where|well-formed",
        {"signed_distance": sign, "lower_bound": min(c.lower_bound, sign), "upper_bound": 1.0},
    )
    yield "solids are closed", {"a_solid": not c.certificate.a_solid}
    yield "facets are as far inside", {"slack_a": 0.1}
    other = Status.BRACKET if c.status is Status.CERTIFIED else Status.CERTIFIED
    for status in (other, Status.NO_DEPTH):
        yield "contain the signed|well-formed", {"status": status}
    yield "the relation fits", {"relation": Relation.SEPARATED if c.intersects else Relation.PENETRATING}
    if c.normal.any():
        yield "unit vector", {"normal": 2.0 * c.normal, "ties": 2.0 * c.ties}
    if c.signed_distance != 0.0:
        yield "well-formed", {"normal": np.zeros(3)}
    if not c.intersects and c.signed_distance > 1e-3:
        yield (
            "prove the lower bound",
            {"lower_bound": c.signed_distance + 1e-3, "upper_bound": c.signed_distance + 2e-3},
        )
        yield "realise the signed distance", {"normal": -c.normal, "ties": -c.ties}
    if len(c.certificate.crossings):
        yield (
            "crossings lie on both",
            {"crossings": replace(c.certificate.crossings, segments=c.certificate.crossings.segments + 0.1)},
        )
        yield "the surfaces do not meet", {"crossings": Crossings.none(), "curves": ()}
        curve = replace(c.curves[0], points=c.curves[0].points + 0.1)
        yield "curves lie on both", {"curves": (curve, *c.curves[1:])}
    if c.depth > 0.0:
        none = {"signed_distance": 0.0, "upper_bound": 0.0}
        yield "the relation fits", none
        yield "only touch|the relation fits", {**none, "relation": Relation.TOUCHING}
        no_depth = {**none, "lower_bound": 0.0, "normal": np.zeros(3), "ties": np.zeros((1, 3))}
        for relation in (c.relation, Relation.TOUCHING):
            yield "only touch|the relation fits", {**no_depth, "status": Status.NO_DEPTH, "relation": relation}
        none = {"compound": None, "pieces_a": None, "pieces_b": None, "depth_proof": None, "regions": ()}
        alike = {**none, **no_depth, "status": Status.NO_DEPTH, "relation": Relation.TOUCHING}
        if len(c.certificate.crossings):
            common = c.certificate.crossings.segments[0, 0]
            alike |= {"point_on_a": common, "point_on_b": common}
        yield "only touch|the relation fits", alike
        if c.certificate.compound is None:
            yield "one common point", {"point_on_b": c.point_on_b + 1e-3}
    if c.depth > 0.0 and c.certificate.compound is not None:
        yield (
            "the depth is that of the pieces|the translation separates",
            {"signed_distance": 0.5 * c.signed_distance, "lower_bound": 0.5 * c.signed_distance, "upper_bound": 0.0},
        )
        told = changed(c.certificate.compound, overlap=c.certificate.compound.certificate.overlap + 0.1)
        yield "the contact of the pieces holds", {"compound": told}
        compound, pieces = c.certificate.compound, c.certificate.pieces_a
        for name in ("signed_distance", "upper_bound", "normal", "regions", "region", "notes"):
            yield "certificate is well-formed", {"compound": replace(compound, **{name: "x"})}
        yield "certificate is well-formed", {"pieces_a": replace(pieces, distance=None)}
        yield (
            "certificate is well-formed",
            {"crossings": replace(c.certificate.crossings, kinds=np.zeros(999, np.uint8))},
        )
    if c.certificate.depth_proof is not None:
        yield "no shorter translation", {"depth_proof": None}
        # Of bounds that meet it is a gap that their status denies.
        meets = "contain the signed" if c.status is Status.CERTIFIED else "no shorter translation"
        yield meets, {"upper_bound": 0.999 * c.signed_distance}
        yield from ((name, {"depth_proof": proof}) for name, proof in wrong_proofs(c.certificate.depth_proof))
    for name in ("signed_distance", "lower_bound", "upper_bound", "point_on_a", "crossings", "curves"):
        for bad in (None, "x", np.zeros(2), float("nan")):
            yield "well-formed", {name: bad}
    for name in ("relation", "normal", "compound", "pieces_a", "regions", "clearance", "region", "feature_a", "method"):
        yield "well-formed", {name: "x"}


@pytest.mark.parametrize(
    ("kind", "pair", "budget"),
    [
        (CommonCells, (mesh(torus(16, 8)), mesh(sphere(6), [1.0, 0.3, 0.4], 3)), None),
        (CommonBall, (mesh(torus(24, 12)), mesh(torus(24, 12), [2.3, 0.1, 0.0], 3)), None),
        (
            CommonPoints,
            (mesh(sheet(6, 6.0, (-3.0, -3.0, 0.0)), [0, 0, 0], 4), mesh(sphere(7, [0.3, 0.2, 0.6]), [0, 0, 0], 4)),
            None,
        ),
        (PointInside, (mesh(sheet(4)), mesh(block([3, 3, 3], [-1, -1, -0.8]))), None),
        (CrossingPair, (mesh(sphere(7)), mesh(sphere(7), [1.9, 0.1, 0.0], 3)), 0),
        (
            CrossingBoxes,
            (
                mesh(sheet(6, 2.0, (-1.0, -1.0, 0.0)), [0, 0, 0], 4),
                mesh(block([1, 0.02, 1], [-0.5, 0.1, -0.3]), seed=4),
            ),
            None,
        ),
    ],
)
def test_the_proof_of_a_depth_is_checked(kind, pair, budget):
    for a, b in (pair, pair[::-1]):
        c = contact(a, b, budget=budget)
        assert type(c.certificate.depth_proof) is kind
        assert 0.0 < c.least_depth <= c.depth
        assert_verified(c, a, b)
        proofs = wrong_proofs(c.certificate.depth_proof)
        assert_lies_found(c, a, b, ((name, {"depth_proof": proof}) for name, proof in proofs))


@pytest.mark.parametrize("kind", PAIRS)
def test_a_lie_fails_the_check_that_looks_for_it(kind):
    a, b = PAIRS[kind]
    c = contact(a, b)
    assert_lies_found(c, a, b, lies(c))


BLOCKS = mesh(block([2, 2, 2])), mesh(block([2, 2, 2]), [1.5, 0.3, 0.2])
HELD = mesh(block([2, 2, 2])), mesh(block([0.4, 0.4, 0.4]), [0.8, 0.8, 0.8])
RELATION, SURFACES = "the relation fits", "the surfaces are as far apart"


@pytest.mark.parametrize(
    ("pair", "expected", "changes"),
    [
        (BLOCKS, RELATION, {"relation": Relation.COINCIDENT}),
        (BLOCKS, RELATION, {"relation": Relation.A_INSIDE_B}),
        (BLOCKS, RELATION, {"relation": Relation.B_INSIDE_A}),
        (BLOCKS, RELATION, {"relation": Relation.TOUCHING}),
        (BLOCKS, "the regions are those", {"regions": ()}),
        (BLOCKS, "curves contain all segments", {"curves": ()}),
        (BLOCKS, SURFACES, {"surface_distance": 9.0}),
        (BLOCKS, "no shorter translation", {"compound": None, "pieces_a": None, "pieces_b": None}),
        (HELD, RELATION, {"relation": Relation.COINCIDENT}),
        (HELD, RELATION, {"relation": Relation.A_INSIDE_B}),
        (HELD, RELATION, {"relation": Relation.PENETRATING}),
        (HELD, SURFACES, {"surface_distance": 0.1}),
        (HELD, SURFACES, {"surface_distance": 0.0}),
        (PAIRS["a sheet"], RELATION, {"relation": Relation.TOUCHING}),
        (PAIRS["a sheet"], RELATION, {"relation": Relation.COINCIDENT}),
        (PAIRS["a sheet"], RELATION, {"relation": Relation.B_INSIDE_A}),
        (PAIRS["apart"], SURFACES, {"surface_distance": 0.0}),
    ],
)
def test_what_the_distance_alone_does_not_tell_is_checked(pair, expected, changes):
    told = contact(*pair)
    assert_verified(told, *pair)
    assert_lies_found(told, *pair, [(expected, changes)])


def test_pieces_of_another_solid_prove_nothing():
    for a, b in (PAIRS["blocks"], (PAIRS["blocks"][0], Box([1.2, 0.7, 0.6], [1, 1, 1]))):
        told = contact(a, b)
        for name in ("pieces_a", "pieces_b"):
            own = getattr(told.certificate, name)
            moved = replace(own, pieces=tuple(piece.translated([0.1, 0.0, 0.0]) for piece in own.pieces))
            both = {"pieces_a": told.certificate.pieces_a, "pieces_b": told.certificate.pieces_b, name: moved}
            found = contact(Compound(both["pieces_a"].pieces), Compound(both["pieces_b"].pieces))
            names = ("signed_distance", "normal", "ties", "lower_bound", "upper_bound", "regions", "iterations")
            forged = {of: getattr(found, of) for of in (*names, "point_on_a", "point_on_b")}
            lie = {**forged, "compound": found, name: moved}
            assert_lies_found(told, a, b, [("the pieces are those of their meshes", lie)])


def test_a_piece_that_fills_a_notch_proves_nothing():
    """A block as large as a channel, of which all corners and the middle are inside: the notch is filled, and the
    bottom left out."""
    profile = [(-2, -2), (2, -2), (2, 1), (0.5, 1), (0.5, 0), (-0.5, 0), (-0.5, 1), (-2, 1)]
    cap = np.array([(0, 1, 4), (1, 2, 3), (1, 3, 4), (0, 4, 5), (0, 5, 6), (0, 6, 7)])
    sides = [t for k in range(8) for t in ((k, (k + 1) % 8 + 8, (k + 1) % 8), (k, k + 8, (k + 1) % 8 + 8))]
    channel = Mesh(
        np.array([(x, y, z) for y in (-1.0, 1.0) for x, z in profile]), np.concatenate([cap, cap[:, ::-1] + 8, sides])
    )
    a, b = channel, mesh(block([0.98, 1.0, 1.0], [-0.45, -0.5, 0.6]))
    told = contact(a, b)
    assert abs(told.depth - 0.03) < 1e-9
    assert_verified(told, a, b)
    filled = Box([0.0, 0.0, -0.375], [4.0, 2.0, 2.75])
    assert abs(filled.volume - channel.volume) < 1e-9
    pieces = (ConvexHull(filled.vertices),)
    found = contact(Compound(pieces), Compound(told.certificate.pieces_b.pieces))
    assert found.least_depth > 0.39
    names = ("signed_distance", "normal", "ties", "lower_bound", "upper_bound", "regions", "iterations", "status")
    lie = {of: getattr(found, of) for of in names} | {
        "point_on_a": np.array([0.52, 0.0, 1.0]),
        "point_on_b": np.array([0.52, 0.0, 0.6]),
        "compound": found,
        "pieces_a": replace(told.certificate.pieces_a, pieces=pieces),
    }
    assert_lies_found(told, a, b, [("the pieces are those of their meshes", lie)])


def test_a_piece_given_twice_does_not_stand_for_another():
    """Both are inside the mesh and have its volume together: what they leave out still stops the translation."""
    a = Mesh(*joined([block([1, 1, 1]), block([1, 1, 1], [3, 0, 0])]))
    b = Mesh(*joined([block([1, 1, 1], [0.9, 0.2, 0.1]), block([1, 1, 1], [3.5, 0.1, 0.2])]))
    told = contact(a, b)
    assert_verified(told, a, b)
    own = told.certificate.pieces_a
    twice = replace(own, pieces=(own.pieces[0], own.pieces[0]))
    found = contact(Compound(twice.pieces), Compound(told.certificate.pieces_b.pieces))
    assert found.depth < 0.5 * told.depth
    names = ("signed_distance", "normal", "ties", "lower_bound", "upper_bound", "regions", "iterations", "status")
    forged = {of: getattr(found, of) for of in (*names, "point_on_a", "point_on_b")}
    lie = {**forged, "compound": found, "pieces_a": twice}
    assert_lies_found(told, a, b, [("the translation of the pieces separates", lie)])


def test_pieces_of_parts_that_overlap_are_inside_and_one_in_a_cavity_is_not():
    hollow = block([2, 2, 2], [1, 1, 1])
    walls = Mesh(*joined([block([4, 4, 4]), (hollow[0], hollow[1][:, ::-1])]))
    crossed = Mesh(*joined([block([4, 1, 1]), block([1, 4, 1], [2, -1, 0])]))
    other = mesh(block([0.5, 0.5, 0.5], [2.2, -0.2, 0.3]))
    for a in (walls, crossed):
        assert_verified(contact(a, other), a, other)
    cavity = ConvexHull(np.array(list(np.ndindex(2, 2, 2))) * 2.0 + 1.0)
    whole = ConvexHull(np.array(list(np.ndindex(2, 2, 2))) * 4.0)
    for filling in (cavity, whole):
        assert sticks_out(filling, Body.of(walls), 1e-9, False)


def test_a_gap_as_small_as_rounding_has_no_direction_and_is_verified():
    ball = sphere(5)
    wall = Mesh(*sheet(3, 4.0, (-2.0, -2.0, 1.0)))
    for gap in (2.0**-52, 2.0**-50):
        told = contact(Mesh(*ball), wall.translated([0.0, 0.0, gap]))
        assert told.relation is Relation.TOUCHING
        assert not told.intersects
        assert_verified(told, Mesh(*ball), wall.translated([0.0, 0.0, gap]))


def test_a_curve_that_takes_a_short_cut_or_lacks_a_part_is_refused():
    told = contact(*BLOCKS)
    curve = told.curves[0]
    cut, opened = replace(curve, points=curve.points[::2]), replace(curve, is_closed=False)
    lies = [
        ("curves", {"curves": (cut, *told.curves[1:])}),
        ("curves contain all", {"curves": (opened, *told.curves[1:])}),
    ]
    assert_lies_found(told, *BLOCKS, lies)


def test_what_is_told_without_its_proof_is_named():
    names = [check.name for check in verify(contact(*BLOCKS), *BLOCKS).checks]
    assert "not checked: that no crossing is missing" in names


def test_bare_wires_that_one_band_parts_and_two_do_not_only_touch():
    thick, thin = block([2, 1e-5, 1e-5], [-1, 0, 0]), block([0.6, 3e-6, 3e-6], [-0.3, 0, 0])
    turned = thick[1][:, ::-1]
    pair = Mesh(thick[0], np.concatenate([turned, turned[:3]])), Mesh(thin[0], np.concatenate([thin[1][:, ::-1]] * 2))
    told = contact(*pair)
    assert told.relation is Relation.TOUCHING
    assert_verified(told, *pair)


def test_regions_as_small_as_rounding_are_verified_to_rounding():
    ring = Mesh(*torus(5, 4))
    told = contact(ring, ring)
    assert told.relation is Relation.COINCIDENT
    assert_verified(told, ring, ring)


def test_a_slit_narrower_than_the_band_is_a_way_out():
    inner, outer = sphere(7, [9, 0, 0]), block([3, 3, 3], [7.5, -1.5, -1.5])  # too many edges for exact pieces
    slit = joined([block([4, 4, 4]), block([4, 4, 4], [0, 0, -5 - 1e-6]), outer, (inner[0], inner[1][:, ::-1])])
    pair = Mesh(*slit), Mesh(*block(low=[1.5, 1.5, -0.7]))
    told = contact(*pair)
    assert told.certificate.pieces_a is None
    assert abs(told.depth - 0.3) <= 1e-5
    assert_verified(told, *pair)
