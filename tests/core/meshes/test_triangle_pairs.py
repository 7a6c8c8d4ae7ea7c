# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of two meshes that meet, against exact searches of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from unittest import mock

import numpy as np
import pytest

from contact_lens.core.meshes import degenerate_triangles, triangle_pairs
from contact_lens.core.meshes.common_corners import without_neighbours
from contact_lens.core.meshes.crossings import FACE, Crossings, Meeting
from contact_lens.core.meshes.degenerate_triangles import degenerate_meeting
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.triangle_candidates import triangle_candidates
from contact_lens.core.meshes.triangle_pairs import crossing_triangles, self_crossings

from ..assertions import assert_progress
from ..exact import Exact, exact
from ..generators import rotation
from ..mesh_shapes import block, joined, sheet, sphere, suzanne, torus
from ..oracles import cross, dot, minus

EPS = 2.0**-52


def meet_by_axes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two triangles that have an area meet: no axis separates them, all in fractions."""
    one, other = ([exact(corner) for corner in side] for side in (a, b))
    sides = [[minus(t[(k + 1) % 3], t[k]) for k in range(3)] for t in (one, other)]
    normals = [cross(s[0], s[1]) for s in sides]
    axes = [*normals, *(cross(u, v) for u in sides[0] for v in sides[1])]
    axes += [cross(n, u) for n in normals for u in sides[0] + sides[1]]
    for axis in axes:
        mine, its = [dot(axis, p) for p in one], [dot(axis, p) for p in other]
        if max(mine) < min(its) or max(its) < min(mine):
            return False
    return True


def meet_by_weights(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two triangles of any kind meet: some corners, with weights, make the same point. In fractions."""
    columns = [[*map(Fraction, p), Fraction(1), Fraction(0)] for p in a.tolist()]
    columns += [[*(-Fraction(x) for x in p), Fraction(0), Fraction(1)] for p in b.tolist()]
    goal = [Fraction(0)] * 3 + [Fraction(1)] * 2
    return any(solved(chosen, goal) for size in range(2, 6) for chosen in combinations(columns, size))


def solved(columns: Sequence[Exact], goal: Exact) -> bool:
    """Whether independent columns add up to the goal with weights that are not negative."""
    rows = [[*(column[i] for column in columns), goal[i]] for i in range(len(goal))]
    count = len(columns)
    for k in range(count):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return False
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    if any(row[count] for row in rows[count:]):
        return False
    return all(rows[k][count] / rows[k][k] >= 0 for k in range(count))


