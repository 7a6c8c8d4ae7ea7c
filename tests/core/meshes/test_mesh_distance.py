# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances of meshes and of points from meshes: against all pairs of triangles, and two other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import sqrt

import fcl
import numpy as np
import pytest
import trimesh

from contact_lens.core.meshes import mesh_distance as of_meshes
from contact_lens.core.meshes import point_distance as of_points
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.mesh_distance import MeshDistance, mesh_distance
from contact_lens.core.meshes.node_disks import NodeDisks
from contact_lens.core.meshes.point_distance import point_triangle_distances, points_to_mesh
from contact_lens.core.meshes.triangle_distance import triangle_distances
from contact_lens.core.tolerance import EPS, promised

from ..assertions import assert_progress
from ..exact import exact
from ..generators import rotation
from ..mesh_shapes import Surface, block, sheet, sphere, torus
from ..oracles import dot, minus


def box(size: Sequence[float] = (1.0, 1.0, 1.0)) -> Surface:
    """A box about the origin, normals outward."""
    return block(size, -0.5 * np.asarray(size))


def ball(steps: int, bumps: float = 0.0) -> Surface:
    """A closed sphere of 4 steps (steps - 1) triangles, bumpy if wanted."""
    points, faces = sphere(steps)
    x, y, z = points.T
    return points * (1.0 + bumps * np.sin(3.0 * np.arctan2(y, x)) * np.sin(4.0 * np.arccos(z)))[:, None], faces


def soup(rng: np.random.Generator, count: int, size: float) -> Surface:
    """Triangles anywhere."""
    points = rng.normal(size=(count, 1, 3)) + size * rng.normal(size=(count, 3, 3))
    return points.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def fcl_object(surface: Surface) -> fcl.CollisionObject:
    """The same surface in FCL."""
    model = fcl.BVHModel()
    model.beginModel(*map(len, surface))
    model.addSubModel(*surface)
    model.endModel()
    return fcl.CollisionObject(model)


def apart(a: Surface, b: Surface) -> MeshDistance:
    return mesh_distance(Mesh(*a), Mesh(*b))


def all_pairs(a: Surface, b: Surface) -> float:
    """Brute force."""
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(len(a[1])), np.arange(len(b[1])), indexing="ij"))
    return float(triangle_distances(a[0][a[1][i]], b[0][b[1][j]]).distance.min())


def random_pair(rng: np.random.Generator) -> tuple[Surface, Surface]:
    """Two small meshes: apart, near, touching, crossing, one in the other, flat, far away, large, small, degenerate."""

    def one() -> Surface:
        kind = rng.integers(5)
        if kind == 0:
            return box(rng.choice([0.5, 1.0, 2.0], 3))
        if kind == 1:
            return ball(int(rng.integers(3, 7)), 0.2)
        if kind == 2:
            return soup(rng, int(rng.integers(1, 60)), 0.2)
        if kind == 3:
            points, faces = ball(4)
            return points * [1.0, 1.0, 0.0], faces
        points, faces = box()
        return points, np.concatenate([faces, [[0, 0, 0], [1, 1, 2]], faces[:2]])

    a, b = one(), one()
    points = b[0]
    kind = rng.integers(5)
    if kind == 0:
        points = points @ rotation(rng) + rng.normal(size=3) * 2.0
    elif kind == 1:
        points = points * 0.2 + rng.normal(size=3) * 0.1
    elif kind == 2:
        points = points + rng.choice([0.0, 0.5, 1.0, 1.5], 3)
    elif kind == 3:
        points = points + [a[0][:, 0].max() - points[:, 0].min() + 10.0 ** -rng.uniform(0, 17), 0.0, 0.0]
    else:
        points = points + rng.normal(size=3) * 3.0
    size, move = rng.choice([1.0, 1.0, 1e-4, 1e5]), rng.choice([0.0, 0.0, 1e6])
    return (a[0] * size + move, a[1]), (points * size + move, b[1])


def tolerance(a: Surface, b: Surface, distance: float) -> float:
    extent = min(float(np.linalg.norm(np.ptp(mesh[0], axis=0))) for mesh in (a, b))
    return promised(distance, extent, max(float(np.abs(mesh[0]).max()) for mesh in (a, b)))


