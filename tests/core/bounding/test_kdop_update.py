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
from contact_lens.core.bounding.kdop_update import ClimbStep, HullKDops, update_kdops

from ..assertions import assert_progress
from ..generators import cloud, cylinder, flat_shape, rotation, rotation_about, solid, sphere, sphere_points


def assert_same(a: KDops, b: KDops) -> None:
    np.testing.assert_array_equal(a.low, b.low)
    np.testing.assert_array_equal(a.high, b.high)


def assert_extreme(shapes, rotations, translations, updated: HullKDops) -> None:
    """Every extreme vertex is one of its hull, and as extreme as the k-DOP says."""
    directions, start = updated.kdops.directions, 0
    for i, shape in enumerate(shapes):
        points = shape.vertices[updated.extremes[i] - start] @ rotations[i].T + translations[i]
        start += len(shape.vertices)
        values = (points * np.concatenate([directions, directions])).sum(axis=1)
        bounds = np.concatenate([updated.kdops.low[i], updated.kdops.high[i]])
        np.testing.assert_allclose(values, bounds, rtol=0, atol=1e-13 * (np.abs(points).max() + 1e-300))


def climbed(last: HullKDops, rotations, translations) -> HullKDops:
    """Return the climbed update, which is that recomputed."""
    result = update_kdops(last, rotations, translations)
    assert_same(result.kdops, update_kdops(last, rotations, translations, method="recompute").kdops)
    return result


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


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("k", [6, 14, 18, 26])
@pytest.mark.parametrize("seed", range(2))
def test_climbing_over_many_turns_equals_recomputation(k, seed):
    rng = np.random.default_rng(seed)
    shapes = shapes_of_every_sort(seed)
    b = len(shapes)
    rotations = np.stack([rotation(rng) for _ in range(b)])
    translations = rng.normal(size=(b, 3)) * 10.0 ** rng.integers(-3, 7, (b, 1))
    last = update_kdops(shapes, rotations, translations, k=k)
    for step in range(24):
        angle = (0.0, 1e-12, 1e-3, 0.02, 0.3, 3.0)[step % 6]
        rotations = Rotation.from_rotvec(angle * rng.normal(size=(b, 3))).as_matrix() @ rotations
        translations = translations + angle * rng.normal(size=(b, 3))
        last = climbed(last, rotations, translations)
        if step % 6 == 0:
            assert_extreme(shapes, rotations, translations, last)


@pytest.mark.parametrize("k", [4, 8])
def test_polygons_turn_in_the_plane(k):
    rng = np.random.default_rng(k)
    shapes = [ConvexHull(rng.normal(size=(int(n), 2))) for n in rng.integers(1, 60, 40)]
    shapes.append(ConvexHull(np.stack([np.cos(np.arange(500)), np.sin(np.arange(500))], axis=1)))
    b = len(shapes)
    angle, translations = rng.uniform(0, 7, b), rng.normal(size=(b, 2))
    last = update_kdops(shapes, np.tile(np.eye(2), (b, 1, 1)), translations, k=k)
    for step in range(24):
        angle = angle + rng.normal(size=b) * (1e-9, 0.01, 0.2, 2.0)[step % 4]
        c, s = np.cos(angle), np.sin(angle)
        rotations = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
        last = climbed(last, rotations, translations)
        assert_extreme(shapes, rotations, translations, last)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("k", [6, 18, 26])
def test_one_large_hull_alone_and_among_others_is_the_same(k):
    rng = np.random.default_rng(1)
    large = ConvexHull(rng.normal(size=(20_000, 3)) / 7 * [1, 1, 1e-2])
    shapes = [ConvexHull(sphere_points(rng, 3000)), large]
    last = update_kdops(shapes, np.stack([np.eye(3)] * 2), np.zeros((2, 3)), k=k)
    for angle in (1e-6, 0.1, 1.0, 3.0):
        rotations = np.stack([Rotation.from_rotvec([angle, 0.3 * angle, 0]).as_matrix()] * 2)
        translations = rng.normal(size=(2, 3))
        last = climbed(last, rotations, translations)
        for i, shape in enumerate(shapes):
            alone = update_kdops([shape], rotations[i : i + 1], translations[i : i + 1], k=k)
            assert_same(alone.kdops, last.kdops.take([i]))


