# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs of hulls that move: climbing from the extremes of before gives what recomputing gives, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull
from contact_lens.core.kdop_update import climbed_kdops, hull_graph, moved_extremes, moved_kdops
from contact_lens.core.volumes import bounding_volumes

from .generators import box, cone, cylinder, disc, rotation, rotation_about, sphere

KINDS = [(6, 3), (14, 3), (18, 3), (26, 3)]


def hulls(rng: np.random.Generator) -> list[ConvexHull]:
    """Solids, discs, a segment and a point, of few vertices and of many, far away and tiny."""
    shapes = [box([1.0, 2.0, 3.0]), sphere(9, 16), cylinder(40), cone(25), disc(30), np.array([[0.0, 0, 0], [1, 2, 3]])]
    shapes += [
        rng.normal(size=(60, 3)),
        1e-6 * rng.normal(size=(20, 3)),
        rng.normal(size=(20, 3)) + 1e6,
        np.ones((1, 3)),
    ]
    return [ConvexHull(points) for points in shapes]


def same(a, b) -> bool:
    return np.array_equal(a.low, b.low) and np.array_equal(a.high, b.high)


@pytest.mark.parametrize(("k", "dim"), KINDS)
def test_recomputed_ones_hold_the_moved_hulls(k, dim):
    rng = np.random.default_rng(1)
    shapes = hulls(rng)
    turns = np.array([rotation(rng) for _ in shapes])
    ways = rng.normal(size=(len(shapes), dim))
    found = moved_kdops(hull_graph(shapes), turns, ways, k)
    for index, shape in enumerate(shapes):
        moved = shape.vertices @ turns[index].T + ways[index]
        plain = bounding_volumes("kdop", moved, k=k)
        size = float(np.abs(moved).max())
        assert np.allclose(found.low[:, index], plain.low[:, 0], rtol=0, atol=1e-14 * size)
        assert np.allclose(found.high[:, index], plain.high[:, 0], rtol=0, atol=1e-14 * size)


@pytest.mark.parametrize(("k", "dim"), KINDS)
@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.1, 3.0])
def test_climbing_is_recomputing_over_random_rotations(k, dim, angle):
    rng = np.random.default_rng(2)
    graph = hull_graph(hulls(rng))
    turns = np.array([rotation(rng) for _ in range(len(graph))])
    ways = np.zeros((len(graph), dim))
    volumes, extremes = moved_extremes(graph, turns, ways, k)
    assert same(volumes, moved_kdops(graph, turns, ways, k))
    for _ in range(40):
        turns = np.array([rotation_about(rng.normal(size=dim), angle) @ turn for turn in turns])
        ways = ways + angle * rng.normal(size=ways.shape)
        climbed, extremes = climbed_kdops(graph, turns, ways, extremes)
        assert same(climbed, moved_kdops(graph, turns, ways, k))


@pytest.mark.parametrize("k", [4, 8])
def test_polygons_in_the_plane(k):
    rng = np.random.default_rng(3)
    graph = hull_graph([ConvexHull(disc(count)[:, :2]) for count in (3, 7, 64)])
    angles = rng.uniform(0.0, 6.0, 3)
    ways = rng.normal(size=(3, 2))

    def matrices() -> np.ndarray:
        return np.array([[[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]] for t in angles])

    _, extremes = moved_extremes(graph, matrices(), ways, k)
    for _ in range(50):
        angles += rng.normal(size=3) * 0.2
        climbed, extremes = climbed_kdops(graph, matrices(), ways, extremes)
        assert same(climbed, moved_kdops(graph, matrices(), ways, k))


def test_mirrored_sheared_and_flattened_hulls_follow_too():
    rng = np.random.default_rng(4)
    graph = hull_graph(hulls(rng))
    count = len(graph)
    ways = np.zeros((count, 3))
    _, extremes = moved_extremes(graph, np.tile(np.eye(3), (count, 1, 1)), ways, 18)
    for _ in range(30):
        linear = rng.normal(size=(count, 3, 3))
        linear[::3, 2] = 0.0
        climbed, extremes = climbed_kdops(graph, linear, ways, extremes)
        assert same(climbed, moved_kdops(graph, linear, ways, 18))


def test_wrong_arguments_are_named():
    graph = hull_graph([ConvexHull(np.eye(3))])
    turns, ways = np.eye(3)[None], np.zeros((1, 3))
    _, extremes = moved_extremes(graph, turns, ways, 6)
    with pytest.raises(ValueError, match=r"^rotations: an array \(1, 3, 3\) expected"):
        moved_kdops(graph, np.eye(3), ways, 6)
    with pytest.raises(ValueError, match=r"^translations: all numbers must be finite"):
        moved_kdops(graph, turns, ways * np.nan, 6)
    with pytest.raises(ValueError, match=r"^k must be one of"):
        moved_kdops(graph, turns, ways, 7)
    two = hull_graph([ConvexHull(np.eye(3))] * 2)
    with pytest.raises(ValueError, match=r"^extremes: 6 vertices for each of 2 hulls expected"):
        climbed_kdops(two, np.tile(turns, (2, 1, 1)), np.zeros((2, 3)), extremes)
    with pytest.raises(ValueError, match=r"^shapes\[0\] must be a shape"):
        hull_graph([np.eye(3)])
