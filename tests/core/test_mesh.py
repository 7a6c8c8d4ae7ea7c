# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes: what is measured of them, and their faults."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.bounding.bounding_volumes import volumes_of_triangles
from contact_lens.core.decomposition.convexity import mesh_convexity
from contact_lens.core.decomposition.decompose_mesh import decomposed_mesh, distance_from_mesh
from contact_lens.core.hierarchy.bvh_pairs import tree_pairs
from contact_lens.core.meshes.mesh import Mesh, loose_parts
from contact_lens.core.meshes.mesh_distance import mesh_distance, points_to_mesh
from contact_lens.core.meshes.winding import winding_numbers
from contact_lens.core.shapes.hull import ConvexHull

from .generators import rotation
from .mesh_shapes import block, joined, sphere, torus


def test_a_block() -> None:
    """Area, volume, centroid, diagonal, edges of a box of 1 x 2 x 3."""
    mesh = Mesh(*block((1.0, 2.0, 3.0), (5.0, 6.0, 7.0)))
    assert mesh.is_closed
    assert mesh.area == pytest.approx(22.0, rel=1e-14)
    assert mesh.volume == pytest.approx(6.0, rel=1e-14)
    assert mesh.centroid == pytest.approx([5.5, 7.0, 8.5], rel=1e-14)
    assert mesh.diagonal == pytest.approx(14.0**0.5, rel=1e-14)
    assert mesh.magnitude == 10.0
    assert len(mesh.edges) == 18
    for faults in (mesh.boundary_edges, mesh.nonmanifold_edges, mesh.flipped_edges):
        assert faults.shape == (0, 2)
    assert not len(mesh.duplicate_faces)
    assert not len(mesh.degenerate_faces)
    assert (mesh.loose_parts == 0).all()


@pytest.mark.parametrize("size", [1e-90, 1e-4, 1.0, 1e5, 1e90])
def test_measures_agree_with_the_hull_at_any_size(size: float) -> None:
    """A convex mesh measures what its hull does; turned over, its volume is negative."""
    rng = np.random.default_rng(3)
    for shift in (0.0, 1e4):
        points, triangles = sphere(12)
        points = (points @ rotation(rng).T + shift * rng.normal(size=3)) * size
        mesh, hull = Mesh(points, triangles), ConvexHull(points / size)
        assert mesh.is_closed
        assert mesh.area / size**2 == pytest.approx(hull.area, rel=1e-9)
        assert mesh.volume / size**3 == pytest.approx(hull.volume, rel=1e-9)
        assert np.allclose(mesh.centroid / size, points.mean(axis=0) / size, atol=1e-9 * (1.0 + shift))
        assert mesh.diagonal / size == pytest.approx(np.linalg.norm(np.ptp(points / size, axis=0)), rel=1e-9)
        assert Mesh(points, triangles[:, ::-1]).volume == pytest.approx(-mesh.volume, rel=1e-12)


def test_measures_beyond_floats() -> None:
    """They are infinite, or zero; lengths are right all the same."""
    for size, wanted in ((1e200, np.inf), (1e-200, 0.0)):
        mesh = Mesh(*block((size, size, size)))
        assert mesh.area == mesh.volume == wanted
        assert mesh.diagonal / size == pytest.approx(3.0**0.5)
        assert mesh.centroid / size == pytest.approx([0.5, 0.5, 0.5])


def test_open_surfaces() -> None:
    """A block without one side has four boundary edges; one without a surface's orientation is not closed."""
    points, triangles = block()
    mesh = Mesh(points, triangles[2:])
    assert not mesh.is_closed
    assert len(mesh.boundary_edges) == 4
    turned = triangles.copy()
    turned[0] = turned[0, ::-1]
    mesh = Mesh(points, turned)
    assert not mesh.is_closed
    assert len(mesh.flipped_edges) == 3
    assert not len(mesh.boundary_edges)
    square = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert square.volume == 0.0
    assert square.centroid == pytest.approx([0.5, 0.5, 0.0])


