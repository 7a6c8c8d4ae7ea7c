# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of meshes that bend inward at too many edges for exact ones. Oracles: samples of surfaces and of pieces,
winding numbers of the mesh, the planes of the hulls."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.decomposition.decompose_polygon import triangulated
from contact_lens.core.decomposition.mesh_pieces import mesh_pieces
from contact_lens.core.decomposition.piece_reach import reach_outside
from contact_lens.core.decomposition.polygon_convexity import outline_of
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.point_distance import points_to_mesh
from contact_lens.core.progress import Cancelled
from contact_lens.core.shapes.hull import ConvexHull

from ..assertions import assert_progress
from ..generators import rotation, sphere_points
from ..mesh_shapes import Surface, block, bumpy, flipped, joined, prism, sheet, suzanne, torus
from .test_decompose_polygon import comb


def sampled(surface: Surface, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points of the surface of a mesh."""
    a, b, c = surface[0][surface[1]].transpose(1, 0, 2)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    rows = rng.choice(len(areas), count, p=areas / areas.sum())
    weights = rng.dirichlet(np.ones(3), count)
    return np.einsum("nk,nkd->nd", weights, surface[0][surface[1][rows]])


def depths_in(pieces, points: np.ndarray) -> np.ndarray:
    """How deep points are in the piece that they are deepest in; negative outside of all."""
    return np.max([(piece.offsets - (points - piece.center) @ piece.normals.T).min(axis=1) for piece in pieces], axis=0)


def tubes() -> Surface:
    """A torus and one through it, and a ball with bumps beside them: three solids that do not touch."""
    rng = np.random.default_rng(0)
    points, triangles = torus(24, 12, 1.0, 0.2)
    return joined(
        [
            (points, triangles),
            (points[:, [0, 2, 1]] + [1.0, 0.0, 0.0], triangles[:, ::-1]),
            (bumpy(rng)[0] + [0.0, 0.0, 3.0], bumpy(rng)[1]),
        ]
    )


SHAPES = {
    "torus": torus(24, 12, 1.0, 0.25),
    "bumpy": bumpy(np.random.default_rng(3)),
    "links": tubes(),
    "hollow": joined([block((3.0, 3.0, 3.0)), flipped(block((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)))]),
    "open": sheet(5),
    "Suzanne": suzanne(0),
}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", SHAPES)
def test_the_surface_is_within_the_certified_distance_of_the_pieces(name):
    """No sample of it is outside of all pieces, or deeper in one than that; the deepest is nearly as deep."""
    surface, rng = SHAPES[name], np.random.default_rng(1)
    found = mesh_pieces(Mesh(*surface), most_cuts=0, most_pieces=10)
    assert not found.exact
    assert len(found.pieces) <= 10
    size = np.ptp(surface[0], axis=0).max()
    solid = [piece for piece in found.pieces if piece.rank == 3]
    if solid:
        points = np.concatenate([sampled(surface, 5000, rng), surface[0][np.unique(surface[1])]])
        depths = depths_in(solid, points)
        assert depths.max() <= found.distance <= 1.2 * depths.max() + 0.01 * size
        if len(solid) == len(found.pieces):
            assert depths.min() >= -1e-9 * size


@pytest.mark.slow
@pytest.mark.parametrize("name", ["torus", "bumpy", "links"])
def test_the_solid_is_in_the_pieces(name):
    """Also inside, where several cuts meet."""
    surface, rng = SHAPES[name], np.random.default_rng(2)
    mesh = Mesh(*surface)
    low, high = mesh.bounds
    points = rng.uniform(low, high, (4000, 3))
    points = points[mesh.contains(points)]
    found = mesh_pieces(mesh, most_cuts=0, most_pieces=10, concavity=0.0)
    assert depths_in(found.pieces, points).min() >= -1e-9


@pytest.mark.slow
def test_a_torus_is_cut_across():
    """In as many sectors as there are pieces: half as concave with twice as many."""
    mesh = Mesh(*torus(48, 16, 1.0, 0.25))
    distances = [mesh_pieces(mesh, most_cuts=0, most_pieces=n, concavity=0.0).distance for n in (4, 8)]
    assert distances[0] < 0.3
    assert distances[1] < 0.6 * distances[0]


@pytest.mark.slow
def test_pieces_are_the_same_each_time_and_serve_in_each_pose():
    """A torus can be cut in many ways, and which is taken depends on the pose: all are less concave than its tube is
    thick."""
    points, triangles = torus(24, 12, 1.0, 0.25)
    one, two = (mesh_pieces(Mesh(points, triangles), most_cuts=0, most_pieces=8) for _ in range(2))
    assert [piece.vertices.tobytes() for piece in one.pieces] == [piece.vertices.tobytes() for piece in two.pieces]
    assert one.distance < 0.25
    for seed in (0, 2, 5):
        turned = 1e-4 * (points @ rotation(np.random.default_rng(seed)).T) + [3.0, 2.0, 1.0]
        other = mesh_pieces(Mesh(turned, triangles), most_cuts=0, most_pieces=8)
        assert other.distance < 0.25e-4
        assert len(other.pieces) == len(one.pieces)


@pytest.mark.slow
def test_cuts_are_cancelled_and_bad_arguments_named():
    mesh = Mesh(*torus(24, 12))
    assert_progress(lambda progress: mesh_pieces(mesh, most_cuts=0, most_pieces=6, progress=progress), least=8)
    with pytest.raises(Cancelled):
        mesh_pieces(mesh, most_cuts=0, progress=lambda fraction: fraction < 0.3)
    for wrong in ({"most_pieces": 0}, {"most_pieces": 2.5}, {"concavity": -1.0}, {"concavity": "much"}):
        with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be"):
            mesh_pieces(mesh, **wrong)


def test_pieces_report_how_far_they_reach_outside():
    """No sample of a piece is farther from the solid, and the hull of a ring is as far as its hole is wide."""
    rng = np.random.default_rng(4)
    ring = Mesh(*torus(24, 12, 1.0, 0.3))
    found = mesh_pieces(ring, most_cuts=0, concavity=np.inf)
    deepest = np.hypot(1.0, 0.3) - 0.3  # over the middle of the hole, from the circle in the tube, less its radius
    assert 0.99 * deepest <= found.outside <= 1.08 * deepest
    for mesh in (ring, Mesh(*bumpy(rng, 7, 0.8, 1.0)), Mesh(*sheet(4))):
        found = mesh_pieces(mesh, most_cuts=0, most_pieces=5, concavity=0.01)
        weights = [rng.dirichlet(np.full(len(piece.vertices), 0.1), 1000) @ piece.vertices for piece in found.pieces]
        points = np.concatenate(weights)
        outside = points[~mesh.contains(points)] if mesh.is_closed else points
        assert not found.exact
        assert points_to_mesh(outside, mesh).distance.max(initial=0.0) <= found.outside <= 0.1 * mesh.extent


def test_a_mesh_within_the_concavity_is_one_piece_and_a_comb_is_not():
    ball = mesh_pieces(Mesh(*bumpy(np.random.default_rng(3), 12, 0.97, 1.0)))
    assert (len(ball.pieces), ball.exact) == (1, False)
    assert 0.0 < ball.distance <= ball.outside < 0.02 * 3.5
    mesh = Mesh(*bumpy(np.random.default_rng(3), 12, 0.97, 1.0))
    for limit in (ball.distance, ball.outside):
        found = mesh_pieces(mesh, most_cuts=0, most_pieces=1, concavity=0.999 * limit / mesh.extent)
        assert "concavity" not in found.reason  # what is reported is what is asked for
    outline = comb(30)
    found = mesh_pieces(Mesh(*prism(outline, triangulated(outline_of(outline)))))
    assert (len(found.pieces), found.exact, found.outside) == (31, True, 0.0)


def test_few_cuts_are_exact_before_one_piece_is_enough():
    """A notch in a block is much less than 2 % of its size."""
    outline = np.array([[0, 0], [4, 0], [4, 2], [2.03, 2], [2.03, 1.98], [2, 1.98], [2, 2], [0, 2]])
    found = mesh_pieces(Mesh(*prism(outline, triangulated(outline_of(outline)))))
    assert (len(found.pieces), found.exact) == (3, True)


def test_pieces_of_many_facets_have_a_bound():
    """More tetrahedra than are measured."""
    hull = ConvexHull(sphere_points(np.random.default_rng(0), 7000))
    assert 0.9 < reach_outside([hull], Mesh(*sheet(2)), 0.0) < 2.1


def test_the_reason_names_the_cuts_that_were_asked_for():
    """Not those that are left after a first try."""
    found = mesh_pieces(Mesh(*torus(24, 12)), most_cuts=10_000, concavity=np.inf)
    assert found.reason == "the mesh needs more than 10000 cuts"
