#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build, try, test and check Contact Lens. Needs CPython 3.11 or newer and nothing else.

  python3 build.py build        dist/contact_lens-VERSION.zip, to install in Blender; wheel and source distribution
  python3 build.py demo         two objects in, contact out: numbers, a picture and a JSON file
  python3 build.py test         the tests, on the Blender that fits this Python: minutes
  python3 build.py test --core  the tests of the engine, without Blender: two minutes
  python3 build.py test --all   the slow tests and all other Blender versions too
  python3 build.py check        formatting, lint, types, metadata, the tables and chapters in the documents
  python3 build.py learn        the pages of docs/learn, and the pictures of their players
  python3 build.py docs         the API reference and the documents, in build/docs
  python3 build.py words        every string that a user can read, with its place
  python3 build.py listing      icon, pictures and demo file for the extension's page, in dist/listing
  python3 build.py bench        the benchmarks

Where a command runs Blender, it comes as its Python module `bpy` into one virtual environment per version (about 1.3 GB
each, once), shared by all commands and checkouts: Blender 4.5 LTS on CPython 3.11, 5.2 LTS on CPython 3.13. The
environments are in the user's cache folder, or in $CONTACT_LENS_CACHE.

Exit code: 0 success, 1 something failed, 2 this machine lacks something (the last line says what).
"""

from __future__ import annotations

import argparse
import calendar
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent
DIST = ROOT / "dist"
DEMO_OUTPUT = ROOT / "build" / "demo"
DOCS_OUTPUT = ROOT / "build" / "docs"
FIELD_TABLES = ROOT / "docs" / "field_tables.py"
LEARN = ROOT / "docs" / "learn"

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKED_FILES = ("__init__.py", "blender_manifest.toml", "LICENSE")
PACKED_FOLDERS = ("blender_addon", "core", "farm")
PACKED_PAGES = "*.html"
"""Of `LEARN`, which Blender opens."""
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""The same in every archive, so that the same files give the same bytes. 1980 is where zip's calendar starts."""

BYTES_PER_ENVIRONMENT = 2_600_000_000
"""Free space required to make a Blender environment: half of it stays, as much again passes through."""
DOWNLOAD_PAUSES = (3.0, 15.0)
"""Seconds to wait before the second and the third try of a download."""
PIP_RETRIES = "2"
"""How often pip retries within each of these tries, whatever PIP_RETRIES or pip's own settings say."""
RENAME_PAUSES = (0.5, 2.0, 8.0) if os.name == "nt" else ()
"""Seconds to wait before a folder that cannot be renamed is renamed again."""
ABANDONED_S = 86400.0
"""Age in seconds at which a half-made environment was left behind by a process that was killed."""
PROGRESS_PAUSE = 1.0
"""Seconds between two looks at how large an environment is that is being made."""
STAMP = "contact_lens.json"
"""The file in an environment that names what it was made for."""
MAX_WORKERS = 8
"""Test processes at the same time; each with Blender takes about 0.5 GB of memory."""


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
PACKERS = ("build>=1", "setuptools>=77")
"""What makes the wheel and the source distribution."""


class MissingError(Exception):
    """This machine lacks something. The message is one sentence; empty when a program has printed it already."""

    exit_code = 2


class FailedError(Exception):
    """A command ran and failed."""

    exit_code = 1


