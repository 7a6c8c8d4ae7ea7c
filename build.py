#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build, try, test and check Contact Lens. Needs CPython 3.11 or 3.13 on the machine and nothing else.

  python3 build.py demo      two objects in, contact out: numbers, a picture and a JSON file
  python3 build.py test      all tests that need no window, on the Blender that fits this Python
  python3 build.py check     formatting, lint, types, manifest and zip
  python3 build.py build     dist/contact_lens-VERSION.zip, to install in Blender
  python3 build.py bench     the benchmarks

Blender comes as its Python module `bpy` into one virtual environment per version (about 1.2 GB each, once), shared by
all commands and checkouts: Blender 4.5 LTS on CPython 3.11, 5.2 LTS on CPython 3.13. They live in the user's cache
folder, or in $CONTACT_LENS_CACHE.

Exit code: 0 all well, 1 something failed, 2 this machine lacks something (the last line says what).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent
DIST = ROOT / "dist"
DEMO_OUTPUT = ROOT / "build" / "demo"

PACKED_FILES = ("__init__.py", "blender_manifest.toml", "LICENSE")
PACKED_FOLDERS = ("blender_addon", "core")
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""The same in every archive, so that the same files give the same bytes. 1980 is where zip's calendar starts."""

BYTES_PER_ENVIRONMENT = 2_500_000_000
"""Free space asked for before a Blender environment is made: 1.2 GB stays, as much again passes through."""
DOWNLOAD_PAUSES = (3.0, 15.0)
"""Seconds to wait before the second and the third try of a download."""
PIP_RETRIES = "2"
"""How often pip itself asks again in each of these tries, whatever PIP_RETRIES or pip's own settings say."""


class BlenderModule(NamedTuple):
    """A Blender version that comes as a Python module."""

    python: str
    requirements: tuple[str, ...]


BLENDERS = {
    # 4.2 gets the numpy that the official 4.2 bundles, the oldest supported; 5.2 gets the newest there is. The test
    # oracles use scipy's nnls, which is wrong by percents in the scipy 1.15 that numpy 1.24 would bring: 1.11 is right.
    "4.2": BlenderModule("3.11", ("bpy==4.2.*", "numpy==1.24.*", "scipy==1.11.*")),
    "4.5": BlenderModule("3.11", ("bpy==4.5.*", "numpy==1.26.*")),
    "5.2": BlenderModule("3.13", ("bpy==5.2.*", "numpy")),
}
BLENDER_OF_PYTHON = {"3.11": "4.5", "3.13": "5.2"}


class MissingError(Exception):
    """This machine lacks something. The message is one sentence for the user, none when a program that was run has
    said it already; the exit code is 2.
    """


class FailedError(Exception):
    """What was asked for was tried and failed; the exit code is 1."""


def say(text: str) -> None:
    print(text, flush=True)


# --- processes ------------------------------------------------------------------------------------------------------


def run(command: Sequence[str | Path], environment: dict[str, str] | None = None) -> int:
    """Run `command` in the repository, its output going where ours goes. Returns its exit code."""
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **(environment or {})}, check=False
    ).returncode


