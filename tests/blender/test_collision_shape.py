# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects collide as: primitives fitted to them, what their rigid bodies say, and what is told of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType

import bpy
import numpy as np
import pytest
from mathutils import Vector

from .scenes import cube, inspect, mesh_object, select

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")

PRIMITIVES = ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE")


@pytest.fixture
def read(part: Part) -> Callable[[bpy.types.Object], object]:
    reader, shapes = part("blender_addon.read.scene_reader"), part("blender_addon.read.world_shape")
    return lambda obj: shapes.WorldShape(reader.snapshot_object(obj, bpy.context.evaluated_depsgraph_get()))


def block(name: str, size: object, location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC") -> bpy.types.Object:
    """A box-shaped mesh of this size."""
    obj = cube(name, location)
    for vertex in obj.data.vertices:
        vertex.co *= 0.5
        for k in range(3):
            vertex.co[k] *= size[k]
    obj.data.update()
    obj.contact_lens_shape = kind
    bpy.context.view_layer.update()
    return obj


def found(part: Part) -> object:
    inspection = part("blender_addon.check.session").current(bpy.context)
    assert inspection is not None
    return inspection


def lines(part: Part) -> dict[str, str]:
    report = part("blender_addon.report.pair")
    return dict(report.report_lines(report.inspected(bpy.context)))


def warnings(part: Part) -> list[str]:
    report = part("blender_addon.report.pair")
    return report.warnings(report.inspected(bpy.context))


# --- how primitives are fitted ----------------------------------------------------------------------------------------


def test_primitives_fit_the_local_bounding_box(read) -> None:
    obj = block("A", (2.0, 3.0, 8.0), (10.0, 0.0, 0.0))
    expected = {  # half size along x, y, z
        "BOX": (1.0, 1.5, 4.0),
        "SPHERE": (4.0, 4.0, 4.0),
        "CAPSULE": (1.5, 1.5, 4.0),
        "CYLINDER": (1.5, 1.5, 4.0),
        "CONE": (1.5, 1.5, 4.0),
    }
    for kind, half in expected.items():
        obj.contact_lens_shape = kind
        shape = read(obj)
        assert shape.kind == kind
        low, high = shape.solid.bounds
        assert 0.5 * (high - low) == pytest.approx(half), kind
        assert 0.5 * (high + low) == pytest.approx((10.0, 0.0, 0.0)), kind


def test_the_apex_of_a_cone_is_up_and_turns_with_the_object(read) -> None:
    obj = block("A", (2.0, 2.0, 4.0), kind="CONE")
    assert read(obj).solid.end == pytest.approx((0.0, 0.0, 2.0))
    obj.rotation_euler = (0.0, np.radians(90.0), 0.0)
    bpy.context.view_layer.update()
    assert read(obj).solid.end == pytest.approx((2.0, 0.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_scale_counts_as_if_it_had_been_applied(read, kind: str) -> None:
    scaled = block("A", (2.0, 3.0, 1.0), (1.0, 2.0, 3.0), kind)
    scaled.scale = (0.5, 2.0, -7.0)
    scaled.rotation_euler = (0.3, 0.4, 0.5)
    applied = block("B", (1.0, 6.0, 7.0), (1.0, 2.0, 3.0), kind)
    applied.rotation_euler = (0.3, 0.4, 0.5)
    bpy.context.view_layer.update()
    ways = np.random.default_rng(1).normal(size=(50, 3))
    if kind == "CONE":  # the mirror turns it upside down, as it does the mesh
        applied.scale = (1.0, 1.0, -1.0)
        bpy.context.view_layer.update()
    one, other = read(scaled).solid, read(applied).solid
    for way in ways:
        reach = [np.max(s.vertices @ way) if kind == "BOX" else s.supports([way])[0] @ way for s in (one, other)]
        assert reach[0] == pytest.approx(reach[1], rel=1e-5, abs=1e-5)


def test_a_capsule_is_never_lower_than_a_sphere(read) -> None:
    solid = read(block("A", (4.0, 2.0, 1.0), kind="CAPSULE")).solid
    low, high = solid.bounds
    assert high - low == pytest.approx((4.0, 4.0, 4.0))


def test_an_off_centre_mesh_is_fitted_where_it_is(read) -> None:
    obj = mesh_object("A", [(5, 0, 0), (7, 0, 0), (5, 2, 0), (5, 0, 4)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    obj.contact_lens_shape = "CYLINDER"
    solid = read(obj).solid
    assert solid.start == pytest.approx((6.0, 1.0, 0.0))
    assert solid.end == pytest.approx((6.0, 1.0, 4.0))


@pytest.mark.parametrize("kind", ["CYLINDER", "CONE"])
def test_too_flat_for_a_shape_is_told(part: Part, kind: str) -> None:
    flat = mesh_object("Flat", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    flat.contact_lens_shape = kind
    select(flat, cube("B"))
    with pytest.raises(RuntimeError, match=r"'Flat' is flat along its local Z axis, and a c.* needs a height"):
        bpy.ops.contact_lens.inspect()
    wire = mesh_object("Wire", [(0, 0, 0), (0, 0, 1)])
    wire.contact_lens_shape = kind
    select(wire, cube("B"))
    with pytest.raises(RuntimeError, match="'Wire' has no width across its local Z"):
        bpy.ops.contact_lens.inspect()


def test_how_far_a_primitive_is_from_the_mesh(read) -> None:
    root = np.sqrt(2.0)
    for kind, out, beyond in (
        ("BOX", 0.0, 0.0),
        ("SPHERE", np.sqrt(3.0) - 1.0, 0.0),  # corners; a sphere in the box does not reach beyond it
        ("CYLINDER", root - 1.0, 0.0),
        ("CAPSULE", np.sqrt(3.0) - 1.0, 0.0),
        # The upper corners, at (sqrt 2, 1) in the half plane with the side from (1, -1) to (0, 1).
        ("CONE", (2.0 * root - 0.0) / np.sqrt(5.0), 0.0),
    ):
        fit = read(block("A", (2.0, 2.0, 2.0), kind=kind)).fit
        assert fit.sticks_out == pytest.approx(out, abs=1e-9), kind
        assert fit.reaches_beyond == pytest.approx(beyond, abs=1e-6), kind
    fit = read(block("Long", (2.0, 2.0, 6.0), kind="SPHERE")).fit
    assert fit.reaches_beyond == pytest.approx(2.0, rel=0.02)  # radius 3, half width 1
    fit = read(block("Plate", (2.0, 4.0, 6.0), kind="CYLINDER")).fit
    assert fit.reaches_beyond == pytest.approx(1.0, rel=0.02)


# --- what decides -----------------------------------------------------------------------------------------------------


def test_automatic_follows_the_rigid_body(part: Part) -> None:
    a, b = cube("A"), cube("B", (2.5, 0.0, 0.0))
    inspect(a, b)
    assert (found(part).proxy_a.kind, found(part).proxy_b.kind) == ("CONVEX_HULL", "CONVEX_HULL")
    select(a)
    bpy.ops.rigidbody.object_add()
    a.rigid_body.collision_shape = "SPHERE"
    inspect(a, b)
    assert found(part).proxy_a.kind == "SPHERE"
    assert found(part).contact.signed_distance == pytest.approx(0.5)
    assert lines(part)["A as"] == "sphere, at its origin, as its rigid body"
    assert lines(part)["B as"] == "convex hull, automatic"
    a.contact_lens_shape = "BOX"  # what is chosen here counts more
    inspect(a, b)
    assert found(part).proxy_a.kind == "BOX"
    assert lines(part)["A as"] == "box, fitted"


def test_the_choice_is_the_objects_and_is_saved_with_the_file(part: Part, tmp_path) -> None:
    a = cube("A")
    a.contact_lens_shape = "CAPSULE"
    copy = a.copy()
    assert copy.contact_lens_shape == "CAPSULE"
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["A"].contact_lens_shape == "CAPSULE"


def test_the_choice_is_undone() -> None:
    cube("A")
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["A"].contact_lens_shape = "CONE"
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert bpy.data.objects["A"].contact_lens_shape == "AUTOMATIC"


def test_linked_objects_say_why_and_overrides_can_be_set(part: Part, tmp_path) -> None:
    cube("A")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["A"]
    linked = wanted.objects[0]
    shapes = part("blender_addon.read.collision_shape")
    assert "make a library override" in shapes.readonly_reason(linked)
    bpy.context.scene.collection.objects.link(linked)
    override = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    override.override_library.is_system_override = False
    assert shapes.readonly_reason(override) == ""
    override.contact_lens_shape = "BOX"
    saved = str(tmp_path / "user.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    bpy.ops.wm.open_mainfile(filepath=saved)
    (kept,) = [obj for obj in bpy.data.objects if obj.override_library is not None]
    assert kept.contact_lens_shape == "BOX"


def test_a_changed_choice_makes_the_result_stale(part: Part) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    session = part("blender_addon.check.session")
    assert not session.stale_reason(bpy.context)
    b.contact_lens_shape = "SPHERE"
    assert session.stale_reason(bpy.context) == "the collision shape of 'B' has changed"
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert found(part).proxy_b.kind == "SPHERE"
    assert not session.stale_reason(bpy.context)


# --- what comes of it -------------------------------------------------------------------------------------------------


def test_spheres_are_as_far_apart_as_their_centres_less_the_radii(part: Part) -> None:
    for x in (5.0, 2.0, 1.0):
        a = block(f"A{x}", (2.0, 2.0, 2.0), (0.0, 0.0, 0.0), "SPHERE")
        b = block(f"B{x}", (1.0, 1.0, 1.0), (x, 0.0, 0.0), "SPHERE")
        inspect(a, b)
        c = found(part).contact
        assert c.signed_distance == pytest.approx(x - 1.5)
        assert c.normal == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)
        assert found(part).verification.ok


@pytest.mark.parametrize("kind_a", PRIMITIVES)
@pytest.mark.parametrize("kind_b", [*PRIMITIVES, "CONVEX_HULL"])
def test_every_pair_of_shapes_is_inspected_told_and_drawn(part: Part, kind_a: str, kind_b: str) -> None:
    a = block("A", (2.0, 2.0, 3.0), (0.0, 0.0, 0.0), kind_a)
    b = block("B", (1.0, 1.5, 2.0), (0.6, 0.3, 2.0), kind_b)
    b.rotation_euler = (0.4, 0.3, 0.2)
    inspect(a, b)
    inspection = found(part)
    assert inspection.verification.ok, [c for c in inspection.verification.checks if not c.ok]
    report = part("blender_addon.report.pair")
    data = report.report(bpy.context)
    assert report.to_json(data)
    assert [data["objects"][k]["inspected_as"] for k in "ab"] == [kind_a.lower(), kind_b.lower()]
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    names = [layer.name for layer in geometry.layers(inspection, geometry.Style(preferences.DEFAULT_LOOK))]
    assert {"hull a", "hull b", "vector"} <= set(names)
    assert part("blender_addon.draw.picture").camera(inspection, 1.5)


def test_a_cylinder_on_a_box_meets_it_in_a_disk(part: Part) -> None:
    inspect(block("A", (4.0, 4.0, 2.0)), block("B", (2.0, 2.0, 2.0), (0.0, 0.0, 1.9), "CYLINDER"))
    region = found(part).contact.region
    assert region.area == pytest.approx(np.pi, rel=1e-6)
    assert lines(part)["Region"] == "Polygon, round"
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    layers = {x.name: x.glyphs for x in geometry.layers(found(part), geometry.Style(preferences.DEFAULT_LOOK))}
    corners = layers["region"]["start"].reshape(-1, 3, 3).astype(float)
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    assert area == pytest.approx(np.pi, rel=0.01)


def test_separate_moves_a_fitted_shape_out(part: Part) -> None:
    a, b = block("A", (2.0, 2.0, 2.0), kind="SPHERE"), block("B", (2.0, 2.0, 4.0), (1.2, 0.3, 0.5), "CAPSULE")
    inspect(a, b)
    assert found(part).contact.depth > 0.5
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert found(part).contact.relation == "touching"


def test_what_sticks_out_is_warned_about(part: Part) -> None:
    inspect(block("A", (2.0, 2.0, 2.0), kind="CYLINDER"), cube("B", (4.0, 0.0, 0.0)))
    assert warnings(part) == ["'A' extends beyond its cylinder by up to 41.421 cm"] or warnings(part) == [
        "'A' extends beyond its cylinder by up to 0.41421 m"
    ]
    assert "(as cylinder and convex hull)" in part("blender_addon.report.pair").one_line(found(part))


def rigid(obj: bpy.types.Object, shape: str) -> None:
    select(obj)
    bpy.ops.rigidbody.object_add()
    obj.rigid_body.collision_shape = shape


def test_a_rigid_bodys_primitive_is_where_the_simulation_has_it(read) -> None:
    # The numbers of Bullet, by RigidBodyWorld.convex_sweep_test against a wall: half sizes along x, y, z. Its cone has
    # 0.04 of collision margin more.
    expected = {
        "BOX": ((1.0, 1.5, 4.0), (2.0, 4.5, 2.0)),
        "SPHERE": ((4.0, 4.0, 4.0), (8.0, 8.0, 8.0)),
        "CAPSULE": ((1.5, 1.5, 4.0), (4.5, 4.5, 5.75)),
        "CYLINDER": ((1.5, 1.5, 4.0), (3.0, 3.0, 2.0)),
        "CONE": ((1.5, 1.5, 4.0), (3.75, 3.75, 2.0)),
    }
    obj = block("A", (2.0, 3.0, 8.0), (10.0, 0.0, 0.0))
    for vertex in obj.data.vertices:
        vertex.co += Vector((0.5, 0.7, 0.9))
    rigid(obj, "BOX")
    for kind, halves in expected.items():
        obj.rigid_body.collision_shape = kind
        for scale, half in zip(((1.0, 1.0, 1.0), (2.0, 3.0, 0.5)), halves, strict=True):
            obj.scale = scale
            bpy.context.view_layer.update()
            shape = read(obj)
            assert (shape.kind, shape.object.choice.source) == (kind, "rigid_body")
            low, high = shape.solid.bounds
            assert 0.5 * (high - low) == pytest.approx(half, rel=1e-6), kind
            assert 0.5 * (high + low) == pytest.approx((10.0, 0.0, 0.0), abs=1e-6), kind
    obj.scale = (1.0, 1.0, 1.0)
    obj.contact_lens_shape = "BOX"  # picked, it is where the mesh is
    bpy.context.view_layer.update()
    assert read(obj).solid.bounds[0] == pytest.approx((9.5, -0.8, -3.1))


def test_a_box_that_is_not_where_its_mesh_is_tells_how_far_that_sticks_out(read) -> None:
    obj = block("A", (2.0, 2.0, 2.0))
    for vertex in obj.data.vertices:
        vertex.co += Vector((0.3, 0.4, 0.0))
    rigid(obj, "BOX")
    bpy.context.view_layer.update()
    fit = read(obj).fit
    assert fit.sticks_out == pytest.approx(0.5)
    assert fit.reaches_beyond == pytest.approx(0.5, abs=1e-6)


def test_what_of_a_rigid_body_is_not_followed_is_told(part: Part) -> None:
    a, b = cube("A"), cube("B", (4.0, 0.0, 0.0))
    rigid(a, "CONVEX_HULL")
    inspect(a, b)
    assert warnings(part) == []
    a.modifiers.new("Round", "BEVEL")
    inspect(a, b)
    assert warnings(part) == [
        "'A' is simulated without its modifiers (Source: Deform), while the final mesh is used here"
    ]
    a.rigid_body.mesh_source = "FINAL"
    a.rigid_body.use_margin = True
    inspect(a, b)
    assert warnings(part) == ["'A' is simulated with a collision margin, which is ignored here"]


def test_the_children_of_a_compound_parent_are_its_pieces(part: Part) -> None:
    parent, b = cube("Parent", (0.0, 0.0, 50.0)), cube("B", (1.2, 1.2, 0.0), 1.0)
    arms = block("Lower", (3.0, 1.0, 1.0), (0.5, -0.5, 0.0)), block("Left", (1.0, 3.0, 1.0), (-0.5, 0.5, 0.0))
    rigid(parent, "COMPOUND")
    inspect(parent, b)
    (warning,) = warnings(part)
    assert "is a compound parent rigid body without child rigid bodies: its convex hull is used" in warning
    for arm in arms:
        rigid(arm, "BOX")
        arm.parent = parent
        arm.matrix_parent_inverse = parent.matrix_world.inverted()
    inspect(parent, b)  # in the notch of an L: 0.7 from both arms
    assert found(part).contact.signed_distance == pytest.approx(0.7, rel=1e-5)
    assert found(part).verification.ok
    assert lines(part)["A as"] == "compound, 2 pieces, exact, as its rigid body"
    assert warnings(part) == []
    arms[0].location.y += 0.5
    bpy.context.view_layer.update()
    assert part("blender_addon.check.session").stale_reason(bpy.context) == "'Parent' has changed"
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert found(part).contact.signed_distance == pytest.approx(0.2, rel=1e-5)
    arms[1].rigid_body.collision_shape = "SPHERE"
    inspect(parent, b)
    # The sphere stays round: its radius less the distance of its middle from the nearest edge of the cube.
    depth = 1.5 - np.hypot(1.2, 0.2)
    assert found(part).contact.depth == pytest.approx(depth, abs=1e-6)
    assert found(part).contact.status == "certified"
    assert lines(part)["A as"] == "compound, 2 pieces, exact, as its rigid body"
    assert warnings(part) == []
    assert found(part).verification.ok, found(part).verification
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    assert geometry.layers(found(part), geometry.Style(preferences.DEFAULT_LOOK))
    report = part("blender_addon.report.pair")
    assert report.to_json(report.report(bpy.context))
    b.contact_lens_shape = "MESH"
    inspect(parent, b)
    assert found(part).contact.depth == pytest.approx(depth, abs=1e-6)
    assert found(part).verification.ok, found(part).verification


def test_a_compound_parent_within_another_is_part_of_it(part: Part) -> None:
    """As in Blender's simulation: on a pillar under the innermost one the whole tilts, and the meshes of parents do not
    count."""
    outer, inner, leaf = cube("Outer"), cube("Inner", (0.0, 3.0, 0.0)), cube("Leaf", (0.0, 6.0, 0.0))
    other, wall = cube("Other", (0.0, -3.0, 0.0)), cube("Wall", (2.5, 6.5, 0.0))
    for obj, kind in ((outer, "COMPOUND"), (inner, "COMPOUND"), (leaf, "BOX"), (other, "BOX")):
        rigid(obj, kind)
    for child, parent in ((inner, outer), (other, outer), (leaf, inner)):
        child.parent = parent
        child.matrix_parent_inverse = parent.matrix_world.inverted()
    inspect(outer, wall)
    assert found(part).contact.signed_distance == pytest.approx(0.5, abs=1e-6)
    assert lines(part)["A as"] == "compound, 2 pieces, exact, as its rigid body"
    wall.location = (2.5, 3.0, 0.0)  # beside the mesh of the inner parent
    inspect(outer, wall)
    assert found(part).contact.signed_distance == pytest.approx(np.hypot(0.5, 1.0), abs=1e-6)
    leaf.location.x += 1.0
    bpy.context.view_layer.update()
    assert part("blender_addon.check.session").stale_reason(bpy.context) == "'Outer' has changed"
    # A parent without children is nothing to the simulation: it falls past a pillar that is only under that.
    leaf.parent = None
    wall.location = (2.5, -3.0, 0.0)
    inspect(outer, wall)
    assert found(part).contact.signed_distance == pytest.approx(0.5, abs=1e-6)
    assert lines(part)["A as"] == "compound, 1 piece, exact, as its rigid body"
    inner.contact_lens_shape = "BOX"
    inspect(outer, wall)
    assert lines(part)["A as"] == "compound, 2 pieces, exact, as its rigid body"
    leaf.parent, inner.contact_lens_shape = inner, "AUTOMATIC"
    bpy.context.view_layer.update()
    scene_check = part("blender_addon.read.scene")
    given = scene_check.read_input(bpy.context, part("blender_addon.data.records").Rules(ignore_parents=False))
    assert [given.objects[k].name for k in given.first] == ["Outer", "Wall"]


# --- automatic --------------------------------------------------------------------------------------------------------


def test_an_open_mesh_that_nobody_chose_has_the_depth_of_its_pieces(part: Part) -> None:
    bpy.ops.mesh.primitive_monkey_add()
    suzanne, b = bpy.context.object, cube("B", (1.5, 0.3, 0.8))
    inspect(suzanne, b)
    inspection = found(part)
    assert inspection.contact.status == "of_pieces"
    assert inspection.contact.depth > 0.0
    assert inspection.contact.curves
    assert inspection.verification.ok, inspection.verification
    assert lines(part)["Depth of Pieces"] == inspection.units.length(inspection.contact.depth)
    labels = part("blender_addon.draw.overlay_labels")
    assert labels.vector_label(inspection, inspection.units.length).startswith("depth of pieces ")
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}  # the meshes share nothing then
    assert found(part).contact.relation in ("separated", "touching")
    bpy.ops.contact_lens.clear()
    b.location = (1.5, 0.3, 0.8)
    suzanne.contact_lens_shape = "MESH"  # chosen, an open mesh is a bare surface
    inspect(suzanne, b)
    assert not found(part).contact.has_depth


# --- compounds and meshes ---------------------------------------------------------------------------------------------


def l_shape(name: str, location: object = (0.0, 0.0, 0.0), kind: str = "COMPOUND") -> bpy.types.Object:
    """A block of 3 x 3 x 1 less its upper right block of 2 x 2 x 1."""
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [(k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6) for k in range(6)]
    obj = mesh_object(name, points, [tuple(range(5, -1, -1)), tuple(range(6, 12)), *sides], location)
    obj.contact_lens_shape = kind
    return obj


def torus(name: str, location: object, kind: str) -> bpy.types.Object:
    bpy.ops.mesh.primitive_torus_add(location=location, major_segments=24, minor_segments=12)
    obj = bpy.context.object
    obj.name = name
    obj.contact_lens_shape = kind
    return obj


@pytest.mark.parametrize("swapped", [False, True])
def test_a_compound_meets_a_mesh(part: Part, swapped: bool) -> None:
    a, b = l_shape("A", kind="COMPOUND"), l_shape("B", (1.3, 1.2, 0.0), "MESH")
    pair = (b, a) if swapped else (a, b)
    inspect(*pair)
    c = found(part).contact
    assert c.depth == pytest.approx(0.0, abs=1e-6)  # in the notch: 0.3 and 0.2 free
    b.location = (0.7, 0.8, 0.0)
    inspect(*pair)
    c = found(part).contact
    assert c.depth == pytest.approx(np.hypot(0.3, 0.2), rel=1e-4)
    assert c.status == "certified"
    assert found(part).verification.ok, found(part).verification
    assert not any("crosses itself" in text for text in warnings(part)), "its pieces do, not the object"
    b.location = (4.0, 0.5, 0.0)
    inspect(*pair)
    assert found(part).contact.signed_distance == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("AUTOMATIC", "mesh, solid, automatic"), ("COMPOUND", "compound, 2 pieces, exact"), ("MESH", "mesh, solid")],
)
def test_a_cube_in_the_notch_of_an_l_and_pressed_into_it(part: Part, kind: str, shown: str) -> None:
    # The hull of the L contains the cube; the L itself is 0.2 away from it on both sides.
    a, b = l_shape("L", kind=kind), cube("B", (1.7, 1.7, 0.5), 1.0)
    inspect(a, b)
    c = found(part).contact
    assert (c.relation, c.signed_distance) == ("separated", pytest.approx(0.2, rel=1e-5))
    assert found(part).verification.ok
    assert lines(part)["A as"] == shown
    b.location = (1.3, 1.2, 0.5)
    inspect(a, b)
    c = found(part).contact
    assert c.depth == pytest.approx(np.hypot(0.2, 0.3), rel=1e-4)
    assert c.mtv == pytest.approx((0.2, 0.3, 0.0), abs=1e-4)
    assert c.status == "certified"
    assert found(part).verification.ok, found(part).verification
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert found(part).contact.relation == "touching"
    a.contact_lens_shape = "CONVEX_HULL"
    inspect(a, b)
    assert found(part).contact.depth > 0.1


CUP = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]


def test_a_compound_that_would_become_its_hull_is_refused_by_name(part: Part) -> None:
    """The hull of a ring fills its hole: an answer about that is none about the ring."""
    ring, ball = torus("Ring", (0.0, 0.0, 0.0), "COMPOUND"), cube("B", size=0.2)
    select(ring, ball)
    words = r"edges bend inward and 48 are allowed. Choose Mesh or Convex Hull as its collision shape, or simplify it"
    with pytest.raises(RuntimeError, match=rf"'Ring' cannot collide as a compound: (\d+) {words}"):
        bpy.ops.contact_lens.inspect()
    assert part("blender_addon.check.session").current(bpy.context) is None
    lid = mesh_object("Cup", [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, -1)], CUP)
    lid.contact_lens_shape = "COMPOUND"
    select(lid, ball)
    with pytest.raises(RuntimeError, match=r"'Cup' cannot collide as a compound: the mesh is not closed. Choose"):
        bpy.ops.contact_lens.inspect()
    for kind, relation in (("MESH", "separated"), ("CONVEX_HULL", "b_inside_a")):
        ring.contact_lens_shape = kind
        inspect(ring, ball)
        assert found(part).contact.relation == relation, "what the reason says to choose works"


@pytest.mark.parametrize("kind", ["COMPOUND", "MESH"])
def test_a_translation_that_ends_in_a_notch_is_said_to(part: Part, kind: str) -> None:
    """A tooth that is moved sideways into a slot of its width."""
    outline = [(0, 0), (5, 0), (5, 4), (3, 4), (3, 1), (2, 1), (2, 4), (0, 4)]
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [(k, (k + 1) % 8, (k + 1) % 8 + 8, k + 8) for k in range(8)]
    slot = mesh_object("Slot", points, [tuple(range(7, -1, -1)), tuple(range(8, 16)), *sides])
    slot.contact_lens_shape = kind
    tooth = block("Tooth", (1.0, 4.0, 1.0), (2.25, 3.5, 0.5), "MESH")
    inspect(slot, tooth)
    assert found(part).contact.mtv == pytest.approx((0.25, 0.0, 0.0), abs=1e-5)
    assert found(part).verification.ok, found(part).verification
    assert any("ends in a notch" in text for text in warnings(part))
    tooth.location.x = 3.5
    inspect(slot, tooth)
    assert not any("ends in a notch" in text for text in warnings(part)), "1 into the slot, and 1 upward into the open"


def test_a_part_of_a_compound_parent_does_not_become_its_hull(part: Part) -> None:
    """Its mesh has to be cut in pieces, as a part that is chosen to be a compound has."""
    bpy.ops.rigidbody.world_add()
    parent, ring, ball = cube("Parent"), torus("Ring", (0.0, 0.0, 0.0), "AUTOMATIC"), cube("B", size=0.2)
    rigid(parent, "COMPOUND")
    rigid(ring, "MESH")
    ring.parent = parent
    bpy.context.view_layer.update()
    select(parent, ball)
    words = r"edges bend inward and 48 are allowed. Choose Convex Hull as its collision shape, or simplify it"
    with pytest.raises(RuntimeError, match=rf"'Parent' cannot collide: its part 'Ring' cannot .*: \d+ {words}"):
        bpy.ops.contact_lens.inspect()
    ring.contact_lens_shape = "COMPOUND"
    with pytest.raises(RuntimeError, match=r"'Ring' cannot collide as a compound: \d+ edges bend inward"):
        bpy.ops.contact_lens.inspect()
    ring.contact_lens_shape = "CONVEX_HULL"
    inspect(parent, ball)
    assert found(part).contact.relation == "b_inside_a"


def test_linked_rings_are_apart_as_meshes(part: Part) -> None:
    a = torus("A", (0.0, 0.0, 0.0), "MESH")
    b = torus("B", (1.0, 0.0, 0.0), "MESH")
    b.rotation_euler = (np.radians(90.0), 0.0, 0.0)
    inspect(a, b)
    assert found(part).contact.relation == "separated"
    assert not warnings(part)
    assert "(as mesh and mesh)" in part("blender_addon.report.pair").one_line(found(part))


def test_crossing_meshes_show_the_curves_in_which_they_meet(part: Part) -> None:
    a, b = torus("A", (0.0, 0.0, 0.0), "MESH"), cube("B", (1.0, 0.0, 0.0), 0.3)
    b.scale.z = 4.0
    inspect(a, b)
    assert len(found(part).contact.curves) == 2  # in at the top and out at the bottom
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    names = [x.name for x in geometry.layers(found(part), geometry.Style(preferences.DEFAULT_LOOK))]
    assert "curves" in names
    assert lines(part)["Contact Curves"].startswith("2, ")
    assert part("blender_addon.draw.picture").camera(found(part), 1.5)


def test_a_smooth_mesh_is_drawn_too(part: Part) -> None:
    bpy.ops.mesh.primitive_torus_add(major_segments=48, minor_segments=24)
    inspect(bpy.context.object, cube("B", (4.0, 0.0, 0.0)))
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    layers = {x.name: x.glyphs for x in geometry.layers(found(part), geometry.Style(preferences.DEFAULT_LOOK))}
    edges = len(layers["hull a"]) // 6
    assert 0.9 * 2 * 48 * 24 < edges <= 2 * 48 * 24, "those of its quads, not their diagonals"
    assert (layers["hull a"]["spread"] > 0.0).all(), "fading where they lie close together"


def test_an_open_mesh_is_a_surface(part: Part) -> None:
    sheet = mesh_object("Sheet", [(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], [(0, 1, 2, 3)])
    sheet.contact_lens_shape = "MESH"
    inspect(sheet, cube("B", (0.0, 0.0, 0.3)))
    assert found(part).contact.relation == "penetrating"
    assert found(part).contact.depth == 0.0
    assert any("bare surface" in text for text in warnings(part))
    assert lines(part)["A as"] == "mesh, surface"
    part("blender_addon.report.pair").to_json(part("blender_addon.report.pair").report(bpy.context))
    assert part("blender_addon.draw.picture").camera(found(part), 1.5)


@pytest.mark.parametrize("kind_a", ["COMPOUND", "MESH"])
@pytest.mark.parametrize("kind_b", [*PRIMITIVES, "CONVEX_HULL", "COMPOUND", "MESH"])
def test_compounds_and_meshes_meet_every_shape(part: Part, kind_a: str, kind_b: str) -> None:
    a, b = l_shape("A", kind=kind_a), block("B", (1.0, 1.0, 1.0), (1.4, 1.3, 0.5), kind_b)
    inspect(a, b)
    inspection = found(part)
    assert inspection.verification.ok or inspection.contact.reason, inspection.verification
    report = part("blender_addon.report.pair")
    assert report.to_json(report.report(bpy.context))
    assert inspection.contact.relation == "penetrating"
    if kind_b != "CONE":
        assert inspection.contact.depth == pytest.approx({"SPHERE": 0.2, "CAPSULE": 0.2}.get(kind_b, 0.2236), abs=0.05)
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    assert geometry.layers(inspection, geometry.Style(preferences.DEFAULT_LOOK))
    assert part("blender_addon.draw.picture").camera(inspection, 1.5)


def test_where_a_surface_is_open_there_is_no_depth_and_nothing_says_so_in_zeros(part: Part) -> None:
    bpy.ops.mesh.primitive_uv_sphere_add()
    ball = bpy.context.object
    lower = [tuple(f.vertices) for f in ball.data.polygons if f.center.z < 0.0]
    bowl = mesh_object("Bowl", [tuple(v.co) for v in ball.data.vertices], lower)
    bowl.contact_lens_shape = "MESH"
    inspect(bowl, block("B", (0.5, 0.5, 0.5), (0.9, 0.0, -0.4), "MESH"))
    report = part("blender_addon.report.pair")
    data = report.report(bpy.context)
    assert data["contact"]["intersects"]
    assert data["contact"]["has_depth"] is False
    assert [data["contact"][key] for key in ("signed_distance", "depth", "normal", "mtv", "lower_bound")] == [None] * 5
    lines = dict(report.main_lines(report.inspected(bpy.context))) | dict(
        report.detail_lines(report.inspected(bpy.context))
    )
    assert lines["Status"] == "No depth"
    assert not {"Signed Distance", "MTV", "Verified", "Lower Bound"} & set(lines)
    assert "depth none: a surface is open" in report.one_line(report.inspected(bpy.context))
    assert any("has no inside" in line for line in report.warnings(report.inspected(bpy.context)))
    assert not bpy.ops.contact_lens.separate.poll()


def test_a_convex_mesh_of_a_rigid_body_keeps_its_depth(part: Part) -> None:
    bpy.ops.mesh.primitive_plane_add(size=10.0)
    floor = bpy.context.object
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    floor.rigid_body.collision_shape = "MESH"
    inspect(floor, cube("B", (0.0, 0.0, 0.9)))
    assert found(part).contact.depth == pytest.approx(0.1, abs=1e-5)
    assert found(part).proxy_a.kind == "CONVEX_HULL"


@pytest.mark.parametrize("kind", ["MESH", "COMPOUND"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_ball_above_a_mesh_is_as_far_as_its_centre_less_the_radius(part: Part, kind: str, swapped: bool) -> None:
    floor = block("Floor", (10.0, 10.0, 2.0), (0.0, 0.0, -1.0), kind)
    ball = cube("Ball", (0.0, 0.0, 1.0))
    ball.contact_lens_shape = "SPHERE"
    inspect(*((ball, floor) if swapped else (floor, ball)))
    resting = found(part).contact
    assert resting.relation == "touching"
    assert resting.signed_distance == pytest.approx(0.0, abs=1e-9)
    assert resting.status == "certified"
    ball.location.z = 1.05
    inspect(*((ball, floor) if swapped else (floor, ball)))
    contact = found(part).contact
    assert contact.signed_distance == pytest.approx(0.05, abs=1e-6), "single precision of the location"
    assert contact.lower_bound <= contact.signed_distance <= contact.upper_bound
    on_ball, on_floor = (
        (contact.point_on_a, contact.point_on_b) if swapped else (contact.point_on_b, contact.point_on_a)
    )
    assert on_ball[2] == pytest.approx(0.05, abs=1e-6)
    assert on_floor[2] == pytest.approx(0.0, abs=1e-6)
    assert found(part).verification.ok, found(part).verification


@pytest.mark.parametrize("kind", ["MESH", "COMPOUND"])
@pytest.mark.parametrize("shape", ["CYLINDER", "CONE"])
@pytest.mark.parametrize("swapped", [False, True])
def test_round_shapes_beside_a_mesh_are_exactly_as_far_away(part: Part, kind: str, shape: str, swapped: bool) -> None:
    # The rim of a disk turned about X, above a floor: its lowest point is a radius along the disk's own Y below.
    floor = block("Floor", (10.0, 10.0, 2.0), (0.0, 0.0, -1.0), kind)
    round_one = block("Round", (2.0, 2.0, 2.0), (0.1, 0.2, 2.0), shape)
    turn = 0.3
    round_one.rotation_euler = (turn, 0.0, 0.0)
    inspect(*((round_one, floor) if swapped else (floor, round_one)))
    c = found(part).contact
    assert c.signed_distance == pytest.approx(2.0 - np.cos(turn) - np.sin(turn), abs=1e-6), "single precision"
    assert c.status == "certified"
    assert c.lower_bound <= c.signed_distance <= c.upper_bound
    assert c.upper_bound - c.lower_bound < 1e-8
    assert found(part).verification.ok, found(part).verification
    assert not any("facets" in text for text in warnings(part))


def test_a_method_that_is_not_used_is_told(part: Part) -> None:
    inspect(l_shape("A"), cube("B", (1.3, 1.2, 0.5), 1.0), method="SAT")
    assert "Method SAT is for convex shapes: compounds use their own method" in warnings(part)
    bpy.data.objects["A"].contact_lens_shape = "MESH"
    bpy.ops.contact_lens.inspect(method="BOTH")
    assert "Method Both is for convex shapes: meshes use their own method" in warnings(part)
    bpy.data.objects["A"].contact_lens_shape = "CONVEX_HULL"
    bpy.ops.contact_lens.inspect(method="SAT")
    assert not any("Method" in text for text in warnings(part))


def test_lengths_in_what_is_told_follow_the_scenes_units(part: Part) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    bpy.ops.mesh.primitive_torus_add()
    torus, ball = bpy.context.object, cube("Ball", (1.0, 0.0, 0.2), 1.0)
    ball.contact_lens_shape = "CYLINDER"
    inspect(torus, ball)
    told = " ".join(warnings(part))
    assert re.search(r"'Ball': its surface is taken as \d+ facets, at most [0-9.e-]+ cm inside of it", told)
    assert "within 0.25250 cm of theirs" in told
    for text in warnings(part):
        numbers = re.findall(r"[0-9]+\.[0-9]+(?:e-[0-9]+)? (\w+)", text)
        assert all(unit == "cm" for unit in numbers), text


def test_no_faces_is_told(part: Part) -> None:
    wire = mesh_object("Wire", [(0, 0, 0), (0, 0, 1)])
    for kind, words in (("MESH", "mesh"), ("COMPOUND", "compound")):
        wire.contact_lens_shape = kind
        select(wire, cube("B"))
        with pytest.raises(RuntimeError, match=f"'Wire' has no faces, so it cannot collide as a {words}"):
            bpy.ops.contact_lens.inspect()


# --- in the plane -----------------------------------------------------------------------------------------------------


def sheet(name: str, corners: object, location: object = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    corners = [(*corner, 0.0) for corner in corners]
    return mesh_object(name, corners, [tuple(range(len(corners)))], location)


SQUARE = [(-1, -1), (1, -1), (1, 1), (-1, 1)]


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.7, 0.4, 0.2), (np.pi / 2.0, 0.0, 0.0)])
def test_flat_meshes_in_one_plane_have_a_depth_there(part: Part, turn: tuple[float, ...]) -> None:
    a, b = sheet("A", SQUARE), sheet("B", SQUARE, (1.5, 0.2, 0.0))
    frame = bpy.data.objects.new("Frame", None)
    bpy.context.scene.collection.objects.link(frame)
    for obj in (a, b):
        obj.parent = frame
    frame.rotation_euler = turn
    frame.location = (3.0, 2.0, 1.0)
    inspect(a, b)
    assert found(part).contact.depth == pytest.approx(0.0, abs=1e-6)  # in space a sheet slides out of the plane
    inspect(a, b, flat=True)
    inspection = found(part)
    along = np.array(frame.matrix_world)[:3, 0]
    assert inspection.contact.depth == pytest.approx(0.5, abs=1e-5)
    assert inspection.contact.normal == pytest.approx(along, abs=1e-6)
    assert inspection.contact.region.length == pytest.approx(1.8, abs=1e-5)
    assert inspection.verification.ok
    assert lines(part)["Depth"] == "0.50000 m"
    report = part("blender_addon.report.pair")
    assert report.to_json(report.report(bpy.context))
    assert part("blender_addon.draw.picture").camera(inspection, 1.5)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert found(part).contact.relation == "touching"


def test_flat_meshes_off_each_others_plane_are_refused_with_the_reason(part: Part) -> None:
    a, b = sheet("A", SQUARE), sheet("B", SQUARE, (1.5, 0.0, 0.25))
    select(a, b)
    with pytest.raises(RuntimeError, match=r"'B' is up to 0.25000 m off the plane of 'A'"):
        bpy.ops.contact_lens.inspect(flat=True)
    select(a, cube("C"))
    with pytest.raises(RuntimeError, match="'C' is not flat"):
        bpy.ops.contact_lens.inspect(flat=True)


def test_2d_is_told_and_ends_with_the_pair_the_plane_and_the_setting(part: Part) -> None:
    a, b = sheet("A", SQUARE), sheet("B", SQUARE, (1.5, 0.2, 0.0))
    inspect(a, b, flat=True)
    assert lines(part)["Normal of 2D Plane"] == "(0.00000, 0.00000, 1.00000)"
    report, session = part("blender_addon.report.pair"), part("blender_addon.check.session")
    assert report.one_line(report.inspected(bpy.context)).endswith("(2D)")
    inspect(a, b)  # the same pair stays in its plane
    assert found(part).flat is not None
    b.location.z = 0.25
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match=r"'B' is up to 0.25000 m off the plane of 'A'. Disable 2D to inspect"):
        bpy.ops.contact_lens.refresh()
    assert session.current(bpy.context) is None
    assert "Disable 2D" in session.error(bpy.context)
    bpy.context.scene.contact_lens.flat = False
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert found(part).flat is None
    assert "Normal of 2D Plane" not in lines(part)
    b.location.z = 0.0
    inspect(a, b, flat=True)
    inspect(a, cube("C"))  # another pair is not asked to be flat
    assert found(part).flat is None
    assert not bpy.context.scene.contact_lens.flat


def test_dented_and_round_shapes_in_the_plane(part: Part) -> None:
    notched = sheet("L", [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)])
    notched.contact_lens_shape = "COMPOUND"
    b = sheet("B", [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)], (1.3, 1.2, 0.0))
    inspect(notched, b, flat=True)
    assert found(part).contact.mtv == pytest.approx((0.2, 0.3, 0.0), abs=1e-4)
    assert found(part).verification.ok
    b.contact_lens_shape = "SPHERE"
    b.location = (2.0, 2.0, 0.0)
    inspect(notched, b, flat=True)
    assert found(part).contact.signed_distance == pytest.approx(0.5, abs=0.01)
    a = sheet("Round", SQUARE, (4.0, 2.0, 0.0))
    a.contact_lens_shape = "SPHERE"
    inspect(a, b, flat=True)
    assert found(part).contact.signed_distance == pytest.approx(0.5)
    assert found(part).verification.ok
    a.contact_lens_shape = "CYLINDER"
    with pytest.raises(RuntimeError, match="'Round' is flat along its local Z"):
        inspect(a, b, flat=True)
