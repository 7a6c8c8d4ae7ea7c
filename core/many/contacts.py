# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for many pairs: what `contact` returns of one pair, as arrays with one row per pair.

1. Check the arguments; without pairs, take those whose bounding boxes are near (broad phase).
2. Take over the rows of the last result whose shapes are the same objects.
3. Solve boxes and polytopes in batches (`batched`) where there are many, everything else by `contact`.

Source: S0.4, S1.3, S4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_length
from ..contact import contact
from ..narrow_phase.gjk import gjk_intersects
from ..progress import Progress, equal_parts, report_progress, subrange, tracked
from ..result import Contact, Method, Relation
from ..runs import chunks
from ..shapes.curved_shape import ConvexShape
from ..shapes.polytope import Polytope
from ..shapes.shape import Shape
from ..tolerance import DEFAULT_CONTACT_TOLERANCE, EPS, LARGEST_COORDINATE, PROMISE_EXTENT, PROMISE_ROUNDING
from ..types import BoolArray, FloatArray, IntArray, read_only
from .batched.convex_pairs import ARRAYS, RELATION_CODES, STATUS_CODES, PairContacts, intersecting_pairs
from .batched.sizes import Sizes
from .last_contacts import bounds_after_motion, take_over
from .pair_arguments import tolerance_of, validate_pairs, validate_tolerance
from .posed_shapes import PosedShapes
from .result import Contacts

_METHODS = get_args(Method)
_FEW_BOXES = 2_000
"""Pairs of bounding boxes that are tested faster than sorted."""
_FEW_BOXES_IN_POSES = 30_000
"""The same in each of many poses, and pairs that are tested at once."""
_PAIRS_IN_POSES = 5_120
"""Pairs of shapes in poses that are tested at once where no pose is in many of them."""
_BROAD_PHASE = 0.05
"""Fraction of the work that finding the pairs is."""


