# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit vectors are found again as if all were looked at."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.narrow_phase.directions import Directions

from ..generators import direction


@pytest.mark.parametrize("width", [1e-12, 1e-7, 0.1])
@pytest.mark.parametrize("flat", [False, True])
def test_the_first_within_the_width_is_found(width, flat):
    rng = np.random.default_rng(4)
    directions = Directions()
    kept: list[np.ndarray] = []
    found = 0
    for _ in range(400):
        unit = direction(rng)
        if flat:
            unit = np.append(direction(rng, 2), 0.0)
        if kept and rng.random() < 0.5:
            unit = kept[rng.integers(len(kept))] + width * rng.uniform(-0.5, 0.5, 3)
        near = np.abs(np.array(kept).reshape(-1, 3) - unit).sum(axis=1) <= width
        assert directions.find(*unit.tolist(), width) == (int(near.argmax()) if near.any() else None)
        found += near.any()
        directions.add(*unit.tolist())
        kept.append(unit)
    assert 50 < found < 400


def test_opposite_vectors_are_two():
    directions = Directions()
    directions.add(0.0, 0.0, 1.0)
    assert directions.find(0.0, 0.0, -1.0, 1e-7) is None
    assert directions.find(0.0, -0.0, 1.0, 0.0) == 0
