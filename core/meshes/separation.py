# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for a short translation that separates two meshes: upper bounds of their depth.

The smallest translation that separates two solids is a global problem. Upper bounds here are translations that were
tried: B is moved by it and no triangle of it meets one of A any more, exactly, nor is a part of one inside the other.

1. Start with the translation that separates the convex hulls.
2. Sweep B along directions in which it may leave A, to find gaps between what it meets.
3. Slide a translation that separates towards zero, along the triangles that stop it, to a local minimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..budget import Budget
from ..compounds.compound_depth import nearest_beyond
from ..curved.convex_contact import convex_contact
from ..progress import Progress, report_progress
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, MESH_APART, MESH_DEPTH_STEP
from ..types import FloatArray
from .body import Body, are_disjoint, grid_directions, length_of
from .crossings import Crossings
from .mesh_sweep import first_impact, gaps_between

_SETTLED = 1e-12
"""Relative: translations that separate meshes and grow shorter by less are at a local minimum."""
_NEAR = 1_000
"""Pairs of triangles whose normals are directions to leave along."""
_STARTS = 8
"""Translations across the hulls that are slid to a minimum."""
_STEPS = 100
"""Steps of a slide along what stops a translation."""
_ASIDE = 16
"""Stops on the way out of a notch."""
_FARTHER = 1.01
"""Times what must be free beyond a translation: its direction changes as it leaves a notch."""
_SHORTER = 0.99
"""Times the best translation: how long others may be."""
_PROBED = 0.05
"""Relative: how nearly the shortest length along a direction is found before the slide."""
_LEAST_SINE = 1e-3
"""Sine between directions that are tried beside each other."""
_NODES_OF_A_TRY = 50
"""Nodes of the budget that one translation of meshes counts for."""
_MOST_SWEPT = 32_000
"""Pairs of triangles that meet along all swept directions; along one an eighth of it."""
_GAPS = 4
"""Gaps along one direction that are tried."""
_ROWS = 1 << 13
"""Points in one go."""


