# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows, as plain arrays: no Blender, no GPU.

`layers` turns a result into glyphs that stay where they are in the world and do not depend on the view, so that they
can be kept on the GPU. `annotate` makes what depends on the view: labels, their plates and leaders, and the mark round
an arrow too short to see. A glyph is a few triangles of the vertex format below; the shader gives it its size in
pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.narrow_phase.contact import Contact
from ...core.narrow_phase.relation import Relation
from ...core.shapes.polytope import Polytope
from ...core.types import BoolArray, FloatArray
from ..check.pair_contact import Found, curves, outlines, vector_ends
from .shape_outline import bent_edges, stand_in, wires

GlyphArray = NDArray[np.void]
Color = tuple[float, float, float, float]

# What a glyph is; the shader has the same numbers.
FILL, STROKE, DISC, SQUARE, DIAMOND, RING, HEAD = range(7)

GLYPH = np.dtype(
    [
        ("start", np.float32, 3),  # where the glyph begins (a mark: where it is), world frame less the origin
        ("end", np.float32, 3),  # where a stroke or an arrowhead ends
        ("corner", np.float32, 3),  # 0 at start or 1 at end; which way to widen along and across, -1 or 1
        ("form", np.float32, 4),  # FILL .. HEAD; half width or radius; trim or head length; dash period: all pixels
        ("color", np.float32, 4),
        ("spread", np.float32),  # above 0: times a stroke's length in pixels it is its opacity, at most 1
    ]
)

# Sizes in pixels at interface scale 1, as factors of the person's line width and point size where they follow those.
HULL_WIDTH = 0.85
VECTOR_WIDTH = 1.6
OUTLINE_WIDTH = 1.2
SEGMENT_WIDTH = 2.4
TIE_WIDTH = 0.8
HEAD_LENGTH = 7.5
HEAD_HALF_WIDTH = 2.7
DASH_PERIOD = 12.0
FREE_EDGE = 14.0
"""In line widths: a smooth edge of a hull is as strong as a sharp one when its facets are that wide on screen."""
FAINTEST = 0.07
"""Opacity below which no edge falls: many of them on few pixels still make an outline."""
SHARP = float(np.cos(np.radians(30.0)))
"""Cosine of the angle between two facets from which on their edge is always drawn in full."""
POINT_REGION = 1.35
CENTER = 0.9
SHORT_ARROW = 26.0
"""Pixels: a vector shorter than this on screen gets a ring round it, so that it is found."""
RING_RADIUS = 15.0
NEAR_RING = 5.0
CHEVRON_LENGTH = 15.0
LABEL_DISTANCE = 20.0
NAME_DISTANCE = 11.0
PLATE_PADDING = 6.0
CAPITALS = 0.72
"""Height of capital letters, as a part of the text size."""
LOOKING_ALONG = 2e-3
"""The normal is seen from its end when ten pixels along it become less than this part of the view."""
PLATE_MARGIN = 6.0
"""Pixels kept free between a label and the edge of the view."""

PLATE_COLOR: Color = (0.07, 0.07, 0.08, 1.0)
TEXT_COLOR: Color = (1.0, 1.0, 1.0, 1.0)
HALO_COLOR: Color = (0.05, 0.05, 0.06, 0.75)
"""Round every line and mark: bright colours need it on a light background and dark ones on a dark object."""


class Colors(Protocol):
    """Colours (display space) and sizes (pixels at interface scale 1): the preferences have these."""

    @property
    def color_a(self) -> Color: ...
    @property
    def color_b(self) -> Color: ...
    @property
    def color_region(self) -> Color: ...
    @property
    def color_vector(self) -> Color: ...
    @property
    def color_gap(self) -> Color: ...
    @property
    def color_point(self) -> Color: ...
    @property
    def line_width(self) -> float: ...
    @property
    def point_size(self) -> float: ...
    @property
    def label_size(self) -> float: ...


class Subject(Protocol):
    """What is read of an inspection."""

    @property
    def contact(self) -> Contact | Found: ...
    @property
    def shape_a(self) -> Solid: ...
    @property
    def shape_b(self) -> Solid: ...
    @property
    def name_a(self) -> str: ...
    @property
    def name_b(self) -> str: ...


