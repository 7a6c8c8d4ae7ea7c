# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchies that grow item by item. Source: S3.3; E. Catto, Dynamic Bounding Volume Hierarchies, 2019.

One item goes in after the other, so this is the one build with a Python loop over items; its arithmetic is on plain
floats, and the volumes of the nodes are merged when all are in.

Trees stay balanced by weight: no child has fewer than _LIGHTEST of the leaves below its parent. An item thus goes down
to a place among few others, and from there upward children are exchanged with grandchildren: where the balance asks
for it, and where a node becomes smaller. In bounding volumes left and right are alike, so that one exchange is
always enough (J. Nievergelt, E. Reingold, 1973, need two). The depth is at most log(n) / log(1 / (1 - _LIGHTEST)).
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..runs import chunks, ranges
from ..types import FloatArray, IntArray
from .nodes import Layout, scaled_boxes

_OFTEN = 64
"""Items between two calls of the progress function."""

_LIGHTEST = 0.2
"""Least fraction of a node's leaves in each of its children: depth 3.1 log2(n) at most. Up to 1/3 an exchange
with the larger grandchild mends the balance."""

_HEAVIEST = 1.0 - _LIGHTEST

_SMALL = 16
"""Leaves below a node up to which an exchange may also make it smaller: farther up few keep the balance."""

_ROWS = 1 << 16
"""Boxes converted to plain floats at once, between two calls of the progress function."""

_STEP = 16.0
"""Time to insert an item over that of converting a node to plain floats."""

_Box = tuple[float, ...]
"""Lowest coordinates of a box, then highest ones."""


def grown_layout(
    tree: Layout,
    nodes: tuple[FloatArray, FloatArray],
    items: tuple[FloatArray, FloatArray],
    progress: Progress | None,
) -> Layout:
    """Return the tree with more items, given the boxes (dim, m) around its nodes and those of the items."""
    converted = len(tree) / (len(tree) + _STEP * items[0].shape[1])
    low, high = scaled_boxes(*(np.concatenate(pair, axis=1) for pair in zip(nodes, items, strict=True)))
    size = len(tree)
    growing = _Growing(tree, low[:, :size], high[:, :size], subrange(progress, 0.0, converted))
    growing.insert(_rows(low[:, size:], high[:, size:], None), subrange(progress, converted, 1.0))
    return growing.layout(
        np.concatenate([tree.items, np.arange(len(tree.items), len(tree.items) + low.shape[1] - size)])
    )


def insertion_layout(low: FloatArray, high: FloatArray, progress: Progress | None) -> Layout:
    """Return the tree that inserting boxes (dim, n), n > 0, one after the other, makes.

    Neighbours in a mesh follow each other, and a tree that grows at one place all the time is a bad one: the items are
    taken in steps of the golden section.
    """
    count = low.shape[1]
    step = max(1, round(0.6180339887498949 * count))
    while gcd(step, count) > 1:
        step += 1
    order = np.arange(count) * step % count
    growing = _Growing(Layout.empty(), low[:, :0], high[:, :0], None)
    growing.insert(_rows(low[:, order], high[:, order], None), progress)
    return growing.layout(order)


def _rows(low: FloatArray, high: FloatArray, progress: Progress | None) -> list[_Box]:
    """Return boxes (dim, n) as plain floats."""
    result: list[_Box] = []
    for part in chunks(low.shape[1], _ROWS, progress):
        result += zip(*low[:, part].tolist(), *high[:, part].tolist(), strict=True)
    return result


def _joint_2(a: _Box, b: _Box) -> tuple[_Box, float]:
    """Return the box around two in the plane, and half its perimeter."""
    x, y, to_x, to_y = a
    other_x, other_y, other_to_x, other_to_y = b
    x = other_x if other_x < x else x
    y = other_y if other_y < y else y
    to_x = other_to_x if other_to_x > to_x else to_x
    to_y = other_to_y if other_to_y > to_y else to_y
    return (x, y, to_x, to_y), to_x - x + to_y - y


def _joint_3(a: _Box, b: _Box) -> tuple[_Box, float]:
    """Return the box around two, and half its surface area."""
    x, y, z, to_x, to_y, to_z = a
    other_x, other_y, other_z, other_to_x, other_to_y, other_to_z = b
    x = other_x if other_x < x else x
    y = other_y if other_y < y else y
    z = other_z if other_z < z else z
    to_x = other_to_x if other_to_x > to_x else to_x
    to_y = other_to_y if other_to_y > to_y else to_y
    to_z = other_to_z if other_to_z > to_z else to_z
    width, depth, height = to_x - x, to_y - y, to_z - z
    return (x, y, z, to_x, to_y, to_z), width * (depth + height) + depth * height


