# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of two convex polytopes: the facets of the Minkowski difference, without building it.

For a unit vector n from A to B let h(n) = max n.a - min n.b; the gap across n is -h(n), and the signed distance is the
largest gap, which for intersecting shapes is found at a facet of A - B. Such a facet is a facet of A, a reversed facet
of B, or spanned by an edge of each. The third kind is found on the sphere of normals (Gauss map): an edge is there the
arc between the normals of its two facets, and two edges span a facet where their arcs cross.

Each axis is measured in both directions, n and -n: the larger of the two gaps is the orientation, and one shape inside
the other is not a special case. Nor are flat shapes as long as A - B is not flat; where it may be, the axes within its
plane or along its line are tested too. Source: S0.3 to S0.5, S1.3, S1.4, S1.6, S1.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from ..shapes.feature import Feature, FeatureKind
from ..shapes.polytope import PRODUCTS, Polytope, intervals, validate_polytopes
from ..tolerance import EPS, SAME_AXIS, SAME_DIRECTION, SAT_PARALLEL, SAT_PLAIN_CROSS, TIE_WIDTH, promised
from ..trace import Trace
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .sat_steps import AxisSteps

_SAT_ROUNDING = 8.0
"""Times EPS R: the rounding error of the gap along an axis; gaps nearer to 0 do not decide about thin shapes."""
_SAT_PREFER = 1e-12
"""Times L: by how much a face may be worse than the best axis and still be preferred to it."""
_SAT_PREFER_ROUNDING = 4.0
"""Times EPS M: the same, for shapes far from the origin."""
_SAT_SHARP = -0.5
"""Cosine between the normals of two facets below which their edge is sharp: a gap beyond it may be far wider than any
across a facet."""
_SAT_NEARLY_PARALLEL = 16.0
"""Times EPS: cosines this near to 1 or -1 are those of axes that may be the same; SAME_AXIS decides."""

_BATCH = 32  # axes of edge pairs measured at a time
_KINDS = (FeatureKind.VERTEX, FeatureKind.EDGE, FeatureKind.FACE)


@dataclass(frozen=True, eq=False)
class CandidateAxes(ReadOnlyArrays):
    """The axes that SAT measures for two shapes and the interval of each shape on them. World frame and units."""

    axes: FloatArray
    """(k, dim) unit vectors: normals of facets of A, then of B, without parallel ones, then across pairs of edges, of
    pairs with parallel edges one; for flat and thin shapes those within the plane too. Of two boxes they are at most
    15."""
    edges: IntArray
    """(k, 2) the edge of A and the edge of B that an axis is across; -1 for other axes."""
    intervals_a: FloatArray
    """(k, 2) the least and the greatest `axis @ x` of the points x of A."""
    intervals_b: FloatArray
    """(k, 2) the same of B."""

    @property
    def signed_distances(self) -> FloatArray:
        """(k,) the gap between the intervals, > 0, or minus the shorter translation along the axis that separates
        them."""
        (low_a, high_a), (low_b, high_b) = self.intervals_a.T, self.intervals_b.T
        return np.maximum(low_b - high_a, low_a - high_b)


@dataclass(frozen=True, eq=False)
class SatResult(ReadOnlyArrays):
    """The deciding axis of two shapes A and B. World frame, the unit of the input's coordinates."""

    separated: bool
    """Whether an axis shows a gap."""
    signed_distance: float
    """Minus the penetration depth when the shapes intersect. When they are separated, the largest gap of the axes
    tested: a lower bound of the distance, which may differ when A and B are swapped or all axes are listed."""
    normal: FloatArray
    """(dim,) unit vector from A to B. Moving B by `depth * normal` separates the pair."""
    feature_a: Feature
    """The face or edge of A that gives the axis, else the edge or vertex of A farthest along it."""
    feature_b: Feature
    """The face or edge of B that gives the axis, else the edge or vertex of B farthest against it."""
    axes_tested: int
    """Number of axes tested, at most 15 for two boxes: normals of facets, without parallel ones, and the axes across
    edge pairs whose arcs cross, of pairs with parallel edges one."""
    ties: FloatArray
    """(m, dim) equally good normals within the promised tolerance, the chosen one first; only that when separated."""
    candidates: CandidateAxes | None = None
    """All axes with their intervals, if requested."""
    trace: Trace | None = None
    """The steps, if requested."""


