# SPDX-License-Identifier: GPL-3.0-or-later
"""build.py where things go wrong: one clear sentence and the right exit code, on machines that lack something."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..schemas import read_json

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def build(load_build: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """build.py as a module, its cache in a folder of the test's own."""
    module = load_build()
    monkeypatch.setenv("CONTACT_LENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BLENDER", raising=False)
    monkeypatch.setattr(module, "DIST", tmp_path / "dist")
    monkeypatch.setattr(module, "DOWNLOAD_PAUSES", (0.0, 0.0))
    return module


def sentence(captured: Any) -> str:
    """The one line on standard error."""
    lines = captured.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return str(lines[0])


def fake_pip(folder: Path, says: str, code: int = 1) -> Path:
    """A `python` whose pip says something and counts how often it was asked."""
    program = folder / "python"
    program.write_text(
        f"#!{sys.executable}\nopen({str(folder / 'asked')!r}, 'a').write('x')\nprint({says!r})\nexit({code})\n"
    )
    program.chmod(0o755)
    return program


def no_network(build: ModuleType) -> Callable[..., None]:
    """A pip that cannot download anything."""

    def pip(*_: object) -> None:
        raise build.MissingError("no network.")

    return pip


def test_the_zip_has_the_same_bytes_whatever_times_and_permissions_this_machine_has(
    build: ModuleType, tmp_path: Path
) -> None:
    first, second = (build.write_zip(tmp_path / name) for name in ("first.zip", "second.zip"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    fixed = {(entry.date_time, entry.external_attr >> 16, entry.compress_type) for entry in entries}
    assert fixed == {((1980, 1, 1, 0, 0, 0), 0o100644, zipfile.ZIP_DEFLATED)}


@pytest.mark.parametrize("command", ["demo", "test", "build --validate", "bench"])
def test_a_python_without_a_blender_module_names_those_that_have_one(
    build: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
) -> None:
    monkeypatch.setattr(build, "running_python", lambda: "3.12")
    monkeypatch.setattr(build, "interpreter_candidates", lambda version: iter([["no-such-python"]]))
    monkeypatch.setattr(build, "DEMO_OUTPUT", tmp_path / "demo")
    monkeypatch.setenv("PATH", "")
    assert build.main(command.split()) == 2
    said = sentence(capsys)
    assert "CPython 3.11 (Blender 4.5 LTS)" in said
    assert "CPython 3.13 (Blender 5.2 LTS)" in said
    assert not (tmp_path / "dist").exists(), "what is not validated is not left in dist"


@pytest.mark.parametrize(
    ("running", "there", "taken"),
    [
        ("3.11", {"3.11", "3.13"}, "4.5"),
        ("3.13", {"3.11", "3.13"}, "5.2"),
        ("3.12", {"3.11", "3.13"}, "5.2"),
        ("3.14", {"3.11"}, "4.5"),
    ],
)
def test_a_python_without_a_blender_module_uses_another_one_of_the_machine(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, running: str, there: set[str], taken: str
) -> None:
    def find_python(version: str, reason: str) -> str:
        if version not in there:
            raise build.MissingError("not here")
        return f"python{version}"

    monkeypatch.setattr(build, "running_python", lambda: running)
    monkeypatch.setattr(build, "find_python", find_python)
    assert build.default_blender() == taken


def test_a_zip_that_blenders_validator_rejects_is_not_left_in_dist(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def reject(tool: object, command: str, path: Path) -> None:
        raise build.FailedError("Blender's validator rejects it.")

    monkeypatch.setattr(build, "cached_blender", lambda requirements=(): Path(sys.executable))
    monkeypatch.setattr(build, "extension_tool", lambda python: [python])
    monkeypatch.setattr(build, "use_extension_tool", reject)
    monkeypatch.setattr(build, "build_distributions", lambda python, folder: [])
    assert build.main(["build"]) == 1
    assert not list(tmp_path.glob("dist/*"))
    monkeypatch.setattr(build, "use_extension_tool", lambda tool, command, path: None)
    assert build.main(["build"]) == 0
    assert [path.name for path in tmp_path.glob("dist/*")] == [f"contact_lens-{build.version()}.zip"]


def test_the_zip_needs_the_standard_library_only(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a Blender nor the network, which the wheel needs: that it is missing is said, and no old one is left."""
    imported = re.findall(r"^ *(?:import|from) (\w+)", (ROOT / "build.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(build, "pip", no_network(build))
    zip_name, wheel_name = (f"contact_lens-{build.version()}{end}" for end in (".zip", "-py3-none-any.whl"))
    build.DIST.mkdir()
    (build.DIST / wheel_name).write_text("of an earlier run")
    assert build.main(["build"]) == 2
    assert [path.name for path in build.DIST.iterdir()] == [zip_name]
    captured = capsys.readouterr()
    skipped, written, *_ = captured.out.splitlines()
    assert re.match(r"Not validated \(--validate .*\)\. There is no Blender program 'blender': name one with", skipped)
    assert f"{zip_name}: " in written
    assert "not validated" in written
    assert captured.err == "The zip is in dist, without the wheel and the source distribution: no network.\n"


@pytest.mark.skipif(os.name == "nt", reason="the Blenders are scripts with a #! line")
@pytest.mark.parametrize(
    ("version", "words", "code", "verdict"),
    [
        ("5.0.1", [], 0, "valid in Blender 5.0.1"),
        ("3.4.1", [], 0, "not validated"),
        ("3.4.1", ["--blender-binary", "blender"], 2, ""),
        ("no version", ["--blender-binary", "blender"], 2, ""),
    ],
)
def test_a_zip_is_validated_by_an_installed_blender_that_is_new_enough(
    build: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    version: str,
    words: list[str],
    code: int,
    verdict: str,
) -> None:
    program = tmp_path / "blender"
    program.write_text(f'#!/bin/sh\necho "VERSIONS={version}|3.13"\necho "$@" >> "{tmp_path / "asked"}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(build, "light_environment", lambda *_: Path(sys.executable))
    monkeypatch.setattr(build, "build_distributions", lambda python, folder: [])
    assert build.main(["build", *words]) == code
    captured = capsys.readouterr()
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert ("--command extension validate" in asked) == verdict.startswith("valid")
    if code == 0:
        assert f"bytes, {verdict}, sha256" in captured.out
    else:
        assert not build.DIST.exists()
    if version == "3.4.1":
        assert "is Blender 3.4.1: it has to be 4.2.0 or newer." in captured.out + captured.err


@pytest.mark.parametrize(
    ("lacking", "words", "expected"),
    [
        ("interpreter", ["--blender", "5.2"], "Blender 5.2 needs CPython 3.13, .*uv python install 3.13"),
        ("disk", ["--blender", "4.5"], "needs 2.6 GB of free disk"),
        ("cache", ["--blender", "4.5"], "set CONTACT_LENS_CACHE"),
        ("Blender", ["--blender-binary", "no-such-blender"], "no Blender program 'no-such-blender'"),
    ],
)
def test_what_the_machine_lacks_is_reported_before_anything_is_downloaded(
    build: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    lacking: str,
    words: list[str],
    expected: str,
) -> None:
    usage = namedtuple("usage", "total used free")
    if lacking == "interpreter":
        monkeypatch.setattr(build, "interpreter_candidates", lambda version: iter([["no-such-python"]]))
    else:
        monkeypatch.setattr(build, "find_python", lambda version, reason: sys.executable)
    if lacking == "disk":
        monkeypatch.setattr(build.shutil, "disk_usage", lambda path: usage(10**12, 10**12, 10**9))
    if lacking == "cache":
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("CONTACT_LENS_CACHE", str(tmp_path / "file"))
    assert build.main(["test", *words]) == 2
    assert re.search(expected, sentence(capsys))


@pytest.mark.slow
def test_a_missing_network_is_tried_three_times_and_reported_in_one_sentence(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")  # the discard port: nobody answers
    monkeypatch.setenv("PIP_RETRIES", "0")  # pip alone would not say why
    monkeypatch.setenv("PIP_QUIET", "3")
    monkeypatch.setattr(build, "PIP_RETRIES", "1")
    monkeypatch.setattr(build, "find_python", lambda version, reason: sys.executable)
    monkeypatch.setattr(build, "BYTES_PER_ENVIRONMENT", 0)
    assert build.main(["test", "--blender", "4.5"]) == 2
    captured = capsys.readouterr()
    assert captured.out.count("trying again") == 2
    assert "could not be downloaded in 3 tries: check the network" in captured.err
    assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="the fake pip is a script with a #! line")
@pytest.mark.parametrize(
    ("output", "sentence", "tries"),
    [
        ("OSError: [Errno 28] No space left on device", "no space left on the disk", 1),
        ("ERROR: No matching distribution found for bpy==4.5.*", "The package index has no", 1),
        ("ReadTimeoutError: Read timed out.", "could not be downloaded in 3 tries", 3),
        ("something else", "pip could not install", 1),
    ],
)
def test_pips_output_becomes_one_sentence(
    build: ModuleType, tmp_path: Path, output: str, sentence: str, tries: int
) -> None:
    with pytest.raises(build.MissingError, match=sentence):
        build.pip(fake_pip(tmp_path, output), ["install", "bpy"], "Blender", tmp_path / "pip.log")
    assert (tmp_path / "asked").read_text() == "x" * tries


@pytest.fixture
def without_pip(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments are made in a moment: nothing is installed into them, not even pip."""
    output_of = build.output_of

    def fast(command: list[str], *more: object) -> tuple[int, str]:
        return tuple(output_of([*command, "--without-pip"] if "venv" in command else command, *more))

    monkeypatch.setattr(build, "output_of", fast)
    monkeypatch.setattr(build, "pip", lambda *_: None)


def environment(build: ModuleType, *requirements: str) -> Path:
    """The folder of an environment of the running Python."""
    python: Path = build.environment("some", build.running_python(), requirements, "some packages")
    return python.parent.parent


@pytest.mark.usefixtures("without_pip")
def test_an_environment_is_reused_while_it_fits(build: ModuleType) -> None:
    mark = environment(build, "a") / "mark"
    mark.touch()
    environment(build, "a")
    assert mark.exists()
    environment(build, "a", "b")
    assert not mark.exists(), "other requirements, another environment"
    mark.touch()
    environment(build, "a")
    assert mark.exists(), "more than is wanted fits"
    assert build.output_of([build.python_in(environment(build, "a")), "-c", ""])[0] == 0


@pytest.mark.usefixtures("without_pip")
@pytest.mark.parametrize("problem", ["download", "swap"])
def test_an_environment_that_cannot_be_made_leaves_the_earlier_one(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    folder = environment(build, "a")
    (folder / "mark").touch()
    with monkeypatch.context() as broken:
        if problem == "download":
            broken.setattr(build, "pip", no_network(build))
        else:
            rename = Path.rename
            broken.setattr(Path, "rename", lambda path, to: rename(path, Path() if path.name == "made" else to))
        with pytest.raises(build.MissingError):
            environment(build, "a", "b")
    assert environment(build, "a") == folder
    assert (folder / "mark").exists()
    assert [path for path in folder.parent.iterdir() if path.is_dir()] == [folder], "nothing half-made is left"


@pytest.mark.usefixtures("without_pip")
def test_the_newest_blender_that_is_there_is_taken(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_python", lambda version, reason: sys.executable)
    monkeypatch.setattr(build, "BYTES_PER_ENVIRONMENT", 0)
    assert build.cached_blender() is None
    assert not build.cache_path("environments").exists(), "nothing is made by looking"
    pythons = {version: build.blender_environment(version) for version in ("4.5", "4.2")}
    assert build.cached_blender() == build.cached_blender(build.PACKERS) == pythons["4.5"]
    assert build.cached_blender(["something else"]) is None
    shutil.rmtree(pythons["4.5"].parent)
    assert build.cached_blender() == pythons["4.2"]


@pytest.mark.usefixtures("without_pip")
def test_an_environment_reports_how_large_it_became_and_on_a_terminal_while_it_is_made(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks, size_of = threading.Semaphore(0), build.size_of

    def look(folder: Path) -> int:
        looks.release()
        return size_of(folder)

    def download(python: Path, *_: object) -> None:
        (python.parent / "large").write_bytes(bytes(3_000_000))
        if sys.stdout.isatty():
            assert all(looks.acquire(timeout=60.0) for _ in range(4)), "one is of the environment before"

    monkeypatch.setattr(build, "size_of", look)
    monkeypatch.setattr(build, "pip", download)
    monkeypatch.setattr(build, "PROGRESS_PAUSE", 0.02)
    monkeypatch.setattr(build, "find_python", lambda version, reason: sys.executable)
    environment(build, "a")
    began, ended = capsys.readouterr().out.splitlines()
    assert began.endswith("(once) ...")
    assert re.fullmatch(r"  \d+ MB after \d+ s\.", ended)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    build.blender_environment("4.5")
    began, *shown = re.split(r"[\r\n]+", capsys.readouterr().out.strip())
    assert began.endswith("(once, about 1.3 GB) ...")
    assert len(shown) > 2
    assert all(re.fullmatch(r" *\d+ MB after \d+ s\.?", line) for line in shown)


@pytest.mark.usefixtures("without_pip")
def test_an_environment_fits_the_minor_version_of_python(build: ModuleType) -> None:
    folder = environment(build, "a")
    assert build.fits(folder, {"python": build.running_python(), "requirements": ["a"]})
    assert not build.fits(folder, {"python": "3.8", "requirements": ["a"]})


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ([], [("4.5", True, ("not slow",))]),
        (["--slow"], [("4.5", True, ("slow",))]),
        (
            ["--blender", "4.2", "--blender", "5.2"],
            [("4.2", True, ("not slow and not repeated",)), ("5.2", True, ("not slow",))],
        ),
        (["--all"], [("4.5", True, ()), ("4.2", True, ("not slow and not repeated",)), ("5.2", True, ("not slow",))]),
        (["--", "-x"], [("4.5", True, ("not slow",))]),
        (["--", "tests/core/narrow_phase/test_gjk.py"], [("4.5", False, ())]),
    ],
)
def test_which_tests_run(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, words: list[str], runs: list[tuple[str, bool, tuple[str, ...]]]
) -> None:
    """Slow tests only where asked for, on one version; those that are named as they are, in one process."""
    commands: list[list[str]] = []
    monkeypatch.setattr(build, "default_blender", lambda: "4.5")
    monkeypatch.setattr(build, "find_python", lambda version, reason: sys.executable)
    monkeypatch.setattr(build, "blender_environment", lambda version: Path(version))
    monkeypatch.setattr(build, "run", lambda command, variables: commands.append([str(word) for word in command]) or 0)
    monkeypatch.setattr(build, "find_blender", lambda given: (_ for _ in ()).throw(build.MissingError("none")))
    monkeypatch.delenv("BLENDER", raising=False)
    assert build.main(["test", *words]) == 0
    selections = [tuple(command[i + 1] for i in range(3, len(command)) if command[i] == "-m") for command in commands]
    assert [(command[0], "-n" in command, s) for command, s in zip(commands, selections, strict=True)] == runs


def test_tests_in_a_window_need_a_display_and_imagemagick(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nobody has asked for them, they are left out, which is said."""
    there: set[str] = {"blender"}
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(build.shutil, "which", lambda name: f"/bin/{name}" if name in there else None)
    monkeypatch.setattr(build, "blender_python", lambda binary: ("5.2.0", "3.13"))
    monkeypatch.setattr(build, "pytest_for", lambda version: Path(version))
    monkeypatch.setattr(build, "core_environment", lambda: Path(sys.executable))
    assert build.main(["test", "--gui"]) == 2
    assert sentence(capsys).startswith("A window needs xvfb-run or a display: ")
    assert [run.what for run in build.installed_tests(None, [])] == ["Blender 5.2.0 installed, in the background"]
    assert capsys.readouterr().out.startswith("Not tested in a window. A window needs xvfb-run or a display: ")
    with pytest.raises(build.MissingError):
        build.installed_tests("blender", [])
    there |= {"xvfb-run", "xauth", "import"}
    assert len(build.installed_tests(None, [])) == 1
    assert "Pictures of a window need ImageMagick: " in capsys.readouterr().out
    there |= {"magick"}
    assert len(build.installed_tests(None, [])) == 2
    assert capsys.readouterr().out == ""


def test_each_checkout_imports_its_own_files(build: ModuleType, tmp_path: Path) -> None:
    """Two checkouts that use the same environment at the same time do not see each other."""
    other = tmp_path / "another name"
    shutil.copytree(ROOT / "tests" / "tooling" / "checkout", other / "tests" / "tooling" / "checkout")
    (other / "core").mkdir()
    (other / "core" / "__init__.py").touch()
    shutil.copy(ROOT / "__init__.py", other)
    for checkout in (ROOT, other):
        build.ROOT = checkout
        question = (
            "import contact_lens, contact_lens.core as core; print(contact_lens.__file__, core.__file__, sep='|')"
        )
        code, said = build.output_of([sys.executable, "-c", question], build.this_checkout(), tmp_path)
        assert (code, said.strip()) == (0, f"{checkout / '__init__.py'}|{checkout / 'core' / '__init__.py'}")


def test_help_names_every_command() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "build.py"), "--help"], capture_output=True, text=True, check=True
    )
    for command in ("build", "demo", "test", "check", "docs", "bench"):
        assert f"build.py {command}" in done.stdout


def test_the_demo_reports_a_folder_that_cannot_be_written(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "build").write_text("a file in the way")
    monkeypatch.setattr(build, "DEMO_OUTPUT", tmp_path / "build" / "demo")
    assert build.main(["demo"]) == 2
    said = sentence(capsys)
    assert str(tmp_path / "build") in said
    assert said.endswith(".")


@pytest.fixture
def demo(build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """build.py whose demo runs in the Python of the tests, where Blender is a module."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("the demo needs Blender as a module")
    monkeypatch.setattr(build, "DEMO_OUTPUT", tmp_path / "demo")
    monkeypatch.setattr(build, "blender_environment", lambda blender: Path(sys.executable))
    return build


@pytest.fixture
def many_objects(tmp_path: Path) -> Path:
    """A file with the empties E00 to E29."""
    path = tmp_path / "many.blend"
    script = (
        "import sys, bpy\n"
        "bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)\n"
        "for i in range(30):\n"
        "    bpy.context.scene.collection.objects.link(bpy.data.objects.new(f'E{i:02}', None))\n"
        "bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True)
    return path


@pytest.mark.slow
def test_the_demo_inspects_the_crate_of_the_readme_and_then_suzanne(demo: ModuleType) -> None:
    assert demo.main(["demo"]) == 0
    crate, suzanne = (
        read_json((demo.DEMO_OUTPUT / f"{name}.json").read_text(encoding="utf-8")) for name in ("contact", "suzanne")
    )
    assert [report["objects"]["a"]["name"] for report in (crate, suzanne)] == ["Ramp", "Suzanne"]
    assert [report["contact"]["relation"] for report in (crate, suzanne)] == ["penetrating"] * 2
    assert crate["contact"]["depth"] == pytest.approx(0.4, abs=1e-6), "as in the picture"


@pytest.mark.slow
def test_the_demo_names_a_few_objects_when_the_one_asked_for_is_missing(
    demo: ModuleType, many_objects: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["demo", "--blend", str(many_objects), "--objects", "Nobody", "E00"]) == 1
    reported = capfd.readouterr().err
    assert "has no object 'Nobody'; it has: E00, E01, " in reported
    assert "E09 and 20 more." in reported
    assert "E10" not in reported


@pytest.mark.slow
def test_the_demo_wants_two_objects_and_leaves_your_own_file_alone_even_where_its_results_go(
    demo: ModuleType, many_objects: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    demo.DEMO_OUTPUT.mkdir()
    own = many_objects.rename(demo.DEMO_OUTPUT / many_objects.name)
    (demo.DEMO_OUTPUT / "contact.json").write_text("of an earlier run")
    assert demo.main(["demo", "--blend", str(own), "--objects", "E00", "E00"]) == 1
    assert "--objects names 'E00' twice: name two different objects." in capfd.readouterr().err
    assert own.is_file()
    assert not (demo.DEMO_OUTPUT / "contact.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_the_demo_reports_a_full_disk(
    demo: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = demo.run

    def run_on_a_full_disk(command: list[object], environment: dict[str, str]) -> int:
        (demo.DEMO_OUTPUT / "contact.json").symlink_to("/dev/full")
        return int(run(command, environment))

    monkeypatch.setattr(demo, "run", run_on_a_full_disk)
    assert demo.main(["demo"]) == 2
    assert sentence(capfd) == "Cannot write the results: No space left on device."
