# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects collide as: primitives fitted to them, what their rigid bodies say, and what is told of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations_with_replacement
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from .scenes import cube, inspect, mesh_object, select

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")

FLAT, WIRE = [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 0), (0, 0, 1)]
PRIMITIVES = ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE")


@pytest.fixture
def read(part: Part) -> Callable[[bpy.types.Object], object]:
    reader, shapes = part("blender_addon.read.scene_reader"), part("blender_addon.read.world_shape")
    return lambda obj: shapes.WorldShape(reader.snapshot_object(obj, bpy.context.evaluated_depsgraph_get()))


def block(name: str, size: object, location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC") -> bpy.types.Object:
    """A box-shaped mesh of this size."""
    obj = cube(name, location, 1.0)
    obj.data.transform(Matrix.Diagonal((*size, 1.0)))
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


def layers(part: Part) -> dict[str, np.ndarray]:
    """The glyphs that the overlay draws, by layer; the camera of a picture sees them too."""
    geometry, preferences = part("blender_addon.draw.overlay_geometry"), part("blender_addon.data.preferences")
    assert part("blender_addon.draw.picture").camera(found(part), 1.5)
    style = geometry.Style(preferences.DEFAULT_LOOK)
    return {layer.name: layer.glyphs for layer in geometry.layers(found(part), style)}


def document(part: Part) -> dict[str, Any]:
    """The report of the pair, which can be written as JSON."""
    report = part("blender_addon.report.pair")
    data: dict[str, Any] = report.report(bpy.context)
    assert report.to_json(data)
    return data


def verified(part: Part, a: bpy.types.Object, b: bpy.types.Object, **settings: object) -> Any:
    """Inspect a pair; return its contact, which passes its own verification."""
    inspect(a, b, **settings)
    inspection: Any = found(part)
    assert inspection.verification.ok, inspection.verification
    return inspection.contact


def refused(a: bpy.types.Object, b: bpy.types.Object, words: str, **settings: object) -> None:
    """Assert that a pair cannot be inspected, with this reason."""
    select(a, b)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.contact_lens.inspect(**settings)


def adopt(parent: bpy.types.Object, *children: bpy.types.Object) -> None:
    """Set the parent of objects, which stay where they are."""
    for child in children:
        child.parent, child.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    bpy.context.view_layer.update()


def test_primitives_fit_the_local_bounding_box(read) -> None:
    obj = block("A", (2.0, 3.0, 8.0), (10.0, 0.0, 0.0))
    for kind, half in {  # half size along x, y, z
        "BOX": (1.0, 1.5, 4.0),
        "SPHERE": (4.0, 4.0, 4.0),
        "CAPSULE": (1.5, 1.5, 4.0),
        "CYLINDER": (1.5, 1.5, 4.0),
        "CONE": (1.5, 1.5, 4.0),
    }.items():
        obj.contact_lens_shape = kind
        shape = read(obj)
        low, high = shape.solid.bounds
        assert shape.kind == kind
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
    scaled, applied = (block(name, size, (1, 2, 3), kind) for name, size in (("A", (2, 3, 1)), ("B", (1, 6, 7))))
    scaled.scale = (0.5, 2.0, -7.0)
    scaled.rotation_euler = applied.rotation_euler = (0.3, 0.4, 0.5)
    if kind == "CONE":  # the mirror turns it upside down, as it does the mesh
        applied.scale = (1.0, 1.0, -1.0)
    bpy.context.view_layer.update()
    a, b = read(scaled).solid, read(applied).solid
    for direction in np.random.default_rng(1).normal(size=(50, 3)):
        points = [solid.vertices if kind == "BOX" else solid.supports([direction])[0] for solid in (a, b)]
        assert np.max(points[0] @ direction) == pytest.approx(np.max(points[1] @ direction), rel=1e-5, abs=1e-5)


def test_a_capsule_is_never_lower_than_a_sphere(read) -> None:
    low, high = read(block("A", (4.0, 2.0, 1.0), kind="CAPSULE")).solid.bounds
    assert high - low == pytest.approx((4.0, 4.0, 4.0))


def test_an_off_centre_mesh_is_fitted_where_it_is(read) -> None:
    obj = mesh_object("A", [(5, 0, 0), (7, 0, 0), (5, 2, 0), (5, 0, 4)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    obj.contact_lens_shape = "CYLINDER"
    solid = read(obj).solid
    assert [*solid.start, *solid.end] == pytest.approx([6.0, 1.0, 0.0, 6.0, 1.0, 4.0])


@pytest.mark.parametrize(
    ("kind", "points", "faces", "words"),
    [
        ("CYLINDER", FLAT, [(0, 1, 2)], r"'A' is flat along its local Z axis, and a c.* needs a height"),
        ("CONE", FLAT, [(0, 1, 2)], r"'A' is flat along its local Z axis, and a c.* needs a height"),
        ("CYLINDER", WIRE, [], "'A' has no width across its local Z"),
        ("CONE", WIRE, [], "'A' has no width across its local Z"),
        ("MESH", WIRE, [], "'A' has no faces, so it cannot collide as a mesh"),
        ("COMPOUND", WIRE, [], "'A' has no faces, so it cannot collide as a compound"),
    ],
)
def test_too_flat_for_a_shape_is_told(kind: str, points: object, faces: object, words: str) -> None:
    a = mesh_object("A", points, faces)
    a.contact_lens_shape = kind
    refused(a, cube("B"), words)


def test_how_far_a_primitive_is_from_the_mesh(read) -> None:
    root = np.sqrt(2.0)
    for kind, size, out, beyond in (
        ("BOX", (2.0, 2.0, 2.0), 0.0, 0.0),
        ("SPHERE", (2.0, 2.0, 2.0), np.sqrt(3.0) - 1.0, 0.0),  # corners; a sphere in the box does not reach beyond it
        ("CYLINDER", (2.0, 2.0, 2.0), root - 1.0, 0.0),
        ("CAPSULE", (2.0, 2.0, 2.0), np.sqrt(3.0) - 1.0, 0.0),
        # The upper corners, at (sqrt 2, 1) in the half plane with the side from (1, -1) to (0, 1).
        ("CONE", (2.0, 2.0, 2.0), 2.0 * root / np.sqrt(5.0), 0.0),
        ("SPHERE", (2.0, 2.0, 6.0), None, 2.0),  # radius 3, half width 1
        ("CYLINDER", (2.0, 4.0, 6.0), None, 1.0),
    ):
        fit = read(block("A", size, kind=kind)).fit
        assert out is None or fit.sticks_out == pytest.approx(out, abs=1e-9), kind
        assert fit.reaches_beyond == pytest.approx(beyond, rel=0.02, abs=1e-6), kind


# --- what decides -----------------------------------------------------------------------------------------------------


def test_automatic_follows_the_rigid_body(part: Part) -> None:
    a, b = cube("A"), cube("B", (2.5, 0.0, 0.0))
    inspect(a, b)
    assert (found(part).proxy_a.kind, found(part).proxy_b.kind) == ("CONVEX_HULL", "CONVEX_HULL")
    rigid(a, "SPHERE")
    inspect(a, b)
    assert (found(part).proxy_a.kind, found(part).contact.signed_distance) == ("SPHERE", pytest.approx(0.5))
    shown = lines(part)
    assert (shown["A as"], shown["B as"]) == ("sphere, at its origin, as its rigid body", "convex hull, automatic")
    a.contact_lens_shape = "BOX"  # what is chosen here counts more
    inspect(a, b)
    assert (found(part).proxy_a.kind, lines(part)["A as"]) == ("BOX", "box, fitted")


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


def test_the_choice_is_the_objects_and_is_saved_with_the_file_and_undone(tmp_path) -> None:
    a = cube("A")
    a.contact_lens_shape = "CAPSULE"
    assert a.copy().contact_lens_shape == "CAPSULE"
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["A"].contact_lens_shape == "CAPSULE"
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["A"].contact_lens_shape = "CONE"
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert bpy.data.objects["A"].contact_lens_shape == "CAPSULE"


def test_spheres_are_as_far_apart_as_their_centres_less_the_radii(part: Part) -> None:
    a, b = block("A", (2.0, 2.0, 2.0), kind="SPHERE"), block("B", (1.0, 1.0, 1.0), kind="SPHERE")
    for x in (5.0, 2.0, 1.0):
        b.location.x = x
        c = verified(part, a, b)
        assert c.signed_distance == pytest.approx(x - 1.5)
        assert c.normal == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(("kind_a", "kind_b"), [*combinations_with_replacement([*PRIMITIVES, "CONVEX_HULL"], 2)])
def test_every_pair_of_shapes_is_inspected_told_and_drawn(part: Part, kind_a: str, kind_b: str) -> None:
    a, b = block("A", (2.0, 2.0, 3.0), kind=kind_a), block("B", (1.0, 1.5, 2.0), (0.6, 0.3, 2.0), kind_b)
    b.rotation_euler = (0.4, 0.3, 0.2)
    verified(part, a, b)
    objects = document(part)["objects"]
    assert [objects[side]["inspected_as"] for side in "ab"] == [kind_a.lower(), kind_b.lower()]
    assert {"hull a", "hull b", "vector"} <= set(layers(part))


def test_a_cylinder_on_a_box_meets_it_in_a_disk(part: Part) -> None:
    inspect(block("A", (4.0, 4.0, 2.0)), block("B", (2.0, 2.0, 2.0), (0.0, 0.0, 1.9), "CYLINDER"))
    assert found(part).contact.region.area == pytest.approx(np.pi, rel=1e-6)
    assert lines(part)["Region"] == "Polygon, round"
    corners = layers(part)["region"]["start"].reshape(-1, 3, 3).astype(float)
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
    assert warnings(part) == ["'A' extends beyond its cylinder by up to 0.41421 m"]
    assert "(as cylinder and convex hull)" in part("blender_addon.report.pair").one_line(found(part))


def rigid(obj: bpy.types.Object, shape: str) -> None:
    select(obj)
    bpy.ops.rigidbody.object_add()
    obj.rigid_body.collision_shape = shape


def test_a_rigid_bodys_primitive_is_where_the_simulation_has_it(read) -> None:
    obj = block("A", (2.0, 3.0, 8.0), (10.0, 0.0, 0.0))
    obj.data.transform(Matrix.Translation((0.5, 0.7, 0.9)))
    rigid(obj, "BOX")
    # The numbers of Bullet, by RigidBodyWorld.convex_sweep_test against a wall: half sizes along x, y, z. Its cone has
    # 0.04 of collision margin more.
    for kind, *halves in (
        ("BOX", (1.0, 1.5, 4.0), (2.0, 4.5, 2.0)),
        ("SPHERE", (4.0, 4.0, 4.0), (8.0, 8.0, 8.0)),
        ("CAPSULE", (1.5, 1.5, 4.0), (4.5, 4.5, 5.75)),
        ("CYLINDER", (1.5, 1.5, 4.0), (3.0, 3.0, 2.0)),
        ("CONE", (1.5, 1.5, 4.0), (3.75, 3.75, 2.0)),
    ):
        obj.rigid_body.collision_shape = kind
        for scale, half in zip(((1.0, 1.0, 1.0), (2.0, 3.0, 0.5)), halves, strict=True):
            obj.scale = scale
            bpy.context.view_layer.update()
            shape = read(obj)
            assert (shape.kind, shape.object.choice.source) == (kind, "rigid_body")
            low, high = shape.solid.bounds
            assert 0.5 * (high - low) == pytest.approx(half, rel=1e-6), kind
            assert 0.5 * (high + low) == pytest.approx((10.0, 0.0, 0.0), abs=1e-6), kind
    obj.scale, obj.contact_lens_shape = (1.0, 1.0, 1.0), "BOX"  # picked, it is where the mesh is
    bpy.context.view_layer.update()
    assert read(obj).solid.bounds[0] == pytest.approx((9.5, -0.8, -3.1))


def test_a_box_that_is_not_where_its_mesh_is_tells_how_far_that_sticks_out(read) -> None:
    obj = block("A", (2.0, 2.0, 2.0))
    obj.data.transform(Matrix.Translation((0.3, 0.4, 0.0)))
    rigid(obj, "BOX")
    bpy.context.view_layer.update()
    fit = read(obj).fit
    assert (fit.sticks_out, fit.reaches_beyond) == (pytest.approx(0.5), pytest.approx(0.5, abs=1e-6))


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
    adopt(parent, *arms)
    shown = "compound, 2 pieces, exact, as its rigid body"
    # In the notch of an L: 0.7 from both arms.
    assert verified(part, parent, b).signed_distance == pytest.approx(0.7, rel=1e-5)
    assert (lines(part)["A as"], warnings(part)) == (shown, [])
    arms[0].location.y += 0.5
    bpy.context.view_layer.update()
    assert part("blender_addon.check.session").stale_reason(bpy.context) == "'Parent' has changed"
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert found(part).contact.signed_distance == pytest.approx(0.2, rel=1e-5)
    arms[1].rigid_body.collision_shape = "SPHERE"
    # The sphere stays round: its radius less the distance of its middle from the nearest edge of the cube.
    depth = pytest.approx(1.5 - np.hypot(1.2, 0.2), abs=1e-6)
    c = verified(part, parent, b)
    assert (c.depth, c.status, lines(part)["A as"], warnings(part)) == (depth, "certified", shown, [])
    assert layers(part)
    assert document(part)
    b.contact_lens_shape = "MESH"
    assert verified(part, parent, b).depth == depth


def test_a_compound_parent_within_another_is_part_of_it(part: Part) -> None:
    """As in Blender's simulation: on a pillar under the innermost one the whole tilts, and the meshes of parents do not
    count."""
    outer, inner, leaf = cube("Outer"), cube("Inner", (0.0, 3.0, 0.0)), cube("Leaf", (0.0, 6.0, 0.0))
    other, wall = cube("Other", (0.0, -3.0, 0.0)), cube("Wall", (2.5, 6.5, 0.0))
    for obj, kind in ((outer, "COMPOUND"), (inner, "COMPOUND"), (leaf, "BOX"), (other, "BOX")):
        rigid(obj, kind)
    adopt(outer, inner, other)
    adopt(inner, leaf)

    def seen() -> tuple[float, str]:
        inspect(outer, wall)
        return found(part).contact.signed_distance, lines(part)["A as"]

    half, shown = pytest.approx(0.5, abs=1e-6), "compound, {}, exact, as its rigid body".format
    assert seen() == (half, shown("2 pieces"))
    wall.location = (2.5, 3.0, 0.0)  # beside the mesh of the inner parent
    assert seen() == (pytest.approx(np.hypot(0.5, 1.0), abs=1e-6), shown("2 pieces"))
    leaf.location.x += 1.0
    bpy.context.view_layer.update()
    assert part("blender_addon.check.session").stale_reason(bpy.context) == "'Outer' has changed"
    # A parent without children is nothing to the simulation: it falls past a pillar that is only under that.
    leaf.parent = None
    wall.location = (2.5, -3.0, 0.0)
    assert seen() == (half, shown("1 piece"))
    inner.contact_lens_shape = "BOX"
    assert seen() == (half, shown("2 pieces"))
    leaf.parent, inner.contact_lens_shape = inner, "AUTOMATIC"
    bpy.context.view_layer.update()
    rules = part("blender_addon.data.records").Rules(ignore_parents=False)
    given = part("blender_addon.read.scene").read_input(bpy.context, rules)
    assert [given.objects[k].name for k in given.first] == ["Outer", "Wall"]


# --- automatic --------------------------------------------------------------------------------------------------------


def test_an_open_mesh_that_nobody_chose_has_the_depth_of_its_pieces(part: Part) -> None:
    bpy.ops.mesh.primitive_monkey_add()
    suzanne, b = bpy.context.object, cube("B", (1.5, 0.3, 0.8))
    contact, inspection = verified(part, suzanne, b), found(part)
    assert (contact.status, contact.depth > 0.0, bool(contact.curves)) == ("of_pieces", True, True)
    assert lines(part)["Depth of Pieces"] == inspection.units.length(contact.depth)
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


def prism(name: str, outline: list[tuple[float, float]], kind: str, location: object = (0, 0, 0)) -> bpy.types.Object:
    """An outline of which the mesh is the block from z = 0 to 1."""
    n = len(outline)
    sides = [(k, (k + 1) % n, (k + 1) % n + n, k + n) for k in range(n)]
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    obj = mesh_object(name, points, [tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n)), *sides], location)
    obj.contact_lens_shape = kind
    return obj


def l_shape(name: str, location: object = (0.0, 0.0, 0.0), kind: str = "COMPOUND") -> bpy.types.Object:
    """A block of 3 x 3 x 1 less its upper right block of 2 x 2 x 1."""
    return prism(name, [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], kind, location)


def torus(name: str, location: object, kind: str) -> bpy.types.Object:
    bpy.ops.mesh.primitive_torus_add(location=location, major_segments=24, minor_segments=12)
    bpy.context.object.name, bpy.context.object.contact_lens_shape = name, kind
    return bpy.context.object


@pytest.mark.parametrize("swapped", [False, True])
def test_a_compound_meets_a_mesh(part: Part, swapped: bool) -> None:
    a, b = l_shape("A", kind="COMPOUND"), l_shape("B", (1.3, 1.2, 0.0), "MESH")
    pair = (b, a) if swapped else (a, b)
    inspect(*pair)
    assert found(part).contact.depth == pytest.approx(0.0, abs=1e-6)  # in the notch: 0.3 and 0.2 free
    b.location = (0.7, 0.8, 0.0)
    c = verified(part, *pair)
    assert (c.depth, c.status) == (pytest.approx(np.hypot(0.3, 0.2), rel=1e-4), "certified")
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
    c = verified(part, a, b)
    assert (c.relation, c.signed_distance) == ("separated", pytest.approx(0.2, rel=1e-5))
    assert lines(part)["A as"] == shown
    b.location = (1.3, 1.2, 0.5)
    c = verified(part, a, b)
    assert (c.depth, c.status) == (pytest.approx(np.hypot(0.2, 0.3), rel=1e-4), "certified")
    assert c.mtv == pytest.approx((0.2, 0.3, 0.0), abs=1e-4)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert found(part).contact.relation == "touching"
    a.contact_lens_shape = "CONVEX_HULL"
    inspect(a, b)
    assert found(part).contact.depth > 0.1


CUP = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]


