# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a plane cuts a surface, as lines and filled, to be drawn: in rounded arithmetic, nothing is certified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..connected import connected_parts
from ..runs import ranges
from ..types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CrossSection:
    """The part of a plane that is on a surface, and the part inside of it. World frame."""

    segments: FloatArray
    """(k, 2, 3) where the plane cuts triangles."""
    triangles: FloatArray
    """(m, 3, 3) what closed lines of the cut enclose; of a line that ends at a hole of the surface nothing."""


def cross_section(
    points: FloatArray, triangles: IntArray, point: FloatArray, axes: FloatArray, is_closed: bool = False
) -> CrossSection:
    """Return where a plane cuts the surface of triangles (t, 3) of points (n, 3).

    point: (3,) of the plane. axes: (3, 3) two unit vectors in the plane and its normal, one a row.
    is_closed: the surface is known to be, though corners of triangles may lie on edges of others.
    """
    local = (points - point) @ axes.T
    is_above = local[:, 2] >= 0.0  # a corner in the plane is above it, for all triangles alike
    above = is_above[triangles].sum(axis=1)
    cut = triangles[(above > 0) & (above < 3)]
    # Corners in one place are one: the lines of triangles beside each other are joined there.
    local, numbers = np.unique(local[cut].reshape(-1, 3), axis=0, return_inverse=True)
    cut, is_above = numbers.reshape(-1, 3), local[:, 2] >= 0.0
    corners = is_above[cut]
    # Of each triangle the corner that is alone on its side, then the others in their order.
    alone = (corners == (corners.sum(axis=1) == 1)[:, None]).argmax(axis=1)
    cut = np.take_along_axis(cut, (alone[:, None] + (0, 1, 2)) % 3, axis=1)
    edges = np.sort(cut[:, [[0, 1], [0, 2]]], axis=2)
    edges = np.where(is_above[cut[:, 0]][:, None, None], edges, edges[:, ::-1])  # with the inside on one hand
    start, end = local[edges].transpose(2, 0, 1, 3)
    ends = start + (start[..., 2:] / (start[..., 2:] - end[..., 2:])) * (end - start)
    flat = (ends if is_closed else ends[_closed(edges)])[..., :2]
    if len(flat) and np.ptp(flat[..., 0]) > np.ptp(flat[..., 1]):  # fewer strips for each segment
        filled = _filled(flat[..., ::-1])[..., ::-1]
    else:
        filled = _filled(flat)
    return CrossSection(point + ends[..., :2] @ axes[:2], point + filled @ axes[:2])


def _closed(edges: IntArray) -> IntArray:
    """Return which segments, each from an edge to another (k, 2, 2), are of lines without ends."""
    known, nodes = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)
    nodes = nodes.reshape(-1, 2)
    begun, ended = (np.bincount(side, minlength=len(known)) for side in nodes.T)
    parts = connected_parts(nodes, len(known))
    is_open = np.zeros(len(known), dtype=np.bool_)
    is_open[parts[begun != ended]] = True
    return np.flatnonzero(~is_open[parts[nodes[:, 0]]])


def _filled(ends: FloatArray) -> FloatArray:
    """Return triangles (m, 3, 2) of what segments (k, 2, 2) wind around, in strips between their ends."""
    levels, places = np.unique(ends[..., 1], return_inverse=True)
    places = places.reshape(-1, 2)
    first, last = places.min(axis=1), places.max(axis=1)
    of, strip = np.repeat(np.arange(len(ends)), last - first), ranges(first, last - first)
    (x, y), (to_x, to_y) = ends[of].transpose(1, 2, 0)
    sides = [x + (levels[strip + k] - y) / (to_y - y) * (to_x - x) for k in (0, 1)]
    order = np.lexsort((sides[0] + sides[1], strip))
    strip, low, high = strip[order], sides[0][order], sides[1][order]
    # In each strip the turns cancel, but in those between ends that are in one place but for rounding.
    turns = np.sign(to_y - y)[order]
    before = np.cumsum(turns) - turns
    turns = before + turns - before[np.searchsorted(strip, strip)]
    left = np.flatnonzero((turns[:-1] != 0.0) & (strip[:-1] == strip[1:]))
    bottom, top = levels[strip[left]], levels[strip[left] + 1]
    corners = ((low[left], bottom), (low[left + 1], bottom), (high[left + 1], top), (high[left], top))
    quads = np.stack([np.column_stack(corner) for corner in corners], axis=1)
    return quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 2)
