# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspect Contact: what it takes, what it finds, what it says when it cannot."""

from __future__ import annotations

from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from .scenes import add_object, block, cube, inspect, inspection, lens, mesh_object, notes, one_line, refresh, select

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_two_cubes_half_a_metre_into_each_other() -> None:
    # Edge length 2, B's centre 1.5 along X: they overlap by 0.5, and B is pushed out along +X.
    found = inspect(cube("Left"), cube("Right", (1.5, 0.2, 0.1)))
    assert (found.name_a, found.name_b, found.verification.ok) == ("Left", "Right", True)
    c = found.contact
    assert (c.relation, c.region.kind) == ("penetrating", "polygon")
    assert c.depth == pytest.approx(0.5)
    assert c.normal == pytest.approx((1.0, 0.0, 0.0))
    assert c.region.area == pytest.approx(1.8 * 1.9, rel=1e-6)  # float32 locations


@pytest.mark.parametrize(
    ("x", "size", "clearance", "relation"),
    [
        (4.0, 2.0, 0.0, "separated"),
        (2.5, 2.0, 0.75, "within_clearance"),
        (2.0, 2.0, 0.0, "touching"),
        (1.0, 2.0, 0.0, "penetrating"),
        (0.25, 1.0, 0.0, "b_inside_a"),
        (0.25, 4.0, 0.0, "a_inside_b"),
        (0.0, 2.0, 0.0, "coincident"),
    ],
)
def test_relation(x: float, size: float, clearance: float, relation: str) -> None:
    assert inspect(cube("A"), cube("B", (x, 0.0, 0.0), size), clearance=clearance).contact.relation == relation


@pytest.mark.parametrize("method", ["AUTO", "SAT", "GJK", "BOTH"])
def test_methods_agree(method: str) -> None:
    b = cube("B", (1.5, 0.4, 0.3))
    b.rotation_euler = (0.3, 0.5, 0.7)
    c = inspect(cube("A"), b, method=method).contact
    assert c.status == "certified"
    # Of all ways out the one along X is the shortest: A ends at 1, B begins at 1.5 less its half width along X.
    assert c.normal == pytest.approx((1.0, 0.0, 0.0))
    assert c.depth == pytest.approx(1.0 - 1.5 + np.abs(np.array(b.matrix_world)[0, :3]).sum())
    assert (c.cross_check is not None) == (method == "BOTH")


def test_a_is_the_active_object_and_swap_turns_the_pair_round() -> None:
    left, right = cube("Left"), cube("Right", (1.5, 0.0, 0.0))
    for swap, name_a, x in ((False, "Right", -1.0), (True, "Left", 1.0)):
        found = inspect(right, left, swap=swap)
        assert found.name_a == name_a
        assert found.contact.normal == pytest.approx((x, 0.0, 0.0))


def test_what_is_not_asked_for_stays_as_it_is_in_the_scene() -> None:
    settings = bpy.context.scene.contact_lens
    settings.clearance = 0.6
    used = inspect(cube("A"), cube("B", (2.5, 0.0, 0.0)), method="GJK").settings
    assert (used.clearance, used.contact_tolerance) == (0.6, 1e-5)
    assert (settings.method, round(settings.clearance, 6)) == ("GJK", 0.6)


def test_pair_stays_when_the_selection_changes_until_another_object_is_picked() -> None:
    a, b, other = cube("A"), cube("B", (1.5, 0.0, 0.0)), cube("Other", (0.0, 1.75, 0.0))
    inspect(a, b)
    select(other)
    assert inspection().name_b == "B"
    assert "Select a second object: only 'Other' is selected" in poll_message(other), "not the pair of before"
    b.location.x = 1.875
    assert refresh().contact.depth == pytest.approx(0.125)
    other.select_set(False)  # nothing is selected: the pair in the pickers is inspected
    assert bpy.ops.contact_lens.inspect() == {"FINISHED"}
    assert inspection().contact.depth == pytest.approx(0.125)
    bpy.context.scene.contact_lens.object_b = other
    assert inspection() is None
    assert refresh().contact.depth == pytest.approx(0.25)


def poll_message(*selected: bpy.types.Object) -> str:
    for obj in filter(None, [*bpy.context.view_layer.objects]):  # selecting makes the layer list its objects anew
        obj.select_set(obj in selected)
    with pytest.raises(RuntimeError) as raised:
        bpy.ops.contact_lens.inspect()
    return str(raised.value)


