# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat patches of a surface: neighbouring triangles in one plane that together are a convex polygon."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from ..connected import connected_parts
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross, dot, length
from .surface import Surface

_TILT = 1e-5
"""Sine between neighbours that may be in one patch: single precision tilts the triangles of fine grids."""
_CORNER = 1e-3
"""Radians: a border that turns by less goes straight on, but for rounding."""
_FLAT = 1e-6
"""Times the size of the surface: patches are no farther from their polygon."""
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class FlatPatches:
    """A surface with as few triangles as its patches need; its edges do not always meet at their ends."""

    mesh: Surface
    patch: IntArray
    """(k,) a number that all triangles of a patch, and no others, have."""
    slack: FloatArray
    """(k,) how far the polygon of the patch may be from the triangles that it replaces, world units."""


def flat_patches(mesh: Surface) -> FlatPatches:
    """Return a surface with its flat patches as polygons."""
    count = len(mesh.triangles)
    ids = mesh.welded_ids.take(mesh.triangles)
    points = np.ascontiguousarray(((mesh.points - mesh.bounds[0]) / (mesh.unit or 1.0)).T)
    p, q, r = (points.take(ids[:, k], axis=1) for k in range(3))
    normals = cross(q - p, r - p)
    triangle, start, end = np.tile(np.arange(count), 3), ids.T.ravel(), np.roll(ids, -1, axis=1).T.ravel()
    neighbour = _neighbours(triangle, start, end, points.shape[1])
    units = normals / np.maximum(length(normals), _TINY)
    u, v = units.take(triangle, axis=1), units.take(neighbour, axis=1)
    level = np.flatnonzero((length(cross(u, v)) <= _TILT) & (dot(u, v) > 0.0))
    patch = connected_parts(np.stack([triangle, neighbour], axis=1).take(level, axis=0), count)
    along: FloatArray = np.stack([np.bincount(patch, row, count) for row in normals])
    along /= np.maximum(length(along), _TINY)
    of = patch.take(triangle)
    height = dot(along.take(of, axis=1), points.take(start, axis=1))
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, of, height)
    np.maximum.at(high, of, height)
    # The border goes once around the polygon where its straight parts are one loop that turns to the left.
    border = np.flatnonzero((of != patch.take(neighbour)) | (neighbour == triangle))
    of, start, end = of.take(border), start.take(border), end.take(border)
    code, sought = of * points.shape[1] + start, of * points.shape[1] + end
    order = np.argsort(code)
    after = order.take(np.searchsorted(code, sought, sorter=order).clip(max=len(order) - 1))
    before = np.zeros_like(after)
    before[after] = np.arange(len(after))
    is_loop = (code.take(after) == sought) & (after.take(before) == np.arange(len(after)))
    axis, spot = along.take(of, axis=1), points.take(start, axis=1)
    step = spot.take(after, axis=1) - spot
    is_corner = np.abs(_angles(axis, step.take(before, axis=1), step)) > _CORNER
    first, last = _first(is_corner, before), _first(is_corner, after)
    is_loop &= is_corner.take(first) & is_corner.take(last)
    next_corner = last.take(after)
    straight = spot.take(next_corner, axis=1) - spot.take(first, axis=1)
    off = length(cross(spot - spot.take(first, axis=1), straight)) / np.maximum(length(straight), _TINY)
    turn = np.where(is_corner, _angles(axis, straight.take(before, axis=1), straight), 0.0)
    thick = high - low
    np.maximum.at(thick, of, high.take(of) - low.take(of) + 2.0 * off)
    is_flat = (thick <= _FLAT) & (np.abs(np.bincount(of, turn, count) - 2.0 * pi) < 1.0)
    is_flat[of[~is_loop | (turn < 0.0)]] = False
    is_flat &= along.any(axis=0)
    # A fan of each polygon, around the first of its corners.
    corners = np.flatnonzero(is_corner & is_flat.take(of))
    root = np.full(count, len(of))
    np.minimum.at(root, of.take(corners), corners)
    root = root.take(of.take(corners))
    following = next_corner.take(corners)
    fan = np.flatnonzero((corners != root) & (following != root))
    fans = start.take(np.stack([root, corners, following], axis=1).take(fan, axis=0))
    fan_patch = of.take(corners.take(fan))
    alone = np.flatnonzero(~is_flat.take(patch))
    return FlatPatches(
        Surface(mesh.points, np.concatenate([mesh.triangles.take(alone, axis=0), fans])),
        np.concatenate([alone, fan_patch]),
        np.concatenate([np.zeros(len(alone)), thick.take(fan_patch) * mesh.unit]),
    )


def _neighbours(triangle: IntArray, start: IntArray, end: IntArray, count: int) -> IntArray:
    """Return the triangle on the other side of each directed edge, its own where there is not just one."""
    codes, opposite = start * count + end, end * count + start
    order = np.argsort(codes, kind="stable")
    first, last = (np.searchsorted(codes, opposite, side, order) for side in ("left", "right"))
    return np.where(last - first == 1, triangle.take(order.take(first.clip(max=len(order) - 1))), triangle)


def _angles(axis: FloatArray, u: FloatArray, v: FloatArray) -> FloatArray:
    """Return by how much v is to the left of u, seen against an axis; radians."""
    return np.arctan2(dot(axis, cross(u, v)), dot(u, v))


def _first(stops: BoolArray, following: IntArray) -> IntArray:
    """Return the first item that stops, from each one on along `following`; any other one where none does."""
    found = np.where(stops, np.arange(len(stops)), following)
    for _ in range(len(stops).bit_length()):
        found = found.take(found)
    return found
