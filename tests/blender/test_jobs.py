# SPDX-License-Identifier: GPL-3.0-or-later
"""`check --jobs`: several processes write the reports of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import bpy
import pytest

from .farms import moving_cube
from .processes import environment_of, in_process, installed, modules_of
from .reports import run
from .scenes import part, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")

LINUX = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are listed in /proc of Linux")
REPORTS = ("--json", "out.json", "--csv", "out.csv", "--html", "out.html", "--pictures", "1")


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    return moving_cube(tmp_path)


@pytest.fixture
def slow_file(tmp_path: Path) -> Path:
    """A scene that takes long to check: a chain of rings."""
    bpy.ops.mesh.primitive_torus_add(major_segments=48, minor_segments=24)
    ring = bpy.context.object
    for k in range(1, 60):
        other = ring.copy()
        other.location.x, other.rotation_euler.x = 1.6 * k, 1.5 * (k % 2)
        bpy.context.scene.collection.objects.link(other)
    return save_scene(tmp_path / "slow.blend")


@pytest.fixture
def variables(addon: ModuleType, tmp_path: Path) -> dict[str, str]:
    """Variables of a process in which `python -m contact_lens` is the add-on."""
    if bpy.app.binary_path:
        pytest.skip("this is about the bpy module")
    (tmp_path / "profile").mkdir()
    return {"PYTHONPATH": str(modules_of(addon, tmp_path))}


@pytest.mark.parametrize("word", ["--command", "-c"])
def test_parts_are_started_with_the_options_of_blender(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = part("blender_addon.commands.jobs")
    blender = SimpleNamespace(app=SimpleNamespace(binary_path="/opt/blender"))
    monkeypatch.setattr(jobs, "bpy", blender)
    monkeypatch.setattr(sys, "argv", ["blender", "-b", "room.blend", word, "contact_lens", "check", "--jobs", "2"])
    assert jobs.launch() == ["/opt/blender", "-b", "room.blend", word, "contact_lens"]


@pytest.mark.parametrize(
    ("files", "frames", "jobs", "expected"),
    [
        ("a", None, 2, [["--shard", "1/2"], ["--shard", "2/2"]]),
        ("a", [7], 2, [["--shard", "1/2"], ["--shard", "2/2"]]),
        ("a", [1, 2, 3, 4, 5], 2, [["--only-frames=1-2"], ["--only-frames=3-5"]]),
        ("a", [9, 1, 5], 3, [["--only-frames=9"], ["--only-frames=1"], ["--only-frames=5"]]),
        ("abc", None, 2, [["--only-files", "/a"], ["--only-files", "/b", "/c"]]),
        ("abc", [7, 8], 2, [["--only-frames=7"], ["--only-frames=8"]]),
        ("abc", [7], 2, [["--shard", "1/2"], ["--shard", "2/2"]]),
        ("aba", None, 2, [["--shard", "1/2"], ["--shard", "2/2"]]),
    ],
)
def test_frames_or_files_are_divided_and_pairs_where_there_are_fewer(
    files: str, frames: list[int] | None, jobs: int, expected: list[list[str]]
) -> None:
    """If a file is named twice, pairs are divided, not files."""
    expected = [[os.path.abspath(word) if word.startswith("/") else word for word in words] for words in expected]
    paths = [os.path.abspath(f"/{name}") for name in files]
    assert part("blender_addon.commands.jobs").restrictions(paths, frames, jobs) == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--jobs", "0"], "--jobs: expected a number of 1 or more, not '0'"),
        (["--jobs", "100000"], "--jobs: at most 1,000"),
        (["--jobs", "2", "--shard", "1/2", "--json", "part.json"], "--jobs cannot be combined"),
        (["--jobs", "2", "--json", "my room.blend"], "my room.blend"),
        (["--jobs", "2", "--fail-on", "new"], "--fail-on new needs a report to compare with"),
        (["--jobs", "2", "--pictures", "-1"], "--pictures: expected a number of 0 or more, not '-1'"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_started(
    scene_file: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scene_file.parent)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert run("my room.blend", "--frames", "1-6", *options) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("sys.exit(2)", []),
        ("sys.exit(7)", ["part 2 ended with exit code 7"]),
        ("os.abort()", ["part 2 ended with exit code 3" if os.name == "nt" else "part 2 was ended by SIGABRT"]),
    ],
)
def test_a_part_that_fails_ends_the_others(end: str, said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    jobs = part("blender_addon.commands.jobs")
    programs = {"1": "import time; time.sleep(60)", "2": f"import os, sys; print('why', file=sys.stderr); {end}"}
    commands = {name: ([sys.executable, "-c", program], "no report") for name, program in programs.items()}
    begin = time.monotonic()
    assert jobs._check_parts(commands, SimpleNamespace(timeout=None, quiet=True)) == 2
    assert time.monotonic() - begin < 30.0
    err = capsys.readouterr().err
    assert all(words in err for words in ["why", *said])
    assert "part 1" not in err


def test_a_part_that_hangs_is_ended_when_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = part("blender_addon.commands.jobs")
    monkeypatch.setattr(jobs, "GRACE", 0.5)
    hang = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    begin = time.monotonic()
    commands = {"1": ([sys.executable, "-c", hang], "no report")}
    assert jobs._check_parts(commands, SimpleNamespace(timeout=1.0, quiet=True)) == 3
    assert time.monotonic() - begin < 30.0
    assert "stopped: there is no report" in capsys.readouterr().err


def test_what_a_part_has_started_does_not_hold_its_end_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of the file may start a program that goes on, and has the streams of the part."""
    jobs = part("blender_addon.commands.jobs")
    monkeypatch.setattr(jobs, "GRACE", 0.5)
    program = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(15)'])"
    begin = time.monotonic()
    commands = {"1": ([sys.executable, "-c", program], "no report")}
    assert jobs._check_parts(commands, SimpleNamespace(timeout=None, quiet=True)) == 0
    assert time.monotonic() - begin < 10.0


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--frames", "1-6"], ["--frames", "3,4", "--verify", "--clearance", "2"]])
def test_reports_and_output_are_those_of_one_process(
    scene_file: Path, variables: dict[str, str], options: list[str]
) -> None:
    folder, found = scene_file.parent, []
    for jobs in ([], ["--jobs", "3"]):
        command = [sys.executable, "-m", "contact_lens", "check", "my room.blend", *options, *jobs, *REPORTS]
        code, out, err = in_process(command, folder, **variables)
        assert code == 1, err
        reports = {kind: (folder / f"out.{kind}").read_bytes() for kind in ("json", "csv", "html")}
        for kind in reports:
            (folder / f"out.{kind}").unlink()
        found.append((reports, [line for line in out.splitlines() if "Read blend" not in line]))  # Blender says that
    assert found[0] == found[1]


