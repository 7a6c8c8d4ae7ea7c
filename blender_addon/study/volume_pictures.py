# SPDX-License-Identifier: GPL-3.0-or-later
"""How bounding volumes are drawn: their edges, and the slabs of a k-DOP with their numbers."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...core.bounding.bounding_sphere import Spheres
from ...core.bounding.kdop import KDops
from ...core.bounding.volumes import Volumes
from ...core.types import FloatArray, IntArray
from ..data.units import UnitFormat
from ..geometry.plane import Plane
from .picture import Canvas

CIRCLE = 48
"""Sides of the circles that stand for a sphere."""
AROUND = 0.15
"""How far the lines of slabs go beyond a k-DOP, relative to its longer side."""

_BOX_CORNERS = np.array(list(product((0, 1), repeat=3)))
_BOX_EDGES = np.array([(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit])


def edges_of(volumes: Volumes, plane: Plane | None = None) -> tuple[FloatArray, IntArray]:
    """Return the edges (n, 2, 3) of volumes, and the volume (n,) each belongs to. Spheres are three circles.

    plane: where volumes of dimension 2 are.
    """
    count = len(volumes)
    if isinstance(volumes, KDops) and volumes.k == 6:
        bounds = np.stack([volumes.low.T, volumes.high.T])  # (2, 3, n)
        corners = np.stack([bounds[_BOX_CORNERS[:, axis], axis] for axis in range(3)], axis=2)  # (8, n, 3)
        segments = corners[_BOX_EDGES].transpose(2, 0, 1, 3).reshape(-1, 2, 3)
        return segments, np.repeat(np.arange(count), len(_BOX_EDGES))
    if isinstance(volumes, Spheres):
        turn = 2.0 * np.pi * np.arange(CIRCLE + 1) / CIRCLE
        flat = np.stack([np.cos(turn), np.sin(turn), np.zeros(CIRCLE + 1)], axis=1)
        rings = np.concatenate(
            [np.stack([ring[:-1], ring[1:]], axis=1) for ring in (flat, flat[:, [0, 2, 1]], flat[:, [2, 0, 1]])]
        )
        segments = volumes.center[:, None, None] + volumes.radius[:, None, None, None] * rings
        return segments.reshape(-1, 2, 3), np.repeat(np.arange(count), len(rings))
    parts, owners = [np.zeros((0, 2, volumes.dim))], [np.zeros(0, dtype=np.intp)]
    for index in range(count):
        hull = volumes.polytope(index)
        parts.append(hull.vertices[hull.edges])
        owners.append(np.full(len(hull.edges), index))
    segments = np.concatenate(parts)
    return (segments if plane is None else plane.to_3d(segments)), np.concatenate(owners)


def slabs_of(dop: KDops, names: str, units: UnitFormat) -> list[tuple[str, str, str]]:
    """Return what each slab of one k-DOP is across ("x + y"), and its bounds as text. names: of the coordinates."""
    shown = units.for_table(np.abs(np.concatenate([dop.low[0], dop.high[0]])).tolist())
    across = [
        "".join(f" {'+' if sign > 0 else '-'} {name}" for name, sign in zip(names, direction, strict=True) if sign)[3:]
        for direction in dop.directions.astype(int).tolist()
    ]
    bounds = zip(across, dop.low[0].tolist(), dop.high[0].tolist(), strict=True)
    return [(name, shown.length(low), shown.length(high)) for name, low, high in bounds]


def draw_slabs(canvas: Canvas, dop: KDops, plane: Plane, units: UnitFormat) -> None:
    """Add one k-DOP in a plane and the lines of its slabs, each labelled with its number."""
    low, high = (side[:, 0] for side in dop.bounds)
    around = AROUND * float((high - low).max())
    low, high = low - around, high + around
    ends = []
    slabs = slabs_of(dop, plane.names, units)
    for direction, (name, *texts), *bounds in zip(dop.directions, slabs, dop.low[0], dop.high[0], strict=True):
        along = np.array([-direction[1], direction[0]])
        for text, bound in zip(texts, bounds, strict=True):
            foot = bound * direction / (direction @ direction)
            # Where the line enters and leaves the frame around the k-DOP.
            sides = np.stack([low - foot, high - foot])[:, along != 0.0] / along[along != 0.0]
            line = foot + np.array([sides.min(axis=0).max(), sides.max(axis=0).min()])[:, None] * along
            ends.append(line)
            canvas.label("plane", f"{name} = {text}", plane.to_3d(line[1]))
    canvas.line("plane", plane.to_3d(np.array(ends)), is_dashed=True)
    canvas.line("region", edges_of(dop, plane)[0])
