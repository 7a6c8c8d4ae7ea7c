# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact regions of compounds: one patch per touching pair of pieces, merged where coplanar and adjacent."""

from __future__ import annotations

from math import hypot

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..narrow_phase.gjk import gjk
from ..region.merged_region import MergedRegion, Patch
from ..region.region import RegionKind
from ..shapes.hull import ConvexHull
from ..types import FloatArray, read_only

_ARC_STEPS = 360  # the area of a disk made of pieces is too small by 5e-5 of it
_SAME_WAY = 0.999  # cosine between the normals of patches that may be coplanar; their distances decide

_RANK = {RegionKind.POINT: 0, RegionKind.SEGMENT: 1, RegionKind.POLYGON: 2}


def merged_regions(patches: list[Patch], width: float, rounding: float) -> tuple[MergedRegion, ...]:
    """Return the patches merged into regions, the largest first.

    Patches no farther than `width` from each other's plane, and from each other, belong to one region. Sides of
    neighbours within `rounding` of a line are collinear. World units.
    """
    if not patches:
        return ()
    order = sorted(
        range(len(patches)),
        key=lambda k: (-_RANK[patches[k].region.kind], -patches[k].region.area, -patches[k].region.length, k),
    )
    patches = [patches[k] for k in order]
    groups = _groups(patches, width)
    regions = [_merged([patches[k] for k in group], rounding) for group in groups]
    regions.sort(key=lambda r: (-_RANK[r.kind], -r.area, -r.length))
    return tuple(regions)


def _groups(patches: list[Patch], width: float) -> list[list[int]]:
    """Return the indices of the patches of each region."""
    parent = list(range(len(patches)))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    low = np.array([patch.region.vertices.min(axis=0) for patch in patches])
    high = np.array([patch.region.vertices.max(axis=0) for patch in patches])
    hulls = [ConvexHull(patch.region.vertices) for patch in patches]
    absorbed: set[int] = set()
    for i, j in candidate_pairs(low, high, margin=width).pairs.tolist():
        one, two = patches[i], patches[j]
        rank, other = _RANK[one.region.kind], _RANK[two.region.kind]
        if rank > other:
            # A segment or point on a larger patch adds nothing to it, whatever normal it has.
            if j not in absorbed and all(
                gjk(hulls[i], ConvexHull(point[None])).gap <= width for point in two.region.vertices
            ):
                absorbed.add(j)
                parent[root(j)] = root(i)
            continue
        if j in absorbed or i in absorbed or root(i) == root(j):
            continue
        if rank == other and (rank == 0 or _coplanar(one, two, width)) and gjk(hulls[i], hulls[j]).gap <= width:
            parent[root(j)] = root(i)
    groups: dict[int, list[int]] = {}
    for k in range(len(patches)):
        groups.setdefault(root(k), []).append(k)
    return list(groups.values())


def _coplanar(one: Patch, two: Patch, width: float) -> bool:
    """Return whether two polygons are coplanar, or two segments collinear."""
    if float(one.normal @ two.normal) < _SAME_WAY:
        return False
    p, q = one.region.vertices, two.region.vertices
    if len(one.normal) == 3 and one.region.kind is RegionKind.SEGMENT:
        # The longer one is first.
        direction = p[1] - p[0]
        direction = direction / np.sqrt(direction @ direction)
        off = q - p[0]
        off = off - (off @ direction)[:, None] * direction
        return bool(np.sqrt((off * off).sum(axis=1)).max() <= width)
    return bool(
        np.abs((q - one.region.centroid) @ one.normal).max() <= width
        and np.abs((p - two.region.centroid) @ two.normal).max() <= width
    )


def _merged(patches: list[Patch], rounding: float) -> MergedRegion:
    first = patches[0]
    kind = first.region.kind
    same = [patch for patch in patches if patch.region.kind is kind]
    region = first.region
    area, length, centroid = region.area, region.length, region.centroid
    if kind is RegionKind.POINT:
        outline = np.empty((0, 2, len(centroid)))
    elif kind is RegionKind.SEGMENT:
        outline, length, centroid = _union_of_segments(same)
    else:
        outline, area, length, centroid = _union_of_polygons(same, rounding)
    return MergedRegion(
        kind, first.normal, tuple(patches), area, length, read_only(np.array(centroid)), read_only(np.array(outline))
    )