@pytest.mark.slow
def test_jobs_of_an_installed_blender(packed: Path, scene_file: Path, tmp_path: Path) -> None:
    binary = installed(packed, tmp_path)
    check = ["--command", "contact_lens", "check", "--frames", "1-6"]
    for name, jobs in (("one.json", []), ("two.json", ["--jobs", "2"])):
        command = [binary, "-b", str(scene_file), *check, *jobs, "--json", name]
        code, out, err = in_process(command, tmp_path)
        assert code == 1, out + err
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def processes_with(*words: str) -> list[int]:
    """The processes whose command lines have all these words."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:  # it has ended
                continue
            if set(words) <= set(line):
                found.append(int(folder.name))
    return found


@contextmanager
def while_it_runs(file: Path, variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A check in two processes, when both run."""
    command = [sys.executable, "-m", "contact_lens", "check", str(file), "--exact", "--jobs", "2", "--json", "out.json"]
    with subprocess.Popen(
        command,
        cwd=file.parent,
        env=environment_of(file.parent, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        end = time.monotonic() + 60.0
        while not (processes_with(str(file), "1/2") and processes_with(str(file), "2/2")):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield running
        running.kill()


@LINUX
@pytest.mark.slow
def test_ctrl_c_stops_all_processes(slow_file: Path, variables: dict[str, str]) -> None:
    with while_it_runs(slow_file, variables) as running:
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"stopped: there is no report" in err
    assert not processes_with(str(slow_file))
    assert not (slow_file.parent / "out.json").exists()


@LINUX
@pytest.mark.slow
def test_a_process_that_dies_is_named(slow_file: Path, variables: dict[str, str]) -> None:
    with while_it_runs(slow_file, variables) as running:
        (second,) = processes_with(str(slow_file), "2/2")
        os.kill(second, signal.SIGKILL)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 2
    assert b"part 2 (--shard 2/2) was ended by SIGKILL" in err
    assert b"part 1" not in err, "the other was stopped because of it"
    assert not processes_with(str(slow_file))
    assert not (slow_file.parent / "out.json").exists()


@LINUX
@pytest.mark.slow
def test_processes_end_when_the_one_that_started_them_is_killed(slow_file: Path, variables: dict[str, str]) -> None:
    with while_it_runs(slow_file, variables) as running:
        running.kill()
        running.wait()
        end = time.monotonic() + 60.0
        while processes_with(str(slow_file)):
            assert time.monotonic() < end
            time.sleep(0.2)
