# SPDX-License-Identifier: GPL-3.0-or-later
"""Save Scene Report beside Blender: what is in the report, what Esc leaves, and what a changed scene does to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from .scenes import cube, lens

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def pictured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three cubes in a row that overlap, checked; return the names of the pairs of which a picture was drawn."""
    for k, name in enumerate("ABC"):
        cube(name, (1.5 * k, 0.0, 0.0))
    bpy.ops.contact_lens.check_scene()
    drawn: list[str] = []

    def render(context: Any, inspection: Any, path: str, *size: int) -> None:
        drawn.append(inspection.name_a + inspection.name_b)
        Path(path).write_bytes(b"a picture")

    monkeypatch.setattr(lens.report.pictures, "render_isolated", render)
    return drawn


def begin(path: Path, kind: str, said: list[Any], most: int = 0) -> Iterator[Any]:
    return lens.operators.scene_operators._save_steps(bpy.context, path, kind, most, said, False)


def done(fraction: float) -> bool:
    return True


def test_the_report_is_of_the_moment_when_saving_began(pictured: list[str], tmp_path: Path) -> None:
    path, said = tmp_path / "clashes.json", []
    steps = begin(path, "json", said)
    write = next(steps)
    assert not path.exists()
    bpy.data.objects["A"].name = "Renamed"
    bpy.context.scene.contact_lens_check.findings[0].status = "APPROVED"
    write(done)
    with pytest.raises(StopIteration) as end:
        steps.send(None)
    assert end.value.value == {"FINISHED"}
    (check,) = json.loads(path.read_text(encoding="utf-8"))["checks"]
    assert {row["a"]["name"] for row in check["findings"]} == {"A", "B"}
    assert {row["status"] for row in check["findings"]} == {"new"}
    assert [kind for kind, _ in said] == ["INFO"]


@pytest.mark.parametrize("kind", ["json", "csv", "html"])
def test_esc_leaves_what_was_there(pictured: list[str], tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"clashes.{kind}"
    assert bpy.ops.contact_lens.save_scene_report(filepath=str(path), pictures=0) == {"FINISHED"}
    before = path.read_bytes()
    for answers in ([False], [True, False]):
        write = next(begin(path, kind, []))
        given = iter(answers)
        with pytest.raises(lens.core.progress.Cancelled):
            write(lambda fraction, given=given: next(given))
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
        assert path.read_bytes() == before


def test_no_picture_is_of_a_pair_that_was_moved_meanwhile(pictured: list[str], tmp_path: Path) -> None:
    path = tmp_path / "clashes.html"
    steps = begin(path, "html", [], most=5)
    work = next(steps)
    work = steps.send(work(done))
    assert len(pictured) == 1, "one at a time"
    bpy.data.objects["C" if "C" not in pictured[0] else "A"].location.y = 0.5
    bpy.context.view_layer.update()
    work = steps.send(work(done))
    assert len(pictured) == 1
    work(done)
    assert lens.report.pictures.CHANGED in path.read_text(encoding="utf-8").lower()


def test_the_page_that_was_saved_last_is_opened(
    pictured: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_report, opened = bpy.ops.contact_lens.open_report, []
    assert not open_report.poll()
    path = tmp_path / "a page with spaces.html"
    bpy.ops.contact_lens.save_scene_report(filepath=str(path), pictures=0)
    assert open_report.poll()
    monkeypatch.setattr("webbrowser.open", lambda url, *_: opened.append(url) or True)
    assert open_report() == {"FINISHED"}
    assert opened == [path.as_uri()]
    path.unlink()
    assert not open_report.poll()
