# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows that depends on the view: labels, their plates and leaders, and the mark around an arrow too
short to see. No Blender, no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.types import BoolArray, FloatArray
from ..check.pair_contact import curves, outlines, vector_ends
from ..data import messages
from ..data.distance import Distance
from ..data.look import Color
from ..data.names import elided
from ..read.shape_outline import stand_in
from .glyphs import RING, GlyphArray, arrow, concatenate, marks, strokes
from .overlay_geometry import NOW, Showing, Style, has_vector, origin

if TYPE_CHECKING:
    from ..check.inspection import Inspection

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels."""


@dataclass(frozen=True)
class Room:
    """Where labels may be in a view."""

    free: Box
    """What headers, sidebar and toolbar leave."""
    taken: tuple[Box, ...] = ()
    """What is already there: Blender's own text, its gizmo, the panel of the last operator."""


PLATE_COLOR: Color = (0.07, 0.07, 0.08, 1.0)
TEXT_COLOR: Color = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class LabelSizes:
    """Pixels at interface scale 1, unless said otherwise."""

    short_arrow: float = 26.0
    """A vector shorter than this on screen gets a ring around it, so that it is found."""
    ring_radius: float = 15.0
    chevron_gap: float = 5.0
    """Between the ring and the chevron that shows the direction."""
    chevron_length: float = 15.0
    label_distance: float = 20.0
    name_distance: float = 11.0
    name_size: float = 0.92
    """Relative to the text size."""
    name_reach: float = 0.5
    """How far from the contact a name may be, relative to the smaller side of the view: it is of no help elsewhere."""
    plate_padding: float = 6.0
    plate_margin: float = 6.0
    """Kept free between a label and the edge of the view."""
    capitals: float = 0.72
    """Height of capital letters, relative to the text size."""


SIZES = LabelSizes()
_LOOKING_ALONG = 2e-3
"""The normal is seen from its end when ten pixels along it become less than this fraction of the view."""
_MOST_AVOIDED = 32
"""Outlines and curves that labels keep clear of."""
_MOST_POINTS = 64
"""Of each of them, and of an object: placing a label takes no longer than drawing."""
MOST_LETTERS = 20
"""Of a name."""


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


def project(points: FloatArray, matrix: FloatArray, size: tuple[int, int]) -> tuple[FloatArray, BoolArray]:
    """Return pixels (n, 2) of world points (n, 3), and which of them are in front of the viewer."""
    points = np.atleast_2d(points)
    clip = points @ matrix[:, :3].T + matrix[:, 3]
    seen = clip[:, 3] > 1e-9 * np.abs(clip).max(initial=1.0)
    w = np.where(seen, clip[:, 3], 1.0)
    return (0.5 * clip[:, :2] / w[:, None] + 0.5) * np.asarray(size, dtype=np.float64), seen


def _visible_part(p: FloatArray, q: FloatArray, view: Box) -> tuple[FloatArray, FloatArray] | None:
    """Return the part of the segment p to q inside the rectangle, or None. Liang and Barsky's clipping."""
    low, high = 0.0, 1.0
    direction = q - p
    for axis in (0, 1):
        for step, room in ((-direction[axis], p[axis] - view[axis]), (direction[axis], view[axis + 2] - p[axis])):
            if step == 0.0:
                if room < 0.0:
                    return None
            elif step < 0.0:
                low = max(low, room / step)
            else:
                high = min(high, room / step)
    return None if low > high else (p + low * direction, p + high * direction)


def _crossed(boxes: FloatArray, starts: FloatArray, ends: FloatArray) -> BoolArray:
    """Return (c, s) which of the c boxes (left, bottom, right, top) which of the s segments pass through."""
    direction = ends - starts
    still = direction == 0.0
    step = np.where(still, 1.0, direction)
    first = (boxes[:, None, :2] - starts) / step
    last = (boxes[:, None, 2:] - starts) / step
    # Along an axis in which a segment does not move it is in the box always or never.
    within = (boxes[:, None, :2] <= starts) & (starts <= boxes[:, None, 2:])
    enter = np.where(still, np.where(within, -np.inf, np.inf), np.minimum(first, last)).max(axis=2)
    leave = np.where(still, np.where(within, np.inf, -np.inf), np.maximum(first, last)).min(axis=2)
    return np.maximum(enter, 0.0) <= np.minimum(leave, 1.0)


