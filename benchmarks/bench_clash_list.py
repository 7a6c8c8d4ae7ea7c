# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clashes as the sidebar draws it: `python3 build.py bench -- --only clash_list --before PATH`.

Seconds of the processor, of what the add-on does in one redraw: the panel Scene Check, the order of its list and a
window of rows. Blender redraws while the mouse moves, so 10,000 clashes may take 16 ms. So is the redraw after a
change, which puts the list in order anew; the checkout before showed names up to seconds later.
clash_list_in_blender.py is the part that runs in Blender.
"""

from __future__ import annotations

import os
from pathlib import Path

from .in_blender import ROOT, measure_in_blender
from .table import Against, Row, show

COUNTS = (1_000, 10_000, 30_000)
GOALS = {("redraw", 10_000): ", at most 16 ms"}
HERE = "clash_list_in_blender"


def main(quick: bool = False) -> None:
    """Print the table."""
    before = os.environ.get("CONTACT_LENS_BEFORE")
    counts = COUNTS[:2] if quick else COUNTS
    found = []
    for checkout in [*([Path(before)] if before else []), ROOT]:
        measured = measure_in_blender(HERE, [[count, 3 if quick else 15] for count in counts], checkout=checkout)
        if measured is None:
            return
        found.append(measured)
    rows = []
    for k, count in enumerate(counts):
        for name, ours in found[-1][k].items():
            peers = {"before": Against(found[0][k].get(name), ours)} if len(found) > 1 else {}
            rows.append(Row(f"{count:,} clashes: {name}{GOALS.get((name, count), '')}", ours, peers))
    show(rows)
