# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows of bounding volumes, as glyphs: no Blender, no GPU. Source: S3.6."""

from __future__ import annotations

import numpy as np

from ...core.types import FloatArray
from ..data.look import Color, Look
from ..study.volumes import LEFT, VolumesView
from .glyphs import QUAD, strokes
from .overlay_geometry import Layer

WIDTH = 0.75
"""Of a volume's edges, in line widths."""
LEFT_WIDTH = 1.1
FAINT = 700
"""Lines from which each is drawn fainter, so that thousands are no blot."""
FAINTEST = 0.25

# From the root, dark, to the leaves, bright: told apart without colour vision too (after viridis).
_TINTS = np.array([(0.66, 0.47, 0.96), (0.33, 0.55, 0.93), (0.13, 0.64, 0.66), (0.40, 0.80, 0.38), (0.99, 0.91, 0.15)])


def tint(fractions: FloatArray) -> FloatArray:
    """Return the colours (n, 3) of levels (n,), 0 for the root to 1 for the deepest shown."""
    place = np.clip(fractions, 0.0, 1.0) * (len(_TINTS) - 1)
    first = np.minimum(place.astype(int), len(_TINTS) - 2)
    part = (place - first)[:, None]
    return (1.0 - part) * _TINTS[first] + part * _TINTS[first + 1]


def middle(view: VolumesView) -> FloatArray:
    """(3,) the middle of what is drawn. Glyphs are relative to it, so that float32 does far from the world's origin."""
    points = view.segments.reshape(-1, 3)
    if not len(points):
        return np.zeros(3)
    return 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)


def volume_layers(view: VolumesView, look: Look, scale: float) -> list[Layer]:
    """The edges of the volumes tinted by level, and on top those that remain of a pair, relative to `middle(view)`."""
    base = middle(view)
    left = view.tints >= LEFT
    faint = max(FAINTEST, min(1.0, FAINT / max(1, int((~left).sum()))))
    found = []
    for name, chosen, width, opacity in (("volumes", ~left, WIDTH, faint), ("remaining", left, LEFT_WIDTH, 1.0)):
        if not chosen.any():
            continue
        ends = view.segments[chosen] - base
        white: Color = (1.0, 1.0, 1.0, opacity)
        glyphs = strokes(ends[:, 0], ends[:, 1], white, width * look.line_width * scale)
        colors = tint(view.tints[chosen]) if name == "volumes" else np.tile(look.color_vector[:3], (len(ends), 1))
        glyphs["color"][:, :3] = np.repeat(colors, len(QUAD), axis=0)
        found.append(Layer(name, glyphs, 0.35, 0.0))
    return found
