# SPDX-License-Identifier: GPL-3.0-or-later
"""Where triangles of two meshes face each other within a tolerance: convex polygons, clipped many pairs at a time.

Two triangles that face each other are projected along their common normal, and one is clipped by the sides of the
other, then by where the gap between their planes is as wide as asked for. Of the sides of the polygons those are the
outline of all that have no neighbour beyond: no union of polygons is made. Source: S2.5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..connected import connected_parts
from ..runs import chunks, next_in_loops
from ..tolerance import EPS, REGION_ROUNDING
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross_last
from .body import Body
from .copies import welded_ids

_FACING = 1e-3
"""Sine of the angle between two triangles up to which they face each other, whatever their size. Others do where one
of them is so small that it does not leave the tolerance."""
_NEARLY = 0.5
"""Sine beyond which none do."""
ALIKE = 0.5
"""Cosine of the angle between the normals of polygons up to which one continues, or may lie on, the other."""
_SEAM = 4.0
"""Times the width of what is left out: sides this near to a line are on it."""
_CHUNK = 1 << 13
"""Pairs in one go."""
_SIDES = 8
"""Most corners of a triangle clipped by five lines."""
AFTER = np.array([1, 2, 3, 4, 5, 6, 7, 0])
"""The corner after each of eight."""
_CYCLE = np.array([1, 2, 0])
"""The corner after each of a triangle."""
AFTER = np.array([1, 2, 3, 4, 5, 6, 7, 0])
"""The corner after each of eight."""
_CYCLE = np.array([1, 2, 0])
"""The corner after each of a triangle."""


class Facing(NamedTuple):
    """Where k pairs of triangles face each other: a convex polygon each, half-way between both."""

    pairs: IntArray
    """(k, 2) of a triangle of A and one of B, in ascending order."""
    normals: FloatArray
    """(k, 3) unit vectors from A to B, between the normals of both."""
    corners: FloatArray
    """(k, 8, 3) counter-clockwise about the normal; beyond `counts` the first again."""
    gaps: FloatArray
    """(k, 8) how far B is from A at the corners, along the normal."""
    counts: IntArray
    """(k,) number of corners."""
    areas: FloatArray
    """(k,) across the normal."""
    centroids: FloatArray
    """(k, 3)."""
    outer: BoolArray
    """(k, 8) whether the side from a corner to the next is part of the outline of all polygons."""
    parts: IntArray
    """(k,) the first of the polygons that each is connected with across sides."""

    def take(self, chosen: IntArray) -> Facing:
        """Return some of them."""
        return Facing._make(column.take(chosen, axis=0) for column in self)


def facing_triangles(a: Body, b: Body, pairs: IntArray, gap: float, tolerance: float) -> tuple[Facing, BoolArray]:
    """Return where pairs of triangles (k, 2), in ascending order, face each other and their planes are `gap` apart, to
    the tolerance: above 0 with room between, below 0 as deep in each other. Also which pairs (k,) do not, but are
    nearly parallel.

    Solids face each other with the outer sides of their triangles, bare surfaces with any. Of two bare surfaces the
    normals are those of A's triangles or opposite, by the side on which B is.
    """
    width = REGION_ROUNDING * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    parts = [_clip(a, b, pairs[part], gap, tolerance, width) for part in chunks(max(len(pairs), 1), _CHUNK)]
    found, tags, parallel = zip(*parts, strict=True)
    facing = Facing(*(np.concatenate(column) for column in zip(*found, strict=True)))
    return _joined(facing, np.concatenate(tags, axis=1), a, b), np.concatenate(parallel)


def _clip(
    a: Body, b: Body, pairs: IntArray, gap: float, tolerance: float, width: float
) -> tuple[Facing, BoolArray, BoolArray]:
    """Return what faces each other of some pairs, not yet joined, on which sides (2, k, 8, 3) of the triangles of A and
    B each side is, and which pairs (k,) do not meet though they are parallel."""
    normal_a, normal_b = a.normals(pairs[:, 0]), b.normals(pairs[:, 1])
    cosine = np.einsum("ij,ij->i", normal_a, normal_b)
    # Which triangles are clockwise about the normal from A to B.
    turned = np.array([[a.outward < 0.0], [b.outward > 0.0]]).repeat(len(pairs), axis=1)
    if not (a.solid and b.solid):
        is_bare, normals = (turned[0], normal_a) if b.solid else (turned[1], normal_b)
        alike = cosine > 0.0
        normals[alike] *= -1.0
        is_bare ^= alike
        cosine = -np.abs(cosine)
    total = normal_a + normal_b
    square = np.einsum("ij,ij->i", total, total)
    sine = np.sqrt(square * (1.0 - 0.25 * square).clip(0.0))
    near = np.flatnonzero((cosine < 0.0) & (sine <= _NEARLY))
    sine = sine.take(near)
    rows = np.stack(
        [
            body.mesh.points.take(body.mesh.triangles.take(row.take(near), axis=0), axis=0)
            for body, row in ((a, pairs[:, 0]), (b, pairs[:, 1]))
        ]
    )
    if sine.max(initial=0.0) > _FACING:
        size = np.abs(rows - rows[:, :, :1]).max(axis=(2, 3)).min(axis=0)
        left = np.flatnonzero((sine <= _FACING) | (sine * size <= tolerance))
        near, rows = near.take(left), rows.take(left, axis=1)
    parallel = np.zeros(len(pairs), dtype=np.bool_)
    parallel[near] = True
    normal_a, turned = normal_a.take(near, axis=0), turned.take(near, axis=1)
    normal = normal_a - normal_b.take(near, axis=0)
    normal /= np.sqrt(np.einsum("ij,ij->i", normal, normal))[:, None]
    origin = rows[0, :, 0].copy()
    rows -= origin[:, None]
    # How far B is above A's plane along the normal.
    above = normal_a / np.einsum("ij,ij->i", normal, normal_a)[:, None]
    if not (a.solid or b.solid):
        # On the side of A on which B is; where that is unclear, in front.
        back = np.einsum("kij,kj->ki", rows[1], above).mean(axis=1) < -tolerance
        for columns in (normal, above):
            columns[back] *= -1.0
        turned ^= back
    rows = np.where(turned[..., None, None], rows[:, :, ::-1], rows)
    inward = _inward(rows, normal)
    inside = _inside(rows[::-1], rows, inward)
    # Most pairs only come near each other at a side or a corner.
    left = np.flatnonzero((inside.max(axis=2) > width).all(axis=(0, 2)))
    rows, inward = rows.take(left, axis=1), inward.take(left, axis=1)
    normal, above = normal.take(left, axis=0), above.take(left, axis=0)
    corners, counts = rows[1], np.full(len(left), 3)
    for k in np.flatnonzero((inside[0].take(left, axis=0) < 0.0).any(axis=(0, 1))).tolist():
        off = np.einsum("kij,kj->ki", corners - rows[0, :, k, None], inward[0, :, k])
        corners, counts = _cut(corners, counts, off)
    for sign in (1.0, -1.0):
        off = np.einsum("kij,kj->ki", corners, above) - gap
        corners, counts = _cut(corners, counts, tolerance - sign * off)
    corners = np.concatenate([corners, corners[:, :1].repeat(_SIDES - corners.shape[1], axis=1)], axis=1)
    heights = np.einsum("kij,kj->ki", corners, above)
    middles = corners - 0.5 * heights[..., None] * normal[:, None]
    areas, centroids, reach = _measured(middles, normal)
    wide = np.flatnonzero((counts >= 3) & (areas > width * reach))
    left, counts = left.take(wide), counts.take(wide)
    normal, corners = normal.take(wide, axis=0), corners.take(wide, axis=0)
    tags = _on_sides(corners, counts, rows.take(wide, axis=1), inward.take(wide, axis=1), normal, _SEAM * width)
    # A triangle turned over has its corners in the order 2, 1, 0: its side 0 is the mesh's side 1, from 1 to 2.
    tags = np.where(turned.take(left, axis=1)[..., None, None], tags[..., [1, 0, 2]], tags)
    chosen, origin = near.take(left), origin.take(left, axis=0)
    parallel[chosen] = False
    facing = Facing(
        pairs.take(chosen, axis=0),
        normal,
        middles.take(wide, axis=0) + origin[:, None],
        heights.take(wide, axis=0),
        counts,
        areas.take(wide),
        centroids.take(wide, axis=0) + origin,
        np.arange(_SIDES) < counts[:, None],
        np.arange(len(wide)),
    )
    return facing, tags, parallel


def _inside(points: FloatArray, corners: FloatArray, inward: FloatArray) -> FloatArray:
    """Return (2, k, n, 3) how far points (2, k, n, 3) are inside the sides of triangles (2, k, 3, 3)."""
    return np.asarray(np.einsum("skvij,skij->skvi", points[:, :, :, None] - corners[:, :, None], inward))


def _measured(corners: FloatArray, normal: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the areas (k,) of polygons across their normals, their centroids (k, 3), and how far along an axis a
    corner is from the first."""
    # Corners beyond the last are the first: triangles with them have no area.
    away = corners - corners[:, :1]
    double = np.einsum("kij,kj->ki", cross_last(away[:, 1:-1], away[:, 2:]), normal)
    total = double.sum(axis=1)
    sums = np.einsum("ki,kij->kj", double, away[:, 1:-1] + away[:, 2:])
    centroids = corners[:, 0] + sums / (3.0 * np.where(total > 0.0, total, 1.0))[:, None]
    return 0.5 * total, centroids, np.abs(away).max(axis=(1, 2))


