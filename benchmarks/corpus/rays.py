# SPDX-License-Identifier: GPL-3.0-or-later
"""When the surfaces of two meshes meet while one moves along a ray: exact but for rounding, compiled by numba.

Of each two triangles it is one interval of the ray: where it is inside the convex set of all translations at which they
have a common point. It is cut out by eleven pairs of planes: across both normals and all products of sides.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BINS = 1024
"""Equal parts of a ray: what is known to meet on all of some is not searched again."""
FINE = 0.7
"""Cells of a grid along the mean size of a triangle."""
PARALLEL = 1e-24
"""Times the squares of two sides: their product, squared, below which they count as parallel and cut nothing off."""


@njit(cache=True, inline="always")
def _axis(a, b, axis):  # type: ignore[no-untyped-def]
    """One of eleven normals of two triangles (3, 3): of the first, the second, or a side of each; 0 if parallel."""
    if axis < 2:
        t = a if axis == 0 else b
        px, py, pz = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
        qx, qy, qz = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
    else:
        k, m = (axis - 2) // 3, (axis - 2) % 3
        k2, m2 = (k + 1) % 3, (m + 1) % 3
        px, py, pz = a[k2, 0] - a[k, 0], a[k2, 1] - a[k, 1], a[k2, 2] - a[k, 2]
        qx, qy, qz = b[m2, 0] - b[m, 0], b[m2, 1] - b[m, 1], b[m2, 2] - b[m, 2]
    x, y, z = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    if x * x + y * y + z * z <= PARALLEL * (px * px + py * py + pz * pz) * (qx * qx + qy * qy + qz * qz):
        return 0.0, 0.0, 0.0
    return x, y, z


@njit(cache=True)
def _beside(a, b):  # type: ignore[no-untyped-def]
    """Whether a side of the first of two triangles, seen along z, has all of the second on its other side."""
    for k in range(3):
        m, o = (k + 1) % 3, (k + 2) % 3
        nx, ny = a[m, 1] - a[k, 1], a[k, 0] - a[m, 0]
        level = nx * a[k, 0] + ny * a[k, 1]
        own = nx * a[o, 0] + ny * a[o, 1] - level
        p = nx * b[0, 0] + ny * b[0, 1] - level
        q = nx * b[1, 0] + ny * b[1, 1] - level
        r = nx * b[2, 0] + ny * b[2, 1] - level
        if (own > 0.0 and p < 0.0 and q < 0.0 and r < 0.0) or (own < 0.0 and p > 0.0 and q > 0.0 and r > 0.0):
            return True
    return False


@njit(cache=True)
def _interval(a, b, reach):  # type: ignore[no-untyped-def]
    """When two triangles meet while the second moves up z from 0 to `reach`, and the axis of what begins it, or -1."""
    low, high, first = 0.0, reach, -1
    for axis in range(11):
        x, y, z = _axis(a, b, axis)
        if x == 0.0 and y == 0.0 and z == 0.0:
            continue
        a0 = x * a[0, 0] + y * a[0, 1] + z * a[0, 2]
        a1 = x * a[1, 0] + y * a[1, 1] + z * a[1, 2]
        a2 = x * a[2, 0] + y * a[2, 1] + z * a[2, 2]
        b0 = x * b[0, 0] + y * b[0, 1] + z * b[0, 2]
        b1 = x * b[1, 0] + y * b[1, 1] + z * b[1, 2]
        b2 = x * b[2, 0] + y * b[2, 1] + z * b[2, 2]
        below = min(a0, a1, a2) - max(b0, b1, b2)
        above = max(a0, a1, a2) - min(b0, b1, b2)
        if z > 0.0:
            begin, end = below / z, above / z
        elif z < 0.0:
            begin, end = above / z, below / z
        elif below <= 0.0 <= above:
            continue
        else:
            return 1.0, -1.0, -1
        if begin > low:
            low, first = begin, axis
        high = min(high, end)
        if low > high:
            return 1.0, -1.0, -1
    return low, high, first


@njit(cache=True)
def _next(after, part):  # type: ignore[no-untyped-def]
    """The first part of a ray from this one on that is not covered."""
    first = part
    while after[first] != first:
        first = after[first]
    while part < first:
        onward = after[part]
        after[part] = first
        part = onward
    return first


@njit(cache=True)
def _turn(triangles, start, frame, turned, boxes):  # type: ignore[no-untyped-def]
    """Move triangles by `start` and into a frame; and their boxes (k, 6): lows, then highs."""
    for t in range(len(triangles)):
        for c in range(3):
            low, high = np.inf, -np.inf
            for k in range(3):
                x = (
                    frame[c, 0] * (triangles[t, k, 0] + start[0])
                    + frame[c, 1] * (triangles[t, k, 1] + start[1])
                    + frame[c, 2] * (triangles[t, k, 2] + start[2])
                )
                turned[t, k, c] = x
                low, high = min(low, x), max(high, x)
            boxes[t, c], boxes[t, 3 + c] = low, high


@njit(cache=True)
def meetings(tris_a, tris_b, start, ray, reach, first_only):  # type: ignore[no-untyped-def]
    """The intervals (k, 2) in which any two triangles meet while B moves from `start` by `reach` along a unit vector.

    With `first_only` the beginning of the first alone, and a normal of the planes that begin it.
    """
    frame = np.empty((3, 3))
    least = np.abs(ray).argmin()
    across = np.zeros(3)
    across[least] = 1.0
    u = np.cross(ray, across)
    u /= np.sqrt((u * u).sum())
    frame[0], frame[1], frame[2] = u, np.cross(ray, u), ray
    boxes_a, boxes_b = np.empty((len(tris_a), 6)), np.empty((len(tris_b), 6))
    turned_a, turned_b = np.empty_like(tris_a), np.empty_like(tris_b)
    _turn(tris_a, np.zeros(3), frame, turned_a, boxes_a)
    _turn(tris_b, start, frame, turned_b, boxes_b)
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    for c in range(3):
        more = reach if c == 2 else 0.0
        low[c] = max(boxes_a[:, c].min(), boxes_b[:, c].min())
        high[c] = min(boxes_a[:, 3 + c].max(), boxes_b[:, 3 + c].max() + more)
    kept_a = np.empty(len(tris_a), np.int64)
    count = 0
    size_u = size_v = 0.0
    for t in range(len(tris_a)):
        b = boxes_a[t]
        if (b[:3] <= high).all() and (b[3:] >= low).all():
            kept_a[count] = t
            count += 1
            size_u += b[3] - b[0]
            size_v += b[4] - b[1]
    found = np.empty((1024, 2))
    k = 0
    normal, nearest = np.zeros(3), reach
    # Of each part of the ray the next that is not covered, itself if it is not.
    after = np.arange(BINS + 1)
    scale = BINS / reach
    if count == 0:
        return found[:0], nearest, normal
    wide, tall = max(high[0] - low[0], 1e-300), max(high[1] - low[1], 1e-300)
    nu = max(1, min(400, int(FINE * wide / (size_u / count + 1e-300)) + 1))
    nv = max(1, min(400, int(FINE * tall / (size_v / count + 1e-300)) + 1))
    su, sv = nu / wide, nv / tall
    heads = np.zeros(nu * nv + 1, np.int64)
    for turn in range(2):
        if turn == 1:
            for c in range(nu * nv):
                heads[c + 1] += heads[c]
            items = np.empty(heads[nu * nv], np.int64)
            fill = heads[:-1].copy()
        for n in range(count):
            b = boxes_a[kept_a[n]]
            for i in range(max(0, int((b[0] - low[0]) * su)), min(nu - 1, int((b[3] - low[0]) * su)) + 1):
                for j in range(max(0, int((b[1] - low[1]) * sv)), min(nv - 1, int((b[4] - low[1]) * sv)) + 1):
                    c = i * nv + j
                    if turn == 0:
                        heads[c + 1] += 1
                    else:
                        items[fill[c]] = kept_a[n]
                        fill[c] += 1
    for t in range(len(tris_b)):
        b = boxes_b[t]
        if b[0] > high[0] or b[3] < low[0] or b[1] > high[1] or b[4] < low[1] or b[5] + reach < low[2]:
            continue
        if b[2] > high[2]:
            continue
        for i in range(max(0, int((b[0] - low[0]) * su)), min(nu - 1, int((b[3] - low[0]) * su)) + 1):
            for j in range(max(0, int((b[1] - low[1]) * sv)), min(nv - 1, int((b[4] - low[1]) * sv)) + 1):
                for item in range(heads[i * nv + j], heads[i * nv + j + 1]):
                    a = boxes_a[items[item]]
                    if a[0] > b[3] or b[0] > a[3] or a[1] > b[4] or b[1] > a[4]:
                        continue
                    if b[2] > a[5] or b[5] + nearest < a[2]:
                        continue
                    # In the one cell of several that has the corner of what the boxes have in common.
                    cu, cv = max(a[0], b[0]), max(a[1], b[1])
                    if min(nu - 1, max(0, int((cu - low[0]) * su))) != i:
                        continue
                    if min(nv - 1, max(0, int((cv - low[1]) * sv))) != j:
                        continue
                    if not first_only:
                        part = max(0, int((a[2] - b[5]) * scale))
                        if _next(after, part) > min(BINS - 1, int((a[5] - b[2]) * scale)):
                            continue
                    tri_a, tri_b = turned_a[items[item]], turned_b[t]
                    if _beside(tri_a, tri_b) or _beside(tri_b, tri_a):
                        continue
                    begin, end, axis = _interval(tri_a, tri_b, nearest)
                    if begin > end:
                        continue
                    if first_only:
                        if axis < 0:
                            return found[:0], 0.0, np.zeros(3)
                        nearest = begin
                        x, y, z = _axis(tri_a, tri_b, axis)
                        normal = x * frame[0] + y * frame[1] + z * frame[2]
                        continue
                    if k == len(found):
                        more_room = np.empty((2 * k, 2))
                        more_room[:k] = found
                        found = more_room
                    found[k, 0], found[k, 1] = begin, end
                    k += 1
                    part = _next(after, int(np.ceil(begin * scale)))
                    last = BINS if end >= reach else int(end * scale)
                    while part < last:
                        after[part] = part + 1
                        part = _next(after, part)
                    if _next(after, 0) == BINS:
                        found[0, 0], found[0, 1] = 0.0, reach
                        return found[:1], nearest, normal
    return found[:k], nearest, normal


@njit(cache=True)
def gaps(tris_a, tris_b, start, ray, reach, least):  # type: ignore[no-untyped-def]
    """The intervals (k, 2), in order and at least so long, of 0 to `reach` in which no two triangles meet."""
    found, _, _ = meetings(tris_a, tris_b, start, ray, reach, False)
    order = np.argsort(found[:, 0])
    result = np.empty((len(found) + 1, 2))
    k = 0
    covered = 0.0
    for n in order:
        if found[n, 0] - covered > least:
            result[k, 0], result[k, 1] = covered, found[n, 0]
            k += 1
        covered = max(covered, found[n, 1])
    if reach - covered > least:
        result[k, 0], result[k, 1] = covered, reach
        k += 1
    return result[:k]


@njit(cache=True)
def turns_around(triangles, point):  # type: ignore[no-untyped-def]
    """How many times a closed surface winds around a point: 1 inside, 0 outside."""
    total = 0.0
    x, y, z = point[0], point[1], point[2]
    for t in range(len(triangles)):
        c = triangles[t]
        ax, ay, az = c[0, 0] - x, c[0, 1] - y, c[0, 2] - z
        bx, by, bz = c[1, 0] - x, c[1, 1] - y, c[1, 2] - z
        cx, cy, cz = c[2, 0] - x, c[2, 1] - y, c[2, 2] - z
        la = np.sqrt(ax * ax + ay * ay + az * az)
        lb = np.sqrt(bx * bx + by * by + bz * bz)
        lc = np.sqrt(cx * cx + cy * cy + cz * cz)
        volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
        total += np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
    return total / (2.0 * np.pi)
