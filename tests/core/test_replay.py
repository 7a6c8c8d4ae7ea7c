# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace leads to the same contact, and one with a step that does not follow is refused by that step."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Compound,
    Contact,
    ConvexHull,
    Cylinder,
    Rounded,
    Sphere,
    contact,
    epa,
    gjk,
    replay,
    sat,
)
from contact_lens.core.narrow_phase.epa import _Grid
from contact_lens.core.result import Method
from contact_lens.core.trace import Step, Trace

from .generators import (
    CLASSES,
    COMPOSED,
    LARGE,
    direction,
    slabs_and_needles,
    small_on_needle,
    sphere_points,
    tilted_stack,
)

METHODS = get_args(Method)
HARD_PAIRS = json.loads((Path(__file__).parents[1] / "data" / "hard_pairs.json").read_text(encoding="utf-8"))["pairs"]
CUBE = Box((0, 0, 0), (2, 2, 2))
TURNED = Box((1.2, 0.9, 0.7), (1, 2, 3), (0.9, 0.3, 0.2, 0.1))


def differences(found: Any, expected: Any, name: str = "contact") -> Iterator[str]:
    """Yield the names of fields that differ in any bit."""
    if isinstance(expected, np.ndarray):
        if (found.shape, found.tobytes()) != (expected.shape, expected.tobytes()):
            yield name
    elif isinstance(expected, tuple):
        if len(found) != len(expected):
            yield name
        for k, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from differences(one, other, f"{name}[{k}]")
    elif is_dataclass(expected):
        for field in fields(expected):
            yield from differences(getattr(found, field.name), getattr(expected, field.name), f"{name}.{field.name}")
    elif type(found) is not type(expected) or found != expected:
        yield name


def assert_replayed(a: Any, b: Any, **options: Any) -> Contact:
    expected = contact(a, b, trace=True, **options)
    assert expected.trace is not None
    assert expected.trace.steps
    found = replay(expected.trace, a, b)
    assert not list(differences(found, expected))
    assert np.array_equal(found.center, expected.center)
    return expected


# --- The same contact -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CLASSES, *COMPOSED])
def test_every_class_of_pairs_leads_to_the_same_contact(name: str) -> None:
    make = (CLASSES | COMPOSED)[name]
    for seed in range(6):
        a, b = map(ConvexHull, make(np.random.default_rng([32, seed])))
        assert_replayed(a, b)
        if len(a.edges) * len(b.edges) < 20_000:
            for method in METHODS[1:]:
                assert_replayed(a, b, method=method)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CLASSES, *COMPOSED, *LARGE])
def test_more_pairs_of_every_class_lead_to_the_same_contact(name: str, fresh_seed: int) -> None:
    make = (CLASSES | COMPOSED | LARGE)[name]
    for seed in range(40):
        a, b = map(ConvexHull, make(np.random.default_rng([fresh_seed, seed])))
        method = METHODS[seed % 4] if len(a.edges) * len(b.edges) < 200_000 else "auto"
        assert_replayed(a, b, method=method, clearance=0.1 * a.extent, contact_tolerance=1e-3)


@pytest.mark.parametrize("given", HARD_PAIRS, ids=[given["id"] for given in HARD_PAIRS])
def test_hard_pairs_lead_to_the_same_contact(given: dict[str, Any]) -> None:
    a, b = ConvexHull(given["a"]), ConvexHull(given["b"])
    for method in METHODS:
        assert_replayed(a, b, method=method)
        assert_replayed(b, a, method=method)


def test_where_the_search_goes_on_in_exact_arithmetic_the_contact_is_the_same() -> None:
    exact = {"gjk": 0, "epa": 0}
    for seed in range(60):
        make = (small_on_needle, slabs_and_needles, tilted_stack)[seed % 3]
        a, b = map(ConvexHull, make(np.random.default_rng([34, seed])))
        for step in assert_replayed(a, b).trace.steps:
            if getattr(step, "is_exact", False):
                exact[step.kind] += 1
    assert min(exact.values()) > 4, exact


