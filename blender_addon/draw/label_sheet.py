# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels on plates in a view, and where each does the least harm. No Blender, no GPU."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...core.types import BoolArray, FloatArray
from ..data.look import Color
from ..layers.glyphs import GlyphArray, strokes
from ..layers.overlay_geometry import Style

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels."""

Segment = tuple[tuple[float, float], tuple[float, float]]
"""Both ends in pixels."""

PLATE_COLOR: Color = (0.07, 0.07, 0.08, 1.0)


@dataclass(frozen=True)
class LabelRoom:
    """Where labels may be in a view."""

    free: Box
    """What headers, sidebar and toolbar leave."""
    taken: tuple[Box, ...] = ()
    """What is already there: Blender's own text, its gizmo, the panel of the last operator."""
    lines: tuple[Segment, ...] = ()
    """Which labels keep clear of too."""
    is_main: bool = True
    """Whether what is written once in an area is written here: not in three quarters of a quad view."""


@dataclass(frozen=True)
class LabelSizes:
    """Pixels at interface scale 1, unless said otherwise."""

    least_arrow: float = 36.0
    """A shorter arrow is continued to this length in a lighter colour, so that its direction is seen."""
    short_arrow: float = 16.0
    """What is still shorter on screen, as an arrow seen from its end, gets a ring around it, so that it is found."""
    ring_radius: float = 15.0
    label_distance: float = 20.0
    name_distance: float = 14.0
    name_size: float = 0.92
    """Relative to the text size."""
    name_dot: float = 7.0
    """Across, at the end of a name's leader."""
    plate_padding: float = 6.0
    plate_margin: float = 6.0
    """Kept free between a label and the edge of the view."""
    capitals: float = 0.72
    """Height of capital letters, relative to the text size."""


SIZES = LabelSizes()


@dataclass(frozen=True)
class Text:
    """A word or a number, at the left end of its base line, in pixels from the lower left corner of the view."""

    text: str
    x: float
    y: float
    size: float
    color: Color


@dataclass(frozen=True, eq=False)
class Annotations:
    """What depends on the view. Glyphs are in pixels, z = 0."""

    marks: GlyphArray
    plates: GlyphArray
    texts: tuple[Text, ...]
    boxes: tuple[Box, ...]
    """The plate of each text."""


@dataclass(eq=False)
class Kept:
    """Where the labels of a view were in the last picture: the next one moves them only for a reason."""

    corners: dict[str, FloatArray] = field(default_factory=dict)
    """The lower left corner of a plate, from the contact."""
    anchors: dict[str, int] = field(default_factory=dict)
    """The number of the point that a name points at."""
    notes: Annotations | None = None
    """All of the last picture that depends on the view."""
    made_of: Hashable = None
    """All that the notes depend on."""


def project(points: FloatArray, matrix: FloatArray, size: tuple[int, int]) -> tuple[FloatArray, BoolArray]:
    """Return pixels (n, 2) of world points (n, 3), and which of them are in front of the viewer."""
    points = np.atleast_2d(points)
    clip = points @ matrix[:, :3].T + matrix[:, 3]
    seen = clip[:, 3] > 1e-9 * np.abs(clip).max(initial=1.0)
    w = np.where(seen, clip[:, 3], 1.0)
    return (0.5 * clip[:, :2] / w[:, None] + 0.5) * np.asarray(size, dtype=np.float64), seen


# x and y are calculated with one after the other: numpy takes as long for an axis of two as for one of a hundred.


def lengths(vectors: FloatArray) -> FloatArray:
    """Return the lengths (n,) of vectors (n, 2)."""
    x, y = vectors.T
    return np.asarray(np.sqrt(x * x + y * y))


def inside(points: FloatArray, box: Box) -> BoolArray:
    """Return which of the points (n, 2) are in a box."""
    x, y = points.T
    return np.asarray((x >= box[0]) & (y >= box[1]) & (x <= box[2]) & (y <= box[3]))


def _apart(boxes: FloatArray, others: FloatArray) -> BoolArray:
    """Return (c,) which of the boxes (c, 4) overlap none of the others (o, 4)."""
    left, bottom, right, top = boxes.T[..., None]
    is_apart = (left >= others[:, 2]) | (bottom >= others[:, 3]) | (right <= others[:, 0]) | (top <= others[:, 1])
    return np.all(is_apart, axis=1)


