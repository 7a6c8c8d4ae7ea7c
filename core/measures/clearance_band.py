# SPDX-License-Identifier: GPL-3.0-or-later
"""The clearance band of two shapes apart: how wide the gap is wherever their surfaces face each other.

A point of A faces B where the vector to the nearest point of B is within 45 degrees of A's normal and against B's; see
`facing`. A is sampled: the gaps at the samples are exact, and what is between them is bounded. No point of A between
samples is farther from B than from the points of B that are nearest to these samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import as_factor
from ..contact import contact as find_contact
from ..meshes.body import Body
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances, points_to_mesh
from ..meshes.solid_facets import Solid, SolidFacets, solid_facets
from ..narrow_phase.relation import contact_band
from ..progress import Progress, report_progress, subrange
from ..result import Contact, Relation
from ..shapes.shape import validate_solids
from ..tolerance import DEFAULT_CONTACT_TOLERANCE, EPS, MESH_GAP
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from ..vectors import unit_rows
from .facing import FACING, ON_EDGE, FacedSurface
from .surface_samples import SurfaceSamples, surface_samples

SPACING = 0.02
"""Times the diameter of A: no two samples that an edge joins are farther apart."""
_BESIDE = 1e-6
"""Times the diameter of A: where the first step from a sample toward B is inside A, another part of A is between."""
_APART = (Relation.TOUCHING, Relation.WITHIN_CLEARANCE, Relation.SEPARATED)


@dataclass(frozen=True, eq=False)
class ClearanceBand(ReadOnlyArrays):
    """How wide the gap between two shapes is where their surfaces face each other. World frame and units; the arrays
    are read-only; lengths are None where no sample of A faces B within the limit."""

    least: float | None
    """The least gap that was found; 0.0 where the shapes touch there."""
    least_lower: float | None
    """Certified: no point of A, between samples too, is nearer to B. It is the least gap itself, to rounding, where the
    nearest points of the pair face each other."""
    greatest: float | None
    """The greatest gap of a sample that faces B."""
    greatest_upper: float | None
    """Certified: no point of a triangle that faces B at a corner is farther from B, unless beyond the limit. Where A
    faces B between samples only, in less than their distance, that is not counted."""
    points: FloatArray
    """(n, 3) the samples of A's surface: its corners, points no farther apart than a fiftieth of A's diameter, and last
    the point that is nearest to B, where it faces B. On curved surfaces, not on facets."""
    gaps: FloatArray
    """(n,) how far each sample is from B; NaN where nothing of B faces it within the limit. Of curved surfaces too, to
    rounding."""
    triangles: IntArray
    """(m, 3) the surface of A between the samples: indices of points, wound as A's triangles."""
    limit: float
    """The limit that was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return the lengths as plain numbers, and how many samples there are and face B."""
        return {
            "least": self.least,
            "least_lower": self.least_lower,
            "greatest": self.greatest,
            "greatest_upper": self.greatest_upper,
            "limit": self.limit,
            "samples": len(self.points),
            "facing": int(np.isfinite(self.gaps).sum()),
        }


def clearance_band(
    a: Solid, b: Solid, limit: float, contact: Contact | None = None, *, progress: Progress | None = None
) -> ClearanceBand:
    """Return the least and the greatest gap between the surfaces of A and B that face each other, and the gap at points
    all over A.

    A point of A faces B where the vector to the nearest point of B is within 45 degrees of A's normal and of B's,
    turned over. Where that point is on an edge or a corner of B that turns by more than 30 degrees, it faces nothing,
    unless the vector is within 1 degree of the normal of a face there: a pin that is longer than its hole reads the
    hole. Of a bare surface both sides count. What of A is between is not looked at, unless the point is inside of A's
    other parts or pieces.

    Args:
        a, b: shapes in space of any kind, apart or touching. Curved surfaces of A are sampled as they are, and gaps are
            those to B's; which of them face each other is decided by facets of a few degrees.
        limit: gaps up to this count; world units, above 0.
        contact: what `contact(a, b)` returned, where it is known.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raise ValueError, naming the argument, when one is not a shape in space or the limit is not above 0, and when the
    shapes penetrate; Cancelled when `progress` returns False.

    >>> band = clearance_band(Box([0, 0, 0], [1, 1, 1]), Box([0, 0, 1.25], [4, 4, 1]), 0.5)
    >>> band.least, band.greatest
    (0.25, 0.25)
    """
    validate_solids(a, b)
    if a.dim == 2:
        raise ValueError(
            "a and b are in the plane: a clearance band is of shapes in space; use contact(a, b) for the gap"
        )
    most = as_factor("limit", limit)
    report_progress(progress, 0.0)
    nearest = contact or find_contact(a, b, budget=0.0, progress=subrange(progress, 0.0, 0.3))
    if nearest.relation not in _APART:
        raise ValueError(
            "a and b penetrate: a clearance band is of shapes that are apart or touch; separate them first"
        )
    samples = surface_samples(a, SPACING * a.diameter, subrange(progress, 0.3, 0.5))
    result = _BandSearch(a, b, nearest, samples, most).run(subrange(progress, 0.5, 1.0))
    report_progress(progress, 1.0)
    return result


