# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as shapes: the geometry that is seen, where it is seen, or a sentence that says why not."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix

from .scenes import add_object, collection_of, cube, edit, geometry_nodes, lens, mesh_object, shape_key, update

pytestmark = pytest.mark.usefixtures("empty_scene")


def snapshot(obj: bpy.types.Object, *geometries: object) -> Any:
    update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return lens.read.scene_reader.snapshot_object(obj, depsgraph, *geometries)


def shape(obj: bpy.types.Object, *geometries: object) -> Any:
    return lens.read.world_shape.WorldShape(snapshot(obj, *geometries))


def bounds(obj: bpy.types.Object) -> list[float]:
    found: list[float] = np.concatenate(shape(obj).hull.bounds).tolist()
    return found


def test_modifiers_are_applied() -> None:
    obj = cube("A")
    obj.modifiers.new("Array", "ARRAY").count = 3  # side by side along X
    assert bounds(obj) == pytest.approx([-1, -1, -1, 5, 1, 1])


def test_shape_keys_are_applied() -> None:
    obj = cube("A")
    key = shape_key(obj)
    for point in key.data:
        point.co.z *= 3.0
    key.value = 0.5
    assert bounds(obj) == pytest.approx([-1, -1, -2, 1, 1, 2])


def refused(obj: bpy.types.Object, words: str) -> None:
    with pytest.raises(lens.geometry.snapshot.ReadError, match=words):
        shape(obj)


def test_edits_in_edit_mode_are_seen() -> None:
    obj = cube("A")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(obj.data)
    bmesh.ops.translate(mesh, verts=mesh.verts, vec=(4.0, 0.0, 0.0))
    bmesh.update_edit_mesh(obj.data)
    assert bounds(obj) == pytest.approx([3, -1, -1, 5, 1, 1])
    bpy.ops.object.mode_set(mode="OBJECT")


def test_parents_with_shear_move_every_vertex_as_blender_does() -> None:
    # A turned child of an unevenly scaled parent is sheared: no location, rotation and scale describe it.
    parent, obj = mesh_object("Parent", []), cube("A", (1.0, 2.0, 3.0))
    parent.scale = (1.0, 3.0, 0.5)
    obj.parent, obj.rotation_euler = parent, (0.4, 0.5, 0.6)
    update()
    expected, found = np.array([obj.matrix_world @ v.co for v in obj.data.vertices]), shape(obj).hull.vertices
    assert len(found) == 8
    in_order = [points[np.lexsort(points.round(4).T)] for points in (found, expected)]
    assert in_order[0] == pytest.approx(in_order[1], abs=1e-5)


def test_vertices_are_transformed_in_float64() -> None:
    obj = cube("A", (0.1, 0.2, 0.3))
    obj.rotation_euler = (0.4, 0.5, 0.6)
    update()
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    exact = np.array([v.co for v in obj.data.vertices], dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    assert np.array_equal(np.sort(shape(obj).hull.vertices, axis=0), np.sort(exact, axis=0))


@pytest.mark.parametrize("count", [1, 8192, 8193])
def test_all_points_are_moved_in_float64_whatever_their_number(count: int) -> None:
    rng = np.random.default_rng(count)
    local, matrix = rng.normal(size=(count, 3)).astype(np.float32), rng.normal(size=(3, 4))
    obj = cloud(local, matrix)
    points = lens.geometry.snapshot.points(obj, bpy.context.evaluated_depsgraph_get())
    matrix = np.array(obj.matrix_world)
    assert (points.dtype, points.shape) == (np.float64, (count, 3))
    np.testing.assert_allclose(points, local.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3], rtol=0, atol=1e-14)
    assert points.T.flags.c_contiguous  # bounds along each axis are one run through memory


