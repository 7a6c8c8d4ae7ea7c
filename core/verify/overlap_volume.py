# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an overlap volume is a true statement about two solids.

Of convex polytopes the body is measured in whole numbers, which do not round, and what it proves is derived anew from
the shapes' vertices and facets: see `measures/polytope_overlap.py`. The bounds must contain that.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real

import numpy as np

from ..compounds.compound import as_compound
from ..measures.volume_record import OverlapVolume
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid
from ..shapes.hull import ConvexHull
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope
from ..tolerance import VERIFY_CENTROID
from .check import Check, Verification
from .mesh_overlap import check_mesh_overlap
from .overlap_body import exact_moments, is_closed, proven_scales
from .piece_overlaps import check_piece_overlaps, slab_volume


def check_overlap_volume(answer: OverlapVolume, a: Solid, b: Solid) -> Verification:
    """Return, check by check, whether `answer` is a true statement about A and B, which must be shapes."""
    if answer.volume is None or answer.lower is None or answer.upper is None:
        reason = bool(answer.unsupported_reason) and answer.volume is answer.lower is answer.upper is None
        # Of all but meshes a volume is only too large for a number.
        reason = reason and (isinstance(a, Mesh) or isinstance(b, Mesh) or extreme_exponent(a, b) > 0)
        form = Check("there is a reason for no volume", reason, answer.unsupported_reason)
        measured = check_mesh_overlap(answer, a, b) if isinstance(a, Mesh) or isinstance(b, Mesh) else ()
        return Verification((form, *measured), float("nan"))
    numbers = answer.lower, answer.volume, answer.upper
    is_number = all(isinstance(number, Real) and np.isfinite(number) for number in numbers)
    is_between = is_number and 0.0 <= answer.lower <= answer.volume <= answer.upper
    form = Check("the volume is between its bounds", is_between, " <= ".join(map(repr, numbers)))
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
    else:
        exponent = extreme_exponent(a, b)
        if exponent:
            a, b, answer = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), answer.scaled(-exponent, a.dim)
        assert not isinstance(a, Mesh)
        assert not isinstance(b, Mesh)
        if isinstance(a, Polytope) and isinstance(b, Polytope):
            yield from _of_polytopes(answer, a, b)
        else:
            yield from check_piece_overlaps(answer, as_compound(a), as_compound(b))


def _of_polytopes(answer: OverlapVolume, a: Polytope, b: Polytope) -> Iterator[Check]:
    assert answer.lower is not None
    assert answer.upper is not None
    body, centroid = answer.body, answer.centroid
    if not isinstance(body, ConvexHull):
        most = slab_volume(a, b)
        detail = f"bounds {answer.lower:.3g} and {answer.upper:.3g}, slab {most:.3g}"
        yield Check("no more than a slab overlaps", answer.lower == 0.0 and answer.upper >= most, detail)
        return
    if body.dim != a.dim or body.rank != a.dim or not is_closed(body):
        yield Check("the body is closed", False, f"{body!r}")
        return
    size, moments, inverted = exact_moments(body)
    off = np.inf
    if isinstance(centroid, np.ndarray) and centroid.shape == (a.dim,):
        off = float(np.abs(moments - centroid).max())
    # A body as thin as rounding is moved across by as much as its bounds are apart.
    limit = (VERIFY_CENTROID + (answer.upper - answer.lower) / size) * body.extent if size > 0.0 else 0.0
    yield Check("the centroid is that of the body", off <= limit, f"off by {off:.3g}")
    if not off <= limit:
        return
    assert centroid is not None
    inner, outer = proven_scales(a, b, body, centroid)
    if not (0.0 < outer <= 1.0 and inverted <= VERIFY_CENTROID * size + answer.upper - answer.lower):
        yield Check("the body is inside both and contains what both have in common", False, f"{inner:.3g} {outer:.3g}")
        return
    lower, upper = size / inner**a.dim, size / outer**a.dim
    detail = f"bounds {answer.lower:.17g} and {answer.upper:.17g}, body {lower:.17g} and {upper:.17g}"
    yield Check("the body inside both proves the lower bound", answer.lower <= lower, detail)
    yield Check("the planes around the body prove the upper bound", answer.upper >= upper, detail)
