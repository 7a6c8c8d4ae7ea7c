# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Frames, and going to frames of the active clash: by buttons, and in its plot."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Mapping
from functools import partial
from typing import Any

import bpy
from bpy.props import EnumProperty

from ...core.progress import Progress, subrange
from ..clashes import check_settings, clash_renewal
from ..clashes.clash_renewal import OverList
from ..clashes.stored_frames import stored_frames
from ..data import messages
from ..data.frame_lists import MOST_FRAMES
from ..data.objects import frame_of
from ..data.records import Key, Pair, Rules, Skipped, State
from ..frames.found_frames import FoundFrames
from ..frames.over_frames import HIDDEN
from ..frames.sentences import at_frames
from ..geometry.frame_geometries import FrameGeometries
from ..geometry.snapshot import ReadError
from ..live import handlers
from ..live.background import BackgroundOperator, Polled, Steps, Undoable, Work
from ..read import scene_reader
from ..read.elsewhere import Elsewhere
from ..read.scene import Sides, read_frame, sides_of
from ..read.scene_objects import CheckInput
from ..scene import scene_check as scene_pairs
from ..scene.frame_cache import FrameCache
from ..scene.scene_check import Outcome
from ..views import sidebar_plot
from . import pair_operators, scene_operators

MEASURED = 2
"""Frames after which it is known how long too many would take."""
OF_FRAMES = 0.95
"""Fraction of the progress after which all frames are checked, and the gaps are to be found."""

JUMPS: tuple[tuple[str, str, str, Any, int], ...] = (
    ("FIRST", "First", "Go to the first frame at which the clash was found", "REW", 0),
    ("PREVIOUS", "Previous", "Go to the previous frame at which the clash was found", "PREV_KEYFRAME", 1),
    ("WORST", "Deepest", "Go to the frame at which the clash is deepest, or nearest", "TRIA_DOWN_BAR", 2),
    ("NEXT", "Next", "Go to the next frame at which the clash was found", "NEXT_KEYFRAME", 3),
    ("LAST", "Last", "Go to the last frame at which the clash was found", "FF", 4),
)
_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