def sat(
    a: Polytope, b: Polytope, *, early_exit: bool = False, candidates: bool = False, trace: bool = False
) -> SatResult:
    """Return the axis of least overlap of two shapes in space or in the plane, or of the widest gap.

    >>> a, b = ConvexHull([(0, 0), (2, 0), (0, 2)]), ConvexHull([(0.5, 0.5), (3, 0.5), (3, 3)])
    >>> result = sat(a, b)
    >>> print(round(result.signed_distance, 6), np.round(result.normal, 6) + 0.0)
    -0.707107 [0.707107 0.707107]

    With `early_exit` the first separating axes end the search, for callers who only need the boolean: the gap is then
    some lower bound of the distance. Shapes may have any rank. An axis across a face is preferred to one across two
    edges when both are equally good. With `candidates` the result has every axis, also those that need not be measured,
    with the shapes' intervals, with `trace` every step of the search: for study, not for speed.

    >>> squares = ConvexHull([(0, 0), (2, 0), (2, 2), (0, 2)]), ConvexHull([(1, 1), (4, 1), (4, 4), (1, 4)])
    >>> all_axes = sat(*squares, candidates=True).candidates
    >>> print(np.abs(all_axes.axes).tolist(), np.abs(all_axes.signed_distances).tolist())
    [[0.0, 1.0], [1.0, 0.0]] [1.0, 1.0]

    In space the time grows with the product of the numbers of edges: about 0.1 s for two round shapes of 1,000
    vertices, 2 s for 5,000. From about 100 vertices on, `contact` with its default method is much faster.

    Raises ValueError, naming the argument, when a shape is not a polytope or the dimensions differ. Source: S0.3 to
    S0.5, S1.3, S1.4, S1.6, S1.7.
    """
    validate_polytopes(a, b)
    search = _AxisSearch(a, b, early_exit, candidates, trace)
    search.facets()
    if not search.done and a.dim == 3:  # mutant: sat-no-edge-pairs
        search.edges()
    if not search.done:
        if a.rank < a.dim and b.rank < b.dim:
            search.flat()  # mutant: sat-nothing-within-the-plane
        elif abs(search.best) <= search.rounding:
            search.thin()
    return search.result()


class _Axes(NamedTuple):
    """Axes measured together."""

    axes: FloatArray
    """(k, dim) unit vectors."""
    gaps: FloatArray
    """(2 k,) the gap across each axis, then the gap across each reversed axis."""
    pairs: tuple[IntArray, IntArray] | None
    """(k,) the edge of A and the edge of B that span each axis; None when it comes from a face."""

    def normal(self, place: int) -> FloatArray:
        """Return the unit vector (dim,) of a gap, from A to B."""
        count = len(self.axes)
        # mutant: sat-normal-turned
        normal: FloatArray = self.axes[place] if place < count else -self.axes[place - count]
        return normal + 0.0  # + 0.0 turns -0.0 into 0.0


