# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the sidebar tab "Contact" that is about the whole scene: settings, findings, reports."""

from __future__ import annotations

import json
from typing import Any

import bpy

from ..check import changes
from ..check import results as scene_results
from ..data.units import UnitFormat, counted
from ..read import scene as scene_check
from ..report import messages as answer_words
from ..report.pair import percent
from . import open_clash, scene_operators
from .panels import RELATION_ICONS, _rows, _Tab, _text

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
MOST_DIFFERENCES = 3
"""The same of settings that differ between viewport and renders."""


class CONTACT_LENS_UL_findings(bpy.types.UIList):
    bl_idname = "CONTACT_LENS_UL_findings"

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
        split = row.split(factor=0.5, align=True)  # a number that is cut off is worse than a name
        group = scene_results.grouped(data, index)
        where = split
        if group is not None:  # by object: its name once, then what it meets
            where = split.split(factor=0.5, align=True)
            where.label(text=group[0])
        names = group[1] if group is not None else " | ".join(scene_results.label(item, letter) for letter in "ab")
        where.label(text=names, icon="FILE_REFRESH" if reason else RELATION_ICONS.get(item.relation, "QUESTION"))
        right = split.row(align=True)
        right.alignment = "RIGHT"
        right.label(text=_in_place_of_number(reason) if reason else _number(data, item, units))
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
        count = len(data.findings)
        flags = [0] * count
        places = [0] * count
        for place, k in enumerate(shown):
            flags[k] = self.bitflag_filter_item
            places[k] = place
        rest = len(shown)
        for k in range(count):
            if not flags[k]:
                places[k] = rest
                rest += 1
        return flags, places


class CONTACT_LENS_UL_ignored(bpy.types.UIList):
    bl_idname = "CONTACT_LENS_UL_ignored"

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
        layout.label(text=" | ".join(names) if len(names) == 2 else f"All of {names[0]}" if names else "(gone)")


