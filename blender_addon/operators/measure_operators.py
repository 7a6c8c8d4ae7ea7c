# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that measure the inspected pair: how much overlaps and how deep, how wide the gap is everywhere."""

from __future__ import annotations

import bpy

from ..data import properties
from ..live import follow_measures, handlers
from ..live.background import Polled
from ..measure.pair_measures import no_band_reason
from ..pair import session
from . import pair_operators


def _finish(operator: bpy.types.Operator, context: bpy.types.Context) -> set[str]:
    """Report why something could not be measured: in a window nothing is measured yet."""
    if problem := follow_measures.error(context.scene):
        operator.report({"ERROR"}, problem)
        return {"CANCELLED"}
    return {"FINISHED"}


class CONTACT_LENS_OT_measure_overlap(Polled, bpy.types.Operator):
    """Measure how much of the two objects overlaps, and how far the surface of each is inside the other"""

    bl_idname = "contact_lens.measure_overlap"
    bl_label = "Measure Overlap"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is not None and not inspection.contact.intersects:
            return "The objects are apart: nothing overlaps"
        return pair_operators.no_result(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        for kind in ("volume", "deepest"):
            follow_measures.request(context.scene, kind)
        return _finish(self, context)


class CONTACT_LENS_OT_clearance_band(Polled, bpy.types.Operator):
    """Color A by how wide the gap to B is, red below the clearance; or hide the colors"""

    bl_idname = "contact_lens.clearance_band"
    bl_label = "Clearance Band"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        if follow_measures.is_wanted(context.scene, "band"):
            return ""
        inspection = session.current(context)
        return pair_operators.no_result(context) if inspection is None else no_band_reason(inspection)

    def execute(self, context: bpy.types.Context) -> set[str]:
        if follow_measures.is_wanted(context.scene, "band"):
            follow_measures.leave(context.scene, "band")
            return {"FINISHED"}
        _request_band(context.scene)
        return _finish(self, context)


def _request_band(scene: bpy.types.Scene) -> None:
    limit = properties.settings_of(scene).band_limit
    follow_measures.request(scene, "band", float(f"{limit:.7g}"))


def _limit_changed(scene: bpy.types.Scene) -> None:
    if follow_measures.is_wanted(scene, "band"):
        _request_band(scene)


IN_MENU = (CONTACT_LENS_OT_measure_overlap, CONTACT_LENS_OT_clearance_band)
CLASSES = IN_MENU
_FOLLOWER = handlers.Follower({}, hooks=((properties.on_band, _limit_changed),))
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
