# SPDX-License-Identifier: GPL-3.0-or-later
"""Many pairs in one call against coal, pair by pair: `python -m benchmarks --only contacts`.

Through public calls. 1,000 shapes (of hulls with 128 vertices 500, with 500 vertices 200) in 20,000 pairs:

* `set`: a `ShapeSet` that has been asked before, as coal's objects are made before.
* `list`: shapes that nothing has been asked of before, all tables made in the call.
* `many`: 20,000 shapes (of the larger hulls 5,000 and 2,000), each in one or two pairs, in a `ShapeSet` asked before.

Both must say the same of every pair but those within rounding of touching. Ratios are of medians, both libraries in
turn.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from contact_lens.core import (
    Box,
    Contact,
    Contacts,
    ConvexHull,
    ShapeSet,
    contact,
    contacts,
    gjk_intersects,
    pairs_intersect,
    verify,
)

from .peers import Coal
from .table import Against, Row, duration, in_turn, show

_SAME = 1e-5
"""How far a depth or a distance of coal may be off."""


def alternate(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[Any, Any, float, float]:
    """Return both answers and both median times."""
    spent: tuple[list[float], list[float]] = ([], [])
    answers: list[Any] = [None, None]
    for k in range(rounds + 1):
        for which in (0, 1) if k % 2 else (1, 0):
            start = perf_counter()
            answers[which] = (ours, theirs)[which]()
            if k:
                spent[which].append(perf_counter() - start)
    return answers[0], answers[1], median(spent[0]), median(spent[1])


def row(
    words: str, ours: float, theirs: float, goal: float | None, note: str = "", pairs: int = 1, peer: str = "coal"
) -> Row:
    """Make a line of the table from the times of so many pairs."""
    goals = {} if goal is None else {peer: goal}
    notes = (note,) if note else ()
    return Row(words, ours / pairs, {peer: Against(theirs / pairs, ours / pairs)}, goals, notes)


def hull_of_sphere(rng: np.random.Generator, corners: int = 32, radius: float = 1.0) -> np.ndarray:
    """(corners, 3) random points of a sphere."""
    points = rng.normal(size=(corners, 3))
    result: np.ndarray = radius * (points / np.linalg.norm(points, axis=1)[:, None])
    return result


class Pairs:
    """Pairs of shapes, and coal's answers one after the other."""

    def __init__(self, peer: Coal, shapes: Sequence[Any], pairs: np.ndarray) -> None:
        self.shapes, self.pairs = ShapeSet(shapes), pairs
        made = self.made = [peer.shape(shape) for shape in shapes]
        self.arguments = [(*made[i], *made[j]) for i, j in pairs.tolist()]
        self.peer = peer

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, k: int) -> list[Any]:
        """The two shapes of pair k."""
        return [self.shapes[i] for i in self.pairs[k].tolist()]

    def new_shapes(self) -> list[Any]:
        """The same shapes made anew: nothing has been asked of them."""
        return [shape.translated(np.zeros(3)) for shape in self.shapes]

    def yes(self) -> np.ndarray:
        """Coal's yes or no."""
        collide, request, result = self.peer.coal.collide, self.peer.yes, self.peer.result
        said = []
        for arguments in self.arguments:
            result.clear()
            said.append(collide(*arguments, request, result) > 0)
        return np.array(said)

    def distances(self) -> np.ndarray:
        """Coal's distances, with its nearest points read."""
        distance, request, result = self.peer.coal.distance, self.peer.distance_request, self.peer.distances
        said = []
        for arguments in self.arguments:
            result.clear()
            said.append(distance(*arguments, request, result))
            result.getNearestPoint1(), result.getNearestPoint2()
        return np.array(said)

    def depths(self) -> np.ndarray:
        """Minus coal's depths, with its normals read; NaN where it finds no contact."""
        collide, request, result = self.peer.coal.collide, self.peer.deep, self.peer.result
        said = []
        for arguments in self.arguments:
            result.clear()
            if collide(*arguments, request, result) > 0:
                contact = result.getContact(0)
                contact.normal  # noqa: B018 (the answer)
                said.append(contact.penetration_depth)
            else:
                said.append(np.nan)
        return np.array(said)

    def patch(self, arguments: Any) -> Any:
        """The contact patches that coal finds of a pair, with the collision without which it finds none."""
        peer = self.peer
        peer.result.clear()
        peer.coal.collide(*arguments, peer.deep, peer.result)
        peer.patches.clear()
        peer.coal.computeContactPatch(*arguments, peer.result, peer.patch_request, peer.patches)
        return peer.patches

    def patches(self) -> list[int]:
        """How many contact patches coal finds of each pair."""
        return [self.patch(arguments).numContactPatches() for arguments in self.arguments]

    def patch_area(self, k: int) -> float:
        """The area of coal's patch of pair k."""
        patch = self.patch(self.arguments[k]).getContactPatch(0)
        x, y = np.array([patch.getPoint(n) for n in range(patch.size())])[:, :2].T
        return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))

    def compare_yes(self, ours: np.ndarray, theirs: np.ndarray) -> str:
        """Ask that both say the same, or that the single call and its proof say that coal is wrong."""
        differ = np.flatnonzero(ours != theirs).tolist()
        far = sum(abs(self.proved(k).signed_distance) > _SAME for k in differ)
        assert all(self.proved(k).intersects == ours[k] for k in differ)
        assert far <= 1e-3 * len(self)
        words = f"coal wrong on {len(differ)} of {len(self):,}, {far} of them not within {_SAME} of touching"
        return words if differ else ""

    def compare_distances(self, found: Contacts, theirs: np.ndarray) -> str:
        """Ask that signed distances are the same, or that the single call and its proof say that coal is wrong."""
        ours = found.signed_distance
        wrong = np.flatnonzero(~(np.abs(ours - theirs) <= _SAME))
        assert all(abs(self.proved(k).signed_distance - ours[k]) <= 1e-9 for k in wrong[:50].tolist())
        assert len(wrong) <= 0.05 * len(ours)
        return f"coal wrong on {len(wrong)} of {len(self):,}" if len(wrong) else ""

    def proved(self, k: int) -> Contact:
        """The contact of pair k, whose proof is checked."""
        found = contact(*self.of(k))
        assert verify(found, *self.of(k)).ok
        return found


