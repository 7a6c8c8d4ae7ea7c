# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene, and operators for the list of clashes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ...core.progress import Progress, report_progress
from ..clashes import check_settings, clash_list, listed_decisions
from ..clashes.check_settings import ContactLensCheck
from ..clashes.clash_renewal import OverList
from ..clashes.finding import STATUSES, revise
from ..clashes.stored_frames import stored_frames
from ..data import messages
from ..data.lazy_rows import LazyRows
from ..data.names import visible
from ..data.objects import frame_of
from ..data.records import Pair
from ..history import decisions_file
from ..history.decisions_file import DecisionsError
from ..live import background, follow_clashes, handlers
from ..live.background import BackgroundOperator, Flow, Polled, Steps, Undoable
from ..read import scene_reader
from ..read.elsewhere import Elsewhere
from ..read.scene import read_input
from ..read.scene_objects import CheckInput
from ..report import files as report_files
from ..report import pictures as report_pictures
from ..report import scene as scene_report
from ..report.criteria import Criteria
from ..report.order import ordered
from ..scene import scene_check as scene_pairs
from ..scene.clash_rows import in_scene_units, present_relations, words
from ..scene.frame_cache import FrameCache
from ..scene.scene_check import Outcome
from ..views import open_clash
from . import layout, pair_operators

_running: tuple[int, Flow | None] | None = None
"""The check that runs: its scene's session_uid, and its flow, which a script's has none of."""
edited: set[int] = set()
"""`session_uid` of what was moved or edited since it began, not by a change of the frame."""
_known = FrameCache(follows=False)
"""What the last check has found: of the next one only pairs that have changed are found again."""


@contextmanager
def running(scene: bpy.types.Scene, flow: Flow | None) -> Iterator[None]:
    """Within it a check of the scene runs."""
    global _running
    edited.clear()
    _running = scene.session_uid, flow
    try:
        yield
    finally:
        _running = None


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the scene's check; None when none runs."""
    if _running is None or _running[0] != scene.session_uid:
        return None
    return 0.0 if _running[1] is None else _running[1].progress


def summary(scene: bpy.types.Scene) -> str:
    """Return the last check of the scene in one line."""
    documents = scene_report.checks_of(scene)
    if not documents:
        return "Not checked yet"
    found = present_relations(documents[0]["findings"])
    text, frame = messages.check_line(documents[0], messages.relation_counts(found)), documents[0]["frame"]
    if (frames := stored_frames(scene)) and (counts := frames.counts_words()):
        return f"{text}; {len(frames.frames):,} frames: {counts}"
    return text if frame == frame_of(scene) else f"{text}; at frame {frame}"


class CONTACT_LENS_OT_check_scene(Undoable, BackgroundOperator, bpy.types.Operator):
    """Find all pairs of objects that collide or are closer than the clearance"""

    bl_idname = "contact_lens.check_scene"
    bl_label = "Check Scene"
    title = "Check Scene"
    keeps_partial = True

    selected: BoolProperty(  # type: ignore[valid-type]
        name="Selected", description="Set the scope to Selected", default=False, options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return (
            "Find all pairs of selected objects that collide or are closer than the clearance"
            if properties.selected
            else ""
        )

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if _running is None else "A scene check is already running"

    def steps(self, context: bpy.types.Context) -> Steps:
        global _known
        uid, frame = context.scene.session_uid, frame_of(context.scene)
        if self.selected:
            check_settings.of_scene(context.scene).scope = "SELECTED"
        rules = check_settings.of_scene(context.scene).as_rules(context)
        given = read_input(context, rules, check_settings.reviewed(context.scene))
        elsewhere = Elsewhere([context.scene], scenes=False, layers=False)
        elsewhere.add(given, context.scene, context.view_layer)
        known, _known = _known, FrameCache(follows=False)  # one that is dropped may still run, and keeps its own
        with running(context.scene, self.flow):
            outcome: Outcome = yield lambda progress: scene_pairs.check(given, progress, known=known)
        known.drop_shapes()
        _known = known
        scene = next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)
        if scene is None:
            return {"CANCELLED"}
        changed: Pair = frozenset()
        if self.is_modal and scene == context.scene and frame_of(scene) == frame:
            changed = scene_reader.changed(context.evaluated_depsgraph_get(), given.objects)
        elif self.is_modal:
            # At another frame, or while another scene is shown, what the user moved, edited or removed: the result is
            # that of the frame it was read at.
            changed = scene_reader.edited(scene, given.objects, edited)
        outcome = scene_pairs.without(outcome, given.objects, changed)
        store(self, context, scene, given, outcome, frame, changed)
        if scene == context.scene:
            follow_clashes.refine_deepest(context)
        return {"FINISHED"}


