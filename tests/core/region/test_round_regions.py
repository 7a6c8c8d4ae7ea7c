# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of disks that overhang edges and corners of meshes and compounds. Oracle: the area of a circle against a
polygon, as triangles and sectors about its middle."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from contact_lens.core import Box, Compound, Cone, Contact, Cylinder, Mesh, contact, verify
from contact_lens.core.mesh_contact.mesh_result import MeshCertificate

from ..assertions import assert_verified
from ..decomposition.test_decompose_mesh import extruded
from ..decomposition.test_decompose_polygon import L, comb
from ..generators import rotation


def area_in_circle(outline: np.ndarray, middle: np.ndarray, radius: float) -> float:
    """The area that a polygon, counter-clockwise, and a disk have in common."""
    total = 0.0
    for p, q in zip(outline - middle, np.roll(outline, -1, axis=0) - middle, strict=True):
        step = q - p
        a, b, c = step @ step, 2.0 * (p @ step), p @ p - radius**2
        root = np.sqrt(max(0.0, b * b - 4.0 * a * c))
        cuts = sorted({0.0, 1.0, *(t for t in ((-b - root) / (2 * a), (-b + root) / (2 * a)) if root and 0 < t < 1)})
        for s, t in pairwise(cuts):
            u, v, between = p + s * step, p + t * step, p + 0.5 * (s + t) * step
            cross, dot = u[0] * v[1] - u[1] * v[0], u @ v
            total += 0.5 * cross if np.hypot(*between) <= radius else 0.5 * radius**2 * np.arctan2(cross, dot)
    return total


SQUARE = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], float)
OUTLINES = {"square": SQUARE, "L": L, "comb": comb(3)}


def supports(name: str, as_mesh: bool):
    """A solid under z = 0 over an outline: a mesh, or boxes that overlap and meet."""
    if as_mesh:
        points, triangles = extruded(OUTLINES[name], 0.5)
        return Mesh(points - [0.0, 0.0, 0.5], triangles)
    spans = {
        "square": [(0, 0, 1.2, 2), (0.8, 0, 2, 2)],
        "L": [(0, 0, 2, 1), (0, 0.5, 1, 2)],
    }[name]
    return Compound([Box([(a + c) / 2, (b + d) / 2, -0.25], [c - a, d - b, 0.5]) for a, b, c, d in spans])


def pairs(count: int):
    """Discs sunk a little into supports whose edges or corners they overhang, turned, scaled and moved; with the area
    that they have in common, and the unit of length."""
    rng = np.random.default_rng(28)
    for k in range(count):
        as_mesh = bool(k % 2)
        name = list(OUTLINES)[rng.integers(3 if as_mesh else 2)]
        outline = OUTLINES[name]
        corner = rng.integers(len(outline))
        along = rng.uniform(0.0, 1.0) if k % 3 else 0.0
        radius = float(rng.uniform(0.1, 0.4))
        on_edge = outline[corner] + along * (outline[(corner + 1) % len(outline)] - outline[corner])
        middle = on_edge + radius * rng.uniform(-0.99, 0.99, 2)
        wanted = area_in_circle(outline, middle, radius)
        if wanted < 1e-9 * radius**2:
            continue
        sink, pose = 10.0 ** rng.uniform(-6, -3), np.eye(4)
        start, end = [*middle, -sink], [*middle, 1.0]
        disc = Cylinder(start, end, radius) if k % 5 else Cone(start, end, radius)
        pose[:3, :3] = rotation(rng) * 10.0 ** rng.uniform(-2, 2)
        pose[:3, 3] = rng.uniform(-3, 3, 3) * np.cbrt(np.linalg.det(pose[:3, :3]))
        unit = float(np.cbrt(np.linalg.det(pose[:3, :3])))
        yield supports(name, as_mesh).transformed(pose), disc.transformed(pose), wanted * unit**2, unit, pose[:3, 2]


def assert_area(told: Contact, wanted: float, unit: float) -> None:
    assert abs(told.area - wanted) <= 1e-6 * wanted + 1e-8 * unit**2


def check(count: int) -> int:
    judged = 0
    for a, b, wanted, unit, up in pairs(count):
        told = contact(a, b)
        assert_verified(told, a, b)
        if abs(told.normal @ up) > (1.0 - 1e-9) * unit:  # sunk in less than it overhangs
            assert_area(told, wanted, unit)
            judged += 1
    return judged


def test_discs_that_overhang_edges_and_corners_have_the_area_of_segments_of_circles():
    assert check(6) > 2


@pytest.mark.slow
def test_many_discs_that_overhang_edges_and_corners():
    assert check(200) > 100


def with_regions(told: Contact, changed) -> Contact:
    """The contact with other regions, in the contact of the pieces too."""
    regions = tuple(changed(region) for region in told.regions)
    if not isinstance(told.certificate, MeshCertificate):
        return replace(told, regions=regions)
    compound = replace(told.certificate.compound, regions=regions)
    return replace(told, regions=regions, certificate=replace(told.certificate, compound=compound))


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("as_mesh", [False, True])
@pytest.mark.parametrize(
    "middle", [(2.1, 0.6, 0.0), (0.9, 0.7, 0.0)]
)  # over an edge; on both pieces, beside the corner
def test_forged_areas_are_refused(as_mesh, middle):
    a, disc = supports("L", as_mesh), Cylinder(np.subtract(middle, [0, 0, 1e-3]), np.add(middle, [0, 0, 1]), 0.3)
    told = contact(a, disc)
    assert_verified(told, a, disc)
    assert_area(told, area_in_circle(L, np.array(middle[:2]), 0.3), 1.0)

    def smaller(region):
        """Half as large in all that is told of the whole."""
        outline = region.centroid + 0.5 * (region.outline - region.centroid)
        return replace(region, outline=outline, area=0.25 * region.area, length=0.5 * region.length)

    def patched(region):
        first = region.patches[0]
        return replace(
            region,
            patches=(
                replace(first, region=replace(first.region, area=0.9999 * first.region.area)),
                *region.patches[1:],
            ),
        )

    for lie in (
        lambda region: replace(region, area=region.area * (1.0 + 1e-5)),
        lambda region: replace(region, area=region.area * (1.0 - 1e-5)),
        lambda region: replace(region, length=region.length * (1.0 + 1e-5)),
        lambda region: replace(region, centroid=region.centroid + [1e-5, 0.0, 0.0]),
        smaller,
        patched,
    ):
        forged = with_regions(told, lie)
        assert "outlines" in str(verify(forged, a, disc).failures)


def test_patches_of_one_disk_are_one_region_though_their_corners_are_apart():
    """Over the left edge of two boxes that overlap, one of which ends in the disk."""
    boxes = supports("L", False)
    disc = Cylinder([0.1, 0.3, -1e-3], [0.1, 0.3, 1.0], 0.22)
    told = contact(boxes, disc)
    assert_verified(told, boxes, disc)
    assert len(told.regions) == 1
    assert len(told.regions[0].patches) == 2
    assert_area(told, area_in_circle(L, np.array([0.1, 0.3]), 0.22), 1.0)
