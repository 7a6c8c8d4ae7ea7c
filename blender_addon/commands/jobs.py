# SPDX-License-Identifier: GPL-3.0-or-later
"""`check --jobs`: the parts of a run in processes of this machine, and their merged reports."""

from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TypeVar

import bpy

from ..data import messages
from ..data.frame_lists import frames_text
from ..history.merging import Gaps, MergeError
from ..report.files import Partials
from ..terminal.given_options import divided
from ..terminal.interruption import Stop
from ..terminal.outcome import STOPPED, UNCHECKED, WRONG, UsageError, complain_of
from ..terminal.progress import OF_A_PART, PART, Progress
from ..terminal.streams import complain
from . import check, merge
from .check_options import parser
from .farm import program
from .reporting import ALLOW_OPTIONS, criteria_of, places_of

Item = TypeVar("Item")
REPORTS = ("json", "csv", "html", "junit", "pictures", "fail_on", *ALLOW_OPTIONS, "list", "quiet")
NOT_OF_PARTS = ("jobs", "timeout", *REPORTS)
OF_MERGE = ("enable_autoexec", "baseline", *REPORTS)
RESTRICTIONS = ("only_files", "only_frames", "shard")
if sys.platform == "win32":
    FLAGS, GROUP, END = subprocess.CREATE_NEW_PROCESS_GROUP, -1, signal.CTRL_BREAK_EVENT
else:
    FLAGS, GROUP, END = 0, 0, signal.SIGTERM
"""Parts are in process groups of their own, which Ctrl-C in a terminal does not reach: it is for the process that was
started there, which then asks them to end."""
MOST_JOBS = 1000
"""More processes than that are a slip, which no machine would survive."""
SAID_OF_THE_RUN = tuple(
    f"contact_lens: {words}" for words in (messages.stopping(signal.Signals(END).name), messages.STOPPED_UNCHECKED)
)
"""What each part says when it is asked to end."""
PAUSE = 0.1
"""Seconds between two looks at the processes."""
GRACE = 10.0
"""Seconds in which a process that was asked to end may do so; one that takes longer loses the check that it is in."""


def run(arguments: Sequence[str], prog: str) -> int:
    """Run a check, in several processes if `--jobs` asks for them. Returns the exit code.

    Raises UsageError and ReportFileError.
    """
    made = parser(prog)
    options = made.parse_args(list(arguments))
    if options.jobs == 1:
        return check.run(arguments, prog)
    if options.jobs > MOST_JOBS:
        raise UsageError(f"--jobs: at most {MOST_JOBS:,}, and more processes than this machine has cores do not help")
    if any(getattr(options, name) is not None for name in RESTRICTIONS):
        raise UsageError("--jobs cannot be combined with --only-files, --only-frames or --shard")
    criteria_of(options, options.frames)  # what would be refused in the end is refused before anything is started
    with Partials(places_of(options).values()):  # also where nothing can be written
        pass
    files, _, of_parts = divided(made, arguments, NOT_OF_PARTS)
    _, of_merge, _ = divided(made, arguments, OF_MERGE)
    with tempfile.TemporaryDirectory(prefix="contact_lens-", ignore_cleanup_errors=True) as folder:
        commands = {}
        for number, restriction in enumerate(restrictions(options.files, options.frames, options.jobs), 1):
            report = os.path.join(folder, f"{number:06}.json")
            command = [*launch(), "check", *of_parts, *restriction, "--quiet", "--json", report, "--", *files]
            commands[f"{number} ({' '.join(restriction)})"] = command, report
        stop, died = _check_parts(commands, options)
        paths = [check.path_of(file) for file in options.files or [None]]
        reports = [report for _, report in commands.values()]
        try:
            left = [of for report in reports if (of := merge.left_of(report, paths)) is not None]
        except MergeError as error:
            raise UsageError(str(error)) from error
        for part in died:
            if left or part.code != WRONG:  # else it has said why
                complain_of(part.fate)
        if left:
            gaps = Gaps(paths, stop.noted, [part.fate for part in died])
            return merge.run([*of_merge, *reports], prog, merge.Run(left, gaps, stop))
    if not stop.noted:
        return WRONG
    complain_of(messages.timed_out(options.timeout) if stop.timed_out else messages.STOPPED_UNCHECKED)
    return UNCHECKED if stop.timed_out else STOPPED


def _check_parts(
    commands: Mapping[str, tuple[Sequence[str], str]], options: argparse.Namespace
) -> tuple[Stop, list[PartProcess]]:
    """Check parts, named with a command and the path of a report each.

    Returns what may have stopped them, and those that have ended by themselves without a report.
    """
    parts: list[PartProcess] = []
    died: list[PartProcess] = []
    with Stop(options.timeout) as stop:
        try:
            for name, (command, report) in commands.items():
                parts.append(PartProcess(name, command, report))
            died = _wait(parts, Progress(options.quiet, 1, stop), stop)
        finally:
            deadline = time.monotonic() + GRACE
            for part in parts:
                part.end(deadline)
    for line in dict.fromkeys(line for part in parts for line in part.complaints):
        if not (stop.noted and line in SAID_OF_THE_RUN):
            complain(line)
    return stop, died


