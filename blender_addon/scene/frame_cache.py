# SPDX-License-Identifier: GPL-3.0-or-later
"""What checks of a scene keep for the next, at another frame or later: only what has changed is found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np

from ...core.many.contacts import contacts, pairs_intersect
from ...core.many.result import Contacts
from ...core.many.shape_set import ShapeSet
from ...core.progress import Progress
from ...core.shapes.curved_shape import ConvexShape
from ...core.types import BoolArray, FloatArray, IntArray
from ..data.records import Key
from ..read.world_shape import WorldShapeCache
from .clashes import Clash
from .convex_bounds import ConvexBounds

MOST_UNUSED = 2
"""Times the objects of a check: of more shapes, kept from earlier frames, none are kept."""


FoundAlone = tuple[Clash, int] | None
"""What a pair was found to be, with its `rank_of`; None where it is separated."""


class FrameCache:
    """What is made of the shapes of a scene once for all frames, and what was found at the last one."""

    def __init__(self, follows: bool = True) -> None:
        """follows: whether it is certain that there will be another frame."""
        self.follows = follows
        self.shapes = WorldShapeCache()
        self.pairs_alone = Counter[bytes]()
        """How many pairs were found alone, by the digests of geometries in them."""
        self._found: dict[Hashable, FoundAlone] = {}
        self._found_before: dict[Hashable, FoundAlone] = {}
        self._drop_convex()

    def _drop_convex(self) -> None:
        self.last: Contacts | None = None
        """Of the last frame, if they were found in one step."""
        self._places: dict[tuple[Key, int], int] = {}
        self._shapes: list[ConvexShape] = []
        self._set = ShapeSet(())

    def drop_shapes(self) -> None:
        """Drop all that was made of shapes, which may be some hundred megabytes; the last answers stay."""
        self.shapes.clear()
        self.pairs_alone.clear()
        self._found_before = {}
        self._drop_convex()

    def next_frame(self) -> None:
        """Keep of what was found alone only what the last frame found."""
        self._found_before, self._found = self._found, {}

    def recalls(self, state: Hashable) -> bool:
        """Return whether this frame or the last one has found a pair in this state: of the shapes, where they are, and
        of all else that counts."""
        if state in self._found_before:
            self._found.setdefault(state, self._found_before[state])
        return state in self._found

    def alone(self, pair: tuple[int, int], state: Hashable, find: Callable[[], FoundAlone]) -> FoundAlone:
        """Return what a pair of objects, by their indices, was found to be; found now unless it is recalled."""
        if not self.recalls(state):
            self._found[state] = find()
        found = self._found[state]
        return None if found is None else (replace(found[0], a=pair[0], b=pair[1]), found[1])

    def contacts(
        self,
        bounds: ConvexBounds,
        pairs: IntArray,
        tolerance: FloatArray,
        clearance: float,
        progress: Progress | None,
    ) -> Contacts:
        """Return the contacts of pairs (n, 2) of objects with bounds, each with its own tolerance. Raises Cancelled."""
        pairs, poses = self._placed(bounds, pairs)
        found = contacts(
            self._set,
            pairs,
            poses=poses,
            clearance=clearance,
            contact_tolerance=tolerance,
            distances=False,
            certificates=self.follows,
            reproducible=True,
            start=self.last,
            progress=progress,
        )
        self.last = found if self.follows else None
        return found

    def intersect(self, bounds: ConvexBounds, pairs: IntArray, progress: Progress | None) -> BoolArray:
        """Return (n,) whether the bounds of pairs (n, 2) of objects intersect. Raises Cancelled."""
        pairs, poses = self._placed(bounds, pairs)
        return pairs_intersect(self._set, pairs, poses=poses, start=self.last, progress=progress)

    def _placed(self, bounds: ConvexBounds, pairs: IntArray) -> tuple[IntArray, FloatArray]:
        """Return pairs (n, 2) of objects as those of the set of shapes, and the poses of these."""
        used, numbers = np.unique(pairs, return_inverse=True)
        places = self._places_of(bounds, used)
        poses = np.tile(np.eye(4), (len(self._shapes), 1, 1))
        poses[places] = bounds.poses[used]
        return places[numbers.reshape(-1, 2)], poses

    def _places_of(self, bounds: ConvexBounds, used: IntArray) -> IntArray:
        """Return where the bounds of objects are in the set of shapes, with those that were not there."""
        if len(self._shapes) > MOST_UNUSED * len(bounds.keys):
            self._drop_convex()
        places = []
        for k in used.tolist():
            shape = bounds.shapes[k]
            assert shape is not None
            identity = bounds.keys[k], id(shape)  # which is kept: no other has its number
            place = self._places.setdefault(identity, len(self._shapes))
            if place == len(self._shapes):
                self._shapes.append(shape)
            places.append(place)
        if len(self._set) < len(self._shapes):
            self._set = ShapeSet(self._shapes)
        return np.array(places, dtype=np.intp)
