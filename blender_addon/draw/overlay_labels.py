# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows that depends on the view: labels, their plates and leaders, and the mark around an arrow too
short to see. No Blender, no GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.result import Relation
from ...core.types import BoolArray, FloatArray
from ..data import messages
from ..data.distance import Distance
from ..data.look import Color, relation_color
from ..layers.glyphs import RING, arrow, concatenate, marks, strokes
from ..layers.overlay_geometry import NOW, Showing, Style, arrow_ends, has_body, has_vector, origin
from ..pair.pair_contact import curves, outlines
from .label_sheet import SIZES, Annotations, Box, Kept, LabelRoom, Marked, Sheet, flat, lengths, project
from .overlay_names import annotate_names

if TYPE_CHECKING:
    from ..measure.pair_measures import PairMeasures
    from ..pair.inspection import Inspection

TEXT_COLOR: Color = (1.0, 1.0, 1.0, 1.0)
_MOST_AVOIDED = 32
"""Outlines and curves that labels keep clear of."""
_POINTS_AVOIDED = 48
"""Points along each of them: placing a label takes no longer than drawing."""
_LIGHTER = 0.55
"""Fraction of white in the colour of what continues an arrow beyond its true length."""


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


def vector_label(inspection: Inspection) -> str:
    """Return the words at the arrow: how deep, how far apart, or else the relation."""
    if inspection.is_depth_pending:
        return messages.PENDING
    distance = Distance.of_contact(inspection.contact)
    number = distance.text(inspection.units)
    if not number:
        word = messages.relation_word(inspection.contact.relation)
        return word if inspection.contact.has_depth else f"{word}, no depth"
    # Depth and gap differ by colour and arrowhead too, but neither is seen of a short one.
    return number if distance.name == "Depth" else f"gap {number}"


def annotate(
    inspection: Inspection,
    style: Style,
    view_matrix: FloatArray,
    projection_matrix: FloatArray,
    size: tuple[int, int],
    measure: Callable[[str, float], tuple[float, float]],
    room: LabelRoom | None = None,
    showing: Showing = NOW,
    kept: Kept | None = None,
    measures: PairMeasures | None = None,
) -> Annotations:
    """Return labels, their plates and leaders, and what makes a vector too short to see longer.

    `measure(text, size)` returns width and height of a text in pixels. room: where labels may be; None: in all of the
    view. showing: what of it is of the scene as it is now; the labels say what is not. kept: where the labels were in
    the last picture; brought up to date. measures: of the inspection.
    """
    sheet = Sheet(style, room or LabelRoom((0.0, 0.0, float(size[0]), float(size[1]))), measure, kept)
    matrix = projection_matrix @ view_matrix
    moved_view = matrix
    if showing.is_pending and showing.moved is not None:
        # Between the places to which each of them would have moved the contact.
        moved_view = matrix @ (0.5 * (showing.moved[0] + showing.moved[1]))
    sheet.middle = project(origin(inspection), moved_view, size)[0][0]
    if style.show_vector:
        pixel = 2.0 * _half_height(origin(inspection), view_matrix, projection_matrix) / size[1]
        words = vector_label(inspection) + (f" ({messages.OUT_OF_DATE})" if showing.is_stale else "")
        words = messages.PENDING if showing.is_pending else words
        _annotate_vector(sheet, inspection, measures, moved_view, size, pixel, words)
        if showing.is_pending:
            sheet.glyphs.clear()  # only the words are left
    if style.show_labels:
        annotate_names(sheet, inspection, view_matrix, matrix, size, showing)
    return Annotations(concatenate(sheet.glyphs), concatenate(sheet.plates), tuple(sheet.texts), tuple(sheet.boxes))


