# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlap volumes of convex polytopes: closed forms, an exact oracle, what may not matter, and proofs that fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Box, ConvexHull, OverlapVolume, Polytope, contact, overlap_volume, verify
from contact_lens.core.tolerance import EPS

from ..generators import as_matrix, box, cloud, direction, pairs, rotation
from .exact_overlap import exact_overlap

TURNED = (0.9, 0.1, -0.3, 0.2)
"""A rotation about no axis in particular."""


def surface(body: Polytope) -> float:
    if body.dim == 3:
        return body.area
    return float(np.linalg.norm(np.diff(body.vertices[body.edges], axis=1), axis=2).sum())


def allowed(found: OverlapVolume, a: Polytope, b: Polytope) -> float:
    """By how much bounds may differ."""
    width = 1e-12 * min(a.extent, b.extent) + 64.0 * EPS * max(a.magnitude, b.magnitude)
    sides = np.maximum(np.minimum(a.bounds[1], b.bounds[1]) - np.maximum(a.bounds[0], b.bounds[0]), 0.0)
    flat = 2.0 * float(sides @ np.roll(sides, 1)) if a.dim == 3 else 2.0 * float(sides.sum())
    return width * (flat if found.body is None else surface(found.body))


def assert_volume(a: Polytope, b: Polytope, volume: float) -> OverlapVolume:
    found = overlap_volume(a, b)
    width = allowed(found, a, b)
    assert found.lower <= found.volume <= found.upper
    assert found.upper - found.lower <= width
    assert found.volume == pytest.approx(volume, abs=width)
    assert verify(found, a, b), str(verify(found, a, b))
    return found


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("turn", [(1, 0, 0, 0), TURNED])
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_boxes_of_one_frame_overlap_in_a_box(size: float, turn, far: float) -> None:
    """Penetrating, one inside the other with a common face, the same twice, touching and apart."""
    matrix = np.array(Box((0, 0, 0), (1, 1, 1), turn).axes).T
    place = far * size * np.array([1.0, -0.5, 0.25])
    sides = np.array([2.0, 3.0, 4.0])
    a = Box(place, size * sides, turn)
    others = ((1.5, 2, -1), (2, 2, 2)), ((0.5, 0, 0), (1, 1, 1)), ((0, 0, 0), sides), ((2, 0, 0), (2, 1, 1))
    for shift, other in others:
        low = np.maximum(-sides / 2, np.array(shift) - np.array(other) / 2)
        high = np.minimum(sides / 2, np.array(shift) + np.array(other) / 2)
        b = Box(place + matrix @ (size * np.array(shift)), size * np.array(other), turn)
        found = assert_volume(a, b, size**3 * float(np.prod(high - low)))
        if found.lower > 0.0:
            middle = place + matrix @ (size * (low + high) / 2)
            assert found.centroid == pytest.approx(middle, abs=size * (1e-9 + 64 * EPS * far))
            assert len(found.body.facets) == 6 or far
    assert overlap_volume(a, Box(place + 9 * size, [size] * 3)).upper == 0.0


def test_a_cube_turned_by_an_eighth_leaves_an_octagon() -> None:
    a = Box((0, 0, 0), (2, 2, 2))
    b = Box((0, 0, 0), (2, 2, 2), (np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)))
    assert len(assert_volume(a, b, 16 * (np.sqrt(2) - 1)).body.facets) == 10


def test_sheared_boxes_keep_the_part_that_is_common() -> None:
    shear = np.array([[1, 0.7, 0.2], [0, 1, -0.4], [0, 0, 1.5]])
    a, b = (Box(at, (1, 2, 3)).transformed(as_matrix(shear, (5, 0, 0))) for at in ((0, 0, 0), (0.25, 1, 1)))
    assert_volume(a, b, 1.5 * 0.75 * 1 * 2)


def test_faces_that_are_nearly_parallel_leave_a_wedge() -> None:
    for angle in (1e-3, 1e-6, 1e-9, 1e-12):
        wedge = ConvexHull([(0, y, z) for y in (0, 1) for z in (-1, 0)] + [(1, y, angle) for y in (0, 1)])
        assert_volume(wedge, Box((0.5, 0.5, 0.5), (3, 3, 1)), 0.5 * angle / (1 + angle))


def test_polygons_have_an_area() -> None:
    square = ConvexHull([(0, 0), (2, 0), (2, 2), (0, 2)])
    found = assert_volume(square, ConvexHull([(1, -1), (4, 2), (1, 5)]), 2.0)
    assert found.centroid.shape == (2,)
    assert_volume(square, square.translated((1, 1)), 1.0)
    assert_volume(square, square.translated((2, 0)), 0.0)


@pytest.mark.parametrize("count", [46, pytest.param(120, marks=pytest.mark.slow)])
def test_bounds_contain_the_exact_volume(count: int) -> None:
    """Of pairs of all kinds with few corners: slivers, single precision, faces that coincide, sizes and places."""
    looked_at = 0
    for name, a, b in pairs(count, count):
        shapes = ConvexHull(a), ConvexHull(b)
        if min(shape.rank for shape in shapes) < shapes[0].dim:
            assert overlap_volume(*shapes).upper == 0.0
            continue
        found = overlap_volume(*shapes)
        width = allowed(found, *shapes)
        assert found.upper - found.lower <= width, name
        assert verify(found, *shapes), (name, str(verify(found, *shapes)))
        if max(len(shape.vertices) for shape in shapes) <= 8:
            looked_at += 1
            exact = exact_overlap(shapes[0].vertices, shapes[1].vertices)
            assert found.lower <= exact <= found.upper, name
            assert abs(found.volume - exact) <= width, name
    assert looked_at > count / 8


