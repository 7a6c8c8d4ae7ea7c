# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Overlap Object: the intersection of a pair as a mesh object, by Blender's own Boolean.

The Boolean runs in a scene of its own, which nothing shows and no handler follows, on copies of the shapes that were
inspected. So nothing is left of it, and no result or clash goes out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.measures.volume_record import OverlapVolume
from ...core.meshes.joined import joined
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import solid_facets
from ...core.types import FloatArray
from ..data import messages
from ..data.objects import OVERLAP, contains
from ..geometry.snapshot import ReadError
from ..live.background import BackgroundOperator, Steps, Undoable
from ..measure.pair_measures import OVERLAPPING, volume_of
from ..pair import session
from ..pair.inspection import Inspection, is_outdated
from . import pair_operators

COLLECTION = "Overlaps"
PROMISED = 1e-4
"""How far the volume of the object may be from that of the overlap, relative to that."""


class CONTACT_LENS_OT_overlap_object(Undoable, BackgroundOperator, bpy.types.Operator):
    """Add the overlap of A and B to the scene as a mesh object, which is never checked itself"""

    bl_idname = "contact_lens.overlap_object"
    bl_label = "Make Overlap Object"
    title = "Overlap"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        if context.mode != "OBJECT":
            return "Objects are added in Object Mode only: switch to it"
        inspection = session.current(context)
        return messages.NO_RESULT if inspection is None else _idle_reason(inspection)

    def steps(self, context: bpy.types.Context) -> Steps:
        keys = pair_operators.picked_keys(context)
        inspection = yield from pair_operators.inspect(pair_operators.read_pair(context, keys))
        session.store(context.scene, inspection)
        if reason := _idle_reason(inspection):
            raise ReadError(reason)
        a, b = inspection.shape_a, inspection.shape_b
        overlap: OverlapVolume = yield partial(volume_of, inspection)
        if reason := _no_volume_reason(overlap, inspection):
            raise ReadError(reason)
        facets = yield lambda progress: (solid_facets(a), solid_facets(b))
        if self.is_modal and is_outdated(context.evaluated_depsgraph_get(), inspection):
            raise ReadError("An object changed during the computation, so nothing was made: try again")
        base = overlap.centroid if overlap.centroid is not None else inspection.contact.center
        slack = inspection.resolution + sum(each.slack for each in facets)
        name = f"Overlap {inspection.name_a} x {inspection.name_b}"
        is_right = partial(_is_right, overlap=overlap, slack=slack)
        data, mesh = _intersection(facets[0].mesh, facets[1].mesh, base, is_right)
        data.name = name
        made = _add(context, name, data, base)
        is_mesh = all(proxy.is_the_mesh(inspection.resolution) for proxy in (inspection.proxy_a, inspection.proxy_b))
        shapes, units = "meshes" if is_mesh else "collision shapes", inspection.units
        self.report({"INFO"}, f"Made '{made.name}' of the {shapes}, volume {units.measure(mesh.volume, 3)}")
        if overlap.volume is None:
            self.report(
                {"WARNING"},
                f"The volume of the object was not compared with the overlap's: {overlap.unsupported_reason}",
            )
        elif not is_right(mesh):
            known = units.measure(overlap.volume, 3)
            self.report(
                {"WARNING"},
                f"The object's volume is not that of the overlap, {known}: look for errors in the meshes",
            )
        return {"FINISHED"}


def _idle_reason(inspection: Inspection) -> str:
    """Return why a pair has no overlap to be made an object, as a sentence; empty where it has one."""
    if inspection.flat is not None:
        return "A pair in 2D overlaps in an area, which is not a solid: turn off Inspect in 2D"
    if inspection.contact.relation not in OVERLAPPING:
        return "Nothing overlaps: the objects are apart, or only touch"
    return ""


def _no_volume_reason(overlap: OverlapVolume, inspection: Inspection) -> str:
    """Return why an overlap cannot be made an object, as a sentence; empty where it can."""
    for shape, name in ((inspection.shape_a, inspection.name_a), (inspection.shape_b, inspection.name_b)):
        if isinstance(shape, Mesh) and not joined(shape).is_closed:
            return messages.about(name, "is open, so nothing is inside it: close its holes")
    if overlap.volume == 0.0:
        return "The overlap is flat, so it is not a solid"
    return ""


