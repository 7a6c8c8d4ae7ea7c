# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene on large scenes: `python3 build.py bench -- --only check_scene --before PATH`.

From opening the file until the results are there, each in a Blender of its own: seconds of the processor, and the most
memory it had. Scenes are compared with the checkout that --before names, run by run in turn. scenes_in_blender.py makes
the scenes, check_scene_in_blender.py is the part that runs in Blender.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from .in_blender import ROOT, measure_in_blender
from .table import duration, print_table, times

HERE = "check_scene_in_blender"


class Workload(NamedTuple):
    """A scene and how it is checked."""

    title: str
    scene: str
    arguments: tuple[str, ...] = ()
    with_json: bool = True
    """Measure it with a JSON report too, and in the list of the scene."""
    with_before: bool = True
    """Measure the checkout before too."""
    triangles: int = 0
    """Of the scene: the memory that Blender alone does not take is given for each."""


WORKLOADS = (
    Workload("14 primitives", "primitives", with_json=False),
    Workload("100 dented meshes of 642 vertices", "dented", with_json=False),
    Workload("20 bumpy tori of 200,000 triangles", "large", with_json=False, triangles=4_000_000),
    Workload("building of 198 objects", "building", with_json=False),
    Workload("building of 198 objects, no depths", "building", ("--depth", "none"), False, with_before=False),
    Workload("10,000 instances", "instances"),
    Workload("8,000 touching bricks", "bricks"),
    Workload("8,000 touching bricks, faces only", "bricks", ("--least-contact", "face"), with_before=False),
    Workload("100 moving hulls, 250 frames", "moving", ("--frames", "1-250"), with_json=False),
    Workload("200 dented meshes, 5 of them moving, 20 frames", "few_moving", ("--frames", "1-20"), False, False),
)


def main(quick: bool = False) -> None:
    """Print the tables."""
    before = os.environ.get("CONTACT_LENS_BEFORE")
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:

        def saved(scene: str) -> str | None:
            path = Path(folder) / f"{scene}.blend"
            if path.exists():
                return str(path)
            found = measure_in_blender("scenes_in_blender", [[scene, str(path)]], "save")
            return None if found is None else str(found[0])

        lines = [["", "before", "now", "ratio", "memory before", "now", "findings", "report"]]
        for workload in WORKLOADS:
            if quick and workload.scene in ("dented", "large", "building", "moving", "few_moving"):
                continue
            path = saved(workload.scene)
            if path is None:
                return
            lines += _rows(workload, path, Path(before) if before else None)
        print("Seconds of the processor from opening the file until the results are there; memory with Blender's own.")
        print_table(lines)
        path = saved("meshes")
        found = measure_in_blender(HERE, [[path, 1 if quick else 5]], "against_mathutils")
        if found:
            _show_against_mathutils(found[0])


def _rows(workload: Workload, path: str, before: Path | None) -> list[list[str]]:
    """Measure a scene as it is checked, with a report, and in the list; return a line for each."""
    kinds: list[tuple[str, str, list[Any]]] = [("", "check_file", [path, [*workload.arguments], False])]
    if workload.with_json:
        kinds.append((", with JSON", "check_file", [path, [*workload.arguments], True]))
        if not workload.arguments:
            kinds.append((", into the list", "check_in_list", [path]))
    lines = []
    for title, function, request in kinds:
        old = None
        if before is not None and workload.with_before:
            old = (measure_in_blender(HERE, [request], function, before) or [None])[0]
        new = (measure_in_blender(HERE, [request], function, ROOT) or [None])[0]
        assert new is not None
        if workload.triangles:
            opened = (measure_in_blender(HERE, [[path]], "open_file") or [0.0])[0]
            title += f", {1e9 * (new['peak'] - opened) / workload.triangles:.0f} bytes of ours a triangle"
        lines.append(
            [
                f"{workload.title}{title}",
                "" if old is None else duration(old["seconds"]),
                duration(new["seconds"]),
                "" if old is None else times(old["seconds"] / new["seconds"]),
                "" if old is None else f"{old['peak']:.2f} GB",
                f"{new['peak']:.2f} GB",
                f"{new['findings']:,}" if "findings" in new else "",
                f"{new['size']:.0f} MB" if "size" in new else "",
            ]
        )
    return lines


def _show_against_mathutils(found: dict[str, Any]) -> None:
    ratio = found["theirs"] / found["ours"]
    print(
        f"200 meshes of 2,000 triangles, {found['pairs']:,} candidate pairs, {found['hits']:,} that intersect: "
        f"mathutils' BVHTree {duration(found['theirs'])}, pairs_intersect {duration(found['ours'])}, {times(ratio)}, "
        f"trees included; {found['different']} pairs differ. "
        f"A first depth and region: {duration(found['with depth'])} a pair."
    )