class _Growing:
    """A tree as lists, which grows one leaf at a time."""

    def __init__(self, tree: Layout, low: FloatArray, high: FloatArray, progress: Progress | None) -> None:
        """Start with a tree and the boxes (dim, m) around its nodes."""
        self.joint = _joint_2 if len(low) == 2 else _joint_3
        self.boxes = _rows(low, high, subrange(progress, 0.0, 0.5))
        self.surfaces: list[float] = []
        for part in chunks(len(self.boxes), _ROWS, subrange(progress, 0.5, 1.0)):
            self.surfaces += [self.joint(box, box)[1] for box in self.boxes[part]]
        self.root, self.items = 0, len(tree.items)
        self.left, self.right, self.first, self.count = (
            array.tolist() for array in (tree.left, tree.right, tree.first, tree.count)
        )
        inner, leaves = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.is_leaf)
        parent = np.full(len(tree), -1, dtype=np.intp)
        parent[tree.left[inner]] = parent[tree.left[inner] + 1] = inner
        begins = np.sort(tree.first[leaves])
        below = np.searchsorted(begins, tree.first + tree.count) - np.searchsorted(begins, tree.first)
        self.parent: list[int] = parent.tolist()
        self.weight: list[int] = below.tolist()

    def insert(self, boxes: list[_Box], progress: Progress | None) -> None:
        """Insert one item after the other beside the node that makes the tree grow least."""
        joint_of, parent, left, right, weight = self.joint, self.parent, self.left, self.right, self.weight
        node_boxes, surfaces = self.boxes, self.surfaces
        for done, box in enumerate(boxes):
            if done % _OFTEN == 0:
                report_progress(progress, done, len(boxes))
            leaf = self._add(-1, -1, self.items, 1, 1, box, joint_of(box, box)[1])
            self.items += 1
            if leaf == 0:
                continue
            node = self._best_partner(box)
            above = parent[node]
            joint = self._add(node, leaf, -1, 0, weight[node] + 1, *joint_of(node_boxes[node], box))
            parent[node] = parent[leaf] = joint
            parent[joint] = above
            if above < 0:
                self.root = joint
            elif left[above] == node:
                left[above] = joint
            else:
                right[above] = joint
            while above >= 0:
                weight[above] += 1
                node_boxes[above], surfaces[above] = joint_of(node_boxes[above], box)
                total = weight[above]
                if total <= _SMALL or not _LIGHTEST * total <= weight[joint] <= _HEAVIEST * total:
                    self._rotate(above, joint)
                joint, above = above, parent[above]
        report_progress(progress, 1.0)

    def _rotate(self, node: int, changed: int) -> None:
        """Exchange a child of a node with a child of its other child, for balance or a smaller node.

        The node itself keeps its items. `changed` is the child below which there is a new leaf.
        """
        left, right, weight, joint = self.left, self.right, self.weight, self.joint
        boxes, surfaces = self.boxes, self.surfaces
        first, second = left[node], right[node]
        total = weight[node]
        if total < 3:
            return
        least = _LIGHTEST * total
        light, heavy = (first, second) if weight[first] <= weight[second] else (second, first)
        best: tuple[int, int, int, int] | None = None
        best_gain = 0.0
        if weight[light] < least:
            # The larger grandchild instead of the light child is always balanced, if the heavy child was.
            up, stays = left[heavy], right[heavy]
            if weight[up] < weight[stays]:
                up, stays = stays, up
            best = light, heavy, up, stays
            best_gain = surfaces[heavy] - joint(boxes[light], boxes[stays])[1]
            down, around = light, heavy
        else:
            down, around = (second, first) if changed == first else (first, second)
        first, second = left[around], right[around]
        if first >= 0:
            falling, before = weight[down], surfaces[around]
            for up, stays in ((first, second), (second, first)):
                staying = weight[stays]
                lightest = _LIGHTEST * (falling + staying)
                if weight[up] >= least and falling >= lightest and staying >= lightest and falling + staying >= least:
                    gain = before - joint(boxes[down], boxes[stays])[1]
                    if gain > best_gain:
                        best, best_gain = (down, around, up, stays), gain
        if best is None:
            return
        down, around, up, stays = best
        left[node], right[node] = up, around
        left[around], right[around] = down, stays
        self.parent[up], self.parent[down] = node, around
        weight[around] = weight[down] + weight[stays]
        boxes[around], surfaces[around] = joint(boxes[down], boxes[stays])

    def _add(self, left: int, right: int, first: int, count: int, weight: int, box: _Box, surface: float) -> int:
        self.left.append(left)
        self.right.append(right)
        self.parent.append(-1)
        self.first.append(first)
        self.count.append(count)
        self.weight.append(weight)
        self.boxes.append(box)
        self.surfaces.append(surface)
        return len(self.left) - 1

    def _best_partner(self, box: _Box) -> int:
        """Return the node beside which a new leaf costs least surface, along one path from the root down."""
        left, right, boxes, surfaces, joint = self.left, self.right, self.boxes, self.surfaces, self.joint
        weight, heaviest = self.weight, 1.0 / _LIGHTEST - 1.0  # of what a leaf may stand beside
        node = self.root
        own, together = joint(box, box)[1], joint(boxes[node], box)[1]
        while left[node] >= 0:
            # Staying, a new node is made above this one. Going down, this one grows; and at a leaf a new node is made
            # above that, at an inner node it grows and below it a new one is made, no smaller than the box.
            growth = together - surfaces[node]
            first, second = left[node], right[node]
            with_first, with_second = joint(boxes[first], box)[1], joint(boxes[second], box)[1]
            first_cost = with_first + growth - (surfaces[first] - own if left[first] >= 0 else 0.0)
            second_cost = with_second + growth - (surfaces[second] - own if left[second] >= 0 else 0.0)
            if together < first_cost and together < second_cost and weight[node] <= heaviest:
                break
            if first_cost < second_cost or (first_cost == second_cost and weight[first] <= weight[second]):
                node, together = first, with_first
            else:
                node, together = second, with_second
        return node

    def layout(self, items: IntArray) -> Layout:
        """Return the tree; `items` has their indices in the order of `first`."""
        children = np.array([self.left, self.right], dtype=np.intp).T
        return layout_of_children(children, self.root, np.array(self.first), np.array(self.count), items)


