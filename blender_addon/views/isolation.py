# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pair is isolated: the inspected one, for as long as its objects and no others are selected."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.types import FloatArray
from ..data.objects import matrix_numbers
from ..data.properties import pair
from ..pair import session
from ..pair.inspection import Inspection


def is_isolated(context: bpy.types.Context) -> bool:
    """Return whether the inspected pair is isolated: its objects and no others are selected, in Object Mode, and their
    surfaces are known to be those that were read."""
    if session.current(context) is None or session.marked(context.scene) or context.mode != "OBJECT":
        return False
    owners, selection = set(pair(context.scene)), context.view_layer.objects.selected
    return len(selection) == len(owners) and set(selection) == owners


def steps(
    owners: tuple[bpy.types.Object | None, bpy.types.Object | None], inspection: Inspection
) -> tuple[FloatArray, FloatArray]:
    """Return the matrices (4, 4) that take A and B from where they were read to where their owners are now."""
    found = []
    for obj, then in zip(owners, inspection.objects, strict=True):
        now = then.owner_matrix if obj is None else matrix_numbers(obj)
        before, after = (np.array(numbers).reshape(4, 4) for numbers in (then.owner_matrix, now))
        # The inverse may be none: a matrix that flattens has only a pseudo-inverse.
        found.append(np.eye(4) if then.owner_matrix == now else after @ np.linalg.pinv(before))
    return found[0], found[1]
