# SPDX-License-Identifier: GPL-3.0-or-later
"""Compounds: unions of convex pieces that stand for a shape that is not convex, and their contact.

Apart, two compounds are as far from each other as the nearest two pieces. When they penetrate, the smallest translation
that separates them is no matter of single pairs: the pieces' own translations do not add up. It is the shortest one
outside of the insides of all the Minkowski differences A_i - B_j; see `compound_depth.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import product
from math import inf, sqrt
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_length
from ..broad_phase.candidate_pairs import candidate_pairs
from ..curved.curved_inside import sticks_out
from ..narrow_phase.contact import Contact, contact
from ..narrow_phase.gjk import gjk
from ..narrow_phase.relation import Relation, contact_band
from ..narrow_phase.separation import SignedSeparation
from ..note import NOTCH, Note
from ..progress import Progress, report_progress, subrange
from ..region.center import middle, weighted_center
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope, extreme_exponent
from ..shapes.shape import Shape
from ..tolerance import COMPOUND_PLANE, DEFAULT_CONTACT_TOLERANCE, EPS, promised
from ..types import FloatArray, IntArray, read_only
from .compound_depth import Escape, shortest_escape
from .compound_planes import Planes, difference_planes
from .compound_region import MergedRegion, Patch, merged_regions
from .covered import is_covered, union_moments
from .curved_escape import curved_escape
from .pair_frame import pair_frame

_THICK = 16.0  # times the tolerance: translations of flat pieces up to this are a touch
BEYOND = (1.0, 0.5)
"""Shares of the length beyond a translation at which is looked whether pieces overlap again."""
DEFAULT_BUDGET = 4_000
"""Nodes: below a second for most pairs, some ten seconds for hundreds of pieces that overlap one another."""


class CompoundStatus(StrEnum):
    """Whether the bounds of the signed distance meet, and if not, why."""

    CERTIFIED = "certified"
    """`lower_bound` and `upper_bound` meet within `tolerance`."""
    BUDGET = "budget"
    """The budget ended the search for the smallest translation; both bounds hold."""
    STALLED = "stalled"
    """Rounding ended the search before the bounds met; both hold."""
    CURVED_BRACKET = "curved_bracket"
    """The search around curved pieces ended with this bracket; both bounds hold."""
    UNVERIFIED = "unverified"
    """After the translation pieces are still deeper inside each other than `tolerance`: `upper_bound` holds only."""

    @property
    def reason(self) -> str:
        """Why the bounds do not meet, in words; empty when they do."""
        return _REASONS.get(self, "")


_REASONS = {
    CompoundStatus.BUDGET: "the budget ended the search for the smallest translation that separates",
    CompoundStatus.STALLED: "rounding ended the search before the bounds met",
    CompoundStatus.CURVED_BRACKET: "the search around the curved pieces ended before the bounds met",
    CompoundStatus.UNVERIFIED: "pieces still overlap after the translation, by more than rounding",
}


@dataclass(frozen=True, eq=False, init=False)
class Compound(Shape):
    """The union of convex pieces, in world coordinates. Pieces may overlap, touch, be apart, or be flat."""

    without_vertices = "is not convex: use contact(a, b), or its pieces one by one"
    pieces: tuple[ConvexShape, ...]
    """At least one, all of the same dimension, in the order given."""

    def __init__(self, pieces: Sequence[ConvexShape]) -> None:
        """Take pieces such as `ConvexHull`, `Box` or `Sphere`.

        Raises ValueError, naming the argument, when there is none, one is no shape, or their dimensions differ.
        """
        try:
            given = tuple(pieces)
        except TypeError as error:
            raise ValueError(f"pieces must be a sequence of shapes, not {type(pieces).__name__}") from error
        if not given:
            raise ValueError("pieces: at least one shape expected, got none")
        for k, piece in enumerate(given):
            if not isinstance(piece, ConvexShape):
                raise ValueError(f"pieces: number {k} must be a shape such as ConvexHull, not {type(piece).__name__}")
            if piece.dim != given[0].dim:
                raise ValueError(f"pieces: number {k} has dimension {piece.dim}, but number 0 has {given[0].dim}")
        object.__setattr__(self, "pieces", given)

    @property
    def dim(self) -> int:
        """Dimension of the points: 2 or 3."""
        return self.pieces[0].dim

    @cached_property
    def lows(self) -> FloatArray:
        """(n, dim) lowest corners of the pieces' axis-aligned boxes, world frame."""
        return read_only(np.array([piece.bounds[0] for piece in self.pieces]))

    @cached_property
    def highs(self) -> FloatArray:
        """(n, dim) highest corners of the pieces' axis-aligned boxes, world frame."""
        return read_only(np.array([piece.bounds[1] for piece in self.pieces]))

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        return read_only(self.lows.min(axis=0)), read_only(self.highs.max(axis=0))

    @cached_property
    def curved(self) -> bool:
        """Whether a piece is no polytope."""
        return not all(isinstance(piece, Polytope) for piece in self.pieces)

    @cached_property
    def hull(self) -> ConvexShape:
        """The convex hull of all pieces; the piece itself where there is one only. Of several, curved ones among them,
        their box."""
        if len(self.pieces) == 1:
            return self.pieces[0]
        parts = [piece for piece in self.pieces if isinstance(piece, Polytope)]
        if len(parts) < len(self.pieces):
            return ConvexHull(list(product(*np.transpose(self.bounds).tolist())))
        return ConvexHull(np.concatenate([piece.vertices for piece in parts]))

    @cached_property
    def _moments(self) -> tuple[float, FloatArray]:
        curved = [piece for piece in self.pieces if not isinstance(piece, Polytope)]
        if not curved:
            return union_moments(cast(tuple[Polytope, ...], self.pieces))
        tolerance = pair_tolerance(self, self)
        for i, j in candidate_pairs(self.lows, self.highs).pairs.tolist():
            if contact(self.pieces[i], self.pieces[j]).signed_distance < -tolerance:
                raise ValueError(f"pieces {i} and {j} overlap, one is curved: their union's volume is not known")
        volumes = np.array([piece.volume for piece in self.pieces])
        return float(volumes.sum()), volumes @ [piece.centroid for piece in self.pieces]

    @property
    def volume(self) -> float:
        """Volume of the union, in the plane its area: what pieces share counts once.

        Raises ValueError when pieces overlap and one of them is curved.
        """
        return self._moments[0]

    @property
    def centroid(self) -> FloatArray:
        """(dim,) centre of mass of the union, world frame; the centre of the box when there is no volume.

        Raises ValueError when pieces overlap and one of them is curved.
        """
        volume, moment = self._moments
        return read_only(moment / volume) if volume > 0.0 else self.center

    def signed_distance(self, points: ArrayLike) -> FloatArray:
        """Return the signed distances (n,) of `points` (n, dim) from the nearest piece, or the one they are deepest in.

        Outside that is the distance from the union; inside, where pieces overlap or meet, its surface may be farther.
        Raises ValueError, naming the argument. Source: S1.5.
        """
        return super().signed_distance(points)

    def _support_points(self, directions: FloatArray) -> FloatArray:
        tips = np.stack([piece.supports(directions) for piece in self.pieces])
        farthest = np.einsum("pkd,kd->pk", tips - self.center, directions).argmax(axis=0)
        return tips[farthest, np.arange(len(directions))]

    def _signed_distances(self, points: FloatArray) -> FloatArray:
        return np.min([piece.signed_distance(points) for piece in self.pieces], axis=0)

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> Compound:
        return Compound([piece._transformed(linear, offset) for piece in self.pieces])

    def _translated(self, step: FloatArray) -> Compound:
        return Compound([piece.translated(step) for piece in self.pieces])

    def _scaled(self, factor: float) -> Compound:
        return Compound([piece.scaled(factor) for piece in self.pieces])


