# SPDX-License-Identifier: GPL-3.0-or-later
"""Select Faces: the faces of A or B that take part in their contact, in Edit Mode."""

from __future__ import annotations

from itertools import chain
from typing import Any, cast

import bmesh
import bpy
import numpy as np
from bpy.props import EnumProperty

from ...core.measures.contact_triangles import contact_triangles
from ...core.meshes.mesh import Mesh
from ...core.result import Relation
from ...core.types import BoolArray
from ..data import messages, properties
from ..geometry.snapshot import ReadError, faces_of_triangles
from ..live.background import Polled, Undoable
from ..pair import session
from ..pair.inspection import Inspection, is_outdated
from ..read.scene_objects import SceneObject
from . import pair_operators

_OUTDATED = "The objects have changed: inspect the pair again"
SIDES = (("A", "A", "The faces of A"), ("B", "B", "The faces of B"))


class CONTACT_LENS_OT_select_faces(Undoable, Polled, bpy.types.Operator):
    """Enter Edit Mode of this object with the faces selected that take part in the contact"""

    bl_idname = "contact_lens.select_faces"
    bl_label = "Select Faces"

    side: EnumProperty(  # type: ignore[valid-type]
        name="Object", description="The object whose faces are selected", items=SIDES, default="A"
    )

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is None:
            return pair_operators.no_result(context)
        if session.is_stale(context):
            return _OUTDATED
        if inspection.contact.relation is Relation.SEPARATED:
            return "The objects are apart by more than the clearance: raise Clearance, then inspect them again"
        return ""

    def execute(self, context: bpy.types.Context) -> set[str]:
        inspection = session.current(context)
        if inspection is None:
            return {"CANCELLED"}
        k = "AB".index(self.side)
        obj, name = properties.pair(context.scene)[k], (inspection.name_a, inspection.name_b)[k]
        try:
            if obj is None or is_outdated(context.evaluated_depsgraph_get(), inspection):
                raise ReadError(_OUTDATED)
            faces = _faces(context, obj, name, inspection, k)
            _enter(context, obj, faces)
        except (ReadError, RuntimeError) as error:
            self.report({"ERROR"}, str(error).strip())
            return {"CANCELLED"}
        self.report({"INFO"}, messages.about(name, f"has {messages.counted(int(faces.sum()), 'face')} in the contact"))
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self, "side", expand=True)


def _faces(context: bpy.types.Context, obj: bpy.types.Object, name: str, found: Inspection, k: int) -> BoolArray:
    """Return which faces of the mesh of A or B, 0 or 1, take part. Raise ReadError where it has none to edit."""
    read: SceneObject = found.objects[k]
    if read.key[2]:
        raise ReadError(messages.about(name, "is an instance: make it real to select its faces"))
    if read.parts:
        raise ReadError(messages.about(name, "collides as its children: inspect one of them to select its faces"))
    if not isinstance(obj.data, bpy.types.Mesh):
        raise ReadError(messages.about(name, "is not a mesh: convert it to one to select its faces"))
    if not (obj.is_editable and obj.data.is_editable):
        raise ReadError(messages.about(name, "is linked: make it local to select its faces"))
    if not len(obj.data.polygons):
        raise ReadError(messages.about(name, "has no faces of its own"))
    of_triangles = faces_of_triangles(obj, context.evaluated_depsgraph_get())
    if of_triangles is None:
        raise ReadError(
            messages.about(name, "has modifiers that make other faces: apply or hide them, then inspect again")
        )
    mesh = cast("Mesh", read.geometry.mesh.transformed(read.matrix))
    chosen = contact_triangles(mesh, (found.shape_b, found.shape_a)[k], found.contact)
    faces = np.zeros(len(obj.data.polygons), dtype=np.bool_)
    faces[of_triangles[chosen]] = True
    return faces


def _enter(context: bpy.types.Context, obj: bpy.types.Object, faces: BoolArray) -> None:
    """Enter Edit Mode of one object, of whose mesh these faces (f,) are selected and nothing else."""
    layer = context.view_layer
    tools: Any = context.tool_settings
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    selected = list(layer.objects.selected)
    for each in selected:
        each.select_set(False)  # or all of them would be edited
    obj.select_set(True)
    layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for each in selected:
        each.select_set(True)
    tools.mesh_select_mode = (False, False, True)
    # Not in Object Mode: undo would leave in the mesh what is selected there.
    mesh: Any = obj.data
    edited: Any = bmesh.from_edit_mesh(mesh)
    for part in chain(edited.verts, edited.edges, edited.faces):
        part.select_set(False)
    edited.faces.ensure_lookup_table()
    for index in np.flatnonzero(faces).tolist():
        edited.faces[index].hide_set(False)
        edited.faces[index].select_set(True)
    bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)


IN_MENU = (CONTACT_LENS_OT_select_faces,)
CLASSES = IN_MENU
