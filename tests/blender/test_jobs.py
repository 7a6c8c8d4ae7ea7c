# SPDX-License-Identifier: GPL-3.0-or-later
"""`check --jobs`: several processes write the reports of one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from .farms import moving_cube
from .processes import environment_of, in_process, installed, modules_of, wait_until
from .reports import load_report, outputs, run
from .scenes import lens, save_scene

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
    jobs = lens.commands.jobs
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
    assert lens.commands.jobs.restrictions(paths, frames, jobs) == expected


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


def test_a_report_that_cannot_be_written_is_reported_before_anything_is_started(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "out.json"
    Path(f"{report}.partial").mkdir()  # as root, for whom all folders can be written
    monkeypatch.setattr(subprocess, "Popen", None)
    assert run(scene_file, "--jobs", "2", "--json", report) == 2
    assert f"{report}.partial" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("sys.exit(7)", "part 2 ended with exit code 7"),
        ("os.abort()", "part 2 ended with exit code 3" if os.name == "nt" else "part 2 was killed by SIGABRT"),
    ],
)
def test_a_part_that_dies_ends_no_other(
    end: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = lens.commands.jobs
    report = tmp_path / "1.json"
    programs = {
        "1": f"import pathlib, time; time.sleep(1.0); pathlib.Path({str(report)!r}).touch()",
        "2": f"import os, sys; print('why', file=sys.stderr, flush=True); {end}",
    }
    commands = {
        name: ([sys.executable, "-c", program], str(tmp_path / f"{name}.json")) for name, program in programs.items()
    }
    stop, died = jobs._check_parts(commands, SimpleNamespace(timeout=None, quiet=True))
    assert report.exists()
    assert [each.fate for each in died] == [said]
    assert not stop.noted
    assert capsys.readouterr().err == "why\n"


def test_a_part_that_hangs_is_ended_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = lens.commands.jobs
    monkeypatch.setattr(jobs, "GRACE", 0.5)
    hang = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"
    commands = {"1": ([sys.executable, "-c", hang], "no report")}
    stop, died = jobs._check_parts(commands, SimpleNamespace(timeout=1.0, quiet=True))
    assert (stop.timed_out, died) == (True, [])


def test_a_full_disk_names_the_folder_of_temporary_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the report of a part, which is removed."""
    jobs, report = lens.commands.jobs, str(tmp_path / "contact_lens-1" / "000001.json")
    said = [
        f"contact_lens: {report}.partial: No space left on device",
        f"contact_lens: {report}: No space left on device; what was done is in {report}.partial",
    ]
    commands = {"1": ([sys.executable, "-c", f"import sys; sys.exit({chr(10).join(said)!r})"], report)}
    jobs._check_parts(commands, SimpleNamespace(timeout=None, quiet=True))
    assert capsys.readouterr().err == f"contact_lens: {tmp_path}: No space left on device\n"


def test_what_a_part_has_started_does_not_hold_its_end_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of the file may start a program that goes on, and has the streams of the part."""
    jobs = lens.commands.jobs
    monkeypatch.setattr(jobs, "GRACE", 0.5)
    goes_on = f"import os, time\nwhile not os.path.exists({str(tmp_path / 'end')!r}): time.sleep(0.05)"
    goes_on += f"\nopen({str(tmp_path / 'ended')!r}, 'w')"
    program = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {goes_on!r}])"
    commands = {"1": ([sys.executable, "-c", program], "no report")}
    jobs._check_parts(commands, SimpleNamespace(timeout=None, quiet=True))
    (tmp_path / "end").touch()  # only now
    wait_until((tmp_path / "ended").exists)


# --- what a run leaves that is not complete -------------------------------------------------------------------------


@pytest.fixture
def parts_here(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Parts run in this process, one after the other; a stop in one is one of the run. Those of `dying` die: of their
    partial reports these lines are left, and half of another."""
    jobs, here = lens.commands.jobs, SimpleNamespace(dying={})

    def check_parts(commands: Mapping[str, Any], options: Any) -> tuple[Any, list[Any]]:
        stop, died = lens.terminal.interruption.Stop(), []
        for number, (name, (command, report)) in enumerate(commands.items(), 1):
            with monkeypatch.context() as patch:
                for module in ("check", "reporting"):
                    patch.setattr(getattr(lens.commands, module), "is_of_jobs", lambda: True)
                if number in here.dying:
                    patch.setattr(lens.report.files.Partials, "remove", lambda *_: [])
                stop._signaled |= run(*command[len(jobs.launch()) :]) == 130
            if number in here.dying:
                partial = Path(f"{report}.partial")
                lines = partial.read_text(encoding="utf-8").splitlines(keepends=True)[: here.dying[number]]
                partial.write_text("".join([*lines, '{"schema": "cont']), encoding="utf-8")
                Path(report).unlink()
                died.append(SimpleNamespace(code=-9, fate=f"part {name} was killed by SIGKILL"))
        return stop, died

    monkeypatch.setattr(jobs, "_check_parts", check_parts)
    return here


