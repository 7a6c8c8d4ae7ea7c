# SPDX-License-Identifier: GPL-3.0-or-later
"""The things of a scene as they collide, in world space.

What is costly is made when a candidate pair needs it, and kept for the next few: a scene of ten thousand objects has
few candidates for each.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...core.meshes.decomposition import Decomposition
from ...core.meshes.solid_facets import Solid
from ...core.progress import Progress, subrange
from ...core.shapes.box import Box
from ...core.shapes.curved_shape import ConvexShape
from ..draw.shape_outline import extent_of
from . import collision_shape
from .collision_shape import COMPOUND, MESH, PRIMITIVES
from .collision_solid import Joined, Part, compound_of, joined, placed_mesh, placed_pieces, step_at
from .scene_objects import Item

KEPT = 4_000
"""Things kept as they collide, as many as a batch may need; the least recently used go first."""
KEPT_TRIANGLES = 1_000_000
"""Triangles of meshes kept in world space, with trees of theirs: some hundred megabytes."""


class Ready:
    """A thing as it collides, in world space. What is costly is made when it is first asked for.

    `around`, `solid` and `prepare` raise ValueError, the end of a sentence about the item, when it cannot be made.
    """

    def __init__(self, item: Item) -> None:
        self.item = item
        self.kind = item.kind
        self._parts = tuple(Ready(part) for part in item.parts)
        self._pieces: Decomposition | None = None

    @cached_property
    def around(self) -> ConvexShape | None:
        """A convex shape that it is, or that a mesh is within; None for a compound."""
        item, geometry = self.item, self.item.geometry
        if self._parts or self.kind == COMPOUND:
            return None
        if self.kind in PRIMITIVES:
            at_origin = item.choice.source == "rigid_body"
            return collision_shape.fitted(self.kind, *geometry.bounds, item.linear, item.translation, at_origin)
        if geometry.is_box:
            return Box.from_matrix(item.matrix, *geometry.bounds)
        return geometry.hull.transformed(item.matrix)

    @cached_property
    def solid(self) -> Solid:
        """What it collides as."""
        if self._parts:
            return self._joined.compound
        item = self.item
        if self.kind == MESH:
            geometry = item.geometry
            return placed_mesh(self.kind, geometry.points, geometry.triangles, item.linear, item.translation)
        if self.kind == COMPOUND:
            return compound_of(self.make_pieces())
        assert self.around is not None
        return self.around

    def prepare(self, progress: Progress | None = None) -> None:
        """Make what it collides as, with all that takes long. Raises Cancelled."""
        for k, part in enumerate(self._parts):
            part_progress = subrange(progress, k / len(self._parts), (k + 1) / len(self._parts))
            try:
                part.prepare(part_progress)
            except ValueError as error:
                raise ValueError(f"cannot collide: its part '{part.item.name}' {error}") from error
            if part.has_mesh:
                part.make_pieces(part_progress)
        if self.kind == COMPOUND and not self._parts:
            self.make_pieces(progress)
        _ = self.solid

    @cached_property
    def _joined(self) -> Joined:
        return joined(
            Part(part.item.name, part.solid, part.make_pieces if part.has_mesh else None) for part in self._parts
        )

    @property
    def is_alone(self) -> bool:
        """Whether it is convex, so that it is the solid that is `around`."""
        return not self._parts and self.kind not in (MESH, COMPOUND)

    def make_pieces(self, progress: Progress | None = None) -> Decomposition:
        """Return the convex pieces that stand for its mesh, in world space; made once. Raises Cancelled."""
        if self._pieces is None:
            found = self.item.geometry.pieces(progress)
            self._pieces = placed_pieces(found, self.item.linear, self.item.translation)
        return self._pieces

    @cached_property
    def stands(self) -> tuple[int, str, float] | None:
        """Of a compound whose pieces are not exact: how many, why not, and how far its surface is from theirs."""
        if self._parts:
            told = self._joined
            return None if told.exact else (len(told.compound.pieces), told.reason, told.distance)
        if self.kind != COMPOUND or self.make_pieces().exact:
            return None
        found = self.make_pieces()
        return len(found.pieces), found.reason or found.message, found.distance

    @property
    def has_mesh(self) -> bool:
        """Whether it is made of a mesh, of which there are pieces."""
        return self.kind in (MESH, COMPOUND) and not self._parts

    @cached_property
    def extent(self) -> float:
        """Diagonal of the bounding box."""
        return extent_of(self.solid if self.around is None else self.around)

    @cached_property
    def step(self) -> float:
        """Blender units: spacing of float32 at the largest coordinate that took part."""
        if self._parts:
            return max(part.step for part in self._parts)
        item, geometry = self.item, self.item.geometry
        corners = geometry.hull.vertices @ item.linear.T + item.translation
        return step_at(float(np.abs(corners).max()), geometry.magnitude, item.linear)

    @property
    def weight(self) -> int:
        """About how many triangles are kept with it."""
        own = 0 if self.is_alone else len(self.item.geometry.triangles)
        return max(own, sum(part.weight for part in self._parts))


class ReadyThings:
    """The last few things as they collide."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._kept: OrderedDict[int, Ready] = OrderedDict()
        self._weight = 0

    def __getitem__(self, k: int) -> Ready:
        ready = self._kept.get(k)
        if ready is None:
            ready = self._kept[k] = Ready(self._items[k])
            self._weight += ready.weight
            while len(self._kept) > KEPT or (self._weight > KEPT_TRIANGLES and len(self._kept) > 2):
                self._weight -= self._kept.popitem(last=False)[1].weight
        else:
            self._kept.move_to_end(k)
        return ready
