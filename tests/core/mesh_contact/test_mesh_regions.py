# SPDX-License-Identifier: GPL-3.0-or-later
"""Where meshes rest on each other: the regions of their triangles.

Oracles are closed forms: a body that stands on a plane touches it with its base, whatever the plane is made of.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Box, Compound, Contact, ConvexHull, Mesh, Relation, Status, contact, contacts, verify
from contact_lens.core.region.region import RegionKind

from ..assertions import assert_verified, failed_checks
from ..generators import rotation, rotation_about
from ..mesh_shapes import Surface, block, flipped, joined, prism, sheet

L_OUTLINE = [(0, 0), (1, 0), (1, 0.4), (0.4, 0.4), (0.4, 1), (0, 1)]
L_FACES = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
JITTER = 5e-8  # of the size: less than a step of single precision


def table() -> Surface:
    """A board on four legs that reach into it: five boxes in one mesh."""
    legs = [block((0.1, 0.1, 0.55), (x, y, 0.0)) for x in (-0.5, 0.4) for y in (-0.3, 0.2)]
    return joined([block((1.0, 0.6, 0.1), (-0.5, -0.3, 0.5)), *legs])


def crate() -> Surface:
    """Five sides of a box, open at the top."""
    points, triangles = block((0.8, 0.6, 0.5), (-0.4, -0.3, 0.0))
    return points, triangles[(points[triangles][:, :, 2] < 0.25).any(axis=1)]


def terrain() -> Surface:
    """Hills about a level place."""
    points, triangles = sheet(24, 6.0, (-3.0, -3.0, 0.0))
    beyond = np.abs(points[:, :2]).max(axis=1) > 1.4
    points[beyond, 2] -= 0.3 * np.abs(np.sin(2.0 * points[beyond, 0] + points[beyond, 1]))
    return points, triangles


BODIES = {
    "box": (block((0.7, 0.5, 0.6), (-0.35, -0.25, 0.0)), 0.35, 1),
    "L": (prism(L_OUTLINE, L_FACES), 0.64, 1),
    "table": (table(), 0.04, 4),
    "crate": (crate(), 0.48, 1),
}
FLOORS = {
    "open": sheet(7, 6.0, (-3.0, -3.0, 0.0)),
    "solid": block((6.0, 6.0, 0.5), (-3.0, -3.0, -0.5)),
    "hollow": joined([block((6, 6, 1), (-3, -3, -1)), flipped(block((5, 5, 0.6), (-2.5, -2.5, -0.8)))]),
    "terrain": terrain(),
    "triangle": (np.array([[-20.0, -20, 0], [25, -20, 0], [0, 30, 0]]), np.array([[0, 1, 2]])),
    "crate": (crate()[0] * 7.0, crate()[1]),
}


def frame(rng: np.random.Generator) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation(rng), rng.normal(size=3) * 2.0
    return matrix


def jittered(shape: Mesh, rng: np.random.Generator) -> Mesh:
    """A mesh moved and turned by less than a step of single precision."""
    w = rng.normal(size=3) * JITTER
    matrix = np.eye(4)
    matrix[:3, :3] += [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    middle = shape.points.mean(axis=0)
    matrix[:3, 3] = middle - matrix[:3, :3] @ middle + rng.normal(size=3) * JITTER
    return shape.transformed(matrix)


def assert_alike(one: Contact, other: Contact, size: float) -> None:
    """No jump of relation, kind, area, centre and normal."""
    assert one.relation is other.relation
    assert [region.kind for region in one.regions] == [region.kind for region in other.regions]
    assert other.area == pytest.approx(one.area, rel=1e-3)
    assert other.center == pytest.approx(one.center, abs=1e-3 * size)
    assert float(one.normal @ other.normal) > np.cos(np.radians(1.0))


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("body", BODIES)
def test_a_body_rests_on_its_base_whatever_the_floor_is_made_of(body, floor):
    (points, triangles), area, count = BODIES[body]
    rng = np.random.default_rng([len(body), len(floor), ord(floor[0])])
    ground = Mesh(*FLOORS[floor])
    for gap in (0.0, rng.uniform(-4e-6, 4e-6)):
        pose, where = frame(rng), np.array([*rng.uniform(-0.3, 0.3, 2), gap])
        a, b = ground.transformed(pose), Mesh(points + where, triangles).transformed(pose)
        for budget in (0, None) if body == "box" else (0,):
            c = contact(a, b, budget=budget)
            assert c.relation is Relation.TOUCHING
            assert c.area == pytest.approx(area, rel=1e-6)
            assert [region.kind for region in c.regions] == [RegionKind.POLYGON] * count
            assert c.normal @ pose[:3, 2] == pytest.approx(1.0, abs=1e-6)
            assert_verified(c, a, b)
            assert_alike(c, contact(jittered(a, rng), jittered(b, rng), budget=budget), b.extent)
            swapped = contact(b, a, budget=budget)
            assert swapped.center == pytest.approx(c.center, abs=1e-6)
            assert swapped.normal == pytest.approx(-c.normal, abs=1e-6)


def test_the_region_within_the_clearance_is_in_the_middle_of_the_gap():
    rng = np.random.default_rng(4)
    for gap in (1e-4, 0.01, 0.2):
        for ground in (Mesh(*FLOORS["open"]), Mesh(*FLOORS["solid"])):
            pose = frame(rng)
            body = Mesh(BODIES["L"][0][0] + (0.2, 0.1, gap), BODIES["L"][0][1]).transformed(pose)
            ground = ground.transformed(pose)
            c = contact(ground, body, clearance=0.5, budget=0)
            assert c.relation is Relation.WITHIN_CLEARANCE
            assert c.area == pytest.approx(0.64, rel=1e-6)
            # An L of two rectangles, of areas 0.4 and 0.24.
            flat = (0.2, 0.1) + (0.4 * np.array([0.5, 0.2]) + 0.24 * np.array([0.2, 0.7])) / 0.64
            center = np.array([*flat, 0.5 * gap])
            assert c.center == pytest.approx(pose[:3, :3] @ center + pose[:3, 3], abs=1e-6)
            assert_verified(c, ground, body)
            assert_alike(c, contact(jittered(ground, rng), jittered(body, rng), clearance=0.5, budget=0), body.extent)


def test_a_body_on_two_steps_has_a_region_on_each():
    steps = joined([block((1, 1, 0.5), (0, 0, 0)), block((1, 1, 1), (1, 0, 0))])
    body = joined([block((0.6, 0.5, 1.0), (0.3, 0.2, 0.5)), block((0.7, 0.5, 0.5), (1.1, 0.2, 1.0))])
    for low in (0.0, 2e-6, -2e-6):
        c = contact(Mesh(*steps), Mesh(body[0] + (0, 0, low), body[1]), budget=0)
        assert [region.area for region in c.regions] == pytest.approx([0.35, 0.3])
        assert c.normal == pytest.approx([0, 0, 1], abs=1e-9)


def test_edges_and_corners_touch_in_segments_and_points():
    ground = Mesh(*FLOORS["open"])
    ridge = prism([(0.0, 0.0), (1.0, 0.3), (0.5, 1.0)], [(0, 1, 2)])  # along z
    lying = Mesh(ridge[0] @ np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]]), ridge[1][:, ::-1])
    c = contact(ground, lying, budget=0)
    assert [(region.kind, region.length) for region in c.regions] == [(RegionKind.SEGMENT, pytest.approx(1.0))]
    assert c.center == pytest.approx([0, 0.5, 0], abs=1e-9)
    assert c.normal == pytest.approx([0, 0, 1], abs=1e-9)
    assert_verified(c, ground, lying)
    tip = Mesh([[0.1, 0.2, 0], [1, 0, 1], [-1, 1, 1], [-1, -1, 1]], [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])
    c = contact(ground, tip, budget=0)
    assert [region.kind for region in c.regions] == [RegionKind.POINT]
    assert c.center == pytest.approx([0.1, 0.2, 0], abs=1e-9)
    assert c.normal == pytest.approx([0, 0, 1], abs=1e-9)
    # On a corner of the grid its edges cross those of the tip as well as the plane does.
    for shift in ((-0.1, -0.2, 0.0), (3.0 / 7.0 - 0.1, 3.0 / 7.0 - 0.2, 0.0)):
        c = contact(ground, tip.translated(shift), budget=0)
        assert c.normal == pytest.approx([0, 0, 1], abs=1e-9)
    across = lying.transformed(np.array([[0, -1.0, 0, 0.3], [-1, 0, 0, 0.2], [0, 0, -1, 0], [0, 0, 0, 1]]))
    c = contact(lying, across, budget=0)
    assert [region.kind for region in c.regions] == [RegionKind.POINT]
    assert abs(c.normal[2]) == pytest.approx(1.0)
    assert_verified(c, lying, across)


@pytest.mark.parametrize("turn", [0.0, 0.4], ids=["straight", "turned"])
def test_an_edge_in_the_notch_of_a_base_touches_beside_it(turn: float) -> None:
    floor = Mesh(*FLOORS["solid"])
    keel = prism([(0.0, 0.0), (0.1, 0.2), (-0.1, 0.2)], [(0, 1, 2)], (0.5, 0.8))  # along z
    keel = keel[0] @ np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]) + (0.1, 0.7, 0), keel[1]
    points, triangles = joined([prism(L_OUTLINE, L_FACES), keel])
    body = Mesh(points @ rotation_about([0, 0, 1], turn).T, triangles)
    for a, b in ((floor, body), (body, floor)):
        c = contact(a, b, budget=0)
        assert [region.kind for region in c.regions] == [RegionKind.POLYGON, RegionKind.SEGMENT]
        assert c.regions[0].area == pytest.approx(0.64)
        assert c.regions[1].length == pytest.approx(0.3)


def test_a_box_in_the_corner_of_a_crate_touches_three_sides():
    inside = Mesh(*block((0.3, 0.2, 0.25), (-0.4, -0.3, 0.0)))
    for surface in (crate(), FLOORS["crate"]):
        a, b = Mesh(*surface), inside
        if surface is FLOORS["crate"]:
            b = inside.translated(a.bounds[0] - b.bounds[0])
        c = contact(a, b, budget=0)
        assert sorted(region.area for region in c.regions) == pytest.approx([0.05, 0.06, 0.075])
        assert {region.kind for region in c.regions} == {RegionKind.POLYGON}
        assert_verified(c, a, b)


def test_parts_that_lie_on_each_other_count_once():
    ground = Mesh(*FLOORS["open"])
    cross = Mesh(*joined([block((1.0, 0.4, 0.3), (-0.5, -0.2, 0)), block((0.4, 1.0, 0.3), (-0.2, -0.5, 0))]))
    c = contact(ground, cross, budget=0)
    assert [region.area for region in c.regions] == [pytest.approx(0.64)]
    assert_verified(c, ground, cross)


def test_the_outline_of_parts_that_lie_on_each_other_has_no_sides_of_rounding():
    rng = np.random.default_rng(1)
    ground = Mesh(*FLOORS["open"])
    cross = Mesh(*joined([block((1.0, 0.4, 0.3), (-0.5, -0.2, 0)), block((0.4, 1.0, 0.3), (-0.2, -0.5, 0))]))
    for _ in range(4):
        pose = frame(rng)
        a, b = jittered(ground.transformed(pose), rng), jittered(cross.transformed(pose), rng)
        c = contact(a, b, budget=0)
        (region,) = c.regions
        lengths = np.linalg.norm(region.outline[:, 1] - region.outline[:, 0], axis=1)
        assert lengths.sum() == pytest.approx(4.0, rel=1e-6)
        assert lengths.min() > 1e-14
        assert_verified(c, a, b)


def test_a_touch_has_a_region_and_a_direction_at_every_size_and_place():
    for scale, place in ((1e-4, 0.0), (1e5, 0.0), (1.0, 1e6), (1e-30, 0.0), (1e30, 0.0)):
        ground, body = FLOORS["open"], BODIES["box"][0]
        a, b = (Mesh(points * scale + place, triangles) for points, triangles in (ground, body))
        c = contact(a, b, budget=0)
        assert c.area == pytest.approx(0.35 * scale * scale, rel=1e-4)
        assert c.normal == pytest.approx([0, 0, 1], abs=1e-6)
        assert c.status is Status.CERTIFIED
        assert_verified(c, a, b)


def test_forged_regions_are_found():
    a, b = Mesh(*FLOORS["open"]), Mesh(*BODIES["box"][0])
    c = contact(a, b, budget=0)
    (region,) = c.regions
    patch = region.patches[0]
    aside = replace(patch, region=replace(patch.region, vertices=patch.region.vertices + (0.4, 0.0, 0.0)))
    below = replace(patch, region=replace(patch.region, depths=patch.region.depths + 0.01))
    other = replace(patch, piece_a=(patch.piece_a + 20) % len(a.triangles))
    for forged in (
        (),
        (replace(region, area=2.0 * region.area),),
        (replace(region, centroid=region.centroid + (0.1, 0.0, 0.0)),),
        (replace(region, outline=region.outline * 1.5),),
        (replace(region, patches=(aside, *region.patches[1:])),),
        (replace(region, patches=(below, *region.patches[1:])),),
        (replace(region, patches=(other, *region.patches[1:])),),
        (replace(region, patches=()),),
        (replace(region, normal=-region.normal),),
        (region, region),
        (replace(region, patches=replace(region.patches, centroids=region.patches.centroids + (0.01, 0.0, 0.0))),),
    ):
        assert failed_checks(c, a, b, regions=forged)
    hull = ConvexHull(b.points)
    assert verify(contact(a, hull, budget=0), a, hull)


def quad(low: tuple[float, float], high: tuple[float, float]) -> Mesh:
    """A rectangle in the plane z = 0."""
    corners = [(low[0], low[1], 0), (high[0], low[1], 0), (high[0], high[1], 0), (low[0], high[1], 0)]
    return Mesh(corners, [(0, 1, 2), (0, 2, 3)])


@pytest.mark.parametrize("solid", [False, True])
def test_a_strip_narrower_than_the_contact_tolerance_is_a_segment(solid: bool) -> None:
    """Sheets side by side, and blocks that share one edge, overlap or miss each other by rounding."""
    one, other = quad((0.0, -2.0), (2.0, 2.0)), quad((2.0, -1.0), (4.0, 1.0))
    if solid:
        one, other = Mesh(*block((2, 4, 1), (0, -2, -1))), Mesh(*block((2, 2, 1), (2, -1, 0)))
    rng = np.random.default_rng(6)
    for moved in (other, *(jittered(other, rng) for _ in range(8))):
        c = contact(one, moved, budget=0)
        assert (c.relation, [region.kind for region in c.regions]) == (Relation.TOUCHING, [RegionKind.SEGMENT])
        assert abs(c.length - 2.0) <= 1e-5
        assert np.abs(c.center - [2.0, 0.0, 0.0]).max() <= 1e-5
        assert_verified(c, one, moved)


def test_a_bar_in_a_groove_touches_both_sides_and_verifies() -> None:
    """Across one side it slides along the other: only rounding tells whether they meet then."""
    outline = [(0, -1), (-1, 0), (-2, 0), (-2, -3), (2, -3), (2, 0), (1, 0)]
    groove = Mesh(*prism(outline, [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5), (0, 5, 6)], (-2.0, 2.0)))
    bar = Mesh(*prism([(0, -1), (1, 0), (0, 1), (-1, 0)], [(0, 1, 2), (0, 2, 3)], (-0.5, 0.5)))
    rng = np.random.default_rng(7)
    for pose in (np.eye(4), *(frame(rng) for _ in range(5))):
        a, b = bar.transformed(pose), groove.transformed(pose)
        for c in (contact(a, b, budget=0), contact(a, b)):
            assert c.relation is Relation.TOUCHING
            assert abs(c.area - 2.0 * np.sqrt(2.0)) <= 1e-6
            assert_verified(c, a, b)


def test_an_outline_beside_what_is_within_the_clearance_is_found():
    a, b = Mesh(*FLOORS["open"]), Mesh(*BODIES["box"][0]).translated((0.0, 0.0, 0.02))
    c = contact(a, b, clearance=0.1)
    (region,) = c.regions
    move = np.array([0.05, 0.0, 0.0])
    aside = replace(region, outline=region.outline + move, centroid=region.centroid + move)
    assert not failed_checks(c, a, b)
    assert failed_checks(c, a, b, regions=(aside,))


def test_bent_surfaces_of_many_triangles_that_touch_verify():
    points, triangles = sheet(20, 6.0, (-3.0, -3.0, 0.0))
    points[:, 2] = 0.4 * np.sin(2.0 * points[:, 0]) * np.cos(points[:, 1])
    a, b = Mesh(points, triangles), Mesh(points, triangles[len(triangles) // 2 :])
    c = contact(a, b, budget=0)
    assert c.relation is Relation.TOUCHING
    assert c.area == pytest.approx(b.area)
    assert_verified(c, a, b)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_regions_that_are_not_asked_for_are_not_found(step: int) -> None:
    """Relations, distances and statuses are the same, and all that is found of what penetrates."""
    rng = np.random.default_rng(1)
    turn, away = rotation(rng), rng.normal(size=3)
    heights = (-0.1, 0.0, 1e-8, 0.05)
    moved = [(points + [0, 0, z], faces) for (points, faces), _, _ in BODIES.values() for z in heights]
    shapes = [Mesh(points @ turn.T + away, faces) for points, faces in [*moved, *FLOORS.values()]]
    pairs = [[i, j] for i in range(len(moved)) for j in range(len(moved), len(shapes))][::step]
    options = {"clearance": 0.1, "budget": 0.0, "depths": False}
    every, light = (contacts(shapes, pairs, regions=asked, **options) for asked in (True, False))
    for row in range(len(pairs)):
        whole, found = every.contact(row), light.contact(row)
        assert (found.relation, found.status, found.has_depth) == (whole.relation, whole.status, whole.has_depth)
        if found.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE):
            assert whole.regions
            assert not found.regions
            assert abs(found.signed_distance - whole.signed_distance) <= 1e-9
            assert np.linalg.norm(found.normal) == pytest.approx(np.linalg.norm(whole.normal))
        else:
            assert np.array_equal(found.normal, whole.normal)
            assert found.upper_bound == whole.upper_bound
            assert len(found.regions) == len(whole.regions)


def test_compounds_that_touch_without_regions() -> None:
    """They have the same relation and distance."""
    a, b = (Compound([Box([x, y, 0], [1, 1, 1]) for y in (0, 1)]) for x in (0, 1))
    whole, found = contact(a, b), contact(a, b, regions=False)
    assert whole.regions
    assert not found.regions
    assert (found.relation, found.signed_distance) == (Relation.TOUCHING, whole.signed_distance)