def _inward(corners: FloatArray, normal: FloatArray) -> FloatArray:
    """Return (2, k, 3, 3) unit vectors across the normals and the sides of triangles, to the inside."""
    inward = cross_last(normal[:, None], corners.take(_CYCLE, axis=2) - corners)
    length = np.sqrt(np.einsum("skij,skij->ski", inward, inward))
    return inward / np.where(length > 0.0, length, 1.0)[..., None]


def _cut(corners: FloatArray, counts: IntArray, inside: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return convex polygons (k, n, 3) without what is on the negative side of a line, by the heights (k, n) of their
    corners, and how many corners they have then (Sutherland and Hodgman). Corners beyond the last are the first."""
    if not (inside < 0.0).any():
        return corners, counts
    number, most = inside.shape
    after = np.arange(1, most + 1) % most
    following, beyond = corners.take(after, axis=1), inside.take(after, axis=1)
    valid = np.arange(most) < counts[:, None]
    crossed = valid & (inside * beyond < 0.0)
    fraction = np.divide(inside, inside - beyond, out=np.zeros_like(inside), where=crossed)[..., None]
    both = np.stack([corners, corners + fraction * (following - corners)], axis=2).reshape(number, 2 * most, 3)
    chosen = np.stack([valid & (inside >= 0.0), crossed], axis=2).reshape(number, 2 * most)
    size = min(most + 1, _SIDES)
    order = np.argsort(~chosen, axis=1, kind="stable")[:, :size]
    total = np.minimum(chosen.sum(axis=1), size)
    order = np.where(np.arange(size) < total[:, None], order, order[:, :1])
    return both[np.arange(number)[:, None], order], total


def _on_sides(
    corners: FloatArray, counts: IntArray, rows: FloatArray, inward: FloatArray, normal: FloatArray, width: float
) -> BoolArray:
    """Return (2, k, 8, 3) on which sides of two triangles each side of a polygon is."""
    away = np.abs(_inside(corners[None], rows, inward)) <= width
    forward = np.einsum("kvj,skij->skvi", corners, cross_last(inward, normal[:, None]))
    found = away & away.take(AFTER, axis=2) & (forward.take(AFTER, axis=2) > forward)
    return np.asarray(found & (np.arange(_SIDES) < counts[:, None])[..., None])


def _joined(facing: Facing, tags: BoolArray, a: Body, b: Body) -> Facing:
    """Return polygons with what is outer and which are connected."""
    count = len(facing.pairs)
    if count < 2:
        return facing
    # Triangles of B are counted on from those of A.
    stride = len(a.mesh.triangles) + len(b.mesh.triangles)
    named = facing.pairs + np.array([0, len(a.mesh.triangles)])
    codes = named @ [stride, 1]
    k, side = np.nonzero(facing.outer)
    beside, own = _neighbours(a, b, named)[:, k], named.T[:, k]
    tags = tags[:, k, side]
    other = np.where(tags.any(axis=2), beside[[[0], [1]], np.arange(len(k)), tags.argmax(axis=2)], own)
    wanted = np.stack([other[0], own[0], other[0]]) * stride + np.stack([own[1], other[1], other[1]])
    place = np.minimum(codes.searchsorted(wanted), count - 1)
    # Around a bend, as in the corner of a crate, the outline ends.
    alike = np.einsum("ij,lij->li", facing.normals[k], facing.normals[place]) > ALIKE
    row, met = np.nonzero((codes[place] == wanted) & (place != k) & alike)
    facing.outer[k[met], side[met]] = False
    return facing._replace(parts=connected_parts(np.stack([k[met], place[row, met]], axis=1), count))


def _neighbours(a: Body, b: Body, pairs: IntArray) -> IntArray:
    """Return (2, k, 3) the triangles beyond the sides of those of pairs (k, 2), from a corner to the next, of those
    among them; the triangle itself where there is none. Those of B are counted on from those of A."""
    count = len(a.mesh.triangles)
    used, place = np.unique(pairs.T, return_inverse=True)
    first = used.searchsorted(count)
    corners = [
        body.mesh.points.take(body.mesh.triangles.take(own, axis=0), axis=0)
        for body, own in ((a, used[:first]), (b, used[first:] - count))
    ]
    names = welded_ids(np.concatenate(corners).reshape(-1, 3)).reshape(-1, 3)
    names[first:] += names.size
    ends = np.sort(np.stack([names, names.take(_CYCLE, axis=1)], axis=2), axis=2)
    codes = (ends @ [2 * names.size, 1]).ravel()
    order = np.argsort(codes, kind="stable")
    runs = np.flatnonzero(np.diff(codes.take(order), prepend=-1, append=-1))
    result = np.empty_like(order)
    result[order] = used.take(order.take(next_in_loops(np.diff(runs))) // 3)
    return result.reshape(-1, 3).take(place.reshape(pairs.T.shape), axis=0)
