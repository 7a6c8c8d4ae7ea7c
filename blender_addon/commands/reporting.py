# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command makes of a document of checks: report files, and its exit code."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

from ..data import messages
from ..data.lazy_rows import column
from ..frames.combined import combined
from ..report import files as report_files
from ..report import scene as scene_report
from ..report.criteria import ALLOWANCES, TRANSIENT, Criteria, allowance_of, unchecked
from ..report.files import ReportFileError
from ..scene import depths
from ..scene.clash_rows import present_relations
from ..terminal.interruption import Stop
from ..terminal.outcome import CLEAN, FINDINGS, STOPPED, UNCHECKED, WRONG, UsageError, complain_of, complain_of_a_fault
from ..terminal.progress import is_of_jobs
from ..terminal.streams import Screen
from .check_options import require_depths

ALLOW_OPTIONS = tuple(f"allow_{word}" for word in ALLOWANCES)


def criteria_of(options: argparse.Namespace, frames: Sequence[int] | None) -> Criteria:
    """Return what counts for the exit code; frames: those of the whole run. Raises UsageError."""
    if options.fail_on == TRANSIENT and len(frames or ()) < 2:
        raise UsageError(
            "--fail-on transient needs two frames or more, as one does not show which clashes are permanent: add "
            "them, such as --frames 1-60"
        )
    if options.fail_on == "new" and options.baseline is None:
        raise UsageError("--fail-on new needs a report to compare with: add --baseline OLD.json")
    if getattr(options, "depth", None) == depths.NONE:
        require_depths(options.fail_on, options.verify)
    return Criteria(options.fail_on, frozenset(word for word in ALLOWANCES if getattr(options, f"allow_{word}")))


def places_of(options: argparse.Namespace) -> dict[str, report_files.Place]:
    """Return where each kind of report goes. Raises UsageError and ReportFileError."""
    paths = {kind: getattr(options, kind) for kind in scene_report.WRITERS if getattr(options, kind) is not None}
    places = {kind: report_files.place_of(path) for kind, path in paths.items()}
    if sum(place.descriptor == 1 for place in places.values()) > 1:
        raise UsageError("only one report can be written to standard output")
    if report_files.share_a_file(places.values()):
        raise UsageError(messages.SHARED_REPORT_FILE)
    if options.baseline is not None and os.path.exists(options.baseline):
        files = [place.file for place in places.values() if place.file is not None and os.path.exists(place.file)]
        if any(os.path.samefile(file, options.baseline) for file in files):
            raise UsageError(f"{options.baseline}: this is the baseline: write the report to another file")
    return places


def write_reports(
    places: dict[str, report_files.Place],
    document: scene_report.Document,
    criteria: Criteria,
    partials: report_files.Partials,
    screen: Screen,
    output: int,
) -> bool:
    """Write the reports of a document to their places, if anything was checked; `--jobs` also reads why nothing was.

    output: the standard output. Returns whether that could be done with all; the partial reports of others stay.
    """
    are_written = True
    for kind, place in places.items():
        if document["checks"] or is_of_jobs():
            try:
                report_files.write(place, scene_report.WRITERS[kind](document, criteria), output)
            except Exception as error:  # also a fault, or no memory for this one: it costs no other report
                is_fault = not isinstance(error, ReportFileError)
                what = f"{place.path}: {type(error).__name__}: {error}" if is_fault else str(error)
                complain_of(f"{what}{partials.hint(place)}")
                if is_fault:
                    complain_of_a_fault()
                are_written = False
                continue
            if place.descriptor is None:
                screen.say(messages.saved(place.path))
        for problem in partials.remove(place):
            complain_of(problem)
    return are_written


class Stopped(NamedTuple):
    """How a run was stopped before all was checked."""

    seconds: float | None
    """The time limit that has stopped it; None where a signal has."""

    @classmethod
    def by(cls, stop: Stop) -> Stopped | None:
        """Return how it was stopped until now; None where it was not."""
        return cls(stop.seconds if stop.timed_out else None) if stop.noted else None


