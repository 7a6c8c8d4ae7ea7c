# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes in a real window follow the selection, moves and undo by themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SATURATED = 90
"""Of 255: the difference of two channels from which a pixel has a colour."""


def coloured(picture: Path) -> int:
    """Pixels of the 3D view, without the panel, that are purple or yellow as volumes are."""
    width = int.from_bytes(picture.read_bytes()[16:20], "big")  # of a PNG
    convert = ["convert"] if shutil.which("convert") else ["magick"]  # ImageMagick 7 may have this alone
    raw = subprocess.run([*convert, str(picture), "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    pixels = np.frombuffer(raw, dtype=np.uint8).astype(int).reshape(-1, width, 3)[150:720, 100:900]
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    purple = (blue - green > SATURATED) & (red - green > SATURATED // 3)
    # Not the axis, which is green, nor the outline of selected objects, which is orange.
    yellow = (np.minimum(red, green) > 170) & (np.minimum(red, green) - blue > SATURATED)
    return int((purple | yellow).sum())


def test_the_panel_reports_one_and_then_two(seen: Any) -> None:
    assert [name for name, _ in seen["of one"]] == ["Suzanne.001"]
    assert {name for name, _ in seen["of two"][:2]} == {"Suzanne", "Suzanne.001"}
    assert seen["of two"][2] == ["Volumes", "overlap: the objects may collide"]
    assert seen["moved by"] == pytest.approx([1.0, 1.0], abs=1e-5)


def test_the_tree_of_two_meshes_leaves_few_pairs(seen: Any) -> None:
    lines = dict(seen["of triangles"])
    left, possible = (int(word.replace(",", "")) for word in lines["Triangle Pairs Left"].split(" of "))
    assert possible == 968 * 968
    assert 0 < left < 3000


def test_a_volume_test_of_the_descent_is_drawn_without_computing_the_view_again(seen: Any, played: Any) -> None:
    is_the_same, ((name, cut), (_, left)), tests = seen["of the descent"]
    assert is_the_same
    assert name == "Triangle Pairs Cut Off"
    assert int(cut.split(" of ")[0].replace(",", "")) + int(left.replace(",", "")) < 968 * 968
    assert int(tests.replace(",", "")) > 900
    assert coloured(played.pictures["descent"]) > 300, "the node of B is yellow"


def test_the_volumes_are_seen_and_gone_when_turned_off(played: Any) -> None:
    assert played.numbers["trouble"] == ""
    assert coloured(played.pictures["one"]) > 200
    assert coloured(played.pictures["triangles"]) > 1000
    assert coloured(played.pictures["off"]) < 50


def test_a_long_build_shows_its_progress_and_esc_ends_it(seen: Any) -> None:
    assert 0.0 <= seen["fraction"] < 1.0
    assert seen["after Esc"] == {"fraction": None, "outdated": True, "lines": seen["of triangles"]}
    assert seen["in the end"]["outdated"] is False
    assert seen["in the end"]["lines"][0][1].startswith("524,288 triangles")
