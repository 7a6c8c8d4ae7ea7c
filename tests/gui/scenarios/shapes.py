# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes by hand: a mesh with concavities as it is, followed while it moves, and a pair that takes long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def percent(texts: list[str]) -> int:
    """The progress that the panel shows; -1 where it shows none."""
    return next((int(text.split()[1]) for text in texts if text.startswith("Inspecting: ")), -1)


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    with window.context():
        bpy.ops.mesh.primitive_cube_add(size=1.2, location=(0.9, -0.9, 0.7), rotation=(0.6, 0.4, 0.3))
        cube = bpy.context.object
        bpy.ops.mesh.primitive_monkey_add(size=2.0)
        suzanne = bpy.context.object
        window.select(suzanne, cube)
    window.look_at((0.4, -0.4, 0.2), 7.0, (65.0, 0.0, 25.0))

    texts = window.listen()
    yield from window.show_tab("Contact")
    yield from window.widen_sidebar(140)
    yield from window.search("Inspect Contact")
    yield from window.until(window.inspection, "F3 ran Inspect Contact")
    yield from window.until(lambda: "Up to date" in texts, "the panel shows the result")
    rows = window.listen("measurements")
    yield from window.open_panel("contact_lens.separate(moves='B')", warnings=1)
    yield from window.until(lambda: "Curves" in rows, "the measurements are shown")
    numbers["panel"] = [*texts, *rows]
    yield from window.rest()
    yield from window.screenshot("automatic")

    # What they have in common is drawn through both.
    measures, scene = window.part("blender_addon.live.follow_measures"), bpy.context.scene

    def surface() -> Any:
        found = measures.current(scene)
        return None if found is None else found.surface

    yield from window.until(surface, "the overlap is made")
    pictures = []
    for is_shown in (False, True):
        scene.contact_lens.show_overlap = is_shown  # type: ignore[attr-defined]
        yield 1.0
        pictures.append(window.pixels("WINDOW").astype(int))
    redder = [pixels[..., 0] - pixels[..., 1] for pixels in pictures]
    numbers["overlap"] = {"triangles": len(surface().triangles), "redder": float((redder[1] > redder[0] + 20).mean())}
    first = surface()

    # It follows.
    numbers["followed"] = []
    for x in (1.0, 1.1, 1.2):
        before = window.inspection()
        cube.location.x = x
        bpy.context.view_layer.update()
        yield from window.until_fresh("it follows")
        numbers["followed"].append(window.inspection() is not before)
    yield from window.until(lambda: surface() not in (None, first), "the overlap follows")

    # A closed Suzanne of some thousand triangles takes long, here until it is let go: the window stays usable.
    remesh = suzanne.modifiers.new("Closed", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", 0.02
    yield 0.3  # Blender's own remesh
    numbers["held"] = []
    with window.held(0.5):
        yield from window.until(lambda: percent(texts) >= 50, "its progress is shown up to where it is held")
        for x in (6.5, 7.0, 7.5):
            window.look_at((0.4, -0.4, 0.2), x, (65.0, 0.0, 25.0))
            yield 0.5
            numbers["held"].append(list(texts))
        yield from window.screenshot("inspecting")
    yield from window.until(lambda: "Up to date" in texts, "it is inspected, though nobody asks for it")
    numbers["status"] = window.inspection().contact.status
    yield from window.rest()
    yield from window.screenshot("followed_slowly")

    # The setting is in the Properties editor too.
    for area in bpy.context.window_manager.windows[0].screen.areas:
        if area.type == "PROPERTIES":
            area.spaces.active.context = "OBJECT"
            place = next(r for r in area.regions if r.type == "WINDOW")
    suzanne.select_set(True)
    yield from window.rest()
    # Its header is the third from below; with Ctrl a click closes all others.
    yield from window.click(place.x + 90, place.y + 31, ctrl=True)
    yield from window.rest()
    yield from window.screenshot("properties")
