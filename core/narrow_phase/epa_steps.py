# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of EPA, recorded as it takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..shapes.simplex import Vector, Vertex
from ..trace import EpaOutcome, EpaStep, FaceCorners
from .gjk_steps import pairs_of
from .step_list import StepList

_Face = tuple[int, ...]
"""Corners of a face as indices into the points."""


class PolygonSteps:
    """The steps of a polygon of points of A - B that grows."""

    def __init__(
        self, steps: StepList, points: list[Vertex], faces: Iterable[_Face], offset: float, decided: int = 0
    ) -> None:
        """Add the step with the first polygon; `offset` is that of its nearest face, `decided` how often exact
        arithmetic has decided so far."""
        self.steps, self.points, self.dim, self.decided = steps, points, steps.a.dim, decided
        self.heights: list[float] = []
        zero, added, corners = (0.0,) * self.dim, self._named(faces), pairs_of(points)
        start = None, None, None, None, (), (), added, decided > 0, corners
        steps.append(EpaStep(None, _upper_bound(offset), "start", (), zero, *start))

    def take(
        self,
        outcome: EpaOutcome | None,
        plane: tuple[float, float, float, float],
        face: _Face,
        point: Vertex | None,
        height: float | None,
        best: float,
        inner: float,
        limit: float,
        decided: int = 0,
    ) -> None:
        """Add the step with a face, of which the unit normal and the offset are given.

        outcome: None of a face on the surface, which is equally near as others up to the height `limit`.
        point, height: the support point, and its height.
        best, inner: the least height, and the least offset of what was taken before.
        """
        if outcome is None:
            assert height is not None
            is_tie = any(known <= limit for known in self.heights)
            outcome = "farther" if height > limit else "tie" if is_tie else "nearest"
            self.heights.append(height)
        removed, added = self._change(outcome, face)
        new = self._named(added)
        self.steps.append(
            EpaStep(
                lower=0.0 - best,
                upper=_upper_bound(min(inner, plane[3])),
                outcome=outcome,
                face=self._named([face])[0],
                normal=plane[: self.dim],
                offset=plane[3],
                support=None if point is None else point[3:],
                point=None if point is None else point[: self.dim],
                height=height,
                removed=self._named(removed),
                silhouette=tuple([(p, q) for p, q, _ in reversed(new)]) if self.dim == 3 else (),  # clockwise
                added=new,
                is_exact=decided > self.decided,
            )
        )
        self.decided = decided

    def _change(self, outcome: EpaOutcome, face: _Face) -> tuple[Sequence[_Face], Sequence[_Face]]:
        """Return the faces that are removed and added since the last step."""
        last = len(self.points) - 1
        return ([face], [(face[0], last), (last, face[1])]) if outcome == "grown" else ((), ())

    def _named(self, faces: Iterable[_Face]) -> tuple[FaceCorners, ...]:
        return tuple([tuple([self.points[k][3:] for k in face]) for face in faces])


class PolytopeSteps(PolygonSteps):
    """The steps of a polytope in space that grows."""

    def __init__(
        self,
        steps: StepList,
        points: list[Vertex],
        triangles: Sequence[tuple[Any, ...] | None],
        offset: float,
        decided: int,
    ) -> None:
        self.triangles = triangles
        self.faces = self._faces()
        super().__init__(steps, points, self.faces.values(), offset, decided)

    def _faces(self) -> dict[int, _Face]:
        return {k: triangle[4:7] for k, triangle in enumerate(self.triangles) if triangle}

    def _change(self, outcome: EpaOutcome, face: _Face) -> tuple[Sequence[_Face], Sequence[_Face]]:
        before, now = self.faces, self._faces()
        self.faces = now
        return [before[k] for k in before if k not in now], [now[k] for k in now if k not in before]


def flat_step(
    face: Sequence[Vertex], across: Sequence[Vertex], normal: Vector, depth: float, best: float, dim: int
) -> EpaStep:
    """Return the step with a side of a difference without thickness, of which the normal is perpendicular to the points
    `across`; `best` is the least depth so far."""
    corners, points = pairs_of(face), pairs_of(across)
    return EpaStep(0.0 - best, None, "flat", corners, normal[:dim], depth, None, None, depth, (), (), (), False, points)


def _upper_bound(inner: float) -> float | None:
    """Return the upper bound of the signed distance; it is unknown while the origin is outside."""
    return 0.0 - inner if inner >= 0.0 else None
