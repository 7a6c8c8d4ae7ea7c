# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes in poses, through a `ShapeSet`, against coal and py-parry3d: `python -m benchmarks --only poses`.

In the scenes everything moves, and both begin with arrays of poses. Coal's is the shortest way that its Python has:
rotation, centre and bounding box set for each object, the tree updated, and all collided in C++, where the contacts
stay: to read them from Python would take as long as half of all that. What the poses take of its time is beside it.
py-parry3d takes arrays of poses as we do, and uses as many threads as it is told; ours is always one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from contact_lens.core import Box, ConvexHull, Polytope, ShapeSet, candidate_pairs, contact, contacts, pairs_intersect

from .bench_contacts import alternate, hull_of_sphere, pairs_of_hulls, row
from .peers import Coal, Parry
from .table import Row, duration, in_turn, show


def random_poses(rng: np.random.Generator, count: int, room: float = 0.0) -> np.ndarray:
    """(count, 4, 4) rotations, about places from 0 to `room`."""
    w, x, y, z = (q := rng.normal(size=(4, count))) / np.linalg.norm(q, axis=0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = np.array(rows).transpose(2, 0, 1), rng.uniform(0.0, room, (count, 3))
    return poses


class Scene:
    """Bodies that move, in coal's tree."""

    def __init__(self, peer: Coal, geometries: list[Any], room: float, deep: bool) -> None:
        coal = self.coal = peer.coal
        self.count, self.room = len(geometries), room * len(geometries) ** (1 / 3)
        self.rng = np.random.default_rng(self.count)
        self.poses = random_poses(self.rng, self.count, self.room)
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
        turns, centers = np.asfortranarray(self.poses[:, :3, :3]), np.ascontiguousarray(self.poses[:, :3, 3])
        for one, turn, center in zip(self.objects, turns, centers, strict=True):
            one.setRotation(turn)
            one.setTranslation(center)
            one.computeAABB()

    def move(self) -> None:
        """Move and turn every body."""
        places = self.poses[:, :3, 3] + self.rng.uniform(-0.1, 0.1, (self.count, 3))
        self.poses = random_poses(self.rng, self.count)
        self.poses[:, :3, 3] = places

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

    def frames(self, ours: Callable[[np.ndarray], int], rounds: int) -> tuple[int, float, float, str]:
        """Move, ask both, compare; return how many pairs collide, the median times, and coal's without the poses."""
        spent: tuple[list[float], list[float], list[float]] = ([], [], [])
        number = 0
        for k in range(rounds + 1):
            self.move()
            theirs = self.collide() if k % 2 else None
            start = perf_counter()
            number = ours(self.poses)
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


def all_contacts(shapes: ShapeSet, poses: np.ndarray) -> int:
    """How many pairs penetrate or touch, with their depths, normals and witness points."""
    return int(contacts(shapes, poses=poses, distances=False, regions=False).intersects.sum())


def all_that_intersect(shapes: ShapeSet, poses: np.ndarray) -> int:
    """How many pairs do, and nothing else of them."""
    pairs = candidate_pairs(*shapes.bounds(poses)).pairs
    return int(pairs_intersect(shapes, pairs, poses=poses).sum())


def scene_of_boxes(peer: Coal, count: int, rounds: int, goal: float) -> Row:
    sizes = np.random.default_rng(3).uniform(0.6, 1.4, (count, 3))
    scene = Scene(peer, [peer.coal.Box(*size) for size in sizes], 1.1, True)
    shapes = ShapeSet([Box((0, 0, 0), size) for size in sizes])
    number, mine, theirs, note = scene.frames(lambda poses: all_contacts(shapes, poses), rounds)
    words = f"3 scene of {count:,} boxes, poses in, contacts out ({number:,} pairs)"
    return row(words, mine, theirs, goal, note)


def scene_of_hulls(peer: Coal, count: int, rounds: int, deep: bool = False, different: int | None = None) -> Row:
    """Hulls of which so many are different, the others copies of them."""
    rng = np.random.default_rng(6)
    known = [ConvexHull(hull_of_sphere(rng, radius=0.5)) for _ in range(min(count, different or count))]
    geometries = [peer.shape(hull)[0] for hull in known]
    scene = Scene(peer, [geometries[k % len(known)] for k in range(count)], 0.9, deep)
    shapes = ShapeSet([known[k % len(known)] for k in range(count)])
    ask = all_contacts if deep else all_that_intersect
    number, mine, theirs, note = scene.frames(lambda poses: ask(shapes, poses), rounds)
    row_number, answer, goal = ("6", "contacts out", 1.5) if deep else ("5", "yes/no", 4.0)
    words = f"{row_number} scene of {count:,} hulls of 32 v, poses in, {answer} ({number:,} pairs)"
    return row(words, mine, theirs, goal, note)


def hulls_that_move_little(peer: Coal, quick: bool) -> Row:
    """Hulls of which every one moves by a thousandth of its size and turns by as much in each frame."""
    count, number, rounds = (1_000, 400, 5) if quick else (10_000, 2_000, 15)
    pairs = pairs_of_hulls(peer, 32, number, count)
    rng = np.random.default_rng(8)
    shapes = pairs.shapes
    places = {id(a[0]): a[1] for a in pairs.arguments} | {id(a[2]): a[3] for a in pairs.arguments}
    moving = [(k, places[id(shape)]) for k, (shape, _) in enumerate(pairs.made) if id(shape) in places]
    poses = np.tile(np.eye(4), (number, 1, 1))
    start = contacts(shapes, pairs.pairs, poses=poses, regions=False)
    spent: tuple[list[float], list[float]] = ([], [])
    wrong = 0
    for _ in range(rounds):
        # All turn about the origin, which is not far.
        angle = 1e-3 * rng.normal(size=(number, 3))
        across = np.zeros((number, 3, 3))
        for c in range(3):
            across[:, (c + 1) % 3, (c + 2) % 3], across[:, (c + 2) % 3, (c + 1) % 3] = -angle[:, c], angle[:, c]
        axes = np.linalg.qr(poses[:, :3, :3] + across @ poses[:, :3, :3])[0]
        axes *= np.sign(np.einsum("nii->ni", axes))[:, None, :]
        poses = poses.copy()
        poses[:, :3, :3], poses[:, :3, 3] = axes, poses[:, :3, 3] + 1e-3 * rng.normal(size=(number, 3))
        for k, place in moving:
            place.setRotation(np.ascontiguousarray(poses[k, :3, :3]))
            place.setTranslation(poses[k, :3, 3].copy())
        begin = perf_counter()
        said = pairs_intersect(shapes, pairs.pairs, poses=poses, start=start)
        spent[0].append(perf_counter() - begin)
        begin = perf_counter()
        theirs = pairs.yes()
        spent[1].append(perf_counter() - begin)
        for k in np.flatnonzero(said != theirs).tolist():
            a, b = (shapes[n].transformed(poses[n]) for n in pairs.pairs[k].tolist())
            assert said[k] == (contact(a, b).signed_distance <= 0.0)
            wrong += 1
    ours, other = median(spent[0]), median(spent[1])
    note = f"coal wrong {wrong} times; start: contacts of the first frame, {rounds} frames"
    return row("8 hulls 32 v that move by 1e-3, yes/no, a pair", ours, other, 10.0, note, count)


def many_poses(quick: bool) -> Row:
    """Twenty hulls in many poses, in pairs one after the other, against transforming each and asking then."""
    rng, count = np.random.default_rng(19), 1_000 if quick else 33_737
    local = [ConvexHull(hull_of_sphere(rng, 60)) for _ in range(20)]
    shapes = ShapeSet([local[k % 20] for k in range(count)])
    poses = random_poses(rng, count, 0.8 * count ** (1 / 3))
    poses[1::2, :3, 3] = poses[: count - 1 : 2, :3, 3] + rng.uniform(-1.6, 1.6, (count // 2, 3))
    pairs = np.arange(count - count % 2).reshape(-1, 2)
    options: dict[str, Any] = {"distances": False, "regions": False}

    def one_by_one() -> Any:
        return contacts([shape.transformed(pose) for shape, pose in zip(shapes, poses, strict=True)], pairs, **options)

    found, cold, mine, other = alternate(
        lambda: contacts(shapes, pairs, poses=poses, **options), one_by_one, 1 if quick else 2
    )
    assert (found.relation == cold.relation).all()
    assert np.allclose(found.signed_distance[cold.intersects], cold.signed_distance[cold.intersects], atol=1e-9)
    said, _, yes, _ = alternate(lambda: pairs_intersect(shapes, pairs, poses=poses), lambda: None, 3)
    assert np.array_equal(said, found.intersects)
    note = (
        f"in {len(pairs):,} pairs; with the depths of the {found.intersects.mean():.0%} that overlap: yes or no alone "
        f"{duration(yes)}; goal: 0.5 s for the shapes"
    )
    return row(f"19 {count:,} poses of hulls of 60 v", mine, other, None, note, peer="transformed")


def two_hulls_in_stacked_poses(peer: Coal, quick: bool) -> list[Row]:
    """Ten thousand poses of two hulls in one call, against one call for each, and coal in a loop."""
    rng, count = np.random.default_rng(21), 500 if quick else 10_000
    pair = [ConvexHull(hull_of_sphere(rng, 32)) for _ in range(2)]
    shapes, poses = ShapeSet(pair), random_poses(rng, 2 * count, 1.4).reshape(count, 2, 4, 4)
    arguments = [peer.shape(hull) for hull in pair]

    def ask(stacked: np.ndarray) -> Any:
        return contacts(shapes, [[0, 1]], poses=stacked, reproducible=True, regions=False)

    def theirs() -> list[float]:
        distance, request, result, said = peer.coal.distance, peer.distance_request, peer.distances, []
        (one, at), (other, place) = arguments
        for first, second in poses:
            for to, pose in (at, first), (place, second):
                to.setRotation(np.ascontiguousarray(pose[:3, :3]))
                to.setTranslation(pose[:3, 3].copy())
            result.clear()
            said.append(distance(one, at, other, place, request, result))
        return said

    found, said, mine, his = alternate(lambda: ask(poses), theirs, 3)
    apart = found.signed_distance > 0.0
    assert np.allclose(found.signed_distance[apart], np.array(said)[apart], atol=1e-5)
    calls, _, each, _ = alternate(lambda: [ask(matrices) for matrices in poses[:200]], lambda: None, 1)
    assert [call.signed_distance[0] for call in calls] == found.signed_distance[:200].tolist()
    note = f"one call for each pose: {duration(each / 200)} a pose"
    return [row(f"{count:,} poses of two hulls of 32 v, one call, a pose", mine, his, None, note, count)]


def placing(quick: bool) -> list[Row]:
    """One box against 200 of a set, and a set that grows, by one box at a time."""
    rng, count = np.random.default_rng(22), 200 if quick else 1_000
    boxes = [Box(rng.uniform(0, 10, 3), rng.uniform(0.5, 1.5, 3), rng.normal(size=4)) for _ in range(count)]
    placed, one = ShapeSet(boxes[:200]), [Box((5, 5, 5), (1.5, 1.5, 1.5))]
    meet = len(pairs_intersect(one, others=placed))
    ours, together = in_turn([lambda: pairs_intersect(one, others=placed), lambda: contacts(one, others=placed)], 9)
    note = f"{meet} of them meet it; their contacts: {duration(together)}"
    rows = [Row("one box against 200 of a set, which meet it", ours, {}, {}, (note,))]
    sets = ShapeSet(boxes[:10]), ShapeSet(boxes[:-1])
    for known in sets:
        contacts(known, regions=False)
    few, many, new = in_turn(
        [*(lambda known=known: known.extended(boxes[-1:]) for known in sets), lambda: ShapeSet(boxes)], 9
    )
    note = f"the 11th: {duration(few)}; a new set of all, before its tables are made: {duration(new)}"
    return [*rows, Row(f"the {count:,}th box of a set that grows", many, {}, {}, (note,))]


def poses_against_parry(threads: int, quick: bool) -> list[Row]:
    """Two shapes in many poses each: yes or no. In a process of its own, for the sake of the threads."""
    parry = Parry(threads)
    rng, count = np.random.default_rng(20), 2_000 if quick else 20_000
    both: list[tuple[str, list[Polytope], float, float]] = [
        ("boxes", [Box((0, 0, 0), (1.0, 1.2, 0.8)), Box((0, 0, 0), (1.4, 0.9, 1.1))], 1.6, 5.0),
        ("hulls 20 v", [ConvexHull(hull_of_sphere(rng, 20, 0.7)) for _ in range(2)], 1.6, 1.8),
    ]
    rows = []
    for words, (a, b), room, goal in both:
        first, second = random_poses(rng, count, room), random_poses(rng, count, room)
        shapes, poses = ShapeSet([a] * count + [b] * count), np.concatenate([first, second])
        pairs = np.stack([np.arange(count), count + np.arange(count)], axis=1)
        ask = parry.in_poses(a, b, first, second)
        said, theirs, mine, his = alternate(
            lambda shapes=shapes, pairs=pairs, poses=poses: pairs_intersect(shapes, pairs, poses=poses), ask, 11
        )
        for k in np.flatnonzero(said != theirs).tolist():
            distance = contact(a.transformed(first[k]), b.transformed(second[k])).signed_distance
            assert (distance <= 0.0) == said[k]
            assert abs(distance) <= 1e-4, distance
        name = f"20 {words} in poses, yes/no, {said.mean():.0%} overlap, its threads: {threads}, a pair"
        rows.append(row(name, mine, his, goal if threads == 1 else None, "", count, "py-parry3d"))
    return rows


def main(quick: bool = False) -> None:
    """Print the table."""
    rounds = 4 if quick else 15
    lines: list[Row] = []
    try:
        peer = Coal()
    except ImportError as error:
        print(f"coal is not here: scenes are left out ({error}).")
    else:
        counts = (1_000,) if quick else (1_000, 5_000)
        lines += [scene_of_boxes(peer, count, rounds, goal) for count, goal in ((1_000, 4.0), (5_000, 7.0))]
        lines += [scene_of_hulls(peer, count, rounds, deep) for deep in (False, True) for count in counts]
        lines.append(hulls_that_move_little(peer, quick))
        lines += two_hulls_in_stacked_poses(peer, quick)
    lines += [many_poses(quick), *placing(quick)]
    try:
        import_module("py_parry3d")
    except ImportError as error:
        print(f"py-parry3d is not here and left out ({error}).")
    else:
        for threads in dict.fromkeys((1, os.cpu_count() or 1)):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                lines += process.submit(poses_against_parry, threads, quick).result()
    show(lines)
