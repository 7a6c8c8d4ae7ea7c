# SPDX-License-Identifier: GPL-3.0-or-later
"""What has no faces has no surface to collide with: it is left out and named, unless a shape was chosen for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import run
from .scenes import (
    add_object,
    adopt,
    collection_of,
    cube,
    geometry_nodes,
    inspect,
    instance_of,
    mesh_object,
    rigid_body,
    save_scene,
    select,
    sheet,
    update,
)
from .test_scene_faults import checked

pytestmark = pytest.mark.usefixtures("empty_scene")


def circle(name: str, **settings: object) -> bpy.types.Object:
    """A curve, a circle of the diameter of a cube's edge around the origin."""
    bpy.ops.curve.primitive_bezier_circle_add(radius=1.0)
    obj = bpy.context.object
    obj.name = name
    for setting, value in settings.items():
        setattr(obj.data, setting, value)
    return obj


def wires() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """A path, edges and points, none of which has a face."""
    bpy.ops.mesh.primitive_circle_add(radius=1.0, fill_type="NOTHING")
    edges = bpy.context.object
    edges.name = "Edges"
    return circle("Path"), edges, mesh_object("Points", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])


def without_surface(check: dict[str, Any]) -> dict[str, str]:
    """The reasons why things are left out as they have no surface, by name."""
    left_out = [entry for entry in check["skipped"] if entry["kind"] == "no_surface" and not entry["unchecked"]]
    return {entry["name"]: entry["reason"] for entry in left_out}


def test_what_has_no_face_has_no_surface(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cube("A")
    wires()
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    assert (code, check["objects"], check["findings"]) == (0, 1, [])
    assert sorted(without_surface(check)) == ["Edges", "Path", "Points"]
    run(scene)
    said = capsys.readouterr().out
    assert "1 object, 0 clashes; left out: 3 objects without a surface\n" in said
    assert "left out: 'Path' has no faces, so it has no surface: choose Convex Hull as its collision shape" in said
    assert run(scene, "--object", "Path") == 3
    assert "Nothing was checked: there is no surface in object 'Path'" in capsys.readouterr().err


def test_curves_with_faces_have_a_surface(tmp_path: Path) -> None:
    cube("A")
    circle("Bevelled", bevel_depth=0.1)
    circle("Extruded", extrude=0.1)
    circle("Filled", dimensions="2D", fill_mode="BOTH")
    _, check = checked(save_scene(tmp_path / "scene.blend"))
    assert without_surface(check) == {}
    assert {row["b"]["name"] for row in check["findings"] if row["a"]["name"] == "A"} == {
        "Bevelled",
        "Extruded",
        "Filled",
    }


def test_a_wire_collides_as_the_shape_that_was_chosen_for_it(tmp_path: Path) -> None:
    cube("A")
    path, edges, points = wires()
    path.contact_lens_shape, edges.contact_lens_shape = "CONVEX_HULL", "SPHERE"
    rigid_body(points, "CONVEX_HULL")
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    found = {row["b"]["name"]: row["b"]["checked_as"] for row in check["findings"] if row["a"]["name"] == "A"}
    assert (code, without_surface(check)) == (1, {})
    assert found == {"Path": "convex_hull", "Edges": "sphere", "Points": "convex_hull"}
    bpy.data.objects["Points"].rigid_body.collision_shape = "MESH"  # which there is none of
    _, check = checked(save_scene(scene))
    assert list(without_surface(check)) == ["Points"]
    _, check = checked(scene, "--shapes", "mesh")  # whatever was chosen
    assert without_surface(check)["Path"] == "'Path' has no faces, so it has no surface"


def test_instances_of_wires_are_named_once(tmp_path: Path) -> None:
    members = collection_of("Rig", circle("Path"), cube("Car"), is_only=True)
    instance_of(members, "One"), instance_of(members, "Two", (1.5, 0.0, 0.0))
    points = mesh_object("Scatter", [(0.0, 0.0, 0.0), (9.0, 0.0, 0.0)], location=(0.0, 9.0, 0.0))
    link, own, out, scatter, ring = geometry_nodes(points, "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCircle")
    link(own.outputs[0], scatter.inputs["Points"])
    link(ring.outputs[0], scatter.inputs["Instance"])
    link(scatter.outputs[0], out.inputs[0])
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, check["objects"], len(check["findings"])) == (1, 2, 1)
    assert sorted(without_surface(check)) == ["Path of One", "Path of Two", "Scatter"]


def test_a_compound_parent_with_a_part_without_faces_is_not_checked(tmp_path: Path) -> None:
    parent, wheel, (_, edges, _) = cube("Car"), cube("Wheel"), wires()
    adopt(parent, wheel, edges)
    rigid_body(wheel, "BOX"), rigid_body(edges, "MESH"), rigid_body(parent, "COMPOUND")
    cube("Wall")
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    assert (code, check["findings"]) == (3, [])
    assert "its part 'Edges' has no faces" in str(check["skipped"])
    bpy.data.objects["Edges"].rigid_body.collision_shape = "CONVEX_HULL"
    assert checked(save_scene(scene))[0] == 1


