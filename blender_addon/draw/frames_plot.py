# SPDX-License-Identifier: GPL-3.0-or-later
"""The plot of a clash over frames: its signed distance and the bounds of it, and what is not known. No Blender, no GPU.

Each frame is a column. Below the line of 0 is the depth, above it the gap: in the colour of the relation as far as it
is proved, faint to the other bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.types import BoolArray, FloatArray
from ..data.look import Color, relation_color
from ..data.units import UnitFormat
from ..frames.over_frames import OverFrames
from ..geometry.shape_outline import fan
from ..layers.glyphs import concatenate, fills, strokes
from ..layers.overlay_geometry import Style
from .label_sheet import SIZES, Annotations, Box, Text, flat
from .step_sheet import PLATE, Measure, corners_of

GAPS = 0.6
"""Height of the gaps at most, relative to that of the depths, which would not be seen beside an object far away."""
PADDING = 4.0
"""Pixels at interface scale 1."""
FAINT, DIM = 0.35, 0.65
"""Opacities: of what is not proved, and of what is beside the curve."""
LEAST = 2.5
"""Height of what touches, in the same pixels."""
FLAT = -1.0, 1.0
"""The range of what only touches, which has no number."""
DIGITS = 3
"""Of the number at the scale."""
HATCH = 6.0
"""Period of what was not checked, in the same pixels."""


@dataclass(frozen=True, eq=False)
class ClashSeries:
    """What is plotted of a clash."""

    over: OverFrames
    bounds: tuple[FloatArray, FloatArray]
    """(n,) lower and upper bound of the signed distance where it was found; NaN where unknown."""
    gaps: tuple[FloatArray, BoolArray]
    """(n,) the gap where it is apart, NaN where unknown; whether it is the gap itself and not a lower bound of it."""
    relation: str


@dataclass(frozen=True)
class PlotColors:
    """Of Blender's theme."""

    back: Color
    text: Color

    def faded(self, opacity: float) -> Color:
        """Return the colour of text with less opacity."""
        return (*self.text[:3], opacity)


@dataclass(frozen=True, eq=False)
class FramesPlot:
    """A plot in a box of pixels of a region."""

    series: ClashSeries
    style: Style
    colors: PlotColors
    measure: Measure
    box: Box
    area: Box
    """Of the columns."""
    notes: Annotations
    """All but the playhead."""

    def frame_at(self, x: float) -> float:
        """Return the frame of the column that is nearest to a pixel."""
        frames = self.series.over.frames
        part = (x - self.area[0]) / (self.area[2] - self.area[0])
        return float(frames[min(max(int(part * len(frames)), 0), len(frames) - 1)])

    def playhead(self, frame: float) -> Annotations:
        """Return the line of the current frame, where that is in the plot, and the numbers of it and of both ends."""
        frames, pixel = self.series.over.frames, self.style.scale
        outer = 0.5 * (3.0 * frames[[0, -1]] - frames[[1, -2]])
        x = float(np.interp(frame, outer, self.area[::2]))
        size, space = PLATE.small * self.style.look.label_size * pixel, PADDING * pixel
        numbers = [(frames[0], self.area[0], DIM), (frames[-1], self.area[2], DIM)]
        line = concatenate([])
        if outer[0] <= frame <= outer[1]:
            line = strokes(flat((x, self.area[1])), flat((x, self.area[3])), self.colors.text, pixel)
            numbers.insert(0, (frame, x, 1.0))
        texts: list[Text] = []
        for number, middle, opacity in numbers:
            wide = self.measure(f"{number:g}", size)[0]
            left = min(max(middle - 0.5 * wide, self.area[0]), self.area[2] - wide)
            if not texts or abs(left - texts[0].x) > 1.5 * wide + space:
                color = self.colors.faded(opacity)
                texts.append(Text(f"{number:g}", round(left), round(self.box[1] + space), size, color))
        return Annotations(concatenate([]), line, tuple(texts), ())


