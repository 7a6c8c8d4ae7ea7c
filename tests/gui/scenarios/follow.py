# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback and drags of a quick and of slow pairs: what each drawing of the view shows, and whether buttons stay."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import bpy
import numpy as np

MOVE = "contact_lens.separate(moves='B')"
FRAMES = 24
"""Frames of the playback."""


def place_at(frame: int) -> float:
    """Where B is at a frame of the playback."""
    return 1.0 + 0.04 * frame


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    session, refresh, overlay = (
        window.part(f"blender_addon.{name}") for name in ("pair.session", "live.follow_pair", "draw.overlay")
    )
    with window.context():
        bpy.ops.mesh.primitive_cube_add(size=2.0, location=(place_at(0), 0.3, 0.2))
        b = bpy.context.object
        b.name = "Crate"
        bpy.ops.mesh.primitive_cube_add(size=2.0)
        shelf = bpy.context.object
        shelf.name = "Shelf"
        window.select(shelf, b)
    window.look_at((1.0, 0.0, 0.0), 12.0, (65.0, 0.0, 25.0))
    scene = bpy.context.scene
    scene.contact_lens_check.ghost = False  # its veil is seen behind the sidebar

    drawn: list[dict[str, Any]] = []
    draw = overlay.draw

    def noted(inspection: Any, *arguments: Any, **options: Any) -> None:
        part, showing = arguments[4], arguments[6]
        if overlay.DrawingStage.WORLD in part:
            shown = bpy.context.scene.objects["Crate"].matrix_world.translation.x
            drawn.append(
                {
                    "frame": bpy.context.scene.frame_current,
                    "view": shown,
                    "answer": inspection.objects[1].owner_matrix[3],
                    "distance": inspection.contact.signed_distance,
                    "relation": inspection.contact.relation,
                    "surface": "closed" if getattr(inspection.shape_b, "is_closed", True) else "open",
                    "outdated": showing.is_stale,
                    "pending": showing.is_pending,
                    "provisional": inspection.is_provisional,
                    "status": refresh.status(bpy.context).text,
                }
            )
        draw(inspection, *arguments, **options)

    overlay.draw = noted
    texts = window.listen()
    yield from window.show_tab("Contact")
    numbers["width"] = window.region("UI").width
    yield from window.screenshot("selected")
    yield from window.search("Inspect Contact")
    yield from window.until(lambda: "Up to date" in texts, "the panel shows the result")
    place = yield from window.find_button(MOVE)
    numbers["row"] = window.region("UI").y + window.region("UI").height - place[1]
    yield from window.rest()
    yield 1.0
    still = window.pixels()
    numbers["changed"] = {}

    def look(name: str) -> None:
        """Note which rows of the sidebar's pixels have changed since the pair was inspected."""
        changed = np.flatnonzero((window.pixels() != still).any(axis=(1, 2)))
        rows = numbers["changed"].setdefault(name, [])
        rows += [int(row) for row in changed if row not in rows]

    def button() -> Generator[float, None, str]:
        """The button that is where Move Out was."""
        yield from window.move(*place)
        yield from window.move(place[0] + 1, place[1] - 3)
        yield 0.5
        with window.context("UI"):
            if not bpy.ops.ui.copy_python_command_button.poll():
                return ""
            bpy.ops.ui.copy_python_command_button()
        return str(bpy.context.window_manager.clipboard)

    # A quick pair, on however slow a machine: only what is drawn counts, not how fast.
    quick, budget = refresh.QUICK_S, refresh.CHEAP_S
    refresh.QUICK_S = refresh.CHEAP_S = 60.0
    for frame in (0, 2 * FRAMES):
        b.location.x = place_at(frame)
        b.keyframe_insert("location", index=0, frame=frame)
    action = b.animation_data.action
    bags = [action] if bpy.app.version < (5, 0) else [s.channelbags[0] for la in action.layers for s in la.strips]
    for point in bags[0].fcurves[0].keyframe_points:
        point.interpolation = "LINEAR"
    scene.frame_start, scene.frame_end, scene.sync_mode = 1, 2 * FRAMES, "NONE"
    scene.frame_set(1)
    yield from window.rest()
    yield from window.until_fresh("the first frame is inspected")
    drawn.clear()
    with window.context():
        bpy.ops.screen.animation_play()
    yield from window.until(lambda: len({d["frame"] for d in drawn}) > FRAMES // 2, "half of it is played")
    yield from window.screenshot("playback")
    look("quick playback")
    yield from window.until(lambda: len({d["frame"] for d in drawn}) > FRAMES, "it is played")
    with window.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    numbers["playback"] = list(drawn)
    b.animation_data_clear()

    # One that is not as quick, but for its first answer: deep, then touching, then apart, then without its sides.
    refresh.QUICK_S = 0.0
    group = b.vertex_groups.new(name="Kept")
    group.add([0], 1.0, "REPLACE")
    mask = b.modifiers.new("Open", "MASK")
    mask.vertex_group, mask.invert_vertex_group = group.name, True
    for frame, x, is_open in ((1, 1.25, False), (15, 2.0, False), (30, 2.0, False), (45, 3.0, False), (55, 1.5, True)):
        b.location.x, mask.show_viewport = x, is_open
        b.keyframe_insert("location", index=0, frame=frame)
        mask.keyframe_insert("show_viewport", frame=frame)
    scene.frame_end = 70
    scene.frame_set(1)
    drawn.clear()
    clock = refresh.clock
    refresh.clock = lambda: 0.08 * scene.frame_current  # however slowly it is played
    with window.context():
        bpy.ops.screen.animation_play()

    def is_drawn(phase: str) -> bool:
        return bool(drawn) and phase in (drawn[-1]["relation"], drawn[-1]["surface"])

    for phase in ("penetrating", "touching", "separated", "open"):
        yield from window.until(lambda phase=phase: is_drawn(phase), f"a frame is {phase}")
        look(phase)
        yield from window.screenshot(phase)
    with window.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    numbers["slower_playback"] = list(drawn)
    refresh.clock = clock
    b.animation_data_clear()
    b.modifiers.remove(mask)

    b.location.x = 1.5
    window.select(b, message="Select the crate")
    yield from window.rest()
    yield from window.until(lambda: "Up to date" in texts, "the changes have ended")

    def is_inspecting() -> bool:
        return refresh.progress_of(bpy.context.scene) is not None

    def following() -> Any:
        return refresh._following[bpy.context.scene.session_uid]

    def drag(pixels: int, name: str) -> Iterator[float]:
        """Drag B sideways; each place is drawn."""
        yield from window.rest()
        yield from window.key("G")
        yield from window.until(lambda: len(window.window.modal_operators) > 0, "G grabs the crate")
        x, y = window.mouse
        for i in range(1, 7):
            count = len(drawn)
            yield from window.move(x + pixels * i, y)
            yield from window.until(lambda count=count: len(drawn) > count, "the place is drawn")
            look(name)
            now[0] += 0.125

    now = [1000.0]
    refresh.clock = lambda: now[0]
    refresh.QUICK_S = 60.0
    drawn.clear()
    yield from drag(12, "quick drag")
    yield from window.key("RET")
    yield from window.until(lambda: not window.window.modal_operators, "Return ends the drag")
    numbers["dragged"] = list(drawn)
    numbers["undo"] = [window.inspection().objects[1].owner_matrix[3]]
    yield from window.key("Z", ctrl=True)
    yield from window.until(lambda: abs(bpy.data.objects["Crate"].location.x - 1.5) < 1e-6, "Ctrl+Z takes it back")
    yield from window.until_fresh("the result follows undo")
    numbers["undo"].append(window.inspection().objects[1].owner_matrix[3])
    yield from window.screenshot("before")

    # Not as quick, but for its first answer: that is what the drag shows, and the whole one when the mouse is released.
    refresh.QUICK_S = 0.0
    drawn.clear()
    yield from drag(12, "slower drag")
    yield from window.screenshot("slower_drag")
    numbers["slower_drag"] = list(drawn)
    yield from window.key("RET")
    yield from window.until(lambda: not window.window.modal_operators, "Return ends the drag")
    now[0] += 1.0
    yield from window.until(lambda: "Up to date" in texts, "the whole inspection is made")
    numbers["whole"] = not window.inspection().is_provisional

    # A slow pair: nothing is known until it is let go.
    refresh.QUICK_S, refresh.CHEAP_S = quick, budget
    bpy.data.objects["Crate"].location.x = 1.5
    yield from window.until_fresh("it is followed")

    def be_slow() -> None:
        for stage in session.Stage:
            for _ in range(session.LAST):
                session.note_seconds(bpy.context.scene, 5.0, stage)

    be_slow()
    numbers["buttons"] = [(yield from button())]
    yield from window.rest()
    drawn.clear()
    with window.held(0.0):
        yield from drag(12, "slow drag")
        yield from window.screenshot("slow_drag")
        numbers["slow_panel"] = list(texts)
        yield from window.key("RET")
        yield from window.until(lambda: not window.window.modal_operators, "Return ends the drag")
        now[0] += 1.0
        yield from window.until(lambda: following().flow is not None, "it is inspected")
        now[0] += 1.0
        yield from window.until(is_inspecting, "it is inspected beside Blender")
        yield from window.until(lambda: any("Inspecting" in text for text in texts), "the panel shows it")
        yield from window.screenshot("slow_released")
        look("slow inspection")
        now[0] += 3600.0
        yield 1.0
        numbers["after_an_hour"] = is_inspecting()
        numbers["buttons"].append((yield from button()))
        yield from window.screenshot("slow_hour")
        yield from window.rest()
    yield from window.until_fresh("the result is of where it was left")
    yield from window.until(lambda: "Up to date" in texts, "the panel shows it")
    numbers["slow"] = list(drawn)
    numbers["left"] = bpy.data.objects["Crate"].matrix_world.translation.x
    numbers["buttons"].append((yield from button()))
    yield from window.screenshot("after")
    yield from window.rest()
    yield 1.0
    look("after")

    # Esc and the cross end it.
    with window.held(0.0):
        cross = window.click_button('contact_lens.cancel(work="inspection")')
        for x, end in ((1.25, window.key("ESC")), (1.75, cross)):
            be_slow()
            bpy.data.objects["Crate"].location.x = x
            yield 1.0
            now[0] += 1.0
            yield from window.until(lambda: following().flow is not None, "it is inspected")
            now[0] += 5.0
            yield from window.until(is_inspecting, "it is inspected beside Blender")
            yield 1.0  # from now on Esc is heard
            yield from window.rest()
            yield from end
            yield from window.until(lambda: not is_inspecting(), "it is cancelled")
            yield from window.until(lambda: "Inspection cancelled" in texts, "the panel shows it")
            numbers.setdefault("cancelled", []).append(refresh.status(bpy.context).is_outdated)
        numbers["buttons"].append((yield from button()))
        yield from window.screenshot("cancelled")
        yield from window.rest()
        yield 1.0
        look("cancelled")
    yield from window.click_button("contact_lens.refresh()")
    yield from window.until(lambda: "Up to date" in texts, "it is inspected again")
    numbers["refreshed"] = window.inspection().objects[1].owner_matrix[3]
    refresh.clock = clock

    # A stroke in Sculpt Mode changes the mesh itself, which Blender evaluates when the mode is left.
    crate = bpy.data.objects["Crate"]
    with window.context():
        bpy.ops.object.select_all(action="DESELECT")
        bpy.context.view_layer.objects.active = crate
        bpy.ops.object.mode_set(mode="SCULPT")
    yield from window.rest()
    with window.context("WINDOW"):
        bpy.ops.sculpt.mesh_filter(type="SCALE", strength=-0.5)
    yield 1.0
    yield from window.rest()
    numbers["sculpted"] = {
        "at": crate.matrix_world.translation.x,
        "half": max(vertex.co.x for vertex in crate.data.vertices),
        "answer": window.inspection().contact.signed_distance,
        "stale": window.stale_reason(),
    }
    yield from window.screenshot("sculpted")
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
