# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the sidebar tab "Contact" that is about the whole scene: settings, clashes, reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import bpy

from ..check import changes
from ..check import results as scene_results
from ..data import messages
from ..data.objects import frame_of
from ..data.units import UnitFormat
from . import layout, open_clash, scene_operators
from .layout import RELATION_ICONS, Closed, Tab

STATUS_ICONS: dict[str, Any] = {
    "NEW": "ERROR",
    "CHANGED": "RECOVER_LAST",
    "ACTIVE": "RADIOBUT_ON",
    "REVIEWED": "HIDE_OFF",
    "APPROVED": "CHECKMARK",
    "RESOLVED": "RADIOBUT_OFF",
}

MOST_UNCHECKED = 5
"""So many reasons why something was not checked are shown; the reports have all."""
NUMBER = 20
"""Characters that a number takes in a row of the list, with the icons beside it."""
MOST_DIFFERENCES = 3
"""The same of settings that differ between viewport and renders."""


class CONTACT_LENS_UL_findings(bpy.types.UIList):
    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: str,
        index: int = 0,
        flt_flag: int = 0,
    ) -> None:
        units = UnitFormat.of_scene(context.scene)
        row = layout.row(align=True)
        reason = changes.reason(context.scene, index)[1]
        row.active = item.is_open and not reason
        split = row.split(factor=_fraction_of_names(context), align=True)
        group = scene_results.grouped(data, index)
        where = split
        if group is not None:  # by object: its name once, then what it meets
            where = split.split(factor=0.5, align=True)
            where.label(text=group[0])
        names = group[1] if group is not None else " | ".join(scene_results.label(item, letter) for letter in "ab")
        where.label(text=names, icon="FILE_REFRESH" if reason else RELATION_ICONS.get(item.relation, "QUESTION"))
        right = split.row(align=True)
        right.alignment = "RIGHT"
        unknown = "comparing" if reason == messages.COMPARING else "changed"
        right.label(text=unknown if reason else _number(data, item, units))
        right.prop(item, "status", text="", icon=STATUS_ICONS[item.status], icon_only=True, emboss=False)

    def draw_filter(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        check = scene_results.of_scene(context.scene)
        column = layout.column(align=True)
        column.prop(check, "search", text="", icon="VIEWZOOM")
        row = column.row(align=True)
        row.prop(check, "sort", text="")
        row.prop(check, "show_relation", text="")
        row = column.row(align=True)
        row.prop(check, "show_approved", toggle=True)
        row.prop(check, "show_resolved", toggle=True)

    def filter_items(self, context: bpy.types.Context, data: Any, property_name: str) -> tuple[list[int], list[int]]:
        shown = scene_results.shown(data)
        is_shown = set(shown)
        flags = [self.bitflag_filter_item if k in is_shown else 0 for k in range(len(data.findings))]
        order = [*shown, *(k for k, flag in enumerate(flags) if not flag)]
        return flags, sorted(range(len(order)), key=order.__getitem__)  # the inverse: the place of each


class CONTACT_LENS_UL_ignored(bpy.types.UIList):
    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: str,
        index: int = 0,
        flt_flag: int = 0,
    ) -> None:
        names = [obj.name for obj in (item.object_a, item.object_b) if obj is not None]
        layout.label(text=" | ".join(names) if len(names) == 2 else f"All of {names[0]}" if names else "(Deleted)")


class CONTACT_LENS_PT_scene(Tab, Closed, bpy.types.Panel):
    bl_label = "Scene Check"

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        check = scene_results.of_scene(context.scene)
        fraction = scene_operators.progress_of(context.scene)
        if not layout.progress(panel, fraction, "Checking", "check"):
            panel.operator("contact_lens.check_scene", icon="VIEWZOOM")
        of_scope = {"COLLECTIONS": ("collection_a", "collection_b"), "ONE": ("object",)}.get(check.scope, ())
        touching = ("touching", "least_contact") if check.touching else ("touching",)
        layout.properties(panel, check, "scope", *of_scope, "clearance", *touching, "instances", "exact")
        if not check.summary:
            return
        _draw_summary(panel.box(), context, json.loads(check.summary))
        panel.template_list("CONTACT_LENS_UL_findings", "", check, "findings", check, "active", rows=6, sort_lock=True)
        row = panel.row(align=True)
        row.operator("contact_lens.previous_finding", text="Previous", icon="TRIA_LEFT")
        row.operator("contact_lens.go_to_finding", text="Next", icon="TRIA_RIGHT").step = 1
        row.prop(check, "ghost", text="", icon="GHOST_ENABLED", toggle=True)
        clash = scene_results.active_clash(context.scene)
        if clash is not None:
            _draw_clash(panel.box(), context, clash)
        row = panel.row(align=True)
        row.operator("contact_lens.save_scene_report", text="Save Report", icon="EXPORT")
        row.operator("contact_lens.clear_findings", text="", icon="TRASH")


