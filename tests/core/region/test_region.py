# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact region against statements of geometry, and against shapely as an independent oracle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contact_lens.core import ConvexHull
from contact_lens.core.region.region import Region, RegionKind, contact_region
from contact_lens.core.shapes.feature import Feature, FeatureKind
from contact_lens.core.shapes.polytope import Polytope

from ..generators import OCTAHEDRAL, box, disc, rotation, rotation_about
from ..oracles import EPS

Array = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
CUBE, ON_TOP = box(1), box(1, (0.25, 0.5, 1))


def shape(points: Any) -> Polytope:
    """A polytope of which only the corners matter: a region is made of nothing else."""
    vertices = np.ascontiguousarray(points, dtype=float)
    dim = vertices.shape[1]
    none = np.zeros((0, 2), dtype=np.intp)
    return Polytope(vertices, dim, none, none, (), np.zeros((0, dim)), np.zeros(0))


def cone(outline: Any, height: float) -> Array:
    """Corners of which the first are the outline, in the plane z = 0, and the last is above or below its middle."""
    flat = np.asarray(outline, dtype=float)
    return np.vstack([np.c_[flat, np.zeros(len(flat))], [*flat.mean(axis=0), height]])


def below(outline: Any) -> Array:
    return cone(outline, -1.0)


def above(outline: Any) -> Array:
    return cone(outline, 1.0)


def regular(sides: int, radius: float = 1.0, phase: float = 0.0) -> Array:
    return disc(sides, radius, turn=phase)[:, :2]


def meet(a: Any, b: Any, normal: Any = UP, at: Any | None = None, width: float = 1e-5) -> Region:
    """The region, with witness points on the two support planes above `at` (default: between the two shapes)."""
    a, b, n = shape(a), shape(b), np.asarray(normal, dtype=float)
    top, bottom = (a.vertices @ n).max(), (b.vertices @ n).min()
    middle = 0.5 * (a.vertices.mean(axis=0) + b.vertices.mean(axis=0)) if at is None else np.asarray(at, dtype=float)
    on_plane = middle - (middle @ n) * n
    region = contact_region(a, b, n, width, on_plane + top * n, on_plane + bottom * n)
    assert_sound(region, n)
    # In the plane half-way between the support planes.
    np.testing.assert_allclose(region.vertices @ n, 0.5 * (top + bottom), rtol=1e-12, atol=1e-12 * np.ptp(a.vertices))
    return region


def assert_sound(region: Region, normal: Array) -> None:
    """Every region is finite, and a polygon is convex and counter-clockwise about the normal."""
    count, dim = region.vertices.shape
    assert (dim, region.centroid.shape, region.depths.shape) == (len(normal), (dim,), (count,))
    assert len(region.features) == count
    assert all(np.isfinite(x).all() for x in (region.vertices, region.centroid, region.depths))
    sides = np.roll(region.vertices, -1, axis=0) - region.vertices
    if region.kind is RegionKind.POINT:
        assert (count, region.area, region.length) == (1, 0.0, 0.0)
    elif region.kind is RegionKind.SEGMENT:
        assert (count, region.area) == (2, 0.0)
        assert region.length == pytest.approx(np.linalg.norm(sides[0]), rel=1e-6)
    else:
        assert count >= 3
        assert 0.0 < region.area < np.inf
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ normal
        assert (turns > -64 * EPS * np.abs(region.vertices).max() * region.length).all()


def rows(points: Any, digits: int = 9) -> list[tuple[float, ...]]:
    """Points with rounded coordinates; the first corner of a region is any, so compare sorted lists or sets."""
    return [tuple(row) for row in (np.round(points, digits) + 0.0).tolist()]


def overlap(a: Array, b: Array) -> shapely.Geometry:
    return shapely.MultiPoint(a).convex_hull.intersection(shapely.MultiPoint(b).convex_hull)


# --- Examples -------------------------------------------------------------------------------------------------

ROOF, SPIKE = [[-1, 0, 0], [1, 0, 0], [0, -1, -1], [0, 1, -1]], np.array([[0, 0, 0], [1, 0, 2], [0, 1, 2], [-1, -1, 2]])
RIDGE = [[0, 0, 0], [1, 1, 0], [1, 0, -1], [0, 1, -1]]
TOP, BOTTOM = (1, 3, 5, 7), (0, 2, 4, 6)
Corners = dict[tuple[float, ...], tuple[tuple[int, ...], tuple[int, ...]] | None]

