# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest ball around convex pieces.

Polytopes and what is rounded of them are balls around their corners. Some points stand for a smooth core:

1. The smallest ball around all of them is found.
2. Of each smooth core the point farthest from its centre is added. It is where a support point for the direction from
   the centre is the point itself: repeated, support points lead there, ever farther out.
3. This ends when no point is outside.

Source: S3.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.enclosing_sphere import enclosing_spheres
from ..types import FloatArray
from ..vectors import unit_rows

_ENCLOSED = 1e-12
"""Relative: points that are farther out than the radius by no more are enclosed."""
_ROUNDS = 30
"""Most balls; each has twice the digits of the one before where the points determine it, as they mostly do."""
_TURNS = 60
"""Most support points on the way to the farthest one."""


def pieces_diameter(pieces: Sequence[ConvexShape]) -> float:
    """Return the diameter of the smallest ball around all pieces, of ordinary size."""
    points, radii, smooth = [], [], []
    for piece in pieces:
        if piece.skeleton is not None:
            corners = piece.skeleton.vertices
        else:
            corners = piece.core_points(piece.start_directions())
            smooth.append((piece, corners))
        points.append(corners)
        radii.append(np.full(len(corners), piece.rounding_radius))
    for _ in range(_ROUNDS):
        round_ones = np.concatenate(radii)
        center, radius = enclosing_spheres(
            np.concatenate(points), round_ones if round_ones.any() else None, np.zeros(1, dtype=np.intp)
        )
        reach = float(radius[0])
        for number, (piece, starts) in enumerate(smooth):
            tip = _farthest(piece, starts, center[0])
            smooth[number] = piece, np.concatenate([starts, tip[None]])
            away = float(np.linalg.norm(tip - center[0])) + piece.rounding_radius
            if away > radius[0] * (1.0 + _ENCLOSED):
                points.append(tip[None])
                radii.append(np.full(1, piece.rounding_radius))
                reach = max(reach, away)
        if reach == radius[0]:
            break
    return 2.0 * reach


def _farthest(piece: CurvedShape, starts: FloatArray, center: FloatArray) -> FloatArray:
    """Return the point (dim,) of a core that is farthest from a centre, as seen from some of its points."""
    points, most = starts, 0.0
    best = starts[0]
    for _ in range(_TURNS):
        distances = np.linalg.norm(points - center, axis=1)
        if not distances.max() > most * (1.0 + 0.1 * _ENCLOSED):
            break
        best, most = points[distances.argmax()], float(distances.max())
        apart = distances > 0.0
        points = piece.core_supports(unit_rows(points[apart] - center))
    return best
