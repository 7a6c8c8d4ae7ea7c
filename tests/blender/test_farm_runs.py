# SPDX-License-Identifier: GPL-3.0-or-later
"""Job descriptions for many machines: each runs, and makes the report of one run."""

from __future__ import annotations

import importlib.util
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
from .processes import environment_of, modules_of

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


# --- Open Job Description


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
    assert re.search(r"Exit code 1: \d+ clashes count \(--fail-on penetrating\)", said), said
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
    *checks, merge = compiled(script, stored)
    assert len(checks) == 3
    expected = machine.one_run(scene_file, "--scene", "Scene", "--frames", "1-6", "--clearance", "2mm")
    for task in (*checks, merge):
        (command,) = task["commands"]
        words = [command["parameters"]["exe"], *command["parameters"]["args"]]
        words = [word.replace("{blender}", str(stand_in)).replace("{shared}", shared) for word in words]
        code, said = machine.run(words)
        assert code == (1 if task is merge else 0), said
    assert scene_file.with_suffix(".json").read_bytes() == expected
    assert scene_file.with_suffix(".html").exists()


# --- GitHub Actions


@pytest.mark.slow
def test_each_command_of_the_workflow_runs(scene_file: Path, machine: Machine) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    (scene_file.parent / ".git").mkdir()
    texts = written(machine.folder / "jobs", scene_file, "--frames", "1-6", "--chunk-size", 3, "--shards", 2)
    workflow = yaml.safe_load(texts["github_actions.yml"])
    check, merge = workflow["jobs"]["check"], workflow["jobs"]["merge"]
    assert merge["needs"] == "check"
    matrix = check["strategy"]["matrix"]
    cells = [(chunk, shard) for chunk in matrix["chunk"] for shard in matrix["shard"]]
    assert len(cells) == 4

    def in_checkout(command: str) -> tuple[int, str]:
        return machine.run(["sh", "-c", f"cd {shlex.quote(str(scene_file.parent))} && {command}"])

    def step(job: dict[str, Any], name: str) -> str:
        (found,) = [step["run"] for step in job["steps"] if step.get("name") == name]
        return found.replace("python -m contact_lens", shlex.join(machine.program))

    for index, (chunk, shard) in enumerate(cells):
        command = step(check, "Check a part")
        for name, value in {"matrix.chunk": chunk, "matrix.shard": shard, "strategy.job-index": index}.items():
            command = command.replace(f"${{{{ {name} }}}}", str(value))
        code, said = in_checkout(command)
        assert code == 0, said
    code, said = in_checkout(step(merge, "Merge the parts"))
    assert code == 1, said
    assert (scene_file.parent / "clashes.json").read_bytes() == machine.one_run(scene_file, "--frames", "1-6")
