# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of two objects is seen where in a view, by points of their surfaces: for labels, which name what they point at.
No Blender, no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.types import BoolArray, FloatArray
from ..geometry.shape_outline import stand_in

SAMPLES = 1500
"""Points on the surface of an object."""
_MOST_TRIANGLES = 2000
"""Of a shape with more, every k-th is looked at: pairs that move are sampled anew before each frame."""
_MOST_FACETS = 300
"""The same for the facets of a hull, which have several triangles each."""
_FINENESS = 1.0
"""How large a triangle is at most, relative to its distance from the contact."""
_MOST_SPLITS = 12
_CELL = 18.0
"""Pixels at interface scale 1: the least size of the cells in which it is decided which object is in front."""


def surface_samples(shape: Solid, middle: FloatArray, near: float) -> FloatArray:
    """Return points (n, 3) of a shape's surface in no order, the denser the nearer to `middle`, but no denser than at
    the distance `near`: of a floor those matter that are seen with the chair on it."""
    corners = _triangles(shape)
    if len(corners) == 0:
        return np.asarray(stand_in(shape).vertices)
    corners = corners[:: 1 + len(corners) // _MOST_TRIANGLES]
    done, sizes = [], []
    for split in range(_MOST_SPLITS + 1):
        longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        away = np.maximum(np.linalg.norm(corners.mean(axis=1) - middle, axis=1), near)
        is_fine = (longest <= _FINENESS * np.maximum(away - longest, near) * (1.0 + 1e-6)) | (split == _MOST_SPLITS)
        fine = corners[is_fine]
        area = np.linalg.norm(np.cross(fine[:, 1] - fine[:, 0], fine[:, 2] - fine[:, 0]), axis=1)
        done.append(fine)
        sizes.append(area / away[is_fine] ** 2)
        corners = _quarters(corners[~is_fine])
        if len(corners) == 0:
            break
    corners, total = np.concatenate(done), np.cumsum(np.concatenate(sizes))
    if total[-1] <= 0.0:
        return np.asarray(stand_in(shape).vertices)
    steps = np.arange(SAMPLES)
    # Not halfway, which may be just where a triangle of many that are alike ends: rounding would decide.
    chosen = corners[np.searchsorted(total, (steps + 0.382) / SAMPLES * total[-1])]
    # Points that fill a triangle evenly, however many there are: multiples of the plastic number.
    u, v = np.modf(0.5 + np.outer((0.7548776662466927, 0.5698402909980532), steps))[0]
    u, v = np.where(u + v > 1.0, (1.0 - u, 1.0 - v), (u, v))
    points = chosen[:, 0] + u[:, None] * (chosen[:, 1] - chosen[:, 0]) + v[:, None] * (chosen[:, 2] - chosen[:, 0])
    return np.random.default_rng(0).permutation(points)


def _triangles(shape: Solid) -> FloatArray:
    """Return the triangles (t, 3, 3) of a shape's surface."""
    if isinstance(shape, Mesh):
        return np.asarray(shape.points[shape.triangles])
    if isinstance(shape, Compound):
        return np.concatenate([_triangles(piece) for piece in shape.pieces])
    hull = stand_in(shape)
    facets = [np.asarray(facet) for facet in hull.facets[:: 1 + len(hull.facets) // _MOST_FACETS]]
    fans = [np.stack([np.full(len(f) - 2, f[0]), f[1:-1], f[2:]], axis=1) for f in facets]
    return np.asarray(hull.vertices[np.concatenate(fans)]) if fans else np.zeros((0, 3, 3))


def _quarters(corners: FloatArray) -> FloatArray:
    """Return four triangles for each, between its corners and the middles of its sides."""
    a, b, c = corners.swapaxes(0, 1)
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    return np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3, 3)


@dataclass(frozen=True, eq=False)
class VisiblePart:
    """What is seen of an object."""

    pixels: FloatArray
    """(n, 2) its points."""
    is_visible: BoolArray
    """(n,) which of them the other object does not hide."""
    cells: FloatArray
    """(k, 2) the middles of the squares of the view in which it is in front."""


def visible_parts(
    pixels: tuple[FloatArray, FloatArray], depths: tuple[FloatArray, FloatArray], size: tuple[int, int], scale: float
) -> tuple[tuple[VisiblePart, VisiblePart], float]:
    """Return what is seen of A and of B by their points in pixels (n, 2) and distances from the viewer (n,), and the
    size of the cells in pixels."""
    inside = [(x >= 0.0) & (y >= 0.0) & (x < size[0]) & (y < size[1]) for x, y in (p.T for p in pixels)]
    # Large enough that most cells on an object have points of its front.
    seen = [p[i] for p, i in zip(pixels, inside, strict=True)]
    areas = [float(np.ptp(p[:, 0]) * np.ptp(p[:, 1])) / len(p) if len(p) else 0.0 for p in seen]
    cell = max(_CELL * scale, 2.0 * max(areas) ** 0.5)
    columns, rows = int(size[0] / cell) + 1, int(size[1] / cell) + 1
    nearest = np.full((2, rows * columns), np.inf)
    places = []
    for side in (0, 1):
        place = (np.clip(pixels[side], 0.0, np.array(size) - 1.0) / cell).astype(np.int64) @ (1, columns)
        np.minimum.at(nearest[side], place[inside[side]], depths[side][inside[side]])
        places.append(place)
    found = []
    for side in (0, 1):
        is_visible = inside[side] & (depths[side] < nearest[1 - side, places[side]])
        row, column = np.divmod(np.flatnonzero(nearest[side] < nearest[1 - side]), columns)
        found.append(VisiblePart(pixels[side], is_visible, cell * (np.stack([column, row], axis=1) + 0.5)))
    return (found[0], found[1]), cell
