# SPDX-License-Identifier: GPL-3.0-or-later
"""A check as lines of text for a terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ..data import messages
from ..data.collision_kinds import words_of_side
from ..data.distance import AT_MOST, Distance
from ..data.lazy_rows import Row, column, columns
from ..data.names import elided, visible
from ..data.units import UnitFormat
from ..frames.combined import is_folded
from ..frames.sentences import MOST_INTERVALS, counts_words, frames_of_check, named_frames, quiet_words
from ..report import scene as scene_report
from ..report.criteria import OPEN
from ..scene import depths
from ..scene.clash_rows import APART, RESOLVED, WORSE, changed_relations, present_relations, unit_format, words

WIDEST = 34
"""Letters of a name in the table on the terminal."""
NO_DEPTH = "no depth: "
MOST_LINES = 10
"""So many of each kind, except clashes, are printed at most; reports have all."""
ALL_CLASHES = sys.maxsize
MOST_CLASHES = 50
"""So many clashes of a check are printed unless the user says otherwise."""


class Listing(NamedTuple):
    """How many clashes of a check are printed, of transient ones over frames, and the path of a report that has all."""

    most: int
    report: str | None

    @classmethod
    def of(cls, options: argparse.Namespace) -> Listing:
        """Return what the options of a command ask for."""
        paths = (getattr(options, kind) for kind in ("html", "csv", "json", "junit"))
        report = next((path for path in paths if path is not None), None)
        return cls(MOST_CLASHES if options.list is None else options.list, report)


LISTING = Listing(MOST_CLASHES, None)


def lines(
    check: dict[str, Any],
    file: str | None = None,
    decisions: Mapping[str, Any] | None = None,
    listing: Listing = LISTING,
) -> list[str]:
    """Return a check as lines of text: one for the whole, one for each of the worst findings.

    check: as `combined` has it; file: its name as the user gave it; decisions: their file, as documents have it.
    """
    units, over = unit_format(check), check.get("over")
    count = messages.relation_counts(present_relations(check["findings"])) if over is None else counts_words(over)
    summary = messages.check_line(check, count, decisions)
    if check["gone"] is not None:
        changes = changed_relations([check])
        summary = f"{summary}; {messages.since_baseline(changes, len(check['gone']), len(check['not_compared']))}"
        numbers = zip(*columns(check["findings"], "change", "baseline_distance", "signed_distance"), strict=True)
        if any(change not in (None, "new") and (before is None) != (now is None) for change, before, now in numbers):
            summary += ", by relation where no depth was searched"
    head = f"{file or check['file'] or 'unsaved file'}, {frames_of_check(check)}: {summary}"
    clearance = check["settings"]["clearance"]
    head = f"{head}; clearance {units.length(clearance)}" if clearance > 0.0 else head
    found = [f"{head}; {messages.DEPTHS_NOT_SEARCHED}" if depths.depth_of(check["settings"]) == depths.NONE else head]
    findings, folded = check["findings"], list[Row]()
    if over is not None and listing.most < ALL_CLASHES:
        folded = [row for row in findings if is_folded(row)]
        findings = [row for row in findings if not is_folded(row)]
    places = _worst(findings, listing.most, check["gone"] is not None)
    listed = [findings[k] for k in places]  # each is made once
    rows = [
        (
            messages.relation_word(word),
            _name(row["a"], units),
            _name(row["b"], units),
            _distance(row, units),
            *([_frames(row)] if "over" in row else []),
            f"{messages.area_name(row['relation'])} {units.area(row['area'])}" if row["area"] > 0.0 else "",
            f"overlap {units.measure(row['overlap_volume'], 3)}" if row.get("overlap_volume") else "",
            _status(row, units),
            messages.changed_since(row, units),
        )
        for row, word in zip(listed, words(listed), strict=True)
    ]
    # Why there is no depth is long: it widens no column.
    widths = [
        max((len(of) for of in texts if not of.startswith(NO_DEPTH)), default=0) for texts in zip(*rows, strict=True)
    ]
    found += [
        "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    others = sorted({*range(len(findings))}.difference(places))
    if rows and others:
        where = f"in {listing.report}" if listing.report else "(write a report, or add --list all)"
        found.append(f"  {len(others):,} more {where}")
    if folded and listing.most:
        found.append(f"  {_folded(folded)}")
    if over is not None and over.clashes and over.quiet:
        found.append(f"  {quiet_words(over)}")
    if depths.depth_of(check["settings"]) == depths.FIRST:
        bounds = sum(Distance.of_row(row).is_at_most for row in chain(listed, (findings[k] for k in others), folded))
        found += [f"  {_upper_bounds(bounds)}"] if bounds else []
    for title in ("gone", "not_compared"):
        word = title.replace("_", " ")
        entries = [f"{word}: {messages.earlier_clash(entry, units)}" for entry in check[title] or ()]
        found += [f"  {line}" for line in first_of(entries)]
    skipped = [
        f"{'not checked' if entry['unchecked'] else 'left out'}: {entry['reason']}"
        for entry in sorted(check["skipped"], key=lambda entry: not entry["unchecked"])
    ]
    found += [f"  {line}" for line in first_of(skipped)]
    return found


def _folded(rows: Sequence[Row]) -> str:
    which = " at which both were checked" if any(row["over"].over.not_checked for row in rows) else ""
    return f"{len(rows):,} permanent: found at every frame{which}; --list all prints them"


def _frames(row: Row) -> str:
    """Return at which frames a pair is a clash: 'frames 32 to 47, deepest at 40'."""
    over, distance = row["over"].over, Distance.of_row(row)
    if over.is_permanent:
        return "permanent"
    times = f", {len(over.intervals)} times" if len(over.intervals) > MOST_INTERVALS else ""
    text = f"{named_frames([(over.first, over.last)] if times else over.intervals)}{times}"
    if over.first == over.last or distance.signed_distance is None or row["relation"] == "touching":
        return text
    return f"{text}, {'nearest' if distance.name == 'Gap' else 'deepest'} at {over.worst}"


def _upper_bounds(number: int) -> str:
    """Return how to get the depths of a check that are upper bounds."""
    text = messages.counted(number, "depth is an upper bound", "depths are upper bounds")
    return f"{text}: add --depth exact to refine {'it' if number == 1 else 'them'}"


def _worst(findings: Sequence[Row], most: int, is_compared: bool) -> Sequence[int]:
    """Return the places of the first findings; those that are undecided, and new or deeper since the baseline if they
    are compared with one, are before others."""
    if len(findings) <= most:
        return range(len(findings))
    statuses = column(findings, "status")
    changes = column(findings, "change") if is_compared else [None] * len(findings)
    order = sorted(range(len(findings)), key=lambda k: (statuses[k] not in OPEN, changes[k] not in (None, *WORSE)))
    return sorted(order[:most])


def first_of(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first lines, and how many more there are."""
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"and {len(lines) - MOST_LINES:,} more"


