# SPDX-License-Identifier: GPL-3.0-or-later
"""Check scenes from a terminal.

    blender -b FILE.blend --command contact_lens check [OPTIONS]
    python -m contact_lens FILE.blend ... [OPTIONS]          (a Python with the bpy module)

Exit code: 0 clean, 1 findings (see --fail-on), 2 wrong usage, a file that cannot be read or written, or an error that
nobody foresaw, 3 something could not be checked (see --allow-skipped), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from . import scene_check, scene_pairs, scene_report, scene_results
from .command_options import FAIL_ON, UsageError, parser
from .interruption import Stop
from .read import ReadError
from .terminal import Progress, lines, standard_output_free
from .units import UnitFormat

NAME = "contact_lens"
CLEAN, FINDINGS, WRONG, UNCHECKED, STOPPED = 0, 1, 2, 3, 130
LONGEST = 1e30
"""Blender units: a clearance whose square is a number."""
OPEN = frozenset(map(str.lower, scene_results.OPEN_STATUSES))


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
    with standard_output_free(quiet) as write, Stop() as stop:
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
    return _exit_code(options, checks)


def _exit_code(options: argparse.Namespace, checks: list[dict[str, Any]]) -> int:
    """Return what complete checks end with; what could not be checked goes to the standard error stream."""
    failing = FAIL_ON[options.fail_on]
    if any(row["relation"] in failing and row["status"] in OPEN for check in checks for row in check["findings"]):
        return FINDINGS
    unchecked = [entry["reason"] for check in checks for entry in check["skipped"] if entry["unchecked"]]
    if not unchecked or options.allow_skipped:
        return CLEAN
    more = f", and {len(unchecked) - 1} more" if len(unchecked) > 1 else ""
    print(f"contact_lens: not everything could be checked: {unchecked[0]}{more}", file=sys.stderr)
    return UNCHECKED


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


def _checks(options: argparse.Namespace, quiet: bool, stop: Stop) -> Iterator[dict[str, Any]]:
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
            shows = Progress(quiet, k, len(wanted), stop)
            try:
                outcome = scene_pairs.check(subject, shows)
            finally:
                shows.end()
            known = scene_results.statuses(scene)
            check = scene_check.told(scene, rules, outcome, len(subject.items))
            keys = scene_results.keys_of(subject.items, outcome)
            for row, key, pair in zip(check["findings"], keys, outcome.found, strict=True):
                row["status"] = scene_results.next_status(known.get(key), pair.verdict).lower()
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