@pytest.mark.parametrize("name", CLASSES)
def test_axes_of_sat_follow_from_the_features_and_vertices_alone(name: str) -> None:
    """Without the engine's own products: the axis is across the facet, or both edges, and its shadows are those."""
    for seed in range(3):
        a, b = map(ConvexHull, CLASSES[name](np.random.default_rng([33, seed])))
        slack = 1e-12 * (a.magnitude + b.magnitude)
        trace = contact(a, b, method="sat", trace=True).trace
        assert trace is not None
        for step in trace.of_kind("sat"):
            if getattr(step, "axis", None) is None:
                continue
            axis = np.array(step.axis)
            assert abs(np.linalg.norm(axis) - 1.0) < 1e-14
            if step.origin == "edges":
                along = a.edge_directions[step.index_a], b.edge_directions[step.index_b]
                assert max(abs(axis @ direction) for direction in along) < 1e-14
            elif step.origin in ("face_a", "face_b"):
                normal = a.normals[step.index_a] if step.origin == "face_a" else b.normals[step.index_b]
                assert min(np.abs(axis - normal).max(), np.abs(axis + normal).max()) < 1e-14
            for shape, covered in ((a, step.interval_a), (b, step.interval_b)):
                heights = shape.vertices @ axis
                assert np.abs(np.subtract(covered, (heights.min(), heights.max()))).max() < slack
            (low_a, high_a), (low_b, high_b) = step.interval_a, step.interval_b
            gap = low_a - high_b if step.is_flipped else low_b - high_a
            assert abs(step.signed_distance - gap) < slack


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("exponent", [-900, -500, -120, 120, 500, 900])
def test_pairs_of_extreme_size_lead_to_the_same_contact(exponent: int, method: Method) -> None:
    for a, b in ((CUBE, TURNED), (CUBE, TURNED.translated((9, 0, 0)))):
        scaled = [shape.scaled(2.0**exponent) for shape in (a, b)]
        assert_replayed(*scaled, method=method, clearance=float(np.ldexp(0.3, exponent)))


@pytest.mark.parametrize("dim", [2, 3])
def test_a_start_leads_to_the_same_contact(dim: int) -> None:
    """Through each other along a line: from the last features when apart, from the last polytope when deep."""
    kinds = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        a, local = ConvexHull(rng.normal(size=(12, dim))), rng.normal(size=(9, dim))
        along, last = direction(rng, dim), None
        for place in np.linspace(-5.0, 5.0, 40):
            last = assert_replayed(a, ConvexHull(local + place * along), start=last)
            kinds.add(last.trace.steps[0].kind)
    assert kinds == ({"gjk", "epa"} if dim == 3 else {"gjk"})


