# SPDX-License-Identifier: GPL-3.0-or-later
"""numpy 1 on Windows makes integers of 32 bits where no type is named. Numbers of pairs, facets times vertices for
example, need more: where they are made, arrays have the type of indices.

It is simulated on any system, and on a smaller scale, on which small shapes are large: integers have 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contact_lens.core import ConvexHull, Mesh, update_kdops
from contact_lens.core.meshes.mesh_forest import meshes_intersect
from contact_lens.core.shapes import hilbert_curve

from .generators import rotation
from .mesh_shapes import block, sphere

Call = Callable[[Callable[[], Any]], Any]


@pytest.fixture
def with_small_integers(monkeypatch: pytest.MonkeyPatch) -> Call:
    """A function that calls another one while numpy makes such integers."""
    arange, cumsum = np.arange, np.cumsum

    def small_arange(*arguments: Any, dtype: Any = None) -> Any:
        result = arange(*arguments, dtype=dtype)
        return result.astype(np.int16) if dtype is None and result.dtype.kind == "i" else result

    def small_cumsum(values: Any, *arguments: Any, dtype: Any = None, **options: Any) -> Any:
        result = cumsum(values, *arguments, dtype=dtype, **options)
        is_default = dtype is None and np.asarray(values).dtype.kind in "bi" and np.asarray(values).itemsize < 8
        return result.astype(np.int16) if is_default else result

    def call(function: Callable[[], Any]) -> Any:
        with monkeypatch.context() as context:
            context.setattr(np, "arange", small_arange)
            context.setattr(np, "cumsum", small_cumsum)
            return function()

    return call


def points_on_a_sphere(count: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("table", [hilbert_curve._spread, hilbert_curve._turns])
def test_codes_of_the_curve_have_all_their_bits(table, with_small_integers: Call):
    for dim in (2, 3):
        expected, found = table.__wrapped__(dim), with_small_integers(lambda dim=dim: table.__wrapped__(dim))
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)


def test_a_hull_of_many_facets(with_small_integers: Call):
    points = points_on_a_sphere(400)
    expected, found = ConvexHull(points), with_small_integers(lambda: ConvexHull(points))
    assert len(expected.facets) * len(expected.vertices) > 2 * np.iinfo(np.int16).max, "else this proves nothing"
    assert np.array_equal(found.vertices, expected.vertices)
    assert [facet.tolist() for facet in found.facets] == [facet.tolist() for facet in expected.facets]


def test_many_meshes_stay_apart_from_each_other(with_small_integers: Call):
    """In a scene of many meshes each has its own tree."""
    rng = np.random.default_rng(1)
    shapes = [block([0.5] * 3), sphere(6)]
    meshes = [Mesh(shapes[k % 2][0] + rng.uniform(-3, 3, 3), shapes[k % 2][1]) for k in range(40)]
    pairs = np.array([(i, j) for i in range(len(meshes)) for j in range(i)])
    expected = meshes_intersect(meshes, pairs)
    assert 10 < expected.sum() < len(pairs) - 10
    assert np.array_equal(with_small_integers(lambda: meshes_intersect(meshes, pairs)), expected)


def test_k_dops_of_many_vertices(with_small_integers: Call):
    rng = np.random.default_rng(2)
    hulls = [ConvexHull(points_on_a_sphere(80, seed)) for seed in range(30)]
    before, after = (np.stack([rotation(rng) for _ in hulls]) for _ in range(2))
    places = rng.normal(size=(len(hulls), 3))
    last = update_kdops(hulls, before, places, k=18)
    expected = update_kdops(last, after, places).kdops
    found = with_small_integers(lambda: update_kdops(last, after, places)).kdops
    assert np.array_equal(found.low, expected.low)
    assert np.array_equal(found.high, expected.high)
