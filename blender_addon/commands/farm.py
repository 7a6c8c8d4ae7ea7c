# SPDX-License-Identifier: GPL-3.0-or-later
"""`farm`: write the descriptions of a job for render farms, with the files, frames and options of a check."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy

from ..data import messages
from ..data.frame_lists import frames_text
from ..report import files as report_files
from .check_options import add_what_to_check
from .command_parser import CommandParser, positive
from .given_options import divided
from .outcome import CLEAN, UsageError
from .streams import Screen

TEMPLATES = Path(__file__).resolve().parents[2] / "farm"
"""The descriptions as they are in the package: valid, of a file `scene.blend` and frames 1 to 30."""
OWN = ("frames", "chunk_size", "shards")
"""Options that the descriptions have places of their own for."""


@dataclass(frozen=True)
class Job:
    """What is checked, and in which parts."""

    folder: Path
    files: list[str]
    """Absolute paths."""
    frames: list[int]
    options: list[str]
    """All other options of the check."""
    chunk_size: int
    shards: int

    @property
    def run(self) -> list[str]:
        return [*self.files, f"--frames={frames_text(self.frames)}", *self.options]

    @property
    def chunks(self) -> list[str]:
        starts = range(0, len(self.frames), self.chunk_size)
        return [frames_text(self.frames[start : start + self.chunk_size]) for start in starts]


def run(arguments: Sequence[str], prog: str) -> int:
    """Write the descriptions that the arguments ask for. Returns the exit code. Raises UsageError."""
    screen = Screen(quiet=False)
    options = parser(prog)
    job = _job(options, options.parse_args(list(arguments)), arguments)
    filled = {job.folder / Path(template.path).name: (template, template.filled(job)) for template in WRITTEN}
    for path, (template, _) in filled.items():
        if path.exists() and not path.read_bytes().startswith(template.beginning):
            raise UsageError(messages.other_file(str(path), "job description"))
    job.folder.mkdir(parents=True, exist_ok=True)
    for path, (template, text) in filled.items():
        report_files.replace_file(str(path), [text.encode("utf-8")])
        screen.say(messages.saved(str(path)))
        screen.say(f"  {template.next_step(job, path)}")
    return CLEAN


def parser(prog: str) -> argparse.ArgumentParser:
    made = CommandParser(
        prog=prog,
        description="Write jobs that check files on many machines, for Flamenco, Open Job Description (AWS Deadline "
        "Cloud), GNU parallel and GitHub Actions. Each job checks the parts of the run, and then merges them."
        "\n\nExample:\n"
        f"  {prog} jobs {'' if 'FILE' in prog else 'room.blend '}--frames 1-250 --clearance 2mm",
        epilog="Exit code:\n  0    written\n  2    wrong usage, or a file that cannot be read or written",
    )
    made.add_argument("folder", metavar="DIR", help="folder to write to, created if it is missing")
    made.add_argument("files", nargs="*", metavar="FILE", help=".blend files (default: the one that is open)")
    parts = made.add_argument_group("parts")
    parts.add_argument(
        "--chunk-size", type=positive, default=10, metavar="N", help="number of frames in each part (default: 10)"
    )
    parts.add_argument(
        "--shards",
        type=positive,
        default=1,
        metavar="N",
        help="number of groups that the pairs of each frame are divided into (default: 1)",
    )
    add_what_to_check(made)
    return made


def _job(made: argparse.ArgumentParser, options: argparse.Namespace, arguments: Sequence[str]) -> Job:
    """Return the job that options ask for. Raises UsageError."""
    files = options.files or [bpy.data.filepath]
    if not files[0]:
        raise UsageError(messages.NO_FILE_OPEN)
    for file in files:
        if not Path(file).is_file():
            raise UsageError(f"{file}: {messages.FOLDER if Path(file).is_dir() else messages.NO_FILE}")
    for word in (options.folder, *files, *map(str, arguments)):
        if "{{" in word:  # GitHub's and Open Job Description's expressions, which neither can escape
            raise UsageError(messages.format_string(word))
    if options.frames is None and options.files:
        raise UsageError(messages.FARM_FRAMES)
    scene = bpy.context.scene
    return Job(
        folder=Path(options.folder).absolute(),
        files=[os.path.abspath(file) for file in files],
        frames=options.frames or list(range(scene.frame_start, scene.frame_end + 1)),
        options=divided(made, arguments, OWN)[2],
        chunk_size=options.chunk_size,
        shards=options.shards,
    )


# --- the descriptions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Template:
    """A description in the package, and what is written of it."""

    path: str
    lines: Callable[[Job], Mapping[str, str]]
    """Lines of it that are replaced, by what."""
    next_step: Callable[[Job, Path], str]
    """What to do with it, for the user."""

    @property
    def text(self) -> str:
        return (TEMPLATES / self.path).read_text(encoding="utf-8")

    @property
    def beginning(self) -> bytes:
        """Its first two lines, by which one that was written earlier is known."""
        return "".join(self.text.splitlines(keepends=True)[:2]).encode("utf-8")

    def filled(self, job: Job) -> str:
        lines = self.lines(job)
        any_line = re.compile(rf"^(?:{'|'.join(map(re.escape, lines))})$", re.MULTILINE)
        return any_line.sub(lambda line: lines[line[0]], self.text)


def program() -> list[str]:
    """Return what starts the commands of Contact Lens on this machine, as this one was."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "-b", "--command", "contact_lens"]
    return [sys.executable, "-m", "contact_lens"]


