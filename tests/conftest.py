# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share, with and without Blender."""

from __future__ import annotations

import importlib.util
import os
import secrets

import pytest

if importlib.util.find_spec("hypothesis"):  # an installed Blender has none, and its tests use none
    from hypothesis import HealthCheck, settings

    # The machine may be busy, so no deadline; the same examples in every run, so that a failure can be had again.
    settings.register_profile(
        "contact_lens", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
    )
    settings.load_profile("contact_lens")


FRESH_SEED = int(os.environ.setdefault("CONTACT_LENS_SEED", str(secrets.randbelow(10**9))))
"""Of the generated pairs that are new in every run; the workers of pytest-xdist inherit it."""


def pytest_report_header() -> str:
    return f"contact_lens: CONTACT_LENS_SEED={FRESH_SEED} gives the same new pairs again"


@pytest.fixture(scope="session")
def fresh_seed() -> int:
    return FRESH_SEED
