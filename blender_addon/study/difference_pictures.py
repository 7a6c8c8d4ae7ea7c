# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the steps of GJK and EPA: the Minkowski difference beside the objects, and in it simplex or polytope.

What is lit in the difference is lit on the objects too: the vertices of A and of B that a point of A - B is made of. In
the plane the Voronoi regions of the simplex are tinted. No Blender, no GPU. Source: S4.1, S4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ...core.narrow_phase.gjk import simplex_of, witness_points
from ...core.shapes.minkowski_hull import MinkowskiHull
from ...core.shapes.rounded import Rounded
from ...core.shapes.simplex import barycentric
from ...core.shapes.voronoi import voronoi_regions
from ...core.trace import EpaStep, FaceCorners, GjkStep, IndexPair
from ...core.types import FloatArray
from ..geometry.plane import STEPS
from ..geometry.shape_outline import SHARP, fan, loop, rectangle, wires
from .picture import Canvas, Role, StudyPicture
from .traced_pair import TracedPair

BESIDE = 0.15
"""Room between the objects and the difference, relative to the larger of both."""
AROUND = 0.15
"""Room around the difference in the plane, in which Voronoi regions are tinted, relative to it."""
ARROW = 0.25
"""Length of the arrow of a direction, relative to the difference."""
MOST_EDGES = 1_500
"""Edges of the difference that are drawn; more would be a blot."""
INWARD = 0.25
"""How far from its corner a region is named, relative to its middle."""
FAINT = 0.4
"""Opacity of what is behind the subject."""
THICK, THIN = 1.6, 0.5
"""Widths of the lines of the subject, and of what is behind it."""
_BODY_ROLES: tuple[Role, ...] = ("a", "b", "hull")
_REGIONS = ("Point", "Edge", "Triangle")


class _Sheet:
    """What is drawn of a step: at the objects, in the difference, and both together."""

    def __init__(self, behind: StudyPicture | None = None) -> None:
        self.whole = Canvas(behind)
        self.objects, self.difference = Canvas(whole=self.whole), Canvas(whole=self.whole)