class CONTACT_LENS_OT_check_frames(Undoable, BackgroundOperator, bpy.types.Operator):
    """Find the clashes of the scene at all frames of the animation, or of a range"""

    bl_idname = "contact_lens.check_frames"
    bl_label = "Check Frames"
    title = "Check Frames"
    keeps_partial = True
    seconds_at_once = 0.25

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        frames = check_settings.of_scene(context.scene).chosen_frames(context.scene)
        if not frames:
            return "The last frame is before the first one: change the range of frames"
        if len(frames) == 1:
            return "The range has a single frame: change it, or run Check Scene"
        return scene_operators.CONTACT_LENS_OT_check_scene.disabled_reason(context)

    def steps(self, context: bpy.types.Context) -> Steps:
        scene, uid, found = context.scene, context.scene.session_uid, FoundFrames()
        current, subframe = scene.frame_current, scene.frame_subframe
        wanted = check_settings.of_scene(scene).chosen_frames(scene)
        apart = dict[Pair, Mapping[Key, State]]()
        with scene_operators.running(scene, self.flow):
            try:
                with handlers.quiet():
                    given = yield from self._check(context, wanted, found, apart)
            finally:
                if (there := _scene(uid)) is not None:
                    there.frame_set(current, subframe=subframe)
            gaps = yield lambda progress: found.gaps(subrange(progress, OF_FRAMES, 1.0))
        there = _scene(uid)
        if given is None or there is None:
            self.report({"INFO"}, "Stopped before a frame was checked")
            return {"CANCELLED"}
        given, outcome, frames = found.merged(given)
        changed = scene_reader.edited(there, given.objects, scene_operators.edited)
        absent = list(_absent(found, {entry.name for entry in outcome.skipped}))
        outcome = scene_pairs.without(outcome, given.objects, changed)
        gone = {entry.name for entry in absent if entry.unchecked}
        outcome.skipped = [entry for entry in outcome.skipped if entry.name not in gone] + absent
        outcome.partial = len(found.frames) < len(wanted)
        over = OverList(found, frames, gaps, apart)
        scene_operators.store(self, context, there, given, outcome, found.frames[0], changed, over)
        return {"FINISHED"}

    def _check(
        self, context: bpy.types.Context, wanted: range, found: FoundFrames, apart: dict[Pair, Mapping[Key, State]]
    ) -> Generator[Work[Outcome], Outcome, CheckInput | None]:
        """Check one frame after the other, until Esc is pressed; return what was read at the last one.

        apart: gets the pairs of the list that are apart at their frames.
        """
        scene, layer, uid = context.scene, context.view_layer.name, context.scene.session_uid
        rules, reviewed = check_settings.of_scene(scene).as_rules(context), check_settings.reviewed(scene)
        first = {obj.session_uid for side in sides_of(context, rules)[0][:1] for obj in side}
        elsewhere, known = Elsewhere([scene], scenes=False, layers=False), FrameCache()
        begin, given, listed = time.monotonic(), None, clash_renewal.listed_at_frames(scene)
        with FrameGeometries(scene, context.view_layer) as geometries:
            for k, frame in enumerate(wanted):
                if (there := _scene(uid)) is None or layer not in there.view_layers:
                    break
                if handlers.is_playing():
                    bpy.ops.screen.animation_cancel(restore_frame=False)
                try:
                    with bpy.context.temp_override(scene=there, view_layer=there.view_layers[layer]):
                        sides = partial(_sides, rules, first)
                        now = read_frame(bpy.context, geometries, rules, reviewed, frame, sides)
                except ReadError as error:
                    if given is None:
                        raise
                    self.report({"ERROR"}, str(error))  # what was found so far is kept
                    break
                elsewhere.add(now, there, there.view_layers[layer])
                self.flow.done = OF_FRAMES * k / len(wanted)
                part = self.flow.done, OF_FRAMES * (k + 1) / len(wanted)
                outcome = yield partial(_check_one, now, known, *part)
                if outcome.partial:
                    break
                given = now
                found.add(frame, given, outcome)
                if frame in listed and (there := _scene(uid)) is not None:
                    apart |= clash_renewal.apart_of(there, given, outcome, listed[frame])
                seconds = (time.monotonic() - begin) / len(found.frames)
                if len(found.frames) == MEASURED and len(wanted) > MOST_FRAMES:
                    about = _about(seconds * len(wanted))
                    raise ReadError(f"{len(wanted):,} frames would take about {about}: check fewer, or raise the step")
                left = _about(seconds * (len(wanted) - k - 1))
                self.flow.title = f"Check Frames, frame {frame} of {wanted[-1]}, {left} left"
                if self.flow.is_cancelled:
                    break
        return given


def _check_one(given: CheckInput, known: FrameCache, start: float, end: float, progress: Progress) -> Outcome:
    """Check one frame, as a part of the work."""
    return scene_pairs.check(given, subrange(progress, start, end), known=known)


def _about(seconds: float) -> str:
    step = 360.0 if seconds > 3600.0 else 60.0 if seconds > 60.0 else 1.0
    return messages.duration(step * round(seconds / step))


def _scene(uid: int) -> bpy.types.Scene | None:
    """Return a scene by its `session_uid`: references do not survive an undo."""
    return next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)


def _sides(rules: Rules, first: set[int]) -> Sides:
    """Return what is checked at the current frame; first: what was selected in the beginning, or the one object."""
    context = bpy.context
    if rules.scope not in ("selected", "one"):
        return sides_of(context, rules)
    layer = context.view_layer
    chosen = [obj for obj in layer.objects if obj.session_uid in first]
    others = [obj for obj in layer.objects if obj.visible_get(view_layer=layer) and obj.session_uid not in first]
    return [(chosen, None if rules.scope == "selected" else others)]


