# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact regions of compounds: one patch per touching pair of pieces, merged where coplanar and adjacent."""

from __future__ import annotations

from functools import cache
from math import hypot, inf, pi

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..curved.disk_region import Disk, segment_of
from ..narrow_phase.gjk import gjk
from ..region.merged_region import MergedRegion, Patch
from ..region.region import RegionKind
from ..shapes.hull import ConvexHull
from ..types import FloatArray, read_only
from .round_sides import OutlineSide, covered_parts

_ARC_STEPS = 360  # chords to a circle in outlines, which are only drawn: areas are those of the arcs
_SAME_WAY = 0.999  # cosine between the normals of patches that may be coplanar; their distances decide

_ATTEMPTS = ((False, 1.0), (True, 1.0), (True, 4.0), (True, 16.0))
"""How sides of polygons are compared, as a whole or part by part, and times what rounding: until the outline closes.
Sides that are tilted by single precision are on each other along a part of their length, and at its ends by chance."""
_SLIT = (
    1e-5  # times the length of an outline: how wide the slits are, where sides cross at a small angle, that are closed
)

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

    outlines = [patch.region.outline(patch.normal, _ARC_STEPS) for patch in patches]
    low = np.array([outline.min(axis=0) for outline in outlines])
    high = np.array([outline.max(axis=0) for outline in outlines])
    for i, j in _with_common_corners(patches, width):
        one, two = patches[i], patches[j]
        if root(i) != root(j) and one.region.kind is two.region.kind and _coplanar(one, two, width):
            parent[root(j)] = root(i)

    @cache
    def hull(k: int) -> ConvexHull:
        return ConvexHull(outlines[k])

    absorbed: set[int] = set()
    for i, j in candidate_pairs(low, high, margin=width).pairs.tolist():
        one, two = patches[i], patches[j]
        rank, other = _RANK[one.region.kind], _RANK[two.region.kind]
        if rank > other:
            # A segment or point on a larger patch adds nothing to it, whatever normal it has.
            if j not in absorbed and all(
                gjk(hull(i), ConvexHull(point[None])).gap <= width for point in two.region.vertices
            ):
                absorbed.add(j)
                parent[root(j)] = root(i)
            continue
        if j in absorbed or i in absorbed or root(i) == root(j):
            continue
        if rank == other and (rank == 0 or _coplanar(one, two, width)) and gjk(hull(i), hull(j)).gap <= width:
            parent[root(j)] = root(i)
    groups: dict[int, list[int]] = {}
    for k in range(len(patches)):
        groups.setdefault(root(k), []).append(k)
    return list(groups.values())


