# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line shows: its streams, the progress of a check, and a check as lines of text."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from ..check.clash_rows import present_relations
from ..data import messages
from ..data.distance import AT_MOST, Distance
from ..data.names import elided, visible
from ..data.units import UnitFormat
from ..report import scene as scene_report
from ..report.scene_units import unit_format
from .interruption import Stop

WIDEST = 34
"""Letters of a name in the table on the terminal."""


class Screen:
    """Lines for the user, on standard output."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.failure: OSError | None = None
        """Why lines are shown no more."""

    def say(self, text: str) -> None:
        """Show a line. Where that fails nothing is shown from then on: it costs no report."""
        if self.quiet or self.failure is not None:
            return
        try:
            _print(text, sys.stdout)
        except OSError as error:
            self.failure = error
            # What Python still has for it goes nowhere, rather than fail again at the end.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def complain(text: str) -> None:
    """Show what is wrong, on standard error, as this program's."""
    with suppress(OSError):  # there is no other place to say it
        for line in text.splitlines():
            _print(line, sys.stderr)


def _print(text: str, stream: TextIO | None) -> None:
    """Print a line as data: nothing in it does anything to a terminal, and any encoding will do."""
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        print(visible(text).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


@contextmanager
def standard_output_free(wanted: bool) -> Iterator[int]:
    """Send all that Blender itself prints elsewhere, if wanted. Gives the descriptor that is the standard output."""
    if not wanted:
        _flush_c()  # what Blender said before, as its name and version: in its order
        yield 1
        return
    _flush_python()
    kept = os.dup(1)
    os.dup2(2, 1)
    _flush_c()
    try:
        yield kept
    finally:
        _flush_python()
        _flush_c()
        os.dup2(kept, 1)
        os.close(kept)


def _flush_python() -> None:
    if sys.stdout is not None:  # it is None where the standard output was closed
        sys.stdout.flush()


def _flush_c() -> None:
    """Write out what C code has printed: it has a buffer of its own, which else would follow all that Python wrote."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)


class Progress:
    """A line on the terminal with the progress of a check; nothing where the output is not a terminal."""

    def __init__(self, quiet: bool, frame: int, count: int, stop: Stop) -> None:
        self._stop = stop
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._frame, self._count = frame, count
        self._percent = -1

    def __call__(self, fraction: float) -> bool:
        percent = int(100.0 * (self._frame + fraction) / self._count)
        if self._shown and percent != self._percent:
            self._percent = percent
            self._show(f"\r{messages.in_progress('Checking', percent / 100.0)}")
        return not self._stop.asked

    def end(self) -> None:
        if self._shown:
            self._show("\r" + " " * 20 + "\r")

    def _show(self, text: str) -> None:
        try:
            print(text, end="", file=sys.stderr, flush=True)
        except OSError:  # the terminal has been closed
            self._shown = False


def lines(check: dict[str, Any], file: str | None = None) -> list[str]:
    """Return a check as lines of text: one for the whole, one for each finding; file: its name as the user gave it."""
    units = unit_format(check)
    summary = messages.check_line(check, present_relations(check["findings"]))
    head = f"{file or check['file'] or 'unsaved file'}, frame {check['frame']}: {summary}"
    clearance = check["settings"]["clearance"]
    found = [f"{head}; clearance {units.length(clearance)}" if clearance > 0.0 else head]
    rows = [
        (
            row["relation"].replace("_", " "),
            _name(row["a"]),
            _name(row["b"]),
            _distance(row, units),
            f"area {units.area(row['area'])}" if row["area"] > 0.0 else "",
            _status(row, units),
        )
        for row in check["findings"]
    ]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(6)]
    found += [
        "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    bounds = sum("at most" in distance for _, _, _, distance, _, _ in rows)
    if bounds and not check["settings"].get("exact"):
        found.append(f"  {messages.upper_bounds(bounds)}")
    for entry in sorted(check["skipped"], key=lambda entry: not entry["unchecked"])[:10]:
        found.append(f"  {'not checked' if entry['unchecked'] else 'left out'}: {entry['reason']}")
    if len(check["skipped"]) > 10:
        found.append(f"  and {len(check['skipped']) - 10:,} more")
    return found


def closing_lines(checks: Sequence[dict[str, Any]]) -> list[str]:
    """Return what to know of all checks of a file as lines of text."""
    entries = [entry for check in checks for entry in check["differences"]]
    differences = list(dict.fromkeys(map(messages.differs_in_renders, entries)))
    found = differences[:10]
    if len(differences) > 10:
        found.append(messages.more_differences(len(differences) - 10))
    words = scene_report.motion_words(checks)
    return [*found, words] if words else found


def _status(row: dict[str, Any], units: UnitFormat) -> str:
    if row["status"] == "changed" and row["approved_at"] is not None:
        return f"changed: approved at {units.length(abs(row['approved_at']))}"
    return "" if row["status"] in ("new", "active") else str(row["status"])


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    distance = Distance.of_row(row)
    if distance.signed_distance is None:
        return f"no depth: {messages.NO_DEPTH}"
    number = distance.text(units)
    # Not every terminal can show the sign.
    return f"{distance.name.lower()} {number.replace(AT_MOST, 'at most ')}" if number else ""


def _name(side: Mapping[str, Any]) -> str:
    return elided(visible(side["name"]), WIDEST, "...")
