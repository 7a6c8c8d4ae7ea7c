# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the overlap volume of curved shapes and compounds is true, pair of pieces by pair.

The solver may propose polytopes inside and around the overlap of two pieces: of them only corners and planes are read,
and what these prove is measured anew. Caps of balls are integrated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..compounds.compound import Compound
from ..measures.polytope_overlap import overlap_body
from ..measures.round_overlap import ENOUGH, ball_of, dual_corners, inner_overlaps, part_inside
from ..measures.volume_record import OverlapVolume
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import EPS, OVERLAP_ROUNDING
from ..types import FloatArray
from .bounds import overlap_along, rounding_of
from .check import Check
from .overlap_body import exact_moments, proven_scales
from .pair_proof import proposed_contact

_SUM = 16.0
"""Times EPS and what is added: rounding of sums here."""
_NODES = 24
"""Points of Gauss's rule for a cap."""


class _Proven(NamedTuple):
    """What is proved of the volume that two convex pieces have in common."""

    lower: float
    upper: float
    centroid: FloatArray | None = None
    body: ConvexHull | None = None
    """Of polytopes: all of it, to rounding."""


def slab_volume(a: ConvexShape, b: ConvexShape) -> float:
    """Return at least the volume of the slab across the contact's normal in which both shapes are, in both boxes."""
    sides = np.minimum(a.bounds[1], b.bounds[1]) - np.maximum(a.bounds[0], b.bounds[0])
    return thickness(a, b) * _shadow(sides)


def thickness(a: ConvexShape, b: ConvexShape) -> float:
    """Return at least how far two convex shapes reach into each other along one of the normals that the solver
    proposes; 0.0 where one separates them."""
    found = proposed_contact(a, b)
    normals = np.vstack((found.normal, found.ties))
    unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return max(0.0, float(overlap_along(a, b, unit).min()) + rounding_of(a, b))


def _shadow(sides: FloatArray) -> float:
    """Return at least the area, in the plane the length, of the shadow of a box in any direction."""
    if sides.min() <= 0.0:
        return 0.0
    return float(sides.sum()) if len(sides) == 2 else float(sides @ np.roll(sides, 1))


def check_piece_overlaps(answer: OverlapVolume, a: Compound, b: Compound) -> Iterator[Check]:
    """Yield whether the bounds of the overlap of two compounds of ordinary size are true, and where its centroid is."""
    assert answer.lower is not None
    assert answer.upper is not None
    yield Check("only polytopes have a body", answer.body is None, f"{answer.body!r}")
    cells = []
    for i, j in candidate_pairs(a.lows, a.highs, b.lows, b.highs).pairs.tolist():
        low, high = np.maximum(a.lows[i], b.lows[j]), np.minimum(a.highs[i], b.highs[j])
        if (low < high).all():
            cells.append(((i, j), low, high, _proven(a.pieces[i], b.pieces[j])))
    total = sum(found.lower for *_, found in cells) - _common(a, b, cells)
    lower = max([0.0, total, *(found.lower for *_, found in cells)]) * (1.0 + _SUM * EPS)
    upper = sum(found.upper for *_, found in cells) * (1.0 - _SUM * EPS)
    detail = f"bounds {answer.lower:.17g} and {answer.upper:.17g}, pieces {lower:.17g} and {upper:.17g}"
    yield Check("polytopes inside the pieces prove the lower bound", answer.lower <= lower, detail)
    yield Check("planes around the pieces prove the upper bound", answer.upper >= upper, detail)
    if answer.lower == 0.0:
        return
    known = [(found.lower, found.centroid) for *_, found in cells if found.centroid is not None and found.lower > 0.0]
    off = np.inf
    if known and isinstance(answer.centroid, np.ndarray) and answer.centroid.shape == (a.dim,):
        weights = np.array([weight for weight, _ in known])
        middle = weights @ np.array([centroid for _, centroid in known]) / weights.sum()
        off = float(np.abs(answer.centroid - middle).max())
    limit = (1e-9 + (upper - min(lower, answer.lower)) / upper) * min(a.extent, b.extent) if upper > 0.0 else 0.0
    yield Check("the centroid is that of the pieces", off <= limit, f"off by {off:.3g}, limit {limit:.3g}")


