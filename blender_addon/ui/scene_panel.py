# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the sidebar tab "Contact" that is about the whole scene: the check, its clashes, what is done with them.

Rows that are there for one clash are there for all: no button moves from one clash to the next.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import bpy

from ..check import changes, clash_list
from ..check import results as scene_results
from ..data import messages
from ..data.distance import Distance
from ..data.names import elided
from ..data.objects import frame_of
from ..data.units import UnitFormat
from . import layout, open_clash, scene_operators, status_icons
from .layout import Closed, Tab

STATUS_ICONS: dict[str, Any] = {
    "NEW": "DOT",
    "CHANGED": "ERROR",
    "ACTIVE": "RADIOBUT_OFF",
    "REVIEWED": "HIDE_OFF",
    "APPROVED": "CHECKMARK",
    "RESOLVED": "LOCKED",
}
MOST_SENTENCES = 10
"""So many reasons why something was not checked are shown; the reports have all."""
LINES = 1.9
"""Heights of a line that a row of the list takes: of a list that is drawn taller, Blender makes the rows so."""
TIGHT = 0.85
"""Of a line's height: the two of a clash are closer together than to the next clash."""
SCROLL_BAR = 3
"""Characters that it takes beside the rows."""
WIDTH_OF_STATUS = 0.4
"""Fraction of the width that the status of the active clash takes beside its state."""
ROWS = 4
"""Clashes that the list shows at first; each takes two lines."""


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
        listed = clash_list.drawn(context.scene)
        heading = listed.headings.get(index)
        names = [scene_results.label(item, letter) for letter in "ab"] if heading is None else heading[:2]
        reason = changes.reason(context.scene, index)[1]
        number = messages.row_state(reason) if reason else _number(data, item, UnitFormat.of_scene(context.scene))
        count = f" ({heading.size:,})" if heading is not None and heading.size else ""
        room, fraction = _room_for_names(context), _fraction_of_name(context, number)
        column = layout.column(align=True)
        column.scale_y = TIGHT / LINES
        column.active = item.is_open and not reason
        first = column.split(factor=fraction, align=True)
        left = first.row(align=True)
        left.label(text="", icon_value=status_icons.icon("unknown" if reason else item.relation))
        name = left.row()
        name.active = heading is None or heading.size > 0  # the name of a group once, then dimmed
        name.label(text=elided(names[0], room - len(number) - SCROLL_BAR - len(count)) + count)
        right = first.row()
        right.alignment = "RIGHT"
        right.label(text=number)
        second = column.row(align=True)
        is_plain = item.status == "ACTIVE" or len(listed.statuses) == 1  # an icon that all have tells nothing
        second.label(text="", icon="BLANK1" if is_plain else STATUS_ICONS[item.status])
        second.row().label(text=elided(names[1], room))

    def draw_filter(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        check = scene_results.of_scene(context.scene)
        column = layout.column(align=True)
        column.scale_y = 1.0 / LINES
        row = column.row(align=True)
        row.prop(check, "search", text="", icon="VIEWZOOM")
        row.prop(check, "sort", text="", icon="SORTSIZE", icon_only=True)
        row = column.row(align=True)
        for status, count in clash_list.drawn(context.scene).statuses.items():
            row.prop(check, f"show_{status.lower()}", text=f"{count:,}", icon=STATUS_ICONS[status], toggle=True)

    def filter_items(self, context: bpy.types.Context, data: Any, property_name: str) -> tuple[list[int], list[int]]:
        return clash_list.shown(context.scene).filtered


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
        layout.label(text=" | ".join(names) if len(names) == 2 else f"{names[0]}, all pairs" if names else "Deleted")


class CONTACT_LENS_MT_ignore(bpy.types.Menu):
    """Leave this pair, or all pairs of an object, out of future checks"""

    bl_label = "Ignore"

    def draw(self, context: bpy.types.Context) -> None:
        clash = scene_results.active_clash(context.scene)
        if clash is None:
            return
        menu = self.layout
        menu.operator("contact_lens.ignore_pair", text="This Pair").what = "FINDING"
        for letter in "ab":
            if (owner := scene_results.owner(clash, letter)) is not None:
                text = messages.all_pairs_of(owner.name)
                menu.operator("contact_lens.ignore_pair", text=text, translate=False).what = letter.upper()


class CONTACT_LENS_PT_scene(Tab, Closed, bpy.types.Panel):
    bl_label = "Scene Check"

    def draw(self, context: bpy.types.Context) -> None:
        panel = self.layout
        check = scene_results.of_scene(context.scene)
        column = panel.column(align=True)
        fraction = scene_operators.progress_of(context.scene)
        if not layout.progress(column, fraction, "Checking", "check"):
            column.operator("contact_lens.check_scene", icon="VIEWZOOM")
        row = column.row(align=True)
        row.prop(check, "scope", text="")
        row.prop(check, "clearance")
        of_scope = {"COLLECTIONS": ("collection_a", "collection_b"), "ONE": ("object",)}.get(check.scope, ())
        if of_scope:
            row = column.row(align=True)
            for name in of_scope:
                row.prop(check, name, text="")
        if not check.summary:
            return
        record = _record(check.summary)
        _draw_state(panel, context, record)
        _draw_left_out(panel, context, record)
        two_lines = panel.column()
        two_lines.scale_y = LINES
        two_lines.template_list(
            "CONTACT_LENS_UL_findings",
            "",
            check,
            "findings",
            check,
            "active",
            item_dyntip_propname="tooltip",
            rows=ROWS,
            maxrows=ROWS,
            sort_lock=True,
        )
        clash = scene_results.active_clash(context.scene)
        _draw_buttons(panel, context, clash)
        if check.findings:
            _draw_clash(panel, context, clash)
        row = panel.row(align=True)
        row.operator("contact_lens.save_scene_report", text="Save Report", icon="EXPORT")
        row.operator("contact_lens.clear_findings", text="", icon="TRASH")


@lru_cache(maxsize=4)
def _record(summary: str) -> dict[str, Any]:
    """Return the stored record of a check, which may be long, as plain data that must not be changed."""
    record: dict[str, Any] = json.loads(summary)
    return record


def _draw_state(panel: bpy.types.UILayout, context: bpy.types.Context, record: dict[str, Any]) -> None:
    """Draw how many clashes the last check has found, which filter the list, and whether they are up to date."""
    check = scene_results.of_scene(context.scene)
    counts, changed, comparing = changes.totals(context.scene)
    column = panel.column(align=True)
    groups = dict.fromkeys(clash_list.GROUPS, 0)
    for relation in scene_results.RELATIONS:
        groups[clash_list.group_of(relation)] += counts.get(relation, 0)
    found = {group.lower(): count for group, count in groups.items() if count}
    row = column.row(align=True)
    texts = {word: f"{count:,} {messages.RELATIONS[word].lower()}" for word, count in found.items()}
    if sum(len(text) + layout.ICON_WIDTH for text in texts.values()) > 1.2 * layout.characters(context):
        texts = {word: f"{count:,}" for word, count in found.items()}
    for word, text in texts.items():
        row.prop(check, f"show_{word}", text=text, icon_value=status_icons.icon(word), toggle=True)
    states = []
    if record["partial"]:
        done = record["checked_pairs"] / record["candidate_pairs"] if record["candidate_pairs"] else 0.0
        states.append(messages.stopped_at(done))
    if record["frame"] != frame_of(context.scene):
        states.append(messages.checked_at(record["frame"]))
    if changed:
        states.append(messages.count_out_of_date(sum(changed.values())))
    icon: Any = "ERROR" if states else "CHECKMARK"
    if not states and comparing:
        states, icon = [messages.comparing_clashes(comparing)], "SORTTIME"
    text = ", ".join([*([] if found else [messages.NO_CLASHES]), *(states or [messages.UP_TO_DATE])]).capitalize()
    row = column.row(align=True)
    row.label(text=layout.fitting(text, layout.characters(context) - 2 * layout.ICON_WIDTH), icon=icon)
    row.prop(check, "only_changed", text="", icon="FILTER")


def _draw_left_out(panel: bpy.types.UILayout, context: bpy.types.Context, record: dict[str, Any]) -> None:
    """Draw in one line how much was not checked, unfolded why, and what else the check has left out."""
    unchecked = [messages.capitalized(entry["reason"]) for entry in record["skipped"] if entry["unchecked"]]
    others = [messages.difference(entry) for entry in record.get("differences", [])]
    others += [entry["reason"] for entry in record["skipped"] if not entry["unchecked"]]
    if hidden := messages.not_visible(record):
        others.insert(0, hidden)
    if not unchecked and not others:
        return
    header, body = panel.panel("CONTACT_LENS_PT_left_out", default_closed=True)
    text = messages.things_not_checked(len(unchecked)) if unchecked else messages.left_out(len(others))
    header.label(text=text, icon="ERROR" if unchecked else "INFO")
    if body is None:
        return
    for texts, icon in ((unchecked, "ERROR"), (others, "INFO")):
        for text in texts[:MOST_SENTENCES]:
            layout.sentence(body, context, text, icon)
        if len(texts) > MOST_SENTENCES:
            layout.sentence(body, context, messages.more_left_out(len(texts) - MOST_SENTENCES), icon)


def _draw_buttons(
    panel: bpy.types.UILayout, context: bpy.types.Context, clash: scene_results.ContactLensFinding | None
) -> None:
    """Draw what leads from clash to clash, and what can be done with the active one."""
    check, listed = scene_results.of_scene(context.scene), clash_list.drawn(context.scene)
    column = panel.column(align=True)
    first = column.split(factor=0.25, align=True)
    first.operator("contact_lens.previous_finding", text="", icon="TRIA_LEFT")
    second = first.split(factor=2.0 / 3.0, align=True)
    place = second.row(align=True)
    place.alignment = "CENTER"
    place.label(text=messages.place_in_list(listed.places.get(check.active), len(listed.rows)))
    second.operator("contact_lens.go_to_finding", text="", icon="TRIA_RIGHT").step = 1
    row = column.row(align=True)
    row.operator("contact_lens.set_status", text="Approve", icon="CHECKMARK").status = "APPROVED"
    ignore = row.row(align=True)
    ignore.enabled = clash is not None and not open_clash.missing(context.scene, clash)
    ignore.menu("CONTACT_LENS_MT_ignore", text="Ignore")
    row.operator("contact_lens.separate_finding", text="Move Out").moves = "B"
    row.prop(check, "ghost", text="", icon="GHOST_ENABLED", toggle=True)


def _draw_clash(
    panel: bpy.types.UILayout, context: bpy.types.Context, clash: scene_results.ContactLensFinding | None
) -> None:
    """Draw what the list does not say of the active clash, in as many rows as of any other."""
    column = panel.column(align=True)
    if clash is None:
        column.label(text=messages.CLICK_CLASH, icon="INFO")
        column.label(text="")
        return
    row, scene = clash.row(), context.scene
    reason = scene_results.why_out_of_date(scene, scene_results.of_scene(scene).active, clash)
    first = column.split(factor=1.0 - WIDTH_OF_STATUS)
    beside = round(WIDTH_OF_STATUS * layout.characters(context))
    fraction, frame = open_clash.progress_of(scene), row.get("frame")  # files saved earlier do not say
    if fraction is not None:
        first.progress(factor=fraction, text=messages.in_progress("Inspecting", fraction))
    elif reason:
        sentence = messages.capitalized(reason)
        layout.line(first, context, sentence, sentence, "ERROR", beside)
    elif frame not in (None, frame_of(scene)):
        first.label(text=messages.capitalized(messages.found_at(frame)), icon="INFO")
    else:
        first.label(text=messages.UP_TO_DATE, icon="CHECKMARK")
    first.prop(clash, "status", text="")
    if row["notes"]:
        layout.line(column, context, row["notes"][0], ". ".join(row["notes"]), "INFO")
    else:
        column.label(text="")


class CONTACT_LENS_PT_scene_settings(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_scene"
    bl_label = "Settings"

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        check = scene_results.of_scene(context.scene)
        touching = ("touching", "least_contact") if check.touching else ("touching",)
        layout.properties(panel, check, *touching, "instances", "exact")
        names = ("parents", "collections", "joined", "approved", "listed")
        column = panel.column(heading="Ignore", align=True)
        for name in names:
            column.prop(check, f"ignore_{name}")
        row = panel.row()
        row.active = check.ignore_listed
        row.template_list("CONTACT_LENS_UL_ignored", "", check, "ignored", check, "active_ignored", rows=3)
        side = row.column(align=True)
        side.operator("contact_lens.ignore_pair", text="", icon="ADD").what = "SELECTED"
        side.operator("contact_lens.unignore", text="", icon="REMOVE")
        ignored = _record(check.summary)["ignored_pairs"] if check.summary else {}
        if ignored:
            panel.label(text=f"{messages.counted(sum(ignored.values()), 'pair')} ignored", icon="INFO")


def _room_for_names(context: bpy.types.Context) -> int:
    """Return how many characters there are in a line of the list beside its icon."""
    return layout.characters(context) - layout.ICON_WIDTH - SCROLL_BAR


def _fraction_of_name(context: bpy.types.Context, number: str) -> float:
    """Return the fraction of a row that is for a name: a number that is cut off is worse than a name."""
    return max(0.4, 1.0 - (len(number) + SCROLL_BAR) / layout.characters(context))


def _number(check: Any, clash: Any, units: UnitFormat) -> str:
    """Return the number in the row of a clash: what the list is sorted by, else depth or gap."""
    if check.sort == "AREA":
        return units.area(clash.area)
    return "apart" if clash.is_apart else _number_of(clash.row(), units)


def _number_of(row: dict[str, Any], units: UnitFormat) -> str:
    """Return the number of a clash; of two open surfaces that there is none."""
    return "no depth" if row["signed_distance"] is None else Distance.of_row(row).text(units)


CLASSES = (
    CONTACT_LENS_UL_findings,
    CONTACT_LENS_UL_ignored,
    CONTACT_LENS_MT_ignore,
    CONTACT_LENS_PT_scene,
    CONTACT_LENS_PT_scene_settings,
)
