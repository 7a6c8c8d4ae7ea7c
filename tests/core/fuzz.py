# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for pairs on which the engine breaks a promise, and make those found small.

`python -m tests.core.fuzz --pairs 2000` takes a fresh seed, prints it, and prints every pair it finds as code: as few
vertices as still fail. `--seed S` takes that seed again.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import shapely
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial import QhullError

from contact_lens.core import Contact, ConvexHull, Polytope, Region, Status, contact

from .assertions import fingerprint, promise_failures
from .generators import COMPOSED, pair
from .oracles import Answer, exact, minkowski, nearest, sat, sign_tolerance, tolerance

FLOAT_ORACLE_VERTICES = 60
"""The three float oracles check pairs up to here too (nearly all); the exact one checks all."""

SAT_VERTICES = 128
"""SAT looks at every pair of edges: promised up to here."""

PAIR_SECONDS = 120
"""For all answers about one pair: a search that never ends is a failure too."""

REGION_CLEAR = 1e-3
"""Times the smaller extent: the heights of a support feature's vertices and of the next ones are at least this far
apart, or the features depend on the tolerance and are not compared."""

REGION_SLACK = 1e-9
"""Relative: how far area and centroid of a region may be from the independent ones."""


@dataclass(frozen=True)
class Look:
    """The result for one pair."""

    name: str
    a: np.ndarray
    b: np.ndarray
    words: tuple[str, ...]
    """The failures of the engine's answers."""
    contradictions: tuple[str, ...]
    """The float oracles that contradict the exact one."""
    certified: bool
    """Whether the bounds meet."""


def failures(a: np.ndarray, b: np.ndarray) -> list[str]:
    """Return the failures of the engine on one pair: every method, twice, and swapped."""
    before = a.tobytes(), b.tobytes()
    truth = exact(a, b)
    found: list[str] = []
    with _time_limit(PAIR_SECONDS):
        try:
            shape_a, shape_b = ConvexHull(a), ConvexHull(b)
            found += _method_failures(shape_a, shape_b, a, b, truth)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    if before != (a.tobytes(), b.tobytes()):
        found.append("the input changed")
    return found


def _method_failures(shape_a: Polytope, shape_b: Polytope, a, b, truth: Answer) -> Iterator[str]:
    small = max(len(shape_a.vertices), len(shape_b.vertices)) <= SAT_VERTICES
    tol = tolerance(a, b, truth.signed_distance)
    answers = {m: contact(shape_a, shape_b, method=m) for m in ("auto", "gjk", *(("sat", "both") if small else ()))}
    same_a, same_b = ConvexHull(a), ConvexHull(b)
    judged: dict[object, list[str]] = {}
    for method, c in answers.items():
        answer = fingerprint(c)
        if answer not in judged:
            judged[answer] = promise_failures(c, shape_a, shape_b, a, b, truth)
        yield from (f"{method}: {words}" for words in judged[answer])
        if c.status == Status.METHODS_DISAGREE:
            yield f"{method}: the methods disagree"
        elif method == "both" and not (c.cross_check or 0.0) <= 2 * tol:
            yield f"both: cross_check {c.cross_check!r}, tol {tol:.1e}"
        if answer != fingerprint(contact(same_a, same_b, method=method)):
            yield f"{method}: called twice, other bytes"
    yield from _region_failures(answers["auto"], a, b)
    yield from _relation_failures(answers["auto"], a, b, tol)
    swapped = contact(shape_b, shape_a)
    turned = Answer(truth.signed_distance, -truth.normal, truth.exact)
    yield from (f"swapped: {words}" for words in promise_failures(swapped, shape_b, shape_a, b, a, turned))


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after so long, where there are such alarms: not on Windows."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def contradictions(a: np.ndarray, b: np.ndarray) -> list[str]:
    """The float oracles that contradict the exact one where they are valid.

    They are no judges: on slivers within rounding they can be wrong by a little more than the engine may be.
    """
    if max(len(a), len(b)) > FLOAT_ORACLE_VERTICES:
        return []
    sd = exact(a, b).signed_distance
    return [
        f"oracle {oracle.__name__}: {answer.signed_distance!r}, exact {sd!r}"
        for oracle in (minkowski, nearest, sat)
        if oracle is not sat or sd <= sign_tolerance(a, b)
        if (answer := oracle(a, b)) is not None and abs(answer.signed_distance - sd) > tolerance(a, b, sd)
    ]