@dataclass(frozen=True)
class Style:
    """How and how much to draw."""

    look: Colors
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
    boxes: tuple[tuple[float, float, float, float], ...]
    """Left, bottom, right, top of each text's plate."""


QUAD = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)], dtype=np.float32)


def _quads(starts: FloatArray, ends: FloatArray, form: tuple[float, float, float, float], color: Color) -> GlyphArray:
    """Six vertices per glyph that the shader widens."""
    glyphs = np.zeros((len(starts), 6), dtype=GLYPH)
    glyphs["start"] = starts[:, None, :]
    glyphs["end"] = ends[:, None, :]
    glyphs["corner"][..., 1:] = QUAD
    if form[0] == STROKE:
        glyphs["corner"][..., 0] = QUAD[:, 0] > 0.0
    elif form[0] == HEAD:
        glyphs["corner"][..., 0] = 1.0
    glyphs["form"] = form
    glyphs["color"] = color
    return glyphs.reshape(-1)


def strokes(
    starts: FloatArray, ends: FloatArray, color: Color, width: float, trim: float = 0.0, dash: float = 0.0
) -> GlyphArray:
    """Lines `width` pixels wide from starts to ends (n, 3), `trim` pixels short of the end, round ends."""
    return _quads(np.atleast_2d(starts), np.atleast_2d(ends), (STROKE, 0.5 * width, trim, dash), color)


TINTS = (0.0, 0.5, -0.35, 0.25, -0.2)
"""Share of white, or of black where negative, in the colours of the pieces of a compound, in turn."""


def tint(color: Color, number: int) -> Color:
    """The colour of piece `number` of a compound."""
    share = TINTS[number % len(TINTS)]
    r, g, b = ((1.0 - abs(share)) * part + max(share, 0.0) for part in color[:3])
    return (r, g, b, color[3])


def shape_edges(shape: Solid, base: FloatArray, color: Color, width: float, dash: float) -> GlyphArray:
    """The edges of a shape; of a curved one some rings, and lines along its side; pieces in tints of the colour."""
    if isinstance(shape, Polytope):
        return hull_edges(shape, base, color, width, dash)
    parts = []
    if isinstance(shape, Compound):
        for k, piece in enumerate(shape.pieces):
            parts.append(shape_edges(piece, base, tint(color, k), width, dash))
        return np.concatenate(parts)
    if isinstance(shape, Mesh):
        edges, wide = bent_edges(shape)
        edges = edges - base
        glyphs = strokes(edges[:, 0], edges[:, 1], color, width, dash=dash)
        glyphs["spread"] = np.repeat(np.where(wide > 0.0, np.maximum(wide, 1e-9) / (FREE_EDGE * width), 0.0), len(QUAD))
        return glyphs
    for line in wires(shape):
        starts, ends = line[:-1] - base, line[1:] - base
        if len(starts) > 1 and dash > 0.0:
            # The pieces of a ring are shorter than a dash: every third of them is left out instead.
            drawn = np.arange(len(starts)) % 3 != 2
            starts, ends = starts[drawn], ends[drawn]
        parts.append(strokes(starts, ends, color, width, dash=dash))
    return np.concatenate(parts)


def hull_edges(hull: Polytope, base: FloatArray, color: Color, width: float, dash: float) -> GlyphArray:
    """The edges of a hull, those between nearly coplanar facets fading where they lie close to each other on screen.

    Without that a finely meshed sphere is one blot that hides the contact.
    """
    ends = hull.vertices[hull.edges] - base
    glyphs = strokes(ends[:, 0], ends[:, 1], color, width, dash=dash)
    if len(hull.edge_facets) != len(hull.edges):  # a segment
        return glyphs
    first, second = hull.edge_facets.T
    way = ends[:, 1] - ends[:, 0]
    # The area of a facet is half the sum of the cross products along its outline.
    twice = np.zeros_like(hull.normals)
    around = np.cross(ends[:, 0] - ends[:, 0].mean(axis=0), way)
    np.add.at(twice, first, around)
    np.add.at(twice, second, -around)
    areas = 0.5 * np.abs(np.einsum("ij,ij->i", twice, hull.normals))
    smooth = np.einsum("ij,ij->i", hull.normals[first], hull.normals[second]) > SHARP
    # How wide the facets are beside the edge, as a part of its length: on screen that stays about the same.
    wide = np.minimum(areas[first], areas[second]) / np.maximum(np.einsum("ij,ij->i", way, way), np.finfo(float).tiny)
    spread = np.where(smooth, np.maximum(wide, 1e-9) / (FREE_EDGE * width), 0.0)
    glyphs["spread"] = np.repeat(spread, len(QUAD))
    return glyphs