class _BandSearch:
    """The work of `clearance_band`."""

    def __init__(self, a: Solid, b: Solid, nearest: Contact, samples: SurfaceSamples, limit: float) -> None:
        """Get ready."""
        self.a, self.b, self.nearest, self.samples, self.limit = a, b, nearest, samples, limit
        self.of_b: SolidFacets = solid_facets(b)
        self.body = Body.of(self.of_b.mesh)
        self.faced = FacedSurface(self.body)
        self.band = contact_band(a, b, DEFAULT_CONTACT_TOLERANCE)
        self.rounding = MESH_GAP * EPS * max(a.magnitude, b.magnitude)

    def run(self, progress: Progress | None) -> ClearanceBand:
        """Measure the samples, and what is between them."""
        points = np.concatenate([self.samples.points, self.nearest.point_on_a[None]])
        distance, feet, on = self._measured(points, subrange(progress, 0.0, 0.8))
        vectors = self._vectors(points, distance, feet, on)
        faces = (self._cosines(points, vectors) >= FACING) & (distance <= self.limit)
        rows = np.flatnonzero(faces)
        faces[rows] = self.faced.is_faced(vectors[rows], feet[rows], on[rows])
        rows = np.flatnonzero(faces)
        faces[rows] = ~self._is_hidden(points[rows], vectors[rows], distance[rows])
        report_progress(progress, 0.9)
        least = greatest = lower = upper = None
        if faces.any():
            least, greatest = float(distance[faces].min()), float(distance[faces].max())
            lower = min(max(self.nearest.lower_bound, 0.0), least)
            upper = max(self._greatest_upper(vectors, feet, faces), greatest)
        count = len(points) if faces[-1] else len(points) - 1
        return ClearanceBand(
            least,
            lower,
            greatest,
            upper,
            read_only(points[:count]),
            read_only(np.where(faces, distance, np.nan)[:count]),
            read_only(self.samples.triangles),
            self.limit,
        )

    def _measured(self, points: FloatArray, progress: Progress | None) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return how far points (n, 3) are from B, infinite where that is beyond the limit and all edges, the nearest
        points of its facets and the triangles that these are on."""
        reach = self.limit + 2.0 * SPACING * self.a.diameter
        low, high = self.body.mesh.bounds
        near = np.flatnonzero(((points >= low - reach) & (points <= high + reach)).all(axis=1))
        found = points_to_mesh(points.take(near, axis=0), self.body.mesh, progress)
        distance, feet, on = np.full(len(points), np.inf), points.copy(), np.zeros(len(points), dtype=np.intp)
        feet[near], on[near], distance[near] = found.point, found.triangle, found.distance
        if self.of_b.curved:
            distance[near] = np.maximum(self.b.signed_distance(points.take(near, axis=0)), 0.0)
        return distance, feet, on

    def _vectors(self, points: FloatArray, distance: FloatArray, feet: FloatArray, on: IntArray) -> FloatArray:
        """Return unit vectors (n, 3) from points to B; in the band of touching that against B's normal. There points
        inside of B touch it."""
        away = feet - points
        vectors = unit_rows(away)
        normals = self.faced.normals.take(on, axis=0)
        touching = np.flatnonzero(distance <= self.band)
        inside = touching[np.einsum("ij,ij->i", away[touching], normals[touching]) > 0.0]
        vectors[touching] = -normals[touching]
        if self.body.solid:
            distance[inside] = 0.0
        return vectors

    def _cosines(self, points: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return (n,) the largest cosine between each vector and the normals of A there. The last point is the one that
        is nearest to B, the others are the samples."""
        samples = self.samples
        result = np.full(len(vectors), -1.0)
        for k in range(3):
            corner = samples.triangles[:, k]
            cosines = np.einsum("ij,ij->i", vectors.take(corner, axis=0), samples.normals)
            cosines = np.where(samples.is_bare, np.abs(cosines), cosines)
            np.maximum.at(result, corner, cosines)
        body = Body.of(solid_facets(self.a).mesh)
        foot = points_to_mesh(points[-1:], body.mesh).point
        width = ON_EDGE * self.a.diameter + self.rounding
        near = body.mesh.tree.query_box(foot[0] - width, foot[0] + width)
        off, _ = point_triangle_distances(np.repeat(foot.T, len(near), axis=1), body.mesh.corner_rows(near))
        cosines = body.normals(near[off <= width]) @ vectors[-1]
        result[-1] = (cosines if body.solid else np.abs(cosines)).max()
        return result

    def _is_hidden(self, points: FloatArray, vectors: FloatArray, distance: FloatArray) -> BoolArray:
        """Return whether the first step toward B is inside of A: of a compound, or of a mesh of several parts."""
        if isinstance(self.a, Mesh):
            body = Body.of(self.a)
            if not (body.solid and body.mesh.loose_parts.any()):
                return np.zeros(len(points), dtype=np.bool_)
        step = np.minimum(_BESIDE * self.a.diameter, 0.5 * distance)[:, None]
        return self.a.contains(points + step * vectors) & (distance > self.band)

    def _greatest_upper(self, vectors: FloatArray, feet: FloatArray, faces: BoolArray) -> float:
        """Return a length: no point of a triangle that faces B at a corner is farther from it, or it is beyond the
        limit."""
        samples = self.samples
        cosines = np.einsum("ijk,ik->ij", vectors[samples.triangles], samples.normals)
        cosines = np.where(samples.is_bare[:, None], np.abs(cosines), cosines)
        chosen = samples.triangles[(faces[samples.triangles] & (cosines >= FACING)).any(axis=1)]
        if not len(chosen):
            return 0.0
        most = float(farthest_of(samples.points[chosen], feet[chosen]).max())
        return min(most + samples.slack + self.rounding, self.limit)


