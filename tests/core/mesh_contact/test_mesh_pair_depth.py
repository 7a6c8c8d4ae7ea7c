# SPDX-License-Identifier: GPL-3.0-or-later
"""The depth of real meshes is as short as it can be: compared with the best translation that a long search found."""

from __future__ import annotations

import pytest

from contact_lens.core import Mesh, contact, verify

from ..mesh_pairs import COUNT, mesh_pairs

ROUNDING = 1e-9
"""Relative."""


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("index", range(COUNT))
@pytest.mark.parametrize("budget", [0.0, None], ids=["first", "refined"])
def test_depth_is_certain_and_at_most_a_twentieth_too_long(index: int, budget: float | None):
    (pair,) = mesh_pairs([index])
    a, b = Mesh(*pair.a), Mesh(*pair.b)
    c = contact(a, b, budget=budget)
    assert c.intersects
    assert bool(verify(c, a, b)), verify(c, a, b).failures
    assert c.least_depth <= min(c.depth, pair.best_length) * (1.0 + ROUNDING)
    if budget is None:
        assert c.depth <= 1.05 * pair.best_length