def marks(points: FloatArray, shape: int, color: Color, size: float, line: float = 0.0) -> GlyphArray:
    """Points (n, 3) as discs, squares, diamonds or rings of `size` pixels across; `line` is the ring's half width."""
    points = np.atleast_2d(points)
    return _quads(points, points, (shape, 0.5 * size, line, 0.0), color)


def arrow(tail: FloatArray, tip: FloatArray, color: Color, width: float) -> GlyphArray:
    """An arrow exactly from tail to tip (3,). The head shrinks with an arrow too short for it."""
    length = HEAD_LENGTH * width
    shaft = strokes(tail, tip, color, width, trim=0.8 * length)
    head = _quads(np.atleast_2d(tail), np.atleast_2d(tip), (HEAD, HEAD_HALF_WIDTH * width, length, 0.0), color)
    return np.concatenate([shaft, head])


def fills(polygon: FloatArray, color: Color) -> GlyphArray:
    """A convex polygon (n, 3) filled, as a fan of triangles."""
    count = len(polygon) - 2
    glyphs = np.zeros((count, 3), dtype=GLYPH)
    glyphs["start"][:, 0] = polygon[0]
    glyphs["start"][:, 1] = polygon[1:-1]
    glyphs["start"][:, 2] = polygon[2:]
    glyphs["end"] = glyphs["start"]
    glyphs["form"][..., 0] = FILL
    glyphs["color"] = color
    return glyphs.reshape(-1)


def origin(inspection: Subject) -> FloatArray:
    """(3,) the contact centre. Glyphs are relative to it, so that float32 does far from the world's."""
    return inspection.contact.center