def _draw_summary(box: bpy.types.UILayout, context: bpy.types.Context, check: dict[str, Any]) -> None:
    """Draw how many clashes the last check has found, whether they are up to date, and what was not checked."""

    def say(text: str, icon: str) -> None:
        layout.sentence(box, context, text, icon)

    def say_first(texts: list[str], most: int, more: Callable[[int], str], icon: str) -> None:
        for text in texts[:most]:
            say(text, icon)
        if len(texts) > most:
            say(more(len(texts) - most), icon)

    counts, changed, comparing = changes.totals(context.scene)
    if check["partial"]:
        done = check["checked_pairs"] / check["candidate_pairs"] if check["candidate_pairs"] else 0.0
        say(messages.partial(done), "ERROR")
    if check["frame"] != frame_of(context.scene):
        say(messages.checked_at(check["frame"]), "INFO")
    if changed:
        box.label(text=messages.changed_clashes(sum(changed.values())), icon="ERROR")
    elif comparing:
        box.label(text=messages.comparing_clashes(comparing), icon="SORTTIME")
    else:
        box.label(text=messages.UP_TO_DATE, icon="CHECKMARK")
    lines = [
        (
            word.replace("_", " ").capitalize(),
            f"{counts[word]:,}" + (f" ({changed[word]:,} changed)" if word in changed else ""),
        )
        for word in (*scene_results.RELATIONS, "approved", "resolved")
        if word in counts
    ]
    layout.rows(box, context, lines or [("Clashes", "none")])
    unchecked = [messages.not_checked(entry["reason"]) for entry in check["skipped"] if entry["unchecked"]]
    say_first(unchecked, MOST_UNCHECKED, messages.more_unchecked, "ERROR")
    if hidden := messages.not_visible(check):
        say(hidden, "INFO")
    differences = [messages.differs_in_renders(entry) for entry in check.get("differences", [])]
    say_first(differences, MOST_DIFFERENCES, messages.more_differences, "INFO")
    others = [entry["reason"] for entry in check["skipped"] if not entry["unchecked"]]
    if others:
        say(others[0] + messages.and_more(len(others) - 1), "INFO")


def _draw_clash(box: bpy.types.UILayout, context: bpy.types.Context, clash: scene_results.ContactLensFinding) -> None:
    """Draw everything known about a clash, and what can be done about it."""
    row, units = clash.row(), UnitFormat.of_scene(context.scene)
    lines = [
        ("A", scene_results.label(clash, "a")),
        ("B", scene_results.label(clash, "b")),
        ("Relation", row["relation"].replace("_", " ").capitalize()),
        _distance(row, units),
    ]
    if row["area"] > 0.0:
        lines.append(("Area", units.area(row["area"])))
    lines.append(("Center", units.vector(row["center"])))
    frame = row.get("frame")  # files saved earlier do not say
    if frame not in (None, frame_of(context.scene)):
        lines.append(("Found at Frame", str(frame)))
    reason = scene_results.why_out_of_date(context.scene, scene_results.of_scene(context.scene).active, clash)
    box.label(text=reason or messages.UP_TO_DATE, icon="ERROR" if reason else "CHECKMARK")
    column = box.column()
    column.active = not reason
    layout.rows(column, context, lines)
    fraction = open_clash.progress_of(context.scene)
    if fraction is not None:
        box.progress(factor=fraction, text=messages.in_progress("Inspecting", fraction))
    for note in row["notes"]:
        layout.sentence(box, context, note, "INFO")
    box.prop(clash, "status")
    buttons = box.row(align=True)
    buttons.operator("contact_lens.separate_finding", text="Separate B").moves = "B"
    ignore = buttons.row(align=True)
    ignore.enabled = not open_clash.missing(context.scene, clash)
    ignore.operator("contact_lens.ignore_pair", text="Ignore Pair").what = "FINDING"


class CONTACT_LENS_PT_scene_ignore(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_scene"
    bl_label = "Ignore"

    def draw(self, context: bpy.types.Context) -> None:
        panel = self.layout
        check = scene_results.of_scene(context.scene)
        names = ("parents", "collections", "joined", "approved", "listed")
        layout.properties(panel, check, *(f"ignore_{name}" for name in names))
        row = panel.row()
        row.active = check.ignore_listed
        row.template_list("CONTACT_LENS_UL_ignored", "", check, "ignored", check, "active_ignored", rows=3)
        side = row.column(align=True)
        side.operator("contact_lens.ignore_pair", text="", icon="ADD").what = "SELECTED"
        side.operator("contact_lens.unignore", text="", icon="REMOVE")
        ignored = json.loads(check.summary)["ignored_pairs"] if check.summary else {}
        if ignored:
            panel.label(text=f"{messages.counted(sum(ignored.values()), 'pair')} left out", icon="INFO")


def _fraction_of_names(context: bpy.types.Context) -> float:
    """Return the fraction of a row of the list that is for names: a number that is cut off is worse than a name."""
    return max(0.5, 1.0 - NUMBER / layout.characters(context))


def _number(check: Any, clash: Any, units: UnitFormat) -> str:
    """Return the number in the row of a clash: what the list is sorted by, else depth or gap."""
    if check.sort == "AREA":
        return units.area(clash.area)
    if clash.is_apart:
        return "apart"
    most = "\N{LESS-THAN OR EQUAL TO} " if clash.is_at_most else ""
    return most + units.length(abs(clash.signed_distance)) if clash.has_depth else "no depth"


def _distance(row: dict[str, Any], units: UnitFormat) -> tuple[str, str]:
    """Return the one number of a clash, with its name."""
    if row["signed_distance"] is None:
        return "Depth", f"none: {messages.NO_DEPTH}"
    most = "at most " if messages.is_at_most(row) else ""
    return "Depth" if row["intersects"] else "Gap", most + units.length(abs(row["signed_distance"]))


CLASSES = (
    CONTACT_LENS_UL_findings,
    CONTACT_LENS_UL_ignored,
    CONTACT_LENS_PT_scene,
    CONTACT_LENS_PT_scene_ignore,
)
