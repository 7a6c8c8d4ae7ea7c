# SPDX-License-Identifier: GPL-3.0-or-later
"""Select Faces: which faces are selected in Edit Mode, and why none are."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from .scenes import (
    add_object,
    adopt,
    block,
    collection_of,
    cube,
    edit,
    inspect,
    inspection,
    instance_of,
    lens,
    link,
    pane,
    refresh,
    rigid_body,
    save_scene,
    select,
    shape_key,
    sheet,
    torus,
    update,
)
from .test_panel import drawn_by

pytestmark = pytest.mark.usefixtures("empty_scene")

SIDES = ("low x", "high x", "low y", "high y", "low z", "high z")


def selected(obj: bpy.types.Object) -> list[int]:
    """Run the operator's Edit Mode to its end: the faces that stay selected, and with them their edges and corners."""
    assert bpy.context.mode == "EDIT_MESH"
    assert bpy.context.view_layer.objects.active == obj
    assert tuple(bpy.context.tool_settings.mesh_select_mode) == (False, False, True)
    bpy.ops.object.mode_set(mode="OBJECT")
    faces = [face for face in obj.data.polygons if face.select]
    corners = {vertex for face in faces for vertex in face.vertices}
    assert {vertex.index for vertex in obj.data.vertices if vertex.select} == corners
    return [face.index for face in faces]


def select_faces(side: str = "A") -> None:
    assert bpy.ops.contact_lens.select_faces(side=side) == {"FINISHED"}


def sides(obj: bpy.types.Object) -> list[str]:
    return [SIDES[index] for index in selected(obj)]


def test_the_faces_of_either_object_that_cross_or_are_inside_replace_what_was_selected() -> None:
    a, b = cube("A"), block("B", (2.0, 1.0, 1.0), (1.5, 0.0, 0.0), kind="MESH")
    inspect(a, b)
    a.data.polygons.foreach_set("select", [True] * 6)
    a.data.polygons[1].hide = True
    select_faces("A")
    assert sides(a) == ["high x"]
    assert {obj.name for obj in bpy.context.view_layer.objects.selected} == {"A", "B"}
    select_faces("B")
    assert sides(b) == ["low x", "low y", "high y", "low z", "high z"]
    assert len(bpy.context.objects_in_mode) == 0


def test_faces_that_touch_and_faces_within_the_clearance() -> None:
    a, floor = cube("A"), sheet("Floor", 5.0 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]), (0.0, 0.0, -1.0))
    inspect(a, floor)
    select_faces("A")
    assert sides(a) == ["low z"]
    floor.location.z = -1.1
    update()
    inspect(a, floor, clearance=0.2)
    select_faces("A")
    assert sides(a) == ["low z"]
    select_faces("B")
    assert selected(floor) == [0]
    inspect(a, floor, clearance=0.05)
    with pytest.raises(RuntimeError, match="The objects are apart by more than the clearance: raise Clearance"):
        bpy.ops.contact_lens.select_faces()


