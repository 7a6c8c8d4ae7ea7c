# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects collide as: primitives fitted to them, what their rigid bodies say, and what is told of it."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from .reports import pair_report, run, run_json
from .scenes import (
    SQUARE,
    add_object,
    adopt,
    block,
    cube,
    fresh,
    inspect,
    inspection,
    lens,
    lines,
    link,
    mesh_object,
    notes,
    one_line,
    pane,
    refresh,
    reopen,
    rigid_body,
    save_scene,
    select,
    sheet,
    torus,
    update,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

FLAT, WIRE = [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 0), (0, 0, 1)]
PRIMITIVES = ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE")


def read(obj: bpy.types.Object) -> Any:
    reader, shapes = lens.read.scene_reader, lens.read.world_shape
    update()
    return shapes.WorldShape(reader.snapshot_object(obj, bpy.context.evaluated_depsgraph_get()))


# --- how primitives are fitted ----------------------------------------------------------------------------------------


def layers() -> dict[str, np.ndarray]:
    """The glyphs that the overlay draws, by layer; the camera of a picture sees them too."""
    geometry, preferences = lens.layers.overlay_geometry, lens.data.preferences
    assert lens.draw.picture.camera(inspection(), 1.5)
    return {
        layer.name: layer.glyphs for layer in geometry.layers(inspection(), geometry.Style(preferences.DEFAULT_LOOK))
    }


def verified(a: bpy.types.Object, b: bpy.types.Object, **settings: object) -> Any:
    """Inspect a pair; return its contact, which passes its own verification."""
    found = inspect(a, b, **settings)
    assert found.verification.ok, found.verification
    return found.contact


def refused(a: bpy.types.Object, b: bpy.types.Object, words: str, **settings: object) -> None:
    """Assert that a pair cannot be inspected, with this reason."""
    select(a, b)
    with pytest.raises(RuntimeError, match=re.escape(words)):
        bpy.ops.contact_lens.inspect(**settings)


@pytest.mark.parametrize(
    ("kind", "size", "half"),
    [
        ("BOX", (2.0, 3.0, 8.0), (1.0, 1.5, 4.0)),
        ("SPHERE", (2.0, 3.0, 8.0), (4.0, 4.0, 4.0)),
        ("CAPSULE", (2.0, 3.0, 8.0), (1.5, 1.5, 4.0)),
        ("CAPSULE", (4.0, 2.0, 1.0), (2.0, 2.0, 2.0)),  # never lower than a sphere
        ("CYLINDER", (2.0, 3.0, 8.0), (1.5, 1.5, 4.0)),
        ("CONE", (2.0, 3.0, 8.0), (1.5, 1.5, 4.0)),
    ],
)
def test_primitives_fit_the_local_bounding_box(kind: str, size: object, half: object) -> None:
    obj = block("A", size, (10.0, 0.0, 0.0), kind)
    obj.data.transform(Matrix.Translation((5.0, 6.0, 7.0)))  # also where its middle is not its origin
    shape = read(obj)
    low, high = shape.solid.bounds
    assert shape.kind == kind
    assert 0.5 * (high - low) == pytest.approx(half)
    assert 0.5 * (high + low) == pytest.approx((15.0, 6.0, 7.0))
    if kind == "CONE":
        assert shape.solid.end == pytest.approx((15.0, 6.0, 11.0)), "its apex is up"
        obj.rotation_euler = (0.0, np.radians(90.0), 0.0)
        assert read(obj).solid.end == pytest.approx((21.0, 6.0, -5.0), abs=1e-5), "and turns with the object"


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_scale_counts_as_if_it_had_been_applied(kind: str) -> None:
    scaled, applied = (block(name, size, (1, 2, 3), kind) for name, size in (("A", (2, 3, 1)), ("B", (1, 6, 7))))
    scaled.scale = (0.5, 2.0, -7.0)
    scaled.rotation_euler = applied.rotation_euler = (0.3, 0.4, 0.5)
    if kind == "CONE":  # the mirror turns it upside down, as it does the mesh
        applied.scale = (1.0, 1.0, -1.0)
    a, b = read(scaled).solid, read(applied).solid
    for direction in np.random.default_rng(1).normal(size=(50, 3)):
        points = [solid.vertices if kind == "BOX" else solid.supports([direction])[0] for solid in (a, b)]
        assert np.max(points[0] @ direction) == pytest.approx(np.max(points[1] @ direction), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "points", "faces", "words"),
    [
        ("CYLINDER", FLAT, [(0, 1, 2)], "'A' is flat along its local Z axis, and a cylinder needs a height"),
        ("CONE", FLAT, [(0, 1, 2)], "'A' is flat along its local Z axis, and a cone needs a height"),
        ("CYLINDER", WIRE, [], "'A' has no width across its local Z"),
        ("CONE", WIRE, [], "'A' has no width across its local Z"),
        ("MESH", WIRE, [], "'A' has no faces, so it cannot collide as a mesh"),
        ("COMPOUND", WIRE, [], "'A' has no faces, so it cannot collide as a compound"),
    ],
)
def test_too_flat_for_a_shape_is_told(kind: str, points: object, faces: object, words: str) -> None:
    refused(mesh_object("A", points, faces, kind=kind), cube("B"), words)


