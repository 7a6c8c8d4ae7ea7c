# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written over a view beside a step of an algorithm: its labels, and at the bottom a plate with the sentence
and the bounds so far, or a bar for every axis. No Blender, no GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...core.types import FloatArray
from ..data.look import Color, role_color
from ..geometry.shape_outline import fan, loop, rectangle
from ..layers.glyphs import DIAMOND, DISC, SQUARE, GlyphArray, concatenate, fills, marks, strokes
from ..layers.overlay_geometry import Style
from ..study.picture import Role, StudyPicture, points_of
from ..study.steps import Bar, Steps, fewer_bars
from .label_sheet import (
    PLATE_COLOR,
    SIZES,
    Annotations,
    Box,
    Kept,
    LabelRoom,
    Marked,
    Sheet,
    Text,
    flat,
    inside,
    project,
)

Measure = Callable[[str, float], tuple[float, float]]
"""Returns width and height in pixels of a text of a size."""

BRIGHT: Color = (1.0, 1.0, 1.0, 1.0)
DIM: Color = (0.72, 0.74, 0.78, 1.0)
FRAME: Color = (0.36, 0.37, 0.40, 1.0)
SHOWN: Color = (0.24, 0.25, 0.28, 1.0)
"""Behind the step that is shown."""
BREAKS = re.compile(r" (?!(?<=\d )[^\W\d]{1,2}\b|- |(?<=- )|\d+\))")
"""Where a line may end: not between a number and its unit, nor in a difference or a pair of vertices."""


@dataclass(frozen=True)
class PlateSizes:
    """Pixels at interface scale 1, unless said otherwise."""

    sentence: float = 460.0
    """Width of the sentence, where there is room; the same for every step, so that the plate stays where it is."""
    least_lines: int = 4
    """With the title, for the same reason."""
    least_sentence: float = 260.0
    plot: float = 300.0
    least_plot: float = 200.0
    height: float = 60.0
    """Of a plot; where the plate would be higher than `highest` of the view, it shrinks, and is left out below
    `least_height`."""
    least_height: float = 30.0
    highest: float = 0.4
    gap: float = 14.0
    padding: float = 9.0
    line: float = 1.45
    """Height of a line of text, relative to its size."""
    small: float = 0.85
    """Size of the plot's numbers, relative to other text."""
    bar: float = 3.0
    """Least width of a bar with the space beside it: where there are more axes, a bar is the best of a few."""
    widest_bar: float = 26.0


PLATE = PlateSizes()


@dataclass(frozen=True, eq=False)
class StepPlate:
    """The plate at the bottom of a view. Glyphs are in pixels, z = 0."""

    box: Box
    glyphs: GlyphArray
    texts: tuple[Text, ...]
    bars: tuple[tuple[Box, int], ...] = ()
    """Of SAT: where each bar can be clicked, and the step of its axis."""

    def bar_at(self, x: float, y: float) -> int | None:
        """Return the step of the bar at a pixel of the view, None beside the bars."""
        hit = (step for (left, low, right, high), step in self.bars if left <= x < right and low <= y <= high)
        return next(hit, None)


NO_PLATE = StepPlate((0.0, 0.0, 0.0, 0.0), concatenate([]), ())
"""Of a picture beside which nothing is written."""


