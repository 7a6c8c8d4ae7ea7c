# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line shows: its streams, the progress of a check, and a check as lines of text."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import answer_words, scene_report
from .interruption import Stop
from .report_units import unit_format
from .units import UnitFormat, counted

WIDEST = 34
"""Letters of a name in the table on the terminal."""


@contextmanager
def standard_output_free(wanted: bool) -> Iterator[Callable[[str], None]]:
    """Send all that Blender itself prints elsewhere, if wanted. Gives what writes to standard output all the same."""
    if not wanted:
        yield _write
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:

        def write(text: str) -> None:
            with os.fdopen(os.dup(kept), "w", encoding="utf-8", newline="") as file:
                file.write(text)

        yield write
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class Progress:
    """A line on the terminal that tells how far a check is; nothing where nobody looks."""

    def __init__(self, quiet: bool, frame: int, count: int, stop: Stop) -> None:
        self._stop = stop
        self._shown = not quiet and sys.stderr.isatty()
        self._frame, self._count = frame, count
        self._told = -1

    def __call__(self, share: float) -> bool:
        percent = int(100.0 * (self._frame + share) / self._count)
        if self._shown and percent != self._told:
            self._told = percent
            print(f"\rChecking: {percent} %", end="", file=sys.stderr, flush=True)
        return not self._stop.asked

    def end(self) -> None:
        if self._shown:
            print("\r" + " " * 20 + "\r", end="", file=sys.stderr, flush=True)


def lines(check: dict[str, Any]) -> list[str]:
    """Return a check as lines of text: one for the whole, one for each finding."""
    units = unit_format(check)
    head = f"{check['file'] or 'unsaved file'}, frame {check['frame']}: {scene_report.one_line(check)}"
    clearance = check["settings"]["clearance"]
    told = [f"{head}; clearance {units.length(clearance)}" if clearance > 0.0 else head]
    rows = [
        (
            row["relation"].replace("_", " "),
            _cut(row["a"]["name"]),
            _cut(row["b"]["name"]),
            _distance(row, units),
            f"area {units.area(row['area'])}" if row["area"] > 0.0 else "",
            _status(row, units),
        )
        for row in check["findings"]
    ]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(6)]
    told += [
        "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    for entry in check["skipped"][:10]:
        told.append(f"  left out: {entry['reason']}")
    if len(check["skipped"]) > 10:
        told.append(f"  and {counted(len(check['skipped']) - 10, 'more left out', 'more left out')}")
    return told


def _status(row: dict[str, Any], units: UnitFormat) -> str:
    if row["status"] == "changed" and row["approved_at"] is not None:
        return f"changed: approved at {units.length(abs(row['approved_at']))}"
    return "" if row["status"] in ("new", "active") else str(row["status"])


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    if row["signed_distance"] is None:
        return f"no depth: {answer_words.NO_DEPTH}"
    most = "at most " if answer_words.is_at_most(row) else ""
    text = f"{'depth' if row['intersects'] else 'gap'} {most}{units.length(abs(row['signed_distance']))}"
    return f"{text} of pieces" if row.get("of_pieces") and row["intersects"] else text


def _cut(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."
