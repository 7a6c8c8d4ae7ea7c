# SPDX-License-Identifier: GPL-3.0-or-later
"""Voxels of meshes, and grids of translations: what they call certain is, and what they call likely is near."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from contact_lens.core import ConvexHull, Mesh, contact, sat
from contact_lens.core.meshes.body import Body, are_disjoint
from contact_lens.core.meshes.depth_bounds import common_ball, crossing_pair, deep_corner, point_inside
from contact_lens.core.meshes.depth_proof import CommonCells, CommonPoints, Lattice, PointInside
from contact_lens.core.meshes.half_spaces import shortest_within
from contact_lens.core.meshes.resolve_crossings import resolve_crossings
from contact_lens.core.meshes.translation_grid import TranslationGrid
from contact_lens.core.meshes.triangle_pairs import crossing_triangles
from contact_lens.core.meshes.voxels import surface_points, voxelize

from ..assertions import assert_verified
from ..generators import rotation
from ..mesh_shapes import block, bumpy, joined, sheet, sphere, torus

SHAPES = {
    "bumps": lambda rng: bumpy(rng),
    "a ring": lambda rng: torus(24, 12),
    "a long box": lambda rng: block([3.0, 0.9, 1.3]),
    "a box with a hollow": lambda rng: joined(
        [block([2, 2, 2]), (sphere(5, [1, 1, 1])[0] * 0.9 + 0.1, sphere(5)[1][:, ::-1])]
    ),
    "a sheet": lambda rng: sheet(4),
}


def body_of(surface, rng) -> Body:
    points, triangles = surface
    return Body.of(Mesh(points @ rotation(rng).T + rng.normal(size=3), triangles))


def box_of_cells(body, rng, count=20):
    """A lattice turned at random, and the cells around a body: about so many along its longest side."""
    frame = rotation(rng)
    points = body.mesh.points @ frame.T
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max()) / count
    lattice = Lattice(frame, (low - size * rng.uniform(0.1, 0.9, 3)) @ frame, size)
    return lattice, tuple(int(n) for n in np.ceil((high - low) / size) + 2)


@pytest.mark.parametrize("name", SHAPES)
def test_cells_inside_are_inside_and_cells_that_are_not_touched_have_no_surface(name):
    rng = np.random.default_rng(5)
    body = body_of(SHAPES[name](rng), rng)
    lattice, shape = box_of_cells(body, rng)
    first = np.array([0, 0, 0])
    voxels = voxelize(body, lattice, first, shape)
    inside = np.argwhere(voxels.inside)
    if body.solid:
        assert len(inside) > 20
        assert body.contains(lattice.points_at(inside + rng.uniform(0, 1, inside.shape))).all()
        away = np.argwhere(~voxels.inside & ~voxels.touched)
        assert not body.contains(lattice.points_at(away + rng.uniform(0, 1, away.shape))).any()
    corners = body.mesh.points[body.mesh.triangles]
    on_surface = np.einsum(
        "kw,kwc->kc", rng.dirichlet(np.ones(3), 20_000), corners[rng.integers(0, len(corners), 20_000)]
    )
    cells = np.floor(lattice.cells_from(on_surface)).astype(int)
    assert voxels.touched[tuple(cells.T)].all()
    # The cells touched are few more than those in which there is a point.
    cells, points, triangles = surface_points(body, lattice, first, shape)
    assert (np.floor(lattice.cells_from(points)) == cells).all()
    assert len(np.unique(cells, axis=0)) == len(cells)
    for point, triangle in zip(points[::17], triangles[::17], strict=True):
        alone = Mesh(body.mesh.points, body.mesh.triangles[[triangle]])
        assert abs(alone.signed_distance(point[None])[0]) <= 1e-12
    assert voxels.touched[tuple(cells.T)].all()
    assert len(cells) > 0.3 * voxels.touched.sum()


def pairs(rng):
    yield Body.of(Mesh(*bumpy(rng))), Body.of(Mesh(*bumpy(rng)).translated([0.3, 0.2, 0.1]))
    yield Body.of(Mesh(*torus(24, 12))), Body.of(Mesh(*torus(20, 10, 0.8)).translated([0.9, 0.2, 0.1]))
    yield Body.of(Mesh(*sheet(6, 3.0, [-1.5, -1.4, 0.1]))), Body.of(Mesh(*block([1.0, 0.8, 0.9], [-0.5, -0.4, -0.2])))
    yield Body.of(Mesh(*block([1.0, 0.8, 0.9], [-0.5, -0.4, -0.2]))), Body.of(Mesh(*sheet(6, 3.0, [-1.5, -1.4, 0.1])))


def test_no_translation_shorter_than_the_bound_of_a_grid_separates():
    rng = np.random.default_rng(6)
    for a, b in pairs(rng):
        grid = TranslationGrid(a, b, 2.0, 40**3)
        least = grid.least
        assert least > 0.02
        directions = rng.normal(size=(200, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        for direction in directions:
            assert not are_disjoint(a, b.translated(direction * least * rng.uniform() ** 0.2))
        proof = grid.proof()
        assert proof.least == least
        assert isinstance(proof, CommonCells if a.solid and b.solid else CommonPoints)
        for translation in grid.certain(2.0):
            assert are_disjoint(a, b.translated(translation))


def test_of_convex_solids_the_nearest_likely_translation_is_the_shortest_within_two_cells():
    rng = np.random.default_rng(7)
    for _ in range(6):
        hulls = [ConvexHull(rng.normal(size=(30, 3))) for _ in range(2)]
        bodies = [
            Body.of(Mesh(hull.vertices, [[f[0], f[k], f[k + 1]] for f in hull.facets for k in range(1, len(f) - 1)]))
            for hull in hulls
        ]
        depth = contact(*hulls).depth
        grid = TranslationGrid(*bodies, 1.3 * depth, 40**3)
        assert grid.least <= depth
        assert grid.least >= depth - 4.0 * grid.size
        assert abs(np.linalg.norm(grid.likely(1.3 * depth)[0]) - depth) <= 2.0 * grid.size


def test_a_grid_as_thin_as_a_wafer_has_no_more_cells_than_asked_for():
    flat = Body.of(Mesh(*block([1.0, 1.0, 1e-7])))
    grid = TranslationGrid(flat, flat.translated(np.array([0.3, 0.2, 0.0])), 1e-7, 20**3)
    assert grid.least <= 1e-7
    assert len(grid.certain(3e-7)) <= 20**3


def test_the_shortest_translation_in_half_spaces_is_that_of_least_squares():
    rng = np.random.default_rng(8)
    found = 0
    for _ in range(100):
        normals = rng.normal(size=(rng.integers(1, 12), 3)) + [1.0, 0.0, 0.0]
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        offsets = rng.uniform(-0.5, 1.0, len(normals))
        # Lawson and Hanson, least distance programming.
        matrix = np.vstack([normals.T, offsets])
        solution, _ = nnls(matrix, [0.0, 0.0, 0.0, 1.0])
        left = matrix @ solution - [0.0, 0.0, 0.0, 1.0]
        translation = shortest_within(normals, offsets, 50.0)
        if abs(left[3]) < 1e-9:  # nothing is in all of them
            assert translation is None
            continue
        expected = -left[:3] / left[3]
        if np.linalg.norm(expected) < 40.0:
            assert translation == pytest.approx(expected, abs=1e-6)
            found += 1
    assert found > 50


def test_triangles_that_cross_a_little_are_moved_apart():
    rng = np.random.default_rng(9)
    pegs = joined([block([0.2, 0.2, 1.0], [x, 0.0, 0.0]) for x in (0.0, 0.5, 1.0)])
    a = Body.of(Mesh(*joined([block([0.28, 1.2, 3.0], [x + 0.21, -0.5, -1.0]) for x in (0.0, 0.5)])))
    b = Body.of(Mesh(*pegs))
    assert are_disjoint(a, b)  # a peg between two others, a hundredth from each
    for _ in range(20):
        start = rng.uniform(-0.1, 0.1, 3)
        found = resolve_crossings(a, b, start, 0.3)
        assert found is not None
        assert are_disjoint(a, b.translated(found))
        assert np.linalg.norm(found - start) <= 0.3
        assert abs(found[0]) <= 0.01 + 1e-9
        longest = 0.9 * np.linalg.norm(found)
        assert np.linalg.norm(resolve_crossings(a, b, start, 0.3, longest)) > longest  # and is not tried


def test_what_is_inside_both_bounds_the_depth_from_below():
    rng = np.random.default_rng(10)
    for a, b in pairs(rng):
        crossings = crossing_triangles(a.mesh, b.mesh)
        c = contact(a.mesh, b.mesh)
        depth = c.depth
        last = point_inside(a, b, crossings, c.mtv)
        assert last is None or last.least == point_inside(a, b, crossings, c.mtv, deeper=last.least).least
        assert point_inside(a, b, crossings, c.mtv, deeper=a.size) is None
        pair = crossing_pair(a.mesh, b.mesh, crossings)
        hulls = [
            ConvexHull(m.points[m.triangles[k]]) for m, k in ((a.mesh, pair.triangle_a), (b.mesh, pair.triangle_b))
        ]
        assert 0.0 < pair.least <= depth
        assert pair.least == pytest.approx(-sat(*hulls).signed_distance, rel=1e-9)
        ball, point = common_ball(a, b, crossings), point_inside(a, b, crossings)
        assert (ball is not None) == (a.solid and b.solid)
        assert 0.0 < point.least <= depth
        assert ball is None or 0.0 < ball.least <= depth
        corner = deep_corner(a, b, 0.1 * point.least)
        assert corner is None or 0.1 * point.least < corner.least <= depth
        assert deep_corner(a, b, depth) is None


def test_a_corner_in_a_solid_proves_the_depth_of_a_first_answer():
    points, triangles = bumpy(np.random.default_rng(4))
    lowest = points[points[:, 2].argmin()]
    ball, slab = Mesh(points - lowest - [0.0, 0.0, 0.3], triangles), Mesh(*block([4, 4, 1], [-2, -2, -1]))
    for pair in ((ball, slab), (slab, ball)):
        c = contact(*pair, budget=0.0)
        assert isinstance(c.certificate.depth_proof, PointInside)
        assert c.least_depth == pytest.approx(c.depth, rel=1e-3)
        assert_verified(c, *pair)


def test_no_bound_of_two_triangles_is_more_than_their_depth():
    rng = np.random.default_rng(11)
    found = 0
    for k in range(300):
        p, q = rng.normal(size=(2, 3, 3))
        if k % 3 == 1:  # edges that are parallel, or nearly
            q[1] = q[0] + 0.7 * (p[1] - p[0]) + rng.normal(size=3) * 10.0 ** rng.uniform(-18, -1)
        size = 10.0 ** rng.uniform(-20, 20) if k % 3 == 2 else 1.0
        a, b = (Mesh(points * size, [[0, 1, 2]]) for points in (p, q))
        pair = crossing_pair(a, b, crossing_triangles(a, b))
        if pair is not None:
            depth = -sat(ConvexHull(a.points), ConvexHull(b.points)).signed_distance
            assert depth * (1.0 - 1e-8) - 1e-9 * size <= pair.least <= depth + 1e-14 * size
            found += 1
    assert found > 50
