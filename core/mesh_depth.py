# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep two meshes are in each other, told by the meshes themselves: translations after which they share nothing,
and what proves that no short one can do.

The smallest translation that separates two solids is a global problem. Upper bounds here are translations that were
tried: B is moved by it and no triangle of it meets one of A any more, exactly, nor is a part of one inside the other.
Lower bounds are local. Two triangles that cross are separated by no shorter translation than their own; a ball of
radius r inside both solids by none shorter than 2 r.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot

import numpy as np
from numpy.typing import NDArray

from .contact import contact
from .hull import ConvexHull
from .mesh import Mesh
from .mesh_distance import points_to_mesh
from .polytope import FloatArray, IntArray
from .progress import Progress, tell
from .tolerance import EPS, MESH_APART, MESH_DEPTH_STEP, MESH_OPEN_VOLUME
from .triangle_pairs import Crossings, Meeting, crossing_triangles
from .winding import contains

BoolArray = NDArray[np.bool_]

_PAIRS = 64  # crossing triangles whose own depth is measured
_SAMPLES = 8_000  # points of a surface that are looked at
_NEAR = 1_000  # pairs of triangles beside which the surfaces are looked at
_SHARES = (0.003, 0.03, 0.3)  # of the way to a corner
_BALLS = 256  # points from which balls are looked for
_INWARD = (0.001, 0.01, 0.1, 0.3)  # shares of the smaller diagonal


@dataclass(frozen=True, eq=False)
class Body:
    """A mesh, and whether it stands for the solid inside of it."""

    mesh: Mesh
    """With points of the same place made one where that closes it."""
    solid: bool

    @classmethod
    def of(cls, mesh: Mesh) -> Body:
        """Look at a mesh."""
        whole = mesh
        if not mesh.is_closed:
            welded = mesh.welded()
            whole = welded if welded.is_closed else mesh
        if not whole.is_closed:
            return cls(mesh, False)
        unit = whole._unit
        room = MESH_OPEN_VOLUME * EPS * (whole.diagonal / unit) ** 3 if unit else 0.0
        return cls(whole, bool(abs(whole._contents.sum()) > room))

    @cached_property
    def starts(self) -> FloatArray:
        """(k, 3) a point of each loose part."""
        _, first = np.unique(self.mesh.loose_parts, return_index=True)
        return self.mesh.points.take(self.mesh.triangles[:, 0].take(first), axis=0)

    @cached_property
    def outward(self) -> float:
        """1.0 where triangles are counter-clockwise seen from outside, -1.0 where all are turned over."""
        return -1.0 if self.solid and self.mesh.volume < 0.0 else 1.0

    @cached_property
    def hull(self) -> ConvexHull:
        """The convex hull."""
        return ConvexHull(self.mesh.points.take(np.unique(self.mesh.triangles), axis=0))

    def holds(self, points: FloatArray) -> BoolArray:
        """Return (k,) which points are inside the solid or on it; of a bare surface none."""
        if not self.solid or not len(points):
            return np.zeros(len(points), dtype=np.bool_)
        return contains(points, self.mesh.points, self.mesh.triangles)

    def normals(self, triangles: IntArray) -> FloatArray:
        """Return (k, 3) unit normals of triangles, outward; zero where there is no area."""
        p, q, r = (self.mesh.points.take(self.mesh.triangles[triangles, k], axis=0) for k in range(3))
        u, v = q - p, r - p
        size = np.maximum(np.abs(u).max(axis=1), np.abs(v).max(axis=1))
        size[size == 0.0] = 1.0
        n = np.cross(u / size[:, None], v / size[:, None])
        length = np.sqrt((n * n).sum(axis=1))
        length[length == 0.0] = 1.0
        result: FloatArray = n * (self.outward / length)[:, None]
        return result

    def moved(self, translation: FloatArray) -> Body:
        """Return it moved."""
        return Body(Mesh(self.mesh.points + translation, self.mesh.triangles), self.solid)


def share_nothing(a: Body, b: Body) -> bool:
    """Tell whether no triangle meets another and no part of one is inside the other. Exact."""
    (low, high), (other_low, other_high) = a.mesh.bounds, b.mesh.bounds
    if (low > other_high).any() or (other_low > high).any():
        return True
    if len(crossing_triangles(a.mesh, b.mesh)):
        return False
    return not (a.holds(b.starts).any() or b.holds(a.starts).any())


def length_of(vector: FloatArray) -> float:
    """Return the length of a vector; it neither overflows nor vanishes."""
    return hypot(*vector.tolist())