def step_plate(steps: Steps, number: int, style: Style, room: LabelRoom, measure: Measure) -> StepPlate:
    """Return title and sentence of a step, and beside or under them the plot of both bounds, or of SAT the axes.

    The sentence is never cut: where there is little room the plot is smaller or left out. Where the room is not the
    main one of its area there is nothing.
    """
    if not room.is_main:
        return NO_PLATE
    scale, size = style.scale, style.look.label_size * style.scale
    pad, line, gap = PLATE.padding * scale, PLATE.line * size, PLATE.gap * scale
    left, bottom, right, top = plate_room(room, scale)
    inner, least = right - left - 2.0 * pad, PLATE.least_sentence * scale + gap
    bars = steps.bars(number)
    bounds = np.array(_bounds(steps, number)[:2])
    has_plot = bool(bars) or (bounds.shape[1] > 1 and bool(np.isfinite(bounds).any()))
    is_beside = has_plot and inner >= least + PLATE.least_plot * scale
    wanted = max(PLATE.least_plot, min(PLATE.plot, len(bars) * PLATE.widest_bar)) if bars else PLATE.plot
    plot_width = min(wanted * scale, inner - least) if is_beside else 0.0
    width = min(PLATE.sentence * scale, inner - plot_width - gap * is_beside)
    lines = [
        (text, color)
        for words, color in ((steps.title(number), DIM), (steps.sentence(number), BRIGHT))
        for text in _wrapped(words, width, lambda text: measure(text, size)[0])
    ]
    if is_beside:
        height = plot_height = max(PLATE.height * scale, line * max(len(lines), PLATE.least_lines))
        width += gap + plot_width
    else:
        height, plot_width = line * len(lines), width
        plot_height = min(PLATE.height * scale, PLATE.highest * (top - bottom) - height - gap - 2.0 * pad)
        has_plot = has_plot and plot_height >= PLATE.least_height * scale
        height += (gap + plot_height) * has_plot
    x = 0.5 * (left + right) - 0.5 * width
    y = bottom + pad
    box = (x - pad, y - pad, x + width + pad, y + height + pad)
    texts = [
        Text(text, round(x), round(y + height - line * (row + 1) + 0.5 * (line - SIZES.capitals * size)), size, color)
        for row, (text, color) in enumerate(lines)
    ]
    glyphs = [plate_glyphs(box, scale)]
    places: tuple[tuple[Box, int], ...] = ()
    if has_plot:
        area = (x + width - plot_width, y, x + width, y + plot_height)
        draw = _Plot(steps, number, style, measure, area)
        if bars:
            places = draw.axes(bars)
        else:
            draw.bounds()
        glyphs += draw.glyphs
        texts += draw.texts
    return StepPlate(box, concatenate(glyphs), tuple(texts), places)


def plate_room(room: LabelRoom, scale: float) -> Box:
    """Return the part of the view for the plate: beside a panel at the bottom, or above it where that is too narrow."""
    margin = SIZES.plate_margin * scale
    left, bottom, right, top = room.free
    low = bottom + PLATE.highest * (top - bottom)
    for box in room.taken:
        if box[1] < low and box[3] < 0.5 * (bottom + top):
            if right - box[2] >= 0.6 * (right - left):
                left = max(left, box[2])
            else:
                bottom = max(bottom, box[3])
    return (left + margin, bottom + margin, max(left, right) - margin, max(bottom, top) - margin)


