# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender could not evaluate is never called clean: libraries, drivers, caches, and checks of nothing."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from . import scenes
from .layouts import Layout
from .processes import in_process, installed, modules_of
from .reports import run, run_json
from .scenes import (
    add_object,
    animate,
    collection_of,
    cube,
    fresh,
    inspect,
    instance_of,
    lens,
    link,
    mesh_object,
    open_scene,
    save_scene,
    shape_key,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

NEEDS_SCRIPTS = "bpy.context.scene.frame_current * 0 + 1.5"
"""An expression that Blender evaluates only where scripts are allowed."""


def drive(block: Any, path: str, expression: str, index: int = -1) -> bpy.types.FCurve:
    curve: bpy.types.FCurve = block.driver_add(path, index)
    curve.driver.type, curve.driver.expression = "SCRIPTED", expression
    return curve


def checked(scene: Path, *arguments: object) -> tuple[int, dict[str, Any]]:
    """Run a check that writes JSON. Returns the exit code and the last check."""
    code, document = run_json(scene, *arguments)
    return code, document["checks"][-1]


def unchecked(scene: Path, kind: str, *arguments: object) -> dict[str, str]:
    """The reasons of one kind for which things are unchecked, by name; the check fails for nothing else."""
    code, check = checked(scene, *arguments)
    assert (code, check["findings"]) == (3, [])
    return {skip["name"]: skip["reason"] for skip in check["skipped"] if skip["unchecked"] and skip["kind"] == kind}


def texts_of_panel() -> list[str]:
    """What the panel Scene Check says, one text a paragraph."""
    panel, texts = lens.ui.scene_panel, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel.layout, "sentence", lambda layout, context, text, icon="NONE": texts.append(text))
        panel.CONTACT_LENS_PT_scene.draw(SimpleNamespace(layout=Layout()), bpy.context)
    return texts


# --- libraries ------------------------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library with a collection of one object."""
    seat = cube("Seat")
    collection_of("Chair", seat)
    bpy.context.scene.collection.objects.unlink(seat)
    path = save_scene(tmp_path / "library.blend")
    fresh()
    return path


def links_object(library: Path) -> str:
    bpy.context.scene.collection.objects.link(link(library, objects=["Seat"]).objects[0])
    return "Seat"


def links_collection(library: Path) -> str:
    bpy.context.scene.collection.children.link(link(library, collections=["Chair"]).collections[0])
    return "Chair"


def instances_collection(library: Path) -> str:
    return instance_of(link(library, collections=["Chair"]).collections[0], "Inst").name


def links_mesh(library: Path) -> str:
    return add_object("Local", link(library, meshes=["Seat"]).meshes[0]).name


def overrides(library: Path) -> str:
    collection = link(library, collections=["Chair"]).collections[0]
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    return "Seat"


def is_parented(library: Path) -> str:
    links_object(library)
    cube("Child", (0.0, 0.0, 9.0)).parent = bpy.data.objects["Seat"]
    return "Child"


USES = [links_object, links_collection, instances_collection, links_mesh, overrides, is_parented]


