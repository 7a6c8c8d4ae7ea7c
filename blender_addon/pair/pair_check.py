# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair check: the contact of any two objects or instances, for Inspect Contact and for Check Scene alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.many.contacts import pairs_intersect
from ...core.meshes.solid_facets import Solid
from ...core.progress import Progress, subrange
from ...core.result import Contact
from ...core.shapes.curved_shape import ConvexShape
from ...core.tolerance import promised
from ...core.verify.check import Verification
from ...core.verify.verify import verify
from ..data import messages
from ..data.records import Settings
from ..geometry.collision_shape import RESOLUTION_STEPS, tolerance_for
from ..geometry.plane import Plane, common_plane, to_2d, to_3d
from ..geometry.snapshot import ReadError
from ..read.world_shape import WorldShape
from .pair_contact import find, lifted

PREPARED = 0.3
"""Fraction of the progress of a pair check after which both shapes are made."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairResult:
    """The contact of two objects or instances, world space and Blender units."""

    contact: Contact
    shape_a: Solid
    """The collision shape of A."""
    shape_b: Solid
    contact_tolerance: float
    """The tolerance that was used: the user's, or the input's resolution where that is coarser."""
    resolution: float
    """Blender units: four steps of the input's float32 coordinates. Nothing smaller can be known."""
    flat: FlatPair | None = None
    """The pair in its plane, when it was inspected there; `contact` is that in space then."""

    def verify(self) -> Verification:
        """Check the contact again, independently of the solver."""
        pair = self.flat or self
        return verify(pair.contact, pair.shape_a, pair.shape_b)

    def is_separated_by(self, translation: list[float], slack: float = 0.0, exactly: bool = True) -> bool:
        """Return whether B is free from A when it is moved by a translation, world space and Blender units, and by
        `slack`, or what the engine rounds, farther along the normal. exactly: shapes that are not convex are tested
        there, too, not only the length along the normal."""
        pair = self.flat or self
        found, a, b = pair.contact, pair.shape_a, pair.shape_b
        step = np.array(translation)
        if self.flat is not None:
            step = self.flat.plane.axes @ step
        slack = max(slack, promised(found.depth, min(a.extent, b.extent), max(a.magnitude, b.magnitude)))
        if float(step @ found.normal) < found.depth - slack:
            return False
        if not exactly or (isinstance(a, ConvexShape) and isinstance(b, ConvexShape)):
            return True  # between convex shapes the slab across the normal is empty then
        return not pairs_intersect([a, b.translated(step + slack * found.normal)], [[0, 1]])[0]


@dataclass(frozen=True, eq=False)
class FlatPair:
    """A pair inspected in its plane."""

    plane: Plane
    contact: Contact
    """In the frame of the plane."""
    shape_a: Solid
    shape_b: Solid


def check_pair(
    a: WorldShape,
    b: WorldShape,
    settings: Settings,
    progress: Progress | None = None,
    length: Callable[[float], str] = str,
    depth: bool = True,
) -> PairResult:
    """Return the contact of two objects or instances.

    length: writes a length in the scene's units, for errors. depth: see `find`.

    Raises ReadError, a sentence about one of them, when its geometry does not allow its shape; ValueError, the end of a
    sentence about the pair; and Cancelled.
    """
    progress = subrange(progress, 0.0, 1.0)
    solids = [
        _solid(shape, settings.flat, subrange(progress, 0.5 * k * PREPARED, 0.5 * (k + 1) * PREPARED))
        for k, shape in enumerate((a, b))
    ]
    tolerance = pair_tolerance(a, b, settings.contact_tolerance)
    resolution = RESOLUTION_STEPS * max(a.step, b.step)
    if not settings.flat:
        makers = [
            partial(shape.exact_pieces, subrange(progress, PREPARED, 1.0)) if shape.has_mesh else None
            for shape in (a, b)
        ]
        found = find(
            solids[0],
            solids[1],
            (makers[0], makers[1]),
            settings.method,
            settings.clearance,
            tolerance,
            subrange(progress, PREPARED, 1.0),
            settings.budget,
            depth,
        )
        return PairResult(
            contact=found, shape_a=solids[0], shape_b=solids[1], contact_tolerance=tolerance, resolution=resolution
        )
    return _check_flat(a, b, (solids[0], solids[1]), settings, tolerance, resolution, length)


def pair_tolerance(a: WorldShape, b: WorldShape, contact_tolerance: float) -> float:
    """Return the contact tolerance of a pair: the user's, or the input's resolution where that is coarser."""
    return tolerance_for(contact_tolerance, (a.diameter, b.diameter), (a.step, b.step))


def _solid(shape: WorldShape, flat: bool, progress: Progress | None) -> Solid:
    """Return the solid that is checked: in a plane a compound is made of the outline of its mesh. Raises ReadError."""
    try:
        if flat and shape.mesh is not None:
            return shape.mesh
        shape.prepare(progress)
        return shape.solid
    except ValueError as error:
        raise ReadError(messages.about(shape.object.name, str(error))) from error


def _slack(solids: Iterable[Solid], settings: Settings, resolution: float) -> float:
    """Return how far from their common plane two flat objects may be."""
    diameters = [diameter for solid in solids if (diameter := solid.diameter) > 0.0]
    return max(resolution, settings.contact_tolerance * min(diameters, default=0.0))


def are_coplanar(a: WorldShape, b: WorldShape, solids: Iterable[Solid], settings: Settings, resolution: float) -> bool:
    """Return whether two objects are flat and in one plane, as far as that is known without making a hull for it."""
    if not all(shape.object.geometry.has_hull and shape.hull.rank == 2 for shape in (a, b)):
        return False
    try:
        common_plane(("", ""), (a.hull.vertices, b.hull.vertices), _slack(solids, settings, resolution), str)
    except ValueError:
        return False
    return True


def _check_flat(
    a: WorldShape,
    b: WorldShape,
    solids: tuple[Solid, Solid],
    settings: Settings,
    tolerance: float,
    resolution: float,
    length: Callable[[float], str],
) -> PairResult:
    """Return the contact of two flat objects in their common plane. Raises ReadError when there is none."""
    slack = _slack(solids, settings, resolution)
    try:
        plane = common_plane((a.object.name, b.object.name), (a.hull.vertices, b.hull.vertices), slack, length)
        in_plane = [
            to_2d(shape.object.name, shape.kind, solid, shape.mesh, plane, slack)
            for shape, solid in zip((a, b), solids, strict=True)
        ]
    except ValueError as error:
        raise ReadError(str(error)) from error
    found = find(in_plane[0], in_plane[1], (None, None), settings.method, settings.clearance, tolerance)
    return PairResult(
        contact=lifted(found, plane.point, plane.axes),
        shape_a=to_3d(in_plane[0], plane),
        shape_b=to_3d(in_plane[1], plane),
        contact_tolerance=tolerance,
        resolution=resolution,
        flat=FlatPair(plane, found, in_plane[0], in_plane[1]),
    )
