# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows of pictures for study and of bounding volumes, as glyphs: no Blender, no GPU. Source: S3.6."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from ...core.types import FloatArray
from ..data.look import ROLE_FORMS, Color, Look, role_color
from ..study.picture import Fills, Lines, Points, StudyPicture, points_of
from ..study.volumes import LEFT, VolumesView
from .glyphs import (
    CROSS,
    DIAMOND,
    DISC,
    QUAD,
    RING,
    SQUARE,
    TRIANGLE,
    GlyphArray,
    arrow,
    concatenate,
    fills,
    marks,
    strokes,
)
from .overlay_geometry import Layer

MARKS = {"disc": DISC, "square": SQUARE, "diamond": DIAMOND, "ring": RING, "triangle": TRIANGLE, "cross": CROSS}
HIDDEN_FILL, HIDDEN_LINE, HIDDEN_POINT = 0.5, 0.5, 0.85
"""Opacity of what lies behind geometry."""
CROSS_LINE, RING_LINE = 0.16, 0.08
"""Half the width of the line of crosses and rings, relative to their size."""
SHADE = 0.45
"""How much darker a fill is that is seen from its side as the light falls: facets of one colour would be one blot."""
LIGHT = np.array([0.36, -0.48, 0.8])

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


def middle(points: FloatArray) -> FloatArray:
    """(3,) the middle of what is drawn. Glyphs are relative to it, so that float32 does far from the world's origin."""
    if not len(points):
        return np.zeros(3)
    return 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)


@lru_cache(4)
def origin_of(picture: StudyPicture) -> FloatArray:
    """Return the middle (3,) of a picture."""
    return middle(points_of(picture))


def volume_layers(view: VolumesView, look: Look, scale: float) -> list[Layer]:
    """The edges of the volumes tinted by level, and on top those that remain of a pair, relative to their `middle`."""
    base = middle(view.segments.reshape(-1, 3))
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


def study_layers(picture: StudyPicture, look: Look, scale: float) -> list[Layer]:
    """Return fills, lines and points in the picture's order, relative to `origin_of(picture)`.

    None of them hides another: they write no depth, and fills come first, with both sides.
    """
    base, halo = origin_of(picture), max(1.0, scale)
    layers = [Layer(fill.role, _filled(fill, base, look, scale), HIDDEN_FILL, 0.0) for fill in picture.fills]
    for line in picture.lines:
        rim = 0.6 * halo if line.role in ("hull", "other") else halo
        layers.append(Layer(line.role, _lined(line, base, look, scale), HIDDEN_LINE, rim, hidden_halo=True))
    for point in picture.points:
        glyphs = concatenate(list(_marked(point, base, look, scale)))
        layers.append(Layer(point.role, glyphs, HIDDEN_POINT, halo, hidden_halo=True))
    return [layer for layer in layers if len(layer.glyphs)]


def _filled(fill: Fills, base: FloatArray, look: Look, scale: float) -> GlyphArray:
    form, corners = ROLE_FORMS[fill.role], fill.triangles - base
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    # Whatever the winding of the triangles: both sides are seen.
    colors = np.tile((*role_color(fill.role, look)[:3], min(form.fill * fill.opacity, 1.0)), (len(corners), 1, 1))
    colors[..., :3] *= (1.0 - SHADE + SHADE * np.abs(normals @ LIGHT))[:, None, None]
    return fills(corners, colors, hatch=form.hatch * scale)


def _lined(line: Lines, base: FloatArray, look: Look, scale: float) -> GlyphArray:
    form, ends = ROLE_FORMS[line.role], line.ends - base
    width = form.width * line.width * look.line_width * scale
    color: Color = (*role_color(line.role, look)[:3], form.opacity)
    return (arrow if line.is_arrow else strokes)(
        ends[:, 0], ends[:, 1], color, width, dash=form.dash(line.is_dashed, width, scale)
    )


def _marked(point: Points, base: FloatArray, look: Look, scale: float) -> Iterator[GlyphArray]:
    form, color, points = ROLE_FORMS[point.role], role_color(point.role, look), point.points - base
    mark, size = MARKS[form.mark], form.size * look.point_size * scale
    line = {CROSS: CROSS_LINE, RING: RING_LINE}.get(mark, 0.0)
    yield marks(points, mark, color, size, line * size)
    if mark == RING:  # and a point in it: a target
        yield marks(points, DISC, color, 0.35 * size)