class _AxisSearch:
    """The axes measured so far."""

    def __init__(self, a: Polytope, b: Polytope, early_exit: bool, candidates: bool, trace: bool) -> None:
        self.a, self.b = a, b
        self.early_exit, self.candidates = early_exit, candidates
        self.apart = b.center - a.center
        self.extent, self.magnitude = min(a.extent, b.extent), max(a.magnitude, b.magnitude)
        self.size = a.extent + b.extent + hypot(*self.apart.tolist())
        self.rounding = _SAT_ROUNDING * EPS * self.size
        self.best = -inf
        self.tested = 0
        self.crossing: set[int] = set()
        """Pairs of axes of edges whose arcs cross, as numbers."""
        self.kept: list[_Axes] = []  # in order of preference
        self.steps = AxisSteps(a, b, self._as_good_as) if trace else None

    @property
    def done(self) -> bool:
        """Whether the result is sufficient for the caller."""
        return self.early_exit and self.best > self.rounding

    def facets(self) -> None:
        """Measure the normals of the facets, those of A first. The intervals of a shape on its own axes are cached."""
        a, b = self.a, self.b
        axes, low_a, high_a = a._facet_axes
        axes_b, low_b, high_b = b._facet_axes
        if not len(axes_b):  # mutant: sat-no-faces-of-b
            if len(axes):
                self._keep(axes, low_a, high_a, *intervals(axes, b._centred))
                if self.steps is not None:
                    self.steps.facets(*self.kept[-1][:2], None)
            return
        known = None
        if len(axes):
            axes_b, low_b, high_b, known = _remove_parallel(axes, axes_b, low_b, high_b)
        over_b, over_a = intervals(axes, b._centred), intervals(axes_b, a._centred)
        self._keep(
            np.concatenate((axes, axes_b)),
            np.concatenate((low_a, over_a[0])),
            np.concatenate((high_a, over_a[1])),
            np.concatenate((over_b[0], low_b)),
            np.concatenate((over_b[1], high_b)),
        )
        if self.steps is not None:
            self.steps.facets(*self.kept[-1][:2], known)

    def _measure(self, axes: FloatArray, pairs: tuple[IntArray, IntArray] | None = None) -> None:
        self._keep(axes, *intervals(axes, self.a._centred), *intervals(axes, self.b._centred), pairs)

    def _keep(
        self,
        axes: FloatArray,
        low_a: FloatArray,
        high_a: FloatArray,
        low_b: FloatArray,
        high_b: FloatArray,
        pairs: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        """Add axes with the intervals of the shapes, each about its centre."""
        between = axes.dot(self.apart)
        # mutant: sat-gap-of-the-nearer-side
        gaps = np.concatenate((between + low_b - high_a, low_a - high_b - between))
        self.kept.append(_Axes(axes, gaps, pairs))
        self.best = max(self.best, float(gaps[gaps.argmax()]))
        if pairs is None:
            self.tested += len(axes)

    def edges(self) -> None:
        """Measure the axes across an edge of A and one of B whose arcs on the sphere of normals cross."""
        a, b = self.a, self.b
        if not (len(a.edges) and len(b.edges)):
            return
        step = max(1, PRODUCTS // len(a.edges))
        for first in range(0, len(b.edges), step):
            i, j, side = self._crossings(first, first + step)
            if self.steps is not None:
                self.steps.skipped["no_facet"] += len(a.edges) * min(step, len(b.edges) - first) - len(i)
            if len(i):
                self._measure_pairs(i, j, side)
                if self.steps is not None:
                    self.steps.skip_others()
            if self.done:
                return

    def _crossings(self, first: int, last: int) -> tuple[IntArray, IntArray, FloatArray]:
        """Return pairs of an edge of A and one of B from a range, and numbers with the sign of the side of their
        product.

        The arc of an edge e runs from the normal of its first facet to that of its second, anticlockwise about e. Its
        crossing with another edge's arc is at one of the two products of the edges, and is on both arcs when the ends
        of either arc lie on different sides of the great circle of the other, in the right order. A segment's arc is
        its whole great circle; the arc of a polygon's side is half of one, and is not a special case. Arcs that meet
        exactly at the end of one of them are excluded: that is the normal of a facet.
        """
        a, b = self.a, self.b
        of_a, of_b = a._edge_table, b._edge_table
        directions = of_b.directions[first:last]
        count = len(directions)
        if len(of_a.first):
            levels = a.normals.dot(directions.T)
            start, end = levels.take(of_a.first, axis=0), levels.take(of_a.second, axis=0)
            places = (start * end < 0.0).ravel().nonzero()[0]
            i = places // count
            j = places - i * count
            side = start.take(places) - end.take(places)
        else:
            i, j = np.zeros(count, dtype=np.intp), np.arange(count)
            side = np.zeros(count)
        j += first
        if len(of_b.first):
            facets_1, facets_2, normals = of_b.first[first:last], of_b.second[first:last], b.normals
            if count < len(b.edges):
                # Only the facets of this range: with all of them time and memory would grow with the cube.
                facets, places = np.unique(np.concatenate((facets_1, facets_2)), return_inverse=True)
                facets_1, facets_2, normals = places[:count], places[count:], normals[facets]
            levels = normals.dot(of_a.directions.T)
            start, end = levels[facets_1.take(j - first), i], levels[facets_2.take(j - first), i]
            crossing = start * end < 0.0
            end = start - end
            if len(of_a.first):
                crossing &= side * end > 0.0  # mutant: sat-arcs-on-the-other-side
            kept = crossing.nonzero()[0]
            i, j, side = i.take(kept), j.take(kept), end.take(kept)
        return i, j, side

    def _measure_pairs(self, i: IntArray, j: IntArray, side: FloatArray) -> None:
        """Measure the axes across pairs of edges that may be as good as the best so far.

        Where the arcs of two edges cross, the edges themselves are the farthest parts of the shapes; where they only
        touch, by rounding, the distance of the edges is still no less than the gap.
        """
        of_a, of_b = self.a._edge_table, self.b._edge_table
        product = of_a.turned.take(i, axis=0) * of_b.turned_back.take(j, axis=0)
        product -= of_a.turned_back.take(i, axis=0) * of_b.turned.take(j, axis=0)
        sine = np.sqrt(np.einsum("ij,ij->i", product, product))
        between = of_b.starts.take(j, axis=0) - of_a.starts.take(i, axis=0) + self.apart
        limit = np.einsum("ij,ij->i", product, between)  # the gap if the edges are the farthest parts, times the sine
        if len(of_a.first) or len(of_b.first):
            limit = np.copysign(1.0, side) * limit
        else:
            limit = np.abs(limit)  # two segments: both sides are open
        ceiling = limit + self.rounding * (sine + 1.0)
        worthy = ceiling >= self._bar() * sine
        worthy &= sine > SAT_PARALLEL
        numbers = self._pairs_of_axes(i, j)
        self.crossing.update(numbers.tolist())
        if self.steps is not None:
            self.steps.look(i, j, numbers, sine <= SAT_PARALLEL)
        kept = worthy.nonzero()[0]
        if not len(kept):
            return
        if len(kept) > _BATCH:
            # The most promising first: they may make the others unnecessary.
            limit = limit.take(kept) / sine.take(kept)
            kept = kept.take(np.argsort(-limit, kind="stable"))
        for begin in range(0, len(kept), _BATCH):
            batch = kept[begin : begin + _BATCH]
            if begin:
                batch = batch[ceiling.take(batch) >= self._bar() * sine.take(batch)]
                if not len(batch):
                    continue
            p, q, sines = i.take(batch), j.take(batch), sine.take(batch)
            axes = product.take(batch, axis=0) / sines[:, None]
            near = (sines < SAT_PLAIN_CROSS).nonzero()[0]
            if len(near):
                # mutant: sat-careless-cross-product
                careful = _careful_cross(of_a.directions[p[near]], of_b.directions[q[near]])
                axes[near] = careful / np.sqrt(np.einsum("ij,ij->i", careful, careful))[:, None]
            self._measure(axes, (p, q))
            if self.steps is not None:
                self.steps.edges(axes, self.kept[-1].gaps, batch)

    def _pairs_of_axes(self, i: IntArray, j: IntArray) -> IntArray:
        """Return the axes of edges of A and of B as one number each: those across parallel pairs are parallel."""
        return self.a._edge_axes.take(i) * len(self.b.edges) + self.b._edge_axes.take(j)

    def _bar(self) -> float:
        """Return the gap below which an axis is of no interest."""
        if self.candidates:
            return -self.size
        if self.early_exit:
            return 0.0
        return self.best - promised(self.best, self.extent, self.magnitude) if self.best > -inf else -self.size

    def flat(self) -> None:
        """Measure the axes within the plane, or along and across the line, that may contain all of A - B."""
        a, b = self.a, self.b
        directions = np.concatenate([a.edge_directions, b.edge_directions])
        across = b.vertices[0] - a.vertices[0]
        axes = [across[None]]
        if a.dim == 2:
            axes.append(directions)
        else:
            planes = [shape.normals[0] for shape in (a, b) if shape.rank == 2]
            if not planes:
                # Points and segments: vectors across a segment, towards the other shape and in any direction.
                beside = across - (directions @ across)[:, None] * directions
                # Twice: the remainder of a long vector is not perpendicular to the segment to its last digits.
                beside -= np.einsum("ij,ij->i", beside, directions)[:, None] * directions
                axes += [directions, beside, _cross(directions, np.eye(3)[np.abs(directions).argmin(axis=1)])]
                if len(directions) == 2:
                    planes = list(_units(_careful_cross(directions[:1], directions[1:])))
            axes += [_cross(directions, plane[None]) for plane in planes]
        units = _units(np.concatenate(axes))
        if not len(units):
            units = np.eye(a.dim)[:1]  # two equal points: all directions are equivalent
        self._measure(units)
        if self.steps is not None:
            self.steps.others(units, self.kept[-1].gaps, "flat")

    def thin(self) -> None:
        """Search a clear gap beyond sharp edges when the gaps across all facets are below rounding.

        The widest gap across a facet may be far smaller than the distance when a shape ends in a wedge.
        """
        axes = []
        for shape in (self.a, self.b):
            directions = shape.edge_directions
            if shape.dim == 2:
                axes.append(directions)
            elif len(shape.edge_facets):
                first, second = shape.normals[shape.edge_facets[:, 0]], shape.normals[shape.edge_facets[:, 1]]
                sharp = np.einsum("ij,ij->i", first, second) < _SAT_SHARP
                axes += [directions[sharp], _cross(directions[sharp], first[sharp])]
        units = _units(np.concatenate(axes)) if axes else np.zeros((0, self.a.dim))
        if not len(units):
            return
        before, count = self.best, len(self.kept)
        self._measure(units)
        is_clear = self.best > 2.0 * self.rounding
        if self.steps is not None:
            self.steps.others(units, self.kept[-1].gaps, "sharp", is_clear)
        if not is_clear:
            self.best = before
            del self.kept[count:]

    def _as_good_as(self, best: float) -> float:
        """Return the least gap that is as good as a gap."""
        hair = _SAT_PREFER * self.extent + _SAT_PREFER_ROUNDING * EPS * self.magnitude
        return best - (min(hair, 0.5 * best) if best > 0.0 else hair)  # a gap remains one

    def result(self) -> SatResult:
        """Return the first of the axes that are the best to within a small tolerance."""
        bar = self._as_good_as(self.best)
        chosen: _Axes | None = None
        place = 0
        for group in self.kept:
            if group.pairs is None:
                place = int((group.gaps >= bar).argmax())
                if group.gaps[place] >= bar:
                    chosen = group
                    break
        if chosen is None:
            chosen = max(self.kept, key=lambda group: float(group.gaps.max()))
            place = int(chosen.gaps.argmax())
        normal, gap = read_only(chosen.normal(place)), float(chosen.gaps[place]) + 0.0
        if chosen.pairs is None:
            feature_a, feature_b = self._facing(self.a, normal), self._facing(self.b, -normal)
        else:
            place %= len(chosen.axes)
            feature_a = _feature(self.a.edges[chosen.pairs[0][place]].tolist())
            feature_b = _feature(self.b.edges[chosen.pairs[1][place]].tolist())
        ties = read_only(self._ties(normal, gap))
        candidates = self._candidates() if self.candidates else None
        tested = self.tested + len(self.crossing)
        trace = None if self.steps is None else self.steps.end()
        return SatResult(gap > 0.0, gap, normal, feature_a, feature_b, tested, ties, candidates, trace)

    def _candidates(self) -> CandidateAxes:
        axes = np.concatenate([group.axes for group in self.kept])
        parts = [
            np.full((len(group.axes), 2), -1) if group.pairs is None else np.array(group.pairs).T for group in self.kept
        ]
        edges = np.concatenate(parts)
        gaps = np.concatenate([group.gaps.reshape(2, -1).max(axis=0) for group in self.kept])
        # Of the axes across parallel pairs of edges, which rounding makes different, the one with the widest gap.
        across = np.flatnonzero(edges[:, 0] >= 0)
        across = across[np.argsort(-gaps[across], kind="stable")]
        first = np.unique(self._pairs_of_axes(*edges[across].T), return_index=True)[1]
        chosen = np.concatenate([np.flatnonzero(edges[:, 0] < 0), np.sort(across[first])])
        axes, edges = axes[chosen], edges[chosen]
        covered = [np.stack(intervals(axes, shape.vertices), axis=1) for shape in (self.a, self.b)]
        return CandidateAxes(*map(read_only, (axes, edges, *covered)))

    def _facing(self, shape: Polytope, normal: FloatArray) -> Feature:
        """Return the facet with this normal, else the edge or vertex that is farthest along it."""
        if len(shape.normals):
            facet = int(shape.normals.dot(normal).argmax())
            if all(abs(x) <= SAME_AXIS * EPS for x in (shape.normals[facet] - normal).tolist()):
                return _feature(shape.facets[facet].tolist())
        heights = shape._centred.dot(normal)
        highest = int(heights.argmax())
        level = (heights >= heights[highest] - self.rounding).nonzero()[0].tolist()
        return _feature(level if len(level) == 2 else [highest])

    def _ties(self, normal: FloatArray, gap: float) -> FloatArray:
        """Return all normals with the same gap, the chosen one first."""
        found = [normal]
        if gap <= 0.0:
            bar = gap - TIE_WIDTH * promised(gap, self.extent, self.magnitude)
            for group in self.kept:
                places = (group.gaps >= bar).nonzero()[0].tolist()
                found += [group.normal(place) for place in places]
        if len(found) <= 2:  # mutant: sat-no-ties
            return normal[None]
        axes = np.array(found)
        distinct = []
        while len(axes):
            distinct.append(axes[0])
            axes = axes[np.abs(axes - axes[0]).sum(axis=1) > SAME_DIRECTION]
        return np.array(distinct)


def _feature(vertices: list[int]) -> Feature:
    if len(vertices) < 3:
        vertices = sorted(vertices)
    return Feature(_KINDS[min(len(vertices), 3) - 1], tuple(vertices))


def _remove_parallel(
    known: FloatArray, axes: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Return the axes, with their intervals, that are not parallel to one of `known`, and which ones are."""
    parallel = np.zeros(len(axes), dtype=bool)
    step = max(1, PRODUCTS // len(known))
    for begin in range(0, len(axes), step):
        chunk = axes[begin : begin + step]
        cosines = known.dot(chunk.T)
        near = np.flatnonzero(np.abs(cosines) > 1.0 - _SAT_NEARLY_PARALLEL * EPS)
        if len(near):
            k, m = near // len(chunk), near % len(chunk)
            turn = np.where(cosines.ravel()[near] < 0.0, -1.0, 1.0)
            same = np.abs(known[k] * turn[:, None] - chunk[m]).max(axis=1) <= SAME_AXIS * EPS
            parallel[begin + m[same]] = True
    if not parallel.any():
        return axes, low, high, parallel
    new = np.flatnonzero(~parallel)
    return axes[new], low[new], high[new], parallel


def _units(vectors: FloatArray) -> FloatArray:
    """Return the nonzero vectors, normalised."""
    largest = np.abs(vectors).max(axis=1)
    vectors = vectors[largest > 0.0] / largest[largest > 0.0, None]
    return vectors / np.sqrt((vectors * vectors).sum(axis=1))[:, None]


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return cross products (n, 3) of vectors (n, 3) or (1, 3)."""
    x, y, z = u[:, 0], u[:, 1], u[:, 2]
    p, q, r = v[:, 0], v[:, 1], v[:, 2]
    return np.stack([y * r - z * q, z * p - x * r, x * q - y * p], axis=1)


def _careful_cross(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return cross products (n, 3) of nearly parallel vectors (n, 3), each component accurate to its last digits."""
    parts = []
    for k in range(3):
        p, p_error = _product(u[:, k - 2], v[:, k - 1])
        q, q_error = _product(u[:, k - 1], v[:, k - 2])
        parts.append((p - q) + (p_error - q_error))
    return np.stack(parts, axis=1)


def _product(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded product and its rounding error (Dekker 1971)."""
    product = x * y
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    wide = x * (2.0**27 + 1.0)
    high = wide - (wide - x)
    return high, x - high
