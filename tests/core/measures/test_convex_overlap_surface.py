# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of the overlap of convex shapes, compounds and polygons: closed, of the right shape, with its curves."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Circle,
    Compound,
    ConvexHull,
    Cylinder,
    Polygon,
    Sphere,
    contact,
    overlap_volume,
)
from contact_lens.core.measures.overlap_surface import OverlapSurface, overlap_surface

from ..generators import cloud


def enclosed(surface: OverlapSurface) -> float:
    """The volume that triangles enclose, in the plane their area."""
    corners = surface.points[surface.triangles]
    if corners.shape[2] == 2:
        u, v = (corners[:, 1:] - corners[:, :1]).transpose(1, 0, 2)
        return float((u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum() / 2)
    return float((corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])).sum() / 6)


def off_surface(shape, points) -> float:
    return float(np.abs(shape.signed_distance(points)).max())


PAIRS = {
    "hulls": lambda rng: (ConvexHull(cloud(rng, 30)), ConvexHull(cloud(rng, 30) + 0.3)),
    "boxes": lambda rng: (Box((0, 0, 0), (2, 2, 2)), Box((0.9, 0.8, 0.7), (1.5, 1, 1), (0.9, 0.2, 0.3, 0.1))),
    "boxes of one frame": lambda rng: (Box((0, 0, 0), (2, 2, 2)), Box((1, 1, 1), (1, 1, 1))),
    "one inside": lambda rng: (Box((0, 0, 0), (9, 9, 9)), Box((0, 0, 0), (1, 1, 1))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_surface_of_polytopes_encloses_their_overlap(name: str) -> None:
    a, b = PAIRS[name](np.random.default_rng(2))
    found = overlap_surface(a, b)
    assert found.is_closed
    assert enclosed(found) == pytest.approx(overlap_volume(a, b).volume, rel=1e-12)
    middles = found.points[found.triangles].mean(axis=1)
    for shape, of_it in ((a, found.of_a), (b, ~found.of_a)):
        assert not of_it.any() or off_surface(shape, middles[of_it]) < 1e-12
    assert (len(found.curves) > 0) == (name != "one inside")
    for curve in found.curves:
        assert np.array_equal(curve[0], curve[-1])
        between = 0.5 * (curve[1:] + curve[:-1])
        assert max(off_surface(a, between), off_surface(b, between)) < 1e-12
    if name == "one inside":
        assert not found.of_a.any()


def test_nothing_is_drawn_of_what_does_not_overlap() -> None:
    a = Box((0, 0, 0), (1, 1, 1))
    flat = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    dot = Sphere((0.1, 0, 0), 0)
    assert not len(overlap_surface(dot, Sphere((0, 0, 0), 1)).points)
    for b in (
        dot,
        a.translated((2, 0, 0)),
        a.translated((1, 0, 0)),
        flat,
        Sphere((1.5, 0, 0), 1),
        Sphere((9, 9, 9), 1),
    ):
        found = overlap_surface(a, b)
        assert (found.points.shape, found.triangles.shape, found.curves) == ((0, 3), (0, 3), ())


def test_curved_shapes_are_drawn_by_polytopes_nearly_as_large() -> None:
    ball, box = Sphere((0, 0, 0), 1), Box((1, 0, 0), (2, 4, 4))
    for a, b in (
        (ball, box),
        (ball, Sphere((1, 0, 0), 1)),
        (Cylinder((0, 0, 0), (0, 0, 2), 0.5), Box((0, 0, 0), (1, 3, 1))),
    ):
        found = overlap_surface(a, b, contact(a, b))
        volume = overlap_volume(a, b)
        assert 0.85 * volume.lower <= enclosed(found) <= volume.upper
        assert found.curves
        assert max(float(shape.signed_distance(found.points).max()) for shape in (a, b)) < 1e-9


def test_polygons_and_circles_have_an_area_and_an_outline() -> None:
    square = Polygon([(0, 0), (2, 0), (2, 2), (0, 2)])
    found = overlap_surface(square, square.translated((1, 1)))
    assert enclosed(found) == pytest.approx(1.0)
    assert found.of_a.sum() == 2
    (outline,) = found.curves
    assert outline.shape == (5, 2)
    assert np.array_equal(outline[0], outline[-1])
    assert enclosed(overlap_surface(Circle((0, 0), 1), square)) == pytest.approx(np.pi / 4, rel=5e-3)


def test_compounds_have_no_walls_where_pieces_meet() -> None:
    corner = Compound([Box((0, 0, 0), (2, 2, 2)), Box((2, 0, 0), (2, 2, 2)), Box((0, 2, 0), (2, 2, 2))])
    b = Box((1, 0.4, 1), (1, 1, 1))
    found = overlap_surface(corner, b)
    middles = found.points[found.triangles].mean(axis=1)
    assert enclosed(found) == pytest.approx(0.5, rel=1e-9) == overlap_volume(corner, b).volume
    assert not (np.abs(middles[:, 0] - 1.0) < 1e-9).any()  # the wall between the first two
    assert found.of_a.sum() == 4  # the top, in two parts
    flat = Compound([*corner.pieces, Box((1, 0.5, 1), (1, 1, 0)), ConvexHull([[1, 0.5, 0.9]])])
    assert enclosed(overlap_surface(flat, b)) == pytest.approx(0.5, rel=1e-9)
    large = overlap_surface(corner.scaled(2.0**300), b.scaled(2.0**300))
    assert np.array_equal(large.points, found.points * 2.0**300)
    rounded = Compound([Sphere((0, 0, 0), 1), Box((3, 0, 0), (2, 2, 2))])
    assert len(overlap_surface(rounded, Box((1.5, 0, 0), (4, 1, 1))).triangles) > 20
