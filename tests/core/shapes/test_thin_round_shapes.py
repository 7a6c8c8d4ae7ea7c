# SPDX-License-Identifier: GPL-3.0-or-later
"""Needles, plates and dots: cylinders and cones of which a size is a millionth of the pair's, or far less."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, Capsule, Cone, ConvexHull, Cylinder, RegionKind, Sphere, contact
from contact_lens.core.curved.bracket import _newton_step
from contact_lens.core.curved.disk_region import Disk, disk_and_disk, measures
from contact_lens.core.narrow_phase.relation import contact_band

from ..assertions import assert_verified
from ..generators import direction
from ..oracles import EPS

FORMS = {"needle": (1.0, 0.0), "plate": (0.0, 1.0), "dot": (0.0, 0.0)}
"""Height and radius; 0.0 stands for the thin one."""


def thin(rng: np.random.Generator, form: str):
    """A cylinder or cone about the origin, along an axis of the world or anyhow, and how thin it is."""
    size = 10.0 ** -rng.uniform(6.0, 12.0)
    height, radius = (length or size for length in FORMS[form])
    axis = np.eye(3)[rng.integers(3)] if rng.integers(2) else direction(rng)
    kind = (Cylinder, Cone)[rng.integers(2)]
    return kind(-0.5 * height * axis, 0.5 * height * axis, radius), size


def partner(rng: np.random.Generator, form: str):
    kind = rng.integers(6)
    if kind == 0:
        return Box((0, 0, 0), (2, 2, 2))
    if kind == 1:
        return Box((0, 0, 0), (2, 2, 2), rng.normal(size=4))
    if kind == 2:
        return ConvexHull(rng.normal(size=(12, 3)))
    if kind == 3:
        return Sphere((0, 0, 0), 1.0)
    if kind == 4:
        return Cylinder((0, 0, -1), (0, 0, 1), 1.0)
    return thin(rng, form)[0]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FORMS)
def test_thin_cylinders_and_cones_touch_sink_in_and_are_inside(form, count):
    """Every contact passes `verify`, and the region is as deep as the pair, but for the width of its features."""
    rng = np.random.default_rng((count, len(form)))
    for k in range(count):
        a = partner(rng, form)
        shape, size = thin(rng, form)
        way = np.array([0.0, 0.0, 1.0]) if rng.integers(2) else direction(rng)
        far = contact(a, shape.translated(5.0 * way))
        depth = (None, 0.0, 0.5 * size, 0.1)[k % 4]
        place = np.array([0.1, 0.05, 0.02])
        if depth is not None:
            place = 5.0 * way - (far.signed_distance + depth) * far.normal
        pair = (a, shape.translated(place)) if rng.integers(2) else (shape.translated(place), a)
        found = contact(*pair)
        assert_verified(found, *pair)
        if found.region is not None:
            band = contact_band(*pair, found.contact_tolerance)
            assert abs(found.region.depths.max() + found.signed_distance) <= band


def test_a_surface_that_bends_in_one_direction_only_has_a_finite_step():
    """Whether its smaller curvature, which is none, comes out above or below 0; one that bends in both is level after
    the step."""
    rng = np.random.default_rng(1)
    for _ in range(2_000):
        one, other, slope = rng.normal(size=(3, 2))
        bend = np.outer(one, one)
        step = _newton_step(bend, slope, float(np.trace(bend)))
        assert np.linalg.norm(step) <= np.linalg.norm(slope) / np.trace(bend) * (1.0 + 16.0 * EPS)
        bend += np.outer(other, other)
        step = _newton_step(bend, slope, float(np.trace(bend)))
        assert np.linalg.norm(bend @ step + slope) <= 1e-9 * np.linalg.norm(step) * np.trace(bend)


@pytest.mark.parametrize("radius", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("cone", [False, True])
def test_a_needle_lies_on_a_face_along_its_side_however_thin(cone, radius):
    """Its ends are within the contact tolerance of the face as well, but the side is what lies on it."""
    slope = radius if cone else 0.0  # the side of a cone lies level where its axis leans
    axis = np.array([np.sqrt(1.0 - slope * slope), 0.0, -slope])
    start = np.array([-0.5, 0.0, 1.0 + radius * axis[0] - 0.1 * radius])
    needle = Cone(start, start + axis, radius) if cone else Cylinder(start, start + axis, radius)
    found = contact(Box((0, 0, 0), (2, 2, 2)), needle)
    assert found.region is not None
    assert found.region.kind is RegionKind.SEGMENT
    assert np.isclose(found.region.length, 1.0, rtol=1e-3)
    assert found.signed_distance == pytest.approx(-0.1 * radius, abs=1e-6 * radius + 1e-14)
    assert found.region.depths.max() == pytest.approx(0.1 * radius, abs=1e-2 * radius + 1e-14)


@pytest.mark.parametrize("radius", [1e-3, 1e-6, 1e-9])
def test_a_small_disk_about_a_point_of_a_large_rim_is_halved(radius):
    """The large radius rounds nothing of the small one away: half of its disk is in the large one, to first order."""
    for disks in ((Disk(0.0, 0.0, 1.0), Disk(1.0, 0.0, radius)), (Disk(1.0, 0.0, radius), Disk(0.0, 0.0, 1.0))):
        outline = disk_and_disk(*disks, 16.0 * EPS)
        assert outline is not None
        assert measures(outline)[0] == pytest.approx(0.5 * np.pi * radius**2, rel=2.0 * radius + 1e-6, abs=0.0)


@pytest.mark.parametrize("overlap", [1e-2, 1e-3, 1e-6, 1e-9])
def test_a_plate_that_lies_on_a_face_by_a_sliver_of_its_disk_is_verified(overlap):
    """Its region is a short arc and its chord: the arc is measured as finely as if it were a circle."""
    plate = Cylinder((2.0 - overlap, 0.3, 1.0), (2.0 - overlap, 0.3, 1.1), 1.0)
    box = Box((0, 0, 0), (2, 2, 2))
    found = contact(box, plate)
    assert found.region is not None
    assert found.region.area == pytest.approx(4.0 / 3.0 * overlap * np.sqrt(2.0 * overlap), rel=overlap + 1e-6, abs=0.0)
    assert_verified(found, box, plate)


@pytest.mark.fast_cases(9)
@pytest.mark.parametrize("size", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("kind", [Cylinder, Cone])
@pytest.mark.parametrize(
    "large", [Sphere((0, 0, 0), 1.0), Capsule((-0.5, 0, 0), (0.5, 0, 0), 1.0)], ids=["ball", "pill"]
)
@pytest.mark.parametrize("depth", [0.5, -0.5, -1e3])
def test_the_normal_of_a_dot_beside_the_pole_is_along_its_witness_points(large, kind, size, depth):
    """A normal that is off by the size of the dot separates as well, to rounding, but its points do not realise it."""
    rng = np.random.default_rng(round(1.0 / size))
    for _ in range(8):
        top = np.append(size * rng.uniform(-2.0, 2.0, 2), 1.0 - depth * size)
        axis = np.array([0.0, 0.0, 1.0]) + size * rng.normal(size=3) * rng.integers(2)
        pair = (large, kind(top, top + size * axis, 0.7 * size))
        for a, b in (pair, pair[::-1]):
            assert_verified(contact(a, b), a, b)