def say(text: str) -> None:
    print(text, flush=True)


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder. On Windows what a virus scanner has open cannot be removed: it stays then."""
    return tempfile.TemporaryDirectory(prefix="contact_lens-", ignore_cleanup_errors=True)


# --- processes ------------------------------------------------------------------------------------------------------


def run(command: Sequence[str | Path], variables: dict[str, str]) -> int:
    """Run `command` in the repository with our output streams and an empty Blender profile. Return its exit code."""
    words = [str(word) for word in command]
    with temporary_folder() as profile:
        isolated = {**os.environ, "BLENDER_USER_RESOURCES": profile, "PYTHONNOUSERSITE": "1"}
        return subprocess.run(words, cwd=ROOT, env={**isolated, **variables}, check=False).returncode


def output_of(
    command: Sequence[str | Path], variables: dict[str, str] | None = None, folder: str | Path = ROOT
) -> tuple[int, str]:
    """Run `command` quietly in `folder`. Return its exit code and its output; 127 when there is no such program."""
    words = [str(word) for word in command]
    # Not in the encoding of the machine, in which a path may not be possible.
    variables = {**os.environ, "PYTHONIOENCODING": "utf-8:backslashreplace", **(variables or {})}
    into = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    text = {"encoding": "utf-8", "errors": "replace"}
    try:
        done = subprocess.run(words, cwd=folder, env=variables, check=False, **text, **into)
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout


# --- interpreters ---------------------------------------------------------------------------------------------------


def running_python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def interpreter_candidates(version: str) -> Iterator[list[str]]:
    """Yield commands that may start CPython `version`, likeliest first."""
    if running_python() == version:
        yield [sys.executable]
    yield [f"python{version}"]
    code, found = output_of(["uv", "python", "find", "--no-python-downloads", version])
    if code == 0 and found.strip():
        yield [found.strip().splitlines()[-1]]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from ([str(path)] for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))
    if os.name == "nt":
        yield from ([str(path)] for path in pyenv.glob(f"pyenv-win/versions/{version}.*/python.exe"))
        yield ["py", f"-{version}"]


def find_python(version: str, reason: str) -> str:
    """Return the path of a CPython `version`. Raise MissingError, naming ways to get it, when there is none."""
    question = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.executable, sep='|')"
    for command in interpreter_candidates(version):
        code, answer = output_of([*command, "-c", question])
        name, found, path = ((answer.strip().splitlines() or [""])[-1].split("|", 2) + ["", ""])[:3]
        if code == 0 and name == "cpython" and found == version:
            return path
    raise MissingError(
        f"{reason} needs CPython {version}, which is neither on PATH nor known to uv, pyenv or the Windows launcher: "
        f"get it with `uv python install {version}`, `pyenv install {version}` or from python.org."
    )


def default_blender() -> str:
    """Return the Blender version to use when the user names none: the one whose module fits the running interpreter,
    else the newest whose interpreter this machine has. Raise MissingError when there is none.
    """
    running = BLENDER_OF_PYTHON.get(running_python())
    for blender in sorted(BLENDER_OF_PYTHON.values(), key=lambda version: (version == running, version), reverse=True):
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


def cache_path(name: str) -> Path:
    """Return the path of a folder for what is kept between runs and shared by checkouts."""
    if chosen := os.environ.get("CONTACT_LENS_CACHE"):
        base = Path(chosen).expanduser().resolve()
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "contact_lens"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches" / "contact_lens"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "contact_lens"
    return base / name


def cache_folder(name: str) -> Path:
    """Make and return that folder."""
    folder = cache_path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"The cache folder {folder} cannot be made ({error.strerror}): set CONTACT_LENS_CACHE."
        raise MissingError(problem) from error
    return folder


def python_in(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


NO_NETWORK = re.compile(
    r"NewConnectionError|Name or service not known|name resolution|getaddrinfo|Connection refused|ConnectTimeout"
    r"|ReadTimeout|Read timed out|ConnectionResetError|Connection aborted|ProxyError|Network is unreachable"
    r"|IncompleteRead|Connection broken|ProtocolError|HTTP error 5\d\d|5\d\d Server Error|SSLError|CERTIFICATE_VERIFY"
)
NO_DISK = re.compile(r"No space left on device|Errno 28|not enough space on the disk|Disk quota exceeded")


def pip(python: Path, arguments: Sequence[str], what: str, log: Path, scratch: Path | None = None) -> None:
    """Run pip quietly, retrying a failed download. Raise MissingError with one sentence when it cannot be done.

    What it downloads passes through `scratch`, or else through the temporary folder.
    """
    output = ""
    variables = {"PIP_QUIET": "0", **({"TMPDIR": str(scratch)} if scratch else {})}
    # A missing network is recognised by pip's messages when it retries: the user's settings must not hide them.
    command = [python, "-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", PIP_RETRIES, *arguments]
    for pause in (*DOWNLOAD_PAUSES, None):
        code, output = output_of(command, variables)
        log.write_text(output, encoding="utf-8")
        if code == 0:
            return
        if pause is None or NO_DISK.search(output) or not NO_NETWORK.search(output):
            break
        say(f"  The download of {what} failed; trying again in {pause:.0f} s.")
        time.sleep(pause)
    if NO_DISK.search(output):
        raise MissingError(f"There is no space left on the disk to install {what} in {log.parent}.")
    details = f"({log} has the details)"
    if NO_NETWORK.search(output):
        tries = len(DOWNLOAD_PAUSES) + 1
        raise MissingError(f"{what} could not be downloaded in {tries} tries: check the network {details}.")
    if "No matching distribution" in output:
        raise MissingError(
            f"The package index has no {what} for {platform.system()} on {platform.machine()} {details}."
        )
    raise MissingError(f"pip could not install {what} {details}.")


def environment(name: str, python: str, requirements: Sequence[str], what: str, space: int = 0) -> Path:
    """Return the Python of a virtual environment with `requirements` for CPython `python`, from the cache or made now.

    A cached one fits when it was made for these requirements, perhaps among others, by the same minor version of Python
    and still starts. A new one is made beside it and swapped in at the end, so a failed download destroys nothing.
    """
    folder = cache_folder("environments") / name
    wanted = {"python": python, "requirements": sorted(requirements)}
    if fits(folder, wanted):
        return python_in(folder)
    interpreter = find_python(python, what)
    try:
        free = shutil.disk_usage(folder.parent).free
        if free < space:
            raise MissingError(
                f"{what} needs {space / 1e9:.1f} GB of free disk in {folder.parent}, where {free / 1e9:.1f} GB are "
                "left: make room, or set CONTACT_LENS_CACHE to a folder on another disk."
            )
        size = f", about {space / 2e9:.1f} GB" if space else ""
        say(f"Making an environment for {what} in {folder} (once{size}) ...")
        for abandoned in folder.parent.glob(f".{name}.*"):
            if time.time() - abandoned.stat().st_mtime > ABANDONED_S:
                shutil.rmtree(abandoned, ignore_errors=True)
        with tempfile.TemporaryDirectory("", f".{name}.", folder.parent, ignore_cleanup_errors=True) as workspace:
            made = Path(workspace) / "made"
            scratch = Path(workspace) / "scratch"
            scratch.mkdir()
            with progress(Path(workspace)):
                make_environment(interpreter, made)
                pip(python_in(made), ["install", *requirements], what, folder.parent / f"{name}.log", scratch)
            (made / STAMP).write_text(json.dumps(wanted, indent=1), encoding="utf-8")
            if not fits(folder, wanted):  # else another process was faster, and may be using its own by now
                swap_in(made, folder, Path(workspace) / "replaced")
    except OSError as error:
        raise MissingError(f"The environment for {what} cannot be written to {folder} ({error.strerror}).") from error
    return python_in(folder)


@contextmanager
def progress(folder: Path) -> Iterator[None]:
    """Report how large a folder has become and how long that took: all the time on a terminal, else in the end."""
    start, done = time.monotonic(), threading.Event()

    def so_far() -> str:
        return f"  {size_of(folder) / 1e6:,.0f} MB after {time.monotonic() - start:.0f} s"

    def repeat() -> None:
        while not done.wait(PROGRESS_PAUSE):
            print(so_far(), end="\r", flush=True)  # whatever is printed next is longer and takes its place

    reporter = threading.Thread(target=repeat)
    if sys.stdout.isatty():
        reporter.start()
    try:
        yield
    finally:
        done.set()
        if reporter.is_alive():
            reporter.join()
    say(f"{so_far()}.")


def size_of(folder: Path) -> int:
    """Return how many bytes the files of a folder have."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # a temporary file that is gone by now
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def make_environment(interpreter: str, folder: Path) -> None:
    """Make an empty virtual environment."""
    code, output = output_of([interpreter, "-m", "venv", folder])
    if code != 0:
        reason = (output.strip().splitlines() or ["no output"])[-1]
        advice = "on Debian and Ubuntu it needs apt install python3-venv"
        raise MissingError(f"{interpreter} cannot make a virtual environment ({reason}); {advice}.")


