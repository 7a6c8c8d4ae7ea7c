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
from math import hypot, inf

import numpy as np

from ..compounds.compound_depth import nearest_beyond
from ..narrow_phase.contact import contact
from ..progress import Progress, report_progress, subrange
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, MESH_APART, MESH_DEPTH_STEP
from ..types import BoolArray, FloatArray, IntArray
from .mesh import Mesh
from .mesh_sweep import first_impact, gaps_between
from .point_distance import points_to_mesh
from .triangle_pairs import Crossings, Meeting, crossing_triangles
from .winding import contains, winding_numbers

_MESH_OPEN_VOLUME = 64.0
"""Times EPS, the area and the diagonal: closed meshes, and parts of them, of less volume enclose nothing."""
_MESH_ALIKE = 2.0**-30
"""Times the size of the smaller mesh, or the longest of lengths: in steps of it lengths are put in order."""
_MESH_SETTLED = 1e-12
"""Relative: translations that separate meshes and grow shorter by less are at a local minimum."""

_PARTS = 32  # of a mesh that are looked at for room inside
_BESIDE = 1e-3  # of a triangle's size: how far beside it that is
_PAIRS = 64  # crossing triangles whose own depth is measured
_SAMPLES = 8_000  # points of a surface that are looked at
_OTHER = 10_000  # triangles of the other mesh, beyond which it is fewer
_NEAR = 1_000  # pairs of triangles beside which the surfaces are looked at
_SHARES = (0.003, 0.03, 0.3)  # of the way to a corner
_WITHIN = 0.9  # of the ball around a point that no surface enters, for the rounding of its radius
_TOLD = 4  # points in one ball, below which each is asked for itself
_ON = 1e-4  # of the smaller size: points so near to the other surface are looked inward of, too
_BALLS = 96  # points from which balls are looked for
_STARTS = 8  # ways out across the hulls from which is gone on
_STEPS = 100  # along what stops a translation
_ASIDE = 16  # stops on the way out of a notch
_FARTHER = 1.01  # times what must be free beyond a translation: its direction changes as it leaves a notch
_SHORTER = 0.99  # of the best translation: what others must do
_PROBED = 0.05  # relative: how nearly lengths along a direction are looked for before going on from there
_LEAST_SINE = 1e-3  # of directions that are looked along besides others
_SWEPT = 32_000  # pairs of triangles that meet along all of them; along one an eighth of it
_GAPS = 4  # along one that are tried
_FINE = 2_000  # points from which a hull is made of some of them
_EXTREMES = 512
_ROWS = 1 << 13
_LARGEST = 4  # balls beside which is looked for larger ones
_GROWN = 18  # times
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
        return cls(whole, _encloses(whole))

    @property
    def starts(self) -> FloatArray:
        """(k, 3) a point of each loose part."""
        return self.mesh.points.take(self.mesh.first_vertices, axis=0)

    @cached_property
    def frame(self) -> FloatArray:
        """(3, 3) unit vectors, as rows, that turn with the mesh: along the longest side and across the first of its
        largest triangles. The world's axes where no triangle has an area."""
        areas = self.mesh.local_areas
        triangle = self.mesh.triangles[int((areas >= areas.max() * (1.0 - 1e-6)).argmax())]
        p = self.mesh.points.take(triangle, axis=0)
        sides = np.roll(p, -1, axis=0) - p
        squares = (sides * sides).sum(axis=1)
        x = sides[int((squares >= squares.max() * (1.0 - 1e-6)).argmax())]
        z = np.cross(sides[0], sides[1])
        if not (length_of(x) > 0.0 and length_of(z) > 0.0):
            return np.eye(3)
        x, z = x / length_of(x), z / length_of(z)
        return np.array([x, np.cross(z, x), z])

    @cached_property
    def outward(self) -> float:
        """1.0 where triangles are counter-clockwise seen from outside, -1.0 where all are turned over."""
        return -1.0 if self.solid and self.mesh.volume < 0.0 else 1.0

    @cached_property
    def size(self) -> float:
        """Diagonal of the box along the frame: the same in every pose."""
        sides = (self.mesh.points.take(np.unique(self.mesh.triangles), axis=0) - self.mesh.bounds[0]) @ self.frame.T
        return length_of(sides.max(axis=0) - sides.min(axis=0))

    @cached_property
    def principal_axes(self) -> list[FloatArray]:
        """Unit vectors along the principal axes of the surface, those that its shape leaves no choice of."""
        columns, weights = self.mesh.local_corners, self.mesh.local_areas
        middles = columns.sum(axis=0) / 3.0
        middles = middles - (middles @ weights / weights.sum())[:, None]
        values, vectors = np.linalg.eigh((middles * weights) @ middles.T)
        far = np.abs(values[:, None] - values) > 1e-3 * values.max()
        return [vectors[:, k] for k in range(3) if far[k].sum() == 2]

    @cached_property
    def coarse_hull(self) -> ConvexHull:
        """The convex hull; of a large mesh that of the points that are farthest in many directions."""
        points = self.mesh.points
        used = np.unique(self.mesh.triangles)
        if len(used) > _FINE:
            # Spread over the sphere, in the mesh's own frame.
            k = np.arange(_EXTREMES)
            z = (2.0 * k + 1.0) / _EXTREMES - 1.0
            turn, r = np.pi * (1.0 + 5.0**0.5) * k, np.sqrt(1.0 - z * z)
            ways = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1) @ self.frame
            middle = 0.5 * self.mesh.bounds[0] + 0.5 * self.mesh.bounds[1]
            best = np.full(_EXTREMES, -np.inf)
            place = np.zeros(_EXTREMES, dtype=np.intp)
            for begin in range(0, len(used), _ROWS):
                part = used[begin : begin + _ROWS]
                heights = (points.take(part, axis=0) - middle) @ ways.T
                high = heights.argmax(axis=0)
                values = heights[high, np.arange(_EXTREMES)]
                better = values > best
                best[better], place[better] = values[better], part.take(high[better])
            used = np.unique(place)
        return ConvexHull(points.take(used, axis=0))

    def holds(self, points: FloatArray, progress: Progress | None = None) -> BoolArray:
        """Return (k,) which points are inside the solid or on it; of a bare surface none."""
        result = np.zeros(len(points), dtype=np.bool_)
        if self.solid:
            low, high = self.mesh.bounds
            near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
            if len(near):
                result[near] = contains(points.take(near, axis=0), self.mesh, progress)
        return result

    def normals(self, triangles: IntArray) -> FloatArray:
        """Return (k, 3) unit normals of triangles, outward; zero where there is no area."""
        p, q, r = (self.mesh.points.take(self.mesh.triangles[triangles, k], axis=0) for k in range(3))
        u, v = q - p, r - p
        size = np.maximum(np.abs(u).max(axis=1), np.abs(v).max(axis=1))
        size[size == 0.0] = 1.0
        n = np.cross(u / size[:, None], v / size[:, None])
        length = np.sqrt((n * n).sum(axis=1))
        length[length == 0.0] = 1.0
        return n * (self.outward / length)[:, None]

    def translated(self, translation: FloatArray) -> Body:
        """Return the body moved by a vector (3,)."""
        mesh = self.mesh
        mesh.bounds, mesh.tree, mesh.first_vertices  # noqa: B018  # computed once, then moved along
        return Body(mesh.translated(translation), self.solid)


