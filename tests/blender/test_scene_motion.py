# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames are samples: a report says so, and how far the fastest object moved from one checked frame to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import run, run_json
from .scenes import animate, block, cube, save_scene, shape_key, sheet

pytestmark = pytest.mark.usefixtures("empty_scene")


def motions(scene: Path, *arguments: object) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    code, data = run_json(scene, *arguments)
    return code, [check["motion"] for check in data["checks"]], data["between_frames"]


def test_a_block_that_flies_through_another_between_two_frames_is_noticed_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A block of 1 m by 2 m by 3 m flies 6 m along its side of 1 m, through a wall, from frame 4 to frame 5."""
    animate(block("Block", (1.0, 2.0, 3.0)), "location", "CONSTANT", f1=(-3.0, 0.0, 0.0), f5=(3.0, 0.0, 0.0))
    cube("Wall", size=1.0)
    slow = cube("Slow", (0.0, 50.0, 0.0), size=20.0)
    animate(slow, "location", "CONSTANT", f1=(0.0, 50.0, 0.0), f2=(0.0, 60.0, 0.0))
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    scene = save_scene(tmp_path / "scene.blend")
    said = (
        "Frames are samples: what happens between them is not checked. The fastest object for its size, 'Block', moved "
        "600 cm from frame 4 to frame 5: 6 times its extent in that direction (100 cm), so it may pass through "
        "others unnoticed."
    )
    page = tmp_path / "out.html"
    assert run(scene, "--frames", "1-9", "--html", page) == 3, "no sample shows it"
    told = capsys.readouterr().out
    assert told.count("objects, no clashes") == 1
    assert told.count(said) == 1
    assert said.replace("'", "&#x27;") in page.read_text(encoding="utf-8")
    code, found, between = motions(scene, "--frames", "1-9", "--allow-fast")
    assert code == 0
    assert [entry["words"] for entry in between] == [said]
    assert between[0]["path"] == str(scene)
    assert [entry["since_frame"] for entry in found] == [None, 1, 2, 3, 4, 5, 6, 7, 8]
    nothing = {"object": None, "distance": 0.0, "extent": None, "extents": 0.0}
    assert found[0] == {"since_frame": None, **nothing}
    assert found[1] == pytest.approx(
        {"since_frame": 1, "object": "Slow", "distance": 1000.0, "extent": 2000.0, "extents": 0.5}
    )
    assert found[4] == pytest.approx(
        {"since_frame": 4, "object": "Block", "distance": 600.0, "extent": 100.0, "extents": 6.0}
    )
    assert found[5] == {"since_frame": 5, **nothing}


def test_frames_that_are_not_next_to_each_other_are_named(tmp_path: Path) -> None:
    animate(cube("Block"), "location", "CONSTANT", f1=(0.0, 0.0, 0.0), f5=(1.0, 0.0, 0.0))
    scene = save_scene(tmp_path / "scene.blend")
    _, _, between = motions(scene, "--frames", "2,8")
    assert "moved 1 m from frame 2 to frame 8: 0.5 times its extent in that direction" in between[0]["words"]
    assert "unnoticed" not in between[0]["words"]
    _, found, between = motions(scene, "--frames", "6,8")
    assert (
        "No checked object moved from one frame to the next, unless it was hidden at one of them."
        in between[0]["words"]
    )
    _, found, between = motions(scene, "--frames", "6")
    assert between[0]["words"] == "Frames are samples: what happens between them is not checked."
    _, found, between = motions(scene)
    assert (found, between) == ([None], []), "a check of the frame that the file was saved at"


def test_what_turns_or_changes_its_shape_moves_as_its_fastest_vertex(tmp_path: Path) -> None:
    # A bar of 10 m by 0.2 m turns by a right angle: its ends move by 5 m times the root of 2.
    bar = cube("Bar", size=1.0)
    bar.scale = (10.0, 0.2, 0.2)
    animate(bar, "rotation_euler", "CONSTANT", f1=(0.0, 0.0, 0.0), f2=(0.0, 0.0, 1.5707963))
    # A corner of a flat square is pulled out of its plane.
    pulled = shape_key(sheet("Sheet", location=(50.0, 0.0, 0.0)))
    pulled.data[2].co.z = 0.001
    animate(pulled, "value", f2=0.0, f3=1.0)
    scene = save_scene(tmp_path / "scene.blend")
    _, found, between = motions(scene, "--frames", "1-3")
    # Its end goes from (5, 0.1) to (-0.1, 5), or the other corners likewise; the bar seen along that diagonal.
    assert found[1]["object"] == "Bar"
    assert found[1]["distance"] == pytest.approx((5.0**2 + 0.1**2) ** 0.5 * 2.0**0.5, rel=1e-6)
    assert found[2] == pytest.approx(
        {"since_frame": 2, "object": "Sheet", "distance": 0.001, "extent": 0.0, "extents": None}
    )
    assert "'Sheet', moved" in between[0]["words"], "what is flat has no size to compare with"
    assert "it has no extent in that direction" in between[0]["words"]
