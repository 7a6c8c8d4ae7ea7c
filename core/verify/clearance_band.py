# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a clearance band is a true statement about two solids.

Nothing is searched: every triangle of B whose box is as near as the gap is measured, point by point. What meets at the
nearest point follows from these triangles alone, not from edges. Curved surfaces are measured as they are, and their
facets decide what faces what, so angles are compared with some room there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..bounding.kdop import KDops
from ..broad_phase.candidate_pairs import candidate_pairs
from ..measures.clearance_band import SPACING, ClearanceBand, farthest_of
from ..meshes.body import Body
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances
from ..meshes.solid_facets import Solid, pieces_of, solid_facets
from ..narrow_phase.relation import contact_band
from ..runs import chunks
from ..tolerance import DEFAULT_CONTACT_TOLERANCE, promised
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import unit_rows
from .check import Check, Verification
from .form import Test, field_faults, first, is_array, is_length, optional
from .pair_proof import pair_bounds
from .surfaces import points_off, surface_distance

_FACING, _ALONG = (float(np.cos(np.radians(angle))) for angle in (45.0, 1.0))
_CLOSE = 1e-6
"""Not relative: cosines this near to where they decide decide nothing."""
_CLOSE_CURVED = 0.1
"""The same, where facets stand for a curved surface."""
_FOOT = 1e-6
"""Times the size of B: nearest points this near to each other are one."""
_AREA = 1e-9
"""Relative: by how much the area of all triangles may differ from that of the surface."""
_AREA_CURVED = 0.05
"""The same of a curved surface and its facets."""
_POINTS = 1 << 11
"""Points measured in one go."""
_CORNERS = 64
"""Corners of B that show how far points are from it at most."""


def check_clearance_band(answer: ClearanceBand, a: Solid, b: Solid) -> Verification:
    """Return, check by check, whether `answer` is a true statement about A and B, which must be shapes."""
    form = first("the band is well-formed", _faults(answer))
    if not form.ok:
        return Verification((form,), float("nan"))
    width = 0.0
    if answer.least is not None and answer.least_lower is not None:
        width = answer.least - answer.least_lower
    return Verification((form, *_ReportedBand(answer, a, b).checks()), width)


def _faults(answer: ClearanceBand) -> Iterator[str]:
    tests: dict[str, Test] = {
        "points": lambda points: is_array(points, (None, 3)) and len(points) > 0,
        "least least_lower greatest greatest_upper": optional(is_length),
        "limit": is_length,
        "gaps": lambda gaps: isinstance(gaps, np.ndarray) and gaps.shape == (len(answer.points),),
        "triangles": lambda t: (
            isinstance(t, np.ndarray)
            and t.dtype.kind == "i"
            and t.shape == (len(t), 3)
            and bool(((t >= 0) & (t < len(answer.points))).all())
        ),
    }
    yield from field_faults(answer, tests)
    lengths = (answer.least_lower, answer.least, answer.greatest, answer.greatest_upper)
    finite = answer.gaps[np.isfinite(answer.gaps)]
    if not len(finite):
        if lengths != (None,) * 4:
            yield f"lengths are {lengths}, without a gap"
    elif None in lengths or not (0.0 <= lengths[0] <= lengths[1] <= lengths[2] <= lengths[3]):  # type: ignore[operator]
        yield f"lengths are {lengths}, which do not ascend"
    elif (finite.min(), finite.max()) != (answer.least, answer.greatest) or finite.max() > answer.limit:
        yield f"the gaps are from {finite.min()} to {finite.max()}"


@dataclass(frozen=True, eq=False)
class _Nearest:
    """What of a surface is nearest to points."""

    distance: FloatArray
    """(n,) infinite where nothing is within the reach."""
    foot: FloatArray
    """(n, 3)"""
    owner: IntArray
    """(k,) pairs of a point and a triangle that is as near at its foot."""
    face: IntArray
    """(k,)"""
    is_tie: BoolArray
    """(n,) whether another point is as near."""


