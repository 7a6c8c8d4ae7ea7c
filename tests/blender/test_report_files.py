# SPDX-License-Identifier: GPL-3.0-or-later
"""Where reports go, what is left of them when a run does not end well, and names that mean something to a program."""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from ..schemas import read_json, validated
from .processes import environment_of, in_process, installed, modules_of, wait_until
from .reports import KINDS, load_report, outputs, run, run_json, table_of
from .scenes import collection_of, cube, fresh, inspect, instance_of, lens, link, mesh_object, pane, save_scene, sheet

pytestmark = pytest.mark.usefixtures("empty_scene")

as_module = pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")


def pair_file(path: Path, a: str = "A", b: str = "B", scene: str = "Scene") -> Path:
    """A saved scene of two cubes, one half inside the other."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    cube(a)
    cube(b, (1.5, 0.0, 0.0))
    bpy.context.scene.name = scene
    path.parent.mkdir(exist_ok=True)
    return save_scene(path)


def to_csv(document: dict[str, Any]) -> str:
    return "".join(lens.report.csv_report.csv_parts(document))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.iterdir()}


def documents(partial: Path, killed: bool = False) -> list[dict[str, Any]]:
    """The documents of a partial report: a line each, of which only the last one of a killed run may be cut."""
    *done, cut = partial.read_bytes().split(b"\n")
    assert cut == b"" or killed
    return [validated(json.loads(line), "partial-line") for line in done]


THIS = "{}.{}".format(*bpy.app.version)

# --- several files --------------------------------------------------------------------------------------------------


def test_files_of_one_name_are_identified_by_path_and_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [pair_file(tmp_path / "one" / "scene.blend"), pair_file(tmp_path / "two" / "scene.blend", "C", "D")]
    paths, options = outputs(tmp_path)
    assert run(*files, *options) == 1
    data, rows, page = load_report(paths["json"]), load_report(paths["csv"]), paths["html"].read_text(encoding="utf-8")
    digests = [(str(file), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]
    assert data["inputs"] == [
        {"file": "scene.blend", "path": p, "sha256": s, "saved_with": THIS, "libraries": [], "error": None}
        for p, s in digests
    ]
    assert [check["path"] for check in data["checks"]] == [path for path, _ in digests]
    assert [(row["path"], row["sha256"]) for row in rows] == digests
    said = capsys.readouterr().out
    for path, digest in digests:
        _, _, section = page.partition(f">{path}, Scene, frame 1</h2>")
        section, _, _ = section.partition("</section>")
        assert f"<dt>File</dt><dd>{path}</dd>" in section
        assert f"<dt>SHA-256</dt><dd>{digest}</dd>" in section
        assert f"{path}, frame 1: " in said


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("broken", "bad.blend"),
        ("missing", "there is no such file"),
        ("another scene", "there is no scene 'Scene'"),
        ("with a fault of ours", "a fault of ours"),
    ],
)
def test_one_bad_file_does_not_cost_the_reports_of_the_others(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    bad: str,
    reason: str,
) -> None:
    one, two, path = pair_file(tmp_path / "one.blend"), pair_file(tmp_path / "two.blend"), tmp_path / "bad.blend"
    check = lens.scene.scene_check.check

    def fails_there(*arguments: Any) -> Any:
        if bad == "with a fault of ours" and Path(bpy.data.filepath) == path:
            raise ZeroDivisionError("a fault of ours")
        return check(*arguments)

    monkeypatch.setattr(lens.scene.scene_check, "check", fails_there)
    if bad == "broken":
        path.write_bytes(b"no blend file")
    elif bad != "missing":
        pair_file(path, scene="Other" if bad == "another scene" else "Scene")
    paths, options = outputs(tmp_path)
    assert run(one, path, two, *options, *(["--scene", "Scene"] if bad == "another scene" else [])) == 2
    said = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("contact_lens: "))
    data, rows = load_report(paths["json"]), load_report(paths["csv"])
    assert [check["file"] for check in data["checks"]] == ["one.blend", "two.blend"]
    assert [entry["file"] for entry in data["inputs"]] == ["one.blend", "bad.blend", "two.blend"]
    (error,) = (entry["error"] for entry in data["inputs"] if entry["error"] is not None)
    assert all(words in said for words in ("bad.blend", reason, error))
    assert [row["status"] for row in rows] == ["not checked", "new", "new"]
    assert (rows[0]["file"], rows[0]["notes"], rows[0]["relation"]) == ("bad.blend", error, "")
    page = re.sub(r"\s+", " ", html.unescape(paths["html"].read_text(encoding="utf-8")))
    assert f"Not checked: {path}: {error}" in page


def test_a_run_that_checked_nothing_leaves_the_reports_of_an_earlier_one(tmp_path: Path) -> None:
    file = pair_file(tmp_path / "scene.blend")
    (tmp_path / "bad.blend").write_bytes(b"no blend file")
    _, options = outputs(tmp_path)
    assert run(file, *options) == 1
    before = contents(tmp_path)
    for arguments in ([tmp_path / "bad.blend"], [tmp_path / "none.blend"], [file, "--scene", "None"]):
        assert run(*arguments, *options) == 2
        assert contents(tmp_path) == before


def test_a_table_names_what_was_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without findings it would else be that of a clean scene."""
    for k in range(12):
        mesh_object(f"=Endless {k}", [(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)])
    file, (paths, options) = save_scene(tmp_path / "scene.blend"), outputs(tmp_path)
    assert run(file, "--frames", "-3", *options) == 3
    data = load_report(paths["json"])
    reasons = [entry["reason"] for entry in data["checks"][0]["skipped"] if entry["unchecked"]]
    assert len(reasons) >= 12
    named = [(r["status"], r["frame"], r["scene"], r["notes"], r["sha256"]) for r in load_report(paths["csv"])]
    assert named == [("not checked", "-3", "Scene", reason, data["inputs"][0]["sha256"]) for reason in reasons]
    assert "more left out" not in capsys.readouterr().out, "what was not checked is more than that"
    _, document = run_json(pair_file(file))
    (finding,) = table_of(to_csv(document))
    stopped, then = table_of(to_csv(document | {"partial": True}))
    assert (stopped["status"], stopped["notes"][:13], then) == ("not checked", "Stopped early", finding)


