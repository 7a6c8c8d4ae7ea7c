# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact of compounds, without the search that found it.

Pairs of pieces are contacts of convex shapes, each with its own certificate, and are measured by it. The whole
follows from that: apart, no pair is nearer than the lower bound and two points are as near as the upper one;
penetrating, after the translation no pair overlaps. That no shorter translation separates is proved again by covering
all shorter ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..compounds.compound import Compound, pair_tolerance
from ..compounds.compound_contact import BEYOND, contains_compound
from ..compounds.compound_planes import Planes
from ..curved.curved_inside import support_points
from ..narrow_phase.relation import clear_length, contact_band
from ..note import NOTCH
from ..region.merged_region import MergedRegion, Patch
from ..region.region import Region, RegionKind
from ..result import CompoundCertificate, Contact, Relation, Status
from ..runs import chunks
from ..shapes.ordinary_size import extreme_exponent
from ..tolerance import EPS, VERIFY_REGION, VERIFY_SLIVER, VERIFY_UNIT, promised
from ..types import FloatArray, IntArray
from ..vectors import spiral_directions, unit_rows
from .bounds import Proven, overlap_along
from .check import Check, Verification
from .escape import covered, difference, many_differences
from .form import (
    MEASURES,
    Test,
    absent_fields,
    are_indices,
    are_pairs,
    contact_tests,
    field_faults,
    first,
    is_array,
    is_length,
    is_number,
    of_kind,
    region_faults,
    vector,
    vectors,
)
from .merged_region import differences, patch_differences
from .pair_proof import off_piece, pair_bounds
from .relation import possible_relations
from .ties import check_realised

_MOST_SETS = 4_000
"""Sets of translations that are looked at to prove a depth again: some seconds."""
_SHORTER = 1.0 - 1e-6
"""Times a length that no translation is to be below: a translation that would show that it is not so."""
_TIES = 8
"""Ties along which a shorter translation is tried."""
_DIRECTIONS = 64
"""Directions across which planes may show that two pieces are too far apart to matter to a depth."""
_CHUNK = 1 << 14
"""Pairs of pieces in one go."""


def check_compound(contact: Contact, a: Compound, b: Compound) -> Verification:
    """Check a contact of two compounds."""
    form = [
        first("the contact is well-formed", _faults(contact, a.dim)),
        first("the certificate is well-formed", _certificate_faults(contact.certificate, a, b)),
        first("the regions are well-formed", _regions_faults(contact, a, b)),
    ]
    if not all(check.ok for check in form):
        return Verification(tuple(form), float("nan"))
    width = contact.upper_bound - contact.lower_bound
    exponent = extreme_exponent(a, b)
    if exponent:
        contact, a, b = contact.scaled(-exponent), a.scaled(2.0**-exponent), b.scaled(2.0**-exponent)
    return Verification((*form, *_ReportedCompounds(contact, a, b, exponent != 0).checks()), width)


def _faults(c: Contact, dim: int) -> Iterator[str]:
    tests: dict[str, Test] = {"curves": lambda curves: isinstance(curves, tuple) and not curves}
    is_open = c.status is Status.BOUNDS_ONLY
    yield from field_faults(c, contact_tests(dim, not is_open) | absent_fields("compound") | tests)
    if is_open and (c.normal.any() or c.regions):
        yield f"status is {c.status!r}, normal {c.normal!r}, regions {c.regions!r}"


def _certificate_faults(proof: object, a: Compound, b: Compound) -> Iterator[str]:
    if not isinstance(proof, CompoundCertificate):
        yield f"it is a {type(proof).__name__}"
        return
    tests = {
        "overlap tolerance": is_length,
        "directions": vectors(a.dim),
        "pieces": lambda pieces: isinstance(pieces, tuple) and _are_pieces(pieces, a, b),
        "pairs": lambda pairs: are_pairs(pairs, len(a.pieces), len(b.pieces)),
        "contact": lambda contact: isinstance(contact, Contact) and is_number(contact.signed_distance),
    }
    yield from field_faults(proof, tests)


