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
from ..read.shape_outline import bent_edges, wires

GlyphArray = NDArray[np.void]

# What a glyph is; the shader has the same numbers.
FILL, STROKE, DISC, SQUARE, DIAMOND, RING, HEAD = range(7)

GLYPH = np.dtype(
    [
        ("start", np.float32, 3),  # where the glyph begins (a mark: where it is), world frame less the origin
        ("end", np.float32, 3),  # where a stroke or an arrowhead ends
        ("corner", np.float32, 3),  # 0 at start or 1 at end; in which direction to widen along and across, -1 or 1
        ("form", np.float32, 4),  # FILL .. HEAD; half width or radius; trim or head length; dash period: all pixels
        ("color", np.float32, 4),
        ("spread", np.float32),  # above 0: times a stroke's length in pixels it is its opacity, at most 1
    ]
)

HEAD_LENGTH, HEAD_HALF_WIDTH = 7.5, 2.7
"""Of an arrow, in line widths."""
_FREE_EDGE = 14.0
"""In line widths: a smooth edge of a hull is as strong as a sharp one when its facets are that wide on screen."""
_SHARP = float(np.cos(np.radians(30.0)))
"""Cosine of the angle between two facets from which on their edge is always drawn in full."""

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
    """Points (n, 3) as discs, squares, diamonds or rings of `size` pixels across; `line` is the ring's half width."""
    points = np.atleast_2d(points)
    return _quads(points, points, (shape, 0.5 * size, line, 0.0), color)


def arrow(tail: FloatArray, tip: FloatArray, color: Color, width: float) -> GlyphArray:
    """An arrow exactly from tail to tip (3,). The head shrinks with an arrow too short for it."""
    length = HEAD_LENGTH * width
    shaft = strokes(tail, tip, color, width, trim=0.8 * length)
    head = _quads(np.atleast_2d(tail), np.atleast_2d(tip), (HEAD, HEAD_HALF_WIDTH * width, length, 0.0), color)
    return np.concatenate([shaft, head])


def fills(corners: FloatArray, color: Color | FloatArray) -> GlyphArray:
    """Return triangles (t, 3, 3) filled with a colour, or each with its own of (t, 1, 4)."""
    glyphs = np.zeros((len(corners), 3), dtype=GLYPH)
    glyphs["start"] = glyphs["end"] = corners
    glyphs["form"][..., 0] = FILL
    glyphs["color"] = color
    return glyphs.reshape(-1)


def fan(polygon: FloatArray) -> FloatArray:
    """Return the triangles (t, 3, 3) of a convex polygon (n, 3), all from its first corner."""
    return np.stack([np.broadcast_to(polygon[0], polygon[2:].shape), polygon[1:-1], polygon[2:]], axis=1)


def concatenate(parts: list[GlyphArray]) -> GlyphArray:
    """Return glyphs in one array, which may be empty."""
    return np.concatenate([np.zeros(0, dtype=GLYPH), *parts])


# --- shapes ---------------------------------------------------------------------------------------------------------

_TINTS = (0.0, 0.5, -0.35, 0.25, -0.2)
"""Fraction of white, or of black where negative, in the colours of the pieces of a compound, in turn."""


def tint(color: Color, number: int) -> Color:
    """Return the colour of piece `number` of a compound."""
    fraction = _TINTS[number % len(_TINTS)]
    r, g, b = ((1.0 - abs(fraction)) * part + max(fraction, 0.0) for part in color[:3])
    return (r, g, b, color[3])


def shape_edges(shape: Solid, base: FloatArray, color: Color, width: float, dash: float) -> GlyphArray:
    """Return the edges of a shape; of a curved one rings and lines along its side; pieces in tints of the colour."""
    if isinstance(shape, Compound):
        pieces = enumerate(shape.pieces)
        return concatenate([shape_edges(piece, base, tint(color, k), width, dash) for k, piece in pieces])
    if isinstance(shape, Mesh):
        return _fading_edges(*bent_edges(shape), base, color, width, dash)
    if isinstance(shape, Polytope):
        return _fading_edges(shape.vertices[shape.edges], _hull_widths(shape), base, color, width, dash)
    parts = []
    for line in wires(shape):
        starts, ends = line[:-1] - base, line[1:] - base
        if len(starts) > 1 and dash > 0.0:
            # The pieces of a ring are shorter than a dash: every third of them is left out instead.
            drawn = np.arange(len(starts)) % 3 != 2
            starts, ends = starts[drawn], ends[drawn]
        parts.append(strokes(starts, ends, color, width, dash=dash))
    return concatenate(parts)


def _fading_edges(
    edges: FloatArray, widths: FloatArray, base: FloatArray, color: Color, width: float, dash: float
) -> GlyphArray:
    """Return edges (k, 2, 3); where widths (k,) > 0, they fade where they lie close to each other on screen.

    widths: of the facets beside an edge, relative to its length. Without that a finely meshed sphere is one blot that
    hides the contact.
    """
    edges = edges - base
    glyphs = strokes(edges[:, 0], edges[:, 1], color, width, dash=dash)
    glyphs["spread"] = np.repeat(
        np.where(widths > 0.0, np.maximum(widths, 1e-9) / (_FREE_EDGE * width), 0.0), len(QUAD)
    )
    return glyphs


def _hull_widths(hull: Polytope) -> FloatArray:
    """Return how wide (k,) the facets beside each edge of a hull are, relative to its length; 0 of sharp edges."""
    if len(hull.edge_facets) != len(hull.edges):  # a segment
        return np.zeros(len(hull.edges))
    first, second = hull.edge_facets.T
    starts, directions = hull.vertices[hull.edges[:, 0]], np.diff(hull.vertices[hull.edges], axis=1)[:, 0]
    # The area of a facet is half the sum of the cross products along its outline.
    doubled = np.zeros_like(hull.normals)
    turned = np.cross(starts - starts.mean(axis=0), directions)
    np.add.at(doubled, first, turned)
    np.add.at(doubled, second, -turned)
    areas = 0.5 * np.abs(np.einsum("ij,ij->i", doubled, hull.normals))
    is_smooth = np.einsum("ij,ij->i", hull.normals[first], hull.normals[second]) > _SHARP
    squares = np.maximum(np.einsum("ij,ij->i", directions, directions), np.finfo(float).tiny)
    return np.where(is_smooth, np.maximum(np.minimum(areas[first], areas[second]) / squares, 1e-9), 0.0)
