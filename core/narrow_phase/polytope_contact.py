# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two polytopes.

1. GJK finds the nearest points, or that the shapes intersect; EPA then finds the penetration depth. SAT, if requested,
   runs first, and decides the depth.
2. The support features across the normal are intersected to the contact region.
3. The witness points move to the middle of the region where that also realises the signed distance.
4. Bounds are widened by rounding, and the status says whether they meet.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..region.region import Region, region_between
from ..region.witness import can_slide, central_witness
from ..result import Certificate, Contact, Method, Proof, Status
from ..shapes.box import Box
from ..shapes.feature import Feature, support_feature
from ..shapes.ordinary_size import at_ordinary_size
from ..shapes.polytope import Polytope
from ..shapes.simplex import Vector, Vertex, weighted_mean
from ..tolerance import DEFAULT_CONTACT_TOLERANCE, EPA_CONVERGED, EPS, SUPPORT_ROUNDING, promised
from ..types import read_only
from .box_sat import BoxAxis, box_sat
from .epa import Penetration, epa_again, nearest_faces
from .exact import weights_exactly
from .gjk import Simplex, is_ordinary, nearest_simplex, size_of_difference, witness_points
from .relation import contact_band, relation_of
from .sat import SatResult, sat
from .step_list import Recorder, StepList


def polytope_contact(
    a: Polytope,
    b: Polytope,
    method: Method = "auto",
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    start: Proof | None = None,
    recorder: Recorder | None = None,
) -> Contact:
    """Return the contact of two polytopes; see `contact` for the arguments.

    start: the certificate of the last contact; recorder: makes the list of the steps for the trace, if requested.
    """

    size = size_of_difference(a, b)
    if is_ordinary(size):
        return _at_ordinary_size(a, b, size, method, clearance, contact_tolerance, start, recorder)

    def solve(a: Polytope, b: Polytope, clearance: float) -> Contact:
        size = size_of_difference(a, b)
        return _at_ordinary_size(a, b, size, method, clearance, contact_tolerance, start, recorder)

    return at_ordinary_size(solve, a, b, clearance)


def _at_ordinary_size(
    a: Polytope,
    b: Polytope,
    size: float,
    method: Method,
    clearance: float,
    contact_tolerance: float,
    start: Proof | None,
    recorder: Recorder | None,
) -> Contact:
    steps = None if recorder is None else recorder(a, b)
    by_sat = _sat(a, b, steps) if method in ("sat", "both") else None
    simplex, answer = _solve(a, b, by_sat, method, None if by_sat is not None else start, steps)
    rounding = SUPPORT_ROUNDING * EPS * size
    ties = np.array([n[: a.dim] for n in answer.normals])
    ties += 0.0  # turns -0.0 into 0.0
    normal = ties[0].copy()
    band = contact_band(a, b, contact_tolerance)
    # Even with a contact tolerance of 0, a face that is flat to rounding must be one feature.
    width = max(band, rounding)
    feature_a, feature_b = support_feature(a, normal, width), support_feature(b, -normal, width)

    point_on_a, point_on_b = witness_points(a, b, answer.vertices, answer.weights)
    is_separated, region = answer.signed_distance > max(band, clearance), None
    if not is_separated or can_slide(a, b, feature_a, feature_b):
        region = region_between(a, b, normal, band, point_on_a.tolist(), point_on_b.tolist(), steps)
        if len(region.vertices) > 1:  # mutant: contact-witness-not-in-the-middle
            answer = _center_witness(a, b, feature_a, feature_b, answer, region, rounding)
            point_on_a, point_on_b = witness_points(a, b, answer.vertices, answer.weights)

    signed_distance = answer.signed_distance
    lower_bound = min(signed_distance, answer.slab) - rounding  # mutant: contact-lower-bound-not-widened
    # mutant: contact-upper-bound-not-widened
    upper_bound = max(min(_length_of(answer), answer.enclosed), signed_distance) + rounding
    tolerance = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    status, contradiction = Status.CERTIFIED, None
    if upper_bound - lower_bound > tolerance:
        status = Status.EPA_STALLED if simplex.intersects else Status.GJK_STALLED
    if by_sat is not None:
        difference = by_sat.signed_distance - signed_distance
        contradiction = abs(difference) if simplex.intersects else max(0.0, difference)
        if contradiction > tolerance:  # mutant: contact-disagreement-unreported
            status = Status.METHODS_DISAGREE
    return Contact(
        relation=relation_of(a, b, signed_distance, band, clearance),
        signed_distance=signed_distance,
        normal=read_only(normal),
        point_on_a=read_only(point_on_a),  # mutant: contact-witness-points-swapped
        point_on_b=read_only(point_on_b),
        region=None if is_separated else region,
        _facing=region if is_separated else None,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
        ties=read_only(ties),
        feature_a=feature_a,
        feature_b=feature_b,
        method=_METHOD_NAMES.get((method, simplex.intersects), "gjk+epa" if simplex.intersects else "gjk"),
        iterations=answer.iterations if by_sat is None or method == "both" else by_sat.axes_tested,
        status=status,
        cross_check=contradiction if method == "both" else None,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        certificate=Certificate(
            normal,
            tuple(v[3] for v in answer.vertices),
            tuple(v[4] for v in answer.vertices),
            answer.weights,
            tuple((v[3], v[4]) for v in answer.points),
            answer.facets,
        ),
        trace=None
        if steps is None
        else steps.trace(
            "contact",
            method=method,
            clearance=clearance,
            contact_tolerance=contact_tolerance,
            from_start=steps[0].kind == "epa",
        ),
    )