@dataclass(frozen=True, eq=False)
class CompoundContact(SignedSeparation):
    """Where, how deep and which way two compounds A and B collide. World frame, the unit of the coordinates, float64.

    "Separated" means that no piece of A and piece of B share more than a touch: pieces that overlap by at most
    `tolerance`, which is the rounding of their coordinates, count as touching. A flat piece, a segment or a point
    counts as `tolerance` thick to either side, so that it does not slip out between two pieces that meet.
    """

    relation: Relation
    """What a person would call it. TOUCHING when no two pieces are deeper inside each other than the band."""
    signed_distance: float
    """> 0 gap; 0 touching; < 0 minus the length of the smallest translation known to separate the compounds."""
    normal: FloatArray
    """(dim,) unit vector from A to B. Moving B by `depth * normal` separates the compounds: every pair of pieces was
    measured after it. So does moving it farther along the normal by up to the contact tolerance, unless `NOTCH` is
    among the notes. Apart: the nearest pieces have an empty slab of width `signed_distance` across it."""
    point_on_a: FloatArray
    """(dim,) witness point on A. When penetrating, where B touches A once it is moved."""
    point_on_b: FloatArray
    """(dim,) witness point on B: `point_on_b - point_on_a = signed_distance * normal`."""
    lower_bound: float
    """Certified: the true signed distance is not below. Penetrating: minus the length of a translation that
    separates."""
    upper_bound: float
    """Certified: the true signed distance is not above. Penetrating: no translation shorter than minus this
    separates."""
    ties: FloatArray
    """(m, dim) equally good normals that the search met, the chosen one first; there may be others."""
    overlap: float
    """How deep the two pieces that are deepest in each other are, 0.0 when none are. Not more than the depth."""
    pieces: tuple[int, int]
    """The piece of A and the piece of B that decide: the nearest, or those that `point_on_a` and `point_on_b` are
    on."""
    contact: Contact
    """The contact of these two with its own certificate: as they are, or with B moved by `mtv` when penetrating."""
    pairs: IntArray
    """(p, 2) pieces of A and of B that touch or penetrate, in ascending order."""
    regions: tuple[MergedRegion, ...]
    """Where the compounds touch (penetrating: where they do once B is moved, drawn half-way back), patches of coplanar
    and adjacent pairs merged; the largest first. Empty when apart."""
    area: float
    """Total area of the regions, world units squared."""
    length: float
    """Total length of those regions that are segments, world units."""
    centroid: FloatArray | None
    """(dim,) centroid of the regions' area; of their length when they have no area, of the points when no length
    either. None when apart."""
    tolerance: float
    """How deep inside each other pieces count as touching, and how near bounds meet; world units."""
    nodes: int
    """How many nodes the search for the smallest translation looked at; 0 without a search."""
    status: CompoundStatus
    """`CERTIFIED` when the bounds meet."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float
    """As given: relative to the smaller compound's extent."""
    directions: FloatArray
    """(k, dim) what proves the upper bound where pieces are curved: the differences of pieces were taken as polytopes
    inside of them that reach their surfaces in these directions. None for polytopes."""
    notes: tuple[Note, ...]
    """What to know about the answer, in words."""

    @property
    def center(self) -> FloatArray:
        """(dim,) contact centre, world frame: `centroid`, that of all regions; the middle of the witness points where
        there is none. Always valid."""
        return read_only(middle(self.point_on_a, self.point_on_b)) if self.centroid is None else self.centroid

    def scaled(self, exponent: int) -> CompoundContact:
        """Return the contact of the compounds scaled by 2**exponent; the clearance scales too."""

        def times(value: float) -> float:
            return float(np.ldexp(value, exponent))

        with np.errstate(over="ignore"):
            area = float(np.ldexp(self.area, 2 * exponent))
        return replace(
            self,
            signed_distance=times(self.signed_distance),
            point_on_a=read_only(np.ldexp(self.point_on_a, exponent)),
            point_on_b=read_only(np.ldexp(self.point_on_b, exponent)),
            lower_bound=times(self.lower_bound),
            upper_bound=times(self.upper_bound),
            overlap=times(self.overlap),
            contact=self.contact.scaled(exponent),
            regions=tuple(region.scaled(exponent) for region in self.regions),
            area=area,
            length=times(self.length),
            centroid=None if self.centroid is None else read_only(np.ldexp(self.centroid, exponent)),
            tolerance=times(self.tolerance),
            clearance=times(self.clearance),
        )


