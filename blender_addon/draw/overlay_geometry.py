# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows of a result in the world, as layers of glyphs: no Blender, no GPU.

What depends on the view, labels above all, is in `overlay_labels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...core.result import Contact
from ...core.types import FloatArray
from ..check.pair_contact import curves, outlines, vector_ends
from ..data.look import Color, Look
from .glyphs import DIAMOND, DISC, SQUARE, GlyphArray, arrow, concatenate, fan, fills, marks, shape_edges, strokes

if TYPE_CHECKING:
    from ..check.inspection import Inspection


@dataclass(frozen=True)
class Sizes:
    """Sizes of the layers, in line widths and point sizes unless said otherwise."""

    hull: float = 0.85
    vector: float = 1.6
    outline: float = 1.2
    segment: float = 2.4
    tie: float = 0.8
    dash_period: float = 12.0
    """Pixels at interface scale 1."""
    point_region: float = 1.35
    corner: float = 0.8
    center: float = 0.9
    witness_a: float = 1.2
    witness_b: float = 1.1
    tie_opacity: float = 0.55
    """Relative to the vector's."""


SIZES = Sizes()
_MOST_CORNERS = 64
"""Of a patch of a compound: what has more is round."""


@dataclass(frozen=True)
class Style:
    """How and how much to draw."""

    look: Look
    scale: float = 1.0
    """Interface scale: every size in pixels is multiplied by it."""
    show_hulls: bool = True
    show_region: bool = True
    show_points: bool = True
    show_witness: bool = False
    show_vector: bool = True
    show_labels: bool = True
    show_ties: bool = True


@dataclass(frozen=True, eq=False)
class Layer:
    """Glyphs drawn together, in the order of the list."""

    name: str
    glyphs: GlyphArray
    hidden: float
    """Opacity of what lies behind geometry, 0 to 1; in front it is 1."""
    halo: float
    """Width of the dark rim in pixels; 0 draws none."""
    hidden_halo: bool = False
    """Whether the rim is drawn behind geometry too."""


def origin(inspection: Inspection) -> FloatArray:
    """Return (3,) the contact centre. Glyphs are relative to it, so that float32 does far from the world's origin."""
    return inspection.contact.center


@dataclass(frozen=True)
class _Drawn:
    """A result and a style, as the layers need them; points relative to the contact centre."""

    inspection: Inspection
    style: Style

    @property
    def contact(self) -> Contact:
        return self.inspection.contact

    @property
    def look(self) -> Look:
        return self.style.look

    @property
    def line(self) -> float:
        """Pixels of a line."""
        return self.look.line_width * self.style.scale

    @property
    def point(self) -> float:
        """Pixels of a point."""
        return self.look.point_size * self.style.scale

    @property
    def halo(self) -> float:
        return max(1.0, self.style.scale)

    @cached_property
    def patches(self) -> list[FloatArray]:
        return [outline - self.contact.center for outline in outlines(self.contact)]

    @cached_property
    def curves(self) -> list[FloatArray]:
        return [curve - self.contact.center for curve in curves(self.contact)]

    @cached_property
    def vector(self) -> tuple[FloatArray, FloatArray]:
        """(3,) its ends at B and at A."""
        end_b, end_a = vector_ends(self.contact)
        return end_b - self.contact.center, end_a - self.contact.center

    def outline(self, points: FloatArray, width: float, is_closed: bool) -> GlyphArray:
        """Return a polygon (n, 3), a curve or a segment as lines, and a single point as a diamond."""
        color: Color = (*self.look.color_region[:3], 1.0)
        if len(points) == 1:
            return marks(points, DIAMOND, color, SIZES.point_region * self.point)
        starts, ends = (points, np.roll(points, -1, axis=0)) if is_closed else (points[:-1], points[1:])
        return strokes(starts, ends, color, width * self.line)


def _region(drawn: _Drawn) -> Iterator[Layer]:
    color = drawn.look.color_region
    yield Layer("region", concatenate([fills(fan(p), color) for p in drawn.patches if len(p) >= 3]), 0.75, 0.0)


def _hulls(drawn: _Drawn) -> Iterator[Layer]:
    # B is dashed, A is not: the two differ without the colours too.
    pair, look, dash = drawn.inspection, drawn.look, SIZES.dash_period * drawn.style.scale
    sides = (("hull a", pair.shape_a, look.color_a, 0.0), ("hull b", pair.shape_b, look.color_b, dash))
    for name, shape, color, period in sides:
        edges = shape_edges(shape, drawn.contact.center, color, SIZES.hull * drawn.line, period)
        yield Layer(name, edges, 0.4, 0.6 * drawn.halo)


def _outlines(drawn: _Drawn) -> Iterator[Layer]:
    patches = [
        drawn.outline(p, SIZES.outline if len(p) >= 3 else SIZES.segment, is_closed=len(p) >= 3) for p in drawn.patches
    ]
    yield Layer("region outline", concatenate(patches), 0.8, drawn.halo, hidden_halo=True)
    lines = [drawn.outline(curve, SIZES.segment, is_closed=False) for curve in drawn.curves]
    yield Layer("curves", concatenate(lines), 0.8, drawn.halo, hidden_halo=True)


def _ties(drawn: _Drawn) -> Iterator[Layer]:
    contact, (start, _), color = drawn.contact, drawn.vector, drawn.look.color_vector
    faint = (*color[:3], SIZES.tie_opacity * color[3])
    if contact.signed_distance < 0.0:
        ends = [start + contact.depth * tie for tie in contact.ties[1:]]
        yield Layer("ties", concatenate([arrow(start, end, faint, SIZES.tie * drawn.line) for end in ends]), 0.6, 0.0)


def _vector(drawn: _Drawn) -> Iterator[Layer]:
    end_b, end_a = drawn.vector
    width = SIZES.vector * drawn.line
    if drawn.contact.signed_distance < 0.0:
        vector = arrow(end_b, end_a, drawn.look.color_vector, width)
        yield Layer("vector", vector, 0.9, drawn.halo, hidden_halo=True)
    if drawn.contact.signed_distance > 0.0:
        gap = strokes(end_a, end_b, drawn.look.color_gap, width)
        yield Layer("gap", gap, 0.9, drawn.halo, hidden_halo=True)


def _witness(drawn: _Drawn) -> Iterator[Layer]:
    contact, look = drawn.contact, drawn.look
    disc = marks(contact.point_on_a - contact.center, DISC, look.color_a, SIZES.witness_a * drawn.point)
    square = marks(contact.point_on_b - contact.center, SQUARE, look.color_b, SIZES.witness_b * drawn.point)
    yield Layer("witness", concatenate([disc, square]), 0.85, 1.5 * drawn.halo, hidden_halo=True)


def _points(drawn: _Drawn) -> Iterator[Layer]:
    if drawn.patches or drawn.curves:
        color, corners = drawn.look.color_point, region_corners(drawn.contact) - drawn.contact.center
        diamonds = marks(corners, DIAMOND, color, SIZES.corner * drawn.point)
        center = marks(np.zeros(3), DISC, color, SIZES.center * drawn.point)
        yield Layer("points", concatenate([diamonds, center]), 0.85, drawn.halo, hidden_halo=True)


_LAYERS: tuple[tuple[str, Callable[[_Drawn], Iterator[Layer]]], ...] = (
    ("show_region", _region),
    ("show_hulls", _hulls),
    ("show_region", _outlines),
    ("show_ties", _ties),
    ("show_vector", _vector),
    ("show_witness", _witness),
    ("show_points", _points),
)
"""In the order in which they are drawn, each with its toggle."""


def layers(inspection: Inspection, style: Style) -> list[Layer]:
    """Return what stays in the world, relative to `origin(inspection)`, in the order in which it is drawn.

    The vector and the region are always inside the shapes, so they are nearly as strong behind geometry as in front;
    the far edges of a hull only show where it continues.
    """
    drawn = _Drawn(inspection, style)
    found = [layer for toggle, build in _LAYERS if getattr(style, toggle) for layer in build(drawn)]
    return [layer for layer in found if len(layer.glyphs)]


def region_corners(contact: Contact) -> FloatArray:
    """(n, 3) the corners of the contact regions; ends of arcs of one circle are none."""
    region = contact.region
    if region is None:
        return np.concatenate([np.zeros((0, 3)), *(o for o in outlines(contact) if len(o) <= _MOST_CORNERS)])
    arcs = {arc.side: arc for arc in region.arcs}
    count = len(region.vertices)
    smooth = [
        k in arcs and (k - 1) % count in arcs and bool((arcs[k].center == arcs[(k - 1) % count].center).all())
        for k in range(count)
    ]
    return region.vertices[~np.array(smooth, dtype=np.bool_)]
