# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes of round shapes: nothing sticks out, and every plane, side and sphere touches the shape."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, Capsule, Circle, Cone, ConvexHull, Cylinder, Ellipsoid, Rounded, Sphere
from contact_lens.core.bounding.bounding_volumes import volumes_of_shapes
from contact_lens.core.bounding.kdop_polytope import kdop_directions

ROUND = {
    "sphere": Sphere((1.0, -2.0, 3.0), 0.7),
    "capsule": Capsule((0.0, 1.0, 0.0), (2.0, 2.0, -1.0), 0.4),
    "cylinder": Cylinder((3.0, 0.0, 1.0), (4.0, 2.0, 2.0), 0.8),
    "flat cylinder": Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), 2.0),
    "cone": Cone((0.0, 0.0, 0.0), (1.0, 2.0, 3.0), 1.0),
    "flat cone": Cone((5.0, 0.0, 0.0), (5.0, 0.0, 0.5), 2.0),
    "ellipsoid": Ellipsoid((0.0, 0.0, 1.0), (3.0, 2.0, 1.0)),
    "rounded box": Rounded(Box((1.0, 0.0, 0.0), (1.0, 2.0, 3.0)), 0.25),
    "circle": Circle((1.0, 2.0), 0.5),
    "capsule in the plane": Capsule((1.0, 2.0), (3.0, 5.0), 0.5),
}
PLANES = {2: (4, 8), 3: (6, 14, 18, 26)}


def spread(dim: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(size=(4000, dim)), np.eye(dim), -np.eye(dim)])


@pytest.mark.parametrize("name", ROUND)
def test_a_kdop_is_as_wide_as_the_shape_along_each_direction(name: str) -> None:
    shape = ROUND[name]
    surface = shape.supports(spread(shape.dim))
    for k in PLANES[shape.dim]:
        dop = volumes_of_shapes("kdop", [shape], k=k)
        directions = kdop_directions(k, shape.dim)
        high = (shape.supports(directions) * directions).sum(axis=1)
        low = (shape.supports(-directions) * directions).sum(axis=1)
        assert dop.high[0] == pytest.approx(high, abs=1e-13)
        assert dop.low[0] == pytest.approx(low, abs=1e-13)
        assert dop.take(np.zeros(len(surface), dtype=int)).contains(surface).all()
    assert volumes_of_shapes("aabb", [shape]).bounds[0][:, 0] == pytest.approx(shape.bounds[0], abs=1e-13)


@pytest.mark.parametrize("kind", ["sphere", "obb"])
@pytest.mark.parametrize("name", ROUND)
def test_spheres_and_oriented_boxes_enclose_the_shape_and_touch_it(kind: str, name: str) -> None:
    shape = ROUND[name]
    surface = shape.supports(spread(shape.dim))
    volume = volumes_of_shapes(kind, [shape])
    assert volume.take(np.zeros(len(surface), dtype=int)).contains(surface).all()
    if kind == "sphere":
        assert 2.0 * volume.radius[0] == pytest.approx(shape.diameter, rel=1e-13), "no sphere is smaller"
    else:
        axes = volume.axes[0]
        for side in (axes, -axes):
            reach = ((shape.supports(side) - volume.center[0]) * side).sum(axis=1)
            assert reach == pytest.approx(volume.half[0], rel=1e-13)


@pytest.mark.parametrize("kind", ["sphere", "obb", "kdop"])
def test_far_from_the_origin_nothing_sticks_out_by_rounding(kind: str) -> None:
    rng = np.random.default_rng(6)
    for make in (Cylinder, Cone):
        for _ in range(30):
            start, along = rng.normal(size=3) + 1e6, rng.normal(size=3)
            shape = make(start, start + along, 0.5)
            surface = shape.supports(spread(3))
            assert volumes_of_shapes(kind, [shape]).take(np.zeros(len(surface), dtype=int)).contains(surface).all()


def test_round_shapes_and_polytopes_keep_their_order() -> None:
    shapes = [ROUND["sphere"], Box((9.0, 0.0, 0.0), (1.0, 1.0, 1.0)), ROUND["cone"], ConvexHull([(7.0, 7.0, 7.0)])]
    for kind in ("aabb", "kdop", "obb", "sphere"):
        together = volumes_of_shapes(kind, shapes)
        assert len(together) == 4
        for i, shape in enumerate(shapes):
            alone = volumes_of_shapes(kind, [shape])
            for one, other in zip(together.take([i])._arrays, alone._arrays, strict=True):
                assert np.array_equal(one, other)
