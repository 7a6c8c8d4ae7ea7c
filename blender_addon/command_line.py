# SPDX-License-Identifier: GPL-3.0-or-later
"""Check scenes from a terminal.

    blender -b FILE.blend --command contact_lens check [OPTIONS]
    python -m contact_lens FILE.blend ... [OPTIONS]          (a Python with the bpy module)

Exit code: 0 clean, 1 findings (see --fail-on), 2 wrong usage, a file that cannot be read or written, or an error that
nobody foresaw, 3 something could not be checked (see --allow-skipped), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from . import answer_words, scene_check, scene_pairs, scene_report, scene_results
from .read import ReadError
from .report_units import unit_format
from .units import WRITTEN_UNITS, UnitFormat, WrittenLength, counted, written_length

NAME = "contact_lens"
CLEAN, FINDINGS, WRONG, UNCHECKED, STOPPED = 0, 1, 2, 3, 130
MOST_FRAMES = 1_000_000
LAST_FRAME = 1_048_574
"""Blender goes to no later frame, nor to one before its negative."""
LONGEST = 1e30
"""Blender units: a clearance whose square is a number."""
WIDEST = 34
"""Letters of a name in the table on the terminal."""

FAIL_ON = {
    "any": frozenset(scene_results.RELATIONS),
    "touching": frozenset(scene_results.RELATIONS) - {"within_clearance"},
    "penetrating": frozenset(scene_results.RELATIONS) - {"within_clearance", "touching"},
    "never": frozenset(),
}
OPEN = frozenset({"new", "active", "reviewed"})


class UsageError(Exception):
    """What is wrong with the command or its files, in one sentence; the exit code is 2."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(f"{message}; see {self.prog} --help")


def parser(prog: str) -> argparse.ArgumentParser:
    made = _Parser(
        prog=prog,
        description="Find the objects of a scene that collide or come closer than a clearance. For example: "
        f"{prog if 'FILE' in prog else f'{prog} room.blend'} --clearance 2mm --html room.html",
        epilog="Exit code: 0 clean, 1 findings (see --fail-on), 2 wrong usage, a file that cannot be read or written, "
        "or an error that nobody foresaw, 3 no findings, but something could not be checked (see --allow-skipped), 130 "
        "stopped by Ctrl-C: the reports then hold what was done until then. What is not given is as set in the file's "
        "panel Scene Check.",
        allow_abbrev=False,
    )
    made.add_argument("files", nargs="*", metavar="FILE", help=".blend files (default: the one that is open)")
    what = made.add_argument_group("what is checked")
    what.add_argument("--scene", metavar="NAME", help="the scene (default: the file's active one)")
    side = what.add_mutually_exclusive_group()
    side.add_argument("--visible", action="store_true", help="all visible objects")
    side.add_argument("--selected", action="store_true", help="the objects that are selected in the file")
    side.add_argument("--collections", nargs=2, metavar=("A", "B"), help="collection A against collection B")
    side.add_argument("--object", metavar="NAME", help="one object against all other visible ones")
    what.add_argument(
        "--clearance",
        type=_length,
        metavar="LENGTH",
        help="gaps up to this are findings. 2mm, 0.1in and so on are what they say, in any file; a number alone, such "
        "as 0.002, is in the scene's own unit as the reports name it (metres or feet where that is Adaptive; Blender "
        f"units where it is None). Units: {' '.join(filter(str.isascii, WRITTEN_UNITS))}",
    )
    what.add_argument(
        "--frames", type=frames, metavar="LIST", help="check each of these frames, as in 1-100 or 1,5,9-20:2"
    )
    what.add_argument("--instances", action=argparse.BooleanOptionalAction, help="check instances too")
    what.add_argument("--touching", action=argparse.BooleanOptionalAction, help="tell pairs that only touch")
    what.add_argument(
        "--ignore",
        action="append",
        choices=("parents", "collections", "joined", "listed", "approved", "none"),
        help="leave out these pairs, and no others; may be given several times. parents: a thing and one it hangs on; "
        "collections: two in one collection; joined: by a rigid-body constraint; listed: in the file's own list; "
        "approved: by a person, in the file",
    )
    out = made.add_argument_group("what comes out")
    out.add_argument(
        "--json", metavar="PATH", help="write a JSON report; - for standard output, and nothing else there"
    )
    out.add_argument("--csv", metavar="PATH", help="write a CSV table; - for standard output")
    out.add_argument("--html", metavar="PATH", help="write an HTML page with pictures; - for standard output")
    out.add_argument(
        "--pictures",
        type=int,
        default=20,
        metavar="N",
        help="at most so many pictures a frame on the page (default 20)",
    )
    out.add_argument(
        "--fail-on",
        choices=tuple(FAIL_ON),
        default="any",
        help="which findings make the exit code 1 (default: any). Approved ones never do",
    )
    out.add_argument(
        "--allow-skipped",
        action="store_true",
        help="exit code 0, not 3, when a pair or an object could not be checked. What has no geometry, or is left out "
        "by an option, never counts",
    )
    out.add_argument("--quiet", action="store_true", help="say nothing but what is wrong")
    return made