def soups(seed: int, count: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Corners (6, 3, 3) of two sets of triangles: at random, on lattices, in one plane, far away, nearly touching."""
    for index in range(count):
        rng = np.random.default_rng([seed, index])
        lattice = [rng.integers(0, 3, (6, 3, 3)).astype(float) for _ in range(2)]
        turn = rotation(rng)
        kind = ("any", "lattice", "plane", "turned plane", "far", "rounded", "float32", "sizes")[index % 8]
        if kind == "any":
            lattice = [rng.normal(size=(6, 3, 3)) for _ in range(2)]
        elif kind in ("plane", "turned plane"):
            lattice = [rng.integers(0, 5, (6, 3, 3)) * np.array([1.0, 1.0, 0.0]) for _ in range(2)]
            if kind == "turned plane":
                lattice = [side @ turn for side in lattice]
        elif kind == "far":
            lattice = [side * 0.1 + 1e6 for side in lattice]
        elif kind == "rounded":
            lattice = [side + rng.normal(size=side.shape) * 1e-16 for side in lattice]
        elif kind == "float32":
            lattice = [(side @ turn).astype(np.float32).astype(float) for side in lattice]
        elif kind == "sizes":
            scale = 10.0 ** rng.choice([-150, -4, 5, 200])
            lattice = [side * scale for side in lattice]
        yield kind, lattice[0], lattice[1]


def mesh_of(corners: np.ndarray) -> Mesh:
    """A mesh of triangles (n, 3, 3) without common vertices."""
    return Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def from_triangle(point: np.ndarray, corners: np.ndarray) -> float:
    """Distance of a point from a triangle, also from one without area. Which part is nearest is decided exactly."""
    best = min(from_segment(point, corners[k], corners[k - 1]) for k in range(3))
    p, q, r = map(exact, corners)
    normal, away = cross(minus(q, p), minus(r, p)), minus(exact(point), p)
    if not any(normal):
        return best
    for one, other in ((p, q), (q, r), (r, p)):
        if dot(cross(normal, minus(other, one)), minus(away, minus(one, p))) < 0:
            return best
    return min(best, float(abs(dot(normal, away)) / max(map(abs, normal))))


def from_segment(point: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
    """Distance of a point from a segment."""
    length = float((q - p) @ (q - p))
    fraction = min(max(float((point - p) @ (q - p)) / length, 0.0), 1.0) if length else 0.0
    return float(np.linalg.norm(p + fraction * (q - p) - point))


def from_feature(point: np.ndarray, corners: np.ndarray, feature: int) -> float:
    """Distance of a point from a feature of a triangle."""
    if feature < 3:
        return float(np.linalg.norm(point - corners[feature]))
    if feature < FACE:
        return from_segment(point, corners[feature - 3], corners[(feature - 2) % 3])
    return from_triangle(point, corners)


def check_ends(found: Crossings, a: Mesh, b: Mesh) -> None:
    """The ends of every segment are on the features they name."""
    extent = max(a.extent, b.extent)
    scale = 2.0 ** -np.frexp(extent)[1] if extent else 1.0
    tolerance = 1e-10 * extent * scale + 64 * EPS * max(a.magnitude, b.magnitude) * scale
    corners = [mesh.points[mesh.triangles] * scale for mesh in (a, b)]
    for pair, segment, features in zip(found.pairs, found.segments, found.features, strict=True):
        for point, named in zip(segment * scale, features, strict=True):
            for k in range(2):
                assert from_feature(point, corners[k][pair[k]], int(named[k])) <= tolerance


@pytest.mark.slow
def test_pairs_are_those_of_an_exact_search() -> None:
    """Of triangles with an area, whatever rounding would make of them."""
    for kind, p, q in soups(1, 64):
        a, b = mesh_of(p), mesh_of(q)
        found = crossing_triangles(a, b)
        check_ends(found, a, b)
        pairs = set(map(tuple, found.pairs.tolist()))
        flat = [set(mesh.degenerate_faces.tolist()) for mesh in (a, b)]
        for i in set(range(6)) - flat[0]:
            for j in set(range(6)) - flat[1]:
                assert meet_by_axes(p[i], q[j]) == ((i, j) in pairs), (kind, i, j)


def test_pairs_without_area_are_those_of_an_exact_search() -> None:
    """Triangles that are segments or points meet others where they do, all on one line along an axis, too."""
    rng = np.random.default_rng(4)
    for k in range(30):
        p, q = (rng.integers(0, 3, (3, 3, 3)).astype(float) for _ in range(2))
        if k % 5 == 0:
            p[..., :2], q[..., :2] = 0.25, 0.25
        p[0, 2], q[1, 1:] = p[0, 0] * 2 - p[0, 1], q[1, 0]
        a, b = mesh_of(p), mesh_of(q)
        found = crossing_triangles(a, b)
        check_ends(found, a, b)
        pairs = set(map(tuple, found.pairs.tolist()))
        assert pairs == {(i, j) for i in range(3) for j in range(3) if meet_by_weights(p[i], q[j])}


def answers(found: Crossings, swapped: bool = False) -> dict[tuple[int, ...], object]:
    """What is exact of an answer, by pair of triangles."""
    result: dict[tuple[int, ...], object] = {}
    for pair, kind, features in zip(found.pairs.tolist(), found.kinds.tolist(), found.features.tolist(), strict=True):
        ends = sorted(tuple(end[::-1] if swapped else end) for end in features)
        result[tuple(pair[::-1] if swapped else pair)] = (kind, None if kind == Meeting.COPLANAR else ends)
    return result


def test_swapping_changes_nothing() -> None:
    """Pairs, kinds and features are the same; points to rounding."""
    for _, p, q in soups(3, 80):
        a, b = mesh_of(p), mesh_of(q)
        assert answers(crossing_triangles(a, b)) == answers(crossing_triangles(b, a), swapped=True)


def test_with_trees_the_answer_is_the_same() -> None:
    """Every byte of it."""
    rng = np.random.default_rng(6)
    for _ in range(12):
        parts = [
            [Mesh((points @ rotation(rng).T) + rng.normal(size=3) * 0.5, triangles) for points, triangles in pair]
            for pair in [(sphere(int(rng.integers(4, 30))), torus(int(rng.integers(5, 40)), 12))]
        ]
        for a, b in parts:
            plain = crossing_triangles(a, b)
            a.tree, b.tree  # noqa: B018 - they are made and kept
            with_trees = crossing_triangles(a, b)
            for name in ("pairs", "kinds", "segments", "features"):
                assert np.array_equal(getattr(plain, name), getattr(with_trees, name)), name


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e5])
def test_meshes_moved_and_scaled(size: float) -> None:
    """Two surfaces at any size and place: the pairs that all boxes together would give, and the same segments."""
    rng = np.random.default_rng(8)
    for rings in (6, 20):
        points, triangles = sphere(rings)
        other, its = torus(20, 10)
        p, q = points @ rotation(rng).T, other @ rotation(rng).T + [0.7, 0.1, 0.2]
        plain = crossing_triangles(Mesh(p, triangles), Mesh(q, its))
        turn, move = rotation(rng), rng.normal(size=3) * 100.0
        a, b = (Mesh((side @ turn.T + move) * size, t) for side, t in ((p, triangles), (q, its)))
        found = crossing_triangles(a, b)
        check_ends(found, a, b)
        assert np.array_equal(found.pairs, plain.pairs)
        assert np.allclose(found.segments, (plain.segments @ turn.T + move) * size, atol=1e-12 * 100 * size)
        order = rng.permutation(len(triangles))
        mixed = crossing_triangles(Mesh(p, triangles[order]), Mesh(q, its))
        back = np.stack([order[mixed.pairs[:, 0]], mixed.pairs[:, 1]], axis=1)
        assert set(map(tuple, back.tolist())) == set(map(tuple, plain.pairs.tolist()))


def test_many_triangles_against_all_pairs() -> None:
    """Culling, cells and batches lose nothing, also where sizes differ a thousand times."""
    rng = np.random.default_rng(9)
    for kind in range(4):
        p = rng.uniform(-1, 1, (700, 1, 3)) + rng.normal(size=(700, 3, 3)) * 0.06
        q = rng.uniform(-1, 1, (600, 1, 3)) + rng.normal(size=(600, 3, 3)) * 0.06
        if kind == 1:
            q[:4] *= 1000.0
        elif kind == 2:
            p, q = p * [1, 1, 1e-3], q * [1, 1, 1e-3]
        elif kind == 3:
            q[:, :, 0] += 1.8
        a, b = mesh_of(p), mesh_of(q)
        found = crossing_triangles(a, b)
        everything = np.stack(np.meshgrid(np.arange(700), np.arange(600), indexing="ij"), axis=2).reshape(-1, 2)
        boxes = (p.min(axis=1)[everything[:, 0]] <= q.max(axis=1)[everything[:, 1]]).all(axis=1)
        boxes &= (q.min(axis=1)[everything[:, 1]] <= p.max(axis=1)[everything[:, 0]]).all(axis=1)
        whole = triangle_pairs._meetings(a, b, everything[boxes].T, None)
        assert np.array_equal(found.pairs, whole.pairs)
        assert triangle_candidates(a, b).shape[1] == boxes.sum()
        assert len(found)


def test_kinds() -> None:
    """Crossing, touching in every way, coplanar; what they have in common and where."""
    base = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
    cases = {
        "through the inside": ([[1, 1, -1], [1, 1, 1], [1, 3, 1]], Meeting.CROSSING, [[1, 1, 0], [1, 2, 0]]),
        "through a side": ([[-1, 1, -1], [-1, 1, 1], [3, 1, 1]], Meeting.CROSSING, [[0, 1, 0], [1, 1, 0]]),
        "corner on the inside": ([[1, 1, 0], [1, 1, 1], [1, 2, 1]], Meeting.TOUCHING, [[1, 1, 0]]),
        "corner on a side": ([[2, 0, 0], [1, 0, 1], [2, 0, 1]], Meeting.TOUCHING, [[2, 0, 0]]),
        "corner on a corner": ([[4, 0, 0], [5, 0, 1], [5, 1, -1]], Meeting.TOUCHING, [[4, 0, 0]]),
        "side on the inside": ([[1, 1, 0], [2, 1, 0], [1, 1, 1]], Meeting.TOUCHING, [[1, 1, 0], [2, 1, 0]]),
        "side on a side": ([[1, 0, 0], [5, 0, 0], [1, 0, 1]], Meeting.TOUCHING, [[1, 0, 0], [4, 0, 0]]),
        "side through a side": ([[2, 0, -1], [2, 0, 1], [2, -3, 0]], Meeting.TOUCHING, [[2, 0, 0]]),
        "in the plane": ([[1, 1, 0], [5, 1, 0], [1, 5, 0]], Meeting.COPLANAR, [[3, 1, 0], [1, 3, 0]]),
        "in the plane, beside": ([[1, 0, 0], [3, 0, 0], [1, -5, 0]], Meeting.BESIDE, [[1, 0, 0], [3, 0, 0]]),
        "in the plane, a corner": ([[4, 0, 0], [6, 0, 0], [6, -5, 0]], Meeting.BESIDE, [[4, 0, 0]]),
    }
    rng = np.random.default_rng(2)
    for name, (other, kind, wanted) in cases.items():
        for _ in range(20):
            p, q = base[rng.permutation(3)], np.array(other, dtype=float)[rng.permutation(3)]
            found = crossing_triangles(mesh_of(p[None]), mesh_of(q[None]))
            assert found.pairs.tolist() == [[0, 0]], name
            assert found.kinds.tolist() == [kind], name
            ends = sorted(found.segments[0].tolist())
            assert ends == sorted([[float(x) for x in end] for end in wanted] * (2 if len(wanted) == 1 else 1)), name
    for apart in (
        [[1, 1, 1], [2, 1, 1], [1, 2, 1]],
        [[5, 0, 0], [6, 0, 0], [5, 1, 0]],
        [[3, 3, -1], [3, 3, 1], [4, 3, 1]],
    ):
        assert not len(crossing_triangles(mesh_of(base[None]), mesh_of(np.array([apart], dtype=float))))


def test_nearly_parallel_triangles_keep_their_points() -> None:
    """The line of two planes at 1e-12 of an angle is found, not only the pair."""
    for k in range(200):
        rng = np.random.default_rng([10, k])
        angle = 10.0 ** -rng.uniform(5, 15)
        p, q = rng.normal(size=(1, 3, 3)), rng.normal(size=(1, 3, 3))
        p[..., 2], q[..., 2] = 0.0, angle * (q[..., 0] + rng.uniform(-0.1, 0.1))
        turn = rotation(rng)
        a, b = mesh_of(p @ turn.T), mesh_of(q @ turn.T)
        check_ends(crossing_triangles(a, b), a, b)


def test_self_crossings() -> None:
    """None in a clean mesh; those of its parts where they meet; of a folded sheet."""
    assert not len(self_crossings(Mesh(*torus(20, 12))))
    one, other = sphere(8), block((1.0, 1.0, 1.0), (0.3, 0.2, 0.1))
    wanted = crossing_triangles(Mesh(*one), Mesh(*other)).pairs + [0, len(one[1])]
    mesh = Mesh(*joined([one, other]))
    assert np.array_equal(self_crossings(mesh).pairs, wanted)
    mesh.tree  # noqa: B018 - it is made and kept
    assert np.array_equal(self_crossings(mesh).pairs, wanted)
    points, triangles = sheet(20, 2.0)
    along = 1.51 * (points[:, 0] - 1.0)
    points[:, 0], points[:, 2] = along**3 - along, along**2
    assert (self_crossings(Mesh(points, triangles)).kinds == Meeting.CROSSING).sum() > 10


def have_more_in_common(corner: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two triangles, from one corner to two others each, have more than the corner in common: a direction from
    it. In fractions."""
    start = exact(corner)
    columns = [[*minus(exact(p), start), Fraction(1)] for p in a]
    columns += [[*minus(start, exact(p)), Fraction(0)] for p in b]
    goal = [Fraction(0)] * 3 + [Fraction(1)]
    return any(solved(chosen, goal) for size in range(1, 5) for chosen in combinations(columns, size))


def test_triangles_with_a_common_corner_cross_as_fractions_say() -> None:
    found = 0
    for index in range(600):
        rng = np.random.default_rng([8605, index])
        points = rng.integers(-2, 3, (5, 3)).astype(float)
        points[:, 2] *= index % 3 > 0  # one third in a plane
        points += rng.normal(size=(5, 3)) * (0.3 if index % 2 and index % 3 else 0.0)
        if index % 5 == 0:
            points = np.asarray(points @ rotation(rng).T + 1e3, dtype=np.float32).astype(float)
        own, other = rng.permutation([0, 1, 2]), rng.permutation([0, 3, 4])
        mesh = Mesh(points, [own, other])
        if len(mesh.degenerate_faces):
            continue
        wanted = have_more_in_common(points[0], points[1:3], points[3:])
        assert len(self_crossings(mesh)) == wanted, (index, points.tolist(), own, other)
        found += wanted
    assert found > 100


def test_refined_surfaces_of_single_precision_do_not_cross_themselves() -> None:
    for points, triangles in (torus(24, 16), sphere(12), block((1, 2, 3)), sheet(12)):
        surface = Mesh(*subdivided(np.array(points), np.array(triangles)))
        single = np.asarray(surface.points * 7.3 + 1e3, dtype=np.float32).astype(float)
        crossings = self_crossings(Mesh(single, surface.triangles))
        assert not len(crossings.of_kind(Meeting.CROSSING))
        assert not len(crossings.of_kind(Meeting.COPLANAR))


def test_floats_part_nearly_all_neighbours_of_a_refined_surface() -> None:
    mesh = Mesh(*suzanne(2))
    overlapping = mesh.tree.overlapping_pairs().pairs
    first, second = (mesh.triangles[side] for side in overlapping.T)
    common = (first[:, :, None] == second[:, None]).sum(axis=(1, 2))
    looked_at = len(without_neighbours(mesh, overlapping.T)) - np.count_nonzero(common == 0)
    assert looked_at < 0.01 * np.count_nonzero(common == 1)


def subdivided(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A surface with each triangle cut into four."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    used, place = np.unique(edges, axis=0, return_inverse=True)
    middle = place.reshape(-1, 3) + len(points)
    p, q, r = triangles.T
    pq, qr, rp = middle.T
    parts = [(p, pq, rp), (pq, q, qr), (rp, qr, r), (pq, qr, rp)]
    return np.concatenate([points, points[used].mean(axis=1)]), np.concatenate([np.stack(t, axis=1) for t in parts])


def test_meshes_pressed_to_a_line_or_a_point_are_not_looked_at_one_by_one(monkeypatch) -> None:
    """One by one in fractions these pairs would take minutes."""
    points, triangles = torus(40, 20)
    slow = mock.Mock(side_effect=degenerate_meeting)
    monkeypatch.setattr(degenerate_triangles, "degenerate_meeting", slow)
    thin = [Mesh(points * [0.0, 0.0, 1.0] + [0.0, 0.0, z], triangles) for z in (0.0, 0.5)]
    found = crossing_triangles(*thin)
    assert len(found) > 20_000
    assert (found.kinds == Meeting.TOUCHING).all()
    check = np.random.default_rng(0).choice(len(found), 200)
    heights = [mesh.points[:, 2].take(mesh.triangles) for mesh in thin]
    for pair, ends in zip(found.pairs[check].tolist(), found.segments[check], strict=True):
        low = max(side[k].min() for side, k in zip(heights, pair, strict=True))
        high = min(side[k].max() for side, k in zip(heights, pair, strict=True))
        assert sorted(ends[:, 2].tolist()) == [low, high]
    few = torus(16, 8)
    spot = Mesh(few[0] * 0.0, few[1])
    assert len(crossing_triangles(spot, spot)) == len(few[1]) ** 2
    count = len(few[1])
    assert len(crossing_triangles(Mesh(few[0] * 0.0 + 0.1, few[1]), Mesh(*block()))) == 0
    assert len(crossing_triangles(Mesh(few[0] * 0.0 + [0.0, 0.25, 0.5], few[1]), Mesh(*block()))) >= count
    assert slow.call_count < 4_000, "not once for each of the pairs"


def test_arguments_and_progress() -> None:
    """Others than meshes are refused by name; progress rises to 1 and stops the work; nothing found is empty."""
    mesh = Mesh(*sphere(12))
    for name, call in (
        ("a must be a Mesh", lambda: crossing_triangles(3, mesh)),  # type: ignore[arg-type]
        ("b must be a Mesh", lambda: crossing_triangles(mesh, None)),  # type: ignore[arg-type]
        ("mesh must be a Mesh", lambda: self_crossings("mesh")),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=name):
            call()
    found = crossing_triangles(mesh, mesh)
    same = found.of_kind(Meeting.COPLANAR)
    assert (found.pairs[same, 0] == found.pairs[same, 1]).sum() == len(mesh.triangles)
    assert_progress(lambda progress: crossing_triangles(mesh, mesh, progress))
    none = crossing_triangles(mesh, mesh.translated([3.0, 0.0, 0.0]))
    assert [none.pairs.shape, none.segments.shape, none.features.shape] == [(0, 2), (0, 2, 3), (0, 2, 2)]
    assert len(none) == 0