def _are_pieces(pair: tuple[object, ...], a: Compound, b: Compound) -> bool:
    """Return whether these are the indices of a piece of A and a piece of B."""
    return len(pair) == 2 and all(are_indices((k,), len(shape.pieces)) for k, shape in zip(pair, (a, b), strict=True))


def _regions_faults(c: Contact, a: Compound, b: Compound) -> Iterator[str]:
    if not isinstance(c.regions, tuple):
        yield f"regions are {c.regions!r}"
    tests = {
        "kind": of_kind(RegionKind),
        "normal centroid": vector(a.dim),
        "outline": lambda sides: is_array(sides, (None, 2, a.dim)),
        "patches": lambda patches: isinstance(patches, tuple) and len(patches) > 0,
    }
    for region in c.regions:
        if not isinstance(region, MergedRegion):
            yield f"a region is {region!r}"
        yield from field_faults(region, tests | MEASURES)
        for patch in region.patches:
            if not (isinstance(patch, Patch) and _are_pieces((patch.piece_a, patch.piece_b), a, b)):
                yield f"a patch is {patch!r}"
            yield from field_faults(patch, {"normal": vector(a.dim), "region": of_kind(Region)})
            yield from region_faults(patch.region, a.pieces[patch.piece_a], b.pieces[patch.piece_b])


class _Measured(NamedTuple):
    """What is proved of the pairs of pieces; all others are farther apart than was asked."""

    pairs: list[tuple[int, int]]
    bounds: list[Proven]

    @property
    def lower(self) -> float:
        return min((proven.lower for proven in self.bounds), default=np.inf)

    @property
    def upper(self) -> float:
        return min((proven.upper for proven in self.bounds), default=np.inf)

    @property
    def width(self) -> float:
        """By how much the bounds of a pair do not meet."""
        return max((proven.upper - proven.lower for proven in self.bounds), default=0.0)