def total_lines(checks: Sequence[dict[str, Any]], decisions: Mapping[str, Any] | None) -> list[str]:
    """Return several checks in one line: 'In 20 checks: 40 penetrating, 7 touching, of 3 pairs'; nothing of a single
    one. checks, decisions: see `lines`."""
    if len(checks) < 2:
        return []
    scenes = [check["over"] for check in checks if "over" in check]
    others = [check for check in checks if "over" not in check]  # over frames: those that were stopped
    found = [relation for check in others for relation in present_relations(check["findings"])]
    pairs = {
        (check["path"], identity)
        for check in others
        for word, identity in zip(words(check["findings"]), column(check["findings"], "id"), strict=True)
        if word not in (RESOLVED, APART)
    }
    incomplete = sum(any(entry["unchecked"] for entry in check["skipped"]) for check in checks)
    left_out = messages.what_is_left_out(checks, decisions)
    count = messages.relation_counts(found) + (f", of {messages.counted(len(pairs), 'pair')}" if found else "")
    counts = [counts_words(*scenes)] if any(scene.clashes for scene in scenes) else []
    counts += [count] if found or not counts else []
    text = f"In {messages.counted(len(checks), 'check')}: {', '.join(counts)}"
    lack = f"{incomplete:,} of the checks {'is' if incomplete == 1 else 'are'} not complete" if incomplete else ""
    return ["; ".join(filter(None, (text, left_out, lack)))]


def closing_lines(checks: Sequence[dict[str, Any]]) -> list[str]:
    """Return what to know of all checks of a file as lines of text."""
    entries = [entry for check in checks for entry in check["differences"]]
    differences = list(dict.fromkeys(f"Differs in renders: {messages.difference(entry)}" for entry in entries))
    found = list(first_of(differences))
    words = [(entry["scene"], entry["words"]) for entry in scene_report.between_frames(checks)]
    return [*found, *(messages.of_scene(scene, text) if len(words) > 1 else text for scene, text in words)]


def _status(row: dict[str, Any], units: UnitFormat) -> str:
    if row["status"] == "changed" and row["approved_at"] is not None:
        return f"changed: approved at {units.length(abs(row['approved_at']))}"
    return "" if row["status"] in ("new", "active") else str(row["status"])


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    distance = Distance.of_row(row)
    if distance.signed_distance is None:
        return f"{NO_DEPTH}{reason}" if (reason := distance.no_depth_reason) else ""
    number = distance.text(units)
    # Not every terminal can show the sign.
    return f"{distance.name.lower()} {number.replace(AT_MOST, 'at most ')}" if number else ""


def _name(side: Mapping[str, Any], units: UnitFormat) -> str:
    name = messages.placed(elided(visible(side["name"]), WIDEST, "..."), side, units)
    return messages.checked_as(name, words_of_side(side), side.get("shape_source"))
