# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspect Contact on Suzanne against a cube, in Blender: `python3 build.py bench -- --only operator`.

From the meshes to the drawn overlay, with the split: read (evaluated meshes to hulls), core (`contact`), the rest of
the operator, draw. operator_in_blender.py is the part that runs in Blender.
"""

from __future__ import annotations

import os
from typing import Any

from .in_blender import ROOT, measure_in_blender
from .table import duration, print_table

COLUMNS = ("to overlay", "operator", "read", "core", "rest", "draw", "draw again")


def main(quick: bool = False) -> None:
    """Print the table."""
    zips = [os.environ["CONTACT_LENS_ZIP"]] if "CONTACT_LENS_ZIP" in os.environ else sorted(ROOT.glob("dist/*.zip"))
    if not zips:
        print("Left out: it needs the built zip, which `build.py bench` provides.")
    elif found := measure_in_blender("operator_in_blender", [(str(zips[-1]), 5 if quick else 41)]):
        show(found[0])


def cells(seconds: dict[str, float | None]) -> list[str]:
    """Write the split of one row, with the sums and differences of what was measured."""
    read, core, operator, draw = (seconds.get(name) for name in ("read", "core", "operator", "draw"))
    known = {**seconds, "draw again": seconds.get("redraw")}
    if read is not None:
        known["rest"] = operator - read - core
    if draw is not None:
        known["to overlay"] = operator + draw
    return ["" if known.get(column) is None else duration(known[column]) for column in COLUMNS]


def show(found: dict[str, Any]) -> None:
    """Print the split."""
    a, b = (f"{n} vertices, hull {h}" for n, h in zip(found["vertices"], found["hull_vertices"], strict=True))
    print(f"Blender {found['blender']}, Suzanne ({a}) and a cube ({b}), {found['relation']}; medians.")
    print_table([["", *COLUMNS], *([name, *cells(seconds)] for name, seconds in found["rows"].items())])
    print("  Hulls in local space are cached unless nothing is; a moved object's is made again in world space.")
    drawn = f"by {found['renderer']} at 1280 x 800, until the pixels are there; draw: layers made and uploaded."
    print(f"  Not drawn: {found['trouble']}" if found["trouble"] else f"  Drawn {drawn}")
