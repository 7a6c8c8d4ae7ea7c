# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an overlap volume of two meshes is true, by columns: without curves, winding numbers or any decision.

Along a line a point is inside a closed surface where more triangles above it face up than down. So the length of what
two solids have in common is the sum over all pairs of a triangle of A and one of B on the line, with the product of
their signs, of the height of the lower one; the volume is the sum over all pairs of the integral of that over what the
shadows of both have in common. Each is continuous in every corner, so rounding moves the sum little, whatever touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..measures.volume_record import OverlapVolume
from ..mesh_contact.mesh_faults import mesh_faults
from ..meshes.body import Body
from ..meshes.coordinates import corner_rows, scale_exponent, scale_points
from ..meshes.joined import joined
from ..meshes.mesh import Mesh
from ..meshes.shells import outward_shells
from ..meshes.solid_facets import Solid, bracketing_meshes, pieces_of, solid_facets
from ..runs import chunks
from ..tolerance import EPS
from ..types import FloatArray
from .check import Check

_PAIRS = 1 << 13
"""Pairs of triangles in one go."""
_ROUNDING = 64.0
"""Times EPS, the sizes of two triangles and the height of both meshes: what the integral over a pair may be wrong
by."""


def check_mesh_overlap(answer: OverlapVolume, a: Solid, b: Solid) -> Iterator[Check]:
    """Yield whether a volume is that of the overlap of two solids, at least one of which is a mesh, or rightly refused.

    Trusted are the test for self-crossings and, of meshes of several shells, winding numbers. Round shapes are measured
    between polytopes, and of compounds whose pieces have common boxes less is proved than the solver knows.
    """
    found = [_shells_of(shape) for shape in (a, b)]
    refused = any(shells is None for shells in found)
    if answer.volume is None or answer.lower is None or answer.upper is None:
        yield Check("a solid has no clear inside", refused, answer.unsupported_reason)
        return
    apart = bool((np.maximum(a.bounds[0], b.bounds[0]) > np.minimum(a.bounds[1], b.bounds[1])).any())
    if refused or apart:
        yield Check("the boxes of both are apart", apart and answer.upper == 0.0, f"upper bound {answer.upper:.3g}")
        return
    proven: list[tuple[float, float]] = []
    for first in found[0] or ():
        for second in found[1] or ():
            bounds = [_columns(own, other) for own, other in ((first[0], second[0]), (first[-1], second[-1]))]
            low, high = bounds[0].volume - bounds[0].rounding, bounds[1].volume + bounds[1].rounding
            proven.append((max(0.0, low), high))
            last = bounds[0]
    lows, highs = zip(*proven, strict=True) if proven else ((0.0,), (0.0,))
    pieces = [piece for shape in (a, b) if not isinstance(shape, Mesh) for piece in pieces_of(shape)]
    common = 0.0
    for j in range(len(pieces) if len(proven) == len(pieces) else 0):
        for i in range(j):
            sides = np.minimum(pieces[i].bounds[1], pieces[j].bounds[1])
            if (sides > np.maximum(pieces[i].bounds[0], pieces[j].bounds[0])).all():
                common += min(highs[i], highs[j])
    lower, upper = max(*lows, sum(lows) - common), sum(highs)
    detail = f"bounds {answer.lower:.17g} and {answer.upper:.17g}, columns {lower:.17g} and {upper:.17g}"
    yield Check("columns through both prove the bounds", answer.lower <= upper and answer.upper >= lower, detail)
    if len(proven) > 1 or lower <= 0.0:
        is_empty = answer.centroid is None
        yield Check("without a centroid there may be no overlap", not is_empty or answer.lower == 0.0, "")
        return
    off = np.inf
    if isinstance(answer.centroid, np.ndarray) and answer.centroid.shape == (3,):
        off = float(np.abs(answer.centroid - last.centroid).max())
    width = max(answer.upper, upper) - min(answer.lower, lower)
    limit = last.drift + width / lower * min(a.extent, b.extent)
    yield Check("the centroid is that of the columns", off <= limit, f"off by {off:.3g}, rounding {limit:.3g}")


