# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an overlap volume is a true statement about two solids.

Of convex polytopes the body is measured in whole numbers, which do not round, and what it proves is derived anew from
the shapes' vertices and facets: see `measures/polytope_overlap.py`. The bounds must contain that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..measures.volume_record import OverlapVolume
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import PRODUCTS, Polytope
from ..tolerance import EPS, OVERLAP_ROUNDING, VERIFY_CENTROID
from ..types import FloatArray
from .check import Check, Verification
from .mesh_overlap import check_mesh_overlap
from .pair_proof import pair_bounds

_OWN_ROUNDING = 0.5 * OVERLAP_ROUNDING
"""Times EPS and the largest coordinate about the centroid: what heights may be wrong by here. Bounds are widened by
twice that."""


def check_overlap_volume(answer: OverlapVolume, a: Solid, b: Solid) -> Verification:
    """Return, check by check, whether `answer` is a true statement about A and B, which must be shapes."""
    if answer.volume is None or answer.lower is None or answer.upper is None:
        reason = bool(answer.unsupported_reason) and answer.volume is answer.lower is answer.upper is None
        form = Check("there is a reason for no volume", reason, answer.unsupported_reason)
        measured = check_mesh_overlap(answer, a, b) if isinstance(a, Mesh) or isinstance(b, Mesh) else ()
        return Verification((form, *measured), float("nan"))
    numbers = answer.lower, answer.volume, answer.upper
    form = Check(
        "the volume is between its bounds",
        bool(np.isfinite(numbers).all()) and 0.0 <= answer.lower <= answer.volume <= answer.upper,
        f"{answer.lower:.17g} <= {answer.volume:.17g} <= {answer.upper:.17g}",
    )
    if not form.ok:
        return Verification((form,), float("nan"))
    checks = [form, *_checks(answer, a, b)]
    return Verification(tuple(checks), answer.upper - answer.lower)


def _checks(answer: OverlapVolume, a: Solid, b: Solid) -> Iterator[Check]:
    flat = [isinstance(shape, Polytope) and shape.rank < shape.dim for shape in (a, b)]
    if not any(flat) and (isinstance(a, Mesh) or isinstance(b, Mesh)):
        yield from check_mesh_overlap(answer, a, b)
    elif any(flat) or bool(answer.unsupported_reason):
        is_zero = answer.upper == 0.0 and any(flat) and bool(answer.unsupported_reason)
        yield Check("a flat shape has no volume", is_zero, answer.unsupported_reason)
    elif isinstance(a, Polytope) and isinstance(b, Polytope):
        exponent = extreme_exponent(a, b)
        if exponent:
            a, b, answer = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), answer.scaled(-exponent, a.dim)
        yield from _of_polytopes(answer, a, b)
    else:
        yield Check("not checked: volumes of these shapes", True, "")


def _of_polytopes(answer: OverlapVolume, a: Polytope, b: Polytope) -> Iterator[Check]:
    assert answer.lower is not None
    assert answer.upper is not None
    body, centroid = answer.body, answer.centroid
    if not isinstance(body, ConvexHull):
        thickness = -pair_bounds(a, b).lower
        sides = np.minimum(a.bounds[1], b.bounds[1]) - np.maximum(a.bounds[0], b.bounds[0])
        x, y, *z = sides.tolist()
        # The shadow of the box of both in any direction is not larger than this.
        shadow = x + y if not z else x * y + y * z[0] + z[0] * x
        most = max(thickness, 0.0) * shadow if sides.min() > 0.0 else 0.0
        detail = f"bounds {answer.lower:.3g} and {answer.upper:.3g}, slab {most:.3g}"
        yield Check("no more than a slab overlaps", answer.lower == 0.0 and answer.upper >= most, detail)
        return
    if body.dim != a.dim or body.rank != a.dim or not _is_closed(body):
        yield Check("the body is closed", False, f"{body!r}")
        return
    size, moments, inverted = _exact_moments(body)
    off = np.inf
    if isinstance(centroid, np.ndarray) and centroid.shape == (a.dim,):
        off = float(np.abs(moments - centroid).max())
    # A body as thin as rounding is moved across by as much as its bounds are apart.
    limit = (VERIFY_CENTROID + (answer.upper - answer.lower) / size) * body.extent if size > 0.0 else 0.0
    yield Check("the centroid is that of the body", off <= limit, f"off by {off:.3g}")
    if not off <= limit:
        return
    assert centroid is not None
    inner, outer = _proven_scales(a, b, body, centroid)
    if not (0.0 < outer <= 1.0 and inverted <= VERIFY_CENTROID * size + answer.upper - answer.lower):
        yield Check("the body is inside both and contains what both have in common", False, f"{inner:.3g} {outer:.3g}")
        return
    lower, upper = size / inner**a.dim, size / outer**a.dim
    detail = f"bounds {answer.lower:.17g} and {answer.upper:.17g}, body {lower:.17g} and {upper:.17g}"
    yield Check("the body inside both proves the lower bound", answer.lower <= lower, detail)
    yield Check("the planes around the body prove the upper bound", answer.upper >= upper, detail)


def _is_closed(body: ConvexHull) -> bool:
    """Return whether each side of a facet is that of one other, in the opposite direction."""
    loops = body.edges if body.dim == 2 else body.facets
    sides = [(p, q) for loop in loops for p, q in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True)]
    if body.dim == 2:
        return sorted(p for p, _ in sides[::2]) == sorted(q for _, q in sides[::2])
    known = set(sides)
    return len(known) == len(sides) and all((q, p) in known for p, q in sides)


def _exact_moments(body: ConvexHull) -> tuple[float, FloatArray, float]:
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


def _proven_scales(a: Polytope, b: Polytope, body: ConvexHull, origin: FloatArray) -> tuple[float, float]:
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