class Escape:
    """The shortest translation known to separate two meshes."""

    def __init__(self, a: Body, b: Body, tries: int, progress: Progress | None) -> None:
        """Start with one across the convex hulls, which always does."""
        self.a, self.b, self.progress = a, b, progress
        self.left = self.tries = tries
        self.magnitude = max(a.mesh.magnitude, b.mesh.magnitude)
        outer = contact(a.hull, b.hull)
        self.ties = outer.ties
        self.best = self._longer(outer.mtv if outer.depth > 0.0 else outer.normal * 0.0, outer.normal)
        self.length = length_of(self.best)
        self.proved = share_nothing(a, b.moved(self.best))
        if not self.proved:
            self.best = self.best * 2.0 + outer.normal * (64.0 * EPS * self.magnitude)
            self.length = length_of(self.best)
            self.proved = share_nothing(a, b.moved(self.best))

    def _longer(self, translation: FloatArray, normal: FloatArray) -> FloatArray:
        """Return a translation made longer by what coordinates are rounded."""
        return translation + normal * (MESH_APART * EPS * (self.magnitude + length_of(translation)))

    def separates(self, translation: FloatArray) -> bool:
        """Try a translation; note it when it is the best."""
        self.left -= 1
        tell(self.progress, 1.0 - max(0, self.left) / max(1, self.tries))
        if not share_nothing(self.a, self.b.moved(translation)):
            return False
        length = length_of(translation)
        if length < self.length or not self.proved:
            self.best, self.length, self.proved = translation, length, True
        return True

    def take(self, translations: Iterable[FloatArray], spare: float) -> FloatArray | None:
        """Try translations of pieces, a little longer each; return the first that separates."""
        for translation in translations:
            length = length_of(translation)
            if length == 0.0:
                continue
            normal = translation / length
            longer = self._longer(translation, normal)
            for more in (0.0, spare, 4.0 * spare):
                if self.separates(found := longer + more * normal):
                    return found
        return None

    def improve(self, normals: Iterable[FloatArray], least: float) -> None:
        """Look for shorter translations along directions; `least` is known not to do."""
        for normal in normals:
            if self.left <= 0 or self.length * (1.0 - MESH_DEPTH_STEP) <= least:
                return
            shorter = least + 0.97 * (self.length - least)
            if self.separates(normal * shorter):
                self._shortened(normal, least)

    def refine(self, least: float) -> None:
        """Look for shorter ones beside the best, nearer and nearer."""
        wide = 0.3
        while wide > 0.01 and self.left > 0 and self.length * (1.0 - MESH_DEPTH_STEP) > least:
            before, normal = self.length, self.best / self.length
            u = np.eye(3)[int(np.abs(normal).argmin())]
            u = np.cross(normal, u)
            u = u / length_of(u)
            v = np.cross(normal, u)
            ways = [normal + wide * way for way in (u, -u, v, -v)]
            self.improve((way / length_of(way) for way in ways), least)
            if self.length > 0.99 * before:
                wide *= 0.5

    def shorten(self, least: float) -> None:
        """Look for a shorter one along the best."""
        if self.length > 0.0:
            self._shortened(self.best / self.length, least)

    def _shortened(self, normal: FloatArray, least: float) -> None:
        below, above = least, self.length
        while self.left > 0 and above - below > MESH_DEPTH_STEP * above:
            middle = 0.5 * (below + above)
            if self.separates(normal * middle):
                above = middle
            else:
                below = middle


def directions_between(a: Body, b: Body, crossings: Crossings, most: int = 12) -> list[FloatArray]:
    """Return unit vectors in which B may leave A: means of the normals where they meet, and those met most often."""
    pairs = crossings.pairs
    if not len(pairs):
        return []
    pairs = pairs.take(np.unique(np.linspace(0, len(pairs) - 1, _NEAR).astype(np.intp)), axis=0)
    found = [a.normals(pairs[:, 0]), -b.normals(pairs[:, 1])]
    every = np.concatenate(found)
    every = every[every.any(axis=1)]
    result = [rows.sum(axis=0) for rows in (every, *found)]
    _, first, uses = np.unique(np.round(every, 2) + 0.0, axis=0, return_index=True, return_counts=True)
    result += [every[first[k]] for k in np.argsort(-uses, kind="stable")[:most].tolist()]
    units = [n / length for n in result if (length := length_of(n)) > 1e-6]
    if not (a.solid and b.solid):
        units += [-n for n in units]
    return units


def all_around() -> list[FloatArray]:
    """Return 26 unit vectors: along the axes and between them."""
    grid = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    grid = grid[np.argsort((grid**2).sum(axis=1), kind="stable")][1:]
    return list(grid / np.sqrt((grid**2).sum(axis=1))[:, None])