def test_table_and_page_are_made_of_what_the_document_has(tmp_path: Path) -> None:
    """Of open surfaces, names that repeat, infinite bounds and skipped objects too."""
    scene_units = lens.scene.clash_rows
    mesh_object("Endless", [(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)])
    pane("Pane")
    sheet("Sheet", location=(0.5, 0.0, 0.3), kind="MESH")
    cube("A", (10.0, 0.0, 0.0))
    cube("B", (11.5, 0.0, 0.0))
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    paths, options = outputs(tmp_path)
    assert run(save_scene(tmp_path / "scene.blend"), "--frames", "1-2", *options) == 1
    document = load_report(paths["json"])
    assert len(document["checks"][1]["findings"]) == 2
    criteria = lens.report.criteria.Criteria()
    for kind, path in paths.items():
        writer = lens.report.scene.WRITERS[kind]
        assert "".join(writer(document, criteria)).encode() == path.read_bytes(), kind
    (row, *_) = document["checks"][0]["findings"]
    check = document["checks"][0] | {"findings": [row | {"lower_bound": float("-inf"), "normal": [0.0, 0.0, math.nan]}]}
    (turned,) = scene_units.in_scene_units(check)["findings"]
    assert (turned["lower_bound"], turned["normal"]) == (None, [0.0, 0.0, None])


def test_a_report_names_the_libraries_that_its_numbers_depend_on(tmp_path: Path) -> None:
    """Those of libraries too; a missing one without a digest."""
    fresh()
    cube("Seat")
    collection_of("Inner", bpy.data.objects["Seat"])
    inner = save_scene(tmp_path / "inner.blend")
    fresh()
    collection_of("Outer", instance_of(link(inner, collections=["Inner"]).collections[0], "Chair"))
    (tmp_path / "lib").mkdir()
    outer = save_scene(tmp_path / "lib" / "outer.blend")
    fresh()
    instance_of(link(outer, collections=["Outer"]).collections[0], "Room")
    scene = save_scene(tmp_path / "scene.blend")

    def digest(path: Path) -> dict[str, str | None]:
        if not path.exists():
            return {"path": str(path), "sha256": None, "saved_with": None}
        return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "saved_with": THIS}

    (source,) = run_json(scene)[1]["inputs"]
    assert source["libraries"] == [digest(inner), digest(outer)]
    inner.unlink()
    (source,) = run_json(scene)[1]["inputs"]
    assert source["libraries"] == [digest(inner), digest(outer)]