def test_how_far_a_primitive_is_from_the_mesh() -> None:
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


def test_automatic_follows_the_rigid_body() -> None:
    a, b = cube("A"), cube("B", (2.5, 0.0, 0.0))
    hulls = inspect(a, b)
    assert (hulls.proxy_a.kind, hulls.proxy_b.kind) == ("CONVEX_HULL", "CONVEX_HULL")
    rigid_body(a, "SPHERE")
    of_body = inspect(a, b)
    assert (of_body.proxy_a.kind, of_body.contact.signed_distance) == ("SPHERE", pytest.approx(0.5))
    assert (lines()["Shape of A"], lines()["Shape of B"]) == (
        "Sphere, at its origin, as its rigid body",
        "Convex hull, automatic",
    )
    a.contact_lens_shape = "BOX"  # what is chosen here counts more
    assert (inspect(a, b).proxy_a.kind, lines()["Shape of A"]) == ("BOX", "Box, fitted")


def test_linked_objects_say_why_and_overrides_can_be_set(tmp_path: Path) -> None:
    cube("A")
    library = save_scene(tmp_path / "library.blend")
    fresh()
    (linked,) = link(library, objects=["A"]).objects
    readonly_reason = lens.geometry.collision_shape.readonly_reason
    assert "make a library override" in readonly_reason(linked)
    bpy.context.scene.collection.objects.link(linked)
    override = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    override.override_library.is_system_override = False
    assert readonly_reason(override) == ""
    override.contact_lens_shape = "BOX"
    reopen(tmp_path / "user.blend")
    (kept,) = [obj for obj in bpy.data.objects if obj.override_library is not None]
    assert kept.contact_lens_shape == "BOX"


def test_a_changed_choice_makes_the_result_stale() -> None:
    b = cube("B", (1.5, 0.0, 0.0))
    inspect(cube("A"), b)
    stale_reason = lens.pair.session.stale_reason
    assert not stale_reason(bpy.context)
    b.contact_lens_shape = "SPHERE"
    assert stale_reason(bpy.context) == "the collision shape of 'B' has changed"
    assert refresh().proxy_b.kind == "SPHERE"
    assert not stale_reason(bpy.context)


# --- what comes of it -------------------------------------------------------------------------------------------------


def test_the_choice_is_the_objects_and_is_saved_with_the_file_and_undone(tmp_path: Path) -> None:
    assert cube("A", kind="CAPSULE").copy().contact_lens_shape == "CAPSULE"
    reopen(tmp_path / "saved.blend")
    assert bpy.data.objects["A"].contact_lens_shape == "CAPSULE"
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["A"].contact_lens_shape = "CONE"
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert bpy.data.objects["A"].contact_lens_shape == "CAPSULE"


def test_spheres_are_as_far_apart_as_their_centres_less_the_radii() -> None:
    a, b = block("A", (2.0, 2.0, 2.0), kind="SPHERE"), block("B", (1.0, 1.0, 1.0), kind="SPHERE")
    for x in (5.0, 2.0, 1.0):
        b.location.x = x
        c = verified(a, b)
        assert c.signed_distance == pytest.approx(x - 1.5)
        assert c.normal == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(("kind_a", "kind_b"), [*combinations_with_replacement([*PRIMITIVES, "CONVEX_HULL"], 2)])
def test_every_pair_of_shapes_is_inspected_told_and_drawn(kind_a: str, kind_b: str) -> None:
    a, b = block("A", (2.0, 2.0, 3.0), kind=kind_a), block("B", (1.0, 1.5, 2.0), (0.6, 0.3, 2.0), kind_b)
    b.rotation_euler = (0.4, 0.3, 0.2)
    verified(a, b)
    objects = pair_report()["objects"]
    assert [objects[side]["inspected_as"] for side in "ab"] == [kind_a.lower(), kind_b.lower()]
    assert {"outline a", "outline b", "vector"} <= set(layers())