def test_a_hull_with_too_many_steps_is_recomputed():
    """Seen from above every vertex of the rim of a disc is extreme: there is no end of equally good neighbours."""
    disc = ConvexHull(cylinder(3000))
    shapes = [disc, Box((0, 0, 0), (1, 1, 1)), disc]
    level, nowhere = np.stack([np.eye(3)] * 3), np.zeros((3, 3))
    last = update_kdops(shapes, np.stack([rotation(np.random.default_rng(2))] * 3), nowhere, k=26)
    assert_extreme(shapes, level, nowhere, climbed(last, level, nowhere))


def test_any_affine_motion_is_allowed():
    rng = np.random.default_rng(3)
    shapes = shapes_of_every_sort(9)
    b = len(shapes)
    last = update_kdops(shapes, np.stack([np.eye(3)] * b), np.zeros((b, 3)))
    assert last.kdops.k == 18
    for _ in range(20):
        matrices = rng.normal(size=(b, 3, 3)) * 10.0 ** rng.integers(-3, 3, (b, 1, 1))
        matrices[0] = 0.0
        last = climbed(last, matrices, rng.normal(size=(b, 3)))


@pytest.mark.parametrize("k", [6, 14, 18, 26])
def test_the_k_dop_is_that_of_the_moved_vertices(k):
    rng = np.random.default_rng(4)
    shape = ConvexHull(rng.normal(size=(100, 3)))
    still = update_kdops([shape], [np.eye(3)], np.zeros((1, 3)), k=k)
    assert_same(still.kdops, bounding_volumes("kdop", shape.vertices, k=k))
    matrix, offset = rotation(rng), rng.normal(size=3)
    expected = bounding_volumes("kdop", shape.vertices @ matrix.T + offset, k=k)
    for moved in (update_kdops([shape], [matrix], [offset], k=k).kdops, climbed(still, [matrix], [offset]).kdops):
        np.testing.assert_allclose(moved.low, expected.low, rtol=0, atol=1e-14)
        np.testing.assert_allclose(moved.high, expected.high, rtol=0, atol=1e-14)


def test_no_hulls_have_no_k_dops():
    none = np.empty((0, 3, 3)), np.empty((0, 3))
    assert len(climbed(update_kdops([], *none), *none).kdops) == 0
    assert update_kdops((shape for shape in [Box((0, 0, 0), (1, 1, 1))]), [np.eye(3)], np.zeros((1, 3))).kdops.k == 18


BOX = Box((0, 0, 0), (1, 1, 1))


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (r"^hulls\[0\] must be a shape", {"hulls": [np.zeros((3, 3))]}),
        (r"^hulls: all must have the same dimension", {"hulls": [BOX, ConvexHull(np.zeros((1, 2)))]}),
        (r"^hulls must be shapes such as ConvexHull or Box, not NoneType", {"hulls": None}),
        (r"^rotations: an array", {"rotations": np.eye(3)}),
        (r"^rotations: all numbers must be finite", {"rotations": np.eye(3)[None] * np.nan}),
        (r"^translations: an array", {"translations": np.zeros(3)}),
        (r"^k must be one of 6, 14, 18, 26", {"k": 7}),
        (r"^k must be that of the last update, 6, not 18", {"hulls": "last", "k": 18}),
        (r"^method must be one of climb, recompute", {"method": "guess"}),
    ],
)
def test_wrong_arguments_are_named(words, change):
    arguments = {"hulls": [BOX], "rotations": np.eye(3)[None], "translations": np.zeros((1, 3)), "k": 6}
    last = update_kdops(**arguments)
    arguments |= change
    if arguments["hulls"] == "last":
        arguments["hulls"] = last
    with pytest.raises(ValueError, match=words):
        update_kdops(**arguments)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("k", [6, 14, 18, 26])
