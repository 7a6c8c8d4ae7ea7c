# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from the last contacts of many pairs for those of now.

1. Pairs of which nothing has changed are taken over.
2. Bounds of the others, less how far their shapes moved, show which are apart, or intersect, still.
3. The last normals are tried first.

Source: S1.8, S4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..result import Contact, Status
from ..shapes.shape import Shape
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import length
from .batched.coherence import motion_bounds
from .batched.convex_pairs import ARRAYS, STATUS_CODES, PairContacts
from .pair_arguments import tolerance_of
from .posed_shapes import PosedShapes
from .result import Contacts


def take_over(
    result: PairContacts,
    pairs: IntArray,
    scene: PosedShapes,
    start: Contacts,
    same_options: bool,
    solved: dict[int, Contact],
) -> IntArray:
    """Fill in the rows of `start` of which nothing has changed, or that are SEPARATED still, and the normals to start
    from of those with the same indices; return the rows that are left."""
    rows = np.arange(len(pairs))
    if (scene.second is None) != (start.others is None) or start.shapes is None:
        return rows
    shapes, others = start.shapes, start.shapes if start.others is None else start.others
    find = _row_finder(start.pairs, len(others))
    i, j = pairs.T
    before, known = find(np.where(i < len(shapes), i, -1), np.where(j < len(others), j, -1))
    result.start[known] = start.normal[before[known]]
    if same_options and (start.region is not None or not result.with_regions):
        rows = _take_over_unchanged(result, pairs, scene, start, find, solved)
    if not result.distances and (moved := bounds_after_motion(pairs, scene, start)) is not None:
        lower, upper = moved[0][rows], moved[1][rows]
        apart = lower > np.maximum(result.bands(rows)[0], result.clearance)
        result.store_bounds(rows[apart], lower[apart], result.start[rows[apart]].T, upper[apart])
        rows = rows[~apart]
    return rows


def _take_over_unchanged(
    result: PairContacts,
    pairs: IntArray,
    scene: PosedShapes,
    start: Contacts,
    find: Callable[[IntArray, IntArray], tuple[IntArray, BoolArray]],
    solved: dict[int, Contact],
) -> IntArray:
    """Fill in the rows of `start` of which nothing has changed; return the rows that are left."""
    assert start.shapes is not None
    i, j = pairs.T
    # Shapes are frozen, and `start` keeps them alive: the same object is the same shape.
    of_first = of_second = _places_of(scene.first, scene.poses, start.shapes, start.poses)
    if scene.second is not None and start.others is not None:
        of_second = _places_of(scene.second, scene.other_poses, start.others, start.other_poses)
    before, known = find(of_first[i], of_second[j])
    if result.distances:
        # Those that intersect have no distance with the same options either.
        known &= (start._statuses != STATUS_CODES[Status.BOUNDS_ONLY])[before] | np.isnan(start.signed_distance[before])
    known &= tolerance_of(result.contact_tolerance, np.arange(len(pairs))) == tolerance_of(
        start.contact_tolerance, before
    )
    taken, before = np.flatnonzero(known), before[known]
    for name in ARRAYS:
        getattr(result, name)[taken] = getattr(start, name)[before]
    result.relation[taken], result.status[taken] = start._relations[before], start._statuses[before]
    if start.region is not None:
        result.regions.take_over(taken, start.region, before)
    if start._solved:
        for row, old in zip(taken.tolist(), before.tolist(), strict=True):
            if old in start._solved:
                solved[row] = start._solved[old]
    return np.flatnonzero(~known)


