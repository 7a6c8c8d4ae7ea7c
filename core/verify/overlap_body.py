# SPDX-License-Identifier: GPL-3.0-or-later
"""What the body of an overlap proves: its volume in whole numbers, and by how much it must be smaller or larger to be
inside two polytopes, or around what they have in common."""

from __future__ import annotations

import numpy as np

from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS, Polytope
from ..tolerance import EPS, OVERLAP_ROUNDING
from ..types import FloatArray

_OWN_ROUNDING = 0.5 * OVERLAP_ROUNDING
"""Times EPS and the largest coordinate about the centroid: what heights may be wrong by here. Bounds are widened by
twice that."""


def is_closed(body: ConvexHull) -> bool:
    """Return whether each side of a facet is that of one other, in the opposite direction."""
    loops = body.edges if body.dim == 2 else body.facets
    sides = [(p, q) for loop in loops for p, q in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True)]
    if body.dim == 2:
        return sorted(p for p, _ in sides[::2]) == sorted(q for _, q in sides[::2])
    known = set(sides)
    return len(known) == len(sides) and all((q, p) in known for p, q in sides)


def exact_moments(body: ConvexHull) -> tuple[float, FloatArray, float]:
    """Return the volume of a body and its centroid, computed in whole numbers, and the volume of what is inverted."""
    center = body.vertices.mean(axis=0)
    shift = 60 - int(np.frexp(body.extent)[1])
    points = [[int(x) for x in row] for row in np.ldexp(body.vertices - center, shift).tolist()]
    total, inverted, moments = 0, 0, [0] * body.dim
    loops = body.edges.tolist() if body.dim == 2 else [loop.tolist() for loop in body.facets]
    for loop in loops:
        p = points[loop[0]]
        for k in range(1, len(loop) - (body.dim == 3)):
            corners = [p, *(points[i] for i in loop[k : k + body.dim - 1])]
            volume = _determinant(*corners)
            total += volume
            inverted -= min(volume, 0)
            for axis in range(body.dim):
                moments[axis] += volume * sum(corner[axis] for corner in corners)
    if total <= 0:
        return 0.0, center, 0.0
    scale = float(np.ldexp(1.0, -shift))
    factor = 2 if body.dim == 2 else 6
    middle = np.array([moment / (total * (body.dim + 1)) for moment in moments]) * scale + center
    return total / factor * scale**body.dim, middle, inverted / factor * scale**body.dim


def _determinant(p: list[int], q: list[int], r: list[int] | None = None) -> int:
    if r is None:
        return p[0] * q[1] - p[1] * q[0]
    return p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) + p[2] * (q[0] * r[1] - q[1] * r[0])


def proven_scales(a: Polytope, b: Polytope, body: ConvexHull, origin: FloatArray) -> tuple[float, float]:
    """Return by what the body about a point inside must be divided to be inside both shapes, and to contain the
    overlap; infinite and 0.0 where it proves nothing."""
    points = body.vertices - origin
    own = _OWN_ROUNDING * EPS * float(np.abs(points).max())
    inner, nearest = 1.0, np.full(len(body.facets), -np.inf)
    sides = np.concatenate(body.facets)
    first = np.cumsum([0, *map(len, body.facets[:-1])])
    for shape in (a, b):
        corners = shape.vertices - origin
        rounding = _OWN_ROUNDING * EPS * float(np.abs(corners).max())
        for chunk in chunks(len(shape.facets), PRODUCTS // (len(corners) + len(sides))):
            normals = shape.normals[chunk]
            heights = corners @ normals.T
            lowest = [heights[loop, k].min() for k, loop in enumerate(shape.facets[chunk])]
            below, above = heights.max(axis=0) + rounding, np.array(lowest) - rounding
            tops = points @ normals.T
            if below.min() <= 0.0:
                return np.inf, 0.0
            inner = max(inner, float(((tops.max(axis=0) + own) / above).max())) if above.min() > 0.0 else np.inf
            nearest = np.maximum(nearest, ((np.minimum.reduceat(tops[sides], first) - own) / below).max(axis=1))
    return inner, min(1.0, float(nearest.min()))
