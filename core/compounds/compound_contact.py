# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two compounds.

The distance of two separated compounds is that of their nearest two pieces. When they penetrate, the smallest
translation that separates them does not follow from single pairs: the pieces' own translations do not add up. It is the
shortest one outside of the interiors of all Minkowski differences A_i - B_j; see `compound_depth.py`.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan, sqrt

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..budget import Budget
from ..curved.convex_contact import convex_contact
from ..curved.curved_inside import protrusion
from ..narrow_phase.gjk import gjk
from ..narrow_phase.relation import clear_length, contact_band, relation_of_overlapping
from ..note import NOTCH, Note
from ..progress import Progress, report_progress, subrange, tracked
from ..region.center import middle
from ..region.merged_region import Patch
from ..result import CompoundCertificate, Contact, Relation, Status
from ..shapes.diameters import diameters_of
from ..shapes.ordinary_size import at_ordinary_size
from ..shapes.polytope import Polytope
from ..tolerance import COMPOUND_PLANE, DEFAULT_CONTACT_TOLERANCE, EPS, promised
from ..types import FloatArray, positive_zero, read_only
from .compound import Compound, pair_size, pair_tolerance
from .compound_depth import Escape, shortest_escape
from .compound_planes import Planes, difference_planes
from .compound_region import merged_regions
from .covered import is_covered
from .curved_escape import curved_escape
from .pair_frame import pair_frame

_THICK = 16.0  # times the tolerance: translations of flat pieces up to this count as touching
BEYOND = (1.0, 0.5)
"""Fractions of the length beyond a translation at which pieces are checked for overlapping again."""


def compound_contact(
    a: Compound,
    b: Compound,
    *,
    budget: Budget | None = None,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    depth: bool = True,
    regions: bool = True,
    progress: Progress | None = None,
) -> Contact:
    """Return the contact of two compounds: `contact` without its checks of the arguments.

    `budget` limits the search for the smallest separating translation: whatever it is, the result has a translation
    that separates and a certified lower bound. `depth`, `regions`: see `contact`.
    """

    def solve(one: Compound, other: Compound, clear: float) -> Contact:
        return _ScaledPair(one, other, clear, contact_tolerance, budget or Budget(), depth, regions, progress).contact()

    return at_ordinary_size(solve, a, b, clearance)


