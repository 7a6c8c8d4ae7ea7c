# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests in a real Blender window: each starts Blender, lets tests/gui/drive.py play a scenario and reads its numbers.

Linux with X11 only: an own Xvfb display when xvfb-run is there (so that nothing of the user's own screen is touched),
else the display of $DISPLAY. The screenshots stay in build/gui.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("drive.py")
PICTURES = ROOT / "build" / "gui"
WIDTH, HEIGHT = 1280, 800
SECONDS = 600
"""No scenario takes longer than this, on two cores with software OpenGL."""


class Played(NamedTuple):
    """The result of a scenario in the window."""

    numbers: dict[str, Any]
    """What the scenario put in `window.numbers`."""
    pictures: dict[str, Path]
    """Screenshots by the name the scenario gave them."""


@pytest.fixture(scope="session")
def blender() -> str:
    """The Blender program: $BLENDER or `blender` on PATH."""
    found = shutil.which(os.environ.get("BLENDER", "blender"))
    if found is None:
        pytest.fail("There is no Blender: set BLENDER or put `blender` on PATH.")
    return found


@pytest.fixture(scope="module")
def profile() -> Iterator[Path]:
    """A Blender profile of the module's own, right under the temporary folder: Blender's socket paths are short."""
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def play(blender: str, packed: Path, profile: Path) -> Callable[[str], Played]:
    """`play(NAME)` runs tests/gui/scenarios/NAME.py in a Blender window. A scenario that fails fails the test."""

    def played(scenario: str) -> Played:
        folder = PICTURES / scenario
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [blender, "--gpu-backend", "opengl", "--factory-startup"]
        command += ["--window-geometry", "0", "0", str(WIDTH), str(HEIGHT), "--enable-event-simulate"]
        command += ["--python-exit-code", "1", "-P", str(DRIVER), "--", scenario, str(packed), str(folder)]
        if shutil.which("xvfb-run"):
            first = 99 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
            screen = f"-screen 0 {WIDTH}x{HEIGHT}x24 +extension GLX"
            command = ["xvfb-run", "-a", "-n", str(first), "-s", screen, *command]  # two never try the same one
        elif not os.environ.get("DISPLAY"):
            pytest.fail("There is neither xvfb-run nor a display for a window (on Debian: apt install xvfb xauth).")
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile), "LIBGL_ALWAYS_SOFTWARE": "1"}
        log = folder / "blender.log"
        with log.open("w", encoding="utf-8") as said:
            try:
                code = subprocess.run(
                    command, cwd=ROOT, env=environment, stdout=said, stderr=said, timeout=SECONDS, check=False
                ).returncode
            except subprocess.TimeoutExpired:
                pytest.fail(f"The scenario {scenario!r} did not end in {SECONDS} s:\n{_end_of(log)}")
        result = folder / "result.json"
        if not result.is_file():
            pytest.fail(f"Blender ended with code {code} before the scenario {scenario!r} did:\n{_end_of(log)}")
        answer = json.loads(result.read_text(encoding="utf-8"))
        if answer["error"]:
            pytest.fail(f"The scenario {scenario!r} failed; its screenshots are in {folder}:\n{answer['error']}")
        assert code == 0, _end_of(log)
        return Played(answer["numbers"], {path.stem: path for path in sorted(folder.glob("*.png"))})

    return played


@pytest.fixture(scope="module")
def played(play: Callable[[str], Played], request: pytest.FixtureRequest) -> Played:
    """The scenario of the module's name, played once: every test of the module reads from it."""
    return play(request.path.stem.removeprefix("test_"))


@pytest.fixture(scope="module")
def seen(played: Played) -> dict[str, Any]:
    """The numbers of that scenario."""
    return played.numbers


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:])
