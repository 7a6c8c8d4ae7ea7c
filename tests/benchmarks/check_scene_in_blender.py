# SPDX-License-Identifier: GPL-3.0-or-later
"""Times Check Scene on instances of a sphere: `python check_scene_in_blender.py COUNT`, in a Python with `bpy`."""

from __future__ import annotations

import json
import os
import sys
import time

import bpy
import numpy as np

import contact_lens


def main(count: int) -> None:
    """Scatter the instances, about one in three of which meets another, and print what it took."""
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
    seconds = time.perf_counter() - start
    findings = len(bpy.context.scene.contact_lens_check.findings)
    print("\nTOLD=" + json.dumps({"seconds": seconds, "findings": findings}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
