# SPDX-License-Identifier: GPL-3.0-or-later
"""Several scenes and view layers of a file: all that are chosen are checked, the others are named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, outputs, run, run_json
from .scenes import add_object, animate, collection_of, cube, instance_of, lens, mesh_object, open_scene, save_scene
from .test_scene_faults import checked, texts_of_panel, unchecked

pytestmark = pytest.mark.usefixtures("empty_scene")


def in_scene(scene: bpy.types.Scene, *objects: bpy.types.Object) -> None:
    """Move objects to a scene."""
    for obj in objects:
        for collection in obj.users_collection:
            collection.objects.unlink(obj)
        scene.collection.objects.link(obj)


def new_scene(name: str, *objects: bpy.types.Object) -> bpy.types.Scene:
    """A new scene with these objects, which is not the active one."""
    scene = bpy.data.scenes.new(name)
    in_scene(scene, *objects)
    return scene


@pytest.fixture
def room_file(tmp_path: Path) -> Path:
    """A clean active scene, a scene of two cubes that collide, and one of a cube that passes another."""
    bpy.context.scene.name = "Clean"
    cube("A")
    new_scene("Night", cube("C"), cube("D", (1.5, 0.0, 0.0)))
    moving = cube("F", (9.0, 0.0, 0.0))
    animate(moving, "location", f1=(9.0, 0.0, 0.0), f3=(1.0, 0.0, 0.0))
    new_scene("Day", cube("E"), moving)
    return save_scene(tmp_path / "room.blend")


def scenes_of(document: Any) -> list[tuple[str, int]]:
    """The scenes of the checks, each with how many clashes it has."""
    return [(check["scene"], len(check["findings"])) for check in document["checks"]]


def test_other_scenes_are_not_checked_and_named(room_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert unchecked(room_file, "scene") == {
        name: f"The scene '{name}' was not checked and has 2 objects that are in no checked scene: add --scene all, or "
        "--scene with each name"
        for name in ("Day", "Night")
    }
    assert "The scene 'Day' was not checked" in capsys.readouterr().err
    assert run(room_file, "--allow-skipped", "--quiet") == 0


def test_all_scenes_are_checked_in_the_order_of_their_names(
    room_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = run_json(room_file, "--scene", "all", "--frames", "1,3")
    assert (code, scenes_of(document)) == (
        1,
        [("Clean", 0), ("Clean", 0), ("Day", 0), ("Day", 1), ("Night", 1), ("Night", 1)],
    )
    assert {entry["kind"] for check in document["checks"] for entry in check["skipped"]} <= {"fast"}
    assert [(entry["scene"], "'F', moved 8" in entry["words"]) for entry in document["between_frames"]] == [
        ("Clean", False),
        ("Day", True),
        ("Night", False),
    ]
    assert run(room_file, "--scene", "all", "--frames", "1,3") == 1
    said = capsys.readouterr().out
    for line in (
        "frames 1,3: Day: 2 objects, 1 transient, 0 permanent",
        "frames 1,3: Night: 2 objects, 0 transient, 1 permanent",
        "In 3 checks: 1 transient, 1 permanent",
        "Day: Frames are samples",
    ):
        assert line in said


def test_scenes_that_are_named_are_checked_in_that_order_and_others_left_out(room_file: Path) -> None:
    code, document = run_json(room_file, "--scene", "Night", "--scene", "Clean", "--scene", "Night")
    assert (code, scenes_of(document)) == (1, [("Night", 1), ("Clean", 0)])
    code, check = checked(room_file, "--scene", "Clean")
    left_out = [(entry["name"], entry["unchecked"]) for entry in check["skipped"]]
    assert (code, left_out) == (0, [("Day", False), ("Night", False)])


def test_left_out_scenes_are_counted_by_themselves(room_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(room_file, "--scene", "Clean")
    assert "Clean: 1 object, 0 clashes; left out: 2 other scenes\n" in capsys.readouterr().out


def test_an_unknown_scene_lists_those_there_are(room_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(room_file, "--scene", "Clean", "--scene", "night") == 2
    out, said = capsys.readouterr()
    assert "there is no scene 'night' in the file, which has 'Clean', 'Day' and 'Night'" in said
    assert out.splitlines()[-1] == "Exit code 2: the file could not be checked to the end"


def test_all_scenes_are_checked_where_one_is_called_all(room_file: Path) -> None:
    bpy.data.scenes["Day"].name = "all"
    _, document = run_json(save_scene(room_file), "--scene", "all")
    assert scenes_of(document) == [("all", 0), ("Clean", 0), ("Night", 1)]


def test_of_all_scenes_one_may_be_empty(tmp_path: Path) -> None:
    cube("A")
    new_scene("Menu", add_object("Camera", bpy.data.cameras.new("Camera")))
    code, document = run_json(save_scene(tmp_path / "room.blend"), "--scene", "all")
    assert (code, [(check["objects"], check["skipped"]) for check in document["checks"]]) == (0, [(0, []), (1, [])])
    assert run(tmp_path / "room.blend", "--scene", "Menu", "--scene", "Scene", "--quiet") == 3
    bpy.data.objects.remove(bpy.data.objects["A"])
    assert run(save_scene(tmp_path / "room.blend"), "--scene", "all", "--quiet") == 3


def test_a_scene_without_other_objects_is_not_named(tmp_path: Path) -> None:
    shared, asset = cube("A"), cube("Asset", (0.0, 0.0, 5.0))
    new_scene("Close-up").collection.objects.link(shared)
    hidden = cube("Helper")
    hidden.hide_viewport = hidden.hide_render = True
    path = mesh_object("Path", [(0, 0, 0), (1, 0, 0)])
    new_scene("Camera", add_object("Camera", bpy.data.cameras.new("Camera")), path, hidden)
    assets = collection_of("Assets", asset, is_only=True)
    new_scene("Assets").collection.children.link(assets)
    instance_of(assets, "Instance")
    code, check = checked(save_scene(tmp_path / "room.blend"))
    assert (code, check["skipped"]) == (0, [])
    code, check = checked(tmp_path / "room.blend", "--no-instances")
    assert (code, [entry["name"] for entry in check["skipped"] if entry["kind"] == "scene"]) == (3, ["Assets"])


def test_who_names_objects_leaves_other_scenes_out(room_file: Path) -> None:
    cube("B", (5.0, 0.0, 0.0))
    code, check = checked(save_scene(room_file), "--object", "A")
    assert (code, {entry["unchecked"] for entry in check["skipped"]}) == (0, {False})


def test_a_background_set_is_named_whatever_is_chosen(tmp_path: Path) -> None:
    bpy.context.scene.name = "Shot"
    cube("Hero")
    bpy.context.scene.background_set = new_scene("Stage", cube("Floor"))
    file = save_scene(tmp_path / "room.blend")
    words = (
        "The background set 'Stage' has 1 object that is rendered with the scene 'Shot' and not checked against it: "
        "link it into the scene"
    )
    for options in ([], ["--scene", "Shot"], ["--scene", "all"]):
        code, document = run_json(file, *options)
        shot = next(check for check in document["checks"] if check["scene"] == "Shot")
        assert (code, words in [entry["reason"] for entry in shot["skipped"] if entry["unchecked"]]) == (3, True)
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    assert words in texts_of_panel()


def test_a_view_layer_that_renders_more_is_not_checked(tmp_path: Path) -> None:
    cube("A")
    collection_of("Props", prop := cube("B"))
    bpy.context.scene.collection.objects.unlink(prop)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    layer.name = "Room"
    for name in ("Props only", "Unused"):
        scene.view_layers.new(name)
    scene.view_layers["Unused"].use = False
    layer.layer_collection.children["Props"].exclude = True
    file = save_scene(tmp_path / "room.blend")
    words = (
        "The view layer 'Props only' renders 1 object that is excluded from the one that is checked: include it "
        "there to check it, or add --visibility all"
    )
    assert unchecked(file, "layer") == {"Props only": words}
    assert run(file, "--visibility", "all", "--quiet") == 1
    open_scene(file)  # as all are visible now
    bpy.context.scene.view_layers["Props only"].layer_collection.children["Props"].exclude = True
    code, check = checked(save_scene(file))
    assert (code, check["left_out"]["excluded"], check["skipped"]) == (0, 1, [])


def test_the_panel_leaves_other_scenes_out(room_file: Path) -> None:
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    record = json.loads(bpy.context.scene.contact_lens_check.summary)
    assert [(entry["kind"], entry["unchecked"]) for entry in record["skipped"]] == [("scene", False)] * 2
    assert "The scene 'Day' is left out and has 2 objects that are in no checked scene" in texts_of_panel()


# --- parts, baselines, jobs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--scene", "all"), ("--scene", "Night", "--scene", "Day")])
def test_parts_of_several_scenes_are_merged_into_the_bytes_of_one_run(
    room_file: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    other = save_scene(tmp_path / "other.blend")
    command = [room_file, other, "--frames", "1,3", *options]
    paths, kinds = outputs(tmp_path)
    code = run(*command, *kinds, "--quiet")
    whole = {kind: path.read_bytes() for kind, path in paths.items()}
    parts = tmp_path / "parts"
    pieces = [["--only-files", file, "--shard", f"{k}/2"] for file in (room_file, other) for k in (1, 2)]
    for k, piece in enumerate(pieces):
        assert run(*command, *piece, "--json", parts / f"{k}.json", "--quiet") == 0
    assert run("merge", parts, *kinds, "--quiet") == code
    assert {kind: path.read_bytes() for kind, path in paths.items()} == whole
    (parts / "3.json").unlink()
    assert run("merge", parts, "--quiet") == 2


def test_a_part_that_is_missing_is_named_once(
    room_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [room_file, "--scene", "all", "--frames", "1,3", "--only-frames", "1"]
    assert run(*command, "--json", tmp_path / "part.json", "--quiet") == 0
    assert run("merge", tmp_path / "part.json", "--quiet") == 2
    assert "no part has room.blend, frame 3: run" in capsys.readouterr().err


def test_scenes_are_compared_with_those_of_a_baseline(room_file: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    assert run(room_file, "--scene", "Night", "--json", old, "--quiet") == 1
    bpy.data.objects["D"].location.x = 5.0
    _, document = run_json(save_scene(room_file), "--scene", "all", "--baseline", old)
    assert [len(check["gone"]) for check in document["checks"]] == [0, 0, 1]
    assert run(room_file, "--scene", "all", "--json", old, "--quiet") == 0
    _, document = run_json(room_file, "--scene", "Day", "--baseline", old)
    assert [(entry["scene"], entry["reason"]) for entry in document["baseline"]["not_compared"]] == [
        ("Clean", "this scene was not checked"),
        ("Night", "this scene was not checked"),
    ]


def test_a_baseline_of_other_scenes_is_refused(
    room_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.json"
    run(room_file, "--scene", "Clean", "--json", old, "--quiet")
    assert run(room_file, "--scene", "Day", "--scene", "Night", "--baseline", old, "--quiet") == 2
    assert "has the scene 'Clean' of room.blend, not 'Day' and 'Night'" in capsys.readouterr().err


def test_progress_names_the_scene_of_several(room_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress, seen = lens.terminal.progress, []
    monkeypatch.setattr(progress.Progress, "show", lambda self, done, details, place: seen.append((done, place)))
    run(room_file, "--scene", "all", "--quiet", "--fail-on", "never")
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert any(re.match("room.blend, Night, frame 1", text) for _, text in seen)
    seen.clear()
    run(room_file, "--quiet", "--allow-skipped")
    assert not any("Clean" in text for _, text in seen)


def test_what_a_scene_lacks_names_the_scene(room_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(room_file, "--scene", "all", "--object", "C", "--quiet") == 2
    assert "Clean: There is no object 'C' in the view layer" in capsys.readouterr().err


@pytest.mark.slow
def test_jobs_check_all_scenes(room_file: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    assert run(room_file, "--scene", "all", "--json", one, "--quiet") == 1
    assert run(room_file, "--scene", "all", "--jobs", "2", "--json", two, "--quiet") == 1
    assert load_report(one) == load_report(two)


def test_pictures_of_a_scene_that_is_not_the_active_one(room_file: Path, tmp_path: Path) -> None:
    """Blender crashes where it draws a view layer as that of another scene."""
    page = tmp_path / "out.html"
    assert run(room_file, "--scene", "Night", "--quiet", "--html", page) == 1
    text = page.read_text(encoding="utf-8")
    assert ("data:image/png;base64," in text) != ("No pictures: " in text)
