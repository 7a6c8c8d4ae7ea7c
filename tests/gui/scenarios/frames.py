# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Frames by hand: its button, Esc, undo, a click on a row, playback, and another file meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

HEIGHTS = {1: 5.0, 30: 2.5, 40: 1.5, 50: 2.5, 60: 5.0}
"""Of the hand, by frames: the table ends at 1, and the hand reaches 1 below its own height."""


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    yield from window.close_others()
    follow = window.part("blender_addon.clashes.changes")
    stored = window.part("blender_addon.clashes.stored_frames").stored_frames
    running = window.part("blender_addon.operators.scene_operators")
    operators = window.part("blender_addon.operators.frames_operators")
    sidebar = window.part("blender_addon.views.sidebar_plot")

    def scene() -> bpy.types.Scene:
        return bpy.context.scene

    def is_running() -> bool:
        return running.progress_of(scene()) is not None

    def check() -> Any:
        return scene().contact_lens_check  # type: ignore[attr-defined]

    def state() -> Any:
        """The rows with their frames, how many frames were checked, whether that was stopped, and the frame."""
        rows = [[finding.label("a"), finding.frame_of_state(0.0)] for finding in check().findings]
        frames = stored(scene())
        is_partial = bool(check().summary) and json.loads(check().summary)["partial"]
        return [rows, 0 if frames is None else len(frames.frames), is_partial, scene().frame_current]

    def reasons() -> list[str]:
        return [follow.reason(scene(), k)[1] for k in range(len(check().findings))]

    def is_playing() -> bool:
        return bool(window.window.screen.is_animation_playing)

    with window.context():
        for name, place in (("Table", (0.0, 0.0, 0.0)), ("Leg", (0.0, 0.0, -1.5)), ("Hand", (0.0, 0.0, 5.0))):
            bpy.ops.mesh.primitive_cube_add(location=place)
            bpy.context.object.name = name
        for frame, height in HEIGHTS.items():
            bpy.context.object.location.z = height
            bpy.context.object.keyframe_insert("location", frame=frame)
    scene().frame_end = 60
    scene().frame_set(7)
    window.select()
    window.look_at((0.0, 0.0, 1.0), 20.0, (75.0, 0.0, 20.0))
    yield from window.show_tab()
    yield from window.search("Check Frames")
    yield from window.until(lambda: check().summary, "the frames are checked")
    yield from window.screenshot("frames")
    numbers["checked"] = state()
    yield from window.undo()
    yield from window.until(lambda: not check().summary, "it is one step")
    numbers["undone"] = state()
    yield from window.undo(shift=True)
    yield from window.until(lambda: check().summary, "it is done again")
    numbers["redone"] = state()

    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    yield from window.until(lambda: scene().frame_current == 40, "a row goes to its worst frame")
    yield from window.until_fresh()
    yield from window.screenshot("frames_row")
    numbers["depth"] = window.inspection().contact.depth

    # A click and a drag in the plot go to frames, and all of them are one step; so do the buttons below it.
    yield from window.until(lambda: sidebar._plots, "the plot is drawn")
    (plot,) = sidebar._plots.values()

    def at(frame: int) -> tuple[float, float]:
        left, low, right, high = plot.area
        region = window.region("UI")
        return region.x + left + (frame - 0.5) / 60 * (right - left), region.y + 0.5 * (low + high)

    numbers["colors"] = np.unique(window.pixels().reshape(-1, 3), axis=0).tolist()
    numbers["went"] = []
    yield from window.click(*at(20))
    numbers["went"].append(scene().frame_current)
    yield from window.drag(at(20), at(45))
    numbers["went"].append(scene().frame_current)
    yield from window.undo()
    yield from window.until(lambda: scene().frame_current != 45, "it is undone")
    numbers["went"].append(scene().frame_current)
    yield from window.click_button("contact_lens.go_to_contact(to='LAST')")
    yield from window.until(lambda: scene().frame_current not in (20, 40), "the button goes to the last frame")
    numbers["went"].append(scene().frame_current)
    numbers["last"] = stored(scene()).over(check().findings[check().active].clash_id).last

    # A tab of others that shows the colour of its room has no plot.
    class VIEW3D_PT_other(bpy.types.Panel):
        bl_space_type, bl_region_type, bl_category, bl_label = "VIEW_3D", "UI", "Other", "Other"

        def draw(self, context: bpy.types.Context) -> None:
            self.layout.column().prop(context.scene.objects["Table"], "color", text="")

    bpy.utils.register_class(VIEW3D_PT_other)
    bpy.data.objects["Table"].color = sidebar.MARK
    numbers["tabs"] = []
    for tab in ("Other", "Contact"):
        yield from window.show_tab(tab)
        numbers["tabs"].append(len(sidebar._plots))
    bpy.utils.unregister_class(VIEW3D_PT_other)
    yield from window.until(lambda: sidebar._plots, "the plot is drawn again")
    drawn, playhead = set(), type(plot).playhead
    type(plot).playhead = lambda self, frame: drawn.add(frame) or playhead(self, frame)

    # Playing makes no row out of date, and shows the contact of each frame.
    yield from window.rest()
    yield from window.key("SPACE")
    yield from window.until(lambda: is_playing() and scene().frame_current not in (40, 41), "it is played")
    numbers["playing"] = [state()[:3], reasons()]
    yield from window.until(lambda: len(drawn) > 3, "the playhead follows")
    with window.context():
        operators.CONTACT_LENS_OT_check_frames.seconds_at_once = 0.05
        bpy.ops.contact_lens.check_frames("INVOKE_DEFAULT")
    numbers["playing"].append(is_playing())
    yield from window.until(lambda: not is_running(), "it is checked again")

    # Esc keeps what was done.
    scene().frame_set(7)
    with window.held(0.5), window.context():
        bpy.ops.contact_lens.check_frames("INVOKE_DEFAULT")
        yield from window.until(lambda: running.progress_of(scene()) > 0.5, "half of it is done")
        yield from window.screenshot("frames_running")
        numbers["elsewhere"] = scene().frame_current
        yield from window.rest()
        yield from window.key("ESC")
        yield from window.until(lambda: not is_running(), "Esc ends it")
    yield from window.screenshot("frames_stopped")
    numbers["stopped"] = state()

    # Another file ends it.
    with window.held(0.5):
        with window.context():
            bpy.ops.contact_lens.check_frames("INVOKE_DEFAULT")
        yield from window.until(lambda: running.progress_of(scene()) > 0.5, "half of it is done")
        with window.context():
            bpy.ops.wm.read_homefile(use_factory_startup=False)
        yield 1.0
    numbers["loaded"] = [is_running(), state()]
