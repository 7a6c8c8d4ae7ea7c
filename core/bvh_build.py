# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchies built from the top down, from the bottom up, by insertion, and along a curve (linear).

All but insertion take one step for each level, never one for each node. Source: S3.3.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from .bvh import Bvh, node_volumes
from .polytope import FloatArray, IntArray
from .progress import Progress, tell
from .volumes import BoolArray, Volumes

Method = Literal["linear", "top-down", "bottom-up", "insertion"]
Split = Literal["sah", "median", "mean", "middle"]
METHODS, SPLITS = get_args(Method), get_args(Split)

_BINS = 16  # places at which the surface area heuristic is asked for on the longest axis
_NEAR = 8  # neighbours along the curve that a volume looks at for one to merge with


def build_bvh(
    volumes: Volumes,
    method: Method = "linear",
    split: Split = "sah",
    progress: Progress | None = None,
) -> Bvh:
    """Return a hierarchy over volumes, the items.

    Args:
        volumes: one for each item, of any kind.
        method: "linear" (sorted along a space-filling curve, split in halves; the fastest), "top-down", "bottom-up"
            (near neighbours are merged) or "insertion" (one item after the other; slow, for comparison).
        split: how "top-down" divides the items along the longest axis of their middles: "sah" (least surface area),
            "median", "mean" or "middle" (of space).
        progress: called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is none of these; Cancelled when `progress` says so.
    Source: S3.3; C. Lauterbach et al., Fast BVH Construction on GPUs, 2009; D. Meister, J. Bittner, Parallel
    Locally-Ordered Clustering, 2018.
    """
    if not isinstance(volumes, Volumes):
        raise ValueError(f"volumes must be bounding volumes, not {type(volumes).__name__}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    if len(volumes) == 0:
        none = np.zeros(0, dtype=np.intp)
        return Bvh(volumes, none, none, none, none, none)
    tell(progress, 0.0)
    if method == "bottom-up":
        children = _merged_pairwise(volumes, progress)
    elif method == "insertion":
        children = _inserted(volumes, progress)
    else:
        return _from_the_top(volumes, method, split, progress)
    return _in_levels(volumes, *children)


# ---------------------------------------------------------------------------------------------------------------------
# From the top, a level at a time


def _from_the_top(volumes: Volumes, method: Method, split: Split, progress: Progress | None) -> Bvh:
    centers = volumes.centers()
    count = len(centers)
    items = np.argsort(morton_codes(centers), kind="stable") if method == "linear" else np.arange(count)
    first, counts = np.zeros(1, dtype=np.intp), np.array([count], dtype=np.intp)
    lefts: list[IntArray] = []
    firsts: list[IntArray] = []
    all_counts: list[IntArray] = []
    levels: list[IntArray] = []
    made, settled = 1, 0
    while len(first):
        divided = counts > 1
        if method == "linear":
            halves = counts[divided] + 1 >> 1
        else:
            halves = _divide(items, centers, volumes, first[divided], counts[divided], split)
        left = np.full(len(first), -1, dtype=np.intp)
        left[divided] = made + 2 * np.arange(len(halves))
        lefts.append(left)
        firsts.append(first)
        all_counts.append(counts)
        levels.append(np.full(len(first), len(levels), dtype=np.intp))
        made += 2 * len(halves)
        settled += int(counts[~divided].sum())
        tell(progress, 0.9 * settled / count)
        begin, both = first[divided], counts[divided]
        first = np.stack([begin, begin + halves], axis=1).ravel()
        counts = np.stack([halves, both - halves], axis=1).ravel()
    left, first, counts, level = map(np.concatenate, (lefts, firsts, all_counts, levels))
    return Bvh(node_volumes(volumes, left, first, items, level), left, first, counts, items, level)


def _divide(
    items: IntArray, centers: FloatArray, volumes: Volumes, first: IntArray, count: IntArray, split: Split
) -> IntArray:
    """Put the items of each node in order, those of its first child first, and return how many these are."""
    if len(first) == 0:
        return np.zeros(0, dtype=np.intp)
    start = np.cumsum(count) - count
    owner = np.repeat(np.arange(len(first)), count)
    place = np.arange(len(owner)) + np.repeat(first - start, count)
    inside = items[place]
    points = centers[inside]
    low, high = np.minimum.reduceat(points, start, axis=0), np.maximum.reduceat(points, start, axis=0)
    axis = (high - low).argmax(axis=1)
    node = np.arange(len(first))
    least, most = low[node, axis], high[node, axis]
    along = points[np.arange(len(owner)), axis[owner]]
    if split == "median":
        right = np.zeros(len(owner), dtype=bool)
    elif split == "sah":
        right = _by_surface_area(volumes.take(inside), along, owner, least, most)
    else:
        border = 0.5 * least + 0.5 * most
        if split == "mean":
            border = least + np.add.reduceat(along - least[owner], start) / count
        right = along > border[owner]
    in_first = count - np.add.reduceat(right, start, dtype=np.intp)
    # Where all would be on one side (equal middles, or the median is wanted), the order along the axis decides.
    uneven = (in_first == 0) | (in_first == count)
    if uneven.any():
        ordered = np.lexsort((along, owner))
        rank = np.empty(len(owner), dtype=np.intp)
        rank[ordered] = np.arange(len(owner)) - start[owner]
        half = count + 1 >> 1
        right = np.where(uneven[owner], rank >= half[owner], right)
        in_first = np.where(uneven, half, in_first)
    items[place] = inside[np.lexsort((right, owner))]
    return in_first


def _by_surface_area(
    volumes: Volumes, along: FloatArray, owner: IntArray, least: FloatArray, most: FloatArray
) -> BoolArray:
    """Tell which items go to the second child, so that surface area times items is least over both children."""
    nodes = len(least)
    width = most - least
    scale = np.where(width > 0.0, _BINS / np.where(width > 0.0, width, 1.0), 0.0)
    bins = np.minimum(((along - least[owner]) * scale[owner]).astype(np.intp), _BINS - 1)
    cell = owner * _BINS + bins
    ordered = np.argsort(cell, kind="stable")
    cells, begin, sizes = np.unique(cell[ordered], return_index=True, return_counts=True)
    filled = volumes.take(ordered).merged_ranges(begin)
    count = np.zeros((nodes, _BINS), dtype=np.intp)
    count.ravel()[cells] = sizes
    at = np.full((nodes, _BINS), -1, dtype=np.intp)
    at.ravel()[cells] = np.arange(len(cells))
    cost = np.zeros((nodes, _BINS - 1))
    for order in (range(_BINS - 1), range(_BINS - 1, 0, -1)):
        held: Volumes | None = None
        index = np.full(nodes, -1, dtype=np.intp)  # each node's volume so far, in `held`
        number = np.zeros(nodes, dtype=np.intp)
        for bin_ in order:
            new = at[:, bin_]
            number = number + count[:, bin_]
            joined = filled if held is None else type(filled).joined([filled, held])
            before = np.where(index < 0, -1, index + (0 if held is None else len(filled)))
            source = np.where(before < 0, np.where(new < 0, 0, new), before)
            other = np.where(new < 0, source, new)
            held = joined.take(source).merged(joined.take(other))
            known = (before >= 0) | (new >= 0)
            index = np.where(known, np.arange(nodes), -1)
            border = bin_ if order[0] == 0 else bin_ - 1
            cost[:, border] += np.where(known, held.sizes() * number, 0.0)
    best = cost.argmin(axis=1)
    result: BoolArray = bins > best[owner]
    return result


def morton_codes(points: FloatArray) -> IntArray:
    """Return where points (n, dim) are on a curve that fills their bounding box: near numbers are near places.

    21 bits of each coordinate (31 in the plane), interleaved. Source: G. Morton, 1966.
    """
    dim = points.shape[1]
    bits = 21 if dim == 3 else 31
    low = points.min(axis=0, initial=np.inf)
    size = float((points.max(axis=0, initial=-np.inf) - low).max(initial=0.0))
    if not size > 0.0:
        return np.zeros(len(points), dtype=np.intp)
    cells = ((points - low) / size * (2.0**bits - 1.0)).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    spread = _spread_by_three if dim == 3 else _spread_by_two
    for axis in range(dim):
        code |= spread(cells[:, axis]) << np.uint64(axis)
    return code.astype(np.intp)


def _spread_by_three(x: np.ndarray) -> np.ndarray:
    """Return whole numbers of 21 bits with two zeros between every two bits."""
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x


def _spread_by_two(x: np.ndarray) -> np.ndarray:
    """Return whole numbers of 31 bits with a zero between every two bits."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x


# ---------------------------------------------------------------------------------------------------------------------
# From the bottom, and one by one: pairs of children in the order in which they were joined

_Children = tuple[IntArray, int]
"""(m, 2) the two children of each node, -1 in leaves, which are the items and come first; and which is the root."""


def _merged_pairwise(volumes: Volumes, progress: Progress | None) -> _Children:
    """Merge volumes that are each other's best neighbours along the curve, until one is left."""
    count = len(volumes)
    order = np.argsort(morton_codes(volumes.centers()), kind="stable")
    nodes, here = order, volumes.take(order)
    children = [np.full((count, 2), -1, dtype=np.intp)]
    made = count
    while len(nodes) > 1:
        size = len(nodes)
        best, cost = np.zeros(size, dtype=np.intp), np.full(size, np.inf)
        for step in range(1, min(_NEAR, size - 1) + 1):
            one, other = np.arange(size - step), np.arange(step, size)
            surfaces = here.take(one).merged(here.take(other)).sizes()
            for mine, its in ((one, other), (other, one)):
                # Of equals the one next to it in a pair: equal volumes then merge two by two, not one after the other.
                better = (surfaces < cost[mine]) | ((surfaces == cost[mine]) & (its == mine ^ 1))
                cost[mine[better]], best[mine[better]] = surfaces[better], its[better]
        number = np.arange(size)
        mutual = (best[best] == number) & (number < best)
        if not mutual.any():  # equal costs in a ring: neighbours in the order of the curve
            mutual = (number % 2 == 0) & (number + 1 < size)
            best = np.where(mutual, number + 1, best)
        one = np.flatnonzero(mutual)
        other = best[one]
        children.append(np.stack([nodes[one], nodes[other]], axis=1))
        merged = here.take(one).merged(here.take(other))
        kept = np.ones(size, dtype=bool)
        kept[other] = False
        slot = np.arange(size)
        slot[one] = size + np.arange(len(one))
        nodes = np.where(mutual, 0, nodes)
        nodes[one] = made + np.arange(len(one))
        made += len(one)
        here = type(here).joined([here, merged]).take(slot[kept])
        nodes = nodes[kept]
        tell(progress, 0.9 * (1.0 - (len(nodes) - 1) / count))
    return np.concatenate(children), int(nodes[0])


def _inserted(volumes: Volumes, progress: Progress | None) -> _Children:
    """Insert one item after the other beside the node that grows least."""
    count = len(volumes)
    children: list[list[int]] = [[-1, -1] for _ in range(count)]
    below = [1] * count
    parent = [-1] * count
    volume: list[Volumes] = [volumes.take([item]) for item in range(count)]
    surface = volumes.sizes().tolist()
    root = 0
    for item in range(1, count):
        if item % 64 == 0:
            tell(progress, 0.9 * item / count)
        new = volume[item]
        node = root
        while children[node][0] >= 0:
            # A new parent here costs its whole surface; going down costs what this node grows by.
            union = float(volume[node].merged(new).sizes()[0])
            growth = union - surface[node]
            costs = []
            for child in children[node]:
                joint = float(volume[child].merged(new).sizes()[0])
                costs.append(joint + growth - (surface[child] if children[child][0] >= 0 else 0.0))
            if union < min(costs):
                break
            one, other = children[node]
            node = one if (costs[0], below[one]) <= (costs[1], below[other]) else other
        above, joint_node = parent[node], len(children)
        children.append([node, item])
        below.append(below[node] + 1)
        parent.append(above)
        volume.append(volume[node].merged(new))
        surface.append(float(volume[joint_node].sizes()[0]))
        parent[node] = parent[item] = joint_node
        if above < 0:
            root = joint_node
        else:
            children[above][children[above].index(node)] = joint_node
        while above >= 0:
            volume[above] = volume[above].merged(new)
            surface[above] = float(volume[above].sizes()[0])
            below[above] += 1
            above = parent[above]
    return np.array(children, dtype=np.intp), root


def _in_levels(volumes: Volumes, children: IntArray, root: int) -> Bvh:
    """Return the tree with its nodes level by level; each item is a leaf."""
    generations = [np.array([root], dtype=np.intp)]
    while True:
        pairs = children[generations[-1]]
        below = pairs[pairs[:, 0] >= 0].ravel()
        if len(below) == 0:
            break
        generations.append(below)
    nodes = np.concatenate(generations)
    level = np.repeat(np.arange(len(generations)), [len(g) for g in generations])
    inner = children[nodes, 0] >= 0
    left = np.full(len(nodes), -1, dtype=np.intp)
    left[inner] = 1 + 2 * np.arange(int(inner.sum()))
    count = np.ones(len(nodes), dtype=np.intp)
    begins = np.searchsorted(level, np.arange(len(generations) + 1))
    for begin, end in zip(begins[-2::-1].tolist(), begins[:0:-1].tolist(), strict=True):
        here = np.arange(begin, end)[inner[begin:end]]
        count[here] = count[left[here]] + count[left[here] + 1]
    first = np.zeros(len(nodes), dtype=np.intp)
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        here = np.arange(begin, end)[inner[begin:end]]
        first[left[here]] = first[here]
        first[left[here] + 1] = first[here] + count[left[here]]
    items = np.empty(len(volumes), dtype=np.intp)
    items[first[~inner]] = nodes[~inner]
    return Bvh(node_volumes(volumes, left, first, items, level), left, first, count, items, level)