def test_order_place_scale_and_numbering_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        points = cloud(rng, 20), cloud(rng, 12) + 0.5 * direction(rng)
        a, b = map(ConvexHull, points)
        found = overlap_volume(a, b)
        turn, place = rotation(rng), 10 * direction(rng)
        moved = overlap_volume(*(ConvexHull(x @ turn.T + place) for x in points))
        large = overlap_volume(a.scaled(1e5), b.scaled(1e5))
        for other, scale in ((overlap_volume(b, a), 1.0), (moved, 1.0), (large, 1e15)):
            assert other.volume / scale == pytest.approx(found.volume, rel=1e-11)
        shuffled = overlap_volume(ConvexHull(rng.permutation(points[0])), ConvexHull(rng.permutation(points[1])))
        assert shuffled.volume == pytest.approx(found.volume, rel=1e-12)
        assert moved.centroid == pytest.approx(turn @ found.centroid + place, abs=1e-11)


@pytest.mark.parametrize("factor", [2.0**-500, 2.0**-300, 2.0**300])
def test_sizes_whose_cubes_are_no_floats_have_bounds(factor: float) -> None:
    a, b = Box((0, 0, 0), (1, 1, 1)), Box((0.5, 0, 0), (1, 1, 1))
    small = overlap_volume(a.scaled(factor), b.scaled(factor))
    assert small.volume == pytest.approx(0.5 * factor**3)
    assert verify(small, a.scaled(factor), b.scaled(factor))


def test_nothing_overlaps_of_a_flat_shape_and_it_says_so() -> None:
    flat, solid = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), Box((0, 0, 0), (1, 1, 1))
    found = overlap_volume(flat, solid)
    assert (found.volume, found.lower, found.upper) == (0.0, 0.0, 0.0)
    assert found.unsupported_reason.startswith("A is flat")
    assert overlap_volume(solid, flat).unsupported_reason.startswith("B is flat")
    assert verify(found, flat, solid)
    assert not verify(found, solid, solid)


def test_an_overlap_as_thin_as_rounding_has_bounds_of_the_contact() -> None:
    a, b = Box((0, 0, 0), (1, 1, 1)), Box((0, 0, 1 - 1e-15), (1, 1, 1), (1, 1e-9, 0, 0))
    known = contact(a, b)
    found = overlap_volume(a, b)
    assert 0.0 <= found.upper < 1e-8
    assert overlap_volume(a, b, known).upper == found.upper


def test_a_forged_overlap_fails() -> None:
    a, b = ConvexHull(box((2, 2, 2))), Box((0.8, 0.3, 0.2), (1.5, 1, 3), TURNED)
    found = overlap_volume(a, b)
    assert verify(found, a, b)
    step = 1e-12 * found.volume
    other = overlap_volume(a, b.translated((0.01, 0, 0)))
    smaller = ConvexHull(found.centroid + 0.999 * (found.body.vertices - found.centroid))
    lies = {
        "lower": replace(found, lower=found.volume),
        "upper": replace(found, upper=found.volume),
        "outside its bounds": replace(found, volume=found.upper + step),
        "infinite": replace(found, upper=np.inf),
        "no number": replace(found, volume="1.0"),
        "a list": replace(found, lower=[0.0]),
        "centroid": replace(found, centroid=found.centroid + 1e-6),
        "no centroid": replace(found, centroid=None),
        "no body": replace(found, body=None),
        "smaller body": replace(found, body=smaller),
        "body of another pair": replace(found, body=other.body, centroid=other.centroid),
        "another pair": other,
        "nothing": OverlapVolume(0.0, 0.0, 0.0),
        "flat": OverlapVolume(0.0, 0.0, 0.0, unsupported_reason="A is flat: it has no volume"),
        "no reason": OverlapVolume(None, None, None),
        "refused": OverlapVolume(None, None, None, unsupported_reason="it is too hard"),
    }
    assert [name for name, lie in lies.items() if verify(lie, a, b)] == []


def test_arguments_are_checked_and_numbers_come_out_plain() -> None:
    a = Box((0, 0, 0), (1, 1, 1))
    with pytest.raises(ValueError, match="b must be a shape"):
        overlap_volume(a, "box")
    with pytest.raises(ValueError, match="same dimension"):
        overlap_volume(a, ConvexHull([(0, 0), (1, 0), (0, 1)]))
    with pytest.raises(ValueError, match="answer must be"):
        verify("overlap", a, a)
    told = overlap_volume(a, a).to_dict()
    assert told == {
        "volume": 1.0,
        "lower": pytest.approx(1.0),
        "upper": pytest.approx(1.0),
        "centroid": [0, 0, 0],
        "unsupported_reason": "",
    }
