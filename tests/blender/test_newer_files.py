# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a newer Blender: what this one may have lost of them is never called clean."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, run, run_json
from .scenes import add_object, cube, geometry_nodes, link, open_scene, save_scene
from .test_scene_faults import checked, texts_of_panel, unchecked

pytestmark = pytest.mark.usefixtures("empty_scene")

THIS = "{}.{}".format(*bpy.app.version)
NEXT = f"{bpy.app.version[0]}.{bpy.app.version[1] + 1}"


def replaced(path: Path, before: bytes, after: bytes) -> Path:
    """Replace bytes of a file wherever they are."""
    data = path.read_bytes()
    assert before in data
    assert len(before) == len(after)
    path.write_bytes(data.replace(before, after))
    return path


def save_as_newer(path: Path) -> Path:
    """Save the scene as the next Blender would: the version is at the end of the header."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    header = path.read_bytes()[:17].split(b"REND")[0]
    version = header[header.index(b"v", 7) :]
    return replaced(path, header, header.replace(version, b"v%0*d" % (len(version) - 1, int(version[1:]) + 1)))


def with_unknown_node(obj: bpy.types.Object, is_linked: bool = True) -> None:
    """Give an object a node that `save_without` makes one of a Blender that does not exist."""
    new_link, source, target, node = geometry_nodes(obj, "GeometryNodeSetPosition")
    new_link(source.outputs[0], node.inputs[0] if is_linked else target.inputs[0])
    if is_linked:
        new_link(node.outputs[0], target.inputs[0])


def save_without(path: Path) -> Path:
    """Save the scene with the nodes Set Position under a name that no Blender knows."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return replaced(path, b"GeometryNodeSetPosition\0", b"GeometryNodeSetPositiom\0")


def save_of_another_kind(path: Path, block: Any, place: int) -> Path:
    """Save the scene with a modifier or constraint, which has a name of its own, of a type that no Blender knows.

    place: of the type in what Blender has of it.
    """
    name = block.name.encode() + b"\0"
    start = (ctypes.c_char * 400).from_address(block.as_pointer()).raw.index(name)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    data = bytearray(path.read_bytes())
    data[data.index(name) - start + place] = 250
    path.write_bytes(data)
    return path


def test_a_file_of_a_newer_blender_is_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cube("A")
    file = save_as_newer(tmp_path / "room.blend")
    words = (
        f"'room.blend' was saved by Blender {NEXT}, and this is {THIS}, in which geometry may be missing: check it "
        f"with Blender {NEXT} or newer"
    )
    assert unchecked(file, "newer") == {"room.blend": words}
    assert words in capsys.readouterr().err
    code, document = run_json(file, "--allow-newer")
    assert (code, document["inputs"][0]["saved_with"]) == (0, NEXT)
    assert run(file, "--allow-skipped", "--quiet") == 3, "that is another reason"


def test_clashes_in_a_file_of_a_newer_blender_count(tmp_path: Path) -> None:
    cube("A")
    cube("B")
    code, document = run_json(save_as_newer(tmp_path / "room.blend"))
    assert (code, len(document["checks"][0]["findings"])) == (1, 1)


def test_a_file_of_this_blender_names_its_version_alone(tmp_path: Path) -> None:
    cube("A")
    code, document = run_json(save_scene(tmp_path / "room.blend"))
    assert (code, document["inputs"][0]["saved_with"], document["checks"][0]["skipped"]) == (0, THIS, [])


