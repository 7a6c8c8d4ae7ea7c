# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Contact" and the section in the Overlays popover."""

from __future__ import annotations

from typing import Any

import bpy

from ..check import session
from ..read import collision_shape
from ..read import snapshot as read
from ..report import pair as report
from . import follow_pair, follow_volumes, operators, viewport

RELATION_ICONS: dict[str, Any] = {
    "coincident": "SELECT_SET",
    "touching": "SNAP_ON",
    "a_inside_b": "SELECT_SUBTRACT",
    "b_inside_a": "SELECT_SUBTRACT",
    "penetrating": "SELECT_INTERSECT",
    "within_clearance": "CON_DISTLIMIT",
    "separated": "DRIVER_DISTANCE",
}
TOGGLES = ("show_hulls", "show_region", "show_points", "show_witness", "show_vector", "show_labels", "show_ties")
WIDTH_OF_LETTER = 6.5
"""Pixels a character takes, at interface scale 1: a little more than the average."""
MARGIN = 60.0
"""Pixels beside the text: the tabs and the panel's own edges."""


def _room(context: bpy.types.Context) -> int:
    """How many characters a line of the sidebar holds."""
    width = context.region.width if context.region is not None else 300
    scale = max(1.0, context.preferences.system.ui_scale)  # Blender says 0 in background mode
    return max(16, int((width / scale - MARGIN) / WIDTH_OF_LETTER))


def _rows(layout: bpy.types.UILayout, context: bpy.types.Context, lines: report.Lines) -> None:
    """Names on the left, numbers on the right, never cut off: what is too long for one line takes two."""
    column = layout.column(align=True)
    column.scale_y = 0.85
    room = _room(context)
    for name, text in lines:
        if len(name) + len(text) + 2 <= room:
            row = column.split(factor=(len(name) + 1) / (len(name) + len(text) + 2))
            row.label(text=name)
        else:
            column.label(text=name)
            row = column.row()
        right = row.row()
        right.alignment = "RIGHT"
        right.label(text=text)


def _text(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: Any) -> None:
    """A sentence in as many lines as the sidebar's width asks for."""
    room = _room(context) - 4  # the icon's place
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(lines):
        column.label(text=line, icon=icon if i == 0 else "BLANK1")


def _draw_shape(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object, text: str) -> None:
    """What an object collides as; of one of another file that can only be read."""
    why_not = collision_shape.why_fixed(obj)
    row = layout.row(align=True)
    row.enabled = not why_not
    row.prop(obj, "contact_lens_shape", text=text)
    if why_not:
        _text(layout, context, why_not, "LIBRARY_DATA_DIRECT")