def _encloses(mesh: Mesh) -> bool:
    """Tell whether there is room inside a closed mesh, whichever way its parts are turned."""
    # A thin one has little volume but little area, too; what rounding makes of none is in proportion to that.
    room = _MESH_OPEN_VOLUME * EPS * float(mesh.local_areas.sum()) * (mesh.diagonal / mesh.unit if mesh.unit else 0.0)
    if abs(mesh.local_volumes.sum()) > room:
        return True
    parts = mesh.loose_parts
    contents = np.bincount(parts, mesh.local_volumes)
    if np.abs(contents).max() <= room:
        return False
    # Parts turned against each other: where they are one in the other's place, nothing is left inside.
    order = np.lexsort((-mesh.local_areas, parts))
    largest = order.take(np.flatnonzero(np.diff(parts.take(order), prepend=-1)))
    thickest = np.argsort(-np.abs(contents), kind="stable")[:_PARTS]
    largest = largest.take(thickest[np.abs(contents).take(thickest) > room])
    p, q, r = mesh.local_corners.take(largest, axis=2)
    across = np.cross((q - p).T, (r - p).T)
    across *= _BESIDE / np.sqrt(np.sqrt((across * across).sum(axis=1)))[:, None]
    middles = mesh.points.take(mesh.triangles.take(largest, axis=0), axis=0).mean(axis=1)
    beside = np.concatenate([middles + mesh.unit * across, middles - mesh.unit * across])
    return bool((np.abs(winding_numbers(beside, mesh).numbers) > 0.5).any())