def exit_code_of_incomplete(
    document: scene_report.Document,
    stop: Stop,
    stopped: Stopped | None,
    criteria: Criteria,
    screen: Screen,
    are_all_drawn: bool,
    is_written: bool,
) -> int | None:
    """Return what a run ends with that was stopped, lacks files, or not all of which could be drawn or written, and say
    why; None of a complete one. stop: of the pictures, too."""
    if screen.failure is not None and not isinstance(screen.failure, BrokenPipeError):
        is_written = False
        complain_of(f"standard output: {screen.failure.strerror}")
    checks, inputs = document["checks"], document["inputs"]
    failed = sum(source["error"] is not None for source in inputs)
    if stopped is None:
        if not are_all_drawn:
            complain_of(messages.STOPPED_UNDRAWN)
        if failed:
            which = "the file" if len(inputs) == 1 else f"{failed:,} of {messages.counted(len(inputs), 'file')}"
            screen.say(f"Exit code 2: {which} could not be checked to the end")
        if failed or not is_written:
            return WRONG
        return STOPPED if not are_all_drawn and stop.noted and not stop.timed_out else None
    if stopped.seconds is None:
        complain_of(messages.STOPPED_UNCHECKED)
        return STOPPED if is_written else WRONG
    complain_of(messages.timed_out(stopped.seconds))
    if not is_written:
        return WRONG
    return FINDINGS if document["part"] is None and any(_failing(criteria, combined(checks))) else UNCHECKED


def exit_code(criteria: Criteria, checks: list[dict[str, Any]], screen: Screen) -> int:
    """Return what complete checks end with, and say why: of what could not be checked on the standard error stream."""
    skipped = [entry for check in checks for entry in check["skipped"]]
    emptied = _emptied(list(dict.fromkeys(entry["name"] for entry in skipped if entry["kind"] == "emptied")))
    records = combined(checks)
    if failing := list(_failing(criteria, records)):
        counted = list(_failing(replace(criteria, fail_on=TRANSIENT), records))
        is_hint = criteria.fail_on == "any" and any("over" in check for check in records)
        hint = f"; --fail-on transient counts {len(counted):,} of them" if is_hint else ""
        screen.say(_failed(failing, criteria.fail_on) + hint + emptied)
        return FINDINGS
    entries = [entry for check in records for entry in unchecked(check)]
    left = [entry for entry in entries if not criteria.allows(entry)]
    if not left:
        found = [relation for check in records for relation in present_relations(check["findings"])]
        screen.say(_clean(found, criteria.fail_on, len(entries), _options_of(entries)) + emptied)
        return CLEAN
    complain_of(f"not everything could be checked: {left[0]['reason']}{messages.and_more(len(left) - 1)}")
    screen.say(_unchecked(len(left), _options_of(left)) + emptied)
    return UNCHECKED


def _failing(criteria: Criteria, records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the relations of the clashes that count, of each pair over frames one; records: the `combined` checks."""
    for findings, counts in map(criteria.judged, records):
        yield from compress(column(findings, "relation"), counts)


def _emptied(names: Sequence[str]) -> str:
    """Return the end of a verdict: which objects their modifiers have left nothing of; empty for none."""
    if not names:
        return ""
    return (
        f"; left out, as modifiers leave nothing of {'it' if len(names) == 1 else 'them'}: {messages.quoted(names, 3)}"
    )


def _unchecked(count: int, options: Sequence[str]) -> str:
    """Return why the exit code is that of what could not be checked; options: those that allow it."""
    allow = f"{' and '.join(options)} {'allows' if len(options) == 1 else 'allow'} that"
    return f"Exit code 3: no clash counts, but {messages.counted(count, 'item')} could not be checked ({allow})"


def _clean(found: Sequence[str], fail_on: str, allowed: int, options: Sequence[str]) -> str:
    """Return why the exit code is 0; found: the relations of the clashes, of which none counts; allowed: how much could
    not be checked, by these options."""
    text = "no clashes"
    if found:
        verb = "does" if len(found) == 1 else "do"
        text = f"{messages.relation_counts(found)} {verb} not count (--fail-on {fail_on})"
    left = f"; {messages.counted(allowed, 'item')} not checked, allowed by {' and '.join(options)}" if allowed else ""
    return f"Exit code 0: {text}{left}"


def _failed(relations: Sequence[str], fail_on: str) -> str:
    """Return why the exit code is that of clashes, and which word of --fail-on does not count them if none penetrates;
    relations: of those that count."""
    transient = messages.counted(len(relations), "transient clash", "transient clashes")
    count = transient if fail_on == TRANSIENT else messages.relation_counts(relations)
    text = f"Exit code 1: {count} (--fail-on {fail_on})"
    if fail_on in ("new", TRANSIENT) or not {*relations} <= {"touching", "within_clearance"}:
        return text
    stricter = "penetrating" if "touching" in relations else "touching"
    return f"{text}; --fail-on {stricter} does not count {'it' if len(relations) == 1 else 'them'}"


def _options_of(entries: Iterable[dict[str, Any]]) -> list[str]:
    """Return the options that allow what could not be checked."""
    words = {allowance_of(entry.get("kind")) for entry in entries}
    return [f"--allow-{word}" for word in ALLOWANCES if word in words]
