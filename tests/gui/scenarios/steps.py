# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of algorithms by hand: F3, keys, play, slider, a bar, a drag, undo, quad view, and what ends them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    yield from window.close_others()
    follow = window.part("blender_addon.live.follow_steps")
    file = str(window.folder / "empty.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)

    def scene() -> bpy.types.Scene:
        return bpy.context.scene

    def current() -> Any:
        with window.context():
            return follow.current(scene())

    def step() -> tuple[int, int, int]:
        found = current()
        return found[1], len(found[0].shown), scene().frame_current

    with window.context():
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, location=(1.5, 0.3, 0.9), rotation=(0.5, 0.6, 0.2))
        b = bpy.context.object
        bpy.ops.mesh.primitive_cube_add()
        window.select(bpy.context.object, b)
    settings = scene().contact_lens  # type: ignore[attr-defined]
    window.look_at((0.8, 0.0, 0.4), 9.5, (68.0, 0.0, 20.0))
    yield from window.show_tab()

    # Started by F3 on two selected objects; arrow keys step, and elsewhere change the frame as ever.
    yield from window.search("Show Steps")
    yield from window.until(current, "the steps are shown")
    yield from window.rest()
    yield from window.screenshot("first")
    numbers["keys"] = [step()]
    for key, shift in (("RIGHT_ARROW", False), ("LEFT_ARROW", False), ("RIGHT_ARROW", True), ("LEFT_ARROW", True)):
        yield from window.key(key, shift=shift)
        numbers["keys"].append(step())

    # The panel: open, play to the last step, go to the middle by the slider.
    panel = window.listen("steps", "steps_panel")
    sidebar = window.region("UI")
    yield from window.click(sidebar.x + 60, 800 - 482)
    yield from window.until(lambda: panel, "the panel is open")
    yield from window.screenshot("panel")
    settings.step_speed = 4.0
    x, y = sidebar.x + 0.44 * sidebar.width, 800 - 564  # the middle of the button Play
    yield from window.click(x, y)
    numbers["playing"] = follow.is_playing(scene())
    yield from window.until(lambda: not follow.is_playing(scene()), "they are played to the end")
    numbers["played"] = step()
    settings.step_all_axes = True
    yield from window.drag((sidebar.x + 0.8 * sidebar.width, y - 27), (sidebar.x + 0.5 * sidebar.width, y - 27))
    numbers["slider"] = step()
    numbers["words"], numbers["sentence"] = list(panel), current()[0].sentence(current()[1])
    yield from window.screenshot("slider")
    yield from window.key("RIGHT_ARROW")  # the mouse over the sidebar
    numbers["over the sidebar"] = step()
    settings.step_all_axes = False

    # Baked by a click, which undo takes back alone; the steps stay as they are.
    count, before, name = len(bpy.data.objects), step(), b.name
    yield from window.click_button("contact_lens.bake_step()")
    yield from window.until(lambda: len(bpy.data.objects) > count, "it is baked")
    yield from window.undo()
    yield from window.until(lambda: len(bpy.data.objects) == count and current(), "the objects are gone")
    numbers["bake undone"] = {"before": before, "after": step()}
    b, settings = bpy.data.objects[name], scene().contact_lens  # type: ignore[attr-defined]
    yield from window.click_button("contact_lens.bake_step()")
    yield from window.until(lambda: len(bpy.data.objects) > count, "it is baked again")
    yield from window.screenshot("baked")
    yield from window.click_button("contact_lens.copy_trace()")
    trace = current()[0].trace
    numbers["copied"] = bpy.context.window_manager.clipboard == json.dumps(trace.to_dict())
    yield from window.click_button("contact_lens.remove_baked_steps()")
    yield from window.until(lambda: len(bpy.data.objects) == count, "it is removed")

    # A click on a bar shows its axis and selects nothing; a click beside the bars is Blender's own.
    region = window.region("WINDOW")
    with window.context():
        overlay = window.part("blender_addon.draw.overlay")
        room = window.part("blender_addon.views.view_room").room_of(bpy.context)
        plate = overlay.plate_of(*current(), overlay.style_of(bpy.context), room)
    shown = current()[0].shown
    (left, low, right, _), of = next(bar for bar in plate.bars if bar[1] not in shown)
    window.select(b)
    yield from window.click(region.x + 0.5 * (left + right), region.y + low + 4)
    numbers["bar"] = {"clicked": of, "shown": current()[0].shown[current()[1]], "selected": b.select_get()}
    yield from window.screenshot("bar")
    yield from window.click_point((-0.9, -1.0, -0.3))
    numbers["beside"] = [obj.name for obj in bpy.context.selected_objects]

    # The difference stands beside the objects, and is dragged.
    settings.step_algorithm = "EPA"
    window.look_at((3.0, 0.0, 0.4), 18.0, (68.0, 0.0, 20.0))
    yield from window.until(lambda: current() and follow.place(scene()), "there is a difference")
    before = follow.place(scene())
    yield from window.screenshot("beside")
    x, y = window.place(before)
    yield from window.drag((x, y), (x - 60, y + 40))
    numbers["dragged"] = {"before": before, "after": follow.place(scene()), "beside": settings.step_beside}
    yield from window.screenshot("dragged")
    settings.step_beside = True
    window.look_at((0.8, 0.0, 0.4), 9.5, (68.0, 0.0, 20.0))

    # What is drawn follows a move before it is seen, and undo.
    drawn: list[tuple[float, float]] = []
    draw_study = overlay.draw_study

    def ball() -> bpy.types.Object:
        return bpy.data.objects["Icosphere"]

    def record(picture: Any, *rest: Any) -> None:
        steps, number = follow.current(bpy.context.scene)
        if picture is steps.picture(number):
            drawn.append((round(float(steps.given.b.vertices[:, 0].mean()), 4), round(ball().location.x, 4)))
        draw_study(picture, *rest)

    window.select(ball(), message="Before the Move")
    overlay.draw_study = record
    for x in (1.6, 1.7, 1.8):
        with window.context():
            ball().location.x = x
        yield from window.until(lambda x=x: drawn and drawn[-1][1] == round(x, 4), "it is drawn")
    window.select(ball(), message="Move")
    yield from window.undo()
    yield from window.until(lambda: drawn[-1] == (1.5, 1.5), "undo is followed")
    overlay.draw_study = draw_study
    numbers["drawn"] = drawn

    # Quad view; a text field takes its keys.
    with window.context():
        bpy.ops.screen.region_quadview()
    yield from window.screenshot("quad")
    room_of = window.part("blender_addon.views.view_room").room_of
    numbers["written in"] = []
    for quarter in [region for region in window.area.regions if region.type == "WINDOW"]:
        with bpy.context.temp_override(window=window.window, area=window.area, region=quarter):
            if overlay.plate_of(*current(), overlay.style_of(bpy.context), room_of(bpy.context)).texts:
                numbers["written in"].append((quarter.x <= window.area.x, quarter.y <= window.area.y))
    with window.context():
        bpy.ops.screen.region_quadview()
    yield from window.rest()
    yield from window.key("F3")
    yield from window.write("ab")
    before = step()
    yield from window.key("LEFT_ARROW")
    yield from window.key("ESC")
    numbers["text field"] = {"before": before, "after": step()}

    # Other keys and modal operators are Blender's: Space plays the animation, Esc stops it; G, a move, Esc. Then Esc
    # ends the steps.
    window.select(ball())
    yield from window.rest()
    yield from window.key("SPACE")
    numbers["space"] = window.window.screen.is_animation_playing
    yield from window.key("ESC")
    numbers["after Space"] = {"on": follow.is_on(scene()), "playing": window.window.screen.is_animation_playing}
    scene().frame_set(1)
    yield from window.key("G")
    yield from window.move(window.mouse[0] + 40, window.mouse[1])
    yield from window.key("ESC")
    numbers["after a drag"] = {"on": follow.is_on(scene()), "x": ball().location.x}
    yield from window.key("ESC")
    numbers["after Esc"] = {"on": follow.is_on(scene()), "problem": follow.error(scene())}
    yield from window.key("RIGHT_ARROW")
    numbers["frame"] = scene().frame_current
    yield from window.screenshot("ended")

    # An area that closes, an object that is deleted, another file: one sentence each.
    def ended_by(what: str) -> Iterator[float]:
        yield from window.until(lambda: not follow.is_on(scene()), what)
        numbers["ended"].append(follow.error(scene()))

    numbers["ended"] = []
    with window.context():
        bpy.ops.contact_lens.show_steps()
    yield from window.until(current, "the steps are shown again")
    window.area.type = "TEXT_EDITOR"
    yield from ended_by("their view is gone")
    window.window.screen.areas[0].type = "VIEW_3D"
    yield 0.6
    with window.context():
        bpy.ops.contact_lens.show_steps()
        bpy.data.objects.remove(ball())
    yield from ended_by("an object is deleted")
    yield from window.screenshot("deleted")
    with window.context():
        bpy.ops.mesh.primitive_cube_add(location=(1.5, 0.0, 0.0))
        window.select(bpy.data.objects["Cube"], bpy.context.object)
        bpy.ops.contact_lens.inspect()
        bpy.ops.contact_lens.show_steps()
    yield from window.until(current, "another pair has steps")
    bpy.ops.wm.open_mainfile(filepath=file)
    yield from ended_by("another file is open")
    numbers["trouble"] = window.part("blender_addon.views.viewport").error()
    yield from window.screenshot("other_file")
