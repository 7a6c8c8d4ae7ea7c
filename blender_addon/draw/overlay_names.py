# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of A and B: on plates beside them, with a leader to a visible part of the object. No Blender, no GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.types import FloatArray, IntArray
from ..data.names import elided
from ..geometry.shape_outline import stand_in
from ..layers.glyphs import DISC, marks, strokes
from ..layers.overlay_geometry import Showing, origin
from .label_sheet import SIZES, Marked, Sheet, Surroundings, flat, inside, lengths, project
from .visible_parts import VisiblePart, surface_samples, visible_parts

if TYPE_CHECKING:
    from ..pair.inspection import Inspection

MOST_LETTERS = 20
"""Of a name."""
_LOOKED_AT, _TRIED = 96, 8
"""Points of an object that may be pointed at, and the best of them, for which places of the plate are tried."""
_NEAR = 0.2
"""The distance from the contact up to which points are equally dense, relative to the smaller object."""
_FROM_CONTACT = 0.3
"""How far from the contact a name points best, relative to half the view: clear of its marks, but in sight of them."""
_AWAY, _BESIDE_OTHER, _ON_CONTACT, _ANEW, _TOWARD = 15.0, 6.0, 15.0, 6.0, 6.0
"""How bad it is to point elsewhere: per half view from there, per square of the other object around, on what is drawn
of the contact, at another point than before, at the end of an object that is toward the other."""

_samples: WeakKeyDictionary[Inspection, tuple[FloatArray, FloatArray]] = WeakKeyDictionary()


def annotate_names(
    sheet: Sheet,
    inspection: Inspection,
    view_matrix: FloatArray,
    matrix: FloatArray,
    size: tuple[int, int],
    showing: Showing,
) -> None:
    """Add which object is A and which is B."""
    drawn = []
    for side, points in enumerate(_samples_of(inspection)):
        moved = np.eye(4) if showing.moved is None else showing.moved[side]
        pixels, ahead = project(points, matrix @ moved, size)
        toward_viewer = (view_matrix @ moved)[2]
        depths = -(points @ toward_viewer[:3] + toward_viewer[3])
        drawn.append((np.where(ahead[:, None], pixels, -1e9), depths))
    (pixels_a, depths_a), (pixels_b, depths_b) = drawn
    parts, cell = visible_parts((pixels_a, pixels_b), (depths_a, depths_b), size, sheet.style.scale)
    marked = [Marked(part.cells, (0.0, 0.0, float(size[0]), float(size[1])), cell) for part in parts]
    # Which way it is from one to the other; both are drawn somewhere, or nothing is between them.
    middles = [part.cells.mean(axis=0) if len(part.cells) else sheet.middle for part in parts]
    away_from_b = middles[0] - middles[1]
    away_from_b = away_from_b / max(float(np.linalg.norm(away_from_b)), 60.0 * sheet.style.scale)
    names = (("A", inspection.name_a, sheet.style.look.color_a), ("B", inspection.name_b, sheet.style.look.color_b))
    for side, (letter, name, color) in enumerate(names):
        around = Surroundings(marked[side], marked[1 - side], cell)
        away = away_from_b if side == 0 else -away_from_b
        chosen, harm = _anchors(sheet, letter, parts[side], around, away)
        if len(chosen) == 0:
            continue
        anchors = parts[side].pixels[chosen]
        distances = SIZES.name_distance * sheet.style.scale * np.array([1.0, 2.5, 6.0])
        # Above is a little better: objects stand on other things.
        toward = away + np.array([0.0, 0.35])
        text = f"{letter}  {elided(name, MOST_LETTERS, other=names[1 - side][1])}"
        found = sheet.label(
            letter, text, color, None, anchors, distances, toward, harm=harm, around=around, larger=SIZES.name_size
        )
        sheet.kept.anchors.pop(letter, None)
        if found is not None:
            sheet.kept.anchors[letter] = int(chosen[found[0]])
            start = anchors[found[0]]
            end = np.clip(start, found[1][:2], found[1][2:])
            sheet.lines.append((start, end))
            line = sheet.style.look.line_width * sheet.style.scale
            sheet.glyphs.append(strokes(flat(start), flat(end), color, 0.6 * line))
            sheet.glyphs.append(marks(flat(start), DISC, color, SIZES.name_dot * sheet.style.scale))


def _anchors(
    sheet: Sheet, letter: str, part: VisiblePart, around: Surroundings, away: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the numbers (k,) of the points of an object that a name may point at, and how bad each is."""
    pixels, view = part.pixels, sheet.view
    is_free = inside(pixels, sheet.view)
    for box in sheet.taken:
        is_free &= ~inside(pixels, box)
    # What is hidden by the other altogether, as inside of it, is named too.
    chosen = np.flatnonzero(is_free & part.is_visible if part.is_visible.any() else is_free)[:_LOOKED_AT]
    before = sheet.kept.anchors.get(letter, -1)
    if 0 <= before < len(pixels) and before not in chosen and is_free[before] and part.is_visible[before]:
        chosen = np.append(chosen, before)
    if len(chosen) == 0:
        return chosen, np.zeros(0)
    points, half_view = pixels[chosen], max(0.5 * float(min(view[2] - view[0], view[3] - view[1])), 1.0)
    offset = points - sheet.middle
    harm = _AWAY * np.abs(lengths(offset) / half_view - _FROM_CONTACT)
    square = np.tile(points, 2) + around.cell * np.array([-1.5, -1.5, 1.5, 1.5])
    harm += _BESIDE_OTHER * around.other.within(square)
    near = np.tile(points, 2) + 12.0 * sheet.style.scale * np.array([-1.0, -1.0, 1.0, 1.0])
    harm += _ON_CONTACT * (sheet.busy.within(near) > 0.0)
    for start, end in sheet.lines:
        along = np.clip((points - start) @ (end - start) / max(float((end - start) @ (end - start)), 1.0), 0.0, 1.0)
        away_from_line = lengths(points - start - along[:, None] * (end - start))
        harm += _ON_CONTACT * (away_from_line < 12.0 * sheet.style.scale)
    harm -= _TOWARD * offset @ away / half_view
    harm += _ANEW * (chosen != before) * (before >= 0)
    best = np.argsort(harm, kind="stable")[:_TRIED]
    return chosen[best], harm[best]


def _samples_of(inspection: Inspection) -> tuple[FloatArray, FloatArray]:
    """Return points of the surfaces of A and B."""
    if inspection not in _samples:
        shapes, middle = (inspection.shape_a, inspection.shape_b), origin(inspection)
        near = _NEAR * min(_extent(shape) for shape in shapes)
        _samples[inspection] = (surface_samples(shapes[0], middle, near), surface_samples(shapes[1], middle, near))
    return _samples[inspection]


def _extent(shape: Solid) -> float:
    """Return the diagonal of a shape's bounding box."""
    points = shape.points if isinstance(shape, Mesh) else stand_in(shape).vertices
    return float(np.linalg.norm(np.ptp(points, axis=0)))
