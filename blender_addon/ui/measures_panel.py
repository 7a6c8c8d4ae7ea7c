# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel Overlap and Clearance: how much of a pair overlaps, how deep, and how wide the gap is everywhere."""

from __future__ import annotations

import bpy

from ..data import properties
from ..live import follow_measures
from ..operators import layout, section_operators
from ..operators.layout import OfPair
from ..pair import session
from ..report import pair_lines


class CONTACT_LENS_PT_measures(OfPair, bpy.types.Panel):
    bl_label = "Overlap and Clearance"

    def draw(self, context: bpy.types.Context) -> None:
        panel, scene = self.layout, context.scene
        inspection, found = session.current(context), follow_measures.valid(context)
        if inspection is not None and found is not None:
            layout.rows(panel, context, pair_lines.measures(inspection, found))
            for note in pair_lines.measure_notes(inspection, found):
                layout.sentence(panel, context, note, "INFO")
        if problem := follow_measures.error(scene):
            layout.sentence(panel, context, problem, "ERROR")
        layout.progress(panel, follow_measures.progress_of(scene), "Measuring", "measures")
        settings = properties.settings_of(scene)
        panel.operator("contact_lens.measure_overlap", icon="SELECT_INTERSECT")
        is_on = follow_measures.is_wanted(scene, "band")
        text = "Hide Clearance Band" if is_on else "Show Clearance Band"
        panel.operator("contact_lens.clearance_band", text=text, icon="SHADERFX", depress=is_on)
        column = layout.form(panel).column(align=True)
        column.prop(settings, "clearance", text="Clearance")
        column.prop(settings, "band_limit")
        row = panel.row(align=True)
        for side in "AB":
            text = f"Faces of {side}"
            row.operator("contact_lens.select_faces", text=text, icon="FACESEL").side = side
        panel.operator("contact_lens.overlap_object", icon="MOD_BOOLEAN")
        section_operators.draw(panel, context)


CLASSES = (CONTACT_LENS_PT_measures,)
