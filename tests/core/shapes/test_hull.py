# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull: what must hold for every finite set of points, and what known bodies look like."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull as QHull

from contact_lens.core.shapes import quickhull
from contact_lens.core.shapes.hull import ConvexHull
from contact_lens.core.shapes.hull_grid import ExactSides

from ..assertions import assert_progress
from ..generators import CUBE, any_of, as_matrix, cylinder, disc, rotation, sphere, sphere_points

EPS = 2.0**-52


def grid(steps: int, size=(1.0, 1.0, 1.0)) -> np.ndarray:
    return np.array(list(product(np.linspace(-0.5, 0.5, steps), repeat=3))) * size


def ball(rng: np.random.Generator, count: int, dim: int = 3) -> np.ndarray:
    return sphere_points(rng, count, dim) * rng.random((count, 1)) ** (1 / dim)


def quads(rings: int) -> np.ndarray:
    """A sphere of so many circles, the poles among them, of twice as many corners."""
    return sphere(rings - 2, 2 * rings)


def failures(points: np.ndarray, hull: ConvexHull) -> list[str]:
    """Every promise of ConvexHull that is broken, in words."""
    broken: list[str] = []

    def check(ok, words: str) -> None:
        if not ok:
            broken.append(words)

    unit = EPS * np.abs(points).max() or 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    center, extent = low + 0.5 * (high - low), float(np.linalg.norm(high - low))
    dim = points.shape[1]

    check(np.array_equal(hull.vertices, points[hull.vertex_ids]), "vertices are copies of input points")
    check(len(set(hull.vertex_ids.tolist())) == len(hull.vertex_ids), "no vertex twice")
    directions = np.random.default_rng(1).normal(size=(60, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.concatenate([directions, np.eye(dim), -np.eye(dim), hull.normals])
    lost = ((points - center) @ directions.T).max(axis=0) - ((hull.vertices - center) @ directions.T).max(axis=0)
    check(lost.max() <= 8 * unit, f"support is exact, but {lost.max() / unit} EPS M are lost")

    check(np.isfinite(hull.normals).all() and np.isfinite(hull.offsets).all(), "planes are finite")
    if len(hull.normals):
        check(np.abs(np.linalg.norm(hull.normals, axis=1) - 1).max() <= 4 * EPS, "normals are unit vectors")
        outside = hull.normals @ (points - hull.center).T - hull.offsets[:, None]
        check(outside.max() <= 1e-12 * extent, f"points within the half-spaces, but {outside.max()} outside")
        away = max(
            np.abs(normal @ hull._centred[loop].T - offset).max()
            for normal, offset, loop in zip(hull.normals, hull.offsets, hull.facets, strict=True)
        )
        check(away <= 16 * unit + 8 * EPS * extent, f"facet corners lie in the plane, but {away / unit} EPS M away")

    if hull.rank == 3:
        check(len(hull.vertices) - len(hull.edges) + len(hull.facets) == 2, "Euler")
        side_of = {}
        for k, loop in enumerate(hull.facets):
            corners = loop.tolist()
            check(len(corners) >= 3 and len(set(corners)) == len(corners), "loops are simple")
            for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
                check((a, b) not in side_of, "a side belongs to one facet")
                side_of[a, b] = k
            p = hull._centred[loop]
            before, after = np.roll(p, 1, axis=0), np.roll(p, -1, axis=0)
            across = after - before
            bend = np.cross(p - before, across) @ hull.normals[k] / np.linalg.norm(across, axis=1)
            check(bend.min() >= -12 * unit, f"loops are convex, but a concavity of {-bend.min() / unit} EPS M")
        check(len(side_of) == 2 * len(hull.edges), "every edge has two facets")
        for (a, b), (f, g) in zip(hull.edges.tolist(), hull.edge_facets.tolist(), strict=True):
            check(side_of.get((a, b)) == f and side_of.get((b, a)) == g, "edges run along their facets")
        used = np.concatenate(hull.facets)
        check(len(np.unique(used)) == len(hull.vertices), "every vertex is used")
    if hull.rank == 2:
        check(len(hull.vertices) >= 3, "a polygon has three corners")
        v = hull._centred
        before, after = np.roll(v, 1, axis=0), np.roll(v, -1, axis=0)
        to, across = v - before, after - before
        turn = np.cross(to, across) @ hull.normals[0] if dim == 3 else to[:, 0] * across[:, 1] - to[:, 1] * across[:, 0]
        turn = turn / np.linalg.norm(across, axis=1)
        check(turn.min() >= -unit and turn.max() > 0, "the polygon is convex and counter-clockwise")
        check(len(hull.edges) == len(hull.vertices), "as many sides as corners")
    return broken


def scattered(rng: np.random.Generator) -> np.ndarray:
    """Points of one of the classes that break hull programs, moved and scaled."""
    n = int(rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 20, 40, 100, 300]))
    small = 10.0 ** -rng.integers(0, 17)

    def nearly_doubled() -> np.ndarray:
        points = np.repeat(rng.normal(size=(max(1, n // 4), 3)), 4, axis=0)
        return points + rng.choice([0.0, small]) * rng.normal(size=points.shape)

    def wedge() -> np.ndarray:
        along = rng.random((n, 1)) * [1, 0, 0]
        return np.concatenate([along, along + [0, 1, 0], along + [0, 1, small]])

    def tips_of_a_long_thin_body() -> np.ndarray:
        points = np.array([[0, 0, 0], [1e6, 0, 0], [5e5, 1, 0], [5e5, -0.5, 0.8], [5e5, -0.5, -0.8]])
        return np.concatenate([points, points + 1e4 * small * rng.normal(size=points.shape), points])

    def on_the_edges_of_a_body() -> np.ndarray:
        corners = rng.normal(size=(max(2, n // 3), 3))
        i, j = rng.integers(0, len(corners), (2, n))
        t = rng.random((n, 1))
        return np.concatenate([corners, corners[i] * (1 - t) + corners[j] * t])

    points = any_of(
        rng,
        lambda: ball(rng, n),
        lambda: rng.integers(0, int(rng.choice([2, 3, 5, 10])), size=(n, 3)).astype(float),
        lambda: rng.normal(size=(n, 3)) * [1, 1, small],  # slabs, flat points with noise
        lambda: rng.normal(size=(n, 3)) * [1, small, 10.0 ** -rng.integers(0, 17)],  # needles
        nearly_doubled,
        lambda: grid(int(rng.integers(2, 6)), (1, 1, small)),
        lambda: grid(int(rng.integers(2, 6)), (1, small, 10.0 ** -rng.integers(0, 17))),
        lambda: cylinder(max(3, n // 2)),
        lambda: np.concatenate([disc(max(3, n // 2), z=-0.5), [[0, 0, -0.5 + small]]]),  # a very low pyramid
        lambda: np.repeat(quads(int(rng.integers(3, 12))), 2, axis=0),
        wedge,
        tips_of_a_long_thin_body,
        on_the_edges_of_a_body,
    )
    if rng.random() < 0.8:
        points = points @ rotation(rng).T
    if rng.random() < 0.3:
        points = points @ (np.eye(3) + np.triu(rng.normal(size=(3, 3)), 1))
    if rng.random() < 0.5:
        points = points + rng.normal(size=3) * 10.0 ** rng.integers(-3, 7)
    return rng.permutation(points * 10.0 ** rng.choice([0, 0, 0, -9, 12, -4, 5]))


# ---------------------------------------------------------------------------------------------------------------------
# Every input


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("block", range(8))
def test_every_promise_holds_for_every_class_of_points(block):
    for seed in range(100 * block, 100 * block + 100):
        points = scattered(np.random.default_rng(seed))
        assert failures(points, ConvexHull(points)) == [], seed


def test_every_promise_holds_in_the_plane():
    for seed in range(400):
        points = np.ascontiguousarray(scattered(np.random.default_rng(seed))[:, seed % 2 : seed % 2 + 2])
        assert failures(points, ConvexHull(points)) == [], seed


coordinate = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=True), st.just(1e-30))


@given(st.integers(2, 3).flatmap(lambda dim: st.lists(st.tuples(*[coordinate] * dim), min_size=1, max_size=24)))
@example([(1.0, 0.0, 0.0), (1.0, 0.0, 5e-324)])
@settings(max_examples=400)
def test_every_promise_holds_for_every_example_of_hypothesis(rows):
    points = np.array(rows)
    assert failures(points, ConvexHull(points)) == []


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-9, 1e12, 1e200, 1e300])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_smallest_and_the_largest_floats_are_lengths_like_any_other(size, dim):
    for points in (2 * CUBE[:, :dim], np.unique(np.round(3 * CUBE[:, :dim]), axis=0)):
        hull = ConvexHull(points * size)
        assert hull.rank == dim
        assert len(hull.vertices) == 2**dim
        assert len(hull.facets) == 2 * dim
        np.testing.assert_allclose(hull.offsets, np.abs(points).max() * size)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("count", [1000, 10_000, 50_000])
def test_points_in_a_ball_give_the_hull_that_qhull_finds(count):
    points = ball(np.random.default_rng(count), count)
    hull, other = ConvexHull(points), QHull(points)
    assert hull.vertex_ids.tolist() == sorted(other.vertices.tolist())
    assert hull.volume == pytest.approx(other.volume, rel=1e-12)
    assert hull.area == pytest.approx(other.area, rel=1e-12)
    assert failures(points, hull) == []


def test_points_in_a_disc_give_the_hull_that_qhull_finds():
    points = ball(np.random.default_rng(3), 20_000, 2)
    hull, other = ConvexHull(points), QHull(points)
    start = other.vertices.tolist().index(min(other.vertices))
    assert hull.vertex_ids.tolist() == np.roll(other.vertices, -start).tolist()
    assert hull.area == pytest.approx(other.volume, rel=1e-12)
    assert hull.volume == hull.area


def test_the_same_points_give_the_same_bytes():
    points = scattered(np.random.default_rng(7))
    first, second = ConvexHull(points), ConvexHull(points.copy())
    for name in ("vertices", "edges", "edge_facets", "normals", "offsets", "vertex_ids"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert [f.tolist() for f in first.facets] == [f.tolist() for f in second.facets]


# ---------------------------------------------------------------------------------------------------------------------
# Coplanar triangles are one facet


@pytest.mark.parametrize("far", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("steps", [2, 3, 6])
def test_a_moved_cube_has_six_quads_however_finely_it_is_subdivided(far, steps):
    rng = np.random.default_rng(int(far) + steps)
    for k in range(15):
        shape = rotation(rng) if k % 2 else rotation(rng) @ (np.eye(3) + np.triu(rng.normal(size=(3, 3)), 1))
        points = rng.permutation(grid(steps)) @ shape.T + far * rng.normal(size=3)
        hull = ConvexHull(points)
        assert len(hull.vertices) == 8
        assert [len(f) for f in hull.facets] == [4] * 6
        assert len(hull.edges) == 12
        assert failures(points, hull) == []


def test_the_cube_has_volume_area_and_planes_at_half():
    hull = ConvexHull(grid(4))
    assert (hull.volume, hull.area) == pytest.approx((1.0, 6.0))
    np.testing.assert_array_equal(hull.offsets, np.full(6, 0.5))
    np.testing.assert_array_equal(np.abs(hull.normals).sum(axis=1), np.ones(6))


@pytest.mark.parametrize(
    ("points", "corners"),
    [
        (cylinder(50) @ rotation(np.random.default_rng(2)).T + 1e3, [4] * 50 + [50] * 2),
        (np.repeat(quads(12), 2, axis=0), [3] * 48 + [4] * 24 * 9),
        (grid(12)[np.abs(grid(12)).max(axis=1) == 0.5] @ rotation(np.random.default_rng(4)).T + 1e6, [4] * 6),
    ],
    ids=["prism", "sphere of quads", "subdivided surface far away"],
)
def test_facets_have_as_many_corners_as_the_polygons_of_the_body(points, corners):
    hull = ConvexHull(points)
    assert sorted(map(len, hull.facets)) == corners
    assert failures(points, hull) == []


def test_a_bump_of_a_hundred_roundings_stays():
    bump = [0.1, 0.2, 0.5 + 100 * EPS]
    hull = ConvexHull(np.concatenate([CUBE, [bump]]))
    assert bump in hull.vertices.tolist()
    assert hull.rank == 3


def test_a_sharp_tip_keeps_the_point_that_hardly_rises_above_its_planes():
    blade = np.array([[0, 0, 0], [1, -0.5, 1e-6], [1, -0.5, -1e-6], [1, 0.5, 1e-6], [1, 0.5, -1e-6]])
    points = np.concatenate([blade, [[-1e-10, 0.0, 0.0]]])
    assert 5 in ConvexHull(points).vertex_ids


# ---------------------------------------------------------------------------------------------------------------------
# Ranks


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_points_of_lower_rank_have_segments_and_polygons(offset):
    rng = np.random.default_rng(5)
    for _ in range(20):
        turn, shift = rotation(rng).T, offset * rng.normal(size=3)
        segment = ConvexHull(rng.random((20, 1)) * [1, 0, 0] @ turn + shift)
        polygon = ConvexHull(rng.random((40, 3)) * [1, 1, 0] @ turn + shift)
        assert (segment.rank, len(segment.vertices), len(segment.edges), len(segment.facets)) == (1, 2, 1, 0)
        assert (polygon.rank, len(polygon.facets)) == (2, 2)
        assert polygon.facets[0].tolist() == list(range(len(polygon.vertices)))
        np.testing.assert_array_equal(polygon.normals[0], -polygon.normals[1])
        assert (polygon.edge_facets == [0, 1]).all()


def test_one_point_many_times_is_a_point():
    for dim in (2, 3):
        hull = ConvexHull(np.full((9, dim), 0.3))
        assert (hull.rank, len(hull.vertices), len(hull.edges), len(hull.facets)) == (0, 1, 0, 0)
        assert hull.vertex_ids.tolist() == [0]
        assert hull.offsets.shape == (0,)
        assert hull.normals.shape == (0, dim)


def test_a_square_in_the_plane_has_four_sides_counter_clockwise():
    square = ConvexHull([[0, 0], [1, 1], [1, 0], [0, 1], [0.5, 0], [0.5, 0.5], [0, 0]])
    assert square.vertex_ids.tolist() == [0, 2, 1, 3]
    assert [f.tolist() for f in square.facets] == square.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    np.testing.assert_array_equal(square.normals, [[0, -1], [1, 0], [0, 1], [-1, 0]])
    np.testing.assert_array_equal(square.offsets, [0.5] * 4)
    assert square.edge_facets.shape == (0, 2)
    assert square.area == 1.0


def test_a_segment_in_the_plane_is_seen_from_either_side():
    segment = ConvexHull([[0, 0], [2, 0], [1, 0]])
    assert [f.tolist() for f in segment.facets] == [[0, 1], [1, 0]]
    np.testing.assert_array_equal(segment.normals, [[0, -1], [0, 1]])


def test_four_points_with_noise_in_one_corner_are_flat_only_within_a_few_roundings():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    lifted = square.copy()
    lifted[3, 2] = 4 * EPS
    assert ConvexHull(lifted).rank == 2
    lifted[3, 2] = 1e-12
    assert ConvexHull(lifted).rank == 3


# ---------------------------------------------------------------------------------------------------------------------
# Input


@pytest.mark.parametrize(
    "points",
    [
        [1.0, 2.0, 3.0],
        np.zeros((2, 2, 3)),
        np.zeros((0, 3)),
        [],
        np.zeros((3, 4)),
        np.zeros((3, 1)),
        [[0.0, 1.0, np.nan]],
        [[np.inf, 0.0]],
        np.zeros((4, 3), dtype=complex),
        [["a", "b", "c"]],
        [[1, 2], [1, 2, 3]],
        [[1, 2, None]],
        np.array([["2020-01-01"] * 3], dtype="datetime64[D]"),
        np.zeros((0, 2)),
        5.0,
        [[True, False]],
        None,
    ],
)
def test_points_that_are_not_finite_arrays_are_refused_by_name(points):
    with pytest.raises(ValueError, match="points"):
        ConvexHull(points)


@pytest.mark.parametrize("made", [None, {"factor": 8.0}, {"matrix": np.diag([2.0, 2.0, 2.0, 1.0])}])
def test_the_input_is_neither_changed_nor_kept_and_no_result_can_be_changed(made):
    for source in (ball(np.random.default_rng(6), 50), CUBE, CUBE[:2], CUBE[:1]):
        points = source.copy()
        hull = ConvexHull(points)
        np.testing.assert_array_equal(points, source)
        points[:] = 0.0
        assert np.abs(hull.vertices).max() >= 0.5
        shape = hull if made is None else hull.scaled(**made) if "factor" in made else hull.transformed(**made)
        assert shape.facets is hull.facets, "what stays is not made again"
        arrays = [shape.vertices, shape.normals, shape.offsets, shape.edges, shape.edge_facets, *shape.facets]
        arrays += [hull.vertex_ids, shape.center, shape._centred, *shape.bounds, shape.edge_directions]
        assert not any(array.flags.writeable for array in [*arrays, *shape._facet_axes, *shape._edge_table])


def test_whole_numbers_single_precision_and_lists_will_do():
    for points in (
        CUBE.tolist(),
        CUBE.astype(np.float32),
        (2 * CUBE).astype(int),
        (CUBE * 2 + 1).astype(np.uint8),
        tuple(map(tuple, CUBE)),
    ):
        hull = ConvexHull(points)
        assert len(hull.facets) == 6
        assert hull.vertices.dtype == np.float64


@pytest.mark.parametrize(("size", "away"), [(1.0, 0.0), (1e-200, 0.0), (1e200, 0.0), (1.0, 1e6)])
def test_centroids_that_are_known(size, away):
    for points, centroid in (
        ((CUBE + 0.5) * [1, 2, 4], [0.5, 1.0, 2.0]),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.25, 0.25, 0.25]),
        ([[0, 0, 5], [3, 0, 5], [0, 3, 5]], [1.0, 1.0, 5.0]),
        ([[0, 0], [3, 0], [0, 3]], [1.0, 1.0]),
        ([[0, 0], [4, 2]], [2.0, 1.0]),
        ([[7, 8, 9]], [7.0, 8.0, 9.0]),
    ):
        hull = ConvexHull(np.array(points) * size + away)
        assert np.allclose(hull.centroid, np.array(centroid) * size + away, rtol=1e-9, atol=0.0)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("kind", ["ball", "sphere", "cube", "circle", "flat circle", "few"])
def test_progress_rises_from_0_to_1_and_cancels(kind):
    rng = np.random.default_rng(51)
    circle = sphere_points(rng, 60_000, 2)
    surface = rng.uniform(-1, 1, (20_000, 3))
    surface[np.arange(len(surface)), rng.integers(0, 3, len(surface))] = 1.0
    points = {
        "ball": ball(rng, 300_000),
        "sphere": quads(60),
        "cube": surface,
        "circle": circle,
        "flat circle": np.insert(circle, 2, 0.25, axis=1),
        "few": CUBE,
    }[kind]
    assert_progress(lambda progress: ConvexHull(points, progress=progress), 2 if kind == "few" else 6)


def matrices(rng: np.random.Generator):
    """Rigid, mirrored, sheared, squashed, flattening and far-away placements, as 4 x 4 matrices with their names."""
    turn, more = rotation(rng), rotation(rng)
    for name, linear, reach in (
        ("rigid", turn, 10.0),
        ("mirrored", turn @ np.diag([1.0, 1.0, -1.0]), 10.0),
        ("sheared", turn @ np.diag(rng.uniform(0.2, 3.0, 3)) @ more, 10.0),
        ("squashed", turn @ np.diag([1.0, 10.0 ** -rng.uniform(2, 17), -1.0]) @ more, 10.0),
        ("flattened", turn @ np.diag([1.0, 1.0, 0.0]), 10.0),
        ("to a point", np.zeros((3, 3)), 10.0),
        ("far", turn, 1e7),
        ("large", 1e40 * turn, 0.0),
        ("small", 1e-40 * turn, 0.0),
    ):
        yield name, as_matrix(linear, rng.uniform(-reach, reach, 3))


@pytest.mark.parametrize("block", range(4))
def test_a_moved_hull_keeps_every_promise(block):
    rng = np.random.default_rng([11, block])
    for _ in range(30):
        points = scattered(rng)
        if points.shape[1] != 3 or np.abs(points).max() > 1e6:
            continue
        hull = ConvexHull(points)
        for name, matrix in matrices(rng):
            moved = hull.transformed(matrix)
            corners = hull.vertices @ matrix[:3, :3].T + matrix[:3, 3]
            image = np.repeat(corners[:1], len(points), axis=0)
            image[hull.vertex_ids] = corners
            assert failures(image, moved) == [], name


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_moved_hull_is_the_hull_of_the_moved_points(mirror):
    rng = np.random.default_rng(12)
    for points in (CUBE, cylinder(12), quads(9), ball(rng, 200), grid(4)):
        hull = ConvexHull(points)
        matrix = as_matrix(rotation(rng) @ np.diag([1.5, 0.5, mirror]), (3.0, -2.0, 1.0))
        moved, fresh = hull.transformed(matrix), ConvexHull(hull.vertices @ matrix[:3, :3].T + matrix[:3, 3])
        assert np.array_equal(moved.vertex_ids, hull.vertex_ids)
        assert np.array_equal(moved.vertices, fresh.vertices)
        assert len(moved.facets) == len(fresh.facets)
        assert moved.volume == pytest.approx(hull.volume * 0.75, rel=1e-12)
        assert moved.area == pytest.approx(fresh.area, rel=1e-12)


@pytest.mark.parametrize(
    "matrix",
    [np.eye(3), np.full((4, 4), np.nan), np.ones((4, 4)), "x", np.diag([1e308, 1.0, 1.0, 1.0])],
)
def test_a_wrong_matrix_is_refused(matrix):
    with pytest.raises(ValueError, match=r"^matrix: "):
        ConvexHull(CUBE * 1e3).transformed(matrix)
    with pytest.raises(ValueError, match=r"^matrix: an array \(3, 3\) expected"):
        ConvexHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).transformed(np.eye(4))


def body(kind: str, count: int) -> np.ndarray:
    """About as many corners of a convex body."""
    points, circle = sphere_points(np.random.default_rng(52), count), disc(count)
    return {
        "sphere": points,
        "single precision": points.astype(np.float32).astype(np.float64),
        "quads": quads(int((count / 2) ** 0.5)),
        "cone": np.concatenate([circle, [[0.0, 0.0, 2.0]]]),
        "circles across": np.concatenate([circle, np.roll(circle, 1, axis=1) + [1.0, 0.0, 0.0]]),
    }[kind]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("kind", ["sphere", "single precision", "quads", "cone", "circles across"])
def test_work_grows_in_step_with_the_corners(kind, monkeypatch):
    """Five times the corners are twenty-five times as many side tests where it grows with the square."""
    tests: list[int] = []
    for name in ("_heights", "_volumes"):
        method = getattr(quickhull.Solid, name)
        monkeypatch.setattr(quickhull.Solid, name, lambda self, p, f, m=method: tests.append(len(p)) or m(self, p, f))
    totals = []
    for count in (3_000, 15_000):
        points = body(kind, count)
        tests.clear()
        hull = ConvexHull(points)
        totals.append(sum(tests))
        chosen = np.random.default_rng(53).integers(0, len(hull.normals), 300)
        reach = ((points - hull.center) @ hull.normals[chosen].T).max(axis=0)
        np.testing.assert_allclose(hull.offsets[chosen], reach, rtol=0, atol=4 * EPS * np.abs(points).max())
        assert len(hull.vertices) > 0.7 * count
    assert 0 < totals[1] < 10 * totals[0]


@pytest.mark.slow
@pytest.mark.parametrize("height", [1e-13, 1e-12, 1e-11])
def test_exact_decisions_about_a_nearly_flat_disc_grow_in_step_with_its_corners(monkeypatch, height):
    """All its planes are within rounding of all its points, so floats decide next to nothing."""
    asked: list[int] = []
    side, volumes = ExactSides.side, quickhull.signs_of_volumes
    monkeypatch.setattr(ExactSides, "side", lambda *arguments: asked.append(1) or side(*arguments))
    monkeypatch.setattr(
        quickhull, "signs_of_volumes", lambda *corners: asked.append(corners[0].shape[1]) or volumes(*corners)
    )
    turn = rotation(np.random.default_rng(55)).T
    for corners in (500, 3000):
        points = np.concatenate([disc(corners, z=-0.5), [[0.0, 0.0, height - 0.5]]]) @ turn
        asked.clear()
        hull = ConvexHull(points)
        assert sum(asked) < 12 * corners * np.log2(corners)  # a square would be 40 times as many and more
        assert len(hull.vertices) == corners + 1
        assert failures(points, hull) == []


@pytest.mark.slow
def test_points_beside_a_nearly_flat_disc_are_measured_from_few_of_its_edges(monkeypatch):
    measured: list[int] = []
    squared_lengths = quickhull.squared_lengths
    monkeypatch.setattr(quickhull, "squared_lengths", lambda v: measured.append(v[0].size) or squared_lengths(v))
    points = np.concatenate([disc(4000, z=-0.5), [[0.0, 0.0, 1e-11 - 0.5]]]) @ rotation(np.random.default_rng(55)).T
    assert len(ConvexHull(points).vertices) == 4001
    assert sum(measured) < 600 * 4000  # 2,600 times where each is measured from every edge


def test_a_merged_facet_reaches_as_far_as_the_points_beside_it_that_were_left_out():
    """Quads that noise of a few roundings has bent, and points in them that are no corners."""
    rng = np.random.default_rng(54)
    for rings in (8, 20):
        for noise in (0.0, 1.0, 4.0):
            mesh = quads(rings)
            whole = ConvexHull(mesh)
            middles = np.array([whole.vertices[f].mean(axis=0) for f in whole.facets if len(f) == 4])
            points = np.concatenate([mesh, middles])
            points += noise * EPS * rng.uniform(-1, 1, points.shape)
            hull = ConvexHull(points)
            reach = ((points - hull.center) @ hull.normals.T).max(axis=0)
            np.testing.assert_allclose(hull.offsets, reach, rtol=0, atol=2 * EPS)
