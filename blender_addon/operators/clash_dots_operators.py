# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmo of the dots at all clashes: a click on a dot opens its clash, all other clicks are Blender's."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from ..clashes import check_settings
from ..live.background import Polled
from ..views import clash_dots
from .scene_operators import CONTACT_LENS_OT_go_to_finding
from .steps_operators import CONTACT_LENS_GT_axis, InView


class CONTACT_LENS_OT_open_clash(Polled, bpy.types.Operator):
    """Open a clash of the list, as a click on its row does"""

    bl_idname = "contact_lens.open_clash"
    bl_label = "Open Clash"
    bl_options: Any = {"UNDO", "INTERNAL"}
    disabled_reason = CONTACT_LENS_OT_go_to_finding.disabled_reason

    number: IntProperty(name="Number", description="Number of the clash, from 0 on", min=0)  # type: ignore[valid-type]

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = check_settings.of_scene(context.scene)
        if self.number >= len(check.findings):
            self.report({"ERROR"}, f"The list has no clash {self.number}: check the scene again")
            return {"CANCELLED"}
        check.active = self.number
        return {"FINISHED"}


class CONTACT_LENS_GT_clashes(bpy.types.Gizmo):
    """The dots at the clashes: a click on one opens its clash"""

    __slots__ = ("row",)

    def setup(self) -> None:
        self.row = -1

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what a dot is about while the mouse is on it; the dots themselves are drawn into the view."""
        if self.is_highlight and self.row >= 0:
            clash_dots.draw_pointed(context, self.row)

    def test_select(self, context: bpy.types.Context, location: Any) -> int:
        row = clash_dots.at(context, location)
        self.row = -1 if row is None else row
        return self.row  # as the part of the gizmo: Blender draws again where it is another one

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        row = clash_dots.at(context, (event.mouse_region_x, event.mouse_region_y))
        if row is not None:
            bpy.ops.contact_lens.open_clash("INVOKE_DEFAULT", True, number=row)  # type: ignore[attr-defined]
        return {"RUNNING_MODAL"}

    modal: Any = CONTACT_LENS_GT_axis.modal


class CONTACT_LENS_GGT_clashes(InView, bpy.types.GizmoGroup):
    bl_label = "Clashes"
    bl_options = {"PERSISTENT"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return clash_dots.is_shown(context)

    def setup(self, context: bpy.types.Context) -> None:
        self.gizmos.new(CONTACT_LENS_GT_clashes.__name__)


CLASSES = (CONTACT_LENS_OT_open_clash, CONTACT_LENS_GT_clashes, CONTACT_LENS_GGT_clashes)
