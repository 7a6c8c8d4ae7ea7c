# SPDX-License-Identifier: GPL-3.0-or-later
"""`farm`: write the descriptions of a job for render farms, with the files, frames, options and reports of a check."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ..data import messages
from ..data.frame_lists import frames_text
from ..report import files as report_files
from ..terminal.command_parser import CommandParser, positive
from ..terminal.given_options import divided
from ..terminal.outcome import CLEAN, UsageError
from ..terminal.streams import Screen
from . import blend_file
from .check_options import MOST_SHARDS, add_reports, add_what_to_check
from .earlier import Earlier
from .reporting import ALLOW_OPTIONS, criteria_of, places_of
from .scene_frames import chosen_scenes

TEMPLATES = Path(__file__).resolve().parents[2] / "farm"
"""The descriptions as they are in the package: valid, of a file `scene.blend` and frames 1 to 30."""
EXTENSIONS = {"html": ".html", "json": ".json", "junit": ".xml", "csv": ".csv"}
"""Of the reports, by the names of their options."""
REPORTS = ("html", "json", "junit")
"""Those that are written where none is named."""
EARLIER = ("baseline", "decisions")
OF_BOTH = ("enable_autoexec", "quiet")
"""Options that are for check and for merge."""
OF_MERGE = ("list", *ALLOW_OPTIONS)
"""Options that are for merge only, as its parts do not need them."""
REPLACED = re.compile(r"\{[-+./#%\d]*[}=]")
"""Replacement strings of GNU parallel, such as {} and {1}, which it knows in any word."""
NOT_WRITTEN = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Line feeds and the like, and bytes of a path that are no letter: not all descriptions can have them."""
MOST_GITHUB_JOBS = 256
"""In a matrix of GitHub Actions."""
PYTHON_OF_BPY = {
    (4, 2): "3.11",
    (4, 3): "3.11",
    (4, 4): "3.11",
    (4, 5): "3.11",
    (5, 0): "3.11",
    (5, 1): "3.13",
    (5, 2): "3.13",
}
"""The versions of Blender as a Python module that can be installed, and the CPython that each needs."""
VALUES = ("frames", "chunk_size", "shards", "fail_on", "pictures", *EARLIER, *EXTENSIONS)
"""Options of which a job has the values. All others are repeated as they were given."""


@dataclass(frozen=True)
class Job:
    """What is checked, in which parts, and what is made of them."""

    folder: Path
    files: list[str]
    """Absolute paths."""
    frames: list[int] | None
    """None of stills: each file is checked at its current frame."""
    options: list[str]
    """All other options of check."""
    earlier: dict[str, str]
    """Paths of the baseline and the decisions, by the names of their options."""
    chunk_size: int
    shards: int
    reports: dict[str, str]
    """Paths, by the names of their options."""
    pictures: int
    fail_on: str
    merge_options: list[str]
    """All other options of merge."""

    @property
    def run(self) -> list[str]:
        frames = [] if self.frames is None else [f"--frames={frames_text(self.frames)}"]
        return [*self.files, *frames, *self.options, *_named(self.earlier)]

    @property
    def merge(self) -> list[str]:
        verdict = ["--pictures", str(self.pictures), "--fail-on", self.fail_on]
        return [*_named(self.reports), *verdict, *self.merge_options, *self.compared]

    @property
    def compared(self) -> list[str]:
        """The baseline as merge has it."""
        return _named({name: path for name, path in self.earlier.items() if name == "baseline"})

    @property
    def stills(self) -> list[str]:
        """The files, each once."""
        return list(dict.fromkeys(self.files))

    @property
    def covers(self) -> list[str]:
        """What each part has of the run, but for its shard: an option in one word."""
        if self.frames is None:
            return [f"--only-files={file}" for file in self.stills]
        starts = range(0, len(self.frames), self.chunk_size)
        return [f"--only-frames={frames_text(self.frames[start : start + self.chunk_size])}" for start in starts]

    @property
    def bpy(self) -> tuple[str, str]:
        """The oldest version of Blender as a module that is not older than any of the files, and its Python: the newest
        one where they are newer, or do not say."""
        saved = [blend_file.saved_by(file) for file in self.files]
        newest = max(PYTHON_OF_BPY) if None in saved else min(max(saved), max(PYTHON_OF_BPY))
        version = min(version for version in PYTHON_OF_BPY if version >= newest)
        return "{}.{}".format(*version), PYTHON_OF_BPY[version]


def _named(paths: Mapping[str, str]) -> list[str]:
    return [word for name, path in paths.items() for word in (f"--{name}", path)]


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
        for line in template.next_step(job, path).splitlines():
            screen.say(f"  {line}")
    return CLEAN


