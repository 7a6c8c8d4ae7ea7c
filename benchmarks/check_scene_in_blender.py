# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of bench_check_scene and of the plots that runs in Blender: Check Scene, timed, with its memory."""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

import contact_lens

from .scenes_in_blender import building, dented_balls, instances

SAMPLE = 20
"""Pairs of which the depth is timed too."""


def measure(scene: str, count: int) -> float:
    """Make a scene of so many objects; return the operator's seconds of the processor."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    contact_lens.register()
    scenes = {"instances": instances, "meshes": dented_balls, "building": building}
    scenes[scene](bpy.context.scene.collection, count)
    bpy.context.view_layer.update()
    start = time.process_time()
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    return time.process_time() - start


def check_file(path: str, arguments: list[str], with_json: bool) -> dict[str, Any]:
    """Check a file with the command line: from opening it until the results are there, or the JSON report is written.

    Returns seconds, of the processor and of the clock, the peak of memory in gigabytes, what Blender took before, and
    of a JSON report its size in megabytes and the number of its findings.
    """
    from contact_lens.blender_addon import command_line

    _begin()
    before = _peak()
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        report = Path(folder) / "report.json"
        output = ["--json", str(report)] if with_json else []
        start = time.perf_counter(), time.process_time()
        code = command_line.main([path, "--quiet", *arguments, *output], "bench")
        measured = {"clock": time.perf_counter() - start[0], "seconds": time.process_time() - start[1]}
        assert code in (0, 1), f"exit code {code}"
        measured |= {"peak": _peak(), "before": before}
        if with_json:
            measured["size"] = report.stat().st_size / 1e6
            checks = json.loads(report.read_text(encoding="utf-8"))["checks"]
            measured["findings"] = sum(len(check["findings"]) for check in checks)
    return measured


def open_file(path: str) -> float:
    """Open a file and evaluate its scene; return the peak of memory in gigabytes."""
    _begin()
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.evaluated_depsgraph_get()
    return _peak()


def check_in_list(path: str) -> dict[str, Any]:
    """Open a file and press Check Scene. Returns what `check_file` does."""
    _begin()
    before, start = _peak(), (time.perf_counter(), time.process_time())
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    measured = {"clock": time.perf_counter() - start[0], "seconds": time.process_time() - start[1]}
    relations = json.loads(bpy.context.scene.contact_lens_check.summary)["relations"]
    return {**measured, "peak": _peak(), "before": before, "findings": sum(relations.values())}


def against_mathutils(path: str, rounds: int) -> dict[str, Any]:
    """Tell which pairs of meshes of a scene intersect, as a script does it with mathutils, and with the engine.

    Both get the corners in the world and the candidate pairs, and build their trees.
    """
    from mathutils.bvhtree import BVHTree

    from contact_lens.core import Mesh, candidate_pairs, contact, pairs_intersect

    bpy.ops.wm.open_mainfile(filepath=path)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    scene = []
    for obj in bpy.context.scene.objects:
        mesh = obj.evaluated_get(depsgraph).data
        mesh.calc_loop_triangles()
        points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.attributes["position"].data.foreach_get("vector", points)
        triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
        matrix = np.array(obj.matrix_world, dtype=np.float64)
        scene.append((points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3], triangles.reshape(-1, 3)))
    low, high = (np.array([reach(points, axis=0) for points, _ in scene]) for reach in (np.min, np.max))
    pairs = candidate_pairs(low, high).pairs

    def theirs() -> list[bool]:
        trees = [BVHTree.FromPolygons(points.tolist(), triangles.tolist()) for points, triangles in scene]
        return [bool(trees[i].overlap(trees[j])) for i, j in pairs.tolist()]

    def ours() -> list[bool]:
        return pairs_intersect([Mesh(points, triangles) for points, triangles in scene], pairs).tolist()

    times: dict[str, list[float]] = {"theirs": [], "ours": []}
    answers = {}
    for _ in range(rounds):
        for name, call in (("theirs", theirs), ("ours", ours)):
            start = time.process_time()
            answers[name] = call()
            times[name].append(time.process_time() - start)
    different = sum(a != b for a, b in zip(answers["theirs"], answers["ours"], strict=True))
    meshes = [Mesh(points, triangles) for points, triangles in scene]
    sample = pairs[np.flatnonzero(answers["ours"])[:: max(1, sum(answers["ours"]) // SAMPLE)]].tolist()
    start = time.process_time()
    for i, j in sample:
        contact(meshes[i], meshes[j], budget=0.0)
    return {
        "pairs": len(pairs),
        "hits": sum(answers["ours"]),
        "different": different,
        "with depth": (time.process_time() - start) / len(sample),
        **{name: float(np.median(values)) for name, values in times.items()},
    }


def _begin() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    contact_lens.register()


def _peak() -> float:
    """Return the most memory this process has had, gigabytes; Linux only, elsewhere 0.

    What getrusage returns contains the process that started this one.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 / 1e9 if found else 0.0
