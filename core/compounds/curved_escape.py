# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest translation that separates compounds with curved pieces, between two bounds.

From below: a translation outside of the differences of pieces is outside of polytopes inside these differences, so a
lower bound for the polytopes is valid. From above: the translation found for the polytopes is extended until the pieces
themselves are disjoint, with one separating plane for each pair, and shortened as far as these planes allow. Then the
polytopes get points where the planes touch, and so on until both bounds meet or stop converging.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..budget import Budget
from ..curved.convex_contact import convex_contact
from ..curved.curved_core import rings
from ..curved.curved_inside import spread
from ..progress import Progress, report_progress, subrange
from ..shapes.curved_shape import ConvexShape
from ..shapes.polytope import Polytope
from ..tolerance import COMPOUND_PLANE, CURVED_RINGS, EPS
from ..types import FloatArray
from .compound import Compound
from .compound_depth import Escape, nearest_beyond, shortest_escape
from .compound_planes import Planes
from .curved_difference import inner_difference
from .pair_frame import pair_frame

_ROUNDS = 8
"""Number of refinements of the polytopes."""
_AROUND = 60
"""Number of directions in which they initially reach the surface."""
_RINGS = (*CURVED_RINGS[::2], 0.05, 0.2)
"""Angles of rings of directions around the best: the narrow ones close the bracket, the wide ones keep the polytopes
round next to it."""
_STEPS = 40
"""Number of steps in which a translation is extended."""
_PLANES = 12
"""Number of planes of which up to three determine a translation."""
_STARTS = 4
"""Number of translations of the polytopes that are extended."""
_SLOWER = 0.8
"""Times the width of the bracket: a round that leaves more is slow; several slow rounds end the search."""
_SAME = 1e-6
"""Directions whose components differ by no more are equal."""
_MOST_DIRECTIONS = 400
"""Number of directions that ends the search."""


def inner_planes(a: ConvexShape, b: ConvexShape, directions: FloatArray, thick: float) -> Planes | None:
    """Return a polytope inside A - B as half-spaces; None when it is flat. Where A or B is a flat polytope, the
    difference is grown by `thick`."""
    hull = inner_difference(a, b, directions)
    if hull.rank < hull.dim:
        return None
    normals = hull.normals
    offsets = hull.offsets + normals @ hull.center
    if any(isinstance(shape, Polytope) and shape.rank < shape.dim for shape in (a, b)):
        offsets = offsets + thick
    if hull.dim == 2:
        normals = np.concatenate((normals, np.zeros((len(normals), 1))), axis=1)
    size = hull.extent + hull.magnitude + a.extent + b.extent
    return Planes(normals, offsets, COMPOUND_PLANE * EPS * size)


def curved_escape(
    a: Compound,
    b: Compound,
    start: FloatArray,
    deepest: FloatArray,
    least: float,
    tolerance: float,
    budget: Budget,
    progress: Progress | None,
) -> tuple[Escape, FloatArray]:
    """Return a short translation (dim,) of B that separates, with a certified lower bound, and the directions (k, dim)
    in which the polytopes that prove it reach the surface of the differences.

    `start` (dim,) separates; `deepest` (dim,) separates the two pieces that are deepest in each other, and `least` is a
    lower bound of their depth.
    """
    dim = len(start)
    best, shortest = start, float(np.linalg.norm(start))
    pieces_a, pieces_b = a.pieces, b.pieces
    margin = shortest + tolerance
    pairs = list(map(tuple, candidate_pairs(a.lows, a.highs, b.lows, b.highs, margin=margin).pairs.tolist()))
    frame = pair_frame(pieces_a, pieces_b)
    directions = spread(dim, _AROUND) @ frame[:dim, :dim]
    slack = 0.5 * tolerance
    lower, nodes, before = least, 0, inf
    pushed, normals = _pushed(pieces_a, pieces_b, pairs, deepest, tolerance)
    if pushed is not None and float(np.linalg.norm(pushed)) < shortest:
        best, shortest = pushed, float(np.linalg.norm(pushed))
    if shortest - lower <= slack:
        return _told(best, lower, 0, True), np.zeros((0, dim))
    used = directions
    finished, slow = True, 0
    for k in range(_ROUNDS):
        report_progress(progress, k, _ROUNDS)
        planes = [
            body
            for i, j in pairs
            if (body := inner_planes(pieces_a[i], pieces_b[j], directions, tolerance)) is not None
        ]
        part = subrange(progress, k / _ROUNDS, 1.0)
        found = shortest_escape(planes, frame, np.pad(best, (0, 3 - dim)), slack, slack, budget.without(nodes), part)
        nodes += found.nodes
        finished = found.finished
        if found.lower_bound > lower:
            lower, used = found.lower_bound, directions
        normals = []
        for translation in found.translations[:_STARTS, :dim]:
            pushed, touched = _pushed(pieces_a, pieces_b, pairs, translation, tolerance)
            normals += touched
            if pushed is not None and (length := float(np.linalg.norm(pushed))) < shortest:
                best, shortest = pushed, length
        width = shortest - lower
        slow = slow + 1 if width > _SLOWER * before else 0
        if width <= slack or nodes > budget.nodes or slow > 2 or not normals or len(directions) > _MOST_DIRECTIONS:
            break
        before = width
        new = [np.concatenate((n[None], rings(n, _RINGS))) for n in _distinct(normals, directions)]
        if not new:
            break
        directions = np.concatenate((directions, *new))
    return _told(best, lower, nodes, finished and nodes <= budget.nodes), used


