# SPDX-License-Identifier: GPL-3.0-or-later
"""Short translations tested in one go, against one crossing test each."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Mesh
from contact_lens.core.meshes import short_steps
from contact_lens.core.meshes.short_steps import are_clear_after
from contact_lens.core.meshes.triangle_pairs import crossing_triangles

from ..mesh_shapes import block, sheet, torus, voxels

FRAME = voxels([(x, 0, z) for x in range(3) for z in range(3) if (x, z) != (1, 1)])
PAIRS = {
    "in a frame": (FRAME, block(low=(1.0, 0.0, 1.0))),
    "on a frame": (FRAME, block((2.0, 1.0, 2.0), (0.5, 1.0, 0.5))),
    "through": (torus(16, 8), sheet(5)),
    "far apart": (block(), block(low=(9.0, 0.0, 0.0))),
}


@pytest.mark.parametrize("most", [100, 1 << 16])
@pytest.mark.parametrize("name", PAIRS)
def test_they_leave_no_triangles_that_meet_where_crossings_say_so(name: str, most: int, monkeypatch) -> None:
    monkeypatch.setattr(short_steps, "_TESTED", most)
    a, b = (Mesh(*surface) for surface in PAIRS[name])
    axes = np.concatenate([np.eye(3), -np.eye(3), np.random.default_rng(2).normal(size=(9, 3))])
    steps = np.concatenate([axes * length for length in (0.0, 1e-15, 1e-6, 0.1)])
    wanted = [not len(crossing_triangles(a, b.translated(step))) for step in steps]
    assert are_clear_after(a, b, steps).tolist() == wanted
    assert are_clear_after(a, b, steps[:0]).tolist() == []