def _crossed(boxes: FloatArray, starts: FloatArray, ends: FloatArray) -> BoolArray:
    """Return (c, s) which of the c boxes (left, bottom, right, top) which of the s segments pass through."""
    enter, leave = np.zeros(1), np.ones(1)
    for axis in (0, 1):
        low, high, origin = boxes[:, axis, None], boxes[:, axis + 2, None], starts[:, axis]
        direction = ends[:, axis] - origin
        still = direction == 0.0
        step = np.where(still, 1.0, direction)
        one, other = (low - origin) / step, (high - origin) / step
        first, last = np.minimum(one, other), np.maximum(one, other)
        if still.any():
            # Along an axis in which a segment does not move it is in the box always or never.
            first = np.where(still, np.where((low <= origin) & (origin <= high), -np.inf, np.inf), first)
            last = np.where(still, -first, last)
        enter, leave = np.maximum(enter, first), np.minimum(leave, last)
    return np.asarray(enter <= leave)


def _meet(starts: FloatArray, ends: FloatArray, firsts: FloatArray, seconds: FloatArray) -> BoolArray:
    """Return (n, s) which of the segments (n, 2) from starts to ends cross which of those (s, 2) from firsts to
    seconds."""

    def side(origin: FloatArray, direction: FloatArray, point: FloatArray) -> FloatArray:
        (x, y), (u, v) = direction, point - origin
        return np.asarray(x * v - y * u)

    start, end = starts.T[..., None], ends.T[..., None]
    first, second = firsts.T[:, None], seconds.T[:, None]
    steps, step = end - start, second - first
    is_across = side(start, steps, first) * side(start, steps, second) <= 0.0
    return np.asarray(is_across & (side(first, step, start) * side(first, step, end) <= 0.0))


# How bad it is for a plate to be in the wrong place; the sums are compared. Per pixel at interface scale 1:
_FAR, _PUSHED, _MOVED, _FURTHER = 0.25, 1.0, 0.4, 0.04
# Per object in its way, or for all of it, or all of the plate:
_ON_LINE, _ON_REGION, _ON_POINT, _ON_OTHER, _ON_OWN = 400.0, 25.0, 12.0, 250.0, 15.0
_OTHER_SIDE, _ALONG = 8.0, 150.0
_MOST_MOVED = 60.0
"""Pixels at interface scale 1: of two places farther away than that the nearer one is only a little better."""
_TURNS = np.arange(24) * np.pi / 12.0
_DIRECTIONS = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)
_ON_LEADER = np.linspace(0.2, 0.8, 4)[:, None, None]
_FIRST = 48
"""The places that are near are looked at first."""
_ROUNDED = 1e-5
"""Places of which one is so much worse count as equal, and some more: sums are rounded to six digits."""


class Marked:
    """Points of a view, to count those in many boxes at once."""

    def __init__(self, points: FloatArray, view: Box, cell: float) -> None:
        """Points (n, 2) outside of `view` do not count; boxes are rounded to cells of so many pixels."""
        low, self._cell = np.array(view[:2]), cell
        shape = np.maximum(np.ceil((np.array(view[2:]) - low) / cell), 1.0).astype(np.int64)
        places = np.floor((points - low) / cell).astype(np.int64)
        places = places[inside(places, (0, 0, *(shape - 1).tolist()))]
        counts = np.bincount(places @ (shape[1], 1), minlength=int(np.prod(shape))).reshape(shape)
        self._sums = np.zeros(shape + 1, dtype=np.int64)
        counts.cumsum(axis=0, out=counts).cumsum(axis=1, out=self._sums[1:, 1:])
        self._low, self._most = np.tile(low, 2), np.tile(shape, 2)

    def within(self, boxes: FloatArray) -> FloatArray:
        """Return how many points are in each of the boxes (n, 4)."""
        cells = np.round((boxes - self._low) / self._cell).astype(np.int64)
        left, bottom, right, top = np.minimum(np.maximum(cells, 0), self._most).T
        right, top, sums = np.maximum(right, left), np.maximum(top, bottom), self._sums
        return np.asarray(sums[right, top] - sums[left, top] - sums[right, bottom] + sums[left, bottom])


