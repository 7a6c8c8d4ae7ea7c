# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the part of a benchmark that needs Blender: `python -m benchmarks.in_blender MODULE FUNCTION REQUESTS`.

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

ROOT = Path(__file__).resolve().parents[1]


def measure_in_blender(
    module: str, requests: list[Any], function: str = "measure", checkout: Path = ROOT
) -> list[Any] | None:
    """Return what a function of the benchmark `module` returns for each request; None without Blender.

    checkout: the repository that `contact_lens` is imported from.
    """
    python = os.environ.get("CONTACT_LENS_BLENDER_PYTHON") or (sys.executable if find_spec("bpy") else "")
    if not python:
        print("Blender is left out: its Python module is provided by `build.py bench`.")
        return None
    command = [python, "-m", __name__, module, function, json.dumps(requests)]
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as profile:
        variables = {**os.environ, "BLENDER_USER_RESOURCES": profile}
        paths = [str(checkout / "tests" / "tooling" / "checkout"), os.environ.get("PYTHONPATH", "")]
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Blender's Python ended with code {done.returncode}:\n{done.stdout}{done.stderr}")
    results: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return results


if __name__ == "__main__":
    call = getattr(import_module(f"{__package__}.{sys.argv[1]}"), sys.argv[2])
    print("\n" + json.dumps([call(*request) for request in json.loads(sys.argv[3])]), flush=True)
    os._exit(0)  # the bpy module has nothing to save, and some drivers crash when the process winds down
