# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves in which meshes meet: their number, whether they close, how long they are."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.meshes.contact_curves import contact_curves
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.triangle_pairs import crossing_triangles, self_crossings
from contact_lens.core.region.contact_curve import ContactCurve

from ..generators import rotation
from ..mesh_shapes import Surface, block, joined, sheet, sphere, torus


def curves(a: Surface | Mesh, b: Surface | Mesh) -> list[ContactCurve]:
    """The curves of two surfaces."""
    one, other = (side if isinstance(side, Mesh) else Mesh(*side) for side in (a, b))
    return contact_curves(crossing_triangles(one, other), one, other)


def test_two_spheres_meet_in_a_circle() -> None:
    """One closed curve, nearly as long as the circle; the finer the nearer."""
    rng = np.random.default_rng(0)
    for rings, near in ((10, 0.03), (40, 0.002)):
        points, triangles = sphere(rings)
        for _ in range(5):
            p, q = points @ rotation(rng).T, points @ rotation(rng).T + [1.2, 0, 0]
            (circle,) = curves((p, triangles), (q, triangles))
            assert circle.is_closed
            assert circle.length == pytest.approx(2 * np.pi * 0.8, rel=near)
            assert len(np.unique(circle.points, axis=0)) == len(circle.points)


def test_a_ring_and_a_plane() -> None:
    """Two circles around, two across, as the plane lies; open ones where the sheet ends."""
    ring = torus(48, 24)
    wide = sheet(7, 4.0, (-2.0, -2.0, 0.011))
    assert [curve.is_closed for curve in curves(ring, wide)] == [True, True]
    points, triangles = sheet(7, 4.0, (-2.0, -2.0, 0.0))
    turned = points[:, [2, 0, 1]] + [0.013, 0, 0]
    found = curves(ring, (turned, triangles))
    assert [curve.is_closed for curve in found] == [True, True]
    assert [curve.length for curve in found] == pytest.approx([2 * np.pi * 0.3] * 2, rel=0.02)
    small = sheet(5, 0.9, (0.0, 0.0, 0.011))
    found = curves(ring, small)
    assert [curve.is_closed for curve in found] == [False]
    assert found[0].length == pytest.approx(np.pi / 2 * 0.7, rel=0.02)


def test_a_block_on_a_block() -> None:
    """The outline of the common face, once, whatever the triangles below; nothing inside of it."""
    rng = np.random.default_rng(1)
    for low, length in (((0.25, 0.5, 1.0), 2.0), ((0.0, 0.0, 1.0), 2.0), ((-0.25, 0.25, 1.0), 1.5)):
        for turn in (np.eye(3), np.array([[0, 1.0, 0], [0, 0, 1], [1, 0, 0]])):
            (p, t), (q, u) = block((2.0, 2.0, 1.0)), block((0.5, 0.5, 0.5), low)
            order = rng.permutation(len(u))
            found = curves((p @ turn, t), (q @ turn, u[order]))
            assert sum(curve.length for curve in found) == pytest.approx(length), low
            assert [curve.is_closed for curve in found] == [True], low


def test_flat_sheets_meet_in_their_outline() -> None:
    """Where surfaces that end overlap in a plane, the curve is the outline of what they share; beside, the edge."""
    (outline,) = curves(sheet(3, 1.0), sheet(5, 1.0, (0.5, 0.5, 0.0)))
    assert outline.is_closed
    assert outline.length == pytest.approx(2.0)
    (outline,) = curves(sheet(2, 3.0, (-1.0, -1.0, 0.0)), sheet(5, 1.0))
    assert outline.is_closed
    assert outline.length == pytest.approx(4.0)
    (outline,) = curves(sheet(60), sheet(60, 1.0, (0.251, 0.502, 0.0)))
    assert outline.is_closed
    assert outline.length == pytest.approx(2.0 * (0.749 + 0.498))
    (edge,) = curves(sheet(3, 1.0), sheet(2, 1.0, (1.0, 0.0, 0.0)))
    assert not edge.is_closed
    assert edge.length == pytest.approx(1.0)


def test_points() -> None:
    """Meshes that touch in a corner have a curve of one point."""
    (point,) = curves(block(), block((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)))
    assert point.points.tolist() == [[1.0, 1.0, 1.0]]
    assert not point.is_closed
    assert point.length == 0.0
    points, triangles = sheet(4, 2.0, (-1.0, -1.0, 0.0))
    pyramid = np.array([[0.1, 0.2, 0.0], [0, 1, 1], [1, -1, 1], [-1, -1, 1]])
    (point,) = curves((points, triangles), (pyramid, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])))
    assert point.points.tolist() == [[0.1, 0.2, 0.0]]


