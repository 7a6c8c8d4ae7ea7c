# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door: two shapes in, one contact out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from ..arguments import as_length
from ..region.center import middle
from ..region.region import Region, region_between
from ..region.witness import can_slide, central_witness
from ..shapes.curved_shape import ConvexShape, CurvedShape, validate_convex_shapes
from ..shapes.feature import Feature, support_feature
from ..shapes.polytope import Polytope, extreme_exponent
from ..shapes.simplex import Vector, Vertex, weighted_mean
from ..tolerance import DEFAULT_CONTACT_TOLERANCE, EPA_CONVERGED, EPS, SUPPORT_ROUNDING, promised
from ..types import FloatArray, read_only
from .certificate import BallCertificate, Certificate, SupportCertificate
from .epa import Penetration, epa, epa_again
from .exact import weights_exactly
from .gjk import Simplex, gjk, size_of_difference, witness_points
from .relation import Relation, contact_band, relation_of
from .sat import SatResult, sat
from .separation import SignedSeparation

Method = Literal["auto", "sat", "gjk", "both"]
_METHODS = get_args(Method)


class Status(StrEnum):
    """Whether the bounds of the signed distance meet, and if not, which step stopped."""

    CERTIFIED = "certified"
    """`lower_bound` and `upper_bound` meet within the promised tolerance."""
    GJK_STALLED = "gjk_stalled"
    """Rounding ended the search for the nearest points before the bounds met."""
    EPA_STALLED = "epa_stalled"
    """Rounding ended the growth of the polytope before the bounds met."""
    CURVED_BRACKET = "curved_bracket"
    """The search around a curved surface ended with this bracket: a curved pair converges, it does not terminate."""
    METHODS_DISAGREE = "methods_disagree"
    """SAT and GJK with EPA differ by more than the promised tolerance."""
    BOUNDS_ONLY = "bounds_only"
    """The pair is apart, and no more was asked for: only of `contacts` without distances."""

    @property
    def reason(self) -> str:
        """Which step stopped and why, in words; empty when the bounds meet."""
        return _REASONS.get(self, "")


_REASONS = {
    Status.GJK_STALLED: "rounding ended GJK's search for the nearest points",
    Status.EPA_STALLED: "rounding ended the growth of EPA's polytope",
    Status.CURVED_BRACKET: "the search around the curved surfaces ended before the bounds met",
    Status.METHODS_DISAGREE: "SAT and GJK with EPA found different distances",
    Status.BOUNDS_ONLY: "the distance was not asked for",
}


class TieKind(StrEnum):
    """What the equally good normals of a contact are."""

    FINITE = "finite"
    """Those listed, or the corners of a fan of which every normal is as good."""
    CIRCLE = "circle"
    """All of a circle; four of them are listed."""
    SPHERE = "sphere"
    """All directions; six of them are listed."""


