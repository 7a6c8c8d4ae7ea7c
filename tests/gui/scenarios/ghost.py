# SPDX-License-Identifier: GPL-3.0-or-later
"""The ghost of a crate on a floor and of two crates, all rigid bodies; these in section; then windows are closed as a
script may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

PLANE = 5
"""The clipping plane of a view that is the section's."""


def section(window: Any) -> Iterator[float]:
    """Cut the view through the inspected contact: with and without a region that the user clips, in a quad view, while
    the file is saved, and until its pair is cleared."""
    numbers = window.numbers["section"] = {}
    manager: Any = bpy.context.window_manager
    width, height = (getattr(window.region("WINDOW"), side) for side in ("width", "height"))

    def views() -> list[Any]:
        return [region.data for region in window.area.regions if region.type == "WINDOW"]

    def are_clipped() -> list[bool]:
        return [view.use_clip_planes for view in views()]

    def planes() -> list[list[float]]:
        return [list(plane) for plane in views()[0].clip_planes]

    def cut() -> None:
        with window.context():
            bpy.ops.contact_lens.section()

    contact = window.inspection().contact
    numbers["center"], numbers["normal"] = contact.center.tolist(), contact.normal.tolist()
    numbers["before"] = are_clipped()
    yield from window.screenshot("before")
    whole = window.pixels("WINDOW").astype(int)
    cut()
    yield from window.screenshot("section")
    numbers["on"], numbers["plane"] = are_clipped(), planes()[PLANE]
    numbers["seen"] = float((abs(window.pixels("WINDOW").astype(int) - whole).max(axis=2) > 30).mean())
    manager.contact_lens_section_offset = 0.25
    numbers["moved"] = planes()[PLANE]
    manager.contact_lens_section_flipped = True
    numbers["flipped"] = planes()[PLANE]

    saving: list[list[bool]] = []
    bpy.app.handlers.save_pre.append(lambda *_: saving.append(are_clipped()))
    with window.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(window.folder / "section.blend"), copy=True)
    bpy.app.handlers.save_pre.pop()
    numbers["saving"], numbers["saved"] = saving, planes()[PLANE]
    cut()
    numbers["off"] = are_clipped()
    yield from window.screenshot("whole")
    numbers["restored"] = float((abs(window.pixels("WINDOW").astype(int) - whole).max(axis=2) > 30).mean())

    with window.context():
        bpy.ops.view3d.clip_border(xmin=100, xmax=width - 400, ymin=50, ymax=height - 50)
    of_user = planes()
    cut()
    yield from window.screenshot("both")
    numbers["of_user"] = [planes()[:4] == of_user[:4], planes()[PLANE] != of_user[PLANE]]
    cut()
    numbers["of_user"].append(planes() == of_user and are_clipped() == [True])
    with window.context():
        bpy.ops.view3d.clip_border("INVOKE_DEFAULT")

    shading = window.area.spaces.active.shading
    shading.type = "RENDERED"
    with window.context():
        numbers["unsupported"] = not bpy.ops.contact_lens.section.poll()
    shading.type = "SOLID"
    with window.context():
        bpy.ops.screen.region_quadview()
    yield 1.0
    cut()
    yield from window.screenshot("quad")
    numbers["quad"] = are_clipped()
    with window.context():
        bpy.ops.contact_lens.clear()
    yield from window.until(lambda: not any(are_clipped()), "the section ends with its pair")
    with window.context():
        bpy.ops.screen.region_quadview()
    yield 1.0


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
    yield from section(window)
    with window.context():
        bpy.ops.contact_lens.inspect()
    yield from window.until_fresh()
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
