# SPDX-License-Identifier: GPL-3.0-or-later
"""Glyphs: lines, marks, arrows and filled polygons as a few triangles each, of one vertex format.

They stay where they are in the world and do not depend on the view, so that they can be kept on the GPU; the shader
gives them their size in pixels. No Blender, no GPU.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.shapes.polytope import Polytope
from ...core.types import FloatArray
from ..data.look import Color
from ..geometry.shape_outline import SHARP, edges_and_sides, wires

GlyphArray = NDArray[np.void]

# What a glyph is; the shader has the same numbers.
FILL, STROKE, DISC, SQUARE, DIAMOND, RING, TRIANGLE, CROSS, HALF, HEAD = range(10)

GLYPH = np.dtype(
    [
        ("start", np.float32, 3),  # where the glyph begins (a mark: where it is), world frame less the origin
        ("end", np.float32, 3),  # where a stroke or an arrowhead ends; of a fill: 0, or length 1 where it has faded
        ("corner", np.float32, 3),  # 0 at start or 1 at end; in which direction to widen along and across, -1 or 1
        ("form", np.float32, 4),  # FILL .. HEAD; half width or radius, of a fill its opacity between the lines of its
        # hatch; trim or head length, of a fill how much darker the lines are; period of dashes, or of the hatch,
        # negative for lines that fall: all pixels
        ("color", np.float32, 4),
        ("side_a", np.float32, 3),  # normals of the two faces beside an edge, which is seen where one of them faces
        ("side_b", np.float32, 3),  # the viewer and the other does not; 0: seen from anywhere
    ]
)

HEAD_LENGTH, HEAD_HALF_WIDTH = 7.5, 2.7
"""Of an arrow, in line widths."""

QUAD = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)], dtype=np.float32)


def _quads(starts: FloatArray, ends: FloatArray, form: tuple[float, float, float, float], color: Color) -> GlyphArray:
    """Six vertices per glyph that the shader widens."""
    glyphs = np.zeros((len(starts), 6), dtype=GLYPH)
    glyphs["start"] = starts[:, None, :]
    glyphs["end"] = ends[:, None, :]
    glyphs["corner"][..., 1:] = QUAD
    if form[0] == STROKE:
        glyphs["corner"][..., 0] = QUAD[:, 0] > 0.0
    elif form[0] == HEAD:
        glyphs["corner"][..., 0] = 1.0
    glyphs["form"] = form
    glyphs["color"] = color
    return glyphs.reshape(-1)


def strokes(
    starts: FloatArray, ends: FloatArray, color: Color, width: float, trim: float = 0.0, dash: float = 0.0
) -> GlyphArray:
    """Lines `width` pixels wide from starts to ends (n, 3), `trim` pixels short of the end, round ends."""
    return _quads(np.atleast_2d(starts), np.atleast_2d(ends), (STROKE, 0.5 * width, trim, dash), color)


def marks(points: FloatArray, shape: int, color: Color, size: float, line: float = 0.0) -> GlyphArray:
    """Points (n, 3) as discs, lower halves of discs, squares, diamonds, rings, triangles or crosses of `size` pixels
    across.

    line: half the width of a ring's or cross's line.
    """
    points = np.atleast_2d(points)
    return _quads(points, points, (shape, 0.5 * size, line, 0.0), color)


def arrow(tail: FloatArray, tip: FloatArray, color: Color, width: float, dash: float = 0.0) -> GlyphArray:
    """Arrows exactly from tail to tip, (3,) or (n, 3). The head shrinks with an arrow too short for it."""
    length = HEAD_LENGTH * width
    shaft = strokes(tail, tip, color, width, 0.8 * length, dash)
    head = _quads(np.atleast_2d(tail), np.atleast_2d(tip), (HEAD, HEAD_HALF_WIDTH * width, length, 0.0), color)
    return concatenate([shaft, head])


def fills(
    corners: FloatArray,
    color: Color | FloatArray,
    radius: float = 0.0,
    hatch: float = 0.0,
    between: float = 0.3,
    darker: float = 0.0,
) -> GlyphArray:
    """Return triangles (t, 3, 3) filled with a colour, or each with its own of (t, 1, 4).

    radius: the distance from the origin at which they have faded out, unless it is 0. hatch: the period of diagonal
    lines in pixels, unless it is 0; negative for lines that fall to the right. between: the opacity between them,
    relative to theirs. darker: how much darker they are, 0 to 1.
    """
    glyphs = np.zeros((len(corners), 3), dtype=GLYPH)
    glyphs["start"] = corners
    glyphs["end"] = corners / radius if radius > 0.0 else 0.0
    glyphs["form"] = (FILL, between, darker, hatch)
    glyphs["color"] = color
    return glyphs.reshape(-1)


def concatenate(parts: list[GlyphArray]) -> GlyphArray:
    """Return glyphs in one array, which may be empty."""
    # As bytes: numpy compares the fields of each part with those of the others first, which takes longer.
    return np.concatenate([np.zeros(0, dtype=np.uint8), *(part.view(np.uint8) for part in parts)]).view(GLYPH)


# --- shapes ---------------------------------------------------------------------------------------------------------

_TINTS = (0.0, 0.5, -0.35, 0.25, -0.2)
"""Fraction of white, or of black where negative, in the colours of the pieces of a compound, in turn."""


def tint(color: Color, number: int) -> Color:
    """Return the colour of piece `number` of a compound."""
    fraction = _TINTS[number % len(_TINTS)]
    r, g, b = ((1.0 - abs(fraction)) * part + max(fraction, 0.0) for part in color[:3])
    return (r, g, b, color[3])


def shape_edges(
    shape: Solid, base: FloatArray, color: Color, width: float, dash: float, creases: bool = True
) -> GlyphArray:
    """Return the outline of a shape, with its creases if they are wanted; of a curved one rings and lines along its
    side; pieces in tints of the colour."""
    if isinstance(shape, Compound):
        pieces = enumerate(shape.pieces)
        return concatenate([shape_edges(piece, base, tint(color, k), width, dash, creases) for k, piece in pieces])
    if isinstance(shape, Mesh | Polytope):
        edges, sides = edges_and_sides(shape)
        glyphs = strokes(edges[:, 0] - base, edges[:, 1] - base, color, width, dash=dash)
        if creases:
            sides = np.where((sides[:, 0] * sides[:, 1]).sum(axis=1)[:, None, None] < SHARP, 0.0, sides)
        glyphs["side_a"], glyphs["side_b"] = np.repeat(sides, len(QUAD), axis=0).transpose(1, 0, 2)
        return glyphs
    parts = []
    for line in wires(shape):
        starts, ends = line[:-1] - base, line[1:] - base
        if len(starts) > 1 and dash > 0.0:
            # The pieces of a ring are shorter than a dash: every third of them is left out instead.
            drawn = np.arange(len(starts)) % 3 != 2
            starts, ends = starts[drawn], ends[drawn]
        parts.append(strokes(starts, ends, color, width, dash=dash))
    return concatenate(parts)