def test_a_cylinder_on_a_box_meets_it_in_a_disk() -> None:
    found = inspect(block("A", (4.0, 4.0, 2.0)), block("B", (2.0, 2.0, 2.0), (0.0, 0.0, 1.9), "CYLINDER"))
    assert found.contact.region.area == pytest.approx(np.pi, rel=1e-6)
    assert lines()["Area"] == "3.142 m²"
    corners = layers()["region"]["start"].reshape(-1, 3, 3).astype(float)
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    assert area == pytest.approx(np.pi, rel=0.01)


def test_separate_moves_a_fitted_shape_out() -> None:
    a, b = block("A", (2.0, 2.0, 2.0), kind="SPHERE"), block("B", (2.0, 2.0, 4.0), (1.2, 0.3, 0.5), "CAPSULE")
    assert inspect(a, b).contact.depth > 0.5
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert inspection().contact.relation == "touching"


def test_what_sticks_out_is_warned_about() -> None:
    inspect(block("A", (2.0, 2.0, 2.0), kind="CYLINDER"), cube("B", (4.0, 0.0, 0.0)))
    assert notes() == ["'A' extends beyond its cylinder by up to 0.4143 m"]
    assert "(as cylinder and convex hull)" in one_line()


def test_a_rigid_bodys_primitive_is_where_the_simulation_has_it() -> None:
    obj = block("A", (2.0, 3.0, 8.0), (10.0, 0.0, 0.0))
    obj.data.transform(Matrix.Translation((0.5, 0.7, 0.9)))
    rigid_body(obj, "BOX")
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
            shape = read(obj)
            assert (shape.kind, shape.object.choice.source) == (kind, "rigid_body")
            low, high = shape.solid.bounds
            assert 0.5 * (high - low) == pytest.approx(half, rel=1e-6), kind
            assert 0.5 * (high + low) == pytest.approx((10.0, 0.0, 0.0), abs=1e-6), kind
    obj.scale, obj.contact_lens_shape = (1.0, 1.0, 1.0), "BOX"  # picked, it is where the mesh is
    assert read(obj).solid.bounds[0] == pytest.approx((9.5, -0.8, -3.1))


def test_a_box_that_is_not_where_its_mesh_is_tells_how_far_that_sticks_out() -> None:
    obj = block("A", (2.0, 2.0, 2.0))
    obj.data.transform(Matrix.Translation((0.3, 0.4, 0.0)))
    rigid_body(obj, "BOX")
    fit = read(obj).fit
    assert (fit.sticks_out, fit.reaches_beyond) == (pytest.approx(0.5), pytest.approx(0.5, abs=1e-6))


def test_what_of_a_rigid_body_is_not_followed_is_told() -> None:
    a, b = rigid_body(cube("A"), "CONVEX_HULL"), cube("B", (4.0, 0.0, 0.0))

    def said() -> list[str]:
        inspect(a, b)
        return notes()

    assert said() == []
    a.modifiers.new("Round", "BEVEL")
    assert said() == ["'A' is simulated without its modifiers (Source: Deform), while the final mesh is used here"]
    a.rigid_body.mesh_source = "FINAL"
    assert said() == []


def test_the_children_of_a_compound_parent_are_its_pieces() -> None:
    parent, b = cube("Parent", (0.0, 0.0, 50.0)), cube("B", (1.2, 1.2, 0.0), 1.0)
    arms = block("Lower", (3.0, 1.0, 1.0), (0.5, -0.5, 0.0)), block("Left", (1.0, 3.0, 1.0), (-0.5, 0.5, 0.0))
    rigid_body(parent, "COMPOUND")
    inspect(parent, b)
    (warning,) = notes()
    assert "is a compound parent rigid body without child rigid bodies: its convex hull is used" in warning
    adopt(parent, *(rigid_body(arm, "BOX") for arm in arms))
    shown = "Compound, 2 pieces, exact, as its rigid body"
    # In the notch of an L: 0.7 from both arms.
    assert verified(parent, b).signed_distance == pytest.approx(0.7, rel=1e-5)
    assert (lines()["Shape of A"], notes()) == (shown, [])
    arms[0].location.y += 0.5
    update()
    assert lens.pair.session.stale_reason(bpy.context) == "'Parent' has changed"
    assert refresh().contact.signed_distance == pytest.approx(0.2, rel=1e-5)
    arms[1].rigid_body.collision_shape = "SPHERE"
    # The sphere stays round: its radius less the distance of its middle from the nearest edge of the cube.
    depth = pytest.approx(1.5 - np.hypot(1.2, 0.2), abs=1e-6)
    c = verified(parent, b)
    assert (c.depth, c.status, lines()["Shape of A"], notes()) == (depth, "certified", shown, [])
    assert layers()
    assert pair_report()
    b.contact_lens_shape = "MESH"
    assert verified(parent, b).depth == depth