EXAMPLES: dict[str, tuple[Any, Any, Corners]] = {
    # Each corner of the region with the vertices of the features of A and of B on which it lies.
    "faces": (CUBE, ON_TOP, {
        (-0.25, 0, 0.5): (TOP, (0,)), (0.5, 0, 0.5): ((5, 7), (0, 4)),
        (0.5, 0.5, 0.5): ((7,), BOTTOM), (-0.25, 0.5, 0.5): ((3, 7), (0, 2)),
    }),
    "equal faces": (CUBE, box(1, (0, 0, 1)), {
        (-0.5, -0.5, 0.5): ((1,), (0,)), (-0.5, 0.5, 0.5): ((3,), (2,)),
        (0.5, -0.5, 0.5): ((5,), (4,)), (0.5, 0.5, 0.5): ((7,), (6,)),
    }),
    "a face in a larger one": (box(4), box(1, (0.5, 0.25, 2.5)), {
        (0, -0.25, 2): (TOP, (0,)), (1, -0.25, 2): (TOP, (4,)), (1, 0.75, 2): (TOP, (6,)), (0, 0.75, 2): (TOP, (2,)),
    }),
    "a face on one a million times as large": (box(1e6, (0, 0, -5e5)), box(1, (123.25, 7.5, 0.5)), {
        (122.75, 7, 0): (TOP, (0,)), (123.75, 7, 0): (TOP, (4,)),
        (123.75, 8, 0): (TOP, (6,)), (122.75, 8, 0): (TOP, (2,)),
    }),
    "a cross of two bars": (box((4, 1, 1)), box((1, 4, 1), (0, 0, 1)), {
        (-0.5, -0.5, 0.5): ((1, 5), (0, 2)), (0.5, -0.5, 0.5): ((1, 5), (4, 6)),
        (0.5, 0.5, 0.5): ((3, 7), (4, 6)), (-0.5, 0.5, 0.5): ((3, 7), (0, 2)),
    }),
    "faces with two sides on common lines": (CUBE, box(1, (0.25, 0, 1)), {
        (-0.25, -0.5, 0.5): ((1, 5), (0,)), (0.5, -0.5, 0.5): ((5,), (0, 4)),
        (0.5, 0.5, 0.5): ((7,), (2, 6)), (-0.25, 0.5, 0.5): ((3, 7), (2,)),
    }),
    "polygons in one plane": (
        [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], [[1, 1, 0], [3, 1, 0], [3, 3, 0], [1, 3, 0]],
        {(1, 1, 0): None, (2, 1, 0): None, (2, 2, 0): None, (1, 2, 0): None},
    ),
    "faces that meet in a side": (CUBE, box(1, (1, 0.25, 1)), {
        (0.5, -0.25, 0.5): ((5, 7), (0,)), (0.5, 0.5, 0.5): ((7,), (0, 2)),
    }),
    "faces that meet in a corner": (CUBE, box(1, (1, 1, 1)), {(0.5, 0.5, 0.5): ((7,), (0,))}),
    "an edge over the border of a face": (
        CUBE, CUBE @ rotation_about([0, 1, 0], math.pi / 4).T + [0.2, 0.3, 0.5 + math.sqrt(0.5)],
        {(0.2, -0.2, 0.5): (TOP, (4,)), (0.2, 0.5, 0.5): ((3, 7), (4, 6))},
    ),
    "an edge across a face": (CUBE, [[-3, 0.3, 0.5], [3, 0.0, 0.5], [0, 0, 2], [0, 1, 2]], {
        (-0.5, 0.175, 0.5): ((1, 3), (0, 1)), (0.5, 0.125, 0.5): ((5, 7), (0, 1)),
    }),
    "an edge along the border of a face": (CUBE, [[0.5, 0, 0.5], [0.5, 2, 0.5], [1, 0, 2], [1, 1, 2]], {
        (0.5, 0, 0.5): ((5, 7), (0,)), (0.5, 0.5, 0.5): ((7,), (0, 1)),
    }),
    "a face thinner than rounding": (
        CUBE, [[-1, 0, 0.5], [1, 0, 0.5], [1, 1e-16, 0.5], [-1, 1e-16, 0.5], [0, 0, 2]],
        {(-0.5, 0, 0.5): None, (0.5, 0, 0.5): None},
    ),
    "crossed edges": (
        [[-1, -1, 0], [1, 1, 0], [1, -1, -1], [-1, 1, -1]], [[-1, 0.5, 0], [1, 0.5, 0], [0, 0, 1], [0, 1, 1]],
        {(0.5, 0.5, 0): ((0, 1), (0, 1))},
    ),
    "an edge that ends on another": (ROOF, [[0.25, 0, 0], [0.25, 3, 0], [0, 0, 1], [1, 1, 1]], {
        (0.25, 0, 0): ((0, 1), (0,)),
    }),
    **{f"an edge that ends {gap} from another": (ROOF, [[0, gap, 0], [0, 3, 0], [1, 0, 1], [-1, 1, 1]], {
        (0, 0, 0): None,
    }) for gap in (1e-17, 1e-16, 4e-16)},
    "edges on one line": (
        [[-1, -2, 0], [1, 2, 0], [1, -2, -1], [-1, 2, -1]], [[3, 6, 0], [0.5, 1, 0], [0, 0, 1], [0, 1, 1]],
        {(0.5, 1, 0): ((0, 1), (1,)), (1, 2, 0): ((1,), (0, 1))},
    ),
    "edges end to end": (RIDGE, [[1, 1, 0], [2, 2, 0], [2, 1, 1], [1, 2, 1]], {(1, 1, 0): ((1,), (0,))}),
    "equal edges": (RIDGE, [[1, 1, 0], [0, 0, 0], [2, 1, 1], [1, 2, 1]], {
        (0, 0, 0): ((0,), (1,)), (1, 1, 0): ((1,), (0,)),
    }),
    "a vertex on a face": (CUBE, SPIKE + [0.25, 0.125, 0.5], {(0.25, 0.125, 0.5): (TOP, (0,))}),
    "a vertex on an edge": (ROOF, SPIKE + [0.25, 0, 0], {(0.25, 0, 0): ((0, 1), (0,))}),
    "a vertex on a vertex": (-SPIKE, SPIKE, {(0, 0, 0): ((0,), (0,))}),
    "a point on a face": (CUBE, [[0.1, 0.2, 0.5]], {(0.1, 0.2, 0.5): (TOP, (0,))}),
    "two points": ([[0, 0, 0]], [[0, 0, 0]], {(0, 0, 0): ((0,), (0,))}),
    "a side on a side": (SQUARE, SQUARE + [0.25, 1], {(0.25, 1): ((2, 3), (0,)), (1, 1): ((2,), (0, 1))}),
    "a corner on a side": (SQUARE, [[0.5, 1], [1.5, 2], [0.5, 3], [-0.5, 2]], {(0.5, 1): ((2, 3), (0,))}),
    "a corner on a corner": (SQUARE, SQUARE + 1, {(1, 1): ((2,), (0,))}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_corners_and_their_features_are_those_of_the_example_in_either_order(name: str) -> None:
    a, b, corners = EXAMPLES[name]
    normal = UP if len(next(iter(corners))) == 3 else UP[1:]
    hull = shapely.MultiPoint([corner[:2] for corner in corners]).convex_hull
    for region, order in ((meet(a, b, normal, at=0 * normal), 1), (meet(b, a, -normal, at=0 * normal), -1)):
        found = dict(zip(rows(region.vertices), region.features, strict=True))
        assert found.keys() == corners.keys()
        for corner, expected in corners.items():
            if expected is not None:
                assert tuple(tuple(sorted(f.vertices)) for f in found[corner])[::order] == expected
        assert region.area == pytest.approx(hull.area, rel=1e-9)
        assert region.length == pytest.approx(hull.length, rel=1e-9)
        np.testing.assert_allclose(region.centroid[:2], hull.centroid.coords[0], atol=1e-12)


def test_features_that_miss_each_other_give_the_middle_of_the_witness_points() -> None:
    region = contact_region(shape(CUBE), shape(box(1, (5, 0, 1))), UP, 1e-5, [0.5, 0.0, 0.5], [4.5, 0.0, 0.5])
    assert region.kind is RegionKind.POINT
    assert region.vertices.tolist() == [[2.5, 0.0, 0.5]]
    assert region.centroid.tolist() == [2.5, 0.0, 0.5]
    assert [sorted(f.vertices) for f in region.features[0]] == [[*TOP], [*BOTTOM]]


@pytest.mark.parametrize("thickness", [0.0, 1e-17, 1e-16, 5e-16, 1e-12, 1e-9, 1e-6])
def test_an_overlap_is_a_segment_where_it_is_thinner_than_rounding(thickness: float) -> None:
    region = meet(CUBE, box(1, (1 - thickness, 0, 1)))
    assert region.kind is (RegionKind.SEGMENT if thickness < 1e-15 else RegionKind.POLYGON)
    assert region.area == pytest.approx(thickness if thickness > 1e-15 else 0.0, abs=4e-16)
    assert region.length == pytest.approx(1.0 if thickness < 1e-15 else 2.0 + 2 * thickness, rel=1e-14)


# --- Random faces against shapely, in every pose -----------------------------------------------------------------


def random_face(rng: np.random.Generator, most: int) -> Array:
    count = int(rng.integers(3, most + 1))
    if rng.random() < 0.5:
        points = rng.normal(size=(count, 2))
    else:
        points = regular(count, 1.0, rng.uniform(0, 7)) * rng.uniform(0.1, 2.0, 2)
    return points + rng.uniform(-0.7, 0.7, 2)


def overlapping_faces(seed: int, count: int, most: int = 24) -> list[tuple[Array, Array, shapely.Polygon]]:
    rng = np.random.default_rng(seed)
    pairs: list[tuple[Array, Array, shapely.Polygon]] = []
    while len(pairs) < count:
        a, b = random_face(rng, most), random_face(rng, most)
        common = overlap(a, b)
        if common.geom_type == "Polygon" and common.area > 1e-4:
            pairs.append((a, b, common))
    return pairs


def assert_same_polygon(region: Region, expected: shapely.Polygon) -> None:
    assert region.kind is RegionKind.POLYGON
    assert region.area == pytest.approx(expected.area, rel=1e-9)
    assert region.length == pytest.approx(expected.length, rel=1e-9)
    size = max(np.ptp(np.asarray(expected.exterior.coords), axis=0))
    np.testing.assert_allclose(region.centroid[:2], expected.centroid.coords[0], atol=1e-9 * size)
    found = shapely.Polygon(region.vertices[:, :2])
    assert found.symmetric_difference(expected).area <= 1e-12 * expected.area + 1e-15


@pytest.mark.parametrize(("count", "most"), [(100, 24), (30, 150)])
def test_random_faces_agree_with_shapely_in_every_pose(count: int, most: int) -> None:
    rng = np.random.default_rng(count)
    for a, b, expected in overlapping_faces(count, count, most):
        lower, upper = below(a), above(b)
        region = meet(lower, upper)
        assert_same_polygon(region, expected)
        for corner, pair in zip(region.vertices, region.features, strict=True):
            for feature, solid in zip(pair, (lower, upper), strict=True):
                named = shapely.MultiPoint(solid[list(feature.vertices), :2]).convex_hull
                assert named.distance(shapely.Point(corner[:2])) < 1e-12
                if feature.kind is FeatureKind.FACE:
                    assert named.exterior.distance(shapely.Point(corner[:2])) > 1e-16
        turn, scale = rotation(rng), 10.0 ** rng.choice([-9, -6, -3, 0, 3, 6, 12])
        move = scale * rng.uniform(-10, 10, 3)
        p, q, n, width = scale * lower @ turn.T + move, scale * upper @ turn.T + move, turn[:, 2], 1e-5 * scale
        there, back = meet(p, q, n, at=move, width=width), meet(q, p, -n, at=move, width=width)
        assert there.area == pytest.approx(expected.area * scale**2, rel=1e-9)
        local = (there.centroid - move) @ turn / scale
        np.testing.assert_allclose(local, [*expected.centroid.coords[0], 0], atol=1e-9)
        assert (there.area, there.length) == (back.area, back.length)
        np.testing.assert_array_equal(there.centroid, back.centroid)
        np.testing.assert_array_equal(there.vertices, back.vertices[::-1])
        np.testing.assert_array_equal(there.depths, back.depths[::-1])
        assert there.features == tuple((f, g) for g, f in reversed(back.features))


def test_far_from_the_origin_the_region_is_as_good_as_the_coordinates() -> None:
    move = np.array([1e6, -1e6, 1e6])
    bound = 64 * EPS * 1e6
    for a, b, _ in overlapping_faces(6, 60):
        p, q = below(a) + move, above(b) + move
        # The oracle gets the rounded coordinates, moved back without error.
        expected = overlap(p[:-1, :2] - move[:2], q[:-1, :2] - move[:2])
        region = meet(p, q)
        assert region.area == pytest.approx(expected.area, abs=bound * expected.length)
        np.testing.assert_allclose(region.centroid - move, [*expected.centroid.coords[0], 0], rtol=0, atol=bound)
    side = meet(CUBE + move / 3, box(1, (1, 0.25, 1)) + move / 3)
    assert side.kind is RegionKind.SEGMENT
    assert side.length == pytest.approx(0.75, abs=bound)


def test_a_face_much_larger_than_its_partner_survives_the_rounding_of_the_normal() -> None:
    at = np.full(3, 1e6)
    region = meet(box(1e6, (0, 0, -5e5)) + at, box(1, (0, 0, 0.5)) + at, np.array([1e-10, 0.0, 1.0]), at=at)
    assert region.kind is RegionKind.POLYGON


def test_turns_by_right_angles_and_powers_of_two_keep_every_bit() -> None:
    plain = meet(CUBE, ON_TOP)
    for turn in OCTAHEDRAL:
        region = meet(CUBE @ turn.T, ON_TOP @ turn.T, turn @ UP)
        assert region.area == plain.area
        assert set(rows(region.vertices, 15)) == set(rows(plain.vertices @ turn.T, 15))
    b = CUBE @ rotation_about([0, 0, 1], 0.3).T + [0.25, 0.5, 1]
    plain = meet(CUBE, b)
    for scale in 2.0 ** np.array([-400, -300, -30, 30, 300, 400]):
        scaled = meet(CUBE * scale, b * scale, width=1e-5 * scale)
        np.testing.assert_array_equal(scaled.vertices, plain.vertices * scale)
        np.testing.assert_array_equal(scaled.centroid, plain.centroid * scale)
        assert scaled.length == plain.length * scale


@given(st.floats(0, 2 * math.pi), st.integers(3, 9), st.floats(-0.9, 0.9), st.floats(0.0, 3e-16))
@settings(max_examples=60)
def test_points_in_any_order_on_turned_sides_are_wound_the_same(
    angle: float, steps: int, shift: float, noise: float
) -> None:
    grid = np.array(list(itertools.product(np.linspace(-1, 1, steps), repeat=2)))
    rng = np.random.default_rng(steps)
    turn = rotation_about(UP, angle)[:2, :2]
    points = rng.permutation(grid) @ turn.T + noise * rng.uniform(-1, 1, grid.shape)
    region = meet(below(points), above(points + turn @ [shift, 0.0]))
    assert len(region.vertices) == 4
    assert region.area == pytest.approx(2 * (2 - abs(shift)), rel=1e-12)


# --- Many sides -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [(128, 64), (100, 3), (4, 200), (300, 300), (25, 24), (24, 25), (24, 24)])
def test_many_sided_faces_agree_with_shapely(sides: tuple[int, int]) -> None:
    for phase in (0.0, 0.013):
        a, b = regular(sides[0]), regular(sides[1], 0.999, phase) + [0.0001, 0.0]
        assert_same_polygon(meet(below(a), above(b)), overlap(a, b))


@pytest.mark.parametrize("sides", [8, 20, 32, 64, 500])
def test_many_sided_faces_meet_corner_on_corner_or_side_on_side(sides: int) -> None:
    a = regular(sides, phase=math.pi / sides)
    region = meet(below(a), above(a[::-1]))
    assert len(region.vertices) == sides
    assert all(f.kind is FeatureKind.VERTEX and g.kind is FeatureKind.VERTEX for f, g in region.features)
    assert region.area == pytest.approx(0.5 * sides * math.sin(2 * math.pi / sides), rel=1e-12)
    inner, outer = meet(below(a), above(0.5 * a)), meet(below(0.5 * a), above(a))
    assert inner.area == outer.area == pytest.approx(0.25 * region.area, rel=1e-12)
    side = meet(below(a), above(a + [2 * math.cos(math.pi / sides), 0.0]))
    assert side.kind is RegionKind.SEGMENT
    assert side.length == pytest.approx(2 * math.sin(math.pi / sides), rel=1e-9)
    tip = regular(sides)
    assert meet(below(tip), above(tip + [2.0, 0.0])).kind is RegionKind.POINT


def test_the_two_methods_of_clipping_agree_at_their_border(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(below(a), above(b)) for a, b, _ in overlapping_faces(8, 80)]
    few = [meet(p, q) for p, q in pairs]
    monkeypatch.setattr("contact_lens.core.region.clip._FEW_PAIRS", 0)
    for (p, q), expected in zip(pairs, few, strict=True):
        region = meet(p, q)
        assert set(rows(region.vertices)) == set(rows(expected.vertices))
        assert set(region.features) == set(expected.features)


# --- Support features and depths ------------------------------------------------------------------------------


def test_only_vertices_within_the_width_belong_to_the_feature() -> None:
    tilted = [[0, 0, 0], [1, 0, 1e-3], [0, 1, 0], [1, 1, 1e-3], [0.5, 0.5, 1]]
    floor = box(4, (0, 0, -2))
    assert meet(floor, tilted, width=1e-4).kind is RegionKind.SEGMENT
    assert meet(floor, tilted, width=1e-2).kind is RegionKind.POLYGON
    rng = np.random.default_rng(9)
    for _ in range(30):  # exact faces survive a width of zero
        turn, move = rotation(rng), rng.uniform(-100, 100, 3)
        region = meet(CUBE @ turn.T + move, ON_TOP @ turn.T + move, turn[:, 2], width=0.0)
        assert region.area == pytest.approx(0.375, rel=1e-9)


SHEAR = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1e-3, 0.0, 1.0]])
DEPTHS: dict[str, tuple[Any, Any, float, Callable[[Array], Any]]] = {
    "flat faces": (CUBE, box(1, (0.25, 0.5, 0.75)), 0.375, lambda v: 0.25),
    "a gap": (CUBE, box(1, (0.25, 0.5, 1.001)), 0.375, lambda v: -0.001),
    "a tilted face": (box(0.5), box(1, (0, 0, 0.4)) @ SHEAR.T, 0.25, lambda v: 0.35 - 1e-3 * v[:, 0]),
    "a tilted edge": (
        CUBE,
        [[-2, 0.1, 0.5 - 2e-3], [2, 0.1, 0.5 + 2e-3], [0, 0, 2], [0, 1, 2]],
        0.0,
        lambda v: -1e-3 * v[:, 0],
    ),
    "two tilted faces": (
        [[-1, -1, -1e-3], [1, -1, 1e-3], [1, 1, 1e-3], [-1, 1, -1e-3], [0, 0, -1]],
        [[-2, -2, -4e-3], [2, -2, -4e-3], [2, 2, 4e-3], [-2, 2, 4e-3], [0, 0, 1]],
        4.0,
        lambda v: 1e-3 * v[:, 0] - 2e-3 * v[:, 1],
    ),
    "a tilted side in the plane": (
        SQUARE,
        [[-1.0, 0.9], [2.0, 0.93], [0.0, 3.0]],
        0.0,
        lambda v: 0.1 - 0.01 * (v[:, 0] + 1.0),
    ),
}


