# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as shapes: the geometry that is seen, where it is seen, or a sentence that says why not."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix

from .scenes import cube, mesh_object

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def read(part: Callable[[str], ModuleType]) -> ModuleType:
    return part("blender_addon.read.snapshot")


def snapshot(read: ModuleType, obj: bpy.types.Object, *geometries: object) -> object:
    reader = import_module(f"{read.__package__}.scene_reader")
    return reader.snapshot_object(obj, bpy.context.evaluated_depsgraph_get(), *geometries)


def shape(read: ModuleType, obj: bpy.types.Object, *geometries: object) -> object:
    return import_module(f"{read.__package__}.world_shape").WorldShape(snapshot(read, obj, *geometries))


def bounds(read: ModuleType, obj: bpy.types.Object) -> list[float]:
    low, high = shape(read, obj).hull.bounds
    return [*low.tolist(), *high.tolist()]


def test_modifiers_are_applied(read: ModuleType) -> None:
    obj = cube("A")
    obj.modifiers.new("Array", "ARRAY").count = 3  # side by side along X
    assert bounds(read, obj) == pytest.approx([-1, -1, -1, 5, 1, 1])


def test_shape_keys_are_applied(read: ModuleType) -> None:
    obj = cube("A")
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Long")
    for point in key.data:
        point.co.z *= 3.0
    key.value = 0.5
    assert bounds(read, obj) == pytest.approx([-1, -1, -2, 1, 1, 2])


def test_edits_in_edit_mode_are_seen(read: ModuleType) -> None:
    obj = cube("A")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(obj.data)
    for vertex in mesh.verts:
        vertex.co.x += 4.0
    bmesh.update_edit_mesh(obj.data)
    assert bounds(read, obj) == pytest.approx([3, -1, -1, 5, 1, 1])
    bpy.ops.object.mode_set(mode="OBJECT")