def _length(text: str) -> WrittenLength:
    try:
        return written_length(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def frames(text: str) -> list[int]:
    """Return the frames that a list such as '1-100', '5' or '1,5,9-20:2' names, each once, in its order."""
    found: list[int] = []
    for part in text.split(","):
        span, _, step_text = part.strip().partition(":")
        begin_text, dash, end_text = span[1:].partition("-") if span.startswith("-") else span.partition("-")
        if span.startswith("-"):
            begin_text = f"-{begin_text}"
        try:
            begin = int(begin_text)
            end = int(end_text) if dash else begin
            step = int(step_text) if step_text else 1
        except ValueError:
            raise argparse.ArgumentTypeError(f"frames such as 1-100 or 1,5,9-20:2 expected, not {text!r}") from None
        if end < begin:
            raise argparse.ArgumentTypeError(f"frames {part.strip()!r} run backwards")
        if step < 1:
            raise argparse.ArgumentTypeError(f"frames {part.strip()!r}: a step of 1 or more expected")
        if begin < -LAST_FRAME or end > LAST_FRAME:
            raise argparse.ArgumentTypeError(
                f"frames {part.strip()!r}: Blender has those from {-LAST_FRAME} to {LAST_FRAME}"
            )
        if (end - begin) // step + len(found) > MOST_FRAMES:
            raise argparse.ArgumentTypeError(f"more than {MOST_FRAMES:,} frames")
        found.extend(range(begin, end + 1, step))
    return list(dict.fromkeys(found))


# --- running --------------------------------------------------------------------------------------------------------


def command(arguments: Sequence[str]) -> int:
    """`blender --command contact_lens ...`. Returns the exit code."""
    given = list(arguments)
    if given[:1] == ["check"]:
        given = given[1:]
    elif not given or not given[0].startswith("-"):
        print("usage: blender -b FILE.blend --command contact_lens check [OPTIONS]", file=sys.stderr)
        print(f"contact_lens: the one command is check{f', not {given[0]!r}' if given else ''}", file=sys.stderr)
        return WRONG
    return main(given, "blender -b FILE.blend --command contact_lens check")


def main(arguments: Sequence[str], prog: str) -> int:
    """Run a check. Returns the exit code; what is wrong goes to the standard error stream."""
    try:
        options = parser(prog).parse_args(list(arguments))
        return _run(options)
    except SystemExit as ended:  # --help
        return int(ended.code or 0)
    except (UsageError, ReadError) as error:
        print(f"contact_lens: {error}", file=sys.stderr)
        return WRONG
    except OSError as error:
        print(f"contact_lens: {error.filename or 'a report'}: {error.strerror or error}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        print("contact_lens: stopped", file=sys.stderr)
        return STOPPED
    except Exception:  # an exit code of the table, not that of a Python which has failed
        traceback.print_exc()
        print("contact_lens: this should not have happened: please report it with the lines above", file=sys.stderr)
        return WRONG


def _run(options: argparse.Namespace) -> int:
    outputs = {kind: getattr(options, kind) for kind in scene_report.WRITERS if getattr(options, kind)}
    if sum(path == "-" for path in outputs.values()) > 1:
        raise UsageError("only one report can go to standard output")
    files = [Path(path).resolve() for path in outputs.values() if path != "-"]
    if len(set(files)) < len(files):
        raise UsageError("each report needs a file of its own")
    for file in options.files or [bpy.data.filepath]:
        if file and Path(file).resolve() in files:
            raise UsageError(f"{file}: a report would be written over the file that is checked")
    if options.ignore and "none" in options.ignore and set(options.ignore) != {"none"}:
        raise UsageError("--ignore none goes with no other --ignore")
    if options.pictures < 0:
        raise UsageError("--pictures: a number of 0 or more expected")
    for path in outputs.values():
        if path != "-" and not Path(path).absolute().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {Path(path).absolute().parent}")
        if Path(path).is_dir():
            raise UsageError(f"{path}: is a folder, and a file is to be written")
    if not options.files and not bpy.data.filepath:
        raise UsageError("no file is open: name a .blend file; --help tells more")
    for file in options.files:
        _exists(file)
    checks: list[dict[str, Any]] = []
    quiet = options.quiet or "-" in outputs.values()
    with _standard_output_free(quiet) as write, _Stop() as stop:
        for file in options.files or [None]:
            if stop.asked:
                break
            if file is not None:
                _open(file)
            for check in _checks(options, quiet, stop):
                checks.append(check)
                if not quiet:
                    print("\n".join(lines(check)), flush=True)
        document = scene_report.document(checks, stop.asked)
        for kind, path in outputs.items():
            text = scene_report.WRITERS[kind](document)
            if path == "-":
                write(text)
            else:
                Path(path).write_text(text, encoding="utf-8", newline="")
                if not quiet:
                    print(f"Saved {path}")
    if stop.asked:
        print("contact_lens: stopped: not everything was checked", file=sys.stderr)
        return STOPPED
    failing = FAIL_ON[options.fail_on]
    if any(row["relation"] in failing and row["status"] in OPEN for check in checks for row in check["findings"]):
        return FINDINGS
    unchecked = [entry["reason"] for check in checks for entry in check["skipped"] if entry["unchecked"]]
    if not unchecked or options.allow_skipped:
        return CLEAN
    more = f", and {len(unchecked) - 1} more" if len(unchecked) > 1 else ""
    print(f"contact_lens: not everything could be checked: {unchecked[0]}{more}", file=sys.stderr)
    return UNCHECKED


class _Stop:
    """Ctrl-C within it: the first time it is noted, so that what is done can be told; the second time it ends."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> _Stop:
        # Said here and not left to who started Python: Blender in the background has a handler of its own.
        self._before = signal.signal(signal.SIGINT, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler if self._before is None else self._before)

    def _asked(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        # Not by print: it may be what was interrupted, and does not go on within itself.
        os.write(2, b"\ncontact_lens: stopping; press Ctrl-C again to end at once\n")


@contextmanager
def _standard_output_free(wanted: bool) -> Iterator[Callable[[str], None]]:
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


def _exists(file: str) -> None:
    if not Path(file).is_file():
        raise UsageError(f"{file}: {'is a folder' if Path(file).is_dir() else 'there is no such file'}")


def _open(file: str) -> None:
    _exists(file)  # it may be gone meanwhile
    try:
        bpy.ops.wm.open_mainfile(filepath=str(Path(file).absolute()), load_ui=False)
    except RuntimeError as error:
        said = str(error).strip().splitlines()[-1].removeprefix("Error: ")
        raise UsageError(f"{file}: {said}") from error


def _checks(options: argparse.Namespace, quiet: bool, stop: _Stop) -> Iterator[dict[str, Any]]:
    """Check the open file, frame by frame, until the person stops it."""
    scene = bpy.context.scene
    if options.scene is not None:
        named: bpy.types.Scene | None = bpy.data.scenes.get(options.scene)
        if named is None:
            raise UsageError(f"there is no scene '{options.scene}' in the file")
        scene = named
    layer = scene.view_layers[0]
    if scene == bpy.context.scene:
        layer = bpy.context.view_layer
    geometries = scene_check.Geometries()
    with bpy.context.temp_override(scene=scene, view_layer=layer):
        context = bpy.context
        rules = _rules(options, scene_results.of_scene(scene).as_rules(context), UnitFormat.of_scene(scene))
        wanted = options.frames or [None]
        for k, frame in enumerate(wanted):
            if stop.asked:
                return
            if frame is not None:
                scene.frame_set(frame)
            subject = scene_check.subject_of(context, rules, scene_results.lists_of(scene), geometries)
            shows = _Progress(quiet, k, len(wanted), stop)
            try:
                outcome = scene_pairs.check(subject, shows)
            finally:
                shows.end()
            known = scene_results.statuses(scene)
            check = scene_check.told(scene, rules, outcome, len(subject.items))
            for row, key in zip(check["findings"], scene_results.keys_of(subject.items, outcome), strict=True):
                row["status"] = scene_results.next_status(known.get(key)).lower()
            if options.html and options.pictures and not stop.asked:
                pairs = [(subject.items[found.a], subject.items[found.b]) for found in outcome.found]
                scene_report.take_pictures(context, check, pairs, options.pictures)
            geometries.next_frame()
            yield check


def _rules(options: argparse.Namespace, rules: scene_check.Rules, units: UnitFormat) -> scene_check.Rules:
    """What the file says, but for what the command line says. Raises UsageError."""
    changes: dict[str, Any] = {}
    if options.visible or options.selected or options.collections or options.object:
        changes = {"scope": "visible", "collection_a": None, "collection_b": None, "object": None}
        if options.selected:
            changes["scope"] = "selected"
        if options.collections:
            changes["scope"] = "collections"
            changes["collection_a"], changes["collection_b"] = options.collections
        if options.object:
            changes.update(scope="one", object=options.object)
    if options.clearance is not None:
        changes["clearance"] = units.in_blender_units(options.clearance)
        if not changes["clearance"] < LONGEST:
            raise UsageError(f"the clearance is too large: {changes['clearance']:g} Blender units")
    for name in ("instances", "touching"):
        value = getattr(options, name)
        if value is not None:
            changes[name] = value
    if options.ignore:
        for name in ("parents", "collections", "joined", "listed", "approved"):
            changes[f"ignore_{name}"] = name in options.ignore
    return replace(rules, **changes)


class _Progress:
    """A line on the terminal that tells how far a check is; nothing where nobody looks."""

    def __init__(self, quiet: bool, frame: int, count: int, stop: _Stop) -> None:
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


# --- what a person reads --------------------------------------------------------------------------------------------


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
            "" if row["status"] in ("new", "active") else row["status"],
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


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    if row["signed_distance"] is None:
        return f"no depth: {answer_words.NO_DEPTH}"
    most = "at most " if answer_words.is_at_most(row) else ""
    text = f"{'depth' if row['intersects'] else 'gap'} {most}{units.length(abs(row['signed_distance']))}"
    return f"{text} of pieces" if row.get("of_pieces") and row["intersects"] else text


def _cut(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."


_handle: Any = None


def register() -> None:
    global _handle
    if hasattr(bpy.utils, "register_cli_command"):
        _handle = bpy.utils.register_cli_command(NAME, command)


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.utils.unregister_cli_command(_handle)
        _handle = None