def reports_of(folder: Path, *arguments: object) -> tuple[int, dict[str, bytes]]:
    """The exit code and the reports of a run."""
    paths, options = outputs(folder)
    code = run(*arguments, *options, "--quiet")
    found = {kind: path.read_bytes() for kind, path in paths.items() if path.exists()}
    for kind in found:
        paths[kind].unlink()
    return code, found


@pytest.mark.parametrize("jobs", [2, 4])
@pytest.mark.parametrize("frames", [[], ["--frames", "2-4"]])
def test_a_bad_file_costs_no_other(
    scene_file: Path, parts_here: SimpleNamespace, jobs: int, frames: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The reports are those of one process, which name it, however the run is divided."""
    folder = scene_file.parent
    other, bad = Path(shutil.copy(scene_file, folder / "other.blend")), folder / "bad.blend"
    bad.write_bytes(b"not Blender's")
    command = [scene_file, bad, other, folder / "none.blend", *frames]
    one = reports_of(folder, *command)
    said = capsys.readouterr().err
    assert reports_of(folder, *command, "--jobs", jobs) == one
    assert (one[0], sorted(one[1])) == (2, ["csv", "html", "json", "junit"])
    assert f"contact_lens: {bad}: " in said
    assert set(said.splitlines()) == set(capsys.readouterr().err.splitlines())


def test_a_time_limit_that_ends_pictures_hides_no_bad_file(
    scene_file: Path, parts_here: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All checks were complete then, as in one process."""
    stop = lens.terminal.interruption.Stop(60.0)
    monkeypatch.setattr(lens.terminal.interruption, "Stop", lambda: stop)

    def draw(*_: Any, **__: Any) -> bool:
        stop.timed_out = True
        return False

    monkeypatch.setattr(lens.commands.merge, "draw_worst", draw)
    code, _ = reports_of(scene_file.parent, scene_file, scene_file.parent / "none.blend", "--jobs", 2)
    assert (code, "not everything was checked" in capsys.readouterr().err) == (2, False)


def test_a_run_that_is_stopped_leaves_what_was_done(
    scene_file: Path, parts_here: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it leaves is what one process leaves that has done the same, and says which frames are not in it."""
    scene, left = lens.scene.scene_check, 0
    check = scene.check

    def stopped(*arguments: Any) -> Any:
        nonlocal left
        outcome = check(*arguments)
        left -= 1
        if left <= 0:
            signal.raise_signal(signal.SIGINT)
        return outcome

    monkeypatch.setattr(scene, "check", stopped)
    command = [scene_file, scene_file.parent / "none.blend", "--frames", "1-6"]
    left = 4
    one = reports_of(scene_file.parent, *command)
    left = 3  # in the second part it is at once
    assert reports_of(scene_file.parent, *command, "--jobs", 2) == one
    document = json.loads(one[1]["json"])
    assert (one[0], document["partial"], document["frames"]) == (130, True, [1, 2, 3, 4])
    assert [entry["error"] for entry in document["inputs"]] == [
        "the run was stopped before it reached frames 5-6",
        "the run was stopped before it was reached",
    ]


def test_what_a_part_that_died_has_not_checked_is_named(scene_file: Path, parts_here: SimpleNamespace) -> None:
    """Its checks that were complete are kept, as its partial report has them."""
    parts_here.dying = {2: 1}
    code, found = reports_of(scene_file.parent, scene_file, "--frames", "1-6", "--jobs", 2)
    document = json.loads(found["json"])
    assert (code, document["partial"], document["frames"]) == (2, False, [1, 2, 3, 4])
    fate = "part 2 (--only-frames=4-6) was killed by SIGKILL"
    assert document["inputs"][0]["error"] == f"not checked to the end: frames 5-6: {fate}"


def test_a_check_that_lacks_a_shard_is_partial(scene_file: Path, parts_here: SimpleNamespace, tmp_path: Path) -> None:
    """No clash of the baseline is gone then."""
    old = tmp_path / "old.json"
    assert run(scene_file, "--frames", "3", "--json", old, "--quiet") == 1
    parts_here.dying = {2: 0}
    command = [scene_file, "--frames", "3", "--jobs", 2, "--baseline", old]
    code, found = reports_of(scene_file.parent, *command)
    document = json.loads(found["json"])
    (check,) = document["checks"]
    assert (code, document["partial"], check["partial"], check["gone"]) == (2, True, True, [])
    assert len(check["findings"]) + len(check["not_compared"]) == len(
        json.loads(old.read_text())["checks"][0]["findings"]
    )
    assert {entry["reason"] for entry in check["not_compared"]} == {"the check was stopped"}
    fate = "part 2 (--shard 2/2) was killed by SIGKILL"
    assert document["inputs"][0]["error"] == f"not checked to the end: frames 3: {fate}"


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


def parts_of(file: Path) -> list[int]:
    """The two processes that check parts of a file."""
    return [process for shard in ("1/2", "2/2") for process in processes_with(str(file), shard)]


def seconds_used(process: int) -> float:
    """How long a process has computed, however busy the machine is."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def while_it_runs(file: Path, variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A check in two processes, when both run."""
    command = [sys.executable, "-m", "contact_lens", "check", str(file), "--exact", "--jobs", "2", "--json", "out.json"]
    (file.parent / "temporary").mkdir()
    with subprocess.Popen(
        command,
        cwd=file.parent,
        env=environment_of(file.parent, **variables, TMPDIR=str(file.parent / "temporary")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        wait_until(lambda: running.poll() is not None or len([*file.parent.glob("temporary/*/*.partial")]) == 2)
        assert running.poll() is None, running.communicate()
        # Until the file is read, and pairs are being checked.
        wait_until(lambda: all(seconds_used(each) > 4.0 for each in parts_of(file)))
        yield running
        running.kill()


@LINUX
@pytest.mark.slow
def test_ctrl_c_stops_all_processes(slow_file: Path, variables: dict[str, str]) -> None:
    with while_it_runs(slow_file, variables) as running:
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"stopped: not everything was checked" in err
    assert not processes_with(str(slow_file))
    document = load_report(slow_file.parent / "out.json")
    assert [check["partial"] for check in document["checks"]] == [True]
    assert not list((slow_file.parent / "temporary").glob("contact_lens-*")), "a killed Blender leaves its own"


@LINUX
@pytest.mark.slow
def test_a_process_that_dies_is_named(slow_file: Path, variables: dict[str, str]) -> None:
    with while_it_runs(slow_file, variables) as running:
        (second,) = processes_with(str(slow_file), "2/2")
        os.kill(second, signal.SIGKILL)
        _, err = running.communicate(timeout=90)
    assert running.returncode == 2
    assert b"part 2 (--shard 2/2) was killed by SIGKILL" in err
    assert b"part 1" not in err
    assert not processes_with(str(slow_file))
    document = load_report(slow_file.parent / "out.json")
    (check,), (source,) = document["checks"], document["inputs"]
    assert check["partial"]
    assert check["findings"], "those of the other part"
    assert source["error"].endswith("part 2 (--shard 2/2) was killed by SIGKILL")
    assert not list((slow_file.parent / "temporary").glob("contact_lens-*")), "a killed Blender leaves its own"


@LINUX
@pytest.mark.slow
def test_processes_end_when_the_one_that_started_them_is_killed(slow_file: Path, variables: dict[str, str]) -> None:
    with while_it_runs(slow_file, variables) as running:
        running.kill()
        running.wait()
        wait_until(lambda: not processes_with(str(slow_file)))
