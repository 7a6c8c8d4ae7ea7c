# SPDX-License-Identifier: GPL-3.0-or-later
"""Job descriptions for many machines: each runs, and makes the report of one run."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from ..programs import lacks, tool
from .farms import as_submitted, compiled, moving_cube, written
from .processes import environment_of, in_process, modules_of
from .scenes import cube, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    return moving_cube(tmp_path)


# --- each description runs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """A machine with Contact Lens: a folder, its environment, and what starts the program."""

    folder: Path
    variables: dict[str, str]
    program: list[str]

    def run(self, command: list[str], **more: str) -> tuple[int, str]:
        """Run a command in the folder; return its exit code and what it printed."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.variables, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=200,
            check=False,
        )
        return done.returncode, done.stdout.decode("utf-8")

    def one_run(self, file: Path, *options: str) -> bytes:
        """The JSON report of a run in one part."""
        target = self.folder / "one_run.json"
        code, said = self.run([*self.program, "check", str(file), *options, "--json", str(target)])
        assert code == 1, said
        return target.read_bytes()


@pytest.fixture
def machine(addon: ModuleType, tmp_path: Path) -> Machine:
    if bpy.app.binary_path:
        pytest.skip("an installed Blender lacks node, GNU parallel and openjd")
    (tmp_path / "profile").mkdir()
    variables = environment_of(tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)))
    return Machine(tmp_path, variables, [sys.executable, "-m", "contact_lens"])


# --- GNU parallel


@pytest.mark.slow
def test_gnu_parallel_makes_the_report_of_one_run(scene_file: Path, machine: Machine) -> None:
    tool("parallel", "apt-get install parallel")
    bash = tool("bash", "apt-get install bash")
    jobs = machine.folder / "some jobs"
    written(jobs, scene_file, "--frames", "1-6", "--chunk-size", 2, "--clearance", "2mm")
    code, said = machine.run([bash, str(jobs / "gnu_parallel.sh")])
    assert code == 1, f"only the merge fails because of clashes\n{said}"
    assert (jobs / "clashes.json").read_bytes() == machine.one_run(scene_file, "--frames", "1-6", "--clearance", "2mm")

    parts = jobs / "parallel_parts"
    lost, kept = sorted(parts.glob("*.json"))[:2]
    before = kept.stat().st_mtime_ns
    lost.unlink()
    (jobs / "clashes.json").unlink()
    code, said = machine.run([bash, str(jobs / "gnu_parallel.sh")])
    assert code == 1, said
    assert (jobs / "clashes.json").exists()
    assert kept.stat().st_mtime_ns == before, "what is there is not done again"


@pytest.mark.parametrize(
    ("parallel", "said"),
    [
        ("echo 'parallel [OPTIONS] command -- arguments'; exit 1", "GNU parallel has to be installed"),
        ('if [ "$1" = --version ]; then echo "GNU parallel 20221122"; else exit 1; fi', "there is no verdict"),
    ],
    ids=["moreutils", "a part failed"],
)
def test_what_fails_before_the_verdict_is_not_read_as_one(
    scene_file: Path, tmp_path: Path, parallel: str, said: str
) -> None:
    """GNU parallel ends with the number of parts that failed, another program of that name with 1."""
    bash = tool("bash", "apt-get install bash")
    written(tmp_path / "jobs", scene_file, "--frames", "1-6")
    program = tmp_path / "bin" / "parallel"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{parallel}\n")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    code, _, err = in_process([bash, str(tmp_path / "jobs" / "gnu_parallel.sh")], tmp_path, PATH=path)
    assert code == 2
    assert said in err


@pytest.fixture
def stills(machine: Machine) -> list[Path]:
    """Two files of one name, each of a clash at its current frame."""
    files = []
    for name in ("it's A", "B & C"):
        (machine.folder / name).mkdir()
        cube(name, (1.5, 0.0, 0.0))
        cube("Other")
        files.append(save_scene(machine.folder / name / "my room.blend"))
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return files


def report_of(machine: Machine, files: list[Path]) -> bytes:
    first, *others = map(str, files)
    return machine.one_run(Path(first), *others)


@pytest.mark.slow
def test_gnu_parallel_checks_stills(stills: list[Path], machine: Machine) -> None:
    tool("parallel", "apt-get install parallel")
    jobs = machine.folder / "jobs"
    written(jobs, *stills, "--shards", 2)
    code, said = machine.run(["bash", str(jobs / "gnu_parallel.sh")])
    assert code == 1, said
    assert len(list((jobs / "parallel_parts").glob("*.json"))) == 4
    assert (jobs / "clashes.json").read_bytes() == report_of(machine, stills)