class _ReportedCompounds:
    """Two compounds of ordinary size and what was reported of them."""

    def __init__(self, contact: Contact, a: Compound, b: Compound, scaled: bool) -> None:
        """Get ready; of compounds that were `scaled`, areas may have been beyond float64."""
        assert isinstance(contact.certificate, CompoundCertificate)
        self.contact, self.proof, self.a, self.b, self.scaled = contact, contact.certificate, a, b, scaled
        self.tolerance = pair_tolerance(a, b)
        self.is_open = contact.status is Status.BOUNDS_ONLY
        self.promised = self.tolerance + promised(0.0 if self.is_open else contact.signed_distance, 0.0, 0.0)
        self.band = contact_band(a, b, contact.contact_tolerance)
        self.moved = contact.signed_distance < -self.tolerance
        self.near = _measured(a, b, max(self.band, contact.lower_bound), contact.normal, self.proof.pieces)

    def checks(self) -> list[Check]:
        if self.is_open:
            return self._open_depth()
        return [
            Check(
                "the tolerance is that of the pair",
                abs(self.proof.tolerance - self.tolerance) <= 1e-9 * self.tolerance,
                f"{self.proof.tolerance:.3g}, found {self.tolerance:.3g}",
            ),
            *self._normals(),
            *self._witness(),
            self._ties(),
            self._deciding(),
            *(self._translation() if self.moved else [self._lower()]),
            self._upper(),
            self._meeting(),
            Check(
                "the distances of the pairs of pieces are proved",
                self.near.width <= 2.0 * self.promised,
                f"{len(self.near.pairs)} pairs, to {self.near.width:.3g}, tolerance {self.promised:.3g}",
            ),
            *self._touching(),
            self._relation(),
            *self._regions(),
        ]

    def _open_depth(self) -> list[Check]:
        """Two pieces prove that the compounds penetrate, their boxes the lower bound; no depth is known."""
        contact, least = self.contact, -self.near.upper
        (low, high), (other_low, other_high) = self.a.bounds, self.b.bounds
        length = float(np.minimum(high - other_low, other_high - low).min())
        points = (contact.point_on_a, contact.point_on_b)
        shapes = (self.a.pieces[self.proof.pieces[0]], self.b.pieces[self.proof.pieces[1]])
        off = max(off_piece(point, piece) for point, piece in zip(points, shapes, strict=True))
        apart = 0.0 if self.a.curved or self.b.curved else float(np.abs(points[1] - points[0]).max())
        bounds = f"{contact.lower_bound:.9g} to {contact.upper_bound:.9g}"
        return [
            Check("boxes are parted by the lower bound", -contact.lower_bound >= length - self.promised, bounds),
            Check("a pair of pieces proves the upper bound", contact.least_depth <= least + self.tolerance, bounds),
            Check("a common point is in two pieces", max(off, apart) <= 2.0 * self.promised, f"off by {off:.3g}"),
            *self._touching(),
            self._relation(),
        ]

    def _normals(self) -> list[Check]:
        normals = np.vstack((self.contact.normal, self.contact.ties))
        error = float(np.abs(np.linalg.norm(normals, axis=1) - 1.0).max())
        return [
            Check("normals are unit vectors", error <= VERIFY_UNIT * EPS, f"off by {error:.3g}"),
            Check(
                "the chosen normal is the first tie",
                bool(np.array_equal(self.contact.normal, self.contact.ties[0])),
                f"{self.contact.normal} and {self.contact.ties[0]}",
            ),
        ]

    def _witness(self) -> list[Check]:
        contact = self.contact
        off = max(
            off_piece(point, shape.pieces[piece])
            for point, shape, piece in zip(
                (contact.point_on_a, contact.point_on_b), (self.a, self.b), self.proof.pieces, strict=True
            )
        )
        return [
            Check("witness points lie on their pieces", off <= 2.0 * self.promised, f"off by {off:.3g}"),
            check_realised(contact, self.promised),
        ]

    def _ties(self) -> Check:
        """Each tie must be as good as the chosen normal: for the deciding pieces, or as a way out."""
        contact, name = self.contact, "normal and ties separate by the signed distance"
        if self.moved:
            after = [
                _measured(self.a, self.b.translated(contact.depth * tie), -self.tolerance, tie).lower
                for tie in contact.ties
            ]
            worst = max(0.0, -min(after))
            ok = worst <= 2.5 * self.tolerance or contact.status is Status.UNVERIFIED
        else:
            i, j = self.proof.pieces
            rows = contact.ties / np.linalg.norm(contact.ties, axis=1, keepdims=True)
            overlap = overlap_along(self.a.pieces[i], self.b.pieces[j], rows)
            worst = float(np.abs(overlap + contact.signed_distance).max())
            ok = worst <= self.promised
        return Check(name, ok, f"off by {worst:.3g}, tolerance {self.promised:.3g}")

    def _deciding(self) -> Check:
        contact = self.contact
        i, j = self.proof.pieces
        other = self.b.pieces[j]
        proven = pair_bounds(self.a.pieces[i], other.translated(contact.mtv) if self.moved else other)
        distance = self.proof.contact.signed_distance
        ok = proven.lower - self.promised <= distance <= proven.upper + self.promised
        ok = ok and proven.upper - proven.lower <= 2.0 * self.promised
        ok = ok and (self.moved or abs(distance - contact.signed_distance) <= self.promised)
        return Check(
            "the deciding pieces are as far apart as reported",
            ok,
            f"{distance:.9g}, proven {proven.lower:.9g} to {proven.upper:.9g}",
        )

    def _lower(self) -> Check:
        contact, lower = self.contact, self.near.lower
        return Check(
            "no pair of pieces is nearer than the lower bound",
            contact.lower_bound <= min(lower + self.tolerance, contact.signed_distance),
            f"bound {contact.lower_bound:.17g}, the nearest pair {lower:.17g}",
        )

    def _translation(self) -> list[Check]:
        contact = self.contact
        after = _measured(self.a, self.b.translated(contact.mtv), -self.tolerance, contact.normal)
        apart = after.lower >= -1.5 * self.tolerance
        deep = not apart and after.upper < 0.0
        check = Check(
            "the translation separates all pairs of pieces",
            (deep if contact.status is Status.UNVERIFIED else apart)
            and contact.lower_bound <= contact.signed_distance + 2.0 * self.tolerance,
            f"status {contact.status}, overlap after it {max(0.0, -after.lower):.3g}, tolerance {self.tolerance:.3g}",
        )
        if not apart or NOTCH in contact.notes or contact.depth <= self.band + self.tolerance:
            return [check]
        more = clear_length(self.a, self.b, contact.contact_tolerance, contact.depth)
        free = all(self._separates(contact.mtv + fraction * more * contact.normal) for fraction in BEYOND)
        return [check, Check("moved a little farther they stay apart", free, f"{contact.notes}")]

    def _upper(self) -> Check:
        """Prove that the signed distance is not above the upper bound, by a pair or by covering translations."""
        contact, name = self.contact, "points or a covering prove the upper bound"
        by_pair = self.near.upper
        if contact.upper_bound >= contact.signed_distance and contact.upper_bound >= by_pair - self.tolerance:
            return Check(name, True, f"bound {contact.upper_bound:.17g}, a pair of pieces {by_pair:.17g}")
        target = -contact.upper_bound - self.tolerance
        if contact.upper_bound < contact.signed_distance or target <= 0.0:
            return Check(name, False, f"bound {contact.upper_bound:.17g}, a pair of pieces {by_pair:.17g}")
        for tie in contact.ties[:_TIES]:
            shorter = (_SHORTER * target - 16.0 * self.tolerance) * tie
            if self._separates(shorter):
                words = f"but a shorter translation separates: {shorter.tolist()}"
                return Check(name, False, f"bound {-contact.upper_bound:.9g}, {words}")
        bodies, same = self._bodies(-contact.upper_bound)
        found = covered(bodies, target, self.tolerance, _MOST_SETS)
        detail = f"bound {-contact.upper_bound:.9g}, proved {found.least:.9g} by {found.sets} sets of translations"
        if found.counterexample is not None and self._separates(found.counterexample):
            words = f"but a shorter translation separates: {found.counterexample[: self.a.dim].tolist()}"
            return Check(name, False, f"{detail}, {words}")
        if found.least >= target:
            note = f"; {same} differences of very many corners are computed as in the search" if same else ""
            return Check(name, True, detail + note)
        return Check("not checked: that no shorter translation separates", True, detail)

    def _bodies(self, reach: float) -> tuple[list[Planes], int]:
        bodies: list[Planes] = []
        same = 0
        for i, j in self._within(reach).tolist():
            a, b = self.a.pieces[i], self.b.pieces[j]
            body = difference(a, b, self.proof.directions, self.tolerance)
            if body is not None:
                same += many_differences(a, b)
                bodies.append(body)
        return bodies, same

    def _within(self, reach: float) -> IntArray:
        """Return the pairs (k, 2) of pieces that neither boxes nor planes in many directions part by more than this."""
        pairs = np.argwhere(_box_gaps(self.a, self.b) <= reach)
        directions = unit_rows(spiral_directions(_DIRECTIONS)[:, : self.a.dim])
        most = np.array([(piece.supports(directions) * directions).sum(axis=1) for piece in self.a.pieces])
        least = -np.array([(piece.supports(-directions) * -directions).sum(axis=1) for piece in self.b.pieces])
        near = [(least[pairs[part, 1]] - most[pairs[part, 0]]).max(axis=1) for part in chunks(len(pairs), _CHUNK)]
        return pairs[np.concatenate([np.zeros(0), *near]) <= reach + self.tolerance]

    def _separates(self, translation: FloatArray) -> bool:
        moved = self.b.translated(translation[: self.a.dim])
        return _measured(self.a, moved, -self.tolerance, self.contact.normal).lower >= -1.5 * self.tolerance

    def _meeting(self) -> Check:
        contact = self.contact
        width = contact.upper_bound - contact.lower_bound
        certified = contact.status is Status.CERTIFIED
        return Check(
            "the bounds meet",
            width >= 0.0 and certified <= (width <= 2.0 * self.promised),
            f"status {contact.status}, width {width:.3g}, tolerance {self.promised:.3g}",
        )

    def _touching(self) -> list[Check]:
        contact = self.contact
        overlap = max(0.0, -self.near.lower)
        least = max(0.0, -self.near.upper)
        named = set(map(tuple, self.proof.pairs.tolist()))
        surely, maybe = set(), set()
        if contact.intersects or contact.signed_distance <= self.band:
            for pair, proven in zip(self.near.pairs, self.near.bounds, strict=True):
                if proven.upper <= self.band - self.tolerance:
                    surely.add(pair)
                if proven.lower <= self.band + self.tolerance:
                    maybe.add(pair)
        return [
            Check(
                "the overlap is that of the deepest pair",
                least - self.tolerance <= self.proof.overlap <= overlap + self.tolerance,
                f"{self.proof.overlap:.9g}, found {least:.9g} to {overlap:.9g}",
            ),
            Check(
                "the pairs are those that touch",
                surely <= named <= maybe and len(named) == len(self.proof.pairs),
                f"{len(named)} named, {len(surely)} to {len(maybe)} found",
            ),
        ]

    def _relation(self) -> Check:
        """Derive the relation from the distance, from the deepest pair, and from what covers what."""
        contact, a, b, band = self.contact, self.a, self.b, self.band
        possible: set[Relation] = set()
        if contact.signed_distance > band:
            near = contact.signed_distance <= contact.clearance
            possible.add(Relation.WITHIN_CLEARANCE if near else Relation.SEPARATED)
        elif len(a.pieces) == len(b.pieces) == 1:
            possible, _ = possible_relations(
                a.pieces[0],
                b.pieces[0],
                -self.proof.overlap if self.is_open else contact.signed_distance,
                band,
                contact.clearance,
                self.tolerance,
            )
        else:
            deepest = self.proof.overlap if self.proof.overlap > self.tolerance else contact.depth
            if deepest <= band + self.tolerance:
                possible.add(Relation.TOUCHING)
            in_b, in_a = contains_compound(b, a, band), contains_compound(a, b, band)
            if in_a and in_b:
                possible = {Relation.COINCIDENT}
            elif deepest >= band - self.tolerance:
                inside = Relation.A_INSIDE_B if in_b else Relation.B_INSIDE_A
                possible.add(inside if in_a or in_b else Relation.PENETRATING)
        found = " or ".join(sorted(possible))
        return Check("the relation fits", contact.relation in possible, f"{contact.relation}, found {found}")

    def _regions(self) -> list[Check]:
        contact, a, b = self.contact, self.a, self.b
        wanted = contact.signed_distance <= max(self.band, contact.clearance)
        checks = [
            Check(
                "regions unless the compounds are separated",
                bool(contact.regions) == wanted,
                f"{len(contact.regions)} regions",
            )
        ]
        if not contact.regions:
            return checks
        deepest = self.proof.overlap if self.proof.overlap > self.tolerance else contact.depth
        shift = 0.5 * contact.mtv if self.moved and deepest > self.band else np.zeros(a.dim)
        is_apart = contact.signed_distance > self.band
        off, longest, gap = 0.0, 1.0, 0.0
        for patch in (patch for region in contact.regions for patch in region.patches):
            longest = max(longest, float(np.linalg.norm(patch.normal)))
            gap = max(gap, -float(patch.region.depths.min()))
            for vertex, depth in zip(patch.region.vertices, patch.region.depths, strict=True):
                if is_apart:
                    shift = 0.5 * float(depth) * patch.normal
                off = max(
                    off,
                    off_piece(vertex + shift, a.pieces[patch.piece_a]),
                    off_piece(vertex - shift, b.pieces[patch.piece_b]),
                )
        limit = 2.0 * self.band + self.promised
        checks.append(Check("the regions are on both compounds", off <= limit, f"off by {off:.3g}, limit {limit:.3g}"))
        if is_apart:
            most = contact.signed_distance + 2.0 * limit
            fits = gap <= most and longest <= 1.0 + VERIFY_UNIT * EPS
            detail = f"gaps up to {gap:.3g}, limit {most:.3g}; normals up to {longest:.17g} long"
            checks.append(Check("the regions are where the compounds are nearest", fits, detail))
        of = [(patch.piece_a, patch.piece_b) for region in contact.regions for patch in region.patches]
        count = len(set(of))
        checks.append(Check("no two pieces have two patches", count == len(of), f"{count} of {len(of)} are different"))
        worst, what = 0.0, "fits"
        for region in contact.regions:
            grain = self._grain(region)
            for name, miss, size in (*differences(region, grain), *patch_differences(region, grain)):
                if name.startswith("area") and self.scaled and region.area in (0.0, np.inf):
                    continue
                if miss > worst * size:
                    worst, what = miss / size if size else np.inf, name
        checks.append(
            Check(
                "areas, lengths and centroids are those of the outlines",
                worst <= VERIFY_REGION,
                f"off by {worst:.3g} of it ({what}); area {contact.area:.9g}",
            )
        )
        return checks

    def _grain(self, region: MergedRegion) -> float:
        """Return how far sides of a region may be off: those of several patches count as on one line."""
        rounding = VERIFY_SLIVER * EPS * max(self.a.magnitude, self.b.magnitude)
        merged = sum(patch.region.kind is region.kind for patch in region.patches) > 1
        return rounding + self.tolerance if merged else rounding


