# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of build.py and of what it publishes share."""

from __future__ import annotations

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
