# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share, with and without Blender."""

from __future__ import annotations

import gc
import importlib.util
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

if importlib.util.find_spec("hypothesis"):  # an installed Blender has none, and its tests use none
    from hypothesis import HealthCheck, settings

    # The machine may be busy, so no deadline; the same examples in every run, so that a failure can be had again.
    settings.register_profile(
        "contact_lens", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
    )
    settings.load_profile("contact_lens")


ROOT = Path(__file__).resolve().parents[1]
FRESH_SEED = int(os.environ.setdefault("CONTACT_LENS_SEED", str(secrets.randbelow(10**9))))
"""Of the generated pairs that are new in every run; the workers of pytest-xdist inherit it."""


GOLDEN = 0.5 * (5**0.5 - 1.0)
"""Multiples of it, less their whole part, are spread evenly over 0 to 1 and follow no pattern of a grid."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all cases of a test with `fast_cases(n)` as slow but n, spread over its grid."""
    grids: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("fast_cases"):
            grids.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in grids.values():
        marker = cases[0].get_closest_marker("fast_cases")
        assert marker is not None
        for i in sorted(range(len(cases)), key=lambda i: i * GOLDEN % 1.0)[marker.args[0] :]:
            cases[i].add_marker(pytest.mark.slow)
    mark_repeated(items)


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what was imported and collected, which stays until the end."""
    gc.collect()
    gc.freeze()


def mark_repeated(items: list[pytest.Item]) -> None:
    """Mark the fast cases of a test of the engine as repeated but the first."""
    tried: set[str] = set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name.startswith(("tests/core/", "tests/promises/")) and not item.get_closest_marker("slow"):
            if name in tried:
                item.add_marker(pytest.mark.repeated)
            tried.add(name)


def pytest_report_header() -> str:
    return f"contact_lens: CONTACT_LENS_SEED={FRESH_SEED} gives the same new pairs again"


@pytest.fixture(scope="session")
def load_build() -> Callable[[], ModuleType]:
    """Imports build.py, which is not a part of the package, as a new module each time."""

    def load() -> ModuleType:
        spec = importlib.util.spec_from_file_location("contact_lens_build", ROOT / "build.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory, load_build: Callable[[], ModuleType]) -> Path:
    """The extension's zip: the one build.py made for this run, else built now."""
    made = os.environ.get("CONTACT_LENS_ZIP")
    return Path(made) if made else load_build().write_zip(tmp_path_factory.mktemp("dist") / "contact_lens.zip")


@pytest.fixture(scope="session")
def fresh_seed() -> int:
    return FRESH_SEED