@dataclass(frozen=True, eq=False)
class Contact(SignedSeparation):
    """Where, how deep and which way two shapes A and B collide, with the proof.

    World frame, the unit of the input's coordinates, float64.
    """

    relation: Relation
    """What a person would call it, with the contact tolerance."""
    signed_distance: float
    """> 0 gap, 0 touching, < 0 minus the penetration depth."""
    normal: FloatArray
    """(dim,) unit vector from A to B. Moving B by `depth * normal` separates a penetrating pair; a separated pair has
    an empty slab of width `signed_distance` across it."""
    point_on_a: FloatArray
    """(dim,) witness point on A. Where faces or parallel edges meet, many pairs of points are as good: then the one at
    the middle of the contact region, if it realises the signed distance to rounding."""
    point_on_b: FloatArray
    """(dim,) witness point on B: `point_on_b - point_on_a = signed_distance * normal`."""
    region: Region | None
    """Where the support features meet; None when the gap is wider than the contact tolerance's band."""
    lower_bound: float
    """Certified: the true signed distance is not below."""
    upper_bound: float
    """Certified: the true signed distance is not above."""
    ties: FloatArray
    """(m, dim) equally good normals, within half the promised tolerance; the chosen one first. For flat shapes in one
    plane, the two normals of that plane."""
    feature_a: Feature
    """The support feature of A that decided: its vertices within the contact tolerance of its support plane."""
    feature_b: Feature
    """The support feature of B that decided. Face against vertex: the face's plane decides; two edges: their cross."""
    method: str
    """The algorithms that answered: "gjk", "gjk+epa", "sat", "sat+gjk", or "gjk+sat" and "gjk+epa+sat" for both; with
    ", curved" where a shape is, and "secular, curved" of an ellipsoid and a ball."""
    iterations: int
    """How many support points GJK and EPA asked for, or steps the root of the secular equation took."""
    status: Status
    """`CERTIFIED` when the bounds meet; else which step stopped."""
    cross_check: float | None
    """Under method "both", by how much SAT and GJK with EPA contradict each other: the difference of the signed
    distances when the shapes intersect; when they are apart, how far SAT's gap, a lower bound, exceeds the distance.
    None under the other methods."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float
    """As given: relative to the smaller shape's extent."""
    certificate: Certificate | SupportCertificate | BallCertificate
    """What `verify` checks the bounds by; the second kind when a shape is curved, the third of an ellipsoid and a
    ball."""
    tie_kind: TieKind = TieKind.FINITE
    """Whether `ties` are all equally good normals, or stand for a circle or a sphere of them."""

    @property
    def center(self) -> FloatArray:
        """(dim,) contact centre, world frame: the centroid of the region; the middle of the witness points where there
        is none. Always valid; the same in either order of the shapes, and steady where witness points are not unique.
        """
        return read_only(middle(self.point_on_a, self.point_on_b)) if self.region is None else self.region.centroid

    def scaled(self, exponent: int) -> Contact:
        """Return the contact of the shapes scaled by 2**exponent; the clearance scales too."""

        def times(value: float) -> float:
            return float(np.ldexp(value, exponent))

        return replace(
            self,
            signed_distance=times(self.signed_distance),
            point_on_a=read_only(np.ldexp(self.point_on_a, exponent)),
            point_on_b=read_only(np.ldexp(self.point_on_b, exponent)),
            region=None if self.region is None else self.region.scaled(exponent),
            lower_bound=times(self.lower_bound),
            upper_bound=times(self.upper_bound),
            cross_check=None if self.cross_check is None else times(self.cross_check),
            clearance=times(self.clearance),
        )


def contact(
    a: ConvexShape,
    b: ConvexShape,
    *,
    method: Method = "auto",
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    start: Contact | None = None,
) -> Contact:
    """Return where, how deep and which way two shapes collide, or how far apart they are.

    `method`: "gjk" is GJK and EPA, "sat" is SAT (whose gap is only a lower bound of the distance, so a separated pair
    gets distance and witness points from GJK started at the separating axis) and slow beyond some hundred vertices,
    "both" computes both and compares them in `cross_check`, "auto" picks the fastest, which is GJK and EPA.
    `clearance` is a length in world units, `contact_tolerance` is relative to the smaller non-zero extent of the two
    shapes: the band of TOUCHING around 0 and the width of the support features, neither less than rounding.
    `start` is the answer of the last time: polytopes that have moved little since then, their vertices in the same
    order, are answered from the features that decided, faster; the answer is as right whatever it is.

    Raises ValueError, naming the argument, when the shapes' dimensions differ or an option is not valid.
    """
    validate_convex_shapes(a, b)
    if not (isinstance(method, str) and method in _METHODS):
        raise ValueError(f'method must be "auto", "sat", "gjk" or "both", not {method!r}')
    clearance = as_length("clearance", clearance)
    contact_tolerance = as_length("contact_tolerance", contact_tolerance)
    if start is not None and not isinstance(start, Contact):
        raise ValueError(f"start must be what contact(a, b) returned, not {type(start).__name__}")
    exponent = extreme_exponent(a, b)
    if exponent:
        clear = float(np.ldexp(clearance, -exponent))
        found = _any_contact(
            a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), method, clear, contact_tolerance, start
        )
        return replace(found.scaled(exponent), clearance=clearance)
    return _any_contact(a, b, method, clearance, contact_tolerance, start)


def _any_contact(
    a: ConvexShape, b: ConvexShape, method: Method, clearance: float, contact_tolerance: float, start: Contact | None
) -> Contact:
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        return _contact(a, b, method, clearance, contact_tolerance, start)
    from ..curved.curved_contact import curved_contact  # which makes contacts itself

    if method in ("sat", "both") and any(isinstance(s, CurvedShape) and s.skeleton is None for s in (a, b)):
        raise ValueError(
            f'method {method!r} needs polytopes, or polytopes with a radius: take "auto" for smooth shapes'
        )
    return curved_contact(a, b, method, clearance, contact_tolerance)


