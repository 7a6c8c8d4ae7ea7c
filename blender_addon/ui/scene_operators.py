# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene, and operators for the list of clashes."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ...core.progress import Progress
from ..check import results as scene_results
from ..check import scene as scene_pairs
from ..check import session
from ..check.inspection import Keys
from ..check.results import ContactLensCheck, ContactLensFinding
from ..check.scene import Outcome
from ..check.separate import SeparateError
from ..data import properties
from ..data.objects import frame_of
from ..data.records import Pair
from ..data.units import counted
from ..read import scene_reader
from ..read.scene import read_input
from ..report import files as report_files
from ..report import scene as scene_report
from . import follow_clashes, handlers, open_clash, operators
from .background import BackgroundOperator, Flow, Steps, Work

_running: tuple[int, Flow | None] | None = None
"""The check that runs: its scene's session_uid, and its flow, which a script's has none of."""
_edited: set[int] = set()
"""`session_uid` of what was moved or edited since it began, not by a change of the frame."""


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the scene's check; None when none runs."""
    if _running is None or _running[0] != scene.session_uid:
        return None
    return 0.0 if _running[1] is None else _running[1].progress


def summary(scene: bpy.types.Scene) -> str:
    """Return the last check of the scene in one line."""
    documents = scene_results.document_of(scene)
    if not documents:
        return "Not checked yet"
    text, frame = scene_report.one_line(documents[0]), documents[0]["frame"]
    return text if frame == frame_of(scene) else f"{text}, of frame {frame}"


class CONTACT_LENS_OT_check_scene(BackgroundOperator, bpy.types.Operator):
    """Find all pairs of objects that collide or are closer than the clearance"""

    bl_idname = "contact_lens.check_scene"
    bl_label = "Check Scene"
    bl_options = {"REGISTER", "UNDO"}
    title = "Check Scene"
    keeps_partial = True

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _running is not None:
            cls.poll_message_set("A scene check is already running")
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Steps:
        global _running
        uid, frame = context.scene.session_uid, frame_of(context.scene)
        rules = scene_results.of_scene(context.scene).as_rules(context)
        given = read_input(context, rules, scene_results.reviewed(context.scene))
        _edited.clear()
        _running = uid, self.flow
        try:
            outcome: Outcome = yield lambda progress: scene_pairs.check(given, progress)
        finally:
            _running = None
        scene = next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)
        if scene is None:
            return {"CANCELLED"}
        changed: Pair = frozenset()
        if self.is_modal and scene == context.scene and frame_of(scene) == frame:
            changed = scene_reader.changed(context.evaluated_depsgraph_get(), given.objects)
        elif self.is_modal:
            # At another frame, or while another scene is shown, what the user moved, edited or removed: the result is
            # that of the frame it was read at.
            changed = scene_reader.edited(scene, given.objects, _edited)
        outcome = scene_pairs.without(outcome, given.objects, changed)
        scene_report.store_check(scene, given, outcome, frame, changed)
        self.report({"INFO"}, summary(scene))
        if changed:
            self.report({"WARNING"}, f"{counted(len(changed), 'object')} changed during the check: check again")
        return {"FINISHED"}


class CONTACT_LENS_OT_stop_check(bpy.types.Operator):
    """Stop the check and keep what is done"""

    bl_idname = "contact_lens.stop_check"
    bl_label = "Stop"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        if _running is not None and _running[1] is not None:
            _running[1].cancel()
        return {"FINISHED"}


