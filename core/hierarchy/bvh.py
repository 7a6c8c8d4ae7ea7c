# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volume hierarchies: built over volumes of any kind, descended in pairs or queried, updated as items move.

The shape of a tree is chosen by the axis-aligned boxes around its items, whatever their kind; then the volumes of that
kind are merged up the tree. Source: S3.3, S3.4, S3.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_direction, as_length, as_vector, as_whole_number
from ..bounding.kdop import KDops
from ..bounding.kdop_polytope import kdop_directions
from ..bounding.volumes import Volumes, as_margin, half_surfaces
from ..progress import Progress, report_progress, subrange
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray, read_only
from .bottom_up import bottom_up_layout
from .insertion import grown_layout, insertion_layout, prune
from .linear import linear_layout
from .node_volumes import node_volumes
from .nodes import Layout, VolumeTree, enclosing_boxes, scaled_boxes, tree_centers
from .top_down import Split, top_down_layout
from .tree_pairs import TreePairs, VolumeTests, find_pairs

Method = Literal["linear", "top-down", "bottom-up", "insertion"]
METHODS, SPLITS = get_args(Method), get_args(Split)

REBUILD_COST = 1.5
"""Times the cost of the tree when it was built: a refitted tree that costs more is better built anew."""

_SMALL = 2.0**-300
"""Not relative: surfaces smaller than this, or larger than its inverse, are measured at another scale."""

_RAY_ROUNDING = 8.0
"""Times EPS and the distances along a ray: rounding of where it enters and leaves a box."""


