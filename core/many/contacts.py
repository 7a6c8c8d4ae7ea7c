# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for many pairs: what `contact` returns of one pair, as arrays with one row per pair.

1. Check the arguments; without pairs, take those whose bounding boxes are near (broad phase).
2. Take over the rows of the last result whose shapes are the same objects.
3. Solve boxes and polytopes in batches (`batched`) where there are many, everything else by `contact`.

Source: S0.4, S1.3, S4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

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
            `shape.transformed(pose)` for each, in one step for all boxes and polytopes.
        others: a second set: A of a pair is then of `shapes` and B of `others`. Without it both are of `shapes`.
        other_poses: the poses of `others`.
        clearance, contact_tolerance, method: see `contact`. With pairs, the tolerance may be an array (p,), one of each
            pair. Methods other than "auto" solve pair by pair.
        budget: seconds for each pair of compounds or meshes; 0 for the first answers: see `contact`.
        distances: False: pairs of convex shapes shown to be SEPARATED may get bounds only, which is much faster; see
            `Status.BOUNDS_ONLY`.
        depths: False: no depth is searched of compounds and meshes deeper in each other than the contact tolerance,
            which is much faster; see `Status.BOUNDS_ONLY`.
        regions: False: without contact regions, which is faster.
        certificates: keep the shapes, so that `Contacts.contact` can make the certificate of a row when it is asked.
        reproducible: the row of a pair is the same to the last bit whatever other pairs and shapes there are in the
            call, as `combine` needs it; slower for few pairs. False: the same call still gives the same bytes.
        start: the last result, with its shapes (see certificates). Pairs of shapes that are the same objects, in the
            same poses, are taken over; where distances are not needed, others that moved little, or that the last
            normal separates, are SEPARATED without a search.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raise ValueError, naming the argument, when one is not a shape or has another dimension, a pair has no such shape,
    a shape cannot be transformed by its pose, or an option is not valid; Cancelled when `progress` returns False.

    >>> row = [Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.75, 3)]
    >>> found = contacts(row)
    >>> print(found.pairs, found.depth, found.relation[0])
    [[0 1]] [0.25] penetrating
    """
    scene = PosedShapes.of(shapes, poses, others, other_poses, copy=certificates or regions)
    if not (isinstance(method, str) and method in _METHODS):
        raise ValueError(f'method must be "auto", "sat", "gjk" or "both", not {method!r}')
    clearance = as_length("clearance", clearance)
    if budget is not None:
        budget = as_length("budget", budget)
    validate_start(start)
    report_progress(progress, 0.0)
    begin = _BROAD_PHASE if pairs is None else 0.0
    tolerance: float | FloatArray
    if pairs is None:
        tolerance = as_length("contact_tolerance", contact_tolerance)
        bodies = scene.bodies()
        indices = np.zeros((0, 2), dtype=np.intp)
        if scene.count and (second := len(scene) - scene.count if others is not None else None) != 0:
            near = subrange(progress, 0.0, begin)
            indices = near_pairs(bodies.sizes, scene.count, second, clearance, tolerance, near)
        numbers = scene.numbers(indices)
    else:
        indices = validate_pairs(pairs, scene.count, len(scene) if others is None else len(scene) - scene.count)
        tolerance = validate_tolerance(contact_tolerance, len(indices))
        bodies, numbers = scene.bodies_of(scene.numbers(indices))
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
    _solve_singly(result, left, method, depths, solved, subrange(progress, 1.0 - len(left) / total, 1.0))
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
        **{name: read_only(getattr(result, name)) for name in ARRAYS},
    )


def pairs_intersect(
    shapes: Sequence[Shape],
    pairs: ArrayLike,
    *,
    poses: ArrayLike | None = None,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> BoolArray:
    """Return (p,) whether the shapes of each pair intersect, touching included, and nothing else.

    The same as `contacts(shapes, pairs, poses=poses).intersects` outside of the promise's margin, 1e-10 L + 64 eps M of
    touching, with L the smaller shape's extent and M the largest coordinate; much faster. `pairs` is (p, 2), indices of
    shapes, which must all have one dimension. `start` is a result of `contacts` of the same shapes, not long ago: pairs
    that moved less since then than they were apart or deep are not tested.

    Raise ValueError, naming the argument, when one is not a shape or has another dimension, a pair has no such shape,
    or a shape cannot be transformed by its pose; Cancelled when `progress` returns False. Source: S0.4, S1.8, S4.4.

    >>> print(pairs_intersect([Sphere([x, 0, 0], 1) for x in (0, 1, 5)], [[0, 1], [1, 2]]))
    [ True False]
    """
    scene = PosedShapes.of(shapes, poses, None, None)
    indices = validate_pairs(pairs, len(scene), len(scene))
    validate_start(start)
    report_progress(progress, 0.0)
    result, rows = np.zeros(len(indices), dtype=bool), np.arange(len(indices))
    normals = None
    if start is not None and (moved := bounds_after_motion(indices, scene, start)) is not None:
        lower, upper, before = moved
        result[upper < 0.0] = True
        rows = np.flatnonzero((lower <= 0.0) & (upper >= 0.0))
        before = before.take(rows)
        normals = (start.normal.take(before, axis=0) * (start.signed_distance.take(before) > 0.0)[:, None]).T
    # Of poses that are asked about once, those of a few pairs stay in the cache.
    once = scene.matrices is not None and len(rows) <= len(scene)
    for part in chunks(len(rows), _PAIRS_IN_POSES if once else len(rows)):
        chosen, across = (part, None) if normals is None else (rows[part], normals[:, part])
        done = subrange(progress, part.start / len(rows), part.stop / len(rows))
        result[chosen] = _intersecting(scene, indices[chosen], across, done)
    report_progress(progress, 1.0)
    return result


def _intersecting(
    scene: PosedShapes, indices: IntArray, normals: FloatArray | None, progress: Progress | None
) -> BoolArray:
    """Return whether the shapes of each pair (p, 2) intersect; `normals` (dim, p) may be those of empty slabs."""
    bodies, numbers = scene.bodies_of(indices)
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


def validate_start(start: Contacts | None) -> None:
    """Raise ValueError unless `start` is a result of many pairs, or none."""
    if start is not None and not isinstance(start, Contacts):
        raise ValueError(f"start must be what contacts(shapes) returned, not {type(start).__name__}")


def _solve_singly(
    result: PairContacts,
    rows: IntArray,
    method: Method,
    depths: bool,
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
            progress=part,
        )
        result.relation[row], result.status[row] = RELATION_CODES[found.relation], STATUS_CODES[found.status]
        result.regions.store(row, found.region)
        for name, array in arrays:
            array[row] = getattr(found, name)
        if not (isinstance(a, ConvexShape) and isinstance(b, ConvexShape)):
            solved[row] = found


def near_pairs(
    sizes: Sizes, count: int, others: int | None, clearance: float, contact_tolerance: float, progress: Progress | None
) -> IntArray:
    """Return the pairs of the first `count` shapes, or of these and the `others` after them, whose bounding boxes are
    within the clearance or the band of TOUCHING of each other."""
    # Each box is enlarged by the whole band if its shape is the smaller one, or the other is a point.
    margin = (contact_tolerance + PROMISE_EXTENT) * sizes.extents
    margin += PROMISE_ROUNDING * EPS * sizes.magnitudes.max(initial=0.0)
    low, high = np.maximum(sizes.low - margin, -LARGEST_COORDINATE), np.minimum(sizes.high + margin, LARGEST_COORDINATE)
    low, high = low.T, high.T
    itself = others is None
    second = (low, high) if itself else (low[count:], high[count:])
    low, high = low[:count], high[:count]
    if len(low) * len(second[0]) <= _FEW_BOXES:
        near = (second[0] - high[:, None] <= clearance) & (low[:, None] - second[1] <= clearance)
        both = near.all(axis=2)
        return np.argwhere(np.triu(both, 1) if itself else both)
    from ..broad_phase.candidate_pairs import candidate_pairs

    other = () if itself else second
    return candidate_pairs(low, high, *other, margin=clearance, progress=progress).pairs.copy()
