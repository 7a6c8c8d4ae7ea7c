# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds given to the depth of compounds and meshes: the first answer is true, more time makes it no worse."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, Compound, ConvexHull, Mesh, contact, verify
from contact_lens.core.budget import Budget

from ..mesh_shapes import torus

PAIRS = {
    "compounds": tuple(
        Compound([ConvexHull(np.random.default_rng(seed).normal(size=(8, 3)) + k) for k in range(6)]) for seed in (1, 2)
    ),
    "meshes": (Mesh(*torus(24, 12)), Mesh(*torus(20, 10)).translated((0.3, 0.2, 0.1))),
    "mesh and compound": (Mesh(*torus(24, 12)), Compound([Box((1, 0, 0), (1, 1, 1)), Box((1, 0.7, 0), (2, 1, 0.3))])),
}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", PAIRS)
def test_a_budget_of_zero_gives_a_translation_that_separates_and_true_bounds(name):
    a, b = PAIRS[name]
    first, whole = contact(a, b, budget=0), contact(a, b)
    assert first.iterations == 0
    assert verify(first, a, b), verify(first, a, b).failures
    assert first.lower_bound <= whole.lower_bound + 1e-9
    assert whole.signed_distance >= first.signed_distance - 1e-9, "more steps find no longer translation"
    assert contact(a, b.translated(first.mtv * (1.0 + 1e-6))).depth <= 1e-5 * b.extent


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", PAIRS)
def test_time_that_is_not_needed_changes_nothing(name):
    a, b = PAIRS[name]
    default, long = contact(a, b), contact(a, b, budget=60)
    assert long.upper_bound - long.lower_bound <= default.upper_bound - default.lower_bound + 1e-12
    assert long.signed_distance >= default.signed_distance - 1e-12


def test_a_budget_is_spent_by_nodes_or_by_seconds():
    assert Budget(nodes=10).spent(5) == 0.5
    assert Budget(nodes=0).spent(0) == 1.0
    over = Budget(seconds=1e-9)
    assert over.spent(0) == 1.0
    assert over.is_late
    assert Budget.of_seconds(None).nodes == Budget().nodes
    assert Budget(nodes=10).without(4).nodes == 6


@pytest.mark.parametrize("wrong", [-1, np.nan, np.inf, "1", True, [1]])
def test_what_is_no_budget_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=r"^budget must be a finite number"):
        contact(*PAIRS["compounds"], budget=wrong)
