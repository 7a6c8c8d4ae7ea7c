# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender could not evaluate is never called clean: libraries, drivers, caches, and checks of nothing."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from .processes import in_process, installed, modules_of
from .reports import run
from .scenes import cube, inspect, mesh_object
from .test_scene_report import Sidebar

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")

NEEDS_SCRIPTS = "bpy.context.scene.frame_current * 0 + 1.5"
"""An expression that Blender evaluates only where scripts are allowed."""


def save(path: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def fresh() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def drive(block: Any, path: str, expression: str, index: int = -1) -> bpy.types.FCurve:
    curve: bpy.types.FCurve = block.driver_add(path, index)
    curve.driver.type, curve.driver.expression = "SCRIPTED", expression
    return curve


def checked(part: Part, folder: Path, *arguments: object) -> tuple[int, dict[str, Any]]:
    """Run a check that writes JSON. Returns the exit code and the last check."""
    path = folder / "out.json"
    code = run(part, *arguments, "--json", path, "--quiet")
    return code, json.loads(path.read_text(encoding="utf-8"))["checks"][-1]


def unchecked(check: dict[str, Any], kind: str) -> dict[str, str]:
    """The reasons of one kind for which things are unchecked, by name."""
    return {
        entry["name"]: entry["reason"] for entry in check["skipped"] if entry["unchecked"] and entry["kind"] == kind
    }


def texts_of_panel(part: Part) -> list[str]:
    """What the panel Scene Check says, one text a paragraph."""
    panel, texts = part("blender_addon.ui.scene_panel"), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel.layout, "sentence", lambda layout, context, text, icon="NONE": texts.append(text))
        panel.CONTACT_LENS_PT_scene.draw(SimpleNamespace(layout=Sidebar()), bpy.context)
    return texts


# --- libraries ------------------------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library with a collection of one object."""
    collection = bpy.data.collections.new("Chair")
    bpy.context.scene.collection.children.link(collection)
    seat = cube("Seat")
    bpy.context.scene.collection.objects.unlink(seat)
    collection.objects.link(seat)
    return save(tmp_path / "library.blend")


def link(library: Path, **wanted: list[str]) -> Any:
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, linked):
        for kind, names in wanted.items():
            setattr(linked, kind, names)
    return linked


def links_object(library: Path) -> str:
    bpy.context.scene.collection.objects.link(link(library, objects=["Seat"]).objects[0])
    return "Seat"


def links_collection(library: Path) -> str:
    bpy.context.scene.collection.children.link(link(library, collections=["Chair"]).collections[0])
    return "Chair"