# How bad it is for a plate to be in the wrong place, per object in its way; the sums are compared.
_ON_VECTOR, _ON_REGION, _ON_POINT = 400.0, 25.0, 12.0
_FAR, _OTHER_SIDE, _PUSHED, _ALONG = 8.0, 8.0, 1.0, 150.0
_RINGS = np.array([1.0, 1.8, 3.0, 5.0])
_TURNS = np.arange(24) * np.pi / 12.0


def vector_label(inspection: Inspection) -> str:
    """Return the words at the arrow: how deep, how far apart, or else the relation."""
    distance = Distance.of_contact(inspection.contact)
    number = distance.text(inspection.units)
    if not number:
        return str(inspection.contact.relation).replace("_", " ")
    # Depth and gap differ by colour and arrowhead too, but neither is seen of a short one.
    return number if distance.name == "Depth" else f"gap {number}"


class _Sheet:
    """What is drawn in pixels, and what a label must keep clear of."""

    def __init__(self, style: Style, room: Room, measure: Callable[[str, float], tuple[float, float]]) -> None:
        margin, free = SIZES.plate_margin * style.scale, room.free
        self.style = style
        self.free = free
        self.taken = room.taken
        self.view = (free[0] + margin, free[1] + margin, free[2] - margin, free[3] - margin)
        self.measure = measure
        self.lines: list[tuple[FloatArray, FloatArray]] = []
        self.outline = np.zeros((0, 2, 2))
        self.points = np.zeros((0, 2))
        self.glyphs: list[GlyphArray] = []
        self.plates: list[GlyphArray] = []
        self.texts: list[Text] = []
        self.boxes: list[Box] = []

    def label(
        self,
        text: str,
        color: Color,
        rim: Color | None,
        anchor: FloatArray,
        distance: float,
        toward: FloatArray,
        along: FloatArray | None = None,
        larger: float = 1.0,
    ) -> Box | None:
        """Write `text` on a plate near `anchor`; return the plate, None when there is no room for it.

        rim: of the plate; None: it has none. larger: than other text. The others are those of `_place`.
        """
        scale = self.style.scale
        size = larger * self.style.look.label_size * scale
        pad = SIZES.plate_padding * scale
        width, height = self.measure(text, size)
        # Not less for a word without ascenders, so that plates are alike.
        extent = (width + 3.0 * pad, max(height, SIZES.capitals * size) + 2.0 * pad)
        box = self._place(anchor, np.array(extent), distance, toward, along)
        if box is None:
            return None
        radius, middle = 0.5 * (box[3] - box[1]), 0.5 * (box[1] + box[3])
        left, right = _flat((box[0] + radius, middle)), _flat((box[2] - radius, middle))
        self.plates.append(strokes(left, right, rim or PLATE_COLOR, 2.0 * radius))
        self.plates.append(strokes(left, right, PLATE_COLOR, 2.0 * radius - 2.5 * scale))
        self.texts.append(
            Text(text, round(box[0] + 1.5 * pad), round(middle - 0.5 * SIZES.capitals * size), size, color)
        )
        self.boxes.append(box)
        return box

    def _place(
        self, anchor: FloatArray, extent: FloatArray, distance: float, toward: FloatArray, along: FloatArray | None
    ) -> Box | None:
        """Find where a plate of `extent` goes near `anchor`: inside the view, off lines, points and other plates.

        `toward` is the preferred direction. Of 24 directions at four distances the place of least harm is taken, the
        first of equals; None when the view is too small, or every place is on something else. Before and behind the
        arrow (`along`) a label's leader would cover it.
        """
        if self.view[2] - self.view[0] < extent[0] or self.view[3] - self.view[1] < extent[1]:
            return None
        half, lines = 0.5 * extent, np.array(self.lines).reshape(-1, 2, 2)
        rings, turns = (grid.ravel() for grid in np.meshgrid(_RINGS, _TURNS, indexing="ij"))
        directions = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        # It is the plate's edge, not its middle, that is `distance` from the anchor.
        reach = rings * distance + (half / np.maximum(np.abs(directions), 1e-9)).min(axis=1)
        wanted = anchor + reach[:, None] * directions - half
        low = np.array(self.view[:2])
        corner = np.clip(wanted, low, np.array(self.view[2:]) - extent)
        boxes = np.concatenate([corner, corner + extent], axis=1)
        wide = boxes + 0.3 * distance * np.array([-1.0, -1.0, 1.0, 1.0])

        harm = _FAR * rings - _OTHER_SIDE * directions @ toward + _PUSHED * np.linalg.norm(corner - wanted, axis=1)
        if along is not None:
            harm += _ALONG * np.maximum(np.abs(directions @ along) - 0.6, 0.0)
        harm += _ON_VECTOR * _crossed(wide, lines[:, 0], lines[:, 1]).sum(axis=1)
        harm += _ON_REGION * _crossed(wide, self.outline[:, 0], self.outline[:, 1]).sum(axis=1)
        others = np.array([*self.boxes, *self.taken]).reshape(-1, 4)
        is_apart = (boxes[:, None, :2] >= others[:, 2:]) | (boxes[:, None, 2:] <= others[:, :2])
        harm[~np.all(np.any(is_apart, axis=2), axis=1)] = np.inf
        near = self.points[(np.abs(self.points - anchor) <= reach.max() + 2.0 * half.max()).all(axis=1)]
        is_covered = (near >= wide[:, None, :2]).all(axis=2) & (near <= wide[:, None, 2:]).all(axis=2)
        # Ten covered corners are no worse than five: what counts is whether there is free space.
        harm += _ON_POINT * np.minimum(is_covered.sum(axis=1), 5)
        best = int(np.argmin(np.round(harm, 6)))
        if np.isinf(harm[best]):
            return None
        left, bottom, right, top = boxes[best].tolist()
        return (left, bottom, right, top)


