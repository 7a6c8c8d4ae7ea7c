# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the sidebar tab "Contact" that is about the whole scene: the check, its clashes, what is done with them.

Rows that are there for one clash are there for all: no button moves from one clash to the next.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import Any

import bpy

from ..clashes import changes, check_settings, clash_list
from ..clashes.finding import RELATIONS, ContactLensFinding
from ..clashes.move_all import LISTED
from ..clashes.stored_frames import stored_frames
from ..data import messages
from ..data.collision_kinds import words_of_side
from ..data.distance import Distance
from ..data.objects import frame_of
from ..data.units import UnitFormat
from ..live import follow_clashes
from ..operators import layout, move_all_operator, move_operators, scene_operators
from ..operators.layout import Closed, Tab
from ..operators.move_operators import CONTACT_LENS_OT_separate_finding
from ..scene import clash_rows
from ..views import open_clash
from . import frames_panel, status_icons

STATUS_ICONS: dict[str, Any] = {
    "NEW": "DOT",
    "CHANGED": "ERROR",
    "ACTIVE": "RADIOBUT_OFF",
    "REVIEWED": "HIDE_OFF",
    "APPROVED": "CHECKMARK",
    "RESOLVED": "CHECKBOX_HLT",
}
ICONS_OF_FILTERS: dict[str, Any] = {
    "only_changed": "ERROR",
    "show_resolved": STATUS_ICONS["RESOLVED"],
    "show_permanent": "PINNED",
}
"""Of those that are not of a relation."""
MOST_SENTENCES = 10
"""So many reasons why something was not checked are shown; the reports have all."""
LINES = 1.75
"""Heights of a line that a row of the list takes: of a list that is drawn taller, Blender makes the rows so."""
TIGHT = 0.85
"""Of a line's height: the two of a clash are closer together than to the next clash."""
AROUND_ROWS, AROUND_NAME = 26.0, 29.0
"""Pixels beside the rows, as the scroll bar, and in a row beside a name."""
WIDTH_OF_STATUS = 0.4
"""Fraction of the width that the status of the active clash takes beside its state."""
ARROW = 0.2
"""Of the width that is left beside the icons below the list: each of the buttons that go to other clashes."""
ROWS = 5
"""Clashes that the list shows at first; each takes two lines."""
LEAST_NAME = 6
"""Letters of a name that must be left beside a shape."""
HEADING, AROUND_COUNTS = 27, 168.0
"""Characters, and pixels, that the header of the panel takes beside the counts."""


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
        heading, is_ignored = listed.headings.get(index), index in listed.ignored
        names = [item.label(letter) for letter in "ab"] if heading is None else heading[:2]
        reason = changes.reason(context.scene, index)[1]
        number = _row_state(reason, is_ignored)
        units = UnitFormat.of_scene(context.scene)
        number = number or _number(data, item, units)
        count = f" ({heading.size:,})" if heading is not None and heading.size else ""
        column = layout.column(align=True)
        column.scale_y = TIGHT / LINES
        column.active = item.is_open and not reason and not is_ignored
        (left, right, room), width = _split_row(column, context, number)
        left.label(text="", icon_value=status_icons.icon("unknown" if reason else item.relation))
        row = item.row()
        sides = [row["a"], row["b"]]
        if names[0] != item.label("a"):
            sides.reverse()
        left.label(text=_name(context, names[0], sides[0], units, room, names[1], count))
        right.label(text=number)
        second = column.row(align=True)
        if when := frames_panel.when(context, item, names[1], width - AROUND_NAME):
            (second, right, width), _ = _split_row(second, context, when)
            right.label(text=when)
        # New is worth a mark only beside clashes that were found before.
        is_plain = item.status == "ACTIVE" or (item.status == "NEW" and "ACTIVE" not in listed.statuses)
        second.label(text="", icon="BLANK1" if is_plain else STATUS_ICONS[item.status])
        second.label(text=_name(context, names[1], sides[1], units, width, names[0]))

    def draw_filter(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        check = check_settings.of_scene(context.scene)
        column = layout.column(align=True)
        column.scale_y = 1.0 / LINES
        column.prop(check, "search", text="", icon="VIEWZOOM")
        for status, count in clash_list.drawn(context.scene).statuses.items():
            name = f"show_{status.lower()}"
            text = f"{check.bl_rna.properties[name].name} ({count:,})"
            column.prop(check, name, text=text, icon=STATUS_ICONS[status], toggle=True)

    def filter_items(self, context: bpy.types.Context, data: Any, property_name: str) -> tuple[list[int], list[int]]:
        return clash_list.shown(context.scene).filtered


def _row_state(reason: str, is_ignored: bool) -> str:
    """Return what stands for the number in a row of the list that is out of date or ignored; empty in others."""
    if reason:
        return "comparing" if reason == messages.COMPARING else messages.OUT_OF_DATE
    return "ignored" if is_ignored else ""


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
        clash = check_settings.active_clash(context.scene)
        if clash is None:
            return
        menu = self.layout
        menu.operator("contact_lens.ignore_pair", text="This Pair").what = "FINDING"
        for letter in "ab":
            if (owner := clash.owner(letter)) is not None:
                text = f"All Pairs of {owner.name}"
                menu.operator("contact_lens.ignore_pair", text=text, translate=False).what = letter.upper()


class CONTACT_LENS_MT_decisions(bpy.types.Menu):
    """Open the saved report, save or load what was decided about clashes, as a file, or clear the list"""

    bl_label = "Decisions"

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.operator("contact_lens.open_report", icon="URL")
        self.layout.separator()
        self.layout.operator("contact_lens.save_decisions", text="Save Decisions...")
        self.layout.operator("contact_lens.load_decisions", text="Load Decisions...")
        self.layout.separator()
        self.layout.operator("contact_lens.clear_findings", icon="TRASH")


class CONTACT_LENS_PT_scene(Tab, bpy.types.Panel):
    """The clashes that the last check has found, above the contact of the one that is open.

    What changes its height from clash to clash is below it: a click on a row never moves the list.
    """

    bl_label = "Clashes"
    bl_order = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(check_settings.of_scene(context.scene).summary)

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        check = check_settings.of_scene(context.scene)
        if not check.summary:
            return
        record = _record(check.summary)
        is_complete = not record["partial"] and not any(entry["unchecked"] for entry in record["skipped"])
        header = self.layout.row()
        header.active = not is_complete
        if not is_complete:
            header.label(icon="ERROR")
        found = _groups(changes.totals(context.scene).words)
        frames = stored_frames(context.scene)
        text = (frames.counts_words() if frames else "") or ", ".join(_counts_in_words(found).values())
        if not found:
            header.label(text=messages.NO_CLASHES)
        elif len(text) <= layout.characters(context) - HEADING:
            header.label(text=text)
        else:  # as many as fit: the panel has all
            room = layout.room_of(context) - AROUND_COUNTS
            for word, count in found.items():
                room -= layout.width_of(context, f"{count:,}") + AROUND_NAME
                if room >= 0.0:
                    header.label(text=f"{count:,}", icon_value=status_icons.icon(word))
        buttons = self.layout.row(align=True)
        buttons.prop(check, "show_dots", text="", icon="HIDE_OFF" if check.show_dots else "HIDE_ON", emboss=False)
        again = "check_scene" if frames is None else "check_frames"
        buttons.operator(f"contact_lens.{again}", text="", icon="FILE_REFRESH", emboss=False)
        buttons.operator("contact_lens.save_scene_report", text="", icon="EXPORT", emboss=False)
        buttons.menu("CONTACT_LENS_MT_decisions", text="", icon="DOWNARROW_HLT")

    def draw(self, context: bpy.types.Context) -> None:
        panel = self.layout
        check = check_settings.of_scene(context.scene)
        record = _record(check.summary)
        _draw_counts(panel.column(align=True), context, record)
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
        if stored_frames(context.scene) is not None:
            frames_panel.draw_plot(panel, context)
        column = panel.column()  # not aligned: Blender would not draw the last buttons of its rows
        _draw_buttons(column, context)
        if check.findings:
            _draw_clash(column, context)
        frames_panel.draw_sentence(panel, context)
        _draw_left_out(panel, context, record)


@lru_cache(maxsize=4)
def _record(summary: str) -> dict[str, Any]:
    """Return the stored record of a check, which may be long, as plain data that must not be changed."""
    record: dict[str, Any] = json.loads(summary)
    return record


def _draw_counts(column: bpy.types.UILayout, context: bpy.types.Context, record: dict[str, Any]) -> None:
    """Draw in two rows how many clashes of each relation there are, and whether the check is complete and of now.

    The counts are buttons that filter the list.
    """
    check = check_settings.of_scene(context.scene)
    counts, changed, _ = changes.totals(context.scene)
    found = _groups(counts)
    texts = {f"show_{word}": text for word, text in _counts_in_words(found).items()}
    if of_margins := counts[clash_rows.WITHIN_MARGINS]:
        texts["show_within_clearance"] = _some_within_margins(
            texts["show_within_clearance"], of_margins, found["within_clearance"]
        )
    room = layout.characters(context)
    first, second = column.row(align=True), column.row(align=True)
    below = {}
    if _width(texts) > room and len(texts) > 1 and "show_within_clearance" in texts:
        below["show_within_clearance"] = texts.pop("show_within_clearance")
    for name, text in texts.items():
        first.prop(check, name, text=text, icon_value=status_icons.icon(name.removeprefix("show_")), toggle=True)
    if not texts:
        first.label(text=messages.NO_CLASHES)
    if changed:
        below["only_changed"] = f"{changed.total():,} out of date"
    if counts[clash_rows.RESOLVED]:
        below["show_resolved"] = f"{counts[clash_rows.RESOLVED]:,} resolved"
    if permanent := clash_list.drawn(context.scene).permanent:
        below["show_permanent"] = f"{permanent:,} permanent"
    if _width(below) > room and "show_within_clearance" in below:
        below["show_within_clearance"] = f"{found['within_clearance']:,} clearance"
    if _width(below) > room:  # the filters below the list have it
        below.pop("show_resolved", None)
    fraction = scene_operators.progress_of(context.scene)
    if not layout.progress(second, fraction, "Checking", "check"):
        _draw_state(second, context, record, room - _width(below))
    for name, text in below.items():
        icon: dict[str, Any] = {"icon": ICONS_OF_FILTERS[name]} if name in ICONS_OF_FILTERS else {}
        icon = icon or {"icon_value": status_icons.icon(name.removeprefix("show_"))}
        second.prop(check, name, text=text, toggle=True, **icon)


def _width(texts: dict[str, str]) -> int:
    """Return how many characters buttons take beside each other."""
    return sum(len(text) + layout.ICON_WIDTH for text in texts.values())


def _groups(counts: Counter[str]) -> dict[str, int]:
    """Return how many clashes there are of each group that the list can be filtered by; counts: by relation."""
    groups = dict.fromkeys(clash_list.GROUPS, 0)
    for relation in RELATIONS:
        groups[clash_list.group_of(relation)] += counts[relation]
    groups["WITHIN_CLEARANCE"] += counts[clash_rows.WITHIN_MARGINS]
    return {group.lower(): count for group, count in groups.items() if count}


def _counts_in_words(groups: dict[str, int]) -> dict[str, str]:
    return {word: f"{count:,} {messages.RELATIONS[word].lower()}" for word, count in groups.items()}


def _some_within_margins(text: str, count: int, total: int) -> str:
    """Return how many gaps are within the clearance, or within collision margins; text: the former."""
    return f"{count:,} within margins" if count == total else f"{text} ({count:,} within margins)"


def _draw_state(row: bpy.types.UILayout, context: bpy.types.Context, record: dict[str, Any], room: int) -> None:
    """Draw whether the last check is complete and of now, in so many characters."""
    _, changed, comparing = changes.totals(context.scene)
    states, frames = [], stored_frames(context.scene)
    if record["partial"] and frames is not None:
        states.append(f"Stopped after frame {frames.frames[-1]:g}")
    elif record["partial"]:
        done = record["checked_pairs"] / record["candidate_pairs"] if record["candidate_pairs"] else 0.0
        states.append(f"Stopped at {messages.percent(done)}")
    if record["frame"] != frame_of(context.scene) and frames is None:
        states.append(f"Checked at frame {record['frame']:g}")
    if unlisted := len(follow_clashes.unlisted(context.scene)):
        states.append(f"{messages.counted(unlisted, 'object')} moved since")
    text = ", ".join(states).capitalize()
    icon: Any = "ERROR"
    if refining := follow_clashes.refining(context.scene):
        text, icon = f"Refining {refining[0]:,} of {refining[1]:,}", "SORTTIME"
    elif not states and not changed and comparing:
        text, icon = f"Comparing {messages.clashes(comparing)}", "SORTTIME"
    elif not states and not changed:
        # The number of permanent ones is on the button beside it.
        text = messages.UP_TO_DATE if frames is None else frames.counts_words().partition(", ")[0]
        icon = "CHECKMARK"
    if text:
        layout.line(row, context, text, text, icon, layout.characters(context) - room)


def _draw_left_out(panel: bpy.types.UILayout, context: bpy.types.Context, record: dict[str, Any]) -> None:
    """Draw in one line how much was not checked, unfolded why, and what else the check has left out."""
    unchecked = [messages.capitalized(entry["reason"]) for entry in record["skipped"] if entry["unchecked"]]
    others = [messages.difference(entry) for entry in record.get("differences", [])]
    others += [entry["reason"] for entry in record["skipped"] if not entry["unchecked"]]
    if left_out := messages.what_is_left_out([record]):
        others.insert(0, messages.capitalized(left_out))
    if not unchecked and not others:
        return
    header, body = panel.panel("CONTACT_LENS_PT_left_out", default_closed=True)
    room = layout.characters(context) - 2 * layout.ICON_WIDTH
    text = messages.not_checked_in_short(record, len(others), room)
    header.label(text=text, icon="ERROR" if unchecked else "INFO")
    if body is None:
        return
    for texts, icon in ((unchecked, "ERROR"), (others, "INFO")):
        for text in texts[:MOST_SENTENCES]:
            layout.sentence(body, context, text, icon)
        if len(texts) > MOST_SENTENCES:
            layout.sentence(body, context, f"{len(texts) - MOST_SENTENCES:,} more: save a report to see all", icon)


def _draw_buttons(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw what leads from clash to clash, and what can be done with the active one."""
    check, listed = check_settings.of_scene(context.scene), clash_list.drawn(context.scene)
    row = column.row(align=True)
    first = row.split(factor=ARROW, align=True)
    first.operator("contact_lens.previous_finding", text="", icon="TRIA_LEFT")
    second = first.split(factor=(1.0 - 2.0 * ARROW) / (1.0 - ARROW), align=True)
    place = second.row(align=True)
    place.alignment = "CENTER"
    place.label(text=_place_in_list(listed.places.get(check.active), len(listed.rows), listed.count))
    second.operator("contact_lens.go_to_finding", text="", icon="TRIA_RIGHT").step = 1
    row.prop(check, "sort", text="", icon="SORTSIZE", icon_only=True)
    row.operator("contact_lens.show_all_clashes", text="", icon="LOOP_BACK")
    row.prop(check, "ghost", text="", icon="GHOST_ENABLED", toggle=True)
    row = column.row(align=True)
    row.operator("contact_lens.set_status", text="Approve").status = "APPROVED"
    ignore = row.row(align=True)
    ignore.enabled = not scene_operators.no_clash(context)
    ignore.menu("CONTACT_LENS_MT_ignore", text="Ignore")
    all_out = row.row(align=True)
    all_out.enabled = not move_all_operator.idle_reason(context, LISTED)
    all_out.operator("contact_lens.move_all_out", text="Move All Out").scope = LISTED
    move_operators.draw_button(
        column.row(align=True),
        context,
        CONTACT_LENS_OT_separate_finding,
        "CONTACT_LENS_MT_move_out_of_clash",
        layout.characters(context),
    )


def _place_in_list(place: int | None, count: int, total: int) -> str:
    """Return which clash of those that the list shows is active; place: None for none, the first is 0."""
    if place is not None:
        return f"{place + 1:,} of {count:,}"
    return messages.clashes(count) if count == total else f"{count:,} shown"


def _draw_clash(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw in one row what the list does not say of the active clash, and its status."""
    listed, scene = clash_list.drawn(context.scene), context.scene
    check, clash = check_settings.of_scene(scene), check_settings.active_clash(scene)
    if clash is None or check.active not in listed.places:
        text = "Click a row to see its contact" if listed.rows else clash_list.why_empty(context.scene)
        layout.line(column, context, text.partition(":")[0], text, "INFO")
        return
    row = column.split(factor=1.0 - WIDTH_OF_STATUS)
    fraction = open_clash.progress_of(scene)
    if fraction is not None:
        row.progress(factor=fraction, text=messages.in_progress("Inspecting", fraction))
    else:
        text, sentence, icon = _state_of(context, clash)
        layout.line(row, context, text, sentence, icon, round(WIDTH_OF_STATUS * layout.characters(context)))
    row.prop(clash, "status", text="")


def _state_of(context: bpy.types.Context, clash: ContactLensFinding) -> tuple[str, str, Any]:
    """Return what the list does not say of the active clash: in short, in a sentence, and an icon."""
    scene, found = context.scene, clash.row()
    active, frame = check_settings.of_scene(scene).active, found.get("frame")  # files saved earlier do not say
    if reason := clash.why_out_of_date(active):
        return messages.capitalized(reason), messages.capitalized(reason), "ERROR"
    if active in clash_list.drawn(scene).ignored:
        return "Ignored", messages.IGNORED, "INFO"
    if frame not in (None, frame_of(scene)):
        return messages.capitalized(messages.found_at(frame)), messages.capitalized(messages.found_at(frame)), "INFO"
    # Of a hull the panel of the pair warns, where it matters.
    hulls = [messages.hull_used(found[letter]["name"]) for letter in "ab"]
    if notes := [note for note in found["notes"] if note not in hulls]:
        reason = "" if clash.is_apart else Distance.of_row(found).no_depth_reason
        return messages.capitalized(reason) or notes[0], ". ".join(notes), "INFO"
    return messages.UP_TO_DATE, messages.UP_TO_DATE, "CHECKMARK"


class CONTACT_LENS_PT_check(Tab, Closed, bpy.types.Panel):
    """What is checked, and by which rules."""

    bl_label = "Scene Check"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        check = check_settings.of_scene(context.scene)
        column = self.layout.column(align=True)
        fraction = scene_operators.progress_of(context.scene)
        if not layout.progress(column, fraction, "Checking", "check"):
            column.operator("contact_lens.check_scene", icon="VIEWZOOM")
            column.operator("contact_lens.check_frames", icon="SEQUENCE")
        column.prop(check, "scope", text="")
        of_scope = {"COLLECTIONS": ("collection_a", "collection_b"), "ONE": ("object",)}.get(check.scope, ())
        if of_scope:
            row = column.row(align=True)
            for name in of_scope:
                row.prop(check, name, text="")
        column.prop(check, "clearance")
        frames = self.layout.column(align=True)
        chosen = check.chosen_frames(context.scene)
        text = f"Scene Range ({chosen.start} to {chosen.stop - 1})" if check.use_scene_frames else "Scene Range"
        frames.prop(check, "use_scene_frames", text=text, translate=False)
        row = frames.row(align=True)
        if not check.use_scene_frames:
            row.prop(check, "frame_start")
            row.prop(check, "frame_end")
        row.prop(check, "frame_step")


class CONTACT_LENS_PT_scene_settings(Tab, Closed, bpy.types.Panel):
    bl_parent_id = "CONTACT_LENS_PT_check"
    bl_label = "Settings"

    def draw(self, context: bpy.types.Context) -> None:
        panel = layout.form(self.layout)
        check = check_settings.of_scene(context.scene)
        touching = ("touching", "least_contact") if check.touching else ("touching",)
        overlaps = ("volume", "least_volume") if check.volume else ("volume",)
        layout.properties(panel, check, *touching, "instances", "depth", *overlaps)
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


def _split_row(
    column: bpy.types.UILayout, context: bpy.types.Context, number: str
) -> tuple[tuple[bpy.types.UILayout, bpy.types.UILayout, float], float]:
    """Return `layout.with_number` in a row of the list, and how wide the row is."""
    width = layout.room_of(context) - AROUND_ROWS
    return layout.with_number(column, context, number, width), width


def _name(
    context: bpy.types.Context,
    name: str,
    side: dict[str, Any],
    units: UnitFormat,
    width: float,
    other: str,
    count: str = "",
) -> str:
    """Return the name of an object, and the shape in which it collided where that is not its mesh and there is room.

    other: the name that it stands beside; count: what is always there behind it.
    """
    room = width - AROUND_NAME - layout.width_of(context, count)
    # An instance is called after what it is of, with its place, of which no digit is cut: a number says less.
    placed = messages.placed(side["object"], side, units)
    if side.get("location") and layout.width_of(context, placed) <= room:
        name = placed
    words = words_of_side(side)
    shape = f" ({words})" if words else ""
    if layout.width_of(context, name[:LEAST_NAME] + shape) > room:  # the tooltip has it
        shape = ""
    return layout.elided_to(context, name, room - layout.width_of(context, shape), other) + shape + count


def _number(check: Any, clash: Any, units: UnitFormat) -> str:
    """Return the number in the row of a clash: what the list is sorted by, else depth or gap."""
    if clash.is_apart:
        return clash_rows.APART
    if check.sort == "VOLUME" and clash.volume > 0.0:
        return units.measure(clash.volume, 3)
    if check.sort != "AREA":
        return _number_of(clash.row(), units)
    area = units.area(clash.area)
    return f"{area} {messages.FACING}" if clash.relation == "within_clearance" and clash.area > 0.0 else area


def _number_of(row: dict[str, Any], units: UnitFormat) -> str:
    """Return the number of a clash, or that there is none."""
    distance = Distance.of_row(row)
    return "no depth" if distance.no_depth_reason else distance.text(units)


CLASSES = (
    CONTACT_LENS_UL_findings,
    CONTACT_LENS_UL_ignored,
    CONTACT_LENS_MT_ignore,
    CONTACT_LENS_MT_decisions,
    CONTACT_LENS_PT_scene,
    CONTACT_LENS_PT_check,
    CONTACT_LENS_PT_scene_settings,
)
