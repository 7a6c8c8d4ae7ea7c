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
from ..runs import chunks
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
    parts = [_clip(a, b, pairs[part], part.start, gap, tolerance, width) for part in chunks(len(pairs), _CHUNK)]
    if not parts:
        parts = [_clip(a, b, pairs, 0, gap, tolerance, width)]
    found, tags, missed = (list(column) for column in zip(*parts, strict=True))
    facing = Facing(*(np.concatenate(column) for column in zip(*found, strict=True)))
    parallel = np.zeros(len(pairs), dtype=np.bool_)
    parallel[np.concatenate(missed)] = True
    return _joined(facing, np.concatenate(tags), a, b), parallel


def _clip(
    a: Body, b: Body, pairs: IntArray, start: int, gap: float, tolerance: float, width: float
) -> tuple[Facing, BoolArray, IntArray]:
    """Return what faces each other of some pairs, not yet joined, on which sides (k, 8, 2, 3) of the triangles of A and
    B each side is, and which pairs do not meet though they are parallel, counted from `start`."""
    normal_a, normal_b = a.normals(pairs[:, 0]), b.normals(pairs[:, 1])
    cosine = np.einsum("ij,ij->i", normal_a, normal_b)
    if not a.solid and not b.solid:
        normal_b = normal_b * np.where(cosine > 0.0, -1.0, 1.0)[:, None]
    elif not a.solid:
        normal_a = normal_a * np.where(cosine > 0.0, -1.0, 1.0)[:, None]
    elif not b.solid:
        normal_b = normal_b * np.where(cosine > 0.0, -1.0, 1.0)[:, None]
    across = cross_last(normal_a, normal_b)
    sine = np.sqrt(np.einsum("ij,ij->i", across, across))
    p, q = (
        body.mesh.points.take(body.mesh.triangles.take(row, axis=0), axis=0)
        for body, row in ((a, pairs[:, 0]), (b, pairs[:, 1]))
    )
    size = np.minimum(*(np.abs(rows - rows[:, :1]).max(axis=(1, 2)) for rows in (p, q)))
    opposed = np.einsum("ij,ij->i", normal_a, normal_b) < 0.0
    near = np.flatnonzero(opposed & (sine <= _NEARLY) & ((sine <= _FACING) | (sine * size <= tolerance)))
    p, q, normal_a, normal_b = (
        p.take(near, axis=0),
        q.take(near, axis=0),
        normal_a.take(near, axis=0),
        normal_b.take(near, axis=0),
    )
    normal = normal_a - normal_b
    normal /= np.sqrt(np.einsum("ij,ij->i", normal, normal))[:, None]
    origin = p[:, 0].copy()
    p, turned_a = _wound(p - origin[:, None], normal)
    q, turned_b = _wound(q - origin[:, None], normal)
    # What a plane is above the origin along the normal.
    slope = np.einsum("ij,ij->i", normal, normal_a)
    heights = np.einsum("kij,kj->ki", q, normal_a) / slope[:, None]
    if not (a.solid or b.solid):
        # On the side of A on which B is; where that is unclear, in front.
        back = heights.mean(axis=1) < -tolerance
        normal[back], normal_a[back], normal_b[back], heights[back] = (
            -normal[back],
            -normal_a[back],
            -normal_b[back],
            -heights[back],
        )
        p[back], q[back] = p[back][:, ::-1], q[back][:, ::-1]
        heights[back] = heights[back][:, ::-1]
        turned_a, turned_b = turned_a ^ back, turned_b ^ back
    inward_a, inward_b = _inward(p, normal), _inward(q, normal)
    # Most pairs only come near each other at a side or a corner.
    beside = ((_heights(q, p, inward_a).max(axis=1) <= width) | (_heights(p, q, inward_b).max(axis=1) <= width)).any(
        axis=1
    )
    left = np.flatnonzero(~beside)
    p, q, inward_a, inward_b = (rows.take(left, axis=0) for rows in (p, q, inward_a, inward_b))
    normal, normal_a, origin = (rows.take(left, axis=0) for rows in (normal, normal_a, origin))
    corners, counts = q, np.full(len(left), 3)
    for k in range(3):
        inside = np.einsum("kij,kj->ki", corners - p[:, k, None], inward_a[:, k])
        corners, counts = _cut(corners, counts, inside)
    slope = np.einsum("ij,ij->i", normal, normal_a)
    for sign in (1.0, -1.0):
        heights = np.einsum("kij,kj->ki", corners, normal_a) / slope[:, None]
        corners, counts = _cut(corners, counts, tolerance - sign * (heights - gap))
    areas, _ = _measured(corners, counts, normal)
    reach = np.abs(corners - corners[:, :1]).max(axis=(1, 2), initial=0.0)
    wide = np.flatnonzero((counts >= 3) & (areas > width * reach))
    p, q, inward_a, inward_b = (rows.take(wide, axis=0) for rows in (p, q, inward_a, inward_b))
    normal, normal_a, origin, slope = (rows.take(wide, axis=0) for rows in (normal, normal_a, origin, slope))
    counts, areas = counts.take(wide), areas.take(wide)
    corners = corners.take(wide, axis=0)
    corners = np.concatenate([corners, corners[:, :1].repeat(_SIDES - corners.shape[1], axis=1)], axis=1)
    heights = np.einsum("kij,kj->ki", corners, normal_a) / slope[:, None]
    middles = corners - 0.5 * heights[..., None] * normal[:, None]
    _, centroids = _measured(middles, counts, normal)
    chosen = left.take(wide)
    tags = np.stack(
        [
            _on_sides(corners, counts, rows, inward, turned.take(chosen), normal, _SEAM * width)
            for rows, inward, turned in ((p, inward_a, turned_a), (q, inward_b, turned_b))
        ],
        axis=2,
    )
    facing = Facing(
        pairs.take(near.take(chosen), axis=0),
        normal,
        middles + origin[:, None],
        heights,
        counts,
        areas,
        centroids + origin,
        np.zeros((len(wide), _SIDES), dtype=np.bool_),
        np.zeros(len(wide), dtype=np.intp),
    )
    return facing, tags, start + np.delete(near, chosen)


