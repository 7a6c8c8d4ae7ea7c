# SPDX-License-Identifier: GPL-3.0-or-later
"""Job descriptions as `farm` writes them, and what Flamenco makes of its job type."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import bpy

from ..programs import tool
from .reports import run
from .scenes import animate, cube, save_scene

MANAGER = Path(__file__).with_name("flamenco_manager.js")


def moving_cube(folder: Path) -> Path:
    """A file with frames 1 to 6 of a cube that meets two others in frames 3 and 4; the path has blanks."""
    mover = cube("Mover", (-9.5, 0.0, 0.0))
    cube("Wall", (0.0, 0.5, 0.0))
    cube("Post", (1.3, -1.9, 0.2))
    animate(mover, "location", "LINEAR", f1=(-9.5, 0.0, 0.0), f6=(10.5, 0.1, 0.2))
    bpy.context.scene.frame_end = 6
    (folder / "a scene").mkdir()
    return save_scene(folder / "a scene" / "my room.blend")


def written(folder: Path, *arguments: object) -> dict[str, str]:
    """What `farm` writes."""
    assert run("farm", folder, *arguments) == 0
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


def node() -> str:
    """The path of what runs the stand-in for Flamenco's manager."""
    return tool("node", "apt-get install nodejs")


def job_settings(script: Path) -> list[dict[str, Any]]:
    done = subprocess.run([node(), str(MANAGER), str(script)], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def compiled(script: Path, settings: dict[str, object]) -> list[dict[str, Any]]:
    """The tasks that the job type makes of a job."""
    command = [node(), str(MANAGER), str(script), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def as_submitted(script: Path) -> dict[str, Any]:
    """The settings of a job of the open file, as Flamenco's add-on fills them in."""
    names = {"bpy": bpy, "C": bpy.context, "Path": Path, "abspath": lambda path: Path(bpy.path.abspath(str(path)))}
    values: dict[str, Any] = {"blendfile": bpy.data.filepath}
    for setting in job_settings(script):
        if "eval" in setting:
            values[setting["key"]] = eval(setting["eval"], {}, names)
        elif setting["key"] not in values:
            values[setting["key"]] = setting["default"]
        kind = {"string": str, "int32": int, "bool": bool}[setting["type"]]
        assert isinstance(values[setting["key"]], kind), setting
    return values