def _shells_of(solid: Solid) -> list[tuple[Mesh, ...]] | None:
    """Return for each piece of a solid its surface, or one inside and one around it, wound outward; of a mesh that
    encloses nothing no piece, of one without a clear inside None."""
    if not isinstance(solid, Mesh):
        return [bracketing_meshes(piece) or (solid_facets(piece).mesh,) for piece in pieces_of(solid)]
    mesh_faults(solid, True, None)
    if not joined(solid).is_closed or solid.known["own crossings"] != (0, True):
        return None
    body = Body.of(solid)
    if not body.solid:
        return []
    shells = outward_shells(body)
    return None if shells is None else [(shells,)]


class _Sums(NamedTuple):
    """What the columns through two solids add up to."""

    volume: float
    centroid: FloatArray
    """(3,) world frame."""
    rounding: float
    """By how much the volume may be wrong."""
    drift: float
    """By how much the centroid may be."""


def _columns(a: Mesh, b: Mesh) -> _Sums:
    """Return the volume and the centroid of what two solids have in common."""
    exponent = scale_exponent(max(a.magnitude, b.magnitude))
    corners = [corner_rows(scale_points(mesh.points, exponent), mesh.triangles) for mesh in (a, b)]
    boxes = [(rows.min(axis=0), rows.max(axis=0)) for rows in corners]
    low = np.maximum(*(box[0].min(axis=1) for box in boxes))
    high = np.minimum(*(box[1].max(axis=1) for box in boxes))
    if (low > high).any():
        return _Sums(0.0, np.zeros(3), 0.0, 0.0)
    # Columns along the axis along which shadows have the fewest pairs.
    sides = [np.maximum(top - bottom, 0.0) for bottom, top in boxes]
    shadows = [np.prod([(side[u].mean() * side[v].mean()) for side in sides]) for u, v in ((1, 2), (2, 0), (0, 1))]
    z = int(np.argmin(shadows))
    order = [(z + 1) % 3, (z + 2) % 3, z]
    ground = min(float(box[0][z].min()) for box in boxes)
    origin = np.append((0.5 * low + 0.5 * high)[order[:2]], ground)
    height = max(float(box[1][z].max()) for box in boxes) - ground
    flat = []
    for rows, (bottom, top) in zip(corners, boxes, strict=True):
        near = ((bottom <= high[:, None]) & (top >= low[:, None]))[order[:2]].all(axis=0)
        flat.append(np.ascontiguousarray(rows[:, order][:, :, near] - origin[:, None]))
    shapes = [(rows[:, :2].min(axis=0).T, rows[:, :2].max(axis=0).T) for rows in flat]
    pairs = candidate_pairs(*shapes[0], *shapes[1]).pairs
    sums, rounding = np.zeros(4), 0.0
    for part in chunks(len(pairs), _PAIRS):
        own, other = (rows.take(pairs[part, k], axis=2) for k, rows in enumerate(flat))
        sums += _common(own, other)
        spans = [(rows[:, :2].max(axis=0) - rows[:, :2].min(axis=0)).max(axis=0) for rows in (own, other)]
        rounding += _ROUNDING * EPS * height * float(spans[0] @ spans[1])
    volume = max(float(sums[0]), 0.0)
    middle = np.zeros(3)
    size = max(float((high - low).max()), height)
    if volume > 0.0:
        middle[order] = sums[1:] / volume + origin
    drift = rounding / volume * size + EPS * float(np.abs(middle).max()) if volume > 0.0 else np.inf
    scale = -3 * exponent
    return _Sums(
        float(np.ldexp(volume, scale)),
        np.ldexp(middle, -exponent),
        float(np.ldexp(rounding, scale)),
        float(np.ldexp(drift, -exponent)),
    )


