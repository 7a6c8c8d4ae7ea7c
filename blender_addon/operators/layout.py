# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels are drawn with: rows of numbers, sentences in lines, texts that fit, properties, progress."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import blf
import bpy

from ..data import messages
from ..data.names import elided
from ..data.properties import pair_keys

_LETTER_WIDTH = 6.1
"""Pixels of a character at interface scale 1: a little more than the average."""
_MARGIN, _GAP, _ICON = 56.0, 2.0, 20.0
"""Pixels beside the text (the tabs and the panel's own edges), beside each of two texts, and of an icon."""
_AROUND = 13.0
"""Pixels that Blender keeps around a text."""
_NAMES = 0.37
"""Of the width of a row: its name."""
_USUAL_WIDTH = 300.0
"""Pixels of the sidebar, where there is none to ask."""
TAB_AFTER_S = 0.1
"""Seconds until a sidebar that was opened is drawn."""
ICON_WIDTH = 4
"""Characters that an icon takes."""


class Tab:
    """A panel of the sidebar tab "Contact"."""

    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category = "Contact"


class Closed:
    """A panel that is closed until it is opened."""

    bl_options: Any = {"DEFAULT_CLOSED"}


class OfPair(Tab, Closed):
    """A sub-panel that is there while a pair is in the pickers: none of the others moves when its result is gone."""

    bl_parent_id = "CONTACT_LENS_PT_contact"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return pair_keys(context.scene) is not None


def show_tab(area: bpy.types.Area) -> None:
    """Open the sidebar of a 3D view at the tab."""
    pointer = area.as_pointer()
    area.spaces.active.show_region_ui = True  # type: ignore[attr-defined]

    def turn() -> float | None:
        areas = (each for window in bpy.context.window_manager.windows for each in window.screen.areas)
        for each in areas:
            if each.as_pointer() != pointer or each.type != "VIEW_3D":
                continue
            sidebar = next(region for region in each.regions if region.type == "UI")
            if sidebar.active_panel_category == "UNSUPPORTED":  # it has tabs once it was drawn
                return TAB_AFTER_S
            sidebar.active_panel_category = Tab.bl_category
            each.tag_redraw()
        return None

    bpy.app.timers.register(turn, first_interval=TAB_AFTER_S)


def characters(context: bpy.types.Context) -> int:
    """Return how many characters fit in a line of the sidebar."""
    width = context.region.width if context.region is not None else _USUAL_WIDTH
    scale = max(1.0, context.preferences.system.ui_scale)  # Blender says 0 in background mode
    return max(16, int((width / scale - _MARGIN) / _LETTER_WIDTH))


def room_of(context: bpy.types.Context) -> float:
    """Return how wide a line of the sidebar is, in pixels at interface scale 1."""
    scale = max(1.0, context.preferences.system.ui_scale)
    return (_USUAL_WIDTH if context.region is None else context.region.width / scale) - _MARGIN


def width_of(context: bpy.types.Context, text: str) -> float:
    """Return how wide a text is, in pixels at interface scale 1."""
    blf.size(0, context.preferences.ui_styles[0].widget.points)
    return float(blf.dimensions(0, text)[0])


def elided_to(context: bpy.types.Context, name: str, width: float, other: str = "") -> str:
    """Return a name that is at most so wide: Blender would cut it again, whatever it differs by.

    other: a name that it stands beside, from which it can still be distinguished.
    """
    text, room = name, len(name)
    while room > 2 and width_of(context, text) > width:
        room -= 1
        text = elided(name, room, other=other)
    return text


def with_number(
    layout: bpy.types.UILayout, context: bpy.types.Context, number: str, width: float
) -> tuple[bpy.types.UILayout, bpy.types.UILayout, float]:
    """Split a row of a width: the right part is wide enough for a number, which is never cut off.

    Return both parts and how wide the left one is.
    """
    left = width - width_of(context, number) - _AROUND if number else width
    split = layout.split(factor=max(0.1, left / width), align=True)
    parts = split.row(align=True), split.row()
    parts[1].alignment = "RIGHT"
    return *parts, left


def rows(layout: bpy.types.UILayout, context: bpy.types.Context, lines: Iterable[tuple[str, str, str]]) -> None:
    """Draw names, texts beside them as Blender does with properties, and icons that copy what there is to copy.

    Nothing is cut off: what is too long for one line takes two.
    """
    room = room_of(context)
    column = layout.column(align=True)
    column.scale_y = 0.9
    for name, text, copied in lines:
        widths = [width_of(context, each) + _GAP for each in (name, text)]
        if copied:
            widths[1] += _ICON
        is_short = widths[0] < _NAMES * room and widths[1] < (1.0 - _NAMES) * room
        if is_short:
            row = column.split(factor=_NAMES, align=True)
            left = row.row()
            left.alignment = "RIGHT"
            left.label(text=name)
        else:
            column.label(text=name)
            row = column.row(align=True)
        right = row.row(align=True)
        right.label(text=text, icon="NONE" if is_short else "BLANK1")
        if copied:
            right.operator("contact_lens.copy", text="", icon="COPYDOWN", emboss=False).what = name


def sentence(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: Any) -> None:
    """Draw a sentence in as many lines as the sidebar's width asks for."""
    room = characters(context) - ICON_WIDTH
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(lines):
        column.label(text=line, icon=icon if i == 0 else "BLANK1")


def line(
    layout: bpy.types.UILayout, context: bpy.types.Context, text: str, sentence: str, icon: Any, beside: int = 0
) -> None:
    """Draw a text in one line; its tooltip, and a click, show the whole sentence.

    beside: characters that what stands beside it takes.
    """
    row = layout.row()
    row.alignment = "LEFT"
    short = fitting(text, characters(context) - ICON_WIDTH - beside)
    row.operator("contact_lens.explain", text=short, icon=icon, emboss=False).sentence = sentence


def fitting(text: str, room: int) -> str:
    """Return a text of at most `room` characters: the name in quotes is shortened first, then the end is left out."""
    before, quote, more = text.partition("'")
    name, end, after = more.rpartition("'")
    if quote and end:
        text = f"{before}'{elided(name, max(5, room - (len(text) - len(name))))}'{after}"
    return text if len(text) <= room else text[: room - 1] + "…"


def form(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """Set up a layout for properties with their names on the left."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def properties(layout: bpy.types.UILayout, owner: Any, *names: str) -> None:
    """Draw properties close together."""
    column = layout.column(align=True)
    for name in names:
        column.prop(owner, name)


def progress(layout: bpy.types.UILayout, fraction: float | None, text: str, work: str) -> bool:
    """Draw the progress of work that is running and its button Cancel; return whether it is running.

    work: a key of `background.CANCELLATIONS`.
    """
    if fraction is None:
        return False
    row = layout.row(align=True)
    row.progress(factor=fraction, text=messages.in_progress(text, fraction))
    row.operator("contact_lens.cancel", text="", icon="X").work = work
    return True