def test_parents_with_shear_move_every_vertex_as_blender_does(read: ModuleType) -> None:
    # A turned child of an unevenly scaled parent is sheared: no location, rotation and scale describe it.
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (1.0, 3.0, 0.5)
    obj = cube("A", (1.0, 2.0, 3.0))
    obj.parent = parent
    obj.rotation_euler = (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    expected = np.array([obj.matrix_world @ v.co for v in obj.data.vertices])
    found = shape(read, obj).hull
    assert len(found.vertices) == 8
    assert found.vertices[np.lexsort(found.vertices.round(4).T)] == pytest.approx(
        expected[np.lexsort(expected.round(4).T)], abs=1e-5
    )


def test_vertices_are_transformed_in_float64(read: ModuleType) -> None:
    obj = cube("A", (0.1, 0.2, 0.3))
    obj.rotation_euler = (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    local = np.array([v.co for v in obj.data.vertices], dtype=np.float64)
    exact = local @ matrix[:3, :3].T + matrix[:3, 3]
    assert np.array_equal(np.sort(shape(read, obj).hull.vertices, axis=0), np.sort(exact, axis=0))


@pytest.mark.parametrize("count", [1, 8192, 8193])
def test_all_points_are_moved_in_float64_whatever_their_number(read: ModuleType, count: int) -> None:
    rng = np.random.default_rng(count)
    local = rng.normal(size=(count, 3)).astype(np.float32)
    mesh = bpy.data.meshes.new("many")
    mesh.vertices.add(count)
    mesh.vertices.foreach_set("co", local.ravel())
    obj = bpy.data.objects.new("many", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.matrix_world = Matrix(rng.normal(size=(4, 4)).tolist()[:3] + [[0.0, 0.0, 0.0, 1.0]])
    bpy.context.view_layer.update()
    points = read.points(obj, bpy.context.evaluated_depsgraph_get())
    matrix = np.array(obj.matrix_world)
    wanted = local.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    assert points.dtype == np.float64
    assert points.shape == (count, 3)
    np.testing.assert_allclose(points, wanted, rtol=0, atol=1e-14)
    assert points.T.flags.c_contiguous  # bounds along each axis are one run through memory


def cloud(points: np.ndarray, matrix: np.ndarray) -> bpy.types.Object:
    """An object of loose vertices (n, 3) where its matrix (3, 4) has them; a matrix without shear."""
    obj = mesh_object("Cloud", points)
    obj.matrix_world = Matrix([*matrix.tolist(), [0.0, 0.0, 0.0, 1.0]])
    bpy.context.view_layer.update()
    return obj


@pytest.mark.parametrize(
    ("count", "stretch", "scale", "far"),
    [
        (1, (1.0, 1.0, 1.0), 1.0, 1e4),
        (10_000, (0.0, 1.0, 1e-3), 1e-30, 0.0),
        (10_001, (1.0, 1.0, 1.0), 1.0, 1e4),
        (10_001, (0.0, 1.0, 1e-3), 1e30, 0.0),
        (60_000, (0.0, 1.0, 1e-3), 1e-30, 1e4),
        (60_000, (0.0, 0.0, 0.0), 1.0, 0.0),
    ],
)
def test_bounds_hold_all_points_and_hardly_more(
    read: ModuleType, count: int, stretch: tuple[float, float, float], scale: float, far: float
) -> None:
    rng = np.random.default_rng(count)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    matrix = np.column_stack([turn * stretch, rng.normal(size=3) * scale])
    obj = cloud((rng.normal(size=(count, 3)) + far) * scale, matrix)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    points = read.points(obj, depsgraph)
    low, high = read.bounds(obj, depsgraph)
    assert (low <= points.min(axis=0)).all()
    assert (high >= points.max(axis=0)).all()
    room = (1e-6 if count > 10_000 else 0.0) * scale * (far + 5.0) * max(stretch)
    np.testing.assert_allclose(low, points.min(axis=0), rtol=1e-12, atol=room + 1e-37)
    np.testing.assert_allclose(high, points.max(axis=0), rtol=1e-12, atol=room + 1e-37)


@pytest.mark.parametrize("count", [2, 20_000])
def test_bounds_beyond_single_precision_are_found_too(read: ModuleType, count: int) -> None:
    points = np.zeros((count, 3))
    points[:2] = [[3e38, 0.0, 0.0], [-3e38, 1.0, 0.0]]
    obj = cloud(points, np.diag([4.0, 1.0, 1.0, 1.0])[:3])
    low, high = read.bounds(obj, bpy.context.evaluated_depsgraph_get())
    assert high[0] == pytest.approx(1.2e39)
    assert low[0] == pytest.approx(-1.2e39)


def test_triangles_are_those_that_blender_fills_faces_with(read: ModuleType) -> None:
    """Of triangles alone, of quads, dented ones too, and of many corners, dented ones too."""
    corners = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1.7, 0.3, 1), (0.3, 1.0, 0), (4, 1, 1), (2, 4, 1)]
    for faces in (
        [(0, 1, 4), (1, 2, 4), (3, 0, 4)],
        [(0, 1, 2, 3), (0, 1, 4, 3), (1, 6, 2, 4)],
        [(0, 1, 2), (0, 1, 6, 2, 7, 3), (0, 5, 3, 7, 2)],
        [(0, 1), (0, 1, 2, 3)],  # no valid mesh: three corners a face, and no triangle
        [(0, 1, 2), (3, 4)],  # nor is this
    ):
        obj = mesh_object("Faces", corners, faces)
        bpy.context.view_layer.update()
        obj.data.calc_loop_triangles()
        wanted = [tuple(triangle.vertices) for triangle in obj.data.loop_triangles]
        _, found = read.triangles(obj, bpy.context.evaluated_depsgraph_get())
        assert [tuple(triangle) for triangle in found.tolist()] == wanted


def test_other_faces_make_another_geometry(read: ModuleType) -> None:
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    faces = {
        "A": [(0, 1, 2), (3, 4, 5, 6, 7)],
        "B": [(0, 1, 2, 3), (4, 5, 6, 7)],
        "Broken": [(0, 1), (2, 3, 4, 5)],
        "Triangles": [(0, 1, 2), (3, 4, 5)],
    }
    objects = [mesh_object(name, corners, some) for name, some in faces.items()]
    bpy.context.view_layer.update()
    digests = import_module(f"{read.__package__}.geometry").DigestsOnly()
    states = [snapshot(read, obj, digests).state for obj in objects]
    assert len({state.made for state in states}) == 4
    assert states == [snapshot(read, obj).state for obj in objects]


def test_mirrored_object_has_outward_facets(read: ModuleType) -> None:
    obj = cube("A", (5.0, 0.0, 0.0))
    obj.scale = (-1.0, 2.0, 1.0)
    bpy.context.view_layer.update()
    found = shape(read, obj)
    assert found.hull.offsets == pytest.approx(np.abs(found.hull.normals @ np.array([1.0, 2.0, 1.0])))
    assert found.concavity.is_closed
    assert found.concavity.missing_fraction == pytest.approx(0.0, abs=1e-6)


def test_scale_of_zero_makes_a_flat_shape(read: ModuleType) -> None:
    obj = cube("A")
    obj.scale = (1.0, 1.0, 0.0)
    bpy.context.view_layer.update()
    assert shape(read, obj).hull.rank == 2


def test_curve_text_surface_and_metaball_are_read_through_their_mesh(read: ModuleType) -> None:
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0)
    curve = bpy.context.object
    curve.data.extrude = 0.5
    assert bounds(read, curve) == pytest.approx([-2, -2, -0.5, 2, 2, 0.5], abs=1e-3)
    bpy.ops.object.text_add()
    assert shape(read, bpy.context.object).hull.rank == 2
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()
    assert shape(read, bpy.context.object).hull.rank == 3
    bpy.ops.object.metaball_add(type="BALL")
    assert shape(read, bpy.context.object).hull.rank == 3