def _told(translation: FloatArray, lower: float, nodes: int, finished: bool) -> Escape:
    in_space = np.pad(translation, (0, 3 - len(translation)))
    return Escape(in_space[None], min(lower, float(np.linalg.norm(translation))), nodes, finished, False)


def _distinct(normals: list[FloatArray], known: FloatArray) -> list[FloatArray]:
    """Return the unique normals that are not among `known`."""
    found: list[FloatArray] = []
    for normal in normals:
        rows = np.concatenate((known, np.array(found).reshape(-1, len(normal))))
        if np.abs(rows - normal).max(axis=1).min() > _SAME:
            found.append(normal)
    return found


def _pushed(
    pieces_a: Sequence[ConvexShape],
    pieces_b: Sequence[ConvexShape],
    pairs: list[tuple[int, int]],
    translation: FloatArray,
    tolerance: float,
) -> tuple[FloatArray | None, list[FloatArray]]:
    """Return a nearby translation that separates all pairs, as short as the planes between them allow, or None; and the
    normals (dim,) of the pairs that then touch or that overlapped before."""
    best, shortest = None, inf
    touched: list[FloatArray] = []
    known: dict[tuple[int, int], tuple[FloatArray, float]] = {}
    first: list[FloatArray] = []
    for step in range(_STEPS):
        deepest, push = inf, translation
        now = []
        for i, j in pairs:
            c = convex_contact(pieces_a[i], pieces_b[j].translated(translation))
            # Beyond this plane the pair is separated, whatever the translation.
            known[i, j] = c.normal, float(c.normal @ translation) - c.signed_distance
            if c.signed_distance < deepest:
                deepest, push = c.signed_distance, translation - c.signed_distance * c.normal
            if abs(c.signed_distance) <= 1e-3 * (pieces_a[i].extent + pieces_b[j].extent):
                now.append(c.normal)
            if step == 0 and c.signed_distance < 0.0:
                first.append(c.normal)  # the polytope does not reach the surface there
        length = float(np.linalg.norm(translation))
        if deepest >= -0.5 * tolerance and length < shortest:
            improved = shortest - length
            best, shortest, touched = translation, length, now
            if improved <= 0.25 * tolerance:
                break
        onward = _shortest_beyond(list(known.values()), translation)
        if onward is None:
            onward = push
        if float(np.abs(onward - translation).max()) <= 0.01 * tolerance:
            break
        translation = onward
    return best, first + (touched or now)


def _shortest_beyond(planes: list[tuple[FloatArray, float]], near: FloatArray) -> FloatArray | None:
    """Return the shortest translation beyond all `planes` `n.t >= g`, determined by those nearest to `near`."""
    dim = len(near)
    normals = np.zeros((len(planes), 3))
    normals[:, :dim] = [n for n, _ in planes]
    least = np.array([g for _, g in planes])
    room = normals[:, :dim] @ near - least
    chosen = np.argsort(room, kind="stable")[:_PLANES].tolist()
    rows = [[*subset, *[-1] * (4 - len(subset))] for count in (1, 2, 3) for subset in combinations(chosen, count)]
    if least.max() <= 0.0:
        return np.zeros(dim)
    points = nearest_beyond(normals, least, np.array(rows))[1]
    slack = 8.0 * EPS * (np.abs(points).max() + np.abs(least).max())
    good = np.flatnonzero(((points @ normals.T) >= least - slack).all(axis=1))
    if not len(good):
        return None
    lengths = (points[good] ** 2).sum(axis=1)
    return points[good[int(lengths.argmin())], :dim]