# --- a run that does not end well -----------------------------------------------------------------------------------


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """A pair with many frames to check, and reports of an earlier run."""
    (tmp_path / "profile").mkdir()
    return pair_file(tmp_path / "scene.blend")


@contextlib.contextmanager
def in_the_middle(addon: ModuleType, folder: Path, paths: dict[str, Path]) -> Iterator[subprocess.Popen[bytes]]:
    """A check of very many frames, some of which are done."""
    options = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    command = [sys.executable, "-m", "contact_lens", "scene.blend", "--frames", "1-100000", "--pictures", "0", *options]
    environment = environment_of(folder, PYTHONPATH=str(modules_of(addon, folder)))
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            partials = [Path(f"{path}.partial") for path in paths.values()]

            def all_grow() -> bool:
                return all(path.exists() and path.read_bytes().count(b"\n") > 2 for path in partials)

            wait_until(lambda: process.poll() is not None or all_grow())
            assert process.poll() is None, process.communicate()[1]
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@as_module
def test_a_killed_run_leaves_the_earlier_reports_and_what_was_done(
    addon: ModuleType, long_file: Path, tmp_path: Path
) -> None:
    paths, options = outputs(tmp_path)
    run(long_file, *options)
    before = {path: path.read_bytes() for path in paths.values()}
    with in_the_middle(addon, tmp_path, paths) as process:
        process.kill()
        process.wait()
    assert {path: path.read_bytes() for path in paths.values()} == before
    for path in paths.values():
        done = documents(Path(f"{path}.partial"), killed=True)
        assert len(done) > 2
        for k, each in enumerate(done):  # each is a part of a run
            assert (each["schema"], each["partial"], each["frames"]) == ("contact-lens-scene-report", True, [k + 1])
            assert len(each["checks"][0]["findings"]) == 1
    # The next run does not mix them up.
    before = {path: path.read_bytes() for path in paths.values()}
    run(long_file, *options)
    assert not list(tmp_path.glob("*.partial"))
    assert {path: path.read_bytes() for path in paths.values()} == before


@as_module
@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGHUP", marks=pytest.mark.slow)])
def test_a_run_that_is_asked_to_end_writes_partial_reports(
    addon: ModuleType, long_file: Path, tmp_path: Path, name: str
) -> None:
    if not hasattr(signal, name):
        pytest.skip(f"there is no {name} here")
    paths, _ = outputs(tmp_path)
    with in_the_middle(addon, tmp_path, paths) as process:
        # As timeout(1) and a closed terminal do, which signal the process and then its whole group.
        process.send_signal(getattr(signal, name))
        process.send_signal(getattr(signal, name))
        _, told = process.communicate(timeout=100)
    assert (process.returncode, b"Traceback" in told, f"stopping: {name}".encode() in told) == (130, False, True), told
    data = load_report(paths["json"])
    assert (data["partial"], len(data["checks"]) > 2) == (True, True)
    stopped, *_, pair = load_report(paths["csv"])
    assert (stopped["status"], int(pair["last_frame"]) >= data["checks"][-1]["frame"] - 1) == ("not checked", True)
    assert "Stopped early" in paths["html"].read_text(encoding="utf-8")
    assert not list(tmp_path.glob("*.partial"))


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As under nohup."""
    if not hasattr(signal, "SIGHUP"):
        pytest.skip("there is no SIGHUP here")
    check = lens.scene.scene_check.check

    def hung_up(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGHUP)
        return check(*arguments)

    monkeypatch.setattr(lens.scene.scene_check, "check", hung_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        code, document = run_json(pair_file(tmp_path / "scene.blend"))
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (code, document["partial"]) == (1, False)


@contextlib.contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """A disk on which files are full at that size."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_earlier_report_and_what_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, (paths, options) = pair_file(tmp_path / "scene.blend"), outputs(tmp_path)
    del options[-4:]  # a page is larger than that
    assert run(file, "--frames", "1-3", *options) == 1
    before = paths["json"].read_bytes()
    capsys.readouterr()
    with no_file_larger_than(len(before) // 2):
        assert run(file, "--frames", "1-6", *options) == 2
    said = capsys.readouterr().err
    assert f"{paths['json']}: " in said
    assert f"{paths['json']}.partial: " in said
    assert paths["json"].read_bytes() == before
    done = documents(Path(f"{paths['json']}.partial"))
    assert [each["frames"] for each in done] == [[k + 1] for k in range(len(done))]
    assert 0 < len(done) < 6
    assert [row["frames"] for row in load_report(paths["csv"])] == ["1 to 6"], "what has room is written"
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "out.json", "out.json.partial", "scene.blend"}


