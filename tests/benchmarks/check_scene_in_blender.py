# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the plots that runs in Blender: Check Scene on instances of a sphere."""

from __future__ import annotations

import time

import bpy
import numpy as np

import contact_lens


def measure(count: int) -> float:
    """Scatter the instances, about one in three of which meets another, and return the seconds of the check."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    contact_lens.register()
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.5)
    inside = bpy.data.collections.new("Inside")
    source = bpy.context.object
    inside.objects.link(source)
    bpy.context.scene.collection.objects.unlink(source)
    rng = np.random.default_rng(count)
    places, turns = rng.uniform(0.0, 2.2 * count ** (1 / 3), (count, 3)), rng.uniform(0.0, 6.0, (count, 3))
    for place, turn in zip(places.tolist(), turns.tolist(), strict=True):
        empty = bpy.data.objects.new("Instance", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", inside
        empty.location, empty.rotation_euler = place, turn
        bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    start = time.perf_counter()
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    return time.perf_counter() - start