def parser(prog: str) -> argparse.ArgumentParser:
    made = CommandParser(
        prog=prog,
        description="Write jobs that check files on many machines, for Flamenco, Open Job Description (AWS Deadline "
        "Cloud), GNU parallel and GitHub Actions. Each job checks the parts of the run as these options say, and then "
        "merges them into the reports that are named: clashes.html, clashes.json and clashes.xml in DIR if none is. "
        "Without --frames each FILE is checked at its current frame, and the open file at all frames of its scene."
        "\n\nExample:\n"
        f"  {prog} jobs {'' if 'FILE' in prog else 'room.blend '}--frames 1-250 --clearance 2mm --html room.html",
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
    add_reports(made)
    return made


def _job(made: argparse.ArgumentParser, options: argparse.Namespace, arguments: Sequence[str]) -> Job:
    """Return the job that options ask for. Raises UsageError."""
    files = options.files or [bpy.data.filepath]
    if not files[0]:
        raise UsageError(messages.NO_FILE_OPEN)
    for file in files:
        if not Path(file).is_file():
            raise UsageError(f"{file}: {blend_file.why_missing(file)}")
    files = [os.path.abspath(file) for file in files]
    folder = Path(options.folder).absolute()
    earlier = {name: os.path.abspath(path) for name in EARLIER if (path := getattr(options, name)) is not None}
    for word in (str(folder), *files, *earlier.values(), *map(str, arguments), *program()):
        if "{{" in word:  # GitHub's and Open Job Description's expressions, which neither can escape
            raise UsageError(
                f"{word}: a name with {{{{ would be taken for an expression in a job description; rename it"
            )
        if REPLACED.search(word):
            raise UsageError(f"{word}: a name with {{}} or the like would be replaced by GNU parallel; rename it")
        if NOT_WRITTEN.search(word):
            raise UsageError(
                f"{word}: a name with a control character, or that is not UTF-8, cannot be part of a job description; "
                "rename it"
            )
    if options.shards > MOST_SHARDS:
        raise UsageError(f"--shards: at most {MOST_SHARDS:,}")
    frames = options.frames
    if frames is None:
        if options.files and divided(made, arguments, ("chunk_size",))[1]:
            raise UsageError("--chunk-size divides frames: name them with --frames")
        if not options.files:
            scenes = chosen_scenes(options.scene)
            end = max(scene.frame_end for scene in scenes)
            frames = list(range(min(scene.frame_start for scene in scenes), end + 1))
    criteria_of(options, frames)  # what a job would only find out after its parts is found out now
    Earlier.read(options.baseline, options.decisions, files)
    return Job(
        folder=folder,
        files=files,
        frames=frames,
        options=divided(made, arguments, (*VALUES, *OF_MERGE))[2],
        earlier=earlier,
        chunk_size=options.chunk_size,
        shards=options.shards,
        reports=_reports(options) or {kind: str(folder / f"clashes{EXTENSIONS[kind]}") for kind in REPORTS},
        pictures=options.pictures,
        fail_on=options.fail_on,
        merge_options=divided(made, arguments, (*OF_BOTH, *OF_MERGE))[1],
    )


def _reports(options: argparse.Namespace) -> dict[str, str]:
    """Return the absolute paths of the reports that options name. Raises UsageError and ReportFileError."""
    places = places_of(options)
    for place in places.values():
        if place.file is None:
            raise UsageError(f"{place.path}: a job writes its reports to files: name one")
    if len({Path(place.path).name for place in places.values()}) < len(places):
        raise UsageError("each report needs a name of its own: some jobs write all of them to one folder")
    return {kind: os.path.abspath(places[kind].path) for kind in EXTENSIONS if kind in places}


# --- the descriptions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Template:
    """A description in the package, and what is written of it."""

    path: str
    lines: Callable[[Job], Mapping[str, str]]
    """Lines of it that are replaced, by what."""
    next_step: Callable[[Job, Path], str]
    """What to do with it and where its reports go, for the user, in lines."""

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
    stills = {FLAMENCO_FRAMES: '            default: "",'}
    frames = {"            default: 10,": f"            default: {job.chunk_size},"}
    return {
        **(stills if job.frames is None else frames),
        f"const REPORTS = {json.dumps({kind: EXTENSIONS[kind] for kind in REPORTS})};": "const REPORTS = "
        f"{json.dumps({kind: EXTENSIONS[kind] for kind in job.reports})};",
        FLAMENCO_OPTIONS: _default(FLAMENCO_OPTIONS, [*job.options, *_named(job.earlier)]),
        FLAMENCO_MERGE_OPTIONS: _default(FLAMENCO_MERGE_OPTIONS, [*job.merge_options, *job.compared]),
        "            default: 1,": f"            default: {job.shards},",
        "            default: 20,": f"            default: {job.pictures},",
        '            default: "any",': f'            default: "{job.fail_on}",',
    }


FLAMENCO_FRAMES = """\
            eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
            evalInfo: { showLinkButton: true, description: "Scene frame range" },"""
FLAMENCO_OPTIONS, FLAMENCO_MERGE_OPTIONS = (
    f'            key: "{key}",\n            type: "string",\n            default: "",'
    for key in ("options", "merge_options")
)


def _default(lines: str, words: Sequence[str]) -> str:
    """Return the lines of a setting with words as its default."""
    return lines.replace('""', json.dumps(" ".join(map(_word, words))))


def _word(text: str) -> str:
    """Return a word of a line that the job type splits at blanks that are not in quotes."""
    if '"' in text and "'" in text:
        raise UsageError(f"an option with both kinds of quotes cannot be part of a job description: {text}")
    if re.fullmatch(r"[\w./:=,+-]+", text):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


OPTIONS_PLACE = "            # more files, and options of check"
MERGE_OPTIONS_PLACE = "            # more options of merge"


def _openjd(job: Job) -> dict[str, str]:
    start, *others = program()
    frames = {
        "    default: 1-30": f"    default: {json.dumps(_range(job.frames or ()))}",
        "    default: 10": f"    default: {job.chunk_size}",
    }
    return {
        **(_openjd_stills(job) if job.frames is None else frames),
        "    default: blender": f"    default: {_quoted(start)}",
        "            - -b\n            - --command\n            - contact_lens": _items(others),
        "    default: 1": f"    default: {job.shards}",
        "    default: 20": f"    default: {job.pictures}",
        "    default: any": f"    default: {job.fail_on}",
        OPTIONS_PLACE: _items([*job.files[1:], *job.options, *_named(job.earlier)]) or OPTIONS_PLACE,
        _openjd_reports({kind: f"clashes{EXTENSIONS[kind]}" for kind in REPORTS}): _openjd_reports(job.reports),
        MERGE_OPTIONS_PLACE: _items([*job.merge_options, *job.compared]) or MERGE_OPTIONS_PLACE,
    }


OPENJD_FRAMES, OPENJD_CHUNKS = (
    """\
  - name: Frames
    type: STRING
    description: All frames to check, as in 1-100 or 1,5,9-20:2.
    default: 1-30
  - name: ChunkSize
    type: INT
    description: Number of consecutive frames in a task.
    default: 10
    minValue: 1
  - name: Shards""",
    """\
      taskParameterDefinitions:
        - name: Chunk
          type: CHUNK[INT]
          range: "{{Param.Frames}}"
          chunks:
            defaultTaskCount: "{{Param.ChunkSize}}"
            rangeConstraint: CONTIGUOUS""",
)


def _openjd_stills(job: Job) -> dict[str, str]:
    """Return the lines about frames for a job without: each task has a file, whose number names the part."""
    _, *others = job.stills
    return {
        OPENJD_FRAMES: "  - name: Shards",
        OPENJD_CHUNKS: f"""\
      combination: (File, Number) * Shard
      taskParameterDefinitions:
        - name: File
          type: PATH
          range:
{_items(["{{RawParam.File}}", *others])}
        - name: Number
          type: INT
          range: 1-{len(job.stills)}""",
        '            - "--frames={{Param.Frames}}"\n'
        '            - "--only-frames={{Task.Param.Chunk}}"': '            - "--only-files={{Task.Param.File}}"',
        '            - "{{Param.Parts}}/frames_{{Task.Param.Chunk}}_shard_{{Task.Param.Shard}}.json"': "            "
        '- "{{Param.Parts}}/file_{{Task.Param.Number}}_shard_{{Task.Param.Shard}}.json"',
    }


def _range(frames: Sequence[int]) -> str:
    """Return frames as a range of Open Job Description, in which spans must not overlap."""
    return frames_text(frames) if list(frames) == sorted(frames) else ",".join(map(str, frames))


def _openjd_reports(paths: Mapping[str, str]) -> str:
    """Return the options of reports, all in the folder that the job has as a parameter."""
    return "\n".join(
        f"            - --{kind}\n            - {_quoted('{{Param.Reports}}/' + Path(path).name)}"
        for kind, path in paths.items()
    )


def _run_openjd(job: Job, path: Path) -> str:
    folder = os.path.dirname(next(iter(job.reports.values())))
    parameters = ["-p", f"File={job.files[0]}"]  # here, as the default of a path must not be absolute
    if Path(folder) != job.folder:
        parameters += ["-p", f"Reports={folder}"]
    reports = [os.path.join(folder, Path(report).name) for report in job.reports.values()]
    return _farm_run(_command_line(["openjd", "run", str(path), *parameters]), reports)


def _command_line(words: Sequence[str]) -> str:
    """Return a command as the user types it on this system."""
    return " ".join(f'"{word}"' if " " in word else word for word in words) if os.name == "nt" else shlex.join(words)


def _items(words: Sequence[str]) -> str:
    return "\n".join(f"            - {_quoted(word)}" for word in words)


def _quoted(text: str) -> str:
    """Return a text as YAML has it in quotes: as JSON, but for letters that JSON escapes as two."""
    return '"' + re.sub("[^\U00010000-\U0010ffff]+", lambda found: json.dumps(found[0])[1:-1], text) + '"'


GIVEN_REPORTS = "--html clashes.html --json clashes.json --junit clashes.xml --pictures 20 --fail-on any"


def _gnu_parallel(job: Job) -> dict[str, str]:
    return {
        "program=(blender -b --command contact_lens)": f"program=({shlex.join(program())})",
        "run=(scene.blend --frames=1-30)": f"run=({shlex.join(job.run)})",
        "covers=(--only-frames=1-10 --only-frames=11-20 --only-frames=21-30)": f"covers=({shlex.join(job.covers)})",
        "shards=1": f"shards={job.shards}",
        "parts=parallel_parts": f"parts={shlex.quote(str(job.folder / 'parallel_parts'))}",
        f"merge=({GIVEN_REPORTS})": f"merge=({shlex.join(job.merge)})",
    }


def _github_actions(job: Job) -> dict[str, str]:
    bpy_version, python = job.bpy
    top = _top(job.files)
    job = replace(
        job,
        files=[_path_below(top, file) for file in job.files],
        earlier={name: _path_below(top, path) for name, path in job.earlier.items()},
        reports={kind: Path(path).name for kind, path in job.reports.items()},
    )
    covers = ", ".join(_quoted(shlex.quote(cover)) for cover in job.covers)
    return {
        '  INSTALL: pip install "bpy==5.2.*" contact_lens-*.whl': "  "
        f'INSTALL: pip install "bpy=={bpy_version}.*" contact_lens-*.whl',
        '  PYTHON: "3.13"': f'  PYTHON: "{python}"',
        "        covers: [--only-frames=1-10, --only-frames=11-20, --only-frames=21-30]": f"        covers: [{covers}]",
        "        shard: [1]": f"        shard: {list(range(1, job.shards + 1))}",
        "          scene.blend --frames=1-30": f"          {shlex.join(job.run)}",
        "          ${{ matrix.covers }} --shard ${{ matrix.shard }}/1": "          "
        f"${{{{ matrix.covers }}}} --shard ${{{{ matrix.shard }}}}/{job.shards}",
        f"          {GIVEN_REPORTS}": f"          {shlex.join(job.merge)}",
        _uploaded(f"clashes{EXTENSIONS[kind]}" for kind in REPORTS): _uploaded(job.reports.values()),
    }


def _uploaded(names: Iterable[str]) -> str:
    return "\n".join(f"            {name}" for name in names)


def _top(files: Sequence[str]) -> Path | None:
    """Return the top of the git repository that files are in, or the folder that they share where they are in none;
    None where they are on different drives of Windows."""
    try:
        shared = Path(os.path.commonpath([os.path.dirname(file) for file in files]))
    except ValueError:
        return None
    return next((folder for folder in (shared, *shared.parents) if (folder / ".git").exists()), shared)


def _path_below(top: Path | None, path: str) -> str:
    """Return a path from the top of a repository; the name of a file that is elsewhere, and is to be put there."""
    if top is None:
        return path
    file = Path(path)
    return file.relative_to(top).as_posix() if file.is_relative_to(top) else file.name


WRITTEN = (
    Template(
        "flamenco/contact_lens_check.js",
        _flamenco,
        lambda job, path: (
            "copy it to the folder scripts beside flamenco-manager, restart the manager and submit a job from "
            "Blender:\nit asks where the reports go"
        ),
    ),
    Template("openjd/check.yaml", _openjd, _run_openjd),
    Template(
        "gnu_parallel.sh",
        _gnu_parallel,
        lambda job, path: _farm_run(_command_line(["bash", str(path)]), list(job.reports.values())),
    ),
    Template(
        "github_actions.yml",
        _github_actions,
        lambda job, path: _farm_github(len(job.covers) * job.shards, MOST_GITHUB_JOBS, job.frames is None),
    ),
)


def _farm_run(command: str, reports: Sequence[str]) -> str:
    return f"run it: {command}\nit writes {', '.join(reports)}"


def _farm_github(jobs: int, most: int, are_stills: bool) -> str:
    """Return what to do with a workflow; jobs: how many its matrix has; are_stills: whether each is of a file."""
    remedy = "write several workflows, each for some of the files" if are_stills else "use a larger --chunk-size"
    too_many = f"\nit has {jobs:,} jobs, and GitHub runs {most} at most: {remedy}" if jobs > most else ""
    return (
        "copy it to .github/workflows/ of the repository that contains the files, and the wheel to its top:\n"
        f"the reports are an artifact of the run{too_many}"
    )