def bounds_after_motion(
    pairs: IntArray, scene: PosedShapes, start: Contacts
) -> tuple[FloatArray, FloatArray, IntArray] | None:
    """Return bounds (p,) of the signed distances of pairs, infinite where none are known, from those of `start` and how
    far shapes moved since then: of the same shapes at the same indices; and which rows (p,) of `start` these are. None
    where there are no such shapes."""
    if scene.second is not None or start.others is not None or start.shapes is None or not len(start):
        return None
    count, tables = min(len(scene), len(start.shapes)), scene.known._tables
    if count == 0 or start.shapes[0].dim != tables.dim:
        return None
    still = np.broadcast_to(np.eye(tables.dim + 1), (len(scene), tables.dim + 1, tables.dim + 1))
    before, now = (still if poses is None else poses for poses in (start.poses, scene.poses))
    known = np.arange(len(scene)) < count
    if scene.first is not start.shapes:
        known[:count] = [a is b for a, b in zip(scene.first, start.shapes, strict=False)]
    numbers = np.flatnonzero(known)
    step, motion = np.zeros((tables.dim, len(scene))), np.full(len(scene), np.inf)
    shapes = scene.known._index.take(numbers)
    bounds = motion_bounds(tables.sizes.take(shapes), tables.radii.take(shapes), before[numbers], now[numbers])
    step[:, numbers], motion[numbers] = bounds
    i, j = np.ascontiguousarray(pairs.T)
    moved = length(step.take(j, axis=1) - step.take(i, axis=1)) + motion.take(i) + motion.take(j)
    rows, found = _row_finder(start.pairs, len(start.shapes))(*(np.where(k < count, k, -1) for k in (i, j)))
    moved[~found] = np.inf
    lower, upper = start.lower_bound.take(rows) - moved, start.upper_bound.take(rows) + moved
    # What a small rotation frees may need a long translation, where it is not convex.
    convex = tables.is_convex.take(scene.known._index)
    upper[~(convex.take(i) & convex.take(j))] = np.inf
    # Farther from its hole a shape is inside a mesh, though no surfaces have met.
    encloses = ~convex
    if encloses.any():
        from ..meshes.enclosure import is_enclosure

        encloses[encloses] = [is_enclosure(scene.first[k]) for k in np.flatnonzero(~convex).tolist()]
    lower[encloses.take(i) | encloses.take(j)] = -np.inf
    return lower, upper, rows


def _row_finder(old: IntArray, count: int) -> Callable[[IntArray, IntArray], tuple[IntArray, BoolArray]]:
    """Return a function of indices i (p,) and j (p,) below `count`, negative for none, that returns the rows of `old`
    with them, and whether there are such."""
    codes = old[:, 0] * count + old[:, 1]
    order: list[IntArray] = []

    def find(i: IntArray, j: IntArray) -> tuple[IntArray, BoolArray]:
        wanted = np.where((i >= 0) & (j >= 0), i * count + j, -1)
        if np.array_equal(wanted, codes):
            return np.arange(len(codes)), np.ones(len(codes), dtype=bool)
        if not order:
            order.append(np.argsort(codes, kind="stable"))
        places = np.minimum(np.searchsorted(codes, wanted, sorter=order[0]), len(codes) - 1)
        found = order[0][places]
        return found, codes[found] == wanted

    return find


def _places_of(
    shapes: Sequence[Shape], poses: FloatArray | None, old: Sequence[Shape], old_poses: FloatArray | None
) -> IntArray:
    """Return (n,) the index of each shape, in the same pose, among the old ones; -1 where it is none of them."""
    if poses is None and old_poses is None:
        if shapes is old:
            return np.arange(len(shapes))
        indices = {id(shape): k for k, shape in enumerate(old)}
        return np.array([indices.get(id(shape), -1) for shape in shapes], dtype=np.intp)
    if poses is None or old_poses is None:
        return np.full(len(shapes), -1)
    both = min(len(shapes), len(old))
    same = np.zeros(len(shapes), dtype=bool)
    same[:both] = (poses[:both] == old_poses[:both]).all(axis=(1, 2))
    if shapes is not old:
        same[:both] &= [a is b for a, b in zip(shapes, old, strict=False)]
    return np.where(same, np.arange(len(shapes)), -1)
