# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for a short translation that separates two meshes: upper bounds of their depth.

The smallest translation that separates two solids is a global problem. Upper bounds here are translations that were
tried: B is moved by it and no triangle of it meets one of A any more, exactly, nor is a part of one inside the other.

1. Start with the translation that separates the convex hulls.
2. Where the surfaces meet, look along their normals for the nearest gap between them.
3. On a grid of all shorter translations find those that probably separate, and how short none can be.
4. Slide what separates towards zero, along the triangles that stop it, to a local minimum.

Among translations t, where those that do not separate are filled:

                              t0                  1. The target is 0. On the path from t0 two triangles
                         .                           meet at t1: they are apart where n . t >= offset.
    --------t2<------t1--------  n . t = offset   2. The next target, t2, is the shortest t with n . t >= offset
    ################.##########                      for all that stops it: a foot, an edge or a corner.
    ########0##################                   3. It ends at a target that it reaches.

With against = -n . path > 0, an impact at the fraction s of a path has n . (t0 + s path) = offset. The slide stops
before it, at s - clearance / against, where n . t = offset + clearance, and keeps to n . t >= offset + clearance: the
rounding of coordinates is less than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

import numpy as np

from ..budget import Budget
from ..narrow_phase.epa import epa
from ..narrow_phase.gjk import gjk
from ..progress import Progress, report_progress, subrange
from ..shapes.polytope import Polytope
from ..tolerance import CLEAR_LONGER, EPS, MESH_APART
from ..types import FloatArray
from .body import Body, are_disjoint, length_of
from .crossings import Crossings
from .half_spaces import HalfSpaces
from .mesh_sweep import first_impact, gaps_between, grain, near_pairs
from .resolve_crossings import resolve_crossings
from .translation_grid import TranslationGrid

_SETTLED = 1e-12
"""Relative: translations that separate meshes and grow shorter by less are at a local minimum."""
_NEAR = 1_000
"""Pairs of triangles whose normals are directions to leave along."""
_STEPS = 100
"""Steps of a slide along what stops a translation."""
_ASIDE = 16
"""Stops on the way out of a notch."""
_NOTCHES = 16
"""Translations, the shortest first, beside which one is looked for that stays clear."""
_FARTHER = 1.01
"""Times what must be free beyond a translation: its direction changes as it leaves a notch."""
_BESIDE = 3.0
"""Cells between translations of a grid, above which both are tried."""
_PROMISING = 0.95
"""Times the best length: where the nearest translation of a grid is still shorter, it is tried from beside it."""
_HALF = 0.5
"""Cells: how far beside it."""
_SHORTER = 1.0
"""Cells that a minimum is shorter than the nearest translation of a grid, about at most."""
_BEHIND = 4
"""Cells behind a translation of a grid, up to which a gap is looked for, from a cell before it on."""
_REACH = 1.5
"""Cells that a translation slides with the same pairs of triangles."""
_GRAINS = 6.0
"""Mean sides of triangles that it slides with the same pairs at most: farther away fine meshes have very many."""
_USED = 0.7
"""Fraction of the reach after which the pairs of triangles are looked for again."""
_SHORT = (0.5, 0.25)
"""Cells: lengths of translations tried where the grid does not show where the solids overlap."""


