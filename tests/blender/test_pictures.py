# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a report: of the worst clashes of the whole run, each at its worst frame, drawn after the check."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from ..browser import browser, browsers, usable_browser
from .reports import load_report, run
from .scenes import animate, cube, fresh, lens, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")

Drawn = list[tuple[str, int, str]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """The file, the frame and the names of each picture that is drawn; there need not be a GPU."""
    found: Drawn = []

    def draw(context: bpy.types.Context, inspection: Any, path: str, *size: int) -> None:
        names = f"{inspection.name_a} {inspection.name_b}"
        found.append((Path(bpy.data.filepath).name, context.scene.frame_current, names))
        Path(path).write_bytes(names.encode())

    monkeypatch.setattr(lens.report.pictures, "render_isolated", draw)
    return found


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    """A and B are deepest at frame 2, C and D everywhere the same, E and F nearest at frame 3."""
    cube("A")
    animate(cube("B"), "location", "CONSTANT", f1=(1.9, 0.0, 0.0), f2=(1.2, 0.0, 0.0), f3=(1.5, 0.0, 0.0))
    cube("C", (20.0, 0.0, 0.0))
    cube("D", (21.7, 0.0, 0.0))
    cube("E", (40.0, 0.0, 0.0))
    animate(cube("F"), "location", "CONSTANT", f1=(42.0015, 0.0, 0.0), f2=(42.0015, 0.0, 0.0), f3=(42.0005, 0.0, 0.0))
    return save_scene(tmp_path / "moving.blend")


OPTIONS = ("--frames", "1-3", "--clearance", "2mm", "--quiet")


def pages_of(file: Path, folder: Path, *options: object) -> tuple[str, str]:
    """The page of one run, and that of its parts, of one frame each."""
    pages = folder / "one.html", folder / "merged.html"
    assert run(file, *OPTIONS, "--html", pages[0], *options) == 1
    for frame in (1, 2, 3):
        assert run(file, *OPTIONS, "--only-frames", frame, "--json", folder / "parts" / f"{frame}.json") == 0
    assert run("merge", folder / "parts", "--quiet", "--html", pages[1], *options) == 1
    one, merged = (page.read_text(encoding="utf-8") for page in pages)
    return one, merged


def test_a_clash_has_one_picture_at_its_worst_frame(moving: Path, tmp_path: Path, drawn: Drawn) -> None:
    one, merged = pages_of(moving, tmp_path)
    expected = [(moving.name, 1, "C D"), (moving.name, 2, "A B"), (moving.name, 3, "E F")]
    assert drawn == 2 * expected, "in the order of frames, each of which is set once"
    assert merged == one
    assert one.count("data:image/png") == 3
    assert "A picture of each pair, at its worst frame" in one
    (cells,) = [row for row in load_report(tmp_path / "one.html").rows if row[0].startswith("A")]
    assert cells[5] == "At frame 2"
    assert one.count('<img alt="A and B, frame 2"') == 1


def test_pairs_within_the_clearance_have_colors_by_their_gap(moving: Path, tmp_path: Path, monkeypatch: Any) -> None:
    bands: dict[str, Any] = {}

    def draw(context: bpy.types.Context, inspection: Any, path: str, width: int, height: int, measures: Any) -> None:
        bands[inspection.name_a] = measures.band
        Path(path).write_bytes(b"PNG")

    monkeypatch.setattr(lens.report.pictures, "render_isolated", draw)
    run(moving, *OPTIONS, "--html", tmp_path / "one.html")
    assert bands["A"] is bands["C"] is None
    assert bands["E"].least == pytest.approx(0.0005, abs=1e-6)
    assert bands["E"].limit == pytest.approx(0.004)


def test_the_number_of_pictures_is_that_of_a_report(moving: Path, tmp_path: Path, drawn: Drawn) -> None:
    one, merged = pages_of(moving, tmp_path, "--pictures", 2)
    assert [names for _, _, names in drawn] == 2 * ["A B", "E F"], "what is permanent comes last"
    assert merged == one
    assert "Pictures of the worst 2 of 3 pairs, each at its worst frame" in one


def test_pictures_are_of_the_worst_of_all_files(tmp_path: Path, drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Depths are compared in meters; the file that is open is not opened again."""
    opened: list[str] = []
    blend_file = lens.commands.blend_file
    open_file = blend_file.open_file
    monkeypatch.setattr(
        blend_file, "open_file", lambda file, *more: (opened.append(Path(file).stem), open_file(file, *more))
    )
    files = []
    for name, size, scale, depths in (("m", 2.0, 1.0, (0.2, 0.5)), ("mm", 2000.0, 0.001, (300.0, 100.0))):
        fresh()
        bpy.context.scene.unit_settings.scale_length = scale
        for k, depth in enumerate(depths):
            cube(f"{k}a", (0.0, 2.0 * k * size, 0.0), size)
            cube(f"{k}b", (size - depth, 2.0 * k * size, 0.0), size)
        files.append(save_scene(tmp_path / f"{name}.blend"))
    page = tmp_path / "page.html"
    assert run(*files, "--html", page, "--pictures", 2, "--quiet") == 1
    assert sorted(drawn) == [("m.blend", 1, "1a 1b"), ("mm.blend", 1, "0a 0b")]
    assert opened == ["m", "mm", "m"]
    assert "Pictures of the worst 2 of 4 pairs<" in page.read_text(encoding="utf-8")


def test_another_pose_is_never_shown(moving: Path, tmp_path: Path, drawn: Drawn) -> None:
    visits: list[int] = []

    @bpy.app.handlers.persistent
    def moves(scene: bpy.types.Scene, *_: object) -> None:
        visits.append(scene.frame_current)
        scene.objects["D"].location.x = 21.7 if visits.count(1) < 2 else 21.6

    bpy.app.handlers.frame_change_post.append(moves)
    try:
        page = tmp_path / "page.html"
        assert run(moving, *OPTIONS, "--html", page) == 1
    finally:
        bpy.app.handlers.frame_change_post.remove(moves)
    assert [names for _, _, names in drawn] == ["A B", "E F"]
    (cells,) = [row for row in load_report(page).rows if row[0].startswith("C")]
    assert cells[5] == "No picture: the objects are not as they were checked"


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("is_merged", [False, True])
def test_stopped_while_pictures_are_drawn_a_report_has_those_that_are_done(
    moving: Path,
    tmp_path: Path,
    drawn: Drawn,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_merged: bool,
) -> None:
    command: list[object] = [moving, *OPTIONS]
    if is_merged:
        assert run(*command, "--shard", "1/1", "--json", tmp_path / "part.json") == 0
        command = ["merge", tmp_path / "part.json", "--quiet"]
    stop_in_picture(monkeypatch, interrupt)
    page, data = tmp_path / "page.html", tmp_path / "page.json"
    assert run(*command, "--html", page, "--json", data) == 130
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/png") == len(drawn) == 1
    assert "Stopped after 1 of 3 pictures" in text
    assert not load_report(data)["partial"], "all was checked"
    assert "contact_lens: stopped: not all pictures were drawn\n" in capsys.readouterr().err


AS_MODULE = pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=[AS_MODULE, pytest.mark.slow])])
def test_a_time_limit_for_pictures_leaves_the_verdict(
    moving: Path, tmp_path: Path, drawn: Drawn, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    now = [0.0]
    stop = functools.partial(lens.terminal.interruption.Stop, clock=lambda: now[0])
    for name in ("check", "jobs"):
        monkeypatch.setattr(getattr(lens.commands, name), "Stop", stop)
    stop_in_picture(monkeypatch, lambda: now.append(now.pop() + 60.0))
    page, options = tmp_path / "page.html", ("--jobs", jobs, "--timeout", "2m", "--html")
    assert run(moving, *OPTIONS, *options, page, "--fail-on", "penetrating") == 1
    assert "Stopped after 2 of 3 pictures" in page.read_text(encoding="utf-8")
    now[:] = [0.0]
    assert run(moving, *OPTIONS, *options, page, "--fail-on", "never") == 0


def stop_in_picture(monkeypatch: pytest.MonkeyPatch, happen: Callable[[], object]) -> None:
    """Let something happen while each picture is drawn."""
    pictures = lens.report.pictures
    draw = pictures.render_isolated
    monkeypatch.setattr(pictures, "render_isolated", lambda *given: (happen(), draw(*given)))


@pytest.mark.parametrize("name", browsers())
def test_a_page_over_frames_is_used(moving: Path, tmp_path: Path, drawn: Drawn, name: str) -> None:
    path, pairs = tmp_path / "page.html", "[...document.querySelectorAll('#t0 tbody .a')].map(name => name.textContent)"
    folded = "document.querySelector('main > details').open"
    with browser(usable_browser(name)) as page:
        assert run(moving, *OPTIONS, "--html", path) == 1
        page.open(path)
        assert page.value("document.querySelector('.verdict').textContent") == "2 transient1 permanentin 3 frames"
        assert (page.value(pairs), page.value(folded)) == (["A", "E"], False)
        page.click("#t0 button.picture")
        assert page.value("document.querySelector('dialog[open] p').textContent") == "A and B, frame 2"
        page.press("Escape", 27)
        for _ in range(2):
            page.click("#t0 th.frames button")
        page.click("#t0 .frames summary")
        assert page.value("document.querySelector('#t0 .frames details').innerText").split("\n") == [
            "Each frame",
            "1: Depth 0.1 m",
            "2: Depth 0.8 m",
            "3: Depth 0.5 m",
        ]
        nodes = page.command("Accessibility.getFullAXTree")["nodes"]
        named = [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") in ("image", "table")]
        assert "Depth over frames 1 to 3, worst at 2" in named
        assert "Clashes in moving.blend, Scene, frames 1-3, most severe first" in named
        page.value("location.hash = 't1-0'")
        page.drawn()
        assert page.value(folded), "a link unfolds it"
        assert page.value("document.querySelector('tr.target .a').textContent") == "C"
        assert page.errors == []
