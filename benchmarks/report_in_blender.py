# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of bench_report that runs in Blender: writes pages of many clashes, and pages with pictures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

import contact_lens

UNITS = {"system": "METRIC", "scale_length": 1.0, "length_unit": "METERS"}
SETTINGS = {
    "scope": "visible",
    "collection_a": None,
    "collection_b": None,
    "object": None,
    "clearance": 0.002,
    "contact_tolerance": 1e-5,
    "touching": True,
    "instances": True,
    "visibility": "viewport",
}
RELATIONS = ("penetrating", "touching", "a_inside_b", "within_clearance")


def document(count: int) -> dict[str, Any]:
    """Return the document of one check with so many clashes of bricks, deepest first; one in eight has a note."""
    rng = np.random.default_rng(count)
    names = [f"Brick {course}.{k:03d}" for course in range(1 + count // 500) for k in range(250)]
    sides = rng.integers(0, len(names), (count, 2)).tolist()
    distances, areas = np.sort(rng.normal(-0.02, 0.01, count)).tolist(), rng.uniform(0.0, 0.01, count).tolist()
    findings = [
        {
            "a": {"name": names[a]},
            "b": {"name": names[b]},
            "relation": RELATIONS[k % 7 % 4],
            "signed_distance": distance,
            "area": area,
            "intersects": distance <= 0.0,
            "has_depth": True,
            "exactness": "certified",
            "status": "new",
            "change": None,
            "frame": 1,
            "apart": False,
            "notes": [f"'{names[a]}' is checked as its convex hull"] if k % 8 == 0 else [],
            "depth": max(-distance, 0.0),
            "lower_bound": distance,
            "upper_bound": distance,
            "out_of_date": None,
        }
        for k, ((a, b), distance, area) in enumerate(zip(sides, distances, areas, strict=True))
    ]
    check = {
        "file": "wall.blend",
        "path": "/scenes/wall.blend",
        "scene": "Scene",
        "frame": 1,
        "partial": False,
        "motion": None,
        "units": UNITS,
        "settings": SETTINGS,
        "objects": len(names),
        "checked_pairs": 4 * count,
        "candidate_pairs": 4 * count,
        "relations": {},
        "ignored_pairs": {},
        "skipped": [],
        "left_out": {},
        "differences": [],
        "out_of_date": 0,
        "gone": None,
        "not_compared": None,
        "findings": findings,
    }
    inputs = [{"file": "wall.blend", "path": "/scenes/wall.blend", "sha256": "0" * 64, "error": None}]
    return {
        "contact_lens": contact_lens.__version__,
        "blender": bpy.app.version_string,
        "numpy": np.__version__,
        "baseline": None,
        "decisions": None,
        "files": ["wall.blend"],
        "frames": [1],
        "inputs": inputs,
        "between_frames": [],
        "partial": False,
        "checks": [check],
    }


def page(count: int, path: str) -> float:
    """Write the page of so many clashes and return the CPU seconds of making its text."""
    from contact_lens.blender_addon.report.scene import html_report

    told = document(count)
    start = time.process_time()
    text = html_report.to_html(told)
    seconds = time.process_time() - start
    Path(path).write_text(text, encoding="utf-8")
    return seconds


def pictures(path: str, most: int) -> dict[str, Any] | str:
    """Return the CPU seconds of saving a checked scene's page with pictures; or why there are none.

    `drawn`: what of it is drawing; the rest is mostly the contacts, which are found anew in full.
    """
    from contact_lens.blender_addon.draw import picture
    from contact_lens.blender_addon.report import pictures as report_pictures

    bpy.ops.wm.open_mainfile(filepath=path)
    contact_lens.register()
    try:
        picture.start_gpu()
    except picture.GpuUnavailable as error:
        return str(error)
    bpy.ops.contact_lens.check_scene()
    spent: list[float] = []
    render = report_pictures.render_isolated

    def timed(*arguments: Any) -> None:
        start = time.process_time()
        render(*arguments)
        spent.append(time.process_time() - start)

    report_pictures.render_isolated = timed
    page_path = Path(path).with_suffix(".html")
    start = time.process_time()
    bpy.ops.contact_lens.save_scene_report(filepath=str(page_path), kind="HTML", pictures=most)
    return {"saved": time.process_time() - start, "drawn": sum(spent), "count": len(spent)}


def frames(path: str, most: int) -> dict[str, Any] | str:
    """Return the CPU seconds of checking 20 frames with a page that has pictures, and of the same without, with what so
    many pictures take; or why there are none."""
    from contact_lens.blender_addon.command_line import main
    from contact_lens.blender_addon.draw import picture

    contact_lens.register()
    try:
        picture.start_gpu()
    except picture.GpuUnavailable as error:
        return str(error)
    html = Path(path).with_suffix(".html")

    def seconds(wanted: str, number: int) -> float:
        start = time.process_time()
        main([path, "--frames", wanted, "--html", str(html), "--pictures", str(number), "--quiet"], "contact_lens")
        return time.process_time() - start

    seconds("10", most)  # shaders are compiled
    least = seconds("1-20", 0) + seconds("10", most) - seconds("10", 0)
    spent, text = seconds("1-20", most), html.read_text(encoding="utf-8")
    return {"spent": spent, "least": least, "size": len(text), "count": text.count("data:image/png")}