@persistent
def _note_edited(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Note what is moved or edited while a check runs. A change of the frame does not come here."""
    if _running is not None and depsgraph.mode == "VIEWPORT":
        _edited.update(
            update.id.original.session_uid
            for update in depsgraph.updates
            if isinstance(update.id, bpy.types.Object) and (update.is_updated_transform or update.is_updated_geometry)
        )


# --- the list -------------------------------------------------------------------------------------------------------


def _check(context: bpy.types.Context) -> ContactLensCheck:
    return scene_results.of_scene(context.scene)


class _OfClash:
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if scene_results.active_clash(context.scene) is None:
            cls.poll_message_set("Select a clash in the list")  # type: ignore[attr-defined]
            return False
        return True


class CONTACT_LENS_OT_go_to_finding(bpy.types.Operator):
    """Go to another clash in the list"""

    bl_idname = "contact_lens.go_to_finding"
    bl_label = "Next Clash"
    bl_options = {"REGISTER", "UNDO"}

    step: IntProperty(name="Step", description="1 for the next clash, -1 for the previous one", default=1)  # type: ignore

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return f"Go to the {'previous' if properties.step < 0 else 'next'} clash"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _check(context).findings:
            cls.poll_message_set("There are no clashes: run Check Scene first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        shown = scene_results.order(check)
        if not shown:
            self.report({"INFO"}, "The list shows no clash: change its filter")
            return {"CANCELLED"}
        if check.active in shown:
            place = (shown.index(check.active) + self.step) % len(shown)
        else:
            place = 0 if self.step > 0 else len(shown) - 1
        check.active = shown[place]
        return {"FINISHED"}


class CONTACT_LENS_OT_previous_finding(bpy.types.Operator):
    """Go to the previous clash"""

    bl_idname = "contact_lens.previous_finding"
    bl_label = "Previous Clash"
    bl_options = {"REGISTER", "UNDO"}
    poll = CONTACT_LENS_OT_go_to_finding.poll

    def execute(self, context: bpy.types.Context) -> set[str]:
        return bpy.ops.contact_lens.go_to_finding(step=-1)  # type: ignore[attr-defined]


class CONTACT_LENS_OT_set_status(_OfClash, bpy.types.Operator):
    """Set the review status of the clash"""

    bl_idname = "contact_lens.set_status"
    bl_label = "Set Status"
    bl_options = {"REGISTER", "UNDO"}

    status: EnumProperty(name="Status", items=scene_results.STATUSES, default="REVIEWED")  # type: ignore[valid-type]
    all_shown: BoolProperty(  # type: ignore[valid-type]
        name="All Shown",
        description="Set it for every clash in the list",
        default=False,
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        for k in scene_results.order(check) if self.all_shown else [check.active]:
            check.findings[k].status = self.status
        handlers.redraw()
        return {"FINISHED"}


class _OfExisting(_OfClash):
    """Of a clash both objects of which exist."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        clash = scene_results.active_clash(context.scene)
        missing = "" if clash is None else open_clash.missing(context.scene, clash)
        if missing:
            cls.poll_message_set(missing)  # type: ignore[attr-defined]
        return not missing and super().poll(context)


class CONTACT_LENS_OT_separate_finding(_OfExisting, BackgroundOperator, bpy.types.Operator):
    """Move B of the clash out of A, and inspect the pair again"""

    bl_idname = "contact_lens.separate_finding"
    bl_label = "Separate Clash"
    bl_options = {"REGISTER", "UNDO"}

    title = "Inspection"

    moves: EnumProperty(name="Move", items=operators.MOVES)  # type: ignore[valid-type]

    def steps(self, context: bpy.types.Context) -> Steps:
        clash = scene_results.active_clash(context.scene)
        if clash is not None and (missing := open_clash.missing(context.scene, clash)):
            raise SeparateError(missing)
        if clash is None or not open_clash.is_pair_of_objects(clash):
            raise SeparateError("An instance cannot be moved: make it real first")
        key = scene_results.pair_key(clash)
        properties.pick(context.scene, (properties.key_of(clash.object_a), properties.key_of(clash.object_b)))

        def of_pair() -> ContactLensFinding | None:
            """Return the clash: the user may have gone to another one meanwhile."""
            clashes: Iterable[ContactLensFinding] = _check(context).findings
            return next((each for each in clashes if scene_results.pair_key(each) == key), None)

        def again(keys: Keys) -> Generator[Work[Any], Any, str]:
            """Inspect the pair, and check it by the rules of the scene's check too."""
            read, clash = operators.read_pair(context, keys), of_pair()
            given = None if clash is None else follow_clashes.read_clash(context, clash)
            frame = frame_of(context.scene)
            inspection = yield from operators.inspect(read)
            if given is not None:

                def work(progress: Progress) -> Outcome:
                    return scene_pairs.check(given, progress)

                outcome = yield work
                if (clash := of_pair()) is not None:
                    scene_report.update_clash(clash, given, outcome, frame)
            session.store(context.scene, inspection)
            return "Check the scene again to find what else they collide with now"

        return operators.separate_steps(self, context, self.moves, again)


class CONTACT_LENS_OT_ignore_pair(bpy.types.Operator):
    """Leave the pair of the clash out of future checks"""

    bl_idname = "contact_lens.ignore_pair"
    bl_label = "Ignore Pair"
    bl_options = {"REGISTER", "UNDO"}

    what: EnumProperty(  # type: ignore[valid-type]
        name="What",
        items=(
            ("FINDING", "Pair", "The pair of the clash"),
            ("A", "A", "All pairs with A"),
            ("B", "B", "All pairs with B"),
            ("SELECTED", "Selected", "The two selected objects, or all pairs with the only one"),
        ),
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        clash = scene_results.active_clash(context.scene)
        if self.what == "SELECTED":
            pair = list(context.view_layer.objects.selected)
        else:
            if clash is None:
                self.report({"ERROR"}, "Select a clash in the list")
                return {"CANCELLED"}
            if missing := open_clash.missing(context.scene, clash):
                self.report({"ERROR"}, missing)
                return {"CANCELLED"}
            sides = [
                getattr(clash, f"source_{letter}") or getattr(clash, f"object_{letter}")
                for letter in (self.what.lower() if self.what != "FINDING" else "ab")
            ]
            pair = [obj for obj in sides if obj is not None]
        if not 1 <= len(pair) <= 2:
            self.report({"ERROR"}, "Select one or two objects to ignore")
            return {"CANCELLED"}
        entry = _check(context).ignored.add()
        entry.object_a = pair[0]
        entry.object_b = pair[1] if len(pair) == 2 and pair[1] != pair[0] else None
        return {"FINISHED"}


class CONTACT_LENS_OT_unignore(bpy.types.Operator):
    """Remove the entry from the list of ignored pairs"""

    bl_idname = "contact_lens.unignore"
    bl_label = "Remove"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        if not 0 <= check.active_ignored < len(check.ignored):
            return {"CANCELLED"}
        check.ignored.remove(check.active_ignored)
        check.active_ignored = max(0, min(check.active_ignored, len(check.ignored) - 1))
        return {"FINISHED"}


class CONTACT_LENS_OT_clear_findings(bpy.types.Operator):
    """Remove all clashes from the list, or only the resolved ones"""

    bl_idname = "contact_lens.clear_findings"
    bl_label = "Clear Clashes"
    bl_options = {"REGISTER", "UNDO"}

    resolved_only: BoolProperty(name="Only Resolved", default=False, options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        with scene_results.silent():
            check.active = -1
            for k in reversed(range(len(check.findings))):
                if not self.resolved_only or check.findings[k].status == "RESOLVED":
                    check.findings.remove(k)
        open_clash.open_clash(context, None)
        if not self.resolved_only:
            check.summary = ""
        handlers.redraw()
        return {"FINISHED"}


# --- reports --------------------------------------------------------------------------------------------------------


class CONTACT_LENS_OT_save_scene_report(operators.SaveOperator, bpy.types.Operator):
    """Save the clashes as a web page, a table or JSON data"""

    bl_idname = "contact_lens.save_scene_report"
    bl_label = "Save Scene Report"

    filename_ext = ".html"
    filter_glob: StringProperty(default="*.html;*.json;*.csv", options={"HIDDEN"})  # type: ignore[valid-type]
    kind: EnumProperty(  # type: ignore[valid-type]
        name="Format",
        items=(
            ("HTML", "HTML", "A web page with a sortable table and pictures"),
            ("CSV", "CSV", "A table for a spreadsheet"),
            ("JSON", "JSON", "All numbers in full, for programs"),
        ),
    )
    pictures: IntProperty(  # type: ignore[valid-type]
        name="Pictures", description="Maximum number of pictures on the page", min=0, default=20
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _check(context).summary:
            cls.poll_message_set("There is no result: run Check Scene first")
            return False
        return True

    def proposed(self, context: bpy.types.Context) -> str:
        stem = operators.NOT_IN_FILE_NAMES.sub("_", Path(bpy.data.filepath).stem or context.scene.name)
        return str(Path(bpy.data.filepath).parent / f"{stem} contacts.html")

    def save(self, context: bpy.types.Context, path: Path) -> str:
        kind, ending = self.kind.lower(), path.suffix.lower()[1:]
        if not self.properties.is_property_set("kind") and ending in scene_report.WRITERS:
            kind = ending
        document = scene_report.document(scene_results.document_of(context.scene))
        check = document["checks"][0]
        path.parent.mkdir(parents=True, exist_ok=True)
        place = report_files.place_of(str(path))  # before pictures are taken
        if kind == "html" and self.pictures:
            self._take_pictures(context, check)
        report_files.write(place, scene_report.WRITERS[kind](document))
        return f": {counted(len(check['findings']), 'clash', 'clashes')}"

    def _take_pictures(self, context: bpy.types.Context, check: dict[str, Any]) -> None:
        keys = [(clash.key("a"), clash.key("b")) for clash in _check(context).findings]
        # No more is read than can be on a picture, and some more where a few are gone.
        wanted = {key for pair in keys[: 2 * self.pictures + 10] for key in pair if key is not None}
        objects = scene_reader.snapshot_keys(context.evaluated_depsgraph_get(), wanted)
        pairs = [(objects[a], objects[b]) if a in objects and b in objects else None for a, b in keys]
        scene_report.take_pictures(context, check, pairs, self.pictures)


CLASSES = (
    CONTACT_LENS_OT_check_scene,
    CONTACT_LENS_OT_stop_check,
    CONTACT_LENS_OT_go_to_finding,
    CONTACT_LENS_OT_previous_finding,
    CONTACT_LENS_OT_set_status,
    CONTACT_LENS_OT_separate_finding,
    CONTACT_LENS_OT_ignore_pair,
    CONTACT_LENS_OT_unignore,
    CONTACT_LENS_OT_clear_findings,
    CONTACT_LENS_OT_save_scene_report,
)


IN_MENU = (
    CONTACT_LENS_OT_check_scene,
    CONTACT_LENS_OT_previous_finding,
    CONTACT_LENS_OT_go_to_finding,
    CONTACT_LENS_OT_set_status,
    CONTACT_LENS_OT_separate_finding,
    CONTACT_LENS_OT_ignore_pair,
    CONTACT_LENS_OT_clear_findings,
    CONTACT_LENS_OT_save_scene_report,
)
"""F3 finds what is in a menu."""


_FOLLOWER = handlers.Follower(
    {"depsgraph_update_post": _note_edited},
    hooks=((scene_results.on_go, open_clash.open_clash), (operators.MORE, IN_MENU)),
    stop=open_clash.drop,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
