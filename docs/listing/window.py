# SPDX-License-Identifier: GPL-3.0-or-later
"""Play the pictures of the listing in a Blender window: a scenario of tests/gui/drive.py, run by make_listing.py.

The folder of the screenshots has demo.blend.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

UI_SCALE = 1.4
"""Pictures are shown small: Blender's own size would not be legible."""
TITLE_SCALE = 2.2
"""Labels of the featured image are read on a page of many."""
SIDEBAR = 130
"""Pixels by which the sidebar is widened."""
BELOW_BUTTON = 45
"""Pixels from the upper edge of *Move Out* to the header of *Measurements*."""


def light(space: Any) -> None:
    """Set the shading of the 3D view: the colors of the materials, edges and cavities."""
    shading = space.shading
    shading.type, shading.light, shading.color_type = "SOLID", "STUDIO", "MATERIAL"
    shading.show_cavity, shading.cavity_type = True, "BOTH"
    shading.cavity_ridge_factor, shading.cavity_valley_factor = 0.6, 1.4
    shading.show_shadows, shading.shadow_intensity = True, 0.35
    space.overlay.show_cursor = False
    space.overlay.show_text = False
    space.overlay.show_outline_selected = False
    space.overlay.show_object_origins = False
    space.overlay.show_extras = False
    space.overlay.grid_lines = 40
    space.show_gizmo_navigate = False


def inspect(window: Any, a: str, b: str) -> Iterator[float]:
    """Inspect a pair, as after two clicks and F3."""
    window.select(*(bpy.data.objects[name] for name in (a, b)))
    with window.context():
        bpy.ops.contact_lens.inspect()
    yield from window.until_fresh(f"{a} and {b} are inspected")


def steps(window: Any) -> Iterator[float]:
    yield from window.start()
    bpy.ops.wm.open_mainfile(filepath=str(window.folder / "demo.blend"), load_ui=False)
    yield 2.0
    bpy.context.preferences.view.ui_scale = UI_SCALE
    yield 1.0
    yield from window.close_others()
    light(window.area.spaces.active)
    yield from window.show_tab("Contact")
    yield from window.widen_sidebar(SIDEBAR)

    # Two gears.
    window.look_at((-0.55, 0.05, 0.4), 4.4, (44.0, 0.0, -12.0))
    yield from inspect(window, "Wheel", "Pinion")
    yield from refined(window)
    yield from window.rest()
    yield from window.screenshot("gears")

    # The pipe through the beam: curves where meshes cross, and the depth between its bounds.
    window.look_at((1.65, 1.1, 1.45), 5.0, (66.0, 0.0, -38.0))
    yield from inspect(window, "Beam", "Pipe")
    yield from refined(window)
    yield from window.screenshot("meshes")

    # The crate in the ramp, with its numbers.
    window.look_at((2.35, -1.35, 0.55), 3.3, (64.0, 0.0, 28.0))
    yield from inspect(window, "Ramp", "Crate")
    x, y = yield from window.find_button("contact_lens.separate(moves='B')")
    yield from window.click(x, y - round(UI_SCALE * BELOW_BUTTON))
    yield from window.rest()
    yield from window.screenshot("inspect")

    # The list of the scene's clashes, one of them open over the faded rest.
    check = bpy.context.scene.contact_lens_check
    with window.context():
        bpy.ops.contact_lens.check_scene("INVOKE_DEFAULT")
    yield from window.until(lambda: len(check.findings) > 2, "the scene is checked")
    with window.context():
        bpy.ops.contact_lens.go_to_finding("INVOKE_DEFAULT", step=1)
    yield from refined(window)
    yield 3.0
    yield from window.screenshot("scene")

    # The view alone, behind the title of the featured image.
    with window.context():
        bpy.ops.contact_lens.clear()
        bpy.ops.screen.screen_full_area(use_hide_panels=True)
    yield 1.0
    space = window.area.spaces.active
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_cursor = space.show_gizmo = False
    light(space)
    bpy.context.preferences.view.ui_scale = TITLE_SCALE
    window.look_at((1.1, -1.55, 0.66), 3.5, (68.0, 0.0, 34.0))
    yield from inspect(window, "Ramp", "Crate")
    yield from window.screenshot("title")


def refined(window: Any) -> Iterator[float]:
    """Wait until the depth is refined as far as it will be."""
    follow = window.part("blender_addon.live.follow_pair")
    yield from window.until(lambda: follow.progress_of(bpy.context.scene) is None, "the depth is refined")
    yield 2.0
