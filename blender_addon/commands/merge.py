# SPDX-License-Identifier: GPL-3.0-or-later
"""`merge`: make the reports of a whole run of the reports of its parts."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from ..data import messages
from ..frames.combined import combined
from ..history.merging import Gaps, MergeError, Part, left, merged, validated
from ..report import files as report_files
from ..scene import depths
from ..terminal.check_lines import Listing, closing_lines, lines, total_lines
from ..terminal.command_parser import CommandParser
from ..terminal.interruption import Stop
from ..terminal.outcome import CLEAN, STOPPED, UsageError, complain_of
from ..terminal.progress import Progress
from ..terminal.streams import Screen, blender_aside
from .check_options import add_reports, require_depths
from .earlier import compare_with_baseline, lines_of_earlier
from .reporting import Stopped, criteria_of, exit_code, exit_code_of_incomplete, places_of, write_reports
from .worst_pictures import draw_worst


def parser(prog: str) -> CommandParser:
    made = CommandParser(
        prog=prog,
        description="Join the JSON reports of the parts of a run, as check writes them with --only-files, "
        "--only-frames or --shard, into the reports of the whole run.\n\nExample:\n"
        f"  {prog} parts --html room.html",
        epilog="Exit code:\n"
        "  0, 1, 3  as check for the whole run\n"
        "  2        wrong usage, a part that is missing or belongs to another run, or a file that cannot be read or "
        "written; nothing is written\n"
        "  130      stopped by Ctrl-C, Ctrl-Break, SIGTERM or SIGHUP; nothing is written, unless pictures "
        "were being drawn",
    )
    made.add_argument("parts", nargs="+", metavar="PART", help="JSON reports of parts, or folders of them")
    made.add_argument(
        "--enable-autoexec",
        action="store_true",
        help="run the scripts of files when they are opened for pictures; only for files you trust",
    )
    add_reports(made)
    made.add_argument(
        "--no-verdict",
        action="store_true",
        help="exit code 0 when the reports are written, whatever they say; another merge, without reports, then judges",
    )
    return made


class Run(NamedTuple):
    """A run of `check --jobs`, of which there may be less than was asked for."""

    parts: Sequence[Part]
    gaps: Gaps
    stop: Stop
    """Whether it was stopped."""


def run(arguments: Sequence[str], prog: str, of_jobs: Run | None = None) -> int:
    """Merge the parts that the arguments name, or those of `check --jobs`. Returns the exit code. Raises UsageError and
    ReportFileError."""
    options = parser(prog).parse_args(list(arguments))
    places = places_of(options)
    written = {os.path.realpath(place.file) for place in places.values() if place.file is not None}
    paths = list(_paths(options.parts, written))
    if overwritten := [path for path in paths if os.path.realpath(path) in written]:
        raise UsageError(f"{overwritten[0]}: this is a part to be merged: write the report to another file")
    prints_report = any(place.descriptor == 1 for place in places.values())
    screen = Screen(options.quiet or prints_report)
    with blender_aside(prints_report, options.quiet) as output, Stop() as stop:
        try:
            parts = [_read(path) for path in paths] if of_jobs is None else of_jobs.parts
            criteria = criteria_of(options, parts[0].document["part"]["run"]["frames"])
            document = merged(parts, None if of_jobs is None else of_jobs.gaps)
            if any(depths.depth_of(check["settings"]) == depths.NONE for check in document["checks"]):
                require_depths(options.fail_on)
            compare_with_baseline(document, parts[0].document["part"]["run"], options.baseline)
        except MergeError as error:
            raise UsageError(str(error)) from error
        listing = Listing.of(options)
        names = Counter(source["file"] for source in document["inputs"])
        for path, of_file in groupby(document["checks"], key=itemgetter("path")):
            checks = list(of_file)
            source = next(source for source in document["inputs"] if source["path"] == path)
            if not screen.quiet:
                name = source["file"] if names[source["file"]] == 1 else source["path"]
                for check in combined(checks):
                    screen.say(*lines(check, name, document["decisions"], listing))
                screen.say(*closing_lines(checks))
        screen.say(*total_lines(combined(document["checks"]), document["decisions"]), *lines_of_earlier(document))
        if stop.asked:
            complain_of(messages.STOPPED)
            return STOPPED
        stopped = None if of_jobs is None else Stopped.by(of_jobs.stop)
        are_all_drawn = options.html is None or draw_worst(
            document,
            options.pictures,
            Progress(options.quiet, len(document["inputs"]), stop),
            lambda: stop.asked or (of_jobs is not None and of_jobs.stop.asked),
            with_scripts=parts[0].document["part"]["run"]["options"]["enable_autoexec"],
            run_scripts=options.enable_autoexec,
        )
        none = report_files.Partials(())
        is_written = write_reports(places, document, criteria, none, screen, output)
    code = exit_code_of_incomplete(document, stop, stopped, criteria, screen, are_all_drawn, is_written)
    if code is not None:
        return code
    if options.no_verdict:
        screen.say("No verdict: merge the same parts again, without reports, for the exit code of the run")
        return CLEAN
    return exit_code(criteria, document["checks"], screen)


def _paths(given: Iterable[str], without: set[str]) -> Iterable[str]:
    """Yield the reports that are named, of a folder those in it but for an earlier one that is to be written again.
    Raises UsageError."""
    for path in given:
        if not os.path.isdir(path):
            yield path
            continue
        files = map(str, sorted(Path(path).glob("*.json")))
        found = [file for file in files if os.path.realpath(file) not in without or _is_part(file)]
        if not found:
            raise UsageError(f"{path}: there is no JSON report in this folder")
        yield from found


def _is_part(path: str) -> bool:
    try:
        return json.loads(Path(path).read_bytes())["part"] is not None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def left_of(path: str, paths: Sequence[str]) -> Part | None:
    """Return what there is of a part of this run, though it may have been stopped; None where there is nothing.

    paths: of the files of the run. Raises MergeError.
    """
    if os.path.exists(path):
        return left(path, _document(Path(path).read_bytes()), paths)
    try:
        with open(f"{path}.partial", encoding="utf-8", newline="\n") as lines:
            documents = [_document(line) for line in lines if line.endswith("\n")]  # else it was cut
    except FileNotFoundError:
        return None
    if not documents:
        return None
    joined = {name: [of for document in documents for of in document[name]] for name in ("inputs", "checks")}
    return left(path, {**documents[-1], **joined}, paths)


def _document(text: str | bytes) -> dict[str, Any]:
    return json.loads(text, parse_constant=_refuse_constant)


def _read(path: str) -> Part:
    """Return a part. Raises MergeError and UsageError."""
    try:
        document = _document(Path(path).read_bytes())
    except (ValueError, RecursionError):
        raise MergeError(f"{path}: this is not JSON, or was cut off: run this part again") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    return validated(path, document)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and the like, which no report has