def output_of(
    command: Sequence[str | Path], environment: dict[str, str] | None = None, folder: str | Path = ROOT
) -> tuple[int, str]:
    """Run `command` quietly in `folder`. Returns its exit code and all it said; 127 when there is no such program."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout


# --- interpreters ---------------------------------------------------------------------------------------------------


def running_python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def interpreter_candidates(version: str) -> Iterator[list[str]]:
    """Commands that may start CPython `version`, likeliest first."""
    if running_python() == version:
        yield [sys.executable]
    yield [f"python{version}"]
    code, found = output_of(["uv", "python", "find", "--no-python-downloads", version])
    if code == 0 and found.strip():
        yield [found.strip().splitlines()[-1]]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in sorted((pyenv / "versions").glob(f"{version}.*"), reverse=True):
        yield [str(folder / "bin" / "python")]
    for folder in sorted((pyenv / "pyenv-win" / "versions").glob(f"{version}.*"), reverse=True):
        yield [str(folder / "python.exe")]
    if os.name == "nt":
        yield ["py", f"-{version}"]


def find_python(version: str, reason: str) -> str:
    """Path of a CPython `version`. Raises MissingError, saying how to get it, when there is none."""
    question = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.executable, sep='|')"
    for command in interpreter_candidates(version):
        code, answer = output_of([*command, "-c", question])
        name, _, rest = (answer.strip().splitlines() or [""])[-1].partition("|")
        found, _, path = rest.partition("|")
        if code == 0 and name == "cpython" and found == version:
            return path
    raise MissingError(
        f"{reason} needs CPython {version}, which is neither on PATH nor known to uv, pyenv or the Windows launcher: "
        f"get it with `uv python install {version}`, `pyenv install {version}` or from python.org."
    )


def blender_at_hand() -> str:
    """The Blender version to use when none is asked for: the one whose module fits the running interpreter, else the
    newest whose interpreter this machine has. Raises MissingError when there is none.
    """
    running = BLENDER_OF_PYTHON.get(running_python())
    others = sorted((blender for blender in BLENDER_OF_PYTHON.values() if blender != running), reverse=True)
    for blender in [*([running] if running else []), *others]:
        try:
            find_python(BLENDERS[blender].python, f"Blender {blender}")
        except MissingError:
            continue
        return blender
    raise MissingError(
        f"This is {platform.python_implementation()} {platform.python_version()}, and Blender's Python module "
        "needs CPython 3.11 (Blender 4.5 LTS) or CPython 3.13 (Blender 5.2 LTS), which are neither on PATH nor known "
        "to uv, pyenv or the Windows launcher: get one, for example with `uv python install 3.13`."
    )


# --- virtual environments -------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """Where environments are kept between runs and between checkouts."""
    if chosen := os.environ.get("CONTACT_LENS_CACHE"):
        return Path(chosen).expanduser().resolve()
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "contact_lens"


def make_cache_folder(name: str) -> Path:
    folder = cache_folder() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingError(
            f"The cache folder {folder} cannot be made ({error.strerror}): set CONTACT_LENS_CACHE."
        ) from error
    return folder


def python_in(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


NO_NETWORK = re.compile(
    r"NewConnectionError|Name or service not known|name resolution|getaddrinfo|Connection refused|ConnectTimeout"
    r"|ReadTimeout|Read timed out|ConnectionResetError|Connection aborted|ProxyError|Network is unreachable"
    r"|IncompleteRead|Connection broken|ProtocolError|HTTP error 5\d\d|5\d\d Server Error|SSLError|CERTIFICATE_VERIFY"
)
NO_DISK = re.compile(r"No space left on device|Errno 28|not enough space on the disk|Disk quota exceeded")


def pip(python: Path, arguments: Sequence[str], what: str, log: Path) -> None:
    """Run pip quietly, trying a failed download again. Raises MissingError with one sentence when it cannot be done."""
    said = ""
    # That the network is missing is known from what pip says when it tries again: the user's settings must not hide it.
    command = [python, "-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", PIP_RETRIES, *arguments]
    for pause in (*DOWNLOAD_PAUSES, None):
        code, said = output_of(command, {"PIP_QUIET": "0"})
        log.write_text(said, encoding="utf-8")
        if code == 0:
            return
        if pause is None or NO_DISK.search(said) or not NO_NETWORK.search(said):
            break
        say(f"  The download of {what} failed; trying again in {pause:.0f} s.")
        time.sleep(pause)
    if NO_DISK.search(said):
        raise MissingError(f"There is no space left on the disk to install {what} in {log.parent}.")
    if NO_NETWORK.search(said):
        raise MissingError(
            f"{what} could not be downloaded in {len(DOWNLOAD_PAUSES) + 1} tries: "
            f"check the network ({log} has the details)."
        )
    if "No matching distribution" in said:
        raise MissingError(
            f"The package index has no {what} for {platform.system()} on {platform.machine()} ({log} has the details)."
        )
    raise MissingError(f"pip could not install {what} ({log} has the details).")


def environment_with(name: str, python: str, requirements: Sequence[str], what: str, space: int = 0) -> Path:
    """A virtual environment with `requirements`, made now or found in the cache. Returns its Python.

    An environment fits when it was made for these requirements, perhaps among others, by the same Python and still
    starts.
    """
    folder = make_cache_folder("environments") / name
    stamp, log = folder / "contact_lens.json", folder / "pip.log"
    code, version = output_of([python, "-c", "import sys; print(sys.version)"])
    if code != 0:
        raise MissingError(f"{python} does not start.")
    wanted = {"python": version.strip(), "requirements": sorted(requirements)}
    if _made_for(stamp, wanted) and output_of([python_in(folder), "-c", ""])[0] == 0:
        return python_in(folder)
    try:
        free = shutil.disk_usage(folder.parent).free
        if free < space:
            raise MissingError(
                f"{what} needs {space / 1e9:.1f} GB of free disk in {folder.parent}, where {free / 1e9:.1f} GB are "
                "left: make room, or set CONTACT_LENS_CACHE to a folder on another disk."
            )
        say(f"Making an environment for {what} in {folder} (once) ...")
        shutil.rmtree(folder, ignore_errors=True)
        code, said = output_of([python, "-m", "venv", folder])
        if code != 0:
            if NO_DISK.search(said):
                raise MissingError(f"There is no space left on the disk for {what} in {folder}.")
            raise MissingError(
                f"{python} cannot make virtual environments: install its venv package (on Debian and Ubuntu "
                f"apt install python{'.'.join(version.split('.')[:2])}-venv)."
            )
        pip(python_in(folder), ["install", "--upgrade", *requirements], what, log)
        stamp.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    except OSError as error:
        raise MissingError(f"The environment for {what} cannot be written to {folder} ({error.strerror}).") from error
    return python_in(folder)


def _made_for(stamp: Path, wanted: dict[str, Any]) -> bool:
    """Whether the environment with this stamp has what is wanted."""
    try:
        made = json.loads(stamp.read_text(encoding="utf-8"))
        return made["python"] == wanted["python"] and set(wanted["requirements"]) <= set(made["requirements"])
    except (OSError, ValueError, KeyError, TypeError):  # no stamp, or half of one: it is made again
        return False


def extra(name: str) -> list[str]:
    """The requirements of an optional group in pyproject.toml."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups: dict[str, list[str]] = project["optional-dependencies"]
    return groups[name]


