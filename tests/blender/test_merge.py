# SPDX-License-Identifier: GPL-3.0-or-later
"""`merge`: the reports of a run, made of those of its parts, have the bytes of one run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from ..schemas import mutants
from .reports import KINDS, load_report, run
from .scenes import (
    add_object,
    animate,
    collection_of,
    cube,
    fresh,
    instance_of,
    lens,
    mesh_object,
    save_scene,
    sheet,
    torus,
)
from .test_over_frames import room

pytestmark = pytest.mark.usefixtures("empty_scene")


def reports(folder: Path) -> tuple[dict[str, Path], list[object]]:
    folder.mkdir(exist_ok=True)
    paths = {kind: folder / f"whole.{ending}" for kind, ending in KINDS.items()}
    return paths, [word for kind, path in paths.items() for word in (f"--{kind}", path)]


def run_in_parts(folder: Path, command: list[object], restrictions: list[list[object]]) -> Path:
    """Run each part; return the folder of their reports."""
    for number, only in enumerate(restrictions):
        assert run(*command, "--json", folder / f"{number:03}.json", "--quiet", *only) == 0
    return folder


Command = tuple[list[object], list[Path]]
"""The command of a whole run, and the reports of its parts: of two files at two frames, in two shards."""


@pytest.fixture(scope="module")
def command_and_parts(addon: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Command:
    folder = tmp_path_factory.mktemp("parts")
    files = []
    for name in ("a.blend", "b.blend"):
        fresh()
        cubes = [cube(f"Cube {k}", (1.5 * k, 0.0, 0.0)) for k in range(5)]
        animate(cubes[0], "location", f1=(0.0, 0.0, 0.0), f2=(0.2, 0.0, 0.0))
        files.append(save_scene(folder / name))
    command: list[object] = [*files, "--frames", "1-2", "--clearance", "2mm"]
    restrictions = [
        ["--only-files", file, "--only-frames", frame, "--shard", f"{shard}/2"]
        for file, frame, shard in product(files, (1, 2), (1, 2))
    ]
    run_in_parts(folder, command, restrictions)
    return command, sorted(folder.glob("*.json"))


def test_a_full_standard_output_is_an_error(
    command_and_parts: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w", encoding="utf-8", buffering=1) as full:
        monkeypatch.setattr("sys.stdout", full)
        assert run("merge", *command_and_parts[1], "--fail-on", "never") == 2
    assert "contact_lens: standard output: No space left on device\n" in capsys.readouterr().err


def test_parts_in_any_order_make_the_reports_of_one_run(command_and_parts: Command, tmp_path: Path) -> None:
    command, parts = command_and_parts
    whole, options = reports(tmp_path / "one")
    assert run(*command, "--pictures", 0, "--quiet", *options) == 1
    merged, options = reports(tmp_path / "merged")
    assert run("merge", *reversed(parts), "--pictures", 0, "--quiet", *options) == 1
    for kind in KINDS:
        assert merged[kind].read_bytes() == whole[kind].read_bytes(), kind


def test_merge_prints_and_judges_as_the_run_does(command_and_parts: Command, capfd: pytest.CaptureFixture[str]) -> None:
    command, parts = command_and_parts
    assert run(*command) == 1
    told = [line.strip() for line in capfd.readouterr().out.splitlines() if "Cube" in line]
    assert len(told) == 2 * 2
    assert run("merge", parts[0].parent) == 1
    printed = capfd.readouterr().out
    assert [line.strip() for line in printed.splitlines() if "Cube" in line] == told
    assert "In 2 checks: 2 transient, 6 permanent" in printed
    assert printed.endswith("\nExit code 1: 8 penetrating (--fail-on any); --fail-on transient counts 2 of them\n")
    assert run("merge", *parts, "--quiet", "--fail-on", "never") == 0
    assert run("merge", *parts, "--quiet", "--fail-on", "penetrating") == 1
    assert capfd.readouterr().out == ""


def test_only_merge_says_what_is_permanent(
    command_and_parts: Command, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A part of a longer run says how much it has found, and ends with 0; parts of a single frame say nothing of it."""
    command, parts = command_and_parts
    part, transient = ["--json", tmp_path / "part.json"], ["--fail-on", "transient"]
    assert run(*command, "--shard", "1/1", *part, *transient) == 0
    printed = capfd.readouterr().out
    assert printed.count("blend: In 2 checks: 8 penetrating, of 4 pairs\n") == 2
    assert "permanent" not in printed
    assert run(*command, "--only-frames", 1, *part, *transient, "--quiet") == 0
    assert run("merge", *parts, *transient, "--quiet") == 1
    assert run(command[0], "--frames", 1, "--shard", "1/1", *part, "--quiet") == 0
    assert run("merge", part[1], *transient) == 2
    assert "--fail-on transient needs two frames or more" in capfd.readouterr().err


