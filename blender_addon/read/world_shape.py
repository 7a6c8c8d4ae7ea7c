# SPDX-License-Identifier: GPL-3.0-or-later
"""The collision shapes of objects and instances in world space, made when they are first needed, and their cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np

from ...core.compounds.compound import Compound
from ...core.decomposition.concavity import Concavity, max_concavity
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid, SolidFacets, pieces_of, solid_facets
from ...core.progress import Progress, subrange
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.hull import ConvexHull
from ...core.types import FloatArray
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL, MESH, PRIMITIVES, WORDS
from ..geometry.cache import LruCache
from ..geometry.collision_shape import Fit, fit_of, fitted, step_at, sticks_out
from .scene_objects import SceneObject


class WorldShape:
    """The collision shape of an object or instance in world space.

    Properties are computed when first asked for. They raise ValueError, the end of a sentence about the object, where
    its geometry does not allow the shape.
    """

    def __init__(self, obj: SceneObject, *, is_part: bool = False) -> None:
        """is_part: it is a part of a compound parent, which is made of convex pieces."""
        self.object = obj
        self.kind = obj.kind
        self._is_part = is_part
        self._parts = tuple(WorldShape(part, is_part=True) for part in obj.parts)
        self._pieces: Decomposition | None = None

    @property
    def is_convex(self) -> bool:
        """Whether the shape is convex, so that it is its own convex bound."""
        return not self._parts and self.kind not in (MESH, COMPOUND)

    @property
    def has_mesh(self) -> bool:
        """Whether it is made of a mesh of its own, which has pieces."""
        return self.kind in (MESH, COMPOUND) and not self._parts

    @cached_property
    def convex_bound(self) -> ConvexShape | None:
        """A convex shape that it is, or that contains its mesh; None for a compound."""
        obj, geometry = self.object, self.object.geometry
        if self._parts or self.kind == COMPOUND:
            return None
        if self.kind in PRIMITIVES:
            at_origin = obj.choice.source == "rigid_body"
            return fitted(self.kind, *geometry.bounds, obj.linear, obj.translation, at_origin)
        return cast("ConvexShape", geometry.convex_bound.transformed(obj.matrix))

    @cached_property
    def solid(self) -> Solid:
        """The shape itself."""
        if self._parts:
            pieces: list[ConvexShape] = []
            for part in self._parts:
                with _naming(part):
                    pieces += part._convex_pieces
            return Compound(pieces)
        if self.kind == COMPOUND:
            _reject_filled_hollows(self.pieces(), "Mesh or Convex Hull")
            return Compound(self.pieces().pieces)
        if self.kind == MESH:
            return self.mesh
        return self.convex_bound

    @cached_property
    def mesh(self) -> Mesh | None:
        """The mesh of a compound of its pieces or of a mesh; else None."""
        if not self.has_mesh:
            return None
        self._require_faces()
        return cast("Mesh", self.object.geometry.mesh.transformed(self.object.matrix))

    def _require_faces(self) -> None:
        if len(self.object.geometry.triangles) == 0:
            raise ValueError(messages.no_faces(WORDS[self.kind]))

    @property
    def _convex_pieces(self) -> tuple[ConvexShape, ...]:
        """Its convex pieces, as a part of a compound parent."""
        if self.kind != MESH or self._parts:
            return pieces_of(self.solid)  # type: ignore[arg-type]
        _reject_filled_hollows(self.pieces(), "Convex Hull")
        return self.pieces().pieces

    def pieces(self, progress: Progress | None = None) -> Decomposition:
        """Return the convex pieces that stand for its mesh, or for those of its parts, made once. Raises Cancelled."""
        if self._pieces is None:
            self._pieces = self._pieces_of_parts(progress) if self._parts else self._pieces_of_mesh(progress)
        return self._pieces

    def _pieces_of_mesh(self, progress: Progress | None) -> Decomposition:
        self._require_faces()
        return self._placed(self.object.geometry.pieces(progress))

    def exact_pieces(self, progress: Progress | None = None) -> Decomposition | None:
        """Return the pieces whose union is its mesh; None where none are found, and its depth is that of the mesh.
        Raises Cancelled."""
        self._require_faces()
        local = self.object.geometry.exact_pieces(progress)
        return None if local is None else self._placed(local)

    def _placed(self, local: Decomposition) -> Decomposition:
        """Return pieces in world space."""
        obj = self.object
        stretch = float(np.linalg.norm(obj.linear, 2))
        return replace(
            local,
            pieces=tuple(piece.transformed(obj.matrix) for piece in local.pieces),
            distance=local.distance * stretch,
            outside=local.outside * stretch,
        )

    def _pieces_of_parts(self, progress: Progress | None) -> Decomposition:
        made = [(part.object.name, part.pieces(progress)) for part in self._parts if part.has_mesh or part._parts]
        inexact = [(name, pieces) for name, pieces in made if not pieces.exact]
        return replace(
            self._facets.pieces,
            exact=not inexact,
            distance=max((pieces.distance for _, pieces in inexact), default=0.0),
            outside=max((pieces.outside for _, pieces in inexact), default=0.0),
            message="the children are its pieces",
            reason="; ".join(f"'{name}': {pieces.reason or pieces.message}" for name, pieces in inexact),
        )

    @cached_property
    def _facets(self) -> SolidFacets:
        """A compound parent as a mesh."""
        return solid_facets(self.solid)

    def prepare(self, progress: Progress | None = None) -> None:
        """Make the shape, with all that takes long. Raises ValueError, and Cancelled."""
        for k, part in enumerate(self._parts):
            part_progress = subrange(progress, k / len(self._parts), (k + 1) / len(self._parts))
            with _naming(part):
                part.prepare(part_progress)
                if part.has_mesh:
                    part.pieces(part_progress)
        if self.kind == COMPOUND and not self._parts:
            self.pieces(progress)
        _ = self.solid

    # measurements ----------------------------------------------------------------------------------------------------

    @cached_property
    def hull(self) -> ConvexHull:
        """The convex hull of the mesh; of a compound parent that of its shape."""
        if self._parts:
            return ConvexHull(self._facets.mesh.points)
        if self.kind == CONVEX_HULL and isinstance(self.convex_bound, ConvexHull):
            return self.convex_bound
        return self.object.geometry.hull.transformed(self.object.matrix)

    @cached_property
    def concavity(self) -> Concavity:
        """How far the mesh is from its hull; of a compound parent, its shape."""
        if self._parts:
            mesh = self._facets.mesh
            return max_concavity(self.hull, self.hull.vertex_ids, mesh.points, mesh.triangles)
        return self.object.geometry.world_concavity(lambda: self.hull, self.object.linear, self.object.translation)

    @cached_property
    def fit(self) -> Fit | None:
        """How far a primitive is from the mesh; None for any other shape."""
        shape, obj = self.convex_bound, self.object
        if self.kind not in PRIMITIVES or shape is None:
            return None
        return obj.geometry.by_stretch(
            (self.kind, obj.choice.source),
            obj.linear,
            lambda: fit_of(shape, self._corners, obj.points, obj.geometry.triangles),
        )

    @cached_property
    def protrusion(self) -> float:
        """How far the mesh sticks out of the primitive; 0.0 for any other shape."""
        if self.kind not in PRIMITIVES or self.convex_bound is None:
            return 0.0
        return sticks_out(self.convex_bound, self._corners)

    @property
    def _corners(self) -> FloatArray:
        return self.object.geometry.hull.vertices @ self.object.linear.T + self.object.translation

    @cached_property
    def approximation(self) -> Decomposition | None:
        """The pieces of a compound, where they are not exact; else None."""
        return None if self.kind != COMPOUND or self.pieces().exact else self.pieces()

    @cached_property
    def diameter(self) -> float:
        """Diameter of the smallest ball around it, which the contact tolerance is relative to."""
        return (self.mesh or self.convex_bound or self.solid).diameter

    @cached_property
    def step(self) -> float:
        """Blender units: spacing of float32 at the largest coordinate that took part."""
        if self._parts:
            return max(part.step for part in self._parts)
        corners = self.mesh.reach if self.mesh is not None else self._corners
        return step_at(float(np.abs(corners).max()), self.object.geometry.magnitude, self.object.linear)

    @property
    def weight(self) -> int:
        """About how many triangles are kept with it."""
        own = 0 if self.is_convex else len(self.object.geometry.triangles)
        return max(own, sum(part.weight for part in self._parts))


@contextmanager
def _naming(part: WorldShape) -> Iterator[None]:
    """Turn an error about a part of a compound parent into one about the parent."""
    try:
        yield
    except ValueError as error:
        raise ValueError(messages.bad_part(part.object.name, str(error))) from error


def _reject_filled_hollows(pieces: Decomposition, instead: str) -> None:
    """Raise ValueError, the end of a sentence about the object, where pieces fill hollows of the mesh.

    instead: collision shapes to choose.
    """
    if pieces.fills_hollows:
        raise ValueError(
            f"cannot collide as a compound ({pieces.reason}): choose {instead} as its collision shape, or fill its "
            "holes"
        )


class WorldShapeCache(LruCache[WorldShape]):
    """The world shapes used last: a scene of ten thousand objects has few candidates for each."""

    def __init__(self, count: int = 4_000, triangles: int = 1_500_000) -> None:
        """Keep up to `count` shapes with `triangles` together: meshes with their trees take some hundred megabytes."""
        super().__init__(count, triangles, lambda shape: shape.weight)
        self.triangles = triangles

    def of(self, obj: SceneObject) -> WorldShape:
        """Return the shape of an object."""
        return self.get(obj.shape_key, lambda: WorldShape(obj))