def _draw_shapes(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What the two objects collide as: those that are picked, else those that are selected."""
    pair = session.pair(context.scene)
    if pair == (None, None):
        selected = operators.chosen_pair(context)
        if isinstance(selected, str):
            return
        pair = selected
    column = layout.column(align=True)
    for letter, obj in zip("AB", pair, strict=True):
        if obj is not None:
            _draw_shape(column, context, obj, f"Shape of {letter}")


def _draw_selected(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What Inspect Contact will inspect, or why it cannot."""
    selected = operators.chosen_pair(context)
    if isinstance(selected, str):
        _text(layout, context, selected, "INFO")
        return
    column = layout.column(align=True)
    room = _room(context) - 4
    for letter, obj in zip("AB", selected, strict=True):
        column.label(text=_fitting(f"{letter} will be '{obj.name}'", room), icon="OBJECT_DATA")


def _draw_status(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """One row, always there: whether the result holds, why not, or how far the next one is."""
    icon: Any
    row = layout.row(align=True)
    share = follow_pair.progress_of(context.scene)
    if share is not None:
        row.progress(factor=share, text=f"Inspecting: {100.0 * share:.0f} %")
        row.operator("contact_lens.cancel_inspection", text="", icon="X")
        return
    if session.current(context) is None:
        problem = session.error(context)
        text, icon = ("Cannot Be Inspected", "ERROR") if problem else ("Not Inspected Yet", "INFO")
    else:
        reason = follow_pair.outdated(context)
        text, icon = (reason[0].upper() + reason[1:], "ERROR") if reason else ("Up to Date", "CHECKMARK")
    row.label(text=_fitting(text, _room(context) - 6), icon=icon)


def _fitting(text: str, room: int) -> str:
    """A text of at most `room` characters: the name in quotes is shortened first, then the end is left out."""
    before, quote, more = text.partition("'")
    name, end, after = more.rpartition("'")
    if quote and end and len(text) > room:
        name = name[: max(3, room - (len(text) - len(name)) - 1)] + "…"
        text = f"{before}'{name}'{after}"
    return text if len(text) <= room else text[: room - 1] + "…"


class _Tab:
    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category = "Contact"


class CONTACT_LENS_PT_contact(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_contact"
    bl_label = "Contact"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = session.settings_of(context.scene)
        layout.operator("contact_lens.inspect", icon="SELECT_INTERSECT")
        column = layout.column(align=True)
        column.prop(settings, "object_a")
        column.prop(settings, "object_b")
        _draw_shapes(layout, context)
        if None in session.pair(context.scene):
            _draw_selected(layout, context)
            return
        # What changes its height comes last: no button moves while the result does.
        inspection = session.current(context)
        data = None if inspection is None else report.build(inspection)
        is_outdated = bool(follow_pair.outdated(context))
        box = layout.box()
        row = box.row()
        row.active = not is_outdated
        if data is None:
            row.label(text="No Result", icon="REMOVE")
        else:
            words = report.relation_words(data)
            icon = RELATION_ICONS[data["contact"]["relation"]]
            row.label(text=f"Outdated: {words}" if is_outdated else words, icon=icon)
        _draw_status(box, context)

        row = layout.row(align=True)
        row.operator("contact_lens.refresh", icon="FILE_REFRESH")
        row.operator("contact_lens.frame", icon="ZOOM_SELECTED", text="Frame")
        row.operator("contact_lens.clear", icon="X", text="")
        row = layout.row(align=True)
        row.operator("contact_lens.separate", text="Separate B").moves = "B"
        row.operator("contact_lens.separate", text="A").moves = "A"
        row.operator("contact_lens.separate", text="Half Each").moves = "HALF"
        row = layout.row(align=True)
        row.operator("contact_lens.copy", icon="COPYDOWN", text="Copy")
        row.operator("contact_lens.save_json", icon="EXPORT", text="Save JSON")

        problem = session.error(context)
        if problem:
            _text(layout, context, problem, "ERROR")
        if data is not None:
            box = layout.box()
            box.active = not is_outdated
            _rows(box, context, report.main_lines(data))
            for text in report.warnings(data):
                _text(box, context, text, "ERROR")
        if viewport.error():
            _text(layout, context, viewport.error(), "ERROR")


class CONTACT_LENS_PT_settings(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_settings"
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Settings"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in operators.SETTINGS:
            layout.prop(session.settings_of(context.scene), name)


class CONTACT_LENS_PT_details(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_details"
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Details"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return session.current(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        inspection = session.current(context)
        if inspection is not None:
            self.layout.active = not follow_pair.outdated(context)
            _rows(self.layout, context, report.detail_lines(report.build(inspection)))


def _draw_toggles(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    settings = session.settings_of(context.scene)
    column = layout.column(align=True)
    column.active = settings.show_overlay
    split = column.split()
    sides = (split.column(align=True), split.column(align=True))
    for i, name in enumerate(TOGGLES):
        sides[i % 2].prop(settings, name)


class CONTACT_LENS_PT_display(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_display"
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Display"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(session.settings_of(context.scene), "show_overlay", text="")

    def draw(self, context: bpy.types.Context) -> None:
        _draw_toggles(self.layout, context)


class CONTACT_LENS_PT_volumes(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_volumes"
    bl_label = "Bounding Volumes"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(session.settings_of(context.scene), "show_volumes", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = session.settings_of(context.scene)
        layout.active = settings.show_volumes
        column = layout.column(align=True)
        column.prop(settings, "volumes_of")
        column.prop(settings, "volume_kind")
        if settings.volume_kind == "KDOP":
            column.prop(settings, "volume_planes")
        if settings.volumes_of != "OBJECTS":
            column = layout.column(align=True)
            column.prop(settings, "tree_method")
            if settings.tree_method == "TOP_DOWN":
                column.prop(settings, "tree_split")
            column.prop(settings, "tree_level")
            column.prop(settings, "tree_above")
        if not settings.show_volumes:
            return
        trouble = follow_volumes.error(context.scene)
        if trouble:
            _text(layout, context, trouble, "INFO")
        view = follow_volumes.current(context.scene)
        if view is not None:
            _rows(layout.box(), context, view.lines)
            for text in view.warnings:
                _text(layout, context, text, "INFO")
        share = follow_volumes.progress_of(context.scene)
        if share is not None:
            row = layout.row(align=True)
            row.progress(factor=share, text=f"Making: {100.0 * share:.0f} %")
            row.operator("contact_lens.cancel_volumes", text="", icon="X")
        elif view is None or follow_volumes.is_outdated(context.scene):
            layout.operator("contact_lens.show_volumes", text="Update", icon="FILE_REFRESH")


class CONTACT_LENS_PT_overlay(bpy.types.Panel):
    """A section of the Overlays popover"""

    bl_idname = "CONTACT_LENS_PT_overlay"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"
    bl_label = "Contact"

    def draw(self, context: bpy.types.Context) -> None:
        space: Any = context.space_data
        self.layout.active = space is None or space.overlay.show_overlays
        self.layout.prop(session.settings_of(context.scene), "show_overlay")
        _draw_toggles(self.layout, context)


class CONTACT_LENS_PT_shape(bpy.types.Panel):
    """In the Properties editor: what the active object collides as"""

    bl_idname = "CONTACT_LENS_PT_shape"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "object"
    bl_label = "Collision Shape"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type in read.TYPES_WITH_SURFACE

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        obj = context.object
        assert obj is not None
        _draw_shape(layout.column(align=True), context, obj, "Shape")
        _text(layout, context, collision_shape.in_words(obj), "INFO")


CLASSES = (
    CONTACT_LENS_PT_shape,
    CONTACT_LENS_PT_contact,
    CONTACT_LENS_PT_settings,
    CONTACT_LENS_PT_details,
    CONTACT_LENS_PT_display,
    CONTACT_LENS_PT_volumes,
    CONTACT_LENS_PT_overlay,
)
