# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances of triangles: against whole numbers, sampling and another library, on every class that is hard."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.meshes.triangle_distance import distance_exactly, rows_of, slabs, triangle_distances
from contact_lens.core.tolerance import EPS, promised

from ..exact import exact, height
from ..generators import rotation


def scenes(rng: np.random.Generator, count: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pairs of triangles (count, 3, 3) by class."""

    def some(*size: float) -> np.ndarray:
        return rng.normal(size=(count, 3, 3)) * (size or 1.0)

    flat = (1.0, 1.0, 0.0)
    whole = [rng.integers(-2, 3, (count, 3, 3)).astype(float) for _ in range(2)]
    turn = rotation(rng)
    shared = some()
    partner = np.concatenate([shared[:, 1:2], some()[:, :2]], axis=1)
    degenerate = some()
    degenerate[: count // 2, 2] = degenerate[: count // 2, 1]
    degenerate[: count // 4, 1:] = degenerate[: count // 4, :1]
    return {
        "random": (some(), some()),
        "apart": (some(), some() + 4.0),
        "nearly flat": (some(1, 1, 1e-9), some(1, 1, 1e-9)),
        "parallel": (some(*flat) @ turn, (some(*flat) + [0, 0, 1e-3]) @ turn),
        "one plane": (some(*flat), some(*flat) + [1.5, 0, 0]),
        "one turned plane": (some(*flat) @ turn, (some(*flat) + [1.5, 0, 0]) @ turn),
        "whole numbers": (whole[0], whole[1]),
        "shared corner": (shared, partner),
        "degenerate": (degenerate, some() * 0.5),
        "both degenerate": (degenerate, np.round(degenerate[::-1])),
        "needles": (some(1, 1e-6, 1e-6) @ turn, some(1, 1e-6, 1e-6) @ turn + 1e-3),
        "slivers": (some(1, 1, 1e-11) @ turn, some(1, 1e-11, 1e-11) @ turn),
        "far away": (some() + 1e6, some() + 1e6),
        "sizes": (some() * 1e5, some()),
        "small": (some() * 1e-4, some() * 1e-4),
        "huge": (some() * 1e300, some() * 1e300),
        "tiny": (some() * 1e-290, some() * 1e-290),
    }


def tolerances(a: np.ndarray, b: np.ndarray, distance: np.ndarray) -> np.ndarray:
    extent = np.minimum(*(np.ptp(x, axis=1).max(axis=1) for x in (a, b)))
    magnitude = np.maximum(*(np.abs(x).max(axis=(1, 2)) for x in (a, b)))
    return np.array([promised(*args) for args in zip(distance, extent, magnitude, strict=True)])


@pytest.mark.parametrize("name", list(scenes(np.random.default_rng(0), 4)))
def test_distances_are_those_of_whole_numbers(name):
    a, b = scenes(np.random.default_rng(11), 150)[name]
    found = triangle_distances(a, b)
    wanted = np.array([distance_exactly(p, q)[0] for p, q in zip(a, b, strict=True)])
    room = tolerances(a, b, wanted)
    assert (np.abs(found.distance - wanted) <= room).all()
    assert ((found.distance == 0.0) == (wanted == 0.0)).all(), "whether they meet is exact"
    assert (found.lower_bound <= wanted * (1.0 + 4.0 * EPS)).all()
    assert (
        found.lower_bound >= found.distance - 1e-9 * found.distance - 1e-11 * np.ptp([*a, *b], axis=(0, 1)).max()
    ).all()
    x, y, z = (found.point_on_a - found.point_on_b).T
    assert (np.abs(np.hypot(np.hypot(x, y), z) - wanted) <= 4.0 * room).all()
    lower = slabs(rows_of(a), rows_of(b))
    assert ((lower >= 0.0) & (lower <= wanted)).all()


@pytest.mark.parametrize("name", ["random", "apart", "one plane", "whole numbers", "degenerate", "sizes"])
def test_swapping_moving_and_renumbering_change_nothing(name):
    rng = np.random.default_rng(5)
    a, b = scenes(rng, 200)[name]
    found = triangle_distances(a, b)
    room = tolerances(a, b, found.distance)
    swapped = triangle_distances(b, a)
    assert (np.abs(swapped.distance - found.distance) <= room).all()
    assert ((swapped.distance == 0.0) == (found.distance == 0.0)).all()
    again = triangle_distances(a[:, [2, 0, 1]], b[:, [1, 0, 2]])
    assert (np.abs(again.distance - found.distance) <= room).all()
    assert ((again.distance == 0.0) == (found.distance == 0.0)).all()
    turn = rotation(rng)
    moved = triangle_distances(a @ turn * 8.0 + 3.0, b @ turn * 8.0 + 3.0)
    assert (np.abs(moved.distance - 8.0 * found.distance) <= 32.0 * room + 1e-9).all()


def test_no_sampled_points_are_nearer():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 300, 3, 3))
    b += rng.uniform(0, 2, (300, 1, 3))
    found = triangle_distances(a, b)
    weights = rng.dirichlet([0.5] * 3, 40)
    apart = np.linalg.norm((weights @ a)[:, :, None] - (weights @ b)[:, None], axis=3).min(axis=(1, 2))
    assert (apart >= found.distance - 1e-12).all()
    assert (found.distance >= found.lower_bound).all()
    for points, corners in ((found.point_on_a, a), (found.point_on_b, b)):
        edges = corners[:, 1:] - corners[:, :1]
        solved = [np.linalg.lstsq(e.T, p, rcond=None)[0] for e, p in zip(edges, points - corners[:, 0], strict=True)]
        weights = np.array(solved)
        assert (weights >= -1e-9).all()
        assert (weights.sum(axis=1) <= 1.0 + 1e-9).all()
        np.testing.assert_allclose(np.einsum("nk,nkd->nd", weights, edges) + corners[:, 0], points, atol=1e-12)


def test_known_distances():
    floor = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
    above = np.array([[1.0, 1, 2], [1, 2, 3], [2, 1, 3]])
    across = np.array([[1.0, 1, -1], [1, 1, 1], [9, 9, 9]])
    touching = np.array([[1.0, 1, 0], [1, 2, 3], [2, 1, 3]])
    beside = floor + [4.0, 4, 0]
    found = triangle_distances(np.array([floor] * 4), np.array([above, across, touching, beside]))
    np.testing.assert_allclose(found.distance, [2.0, 0.0, 0.0, np.sqrt(8.0)], rtol=1e-15)
    assert found.point_on_a[0].tolist() == [1, 1, 0]
    assert found.point_on_b[0].tolist() == [1, 1, 2]
    assert (found.point_on_a[1:3] == found.point_on_b[1:3]).all()
    assert found.point_on_a[2].tolist() == [1, 1, 0]
    assert (found.lower_bound[1:3] == 0.0).all()
    assert len(triangle_distances(np.zeros((0, 3, 3)), np.zeros((0, 3, 3))).distance) == 0


def test_a_gap_below_rounding_is_no_touch():
    floor = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]])
    lifted = np.array([[0.0, 0, 1e-300], [1, 1, 1], [-1, 1, 1]])
    pierced = lifted - [0.0, 0, 2e-300]
    found = triangle_distances(np.array([floor, floor]), np.array([lifted, pierced]))
    assert found.distance.tolist() == [1e-300, 0.0]
    # The plane through three rounded corners passes between neighbouring floats of a fourth point.
    tilted = np.array([[0.1, 0.2, 0.3], [1.1, 0.3, 0.7], [0.4, 1.3, 0.9]])
    middle = (tilted[0] + tilted[1] + tilted[2]) / 3.0
    volume = height(exact(middle), *map(exact, tilted))
    up = np.cross(tilted[1] - tilted[0], tilted[2] - tilted[0]) * (1.0 if volume > 0 else -1.0)
    needle = np.array([middle, middle + up, middle + up + [0.1, 0, 0]])
    assert (triangle_distances(tilted[None], needle[None]).distance[0] > 0.0) == (volume != 0)
    assert triangle_distances(tilted[None], (needle - 0.5 * up)[None]).distance[0] == 0.0


def test_the_result_is_read_only():
    good = np.zeros((2, 3, 3))
    with pytest.raises(ValueError, match="read-only"):
        triangle_distances(good, good).distance[0] = 1.0