@pytest.mark.parametrize("method", METHODS)
def test_points_segments_and_equal_shapes_lead_to_the_same_contact(method: Method) -> None:
    point, segment, square = [(0.0, 0, 0)], [(0.0, 0, 0), (1, 0, 0)], [(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    for first in (point, segment, square):
        for second in (point, segment, square):
            for place in ((0, 0, 0), (0.5, 0, 0), (0, 0, 1), (0.5, 0.5, 0)):
                assert_replayed(ConvexHull(first), ConvexHull(np.add(second, place)), method=method)
                if place[2] == 0:
                    flat = ConvexHull(np.array(first)[:, :2]), ConvexHull(np.add(second, place)[:, :2])
                    assert_replayed(*flat, method=method)


ROUND = {
    "spheres": (Sphere((0, 0, 0), 1), Sphere((1.5, 0.2, 0), 1)),
    "sphere in a sphere": (Sphere((0, 0, 0), 3), Sphere((0, 0, 0), 1)),
    "capsules": (Capsule((0, 0, 0), (0, 0, 2), 0.5), Capsule((0.7, -1, 1), (0.7, 1, 1), 0.5)),
    "sphere and box": (Sphere((0, 0, 1.4), 0.5), CUBE),
    "far sphere and box": (Sphere((5, 4, 6), 0.5), CUBE),
    "rounded boxes": (Rounded(CUBE, 0.1), Rounded(TURNED, 0.3)),
    "circles": (Circle((0, 0), 1), Circle((1.5, 0.2), 1)),
    "tiny": (Sphere((0, 0, 0), 2.0**-400), Capsule((0, 0, 0), (0, 0, 2.0**-400), 2.0**-401)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ROUND)
def test_round_shapes_lead_to_the_same_contact(name: str, method: Method) -> None:
    a, b = ROUND[name]
    for clearance in (0.0, 100.0):
        assert_replayed(a, b, method=method, clearance=clearance)


# --- Refusals -------------------------------------------------------------------------------------------------------


def traced_pairs() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    rng = np.random.default_rng(8)
    rounds = [ConvexHull(rng.normal(size=(40, 3)) + place) for place in ((0, 0, 0), (1, 0.5, 0), (6, 1, 2))]
    squares = [ConvexHull([(0.0, 0), (2, 0), (2, 2), (0, 2)]), ConvexHull([(1.0, 1), (4, 2), (3, 5)])]
    lattice = [ConvexHull(np.array(cube) * 1.0) for cube in (CUBE.vertices, CUBE.vertices + (2.0, 1.0, 0.0))]
    flat = [ConvexHull([(0.0, 0, 0), (2, 0, 0), (1, 2, 0)]), ConvexHull([(1.0, 1, 0), (3, 1, 0), (2, 4, 0)])]
    return {
        "deep": (rounds[0], rounds[1], {}),
        "deep again": (rounds[0], rounds[1].translated((0, 0.01, 0)), {"start": contact(rounds[0], rounds[1])}),
        "apart again": (rounds[0], rounds[2], {"start": contact(rounds[0], rounds[2].translated((0, 0.5, 0)))}),
        "apart": (rounds[0], rounds[2], {}),
        "plane": (*squares, {}),
        "touching": (*lattice, {}),
        "flat": (*flat, {}),
        "boxes by SAT": (CUBE, TURNED, {"method": "sat"}),
        "hulls by SAT": (ConvexHull(CUBE.vertices), ConvexHull(TURNED.vertices), {"method": "both"}),
        "apart by SAT": (rounds[0], rounds[2], {"method": "sat"}),
        "polygons by SAT": (*squares, {"method": "both"}),
        "round": (Rounded(CUBE, 0.1), Rounded(TURNED, 0.3), {}),
    }


TRACED = traced_pairs()
every_pair = pytest.mark.parametrize("name", TRACED)


def refusal(trace: Trace, a: Any, b: Any) -> int:
    """The step by which the trace is refused."""
    with pytest.raises(ValueError, match=r"^step \d+ \((sat|gjk|epa|region)\): ") as refused:
        replay(trace, a, b)
    found = re.match(r"step (\d+) ", str(refused.value))
    assert found is not None
    return int(found[1])


def some(rng: np.random.Generator, count: int, most: int) -> list[int]:
    return sorted(rng.choice(count, min(count, most), replace=False).tolist())


@every_pair
def test_a_step_left_out_repeated_or_exchanged_is_refused_there(name: str) -> None:
    a, b, options = TRACED[name]
    trace = contact(a, b, trace=True, **options).trace
    assert trace is not None
    steps = trace.steps
    rng = np.random.default_rng(1)
    for k in some(rng, len(steps), 60):
        assert refusal(replace(trace, steps=steps[:k] + steps[k + 1 :]), a, b) == k
        assert refusal(replace(trace, steps=steps[: k + 1] + steps[k:]), a, b) == k + 1
        m = int(rng.integers(len(steps)))
        if steps[k] != steps[m]:
            exchanged = list(steps)
            exchanged[k], exchanged[m] = steps[m], steps[k]
            assert refusal(replace(trace, steps=tuple(exchanged)), a, b) == min(k, m)


def altered(value: Any, change: Callable[[Any], Any], kind: type) -> list[Any]:
    """Copies of a value of nested tuples in which one number of a kind is changed."""
    if isinstance(value, tuple):
        return [
            (*value[:k], other, *value[k + 1 :])
            for k, item in enumerate(value)
            for other in altered(item, change, kind)
        ]
    return [change(value)] if type(value) is kind else []


def mutants(step: Step) -> Iterator[tuple[str, Step]]:
    """Copies of a step in which one index, float, flag or word is changed."""
    for field in fields(step):
        value = getattr(step, field.name)
        copies = altered(value, lambda index: index + 1 if index == 0 else index - 1, int)
        copies += altered(value, lambda number: float(np.nextafter(number, np.inf)), float)
        copies += altered(value, lambda flag: not flag, bool)
        copies += altered(value, lambda word: word + "x", str)
        if isinstance(value, tuple) and value and isinstance(value[0], tuple):
            copies += [value[1:], (*value, value[0])]
        for copy in copies:
            yield field.name, replace(step, **{field.name: copy})


@every_pair
def test_an_index_or_a_number_that_is_changed_is_refused_there(name: str) -> None:
    a, b, options = TRACED[name]
    trace = contact(a, b, trace=True, **options).trace
    assert trace is not None
    rng = np.random.default_rng(2)
    for k in some(rng, len(trace.steps), 25):
        changed = list(mutants(trace.steps[k]))
        for place in some(rng, len(changed), 25):
            field, step = changed[place]
            steps = (*trace.steps[:k], step, *trace.steps[k + 1 :])
            assert refusal(replace(trace, steps=steps), a, b) == k, (field, step)


def test_a_face_that_is_repeated_in_the_last_polytope_is_refused() -> None:
    a, b, options = TRACED["deep again"]
    trace = contact(a, b, trace=True, **options).trace
    assert trace is not None
    assert trace.from_start
    first = trace.steps[0]
    for i, j, k in first.added:
        for face in ((i, j, k), (j, k, i)):
            steps = (replace(first, added=(*first.added, face)), *trace.steps[1:])
            assert refusal(replace(trace, steps=steps), a, b) == 0


@every_pair
def test_traces_of_other_pairs_are_refused(name: str) -> None:
    a, b, options = TRACED[name]
    trace = contact(a, b, trace=True, **options).trace
    assert trace is not None
    moved = np.full(a.dim, 0.01 * b.extent)
    assert refusal(trace, a, b.translated(moved)) >= 0
    if a.rounding_radius:
        with pytest.raises(ValueError, match=r"^trace: it is of shapes with the radii 0.1 and 0.3$"):
            replay(trace, a.scaled(1.5), b)
    else:
        assert refusal(trace, a.scaled(1.5), b) >= 0
    if len(b.skeleton.vertices) != len(a.skeleton.vertices):
        with pytest.raises(ValueError, match=r"^a: the trace is of a shape with"):
            replay(trace, b, a)


def test_where_another_vertex_is_farther_a_support_point_is_refused() -> None:
    """A vertex that no step refers to is moved: all numbers of the trace still follow from its indices."""
    moved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points = sphere_points(rng, 16)
        a, b = ConvexHull(points), ConvexHull(points[:9] * 0.8 + (0.6, 0.3, 0.1))
        trace = contact(a, b, start=contact(a, b), trace=True).trace
        assert trace is not None
        searched = [step for step in trace.of_kind("epa") if step.support]
        known = {i for step in trace.of_kind("epa") for i, _ in (*step.corners, *(s.support for s in searched))}
        for free in {*range(len(a.vertices))} - known if trace.from_start else ():
            vertices = a.vertices.copy()
            vertices[free] *= 1.5
            other = ConvexHull(vertices)
            gains = [float((vertices[free] - vertices[step.support[0]]) @ step.normal) for step in searched]
            if np.array_equal(other.vertices, vertices) and max(gains) > 1e-9:
                moved += 1
                with pytest.raises(ValueError, match=r"^step \d+ \(epa\): \(\d+, \d+\) is not a support point"):
                    replay(trace, other, b)
    assert moved > 4


def test_what_is_no_trace_of_a_contact_is_refused() -> None:
    trace = contact(CUBE, TURNED, trace=True).trace
    assert trace is not None
    simplex = gjk(CUBE, TURNED, trace=True)
    for other in (simplex.trace, epa(CUBE, TURNED, simplex, trace=True).trace, sat(CUBE, TURNED, trace=True).trace):
        with pytest.raises(ValueError, match=r"trace of contact\(a, b, trace=True\) is needed"):
            replay(other, CUBE, TURNED)
    with pytest.raises(ValueError, match=r"^trace must be"):
        replay(trace.steps, CUBE, TURNED)
    with pytest.raises(ValueError, match="its version is 0"):
        replay(replace(trace, version=0), CUBE, TURNED)
    square = ConvexHull([(0.0, 0), (1, 0), (1, 1), (0, 1)])
    with pytest.raises(ValueError, match=r"^a: the trace is of a shape with 8 vertices in 3 dimensions, not 4 in 2"):
        replay(trace, square, square)
    for shape in (Cylinder((0, 0, 0), (0, 0, 1), 1), Compound([CUBE])):
        with pytest.raises(ValueError, match=r"^b must have vertices, as ConvexHull, or"):
            replay(trace, CUBE, shape)
    assert refusal(replace(trace, steps=()), CUBE, TURNED) == 0
    assert refusal(replace(trace, method="sat"), CUBE, TURNED) == 0
    with pytest.raises(ValueError, match=r"^trace: from_start does not follow"):
        replay(replace(trace, from_start=True), CUBE, TURNED)


def test_of_support_points_that_are_equally_far_the_recorded_one_is_taken() -> None:
    """Other numbers of the vertices make the search meet others of those that are equally far."""
    a, b, other = CUBE.vertices, CUBE.vertices[:1] + (4.0, 1.0, 1.0), 0
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(8)
        trace = contact(ConvexHull(a[order]), ConvexHull(b), trace=True).trace
        assert trace is not None

        def renamed(value: Any, order: Any = order) -> Any:
            if isinstance(value, tuple) and value and type(value[0]) is int:
                return int(order[value[0]]), value[1]
            return tuple(renamed(item) for item in value) if isinstance(value, tuple) else value

        assert trace.of_kind("gjk") == trace.steps
        steps = tuple(replace(s, **{name: renamed(value) for name, value in vars(s).items()}) for s in trace.steps)
        trace = replace(trace, steps=steps)
        assert replay(trace, ConvexHull(a), ConvexHull(b)).trace == trace
        other += trace != contact(ConvexHull(a), ConvexHull(b), trace=True).trace
    assert other > 4


def test_a_face_that_the_search_leaves_though_it_sees_the_support_point_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(_Grid, "height", lambda *_: 1)
    a, b = CUBE, CUBE.translated((1.0, 1.0, 0.0))
    trace = contact(a, b, trace=True).trace
    assert trace is not None
    with pytest.raises(ValueError, match=r"^step \d+ \(epa\): its faces are not those that"):
        replay(trace, a, b)


@pytest.mark.parametrize("support", [5, "ab", ("a", "b"), (0, 1, 2), (0, 99)], ids=repr)
def test_a_support_point_that_is_no_pair_of_vertices_is_refused_by_its_step(support: Any) -> None:
    trace = contact(CUBE, TURNED, trace=True).trace
    first = replace(trace.steps[0], support=support)
    with pytest.raises(ValueError, match=r"step 0 \(gjk\): .* is not a support point"):
        replay(replace(trace, steps=(first, *trace.steps[1:])), CUBE, TURNED)
