# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of an inspected pair beyond its contact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from ...core.measures.overlap_surface import overlap_surface
from ...core.measures.overlap_volume import overlap_volume
from ...core.measures.surface_record import OverlapSurface
from ...core.measures.volume_record import OverlapVolume
from ...core.meshes.mesh import Mesh
from ...core.meshes.point_distance import points_to_mesh
from ...core.meshes.winding import contains
from ...core.progress import Progress
from ...core.result import Relation
from ...core.types import FloatArray
from ..pair.inspection import Inspection

OVERLAPPING = (Relation.PENETRATING, Relation.COINCIDENT, Relation.A_INSIDE_B, Relation.B_INSIDE_A)


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """What is known of one pair beyond its contact; None: not computed."""

    inspection: Inspection
    """What it is of."""
    surface: OverlapSurface | None = None
    """The boundary of the overlap, world space; empty where nothing overlaps."""
    volume: OverlapVolume | None = None
    """Its volume; of a pair that is inspected in its plane its area."""
    deepest: Any = None
    """How deep the surfaces are inside each other."""
    band: Any = None
    """How wide the gap is on the surface of A."""

    @property
    def body(self) -> Mesh | None:
        """The overlap as a mesh; None where nothing overlaps, or it is not computed."""
        return None if self.surface is None else _body_of(self.surface)

    @property
    def start(self) -> FloatArray:
        """(3,) where the arrow starts: the contact center if it is in the overlap, else the nearest point of that."""
        center: FloatArray = self.inspection.contact.center
        body = self.body
        if body is None or contains([center], body)[0]:
            return center
        return points_to_mesh([center], body).point[0]


_bodies: WeakKeyDictionary[OverlapSurface, Mesh] = WeakKeyDictionary()


def _body_of(surface: OverlapSurface) -> Mesh | None:
    if not len(surface.triangles):
        return None
    if surface not in _bodies:
        _bodies[surface] = Mesh(surface.points, surface.triangles)
    return _bodies[surface]


def overlap_of(inspection: Inspection, progress: Progress | None = None) -> OverlapSurface:
    """Return the boundary of the overlap of a pair, world space; in any thread. Raise Cancelled."""
    if inspection.contact.relation not in OVERLAPPING:
        return OverlapSurface.empty(3)
    flat, pair = inspection.flat, inspection.flat or inspection
    found = overlap_surface(pair.shape_a, pair.shape_b, pair.contact, progress)
    if flat is not None:
        curves = tuple(flat.plane.to_3d(curve) for curve in found.curves)
        found = replace(found, points=flat.plane.to_3d(found.points), curves=curves)
    _ = PairMeasures(inspection, found).start  # what drawing needs is made here, too
    return found


def volume_of(inspection: Inspection, progress: Progress | None = None) -> OverlapVolume:
    """Return how much of a pair overlaps, in world space; in any thread. Raise Cancelled."""
    flat, pair = inspection.flat, inspection.flat or inspection
    found = overlap_volume(pair.shape_a, pair.shape_b, pair.contact)
    if flat is None or found.centroid is None:
        return found
    return replace(found, centroid=flat.plane.to_3d(found.centroid))


def is_of_same(a: Inspection, b: Inspection) -> bool:
    """Return whether two inspections are of the same shapes where they were, in the same dimension."""
    return a.shape_a is b.shape_a and a.shape_b is b.shape_b and (a.flat is None) == (b.flat is None)


MEASURES: dict[str, tuple[str, Callable[..., Any]]] = {
    "surface": ("Overlap", overlap_of),
    "volume": ("Overlap volume", volume_of),
}
"""By the name of its field: what is computed, for its progress, and the function, which any thread can call with the
inspection, what was given to `request`, and its progress."""