def test_a_library_of_a_newer_blender_is_not_checked(tmp_path: Path) -> None:
    cube("Seat")
    bpy.data.materials.new("Wood").use_fake_user = True
    library = save_as_newer(tmp_path / "chairs.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    save_scene(tmp_path / "room.blend")
    cube("A", (5.0, 0.0, 0.0)).data.materials.append(link(library, materials=["Wood"]).materials[0])
    code, document = run_json(save_scene(tmp_path / "room.blend"))
    assert code == 0, "a material shapes nothing"
    assert [entry["saved_with"] for entry in document["inputs"][0]["libraries"]] == [NEXT]
    (seat,) = link(library, objects=["Seat"]).objects
    bpy.context.scene.collection.objects.link(seat)
    (reason,) = unchecked(save_scene(tmp_path / "room.blend"), "newer").values()
    assert reason.startswith(f"The library '//chairs.blend' was saved by Blender {NEXT}, and this is {THIS}")


def test_a_file_that_this_blender_cannot_read_names_the_one_that_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "room.blend"
    file.write_bytes(b"BLENDER99-01v9902REND")
    assert run(file) == 2
    assert f"the file was saved by Blender 99.2, and Blender {THIS} cannot read it" in capsys.readouterr().err


def test_the_panel_names_the_file_of_a_newer_blender(tmp_path: Path) -> None:
    cube("A")
    open_scene(save_as_newer(tmp_path / "room.blend"))
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    assert any(f"'room.blend' was saved by Blender {NEXT}" in text for text in texts_of_panel())


def test_a_node_that_this_blender_does_not_know_makes_its_objects_unchecked(tmp_path: Path) -> None:
    for k, name in enumerate(("Lost", "Whole", "Plain")):
        obj = cube(name, (5.0 * k, 0.0, 0.0))
        if name != "Plain":
            with_unknown_node(obj, is_linked=name == "Lost")
    file = save_without(tmp_path / "room.blend")
    words = (
        "'Lost' depends on the node group 'Nodes', which has a node 'Set Position' that Blender "
        f"{THIS} does not know: check the file with one that does"
    )
    assert unchecked(file, "undefined") == {"Lost": words}
    assert run(file, "--quiet", "--allow-newer") == 3
    assert run(file, "--quiet", "--allow-skipped") == 0


def test_a_modifier_that_this_blender_does_not_know_makes_its_object_unchecked(tmp_path: Path) -> None:
    modifier = cube("A").modifiers.new("Of 2040", "SUBSURF")
    file = save_of_another_kind(tmp_path / "room.blend", modifier, 16)
    (reason,) = unchecked(file, "undefined").values()
    assert reason.startswith(f"'A' has a modifier 'Of 2040' that Blender {THIS} does not know")


def test_a_constraint_that_this_blender_does_not_know_makes_its_object_unchecked(tmp_path: Path) -> None:
    parent = cube("A")
    cube("B", (5.0, 0.0, 0.0)).parent = parent
    constraint = parent.constraints.new("COPY_LOCATION")
    constraint.name = "Of 2040"
    reasons = unchecked(save_of_another_kind(tmp_path / "room.blend", constraint, 24), "undefined")
    assert reasons["A"].startswith(f"'A' has a constraint that Blender {THIS} does not know")
    assert reasons["B"].startswith("'B' depends on the object 'A', which has a constraint")


def test_what_its_modifiers_leave_nothing_of_is_named_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cube("A")
    geometry_nodes(cube("Gone", (5.0, 0.0, 0.0)))
    add_object("Never", bpy.data.meshes.new("Never"))
    file = save_scene(tmp_path / "room.blend")
    assert run(file) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Exit code 0: no clashes; left out, as modifiers leave nothing of it: 'Gone'"
    cube("B")
    assert run(save_scene(file)) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Exit code 1: 1 coincident (--fail-on any); left out, as modifiers leave nothing of it: 'Gone'"
    _, check = checked(file)
    assert {entry["name"]: entry["kind"] for entry in check["skipped"]} == {"Gone": "emptied", "Never": "geometry"}


def test_a_clash_of_a_baseline_is_not_gone_in_a_file_of_a_newer_blender(tmp_path: Path) -> None:
    cube("A")
    cube("B")
    old = tmp_path / "old.json"
    run(save_scene(tmp_path / "room.blend"), "--json", old, "--quiet")
    bpy.data.objects["B"].location.x = 5.0
    code, document = run_json(save_as_newer(tmp_path / "room.blend"), "--baseline", old)
    check = document["checks"][0]
    assert (code, check["gone"], len(check["not_compared"])) == (3, [], 1)
    assert "in which geometry may be missing" in check["not_compared"][0]["reason"]


def test_parts_say_that_the_file_is_of_a_newer_blender(tmp_path: Path) -> None:
    cube("A")
    cube("B", (5.0, 0.0, 0.0))
    file = save_as_newer(tmp_path / "room.blend")
    whole, joined = tmp_path / "whole.json", tmp_path / "joined.json"
    assert run(file, "--json", whole, "--quiet") == 3
    parts = [tmp_path / f"{k}.json" for k in (1, 2)]
    for k, path in enumerate(parts, 1):
        assert run(file, "--shard", f"{k}/2", "--json", path, "--quiet") == 0
    assert run("merge", *parts, "--json", joined, "--quiet") == 3
    assert joined.read_bytes() == whole.read_bytes()
    assert load_report(joined)["inputs"][0]["saved_with"] == NEXT
    assert run("merge", *parts, "--quiet", "--allow-newer") == 0
