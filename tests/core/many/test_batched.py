# SPDX-License-Identifier: GPL-3.0-or-later
"""What the batches of boxes and polytopes compute is true of each pair."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial import ConvexHull as QHull

from contact_lens.core import Box, Contacts, ConvexHull, box_sat, contact, contacts, gjk_intersects, verify
from contact_lens.core.many.batched.box_axes import (
    SingleChunks,
    box_axes,
    boxes_intersect,
    double_chunks,
    near_box_axes,
)
from contact_lens.core.many.batched.box_regions import BoxRegions, box_regions
from contact_lens.core.many.batched.boxes import BoxColumns
from contact_lens.core.many.batched.columns import CHUNK
from contact_lens.core.many.batched.depth import hull_depths
from contact_lens.core.many.batched.distance import hull_distances
from contact_lens.core.many.batched.first_hulls import VERTICES, first_hulls
from contact_lens.core.many.batched.hull_intersection import are_separated, intersect_hulls, rays_meet, sphere_slabs
from contact_lens.core.many.batched.hull_table import HullTable
from contact_lens.core.many.batched.portals import APART, MEET, OPEN, search_portals
from contact_lens.core.region.region import region_between

from ..generators import CUBE, disc, rotation, sphere, sphere_points
from ..many_shapes import BOX_KINDS, SIZES, gap_across, make_boxes, promised, random_pairs
from ..oracles import EPS
from .test_contacts import shapes_of_kind

# ---------------------------------------------------------------------------------------------------------------------
# Boxes


@pytest.mark.parametrize("kind", [*BOX_KINDS, "all sizes", "minute"])
@pytest.mark.parametrize("count", SIZES)
def test_the_decisive_axis_of_boxes_is_that_of_one_pair(kind, count):
    """What single precision leaves out must be worse for sure, however boxes differ in size, and whatever ties."""
    shapes = make_boxes(150, kind)
    table = BoxColumns.of(shapes)
    i, j = np.ascontiguousarray(random_pairs(count, 150, seed=count).T)
    found = box_axes(table, i, j)
    limit = np.where(np.arange(count) % 2, 0.0, 0.1)
    columns, axes, slabs = near_box_axes(table, i, j, limit)
    assert np.array_equal(np.sort(np.concatenate([columns, slabs.columns])), np.arange(count))
    assert np.isin(np.flatnonzero(found.signed_distance <= limit), columns).all()
    for name in ("axis", "signed_distance", "normal", "rounding"):
        assert np.array_equal(getattr(axes, name), getattr(found.take(columns), name))
    assert (slabs.lower_bound > limit[slabs.columns]).all()
    for normal, lower, upper, k in zip(
        slabs.normal.T, slabs.lower_bound, slabs.upper_bound, slabs.columns, strict=True
    ):
        gap = gap_across(shapes[i[k]], shapes[j[k]], normal)
        assert gap >= lower >= 0.99 * gap - 1e-4 * (shapes[i[k]].extent + shapes[j[k]].extent)
        assert upper >= np.linalg.norm(shapes[j[k]].center - shapes[i[k]].center)
    meet, doubtful = boxes_intersect(table, i, j)
    sure = ~np.isin(np.arange(count), doubtful)
    for k in range(0, count, 1 + count // 700):
        a, b = shapes[i[k]], shapes[j[k]]
        if a.rank < 3 or b.rank < 3:
            continue
        single, room = box_sat(a, b), 2.0 * found.rounding[k]
        if abs(single.signed_distance) > room:
            assert (found.signed_distance[k] <= 0.0) == single.intersects
            assert not sure[k] or meet[k] == single.intersects
        if single.intersects:
            assert abs(found.signed_distance[k] - single.signed_distance) <= room
            if kind == "turned":
                assert found.axis[k] == single.axis
                assert np.allclose(found.normal[:, k], single.normal, rtol=0.0, atol=1e-13)
    if count > CHUNK:
        return
    chunk = SingleChunks(table, count)
    offset, square, reach = chunk.spheres(i, j)
    single = chunk.edges(chunk.faces(i, j, offset, np.maximum(reach, np.sqrt(square))), np.arange(count))
    for part, exact in double_chunks(table, i, j):
        exact.edges(careful=False)
        room = single.rounding[part].astype(float)
        assert (np.abs(single.overlap[:, part] - table.scale * exact.overlap) <= 0.5 * room).all()
        sine = np.sqrt(exact.square), np.sqrt(single.square[..., part].astype(float))
        assert np.abs(sine[0] - sine[1]).max() <= 8.0 * 2.0**-24


def test_few_boxes_are_measured_as_many_are():
    """In place, numpy 2.4 negates numbers wrongly that are 64 bytes apart, as those of eight pairs are."""
    table = BoxColumns.of(make_boxes(150, "turned"))
    i, j = np.ascontiguousarray(random_pairs(1_000, 150, seed=3).T)
    many = box_axes(table, i, j)
    for start in range(0, 900, 30):
        for count in range(1, 21):
            part = slice(start, start + count)
            few = box_axes(table, i[part], j[part])
            assert np.array_equal(few.axis, many.axis[part])
            assert np.allclose(few.rows, many.rows[:, part], rtol=1e-12, atol=1e-13)


def test_boxes_from_poses_are_those_from_shapes():
    shapes = make_boxes(60, "turned")
    rows = (np.array([getattr(box, name) for box in shapes]) for name in ("center", "axes", "half"))
    posed = BoxColumns.from_poses(*rows)
    assert np.array_equal(BoxColumns.of(shapes).frames, posed.frames)
    for bounds, k in zip(posed.bounds(), (0, 1), strict=True):
        assert np.allclose(bounds.T, [box.bounds[k] for box in shapes], atol=1e-14)


def stacked_boxes(count: int, how: str) -> list[Box]:
    """Boxes two by two, the second on the first, both in one random pose."""
    rng = np.random.default_rng([7, *how.encode()])
    result = []
    for _ in range(count):
        sizes = rng.uniform(0.5, 1.5, (2, 3))
        x, y = rng.uniform(-0.6, 0.6, 2)
        quarters = 0 if how in ("turned faces", "contained") else rng.integers(4)
        angle = 0.5 * np.pi * quarters if how not in ("turned faces", "contained") else rng.uniform(-np.pi, np.pi)
        sides = sizes[1, 1::-1] if quarters % 2 else sizes[1, :2]  # along the axes of the first
        reach = 0.5 * (sizes[0, :2] + sides)
        if how == "flush":
            x, y = rng.choice([-0.5, 0.5], 2) * (sizes[0, :2] - sides)
        elif how in ("beside", "corner"):
            x, y = reach[0], reach[1] if how == "corner" else y
        elif how == "contained":
            sizes[1] *= 0.2
            x, y = 0.2 * x, 0.2 * y
        turn, about = np.eye(4), np.eye(4)
        turn[:3, :3], turn[:3, 3] = rotation(rng), rng.uniform(-2, 2, 3)
        about[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        about[:3, 3] = x, y, 0.5 * sizes[:, 2].sum()
        result += [Box.from_matrix(m, -0.5 * s, 0.5 * s) for m, s in ((turn, sizes[0]), (turn @ about, sizes[1]))]
    return result


def regions_of(shapes: list[Box], found: Contacts, swapped: bool = False) -> BoxRegions:
    """The regions for the normals and witness points of what was found."""
    a, b = found.pairs[:, ::-1].T if swapped else found.pairs.T
    extents, magnitudes = (
        np.array([getattr(s, name) for s in shapes])[np.stack([a, b])] for name in ("extent", "magnitude")
    )
    normal, points = found.normal.T, (found.point_on_a.T, found.point_on_b.T)
    normal, points = (-normal, points[::-1]) if swapped else (normal, points)
    band = 1e-6 * extents.min(axis=0)
    return box_regions(BoxColumns.of(shapes), a, b, normal, band, extents, magnitudes.max(axis=0), *points)


@pytest.mark.parametrize("kind", [*BOX_KINDS, "turned faces", "aligned", "flush", "beside", "corner", "contained"])
@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_regions_of_many_boxes_are_those_of_one_pair(kind, count):
    if kind in BOX_KINDS:
        shapes = [box for box in make_boxes(250, kind) if box.rank == 3]
        pairs = random_pairs(4 * count, len(shapes))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    else:
        shapes, pairs = stacked_boxes(count, kind), np.arange(2 * count).reshape(-1, 2)
    found = contacts(shapes, pairs, regions=False)
    found = contacts(shapes, pairs[found.intersects], regions=False)
    many, other = regions_of(shapes, found), regions_of(shapes, found, swapped=True)
    assert np.array_equal(many.found, other.found)
    # Slivers that nearly touch are left.
    assert many.found.sum() >= (0.8 if kind == "quarter turns" else 0.99) * len(found) - 4
    for k in np.flatnonzero(many.found).tolist():
        a, b = (shapes[n] for n in found.pairs[k])
        normal, points = found.normal[k], (found.point_on_a[k].tolist(), found.point_on_b[k].tolist())
        single = region_between(a, b, normal, 1e-6 * min(a.extent, b.extent), *points)
        region, swapped = many.region(k), other.region(k)
        tol = 64.0 * EPS * max(a.magnitude, b.magnitude)
        assert (region.kind, len(region.vertices)) == (single.kind, len(single.vertices))
        away = np.abs(region.vertices[:, None] - single.vertices[None]).max(axis=2)
        order = away.argmin(axis=1)
        assert len(order) < 3 or ((np.roll(order, -1) - order) % len(order) == 1).all()
        assert abs(region.area - single.area) <= tol * (single.length + 1.0)
        assert abs(region.length - single.length) <= 8.0 * tol
        assert np.abs(region.depths - single.depths[order]).max() <= 2.0 * tol
        if kind != "quarter turns":  # there sides cross at 1e-7: where, is uncertain by that much more
            assert away.min(axis=1).max() <= tol
            assert np.abs(region.centroid - single.centroid).max() <= 8.0 * tol
            assert [set(pair) for pair in region.features] == [set(single.features[n]) for n in order]
        # Swapped, it is the same in the other order, to the last digit.
        assert np.array_equal(swapped.vertices, region.vertices[::-1])
        assert np.array_equal(swapped.depths, region.depths[::-1])
        assert (swapped.area, swapped.length) == (region.area, region.length)
        assert [pair[::-1] for pair in swapped.features[::-1]] == list(region.features)
        true = contact(a, b, contact_tolerance=1e-6) if k % 10 == 0 else None
        if true is not None and np.array_equal(true.normal, normal):
            assert verify(dataclasses.replace(true, region=region), a, b).ok


def test_sides_of_faces_nearly_along_each_other_have_the_region_of_one_pair():
    """Whether a long side and a short one are on one line depends on which of them is asked: rounding decides."""
    shapes = []
    for k in range(60):
        turn = np.eye(4)
        turn[:2, :2] = [[1.0, angle := (k - 30) * 1e-15], [-angle, 1.0]]
        turn[:3, 3] = 0.1 * k - 3.0, 2.0, 1.0
        shapes += [Box((0, 0, 0), (8, 2, 1)), Box.from_matrix(turn, (-0.5, -1, -0.5), (0.5, 1, 0.5))]
    found = contacts(shapes, np.arange(120).reshape(-1, 2))
    for k, (i, j) in enumerate(found.pairs.tolist()):
        a, b, region = shapes[i], shapes[j], found.region[k]
        points = found.point_on_a[k].tolist(), found.point_on_b[k].tolist()
        single = region_between(a, b, found.normal[k], 1e-5 * min(a.extent, b.extent), *points)
        assert region.kind == single.kind
        assert abs(region.length - single.length) <= 1e-12
        assert np.abs(region.centroid - single.centroid).max() <= 1e-12


def test_mirrored_boxes_name_their_faces_in_the_right_direction():
    top = Box.from_matrix(np.diag([-1.0, 1.0, 1.0, 1.0]), [-0.2, -0.2, 0.5], [0.2, 0.2, 1.0])
    for base in (Box((0, 0, 0), (1, 1, 1)), Box.from_matrix(np.diag([1.0, -1.0, 1.0, 1.0]), [-0.5] * 3, [0.5] * 3)):
        region = regions_of([base, top], contacts([base, top], [[0, 1]], regions=False)).region(0)
        (loop,), (true,) = ({pair[0].vertices for pair in r.features} for r in (region, contact(base, top).region))
        assert loop == true


# ---------------------------------------------------------------------------------------------------------------------
# Polytopes


def hulls_of_kind(kind: str) -> list[ConvexHull]:
    """Hulls of every class, near and far; with few vertices; regular ones; round ones one in the other; flat ones."""
    rng = np.random.default_rng(list(kind.encode()))
    if kind in ("classes", "far"):
        return [ConvexHull(shape.vertices + (1e6 if kind == "far" else 0.0)) for shape in shapes_of_kind("space")]
    if kind == "few":
        return [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-1, 1, 3)) for n in rng.integers(4, 8, 80)]
    if kind == "hulls":
        return [ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(-2, 2, 3)) for n in rng.integers(5, 60, 80)]
    if kind == "round":
        return [ConvexHull(sphere_points(rng, 100) + rng.uniform(-0.3, 0.3, 3)) for _ in range(40)]
    if kind == "rings":
        return [
            ConvexHull(np.concatenate([disc(300), [[0, 0, 1.5]]]) + [4.0 * k, 0.3 * k * k, 0.1 * k]) for k in range(20)
        ]
    points = {"cubes": CUBE, "spheres": sphere(8, 16), "thin": CUBE * [1.0, 1.0, 0.0]}[kind]
    return [
        ConvexHull(points @ (rotation(rng) if kind == "thin" else np.eye(3)) + 0.5 * rng.normal(size=3))
        for _ in range(40)
    ]


LEFT = {"classes": 1.0, "far": 1.0, "thin": 1.0, "cubes": 0.5, "spheres": 0.1, "round": 0.1, "rings": 0.1}
"""Fraction of pairs for which nothing may be found; of all others 2 %."""


@pytest.mark.fast_cases(9)
@pytest.mark.parametrize("kind", ["classes", "far", "few", "hulls", "round", "rings", "cubes", "spheres", "thin"])
@pytest.mark.parametrize("count", [1, 40, 800, pytest.param(20_000, marks=pytest.mark.slow)])
def test_what_batches_of_hulls_prove_is_true(kind, count):
    """Slabs, rays, portals, distances and depths, alone and, to the last digit the same, among others."""
    shapes = hulls_of_kind(kind)
    table = HullTable.of([*shapes, ConvexHull(CUBE + 1e12)] if kind == "far" else shapes)
    pairs = random_pairs(count, len(shapes), seed=count)
    i, j = np.ascontiguousarray(pairs[pairs[:, 0] != pairs[:, 1]].T)
    width = np.zeros(len(i))
    state, slabs, portals = intersect_hulls(table, i, j, True), sphere_slabs(table, i, j), search_portals(table, i, j)
    separated, meet = are_separated(table, i, j), rays_meet(table, i, j)
    deep, apart = hull_depths(table, i, j), hull_distances(table, i, j, width)
    few = np.arange(0, len(i), 2)
    part = hull_depths(table, i[few], j[few]), hull_distances(table, i[few], j[few], width[few])
    for whole, some in zip((deep, apart), part, strict=True):
        for field in dataclasses.fields(some):
            own, other = getattr(some, field.name), getattr(whole, field.name)[..., few]
            assert own.tobytes() == np.ascontiguousarray(other).tobytes(), field.name
    assert not (deep.found & apart.found).any()
    assert not deep.found[state == APART].any()
    assert (state[separated] == APART).all()
    assert (~deep.found & ~apart.found).sum() <= 10 + LEFT.get(kind, 0.02) * len(i)
    assert (state == OPEN).sum() <= 10 + LEFT.get(kind, 0.02) * len(i)
    for k in range(0, len(i), 1 + len(i) // 400):
        a, b = shapes[i[k]], shapes[j[k]]
        true = contact(a, b)
        tol = promised(a, b, true.signed_distance)
        if abs(true.signed_distance) > tol:
            assert state[k] in (OPEN, MEET if true.intersects else APART)
        assert not meet[k] or true.signed_distance <= tol
        for found in (slabs, portals):
            if found.state[k] == APART:
                assert gap_across(a, b, found.normal[:, k]) >= found.margin[k] >= 0.0
            elif found.state[k] == MEET:
                assert true.upper_bound <= tol - found.margin[k]
        for found in (deep, apart):
            if found.found[k]:
                assert found.lower_bound[k] <= true.upper_bound
                assert found.upper_bound[k] >= true.lower_bound
                assert gap_across(a, b, found.normal[:, k]) >= found.signed_distance[k] - tol
                if found.upper_bound[k] - found.lower_bound[k] <= tol:
                    for shape, points in ((a, found.on_a), (b, found.on_b)):
                        assert shape.rank < 3 or shape.signed_distance(points[None, :, k])[0] <= 2.0 * tol


def test_slabs_find_gaps_down_to_a_millionth_and_rays_most_common_points():
    gaps = np.array([1e-2, 1e-4, 1e-5, -1e-7, -1e-3])
    shapes = [ConvexHull(CUBE), *(ConvexHull(CUBE + [np.ptp(CUBE[:, 0]) + gap, 0.3, -0.2]) for gap in gaps)]
    first, other = np.zeros(5, dtype=np.intp), np.arange(1, 6)
    assert are_separated(HullTable.of(shapes), first, other).tolist() == [True] * 3 + [False] * 2
    hulls = hulls_of_kind("round")
    i, j = np.ascontiguousarray(random_pairs(1_500, 40).T)
    assert rays_meet(HullTable.of(hulls), i, j).mean() > 0.99


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_posed_tables_are_those_of_transformed_shapes(far):
    rng = np.random.default_rng(9)
    local = hulls_of_kind("hulls")
    axes, centers = np.array([rotation(rng) for _ in local]), rng.uniform(-3, 3, (80, 3)) + far
    shapes = [ConvexHull(h.vertices @ a + c) for h, a, c in zip(local, axes, centers, strict=True)]
    i, j = np.ascontiguousarray(random_pairs(2_000, 80).T)
    affine = np.concatenate([axes.transpose(2, 1, 0), centers.T[:, None]], axis=1)
    table, made = HullTable.of(local).posed(np.arange(80), affine), HullTable.of(shapes)
    states = np.array([intersect_hulls(of, i, j, True) for of in (table, made)])
    sure = (states != OPEN).all(axis=0)
    assert np.array_equal(*states[:, sure])
    assert sure.sum() > 1_900
    assert (rays_meet(table, i, j) == rays_meet(made, i, j)).mean() > 0.95
    for bounds, k in zip(table.bounds(), (0, 1), strict=True):
        assert np.allclose(bounds.T, [shape.bounds[k] for shape in shapes], atol=1e-9)
    for k in range(0, len(i), 20):
        assert state_is_true(states[0, k], shapes[i[k]], shapes[j[k]])


def state_is_true(state: int, a: ConvexHull, b: ConvexHull) -> bool:
    return state == OPEN or (state == MEET) == gjk_intersects(a, b)


# ---------------------------------------------------------------------------------------------------------------------
# Hulls of six points

LIMIT = 1e-10


@pytest.mark.parametrize("count", [1, 40, 1_000, 20_000])
def test_facets_are_those_of_qhull_and_face_outward(count):
    points = np.random.default_rng(count).normal(size=(3, VERTICES, count)) + 0.5  # the origin is inside of some
    hull, corners = first_hulls(points, np.full(count, LIMIT))
    assert (np.diff(hull) >= 0).all()
    p, q, r = (points[:, corners[:, k], hull] for k in range(3))
    outward = np.cross(q - p, r - p, axis=0)
    assert (np.einsum("ck,ck->k", outward, p - points.mean(axis=1)[:, hull]) > 0.0).all()
    assert np.bincount(hull, minlength=count).max() <= 2 * VERTICES - 4
    for k in range(0, count, 1 + count // 200):
        facets = {frozenset(row) for row in corners[hull == k].tolist()}
        assert facets == {frozenset(row) for row in QHull(points[:, :, k].T).simplices.tolist()}
    # Each edge is there once in either direction.
    sides = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    codes, opposite = (np.tile(hull, 3) * VERTICES**2 + sides @ weights for weights in ([VERTICES, 1], [1, VERTICES]))
    assert len(set(codes.tolist())) == len(codes)
    assert set(codes.tolist()) == set(opposite.tolist())


def test_hulls_in_doubt_have_no_facets():
    points = np.random.default_rng(5).normal(size=(3, VERTICES, 4))
    points[2, :4, 0] = 1.0  # four points in one plane
    points[:, 5, 1] = points[:, 4, 1]  # twice the same
    points[:, :, 2] += 50.0  # far from the origin
    points[:, :5, 3] = np.concatenate([2.0 * np.eye(3), -2.0 * np.eye(3)[:, :2]], axis=1) + 1e-3 * points[:, :5, 3]
    points[:, 5, 3] = 0.1  # inside: no vertex of any facet
    hull, corners = first_hulls(points, np.full(4, LIMIT))
    assert set(hull.tolist()) == {2, 3}
    assert 5 not in corners[hull == 3]
    assert (hull == 3).sum() == 6
