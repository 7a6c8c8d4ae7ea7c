# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows of a result in the world, as layers of glyphs: no Blender, no GPU.

What depends on the view, labels above all, is in `overlay_labels`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from ...core.meshes.mesh import Mesh
from ...core.result import Contact, Relation
from ...core.types import FloatArray
from ..data.look import Color, Look, relation_color
from ..geometry.shape_outline import fan
from ..pair.pair_contact import curves, outlines, vector_ends
from .glyphs import DIAMOND, DISC, SQUARE, GlyphArray, arrow, concatenate, fills, marks, shape_edges, strokes

if TYPE_CHECKING:
    from ..measure.pair_measures import PairMeasures
    from ..pair.inspection import Inspection


@dataclass(frozen=True)
class LayerSizes:
    """Sizes of the layers, in line widths and point sizes unless said otherwise."""

    outline: float = 0.85
    vector: float = 1.6
    border: float = 1.2
    segment: float = 2.4
    curve: float = 1.6
    tie: float = 0.8
    dash_period: float = 12.0
    """Pixels at interface scale 1."""
    point_region: float = 1.35
    corner: float = 0.8
    center: float = 0.9
    gap_end: float = 0.8
    witness_a: float = 1.2
    witness_b: float = 1.1
    tie_opacity: float = 0.55
    """Relative to the vector's."""


SIZES = LayerSizes()
CORNERS_EXTENT = 16.0
"""Pixels at interface scale 1: the corners of a smaller area would be a blot."""
MOST_CORNERS = 32
"""Corners of the contact area that are marked; what has more is round."""
MOST_SIDES = 256
"""Sides of a contact area among which corners are looked for."""
STRAIGHT = 1.0 - 1e-6
"""Cosine between two sides above which no corner is between them."""


@dataclass(frozen=True)
class Style:
    """How and how much to draw."""

    look: Look
    scale: float = 1.0
    """Interface scale: every size in pixels is multiplied by it."""
    show_hulls: bool = True
    show_overlap: bool = True
    show_region: bool = True
    show_points: bool = True
    show_witness: bool = False
    show_vector: bool = True
    show_labels: bool = True
    show_ties: bool = False
    show_deepest: bool = True


@dataclass(frozen=True, eq=False)
class Showing:
    """How what is shown relates to the scene as it is now."""

    is_stale: bool = False
    """The result may no longer hold, and nothing is on its way: all is faded."""
    is_pending: bool = False
    """The objects have changed and their result is on its way: only the outlines are of now."""
    moved: tuple[FloatArray, FloatArray] | None = None
    """How A and B have moved since they were read (4, 4); None: they have not."""

    def key(self) -> Hashable:
        """Return what is equal for all that show the same."""
        return self.is_stale, self.is_pending, self.moved and tuple(matrix.tobytes() for matrix in self.moved)


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
    only_hidden: bool = False
    """Whether only what lies behind geometry is drawn."""
    is_culled: bool = False
    """Whether of what lies behind geometry only fills that face the viewer are drawn."""
    side: int | None = None
    """0 or 1: it is of A or B, and moves with it; None: it is of their contact."""
    least_zoom: float = 0.0
    """Pixels per Blender unit from which on it is drawn."""
    is_through: bool = False
    """Whether it is drawn once, whatever is in front of it."""


NOW = Showing()
"""As it is now."""


def origin(inspection: Inspection) -> FloatArray:
    """Return (3,) the contact centre. Glyphs are relative to it, so that float32 does far from the world's origin."""
    return inspection.contact.center


def arrow_ends(inspection: Inspection, style: Style, measures: PairMeasures | None) -> tuple[FloatArray, FloatArray]:
    """Return the tail and the tip (3,) of the arrow, which starts in the overlap where that is shown, or the ends on A
    and on B of the line across a gap."""
    tail, tip = vector_ends(inspection.contact)
    step = measures.start - tail if has_body(style, measures) else 0.0
    return tail + step, tip + step


def has_body(style: Style, measures: PairMeasures | None) -> TypeGuard[PairMeasures]:
    """Return whether the body of an overlap is shown."""
    return style.show_overlap and measures is not None and measures.body is not None


