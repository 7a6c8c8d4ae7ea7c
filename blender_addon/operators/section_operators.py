# SPDX-License-Identifier: GPL-3.0-or-later
"""Section at Contact: the operator, its rows in the panel, and the arrow in the view by which the section is moved."""

from __future__ import annotations

from typing import Any, cast

import bpy
from mathutils import Matrix

from ..live.background import Polled
from ..pair import session
from ..views import section
from . import pair_operators
from .steps_operators import InView


class CONTACT_LENS_OT_section(Polled, bpy.types.Operator):
    """Cut the view by a plane through the contact, along its direction, or show all of it again"""

    bl_idname = "contact_lens.section"
    bl_label = "Section at Contact"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        areas = pair_operators.views_of(context)
        if any(section.of_area(area) for area in areas):
            return ""
        if not areas:
            return pair_operators.NO_VIEW
        return pair_operators.no_result(context) or section.unsupported_reason(areas[0])

    def execute(self, context: bpy.types.Context) -> set[str]:
        areas, inspection = pair_operators.views_of(context), session.current(context)
        is_on = any(section.of_area(area) for area in areas)
        section.end()
        if not is_on and inspection is not None:
            section.begin(context, [area for area in areas if not section.unsupported_reason(area)], inspection)
        return {"FINISHED"}


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the rows of the section of the context's view."""
    is_on = section.of_area(context.area) is not None
    column = layout.column(align=True)
    column.use_property_split = False
    column.operator("contact_lens.section", icon="MOD_EDGESPLIT", depress=is_on)
    if section.unsupported_reason(context.area):
        shading = cast(bpy.types.SpaceView3D, context.space_data).shading
        column.prop_enum(shading, "type", "SOLID", text="Use Solid")
    elif is_on:
        row = column.row(align=True)
        row.prop(context.window_manager, "contact_lens_section_offset")
        row.prop(context.window_manager, "contact_lens_section_flipped", text="", icon="ARROW_LEFTRIGHT")


class CONTACT_LENS_GGT_section(InView, bpy.types.GizmoGroup):
    bl_label = "Place of the Section"
    bl_options = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return section.of_view(context.region_data) is not None

    def setup(self, context: bpy.types.Context) -> None:
        gizmo: Any = self.gizmos.new("GIZMO_GT_arrow_3d")
        self.arrow = gizmo
        self.arrow.target_set_handler("offset", get=_offset, set=_move)
        self.arrow.color, self.arrow.alpha = (1.0, 1.0, 1.0), 0.7
        self.arrow.color_highlight, self.arrow.alpha_highlight = (1.0, 1.0, 1.0), 1.0

    def draw_prepare(self, context: bpy.types.Context) -> None:
        if (found := section.of_view(context.region_data)) is not None:
            self.arrow.matrix_basis = Matrix([*zip(*found.axes, found.point, strict=True)]).to_4x4()


def _offset() -> float:
    return float(bpy.context.window_manager.contact_lens_section_offset)  # type: ignore[attr-defined]


def _move(offset: float) -> None:
    bpy.context.window_manager.contact_lens_section_offset = offset  # type: ignore[attr-defined]


IN_MENU = (CONTACT_LENS_OT_section,)
CLASSES = (*IN_MENU, CONTACT_LENS_GGT_section)