def _heights(points: FloatArray, corners: FloatArray, inward: FloatArray) -> FloatArray:
    """Return (k, n, 3) how far points (k, n, 3) are inside the sides of triangles (k, 3, 3)."""
    foot = np.einsum("kij,kij->ki", corners, inward)
    return np.einsum("kvj,kij->kvi", points, inward) - foot[:, None]


def _measured(corners: FloatArray, counts: IntArray, normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the areas (k,) of polygons across their normals and their centroids (k, 3)."""
    # Corners beyond the last are the first: triangles with them have no area.
    valid = np.arange(corners.shape[1]) < counts[:, None]
    away = np.where(valid[..., None], corners - corners[:, :1], 0.0)
    across = cross_last(away[:, 1:-1], away[:, 2:])
    double = np.einsum("kij,kj->ki", across, normal)
    total = double.sum(axis=1)
    sums = np.einsum("ki,kij->kj", double, away[:, 1:-1] + away[:, 2:])
    centroids = corners[:, 0] + sums / (3.0 * np.where(total > 0.0, total, 1.0))[:, None]
    return 0.5 * total, centroids


def _wound(corners: FloatArray, normal: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return triangles (k, 3, 3) counter-clockwise about the normals, and which were turned over for that: the last
    corner first."""
    double = np.einsum("ij,ij->i", cross_last(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), normal)
    turned = double < 0.0
    return np.where(turned[:, None, None], corners[:, ::-1], corners), turned


def _inward(corners: FloatArray, normal: FloatArray) -> FloatArray:
    """Return (k, 3, 3) unit vectors across the normal and the sides of triangles, to the inside."""
    sides = np.roll(corners, -1, axis=1) - corners
    inward = cross_last(normal[:, None], sides)
    length = np.sqrt(np.einsum("kij,kij->ki", inward, inward))
    return inward / np.where(length > 0.0, length, 1.0)[..., None]


def _next(counts: IntArray, most: int) -> IntArray:
    """Return (k, most) the place of the corner after each."""
    places = np.arange(1, most + 1)
    return np.where(places < counts[:, None], places, 0)


def _cut(corners: FloatArray, counts: IntArray, inside: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return convex polygons (k, n, 3) without what is on the negative side of a line, by the heights (k, n) of their
    corners, and how many corners they have then (Sutherland and Hodgman). Corners beyond the last are the first."""
    number, most = inside.shape
    if number == 0 or float(inside.min()) >= 0.0:
        return corners, counts
    valid = np.arange(most) < counts[:, None]
    beyond = np.take_along_axis(inside, _next(counts, most), axis=1)
    crossed = valid & (inside * beyond < 0.0)
    kept = valid & (inside >= 0.0)
    ends = np.cumsum(np.stack([kept, crossed], axis=2).reshape(number, 2 * most), axis=1).reshape(number, most, 2)
    size = min(most + 1, _SIDES)
    total = np.minimum(ends[:, -1, 1], size)
    result = np.empty((number, size, 3))
    result[:] = corners[:, :1]
    k, i = np.nonzero(kept & (ends[..., 0] <= size))
    result[k, ends[k, i, 0] - 1] = corners[k, i]
    k, i = np.nonzero(crossed & (ends[..., 1] <= size))
    j = np.where(i + 1 < counts[k], i + 1, 0)
    before, after = inside[k, i], inside[k, j]
    fraction = before / (before - after)
    result[k, ends[k, i, 1] - 1] = corners[k, i] + fraction[:, None] * (corners[k, j] - corners[k, i])
    unused = np.arange(size) >= total[:, None]
    result = np.where(unused[..., None], result[:, :1], result)
    return result, total


def _on_sides(
    corners: FloatArray,
    counts: IntArray,
    rows: FloatArray,
    inward: FloatArray,
    turned: BoolArray,
    normal: FloatArray,
    width: float,
) -> BoolArray:
    """Return (k, 8, 3) on which sides of its triangle, in the order of the mesh, each side of a polygon is."""
    following = _next(counts, corners.shape[1])[..., None]
    away = np.abs(_heights(corners, rows, inward)) <= width
    forward = np.einsum("kvj,kij->kvi", corners, cross_last(inward, normal[:, None]))
    ahead = np.take_along_axis(forward, following, axis=1) > forward
    found = away & np.take_along_axis(away, following, axis=1) & ahead
    found &= (np.arange(corners.shape[1]) < counts[:, None])[..., None]
    # A triangle turned over has its corners in the order 2, 1, 0: its side 0 is the mesh's side 1, from 1 to 2.
    return np.where(turned[:, None, None], found[..., [1, 0, 2]], found)


def _joined(facing: Facing, tags: BoolArray, a: Body, b: Body) -> Facing:
    """Return polygons with what is outer and which are connected."""
    count = len(facing.pairs)
    stride = len(b.mesh.triangles)
    codes = facing.pairs[:, 0] * stride + facing.pairs[:, 1]
    k, side = np.nonzero(np.arange(_SIDES) < facing.counts[:, None])
    beside = [_neighbours(body, facing.pairs[:, row]) for row, body in enumerate((a, b))]
    inner = np.zeros((count, _SIDES), dtype=np.bool_)
    links = [np.zeros((0, 2), dtype=np.intp)]
    tag_a, tag_b = tags[k, side, 0], tags[k, side, 1]
    other_a = np.where(tag_a.any(axis=1), beside[0][k, tag_a.argmax(axis=1)], -1)
    other_b = np.where(tag_b.any(axis=1), beside[1][k, tag_b.argmax(axis=1)], -1)
    for p, q in ((other_a, facing.pairs[k, 1]), (facing.pairs[k, 0], other_b), (other_a, other_b)):
        wanted = np.where((p >= 0) & (q >= 0), p * stride + q, -1)
        place = np.minimum(np.searchsorted(codes, wanted), max(count - 1, 0))
        met = np.flatnonzero((wanted >= 0) & (codes[place] == wanted)) if count else np.zeros(0, dtype=np.intp)
        # Around a bend, as in the corner of a crate, the outline ends.
        alike = np.einsum("ij,ij->i", facing.normals[k[met]], facing.normals[place[met]]) > ALIKE
        met = met[alike]
        inner[k[met], side[met]] = True
        links.append(np.stack([k[met], place[met]], axis=1))
    outer = ~inner & (np.arange(_SIDES) < facing.counts[:, None])
    return facing._replace(outer=outer, parts=connected_parts(np.concatenate(links), count))


def _neighbours(body: Body, triangles: IntArray) -> IntArray:
    """Return (k, 3) the triangles beyond the sides of some triangles, from a corner to the next, of those among them;
    -1 where there is none."""
    mesh = body.mesh
    used, place = np.unique(triangles, return_inverse=True)
    corners = mesh.triangles.take(used, axis=0)
    names, where = np.unique(corners, return_inverse=True)
    points = welded_ids(mesh.points.take(names, axis=0)).take(where.ravel()).reshape(-1, 3)
    ends = np.sort(np.stack([points, np.roll(points, -1, axis=1)], axis=2), axis=2)
    codes = (ends[..., 0] * (len(names) + 1) + ends[..., 1]).ravel()
    order = np.argsort(codes, kind="stable")
    ranked = codes.take(order)
    first = np.flatnonzero(np.diff(ranked, prepend=-1))
    size = np.diff(np.append(first, len(ranked)))
    run = np.repeat(np.arange(len(first)), size)
    following = np.arange(len(ranked)) + 1
    following = np.where(following < (first + size)[run], following, first[run])
    result = np.full(len(codes), -1)
    result[order] = np.where(size[run] > 1, used.take(order.take(following) // 3), -1)
    return result.reshape(-1, 3).take(place.ravel(), axis=0)
