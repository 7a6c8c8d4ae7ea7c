# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs of moving hulls: hill climbing gives what recomputation gives, to the last bit, whatever the motion.

Source: S3.5.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from contact_lens.core import Box, ConvexHull
from contact_lens.core.bounding.bounding_volumes import bounding_volumes
from contact_lens.core.bounding.kdop import KDops
from contact_lens.core.bounding.kdop_update import Extremes, climbed_kdops, hull_graph, moved_extremes, moved_kdops
from contact_lens.core.progress import Cancelled

from .generators import cloud, cylinder, flat_shape, rotation, solid, sphere

pytestmark = pytest.mark.filterwarnings("error")


def assert_same(a: KDops, b: KDops) -> None:
    np.testing.assert_array_equal(a.low, b.low)
    np.testing.assert_array_equal(a.high, b.high)


def assert_extreme(graph, rotations, translations, dop: KDops, extremes: Extremes) -> None:
    """Every vertex named is one of its hull, and as extreme as the k-DOP says."""
    h = len(dop.directions)
    for i in range(len(graph)):
        own = extremes.ids[i]
        assert ((own >= graph.starts[i]) & (own < graph.starts[i] + graph.counts[i])).all()
        points = graph.rows[:, own].T @ rotations[i].T + translations[i]
        size = 1e-13 * (np.abs(points).max() + 1e-300)
        values = (points * np.concatenate([dop.directions, dop.directions])).sum(axis=1)
        np.testing.assert_allclose(values[:h], dop.low[:, i], rtol=0, atol=size)
        np.testing.assert_allclose(values[h:], dop.high[:, i], rtol=0, atol=size)


def shapes_of_every_sort(seed: int) -> list[ConvexHull | Box]:
    rng = np.random.default_rng(seed)
    shapes: list[ConvexHull | Box] = [
        ConvexHull(np.zeros((1, 3))),
        ConvexHull(rng.normal(size=(2, 3))),
        ConvexHull(flat_shape(rng, 2)),
        Box((1, 2, 3), (1, 2, 3), (1, 0, 0, 0)),
        Box((0, 0, 0), (1, 1, 0)),
        ConvexHull(cylinder(200)),
        ConvexHull(sphere(12, 24)),
        ConvexHull(cloud(rng, 300) * 1e-6 + 1e3),
        ConvexHull(rng.integers(-3, 4, (60, 3)).astype(float)),
        ConvexHull(rng.normal(size=(50, 3)) * [1, 1e-9, 1e-4]),
    ]
    return shapes + [ConvexHull(solid(rng)) for _ in range(10)]


@pytest.mark.parametrize("k", [6, 14, 18, 26])
@pytest.mark.parametrize("seed", range(4))
def test_climbing_over_hundreds_of_turns_equals_recomputation(k, seed):
    rng = np.random.default_rng(seed)
    shapes = shapes_of_every_sort(seed)
    graph = hull_graph(shapes)
    b = len(shapes)
    rotations = np.stack([rotation(rng) for _ in range(b)])
    translations = rng.normal(size=(b, 3)) * 10.0 ** rng.integers(-3, 7, (b, 1))
    dop, extremes = moved_extremes(graph, rotations, translations, k)
    assert_same(dop, moved_kdops(graph, rotations, translations, k))
    assert_extreme(graph, rotations, translations, dop, extremes)
    for step in range(60):
        angle = (0.0, 1e-12, 1e-3, 0.02, 0.3, 3.0)[step % 6]
        turn = Rotation.from_rotvec(angle * rng.normal(size=(b, 3))).as_matrix()
        rotations = turn @ rotations
        translations = translations + angle * rng.normal(size=(b, 3))
        dop, extremes = climbed_kdops(graph, rotations, translations, extremes)
        assert_same(dop, moved_kdops(graph, rotations, translations, k))
        if step % 10 == 0:
            assert_extreme(graph, rotations, translations, dop, extremes)