def test_a_compound_that_would_become_its_hull_is_refused_by_name(part: Part) -> None:
    """The hull of a ring fills its hole: an answer about that is none about the ring."""
    ring, ball = torus("Ring", (0.0, 0.0, 0.0), "COMPOUND"), cube("B", size=0.2)
    words = r"edges bend inward and 48 are allowed. Choose Mesh or Convex Hull as its collision shape, or simplify it"
    refused(ring, ball, rf"'Ring' cannot collide as a compound: (\d+) {words}")
    assert part("blender_addon.check.session").current(bpy.context) is None
    lid = mesh_object("Cup", [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, -1)], CUP)
    lid.contact_lens_shape = "COMPOUND"
    refused(lid, ball, r"'Cup' cannot collide as a compound: the mesh is not closed. Choose")
    for kind, relation in (("MESH", "separated"), ("CONVEX_HULL", "b_inside_a")):
        ring.contact_lens_shape = kind
        inspect(ring, ball)
        assert found(part).contact.relation == relation, "what the reason says to choose works"


@pytest.mark.parametrize("kind", ["COMPOUND", "MESH"])
def test_a_translation_that_ends_in_a_notch_is_said_to(part: Part, kind: str) -> None:
    """A tooth that is moved sideways into a slot of its width."""
    slot = prism("Slot", [(0, 0), (5, 0), (5, 4), (3, 4), (3, 1), (2, 1), (2, 4), (0, 4)], kind)
    tooth = block("Tooth", (1.0, 4.0, 1.0), (2.25, 3.5, 0.5), "MESH")
    assert verified(part, slot, tooth).mtv == pytest.approx((0.25, 0.0, 0.0), abs=1e-5)
    assert any("ends in a notch" in text for text in warnings(part))
    tooth.location.x = 3.5
    inspect(slot, tooth)
    assert not any("ends in a notch" in text for text in warnings(part)), "1 into the slot, and 1 upward into the open"