def test_poll_says_what_to_select() -> None:
    a, b, third = cube("A"), cube("B"), cube("Third")
    lamp = add_object("My Lamp", bpy.data.lights.new("My Lamp", "POINT"))
    bpy.context.view_layer.objects.active = a
    for selected, message in (
        ((), "Select two objects"),
        ((a,), "Select two objects"),
        ((a, b, third), "3 objects are selected: select only two, or run Check Scene with the scope Selected"),
        ((b, third), "Make one of the two selected objects active"),
        ((a, lamp), "'My Lamp' is of type light, which has no surface"),
    ):
        assert message in poll_message(*selected)


def test_what_cannot_be_read_is_named_and_the_last_result_stays() -> None:
    a, b, hollow = cube("A"), cube("B", (1.5, 0.0, 0.0)), mesh_object("Nothing In It", [])
    inspect(a, b)
    select(a, hollow)
    with pytest.raises(RuntimeError, match="'Nothing In It' has no vertices"):
        bpy.ops.contact_lens.inspect()
    assert inspection().name_b == "B"


def broken(*vertices: int) -> bpy.types.Object:
    """A cube of which these vertices are nowhere; all of it is selected in Edit Mode."""
    obj = cube("Broken", (1.5, 0.0, 0.0))
    for index in vertices:
        obj.data.vertices[index].co.y = float("nan")
    return obj


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
@pytest.mark.parametrize("selects", [(True, False, False), (False, False, True)])
def test_a_vertex_whose_coordinates_are_not_finite_is_selected(mode: str, selects: tuple[bool, ...]) -> None:
    a, obj = cube("A"), broken(3, 5)
    select(obj, a)
    bpy.context.tool_settings.mesh_select_mode = selects
    bpy.ops.object.mode_set(mode=mode)
    with pytest.raises(
        RuntimeError, match=r"'Broken' has 2 vertices whose .* not finite: remove vertex 3 and 1 more, which"
    ):
        bpy.ops.contact_lens.inspect()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = obj.data
    assert [vertex.index for vertex in mesh.vertices if vertex.select] == [3, 5]
    assert not any(face.select for face in mesh.polygons)
    assert [vertex.index for vertex in mesh.vertices if not np.isfinite(vertex.co).all()] == [3, 5]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="VERT")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.contact_lens.inspect()
    assert inspection().name_a == "Broken"


def test_vertices_of_a_mesh_that_cannot_be_edited_are_named_and_not_selected(tmp_path: Path) -> None:
    obj = broken(3)
    obj.data.vertices.foreach_set("select", [False] * 8)
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {obj})
    bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Broken"]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    select(cube("A"), linked)
    with pytest.raises(RuntimeError, match=r"'Broken' has a vertex whose coordinates are not finite: remove vertex 3$"):
        bpy.ops.contact_lens.inspect()
    assert not any(vertex.select for vertex in linked.data.vertices)


def test_one_line_report() -> None:
    a = cube("A")
    inspect(a, cube("B", (1.5, 0.0, 0.0)))
    assert one_line() == "A and B: penetrating, depth 0.5 m"
    inspect(a, cube("Small", (0.5, 0.0, 0.0), 0.5))
    assert one_line() == "Small inside A, depth 0.75 m"


def test_contact_tolerance_is_never_finer_than_the_input() -> None:
    # A hundred kilometres away float32 steps by 1/128 m: two cubes 0.01 m apart cannot be told from touching.
    found = inspect(cube("A", (1e5, 0.0, 0.0)), cube("B", (1e5 + 2.0, 0.0, 0.0)), contact_tolerance=0.0)
    assert found.resolution == 4.0 * np.spacing(np.float32(1e5))
    assert found.contact_tolerance == pytest.approx(found.resolution / np.sqrt(12.0))
    assert found.contact.relation == "touching"
    assert any("Blender stores these coordinates to" in text for text in notes())


