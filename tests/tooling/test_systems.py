# SPDX-License-Identifier: GPL-3.0-or-later
"""What Windows and macOS need of the repository, as far as it can be tested on any system."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


@pytest.fixture
def job() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    [job] = content["jobs"].values()
    return job


def test_the_workflow_has_every_system_and_python(job: dict[str, Any], load_build: Callable[[], ModuleType]) -> None:
    matrix = job["strategy"]["matrix"]
    assert [re.sub(r"-.*", "", system) for system in matrix["os"]] == ["ubuntu", "windows", "macos"]
    assert matrix["python"] == list(load_build().BLENDER_OF_PYTHON)
    named = set(re.findall(r"matrix\.(\w+)", WORKFLOW.read_text(encoding="utf-8")))
    assert named == set(matrix)


def test_the_workflow_runs_commands_that_there_are_and_that_the_gate_runs(
    job: dict[str, Any], load_build: Callable[[], ModuleType]
) -> None:
    build, gate = load_build(), (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [shlex.split(step["run"]) for step in job["steps"] if step.get("run", "").startswith("python ")]
    assert [" ".join(command[2:]) for command in commands] == ["check", "test --core", "test", "build --validate"]
    for command in commands:
        assert command[:2] == ["python", "build.py"]
        assert build.parser().parse_args(command[2:]).function
        assert re.search(rf"python3 build\.py {' '.join(command[2:])}( -- .*)?$", gate, re.MULTILINE), command


def test_the_workflow_keeps_the_folders_that_build_makes(
    job: dict[str, Any],
    load_build: Callable[[], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    build = load_build()
    kept = {step["uses"].split("@")[0]: step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {})}
    assert kept["actions/upload-artifact"] == f"{build.DIST.name}/"
    paths = kept["actions/cache"].splitlines()
    monkeypatch.setattr(build.Path, "home", lambda: tmp_path)
    for name in ("CONTACT_LENS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    here = {"win32": paths[1]} if os.name == "nt" else {"linux": paths[0], "darwin": paths[2]}
    for system, path in here.items():
        monkeypatch.setattr(build.sys, "platform", system)
        assert build.cache_folder("x").parent == tmp_path / path.removeprefix("~/")


def test_every_system_can_check_the_files_out(files_in_git: list[str]) -> None:
    assert len({path.casefold() for path in files_in_git}) == len(files_in_git), "two are one where case does not count"
    for path in files_in_git:
        assert path.isascii()
        assert len(path) < 120, "paths on Windows have 260 characters, and someone's folders come first"
        for part in path.split("/"):
            assert not re.search(r'[<>:"|?*\\]|[. ]$', part), path
            assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", part, re.IGNORECASE), path


def test_texts_have_the_same_line_ends_everywhere(files_in_git: list[str]) -> None:
    """Else the zip and the digests of files differ between systems."""
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    for path in files_in_git:
        content = (ROOT / path).read_bytes() if (ROOT / path).is_file() else b""
        assert b"\0" in content or b"\r\n" not in content, path


def test_what_a_program_prints_is_read_whatever_the_encoding_of_the_machine(
    load_build: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code, said = load_build().output_of([sys.executable, "-c", "print('C:/Users/\\u0141ukasz')"])
    assert (code, said) == (0, "C:/Users/Łukasz\n")


def test_a_folder_that_a_virus_scanner_has_open_is_renamed_again(
    load_build: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build, rename, refused = load_build(), Path.rename, [True, True]

    def attempt(source: Path, target: Path) -> Path:
        if refused:
            refused.pop()
            raise PermissionError(13, "Access is denied")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", attempt)
    monkeypatch.setattr(build, "RENAME_PAUSES", (0.0, 0.0))
    (tmp_path / "made").mkdir()
    build.rename(tmp_path / "made", tmp_path / "folder")
    assert (tmp_path / "folder").is_dir()
    refused += [True, True, True]
    with pytest.raises(PermissionError):
        build.rename(tmp_path / "folder", tmp_path / "again")