def layers(inspection: Subject, style: Style) -> list[Layer]:
    """What stays in the world: region, hulls, ties, vector and points, relative to `origin(inspection)`.

    In the order in which they are drawn. The vector and the region are always inside the shapes, so they are nearly as
    strong behind geometry as in front; the far edges of a hull only tell where it goes on.
    """
    contact, look = inspection.contact, style.look
    base = origin(inspection)
    on_a, on_b = contact.point_on_a - base, contact.point_on_b - base
    vector_b, vector_a = (end - base for end in vector_ends(contact))
    patches = [outline - base for outline in outlines(contact)]
    corners = region_corners(contact) - base
    line, point = look.line_width * style.scale, look.point_size * style.scale
    halo = max(1.0, style.scale)
    found: list[Layer] = []

    if style.show_region and any(len(patch) >= 3 for patch in patches):
        filled = [fills(patch, look.color_region) for patch in patches if len(patch) >= 3]
        found.append(Layer("region", np.concatenate(filled), 0.75, 0.0))
    if style.show_hulls:
        # B is dashed, A is not: the two are told apart without the colours too.
        for name, shape, color, dash in (
            ("hull a", inspection.shape_a, look.color_a, 0.0),
            ("hull b", inspection.shape_b, look.color_b, DASH_PERIOD * style.scale),
        ):
            edges = shape_edges(shape, base, color, HULL_WIDTH * line, dash)
            found.append(Layer(name, edges, 0.4, 0.6 * halo))
    if style.show_region and patches:
        solid = (*look.color_region[:3], 1.0)
        around = []
        for patch in patches:
            if len(patch) >= 3:
                around.append(strokes(patch, np.roll(patch, -1, axis=0), solid, OUTLINE_WIDTH * line))
            elif len(patch) == 2:
                around.append(strokes(patch[:1], patch[1:], solid, SEGMENT_WIDTH * line))
            else:
                around.append(marks(patch, DIAMOND, solid, POINT_REGION * point))
        found.append(Layer("region outline", np.concatenate(around), 0.8, halo, hidden_halo=True))
    if style.show_region and curves(contact):
        solid = (*look.color_region[:3], 1.0)
        lines = [
            strokes(curve[:-1] - base, curve[1:] - base, solid, SEGMENT_WIDTH * line)
            if len(curve) > 1
            else marks(curve - base, DIAMOND, solid, POINT_REGION * point)
            for curve in curves(contact)
        ]
        found.append(Layer("curves", np.concatenate(lines), 0.8, halo, hidden_halo=True))
    if style.show_ties and contact.signed_distance < 0.0 and len(contact.ties) > 1:
        faint = (*look.color_vector[:3], 0.55 * look.color_vector[3])
        tied = [arrow(vector_b, vector_b + contact.depth * tie, faint, TIE_WIDTH * line) for tie in contact.ties[1:]]
        found.append(Layer("ties", np.concatenate(tied), 0.6, 0.0))
    if style.show_vector and contact.signed_distance < 0.0:
        vector = arrow(vector_b, vector_a, look.color_vector, VECTOR_WIDTH * line)
        found.append(Layer("vector", vector, 0.9, halo, hidden_halo=True))
    if style.show_vector and contact.signed_distance > 0.0:
        gap = strokes(vector_a, vector_b, look.color_gap, VECTOR_WIDTH * line)
        found.append(Layer("gap", gap, 0.9, halo, hidden_halo=True))
    if style.show_witness:
        disc, square = marks(on_a, DISC, look.color_a, 1.2 * point), marks(on_b, SQUARE, look.color_b, 1.1 * point)
        found.append(Layer("witness", np.concatenate([disc, square]), 0.85, 1.5 * halo, hidden_halo=True))
    if style.show_points and (patches or curves(contact)):
        diamonds = marks(corners, DIAMOND, look.color_point, 0.8 * point)
        center = marks(np.zeros(3), DISC, look.color_point, CENTER * point)
        found.append(Layer("points", np.concatenate([diamonds, center]), 0.85, halo, hidden_halo=True))
    return [layer for layer in found if len(layer.glyphs)]


def region_corners(contact: Contact | Found) -> FloatArray:
    """(n, 3) the corners of the contact regions; ends of arcs of one circle are none."""
    if isinstance(contact, Found):
        found = [outline for outline in contact.outlines if len(outline) <= MOST_CORNERS]
        return np.concatenate([np.zeros((0, 3)), *found])
    region = contact.region
    if region is None:
        return np.zeros((0, 3))
    arcs = {arc.side: arc for arc in region.arcs}
    count = len(region.vertices)
    smooth = [
        k in arcs and (k - 1) % count in arcs and bool((arcs[k].center == arcs[(k - 1) % count].center).all())
        for k in range(count)
    ]
    return region.vertices[~np.array(smooth, dtype=np.bool_)]


MOST_AVOIDED = 32
"""Outlines and curves that labels keep clear of."""
MOST_CORNERS = 64
"""Of a patch of a compound: what has more is round."""


# --- what depends on the view ---------------------------------------------------------------------------------------


def project(points: FloatArray, matrix: FloatArray, size: tuple[int, int]) -> tuple[FloatArray, BoolArray]:
    """Pixels (n, 2) of world points (n, 3), and which of them are in front of the viewer."""
    points = np.atleast_2d(points)
    clip = points @ matrix[:, :3].T + matrix[:, 3]
    seen = clip[:, 3] > 1e-9 * np.abs(clip).max(initial=1.0)
    w = np.where(seen, clip[:, 3], 1.0)
    return (0.5 * clip[:, :2] / w[:, None] + 0.5) * np.asarray(size, dtype=np.float64), seen


Box = tuple[float, float, float, float]