@pytest.mark.parametrize("name", DEPTHS)
def test_each_corner_has_the_depth_between_the_features_there(name: str) -> None:
    a, b, area, depth = DEPTHS[name]
    region = meet(a, b, UP[-np.shape(a)[1] :], width=0.1 if "tilted" in name else 1e-5)
    assert region.kind is (RegionKind.POLYGON if area else RegionKind.SEGMENT)
    assert region.area == pytest.approx(area, rel=1e-12)
    np.testing.assert_allclose(region.depths, depth(region.vertices), rtol=1e-12, atol=1e-15)


def test_no_depth_is_beyond_the_support_planes() -> None:
    rng = np.random.default_rng(10)
    for a, b, _ in overlapping_faces(11, 60):
        p, q = np.c_[a, -1e-3 * rng.random(len(a))], np.c_[b, 1e-3 * rng.random(len(b))]
        region = meet(p, q, width=1e-2)
        assert (region.depths <= p[:, 2].max() - q[:, 2].min() + 1e-15).all()
        assert (region.depths >= p[:, 2].min() - q[:, 2].max() - 1e-15).all()


@given(st.floats(0, 2 * math.pi), st.floats(-0.9, 0.9), st.floats(0.0, 0.4), st.floats(-100, 100))
@settings(max_examples=60)
def test_turned_squares_meet_in_the_overlap_of_their_sides(
    angle: float, shift: float, depth: float, away: float
) -> None:
    turn = rotation_about(UP, angle)[:2, :2]
    a, b = SQUARE @ turn.T + away, (SQUARE + np.array([shift, 1.0 - depth])) @ turn.T + away
    there, back = meet(a, b, turn[:, 1]), meet(b, a, -turn[:, 1])
    assert there.length == pytest.approx(1.0 - abs(shift), rel=1e-9)
    np.testing.assert_allclose(there.depths, depth, atol=1e-12)
    np.testing.assert_array_equal(there.vertices, back.vertices[::-1])


