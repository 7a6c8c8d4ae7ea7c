# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that measure the inspected pair: how much overlaps."""

from __future__ import annotations

import bpy

from ..live import follow_measures
from ..live.background import Polled
from ..pair import session
from . import pair_operators


def _finish(operator: bpy.types.Operator, context: bpy.types.Context) -> set[str]:
    """Report why something could not be measured: in a window nothing is measured yet."""
    if problem := follow_measures.error(context.scene):
        operator.report({"ERROR"}, problem)
        return {"CANCELLED"}
    return {"FINISHED"}


class CONTACT_LENS_OT_measure_overlap(Polled, bpy.types.Operator):
    """Measure how much of the two objects overlaps"""

    bl_idname = "contact_lens.measure_overlap"
    bl_label = "Measure Overlap"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is not None and not inspection.contact.intersects:
            return "The objects are apart: nothing overlaps"
        return pair_operators.no_result(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        follow_measures.request(context.scene, "volume")
        return _finish(self, context)


IN_MENU = (CONTACT_LENS_OT_measure_overlap,)
CLASSES = IN_MENU
