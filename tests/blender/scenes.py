# SPDX-License-Identifier: GPL-3.0-or-later
"""Small scenes that the Blender tests are about, and what the add-on says of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np

MODULE = "bl_ext.user_default.contact_lens"
"""The name under which the extension system imports the add-on."""


class Folder:
    """A folder of the installed add-on: its files are modules, imported when a test first names them."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> ModuleType:
        if name.startswith("_"):  # pytest looks for marks such as `__test__` in whatever a test file names
            raise AttributeError(name)
        return import_module(f"{self._name}.{name}")


class InstalledAddOn:
    """The installed add-on. Naming it imports nothing: when tests are collected it is not enabled yet."""

    @property
    def core(self) -> ModuleType:
        return import_module(f"{MODULE}.core")

    @property
    def command_line(self) -> ModuleType:
        return import_module(f"{MODULE}.blender_addon.command_line")

    def __getattr__(self, name: str) -> Folder:
        return Folder(f"{MODULE}.blender_addon.{name}")


lens = InstalledAddOn()
"""`lens.report.pair_lines` is `blender_addon/report/pair_lines.py`, `lens.core` the engine."""


# --- objects ----------------------------------------------------------------------------------------------------------


def update() -> None:
    bpy.context.view_layer.update()


def add_object(name: str, data: Any = None, location: object = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A new object in the scene, an empty unless it has data."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    update()
    return obj


def mesh_object(
    name: str, vertices: object, faces: object = (), location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC"
) -> bpy.types.Object:
    """A new mesh object in the scene, from vertices and faces as lists; `kind`: its collision shape."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(vertices, dtype=float).tolist(), [], [list(face) for face in faces])  # type: ignore
    mesh.update()
    obj = add_object(name, mesh, location)
    obj.contact_lens_shape = kind
    return obj


def block(name: str, size: object, location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC") -> bpy.types.Object:
    """A box-shaped mesh of this size along x, y, z."""
    corners = 0.5 * np.array(size) * [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mesh_object(name, corners, quads, location, kind)


def cube(name: str, location: object = (0.0, 0.0, 0.0), size: float = 2.0, kind: str = "AUTOMATIC") -> bpy.types.Object:
    """A cube of edge length `size`."""
    return block(name, (size, size, size), location, kind)


SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def sheet(
    name: str, corners: Any = SQUARE, location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC"
) -> bpy.types.Object:
    """A flat mesh of one face in the plane z = 0."""
    return mesh_object(name, [(*corner, 0.0) for corner in corners], [range(len(corners))], location, kind)


def pane(name: str, x: float = 0.5) -> bpy.types.Object:
    """A square face upright in a plane of equal x, a bare surface."""
    corners = [(x, y, z) for y, z in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))]
    return mesh_object(name, corners, [(0, 1, 2, 3)], kind="MESH")


def torus(name: str, location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC", **more: object) -> bpy.types.Object:
    bpy.ops.mesh.primitive_torus_add(location=location, **more)
    bpy.context.object.name, bpy.context.object.contact_lens_shape = name, kind
    return bpy.context.object


def edit(obj: bpy.types.Object, distance: float = 0.5) -> None:
    """Move a vertex of its mesh along X."""
    obj.data.vertices[0].co.x += distance
    obj.data.update()
    update()


# --- what ties objects together ---------------------------------------------------------------------------------------


def adopt(parent: bpy.types.Object, *children: bpy.types.Object) -> None:
    """Set the parent of objects, which stay where they are."""
    for child in children:
        child.parent, child.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    update()


def rigid_body(obj: bpy.types.Object, shape: str) -> bpy.types.Object:
    """Make the object a rigid body with this collision shape."""
    select(obj)
    bpy.ops.rigidbody.object_add()
    obj.rigid_body.collision_shape = shape
    return obj


def collection_of(name: str, *members: bpy.types.Object, is_only: bool = False) -> bpy.types.Collection:
    """A collection of the scene, or with `is_only` one to be instanced: its members leave the scene."""
    collection = bpy.data.collections.new(name)
    for obj in members:
        collection.objects.link(obj)
        if is_only:
            bpy.context.scene.collection.objects.unlink(obj)
    if not is_only:
        bpy.context.scene.collection.children.link(collection)
    return collection


def instance_of(collection: bpy.types.Collection, name: str, location: object = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """An empty that instances the collection."""
    empty = add_object(name, location=location)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    update()
    return empty


def geometry_nodes(obj: bpy.types.Object, *kinds: str) -> tuple[Any, ...]:
    """A new tree of Geometry Nodes on the object: the function that links, its input, output and these nodes."""
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    obj.modifiers.new("Nodes", "NODES").node_group = tree
    return tree.links.new, *(tree.nodes.new(kind) for kind in ("NodeGroupInput", "NodeGroupOutput", *kinds))


def shape_key(obj: bpy.types.Object) -> bpy.types.ShapeKey:
    """A new shape key of the object, beside its basis."""
    obj.shape_key_add(name="Basis")
    return obj.shape_key_add(name="Key")


def animate(owner: Any, path: str, interpolation: str = "BEZIER", **values: Any) -> None:
    """Key a property, a number or all of a vector, at frames such as f4=..."""
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=int(frame[1:]))
    action = owner.id_data.animation_data.action
    layers = getattr(action, "layers", ())  # since Blender 4.4
    bags = [bag for layer in layers for strip in layer.strips for bag in strip.channelbags] or [action]
    for point in (point for bag in bags for curve in bag.fcurves for point in curve.keyframe_points):
        point.interpolation = interpolation


# --- what a user does -------------------------------------------------------------------------------------------------


def select(active: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Select these objects and no other, the first as the active one."""
    for obj in filter(None, [*bpy.context.view_layer.objects]):  # selecting makes the layer list its objects anew
        obj.select_set(obj == active or obj in others)
    bpy.context.view_layer.objects.active = active


def inspect(a: bpy.types.Object, b: bpy.types.Object, **settings: object) -> Any:
    """Select A and B as the user would, run the operator and return the inspection."""
    update()
    select(a, b)
    assert bpy.ops.contact_lens.inspect(**settings) == {"FINISHED"}
    return inspection()


def refresh() -> Any:
    """Press Refresh and return the inspection."""
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    return inspection()


def inspection() -> Any:
    """The inspection that is shown; None when there is none."""
    return lens.pair.session.current(bpy.context)


def lines() -> dict[str, str]:
    """The lines of the report of the pair."""
    return dict(lens.report.pair_lines.report_lines(lens.report.pair.inspected(bpy.context)))


def notes() -> list[str]:
    """The notes of the report of the pair."""
    return lens.report.pair_lines.notes(lens.report.pair.inspected(bpy.context))


def one_line() -> str:
    """The pair in a line, as the operator reports it."""
    return str(lens.report.pair_lines.one_line(lens.report.pair.inspected(bpy.context)))


def fresh() -> None:
    """Begin an empty file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def save_scene(path: Path) -> Path:
    assert bpy.ops.wm.save_as_mainfile(filepath=str(path)) == {"FINISHED"}
    return path


def link(library: Path, **wanted: list[str]) -> Any:
    """Link data of a library by kind and name: `link(path, objects=["Seat"]).objects`."""
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, linked):
        for kind, names in wanted.items():
            setattr(linked, kind, names)
    return linked


def open_scene(path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(path))


def reopen(path: Path) -> Path:
    """Save the scene and open the file."""
    open_scene(save_scene(path))
    return path