def _visible_part(p: FloatArray, q: FloatArray, view: Box) -> tuple[FloatArray, FloatArray] | None:
    """The part of the segment p to q inside the rectangle, or None. Liang and Barsky's clipping."""
    low, high = 0.0, 1.0
    way = q - p
    for axis in (0, 1):
        for step, room in ((-way[axis], p[axis] - view[axis]), (way[axis], view[axis + 2] - p[axis])):
            if step == 0.0:
                if room < 0.0:
                    return None
            elif step < 0.0:
                low = max(low, room / step)
            else:
                high = min(high, room / step)
    return None if low > high else (p + low * way, p + high * way)


def _crossed(boxes: FloatArray, starts: FloatArray, ends: FloatArray) -> BoolArray:
    """(c, s) which of the c boxes (left, bottom, right, top) which of the s segments pass through."""
    way = ends - starts
    still = way == 0.0
    step = np.where(still, 1.0, way)
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


def _place(
    anchor: FloatArray,
    extent: tuple[float, float],
    distance: float,
    view: Box,
    lines: FloatArray,
    outline: FloatArray,
    points: FloatArray,
    taken: Sequence[Box],
    toward: FloatArray,
    along: FloatArray | None = None,
) -> Box | None:
    """Where a plate of `extent` goes near `anchor`: inside the view, off the lines, points and other plates.

    lines, outline: (s, 2, 2) segments. `toward` is the preferred direction. Of 24 directions at four distances the
    place of least harm is taken, the first of equals; None when every place is on another plate. Before and behind
    the arrow (`along`) a label's leader would cover it.
    """
    half = 0.5 * np.array(extent)
    rings, turns = (grid.ravel() for grid in np.meshgrid(_RINGS, _TURNS, indexing="ij"))
    ways = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    # It is the plate's edge, not its middle, that is `distance` from the anchor.
    reach = rings * distance + (half / np.maximum(np.abs(ways), 1e-9)).min(axis=1)
    wanted = anchor + reach[:, None] * ways - half
    low = np.array(view[:2])
    corner = np.clip(wanted, low, np.maximum(low, np.array(view[2:]) - extent))
    boxes = np.concatenate([corner, corner + extent], axis=1)
    wide = boxes + 0.3 * distance * np.array([-1.0, -1.0, 1.0, 1.0])

    harm = _FAR * rings - _OTHER_SIDE * ways @ toward + _PUSHED * np.linalg.norm(corner - wanted, axis=1)
    if along is not None:
        harm += _ALONG * np.maximum(np.abs(ways @ along) - 0.6, 0.0)
    harm += _ON_VECTOR * _crossed(wide, lines[:, 0], lines[:, 1]).sum(axis=1)
    harm += _ON_REGION * _crossed(wide, outline[:, 0], outline[:, 1]).sum(axis=1)
    others = np.array(taken).reshape(-1, 4)
    apart = (boxes[:, None, :2] >= others[:, 2:]) | (boxes[:, None, 2:] <= others[:, :2])
    harm[~np.all(np.any(apart, axis=2), axis=1)] = np.inf
    near = points[(np.abs(points - anchor) <= reach.max() + 2.0 * half.max()).all(axis=1)]
    covered = (near >= wide[:, None, :2]).all(axis=2) & (near <= wide[:, None, 2:]).all(axis=2)
    # Ten covered corners are no worse than five: what counts is whether there is free space.
    harm += _ON_POINT * np.minimum(covered.sum(axis=1), 5)
    best = int(np.argmin(np.round(harm, 6)))
    if np.isinf(harm[best]):
        return None
    left, bottom, right, top = boxes[best].tolist()
    return (left, bottom, right, top)


def vector_label(inspection: Subject, length: Callable[[float], str]) -> str:
    """The words at the vector: how deep, how far apart, or that the two touch."""
    contact = inspection.contact
    if contact.relation is Relation.TOUCHING:
        return "touching"
    if contact.intersects and contact.depth == 0.0 and isinstance(contact, Found):
        return str(contact.relation).replace("_", " ")
    if contact.signed_distance < 0.0:
        what = "depth"
        if isinstance(contact, Found) and contact.of_pieces:
            what = "depth of pieces"
        elif isinstance(contact, Found) and contact.reason:
            what = "depth at most"
        return f"{what} {length(contact.depth)}"
    return f"gap {length(contact.signed_distance)}"


