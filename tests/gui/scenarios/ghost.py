# SPDX-License-Identifier: GPL-3.0-or-later
"""The ghost of a crate on a floor and of two crates, all rigid bodies; then windows are closed as a script may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    yield from window.close_others()
    with window.context():
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, -0.1))
        floor = bpy.context.object
        floor.name, floor.scale = "Floor", (40.0, 40.0, 0.2)
        bpy.ops.rigidbody.object_add(type="PASSIVE")
        crates = []
        for name, place in (("Left", (-0.6, 0.0, 0.4)), ("Right", (0.3, 0.2, 0.6)), ("Front", (0.0, -3.0, 1.0))):
            bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
            bpy.context.object.name = name
            bpy.ops.rigidbody.object_add(type="ACTIVE")
            crates.append(bpy.context.object)
        bpy.ops.object.camera_add(location=(0.0, -9.0, 2.0), rotation=(1.4, 0.0, 0.0))
        scene = bpy.context.scene
        scene.camera = bpy.context.object
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 128
    window.select()
    left, right, front = crates
    front.scale.x = 3.0  # stands before the other two
    window.look_at((0.0, 0.0, 0.0), 7.0, (75.0, 0.0, 0.0))
    window.area.spaces.active.show_region_ui = False

    def tinted() -> list[float]:
        """The fractions of the view that have the tints of A, blue, and B, yellow."""
        red, _green, blue = window.pixels("WINDOW").transpose(2, 0, 1).astype(int)
        return [float((blue - red > 30).mean()), float((red - blue > 30).mean())]

    numbers["tinted"] = {"before": tinted()}
    with window.context():
        bpy.ops.contact_lens.check_scene()
    check = scene.contact_lens_check  # type: ignore[attr-defined]
    check.active = next(
        k for k, clash in enumerate(check.findings) if {clash.object_a, clash.object_b} == {floor, left}
    )
    yield from window.until_fresh()
    window.area.spaces.active.show_region_ui = False  # the first check opens it over the view, and its buttons are blue
    window.look_at((0.0, 0.0, 0.0), 7.0, (75.0, 0.0, 0.0))
    yield from window.screenshot("clash")
    numbers["tinted"]["clash"] = tinted()
    with window.context():
        bpy.ops.contact_lens.separate()
    yield from window.until_fresh()
    yield from window.screenshot("moved")
    numbers["tinted"]["moved"] = tinted()

    window.select(left, right)
    with window.context():
        bpy.ops.contact_lens.inspect()
    yield from window.until_fresh()
    yield from window.screenshot("pair")
    numbers["tinted"]["pair"] = tinted()
    window.area.spaces.active.shading.show_xray = True
    yield from window.screenshot("xray")
    numbers["tinted"]["xray"] = tinted()
    window.area.spaces.active.shading.show_xray = False
    window.select(right)
    yield from window.screenshot("left")
    numbers["tinted"]["left"] = tinted()

    numbers["closed"] = 0
    for _ in range(3):
        with window.context():
            bpy.ops.wm.window_new()
        yield 1.5
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
            bpy.ops.wm.window_close()
        window.select(left, right)
        with window.context():
            bpy.ops.contact_lens.inspect("EXEC_DEFAULT", True)
            bpy.ops.render.render()
        yield 1.0
        numbers["closed"] += 1