def compound_contact(
    a: Compound | ConvexShape,
    b: Compound | ConvexShape,
    *,
    budget: int = DEFAULT_BUDGET,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    progress: Progress | None = None,
) -> CompoundContact:
    """Return where, how deep and which way two compounds collide, or how far apart they are.

    `budget` is how many nodes the search for the smallest separating translation may look at, >= 0: the result holds a
    translation that separates and a certified lower bound whatever the budget. `clearance` is a length in world units,
    `contact_tolerance` is relative to the smaller non-zero extent of the two compounds: the band of TOUCHING around 0.
    `progress` is called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is neither a compound nor a shape, the dimensions differ, or an
    option is not valid; Cancelled when `progress` says so.
    """
    one, two = checked_compound("a", a), checked_compound("b", b)
    if one.dim != two.dim:
        raise ValueError(f"a and b must have the same dimension, but a has {one.dim} and b has {two.dim}")
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 0:
        raise ValueError(f"budget must be a whole number that is not negative, not {budget!r}")
    clearance = as_length("clearance", clearance)
    contact_tolerance = as_length("contact_tolerance", contact_tolerance)
    exponent = extreme_exponent(one, two)
    if exponent:
        one, two = one.scaled(2.0**-exponent), two.scaled(2.0**-exponent)
        pair = _Pair(one, two, float(np.ldexp(clearance, -exponent)), contact_tolerance, int(budget), progress)
        return replace(pair.contact().scaled(exponent), clearance=clearance)
    return _Pair(one, two, clearance, contact_tolerance, int(budget), progress).contact()