def _box_gaps(a: Compound, b: Compound) -> FloatArray:
    """Return (n, m) how far the boxes of the pieces of A and B are apart, a little less than they are."""
    gaps = np.empty((len(a.pieces), len(b.pieces)))
    for i, (low, high) in enumerate(zip(a.lows, a.highs, strict=True)):
        apart = np.maximum(np.maximum(b.lows - high, low - b.highs), 0.0)
        gaps[i] = np.sqrt((apart * apart).sum(axis=1)) * (1.0 - 8.0 * EPS)
    return gaps


def _measured(
    a: Compound, b: Compound, reach: float, normal: FloatArray, always: tuple[int, int] | None = None
) -> _Measured:
    """Measure all pairs of pieces that may be no farther apart than `reach`, below 0 no deeper in each other than that,
    and one of them in any case.

    Most are shown to be farther by their boxes, or by a plane across `normal`.
    """
    near = _box_gaps(a, b) <= max(reach, 0.0)
    norm = float(np.linalg.norm(normal))
    if norm > 0.0:
        direction = (normal / norm)[None]
        top = np.array([float(support_points(piece, direction)[0] @ direction[0]) for piece in a.pieces])
        bottom = np.array([float(support_points(piece, -direction)[0] @ direction[0]) for piece in b.pieces])
        rounding = VERIFY_UNIT * EPS * (max(a.magnitude, b.magnitude) + a.extent + b.extent)
        near &= bottom - top[:, None] - rounding <= reach
    if always is not None:
        near[always] = True
    pairs = [(i, j) for i, j in np.argwhere(near).tolist()]
    return _Measured(pairs, [pair_bounds(a.pieces[i], b.pieces[j]) for i, j in pairs])