@pytest.mark.parametrize("k", [4, 8])
def test_polygons_turn_in_the_plane(k):
    rng = np.random.default_rng(k)
    shapes = [ConvexHull(rng.normal(size=(int(n), 2))) for n in rng.integers(1, 60, 40)]
    shapes.append(ConvexHull(np.stack([np.cos(np.arange(500)), np.sin(np.arange(500))], axis=1)))
    graph = hull_graph(shapes)
    b = len(shapes)
    angle = rng.uniform(0, 7, b)
    translations = rng.normal(size=(b, 2))
    extremes = None
    for step in range(60):
        angle = angle + rng.normal(size=b) * (1e-9, 0.01, 0.2, 2.0)[step % 4]
        c, s = np.cos(angle), np.sin(angle)
        rotations = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
        wanted, fresh = moved_extremes(graph, rotations, translations, k)
        if extremes is not None:
            dop, extremes = climbed_kdops(graph, rotations, translations, extremes)
            assert_same(dop, wanted)
            assert_extreme(graph, rotations, translations, dop, extremes)
        else:
            extremes = fresh


@pytest.mark.parametrize("k", [6, 18, 26])
def test_one_large_hull_alone_and_among_others_is_the_same(k):
    rng = np.random.default_rng(1)
    large = ConvexHull(rng.normal(size=(20_000, 3)) / 7 * [1, 1, 1e-2])
    ball = rng.normal(size=(3000, 3))
    shapes = [ConvexHull(ball / np.linalg.norm(ball, axis=1)[:, None]), large]
    graph = hull_graph(shapes)
    start = np.stack([np.eye(3)] * 2)
    _, extremes = moved_extremes(graph, start, np.zeros((2, 3)), k)
    for angle in (1e-6, 0.1, 1.0, 3.0):
        turn = np.stack([Rotation.from_rotvec([angle, 0.3 * angle, 0]).as_matrix()] * 2)
        way = rng.normal(size=(2, 3))
        dop, extremes = climbed_kdops(graph, turn, way, extremes)
        assert_same(dop, moved_kdops(graph, turn, way, k))
        for i, shape in enumerate(shapes):
            alone, _ = moved_extremes(hull_graph([shape]), turn[i : i + 1], way[i : i + 1], k)
            assert_same(alone, dop.take([i]))


def test_a_climber_on_the_rim_of_a_large_disc_gives_up_and_is_right_all_the_same():
    """Seen from above every vertex of the rim is extreme: there is no end of equally good neighbours."""
    disc = ConvexHull(cylinder(3000))
    graph = hull_graph([disc, Box((0, 0, 0), (1, 1, 1)), disc])
    _, extremes = moved_extremes(graph, np.stack([rotation(np.random.default_rng(2))] * 3), np.zeros((3, 3)), 26)
    level = np.stack([np.eye(3)] * 3)
    dop, extremes = climbed_kdops(graph, level, np.zeros((3, 3)), extremes)
    assert_same(dop, moved_kdops(graph, level, np.zeros((3, 3)), 26))
    assert_extreme(graph, level, np.zeros((3, 3)), dop, extremes)


def test_any_affine_motion_will_do():
    rng = np.random.default_rng(3)
    shapes = shapes_of_every_sort(9)
    graph = hull_graph(shapes)
    b = len(shapes)
    _, extremes = moved_extremes(graph, np.stack([np.eye(3)] * b), np.zeros((b, 3)), 18)
    for _ in range(20):
        matrices = rng.normal(size=(b, 3, 3)) * 10.0 ** rng.integers(-3, 3, (b, 1, 1))
        matrices[0] = 0.0
        ways = rng.normal(size=(b, 3))
        dop, extremes = climbed_kdops(graph, matrices, ways, extremes)
        assert_same(dop, moved_kdops(graph, matrices, ways, 18))


