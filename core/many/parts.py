# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of a scene in parts, for many processes: cut by `partition`, answered by `contacts`, joined by `combine`.

A reproducible row of `contacts` does not depend on the pairs it is asked for with, so any cut gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_cloud, as_length, as_whole_number
from ..broad_phase.pair_order import split_pairs
from ..progress import Progress, report_progress
from ..result import Contact
from ..shapes.shape import Shape
from ..tolerance import DEFAULT_CONTACT_TOLERANCE
from ..types import FloatArray, IntArray, read_only
from .batched.convex_pairs import ARRAYS
from .batched.pair_regions import Regions
from .batched.sizes import Sizes
from .contacts import near_boxes
from .pair_arguments import validate_pairs
from .result import Contacts


def partition(
    bounds: tuple[ArrayLike, ArrayLike],
    parts: int,
    *,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    progress: Progress | None = None,
) -> list[IntArray]:
    """Return the pairs of shapes that `contacts(shapes)` finds near each other, in parts of about equal number.

    Args:
        bounds: (low, high), lowest and highest corners (n, dim) of the axis-aligned bounding boxes of the shapes, world
            frame, as `ShapeSet.bounds` returns them.
        parts: how many, 1 or more; those beyond the number of pairs are empty.
        clearance, contact_tolerance: as they are for `contacts`.
        progress: called with the fraction done, 0 to 1; False cancels.

    Each part is an array (p, 2) of indices of shapes, in ascending order. Every pair is in exactly one part, and pairs
    of one part are near each other: the pairs are cut in the order of Hilbert's curve through space. The same bounds
    give the same parts on every machine.

    Raise ValueError, naming the argument, when the bounds are not two such arrays, a low corner is above its high one,
    or an option is not valid; Cancelled when `progress` returns False. Source: S3.2.

    >>> shapes = ShapeSet([Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.75, 1.5, 2.25, 9)])
    >>> [part.tolist() for part in partition(shapes.bounds(), 2)]
    [[[0, 1]], [[1, 2], [2, 3]]]
    """
    low, high = _validate_bounds(bounds)
    number = as_whole_number("parts", parts, 1)
    clearance, contact_tolerance = as_length("clearance", clearance), as_length("contact_tolerance", contact_tolerance)
    report_progress(progress, 0.0)
    pairs = np.zeros((0, 2), dtype=np.intp)
    if len(low):
        sizes = Sizes(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T))
        pairs = near_boxes(sizes, clearance, contact_tolerance, progress)
    found = [pairs[rows] for rows in split_pairs(low, high, pairs, number)]
    report_progress(progress, 1.0)
    return found


def _validate_bounds(bounds: tuple[ArrayLike, ArrayLike]) -> tuple[FloatArray, FloatArray]:
    """Return lowest and highest corners (n, dim). Raise ValueError, naming `bounds`."""
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        raise ValueError("bounds: lowest and highest corners (low, high) expected") from error
    low, high = as_cloud("bounds: low", low), as_cloud("bounds: high", high)
    if low.shape != high.shape:
        raise ValueError(f"bounds: high: the shape of low, {low.shape}, expected, got {high.shape}")
    if (low > high).any():
        raise ValueError(f"bounds: row {(low > high).any(axis=1).argmax()} of low is above that of high")
    return low, high


def combine(results: Sequence[Contacts], parts: Sequence[ArrayLike] | None = None) -> Contacts:
    """Return the contacts of all pairs of several results as one, in ascending order of the pairs.

    Args:
        results: what `contacts` returned with `reproducible=True` and the same options, of different pairs.
        parts: of each result its pairs (p, 2) in the indices of all shapes, as `partition` returns them, where the
            results were asked for with fewer shapes and indices of their own. None: the results have them already.

    The same as one call of `contacts` with all pairs, to the last digit: parts of `partition` give what
    `contacts(shapes)` does. The result can make certificates (`Contacts.contact`) where all results have the same
    shapes, in the same poses.

    Raise ValueError, naming the argument and the result, when there is no result, one is not reproducible or has
    other options or dimension than the first, a part has no result or is not that of its result, or a pair is in two
    results.

    >>> shapes = [Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.75, 1.5)]
    >>> print(combine([contacts(shapes, [pair], reproducible=True) for pair in ([1, 2], [0, 1])]).pairs.tolist())
    [[0, 1], [1, 2]]
    """
    results = _validate_results(results)
    # Empty ones may be of no shapes, which have no dimension.
    first = max(results, key=lambda result: bool(len(result)))
    all_pairs = [result.pairs for result in results] if parts is None else _validate_parts(parts, results)
    pairs = np.concatenate(all_pairs)
    keys = pairs
    if first.pose_index is not None:
        keys = np.column_stack([np.concatenate([of.pose_index for of in results if of.pose_index is not None]), pairs])
    order = np.lexsort(keys.T[::-1])
    _refuse_doubles(keys, order, np.repeat(np.arange(len(results)), [len(each) for each in all_pairs]))
    filled = [result for result in results if len(result)] or [first]

    def joined(name: str) -> np.ndarray:
        return read_only(np.concatenate([getattr(result, name) for result in filled])[order])

    tolerance: float | FloatArray = first.contact_tolerance
    if not isinstance(tolerance, float):
        tolerance = joined("contact_tolerance")
    solved: dict[int, Contact] = {}
    regions = None if first.region is None else Regions(len(pairs))
    with_shapes = parts is None and all(_same_shapes(first, result) for result in results)
    place, before = np.empty_like(order), 0
    place[order] = np.arange(len(order))
    for result in filled:
        rows = place[before : before + len(result)]
        before += len(result)
        if regions is not None and result.region is not None:
            regions.take_over(rows, result.region, np.arange(len(result)))
        if with_shapes:
            solved.update({int(rows[k]): contact for k, contact in result._solved.items()})
    return Contacts(
        pairs=read_only(pairs[order]),
        distances=first.distances,
        depths=first.depths,
        region=regions,
        clearance=first.clearance,
        contact_tolerance=tolerance,
        method=first.method,
        budget=first.budget,
        reproducible=True,
        shapes=first.shapes if with_shapes else None,
        others=first.others if with_shapes else None,
        poses=first.poses if with_shapes else None,
        other_poses=first.other_poses if with_shapes else None,
        _relations=joined("_relations"),
        _statuses=joined("_statuses"),
        _solved=solved,
        pose_index=None if first.pose_index is None else read_only(keys[order, 0]),
        **{name: joined(name) for name in ARRAYS},
    )


