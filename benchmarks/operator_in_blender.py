# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of bench_operator that runs in Blender.

Installs the zip into the profile of BLENDER_USER_RESOURCES, inspects Suzanne against a cube again and again, draws the
overlay after each, and returns medians in seconds.
"""

from __future__ import annotations

import importlib
from statistics import median
from time import perf_counter
from typing import Any

import bpy
import numpy as np

MODULE = "bl_ext.user_default.contact_lens"
SIZE = (1280, 800)
STEP = 1e-3
"""Blender units that an object moves between two runs: enough for a new answer, too little for another kind of one."""


def measure(zip_path: str, rounds: int) -> dict[str, Any]:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.extensions.package_install_files(filepath=zip_path, repo="user_default", enable_on_install=True)
    inspections, session, overlay, shader, snapshot = (
        importlib.import_module(f"{MODULE}.blender_addon.{name}")
        for name in ("pair.inspection", "pair.session", "draw.overlay", "draw.overlay_shader", "draw.picture")
    )
    import gpu

    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    suzanne = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(size=1.2, location=(0.9, -0.9, 0.7), rotation=(0.6, 0.4, 0.3))
    cube = bpy.context.object
    suzanne.select_set(True)
    bpy.context.view_layer.objects.active = suzanne
    trouble = ""
    target = None
    try:
        snapshot.start_gpu()
        target = gpu.types.GPUOffScreen(*SIZE)
    except snapshot.GpuUnavailable as error:
        trouble = str(error)

    def drawn(inspection: object, view: object, projection: object) -> float:
        """Draw and wait until the pixels are there."""
        style = overlay.style_of(bpy.context)
        with target.bind():
            start = perf_counter()
            overlay.draw(inspection, style, view, projection, SIZE)
            gpu.state.active_framebuffer_get().read_color(0, 0, 1, 1, 4, 0, "UBYTE")
            return perf_counter() - start

    def run(before: str, k: int) -> dict[str, float]:
        if before == "nothing known":
            inspections.clear_caches()
            session.clear()
        elif before != "nothing changed":
            moved = {"cube moved": cube, "Suzanne moved": suzanne}[before]
            moved.location.z += STEP if k % 2 else -STEP
            moved.location.x += 0.01 * STEP  # no place twice: each is new to the add-on
        bpy.context.view_layer.update()
        start = perf_counter()
        bpy.ops.contact_lens.inspect()
        total = perf_counter() - start
        inspection = session.current(bpy.context)
        seconds = {"operator": total, "read": inspection.seconds_read, "core": inspection.seconds_contact}
        if before == "nothing changed":  # what is stored is of the run before
            seconds["core"] = seconds["read"] = float("nan")
        if target is not None:
            view, projection = snapshot.camera(inspection, SIZE[0] / SIZE[1])
            if before == "nothing known":
                shader.free()
            seconds["draw"] = drawn(inspection, view, projection)
            seconds["redraw"] = drawn(inspection, view, projection)
        return seconds

    rows = {}
    for before in ("cube moved", "Suzanne moved", "nothing changed", "nothing known"):
        run(before, 0)
        measured = [run(before, k) for k in range(rounds)]
        rows[before] = {name: median(seconds[name] for seconds in measured) for name in measured[0]}
    inspection = session.current(bpy.context)
    return {
        "blender": bpy.app.version_string,
        "renderer": "" if target is None else gpu.platform.renderer_get(),
        "trouble": trouble,
        "vertices": [len(obj.data.vertices) for obj in (suzanne, cube)],
        "hull_vertices": [len(hull.vertices) for hull in (inspection.proxy_a.hull, inspection.proxy_b.hull)],
        "relation": str(inspection.contact.relation),
        "numpy": np.__version__,
        "rows": {
            name: {key: None if value != value else value for key, value in row.items()} for name, row in rows.items()
        },
    }