def test_faces_with_many_corners_of_a_moved_mesh_are_those_of_its_triangles() -> None:
    """Triangles are not faces here; the other object is a shape without faces."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=12, radius=1.0, depth=2.0, location=(3.0, 2.0, 1.0))
    drum, ball = bpy.context.object, cube("Ball", (3.0, 2.0, 2.25), 1.0, kind="SPHERE")
    drum.rotation_euler = (0.0, 0.0, 0.4)
    drum.contact_lens_shape = "MESH"
    inspect(drum, ball)
    select_faces("A")
    (top,) = selected(drum)
    assert len(drum.data.polygons[top].vertices) == 12
    assert drum.data.polygons[top].normal.z > 0.9


def test_in_edit_mode_with_shape_keys_and_modifiers_that_move_and_of_shared_meshes() -> None:
    a, b = cube("A", kind="MESH"), cube("B", (1.5, 0.2, 0.1), kind="MESH")
    b.data = a.data
    key = shape_key(a)
    key.value = 1.0
    a.modifiers.new("Wave", "SIMPLE_DEFORM").deform_method = "TAPER"
    inspect(a, b)
    bpy.ops.object.mode_set(mode="EDIT")
    assert len(bpy.context.objects_in_mode) == 1  # of one mesh
    bpy.ops.mesh.select_all(action="SELECT")
    select_faces("A")
    assert "high x" in sides(a)
    other = cube("Other", (1.5, 0.2, 0.1), kind="MESH")
    inspect(a, other)
    bpy.ops.object.mode_set(mode="EDIT")
    assert len(bpy.context.objects_in_mode) == 2
    select_faces("B")
    assert [obj.name for obj in bpy.context.objects_in_mode] == ["Other"]
    assert "low x" in sides(other)


def test_it_is_one_step_that_can_be_undone() -> None:
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    bpy.data.objects["B"].data.polygons.foreach_set("select", [False, True] * 3)
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.contact_lens.select_faces("EXEC_DEFAULT", True, side="B")
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.ed.undo()
    assert bpy.context.mode == "OBJECT"
    assert [face.select for face in bpy.data.objects["B"].data.polygons] == [False, True] * 3


def refused(side: str, words: str) -> None:
    mode = bpy.context.mode
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.contact_lens.select_faces(side=side)
    assert bpy.context.mode == mode


def test_what_has_no_faces_of_its_own_is_refused(tmp_path: Path) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    inspect(a, b)
    a.modifiers.new("Cuts", "SUBSURF")
    refresh()
    refused("A", "^Error: 'A' has modifiers that make other faces: apply or hide them, then inspect again")
    select_faces("B")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.curve.primitive_bezier_circle_add()
    curve = bpy.context.object
    curve.name, curve.data.dimensions, curve.data.extrude = "Curve", "2D", 1.0
    inspect(b, curve)
    refused("B", "'Curve' is not a mesh: convert it to one")
    library = save_scene(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    (linked,) = link(library, objects=["B"]).objects
    bpy.context.scene.collection.objects.link(linked)
    inspect(cube("A"), linked)
    refused("B", "'B' is linked: make it local")


def test_instances_and_compound_parents_are_refused() -> None:
    a = cube("A")
    instance_of(collection_of("Parts", cube("Part", (1.5, 0.2, 0.1)), is_only=True), "Many")
    bpy.ops.contact_lens.check_scene()
    bpy.ops.contact_lens.go_to_finding()
    name = "B" if inspection().name_a == "A" else "A"
    refused(name, r"'Part \[0\] of Many' is an instance: make it real")
    parent, child = add_object("Parent"), cube("Child", (1.5, 0.2, 0.1))
    adopt(parent, child)
    rigid_body(child, "BOX")
    parent = rigid_body(cube("Root", (-1.5, 0.0, 0.0)), "COMPOUND")
    adopt(parent, child)
    inspect(a, parent)
    refused("B", "'Root' collides as its children: inspect one of them")


def test_a_result_that_is_out_of_date_is_refused() -> None:
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    refusal = "The objects have changed: inspect the pair again"
    inspect(a, b)
    b.location.x = 1.4
    update()
    refused("A", refusal)
    refresh()
    edit(a)
    refused("A", refusal)
    refresh()
    select_faces("A")


def test_a_bare_surface_and_what_it_goes_through() -> None:
    ring, wall = torus("Ring", kind="MESH"), pane("Wall", 0.0)
    inspect(ring, wall)
    select_faces("B")
    assert selected(wall) == [0]
    select_faces("A")
    faces = selected(ring)
    points = np.array([corner.co for corner in ring.data.vertices])
    across = [
        index for index, face in enumerate(ring.data.polygons) if np.ptp(np.sign(points[list(face.vertices), 0])) > 1
    ]
    assert set(faces) <= {
        *across,
        *(face.index for face in ring.data.polygons if np.abs(points[list(face.vertices), 0]).min() < 1e-6),
    }
    assert faces


def test_the_panel_has_a_button_for_each() -> None:
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    drawn = drawn_by(lens.ui.measures_panel.CONTACT_LENS_PT_measures, "draw")
    assert drawn.given("select_faces", "side") == ["A", "B"]
    select(bpy.data.objects["A"])