def farthest_of(corners: FloatArray, feet: FloatArray) -> FloatArray:
    """Return (m,) how far a point of each triangle (m, 3, 3) can be at most from the nearest of three points (m, 3, 3),
    those nearest to its corners.

    Squares of distances from points differ by what is linear. So where one of them is the least, it is most at a corner
    of that part of the triangle: a corner of the triangle, a point of a side as far from two of them, or one as far
    from all three.
    """
    base = corners[:, 0]
    p, q = corners - base[:, None], feet - base[:, None]
    out = p[:, :, None] - q[:, None]
    squares = (out * out).sum(axis=3)  # of corner i and foot j
    most = squares.min(axis=2).max(axis=1)
    own = squares[:, [0, 1, 2], [0, 1, 2]]
    for i, j in ((0, 1), (1, 2), (2, 0)):
        # The difference of the squares goes from not above 0 at corner i to not below it at j.
        start, end = own[:, i] - squares[:, i, j], squares[:, j, i] - own[:, j]
        width = end - start
        fraction = np.clip(np.divide(-start, width, out=np.zeros_like(width), where=width > 0.0), 0.0, 1.0)[:, None]
        spot = p[:, i] + fraction * (p[:, j] - p[:, i])
        most = np.maximum(most, np.maximum(*(((spot - q[:, k]) ** 2).sum(axis=1) for k in (i, j))))
    # As far from all three: weights of the second and third corner.
    more = squares[:, :, :1] - squares[:, :, 1:]
    slopes = (more[:, 1:] - more[:, :1]).transpose(0, 2, 1)
    regular = np.flatnonzero(np.linalg.det(slopes) != 0.0)
    weights = np.linalg.solve(slopes[regular], -more[regular, 0, :, None])
    inside = (weights > 0.0).all(axis=(1, 2)) & (weights.sum(axis=(1, 2)) < 1.0)
    spot = (weights * p[regular, 1:]).sum(axis=1)
    squared = np.where(inside, ((spot - q[regular, 0]) ** 2).sum(axis=1), 0.0)
    most[regular] = np.maximum(most[regular], squared)
    return np.sqrt(most)