def test_a_compound_parent_within_another_is_part_of_it() -> None:
    """As in Blender's simulation: on a pillar under the innermost one the whole tilts, and the meshes of parents do not
    count."""
    outer, inner, leaf = cube("Outer"), cube("Inner", (0.0, 3.0, 0.0)), cube("Leaf", (0.0, 6.0, 0.0))
    other, wall = cube("Other", (0.0, -3.0, 0.0)), cube("Wall", (2.5, 6.5, 0.0))
    for obj, kind in ((outer, "COMPOUND"), (inner, "COMPOUND"), (leaf, "BOX"), (other, "BOX")):
        rigid_body(obj, kind)
    adopt(outer, inner, other)
    adopt(inner, leaf)

    def seen() -> tuple[float, str]:
        return inspect(outer, wall).contact.signed_distance, lines()["Shape of A"]

    half, shown = pytest.approx(0.5, abs=1e-6), "Compound, {}, exact, as its rigid body".format
    assert seen() == (half, shown("2 pieces"))
    wall.location = (2.5, 3.0, 0.0)  # beside the mesh of the inner parent
    assert seen() == (pytest.approx(np.hypot(0.5, 1.0), abs=1e-6), shown("2 pieces"))
    leaf.location.x += 1.0
    update()
    assert lens.pair.session.stale_reason(bpy.context) == "'Outer' has changed"
    # A parent without children is nothing to the simulation: it falls past a pillar that is only under that.
    leaf.parent = None
    wall.location = (2.5, -3.0, 0.0)
    assert seen() == (half, shown("1 piece"))
    inner.contact_lens_shape = "BOX"
    assert seen() == (half, shown("2 pieces"))
    leaf.parent, inner.contact_lens_shape = inner, "AUTOMATIC"
    update()
    rules = lens.data.records.Rules(ignore_parents=False)
    given = lens.read.scene.read_input(bpy.context, rules)
    assert [given.objects[k].name for k in given.scopes[0].first] == ["Outer", "Wall"]


# --- automatic --------------------------------------------------------------------------------------------------------


def test_an_open_mesh_has_the_depth_of_its_surface() -> None:
    bpy.ops.mesh.primitive_monkey_add()
    suzanne, b = bpy.context.object, cube("B", (1.5, 0.3, 0.8))
    contact, units = verified(suzanne, b), inspection().units
    assert (contact.relation, contact.has_depth, bool(contact.curves)) == ("penetrating", True, True)
    assert 0.0 < contact.least_depth <= contact.depth < 0.8
    assert lens.data.distance.Distance.of_contact(contact).is_at_most
    assert lines()["Depth"] == f"\N{LESS-THAN OR EQUAL TO} {units.length(contact.depth, rounding='up', digits=3)}"
    label = lens.draw.overlay_labels.vector_label(inspection())
    assert label == lines()["Depth"]
    suzanne.contact_lens_shape = "MESH"  # chosen or not, it is the same surface
    assert inspect(suzanne, b).contact.depth == pytest.approx(contact.depth)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}  # the meshes share nothing then
    assert inspection().contact.relation in ("separated", "touching")


def test_a_solid_beside_an_open_mesh_is_in_front_of_its_faces_or_behind_them() -> None:
    bpy.ops.mesh.primitive_grid_add(size=8.0)
    floor, b = bpy.context.object, cube("B", (0.2, 0.3, 1.5))
    floor.contact_lens_shape = "MESH"
    for z, side in ((1.5, "in front of"), (-1.5, "behind")):
        b.location.z = z
        assert inspect(floor, b).contact.relation == "separated"
        assert f"B is {side} the faces of A" in notes()
    b.location.z = 0.8
    contact = verified(floor, b)
    assert contact.depth == pytest.approx(0.2, abs=1e-5)
    assert contact.normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-5)
    assert not any("faces of A" in text for text in notes())


# --- compounds and meshes ---------------------------------------------------------------------------------------------


def prism(name: str, outline: list[tuple[float, float]], kind: str, location: object = (0, 0, 0)) -> bpy.types.Object:
    """An outline of which the mesh is the block from z = 0 to 1."""
    n = len(outline)
    sides = [(k, (k + 1) % n, (k + 1) % n + n, k + n) for k in range(n)]
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    return mesh_object(name, points, [tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n)), *sides], location, kind)


L_SHAPE = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]


def l_shape(name: str, location: object = (0.0, 0.0, 0.0), kind: str = "COMPOUND") -> bpy.types.Object:
    """A block of 3 x 3 x 1 less its upper right block of 2 x 2 x 1."""
    return prism(name, L_SHAPE, kind, location)


