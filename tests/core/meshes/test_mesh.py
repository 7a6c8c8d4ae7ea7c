# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes: what is measured of them, and their faults."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from contact_lens.core import contact
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.surface import overlapping_triangles
from contact_lens.core.shapes.hull import ConvexHull
from contact_lens.core.verify.surfaces import tree_faults

from ..generators import rotation
from ..mesh_shapes import block, joined, sphere, torus


def test_a_block() -> None:
    """Area, volume, centroid, diagonal, edges of a box of 1 x 2 x 3."""
    mesh = Mesh(*block((1.0, 2.0, 3.0), (5.0, 6.0, 7.0)))
    assert mesh.is_closed
    assert mesh.area == pytest.approx(22.0, rel=1e-14)
    assert mesh.volume == pytest.approx(6.0, rel=1e-14)
    assert mesh.centroid == pytest.approx([5.5, 7.0, 8.5], rel=1e-14)
    assert mesh.extent == pytest.approx(14.0**0.5, rel=1e-14)
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
        assert mesh.extent / size == pytest.approx(np.linalg.norm(np.ptp(points / size, axis=0)), rel=1e-9)
        assert Mesh(points, triangles[:, ::-1]).volume == pytest.approx(-mesh.volume, rel=1e-12)


def test_measures_beyond_floats() -> None:
    """They are infinite, or zero; lengths are right all the same."""
    for size, wanted in ((1e200, np.inf), (1e-200, 0.0)):
        mesh = Mesh(*block((size, size, size)))
        assert mesh.area == mesh.volume == wanted
        assert mesh.extent / size == pytest.approx(3.0**0.5)
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


def test_faults_are_reported() -> None:
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


def test_arrays_are_copied() -> None:
    points, triangles = block()
    mesh = Mesh(points, triangles)
    points[0] = 99.0
    triangles[0] = 0
    assert mesh.magnitude == 1.0


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
        ([[0, 0, 0]], [[0, 0, 1]], "triangles: indices from 0 to 0 expected"),
        ([[0, 0, 0]], [[0, -1, 0]], "triangles: indices from 0 to 0 expected"),
    ],
)
def test_errors_name_the_argument(points: object, triangles: object, message: str) -> None:
    """Every argument that cannot be used is refused by name."""
    with pytest.raises(ValueError, match=message):
        Mesh(points, triangles)  # type: ignore[arg-type]


def test_parts_and_translations_are_meshes_of_their_own() -> None:
    """A part has the points that it uses; a translation keeps what is known, as if it were computed anew."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        mesh = Mesh(rng.normal(size=(40, 3)), rng.integers(0, 40, (rng.integers(1, 20), 3)))
        parts = mesh.split()
        assert len(parts) == mesh.loose_parts.max() + 1
        for k, part in enumerate(parts):
            corners = mesh.points[mesh.triangles[mesh.loose_parts == k]]
            assert np.array_equal(part.points[part.triangles], corners)
            assert (part.loose_parts == 0).all()
            assert len(part.points) == len(np.unique(part.triangles))
        step = rng.normal(size=3) * 10.0 ** rng.integers(-6, 7)
        mesh.tree, mesh.bounds, mesh.first_vertices  # noqa: B018 - computed once, then moved along
        moved, anew = mesh.translated(step), Mesh(mesh.points + step, mesh.triangles)
        assert moved.has_tree
        assert np.array_equal(overlapping_triangles(mesh, moved), overlapping_triangles(mesh, anew))
        for name in ("bounds", "first_vertices", "edges"):
            assert np.array_equal(getattr(moved, name), getattr(anew, name))
        for name in ("volumes", "item_volumes"):
            found, wanted = getattr(moved.tree, name), getattr(anew.tree, name)
            assert np.array_equal([found.low, found.high], [wanted.low, wanted.high])


def test_what_is_kept_of_a_mesh_is_no_more_than_its_arrays_and_its_tree() -> None:
    arrays = torus(200, 100), torus(200, 100)
    tracemalloc.start()
    try:
        meshes = [Mesh(arrays[0][0], arrays[0][1]), Mesh(arrays[1][0] + [1.0, 0.01, 0.02], arrays[1][1])]
        assert contact(*meshes, budget=0.0).intersects
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # 36 the arrays, 118 the tree, and what the second mesh keeps of how it lies.
    assert kept < 250 * 2 * len(arrays[0][1])


def test_parts_of_a_long_chain_are_one() -> None:
    chain = np.column_stack([np.arange(3000), np.arange(3000) + 1, np.arange(3000) + 1])
    order = np.random.default_rng(2).permutation(chain)
    assert (Mesh(np.zeros((3001, 3)), order).loose_parts == 0).all()
    parts = Mesh(np.zeros((10, 3)), [[5, 6, 7], [0, 1, 2], [7, 8, 9], [2, 3, 4]]).loose_parts
    assert parts.tolist() == [0, 1, 0, 1]


def test_poses_of_a_mesh_have_its_edges_and_parts_and_trees_of_their_own_boxes() -> None:
    """Whatever was asked for before, and of whichever pose: as of a mesh made of the transformed points."""
    rng = np.random.default_rng(5)
    points, triangles = joined([torus(9, 6), block(low=(3.0, 0.0, 0.0))])
    open_one = triangles[1:], np.concatenate([triangles[:-1], triangles[:1, ::-1], triangles[3:4]])
    for faces in (triangles, *open_one):
        first = Mesh(points, faces)
        for mirror in (1.0, -1.0):
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = rotation(rng) @ np.diag([mirror, 1.0, 1.5]), rng.normal(size=3)
            # A pose of a pose; the tree of one of them is there already.
            pose = first.transformed(matrix).translated([1.0, 2.0, 3.0])
            if mirror < 0.0:
                assert pose.tree is not first.tree
                pose = pose.transformed(np.diag([1.0, -1.0, 2.0, 1.0])).scaled(0.3)
            assert pose.original is first
            plain = Mesh(pose.points, pose.triangles)
            assert plain.original is plain
            for name in ("edges", "boundary_edges", "nonmanifold_edges", "flipped_edges", "duplicate_faces"):
                np.testing.assert_array_equal(getattr(pose, name), getattr(plain, name), name)
            assert pose.is_closed == plain.is_closed
            np.testing.assert_array_equal(pose.loose_parts, plain.loose_parts)
            np.testing.assert_array_equal(pose.tree.overlapping_pairs().pairs, plain.tree.overlapping_pairs().pairs)
            assert not list(tree_faults(pose))
            assert pose.volume == pytest.approx(plain.volume)


def test_points_and_triangles_are_kept_row_by_row() -> None:
    """However they are given: else numpy copies all of them to take a few."""
    points, triangles = torus(5, 4)
    for mesh in (Mesh(np.asfortranarray(points), triangles[:, ::-1]), Mesh(points, triangles).scaled(2.0)):
        assert mesh.points.flags.c_contiguous
        assert mesh.triangles.flags.c_contiguous


def test_a_mesh_pressed_flat_shares_nothing_with_the_solid_it_was() -> None:
    solid = Mesh(*block())
    assert solid.transformed(np.diag([1.0, 2.0, 1e-3, 1.0])).original is solid
    flat = solid.transformed(np.diag([1.0, 1.0, 0.0, 1.0]))
    assert flat.original is flat
    assert len(flat.degenerate_faces) == 8
