# SPDX-License-Identifier: GPL-3.0-or-later
"""The descent of two trees, one volume test after the other, as core's descent made them. Source: S3.4."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...core.bounding.volumes import Volumes
from ...core.hierarchy.bvh import Bvh
from ...core.hierarchy.tree_pairs import TreePairs, VolumeTests
from ...core.types import BoolArray, FloatArray, IntArray
from ..data.messages import counted
from ..data.units import UnitFormat
from ..geometry.plane import Plane
from .picture import SIDES, Canvas, StudyPicture
from .volume_pictures import edges_of

MOST_DRAWN = 300
"""Leaves drawn below a node, or of the pairs that are left, at most."""


class _Tests(NamedTuple):
    """All tests of a descent."""

    places: IntArray
    """(2, t) the node or item of each side."""
    counts: IntArray
    """(2, t) how many items are below."""
    overlap: BoolArray
    """(t,)"""
    are_items: BoolArray
    """(t,) whether items, not nodes, were compared."""
    is_left: BoolArray
    """(t,) whether a pair of items is left by the test."""


@dataclass(frozen=True, eq=False)
class Descent:
    """The volume tests of a descent; their numbers count from 0."""

    names: tuple[str, str]
    """Of both objects; of a tree with itself twice that of the tree."""
    trees: tuple[Bvh, Bvh]
    found: TreePairs
    recorded: list[VolumeTests]
    what: str
    """What an item is: "triangle" or "object"."""
    units: UnitFormat
    plane: Plane | None = None

    _pictures: dict[int, StudyPicture] = field(default_factory=dict)
    """The last one, which is drawn again and again."""

    def number_of(self, test: int) -> int:
        """Return the number of a test, the first of which is 1; of the last one for those beyond."""
        return min(test, self.found.tests) - 1

    @cached_property
    def _tests(self) -> _Tests:
        places = np.concatenate([np.stack([each.a, each.b]) for each in self.recorded], axis=1)
        overlap = np.concatenate([each.overlap for each in self.recorded])
        are_items = np.concatenate([np.full(len(each.a), each.are_items) for each in self.recorded])
        counts = np.ones_like(places)
        for side, tree in enumerate(self.trees):
            counts[side, ~are_items] = tree.count[places[side, ~are_items]]
        # Where leaves are their items, those have no test of their own.
        ends = are_items if are_items.any() else (counts == 1).all(axis=0)
        return _Tests(places, counts, overlap, are_items, overlap & ends)

    def sentence(self, number: int) -> str:
        """Return what was compared, and what follows from it."""
        tests = self._tests
        (i, j), (count_a, count_b) = tests.places[:, number].tolist(), tests.counts[:, number].tolist()
        (name_a, name_b), what = self.names, self.what
        if tests.are_items[number]:
            sides = f"{what} {i} of {name_a} against {what} {j} of {name_b}"
        else:
            sides = f"node {i} of {name_a} ({counted(count_a, what)}) against node {j} of {name_b} ({count_b:,})"
        sides = f"Test {number + 1:,} of {self.found.tests:,}: {sides}"
        if tests.is_left[number]:
            return f"{sides}: they overlap, so this pair of {what}s is left"
        if tests.overlap[number]:
            below = f"{what}s" if count_a == count_b == 1 else "children"
            return f"{sides}: they overlap, so their {below} are compared"
        first, second = self._volumes(number)
        gap = float(first.gap(second)[0])
        apart = f"at least {self.units.length(gap, rounding='down')} apart" if gap > 0.0 else "apart"
        return (
            f"{sides}: they are {apart}, so {counted(count_a * count_b, f'pair of {what}s', f'pairs of {what}s')} "
            + ("is cut off" if count_a * count_b == 1 else "are cut off")
        )

    def rows(self, number: int) -> list[tuple[str, str]]:
        """Return how many pairs of items are cut off and left by the tests so far, for the panel."""
        tests, what = self._tests, self.what.capitalize()
        pairs = tests.counts.prod(axis=0)[: number + 1]
        cut, left = int(pairs[~tests.overlap[: number + 1]].sum()), int(tests.is_left[: number + 1].sum())
        return [(f"{what} Pairs Cut Off", f"{cut:,} of {self.found.possible:,}"), ("Left So Far", f"{left:,}")]

    def picture(self, number: int) -> StudyPicture:
        """Return both volumes; where they are apart, the leaves below that are cut off; and what is left so far."""
        if number not in self._pictures:
            self._pictures.clear()
            self._pictures[number] = self._picture(number)
        return self._pictures[number]

    def _picture(self, number: int) -> StudyPicture:
        tests, canvas = self._tests, Canvas()
        left = tests.is_left[: number + 1]
        for side, tree, role, volume in zip((0, 1), self.trees, SIDES, self._volumes(number), strict=True):
            places, are_items = tests.places[side, : number + 1], tests.are_items[: number + 1]
            items = np.concatenate([places[left & are_items], tree.items_below(places[left & ~are_items])])
            canvas.line("region", self._edges(tree.item_volumes, np.unique(items)), 0.5)
            if not tests.overlap[number] and not tests.are_items[number]:
                canvas.line("removed", self._edges(tree.item_volumes, tree.items_below(places[-1:])), 0.5)
            edges = self._edges(volume, np.arange(1))
            canvas.line(role, edges, 2.0)
            corners = edges.reshape(-1, 3)
            what = self.what.capitalize() if tests.are_items[number] else "Node"
            canvas.label(role, f"{what} {places[-1]}, {self.names[side]}", corners[corners[:, 2].argmax()])
        return canvas.picture()

    def _volumes(self, number: int) -> list[Volumes]:
        """Return the volumes of both sides of a test."""
        tests = self._tests
        return [
            (tree.item_volumes if tests.are_items[number] else tree.volumes).take(
                tests.places[side, number : number + 1]
            )
            for side, tree in enumerate(self.trees)
        ]

    def _edges(self, volumes: Volumes, chosen: IntArray) -> FloatArray:
        return edges_of(volumes.take(chosen[:MOST_DRAWN]), self.plane)[0]
