# SPDX-License-Identifier: GPL-3.0-or-later
"""Equally good normals of curved shapes: some, or all of a circle or a sphere."""

from __future__ import annotations

import numpy as np

from ..result import TieKind
from ..shapes.curved_shape import across
from ..shapes.polytope import Polytope
from ..tolerance import CURVED_AXIS, EPS, TIE_WIDTH
from ..types import FloatArray
from .curved_core import Solved, perpendiculars, slab_widths

_TIE_HOLLOW = 8.0
"""Times TIE_WIDTH and the promised tolerance: normals of round shapes between which no hollow is deeper than that are
reported as one. Along a crease all are nearly as good, and as it bends, those halfway between two of them are worse."""


def find_ties(found: Solved, tolerance: float, axis: FloatArray | None) -> tuple[FloatArray, TieKind]:
    """Return equally good normals, the chosen one first, and whether they stand for all of a circle or a sphere."""
    one, other, normal = found.one, found.other, found.normal
    if axis is not None and len(axis) == 0:
        frame = [normal, *perpendiculars(normal)]
        return np.array([s * direction for direction in frame for s in (1.0, -1.0)]), _round_kind(len(normal))
    if one.smooth or other.smooth:
        if axis is None:
            return _as_good(found, found.others, tolerance), TieKind.FINITE
        return _turned(_as_good(found, _one_sided(found, axis[1]), tolerance), axis[1])
    if axis is not None:
        return _turned(normal[None], axis[1])
    directions = found.others
    if found.slab > tolerance:
        return np.concatenate([normal[None], directions[1:]]), TieKind.FINITE
    rank = _rank(one.inner, other.inner)
    if rank == 1 and len(normal) == 3 and one.radius + other.radius > 0.0 and _crosses(one.inner, other.inner):
        sideways = np.cross(_direction(one.inner, other.inner), normal)
        return np.array([normal, sideways, -normal, -sideways]), TieKind.CIRCLE
    return directions.copy(), TieKind.FINITE


def _as_good(found: Solved, others: FloatArray, tolerance: float) -> FloatArray:
    """Return the normals (k, dim) that separate as well as the chosen one, which is the first, each with a hollow of
    worse ones between it and the rest: of normals with none between, along a flat optimum, only one is reported."""
    normals = [found.normal]
    if found.slab > tolerance:
        return np.array(normals)  # apart: there is one
    width = TIE_WIDTH * tolerance
    enough, hollow = found.slab - width, found.slab - _TIE_HOLLOW * width
    for direction in others[slab_widths(found.one, found.other, others) >= enough]:
        between = np.array(
            [direction + known if float(direction @ known) > -0.99 else perpendiculars(known)[0] for known in normals]
        )
        between = between / np.linalg.norm(between, axis=1)[:, None]
        if (slab_widths(found.one, found.other, between) < hollow).all():
            normals.append(direction)
    return np.array(normals)


def _one_sided(found: Solved, axis: FloatArray) -> FloatArray:
    """Return the normals (k, 3) that may be as good, turned about the axis to the side where the chosen one is."""
    out = found.normal - float(found.normal @ axis) * axis
    length = float(np.linalg.norm(out))
    out = out / length if length > CURVED_AXIS else across(axis)[0]
    along = (found.others @ axis)[:, None]
    directions = along * axis + np.linalg.norm(found.others - along * axis, axis=1)[:, None] * out
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def _turned(directions: FloatArray, axis: FloatArray) -> tuple[FloatArray, TieKind]:
    """Return normals (k, 3), those that are not along the axis turned about it four times, and their kind."""
    normals: list[FloatArray] = []
    kind = TieKind.FINITE
    for direction in directions:
        along = float(direction @ axis)
        sideways = direction - along * axis
        normals.append(direction)
        if float(np.linalg.norm(sideways)) > CURVED_AXIS:
            third = np.cross(axis, sideways)
            normals += [along * axis + side for side in (third, -sideways, -third)]
            kind = TieKind.CIRCLE
    return np.array(normals), kind


def _round_kind(dim: int) -> TieKind:
    return TieKind.SPHERE if dim == 3 else TieKind.CIRCLE


def _direction(a: Polytope, b: Polytope) -> FloatArray:
    directions = [shape.edge_directions[0] for shape in (a, b) if shape.rank == 1]
    return directions[0]


def _rank(a: Polytope, b: Polytope) -> int:
    """Return the dimension of the Minkowski difference of points and segments; 2 and more for all others."""
    if a.rank > 1 or b.rank > 1:
        return 2
    if a.rank + b.rank < 2:
        return a.rank + b.rank
    one, other = a.edge_directions[0], b.edge_directions[0]
    sine = float(np.linalg.norm(one - (one @ other) * other))
    return 1 if sine <= CURVED_AXIS else 2


def _crosses(a: Polytope, b: Polytope) -> bool:
    """Tell whether points or segments on one line overlap by more than their ends."""
    direction = _direction(a, b)
    low, high = (a.vertices @ direction).min(), (a.vertices @ direction).max()
    low_b, high_b = (b.vertices @ direction).min(), (b.vertices @ direction).max()
    slack = 4.0 * EPS * max(a.magnitude, b.magnitude)
    return bool(high_b - low > slack and high - low_b > slack)
