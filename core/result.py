# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of `contact`: one record for all kinds of shapes, with its proof. Imports no solver."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import isfinite
from typing import Any, Literal, TypeVar

import numpy as np

from .note import Note
from .region.center import middle, weighted_center
from .region.contact_curve import ContactCurve, curves_center
from .region.merged_region import MergedRegion, TrianglePatches
from .region.region import Region, RegionKind
from .shapes.feature import Feature
from .shapes.shape import numbers
from .trace import Trace
from .types import FloatArray, IntArray, ReadOnlyArrays, read_only

Method = Literal["auto", "sat", "gjk", "both"]
"""How `contact` solves a pair of convex shapes."""

DICT_VERSION = 1
"""Version of the form of `Contact.to_dict()`: incremented when a key changes its meaning or is removed."""

WITHOUT_DEPTH = "signed_distance", "depth", "normal", "mtv", "lower_bound", "upper_bound"
"""What `to_dict` has None for where there is no depth."""
_NOT_IN_DICT = ("certificate", "_facing", "_middle", "trace")
_Lengths = TypeVar("_Lengths", FloatArray, float)


class Relation(StrEnum):
    """State of a pair within the contact tolerance."""

    COINCIDENT = "coincident"
    TOUCHING = "touching"
    A_INSIDE_B = "a_inside_b"
    B_INSIDE_A = "b_inside_a"
    PENETRATING = "penetrating"
    WITHIN_CLEARANCE = "within_clearance"
    SEPARATED = "separated"


class Status(StrEnum):
    """Whether the bounds of the signed distance meet, and if not, why. Both bounds are valid whatever the status."""

    CERTIFIED = "certified"
    """`lower_bound` and `upper_bound` meet within the promised tolerance."""
    GJK_STALLED = "gjk_stalled"
    """Rounding ended the search for the nearest points before the bounds met."""
    EPA_STALLED = "epa_stalled"
    """Rounding ended the growth of the polytope before the bounds met."""
    CURVED_BRACKET = "curved_bracket"
    """The search on a curved surface ended with these bounds: for curved pairs it converges but does not terminate."""
    METHODS_DISAGREE = "methods_disagree"
    """SAT and GJK with EPA differ by more than the promised tolerance."""
    BOUNDS_ONLY = "bounds_only"
    """Only bounds were requested. Of convex shapes, from `contacts` without distances: the pair is separated. Of
    compounds and meshes, without depths: they are deeper in each other than the contact tolerance, and no depth was
    searched; `has_depth` is False then, signed distance and depth are NaN, and `normal` is zero."""
    BUDGET = "budget"
    """The budget ended the search for the smallest translation of compounds."""
    STALLED = "stalled"
    """Rounding ended the search for the smallest translation of compounds before the bounds met."""
    BRACKET = "bracket"
    """The search for the smallest translation (when separated, for the nearest points) of meshes or curved pieces ended
    with these bounds."""
    UNVERIFIED = "unverified"
    """After the translation, pieces of compounds are still deeper inside each other than rounding: only the upper bound
    is proved."""
    NO_DEPTH = "no_depth"
    """Two bare surfaces meet, or a shape is inside one that is closed but for small holes: there is no depth. `normal`
    is zero and both bounds are 0."""

    @property
    def reason(self) -> str:
        """Why the bounds do not meet, as text; empty when they do."""
        return _REASONS.get(self, "")


_REASONS = {
    Status.GJK_STALLED: "rounding ended GJK's search for the nearest points",
    Status.EPA_STALLED: "rounding ended the growth of EPA's polytope",
    Status.CURVED_BRACKET: "the search around the curved surfaces ended before the bounds met",
    Status.METHODS_DISAGREE: "SAT and GJK with EPA found different distances",
    Status.BOUNDS_ONLY: "only bounds were asked for",
    Status.BUDGET: "the budget ended the search for the smallest translation that separates",
    Status.STALLED: "rounding ended the search before the bounds met",
    Status.BRACKET: "the smallest translation that separates was not found, only bounds of it",
    Status.UNVERIFIED: "pieces still overlap after the translation, by more than rounding",
    Status.NO_DEPTH: "open surfaces have no inside, so there is no depth",
}