def _contact(
    a: Polytope, b: Polytope, method: Method, clearance: float, contact_tolerance: float, start: Contact | None
) -> Contact:
    by_sat = sat(a, b) if method in ("sat", "both") else None
    if by_sat is not None:
        start = None
    proof = None if start is None else _proof_of(a, b, start)
    found = None if proof is None else _still_deep(a, b, proof)
    if found is None:
        feature = () if proof is None else _feature_of(proof)
        simplex = gjk(a, b, by_sat.normal if by_sat is not None and by_sat.separated else None, start=feature)
        if simplex.intersects:
            answer = _intersecting(a, b, simplex, epa(a, b, simplex), by_sat if method == "sat" else None)
        else:
            answer = _apart(simplex)
    else:
        simplex, answer = found
    dim = a.dim
    rounding = SUPPORT_ROUNDING * EPS * size_of_difference(a, b)
    ties = np.array([n[:dim] for n in answer.normals]) + 0.0  # + 0.0 turns -0.0 into 0.0
    normal = ties[0].copy()
    band = contact_band(a, b, contact_tolerance)
    # Without a tolerance of the user's, what rounding leaves of a flat face must still be one.
    width = max(band, rounding)
    feature_a, feature_b = support_feature(a, normal, width), support_feature(b, -normal, width)

    point_on_a, point_on_b = witness_points(a, b, answer.vertices, answer.weights)
    region = None
    if answer.signed_distance <= band or can_slide(a, b, feature_a, feature_b):
        region = region_between(a, b, normal, band, point_on_a.tolist(), point_on_b.tolist())
        if len(region.vertices) > 1:  # mutant: contact-witness-not-in-the-middle
            answer = _centred(a, b, feature_a, feature_b, answer, region, rounding)
            point_on_a, point_on_b = witness_points(a, b, answer.vertices, answer.weights)

    signed_distance = answer.signed_distance
    lower_bound = min(signed_distance, answer.slab) - rounding  # mutant: contact-lower-bound-not-widened
    # mutant: contact-upper-bound-not-widened
    upper_bound = max(min(_length_of(answer), answer.enclosed), signed_distance) + rounding
    tolerance = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    status = Status.CERTIFIED
    if upper_bound - lower_bound > tolerance:
        status = Status.EPA_STALLED if simplex.intersects else Status.GJK_STALLED
    cross_check = None
    if by_sat is not None:
        difference = by_sat.signed_distance - signed_distance
        contradiction = abs(difference) if simplex.intersects else max(0.0, difference)
        if contradiction > tolerance:  # mutant: contact-disagreement-unreported
            status = Status.METHODS_DISAGREE
        if method == "both":
            cross_check = contradiction
    name = "gjk+epa" if simplex.intersects else "gjk"
    if method == "sat":
        name = "sat" if simplex.intersects else "sat+gjk"
    elif method == "both":
        name += "+sat"
    return Contact(
        relation=relation_of(a, b, signed_distance, band, clearance),
        signed_distance=signed_distance,
        normal=read_only(normal),
        point_on_a=read_only(point_on_a),  # mutant: contact-witness-points-swapped
        point_on_b=read_only(point_on_b),
        region=region if signed_distance <= band else None,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
        ties=read_only(ties),
        feature_a=feature_a,
        feature_b=feature_b,
        method=name,
        iterations=answer.iterations,
        status=status,
        cross_check=cross_check,
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
    )


class _Answer(NamedTuple):
    """What GJK or EPA say, before it becomes a contact."""

    signed_distance: float
    slab: float
    """What the best of `normals` proves: the signed distance is not below."""
    enclosed: float
    """The polytope of `points` and `facets` proves that the signed distance is not above; inf without one."""
    normals: tuple[Vector, ...]
    vertices: tuple[Vertex, ...]
    """Points of A - B whose mean with `weights` realises the signed distance."""
    weights: tuple[float, ...]
    points: tuple[Vertex, ...]
    facets: tuple[tuple[int, ...], ...]
    iterations: int


