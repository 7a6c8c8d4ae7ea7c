# SPDX-License-Identifier: GPL-3.0-or-later
"""Small scenes that the Blender tests are about."""

from __future__ import annotations

import bpy
import numpy as np


def mesh_object(
    name: str, vertices: object, faces: object = (), location: object = (0.0, 0.0, 0.0)
) -> bpy.types.Object:
    """A new mesh object in the scene, from vertices and faces as lists."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(vertices, dtype=float).tolist(), [], [list(face) for face in faces])  # type: ignore
    mesh.update()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    bpy.context.view_layer.update()
    return obj


def cube(name: str, location: object = (0.0, 0.0, 0.0), size: float = 2.0) -> bpy.types.Object:
    """A cube of edge length `size`."""
    h = 0.5 * size
    corners = [(x, y, z) for x in (-h, h) for y in (-h, h) for z in (-h, h)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mesh_object(name, corners, quads, location)


def select(active: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Select these objects and no other, the first as the active one."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == active or obj in others)
    bpy.context.view_layer.objects.active = active


def inspect(a: bpy.types.Object, b: bpy.types.Object, **settings: object) -> None:
    """Select A and B as the user would and run the operator."""
    bpy.context.view_layer.update()
    select(a, b)
    assert bpy.ops.contact_lens.inspect(**settings) == {"FINISHED"}
