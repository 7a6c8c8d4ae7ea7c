# SPDX-License-Identifier: GPL-3.0-or-later
"""The shortest translation that separates two solids, looked for at length and without contact_lens.

Rays through the space of translations: along each, all stretches in which no two triangles meet are found exactly, and
in the middle of each whether one solid is inside the other. From what is free a translation slides to a local minimum:
towards zero, then along what stops it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import trimesh

from tests.core.mesh_shapes import Surface

from .rays import gaps, meetings, turns_around
from .solids import as_manifold

CLEAR = 1e-9
"""Times the size of the pair: how far translations are kept from where the solids touch."""
NARROW = 4.0
"""Times that: shorter gaps are ignored."""
ALIKE = 1e-7
"""Relative: by less two lengths do not differ."""
SAME = 1e-5
"""Times the size of the smaller solid: nearer minima are one."""
MINIMA = 24
"""The shortest minima, around which rays are tried."""
BEYOND = 1.12
"""Times the shortest length: from what separates within it, translations slide too."""
STEPS = 200
"""Of one slide."""


class Search:
    """The search for one pair; `best` is the shortest translation so far."""

    def __init__(self, a: Surface, b: Surface, seed: int) -> None:
        self.surfaces = a, b
        # In any order: then the first ones already cover most of a ray.
        self.tris_a, self.tris_b = (
            np.random.default_rng(0).permutation(points[triangles], axis=0) for points, triangles in (a, b)
        )
        self.starts_a, self.starts_b = starts(a), starts(b)
        self.size = float(min(np.ptp(a[0], axis=0).max(), np.ptp(b[0], axis=0).max()))
        self.clear = CLEAR * max(self.size, float(np.abs(a[0]).max()), float(np.abs(b[0]).max()))
        self.best = np.full(3, np.inf)
        self.length = np.inf
        self.minima: list[np.ndarray] = []
        self.rng = np.random.default_rng(seed)
        self.rays = 0

    def is_apart(self, translation: np.ndarray) -> bool:
        """Whether neither solid is inside the other, given that the surfaces do not meet."""
        if any(turns_around(self.tris_a, p + translation) > 0.5 for p in self.starts_b):
            return False
        return not any(turns_around(self.tris_b, p - translation) > 0.5 for p in self.starts_a)

    def free_on(self, start: np.ndarray, ray: np.ndarray, reach: float) -> list[np.ndarray]:
        """Translations on a ray that separate: of each free stretch the one nearest to zero."""
        self.rays += 1
        found = gaps(self.tris_a, self.tris_b, start, ray, reach, NARROW * self.clear)
        result = []
        for low, high in found:
            inner = min(self.clear, 0.25 * (high - low))
            nearest = float(np.clip(-start @ ray, low + inner, high - inner))
            if self.is_apart(start + 0.5 * (low + high) * ray):
                result.append(start + nearest * ray)
        return sorted(result, key=length_of)

    def slide(self, translation: np.ndarray) -> np.ndarray:
        """Slide to a local minimum of the length; the path meets nothing."""
        while True:
            before = length_of(translation)
            translation = self._slide_once(translation)
            if length_of(translation) > before * (1.0 - ALIKE) or self.is_known(translation):
                return translation

    def is_known(self, translation: np.ndarray) -> bool:
        """Whether a translation is a minimum that was found before."""
        if not self.minima:
            return False
        away = np.array(self.minima) - translation
        return bool((away * away).sum(axis=1).min() < (SAME * self.size) ** 2)

    def _slide_once(self, translation: np.ndarray) -> np.ndarray:
        normals, offsets = np.empty((0, 3)), np.empty(0)
        target = np.zeros(3)
        for _ in range(STEPS):
            path = target - translation
            far = length_of(path)
            if far <= 3.0 * self.clear:
                break
            ray = path / far
            self.rays += 1
            _, stop, normal = meetings(self.tris_a, self.tris_b, translation, ray, far, True)
            if not normal.any():
                if stop < far:
                    break
                translation = target
                if not len(normals):
                    break
                continue
            normal = normal / length_of(normal)
            if normal @ ray > 0.0:
                normal = -normal
            against = -float(normal @ ray)
            offset = float(normal @ (translation + stop * ray)) + self.clear
            translation = translation + max(0.0, stop - self.clear / max(against, 1e-6)) * ray
            normals, offsets = np.vstack([normals, normal]), np.append(offsets, offset)
            onward = nearest_beyond(normals, offsets)
            if onward is None:
                break
            target, kept = onward
            normals, offsets = normals[kept], offsets[kept]
            if length_of(target) > length_of(translation) * (1.0 + 1e-12):
                break
        return translation

    def offer(self, translation: np.ndarray) -> bool:
        """Slide what separates to a minimum and keep it when it is the shortest."""
        if self.is_known(translation):
            return False
        end = self.slide(translation)
        if not self.is_known(end):
            self.minima.append(end)
            self.minima.sort(key=length_of)
        if length_of(end) < self.length * (1.0 - ALIKE):
            self.best, self.length = end, length_of(end)
            return True
        return False

    def begin(self, directions: int, slides: int) -> None:
        """Beyond the hull, then from zero in all directions; the shortest of what is found slides."""
        rays = sphere(2000, self.rng)
        (a, _), (b, _) = self.surfaces
        widths = (a @ rays.T).max(axis=0) - (b @ rays.T).min(axis=0)
        beyond = rays[widths.argmin()] * (widths.min() + self.clear)
        self.offer(beyond)
        found = [beyond]
        shortest = length_of(beyond)
        for ray in sphere(directions, self.rng):
            first = self.free_on(np.zeros(3), ray, 1.5 * shortest)
            if first:
                found.append(first[0])
                shortest = min(shortest, length_of(first[0]))
        self.slide_best(found, slides)

    def slide_best(self, found: list[np.ndarray], slides: int) -> None:
        """Let the shortest of different directions slide."""
        found.sort(key=length_of)
        tried: list[np.ndarray] = []
        for translation in found:
            ray = translation / length_of(translation)
            if len(tried) < slides and not any(ray @ other > 0.97 for other in tried):
                tried.append(ray)
                self.offer(translation)

    def look(self, rays: int) -> None:
        """Along rays from zero, through chords of the ball of shorter ones, and around the best."""
        for k in range(rays):
            kind = k % 5
            wide = BEYOND if k % 3 == 0 else 1.0
            reach = wide * self.length * (1.0 - ALIKE)
            if kind < 2:
                start, ray = np.zeros(3), unit(self.rng)
            elif kind < 4:
                start = reach * unit(self.rng)
                ray = reach * self.rng.uniform() ** (1 / 3) * unit(self.rng) - start
                ray /= length_of(ray)
                reach = -2.0 * float(start @ ray)
            else:
                near = self.minima[int(min(MINIMA, len(self.minima)) * self.rng.uniform() ** 2)]
                start = np.zeros(3)
                ray = near / length_of(near) + 10.0 ** self.rng.uniform(-3.0, -0.3) * unit(self.rng)
                ray /= length_of(ray)
            for found in self.free_on(start, ray, reach)[:2]:
                self.offer(found)

    def start_from(self, translations: Iterable[np.ndarray]) -> None:
        """Take translations found elsewhere, where they separate."""
        for translation in translations:
            if np.isfinite(translation).all() and separates(*self.surfaces, translation):
                self.offer(translation)


def starts(surface: Surface) -> np.ndarray:
    """A point of each loose part."""
    points, triangles = surface
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]]])
    parts = trimesh.graph.connected_components(edges, nodes=np.unique(triangles))
    return np.array([points[part[0]] for part in parts])


def nearest_beyond(normals: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, list[int]] | None:
    """The shortest vector with `normals @ v >= offsets`, and the planes it is on; None where there is none."""
    best = None
    scale = np.abs(offsets).max() + 1e-300
    for count in range(1, min(3, len(offsets)) + 1):
        for chosen in combinations(range(len(offsets)), count):
            if len(offsets) - 1 not in chosen:
                continue
            n = normals[list(chosen)]
            gram = n @ n.T
            if np.linalg.det(gram) < 1e-14:
                continue
            weights = np.linalg.solve(gram, offsets[list(chosen)])
            v = n.T @ weights
            if (weights < -1e-12 * scale).any() or (normals @ v < offsets - 1e-12 * scale).any():
                continue
            if best is None or length_of(v) < length_of(best[0]):
                best = v, list(chosen)
    return best


def sphere(count: int, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors (count, 3) spread evenly, turned at random."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1) @ turn.T


def unit(rng: np.random.Generator) -> np.ndarray:
    """A random unit vector."""
    v = rng.normal(size=3)
    return v / length_of(v)


def length_of(vector: np.ndarray) -> float:
    """Its length."""
    return float(np.sqrt((vector * vector).sum()))


def separates(a: Surface, b: Surface, translation: np.ndarray) -> bool:
    """Whether B moved has nothing in common with A: no volume by manifold3d, no triangles that meet by FCL."""
    import fcl

    moved = b[0] + translation, b[1]
    solid_a, solid_b = as_manifold(a), as_manifold(moved)
    if (solid_a ^ solid_b).volume() > 1e-9 * min(solid_a.volume(), solid_b.volume()):
        return False
    models = []
    for points, triangles in (a, moved):
        model = fcl.BVHModel()
        model.beginModel(len(triangles), len(points))
        model.addSubModel(points, triangles)
        model.endModel()
        models.append(fcl.CollisionObject(model))
    return fcl.collide(*models, fcl.CollisionRequest(), fcl.CollisionResult()) == 0
