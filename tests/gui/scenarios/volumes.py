# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes by hand: F3, a click on another object, a drag, undo; then the tree of two meshes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    yield from window.close_others()
    follow = window.part("blender_addon.live.follow_volumes")

    def view() -> Any:
        return follow.current(bpy.context.scene)

    def bounds() -> Any:
        points = view().segments.reshape(-1, 3)
        return np.array([points.min(axis=0), points.max(axis=0)])

    with window.context():
        bpy.ops.mesh.primitive_monkey_add(location=(1.9, 0.3, 0.0))
        right = bpy.context.object
        bpy.ops.mesh.primitive_monkey_add()
        left = bpy.context.object
        window.select(left)
    window.look_at((1.1, 0.0, 0.0), 7.5, (68.0, 0.0, 20.0))
    yield from window.show_tab()

    yield from window.search("Show Bounding Volumes")
    yield from window.until(view, "F3 ran Show Bounding Volumes")
    numbers["of one"] = view().lines
    yield from window.screenshot("one")

    # The view follows the selection, a move and its undo by itself.
    yield from window.click_point((1.9, -0.4, 0.3), shift=True)
    yield from window.until(lambda: len(view().lines) == 3, "the second object has a volume too")
    numbers["of two"] = view().lines
    before = bounds()
    with window.context():
        for obj in (left, right):
            obj.location.z += 1.0
        bpy.ops.ed.undo_push(message="Move")
    yield from window.until(lambda: abs(bounds() - before).max() > 0.5, "the volumes follow a move")
    numbers["moved by"] = (bounds() - before)[:, 2].tolist()
    yield from window.undo()
    yield from window.until(lambda: abs(bounds() - before).max() < 1e-5, "the volumes follow undo")

    settings = bpy.context.scene.contact_lens  # type: ignore[attr-defined]
    settings.volumes_of, settings.tree_level = "TRIANGLES", 4
    yield from window.until(lambda: len(view().lines) == 4, "the settings take effect")
    numbers["of triangles"] = view().lines
    yield from window.screenshot("triangles")

    # One volume test after the other: a drag of the slider draws another one, and computes nothing.
    settings.tree_descent, bpy.context.window_manager.contact_lens_test = True, 2  # type: ignore[attr-defined]
    yield from window.until(lambda: view().descent, "the tests are kept")
    yield from window.rest()  # what the settings before have changed may be computed twice
    shown = view()
    bpy.context.window_manager.contact_lens_test = 900  # type: ignore[attr-defined]
    yield from window.rest()
    numbers["of the descent"] = [view() is shown, shown.descent.rows(899), dict(view().lines)["Volume Tests"]]
    yield from window.screenshot("descent")
    settings.tree_descent = False
    yield from window.until(lambda: view().descent is None, "the level is shown again")

    # A build that takes long leaves Blender usable, shows its progress, and ends with Esc or by itself.
    scene = bpy.context.scene
    yield from window.click(1075, 514)  # unfolds the section of the panel
    with window.held(0.1):
        with window.context():
            bpy.ops.object.select_all(action="DESELECT")
            bpy.ops.mesh.primitive_grid_add(x_subdivisions=512, y_subdivisions=512, size=1.5, location=(1.1, 0.0, 0.0))
        yield from window.rest()
        numbers["of triangles"] = view().lines
        settings.tree_method, settings.tree_split = "TOP_DOWN", "SAH"
        yield from window.until(lambda: follow.progress_of(scene) is not None, "the build runs")
        yield from window.screenshot("building")
        numbers["fraction"] = follow.progress_of(scene)
        yield from window.key("ESC")
        yield from window.until(lambda: follow.progress_of(scene) is None, "Esc ends it")
    outdated = follow.is_outdated(bpy.context.scene)
    numbers["after Esc"] = {"fraction": follow.progress_of(scene), "outdated": outdated, "lines": view().lines}
    yield from window.screenshot("cancelled")
    yield from window.search("Show Bounding Volumes")
    yield from window.until(lambda: view().lines != numbers["of triangles"], "it is built when asked again")
    yield from window.rest()
    numbers["in the end"] = {"outdated": follow.is_outdated(bpy.context.scene), "lines": view().lines}
    yield from window.screenshot("built")

    settings.show_volumes = False
    yield from window.until(lambda: view() is None, "turned off")
    numbers["trouble"] = window.part("blender_addon.views.viewport").error()
    yield from window.screenshot("off")
