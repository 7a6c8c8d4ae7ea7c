# SPDX-License-Identifier: GPL-3.0-or-later
"""What all benchmarks share: timing in turn, and one form of table.

A ratio is the peer's time divided by ours: above 1 we win. Machines are noisy, so a goal is met at 0.8 of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

ENOUGH = 0.8
"""Share of a goal at which it is met."""
TICK = 50e-6
"""Seconds that one reading of the clock shall cover at least: short calls are repeated."""


@dataclass(frozen=True)
class Against:
    """One peer on one workload; times are medians in seconds."""

    theirs: float | None
    """None when it answers nothing rightly."""
    ours: float
    """Our time on the same inputs: what the peer cannot do is left out on both sides."""

    @property
    def ratio(self) -> float:
        """Peer's time divided by ours."""
        return 0.0 if self.theirs is None else self.theirs / self.ours


@dataclass(frozen=True)
class Row:
    """One workload."""

    workload: str
    ours: float
    """Median, seconds."""
    peers: dict[str, Against] = field(default_factory=dict)
    goals: dict[str, float] = field(default_factory=dict)
    """Ratio wanted against a peer."""
    notes: tuple[str, ...] = ()
    """What went wrong with whom."""


def in_turn(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median seconds of each of several calls, timed one after the other, round after round."""
    repeats = []
    for call in calls:
        call()
        start = perf_counter()
        call()
        repeats.append(max(1, round(TICK / max(perf_counter() - start, 1e-9))))
    spent: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, count, times in zip(calls, repeats, spent, strict=True):
            turns = range(count)
            call()  # not timed: none is charged for the caches that the others left behind
            start = perf_counter()
            for _ in turns:
                call()
            times.append((perf_counter() - start) / count)
    return [median(times) for times in spent]


def duration(seconds: float) -> str:
    """Write a time with three digits and its unit."""
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            value = seconds / size
            return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"
    return f"{seconds:.2f} s"


def times(ratio: float) -> str:
    """Write a ratio: 0.07x, 1.8x, 15x."""
    return f"{ratio:.{2 if ratio < 0.995 else 1 if ratio < 9.95 else 0}f}x"


def goal(row: Row) -> str:
    """Write what a row wants and whether it got it, or why nobody can tell."""
    said = []
    for peer, wanted in row.goals.items():
        if peer not in row.peers or row.peers[peer].theirs is None:
            said.append(f"{times(wanted)} {peer}: not measured")
        else:
            met = row.peers[peer].ratio >= ENOUGH * wanted
            said.append(f"{times(wanted)} {peer}: {'met' if met else 'NOT met'}")
    return ", ".join(said)


def show(rows: Sequence[Row]) -> None:
    """Print a line per workload with a column per peer (its time and the ratio) and the goals; notes below."""
    peers = list(dict.fromkeys(peer for row in rows for peer in row.peers))
    lines = [["", "ours", *peers, "goal"]]
    notes: dict[str, int] = {}
    for row in rows:
        marks = [notes.setdefault(note, len(notes) + 1) for note in row.notes]
        cells = []
        for peer in peers:
            against = row.peers.get(peer)
            if against is None:
                cells.append("")
            elif against.theirs is None:
                cells.append("fails")
            else:
                cells.append(f"{duration(against.theirs)} {times(against.ratio):>5}")
        name = row.workload + "".join(f" [{mark}]" for mark in marks)
        lines.append([name, duration(row.ours), *cells, goal(row)])
    print_table(lines, left=(0, len(lines[0]) - 1))
    for note, mark in notes.items():
        print(f"  [{mark}] {note}")


def print_table(lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
    """Print lines of cells, the first the header, in columns that begin at the left or end at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
