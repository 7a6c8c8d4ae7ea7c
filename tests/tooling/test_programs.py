# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests do on machines whose programs are missing, old, or others of the same name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .. import browser, programs
from ..browser import browsers, usable_browser
from ..programs import REQUIRED, tool

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs are scripts with a #! line")

Fake = Callable[[str, str], Path]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """`fake(NAME, SCRIPT)` puts a program on PATH, which has no others."""
    monkeypatch.delenv(REQUIRED, raising=False)
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return put


def skipped(ask: Callable[[], object]) -> str:
    """Why a test is skipped that asks this."""
    with pytest.raises(pytest.skip.Exception) as caught:
        ask()
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "script", "reason"),
    [
        ("node", "echo v12.22.9", "is not Node.js 16 or newer, and says 'v12.22.9'"),
        ("node", "echo 'node: invalid option' >&2; exit 1", "is not Node.js 16 or newer, and says 'node: invalid opt"),
        ("parallel", "echo \"parallel: invalid option -- '-'\" >&2; exit 1", "is not GNU parallel, and says"),
        ("parallel", "exec /bin/sleep 60", "is not GNU parallel: .* timed out"),
        ("blender", "echo 'Blender 3.4.1'", "is not Blender 4.2 or newer, and says 'Blender 3.4.1'"),
    ],
)
def test_another_program_of_the_name_is_a_skip_that_says_so(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, name: str, script: str, reason: str
) -> None:
    monkeypatch.setattr(programs, "SECONDS", 1.0 if "timed out" in reason else 30.0)
    assert skipped(lambda: tool(name, "get it")) == f"there is no {name}: get it"
    fake(name, script)
    with pytest.raises(pytest.skip.Exception, match=f"{reason}.*: get it$"):
        tool(name, "get it")
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match=reason):
        tool(name, "get it")


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("node", "echo v16.0.0"),
        ("node", "echo v24.1.0"),
        ("parallel", "echo 'GNU parallel 20221122'"),
        ("blender", "echo 'Warning: no display'; echo 'Blender 4.10.0 LTS'"),
        ("bash", "exit 2"),
    ],
)
def test_a_program_that_is_new_enough_is_used(fake: Fake, name: str, script: str) -> None:
    path = fake(name, script)
    assert tool(name, "get it") == str(path)


def test_pages_are_tried_in_the_browsers_that_there_are_and_where_they_are_required_in_both_kinds(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    both = ["chromium-headless-shell", "chromium"]
    assert browsers() == ["chromium"], "which is missing, as the skips say"
    fake("chromium-headless-shell", "exit 1")
    assert browsers() == both[:1]
    fake("google-chrome", "exit 1")
    assert browsers() == both
    monkeypatch.setenv("CHROMIUM", "mine")
    assert browsers() == ["mine"]
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(REQUIRED, "1")
    assert browsers() == both


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'requires the chromium snap to be installed' >&2; exit 1", "it has ended"),
        ("exec /bin/sleep 60", "it does not answer"),
        (
            """printf '{"id": 1, "error": {"message": "not for you"}}\\0' >&4; exec /bin/sleep 60""",
            "Target.createTarget: not for you",
        ),
    ],
)
def test_a_browser_that_cannot_be_driven_is_a_skip_that_says_so(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setattr(browser, "PROBE_SECONDS", 1.0 if "answer" in reason else 30.0)
    assert skipped(lambda: usable_browser("chromium")).startswith("there is no chromium: ")
    path = fake("google-chrome", script)
    assert skipped(lambda: usable_browser("chromium")) == f"{path} cannot be driven: {reason}"
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match=reason):
        usable_browser("chromium")


def test_the_gate_has_both_kinds_of_browsers_and_requires_programs() -> None:
    gate = (Path(__file__).resolve().parents[2] / ".ci" / "run").read_text(encoding="utf-8")
    assert {"chromium", "chromium-headless-shell", "nodejs", "parallel"} <= set(gate.split())
    runs = re.findall(r"^ *stage .*python3 build\.py test\b.*", gate, re.MULTILINE)
    elsewhere = ("--core", "--blender-binary", "--gui")  # an installed Blender may be in another root
    required = [line for line in runs if not any(option in line for option in elsewhere)]
    assert len(required) == 3
    assert all(f" {REQUIRED}=1 " in line for line in required)