class _ReportedBand:
    """The checks of a band that has the right form."""

    def __init__(self, answer: ClearanceBand, a: Solid, b: Solid) -> None:
        """Get the surfaces as triangles."""
        self.answer, self.a, self.b = answer, a, b
        self.of_a, self.of_b = solid_facets(a), solid_facets(b)
        self.body_a, self.body_b = Body.of(self.of_a.mesh), Body.of(self.of_b.mesh)
        self.tolerance = promised(answer.limit, max(a.extent, b.extent), max(a.magnitude, b.magnitude))
        self.is_curved = self.of_a.slack + self.of_b.slack > 0.0
        self.close = _CLOSE_CURVED if self.is_curved else _CLOSE
        self.band = contact_band(a, b, DEFAULT_CONTACT_TOLERANCE)
        self.nearest = self._nearest(answer.points)
        self.vectors = unit_rows(self.nearest.foot - answer.points)
        corners = answer.points[answer.triangles]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self.normals = unit_rows(across) * self.body_a.outward

    def checks(self) -> Iterator[Check]:
        """Yield the checks."""
        yield self._on_surface()
        yield self._covered()
        gaps, found = self.answer.gaps, self.nearest.distance.copy()
        if self.of_b.slack > 0.0:
            found = np.maximum(self.b.signed_distance(self.answer.points), 0.0)
        off = np.abs(np.where(np.isfinite(gaps), gaps - found, 0.0))
        # Points inside of B, by less than the band of touching, touch it.
        off[(gaps == 0.0) & (found <= self.band)] = 0.0
        yield Check("the gaps are distances from B", bool(off.max() <= self.tolerance), f"off by {off.max():.3g}")
        must, may = self._facing()
        wrong = np.flatnonzero(np.where(np.isfinite(gaps), ~may, must & (found < self.answer.limit - self.tolerance)))
        detail = f"point {wrong[0]} is wrong" if len(wrong) else f"{int(np.isfinite(gaps).sum())} do"
        yield Check("the points that face B have gaps, and no others", not len(wrong), detail)
        if self.answer.least is not None:
            yield self._lower()
            yield self._upper()

    def _on_surface(self) -> Check:
        points = self.answer.points
        if self.of_a.slack > 0.0:
            off = np.abs(self.a.signed_distance(points))
            # A compound's signed distance is that of one piece: points may be inside of another.
            off = np.where(off <= self.tolerance, 0.0, points_off(points, self.of_a.mesh, 2.0 * self.of_a.slack))
            ok = bool((off <= 2.0 * self.of_a.slack + self.tolerance).all())
        else:
            off = points_off(points, self.body_a.mesh, self.tolerance)
            ok = bool((off <= self.tolerance).all())
        return Check("the points are on the surface of A", ok, f"off by {off.max():.3g}")

    def _covered(self) -> Check:
        """The triangles are as large as A's surface and have no long sides."""
        corners = self.answer.points[self.answer.triangles]
        sides = corners - np.roll(corners, 1, axis=1)
        longest = float(np.sqrt((sides * sides).sum(axis=2)).max(initial=0.0))
        area = 0.5 * float(np.sqrt((np.cross(sides[:, 0], sides[:, 1]) ** 2).sum(axis=1)).sum())
        mesh = self.body_a.mesh
        room = _AREA_CURVED if self.of_a.slack > 0.0 else _AREA
        ok = abs(area - mesh.area) <= room * mesh.area + self.tolerance * longest * len(corners)
        ok &= longest <= SPACING * self.a.diameter * (1.0 + room) + self.tolerance
        return Check(
            "the triangles cover A", bool(ok), f"area {area:.9g} of {mesh.area:.9g}, longest side {longest:.3g}"
        )

    def _nearest(self, points: FloatArray) -> _Nearest:
        """Measure points against all triangles of B whose boxes may be as near."""
        mesh = self.body_b.mesh
        boxes = mesh.tree.item_volumes
        assert isinstance(boxes, KDops)
        foot, distance = points.copy(), np.full(len(points), np.inf)
        is_tie = np.zeros(len(points), dtype=np.bool_)
        owners, faces = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        wide = _FOOT * self.b.diameter
        used = np.unique(mesh.triangles)
        corners = mesh.points[used[:: max(1, len(used) // _CORNERS)]]
        for part in chunks(len(points), _POINTS):
            own = points[part]
            reach = self.answer.limit + self.tolerance + self.of_b.slack + 2.0 * SPACING * self.a.diameter
            # No farther than the nearest of some corners.
            gaps = np.sqrt(((own[:, None] - corners) ** 2).sum(axis=2)).min(axis=1)[:, None] + self.tolerance
            gaps = np.minimum(gaps, reach)
            i, j = candidate_pairs(own - gaps, own + gaps, boxes.low, boxes.high).pairs.T
            found, feet = point_triangle_distances(np.ascontiguousarray(own.take(i, axis=0).T), mesh.corner_rows(j))
            least = np.full(len(own), np.inf)
            np.minimum.at(least, i, found)
            near = np.flatnonzero(found <= least[i] + self.tolerance)
            i, j, feet = i[near], j[near], feet.T[near]
            order = np.lexsort((found[near], i))
            one = order[np.flatnonzero(np.diff(i[order], prepend=-1))]
            distance[part] = least
            foot[part.start + i[one]] = feet[one]
            apart = feet - foot[part][i]
            is_same = np.sqrt((apart * apart).sum(axis=1)) <= wide
            is_tie[part.start + i[~is_same]] = True
            owners.append(part.start + i[is_same])
            faces.append(j[is_same])
        distance[distance > reach] = np.inf
        return _Nearest(distance, foot, np.concatenate(owners), np.concatenate(faces), is_tie)

    def _facing(self) -> tuple[BoolArray, BoolArray]:
        """Return (n,) which points certainly face B, and which may: how sharp edges are is not looked at."""
        points, nearest, close = self.answer.points, self.nearest, self.close
        normals = self.body_b.normals(nearest.face)
        touching = nearest.distance <= self.band
        rows = np.flatnonzero(touching[nearest.owner])
        self.vectors[nearest.owner[rows]] = -normals[rows]
        cosines = -np.einsum("ij,ij->i", self.vectors[nearest.owner], normals)
        of_b = np.full(len(points), -1.0)
        np.maximum.at(of_b, nearest.owner, cosines if self.body_b.solid else np.abs(cosines))
        # What is the corner of no triangle, the point nearest to B, may.
        of_a = np.full(len(points), _FACING)
        of_a[self.answer.triangles] = -1.0
        for k in range(3):
            cosines = np.einsum("ij,ij->i", self.vectors[self.answer.triangles[:, k]], self.normals)
            np.maximum.at(of_a, self.answer.triangles[:, k], cosines if self.body_a.solid else np.abs(cosines))
        must = (of_a >= _FACING + close) & (of_b >= _ALONG + 0.1 * close) & ~nearest.is_tie & ~touching
        if self.is_curved:
            must[:] = False
        elif not isinstance(self.a, Mesh) or self.body_a.solid:
            rows = np.flatnonzero(must & np.isfinite(nearest.distance))
            step = np.minimum(1e-6 * self.a.diameter, 0.5 * nearest.distance[rows])[:, None]
            must[rows] = ~self.a.contains(points[rows] + step * self.vectors[rows])
        may = (of_a >= _FACING - close) & (of_b >= _FACING - close)
        return must, np.isfinite(nearest.distance) & (may | nearest.is_tie | touching)

    def _lower(self) -> Check:
        """No two pieces are nearer; beside a mesh no triangles, less what curved surfaces are beyond their facets."""
        name, lower = "nothing is nearer than the lower bound", self.answer.least_lower
        assert lower is not None
        if isinstance(self.a, Mesh) or isinstance(self.b, Mesh) or not self.is_curved:
            slack = self.of_a.slack + self.of_b.slack
            proven = surface_distance(self.body_a.mesh, self.body_b.mesh, lower + slack)[0] - slack
            if self.is_curved and proven < lower - self.tolerance:
                return Check(f"not checked: {name}", True, f"bound {lower:.17g}, facets {proven:.17g}")
        else:
            pairs = product(pieces_of(self.a), pieces_of(self.b))
            proven = min(pair_bounds(p, q).lower for p, q in pairs)
        ok = lower <= max(proven, 0.0) + self.tolerance
        return Check(name, ok, f"bound {lower:.17g}, proved {proven:.17g}")

    def _upper(self) -> Check:
        """The nearest points of the corners prove it of all triangles that face B at one, but for those of which a
        corner has several."""
        answer, upper = self.answer, self.answer.greatest_upper
        assert upper is not None
        cosines = np.einsum("ijk,ik->ij", self.vectors[answer.triangles], self.normals)
        cosines = cosines if self.body_a.solid else np.abs(cosines)
        faces = (np.isfinite(answer.gaps)[answer.triangles] & (cosines >= _FACING + self.close)).any(axis=1)
        chosen = answer.triangles[faces & ~self.nearest.is_tie[answer.triangles].any(axis=1)]
        proven = float(farthest_of(answer.points[chosen], self.nearest.foot[chosen]).max(initial=0.0))
        ok = upper >= min(proven, answer.limit) - self.tolerance
        return Check("no point between the samples is farther than the upper bound", ok, f"proved {proven:.9g}")