def test_an_edge_on_a_face_is_one_curve() -> None:
    """Both faces beside the edge touch, the curve is there once."""
    roof = np.array([[0.0, 0.27, 0.0], [3.0, 0.27, 0.0], [0, 1, 1], [3, 1, 1], [0, -1, 1], [3, -1, 1]])
    triangles = np.array([[0, 1, 3], [0, 3, 2], [0, 4, 5], [0, 5, 1]])
    (edge,) = curves(sheet(5, 2.0, (0.5, -0.5, 0.0)), (roof, triangles))
    assert edge.length == pytest.approx(2.0)
    assert (np.diff(edge.points[:, 0]) * (edge.points[-1, 0] - edge.points[0, 0]) > 0).all()


def test_curves_end_where_they_meet_others() -> None:
    """Two blocks as a cross, through a sheet: four parts of a figure that is met twice by none."""
    cross = joined([block((2.0, 0.5, 1.0), (-1.0, -0.25, -0.5)), block((0.5, 2.0, 1.0), (-0.25, -1.0, -0.5))])
    found = curves(cross, sheet(3, 4.0, (-2.0, -2.0, 0.0)))
    assert sum(curve.length for curve in found) == pytest.approx(10.0)
    mesh = Mesh(*cross)
    itself = contact_curves(self_crossings(mesh), mesh, mesh)
    assert itself


@pytest.mark.parametrize("shared", [True, False])
def test_doubled_vertices_do_not_part_curves(shared: bool) -> None:
    """A soup of triangles has the curves of the mesh."""
    points, triangles = torus(20, 12)
    if not shared:
        points, triangles = points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    found = curves((points, triangles), sheet(6, 4.0, (-2.0, -2.0, 0.02)))
    assert [curve.is_closed for curve in found] == [True, True]


def test_order_and_frame_do_not_matter() -> None:
    """Swapped, moved, scaled, faces and vertices in another order: as many curves, as long, as closed."""
    rng = np.random.default_rng(5)
    for index in range(30):
        p, t = sphere(int(rng.integers(4, 14)))
        q, u = torus(int(rng.integers(6, 20)), int(rng.integers(5, 12)), 0.8)
        if index % 3:
            p, q = p @ rotation(rng).T, q @ rotation(rng).T + rng.normal(size=3) * 0.4
        else:
            p, q = np.round(p * 4) / 4, np.round(q * 4) / 4  # much is flat, coplanar and without area

        def summary(found: list[ContactCurve]) -> list[tuple[bool, float]]:
            return sorted((curve.is_closed, round(curve.length, 7)) for curve in found)

        wanted = summary(curves((p, t), (q, u)))
        assert summary(curves((q, u), (p, t))) == wanted
        order, place = rng.permutation(len(t)), rng.permutation(len(p))
        turned = np.stack([np.roll(row, rng.integers(3)) for row in np.argsort(place)[t]])[order]
        assert summary(curves((p[place], turned), (q, u))) == wanted
        if index % 3 == 0:
            p, q = (p + 1024.0) * 2.0, (q + 1024.0) * 2.0
            wanted = sorted((closed, round(2.0 * length, 6)) for closed, length in wanted)
            moved = curves((p, t), (q, u))
            assert sorted((curve.is_closed, round(curve.length, 6)) for curve in moved) == wanted


def test_curves_of_closed_meshes_in_general_position_close() -> None:
    """Always: a surface cannot enter another and not leave it."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        p, t = sphere(int(rng.integers(3, 12)))
        q, u = torus(int(rng.integers(4, 16)), int(rng.integers(3, 10)))
        p = p @ rotation(rng).T * 10.0 ** rng.uniform(-0.5, 0.5)
        found = curves((p, t), (q @ rotation(rng).T + rng.normal(size=3) * 0.5, u))
        assert all(curve.is_closed for curve in found)


def test_arguments() -> None:
    """Others are refused by name."""
    a, b = Mesh(*sphere(6)), Mesh(*sphere(6, (1.0, 0.1, 0.2)))
    found = crossing_triangles(a, b)
    with pytest.raises(ValueError, match="crossings must be"):
        contact_curves([], a, b)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="b must be a Mesh"):
        contact_curves(found, a, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a has fewer triangles"):
        contact_curves(found, Mesh([[0, 0, 0]], [[0, 0, 0]]), b)
    assert contact_curves(crossing_triangles(a, Mesh(*sphere(4, (9.0, 0, 0)))), a, b) == []
