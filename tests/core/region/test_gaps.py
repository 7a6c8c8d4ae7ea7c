# SPDX-License-Identifier: GPL-3.0-or-later
"""Across a gap within the clearance the contact is in the middle of the features that face each other, and stays there.

Oracles: the contact of the same pair when the gap is closed by a translation; shapely's overlap of two faces; the pair
itself when each shape is turned and moved by the size of a digit of single precision.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Polygon,
    Relation,
    Rounded,
    Sphere,
    contact,
    contacts,
)

from ..assertions import assert_lies_found, assert_verified, changed, failed_checks
from ..generators import as_matrix, rotation, rotation_about
from ..mesh_shapes import sheet

STEP = 1e-7
CLEARANCE = 0.1
UP = np.array([0.0, 0.0, 1.0])


def roof(toward: float) -> ConvexHull:
    """A prism of three sides whose ridge, 2 long, is along x through the origin; the rest is above it or below."""
    return ConvexHull([(x, y, toward * 0.7 * (y != 0.0)) for x in (-1.0, 1.0) for y in (0.0, -0.7, 0.7)])


def drum(sides: int, radius: float, low: float, high: float) -> ConvexHull:
    """An upright prism."""
    turns = 2.0 * np.pi * np.arange(sides) / sides
    return ConvexHull([(radius * np.cos(t), radius * np.sin(t), z) for z in (low, high) for t in turns])


FLOOR = Box((0, 0, -0.5), (4, 4, 1))
PAIRS = {
    "crate on floor": (FLOOR, Box((0.3, 0.1, 0.5), (1, 1, 1))),
    "equal crates": (Box((0, 0, -0.5), (1, 1, 1)), Box((0, 0, 0.5), (1, 1, 1))),
    "crate across a corner": (Box((0, 0, -0.5), (1, 1, 1)), Box((0.6, 0.7, 0.5), (1, 1, 1))),
    "drums of many sides": (drum(64, 1.0, -1.0, 0.0), drum(48, 0.8, 0.0, 1.0)),
    "ridge on floor": (FLOOR, roof(1.0)),
    "ridge on ridge": (roof(-1.0), roof(1.0).translated((0.4, 0.0, 0.0))),
    "tip on floor": (FLOOR, ConvexHull([(0.1, 0, 0), (1, 0, 1), (-0.5, 0.8, 1), (-0.5, -0.8, 1)])),
    "sheet on sheet": (
        ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]),
        ConvexHull([(0.5, 0.5, 0), (1.5, 0.5, 0), (1.5, 1.5, 0), (0.5, 1.5, 0)]),
    ),
    "cylinder on floor": (FLOOR, Cylinder((0.3, 0.2, 0), (0.3, 0.2, 1), 0.4)),
    "cylinder across an edge": (Box((0, 0, -0.5), (1, 1, 1)), Cylinder((0.5, 0.2, 0), (0.5, 0.2, 1), 0.4)),
    "cylinder on cylinder": (Cylinder((0, 0, -1), (0, 0, 0), 0.5), Cylinder((0.3, 0.2, 0), (0.3, 0.2, 1), 0.4)),
    "lying cylinder": (FLOOR, Cylinder((-0.5, 0.2, 0.3), (0.6, 0.2, 0.3), 0.3)),
    "cone": (FLOOR, Cone((0.3, 0.2, 0), (0.3, 0.2, 1), 0.4)),
    "cone on its tip": (FLOOR, Cone((0.3, 0.2, 1), (0.3, 0.2, 0), 0.4)),
    "lying capsule": (FLOOR, Capsule((-0.5, 0, 0.3), (0.5, 0, 0.3), 0.3)),
    "parallel capsules": (Capsule((-1, 0, -0.2), (1, 0, -0.2), 0.2), Capsule((-0.4, 0, 0.2), (2, 0, 0.2), 0.2)),
    "crossed capsules": (Capsule((-1, 0, -0.2), (1, 0, -0.2), 0.2), Capsule((0.1, -1, 0.2), (0.1, 1, 0.2), 0.2)),
    "sphere": (FLOOR, Sphere((0.3, 0.2, 0.5), 0.5)),
    "ellipsoids": (Ellipsoid((0, 0, -0.5), (0.3, 0.4, 0.5)), Ellipsoid((0, 0, 0.5), (0.3, 0.7, 0.5))),
    "rounded crates": (
        Rounded(Box((0, 0, -0.6), (1, 1, 1)), 0.1),
        Rounded(Box((0.3, 0.2, 0.6), (1, 1, 1)), 0.1),
    ),
    "table": (
        FLOOR,
        Compound([Box((x, 0, 0.5), (0.2, 1, 1)) for x in (-0.8, 0.8)] + [Box((0, 0, 1.05), (1.8, 1, 0.1))]),
    ),
    "crate on tiles": (
        Compound([Box((x, 0, -0.5), (1, 2, 1)) for x in (-1, 0, 1, 2)]),
        Box((0.5, 0, 0.5), (1.5, 1, 1)),
    ),
    "two posts": (FLOOR, Compound([Cylinder((x, 0, 0), (x, 0, 1), r) for x, r in ((-0.8, 0.2), (0.8, 0.3))])),
}
"""Pairs that touch, with the normal up."""


def regions_of(c):
    return c.regions or ((c.region,) if c.region is not None else ())


def nudged(shape, rng):
    """A shape turned about its centre and moved by steps of single precision."""
    turn, _, other = np.linalg.svd(np.eye(3) + np.cross(np.eye(3), rng.normal(size=3) * STEP))
    turn = turn @ other
    return shape.transformed(as_matrix(turn, shape.center - turn @ shape.center + rng.normal(size=3) * STEP))


@pytest.mark.parametrize("gap", [1e-4, 1e-2])
@pytest.mark.parametrize("kind", PAIRS)
def test_nothing_jumps_when_both_shapes_are_moved_by_a_last_digit(kind, gap):
    rng = np.random.default_rng(len(kind))
    world = as_matrix(rotation(rng), rng.uniform(-3.0, 3.0, 3))
    a, b = (s.transformed(world) for s in (PAIRS[kind][0], PAIRS[kind][1].translated(gap * UP)))
    size, c = min(a.extent, b.extent), contact(a, b, clearance=CLEARANCE)
    assert c.relation is Relation.WITHIN_CLEARANCE
    assert_verified(c, a, b)
    for _ in range(5):
        near_a, near_b = nudged(a, rng), nudged(b, rng)
        now = contact(near_a, near_b, clearance=CLEARANCE)
        assert_verified(now, near_a, near_b)
        assert (now.relation, regions_of(now)[0].kind) == (c.relation, regions_of(c)[0].kind)
        assert now.area == pytest.approx(c.area, rel=0.01, abs=1e-9)
        assert np.linalg.norm(now.center - c.center) < 1e-2 * size
        assert float(now.normal @ c.normal) > np.cos(np.radians(1.0))


@pytest.mark.parametrize("kind", PAIRS)
def test_the_region_is_that_of_the_closed_gap_in_the_middle_of_it(kind):
    a, b = PAIRS[kind]
    gap = 0.03
    touching, c = contact(a, b), contact(a, b.translated(gap * UP), clearance=CLEARANCE)
    assert (len(touching.regions), touching.relation) == (len(c.regions), Relation.TOUCHING)
    for closed, found in zip(regions_of(touching), regions_of(c), strict=True):
        assert (found.kind, found.area) == (closed.kind, pytest.approx(closed.area, rel=1e-6))
        assert found.centroid == pytest.approx(closed.centroid + 0.5 * gap * UP, abs=1e-6)
    assert c.center == pytest.approx(touching.center + 0.5 * gap * UP, abs=1e-6)
    if c.region is not None:
        assert c.region.depths == pytest.approx(np.full(len(c.region.vertices), -gap), abs=1e-6)
        assert c.region.features == touching.region.features


@pytest.mark.parametrize("kind", PAIRS)
def test_it_does_not_depend_on_order_place_or_scale(kind):
    rng = np.random.default_rng(len(kind))
    a, b = PAIRS[kind][0], PAIRS[kind][1].translated((0, 0, 0.02))
    c, world = contact(a, b, clearance=CLEARANCE), as_matrix(rotation(rng), rng.uniform(-3.0, 3.0, 3))
    swapped = contact(b, a, clearance=CLEARANCE)
    assert (swapped.center, swapped.area) == (pytest.approx(c.center, abs=1e-7), pytest.approx(c.area, rel=1e-7))
    turned = contact(a.transformed(world), b.transformed(world), clearance=CLEARANCE)
    assert turned.center == pytest.approx(world[:3, :3] @ c.center + world[:3, 3], abs=1e-6)
    scaled = contact(a.scaled(2.0**150), b.scaled(2.0**150), clearance=np.ldexp(CLEARANCE, 150))
    assert np.ldexp(scaled.center, -150) == pytest.approx(c.center, abs=1e-9)
    assert np.ldexp(scaled.area, -300) == pytest.approx(c.area, rel=1e-9)


def test_of_two_crates_it_is_the_overlap_of_their_faces():
    rng = np.random.default_rng(5)
    for _ in range(10):
        size_a, size_b, shift = rng.uniform(0.6, 1.6, 2), rng.uniform(0.6, 1.6, 2), rng.uniform(-0.5, 0.5, 2)
        overlap = shapely.box(*(-0.5 * size_a), *(0.5 * size_a)).intersection(
            shapely.box(*(shift - 0.5 * size_b), *(shift + 0.5 * size_b))
        )
        a, b = Box((0, 0, -0.5), (*size_a, 1)), Box((*shift, 0.53), (*size_b, 1))
        region = contact(a, b, clearance=0.04).region
        assert (region.area, region.length) == pytest.approx((overlap.area, overlap.length))
        assert region.centroid == pytest.approx((overlap.centroid.x, overlap.centroid.y, 0.015))


def test_in_the_plane_it_is_the_part_of_the_edges_that_face_each_other():
    a, b = Polygon([(0, 0), (2, 0), (2, 1), (0, 1)]), Polygon([(1, 1.1), (4, 1.1), (4, 2), (1, 2)])
    c = contact(a, b, clearance=0.2)
    assert_verified(c, a, b)
    assert (c.region.kind, c.region.length) == ("segment", pytest.approx(1.0))
    assert c.center == pytest.approx((1.5, 1.05))


def test_where_no_features_face_each_other_it_is_the_middle_of_the_witness_points():
    a, b = Box((0, 0, 0), (1, 1, 1)), Box((1.1, 1.2, 1.3), (1, 1, 1))
    c = contact(a, b, clearance=1.0)
    assert_verified(c, a, b)
    assert (c.region.kind, c.region.area) == ("point", 0.0)
    assert c.center == pytest.approx((0.55, 0.6, 0.65))


def test_beyond_the_clearance_there_is_no_region_and_the_center_holds_still():
    floor, rng = Box((0, -0.5, 0), (10, 1, 10)), np.random.default_rng(3)
    for low, half in (
        (Capsule((-0.6, 0.2, -0.2), (1.2, 0.2, -0.2), 0.2), 0.3),
        (Box((0.3, 0.5, -0.2), (1, 1, 1)), 0.3),
    ):
        body = low.translated((0, 1e-3, 0))
        for shape in (body, *(nudged(body, rng) for _ in range(10))):
            c = contact(floor, shape)
            assert (c.relation, c.region) == (Relation.SEPARATED, None)
            assert c.center == pytest.approx((half, 5e-4, -0.2), abs=1e-5)
            assert_verified(c, floor, shape)
    beside = replace(c._facing, centroid=c._facing.centroid + (0.1, 0.0, 0.0))
    assert failed_checks(c, floor, shape, _facing=beside) == ["the region's centroid is that of its outline"]


@pytest.mark.parametrize("kind", ["crate on floor", "ridge on ridge", "cylinder on floor", "lying capsule"])
def test_a_forged_region_of_a_gap_is_found(kind):
    a, b = PAIRS[kind][0], PAIRS[kind][1].translated((0, 0, 0.02))
    c = contact(a, b, clearance=CLEARANCE)
    region = c.region
    moved = replace(region, vertices=region.vertices + (0.1, 0, 0), centroid=region.centroid + (0.1, 0, 0))
    raised = replace(region, vertices=region.vertices + 0.01 * UP, centroid=region.centroid + 0.01 * UP)
    if region.arcs:
        moved = replace(moved, arcs=tuple(replace(arc, center=arc.center + (0.1, 0, 0)) for arc in region.arcs))
        raised = replace(raised, arcs=tuple(replace(arc, center=arc.center + 0.01 * UP) for arc in region.arcs))
    lies = [
        ("there is a region unless the shapes are separated", {"region": None}),
        ("there is a region unless the shapes are separated", {"region": None, "_facing": region}),
        ("there is a region unless the shapes are separated", {"clearance": 0.01}),
        ("intersection of the support features|on both shapes", {"region": moved}),
        ("half-way between|depths fit", {"region": raised}),
        ("depths fit", {"region": replace(region, depths=-region.depths)}),
        ("depths fit", {"region": replace(region, depths=3.0 * region.depths)}),
        ("centroid", {"region": replace(region, centroid=region.centroid + (0.1, 0, 0))}),
        ("size|area, length and centroid", {"region": replace(region, length=1.1 * region.length)}),
    ]
    assert_lies_found(c, a, b, lies)


def test_forged_regions_of_a_gap_of_compounds_are_found():
    a, b = PAIRS["table"][0], PAIRS["table"][1].translated((0, 0, 0.02))
    c = contact(a, b, clearance=CLEARANCE)
    assert len(c.regions) == 2

    def with_patch(**changes):
        first = c.regions[0]
        patch = replace(first.patches[0], region=replace(first.patches[0].region, **changes))
        return {"regions": (replace(first, patches=(patch,)), c.regions[1])}

    region = c.regions[0].patches[0].region
    high = with_patch(vertices=region.vertices + 0.5 * UP, depths=region.depths - 1.0)
    lies = [
        ("regions unless the compounds are separated", {"regions": ()}),
        ("regions unless the compounds are separated", {"clearance": 0.01}),
        ("on both compounds", with_patch(vertices=region.vertices + (1.0, 0, 0))),
        ("on both compounds", with_patch(vertices=region.vertices + 0.01 * UP)),
        ("on both compounds", with_patch(depths=-region.depths)),
        ("where the compounds are nearest", high),
        ("areas, lengths and centroids", {"regions": (replace(c.regions[0], area=0.3), c.regions[1])}),
    ]
    assert_lies_found(c, a, b, lies)


def test_rows_of_many_pairs_are_the_single_contacts_across_gaps_too():
    rng = np.random.default_rng(11)
    shapes = [FLOOR.scaled(1.5)]
    for k in range(40):
        turn = as_matrix(rotation(rng) if k % 2 else np.eye(3), (*rng.uniform(-2.0, 2.0, 2), 0.0))
        body = (Box((0, 0, 0), (0.5, 0.4, 0.3)), roof(1.0).scaled(0.3), drum(7, 0.2, 0.0, 0.4), Sphere((0, 0, 0), 0.2))
        shape = body[k % 4].transformed(turn)
        shapes.append(shape.translated((0.0, 0.0, rng.uniform(-0.01, 0.08) - shape.bounds[0][2])))
    rows = contacts(shapes, clearance=0.05)
    assert (rows.relation == Relation.WITHIN_CLEARANCE).sum() > 20
    bare = contacts(shapes, rows.pairs, clearance=0.05, regions=False)
    for k, (i, j) in enumerate(rows.pairs.tolist()):
        c = contact(shapes[i], shapes[j], clearance=0.05)
        assert rows.relation[k] is c.relation
        assert rows.center[k] == pytest.approx(c.center, abs=1e-7)
        assert (rows.region[k] is None) == (c.region is None) == (c.relation is Relation.SEPARATED)
        assert np.isnan(bare.center[k]).all() == (c.region is not None)
        if c.region is not None:
            assert rows.region[k].kind is c.region.kind
            assert (rows.region[k].area, rows.region[k].length) == pytest.approx((c.region.area, c.region.length))
            assert_verified(changed(c, region=rows.region[k]), shapes[i], shapes[j])


@pytest.mark.parametrize("tilt", [1e-9, 1e-6, 1e-3])
def test_rows_say_where_edges_along_each_other_meet_as_the_single_contact_does(tilt):
    """Edges that cross by less than the width of the features lie along each other."""
    turn = np.array([[np.cos(tilt), -np.sin(tilt), 0], [np.sin(tilt), np.cos(tilt), 0], [0, 0, 1]])
    for depth in (-0.05, 0.02):
        a, b = roof(-1.0), roof(1.0).transformed(as_matrix(turn, (0.4, 0.0, -depth)))
        c, rows = contact(a, b, clearance=CLEARANCE), contacts([a, b], [[0, 1]], clearance=CLEARANCE)
        assert (rows.region[0].kind, rows.center[0]) == (c.region.kind, pytest.approx(c.center, abs=1e-7))
        if depth < 0.0:
            assert c.region.kind == ("point" if tilt > 1e-4 else "segment")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "shape",
    [
        Capsule([-0.5, 0.3, 0.21], [0.7, 0.3, 0.21], 0.2),
        Cylinder([0.2, 0.1, 0.01], [0.2, 0.1, 1.0], 0.4),
        Cylinder([-0.5, 0.3, 0.21], [0.7, 0.3, 0.21], 0.2),
        Cone([0.2, 0.1, 0.01], [0.2, 0.1, 1.0], 0.4),
    ],
    ids=repr,
)
def test_the_center_of_a_separated_curved_shape_and_a_mesh_holds_still(shape):
    """Without a clearance too, whatever the floor is made of."""
    middle = shape.center * (1.0, 1.0, 0.0) + (0.0, 0.0, 0.005)
    for steps in (1, 7):
        floor = Mesh(*sheet(steps, 6.0, (-3.0, -3.0, 0.0)))
        for axis, angle in (((1, 0, 0), 0.0), ((1, 2, 0), 1e-9), ((-3, 1, 0), 1e-7), ((0, 1, 0), -1e-7)):
            moved = shape.transformed(as_matrix(rotation_about(axis, angle), np.zeros(3)))
            c = contact(moved, floor)
            assert c.relation is Relation.SEPARATED
            assert np.abs(c.center - middle).max() <= 1e-6
            assert_verified(c, moved, floor)
            assert failed_checks(c, moved, floor, _middle=middle + (0.0, 0.0, 0.1))