def _region_failures(c: Contact, a: np.ndarray, b: np.ndarray) -> Iterator[str]:
    """Area and centroid against shapely's, where the support features are clear of the tolerance."""
    if c.region is None or a.shape[1] == 2:
        return
    first, second = _face(a, c.normal, c.contact_tolerance, b), _face(b, -c.normal, c.contact_tolerance, a)
    if first is None or second is None:
        return
    size = min(_span(a), _span(b))
    rounding = REGION_SLACK * size + 64 * np.spacing(max(float(np.abs(points).max()) for points in (a, b)))
    # Of sides that nearly coincide the overlay loses a corner now and then: it is asked in three orientations.
    wrong = [_unlike(c.region, first, second, c.normal, rounding, angle) for angle in (0.0, 1.0, 2.0)]
    if all(wrong):
        yield wrong[0]


def _relation_failures(c: Contact, a: np.ndarray, b: np.ndarray, tol: float) -> Iterator[str]:
    """Compare the relation with Qhull's planes, where it is clear of the band."""
    if max(len(a), len(b)) > FLOAT_ORACLE_VERTICES:
        return
    band = c.contact_tolerance * min(_span(a), _span(b))
    if c.signed_distance > -band - tol or band <= 100 * tol:  # a point has no band
        return
    try:
        a_out, b_out = _sticks_out(a, b), _sticks_out(b, a)
    except QhullError:  # flat: only a solid has an inside
        return
    if min(abs(a_out - band), abs(b_out - band)) < 0.5 * band:
        return
    names = {(True, True): "coincident", (True, False): "a_inside_b", (False, True): "b_inside_a"}
    expected = names.get((a_out < band, b_out < band), "penetrating")
    if c.relation != expected:
        yield f"relation: {c.relation}, by Qhull {expected}; A sticks out by {a_out:.3e}, B by {b_out:.3e}"


def _sticks_out(inner: np.ndarray, outer: np.ndarray) -> float:
    """How far points are outside the planes of a hull; minus how deep they are inside."""
    middle = outer.mean(axis=0)
    scale = float(np.abs(outer - middle).max())
    planes = Qhull((outer - middle) / scale).equations
    return scale * float((planes[:, :-1] @ ((inner - middle) / scale).T + planes[:, -1:]).max())


def _unlike(
    region: Region, first: np.ndarray, second: np.ndarray, normal: np.ndarray, rounding: float, angle: float
) -> str:
    """Return how the region differs from shapely's, in words; empty when it agrees."""
    u, v = np.linalg.svd(normal[None])[2][1:]
    axes = np.array([np.cos(angle) * u + np.sin(angle) * v, np.cos(angle) * v - np.sin(angle) * u])
    common = shapely.MultiPoint((first - region.centroid) @ axes.T).convex_hull.intersection(
        shapely.MultiPoint((second - region.centroid) @ axes.T).convex_hull
    )
    # A side moved by rounding changes the area by its length times that.
    slack = rounding * max(common.length, 2 * min(_span(first), _span(second)))
    if abs(common.area - region.area) > slack:
        return f"region: area {region.area!r}, shapely {common.area!r}"
    if common.area > 1e3 * slack:
        off = float(np.hypot(*common.centroid.coords[0]))
        if off > rounding + common.length * slack / common.area:
            return f"region: centroid {off:.3e} from shapely's"
    return ""


def _span(points: np.ndarray) -> float:
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def _face(points: np.ndarray, normal: np.ndarray, width: float, other: np.ndarray) -> np.ndarray | None:
    """The vertices of the support feature; None when the tolerance decides which they are."""
    extents = [e for e in (_span(points), _span(other)) if e > 0.0]
    if not extents:
        return None
    small = min(extents)
    heights = (points - points[0]) @ normal
    below = heights.max() - heights
    level = 64 * np.spacing(float(np.abs(points).max()))
    inside = below <= max(level, 1e-12 * small)
    unclear = ~inside & (below < REGION_CLEAR * small + 2 * width * small)
    return None if unclear.any() else points[inside]


