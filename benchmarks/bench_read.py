# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of large meshes read from Blender: `python -m benchmarks --only read`.

Ours is `read.bounds`, of which the view of boxes over a scene is made: an evaluated object's vertices, checked to be
finite, moved to world space, and what holds them. Beside it the plain way in double precision, of which
`vertices.foreach_get` alone, in local space and float32, is the peer. Each reads some objects one after another, as
the view does; times are of one. In Blender's Python (CONTACT_LENS_BLENDER_PYTHON, as for bench_bvh).
"""

from __future__ import annotations

import numpy as np

from .in_blender import measure_in_blender
from .table import Against, Row, in_turn, show

COUNTS = (1000, 100_000)
OBJECTS = 8
GOALS = {100_000: 6.7}
"""Ratio wanted against `vertices.foreach_get`: 0.3 ms where that takes 2 ms."""


def measure(count: int, rounds: int) -> list[float]:
    """Seconds of ours, of `vertices.foreach_get` alone, and of the plain way to the bounds.

    Ours must hold those, and be wider by rounding in single precision at most.
    """
    import bpy
    from mathutils import Matrix

    from contact_lens.blender_addon.geometry import snapshot as read

    rng = np.random.default_rng(count)
    objects = []
    for k in range(OBJECTS):
        mesh = bpy.data.meshes.new(f"{k}")
        mesh.vertices.add(count)
        mesh.vertices.foreach_set("co", rng.normal(size=3 * count).astype(np.float32))
        objects.append(bpy.data.objects.new(f"{k}", mesh))
        bpy.context.scene.collection.objects.link(objects[k])
        objects[k].matrix_world = Matrix([*rng.normal(size=(3, 4)).tolist(), [0.0, 0.0, 0.0, 1.0]])
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = [obj.evaluated_get(depsgraph) for obj in objects]

    def ours() -> list[tuple[np.ndarray, np.ndarray]]:
        return [read.bounds(obj, depsgraph) for obj in objects]

    def of_one(obj: bpy.types.Object) -> np.ndarray:
        points = np.empty(3 * count, dtype=np.float32)
        obj.data.vertices.foreach_get("co", points)
        return points

    def alone() -> None:
        for obj in evaluated:
            of_one(obj)

    def plainly() -> list[tuple[np.ndarray, np.ndarray]]:
        found = []
        for obj in evaluated:
            matrix = np.array(obj.matrix_world, dtype=np.float64)
            points = of_one(obj).reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            found.append((points.min(axis=0), points.max(axis=0)))
        return found

    for (low, high), exact in zip(ours(), plainly(), strict=True):
        assert (low <= exact[0]).all()
        assert (high >= exact[1]).all()
        np.testing.assert_allclose((low, high), exact, rtol=0.0, atol=1e-5)
    seconds = in_turn((ours, alone, plainly), rounds)
    for obj in objects:
        bpy.data.meshes.remove(obj.data)
    return [one / OBJECTS for one in seconds]


def row(count: int, ours: float, alone: float, plainly: float) -> Row:
    """Make a line of the table."""
    goals = {"vertices.foreach_get": GOALS[count]} if count in GOALS else {}
    peers = {"vertices.foreach_get": Against(alone, ours), "the plain way": Against(plainly, ours)}
    return Row(f"{count:,} vertices, read, moved, bounds", ours, peers, goals)


def main(quick: bool = False) -> None:
    """Print the table."""
    requests = [(count, 3 if quick else 15) for count in (COUNTS[:1] if quick else COUNTS)]
    if times := measure_in_blender("bench_read", requests):
        show([row(count, *found) for (count, _), found in zip(requests, times, strict=True)])
