# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces of meshes. Oracles: volumes add up; points are inside exactly when in a piece (trimesh's own solids,
winding numbers); pieces do not overlap."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from contact_lens.core.contact import contact
from contact_lens.core.decomposition.decompose_mesh import decompose_mesh
from contact_lens.core.decomposition.decompose_polygon import triangulated
from contact_lens.core.decomposition.mesh_pieces import mesh_pieces
from contact_lens.core.decomposition.piece_distance import distance_from_mesh
from contact_lens.core.decomposition.polygon_convexity import outline_of
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.surface import signed_volume
from contact_lens.core.progress import Cancelled
from contact_lens.core.shapes.hull import ConvexHull

from .generators import rotation
from .test_decompose_polygon import L, comb, polygons

Surface = tuple[np.ndarray, np.ndarray]


def hull_mesh(points: np.ndarray) -> Surface:
    hull = ConvexHull(points)
    fans = [(loop[0], loop[k], loop[k + 1]) for loop in hull.facets for k in range(1, len(loop) - 1)]
    return hull.vertices, np.array(fans)


def box(size: float = 1.0) -> Surface:
    return hull_mesh(np.array(list(product((-0.5, 0.5), repeat=3))) * size)


def icosphere(steps: int) -> Surface:
    g = (1 + 5**0.5) / 2
    corners = [[0, s, t * g] for s in (-1, 1) for t in (-1, 1)]
    p = np.array([np.roll(c, k) for k in range(3) for c in corners], dtype=float)
    for _ in range(steps):
        points, triangles = hull_mesh(p / np.linalg.norm(p, axis=1, keepdims=True))
        middles = [points[triangles[:, [k, k - 1]]].mean(axis=1) for k in range(3)]
        p = np.unique(np.round(np.concatenate([points, *middles]), 12), axis=0)
    return hull_mesh(p / np.linalg.norm(p, axis=1, keepdims=True))


def torus(around: int, across: int) -> Surface:
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = 2 * np.pi * u / around, 2 * np.pi * v / across
    r = 1 + 0.3 * np.cos(b)
    points = np.stack([r * np.cos(a), r * np.sin(a), 0.3 * np.sin(b)], axis=-1).reshape(-1, 3)

    def at(i, j):
        return ((i % around) * across + j % across).ravel()

    p, q, r_, s = at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)
    return points, np.concatenate([np.stack([p, q, r_], axis=1), np.stack([p, r_, s], axis=1)])


def extruded(outline: np.ndarray, height: float = 1.0) -> Surface:
    n = len(outline)
    if polygon_is_clockwise(outline):
        outline = outline[::-1].copy()
    flat = np.array(triangulated(outline_of(outline)))
    points = np.concatenate([np.column_stack([outline, np.full(n, z)]) for z in (0.0, height)])
    i = np.arange(n)
    j = (i + 1) % n
    sides = [np.stack([i, j, j + n], axis=1), np.stack([i, j + n, i + n], axis=1)]
    return points, np.concatenate([flat[:, ::-1], flat + n, *sides])


def polygon_is_clockwise(p: np.ndarray) -> bool:
    q = np.roll(p, -1, axis=0)
    return float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum()) < 0


def spiky(rng: np.random.Generator, steps: int = 1, least: float = 0.6) -> Surface:
    points, triangles = icosphere(steps)
    return points * rng.uniform(least, 1, (len(points), 1)), triangles