class DifferencePictures:
    """The pictures of the steps of GJK and EPA of a pair."""

    def __init__(self, pair: TracedPair, body: MinkowskiHull) -> None:
        """body: the Minkowski difference or sum of the pair, which is the same for every offset."""
        self.pair, self.given, self.trace, self.ids, self.body = pair, pair.given, pair.trace, pair.ids, body
        (self.a, self.b), self.dim, self.is_sum = pair.cores, pair.trace.dim, pair.given.settings.is_sum
        offset = self.given.settings.offset
        self.origin = self.given.in_world(self._beside) if offset is None else np.array(offset, dtype=float)
        """(3,) where the origin of the difference is drawn, world space."""

    def picture(self, place: int) -> StudyPicture:
        """Return the picture of the step at a place in the trace."""
        return self._drawn(place, self.behind).whole.picture()

    def parts(self, place: int) -> tuple[StudyPicture, StudyPicture]:
        """Return what is drawn of the step at the objects, and in the difference without what is behind all steps."""
        sheet = self._drawn(place)
        return sheet.objects.picture(), sheet.difference.picture()

    def _drawn(self, place: int, behind: StudyPicture | None = None) -> _Sheet:
        step, sheet = self.trace.steps[place], _Sheet(behind)
        if isinstance(step, GjkStep):
            self._draw_gjk(sheet, step)
        elif isinstance(step, EpaStep):
            self._draw_epa(sheet, step, place)
        return sheet

    def before(self, place: int) -> StudyPicture:
        """Return what is known in the difference before the support point of the step: the simplex or the polytope, and
        the direction of the search."""
        step, sheet = self.trace.steps[place], _Sheet()
        canvas, start = sheet.difference, np.zeros(self.dim)
        canvas.label("origin", "Origin", self.origin)
        if isinstance(step, GjkStep):
            self._draw_simplex(sheet, "simplex", step.before)
            self._draw_direction(canvas, "Direction", start, step.direction[: self.dim])
        elif isinstance(step, EpaStep):
            self._draw_faces(canvas, "simplex", [face for face in self.polytopes[place] if face != step.face])
            self._draw_simplex(sheet, "nearest", step.face, THICK)
            start = self.differences(step.face).mean(axis=0) if step.face else start
            self._draw_direction(canvas, "Normal", start, step.normal[: self.dim])
        return canvas.picture()

    # --- places

    @cached_property
    def _bounds(self) -> FloatArray:
        """Common bounds (2, dim) of the objects."""
        (low_a, high_a), (low_b, high_b) = self.given.a.bounds, self.given.b.bounds
        return np.array([np.minimum(low_a, low_b), np.maximum(high_a, high_b)])

    @cached_property
    def _zero(self) -> FloatArray:
        """The point of the body that is at its origin: a sum, which depends on where the world's is, is that of both as
        seen from their middle."""
        return self._bounds.sum(axis=0) if self.is_sum else np.zeros(self.dim)

    @cached_property
    def _window(self) -> FloatArray:
        """Bounds (2, dim) of the difference and its origin, relative to that; in the plane a square around."""
        low, high = np.array(self.body.shape.bounds) - self._zero
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        if self.dim == 2:
            middle, half = 0.5 * (low + high), (0.5 + AROUND) * (high - low).max()
            low, high = middle - half, middle + half
        return np.array([low, high])

    @property
    def _size(self) -> float:
        return float(np.ptp(self._window, axis=0).max()) or 1.0

    @property
    def _beside(self) -> FloatArray:
        """Where the origin is (dim,) for the difference to be right of the objects, at their height."""
        place = self._bounds.mean(axis=0) - self._window.mean(axis=0)
        room = BESIDE * max(self._size, float(np.ptp(self._bounds, axis=0).max()))
        place[0] = self._bounds[1, 0] + room - self._window[0, 0]
        return place

    def _vectors(self, vectors: ArrayLike) -> FloatArray:
        """Return vectors (..., dim) in the world (..., 3)."""
        array = np.asarray(vectors, dtype=float)
        return array if self.given.flat is None else array @ self.given.flat.axes

    def placed(self, points: ArrayLike) -> FloatArray:
        """Return points (..., dim) of the difference where they are drawn (..., 3)."""
        return self.origin + self._vectors(points)

    def differences(self, pairs: ArrayLike) -> FloatArray:
        """Return points (..., dim) of A - B by their indices (..., 2)."""
        indices = np.asarray(pairs, dtype=np.intp)
        return self.a.vertices[indices[..., 0]] - self.b.vertices[indices[..., 1]]

    # --- what all have in common

    @cached_property
    def behind(self) -> StudyPicture:
        """The difference, what each of its facets is from, and its origin."""
        canvas, hull = Canvas(), self.body.hull
        corners = self.placed(hull.vertices - self._zero)
        # 0: a face of A and a vertex of B, 1: the same of B, 2: spanned by two edges.
        is_of_a, is_of_b = (self.body.faces >= 0).T
        kinds = np.where(is_of_a, 0, np.where(is_of_b, 1, 2))
        is_polygon = self.dim == hull.rank == 2
        beside = np.arange(len(hull.edges))[:, None] if is_polygon else hull.edge_facets
        kinds_of_edges = kinds[beside].min(axis=1) if len(beside) else np.full(len(hull.edges), 2)
        # Within a part of A or of B its creases are enough.
        is_seen = np.ones(len(hull.edges), dtype=bool)
        if self.dim == hull.rank == 3:
            first, second = hull.normals[beside].transpose(1, 0, 2)
            is_seen = (kinds[beside[:, 0]] != kinds[beside[:, 1]]) | ((first * second).sum(axis=1) < SHARP)
        for kind, role in enumerate(_BODY_ROLES):
            if self.dim == 3:
                fans = [fan(corners[hull.facets[k]]) for k in np.flatnonzero(kinds == kind)]
                canvas.fill(role, np.concatenate([np.zeros((0, 3, 3)), *fans]), FAINT)
            if is_seen.sum() <= MOST_EDGES:
                canvas.line(role, corners[hull.edges[is_seen & (kinds_of_edges == kind)]], THIN)
        if is_polygon:
            canvas.fill("hull", fan(corners))
        if isinstance(self.body.shape, Rounded):
            canvas.line("hull", self._rounded(self.body.shape), THIN if self.dim == 3 else 1.0)
        canvas.mark("origin", self.origin)
        if self.is_sum:
            canvas.label("origin", "Origin", self.origin)
        words = "Minkowski Sum A + B" if self.is_sum else "Minkowski Difference A - B"
        canvas.label("hull", words, corners[int(hull.vertices[:, -1].argmax())])
        return canvas.picture()

    def _rounded(self, shape: Rounded) -> FloatArray:
        """Return the outline (n, 2, 3) of the difference of round shapes."""
        turn = np.linspace(0.0, 2.0 * np.pi, STEPS + 1)
        lines = wires(shape) if self.dim == 3 else [shape.supports(np.stack([np.cos(turn), np.sin(turn)], axis=1))]
        return self.placed(np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines]) - self._zero)

    def _draw_support(self, sheet: _Sheet, support: IndexPair | None) -> None:
        """Light a support point, and the two vertices that it is made of."""
        if support is None:
            return
        names = [str(ids[index]) for ids, index in zip(self.ids, support, strict=True)]
        for shape, index, name in zip((self.a, self.b), support, names, strict=True):
            vertex = self.given.in_world(shape.vertices[index])
            sheet.objects.mark("support", vertex)
            sheet.objects.label("support", f"Vertex {name}", vertex)
        if not self.is_sum:
            point = self.placed(self.differences(support))
            sheet.difference.mark("support", point)
            sheet.difference.label("support", f"({', '.join(names)})", point)

    def _draw_simplex(self, sheet: _Sheet, role: Role, pairs: Sequence[IndexPair], width: float = 1.0) -> None:
        """Add a point, an edge, a triangle or a tetrahedron of A - B, and light what it is made of on the objects."""
        if not pairs:
            return
        sheet.difference.simplex(role, self.placed(self.differences(pairs)), width)
        for shape, indices in zip((self.a, self.b), zip(*pairs, strict=True), strict=True):
            feature = self.given.in_world(shape.vertices[list(dict.fromkeys(indices))])
            sheet.objects.simplex(role, feature, width, FAINT)

    def _draw_distance(self, canvas: Canvas, point: FloatArray, distance: float) -> None:
        """Add the line from the origin to a point of the difference, with its length."""
        end = self.placed(point)
        if distance != 0.0:
            canvas.line("nearest", [self.origin, end], is_dashed=True)
        canvas.label("nearest", self.given.units.length(abs(distance)), 0.5 * (self.origin + end))

    def _draw_direction(self, canvas: Canvas, name: str, start: FloatArray, direction: ArrayLike) -> None:
        tail = self.placed(start)
        tip = tail + ARROW * self._size * self._vectors(direction)
        canvas.line("direction", [tail, tip], is_arrow=True)
        canvas.label("direction", name, tip)

    # --- GJK

    def _draw_gjk(self, sheet: _Sheet, step: GjkStep) -> None:
        canvas = sheet.difference
        self._draw_support(sheet, step.support)
        if self.is_sum:
            return
        is_common = step.outcome in ("inside", "touching")
        words = "inside" if len(step.after) > self.dim else "on the Simplex"
        canvas.label("origin", f"Origin {words}" if is_common else "Origin", self.origin)
        if self.dim == 2 and step.after:
            self._draw_regions(canvas, step.tried or step.after, set(step.after))
        self._draw_simplex(sheet, "simplex", step.before)
        self._draw_simplex(sheet, "nearest", step.after, THICK)
        if any(step.direction):
            self._draw_direction(canvas, "Direction", np.zeros(self.dim), step.direction)
        if step.after and not is_common:
            canvas.mark("nearest", self.placed(step.nearest))
            self._draw_distance(canvas, np.array(step.nearest), float(np.linalg.norm(step.nearest)))

    def _draw_regions(self, canvas: Canvas, tried: Sequence[IndexPair], nearest: set[IndexPair]) -> None:
        """Tint the Voronoi regions of a simplex in the plane, and most that of the nearest face, with the origin."""
        regions = voronoi_regions(self.differences(tried), rectangle(*self._window))
        sides = []
        for face, region in regions.items():
            is_of_origin = {tried[k] for k in face} == nearest
            sides.append(loop(region))
            corners = self.placed(region)
            canvas.fill("voronoi" if is_of_origin else "other", fan(corners))
            if is_of_origin:
                # In its far corner, beside what else is written.
                far = corners[int(np.linalg.norm(region, axis=1).argmax())]
                words = f"Voronoi Region of the {_REGIONS[len(face) - 1]}"
                canvas.label("voronoi", words, far + INWARD * (corners.mean(axis=0) - far))
        # A border is a side of both regions beside it, and would be dashed twice.
        found = np.concatenate(sides) / self._size
        ends = (found @ (1.0, 0.5**0.5)).argsort(axis=1)[:, :, None]
        unique = np.unique(np.take_along_axis(found, ends, axis=1).round(9), axis=0)
        canvas.line("other", self.placed(unique * self._size), is_dashed=True)

    # --- EPA

    @cached_property
    def polytopes(self) -> list[tuple[FaceCorners, ...]]:
        """The faces of EPA's polytope before each step of the trace, and after the last one."""
        found: list[tuple[FaceCorners, ...]] = [()]
        for step in self.trace.steps:
            faces = found[-1]
            if isinstance(step, EpaStep) and step.added:
                removed = set(step.removed)
                faces = (*(face for face in faces if face not in removed), *step.added)
            found.append(faces)
        return found

    def _draw_epa(self, sheet: _Sheet, step: EpaStep, place: int) -> None:
        canvas = sheet.difference
        self._draw_support(sheet, step.support)
        if self.is_sum:
            return
        canvas.label("origin", "Origin", self.origin)
        gone = {*step.removed, step.face}
        self._draw_faces(canvas, "simplex", [face for face in self.polytopes[place] if face not in gone])
        self._draw_faces(canvas, "added", step.added)
        if step.offset is None:
            return
        self._draw_simplex(sheet, "nearest", step.face, THICK)
        self._draw_faces(canvas, "removed", step.removed, is_dashed=True)
        if step.silhouette:
            canvas.line("silhouette", self.placed(self.differences(step.silhouette)))
        normal = np.array(step.normal)[: self.dim]
        found = self.pair.found_earlier(place) or step
        if found.height is not None and found.outcome in ("nearest", "tie", "flat"):
            self._draw_depth(sheet, found.face, np.array(found.normal)[: self.dim], found.height)
            return
        self._draw_distance(canvas, step.offset * normal, step.offset)
        self._draw_direction(canvas, "Normal", self.differences(step.face).mean(axis=0), normal)

    def _draw_depth(self, sheet: _Sheet, face: FaceCorners, normal: FloatArray, depth: float) -> None:
        """Add the translation of B that separates, in the difference and where it leads from B to A."""
        x, y, *z = foot = (depth * normal).tolist()
        starts = [(sheet.difference, self.origin)]
        if face:
            corners = simplex_of(self.a, self.b, face)
            weights = barycentric((x, y, z[0] if z else 0.0), corners)
            starts.append((sheet.objects, self.given.in_world(witness_points(self.a, self.b, corners, weights)[1])))
        for canvas, start in starts:
            end = start + self._vectors(foot)
            if depth != 0.0:
                canvas.line("overlap", [start, end], THICK, is_arrow=True)
            canvas.label("overlap", self.given.units.length(abs(depth)), 0.5 * (start + end))
        sheet.difference.mark("nearest", self.placed(foot))

    def _draw_faces(self, canvas: Canvas, role: Role, faces: Sequence[FaceCorners], is_dashed: bool = False) -> None:
        """Add faces of the polytope, in the plane sides of it."""
        if not faces:
            return
        if self.dim == 3:
            canvas.fill(role, self.placed(self.differences(faces)), FAINT)
        edges = {frozenset(edge): edge for face in faces for edge in combinations(face, 2)}
        canvas.line(role, self.placed(self.differences(list(edges.values()))), is_dashed=is_dashed)