def assert_on(point: np.ndarray, mesh: Surface, triangle: int, room: float) -> None:
    corners = mesh[0][mesh[1][triangle]]
    assert triangle_distances(corners[None], np.array([[point, point, point]])).distance[0] <= room


def test_distances_are_the_least_of_all_pairs_in_any_order_and_numbering(monkeypatch):
    rng = np.random.default_rng(1)
    few = of_meshes._FEW_PAIRS
    for case in range(60):
        monkeypatch.setattr(of_meshes, "_FEW_PAIRS", few * (case % 2))
        a, b = random_pair(rng)
        wanted = all_pairs(a, b)
        found = apart(a, b)
        room = tolerance(a, b, wanted)
        assert wanted - room <= found.lower_bound <= found.distance
        assert found.lower_bound <= wanted * (1.0 + 1e-15)
        assert abs(np.linalg.norm(found.point_on_a - found.point_on_b) - wanted) <= 4.0 * room
        assert_on(found.point_on_a, a, found.triangle_a, 4.0 * room)
        assert_on(found.point_on_b, b, found.triangle_b, 4.0 * room)
        order = rng.permutation(len(a[0]))
        renumbered = (a[0][order], np.argsort(order)[a[1]][rng.permutation(len(a[1]))][:, [1, 2, 0]])
        for distance in (found.distance, apart(b, a).distance, apart(renumbered, b).distance):
            assert abs(distance - wanted) <= room
            assert (distance == 0.0) == (wanted == 0.0)
        assert apart((a[0] * 1024.0, a[1]), (b[0] * 1024.0, b[1])).distance == 1024.0 * found.distance


def test_meshes_of_thousands_of_triangles_agree_with_fcl():
    rng = np.random.default_rng(4)
    for case in range(12):
        a, b = ball(28, 0.1), ball(21, 0.3)
        shift = [[2.6, 0.5, 0.3], [0.0, 0.0, 0.0], [1.9, 0.1, 0.2]][case % 3]
        b = ((b[0] * (0.4 if case % 3 == 1 else 1.0)) @ rotation(rng) + shift, b[1])
        wanted = fcl.distance(fcl_object(a), fcl_object(b), fcl.DistanceRequest(), fcl.DistanceResult())
        found = apart(a, b)
        assert found.distance == pytest.approx(max(wanted, 0.0), rel=1e-9, abs=1e-12)
        assert found.measured < found.possible / 20


def test_two_surfaces_in_nearly_one_place():
    a = ball(28)
    for gap in (1e-3, 1e-6, 1e-9):
        b = (a[0] * (1.0 + gap), a[1])
        found = apart(a, b)
        assert 0.0 < found.distance <= gap
        assert found.distance >= 0.9 * gap
        assert found.lower_bound >= 0.9 * gap
    assert apart(a, a).distance == 0.0
    points, faces = box()
    assert apart((points, faces), (points + [1.0, 0, 0], faces)).distance == 0.0
    above = apart((points, faces), (points + [1.0 + 2.0**-52, 0.1, 0.2], faces))
    assert above.distance == 2.0**-52


def test_one_surface_in_another_everywhere_as_far_away():
    turn = rotation(np.random.default_rng(2))
    points, faces = torus(60, 24)
    for thin in (0.2, 0.29):
        inner = torus(60, 24, 1.0, thin)[0]
        found = apart((points @ turn, faces), (inner @ turn, faces[:, ::-1]))
        # Middles of opposite facets: the outer ones, of both, come nearer than the points do.
        assert 0.98 * (0.3 - thin) <= found.distance <= 0.3 - thin
        assert found.lower_bound == pytest.approx(found.distance, rel=1e-9)
        assert found.measured < found.possible / 100