def cloud(points: np.ndarray, matrix: np.ndarray) -> bpy.types.Object:
    """An object of loose vertices (n, 3) where its matrix (3, 4) has them; a matrix without shear."""
    obj = mesh_object("Cloud", points)
    obj.matrix_world = Matrix([*matrix.tolist(), [0.0, 0.0, 0.0, 1.0]])
    update()
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
    count: int, stretch: tuple[float, float, float], scale: float, far: float
) -> None:
    rng = np.random.default_rng(count)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    matrix = np.column_stack([turn * stretch, rng.normal(size=3) * scale])
    given = cloud((rng.normal(size=(count, 3)) + far) * scale, matrix), bpy.context.evaluated_depsgraph_get()
    points, (low, high) = lens.geometry.snapshot.points(*given), lens.geometry.snapshot.bounds(*given)
    room = (1e-6 if count > 10_000 else 0.0) * scale * (far + 5.0) * max(stretch)
    for outside, exact in ((-low, (-points).max(axis=0)), (high, points.max(axis=0))):
        assert (outside >= exact).all()
        np.testing.assert_allclose(outside, exact, rtol=1e-12, atol=room + 1e-37)


@pytest.mark.parametrize("count", [2, 20_000])
def test_bounds_beyond_single_precision_are_found_too(count: int) -> None:
    points = np.zeros((count, 3))
    points[:2] = [[3e38, 0.0, 0.0], [-3e38, 1.0, 0.0]]
    obj = cloud(points, np.diag([4.0, 1.0, 1.0, 1.0])[:3])
    low, high = lens.geometry.snapshot.bounds(obj, bpy.context.evaluated_depsgraph_get())
    assert (low[0], high[0]) == pytest.approx((-1.2e39, 1.2e39))


def test_triangles_are_those_that_blender_fills_faces_with() -> None:
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
        update()
        obj.data.calc_loop_triangles()
        wanted = [tuple(triangle.vertices) for triangle in obj.data.loop_triangles]
        _, found = lens.geometry.snapshot.triangles(obj, bpy.context.evaluated_depsgraph_get())
        assert [tuple(triangle) for triangle in found.tolist()] == wanted


def test_other_faces_make_another_geometry() -> None:
    corners = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    objects = [
        mesh_object("A", corners, [(0, 1, 2), (3, 4, 5, 6, 7)]),
        mesh_object("B", corners, [(0, 1, 2, 3), (4, 5, 6, 7)]),
        mesh_object("Broken", corners, [(0, 1), (2, 3, 4, 5)]),
        mesh_object("Triangles", corners, [(0, 1, 2), (3, 4, 5)]),
    ]
    digests = lens.geometry.local_geometry.DigestsOnly()
    states = [snapshot(obj, digests).state for obj in objects]
    assert len({state.made for state in states}) == 4
    assert states == [snapshot(obj).state for obj in objects]


def test_mirrored_object_has_outward_facets() -> None:
    obj = cube("A", (5.0, 0.0, 0.0))
    obj.scale = (-1.0, 2.0, 1.0)
    found = shape(obj)
    assert found.hull.offsets == pytest.approx(np.abs(found.hull.normals @ np.array([1.0, 2.0, 1.0])))
    assert (found.concavity.is_closed, found.concavity.missing_fraction) == (True, pytest.approx(0.0, abs=1e-6))


def test_scale_of_zero_makes_a_flat_shape() -> None:
    obj = cube("A")
    obj.scale = (1.0, 1.0, 0.0)
    assert shape(obj).hull.rank == 2


def test_curve_text_surface_and_metaball_are_read_through_their_mesh() -> None:
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0)
    bpy.context.object.data.extrude = 0.5
    assert bounds(bpy.context.object) == pytest.approx([-2, -2, -0.5, 2, 2, 0.5], abs=1e-3)
    for add, rank in (
        (bpy.ops.object.text_add, 2),
        (bpy.ops.surface.primitive_nurbs_surface_sphere_add, 3),
        (bpy.ops.object.metaball_add, 3),
    ):
        add()
        assert shape(bpy.context.object).hull.rank == rank