def test_a_part_of_a_compound_parent_does_not_become_its_hull(part: Part) -> None:
    """Its mesh has to be cut in pieces, as a part that is chosen to be a compound has."""
    parent, ring, ball = cube("Parent"), torus("Ring", (0.0, 0.0, 0.0), "AUTOMATIC"), cube("B", size=0.2)
    rigid(parent, "COMPOUND")
    rigid(ring, "MESH")
    adopt(parent, ring)
    words = r"edges bend inward and 48 are allowed. Choose Convex Hull as its collision shape, or simplify it"
    refused(parent, ball, rf"'Parent' cannot collide: its part 'Ring' cannot .*: \d+ {words}")
    ring.name = "Tire"
    refused(parent, ball, rf"'Parent' cannot collide: its part 'Tire' cannot .*: \d+ {words}")
    ring.name = "Ring"
    ring.contact_lens_shape = "COMPOUND"
    refused(parent, ball, r"'Ring' cannot collide as a compound: \d+ edges bend inward")
    ring.contact_lens_shape = "CONVEX_HULL"
    inspect(parent, ball)
    assert found(part).contact.relation == "b_inside_a"


def test_linked_rings_are_apart_as_meshes(part: Part) -> None:
    a, b = torus("A", (0.0, 0.0, 0.0), "MESH"), torus("B", (1.0, 0.0, 0.0), "MESH")
    b.rotation_euler = (np.radians(90.0), 0.0, 0.0)
    inspect(a, b)
    assert (found(part).contact.relation, warnings(part)) == ("separated", [])
    assert "(as mesh and mesh)" in part("blender_addon.report.pair").one_line(found(part))