def _thinned(points: FloatArray) -> FloatArray:
    """Return points (n, 3), every k-th where there are many."""
    return points[:: 1 + len(points) // _MOST_POINTS]


def _flat(pixel: Sequence[float] | FloatArray) -> FloatArray:
    return np.array([[pixel[0], pixel[1], 0.0]])


def annotate(
    inspection: Inspection,
    style: Style,
    view_matrix: FloatArray,
    projection_matrix: FloatArray,
    size: tuple[int, int],
    measure: Callable[[str, float], tuple[float, float]],
    room: Room | None = None,
    showing: Showing = NOW,
) -> Annotations:
    """Return labels, their plates and leaders, and the ring around a vector too short to see.

    `measure(text, size)` returns width and height of a text in pixels. room: where labels may be; None: in all of the
    view. showing: what of it is of the scene as it is now; the labels say what is not.
    """
    sheet = _Sheet(style, room or Room((0.0, 0.0, float(size[0]), float(size[1]))), measure)
    matrix = projection_matrix @ view_matrix
    if style.show_vector:
        # About what ten pixels are, in world units at the contact.
        step = 1e-2 * _half_height(origin(inspection), view_matrix, projection_matrix)
        words = vector_label(inspection) + (f" ({messages.OUT_OF_DATE})" if showing.is_stale else "")
        _annotate_vector(sheet, inspection, matrix, size, step, messages.PENDING if showing.is_pending else words)
    if style.show_labels:
        _annotate_names(sheet, inspection, matrix, size, showing)
    return Annotations(concatenate(sheet.glyphs), concatenate(sheet.plates), tuple(sheet.texts), tuple(sheet.boxes))


def _annotate_vector(
    sheet: _Sheet, inspection: Inspection, matrix: FloatArray, size: tuple[int, int], step: float, words: str
) -> None:
    """Add the vector's label, and where the vector is too short to see a ring and a chevron in its direction."""
    contact, look, scale = inspection.contact, sheet.style.look, sheet.style.scale
    ends, ahead = project(np.array(vector_ends(contact)), matrix, size)
    seen = _visible_part(ends[0], ends[1], sheet.free) if bool(ahead.all()) else None
    if seen is None:
        return
    sheet.lines.append(seen)
    middle = 0.5 * (seen[0] + seen[1])
    color = look.color_gap if contact.signed_distance > 0.0 else look.color_vector
    color = color if has_vector(contact) else (*look.color_region[:3], 1.0)
    line = look.line_width * scale

    # Where the normal points on screen is known even where the vector itself is less than a pixel.
    probe, _ = project(origin(inspection) + step * np.array([-contact.normal, contact.normal]), matrix, size)
    direction = probe[1] - probe[0]
    pixels = float(np.linalg.norm(direction))
    direction = direction / pixels if pixels > 0.0 else np.array([1.0, 0.0])
    clearance = 0.0
    if has_vector(contact) and np.linalg.norm(ends[1] - ends[0]) < SIZES.short_arrow * scale:
        clearance = SIZES.ring_radius * scale
        sheet.glyphs.append(marks(_flat(middle), RING, color, 2.0 * clearance, 0.5 * line))
        if contact.signed_distance < 0.0 and pixels > _LOOKING_ALONG * max(size):
            tail = middle + (clearance + SIZES.chevron_gap * scale) * direction
            tip = tail + SIZES.chevron_length * scale * direction
            sheet.glyphs.append(arrow(_flat(tail), _flat(tip), color, 0.8 * line))
            sheet.lines.append((middle, tip))
    if not sheet.style.show_labels:
        return

    around = []
    for outline in (*outlines(contact), *curves(contact))[:_MOST_AVOIDED]:
        corners, ahead = project(_thinned(outline), matrix, size)
        corners = corners[ahead]
        sheet.points = np.concatenate([sheet.points, corners])
        around.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
    sheet.outline = np.concatenate([sheet.outline, *around])
    side = np.array([-direction[1], direction[0]])
    side = side if side[0] + 0.3 * side[1] >= 0.0 else -side  # to the right, or up, where people read on
    distance = clearance + SIZES.label_distance * scale
    box = sheet.label(words, TEXT_COLOR, color, middle, distance, side, direction)
    if box is not None:
        reach = np.clip(middle, box[:2], box[2:]) - middle
        far = float(np.linalg.norm(reach))
        if far > distance + 0.5 * SIZES.label_distance * scale:  # else it is plain what the label belongs to
            start = middle + (clearance + 0.4 * SIZES.label_distance * scale) / far * reach
            sheet.glyphs.append(strokes(_flat(start), _flat(middle + reach), color, 0.6 * line))


def _annotate_names(
    sheet: _Sheet, inspection: Inspection, matrix: FloatArray, size: tuple[int, int], showing: Showing
) -> None:
    """Add which object is A and which is B, at the ends that are farthest from each other but not from the contact."""
    look, scale = sheet.style.look, sheet.style.scale
    drawn = []
    for side, shape in enumerate((inspection.shape_a, inspection.shape_b)):
        moved = matrix if showing.moved is None else matrix @ showing.moved[side]
        pixels, ahead = project(_thinned(stand_in(shape).vertices), moved, size)
        drawn.append(pixels[ahead])
    if any(len(pixels) == 0 for pixels in drawn):
        return
    sheet.points = np.concatenate([sheet.points, *drawn])
    contact, _ = project(origin(inspection), matrix, size)
    reach = SIZES.name_reach * min(sheet.free[2] - sheet.free[0], sheet.free[3] - sheet.free[1])
    middles = [0.5 * (pixels.min(axis=0) + pixels.max(axis=0)) for pixels in drawn]
    away_from_b = middles[0] - middles[1]
    for letter, name, color, corners, other, away in (
        ("A", inspection.name_a, look.color_a, drawn[0], drawn[1], away_from_b),
        ("B", inspection.name_b, look.color_b, drawn[1], drawn[0], -away_from_b),
    ):
        corners = corners[((corners >= sheet.free[:2]) & (corners <= sheet.free[2:])).all(axis=1)]
        corners = corners[np.linalg.norm(corners - contact, axis=1) <= reach]
        if len(corners) == 0:
            continue
        # On the other object the name would be read as that of the other.
        is_beside = ((corners < other.min(axis=0)) | (corners > other.max(axis=0))).any(axis=1)
        corners = corners[is_beside] if is_beside.any() else corners
        toward = away / max(float(np.linalg.norm(away)), 1.0)
        # Upper corners are a little better: objects stand on other things.
        anchor = corners[int(np.argmax(corners @ (toward + np.array([0.0, 0.35]))))]
        text = f"{letter}  {elided(name, MOST_LETTERS)}"
        sheet.label(text, color, None, anchor, SIZES.name_distance * scale, toward, larger=SIZES.name_size)


def _half_height(point: FloatArray, view_matrix: FloatArray, projection_matrix: FloatArray) -> float:
    """Return half the height of what is seen at the point's depth, world units."""
    in_view = view_matrix[:3, :3] @ point + view_matrix[:3, 3]
    w = abs(float(projection_matrix[3, :3] @ in_view + projection_matrix[3, 3]))
    return w / float(np.linalg.norm(projection_matrix[1, :3]))