def winding(points: np.ndarray, triangles: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Winding numbers: sums of solid angles."""
    total = np.zeros(len(some))
    for a, b, c in points[triangles]:
        u, v, w = a - some, b - some, c - some
        l, m, n = (np.linalg.norm(x, axis=1) for x in (u, v, w))
        top = (u * np.cross(v, w)).sum(axis=1)
        below = l * m * n + (u * v).sum(axis=1) * n + (v * w).sum(axis=1) * l + (w * u).sum(axis=1) * m
        total += 2 * np.arctan2(top, below)
    return total / (4 * np.pi)


def depths_in(piece: ConvexHull, some: np.ndarray) -> np.ndarray:
    return (piece.offsets - (some - piece.center) @ piece.normals.T).min(axis=1)


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
    some = rng.uniform(points.min(axis=0), points.max(axis=0), (300, 3))
    depths = np.array([depths_in(piece, some) for piece in found.pieces])
    sure = (np.abs(depths) > 1e-9 * size + 200 * unit).all(axis=0)
    inside = np.abs(winding(points, triangles, some)) > 0.5
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


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("seed", range(4))
def test_prisms_over_random_polygons(seed):
    rng = np.random.default_rng(seed)
    for outline in polygons(5, 100 + seed):
        points, triangles = extruded(outline)
        assert_exact(points, triangles, decompose_mesh(Mesh(points, triangles)), rng)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("seed", range(4))
def test_random_bodies_anywhere(seed):
    rng = np.random.default_rng(seed)
    for size, far in ((1.0, 0.0), (1e-4, 0.0), (1e5, 0.0), (1.0, 1e6)):
        points, triangles = spiky(rng)
        points = points @ rotation(rng).T * size + far
        found = decompose_mesh(Mesh(points, rng.permutation(triangles)))
        assert found.reflex_edges > 5
        assert_exact(points, triangles, found, rng)


def test_the_pieces_are_disjoint():
    points, triangles = spiky(np.random.default_rng(3))
    pieces = decompose_mesh(Mesh(points, triangles)).pieces
    for i, a in enumerate(pieces):
        for b in pieces[:i]:
            assert contact(a, b).signed_distance > -1e-12


def test_rotated_faces_are_flat_but_for_rounding():
    rng = np.random.default_rng(7)
    points, triangles = extruded(L)
    for _ in range(10):
        turned = points @ rotation(rng).T + rng.uniform(-100, 100, 3)
        found = decompose_mesh(Mesh(turned, triangles))
        assert len(found.pieces) == 2
        assert_exact(turned, triangles, found, rng)


def test_single_precision_needs_a_tolerance():
    rng = np.random.default_rng(7)
    points, triangles = extruded(L)
    for _ in range(10):
        turned = (points @ rotation(rng).T).astype(np.float32).astype(np.float64)
        found = decompose_mesh(Mesh(turned, triangles), tolerance=1e-6)
        assert len(found.pieces) == 2
        assert found.distance < 1e-5
        assert_exact(turned, triangles, decompose_mesh(Mesh(turned, triangles)), rng)


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
    points = np.concatenate([own + 10.0 * np.array(at) for own, _, at in parts])
    triangles = np.concatenate([corners + 8 * k for k, (_, corners, _) in enumerate(parts)])
    for turned in (triangles, triangles[:, ::-1]):
        found = decompose_mesh(Mesh(points, turned))
        assert found.exact
        assert sum(piece.volume for piece in found.pieces) == pytest.approx(wanted, rel=1e-12)


def test_loose_parts_and_cavities():
    rng = np.random.default_rng(2)
    points, triangles = box()
    two = np.concatenate([points, points + [0.5, 0.25, 0.125]]), np.concatenate([triangles, triangles + 8])
    found = decompose_mesh(Mesh(*two))
    assert len(found.pieces) == 2
    assert_exact(*two, found, rng, overlap=True)
    turned = np.concatenate([points, points + 2]), np.concatenate([triangles, triangles[:, ::-1] + 8])
    assert sum(piece.volume for piece in decompose_mesh(Mesh(*turned)).pieces) == pytest.approx(2)
    hollow = np.concatenate([points, 0.5 * points]), np.concatenate([triangles, triangles[:, ::-1] + 8])
    for faces in (hollow[1], hollow[1][:, ::-1]):
        found = decompose_mesh(Mesh(hollow[0], faces))
        assert len(found.pieces) == 6
        assert_exact(hollow[0], faces, found, rng)


def test_what_has_no_pieces_is_refused():
    points, triangles = extruded(L)
    with pytest.raises(ValueError, match=r"^mesh: it is not closed"):
        decompose_mesh(Mesh(points, triangles[1:]))
    with pytest.raises(ValueError, match=r"^most_reflex: 16 edges of the mesh bend inward and 15 are allowed"):
        decompose_mesh(Mesh(*torus(8, 6)), most_reflex=15)
    with pytest.raises(ValueError, match=r"^most_reflex"):
        decompose_mesh(Mesh(points, triangles), most_reflex=-1)
    with pytest.raises(ValueError, match=r"^mesh: it encloses no volume"):
        decompose_mesh(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]]))
    with pytest.raises(Cancelled):
        decompose_mesh(Mesh(points, triangles), progress=lambda share: share < 0.3)


def test_a_surface_that_crosses_itself_is_refused():
    """A tube bent through itself."""
    points, triangles = torus(12, 6)
    points[:, 2] += 0.0
    angle = np.arctan2(points[:, 1], points[:, 0])
    crossed = np.column_stack([points[:, 0], points[:, 1] * np.cos(angle), points[:, 2]])
    with pytest.raises(ValueError, match=r"^mesh: "):
        decompose_mesh(Mesh(crossed, triangles), most_reflex=1000)


def test_the_distance_from_the_mesh():
    points, triangles = extruded(L, 4.0)
    hull = ConvexHull(points)
    assert distance_from_mesh([hull], Mesh(points, triangles)) == pytest.approx(0.5**0.5, rel=2e-2)
    assert distance_from_mesh([hull], Mesh(points, triangles)) >= 0.5**0.5
    pieces = decompose_mesh(Mesh(points, triangles)).pieces
    left_out = distance_from_mesh(pieces[:1], Mesh(points, triangles))
    assert 0.9 < left_out < 1.5
    shrunk = [ConvexHull(p.center + 0.99 * p.centred) for p in pieces]
    assert 0.02 < distance_from_mesh(shrunk, Mesh(points, triangles)) < 0.08
    sampled = spiky(np.random.default_rng(5))
    hull = ConvexHull(sampled[0])
    rng = np.random.default_rng(1)
    weights = rng.dirichlet([1, 1, 1], (50, len(sampled[1])))
    on_mesh = (weights[..., None] * sampled[0][sampled[1]]).sum(axis=2).reshape(-1, 3)
    deepest = depths_in(hull, on_mesh).max()
    bound = distance_from_mesh([hull], Mesh(*sampled))
    assert deepest <= bound <= 1.1 * deepest


def test_where_cuts_would_be_too_many_the_pieces_are_the_hulls_of_the_loose_parts():
    found = mesh_pieces(Mesh(*torus(16, 8)), most_reflex=0)
    assert "the convex hull of the mesh" in found.message
    assert len(found.pieces) == 1
    assert found.distance > 0.29
    assert found.fills_hollows


def test_hulls_say_whether_they_fill_hollows():
    """Those of convex parts fill none, whatever keeps these from being cut: an open edge in the same place, a sheet."""
    closed = mesh_pieces(Mesh(*extruded(L)))
    assert closed.exact
    assert not closed.fills_hollows
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    sheet = Mesh(square, np.array([[0, 1, 2], [0, 2, 3]]))
    found = mesh_pieces(sheet)
    assert not found.exact
    assert not found.fills_hollows
    points, triangles = box()
    assert mesh_pieces(Mesh(points, triangles[1:])).fills_hollows, "a box without a lid is no box"
    corner = Mesh(square[[0, 1, 2]], np.array([[0, 1, 2]])), Mesh(square[[0, 1, 3]], np.array([[0, 1, 2]]))
    folded = np.concatenate([corner[0].points, corner[1].points + [0.0, 0.0, 1.0]])
    two = Mesh(folded, np.array([[0, 1, 2], [3, 4, 5]]))
    assert len(mesh_pieces(two).pieces) == 2
    assert not mesh_pieces(two).fills_hollows
    dented = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.3, 0.0], [0.0, 1.0, 0.0]])
    assert mesh_pieces(Mesh(dented, np.array([[0, 1, 2], [0, 2, 3]]))).fills_hollows


def test_the_hulls_of_loose_parts_tell_how_far_they_are():
    shares: list[float] = []
    mesh = Mesh(*torus(80, 40))
    mesh_pieces(mesh, most_reflex=0, progress=lambda share: shares.append(share))
    assert shares == sorted(shares)
    assert len({share for share in shares if 0.8 < share < 0.9}) > 10
    with pytest.raises(Cancelled):
        mesh_pieces(mesh, most_reflex=0, progress=lambda share: share < 0.85)