_METHOD_NAMES = {
    ("sat", True): "sat",
    ("sat", False): "sat+gjk",
    ("both", True): "gjk+epa+sat",
    ("both", False): "gjk+sat",
}
"""`Contact.method` by the method requested and whether the shapes intersect, where SAT is involved."""


class _Answer(NamedTuple):
    """Result of GJK or EPA, before it becomes a contact."""

    signed_distance: float
    slab: float
    """Lower bound of the signed distance, proved by the best of `normals`."""
    enclosed: float
    """Upper bound of the signed distance, proved by the polytope of `points` and `facets`; inf without one."""
    normals: tuple[Vector, ...]
    vertices: tuple[Vertex, ...]
    """Points of A - B whose mean with `weights` realises the signed distance."""
    weights: tuple[float, ...]
    points: tuple[Vertex, ...]
    facets: tuple[tuple[int, ...], ...]
    iterations: int


def _sat(a: Polytope, b: Polytope, steps: StepList | None) -> SatResult | BoxAxis:
    """Return the deciding axis: that of the test of 15 axes for two boxes, unless one is sheared."""
    found: SatResult | BoxAxis
    if isinstance(a, Box) and isinstance(b, Box) and a.orthogonal and b.orthogonal:
        found = box_sat(a, b, trace=steps is not None)
    else:
        found = sat(a, b, trace=steps is not None)
    if steps is not None and found.trace is not None:
        steps += found.trace.steps
    return found


def _solve(
    a: Polytope,
    b: Polytope,
    by_sat: SatResult | BoxAxis | None,
    method: Method,
    start: Proof | None,
    steps: StepList | None,
) -> tuple[Simplex, _Answer]:
    """Return GJK's last simplex and the answer; the last proof, if it is of these polytopes, saves steps."""
    proof = start if isinstance(start, Certificate) and _is_proof_of(start, a, b) else None
    again = None if proof is None else _still_deep(a, b, proof, steps)
    if again is not None:
        return again
    if proof is not None and steps is not None:
        steps.clear()  # those from the last polytope, the only ones so far
    feature = () if proof is None else _feature_of(proof)
    direction = by_sat.normal if by_sat is not None and by_sat.signed_distance > 0.0 else None
    simplex = nearest_simplex(a, b, direction, start=feature, steps=steps)
    if simplex.intersects:
        penetration = nearest_faces(a, b, simplex, steps)
        return simplex, _intersecting(a, b, simplex, penetration, by_sat if method == "sat" else None)
    return simplex, _apart(simplex)


def _is_proof_of(proof: Certificate, a: Polytope, b: Polytope) -> bool:
    """Return whether these shapes have the vertices that a certificate refers to."""
    if len(proof.normal) != a.dim:
        return False
    index_a = (*proof.index_a, *(i for i, _ in proof.pairs))
    index_b = (*proof.index_b, *(j for _, j in proof.pairs))
    return max(index_a) < len(a.vertices) and max(index_b) < len(b.vertices)


