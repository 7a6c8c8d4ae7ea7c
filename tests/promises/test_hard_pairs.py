# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs that broke other libraries, with the answers of an exhaustive oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contact_lens.core import ConvexHull, contact

from ..core.assertions import assert_promises
from ..core.oracles import exact, gap_along, tolerance

PAIRS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "hard_pairs.json").read_text(encoding="utf-8")
)["pairs"]
METHODS = ("auto", "gjk", "sat", "both")

every_pair = pytest.mark.parametrize("pair", PAIRS, ids=[p["id"] for p in PAIRS])


def vertices(pair: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(pair["a"], dtype=float), np.array(pair["b"], dtype=float)


def normal_is_unique(a: np.ndarray, b: np.ndarray, normal: np.ndarray, signed_distance: float, tol: float) -> bool:
    """No direction a hundredth of a radian around the normal, nor any axis or opposite, is as good."""
    turn = np.linalg.qr(np.column_stack([normal, np.eye(3)]))[0][:, 1:3]
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    around = normal + 1e-2 * (np.cos(angles)[:, None] * turn[:, 0] + np.sin(angles)[:, None] * turn[:, 1])
    others = np.concatenate([around, np.eye(3), -np.eye(3), [-normal]])
    others = others[np.linalg.norm(others - normal, axis=1) > 1e-3]
    others = others / np.linalg.norm(others, axis=1, keepdims=True)
    return max(gap_along(a, b, n) for n in others) < signed_distance - 1e-4 * abs(signed_distance) - 1e3 * tol


def test_the_file_has_the_44_pairs():
    assert len(PAIRS) == 44


@every_pair
@pytest.mark.parametrize("method", METHODS)
def test_every_promise_and_the_answer_of_the_file_hold_for_a_hard_pair(pair, method):
    a, b = vertices(pair)
    shape_a, shape_b = ConvexHull(a), ConvexHull(b)
    c = contact(shape_a, shape_b, method=method)
    assert_promises(c, shape_a, shape_b, a, b, exact(a, b))
    signed_distance, normal = pair["expected"]["signed_distance"], np.array(pair["expected"]["normal"])
    tol = tolerance(a, b, signed_distance)
    assert c.signed_distance == pytest.approx(signed_distance, rel=0, abs=tol)
    # At a bare touch the file's normal is one of many that are as good within rounding.
    if abs(signed_distance) > 10 * tol and normal_is_unique(a, b, normal, signed_distance, tol):
        assert np.abs(c.normal - normal).max() < 1e-6
    if "region_area" in pair["expected"]:
        assert c.region.area == pytest.approx(pair["expected"]["region_area"], rel=1e-5)


@every_pair
def test_swapping_the_shapes_turns_the_normal(pair):
    a, b = vertices(pair)
    shape_a, shape_b = ConvexHull(a), ConvexHull(b)
    c, swapped = contact(shape_a, shape_b), contact(shape_b, shape_a)
    tol = tolerance(a, b, c.signed_distance)
    assert abs(c.signed_distance - swapped.signed_distance) <= 2 * tol
    assert gap_along(b, a, -c.normal) >= swapped.signed_distance - 2 * tol
    opposite = {"a_inside_b": "b_inside_a", "b_inside_a": "a_inside_b"}
    assert swapped.relation == opposite.get(c.relation, c.relation)
    assert len(c.ties) == len(swapped.ties)
    assert (c.region is None) == (swapped.region is None)
    if c.region is not None and len(c.ties) == 1 and normal_is_unique(a, b, c.normal, c.signed_distance, tol):
        extent = min(shape_a.extent, shape_b.extent)
        assert abs(c.region.area - swapped.region.area) <= 1e-6 * extent**2
        assert np.abs(c.region.centroid - swapped.region.centroid).max() <= 1e-6 * extent + tol
