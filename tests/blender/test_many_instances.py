# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand instances in a Blender of its own: what the check costs in memory and time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from .scenes import collection_of, fresh, geometry_nodes, mesh_object, save_scene

MOST_BYTES = 2_000_000_000
COUNT = 10_000
SIDE = 22
"""Instances along two edges of the block."""
STEP = (2.1, 2.5, 2.5)
"""From one to the next: those in a row meet."""

IN_PROCESS = """
import json, re, sys, time
from importlib import import_module
import bpy
import addon_utils
addon_utils.enable("bl_ext.user_default.contact_lens", default_set=True)
bpy.ops.wm.open_mainfile(filepath={path!r})


def most_memory():
    # Of this process: what getrusage tells includes the process that started it.
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1])


before = most_memory()
start = time.perf_counter()
assert bpy.ops.contact_lens.check_scene() == {{"FINISHED"}}
seconds = time.perf_counter() - start
peak = most_memory()
check = bpy.context.scene.contact_lens_check
told = json.loads(check.summary)
print("TOLD=" + json.dumps([before, peak, seconds, told["objects"], told["candidate_pairs"], len(check.findings)]))
sys.stdout.flush()
"""


def scatter(points: bpy.types.Object, source: bpy.types.Object) -> None:
    """Put an instance of the source on every vertex, turned a little more each time."""
    kinds = "GeometryNodeInstanceOnPoints", "GeometryNodeObjectInfo", "FunctionNodeRandomValue"
    join, own, out, on_points, info, turn = geometry_nodes(points, *kinds)
    info.inputs[0].default_value, turn.data_type = source, "FLOAT_VECTOR"
    turn.inputs["Max"].default_value = (6.0, 6.0, 6.0)
    join(own.outputs[0], on_points.inputs["Points"])
    join(info.outputs["Geometry"], on_points.inputs["Instance"])
    join(turn.outputs[0], on_points.inputs["Rotation"])
    join(on_points.outputs[0], out.inputs[0])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")
def test_ten_thousand_instances_need_less_than_two_gigabytes(tmp_path: Path) -> None:
    """Half of them of a collection, half of Geometry Nodes; spheres of 162 corners, turned at will."""
    fresh()
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=1.06)
    source = bpy.context.object
    inside = collection_of("Inside", source, is_only=True)
    places = [tuple(np.multiply(STEP, (k % SIDE, k // SIDE % SIDE, k // SIDE**2))) for k in range(COUNT)]
    for k, place in enumerate(places[: COUNT // 2]):
        empty = bpy.data.objects.new(f"Instance {k}", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", inside
        empty.location = place
        bpy.context.scene.collection.objects.link(empty)
    scatter(mesh_object("Points", places[COUNT // 2 :]), source)
    path = tmp_path / "instances.blend"
    save_scene(path)
    script = tmp_path / "check.py"
    script.write_text(IN_PROCESS.format(path=str(path)), encoding="utf-8")
    command = [sys.executable, str(script)]
    if bpy.app.binary_path:
        command = [bpy.app.binary_path, "-b", "--python-exit-code", "1", "-P", str(script)]
    done = subprocess.run(command, env={**os.environ}, capture_output=True, timeout=300, check=False)
    said = done.stdout.decode("utf-8", "replace")
    found = re.search(r"^TOLD=(.*)$", said, re.MULTILINE)
    assert found, said + done.stderr.decode("utf-8", "replace")
    before, peak, seconds, objects, candidates, findings = json.loads(found[1])
    print(f"{objects} instances, {candidates} candidates, {findings} findings in {seconds:.1f} s;", end=" ")
    print(f"memory {before / 1e6:.2f} GB before, {peak / 1e6:.2f} GB at most")
    assert objects == COUNT
    assert findings > 0.7 * COUNT, "most spheres are a little in the next of their row"
    assert 1024 * peak < MOST_BYTES
