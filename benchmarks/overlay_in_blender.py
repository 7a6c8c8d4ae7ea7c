# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of bench_overlay that runs in Blender: draws what the handlers of the 3D view draw."""

from __future__ import annotations

import time
from contextlib import suppress
from statistics import median
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

import contact_lens

SIZE = (1280, 800)
TURN = 0.03
"""Radians from one picture to the next while the view orbits."""


def measure(rounds: int) -> dict[str, float]:
    """Return the median seconds of a redraw of the overlay of two meshes that cross, by what happens meanwhile."""
    import gpu

    from contact_lens.blender_addon.draw import picture
    from contact_lens.blender_addon.pair import session
    from contact_lens.blender_addon.views import viewport

    contact_lens.register()
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    for location in ((0.0, 0.0, 0.0), (0.9, 0.2, 0.3)):
        bpy.ops.mesh.primitive_monkey_add(size=2.0, location=location)
        bpy.context.object.modifiers.new("Subdivision", "SUBSURF").levels = 2
        bpy.context.object.contact_lens_shape = "MESH"
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.contact_lens.inspect()
    with suppress(ImportError):  # versions before it draw no overlap
        from contact_lens.blender_addon.live import follow_measures

        follow_measures.request(bpy.context.scene, "surface")
    picture.start_gpu()
    area = next(area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D")
    space, found = area.spaces.active, session.current(bpy.context)
    space.overlay.show_overlays = True
    bpy.context.scene.contact_lens_check.ghost = False  # versions differ in which pairs have one
    assert found is not None
    view, projection = picture.camera(found, SIZE[0] / SIZE[1])
    shown = SimpleNamespace(window_matrix=projection, lock_rotation=False)
    region = SimpleNamespace(width=SIZE[0], height=SIZE[1], x=0, y=0, type="WINDOW", as_pointer=lambda: 1)
    of_area = SimpleNamespace(regions=[region], spaces=SimpleNamespace(active=space))
    context: Any = SimpleNamespace(area=of_area, region=region, region_data=shown, space_data=space)
    for name in ("scene", "view_layer", "preferences"):
        setattr(context, name, getattr(bpy.context, name))
    target = gpu.types.GPUOffScreen(*SIZE)

    def redraw(angle: float) -> float:
        """Draw as Blender's handlers do; the pixels are not waited for."""
        shown.view_matrix = view @ np.array(Matrix.Rotation(angle, 4, "Z"))
        with target.bind():
            start = time.process_time()
            for part in (viewport.DrawingStage.WORLD, viewport.DrawingStage.LABELS):
                viewport._draw_current(context, part)
            seconds = time.process_time() - start
            gpu.state.active_framebuffer_get().read_color(0, 0, 1, 1, 4, 0, "UBYTE")
        return seconds

    for k in range(3):
        redraw(k * TURN)
    seconds = {
        "nothing changes": median(redraw(0.0) for _ in range(rounds)),
        "the view orbits": median(redraw(k * TURN) for k in range(rounds)),
    }
    target.free()
    contact_lens.unregister()
    return seconds
