# SPDX-License-Identifier: GPL-3.0-or-later
"""Single pairs against other libraries: `python -m benchmarks --only pairs`.

Boxes and hulls of points on a sphere, overlapping and apart: yes or no, distance, depth and normal, and the full
`contact`. All libraries take turns on every pair in one process, and must agree with us: a pair on which one of them
fails or is wrong by more than its own tolerance counts neither for it nor, in its ratio, for us. Times are medians over
the pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from contact_lens.core import Box, Contact, ConvexHull, Polytope, box_sat, contact, epa, gjk, gjk_intersects, sat
from contact_lens.core.narrow_phase.epa import Penetration

from .peers import Answer, Peer, Query, peers, quiet
from .table import Against, Row, in_turn, show

CORNERS = (32, 128, 500)
OVERLAPPING, APART = "overlap", "apart"
BARE = "GJK+EPA"
"""Name of our own two loops alone, as a peer of the full contact."""
SAT_CORNERS = 128
"""SAT of one pair grows with the square of the edges: larger hulls are left to GJK and EPA."""

Pair = tuple[Polytope, Polytope]
Ask = Callable[[Peer], Callable[[object, object], Query | None]]


def penetration(a: Polytope, b: Polytope) -> Penetration:
    """GJK and EPA without anything around them."""
    return epa(a, b, gjk(a, b))


def pairs_of_boxes(count: int, pose: str) -> list[Pair]:
    """Boxes of sizes 0.8 to 1.6, turned at random: 0.9 between the centres, or far enough to be apart."""
    rng = np.random.default_rng(8)
    result: list[Pair] = []
    while len(result) < count:
        sizes, turns = rng.uniform(0.8, 1.6, size=(2, 3)), rng.normal(size=(2, 4))
        shift = _direction(rng) * (0.9 if pose == OVERLAPPING else 2.0)
        a, b = Box((0, 0, 0), sizes[0], turns[0]), Box(shift, sizes[1], turns[1])
        if gjk_intersects(a, b) == (pose == OVERLAPPING):
            result.append((a, b))
    return result


def pairs_of_hulls(corners: int, count: int, pose: str) -> list[Pair]:
    """Hulls of points on the unit sphere: 1.5 between the centres, or 2.5."""
    rng = np.random.default_rng(corners)
    result: list[Pair] = []
    while len(result) < count:
        a, b = (_direction(rng, corners) for _ in range(2))
        shift = _direction(rng) * (1.5 if pose == OVERLAPPING else 2.5)
        pair = ConvexHull(a), ConvexHull(b + shift)
        if gjk_intersects(*pair) == (pose == OVERLAPPING):
            result.append(pair)
    return result


def _direction(rng: np.random.Generator, *count: int) -> np.ndarray:
    v = rng.normal(size=(*count, 3))
    unit: np.ndarray = v / np.linalg.norm(v, axis=-1, keepdims=True)
    return unit


def wrong(answer: Answer, ours: Answer, pair: Pair, slack: float) -> str:
    """Return what is wrong with a peer's answer, or an empty string.

    A normal is right when the pair is no thicker along it than it is deep: equally good ones are all right.
    """
    if isinstance(ours, bool):
        return "" if answer is ours else "wrong answer"
    if isinstance(ours, float):
        assert isinstance(answer, float)
        return "" if abs(answer - ours) <= slack else "wrong distance"
    assert isinstance(answer, tuple)
    (depth, normal), (right, _) = answer, ours
    if abs(depth - right) > slack:
        return "wrong depth"
    a, b = pair
    thick = float((a.vertices @ normal).max() - (b.vertices @ normal).min())
    # A normal that is off by an angle is off by as much of the shapes' size.
    return "" if abs(thick - right) <= 3.0 * slack else "wrong normal"


def measure(
    workload: str,
    pairs: list[Pair],
    ours: Callable[[Polytope, Polytope], Query],
    others: dict[str, tuple[float, list[Query]]],
    rounds: int,
    goals: dict[str, float],
) -> Row:
    """Time one workload. `others`: for each peer its slack and its query of each pair."""
    queries = [ours(a, b) for a, b in pairs]
    answers = [query.read(query.run()) for query in queries]
    usable: dict[str, set[int]] = {}
    notes = []
    for name, (slack, asked) in others.items():
        trouble: Counter[str] = Counter()
        usable[name] = set()
        for k, query in enumerate(asked):
            try:
                said = wrong(query.read(query.run()), answers[k], pairs[k], slack)
            except AssertionError:
                said = "assertion inside it"
            except (RuntimeError, ValueError, IndexError) as error:
                said = str(error) or type(error).__name__
            if said:
                trouble[said] += 1
            else:
                usable[name].add(k)
        if trouble:
            what = ", ".join(f"{said} on {number}" for said, number in trouble.most_common())
            notes.append(f"{name}: {what} of {len(pairs)} pairs, left out")
    mine: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in others}
    mine_too: dict[str, list[float]] = {name: [] for name in others}
    for k, query in enumerate(queries):
        there = [name for name in others if k in usable[name]]
        own, *foreign = in_turn([query.run, *(others[name][1][k].run for name in there)], rounds)
        mine.append(own)
        for name, seconds in zip(there, foreign, strict=True):
            theirs[name].append(seconds)
            mine_too[name].append(own)
    against = {
        name: Against(median(theirs[name]), median(mine_too[name])) if theirs[name] else Against(None, median(mine))
        for name in others
    }
    return Row(workload, median(mine), against, goals, tuple(notes))


def rows(
    quick: bool, libraries: list[Peer], corners: tuple[int, ...] = CORNERS, said: Callable[[str], None] = print
) -> list[Row]:
    """Measure everything."""
    count, rounds = (8, 3) if quick else (40, 11)
    result: list[Row] = []
    for size in (8, *corners):
        box = size == 8
        for pose in (OVERLAPPING, APART):
            what = f"{'boxes' if box else f'hulls {size} v'}, {pose}"
            said(f"  {what} ...")
            pairs = pairs_of_boxes(count, pose) if box else pairs_of_hulls(size, count, pose)
            with quiet():
                shapes = {peer.name: [(peer.shape(a), peer.shape(b)) for a, b in pairs] for peer in libraries}

            def line(
                title: str,
                ours: Callable[[Polytope, Polytope], Query],
                ask: Ask,
                goals: dict[str, float] | None = None,
                extra: dict[str, tuple[float, list[Query]]] | None = None,
                what: str = what,
                pairs: list[Pair] = pairs,
                shapes: dict[str, list[tuple[object, object]]] = shapes,
            ) -> None:
                others = dict(extra or {})
                for peer in libraries:
                    asked = [ask(peer)(a, b) for a, b in shapes[peer.name]]
                    if queries := [query for query in asked if query is not None]:
                        others[peer.name] = peer.slack, queries
                result.append(measure(f"{what}: {title}", pairs, ours, others, rounds, goals or {}))

            yes_goals = {"d3d mesh": 4.0} if size == 32 else {}
            box_goals = {"coal": 0.5, "pybullet": 1.0}
            if box:
                line("yes/no, SAT", _yes(lambda a, b: box_sat(a, b).intersects), lambda peer: peer.yes_or_no, box_goals)
            line("yes/no, GJK", _yes(gjk_intersects), lambda peer: peer.yes_or_no, yes_goals)
            if pose == OVERLAPPING:
                if box:
                    line("depth + normal, SAT", _signed(box_sat), lambda peer: peer.depth, box_goals)
                line(
                    "depth + normal, GJK + EPA",
                    _penetration,
                    lambda peer: peer.depth,
                    {"d3d mesh": 20.0} if size == 32 else {},
                )
                if not box and size <= SAT_CORNERS:
                    line("depth + normal, SAT", _signed(sat), lambda peer: peer.depth)
                line(
                    "full contact",
                    _contact,
                    lambda peer: peer.region,
                    {BARE: 0.5} if size == 32 else {},
                    {BARE: (1e-9, [_penetration(a, b) for a, b in pairs])},
                )
            else:
                line("distance", _distance, lambda peer: peer.distance, yes_goals)
                line("full contact", _gap, lambda peer: peer.distance)
    return result


def _yes(function: Callable[..., bool]) -> Callable[[Polytope, Polytope], Query]:
    return lambda a, b: Query(partial(function, a, b))


def _signed(function: Callable[..., object]) -> Callable[[Polytope, Polytope], Query]:
    return lambda a, b: Query(partial(function, a, b), lambda f: (-f.signed_distance, np.array(f.normal)))


def _penetration(a: Polytope, b: Polytope) -> Query:
    return Query(partial(penetration, a, b), lambda found: (found.depth, np.array(found.faces[0].normal)))


def _distance(a: Polytope, b: Polytope) -> Query:
    return Query(partial(gjk, a, b), lambda found: found.gap)


def _contact(a: Polytope, b: Polytope) -> Query:
    def read(found: Contact) -> Answer:
        assert found.region is not None
        return found.depth, found.normal

    return Query(partial(contact, a, b), read)


def _gap(a: Polytope, b: Polytope) -> Query:
    return Query(partial(contact, a, b), lambda found: found.signed_distance)


def main(quick: bool = False) -> None:
    """Print the table."""
    libraries, missing = peers()
    table = rows(quick, libraries)
    print()
    show(table)
    for sentence in missing:
        print(f"  {sentence}")
    losing = [row for row in table if "hulls" in row.workload and "SAT" not in row.workload and "coal" in row.peers]
    lost = [1.0 / row.peers["coal"].ratio for row in losing]
    behind = f": {min(lost):.0f} to {max(lost):.0f} times slower here" if lost else ""
    print(
        f"""
  overlap, apart: the shapes; 32 v: hulls of 32 vertices. Full contact: relation, depth or distance, normal, bounds
  with proof, witness points, region; {BARE} beside it is our own two loops alone; coal's figure is its collision with
  contact patch (apart: distance). Boxes are boxes to coal, python-fcl and pybullet, hulls of 8 vertices to
  distance3d, which is asked twice: with its mesh collider (d3d mesh; the goals are set against it) and bare points.
  What pure Python cannot win: single hull calls against coal{behind}."""
    )
