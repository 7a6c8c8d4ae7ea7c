# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the part of a benchmark that needs Blender: `python -m tests.benchmarks.in_blender MODULE REQUESTS`.

In the Python that CONTACT_LENS_BLENDER_PYTHON names (`build.py bench` sets it), else in this one when it has `bpy`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def measure_in_blender(module: str, requests: list[Any]) -> list[Any] | None:
    """Return what `measure(*request)` of the benchmark `module` returns for each request; None without Blender."""
    python = os.environ.get("CONTACT_LENS_BLENDER_PYTHON") or (sys.executable if find_spec("bpy") else "")
    if not python:
        print("Blender is left out: its Python module is provided by `build.py bench`.")
        return None
    command = [python, "-m", __name__, module, json.dumps(requests)]
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as profile:
        variables = {**os.environ, "BLENDER_USER_RESOURCES": profile}
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Blender's Python ended with code {done.returncode}:\n{done.stdout}{done.stderr}")
    results: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return results


if __name__ == "__main__":
    measure = import_module(f"{__package__}.{sys.argv[1]}").measure
    print("\n" + json.dumps([measure(*request) for request in json.loads(sys.argv[2])]), flush=True)
    os._exit(0)  # the bpy module has nothing to save, and some drivers crash when the process winds down