def test_faults_are_told() -> None:
    """Doubled, flat, collapsed triangles and edges of three."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [2, 0, 0], [0, 0, 0]]
    triangles = [[0, 1, 2], [0, 1, 3], [1, 0, 4], [2, 0, 1], [0, 1, 5], [3, 3, 1], [0, 6, 3], [0, 2, 1]]
    mesh = Mesh(points, triangles)
    assert mesh.duplicate_faces.tolist() == [3, 7]
    assert mesh.degenerate_faces.tolist() == [4, 5, 6]
    assert [0, 1] in mesh.nonmanifold_edges.tolist()
    assert [3, 3] not in mesh.edges.tolist()


def test_degenerate_faces_are_decided_exactly() -> None:
    """Corners on a tilted line, to the last digit on it or not."""
    line = np.array([[0.0, 0, 0], [3, 5, 7], [6, 10, 14]]) * 2.0**-30 + 3.0
    bent = line.copy()
    bent[2, 2] = np.nextafter(bent[2, 2], 4.0)
    for size in (1.0, 2.0**-500, 2.0**500):
        mesh = Mesh(np.concatenate([line, bent]) * size, [[0, 1, 2], [3, 4, 5]])
        assert mesh.degenerate_faces.tolist() == [0]


def test_loose_parts() -> None:
    """As many as were put together, numbered in the order of the triangles, whatever the order of the vertices."""
    rng = np.random.default_rng(0)
    for count in (1, 2, 7):
        points, triangles = joined([sphere(int(rng.integers(3, 9)), (4.0 * k, 0, 0)) for k in range(count)])
        wanted = Mesh(points, triangles).loose_parts
        assert wanted.max() == count - 1
        assert (np.diff(wanted) >= 0).all()
        order = rng.permutation(len(points))
        place = np.argsort(order)
        assert np.array_equal(Mesh(points[order], place[triangles]).loose_parts, wanted)


def test_welded() -> None:
    """A soup of triangles becomes a closed mesh; -0.0 is 0.0."""
    points, triangles = torus(10, 8)
    soup = Mesh(points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3))
    assert not soup.is_closed
    mesh = soup.welded()
    assert mesh.is_closed
    assert len(mesh.points) == len(points)
    assert np.array_equal(mesh.points[mesh.triangles], soup.points[soup.triangles])
    points, triangles = block()
    corners = points[triangles].reshape(-1, 3)
    corners[::2] *= np.where(corners[::2] == 0.0, -1.0, 1.0)
    assert Mesh(corners, np.arange(len(corners)).reshape(-1, 3)).welded().is_closed


def test_the_tree_holds_every_triangle() -> None:
    """It is built once, of the boxes of the triangles."""
    mesh = Mesh(*sphere(10))
    assert mesh.tree is mesh.tree
    assert sorted(mesh.tree.items.tolist()) == list(range(len(mesh.triangles)))
    assert len(tree_pairs(mesh.tree, mesh.tree).pairs) >= len(mesh.triangles)


def test_arrays_are_copied_and_read_only() -> None:
    """Neither the caller nor the mesh changes the other."""
    points, triangles = block()
    mesh = Mesh(points, triangles)
    points[0] = 99.0
    triangles[0] = 0
    assert mesh.magnitude == 1.0
    with pytest.raises(ValueError, match="read-only"):
        mesh.points[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        mesh.boundary_edges[:] = 1


@pytest.mark.parametrize(
    ("points", "triangles", "message"),
    [
        ([[0, 0, np.nan]], [[0, 0, 0]], "points: all numbers must be finite"),
        ([[0, 0, np.inf]], [[0, 0, 0]], "points: all numbers must be finite"),
        ([[0, 0]], [[0, 0, 0]], "points: an array"),
        (np.empty((0, 3)), [[0, 0, 0]], "points: at least one point"),
        ([["a", "b", "c"]], [[0, 0, 0]], "points: "),
        ([[0, 0, 1e305]], [[0, 0, 0]], "points: no coordinate"),
        ([[0, 0, 0]], [], "triangles: at least one"),
        ([[0, 0, 0]], [[0, 0]], "triangles: whole numbers"),
        ([[0, 0, 0]], [[0.0, 0.0, 0.0]], "triangles: whole numbers"),
        ([[0, 0, 0]], [[0, 0, 0], [0, 0]], "triangles: whole numbers"),
        ([[0, 0, 0]], [[0, 0, 1]], "triangles: all must be from 0 to 0"),
        ([[0, 0, 0]], [[0, -1, 0]], "triangles: all must be from 0 to 0"),
    ],
)
def test_errors_name_the_argument(points: object, triangles: object, message: str) -> None:
    """Every argument that cannot be used is refused by name."""
    with pytest.raises(ValueError, match=message):
        Mesh(points, triangles)  # type: ignore[arg-type]


def test_rows_of_different_length_are_refused_by_name() -> None:
    """By every function that takes the triangles of a mesh."""
    points, ragged = np.eye(3), [[0, 1, 2], [0, 1]]
    tree = Mesh(points, [[0, 1, 2]]).tree
    for name, call in (
        ("triangles", lambda: Mesh(points, ragged)),
        ("triangles", lambda: loose_parts(ragged)),
        ("triangles", lambda: mesh_convexity(points, ragged)),
        ("triangles", lambda: decomposed_mesh(points, ragged)),
        ("triangles", lambda: distance_from_mesh([], points, ragged)),
        ("triangles", lambda: winding_numbers(points, points, ragged)),
        ("triangles", lambda: volumes_of_triangles("aabb", points, ragged)),
        ("triangles", lambda: points_to_mesh(points, points, ragged, tree)),
        ("triangles_b", lambda: mesh_distance(points, [[0, 1, 2]], tree, points, ragged, tree)),
        ("points", lambda: mesh_convexity([[0, 0, 0], [1, 0]], [[0, 1, 2]])),
    ):
        with pytest.raises(ValueError, match=f"^{name}: "):
            call()


def test_loose_parts_are_numbered_by_their_first_triangles_whatever_the_numbers_of_points() -> None:
    """Alike from the triangles alone and from the mesh; of large numbers too."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        triangles = rng.integers(0, 40, (rng.integers(1, 20), 3))
        wanted = Mesh(rng.normal(size=(40, 3)), triangles).loose_parts
        assert np.array_equal(loose_parts(triangles), wanted)
        assert np.array_equal(loose_parts(triangles.astype(np.uint64) * 10**15), wanted)
    assert len(loose_parts([])) == len(loose_parts(np.empty((0, 3), dtype=int))) == 0