def test_a_full_disk_names_no_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no room for a line, no partial report is left."""
    file, (paths, options) = pair_file(tmp_path / "scene.blend"), outputs(tmp_path)
    with no_file_larger_than(100):
        assert run(file, *options) == 2
    said = capsys.readouterr().err
    assert f"contact_lens: {paths['json']}: a partial report cannot be written meanwhile: File too large" in said
    assert f"contact_lens: {paths['json']}: File too large\n" in said
    assert ".partial" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


def test_a_report_that_cannot_be_made_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, (paths, options) = pair_file(tmp_path / "scene.blend"), outputs(tmp_path)

    def too_large(document: dict[str, Any], criteria: object) -> str:
        raise MemoryError

    monkeypatch.setitem(lens.report.scene.WRITERS, "json", too_large)
    assert run(file, *options) == 2
    said = capsys.readouterr().err
    assert f"contact_lens: {paths['json']}: MemoryError" in said
    assert f"what was done is in {paths['json']}.partial" in said
    assert (len(documents(Path(f"{paths['json']}.partial"))), len(load_report(paths["csv"]))) == (1, 1)
    assert paths["html"].is_file()


def test_a_failed_write_names_the_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    file, path = pair_file(tmp_path / "scene.blend"), tmp_path / "out.csv"
    assert run(file, "--json", "/dev/full", "--csv", path) == 2
    assert "contact_lens: /dev/full: No space left on device\n" in capsys.readouterr().err
    assert len(load_report(path)) == 1


@pytest.mark.parametrize("kind", ["save_scene_report", "save_json"])
def test_saving_from_the_sidebar_loses_no_earlier_report(tmp_path: Path, kind: str) -> None:
    path, save = tmp_path / "out.json", getattr(bpy.ops.contact_lens, kind)
    pair_file(tmp_path / "scene.blend")
    bpy.ops.contact_lens.check_scene()
    inspect(bpy.data.objects["A"], bpy.data.objects["B"])
    assert save(filepath=str(path)) == {"FINISHED"}
    before = contents(tmp_path)
    assert save(filepath=str(path)) == {"FINISHED"}, "a report of ours is replaced"
    with no_file_larger_than(500), pytest.raises(RuntimeError, match=r"out\.json"):
        save(filepath=str(path))
    assert contents(tmp_path) == before
    path.write_bytes(b'{"mine": 1}')
    with pytest.raises(RuntimeError, match=r"out\.json: .* not a report of Contact Lens"):
        save(filepath=str(path))
    assert path.read_bytes() == b'{"mine": 1}'


def test_a_partial_report_takes_the_place_of_no_other_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, earlier, path = pair_file(tmp_path / "scene.blend"), tmp_path / "earlier.json", tmp_path / "out.json"
    partial = Path(f"{path}.partial")
    run(file, "--json", earlier)
    for occupy, target in (
        (partial.symlink_to, earlier),
        (partial.hardlink_to, earlier),
        (partial.symlink_to, tmp_path / "made"),
    ):
        before = contents(tmp_path)
        occupy(target)
        assert run(file, "--json", path) == 2, occupy
        assert f"contact_lens: {partial}" in capsys.readouterr().err
        partial.unlink()
        assert contents(tmp_path) == before


def test_a_run_that_is_refused_leaves_what_an_earlier_one_has_done(tmp_path: Path) -> None:
    file, partial = pair_file(tmp_path / "scene.blend"), tmp_path / "out.json.partial"
    paths, options = outputs(tmp_path)
    partial.write_text('{"schema": "contact-lens-scene-report", "frames": [1]}\n')
    Path(f"{paths['html']}.partial").write_text("of another program")
    before = contents(tmp_path)
    assert run(file, *options) == 2
    assert contents(tmp_path) == before
    Path(f"{paths['html']}.partial").unlink()
    assert run(file, *options) == 1
    assert not partial.exists()


def test_a_partial_report_that_cannot_be_removed_costs_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, while another program reads it."""
    file, (paths, options), unlink = pair_file(tmp_path / "scene.blend"), outputs(tmp_path), os.unlink

    def refused(path: str) -> None:
        if path.endswith(".json.partial"):
            raise PermissionError(13, "Permission denied", path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", refused)
    assert run(file, *options) == 1
    assert f"contact_lens: {paths['json']}.partial: Permission denied\n" in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == {file, *paths.values(), tmp_path / "out.json.partial"}


def test_a_signal_after_the_last_check_does_not_make_the_reports_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = lens.report.files
    write = files.write

    def interrupted(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        write(*arguments)

    monkeypatch.setattr(files, "write", interrupted)
    code, document = run_json(pair_file(tmp_path / "scene.blend"))
    assert (code, document["partial"]) == (1, False)
    assert "not everything was checked" not in capsys.readouterr().err


def test_partial_reports_that_nobody_asked_for_are_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes seconds where there are very many findings."""
    file, made = pair_file(tmp_path / "scene.blend"), []
    monkeypatch.setattr(lens.report.json_report, "line_parts", made.append)
    assert run(file) == run(file, "--csv", os.devnull) == 1
    assert made == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_made_once_for_each_text_that_has_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the terminal, the partial report and the report: each takes seconds where there are very many findings."""
    file, rows, made = pair_file(tmp_path / "scene.blend"), lens.scene.clash_rows, []
    make = rows.row_of
    monkeypatch.setattr(rows, "row_of", lambda *values: made.append(values) or make(*values))
    pictures = ("--pictures", 0) if kind == "html" else ()
    assert run(file, f"--{kind}", tmp_path / "report", *pictures) == 1
    assert len(made) == 3


# --- where reports go -----------------------------------------------------------------------------------------------


def test_no_report_is_written_over_what_is_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, library = pair_file(tmp_path / "scene.blend"), pair_file(tmp_path / "library.blend")
    os.link(file, tmp_path / "hard link.json")
    (tmp_path / "link.json").symlink_to(library)
    (tmp_path / "own link.json").symlink_to(file)
    for name, content in {
        "picture.html": b"\x89PNG\r\n\x1a\n",
        "data.json": b'{"schema": "of another program"}',
        "table.csv": b"file;scene;frame\n",
        "page.html": b"<!DOCTYPE html><p>Contacts in scene.blend",
        "out.json.partial": b"downloaded to here",
    }.items():
        (tmp_path / name).write_bytes(content)
    before = contents(tmp_path)
    capsys.readouterr()
    for path in [*(each for each in before if each.suffix != ".partial"), tmp_path / "out.json"]:
        for kind in KINDS:
            assert run(file, f"--{kind}", path) == 2, path
            told = capsys.readouterr()
            assert f"contact_lens: {path}" in told.err
            kind = "partial report" if path.name == "out.json" else "report"
            assert f"not a {kind} of Contact Lens" in told.err
            assert told.out == "", "before anything is checked"
    bpy.ops.wm.open_mainfile(filepath=str(file))
    assert run("--csv", file) == 2, "the file that is open"
    assert contents(tmp_path) == before
    assert (tmp_path / "link.json").readlink() == library


PAGE_0_1 = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contacts in scene.blend</title><style>
"""
"""How a page of version 0.1.0 begins."""


def test_an_earlier_report_is_replaced_and_a_link_stays_one(tmp_path: Path) -> None:
    file = pair_file(tmp_path / "scene.blend")
    paths, options = outputs(tmp_path)
    run(file, *options)
    real = {path: path.rename(tmp_path / f"real{path.suffix}") for path in paths.values()}
    nowhere, empty, old = tmp_path / "nowhere.json", tmp_path / "empty.json", tmp_path / "old.html"
    for path, target in (*real.items(), (nowhere, tmp_path / "made.json")):
        path.symlink_to(target)
    empty.touch(mode=0o640)
    pair_file(file, "Renamed")
    before = [path.stat().st_mode for path in real.values()]
    assert run(file, *options) == 1
    assert {path: path.readlink() for path in real} == real
    assert [path.stat().st_mode for path in real.values()] == before
    assert all("Renamed" in path.read_text(encoding="utf-8") for path in real)
    # Any report of ours, whatever the kind; what is not there yet; what is empty.
    old.write_text(PAGE_0_1, encoding="utf-8")
    for path in (real[paths["csv"]], real[paths["html"]], nowhere, empty, old):
        assert run(file, "--json", path) == 1
        assert read_json(path.read_text(encoding="utf-8"))["checks"]
    assert (tmp_path / "made.json").is_file()
    assert empty.stat().st_mode & 0o777 == 0o640
    assert not list(tmp_path.glob("*.partial"))


@pytest.fixture
def folder_of_a_user() -> Iterator[Path]:
    """A folder of a user who is not allowed everything, which this process then is."""
    if not hasattr(os, "geteuid"):
        pytest.skip("this system has no such users")
    with tempfile.TemporaryDirectory() as name:
        folder, me, nobody = Path(name), os.geteuid(), 65534
        if me == 0:
            os.chown(folder, nobody, -1)
            os.seteuid(nobody)
        try:
            yield folder
        finally:
            os.seteuid(me)
            folder.chmod(0o700)


def test_a_report_that_must_not_be_written_is_refused_before_anything_is_checked(folder_of_a_user: Path) -> None:
    files, path = lens.report.files, folder_of_a_user / "out.csv"
    path.write_text(",".join(lens.report.csv_report.COLUMNS))
    path.chmod(0o444)
    with pytest.raises(files.ReportFileError, match=r"out\.csv: Permission denied"):
        files.place_of(str(path))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_private_report_is_private_while_it_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, path, modes, sync = lens.report.files, tmp_path / "out.csv", [], os.fsync
    path.touch(mode=0o600)

    def seen(descriptor: int) -> None:
        modes.append(os.fstat(descriptor).st_mode)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", seen)
    files.write(files.place_of(str(path)), "told")
    assert [stat.S_IMODE(mode) for mode in modes if stat.S_ISREG(mode)] == [0o600]


def test_a_report_goes_into_a_folder_that_cannot_be_listed(folder_of_a_user: Path) -> None:
    files, path = lens.report.files, folder_of_a_user / "out.csv"
    folder_of_a_user.chmod(0o300)
    files.write(files.place_of(str(path)), "told")
    assert path.read_text() == "told"


def test_two_reports_never_share_a_file(tmp_path: Path) -> None:
    file, out, link = pair_file(tmp_path / "scene.blend"), tmp_path / "out", tmp_path / "link"
    link.symlink_to(out)
    assert run(file, "--json", out, "--csv", link) == 2
    link.unlink()
    out.touch()
    os.link(out, link)
    for other in (link, tmp_path / "out.partial"):
        assert run(file, "--json", out, "--csv", other) == 2
    assert run(file, "--json", os.devnull, "--csv", os.devnull) == 1, "which holds nothing"


@pytest.mark.skipif(os.name == "nt", reason="descriptors have no paths on Windows")
def test_pipes_and_descriptors_are_written_to(tmp_path: Path) -> None:
    file, pipe, log = pair_file(tmp_path / "scene.blend"), tmp_path / "pipe", tmp_path / "log"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    ours, theirs = os.pipe()
    try:
        assert run(file, "--json", pipe, "--csv", f"/dev/fd/{theirs}") == 1
    finally:
        os.close(theirs)
    reader.join(timeout=60.0)
    assert len(read_json(read[0])["checks"]) == 1
    with os.fdopen(ours, encoding="utf-8") as end:
        assert end.readline().startswith("file,scene,frame,")
    assert pipe.is_fifo()
    # A file that is open: from where it stands, and over nothing that is there.
    log.write_text("what was before\n")
    with log.open("ab") as open_file:
        assert run(file, "--json", f"/dev/fd/{open_file.fileno()}") == 1
    before, _, text = log.read_text(encoding="utf-8").partition("\n")
    assert (before, len(read_json(text)["checks"])) == ("what was before", 1)
    log.write_text("what was before\n")
    appending = os.open(log, os.O_WRONLY | os.O_APPEND)  # as a shell opens it: it stands at the beginning
    try:
        assert run(file, "--json", f"/dev/fd/{appending}") == 1
    finally:
        os.close(appending)
    assert log.read_text(encoding="utf-8") == f"what was before\n{text}"
    content = file.read_bytes()
    with file.open("r+b") as open_file:
        assert run(file, "--json", f"/dev/fd/{open_file.fileno()}") == 2
    assert file.read_bytes() == content
    assert set(tmp_path.iterdir()) == {log, pipe, file}


@as_module
@pytest.mark.parametrize(
    "name", ["-", *(pytest.param(x, marks=pytest.mark.slow) for x in ("/dev/stdout", "/dev/fd/1"))]
)
def test_standard_output_has_the_report_and_nothing_else(
    addon: ModuleType, long_file: Path, tmp_path: Path, name: str
) -> None:
    command = [sys.executable, "-m", "contact_lens", "scene.blend", "--json", name]
    code, out, err = in_process(command, tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)))
    assert (code, len(read_json(out)["checks"])) == (1, 1), err


def test_standard_output_of_an_installed_blender_has_the_report_and_nothing_else(
    packed: Path, long_file: Path, tmp_path: Path
) -> None:
    binary = installed(packed, tmp_path)
    check = ["--command", "contact_lens", "check"]
    for arguments in (["-b", "scene.blend", *check], [*check, "scene.blend"]):
        code, out, err = in_process([binary, *arguments, "--json", "-"], tmp_path)
        assert (code, len(read_json(out)["checks"])) == (1, 1), err
        (entry,) = read_json(out)["inputs"]
        assert entry["path"] == str(long_file)
        assert entry["sha256"] == hashlib.sha256(long_file.read_bytes()).hexdigest()


@pytest.mark.slow
@as_module
def test_a_reader_that_leaves_costs_no_report(addon: ModuleType, long_file: Path, tmp_path: Path) -> None:
    """`contact_lens ... | head -1`."""
    command = [sys.executable, "-m", "contact_lens", "scene.blend", "--frames", "1-20", "--json", "out.json"]
    ours, theirs = os.pipe()
    os.close(ours)
    environment = environment_of(tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)))
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdout=theirs, stderr=subprocess.PIPE, timeout=100, check=False
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, b"")
    assert len(load_report(tmp_path / "out.json")["checks"]) == 20


@as_module
@pytest.mark.skipif(os.name == "nt", reason="a shell closes descriptors elsewhere")
@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "--quiet", "--csv -"])
def test_closed_streams_cost_no_report(addon: ModuleType, long_file: Path, tmp_path: Path, more: str) -> None:
    words = f"scene.blend --json out.json {more}"
    command = ["sh", "-c", f'exec "$0" -m contact_lens {words} <&- >&- 2>&-', sys.executable]
    assert in_process(command, tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path))) == (1, "", "")
    assert load_report(tmp_path / "out.json")["checks"]


# --- names are data -------------------------------------------------------------------------------------------------

ESCAPES = "\x1b[31mred\x07"
BACKWARDS = "\u202edne\u2028</script><!--\x9b2J"


def test_names_do_not_reach_the_terminal_as_commands(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = pair_file(tmp_path / "\x1b]0;title\x07.blend", ESCAPES, BACKWARDS, scene="one\rtwo\nthree")
    mesh_object("\x1b[2Jempty", [], [])
    save_scene(file)
    capfd.readouterr()
    for code, arguments in (
        (1, [file]),
        *((1, [file, f"--{kind}", "-", "--quiet"]) for kind in KINDS),
        (2, [file, "--object", "\x1b[31mnone"]),
        (2, [tmp_path / "\x1b[31mnone.blend"]),
        (2, [file, "--frames", "\x1b[31m"]),
    ):
        assert run(*arguments) == code
    told = capfd.readouterr()
    said = re.sub(r"(Info: |Read blend: ).*\n", "", told.out + told.err)  # but for Blender's own words
    raw = set(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", said)) - {"\r"}
    assert raw == set(), "each is seen as what it is"
    for words in (
        r"\x1b[31mred\x07",
        r"\u202edne\u2028</script>",
        r"'\x1b[2Jempty' has no vertices",
        r"one\rtwo\nthree: 2 objects",
    ):
        assert words in told.out
    assert r"\x1b[31mnone.blend: there is no such file" in told.err


def test_reports_have_names_as_they_are(tmp_path: Path) -> None:
    file = pair_file(tmp_path / "scene.blend", ESCAPES, BACKWARDS)
    paths, options = outputs(tmp_path)
    assert run(file, *options) == 1
    (row,) = load_report(paths["json"])["checks"][0]["findings"]
    assert {row["a"]["name"], row["b"]["name"]} == {ESCAPES, BACKWARDS}
    objects, *_ = load_report(paths["html"]).rows[1]
    assert set(objects.split("\n")) == {r"\x1b[31mred\x07", "\u202edne\u2028</script><!--" + r"\x9b2J"}
    text = paths["html"].read_text(encoding="utf-8")
    assert (text.count("</script>"), text.count("<!--")) == (1, 0)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", text)


BLANKS = (
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\N{NO-BREAK SPACE}",
    "\N{IDEOGRAPHIC SPACE}",
    "\N{ZERO WIDTH SPACE}",
    "\ufeff",
    " \n\t",
)
SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\N{MINUS SIGN}", "\N{SMALL PLUS SIGN}")


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers(tmp_path: Path) -> None:
    _, document = run_json(pair_file(tmp_path / "scene.blend"))
    (numbers,) = table_of(to_csv(document))
    numbers = {name: value for name, value in numbers.items() if name.endswith(("_x", "bound"))}
    assert any(float(value) < 0.0 for value in numbers.values())
    (check,) = document["checks"]
    (row,) = check["findings"]
    for name in [*(blank + sign + "1+1" for blank in BLANKS for sign in SIGNS), "\tA", "\rA", "\nA"]:
        row["a"]["name"] = check["scene"] = check["file"] = check["path"] = name
        row["notes"] = [name]
        (told,) = table_of(to_csv(document))
        assert {told[column][0] for column in ("a", "scene", "file", "path", "notes")} == {"'"}, name
        assert {column: told[column] for column in numbers} == numbers
    # Where a semicolon separates the cells of a table, as it does in most of Europe.
    row["a"]["name"] = "A;=1+1; \uff1dB;C"
    assert ";'=1+1;' \uff1dB;C," in to_csv(document)
    row["a"]["name"] = 'A;"=1;" B'
    assert '"A;\'""=1;' in to_csv(document)
    for name in ("A", "A=1", "1-2", "'A", "箱", "(a)", "A; B"):
        row["a"]["name"] = name
        assert [told["a"] for told in table_of(to_csv(document))] == [name]


@pytest.mark.slow
@as_module
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_no_encoding_costs_a_report(addon: ModuleType, tmp_path: Path, encoding: str) -> None:
    """Names that the terminal cannot show, in a file whose name is no UTF-8."""
    (tmp_path / "profile").mkdir()
    path = os.fsencode(tmp_path) + b"/sc\xffne.blend"
    scene = pair_file(tmp_path / "scene.blend", "Würfel 箱", ESCAPES)
    with contextlib.suppress(OSError, UnicodeError):  # macOS and Windows refuse it
        os.rename(scene, path)
    if os.path.basename(path) not in os.listdir(os.fsencode(tmp_path)):
        pytest.skip("this file system keeps no name that is not UTF-8")
    _, options = outputs(Path())
    command = [sys.executable, "-m", "contact_lens", os.path.basename(path), *map(str, options)]
    environment = environment_of(tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)), PYTHONIOENCODING=encoding)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=100, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False), done.stderr
    shown = {"ascii": rb"W\xfcrfel \u7bb1", "cp1252": b"W\xfcrfel " + rb"\u7bb1", "utf-8": "Würfel 箱".encode()}
    assert shown[encoding] in done.stdout
    assert rb"sc\xffne.blend" in done.stdout
    (entry,) = load_report(tmp_path / "out.json")["inputs"]
    assert os.fsencode(entry["path"]) == path
    assert entry["sha256"] == hashlib.sha256(Path(os.fsdecode(path)).read_bytes()).hexdigest()
    (row,) = load_report(tmp_path / "out.csv")
    assert (row["file"], "Würfel 箱" in (row["a"], row["b"])) == (r"sc\xffne.blend", True)
    assert r"sc\xffne.blend" in (tmp_path / "out.html").read_text(encoding="utf-8")