def test_disks_contain_what_is_below_their_nodes_and_their_gaps_are_no_larger_than_distances():
    rng = np.random.default_rng(3)
    flat = (ball(5)[0] * [1.0, 1.0, 0.0], ball(5)[1])
    for surface in (ball(8, 0.2), torus(12, 6), soup(rng, 70, 0.3), flat, (box()[0], np.zeros((3, 3), dtype=int))):
        for size in (1.0, 1e-4, 1e5):
            meshes = [Mesh(surface[0] @ rotation(rng) * size + rng.normal(size=3) * size, surface[1]) for _ in "ab"]
            asked: list[np.ndarray] = []

            def is_near(nodes, asked=asked):
                asked.append(nodes)
                return nodes % 7 != 6

            disks = [NodeDisks.of(mesh, 0, is_near) for mesh in meshes]
            made = np.unique(np.concatenate(asked))
            corners = []
            for mesh, disk in zip(meshes, disks, strict=True):
                tree = mesh.tree
                below = [mesh.points[mesh.triangles[tree.items_below([k])]].reshape(-1, 3) for k in range(len(tree))]
                for k, (*center, x, y, z, thick, radius) in zip(made, disk.rows.T[made], strict=True):
                    away = below[k] - center
                    assert (np.abs(away @ [x, y, z]) <= thick * (1.0 + 1e-12)).all()
                    assert (np.linalg.norm(away, axis=1) <= radius * (1.0 + 1e-12)).all()
                corners.append(below)
            i, j = rng.choice(made, (2, 200))
            gaps = disks[0].gaps(disks[1], i, j)
            for p, q, gap in zip(i, j, gaps, strict=True):
                between = corners[0][p][:, None] - corners[1][q][None]
                assert gap <= np.linalg.norm(between, axis=2).min()


def test_where_whole_faces_touch_one_pair_of_triangles_is_enough():
    turn = rotation(np.random.default_rng(13))
    grid, faces = sheet(60, 0.9375)
    found = apart((grid @ turn, faces), (grid @ turn, faces[:, [1, 2, 0]]))
    assert found.distance == 0.0
    assert found.measured < 10_000
    for gap in (1e-3, 1e-9):
        found = apart((grid, faces), (grid + [0.013, 0.017, gap], faces))
        assert found.distance == pytest.approx(gap, rel=1e-9)
        assert found.lower_bound == pytest.approx(gap, rel=1e-3)


@pytest.mark.slow
def test_nearest_points_are_the_least_of_all_triangles():
    rng = np.random.default_rng(5)
    for _ in range(30):
        mesh, other = random_pair(rng)
        points = np.concatenate([other[0], mesh[0][:5], mesh[0][mesh[1]].mean(axis=1)[:9]])
        found = points_to_mesh(points, Mesh(*mesh))
        corners = mesh[0][mesh[1]]
        room = tolerance(mesh, other, 0.0)
        for k, point in enumerate(points):
            wanted = triangle_distances(corners, np.broadcast_to(point, corners.shape)).distance.min()
            assert abs(found.distance[k] - wanted) <= room + 1e-9 * wanted
            assert_on(found.point[k], mesh, int(found.triangle[k]), room)
            assert abs(np.linalg.norm(found.point[k] - point) - wanted) <= room + 1e-9 * wanted


def test_points_are_as_far_from_few_triangles_as_from_their_tree(monkeypatch):
    rng = np.random.default_rng(7)
    for _ in range(20):
        mesh, other = random_pair(rng)
        points = np.concatenate([other[0], mesh[0][:5], mesh[0][mesh[1]].mean(axis=1)[:9]])
        found = points_to_mesh(points, Mesh(*mesh))
        with monkeypatch.context() as patch:
            patch.setattr(of_points, "_FEW", 0)
            patch.setattr(of_points, "_FEW_PAIRS", 0)
            by_tree = points_to_mesh(points, Mesh(*mesh))
        assert (found.distance == by_tree.distance).all()


def test_nearest_points_agree_with_trimesh():
    mesh = ball(28, 0.2)
    points = np.random.default_rng(6).normal(size=(500, 3))
    found = points_to_mesh(points, Mesh(*mesh))
    corners = mesh[0][mesh[1]]
    for k in range(0, len(points), 10):
        at = trimesh.triangles.closest_point(corners, np.broadcast_to(points[k], (len(corners), 3)))
        assert found.distance[k] == pytest.approx(np.linalg.norm(at - points[k], axis=1).min(), rel=1e-12)
    assert len(points_to_mesh(np.zeros((0, 3)), Mesh(*mesh)).distance) == 0