def instances_collection(library: Path) -> str:
    empty = bpy.data.objects.new("Inst", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", link(library, collections=["Chair"]).collections[0]
    bpy.context.scene.collection.objects.link(empty)
    return "Inst"


def links_mesh(library: Path) -> str:
    local = bpy.data.objects.new("Local", link(library, meshes=["Seat"]).meshes[0])
    bpy.context.scene.collection.objects.link(local)
    return "Local"


def overrides(library: Path) -> str:
    collection = link(library, collections=["Chair"]).collections[0]
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    return "Seat"


def is_parented(library: Path) -> str:
    links_object(library)
    child = cube("Child", (0.0, 0.0, 9.0))
    child.parent = bpy.data.objects["Seat"]
    return "Child"


USES = [links_object, links_collection, instances_collection, links_mesh, overrides, is_parented]


@pytest.mark.parametrize("use", USES, ids=[use.__name__ for use in USES])
@pytest.mark.parametrize("broken", ["deleted", "cut", "no blend file"])
def test_what_comes_from_a_missing_library_is_unchecked(
    part: Part, library: Path, tmp_path: Path, use: Callable[[Path], str], broken: str
) -> None:
    fresh()
    name = use(library)
    cube("Other", (20.0, 0.0, 0.0))
    scene = save(tmp_path / "scene.blend")
    assert checked(part, tmp_path, scene)[0] == 0, "while the library is there"
    content = library.read_bytes()
    library.unlink()
    if broken != "deleted":
        library.write_bytes(content[: len(content) // 2] if broken == "cut" else b"no blend file")
    code, check = checked(part, tmp_path, scene)
    assert code == 3
    reasons = unchecked(check, "library")
    assert name in reasons, check["skipped"]
    assert f"'{name}'" in reasons[name]
    where = "which does not exist" if broken == "deleted" else "which cannot be read"
    assert f"//library.blend', {where}" in reasons[name]
    assert checked(part, tmp_path, scene, "--allow-skipped")[0] == 0
    bpy.ops.contact_lens.check_scene()
    summary = json.loads(bpy.context.scene.contact_lens_check.summary)
    assert summary["skipped"] == check["skipped"]
    assert f"Not checked: {reasons[name]}" in texts_of_panel(part), "the panel shows the same"


def test_an_override_whose_source_was_renamed_in_the_library_is_unchecked(
    part: Part, library: Path, tmp_path: Path
) -> None:
    fresh()
    overrides(library)
    scene = save(tmp_path / "scene.blend")
    bpy.ops.wm.open_mainfile(filepath=str(library))
    bpy.data.objects["Seat"].name = "Stool"
    bpy.data.collections["Chair"].name = "Stools"
    bpy.ops.wm.save_mainfile()
    code, check = checked(part, tmp_path, scene)
    assert code == 3
    assert (
        "overrides 'Seat', which is missing from the library '//library.blend'" in unchecked(check, "library")["Seat"]
    )


def test_a_missing_library_that_nothing_checked_uses_is_no_matter(part: Part, library: Path, tmp_path: Path) -> None:
    fresh()
    links_object(library)
    bpy.data.objects["Seat"].hide_set(True)
    links_mesh(library)
    bpy.data.objects["Local"].hide_set(True)
    cube("Other")
    scene = save(tmp_path / "scene.blend")
    library.unlink()
    code, check = checked(part, tmp_path, scene)
    assert (code, unchecked(check, "library")) == (0, {})


# --- drivers --------------------------------------------------------------------------------------------------------


def on_object() -> str:
    drive(bpy.data.objects["B"], "location", NEEDS_SCRIPTS, 0)
    return "location[0]"


def on_parent() -> str:
    empty = bpy.data.objects.new("Rig", None)
    bpy.context.scene.collection.objects.link(empty)
    drive(empty, "location", NEEDS_SCRIPTS, 0)
    bpy.data.objects["B"].parent = empty
    return "'Rig', which has a driver on location[0]"


def on_constraint_target() -> str:
    on_parent()
    bpy.data.objects["B"].parent = None
    bpy.data.objects["B"].constraints.new("COPY_LOCATION").target = bpy.data.objects["Rig"]
    return "'Rig', which has a driver on location[0]"


def on_driver_target() -> str:
    on_parent()
    bpy.data.objects["B"].parent = None
    variable = drive(bpy.data.objects["B"], "location", "v", 0).driver.variables.new()
    variable.name = "v"
    variable.targets[0].id, variable.targets[0].data_path = bpy.data.objects["Rig"], "location.x"
    return "'Rig', which has a driver on location[0]"


def on_shape_key() -> str:
    b = bpy.data.objects["B"]
    b.shape_key_add(name="Basis")
    b.shape_key_add(name="Wide")
    drive(b.data.shape_keys, 'key_blocks["Wide"].value', NEEDS_SCRIPTS)
    return 'key_blocks["Wide"].value'


def on_modifier() -> str:
    b = bpy.data.objects["B"]
    b.modifiers.new("Solidify", "SOLIDIFY")
    drive(b, 'modifiers["Solidify"].thickness', NEEDS_SCRIPTS)
    return 'modifiers["Solidify"].thickness'


def on_bone() -> str:
    armature = bpy.data.armatures.new("Skeleton")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("Arm").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects["B"].modifiers.new("Armature", "ARMATURE").object = rig
    drive(rig, 'pose.bones["Arm"].location', NEEDS_SCRIPTS, 0)
    return "'Rig', which has a driver on pose.bones[\"Arm\"].location[0]"


def geometry_nodes(name: str) -> tuple[Any, Any, Any]:
    """A node group that passes its geometry on, its input and its output."""
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    begin, end = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    group.links.new(begin.outputs[0], end.inputs[0])
    return group, begin, end


def on_nodes() -> str:
    group, _, _ = geometry_nodes("Grow")
    group.nodes.new("ShaderNodeValue")
    bpy.data.objects["B"].modifiers.new("Nodes", "NODES").node_group = group
    drive(group, 'nodes["Value"].outputs[0].default_value', NEEDS_SCRIPTS)
    return "the node group 'Grow', which has a driver on nodes[\"Value\"].outputs[0].default_value"


def on_curve() -> str:
    curve = bpy.data.curves.new("Tube", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.0, 0.0, 1.0, 1.0)
    curve.bevel_depth = 0.1
    drive(curve, "bevel_depth", NEEDS_SCRIPTS)
    bpy.data.objects.remove(bpy.data.objects["B"])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("B", curve))
    return "the curve 'Tube', which has a driver on bevel_depth"


DRIVEN = [
    on_object,
    on_parent,
    on_constraint_target,
    on_driver_target,
    on_shape_key,
    on_modifier,
    on_bone,
    on_nodes,
    on_curve,
]


@pytest.mark.parametrize("put", DRIVEN, ids=[put.__name__ for put in DRIVEN])
def test_what_depends_on_a_driver_that_was_not_run_is_unchecked(
    part: Part, tmp_path: Path, put: Callable[[], str]
) -> None:
    cube("A", (50.0, 0.0, 0.0))
    cube("B")
    where = put()
    scene = save(tmp_path / "scene.blend")
    code, check = checked(part, tmp_path, scene)
    assert code == 3
    reasons = unchecked(check, "driver")
    assert set(reasons) == {"B"}, "an empty or an armature is not checked itself"
    assert where in reasons["B"]
    assert NEEDS_SCRIPTS in reasons["B"]
    assert "--enable-autoexec" in reasons["B"]
    code, check = checked(part, tmp_path, scene, "--enable-autoexec")
    assert (code, check["skipped"]) == (0, [])


def test_a_driver_that_was_not_run_clears_nothing_and_is_noted(part: Part, tmp_path: Path) -> None:
    cube("A")
    b = cube("B", (50.0, 0.0, 0.0))
    c = cube("C", (50.5, 0.0, 0.0))
    assert c
    drive(b, "rotation_euler", NEEDS_SCRIPTS, 2)
    scene = save(tmp_path / "scene.blend")
    code, check = checked(part, tmp_path, scene)
    assert code == 1
    (row,) = check["findings"]
    assert any("'B' has a driver on rotation_euler[2]" in note for note in row["notes"])
    # B is known to collide; once it is apart from C that is not believed.
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    bpy.data.objects["C"].location.x = 55.0
    inspect(bpy.data.objects["B"], bpy.data.objects["C"])
    assert not finding.is_apart
    assert finding.status != "RESOLVED"
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    assert finding.status != "RESOLVED"


@pytest.mark.parametrize("expression", ["1 / 0", "1 +", "none_such"])
def test_an_invalid_driver_is_unchecked_though_scripts_are_run(part: Part, tmp_path: Path, expression: str) -> None:
    drive(cube("A"), "location", expression, 1)
    scene = save(tmp_path / "scene.blend")
    code, check = checked(part, tmp_path, scene, "--enable-autoexec")
    assert code == 3
    assert unchecked(check, "driver") == {
        "A": f"'A' has a driver on location[1] that has an invalid expression ('{expression}')"
    }


def test_drivers_that_move_nothing_checked_are_no_matter(part: Part, tmp_path: Path) -> None:
    a = cube("A")
    drive(a, "location", "1 +", 0).mute = True
    drive(a, "location", "sin(frame)", 1)
    material = bpy.data.materials.new("Paint")
    a.data.materials.append(material)
    drive(material, "roughness", "1 +")
    light = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(light)
    drive(light.data, "energy", "1 +")
    code, check = checked(part, tmp_path, save(tmp_path / "scene.blend"))
    assert (code, check["skipped"]) == (0, [])


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_scripts_are_run_by_a_module_of_python(addon: ModuleType, tmp_path: Path) -> None:
    drive(cube("A"), "location", NEEDS_SCRIPTS, 0)
    text = bpy.data.texts.new("rig.py")
    text.use_module = True
    text.write("open('ran', 'w').close()")
    save(tmp_path / "scene.blend")
    (tmp_path / "profile").mkdir()
    command = [sys.executable, "-m", "contact_lens", "scene.blend"]
    modules = str(modules_of(addon, tmp_path))
    code, out, err = in_process(command, tmp_path, PYTHONPATH=modules)
    assert code == 3, err
    assert "The script 'rig.py' of the file was not run" in out
    assert not (tmp_path / "ran").exists()
    code, out, err = in_process([*command, "--enable-autoexec"], tmp_path, PYTHONPATH=modules)
    assert (code, "not run" in out) == (0, False), err
    assert (tmp_path / "ran").exists()


def test_scripts_are_run_by_a_command_of_blender(packed: Path, tmp_path: Path) -> None:
    drive(cube("A"), "location", NEEDS_SCRIPTS, 0)
    save(tmp_path / "scene.blend")
    binary = installed(packed, tmp_path)
    check = ["--command", "contact_lens", "check"]
    for expected, arguments in (
        (3, ["-b", "scene.blend", *check]),
        (3, [*check, "scene.blend"]),
        (0, ["-b", "scene.blend", *check, "--enable-autoexec"]),
        (0, [*check, "scene.blend", "--enable-autoexec"]),
        (0, ["-b", "--enable-autoexec", "scene.blend", *check]),
        (0, ["-b", "--enable-autoexec", *check, "scene.blend"]),
    ):
        code, out, err = in_process([binary, *arguments], tmp_path)
        assert code == expected, (arguments, out, err)


# --- caches ---------------------------------------------------------------------------------------------------------


def moving_cube() -> None:
    a = cube("A")
    a.keyframe_insert("location", frame=1)
    a.location.x = 5.0
    a.keyframe_insert("location", frame=10)
    a.modifiers.new("Wave", "WAVE")  # else the mesh itself is not animated


def alembic(folder: Path) -> Path:
    moving_cube()
    path = folder / "cache.abc"
    bpy.ops.wm.alembic_export(filepath=str(path), start=1, end=5)
    fresh()
    bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    return path


def usd(folder: Path) -> Path:
    moving_cube()
    path = folder / "cache.usdc"
    bpy.ops.wm.usd_export(filepath=str(path), export_animation=True)
    fresh()
    bpy.ops.wm.usd_import(filepath=str(path))
    return path


def mdd(folder: Path) -> Path:
    path = folder / "cache.mdd"
    path.write_bytes(bytes(1000))
    cube("A").modifiers.new("Cache", "MESH_CACHE").filepath = str(path)
    return path


def needs(option: str) -> pytest.MarkDecorator:
    built = getattr(bpy.app.build_options, option)
    return pytest.mark.skipif(not built, reason=f"this Blender is built without {option}; the bpy modules have it")


@pytest.mark.parametrize(
    "make", [pytest.param(alembic, marks=needs("alembic")), pytest.param(usd, marks=needs("usd")), mdd]
)
def test_a_missing_mesh_cache_is_unchecked(part: Part, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    scene = save(tmp_path / "scene.blend")
    code, check = checked(part, tmp_path, scene)
    assert (code, check["skipped"]) == (0, [])
    path.unlink()
    code, check = checked(part, tmp_path, scene)
    assert code == 3
    (reason,) = unchecked(check, "cache").values()
    assert path.name in reason
    assert "which does not exist" in reason
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    for obj in bpy.data.objects:
        obj.modifiers.clear()
        obj.constraints.clear()
    bpy.ops.wm.save_mainfile()
    assert checked(part, tmp_path, scene)[0] == 0, "what is not used is no matter"


def test_a_simulation_counts_where_blender_has_all_its_frames(part: Part, tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_plane_add()
    bpy.context.object.modifiers.new("Cloth", "CLOTH")
    scene = save(tmp_path / "scene.blend")
    assert checked(part, tmp_path, scene)[0] == 0, "it begins at frame 1"
    code, check = checked(part, tmp_path, scene, "--frames", "20")
    assert code == 3
    expected = {"Plane": "'Plane' has a simulation (Cloth) that is not baked up to frame 20"}
    assert unchecked(check, "cache") == expected
    assert checked(part, tmp_path, scene, "--frames", "1-5")[0] == 0, "one after the other they are simulated"


def bake(obj: bpy.types.Object) -> None:
    cache = obj.modifiers["Cloth"].point_cache  # type: ignore[attr-defined]
    with bpy.context.temp_override(scene=bpy.context.scene, active_object=obj, object=obj, point_cache=cache):
        bpy.ops.ptcache.bake(bake=True)


def test_a_baked_simulation_counts_until_its_files_are_gone(part: Part, tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_plane_add()
    plane = bpy.context.object
    cache = plane.modifiers.new("Cloth", "CLOTH").point_cache
    scene = save(tmp_path / "scene.blend")
    cache.frame_end, cache.use_disk_cache = 5, True
    bake(plane)
    bpy.ops.wm.save_mainfile()
    assert checked(part, tmp_path, scene, "--frames", "4")[0] == 0
    assert checked(part, tmp_path, scene, "--frames", "40")[0] == 0, "it has ended"
    for path in (tmp_path / "blendcache_scene").iterdir():
        path.unlink()
    code, check = checked(part, tmp_path, scene, "--frames", "4")
    assert code == 3
    assert unchecked(check, "cache") == {"Plane": "'Plane' has a simulation (Cloth) whose baked files are missing"}


def simulates_by_nodes() -> bpy.types.Object:
    """A cube that moves by 1 m a frame in a simulation zone."""
    group, begin, end = geometry_nodes("Move")
    into, out = (group.nodes.new(f"GeometryNodeSimulation{end}") for end in ("Input", "Output"))
    into.pair_with_output(out)
    move = group.nodes.new("GeometryNodeTransform")
    move.inputs["Translation"].default_value = (1.0, 0.0, 0.0)
    group.links.new(begin.outputs[0], into.inputs["Geometry"])
    group.links.new(into.outputs["Geometry"], move.inputs["Geometry"])
    group.links.new(move.outputs["Geometry"], out.inputs["Geometry"])
    group.links.new(out.outputs["Geometry"], end.inputs[0])
    cube("Wall", (6.0, 0.0, 0.0))
    mover = cube("Mover")
    mover.modifiers.new("Nodes", "NODES").node_group = group
    return mover


def test_a_simulation_zone_counts_where_it_is_baked_to_disk(part: Part, tmp_path: Path) -> None:
    mover = simulates_by_nodes()
    scene = save(tmp_path / "scene.blend")
    assert checked(part, tmp_path, scene)[0] == 0, "it begins at frame 1"
    mover = bpy.data.objects["Mover"]
    code, check = checked(part, tmp_path, scene, "--frames", "6")
    assert (code, check["findings"]) == (3, []), "Blender has not simulated the frames before"
    words = "'Mover' has a simulation zone (Nodes) that is not baked to disk up to frame 6"
    assert unchecked(check, "cache") == {"Mover": words}
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    mover = bpy.data.objects["Mover"]
    nodes: Any = mover.modifiers["Nodes"]
    (bake,) = nodes.bakes
    if hasattr(bake, "bake_target"):
        bake.bake_target = "DISK"
    bpy.context.scene.frame_end = 8
    with bpy.context.temp_override(object=mover, active_object=mover):
        bpy.ops.object.geometry_node_bake_single(
            session_uid=mover.session_uid, modifier_name="Nodes", bake_id=bake.bake_id
        )
    bpy.ops.wm.save_mainfile()
    folder = Path(bpy.path.abspath(nodes.bake_directory))
    for frame in (6, 20):
        code, check = checked(part, tmp_path, scene, "--frames", frame)
        assert (code, check["skipped"], len(check["findings"])) == (1, [], 1)
    shutil.rmtree(folder)
    code, check = checked(part, tmp_path, scene, "--frames", "6")
    assert unchecked(check, "cache") == {"Mover": words}


def scatter(kind: str) -> bpy.types.Object:
    """A cube with particles, each an instance of another cube."""
    ground = cube("Ground")
    ground.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = ground.particle_systems[0].settings
    settings.type, settings.count = kind, 5
    settings.render_type, settings.instance_object = "OBJECT", cube("Seed", (0.0, 0.0, -50.0), 0.01)
    return ground


def test_particles_count_where_they_are_simulated_or_stay_where_they_are(part: Part, tmp_path: Path) -> None:
    scatter("HAIR")
    _, check = checked(part, tmp_path, save(tmp_path / "scene.blend"), "--frames", "20")
    assert (unchecked(check, "cache"), check["objects"]) == ({}, 7), "hair moves with its surface"
    fresh()
    scatter("EMITTER")
    _, check = checked(part, tmp_path, save(tmp_path / "scene.blend"), "--frames", "20")
    assert set(unchecked(check, "cache")) == {"Ground"}


def explodes() -> None:
    cube("Other", (50.0, 0.0, 0.0))
    b = cube("B")
    b.modifiers.new("Particles", "PARTICLE_SYSTEM")
    b.modifiers.new("Explode", "EXPLODE")


def instances_particles() -> None:
    explodes()
    other: Any = bpy.data.objects["Other"]
    b = cube("Piece").modifiers.new("Particles", "PARTICLE_INSTANCE")
    other.modifiers.new("Particles", "PARTICLE_SYSTEM")
    b.object, b.particle_system_index = other, 1
    bpy.data.objects.remove(bpy.data.objects["B"])
    bpy.data.objects["Piece"].name = "B"


def is_painted() -> None:
    modifier: Any = cube("B").modifiers.new("Paint", "DYNAMIC_PAINT")
    modifier.ui_type = "CANVAS"
    with bpy.context.temp_override(object=bpy.data.objects["B"]):
        bpy.ops.dpaint.type_toggle(type="CANVAS")
    modifier.canvas_settings.canvas_surfaces[0].surface_type = "DISPLACE"


@pytest.mark.slow
@pytest.mark.parametrize("simulate", [explodes, instances_particles, is_painted])
def test_what_moves_vertices_frame_by_frame_counts_where_blender_has_all_frames(
    part: Part, tmp_path: Path, simulate: Callable[[], None]
) -> None:
    simulate()
    scene = save(tmp_path / "scene.blend")
    _, check = checked(part, tmp_path, scene, "--frames", "20")
    assert "that is not baked up to frame 20" in unchecked(check, "cache")["B"]


# --- files ----------------------------------------------------------------------------------------------------------


def displaced(folder: Path) -> Path:
    picture = bpy.data.images.new("Bumps", 4, 4)
    picture.filepath_raw, picture.file_format = str(folder / "bumps.png"), "PNG"
    picture.save()
    texture: Any = bpy.data.textures.new("Bumps", "IMAGE")
    texture.image = bpy.data.images.load(picture.filepath_raw)
    cube("B").modifiers.new("Displace", "DISPLACE").texture = texture
    return folder / "bumps.png"


def lettered(folder: Path) -> Path:
    fonts = Path(bpy.utils.system_resource("DATAFILES")) / "fonts"
    path = folder / "font.woff2"
    shutil.copy(fonts / "Inter.woff2", path)
    text = bpy.data.curves.new("Text", "FONT")
    text.font, text.extrude = bpy.data.fonts.load(str(path)), 0.1
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("B", text))
    return path


@pytest.mark.parametrize("make", [displaced, lettered])
def test_what_is_shaped_by_a_missing_file_is_unchecked(
    part: Part, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    cube("A", (50.0, 0.0, 0.0))
    path = make(tmp_path)
    scene = save(tmp_path / "scene.blend")
    assert checked(part, tmp_path, scene)[0] == 0
    path.unlink()
    code, check = checked(part, tmp_path, scene)
    assert code == 3
    (reason,) = unchecked(check, "file").values()
    assert reason.startswith("'B' depends on the ")
    assert f"{path.name}', which does not exist" in reason


def test_a_missing_image_of_a_material_is_no_matter(part: Part, tmp_path: Path) -> None:
    a = cube("A")
    paint = bpy.data.materials.new("Paint")
    if paint.node_tree is None:  # from Blender 5.0 on it is always there, and to ask for it a warning
        paint.use_nodes = True
    image = bpy.data.images.new("Gone", 4, 4)
    image.source, image.filepath = "FILE", str(tmp_path / "gone.png")
    paint.node_tree.nodes.new("ShaderNodeTexImage").image = image
    a.data.materials.append(paint)
    code, check = checked(part, tmp_path, save(tmp_path / "scene.blend"))
    assert (code, check["skipped"]) == (0, [])


# --- nothing to check -----------------------------------------------------------------------------------------------


def test_a_check_of_nothing_is_not_clean(part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = cube("A")
    hidden.hide_set(True)
    mesh_object("Nothing", [])
    scene = save(tmp_path / "scene.blend")
    code, check = checked(part, tmp_path, scene)
    assert (code, check["objects"]) == (3, 0)
    assert "Nothing was checked: there is no geometry among the visible objects" in capsys.readouterr().err
    assert checked(part, tmp_path, scene, "--allow-skipped")[0] == 3, "that is about what was skipped"
    assert checked(part, tmp_path, scene, "--allow-empty")[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    bpy.data.objects["A"].hide_set(False)
    save(scene)
    assert checked(part, tmp_path, scene)[0] == 0
    assert checked(part, tmp_path, scene, "--object", "Nothing")[0] == 3, "nothing was compared with A"


def test_volumes_point_clouds_and_hair_are_named_and_do_not_fail(
    part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cube("A")
    for name, data in (
        ("Smoke", bpy.data.volumes.new("Smoke")),
        ("Dust", bpy.data.pointclouds.new("Dust") if hasattr(bpy.data.pointclouds, "new") else None),
        ("Fur", bpy.data.hair_curves.new("Fur")),
    ):
        if data is not None:
            bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, data))
    if "Dust" not in bpy.data.objects:
        bpy.ops.object.pointcloud_random_add()
        bpy.context.object.name = "Dust"
    scene = save(tmp_path / "scene.blend")
    code, check = checked(part, tmp_path, scene)
    assert code == 0
    found = {entry["name"]: (entry["kind"], entry["unchecked"]) for entry in check["skipped"]}
    assert found == dict.fromkeys(("Smoke", "Dust", "Fur"), ("no_surface", False))
    run(part, scene)
    assert "1 object, 0 clashes, 3 without a surface" in capsys.readouterr().out
