# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs with warnings, dragged and played through all relations: whether anything below the buttons moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

MOVE = "contact_lens.separate(moves='AUTO')"
"""The button of a pair of which both are fixed, as these passive rigid bodies are."""
TYPED = {"separated": "1", "touching": "3", "penetrating": "4", "b_inside_a": "6"}
"""How far B is dragged along x from -6 until the pair is so."""


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()

    def cube(name: str, size: float, x: float, without: list[int]) -> bpy.types.Object:
        """A cube with a vertex in the middle of its upper side: a dent, that its hull has not; without some sides."""
        bpy.ops.mesh.primitive_cube_add(size=size, location=(x, 0.0, 0.0))
        obj, half = bpy.context.object, 0.5 * size
        obj.name = name
        corners = [tuple(vertex.co) for vertex in obj.data.vertices]
        sides = [tuple(face.vertices) for face in obj.data.polygons]
        top = next(side for side in sides if all(corners[k][2] > 0.0 for k in side))
        dent = [(*edge, 8) for edge in zip(top, (*top[1:], top[0]), strict=True)]
        sides = [side for side in sides if side != top] + dent
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata([*corners, (0.0, 0.0, 0.5 * half)], [], [s for k, s in enumerate(sides) if k not in without])
        obj.data = mesh
        return obj

    def pair(*objects: bpy.types.Object) -> Iterator[float]:
        """Inspect a pair, and remember how the sidebar looks."""
        window.select(*objects)
        with window.context():
            bpy.ops.contact_lens.inspect("INVOKE_DEFAULT")
        yield from window.rest()
        yield 1.0
        still[:] = [window.pixels()]

    def look(name: str) -> Iterator[float]:
        """Note what the headline says, the warnings, and which rows of the sidebar's pixels are not as they were."""
        window.redraw()
        yield 1.0
        changed = np.flatnonzero((window.pixels() != still[0]).any(axis=(1, 2)))
        at = next(k for k, text in enumerate(texts) if text.startswith("Move "))
        numbers[name] = {
            "relation": window.inspection().contact.relation,
            "warnings": texts[at + 1 :],
            "changed": [int(row) for row in changed],
        }

    follow = window.part("blender_addon.live.follow_pair")
    follow.QUICK_S = follow.CHEAP_S = 60.0  # a quick pair, on however slow a machine
    still: list[Any] = []
    bpy.context.preferences.system.use_region_overlap = False  # else the view is seen through the sidebar
    texts = window.listen()
    yield from window.show_tab("Contact")
    window.look_at((0.0, 0.0, 0.0), 12.0, (65.0, 0.0, 25.0))

    # Two warnings that hold wherever the objects are, while B is dragged through all relations.
    with window.context():
        shelf, crate = cube("Shelf", 4.0, 0.0, []), cube("Crate", 2.0, -6.0, [])
        for body in (shelf, crate):
            bpy.context.view_layer.objects.active = body
            bpy.ops.rigidbody.object_add(type="PASSIVE")  # a convex hull
    yield from pair(shelf, crate)
    place = yield from window.find_button(MOVE)
    numbers["row"] = window.region("UI").y + window.region("UI").height - place[1]
    yield from look("before")
    window.select(crate)
    yield from window.rest()
    yield from window.key("G")
    yield from window.key("X")
    for relation, distance in TYPED.items():
        yield from window.key("BACK_SPACE")
        yield from window.write(distance)
        yield from window.until(lambda r=relation: window.inspection().contact.relation == r, f"it is {relation}")
        yield from look(relation)
        yield from window.screenshot(relation)
    yield from window.key("RET")

    # A warning that comes and goes, in a drag that pauses and in playback: two open surfaces have no depth.
    with window.context():
        lid, tray = cube("Lid", 2.0, 0.0, [0]), cube("Tray", 2.0, 1.5, [0])
        shelf.hide_set(True)
        crate.hide_set(True)
    yield from pair(lid, tray)
    yield from look("crossing")
    window.select(tray)
    yield from window.rest()
    yield from window.key("G")
    yield from window.key("X")
    yield from window.write("2")
    yield from window.until(lambda: window.inspection().contact.relation == "separated", "they are dragged apart")
    yield 1.0
    yield from look("apart")
    yield from window.key("ESC")
    yield from window.until(lambda: window.inspection().contact.relation == "penetrating", "Esc takes it back")
    window.select(lid, tray)
    scene = bpy.context.scene
    places = {"start": (1, 1.5), "gone": (200, 3.0), "back": (400, 1.0), "end": (600, 4.0)}
    for frame, x in places.values():
        for edge in (frame, frame + 190):  # it rests longer than anything waits for its end
            tray.location.x = x
            tray.keyframe_insert("location", index=0, frame=edge)
    scene.frame_start, scene.frame_end, scene.sync_mode = 1, 10000, "NONE"
    scene.frame_set(1)
    with window.context():
        bpy.ops.screen.animation_play()
    for name in ("gone", "back", "end"):
        scene.frame_set(places[name][0])
        yield 2.0
        yield from look(name)
    with window.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    yield from window.until(lambda: "No depth: open surfaces" not in texts, "the playback has ended")
    yield 1.0
    yield from look("stopped")
    yield from window.screenshot("stopped")
