# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a contact region: each cut is the intersection with the half-plane of a side, checked by shapely."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from contact_lens.core.region.region import Region, region_between
from contact_lens.core.trace import RegionStep, Step

from ..generators import OCTAHEDRAL, disc, rotation
from .test_region import UP, above, below, shape

SIDES = [(4, 4), (3, 7), (6, 2), (2, 5), (5, 1), (2, 2), (1, 1), (15, 14), (40, 30)]


def traced(a: np.ndarray, b: np.ndarray, normal: np.ndarray) -> tuple[Region, list[RegionStep]]:
    on = [float(np.max(a @ normal)), float(np.min(b @ normal))]
    points = [(height * normal).tolist() for height in on]
    region = region_between(shape(a), shape(b), normal, 1e-5, *points)
    steps: list[Step] = []
    again = region_between(shape(a), shape(b), normal, 1e-5, *points, steps)
    assert again.vertices.tobytes() == region.vertices.tobytes()
    assert again.features == region.features
    return region, [step for step in steps if isinstance(step, RegionStep)]


def flat(points: object, turn: np.ndarray) -> np.ndarray:
    return (np.array(points, dtype=float).reshape(-1, 3) @ turn)[:, :2]


@pytest.mark.parametrize("counts", SIDES, ids=str)
@pytest.mark.parametrize("order", [1, -1], ids=["a below b", "b below a"])
def test_each_cut_leaves_what_is_inside_of_the_side(counts: tuple[int, int], order: int) -> None:
    rng = np.random.default_rng(counts[0] * 100 + counts[1])
    for _ in range(40):
        turn = rotation(rng) if rng.random() < 0.7 else OCTAHEDRAL[rng.integers(len(OCTAHEDRAL))]
        lower, upper = (
            make(disc(count, 1.0, turn=rng.uniform(0.0, 6.0))[:, :2] + rng.uniform(-0.5, 0.5, 2)) @ turn.T
            for make, count in zip((below, above), counts, strict=True)
        )
        normal = turn @ UP * order
        a, b = (lower, upper) if order > 0 else (upper, lower)
        region, steps = traced(a, b, normal)

        assert [step.stage for step in steps] == ["features", *["clip"] * (len(steps) - 2), "result"]
        assert all(np.array_equal(step.normal, normal) for step in steps)
        plane = np.array(steps[0].origin) @ normal
        shapes = {"a": a, "b": b}
        for name, feature in (("a", steps[0].feature_a), ("b", steps[0].feature_b)):
            count = counts[0] if (name == "a") == (order > 0) else counts[1]
            assert sorted(feature) == list(range(count))
        left = None
        for step in steps[1:-1]:
            if step.side is None:
                continue
            start, end = flat(shapes[step.side_of][list(step.side)], turn)
            subject = steps[0].feature_b if step.side_of == "a" else steps[0].feature_a
            if left is None:
                left = flat(shapes["b" if step.side_of == "a" else "a"][list(subject)], turn)
            whole = shapely.MultiPoint(left).convex_hull
            middle = flat(
                shapes[step.side_of][list(steps[0].feature_a if step.side_of == "a" else steps[0].feature_b)], turn
            )
            along = (end - start) / np.linalg.norm(end - start)
            inward = np.array([-along[1], along[0]])
            inward *= np.sign(inward @ (middle.mean(axis=0) - start))
            half = shapely.Polygon(
                [start - 9 * along, start + 9 * along, start + 9 * (along + inward), start + 9 * (inward - along)]
            )
            kept = flat(step.kept, turn)
            expected = whole.intersection(half.buffer(1e-9))
            if len(kept):
                assert shapely.MultiPoint(kept).convex_hull.symmetric_difference(expected).area < 1e-6
                assert shapely.MultiPoint(kept).convex_hull.hausdorff_distance(expected) < 1e-6
            else:
                assert whole.intersection(half.buffer(-1e-9)).is_empty
            assert all(inward @ (point - start) < 0.0 for point in flat(step.cut, turn))
            assert np.allclose(np.array(step.kept).reshape(-1, 3) @ normal, plane)
            left = kept
        assert np.array_equal(np.array(steps[-1].kept), region.vertices)
        if left is not None and len(left) and len(region.vertices) > 2:
            last = shapely.MultiPoint(left).convex_hull
            assert last.symmetric_difference(shapely.MultiPoint(flat(region.vertices, turn)).convex_hull).area < 1e-9


def test_every_side_of_the_clipping_outline_cuts_once() -> None:
    a, b = below(disc(5, 1.0)[:, :2]), above(disc(6, 1.3)[:, :2])
    _, steps = traced(a, b, UP)
    cuts = [step.side for step in steps if step.stage == "clip"]
    assert {step.side_of for step in steps if step.stage == "clip"} == {"b"}
    assert {frozenset(side) for side in cuts if side} == {frozenset((k, (k + 1) % 6)) for k in range(6)}
    assert len(cuts) == 6


def test_two_segments_have_one_step_for_all_sides() -> None:
    a, b = np.array([(-1.0, 0, 0), (1, 0, 0), (0, 0, -1)]), np.array([(0.0, -1, 0), (0, 1, 0), (0, 0, 1)])
    region, steps = traced(a, b, UP)
    assert [(step.stage, step.side) for step in steps] == [("features", None), ("clip", None), ("result", None)]
    assert np.allclose(region.vertices, 0.0)