_NOTHING = Marked(np.zeros((0, 2)), (0.0, 0.0, 0.0, 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What is seen of an object and of the other one, as middles of squares of the view; `cell` pixels wide."""

    own: Marked
    other: Marked
    cell: float


class Sheet:
    """What is drawn in pixels, and what a label must keep clear of."""

    def __init__(
        self,
        style: Style,
        room: LabelRoom,
        measure: Callable[[str, float], tuple[float, float]],
        kept: Kept | None = None,
    ) -> None:
        margin, free = SIZES.plate_margin * style.scale, room.free
        self.style = style
        self.free = free
        self.taken = room.taken
        self.view = (free[0] + margin, free[1] + margin, free[2] - margin, free[3] - margin)
        self.measure = measure
        self.kept = kept or Kept()
        self.middle = np.zeros(2)
        self.lines = [(np.array(start), np.array(end)) for start, end in room.lines]
        self.busy = _NOTHING
        self.glyphs: list[GlyphArray] = []
        self.plates: list[GlyphArray] = []
        self.texts: list[Text] = []
        self.boxes: list[Box] = []

    def label(
        self,
        part: str,
        text: str,
        color: Color,
        rim: Color | None,
        anchors: FloatArray,
        distances: FloatArray,
        toward: FloatArray,
        *,
        harm: FloatArray | float = 0.0,
        along: FloatArray | None = None,
        around: Surroundings | None = None,
        larger: float = 1.0,
    ) -> tuple[int, Box] | None:
        """Write `text` on a plate near one of the `anchors` (n, 2); return which and the plate, None without room.

        part: which label it is. rim: of the plate; None: it has none. larger: than other text. The others are those of
        `_place`.
        """
        scale = self.style.scale
        size = larger * self.style.look.label_size * scale
        pad = SIZES.plate_padding * scale
        width, height = self.measure(text, size)
        # Not less for a word without ascenders, so that plates are alike.
        extent = np.array((width + 3.0 * pad, max(height, SIZES.capitals * size) + 2.0 * pad))
        kept = self.kept.corners.pop(part, None)
        found = self._place(anchors, extent, distances, toward, harm, along, around, kept)
        if found is None:
            return None
        anchor, box = found
        radius, middle = 0.5 * (box[3] - box[1]), 0.5 * (box[1] + box[3])
        left, right = flat((box[0] + radius, middle)), flat((box[2] - radius, middle))
        self.plates.append(strokes(left, right, rim or PLATE_COLOR, 2.0 * radius))
        self.plates.append(strokes(left, right, PLATE_COLOR, 2.0 * radius - 2.5 * scale))
        self.texts.append(
            Text(text, round(box[0] + 1.5 * pad), round(middle - 0.5 * SIZES.capitals * size), size, color)
        )
        self.boxes.append(box)
        self.kept.corners[part] = np.array(box[:2]) - self.middle
        return anchor, box

    def _place(
        self,
        anchors: FloatArray,
        extent: FloatArray,
        distances: FloatArray,
        toward: FloatArray,
        harm: FloatArray | float,
        along: FloatArray | None,
        around: Surroundings | None,
        kept: FloatArray | None,
    ) -> tuple[int, Box] | None:
        """Find where a plate of `extent` goes near one of the anchors: inside the view, off lines, points and plates,
        and its leader off plates.

        `toward` is the preferred direction, `harm` what each anchor costs. Of 24 directions at some distances, and
        where it was before, the place of least harm is taken, the first of equals; None when the view is too small, or
        every place is on something else. Before and behind the arrow (`along`) a label's leader would cover it.
        """
        if self.view[2] - self.view[0] < extent[0] or self.view[3] - self.view[1] < extent[1] or len(anchors) == 0:
            return None
        scale, half = self.style.scale, 0.5 * extent
        # It is the plate's edge, not its middle, that is at a distance from the anchor.
        reach = distances[:, None] + (half / np.maximum(np.abs(_DIRECTIONS), 1e-9)).min(axis=1)
        steps = (reach[:, :, None] * _DIRECTIONS - half).reshape(-1, 2)
        wanted = (anchors[:, None] + steps).reshape(-1, 2)
        which = np.repeat(np.arange(len(anchors)), len(steps))
        if kept is not None:
            wanted = np.concatenate([np.tile(self.middle + kept, (len(anchors), 1)), wanted])
            which = np.concatenate([np.arange(len(anchors)), which])
        low = np.array(self.view[:2])
        corner = np.clip(wanted, low, np.array(self.view[2:]) - extent)
        boxes = np.concatenate([corner, corner + extent], axis=1)
        room = 0.3 * float(distances[0])
        starts = anchors[which]
        leader = np.clip(starts, corner, corner + extent) - starts
        far = lengths(leader)
        offset = corner + half - starts
        directions = offset / np.maximum(lengths(offset), 1.0)[:, None]
        least = np.broadcast_to(harm, len(anchors))[which] + _FAR / scale * far - _OTHER_SIDE * directions @ toward
        least += _PUSHED * lengths(corner - wanted)
        least += np.where(far < 0.7 * distances[0], _ON_LINE, 0.0)  # on what it is a label of
        if along is not None:
            least += _ALONG * np.maximum(np.abs(directions @ along) - 0.6, 0.0)
        if kept is not None:
            moved = lengths(corner - self.middle - kept) / scale
            least += _MOVED * np.minimum(moved, _MOST_MOVED) + _FURTHER * moved

        # Whatever is in the way makes a place worse: where it cannot be the best one, that need not be known.
        cost, order = np.full(len(least), np.inf), np.argsort(least, kind="stable")
        for chosen in (order[:_FIRST], order[_FIRST:]):
            if len(k := chosen[least[chosen] <= cost.min() + _ROUNDED]):
                cost[k] = least[k] + self._hindrance(boxes[k], starts[k], leader[k], room, around)
        best = int(np.argmin(np.round(cost, 6)))
        if np.isinf(cost[best]) or (around is not None and cost[best] >= _ON_LINE):
            return None  # a name that is hard to read or to follow is of no help
        left, bottom, right, top = boxes[best].tolist()
        return int(which[best]), (left, bottom, right, top)

    def _hindrance(
        self, boxes: FloatArray, starts: FloatArray, leader: FloatArray, room: float, around: Surroundings | None
    ) -> FloatArray:
        """Return (n,) how bad it is what plates (n, 4), with so many pixels kept free around them, and their leaders
        (n, 2) are on."""
        wide = boxes + room * np.array([-1.0, -1.0, 1.0, 1.0])
        others = np.array([*self.boxes, *self.taken]).reshape(-1, 4)
        cost = np.where(_apart(boxes, others), 0.0, np.inf)
        if self.lines:
            lines = np.array(self.lines)
            cost += _ON_LINE * _crossed(wide, lines[:, 0], lines[:, 1]).sum(axis=1)
            if around is not None:
                cost += _ON_OTHER * _meet(starts, starts + leader, lines[:, 0], lines[:, 1]).sum(axis=1)
        cost += _ON_LINE * _crossed(others, starts, starts + leader).sum(axis=0)
        # Ten covered points are no worse than five: what counts is whether there is free space.
        covered = np.minimum(self.busy.within(wide), 5.0)
        cost += _ON_REGION * (covered > 0.0) + _ON_POINT * covered
        if around is not None:
            area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
            square = 0.5 * around.cell * np.array([-1.0, -1.0, 1.0, 1.0])
            touched = around.other.within(wide + square)  # by the least overlap
            cost += _ON_POINT * (touched > 0.0) + _ON_OTHER * np.minimum(around.cell**2 * touched / area, 1.0)
            cost += _ON_OWN * np.minimum(around.cell**2 * around.own.within(boxes) / area, 1.0)
            passed = (starts + _ON_LEADER * leader).reshape(-1, 2)
            on_other = around.other.within(np.tile(passed, 2) + square).reshape(len(_ON_LEADER), -1) > 0.0
            cost += _ON_REGION * on_other.sum(axis=0)
        return cost


def flat(pixel: Sequence[float] | FloatArray) -> FloatArray:
    """Return the point (1, 3) of a pixel."""
    return np.array([[pixel[0], pixel[1], 0.0]])
