# SPDX-License-Identifier: GPL-3.0-or-later
"""What the certificate of a contact of two convex shapes proves about their signed distance."""

from __future__ import annotations

from math import dist
from typing import NamedTuple

import numpy as np

from ..curved.curved_core import inner_polytope
from ..curved.curved_inside import support_points
from ..curved.curved_section import section_error, section_of, section_plane
from ..curved.direction_cover import cover, cover_axis
from ..curved.ellipsoid_hull import pieces_of
from ..curved.ellipsoid_pair import ellipsoid_pair, proven_above
from ..narrow_phase.gjk import size_of_difference
from ..result import BallCertificate, Certificate, ConvexCertificate, SupportCertificate
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.polytope import Polytope, intervals
from ..tolerance import CURVED_ROUNDING, EPS, VERIFY_UNIT
from ..types import FloatArray
from .polytope import NO_PROOF, proven_upper

_VERIFY_ROUNDING = 2.0
"""Times EPS R: what `verify` itself can be wrong by where it measures along a unit vector; a bound must be at least
this much wider than what it measures. Less than SUPPORT_ROUNDING, by which the bounds are widened."""


class Proven(NamedTuple):
    """Two numbers, in world units, that the signed distance is surely not below and not above."""

    lower: float
    upper: float
    by: str
    """What proves the upper one."""


def overlap_along(a: ConvexShape, b: ConvexShape, normals: FloatArray) -> FloatArray:
    """Return how far A reaches past B along each of the unit `normals` (k, dim): (k,) `max n.a - min n.b`, < 0 for a
    gap."""
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        shift = (a.center - b.center) @ normals.T
        return intervals(normals, a._centred)[1] - intervals(normals, b._centred)[0] + shift
    return ((support_points(a, normals) - support_points(b, -normals)) * normals).sum(axis=1)


def rounding_of(a: ConvexShape, b: ConvexShape) -> float:
    """Return what measuring along a unit vector may be wrong by: less than bounds are widened by."""
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        return _VERIFY_ROUNDING * EPS * size_of_difference(a, b)
    size = float(np.linalg.norm(a.center - b.center)) + a.extent + b.extent
    return 0.5 * CURVED_ROUNDING * EPS * (size + max(a.magnitude, b.magnitude))


def proven_bounds(proof: object, a: ConvexShape, b: ConvexShape) -> Proven | str:
    """Return what a certificate, which must be well-formed, proves about A and B; or what is wrong with it, in
    words."""
    assert isinstance(proof, ConvexCertificate)
    rounding = rounding_of(a, b)
    lower = -float(overlap_along(a, b, (proof.normal / np.linalg.norm(proof.normal))[None])[0]) - rounding
    above = _proven_above(proof, a, b)
    return above if isinstance(above, str) else Proven(lower, above[0] + rounding, above[1])


def _proven_above(proof: ConvexCertificate, a: ConvexShape, b: ConvexShape) -> tuple[float, str] | str:
    """Return what the signed distance is not above, to rounding, and what proves it; or what is wrong, in words."""
    if isinstance(proof, Certificate):
        assert isinstance(a, Polytope)
        assert isinstance(b, Polytope)
        return proven_upper(proof, a, b) or NO_PROOF
    radii = sum(shape.rounding_radius for shape in (a, b) if isinstance(shape, CurvedShape))
    found = _above_of_ball(proof, a, b) if isinstance(proof, BallCertificate) else _above_of_cores(proof, a, b)
    if isinstance(found, str):
        return found
    above, by = found
    if proof.depth is not None and -proof.depth < above:
        pieces = pieces_of(a, b) if a.dim == 3 else None
        if pieces is None or not cover(pieces, cover_axis(a, b), proof.depth).complete:
            return "cells of directions do not prove the depth"
        above, by = -proof.depth, "cells of directions"
    return above - radii, by


def _above_of_ball(proof: BallCertificate, a: ConvexShape, b: ConvexShape) -> tuple[float, str] | str:
    """Return what the signed distance of the cores is not above, and what proves it; or what is wrong, in words."""
    by = "two points" if proof.gap is None else "ball"
    points = [shape.skeleton.vertices for shape in (a, b) if shape.skeleton is not None]
    if len(points) == 2 and len(points[0]) == len(points[1]) == 1:
        return dist(points[0][0], points[1][0]), by
    pieces = ellipsoid_pair(a, b)
    return (
        "the cores are not ellipsoids or points"
        if pieces is None
        else (proven_above(pieces, proof.normal, proof.gap), by)
    )


def _above_of_cores(proof: SupportCertificate, a: ConvexShape, b: ConvexShape) -> tuple[float, str] | str:
    """Return what the signed distance of the cores is not above, and what proves it; or what is wrong, in words."""
    cores = cores_of(proof, a, b)
    if isinstance(cores, str):
        return cores
    inner = proof.inner.certificate
    assert isinstance(inner, ConvexCertificate)
    found = _proven_above(inner, *cores)
    beside = 0.0 if proof.section is None else section_error(a, b, proof.section)
    return found if isinstance(found, str) else (found[0] + beside, found[1])


def cores_of(
    proof: SupportCertificate, a: ConvexShape, b: ConvexShape
) -> tuple[Polytope, Polytope] | tuple[ConvexShape, ConvexShape] | str:
    """Return the polytopes inside the cores, or the sections of these, or what is wrong with what they are made of."""
    if proof.section is not None:
        plane = section_plane(a, b)
        if plane is None or not np.array_equal(plane, proof.section):
            return "the pair is not round about axes in the plane of the section"
        assert isinstance(a, CurvedShape)
        assert isinstance(b, CurvedShape)
        sections = section_of(a, plane), section_of(b, plane)
        if sections[0] is None or sections[1] is None:
            return "the sections are not known"
        return sections[0], sections[1]
    found: list[Polytope] = []
    for shape, directions in ((a, proof.directions_a), (b, proof.directions_b)):
        if shape.skeleton is not None:
            found.append(shape.skeleton)
        else:
            if directions.ndim != 2 or directions.shape[1] != shape.dim or len(directions) == 0:
                return f"the directions have the shape {directions.shape}"
            off = float(np.abs(np.linalg.norm(directions, axis=1) - 1.0).max())
            if not off <= VERIFY_UNIT * EPS:
                return f"off by {off:.3g}"
            found.append(inner_polytope(shape, directions))
    return found[0], found[1]
