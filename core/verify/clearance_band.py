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
from ..meshes.copies import welded_ids
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances
from ..meshes.solid_facets import Solid, pieces_of, solid_facets
from ..meshes.triangle_distance import triangle_distances
from ..narrow_phase.relation import contact_band
from ..runs import chunks
from ..tolerance import DEFAULT_CONTACT_TOLERANCE, promised
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import unit_rows
from .check import Check, Verification
from .form import Test, field_faults, first, is_array, is_length, optional
from .pair_proof import pair_bounds
from .surfaces import points_off, surface_distance

_FACING, _SHARP, _ALONG = (float(np.cos(np.radians(angle))) for angle in (45.0, 30.0, 1.0))
_BOTH = float(np.cos(np.radians(46.0)))
"""Cosine between two normals, of which a vector is within 45 degrees of one and 1 of the other."""
_CLOSE = 1e-6
"""Not relative: cosines this near to where they decide decide nothing."""
_CLOSE_BOUND = 5e-7
"""The same, where the solver has given them more room."""
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
_CUTS = 4
"""Times that triangles are cut into four to prove how far they are from B."""
_NAME = "no point between the samples is farther than the upper bound"


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
            and t.ndim == 2
            and t.shape[1] == 3
            and bool((t >= 0).all() and (t < len(answer.points)).all())
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
        """The triangles are as large as A's surface, have A's corners and no long sides."""
        corners = self.answer.points[self.answer.triangles]
        sides = corners - np.roll(corners, 1, axis=1)
        longest = float(np.sqrt((sides * sides).sum(axis=2)).max(initial=0.0))
        area = 0.5 * float(np.sqrt((np.cross(sides[:, 0], sides[:, 1]) ** 2).sum(axis=1)).sum())
        mesh = self.body_a.mesh
        room = _AREA_CURVED if self.of_a.slack > 0.0 else _AREA
        ok = abs(area - mesh.area) <= room * mesh.area + self.tolerance * longest * len(corners)
        ok &= longest <= SPACING * self.a.diameter * (1.0 + room) + self.tolerance
        if self.of_a.slack == 0.0:
            own = mesh.points[np.unique(mesh.triangles)]
            ids = welded_ids(np.concatenate([self.answer.points[np.unique(self.answer.triangles)], own]))
            ok &= bool((ids[-len(own) :] < len(ids) - len(own)).all())
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
        """Return (n,) which samples certainly face B, and which may."""
        points, nearest, close = self.answer.points, self.nearest, self.close
        normals = self.body_b.normals(np.arange(len(self.body_b.mesh.triangles)))
        is_real = normals[nearest.face].any(axis=1)
        owner, face = nearest.owner[is_real], nearest.face[is_real]
        vectors = unit_rows(nearest.foot - points)
        touching = nearest.distance <= self.band
        vectors[owner[touching[owner]]] = -normals[face[touching[owner]]]
        cosines = -np.einsum("ij,ij->i", vectors[owner], normals[face])
        cosines = cosines if self.body_b.solid else np.abs(cosines)
        of_b = np.full(len(points), -1.0)
        np.maximum.at(of_b, owner, cosines)
        certainly, maybe = self._sharp(owner, normals[face])
        of_a = self._cosines_of_a(vectors)
        hidden = np.zeros(len(points), dtype=np.bool_)
        if not isinstance(self.a, Mesh) or self.body_a.solid:
            step = np.minimum(
                1e-6 * self.a.diameter, 0.5 * np.where(np.isfinite(nearest.distance), nearest.distance, 0)
            )
            near = np.flatnonzero((of_b >= _FACING - close) & (of_a >= _FACING - close) & ~touching)
            hidden[near] = self.a.contains(points[near] + step[near, None] * vectors[near])
        must = (of_a >= _FACING + close) & (of_b >= np.where(maybe, _ALONG + 0.1 * _CLOSE, _FACING + close))
        may = (of_a >= _FACING - close) & (of_b >= np.where(certainly, _ALONG - close, _FACING - close))
        unclear = nearest.is_tie | touching
        return must & ~hidden & ~unclear & (not self.is_curved), np.isfinite(nearest.distance) & (may | unclear)

    def _cosines_of_a(self, vectors: FloatArray) -> FloatArray:
        """Return (n,) the largest cosine between vectors of samples and normals of A there."""
        answer, body = self.answer, self.body_a
        corners = answer.points[answer.triangles]
        normals = unit_rows(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])) * body.outward
        result = np.full(len(vectors), -1.0)
        for k in range(3):
            cosines = np.einsum("ij,ij->i", vectors[answer.triangles[:, k]], normals)
            np.maximum.at(result, answer.triangles[:, k], cosines if body.solid else np.abs(cosines))
        for alone in np.setdiff1d(np.arange(len(vectors)), answer.triangles).tolist():
            rows = np.repeat(answer.points[alone][:, None], len(body.mesh.triangles), axis=1)
            off = point_triangle_distances(rows, body.mesh.corner_rows(np.arange(len(body.mesh.triangles))))[0]
            cosines = body.normals(np.flatnonzero(off <= off.min() + self.tolerance)) @ vectors[alone]
            result[alone] = (cosines if body.solid else np.abs(cosines)).max()
        return result

    def _sharp(self, owner: IntArray, normals: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Return (n,) whether the normals (k, 3) of each point's triangles certainly turn by more than 30 degrees, and
        whether they may, or the surface may end there."""
        count = np.bincount(owner, minlength=len(self.answer.points))
        order = np.argsort(owner, kind="stable")
        begin = np.cumsum(count) - count
        least = np.ones(len(count))
        for size in np.unique(count[count > 1]).tolist():
            for part in chunks(int((count == size).sum()), max(1, 100_000 // size**2)):
                rows = np.flatnonzero(count == size)[part]
                own = normals[order[begin[rows][:, None] + np.arange(size)]]
                least[rows] = (own @ own.transpose(0, 2, 1)).min(axis=(1, 2))
        ends = (not self.body_b.solid) & (count > 0)
        return (least < _SHARP - self.close) & ~ends, (least < _SHARP + self.close) | ends

    def _lower(self) -> Check:
        """Nothing that faces B is nearer: no triangles are, or those that are cannot face each other."""
        name, lower = "nothing that faces B is nearer than the lower bound", self.answer.least_lower
        assert lower is not None
        if self.is_curved:
            return self._lower_curved(name, lower)
        meshes = self.body_a.mesh, self.body_b.mesh
        least = surface_distance(*meshes, lower)[0]
        if least >= lower - self.tolerance:
            return Check(name, True, f"bound {lower:.17g}, triangles {least:.17g}")
        corners = self.answer.points[self.answer.triangles]
        others = meshes[1].points[meshes[1].triangles]
        normals = [
            unit_rows(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])) * body.outward
            for c, body in ((corners, self.body_a), (others, self.body_b))
        ]
        worst = lower
        solid = self.body_b.solid
        bent = self._bent(others, normals[1])
        for part in chunks(len(corners), _POINTS):
            own = corners[part]
            i, j = candidate_pairs(
                own.min(axis=1), own.max(axis=1), others.min(axis=1), others.max(axis=1), margin=lower
            ).pairs.T
            between = triangle_distances(own[i], others[j]).lower_bound
            near = np.flatnonzero(between < lower - self.tolerance)
            i, j, between = i[near], j[near], between[near]
            can = np.ones(len(near), dtype=np.bool_)
            turn = -np.einsum("ij,ij->i", normals[0][part][i], normals[1][j])
            turn = turn if solid and self.body_a.solid else np.abs(turn)
            can &= turn >= np.where(bent[j], 0.0, _BOTH) - _CLOSE_BOUND
            # All vectors from corner to corner: their parts along the normals are the extremes.
            out = others[j][:, None] - own[i][:, :, None]
            cosines = np.where(bent[j], _FACING, _ALONG)
            for normal, sign, body, cosine in (
                (normals[0][part][i], 1.0, self.body_a, np.full(len(near), _FACING)),
                (normals[1][j], -1.0, self.body_b, cosines),
            ):
                heights = sign * np.einsum("iklm,im->ikl", out, normal)
                heights = (heights if body.solid else np.abs(heights)).max(axis=(1, 2))
                can &= heights >= (cosine - _CLOSE_BOUND) * between
            worst = min(worst, float(between[can].min(initial=worst)))
        return Check(name, worst >= lower - self.tolerance, f"bound {lower:.17g}, triangles {worst:.17g}")

    def _lower_curved(self, name: str, lower: float) -> Check:
        """No two pieces are nearer; beside a mesh no facets, less what curved surfaces are beyond them."""
        if isinstance(self.a, Mesh) or isinstance(self.b, Mesh):
            slack = self.of_a.slack + self.of_b.slack
            proven = surface_distance(self.body_a.mesh, self.body_b.mesh, lower + slack)[0] - slack
            if proven < lower - self.tolerance:
                return Check(f"not checked: {name}", True, f"bound {lower:.17g}, facets {proven:.17g}")
        else:
            pairs = product(pieces_of(self.a), pieces_of(self.b))
            proven = min(pair_bounds(p, q).lower for p, q in pairs)
        ok = lower <= max(proven, 0.0) + self.tolerance
        return Check(name, ok, f"bound {lower:.17g}, proved {proven:.17g}")

    def _bent(self, corners: FloatArray, normals: FloatArray) -> BoolArray:
        """Return (m,) whether triangles of B meet others that turn by 1 to 30 degrees against them."""
        low, high = corners.min(axis=1), corners.max(axis=1)
        i, j = candidate_pairs(low, high, margin=self.tolerance).pairs.T
        turns = np.einsum("ij,ij->i", normals[i], normals[j])
        near = np.flatnonzero((turns >= _SHARP - _CLOSE_BOUND) & (turns < _ALONG + _CLOSE_BOUND))
        i, j = i[near], j[near]
        met = triangle_distances(corners[i], corners[j]).distance <= self.tolerance
        result = np.zeros(len(corners), dtype=np.bool_)
        result[i[met]] = result[j[met]] = True
        return result

    def _upper(self) -> Check:
        """All of the triangles that face B at a corner is near it: cut smaller until that is proved."""
        answer, upper = self.answer, self.answer.greatest_upper
        assert upper is not None
        if upper >= answer.limit:
            return Check(_NAME, True, "it is the limit")
        corners = answer.points[answer.triangles]
        normals = unit_rows(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        normals *= self.body_a.outward
        vectors = unit_rows(self.nearest.foot - answer.points)[answer.triangles]
        cosines = np.einsum("ijk,ik->ij", vectors, normals)
        cosines = cosines if self.body_a.solid else np.abs(cosines)
        faces = np.isfinite(answer.gaps)[answer.triangles] & (cosines >= _FACING + self.close)
        chosen = faces.any(axis=1)
        corners, feet = corners[chosen], self.nearest.foot[answer.triangles[chosen]]
        room = upper + self.tolerance
        for _ in range(_CUTS):
            # Those that alone prove too little.
            kept = farthest_of(corners, feet) > room
            corners = corners[kept]
            if not len(corners):
                return Check(_NAME, True, f"bound {upper:.9g}")
            middles = 0.5 * (corners + np.roll(corners, -1, axis=1))
            parts = [np.stack([corners[:, k], middles[:, k], middles[:, k - 1]], axis=1) for k in range(3)]
            corners = np.concatenate([*parts, middles])
            found = self._nearest(corners.reshape(-1, 3))
            if found.distance.max() > room + self.of_b.slack:
                return Check(_NAME, False, f"bound {upper:.9g}, a point is at {found.distance.max():.9g}")
            feet = found.foot.reshape(-1, 3, 3)
        return Check(f"not checked: {_NAME}", True, f"{len(corners)} triangles prove too little")