def _with_common_corners(patches: list[Patch], width: float) -> list[list[int]]:
    """Return the pairs of polygons and segments that have a corner in common, to `width`: they touch."""
    kept = [k for k, patch in enumerate(patches) if patch.region.kind is not RegionKind.POINT]
    corners = [patches[k].region.vertices for k in kept]
    if not corners:
        return []
    points, owner = np.concatenate(corners), np.repeat(kept, [len(rows) for rows in corners])
    i, j = candidate_pairs(points, points, margin=width).pairs.T
    away = points[i] - points[j]
    pairs = np.sort(owner[np.stack([i, j], axis=1)[(away * away).sum(axis=1) <= width * width]], axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist()


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
    of them if the polygons are on different sides of it, one if they are on the same. Of the attempts at that the one
    that leaves the outline least open is taken, and slits are closed. Area and centroid are integrals along the
    remaining parts, exact for arcs too, of which the sides are chords, `_ARC_STEPS` to a full circle.
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
    loops = [_sides_of(patch, origin, frame) for patch in patches]
    rounded = [any(side.disk is not None for side in loop) for loop in loops]
    rows = [[side[:2] for side in loop] for loop in loops]
    low, high = np.array([_box_of(loop) for loop in loops]).transpose(1, 0, 2)
    beside: list[list[int]] = [[] for _ in loops]
    for i, j in candidate_pairs(low, high, margin=rounding).pairs.tolist():
        beside[i].append(j)
        beside[j].append(i)
    parts: list[OutlineSide] = []
    least = inf
    for by_parts, wider in _ATTEMPTS:
        found = _outer_parts(loops, rows, rounded, beside, wider * rounding, by_parts)
        opening = hypot(sum(side.x1 - side.x0 for side in found), sum(side.y1 - side.y0 for side in found))
        if opening < least:
            parts, least = found, opening
        if opening <= rounding:
            break
    if least > rounding:
        parts += _bridges(parts, rounding)
    parts = [side for side in parts if side.length > rounding]  # the rest is rounding
    twice = mx = my = length = 0.0
    chords: list[OutlineSide] = []
    for side in parts:
        x0, y0, x1, y1, disk = side
        cross = x0 * y1 - x1 * y0
        twice += cross
        mx += cross * (x0 + x1)
        my += cross * (y0 + y1)
        if disk is None:
            length += hypot(x1 - x0, y1 - y0)
            chords.append(side)
            continue
        beyond, along, (x, y) = segment_of(disk, (x0, y0), (x1, y1))
        twice += 2.0 * beyond
        mx += 6.0 * beyond * (disk.x + x)
        my += 6.0 * beyond * (disk.y + y)
        length += along
        count = max(1, round(_ARC_STEPS * side.angle / (2.0 * pi)))
        chords += [side.part(k / count, (k + 1) / count) for k in range(count)]
    sides = np.array([side[:4] for side in chords]).reshape(-1, 2, 2) @ frame.T + origin
    if twice <= 0.0:
        return sides, region.area, region.length, region.centroid
    return sides, 0.5 * twice, length, origin + (mx * u + my * v) / (3.0 * twice)


def _outer_parts(
    loops: list[list[OutlineSide]],
    rows: list[list[tuple[float, float]]],
    rounded: list[bool],
    beside: list[list[int]],
    rounding: float,
    by_parts: bool,
) -> list[OutlineSide]:
    """Return the parts of the sides of polygons that are on the outline of their union."""
    parts: list[OutlineSide] = []
    for i, loop in enumerate(loops):
        for side in loop:
            hidden: list[tuple[float, float]] = []
            for j in beside[i]:
                if by_parts or side.disk is not None or rounded[j]:
                    hidden += covered_parts(side, loops[j], rounding, j < i)
                elif (span := _hidden(*side[:4], rows[j], rounding, j < i)) is not None and span[0] < span[1]:
                    hidden.append(span)
            reached = 0.0
            for begin, end in [*sorted(hidden), (1.0, 1.0)]:
                if begin > reached:
                    parts.append(side.part(reached, begin))
                reached = max(reached, end)
    return parts


def _bridges(parts: list[OutlineSide], rounding: float) -> list[OutlineSide]:
    """Return straight sides over the slits between the end of a side, where none begins, and the nearest beginning."""
    ends = np.array([side[:4] for side in parts])
    slit = _SLIT * float(np.linalg.norm(ends[:, 2:] - ends[:, :2], axis=1).sum())
    apart = np.linalg.norm(ends[:, None, 2:] - ends[None, :, :2], axis=2)
    stops, starts = np.flatnonzero(apart.min(axis=1) > rounding), np.flatnonzero(apart.min(axis=0) > rounding)
    apart = apart[np.ix_(stops, starts)]
    bridges: list[OutlineSide] = []
    while apart.min(initial=np.inf) <= slit:
        i, j = np.unravel_index(apart.argmin(), apart.shape)
        bridges.append(OutlineSide(*ends[stops[i], 2:].tolist(), *ends[starts[j], :2].tolist()))
        apart[i], apart[:, j] = np.inf, np.inf
    return bridges


def _sides_of(patch: Patch, origin: FloatArray, frame: FloatArray) -> list[OutlineSide]:
    """Return the sides of a polygon in the frame (3, 2) of a plane."""
    corners = ((patch.region.vertices - origin) @ frame).tolist()
    disks: dict[int, Disk] = {}
    for arc in patch.region.arcs:
        x, y = ((arc.center - origin) @ frame).tolist()
        disks[arc.side] = Disk(x, y, arc.radius)
    ends = zip(corners, corners[1:] + corners[:1], strict=True)
    return [OutlineSide(x0, y0, x1, y1, disks.get(k)) for k, ((x0, y0), (x1, y1)) in enumerate(ends)]


def _box_of(loop: list[OutlineSide]) -> tuple[FloatArray, FloatArray]:
    """Return a box (2,), (2,) around a polygon in a plane: that of its corners, grown by how far arcs bulge."""
    corners = np.array([side[:2] for side in loop])
    bulge = max(side.bulge for side in loop)
    return corners.min(axis=0) - bulge, corners.max(axis=0) + bulge


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