class _Sheet:
    """Collects what is drawn in pixels, and what a label must keep clear of."""

    def __init__(self, style: Style, free: Box, measure: Callable[[str, float], tuple[float, float]]) -> None:
        margin = PLATE_MARGIN * style.scale
        self.style = style
        self.free = free
        self.room = (free[0] + margin, free[1] + margin, free[2] - margin, free[3] - margin)
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
        rim: Color,
        anchor: FloatArray,
        distance: float,
        toward: FloatArray,
        along: FloatArray | None = None,
    ) -> Box | None:
        """Write `text` on a plate near `anchor`; None when there is no room. The arguments are those of `_place`."""
        scale = self.style.scale
        size = self.style.look.label_size * scale
        pad = PLATE_PADDING * scale
        width, height = self.measure(text, size)
        # Not less for a word without ascenders, so that plates are alike.
        extent = (width + 3.0 * pad, max(height, CAPITALS * size) + 2.0 * pad)
        lines = np.array(self.lines).reshape(-1, 2, 2)
        box = _place(anchor, extent, distance, self.room, lines, self.outline, self.points, self.boxes, toward, along)
        if box is None:
            return None
        radius, middle = 0.5 * (box[3] - box[1]), 0.5 * (box[1] + box[3])
        left, right = _flat((box[0] + radius, middle)), _flat((box[2] - radius, middle))
        self.plates.append(strokes(left, right, rim, 2.0 * radius))
        self.plates.append(strokes(left, right, PLATE_COLOR, 2.0 * radius - 2.5 * scale))
        self.texts.append(Text(text, round(box[0] + 1.5 * pad), round(middle - 0.5 * CAPITALS * size), size, color))
        self.boxes.append(box)
        return box


def _flat(pixel: Sequence[float] | FloatArray) -> FloatArray:
    return np.array([[pixel[0], pixel[1], 0.0]])


def annotate(
    inspection: Subject,
    style: Style,
    view_matrix: FloatArray,
    projection_matrix: FloatArray,
    size: tuple[int, int],
    measure: Callable[[str, float], tuple[float, float]],
    length: Callable[[float], str],
    clear: Box | None = None,
    stale: bool = False,
) -> Annotations:
    """Labels, their plates and leaders, and the ring round a vector too short to see.

    `measure(text, size)` tells width and height of a text in pixels, `length(x)` writes a length in the scene's units.
    `clear` is the part of the view that nothing covers: left, bottom, right, top in pixels. A `stale` result's label
    says that it may no longer hold.
    """
    free = (0.0, 0.0, float(size[0]), float(size[1])) if clear is None else clear
    sheet = _Sheet(style, free, measure)
    matrix = projection_matrix @ view_matrix
    if style.show_vector:
        # About what ten pixels are, in world units at the contact.
        step = 1e-2 * _half_height(origin(inspection), view_matrix, projection_matrix)
        words = vector_label(inspection, length) + (" (outdated)" if stale else "")
        _annotate_vector(sheet, inspection, matrix, size, step, words)
    if style.show_labels and style.show_hulls:
        _annotate_names(sheet, inspection, matrix, size)
    return Annotations(_joined(sheet.glyphs), _joined(sheet.plates), tuple(sheet.texts), tuple(sheet.boxes))


