# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that `contact`, `sat`, `gjk` and `epa` record."""

from __future__ import annotations

import json

import numpy as np
import pytest

from contact_lens.core import ConvexHull, contact
from contact_lens.core.result import Contact
from contact_lens.core.shapes.polytope import Polytope
from contact_lens.core.trace import AxisStep, EpaStep, GjkStep, Step, Trace

from .assertions import fingerprint
from .generators import CLASSES, COMPOSED, LARGE

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


@pytest.mark.parametrize("method", ["auto", "both"])
@pytest.mark.parametrize("name", ALL)
def test_the_steps_arrive_at_the_answer(name, method):
    if method == "both" and name in LARGE:
        pytest.skip("SAT of these takes long")
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