def turned(rng: np.random.Generator, shape: Any, place: np.ndarray) -> Any:
    """A shape turned at random about its own origin and moved."""
    pose = np.eye(4)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    pose[:3, :3], pose[:3, 3] = axes * np.sign(np.linalg.det(axes)), place
    return shape.transformed(pose)


def near_pairs(rng: np.random.Generator, centers: np.ndarray, count: int, near: float, far: float) -> np.ndarray:
    """(count, 2) random pairs whose centres are `near` to `far` from each other."""
    found = np.zeros((0, 2), dtype=np.intp)
    while len(found) < count:
        pairs = rng.integers(0, len(centers), (40 * count, 2))
        distance = np.linalg.norm(centers[pairs[:, 0]] - centers[pairs[:, 1]], axis=1)
        found = np.concatenate([found, pairs[(distance > near) & (distance < far)]])
    return found[:count]


def pairs_of_boxes(peer: Coal, shapes: int, count: int, far: float) -> Pairs:
    """Boxes of sizes 0.8 to 1.6, turned at random, up to `far` from each other: up to 1.9 half of them overlap."""
    rng = np.random.default_rng(8)
    boxes = [Box(rng.uniform(-1.3, 1.3, 3), rng.uniform(0.8, 1.6, 3), rng.normal(size=4)) for _ in range(shapes)]
    return Pairs(peer, boxes, near_pairs(rng, np.array([box.center for box in boxes]), count, 0.2, far))


def pairs_of_hulls(peer: Coal, corners: int, shapes: int, count: int, near: float = 1.2, far: float = 2.4) -> Pairs:
    """Hulls of points on unit spheres, `near` to `far` between the centres: of 1.2 to 2.4 about half overlap. Those of
    many shapes are copies of a thousand, turned and moved."""
    rng = np.random.default_rng(corners)
    local = [ConvexHull(hull_of_sphere(rng, corners)) for _ in range(min(shapes, 1_000))]
    places = rng.uniform(-1.3, 1.3, (shapes, 3))
    hulls = [turned(rng, local[k % len(local)], place) for k, place in enumerate(places)]
    return Pairs(peer, hulls, near_pairs(rng, places, count, near, far))


def stacked_boxes(peer: Coal, count: int) -> Pairs:
    """Boxes two by two, one on the other by a hundredth too low, turned about the upright axis at random."""
    rng = np.random.default_rng(14)
    boxes: list[Box] = []
    for angle, other in rng.uniform(0.0, np.pi, (count, 2)):
        low, high = rng.uniform(0.8, 1.6, (2, 3)) * [1.0, 1.0, 0.5]
        place = (*rng.uniform(-0.6, 0.6, 2), 0.5 * (low[2] + high[2]) - 0.01)
        boxes.append(Box((0.0, 0.0, 0.0), low, (np.cos(angle), 0.0, 0.0, np.sin(angle))))
        boxes.append(Box(place, high, (np.cos(other), 0.0, 0.0, np.sin(other))))
    return Pairs(peer, boxes, np.arange(2 * count).reshape(-1, 2))


