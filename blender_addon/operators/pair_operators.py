# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators for a pair: inspect, refresh, clear, frame, copy, save; bounding volumes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Generator, Iterable
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, ClassVar

import bmesh
import bpy
import numpy as np
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ...core.progress import Cancelled
from ...core.types import IntArray
from ..data import messages, properties
from ..data.distance import Distance
from ..data.names import visible
from ..data.objects import unsupported_reason
from ..data.records import Settings
from ..geometry.snapshot import NotFiniteError, ReadError
from ..history.decisions_file import DecisionsError
from ..live import background, follow_measures, follow_pair, follow_steps, follow_volumes, handlers
from ..live.background import BackgroundOperator, Polled, Steps, Undoable, Work
from ..pair import session
from ..pair.inspection import Inspection, Keys, is_outdated, refined
from ..pair.inspection import Work as InspectionWork
from ..pair.pair_contact import curves, outlines, vector_ends
from ..report import files as report_files
from ..report import pair as report
from ..report import pair_lines
from ..study.picture import points_of
from ..views import viewport

SETTINGS = ("method", "clearance", "contact_tolerance", "flat")
"""What the scene and the redo panel both have."""
NOT_IN_FILE_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
"""Characters that some file system refuses."""
REFINED = "The depth cannot be refined further"
SENTENCE_WIDTH = 60
"""Characters of a line of a sentence that pops up."""
NUMBER = "Number"
"""What Copy is asked for in the headline; else it is the name of a row, or empty for all."""

NO_VIEW = "There is no 3D Viewport"

Pair = tuple[bpy.types.Object, bpy.types.Object]


def tooltip(items: Iterable[tuple[Any, ...]], identifier: str) -> str:
    """Return the tooltip of an item of an enum: of a button that runs an operator with it."""
    return next(text for name, _, text, *_ in items if name == identifier)


def chosen_pair(context: bpy.types.Context) -> Pair | str:
    """Return the two objects to inspect, A first, or why there are not two.

    Two selected objects are taken; with none selected, the pair in the pickers, or with the instancer of both.
    """
    selected = list(context.view_layer.objects.selected)
    active = context.view_layer.objects.active
    if are_many(context):
        return f"{len(selected)} objects are selected: select only two, or run Check Scene with the scope Selected"
    if len(selected) == 2:
        if active not in selected:
            return "Make one of the two selected objects active: it becomes A"
        a, b = active, selected[1] if selected[0] == active else selected[0]
    else:
        picked_a, picked_b = properties.pair(context.scene)
        if picked_a is None or picked_b is None:
            return (
                "Select two objects: the active one becomes A, the other B"
                if picked_a is picked_b
                else "Pick another object: or select two, of which the active one becomes A"
            )
        a, b = picked_a, picked_b
        if selected and {a, b} != {selected[0]}:  # the pair in the pickers is not what the user has in mind
            return f"Select a second object: only '{selected[0].name}' is selected"
    if _are_picked_instances(context.scene, (a, b)):
        return a, b
    if a == b:
        return messages.picked_twice(a.name)
    return unsupported_reason(a) or unsupported_reason(b) or (a, b)


def are_many(context: bpy.types.Context) -> bool:
    """Return whether more objects than a pair are selected."""
    return len(context.view_layer.objects.selected) > 2


def draw_check_selected(layout: bpy.types.UILayout) -> None:
    """Draw what is offered for more objects than a pair."""
    layout.operator("contact_lens.check_scene", text="Check Selected", icon="VIEWZOOM").selected = True


def is_another_pair(context: bpy.types.Context) -> bool:
    """Return whether the selected objects are a pair that is not the one in the pickers."""
    selected = chosen_pair(context)
    return not isinstance(selected, str) and set(selected) != set(properties.pair(context.scene))


def _are_picked_instances(scene: bpy.types.Scene, pair: Pair) -> bool:
    """Return whether the objects are in the pickers as instancers."""
    keys = properties.pair_keys(scene)
    return keys is not None and bool(keys[0][2] or keys[1][2]) and pair == properties.pair(scene)


def no_result(context: bpy.types.Context) -> str:
    return messages.NO_RESULT if session.current(context) is None else ""


_NOT_PICKED = "Pick two objects first"


def picked_keys(context: bpy.types.Context) -> Keys:
    """Return the pair in the pickers. Raise ReadError where there is none."""
    keys = properties.pair_keys(context.scene)
    if keys is None:
        raise ReadError(_NOT_PICKED)
    return keys


