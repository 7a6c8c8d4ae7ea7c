# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Contact" and the section in the Overlays popover."""

from __future__ import annotations

from math import inf
from typing import Any

import bpy

from ..clashes import check_settings
from ..data import collision_kinds, messages, properties
from ..data.distance import Distance
from ..data.objects import may_have_surface
from ..data.units import along
from ..geometry import collision_shape
from ..live import follow_pair, follow_volumes, steady_warnings
from ..operators import layout, move_operators, pair_operators
from ..operators.layout import Closed, OfPair, Tab
from ..operators.move_operators import CONTACT_LENS_OT_separate
from ..pair import session
from ..report import pair_lines
from ..views import viewport
from . import measures_panel, status_icons

TOGGLES = (
    "show_overlap",
    "show_vector",
    "show_region",
    "show_points",
    "show_hulls",
    "show_labels",
    "show_ties",
    "show_witness",
    "show_deepest",
)
AROUND_RESULT = 12.0
"""Pixels that the box around the result takes."""
FRAME = 2.7
"""Width of the button Frame, in Blender's units of the interface: the direction beside it needs the rest."""
LETTER = 0.8
"""Width of the letters A and B, in Blender's units of the interface."""
PICKER = 0.58
"""Of the width of a row: the picker of an object, beside its collision shape."""
ICONS = 2.0
"""Width of the icons of a picker, in Blender's units of the interface: narrower they are drawn over each other."""
AROUND_NAME = 68.0
"""Pixels that letter, swap and the icons of a picker take."""
AROUND_LONG_NAME = 112.0
"""Pixels beside a name that is too long for that: letter and swap, picker and shape, which are icons."""
SHAPE_ICONS: dict[str, Any] = {
    collision_kinds.AUTOMATIC: "PHYSICS",
    collision_kinds.CONVEX_HULL: "MESH_ICOSPHERE",  # these are Blender's for rigid bodies
    collision_kinds.BOX: "MESH_CUBE",
    collision_kinds.SPHERE: "MESH_UVSPHERE",
    collision_kinds.CAPSULE: "MESH_CAPSULE",
    collision_kinds.CYLINDER: "MESH_CYLINDER",
    collision_kinds.CONE: "MESH_CONE",
    collision_kinds.COMPOUND: "MESH_DATA",
    collision_kinds.MESH: "MESH_MONKEY",
}


