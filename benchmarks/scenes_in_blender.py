# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of bench_check_scene, made in Blender and saved: the same file for every version that is measured."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import bpy
import numpy as np

from contact_lens.core import ConvexHull
from tests.core.mesh_shapes import torus

from . import bench_building

SIDE = 20
"""Bricks along each edge of the block: 8,000, with 93,556 touching pairs."""
FRAMES = 250


def save(name: str, path: str) -> str:
    """Make a scene by its name, save it and return the path."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    SCENES[name](bpy.context.scene.collection)
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def _place(collection: bpy.types.Collection, mesh: bpy.types.Mesh | None, location: object) -> bpy.types.Object:
    obj = bpy.data.objects.new("Object" if mesh is None else mesh.name, mesh)
    obj.location = location
    collection.objects.link(obj)
    return obj


def _mesh_of(add: Callable[..., object], **options: object) -> bpy.types.Mesh:
    """Return the mesh of a primitive, without the object."""
    add(**options)
    obj, mesh = bpy.context.object, bpy.context.object.data
    bpy.data.objects.remove(obj)
    return mesh


def instances(collection: bpy.types.Collection, count: int = 10_000) -> None:
    """Instances of a sphere, about one in three of which meets another."""
    inside = bpy.data.collections.new("Inside")
    _place(inside, _mesh_of(bpy.ops.mesh.primitive_ico_sphere_add, subdivisions=3, radius=0.5), (0.0, 0.0, 0.0))
    rng = np.random.default_rng(count)
    places, turns = rng.uniform(0.0, 1.79 * count ** (1 / 3), (count, 3)), rng.uniform(0.0, 6.0, (count, 3))
    for place, turn in zip(places.tolist(), turns.tolist(), strict=True):
        empty = _place(collection, None, place)
        empty.instance_type, empty.instance_collection, empty.rotation_euler = "COLLECTION", inside, turn


def bricks(collection: bpy.types.Collection) -> None:
    """A block of cubes that touch with faces, edges and corners."""
    cube = _mesh_of(bpy.ops.mesh.primitive_cube_add, size=1.0)
    for place in itertools.product(range(SIDE), repeat=3):
        _place(collection, cube, place)


def primitives(collection: bpy.types.Collection) -> None:
    """Blender's own primitives, 14 of them, in 22 pairs that penetrate: 8 of two tori, 14 of others."""
    mesh = bpy.ops.mesh
    torus, monkey = _mesh_of(mesh.primitive_torus_add), _mesh_of(mesh.primitive_monkey_add)
    cube, ball = _mesh_of(mesh.primitive_cube_add), _mesh_of(mesh.primitive_uv_sphere_add)
    cone = _mesh_of(mesh.primitive_cone_add)
    rng = np.random.default_rng(24)
    for k in range(6):  # a chain, each link turned a quarter, some of them joined twice
        obj = _place(collection, torus, (1.05 * (k % 3), 1.1 * (k // 3), 0.0))
        obj.rotation_euler = ((k % 2) * 1.4 + 0.1, 0.2 * k, 0.3 * k)
    for k, shape in enumerate((cube, ball, monkey, cone, cube, ball, monkey, cone)):
        obj = _place(collection, shape, (1.22 * (k % 4), 4.2 + 1.6 * (k // 4), 0.2 * (k % 3)))
        obj.rotation_euler = rng.uniform(0.0, 1.0, 3).tolist()


def dented(collection: bpy.types.Collection) -> None:
    """A hundred dented balls of 642 vertices, each another, about 50 pairs of which penetrate."""
    dented_balls(collection, 100)


def dented_balls(collection: bpy.types.Collection, count: int) -> None:
    """Dented balls of 642 vertices, each another, about half as many pairs of which penetrate."""
    add = bpy.ops.mesh.primitive_ico_sphere_add
    size = 16.3 * (count / 100) ** (1 / 3)
    _scatter_dented(collection, count, size, lambda: _mesh_of(add, subdivisions=4, radius=1.0))


def meshes(collection: bpy.types.Collection) -> None:
    """Two hundred dented balls of 2,000 triangles, close together."""
    add = bpy.ops.mesh.primitive_uv_sphere_add
    _scatter_dented(collection, 200, 8.3, lambda: _mesh_of(add, segments=50, ring_count=21, radius=1.0))


def large(collection: bpy.types.Collection) -> None:
    """Twenty dented tori of 200,000 triangles, some 30 pairs of which penetrate."""

    def make() -> bpy.types.Mesh:
        points, triangles = torus(400, 250, 0.7, 0.4)
        mesh = bpy.data.meshes.new("Torus")
        mesh.from_pydata(points.tolist(), [], triangles.tolist())
        return mesh

    _scatter_dented(collection, 20, 3.6, make)


def building(collection: bpy.types.Collection, count: int = 198) -> None:
    """Storeys of 99 objects each: slabs, walls with openings, doors that fit into these, rooms and ducts."""
    for points, triangles in bench_building.building(round(count / 99), 12):
        mesh = bpy.data.meshes.new("Part")
        mesh.from_pydata(points.tolist(), [], triangles.tolist())
        _place(collection, mesh, (0.0, 0.0, 0.0))


def few_moving(collection: bpy.types.Collection) -> None:
    """Two hundred dented balls of 642 vertices, five of which move."""
    add = bpy.ops.mesh.primitive_ico_sphere_add
    _scatter_dented(collection, 200, 20.5, lambda: _mesh_of(add, subdivisions=4, radius=1.0))
    rng = np.random.default_rng(5)
    for obj in list(collection.objects)[:5]:
        for frame in (1, 100):
            obj.location = rng.uniform(0.0, 20.5, 3)
            obj.keyframe_insert("location", frame=frame)


def _scatter_dented(
    collection: bpy.types.Collection, count: int, size: float, make: Callable[[], bpy.types.Mesh]
) -> None:
    """Scatter meshes, each with other dents, over a cube of this size."""
    rng = np.random.default_rng(count)
    for _ in range(count):
        ball = make()
        points = np.empty(3 * len(ball.vertices), dtype=np.float32)
        ball.vertices.foreach_get("co", points)
        points = points.reshape(-1, 3)
        waves = rng.normal(size=(4, 3))
        depth = np.sin(3.0 * points @ waves.T + rng.uniform(0.0, 6.0, 4)).sum(axis=1)
        points *= (1.0 - 0.08 * depth)[:, None]
        ball.vertices.foreach_set("co", points.ravel())
        obj = _place(collection, ball, rng.uniform(0.0, size, 3).tolist())
        obj.rotation_euler = rng.uniform(0.0, 6.0, 3).tolist()


def moving(collection: bpy.types.Collection) -> None:
    """A hundred hulls of 60 vertices, each another, that move and turn all the time."""
    rng = np.random.default_rng(27)
    for k in range(100):
        points = rng.normal(size=(60, 3))
        hull = ConvexHull(points / np.linalg.norm(points, axis=1)[:, None])
        mesh = bpy.data.meshes.new(f"Hull {k}")
        mesh.from_pydata(hull.vertices.tolist(), [], [facet.tolist() for facet in hull.facets])
        obj = _place(collection, mesh, (0.0, 0.0, 0.0))
        for frame in (1, FRAMES // 2, FRAMES):
            obj.location, obj.rotation_euler = rng.uniform(0.0, 8.0, 3), rng.uniform(0.0, 6.0, 3)
            obj.keyframe_insert("location", frame=frame)
            obj.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = FRAMES


def moving_pairs(collection: bpy.types.Collection) -> None:
    """Two hundred primitives that move at 20 frames in pairs, 40 of which penetrate at nearly all of them."""
    mesh = bpy.ops.mesh
    shapes = [
        _mesh_of(mesh.primitive_torus_add, major_segments=32),
        _mesh_of(mesh.primitive_monkey_add),
        _mesh_of(mesh.primitive_ico_sphere_add, subdivisions=4),
        _mesh_of(mesh.primitive_cube_add),
        _mesh_of(mesh.primitive_cylinder_add, vertices=48),
    ]
    rng = np.random.default_rng(28)
    for k, side in itertools.product(range(100), (0, 1)):
        obj = _place(collection, shapes[(k + 2 * side) % len(shapes)], (0.0, 0.0, 0.0))
        obj.rotation_euler = rng.uniform(0.0, 3.0, 3).tolist()
        apart, phase = (1.0 if k < 40 else 4.0), rng.uniform(0.0, 6.0)
        for frame in range(1, 21):
            wave = 0.25 * np.sin(phase + 0.3 * frame)
            obj.location = (8.0 * (k % 10) + side * (apart + wave), 8.0 * (k // 10), 0.05 * frame)
            obj.keyframe_insert("location", frame=frame)


SCENES = {
    "instances": instances,
    "bricks": bricks,
    "primitives": primitives,
    "dented": dented,
    "moving": moving,
    "few_moving": few_moving,
    "meshes": meshes,
    "large": large,
    "building": building,
    "moving_pairs": moving_pairs,
}
