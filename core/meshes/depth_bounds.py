# SPDX-License-Identifier: GPL-3.0-or-later
"""Lower bounds of the depth of two meshes: what no short translation separates.

    +-----------------+               What no short translation t of B separates:
    | A               |
    |      +----------x--------+      ball       of radius r inside both: B + t contains the ball moved by t, which
    |      |  .---.   |        |                 overlaps it where |t| < 2 r
    |      | (  r  )  p      B |      point      p of A's surface inside B, r from B's surface: p - t is in B where
    |      |  '---'   |        |                 |t| < r, so p is in B + t
    |      +----------x--------+      triangles  that cross, at x: they do where |t| is less than the least overlap
    +-----------------+                          along their axes n,

    overlap = min(max n.p - min n.q, max n.q - min n.p) / |n|,    n the normals of p and q, an edge of p x one of q

is how far B must be moved along n for the ranges of n.p and n.q to be apart, to the nearer side. All bounds are reduced
by what rounding makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curved.convex_contact import convex_contact
from ..progress import Progress, report_progress, subrange
from ..shapes.hull import ConvexHull
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross
from .body import Body, length_of
from .crossings import Crossings, Meeting
from .depth_proof import CommonBall, CrossingPair, PointInside
from .mesh import Mesh
from .point_distance import points_to_mesh
from .triangle_axes import across_edges, edges_of, normals, range_along

_ALIKE = 2.0**-30
"""Times the size of the smaller mesh, or the longest of lengths: in steps of it lengths are put in order."""
_PAIRS = 2_000
"""Crossing triangles whose own depth is measured."""
_CERTIFIED = 2
"""The deepest of them, whose depth is certified."""
_SHORT = 1e-2
"""Times the reach of two triangles: with a shorter edge rounding may turn their axes too much."""
_SHARP = 1e-3
"""Sine of two edges: the same."""
_PARALLEL = 64.0
"""Times EPS: the sine of edges that are parallel to rounding; and over the shortest edge and the least sine of others,
more than the overlap along an axis, turned by rounding, differs. Relative to the reach."""
_EDGES = np.array([[0, 3, 0, 0, 0, 1, 1, 1, 2, 2, 2], [1, 4, 3, 4, 5, 3, 4, 5, 3, 4, 5]])
"""Edges of two triangles, 0 to 2 and 3 to 5, across which their axes are."""
_SAMPLES = 8_000
"""Points of a surface that are sampled, at most."""
_OTHER = 10_000
"""Triangles of the other mesh, beyond which it is fewer."""
MOST_SAMPLED = _SAMPLES // 7
"""Triangles of a mesh that are all sampled, where the other one has no more."""
_NEAR = 1_000
"""Pairs of triangles beside which the surfaces are sampled."""
_FRACTIONS = (0.003, 0.03, 0.3)
"""Of the distance to a corner, where that is."""
_WITHIN = 0.9
"""Times the ball around a point that no surface enters: for the rounding of its radius."""
_FEW_IN_BALL = 4
"""Points in one ball, below which each is tested by itself."""
_BALLS = 64
"""Crossings inward of which a ball is looked for."""
_LARGEST = 6
"""Points from which balls grow."""
_SETTLED = 1.001
"""Times the radius: a step that leaves it below is a miss."""
_INSIDE = 500
"""Triangles of a surface whose corners may be deep inside of a solid."""
_LAST_OUT = 16
"""Corners that a translation moves out last, which are tried first."""
_BESIDE = 256
"""Crossings that corners tried first are compared with, at least."""
_MISSES = 3
"""Misses that end the search."""
_STEPS = 24
"""Steps of each move."""
_STEP = 0.5
"""Times the radius: length of the first step."""
_FARTHEST = 0.9
"""Times the radius: longest move."""
_INWARD = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Times the smaller diagonal: how far inward of a surface balls are looked for."""