def fits(folder: Path, wanted: dict[str, Any]) -> bool:
    """Return whether the environment in `folder` starts and has what is wanted."""
    try:
        made = json.loads((folder / STAMP).read_text(encoding="utf-8"))
        same = made["python"] == wanted["python"] and set(wanted["requirements"]) <= set(made["requirements"])
    except (OSError, ValueError, KeyError, TypeError):  # no stamp, or half of one
        return False
    return same and output_of([python_in(folder), "-c", ""])[0] == 0


def swap_in(made: Path, folder: Path, replaced: Path) -> None:
    """Rename `made` to `folder`, and what was there to `replaced`; leave everything as it was when that fails."""
    if folder.exists():
        rename(folder, replaced)
    try:
        rename(made, folder)
    except OSError:
        if replaced.exists():
            rename(replaced, folder)
        raise


def rename(source: Path, target: Path) -> None:
    """Rename a folder; on Windows virus scanners have new files open for a moment, which prevents that."""
    for pause in RENAME_PAUSES:
        try:
            source.rename(target)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    source.rename(target)


def extra(name: str) -> list[str]:
    """Return the requirements of an optional group in pyproject.toml."""
    groups: dict[str, list[str]] = toml("pyproject.toml")["project"]["optional-dependencies"]
    return groups[name]


