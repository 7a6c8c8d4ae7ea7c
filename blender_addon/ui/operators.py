# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person can do: inspect, refresh, clear, frame, separate, copy, save."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper
from mathutils import Vector

from ..check import separate, session
from ..check.inspection import Work, begun, overtaken
from ..check.pair_contact import curves, outlines, vector_ends
from ..check.separate import Moved, SeparateError
from ..check.session import Inspection
from ..data import properties
from ..data.names import visible
from ..draw.shape_outline import extent_of
from ..read import snapshot as read
from ..read.snapshot import ReadError
from ..report import files as report_files
from ..report import pair as report
from . import follow_pair, follow_volumes, handlers
from .background import Job

SETTINGS = ("method", "clearance", "contact_tolerance", "flat")
"""What the scene and the redo panel both have."""
PATIENCE = 0.3
"""Seconds Blender waits for an inspection; after that it goes on and shows the progress."""
POLL = 0.1
"""Seconds between two looks at it."""
SELECT_TWO = "Select two objects; the active one becomes A, the other B"


def chosen_pair(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object] | str:
    """The two objects to inspect, A first, or why there are not two.

    Two selected objects are taken; with fewer selected, the pair in the pickers.
    """
    selected = list(context.view_layer.objects.selected)
    active = context.view_layer.objects.active
    if len(selected) > 2:
        return f"{len(selected)} objects are selected: select only two"
    if len(selected) == 2:
        if active not in selected:
            return "Make one of the two selected objects the active one: it becomes A"
        a, b = active, selected[1] if selected[0] == active else selected[0]
    else:
        picked_a, picked_b = session.pair(context.scene)
        if picked_a is None or picked_b is None:
            return SELECT_TWO
        a, b = picked_a, picked_b
    if a == b:
        return f"'{a.name}' is picked twice: pick two objects"
    return read.why_not(a) or read.why_not(b) or (a, b)