def test_an_unmoved_hull_has_the_k_dop_of_its_vertices_and_a_moved_one_that_of_the_moved_vertices():
    rng = np.random.default_rng(4)
    shape = ConvexHull(rng.normal(size=(100, 3)))
    graph = hull_graph([shape])
    for k in (6, 14, 18, 26):
        still = moved_kdops(graph, [np.eye(3)], np.zeros((1, 3)), k)
        volumes = bounding_volumes("kdop", shape.vertices, k=k)
        assert isinstance(volumes, KDops)
        assert_same(still, volumes)
        turn, way = rotation(rng), rng.normal(size=3)
        moved = moved_kdops(graph, [turn], [way], k)
        wanted = bounding_volumes("kdop", shape.vertices @ turn.T + way, k=k)
        np.testing.assert_allclose(moved.low, wanted.low, rtol=0, atol=1e-14)
        np.testing.assert_allclose(moved.high, wanted.high, rtol=0, atol=1e-14)


def test_neighbours_are_along_the_edges():
    graph = hull_graph([Box((0, 0, 0), (1, 1, 1)), ConvexHull(np.zeros((1, 3))), ConvexHull(np.eye(3)[:2])])
    assert graph.counts.tolist() == [8, 1, 2]
    assert np.diff(graph.first).tolist() == [3] * 8 + [0] + [1] * 2
    for vertex in range(8):
        for other in graph.neighbours[graph.first[vertex] : graph.first[vertex + 1]].tolist():
            assert np.abs(graph.rows[:, vertex] - graph.rows[:, other]).sum() == 1.0


def test_no_hulls_have_no_k_dops():
    graph = hull_graph([])
    dop, extremes = moved_extremes(graph, np.empty((0, 3, 3)), np.empty((0, 3)), 18)
    assert len(dop) == 0
    dop, _ = climbed_kdops(graph, np.empty((0, 3, 3)), np.empty((0, 3)), extremes)
    assert len(dop) == 0


def test_arguments_are_refused_by_name():
    graph = hull_graph([Box((0, 0, 0), (1, 1, 1))])
    turn, way = np.eye(3)[None], np.zeros((1, 3))
    _, extremes = moved_extremes(graph, turn, way, 6)
    with pytest.raises(ValueError, match=r"^shapes\[0\] must be a shape"):
        hull_graph([np.zeros((3, 3))])
    with pytest.raises(ValueError, match=r"^shapes: all must have the same dimension"):
        hull_graph([ConvexHull(np.zeros((1, 2))), ConvexHull(np.zeros((1, 3)))])
    with pytest.raises(ValueError, match=r"^rotations: an array"):
        moved_kdops(graph, np.eye(3), way, 6)
    with pytest.raises(ValueError, match=r"^rotations: all numbers must be finite"):
        moved_kdops(graph, turn * np.nan, way, 6)
    with pytest.raises(ValueError, match=r"^translations: an array"):
        moved_kdops(graph, turn, np.zeros(3), 6)
    with pytest.raises(ValueError, match=r"^k must be one of 6, 14, 18, 26"):
        moved_kdops(graph, turn, way, 7)
    with pytest.raises(ValueError, match=r"^extremes: 6 vertices for each of 1 hulls expected"):
        climbed_kdops(graph, turn, way, Extremes(6, extremes.ids[:, :4]))
    with pytest.raises(ValueError, match=r"^extremes must be what moved_extremes returns, not NoneType"):
        climbed_kdops(graph, turn, way, None)
    for ids in (extremes.ids.astype(float), extremes.ids.tolist()):
        with pytest.raises(ValueError, match=r"^extremes: the numbers of vertices must be an array of whole numbers"):
            climbed_kdops(graph, turn, way, Extremes(6, ids))
    with pytest.raises(ValueError, match=r"^hulls must be what hull_graph returns, not NoneType"):
        moved_kdops(None, turn, way, 6)
    with pytest.raises(ValueError, match=r"^shapes must be shapes such as ConvexHull or Box, not NoneType"):
        hull_graph(None)
    assert len(hull_graph(shape for shape in [Box((0, 0, 0), (1, 1, 1))] * 2)) == 2
    with pytest.raises(ValueError, match=r"^extremes: not of these hulls"):
        climbed_kdops(graph, turn, way, Extremes(6, extremes.ids + 8))