def _flamenco(job: Job) -> dict[str, str]:
    options = json.dumps(" ".join(map(_word, job.options)))
    return {
        '            default: "",': f"            default: {options},",
        "            default: 10,": f"            default: {job.chunk_size},",
        "            default: 1,": f"            default: {job.shards},",
    }


def _word(text: str) -> str:
    """Return a word of a line that the job type splits at blanks that are not in quotes."""
    if '"' in text and "'" in text:
        raise UsageError(messages.both_quotes(text))
    return text if text and not set(text) & {" ", '"', "'"} else f"'{text}'" if '"' in text else f'"{text}"'


OPTIONS_PLACE = "            # more files, and options of the check"


def _openjd(job: Job) -> dict[str, str]:
    start, *others = program()
    return {
        "    default: blender": f"    default: {_quoted(start)}",
        "            - -b\n            - --command\n            - contact_lens": _items(others),
        "    default: 1-30": f"    default: {json.dumps(frames_text(job.frames))}",
        "    default: 10": f"    default: {job.chunk_size}",
        "    default: 1": f"    default: {job.shards}",
        OPTIONS_PLACE: _items([*job.files[1:], *job.options]) or OPTIONS_PLACE,
    }


def _items(words: Sequence[str]) -> str:
    return "\n".join(f"            - {_quoted(word)}" for word in words)


def _quoted(text: str) -> str:
    """Return a text as YAML has it in quotes: as JSON, but for letters that JSON escapes as two."""
    return '"' + re.sub("[^\U00010000-\U0010ffff]+", lambda found: json.dumps(found[0])[1:-1], text) + '"'


def _gnu_parallel(job: Job) -> dict[str, str]:
    reports = ["--html", str(job.folder / "clashes.html"), "--json", str(job.folder / "clashes.json")]
    return {
        "program=(blender -b --command contact_lens)": f"program=({shlex.join(program())})",
        "run=(scene.blend --frames=1-30)": f"run=({shlex.join(job.run)})",
        "chunks=(1-10 11-20 21-30)": f"chunks=({shlex.join(job.chunks)})",
        "shards=1": f"shards={job.shards}",
        "parts=parallel_parts": f"parts={shlex.quote(str(job.folder / 'parallel_parts'))}",
        "reports=(--html clashes.html --json clashes.json)": f"reports=({shlex.join(reports)})",
    }


def _github_actions(job: Job) -> dict[str, str]:
    run = shlex.join([*(_in_repository(Path(file)) for file in job.files), *job.run[len(job.files) :]])
    return {
        "        chunk: [1-10, 11-20, 21-30]": f"        chunk: {json.dumps(job.chunks)}",
        "        shard: [1]": f"        shard: {list(range(1, job.shards + 1))}",
        "          scene.blend --frames=1-30": f"          {run}",
        "          --only-frames=${{ matrix.chunk }} --shard ${{ matrix.shard }}/1": "          "
        f"--only-frames=${{{{ matrix.chunk }}}} --shard ${{{{ matrix.shard }}}}/{job.shards}",
    }


def _in_repository(file: Path) -> str:
    """Return the path of a file from the top of its git repository; its name, where it is in none."""
    for folder in file.parents:
        if (folder / ".git").exists():
            return file.relative_to(folder).as_posix()
    return file.name


WRITTEN = (
    Template("flamenco/contact_lens_check.js", _flamenco, lambda job, path: messages.FARM_FLAMENCO),
    Template(
        "openjd/check.yaml",
        _openjd,  # the default of a path must not be absolute
        lambda job, path: messages.farm_run(shlex.join(["openjd", "run", str(path), "-p", f"File={job.files[0]}"])),
    ),
    Template("gnu_parallel.sh", _gnu_parallel, lambda job, path: messages.farm_run(shlex.join(["bash", str(path)]))),
    Template("github_actions.yml", _github_actions, lambda job, path: messages.FARM_GITHUB),
)