def _poll_result(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    if session.current(context) is None:
        cls.poll_message_set("There is no result: run Inspect Contact first")
        return False
    return True


if TYPE_CHECKING:
    _Operator = bpy.types.Operator
else:  # Blender registers what its own classes are the direct bases of
    _Operator = object


class _Inspecting(_Operator):
    """An inspection by an operator: at once where it is quick, else beside Blender with progress, and Esc ends it."""

    _pair: tuple[bpy.types.Object, bpy.types.Object]
    _beside = False
    """Whether the work may go on beside Blender; a script waits for it."""
    _modal = False
    """Whether it does."""
    _job: Job[Inspection] | None = None
    _timer: bpy.types.Timer | None = None

    def _begun(self, context: bpy.types.Context) -> Inspection | Work:
        """Settle the pair and the settings, and read the objects. Raises ReadError."""
        raise NotImplementedError

    def _taken(self, context: bpy.types.Context, inspection: Inspection) -> set[str]:
        """Make the inspection the scene's result."""
        session.store(context.scene, inspection)
        self.report({"INFO"}, report.one_line(report.build(inspection)))
        handlers.redraw()
        return {"FINISHED"}

    def _failed(self, context: bpy.types.Context, error: ValueError) -> set[str]:
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def _stopped(self, context: bpy.types.Context) -> set[str]:
        self.report({"INFO"}, "Inspection cancelled: nothing has changed")
        return {"CANCELLED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            return self._go_on(context, self._begun(context))
        except (ReadError, SeparateError) as error:
            return self._failed(context, error)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._beside = not bpy.app.background and context.window is not None
        return self.execute(context)

    def _go_on(self, context: bpy.types.Context, made: Inspection | Work) -> set[str]:
        """Do the work and take what it makes; when it takes long and may, leave that to `modal`."""
        if isinstance(made, Inspection):
            return self._taken(context, made)
        follow_pair.leave(context.scene)
        if not self._beside:
            return self._taken(context, made(lambda share: True))
        self._job = Job(made)
        if self._job.wait(PATIENCE):
            return self._taken(context, self._job.result())
        self._timer = context.window_manager.event_timer_add(POLL, window=context.window)
        if not self._modal:
            self._modal = bool(context.window_manager.modal_handler_add(self))
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        job = self._job
        assert job is not None
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            return self._stopped(context)
        if not job.done:
            if event.type == "TIMER" and context.workspace is not None:
                context.workspace.status_text_set(f"Inspecting: {100.0 * job.share:.0f} %    Esc: cancel")
            return {"PASS_THROUGH"}
        self.cancel(context)
        try:
            inspection = job.result()
            a, b = self._pair
            result = self._taken(context, inspection)
            if result == {"FINISHED"} and overtaken(context.evaluated_depsgraph_get(), a, b, inspection):
                follow_pair.request(context.scene, reason=follow_pair.OVERTAKEN)
        except ReferenceError:
            return self._failed(context, ReadError("An object was removed while it was inspected"))
        except (ReadError, SeparateError) as error:
            return self._failed(context, error)
        return result

    def cancel(self, context: bpy.types.Context) -> None:
        """Clear up; Blender calls this too when it ends what goes on, as for a new file."""
        if self._job is not None:
            self._job.cancel()
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)


class CONTACT_LENS_OT_inspect(_Inspecting, bpy.types.Operator):
    """Show where, how deep and which way two objects collide, or how far apart they are"""

    bl_idname = "contact_lens.inspect"
    bl_label = "Inspect Contact"
    bl_options = {"REGISTER", "UNDO"}

    method: properties.method({"SKIP_SAVE"})  # type: ignore[valid-type]
    clearance: properties.clearance({"SKIP_SAVE"})  # type: ignore[valid-type]
    contact_tolerance: properties.contact_tolerance({"SKIP_SAVE"})  # type: ignore[valid-type]
    flat: properties.flat({"SKIP_SAVE"})  # type: ignore[valid-type]
    swap: BoolProperty(  # type: ignore[valid-type]
        name="Swap", description="Take the active object as B", default=False, options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        pair = chosen_pair(context)
        if isinstance(pair, str):
            cls.poll_message_set(pair)
            return False
        return True

    def _begun(self, context: bpy.types.Context) -> Inspection | Work:
        """Settle the pair and the settings, and read the objects. Raises ReadError."""
        pair = chosen_pair(context)
        if isinstance(pair, str):
            raise ReadError(pair)
        self._pair = (pair[1], pair[0]) if self.swap else pair
        scene_settings = session.settings_of(context.scene)
        # That two objects are inspected in their plane is about these two.
        other_pair = set(pair) != set(session.pair(context.scene))
        for name in SETTINGS:
            # What was not asked for stays as it is in the scene, and the redo panel shows it.
            if not self.properties.is_property_set(name):
                setattr(self, name, False if name == "flat" and other_pair else getattr(scene_settings, name))
        return begun(context.scene, context.evaluated_depsgraph_get(), *self._pair, properties.as_settings(self))

    def _taken(self, context: bpy.types.Context, inspection: Inspection) -> set[str]:
        """Make the inspection the scene's result, and its pair and settings the scene's."""
        scene_settings = session.settings_of(context.scene)
        scene_settings.object_a, scene_settings.object_b = self._pair
        for name in SETTINGS:
            setattr(scene_settings, name, getattr(self, name))
        return super()._taken(context, inspection)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in (*SETTINGS, "swap"):
            layout.prop(self, name)
        inspection = session.current(context)
        if inspection is not None and (ignored := report.method_ignored(report.build(inspection))):
            layout.label(text=ignored, icon="INFO")


class CONTACT_LENS_OT_refresh(_Inspecting, bpy.types.Operator):
    """Inspect the pair again as it is now"""

    bl_idname = "contact_lens.refresh"
    bl_label = "Refresh"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if None in session.pair(context.scene):
            cls.poll_message_set("Pick two objects first")
            return False
        return True

    def _begun(self, context: bpy.types.Context) -> Inspection | Work:
        a, b = session.pair(context.scene)
        if a is None or b is None:
            raise ReadError("Pick two objects first")
        self._pair = a, b
        settings = session.settings_of(context.scene).as_settings()
        return begun(context.scene, context.evaluated_depsgraph_get(), a, b, settings)

    def _failed(self, context: bpy.types.Context, error: ValueError) -> set[str]:
        if isinstance(error, ReadError):
            follow_pair.failed(context, error)
        handlers.redraw()
        return super()._failed(context, error)


class CONTACT_LENS_OT_clear(bpy.types.Operator):
    """Empty both pickers and take the contact off the screen"""

    bl_idname = "contact_lens.clear"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not session.picked(context.scene):
            cls.poll_message_set("There is nothing to clear")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = session.settings_of(context.scene)
        settings.object_a = settings.object_b = None
        # The result itself stays: with the pickers empty it is about nothing, and undo brings it back.
        session.set_error(context.scene, "")
        handlers.redraw()
        return {"FINISHED"}


class CONTACT_LENS_OT_frame(bpy.types.Operator):
    """Move the view to the contact"""

    bl_idname = "contact_lens.frame"
    bl_label = "Frame Contact"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _views(context):
            cls.poll_message_set("There is no 3D view")
            return False
        return _poll_result(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        inspection = session.current(context)
        if inspection is None:
            return {"CANCELLED"}
        found = inspection.contact
        points = np.concatenate([vector_ends(found), *outlines(found), *curves(found)])
        reach = float(np.linalg.norm(points - found.center, axis=1).max())
        # A point contact has no size: show a good part of the smaller object around it.
        radius = max(2.0 * reach, 0.25 * min(extent_of(inspection.shape_a), extent_of(inspection.shape_b)))
        for space in _views(context):
            view = space.region_3d
            if view.view_perspective == "CAMERA":
                view.view_perspective = "PERSP"
            view.view_location = Vector(found.center.tolist())
            # Half of what is seen at distance d is 16 d / lens upwards or sideways, whichever is longer.
            view.view_distance = max(radius, 1e-6) * space.lens / 16.0
        handlers.redraw()
        return {"FINISHED"}


def _views(context: bpy.types.Context) -> list[bpy.types.SpaceView3D]:
    """The 3D view the mouse is in, else all of the window's."""
    if context.area is not None and context.area.type == "VIEW_3D":
        return [cast(bpy.types.SpaceView3D, context.area.spaces.active)]
    if context.screen is None:
        return []
    views = [area.spaces.active for area in context.screen.areas if area.type == "VIEW_3D"]
    return [cast(bpy.types.SpaceView3D, view) for view in views]


class _Separating(_Inspecting):
    """Separating by an operator: an inspection, the move, and another inspection."""

    _moved: Moved | None = None

    def _begun(self, context: bpy.types.Context) -> Inspection | Work:
        a, b = session.pair(context.scene)
        if a is None or b is None:
            raise SeparateError("Pick two objects first")
        self._pair = a, b
        return self._again(context)

    def _again(self, context: bpy.types.Context) -> Inspection | Work:
        """What inspects the pair as it is now. Raises ReadError."""
        settings = session.settings_of(context.scene).as_settings()
        return begun(context.scene, context.evaluated_depsgraph_get(), *self._pair, settings)

    def _taken(self, context: bpy.types.Context, inspection: Inspection) -> set[str]:
        """Move the objects and inspect them again; then make that the scene's result."""
        if self._moved is None:
            if self._modal and overtaken(context.evaluated_depsgraph_get(), *self._pair, inspection):
                raise SeparateError("An object has changed while it was inspected: nothing was moved")
            session.store(context.scene, inspection)
            self._moved = separate.separate(context, *self._pair, self._moves, inspection)
            return self._go_on(context, self._again(context))
        session.store(context.scene, inspection)
        return self._told(self._outlook(inspection))

    def _outlook(self, inspection: Inspection) -> str:
        """What to say once it is done."""
        return report.one_line(report.build(inspection))

    @property
    def _moves(self) -> str:
        """Which of the two is moved, as `separate` takes it."""
        raise NotImplementedError

    def _told(self, more: str) -> set[str]:
        """Say what was moved. The move is done, so whatever else happened it is a step that can be undone."""
        assert self._moved is not None
        self.report({"INFO"}, f"Moved {self._moved.words}. {more}")
        for warning in self._moved.warnings:
            self.report({"WARNING"}, warning)
        handlers.redraw()
        return {"FINISHED"}

    def _failed(self, context: bpy.types.Context, error: ValueError) -> set[str]:
        return super()._failed(context, error) if self._moved is None else self._told(str(error))

    def _stopped(self, context: bpy.types.Context) -> set[str]:
        if self._moved is None:
            return super()._stopped(context)
        session.mark_stale(context.scene, follow_pair.CANCELLED)
        return self._told("The inspection after it was cancelled")


class CONTACT_LENS_OT_separate(_Separating, bpy.types.Operator):
    """Move the objects apart by the minimum translation vector, and inspect again"""

    bl_idname = "contact_lens.separate"
    bl_label = "Separate"
    bl_options = {"REGISTER", "UNDO"}

    moves: EnumProperty(  # type: ignore[valid-type]
        name="Move",
        description="Which of the two is moved",
        items=(
            ("B", "B", "Move B; A stays"),
            ("A", "A", "Move A the other way; B stays"),
            ("HALF", "Half Each", "Move both by half the way"),
        ),
        default="B",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _poll_result(cls, context):
            return False
        inspection = session.current(context)
        if inspection is not None and not session.is_stale(context) and inspection.contact.depth == 0.0:
            cls.poll_message_set(separate.why_none(inspection.contact))
            return False
        return True

    @property
    def _moves(self) -> str:
        return str(self.moves)


class CONTACT_LENS_OT_copy(bpy.types.Operator):
    """Copy the results to the clipboard, as text"""

    bl_idname = "contact_lens.copy"
    bl_label = "Copy Results"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _poll_result(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        lines = report.report_lines(report.report(context))
        context.window_manager.clipboard = "".join(f"{name}\t{text}\n" for name, text in lines)
        self.report({"INFO"}, f"{len(lines)} lines copied")
        return {"FINISHED"}


LONGEST_NAME = 60
"""Bytes of an object's name in a file's name: two of them and the rest fit everywhere."""


def proposed_path(name_a: str, name_b: str) -> str:
    """Where Save JSON proposes to save: beside the .blend file, with the objects' names as far as files allow them."""
    not_in_files = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
    names = []
    for name in (name_a, name_b):
        cut = not_in_files.sub("_", name).encode()[:LONGEST_NAME].decode(errors="ignore")
        names.append(cut.strip(" .") or "_")
    return str(Path(bpy.data.filepath).parent / f"{' '.join(names)} contact.json")


class CONTACT_LENS_OT_save_json(bpy.types.Operator, ExportHelper):
    """Save the results as a JSON file"""

    bl_idname = "contact_lens.save_json"
    bl_label = "Save JSON"

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]
    # Not remembered: the next pair is proposed a name of its own.
    filepath: StringProperty(  # type: ignore[valid-type]
        name="File Path", subtype="FILE_PATH", maxlen=1024, options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _poll_result(cls, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        inspection = session.current(context)
        if inspection is not None and not self.filepath:
            self.filepath = proposed_path(inspection.name_a, inspection.name_b)
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = str(Path(bpy.path.abspath(self.filepath)).absolute())
        try:
            report_files.write(report_files.place_of(path), report.to_json(report.report(context)))
        except report_files.ReportFileError as error:
            self.report({"ERROR"}, visible(f"Cannot write {error}"))
            return {"CANCELLED"}
        self.report({"INFO"}, visible(f"Saved {path}"))
        return {"FINISHED"}


class CONTACT_LENS_OT_show_volumes(bpy.types.Operator):
    """Show bounding volumes of the selected objects, or of the scene, as set in the sidebar"""

    bl_idname = "contact_lens.show_volumes"
    bl_label = "Show Bounding Volumes"
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        session.settings_of(context.scene).show_volumes = True
        if not follow_volumes.begin(context):
            return self._told(context)
        bpy.ops.contact_lens.watch_volumes("INVOKE_DEFAULT")  # type: ignore[attr-defined]
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        session.settings_of(context.scene).show_volumes = True
        follow_volumes.update(context)
        return self._told(context)

    def _told(self, context: bpy.types.Context) -> set[str]:
        handlers.redraw()
        problem = follow_volumes.trouble(context.scene)
        if problem:
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        return {"FINISHED"}


class _Watching(_Operator):
    """Long work that goes on by itself: its progress in the status bar, and Esc ends it."""

    _name: ClassVar[str]
    """What is told of."""
    _watched: ClassVar[set[int]]
    """Scenes (their session_uid) whose work is watched."""
    _timer: bpy.types.Timer
    _uid: int

    def _progress(self) -> float | None:
        """How much of the work is done, 0 to 1; None when none goes on."""
        raise NotImplementedError

    def _end(self, context: bpy.types.Context) -> None:
        """Cancel the work."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._uid = context.scene.session_uid
        if self._uid in self._watched or self._progress() is None:
            return {"CANCELLED"}
        self._watched.add(self._uid)
        self._timer = context.window_manager.event_timer_add(follow_volumes.POLL, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        share = self._progress()
        if share is None:
            self.cancel(context)
            return {"FINISHED", "PASS_THROUGH"}
        if event.type == "ESC" and event.value == "PRESS" and not self._others(context):
            self._end(context)
            self.cancel(context)
            self.report({"INFO"}, f"{self._name} cancelled")
            return {"CANCELLED"}
        if event.type == "TIMER" and context.workspace is not None:
            context.workspace.status_text_set(f"{self._name}: {100.0 * share:.0f} %    Esc: cancel")
        return {"PASS_THROUGH"}

    @staticmethod
    def _others(context: bpy.types.Context) -> bool:
        """Whether the user is in the middle of something else, such as a drag: then Esc is about that."""
        if context.window is None:
            return False
        running = context.window.modal_operators
        return any(not operator.bl_idname.startswith("CONTACT_LENS_OT_watch") for operator in running)

    def cancel(self, context: bpy.types.Context) -> None:
        """Clear up; Blender calls this too when it ends what goes on, as for a new file."""
        self._watched.discard(self._uid)
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


class CONTACT_LENS_OT_watch_volumes(_Watching, bpy.types.Operator):
    """Tell how far the bounding volumes are, until they are made or Esc is pressed"""

    bl_idname = "contact_lens.watch_volumes"
    bl_label = "Watch Bounding Volumes"
    bl_options = {"INTERNAL"}

    _name = "Bounding volumes"
    _watched: ClassVar[set[int]] = set()

    def _progress(self) -> float | None:
        return follow_volumes.share_done(self._uid)

    def _end(self, context: bpy.types.Context) -> None:
        follow_volumes.cancel(self._uid)


class CONTACT_LENS_OT_watch_inspection(_Watching, bpy.types.Operator):
    """Tell how far the inspection that follows a change is, until it is made or Esc is pressed"""

    bl_idname = "contact_lens.watch_inspection"
    bl_label = "Watch Inspection"
    bl_options = {"INTERNAL"}

    _name = "Inspection"
    _watched: ClassVar[set[int]] = set()

    def _progress(self) -> float | None:
        return follow_pair.progress_of(self._uid)

    def _end(self, context: bpy.types.Context) -> None:
        follow_pair.cancel(context.scene)


class CONTACT_LENS_OT_cancel_inspection(bpy.types.Operator):
    """End the inspection that goes on; the result stays as it was, marked as outdated"""

    bl_idname = "contact_lens.cancel_inspection"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        follow_pair.cancel(context.scene)
        return {"FINISHED"}


class CONTACT_LENS_OT_cancel_volumes(bpy.types.Operator):
    """Give up making the bounding volumes"""

    bl_idname = "contact_lens.cancel_volumes"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        follow_volumes.cancel(context.scene.session_uid)
        return {"FINISHED"}


CLASSES = (
    CONTACT_LENS_OT_inspect,
    CONTACT_LENS_OT_refresh,
    CONTACT_LENS_OT_clear,
    CONTACT_LENS_OT_frame,
    CONTACT_LENS_OT_separate,
    CONTACT_LENS_OT_copy,
    CONTACT_LENS_OT_save_json,
    CONTACT_LENS_OT_show_volumes,
    CONTACT_LENS_OT_watch_volumes,
    CONTACT_LENS_OT_watch_inspection,
    CONTACT_LENS_OT_cancel_inspection,
    CONTACT_LENS_OT_cancel_volumes,
)


def draw_in_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.operator(CONTACT_LENS_OT_inspect.bl_idname, icon="SELECT_INTERSECT")


def draw_all_in_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """F3 finds what is in a menu: the Object menu has them all."""
    draw_in_menu(self, context)
    self.layout.menu(CONTACT_LENS_MT_contact.bl_idname)


MORE: list[tuple[type[bpy.types.Operator], ...]] = []
"""Operators of other files that the menu has too."""


class CONTACT_LENS_MT_contact(bpy.types.Menu):
    bl_idname = "CONTACT_LENS_MT_contact"
    bl_label = "Contact"

    def draw(self, context: bpy.types.Context) -> None:
        for operator in CLASSES[1:]:
            if "INTERNAL" in getattr(operator, "bl_options", ()):
                continue
            self.layout.operator(operator.bl_idname)
        for group in MORE:
            self.layout.separator()
            for other in group:
                self.layout.operator(other.bl_idname)


MENUS = (
    ("VIEW3D_MT_object", draw_all_in_menu),
    ("VIEW3D_MT_object_context_menu", draw_in_menu),
    ("VIEW3D_MT_edit_mesh", draw_in_menu),
)


def register() -> None:
    bpy.utils.register_class(CONTACT_LENS_MT_contact)
    for name, draw in MENUS:
        getattr(bpy.types, name).append(draw)


def unregister() -> None:
    for name, draw in MENUS:
        getattr(bpy.types, name).remove(draw)
    bpy.utils.unregister_class(CONTACT_LENS_MT_contact)