def test_motion_to_infinity_is_refused_by_name_and_large_motion_is_not(k):
    shapes = [BOX, ConvexHull(np.eye(3) * 1e250), ConvexHull(np.eye(3) * 2.0**1000)]
    still, nowhere = np.stack([np.eye(3)] * 3), np.zeros((3, 3))
    last = update_kdops(shapes, still, nowhere, k=k)
    for matrices, offsets, name in (
        (still * 1e308, nowhere, "rotations: hull 0"),
        (still * 1e200, nowhere, "rotations: hull 1"),
        (still, nowhere + 1.7e308, "translations: hull 0"),
        (still, nowhere + 1e302, "translations: hull 0"),
        (still * 1e308, nowhere + 1.7e308, "rotations: hull 0"),
    ):
        for hulls in (shapes, last):
            with pytest.raises(ValueError, match=f"^{name} would be moved too far"):
                update_kdops(hulls, matrices, offsets)
    rng = np.random.default_rng(5)
    for _ in range(20):
        matrices, offsets = np.stack([rotation(rng) for _ in range(3)]), rng.uniform(-1.0, 1.0, (3, 3)) * 2.0**1000
        last = climbed(last, matrices, offsets)
        assert np.isfinite([last.kdops.low, last.kdops.high]).all()


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("many", [True, False])
def test_every_update_reports_progress_and_can_be_cancelled(dim, many):
    """Of many hulls, and where it matters of one large hull."""
    rng = np.random.default_rng(31)
    shapes = [ConvexHull(rng.normal(size=(8, dim)))] * (12_000 if many else 0)
    shapes = shapes or [ConvexHull(sphere(150, 300) if dim == 3 else cylinder(20_000)[:20_000, :2])]
    motion = np.tile(np.eye(dim), (len(shapes), 1, 1)), rng.normal(size=(len(shapes), dim))
    last = update_kdops(shapes, *motion, k=26 if dim == 3 else 8)
    other = np.tile(np.linalg.qr(rng.normal(size=(dim, dim)))[0], (len(shapes), 1, 1)), motion[1]
    for call in (
        lambda report: update_kdops(shapes, *motion, progress=report),
        lambda report: update_kdops(last, *other, progress=report),
        lambda report: update_kdops(last, *other, method="recompute", progress=report),
    ):
        assert_progress(call, 4)


def test_hulls_climb_alike_alone_and_among_so_many_that_they_are_split_into_chunks():
    rng = np.random.default_rng(32)
    shapes = [ConvexHull(rng.normal(size=(12, 3))) for _ in range(20)] * 100
    rotations, translations = np.array([rotation(rng) for _ in shapes]), rng.normal(size=(len(shapes), 3))
    last = update_kdops(shapes, rotations, translations, k=26)
    rotations = np.array([rotation(rng) for _ in shapes])
    assert_extreme(shapes, rotations, translations, climbed(last, rotations, translations))


def test_the_recorded_steps_of_a_climb_go_along_edges_up_to_the_extreme_vertices():
    rng = np.random.default_rng(33)
    shapes = [ConvexHull(sphere(12, 24)), ConvexHull(cloud(rng, 300))] * 300  # in chunks
    rotations, translations = np.array([rotation(rng) for _ in shapes]), rng.normal(size=(len(shapes), 3))
    last = update_kdops(update_kdops(shapes, rotations, translations), rotations, translations)
    turned = np.array([rotation_about(rng.normal(size=3), 0.4) @ matrix for matrix in rotations])
    steps: list[ClimbStep] = []
    now = update_kdops(last, turned, translations, steps=steps)
    assert_same(now.kdops, update_kdops(last, turned, translations).kdops)

    k = 2 * len(now.kdops.directions)
    edges = {tuple(edge) for shape in shapes[:2] for edge in shape.edges.tolist()}
    starts, signed = now.graph.starts, np.concatenate([-now.kdops.directions, now.kdops.directions])
    at = last.extremes.ravel().copy()
    heights = (now.graph.rows.T @ turned[0].T @ signed.T)[: starts[1]]  # of the first hull
    for step in steps:
        hull = step.climber // k
        assert ((starts[hull] <= step.vertex) & (step.vertex < starts[hull + 1])).all()
        is_start = bool((step.origin == step.vertex).all())
        if is_start:
            assert np.array_equal(step.vertex, at[step.climber])
        own = np.flatnonzero((hull == 0) & step.is_higher)
        if not is_start:
            pairs = np.sort(np.stack([step.origin, step.vertex], axis=1)[own], axis=1)
            assert {tuple(pair) for pair in pairs.tolist()} <= edges
            rise = heights[step.vertex[own], step.climber[own]] - heights[step.origin[own], step.climber[own]]
            assert (rise > -1e-12).all()
        at[step.climber[step.is_higher]] = step.vertex[step.is_higher]
    assert np.allclose(heights[at[:k], np.arange(k)], heights.max(axis=0), atol=1e-12)
    looked_at = sum(len(step.vertex) for step in steps)
    assert looked_at < 0.5 * k * starts[-1], "less than all vertices along all directions"