def smooth_ring(name: str, location: object = (0.0, 0.0, 0.0), kind: str = "MESH") -> bpy.types.Object:
    return torus(name, location, kind, major_segments=24, minor_segments=12)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_compound_meets_a_mesh(swapped: bool) -> None:
    a, b = l_shape("A", kind="COMPOUND"), l_shape("B", (1.3, 1.2, 0.0), "MESH")
    pair = (b, a) if swapped else (a, b)
    assert inspect(*pair).contact.depth == pytest.approx(0.0, abs=1e-6)  # in the notch: 0.3 and 0.2 free
    b.location = (0.7, 0.8, 0.0)
    c = verified(*pair)
    assert (c.depth, c.status) == (pytest.approx(np.hypot(0.3, 0.2), rel=1e-4), "certified")
    assert not any("crosses itself" in text for text in notes()), "its pieces do, not the object"
    b.location = (4.0, 0.5, 0.0)
    assert inspect(*pair).contact.signed_distance == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("AUTOMATIC", "Mesh, solid, automatic"), ("COMPOUND", "Compound, 2 pieces, exact"), ("MESH", "Mesh, solid")],
)
def test_a_cube_in_the_notch_of_an_l_and_pressed_into_it(kind: str, shown: str) -> None:
    # The hull of the L contains the cube; the L itself is 0.2 away from it on both sides.
    a, b = l_shape("L", kind=kind), cube("B", (1.7, 1.7, 0.5), 1.0)
    c = verified(a, b)
    assert (c.relation, c.signed_distance) == ("separated", pytest.approx(0.2, rel=1e-5))
    assert lines()["Shape of A"] == shown
    b.location = (1.3, 1.2, 0.5)
    c = verified(a, b)
    assert (c.depth, c.status) == (pytest.approx(np.hypot(0.2, 0.3), rel=1e-4), "certified")
    assert c.mtv == pytest.approx((0.2, 0.3, 0.0), abs=1e-4)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert inspection().contact.relation == "touching"
    a.contact_lens_shape = "CONVEX_HULL"
    assert inspect(a, b).contact.depth > 0.1


def test_a_compound_with_many_edges_that_bend_inward_is_cut_and_says_how_near_it_is() -> None:
    """Pieces of a ring leave its hole open, also as parts of a compound parent, whose parts are always cut."""
    ring, ball = smooth_ring("Ring", kind="COMPOUND"), cube("B", size=0.2)
    assert inspect(ring, ball).contact.relation == "separated"
    (text,) = (text for text in notes() if "approximated" in text)
    assert re.match(
        r"'Ring' is approximated by \d+ convex pieces \(.* of theirs, which reach up to .* outside of it$", text
    )
    parent = rigid_body(cube("Parent"), "COMPOUND")
    adopt(parent, rigid_body(ring, "MESH"))
    for kind in ("AUTOMATIC", "COMPOUND"):
        ring.contact_lens_shape = kind
        assert inspect(parent, ball).contact.relation == "separated"
    ring.contact_lens_shape = "CONVEX_HULL"
    assert inspect(parent, ball).contact.relation == "b_inside_a"


def test_a_compound_of_an_open_mesh_is_refused_by_name() -> None:
    """Pieces of a cup without thickness would fill it."""
    rim = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, -1)]
    cup = mesh_object("Cup", rim, [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)], kind="COMPOUND")
    ball = cube("B", size=0.2)
    words = "cannot collide as a compound (the mesh is not closed): choose {} as its collision shape, or fill its holes"
    refused(cup, ball, f"'Cup' {words.format('Mesh or Convex Hull')}")
    assert inspection() is None
    cup.contact_lens_shape = "CONVEX_HULL"
    assert inspect(cup, ball).contact.relation == "penetrating", "what the reason says to choose works"
    parent = rigid_body(cube("Parent"), "COMPOUND")
    cup.contact_lens_shape = "AUTOMATIC"
    adopt(parent, rigid_body(cup, "MESH"))
    refused(parent, ball, f"'Parent' cannot collide: its part 'Cup' {words.format('Convex Hull')}")


@pytest.mark.parametrize("kind", ["COMPOUND", "MESH"])
def test_a_translation_that_ends_in_a_notch_is_said_to(kind: str) -> None:
    """A tooth that is moved sideways into a slot of its width."""
    slot = prism("Slot", [(0, 0), (5, 0), (5, 4), (3, 4), (3, 1), (2, 1), (2, 4), (0, 4)], kind)
    tooth = block("Tooth", (1.0, 4.0, 1.0), (2.25, 3.5, 0.5), "MESH")
    assert verified(slot, tooth).mtv == pytest.approx((0.25, 0.0, 0.0), abs=1e-5)
    assert any("ends in a notch" in text for text in notes())
    tooth.location.x = 3.5
    inspect(slot, tooth)
    assert not any("ends in a notch" in text for text in notes()), "1 into the slot, and 1 upward into the open"