def read_pair(context: bpy.types.Context, keys: Keys, settings: Settings | None = None) -> Inspection | InspectionWork:
    """Read a pair as it is now; return the work of inspecting it, or its result where nothing has changed.

    settings: those of the scene, unless others are given. Raise ReadError.
    """
    settings = settings or properties.settings_of(context.scene).as_settings()
    work = session.prepare_inspection(context.scene, context.evaluated_depsgraph_get(), keys, settings)
    follow_pair.leave(context.scene)
    return work


def inspect(work: Inspection | Work[Inspection]) -> Generator[Work[Inspection], Inspection, Inspection]:
    """Take the steps of an inspection. Raise ReadError."""
    return work if isinstance(work, Inspection) else (yield work)


def inspect_in_stages(
    scene: bpy.types.Scene, work: Inspection | InspectionWork, pick: Callable[[], None] = lambda: None
) -> Generator[Work[Inspection], Inspection, Inspection]:
    """Take the steps of an inspection; in a window what each stage before the last one finds becomes the scene's result
    as soon as it does. Raise ReadError.

    pick: puts the pair into the pickers, once something is found.
    """
    found: Inspection | None = None
    if isinstance(work, Inspection) or not background.has_windows():
        found = yield from inspect(work)
        pick()
        return found
    try:
        while found is None or found.is_provisional:
            found = yield work.part(work.stage_after(found))
            pick()
            if found.is_provisional:
                session.store(scene, found)
    except Cancelled:
        if found is not None and found.is_depth_pending:
            session.mark_stale(scene, messages.INSPECTION_CANCELLED)
        raise
    return found


def take_result(operator: BackgroundOperator, context: bpy.types.Context, inspection: Inspection) -> set[str]:
    """Make an inspection the scene's result."""
    session.store(context.scene, inspection)
    operator.report({"INFO"}, pair_lines.one_line(inspection))
    if operator.is_modal and is_outdated(context.evaluated_depsgraph_get(), inspection):
        follow_pair.request(context.scene, reason=messages.CHANGED_MEANWHILE)
    return {"FINISHED"}


def _select_vertices(context: bpy.types.Context, obj: bpy.types.Object, indices: IntArray, pair: Pair) -> bool:
    """Select these vertices of a mesh for Edit Mode, and nothing else of a pair that is edited together; return whether
    that is possible."""
    if len(indices) == 0 or not obj.data.is_editable:
        return False
    for other in pair:
        if other.type == "MESH" and other.data != obj.data and other.data.is_editable:
            _select_only(other, indices[:0])
    _select_only(obj, indices)
    tools: Any = context.tool_settings
    if not tools.mesh_select_mode[0]:  # or Edit Mode would deselect them
        tools.mesh_select_mode = (True, *tools.mesh_select_mode[1:])
    return True


def _select_only(obj: bpy.types.Object, indices: IntArray) -> None:
    """Select the vertices of these indices in a mesh, and no others."""
    mesh: Any = obj.data
    if obj.mode != "EDIT":
        for parts in (mesh.polygons, mesh.edges):
            parts.foreach_set("select", np.zeros(len(parts), dtype=bool))
        mesh.vertices.foreach_set("select", np.isin(np.arange(len(mesh.vertices)), indices))
        return
    edited: Any = bmesh.from_edit_mesh(mesh)
    for part in chain(edited.faces, edited.edges, edited.verts):
        part.select_set(False)
    edited.verts.ensure_lookup_table()
    for index in indices.tolist():
        edited.verts[index].select_set(True)
    bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)