def test_tilted_cube_over_suzanne() -> None:
    bpy.ops.mesh.primitive_monkey_add()
    suzanne, b = bpy.context.object, cube("Cube", (0.9, 0.0, 0.6), 1.0)
    b.rotation_euler = (radians(30.0), radians(20.0), radians(10.0))
    found = inspect(suzanne, b)
    assert (found.contact.relation, found.verification.ok) == ("penetrating", True)
    assert found.proxy_a.concavity.depth > 0.2
    assert not found.proxy_a.concavity.is_closed  # Suzanne's eyes are holes
    assert found.proxy_b.concavity.depth == 0.0
    assert found.contact.curves
    said = " ".join(notes())
    assert "'Suzanne': not closed (42 open edges), so only its surface collides" in said
    assert 0.0 < found.contact.least_depth <= found.contact.depth < 0.66, "no more than that of its hull"
    assert one_line().endswith(f", depth {lens.report.pair_lines.headline(found).number}")
    b.location.z = 3.0  # apart, the distance is that of the mesh itself
    assert inspect(suzanne, b).contact.status == "certified"
    assert not any("piece" in text for text in notes())


def test_clear_takes_the_contact_off_the_screen_and_undo_brings_it_back() -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.clear() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Clear")
    assert inspection() is None
    with pytest.raises(RuntimeError, match="No object is picked"):
        bpy.ops.contact_lens.clear()
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert inspection().contact.depth == pytest.approx(0.5)


def test_frame_puts_the_contact_in_the_middle_of_the_view() -> None:
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    space = next(area.spaces.active for area in bpy.context.screen.areas if area.type == "VIEW_3D")
    space.region_3d.view_location = (50.0, 50.0, 50.0)
    assert bpy.ops.contact_lens.frame() == {"FINISHED"}
    assert np.array(space.region_3d.view_location) == pytest.approx(inspection().contact.center)
    assert 1.0 < space.region_3d.view_distance < 20.0


def are_in_view(obj: bpy.types.Object) -> list[bool]:
    """Return which corners of an object a 3D view shows."""
    area = next(area for area in bpy.context.screen.areas if area.type == "VIEW_3D")
    window = next(region for region in area.regions if region.type == "WINDOW")
    view = area.spaces.active.region_3d
    turned = Matrix.Translation((0.0, 0.0, -view.view_distance)) @ view.view_rotation.to_matrix().to_4x4().transposed()
    points = [turned @ (obj.matrix_world @ Vector(corner) - view.view_location) for corner in obj.bound_box]
    half = 36.0 / area.spaces.active.lens * np.array((window.width, window.height)) / max(window.width, window.height)
    depths = [-p.z if view.is_perspective else view.view_distance for p in points]
    return [bool((np.abs(p.xy) < half * depth).all()) for p, depth in zip(points, depths, strict=True)]


@pytest.mark.parametrize("perspective", ["PERSP", "ORTHO"])
def test_frame_keeps_both_objects_in_view_or_the_smaller_one(perspective: str) -> None:
    space = next(area.spaces.active for area in bpy.context.screen.areas if area.type == "VIEW_3D")
    space.region_3d.view_perspective = perspective
    lower, upper = (block(name, (1.0, 1.0, 4.0), (0.0, 0.0, z)) for name, z in (("Lower", 0.0), ("Upper", 3.9)))
    inspect(lower, upper)
    bpy.ops.contact_lens.frame()
    assert all(are_in_view(lower) + are_in_view(upper))
    bolt, wall = block("Bolt", (0.05, 0.05, 0.3), (5.0, 0.0, 0.0)), block("Wall", (10.0, 8.0, 6.0))
    inspect(bolt, wall)
    bpy.ops.contact_lens.frame()
    assert all(are_in_view(bolt))
    assert not all(are_in_view(wall)), "or the bolt would be a dot"
    assert space.region_3d.view_distance < 3.0


def test_operators_without_a_result_say_so() -> None:
    for operator in (bpy.ops.contact_lens.separate, bpy.ops.contact_lens.copy, bpy.ops.contact_lens.frame):
        with pytest.raises(RuntimeError, match="run Inspect Contact first"):
            operator()


def test_operators_are_in_the_menus() -> None:
    menu = lens.ui.menu
    assert menu._draw_all in bpy.types.VIEW3D_MT_object._dyn_ui_initialize()
    assert menu._draw in bpy.types.VIEW3D_MT_object_context_menu._dyn_ui_initialize()
    assert menu._draw in bpy.types.VIEW3D_MT_edit_mesh._dyn_ui_initialize()