@pytest.mark.parametrize(
    ("use", "content"),
    [*((use, None) for use in USES), (links_object, b"no blend file"), (links_collection, b"cut")],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_comes_from_a_missing_library_is_unchecked(
    library: Path, tmp_path: Path, use: Callable[[Path], str], content: bytes | None
) -> None:
    name = use(library)
    cube("Other", (20.0, 0.0, 0.0))
    scene = save_scene(tmp_path / "scene.blend")
    assert checked(scene)[0] == 0, "while the library is there"
    whole = library.read_bytes()
    library.unlink()
    if content is not None:
        library.write_bytes(whole[: len(whole) // 2] if content == b"cut" else content)
    reason = unchecked(scene, "library")[name]
    assert f"'{name}'" in reason
    assert f"//library.blend', which {'does not exist' if content is None else 'cannot be read'}" in reason
    code, check = checked(scene, "--allow-skipped")
    assert code == 0
    bpy.ops.contact_lens.check_scene()
    of_panel = json.loads(bpy.context.scene.contact_lens_check.summary)["skipped"]
    assert sorted(entry["reason"] for entry in of_panel) == sorted(entry["reason"] for entry in check["skipped"])
    assert reason[0].upper() + reason[1:] in texts_of_panel(), "the panel shows the same"


def test_an_override_whose_source_was_renamed_in_the_library_is_unchecked(library: Path, tmp_path: Path) -> None:
    overrides(library)
    scene = save_scene(tmp_path / "scene.blend")
    open_scene(library)
    bpy.data.objects["Seat"].name = "Stool"
    bpy.data.collections["Chair"].name = "Stools"
    bpy.ops.wm.save_mainfile()
    words = "overrides 'Seat', which is missing from the library '//library.blend'"
    assert words in unchecked(scene, "library")["Seat"]


# --- drivers --------------------------------------------------------------------------------------------------------


def on_object() -> str:
    drive(bpy.data.objects["B"], "location", NEEDS_SCRIPTS, 0)
    return "location[0]"


def test_faults_of_what_changes_nothing_checked_are_no_matter(library: Path, tmp_path: Path) -> None:
    """A missing library of what is hidden, drivers of what has no place or size, the missing image of a material."""
    for name in links_object(library), links_mesh(library):
        bpy.data.objects[name].hide_set(True)
    a, paint = cube("A"), bpy.data.materials.new("Paint")
    drive(a, "location", "1 +", 0).mute = True
    drive(a, "location", "sin(frame)", 1)
    a.data.materials.append(paint)
    drive(paint, "roughness", "1 +")
    drive(add_object("Lamp", bpy.data.lights.new("Lamp", "POINT")).data, "energy", "1 +")
    if paint.node_tree is None:  # from Blender 5.0 on it is always there, and to ask for it a warning
        paint.use_nodes = True
    image = bpy.data.images.new("Gone", 4, 4)
    image.source, image.filepath = "FILE", str(tmp_path / "gone.png")
    paint.node_tree.nodes.new("ShaderNodeTexImage").image = image
    scene = save_scene(tmp_path / "scene.blend")
    library.unlink()
    code, check = checked(scene)
    assert (code, check["objects"], check["skipped"]) == (0, 1, [])
    fresh()  # Blender as a module does not end while an invalid driver is in memory


def on_parent() -> str:
    bpy.data.objects["B"].parent = rig = add_object("Rig")
    drive(rig, "location", NEEDS_SCRIPTS, 0)
    return "'Rig', which has a driver on location[0]"


def on_constraint_target() -> str:
    where, b = on_parent(), bpy.data.objects["B"]
    b.parent, b.constraints.new("COPY_LOCATION").target = None, b.parent
    return where


def on_driver_target() -> str:
    where, b = on_parent(), bpy.data.objects["B"]
    variable = drive(b, "location", "v", 0).driver.variables.new()
    variable.name, target = "v", variable.targets[0]
    b.parent, target.id, target.data_path = None, b.parent, "location.x"
    return where


def on_shape_key() -> str:
    drive(shape_key(bpy.data.objects["B"]).id_data, 'key_blocks["Key"].value', NEEDS_SCRIPTS)
    return 'key_blocks["Key"].value'


def on_modifier() -> str:
    b = bpy.data.objects["B"]
    b.modifiers.new("Solidify", "SOLIDIFY")
    drive(b, 'modifiers["Solidify"].thickness', NEEDS_SCRIPTS)
    return 'modifiers["Solidify"].thickness'


def on_bone() -> str:
    armature = bpy.data.armatures.new("Skeleton")
    bpy.context.view_layer.objects.active = rig = add_object("Rig", armature)
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
    points = curve.splines.new("POLY").points
    points.add(1)
    points[1].co = (0.0, 0.0, 1.0, 1.0)
    curve.bevel_depth = 0.1
    drive(curve, "bevel_depth", NEEDS_SCRIPTS)
    bpy.data.objects.remove(bpy.data.objects["B"])
    add_object("B", curve)
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
def test_what_depends_on_a_driver_that_was_not_run_is_unchecked(tmp_path: Path, put: Callable[[], str]) -> None:
    cube("A", (50.0, 0.0, 0.0))
    cube("B")
    where = put()
    scene = save_scene(tmp_path / "scene.blend")
    reasons = unchecked(scene, "driver")
    assert set(reasons) == {"B"}, "an empty or an armature is not checked itself"
    assert all(words in reasons["B"] for words in (where, NEEDS_SCRIPTS, "--enable-autoexec")), reasons
    code, check = checked(scene, "--enable-autoexec")
    assert (code, check["skipped"]) == (0, [])


def test_a_driver_that_was_not_run_clears_nothing_and_is_noted(tmp_path: Path) -> None:
    cube("A")
    b, _c = cube("B", (50.0, 0.0, 0.0)), cube("C", (50.5, 0.0, 0.0))
    drive(b, "rotation_euler", NEEDS_SCRIPTS, 2)
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    (row,) = check["findings"]
    assert code == 1
    assert any("'B' has a driver on rotation_euler[2]" in note for note in row["notes"])
    # B is known to collide; once it is apart from C that is not believed.
    open_scene(scene)
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    bpy.data.objects["C"].location.x = 55.0
    inspect(bpy.data.objects["B"], bpy.data.objects["C"])
    assert (finding.is_apart, finding.status == "RESOLVED") == (False, False)
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    assert finding.status != "RESOLVED"


@pytest.mark.parametrize("expression", ["1 / 0", "1 +", "none_such"])
def test_an_invalid_driver_is_unchecked_though_scripts_are_run(tmp_path: Path, expression: str) -> None:
    drive(cube("A"), "location", expression, 1)
    words = f"'A' has a driver on location[1] that has an invalid expression ('{expression}')"
    scene = save_scene(tmp_path / "scene.blend")
    assert unchecked(scene, "driver", "--enable-autoexec") == {"A": words}
    bpy.data.objects["A"].animation_data.drivers[0].mute = True
    bpy.ops.contact_lens.check_scene()
    skipped = json.loads(bpy.context.scene.contact_lens_check.summary)["skipped"]
    fresh()  # Blender as a module does not end while an invalid driver is in memory
    assert skipped == [], "a muted driver drives nothing"


@pytest.mark.slow
@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_scripts_are_run_by_a_module_of_python(addon: ModuleType, tmp_path: Path) -> None:
    drive(cube("A"), "location", NEEDS_SCRIPTS, 0)
    text = bpy.data.texts.new("rig.py")
    text.use_module = True
    text.write("open('ran', 'w').close()")
    save_scene(tmp_path / "scene.blend")
    (tmp_path / "profile").mkdir()
    modules = str(modules_of(addon, tmp_path))
    for expected, options in (3, []), (0, ["--enable-autoexec"]):
        command = [sys.executable, "-m", "contact_lens", "scene.blend", *options]
        code, out, err = in_process(command, tmp_path, PYTHONPATH=modules)
        assert (code, (tmp_path / "ran").exists()) == (expected, expected == 0), err
        assert ("The script 'rig.py' of the file was not run" in out) == (expected == 3)


def test_scripts_are_run_by_a_command_of_blender(packed: Path, tmp_path: Path) -> None:
    drive(cube("A"), "location", NEEDS_SCRIPTS, 0)
    save_scene(tmp_path / "scene.blend")
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
    animate(a, "location", f1=(0.0, 0.0, 0.0), f10=(5.0, 0.0, 0.0))
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
def test_a_missing_mesh_cache_is_unchecked(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    assert (code, check["skipped"]) == (0, [])
    path.unlink()
    (reason,) = unchecked(scene, "cache").values()
    assert re.search(rf"{path.name}.*which does not exist", reason)
    open_scene(scene)
    for obj in bpy.data.objects:
        obj.modifiers.clear()
        obj.constraints.clear()
    bpy.ops.wm.save_mainfile()
    assert checked(scene)[0] == 0, "what is not used is no matter"


def test_a_simulation_counts_where_blender_has_all_its_frames(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_plane_add()
    bpy.context.object.modifiers.new("Cloth", "CLOTH")
    scene = save_scene(tmp_path / "scene.blend")
    assert checked(scene)[0] == 0, "it begins at frame 1"
    expected = {"Plane": "'Plane' has a simulation (Cloth) that is not baked up to frame 20"}
    assert unchecked(scene, "cache", "--frames", "20") == expected
    assert checked(scene, "--frames", "1-5")[0] == 0, "one after the other they are simulated"


def test_a_baked_simulation_counts_until_its_files_are_gone(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_plane_add()
    plane = bpy.context.object
    cache = plane.modifiers.new("Cloth", "CLOTH").point_cache
    scene = save_scene(tmp_path / "scene.blend")
    cache.frame_end, cache.use_disk_cache = 5, True
    with bpy.context.temp_override(scene=bpy.context.scene, active_object=plane, object=plane, point_cache=cache):
        bpy.ops.ptcache.bake(bake=True)
    bpy.ops.wm.save_mainfile()
    for frame in (4, 40):  # at which it has ended
        assert checked(scene, "--frames", frame)[0] == 0
    for path in (tmp_path / "blendcache_scene").iterdir():
        path.unlink()
    words = "'Plane' has a simulation (Cloth) whose baked files are missing"
    assert unchecked(scene, "cache", "--frames", "4") == {"Plane": words}


def simulates_by_nodes() -> None:
    """A cube that moves by 1 m a frame in a simulation zone."""
    group, begin, end = geometry_nodes("Move")
    into, out = (group.nodes.new(f"GeometryNodeSimulation{side}") for side in ("Input", "Output"))
    into.pair_with_output(out)
    move = group.nodes.new("GeometryNodeTransform")
    move.inputs["Translation"].default_value = (1.0, 0.0, 0.0)
    for source, target in ((begin, into), (into, move), (move, out), (out, end)):
        output = source.outputs[0] if source is begin else source.outputs["Geometry"]
        group.links.new(output, target.inputs[0] if target is end else target.inputs["Geometry"])
    cube("Wall", (6.0, 0.0, 0.0))
    cube("Mover").modifiers.new("Nodes", "NODES").node_group = group


def test_a_simulation_zone_counts_where_it_is_baked_to_disk(tmp_path: Path) -> None:
    simulates_by_nodes()
    scene = save_scene(tmp_path / "scene.blend")
    assert checked(scene)[0] == 0, "it begins at frame 1"
    words = "'Mover' has a simulation zone (Nodes) that is not baked to disk up to frame 6"
    # Blender has not simulated the frames before.
    assert unchecked(scene, "cache", "--frames", "6") == {"Mover": words}
    open_scene(scene)
    mover: Any = bpy.data.objects["Mover"]
    nodes, uid = mover.modifiers["Nodes"], mover.session_uid
    (bake,) = nodes.bakes
    if hasattr(bake, "bake_target"):
        bake.bake_target = "DISK"
    bpy.context.scene.frame_end = 8
    with bpy.context.temp_override(object=mover, active_object=mover):
        bpy.ops.object.geometry_node_bake_single(session_uid=uid, modifier_name="Nodes", bake_id=bake.bake_id)
    bpy.ops.wm.save_mainfile()
    folder = Path(bpy.path.abspath(nodes.bake_directory))
    for frame in (6, 20):
        code, check = checked(scene, "--frames", frame)
        assert (code, check["skipped"], len(check["findings"])) == (1, [], 1)
    shutil.rmtree(folder)
    assert unchecked(scene, "cache", "--frames", "6") == {"Mover": words}


@pytest.mark.parametrize(("kind", "objects"), [("HAIR", 7), ("EMITTER", None)])
def test_particles_count_where_they_are_simulated_or_stay_where_they_are(
    tmp_path: Path, kind: str, objects: int | None
) -> None:
    """A cube with particles, each an instance of another cube; hair moves with its surface."""
    ground = cube("Ground")
    ground.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = ground.particle_systems[0].settings
    settings.type, settings.count = kind, 5
    settings.render_type, settings.instance_object = "OBJECT", cube("Seed", (0.0, 0.0, -50.0), 0.01)
    _, check = checked(save_scene(tmp_path / "scene.blend"), "--frames", "20")
    caches = {skip["name"] for skip in check["skipped"] if skip["unchecked"] and skip["kind"] == "cache"}
    assert caches == (set() if objects else {"Ground"})
    assert objects in (None, check["objects"])


def explodes() -> None:
    cube("Other", (50.0, 0.0, 0.0)).modifiers.new("Particles", "PARTICLE_SYSTEM")
    cube("B").modifiers.new("Particles", "PARTICLE_SYSTEM")
    bpy.data.objects["B"].modifiers.new("Explode", "EXPLODE")


def instances_particles() -> None:
    other = cube("Other", (50.0, 0.0, 0.0))
    other.modifiers.new("Particles", "PARTICLE_SYSTEM")
    modifier: Any = cube("B").modifiers.new("Particles", "PARTICLE_INSTANCE")
    modifier.object, modifier.particle_system_index = other, 1


def is_painted() -> None:
    modifier: Any = cube("B").modifiers.new("Paint", "DYNAMIC_PAINT")
    modifier.ui_type = "CANVAS"
    with bpy.context.temp_override(object=bpy.data.objects["B"]):
        bpy.ops.dpaint.type_toggle(type="CANVAS")
    modifier.canvas_settings.canvas_surfaces[0].surface_type = "DISPLACE"


@pytest.mark.slow
@pytest.mark.parametrize("simulate", [explodes, instances_particles, is_painted])
def test_what_moves_vertices_frame_by_frame_counts_where_blender_has_all_frames(
    tmp_path: Path, simulate: Callable[[], None]
) -> None:
    simulate()
    _, check = checked(save_scene(tmp_path / "scene.blend"), "--frames", "20")
    (reason,) = (skip["reason"] for skip in check["skipped"] if skip["name"] == "B" and skip["kind"] == "cache")
    assert "that is not baked up to frame 20" in reason


# --- files ----------------------------------------------------------------------------------------------------------


def displaced(folder: Path) -> Path:
    picture, texture = bpy.data.images.new("Bumps", 4, 4), bpy.data.textures.new("Bumps", "IMAGE")
    picture.filepath_raw, picture.file_format = str(folder / "bumps.png"), "PNG"
    picture.save()
    texture.image = bpy.data.images.load(picture.filepath_raw)
    cube("B").modifiers.new("Displace", "DISPLACE").texture = texture
    return folder / "bumps.png"


def lettered(folder: Path) -> Path:
    path = folder / "font.woff2"
    shutil.copy(Path(bpy.utils.system_resource("DATAFILES")) / "fonts" / "Inter.woff2", path)
    text = bpy.data.curves.new("Text", "FONT")
    text.font, text.extrude = bpy.data.fonts.load(str(path)), 0.1
    add_object("B", text)
    return path


def filled(folder: Path) -> Path:
    smoke = bpy.data.volumes.new("Smoke")
    smoke.filepath = str(folder / "smoke.vdb")
    cube("B").modifiers.new("Surface", "VOLUME_TO_MESH").object = add_object("Smoke", smoke)
    Path(smoke.filepath).touch()
    return folder / "smoke.vdb"


def imported(folder: Path) -> Path:
    if not hasattr(bpy.types, "GeometryNodeImportSTL"):
        pytest.skip("Blender has such nodes from 4.5 on")
    link, own, out, load, join = scenes.geometry_nodes(cube("B"), "GeometryNodeImportSTL", "GeometryNodeJoinGeometry")
    load.inputs["Path"].default_value = str(folder / "part.stl")
    for node in (own, load):
        link(node.outputs[0], join.inputs[0])
    link(join.outputs[0], out.inputs[0])
    (folder / "part.stl").write_text("solid\nendsolid\n")
    return folder / "part.stl"


@pytest.mark.parametrize("make", [displaced, lettered, filled, imported])
def test_what_is_shaped_by_a_missing_file_is_unchecked(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    cube("A", (50.0, 0.0, 0.0))
    path = make(tmp_path)
    scene = save_scene(tmp_path / "scene.blend")
    assert checked(scene)[0] == 0
    path.unlink()
    (reason,) = unchecked(scene, "file").values()
    assert reason.startswith("'B' depends on the ")
    assert f"{path.name}', which does not exist" in reason


# --- nothing to check -----------------------------------------------------------------------------------------------


def test_a_check_of_nothing_is_not_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = cube("A")
    hidden.hide_set(True)
    mesh_object("Nothing", [])
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    assert (code, check["objects"]) == (3, 0)
    assert "Nothing was checked: there is no surface among the visible objects" in capsys.readouterr().err
    assert checked(scene, "--allow-skipped")[0] == 3, "that is about what was skipped"
    assert checked(scene, "--allow-empty")[0] == 0
    open_scene(scene)
    bpy.data.objects["A"].hide_set(False)
    save_scene(scene)
    assert checked(scene)[0] == 0
    assert checked(scene, "--object", "Nothing")[0] == 3, "nothing was compared with A"


def test_volumes_point_clouds_and_hair_are_named_and_do_not_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cube("A")
    add_object("Smoke", bpy.data.volumes.new("Smoke"))
    add_object("Fur", bpy.data.hair_curves.new("Fur"))
    if hasattr(bpy.data.pointclouds, "new"):
        add_object("Dust", bpy.data.pointclouds.new("Dust"))
    else:
        bpy.ops.object.pointcloud_random_add()
        bpy.context.object.name = "Dust"
    scene = save_scene(tmp_path / "scene.blend")
    code, check = checked(scene)
    found = {entry["name"]: (entry["kind"], entry["unchecked"]) for entry in check["skipped"]}
    assert (code, found) == (0, dict.fromkeys(("Smoke", "Dust", "Fur"), ("no_surface", False)))
    run(scene)
    assert "1 object, 0 clashes; left out: 3 objects without a surface\n" in capsys.readouterr().out