def test_crossing_meshes_show_the_curves_in_which_they_meet(part: Part) -> None:
    a, b = torus("A", (0.0, 0.0, 0.0), "MESH"), cube("B", (1.0, 0.0, 0.0), 0.3)
    b.scale.z = 4.0
    inspect(a, b)
    assert len(found(part).contact.curves) == 2  # in at the top and out at the bottom
    assert "curves" in layers(part)
    assert lines(part)["Contact Curves"].startswith("2, ")


def test_a_smooth_mesh_is_drawn_too(part: Part) -> None:
    bpy.ops.mesh.primitive_torus_add(major_segments=48, minor_segments=24)
    inspect(bpy.context.object, cube("B", (4.0, 0.0, 0.0)))
    glyphs = layers(part)["hull a"]
    assert 0.9 * 2 * 48 * 24 < len(glyphs) // 6 <= 2 * 48 * 24, "those of its quads, not their diagonals"
    assert (glyphs["spread"] > 0.0).all(), "fading where they lie close together"


def test_an_open_mesh_is_a_surface(part: Part) -> None:
    a = sheet("Sheet", [(-2, -2), (2, -2), (2, 2), (-2, 2)])
    a.contact_lens_shape = "MESH"
    inspect(a, cube("B", (0.0, 0.0, 0.3)))
    assert (found(part).contact.relation, found(part).contact.depth) == ("penetrating", 0.0)
    assert any("bare surface" in text for text in warnings(part))
    assert lines(part)["A as"] == "mesh, surface"
    assert document(part)
    assert layers(part)