class CONTACT_LENS_OT_inspect(Undoable, BackgroundOperator, bpy.types.Operator):
    """Show where, how deep and in which direction two objects collide, or how far apart they are"""

    bl_idname = "contact_lens.inspect"
    bl_label = "Inspect Contact"
    title = "Inspection"

    method: properties.method({"SKIP_SAVE"})  # type: ignore[valid-type]
    clearance: properties.clearance({"SKIP_SAVE"})  # type: ignore[valid-type]
    contact_tolerance: properties.contact_tolerance({"SKIP_SAVE"})  # type: ignore[valid-type]
    flat: properties.flat({"SKIP_SAVE"})  # type: ignore[valid-type]
    swap: BoolProperty(  # type: ignore[valid-type]
        name="Swap A and B", description="Make the active object B instead of A", default=False, options={"SKIP_SAVE"}
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # It can be run without a pair, to say what to select: a search leaves out why it is disabled.
        if not are_many(context) or not background.has_windows():
            return BackgroundOperator.invoke(self, context, event)

        def draw(menu: Any, context: bpy.types.Context) -> None:
            menu.layout.operator_context = "INVOKE_DEFAULT"
            draw_check_selected(menu.layout)

        context.window_manager.popup_menu(draw, title=str(chosen_pair(context)).partition(":")[0])
        return {"CANCELLED"}

    def steps(self, context: bpy.types.Context) -> Steps:
        chosen = chosen_pair(context)
        if isinstance(chosen, str):
            raise ReadError(chosen)
        keys = properties.key_of(chosen[0]), properties.key_of(chosen[1])
        if _are_picked_instances(context.scene, chosen):
            keys = picked_keys(context)
        if self.swap:
            keys = keys[1], keys[0]
        scene_settings = properties.settings_of(context.scene)
        is_other_pair = set(keys) != set(properties.pair_keys(context.scene) or ())
        for name in SETTINGS:
            # What was not asked for stays as it is in the scene, and the redo panel shows it.
            is_asked_for = self.properties.is_property_set(name)
            if name == "flat" and is_other_pair:  # it is about two objects: Repeat Last asks for it of others
                setattr(self, name, is_asked_for and self.flat and not self.options.is_repeat_last)
            elif not is_asked_for:
                setattr(self, name, getattr(scene_settings, name))
        scene, before = context.scene, session.stored(context.scene)

        def pick() -> None:
            if properties.pair_keys(scene) != keys:
                properties.pick(scene, keys)
            for name in SETTINGS:
                setattr(properties.settings_of(scene), name, getattr(self, name))
            follow_pair.leave(scene)  # this operator inspects what it picks

        try:
            work = read_pair(context, keys, properties.as_settings(self))
            return take_result(self, context, (yield from inspect_in_stages(scene, work, pick)))
        except NotFiniteError as error:
            if not _select_vertices(context, error.object, error.vertices, chosen):
                raise
            which = "is" if len(error.vertices) == 1 else "are"
            self.report({"ERROR"}, f"{error}, which {which} selected in Edit Mode")
            return {"FINISHED"}  # the selection is a step that can be undone
        except Cancelled:
            if session.stored(scene) is before:
                raise
            return {"FINISHED"}  # the pair is picked and has a first answer, which is a step that can be undone

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in (*SETTINGS, "swap"):
            layout.prop(self, name)
        inspection = session.current(context)
        if inspection is not None and (ignored := pair_lines.method_ignored(inspection)):
            layout.label(text=ignored, icon="INFO")


class CONTACT_LENS_OT_refresh(BackgroundOperator, bpy.types.Operator):
    """Inspect the pair again as it is now"""

    bl_idname = "contact_lens.refresh"
    bl_label = "Refresh Contact"
    title = "Inspection"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return _NOT_PICKED if None in properties.pair(context.scene) else ""

    def steps(self, context: bpy.types.Context) -> Steps:
        try:
            work = read_pair(context, picked_keys(context))
            inspection = yield from inspect_in_stages(context.scene, work)
        except ReadError as error:
            follow_pair.failed(context, error)
            raise
        return take_result(self, context, inspection)


class CONTACT_LENS_OT_refine(BackgroundOperator, bpy.types.Operator):
    """Search longer for the depth, of which only bounds that are far apart are known"""

    bl_idname = "contact_lens.refine"
    bl_label = "Refine Depth"
    title = "Refinement"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is None or inspection.is_provisional or session.is_stale(context):
            return messages.NO_RESULT
        if not Distance.of_contact(inspection.contact).is_at_most:
            return "The depth is known: only bounds that are far apart can be refined"
        return "" if inspection.searched < inf else REFINED

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, before = context.scene, session.current(context)
        if before is None:
            return {"CANCELLED"}
        after: Inspection = yield partial(refined, before)
        now = session.current(context)
        if now is None or now.contact is not before.contact or is_outdated(context.evaluated_depsgraph_get(), before):
            self.report({"WARNING"}, "An object changed during the search, so the depth was not refined: try again")
            return {"CANCELLED"}
        session.store(scene, after)
        known = Distance.of_contact(after.contact).span_text(after.units)
        gain = "Refined:" if after.contact is not before.contact else "No better bounds than"
        self.report({"INFO"}, f"{gain} {known}{'' if after.searched < inf else f'. {REFINED}'}")
        return {"FINISHED"}


def refinement_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the search that refines the depth of the scene's pair; None when none runs."""
    flow = background.shown_flow(scene, CONTACT_LENS_OT_refine.title)
    return None if flow is None else flow.progress


def _cancel_refinement(scene: bpy.types.Scene) -> None:
    flow = background.shown_flow(scene, CONTACT_LENS_OT_refine.title)
    if flow is not None:
        flow.cancel()


background.CANCELLATIONS["refinement"] = "Cancel the search and keep the bounds that are known", _cancel_refinement


class CONTACT_LENS_OT_swap(Undoable, BackgroundOperator, bpy.types.Operator):
    """Make A what is B now, and B what is A"""

    bl_idname = "contact_lens.swap"
    bl_label = "Swap A and B"
    title = "Inspection"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return _NOT_PICKED if None in properties.pair(context.scene) else ""

    def steps(self, context: bpy.types.Context) -> Steps:
        a, b = picked_keys(context)
        properties.pick(context.scene, (b, a))
        try:
            inspection = yield from inspect_in_stages(context.scene, read_pair(context, (b, a)))
        except Cancelled:
            return {"FINISHED"}  # they are swapped, so whatever else happened it is a step that can be undone
        except ReadError as error:
            follow_pair.failed(context, error)
            return {"FINISHED"}
        return take_result(self, context, inspection)


class CONTACT_LENS_OT_clear(Undoable, Polled, bpy.types.Operator):
    """Remove both objects from the panel and hide the contact"""

    bl_idname = "contact_lens.clear"
    bl_label = "Clear Contact"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if properties.picked(context.scene) else "No object is picked"

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = properties.settings_of(context.scene)
        settings.object_a = settings.object_b = None
        # The result itself stays: with the pickers empty it is about nothing, and undo brings it back.
        session.set_error(context.scene, "")
        handlers.redraw()
        return {"FINISHED"}


class CONTACT_LENS_OT_frame(Polled, bpy.types.Operator):
    """Move the view to the contact, with both objects or the smaller one in it, and the step that is shown"""

    bl_idname = "contact_lens.frame"
    bl_label = "Frame Contact"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return no_result(context) if views_of(context) else NO_VIEW

    def execute(self, context: bpy.types.Context) -> set[str]:
        inspection = session.current(context)
        if inspection is None:
            return {"CANCELLED"}
        found, center = inspection.contact, inspection.contact.center
        points = np.concatenate([vector_ends(found), *outlines(found), *curves(found)])
        objects = [obj.points for obj in inspection.objects]
        shown = follow_steps.current(context.scene)
        if shown is not None:
            steps, number = shown
            points = np.concatenate([points, points_of(steps.picture(number))])  # it may be beside the objects
            everything = np.concatenate([points, *objects])
            center = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
        viewport.frame(views_of(context), center, points, objects)
        return {"FINISHED"}


def views_of(context: bpy.types.Context) -> list[bpy.types.Area]:
    """Return the 3D view the mouse is in, else all of the window's."""
    if context.area is not None and context.area.type == "VIEW_3D":
        return [context.area]
    return viewport.areas(context)


class CONTACT_LENS_OT_copy(Polled, bpy.types.Operator):
    """Copy the results to the clipboard as text"""

    bl_idname = "contact_lens.copy"
    bl_label = "Copy Results"

    what: StringProperty(  # type: ignore[valid-type]
        name="Row", description="Row to copy; all rows if empty", options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        text = text_to_copy(context, properties.what)
        return f"Copy {text} to the clipboard" if properties.what and text else ""

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return no_result(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        text = text_to_copy(context, self.what)
        if not text:
            self.report({"ERROR"}, f"The result has no row '{self.what}' to copy")
            return {"CANCELLED"}
        context.window_manager.clipboard = text
        self.report({"INFO"}, f"Copied {text}" if self.what else _lines_copied(text.count("\n")))
        return {"FINISHED"}


def _lines_copied(number: int) -> str:
    return f"{messages.counted(number, 'line')} copied"


def report_of(context: bpy.types.Context) -> report.Report:
    """Return the scene's current result, with what was measured of it, as plain, JSON-ready data: world space, lengths
    in Blender units.

    Raises LookupError when there is no result.
    """
    return report.report(context, follow_measures.valid(context))


def text_to_copy(context: bpy.types.Context, what: str) -> str:
    """Return what Copy copies, as its property says; empty where the result does not have it."""
    inspection = session.current(context)
    if inspection is None:
        return ""
    if what == NUMBER:
        return pair_lines.headline(inspection).exact
    found = follow_measures.valid(context)
    if what:
        rows = pair_lines.measurements(inspection) + ([] if found is None else pair_lines.measures(inspection, found))
        return next((row.copied for row in rows if row.name == what), "")
    lines = pair_lines.report_lines(inspection, session.stale_reason(context), found)
    return "".join(f"{name}\t{text}\n" for name, text in lines)


class CONTACT_LENS_OT_explain(bpy.types.Operator):
    """Show the whole sentence"""

    bl_idname = "contact_lens.explain"
    bl_label = "Explain"
    bl_options: Any = {"INTERNAL"}

    sentence: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return str(properties.sentence)

    def execute(self, context: bpy.types.Context) -> set[str]:
        def draw(menu: Any, context: bpy.types.Context) -> None:
            for line in textwrap.wrap(self.sentence, SENTENCE_WIDTH):
                menu.layout.label(text=line)

        context.window_manager.popup_menu(draw)
        return {"FINISHED"}


LONGEST_NAME = 60
"""Bytes of an object's name in a file's name: two of them and the rest fit everywhere."""


def path_beside_file(name_a: str, name_b: str, ending: str = "contact.json") -> str:
    """Return a path beside the .blend file, with the objects' names as far as a file name can have them."""
    names = []
    for name in (name_a, name_b):
        cut = NOT_IN_FILE_NAMES.sub("_", name).encode()[:LONGEST_NAME].decode(errors="ignore")
        names.append(cut.strip(" .") or "_")
    return str(Path(bpy.data.filepath).parent / f"{' '.join(names)} {ending}")


class SaveOperator(ExportHelper, Polled):
    """An operator that saves a report where the file browser says."""

    what: ClassVar[str] = "report"
    check_extension: bool | None = None  # the path is taken as it was typed
    # Not remembered: the next result gets a name of its own.
    filepath: StringProperty(  # type: ignore[valid-type]
        name="File Path", subtype="FILE_PATH", maxlen=1024, options={"SKIP_SAVE"}
    )

    def default_path(self, context: bpy.types.Context) -> str:
        """Return the path that the file browser begins with."""
        raise NotImplementedError

    def save(self, context: bpy.types.Context, path: Path) -> str | None:
        """Write the file; return what is in it, if there is more to know. Raise ReportFileError and OSError."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.filepath:
            self.filepath = self.default_path(context)
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = Path(bpy.path.abspath(self.filepath)).absolute()
        try:
            content = self.save(context, path)
        except (report_files.ReportFileError, DecisionsError, OSError) as error:
            self.report({"ERROR"}, visible(f"The {self.what} cannot be saved: {report_files.reason(error)}"))
            return {"CANCELLED"}
        self.report({"INFO"}, visible(messages.saved(str(path), content)))
        return {"FINISHED"}


class CONTACT_LENS_OT_save_json(SaveOperator, bpy.types.Operator):
    """Save the results of the pair as a JSON file"""

    bl_idname = "contact_lens.save_json"
    bl_label = "Save JSON"

    filename_ext = ".json"
    check_extension = True
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return no_result(context)

    def default_path(self, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        return "" if inspection is None else path_beside_file(inspection.name_a, inspection.name_b)

    def save(self, context: bpy.types.Context, path: Path) -> None:
        report_files.write(report_files.place_of(str(path)), report.to_json(report_of(context)))


class CONTACT_LENS_OT_show_volumes(Undoable, Polled, bpy.types.Operator):
    """Show bounding volumes of the selected objects or the scene, as set in the sidebar"""

    bl_idname = "contact_lens.show_volumes"
    bl_label = "Show Bounding Volumes"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self._show(context, background.seconds_to_wait(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self._show(context, None)

    def _show(self, context: bpy.types.Context, seconds: float | None) -> set[str]:
        properties.settings_of(context.scene).show_volumes = True
        follow_volumes.begin(context, seconds)
        handlers.redraw()
        if problem := follow_volumes.error(context.scene):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        return {"FINISHED"}


IN_MENU = (
    CONTACT_LENS_OT_inspect,
    CONTACT_LENS_OT_refresh,
    CONTACT_LENS_OT_refine,
    CONTACT_LENS_OT_swap,
    CONTACT_LENS_OT_clear,
    CONTACT_LENS_OT_frame,
    CONTACT_LENS_OT_copy,
    CONTACT_LENS_OT_save_json,
    CONTACT_LENS_OT_show_volumes,
)
"""Those that the menu lists; the first is beside it, too."""
CLASSES = (*IN_MENU, CONTACT_LENS_OT_explain)