@dataclass(frozen=True)
class _Drawn:
    """A result and a style, as the layers need them; points relative to the contact centre."""

    inspection: Inspection
    style: Style
    measures: PairMeasures | None

    @property
    def contact(self) -> Contact:
        return self.inspection.contact

    @property
    def look(self) -> Look:
        return self.style.look

    @property
    def has_body(self) -> bool:
        return has_body(self.style, self.measures)

    @property
    def color(self) -> Color:
        """The opaque colour of the relation."""
        return relation_color(self.contact.relation, self.look)

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
        """(3,) the ends of the arrow or of the line across the gap."""
        start, end = arrow_ends(self.inspection, self.style, self.measures)
        return start - self.contact.center, end - self.contact.center

    def border(self, points: FloatArray, width: float, is_closed: bool) -> GlyphArray:
        """Return a polygon (n, 3), a curve or a segment as lines, and a single point as a diamond."""
        if len(points) == 1:
            return marks(points, DIAMOND, self.color, SIZES.point_region * self.point)
        starts, ends = (points, np.roll(points, -1, axis=0)) if is_closed else (points[:-1], points[1:])
        return strokes(starts, ends, self.color, width * self.line)


def _region(drawn: _Drawn) -> Iterator[Layer]:
    """The area in which they meet; one across which they face each other has its border alone."""
    if drawn.contact.relation is Relation.WITHIN_CLEARANCE or drawn.has_body:
        return
    color = (*drawn.color[:3], drawn.look.color_region[3])
    yield Layer("region", concatenate([fills(fan(p), color) for p in drawn.patches if len(p) >= 3]), 0.8, 0.0)


def _outline(drawn: _Drawn) -> Iterator[Layer]:
    """The outlines of A and B: of a shape that is the mesh itself only what lies behind other geometry."""
    # B is dashed, A is not: the two differ without the colours too.
    pair, look, dash = drawn.inspection, drawn.look, SIZES.dash_period * drawn.style.scale
    sides = (
        (pair.shape_a, pair.proxy_a, Relation.A_INSIDE_B, look.color_a, 0.0),
        (pair.shape_b, pair.proxy_b, Relation.B_INSIDE_A, look.color_b, dash),
    )
    for side, (shape, proxy, is_inside, color, period) in enumerate(sides):
        is_mesh = proxy.is_the_mesh(pair.resolution)
        if is_mesh and isinstance(shape, Mesh) and pair.contact.relation is not is_inside:
            continue  # it is seen beside the other, and would be outlined behind itself
        edges = shape_edges(shape, drawn.contact.center, color, SIZES.outline * drawn.line, period, not is_mesh)
        yield Layer(f"outline {'ab'[side]}", edges, 0.4, 0.6 * drawn.halo, only_hidden=is_mesh, side=side)


def _border(drawn: _Drawn) -> Iterator[Layer]:
    if drawn.has_body:
        return
    contact, borders = drawn.contact, []
    for region in contact.regions:
        if region.area > 0.0:  # without the seams of its patches
            starts, ends = (region.outline - contact.center).transpose(1, 0, 2)
            borders.append(strokes(starts, ends, drawn.color, SIZES.border * drawn.line))
    for p in outlines(contact, with_areas=False):
        width = SIZES.border if len(p) >= 3 else SIZES.segment
        borders.append(drawn.border(p - contact.center, width, is_closed=len(p) >= 3))
    yield Layer("region border", concatenate(borders), 0.8, drawn.halo, hidden_halo=True)
    lines = [drawn.border(curve, SIZES.curve, is_closed=False) for curve in drawn.curves]
    yield Layer("curves", concatenate(lines), 0.5, drawn.halo)


def _ties(drawn: _Drawn) -> Iterator[Layer]:
    contact, (start, _), color = drawn.contact, drawn.vector, drawn.look.color_vector
    faint = (*color[:3], SIZES.tie_opacity * color[3])
    if has_vector(contact) and contact.signed_distance < 0.0:
        ends = [start + contact.depth * tie for tie in contact.ties[1:]]
        yield Layer("ties", concatenate([arrow(start, end, faint, SIZES.tie * drawn.line) for end in ends]), 0.6, 0.0)


def has_vector(contact: Contact) -> bool:
    """Return whether there is a depth or a gap: an arrow as long as the band of touching says nothing."""
    return contact.has_depth and contact.signed_distance != 0.0 and contact.relation is not Relation.TOUCHING


