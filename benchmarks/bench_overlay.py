# SPDX-License-Identifier: GPL-3.0-or-later
"""A redraw of the overlay: `python3 build.py bench -- --only overlay --before PATH`.

Seconds of the processor, of what the add-on does when Blender draws a 3D view with an inspected pair of meshes, labels
included; what the GPU does is not waited for. overlay_in_blender.py is the part that runs in Blender.
"""

from __future__ import annotations

import os
from pathlib import Path

from .in_blender import ROOT, measure_in_blender
from .table import Against, Row, show

GOALS = {"nothing changes": "at most 3 ms", "the view orbits": "at most 8 ms"}


def main(quick: bool = False) -> None:
    """Print the table."""
    before = os.environ.get("CONTACT_LENS_BEFORE")
    found = []
    for checkout in [*([Path(before)] if before else []), ROOT]:
        measured = measure_in_blender("overlay_in_blender", [[5 if quick else 101]], checkout=checkout)
        if measured is None:
            return
        found += measured
    show(
        [
            Row(f"{name}, {GOALS[name]}", ours, {"before": Against(found[0][name], ours)} if before else {})
            for name, ours in found[-1].items()
        ]
    )
