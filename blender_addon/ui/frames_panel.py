# SPDX-License-Identifier: GPL-3.0-or-later
"""What the list of clashes has after a check of frames: when each was found, and plot, buttons and sentence of one."""

from __future__ import annotations

import bpy

from ..clashes import check_settings
from ..clashes.finding import ContactLensFinding
from ..clashes.stored_frames import stored_frames
from ..data.units import UnitFormat
from ..frames.sentences import sentence_of, spark
from ..operators import layout
from ..operators.frames_operators import JUMPS
from ..views import sidebar_plot
from .steps_panel import WIDER

AROUND = 16.0
"""Pixels beside the strip and its number."""
LEAST_CELLS, MOST_CELLS = 4, 16
"""Characters of the strip in a row of the list; where there is room for fewer it is left out."""


def when(context: bpy.types.Context, clash: ContactLensFinding, name: str, room: float) -> str:
    """Return from when on a clash is found, after a strip of its depth over frames where beside a name there is room
    for it; empty in a list of one frame."""
    stored = stored_frames(context.scene)
    over = None if stored is None else stored.over(clash.clash_id)
    if over is None:
        return ""
    if over.is_permanent:
        return "permanent"
    words = f"{'at' if over.first == over.last else 'from'} {over.first}"
    cells = int((room - AROUND - layout.width_of(context, f"{name} {words}")) / layout.width_of(context, "█"))
    return f"{spark(over, min(cells, MOST_CELLS))} {words}" if cells >= LEAST_CELLS else words


def draw_plot(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the room for the plot of the active clash, and buttons that go to its frames."""
    sidebar_plot.leave_room(panel, context)
    row = panel.row(align=True)
    row.alignment, row.scale_x = "CENTER", WIDER
    for to, _, _, icon, _ in JUMPS:
        row.operator("contact_lens.go_to_contact", text="", icon=icon).to = to


def draw_sentence(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw when the active clash begins and ends, and how deep it is."""
    series, clash = sidebar_plot.series_of(context.scene), check_settings.active_clash(context.scene)
    if series is not None and clash is not None:
        text = sentence_of({**clash.row(), "over": series}, UnitFormat.of_scene(context.scene))
        layout.sentence(panel, context, text, "TIME")