@pytest.mark.parametrize("kind_a", ["COMPOUND", "MESH"])
@pytest.mark.parametrize("kind_b", [*PRIMITIVES, "CONVEX_HULL", "COMPOUND", "MESH"])
def test_compounds_and_meshes_meet_every_shape(part: Part, kind_a: str, kind_b: str) -> None:
    inspect(l_shape("A", kind=kind_a), block("B", (1.0, 1.0, 1.0), (1.4, 1.3, 0.5), kind_b))
    inspection = found(part)
    assert inspection.verification.ok or inspection.contact.reason, inspection.verification
    assert inspection.contact.relation == "penetrating"
    if kind_b != "CONE":
        assert inspection.contact.depth == pytest.approx({"SPHERE": 0.2, "CAPSULE": 0.2}.get(kind_b, 0.2236), abs=0.05)
    assert document(part)
    assert layers(part)


def test_where_a_surface_is_open_there_is_no_depth_and_nothing_says_so_in_zeros(part: Part) -> None:
    bpy.ops.mesh.primitive_uv_sphere_add()
    ball = bpy.context.object
    lower = [tuple(f.vertices) for f in ball.data.polygons if f.center.z < 0.0]
    bowl = mesh_object("Bowl", [tuple(v.co) for v in ball.data.vertices], lower)
    bowl.contact_lens_shape = "MESH"
    inspect(bowl, block("B", (0.5, 0.5, 0.5), (0.9, 0.0, -0.4), "MESH"))
    data = document(part)["contact"]
    none = dict.fromkeys(("signed_distance", "depth", "normal", "mtv", "lower_bound"))
    assert data == data | none | {"has_depth": False, "intersects": True}
    report, inspection = part("blender_addon.report.pair"), found(part)
    shown = dict([*report.main_lines(inspection), *report.detail_lines(inspection)])
    assert shown["Status"] == "No depth"
    assert not {"Signed Distance", "MTV", "Verified", "Lower Bound"} & set(shown)
    assert "no depth: a surface is open" in report.one_line(inspection)
    assert warnings(part).count("An open surface has no inside, so there is no depth") == 1
    assert not any("has no inside" in line.lower() for line in warnings(part)[:-1])
    assert not bpy.ops.contact_lens.separate.poll()


