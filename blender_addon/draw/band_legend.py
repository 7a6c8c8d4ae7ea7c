# SPDX-License-Identifier: GPL-3.0-or-later
"""The legend of a clearance band: a plate at the bottom of a view with its colours and the lengths that they stand for.
No Blender, no GPU.
"""

from __future__ import annotations

import numpy as np

from ..geometry.shape_outline import fan
from ..layers.band_colors import BandScale
from ..layers.glyphs import GlyphArray, concatenate, fills, strokes
from ..layers.overlay_geometry import Style
from .label_sheet import Box, LabelRoom, Text, flat
from .step_sheet import BRIGHT, DIM, NO_PLATE, PLATE, Measure, StepPlate, corners_of, plate_glyphs, plate_room

BAR = 12.0
"""Height of the bar of colours, in pixels at interface scale 1."""
TICK = 4.0
"""Length of the line under it at a step, in the same."""
PARTS = 48
"""Rectangles that the bar consists of beside the part below the wanted clearance."""


def band_legend(scale: BandScale, title: str, style: Style, room: LabelRoom, measure: Measure) -> StepPlate:
    """Return a title, under it the bar of colours, and under that the lengths; nothing where the room is not the main
    one of its area."""
    if not room.is_main:
        return NO_PLATE
    pixel, size = style.scale, style.look.label_size * style.scale
    small, pad, bar = PLATE.small * size, PLATE.padding * pixel, BAR * pixel
    left, bottom, right, _ = plate_room(room, pixel)
    steps = scale.steps()
    most, wide = right - left - 2.0 * pad, measure(title, size)[0]
    width = min(max(PLATE.plot * pixel, wide), most)
    title_size = size * min(1.0, most / wide)
    x, y = round(0.5 * (left + right - width)), round(bottom + pad)
    # The first and the last number end with the bar, so that the plate is no wider.
    low = y + 1.3 * small + TICK * pixel
    top = low + bar + 0.5 * (PLATE.line - 1.0) * size
    box = (x - pad, y - pad, x + width + pad, top + PLATE.line * size + 0.5 * pad)
    texts = [Text(title, x, round(top + 0.3 * size), title_size, BRIGHT)]
    glyphs = [plate_glyphs(box, pixel), _bar(scale, (x, low, x + width, low + bar))]
    for gap, number in steps:
        place, wide = x + width * gap / scale.end, measure(number, small)[0]
        begin = min(max(place - 0.5 * wide, x), x + width - wide)
        texts.append(Text(number, round(begin), y, small, DIM))
        glyphs.append(strokes(flat((place, low - TICK * pixel)), flat((place, low)), DIM, pixel))
    return StepPlate(box, concatenate(glyphs), tuple(texts))


def _bar(scale: BandScale, box: Box) -> GlyphArray:
    """Return rectangles from the gap 0 to the last one, each with the colours of its ends."""
    gaps = np.linspace(scale.wanted, scale.end, PARTS + 1)
    starts, ends = gaps[:-1], gaps[1:]
    if scale.wanted > 0.0:
        starts, ends = np.append(0.0, starts), np.append(np.nextafter(scale.wanted, 0.0), ends)
    parts = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        left, right = (box[0] + (box[2] - box[0]) * gap / scale.end for gap in (start, end))
        first, last = scale.colors(np.array([start, end]))
        corners = corners_of((left, box[1], right, box[3]))
        is_right = corners[:, 0] > 0.5 * (left + right)
        parts.append(fills(fan(corners), fan(np.where(is_right[:, None], last, first))))
    return concatenate(parts)