def test_a_merge_without_a_verdict_writes_reports_that_judge(
    command_and_parts: Command, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """So a farm that tries failed tasks again makes them once."""
    _, parts = command_and_parts
    judged, options = reports(tmp_path / "judged")
    assert run("merge", *parts, "--pictures", 0, "--fail-on", "penetrating", *options) == 1
    capfd.readouterr()
    merged, options = reports(tmp_path / "merged")
    assert run("merge", *parts, "--pictures", 0, "--fail-on", "penetrating", *options, "--no-verdict") == 0
    assert capfd.readouterr().out.splitlines()[-1].startswith("No verdict: merge the same parts again, without reports")
    for kind in KINDS:
        assert merged[kind].read_bytes() == judged[kind].read_bytes(), kind
    assert run("merge", *parts[1:], "--no-verdict") == 2, "a part that is missing is an error nevertheless"


Change = Callable[[dict[str, Any]], object]


def edited(path: Path, folder: Path, change: Change, is_sealed: bool = True) -> Path:
    """A part that was changed, in another folder; is_sealed: as if it had been written so."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    if is_sealed:
        document = lens.report.json_report.sealed(document)
    target = folder / path.name
    target.write_text(json.dumps(document), encoding="utf-8")
    return target


def set_at(*place: object, to: object) -> Change:
    def change(document: Any) -> None:
        *way, last = place
        for key in way:
            document = document[key]
        document[last] = to

    return change


def of_another_scene(document: Any) -> None:
    document["part"]["covers"]["scenes"] = [["Other"]]
    for check in document["checks"]:
        check["scene"] = "Other"


NO_LIBRARY = {"path": "/lib/chairs.blend", "sha256": None}
REFUSED: dict[str, tuple[Change, str]] = {
    "another kind of report": (set_at("schema", to="contact-lens-report"), "3.json: this is not a scene report"),
    "a whole report": (set_at("part", to=None), "3.json: this is the report of a whole run, not of a part"),
    "a part stopped early": (set_at("partial", to=True), "3.json: this part was stopped early: run it again"),
    "a part with an error": (
        set_at("inputs", 0, "error", to="broken"),
        "3.json: a.blend could not be checked (broken)",
    ),
    "another version": (set_at("contact_lens", to="0.1.0"), "3.json: this report was written by Contact Lens 0.1.0"),
    "another Blender": (set_at("blender", to="3.6.0"), "different versions of Blender, "),
    "another numpy": (set_at("numpy", to="1.20.0"), "different versions of numpy, "),
    "other frames": (set_at("part", "run", "frames", to=[1, 2, 3]), "different runs: they differ in frames"),
    "other shards": (set_at("part", "run", "shards", to=3), "different runs: they differ in shards"),
    "other files": (set_at("part", "run", "files", to=["a.blend", "c.blend"]), "they differ in files"),
    "other settings": (set_at("part", "run", "options", "clearance", to="3mm"), "they differ in clearance"),
    "an option of a newer version": (set_at("part", "run", "options", "new_one", to=1), "they differ in new-one"),
    "another file of that name": (set_at("inputs", 0, "sha256", to="0" * 64), "checked different versions of a.blend"),
    "other libraries": (set_at("inputs", 0, "libraries", to=[NO_LIBRARY]), "different libraries: chairs.blend"),
    "another scene": (of_another_scene, "contain the same check, and differ in scene"),
    "a check of another scene": (set_at("checks", 0, "scene", to="Other"), "3.json: this part is damaged"),
    "other candidate pairs": (set_at("part", "candidates", to=["0" * 64]), "do not agree on which pairs are close"),
    "fewer checks": (set_at("checks", to=[]), "3.json: this part is damaged, or was edited"),
    "no inputs": (lambda document: document.pop("inputs"), "3.json: this part is damaged, or was edited"),
    "a shard twice": (set_at("part", "covers", "shard", to=1), "both cover a.blend, frame 2, shard 1/2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_part_of_the_run_is_refused_and_nothing_written(
    command_and_parts: Command, tmp_path: Path, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    _, parts = command_and_parts
    change, words = REFUSED[case]
    parts = [*parts[:3], edited(parts[3], tmp_path, change), *parts[4:]]
    _, options = reports(tmp_path / "merged")
    assert run("merge", *parts, *options) == 2
    (said,) = (line for line in capfd.readouterr().err.splitlines() if line.startswith("contact_lens: "))
    assert words in said
    assert list((tmp_path / "merged").iterdir()) == []


def test_a_part_that_is_damaged_or_was_edited_is_refused(command_and_parts: Command, tmp_path: Path) -> None:
    """Whatever it is in it; how the text is laid out is nothing of it."""
    _, parts = command_and_parts
    merging = lens.history.merging
    document = load_report(parts[3])
    assert merging.validated("laid out", json.loads(json.dumps(document, indent=1))).name == "laid out"
    for what, changed in mutants(document):
        with pytest.raises(merging.MergeError, match=r"^3.json: "):
            pytest.fail(f"{what} is merged: {merging.validated('3.json', changed).name}")
    path = edited(parts[3], tmp_path, set_at("checks", 0, "findings", 0, "status", to="approved"), is_sealed=False)
    assert run("merge", *parts[:3], path, *parts[4:], "--quiet") == 2


@pytest.mark.parametrize("end", [0, 100, -2])
def test_a_truncated_part_is_refused(
    command_and_parts: Command, tmp_path: Path, capfd: pytest.CaptureFixture[str], end: int
) -> None:
    _, parts = command_and_parts
    cut = tmp_path / "cut.json"
    cut.write_bytes(parts[0].read_bytes()[:end])
    assert run("merge", *parts[1:], cut) == 2
    assert "cut.json: this is not JSON, or was cut off: run this part again" in capfd.readouterr().err


def test_gaps_and_doubles_are_named(
    command_and_parts: Command, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _, parts = command_and_parts
    path = tmp_path / "merged.json"
    assert run("merge", *parts[:2], *parts[4:7], "--json", path) == 2
    assert "no part has a.blend, frame 2, shard 1/2; a.blend, frame 2, shard 2/2; b.blend, frame 2, shard 2/2: run" in (
        capfd.readouterr().err
    )
    assert run("merge", *parts[:4], "--json", path) == 2
    assert "no part has b.blend, frames 1-2, shard 1/2; b.blend, frames 1-2, shard 2/2: run" in capfd.readouterr().err
    assert run("merge", *parts, parts[5], "--json", path) == 2
    assert "005.json both cover b.blend, frame 1, shard 2/2: give only one of them" in capfd.readouterr().err
    assert run("merge", tmp_path, "--json", path) == 2
    assert "there is no JSON report in this folder" in capfd.readouterr().err
    assert run("merge", tmp_path / "none.json", "--json", path) == 2
    assert "none.json: No such file" in capfd.readouterr().err
    assert not path.exists()


def test_a_part_is_not_written_over(command_and_parts: Command, capfd: pytest.CaptureFixture[str]) -> None:
    """But a folder may be merged twice into a file in it."""
    _, parts = command_and_parts
    before = parts[0].read_bytes()
    for given in (parts, [parts[0].parent]):
        assert run("merge", *given, "--json", parts[0]) == 2
        assert "000.json: this is a part to be merged" in capfd.readouterr().err
        assert parts[0].read_bytes() == before
    path = parts[0].parent / "whole.json"
    try:
        assert [run("merge", parts[0].parent, "--json", path, "--quiet") for _ in range(2)] == [1, 1]
    finally:
        path.unlink()


def test_files_of_one_name_are_printed_with_their_folders(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cube("A")
    files = []
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        files.append(save_scene(tmp_path / name / "room.blend"))
    parts = [tmp_path / f"{k}.json" for k in (1, 2)]
    for path, file in zip(parts, files, strict=True):
        assert run(*files, "--only-files", file, "--json", path, "--quiet") == 0
    capfd.readouterr()
    assert run("merge", *parts) == 0
    heads = [line.partition(",")[0] for line in capfd.readouterr().out.splitlines() if "room.blend" in line]
    assert heads == [str(file) for file in files]


# --- random scenes in random parts ----------------------------------------------------------------------------------


def random_scene(path: Path, seed: int) -> Path:
    """A saved scene with all that a report may have: shapes of several kinds, touching, deep and near ones, instances,
    open surfaces, meshes, moving objects, approved and ignored clashes, and objects that cannot be checked."""
    fresh()
    scene, rng = bpy.context.scene, np.random.default_rng(seed)
    scene.unit_settings.length_unit = str(rng.choice(["METERS", "MILLIMETERS", "ADAPTIVE"]))
    for k in range(24):
        obj = cube(f"Cube {k}", rng.uniform(-2.0, 2.0, 3).round(1).tolist(), size=float(rng.choice([0.5, 1.0])))
        if k % 3:
            obj.rotation_euler = rng.uniform(-3.0, 3.0, 3)
        if k % 8 == 0:
            to = (np.array(obj.location) + rng.uniform(-1.0, 1.0, 3)).tolist()
            animate(obj, "location", f1=tuple(obj.location), f3=tuple(to))
        if k % 6 == 5:
            for name in ("hide_viewport", "hide_render"):
                animate(obj, name, f1=False, f2=k > 11, f3=k < 11)
        if k % 9 == 1:
            obj.parent = bpy.data.objects[f"Cube {k - 1}"]
    for k, kind in enumerate(("SPHERE", "CAPSULE", "MESH")):
        cube(f"Shape {kind}", rng.uniform(-2.0, 2.0, 3).tolist(), kind=kind)
        torus(f"Ring {k}", rng.uniform(-2.0, 2.0, 3).tolist(), kind="MESH", major_segments=8, minor_segments=4)
    sheet("Sheet", location=(0.5, 0.0, 0.3), kind="MESH")
    collection_of("Some", *bpy.data.objects[:15])
    row = [cube(f"Brick {k}", (0.9 * k, 9.0, 0.0), size=1.0) for k in range(4)]
    bricks = collection_of("Bricks", *row, is_only=True)
    for k in range(3):
        instance_of(bricks, f"Wall {k}", (0.45 * (k % 2), 0.0, 1.0 * k))
    mesh_object("Endless", [(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)])
    ends = cube("Ends", kind="MESH")
    ends.scale = (2.0, 2.0, 2.0)
    animate(
        ends.data.vertices[0], "co", "CONSTANT", f1=(-1.0, -1.0, -1.0), f2=(-1.0, -1.0, -3e38), f3=(-1.0, -1.0, -1.5)
    )
    add_object("Without Mesh", bpy.data.meshes.new("Empty"))
    bpy.context.view_layer.update()
    check = scene.contact_lens_check
    check.clearance = 0.05
    bpy.ops.contact_lens.check_scene()
    for k, finding in enumerate(check.findings):
        if k % 7 == 0:
            finding.status = "APPROVED" if k % 2 else "REVIEWED"
    return save_scene(path)


def chunkings(seed: int, files: list[Path], frames: list[int]) -> list[list[object]]:
    """The restrictions of parts that cover a run: random files, frames and shards together."""
    rng = random.Random(seed)
    count = rng.choice([1, 2, 5])
    parts: list[list[object]] = []
    for k in range(1, count + 1):
        left_files = list(files)
        while left_files:
            some = [left_files.pop() for _ in range(rng.randint(1, len(left_files)))]
            left = list(frames)
            rng.shuffle(left)
            while left:
                chunk = [left.pop() for _ in range(rng.randint(1, len(left)))]
                only = ["--only-files", *some, f"--only-frames={','.join(map(str, chunk))}"]
                parts.append([*only, "--shard", f"{k}/{count}"])
    rng.shuffle(parts)
    return parts


OPTIONS = [
    ["--clearance", "20mm", "--ignore", "approved", "--verify"],
    ["--collections", "Scene Collection", "Some", "--ignore", "none", "--exact"],
    ["--no-instances", "--least-contact", "face", "--visibility", "render", "--clearance", "0.1m", "--shapes", "hull"],
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(OPTIONS)))
def test_reports_of_parts_have_the_bytes_of_one_run(tmp_path: Path, seed: int) -> None:
    files = [random_scene(tmp_path / name, 10 * seed + k) for k, name in enumerate(("a.blend", "b.blend"))]
    command = [*files, "--frames", "3,1-2", *OPTIONS[seed]]
    whole, options = reports(tmp_path / "one")
    code = run(*command, "--pictures", 0, "--quiet", *options)
    assert code in (1, 3)
    clashes = [clash for scene in load_report(whole["json"])["over_frames"] for clash in scene["clashes"]]
    assert {clash["permanent"] for clash in clashes} == {True, False}
    assert any(clash["not_checked"] for clash in clashes)
    folder = run_in_parts(tmp_path / "parts", command, chunkings(seed, files, [1, 2, 3]))
    merged, options = reports(tmp_path / "merged")
    assert run("merge", folder, "--pictures", 0, "--quiet", *options) == code
    for kind in KINDS:
        assert merged[kind].read_bytes() == whole[kind].read_bytes(), kind


def test_parts_know_what_is_hidden_at_the_frames_of_others(tmp_path: Path) -> None:
    """Of two scenes, frames in any order, and a baseline: what is permanent is known of the whole run alone."""
    file, old = room(tmp_path), tmp_path / "old.json"
    assert run(file, "--scene", "all", "--frames", "1-3", "--json", old, "--quiet") == 1
    command: list[object] = [file, "--scene", "all", "--frames", "5,1-4", "--baseline", old]
    whole, options = reports(tmp_path / "one")
    assert run(*command, "--pictures", 0, "--quiet", *options) == 1
    restrictions = [["--only-frames", frames, "--shard", f"{k}/2"] for frames in ("4-5", "2", "1,3") for k in (2, 1)]
    folder = run_in_parts(tmp_path / "parts", command, restrictions)
    merged, options = reports(tmp_path / "merged")
    assert run("merge", folder, "--baseline", old, "--pictures", 0, "--quiet", *options) == 1
    for kind in KINDS:
        assert merged[kind].read_bytes() == whole[kind].read_bytes(), kind
    found = [clash for scene in load_report(whole["json"])["over_frames"] for clash in scene["clashes"]]
    assert [(clash["a"], clash["change"]) for clash in found if not clash["permanent"]] == [("Enters", "new")]


# --- pictures -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pictures_are_those_of_one_run(command_and_parts: Command, tmp_path: Path) -> None:
    """Taken of the files at their frames; where there is no GPU both pages say so."""
    command, parts = command_and_parts
    pages = [tmp_path / name for name in ("one.html", "merged.html")]
    run(*command, "--html", tmp_path / "first.html", "--pictures", 1, "--quiet")  # of a process, which may be another
    assert run(*command, "--html", pages[0], "--pictures", 6, "--quiet") == 1
    assert run("merge", *parts, "--html", pages[1], "--pictures", 6, "--quiet") == 1
    one, merged = (page.read_text(encoding="utf-8") for page in pages)
    assert one.count("data:image/png") in (6, 0)
    assert merged == one


def test_a_page_says_why_there_are_no_pictures(
    command_and_parts: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that has changed since, or is not here, or whose scripts were run, or of another Blender."""
    _, parts = command_and_parts
    taken: list[str] = []

    def picture(context: object, shown: object, path: str, *size: int) -> None:
        taken.append(path)
        Path(path).write_bytes(b"PNG")

    monkeypatch.setattr(lens.report.pictures, "render_isolated", picture)
    page, file = tmp_path / "page.html", parts[0].parent / "a.blend"

    def pages_of(parts: list[Path], *options: object) -> str:
        taken.clear()
        assert run("merge", *parts, "--html", page, "--quiet", *options) == 1
        return page.read_text(encoding="utf-8")

    assert "No pictures" not in pages_of(parts)
    assert len(taken) == 8
    content = file.read_bytes()
    try:
        file.write_bytes(content + b"more")
        assert f"No pictures of a.blend: {file} has changed since it was checked" in pages_of(parts)
        file.unlink()
        assert "No pictures of a.blend: there is no such file" in pages_of(parts)
        assert len(taken) == 4, "those of the other file are there"
    finally:
        file.write_bytes(content)
    scripted = [edited(one, tmp_path, set_at("part", "run", "options", "enable_autoexec", to=True)) for one in parts]
    assert pages_of(scripted).count("checked with --enable-autoexec: give it to merge too") == 2
    assert taken == []
    assert "No pictures" not in pages_of(scripted, "--enable-autoexec")
    others = [edited(one, tmp_path, set_at("blender", to="4.4.0")) for one in parts]
    assert "No pictures: the parts were checked with Blender 4.4.0, and this is" in pages_of(others)
    assert taken == []

    def fails(*_: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(lens.report.pictures, "render_isolated", fails)
    assert pages_of(parts).count(".blend: ZeroDivisionError: a fault of ours") == 2