def checked_compound(name: str, value: object) -> Compound:
    """Return a compound, or the one of a single shape; ValueError for anything else."""
    if isinstance(value, Compound):
        return value
    if isinstance(value, ConvexShape):
        return Compound([value])
    raise ValueError(f"{name} must be a Compound or a shape such as ConvexHull or Box, not {type(value).__name__}")


def pair_tolerance(a: Compound, b: Compound) -> float:
    """Return how deep inside each other pieces count as touching, and how near bounds meet; world units."""
    promise = promised(0.0, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    return promise + 8.0 * COMPOUND_PLANE * EPS * _size(a, b)


def _size(a: Compound, b: Compound) -> float:
    apart = b.center - a.center
    return a.extent + b.extent + sqrt(float(apart @ apart))


def contains_compound(outer: Compound, inner: Compound, slack: float) -> bool:
    """Tell whether `inner` is inside the union of the pieces of `outer`, each grown by `slack`; world units.

    A curved piece counts as inside when a single piece holds all of it.
    """
    (low, high), (outer_low, outer_high) = inner.bounds, outer.bounds
    if not ((low >= outer_low - slack).all() and (high <= outer_high + slack).all()):
        return False
    holding = [piece for piece in outer.pieces if isinstance(piece, Polytope)]
    flat = [piece for piece in inner.pieces if isinstance(piece, Polytope)]
    if not outer.curved and not inner.curved:
        return is_covered(flat, holding, slack)
    for piece in inner.pieces:
        if isinstance(piece, Polytope) and holding and is_covered([piece], holding, slack):
            continue
        if not any(sticks_out(piece, other, slack) <= slack for other in outer.pieces):
            return False
    return True


class _Touching:
    """The contacts of all pairs of pieces whose boxes are within the band."""

    def __init__(self, pairs: list[tuple[int, int]], contacts: list[Contact]) -> None:
        self.pairs, self.contacts = pairs, contacts

    @property
    def nearest(self) -> int:
        """The place of the pair with the smallest signed distance."""
        return min(range(len(self.contacts)), key=lambda k: self.contacts[k].signed_distance)

    @property
    def signed_distance(self) -> float:
        return min((c.signed_distance for c in self.contacts), default=inf)


class _Pair:
    """Two compounds of ordinary size."""

    def __init__(
        self,
        a: Compound,
        b: Compound,
        clearance: float,
        contact_tolerance: float,
        budget: int,
        progress: Progress | None,
    ) -> None:
        self.a, self.b = a, b
        self.clearance, self.contact_tolerance = clearance, contact_tolerance
        self.budget, self.progress = budget, progress
        small, large = sorted((a.extent, b.extent))
        self.small = small or large
        self.size = _size(a, b)
        self.tolerance = pair_tolerance(a, b)
        self.band = contact_band(a, b, contact_tolerance)
        self.curved = a.curved or b.curved
        self.directions = np.zeros((0, a.dim))
        self.notes: list[Note] = []

    def contact(self) -> CompoundContact:
        report_progress(self.progress, 0.0)
        near = self._contacts(self.b, subrange(self.progress, 0.0, 0.3))
        if near.signed_distance > self.band:
            found = self._apart()
        else:
            deep = None
            if -near.signed_distance > self.tolerance or self._may_slip():
                deep = self._penetrating(near)
            found = self._touching(near) if deep is None else deep
        report_progress(self.progress, 1.0)
        return found

    def _may_slip(self) -> bool:
        """Tell whether a flat piece of one may be where pieces of the other meet: no pair alone tells its depth."""
        for one, other in ((self.a, self.b), (self.b, self.a)):
            if len(one.pieces) > 1 and any(
                isinstance(piece, Polytope) and piece.rank < piece.dim for piece in other.pieces
            ):
                return True
        return False

    def _contacts(self, b: Compound, progress: Progress | None) -> _Touching:
        a = self.a
        pairs = candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=self.band).pairs.tolist()
        contacts = []
        for k, (i, j) in enumerate(pairs):
            report_progress(progress, k, len(pairs))
            contacts.append(self._contact(i, j, b))
        return _Touching([(i, j) for i, j in pairs], contacts)

    def _contact(self, i: int, j: int, b: Compound) -> Contact:
        """Return the contact of two pieces, with the band of the compounds."""
        one, two = self.a.pieces[i], b.pieces[j]
        small, large = sorted((one.extent, two.extent))
        small = small or large
        relative = self.contact_tolerance * (self.small / small) if small > 0.0 else self.contact_tolerance
        return contact(one, two, clearance=self.clearance, contact_tolerance=relative)

    def _apart(self) -> CompoundContact:
        """Find the nearest pair of pieces: pairs in the order of their boxes' gaps, until these are wider."""
        a, b = self.a, self.b
        low, high = b.bounds
        i = int(_gaps(a.lows, a.highs, low, high).argmin())
        j = int(_gaps(b.lows, b.highs, a.lows[i], a.highs[i]).argmin())
        best, lower = self._gap(i, j)
        chosen = i, j
        reach = best * (1.0 + 8.0 * EPS) + self.tolerance
        pairs = candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=reach).pairs
        gaps = _gaps(a.lows[pairs[:, 0]], a.highs[pairs[:, 0]], b.lows[pairs[:, 1]], b.highs[pairs[:, 1]])
        order = np.argsort(gaps, kind="stable")
        for k, (gap, (i, j)) in enumerate(zip(gaps[order].tolist(), pairs[order].tolist(), strict=True)):
            if gap > best:
                break
            if k % 64 == 0:
                report_progress(self.progress, 0.3 + 0.7 * k / len(order))
            if (i, j) != chosen:
                distance, proved = self._gap(i, j)
                lower = min(lower, proved)
                if distance < best:
                    best, chosen = distance, (i, j)
        deciding = self._contact(*chosen, b)
        return self._answer(
            deciding,
            chosen,
            deciding.signed_distance,
            min(lower, deciding.lower_bound),
            deciding.upper_bound,
            relation=Relation.WITHIN_CLEARANCE if deciding.signed_distance <= self.clearance else Relation.SEPARATED,
        )

    def _gap(self, i: int, j: int) -> tuple[float, float]:
        """Return how far apart two pieces are that are apart, and what that is not below."""
        one, other = self.a.pieces[i], self.b.pieces[j]
        if isinstance(one, Polytope) and isinstance(other, Polytope):
            gap = gjk(one, other).gap
            return gap, gap - COMPOUND_PLANE * EPS * self.size  # what GJK can be wrong by
        found = contact(one, other)
        return found.signed_distance, found.lower_bound

    def _touching(self, near: _Touching) -> CompoundContact:
        k = near.nearest
        deciding = near.contacts[k]
        lower = min(c.lower_bound for c in near.contacts)
        return self._answer(
            deciding,
            near.pairs[k],
            deciding.signed_distance,
            lower,
            deciding.upper_bound,
            relation=self._relation(deciding.signed_distance),
            near=near,
            patches=self._patches(near, None),
        )

    def _penetrating(self, near: _Touching) -> CompoundContact | None:
        """Find the smallest translation that separates; None when nothing but flat pieces' thickness overlaps."""
        a, b, dim = self.a, self.b, self.a.dim
        overlap = -near.signed_distance
        start = np.zeros(3)
        single = len(a.pieces) == len(b.pieces) == 1
        outer = contact(a.hull, b.hull)
        start[:dim] = outer.mtv
        if single:
            # One body, and it is convex: its own contact tells all.
            escape = Escape(outer.depth * outer.ties, max(0.0, -outer.upper_bound), 0, True, False)
        elif self.curved:
            found = curved_escape(
                *(a.pieces, b.pieces, outer.mtv, near.contacts[near.nearest].mtv),
                *(max(-c.upper_bound for c in near.contacts), self.tolerance),
                *(self.budget, subrange(self.progress, 0.4, 0.9)),
            )
            escape, self.directions = found.escape, found.directions
        else:
            bodies = self._bodies(outer.depth)
            slack = 0.5 * self.tolerance
            frame = pair_frame(a.pieces, b.pieces)
            part = subrange(self.progress, 0.4, 0.9)
            escape = shortest_escape(bodies, frame, start, slack, slack, self.budget, part)
        translations = [t[:dim] for t in escape.translations] + [start[:dim]]
        translation, after = self._chosen(translations, single)
        depth = sqrt(float(translation @ translation))
        if overlap <= self.tolerance:
            if depth <= _THICK * self.tolerance:
                return None
            overlap = depth  # no pair alone tells it
        lower = min(escape.lower_bound, depth)
        rounding = COMPOUND_PLANE * EPS * (self.size + max(a.magnitude, b.magnitude))
        status = CompoundStatus.CERTIFIED
        if -after.signed_distance > self.tolerance:
            status = CompoundStatus.UNVERIFIED
        elif depth - lower > self.tolerance:
            status = CompoundStatus.STALLED if escape.finished or escape.stalled else CompoundStatus.BUDGET
            if self.curved and status is CompoundStatus.STALLED:
                status = CompoundStatus.CURVED_BRACKET
        normals = [t / sqrt(float(t @ t)) for t in [translation, *translations[:-1]]]
        ties = [normals[0]]
        ties += [n for n in normals[1:] if np.abs(n - normals[0]).max() > 1e-7]
        k = after.nearest
        deciding = after.contacts[k]
        if overlap <= self.band:
            patches = self._patches(near, None)
        else:
            patches = self._patches(after, translation)
        shared = middle(deciding.point_on_a, deciding.point_on_b)
        return self._answer(
            deciding,
            after.pairs[k],
            0.0 - depth,
            0.0 - depth - rounding,
            0.0 - lower,
            relation=self._relation(0.0 - overlap),
            near=near,
            patches=patches,
            normal=normals[0],
            points=(shared, shared - translation),
            ties=np.array(ties),
            nodes=escape.nodes,
            status=status,
        )

    def _chosen(self, translations: list[FloatArray], convex: bool) -> tuple[FloatArray, _Touching]:
        """Return the first translation that separates and stays clear beyond, of those that are as short as the first
        that separates; else that one, with a note. And the contacts after it.

        `convex`: both compounds are; what separates them stays clear.
        """
        first: tuple[FloatArray, _Touching] | None = None
        for translation in translations:
            length = sqrt(float(translation @ translation))
            if first is not None and length > sqrt(float(first[0] @ first[0])) + self.tolerance:
                break
            after = self._after(translation)
            if -after.signed_distance > self.tolerance:
                continue
            if convex or length <= self.band or self._stays_clear(translation, length):
                return translation, after
            first = first or (translation, after)
        if first is None:
            return translation, after
        self.notes.append(NOTCH)
        return first

    def _stays_clear(self, translation: FloatArray, length: float) -> bool:
        """Tell whether B, once moved by a translation that separates, stays so as it goes on in the same direction."""
        more = translation * (max(self.band, self.contact_tolerance * length) / length)
        return all(-self._after(translation + share * more).signed_distance <= self.tolerance for share in BEYOND)

    def _after(self, translation: FloatArray) -> _Touching:
        """Return the contacts once B is moved."""
        return self._contacts(self.b.translated(translation), subrange(self.progress, 0.9, 0.9))

    def _bodies(self, reach: float) -> list[Planes]:
        """Return the Minkowski differences of all pairs that may matter to translations of B no longer than this."""
        a, b = self.a, self.b
        pairs = candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=reach + self.tolerance).pairs.tolist()
        bodies = []
        for k, (i, j) in enumerate(pairs):
            if k % 16 == 0:
                report_progress(self.progress, 0.3 + 0.1 * k / len(pairs))
            one, other = a.pieces[i], b.pieces[j]
            assert isinstance(one, Polytope)
            assert isinstance(other, Polytope)
            body = difference_planes(one, other, 0.5 * self.tolerance, self.tolerance)
            if body is not None:
                bodies.append(body)
        return bodies

    def _relation(self, deepest: float) -> Relation:
        """Return the relation of compounds that are not apart, of which two pieces are that deep in each other."""
        a, b, band = self.a, self.b, self.band
        if len(a.pieces) == len(b.pieces) == 1:
            return contact(a.pieces[0], b.pieces[0], contact_tolerance=self.contact_tolerance).relation
        a_in_b, b_in_a = contains_compound(b, a, band), contains_compound(a, b, band)
        if a_in_b and b_in_a:
            return Relation.COINCIDENT
        if deepest >= -band:
            return Relation.TOUCHING
        if a_in_b:
            return Relation.A_INSIDE_B
        return Relation.B_INSIDE_A if b_in_a else Relation.PENETRATING

    def _patches(self, near: _Touching, translation: FloatArray | None) -> list[Patch]:
        """Return the regions of the pairs that touch; of moved ones half-way back."""
        patches = []
        for (i, j), c in zip(near.pairs, near.contacts, strict=True):
            region = c.region
            if region is None:
                continue
            if translation is not None:
                region = replace(
                    region,
                    vertices=read_only(region.vertices - 0.5 * translation),
                    centroid=read_only(region.centroid - 0.5 * translation),
                    depths=read_only(region.depths + float(c.normal @ translation)),
                    arcs=tuple(replace(arc, center=read_only(arc.center - 0.5 * translation)) for arc in region.arcs),
                )
            patches.append(Patch(i, j, c.normal, region))
        return patches

    def _answer(
        self,
        deciding: Contact,
        pieces: tuple[int, int],
        signed_distance: float,
        lower: float,
        upper: float,
        *,
        relation: Relation,
        near: _Touching | None = None,
        patches: list[Patch] | None = None,
        normal: FloatArray | None = None,
        points: tuple[FloatArray, FloatArray] | None = None,
        ties: FloatArray | None = None,
        nodes: int = 0,
        status: CompoundStatus | None = None,
    ) -> CompoundContact:
        pairs = []
        overlap = 0.0
        if near is not None:
            pairs = [p for p, c in zip(near.pairs, near.contacts, strict=True) if c.signed_distance <= self.band]
            overlap = max(0.0, -near.signed_distance)
        if status is None:
            tolerance = self.tolerance + promised(signed_distance, 0.0, 0.0)
            status = CompoundStatus.CERTIFIED if upper - lower <= tolerance else CompoundStatus.STALLED
        regions = merged_regions(patches or [], self.band, self.tolerance)
        area, length, centroid = _totals(regions)
        on_a, on_b = points or (deciding.point_on_a, deciding.point_on_b)
        return CompoundContact(
            relation=relation,
            signed_distance=signed_distance,
            normal=read_only((deciding.normal if normal is None else normal) + 0.0),
            point_on_a=read_only(on_a),
            point_on_b=read_only(on_b),
            lower_bound=min(lower, signed_distance),
            upper_bound=max(upper, signed_distance),
            ties=read_only((deciding.ties if ties is None else ties) + 0.0),
            overlap=overlap,
            pieces=pieces,
            contact=deciding,
            pairs=read_only(np.array(pairs, dtype=np.intp).reshape(-1, 2)),
            regions=regions,
            area=area,
            length=length,
            centroid=centroid,
            tolerance=self.tolerance,
            nodes=nodes,
            status=status,
            clearance=self.clearance,
            contact_tolerance=self.contact_tolerance,
            directions=read_only(self.directions),
            notes=tuple(self.notes),
        )


def _gaps(low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray) -> FloatArray:
    """Return the distances (n,) of boxes, a little less than they are."""
    apart = np.maximum(np.maximum(other_low - high, low - other_high), 0.0)
    return np.sqrt((apart * apart).sum(axis=1)) * (1.0 - 8.0 * EPS)


def _totals(regions: tuple[MergedRegion, ...]) -> tuple[float, float, FloatArray | None]:
    """Return total area, length of the segments, and centroid of what has most dimensions."""
    if not regions:
        return 0.0, 0.0, None
    areas = [r.area for r in regions]
    lengths = [r.length for r in regions]
    area = float(sum(areas))
    length = float(sum(r.length for r in regions if r.area == 0.0))
    return area, length, weighted_center([r.centroid for r in regions], areas, lengths)