def crossing_pair(a: Mesh, b: Mesh, crossings: Crossings) -> CrossingPair | None:
    """Return those two crossing triangles that are deepest in each other, of the pairs with the most in common. None
    where no triangles cross."""
    crossing = crossings.of_kind(Meeting.CROSSING)
    if not len(crossing):
        return None
    ends = crossings.segments.take(crossing, axis=0)
    far = np.abs(ends[:, 1] - ends[:, 0])
    unit = float(far.max()) or 1.0
    lengths = np.sqrt(((far / unit) ** 2).sum(axis=1))
    pairs = crossings.pairs.take(crossing, axis=0)
    # Of equal ones the same in every pose and order.
    alike = np.abs(pairs[:, 0] - pairs[:, 1]), pairs.sum(axis=1)
    pairs = pairs.take(np.lexsort((*alike, -np.rint(lengths / _ALIKE)))[:_PAIRS], axis=0)
    depths = triangle_depths(a.corner_rows(pairs[:, 0]), b.corner_rows(pairs[:, 1]))
    best = CrossingPair(0, 0, 0.0)
    for k in np.argsort(-np.rint(depths / (_ALIKE * unit)), kind="stable")[:_CERTIFIED].tolist():
        if best.least >= depths[k] * (1.0 - _ALIKE):
            break  # that of the next is no larger
        i, j = pairs[k].tolist()
        p, q = a.points.take(a.triangles[i], axis=0), b.points.take(b.triangles[j], axis=0)
        least = _depth_along_axes(p, q)
        if least is None:
            least = -convex_contact(ConvexHull(p), ConvexHull(q), contact_tolerance=0.0).upper_bound
        if least > best.least:
            best = CrossingPair(i, j, least)
    return best


def _depth_along_axes(p: FloatArray, q: FloatArray) -> float | None:
    """Return a certified lower bound of the depth of two triangles (3, 3) that cross: the least overlap along their
    axes, less what rounding turns these by. None where that may be more: of thin triangles and edges nearly parallel.

    Edges parallel to rounding are no axis: a triangle changed by so little has none there.
    """
    p, q = p - p[0], q - p[0]
    reach = float(max(np.abs(p).max(), np.abs(q).max()))
    if reach == 0.0:
        return None
    p, q = p / reach, q / reach
    edges = np.concatenate([np.roll(p, -1, axis=0) - p, np.roll(q, -1, axis=0) - q])
    lengths = np.sqrt((edges * edges).sum(axis=1))
    axes = cross(edges.take(_EDGES[0], axis=0).T, edges.take(_EDGES[1], axis=0).T).T
    sizes = np.sqrt((axes * axes).sum(axis=1))
    across = lengths.take(_EDGES[0]) * lengths.take(_EDGES[1])
    sharp, parallel = sizes >= _SHARP * across, sizes <= _PARALLEL * EPS * across
    if lengths.min() < _SHORT or not sharp[:2].all() or not (sharp | parallel).all():
        return None
    turned = _PARALLEL * EPS / float(lengths.min() * (sizes / across)[sharp].min())
    axes = axes[sharp] / sizes[sharp, None]
    heights_p, heights_q = axes @ p.T, axes @ q.T
    forward, back = heights_p.max(axis=1) - heights_q.min(axis=1), heights_q.max(axis=1) - heights_p.min(axis=1)
    return max(0.0, float(min(forward.min(), back.min())) - turned) * reach


