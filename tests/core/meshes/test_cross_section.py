# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a plane cuts a surface: areas and lengths that are known, of solids with holes, in each other, and open."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull, Mesh
from contact_lens.core.meshes.cross_section import cross_section
from contact_lens.core.meshes.solid_facets import mesh_of

from ..generators import CUBE, box, rotation

ALONG = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])
"""Axes of the plane y = 0."""


def tube(count: int = 24) -> Mesh:
    """A prism with a hole, from z = -1/2 to 1/2, radii 1 and 1/2."""
    angles = np.arange(count) * 2.0 * np.pi / count
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.full(count, -0.5)])
    rows = np.arange(4)[:, None] * count + np.arange(count)  # a rectangle that goes around z
    a, b = rows, np.roll(rows, -1, axis=0)
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    half = np.array((1.0, 1.0, -1.0))
    loops = [ring, ring * (0.5, 0.5, 1.0), ring * (0.5, 0.5, -1.0), ring * half]
    triangles = np.concatenate([np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])
    return Mesh(np.concatenate(loops), triangles)


def sizes(points, triangles, point=(0.0, 0.0, 0.0), axes=ALONG) -> tuple[float, float]:
    """The area of the filled section and the length of its lines."""
    found = cross_section(points, triangles, np.asarray(point, dtype=float), axes)
    sides = np.diff(found.triangles, axis=1)
    lines = found.segments[:, 1] - found.segments[:, 0]
    return 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum(), np.linalg.norm(lines, axis=1).sum()


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_areas_and_lengths_are_right_wherever_a_mesh_is(mirror):
    """Of a tube along its axis, through corners, and across it; turned, mirrored and far from the origin."""
    rng, mesh = np.random.default_rng(7), tube()
    ring, side = 12 * np.sin(2 * np.pi / 24), 2 * np.sin(np.pi / 24)
    turn, place = rotation(rng) @ np.diag((mirror, 1.0, 1.0)), 1e3 * rng.normal(size=3)
    points = mesh.points @ turn.T + place
    for axes, expected in ((ALONG, (1.0, 6.0)), (np.eye(3), (0.75 * ring, 36 * side))):
        assert sizes(points, mesh.triangles, place, axes @ turn.T) == pytest.approx(expected)


def test_solids_in_and_across_each_other_are_filled_once():
    pieces = [ConvexHull(box((2.0, 2.0, 2.0), center)) for center in ((0, 0, 0), (1, 0, 0), (0.1, 0.1, 0.1))]
    mesh = mesh_of(pieces)
    assert sizes(mesh.points, mesh.triangles, (0, 0.05, 0)) == pytest.approx((6.0 + 0.1 * 2.0, 24.0))


def test_corners_of_their_own_are_joined_and_lines_that_end_enclose_nothing():
    mesh = mesh_of([ConvexHull(CUBE), ConvexHull(CUBE + (5.0, 0.0, 0.0))])
    loose = mesh.points[mesh.triangles].reshape(-1, 3)
    triangles = np.arange(len(loose)).reshape(-1, 3)
    assert sizes(loose, triangles) == pytest.approx((2.0, 8.0))
    is_cut = np.ptp(loose[triangles][..., 1], axis=1) > 0.0
    opened = np.delete(triangles, np.flatnonzero(is_cut)[0], axis=0)
    assert sizes(loose, opened)[0] == pytest.approx(1.0)


def test_a_plane_beside_a_mesh_cuts_nothing():
    found = cross_section(tube().points, tube().triangles, np.array((0.0, 5.0, 0.0)), ALONG)
    assert found.segments.shape == (0, 2, 3)
    assert found.triangles.shape == (0, 3, 3)
