# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that `contact`, `sat`, `gjk` and `epa` record."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Mesh,
    Rounded,
    Sphere,
    box_sat,
    contact,
    epa,
    gjk,
    sat,
)
from contact_lens.core.result import Contact
from contact_lens.core.shapes.polytope import Polytope
from contact_lens.core.trace import AxesSkippedStep, AxisStep, EpaStep, GjkStep, Step, Trace

from .assertions import fingerprint
from .generators import CLASSES, COMPOSED, LARGE, sphere_points

ALL = CLASSES | COMPOSED | LARGE
ROUNDING = 1e-9


def hulls(name: str, seed: int) -> tuple[Polytope, Polytope]:
    a, b = ALL[name](np.random.default_rng([32, seed]))
    return ConvexHull(a), ConvexHull(b)


def traced(a, b, **options) -> tuple[Contact, Trace]:
    """Return the contact and its trace; it is the same without."""
    with_trace, without = contact(a, b, trace=True, **options), contact(a, b, **options)
    assert without.trace is None
    assert with_trace.trace is not None
    assert json.dumps(with_trace.to_dict()) == json.dumps(without.to_dict())
    assert fingerprint(with_trace.certificate) == fingerprint(without.certificate)
    return with_trace, with_trace.trace


def assert_valid(trace: Trace, a: Polytope, b: Polytope, rounding: float) -> None:
    """Every number of the steps is that of the vertices, in the order of the algorithms."""
    assert trace.counts == (len(a.vertices), len(b.vertices))
    kinds = [step.kind for step in trace.steps]
    assert kinds == sorted(kinds, key=("sat", "gjk", "epa", "region").index)
    for number, step in enumerate(trace.steps):
        if isinstance(step, AxisStep):
            assert_axis(step, trace.steps[: number + 1], a, b, rounding)
        elif isinstance(step, GjkStep | EpaStep) and step.support is not None:
            i, j = step.support
            assert step.point == tuple((a.vertices[i] - b.vertices[j]).tolist())
        if isinstance(step, EpaStep):
            assert_polytope(step, trace.dim)
        if step.lower is not None and step.upper is not None:
            assert step.lower <= step.upper + rounding
    polytope: set = set()
    for step in trace.of_kind("epa"):
        assert isinstance(step, EpaStep)
        assert polytope.issuperset(step.removed)
        assert step.outcome in ("start", "flat") or step.face in polytope
        polytope = polytope - {*step.removed} | {*step.added}
    before: tuple = ()
    for step in trace.of_kind("gjk"):
        assert isinstance(step, GjkStep)
        assert step.support is None or step.before == before
        assert set(step.after) <= {*step.before, *step.tried}
        before = step.after


def assert_axis(step: AxisStep, so_far: tuple[Step, ...], a: Polytope, b: Polytope, rounding: float) -> None:
    best = so_far[step.best] if step.best >= 0 else None
    assert best is None or (isinstance(best, AxisStep) and best.signed_distance == step.lower)
    if step.skipped:
        assert step.interval_a is None
        return
    axis = np.array(step.axis)
    for shape, interval in ((a, step.interval_a), (b, step.interval_b)):
        heights = shape.vertices @ axis
        np.testing.assert_allclose(interval, (heights.min(), heights.max()), rtol=0, atol=rounding)
    (low_a, high_a), (low_b, high_b) = step.interval_a, step.interval_b  # type: ignore[misc]
    gap = low_a - high_b if step.is_flipped else low_b - high_a
    assert abs(gap - step.signed_distance) <= 4 * rounding  # type: ignore[operator]
    facing = -axis if step.is_flipped else axis
    if step.origin == "face_a" and step.index_a >= 0:
        assert a.normals[step.index_a] @ facing > 1.0 - 1e-9 or -a.normals[step.index_a] @ facing > 1.0 - 1e-9


def assert_polytope(step: EpaStep, dim: int) -> None:
    """The silhouette is a closed loop, and the new faces are on it."""
    if dim == 2 or step.outcome != "grown":
        assert not step.silhouette
        return
    starts, ends = zip(*step.silhouette, strict=True)
    assert (*starts[1:], starts[0]) == ends
    assert {(p, q) for p, q, _ in step.added} == {*step.silhouette}
    sides = [(face[k - 1], face[k]) for face in step.removed for k in range(3)]
    assert {side for side in sides if side[::-1] not in sides} == {*step.silhouette}