def _draw_pair(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the pickers of A and B with the collision shapes of their objects, or of those that are selected."""
    settings = properties.settings_of(context.scene)
    names: tuple[str, str] = ("", "")
    shaped = properties.shaped_pair(context.scene)
    if shaped == (None, None):
        selected = pair_operators.chosen_pair(context)
        if not isinstance(selected, str):
            shaped = selected
            names = selected[0].name, selected[1].name
    room = PICKER * layout.room_of(context) - AROUND_NAME
    is_long = any(layout.width_of(context, obj.name) > room for obj in shaped if obj is not None)
    row = panel.row(align=True)
    letters = row.column(align=True)
    letters.ui_units_x = LETTER
    column = row.column(align=True)
    for letter, obj, other, name in zip("ab", shaped, reversed(shaped), names, strict=True):
        letters.label(text=letter.upper())
        if obj is None or not is_long:
            split = column.row() if obj is None else column.split(factor=PICKER, align=True)
            split.prop(settings, f"object_{letter}", text="", placeholder=name)
        else:
            split = column.row(align=True)
            width = layout.room_of(context) - AROUND_LONG_NAME
            split.label(text=layout.elided_to(context, obj.name, width, other.name if other is not None else ""))
            picker = split.row(align=True)
            picker.ui_units_x = ICONS
            picker.prop(settings, f"object_{letter}", text="")
        if obj is not None:
            shape = split.row(align=True)
            shape.enabled = not collision_shape.readonly_reason(obj)
            if is_long:
                icon = SHAPE_ICONS[obj.contact_lens_shape]  # type: ignore[attr-defined]
                shape.prop_menu_enum(obj, "contact_lens_shape", text="", icon=icon)
            else:
                shape.prop(obj, "contact_lens_shape", text="")
    if properties.pair_keys(context.scene) is not None:
        swap = row.column(align=True)
        swap.scale_y = 2.0  # beside both
        swap.operator("contact_lens.swap", text="", icon="AREA_SWAP")


def _draw_result(box: bpy.types.UILayout, context: bpy.types.Context, status: follow_pair.PairStatus) -> None:
    """Draw the three rows that are always there: the relation and the number, the direction, the status."""
    inspection = None if status.is_pending else session.current(context)
    rows = box.column()
    rows.active = not status.is_outdated
    row = rows.row()
    if inspection is None:
        words = "Cannot Be Inspected" if session.error(context) else "No Result"
        row.label(text=messages.PENDING if status.is_pending else words, icon_value=status_icons.icon("unknown"))
    else:
        headline = pair_lines.headline(inspection)
        left, number, _ = layout.with_number(row, context, headline.number, layout.room_of(context) - AROUND_RESULT)
        left.label(text=headline.words, icon_value=status_icons.icon(inspection.contact.relation))
        if headline.number and headline.exact:
            number.operator("contact_lens.copy", text=headline.number, emboss=False).what = pair_operators.NUMBER
        elif headline.number:
            number.label(text=headline.number)
    row = rows.row()
    direction = row.row()
    direction.alignment = "LEFT"
    if inspection is not None and inspection.contact.has_depth and inspection.contact.normal.any():
        text = along(inspection.contact.normal)  # the tooltip has the vector
        copy = direction.operator("contact_lens.copy", text=text, icon="BLANK1", emboss=False)
        copy.what = pair_lines.DIRECTION
    else:
        direction.label(text="", icon="BLANK1")
    right = row.row()
    right.alignment = "RIGHT"
    frame = right.row()
    frame.ui_units_x = FRAME
    frame.operator("contact_lens.frame", text="Frame")
    is_running = layout.progress(box, status.progress, "Inspecting", "inspection")
    if not is_running and not layout.progress(
        box, pair_operators.refinement_of(context.scene), "Refining", "refinement"
    ):
        _draw_status(box.row(), context, status)


def _draw_status(row: bpy.types.UILayout, context: bpy.types.Context, status: follow_pair.PairStatus) -> None:
    """Draw whether the result holds and why not, and the button Refresh where it would change that."""
    problem = session.error(context) or (status.text if status.is_outdated else "")
    if problem:
        layout.line(row, context, problem, problem, "ERROR", layout.ICON_WIDTH)
    elif status.is_following or status.is_provisional:
        row.label(text=status.text, icon="SORTTIME")
    elif status.text:
        row.label(text=status.text, icon="CHECKMARK")
        _draw_flat(row, context)
        inspection = session.current(context)
        if inspection is not None and Distance.of_contact(inspection.contact).is_at_most:
            refine = row.row()
            refine.alignment = "RIGHT"
            refine.operator("contact_lens.refine", text="Refine" if inspection.searched < inf else "Refined")
        return
    else:
        row.label(text="Not inspected yet", icon="INFO")
    if not status.is_following:
        refresh = row.row()
        refresh.alignment = "RIGHT"
        refresh.operator("contact_lens.refresh", text="", icon="FILE_REFRESH")


def _draw_flat(row: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the switch that inspects two flat objects of one plane in it."""
    inspection = session.current(context)
    if inspection is not None and (inspection.flat is not None or inspection.are_coplanar):
        switch = row.row()
        switch.alignment = "RIGHT"
        switch.prop(properties.settings_of(context.scene), "flat", text="Inspect in 2D", toggle=True)


def _draw_warnings(panel: bpy.types.UILayout, context: bpy.types.Context, status: follow_pair.PairStatus) -> None:
    for warning in steady_warnings.of(context, status):
        row = panel.row()
        row.active = not (status.is_outdated or status.is_pending)
        if warning.text:
            layout.line(row, context, warning.text, warning.sentence or warning.text, "ERROR")
        else:
            row.label()


class CONTACT_LENS_PT_contact(Tab, bpy.types.Panel):
    bl_label = "Contact"
    bl_order = 1

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        if properties.pair_keys(context.scene) is not None and pair_operators.are_many(context):
            pair_operators.draw_check_selected(self.layout)
        elif properties.pair_keys(context.scene) is not None:
            others = pair_operators.is_another_pair(context)
            text = "Inspect" if others else ""
            self.layout.operator("contact_lens.inspect", text=text, icon="SELECT_INTERSECT", emboss=others)
        if properties.picked(context.scene):
            self.layout.operator("contact_lens.clear", text="", icon="X", emboss=False)
            self.layout.separator()

    def draw(self, context: bpy.types.Context) -> None:
        panel, status = self.layout, follow_pair.status(context)
        is_pinned = properties.pair_keys(context.scene) is not None
        if not is_pinned:
            button = panel.row()
            button.scale_y = 1.4
            if pair_operators.are_many(context):
                pair_operators.draw_check_selected(button)
            else:
                button.enabled = not isinstance(pair_operators.chosen_pair(context), str)
                button.operator("contact_lens.inspect", icon="SELECT_INTERSECT")
        _draw_pair(panel, context)
        if is_pinned:
            _draw_result(panel.box(), context, status)
            move_operators.draw_button(
                panel.row(align=True),
                context,
                CONTACT_LENS_OT_separate,
                "CONTACT_LENS_MT_move_out",
                layout.characters(context),
            )
            _draw_warnings(panel, context, status)
        elif not layout.progress(panel, status.progress, "Inspecting", "inspection"):
            reason = pair_operators.chosen_pair(context)
            if isinstance(reason, str):
                layout.line(panel, context, reason.partition(":")[0], reason, "INFO")
        if viewport.error():
            layout.sentence(panel, context, viewport.error(), "ERROR")


def _known(rows: list[pair_lines.Row], status: follow_pair.PairStatus) -> list[pair_lines.Row]:
    """Return rows without the texts that do not hold while an answer is on its way."""
    return [pair_lines.Row(row.name, messages.PENDING) for row in rows] if status.is_pending else rows


class CONTACT_LENS_PT_measurements(OfPair, bpy.types.Panel):
    bl_label = "Measurements"

    def draw(self, context: bpy.types.Context) -> None:
        inspection = session.current(context)
        if inspection is None:
            return
        status = follow_pair.status(context)
        rows = self.layout.column()
        rows.active = not status.is_outdated
        layout.rows(rows, context, _known(pair_lines.measurements(inspection), status))
        row = self.layout.row(align=True)
        row.operator("contact_lens.copy", text="Copy All", icon="COPYDOWN")
        row.operator("contact_lens.save_json", icon="EXPORT")


class CONTACT_LENS_PT_accuracy(OfPair, bpy.types.Panel):
    bl_label = "Accuracy"

    def draw(self, context: bpy.types.Context) -> None:
        inspection = session.current(context)
        if inspection is None:
            return
        status = follow_pair.status(context)
        self.layout.active = not (status.is_outdated or status.is_pending)
        layout.rows(self.layout, context, _known(pair_lines.accuracy(inspection), status))
        for note in pair_lines.notes(inspection):
            layout.sentence(self.layout, context, note, "INFO")


class CONTACT_LENS_PT_settings(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Settings"

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        layout.properties(panel, properties.settings_of(context.scene), *pair_operators.SETTINGS)


def _draw_toggles(panel: bpy.types.UILayout, context: bpy.types.Context) -> None:
    settings = properties.settings_of(context.scene)
    column = panel.column(align=True)
    column.active = settings.show_overlay
    split = column.split()
    sides = (split.column(align=True), split.column(align=True))
    for i, name in enumerate(TOGGLES):
        sides[i % 2].prop(settings, name)
    sides[len(TOGGLES) % 2].prop(check_settings.of_scene(context.scene), "ghost", text="Ghost")


class CONTACT_LENS_PT_display(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_contact"
    bl_label = "Display"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(properties.settings_of(context.scene), "show_overlay", text="")

    def draw(self, context: bpy.types.Context) -> None:
        _draw_toggles(self.layout, context)


class CONTACT_LENS_PT_volumes(Tab, Closed, bpy.types.Panel):
    bl_label = "Bounding Volumes"
    bl_order = 3

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(properties.settings_of(context.scene), "show_volumes", text="")

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        settings = properties.settings_of(context.scene)
        panel.active = settings.show_volumes
        view = follow_volumes.current(context.scene)
        planes = ("volume_planes",) if settings.volume_kind == "KDOP" else ()
        layout.properties(panel, settings, "volumes_of", "volume_kind", *planes)
        if settings.volumes_of != "OBJECTS":
            split = ("tree_split",) if settings.tree_method == "TOP_DOWN" else ()
            level = () if view is not None and view.descent is not None else ("tree_level", "tree_above")
            layout.properties(panel, settings, "tree_method", *split, *level, "tree_compare", "tree_descent")
        elif not settings.as_volume_settings().is_flat and settings.volume_kind in ("AABB", "KDOP"):
            layout.properties(panel, settings, "volume_climb")
        if not settings.show_volumes:
            return
        if problem := follow_volumes.error(context.scene):
            layout.sentence(panel, context, problem, "INFO")
        if view is not None:
            lines = view.lines
            if view.descent is not None:
                layout.properties(panel, context.window_manager, "contact_lens_test")
                number = view.descent.number_of(context.window_manager.contact_lens_test)  # type: ignore[attr-defined]
                layout.sentence(panel, context, view.descent.sentence(number), "INFO")
                lines = [*lines, *view.descent.rows(number)]
            layout.rows(panel.box(), context, [(name, text, "") for name, text in lines])
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
        self.layout.prop(check_settings.of_scene(context.scene), "show_dots")
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
        return context.object is not None and may_have_surface(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        obj = context.object
        reason = collision_shape.readonly_reason(obj)
        row = panel.row()
        row.enabled = not reason
        row.prop(obj, "contact_lens_shape", text="Shape")
        if reason:
            layout.sentence(panel, context, reason, "LIBRARY_DATA_DIRECT")
        layout.sentence(panel, context, collision_shape.describe(obj), "INFO")


CLASSES = (
    CONTACT_LENS_PT_shape,
    CONTACT_LENS_PT_contact,
    CONTACT_LENS_PT_measurements,
    *measures_panel.CLASSES,
    CONTACT_LENS_PT_accuracy,
    CONTACT_LENS_PT_display,
    CONTACT_LENS_PT_settings,
    CONTACT_LENS_PT_volumes,
    CONTACT_LENS_PT_overlay,
)
