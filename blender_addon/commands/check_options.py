# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of `check`, and what is wrong with them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ..data.frame_lists import LAST_FRAME, MOST_FRAMES
from ..data.records import ALL, AS_HULL, AS_MESH, AUTOMATIC_SHAPES, RENDER, VIEWPORT, Shard
from ..data.units import WRITTEN_UNITS, WrittenLength, written_length, written_volume
from ..report.criteria import FAIL_ON, NEEDS_DEPTH
from ..scene import depths
from ..scene.clashes import LEAST_RANKS
from ..terminal.check_lines import ALL_CLASHES, MOST_CLASHES
from ..terminal.command_parser import Collected, CommandParser, duration, natural, positive
from ..terminal.outcome import UsageError

GIGABYTES = 14e-6, 3e-6
"""What a frame with a single clash takes at least in memory, and in the report as JSON."""
MOST_SHARDS = 100_000


def parser(prog: str) -> argparse.ArgumentParser:
    example = prog if "FILE" in prog else f"{prog} room.blend"
    made = CommandParser(
        prog=prog,
        description="Find the objects of a scene that collide or are closer than a clearance, at the current frame of "
        "the file or at a list of frames. Options that are not given are as set in the Scene Check panel of the "
        "file.\n\nExample:\n"
        f"  {example} --clearance 2mm --html room.html\n\n"
        "Other commands (see their --help):\n"
        "  merge  join the reports of the parts of a run\n"
        "  farm   write jobs for render farms, GNU parallel and GitHub Actions",
        epilog="Exit code:\n"
        "  0    clean\n"
        "  1    clashes (see --fail-on)\n"
        "  2    wrong usage, a file that cannot be read or written, or an unexpected error\n"
        "  3    no clashes, but something could not be checked (see the --allow options), or --timeout "
        "ended the run\n"
        "  130  stopped by Ctrl-C, Ctrl-Break, SIGTERM or SIGHUP; reports contain what was checked "
        "until then",
    )
    made.add_argument("files", nargs="*", metavar="FILE", help=".blend files (default: the one that is open)")
    made.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="number of processes on this machine, each with its own Blender (default: 1). The frames are divided "
        "among them, without --frames the files, or the pairs if there are fewer of these than processes. Reports and "
        "exit code are the same if simulations are baked",
    )
    add_what_to_check(made)
    add_parts(made)
    add_reports(made)
    made.add_argument(
        "--timeout",
        type=duration,
        metavar="TIME",
        help="stop after this time, in seconds (90), minutes (10m) or hours (2h). Reports contain what was checked "
        "until then, marked as partial; the exit code is 1 if clashes that count were found, else 3. Opening a file, "
        "evaluating a frame and rendering a picture are finished first",
    )
    return made