class SeparationSearch:
    """The shortest translation known to separate two meshes.

    Translations are looked for along directions that belong to the pair, not to the world's axes. One that separates is
    then slid along the surfaces towards zero until it is a local minimum, which is a corner, an edge or a foot of the
    planes that stop it there: so that one is the same in every pose and order of the two, to rounding. Which of several
    minima is found, rounding may turn.
    """

    def __init__(self, a: Body, b: Body, budget: Budget) -> None:
        """Start with a translation that separates the convex hulls."""
        self.a, self.b, self.budget = a, b, budget
        self._progress: Progress | None = None
        self.magnitude = max(a.mesh.magnitude, b.mesh.magnitude)
        direction, width = self._across_hulls()
        self.length = width
        # The slab between them is then several times as wide as rounding.
        self.length = width + self.clearance
        self.best = direction * self.length
        self.known = [self.best]

    def _across_hulls(self) -> tuple[FloatArray, float]:
        """Return the direction along which the convex hulls are separated by about the shortest translation, and its
        length, 0.0 where they are separated."""
        largest = max(self.a.mesh.extent, self.b.mesh.extent)
        middle = 0.5 * self.a.mesh.bounds[0] + 0.5 * self.a.mesh.bounds[1]
        hulls = [_corner_set((body.extremes - middle) / largest) for body in (self.a, self.b)]
        simplex = gjk(hulls[0], hulls[1])
        normal = epa(hulls[0], hulls[1], simplex).faces[0].normal if simplex.intersects else simplex.normal
        direction = np.array(normal)
        a, b = (body.corners @ direction for body in (self.a, self.b))
        return direction, max(0.0, float(a.max() - b.min()))

    @property
    def clearance(self) -> float:
        """How far translations are kept from where meshes touch: more than rounding."""
        return 4.0 * MESH_APART * EPS * (self.magnitude + self.length)

    def _longer(self, translation: FloatArray, normal: FloatArray) -> FloatArray:
        """Return a translation made longer by what coordinates are rounded."""
        return translation + normal * (MESH_APART * EPS * (self.magnitude + length_of(translation)))

    def separates(self, translation: FloatArray) -> bool:
        """Try a translation; keep it when it is the best."""
        report_progress(self._progress, 1.0)
        if not are_disjoint(self.a, self.b.translated(translation)):
            return False
        self._keep(translation)
        return True

    def _keep(self, translation: FloatArray) -> None:
        """Keep a translation that separates, and know when it is the best."""
        length = length_of(translation)
        self.known.append(translation)
        if length < self.length:
            self.best, self.length = translation, length

    def try_all(self, translations: Iterable[FloatArray], tolerance: float, spare: float) -> FloatArray | None:
        """Try translations of pieces, a little longer each; return the first that separates. They may be too short by
        `tolerance`, and pieces are up to `spare` from the meshes."""
        for translation in translations:
            length = length_of(translation)
            if length == 0.0:
                continue
            normal = translation / length
            longer = self._longer(translation, normal)
            for more in (0.0, tolerance, max(spare, tolerance), 4.0 * max(spare, tolerance)):
                if self.separates(found := longer + more * normal):
                    return found
        return None

    def search_below_cell(self, cell: float) -> None:
        """Look for translations about as short as a cell of a grid that does not show where the solids overlap: from
        none, and if that fails in many directions."""
        before = self.length
        self._try_near(np.zeros(3), cell)
        if self.length < before:
            return
        grid = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3) @ self.a.frame
        for part in _SHORT:
            for direction in grid[grid.any(axis=1)]:
                self._try_near(direction * (part * cell / length_of(direction)), cell)
                if self.length < before or self.budget.is_late:
                    return

    def _try_near(self, translation: FloatArray, cell: float) -> None:
        """Slide to a minimum from what separates near a translation; keep it when it is the best."""
        start = self._resolved(translation, cell)
        if start is not None:
            self.slide_to_minimum(start, cell)

    def _resolved(self, translation: FloatArray, cell: float, longest: float = inf) -> FloatArray | None:
        """Return a translation near one that probably separates, which does if it is no longer than `longest`; None
        where none is found."""
        report_progress(self._progress, 1.0)
        found = resolve_crossings(self.a, self.b, translation, _BESIDE * cell, longest)
        if found is not None and length_of(found) <= longest:
            self._keep(found)
        return found

    def _gaps(self, start: FloatArray, path: FloatArray) -> FloatArray:
        """Return the fractions of a path from which on the surfaces do not meet, a little farther than they touch."""
        room = self.clearance / length_of(path)
        return gaps_between(self.a.mesh, self.b.mesh, start, path, 4.0 * room) + 2.0 * room

    def explore(self, cells: int, most: int, progress: Progress | None = None) -> TranslationGrid:
        """Look for shorter translations on a grid of them with about so many cells, and slide at most so many to a
        minimum; return the grid."""
        self._progress = subrange(progress, 0.0, 0.0)
        grid = TranslationGrid(self.a, self.b, self.length, cells, self._progress)
        report_progress(progress, 0.3)
        self._progress = subrange(progress, 0.3, 0.3)
        if most:
            self.slide_to_minimum(self.best, _REACH * grid.size)
        likely = grid.likely(self.length + grid.size)
        if len(likely) and not likely[0].any() and grid.is_resolved:
            self._try_near(np.zeros(3), grid.size)
        tried: list[FloatArray] = []
        for translation in self._candidates(grid, likely[: 4 * most + 1]):
            length = length_of(translation)
            if length == 0.0 or length - _SHORTER * grid.size > self.length:
                continue
            if any(length_of(translation - other) < _BESIDE * grid.size for other in tried):
                continue
            tried.append(translation)
            done = 0.3 + 0.7 * len(tried) / (most + 1)
            self._progress = subrange(progress, done, done)
            # What does not slide to a minimum is of no use where it is longer.
            start = self._nearest_free(translation, grid.size, inf if most else self.length * CLEAR_LONGER)
            if start is not None and most:
                self.slide_to_minimum(start, _REACH * grid.size)
            if len(tried) > most or self.budget.is_late:
                break
        if most and tried and length_of(tried[0]) + grid.size < _PROMISING * self.length:
            # An opening narrower than a cell: from beside it the planes may be others.
            for step in np.concatenate([grid.frame, -grid.frame]) * (_HALF * grid.size):
                self._try_near(tried[0] + step, grid.size)
        return grid

    def _candidates(self, grid: TranslationGrid, likely: FloatArray) -> Iterator[FloatArray]:
        """Yield translations that probably separate, then one that certainly does."""
        yield from likely
        yield from grid.certain(self.length + grid.size)[:1]

    def _nearest_free(self, translation: FloatArray, cell: float, longest: float) -> FloatArray | None:
        """Return a translation that separates near one that probably does, if it is no longer than `longest`; None
        where none is found."""
        found = self._resolved(translation, cell, longest)
        if found is not None:
            return found
        step = translation * (cell / length_of(translation))
        for k in range(_BEHIND + 1):
            start = translation + (k - 1) * step
            if length_of(start) > longest:
                continue
            for fraction in self._gaps(start, step).tolist():
                if self.separates(start + fraction * step):
                    return start + fraction * step
        return None

    def slide_to_minimum(self, translation: FloatArray, reach: float) -> None:
        """Slide a translation that separates to a local minimum; keep it when it is the best.

        The path meets nothing, so what separates at its start does at its end; which is tried nevertheless. Pairs of
        triangles are looked for within `reach` of it at a time.
        """
        steps = _STEPS
        while steps > 0:
            before = length_of(translation)
            translation, taken = self._slide(translation, steps, reach)
            steps -= taken
            if length_of(translation) >= before * (1.0 - _SETTLED):
                break
        if length_of(translation) < self.length:
            self.separates(translation)

    def _slide(self, translation: FloatArray, steps: int, reach: float) -> tuple[FloatArray, int]:
        """Return where a translation ends that slides towards zero along what stops it, and how many steps it took."""
        stops, target = HalfSpaces(), np.zeros(3)
        reach = min(reach, _GRAINS * max(grain(self.a.mesh), grain(self.b.mesh)))
        middle, left, pairs = translation, 0.0, np.empty((0, 2), dtype=np.intp)
        for step in range(1, steps + 1):
            report_progress(self._progress, 1.0)
            path = target - translation
            length = length_of(path)
            if length <= 2.0 * self.clearance:
                return translation, step
            left = reach - length_of(translation - middle)
            if step == 1 or left < (1.0 - _USED) * reach:
                middle, left = translation, reach
                pairs = near_pairs(self.a.mesh, self.b.mesh, middle, reach)
            part = min(1.0, left / length)
            impact = first_impact(self.a.mesh, self.b.mesh, translation, part * path, pairs=pairs)
            if impact is None:
                translation = translation + part * path
                if part == 1.0:
                    return translation, step
                continue
            against = -float(impact.normal @ path) * part
            if against <= 0.0:  # along the path by rounding
                return translation, step
            translation = translation + max(0.0, impact.fraction - self.clearance / against) * part * path
            # The shortest beyond what stopped it, and what it slid along that still matters.
            onward = stops.shortest(impact.normal, impact.offset + self.clearance, 2.0 * self.length)
            if onward is None:
                return translation, step
            target = onward
        return translation, steps

    def stays_clear(self, translation: FloatArray, beyond: float) -> bool:
        """Return whether B, once moved by a translation that separates, meets nothing for a length more of the same."""
        report_progress(self._progress, 1.0)
        direction = translation / length_of(translation)
        # By rounding more, for a touch to end for sure.
        start = translation + self.clearance * direction
        return first_impact(self.a.mesh, self.b.mesh, start, beyond * direction) is None

    def find_clear(self, beyond: float, most: float) -> FloatArray | None:
        """Return the shortest known translation that separates and meets nothing for a length more of the same, or one
        beside it that leaves a notch, no longer than `most`; None where there is none."""
        found: FloatArray | None = None
        near = [translation for translation in self.known if length_of(translation) <= most]
        for translation in sorted(near, key=length_of)[:_NOTCHES]:
            if length_of(translation) > most:
                break
            if self.stays_clear(translation, beyond):
                return translation
            beside = self._leave_notch(translation, beyond, most)
            if beside is not None:
                found, most = beside, length_of(beside)
        return found

    def _leave_notch(self, translation: FloatArray, beyond: float, most: float) -> FloatArray | None:
        """Return a translation beside one that ends in a notch, as deep in the open as it takes to go on for a length
        `beyond`; None where it would be longer than `most`."""
        meshes = self.a.mesh, self.b.mesh
        ahead = translation * (_FARTHER * beyond / length_of(translation))
        stops, target, more = HalfSpaces(), translation, 0.0
        impact = first_impact(*meshes, translation, -translation)
        for _ in range(_ASIDE):
            report_progress(self._progress, 1.0)
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


def _corner_set(points: FloatArray) -> Polytope:
    """Return points (n, 3) as a polytope for GJK and EPA, which need no facets."""
    none = np.empty((0, 2), dtype=np.intp)
    result = Polytope(points, 3, none, none, (), np.empty((0, 3)), np.empty(0))
    result.__dict__["_rows"] = _Rows(points)
    return result


class _Rows:
    """Points as `Polytope._rows`, made plain floats when asked: of many GJK and EPA look at few."""

    def __init__(self, points: FloatArray) -> None:
        self._points = points

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, index: int) -> tuple[float, ...]:
        return tuple(self._points[index].tolist())


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
