# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces of meshes. Oracles: volumes add up; points are inside exactly when in a piece (trimesh's own solids,
winding numbers); pieces do not overlap."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from contact_lens.core.decomposition.decompose_mesh import decompose_mesh
from contact_lens.core.decomposition.decompose_polygon import triangulated
from contact_lens.core.decomposition.mesh_pieces import mesh_pieces
from contact_lens.core.decomposition.piece_distance import distance_from_mesh
from contact_lens.core.decomposition.polygon_convexity import outline_of, polygon_convexity
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.surface import signed_volume
from contact_lens.core.progress import Cancelled
from contact_lens.core.shapes.hull import ConvexHull

from ..assertions import assert_progress, peak_memory
from ..generators import rotation
from ..mesh_shapes import Surface, block, bumpy, joined, prism, sphere, torus
from ..meshes.test_mesh_distance import box
from ..meshes.test_winding import summed
from .test_decompose_polygon import L, comb, polygons


def extruded(outline: np.ndarray, height: float = 1.0) -> Surface:
    if not polygon_convexity(outline).counter_clockwise:
        outline = outline[::-1].copy()
    return prism(outline, triangulated(outline_of(outline)), (0.0, height))


def depths_in(piece: ConvexHull, points: np.ndarray) -> np.ndarray:
    return (piece.offsets - (points - piece.center) @ piece.normals.T).min(axis=1)


def assert_exact(points: np.ndarray, triangles: np.ndarray, found, rng, overlap: bool = False) -> None:
    assert found.exact, found.message
    size = np.ptp(points, axis=0).max()
    unit = 2.0**-52 * np.abs(points).max()
    assert found.distance <= 1e5 * unit
    volume = sum(piece.volume for piece in found.pieces)
    area = sum(piece.area for piece in found.pieces)
    assert (
        abs(volume - abs(signed_volume(points - points.mean(axis=0), triangles))) <= 1e-9 * volume + 200 * unit * area
    )
    queries = rng.uniform(points.min(axis=0), points.max(axis=0), (300, 3))
    depths = np.array([depths_in(piece, queries) for piece in found.pieces])
    sure = (np.abs(depths) > 1e-9 * size + 200 * unit).all(axis=0)
    inside = np.abs(summed(queries, (points, triangles))) > 0.5
    count = (depths > 0).sum(axis=0)
    assert ((count > 0) == inside)[sure].all()
    if not overlap:
        assert (count <= 1)[sure].all()