def _proof_of(a: Polytope, b: Polytope, start: Contact) -> Certificate | None:
    """Return the last answer's certificate; None where these shapes do not have the vertices that it names."""
    proof = start.certificate
    if not isinstance(proof, Certificate) or len(proof.normal) != a.dim:
        return None
    named_a = (*proof.index_a, *(i for i, _ in proof.pairs))
    named_b = (*proof.index_b, *(j for _, j in proof.pairs))
    return proof if max(named_a) < len(a.vertices) and max(named_b) < len(b.vertices) else None


def _feature_of(proof: Certificate) -> tuple[tuple[int, int], ...]:
    """Return the vertices of A and B that made up to three points of A - B where the last answer was."""
    return tuple(dict.fromkeys(zip(proof.index_a, proof.index_b, strict=True)))[:3]


def _still_deep(a: Polytope, b: Polytope, proof: Certificate) -> tuple[Simplex, _Answer] | None:
    """Return what EPA says when it goes on with the last polytope; None when that leaves anything open."""
    penetration = epa_again(a, b, proof.pairs, proof.facets)
    if penetration is None or penetration.faces[0].miss > SUPPORT_ROUNDING * EPS * size_of_difference(a, b):
        return None  # near a touch it takes GJK's common point too
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
    a: Polytope, b: Polytope, simplex: Simplex, penetration: Penetration, by_sat: SatResult | None
) -> _Answer:
    """Return EPA's answer; when SAT is to decide, its depth and normal with EPA's witness points and proof."""
    size = size_of_difference(a, b)
    rounding = SUPPORT_ROUNDING * EPS * size
    faces = penetration.faces
    signed_distance = 0.0 - penetration.depth
    if by_sat is not None:
        signed_distance = max(signed_distance, by_sat.signed_distance)
        # Its normal is one of EPA's equally good ones; a face beside the origin's projection has no witness points.
        width = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
        faces = tuple(
            sorted(faces, key=lambda f: (max(f.miss, width), -float(by_sat.normal @ np.array(f.normal[: a.dim]))))
        )
    face = faces[0]
    vertices, weights = face.vertices, face.weights
    if face.miss > rounding:
        # A bare touch may be beside the face's inside: GJK's own common point is then the better witness.
        shared = simplex.weights or weights_exactly(simplex.vertices)
        near = weighted_mean(simplex.vertices, shared)
        off = [n - penetration.depth * x for n, x in zip(near, face.normal, strict=True)]
        if off[0] ** 2 + off[1] ** 2 + off[2] ** 2 < face.miss**2:
            vertices, weights = simplex.vertices, shared
    proven_deep = penetration.inner > rounding  # nearer to the surface, "around the origin" is a matter of rounding
    return _Answer(
        signed_distance=signed_distance,
        # EPA ends at a face that the shapes may reach beyond by so much.
        slab=0.0 - penetration.depth - EPA_CONVERGED * EPS * size,
        enclosed=-penetration.inner if proven_deep else inf,
        normals=tuple(f.normal for f in faces),
        vertices=vertices,
        weights=weights,
        points=penetration.points if proven_deep else (),
        facets=penetration.facets if proven_deep else (),
        iterations=simplex.iterations + penetration.iterations,
    )


def _centred(
    a: Polytope, b: Polytope, feature_a: Feature, feature_b: Feature, answer: _Answer, region: Region, rounding: float
) -> _Answer:
    """Return the answer with the witness points at the region's centroid, if they realise the signed distance there."""
    gap, normal = answer.signed_distance, answer.normals[0]
    vertices, weights = central_witness(a, b, feature_a, feature_b, normal, gap, region.centroid)
    centred = answer._replace(vertices=vertices, weights=weights)
    return centred if _miss(centred) <= max(_miss(answer), rounding) else answer


def _miss(answer: _Answer) -> float:
    """Return how far the vector from B to A between the witness points is from minus the signed distance's."""
    gap = answer.signed_distance
    mean = weighted_mean(answer.vertices, answer.weights)
    return sqrt(sum([(p + gap * n) ** 2 for p, n in zip(mean, answer.normals[0], strict=True)]))


def _length_of(answer: _Answer) -> float:
    """Return the distance between the witness points."""
    x, y, z = weighted_mean(answer.vertices, answer.weights)
    return sqrt(x * x + y * y + z * z)