def test_linked_rings_are_apart_as_meshes() -> None:
    a, b = smooth_ring("A"), smooth_ring("B", (1.0, 0.0, 0.0))
    b.rotation_euler = (np.radians(90.0), 0.0, 0.0)
    assert (inspect(a, b).contact.relation, notes()) == ("separated", [])
    assert "(as " not in one_line()


def test_crossing_meshes_show_the_curves_in_which_they_meet() -> None:
    found = inspect(smooth_ring("A"), block("B", (0.3, 0.3, 1.2), (1.0, 0.0, 0.0)))
    assert len(found.contact.curves) == 2  # in at the top and out at the bottom
    assert "curves" in layers()
    assert lines()["Curves"].startswith("2, ")


def test_a_mesh_inside_of_another_object_is_outlined_and_none_beside_it() -> None:
    bpy.ops.mesh.primitive_torus_add(major_segments=48, minor_segments=24)
    torus = bpy.context.object
    inspect(torus, cube("B", (4.0, 0.0, 0.0)))
    assert "outline a" not in layers()
    inspect(torus, cube("Around", size=6.0))
    glyphs = layers()["outline a"]
    assert 0.9 * 2 * 48 * 24 < len(glyphs) // 6 <= 2 * 48 * 24, "the edges of its quads, not their diagonals"
    assert glyphs["side_a"].any(axis=1).all(), "seen where they are at the outline"


def test_an_open_mesh_is_a_surface() -> None:
    a = sheet("Sheet", [(-2, -2), (2, -2), (2, 2), (-2, 2)], kind="MESH")
    found = inspect(a, cube("B", (0.0, 0.0, 0.3)))
    assert (found.contact.relation, found.contact.depth) == ("penetrating", pytest.approx(0.7, abs=1e-6))
    assert any("only its surface collides" in text for text in notes())
    assert lines()["Shape of A"] == "Mesh, surface"
    assert pair_report()
    assert layers()


@pytest.mark.parametrize("kind_a", ["COMPOUND", "MESH"])
@pytest.mark.parametrize("kind_b", [*PRIMITIVES, "CONVEX_HULL", "COMPOUND", "MESH"])
def test_compounds_and_meshes_meet_every_shape(kind_a: str, kind_b: str) -> None:
    found = inspect(l_shape("A", kind=kind_a), block("B", (1.0, 1.0, 1.0), (1.4, 1.3, 0.5), kind_b))
    assert found.verification.ok or found.contact.reason, found.verification
    assert found.contact.relation == "penetrating"
    if kind_b != "CONE":
        assert found.contact.depth == pytest.approx({"SPHERE": 0.2, "CAPSULE": 0.2}.get(kind_b, 0.2236), abs=0.05)
    assert pair_report()
    assert layers()


def test_where_both_surfaces_are_open_there_is_no_depth_and_nothing_says_so_in_zeros() -> None:
    bpy.ops.mesh.primitive_uv_sphere_add()
    ball = bpy.context.object
    lower = [tuple(f.vertices) for f in ball.data.polygons if f.center.z < 0.0]
    bowl = mesh_object("Bowl", [tuple(v.co) for v in ball.data.vertices], lower, kind="MESH")
    inspect(bowl, pane("B"))
    data = pair_report()["contact"]
    none = dict.fromkeys(("signed_distance", "depth", "normal", "mtv", "lower_bound"))
    assert data == data | none | {"has_depth": False, "intersects": True}
    shown = lines()
    assert shown["Status"] == "No depth"
    assert not {"Depth", "Gap", "Direction", "Move B By", "Proved"} & set(shown)
    assert "no depth: both surfaces are open" in one_line()
    assert notes().count("Open surfaces have no inside, so there is no depth") == 1
    assert not any("has no inside" in line.lower() for line in notes()[:-1])
    assert not bpy.ops.contact_lens.separate.poll()


def test_a_convex_mesh_of_a_rigid_body_keeps_its_depth() -> None:
    floor = rigid_body(sheet("Floor", [(-5, -5), (5, -5), (5, 5), (-5, 5)]), "MESH")
    floor.rigid_body.type = "PASSIVE"
    found = inspect(floor, cube("B", (0.0, 0.0, 0.9)))
    assert (found.contact.depth, found.proxy_a.kind) == (pytest.approx(0.1, abs=1e-5), "CONVEX_HULL")