@pytest.mark.parametrize("kind", ["CAMERA", "LIGHT", "EMPTY", "ARMATURE", "LATTICE", "SPEAKER"])
def test_objects_without_a_surface_are_named(kind: str) -> None:
    if kind == "LIGHT":
        bpy.ops.object.light_add()
    else:
        bpy.ops.object.add(type=kind)
    bpy.context.object.name = "The One"
    refused(bpy.context.object, f"'The One' is of type {kind.lower()}, which has no surface")


def test_instances_are_not_left_out_silently() -> None:
    copies, parent, child = add_object("Copies"), cube("Parent"), cube("Child")
    copies.instance_type, parent.instance_type = "COLLECTION", "VERTS"
    child.parent = parent
    refused(copies, "'Copies' is a collection instance")
    refused(parent, "'Parent' makes instances")


def test_an_object_of_nothing_but_instances_is_refused_for_them() -> None:
    field = cube("Field")
    link, own, out, thing, scatter = geometry_nodes(field, "GeometryNodeMeshCube", "GeometryNodeInstanceOnPoints")
    link(own.outputs[0], scatter.inputs["Points"])
    link(thing.outputs[0], scatter.inputs["Instance"])
    link(scatter.outputs[0], out.inputs[0])
    update()
    assert len(field.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices) == 0, "no mesh of its own"
    refused(field, r"'Field' makes instances.*Check Scene.*make them real")


def test_the_own_mesh_of_a_text_is_no_instance_that_it_makes() -> None:
    """Blender lists it as one, beside the text."""
    bpy.ops.object.text_add()
    bpy.context.object.data.extrude = 0.25
    link, own, out = geometry_nodes(bpy.context.object)
    link(own.outputs[0], out.inputs[0])
    assert np.ptp(np.reshape(bounds(bpy.context.object), (2, 3))[:, 2]) == pytest.approx(0.5)


def test_meshes_without_vertices_are_named() -> None:
    refused(mesh_object("Nothing", []), "'Nothing' has no vertices")
    obj = cube("A")
    obj.modifiers.new("Mask", "MASK").vertex_group = obj.vertex_groups.new(name="None of them").name
    refused(obj, "'A' has no vertices after its modifiers are evaluated")


@pytest.mark.parametrize("how", ["eye", "screen", "collection"])
def test_hidden_object_is_named(how: str) -> None:
    obj = cube("Cloaked")
    inner = collection_of("Inner", obj)
    bpy.context.scene.collection.objects.unlink(obj)
    obj.modifiers.new("Array", "ARRAY")
    obj.hide_set(how == "eye")
    obj.hide_viewport, inner.hide_viewport = how == "screen", how == "collection"
    update()
    with pytest.raises(lens.geometry.snapshot.HiddenError, match="'Cloaked' is hidden"):
        shape(obj)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_coordinates_that_are_not_finite_are_named(bad: float) -> None:
    obj = cube("Broken")
    points = np.zeros(24, dtype=np.float32)
    points[10] = bad
    obj.data.attributes["position"].data.foreach_set("vector", points)
    obj.data.update()
    reader = lens.read.scene_reader
    for way in (reader.snapshot_object, lens.geometry.snapshot.points, lens.geometry.snapshot.bounds):
        with pytest.raises(
            lens.geometry.snapshot.ReadError,
            match=r"'Broken' has a vertex whose coordinates are not finite: remove vertex 3$",
        ):
            way(obj, bpy.context.evaluated_depsgraph_get())


def test_what_makes_coordinates_that_are_not_finite_is_named() -> None:
    obj = cube("Broken")
    key = shape_key(obj)
    key.value = 1.0
    key.data[3].co.x = float("nan")
    update()
    refused(obj, "'Broken' has a vertex whose coordinates are not finite: change the shape key 'Key'")
    obj.shape_key_clear()
    link, own, out, place, product = geometry_nodes(obj, "GeometryNodeSetPosition", "ShaderNodeMath")
    product.operation = "MULTIPLY"
    product.inputs[0].default_value, product.inputs[1].default_value = 3e38, 10.0
    link(own.outputs[0], place.inputs[0]), link(product.outputs[0], place.inputs["Offset"])
    link(place.outputs[0], out.inputs[0])
    refused(obj, "'Broken' has a vertex whose coordinates are not finite: change the modifier 'Nodes'")
    obj.modifiers.new("Mirror", "MIRROR")
    refused(obj, "'Broken' has a vertex whose coordinates are not finite: change its modifiers")


