# SPDX-License-Identifier: GPL-3.0-or-later
"""How a mesh becomes what it collides as: the rules that the inspection of one pair and the check of a scene share.

Knows nothing of Blender. Matrices are split in their linear part (3, 3) and the translation (3,).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.compounds.compound import Compound
from ...core.decomposition.concavity import Concavity
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid, pieces_of
from ...core.shapes.curved_shape import ConvexShape
from ...core.types import FloatArray
from . import collision_shape
from .collision_shape import Choice

RESOLUTION_STEPS = 4.0
"""Steps of a float32 coordinate that two readings of the same place may differ by."""
OPEN_SHARE = 1e-4
"""A mesh that leaves no more of its hull's surface open than this covers it: areas are rounded too."""


def float32_step(size: float) -> float:
    """Distance of a float32 of this size from the next one."""
    return max(math.ldexp(1.0, math.frexp(size)[1] - 24), 2.0**-149)


def step_at(magnitude: float, local_magnitude: float, linear: FloatArray) -> float:
    """Return the spacing of float32 at the largest coordinate that took part, Blender units.

    magnitude, local_magnitude: the largest absolute coordinate in the world and in local space. The matrix may cancel
    large local coordinates: their rounding is still there.
    """
    return float32_step(max(magnitude, local_magnitude * float(np.linalg.norm(linear, 2))))


def tolerance_for(contact_tolerance: float, extents: Iterable[float], steps: Iterable[float]) -> float:
    """Return the contact tolerance of a pair: the person's, or the input's resolution where that is coarser.

    extents: diagonals of the bounding boxes of the two; steps: what `step_at` tells of them.
    """
    smaller = min((extent for extent in extents if extent > 0.0), default=math.inf)
    return max(contact_tolerance, RESOLUTION_STEPS * max(steps) / smaller)


# --- which shape ----------------------------------------------------------------------------------------------------


def covers_hull(dent: Concavity, magnitude: float) -> bool:
    """Whether a mesh is its convex hull, as exactly as float32 tells; magnitude: its largest absolute coordinate."""
    return dent.depth <= RESOLUTION_STEPS * float32_step(magnitude) and dent.open_fraction <= OPEN_SHARE


def kind_for(choice: Choice, has_faces: bool, is_convex: Callable[[], bool]) -> str:
    """Return which shape is made, as in `collision_shape`; whether the mesh is convex is asked only where it counts."""
    kind = choice.kind
    if kind != collision_shape.AUTOMATIC and not (kind == collision_shape.MESH and choice.source == "rigid_body"):
        return kind
    if not has_faces or is_convex():
        return collision_shape.WHEN_CONVEX
    return collision_shape.WHEN_DENTED if kind == collision_shape.AUTOMATIC else kind


# --- meshes and their pieces ----------------------------------------------------------------------------------------


def placed_mesh(
    kind: str, local: FloatArray, triangles: NDArray[np.integer], linear: FloatArray, translation: FloatArray
) -> Mesh:
    """Return a mesh in world space. Raises ValueError, the end of a sentence about the object, when it has no faces."""
    if len(triangles) == 0:
        raise ValueError(f"has no faces: a {collision_shape.WORDS[kind]} is made of them")
    return Mesh(local @ linear.T + translation, triangles.astype(np.intp))


def placed_pieces(found: Decomposition, linear: FloatArray, translation: FloatArray) -> Decomposition:
    """Return the convex pieces of a mesh, cut in local space, in world space."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, translation
    return replace(
        found,
        pieces=tuple(piece.transformed(matrix) for piece in found.pieces),
        distance=found.distance * float(np.linalg.norm(linear, 2)),
    )


def check_convex_pieces(found: Decomposition, instead: str) -> None:
    """Ask for pieces that are no more than the mesh; instead: collision shapes to choose where they are.

    Raises ValueError, the end of a sentence about the object.
    """
    if found.fills_hollows:
        raise ValueError(
            f"cannot collide as a compound: {found.reason}. Choose {instead} as its collision shape, or simplify it"
        )


def compound_of(found: Decomposition) -> Compound:
    """Return the compound of the pieces of a mesh. Raises ValueError, the end of a sentence about the object, where it
    has none but hulls that fill its hollows."""
    check_convex_pieces(found, "Mesh or Convex Hull")
    return Compound(found.pieces)


class Part(NamedTuple):
    """A child of a compound parent, world space."""

    name: str
    solid: Solid
    make_pieces: Callable[[], Decomposition] | None
    """Makes the convex pieces of its mesh; None for what has none."""


class Joined(NamedTuple):
    """What a compound parent collides as, world space."""

    compound: Compound
    exact: bool
    """Whether each part is the union of its pieces."""
    distance: float
    """No surface of a part is farther from those of its pieces."""
    reason: str
    """Why they are not exact; empty when they are."""


def joined(parts: Iterable[Part]) -> Joined:
    """Return the compound of the parts; a mesh is there as its convex pieces.

    Raises ValueError, the end of a sentence about the parent, where a mesh has none but hulls that fill its hollows.
    """
    pieces: list[ConvexShape] = []
    exact, distance, words = True, 0.0, []
    for part in parts:
        found = part.make_pieces() if part.make_pieces is not None else None
        if isinstance(part.solid, Mesh):
            assert found is not None
            try:
                check_convex_pieces(found, "Convex Hull")
            except ValueError as error:
                raise ValueError(f"cannot collide: its part '{part.name}' {error}") from error
            pieces += found.pieces
        else:
            pieces += pieces_of(part.solid)
        if found is not None and not found.exact:
            exact, distance = False, max(distance, found.distance)
            words.append(f"'{part.name}': {found.reason or found.message}")
    return Joined(Compound(pieces), exact, distance, "; ".join(words))
