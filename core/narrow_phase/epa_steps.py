# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of EPA, recorded as it takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ..shapes.simplex import Vector, Vertex
from ..trace import EpaOutcome, EpaStep, FaceCorners, Step
from .gjk_steps import pairs_of

Triangle = tuple[float, float, float, float, int, int, int, float]
"""Outward unit normal x, y, z and offset of the plane; corners i, j, k, counter-clockwise seen from outside; and minus
the height below which floats do not decide on which side of the plane a point is."""


class DecidingGrid(Protocol):
    """What is read of the whole numbers of a polytope."""

    decided: int


class GrowingPolytope(Protocol):
    """What is read of EPA's polytope in space."""

    points: list[Vertex]
    triangles: list[Triangle | None]
    heap: list[tuple[float, int]]

    @property
    def grid(self) -> DecidingGrid: ...


class PolytopeSteps:
    """The steps with a polytope that grows in space."""

    def __init__(self, steps: list[Step], polytope: GrowingPolytope) -> None:
        """Add the step with the first polytope."""
        self.steps, self.polytope = steps, polytope
        self._look()
        faces = [triangle[4:7] for triangle in self.before if triangle]
        steps.append(_start(polytope.points, faces, polytope.heap[0][0], 3, polytope.grid.decided > 0))

    def take(
        self,
        outcome: EpaOutcome,
        triangle: Triangle,
        point: Vertex | None,
        height: float | None,
        best: float,
        inner: float,
    ) -> None:
        """Add the step with a triangle; `best` and `inner` are the least height and the least offset so far."""
        points, now, before = self.polytope.points, self.polytope.triangles, self.before
        removed = [old[4:7] for k, old in enumerate(before) if old and not now[k]]
        added = _faces(points, [new[4:7] for new in now[len(before) :] if new])
        self.steps.append(
            EpaStep(
                *_bounds(best, min(inner, triangle[3])),
                outcome=outcome,
                face=_face(points, triangle[4:7]),
                normal=triangle[:3],
                offset=triangle[3],
                support=None if point is None else point[3:],
                point=None if point is None else point[:3],
                height=height,
                removed=_faces(points, removed),
                silhouette=tuple([(p, q) for p, q, _ in reversed(added)]),  # the walk around it is clockwise
                added=added,
                is_exact=self.polytope.grid.decided > self.decided,
            )
        )
        self._look()

    def _look(self) -> None:
        """Remember the polytope before the next step."""
        self.before, self.decided = self.polytope.triangles.copy(), self.polytope.grid.decided


class PolygonSteps:
    """The steps with a polygon that grows in the plane."""

    def __init__(self, steps: list[Step], points: list[Vertex], offset: float) -> None:
        """Add the step with the first triangle; `offset` is that of its nearest side."""
        self.steps, self.points = steps, points
        steps.append(_start(points, ((0, 1), (1, 2), (2, 0)), offset, 2, False))

    def take(
        self,
        outcome: EpaOutcome,
        side: tuple[float, int, int, float, float],
        point: Vertex,
        height: float,
        best: float,
        inner: float,
    ) -> None:
        """Add the step with a side; `best` and `inner` are the least height and the least offset so far."""
        offset, i, j, x, y = side
        last, is_grown = len(self.points) - 1, outcome == "grown"
        self.steps.append(
            EpaStep(
                *_bounds(best, min(inner, offset)),
                outcome=outcome,
                face=_face(self.points, (i, j)),
                normal=(x, y),
                offset=offset,
                support=point[3:],
                point=point[:2],
                height=height,
                removed=_faces(self.points, ((i, j),) if is_grown else ()),
                silhouette=(),
                added=_faces(self.points, ((i, last), (last, j)) if is_grown else ()),
                is_exact=False,
            )
        )


def settled_as(before: Iterable[float], depth: float, limit: float) -> EpaOutcome:
    """Return what a face on the surface is beside those with the depths before; up to `limit` they are equally near."""
    if depth > limit:
        return "farther"
    return "tie" if any(known <= limit for known in before) else "nearest"


def flat_step(
    face: Sequence[Vertex], across: Sequence[Vertex], normal: Vector, depth: float, best: float, dim: int
) -> EpaStep:
    """Return the step with a side of a difference without thickness, of which the normal is perpendicular to the points
    `across`; `best` is the least depth so far."""
    corners, points = pairs_of(face), pairs_of(across)
    return EpaStep(0.0 - best, None, "flat", corners, normal[:dim], depth, None, None, depth, (), (), (), False, points)


def _start(points: list[Vertex], faces: Iterable[Sequence[int]], offset: float, dim: int, is_exact: bool) -> EpaStep:
    added, corners, (_, upper) = _faces(points, faces), pairs_of(points), _bounds(0.0, offset)
    return EpaStep(None, upper, "start", (), (0.0,) * dim, None, None, None, None, (), (), added, is_exact, corners)


def _bounds(best: float, inner: float) -> tuple[float, float | None]:
    """Return both bounds of the signed distance; the upper one is unknown while the origin is outside."""
    return 0.0 - best, 0.0 - inner if inner >= 0.0 else None


def _face(points: list[Vertex], corners: Sequence[int]) -> FaceCorners:
    return tuple([points[k][3:] for k in corners])


def _faces(points: list[Vertex], faces: Iterable[Sequence[int]]) -> tuple[FaceCorners, ...]:
    return tuple([_face(points, corners) for corners in faces])