class SeparationSearch:
    """The shortest translation known to separate two meshes.

    Translations are looked for along directions that belong to the pair, not to the world's axes. One that separates is
    then slid along the surfaces towards zero until it is a local minimum, which is a corner, an edge or a foot of the
    planes that stop it there: so that one is the same in every pose and order of the two, to rounding. Which of several
    minima is found, rounding may turn.
    """

    def __init__(self, a: Body, b: Body, budget: Budget, progress: Progress | None) -> None:
        """Start with a translation that separates the convex hulls."""
        self.a, self.b, self.progress = a, b, progress
        self.budget = budget
        self.tries_left = self.tries = 4 + budget.nodes // _NODES_OF_A_TRY
        self.pairs_swept = 0
        self.magnitude = max(a.mesh.magnitude, b.mesh.magnitude)
        self.frames = (a.frame, b.frame)
        self.ties = self._find_hull_directions()
        across = [self.ties[k] * width for k, width in enumerate(self.widths(self.ties).tolist())]
        lengths = [length_of(translation) for translation in across]
        best = int(np.argmin(lengths))
        self.best = self._longer(across[best], self.ties[best])
        self.length = length_of(self.best)
        self.proved = are_disjoint(a, b.translated(self.best))
        if not self.proved:
            self.best = self.best * 2.0 + self.ties[best] * (64.0 * EPS * self.magnitude)
            self.length = length_of(self.best)
            self.proved = are_disjoint(a, b.translated(self.best))
        self.known = [self.best] if self.proved else []
        for translation, tie in zip(across[:_STARTS], self.ties, strict=False):
            self.slide_to_minimum(self._longer(translation, tie))

    def _find_hull_directions(self) -> list[FloatArray]:
        """Return the unit vectors along which the convex hulls are separated by the shortest translation.

        Coarse hulls grow where they are short of the meshes along these, until that makes no difference.
        """
        hulls = [self.a.coarse_hull, self.b.coarse_hull]
        corners = [mesh.points.take(np.unique(mesh.triangles), axis=0) for mesh in (self.a.mesh, self.b.mesh)]
        while True:
            ties = list(convex_contact(*hulls).ties)
            best = ties[int(self.widths(ties).argmin())]
            grown = False
            for k, direction in enumerate((best, -best)):
                heights = corners[k] @ direction
                top = int(heights.argmax())
                if heights[top] - float((hulls[k].vertices @ direction).max()) > MESH_APART * EPS * self.magnitude:
                    hulls[k] = ConvexHull(np.concatenate([hulls[k].vertices, corners[k][top : top + 1]]))
                    grown = True
            if not grown:
                return ties

    def widths(self, directions: Sequence[FloatArray]) -> FloatArray:
        """Return how far B must be moved along each unit vector to be beyond all of A; 0.0 where it is."""
        rows = np.array(directions).T
        most = [np.empty(rows.shape[1]), np.empty(rows.shape[1])]
        for mesh, out, sign in ((self.a.mesh, most[0], 1.0), (self.b.mesh, most[1], -1.0)):
            out[:] = -np.inf
            for begin in range(0, len(mesh.points), _ROWS):
                np.maximum(out, (mesh.points[begin : begin + _ROWS] @ (sign * rows)).max(axis=0), out=out)
        return np.maximum(most[0] + most[1], 0.0)

    @property
    def can_try(self) -> bool:
        """Whether the budget is not spent."""
        return self.tries_left > 0 and not self.budget.is_late

    @property
    def clearance(self) -> float:
        """How far translations are kept from where meshes touch: more than rounding."""
        return 4.0 * MESH_APART * EPS * (self.magnitude + self.length)

    def _longer(self, translation: FloatArray, normal: FloatArray) -> FloatArray:
        """Return a translation made longer by what coordinates are rounded."""
        return translation + normal * (MESH_APART * EPS * (self.magnitude + length_of(translation)))

    def _count_try(self, cost: int = 1) -> None:
        self.tries_left -= cost
        report_progress(self.progress, 1.0 - max(0, self.tries_left) / max(1, self.tries))

    def separates(self, translation: FloatArray) -> bool:
        """Try a translation; keep it when it is the best."""
        self._count_try()
        if not are_disjoint(self.a, self.b.translated(translation)):
            return False
        length = length_of(translation)
        self.known.append(translation)
        if length < self.length or not self.proved:
            self.best, self.length, self.proved = translation, length, True
        return True

    def stays_clear(self, translation: FloatArray, beyond: float) -> bool:
        """Return whether B, once moved by a translation that separates, meets nothing for a length more of the same."""
        direction = translation / length_of(translation)
        # By rounding more, for a touch to end for sure.
        start = translation + self.clearance * direction
        if first_impact(self.a.mesh, self.b.mesh, start, beyond * direction) is not None:
            return False
        return all(are_disjoint(self.a, self.b.translated(t)) for t in (start, start + beyond * direction))

    def find_clear(self, beyond: float) -> FloatArray | None:
        """Return the shortest known translation that separates and meets nothing for a length more of the same, no
        longer than the best but for MESH_DEPTH_STEP; None where there is none."""
        most = self.length * (1.0 + MESH_DEPTH_STEP)
        near = [translation for translation in self.known if length_of(translation) <= most]
        for translation in sorted(near, key=length_of):
            report_progress(self.progress, 1.0 - max(0, self.tries_left) / max(1, self.tries))
            if self.stays_clear(translation, beyond):
                return translation
            beside = self._leave_notch(translation, beyond, most)
            if beside is not None:
                return beside
        return None

    def _leave_notch(self, translation: FloatArray, beyond: float, most: float) -> FloatArray | None:
        """Return a translation beside one that ends in a notch, as deep in the open as it takes to go on for a length
        `beyond`; None where it would be longer than `most`."""
        meshes = self.a.mesh, self.b.mesh
        ahead = translation * (_FARTHER * beyond / length_of(translation))
        stops, target, more = _HalfSpaces(), translation, 0.0
        impact = first_impact(*meshes, translation, -translation)
        for _ in range(_ASIDE):
            if impact is None:
                break
            onward = stops.shortest(impact.normal, impact.offset + self.clearance + more, most)
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

    def try_all(self, translations: Iterable[FloatArray], tolerance: float, spare: float) -> FloatArray | None:
        """Try translations of pieces, a little longer each; return the first that separates. They may be too short by
        `tolerance`, and pieces are up to `spare` from the meshes."""
        for translation in translations:
            length = length_of(translation)
            if length == 0.0:
                continue
            normal = translation / length
            longer = self._longer(translation, normal)
            left = self.tries_left - 1
            for more in (0.0, tolerance, max(spare, tolerance), 4.0 * max(spare, tolerance)):
                separates = self.separates(found := longer + more * normal)
                self.tries_left = left  # rounding decides which of them is the first: they count as one
                if separates:
                    return found
        return None

    def improve(self, normals: Sequence[FloatArray], least: float) -> None:
        """Look for shorter translations along directions, the narrowest first; `least` is a lower bound."""
        if not len(normals):
            return
        order = np.argsort(np.round(self.widths(normals) / (self.length or 1.0), 6), kind="stable")
        for k in order.tolist():
            if not self.can_try or self.length * (1.0 - MESH_DEPTH_STEP) <= least:
                return
            self.try_direction(normals[k], least)

    def try_direction(self, normal: FloatArray, least: float) -> None:
        """Look for a shorter translation along a direction: the shortest there is, unless the meshes are too fine."""
        room, length = self.clearance, _SHORTER * self.length
        if self.pairs_swept < _MOST_SWEPT:
            found = gaps_between(self.a.mesh, self.b.mesh, normal * length, 4.0 * room / length, _MOST_SWEPT // 8)
            for tried, (fraction, pairs) in enumerate(found):
                if fraction is None or tried == _GAPS:
                    self.pairs_swept += pairs
                    break
                if fraction * length + 2.0 * room < least:
                    continue
                shorter = normal * (fraction * length + 2.0 * room)
                if self.separates(shorter):
                    self.pairs_swept += pairs
                    self.slide_to_minimum(shorter)
                    return
        length = max(least, length)
        if self.separates(normal * length):
            self.slide_to_minimum(self._bisect(normal, least, length))

    def _bisect(self, normal: FloatArray, least: float, length: float) -> FloatArray:
        """Return a shorter translation along one that separates, if there is one behind what stops it, too."""
        below = least
        while self.can_try and length - below > _PROBED * length:
            middle = 0.5 * (below + length)
            if self.separates(normal * middle):
                length = middle
            else:
                below = middle
        return normal * length

    def refine(self, least: float) -> None:
        """Look for shorter translations beside the best, closer and closer."""
        wide = 0.4
        while wide > 0.04 and self.can_try and self.length * (1.0 - MESH_DEPTH_STEP) > least:
            before, normal = self.length, self.best / self.length
            frame = self.frames[0]
            axis = frame[int(np.round(np.abs(frame @ normal), 6).argmin())]
            u = np.cross(normal, axis)
            u = u / length_of(u)
            v = np.cross(normal, u)
            around = [normal + wide * side for side in (u, -u, v, -v)]
            self.improve([direction / length_of(direction) for direction in around], least)
            if self.length > 0.99 * before:
                wide *= 0.5

    def slide_to_minimum(self, translation: FloatArray) -> None:
        """Slide a translation that separates to a local minimum; keep it when it is the best.

        The path meets nothing, so what separates at its start does at its end; which is tried nevertheless.
        """
        steps = _STEPS
        while steps > 0:
            before = length_of(translation)
            translation, taken = self._slide(translation, steps)
            steps -= taken
            if length_of(translation) >= before * (1.0 - _SETTLED):
                break
        if length_of(translation) < self.length:
            self.separates(translation)
        else:
            self._count_try()  # counts alike: rounding decides whether a known one is found again a little shorter

    def _slide(self, translation: FloatArray, steps: int) -> tuple[FloatArray, int]:
        """Return where a translation ends that slides towards zero along what stops it, and how many steps it took."""
        stops, target = _HalfSpaces(), np.zeros(3)
        for step in range(1, steps + 1):
            path = target - translation
            if length_of(path) <= 2.0 * self.clearance:
                return translation, step
            report_progress(self.progress, 1.0 - max(0, self.tries_left) / max(1, self.tries))
            impact = first_impact(self.a.mesh, self.b.mesh, translation, path)
            if impact is None:
                return target, step
            against = -float(impact.normal @ path)
            translation = translation + max(0.0, impact.fraction - self.clearance / against) * path
            # The shortest beyond what stopped it, and what it slid along that still matters.
            onward = stops.shortest(impact.normal, impact.offset + self.clearance, 2.0 * self.length)
            if onward is None:
                return translation, step
            target = onward
        return translation, steps


class _HalfSpaces:
    """Half-spaces that a translation has to be in: the newest, and those that the shortest one before touched."""

    def __init__(self) -> None:
        self._normals, self._offsets = np.empty((0, 3)), np.empty(0)

    def shortest(self, normal: FloatArray, offset: float, most: float) -> FloatArray | None:
        """Return the shortest translation with `normal @ t >= offset` too; None when it is longer than `most`."""
        normals = np.concatenate([normal[None], self._normals])
        offsets = np.concatenate([[offset], self._offsets])
        chosen = np.full((1, 4), -1)
        chosen[0, : len(offsets)] = np.arange(len(offsets))
        bound, points, touched, beyond = nearest_beyond(normals, offsets, chosen)
        if not np.isfinite(bound[0]) or beyond[0] > most:
            return None
        kept = touched[0][touched[0] >= 0]
        self._normals, self._offsets = normals.take(kept, axis=0), offsets.take(kept)
        return points[0]


def contact_directions(a: Body, b: Body, crossings: Crossings, most: int = 12) -> list[FloatArray]:
    """Return unit vectors along which B may leave A: mean normals where they meet, and the most frequent ones."""
    pairs = crossings.pairs
    if not len(pairs):
        return []
    pairs = pairs.take(crossings.sample(_NEAR), axis=0)
    found = [a.normals(pairs[:, 0]), -b.normals(pairs[:, 1])]
    every = np.concatenate(found)
    every = every[every.any(axis=1)]
    result = [rows.sum(axis=0) for rows in (every, *found)]
    # Equal ones in the frame of the pair; an offset that no normal of simple shapes is on keeps rounding out of it.
    cells = np.floor((every @ a.frame.T) * 100.0 + 0.3719)
    _, first, uses = np.unique(cells, axis=0, return_index=True, return_counts=True)
    result += [every[first[k]] for k in np.lexsort((first, -uses))[:most].tolist()]
    units = [n / length for n in result if (length := length_of(n)) > 1e-6]
    if not (a.solid and b.solid):
        units += [-n for n in units]
    return units


def frame_directions(a: Body, b: Body) -> list[FloatArray]:
    """Return unit vectors that turn with the pair: between the centroids, along the bodies' principal axes and across
    one of each, then along the axes of both bodies' frames and between them."""
    axes = [*a.principal_axes, *b.principal_axes]
    axes += [np.cross(p, q) for p in a.principal_axes for q in b.principal_axes]
    axes.append((b.mesh.centroid - a.mesh.centroid) / max(a.size, b.size))
    grid = grid_directions()
    found: list[FloatArray] = []
    for axis in [*axes, *(grid @ a.frame), *(grid @ b.frame)]:
        length = length_of(axis)
        if length <= _LEAST_SINE:
            continue
        for direction in (axis / length, -axis / length):
            if not found or (np.array(found) @ direction).max() < 1.0 - _LEAST_SINE**2:
                found.append(direction)
    return found