def _validate_results(results: Sequence[Contacts]) -> tuple[Contacts, ...]:
    """Return results with the same options and dimension. Raise ValueError, naming `results`."""
    try:
        given = tuple(results)
    except TypeError as error:
        raise ValueError(f"results: a sequence of Contacts expected, not {type(results).__name__}") from error
    if not given:
        raise ValueError("results: at least one expected, got none")
    for k, result in enumerate(given):
        if not isinstance(result, Contacts):
            raise ValueError(f"results: number {k} must be what contacts(shapes) returned, not {type(result).__name__}")
        if not result.reproducible:
            raise ValueError(f"results: number {k} was asked for without reproducible=True, which combine needs")
    first = next((result for result in given if len(result)), given[0])
    wanted = _options(first)
    for k, result in enumerate(given):
        for (name, value), other in zip(_options(result).items(), wanted.values(), strict=True):
            if value != other and (len(result) or name not in ("dimension", "poses")):
                raise ValueError(f"results: number {k} has the {name} {value}, but number {given.index(first)} {other}")
    return given


def _options(result: Contacts) -> dict[str, object]:
    """Return what is the same in all results that fit, in words of an error."""
    one_tolerance = isinstance(result.contact_tolerance, float)
    return {
        "dimension": result.normal.shape[1],
        "clearance": result.clearance,
        "contact tolerance": result.contact_tolerance if one_tolerance else "one for each pair",
        "method": result.method,
        "budget": result.budget,
        "option distances": result.distances,
        "option depths": result.depths,
        "poses": "several of each shape" if result.pose_index is not None else "one of each shape",
        "regions": "none" if result.region is None else "one for each pair",
    }


def _validate_parts(parts: Sequence[ArrayLike], results: tuple[Contacts, ...]) -> list[IntArray]:
    """Return the pairs (p, 2) of each part, which must be those of its result. Raise ValueError."""
    given = list(parts)
    if len(given) != len(results):
        raise ValueError(f"results: {len(given)} expected, one for each of the parts, got {len(results)}")
    most, found = np.iinfo(np.intp).max, []
    for k, part in enumerate(given):
        try:
            found.append(validate_pairs(part, most, most))
        except ValueError as error:
            raise ValueError(f"parts: number {k} must be an array (p, 2) of indices of shapes") from error
    for k, (part, result) in enumerate(zip(found, results, strict=True)):
        if len(part) != len(result):
            raise ValueError(f"results: number {k} has {len(result)} pairs, but its part has {len(part)}")
        numbers = np.unique(np.stack([result.pairs.ravel(), part.ravel()]), axis=1)
        if any(len(np.unique(row)) < numbers.shape[1] for row in numbers):  # one index is that of two shapes
            raise ValueError(f"results: number {k} has other pairs than its part")
    return found


def _refuse_doubles(keys: IntArray, order: IntArray, owner: IntArray) -> None:
    """Raise ValueError when a pair of those in `order` (p,), or a pose and a pair, is there twice; `owner` (p,) is the
    result it is of."""
    ordered = keys[order]
    twice = np.flatnonzero((ordered[1:] == ordered[:-1]).all(axis=1))
    if len(twice):
        a, b = owner[order[twice[0] : twice[0] + 2]].tolist()
        where = f"in numbers {a} and {b}" if a != b else f"twice in number {a}"
        raise ValueError(f"results: the pair {ordered[twice[0], -2:].tolist()} is {where}")


def _same_shapes(a: Contacts, b: Contacts) -> bool:
    """Return whether two results have the same shapes, in the same poses, for certificates."""
    if a.shapes is None or not (_same_objects(a.shapes, b.shapes) and _same_objects(a.others, b.others)):
        return False
    return _same_poses(a.poses, b.poses) and _same_poses(a.other_poses, b.other_poses)


def _same_objects(a: Sequence[Shape] | None, b: Sequence[Shape] | None) -> bool:
    return a is b or (a is not None and b is not None and len(a) == len(b) and all(map(is_, a, b)))


def _same_poses(a: FloatArray | None, b: FloatArray | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))