@pytest.mark.parametrize("kind", ["CAMERA", "LIGHT", "EMPTY", "ARMATURE", "LATTICE", "SPEAKER"])
def test_objects_without_a_surface_are_named(read: ModuleType, kind: str) -> None:
    if kind == "LIGHT":
        bpy.ops.object.light_add()
    else:
        bpy.ops.object.add(type=kind)
    bpy.context.object.name = "The One"
    with pytest.raises(read.ReadError, match=f"'The One' is of type {kind.lower()}, which has no surface"):
        shape(read, bpy.context.object)


def test_collection_instance_is_named(read: ModuleType) -> None:
    obj = bpy.data.objects.new("Copies", None)
    obj.instance_type = "COLLECTION"
    bpy.context.scene.collection.objects.link(obj)
    with pytest.raises(read.ReadError, match="'Copies' is a collection instance"):
        shape(read, obj)


def test_instances_are_not_left_out_silently(read: ModuleType) -> None:
    parent, child = cube("Parent"), cube("Child")
    child.parent = parent
    parent.instance_type = "VERTS"
    bpy.context.view_layer.update()
    with pytest.raises(read.ReadError, match="'Parent' makes instances"):
        shape(read, parent)


def test_an_object_of_nothing_but_instances_is_refused_for_them(read: ModuleType) -> None:
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    own, out = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    thing, scatter = tree.nodes.new("GeometryNodeMeshCube"), tree.nodes.new("GeometryNodeInstanceOnPoints")
    tree.links.new(own.outputs[0], scatter.inputs["Points"])
    tree.links.new(thing.outputs[0], scatter.inputs["Instance"])
    tree.links.new(scatter.outputs[0], out.inputs[0])
    field = cube("Field")
    field.modifiers.new("Scatter", "NODES").node_group = tree
    bpy.context.view_layer.update()
    assert len(field.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices) == 0, "no mesh of its own"
    with pytest.raises(read.ReadError, match=r"'Field' makes instances.*Check Scene.*make them real"):
        shape(read, field)