def test_matrix_that_is_not_finite_is_named() -> None:
    obj = cube("Lost")
    obj.matrix_world = Matrix.Translation((float("inf"), 0.0, 0.0))
    refused(obj, "The world matrix of 'Lost' is not finite")


def test_each_mesh_is_read_once_and_its_hull_made_once() -> None:
    geometries = lens.geometry.local_geometry.RecentGeometries()
    obj = cube("A")
    first = snapshot(obj, geometries)
    obj.location.x += 1.0
    moved = snapshot(obj, geometries)
    assert moved.geometry is first.geometry
    assert (moved.state.made == first.state.made, moved.state.place == first.state.place) == (True, False)
    edit(obj, 5.0)
    assert snapshot(obj, geometries).geometry is not first.geometry


def pit() -> bpy.types.Object:
    """A cube whose top is a pit of four triangles."""
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    return mesh_object("Pit", [*corners, (0.0, 0.0, 0.5)], [*quads, (1, 5, 8), (5, 7, 8), (7, 3, 8), (3, 1, 8)])


def test_deepest_dent_moves_along() -> None:
    obj = pit()
    for turn, height, depth, point in (
        (0.0, 1.0, 0.5, (3.0, 0.0, 0.5)),
        (np.pi / 2.0, 1.0, 0.5, (3.5, 0.0, 0.0)),
        (0.0, 4.0, 1.0, None),  # the pit is 2 deep now, and 1 from the sides
    ):
        obj.location, obj.rotation_euler, obj.scale = (3.0, 0.0, 0.0), (0.0, turn, 0.0), (1.0, 1.0, height)
        concavity = shape(obj).concavity
        assert concavity.depth == pytest.approx(depth, rel=1e-5)
        assert point is None or concavity.point == pytest.approx(point, abs=1e-5)


def test_a_dent_is_searched_no_farther_than_it_counts() -> None:
    geometry = snapshot(pit()).geometry
    near = geometry.concavity(0.1)
    assert 0.1 < near.depth <= 0.5
    assert geometry.concavity(0.05) is near, "this depth is enough, too"
    whole = geometry.concavity(0.6)
    assert whole is not near
    assert whole.depth == 0.5


def test_convex_primitives_have_no_dent_beyond_the_resolution() -> None:
    for add in (bpy.ops.mesh.primitive_uv_sphere_add, bpy.ops.mesh.primitive_cone_add, bpy.ops.mesh.primitive_grid_add):
        add()
        obj = bpy.context.object
        obj.rotation_euler = (0.4, 0.5, 0.6)
        found = shape(obj)
        assert found.concavity.depth <= 4.0 * found.step, obj.name
    bpy.ops.mesh.primitive_torus_add()
    assert shape(bpy.context.object).concavity.depth > 0.2


@pytest.mark.parametrize("size", [1e-30, 0.75, 1.0, 16777216.0, 3e38])
def test_step_of_float32(size: float) -> None:
    float32_step = lens.geometry.collision_shape.float32_step
    with np.errstate(over="ignore"):
        assert float32_step(size) == np.nextafter(np.float32(size), np.float32(np.inf)) - np.float32(size)


def test_large_local_coordinates_count_for_the_resolution() -> None:
    # The mesh lies 1e6 from its own origin, the object brings it back: the steps of 1/16 remain.
    obj = mesh_object("Far", [(1e6, 0, 0), (1e6 + 1, 0, 0), (1e6, 1, 0), (1e6, 0, 1)], [(0, 1, 2)], (-1e6, 0.0, 0.0))
    assert shape(obj).step == np.spacing(np.float32(1e6))
