# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows of a section: where its plane cuts A and B, hatched, as glyphs: no Blender, no GPU."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.meshes.cross_section import CrossSection
from ...core.result import Relation
from ...core.types import FloatArray
from ..data.look import Color, Look, relation_color
from .glyphs import concatenate, fills, strokes
from .overlap_geometry import BETWEEN, DARKER
from .overlap_geometry import HATCH as BODY_HATCH
from .overlay_geometry import Layer

SOLID, SHADE, HATCH = 0.75, 0.4, 0.9
"""Opacity and brightness of what is cut, and opacity of the lines of its hatch, and of the overlap."""
HATCHES = (10.0, -10.0)
"""Of A and B: periods in pixels at interface scale 1. They cross where the two overlap."""
LINE = 1.0
"""Width of outlines, in line widths."""


@dataclass(frozen=True, eq=False)
class PairSection:
    """Where a plane cuts the surfaces of A and B, and the body of their overlap."""

    origin: FloatArray
    """(3,) what the glyphs are relative to."""
    of_a: CrossSection
    of_b: CrossSection
    of_overlap: CrossSection | None
    """None where the body of their overlap is not known or not drawn."""
    relation: Relation


def section_layers(section: PairSection, look: Look, scale: float) -> list[Layer]:
    """Return the sections of A and B, then their hatches and outlines over both, then the section of their overlap,
    relative to the section's origin."""
    solids, hatches, outlines = [], [], []
    for part, color, hatch in zip((section.of_a, section.of_b), (look.color_a, look.color_b), HATCHES, strict=True):
        dark: Color = (SHADE * color[0], SHADE * color[1], SHADE * color[2], SOLID)
        triangles, (starts, ends) = part.triangles - section.origin, (part.segments - section.origin).swapaxes(0, 1)
        solids.append(fills(triangles, dark))
        hatches.append(fills(triangles, (*color[:3], HATCH), hatch=hatch * scale))
        outlines.append(strokes(starts, ends, color, LINE * look.line_width * scale))
    if section.of_overlap is not None:
        part, color = section.of_overlap, relation_color(section.relation, look)
        triangles, (starts, ends) = part.triangles - section.origin, (part.segments - section.origin).swapaxes(0, 1)
        hatches.append(fills(triangles, (*color[:3], HATCH), hatch=BODY_HATCH * scale, between=BETWEEN, darker=DARKER))
        outlines.append(strokes(starts, ends, color, LINE * look.line_width * scale))
    rim = 0.6 * max(1.0, scale)
    layers = [Layer("section", concatenate([*solids, *hatches]), 0.0, 0.0)]
    layers.append(Layer("section outline", concatenate(outlines), 0.0, rim))
    return [layer for layer in layers if len(layer.glyphs)]
