# SPDX-License-Identifier: GPL-3.0-or-later
"""Many pairs in one call against coal, pair by pair: `python -m tests.benchmarks --only contacts`.

Thousands of different shapes, as in a scene: nothing is in a cache from the pair before. What is made once of the
shapes (coal's objects, our tables) is made before. In the scenes everything moves, and both begin with arrays of
centres and axes. Ours: the table from the poses, bounding boxes, broad phase, and arrays of what was asked. Coal's, the
shortest way that its Python has: rotation, centre and bounding box set for each object, the tree updated, and all
collided in C++, where the contacts stay: to read them from Python would take as long as half of all that. What the
poses take of its time is beside it. Both must say the same of every pair but those within rounding of touching.
Ratios are of medians, both libraries in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from contact_lens.core import (
    Box,
    ConvexHull,
    Polytope,
    ShapeSet,
    candidate_pairs,
    contact,
    contacts,
    epa,
    gjk,
    gjk_intersects,
    pairs_intersect,
)
from contact_lens.core.batched.box_axes import box_axes, boxes_intersect, intersecting_boxes
from contact_lens.core.batched.box_contacts import box_witnesses
from contact_lens.core.batched.box_regions import box_regions
from contact_lens.core.batched.boxes import OrientedBoxes
from contact_lens.core.batched.depth import hull_depths
from contact_lens.core.batched.distance import hull_distances
from contact_lens.core.batched.hull_intersection import intersect_hulls
from contact_lens.core.batched.hull_table import HullTable
from contact_lens.core.batched.portals import APART, MEET, OPEN

from .peers import Coal
from .table import Against, Row, show

Arrays = tuple[np.ndarray, np.ndarray]


def turns(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, 3, 3) random rotations; row k the direction of axis k."""
    w, x, y, z = (q := rng.normal(size=(4, count))) / np.linalg.norm(q, axis=0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    result: np.ndarray = np.ascontiguousarray(np.array(rows).transpose(2, 1, 0))
    return result


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


def row(words: str, ours: float, theirs: float, goal: float | None, note: str = "", pairs: int = 1) -> Row:
    """Make a line of the table from the times of so many pairs."""
    goals = {} if goal is None else {"coal": goal}
    notes = (note,) if note else ()
    return Row(words, ours / pairs, {"coal": Against(theirs / pairs, ours / pairs)}, goals, notes)


def hull_of_sphere(rng: np.random.Generator, corners: int = 32, radius: float = 1.0) -> np.ndarray:
    """(corners, 3) random points of a sphere."""
    points = rng.normal(size=(corners, 3))
    result: np.ndarray = radius * (points / np.linalg.norm(points, axis=1)[:, None])
    return result


class Pairs:
    """Pairs of different shapes, and coal's answers one after the other."""

    def __init__(self, peer: Coal, shapes: list[Any], pairs: np.ndarray) -> None:
        self.shapes, self.pairs = shapes, pairs
        self.i, self.j = np.ascontiguousarray(pairs.T)
        made = self.made = [peer.shape(shape) for shape in shapes]
        self.arguments = [(*made[i], *made[j]) for i, j in pairs.tolist()]
        self.peer = peer

    def of(self, k: int) -> list[Any]:
        """The two shapes of pair k."""
        return [self.shapes[i] for i in self.pairs[k].tolist()]

    def yes(self) -> list[bool]:
        """Coal's yes or no."""
        collide, request, result = self.peer.coal.collide, self.peer.yes, self.peer.result
        said = []
        for arguments in self.arguments:
            result.clear()
            said.append(collide(*arguments, request, result) > 0)
        return said

    def distances(self) -> list[float]:
        """Coal's distances, with its nearest points read."""
        distance, request, result = self.peer.coal.distance, self.peer.distance_request, self.peer.distances
        said = []
        for arguments in self.arguments:
            result.clear()
            said.append(distance(*arguments, request, result))
            result.getNearestPoint1(), result.getNearestPoint2()
        return said

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

    def deep(self) -> list[float]:
        """Coal's depths; NaN where it finds no contact."""
        collide, request, result = self.peer.coal.collide, self.peer.deep, self.peer.result
        said = []
        for arguments in self.arguments:
            result.clear()
            if collide(*arguments, request, result) > 0:
                contact = result.getContact(0)
                contact.normal  # noqa: B018 (the answer)
                said.append(-contact.penetration_depth)
            else:
                said.append(np.nan)
        return said


def pairs_of_boxes(peer: Coal, count: int, overlapping: bool = False) -> Pairs:
    """Boxes of sizes 0.8 to 1.6, turned at random, two by two at random places: about half of the pairs overlap; or,
    if asked for, all."""
    rng = np.random.default_rng(8)
    boxes: list[Box] = []
    while len(boxes) < 2 * count:
        a = Box((0, 0, 0), rng.uniform(0.8, 1.6, 3), rng.normal(size=4))
        direction = rng.normal(size=3)
        reach = rng.uniform(0.2, 1.0) if overlapping else rng.uniform(0.6, 1.9)
        b = Box(direction / np.linalg.norm(direction) * reach, rng.uniform(0.8, 1.6, 3), rng.normal(size=4))
        boxes += [a, b]
    return Pairs(peer, boxes, np.arange(2 * count).reshape(-1, 2))


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


def pairs_of_hulls(peer: Coal, corners: int, count: int, shapes: int, near: float = 1.2, far: float = 2.4) -> Pairs:
    """Hulls of points on unit spheres, `near` to `far` between the centres: of 1.2 to 2.4 about half overlap."""
    rng = np.random.default_rng(corners)
    hulls = [ConvexHull(hull_of_sphere(rng, corners) + rng.uniform(-1.3, 1.3, 3)) for _ in range(shapes)]
    centers = np.array([hull.center for hull in hulls])
    pairs = rng.integers(0, shapes, (40 * count, 2))
    distance = np.linalg.norm(centers[pairs[:, 0]] - centers[pairs[:, 1]], axis=1)
    return Pairs(peer, hulls, pairs[(distance > near) & (distance < far)][:count])


def agree(ours: np.ndarray, theirs: list[bool], pairs: Pairs, slack: float = 1e-5) -> str:
    """Ask that both say the same, but for pairs so near to touching that coal may be wrong; return how many differ."""
    differ = np.flatnonzero(ours != np.array(theirs))
    for k in differ.tolist():
        assert gjk_intersects(*pairs.of(k)) == ours[k]
        distance = contact(*pairs.of(k)).signed_distance
        assert abs(distance) <= slack, f"coal disagrees at {distance}"
    return f"coal wrong on {len(differ)} of {len(ours)} pairs within {slack} of touching" if len(differ) else ""


def boxes_yes(peer: Coal, quick: bool) -> Row:
    count = 1_000 if quick else 10_000
    pairs = pairs_of_boxes(peer, count)
    table = OrientedBoxes.of(pairs.shapes)
    mine, other, ours, theirs = alternate(
        lambda: boxes_intersect(table, pairs.i, pairs.j), pairs.yes, 3 if quick else 15
    )
    assert not len(mine[1])
    note = agree(mine[0], other, pairs)
    return row(f"1 boxes, yes/no, {mine[0].mean():.0%} overlap, a pair", ours, theirs, 8.0, note, count)


def boxes_deep(peer: Coal, quick: bool) -> Row:
    count = 1_000 if quick else 10_000
    pairs = pairs_of_boxes(peer, count, overlapping=True)
    table = OrientedBoxes.of(pairs.shapes)
    mine, other, ours, theirs = alternate(lambda: box_axes(table, pairs.i, pairs.j), pairs.deep, 3 if quick else 15)
    depth = np.where(mine.signed_distance <= 0.0, -mine.signed_distance, np.nan)
    wrong = (np.abs(depth - np.array(other)) > 1e-5) | (np.isnan(depth) != np.isnan(other))
    for k in np.flatnonzero(wrong).tolist():
        single = contact(*pairs.of(k)).signed_distance
        assert abs(single - mine.signed_distance[k]) <= 1e-9 or single > 0.0
    note = f"coal wrong on {wrong.sum()} of {count} depths" if wrong.any() else ""
    return row("2 boxes, depth + normal, a pair", ours, theirs, 8.0, note, count)


def boxes_touch(peer: Coal, quick: bool) -> Row:
    """Ours from the axis on, coal's with its collision, without which it makes no patch."""
    count = 1_000 if quick else 5_000
    pairs = stacked_boxes(peer, count)
    table = OrientedBoxes.of(pairs.shapes)
    axes = box_axes(table, pairs.i, pairs.j)
    points = box_witnesses(table, pairs.i, pairs.j, axes, np.full(count, 1e-9))
    extents = np.array([shape.extent for shape in pairs.shapes])[pairs.pairs.T]
    magnitude = np.array([shape.magnitude for shape in pairs.shapes])[pairs.pairs.T].max(axis=0)
    width = 1e-6 * extents.min(axis=0)

    def ask() -> Any:
        return box_regions(table, pairs.i, pairs.j, axes.normal, width, extents, magnitude, points.on_a, points.on_b)

    mine, other, ours, theirs = alternate(ask, pairs.patches, 3 if quick else 15)
    assert mine.found.mean() > 0.99
    assert other == [1] * count
    for k in np.flatnonzero(mine.found)[:: max(1, count // 500)].tolist():
        assert abs(mine.area[k] - pairs.patch_area(k)) <= 1e-5, k
    note = f"{1.0 - mine.found.mean():.2%} left to the single call; coal with its collision; goal: 1 us"
    return row("14 boxes, contact polygons, a pair", ours, theirs, None, note, count)


def hulls_distant(peer: Coal, quick: bool) -> Row:
    count = 1_000 if quick else 10_000
    pairs = pairs_of_hulls(peer, 32, count, 400 if quick else 4_000, 2.1)
    table = HullTable.of(pairs.shapes)
    nothing, width = np.zeros((3, count)), np.full(count, 1e-5)
    mine, other, ours, theirs = alternate(
        lambda: hull_distances(table, pairs.i, pairs.j, nothing, width), pairs.distances, 3 if quick else 7
    )
    assert mine.found.mean() > 0.98
    distance = mine.signed_distance.copy()
    for k in np.flatnonzero(~mine.found).tolist():
        distance[k] = gjk(*pairs.of(k)).gap
    assert np.abs(distance - np.array(other)).max() <= 1e-5
    note = f"{1.0 - mine.found.mean():.2%} left to the single call"
    return row("7 hulls 32 v, distance + witness points, a pair", ours, theirs, 1.5, note, count)


def hulls_deep(peer: Coal, quick: bool) -> Row:
    count = 1_000 if quick else 10_000
    pairs = pairs_of_hulls(peer, 32, count, 400 if quick else 4_000, 0.8, 1.7)
    table = HullTable.of(pairs.shapes)
    mine, other, ours, theirs = alternate(lambda: hull_depths(table, pairs.i, pairs.j), pairs.deep, 3 if quick else 5)
    theirs_deep = np.array(other)
    wrong = np.flatnonzero(mine.found & ~(np.abs(mine.signed_distance + theirs_deep) <= 1e-5))
    for k in wrong.tolist():
        assert abs(contact(*pairs.of(k)).signed_distance - mine.signed_distance[k]) <= 1e-9
    left = ~mine.found & ~np.isnan(theirs_deep)
    note = f"{left.mean():.1%} left to the single call; coal wrong on {len(wrong)} of {count} depths"
    return row("6 hulls 32 v, depth + normal + witness points, a pair", ours, theirs, 1.0, note, count)


def hulls_that_move_little(peer: Coal, quick: bool) -> Row:
    """Hulls of which every one moves by a thousandth of its size and turns by as much in each frame."""
    count, shapes, rounds = (1_000, 400, 5) if quick else (10_000, 2_000, 15)
    pairs = pairs_of_hulls(peer, 32, count, shapes)
    rng = np.random.default_rng(8)
    local = ShapeSet(pairs.shapes)
    arguments = pairs.arguments
    places = {id(a[0]): a[1] for a in arguments} | {id(a[2]): a[3] for a in arguments}
    moving = [(k, places[id(shape)]) for k, (shape, _) in enumerate(pairs.made) if id(shape) in places]
    poses = np.tile(np.eye(4), (shapes, 1, 1))
    start = contacts(local, pairs.pairs, poses=poses, distances=False, regions=False)
    spent: tuple[list[float], list[float]] = ([], [])
    wrong = 0
    for _ in range(rounds):
        # All turn about the origin, which is not far.
        angle = 1e-3 * rng.normal(size=(shapes, 3))
        across = np.zeros((shapes, 3, 3))
        for c in range(3):
            across[:, (c + 1) % 3, (c + 2) % 3], across[:, (c + 2) % 3, (c + 1) % 3] = -angle[:, c], angle[:, c]
        turned = np.linalg.qr(poses[:, :3, :3] + across @ poses[:, :3, :3])[0]
        turned *= np.sign(np.einsum("nii->ni", turned))[:, None, :]
        poses = poses.copy()
        poses[:, :3, :3] = turned
        poses[:, :3, 3] += 1e-3 * rng.normal(size=(shapes, 3))
        for k, place in moving:
            place.setRotation(np.ascontiguousarray(poses[k, :3, :3]))
            place.setTranslation(poses[k, :3, 3].copy())
        begin = perf_counter()
        said = pairs_intersect(local, pairs.pairs, poses=poses, start=start)
        spent[0].append(perf_counter() - begin)
        begin = perf_counter()
        theirs_said = pairs.yes()
        spent[1].append(perf_counter() - begin)
        for k in np.flatnonzero(said != np.array(theirs_said)).tolist():
            a, b = (pairs.shapes[n].transformed(poses[n]) for n in pairs.pairs[k].tolist())
            assert said[k] == (contact(a, b).signed_distance <= 0.0)
            wrong += 1
    ours, theirs = median(spent[0]), median(spent[1])
    note = f"coal wrong {wrong} times; start: contacts(distances=False) of the first frame"
    return row("8 hulls 32 v that move by 1e-3, yes/no, a pair", ours, theirs, 10.0, note, count)


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


class Scene:
    """Bodies that move, in coal's tree."""

    def __init__(self, peer: Coal, geometries: list[Any], room: float, deep: bool) -> None:
        coal = self.coal = peer.coal
        self.count = len(geometries)
        self.rng = np.random.default_rng(self.count)
        self.centers = self.rng.uniform(0.0, room * self.count ** (1 / 3), (self.count, 3))
        self.axes = turns(self.rng, self.count)
        self.objects = [coal.CollisionObject(geometry, coal.Transform3s.Identity()) for geometry in geometries]
        self.place()
        self.manager = coal.DynamicAABBTreeCollisionManager()
        for one in self.objects:
            self.manager.registerObject(one)
        self.manager.setup()
        self.callback = coal.CollisionCallBackDefault()
        self.callback.data.request.num_max_contacts = 1_000_000
        self.callback.data.request.enable_contact = deep

    def place(self) -> None:
        """Set coal's poses."""
        for one, turn, center in zip(self.objects, self.turns, self.centers, strict=True):
            one.setRotation(turn)
            one.setTranslation(center)
            one.computeAABB()

    @property
    def turns(self) -> np.ndarray:
        """(n, 3, 3) rotations as coal takes them, column k the direction of axis k; a view."""
        return self.axes.transpose(0, 2, 1)

    def move(self) -> None:
        """Move and turn every body."""
        self.centers = self.centers + self.rng.uniform(-0.1, 0.1, self.centers.shape)
        self.axes = turns(self.rng, self.count)

    def collide(self) -> tuple[float, float]:
        """Let coal find what collides, and return how long it took and how much of it to set the poses."""
        self.callback.init()
        self.callback.data.clear()
        start = perf_counter()
        self.place()
        setting = perf_counter() - start
        self.manager.update()
        self.manager.collide(self.callback)
        return perf_counter() - start, setting

    @property
    def found(self) -> int:
        """In how many contacts."""
        return int(self.callback.data.result.numContacts())

    def frames(self, ours: Callable[[], int], rounds: int) -> tuple[int, float, float, str]:
        """Move, ask both, compare; return how many pairs collide, the median times, and coal's without the poses."""
        spent: tuple[list[float], list[float], list[float]] = ([], [], [])
        number = 0
        for k in range(rounds + 1):
            self.move()
            theirs = self.collide() if k % 2 else None
            start = perf_counter()
            number = ours()
            mine = perf_counter() - start
            theirs = theirs or self.collide()
            # A pair within rounding of touching may be one more or less.
            assert abs(self.found - number) <= 1 + number // 1_000, (self.found, number)
            if k:
                for times, took in zip(spent, (mine, *theirs), strict=True):
                    times.append(took)
        mine, whole, setting = (median(times) for times in spent)
        note = f"coal gets the poses in {setting * 1e3:.1f} ms of it; without: {(whole - setting) / mine:.1f}x"
        return number, mine, whole, note


def scene_of_boxes(peer: Coal, count: int, rounds: int, goal: float) -> Row:
    half = np.random.default_rng(3).uniform(0.3, 0.7, (count, 3))
    scene = Scene(peer, [peer.coal.Box(*(2.0 * h)) for h in half], 1.1, True)

    def ours() -> int:
        boxes = OrientedBoxes.from_poses(scene.centers, scene.axes, half)
        low, high = boxes.bounds()
        i, j = np.ascontiguousarray(candidate_pairs(low.T, high.T).pairs.T)
        met, found = intersecting_boxes(boxes, i, j)
        points = box_witnesses(boxes, i.take(met), j.take(met), found, np.full(len(met), 1e-9))
        return len(points.good)

    number, mine, theirs, note = scene.frames(ours, rounds)
    words = f"3 scene of {count:,} boxes, poses in, contacts out ({number:,} pairs)"
    return row(words, mine, theirs, goal, note)


def hulls_yes(peer: Coal, corners: int, quick: bool, goal: float) -> Row:
    count = 1_000 if quick else 10_000
    pairs = pairs_of_hulls(peer, corners, count, 400 if quick else 4_000 if corners < 500 else 1_500)
    table = HullTable.of(pairs.shapes)
    mine, other, ours, theirs = alternate(
        lambda: all_decided(table, pairs.shapes, pairs.i, pairs.j), pairs.yes, 3 if quick else 11
    )
    note = agree(mine == MEET, other, pairs)
    return row(
        f"4 hulls {corners} v, yes/no, {(mine == MEET).mean():.0%} overlap, a pair", ours, theirs, goal, note, count
    )


def all_decided(table: HullTable, shapes: list[Any], i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Answer all pairs, those that a batch leaves open one by one."""
    state = intersect_hulls(table, i, j)
    for k in np.flatnonzero(state == OPEN).tolist():
        state[k] = MEET if gjk_intersects(shapes[i[k]], shapes[j[k]]) else APART
    return state


def moved(hull: ConvexHull, axes: np.ndarray, center: np.ndarray) -> Polytope:
    """Return a hull turned and moved, as far as GJK reads it."""
    vertices = hull.vertices @ axes + center
    return Polytope(vertices, 3, hull.edges, hull.edge_facets, hull.facets, hull.normals @ axes, hull.offsets)


def scene_of_hulls(peer: Coal, count: int, rounds: int, deep: bool = False, different: int | None = None) -> Row:
    """Hulls of which so many are different, the others copies of them."""
    rng = np.random.default_rng(6)
    known = [ConvexHull(hull_of_sphere(rng, radius=0.5)) for _ in range(min(count, different or count))]
    shapes = [peer.shape(hull)[0] for hull in known]
    which = [k % len(known) for k in range(count)]
    scene = Scene(peer, [shapes[k] for k in which], 0.9, deep)
    local = HullTable.of([known[k] for k in which])

    def ours() -> int:
        affine = np.concatenate([scene.turns, scene.centers[:, :, None]], axis=2).transpose(1, 2, 0)
        table = local.posed(np.arange(count), affine)
        low, high = table.bounds()
        i, j = np.ascontiguousarray(candidate_pairs(low.T, high.T).pairs.T)
        state = intersect_hulls(table, i, j)
        for k in np.flatnonzero(state == OPEN).tolist():
            state[k] = MEET if gjk_intersects(*pair(i, j, k)) else APART
        meet = np.flatnonzero(state == MEET)
        if deep:
            i, j = i.take(meet), j.take(meet)
            for k in np.flatnonzero(~hull_depths(table, i, j).found).tolist():
                a, b = pair(i, j, k)
                epa(a, b, gjk(a, b))
        return len(meet)

    def pair(i: np.ndarray, j: np.ndarray, k: int) -> list[Polytope]:
        return [moved(known[which[n]], scene.axes[n], scene.centers[n]) for n in (int(i[k]), int(j[k]))]

    number, mine, theirs, note = scene.frames(ours, rounds)
    row_number, answer, goal = ("6", "contacts out", 1.5) if deep else ("5", "yes/no", 4.0)
    words = f"{row_number} scene of {count:,} hulls of 32 v, poses in, {answer} ({number:,} pairs)"
    return row(words, mine, theirs, goal, note)


def front_door(peer: Coal, quick: bool) -> list[Row]:
    """The whole call, with all that it makes of Python objects: no goal, to be seen."""
    count = 1_000 if quick else 5_000
    pairs = pairs_of_boxes(peer, count)
    given = (pairs.shapes, pairs.pairs)
    return [
        row(f"{words}, a pair", *alternate(ask, theirs, 3)[2:], None, pairs=count)
        for words, ask, theirs in (
            ("pairs_intersect(boxes)", partial(pairs_intersect, *given), pairs.yes),
            (
                "contacts(boxes), no distances, no regions",
                partial(contacts, *given, distances=False, regions=False),
                pairs.deep,
            ),
            ("contacts(boxes), no regions", partial(contacts, *given, regions=False), pairs.deep),
            ("contacts(boxes)", partial(contacts, *given), pairs.deep),
        )
    ]


def main(quick: bool = False) -> None:
    """Print the table."""
    try:
        peer = Coal()
    except ImportError as error:
        print(f"coal is not here, and there is nothing to compare with ({error}).")
        return
    rounds = 4 if quick else 15
    lines = [boxes_yes(peer, quick), boxes_deep(peer, quick), boxes_touch(peer, quick)]
    lines += [scene_of_boxes(peer, count, rounds, goal) for count, goal in ((1_000, 4.0), (5_000, 7.0))]
    lines += [hulls_yes(peer, corners, quick, goal) for corners, goal in ((32, 3.0), (128, 4.0), (500, 2.5))]
    lines += [
        scene_of_hulls(peer, 1_000, rounds),
        hulls_deep(peer, quick),
        *(scene_of_hulls(peer, count, rounds, deep=True) for count in ((1_000,) if quick else (1_000, 5_000))),
        hulls_distant(peer, quick),
        hulls_that_move_little(peer, quick),
    ]
    lines += one_pair_that_stands_still(peer, quick)
    lines += front_door(peer, quick)
    show(lines)