@pytest.mark.parametrize(
    ("name", "method"), [*((name, "auto") for name in ALL), *((name, "both") for name in CLASSES | COMPOSED)]
)
def test_the_steps_arrive_at_the_answer(name, method):
    for seed in range(6):
        a, b = hulls(name, seed)
        c, trace = traced(a, b, method=method)
        size = a.extent + b.extent + float(np.abs(a.center - b.center).sum())
        rounding = ROUNDING * size + 1e-12 * max(a.magnitude, b.magnitude)
        assert_valid(trace, a, b, rounding)
        last = trace.of_kind("gjk", "epa")[-1]
        assert last.lower is not None
        assert abs(last.lower - c.lower_bound) <= rounding
        if last.kind == "gjk" or c.certificate.facets:  # type: ignore[attr-defined]
            assert last.upper is not None
            assert abs(last.upper - c.upper_bound) <= rounding


@pytest.mark.parametrize("name", [*CLASSES, *COMPOSED, "large_hulls"])
def test_sat_records_each_axis_once_and_the_best_is_the_result(name):
    for seed in range(4):
        a, b = hulls(name, seed)
        for options in ({}, {"candidates": True}, {"early_exit": True}):
            found, plain = sat(a, b, trace=True, **options), sat(a, b, **options)
            assert fingerprint(replace(found, trace=None)) == fingerprint(plain)
            assert found.trace is not None
            steps = found.trace.steps
            assert_valid(found.trace, a, b, ROUNDING * (a.extent + b.extent) + 1e-12 * max(a.magnitude, b.magnitude))
            last = steps[-1]
            assert isinstance(last, AxisStep | AxesSkippedStep)
            assert last.lower == found.signed_distance
            best = steps[last.best]
            assert isinstance(best, AxisStep)
            assert best.axis is not None
            assert (np.array(best.axis) * (-1.0 if best.is_flipped else 1.0) + 0.0).tolist() == found.normal.tolist()
            counted = sum(1 for step in steps if isinstance(step, AxisStep) and step.skipped != "duplicate")
            grouped = [step.skipped for step in steps if isinstance(step, AxesSkippedStep)]
            # A duplicate counts where rounding makes it the best.
            assert grouped not in ([], ["no_facet"]) or 0 <= counted - found.axes_tested <= 1


def test_two_boxes_have_a_step_for_each_of_the_15_axes():
    a = Box((0, 0, 0), (2, 2, 2))
    upright = traced(a, Box((1.5, 0.5, 0.2), (2, 2, 2)), method="sat")[1].of_kind("sat")
    assert [step.skipped for step in upright] == [""] * 6 + ["parallel", "", "", "", "parallel", "", "", "", "parallel"]
    turned = Box((1.5, 0.5, 0.2), (2, 2, 2), (0.9, 0.1, 0.3, 0.2))
    crossing = box_sat(a, turned, trace=True)
    assert [step.skipped for step in crossing.trace.steps] == [""] * 15
    assert_valid(crossing.trace, a, turned, ROUNDING)
    best = crossing.trace.steps[-1].best
    assert (best, crossing.trace.steps[-1].lower) == (crossing.axis, crossing.signed_distance)
    apart = box_sat(a, turned.translated([2, 0, 0]), trace=True)
    assert [step.skipped for step in apart.trace.steps] == [""] + ["separated"] * 14
    # The steps name the face of A towards B, and of B towards A.
    flipped = box_sat(a, turned.translated([-3, -1, 0]), trace=True).trace.steps
    assert a.normals[flipped[0].index_a].tolist() == [-1, 0, 0]
    assert turned.normals[flipped[3].index_b][0] > 0.7


@pytest.mark.parametrize("exponent", [600, -600])
def test_extreme_sizes_have_the_steps_of_the_scaled_pair(exponent):
    for name in ("random_hulls", "face_contact", "edge_contact", "polygons_2d"):
        a, b = hulls(name, 1)
        far_a, far_b = a.scaled(2.0**exponent), b.scaled(2.0**exponent)
        for method in ("gjk", "both"):
            wanted = traced(a, b, method=method, clearance=0.5)[1]
            found = traced(far_a, far_b, method=method, clearance=0.5 * 2.0**exponent)[1]
            assert found == wanted.scaled(exponent)
        simplex = gjk(far_a, far_b, trace=True)
        assert simplex.trace.steps == wanted.scaled(exponent).of_kind("gjk") or method == "both"
        assert simplex._replace(trace=None) == gjk(far_a, far_b)
        if simplex.intersects:
            assert epa(far_a, far_b, simplex, trace=True).trace.steps


