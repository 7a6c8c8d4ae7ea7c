# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of build.py and of what it publishes share."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def distributions(load_build: Callable[[], ModuleType], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel that is built from it: the wheel first."""
    folder = tmp_path_factory.mktemp("distributions")
    load_build().build_distributions(Path(sys.executable), folder)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="session")
def files_in_git() -> list[str]:
    """The paths of what git has of this checkout."""
    root = Path(__file__).resolve().parents[2]
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git")
    found = subprocess.run([git, "ls-files", "-z"], cwd=root, capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"git lists no files: {found.stderr.decode('utf-8', 'replace').strip()}")
    return found.stdout.decode("utf-8").split("\0")[:-1]
