# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory an answer takes does not grow with the product of the vertices of both shapes."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull, Relation, contact_region, sat
from contact_lens.core.narrow_phase.relation import relation_of

from ..core.assertions import peak_memory
from ..core.generators import disc, sphere_points
from ..core.oracles import exact

MEGABYTE = 1 << 20


def ball(count: int, radius: float) -> ConvexHull:
    return ConvexHull(radius * sphere_points(np.random.default_rng(count), count))


def test_whether_one_of_two_large_shapes_is_inside_is_found_in_little_memory() -> None:
    outer, inner = ball(2000, 1.0), ball(1900, 0.9)
    assert len(inner.vertices) * len(outer.normals) * 8 > 50 * MEGABYTE
    _ = inner._centred, outer.center  # computed once and kept: not to be measured
    relation, used = peak_memory(lambda: relation_of(outer, inner, -1.0, 0.0, 0.0))
    assert used < 8 * MEGABYTE
    assert relation is Relation.B_INSIDE_A
    # A vertex that sticks out ends the search for others.
    beside = inner.translated([0.1, 0.0, 0.0])
    assert relation_of(outer, beside, -1.0, 0.0, 0.0) is Relation.PENETRATING
    assert relation_of(outer, beside, -1.0, 0.01, 0.0) is Relation.B_INSIDE_A


def test_sat_of_two_large_shapes_takes_little_memory() -> None:
    a, b = ball(1000, 1.0), ball(900, 1.0)
    assert len(a.edges) * len(b.normals) * 8 > 32 * MEGABYTE
    sat(a, b)  # what is computed once and kept is not measured
    found, used = peak_memory(lambda: sat(a, b))
    assert used < 8 * MEGABYTE
    assert found.signed_distance == pytest.approx(exact(a.vertices, b.vertices).signed_distance, abs=1e-13)


def test_two_faces_of_many_sides_are_intersected_in_little_memory() -> None:
    sides = 1500
    face = disc(sides)
    below, above = ConvexHull([*face, [0, 0, -1]]), ConvexHull([*(face + [0.5, 0, 0]), [0.5, 0, 1]])
    assert sides * sides * 8 > 16 * MEGABYTE
    middle = [0.25, 0.0, 0.0]
    found, used = peak_memory(lambda: contact_region(below, above, [0, 0, 1], 0.0, middle, middle))
    assert used < 12 * MEGABYTE
    lens = 2.0 * np.arccos(0.25) - 0.25 * np.sqrt(4.0 - 0.25)  # two circles of radius 1, their centres 0.5 apart
    assert abs(found.area - lens) < 1e-5