@pytest.mark.parametrize("k", [6, 14, 18, 26])
def test_motion_to_infinity_is_refused_by_name_and_large_motion_is_not(k):
    shapes = [Box((0, 0, 0), (1, 1, 1)), ConvexHull(np.eye(3) * 1e250), ConvexHull(np.eye(3) * 2.0**1000)]
    graph = hull_graph(shapes)
    still, way = np.stack([np.eye(3)] * 3), np.zeros((3, 3))
    _, extremes = moved_extremes(graph, still, way, k)
    for matrices, ways, name in (
        (still * 1e308, way, "rotations: hull 0"),
        (still * 1e200, way, "rotations: hull 1"),
        (still, way + 1.7e308, "translations: hull 0"),
        (still, way + 1e302, "translations: hull 0"),
        (still * 1e308, way + 1.7e308, "rotations: hull 0"),
    ):
        for call in (
            lambda m=matrices, w=ways: moved_kdops(graph, m, w, k),
            lambda m=matrices, w=ways: moved_extremes(graph, m, w, k),
            lambda m=matrices, w=ways: climbed_kdops(graph, m, w, extremes),
        ):
            with pytest.raises(ValueError, match=f"^{name} would be moved too far"):
                call()
    rng = np.random.default_rng(5)
    for _ in range(20):
        matrices, ways = np.stack([rotation(rng) for _ in range(3)]), rng.uniform(-1.0, 1.0, (3, 3)) * 2.0**1000
        dop, extremes = climbed_kdops(graph, matrices, ways, extremes)
        assert np.isfinite(dop.low).all()
        assert np.isfinite(dop.high).all()
        assert_same(dop, moved_kdops(graph, matrices, ways, k))


@pytest.mark.parametrize("dim", [2, 3])
def test_every_call_tells_its_progress_and_can_be_cancelled(dim):
    """Of many hulls, and where it matters of one large hull."""
    rng = np.random.default_rng(31)
    shapes = [ConvexHull(rng.normal(size=(8, dim))) for _ in range(12_000)]
    large = sphere(150, 300) if dim == 3 else cylinder(20_000)[:20_000, :2]
    for made in (shapes, [ConvexHull(large)]):
        graph = hull_graph(made)
        turns, ways = np.tile(np.eye(dim), (len(made), 1, 1)), rng.normal(size=(len(made), dim))
        k = 26 if dim == 3 else 8
        dops, extremes = moved_extremes(graph, turns, ways, k)
        other = np.tile(np.linalg.qr(rng.normal(size=(dim, dim)))[0], (len(made), 1, 1))
        for call in (
            lambda tell, made=made: hull_graph(made, progress=tell),
            lambda tell, args=(graph, turns, ways, k): moved_kdops(*args, progress=tell),
            lambda tell, args=(graph, turns, ways, k): moved_extremes(*args, progress=tell),
            lambda tell, args=(graph, other, ways, extremes): climbed_kdops(*args, progress=tell),
        ):
            shares: list[float] = []
            call(lambda share, shares=shares: shares.append(share))
            assert shares == sorted(shares)
            assert (shares[0], shares[-1]) == (0.0, 1.0)
            assert len(set(shares)) > 3
            for most in (1, len(shares) // 2, len(shares)):
                seen: list[float] = []
                with pytest.raises(Cancelled):
                    call(lambda share, seen=seen, most=most: seen.append(share) is None and len(seen) < most)
                assert seen == shares[:most]
        assert_same(moved_kdops(graph, turns, ways, k, progress=lambda share: None), dops)


def test_hulls_climb_alike_alone_and_among_so_many_that_they_are_taken_in_stretches():
    rng = np.random.default_rng(32)
    shapes = [ConvexHull(rng.normal(size=(12, 3))) for _ in range(6_000)]
    graph = hull_graph(shapes)
    before = np.array([rotation(rng) for _ in shapes])
    ways = rng.normal(size=(len(shapes), 3))
    _, extremes = moved_extremes(graph, before, ways, 26)
    after = np.array([rotation(rng) for _ in shapes])
    found, at = climbed_kdops(graph, after, ways, extremes)
    assert_same(found, moved_kdops(graph, after, ways, 26))
    assert_extreme(graph, after, ways, found, at)