def _intersection(a: Mesh, b: Mesh, base: FloatArray, is_right: Callable[[Mesh], bool]) -> tuple[bpy.types.Mesh, Mesh]:
    """Return the intersection of two closed meshes as a new mesh relative to `base`, of Blender and of core. Raise
    ReadError where there is none.

    is_right: whether a mesh may be it, or another solver is tried.
    """
    with _operands(a, b, base) as (evaluated, modifier):
        solvers = modifier.bl_rna.properties["solver"].enum_items
        # Meshes that cross themselves, as pieces of compounds do each other, need the second.
        for solver, use_self in (("MANIFOLD" if "MANIFOLD" in solvers else "EXACT", False), ("EXACT", True)):
            modifier.solver, modifier.use_self = solver, use_self
            data = bpy.data.meshes.new_from_object(evaluated())
            if len(data.polygons) and (is_right(mesh := _as_core(data)) or use_self):
                return data, mesh
            bpy.data.meshes.remove(data)
    raise ReadError("Blender's Boolean found no overlap, so nothing was made: look for errors in the meshes")


def _as_core(data: bpy.types.Mesh) -> Mesh:
    points = np.empty((len(data.vertices), 3), dtype=np.float32)
    data.vertices.foreach_get("co", points.ravel())
    data.calc_loop_triangles()
    triangles = np.empty((len(data.loop_triangles), 3), dtype=np.int32)
    data.loop_triangles.foreach_get("vertices", triangles.ravel())
    return Mesh(points.astype(np.float64), triangles.astype(np.intp))


def _is_right(mesh: Mesh, overlap: OverlapVolume, slack: float) -> bool:
    """Return whether the volume of a mesh is that of an overlap, as far as that is known.

    slack: how far the surfaces may be from those that were measured.
    """
    if overlap.lower is None or overlap.upper is None:
        return True
    room = PROMISED * overlap.upper + mesh.area * slack
    return overlap.lower - room <= mesh.volume <= overlap.upper + room


@contextmanager
def _operands(a: Mesh, b: Mesh, base: FloatArray) -> Iterator[tuple[Any, Any]]:
    """Give a function that evaluates A with a Boolean modifier, and the modifier, while the context lasts."""
    scene, meshes = bpy.data.scenes.new("Contact Lens"), list[bpy.types.Mesh]()
    try:
        objects = []
        for mesh in (a, b):
            data = bpy.data.meshes.new("Contact Lens")
            meshes.append(data)
            surface = joined(mesh).surface
            triangles = surface.triangles if surface.volume >= 0.0 else surface.triangles[:, ::-1]
            used, corners = np.unique(triangles, return_inverse=True)
            data.from_pydata((surface.points[used] - base).tolist(), [], corners.reshape(-1, 3).tolist())
            objects.append(bpy.data.objects.new("Contact Lens", data))
            scene.collection.objects.link(objects[-1])
        modifier: Any = objects[0].modifiers.new("Contact Lens", "BOOLEAN")
        modifier.operation, modifier.object = "INTERSECT", objects[1]
        layer = scene.view_layers[0]

        def evaluated() -> bpy.types.Object:
            layer.update()
            return objects[0].evaluated_get(layer.depsgraph)

        yield evaluated, modifier
    finally:
        bpy.data.batch_remove([*scene.objects])
        bpy.data.batch_remove(meshes)
        bpy.data.scenes.remove(scene)


def _add(context: bpy.types.Context, name: str, data: bpy.types.Mesh, base: FloatArray) -> bpy.types.Object:
    """Return a new object with a mesh, in the collection of overlaps: selected and active, as what Blender adds."""
    scene, layer = context.scene, context.view_layer
    found = (each for each in scene.collection.children_recursive if each.name == COLLECTION and each.library is None)
    collection = next(found, None)
    if collection is None:
        collection = bpy.data.collections.new(COLLECTION)
        scene.collection.children.link(collection)
    made = bpy.data.objects.new(name, data)
    made[OVERLAP] = True
    made.location = Vector(base.tolist())
    collection.objects.link(made)
    layer.update()
    if contains(layer.objects, made):  # not where the collection is excluded
        for obj in list(layer.objects.selected):
            obj.select_set(False)
        made.select_set(True)
        layer.objects.active = made
    return made


CLASSES = (CONTACT_LENS_OT_overlap_object,)
