# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene, and what a person does with the list of findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ...core.progress import Progress, subrange
from ..check import results as scene_results
from ..check import scene as scene_pairs
from ..check import session
from ..check.results import ContactLensCheck, ContactLensFinding
from ..check.scene import Outcome
from ..check.separate import SeparateError
from ..check.session import Inspection
from ..data.names import visible
from ..data.units import counted
from ..read import scene as scene_check
from ..read.scene_objects import Key, Subject
from ..read.snapshot import ReadError
from ..report import files as report_files
from ..report import scene as scene_report
from . import handlers, isolation, open_clash, operators, update_clash
from .background import Job

POLL = 0.1
"""Seconds between two looks at the job."""
PATIENCE = 0.3
"""Seconds Blender waits for a check; after that it goes on and shows the progress."""
END = 10.0
"""Seconds that a cancelled check may take to end when the add-on is switched off."""


class _Running:
    """A check that goes on."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        rules: scene_check.Rules,
        subject: Subject,
        geometries: scene_check.Geometries,
    ) -> None:
        self.uid = scene.session_uid
        self.rules = rules
        self.subject = subject
        self.geometries = geometries
        self.frame = scene_check.frame_of(scene)
        self.edited: set[int] = set()
        """`session_uid` of what was moved or edited since, not by a change of the frame."""

        def work(progress: Progress) -> Outcome:
            return scene_pairs.check(subject, progress)

        self.job: Job[Outcome] = Job(work)

    def changed(self, context: bpy.types.Context, scene: bpy.types.Scene) -> frozenset[Key]:
        """What is no longer as it was read. At another frame, or while another scene is shown, that is what a person
        moved, edited or removed: the result is that of the frame it was read at."""
        items = self.subject.items
        if scene == context.scene and scene_check.frame_of(scene) == self.frame:
            return scene_check.changed(context, items, self.geometries)
        return scene_check.edited(scene, items, self.edited)


_running: _Running | None = None


def share_done(scene: bpy.types.Scene) -> float | None:
    """How much of the scene's check is done, 0 to 1; None when none goes on."""
    return _running.job.share if _running is not None and _running.uid == scene.session_uid else None


def run(context: bpy.types.Context) -> Outcome:
    """Check the scene by its own settings, here and now, and store the result. Raises ReadError."""
    scene = context.scene
    rules = scene_results.of_scene(scene).as_rules(context)
    subject = scene_check.subject_of(context, rules, scene_results.lists_of(scene))
    outcome = scene_pairs.check(subject)
    told = scene_check.told(scene, rules, outcome, len(subject.items))
    scene_results.store(scene, subject, outcome, told)
    handlers.redraw()
    return outcome


def in_words(scene: bpy.types.Scene) -> str:
    """The last check of the scene in one line."""
    documents = scene_results.document_of(scene)
    if not documents:
        return "Not checked yet"
    text, frame = scene_report.one_line(documents[0]), documents[0]["frame"]
    return text if frame == scene_check.frame_of(scene) else f"{text}, of frame {frame}"


