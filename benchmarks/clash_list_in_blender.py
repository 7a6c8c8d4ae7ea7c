# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of bench_clash_list that runs in Blender: draws the panel of a scene with many clashes."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from types import SimpleNamespace
from typing import Any

import bpy

import contact_lens

ROWS = 12
"""That the list shows at once, where it is drawn large."""


class Layout:
    """Stands for Blender's, which takes its own time."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: self

    def panel(self, *arguments: Any, **options: Any) -> tuple[Layout, None]:
        return self, None


def measure(count: int, rounds: int) -> dict[str, float]:
    """Return the median seconds of a redraw with so many clashes, and of the first one after a change."""
    contact_lens.register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    _stand_walls(count)
    bpy.ops.contact_lens.check_scene()
    scene: Any = bpy.context.scene
    check = scene.contact_lens_check
    assert abs(len(check.findings) - count) < 0.05 * count
    bpy.ops.contact_lens.go_to_finding()

    def rename() -> None:
        scene.objects[0].name = f"Brick {time.monotonic()}"

    def search() -> None:
        check.search = "brick 1" if check.search == "" else ""

    def sort() -> None:
        check.sort = "OBJECT" if check.sort == "DEPTH" else "DEPTH"

    def approve() -> None:
        finding = check.findings[1]
        finding.status = "REVIEWED" if finding.status == "APPROVED" else "APPROVED"

    results = {"redraw": _seconds(_redraw, rounds, lambda: None)}
    for change in (search, sort, approve, rename):
        results[f"redraw after {change.__name__}"] = _seconds(_redraw, rounds, change)
    contact_lens.unregister()
    return results


def _stand_walls(count: int) -> None:
    """Stand rows of cubes, of which each is a little in the next."""
    mesh = bpy.data.meshes.new("Brick")
    corners = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    mesh.from_pydata(corners, [], faces)
    for k in range(count):
        obj = bpy.data.objects.new(f"Brick {k}", mesh)
        obj.location = (0.999 * (k % 100), 2.0 * (k // 100), 0.0)
        bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.update()


def _redraw() -> None:
    """Do what the add-on does when Blender draws the panel and its list."""
    from contact_lens.blender_addon.ui import scene_panel

    context, check = bpy.context, bpy.context.scene.contact_lens_check  # type: ignore[attr-defined]
    layout = Layout()
    scene_panel.CONTACT_LENS_PT_scene.draw(SimpleNamespace(layout=layout), context)
    rows: Any = scene_panel.CONTACT_LENS_UL_findings
    itself = SimpleNamespace(bitflag_filter_item=1 << 30)
    flags, places = rows.filter_items(itself, context, check, "findings")
    shown = sorted((place, k) for k, place in enumerate(places) if place < ROWS and flags[k])
    for k in (k for _, k in shown):
        rows.draw_item(itself, context, layout, check, check.findings[k], 0, check, "active", k)


def _seconds(call: Callable[[], None], rounds: int, before: Callable[[], None]) -> float:
    """Return the median seconds of the processor that a call takes, each time after another one."""
    spent = []
    for _ in range(rounds):
        before()
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return median(spent)