# --- Whatever comes -------------------------------------------------------------------------------------------

coordinates = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0, 1e-16, 1.0 + 4e-16])
points_of_a_coarse_grid = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8)


@given(points_of_a_coarse_grid, points_of_a_coarse_grid)
@settings(max_examples=200)
def test_any_points_of_a_coarse_grid_agree_with_shapely(
    first: list[tuple[float, float]], second: list[tuple[float, float]]
) -> None:
    a, b = np.array(first), np.array(second)
    expected = overlap(np.round(a, 9), np.round(b, 9))
    region = meet(below(a), above(b))
    assert region.area == pytest.approx(expected.area, abs=1e-14)
    if not expected.is_empty:
        assert expected.distance(shapely.Point(region.centroid[:2])) < 1e-14
        assert region.kind == {"Point": "point", "LineString": "segment", "Polygon": "polygon"}[expected.geom_type]
        np.testing.assert_allclose(region.centroid[:2], expected.centroid.coords[0], rtol=0, atol=1e-14)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-9]))
@settings(max_examples=200)
def test_nearly_degenerate_features_give_a_region_on_both_with_nothing_left_out(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    faces = []
    for _ in range(2):
        corners = rng.integers(-2, 3, (int(rng.integers(1, 7)), 2)).astype(float)
        faces.append(np.vstack([corners, corners[: len(corners) // 2]]) + 0.0)
        faces[-1] += noise * rng.uniform(-1, 1, faces[-1].shape)
    turn = rotation_about(UP, rng.uniform(0, 7))[:2, :2]
    a, b = (face @ turn.T for face in faces)
    region = meet(below(a), above(b))
    expected = overlap(a, b)
    assert region.area == pytest.approx(expected.area, abs=1e-12)
    # The answer is exact for features moved by rounding: it lies on both, and leaves nothing out.
    bound, outline = 64 * EPS * 3, region.vertices[:, :2]
    for face in (a, b) if not expected.is_empty else ():
        hull = shapely.MultiPoint(face).convex_hull
        assert all(hull.distance(shapely.Point(corner)) < bound for corner in outline)
    # Along sides that are parallel but for the noise, rounding moves a crossing far.
    bound += bound / noise if noise else 0.0
    found = shapely.MultiPoint(outline).convex_hull
    assert all(found.distance(shapely.Point(corner)) < bound for corner in shapely.get_coordinates(expected))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_edge_shorter_than_the_tolerance_meets_one_across_it_in_a_point(sign):
    h = 3e-7  # within the tolerance, so both of its ends are close to the line through the long edge
    slab = ConvexHull([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-h, h)])
    beside = ConvexHull([(1, 1, h), (0.2, 1.6, h), (2, 2, h), (1.5, 2, 1)])
    a, b = (slab, beside) if sign > 0.0 else (beside, slab)
    region = contact_region(a, b, (0.6 * sign, 0.8 * sign, 0.0), 1e-5, (1, 1, h), (1, 1, h))
    assert region.kind == "point"
    assert region.vertices[0] == pytest.approx((1, 1, h), abs=1e-12)
    assert {*region.features[0]} == {
        Feature(FeatureKind.VERTEX, (int(shape.support_index(n)),))
        for shape, n in ((slab, (1, 1, 1)), (beside, (0.6, -0.8, -0.1)))
    }
