# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the steps of an algorithm."""

from __future__ import annotations

import bpy

from ..data import messages, properties
from ..draw import bake
from ..live import follow_pair, follow_steps
from ..operators import layout, steps_operators
from ..operators.layout import Closed, Tab

WIDER = 1.6
"""Than an icon: each of the buttons that go through the steps."""


class CONTACT_LENS_PT_steps(Tab, Closed, bpy.types.Panel):
    bl_label = "Steps"
    bl_order = 4

    def draw(self, context: bpy.types.Context) -> None:
        panel, scene = layout.form(self.layout), context.scene
        settings, is_on = properties.settings_of(scene), follow_steps.is_on(scene)
        panel.prop(settings, "step_algorithm")
        if is_on:
            panel.operator("contact_lens.end_steps", icon="X")
        else:
            panel.operator("contact_lens.show_steps", icon="PLAY")
        found = follow_steps.current(scene)
        if found is not None:
            _draw_moves(panel, context)
            row = panel.row()
            row.use_property_split = False
            row.prop(context.window_manager, "contact_lens_step", text=found[0].title(found[1]), slider=True)
        layout.properties(panel, settings, "step_speed", *_settings_for(settings))
        if problem := follow_steps.error(scene):
            layout.sentence(panel, context, problem, "ERROR")
            if steps_operators.not_convex(context):
                panel.operator("contact_lens.show_steps_of_hulls", icon="MESH_ICOSPHERE")
        elif found is not None:
            column = panel.column(align=True)
            row = column.row(align=True)
            row.operator("contact_lens.bake_step", icon="OUTLINER_OB_MESH")
            row.operator("contact_lens.copy_trace", icon="COPYDOWN")
            column.operator("contact_lens.save_steps_page", icon="URL")
            sentence = found[0].sentence(found[1]).replace(" - ", "\u00a0-\u00a0")  # a difference stays on one line
            layout.sentence(panel, context, sentence, "INFO")
        elif not layout.progress(panel, follow_steps.progress_of(scene), "Computing", "steps") and is_on:
            layout.sentence(panel, context, follow_pair.status(context).text or messages.PENDING, "INFO")
        if bake.has_baked():
            panel.operator("contact_lens.remove_baked_steps", icon="TRASH")
        panel.operator("contact_lens.open_learn", icon="HELP")


def _draw_moves(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    row = panel.row(align=True)
    row.alignment = "CENTER"
    row.scale_x = WIDER
    for to, _, _, icon, _ in steps_operators.MOVES:
        is_pause = to == "PLAY" and follow_steps.is_playing(context.scene)
        row.operator("contact_lens.go_to_step", text="", icon="PAUSE" if is_pause else icon).to = to


def _settings_for(settings: properties.ContactLensSettings) -> list[str]:
    """Return the settings that the algorithm has."""
    names = ["step_all_axes"] if settings.step_algorithm in ("SAT", "ALL") else []
    if settings.step_algorithm in ("GJK", "EPA", "ALL"):
        names += ["step_sum", "step_beside", *(() if settings.step_beside else ("step_place",))]
    return names


CLASSES = (CONTACT_LENS_PT_steps,)