@dataclass(frozen=True, eq=False)
class Bvh(VolumeTree):
    """A binary tree of bounding volumes over n items; without items it has no nodes. Its arrays are read-only.

    >>> boxes = bounding_volumes("aabb", [[0.0, 0.0], [1.0, 1.0], [4.0, 0.0], [5.0, 1.0]], [0, 2])
    >>> tree = Bvh.build(boxes)
    >>> tree.query_point([4.5, 0.5]).tolist()
    [1]
    """

    @classmethod
    def build(
        cls,
        volumes: Volumes,
        method: Method = "linear",
        split: Split = "sah",
        leaf_size: int = 1,
        progress: Progress | None = None,
    ) -> Bvh:
        """Return a hierarchy over volumes, the items.

        Args:
            volumes: one for each item, of any kind.
            method: "linear" (sorted along a space-filling curve; by far the fastest), "top-down", "bottom-up" (near
                neighbours are merged; good trees) or "insertion" (one item after the other; slow, for comparison and
                for trees that grow: see `insert`).
            split: how "top-down" divides the items along the longest axis of their centres: "sah" (least surface
                area), "median", "mean" or "middle" (of space).
            leaf_size: most items in a leaf.
            progress: called with the fraction done, 0 to 1; False cancels.

        No volumes, no nodes. Raises ValueError, naming the argument, when one is none of these or a volume is not
        finite; Cancelled when `progress` says so. Source: S3.3.
        """
        _validate_volumes(volumes)
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        if split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
        report_progress(progress, 0.0)
        low, high = scaled_boxes(*enclosing_boxes(volumes))
        most = min(as_whole_number("leaf_size", leaf_size, least=1), max(len(volumes), 1))
        layout_progress = subrange(progress, 0.0, 0.5)
        if len(volumes) == 0:
            layout = Layout.empty()
        elif method == "insertion":
            layout = prune(insertion_layout(low, high, layout_progress), most)
        else:
            centers = tree_centers(low, high)
            if method == "linear":
                layout = linear_layout(centers, most)
            elif method == "top-down":
                layout = top_down_layout(low, high, centers, split, most, layout_progress)
            else:
                layout = prune(bottom_up_layout(low, high, centers, layout_progress), most)
        return cls.around(layout, volumes, subrange(progress, 0.5, 1.0))

    @classmethod
    def around(cls, layout: Layout, volumes: Volumes, progress: Progress | None = None) -> Bvh:
        """Return the tree with this layout around the volumes of its items, as many as there are."""
        left, first, count, items, level = map(
            read_only, (layout.left, layout.first, layout.count, layout.items, layout.level)
        )
        return cls(left, first, count, items, level, node_volumes(volumes, layout, progress), volumes)

    def refit(self, volumes: Volumes, progress: Progress | None = None) -> Bvh:
        """Return the tree with the same nodes around items that have moved: `volumes` has one for each. Source: S3.5.

        The results of a refitted tree are as right as those of a new one; it only may need more tests: see `cost`.
        `progress` is called with the fraction done, 0 to 1; False cancels.

        Raises ValueError, naming the argument, when there are not as many volumes as items or they are of another kind
        or dimension; Cancelled when `progress` says so.
        """
        _validate_volumes(volumes)
        if len(volumes) != len(self.items):
            raise ValueError(f"volumes: the tree has {len(self.items)} items, but there are {len(volumes)} volumes")
        self._validate_kind("volumes", volumes)
        enclosing_boxes(volumes)
        return self.around(self, volumes, progress)

    def insert(self, volumes: Volumes, progress: Progress | None = None) -> Bvh:
        """Return the tree with more items: the first of `volumes` gets the next index, and so on. Source: S3.3.

        Each goes beside the node that then grows least, into a leaf of its own. A tree without nodes takes any kind.
        `progress` is called with the fraction done, 0 to 1; False cancels.

        Raises ValueError, naming the argument, when they are not of the kind of the tree's; Cancelled when `progress`
        says so.
        """
        _validate_volumes(volumes)
        self._validate_kind("volumes", volumes)
        if not len(volumes):
            return self
        report_progress(progress, 0.0)
        layout = grown_layout(
            self,
            enclosing_boxes(self.volumes if len(self) else volumes.take([])),
            enclosing_boxes(volumes),
            subrange(progress, 0.0, 0.5),
        )
        all_volumes = type(volumes).concatenate([self.item_volumes, volumes]) if len(self) else volumes
        return self.around(layout, all_volumes, subrange(progress, 0.5, 1.0))

    def overlapping_pairs(
        self,
        other: Bvh | None = None,
        margin: float = 0.0,
        progress: Progress | None = None,
        *,
        tests: list[VolumeTests] | None = None,
    ) -> TreePairs:
        """Return the pairs of items that may collide: item of this tree, item of the other, or both of this one.

        All of them pass the test of their own volumes, and all whose volumes truly have a point in common are found.
        For k-DOPs and spheres they are exactly those that pass, however the trees were built. Oriented boxes that are
        apart by no more than rounding along two nearly parallel edges pass their own test, but may be lost in a tree,
        whose nodes have other edges: such pairs can depend on the build. Besides the result, which takes 24 bytes for
        each pair while it is sorted, memory depends on the size of the trees only.

        Args:
            other: a tree over volumes of the same kind.
            margin: world units, >= 0. k-DOPs count too when no two slabs are farther apart than this, whichever comes
                first; axis-aligned boxes are those of `candidate_pairs`. Other volumes count when they overlap after
                those of this tree are inflated by it, in one tree those with the smaller index.
            progress: called with the fraction done, 0 to 1; False cancels.
            tests: a list to which all tests of two volumes are appended, in the order in which they are made.

        Raises ValueError, naming the argument, when `other` is not a tree of the same kind of volumes, or the margin is
        negative or not finite; Cancelled when `progress` says so. Source: S3.4.
        """
        if other is not None:
            if not isinstance(other, Bvh):
                raise ValueError(f"other must be a Bvh, as Bvh.build returns it, not {type(other).__name__}")
            if self.volumes.kind != other.volumes.kind:
                raise ValueError("other must have volumes of the same kind and dimension")
        return find_pairs(self, other, as_margin(margin), progress, tests)

    def query_point(self, point: ArrayLike) -> IntArray:
        """Return the items (k,), ascending, whose volumes contain a point (dim,), world frame.

        Raises ValueError when the point is not one of the dimension of the tree.
        """
        dim = self.item_volumes.dim
        position = as_vector("point", point, dim)
        items = self._query(lambda low, high: (low <= position[:, None]) & (position[:, None] <= high))
        return items[self.item_volumes.take(items).contains(np.tile(position, (len(items), 1)))]

    def query_box(self, low: ArrayLike, high: ArrayLike) -> IntArray:
        """Return the items (k,), ascending, whose axis-aligned boxes overlap that from `low` to `high` (dim,), world.

        The box of an item is that around its volume. Touching counts. Raises ValueError, naming the argument, when one
        is not a point of the dimension of the tree or `low` is above `high`.
        """
        lowest, highest = (as_vector(name, v, self.item_volumes.dim) for name, v in (("low", low), ("high", high)))
        if (lowest > highest).any():
            raise ValueError("low must not be above high")
        return self._query(lambda low, high: (low <= highest[:, None]) & (lowest[:, None] <= high))

    def query_ray(self, origin: ArrayLike, direction: ArrayLike, length: float | None = None) -> IntArray:
        """Return the items (k,), ascending, whose axis-aligned boxes a ray hits; touching counts.

        origin (dim,) world frame; direction (dim,) of any length but zero; `length`, world units, ends the ray. The box
        of an item is that around its volume, and rounding may add a box that the ray misses by a hair, but lose none.

        Raises ValueError, naming the argument, when one is of another kind or not finite.
        """
        start = as_vector("origin", origin, self.item_volumes.dim)[:, None]
        along = as_direction("direction", direction, self.item_volumes.dim)[:, None]
        along = along / np.abs(along).max()
        end = np.inf if length is None else as_length("length", length) / float(np.sqrt((along * along).sum()))

        def hits(low: FloatArray, high: FloatArray) -> BoolArray:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                first, second = (low - start) / along, (high - start) / along
            # Along an axis across the ray it is inside everywhere, or nowhere.
            outside = np.where((low <= start) & (start <= high), -np.inf, np.inf)
            enter = np.where(along == 0.0, outside, np.minimum(first, second)).max(axis=0)
            leave = np.where(along == 0.0, -outside, np.maximum(first, second)).min(axis=0)
            leave = np.minimum(leave, end)
            with np.errstate(invalid="ignore"):
                slack = _RAY_ROUNDING * EPS * np.maximum(np.abs(enter), np.abs(leave))
                return ((enter <= leave + slack) & (leave >= -slack))[None]

        return self._query(hits)

    def _query(self, test: Callable[[FloatArray, FloatArray], BoolArray]) -> IntArray:
        """Return the items (k,), ascending, whose boxes, lowest and highest corners (dim, k), pass in all rows."""
        nodes = np.arange(min(len(self), 1))
        leaves = [nodes[:0]]
        while len(nodes):
            nodes = nodes[test(*self._corners(self._boxes, nodes)).all(axis=0)]
            left = self.left.take(nodes)
            leaves.append(nodes[left < 0])
            nodes = (left[left >= 0][:, None] + np.arange(2)).ravel()
        items = np.sort(self.items_below(np.concatenate(leaves)))
        return items[test(*self._corners(self._item_boxes, items)).all(axis=0)]

    @staticmethod
    def _corners(boxes: KDops, indices: IntArray) -> tuple[FloatArray, FloatArray]:
        chosen = boxes.take(indices)
        return chosen.low.T, chosen.high.T

    @cached_property
    def _item_boxes(self) -> KDops:
        """The axis-aligned boxes around the volumes of the items; those of k-DOPs exactly."""
        low, high = enclosing_boxes(self.item_volumes)
        if not isinstance(self.item_volumes, KDops):
            slack = 4.0 * EPS * np.maximum(np.abs(low), np.abs(high))
            low, high = low - slack, high + slack
        return KDops(kdop_directions(2 * len(low), len(low)), low.T, high.T)

    @cached_property
    def _boxes(self) -> KDops:
        boxes = node_volumes(self._item_boxes, self)
        assert isinstance(boxes, KDops)
        return boxes

    @property
    def cost(self) -> float:
        """Number of volumes that a random line through the root hits, by the surface area heuristic.

        It grows as items move and the tree is only refitted: beyond REBUILD_COST times the cost after the build,
        building anew pays. Where the root has no surface, as of items in a row without any width, lengths are compared
        instead; where it is a point, the cost is the number of nodes. Source: S3.3; J. Goldsmith, J. Salmon, 1987.
        """
        if not len(self):
            return 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            surfaces = self.volumes.surface_area
        root = float(surfaces[0])
        if not _SMALL <= root <= 1.0 / _SMALL:  # squares of lengths overflow or vanish: the boxes at another scale
            low, high = enclosing_boxes(self.volumes)
            sides = 0.5 * high - 0.5 * low
            sides = np.ldexp(sides, -int(np.frexp(sides[:, 0].max())[1]))
            surfaces = half_surfaces(sides)
            if surfaces[0] < _SMALL:
                surfaces = sides.sum(axis=0)
            root = float(surfaces[0])
            if root == 0.0:
                return float(len(self))
        return float((surfaces / root).sum())

    def _validate_kind(self, name: str, volumes: Volumes) -> None:
        if len(self) and volumes.kind != self.item_volumes.kind:
            raise ValueError(f"{name} must be of the same kind and dimension as those in the tree")


def _validate_volumes(volumes: object) -> None:
    if not isinstance(volumes, Volumes):
        raise ValueError(f"volumes must be bounding volumes, not {type(volumes).__name__}")