def test_known_solids():
    rng = np.random.default_rng(1)
    plus = [[1, 0], [2, 0], [2, 1], [3, 1], [3, 2], [2, 2], [2, 3], [1, 3], [1, 2], [0, 2], [0, 1], [1, 1]]
    for (points, triangles), pieces, reflex in (
        (extruded(L), 2, 1),
        (extruded(np.array(plus, float)), 3, 4),
        (box(), 1, 0),
        (extruded(comb(3)), 4, 4),
        (torus(8, 6), 16, 16),
    ):
        found = decompose_mesh(Mesh(points, triangles))
        assert len(found.pieces) == pieces
        assert found.reflex_edges == reflex
        assert_exact(points, triangles, found, rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_prisms_over_random_polygons(seed):
    rng = np.random.default_rng(seed)
    for outline in polygons(5, 100 + seed):
        points, triangles = extruded(outline)
        assert_exact(points, triangles, decompose_mesh(Mesh(points, triangles)), rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_bodies_anywhere(seed):
    rng = np.random.default_rng(seed)
    for size, far in ((1.0, 0.0), (1e-4, 0.0), (1e5, 0.0), (1.0, 1e6)):
        points, triangles = bumpy(rng, 5, high=1.0)
        points = points @ rotation(rng).T * size + far
        found = decompose_mesh(Mesh(points, rng.permutation(triangles)))
        assert found.reflex_edges > 5
        assert_exact(points, triangles, found, rng)


def test_rotated_faces_are_flat_but_for_rounding_and_single_precision_needs_a_tolerance():
    rng = np.random.default_rng(7)
    points, triangles = extruded(L)
    for _ in range(6):
        turned = points @ rotation(rng).T + rng.uniform(-100, 100, 3)
        found = decompose_mesh(Mesh(turned, triangles))
        assert len(found.pieces) == 2
        assert_exact(turned, triangles, found, rng)
        rounded = (points @ rotation(rng).T).astype(np.float32).astype(np.float64)
        found = decompose_mesh(Mesh(rounded, triangles), tolerance=1e-6)
        assert len(found.pieces) == 2
        assert found.distance < 1e-5
        assert_exact(rounded, triangles, decompose_mesh(Mesh(rounded, triangles)), rng)


@pytest.mark.slow
def test_cavities_among_many_loose_parts_belong_to_the_smallest_part_around_them():
    """Shells in shells, and parts of either winding beside them."""
    parts, wanted = [], 0.0
    cube, sides = box()
    for k, at in enumerate(np.ndindex(4, 4, 4)):
        if k % 16 == 0:  # a wall, a hollow, a core, and a hollow in that
            for size, inward in ((8.0, False), (6.0, True), (4.0, False), (2.0, True)):
                parts.append((cube * size, sides[:, ::-1] if inward else sides, at))
            wanted += 8.0**3 - 6.0**3 + 4.0**3 - 2.0**3
        else:
            parts.append((cube, sides[:, ::-1] if k % 2 else sides, at))
            wanted += 1.0
    points, triangles = joined([(own + 10.0 * np.array(at), corners) for own, corners, at in parts])
    for turned in (triangles, triangles[:, ::-1]):
        found = decompose_mesh(Mesh(points, turned))
        assert found.exact
        assert sum(piece.volume for piece in found.pieces) == pytest.approx(wanted, rel=1e-12)


def test_loose_parts_and_cavities():
    rng = np.random.default_rng(2)
    cube, half = block(), block((0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    two = joined([cube, block(low=(0.5, 0.25, 0.125))])
    found = decompose_mesh(Mesh(*two))
    assert len(found.pieces) == 2
    assert_exact(*two, found, rng, overlap=True)
    turned = joined([cube, (cube[0] + 2.0, cube[1][:, ::-1])])
    assert sum(piece.volume for piece in decompose_mesh(Mesh(*turned)).pieces) == pytest.approx(2)
    points, faces = joined([cube, (half[0], half[1][:, ::-1])])
    for wound in (faces, faces[:, ::-1]):
        found = decompose_mesh(Mesh(points, wound))
        assert len(found.pieces) == 6
        assert_exact(points, wound, found, rng)


def test_what_has_no_pieces_is_refused():
    points, triangles = extruded(L)
    solid, (ring, faces) = Mesh(points, triangles), torus(12, 6)
    angle = np.arctan2(ring[:, 1], ring[:, 0])
    crossed = np.column_stack([ring[:, 0], ring[:, 1] * np.cos(angle), ring[:, 2]])  # a tube bent through itself
    for message, mesh, most in (
        ("mesh: it is not closed", Mesh(points, triangles[1:]), 100),
        ("most_reflex: 16 edges of the mesh bend inward and 15 are allowed", Mesh(*torus(8, 6)), 15),
        ("most_reflex: 1 edge of the mesh bends inward and 0 are allowed", solid, 0),
        ("most_reflex", solid, -1),
        ("mesh: it encloses no volume", Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]]), 100),
        ("mesh: ", Mesh(crossed, faces), 1000),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            decompose_mesh(mesh, most_reflex=most)
    assert decompose_mesh(solid).message == "2 convex pieces from 1 edge that bends inward, exact"
    assert_progress(lambda progress: decompose_mesh(solid, progress=progress))


def test_the_distance_from_the_mesh():
    points, triangles = extruded(L, 4.0)
    hull = ConvexHull(points)
    assert distance_from_mesh([hull], Mesh(points, triangles)) == pytest.approx(0.5**0.5, rel=2e-2)
    assert distance_from_mesh([hull], Mesh(points, triangles)) >= 0.5**0.5
    pieces = decompose_mesh(Mesh(points, triangles)).pieces
    left_out = distance_from_mesh(pieces[:1], Mesh(points, triangles))
    assert 0.9 < left_out < 1.5
    shrunk = [ConvexHull(p.center + 0.99 * p._centred) for p in pieces]
    assert 0.02 < distance_from_mesh(shrunk, Mesh(points, triangles)) < 0.08
    sampled = bumpy(np.random.default_rng(5), 5, high=1.0)
    hull = ConvexHull(sampled[0])
    rng = np.random.default_rng(1)
    weights = rng.dirichlet([1, 1, 1], (50, len(sampled[1])))
    on_mesh = (weights[..., None] * sampled[0][sampled[1]]).sum(axis=2).reshape(-1, 3)
    deepest = depths_in(hull, on_mesh).max()
    bound = distance_from_mesh([hull], Mesh(*sampled))
    assert deepest <= bound <= 1.1 * deepest


def test_the_distance_makes_no_table_of_all_triangles_and_all_planes():
    points, triangles = sphere(24)
    points = points * (1.0 + 1e-3 * np.random.default_rng(2).random((len(points), 1)))
    hull = ConvexHull(points)
    distance, bytes_used = peak_memory(lambda: distance_from_mesh([hull], Mesh(points, triangles)))
    assert 1e-5 < distance < 1e-3
    assert bytes_used < 8 * len(triangles) * len(hull.normals)


def test_hulls_report_whether_they_fill_hollows():
    """Those of convex parts fill none, whatever keeps these from being cut: an open edge in the same place, a sheet."""
    points, triangles = box()
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.3, 0.3, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
    for mesh, exact, fills, count in (
        (Mesh(*extruded(L)), True, False, 2),
        (Mesh(corners, [[0, 1, 2], [0, 2, 3]]), False, False, 1),
        (Mesh(points, triangles[1:]), False, True, 1),  # a box without a lid is no box
        (Mesh(corners, [[0, 1, 2], [5, 6, 7]]), False, False, 2),
        (Mesh(corners, [[0, 1, 4], [0, 4, 3]]), False, True, 1),
    ):
        found = mesh_pieces(mesh, concavity=inf)
        assert (found.exact, found.fills_hollows, len(found.pieces)) == (exact, fills, count)


def test_pieces_of_any_concavity_are_the_hulls_of_the_loose_parts():
    reported: list[float] = []
    mesh = Mesh(*torus(80, 40))
    found = mesh_pieces(mesh, most_cuts=0, concavity=inf, progress=reported.append)
    assert "the convex hull of the mesh" in found.message
    assert len(found.pieces) == 1
    assert found.distance > 0.29
    assert found.fills_hollows
    assert reported == sorted(reported)
    assert len({fraction for fraction in reported if 0.0 < fraction < 0.5}) > 10
    with pytest.raises(Cancelled):
        mesh_pieces(mesh, most_cuts=0, concavity=inf, progress=lambda fraction: fraction < 0.1)
