# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the core share: without CoACD, unless they ask for it."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.fixture(autouse=True)
def _without_coacd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers in the same time, whether the optional package is installed or not.

    Tests of CoACD itself ask for the fixture `coacd`.
    """
    if "coacd" not in request.fixturenames:
        pieces = import_module("contact_lens.core.decomposition.mesh_pieces")
        monkeypatch.setattr(pieces, "coacd_available", lambda: False)


@pytest.fixture
def coacd() -> object:
    """The optional package; the test is skipped without it."""
    return pytest.importorskip("coacd")
