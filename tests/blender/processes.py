# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line in processes of its own: a Python with the bpy module, or an installed Blender."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import bpy
import pytest

from ..programs import VERSIONS, unusable_reason


def environment_of(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a process of its own: without OCIO, which Blender sets and the workers of xdist inherit; a
    Blender that finds it set reports so."""
    inherited = {name: value for name, value in os.environ.items() if name != "OCIO"}
    return {**inherited, "BLENDER_USER_RESOURCES": str(folder / "profile"), **more}


def wait_until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for what happens in another process, for longer than any machine takes."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.05)


def in_process(command: list[str], folder: Path, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        command, cwd=folder, env=environment_of(folder, **environment), capture_output=True, timeout=100, check=False
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def modules_of(addon: ModuleType, folder: Path) -> Path:
    """A folder in which `contact_lens` is the add-on with what the package has beside it, compiled: for all tests
    whose folders are beside this one."""
    assert addon.__file__ is not None
    modules = folder.parent / "modules"
    if not modules.is_dir():
        target = modules / "contact_lens"
        shutil.copytree(Path(addon.__file__).parent, target)
        shutil.copy(Path(__file__).resolve().parents[2] / "__main__.py", target)
        assert compileall.compile_dir(target, quiet=1)
    return modules


def installed(packed: Path, folder: Path) -> str:
    """The path of an installed Blender, with the extension in a profile in that folder: a copy of one that is beside
    it for all tests."""
    # The gate has one only later, so this is skipped even where programs are required.
    binary = bpy.app.binary_path or os.environ.get("BLENDER") or shutil.which("blender")
    if not binary:
        pytest.skip("there is no installed Blender: name one in $BLENDER")
    if unusable := unusable_reason(binary, VERSIONS["blender"]):
        pytest.skip(f"{unusable}: name one in $BLENDER")
    source = folder.parent / "installed"
    if not source.is_dir():
        source.mkdir()
        shutil.copy(packed, source / "packed.zip")
        install = ["--command", "extension", "install-file", "-r", "user_default", "--enable", "packed.zip"]
        code, out, err = in_process([binary, "-b", "--factory-startup", *install], source)
        assert code == 0, out + err
    shutil.copytree(source / "profile", folder / "profile", dirs_exist_ok=True)
    return binary