def test_fluids_particles_and_drawings_have_no_surface(tmp_path: Path) -> None:
    cube("A")
    smoke = cube("Smoke").modifiers.new("Fluid", "FLUID")
    smoke.show_viewport, smoke.fluid_type = False, "DOMAIN"  # not simulated, which takes seconds
    emitter = cube("Emitter", (9.0, 0.0, 0.0))
    emitter.modifiers.new("Sparks", "PARTICLE_SYSTEM")
    drawing = "grease_pencil_add" if hasattr(bpy.ops.object, "grease_pencil_add") else "gpencil_add"
    getattr(bpy.ops.object, drawing)(type="STROKE")
    bpy.context.object.name = "Drawing"
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, check["objects"], check["findings"]) == (0, 2, [])
    assert without_surface(check) == {
        "Smoke": "'Smoke' is the domain of a fluid, which has no surface",
        "particles of Emitter": "'Emitter' has particles, which have no surface",
        "Drawing": "'Drawing' is a Grease Pencil drawing, which has no surface",
    }
    bpy.data.objects["Emitter"].modifiers[0].show_viewport = False
    smoke = bpy.data.objects["Smoke"].modifiers[0]
    smoke.domain_settings.domain_type, smoke.domain_settings.use_mesh = "LIQUID", True  # its own surface
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, list(without_surface(check))) == (1, ["Drawing", "particles of Smoke"])


def test_fluids_and_particles_of_instances_have_no_surface(tmp_path: Path) -> None:
    cube("A")
    smoke, furry = cube("Smoke"), cube("Furry", (9.0, 0.0, 0.0))
    fluid = smoke.modifiers.new("Fluid", "FLUID")
    fluid.show_viewport, fluid.fluid_type = False, "DOMAIN"
    furry.modifiers.new("Hair", "PARTICLE_SYSTEM")
    furry.particle_systems[0].settings.type = "HAIR"
    instance_of(collection_of("Effects", smoke, furry, is_only=True), "Set")
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, check["objects"], check["findings"]) == (0, 2, [])
    assert without_surface(check) == {
        "Smoke of Set": "'Smoke of Set' is the domain of a fluid, which has no surface",
        "hair of Furry of Set": "'Furry of Set' has hair, which has no surface",
    }


def test_what_nodes_make_of_hair_and_meshes_is_named_for_what_it_is(tmp_path: Path) -> None:
    hair = bpy.data.hair_curves.new("Cable")
    hair.add_curves([2])
    link, _, out, box = geometry_nodes(add_object("Cable", hair), "GeometryNodeMeshCube")
    link(box.outputs[0], out.inputs[0])  # no hair is left
    drawn = cube("Drawn", (9.0, 0.0, 0.0))
    link, own, out, ring, join = geometry_nodes(drawn, "GeometryNodeCurvePrimitiveCircle", "GeometryNodeJoinGeometry")
    for node in (own, ring):
        link(node.outputs[0], join.inputs[0])
    link(join.outputs[0], out.inputs[0])
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, check["objects"]) == (0, 2)
    assert [entry["reason"] for entry in check["skipped"]] == ["'Drawn' makes curves, which have no surface"]


def test_what_is_instanced_and_has_no_geometry_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cube("A"), geometry_nodes(gone := cube("Gone"))
    members = collection_of("Set", gone, is_only=True)
    instance_of(members, "One"), instance_of(members, "Two")
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    assert (code, [(entry["name"], entry["kind"]) for entry in check["skipped"]]) == (0, [("Gone", "emptied")])
    run(scene)
    assert "left out, as modifiers leave nothing of it: 'Gone'" in capsys.readouterr().out


def test_nothing_collides_with_what_is_scaled_to_zero(tmp_path: Path) -> None:
    """As animations hide things."""
    cube("A"), cube("B")
    bpy.data.objects["B"].scale = (0.0, 0.0, 0.0)
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, check["findings"]) == (0, [])
    assert without_surface(check) == {"B": "'B' is scaled to zero, so it has no surface"}
    bpy.data.objects["B"].scale = (1.0, 1.0, 0.0)  # flat
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, without_surface(check), len(check["findings"])) == (1, {}, 1)
    bpy.data.objects["B"].scale = (0.0, 1.0, 0.0)  # a line
    code, check = checked(save_scene(tmp_path / "scene.blend"))
    assert (code, check["findings"]) == (0, [])
    assert without_surface(check) == {"B": "'B' is scaled to zero along X and Z, so it has no surface"}


@pytest.mark.parametrize("kind", ["AUTOMATIC", "BOX", "SPHERE", "CONVEX_HULL", "MESH"])
def test_what_is_scaled_to_zero_is_refused_by_name_with_what_to_do(kind: str) -> None:
    a, b, flat = cube("A"), cube("B", kind=kind), sheet("Flat", kind=kind)
    for obj, scale, words in (
        (b, (0.0, 0.0, 0.0), "'B' is scaled to zero, so it has no surface: set its scale, or that of its parents"),
        (b, (0.0, 0.0, 1.0), "'B' is scaled to zero along X and Y, so it has no surface: set its scale"),
        (flat, (0.0, 1.0, 1.0), "'Flat' is scaled to zero along X, so it has no surface: set its scale"),
    ):
        obj.scale = scale
        update()
        select(a, obj)
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.contact_lens.inspect()
    b.scale = (0.0, 1.0, 1.0)
    assert inspect(a, b).contact.intersects, "what is flat is inspected"
