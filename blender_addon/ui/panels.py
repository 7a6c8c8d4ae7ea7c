# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Contact" and the section in the Overlays popover."""

from __future__ import annotations

from typing import Any

import bpy

from ..check import session
from ..data import messages, properties
from ..data.objects import TYPES_WITH_SURFACE
from ..read import collision_shape
from ..report import pair_lines
from . import follow_pair, follow_volumes, layout, operators, viewport
from .layout import Closed, Tab

TOGGLES = ("show_hulls", "show_region", "show_points", "show_witness", "show_vector", "show_labels", "show_ties")


def _draw_shape(panel: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object, text: str) -> None:
    """Draw the collision shape of an object, and why it cannot be changed."""
    reason = collision_shape.readonly_reason(obj)
    row = panel.row(align=True)
    row.enabled = not reason
    row.prop(obj, "contact_lens_shape", text=text)
    if reason:
        layout.sentence(panel, context, reason, "LIBRARY_DATA_DIRECT")


def _draw_shapes(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the shapes of the two objects: those that are picked, else those that are selected."""
    pair = properties.shaped_pair(context.scene)
    if pair == (None, None):
        selected = operators.chosen_pair(context)
        if isinstance(selected, str):
            return
        pair = selected
    column = panel.column(align=True)
    for letter, obj in zip("AB", pair, strict=True):
        if obj is not None:
            _draw_shape(column, context, obj, f"Shape of {letter}")


def _draw_selected(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw which objects Inspect Contact will inspect, or why it cannot."""
    selected = operators.chosen_pair(context)
    if isinstance(selected, str):
        layout.sentence(panel, context, selected, "INFO")
        return
    column = panel.column(align=True)
    room = layout.characters(context) - layout.ICON_WIDTH
    for letter, obj in zip("AB", selected, strict=True):
        column.label(text=layout.fitting(messages.will_be(letter, obj.name), room), icon="OBJECT_DATA")


def _draw_status(box: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw one row that is always there: whether the result holds, why not, or the progress of the next one."""
    icon: Any
    if layout.progress(box, follow_pair.progress_of(context.scene), "Inspecting", "inspection"):
        return
    if session.current(context) is None:
        problem = session.error(context)
        text, icon = ("Cannot Be Inspected", "ERROR") if problem else ("Not Inspected Yet", "INFO")
    else:
        reason = follow_pair.outdated(context)
        text, icon = (messages.capitalized(reason), "ERROR") if reason else (messages.UP_TO_DATE, "CHECKMARK")
    box.row().label(text=layout.fitting(text, layout.characters(context) - 6), icon=icon)


class CONTACT_LENS_PT_contact(Tab, bpy.types.Panel):
    bl_label = "Contact"

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        settings = properties.settings_of(context.scene)
        panel.operator("contact_lens.inspect", icon="SELECT_INTERSECT")
        layout.properties(panel, settings, "object_a", "object_b")
        _draw_shapes(panel, context)
        if None in properties.pair(context.scene):
            _draw_selected(panel, context)
            return
        # What changes its height comes last: no button moves while the result does.
        inspection = session.current(context)
        is_outdated = bool(follow_pair.outdated(context))
        box = panel.box()
        row = box.row()
        row.active = not is_outdated
        if inspection is None:
            row.label(text="No Result", icon="REMOVE")
        else:
            words = pair_lines.relation_words(inspection)
            icon = layout.RELATION_ICONS[inspection.contact.relation]
            row.label(text=f"Outdated: {words}" if is_outdated else words, icon=icon)
        _draw_status(box, context)

        row = panel.row(align=True)
        row.operator("contact_lens.refresh", icon="FILE_REFRESH")
        row.operator("contact_lens.frame", icon="ZOOM_SELECTED", text="Frame")
        row.operator("contact_lens.clear", icon="X", text="")
        row = panel.row(align=True)
        row.operator("contact_lens.separate", text="Separate B").moves = "B"
        row.operator("contact_lens.separate", text="A").moves = "A"
        row.operator("contact_lens.separate", text="Half Each").moves = "HALF"
        row = panel.row(align=True)
        row.operator("contact_lens.copy", icon="COPYDOWN", text="Copy")
        row.operator("contact_lens.save_json", icon="EXPORT", text="Save JSON")

        if problem := session.error(context):
            layout.sentence(panel, context, problem, "ERROR")
        if inspection is not None:
            box = panel.box()
            box.active = not is_outdated
            layout.rows(box, context, [row[:2] for row in pair_lines.measurements(inspection)])
            for text in pair_lines.notes(inspection):
                layout.sentence(box, context, text, "ERROR")
        if viewport.error():
            layout.sentence(panel, context, viewport.error(), "ERROR")


class CONTACT_LENS_PT_settings(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Settings"

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        for name in operators.SETTINGS:
            panel.prop(properties.settings_of(context.scene), name)


class CONTACT_LENS_PT_details(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Details"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return session.current(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        inspection = session.current(context)
        if inspection is not None:
            self.layout.active = not follow_pair.outdated(context)
            layout.rows(self.layout, context, [row[:2] for row in pair_lines.accuracy(inspection)])


def _draw_toggles(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    settings = properties.settings_of(context.scene)
    column = panel.column(align=True)
    column.active = settings.show_overlay
    split = column.split()
    sides = (split.column(align=True), split.column(align=True))
    for i, name in enumerate(TOGGLES):
        sides[i % 2].prop(settings, name)


class CONTACT_LENS_PT_display(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Display"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(properties.settings_of(context.scene), "show_overlay", text="")

    def draw(self, context: bpy.types.Context) -> None:
        _draw_toggles(self.layout, context)


class CONTACT_LENS_PT_volumes(Tab, Closed, bpy.types.Panel):
    bl_label = "Bounding Volumes"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(properties.settings_of(context.scene), "show_volumes", text="")

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        settings = properties.settings_of(context.scene)
        panel.active = settings.show_volumes
        planes = ("volume_planes",) if settings.volume_kind == "KDOP" else ()
        layout.properties(panel, settings, "volumes_of", "volume_kind", *planes)
        if settings.volumes_of != "OBJECTS":
            split = ("tree_split",) if settings.tree_method == "TOP_DOWN" else ()
            layout.properties(panel, settings, "tree_method", *split, "tree_level", "tree_above")
        if not settings.show_volumes:
            return
        if problem := follow_volumes.error(context.scene):
            layout.sentence(panel, context, problem, "INFO")
        view = follow_volumes.current(context.scene)
        if view is not None:
            layout.rows(panel.box(), context, view.lines)
            for text in view.warnings:
                layout.sentence(panel, context, text, "INFO")
        fraction = follow_volumes.progress_of(context.scene)
        is_running = layout.progress(panel, fraction, "Computing", "volumes")
        if not is_running and (view is None or follow_volumes.is_outdated(context.scene)):
            panel.operator("contact_lens.show_volumes", text="Update", icon="FILE_REFRESH")


class CONTACT_LENS_PT_overlay(bpy.types.Panel):
    """A section of the Overlays popover"""

    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"
    bl_label = "Contact"

    def draw(self, context: bpy.types.Context) -> None:
        space: Any = context.space_data
        self.layout.active = space is None or space.overlay.show_overlays
        self.layout.prop(properties.settings_of(context.scene), "show_overlay")
        _draw_toggles(self.layout, context)


class CONTACT_LENS_PT_shape(Closed, bpy.types.Panel):
    """The collision shape of the active object, in the Properties editor"""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "object"
    bl_label = "Collision Shape"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type in TYPES_WITH_SURFACE

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        obj = context.object
        _draw_shape(panel.column(align=True), context, obj, "Shape")
        layout.sentence(panel, context, collision_shape.describe(obj), "INFO")


CLASSES = (
    CONTACT_LENS_PT_shape,
    CONTACT_LENS_PT_contact,
    CONTACT_LENS_PT_settings,
    CONTACT_LENS_PT_details,
    CONTACT_LENS_PT_display,
    CONTACT_LENS_PT_volumes,
    CONTACT_LENS_PT_overlay,
)