class CONTACT_LENS_OT_check_scene(bpy.types.Operator):
    """Find all pairs of objects that collide or are nearer than the clearance"""

    bl_idname = "contact_lens.check_scene"
    bl_label = "Check Scene"
    bl_options = {"REGISTER", "UNDO"}

    _timer: bpy.types.Timer

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _running is not None:
            cls.poll_message_set("A check goes on")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            run(context)
        except ReadError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, in_words(context.scene))
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        global _running
        if bpy.app.background or context.window is None:
            return self.execute(context)
        scene = context.scene
        rules = scene_results.of_scene(scene).as_rules(context)
        try:
            geometries = scene_check.Geometries()
            subject = scene_check.subject_of(context, rules, scene_results.lists_of(scene), geometries)
        except ReadError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        _running = _Running(scene, rules, subject, geometries)
        if _running.job.wait(PATIENCE):
            return self._end(context)
        self._timer = context.window_manager.event_timer_add(POLL, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if _running is None:  # the add-on or the file went
            self._clear(context)
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            _running.job.cancel()
            return {"RUNNING_MODAL"}
        if _running.job.done:
            self._clear(context)
            return self._end(context)
        if event.type == "TIMER":
            if context.workspace is not None:
                share = 100.0 * _running.job.share
                context.workspace.status_text_set(f"Check Scene: {share:.0f} %    Esc: stop, and keep what is done")
            handlers.redraw()
        return {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls this when it ends what goes on, as for a new file."""
        drop()
        self._clear(context)

    def _clear(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def _end(self, context: bpy.types.Context) -> set[str]:
        global _running
        ended, _running = _running, None
        assert ended is not None
        scene = next((scene for scene in bpy.data.scenes if scene.session_uid == ended.uid), None)
        if scene is None:
            return {"CANCELLED"}
        items, changed = ended.subject.items, ended.changed(context, scene)
        outcome = scene_pairs.without(ended.job.result(), items, changed)
        told = scene_check.told(scene, ended.rules, outcome, len(items) - len(changed), ended.frame)
        scene_results.store(scene, ended.subject, outcome, told, changed)
        handlers.redraw()
        self.report({"INFO"}, in_words(scene))
        if changed:
            what = counted(len(changed), "object")
            self.report({"WARNING"}, f"{what} changed while the scene was checked: check again")
        return {"FINISHED"}


def drop(wait: bool = False) -> None:
    """Give up the check that goes on."""
    global _running
    ended, _running = _running, None
    if ended is not None:
        ended.job.cancel()
        if wait:
            ended.job.wait(END)


class CONTACT_LENS_OT_stop_check(bpy.types.Operator):
    """Stop the check and keep what is done"""

    bl_idname = "contact_lens.stop_check"
    bl_label = "Stop"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        if _running is not None:
            _running.job.cancel()
        return {"FINISHED"}


# --- the list -------------------------------------------------------------------------------------------------------


def _check(context: bpy.types.Context) -> ContactLensCheck:
    return scene_results.of_scene(context.scene)


def active_finding(context: bpy.types.Context) -> ContactLensFinding | None:
    check = _check(context)
    if not 0 <= check.active < len(check.findings):
        return None
    return check.findings[check.active]


class _OfFinding:
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if active_finding(context) is None:
            cls.poll_message_set("Pick a finding in the list")  # type: ignore[attr-defined]
            return False
        return True


class CONTACT_LENS_OT_go_to_finding(bpy.types.Operator):
    """Go to another finding of the list"""

    bl_idname = "contact_lens.go_to_finding"
    bl_label = "Next Finding"
    bl_options = {"REGISTER", "UNDO"}

    step: IntProperty(name="Step", description="1: the next one; -1: the one before", default=1)  # type: ignore

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return "Go to the finding before" if properties.step < 0 else "Go to the next finding"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _check(context).findings:
            cls.poll_message_set("There are no findings")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        shown = scene_results.order(check)
        if not shown:
            self.report({"INFO"}, "The list shows no finding")
            return {"CANCELLED"}
        if check.active in shown:
            place = (shown.index(check.active) + self.step) % len(shown)
        else:
            place = 0 if self.step > 0 else len(shown) - 1
        check.active = shown[place]
        return {"FINISHED"}


class CONTACT_LENS_OT_watch_finding(bpy.types.Operator):
    """Tell how far the contact of the finding is, until it is found or Esc is pressed"""

    bl_idname = "contact_lens.watch_finding"
    bl_label = "Watch Finding"
    bl_options = {"INTERNAL"}

    _look: open_clash.Look
    _timer: bpy.types.Timer

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        look = open_clash.going()
        if look is None:
            return {"CANCELLED"}
        self._look = look
        self._timer = context.window_manager.event_timer_add(POLL, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if open_clash.going() is not self._look:  # the person went to another one
            self._clear(context)
            return {"CANCELLED", "PASS_THROUGH"}
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, "Inspection cancelled: Refresh begins it again")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        open_clash.take_over(context)
        share = open_clash.share_done(context.scene)
        if share is None:  # it is done, or the window shows another scene
            self.cancel(context)
            return {"FINISHED", "PASS_THROUGH"}
        if context.workspace is not None:
            context.workspace.status_text_set(f"Inspecting: {100.0 * share:.0f} %    Esc: cancel")
        handlers.redraw()
        return {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Clear up; Blender calls this too when it ends what goes on, as for a new file."""
        if open_clash.going() is self._look:
            open_clash.drop()
        self._clear(context)

    def _clear(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None and open_clash.going() is None:
            context.workspace.status_text_set(None)
        handlers.redraw()


class CONTACT_LENS_OT_previous_finding(bpy.types.Operator):
    """Go to the finding before"""

    bl_idname = "contact_lens.previous_finding"
    bl_label = "Previous Finding"
    bl_options = {"REGISTER", "UNDO"}
    poll = CONTACT_LENS_OT_go_to_finding.poll

    def execute(self, context: bpy.types.Context) -> set[str]:
        return bpy.ops.contact_lens.go_to_finding(step=-1)  # type: ignore[attr-defined]


class CONTACT_LENS_OT_set_status(_OfFinding, bpy.types.Operator):
    """Say what is decided about a finding"""

    bl_idname = "contact_lens.set_status"
    bl_label = "Set Status"
    bl_options = {"REGISTER", "UNDO"}

    status: EnumProperty(name="Status", items=scene_results.STATUSES, default="REVIEWED")  # type: ignore[valid-type]
    all_shown: BoolProperty(  # type: ignore[valid-type]
        name="All Shown", description="All findings that the list shows", default=False, options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        for k in scene_results.order(check) if self.all_shown else [check.active]:
            check.findings[k].status = self.status
        handlers.redraw()
        return {"FINISHED"}


class _OfThere(_OfFinding):
    """Of a finding both objects of which are there."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        finding = active_finding(context)
        missing = "" if finding is None else open_clash.missing(context.scene, finding)
        if missing:
            cls.poll_message_set(missing)  # type: ignore[attr-defined]
        return not missing and super().poll(context)


class CONTACT_LENS_OT_separate_finding(_OfThere, operators._Separating, bpy.types.Operator):
    """Move B of the finding out of A, and look at the pair again"""

    bl_idname = "contact_lens.separate_finding"
    bl_label = "Separate Finding"
    bl_options = {"REGISTER", "UNDO"}

    moves: EnumProperty(  # type: ignore[valid-type]
        name="Move", items=(("B", "B", "Move B"), ("A", "A", "Move A"), ("HALF", "Half Each", "Move both by half"))
    )

    _key: frozenset[Key] | None = None
    """The pair of the finding: the person may go to another one meanwhile."""
    _subject: Subject
    """The pair as it was moved."""
    _outcomes: list[Outcome]
    """What the check of the pair found once it was moved."""
    _frame = 0.0
    """At which frame that was."""

    @property
    def _moves(self) -> str:
        return str(self.moves)

    def _begun(self, context: bpy.types.Context) -> Inspection | Callable[[Progress], Inspection]:
        finding = active_finding(context)
        if finding is not None and (missing := open_clash.missing(context.scene, finding)):
            raise SeparateError(missing)
        if finding is None or not open_clash.is_pair_of_objects(finding):
            raise SeparateError("An instance cannot be moved: make it real first")
        self._key, self._outcomes = scene_results.pair_key(finding), []
        settings = session.settings_of(context.scene)
        settings.object_a, settings.object_b = finding.object_a, finding.object_b
        return super()._begun(context)

    def _again(self, context: bpy.types.Context) -> Inspection | Callable[[Progress], Inspection]:
        """What inspects the pair as it is now; once it was moved, by the rules of the scene's check too."""
        made, finding = super()._again(context), self._finding(context)
        subject = None if self._moved is None or finding is None else update_clash.subject_of(context, finding)
        if subject is None:
            return made
        self._subject, self._frame = subject, scene_check.frame_of(context.scene)
        outcomes = self._outcomes  # the thread must not ask the operator, which may be gone

        def work(progress: Progress) -> Inspection:
            half = subrange(progress, 0.0, 0.5)
            assert half is not None
            inspection = made if isinstance(made, Inspection) else made(half)
            outcomes.append(scene_pairs.check(subject, subrange(progress, 0.5, 1.0)))
            return inspection

        return work

    def _finding(self, context: bpy.types.Context) -> ContactLensFinding | None:
        findings: Iterable[ContactLensFinding] = _check(context).findings
        return next((finding for finding in findings if scene_results.pair_key(finding) == self._key), None)

    def _taken(self, context: bpy.types.Context, inspection: Inspection) -> set[str]:
        finding = self._finding(context)
        if self._outcomes and finding is not None:
            scene_results.update(finding, self._subject, self._outcomes[0], self._frame)
        return super()._taken(context, inspection)

    def _outlook(self, inspection: Inspection) -> str:
        return "Check the scene again to see what else they meet now"


class CONTACT_LENS_OT_ignore_pair(bpy.types.Operator):
    """Leave out the pair of the finding from now on"""

    bl_idname = "contact_lens.ignore_pair"
    bl_label = "Ignore Pair"
    bl_options = {"REGISTER", "UNDO"}

    what: EnumProperty(  # type: ignore[valid-type]
        name="What",
        items=(
            ("FINDING", "Pair", "The pair of the finding"),
            ("A", "A", "Everything about A"),
            ("B", "B", "Everything about B"),
            ("SELECTED", "Selected", "The two selected objects, or everything about the one"),
        ),
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        finding = active_finding(context)
        if self.what == "SELECTED":
            pair = list(context.view_layer.objects.selected)
        else:
            if finding is None:
                self.report({"ERROR"}, "Pick a finding in the list")
                return {"CANCELLED"}
            if missing := open_clash.missing(context.scene, finding):
                self.report({"ERROR"}, missing)
                return {"CANCELLED"}
            sides = [
                getattr(finding, f"source_{letter}") or getattr(finding, f"object_{letter}")
                for letter in (self.what.lower() if self.what != "FINDING" else "ab")
            ]
            pair = [obj for obj in sides if obj is not None]
        if not 1 <= len(pair) <= 2:
            self.report({"ERROR"}, "Select one or two objects")
            return {"CANCELLED"}
        entry = _check(context).ignored.add()
        entry.object_a = pair[0]
        entry.object_b = pair[1] if len(pair) == 2 and pair[1] != pair[0] else None
        return {"FINISHED"}


class CONTACT_LENS_OT_unignore(bpy.types.Operator):
    """Take the entry out of the list of ignored pairs"""

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
    """Empty the list of findings, or take the resolved ones out of it"""

    bl_idname = "contact_lens.clear_findings"
    bl_label = "Clear Findings"
    bl_options = {"REGISTER", "UNDO"}

    resolved_only: BoolProperty(name="Only Resolved", default=False, options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        with scene_results.silent():
            check.active = -1
            open_clash.drop()
            for k in reversed(range(len(check.findings))):
                if not self.resolved_only or check.findings[k].status == "RESOLVED":
                    check.findings.remove(k)
        isolation.isolate(context, None)
        if not self.resolved_only:
            check.summary = ""
        handlers.redraw()
        return {"FINISHED"}


# --- reports --------------------------------------------------------------------------------------------------------


class CONTACT_LENS_OT_save_scene_report(bpy.types.Operator, ExportHelper):
    """Save the findings as a page for the browser, a table or data"""

    bl_idname = "contact_lens.save_scene_report"
    bl_label = "Save Scene Report"

    filename_ext = ".html"
    check_extension = None  # the ending is what the format says
    filter_glob: StringProperty(default="*.html;*.json;*.csv", options={"HIDDEN"})  # type: ignore[valid-type]
    filepath: StringProperty(  # type: ignore[valid-type]
        name="File Path", subtype="FILE_PATH", maxlen=1024, options={"SKIP_SAVE"}
    )
    kind: EnumProperty(  # type: ignore[valid-type]
        name="Format",
        items=(
            ("HTML", "HTML", "One page with a table that can be sorted, and pictures"),
            ("CSV", "CSV", "A table for a spreadsheet"),
            ("JSON", "JSON", "All numbers in full, for programs"),
        ),
    )
    pictures: IntProperty(  # type: ignore[valid-type]
        name="Pictures", description="At most so many pictures on the page", min=0, default=20
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _check(context).summary:
            cls.poll_message_set("There is no result: run Check Scene first")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.filepath:
            stem = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*]', "_", Path(bpy.data.filepath).stem or context.scene.name)
            self.filepath = str(Path(bpy.data.filepath).parent / f"{stem} contacts.html")
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = Path(bpy.path.abspath(self.filepath)).absolute()
        kind, ending = self.kind.lower(), path.suffix.lower()[1:]
        if not self.properties.is_property_set("kind") and ending in scene_report.WRITERS:
            kind = ending
        document = scene_report.document(scene_results.document_of(context.scene))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            place = report_files.place_of(str(path))  # before pictures are taken
            if kind == "html" and self.pictures:
                self._take_pictures(context, document["checks"][0])
            report_files.write(place, scene_report.WRITERS[kind](document))
        except (report_files.ReportFileError, OSError) as error:
            self.report({"ERROR"}, visible(f"Cannot write {report_files.reason(error)}"))
            return {"CANCELLED"}
        self.report({"INFO"}, visible(f"Saved {path}: {counted(len(document['checks'][0]['findings']), 'finding')}"))
        return {"FINISHED"}

    def _take_pictures(self, context: bpy.types.Context, check: dict[str, Any]) -> None:
        keys = [(finding.key("a"), finding.key("b")) for finding in _check(context).findings]
        # No more is read than can be on a picture, and some more where a few are gone.
        wanted = {key for pair in keys[: 2 * self.pictures + 10] for key in pair if key is not None}
        items = scene_check.items_of(context, wanted)
        pairs = [(items[a], items[b]) if a in items and b in items else None for a, b in keys]
        scene_report.take_pictures(context, check, pairs, self.pictures)


CLASSES = (
    CONTACT_LENS_OT_check_scene,
    CONTACT_LENS_OT_stop_check,
    CONTACT_LENS_OT_go_to_finding,
    CONTACT_LENS_OT_watch_finding,
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


@persistent
def _edited(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Note what is moved or edited while a check goes on. A change of the frame does not come here."""
    if _running is not None and depsgraph.mode == "VIEWPORT":
        _running.edited.update(
            update.id.original.session_uid
            for update in depsgraph.updates
            if isinstance(update.id, bpy.types.Object) and (update.is_updated_transform or update.is_updated_geometry)
        )


def _went(context: bpy.types.Context, finding: ContactLensFinding | None) -> None:
    if finding is not None:
        open_clash.show(context, finding)
    else:
        open_clash.drop()
        isolation.isolate(context, None)


def _stop() -> None:
    operators.MORE.remove(IN_MENU)
    drop(wait=True)
    open_clash.drop(wait=True)


_FOLLOWER = handlers.Follower({"depsgraph_update_post": _edited}, hooks=((scene_results.on_go, _went),), stop=_stop)
unregister = _FOLLOWER.unregister


def register() -> None:
    operators.MORE.append(IN_MENU)
    _FOLLOWER.register()