class CONTACT_LENS_PT_scene(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_scene"
    bl_label = "Scene Check"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        check = scene_results.of_scene(context.scene)
        share = scene_operators.progress_of(context.scene)
        if share is not None:
            row = layout.row(align=True)
            row.progress(factor=share, text=f"Checking: {100.0 * share:.0f} %")
            row.operator("contact_lens.stop_check", text="", icon="X")
        else:
            layout.operator("contact_lens.check_scene", icon="VIEWZOOM")
        column = layout.column(align=True)
        column.prop(check, "scope")
        if check.scope == "COLLECTIONS":
            column.prop(check, "collection_a")
            column.prop(check, "collection_b")
        elif check.scope == "ONE":
            column.prop(check, "object")
        column.prop(check, "clearance")
        column.prop(check, "touching")
        column.prop(check, "instances")
        if not check.summary:
            return

        told = json.loads(check.summary)
        counts, changed, comparing = changes.totals(context.scene)
        box = layout.box()
        if told["partial"]:
            done = told["checked_pairs"] / told["candidate_pairs"] if told["candidate_pairs"] else 0.0
            _text(box, context, f"Partial: stopped after {percent(done)} of the pairs", "ERROR")
        if told["frame"] != scene_check.frame_of(context.scene):
            _text(box, context, f"Checked at another frame: {told['frame']}", "INFO")
        if changed:
            box.label(text=f"{sum(changed.values()):,} changed, check again", icon="ERROR")
        elif comparing:
            box.label(text=f"Comparing {counted(comparing, 'finding')} with the scene", icon="SORTTIME")
        else:
            box.label(text="Up to date", icon="CHECKMARK")
        lines = [
            (
                word.replace("_", " ").capitalize(),
                f"{counts[word]:,}" + (f" ({changed[word]:,} changed)" if word in changed else ""),
            )
            for word in (*scene_results.RELATIONS, "approved", "resolved")
            if word in counts
        ]
        _rows(box, context, lines or [("Findings", "none")])
        unchecked = [entry["reason"] for entry in told["skipped"] if entry["unchecked"]]
        for reason in unchecked[:MOST_UNCHECKED]:
            _text(box, context, f"Not checked: {reason}", "ERROR")
        if len(unchecked) > MOST_UNCHECKED:
            _text(box, context, f"{len(unchecked) - MOST_UNCHECKED:,} more were not checked: save a report", "ERROR")
        hidden = answer_words.hidden(told)
        if hidden:
            _text(box, context, f"Not visible and left out: {', '.join(hidden)}", "INFO")
        differences = told.get("differences", [])
        for entry in differences[:MOST_DIFFERENCES]:
            _text(box, context, f"Differs in renders: {answer_words.difference(entry)}", "INFO")
        if len(differences) > MOST_DIFFERENCES:
            _text(box, context, f"{len(differences) - MOST_DIFFERENCES:,} more differ: save a report", "INFO")
        others = [entry["reason"] for entry in told["skipped"] if not entry["unchecked"]]
        if others:
            more = f", and {len(others) - 1:,} more left out" if len(others) > 1 else ""
            _text(box, context, others[0] + more, "INFO")

        layout.template_list("CONTACT_LENS_UL_findings", "", check, "findings", check, "active", rows=6, sort_lock=True)
        row = layout.row(align=True)
        row.operator("contact_lens.previous_finding", text="Previous", icon="TRIA_LEFT")
        row.operator("contact_lens.go_to_finding", text="Next", icon="TRIA_RIGHT").step = 1
        row.prop(check, "ghost", text="", icon="GHOST_ENABLED", toggle=True)
        finding = scene_operators.active_clash(context)
        if finding is not None:
            self._finding(context, finding)
        row = layout.row(align=True)
        row.operator("contact_lens.save_scene_report", text="Save Report", icon="EXPORT")
        row.operator("contact_lens.clear_findings", text="", icon="TRASH")

    def _finding(self, context: bpy.types.Context, finding: scene_results.ContactLensFinding) -> None:
        layout, units = self.layout, UnitFormat.of_scene(context.scene)
        row = finding.row()
        lines = [
            ("A", scene_results.label(finding, "a")),
            ("B", scene_results.label(finding, "b")),
            ("Relation", row["relation"].replace("_", " ").capitalize()),
            _distance(row, units),
        ]
        if row["area"] > 0.0:
            lines.append(("Area", units.area(row["area"])))
        lines.append(("Center", units.vector(row["center"])))
        frame = row.get("frame")  # files saved earlier do not say
        if frame not in (None, scene_check.frame_of(context.scene)):
            lines.append(("Found at Frame", str(frame)))
        box = layout.box()
        why = scene_results.why_out_of_date(context.scene, scene_results.of_scene(context.scene).active, finding)
        box.label(text=why or "Up to date", icon="ERROR" if why else "CHECKMARK")
        column = box.column()
        column.active = not why
        _rows(column, context, lines)
        share = open_clash.progress_of(context.scene)
        if share is not None:
            box.progress(factor=share, text=f"Inspecting: {100.0 * share:.0f} %")
        for note in row["notes"]:
            _text(box, context, note, "INFO")
        box.prop(finding, "status")
        buttons = box.row(align=True)
        buttons.operator("contact_lens.separate_finding", text="Separate B").moves = "B"
        ignore = buttons.row(align=True)
        ignore.enabled = not open_clash.missing(context.scene, finding)
        ignore.operator("contact_lens.ignore_pair", text="Ignore Pair").what = "FINDING"


class CONTACT_LENS_PT_scene_ignore(_Tab, bpy.types.Panel):
    bl_idname = "CONTACT_LENS_PT_scene_ignore"
    bl_parent_id = "CONTACT_LENS_PT_scene"
    bl_label = "Ignore"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        check = scene_results.of_scene(context.scene)
        column = layout.column(align=True)
        for name in ("parents", "collections", "joined", "approved", "listed"):
            column.prop(check, f"ignore_{name}")
        row = layout.row()
        row.active = check.ignore_listed
        row.template_list("CONTACT_LENS_UL_ignored", "", check, "ignored", check, "active_ignored", rows=3)
        side = row.column(align=True)
        side.operator("contact_lens.ignore_pair", text="", icon="ADD").what = "SELECTED"
        side.operator("contact_lens.unignore", text="", icon="REMOVE")
        if check.summary:
            told = json.loads(check.summary)["ignored_pairs"]
            if told:
                layout.label(text=f"{counted(sum(told.values()), 'pair')} left out", icon="INFO")


def _in_place_of_number(reason: str) -> str:
    """What the row of a finding says when its number may no longer be true."""
    return "comparing" if reason == changes.COMPARING else "changed"


def _number(check: Any, finding: Any, units: UnitFormat) -> str:
    """The number in the row of a finding: what the list is sorted by, else depth or gap."""
    if check.sort == "AREA":
        return units.area(finding.area)
    if finding.is_apart:
        return "apart"
    return units.length(abs(finding.signed_distance)) if finding.has_depth else "no depth"


def _distance(row: dict[str, Any], units: UnitFormat) -> tuple[str, str]:
    """The one number of a finding, with its name. Those of files saved earlier do not say what kind of depth it is."""
    if row["signed_distance"] is None:
        return "Depth", f"none: {answer_words.NO_DEPTH}"
    name = "Depth of Pieces" if row.get("of_pieces") else "Depth"
    most = "at most " if answer_words.is_at_most(row) else ""
    return name if row["intersects"] else "Gap", most + units.length(abs(row["signed_distance"]))


CLASSES = (
    CONTACT_LENS_UL_findings,
    CONTACT_LENS_UL_ignored,
    CONTACT_LENS_PT_scene,
    CONTACT_LENS_PT_scene_ignore,
)