def frames_plot(
    series: ClashSeries, box: Box, colors: PlotColors, style: Style, units: UnitFormat, measure: Measure
) -> FramesPlot:
    """Return the plot of a clash over frames in a box of pixels."""
    pixel, size, over = style.scale, PLATE.small * style.look.label_size * style.scale, series.over
    space, least, (gaps, is_exact) = PADDING * pixel, LEAST * pixel, series.gaps
    values = np.where(over.found, over.distances, gaps)
    low, high = _range(series, values)
    number = "" if (low, high) == FLAT else units.length(-low if low < 0.0 else high, digits=DIGITS)
    gutter = measure(number, size)[0] + 2.0 * space
    area = (box[0] + gutter, box[1] + size + 2.0 * space, max(box[2] - space, box[0] + gutter + pixel), box[3] - space)
    edges = np.linspace(area[0], area[2], len(values) + 1)
    unit = (area[3] - area[1]) / (high - low)
    zero = area[1] - low * unit

    def heights(values: FloatArray) -> FloatArray:
        return np.asarray(np.clip(zero + values * unit, area[1], area[3]))

    def columns(mask: BoolArray, starts: FloatArray | float, ends: FloatArray | float) -> FloatArray:
        low, high = (np.broadcast_to(side, mask.shape)[mask] for side in (starts, ends))
        left, right = edges[:-1][mask], edges[1:][mask]
        a, b, c, d = (_points(x, y) for x, y in ((left, low), (right, low), (right, high), (left, high)))
        return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])

    found, has_depth = over.found, ~np.isneginf(over.distances)
    lower, upper = (np.where(np.isnan(bound), over.distances, bound) for bound in series.bounds)
    is_gap = found & (over.distances > 0.0)
    near = heights(np.where(is_gap, lower, np.minimum(upper, 0.0)))
    near = np.where(is_gap, np.maximum(near, zero + least), np.minimum(near, zero - least))
    far = heights(np.where(is_gap, upper, lower))
    paint, of_gap = (relation_color(word, style.look) for word in (series.relation, "within_clearance"))
    glyphs = [
        fills(fan(corners_of(box)), colors.back),
        fills(columns(~over.checked, area[1], area[3]), colors.faded(FAINT), hatch=HATCH * pixel),
        fills(columns(found & ~has_depth, zero, area[1]), paint, hatch=-HATCH * pixel),
    ]
    for mask, color in ((found & has_depth & ~is_gap, paint), (is_gap, of_gap)):
        glyphs += [fills(columns(mask, near, far), (*color[:3], FAINT)), fills(columns(mask, zero, near), color)]
    glyphs.append(strokes(flat((area[0], zero)), flat((area[2], zero)), colors.faded(DIM), pixel))
    # The curve of the gaps, from the middle of a column to that of the next, or to the side of a filled one.
    middles, curve, is_sure = (
        0.5 * (edges[1:] + edges[:-1]),
        np.where(found, np.maximum(values, 0.0), values),
        found | is_exact,
    )
    is_drawn = (np.minimum(curve[1:], curve[:-1]) <= high) & ~(found[1:] & found[:-1])
    for mask, color in ((is_sure[1:] & is_sure[:-1], colors.text), (~is_sure[1:] | ~is_sure[:-1], colors.faded(FAINT))):
        k = np.flatnonzero(mask & is_drawn)
        starts, ends = (
            _points(np.where(found[of], edges[k + 1], middles[of]), heights(curve[of])) for of in (k, k + 1)
        )
        glyphs.append(strokes(starts, ends, color, 1.5 * pixel))
    texts: list[Text] = []
    for text, y in ((number, area[1] if low < 0.0 else area[3]), ("0", zero)):
        base = min(max(y - 0.5 * SIZES.capitals * size, area[1]), area[3] - SIZES.capitals * size)
        if text and (not texts or abs(base - texts[0].y) > size):
            x = area[0] - space - measure(text, size)[0]
            texts.append(Text(text, round(x), round(base), size, colors.faded(DIM)))
    notes = Annotations(concatenate([]), concatenate(glyphs), tuple(texts), ())
    return FramesPlot(series, style, colors, measure, box, area, notes)


def _range(series: ClashSeries, values: FloatArray) -> tuple[float, float]:
    """Return the least and the greatest signed distance that the plot shows."""
    known = np.concatenate([[0.0], values, *(np.where(series.over.found, bound, 0.0) for bound in series.bounds)])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    if max(-low, high) <= series.over.resolution:
        return FLAT
    return low, min(high, -GAPS * low) if low < 0.0 else high


def _points(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.stack([x, y, np.zeros(len(x))], axis=1)