def shrunk(
    a: np.ndarray, b: np.ndarray, fails: Callable[[np.ndarray, np.ndarray], bool]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair with as many vertices left out as can be while it still `fails`; none more can be left out alone.

    Halves are tried first, then quarters, down to single vertices, until nothing more goes. Coordinates are then
    rounded to as few digits as will do.
    """
    pair_ = [a, b]
    before = None
    while before != [len(points) for points in pair_]:
        before = [len(points) for points in pair_]
        for side in (0, 1):
            step = max(1, len(pair_[side]) // 2)
            while step:
                start = 0
                while start < len(pair_[side]) and len(pair_[side]) > 1:
                    left = np.delete(pair_[side], slice(start, start + step), axis=0)
                    if len(left) and fails(*_with(pair_, side, left)):
                        pair_[side] = left
                    else:
                        start += step
                step //= 2
    for side in (0, 1):
        for digits in range(16):
            rounded = np.vectorize(lambda x, d=digits: float(f"{x:.{d}e}"), otypes=[float])(pair_[side])
            if fails(*_with(pair_, side, rounded)):
                pair_[side] = rounded
                break
    return pair_[0], pair_[1]


def _with(both: Sequence[np.ndarray], side: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (points, both[1]) if side == 0 else (both[0], points)


def as_code(a: np.ndarray, b: np.ndarray) -> str:
    """The pair as an entry of `test_regressions.PAIRS`."""
    lines = []
    for points in (a, b):
        lines += ["    [", *(f"        {row}," for row in points.tolist()), "    ],"]
    return "\n".join(["(", *lines, ")"])


def report(look: Look) -> str:
    """Return the failures of a pair, and the smallest pair with a failure, as code."""
    a, b = shrunk(look.a, look.b, lambda p, q: bool(failures(p, q)))
    words = "\n".join(f"  {line}" for line in look.words[:6])
    return f"{look.name}\n{words}\n{as_code(a, b)}  # {failures(a, b)[0]}"


def numbered(seed: int, index: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Pair number `index` with this seed: every sixth from the composed classes, the others in turn from the plain."""
    if index % 6 == 5:
        name = list(COMPOSED)[index // 6 % len(COMPOSED)]
        a, b = COMPOSED[name](np.random.default_rng([seed, index]))
        return name, np.ascontiguousarray(a), np.ascontiguousarray(b)
    return pair(seed, index - index // 6)


def look_at(seed: int, index: int) -> Look:
    """Return the result for one pair."""
    name, a, b = numbered(seed, index)
    words = failures(a, b)
    # A pair that raises is known by its words.
    certified = bool(words) or contact(ConvexHull(a), ConvexHull(b)).status == Status.CERTIFIED
    return Look(f"{name}: numbered({seed}, {index})", a, b, tuple(words), tuple(contradictions(a, b)), certified)


def search(seed: int, count: int, processes: int = 2) -> list[Look]:
    """Look at `count` pairs of one seed."""
    # Started afresh, not forked: numpy's threads do not survive a fork.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(look_at, repeat(seed), range(count), chunksize=20))


def main(arguments: list[str]) -> int:
    """Search, print the pairs that fail; return 1 when there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.core.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9), help="a fresh one if not given")
    parser.add_argument("--processes", type=int, default=max(2, min(8, os.cpu_count() or 1)))
    parser.add_argument("--json", metavar="FILE", help="write the result of each pair there, and make none small")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    looks = search(options.seed, options.pairs, options.processes)
    wrong = [look for look in looks if look.words]
    if options.json:
        rows = [(look.name, look.words, look.contradictions, look.certified) for look in looks]
        Path(options.json).write_text(json.dumps(rows), encoding="utf-8")
    for look in [] if options.json else wrong[:10]:
        print(report(look), flush=True)
    classes = Counter(look.name.split(":")[0] for look in wrong)
    contradicted, certified = sum(bool(look.contradictions) for look in looks), sum(look.certified for look in looks)
    print(f"{len(wrong)} of {len(looks)} pairs fail {dict(classes)}; the bounds of {certified} meet")
    print(f"float oracles contradict the exact one on {contradicted}")
    return min(1, len(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