@pytest.mark.parametrize("name", ["random_hulls", "face_contact", "flat_and_solid", "polygons_2d", "concentric"])
def test_a_search_that_starts_from_the_last_contact_has_steps(name):
    for seed in range(4):
        a, b = hulls(name, seed)
        last = contact(a, b)
        moved = b.translated(1e-3 * np.ones(b.dim))
        c, trace = traced(a, moved, start=last)
        assert_valid(trace, a, moved, ROUNDING * 10)
        first = trace.steps[0]
        assert first.kind == ("epa" if c.certificate.facets and first.kind == "epa" else "gjk")
        assert first.kind == "epa" or first.support is None


def test_round_shapes_have_the_steps_of_their_cores():
    box = Box((0, 0, 0), (2, 2, 2))
    for shape in (
        Sphere((1.4, 0.2, 0.1), 0.5),
        Capsule((1.4, 0, 0), (2, 1, 0), 0.5),
        Rounded(box.translated([3, 1, 0]), 0.25),
    ):
        for pair in ((box, shape), (shape, box)):
            c, trace = traced(*pair, clearance=0.1)
            assert trace.radii == tuple(s.rounding_radius for s in pair)
            assert trace.counts == tuple(len(s.skeleton.vertices) for s in pair)
            assert not trace.of_kind("region")
            assert_valid(trace, *(s.skeleton for s in pair), ROUNDING)
            last = trace.steps[-1]
            assert abs(last.lower - sum(trace.radii) - c.signed_distance) < ROUNDING
            assert trace.clearance == 0.1
    tiny = 2.0**-600
    found = contact(box.scaled(tiny), Sphere((1.4 * tiny, 0.2 * tiny, 0.1 * tiny), 0.5 * tiny), trace=True).trace
    assert found.radii == (0.0, 0.5 * tiny)


def test_shapes_without_steps_are_refused_with_what_to_do():
    box = Box((0, 0, 0), (2, 2, 2))
    for other, words in (
        (Cylinder((0, 0, 1), (0, 0, 2), 1), "this Cylinder has no vertices; take the ConvexHull"),
        (Compound([box, box.translated([3, 0, 0])]), "pick two of its pieces"),
        (Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), "take the ConvexHull of its points"),
    ):
        with pytest.raises(ValueError, match=f"trace: .*{words}"):
            contact(box, other, trace=True)


def test_skipped_pairs_of_edges_are_grouped_where_they_are_many():
    rng = np.random.default_rng(3)
    a, b = (ConvexHull(sphere_points(rng, 400) + offset) for offset in (0.0, 0.7))
    steps = sat(a, b, trace=True).trace.steps
    groups = {step.skipped: step.count for step in steps if isinstance(step, AxesSkippedStep)}
    single = [step for step in steps if isinstance(step, AxisStep) and step.origin == "edges" and step.skipped]
    assert len(single) == 1000
    measured = [step for step in steps if isinstance(step, AxisStep) and step.origin == "edges" and not step.skipped]
    assert sum(groups.values()) + len(single) + len(measured) == len(a.edges) * len(b.edges)


def test_steps_say_where_exact_arithmetic_took_over():
    kinds = set()
    for name in ("slivers", "composed", "small_on_needle"):
        for seed in range(60):
            a, b = hulls(name, seed)
            trace = traced(a, b)[1]
            kinds |= {(step.kind, step.is_exact) for step in trace.steps if isinstance(step, GjkStep | EpaStep)}
            exact = [step.is_exact and step.support is None for step in trace.of_kind("gjk")]
            if any(exact):  # it begins with the simplex where floats stalled
                before, again = (trace.of_kind("gjk")[exact.index(True) + k] for k in (-1, 0))
                assert before.outcome == "stalled"
                assert before.upper >= np.linalg.norm(before.nearest) * (1.0 - ROUNDING)
                assert again.before == before.after
    assert kinds == {("gjk", False), ("gjk", True), ("epa", False), ("epa", True)}
