# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume in which two closed meshes overlap: a sum over the boundaries of the parts of their surfaces, see
`overlap_parts`, between certified bounds.

Corners that were rounded leave the planes of their triangles by some last digits; moved along these, they change no
volume. So the bounds are apart by the area of the overlap times what its corners are off their planes, however acute
the angles at which the surfaces cut each other.

Source: B. Mirtich, Fast and accurate computation of polyhedral mass properties, 1996.
"""

from __future__ import annotations

from math import fsum

import numpy as np

from ..mesh_contact.mesh_faults import own_crossings
from ..meshes.body import Body
from ..meshes.joined import joined
from ..meshes.mesh import Mesh
from ..meshes.shells import outward_shells
from ..meshes.triangle_pairs import crossing_triangles
from ..progress import Progress, report_progress, subrange
from ..shapes.shape import counted
from ..tolerance import EPS, SMALLEST_STEP
from ..types import FloatArray, read_only
from ..vectors import cross, dot, length
from .overlap_parts import InsidePart, OverlapParts, overlap_parts
from .volume_record import OverlapVolume, no_volume, none_overlaps

_CORNER = 16.0
"""Times EPS and the distance of the ends of an edge from the middle of the overlap: how far a point on it may be beside
the planes that it is in. Eight roundings of half of that, in each of three directions."""
_HEIGHT = 6.0 * 256.0
"""Times EPS**2 and the cube of the size: what a height above a plane may be wrong by, see `precise_volumes`."""
_SUM = 16.0
"""Times EPS and the sizes of three vectors: what their triple product may be wrong by."""


def mesh_overlap_volume(a: Mesh, b: Mesh, progress: Progress | None = None) -> OverlapVolume:
    """Return the volume of the intersection of the solids inside two meshes, corners of which are joined as for
    `contact`. There is none, and a reason, where one is open or crosses itself. Inside is where a mesh goes around,
    either way: a shell inside another, wound alike, changes nothing, and one wound against it is a cavity.

    Raise Cancelled when `progress` returns False.
    """
    shells = []
    for k, (name, mesh) in enumerate((("A", a), ("B", b))):
        part = subrange(progress, 0.3 * k, 0.3 * (k + 1))
        if not joined(mesh).is_closed:
            return no_volume(f"{name} is open: only closed meshes have a volume")
        body = Body.of(mesh)
        if not body.solid:
            return none_overlaps(f"{name} encloses nothing: it has no volume")
        count, is_all = own_crossings(mesh, part)
        if count or not is_all:
            words = f" in {counted(count, 'pair', 'pairs')} of triangles" if is_all else ""
            return no_volume(f"{name} crosses itself{words}: it has no clear inside")
        shells.append(outward_shells(body))
    own, other = shells
    if own is None or other is None:
        return no_volume(f"{'A' if own is None else 'B'} has several shells in one place: it has no clear inside")
    (low, high), (other_low, other_high) = own.bounds, other.bounds
    if (low > other_high).any() or (other_low > high).any():
        return none_overlaps()
    crossings = crossing_triangles(own, other, subrange(progress, 0.6, 0.8))
    parts = overlap_parts(own, other, crossings, (True, True), subrange(progress, 0.8, 1.0))
    if not (parts.a.is_consistent and parts.b.is_consistent):
        return no_volume("The surfaces of A and B do not close where they cut each other")
    report_progress(progress, 1.0)
    return _volume_of(parts)


def _volume_of(parts: OverlapParts) -> OverlapVolume:
    """Return the volume that both parts enclose."""
    tops: list[FloatArray] = []
    begins, ends, times, errors, moves = ([*tops] for _ in range(5))
    for part in (parts.a, parts.b):
        error, move = _roundings(part, parts)
        columns = np.ascontiguousarray(part.points.T)
        whole = part.mesh.triangles.take(part.whole, axis=0).T
        lines = part.lines.T
        # A fan of triangles over the lines around each part, from the middle of their ends.
        number = np.unique(part.triangles, return_inverse=True)[1]
        count = np.maximum(np.bincount(number), 1)
        middles = np.stack([np.bincount(number, row.take(lines[0]), len(count)) for row in columns]) / count
        tops += [columns.take(whole[0], axis=1), middles.take(number, axis=1)]
        begins += [columns.take(whole[1], axis=1), columns.take(lines[0], axis=1)]
        ends += [columns.take(whole[2], axis=1), columns.take(lines[1], axis=1)]
        times += [np.ones(len(part.whole)), part.times.astype(np.float64)]
        for values, found in ((error, errors), (move, moves)):
            most = np.zeros(len(count))
            np.maximum.at(most, number, values[part.lines].max(axis=1, initial=0.0))
            found += [values[whole].max(axis=0, initial=0.0), most.take(number)]
    top, begin, end = (np.concatenate(part, axis=1) for part in (tops, begins, ends))
    weight, error, move = (np.concatenate(part) for part in (times, errors, moves))
    u, v = begin - top, end - top
    across = cross(u, v)
    volumes = weight * dot(top, across) / 6.0
    size_u, size_v, reach = length(u), length(v), length(top)
    # The middle of a fan is rounded too.
    error = error + EPS * reach
    area = 0.5 * length(across) + 2.0 * (move + error) * (size_u + size_v + 2.0 * (move + error))
    width = fsum(weight * (error * area + _SUM * EPS * reach * size_u * size_v))
    volume = fsum(volumes)
    # What all these sums of positive numbers are rounded by.
    width *= 1.0 + 2.0**-20
    moments = [fsum(0.25 * volumes * (x + y + z)) for x, y, z in zip(top, begin, end, strict=True)]
    centroid = None
    if volume > width:
        centroid = read_only(np.ldexp(np.array(moments) / volume + parts.origin, -parts.exponent))
    lower, upper = max(0.0, volume - width), max(0.0, volume + width)
    sizes = np.ldexp(np.array([max(0.0, volume), lower, upper]), -3 * parts.exponent).tolist()
    return OverlapVolume(sizes[0], sizes[1], sizes[2], centroid)


def _roundings(part: InsidePart, parts: OverlapParts) -> tuple[FloatArray, FloatArray]:
    """Return for each point of a part how far it may be beside the planes of the part's triangles that it is in, and
    from where it is."""
    corners = len(part.mesh.points)
    reach = np.sqrt((part.points * part.points).sum(axis=1))
    error, move = EPS * reach, EPS * reach
    for own, cut, other in ((parts.a, parts.cuts.a, parts.b), (parts.b, parts.cuts.b, parts.a)):
        if not len(cut.nodes):
            continue
        ends = own.points[cut.edges]
        face = other.points[other.mesh.triangles[cut.others]]
        size = np.abs(np.concatenate([face[:, 1:], ends], axis=1) - face[:, :1]).max(axis=(1, 2))
        height = _HEIGHT * EPS * EPS * size**3
        far = np.sqrt((ends * ends).sum(axis=2)).max(axis=1)
        side = np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1))
        rounding = _CORNER * EPS * far
        with np.errstate(divide="ignore"):
            slide = side * np.minimum(1.0, 4.0 * height / parts.cuts.heights[cut.nodes]) + rounding
        # It slides along its own edge, in the planes beside it, and by less beside that of the other triangle.
        beside = rounding
        if own is not part:
            area = np.maximum(parts.cuts.areas[cut.nodes] - _HEIGHT * EPS * EPS * size**2, SMALLEST_STEP)
            with np.errstate(over="ignore"):
                beside = np.minimum(4.0 * height / area + rounding, slide)
        move[corners + cut.nodes] = slide
        error[corners + cut.nodes] = beside
    return error, move
