# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that tests run beside Python: a machine may lack them, or have others of the same name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from typing import NamedTuple, NoReturn

import pytest

REQUIRED = "CONTACT_LENS_REQUIRE_PROGRAMS"
"""The variable with which a test fails that would be skipped for lack of a program; the gate sets it."""
SECONDS = 30.0
"""Until an answer counts as not coming."""


class Version(NamedTuple):
    """What a program says of its version, and the least one that tests can use."""

    what: str
    says: str
    least: tuple[int, ...]


VERSIONS = {
    "blender": Version("Blender 4.2 or newer", r"^Blender (\d+)\.(\d+)", (4, 2)),
    "node": Version("Node.js 16 or newer", r"^v(\d+)\.\d+\.", (16,)),
    "parallel": Version("GNU parallel", r"^GNU parallel (\d+)", (0,)),  # moreutils has one too
}


def is_required() -> bool:
    """Whether tests may not be skipped for lack of a program."""
    return bool(os.environ.get(REQUIRED))


def lacks(sentence: str) -> NoReturn:
    """Skip the test, or fail it where the programs are required."""
    if is_required():
        pytest.fail(f"{sentence} ({REQUIRED} is set)", pytrace=False)
    pytest.skip(sentence)


def tool(name: str, source: str) -> str:
    """The path of a program of `VERSIONS` or of any other; `source` says how to get it."""
    path = shutil.which(name)
    if path is None:
        lacks(f"there is no {name}: {source}")
    if name in VERSIONS and (unusable := unusable_reason(path, VERSIONS[name])):
        lacks(f"{unusable}: {source}")
    return path


@cache
def unusable_reason(path: str, version: Version) -> str:
    """Why this program is not the one of this version; empty when it is."""
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} is not {version.what}: {error}"
    said = done.stdout.decode("utf-8", "replace").strip()
    found = re.search(version.says, said, re.MULTILINE)
    if found and tuple(map(int, found.groups())) >= version.least:
        return ""
    shown = (said or done.stderr.decode("utf-8", "replace").strip() or "nothing").splitlines()[0]
    return f"{path} is not {version.what}, and says {shown!r}"