def contains_compound(outer: Compound, inner: Compound, slack: float) -> bool:
    """Return whether `inner` is inside the union of the pieces of `outer`, each grown by `slack`; world units.

    A curved piece counts as inside only when a single piece contains it.
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
        if not any(protrusion(piece, other, slack) <= slack for other in outer.pieces):
            return False
    return True


class _Touching:
    """The contacts of all pairs of pieces whose boxes are within the band."""

    def __init__(self, pairs: list[tuple[int, int]], contacts: list[Contact]) -> None:
        self.pairs, self.contacts = pairs, contacts

    @property
    def nearest(self) -> int:
        """The index of the pair with the smallest signed distance."""
        return min(range(len(self.contacts)), key=lambda k: self.contacts[k].signed_distance)

    @property
    def signed_distance(self) -> float:
        return min((c.signed_distance for c in self.contacts), default=inf)


class _ScaledPair:
    """Two compounds whose coordinates are scaled to an ordinary size."""

    def __init__(
        self,
        a: Compound,
        b: Compound,
        clearance: float,
        contact_tolerance: float,
        budget: Budget,
        depth: bool,
        regions: bool,
        progress: Progress | None,
    ) -> None:
        self.a, self.b, self.depth, self.regions = a, b, depth, regions
        self.clearance, self.contact_tolerance = clearance, contact_tolerance
        self.budget, self.progress = budget, progress
        self.small = min(a.diameter, b.diameter) or max(a.diameter, b.diameter)
        self.size = pair_size(a, b)
        self.tolerance = pair_tolerance(a, b)
        self.band = contact_band(a, b, contact_tolerance)
        self.curved = a.curved or b.curved
        self.directions = np.zeros((0, a.dim))
        self.notes: list[Note] = []

    def contact(self) -> Contact:
        report_progress(self.progress, 0.0)
        near = self._contacts(self.b, subrange(self.progress, 0.0, 0.3))
        if near.signed_distance > self.band:
            found = self._apart()
        else:
            deep = None
            if not self.depth and -near.signed_distance > self.band:
                deep = self._deep(near)
            elif -near.signed_distance > self.tolerance or self._may_slip():
                deep = self._penetrating(near)
            found = self._touching(near) if deep is None else deep
        report_progress(self.progress, 1.0)
        return found

    def _deep(self, near: _Touching) -> Contact:
        """Return what is known of compounds with two pieces deeper in each other than the band, without a depth."""
        a, b = self.a, self.b
        (low, high), (other_low, other_high) = a.bounds, b.bounds
        rounding = COMPOUND_PLANE * EPS * (self.size + max(a.magnitude, b.magnitude))
        k = near.nearest
        deciding, (i, j) = near.contacts[k], near.pairs[k]
        one, two = a.pieces[i], b.pieces[j]
        points = deciding.point_on_a, deciding.point_on_b
        if isinstance(one, Polytope) and isinstance(two, Polytope):
            points = _common_point(one, two)
        zero = np.zeros(a.dim)
        return self._answer(
            deciding,
            (i, j),
            nan,
            -float(np.minimum(high - other_low, other_high - low).min()) - rounding,
            deciding.upper_bound,
            relation=self._relation(near.signed_distance),
            near=near,
            normal=zero,
            points=points,
            ties=zero[None],
            status=Status.BOUNDS_ONLY,
        )

    def _may_slip(self) -> bool:
        """Return whether a flat piece may be where pieces of the other meet: no single pair gives its depth."""
        return any(
            len(one.pieces) > 1
            and any(isinstance(piece, Polytope) and piece.rank < piece.dim for piece in other.pieces)
            for one, other in ((self.a, self.b), (self.b, self.a))
        )

    def _contacts(self, b: Compound, progress: Progress | None) -> _Touching:
        a = self.a
        diameters_of((*a.pieces, *b.pieces))  # which keep them
        pairs = list(map(tuple, candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=self.band).pairs.tolist()))
        return _Touching(pairs, [self._contact(i, j, b) for i, j in tracked(pairs, progress)])

    def _contact(self, i: int, j: int, b: Compound, clearance: float = 0.0) -> Contact:
        """Return the contact of two pieces, with the contact tolerance of the compounds."""
        one, two = self.a.pieces[i], b.pieces[j]
        small = min(one.diameter, two.diameter) or max(one.diameter, two.diameter)
        relative = self.contact_tolerance * (self.small / small) if small > 0.0 else self.contact_tolerance
        return convex_contact(one, two, clearance=clearance, contact_tolerance=relative)

    def _apart(self) -> Contact:
        """Find the nearest pair of pieces, testing pairs in ascending order of the gaps of their boxes."""
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
        nearest_first = list(zip(gaps[order].tolist(), pairs[order].tolist(), strict=True))
        for gap, (i, j) in tracked(nearest_first, subrange(self.progress, 0.3, 1.0)):
            if gap > best:
                break
            if (i, j) != chosen:
                distance, proved = self._gap(i, j)
                lower = min(lower, proved)
                if distance < best:
                    best, chosen = distance, (i, j)
        deciding = self._contact(*chosen, b, self.clearance)
        is_within = deciding.signed_distance <= self.clearance
        return self._answer(
            deciding,
            chosen,
            deciding.signed_distance,
            min(lower, deciding.lower_bound),
            deciding.upper_bound,
            relation=Relation.WITHIN_CLEARANCE if is_within else Relation.SEPARATED,
            patches=self._patches(self._nearest(deciding.signed_distance), None)
            if is_within and self.regions
            else None,
        )

    def _nearest(self, distance: float) -> _Touching:
        """Return the contacts of the pairs of pieces that are as near as `distance`, to the band: those that would
        touch if the gap were closed."""
        a, b, reach = self.a, self.b, distance + self.band
        boxes = candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=reach * (1.0 + 8.0 * EPS)).pairs
        found = [((i, j), self._contact(i, j, b, reach)) for i, j in boxes.tolist()]
        near = [(pair, c) for pair, c in found if c.signed_distance <= reach]
        return _Touching([pair for pair, _ in near], [c for _, c in near])

    def _gap(self, i: int, j: int) -> tuple[float, float]:
        """Return the distance of two separated pieces, and a lower bound of it."""
        one, other = self.a.pieces[i], self.b.pieces[j]
        if isinstance(one, Polytope) and isinstance(other, Polytope):
            gap = gjk(one, other).gap
            return gap, gap - COMPOUND_PLANE * EPS * self.size  # the error of GJK
        found = convex_contact(one, other)
        return found.signed_distance, found.lower_bound

    def _touching(self, near: _Touching) -> Contact:
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
            patches=self._patches(near, None) if self.regions else None,
        )

    def _penetrating(self, near: _Touching) -> Contact | None:
        """Find the smallest translation that separates; None when only the thickness of flat pieces overlaps."""
        a, b, dim = self.a, self.b, self.a.dim
        overlap = -near.signed_distance
        single = len(a.pieces) == len(b.pieces) == 1
        part = subrange(self.progress, 0.4, 0.9)
        outer = convex_contact(a.hull, b.hull)
        start = np.pad(outer.mtv, (0, 3 - dim))
        if single:
            # A single convex difference: the contact of its pair is the result.
            escape = Escape(outer.depth * outer.ties, max(0.0, -outer.upper_bound), 0, True, False)
        elif self.curved:
            deepest = near.contacts[near.nearest].mtv
            least = max(-c.upper_bound for c in near.contacts)
            escape, self.directions = curved_escape(a, b, outer.mtv, deepest, least, self.tolerance, self.budget, part)
        else:
            bodies = self._bodies(outer.depth)
            slack = 0.5 * self.tolerance
            frame = pair_frame(a.pieces, b.pieces)
            escape = shortest_escape(bodies, frame, start, slack, slack, self.budget, part)
        translations = [t[:dim] for t in escape.translations] + [start[:dim]]
        translation, after = self._chosen(translations, single)
        depth = sqrt(float(translation @ translation))
        if overlap <= self.tolerance:
            if depth <= _THICK * self.tolerance:
                return None
            overlap = depth  # no single pair gives it
        lower = min(escape.lower_bound, depth)
        rounding = COMPOUND_PLANE * EPS * (self.size + max(a.magnitude, b.magnitude))
        status = Status.CERTIFIED
        if -after.signed_distance > self.tolerance:
            status = Status.UNVERIFIED
        elif depth - lower > self.tolerance:
            status = Status.STALLED if escape.finished or escape.stalled else Status.BUDGET
            if self.curved and status is Status.STALLED:
                status = Status.BRACKET
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
        """Return a translation that separates and the contacts after it.

        Of the translations as short as the first that separates, it is the first that also stays clear beyond; if there
        is none, the first that separates, with a note. `convex`: both compounds are convex, so every translation that
        separates stays clear.
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
        """Return whether B stays separated when it is moved beyond `translation` in the same direction."""
        more = translation * (clear_length(self.a, self.b, self.contact_tolerance, length) / length)
        return all(-self._after(translation + fraction * more).signed_distance <= self.tolerance for fraction in BEYOND)

    def _after(self, translation: FloatArray) -> _Touching:
        """Return the contacts after B is moved by `translation`."""
        return self._contacts(self.b.translated(translation), subrange(self.progress, 0.9, 0.9))

    def _bodies(self, reach: float) -> list[Planes]:
        """Return the Minkowski differences of all pairs that translations of B no longer than `reach` can meet."""
        a, b = self.a, self.b
        pairs = candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=reach + self.tolerance).pairs.tolist()
        bodies = []
        for i, j in tracked(pairs, subrange(self.progress, 0.3, 0.4)):
            one, other = a.pieces[i], b.pieces[j]
            assert isinstance(one, Polytope)
            assert isinstance(other, Polytope)
            body = difference_planes(one, other, 0.5 * self.tolerance, self.tolerance)
            if body is not None:
                bodies.append(body)
        return bodies

    def _relation(self, deepest: float) -> Relation:
        """Return the relation of compounds that intersect; `deepest` is the depth of their deepest pair of pieces."""
        a, b, band = self.a, self.b, self.band
        if len(a.pieces) == len(b.pieces) == 1:
            return convex_contact(a.pieces[0], b.pieces[0], contact_tolerance=self.contact_tolerance).relation
        return relation_of_overlapping(contains_compound(b, a, band), contains_compound(a, b, band), deepest >= -band)

    def _patches(self, near: _Touching, translation: FloatArray | None) -> list[Patch]:
        """Return the regions of the touching pairs; with a `translation`, moved half-way back."""
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
        status: Status | None = None,
    ) -> Contact:
        pairs = []
        overlap = 0.0
        if near is not None:
            pairs = [p for p, c in zip(near.pairs, near.contacts, strict=True) if c.signed_distance <= self.band]
            overlap = max(0.0, -near.signed_distance)
        if status is None:
            tolerance = self.tolerance + promised(signed_distance, 0.0, 0.0)
            status = Status.CERTIFIED if upper - lower <= tolerance else Status.STALLED
        on_a, on_b = points or (deciding.point_on_a, deciding.point_on_b)
        return Contact(
            relation=relation,
            signed_distance=signed_distance,
            normal=read_only(positive_zero(deciding.normal if normal is None else normal)),
            point_on_a=read_only(on_a),
            point_on_b=read_only(on_b),
            region=None,
            regions=merged_regions(patches or [], self.band, self.tolerance),
            lower_bound=min(lower, signed_distance),
            upper_bound=max(upper, signed_distance),
            ties=read_only(positive_zero(deciding.ties if ties is None else ties)),
            method="compound",
            iterations=nodes,
            status=status,
            notes=tuple(self.notes),
            clearance=self.clearance,
            contact_tolerance=self.contact_tolerance,
            certificate=CompoundCertificate(
                pieces=pieces,
                contact=deciding,
                pairs=read_only(np.array(pairs, dtype=np.intp).reshape(-1, 2)),
                overlap=overlap,
                tolerance=self.tolerance,
                directions=read_only(self.directions),
            ),
        )


def _common_point(a: Polytope, b: Polytope) -> tuple[FloatArray, FloatArray]:
    """Return a point (dim,) of two polytopes that intersect, as a mean of vertices of A and of B."""
    found = gjk(a, b)
    if not found.weights:  # of four points around the origin
        rows = np.vstack([np.array([vertex[:3] for vertex in found.vertices]).T, np.ones(4)])
        weights = np.linalg.lstsq(rows, np.array([0.0, 0.0, 0.0, 1.0]), rcond=None)[0]
        found = found._replace(weights=tuple(weights.tolist()))
    return found.witness_points(a, b)


def _gaps(low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray) -> FloatArray:
    """Return lower bounds (n,) of the distances of boxes, below them by rounding only."""
    apart = np.maximum(np.maximum(other_low - high, low - other_high), 0.0)
    return np.sqrt((apart * apart).sum(axis=1)) * (1.0 - 8.0 * EPS)