def _annotate_vector(
    sheet: Sheet,
    inspection: Inspection,
    measures: PairMeasures | None,
    matrix: FloatArray,
    size: tuple[int, int],
    pixel: float,
    words: str,
) -> None:
    """Add the vector's label, what continues an arrow that is too short, or a ring around what is small on screen.

    pixel: its size in the world.
    """
    contact, look, scale = inspection.contact, sheet.style.look, sheet.style.scale
    tail, tip = arrow_ends(inspection, sheet.style, measures)
    ends, ahead = project(np.array([tail, tip]), matrix, size)
    if not bool(ahead.all()):
        return
    start, end = ends
    color = look.color_gap if contact.signed_distance > 0.0 else look.color_vector
    color = color if has_vector(contact) else relation_color(contact.relation, look)
    line = look.line_width * scale

    # Where the normal points on screen is known even where the vector itself is less than a pixel.
    least = SIZES.least_arrow * scale * pixel * contact.normal
    probe, _ = project(tail + np.array([-0.5 * least, 0.5 * least, least]), matrix, size)
    direction = probe[1] - probe[0]
    pixels = float(np.linalg.norm(direction))
    direction = direction / pixels if pixels > 0.0 else np.array([1.0, 0.0])
    drawn = (*outlines(contact), *curves(contact))
    if has_body(sheet.style, measures) and measures.surface is not None:
        drawn = measures.surface.curves
    around = [_along(*project(each, matrix, size)) for each in drawn[:_MOST_AVOIDED]]
    marked = np.concatenate([np.zeros((0, 2)), *around])
    clearance, is_touch = 0.0, contact.relation is Relation.TOUCHING
    if is_touch and (lengths(marked - start) < SIZES.ring_radius * scale).all():
        clearance = SIZES.ring_radius * scale
        sheet.glyphs.append(marks(flat(start), RING, color, 2.0 * clearance, 0.7 * line))
    if has_vector(contact):
        if contact.signed_distance < 0.0 and contact.depth < SIZES.least_arrow * scale * pixel:
            end = probe[2]
            r, g, b = (part + _LIGHTER * (1.0 - part) for part in color[:3])
            sheet.glyphs.append(arrow(flat(start), flat(end), (r, g, b, color[3]), 1.2 * line))
            sheet.glyphs.append(strokes(flat(start), flat(ends[1]), color, 1.6 * line))
        if np.linalg.norm(end - start) < SIZES.short_arrow * scale:
            clearance = SIZES.ring_radius * scale
            sheet.glyphs.append(marks(flat(0.5 * (start + end)), RING, color, 2.0 * clearance, 0.5 * line))
    seen = _visible_part(start, end, sheet.free)
    if seen is None:
        return
    sheet.lines.append(seen)
    if not sheet.style.show_labels:
        return

    middle = 0.5 * (seen[0] + seen[1])
    sheet.busy = Marked(marked, sheet.free, 8.0 * scale)
    side = np.array([-direction[1], direction[0]])
    side = side if side[0] + 0.3 * side[1] >= 0.0 else -side  # to the right, or up, where people read on
    distance = clearance + SIZES.label_distance * scale
    distances = distance * np.array([1.0, 1.8, 3.0, 5.0])
    found = sheet.label("vector", words, TEXT_COLOR, color, middle[None], distances, side, along=direction)
    if found is not None:
        box = found[1]
        reach = np.clip(middle, box[:2], box[2:]) - middle
        far = float(np.linalg.norm(reach))
        gap = clearance if is_touch and clearance else clearance + 0.4 * SIZES.label_distance * scale
        # Near an arrow it is plain what the label belongs to.
        if far > (gap if is_touch else distance + 0.5 * SIZES.label_distance * scale):
            start, end = middle + gap / far * reach, middle + reach
            sheet.lines.append((start, end))
            sheet.glyphs.append(strokes(flat(start), flat(end), color, 0.6 * line))


def _along(corners: FloatArray, ahead: BoolArray) -> FloatArray:
    """Return points (n, 2) at equal distances along a line through the corners, and back to the first."""
    corners = corners[ahead]
    if len(corners) < 2:
        return corners
    corners = np.concatenate([corners, corners[:1]])
    length = np.append(0.0, lengths(np.diff(corners, axis=0)).cumsum())
    steps = np.linspace(0.0, length[-1], _POINTS_AVOIDED)
    return np.stack([np.interp(steps, length, corners[:, axis]) for axis in (0, 1)], axis=1)


def _half_height(point: FloatArray, view_matrix: FloatArray, projection_matrix: FloatArray) -> float:
    """Return half the height of what is seen at the point's depth, world units."""
    in_view = view_matrix[:3, :3] @ point + view_matrix[:3, 3]
    w = abs(float(projection_matrix[3, :3] @ in_view + projection_matrix[3, 3]))
    return w / float(np.linalg.norm(projection_matrix[1, :3]))
