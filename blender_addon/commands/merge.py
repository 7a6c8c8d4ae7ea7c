# SPDX-License-Identifier: GPL-3.0-or-later
"""`merge`: make the reports of a whole run of the reports of its parts."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy

from ..data import messages
from ..data.lazy_rows import LazyRows
from ..data.records import Rules
from ..read.snapshot import ReadError
from ..report import files as report_files
from ..report import pictures as report_pictures
from ..report.merging import MergeError, Part, merged, validated
from . import blend_file
from .check_options import add_reports
from .command_parser import CommandParser
from .earlier import compare_with_baseline, lines_of_earlier
from .interruption import Stop
from .outcome import STOPPED, WRONG, UsageError, complain_of, complain_of_a_fault
from .reporting import criteria_of, exit_code, places_of, write_reports
from .scene_frames import SceneFrames
from .streams import Screen, blender_aside
from .terminal import Listing, closing_lines, lines, total_lines


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
        "  130      stopped by Ctrl-C, Ctrl-Break, SIGTERM or SIGHUP; nothing is written",
    )
    made.add_argument("parts", nargs="+", metavar="PART", help="JSON reports of parts, or folders of them")
    made.add_argument(
        "--enable-autoexec",
        action="store_true",
        help="run the scripts of files when they are opened for pictures; only for files you trust",
    )
    add_reports(made)
    return made


def run(arguments: Sequence[str], prog: str) -> int:
    """Merge the parts that the arguments name. Returns the exit code. Raises UsageError and ReportFileError."""
    options = parser(prog).parse_args(list(arguments))
    criteria = criteria_of(options)
    places = places_of(options)
    written = {os.path.realpath(place.file) for place in places.values() if place.file is not None}
    paths = list(_paths(options.parts, written))
    if overwritten := [path for path in paths if os.path.realpath(path) in written]:
        raise UsageError(messages.part_overwritten(overwritten[0]))
    prints_report = any(place.descriptor == 1 for place in places.values())
    screen = Screen(options.quiet or prints_report)
    with blender_aside(prints_report, options.quiet) as output, Stop() as stop:
        try:
            parts = [_read(path) for path in paths]
            document = merged(parts)
            compare_with_baseline(document, parts[0].document["part"]["run"], options.baseline)
        except MergeError as error:
            raise UsageError(str(error)) from error
        each = len(document["checks"]) // len(document["inputs"])
        listing = Listing.of(options, each)
        names = Counter(source["file"] for source in document["inputs"])
        for k, source in enumerate(document["inputs"]):
            checks = document["checks"][k * each : (k + 1) * each]
            if options.html is not None and options.pictures and not stop.asked:
                settings = parts[0].document["part"]["run"]["options"]
                if document["blender"] == bpy.app.version_string:
                    _take_pictures(source, checks, settings, options.enable_autoexec, options.pictures, stop)
                else:
                    reason = messages.another_blender(document["blender"], bpy.app.version_string)
                    _leave_out_pictures(checks, reason)
            if not screen.quiet:
                name = source["file"] if names[source["file"]] == 1 else source["path"]
                for check in checks:
                    for line in lines(check, name, document["decisions"], listing):
                        screen.say(line)
                for line in closing_lines(checks):
                    screen.say(line)
        for line in (*total_lines(document["checks"], document["decisions"]), *lines_of_earlier(document)):
            screen.say(line)
        if stop.asked:
            complain_of(messages.STOPPED)
            return STOPPED
        none = report_files.Partials(())
        is_written = write_reports(places, document, criteria, none, screen, output)
    if screen.failure is not None and not isinstance(screen.failure, BrokenPipeError):
        is_written = False
        complain_of(f"standard output: {screen.failure.strerror}")
    return exit_code(criteria, document["checks"], screen) if is_written else WRONG


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
            raise UsageError(messages.no_parts_in(path))
        yield from found


def _is_part(path: str) -> bool:
    try:
        return json.loads(Path(path).read_bytes())["part"] is not None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def _read(path: str) -> Part:
    """Return a part. Raises MergeError and UsageError."""
    try:
        document = json.loads(Path(path).read_bytes(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise MergeError(messages.not_json(path)) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    return validated(path, document)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and the like, which no report has


def _take_pictures(
    source: dict[str, Any],
    checks: Sequence[dict[str, Any]],
    settings: dict[str, Any],
    run_scripts: bool,
    most: int,
    stop: Stop,
) -> None:
    """Put pictures into the checks of a file, which is opened for them; where that cannot be, the reason why."""
    left = [check for check in checks if check["findings"]]
    if not left:
        return
    try:
        _open(source, settings, run_scripts)
        with SceneFrames(settings["scene"]) as frames:
            while left and not stop.asked:
                check = left[0]
                unit = check["units"]["blender_units_per_unit"]
                rules = Rules(**{**check["settings"], "clearance": check["settings"]["clearance"] * unit})
                frame = None if check["motion"] is None else check["frame"]
                given = frames.read(frame, rules)
                findings = check["findings"]
                check["findings"] = LazyRows(len(findings), findings.__getitem__)
                pairs = report_pictures.pairs_of(findings, given.objects)
                report_pictures.take_pictures(bpy.context, check, pairs, most)
                del left[0]
    except (UsageError, ReadError, OSError) as error:
        _leave_out_pictures(left, report_files.reason(error))
    except Exception as error:  # a fault costs pictures, not what many machines have done
        _leave_out_pictures(left, f"{type(error).__name__}: {error}")
        complain_of_a_fault()


def _leave_out_pictures(checks: Iterable[dict[str, Any]], reason: str) -> None:
    """Note in the checks that have clashes why there are no pictures of them."""
    for check in checks:
        if check["findings"]:
            check["pictures"] = messages.no_pictures(reason)


def _open(source: dict[str, Any], settings: dict[str, Any], run_scripts: bool) -> None:
    """Open a file as the parts have read it. Raises UsageError when it is not the same now, or is not here."""
    if settings["enable_autoexec"] and not run_scripts:
        raise UsageError(messages.SCRIPTS_FOR_PICTURES)
    if blend_file.digest(source["path"]) != source["sha256"]:
        raise UsageError(messages.changed_since_checked(source["path"]))
    blend_file.open_file(source["path"], run_scripts)
    if blend_file.libraries() != source["libraries"]:
        raise UsageError(messages.libraries_changed(source["path"]))