@pytest.mark.slow
def test_of_linked_rings_few_triangles_are_measured():
    # All around the hole of one the other is as near: boxes say little about that.
    a = torus(32, 16)
    b = a[0][:, [0, 2, 1]] + [1.0, 0.003, 0.001], a[1][:, ::-1]
    found = apart(a, b)
    assert found.measured < 10_000
    assert found.distance == pytest.approx(all_pairs(a, b), rel=1e-12)


@pytest.mark.slow
def test_points_are_looked_at_no_further_than_asked():
    rng = np.random.default_rng(12)
    for _ in range(40):
        mesh = random_pair(rng)[0]
        size = float(np.abs(mesh[0]).max())
        points = mesh[0].mean(axis=0) + rng.normal(size=(50, 3)) * size * rng.choice([1.0, 0.01], (50, 1))
        exact = points_to_mesh(points, Mesh(*mesh)).distance
        enough = exact * rng.choice([0.0, 0.5, 1.0, 2.0], 50)
        found = points_to_mesh(points, Mesh(*mesh), enough=enough)
        beyond = exact > enough
        assert (found.distance[beyond] == exact[beyond]).all()
        assert (found.distance >= exact).all()
        assert (found.distance[~beyond] <= enough[~beyond]).all()
        for k in range(50):
            assert_on(found.point[k], mesh, found.triangle[k], 1e-12 * size)


def test_a_point_on_a_corner_is_at_that_corner():
    points, faces = box()
    found = points_to_mesh(np.concatenate([points, [[0, 0, 2.0]]]), Mesh(points, faces))
    assert (found.distance[:-1] == 0.0).all()
    assert (found.point[:-1] == points).all()
    assert found.distance[-1] == 1.5
    assert found.point[-1].tolist() == [0, 0, 0.5]


def test_extreme_sizes():
    for size in (1e-200, 1e290):
        points, faces = box()
        a, b = (points * size, faces), ((points + [3.0, 0.25, 0]) * size, faces)
        assert apart(a, b).distance == pytest.approx(2.0 * size, rel=1e-14)
        far = points_to_mesh(b[0], Mesh(*a)).distance
        assert far.min() == pytest.approx(np.sqrt(4.0 + 0.0) * size, rel=1e-14)


def test_arguments():
    mesh = Mesh(*box())
    for name, call in (
        ("a must be a Mesh", lambda: mesh_distance(box(), mesh)),
        ("b must be a Mesh", lambda: mesh_distance(mesh, None)),
        ("points", lambda: points_to_mesh(np.zeros((2, 2)), mesh)),
        ("mesh must be a Mesh", lambda: points_to_mesh(mesh.points, box())),
        ("enough", lambda: points_to_mesh(mesh.points, mesh, enough=[1.0])),
    ):
        with pytest.raises(ValueError, match=f"^{name}"):
            call()
    moved = mesh.translated([3.0, 3.0, 3.0])
    for ask in (partial(mesh_distance, mesh, moved), partial(points_to_mesh, mesh.points, moved)):
        assert_progress(ask)


def test_points_on_slivers_are_on_them():
    """Triangles as thin as some hundred roundings, and points above their middles, against fractions."""
    rng = np.random.default_rng(12)
    for _ in range(300):
        turn = rotation(rng)
        wide = 10.0 ** -rng.uniform(4, 15)
        triangle = (np.array([[0, 0, 0], [1, 0, 0], [rng.uniform(0.3, 0.7), wide, 0]])) @ turn.T + rng.normal(size=3)
        weights = rng.dirichlet([3, 3, 3])
        point = weights @ triangle + turn[:, 2] * 10.0 ** -rng.uniform(4, 17)
        p, a, b, c = map(exact, (point, *triangle))
        u, v, w = (minus(q, a) for q in (b, c, p))
        uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
        area = uu * vv - uv * uv
        s, t = (vv * uw - uv * vw) / area, (uu * vw - uv * uw) / area
        if min(s, t, 1 - s - t) < 0:
            continue
        true = sqrt(sum((z - s * x - t * y) ** 2 for x, y, z in zip(u, v, w, strict=True)))
        found, _ = point_triangle_distances(point[:, None], triangle[:, :, None])
        assert abs(float(found[0]) - true) <= 1e-9 * true + 16.0 * EPS * max(
            np.abs(point).max(), np.abs(triangle).max()
        )
