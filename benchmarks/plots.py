# SPDX-License-Identifier: GPL-3.0-or-later
"""How the cost of a scene grows with its objects, as a picture for docs/performance.md: `build.py bench --plots`."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .bench_poses import scene_of_boxes, scene_of_hulls
from .in_blender import measure_in_blender
from .peers import Coal

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "scene_cost.svg"
COUNTS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
HULLS = 1_000
"""Different hulls; larger scenes have them several times."""
MESHES = 1_000
"""Meshes at most: each is another, and a scene of more takes minutes to make and to check."""
SCENES = {
    "instances": "Check Scene: instances of a sphere",
    "meshes": "Check Scene: bumpy meshes",
    "building": "Check Scene: buildings",
}
"""What Blender checks, and its title."""
BLUE, ORANGE, GREEN, PURPLE, BLACK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#777777"


def main(quick: bool = False) -> int:
    """Measure, print a table and draw the picture. Returns the exit code."""
    try:
        peer = Coal()
        from matplotlib import pyplot
    except ImportError as error:
        print(f"The plots need coal and matplotlib: {error}.", file=sys.stderr)
        return 2
    series: dict[str, list[tuple[int, float]]] = {}

    def add(name: str, count: int, seconds: float) -> None:
        series.setdefault(name, []).append((count, seconds))
        print(f"{count:>7,}  {1e3 * seconds:>12,.2f} ms  {name}", flush=True)

    for count in COUNTS[:3] if quick else COUNTS:
        boxes = scene_of_boxes(peer, count, 4, 0.0)
        add("boxes: contacts", count, boxes.ours)
        add("coal, boxes", count, float(boxes.peers["coal"].theirs or np.nan))
        hulls = scene_of_hulls(peer, count, 3, different=HULLS)
        add("hulls of 32 corners: which collide", count, hulls.ours)
        add("coal, hulls", count, float(hulls.peers["coal"].theirs or np.nan))
        for scene, title in SCENES.items():
            if scene != "instances" and count > MESHES:
                continue
            if seconds := measure_in_blender("check_scene_in_blender", [[scene, count]]):
                add(title, count, seconds[0])
    if not quick:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        draw(pyplot, series)
        print(f"Written: {PICTURE}")
    return 0


def draw(pyplot: Any, series: dict[str, list[tuple[int, float]]]) -> None:
    """Draw time against number of objects, both in powers of ten, each line with its name at its end."""
    looks = {
        "boxes: contacts": (BLUE, "-"),
        "coal, boxes": (BLUE, ":"),
        "hulls of 32 corners: which collide": (ORANGE, "-"),
        "coal, hulls": (ORANGE, ":"),
        SCENES["instances"]: (GREEN, "-"),
        SCENES["meshes"]: (PURPLE, "-"),
        SCENES["building"]: (BLACK, "-"),
    }
    pyplot.rcParams.update({"svg.hashsalt": "contact_lens", "svg.fonttype": "path", "font.size": 10})
    figure, axes = pyplot.subplots(figsize=(9.0, 5.2))
    ends = []
    for name, points in series.items():
        color, line = looks[name]
        counts, seconds = zip(*points, strict=True)
        axes.loglog(counts, seconds, line, color=color, marker="o", markersize=4, linewidth=1.8)
        ends.append([np.log10(seconds[-1]), name, color, counts[-1]])
    ends.sort(key=lambda end: end[0])
    for below, end in pairwise(ends):  # names do not lie on each other
        if end[3] == below[3]:
            end[0] = max(end[0], below[0] + 0.24)
    for height, name, color, count in ends:
        axes.text(count * 1.35, 10.0**height, name, color=color, va="center")
    first = min(seconds for points in series.values() for _, seconds in points)
    counts = np.array(COUNTS, dtype=float)
    axes.loglog(counts, 0.45 * first * counts / counts[0], color=GREY, linewidth=0.8, linestyle=(0, (6, 4)))
    axes.text(counts[1], 0.24 * first * counts[1] / counts[0], "in proportion", color=GREY, va="top")
    axes.set_xlabel("objects")
    axes.set_xlim(80, 125_000)
    times = {1e-4: "0.1 ms", 1e-3: "1 ms", 1e-2: "10 ms", 0.1: "0.1 s", 1.0: "1 s", 10.0: "10 s", 100.0: "100 s"}
    low, high = axes.get_ylim()
    shown = {at: words for at, words in times.items() if low <= at <= high}
    axes.set_yticks(list(shown), list(shown.values()))
    axes.yaxis.set_minor_locator(pyplot.NullLocator())
    axes.set_xticks([10**k for k in range(2, 6)], [f"{10**k:,}" for k in range(2, 6)])
    axes.xaxis.set_minor_locator(pyplot.NullLocator())
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.subplots_adjust(left=0.08, right=0.69, top=0.97, bottom=0.1)
    figure.savefig(PICTURE, metadata={"Date": None}, facecolor="white")
    pyplot.close(figure)
