# SPDX-License-Identifier: GPL-3.0-or-later
"""What the list of clashes shows is put in order once: it must be as if it were put in order anew each time."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .scenes import cube, inspect, part, reopen, update
from .test_scene_check import check, settings

pytestmark = pytest.mark.usefixtures("empty_scene")
SORTS = ("DEPTH", "NAME", "OBJECT", "AREA", "RELATION", "STATUS")
FILTERS = ("penetrating", "touching", "new", "changed", "active", "reviewed", "approved", "resolved")


def shown() -> Any:
    return part("blender_addon.check.clash_list").shown(bpy.context.scene)


def anew() -> Any:
    part("blender_addon.check.clash_list").drop()
    return shown()


class Changes:
    """Everything that what is shown depends on, changed at random."""

    def __init__(self, folder: Path) -> None:
        self.random = random.Random(1)
        self.folder = folder

    @property
    def objects(self) -> list[bpy.types.Object]:
        return list(bpy.context.scene.objects)

    def rename(self) -> None:
        self.random.choice(self.objects).name = f"{self.random.choice('ABCXYZ')}{self.random.random():.3f}"

    def swap_names(self) -> None:
        a, b = self.random.sample(self.objects, 2)
        name_a, name_b = a.name, b.name
        a.name, b.name = "between", name_a
        a.name = name_b

    def move(self) -> None:
        self.random.choice(self.objects).location.x += self.random.choice((-0.2, 0.1, 5.0))
        update()

    def delete(self) -> None:
        if len(self.objects) > 6:
            bpy.data.objects.remove(self.random.choice(self.objects))
            update()

    def add(self) -> None:
        cube(f"New {self.random.random():.3f}", (1.5 * self.random.randrange(8), 0.5, 0.0))

    def decide(self) -> None:
        statuses = [status[0] for status in part("blender_addon.check.results").STATUSES]
        if len(settings().findings):
            self.random.choice(list(settings().findings)).status = self.random.choice(statuses)

    def filter(self) -> None:
        for name in FILTERS:
            setattr(settings(), f"show_{name}", self.random.random() < 0.9)

    def search(self) -> None:
        settings().search = self.random.choice(("", "", "", "a", "new", "0."))

    def sort(self) -> None:
        settings().sort = self.random.choice(SORTS)

    def only_changed(self) -> None:
        settings().only_changed = self.random.random() < 0.3

    def check(self) -> None:
        check()

    def inspect(self) -> None:
        inspect(*self.random.sample(self.objects, 2))

    def undo(self) -> None:
        bpy.ops.ed.undo_push(message="before")
        self.decide()
        self.rename()
        bpy.ops.ed.undo_push(message="after")
        shown()
        bpy.ops.ed.undo()

    def redo(self) -> None:
        self.undo()
        shown()
        bpy.ops.ed.redo()

    def reopen(self) -> None:
        reopen(self.folder / "scene.blend")

    def clear(self) -> None:
        bpy.ops.contact_lens.clear_findings(resolved_only=True)


def test_the_list_is_as_if_put_in_order_anew_whatever_changes(tmp_path: Path) -> None:
    for k in range(10):
        cube(f"Cube {k}", (1.5 * k, 0.0, 0.0))
    check()
    changes = Changes(tmp_path)
    steps = [name for name in vars(Changes) if not name.startswith("_") and name != "objects"]
    order = changes.random.choices(steps, k=80)
    lengths = set()
    for step in [*steps, *order]:
        getattr(changes, step)()
        cached = shown()
        fresh = anew()
        assert cached == fresh, step
        assert sorted(cached.filtered[1]) == list(range(len(settings().findings)))
        lengths.add(len(cached.rows))
    assert len(lengths) > 4, "the lists differed"


def test_the_flags_and_places_for_blender() -> None:
    for k, x in enumerate((0.0, 1.9, 3.0)):
        cube("ABC"[k], (x, 0.0, 0.0))
    check()
    settings().search = "c"
    flags, places = part("blender_addon.ui.scene_panel").CONTACT_LENS_UL_findings.filter_items(
        SimpleNamespace(), bpy.context, settings(), "findings"
    )
    is_shown = [part("blender_addon.check.results").label(finding, "b") == "C" for finding in settings().findings]
    assert [flag != 0 for flag in flags] == is_shown == [True, False]
    assert places == [0, 1]


def test_a_redraw_reads_no_clash_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed."""
    for k in range(5):
        cube(f"Cube {k}", (1.5 * k, 0.0, 0.0))
    check()
    lists, read = part("blender_addon.check.clash_list"), []
    label = lists.results.label
    monkeypatch.setattr(lists.results, "label", lambda finding, letter: read.append(letter) or label(finding, letter))
    shown()
    assert len(read) == 8
    assert shown() is shown()
    settings().findings[0].status = "APPROVED"
    settings().search = "cube"
    settings().sort = "STATUS"
    assert shown().rows[-1] == 0
    assert len(read) == 8, "only names are read again when one of them changes"
    bpy.data.objects["Cube 0"].name = "Renamed"
    shown()
    assert len(read) == 16