def _vector(drawn: _Drawn) -> Iterator[Layer]:
    start, end = drawn.vector
    width = SIZES.vector * drawn.line
    if not has_vector(drawn.contact):
        return
    if drawn.contact.signed_distance < 0.0:
        vector = arrow(start, end, drawn.look.color_vector, width)
        yield Layer("vector", vector, 0.9, drawn.halo, hidden_halo=True)
    else:
        ends = marks(np.array([start, end]), DISC, drawn.look.color_gap, SIZES.gap_end * drawn.point)
        gap = strokes(start, end, drawn.look.color_gap, width)
        yield Layer("gap", concatenate([gap, ends]), 0.9, drawn.halo, hidden_halo=True)


def _witness(drawn: _Drawn) -> Iterator[Layer]:
    contact, look = drawn.contact, drawn.look
    disc = marks(contact.point_on_a - contact.center, DISC, look.color_a, SIZES.witness_a * drawn.point)
    square = marks(contact.point_on_b - contact.center, SQUARE, look.color_b, SIZES.witness_b * drawn.point)
    yield Layer("witness", concatenate([disc, square]), 0.85, 1.5 * drawn.halo, hidden_halo=True)


def _points(drawn: _Drawn) -> Iterator[Layer]:
    color = drawn.look.color_point
    if not (drawn.patches or drawn.curves):
        return
    if not drawn.has_body:  # without the area its corners say nothing
        corners = region_corners(drawn.contact) - drawn.contact.center
        diamonds = marks(corners, DIAMOND, color, SIZES.corner * drawn.point)
        extent = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) > 1 else np.inf
        zoom = CORNERS_EXTENT * drawn.style.scale / extent if extent > 0.0 else np.inf
        yield Layer("corners", diamonds, 0.85, drawn.halo, hidden_halo=True, least_zoom=zoom)
    elif drawn.vector[0].any():  # outside of the overlap, as between the legs of a chair, it would be a dot in the air
        return
    center = marks(np.zeros(3), DISC, color, SIZES.center * drawn.point)
    yield Layer("center", center, 0.85, drawn.halo, hidden_halo=True)


_LAYERS: tuple[tuple[str, Callable[[_Drawn], Iterator[Layer]]], ...] = (
    ("show_region", _region),
    ("show_hulls", _outline),
    ("show_region", _border),
    ("show_ties", _ties),
    ("show_vector", _vector),
    ("show_witness", _witness),
    ("show_points", _points),
)
"""In the order in which they are drawn, each with its toggle."""


def layers(inspection: Inspection, style: Style, measures: PairMeasures | None = None) -> list[Layer]:
    """Return what stays in the world, relative to `origin(inspection)`, in the order in which it is drawn.

    measures: those of the inspection: where the body of the overlap is drawn, it stands for the contact area.

    The vector and the region are always inside the shapes, so they are nearly as strong behind geometry as in front;
    the far edges of an outline only show where it continues.
    """
    drawn = _Drawn(inspection, style, measures)
    found = [layer for toggle, build in _LAYERS if getattr(style, toggle) for layer in build(drawn)]
    return [layer for layer in found if len(layer.glyphs)]


def region_corners(contact: Contact) -> FloatArray:
    """Return the corners (n, 3) of the contact regions; none of what is round, as arcs of one circle are."""
    region = contact.region
    if region is None:
        areas = [_turns(region.outline) for region in contact.regions if region.area > 0.0]
        corners = np.concatenate([np.zeros((0, 3)), *areas, *outlines(contact, with_areas=False)])
        return corners if len(corners) <= MOST_CORNERS else corners[:0]
    arcs = {arc.side: arc for arc in region.arcs}
    count = len(region.vertices)
    smooth = [
        k in arcs and (k - 1) % count in arcs and bool((arcs[k].center == arcs[(k - 1) % count].center).all())
        for k in range(count)
    ]
    corners = region.vertices[~np.array(smooth, dtype=np.bool_)]
    return corners if len(corners) <= MOST_CORNERS else corners[:0]


def _turns(sides: FloatArray) -> FloatArray:
    """Return the corners (n, 3) of an outline of sides (m, 2, 3): where two of different directions meet;
    none of what has very many sides."""
    starts, along = sides[:, 0], sides[:, 1] - sides[:, 0]
    if len(sides) > MOST_SIDES:
        return starts[:0]
    along = along / np.linalg.norm(along, axis=1)[:, None]
    before = np.abs(sides[:, 1] - starts[:, None]).max(axis=2).argmin(axis=1)  # the side that ends where this begins
    return starts[(along * along[before]).sum(axis=1) < STRAIGHT]