def share_nothing(a: Body, b: Body) -> bool:
    """Tell whether no triangle meets another and no part of one is inside the other. Exact."""
    (low, high), (other_low, other_high) = a.mesh.bounds, b.mesh.bounds
    if (low > other_high).any() or (other_low > high).any():
        return True
    a.mesh.tree, b.mesh.tree  # noqa: B018  # they are descended where they are there
    if len(crossing_triangles(a.mesh, b.mesh)):
        return False
    return not (a.holds(b.starts).any() or b.holds(a.starts).any())


def length_of(vector: FloatArray) -> float:
    """Return the length of a vector; it neither overflows nor vanishes."""
    return hypot(*vector.tolist())


class EscapeSearch:
    """The shortest translation known to separate two meshes.

    Translations are looked for along directions that belong to the pair, not to the world's axes. One that separates is
    then slid along the surfaces towards none until it is a local minimum, which is a corner, an edge or a foot of the
    planes that stop it there: so that one is the same in every pose and order of the two, to rounding. Which of several
    minima is found, rounding may turn.
    """

    def __init__(self, a: Body, b: Body, tries: int, progress: Progress | None) -> None:
        """Start with one across the convex hulls, which always does."""
        self.a, self.b, self.progress = a, b, progress
        self.left = self.tries = tries
        self.swept = 0
        self.magnitude = max(a.mesh.magnitude, b.mesh.magnitude)
        self.frames = (a.frame, b.frame)
        self.ties = self._across_hulls()
        across = [self.ties[k] * width for k, width in enumerate(self.widths(self.ties).tolist())]
        lengths = [length_of(translation) for translation in across]
        best = int(np.argmin(lengths))
        self.best = self._longer(across[best], self.ties[best])
        self.length = length_of(self.best)
        self.proved = share_nothing(a, b.translated(self.best))
        if not self.proved:
            self.best = self.best * 2.0 + self.ties[best] * (64.0 * EPS * self.magnitude)
            self.length = length_of(self.best)
            self.proved = share_nothing(a, b.translated(self.best))
        self.known = [self.best] if self.proved else []
        for translation, tie in zip(across[:_STARTS], self.ties, strict=False):
            self.settle(self._longer(translation, tie))

    def _across_hulls(self) -> list[FloatArray]:
        """Return the unit vectors along which the convex hulls are separated by the shortest translation.

        Coarse hulls grow where they are short of the meshes along these, until that makes no difference.
        """
        hulls = [self.a.coarse_hull, self.b.coarse_hull]
        corners = [mesh.points.take(np.unique(mesh.triangles), axis=0) for mesh in (self.a.mesh, self.b.mesh)]
        while True:
            outer = contact(*hulls)
            ties = list(outer.ties)
            best = ties[int(self.widths(ties).argmin())]
            grown = False
            for k, way in enumerate((best, -best)):
                heights = corners[k] @ way
                top = int(heights.argmax())
                if heights[top] - float((hulls[k].vertices @ way).max()) > MESH_APART * EPS * self.magnitude:
                    hulls[k] = ConvexHull(np.concatenate([hulls[k].vertices, corners[k][top : top + 1]]))
                    grown = True
            if not grown:
                return ties

    def widths(self, directions: Sequence[FloatArray]) -> FloatArray:
        """Return how far B must be moved along each unit vector to be beyond all of A; 0.0 where it is."""
        rows = np.array(directions).T
        most = [np.empty(rows.shape[1]), np.empty(rows.shape[1])]
        for mesh, out, turn in ((self.a.mesh, most[0], 1.0), (self.b.mesh, most[1], -1.0)):
            out[:] = -np.inf
            for begin in range(0, len(mesh.points), _ROWS):
                np.maximum(out, (mesh.points[begin : begin + _ROWS] @ (turn * rows)).max(axis=0), out=out)
        return np.maximum(most[0] + most[1], 0.0)

    @property
    def room(self) -> float:
        """How far translations are kept from where meshes touch: more than rounding."""
        return 4.0 * MESH_APART * EPS * (self.magnitude + self.length)

    def _longer(self, translation: FloatArray, normal: FloatArray) -> FloatArray:
        """Return a translation made longer by what coordinates are rounded."""
        return translation + normal * (MESH_APART * EPS * (self.magnitude + length_of(translation)))

    def _tried(self, cost: int = 1) -> None:
        self.left -= cost
        report_progress(self.progress, 1.0 - max(0, self.left) / max(1, self.tries))

    def separates(self, translation: FloatArray) -> bool:
        """Try a translation; note it when it is the best."""
        self._tried()
        if not share_nothing(self.a, self.b.translated(translation)):
            return False
        length = length_of(translation)
        self.known.append(translation)
        if length < self.length or not self.proved:
            self.best, self.length, self.proved = translation, length, True
        return True

    def stays_clear(self, translation: FloatArray, beyond: float) -> bool:
        """Tell whether B, once moved by a translation that separates, meets nothing for a length more of the same."""
        way = translation / length_of(translation)
        # By rounding more, what touches is left for sure.
        start = translation + self.room * way
        if first_impact(self.a.mesh, self.b.mesh, start, beyond * way) is not None:
            return False
        return all(share_nothing(self.a, self.b.translated(t)) for t in (start, start + beyond * way))

    def clear(self, beyond: float) -> FloatArray | None:
        """Return the shortest translation known that separates and meets nothing for a length more of the same, no
        longer than the best but for MESH_DEPTH_STEP; None where there is none."""
        most = self.length * (1.0 + MESH_DEPTH_STEP)
        near = [translation for translation in self.known if length_of(translation) <= most]
        for translation in sorted(near, key=length_of):
            report_progress(self.progress, 1.0 - max(0, self.left) / max(1, self.tries))
            if self.stays_clear(translation, beyond):
                return translation
            beside = self._out_of_notch(translation, beyond, most)
            if beside is not None:
                return beside
        return None

    def _out_of_notch(self, translation: FloatArray, beyond: float, most: float) -> FloatArray | None:
        """Return a translation beside one that ends in a notch, as deep in the open as it takes to go on for a length
        `beyond`; None where it would be longer than `most`."""
        meshes = self.a.mesh, self.b.mesh
        ahead = translation * (_FARTHER * beyond / length_of(translation))
        stops, target, more = _Stops(), translation, 0.0
        impact = first_impact(*meshes, translation, -translation)
        for _ in range(_ASIDE):
            if impact is None:
                break
            onward = stops.nearest(impact.normal, impact.offset + self.room + more, most)
            if onward is None:
                return None
            target, more = onward, 0.0
            impact = first_impact(*meshes, translation, target - translation)
            if impact is None:
                impact = first_impact(*meshes, target, ahead)
                # What stops it there is kept as far away as it is to go on.
                more = 0.0 if impact is None else max(0.0, -float(impact.normal @ ahead))
        if impact is not None or target is translation:
            return None
        return target if self.separates(target) and self.stays_clear(target, beyond) else None

    def take(self, translations: Iterable[FloatArray], tolerance: float, spare: float) -> FloatArray | None:
        """Try translations of pieces, a little longer each; return the first that separates. They may be too short by
        `tolerance`, and pieces are up to `spare` from the meshes."""
        for translation in translations:
            length = length_of(translation)
            if length == 0.0:
                continue
            normal = translation / length
            longer = self._longer(translation, normal)
            left = self.left - 1
            for more in (0.0, tolerance, max(spare, tolerance), 4.0 * max(spare, tolerance)):
                separates = self.separates(found := longer + more * normal)
                self.left = left  # rounding decides which of them is the first: they count as one
                if separates:
                    return found
        return None

    def improve(self, normals: Sequence[FloatArray], least: float) -> None:
        """Look for shorter translations along directions, the narrowest first; `least` is known not to do."""
        if not len(normals):
            return
        order = np.argsort(np.round(self.widths(normals) / (self.length or 1.0), 6), kind="stable")
        for k in order.tolist():
            if self.left <= 0 or self.length * (1.0 - MESH_DEPTH_STEP) <= least:
                return
            self.leave(normals[k], least)

    def leave(self, normal: FloatArray, least: float) -> None:
        """Look for a shorter translation along a direction: the shortest there is, unless the meshes are too fine."""
        room, length = self.room, _SHORTER * self.length
        if self.swept < _SWEPT:
            found = gaps_between(self.a.mesh, self.b.mesh, normal * length, 4.0 * room / length, _SWEPT // 8)
            for tried, (share, pairs) in enumerate(found):
                if share is None or tried == _GAPS:
                    self.swept += pairs
                    break
                if share * length + 2.0 * room < least:
                    continue
                shorter = normal * (share * length + 2.0 * room)
                if self.separates(shorter):
                    self.swept += pairs
                    self.settle(shorter)
                    return
        length = max(least, length)
        if self.separates(normal * length):
            self.settle(self._shortened(normal, least, length))

    def _shortened(self, normal: FloatArray, least: float, length: float) -> FloatArray:
        """Return a shorter translation along one that separates, if there is one behind what stops it, too."""
        below = least
        while self.left > 0 and length - below > _PROBED * length:
            middle = 0.5 * (below + length)
            if self.separates(normal * middle):
                length = middle
            else:
                below = middle
        return normal * length

    def refine(self, least: float) -> None:
        """Look for shorter ones beside the best, nearer and nearer."""
        wide = 0.4
        while wide > 0.04 and self.left > 0 and self.length * (1.0 - MESH_DEPTH_STEP) > least:
            before, normal = self.length, self.best / self.length
            frame = self.frames[0]
            axis = frame[int(np.round(np.abs(frame @ normal), 6).argmin())]
            u = np.cross(normal, axis)
            u = u / length_of(u)
            v = np.cross(normal, u)
            ways = [normal + wide * way for way in (u, -u, v, -v)]
            self.improve([way / length_of(way) for way in ways], least)
            if self.length > 0.99 * before:
                wide *= 0.5

    def settle(self, translation: FloatArray) -> None:
        """Go on from a translation that separates to a local minimum; note it when it is the best.

        The way there meets nothing, so what separates at its begin does at its end; which is tried nevertheless.
        """
        steps = _STEPS
        while steps > 0:
            before = length_of(translation)
            translation, taken = self._slid(translation, steps)
            steps -= taken
            if length_of(translation) >= before * (1.0 - _MESH_SETTLED):
                break
        if length_of(translation) < self.length:
            self.separates(translation)
        else:
            self._tried()  # counts alike: whether one that is known is met again a little shorter is rounding

    def _slid(self, translation: FloatArray, steps: int) -> tuple[FloatArray, int]:
        """Return where a translation comes to on its way towards none, along what stops it, and how many steps it
        took."""
        stops, target = _Stops(), np.zeros(3)
        for step in range(1, steps + 1):
            way = target - translation
            if length_of(way) <= 2.0 * self.room:
                return translation, step
            report_progress(self.progress, 1.0 - max(0, self.left) / max(1, self.tries))
            impact = first_impact(self.a.mesh, self.b.mesh, translation, way)
            if impact is None:
                return target, step
            against = -float(impact.normal @ way)
            translation = translation + max(0.0, impact.share - self.room / against) * way
            # The nearest to none beyond what stopped it, and what it slid along that still matters.
            onward = stops.nearest(impact.normal, impact.offset + self.room, 2.0 * self.length)
            if onward is None:
                return translation, step
            target = onward
        return translation, steps


class _Stops:
    """Half-spaces in which a translation has to be: the newest, and those that carried the nearest one before."""

    def __init__(self) -> None:
        self._normals, self._offsets = np.empty((0, 3)), np.empty(0)

    def nearest(self, normal: FloatArray, offset: float, most: float) -> FloatArray | None:
        """Return the translation nearest to none with `normal @ t >= offset` besides; None when none is up to `most`
        long."""
        normals = np.concatenate([normal[None], self._normals])
        offsets = np.concatenate([[offset], self._offsets])
        chosen = np.full((1, 4), -1)
        chosen[0, : len(offsets)] = np.arange(len(offsets))
        bound, points, carrying, beyond = nearest_beyond(normals, offsets, chosen)
        if not np.isfinite(bound[0]) or beyond[0] > most:
            return None
        kept = carrying[0][carrying[0] >= 0]
        self._normals, self._offsets = normals.take(kept, axis=0), offsets.take(kept)
        return points[0]


def directions_between(a: Body, b: Body, crossings: Crossings, most: int = 12) -> list[FloatArray]:
    """Return unit vectors in which B may leave A: means of the normals where they meet, and those met most often."""
    pairs = crossings.pairs
    if not len(pairs):
        return []
    pairs = pairs.take(_spread(crossings, _NEAR), axis=0)
    found = [a.normals(pairs[:, 0]), -b.normals(pairs[:, 1])]
    every = np.concatenate(found)
    every = every[every.any(axis=1)]
    result = [rows.sum(axis=0) for rows in (every, *found)]
    # Alike in the frame of the pair; an offset that no normal of simple shapes is on keeps rounding out of it.
    cells = np.floor((every @ a.frame.T) * 100.0 + 0.3719)
    _, first, uses = np.unique(cells, axis=0, return_index=True, return_counts=True)
    result += [every[first[k]] for k in np.lexsort((first, -uses))[:most].tolist()]
    units = [n / length for n in result if (length := length_of(n)) > 1e-6]
    if not (a.solid and b.solid):
        units += [-n for n in units]
    return units


def all_around(a: Body, b: Body) -> list[FloatArray]:
    """Return unit vectors that turn with the pair: between the centroids, along the bodies' principal axes and across
    one of each, then along the axes of both bodies' frames and between them."""
    axes = [*a.principal_axes, *b.principal_axes]
    axes += [np.cross(p, q) for p in a.principal_axes for q in b.principal_axes]
    axes.append((b.mesh.centroid - a.mesh.centroid) / max(a.size, b.size))
    grid = _grid()
    found: list[FloatArray] = []
    for way in [*axes, *(grid @ a.frame), *(grid @ b.frame)]:
        length = length_of(way)
        if length <= _LEAST_SINE:
            continue
        for turn in (way / length, -way / length):
            if not found or (np.array(found) @ turn).max() < 1.0 - _LEAST_SINE**2:
                found.append(turn)
    return found


def _grid() -> FloatArray:
    """Return (26, 3) unit vectors along axes and between them."""
    grid = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    grid = grid[np.argsort((grid**2).sum(axis=1), kind="stable")][1:]
    return grid / np.sqrt((grid**2).sum(axis=1))[:, None]


def _spread(crossings: Crossings, most: int) -> IntArray:
    """Return the numbers of some pairs, which are the same when A and B change places."""
    pairs = crossings.pairs
    some = np.unique(np.linspace(0, len(pairs) - 1, most).astype(np.intp))
    order = np.lexsort((np.abs(pairs[:, 0] - pairs[:, 1]), pairs.sum(axis=1)))
    return order.take(some)


# ---------------------------------------------------------------------------------------------------------------------
# What no short translation separates


def depth_of_triangles(a: Mesh, b: Mesh, crossings: Crossings, enough: float = inf) -> float:
    """Return a certified lower bound: the depth of those two crossing triangles that are deepest in each other, of the
    pairs with the most in common; of the first ones that are deeper than `enough`."""
    some = crossings.of_kind(Meeting.CROSSING)
    if not len(some):
        return 0.0
    ends = crossings.segments.take(some, axis=0)
    far = np.abs(ends[:, 1] - ends[:, 0])
    unit = float(far.max()) or 1.0
    lengths = np.sqrt(((far / unit) ** 2).sum(axis=1))
    pairs = crossings.pairs.take(some, axis=0)
    # Of those alike the same ones in every pose and order.
    order = np.lexsort((np.abs(pairs[:, 0] - pairs[:, 1]), pairs.sum(axis=1), -np.rint(lengths / _MESH_ALIKE)))
    some = some.take(order[:_PAIRS])
    best = 0.0
    for i, j in crossings.pairs.take(some, axis=0).tolist():
        one, other = a.points.take(a.triangles[i], axis=0), b.points.take(b.triangles[j], axis=0)
        best = max(best, -contact(ConvexHull(one), ConvexHull(other)).upper_bound)
        if best > enough:
            break
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


def samples_of(
    one: Body, other: Body, crossings: Crossings, side: int, near: float, progress: Progress | None = None
) -> Samples:
    """Return points of `one`, which has that side in the crossings: corners, middles of triangles and of their sides,
    and points beside where the surfaces meet. All of a small mesh, some of a large one.

    Those no farther than `near` from the other's surface count as on it.
    """
    mesh = one.mesh
    count = len(mesh.triangles)
    # Whether a point is inside takes longer the finer the other is.
    share = min(1.0, (_OTHER / len(other.mesh.triangles)) ** 0.5)
    rows: IntArray = np.unique(np.linspace(0, count - 1, min(count, int(share * _SAMPLES) // 7)).astype(np.intp))
    corners = mesh.points.take(mesh.triangles.take(rows, axis=0), axis=0)
    p, q, r = corners[:, 0], corners[:, 1], corners[:, 2]
    parts = [p, q, r, 0.5 * p + 0.5 * q, 0.5 * q + 0.5 * r, 0.5 * r + 0.5 * p, (p + q + r) / 3.0]
    owners = [rows] * len(parts)
    if len(crossings):
        some = _spread(crossings, int(share * _NEAR))
        its = crossings.pairs[some, side]
        middle = 0.5 * crossings.segments[some, 0] + 0.5 * crossings.segments[some, 1]
        for k in range(3):
            corner = mesh.points.take(mesh.triangles[its, k], axis=0)
            parts += [middle + part * (corner - middle) for part in _SHARES]
            owners += [its] * len(_SHARES)
    points = np.concatenate(parts)
    found = points_to_mesh(points, other.mesh, subrange(progress, 0.0, 0.2))
    inside = found.distance <= near
    away = np.flatnonzero(~inside)
    inside[away] = _held(other, points.take(away, axis=0), found.distance.take(away), subrange(progress, 0.2, 1.0))
    return Samples(points, np.concatenate(owners), found.distance, inside)


def _held(body: Body, points: FloatArray, distance: FloatArray, progress: Progress | None) -> BoolArray:
    """Return (k,) which points, this far (k,) from the surface of a body, are inside its solid.

    No surface enters the ball around a point that reaches to the nearest of it: what is in the ball is inside if its
    middle is. So a few points of large balls tell it of most others.
    """
    of = np.arange(len(points))
    open_ = np.ones(len(points), dtype=np.bool_)
    if body.solid:
        for k in np.argsort(-distance, kind="stable").tolist():
            if not open_[k]:
                continue
            left = np.flatnonzero(open_)
            way = points.take(left, axis=0) - points[k]
            near = left[np.einsum("ij,ij->i", way, way) <= (_WITHIN * distance[k]) ** 2]
            of[near] = k
            open_[near] = False
            if len(near) < _TOLD:
                break
    asked = np.unique(of)
    told = np.zeros(len(points), dtype=np.bool_)
    told[asked] = body.holds(points.take(asked, axis=0), progress)
    return told.take(of)


def ball_in_both(
    a: Body, b: Body, samples: Sequence[Samples], progress: Progress | None = None
) -> tuple[float, FloatArray]:
    """Return the radius and middle of a ball inside both solids, the largest of some; 0.0 when none was found.

    Looked for inward of points of one surface that are inside the other or on it, then beside the largest of these. The
    balls are certain.
    """
    reach = min(a.size, b.size)
    alike = _MESH_ALIKE * reach or 1.0
    parts = []
    # The larger first, whichever it is; and of what is alike always the first.
    bodies = sorted(zip((a, b), samples, strict=True), key=lambda pair: -np.rint(pair[0].size / alike))
    for body, seen in bodies:
        # What counts as on the surface depends on the contact tolerance, and so on the pose, by a little.
        some = np.flatnonzero(seen.inside | (seen.distance < _ON * reach))
        some = some.take(np.argsort(-np.rint(seen.distance.take(some) / alike), kind="stable"))
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
    points = points[a.holds(points, subrange(progress, 0.0, 0.3))]
    points = points[b.holds(points, subrange(progress, 0.3, 0.6))]
    if not len(points):
        return nothing
    radius = _room_in_both(a, b, points, np.zeros(len(points)))
    some = np.argsort(-np.rint(radius / alike), kind="stable")[:_LARGEST]
    points, radius = points.take(some, axis=0), radius.take(some)
    # What is inside a ball is inside both solids: no step beside its middle leaves them.
    ways = np.concatenate([_grid() @ body.frame for body, _ in bodies])
    for k in range(_GROWN):
        report_progress(progress, 0.6 + 0.4 * k / _GROWN)
        step = 0.5 ** (1 + k // 3) * radius
        beside = (points[:, None] + step[:, None, None] * ways).reshape(-1, 3)
        # What has no more room than the ball has need not be measured.
        found = _room_in_both(a, b, beside, np.repeat(radius, len(ways))).reshape(len(points), -1)
        best = np.rint(found / alike).argmax(axis=1)
        rows = np.arange(len(points))
        better = np.flatnonzero(found[rows, best] > radius + alike)
        points[better] = beside.reshape(len(points), -1, 3)[better, best[better]]
        radius[better] = found[better, best[better]]
    largest = int(radius.argmax())
    rounding = 64.0 * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    return max(0.0, float(radius[largest]) * (1.0 - 1e-9) - rounding), points[largest]


def _room_in_both(a: Body, b: Body, points: FloatArray, enough: FloatArray) -> FloatArray:
    """Return (k,) how far points are from the nearer surface; where it is no more than `enough` (k,), not exactly."""
    found = np.full(len(points), np.inf)
    some = np.arange(len(points))
    for mesh in (a.mesh, b.mesh):
        its = points_to_mesh(points.take(some, axis=0), mesh, enough=enough.take(some)).distance
        found[some] = np.minimum(found.take(some), its)
        some = np.flatnonzero(found > enough)
    return found