def each_way(
    words: str,
    few: Pairs,
    many: Pairs,
    ours: Callable[[Any, np.ndarray], Any],
    theirs: Callable[[Pairs], np.ndarray],
    compare: Callable[[Pairs, Any, np.ndarray], str],
    goals: tuple[float, float],
    rounds: int,
) -> list[Row]:
    """Return a row each of few shapes as a set and as a list, and of many as a set."""
    rows = []
    for name, pairs, goal in (("set", few, goals[0]), ("list", few, goals[0]), ("many", many, goals[1])):
        new = iter([pairs.new_shapes() for _ in range(rounds + 1)] if name == "list" else ())
        shapes = (lambda new=new: next(new)) if name == "list" else (lambda pairs=pairs: pairs.shapes)
        found, said, mine, his = alternate(
            lambda shapes=shapes, pairs=pairs: ours(shapes(), pairs.pairs), partial(theirs, pairs), rounds
        )
        rows.append(row(f"{words}, {name}, a pair", mine, his, goal, compare(pairs, found, said), len(pairs)))
    return rows


def sizes(quick: bool, shapes: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """How many shapes in how many pairs: few, and many."""
    if quick:
        return (shapes // 10, 2_000), (shapes, 500)
    return (shapes, 20_000), (20_000 if shapes == 1_000 else 10 * shapes, 10_000 if shapes == 1_000 else 5 * shapes)


def box_rows(peer: Coal, quick: bool) -> list[Row]:
    rounds, (few, many) = 3 if quick else 9, sizes(quick, 1_000)
    either = [pairs_of_boxes(peer, *size, 1.9) for size in (few, many)]
    words = f"1 boxes, yes/no, {pairs_intersect(either[0].shapes, either[0].pairs).mean():.0%} overlap"
    rows = each_way(words, *either, pairs_intersect, Pairs.yes, Pairs.compare_yes, (8.0, 2.0), rounds)
    deep = [pairs_of_boxes(peer, *size, 1.0) for size in (few, many)]
    for pairs in deep:
        overlap = pairs_intersect(pairs.shapes, pairs.pairs)
        pairs.pairs = pairs.pairs[overlap]
        pairs.arguments = [pairs.arguments[k] for k in np.flatnonzero(overlap)]
    ask = partial(contacts, regions=False)
    return rows + each_way(
        "2 boxes, depth + normal", *deep, ask, Pairs.depths, Pairs.compare_distances, (8.0, 2.0), rounds
    )


def box_patches(peer: Coal, quick: bool) -> Row:
    count = 1_000 if quick else 5_000
    pairs = stacked_boxes(peer, count)
    found, said, ours, theirs = alternate(
        lambda: contacts(pairs.shapes, pairs.pairs), pairs.patches, 3 if quick else 15
    )
    assert said == [1] * count
    for k in range(0, count, max(1, count // 500)):
        assert abs(found.region[k].area - pairs.patch_area(k)) <= _SAME, k
    note = "coal with its collision; ours with relation, depth, normal and witness points"
    return row("14 boxes, contact polygons, set, a pair", ours, theirs, None, note, count)


def hull_rows(peer: Coal, quick: bool) -> list[Row]:
    rounds = 3 if quick else 7
    rows: list[Row] = []
    for corners, shapes, goal in ((32, 1_000, 3.0), (128, 500, 4.0), (500, 200, 2.5)):
        few, many = (pairs_of_hulls(peer, corners, *size) for size in sizes(quick, shapes))
        words = f"4 hulls {corners} v, yes/no, {pairs_intersect(few.shapes, few.pairs).mean():.0%} overlap"
        rows += each_way(words, few, many, pairs_intersect, Pairs.yes, Pairs.compare_yes, (goal, 1.0), rounds)
    ask = partial(contacts, regions=False)
    deep = (pairs_of_hulls(peer, 32, *size, 0.8, 1.7) for size in sizes(quick, 1_000))
    words = "6 hulls 32 v, depth + normal + witness points"
    rows += each_way(words, *deep, ask, Pairs.depths, Pairs.compare_distances, (1.0, 1.0), rounds)
    apart = (pairs_of_hulls(peer, 32, *size, 2.1) for size in sizes(quick, 1_000))
    words = "7 hulls 32 v, distance + witness points"
    return rows + each_way(words, *apart, ask, Pairs.distances, Pairs.compare_distances, (1.5, 1.0), rounds)


def one_pair_that_stands_still(peer: Coal, quick: bool) -> list[Row]:
    """The same pair again and again: ours starts from the last direction, coal from the last guess."""
    rng = np.random.default_rng(18)
    points = [hull_of_sphere(rng) for _ in range(2)]
    a, b = ConvexHull(points[0]), ConvexHull(points[1] + [2.1, 0.3, 0.2])
    direction = contact(a, b).normal
    (one, one_at), (two, two_at) = peer.shape(a), peer.shape(b)
    collide, request, result = peer.coal.collide, peer.coal.CollisionRequest(), peer.result
    request.enable_contact, request.gjk_initial_guess = False, peer.coal.CachedGuess
    repeats = 300 if quick else 3_000

    def theirs() -> bool:
        for _ in range(repeats):
            result.clear()
            collide(one, one_at, two, two_at, request, result)
            request.updateGuess(result)
        return bool(result.isCollision())

    def ours() -> bool:
        for _ in range(repeats):
            said = gjk_intersects(a, b, direction)
        return said

    said, true, mine, his = alternate(ours, theirs, 7)
    assert said == true is False
    rows = [row("18 one pair that stands still, yes/no", mine, his, 0.9, pairs=repeats)]
    for words, other in (("apart", b), ("penetrating", ConvexHull(points[1] + [1.1, 0.3, 0.2]))):
        again = partial(contact, a, other)
        _, _, mine, his = alternate(partial(again, start=again()), again, 51)
        note = f"the other is not coal but ours without start: {his * 1e6:.0f} us"
        rows.append(Row(f"contact(start=) that stands still, {words}", mine, {}, {}, (note,)))
    return rows


def few_pairs() -> list[Row]:
    """One, five and twenty pairs through `contacts`, as lists and as sets, against a loop of `contact`."""
    rng, rows = np.random.default_rng(34), []
    for words in ("boxes", "hulls of 32 v"):
        for state, room in (("that meet", 0.3), ("apart", 6.0)):
            for count in (1, 5, 20):
                places = rng.uniform(-room, room, (2 * count, 3))
                if words == "boxes":
                    shapes = [Box(place, rng.uniform(0.8, 1.6, 3), rng.normal(size=4)) for place in places]
                else:
                    shapes = [turned(rng, ConvexHull(hull_of_sphere(rng)), place) for place in places]
                pairs, known = np.arange(2 * count).reshape(-1, 2), ShapeSet(shapes)
                arguments = [(shapes[i], shapes[j]) for i, j in pairs.tolist()]
                listed, as_set, loop = in_turn(
                    (
                        partial(contacts, shapes, pairs),
                        partial(contacts, known, pairs),
                        lambda arguments=arguments: [contact(*both) for both in arguments],
                    ),
                    21,
                )
                note = f"as a set {loop / as_set:.2f}x"
                what = f"34 {count} pairs of {words} {state}"
                rows.append(row(what, listed, loop, 1.0 / 1.5, note, peer="loop of contact"))
    return rows


def print_memory(quick: bool) -> None:
    """Print by how much the peak of the memory rises in a call with a million pairs of boxes."""
    rng, count = np.random.default_rng(0), 10_000 if quick else 1_000_000
    shapes = ShapeSet([Box(rng.uniform(-3, 3, 3), rng.uniform(0.8, 1.6, 3), rng.normal(size=4)) for _ in range(1_000)])
    pairs = rng.integers(0, len(shapes), (count, 2))
    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    found = contacts(shapes, pairs, distances=False)
    spent = perf_counter() - start
    rise = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
    print(
        f"{count:,} pairs of boxes in one call, {found.intersects.mean():.0%} overlap, regions too: {duration(spent)}, "
        f"{rise / 2**20:,.0f} MB at most"
    )


def main(quick: bool = False) -> None:
    """Print the table."""
    print_memory(quick)
    show(few_pairs())
    try:
        peer = Coal()
    except ImportError as error:
        print(f"coal is not here, and there is nothing to compare with ({error}).")
        return
    lines = [*box_rows(peer, quick), box_patches(peer, quick), *hull_rows(peer, quick)]
    show(lines + one_pair_that_stands_still(peer, quick))
