# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender tests run against the built zip, installed by Blender's extension system into a profile of its own.

They run with Blender as a module (`pytest tests/blender`) and inside an installed Blender (tests/run_in_blender.py).
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

if "BLENDER_USER_RESOURCES" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    if "bpy" in sys.modules:
        pytest.exit(
            "bpy was imported before BLENDER_USER_RESOURCES was set: the tests would touch your preferences.", 2
        )
    _profile = tempfile.mkdtemp(prefix="contact_lens-")  # each worker of pytest-xdist needs its own
    atexit.register(shutil.rmtree, _profile, ignore_errors=True)
    os.environ["BLENDER_USER_RESOURCES"] = _profile
else:
    _profile = ""  # of whoever set it

import bpy

from .scenes import MODULE, fresh

_status = 0


def pytest_sessionfinish(exitstatus: int) -> None:
    """Keep what the run ends with."""
    global _status
    _status = int(exitstatus)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test marked `own_process` in one where Blender 4.2 is a module: it crashes now and then when a window
    changes its scene after hundreds of files were opened."""
    is_old = not bpy.app.binary_path and bpy.app.version < (4, 5)
    if not is_old or "CONTACT_LENS_OWN_PROCESS" in os.environ or not pyfuncitem.get_closest_marker("own_process"):
        return None
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    variables.pop("BLENDER_USER_RESOURCES", None)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{pyfuncitem.path}::{pyfuncitem.name}"],
        env={**variables, "CONTACT_LENS_OWN_PROCESS": "1"},
        cwd=pyfuncitem.config.rootpath,
        capture_output=True,
        text=True,
        timeout=120.0,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed" in ended.stdout
    return True


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """End with the status of the run, after everything is reported.

    As a module Blender 4.2 crashes at the end of Python when any property with an update function was registered,
    though it was unregistered too. A worker of pytest-xdist has sent its results by then.
    """
    if not bpy.app.binary_path and bpy.app.version < (4, 5):
        if _profile:
            shutil.rmtree(_profile, ignore_errors=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status)


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def addon(packed: Path) -> Iterator[ModuleType]:
    """The installed and enabled add-on's package; `scenes.lens` names what is in it."""
    result = bpy.ops.extensions.package_install_files(filepath=str(packed), repo="user_default", enable_on_install=True)
    assert result == {"FINISHED"}
    assert MODULE in bpy.context.preferences.addons, "the installed zip was not enabled"
    yield importlib.import_module(MODULE)
    import addon_utils

    addon_utils.disable(MODULE)


@pytest.fixture
def empty_scene() -> bpy.types.Scene:
    """An empty scene, the add-on still enabled. (read_factory_settings would disable extensions.)"""
    fresh()
    assert MODULE in bpy.context.preferences.addons
    return bpy.context.scene