# --- Open Job Description


@pytest.mark.slow
def test_open_job_description_checks_stills(stills: list[Path], machine: Machine) -> None:
    if importlib.util.find_spec("openjd") is None:
        lacks("there is no openjd: pip install openjd-cli")
    jobs = machine.folder / "jobs"
    written(jobs, *stills, "--shards", 2)
    template = jobs / "check.yaml"
    command = [sys.executable, "-m", "openjd", "run", str(template), "-p", f"File={stills[0]}"]
    code, said = machine.run([*command, "--step", "Check"])
    assert code == 0, said
    assert len(list((jobs / "openjd_parts").glob("*.json"))) == 4
    code, said = machine.run([*command, "--step", "Merge", "--no-run-dependencies"])
    assert "Exit code 1: 2 penetrating" in said
    assert (jobs / "clashes.json").read_bytes() == report_of(machine, stills)


@pytest.fixture
def killer(machine: Machine) -> str:
    """What starts the program, and kills it before the part of frames 3 and 4 is done, once."""
    path = machine.folder / "killer"
    program = shlex.join(machine.program[:1])
    path.write_text(
        f"""#!/bin/sh
        case "$*" in *--only-frames=3-4*)
            if [ ! -e killed ]; then
                touch killed
                {program} "$@" &
                sleep 0.3  # Blender takes longer to start
                kill -9 $!
                wait $!
                exit
            fi
        esac
        exec {program} "$@"
        """.replace("killed", shlex.quote(str(machine.folder / "killed")))
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.slow
def test_open_job_description_makes_the_report_of_one_run(scene_file: Path, machine: Machine, killer: str) -> None:
    if importlib.util.find_spec("openjd") is None or importlib.util.find_spec("openjd.cli") is None:
        lacks("there is no openjd: pip install openjd-cli")
    template = machine.folder / "jobs" / "check.yaml"
    parts = template.parent / "openjd_parts"
    report = template.parent / "clashes.json"
    written(template.parent, scene_file, "--frames", "1-6", "--chunk-size", 2, "--verify")

    def step(name: str, *more: str) -> tuple[int, str]:
        # Not by its script, which names the folder where build.py made the environment, and not where it is now.
        command = [sys.executable, "-m", "openjd", "run", str(template), "--step", name]
        command += ["-p", f"File={scene_file}", "-p", f"Program={killer}"]
        return machine.run([*command, "--no-run-dependencies", *more])

    def task(chunk: str) -> tuple[int, str]:
        return step("Check", "--task-param", f"Chunk={chunk}", "--task-param", "Shard=1")

    code, said = step("Check")
    assert code != 0, said
    assert [path.name for path in parts.glob("*.json")] == ["frames_1-2_shard_1.json"], "a part was killed"
    assert task("5-6")[0] == 0

    code, said = step("Merge")
    assert code != 0
    assert "frames 3-4" in said, "what is missing is named"
    assert re.search(r"code:? 2\b", said), said
    assert not report.exists()

    assert task("3-4")[0] == 0
    code, said = step("Merge", "-p", "FailOn=penetrating")
    assert code != 0
    assert re.search(r"Exit code 1: \d+ penetrating \(--fail-on penetrating\)", said), said
    assert all(report.with_suffix(suffix).exists() for suffix in (".html", ".xml"))
    assert report.read_bytes() == machine.one_run(scene_file, "--frames", "1-6", "--verify")


# --- Flamenco


@pytest.fixture
def stand_in(machine: Machine) -> Path:
    """A `blender` that has the command of the extension only."""
    path = machine.folder / "blender"
    program = shlex.join(machine.program)
    path.write_text(
        f'#!/bin/sh\nif [ "$1 $2 $3" != "-b --command contact_lens" ]; then exit 64; fi\nshift 3\nexec {program} "$@"\n'
    )
    path.chmod(0o755)
    return path


def words_of(task: dict[str, Any], stand_in: Path) -> list[str]:
    (command,) = task["commands"]
    words = [command["parameters"]["exe"], *command["parameters"]["args"]]
    return [word.replace("{blender}", str(stand_in)) for word in words]


@pytest.mark.slow
def test_each_command_of_the_flamenco_job_runs(scene_file: Path, machine: Machine, stand_in: Path) -> None:
    """On a worker that has the shared folder at another place: paths are two-way variables."""
    script = machine.folder / "jobs" / "contact_lens_check.js"
    written(script.parent, scene_file, "--frames", "1", "--chunk-size", 2, "--clearance", "2mm")
    shared = str(scene_file.parent)
    stored = {
        key: value.replace(shared, "{shared}") if isinstance(value, str) else value
        for key, value in as_submitted(script).items()
    }
    assert stored["blendfile"] == "{shared}/my room.blend"
    tasks = compiled(script, stored)
    assert [task["name"] for task in tasks[-2:]] == ["merge", "verdict"]
    assert len(tasks) == 5
    expected = machine.one_run(scene_file, "--scene", "Scene", "--frames", "1-6", "--clearance", "2mm")
    for task in tasks:
        code, said = machine.run([word.replace("{shared}", shared) for word in words_of(task, stand_in)])
        assert code == (1 if task["name"] == "verdict" else 0), f"only the verdict fails because of clashes\n{said}"
    assert said.splitlines()[-1].startswith("Exit code 1: ")
    assert scene_file.with_suffix(".json").read_bytes() == expected
    assert scene_file.with_suffix(".html").exists()
    assert '<failure type="contact_lens.penetrating"' in scene_file.with_suffix(".xml").read_text(encoding="utf-8")
    next(scene_file.parent.glob("*-parts-*/*.json")).unlink()
    code, said = machine.run([word.replace("{shared}", shared) for word in words_of(tasks[-2], stand_in)])
    assert code == 2, f"a part that is missing fails the merge\n{said}"


@pytest.mark.slow
def test_a_flamenco_job_checks_a_still(scene_file: Path, machine: Machine, stand_in: Path) -> None:
    bpy.context.scene.frame_set(3)
    bpy.ops.wm.save_mainfile()
    script = machine.folder / "jobs" / "contact_lens_check.js"
    written(script.parent, scene_file, "--shards", 2)
    settings = as_submitted(script)
    assert settings["frames"] == ""
    tasks = compiled(script, settings)
    assert [task["name"] for task in tasks] == [
        "check current frame, 1 of 2",
        "check current frame, 2 of 2",
        "merge",
        "verdict",
    ]
    codes = [machine.run(words_of(task, stand_in))[0] for task in tasks]
    assert codes == [0, 0, 0, 1]
    assert scene_file.with_suffix(".json").read_bytes() == machine.one_run(scene_file, "--scene", "Scene")


# --- GitHub Actions


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--frames", "1-6"), ()], ids=["frames", "still"])
def test_each_command_of_the_workflow_runs(scene_file: Path, machine: Machine, options: tuple[str, ...]) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    bpy.context.scene.frame_set(3)
    bpy.ops.wm.save_mainfile()
    folder = scene_file.parent
    (folder / ".git").mkdir()
    in_chunks = ("--chunk-size", 3) if options else ()
    texts = written(machine.folder / "jobs", scene_file, *options, *in_chunks, "--shards", 2)
    workflow = yaml.safe_load(texts["github_actions.yml"])
    check, merge = workflow["jobs"]["check"], workflow["jobs"]["merge"]
    assert merge["needs"] == "check"
    matrix = check["strategy"]["matrix"]
    cells = [(covers, shard) for covers in matrix["covers"] for shard in matrix["shard"]]
    assert len(cells) == (4 if options else 2)

    def in_checkout(command: str) -> tuple[int, str]:
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]  # as GitHub's `shell: bash`
        return machine.run(
            [*shell, f"cd {shlex.quote(str(folder))} && {command}"], GITHUB_STEP_SUMMARY=str(machine.folder / "summary")
        )

    def step(job: dict[str, Any], name: str) -> str:
        (found,) = [step["run"] for step in job["steps"] if step.get("name") == name]
        return found.replace("python -m contact_lens", shlex.join(machine.program))

    for index, (covers, shard) in enumerate(cells):
        command = step(check, "Check a part")
        for name, value in {"matrix.covers": covers, "matrix.shard": shard, "strategy.job-index": index}.items():
            command = command.replace(f"${{{{ {name} }}}}", str(value))
        code, said = in_checkout(command)
        assert code == 0, said
    code, said = in_checkout(step(merge, "Merge the parts"))
    assert code == 1, said
    assert (folder / "clashes.json").read_bytes() == machine.one_run(scene_file, *options)
    summary = (machine.folder / "summary").read_text(encoding="utf-8")
    assert all(line.startswith("    ") for line in summary.splitlines()), "a block of code in Markdown"
    assert [line.strip() in said for line in summary.splitlines()] == [True] * len(summary.splitlines())
    assert summary.splitlines()[-1].startswith("    Exit code 1: ")
    assert re.search("^  penetrating .* Mover", said, re.MULTILINE), "the log has the clashes"
    assert "     penetrating" not in summary, "and the summary the verdict"