def _common(a: Compound, b: Compound, cells: list[tuple[tuple[int, int], FloatArray, FloatArray, _Proven]]) -> float:
    """Return at least what any two overlaps of pieces have in common, in sum."""
    known: dict[tuple[int, int, int], tuple[float, _Proven]] = {}
    lows, highs = (np.array([cell[k] for cell in cells]).reshape(len(cells), a.dim) for k in (1, 2))
    total = 0.0
    for m, n in candidate_pairs(lows, highs).pairs.tolist():
        shadow = _shadow(np.minimum(highs[m], highs[n]) - np.maximum(lows[m], lows[n]))
        most, slack = min(cells[m][3].upper, cells[n][3].upper), 0.0
        parts: list[ConvexShape | None] = []
        for side, i, j in zip((0, 1), cells[m][0], cells[n][0], strict=True):
            pieces, key = (a, b)[side].pieces, (side, min(i, j), max(i, j))
            part: ConvexShape | None = pieces[i]
            if i != j and shadow > 0.0:
                if key not in known:
                    known[key] = thickness(pieces[i], pieces[j]), _proven(pieces[i], pieces[j])
                width, both = known[key]
                most, slack, part = min(most, width * shadow, both.upper), slack + both.upper - both.lower, both.body
            parts.append(part)
        if shadow > 0.0:
            if most > 0.0 and parts[0] is not None and parts[1] is not None:
                most = min(most, _proven(parts[0], parts[1]).upper + slack)
            total += most
    return total


def _proven(a: ConvexShape, b: ConvexShape) -> _Proven:
    """Return what is proved of the volume that two convex shapes have in common."""
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        slab = _Proven(0.0, slab_volume(a, b))
        body = overlap_body(a, b) if min(a.rank, b.rank) == a.dim else None
        if body is None:
            return slab
        size, centroid, _ = exact_moments(body)
        inner, outer = proven_scales(a, b, body, centroid)
        return _Proven(size / inner**a.dim, size / outer**a.dim if outer > 0.0 else slab.upper, centroid, body)
    balls = ball_of(a), ball_of(b)
    if balls[0] is not None and balls[1] is not None:
        return _of_balls(*balls[0], *balls[1])
    for inside, outside in ((a, b), (b, a)):
        left = part_inside(inside, outside)
        if left > 0.0:
            return _Proven(inside.volume * left**a.dim, inside.volume, inside.centroid)
    return _of_curved(a, b)


def _of_balls(p: FloatArray, r: float, q: FloatArray, s: float) -> _Proven:
    """Return the volume of the lens of two balls, in the plane of two circles, by integrating their caps."""
    dim, distance = len(p), float(np.linalg.norm(q - p))
    rounding = 2.0 * EPS * max(float(np.abs(p).max()), float(np.abs(q).max()), r, s)
    small = min(r, s)
    wrong = rounding * small ** (dim - 1) + 8.0 * EPS * small**dim
    if distance >= r + s:
        return _Proven(0.0, wrong if distance <= r + s + rounding else 0.0)
    if distance <= abs(r - s):
        caps, middles = [_cap(small, -small, dim)], [p if r <= s else q]
    else:
        along = (q - p) / distance
        chord = (distance * distance + (r - s) * (r + s)) / (2.0 * distance)
        caps = [_cap(r, chord, dim), _cap(s, distance - chord, dim)]
        middles = [p + caps[0][1] * along, q - caps[1][1] * along]
    sizes = np.array([size for size, _ in caps])
    total = float(sizes.sum())
    middle = sizes @ np.array(middles) / total if total > 0.0 else p
    return _Proven(max(0.0, total - wrong), total + wrong, middle)


def _cap(radius: float, height: float, dim: int) -> tuple[float, float]:
    """Return the volume of a ball beyond a height above its centre, and how far from that its centroid is."""
    angle = np.arctan2(np.sqrt(max(0.0, (radius - height) * (radius + height))), height)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    turns = 0.5 * angle * (nodes + 1.0)
    slices = 0.5 * angle * weights * (np.pi if dim == 3 else 2.0) * (radius * np.sin(turns)) ** dim
    size = float(slices.sum())
    return size, float(slices @ np.cos(turns)) * radius / size if size > 0.0 else radius


def _of_curved(a: ConvexShape, b: ConvexShape) -> _Proven:
    """Return what the last polytopes that the solver proposes prove."""
    slab = _Proven(0.0, slab_volume(a, b))
    proposed = list(inner_overlaps(a, b, proposed_contact(a, b), ENOUGH))
    if not proposed:
        return slab
    last, dim = proposed[-1], a.dim
    size, centroid, _ = exact_moments(last.body)
    rounding = OVERLAP_ROUNDING * EPS * max(a.magnitude, b.magnitude)
    beyond = max(float(shape.signed_distance(last.body.vertices).max()) for shape in (a, b)) + rounding
    room = -max(float(shape.signed_distance(centroid[None])[0]) for shape in (a, b)) - rounding
    if room <= 0.0:
        return slab
    lower = size * max(0.0, 1.0 - max(0.0, beyond) / room) ** dim
    around = ConvexHull(dual_corners(last.normals, last.offsets, centroid)[1])
    tops = [(shape.supports(around.normals) - centroid) * around.normals for shape in (a, b)]
    reach = np.minimum(*(top.sum(axis=1) for top in tops)) + rounding
    larger = max(1.0, float((reach / (around.offsets + around.normals @ around.center)).max()))
    upper = exact_moments(around)[0] * larger**dim
    return _Proven(lower, min(upper, slab.upper), centroid)