def contacts(
    shapes: Sequence[Shape],
    pairs: ArrayLike | None = None,
    *,
    poses: ArrayLike | None = None,
    others: Sequence[Shape] | None = None,
    other_poses: ArrayLike | None = None,
    clearance: float = 0.0,
    contact_tolerance: float | ArrayLike = DEFAULT_CONTACT_TOLERANCE,
    method: Method = "auto",
    budget: float | None = None,
    distances: bool = True,
    depths: bool = True,
    regions: bool = True,
    certificates: bool = True,
    reproducible: bool = False,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> Contacts:
    """Return the contacts of many pairs of shapes, as `contact` returns that of one.

    Args:
        shapes: convex shapes, compounds and meshes, mixed, of one dimension; or a `ShapeSet` of them, which is faster
            when it is asked about again.
        pairs: (p, 2) indices of shapes, in any order. None: all pairs whose bounding boxes are within the clearance or
            the band of TOUCHING, in ascending order; pairs left out are SEPARATED.
        poses: (n, 4, 4) affine matrices, in the plane (n, 3, 3), one for each shape: the same as with
            `shape.transformed(pose)` for each, in one step for all boxes and polytopes. Or (k, n, 4, 4), several for
            each shape: as k calls, the pairs of one pose after those of the other; `Contacts.pose_index` says in which.
        others: a second set: A of a pair is then of `shapes` and B of `others`. Without it both are of `shapes`.
        other_poses: the poses of `others`; (m, 4, 4) or (k, m, 4, 4), whichever `poses` are.
        clearance, contact_tolerance, method: see `contact`. With pairs, the tolerance may be an array (p,), one of each
            pair. Methods other than "auto" solve pair by pair.
        budget: seconds for each pair of compounds or meshes; 0 for the first answers: see `contact`.
        distances: False: pairs of convex shapes shown to be SEPARATED may get bounds only, which is much faster; see
            `Status.BOUNDS_ONLY`.
        depths: `depth` of `contact`, for all pairs: False is faster the more compounds and meshes penetrate.
        regions: False: without contact regions, which is faster; so are the rows' `contact` of compounds and meshes.
        certificates: keep the shapes, so that `Contacts.contact` can make the certificate of a row when it is asked.
        reproducible: the row of a pair is the same to the last bit whatever other pairs and shapes there are in the
            call, as `combine` needs it; slower for few pairs. False: the same call still gives the same bytes.
        start: the last result, with its shapes (see certificates). Pairs of shapes that are the same objects, in the
            same poses, are taken over; where distances are not needed, others that moved little, or that the last
            normal separates, are SEPARATED without a search. Not with several poses for each shape.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raise ValueError, naming the argument, when one is not a shape or has another dimension, a pair has no such shape,
    a shape cannot be transformed by its pose, or an option is not valid; Cancelled when `progress` returns False.

    >>> row = [Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.75, 3)]
    >>> found = contacts(row)
    >>> print(found.pairs, found.depth, found.relation[0])
    [[0 1]] [0.25] penetrating
    >>> poses = np.tile(np.eye(4), (2, 3, 1, 1))  # two of each shape
    >>> poses[:, 1, 0, 3] = 0.0, 2.0
    >>> found = contacts(row, [[0, 1]], poses=poses)
    >>> print(found.pose_index, found.signed_distance)
    [0 1] [-0.25  1.75]
    """
    scene = PosedShapes.of(shapes, poses, others, other_poses, copy=certificates or regions)
    if not (isinstance(method, str) and method in _METHODS):
        raise ValueError(f'method must be "auto", "sat", "gjk" or "both", not {method!r}')
    clearance = as_length("clearance", clearance)
    if budget is not None:
        budget = as_length("budget", budget)
    validate_start(start, scene)
    report_progress(progress, 0.0)
    begin = _BROAD_PHASE if pairs is None else 0.0
    tolerance: float | FloatArray
    if pairs is None:
        tolerance = as_length("contact_tolerance", contact_tolerance)
        indices, pose_index = near_pairs(scene, clearance, tolerance, subrange(progress, 0.0, begin))
    else:
        indices = validate_pairs(pairs, *scene.counts)
        tolerance = validate_tolerance(contact_tolerance, len(indices))
        indices, pose_index = scene.in_each_pose(indices)
        if scene.stack is not None and not isinstance(tolerance, float):
            tolerance = read_only(np.tile(tolerance, scene.stack))
    bodies, numbers = scene.bodies_of(scene.numbers(indices, pose_index), every=pairs is None)
    result = PairContacts(bodies, numbers, clearance, tolerance, budget, distances, regions, reproducible)
    solved: dict[int, Contact] = {}
    left = np.arange(len(indices))
    if start is not None and start.shapes is not None and len(start) and start.normal.shape[1] == result.dim:
        same = (start.clearance, start.method, start.budget, start.depths) == (clearance, method, budget, depths)
        same &= start.reproducible or not reproducible
        left = take_over(result, indices, scene, start, same, solved)
    progress = subrange(progress, begin, 1.0)
    total = max(1, len(left))
    if method == "auto":
        left = result.solve(left, progress)
    _solve_singly(result, left, method, depths, regions, solved, subrange(progress, 1.0 - len(left) / total, 1.0))
    if not regions:
        met = np.flatnonzero(result.relation < RELATION_CODES[Relation.SEPARATED])
        for column in result.center.T:
            column[met] = np.nan
    report_progress(progress, 1.0)
    return Contacts(
        pairs=read_only(indices),
        distances=distances,
        depths=depths,
        region=result.regions if regions else None,
        clearance=clearance,
        contact_tolerance=tolerance,
        method=method,
        budget=budget,
        reproducible=reproducible,
        shapes=scene.first if certificates else None,
        others=scene.second if certificates else None,
        poses=scene.poses if certificates else None,
        other_poses=scene.other_poses if certificates else None,
        _relations=read_only(result.relation),
        _statuses=read_only(result.status),
        _solved=solved if certificates else {},
        pose_index=None if pose_index is None else read_only(pose_index),
        **{name: read_only(getattr(result, name)) for name in ARRAYS},
    )


@overload
def pairs_intersect(
    shapes: Sequence[Shape],
    pairs: None = None,
    *,
    poses: ArrayLike | None = None,
    others: Sequence[Shape] | None = None,
    other_poses: ArrayLike | None = None,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> IntArray: ...


@overload
def pairs_intersect(
    shapes: Sequence[Shape],
    pairs: ArrayLike,
    *,
    poses: ArrayLike | None = None,
    others: Sequence[Shape] | None = None,
    other_poses: ArrayLike | None = None,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> BoolArray: ...


def pairs_intersect(
    shapes: Sequence[Shape],
    pairs: ArrayLike | None = None,
    *,
    poses: ArrayLike | None = None,
    others: Sequence[Shape] | None = None,
    other_poses: ArrayLike | None = None,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> BoolArray | IntArray:
    """Return whether the shapes of each pair intersect, touching included; without `pairs`, which pairs do.

    With pairs (p, 2) the result is (p,) bool, of several poses (k, p). Without, it is (q, 2), the pairs that intersect
    in ascending order; of several poses (q, 3), the pose first. The same as `intersects` of `contacts`, with the same
    arguments, outside of the promise's margin, 1e-10 L + 64 eps M of touching, with L the smaller shape's extent and M
    the largest coordinate; much faster. `start` is a result of `contacts` of the same shapes, not long ago: pairs that
    moved less since then than they were apart or deep are not tested.

    Raise ValueError, naming the argument, when one is not a shape or has another dimension, a pair has no such shape,
    or a shape cannot be transformed by its pose; Cancelled when `progress` returns False. Source: S0.4, S1.8, S4.4.

    >>> row = [Sphere([x, 0, 0], 1) for x in (0, 1, 5)]
    >>> print(pairs_intersect(row, [[0, 1], [1, 2]]), pairs_intersect(row))
    [ True False] [[0 1]]
    >>> print(pairs_intersect([Sphere([5, 1, 0], 1)], others=row))
    [[0 2]]
    """
    scene = PosedShapes.of(shapes, poses, others, other_poses)
    validate_start(start, scene)
    report_progress(progress, 0.0)
    if pairs is None:
        begin = _BROAD_PHASE
        indices, pose_index = near_pairs(scene, 0.0, 0.0, subrange(progress, 0.0, begin))
    else:
        begin = 0.0
        given = validate_pairs(pairs, *scene.counts)
        indices, pose_index = scene.in_each_pose(given)
    result, rows = np.zeros(len(indices), dtype=bool), np.arange(len(indices))
    normals = None
    if start is not None and (moved := bounds_after_motion(indices, scene, start)) is not None:
        lower, upper, before = moved
        result[upper < 0.0] = True
        rows = np.flatnonzero((lower <= 0.0) & (upper >= 0.0))
        before = before.take(rows)
        normals = (start.normal.take(before, axis=0) * (start.signed_distance.take(before) > 0.0)[:, None]).T
    # Of poses that are asked about once, those of a few pairs stay in the cache.
    every, numbers = pairs is None, scene.numbers(indices, pose_index)
    once = not every and scene.all_bodies.poses is not None and len(rows) <= len(scene.all_bodies)
    for part in chunks(len(rows), _PAIRS_IN_POSES if once else len(rows)):
        chosen, across = (part, None) if normals is None else (rows[part], normals[:, part])
        done = subrange(progress, *(begin + (1.0 - begin) * k / len(rows) for k in (part.start, part.stop)))
        result[chosen] = _intersecting(scene, numbers[chosen], every, across, done)
    report_progress(progress, 1.0)
    if pairs is None:
        found = indices if pose_index is None else np.column_stack([pose_index, indices])
        return found[result]
    return result if scene.stack is None else result.reshape(scene.stack, len(given))


def _intersecting(
    scene: PosedShapes, numbers: IntArray, every: bool, normals: FloatArray | None, progress: Progress | None
) -> BoolArray:
    """Return whether the bodies of each pair (p, 2) intersect; `normals` (dim, p) may be those of empty slabs."""
    bodies, numbers = scene.bodies_of(numbers, every=every)
    result, left = intersecting_pairs(bodies, numbers, normals, progress)
    if not len(left):
        return result
    singly = subrange(progress, 1.0 - len(left) / len(numbers), 1.0)
    if not bodies.tables.is_convex.all():
        from ..meshes.mesh import Mesh
        from ..meshes.mesh_forest import meshes_intersect

        is_mesh = np.array([isinstance(shape, Mesh) for shape in bodies.tables.shapes], dtype=bool)[bodies.index]
        of_meshes = is_mesh[numbers[left]].all(axis=1)
        chosen, left = left[of_meshes], left[~of_meshes]
        used, places = np.unique(numbers[chosen], return_inverse=True)
        meshes = [mesh for n in used.tolist() if isinstance(mesh := bodies.shape(n), Mesh)]
        result[chosen] = meshes_intersect(meshes, places.reshape(-1, 2), singly)
    for k in tracked(left.tolist(), singly):
        a, b = (bodies.vertices(n) for n in numbers[k].tolist())
        if isinstance(a, Polytope) and isinstance(b, Polytope):
            result[k] = gjk_intersects(a, b)
        else:
            result[k] = contact(a, b).intersects
    return result


def validate_start(start: Contacts | None, scene: PosedShapes) -> None:
    """Raise ValueError unless `start` is a result of many pairs in one pose, as `scene` then is, or none."""
    if start is not None and not isinstance(start, Contacts):
        raise ValueError(f"start must be what contacts(shapes) returned, not {type(start).__name__}")
    if start is not None and (start.pose_index is not None or scene.stack is not None):
        raise ValueError("start: one pose for each shape expected, now and in the result to start from")


def _solve_singly(
    result: PairContacts,
    rows: IntArray,
    method: Method,
    depths: bool,
    regions: bool,
    solved: dict[int, Contact],
    progress: Progress | None,
) -> None:
    """Fill in rows by `contact`, and keep those of compounds and meshes in `solved`."""
    arrays = [(name, getattr(result, name)) for name in ARRAYS]
    for row, part in equal_parts(rows.tolist(), progress):
        report_progress(part, 0.0)
        a, b = result.shapes(row)
        found = contact(
            a,
            b,
            method=method,
            clearance=result.clearance,
            contact_tolerance=tolerance_of(result.contact_tolerance, row),
            budget=result.budget,
            depth=depths,
            regions=regions,
            progress=part,
        )
        result.relation[row], result.status[row] = RELATION_CODES[found.relation], STATUS_CODES[found.status]
        result.regions.store(row, found.region)
        for name, array in arrays:
            array[row] = getattr(found, name)
        if not (isinstance(a, ConvexShape) and isinstance(b, ConvexShape)):
            solved[row] = found


def near_pairs(
    scene: PosedShapes, clearance: float, contact_tolerance: float, progress: Progress | None
) -> tuple[IntArray, IntArray | None]:
    """Return the pairs (p, 2) of shapes whose bounding boxes are within the clearance or the band of TOUCHING of each
    other, and of several poses in which (p,), pose by pose and in ascending order."""
    (count, other_count), stack, itself = scene.counts, scene.stack, scene.other is None
    found = [np.zeros((0, 3), dtype=np.intp)]
    if count and other_count and stack != 0:
        boxes, others = (_widened(scene.bodies[k].sizes, contact_tolerance)[:, :, None] for k in (0, -1))
        if others.shape[-1] == other_count:  # one search for all poses of the first set
            near = _near(boxes, others, itself, clearance, _FEW_BOXES, progress)
            near[:, 0], near[:, 1] = np.divmod(near[:, 1], count)
            found.append(near)
        else:
            boxes, others = (
                of.reshape(*of.shape[:2], -1, each) for of, each in ((boxes, count), (others, other_count))
            )
            boxes = np.broadcast_to(boxes, (*others.shape[:3], count))
            for part in chunks(others.shape[2], _FEW_BOXES_IN_POSES // (count * other_count), progress):
                both = boxes[:, :, part], others[:, :, part]
                near = _near(*both, itself, clearance, _FEW_BOXES_IN_POSES, None)
                near[:, 0] += part.start
                found.append(near)
    rows = np.concatenate(found)
    return rows[:, 1:].copy(), None if stack is None else rows[:, 0].copy()


def near_boxes(sizes: Sizes, clearance: float, contact_tolerance: float, progress: Progress | None) -> IntArray:
    """Return the pairs (p, 2) of bounding boxes within the clearance or the band of TOUCHING of each other."""
    boxes = _widened(sizes, contact_tolerance)[:, :, None]
    return _near(boxes, boxes, True, clearance, _FEW_BOXES, progress)[:, 1:].copy()


def _widened(sizes: Sizes, contact_tolerance: float) -> FloatArray:
    """Return the lowest and highest corners (2, dim, n) of bounding boxes that are enlarged by the band."""
    # By the whole band, if the shape is the smaller one or the other is a point; rounding of the larger of two
    # magnitudes is no more than that of both.
    margin = (contact_tolerance + PROMISE_EXTENT) * sizes.extents + PROMISE_ROUNDING * EPS * sizes.magnitudes
    boxes = np.empty((2, *sizes.low.shape))
    np.subtract(sizes.low, margin, out=boxes[0])
    np.add(sizes.high, margin, out=boxes[1])
    return boxes


def _near(
    boxes: FloatArray, others: FloatArray, itself: bool, clearance: float, few: int, progress: Progress | None
) -> IntArray:
    """Return (p, 3) the pose and the pair of boxes (2, dim, k, n) and others (2, dim, k, m) within the clearance, of
    one pose where there are more than a `few` pairs."""
    (low, high), (other_low, other_high) = boxes, others
    if low.shape[-1] * other_low.shape[-1] <= few:
        near = other_low[:, :, None] - high[..., None] <= clearance
        near &= low[..., None] - other_high[:, :, None] <= clearance
        both = near.all(axis=0)
        return np.argwhere(np.triu(both, 1) if itself else both)
    from ..broad_phase.candidate_pairs import candidate_pairs

    corners = (low, high) if itself else (low, high, other_low, other_high)
    rows = (np.clip(of[:, 0].T, -LARGEST_COORDINATE, LARGEST_COORDINATE) for of in corners)
    pairs = candidate_pairs(*rows, margin=clearance, progress=progress).pairs
    return np.concatenate([np.zeros((len(pairs), 1), dtype=np.intp), pairs], axis=1)
