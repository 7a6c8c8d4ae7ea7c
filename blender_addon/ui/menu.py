# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators in Blender's menus: F3 finds what is in a menu, so the Object menu has them all."""

from __future__ import annotations

import bpy

from ..clashes.move_all import LISTED, SELECTED
from ..live import handlers
from ..operators import (
    frames_operators,
    measure_operators,
    move_operators,
    overlap_object,
    pair_operators,
    scene_operators,
    section_operators,
    select_faces,
    steps_operators,
)
from ..operators.move_all_operator import CONTACT_LENS_OT_move_all_out


class CONTACT_LENS_MT_contact(bpy.types.Menu):
    """Inspect a pair of objects, or check the scene"""

    bl_label = "Contact"

    def draw(self, context: bpy.types.Context) -> None:
        for group in (
            pair_operators.IN_MENU[1:],
            (*measure_operators.IN_MENU, *select_faces.IN_MENU),
            (*section_operators.IN_MENU, *overlap_object.CLASSES),
            move_operators.IN_MENU,
            (*scene_operators.IN_MENU, *frames_operators.IN_MENU),
            steps_operators.IN_MENU,
        ):
            for operator in group:
                self.layout.operator(operator.bl_idname)
            if group is move_operators.IN_MENU:
                for scope, text in ((LISTED, "Move All Out"), (SELECTED, "Move Selected Out")):
                    self.layout.operator(CONTACT_LENS_OT_move_all_out.bl_idname, text=text).scope = scope
            self.layout.separator()


def _draw(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.operator("contact_lens.inspect", icon="SELECT_INTERSECT")


def _draw_all(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    _draw(self, context)
    self.layout.menu("CONTACT_LENS_MT_contact")


CLASSES = (CONTACT_LENS_MT_contact,)
_FOLLOWER = handlers.Follower(
    {},
    hooks=(
        (bpy.types.VIEW3D_MT_object, _draw_all),
        (bpy.types.VIEW3D_MT_object_context_menu, _draw),
        (bpy.types.VIEW3D_MT_edit_mesh, _draw),
    ),
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
