# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlap of a pair as layers of glyphs: its body, hatched, and the curves in which the surfaces meet."""

from __future__ import annotations

import numpy as np

from ...core.types import FloatArray
from ..data.look import Color, relation_color
from ..geometry.shape_outline import SHARP, edges_and_sides
from ..measure.pair_measures import PairMeasures
from .glyphs import concatenate, fills, strokes
from .overlay_geometry import Layer, Style, origin

FILLED, BETWEEN, DARKER = 0.75, 0.85, 0.28
"""Opacity of the lines of the body's hatch, that between them relative to it, and how much darker the lines are: they
are seen without colour too, and on grey."""
HATCH = 8.0
"""Period of its hatch, in pixels at interface scale 1."""
LIGHT = np.array([0.35, -0.5, 0.79])
"""Unit vector towards the light that the body is shaded by, world frame."""
DARKEST = 0.75
"""Brightness of a face of the body that the light grazes; 1 where it faces the light."""
MOST_EDGES = 3000
"""Edges of the body that are drawn at most, the sharpest."""
CURVE, EDGE, EDGE_OPACITY = 1.2, 0.5, 0.6
"""Widths of a curve and of an edge of the body, in line widths, and the opacity of the latter."""


def overlap_layers(measures: PairMeasures, style: Style) -> list[Layer]:
    """Return the overlap, relative to `origin(inspection)`, in the order in which it is drawn: its body is seen
    through everything, as strong behind geometry as in front."""
    surface, body = measures.surface, measures.body
    if surface is None or body is None or not style.show_overlap:
        return []
    base, line = origin(measures.inspection), style.look.line_width * style.scale
    color = relation_color(measures.inspection.contact.relation, style.look)
    corners = surface.points[surface.triangles] - base
    fill = fills(corners, _shaded(corners, color)[:, None], hatch=HATCH * style.scale, between=BETWEEN, darker=DARKER)
    edges, sides = edges_and_sides(body)
    bends = (sides[:, 0] * sides[:, 1]).sum(axis=1)
    sharp = np.argsort(bends, kind="stable")[:MOST_EDGES]
    edges = edges[sharp[bends[sharp] < SHARP]] - base
    creases = strokes(edges[:, 0], edges[:, 1], (*color[:3], EDGE_OPACITY), EDGE * line)
    curves = [strokes(curve[:-1] - base, curve[1:] - base, color, CURVE * line) for curve in surface.curves]
    layers = [
        Layer("overlap", fill, 1.0, 0.0, is_through=True, is_culled=surface.is_closed),
        Layer("overlap edges", creases, 0.8, 0.0),
        Layer("overlap curves", concatenate(curves), 0.8, max(1.0, style.scale), hidden_halo=True),
    ]
    return [layer for layer in layers if len(layer.glyphs)]


def _shaded(corners: FloatArray, color: Color) -> FloatArray:
    """Return the colours (t, 4) of triangles: of one colour the faces of a body could not be told apart."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    light = np.abs(normals @ LIGHT) / np.where(lengths > 0.0, lengths, 1.0)
    shade = DARKEST + (1.0 - DARKEST) * light
    return np.concatenate([shade[:, None] * color[:3], np.full((len(shade), 1), FILLED)], axis=1)