def store(
    operator: bpy.types.Operator,
    context: bpy.types.Context,
    scene: bpy.types.Scene,
    given: CheckInput,
    outcome: Outcome,
    frame: float,
    changed: Pair,
    over: OverList | None = None,
) -> None:
    """Store a check in the scene's list and report it; over: of a check of frames."""
    is_first = not check_settings.of_scene(scene).summary
    scene_report.store_check(scene, given, outcome, frame, changed, over)
    if is_first and background.has_windows() and context.area is not None and context.area.type == "VIEW_3D":
        layout.show_tab(context.area)
    operator.report({"INFO"}, summary(scene))
    if changed:
        text = f"{messages.counted(len(changed), 'object')} changed during the check: check the scene again"
        operator.report({"WARNING"}, text)


def _stop(scene: bpy.types.Scene) -> None:
    if _running is not None and _running[1] is not None:
        _running[1].cancel()


background.CANCELLATIONS["check"] = "Stop the check and keep its partial results", _stop


@persistent
def _note_edited(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Note what is moved or edited while a check runs. A change of the frame does not come here."""
    if _running is not None and depsgraph.mode == "VIEWPORT":
        edited.update(
            update.id.original.session_uid
            for update in depsgraph.updates
            if isinstance(update.id, bpy.types.Object) and (update.is_updated_transform or update.is_updated_geometry)
        )


@persistent
def _loaded(*_: object) -> None:
    global _known
    _known = FrameCache(follows=False)
    _pages.clear()


# --- the list -------------------------------------------------------------------------------------------------------


def _check(context: bpy.types.Context) -> ContactLensCheck:
    return check_settings.of_scene(context.scene)


def _no_listed_clash(context: bpy.types.Context) -> str:
    """Return why there is no clash to do something with; empty when the list shows the active one."""
    if check_settings.active_clash(context.scene) is None:
        return "Select a clash in the list"
    is_shown = _check(context).active in clash_list.shown(context.scene).places
    return "" if is_shown else "The list does not show the active clash: change its filter"


def no_clash(context: bpy.types.Context) -> str:
    """Return why nothing can be done with the pair of the active clash; empty when both of its objects are there."""
    clash, reason = check_settings.active_clash(context.scene), _no_listed_clash(context)
    return reason if reason or clash is None else open_clash.missing(context.scene, clash)


NO_CHECK = "There is no result: run Check Scene first"


class CONTACT_LENS_OT_go_to_finding(Undoable, Polled, bpy.types.Operator):
    """Go to another clash in the list"""

    bl_idname = "contact_lens.go_to_finding"
    bl_label = "Next Clash"

    step: IntProperty(name="Step", description="1 for the next clash, -1 for the previous one", default=1)  # type: ignore

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return f"Go to the {'previous' if properties.step < 0 else 'next'} clash"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        check = _check(context)
        return "" if check.findings else messages.NO_CLASHES if check.summary else NO_CHECK

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        shown = clash_list.shown(context.scene)
        if not shown.rows:
            self.report({"INFO"}, clash_list.why_empty(context.scene))
            return {"CANCELLED"}
        before = shown.places.get(check.active, -1 if self.step > 0 else 0)
        check.active = shown.rows[(before + self.step) % len(shown.rows)]
        return {"FINISHED"}


class CONTACT_LENS_OT_previous_finding(Undoable, Polled, bpy.types.Operator):
    """Go to the previous clash"""

    bl_idname = "contact_lens.previous_finding"
    bl_label = "Previous Clash"
    disabled_reason = CONTACT_LENS_OT_go_to_finding.disabled_reason

    def execute(self, context: bpy.types.Context) -> set[str]:
        return bpy.ops.contact_lens.go_to_finding(step=-1)  # type: ignore[attr-defined]


class CONTACT_LENS_OT_show_all_clashes(Undoable, Polled, bpy.types.Operator):
    """Clear the search and all filters of the list"""

    bl_idname = "contact_lens.show_all_clashes"
    bl_label = "Show All Clashes"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if clash_list.is_filtered(_check(context)) else "The list shows all clashes"

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        for word in clash_list.hidden(check):
            setattr(check, f"show_{word.lower()}", True)
        check.search, check.only_changed = "", False
        return {"FINISHED"}


class CONTACT_LENS_OT_set_status(Undoable, Polled, bpy.types.Operator):
    """Set the review status of the clash"""

    bl_idname = "contact_lens.set_status"
    bl_label = "Set Clash Status"

    status: EnumProperty(  # type: ignore[valid-type]
        name="Status", description="Review status", items=STATUSES, default="REVIEWED"
    )
    all_shown: BoolProperty(  # type: ignore[valid-type]
        name="All Shown",
        description="Set the status of all clashes that the list shows",
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        if properties.status == "APPROVED" and not properties.all_shown:
            return "Approve the clash as it is, until it gets deeper or closer"
        return ""

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return _no_listed_clash(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        findings = list(check.findings)  # one is looked up by going through those before
        for k in clash_list.shown(context.scene).rows if self.all_shown else [check.active]:
            findings[k].status = self.status
        handlers.redraw()
        return {"FINISHED"}


IGNORED = (
    ("FINDING", "Pair", "Leave this pair out of future checks"),
    ("A", "A", "Leave all pairs of A out of future checks"),
    ("B", "B", "Leave all pairs of B out of future checks"),
    ("SELECTED", "Selected", "Leave the two selected objects, or all pairs of a single one, out of future checks"),
)
"""What Ignore Pair can leave out."""


class CONTACT_LENS_OT_ignore_pair(Undoable, bpy.types.Operator):
    """Leave pairs out of future checks"""

    bl_idname = "contact_lens.ignore_pair"
    bl_label = "Ignore Pair"

    what: EnumProperty(name="Pairs", description="Pairs to ignore", items=IGNORED)  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return pair_operators.tooltip(IGNORED, properties.what)

    def execute(self, context: bpy.types.Context) -> set[str]:
        if self.what == "SELECTED":
            pair = list(context.view_layer.objects.selected)
        elif reason := no_clash(context):
            self.report({"ERROR"}, reason)
            return {"CANCELLED"}
        else:
            clash = check_settings.active_clash(context.scene)
            sides = "ab" if self.what == "FINDING" else self.what.lower()
            pair = [obj for letter in sides if (obj := clash.owner(letter)) is not None]
        if not 1 <= len(pair) <= 2:
            self.report({"ERROR"}, "Select one or two objects to ignore")
            return {"CANCELLED"}
        entry = _check(context).ignored.add()
        entry.object_a = pair[0]
        entry.object_b = pair[1] if len(pair) == 2 and pair[1] != pair[0] else None
        self.report({"INFO"}, messages.IGNORED)
        return {"FINISHED"}


class CONTACT_LENS_OT_unignore(Undoable, bpy.types.Operator):
    """Remove the active pair from the ignored ones"""

    bl_idname = "contact_lens.unignore"
    bl_label = "Remove Ignored Pair"

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        if not 0 <= check.active_ignored < len(check.ignored):
            return {"CANCELLED"}
        check.ignored.remove(check.active_ignored)
        check.active_ignored = max(0, min(check.active_ignored, len(check.ignored) - 1))
        return {"FINISHED"}


class CONTACT_LENS_OT_clear_findings(Undoable, bpy.types.Operator):
    """Remove all clashes from the list, or only the resolved ones"""

    bl_idname = "contact_lens.clear_findings"
    bl_label = "Clear Clashes"

    resolved_only: BoolProperty(  # type: ignore[valid-type]
        name="Only Resolved", description="Remove resolved clashes only", default=False, options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        check = _check(context)
        with check_settings.silent():
            check.active = -1
            for k in reversed(range(len(check.findings))):
                if not self.resolved_only or check.findings[k].status == "RESOLVED":
                    check.findings.remove(k)
        revise()
        open_clash.open_clash(context, None)
        if not self.resolved_only:
            check.summary = ""
            check.frames.put("")
        handlers.redraw()
        return {"FINISHED"}


# --- reports --------------------------------------------------------------------------------------------------------


FORMATS = (
    ("HTML", "HTML", "Web page with a sortable table and pictures"),
    ("CSV", "CSV", "Table for a spreadsheet"),
    ("JSON", "JSON", "Data for programs, with all digits"),
)


def _path_beside_file(context: bpy.types.Context, ending: str) -> str:
    """Return the path that a file browser begins with."""
    stem = pair_operators.NOT_IN_FILE_NAMES.sub("_", Path(bpy.data.filepath).stem or context.scene.name)
    return str(Path(bpy.data.filepath).parent / f"{stem} {ending}")


class CONTACT_LENS_OT_save_scene_report(pair_operators.SaveOperator, bpy.types.Operator):
    """Save the clashes as a web page, a table or a JSON file"""

    bl_idname = "contact_lens.save_scene_report"
    bl_label = "Save Scene Report"

    filename_ext = ".html"
    filter_glob: StringProperty(default="*.html;*.json;*.csv", options={"HIDDEN"})  # type: ignore[valid-type]
    kind: EnumProperty(  # type: ignore[valid-type]
        name="Format",
        description="Format of the report",
        items=FORMATS,
    )
    pictures: IntProperty(  # type: ignore[valid-type]
        name="Pictures", description="Maximum number of pictures on the page", min=0, default=20
    )

    is_asked = False
    """Whether the file browser was shown."""

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if _check(context).summary else NO_CHECK

    def default_path(self, context: bpy.types.Context) -> str:
        return _path_beside_file(context, "contacts.html")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.is_asked = True
        return super().invoke(context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = Path(bpy.path.abspath(self.filepath)).absolute()
        kind, ending = self.kind.lower(), path.suffix.lower()[1:]
        if not self.properties.is_property_set("kind") and ending.upper() in (word for word, *_ in FORMATS):
            kind = ending
        said: list[tuple[Any, str]] = []
        flow = Flow(self.bl_label, _save_steps(context, path, kind, self.pictures, said, self.is_asked))
        flow.reports = said
        # A script waits for the file; whoever was asked for its name goes on working.
        if not flow.run(0.0 if self.is_asked and background.seconds_to_wait(context) is not None else None):
            background.wait_for(flow)
            return {"FINISHED"}
        for word, text in said:
            self.report({word}, text)
        return flow.result or {"CANCELLED"}


def _save_steps(
    context: bpy.types.Context, path: Path, kind: str, most: int, said: list[tuple[Any, str]], is_asked: bool
) -> Steps:
    """Save the scene's check as it is now; said: gets what is to be reported, is_asked: whether to offer the page."""
    scene = context.scene
    check = in_scene_units(scene_report.checks_of(scene)[0])
    check["findings"] = LazyRows.of(list(check["findings"]))  # of this moment; what follows asks Blender for no row
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        place = report_files.place_of(str(path))  # before pictures are taken
        notes = (yield from _take_pictures(context, check, most)) if kind == "html" and most else []
        document = {**scene_report.document([check]), "pictures": notes}

        def write(progress: Progress) -> None:
            report_progress(progress, 0.95)
            parts = scene_report.WRITERS[kind]({**document, "checks": [ordered(check)]}, Criteria())
            report_files.write(place, _unless_cancelled(parts, progress))

        yield write
    except (report_files.ReportFileError, OSError) as error:
        said.append(("ERROR", visible(f"The report cannot be saved: {report_files.reason(error)}")))
        return {"CANCELLED"}
    text = visible(messages.saved(str(path), messages.relation_counts(words(check["findings"]))))
    said.append(("INFO", text))
    if kind == "html":
        _pages[scene.session_uid] = path
        if is_asked and background.has_windows():
            context.window_manager.popup_menu(_offer_page, title=text, icon="CHECKMARK")
    return {"FINISHED"}


def _unless_cancelled(parts: Iterable[str], progress: Progress) -> Iterator[str]:
    """Yield the parts of a text. Raise Cancelled."""
    for part in parts:
        yield part
        report_progress(progress, 1.0)


def _offer_page(menu: Any, context: bpy.types.Context) -> None:
    menu.layout.operator("contact_lens.open_report", icon="URL")


def _take_pictures(
    context: bpy.types.Context, check: dict[str, Any], most: int
) -> Generator[Callable[[Progress], Any], Any, list[str]]:
    """Put pictures into a check, read at once; return what is noted of all."""
    keys = [(clash.key("a"), clash.key("b")) for clash in _check(context).findings]
    # No more is read than can be on a picture, and some more where a few are gone.
    wanted = {key for pair in keys[: 2 * most + 10] for key in pair if key is not None}
    objects = scene_reader.snapshot_keys(context.evaluated_depsgraph_get(), wanted)
    pairs = [(objects[a], objects[b]) if a in objects and b in objects else None for a, b in keys]
    return (yield from report_pictures.take_pictures(context, check, pairs, most))


_pages: dict[int, Path] = {}
"""By the scene's session_uid: the page that was saved last."""


class CONTACT_LENS_OT_open_report(Polled, bpy.types.Operator):
    """Open the page that was saved last"""

    bl_idname = "contact_lens.open_report"
    bl_label = "Open in Browser"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        page = _pages.get(context.scene.session_uid)
        return "" if page is not None and page.is_file() else "Save a report as HTML first"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bpy.ops.wm.url_open(url=_pages[context.scene.session_uid].as_uri())
        return {"FINISHED"}


class CONTACT_LENS_OT_save_decisions(pair_operators.SaveOperator, bpy.types.Operator):
    """Save which clashes are approved, reviewed or ignored, for checks that leave this file as it is"""

    bl_idname = "contact_lens.save_decisions"
    bl_label = "Save Decisions"
    what = "file of decisions"

    filename_ext = ".json"
    check_extension = True
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    disabled_reason = CONTACT_LENS_OT_save_scene_report.disabled_reason

    def default_path(self, context: bpy.types.Context) -> str:
        return _path_beside_file(context, "decisions.json")

    def save(self, context: bpy.types.Context, path: Path) -> str:
        file = Path(bpy.data.filepath).name or None
        path.parent.mkdir(parents=True, exist_ok=True)
        saved = decisions_file.save(str(path), lambda earlier: listed_decisions.saved(context.scene, file, earlier))
        ignored = listed_decisions.ignored_objects(context.scene)
        return _decisions_saved(len(saved.entries), saved.removed, ignored)


def _decisions_saved(number: int, removed: int, ignored: Sequence[str]) -> str:
    """Return what a file of decisions has; removed: how many earlier ones it has no more; ignored: objects of which all
    pairs are, which it cannot say."""
    text = messages.decisions(number)
    if ignored:
        names = ", ".join(f"'{name}'" for name in ignored[:3]) + messages.and_more(len(ignored) - 3)
        text += f", without the other ignored pairs of {names}: list these pairs one by one"
    if removed:
        text += f"; removed {messages.counted(removed, 'earlier decision')} that the list leaves undecided"
    return text


class CONTACT_LENS_OT_load_decisions(Undoable, Polled, bpy.types.Operator):
    """Approve, review or ignore the clashes of the list as a file of decisions says"""

    bl_idname = "contact_lens.load_decisions"
    bl_label = "Load Decisions"

    filepath: StringProperty(  # type: ignore[valid-type]
        name="File Path", subtype="FILE_PATH", maxlen=1024, options={"SKIP_SAVE"}
    )
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    disabled_reason = CONTACT_LENS_OT_save_scene_report.disabled_reason

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.filepath = self.filepath or _path_beside_file(context, "decisions.json")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            decisions = decisions_file.read(bpy.path.abspath(self.filepath))
        except DecisionsError as error:
            self.report({"ERROR"}, visible(str(error)))
            return {"CANCELLED"}
        applied = listed_decisions.apply(context.scene, decisions, Path(bpy.data.filepath).name or None)
        handlers.redraw()
        self.report({"WARNING" if applied.unused else "INFO"}, visible(_decisions_applied(*applied)))
        return {"FINISHED"}


def _decisions_applied(number: int, unused: Sequence[tuple[int, str, str]]) -> str:
    """Return how many decisions were applied; unused: lines, clashes and reasons of the others."""
    entries = [f"line {line}, {clash}: {reason}" for line, clash, reason in unused]
    text = f"Applied {messages.decisions(number)}"
    return f"{text}, not {'; '.join(entries[:3])}{messages.and_more(len(entries) - 3)}" if entries else text


CLASSES = (
    CONTACT_LENS_OT_check_scene,
    CONTACT_LENS_OT_previous_finding,
    CONTACT_LENS_OT_go_to_finding,
    CONTACT_LENS_OT_show_all_clashes,
    CONTACT_LENS_OT_set_status,
    CONTACT_LENS_OT_ignore_pair,
    CONTACT_LENS_OT_unignore,
    CONTACT_LENS_OT_clear_findings,
    CONTACT_LENS_OT_save_scene_report,
    CONTACT_LENS_OT_open_report,
    CONTACT_LENS_OT_save_decisions,
    CONTACT_LENS_OT_load_decisions,
)
IN_MENU = tuple(cls for cls in CLASSES if cls != CONTACT_LENS_OT_unignore)


_FOLLOWER = handlers.Follower(
    {"depsgraph_update_post": _note_edited, "load_pre": _loaded},
    hooks=((check_settings.on_go, open_clash.open_clash),),
    stop=open_clash.drop,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