def _union_of_segments(patches: list[Patch]) -> tuple[FloatArray, float, FloatArray]:
    """Return the union of collinear segments: its parts (s, 2, dim), total length and middle."""
    ends = np.array([patch.region.vertices for patch in patches])
    origin, direction = ends[0, 0], ends[0, 1] - ends[0, 0]
    direction = direction / np.sqrt(direction @ direction)
    spans = np.sort((ends - origin) @ direction, axis=1)
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    joined = [spans[0].tolist()]
    for low, high in spans[1:].tolist():
        if low <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], high)
        else:
            joined.append([low, high])
    parts = np.array(joined)
    lengths = parts[:, 1] - parts[:, 0]
    total = float(lengths.sum())
    middle = origin + float(lengths @ parts.mean(axis=1)) / total * direction
    return origin + parts[:, :, None] * direction, total, middle


def _union_of_polygons(patches: list[Patch], rounding: float) -> tuple[FloatArray, float, float, FloatArray]:
    """Return the union of coplanar convex polygons: sides (s, 2, 3), area, length of the outline, centroid.

    The parts of each side inside another polygon are removed, and so are parts common to sides of two polygons: both
    of them if the polygons are on different sides of it, one if they are on the same. Area and centroid are integrals
    along the remaining parts. A full circle is approximated by `_ARC_STEPS` sides.
    """
    normal = patches[0].normal
    region = patches[0].region
    if len(patches) == 1:
        around = region.outline(normal, _ARC_STEPS)
        sides = np.stack((around, np.roll(around, -1, axis=0)), axis=1)
        return sides, region.area, region.length, region.centroid
    u = np.eye(3)[int(np.abs(normal).argmin())]
    u = u - (u @ normal) * normal
    u = u / np.sqrt(u @ u)
    v = np.cross(normal, u)
    frame = np.stack((u, v), axis=1)
    origin = region.centroid
    loops = [((patch.region.outline(patch.normal, _ARC_STEPS) - origin) @ frame) for patch in patches]
    rows: list[list[tuple[float, float]]] = [[(x, y) for x, y in loop.tolist()] for loop in loops]
    low = np.array([loop.min(axis=0) for loop in loops])
    high = np.array([loop.max(axis=0) for loop in loops])
    beside: list[list[int]] = [[] for _ in loops]
    for i, j in candidate_pairs(low, high, margin=rounding).pairs.tolist():
        beside[i].append(j)
        beside[j].append(i)
    parts: list[tuple[float, float, float, float]] = []
    for i, loop in enumerate(rows):
        for k, (x0, y0) in enumerate(loop):
            x1, y1 = loop[(k + 1) % len(loop)]
            hidden = [
                span
                for j in beside[i]
                if (span := _hidden(x0, y0, x1, y1, rows[j], rounding, j < i)) is not None and span[0] < span[1]
            ]
            at = 0.0
            for begin, end in [*sorted(hidden), (1.0, 1.0)]:
                if begin > at:
                    parts.append(_part(x0, y0, x1, y1, at, begin))
                at = max(at, end)
    twice = mx = my = length = 0.0
    for x0, y0, x1, y1 in parts:
        cross = x0 * y1 - x1 * y0
        twice += cross
        mx += cross * (x0 + x1)
        my += cross * (y0 + y1)
        length += hypot(x1 - x0, y1 - y0)
    sides = np.array(parts).reshape(-1, 2, 2) @ frame.T + origin
    if twice <= 0.0:
        return sides, region.area, region.length, region.centroid
    return sides, 0.5 * twice, length, origin + (mx * u + my * v) / (3.0 * twice)


def _part(x0: float, y0: float, x1: float, y1: float, begin: float, end: float) -> tuple[float, float, float, float]:
    wx, wy = x1 - x0, y1 - y0
    p = (x0 + begin * wx, y0 + begin * wy) if begin > 0.0 else (x0, y0)
    q = (x0 + end * wx, y0 + end * wy) if end < 1.0 else (x1, y1)
    return *p, *q


def _hidden(
    x0: float, y0: float, x1: float, y1: float, loop: list[tuple[float, float]], rounding: float, yields: bool
) -> tuple[float, float] | None:
    """Return the interval of a side that is inside a polygon; where it is on a side of the same direction, only if it
    `yields` to that polygon."""
    begin, end = 0.0, 1.0
    px, py = loop[-1]
    for qx, qy in loop:
        wx, wy = qx - px, qy - py
        size = hypot(wx, wy)
        if size > 0.0:
            d0 = (wx * (y0 - py) - wy * (x0 - px)) / size
            d1 = (wx * (y1 - py) - wy * (x1 - px)) / size
            if abs(d0) <= rounding and abs(d1) <= rounding:
                if not yields and wx * (x1 - x0) + wy * (y1 - y0) > 0.0:
                    return None
            elif d0 <= 0.0 and d1 <= 0.0:
                return None
            elif d0 < 0.0:
                begin = max(begin, d0 / (d0 - d1))
            elif d1 < 0.0:
                end = min(end, d0 / (d0 - d1))
        px, py = qx, qy
    return begin, end
