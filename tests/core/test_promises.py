# SPDX-License-Identifier: GPL-3.0-or-later
"""Every promise, on thousands of generated pairs of every class, against the oracles.

To look at pair 1234 of a failing run: `generators.pair(SEED, 1234)`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from contact_lens.core import ConvexHull, Polytope, Status, contact

from .assertions import promise_failures
from .generators import CLASSES, COMPOSED, LARGE, pair
from .oracles import Answer, exact, minkowski, nearest, sat, sign_tolerance, tolerance

pytestmark = pytest.mark.slow_core

SEED = 7_301
CYCLES = 140
"""Pairs of each class: 23 classes make 3,220 pairs."""

FLOAT_ORACLE_VERTICES = 60
"""The three float oracles check pairs up to here too (nearly all); the exact one checks all."""

SAT_VERTICES = 128
"""SAT looks at every pair of edges: promised up to here."""


def corpus(name: str) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The pairs of one class (or of the large class that takes its place), with their numbers."""
    place = list(CLASSES).index(name)
    for cycle in range(CYCLES):
        index = cycle * len(CLASSES) + place
        _, a, b = pair(SEED, index)
        yield index, a, b


def oracle_contradictions(a: np.ndarray, b: np.ndarray, truth: Answer) -> list[str]:
    """What the float oracles, where valid, hold against the exact answer."""
    sd = truth.signed_distance
    tol, sign_tol = tolerance(a, b, sd), sign_tolerance(a, b)
    answers = {"minkowski": minkowski(a, b), "nearest": nearest(a, b), "sat": sat(a, b) if sd <= sign_tol else None}
    return [
        f"oracle {name} says {answer.signed_distance!r}, exact {sd!r}"
        for name, answer in answers.items()
        if answer is not None and abs(answer.signed_distance - sd) > tol
    ]


def method_failures(shape_a: Polytope, shape_b: Polytope, a, b, truth: Answer, certified: bool = True) -> Iterator[str]:
    """What is wrong with the answers of all methods, alone and with each other."""
    methods = ["auto", "gjk"]
    if max(len(shape_a.vertices), len(shape_b.vertices)) <= SAT_VERTICES:
        methods += ["sat", "both"]
    tol = tolerance(a, b, truth.signed_distance)
    for method in methods:
        c = contact(shape_a, shape_b, method=method)
        yield from (f"{method}: {words}" for words in promise_failures(c, shape_a, shape_b, a, b, truth))
        if certified and c.status != Status.CERTIFIED:
            yield f"{method}: status {c.status}, bounds {c.upper_bound - c.lower_bound:.3e} apart, tol {tol:.1e}"
        if method == "both" and not (c.cross_check is not None and abs(c.cross_check) <= 2 * tol):
            yield f"both: cross_check {c.cross_check!r}, tol {tol:.1e}"
    swapped = contact(shape_b, shape_a)
    turned = Answer(truth.signed_distance, -truth.normal, truth.exact)
    yield from (f"swapped: {words}" for words in promise_failures(swapped, shape_b, shape_a, b, a, turned))


@pytest.mark.parametrize("name", CLASSES)
def test_every_promise_holds(name):
    failures = []
    for index, a, b in corpus(name):
        before = a.tobytes(), b.tobytes()
        truth = exact(a, b)
        found = list(method_failures(ConvexHull(a), ConvexHull(b), a, b, truth))
        if max(len(a), len(b)) <= FLOAT_ORACLE_VERTICES:
            found += oracle_contradictions(a, b, truth)
        if before != (a.tobytes(), b.tobytes()):
            found.append("the input changed")
        failures += [f"pair({SEED}, {index}): {words}" for words in found]
    assert not failures, "\n".join(failures[:20])


@pytest.mark.parametrize("name", COMPOSED)
def test_every_promise_holds_for_several_troubles_at_once(name):
    failures = []
    for index in range(300):
        a, b = COMPOSED[name](np.random.default_rng([SEED, index]))
        found = method_failures(ConvexHull(a), ConvexHull(b), a, b, exact(a, b), certified=False)
        failures += [f"{name}, default_rng([{SEED}, {index}]): {words}" for words in found]
    assert not failures, "\n".join(failures[:20])


def test_the_corpus_has_3000_pairs_and_large_ones():
    assert CYCLES * len(CLASSES) >= 3_000
    names = {pair(SEED, cycle * len(CLASSES))[0] for cycle in range(10)}
    assert set(LARGE) <= names