class _Ignore(Collected):
    """Collects rules; `none` stands alone."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        super().__call__(parser, namespace, values, option)
        if "none" in (rules := getattr(namespace, self.dest)) and len(rules) > 1:
            parser.error("--ignore none cannot be combined with other --ignore options")


def add_what_to_check(made: argparse.ArgumentParser) -> None:
    """Add the options that decide what is checked, and how."""
    what = made.add_argument_group("what to check")
    what.add_argument(
        "--enable-autoexec",
        action="store_true",
        help="run the scripts of the files, as Blender does with Auto Run Python Scripts; only for files you trust. "
        "Without it, objects that depend on scripted drivers are not checked",
    )
    what.add_argument(
        "--scene",
        action=Collected,
        metavar="NAME",
        help="the scene (default: the file's active one), or all for every scene of the file, even if one is named "
        "all; can be repeated. Scenes that are not named are left out",
    )
    side = what.add_mutually_exclusive_group()
    side.add_argument("--visible", action="store_true", help="all visible objects")
    side.add_argument("--selected", action="store_true", help="objects that are selected in the file")
    side.add_argument(
        "--collections",
        action=Collected,
        nargs=2,
        metavar=("A", "B"),
        help="collection A against collection B; can be repeated: each A is checked against its own B",
    )
    side.add_argument(
        "--object",
        action=Collected,
        metavar="NAME",
        help="one object against all other visible ones; can be repeated: each is checked against all others",
    )
    what.add_argument(
        "--visibility",
        choices=(VIEWPORT, RENDER, ALL),
        default=VIEWPORT,
        help="which objects are visible. viewport (default): as in the viewport; render: as in a render, with its "
        "modifiers and levels; all: hidden and excluded objects too. The file is not changed",
    )
    what.add_argument(
        "--clearance",
        type=_written,
        metavar="LENGTH",
        help="also report gaps up to this length. A number with a unit, such as 2mm or 0.1in, means the same in any "
        "file; a number alone, such as 0.002, is in the unit of the scene (meters or feet if that is Adaptive, Blender "
        f"units without a unit system). Units: {' '.join(filter(str.isascii, WRITTEN_UNITS))}",
    )
    what.add_argument(
        "--frames",
        action=Collected,
        type=frames,
        metavar="LIST",
        help="check each of these frames, such as 1-100 or 1,5,9-20:2; can be repeated: the frames of all lists are "
        "checked",
    )
    what.add_argument("--instances", action=argparse.BooleanOptionalAction, help="check instances too")
    what.add_argument("--touching", action=argparse.BooleanOptionalAction, help="report touching pairs")
    what.add_argument(
        "--least-contact",
        choices=tuple(LEAST_RANKS),
        help="leave out touching pairs that share less than this: edge leaves out contacts in single points, face "
        "those along edges too. The report counts them",
    )
    what.add_argument(
        "--depth",
        choices=depths.DEPTHS,
        help="how far to search the depths of meshes and compounds. none: not at all, find relation and contact "
        "curves only; first: some are upper bounds, reported as at most; exact: takes several times as "
        "long. Boxes and convex hulls always have their depths",
    )
    for option, depth in (("--exact", depths.EXACT), ("--no-exact", depths.FIRST)):
        what.add_argument(option, action="store_const", const=depth, dest="depth", help=f"the same as --depth {depth}")
    what.add_argument(
        "--volume",
        action=argparse.BooleanOptionalAction,
        help="find the volume of each overlap, of meshes where they are closed, with bounds that hold",
    )
    what.add_argument(
        "--least-volume",
        type=partial(_written, read=written_volume),
        metavar="VOLUME",
        help="leave out pairs whose overlap is known to have less volume than this, such as 20mm3; a number alone is "
        "in the unit of --clearance, cubed. Pairs without a volume stay. Includes --volume",
    )
    what.add_argument(
        "--shapes",
        choices=(AUTOMATIC_SHAPES, AS_MESH, AS_HULL),
        help="collision shapes. automatic (default): those of the objects, or of their rigid bodies where none is "
        "chosen; mesh: every object as its own mesh; hull: every object as its convex hull",
    )
    what.add_argument(
        "--ignore",
        action=_Ignore,
        choices=("parents", "collections", "joined", "listed", "approved", "none"),
        help="leave out these pairs and no others; can be repeated. parents: an object and its parents; "
        "collections: objects in the same collection; joined: by a rigid body constraint; listed: in the list of the "
        "file; approved: in the file",
    )
    what.add_argument(
        "--verify",
        action="store_true",
        help="compute each clash again with a certificate and verify it independently of the solver",
    )
    what.add_argument(
        "--decisions",
        metavar="FILE.json",
        help="approve, review or ignore clashes as this file says; it overrides the decisions in the .blend file",
    )


def require_depths(fail_on: str, verify: bool = False) -> None:
    """Raise UsageError where an option asks for depths, in a check that does not search them."""
    for option, needs_depths in ((f"--fail-on {fail_on}", fail_on in NEEDS_DEPTH), ("--verify", verify)):
        if needs_depths:
            raise UsageError(f"{option} needs the depths of all clashes: take --depth first instead of none")


def add_parts(made: argparse.ArgumentParser) -> None:
    """Add the options that make a part of a run."""
    parts = made.add_argument_group(
        "a part of the run",
        "To divide a run among machines, give each machine the command of the whole run, one or more of these options, "
        "and --json. The command merge then joins the parts into one report. A part that is complete ends with exit "
        "code 0, with or without clashes.",
    )
    parts.add_argument("--only-files", nargs="+", metavar="FILE", help="check only these of the FILEs")
    parts.add_argument("--only-frames", type=frames, metavar="LIST", help="check only these frames of --frames")
    parts.add_argument(
        "--shard",
        type=_shard,
        metavar="K/N",
        help="check only the K-th of N groups of the pairs whose bounding boxes are close, such as 2/3",
    )


def add_reports(made: argparse.ArgumentParser) -> None:
    """Add the options that decide what is reported, and what the exit code is."""
    made.add_argument(
        "--baseline",
        metavar="OLD.json",
        help="compare with a JSON report of an earlier check: each clash is new, deeper, shallower or the same, and "
        "the report lists those that are gone",
    )
    out = made.add_argument_group("reports")
    out.add_argument("--json", metavar="PATH", help="write a JSON report; - for standard output")
    out.add_argument("--csv", metavar="PATH", help="write a CSV table; - for standard output")
    out.add_argument("--html", metavar="PATH", help="write an HTML page with pictures; - for standard output")
    out.add_argument(
        "--junit",
        metavar="PATH",
        help="write JUnit XML for CI servers: clashes that count by --fail-on are failures; - for standard output",
    )
    out.add_argument(
        "--pictures",
        type=natural,
        default=20,
        metavar="N",
        help="maximum number of pictures in the HTML page: of the worst pairs, each at its worst frame (default: 20)",
    )
    out.add_argument(
        "--fail-on",
        choices=tuple(FAIL_ON),
        default="any",
        help="which clashes set the exit code to 1 (default: any); new: those that are new, deeper or closer than in "
        "--baseline; transient: pairs over --frames that are not permanent (found at every frame, never deeper than "
        "at the first). Approved ones never do",
    )
    out.add_argument(
        "--allow-skipped",
        action="store_true",
        help="exit code 0 instead of 3 if an object, a pair or a scene could not be checked. Objects without geometry, "
        "or left out by an option, never count",
    )
    out.add_argument(
        "--allow-empty", action="store_true", help="exit code 0 instead of 3 if there was no object to check"
    )
    out.add_argument(
        "--allow-newer",
        action="store_true",
        help="exit code 0 instead of 3 if a newer Blender has saved the file, whose geometry may be incomplete in "
        "this one",
    )
    out.add_argument(
        "--allow-coarse",
        action="store_true",
        help="exit code 0 instead of 3 if coordinates are too coarse for the size of an object, such as far from "
        "the origin",
    )
    out.add_argument(
        "--allow-fast",
        action="store_true",
        help="exit code 0 instead of 3 if an object moved so far between two frames that it may have passed "
        "through another",
    )
    out.add_argument(
        "--list",
        type=_listed,
        metavar="N",
        help="how many of the worst clashes of a check the terminal lists: a number, or all (default: "
        f"{MOST_CLASHES}). Over --frames it lists transient ones only, with all permanent ones too",
    )
    out.add_argument(
        "--quiet",
        action="store_true",
        help="print errors only, and nothing from Blender or scripts while the command runs. Add -q after blender to "
        "hide its version too",
    )


def _written(text: str, read: Callable[[str], WrittenLength] = written_length) -> WrittenLength:
    try:
        return read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _listed(text: str) -> int:
    return ALL_CLASHES if text == "all" else natural(text)


def _shard(text: str) -> Shard:
    found = re.fullmatch("([0-9]+)/([0-9]+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_SHARDS:
        raise argparse.ArgumentTypeError(
            f"expected K/N, two whole numbers with 1 <= K <= N <= {MOST_SHARDS:,}, as in 2/3, not {text!r}"
        )
    return Shard(int(found[1]), int(found[2]))


def frames(text: str) -> list[int]:
    """Return the frames that a list such as '1-100', '5' or '1,5,9-20:2' names, each once, in its order."""
    found: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(-?\d+)\s*(?:-\s*(-?\d+)\s*)?(?::\s*(-?\d+)?\s*)?", part)
        if span is None:
            raise argparse.ArgumentTypeError(f"expected frames such as 1-100 or 1,5,9-20:2, not {text!r}")
        begin, end, step = int(span[1]), int(span[2] or span[1]), int(span[3] or 1)
        if end < begin:
            raise argparse.ArgumentTypeError(f"frames {part.strip()!r} run backwards: name the first one first")
        if step < 1:
            raise argparse.ArgumentTypeError(f"frames {part.strip()!r}: expected a step of 1 or more")
        if begin < -LAST_FRAME or end > LAST_FRAME:
            raise argparse.ArgumentTypeError(
                f"frames {part.strip()!r}: Blender has frames from {-LAST_FRAME} to {LAST_FRAME}"
            )
        if (number := (end - begin) // step + 1 + len(found)) > MOST_FRAMES:
            memory, report = (f"{number * size:.2g} GB" for size in GIGABYTES)
            fewer = f"{begin}-{end}:{-(-number // MOST_FRAMES)}"
            raise argparse.ArgumentTypeError(
                f"{number:,} frames are more than the {MOST_FRAMES:,} of a run: with one clash they take at least "
                f"{memory} of memory and {report} of JSON; name fewer, such as {fewer}"
            )
        found.extend(range(begin, end + 1, step))
    return list(dict.fromkeys(found))