def triangle_depths(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return about the depths (k,) of crossing triangles (corner, axis, k): the least overlap along their axes."""
    b = b - a[0]
    a = a - a[0]
    edges = edges_of(a), edges_of(b)
    depths = np.full(a.shape[2], np.inf)
    for axis in (*normals(*edges), *across_edges(*edges)):
        (low_a, high_a), (low_b, high_b) = range_along(axis, a), range_along(axis, b)
        overlap, length = np.minimum(high_a - low_b, high_b - low_a), np.sqrt((axis * axis).sum(axis=0))
        np.minimum(depths, np.divide(overlap, length, out=np.full_like(length, np.inf), where=length > 0.0), out=depths)
    return depths


@dataclass(frozen=True, eq=False)
class Samples:
    """Points of a surface, seen from another body."""

    points: FloatArray
    """(k, 3) world frame."""
    triangles: IntArray
    """(k,) what they are on."""
    distance: FloatArray
    """(k,) how far they are from the other's surface."""
    inside: BoolArray
    """(k,) whether they are in the other's solid or on its surface."""

    @property
    def deepest(self) -> float:
        """How deep the deepest is inside the other, 0.0 when none is."""
        return float(self.distance[self.inside].max(initial=0.0))

    def point_inside(self, of_a: bool, magnitude: float) -> PointInside:
        """Return the deepest one inside the other as what proves a depth; no coordinate is larger than `magnitude`."""
        k = int(np.where(self.inside, self.distance, -1.0).argmax())
        least = max(0.0, float(self.distance[k]) * (1.0 - 1e-9) - 64.0 * EPS * magnitude)
        return PointInside(of_a, self.points[k].copy(), int(self.triangles[k]), least)

    @property
    def farthest(self) -> float:
        """How far the farthest is outside of the other, 0.0 when none is."""
        return float(self.distance[~self.inside].max(initial=0.0))


def sample_surface(a: Body, b: Body, crossings: Crossings, side: int, near: float) -> Samples:
    """Return points of `a`, which has that side in the crossings: corners, middles of triangles and of their sides,
    and points beside where the surfaces meet. All of a small mesh, some of a large one.

    Those no farther than `near` from the surface of `b` count as on it.
    """
    mesh = a.mesh
    # Whether a point is inside takes longer the finer `b` is.
    fraction = min(1.0, (_OTHER / len(b.mesh.triangles)) ** 0.5)
    rows = _spread(len(mesh.triangles), int(fraction * _SAMPLES) // 7)
    triangles = mesh.triangles.take(rows, axis=0)
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    corners, of_corners = np.unique(triangles, return_index=True)
    _, of_sides = np.unique(sides @ [len(mesh.points), 1], return_index=True)
    p, q = mesh.points.take(sides.take(of_sides, axis=0), axis=0).transpose(1, 0, 2)
    parts = [
        mesh.points.take(corners, axis=0),
        0.5 * p + 0.5 * q,
        mesh.points.take(triangles, axis=0).sum(axis=1) / 3.0,
    ]
    owners = [rows.take(of_corners // 3), rows.take(of_sides % len(rows)), rows]
    if len(crossings):
        sampled = crossings.sample(int(fraction * _NEAR))
        its = crossings.pairs[sampled, side]
        middle = 0.5 * crossings.segments[sampled, 0] + 0.5 * crossings.segments[sampled, 1]
        for k in range(3):
            corner = mesh.points.take(mesh.triangles[its, k], axis=0)
            parts += [middle + part * (corner - middle) for part in _FRACTIONS]
            owners += [its] * len(_FRACTIONS)
    points = np.concatenate(parts)
    found = points_to_mesh(points, b.mesh)
    inside = found.distance <= near
    away = np.flatnonzero(~inside)
    inside[away] = _are_inside(b, points.take(away, axis=0), found.distance.take(away))
    return Samples(points, np.concatenate(owners), found.distance, inside)


def _are_inside(body: Body, points: FloatArray, distance: FloatArray) -> BoolArray:
    """Return (k,) which points, this far (k,) from the surface of a body, are inside its solid.

    No surface enters the ball around a point that reaches to the nearest of it: what is in the ball is inside if its
    middle is. So a few points with large balls decide for most others.
    """
    of = np.arange(len(points))
    open_ = np.ones(len(points), dtype=np.bool_)
    if body.solid:
        for k in np.argsort(-distance, kind="stable").tolist():
            if not open_[k]:
                continue
            left = np.flatnonzero(open_)
            away = points.take(left, axis=0) - points[k]
            near = left[np.einsum("ij,ij->i", away, away) <= (_WITHIN * distance[k]) ** 2]
            of[near] = k
            open_[near] = False
            if len(near) < _FEW_IN_BALL:
                break
    asked = np.unique(of)
    inside = np.zeros(len(points), dtype=np.bool_)
    inside[asked] = body.contains(points.take(asked, axis=0))
    return inside.take(of)


def common_ball(
    a: Body, b: Body, crossings: Crossings, start: FloatArray | None = None, progress: Progress | None = None
) -> CommonBall | None:
    """Return a large ball inside both solids; None when none is found.

    It is looked for from `start`, a point (3,) deep inside both, if there is one, and inward of where the surfaces
    cross.
    """
    points = _points_inside(a, b, crossings)
    if start is not None:
        points = np.concatenate([start[None], points])
    if not len(points):
        return None
    best, middles = np.zeros(len(points)), points
    near = np.empty((len(points), 0, 3))
    misses = 0
    while misses < _MISSES:
        report_progress(progress, 1.0)
        found = [points_to_mesh(points, body.mesh) for body in (a, b)]
        radius = np.minimum(*(of.distance for of in found))
        better = np.flatnonzero(radius > best)
        if radius.max() <= best.max() * _SETTLED:
            misses += 1
        middles, best = middles.copy(), np.maximum(best, radius)
        middles[better] = points[better]
        near = np.concatenate([near, np.stack([of.point for of in found], axis=1)], axis=1)
        # Away from the nearest of the points known so far, in steps that become shorter: what is inside the ball is
        # inside both solids, so no step leaves them.
        points, rows = middles, np.arange(len(middles))
        for step in range(1, _STEPS + 1):
            away = points[:, None] - near
            squares = np.einsum("kij,kij->ki", away, away)
            nearest = squares.argmin(axis=1)
            length = np.sqrt(squares[rows, nearest])
            length[length == 0.0] = np.inf
            points = points + away[rows, nearest] * (_STEP / step * best / length)[:, None]
        shift = points - middles
        length = np.sqrt(np.einsum("ij,ij->i", shift, shift))
        length[length == 0.0] = np.inf
        points = middles + shift * np.minimum(1.0, _FARTHEST * best / length)[:, None]
    largest = int(best.argmax())
    rounding = 64.0 * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    return CommonBall(middles[largest].copy(), max(0.0, float(best[largest]) * (1.0 - 1e-9) - rounding))


def deep_corner(a: Body, b: Body, deeper: float) -> PointInside | None:
    """Return a corner or a middle of a triangle of one body that is more than `deeper` inside the other's solid; None
    when none is found. Much faster than `sample_surface`: only what is as deep in the other's box is looked at."""
    rounding = 64.0 * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    for are_middles in (False, True):
        for surface, solid, is_of_a in ((a, b, True), (b, a, False)):
            if not solid.solid:
                continue
            mesh, (low, high) = surface.mesh, solid.mesh.bounds
            rows = _spread(len(mesh.triangles), MOST_SAMPLED)
            triangles = mesh.triangles.take(rows, axis=0)
            if are_middles:
                points, owners = mesh.points.take(triangles, axis=0).sum(axis=1) / 3.0, rows
            else:
                corners, first = np.unique(triangles, return_index=True)
                points, owners = mesh.points.take(corners, axis=0), rows.take(first // 3)
            near = np.flatnonzero(((points > low + deeper) & (points < high - deeper)).all(axis=1))
            near = near[solid.contains(points.take(near, axis=0))]
            if not len(near):
                continue
            distance = points_to_mesh(points.take(near, axis=0), solid.mesh).distance
            k = int(distance.argmax())
            least = float(distance[k]) * (1.0 - 1e-9) - rounding
            if least > deeper:
                return PointInside(is_of_a, points[near[k]].copy(), int(owners[near[k]]), least)
    return None


def _spread(count: int, most: int) -> IntArray:
    """Return the numbers below `count`, or `most` of them, spread evenly."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


def point_inside(
    a: Body,
    b: Body,
    crossings: Crossings,
    along: FloatArray | None = None,
    progress: Progress | None = None,
    deeper: float = 0.0,
) -> PointInside | None:
    """Return a point of one surface deep inside the other's solid, of those beside where they cross; None when none is
    found.

    along: (3,) a translation of B that separates: only a few corners are tried, those that it moves out last.
    deeper: of these, None when all are so near to where the surfaces cross that none is deeper than this length.
    """
    tried = []
    for of_a, surface, solid in ((True, a, b), (False, b, a)):
        if not solid.solid:
            continue
        mesh, crossed = surface.mesh, crossings.pairs[:, 0 if of_a else 1]
        # Where they do not cross, the surface is all inside.
        triangles = np.unique(crossed) if len(crossings) else np.arange(len(mesh.triangles))
        corners = mesh.triangles.take(triangles, axis=0).ravel()
        if along is not None:
            corners, first = np.unique(corners, return_index=True)
            points = mesh.points.take(corners, axis=0)
            heights = points @ (along if of_a else -along)
            last = np.argsort(-heights, kind="stable")[:_LAST_OUT]
            points, owners = points.take(last, axis=0), triangles.take(first.take(last) // 3)
        else:
            near = np.flatnonzero(np.isin(mesh.triangles, corners).any(axis=1))
            chosen = near.take(np.unique(np.linspace(0, len(near) - 1, _INSIDE).astype(np.intp)))
            p, q, r = (mesh.points.take(mesh.triangles[chosen, k], axis=0) for k in range(3))
            points, owners = np.concatenate([p, q, r, (p + q + r) / 3.0]), np.tile(chosen, 4)
        tried.append((of_a, solid, points, owners))
    if along is not None and len(crossings):
        # No point is deeper than it is far from where the surfaces cross.
        ends = crossings.segments[:: 1 + len(crossings) // _BESIDE, 0]
        away = np.concatenate([points for _, _, points, _ in tried])[:, None] - ends
        if np.einsum("ijk,ijk->ij", away, away).min(axis=1).max() <= deeper**2:
            return None
    best: PointInside | None = None
    for of_a, solid, points, owners in tried:
        if along is not None and best is not None and best.least >= length_of(along):
            break
        report_progress(progress, 1.0)
        inside = np.flatnonzero(solid.contains(points, subrange(progress, 1.0, 1.0)))
        if not len(inside):
            continue
        report_progress(progress, 1.0)
        distance = points_to_mesh(points.take(inside, axis=0), solid.mesh).distance
        deepest = int(distance.argmax())
        k = int(inside[deepest])
        rounding = 64.0 * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
        least = max(0.0, float(distance[deepest]) * (1.0 - 1e-9) - rounding)
        if best is None or least > best.least:
            best = PointInside(of_a, points[k].copy(), int(owners[k]), least)
    return best


def _points_inside(a: Body, b: Body, crossings: Crossings) -> FloatArray:
    """Return a few points (k, 3) inside both solids, inward of where the surfaces cross."""
    if not len(crossings):
        return np.empty((0, 3))
    indices = crossings.sample(_BALLS)
    pairs, ends = crossings.pairs.take(indices, axis=0), crossings.segments.take(indices, axis=0)
    inward = -a.normals(pairs[:, 0]) - b.normals(pairs[:, 1])
    middles, reach = 0.5 * ends[:, 0] + 0.5 * ends[:, 1], min(a.size, b.size)
    points = np.concatenate([middles + inward * (part * reach) for part in _INWARD])
    points = points[a.contains(points)]
    points = points[b.contains(points)]
    if not len(points):
        return points
    radius = np.minimum(*(points_to_mesh(points, body.mesh).distance for body in (a, b)))
    chosen: list[int] = []
    # Of those alike always the same, so that it does not depend on the order of A and B.
    for k in np.argsort(-np.rint(radius / (_ALIKE * reach)), kind="stable").tolist():
        if all(length_of(points[k] - points[other]) > radius[other] for other in chosen):
            chosen.append(k)
        if len(chosen) == _LARGEST:
            break
    return points.take(chosen, axis=0)