def _feature_of(proof: Certificate) -> tuple[tuple[int, int], ...]:
    """Return the vertices of A and B of up to three points of A - B at the last result."""
    return tuple(dict.fromkeys(zip(proof.index_a, proof.index_b, strict=True)))[:3]


def _still_deep(a: Polytope, b: Polytope, proof: Certificate, steps: StepList | None) -> tuple[Simplex, _Answer] | None:
    """Return EPA's answer from the last polytope; None when that leaves anything undecided."""
    penetration = epa_again(a, b, proof.pairs, proof.facets, steps)
    if penetration is None or penetration.faces[0].miss > SUPPORT_ROUNDING * EPS * size_of_difference(a, b):
        return None  # near a touch GJK's common point is needed too
    simplex = Simplex(True, penetration.points[:4], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, (), 0)
    return simplex, _intersecting(a, b, simplex, penetration, None)


def _apart(simplex: Simplex) -> _Answer:
    return _Answer(
        signed_distance=simplex.gap,
        slab=simplex.gap,
        enclosed=inf,
        normals=(simplex.normal,),
        vertices=simplex.vertices,
        weights=simplex.weights,
        points=(),
        facets=(),
        iterations=simplex.iterations,
    )


def _intersecting(
    a: Polytope, b: Polytope, simplex: Simplex, penetration: Penetration, by_sat: SatResult | BoxAxis | None
) -> _Answer:
    """Return EPA's answer; with SAT's depth and normal if given."""
    size = size_of_difference(a, b)
    rounding = SUPPORT_ROUNDING * EPS * size
    faces = penetration.faces
    signed_distance = 0.0 - penetration.depth
    if by_sat is not None:
        signed_distance = max(signed_distance, by_sat.signed_distance)
        # Its normal is one of EPA's equally good ones; a face that does not contain the origin's projection has no
        # witness points.
        width = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
        faces = tuple(
            sorted(faces, key=lambda f: (max(f.miss, width), -float(by_sat.normal @ np.array(f.normal[: a.dim]))))
        )
    face = faces[0]
    vertices, weights = face.vertices, face.weights
    if face.miss > rounding:
        # At a bare touch the origin may be outside the face: GJK's common point is then the better witness.
        shared = simplex.weights or weights_exactly(simplex.vertices)
        near = weighted_mean(simplex.vertices, shared)
        off = [n - penetration.depth * x for n, x in zip(near, face.normal, strict=True)]
        if off[0] ** 2 + off[1] ** 2 + off[2] ** 2 < face.miss**2:
            vertices, weights = simplex.vertices, shared
    proven_deep = penetration.inner > rounding  # nearer to the surface, rounding decides whether the origin is inside
    return _Answer(
        signed_distance=signed_distance,
        # EPA ends at a face that the shapes may exceed by this.
        slab=0.0 - penetration.depth - EPA_CONVERGED * EPS * size,
        enclosed=-penetration.inner if proven_deep else inf,
        normals=tuple(f.normal for f in faces),
        vertices=vertices,
        weights=weights,
        points=penetration.points if proven_deep else (),
        facets=penetration.facets if proven_deep else (),
        iterations=simplex.iterations + penetration.iterations,
    )


def _center_witness(
    a: Polytope, b: Polytope, feature_a: Feature, feature_b: Feature, answer: _Answer, region: Region, rounding: float
) -> _Answer:
    """Return the answer with the witness points at the region's centroid, if they realise the signed distance there."""
    gap, normal = answer.signed_distance, answer.normals[0]
    vertices, weights = central_witness(a, b, feature_a, feature_b, normal, gap, region.centroid)
    centred = answer._replace(vertices=vertices, weights=weights)
    return centred if _miss(centred) <= max(_miss(answer), rounding) else answer


def _miss(answer: _Answer) -> float:
    """Return the length of the error with which the witness points realise the signed distance."""
    gap = answer.signed_distance
    mean = weighted_mean(answer.vertices, answer.weights)
    return sqrt(sum([(p + gap * n) ** 2 for p, n in zip(mean, answer.normals[0], strict=True)]))


def _length_of(answer: _Answer) -> float:
    """Return the distance between the witness points."""
    x, y, z = weighted_mean(answer.vertices, answer.weights)
    return sqrt(x * x + y * y + z * z)
