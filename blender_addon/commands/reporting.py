# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command makes of a document of checks: report files, and its exit code."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..data import messages
from ..data.lazy_rows import column
from ..report import files as report_files
from ..report import scene as scene_report
from ..report.criteria import ALLOWANCES, Criteria, allowance_of, unchecked
from ..report.files import ReportFileError
from ..scene.clash_rows import present_relations
from ..terminal.interruption import Stop
from ..terminal.outcome import CLEAN, FINDINGS, STOPPED, UNCHECKED, WRONG, UsageError, complain_of, complain_of_a_fault
from ..terminal.progress import is_of_jobs
from ..terminal.streams import Screen

ALLOW_OPTIONS = tuple(f"allow_{word}" for word in ALLOWANCES)


def criteria_of(options: argparse.Namespace) -> Criteria:
    """Return what counts for the exit code. Raises UsageError."""
    if options.fail_on == "new" and options.baseline is None:
        raise UsageError(messages.NEW_NEEDS_BASELINE)
    return Criteria(options.fail_on, frozenset(word for word in ALLOWANCES if getattr(options, f"allow_{word}")))


def places_of(options: argparse.Namespace) -> dict[str, report_files.Place]:
    """Return where each kind of report goes. Raises UsageError and ReportFileError."""
    paths = {kind: getattr(options, kind) for kind in scene_report.WRITERS if getattr(options, kind) is not None}
    places = {kind: report_files.place_of(path) for kind, path in paths.items()}
    if sum(place.descriptor == 1 for place in places.values()) > 1:
        raise UsageError(messages.ONE_TO_STANDARD_OUTPUT)
    if report_files.share_a_file(places.values()):
        raise UsageError(messages.SHARED_REPORT_FILE)
    if options.baseline is not None and os.path.exists(options.baseline):
        files = [place.file for place in places.values() if place.file is not None and os.path.exists(place.file)]
        if any(os.path.samefile(file, options.baseline) for file in files):
            raise UsageError(messages.baseline_overwritten(options.baseline))
    return places


def write_reports(
    places: dict[str, report_files.Place],
    document: scene_report.Document,
    criteria: Criteria,
    partials: report_files.Partials,
    screen: Screen,
    output: int,
) -> bool:
    """Write the reports of a document to their places; output: the standard output. Returns whether that could be done
    with all."""
    written = [_write(kind, place, document, criteria, partials, screen, output) for kind, place in places.items()]
    return all(written)


def _write(
    kind: str,
    place: report_files.Place,
    document: scene_report.Document,
    criteria: Criteria,
    partials: report_files.Partials,
    screen: Screen,
    output: int,
) -> bool:
    """Write a report, if anything was checked; `--jobs` also reads why nothing was. Returns whether that could be done;
    the partial report stays if not."""
    if document["checks"] or is_of_jobs():
        try:
            report_files.write(place, scene_report.WRITERS[kind](document, criteria), output)
        except ReportFileError as error:
            complain_of(f"{error}{partials.hint(place)}")
            return False
        except Exception as error:  # a fault, or no memory for this one, costs no other report
            complain_of(f"{place.path}: {type(error).__name__}: {error}{partials.hint(place)}")
            complain_of_a_fault()
            return False
        if place.descriptor is None:
            screen.say(messages.saved(place.path))
    for problem in partials.remove(place):
        complain_of(problem)
    return True


class Stopped(NamedTuple):
    """How a run was stopped before all was checked."""

    seconds: float | None
    """The time limit that has stopped it; None where a signal has."""

    @classmethod
    def by(cls, stop: Stop) -> Stopped | None:
        """Return how it was stopped until now; None where it was not."""
        return cls(stop.seconds if stop.timed_out else None) if stop.noted else None


def exit_code_of_incomplete(
    document: scene_report.Document, stopped: Stopped | None, criteria: Criteria, screen: Screen, is_written: bool
) -> int | None:
    """Return what a run that was stopped, or lacks files, ends with, and say why; None of a complete one."""
    checks, inputs = document["checks"], document["inputs"]
    failed = sum(source["error"] is not None for source in inputs)
    if stopped is None:
        if failed:
            screen.say(messages.files_failed(failed, len(inputs)))
        return WRONG if failed else None
    if stopped.seconds is None:
        complain_of(messages.STOPPED_UNCHECKED)
        return STOPPED if is_written else WRONG
    complain_of(messages.timed_out(stopped.seconds))
    if not is_written:
        return WRONG
    return FINDINGS if document["part"] is None and any_fails(criteria, checks) else UNCHECKED


def exit_code(criteria: Criteria, checks: list[dict[str, Any]], screen: Screen) -> int:
    """Return what complete checks end with, and say why: of what could not be checked on the standard error stream."""
    skipped = [entry for check in checks for entry in check["skipped"]]
    emptied = messages.emptied(list(dict.fromkeys(entry["name"] for entry in skipped if entry["kind"] == "emptied")))
    failing = [
        relation
        for check in checks
        for relation, fails in zip(column(check["findings"], "relation"), criteria.failing(check), strict=True)
        if fails
    ]
    if failing:
        screen.say(messages.failed(failing, criteria.fail_on) + emptied)
        return FINDINGS
    entries = [entry for check in checks for entry in unchecked(check)]
    left = [entry for entry in entries if not criteria.allows(entry)]
    if not left:
        found = sum(len(present_relations(check["findings"])) for check in checks)
        screen.say(messages.clean(found, criteria.fail_on, len(entries), _options_of(entries)) + emptied)
        return CLEAN
    complain_of(messages.not_all_checked([entry["reason"] for entry in left]))
    screen.say(messages.unchecked(len(left), _options_of(left)) + emptied)
    return UNCHECKED


def _options_of(entries: Iterable[dict[str, Any]]) -> list[str]:
    """Return the options that allow what could not be checked."""
    words = {allowance_of(entry.get("kind")) for entry in entries}
    return [f"--allow-{word}" for word in ALLOWANCES if word in words]


def any_fails(criteria: Criteria, checks: list[dict[str, Any]]) -> bool:
    """Return whether a clash counts."""
    return any(any(criteria.failing(check)) for check in checks)