def _common(own: FloatArray, other: FloatArray) -> FloatArray:
    """Return the sum (4,) over pairs of triangles (corner, axis, k) of the signed volume above 0 under both, and its
    first moments."""
    turns = [_turn(*rows[:, :2]) for rows in (own, other)]
    signs = np.sign(turns[0]) * np.sign(turns[1])
    kept = np.flatnonzero(signs)
    own, other, turn, signs = own[..., kept], other[..., kept], turns[1][kept], signs[kept]
    # The height of the plane of B's triangle over the corners of A's.
    p, u, v = other[0], other[1] - other[0], other[2] - other[0]
    across = own[:, :2] - p[:2]
    along = (across[:, 0] * v[1] - across[:, 1] * v[0]) / turn
    beside = (u[0] * across[:, 1] - u[1] * across[:, 0]) / turn
    polygon = np.concatenate([own, (p[2] + along * u[2] + beside * v[2])[:, None]], axis=1)
    for k in range(3):
        start, end = other[k], other[(k + 1) % 3]
        side = (end[0] - start[0]) * (polygon[:, 1] - start[1]) - (end[1] - start[1]) * (polygon[:, 0] - start[0])
        polygon = _clipped(polygon, side * np.sign(turn))
    # Rounding where a triangle is seen from its side must not lead out of it.
    polygon[:, 3] = np.clip(polygon[:, 3], other[:, 2].min(axis=0), other[:, 2].max(axis=0))
    # Under the plane of B's triangle, less what of that is above the one of A's: little where they are nearly one.
    base, drop = polygon[:, 3], polygon[:, 2] - polygon[:, 3]
    beyond = _clipped(np.concatenate([polygon[:, :2], base[:, None], drop[:, None]], axis=1), -drop)
    total = _integrals(polygon, base, 0.5 * base, signs)
    total += _integrals(beyond, beyond[:, 3], beyond[:, 2] + 0.5 * beyond[:, 3], signs)
    return total


def _integrals(polygon: FloatArray, height: FloatArray, middle: FloatArray, signs: FloatArray) -> FloatArray:
    """Return the sums (4,) of the signed integrals over polygons of `height`, and of it times x, y and `middle`."""
    total = np.zeros(4)
    for k in range(1, len(polygon) - 1):
        fan = [0, k, k + 1]
        area = np.abs(_turn(*polygon[fan, :2])) * signs / 24.0
        heights = height[fan]
        under = heights.sum(axis=0)
        total[0] += 4.0 * float(area @ under)
        for axis, values in enumerate((polygon[fan, 0], polygon[fan, 1], middle[fan])):
            total[1 + axis] += float(area @ (values.sum(axis=0) * under + (values * heights).sum(axis=0)))
    return total


def _turn(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
    """Return twice the areas of triangles in the plane with corners (2, k), positive counter-clockwise."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _clipped(polygon: FloatArray, side: FloatArray) -> FloatArray:
    """Return convex polygons (corner, value, k) where `side` (corner, k), linear in the plane, is not negative; corners
    may be there several times."""
    slots, width, count = polygon.shape
    after, following = np.roll(side, -1, axis=0), np.roll(polygon, -1, axis=0)
    cut = (side < 0.0) != (after < 0.0)
    span = np.where(cut, side - after, 1.0)
    points = polygon + (side / span)[:, None] * (following - polygon)
    both = np.stack([polygon, points], axis=1).reshape(2 * slots, width, count)
    valid = np.stack([side >= 0.0, cut], axis=1).reshape(2 * slots, count)
    number = valid.sum(axis=0)
    # One more than there were, unless rounding bends a line that is nearly a side.
    order = np.argsort(~valid, axis=0, kind="stable")[: int(number.max(initial=1))]
    order = np.where(np.arange(len(order))[:, None] < number, order, order[:1])
    return np.take_along_axis(both, order[:, None], axis=0)
