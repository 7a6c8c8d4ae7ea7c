# SPDX-License-Identifier: GPL-3.0-or-later
"""The one rule of what is gone, in the list and in a report: every row of the table of `clashes/presence.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from .scenes import collection_of, cube, fresh, instance_of, lens, open_scene, save_scene
from .test_baseline import (
    adopt,
    baseline_of,
    break_mesh,
    compare,
    compound_of,
    delete,
    edited,
    hide,
    objects,
    rename_and_hide,
)
from .test_scene_check import check as check_in_panel
from .test_scene_check import settings

pytestmark = pytest.mark.usefixtures("empty_scene")

Edit = Callable[[], object]


def three_cubes() -> None:
    """A and B overlap, C is far."""
    for name, x in zip("ABC", (0.0, 1.5, 20.0), strict=True):
        cube(name, (x, 0.0, 0.0))


def instances() -> None:
    """Instances of A and C, of which that of A overlaps B."""
    collection = collection_of("Inside", cube("C", (20.0, 0.0, 0.0)), cube("A"), is_only=True)
    instance_of(collection, "Group")
    cube("B", (1.5, 0.0, 0.0))


def move_away() -> None:
    objects()["A"].location.x = -20.0


def rename_and_move_away() -> None:
    move_away()
    objects()["A"].name = "Another"


def make_no_more() -> None:
    bpy.data.collections["Inside"].objects.unlink(objects()["A"])


def delete_and_hide() -> None:
    delete("A")
    hide("C")


def stop(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = lens.scene.scene_check

    def stopped(*arguments: object) -> None:
        raise scene.Cancelled

    monkeypatch.setattr(scene._RunningCheck, "check_pairs", stopped)


def be_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lens.read.faults, "_is_newer", lambda saved: True)


EDITS: dict[str, tuple[Callable[[], None], Edit, Callable[[pytest.MonkeyPatch], None] | None]] = {
    "moved away": (three_cubes, move_away, None),
    "deleted": (three_cubes, lambda: delete("A"), None),
    "renamed and moved away": (three_cubes, rename_and_move_away, None),
    "deleted, with C hidden": (three_cubes, delete_and_hide, None),
    "hidden": (three_cubes, lambda: hide("A"), None),
    "renamed and hidden": (three_cubes, lambda: rename_and_hide("A"), None),
    "not readable": (three_cubes, lambda: break_mesh("A"), None),
    "ignored with B by a rule": (three_cubes, lambda: adopt(objects()["A"], objects()["B"]), None),
    "a part of a compound parent with B": (three_cubes, lambda: compound_of(objects()["A"], objects()["B"]), None),
    "an instance that is no longer made": (instances, make_no_more, None),
    "an instance that is no longer made, with B hidden": (instances, lambda: (make_no_more(), hide("B")), None),
    "an instance of what is hidden": (instances, lambda: setattr(objects()["A"], "hide_viewport", True), None),
    "moved away, in a check that was stopped": (three_cubes, move_away, stop),
    "moved away, in a file of a newer Blender": (three_cubes, move_away, be_newer),
}
"""The scene, what becomes of A, and what becomes of the check."""


def table() -> dict[str, tuple[str, str]]:
    """Return the table of the module: what the list and a report say in each case."""
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", lens.clashes.presence.__doc__ or "", re.M)
    return {case: (of_list, of_report) for case, of_list, of_report in rows[2:]}


def test_every_row_is_tried() -> None:
    assert list(table()) == list(EDITS)


@pytest.mark.parametrize("case", EDITS)
def test_what_has_become_of_a_clash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    make, edit, of_check = EDITS[case]
    of_list, of_report = table()[case]
    fresh()
    make()
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file)
    open_scene(file)
    assert [finding.status for finding in check_in_panel()] == ["NEW"]
    with monkeypatch.context() as patched:
        edit()
        if of_check is not None:
            of_check(patched)
        check_in_panel()
    (finding,) = settings().findings
    assert {"RESOLVED": "resolved"}.get(finding.status, "kept") == of_list
    edited(file, edit)
    with monkeypatch.context() as patched:
        if of_check is not None:
            of_check(patched)
        found: Any = compare(file, old)
    assert [len(found.gone), len(found.not_compared)] == [of_report == "gone", of_report == "not compared"]