def this_checkout() -> dict[str, str]:
    """Variables that make `import contact_lens` mean this checkout. Environments are shared, so they do not say it."""
    folders = [str(ROOT / "tests" / "tooling" / "checkout"), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, folders))}


def environment_for(purpose: str, blender: str, requirements: Sequence[str], what: str) -> Path:
    """Python of an environment without Blender, of the interpreter that `blender` goes with."""
    python = BLENDERS[blender].python
    return environment_with(f"{purpose}-{python}", find_python(python, what), requirements, what)


def blender_environment(version: str) -> Path:
    """Python of the environment with Blender `version` as a module and the test tools."""
    module = BLENDERS[version]
    what = f"Blender {version} as a Python module"
    interpreter = find_python(module.python, f"Blender {version}")
    requirements = [*module.requirements, *extra("test")]
    return environment_with(f"blender-{version}", interpreter, requirements, what, BYTES_PER_ENVIRONMENT)


def profile_environment(profile: str | Path) -> dict[str, str]:
    """Variables that keep Blender away from the user's own preferences."""
    return {"BLENDER_USER_RESOURCES": str(profile), "PYTHONNOUSERSITE": "1"}


# --- build ----------------------------------------------------------------------------------------------------------


def version() -> str:
    """The version in the manifest."""
    import tomllib

    return str(tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"])


def packed_paths() -> list[str]:
    """What goes into the zip: paths relative to the repository, with forward slashes, sorted."""
    paths = [ROOT / name for name in PACKED_FILES]
    for folder in PACKED_FOLDERS:
        paths += [
            path
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
            and path.suffix != ".pyc"
            and not any(part.startswith(".") for part in path.parts[len(ROOT.parts) :])
        ]
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def write_zip(target: Path) -> Path:
    """Write the extension to `target`: the same files give the same bytes, on every machine.

    Nothing is compressed, because zlib's output differs between its versions.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in packed_paths():
            entry = zipfile.ZipInfo(path, ZIP_DATE)
            entry.create_system = 3  # Unix, also when written elsewhere
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, (ROOT / path).read_bytes())
    return target


@contextmanager
def built_zip() -> Iterator[Path]:
    """The zip in a folder of its own, as long as it is needed: what is in `dist` has been validated."""
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        yield write_zip(Path(folder) / f"contact_lens-{version()}.zip")


def extension_tool(python: Path) -> list[str | Path]:
    """The command that is Blender's own extension builder and validator."""
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as profile:
        code, said = output_of(
            [python, "-c", "import bpy; print('\\nSCRIPTS=' + bpy.utils.system_resource('SCRIPTS'))"],
            profile_environment(profile),
        )
    found = re.search(r"^SCRIPTS=(.+)$", said, re.MULTILINE)
    if code != 0 or not found:
        raise FailedError(f"Blender's Python module does not start:\n{said}")
    return [python, Path(found[1]) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"]


def tags_option(tool: Sequence[str | Path]) -> list[str | Path]:
    """`validate` compares the tags with this list only when told where it is."""
    return ["--valid-tags", Path(tool[-1]).parents[3] / "modules" / "_bpy_internal" / "extensions" / "tags.py"]


def validate(path: Path, tool: Sequence[str | Path]) -> None:
    """Raises FailedError with what Blender's validator says against the zip or folder `path`."""
    code, said = output_of([*tool, "validate", *tags_option(tool), path])
    if code != 0:
        raise FailedError(f"Blender's validator rejects {path}:\n{said}")


def command_build(_: argparse.Namespace) -> None:
    tool = extension_tool(blender_environment(blender_at_hand()))
    with built_zip() as packed:
        validate(packed, tool)
        DIST.mkdir(exist_ok=True)
        target = Path(shutil.copyfile(packed, DIST / packed.name))
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    say(f"{DIST.name}/{target.name}: {target.stat().st_size} bytes, valid, sha256 {digest}")


# --- demo -----------------------------------------------------------------------------------------------------------


def command_demo(options: argparse.Namespace) -> None:
    if bool(options.blend) != bool(options.objects):
        raise MissingError("demo --blend FILE and --objects A B belong together.")
    arguments: list[str | Path] = []
    if options.blend:
        blend = Path(options.blend).expanduser().resolve()
        if not blend.is_file():
            raise MissingError(f"There is no file {blend}.")
        arguments = ["--blend", blend, "--objects", *options.objects]
    DEMO_OUTPUT.mkdir(parents=True, exist_ok=True)
    for earlier in ("contact.png", "contact.json"):  # and nothing else: the user's own file may be there
        (DEMO_OUTPUT / earlier).unlink(missing_ok=True)
    python = blender_environment(blender_at_hand())
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as profile, built_zip() as packed:
        command = [python, ROOT / "demo" / "run.py", "--zip", packed, "--output", DEMO_OUTPUT, *arguments]
        code = run(command, profile_environment(profile))
    if code == 2:
        raise MissingError("")  # the demo has said what
    if code != 0:
        raise FailedError("The demo failed.")


# --- test -----------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    what: str
    code: int
    seconds: float


def timed(what: str, command: Sequence[str | Path], environment: dict[str, str]) -> Outcome:
    say(f"\n--- {what}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as profile:
        code = run(command, {**profile_environment(profile), **environment})
    return Outcome(what, code, time.monotonic() - start)


def test_module(blender: str, packed: Path, first: bool, arguments: Sequence[str]) -> Outcome:
    """Core and Blender tests in one pytest, with Blender as a module. Only the first of several runs the long searches
    and the tests of build.py itself."""
    python = blender_environment(blender)
    code, numpy = output_of([python, "-c", "import numpy; print(numpy.__version__)"])
    folders = ["tests/core", "tests/blender", *(["tests/tooling"] if first else [])]
    selection = [] if first else ["-m", "not slow"]
    command = [
        python,
        "-m",
        "pytest",
        *(() if names_a_path(arguments) else folders),
        *selection,
        *arguments,
    ]
    what = (
        f"Blender {blender} as a module, Python {BLENDERS[blender].python}, numpy {numpy.strip() if code == 0 else '?'}"
    )
    return timed(what, command, {**this_checkout(), "CONTACT_LENS_ZIP": str(packed)})


def names_a_path(arguments: Sequence[str]) -> bool:
    """Whether pytest's arguments say themselves which tests to run."""
    return any(not word.startswith("-") and (ROOT / word.split("::")[0]).exists() for word in arguments)


def find_blender(given: str | None) -> str:
    """The `blender` program from --blender-binary, $BLENDER or PATH."""
    wanted = given or os.environ.get("BLENDER") or "blender"
    found = shutil.which(wanted)
    if found is None:
        raise MissingError(
            f"There is no Blender program {wanted!r}: name one with --blender-binary, in $BLENDER, or put it on PATH."
        )
    return str(Path(found).absolute())


def blender_python(binary: str) -> tuple[str, str]:
    """Version of an installed Blender and of the Python inside it."""
    expression = "import bpy, sys; print('\\nVERSIONS=%s|%d.%d' % ((bpy.app.version_string,) + sys.version_info[:2]))"
    code, said = output_of([binary, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr", expression])
    found = re.search(r"^VERSIONS=(.*)\|(.*)$", said, re.MULTILINE)
    if code != 0 or not found:
        raise MissingError(
            f"{binary} does not start as Blender: {(said.strip().splitlines() or ['it says nothing'])[-1]}"
        )
    return found[1], found[2]


def runner_environment() -> Path:
    """Python of a small environment that drives installed Blenders; any CPython from 3.11 on will do."""
    return environment_with(f"runner-{running_python()}", sys.executable, ["pytest>=8", "numpy"], "the test runner")


def pytest_for(python_version: str) -> Path:
    """A folder with pytest for the Python inside an installed Blender, which has none."""
    folder = make_cache_folder("tools") / f"python{python_version}"
    if not (folder / "complete").is_file():
        say(f"Getting pytest for the Python {python_version} inside Blender (once) ...")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        options = ["--target", str(folder), "--python-version", python_version, "--only-binary=:all:"]
        pip(runner_environment(), ["install", *options, "pytest>=8"], "pytest", folder / "pip.log")
        (folder / "complete").touch()
    return folder


def test_installed(binary: str, packed: Path, arguments: Sequence[str]) -> Outcome:
    """The Blender tests inside an installed Blender, without a window."""
    blender, python = blender_python(binary)
    command = [
        binary,
        "-b",
        "--factory-startup",
        "--python-exit-code",
        "1",
        "-P",
        ROOT / "tests" / "run_in_blender.py",
        "--",
    ]
    command += [*(() if names_a_path(arguments) else ("tests/blender",)), *arguments]
    environment = {"CONTACT_LENS_ZIP": str(packed), "PYTHONPATH": str(pytest_for(python))}
    return timed(f"Blender {blender} installed, in the background", command, environment)


def test_window(binary: str, packed: Path, arguments: Sequence[str]) -> Outcome:
    """The tests that click in a real Blender window."""
    blender, _ = blender_python(binary)
    command = [runner_environment(), "-m", "pytest", *(() if names_a_path(arguments) else ("tests/gui",)), *arguments]
    return timed(
        f"Blender {blender} installed, in a window", command, {"CONTACT_LENS_ZIP": str(packed), "BLENDER": binary}
    )


def test_outcomes(options: argparse.Namespace, packed: Path) -> list[Outcome]:
    outcomes: list[Outcome] = []
    if options.gui:
        if options.blender:
            raise MissingError(
                "test --gui needs an installed Blender (--blender-binary), not the module that --blender names."
            )
        outcomes.append(test_window(find_blender(options.blender_binary), packed, options.pytest))
    elif options.blender_binary:
        outcomes.append(test_installed(find_blender(options.blender_binary), packed, options.pytest))
    if options.blender or not outcomes:
        named = list(dict.fromkeys(options.blender or [blender_at_hand()]))
        for blender in named:  # before the first test runs: a missing interpreter is said at once
            find_python(BLENDERS[blender].python, f"Blender {blender}")
        outcomes += [test_module(blender, packed, blender == named[0], options.pytest) for blender in named]
    return outcomes


def command_test(options: argparse.Namespace) -> None:
    with built_zip() as packed:
        outcomes = test_outcomes(options, packed)
    if len(outcomes) > 1:
        say("")
        for outcome in outcomes:
            say(f"{'passed' if outcome.code == 0 else 'FAILED'} in {outcome.seconds:6.1f} s: {outcome.what}")
    failed = [outcome for outcome in outcomes if outcome.code != 0]
    if failed:
        raise FailedError(
            f"Tests failed: {'; '.join(f'{outcome.what} (exit code {outcome.code})' for outcome in failed)}"
        )


# --- check ----------------------------------------------------------------------------------------------------------


def check_versions() -> str:
    """The version is written in three places."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    package = re.search(r'^__version__ = "(.+)"$', (ROOT / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    if not package or not version() == project == package[1]:
        raise FailedError("blender_manifest.toml, pyproject.toml and __init__.py must name the same version.")
    return str(project)


def check_types(python: Path) -> tuple[int, str]:
    """Run mypy over the packed files. Returns its exit code and what it said.

    mypy wants a package in a folder of the package's name, and the checkout may be called anything: it reads a copy.
    """
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        for path in packed_paths():
            target = Path(folder) / "contact_lens" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, target)
        options = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache"]
        return output_of([python, "-m", "mypy", *options, "-p", "contact_lens"], {"MYPYPATH": folder}, folder)


def check_zip(tool: Sequence[str | Path]) -> str:
    """The zip is reproducible, and holds the files that Blender's own builder takes by the manifest."""
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        first, second, blenders = (Path(folder) / name for name in ("first.zip", "second.zip", "blender.zip"))
        if write_zip(first).read_bytes() != write_zip(second).read_bytes():
            raise FailedError("Two builds of the zip differ.")
        code, said = output_of(
            [*tool, "build", *tags_option(tool), "--source-dir", ROOT, "--output-filepath", blenders]
        )
        if code != 0:
            raise FailedError(f"Blender's builder rejects the repository:\n{said}")
        ours, theirs = (set(zipfile.ZipFile(path).namelist()) for path in (first, blenders))
        theirs = {name for name in theirs if not name.endswith("/")}
        if ours != theirs:
            raise FailedError(
                "The zip and the manifest's paths_exclude_pattern disagree about: " + ", ".join(sorted(ours ^ theirs))
            )
        code, tracked = output_of(["git", "ls-files", "--", *PACKED_FILES, *PACKED_FOLDERS])
        if code == 0 and (untracked := ours - set(tracked.split())):
            say(f"  Note: packed but not in git yet: {', '.join(sorted(untracked))}")
        validate(first, tool)
        return f"{len(ours)} files"


def command_check(_: argparse.Namespace) -> None:
    blender = blender_at_hand()
    python = environment_for("check", blender, extra("check"), "the checks")
    ruff = [python, "-m", "ruff"]
    failed: list[str] = []
    for what, (code, said) in (
        ("formatting", output_of([*ruff, "format", "--check", "--quiet", "--diff", "."])),
        ("lint", output_of([*ruff, "check", "--quiet", "."])),
        ("types", check_types(python)),
    ):
        say(f"{'ok    ' if code == 0 else 'FAILED'} {what}")
        if code != 0:
            failed.append(what)
            say(said)
    tool = extension_tool(blender_environment(blender))
    for what, check in (
        ("versions", check_versions),
        ("manifest", lambda: validate(ROOT, tool)),
        ("zip", lambda: check_zip(tool)),
    ):
        try:
            detail = check()
        except FailedError as error:
            failed.append(what)
            say(f"FAILED {what}\n{error}")
        else:
            say(f"ok     {what}{f': {detail}' if detail else ''}")
    if failed:
        raise FailedError(f"Failed: {', '.join(failed)}.")


# --- bench ----------------------------------------------------------------------------------------------------------


def command_bench(options: argparse.Namespace) -> None:
    """Peers that this machine cannot install are left out of the table, and said.

    They want a newer numpy than Blender 4.5 bears, so they get an environment without Blender; what is to be measured
    in Blender is run by the Python that CONTACT_LENS_BLENDER_PYTHON names.
    """
    blender = blender_at_hand()
    blender_python = blender_environment(blender)
    python = environment_for("bench", blender, ["numpy", *extra("test")], "the benchmarks")
    log = python.parent.parent / "peers.log"
    for peer in extra("bench"):
        if output_of([python, "-m", "pip", "show", "--quiet", re.split(r"[<>=!~;\[ ]", peer)[0]])[0] != 0:
            say(f"Installing {peer} to compare with (once) ...")
            try:
                pip(python, ["install", peer], peer, log)
            except MissingError as error:
                say(f"  Left out: {error}")
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as profile, built_zip() as packed:
        environment = {
            **profile_environment(profile),
            **this_checkout(),
            "CONTACT_LENS_ZIP": str(packed),
            "CONTACT_LENS_BLENDER_PYTHON": str(blender_python),
        }
        chosen = ["--only", "accuracy"] if options.accuracy else []
        chosen += ["--plots"] if options.plots else []
        code = run([python, "-m", "tests.benchmarks", *chosen, *options.arguments], environment)
    if code != 0:
        raise FailedError("The benchmarks failed.")


# --- command line ---------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    description, _, details = (__doc__ or "").partition("\n")
    main_parser = argparse.ArgumentParser(
        prog="build.py",
        description=description,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = main_parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, function: object, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(function=function)
        return command

    add("build", command_build, "write dist/contact_lens-VERSION.zip and validate it with Blender's validator")
    demo = add("demo", command_demo, "inspect Suzanne against a cube, or two objects of your own file")
    demo.add_argument("--blend", metavar="FILE", help="a .blend file of your own")
    demo.add_argument("--objects", nargs=2, metavar=("A", "B"), help="names of two objects in it; A is the active one")
    test = add("test", command_test, "run the tests; what follows -- goes to pytest")
    test.add_argument(
        "--blender",
        action="append",
        choices=sorted(BLENDERS),
        help="run on this Blender as a Python module; may be given several times (default: the one for this Python)",
    )
    test.add_argument("--blender-binary", metavar="PATH", help="run the Blender tests inside this installed Blender")
    test.add_argument(
        "--gui",
        action="store_true",
        help="run the real-window tests with --blender-binary, $BLENDER or `blender` on PATH",
    )
    add("check", command_check, "check formatting, lint, types, manifest and zip content")
    bench = add("bench", command_bench, "run the benchmarks; what follows -- goes to them")
    bench.add_argument(
        "--accuracy", action="store_true", help="only how right the libraries are: docs/accuracy.md's table"
    )
    bench.add_argument(
        "--plots", action="store_true", help="only how the cost of a scene grows: docs/performance.md's picture"
    )
    return main_parser


def main(arguments: list[str]) -> int:
    own, _, rest = _split(arguments)
    options = parser().parse_args(own)
    options.pytest = options.arguments = rest
    if rest and options.function not in (command_test, command_bench):
        parser().error("only test and bench take arguments after --")
    try:
        options.function(options)
    except MissingError as error:
        if str(error):
            print(error, file=sys.stderr)
        return 2
    except FailedError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or 'A file'}: {error.strerror or error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    """Ours, the separator, theirs."""
    if "--" not in arguments:
        return arguments, "", []
    place = arguments.index("--")
    return arguments[:place], "--", arguments[place + 1 :]


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - to say so in one sentence instead of a traceback
        print(
            "build.py needs CPython 3.11 (Blender 4.5 LTS) or CPython 3.13 (Blender 5.2 LTS); this is Python "
            + platform.python_version()
            + ".",
            file=sys.stderr,
        )
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