class TieKind(StrEnum):
    """Kind of the set of equally good normals of a contact."""

    FINITE = "finite"
    """The listed normals, or the corners of a fan in which every normal is equally good."""
    CIRCLE = "circle"
    """All normals of a circle; four of them are listed."""
    SPHERE = "sphere"
    """All directions; six of them are listed."""


# ---------------------------------------------------------------------------------------------------------------------
# Proofs: small records of vertex indices or directions, checked independently of the solver


class Proof(ReadOnlyArrays):
    """Proof of the bounds of a contact, checked by `verify`. Each kind of shape has its own subclass."""

    def __repr__(self) -> str:
        """Return in one line what it consists of."""
        return f"{type(self).__name__}({', '.join(vars(self))})"

    def scaled(self, exponent: int) -> Proof:
        """Return the proof for the shapes scaled by 2**exponent; the proof itself where it does not depend on the
        scale."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Proof):
    """Proof of the bounds of the signed distance of two polytopes.

    The lower bound is the width of the empty slab across `normal` (negative when the shapes overlap along it). The
    upper bound is the distance of the two witness points; for shapes that penetrate, minus the radius of a ball around
    the origin inside the polytope, which is inside the Minkowski difference A - B.
    """

    normal: FloatArray
    """(dim,) unit vector from A to B."""
    index_a: tuple[int, ...]
    """Vertices of A whose weighted mean is `point_on_a`."""
    index_b: tuple[int, ...]
    """Vertices of B whose weighted mean is `point_on_b`."""
    weights: tuple[float, ...]
    """The weights of the vertices of A and of B: non-negative, with sum 1."""
    pairs: tuple[tuple[int, int], ...]
    """Corners of the polytope: corner k is vertex `pairs[k][0]` of A minus vertex `pairs[k][1]` of B. Empty when the
    shapes do not penetrate."""
    facets: tuple[tuple[int, ...], ...]
    """Outward triangles of the polytope (in the plane: sides, counter-clockwise) as indices into `pairs`."""


@dataclass(frozen=True, eq=False, repr=False)
class SupportCertificate(Proof):
    """Proof of the bounds of a signed distance when a shape is curved.

    The lower bound is the width of the empty slab across `normal`, measured by the shapes' support points. The upper
    bound is that of `inner`, the contact of two polytopes inside the cores, less the radii.
    """

    normal: FloatArray
    """(dim,) unit vector from A to B."""
    directions_a: FloatArray
    """(k, dim) the polytope inside A's core is the hull of its points for these directions; if empty, the
    core itself."""
    directions_b: FloatArray
    """(k, dim) same for B."""
    inner: Contact
    """The contact of these polytopes, with its own certificate."""
    section: FloatArray | None = None
    """(3, 3) rows origin, axis and a direction across it: `inner` is then the equivalent contact, in the plane, of the
    sections of two bodies of revolution about axes in this plane; see `curved_section`."""
    depth: float | None = None
    """World units, > 0: the cores overlap by at least this in every direction, as recomputed cells of directions show,
    see `direction_cover`; its negative is then an upper bound as well. None where it is not needed."""


@dataclass(frozen=True, eq=False, repr=False)
class BallCertificate(Proof):
    """Proof of the bounds of a signed distance when the cores are ellipsoids or points.

    The lower bound is the width of the empty slab across `normal`, measured by the shapes' support points. The upper
    bound is the distance of these points; of cores that overlap, minus the radius of a ball about the origin that is
    inside an ellipsoid in the Minkowski difference, see `ellipsoid_pair`.
    """

    normal: FloatArray
    """(dim,) unit vector from A to B."""
    gap: float | None
    """The smallest semi-axis minus the root of the multiplier that proves the radius; world units. None where cores do
    not overlap."""
    depth: float | None = None
    """See `SupportCertificate.depth`."""


ConvexCertificate = Certificate | SupportCertificate | BallCertificate
"""Every proof of a contact of two convex shapes."""


@dataclass(frozen=True, eq=False, repr=False)
class CompoundCertificate(Proof):
    """Proof of the bounds of the signed distance of two compounds: the deciding pairs of pieces.

    When separated, no pair is nearer than the lower bound. When penetrating, no pair overlaps after the translation,
    and all shorter translations are covered by the differences of pieces.
    """

    pieces: tuple[int, int]
    """Indices of the deciding piece of A and of B: the nearest, or those with `point_on_a` and `point_on_b`."""
    contact: Contact
    """The contact of these two pieces with its own certificate; when penetrating, with B moved by `mtv`."""
    pairs: IntArray
    """(p, 2) pieces of A and of B that touch or penetrate, in ascending order."""
    overlap: float
    """Depth of the deepest pair of pieces, 0.0 when no pair penetrates. Not more than the depth."""
    tolerance: float
    """Depth up to which pieces count as touching, and within which bounds meet; world units."""
    directions: FloatArray
    """(k, dim) directions that prove the upper bound where pieces are curved: the differences of pieces were replaced
    by inner polytopes that reach their surfaces in these directions. None for polytopes."""

    def scaled(self, exponent: int) -> CompoundCertificate:
        return replace(
            self,
            contact=self.contact.scaled(exponent),
            overlap=_scaled(self.overlap, exponent),
            tolerance=_scaled(self.tolerance, exponent),
        )


# ---------------------------------------------------------------------------------------------------------------------
# The contact


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Contact(ReadOnlyArrays):
    """Where, how deep and in which direction two shapes A and B collide, with the proof.

    World frame, the unit of the input's coordinates, float64. The shapes are convex, compounds or meshes; a field that
    does not apply to a kind of shape is None or ().

    A closed mesh represents the solid inside it; an open one is a bare surface, which has a depth in a solid: that of
    the smallest translation that frees the solid from it. Where two bare surfaces meet, and where a shape is inside one
    that is closed but for small holes, which `notes` name, `intersects` is True, `status` is `Status.NO_DEPTH`,
    `has_depth` is False, signed distance, depth and both bounds are 0.0, and `normal` and `mtv` are zero.

    Compounds: "separated" means that no piece of A and piece of B do more than touch. Pieces that overlap by at
    most the certificate's `tolerance`, which is the rounding of their coordinates, count as touching. A flat piece, a
    segment or a point counts as `tolerance` thick to either side, so that it does not slip out between two pieces that
    meet.
    """

    relation: Relation
    """State of the pair within the contact tolerance. Certain between exact pieces of meshes; otherwise `notes` name
    the decisions made from samples."""
    signed_distance: float
    """> 0 gap, 0 touching, < 0 minus the length of the smallest translation (of compounds and meshes: the smallest
    known) that separates. Where only bounds are known it may be up to CLEAR_LONGER times as long, to stay clear beyond
    it. Where `has_depth` is False 0.0, or NaN where no depth was asked for."""
    normal: FloatArray
    """(dim,) unit vector from A to B. Moving B by `depth * normal` separates a penetrating pair, and so does moving
    compounds and meshes a little farther along the normal, by up to 1e-3 of the depth, 1e-5 of the smaller size and the
    contact tolerance, unless `NOTCH` is among the notes. A separated pair has an empty slab of width `signed_distance`
    across it. Zero where `has_depth` is False, and where meshes are so near that rounding leaves the direction
    undefined."""
    point_on_a: FloatArray
    """(dim,) witness point on A. Where faces or parallel edges meet or face each other, many pairs of points are
    equally good: then the one at the middle of the contact region, if it realises the signed distance to rounding, as
    it does not where a face is tilted by a digit of single precision. For penetrating compounds, where B touches A
    after it is moved; for meshes whose pieces are not exact, a common point."""
    point_on_b: FloatArray
    """(dim,) witness point on B: `point_on_b - point_on_a = signed_distance * normal`; for meshes only when they are
    separated or their pieces are exact."""
    region: Region | None
    """Intersection of the support features of two convex shapes, half-way across a gap; None when they are separated,
    and for compounds and meshes, which have `regions`. Two faces may have a segment or a point: see `Region`."""
    regions: tuple[MergedRegion, ...] = ()
    """Contact regions of compounds and meshes (when penetrating, of B moved by `mtv`, shown half-way back), merged from
    patches of coplanar and adjacent pairs of pieces; the largest first. Across a gap within the clearance they are of
    the pairs that are as near as the nearest, within the band of the contact tolerance. Of meshes that touch or are
    within the clearance, patches are of pairs of triangles (`piece_a`, `piece_b`); of those that penetrate, of pieces
    that fit, and of meshes beside curved solids too. Empty when separated, and for convex shapes."""
    curves: tuple[ContactCurve, ...] = ()
    """Curves in which the surfaces of meshes meet; empty for other shapes. A curved shape is represented by its
    facets."""
    lower_bound: float
    """Certified: the true signed distance is not less. -inf where no translation is known to separate meshes."""
    upper_bound: float
    """Certified: the true signed distance is not greater."""
    ties: FloatArray
    """(m, dim) equally good normals, within half the promised tolerance; the chosen one first. For coplanar
    flat shapes, the two normals of their plane. For compounds and meshes with exact pieces those found by the
    search; there may be others. For other meshes the normal alone."""
    tie_kind: TieKind = TieKind.FINITE
    """Whether `ties` are all equally good normals, or samples of a circle or a sphere of them."""
    feature_a: Feature | None = None
    """The deciding support feature of A: its vertices within the contact tolerance of its support plane. None for
    compounds and meshes."""
    feature_b: Feature | None = None
    """The deciding support feature of B. For a face and a vertex, the plane of the face decides; for two edges, their
    cross product."""
    method: str
    """The algorithms used: "gjk", "gjk+epa", "sat", "sat+gjk", or "gjk+sat" and "gjk+epa+sat" for method "both"; with
    ", curved" where a shape is curved, "secular, curved" for an ellipsoid and a ball, "newton, curved" for two
    ellipsoids, "centers, curved" for two balls; "compound" and "mesh"."""
    iterations: int
    """Number of support points computed by GJK and EPA, of axes tested by SAT under "sat" (at most 15 for two boxes),
    of steps of Newton's method for ellipsoids, or of nodes processed by the search for the smallest translation of
    compounds. Of meshes the last, of their exact pieces; 0 where these are not needed."""
    status: Status
    """`CERTIFIED` when the bounds meet, else the reason why they do not."""
    cross_check: float | None = None
    """Under method "both", the disagreement of SAT and GJK with EPA: the difference of the signed distances when the
    shapes intersect; when they are separated, the excess of SAT's gap, a lower bound, over the distance.
    None under the other methods."""
    notes: tuple[Note, ...] = ()
    """Remarks on compounds and meshes and on the result, as text: faults of meshes, facets that approximate curved
    shapes, notches. Empty for convex shapes."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float
    """As given: relative to the smaller non-zero `Shape.diameter` of the two."""
    certificate: Proof
    """The proof that `verify` checks: a `Certificate` for polytopes, `SupportCertificate` when a shape is curved,
    `BallCertificate` for an ellipsoid or a ball and a ball, `CompoundCertificate`, `MeshCertificate`."""
    _facing: Region | None = field(default=None, repr=False)
    """Of two convex shapes that are separated, what the region would be within the clearance, for `center`; None where
    no other witness points are nearly as good."""
    _middle: FloatArray | None = field(default=None, repr=False)
    """(3,) of a curved shape and a mesh that are separated, the middle of the feature that faces the mesh, half-way
    across the gap, for `center`; None where the feature is a point, and where its middle is not as near as the rest."""

    trace: Trace | None = field(default=None, repr=False)
    """The steps of SAT, GJK, EPA and the region, if requested; not part of `to_dict()`."""

    def __repr__(self) -> str:
        """Return the relation, the signed distance and the normal in one line."""
        distance = f"signed_distance={self.signed_distance:.6g}" if self.has_depth else "no depth"
        return f"Contact({self.relation}, {distance}, normal={numbers(self.normal)}, {self.status})"

    @property
    def intersects(self) -> bool:
        """Whether `signed_distance <= 0`, known or not, without any tolerance. For meshes it is decided exactly:
        triangles have a common point, or a part of one is inside the other's solid; or all of one is inside a bare
        surface with small holes, where its corners are."""
        return self.signed_distance <= 0.0 or self.status is Status.BOUNDS_ONLY

    @property
    def has_depth(self) -> bool:
        """False where two open surfaces meet or one is around the other, see `Status.NO_DEPTH`, and where no depth was
        asked for, see `Status.BOUNDS_ONLY`."""
        return self.status not in (Status.NO_DEPTH, Status.BOUNDS_ONLY)

    @property
    def depth(self) -> float:
        """Length of the smallest translation known to separate, 0.0 when separated and where there is no depth, NaN
        where none was asked for."""
        return max(-self.signed_distance, 0.0) + 0.0

    @property
    def least_depth(self) -> float:
        """Certified: no shorter translation separates; 0.0 when separated."""
        return max(0.0, -self.upper_bound)

    @property
    def mtv(self) -> FloatArray:
        """(dim,) minimum translation vector `depth * normal`: moving B by it separates the pair; zero when
        separated."""
        return (self.depth if self.has_depth else 0.0) * self.normal  # mutant: contact-mtv-of-a

    @property
    def reason(self) -> str:
        """Why the bounds do not meet or there is no depth, as text; empty when they do."""
        if self.status is Status.BRACKET and self.signed_distance > 0.0:
            return "only bounds of the distance were found"
        return self.status.reason

    @cached_property
    def center(self) -> FloatArray:
        """(dim,) contact centre: the centroid of the region, of all regions by area, or of all curves by length; the
        middle of the witness points if there is no region and no curve. Across a gap it is in the middle of the
        features that face each other. Always valid; independent of the order of the shapes, and stable where witness
        points are not unique."""
        if self._region_or_facing is not None:
            return self._region_or_facing.centroid
        if self._middle is not None:
            return self._middle
        if self.regions:
            parts = [(r.centroid, r.area, r.length) for r in self.regions]
            return weighted_center(*zip(*parts, strict=True))
        return curves_center(self.curves) if self.curves else read_only(middle(self.point_on_a, self.point_on_b))

    @property
    def _region_or_facing(self) -> Region | None:
        """The region of two convex shapes; of separated ones what it would be within the clearance, None where no other
        witness points are nearly as good."""
        return self._facing if self.region is None else self.region

    @property
    def area(self) -> float:
        """Total area of the region or the regions, world units squared; across a gap, how much of the shapes faces each
        other."""
        return float(sum(region.area for region in self.regions)) if self.region is None else self.region.area

    @property
    def length(self) -> float:
        """Total length of the regions that are segments, world units."""
        regions = self.regions if self.region is None else (self.region,)
        return float(sum(region.length for region in regions if region.kind is RegionKind.SEGMENT))

    def scaled(self, exponent: int, clearance: float | None = None) -> Contact:
        """Return the contact of the shapes scaled by 2**exponent, with `clearance` or the scaled clearance. Not for
        meshes."""
        result = replace(
            self,
            signed_distance=_scaled(self.signed_distance, exponent),
            point_on_a=_scaled(self.point_on_a, exponent),
            point_on_b=_scaled(self.point_on_b, exponent),
            region=None if self.region is None else self.region.scaled(exponent),
            _facing=None if self._facing is None else self._facing.scaled(exponent),
            regions=tuple(region.scaled(exponent) for region in self.regions),
            lower_bound=_scaled(self.lower_bound, exponent),
            upper_bound=_scaled(self.upper_bound, exponent),
            cross_check=None if self.cross_check is None else _scaled(self.cross_check, exponent),
            clearance=_scaled(self.clearance, exponent) if clearance is None else clearance,
            certificate=self.certificate.scaled(exponent),
            trace=self.trace and self.trace.scaled(exponent, clearance),
        )
        # The areas that weight the regions may overflow float64 now.
        result.__dict__["center"] = _scaled(self.center, exponent)
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return the contact without its certificate as plain numbers, lists and strings, ready for `json.dumps`.

        `version` is that of the form. Non-finite values are None, and so are depth, normal, `mtv` and bounds where
        there is no depth.

        >>> from contact_lens.core import Sphere, contact
        >>> c = contact(Sphere([0, 0, 0], 1), Sphere([3, 0, 0], 1)).to_dict()
        >>> c["relation"], c["signed_distance"], c["normal"]
        ('separated', 1.0, [1.0, 0.0, 0.0])
        """
        derived = ("intersects", "has_depth", "depth", "mtv", "reason", "center", "area", "length")
        names = [field.name for field in fields(self) if field.name not in _NOT_IN_DICT]
        result = {"version": DICT_VERSION, **{name: plain(getattr(self, name)) for name in (*names, *derived)}}
        if not self.has_depth:
            result |= dict.fromkeys(WITHOUT_DEPTH)
        return result


def plain(value: Any) -> Any:
    """Return records, arrays and enumerations as dictionaries, lists, numbers and strings; None for non-finite
    numbers."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, tuple | list | TrianglePatches):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _scaled(value: _Lengths, exponent: int) -> _Lengths:
    """Return one or more lengths times 2**exponent."""
    if isinstance(value, np.ndarray):
        return read_only(np.ldexp(value, exponent))
    return float(np.ldexp(value, exponent))