def test_a_convex_mesh_of_a_rigid_body_keeps_its_depth(part: Part) -> None:
    bpy.ops.mesh.primitive_plane_add(size=10.0)
    floor = bpy.context.object
    rigid(floor, "MESH")
    floor.rigid_body.type = "PASSIVE"
    inspect(floor, cube("B", (0.0, 0.0, 0.9)))
    assert (found(part).contact.depth, found(part).proxy_a.kind) == (pytest.approx(0.1, abs=1e-5), "CONVEX_HULL")


@pytest.mark.parametrize("kind", ["MESH", "COMPOUND"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_ball_above_a_mesh_is_as_far_as_its_centre_less_the_radius(part: Part, kind: str, swapped: bool) -> None:
    floor, ball = block("Floor", (10.0, 10.0, 2.0), (0.0, 0.0, -1.0), kind), cube("Ball", (0.0, 0.0, 1.0))
    ball.contact_lens_shape = "SPHERE"
    pair = (ball, floor) if swapped else (floor, ball)
    c = verified(part, *pair)
    assert (c.relation, c.signed_distance, c.status) == ("touching", pytest.approx(0.0, abs=1e-9), "certified")
    ball.location.z = 1.05
    c = verified(part, *pair)
    above = pytest.approx(0.05, abs=1e-6)  # single precision of the location
    points = (c.point_on_a, c.point_on_b) if swapped else (c.point_on_b, c.point_on_a)
    assert (c.signed_distance, *(point[2] for point in points)) == (above, above, pytest.approx(0.0, abs=1e-6))
    assert c.lower_bound <= c.signed_distance <= c.upper_bound


@pytest.mark.parametrize("kind", ["MESH", "COMPOUND"])
@pytest.mark.parametrize("shape", ["CYLINDER", "CONE"])
@pytest.mark.parametrize("swapped", [False, True])
def test_round_shapes_beside_a_mesh_are_exactly_as_far_away(part: Part, kind: str, shape: str, swapped: bool) -> None:
    # The rim of a disk turned about X, above a floor: its lowest point is a radius along the disk's own Y below.
    floor = block("Floor", (10.0, 10.0, 2.0), (0.0, 0.0, -1.0), kind)
    round_one, turn = block("Round", (2.0, 2.0, 2.0), (0.1, 0.2, 2.0), shape), 0.3
    round_one.rotation_euler = (turn, 0.0, 0.0)
    c = verified(part, *((round_one, floor) if swapped else (floor, round_one)))
    assert c.signed_distance == pytest.approx(2.0 - np.cos(turn) - np.sin(turn), abs=1e-6), "single precision"
    assert c.status == "certified"
    assert c.lower_bound <= c.signed_distance <= c.upper_bound < c.lower_bound + 1e-8
    assert not any("facets" in text for text in warnings(part))


def test_a_method_that_is_not_used_is_told(part: Part) -> None:
    a, b = l_shape("A"), cube("B", (1.3, 1.2, 0.5), 1.0)
    for kind, method, words in (
        ("COMPOUND", "SAT", ["Method SAT is for convex shapes: compounds use their own method"]),
        ("MESH", "BOTH", ["Method Both is for convex shapes: meshes use their own method"]),
        ("CONVEX_HULL", "SAT", []),
    ):
        a.contact_lens_shape = kind
        inspect(a, b, method=method)
        assert [text for text in warnings(part) if "Method" in text] == words


def test_lengths_in_warnings_follow_the_units_of_the_scene(part: Part) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    ball = cube("Ball", (1.0, 0.0, 0.2), 1.0)
    ball.contact_lens_shape = "CYLINDER"
    bpy.ops.mesh.primitive_torus_add()
    inspect(bpy.context.object, ball)
    told = " ".join(warnings(part))
    assert re.search(r"'Ball': its surface is approximated by \d+ facets, at most [0-9.e-]+ cm inside it", told)
    assert "within 0.25250 cm of them" in told
    assert set(re.findall(r"[0-9]+\.[0-9]+(?:e-[0-9]+)? (\w+)", told)) == {"cm"}


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
    adopt(frame, a, b)
    frame.rotation_euler, frame.location = turn, (3.0, 2.0, 1.0)
    inspect(a, b)
    assert found(part).contact.depth == pytest.approx(0.0, abs=1e-6)  # in space a sheet slides out of the plane
    c = verified(part, a, b, flat=True)
    assert (c.depth, c.region.length) == (pytest.approx(0.5, abs=1e-5), pytest.approx(1.8, abs=1e-5))
    assert c.normal == pytest.approx(np.array(frame.matrix_world)[:3, 0], abs=1e-6)
    assert lines(part)["Depth"] == "0.50000 m"
    assert document(part)
    assert layers(part)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert found(part).contact.relation == "touching"


def test_flat_meshes_off_each_others_plane_are_refused_with_the_reason() -> None:
    a = sheet("A", SQUARE)
    refused(a, sheet("B", SQUARE, (1.5, 0.0, 0.25)), r"'B' is up to 0.25000 m off the plane of 'A'", flat=True)
    refused(a, cube("C"), "'C' is not flat", flat=True)


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
    assert verified(part, notched, b, flat=True).mtv == pytest.approx((0.2, 0.3, 0.0), abs=1e-4)
    b.contact_lens_shape, b.location = "SPHERE", (2.0, 2.0, 0.0)
    inspect(notched, b, flat=True)
    assert found(part).contact.signed_distance == pytest.approx(0.5, abs=0.01)
    a = sheet("Round", SQUARE, (4.0, 2.0, 0.0))
    a.contact_lens_shape = "SPHERE"
    assert verified(part, a, b, flat=True).signed_distance == pytest.approx(0.5)
    a.contact_lens_shape = "CYLINDER"
    refused(a, b, "'Round' is flat along its local Z", flat=True)