def _annotate_vector(
    sheet: _Sheet, inspection: Subject, matrix: FloatArray, size: tuple[int, int], step: float, words: str
) -> None:
    """The vector's label, and where the vector is too short to see a ring and which way it points."""
    contact, look, scale = inspection.contact, sheet.style.look, sheet.style.scale
    ends, ahead = project(np.array(vector_ends(contact)), matrix, size)
    seen = _visible_part(ends[0], ends[1], sheet.free) if bool(ahead.all()) else None
    if seen is None:
        return
    sheet.lines.append(seen)
    middle = 0.5 * (seen[0] + seen[1])
    color = look.color_gap if contact.signed_distance > 0.0 else look.color_vector
    line = look.line_width * scale

    # Which way the normal points on screen is known even where the vector itself is less than a pixel.
    probe, _ = project(origin(inspection) + step * np.array([-contact.normal, contact.normal]), matrix, size)
    way = probe[1] - probe[0]
    pixels = float(np.linalg.norm(way))
    way = way / pixels if pixels > 0.0 else np.array([1.0, 0.0])
    clearance = 0.0
    if np.linalg.norm(ends[1] - ends[0]) < SHORT_ARROW * scale:
        clearance = RING_RADIUS * scale
        sheet.glyphs.append(marks(_flat(middle), RING, color, 2.0 * clearance, 0.5 * line))
        if contact.signed_distance <= 0.0 and pixels > LOOKING_ALONG * max(size):
            tail = middle + (clearance + NEAR_RING * scale) * way
            tip = tail + CHEVRON_LENGTH * scale * way
            sheet.glyphs.append(arrow(_flat(tail), _flat(tip), color, 0.8 * line))
            sheet.lines.append((middle, tip))
    if not sheet.style.show_labels:
        return

    around = []
    for outline in (*outlines(contact), *curves(contact))[:MOST_AVOIDED]:
        corners, ahead = project(outline, matrix, size)
        corners = corners[ahead]
        sheet.points = np.concatenate([sheet.points, corners])
        around.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
    sheet.outline = np.concatenate([sheet.outline, *around])
    side = np.array([-way[1], way[0]])
    side = side if side[0] + 0.3 * side[1] >= 0.0 else -side  # to the right, or up, where people read on
    distance = clearance + LABEL_DISTANCE * scale
    box = sheet.label(words, TEXT_COLOR, color, middle, distance, side, way)
    if box is not None:
        reach = np.clip(middle, box[:2], box[2:]) - middle
        far = float(np.linalg.norm(reach))
        if far > distance + 0.5 * LABEL_DISTANCE * scale:  # else it is plain what the label belongs to
            start = middle + (clearance + 0.4 * LABEL_DISTANCE * scale) / far * reach
            sheet.glyphs.append(strokes(_flat(start), _flat(middle + reach), color, 0.6 * line))


def _annotate_names(sheet: _Sheet, inspection: Subject, matrix: FloatArray, size: tuple[int, int]) -> None:
    """Which hull is A and which is B, at the ends that are farthest from each other."""
    look = sheet.style.look
    drawn = []
    for shape in (inspection.shape_a, inspection.shape_b):
        pixels, ahead = project(stand_in(shape).vertices, matrix, size)
        drawn.append(pixels[ahead])
    if any(len(pixels) == 0 for pixels in drawn):
        return
    sheet.points = np.concatenate([sheet.points, *drawn])
    middles = [0.5 * (pixels.min(axis=0) + pixels.max(axis=0)) for pixels in drawn]
    for letter, name, color, mine, other in (
        ("A", inspection.name_a, look.color_a, 0, 1),
        ("B", inspection.name_b, look.color_b, 1, 0),
    ):
        corners = drawn[mine]
        corners = corners[((corners >= sheet.free[:2]) & (corners <= sheet.free[2:])).all(axis=1)]
        if len(corners) == 0:
            continue
        away = middles[mine] - middles[other]
        away = away / max(float(np.linalg.norm(away)), 1.0)
        # Upper corners are a little better: objects stand on other things.
        anchor = corners[int(np.argmax(corners @ (away + np.array([0.0, 0.35]))))]
        sheet.label(f"{letter}  {name}", color, color, anchor, NAME_DISTANCE * sheet.style.scale, away)


def _joined(parts: list[GlyphArray]) -> GlyphArray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=GLYPH)


def _half_height(point: FloatArray, view_matrix: FloatArray, projection_matrix: FloatArray) -> float:
    """Half the height of what is seen at the point's depth, world units."""
    in_view = view_matrix[:3, :3] @ point + view_matrix[:3, 3]
    w = abs(float(projection_matrix[3, :3] @ in_view + projection_matrix[3, 3]))
    return w / float(np.linalg.norm(projection_matrix[1, :3]))
