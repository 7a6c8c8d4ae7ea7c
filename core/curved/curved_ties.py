# SPDX-License-Identifier: GPL-3.0-or-later
"""Equally good normals of curved shapes: a finite number, or all of a circle or a sphere."""

from __future__ import annotations

import numpy as np

from ..result import TieKind
from ..shapes.curved_shape import across
from ..shapes.polytope import Polytope
from ..tolerance import CURVED_AXIS, EPS, TIE_WIDTH
from ..types import FloatArray
from .curved_core import Solved, perpendiculars, slab_widths

_TIE_DIP = 8.0
"""Times TIE_WIDTH and the promised tolerance: normals of round shapes with no deeper dip between them are reported as
one. Along a crease all are nearly as good, and as it bends, those halfway between two of them are worse."""


def find_ties(found: Solved, tolerance: float, axis: FloatArray | None) -> tuple[FloatArray, TieKind]:
    """Return equally good normals, the chosen one first, and whether they represent all of a circle or a sphere."""
    core_a, core_b, normal = found.core_a, found.core_b, found.normal
    if axis is not None and len(axis) == 0:
        normals = [s * direction for direction in (normal, *perpendiculars(normal)) for s in (1.0, -1.0)]
        return np.array(normals), TieKind.SPHERE if len(normal) == 3 else TieKind.CIRCLE
    if core_a.smooth or core_b.smooth:
        if axis is None:
            return _equal_normals(found, found.others, tolerance), TieKind.FINITE
        return _turn_about(_equal_normals(found, _turn_to_chosen(found, axis[1]), tolerance), axis[1])
    if axis is not None:
        return _turn_about(normal[None], axis[1])
    directions = found.others
    if found.slab > tolerance:
        return np.concatenate([normal[None], directions[1:]]), TieKind.FINITE
    rank = _difference_rank(core_a.inner, core_b.inner)
    if rank == 1 and len(normal) == 3 and core_a.radius + core_b.radius > 0.0 and _crosses(core_a.inner, core_b.inner):
        sideways = np.cross(_direction(core_a.inner, core_b.inner), normal)
        return np.array([normal, sideways, -normal, -sideways]), TieKind.CIRCLE
    return directions.copy(), TieKind.FINITE


def _equal_normals(found: Solved, others: FloatArray, tolerance: float) -> FloatArray:
    """Return the normals (k, dim) that separate as well as the chosen one, which is the first, each with worse ones
    between it and the others: of normals along a flat optimum only one is reported."""
    normals = [found.normal]
    if found.slab > tolerance:
        return np.array(normals)  # apart: the normal is unique
    width = TIE_WIDTH * tolerance
    enough, dip = found.slab - width, found.slab - _TIE_DIP * width
    for direction in others[slab_widths(found.core_a, found.core_b, others) >= enough]:
        between = np.array(
            [direction + known if float(direction @ known) > -0.99 else perpendiculars(known)[0] for known in normals]
        )
        between = between / np.linalg.norm(between, axis=1)[:, None]
        if (slab_widths(found.core_a, found.core_b, between) < dip).all():
            normals.append(direction)
    return np.array(normals)


def _turn_to_chosen(found: Solved, axis: FloatArray) -> FloatArray:
    """Return the normals (k, 3) that may be as good, rotated about the axis to the side of the chosen one."""
    out = found.normal - float(found.normal @ axis) * axis
    length = float(np.linalg.norm(out))
    out = out / length if length > CURVED_AXIS else across(axis)[0]
    along = (found.others @ axis)[:, None]
    directions = along * axis + np.linalg.norm(found.others - along * axis, axis=1)[:, None] * out
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def _turn_about(directions: FloatArray, axis: FloatArray) -> tuple[FloatArray, TieKind]:
    """Return normals (k, 3), those not along the axis in four positions about it, and their kind."""
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


def _direction(a: Polytope, b: Polytope) -> FloatArray:
    return (a if a.rank == 1 else b).edge_directions[0]


def _difference_rank(a: Polytope, b: Polytope) -> int:
    """Return the dimension of the Minkowski difference of points and segments; 2 for any other."""
    if a.rank > 1 or b.rank > 1:
        return 2
    if a.rank + b.rank < 2:
        return a.rank + b.rank
    direction_a, direction_b = a.edge_directions[0], b.edge_directions[0]
    sine = float(np.linalg.norm(direction_a - (direction_a @ direction_b) * direction_b))
    return 1 if sine <= CURVED_AXIS else 2


def _crosses(a: Polytope, b: Polytope) -> bool:
    """Return whether points or segments on one line overlap by more than their ends."""
    direction = _direction(a, b)
    low, high = (a.vertices @ direction).min(), (a.vertices @ direction).max()
    low_b, high_b = (b.vertices @ direction).min(), (b.vertices @ direction).max()
    slack = 4.0 * EPS * max(a.magnitude, b.magnitude)
    return bool(high_b - low > slack and high - low_b > slack)
