# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of an inspected pair beyond its contact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from ...core.measures.clearance_band import ClearanceBand, clearance_band
from ...core.measures.deepest_point import deepest_point
from ...core.measures.deepest_record import DeepestPoint, DeepestPoints
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
    deepest: DeepestPoints | None = None
    """How deep the surfaces are inside each other."""
    band: ClearanceBand | None = None
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
    found = overlap_volume(pair.shape_a, pair.shape_b, pair.contact, progress)
    if flat is None or found.centroid is None:
        return found
    return replace(found, centroid=flat.plane.to_3d(found.centroid))


def deepest_of(inspection: Inspection, progress: Progress | None = None) -> DeepestPoints:
    """Return how deep the surfaces of a pair are inside each other, in world space; in any thread. Raise Cancelled."""
    flat, pair = inspection.flat, inspection.flat or inspection
    found = deepest_point(pair.shape_a, pair.shape_b, progress)
    if flat is None:
        return found

    def lifted(deepest: DeepestPoint | None) -> DeepestPoint | None:
        if deepest is None:
            return None
        return replace(deepest, point=flat.plane.to_3d(deepest.point), nearest=flat.plane.to_3d(deepest.nearest))

    return replace(found, of_a=lifted(found.of_a), of_b=lifted(found.of_b))


GAPS, SIZES = 3.0, 0.1
"""Times the gap, and times the size of the smaller object: where no limit is set it is the larger of these."""


def no_band_reason(inspection: Inspection) -> str:
    """Return why a pair has no clearance band, as a sentence; empty where it has one."""
    if inspection.flat is not None:
        return "A clearance band is of objects in space: turn off Inspect in 2D to see it"
    if inspection.contact.relation in OVERLAPPING:
        return "The objects overlap: move them apart to see how wide the gap is"
    return ""


def band_of(inspection: Inspection, limit: float, progress: Progress | None = None) -> ClearanceBand:
    """Return how wide the gap of a pair is on the surface of A; in any thread. Raise ValueError and Cancelled.

    limit: gaps up to this are measured, Blender units; 0: chosen by the gap and the sizes.
    """
    if reason := no_band_reason(inspection):
        raise ValueError(reason)
    a, b = inspection.shape_a, inspection.shape_b
    reach = limit or max(GAPS * inspection.contact.signed_distance, SIZES * min(a.diameter, b.diameter))
    return clearance_band(a, b, reach, inspection.contact, progress=progress)


def with_overlap(
    inspection: Inspection, measures: PairMeasures | None = None, progress: Progress | None = None
) -> PairMeasures:
    """Return the measures of a pair with its overlap, made unless it is there; in any thread. Raise Cancelled."""
    measures = measures or PairMeasures(inspection)
    return measures if measures.surface is not None else replace(measures, surface=overlap_of(inspection, progress))


def is_of_same(a: Inspection, b: Inspection) -> bool:
    """Return whether two inspections are of the same shapes where they were, in the same dimension."""
    return a.shape_a is b.shape_a and a.shape_b is b.shape_b and (a.flat is None) == (b.flat is None)


MEASURES: dict[str, tuple[str, Callable[..., Any]]] = {
    "surface": ("Overlap", overlap_of),
    "volume": ("Overlap volume", volume_of),
    "deepest": ("Deepest point", deepest_of),
    "band": ("Clearance band", band_of),
}
"""By the name of its field: what is computed, for its progress, and the function, which any thread can call with the
inspection, what was given to `request`, and its progress."""