# ---------------------------------------------------------------------------------------------------------------------
# What no short translation separates


def depth_of_triangles(a: Mesh, b: Mesh, crossings: Crossings) -> float:
    """Return a certified lower bound: the depth of those two crossing triangles that are deepest in each other, of the
    pairs with the most in common."""
    some = crossings.of_kind(Meeting.CROSSING)
    if not len(some):
        return 0.0
    ends = crossings.segments.take(some, axis=0)
    some = some.take(np.argsort(-np.abs(ends[:, 1] - ends[:, 0]).max(axis=1), kind="stable")[:_PAIRS])
    best = 0.0
    for i, j in crossings.pairs.take(some, axis=0).tolist():
        one, other = a.points.take(a.triangles[i], axis=0), b.points.take(b.triangles[j], axis=0)
        best = max(best, -contact(ConvexHull(one), ConvexHull(other)).upper_bound)
    return best


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

    @property
    def farthest(self) -> float:
        """How far the farthest is outside of the other, 0.0 when none is."""
        return float(self.distance[~self.inside].max(initial=0.0))


def samples_of(one: Body, other: Body, crossings: Crossings, side: int, near: float) -> Samples:
    """Return points of `one`, which has that side in the crossings: corners, middles of triangles and of their sides,
    and points beside where the surfaces meet. All of a small mesh, some of a large one.

    Those no farther than `near` from the other's surface count as on it.
    """
    mesh = one.mesh
    count = len(mesh.triangles)
    rows: IntArray = np.unique(np.linspace(0, count - 1, min(count, _SAMPLES // 7)).astype(np.intp))
    corners = mesh.points.take(mesh.triangles.take(rows, axis=0), axis=0)
    p, q, r = corners[:, 0], corners[:, 1], corners[:, 2]
    parts = [p, q, r, 0.5 * p + 0.5 * q, 0.5 * q + 0.5 * r, 0.5 * r + 0.5 * p, (p + q + r) / 3.0]
    owners = [rows] * len(parts)
    if len(crossings):
        some = np.unique(np.linspace(0, len(crossings) - 1, _NEAR).astype(np.intp))
        its = crossings.pairs[some, side]
        middle = 0.5 * crossings.segments[some, 0] + 0.5 * crossings.segments[some, 1]
        for k in range(3):
            corner = mesh.points.take(mesh.triangles[its, k], axis=0)
            parts += [middle + share * (corner - middle) for share in _SHARES]
            owners += [its] * len(_SHARES)
    points = np.concatenate(parts)
    outer = other.mesh
    found = points_to_mesh(points, outer.points, outer.triangles, outer.tree)
    inside = found.distance <= near
    away = np.flatnonzero(~inside)
    inside[away] = other.holds(points.take(away, axis=0))
    return Samples(points, np.concatenate(owners), found.distance, inside)


def ball_in_both(a: Body, b: Body, samples: Sequence[Samples]) -> tuple[float, FloatArray]:
    """Return the radius and middle of a ball inside both solids, the largest of some; 0.0 when none was found.

    Looked for inward of points of one surface that are inside the other or on it. The balls are certain.
    """
    reach = min(a.mesh.diagonal, b.mesh.diagonal)
    parts = []
    for body, seen in zip((a, b), samples, strict=True):
        some = np.flatnonzero(seen.inside)
        some = some.take(np.argsort(-seen.distance.take(some), kind="stable"))
        half = _BALLS // 2
        some = np.unique(
            np.concatenate([some[:half], some.take(np.linspace(0, len(some) - 1, half).astype(np.intp))])
            if len(some)
            else some
        )
        if not len(some):
            continue
        start, inward = seen.points.take(some, axis=0), -body.normals(seen.triangles.take(some))
        deep = seen.distance.take(some)[:, None]
        parts += [start + inward * (share * deep) for share in (0.25, 0.5, 1.0)]
        parts += [start + inward * (share * reach) for share in _INWARD]
    nothing = 0.0, np.zeros(3)
    if not parts:
        return nothing
    points = np.concatenate(parts)
    points = points[a.holds(points)]
    points = points[b.holds(points)]
    if not len(points):
        return nothing
    radius = np.minimum(*(points_to_mesh(points, m.points, m.triangles, m.tree).distance for m in (a.mesh, b.mesh)))
    best = int(radius.argmax())
    rounding = 64.0 * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    return max(0.0, float(radius[best]) * (1.0 - 1e-9) - rounding), points[best]
