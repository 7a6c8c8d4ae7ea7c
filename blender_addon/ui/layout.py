# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels are drawn with: rows of numbers, sentences in lines, texts that fit, properties, progress."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import bpy

from ..data import messages

_LETTER_WIDTH = 6.5
"""Pixels of a character at interface scale 1: a little more than the average."""
_MARGIN = 60.0
"""Pixels beside the text: the tabs and the panel's own edges."""
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


def characters(context: bpy.types.Context) -> int:
    """Return how many characters fit in a line of the sidebar."""
    width = context.region.width if context.region is not None else 300
    scale = max(1.0, context.preferences.system.ui_scale)  # Blender says 0 in background mode
    return max(16, int((width / scale - _MARGIN) / _LETTER_WIDTH))


def rows(layout: bpy.types.UILayout, context: bpy.types.Context, lines: Iterable[tuple[str, str]]) -> None:
    """Draw names on the left, numbers on the right, never cut off: what is too long for one line takes two."""
    column = layout.column(align=True)
    column.scale_y = 0.85
    for name, text in lines:
        length = len(name) + len(text) + 2
        if length <= characters(context):
            row = column.split(factor=(len(name) + 1) / length)
            row.label(text=name)
        else:
            column.label(text=name)
            row = column.row()
        right = row.row()
        right.alignment = "RIGHT"
        right.label(text=text)


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


def elided(text: str, room: int) -> str:
    """Return a text of at most `room` characters: what is too long loses its middle."""
    if len(text) <= room:
        return text
    end = max(1, (room - 1) // 2)
    return f"{text[: max(1, room - 1 - end)]}…{text[-end:]}"


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