@pytest.mark.parametrize("kind", ["MESH", "COMPOUND"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_ball_above_a_mesh_is_as_far_as_its_centre_less_the_radius(kind: str, swapped: bool) -> None:
    floor = block("Floor", (10.0, 10.0, 2.0), (0.0, 0.0, -1.0), kind)
    ball = cube("Ball", (0.0, 0.0, 1.0), kind="SPHERE")
    pair = (ball, floor) if swapped else (floor, ball)
    c = verified(*pair)
    assert (c.relation, c.signed_distance, c.status) == ("touching", pytest.approx(0.0, abs=1e-9), "certified")
    ball.location.z = 1.05
    c = verified(*pair)
    above = pytest.approx(0.05, abs=1e-6)  # single precision of the location
    points = (c.point_on_a, c.point_on_b) if swapped else (c.point_on_b, c.point_on_a)
    assert (c.signed_distance, *(point[2] for point in points)) == (above, above, pytest.approx(0.0, abs=1e-6))
    assert c.lower_bound <= c.signed_distance <= c.upper_bound


@pytest.mark.parametrize("kind", ["MESH", "COMPOUND"])
@pytest.mark.parametrize("shape", ["CYLINDER", "CONE"])
@pytest.mark.parametrize("swapped", [False, True])
def test_round_shapes_beside_a_mesh_are_exactly_as_far_away(kind: str, shape: str, swapped: bool) -> None:
    # The rim of a disk turned about X, above a floor: its lowest point is a radius along the disk's own Y below.
    floor = block("Floor", (10.0, 10.0, 2.0), (0.0, 0.0, -1.0), kind)
    round_one, turn = block("Round", (2.0, 2.0, 2.0), (0.1, 0.2, 2.0), shape), 0.3
    round_one.rotation_euler = (turn, 0.0, 0.0)
    c = verified(*((round_one, floor) if swapped else (floor, round_one)))
    assert c.signed_distance == pytest.approx(2.0 - np.cos(turn) - np.sin(turn), abs=1e-6), "single precision"
    assert c.status == "certified"
    assert c.lower_bound <= c.signed_distance <= c.upper_bound < c.lower_bound + 1e-8
    assert not any("facets" in text for text in notes())


def test_a_method_that_is_not_used_is_told() -> None:
    a, b = l_shape("A"), cube("B", (1.3, 1.2, 0.5), 1.0)
    for kind, method, words in (
        ("COMPOUND", "SAT", ["Method SAT is for convex shapes: compounds use their own method"]),
        ("MESH", "BOTH", ["Method Both is for convex shapes: meshes use their own method"]),
        ("CONVEX_HULL", "SAT", []),
    ):
        a.contact_lens_shape = kind
        inspect(a, b, method=method)
        assert [text for text in notes() if "Method" in text] == words


def test_lengths_in_warnings_follow_the_units_of_the_scene() -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    inspect(torus("Torus"), cube("Ball", (1.0, 0.0, 0.2), 1.0, "CYLINDER"))
    told = " ".join(notes())
    assert re.search(r"'Ball': its surface is approximated by \d+ facets, at most [0-9.e-]+ cm inside it", told)
    assert set(re.findall(r"[0-9]+\.[0-9]+(?:e-[0-9]+)? (\w+)", told)) == {"cm"}


# --- in the plane -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.7, 0.4, 0.2), (np.pi / 2.0, 0.0, 0.0)])
def test_flat_meshes_in_one_plane_have_a_depth_there(turn: tuple[float, ...]) -> None:
    a, b, frame = sheet("A"), sheet("B", SQUARE, (1.5, 0.2, 0.0)), add_object("Frame")
    adopt(frame, a, b)
    frame.rotation_euler, frame.location = turn, (3.0, 2.0, 1.0)
    in_space = inspect(a, b).contact
    assert in_space.depth == pytest.approx(0.0, abs=1e-6)  # a sheet slides out of the plane
    c = verified(a, b, flat=True)
    assert (c.depth, c.region.length) == (pytest.approx(0.5, abs=1e-5), pytest.approx(1.8, abs=1e-5))
    assert c.normal == pytest.approx(np.array(frame.matrix_world)[:3, 0], abs=1e-6)
    assert lines()["Depth"] == "0.5 m"
    assert pair_report()
    assert layers()
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert inspection().contact.relation == "touching"


def test_flat_meshes_off_each_others_plane_are_refused_with_the_reason() -> None:
    a = sheet("A", SQUARE)
    refused(a, sheet("B", SQUARE, (1.5, 0.0, 0.25)), r"'B' is up to 0.25 m off the plane of 'A'", flat=True)
    refused(a, cube("C"), "'C' is not flat", flat=True)


def test_2d_is_told_and_ends_with_the_pair_the_plane_and_the_setting() -> None:
    a, b = sheet("A"), sheet("B", SQUARE, (1.5, 0.2, 0.0))
    inspect(a, b, flat=True)
    assert lines()["Plane Normal"] == "0.00 0.00 1.00"
    assert one_line().endswith("(2D)")
    assert inspect(a, b).flat is not None, "the same pair stays in its plane"
    b.location.z = 0.25
    update()
    with pytest.raises(RuntimeError, match=r"'B' is up to 0.25 m off the plane of 'A'. Disable 2D to inspect"):
        bpy.ops.contact_lens.refresh()
    assert inspection() is None
    assert "Disable 2D" in lens.pair.session.error(bpy.context)
    bpy.context.scene.contact_lens.flat = False
    assert refresh().flat is None
    assert "Plane Normal" not in lines()
    b.location.z = 0.0
    inspect(a, b, flat=True)
    c = cube("C")
    assert inspect(a, c).flat is None, "another pair is not asked to be flat"
    settings = bpy.context.scene.contact_lens
    assert not settings.flat
    inspect(a, b, flat=True)
    bpy.ops.contact_lens.swap()
    assert settings.flat, "the same pair"
    settings.object_a = c
    assert not settings.flat, "another one is picked"
    assert refresh().flat is None
    inspect(a, b, flat=True)
    bpy.ops.contact_lens.check_scene()
    check = bpy.context.scene.contact_lens_check
    check.active = next(k for k, found in enumerate(check.findings) if c in (found.object_a, found.object_b))
    assert not settings.flat, "a clash is opened"
    assert inspection().flat is None


def test_dented_and_round_shapes_in_the_plane() -> None:
    notched = sheet("L", L_SHAPE, kind="COMPOUND")
    b = sheet("B", 0.5 * np.array(SQUARE), (1.3, 1.2, 0.0))
    assert verified(notched, b, flat=True).mtv == pytest.approx((0.2, 0.3, 0.0), abs=1e-4)
    b.contact_lens_shape, b.location = "SPHERE", (2.0, 2.0, 0.0)
    assert inspect(notched, b, flat=True).contact.signed_distance == pytest.approx(0.5, abs=0.01)
    a = sheet("Round", SQUARE, (4.0, 2.0, 0.0), "SPHERE")
    assert verified(a, b, flat=True).signed_distance == pytest.approx(0.5)
    a.contact_lens_shape = "CYLINDER"
    refused(a, b, "'Round' is flat along its local Z", flat=True)


def crossing_ramps() -> None:
    """Two ramps that are apart, in boxes of rigid bodies that are not."""
    bpy.ops.rigidbody.world_add()
    faces = [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)]
    corners = np.array([(x, y, z) for y in (-1.0, 1.0) for x, z in ((-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0))])
    rigid_body(mesh_object("Low", corners, faces), "BOX")
    rigid_body(mesh_object("High", -corners, faces, (0.2, 0.0, 0.2)), "CYLINDER")


def test_the_terminal_names_shapes_that_are_not_the_mesh(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    crossing_ramps()
    cube("Plain", (0.0, 5.0, 0.0)), cube("Other", (0.0, 6.0, 0.0))
    file = save_scene(tmp_path / "track.blend")
    code, report = run_json(file)
    assert code == 1
    (row,) = (row for row in report["checks"][0]["findings"] if row["a"]["name"] != "Other")
    assert {side["name"]: (side["checked_as"], side["shape_source"]) for side in (row["a"], row["b"])} == {
        "Low": ("box", "rigid_body"),
        "High": ("cylinder", "rigid_body"),
    }
    capfd.readouterr()
    assert run(file) == 1
    line, plain = sorted(line for line in capfd.readouterr().out.splitlines() if "penetrating  " in line)
    assert {"High (as a cylinder of its rigid body)", "Low (as a box of its rigid body)"} < {*re.split(" {2,}", line)}
    assert "(" not in plain


def test_shapes_of_a_check_can_be_the_meshes_or_their_hulls(tmp_path: Path) -> None:
    crossing_ramps()
    mesh_object("Path", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    bowl = torus("Ring", (0.0, 20.0, 0.0))
    bowl.contact_lens_shape = "BOX"
    cube("Inside", (0.0, 20.0, 0.0), size=0.4)
    file = save_scene(tmp_path / "track.blend")

    def found(*options: str) -> set[tuple[str, str]]:
        (check,) = run_json(file, *options)[1]["checks"]
        assert check["settings"]["shapes"] == (options[1] if options else "automatic")
        return {tuple(sorted(row[side]["name"] for side in "ab")) for row in check["findings"]}  # type: ignore[misc]

    assert found() == found("--shapes", "automatic") == {("High", "Low"), ("Inside", "Ring")}
    assert found("--shapes", "mesh") == set()
    assert found("--shapes", "hull") == {("Inside", "Ring")}
