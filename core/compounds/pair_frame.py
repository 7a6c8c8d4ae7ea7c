# SPDX-License-Identifier: GPL-3.0-or-later
"""Axes of a pair of compounds: they rotate with the pair, and are reversed when A and B are swapped.

A search along these axes proceeds equally in every pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..shapes.curved_shape import ConvexShape
from ..shapes.polytope import Polytope
from ..types import FloatArray

_FRAME_PARALLEL = 1e-9
"""Times the length of an edge: an edge is parallel to a direction along which it is shorter by no more."""
_FRAME_ALIKE = 1e-6
"""Relative: total lengths along directions, and distances ahead, that differ by no more are equal; in the unit of the
pair, a value no larger than this has no sign."""

_CANDIDATES = 64  # lines whose directions are compared


def pair_frame(a: Sequence[ConvexShape], b: Sequence[ConvexShape]) -> FloatArray:
    """Return an orthogonal matrix (3, 3), its rows the axes of the pair: pieces of A and of B, in space or a plane.

    The first axis is the direction with the largest total length of edges, the second that with the largest total
    length across the first: subdividing edges changes neither. They point from A to B, so swapping A and B negates
    them, and the matrix may be a reflection. Of directions with equal totals, the one nearest to that from A to B is
    taken; of a pair symmetric in itself, any. In the plane the last axis is (0, 0, 1).
    """
    lines = [_lines(pieces) for pieces in (a, b)]
    directions = np.concatenate([ends[:, 1] - ends[:, 0] for ends in lines])
    middles = [_middle(ends) for ends in lines]
    apart = middles[1] - middles[0]
    size = max(float(np.abs(directions).max()), float(np.abs(apart).max()))
    if size == 0.0:
        return np.eye(3)
    directions, apart = directions / size, apart / size
    x = _main_direction(directions, apart)
    y = _main_direction(directions - np.outer(directions @ x, x), apart) if x is not None else None
    if x is None:
        x = apart / np.sqrt(apart @ apart)
    if y is None:
        # No edge is across the first axis: any direction will do, in the plane one in the plane.
        y = np.array([-x[1], x[0], 0.0]) if abs(x[2]) <= 0.5 else np.array([0.0, -x[2], x[1]])
    y = y - (y @ x) * x
    y /= np.sqrt(y @ y)
    z = np.cross(x, y)
    axes = np.array([x, y, z / np.sqrt(z @ z)])
    ahead = axes @ apart
    # Where the middles do not decide, third moments do.
    moments = [_third_moments(ends, middle, axes, size) for ends, middle in zip(lines, middles, strict=True)]
    ahead = np.where(np.abs(ahead) > _FRAME_ALIKE, ahead, moments[1] - moments[0])
    return axes * np.where(ahead < -_FRAME_ALIKE, -1.0, 1.0)[:, None] + 0.0


def _lines(pieces: Sequence[ConvexShape]) -> FloatArray:
    """Return the ends (k, 2, 3) of the edges of pieces; of curved ones, edges of cores and lines between these."""
    cores = [piece.skeleton for piece in pieces]
    parts = [core.vertices[core.edges] for core in cores if core is not None]
    if any(not isinstance(piece, Polytope) for piece in pieces) or not sum(map(len, parts)):
        middles = [
            piece.center if core is None else core.vertices.mean(axis=0)
            for piece, core in zip(pieces, cores, strict=True)
        ]
        parts.append(np.array([[middles[0], middles[0]], *pairwise(middles)]))
    ends = np.concatenate(parts)
    result = np.zeros((len(ends), 2, 3))
    result[:, :, : ends.shape[2]] = ends
    return result


def _lengths(directions: FloatArray) -> FloatArray:
    return np.sqrt((directions * directions).sum(axis=1))


def _middle(ends: FloatArray) -> FloatArray:
    """Return the middle of segments weighted by length, or the mean of points."""
    first = ends[0, 0]
    weights = _lengths(ends[:, 1] - ends[:, 0])
    if not weights.sum() > 0.0:
        weights = np.ones(len(ends))
    return first + weights @ ((ends - first).mean(axis=1)) / weights.sum()


def _third_moments(ends: FloatArray, middle: FloatArray, axes: FloatArray, size: float) -> FloatArray:
    weights = _lengths((ends[:, 1] - ends[:, 0]) / size)
    return weights @ (((ends.mean(axis=1) - middle) / size) @ axes.T) ** 3 / max(weights.sum(), 1.0)


def _main_direction(directions: FloatArray, apart: FloatArray) -> FloatArray | None:
    """Return the unit vector of the largest total length of `directions` (k, 3); None when all are zero."""
    lengths = _lengths(directions)
    longest = np.argsort(-lengths, kind="stable")[:_CANDIDATES]
    longest = longest[lengths[longest] > _FRAME_ALIKE]
    if not len(longest):
        return None
    units = directions[longest] / lengths[longest, None]
    along = np.abs(units @ directions.T) >= lengths * (1.0 - _FRAME_PARALLEL)
    totals = along @ lengths
    best = np.flatnonzero(totals >= totals.max() * (1.0 - _FRAME_ALIKE))
    ahead = np.abs(units[best] @ apart)
    return units[best[int((ahead >= ahead.max() * (1.0 - _FRAME_ALIKE)).argmax())]]