def _absent(found: FoundFrames, named: set[str]) -> Iterator[Skipped]:
    """Yield what was not there to be checked at some of the frames, unless it is named."""
    there = {obj.session_uid for obj in bpy.data.objects}
    for key, (name, frames) in found.absent().items():
        if name not in named:
            is_gone = key[0] not in there
            reason = messages.about(name, "was removed during the check" if is_gone else messages.HIDDEN_AT_FRAMES)
            yield Skipped(name, at_frames(reason, frames, found.frames), is_gone, HIDDEN)


# --- frames of the active clash ---------------------------------------------------------------------------------------


def _go_to(scene: bpy.types.Scene, frame: float) -> None:
    if frame != frame_of(scene):
        scene.frame_set(math.floor(frame), subframe=frame % 1.0)


class ChangesFrame:
    """An operator that changes the frame: undone as Blender's own ones are, many in a row by one step."""

    bl_options: Any = {"UNDO_GROUPED", "INTERNAL"}
    bl_undo_group = "Frame Change"


class CONTACT_LENS_OT_go_to_contact(ChangesFrame, Polled, bpy.types.Operator):
    """Go to a frame at which the active clash was found"""

    bl_idname = "contact_lens.go_to_contact"
    bl_label = "Go to Contact"

    to: EnumProperty(items=JUMPS, options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return pair_operators.tooltip(JUMPS, properties.to)

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        if stored_frames(context.scene) is None:
            return "The list is not of several frames: run Check Frames first"
        if check_settings.active_clash(context.scene) is None:
            return "No clash is open: click a row of the list"
        is_known = sidebar_plot.series_of(context.scene) is not None
        return "" if is_known else "The clash was not found by Check Frames: run it again"

    def execute(self, context: bpy.types.Context) -> set[str]:
        series, now = sidebar_plot.series_of(context.scene), frame_of(context.scene)
        if series is None:
            return {"CANCELLED"}
        over = series.over
        found = over.frames[over.found]
        before, after = found[found < now], found[found > now]
        ends = {"FIRST": over.first, "WORST": over.worst, "LAST": over.last}
        ends |= {"PREVIOUS": before[-1]} if len(before) else {}
        ends |= {"NEXT": after[0]} if len(after) else {}
        if self.to not in ends:
            self.report({"INFO"}, f"No contact {'before' if self.to == 'PREVIOUS' else 'after'} frame {now:g}")
            return {"CANCELLED"}
        _go_to(context.scene, float(ends[self.to]))
        return {"FINISHED"}


class CONTACT_LENS_OT_scrub_plot(ChangesFrame, bpy.types.Operator):
    """Go to the frame under the mouse in the plot, as long as the button is down"""

    bl_idname = "contact_lens.scrub_plot"
    bl_label = "Go to Frame in Plot"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.region is not None and context.region.type == "UI"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        plot = sidebar_plot.plot_at(context.region, event.mouse_region_x, event.mouse_region_y)
        if plot is None:  # what Blender does with a click there
            return {"PASS_THROUGH"}
        self._plot = plot
        context.window_manager.modal_handler_add(self)
        return self.modal(context, event)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        _go_to(context.scene, self._plot.frame_at(event.mouse_region_x))
        return {"FINISHED"} if event.value == "RELEASE" and event.type == "LEFTMOUSE" else {"RUNNING_MODAL"}


IN_MENU = (CONTACT_LENS_OT_check_frames,)
CLASSES = (*IN_MENU, CONTACT_LENS_OT_go_to_contact, CONTACT_LENS_OT_scrub_plot)


def register() -> None:
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:  # in background mode
        return
    keymap = config.keymaps.new("3D View Generic", space_type="VIEW_3D")  # that sidebars have
    _items.append((keymap, keymap.keymap_items.new(CONTACT_LENS_OT_scrub_plot.bl_idname, "LEFTMOUSE", "PRESS")))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