def layout_of_children(
    children: IntArray, root: int, leaf_first: IntArray, leaf_count: IntArray, source: IntArray
) -> Layout:
    """Return a tree with its nodes level by level from the two children (m, 2) of each node, -1 in a leaf.

    Leaf k contains the items source[leaf_first[k]] and so on, leaf_count[k] of them; in other nodes both are unused.
    """
    generations = [np.array([root], dtype=np.intp)]
    while True:
        pairs = children[generations[-1]]
        below = pairs[pairs[:, 0] >= 0].ravel()
        if not len(below):
            break
        generations.append(below)
    nodes = np.concatenate(generations)
    sizes = [len(generation) for generation in generations]
    level = np.repeat(np.arange(len(sizes)), sizes)
    inner = children[nodes, 0] >= 0
    left = np.full(len(nodes), -1, dtype=np.intp)
    left[inner] = 1 + 2 * np.arange(int(inner.sum()))
    count = np.where(inner, 0, leaf_count[nodes])
    begins = np.cumsum([0, *sizes]).tolist()
    of_level = [begin + np.flatnonzero(inner[begin:end]) for begin, end in pairwise(begins)]
    for inner_nodes in reversed(of_level):
        count[inner_nodes] = count[left[inner_nodes]] + count[left[inner_nodes] + 1]
    first = np.zeros(len(nodes), dtype=np.intp)
    for inner_nodes in of_level:
        first[left[inner_nodes]] = first[inner_nodes]
        first[left[inner_nodes] + 1] = first[inner_nodes] + count[left[inner_nodes]]
    items = np.empty(int(count[0]), dtype=np.intp)
    leaves = np.flatnonzero(~inner)
    items[ranges(first[leaves], count[leaves])] = source[ranges(leaf_first[nodes[leaves]], count[leaves])]
    return Layout(left, first, count, items, level)


def prune(layout: Layout, most: int) -> Layout:
    """Return the tree in which nodes of no more than `most` items are leaves."""
    if most == 1:
        return layout
    inner = np.flatnonzero(layout.left >= 0)
    inner = inner[layout.count[inner] > most]
    kept = np.zeros(len(layout.left), dtype=np.bool_)
    kept[0] = True
    kept[layout.left[inner]] = kept[layout.left[inner] + 1] = True
    left = np.full(len(layout.left), -1, dtype=np.intp)
    left[inner] = 1 + 2 * np.arange(len(inner))
    return Layout(left[kept], layout.first[kept], layout.count[kept], layout.items, layout.level[kept])
