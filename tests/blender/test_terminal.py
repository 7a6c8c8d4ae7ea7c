# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line shows besides results: versions, progress, time limits, and how quiet it can be."""

from __future__ import annotations

import functools
import io
import os
import platform
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from .processes import in_process, installed, modules_of
from .reports import load_report, run
from .scenes import animate, cube, lens, mesh_object, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")

NOISE = """import os, sys
print("a script says so")
print("a script warns", file=sys.stderr)
os.write(1, b"a library says so\\n")
os.write(2, b"a library warns\\n")
"""


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    """Two cubes, one in the other, and another one apart; checked one by one."""
    for name, x in (("A", 0.0), ("B", 1.5), ("C", 10.0), ("D", 11.5)):
        cube(name, (x, 0.0, 0.0)).contact_lens_shape = "MESH"
    return save_scene(tmp_path / "room.blend")


@pytest.fixture
def noisy_file(tmp_path: Path) -> Path:
    """A file with a missing library and a script that prints: Blender warns of one, if it runs the other."""
    cube("Cube", (0.0, 0.0, 0.0))
    library = save_scene(tmp_path / "lib.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, linked):
        linked.objects = ["Cube"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Cube"])
    cube("Mine", (0.0, 0.0, 0.0))
    text = bpy.data.texts.new("noise.py")
    text.write(NOISE)
    text.use_module = True
    save_scene(tmp_path / "noisy.blend")
    library.unlink()
    (tmp_path / "profile").mkdir()
    return tmp_path / "noisy.blend"


# --- versions -------------------------------------------------------------------------------------------------------


def test_every_command_knows_its_versions(addon: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ([], *([command] for command in lens.command_line.COMMANDS)):
        assert run(*name, "--version") == 0
        told = capsys.readouterr()
        assert told.err == ""
        assert told.out.splitlines() == [
            f"Contact Lens {addon.__version__}",
            f"Blender {bpy.app.version_string}",
            f"numpy {np.__version__}",
            f"Python {platform.python_version()}",
        ]


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about a Python of its own")
def test_versions_are_known_where_there_is_no_blender(addon: ModuleType, tmp_path: Path) -> None:
    program = "import sys; sys.modules['bpy'] = None; from contact_lens.__main__ import main; sys.exit(main())"
    modules = str(modules_of(addon, tmp_path))
    code, out, err = in_process([sys.executable, "-c", program, "--version"], tmp_path, PYTHONPATH=modules)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"Contact Lens {addon.__version__}",
        "Blender is not installed",
        f"numpy {np.__version__}",
        f"Python {platform.python_version()}",
    ]
    code, out, err = in_process([sys.executable, "-c", program, "check", "a.blend"], tmp_path, PYTHONPATH=modules)
    assert (code, out) == (2, "")
    assert "pip install bpy" in err


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about a Python of its own")
def test_a_library_that_blender_lacks_is_named(addon: ModuleType, tmp_path: Path) -> None:
    modules = f"{tmp_path}{os.pathsep}{modules_of(addon, tmp_path)}"
    problem = "libXrender.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "bpy.py").write_text(f"raise ImportError({problem!r})\n", encoding="utf-8")
    for words in (["check", "a.blend"], ["--version"]):
        command = [sys.executable, "-m", "contact_lens", *words]
        code, out, err = in_process(command, tmp_path, PYTHONPATH=modules)
        assert (code, out) == (2, ""), "1 is for clashes"
        (line,) = err.splitlines()
        assert line.endswith(problem)


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about a Python of its own")
def test_an_interrupt_while_blender_is_loaded_ends_the_process(addon: ModuleType, tmp_path: Path) -> None:
    modules = f"{tmp_path}{os.pathsep}{modules_of(addon, tmp_path)}"
    caught = "import contextlib, signal\nwith contextlib.suppress(KeyboardInterrupt):\n    signal.raise_signal(2)\n"
    (tmp_path / "bpy.py").write_text(caught, encoding="utf-8")
    code, *told = in_process([sys.executable, "-m", "contact_lens", "a.blend"], tmp_path, PYTHONPATH=modules)
    assert code not in (0, 1), "1 is for clashes"
    assert told == ["", ""]


# --- quiet ----------------------------------------------------------------------------------------------------------


def quiet_errors(command: list[str], folder: Path, **environment: str) -> list[str]:
    """What a quiet check shows on standard error, when it shows nothing on standard output."""
    words = [*command, "noisy.blend", "--enable-autoexec", "--quiet"]
    code, out, err = in_process(words, folder, **environment)
    assert (code, out) == (3, ""), err
    assert in_process([*words, "--json", "out.json"], folder, **environment) == (3, "", err)
    report = in_process([*words, "--json", "-"], folder, **environment)
    assert report == (3, (folder / "out.json").read_text(encoding="utf-8"), err)
    return err.splitlines()


MISSING = "contact_lens: not everything could be checked: 'Cube' is missing from the library '//lib.blend', "


@pytest.mark.slow
@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_a_quiet_check_in_a_module_of_python(addon: ModuleType, noisy_file: Path, tmp_path: Path) -> None:
    command, modules = [sys.executable, "-m", "contact_lens"], str(modules_of(addon, tmp_path))
    _, out, err = in_process([*command, "noisy.blend", "--enable-autoexec"], tmp_path, PYTHONPATH=modules)
    for words in ("a script says so", "a library says so", "a script warns", "a library warns", "lib.blend'"):
        assert words in out + err, "else this proves nothing"
    [error] = quiet_errors(command, tmp_path, PYTHONPATH=modules)
    assert error.startswith(MISSING)


def test_a_quiet_check_in_a_command_of_blender(packed: Path, noisy_file: Path, tmp_path: Path) -> None:
    binary = installed(packed, tmp_path)
    [error] = quiet_errors([binary, "-q", "-b", "--command", "contact_lens", "check"], tmp_path)
    assert error.startswith(MISSING)


def test_errors_are_shown_while_blender_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    streams = lens.terminal.streams
    with streams.blender_aside(report=False, quiet=True) as output:
        exec(NOISE)
        streams.complain("contact_lens: what is wrong")
        streams.complain_in_signal("contact_lens: stopping")
        os.write(output, b"a report\n")
    print("after it")
    os.write(2, b"and errors\n")
    told = capfd.readouterr()
    assert told.out == "a report\nafter it\n"
    assert told.err == "contact_lens: what is wrong\n\ncontact_lens: stopping\nand errors\n"


def test_a_report_has_the_standard_output_to_itself(capfd: pytest.CaptureFixture[str]) -> None:
    streams = lens.terminal.streams
    with streams.blender_aside(report=True, quiet=False) as output:
        exec(NOISE)
        os.write(output, b"a report\n")
    told = capfd.readouterr()
    assert told.out == "a report\n"
    assert sorted(told.err.splitlines()) == [
        "a library says so",
        "a library warns",
        "a script says so",
        "a script warns",
    ]


def test_a_word_that_is_no_command_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("frobnicate") == 2
    assert "expected check, merge or farm, not 'frobnicate'" in capfd.readouterr().err


def test_any_terminal_can_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in lens.command_line.COMMANDS:
        assert run(name, "--help") == 0
        assert capsys.readouterr().out.isascii(), f"{name}: code page 437 has few letters"


# --- the list of clashes, and the last line -------------------------------------------------------------------------


@pytest.fixture
def crates(tmp_path: Path) -> Path:
    """A file of 53 clashes, the first the deepest."""
    for k in range(53):
        cube(f"Crate {k}", (9.0 * k, 0.0, 0.0))
        cube(f"Shelf {k}", (9.0 * k + 1.0 + 0.01 * k, 0.1, 0.1))
    return save_scene(tmp_path / "crates.blend")


def told(capfd: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    """What a command prints, without what Blender does."""
    run(*arguments)
    return [line for line in capfd.readouterr().out.splitlines() if "Read blend" not in line]


def test_the_worst_clashes_are_listed_and_where_the_others_are(
    crates: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "x.html"
    head, *rows, more, saved, last = told(capfd, "check", crates, "--html", page, "--pictures", 0)
    assert ", 53 penetrating" in head
    assert [line.split("  ")[2] for line in rows] == [f"Crate {k}" for k in range(50)]
    assert (more, saved) == (f"  3 more in {page}", f"Saved {page}")
    assert last == "Exit code 1: 53 penetrating (--fail-on any)"
    assert told(capfd, "check", crates, "--list", 1)[2:-1] == ["  52 more (write a report, or add --list all)"]
    assert len(told(capfd, "check", crates, "--list", "all")) == 55
    assert len(told(capfd, "check", crates, "--list", 0)) == 2


def test_clashes_that_count_are_listed_before_others(
    crates: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The shallowest is new since the baseline, and so what the exit code is for."""
    bpy.ops.wm.open_mainfile(filepath=str(crates))
    bpy.data.objects["Shelf 52"].location.z = 9.0
    (tmp_path / "earlier").mkdir()
    earlier = save_scene(tmp_path / "earlier" / "crates.blend")
    run("check", earlier, "--json", tmp_path / "old.json", "--quiet")
    capfd.readouterr()
    rows = told(capfd, "check", crates, "--baseline", tmp_path / "old.json", "--list", 2)[1:3]
    assert ["Crate 0 " in rows[0], "Crate 52 " in rows[1]] == [True, True]


@pytest.fixture
def hand_file(tmp_path: Path) -> Path:
    """A hand enters a table at frames 3 to 5, deepest at 4, and touches a cup at 8 and 9; a leg is always in the table,
    and a rope cannot be checked at frames 2 and 3."""
    cube("Table"), cube("Leg", (1.9, 0.0, 0.0)), cube("Cup", (20.0, 0.0, 0.0))
    places = ((1, -1.9, 9), (3, -1.9, 0), (4, -1.5, 0), (5, -1.7, 0), (6, -1.7, 9), (7, 18, 9), (8, 18, 0), (10, 18, 9))
    animate(cube("Hand"), "location", "CONSTANT", **{f"f{frame}": (x, 0, z) for frame, x, z in places})
    rope = mesh_object("Rope", [(50, 0, 0), (51, 0, 0), (50, 1, 0)], [(0, 1, 2)])
    animate(rope, "scale", "CONSTANT", f1=(1, 1, 1), f2=(1e38, 1, 1), f4=(1, 1, 1))
    return save_scene(tmp_path / "hand.blend")


def test_a_scene_over_frames_has_a_line_a_pair(hand_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Permanent clashes are one line, and what could not be checked is there once; it is never clean."""
    frames = ["--frames", "1-10", "--no-volume"]
    head, *rows, _, last = told(capfd, "check", hand_file, *frames, "--fail-on", "transient")
    assert (head.rpartition(os.sep)[2], last) == (
        "hand.blend, frames 1-10: Scene: 5 objects, 2 transient, 1 permanent, 1 not checked",
        "Exit code 1: 2 transient clashes (--fail-on transient)",
    )
    reason = rows.pop()
    assert reason.startswith("  not checked: 'Rope'")
    assert reason.endswith(" (frames 2 to 3)")
    assert [" ".join(line.split()) for line in rows] == [
        "penetrating Hand Table depth 0.5 m frames 3 to 5, deepest at 4 area 4 m²",
        "touching Cup Hand frames 8 to 9 area 4 m²",
        "1 permanent: found at every frame; --list all prints them",
    ]
    _, *rows, _ = told(capfd, "check", hand_file, *frames, "--list", "all", "--object", "Leg")
    assert [line.split()[:8] for line in rows[:1]] == [
        ["penetrating", "Leg", "Table", "depth", "0.1", "m", "permanent", "area"]
    ]
    *_, last = told(capfd, "check", hand_file, *frames)
    assert last == "Exit code 1: 2 penetrating, 1 touching (--fail-on any); --fail-on transient counts 2 of them"
    *_, last = told(capfd, "check", hand_file, *frames, "--object", "Leg", "--fail-on", "transient")
    assert last == "Exit code 3: no clash counts, but 1 item could not be checked (--allow-skipped allows that)"
    command = [hand_file, *frames, "--object", "Hand", "--fail-on", "never", "--allow-skipped"]
    *_, quiet, _, _, last = told(capfd, "check", *command)
    assert quiet == "  5 frames without clashes: 1 to 2, 6 to 7, 10"
    *_, last = told(capfd, "check", hand_file, "--frames", "1,6-7", "--fail-on", "transient", "--allow-fast")
    assert last == "Exit code 0: 1 penetrating does not count (--fail-on transient)"


def test_the_last_line_says_why_the_exit_code_is_what_it_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cube("A")
    cube("B", (2.0, 0.0, 0.0))
    cube("Far", (9.0, 0.0, 0.0))
    touching = save_scene(tmp_path / "touching.blend")
    assert told(capfd, "check", touching)[-1] == (
        "Exit code 1: 1 touching (--fail-on any); --fail-on penetrating does not count it"
    )
    assert told(capfd, "check", touching, "--clearance", "10")[-1] == (
        "Exit code 1: 1 touching, 2 within clearance (--fail-on any); --fail-on penetrating does not count them"
    )
    last = told(capfd, "check", touching, "--fail-on", "penetrating")[-1]
    assert last == "Exit code 0: 1 touching does not count (--fail-on penetrating)"
    last = told(capfd, "check", touching, "--clearance", "10", "--fail-on", "penetrating")[-1]
    assert last == "Exit code 0: 1 touching, 2 within clearance do not count (--fail-on penetrating)"
    assert told(capfd, "check", touching, "--no-touching")[-1] == "Exit code 0: no clashes"
    mesh_object("Endless", [(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)])
    broken = save_scene(tmp_path / "broken.blend")
    assert told(capfd, "check", broken, "--no-touching")[-1] == (
        "Exit code 3: no clash counts, but 1 item could not be checked (--allow-skipped allows that)"
    )
    last = told(capfd, "check", broken, "--no-touching", "--allow-skipped")[-1]
    assert last == "Exit code 0: no clashes; 1 item not checked, allowed by --allow-skipped"
    *_, total, last = told(capfd, "check", broken, touching, tmp_path / "none.blend")
    assert total.endswith("; 1 of the checks is not complete")
    assert last == "Exit code 2: 1 of 3 files could not be checked to the end"


# --- progress -------------------------------------------------------------------------------------------------------


def progress_of(clock: Clock, quiet: bool = False, files: int = 2) -> Any:
    stop = lens.terminal.interruption.Stop()
    return lens.terminal.progress.Progress(quiet, files, stop, clock)


def work(progress: Any, clock: Clock) -> None:
    """Two files of two frames, each of which takes 50 s and has two clashes."""
    for file in ("a.blend", "b.blend"):
        progress.begin_file(file)
        for k in range(2):
            progress.begin_frame(k, 2, 10 * (k + 1))
            progress.begin_phase("convex hulls")
            for step in range(5):
                assert progress(step / 5)
                clock.now += 10.0
                progress.add_clashes(step % 2)
            progress.end_frame()


def test_a_log_has_a_line_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    work(progress_of(clock), clock)
    assert capsys.readouterr().err.splitlines() == [
        "contact_lens: 30 % after 1 min: a.blend, frame 20, convex hulls, 2 clashes so far",
        "contact_lens: 60 % after 2 min: b.blend, frame 10, convex hulls, 5 clashes so far",
        "contact_lens: 90 % after 3 min: b.blend, frame 20, convex hulls, 7 clashes so far",
    ]


def test_a_terminal_has_one_line_that_renews_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), Clock()
    monkeypatch.setattr(sys, "stderr", terminal)
    work(progress_of(clock), clock)
    assert "\n" not in terminal.getvalue()
    shown = [line.strip() for line in terminal.getvalue().split("\r")]
    assert [line for line in shown if line][:4] == [
        "Checking: 0 %, reading objects, 0 clashes so far",
        "Checking: 0 %, convex hulls, 0 clashes so far",
        "Checking: 5 %, convex hulls, 0 clashes so far",
        "Checking: 10 %, convex hulls, 1 clash so far",
    ]
    assert [line.partition(",")[0] for line in shown if "hulls" in line] == [
        f"Checking: {percent} %" for percent in range(0, 100, 5)
    ]


def test_pictures_are_counted_while_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        progress = progress_of(clock := Clock())
        for number in range(1, 8):
            progress.begin_picture(number, 7)
            clock.now += 25.0
        progress.end_frame()
        said.append([line.strip() for line in stream.getvalue().replace("\r", "\n").splitlines() if line.strip()])
    assert said[0] == [f"contact_lens: Drawing picture {number} of 7" for number in (4, 7)], "a line a minute"
    assert said[1] == [f"Drawing picture {number} of 7" for number in range(1, 8)]


def test_a_quiet_run_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (Terminal(), io.StringIO()):
        clock = Clock()
        monkeypatch.setattr(sys, "stderr", terminal)
        work(progress_of(clock, quiet=True), clock)
        assert terminal.getvalue() == ""


def test_a_check_says_what_it_does_and_counts_clashes_as_it_finds_them(
    scene_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meshes that are found to collide are counted one by one, while others are still to be checked."""
    shown: list[str] = []
    progress = lens.terminal.progress.Progress
    monkeypatch.setattr(progress, "show", lambda _, done, details, place: shown.append(details()))
    assert run(scene_file, "--verify", "--quiet") == 1
    assert list(dict.fromkeys(shown)) == [
        "reading objects, 0 clashes so far",
        "bounding boxes, 0 clashes so far",
        "pairs that are close, 0 clashes so far",
        "convex hulls, 0 clashes so far",
        "pairs of convex hulls, 0 clashes so far",
        "pairs of meshes, 0 clashes so far",
        "pairs of meshes, 1 clash so far",
        "verification, 2 clashes so far",
    ]


# --- time limits ----------------------------------------------------------------------------------------------------


@pytest.fixture
def slow_pairs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Each pair takes a minute."""
    clock, scene = Clock(), lens.scene.scene_check
    check_pair, stop = scene.check_pair, lens.terminal.interruption.Stop

    def slowly(*arguments: Any) -> Any:
        found = check_pair(*arguments)
        clock.now += 60.0
        return found

    monkeypatch.setattr(scene, "check_pair", slowly)
    monkeypatch.setattr(lens.commands.check, "Stop", functools.partial(stop, clock=clock))
    return clock


def test_a_time_limit_reports_what_was_done(
    scene_file: Path, tmp_path: Path, slow_pairs: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.json"
    before = signal.getsignal(signal.SIGINT)
    assert run(scene_file, scene_file, "--timeout", "1m", "--json", path, "--quiet") == 1, "a clash was found"
    data = load_report(path)
    assert data["partial"]
    (check,) = data["checks"]
    assert (check["partial"], [row["has_depth"] for row in check["findings"]].count(True)) == (True, 1), "of two"
    assert [entry["error"] for entry in data["inputs"]] == [None, "the run was stopped before it was reached"]
    assert capsys.readouterr().err.splitlines() == [
        "contact_lens: stopping: 1 min have passed (--timeout); press Ctrl-C to end at once",
        "contact_lens: stopped after 1 min: not everything was checked (--timeout)",
    ]
    assert signal.getsignal(signal.SIGINT) is before
    assert run(scene_file, "--timeout", "60", "--quiet", "--fail-on", "never", "--allow-skipped") == 3
    part_of_run = ("--shard", "1/1", "--json", tmp_path / "part.json")
    assert run(scene_file, "--timeout", "60", "--quiet", *part_of_run) == 3, "only merge judges clashes"
    assert run(scene_file, "--timeout", "10m", "--quiet") == 1
    assert "--timeout" not in capsys.readouterr().err.split("(--timeout)\n")[-1]


def test_what_ends_in_time_is_complete(scene_file: Path, tmp_path: Path, slow_pairs: Clock) -> None:
    """The last pair takes the time that is left, and nothing is left to stop."""
    assert run(scene_file, "--timeout", "2m", "--json", tmp_path / "out.json", "--quiet") == 1
    data = load_report(tmp_path / "out.json")
    assert (data["partial"], len(data["checks"][0]["findings"])) == (False, 2)


def test_ctrl_c_after_the_time_limit_ends_at_once() -> None:
    clock = Clock()
    with lens.terminal.interruption.Stop(5.0, clock) as stop:
        assert not stop.asked
        clock.now += 5.0
        assert not stop.noted
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_ctrl_break_of_windows_stops_as_ctrl_c_does(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    number = getattr(signal, "SIGBREAK", None) or signal.SIGUSR1
    monkeypatch.setattr(signal, "SIGBREAK", number, raising=False)
    before = signal.getsignal(number)
    with lens.terminal.interruption.Stop() as stop:
        assert not stop.asked
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert stop.asked
        assert not stop.timed_out
    assert signal.getsignal(number) is before
    assert f"contact_lens: stopping: {signal.Signals(number).name}\n" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("written", "seconds"), [("90", 90.0), ("90s", 90.0), ("10m", 600.0), ("1.5h", 5400.0), ("1d", 86400.0)]
)
def test_times(written: str, seconds: float) -> None:
    assert lens.terminal.command_parser.duration(written) == seconds


@pytest.mark.parametrize("written", ["0", "-5", "m", "", "nan", "inf", "1e99", "10 minutes", "1h30m"])
def test_what_is_no_time_is_refused_by_name(
    written: str, scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scene_file, f"--timeout={written}", "--json", tmp_path / "out.json") == 2
    expected = f"argument --timeout: expected a time above 0 such as 90, 10m or 1.5h, not {written!r}"
    assert expected in capsys.readouterr().err
    assert not list(tmp_path.glob("out.*"))