def test_the_own_mesh_of_a_text_is_no_instance_that_it_makes(read: ModuleType) -> None:
    """Blender lists it as one, beside the text."""
    tree = bpy.data.node_groups.new("As it is", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    own, out = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(own.outputs[0], out.inputs[0])
    bpy.ops.object.text_add()
    bpy.context.object.data.extrude = 0.25
    bpy.context.object.modifiers.new("As it is", "NODES").node_group = tree
    assert np.ptp(np.reshape(bounds(read, bpy.context.object), (2, 3))[:, 2]) == pytest.approx(0.5)


def test_empty_mesh_is_named(read: ModuleType) -> None:
    with pytest.raises(read.ReadError, match="'Nothing' has no vertices"):
        shape(read, mesh_object("Nothing", []))


def test_mesh_that_a_modifier_empties_is_named(read: ModuleType) -> None:
    obj = cube("A")
    obj.vertex_groups.new(name="None of them")
    mask = obj.modifiers.new("Mask", "MASK")
    mask.vertex_group = "None of them"
    with pytest.raises(read.ReadError, match="'A' has no vertices after its modifiers are evaluated"):
        shape(read, obj)


@pytest.mark.parametrize("how", ["eye", "screen", "collection"])
def test_hidden_object_is_named(read: ModuleType, how: str) -> None:
    obj = cube("Cloaked")
    obj.modifiers.new("Array", "ARRAY")
    if how == "eye":
        obj.hide_set(True)
    elif how == "screen":
        obj.hide_viewport = True
    else:
        inner = bpy.data.collections.new("Inner")
        bpy.context.scene.collection.children.link(inner)
        inner.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
        inner.hide_viewport = True
    bpy.context.view_layer.update()
    with pytest.raises(read.HiddenError, match="'Cloaked' is hidden"):
        shape(read, obj)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_coordinates_that_are_not_finite_are_named(read: ModuleType, bad: float) -> None:
    obj = cube("Broken")
    points = np.zeros(24, dtype=np.float32)
    points[10] = bad
    obj.data.attributes["position"].data.foreach_set("vector", points)
    obj.data.update()
    reader = import_module(f"{read.__package__}.scene_reader")
    for way in (reader.snapshot_object, read.points, read.bounds):
        with pytest.raises(read.ReadError, match="'Broken' has a vertex whose coordinates are not finite"):
            way(obj, bpy.context.evaluated_depsgraph_get())


def test_matrix_that_is_not_finite_is_named(read: ModuleType) -> None:
    obj = cube("Lost")
    obj.matrix_world = Matrix.Translation((float("inf"), 0.0, 0.0))
    bpy.context.view_layer.update()
    with pytest.raises(read.ReadError, match="The world matrix of 'Lost' is not finite"):
        shape(read, obj)


def test_each_mesh_is_read_once_and_its_hull_made_once(read: ModuleType) -> None:
    geometries = import_module(f"{read.__package__}.geometry").RecentGeometries(2)
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.object
    first = shape(read, obj, geometries)
    assert len(first.hull.vertices) > 8
    obj.location.x += 1.0
    bpy.context.view_layer.update()
    moved = shape(read, obj, geometries)
    assert moved.object.geometry is first.object.geometry
    assert moved.object.state.made == first.object.state.made
    assert moved.object.state.place != first.object.state.place
    obj.data.vertices[0].co.x += 5.0
    obj.data.update()
    assert shape(read, obj, geometries).object.geometry is not first.object.geometry


def test_deepest_dent_moves_along(read: ModuleType) -> None:
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    pit = [(1, 5, 8), (5, 7, 8), (7, 3, 8), (3, 1, 8)]
    obj = mesh_object("Pit", [*corners, (0.0, 0.0, 0.5)], [*quads, *pit])
    assert shape(read, obj).concavity.depth == pytest.approx(0.5)
    obj.location = (3.0, 0.0, 0.0)
    obj.rotation_euler = (0.0, np.pi / 2.0, 0.0)
    dent = shape(read, obj).concavity
    assert dent.depth == pytest.approx(0.5, rel=1e-5)
    assert dent.point == pytest.approx((3.5, 0.0, 0.0), abs=1e-5)
    obj.rotation_euler = (0.0, 0.0, 0.0)
    obj.scale = (1.0, 1.0, 4.0)
    assert shape(read, obj).concavity.depth == pytest.approx(1.0)  # the pit is 2 deep now, and 1 from the sides


def test_convex_primitives_have_no_dent_beyond_the_resolution(read: ModuleType) -> None:
    for add in (bpy.ops.mesh.primitive_uv_sphere_add, bpy.ops.mesh.primitive_cone_add, bpy.ops.mesh.primitive_grid_add):
        add()
        obj = bpy.context.object
        obj.rotation_euler = (0.4, 0.5, 0.6)
        found = shape(read, obj)
        assert found.concavity.depth <= 4.0 * found.step, obj.name
    bpy.ops.mesh.primitive_torus_add()
    assert shape(read, bpy.context.object).concavity.depth > 0.2


@pytest.mark.parametrize("size", [1e-30, 0.75, 1.0, 16777216.0, 3e38])
def test_step_of_float32(read: ModuleType, size: float) -> None:
    float32_step = import_module(f"{read.__package__}.collision_shape").float32_step
    with np.errstate(over="ignore"):
        assert float32_step(size) == np.nextafter(np.float32(size), np.float32(np.inf)) - np.float32(size)


def test_large_local_coordinates_count_for_the_resolution(read: ModuleType) -> None:
    # The mesh lies 1e6 from its own origin, the object brings it back: the steps of 1/16 remain.
    obj = mesh_object("Far", [(1e6, 0, 0), (1e6 + 1, 0, 0), (1e6, 1, 0), (1e6, 0, 1)], [], (-1e6, 0.0, 0.0))
    assert shape(read, obj).step == np.spacing(np.float32(1e6))
