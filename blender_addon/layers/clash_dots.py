# SPDX-License-Identifier: GPL-3.0-or-later
"""A dot at each clash of a list: how large it is and of which form, as glyphs, and which one is at a pixel; and the
outlines of their objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.types import BoolArray, FloatArray, IntArray
from ..data.look import Look, relation_color
from .glyphs import DISC, HALF, RING, concatenate, marks, strokes
from .overlay_geometry import Layer

LEAST, MOST = 8.0, 25.0
"""Pixels at interface scale 1 across: of what only touches, and of the deepest."""
FEW = 400
"""Dots up to which they are that large; of more than that each is smaller."""
PALE = 0.45
"""Fraction of white in the colour of the least deep."""
RIM = 1.5
"""Pixels at interface scale 1: what is dark around a dot, on dark objects and in light themes."""
RIM_COLOR = (0.05, 0.05, 0.06, 0.85)
FADED = 0.3
"""Opacity of what is not to be done, or not known to be so any more."""
OUTLINE = 0.75
"""Of the outline of an object, in line widths."""
DASH = 9.0
"""Period of its dashes, pixels at interface scale 1."""
HIDDEN = 0.15
"""Opacity of an outline behind other objects."""
EASY = 6.0
"""Pixels at interface scale 1 around its center that belong to a dot, however small it is."""
_DOT_IN_RING = (RING, 0.89, 0.11), (DISC, 0.45, 0.0)
_FORMS = {
    "penetrating": ((DISC, 1.0, 0.0),),
    "coincident": _DOT_IN_RING,
    "a_inside_b": _DOT_IN_RING,
    "b_inside_a": _DOT_IN_RING,
    "touching": ((RING, 0.89, 0.11), (HALF, 1.0, 0.0)),
    "within_clearance": ((RING, 0.82, 0.18),),
}
"""Forms of a dot by its relation, those of the list's icons: each a mark, its radius and half of the width of its line,
both relative to the dot's."""


@dataclass(frozen=True, eq=False)
class ClashDots:
    """Dots from the least to the deepest, which is drawn over the others and gets the click."""

    rows: IntArray
    """(n,) the numbers of the clashes in the list."""
    centers: FloatArray
    """(n, 3) world frame."""
    relations: tuple[str, ...]
    sizes: FloatArray
    """(n,) pixels across at interface scale 1."""
    is_faded: BoolArray
    """(n,) whether a dot is of what is not to be done, or not known to be so any more."""

    @classmethod
    def of(
        cls,
        rows: Sequence[int],
        centers: FloatArray,
        relations: Sequence[str],
        distances: FloatArray,
        is_faded: BoolArray,
    ) -> ClashDots:
        """distances: (n,) signed; the area of a dot grows with the depth."""
        depths = np.where(np.array([word == "touching" for word in relations], dtype=bool), 0.0, -distances)
        deepest = float(depths[~is_faded].max(initial=0.0)) or float(depths.max(initial=0.0)) or 1.0
        crowded = min(1.0, FEW / len(rows)) ** 0.25
        sizes = crowded * np.maximum(LEAST, MOST * np.sqrt(np.clip(depths / deepest, 0.0, 1.0)))
        order = np.lexsort((np.array(rows), depths, ~is_faded))
        words = tuple(relations[k] for k in order.tolist())
        return cls(np.array(rows, dtype=np.intp)[order], centers[order], words, sizes[order], is_faded[order])

    @cached_property
    def origin(self) -> FloatArray:
        """(3,) what glyphs are relative to."""
        return self.centers.mean(axis=0)

    def place_of(self, row: int) -> int | None:
        """Return which dot is that of a clash; None where it has none."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def layer(self, look: Look, scale: float) -> Layer:
        """Return the dots as glyphs, relative to `origin`."""
        points, radii = self.centers - self.origin, 0.5 * scale * self.sizes
        most = 1 + max(map(len, _FORMS.values()))
        glyphs = np.broadcast_to(marks(points, DISC, RIM_COLOR, 0.0).reshape(-1, 1, 6), (len(points), most, 6)).copy()
        glyphs["form"][:, 0, :, 1] = (radii + RIM * scale)[:, None]
        is_drawn = np.zeros(glyphs.shape[:2], dtype=bool)
        is_drawn[:, 0] = True
        words, white = np.array(self.relations), PALE * (1.0 - self.sizes / self.sizes.max())[:, None]
        white[np.isin(words, ("touching", "within_clearance"))] = 0.0
        for word, forms in _FORMS.items():
            of_word, color = np.flatnonzero(words == word), np.array(relation_color(word, look)[:3])
            for k, (mark, radius, line) in enumerate(forms, 1):
                is_drawn[of_word, k] = True
                form = np.zeros((len(of_word), 4))
                form[:, 0], form[:, 1], form[:, 2] = mark, radius * radii[of_word], line * radii[of_word]
                glyphs["form"][of_word, k] = form[:, None]
                glyphs["color"][of_word, k, :, :3] = (white[of_word] + (1.0 - white[of_word]) * color)[:, None]
                glyphs["color"][of_word, k, :, 3] = 1.0
        glyphs["color"][self.is_faded, ..., 3] *= FADED
        return Layer("dots", glyphs[is_drawn].reshape(-1), 1.0, 0.0)

    def at(self, pixel: Sequence[float], pixels: FloatArray, is_ahead: BoolArray, scale: float) -> int | None:
        """Return the number of the clash whose dot is seen at a pixel; None where none is.

        pixels: (n, 2) of the centers; is_ahead: (n,) which of them are in front of the viewer.
        """
        x, y = (pixels - np.asarray(pixel[:2], dtype=np.float64)).T
        reach = scale * np.maximum(0.5 * self.sizes + RIM, EASY)
        hit = np.flatnonzero((x * x + y * y <= reach * reach) & is_ahead)
        return int(self.rows[hit[-1]]) if len(hit) else None


@dataclass(frozen=True, eq=False)
class ClashOutlines:
    """The outlines of objects that clash, each in the color of one of its clashes."""

    outlines: tuple[tuple[FloatArray, FloatArray], ...]
    """Of each its edges (k, 2, 3), world frame, and the normals (k, 2, 3) of the faces beside each."""
    relations: tuple[str, ...]

    @cached_property
    def origin(self) -> FloatArray:
        """(3,) what glyphs are relative to."""
        return np.mean([edges[0, 0] for edges, _ in self.outlines], axis=0)

    def layer(self, look: Look, scale: float) -> Layer:
        """Return the outlines as glyphs, relative to `origin`."""
        parts = []
        for (edges, sides), relation in zip(self.outlines, self.relations, strict=True):
            ends = edges - self.origin
            color, width = relation_color(relation, look), OUTLINE * look.line_width * scale
            # Neither whole nor without a rim: selected objects have such an outline, in nearly the same color.
            glyphs = strokes(ends[:, 0], ends[:, 1], color, width, dash=DASH * scale)
            glyphs["side_a"], glyphs["side_b"] = np.repeat(sides, 6, axis=0).transpose(1, 0, 2)
            parts.append(glyphs)
        return Layer("outlines", concatenate(parts), HIDDEN, max(1.0, scale))