def _wrapped(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Return the lines of a text that are at most so wide, of whole words."""
    lines: list[str] = []
    for word in BREAKS.split(text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def plate_glyphs(box: Box, scale: float) -> GlyphArray:
    """Return a rectangle with round corners."""
    radius = 5.0 * scale
    inner = (box[0] + radius, box[1] + radius, box[2] - radius, box[3] - radius)
    starts, ends = loop(corners_of(inner)).transpose(1, 0, 2)
    return concatenate([_rectangle(inner, PLATE_COLOR), strokes(starts, ends, PLATE_COLOR, 2.0 * radius)])


def _rectangle(box: Box, color: Color, hatch: float = 0.0) -> GlyphArray:
    return fills(fan(corners_of(box)), color, hatch=hatch)


def corners_of(box: Box) -> FloatArray:
    """Return the corners (4, 3) of a box of pixels."""
    return _flat(*rectangle(np.array(box[:2]), np.array(box[2:])).T)


class _Plot:
    """Draws numbers over steps into a box of pixels."""

    def __init__(self, steps: Steps, number: int, style: Style, measure: Measure, area: Box) -> None:
        self.steps, self.number, self.style, self.measure, self.area = steps, number, style, measure, area
        self.size = PLATE.small * style.look.label_size * style.scale
        self.line = style.look.line_width * style.scale
        self.glyphs: list[GlyphArray] = []
        self.texts: list[Text] = []

    def bounds(self) -> None:
        """Draw lower and upper bound as steps that close: the lower one solid, the upper one dashed."""
        lower, upper, number = _bounds(self.steps, self.number)
        known = np.concatenate([lower, upper])
        known = known[np.isfinite(known)]
        low, high = float(known.min()), float(known.max())
        units = self.steps.given.units.for_table((low, high))
        words = [units.length(value) for value in ((high, low) if high > low else (high,))]
        left, bottom, right, top = self.area
        half, space = 0.5 * SIZES.capitals * self.size, 0.6 * self.size
        left += max(self.measure(text, self.size)[0] for text in words) + space
        # Of all steps, so that the plot stays where it is.
        widths = [self.measure(units.length(value), self.size)[0] for value in known.tolist()]
        right -= max(self.measure(f"{name} ", self.size)[0] for name in ("upper", "lower")) + max(widths) + 2.0 * space
        bottom, top = bottom + half, top - half
        for text, y in zip(words, (top, bottom) if high > low else (0.5 * (bottom + top),), strict=True):
            self.write(text, left - space - self.measure(text, self.size)[0], y, DIM)
        count = len(lower)
        x = np.linspace(left, right, count + 1)

        def heights(values: FloatArray) -> FloatArray:
            part = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
            return np.asarray(bottom + part * (top - bottom))

        shown = (x[number], bottom - half, x[number + 1], top + half)
        self.glyphs.append(_rectangle(shown, SHOWN))
        level = [bottom, top, *heights(np.zeros(int(low < 0.0 < high)))]
        self.glyphs += [strokes(flat((left, y)), flat((right, y)), FRAME, 0.5 * self.line) for y in level]
        names, places = [], []
        for name, bound, role, form in (("upper", upper, "support", SQUARE), ("lower", lower, "simplex", DISC)):
            paint, dash = role_color(role, self.style.look), 3.5 * self.line if name == "upper" else 0.0
            known = np.flatnonzero(np.isfinite(bound))
            row = heights(bound[known])
            self.glyphs.append(strokes(_flat(x[known], row), _flat(x[known + 1], row), paint, self.line, dash=dash))
            follows = np.flatnonzero(np.diff(known) == 1)
            rises = x[known[follows + 1]]
            risen = _flat(rises, row[follows]), _flat(rises, row[follows + 1])
            self.glyphs.append(strokes(*risen, paint, self.line, dash=dash))
            reached = int((known <= number).sum())
            if reached:
                place = float(row[reached - 1])
                middle = flat((0.5 * (shown[0] + shown[2]), place))
                self.glyphs.append(marks(middle, form, paint, 3.5 * self.line))
                value = float(bound[known[reached - 1]])
                names.append(f"{name} {units.length(value, rounding='up' if name == 'upper' else 'down')}")
                places.append(place)
        # Each number is beside its line, and the two are not on one another.
        least = 2.0 * half + space
        if len(places) == 2 and places[0] - places[1] < least:
            between = min(max(0.5 * (places[0] + places[1]), bottom + 0.5 * least), top - 0.5 * least)
            places = [between + 0.5 * least, between - 0.5 * least]
        for text, place in zip(names, places, strict=True):
            self.write(text, right + space, place, BRIGHT)

    def axes(self, bars: list[Bar]) -> tuple[tuple[Box, int], ...]:
        """Draw a bar for every axis, overlaps up and gaps down; return where each can be clicked, and its step."""
        left, bottom, right, top = self.area
        scale, look = self.style.scale, self.style.look
        columns = max(1, min(len(bars), int((right - left) / (PLATE.bar * scale))))
        shown = fewer_bars(bars, columns)
        best = next((bar for bar in bars if bar.is_best), None)
        if best is not None:
            length = self.steps.given.units.length(abs(best.signed_distance))
            self.write(f"best: {best.kind} {length}", left, top - 0.5 * SIZES.capitals * self.size, DIM)
        mark = 8.0 * scale
        above = max(0.0, *(-bar.signed_distance for bar in shown))
        below = max(0.0, *(bar.signed_distance for bar in shown))
        low, high = bottom + mark * (below > 0.0), top - 1.2 * self.size - mark
        unit = max(high - low, 1.0) / (above + below or 1.0)
        base, step = low + below * unit, min((right - left) / columns, PLATE.widest_bar * scale)
        places = []
        for column, bar in enumerate(shown):
            x, kind = left + column * step, bar.kind
            sign = -1.0 if kind == "gap" else 1.0
            end = base + sign * max(abs(bar.signed_distance) * unit, 1.5 * scale)
            color = role_color(kind, look)
            color = color if bar.is_best or bar.is_current else (*color[:3], 0.65)
            if bar.is_current:
                self.glyphs.append(_rectangle((x, bottom, x + step, top - 1.2 * self.size), SHOWN))
            inner = (x + 0.14 * step, min(base, end), x + 0.86 * step, max(base, end))
            self.glyphs.append(_rectangle(inner, color, 0.0 if kind == "overlap" else -4.0 * scale))
            if bar.is_best:
                place = flat((x + 0.5 * step, end + sign * 0.5 * mark))
                self.glyphs.append(marks(place, DIAMOND, BRIGHT, mark))
            places.append(((x, bottom, x + step, top), bar.step))
        self.glyphs.append(strokes(flat((left, base)), flat((left + columns * step, base)), DIM, 0.5 * self.line))
        return tuple(places)

    def write(self, text: str, x: float, y: float, color: Color) -> None:
        """Write beside a height."""
        self.texts.append(Text(text, round(x), round(y - 0.5 * SIZES.capitals * self.size), self.size, color))


def _bounds(steps: Steps, number: int) -> tuple[FloatArray, FloatArray, int]:
    """Return lower and upper bound (n,) by the shown steps of the algorithm of this one, and its number among them."""
    kinds = [steps.trace.steps[place].kind for place in steps.shown]
    alike = np.array([kind == kinds[number] for kind in kinds])
    lower, upper = steps.bounds()
    return lower[alike], upper[alike], int(alike[:number].sum())


def _flat(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the points (n, 3) of pixels."""
    return np.stack([x, y, np.zeros(len(x))], axis=1)


# --- labels ---------------------------------------------------------------------------------------------------------

_MOST_AVOIDED = 32
"""Lines that labels keep clear of."""
_KEEP_CLEAR: tuple[Role, ...] = ("axis", "a", "b", "gap", "overlap", "direction", "nearest")
_DISTANCES = np.array([1.0, 1.8, 3.0, 5.0])


def room_beside(
    picture: StudyPicture, plate: StepPlate, matrix: FloatArray, size: tuple[int, int], room: LabelRoom
) -> LabelRoom:
    """Return the room that is left for labels beside the plate and the main lines of a picture.

    matrix: (4, 4) world to clip space.
    """
    lines = [np.zeros((0, 2, 3)), *(line.ends for line in picture.lines if line.role in _KEEP_CLEAR)]
    ends, ahead = project(np.concatenate(lines).reshape(-1, 3), matrix, size)
    whole = ends.reshape(-1, 2, 2)[ahead.reshape(-1, 2).all(axis=1)][:_MOST_AVOIDED]
    segments = tuple(((x, y), (u, v)) for (x, y), (u, v) in whole.tolist())
    return replace(room, taken=(*room.taken, plate.box), lines=segments)


def annotate_steps(
    picture: StudyPicture,
    plate: StepPlate,
    style: Style,
    matrix: FloatArray,
    size: tuple[int, int],
    measure: Measure,
    room: LabelRoom,
    others: tuple[Box, ...],
    kept: Kept,
) -> Annotations:
    """Return the plate and the labels of a picture beside their points, clear of it and of the plates of `others`.

    matrix: (4, 4) world to clip space. kept: where the labels were in the last picture; brought up to date.
    """
    scale, room = style.scale, room_beside(picture, plate, matrix, size, room)
    sheet = Sheet(style, replace(room, taken=(*room.taken, *others)), measure, kept)
    points, ahead = project(points_of(StudyPicture(points=picture.points, lines=picture.lines)), matrix, size)
    sheet.busy = Marked(points[ahead], sheet.free, 8.0 * scale)
    sheet.middle = 0.5 * (points[ahead].min(axis=0) + points[ahead].max(axis=0)) if ahead.any() else np.zeros(2)
    anchors, ahead = project(np.array([label.point for label in picture.labels]).reshape(-1, 3), matrix, size)
    distance = SIZES.name_distance * scale
    before, sheet.kept.corners = sheet.kept.corners, {}
    is_shown = ahead & inside(anchors, sheet.free) & style.show_labels
    for k in np.flatnonzero(is_shown).tolist():
        label, anchor, part = picture.labels[k], anchors[k], f"{k} {picture.labels[k].text}"
        if part in before:
            sheet.kept.corners[part] = before[part]
        color, away = role_color(label.role, style.look), anchor - sheet.middle
        away = away / max(float(np.linalg.norm(away)), 60.0 * scale)
        found = sheet.label(
            part, label.text, BRIGHT, color, anchor[None], distance * _DISTANCES, away, larger=SIZES.name_size
        )
        if found is not None:
            end = np.clip(anchor, found[1][:2], found[1][2:])
            sheet.lines.append((anchor, end))
            sheet.glyphs.append(strokes(flat(anchor), flat(end), color, 0.6 * style.look.line_width * scale))
    return Annotations(
        concatenate(sheet.glyphs),
        concatenate([*sheet.plates, plate.glyphs]),
        (*sheet.texts, *plate.texts),
        (*sheet.boxes, plate.box),
    )