def launch() -> list[str]:
    """Return what starts the commands of Contact Lens as this process was started."""
    for place, word in enumerate(sys.argv if bpy.app.binary_path else ()):
        if word in ("--command", "-c"):  # after Blender's own options, and the file that it opens
            return [bpy.app.binary_path, *sys.argv[1 : place + 2]]
    return program()


def restrictions(files: Sequence[str], frames: Sequence[int] | None, jobs: int) -> list[list[str]]:
    """Return the options of each part: a chunk of the frames; of the files, so that each is opened once, where they are
    checked at no list of frames; or of the pairs, where there are fewer of these than processes."""
    if frames is not None and len(frames) >= jobs:
        return [[f"--only-frames={frames_text(chunk)}"] for chunk in _chunks(frames, jobs)]
    if frames is None and len({os.path.realpath(file) for file in files}) == len(files) >= jobs:
        return [["--only-files", *map(os.path.abspath, chunk)] for chunk in _chunks(files, jobs)]
    return [["--shard", f"{k + 1}/{jobs}"] for k in range(jobs)]


def _chunks(items: Sequence[Item], number: int) -> Iterator[Sequence[Item]]:
    """Yield as many chunks of items, of like sizes."""
    ends = [k * len(items) // number for k in range(number + 1)]
    return (items[a:b] for a, b in pairwise(ends))


class PartProcess:
    """A process that checks a part of the run, and what it says."""

    def __init__(self, name: str, command: Sequence[str], report: str) -> None:
        self.name, self.report = name, report
        self.done = 0.0
        """The fraction of it that is done."""
        self.clashes = 0
        """How many it has found."""
        self.complaints: list[str] = []
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, PART: str(os.getpid()), "PYTHONIOENCODING": "utf-8:backslashreplace"},
            encoding="utf-8",
            errors="backslashreplace",
            creationflags=FLAGS,
            process_group=GROUP,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._process.stderr as stream:
            for line in stream:
                if line.startswith(OF_A_PART):
                    done, clashes = line.removeprefix(OF_A_PART).split()
                    self.done, self.clashes = float(done), int(clashes)
                else:
                    self.complaints.append(self._of_user(line.rstrip("\n")))

    def _of_user(self, line: str) -> str:
        """Return what it says with the temporary folder for its reports, which are merged and removed."""
        partial_report = f"{self.report}.partial"
        line = line.replace(messages.partial_report_at(partial_report), "").replace(partial_report, self.report)
        return line.replace(self.report, os.path.dirname(os.path.dirname(self.report)))

    @property
    def code(self) -> int | None:
        """Its exit code, below 0 that of a signal; None while it runs."""
        return self._process.poll()

    @property
    def fate(self) -> str:
        """What has become of it, in words."""
        name = {-each.value: each.name for each in signal.Signals}.get(self.code)
        return f"part {self.name} {f'was killed by {name}' if name else f'ended with exit code {self.code}'}"

    def ask_to_end(self) -> None:
        if self.code is None:
            with suppress(OSError):  # Windows: it has no console; GRACE follows, and its end
                self._process.send_signal(END)

    def end(self, deadline: float) -> None:
        """End it at once if it runs, and read all it said until the deadline."""
        if self.code is None:
            self._process.kill()
        self._process.wait()
        # A process that a script of the file has started may go on, and has the stream too.
        self._reader.join(max(0.0, deadline - time.monotonic()))


def _wait(parts: Sequence[PartProcess], progress: Progress, stop: Stop) -> list[PartProcess]:
    """Wait until all parts have ended. When the user stops the run they are asked to.

    Returns those that have ended before that, without a report. Those that hang, in a modifier for example, are left
    running.
    """
    died: list[PartProcess] = []
    asked, running, end = False, True, math.inf
    while running and time.monotonic() < end:
        done = sum(part.code is not None for part in parts)
        running = done < len(parts)
        found = sum(part.clashes for part in parts)
        details = partial(_parts_done, done, len(parts), found)
        progress.show(sum(part.done for part in parts) / len(parts), details)
        if not asked:
            died = [part for part in parts if part.code is not None and not os.path.exists(part.report)]
            asked = running and stop.asked
            if asked:
                end = time.monotonic() + GRACE
                for part in parts:
                    part.ask_to_end()
        if running:
            time.sleep(PAUSE)
    progress.end_frame()
    return died


def _parts_done(number: int, total: int, found: int) -> str:
    return f"{number} of {messages.counted(total, 'part')} done, {messages.clashes(found)} so far"
