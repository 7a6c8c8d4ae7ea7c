# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles take part in a contact: what crosses, is inside, faces the other, or ends where it is nearest."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, Mesh, Sphere, contact
from contact_lens.core.measures.contact_triangles import contact_triangles

from ..generators import as_matrix, rotation, rotation_about
from ..mesh_shapes import block, flipped, joined, sheet, sphere

TURNED = as_matrix(rotation(np.random.default_rng(4)), [3.0, -1.0, 2.0])
SIDES = {"low x": {0, 1}, "high x": {2, 3}, "low y": {4, 5}, "high y": {6, 7}, "low z": {8, 9}, "high z": {10, 11}}
"""The triangles of a block's sides."""


def sides(a: Mesh, b, clearance: float = 0.0) -> set[str]:
    """The sides of a block that take part in its contact with another shape, in two poses."""
    found = []
    for matrix in (np.eye(4), TURNED):
        shapes = a.transformed(matrix), b.transformed(matrix)
        found.append(set(contact_triangles(shapes[0], shapes[1], contact(*shapes, clearance=clearance)).tolist()))
    assert found[0] == found[1]
    names = {name for name, triangles in SIDES.items() if triangles & found[0]}
    assert found[0] <= set.union(*(SIDES[name] for name in names))
    return names


@pytest.mark.parametrize("as_b", [Mesh, lambda points, triangles: Box(points.mean(axis=0), np.ptp(points, axis=0))])
def test_the_sides_of_a_block_that_cross_or_face_another(as_b) -> None:
    a = Mesh(*block())
    # Through one side; with a corner; across; wholly inside, and around.
    assert sides(a, as_b(*block((1, 0.5, 0.5), (0.5, 0.25, 0.25)))) == {"high x"}
    assert sides(a, as_b(*block((1, 1, 1), (0.5, 0.5, 0.5)))) == {"high x", "high y", "high z"}
    assert sides(a, as_b(*block((3, 0.5, 0.5), (-1, 0.25, 0.25)))) == {"low x", "high x"}
    assert sides(a, as_b(*block((3, 3, 3), (-1, -1, -1)))) == set(SIDES)
    assert sides(a, as_b(*block((0.5, 0.5, 0.5), (0.3, 0.25, 0.25)))) == {"high x"}  # of what is around the nearest
    # Resting on it, a little off, within the clearance, and out of it: what faces it, never what only ends there.
    for low, high in ((1.0, 0.0), (1.1, 0.2), (1.1, 0.0)):
        assert sides(a, as_b(*block((1, 3, 3), (low, -1, -1))), high) == {"high x"}
    # Two nearest corners face nothing.
    assert sides(a, as_b(*block((1, 1, 1), (1.1, 1.1, 1.1))), 0.3) == {"high x", "high y", "high z"}


def test_of_fine_meshes_only_what_is_inside_or_near() -> None:
    floor = Mesh(*sheet(20, 4.0, (-2, -2, 0)))
    turned = as_matrix(rotation_about((0, 0, 1), 0.3), [0.03, 0.01, 0.9])
    ball = Mesh(*sphere(12)).transformed(turned)
    found = contact_triangles(floor, ball, contact(floor, ball))
    # The circle in which the floor cuts the ball, whose triangles are 0.2 wide.
    middles = floor.points[floor.triangles[found]].mean(axis=1)
    radius = np.sqrt(1.0 - 0.81)
    away = np.hypot(middles[:, 0] - 0.03, middles[:, 1] - 0.01)
    assert 0 < len(found) < 60
    assert away.max() < radius + 0.3
    inside = np.flatnonzero(
        np.hypot(*(floor.points[floor.triangles].mean(axis=1)[:, :2] - [0.03, 0.01]).T) < 0.9 * radius
    )
    assert set(inside) <= set(found)
    below = contact_triangles(ball, floor, contact(ball, floor))
    heights = ball.points[ball.triangles, 2]
    assert set(below) == set(np.flatnonzero((heights.min(axis=1) < 0) & (heights.max(axis=1) > 0)))  # a bare surface
    over = ball.translated([0, 0, 0.2])
    near = contact_triangles(floor, over, contact(floor, over, clearance=0.15))
    assert 0 < len(near) < 80
    same = contact_triangles(floor, Sphere((0.03, 0.01, 1.1), 1.0), contact(floor, over, clearance=0.15))
    assert set(near) <= set(same)


def test_cavities_coinciding_meshes_and_faults() -> None:
    a = Mesh(*block())
    assert len(contact_triangles(a, a, contact(a, a))) == 12
    shell = Mesh(*joined([block((4, 4, 4), (-1.5, -1.5, -1.5)), flipped(block((2, 2, 2), (-0.5, -0.5, -0.5)))]))
    found = contact_triangles(shell, a, contact(shell, a))
    assert found.min() >= 12  # of the cavity's walls, all as far away
    twice = Mesh(a.points, np.concatenate([a.triangles, a.triangles[:3], [[0, 0, 1]]]))
    assert len(contact_triangles(twice, a.translated([0.5, 0.2, 0.1]), contact(a, a.translated([0.5, 0.2, 0.1])))) >= 2
