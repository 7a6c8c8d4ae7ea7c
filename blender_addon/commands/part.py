# SPDX-License-Identifier: GPL-3.0-or-later
"""A part of a run: a report of some of its files, frames and pairs, which says of what whole it is a part."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy

from ..data import messages
from ..data.records import Shard
from ..report.scene import WRITERS
from ..terminal.outcome import UsageError

SETTINGS = (
    "enable_autoexec",
    "scene",
    "visible",
    "selected",
    "collections",
    "object",
    "visibility",
    "instances",
    "touching",
    "least_contact",
    "depth",
    "volume",
    "shapes",
    "verify",
)
"""The options, but for lengths, volumes and ignored pairs, of which all parts of a run have the same."""


def part_of(options: argparse.Namespace, earlier: Mapping[str, str | None]) -> dict[str, Any] | None:
    """Return what a report says of its part in a run; None where it is that of the whole run. Raises UsageError.

    `run` is the whole, and is the same in all of its parts; `covers` is what the part has of it, with the scenes of
    each file that is opened; `candidates` are the `shards_digest` of its checks. earlier: digests of the earlier
    results that it takes.
    """
    if options.only_files is None and options.only_frames is None and options.shard is None:
        return None
    if any(getattr(options, kind) is not None for kind in WRITERS if kind != "json"):
        raise UsageError("a part of a run is written with --json only: merge writes the other reports")
    if options.json is None:
        raise UsageError("a part of a run needs --json, which merge reads")
    names = options.files or [bpy.data.filepath]
    shard = options.shard or Shard(1, 1)
    return {
        "run": {
            "files": [Path(name).name for name in names],
            "frames": options.frames,
            "shards": shard.count,
            "options": {**_settings(options), **earlier},
        },
        "covers": {
            "files": _places(options, names),
            "scenes": [],
            "frames": _frames(options),
            "shard": shard.number,
        },
        "candidates": [],
        "sha256": None,
    }


def make_folder(path: str) -> None:
    """Make the folder of a part: a farm has no command for that which all systems know. Raises OSError."""
    if path != "-" and (folder := os.path.dirname(path)):
        os.makedirs(folder, exist_ok=True)


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that decide what is found."""
    lengths = {name: getattr(options, name) for name in ("clearance", "least_volume")}
    written = {name: None if of is None else f"{of.number!r}{of.symbol}" for name, of in lengths.items()}
    ignore = None if options.ignore is None else sorted(set(options.ignore))
    return {**{name: getattr(options, name) for name in SETTINGS}, **written, "ignore": ignore}


def _places(options: argparse.Namespace, names: list[str]) -> list[int]:
    """Return which files of the run, by their places in it, are covered. Raises UsageError."""
    if options.only_files is None:
        return list(range(len(names)))
    wanted = {os.path.realpath(name): name for name in options.only_files}
    found = [os.path.realpath(name) for name in names]
    if missing := [name for path, name in wanted.items() if path not in found]:
        raise UsageError(_not_of_run("--only-files", missing, "the files"))
    return [place for place, path in enumerate(found) if path in wanted]


def _frames(options: argparse.Namespace) -> list[int] | None:
    """Return which frames of the run are covered, in its order. Raises UsageError."""
    frames: list[int] | None = options.frames
    if options.only_frames is None:
        return frames
    if frames is None:
        raise UsageError("--only-frames needs --frames, the frames of the whole run")
    wanted = set(options.only_frames)
    if missing := sorted(wanted.difference(frames)):
        raise UsageError(_not_of_run("--only-frames", list(map(str, missing)), "--frames"))
    return [frame for frame in frames if frame in wanted]


def _not_of_run(option: str, names: Sequence[str], whole: str) -> str:
    """Return that a part is to cover what is not in the whole run."""
    missing = f"{', '.join(names[:5])}{messages.and_more(len(names) - 5)}"
    verb = "is" if len(names) == 1 else "are"
    return f"{option}: {missing} {verb} not among {whole}: repeat the command of the whole run"
