# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspect Contact on Suzanne against a cube, in Blender: `python3 build.py bench -- --only operator`.

From the meshes to the drawn overlay, with the split: read (evaluated meshes to hulls), core (`contact`), the rest of
the operator, draw. Runs in the Python that CONTACT_LENS_BLENDER_PYTHON names (`build.py bench` does), else in this one
when it has bpy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from .table import duration

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ("to overlay", "operator", "read", "core", "rest", "draw", "draw again")


def main(quick: bool = False) -> None:
    """Print the table."""
    python = os.environ.get("CONTACT_LENS_BLENDER_PYTHON") or (sys.executable if find_spec("bpy") else "")
    zips = [os.environ["CONTACT_LENS_ZIP"]] if "CONTACT_LENS_ZIP" in os.environ else sorted(ROOT.glob("dist/*.zip"))
    if not python or not zips:
        print("Left out: it needs Blender's Python module and the built zip, which `build.py bench` provides.")
        return
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        result = Path(folder, "result.json")
        script = Path(__file__).with_name("operator_in_blender.py")
        done = subprocess.run(
            [python, str(script), str(zips[-1]), str(result), "5" if quick else "41"],
            env={**os.environ, "BLENDER_USER_RESOURCES": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if not result.exists():
            raise RuntimeError(f"Blender ended with code {done.returncode}:\n{done.stdout}")
        found = json.loads(result.read_text(encoding="utf-8"))
    show(found)


def show(found: dict) -> None:
    """Print the split."""
    a, b = (f"{n} vertices, hull {h}" for n, h in zip(found["vertices"], found["hull_vertices"], strict=True))
    print(f"Blender {found['blender']}, Suzanne ({a}) and a cube ({b}), {found['relation']}; medians.")
    lines = [["", *COLUMNS]]
    for name, seconds in found["rows"].items():
        seconds = dict(seconds)
        if seconds["read"] is not None:
            seconds["rest"] = seconds["operator"] - seconds["read"] - seconds["core"]
        if "draw" in seconds:
            seconds["to overlay"] = seconds["operator"] + seconds["draw"]
            seconds["draw again"] = seconds["redraw"]
        cells = (seconds.get(column) for column in COLUMNS)
        lines.append([name, *("" if cell is None else duration(cell) for cell in cells)])
    for line in lines:
        print(f"{line[0]:17}" + "".join(f"{cell:>12}" for cell in line[1:]))
    print(
        "  Hulls in local space are remembered unless nothing is known; a moved object's is made again in world space."
    )
    if found["trouble"]:
        print(f"  Not drawn: {found['trouble']}")
    else:
        print(
            f"  Drawn by {found['renderer']} at 1280 x 800, until the pixels are there; draw: layers made and uploaded."
        )