def toml(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of the repository."""
    import tomllib  # Python 3.10 and older, which lack it, get a sentence instead of a traceback

    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def this_checkout() -> dict[str, str]:
    """Return variables that make `import contact_lens` mean this checkout: the environments are shared by all."""
    folders = [str(ROOT / "tests" / "tooling" / "checkout"), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, folders))}


def light_environment(name: str, requirements: Sequence[str], what: str) -> Path:
    """Return the Python of an environment without Blender, of the running Python version."""
    return environment(f"{name}-{running_python()}", running_python(), requirements, what)


def blender_environment(version: str) -> Path:
    """Return the Python of the environment with Blender `version` as a module and the test tools."""
    module = BLENDERS[version]
    requirements = [*module.requirements, *extra("test")]
    return environment(f"blender-{version}", module.python, requirements, f"Blender {version}", BYTES_PER_ENVIRONMENT)


# --- build ----------------------------------------------------------------------------------------------------------


def version() -> str:
    """Return the version in the manifest."""
    return str(toml("blender_manifest.toml")["version"])


def packed_paths() -> list[str]:
    """Return the files of the zip: paths relative to the repository, with forward slashes, sorted."""
    paths = [*(ROOT / name for name in PACKED_FILES), *LEARN.glob(PACKED_PAGES)]
    for folder in PACKED_FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            hidden = any(part.startswith(".") for part in path.relative_to(ROOT).parts)
            if path.is_file() and path.suffix != ".pyc" and not hidden:
                paths.append(path)
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def write_zip(target: Path) -> Path:
    """Write the extension to `target`, compressed as Blender's builder does.

    The same files and zlib give the same bytes.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for path in packed_paths():
            entry = zipfile.ZipInfo(path, ZIP_DATE)
            entry.create_system = 3  # Unix, also when written elsewhere
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, (ROOT / path).read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return target


@contextmanager
def built_zip() -> Iterator[Path]:
    """Yield the zip in a temporary folder: only a validated one goes to `dist`."""
    with temporary_folder() as folder:
        yield write_zip(Path(folder) / f"contact_lens-{version()}.zip")


def extension_tool(python: Path) -> list[str | Path]:
    """Return the command that is Blender's own extension builder and validator."""
    program = "import bpy; print('\\nSCRIPTS=' + bpy.utils.system_resource('SCRIPTS'))"
    with temporary_folder() as profile:
        code, output = output_of([python, "-c", program], {"BLENDER_USER_RESOURCES": profile})
    found = re.search(r"^SCRIPTS=(.+)$", output, re.MULTILINE)
    if code != 0 or not found:
        raise FailedError(f"Blender's Python module does not start:\n{output}")
    return [python, Path(found[1]) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"]


def use_extension_tool(tool: Sequence[str | Path], command: str, *arguments: str | Path) -> None:
    """Run a command of Blender's builder. Raise FailedError with its output when it rejects the extension."""
    tags = Path(tool[-1]).parents[3] / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    check_extension(tool, command, "--valid-tags", tags, *arguments)


def check_extension(tool: Sequence[str | Path], command: str, *arguments: str | Path) -> None:
    """Run a command about extensions, of Blender's builder or of an installed Blender."""
    code, output = output_of([*tool, command, *arguments])
    if code != 0:
        raise FailedError(f"Blender's extension tool rejects the extension ({command}):\n{output}")


def build_distributions(python: Path, target: Path) -> list[Path]:
    """Write the source distribution to the folder `target`, and the wheel that is built from it. Return both.

    setuptools leaves files where it builds, so it gets a copy. `python` has build and setuptools.
    """
    with temporary_folder() as folder:
        ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
        source = shutil.copytree(ROOT, Path(folder) / "source", ignore=ignored)
        made = Path(folder) / "made"
        epoch = {"SOURCE_DATE_EPOCH": str(calendar.timegm(ZIP_DATE))}
        code, output = output_of([python, "-m", "build", "--no-isolation", "--outdir", made, source], epoch, folder)
        if code != 0:
            raise FailedError(f"The wheel cannot be built:\n{output}")
        target.mkdir(exist_ok=True)
        return [Path(shutil.copy2(path, target / path.name)) for path in sorted(made.iterdir())]


def cached_blender(requirements: Sequence[str] = ()) -> Path | None:
    """Return the Python of the newest Blender module that an earlier command got, with `requirements` beside it."""
    for blender in sorted(BLENDERS, reverse=True):
        folder, module = cache_path("environments") / f"blender-{blender}", BLENDERS[blender]
        if fits(folder, {"python": module.python, "requirements": [*module.requirements, *requirements]}):
            return python_in(folder)
    return None


def validate(packed: Path, given: str | None, is_required: bool) -> str:
    """Let a Blender validate the zip: the one that is named, else one that is there, else a new one if required.

    Return what is to be said of the zip. Raise FailedError when it is rejected.
    """
    named, python = given or os.environ.get("BLENDER"), cached_blender()
    if named or python is None:
        try:
            binary = find_blender(named)
            blender, _ = blender_python(binary)
        except MissingError as error:
            if named:
                raise
            if not is_required:
                say(f"Not validated (--validate downloads a Blender for it: 400 MB, 1.3 GB on the disk). {error}")
                return "not validated"
        else:
            check_extension([binary, "-b", "--factory-startup", "--command", "extension"], "validate", packed)
            return f"valid in Blender {blender}"
    use_extension_tool(extension_tool(python or blender_environment(default_blender())), "validate", packed)
    return "valid"


def command_build(options: argparse.Namespace) -> None:
    """Write the zip, for which this Python is enough, and then what needs packages from the network."""
    with built_zip() as packed:
        verdict = validate(packed, options.blender_binary, options.validate)
        DIST.mkdir(exist_ok=True)
        for earlier in DIST.glob(f"contact_lens-{version()}[-.]*"):  # of other files, perhaps
            earlier.unlink()
        say_file(Path(shutil.copyfile(packed, DIST / packed.name)), f"{verdict}, ")
    try:
        python = cached_blender(PACKERS) or light_environment("build", PACKERS, "what makes the wheel")
    except MissingError as error:
        raise MissingError(
            f"The zip is in {DIST.name}, without the wheel and the source distribution: {error}"
        ) from error
    for path in build_distributions(python, DIST):
        say_file(path)


def say_file(path: Path, verdict: str = "") -> None:
    """Report a file of `dist`."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    say(f"{DIST.name}/{path.name}: {path.stat().st_size} bytes, {verdict}sha256 {digest}")


# --- demo -----------------------------------------------------------------------------------------------------------


def command_demo(options: argparse.Namespace) -> None:
    if bool(options.blend) != bool(options.objects):
        raise MissingError("demo --blend FILE and --objects A B belong together.")
    arguments: list[str | Path] = []
    if options.blend:
        blend = Path(options.blend).expanduser().resolve(strict=True)
        arguments = ["--blend", blend, "--objects", *options.objects]
    DEMO_OUTPUT.mkdir(parents=True, exist_ok=True)
    for earlier in (
        "contact.png",
        "contact.json",
        "suzanne.png",
        "suzanne.json",
    ):  # and nothing else: the user's own file may be there
        (DEMO_OUTPUT / earlier).unlink(missing_ok=True)
    python = blender_environment(default_blender())
    with built_zip() as packed:
        code = run([python, "demo/run.py", "--zip", packed, "--output", DEMO_OUTPUT, *arguments], {})
    if code != 0:
        raise MissingError("") if code == 2 else FailedError("The demo failed.")


# --- listing ---------------------------------------------------------------------------------------------------------


def command_listing(options: argparse.Namespace) -> None:
    """Make what the page of the extension shows, then check what is to be filled in before it is published."""
    blender, browser = find_blender(options.blender_binary), find_browser()
    window_tools()
    if browser is None or not shutil.which("xvfb-run"):
        raise MissingError("The listing needs xvfb-run and Chromium: apt install xvfb xauth chromium.")
    python = blender_environment(default_blender())
    target = DIST / "listing"
    shutil.rmtree(target, ignore_errors=True)
    with built_zip() as packed:
        made = ["--zip", packed, "--output", target, "--blender", blender, "--browser", browser]
        if run([python, ROOT / "docs" / "listing" / "make_listing.py", *made], this_checkout()) != 0:
            raise FailedError("The listing failed.")
    for path in sorted(target.iterdir()):
        say(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")
    for missing in unpublishable():
        say(f"Before publishing: {missing}")


def find_browser() -> str | None:
    """Return the path of a Chromium; None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def unpublishable() -> list[str]:
    """Return what the owner of the extension has to fill in before it can be published, a sentence each."""
    manifest, project = toml("blender_manifest.toml"), toml("pyproject.toml")["project"]
    missing = []
    if not str(manifest.get("website", "")).startswith("https://"):
        missing.append(
            "set `website` in blender_manifest.toml to the page of the project, which names its issue tracker."
        )
    if "@" not in manifest["maintainer"]:
        missing.append("set `maintainer` in blender_manifest.toml to a name and an address: `Name <name@domain>`.")
    if not {"Homepage", "Issues"} <= set(project.get("urls", {})):
        missing.append("set `Homepage` and `Issues` in [project.urls] of pyproject.toml.")
    return missing


# --- test -----------------------------------------------------------------------------------------------------------

FAST = ("-m", "not slow")
FIRST_CASES = ("-m", "not slow and not repeated")
"""With the oldest Blender: what its numpy lacks or does otherwise shows in one case of each test of the engine, and the
numbers of many sizes and poses are tried with two newer ones. Of the add-on all cases run with each Blender."""
SLOW = ("-m", "slow")
PARALLEL = ("-n", "auto", "--maxprocesses", str(MAX_WORKERS), "--dist", "worksteal")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""For tests in parallel: threads of numpy that wait for work take a third of the time of such processes."""
THREE_WINDOWS = ("-n", "3", "--dist", "loadfile")
"""A window waits more than it computes: three at a time, each on a display of its own."""


class TestRun(NamedTuple):
    """One run of pytest: what it tests, the command, and variables for it."""

    what: str
    command: list[str | Path]
    variables: dict[str, str]


def pytest_arguments(words: Sequence[str], *default: str) -> list[str]:
    """Return the arguments of pytest; where `words` name tests, those run, slow ones too, without `default`."""
    names_tests = any(not word.startswith("-") and (ROOT / word.split("::")[0]).exists() for word in words)
    return [*words] if names_tests else [*default, *words]


def core_environment() -> Path:
    """Return the Python of an environment with the test tools and without Blender."""
    return light_environment("core", ["numpy", *extra("test")], "the tests of the engine")


def core_tests(words: Sequence[str]) -> TestRun:
    """Return the tests of the engine, without Blender."""
    arguments = pytest_arguments(words, "tests/core", "tests/promises", *PARALLEL, *FAST)
    command = [core_environment(), "-m", "pytest", *arguments]
    return TestRun("the engine without Blender", command, {**this_checkout(), **ONE_THREAD})


def module_tests(blender: str, selection: Sequence[str], words: Sequence[str]) -> TestRun:
    """Return all tests that need no window, with Blender as a module."""
    python = blender_environment(blender)
    _, numpy = output_of([python, "-c", "import numpy; print(numpy.__version__)"])
    what = f"Blender {blender} as a module, Python {BLENDERS[blender].python}, numpy {numpy.strip()}"
    # Of the tools only the archives depend on Blender.
    tooling = "tests/tooling" if blender == default_blender() else "tests/tooling/test_package.py"
    arguments = pytest_arguments(words, "tests/core", "tests/promises", "tests/blender", tooling, *PARALLEL, *selection)
    return TestRun(what, [python, "-m", "pytest", *arguments], {**this_checkout(), **ONE_THREAD})


def background_tests(binary: str, words: Sequence[str]) -> TestRun:
    """Return the fast Blender tests inside an installed Blender, without a window."""
    blender, python = blender_python(binary)
    command = [binary, "-b", "--factory-startup", "--python-exit-code", "1", "-P", ROOT / "tests" / "run_in_blender.py"]
    arguments = ["--", *pytest_arguments(words, "tests/blender", *FAST)]
    variables = {"PYTHONPATH": str(pytest_for(python))}
    return TestRun(f"Blender {blender} installed, in the background", [*command, *arguments], variables)


def window_tests(binary: str, words: Sequence[str]) -> TestRun:
    """Return the tests that click in a real Blender window."""
    blender, _ = blender_python(binary)
    own_displays = THREE_WINDOWS if shutil.which("xvfb-run") else ()
    command = [core_environment(), "-m", "pytest", *pytest_arguments(words, "tests/gui", *own_displays)]
    return TestRun(f"Blender {blender} installed, in a window", command, {"BLENDER": binary})


def find_blender(given: str | None) -> str:
    """Return the `blender` program from --blender-binary, $BLENDER or PATH."""
    wanted = given or os.environ.get("BLENDER") or "blender"
    found = shutil.which(wanted)
    if found is None:
        raise MissingError(
            f"There is no Blender program {wanted!r}: name one with --blender-binary, in $BLENDER, or put it on PATH."
        )
    return str(Path(found).absolute())


@cache
def blender_python(binary: str) -> tuple[str, str]:
    """Return the version of an installed Blender and of the Python inside it."""
    expression = "import bpy, sys; print('\\nVERSIONS=%s|%d.%d' % ((bpy.app.version_string,) + sys.version_info[:2]))"
    options = ["-b", "--factory-startup", "--python-exit-code", "1", "--python-expr", expression]
    code, output = output_of([binary, *options])
    found = re.search(r"^VERSIONS=(.*)\|(.*)$", output, re.MULTILINE)
    if code != 0 or not found:
        raise MissingError(f"{binary} does not start as Blender: {(output.strip().splitlines() or ['no output'])[-1]}")
    least = toml("blender_manifest.toml")["blender_version_min"]
    if [*map(int, re.findall(r"\d+", found[1])[:2])] < [*map(int, least.split(".")[:2])]:
        raise MissingError(f"{binary} is Blender {found[1]}: it has to be {least} or newer.")
    return found[1], found[2]


def window_tools() -> None:
    """Raise MissingError when there is no display for a window, or nothing that takes and reads pictures of it."""
    has_display = shutil.which("xauth") if shutil.which("xvfb-run") else os.environ.get("DISPLAY")
    if not has_display:
        raise MissingError("A window needs xvfb-run or a display: apt install xvfb xauth.")
    if not (shutil.which("import") and shutil.which("convert")) and not shutil.which("magick"):
        raise MissingError("Pictures of a window need ImageMagick: apt install imagemagick.")


def pytest_for(python_version: str) -> Path:
    """Return a folder with pytest for the Python inside an installed Blender, which has none."""
    folder = cache_folder("tools") / f"python{python_version}"
    if not (folder / "complete").is_file():
        say(f"Getting pytest for the Python {python_version} inside Blender (once) ...")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        options = ["--target", str(folder), "--python-version", python_version, "--only-binary=:all:"]
        pip(core_environment(), ["install", *options, "pytest>=8"], "pytest", folder.with_suffix(".log"))
        (folder / "complete").touch()
    return folder


def module_choices(options: argparse.Namespace) -> list[tuple[str, Sequence[str]]]:
    """Return which Blender versions to test as modules, each with a selection of tests."""
    chosen = list(dict.fromkeys(options.blender or [default_blender()]))
    if options.all:  # the slow tests once, on the first version
        return [(chosen[0], ()), *((blender, fast(blender)) for blender in BLENDERS if blender != chosen[0])]
    return [(blender, SLOW if options.slow else fast(blender)) for blender in chosen]


def fast(blender: str) -> Sequence[str]:
    """Return the selection of the fast tests for a Blender version."""
    return FIRST_CASES if blender == min(BLENDERS) else FAST


def test_runs(options: argparse.Namespace) -> list[TestRun]:
    """Return the runs that the options ask for, their environments made."""
    words: list[str] = options.pytest
    if options.core + options.slow + options.all + options.gui > 1:
        raise MissingError("--core, --slow, --all and --gui exclude each other.")
    if options.core:
        return [core_tests(words)]
    if options.gui:
        window_tools()
        return [window_tests(find_blender(options.blender_binary), words)]
    if options.blender_binary and not options.all:
        return [background_tests(find_blender(options.blender_binary), words)]
    choices = module_choices(options)
    for blender, _ in choices:  # a missing interpreter is reported before anything is downloaded
        find_python(BLENDERS[blender].python, f"Blender {blender}")
    runs = [module_tests(blender, selection, words) for blender, selection in choices]
    if options.all:
        runs += installed_tests(options.blender_binary, words)
    return runs


def installed_tests(given: str | None, words: Sequence[str]) -> list[TestRun]:
    """Return the runs in an installed Blender. What this machine lacks for them is an error if a Blender is named."""
    named = given or os.environ.get("BLENDER")

    def is_there(what: str, ask: Callable[[], object]) -> bool:
        try:
            ask()
        except MissingError as error:
            if named:
                raise
            say(f"Not tested in {what}. {error}")
            return False
        return True

    if not is_there("an installed Blender", lambda: blender_python(find_blender(given))):
        return []
    binary = find_blender(given)
    runs = [background_tests(binary, words)]
    if is_there("a window", window_tools):
        runs.append(window_tests(binary, words))
    return runs


def command_test(options: argparse.Namespace) -> None:
    summary, failed = [], []
    with built_zip() as packed:
        for what, command, variables in test_runs(options):
            say(f"\n--- {what}")
            start = time.monotonic()
            code = run(command, {"CONTACT_LENS_ZIP": str(packed), **variables})
            verdict = "passed" if code == 0 else "FAILED"
            summary.append(f"{verdict} in {time.monotonic() - start:6.1f} s: {what}")
            if code != 0:
                failed.append(f"{what} (exit code {code})")
    if len(summary) > 1:
        say("\n" + "\n".join(summary))
    if failed:
        raise FailedError(f"Tests failed: {'; '.join(failed)}")


# --- check ----------------------------------------------------------------------------------------------------------


def check_types(python: Path) -> tuple[int, str]:
    """Run mypy over the packed files. Return its exit code and output.

    mypy wants a package in a folder of the package's name, and the checkout may be called anything: it reads a copy.
    """
    with temporary_folder() as folder:
        for path in packed_paths():
            target = Path(folder) / "contact_lens" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, target)
        options = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache"]
        return output_of([python, "-m", "mypy", *options, "-p", "contact_lens"], {"MYPYPATH": folder}, folder)


def command_check(_: argparse.Namespace) -> None:
    python = light_environment("check", extra("check"), "the checks")
    ruff = [python, "-m", "ruff"]
    failed = []
    for what, (code, output) in (
        ("formatting", output_of([*ruff, "format", "--check", "--quiet", "--diff", "."])),
        ("lint", output_of([*ruff, "check", "--quiet", "."])),
        ("types", check_types(python)),
        ("metadata", output_of([python, "-m", "validate_pyproject", "pyproject.toml"])),
        ("fields", output_of([sys.executable, FIELD_TABLES, "--check"])),
        ("learn", output_of([python, LEARN / "make.py", "--check"], this_checkout())),
    ):
        say(f"{'ok    ' if code == 0 else 'FAILED'} {what}")
        if code != 0:
            failed.append(what)
            say(output)
    if failed:
        raise FailedError(f"Failed: {', '.join(failed)}.")


# --- learn ----------------------------------------------------------------------------------------------------------


def command_learn(options: argparse.Namespace) -> None:
    """Write the pages of the chapters, which need Python only, then the pictures, which need a browser."""
    python, browser = light_environment("check", extra("check"), "the chapters"), find_browser()
    arguments = ["--check"] if options.check else ["--pictures", browser] if browser else []
    if run([python, LEARN / "make.py", *arguments], this_checkout()) != 0:
        raise FailedError("The chapters, and what they are made of, disagree.")
    if browser is None and not options.check:
        raise MissingError("The pages are written; the pictures of their players need Chromium: apt install chromium.")


# --- docs -----------------------------------------------------------------------------------------------------------


def command_docs(_: argparse.Namespace) -> None:
    if run([sys.executable, FIELD_TABLES], {}) != 0:
        raise FailedError("The tables of fields could not be written.")
    python = light_environment("docs", extra("docs"), "the documentation")
    shutil.rmtree(DOCS_OUTPUT, ignore_errors=True)
    command = [python, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", DOCS_OUTPUT.with_name("doctrees")]
    if run([*command, ROOT / "docs", DOCS_OUTPUT], this_checkout()) != 0:
        raise FailedError("The documentation has warnings or errors.")
    for path in LEARN.glob(PACKED_PAGES):
        (DOCS_OUTPUT / LEARN.name).mkdir(exist_ok=True)
        shutil.copy2(path, DOCS_OUTPUT / LEARN.name)
    say(f"{(DOCS_OUTPUT / 'index.html').relative_to(ROOT)}")


# --- words -----------------------------------------------------------------------------------------------------------


def command_words(options: argparse.Namespace) -> None:
    """Print the strings of a checkout as a table; the tests read them in the same way."""
    if run([sys.executable, ROOT / "tests" / "tooling" / "user_strings.py", options.root], {}) != 0:
        raise FailedError("The strings cannot be read.")


# --- bench ----------------------------------------------------------------------------------------------------------


def command_bench(options: argparse.Namespace) -> None:
    """Run the benchmarks; peers that this machine cannot install are left out of the table and named.

    They want a newer numpy than Blender 4.5 supports, so they get an environment without Blender; what is to be
    measured in Blender is run by the Python that CONTACT_LENS_BLENDER_PYTHON names.
    """
    blender_python = blender_environment(default_blender())
    python = light_environment("bench", ["numpy", *extra("test")], "the benchmarks")
    log = python.parent.parent / "peers.log"
    for peer in extra("bench"):
        if output_of([python, "-m", "pip", "show", "--quiet", re.split(r"[<>=!~;\[ ]", peer)[0]])[0] != 0:
            say(f"Installing {peer} to compare with (once) ...")
            try:
                pip(python, ["install", peer], peer, log)
            except MissingError as error:
                say(f"  Left out: {error}")
    chosen = ["--only", "accuracy"] if options.accuracy else []
    chosen += ["--plots"] if options.plots else []
    with built_zip() as packed:
        variables = {"CONTACT_LENS_ZIP": str(packed), "CONTACT_LENS_BLENDER_PYTHON": str(blender_python)}
        code = run([python, "-m", "benchmarks", *chosen, *options.pytest], {**this_checkout(), **variables})
    if code != 0:
        raise FailedError("The benchmarks failed.")


# --- command line ---------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    description, _, details = (__doc__ or "").partition("\n")
    raw = argparse.RawDescriptionHelpFormatter
    main_parser = argparse.ArgumentParser("build.py", description=description, epilog=details, formatter_class=raw)
    commands = main_parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, function: object, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(function=function)
        return command

    build = add("build", command_build, "write the zip to dist, and the wheel and source distribution")
    text = "download Blender if there is none to validate the zip"
    build.add_argument("--validate", action="store_true", help=text)
    text = "validate with this Blender (default: $BLENDER, else one that an earlier command got, or `blender` on PATH)"
    build.add_argument("--blender-binary", metavar="PATH", help=text)
    demo = add(
        "demo", command_demo, "inspect a crate in a ramp, then Suzanne and a cube, or two objects of your own file"
    )
    demo.add_argument("--blend", metavar="FILE", help="a .blend file of your own")
    demo.add_argument("--objects", nargs=2, metavar=("A", "B"), help="names of two objects in it; A is the active one")
    test = add("test", command_test, "run the tests; what follows -- goes to pytest")
    for option, text in (
        ("--core", "only the engine, without Blender"),
        ("--slow", "only the slow tests, which are left out otherwise"),
        ("--all", "everything: slow tests, all Blender versions, and an installed Blender if there is one"),
        ("--gui", "only the tests in a window of an installed Blender"),
    ):
        test.add_argument(option, action="store_true", help=text)
    text = "on this Blender as a Python module; may be given several times (default: the one for this Python)"
    test.add_argument("--blender", action="append", choices=sorted(BLENDERS), help=text)
    text = "inside this installed Blender (--gui and --all: default $BLENDER, or `blender` on PATH)"
    test.add_argument("--blender-binary", metavar="PATH", help=text)
    listing = add(
        "listing", command_listing, "make icon, pictures and demo file of the extension's page in dist/listing"
    )
    text = "a Blender with a window (default: $BLENDER, or `blender` on PATH)"
    listing.add_argument("--blender-binary", metavar="PATH", help=text)
    add("check", command_check, "check formatting, lint, types, metadata, the tables of fields and the chapters")
    learn = add("learn", command_learn, "write the pages of docs/learn and take the pictures of their players")
    learn.add_argument("--check", action="store_true", help="write nothing, and fail where they are out of date")
    add("docs", command_docs, "write the API reference and the documents to build/docs")
    words = add("words", command_words, "print every string that a user can read, with its place and kind")
    words.add_argument("--root", metavar="PATH", type=Path, default=ROOT, help="of another checkout, to compare with")
    bench = add("bench", command_bench, "run the benchmarks; what follows -- goes to them")
    text = "only how right the libraries are: docs/accuracy.md's table"
    bench.add_argument("--accuracy", action="store_true", help=text)
    text = "only how the cost of a scene grows: docs/performance.md's picture"
    bench.add_argument("--plots", action="store_true", help=text)
    return main_parser


def main(arguments: list[str]) -> int:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser().parse_args(arguments[:end])
    options.pytest = arguments[end + 1 :]
    if options.pytest and options.function not in (command_test, command_bench):
        parser().error("only test and bench take arguments after --")
    try:
        options.function(options)
    except (MissingError, FailedError) as error:
        if str(error):
            print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"{error.filename or 'A file'}: {error.strerror or error}.", file=sys.stderr)
        return MissingError.exit_code
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - to say so in one sentence instead of a traceback
        print(f"build.py needs CPython 3.11 or newer; this is Python {platform.python_version()}.", file=sys.stderr)
        sys.exit(MissingError.exit_code)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a path may have letters that the console has not
    sys.exit(main(sys.argv[1:]))
