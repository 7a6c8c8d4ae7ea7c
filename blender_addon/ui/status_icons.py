# SPDX-License-Identifier: GPL-3.0-or-later
"""The dots that stand for relations in the sidebar: icons that differ by colour and by form, drawn here pixel by pixel.

Filled: solids share space. A dot in a ring: one is inside the other. Half: they touch. Rings: they are apart.
"""

from __future__ import annotations

from typing import Any

import bpy.utils.previews
import numpy as np

from ...core.types import FloatArray
from ..data.look import relation_color

SIZE = 64
"""Pixels of an icon: enough for the largest interface scales; Blender makes it smaller."""
RADIUS = 0.68
"""Of a dot, as a fraction of half the icon; also the unit of the radii below."""
EDGE = 0.45
"""How dark the thin edge around a dot is: themes have backgrounds of any brightness."""

_icons: bpy.utils.previews.ImagePreviewCollection | None = None


def _disc(radius: float = 1.0) -> FloatArray:
    """Return how much of each pixel a disc in the middle covers."""
    coordinate = (np.arange(SIZE) + 0.5) / (SIZE / 2) - 1.0
    inside = RADIUS * radius - np.hypot(*np.meshgrid(coordinate, coordinate))
    return np.asarray(np.clip(inside * SIZE / 2 + 0.5, 0.0, 1.0), dtype=np.float64)


def _ring(width: float, radius: float = 1.0) -> FloatArray:
    return _disc(radius) - _disc(radius - width)


def _half() -> FloatArray:
    """Return the lower half of a disc."""
    covered = _disc()
    covered[SIZE // 2 :] = 0.0  # the first row is the lowest
    return covered


_FORMS = {
    "penetrating": _disc(),
    "coincident": _ring(0.22) + _disc(0.6),
    "a_inside_b": _ring(0.22) + _disc(0.45),
    "b_inside_a": _ring(0.22) + _disc(0.45),
    "touching": np.maximum(_ring(0.22), _half()),
    "within_clearance": _ring(0.36),
    "separated": _ring(0.22),
    "unknown": _disc(0.45),
}
"""How much of each pixel the form of a relation covers."""


def icon(relation: str) -> int:
    """Return the icon of a relation, for `icon_value`; of anything else a small dot."""
    if _icons is None:
        return 0
    return int(_icons[relation if relation in _FORMS else "unknown"].icon_id)


def register() -> None:
    global _icons
    _icons = bpy.utils.previews.new()
    edge = EDGE * _ring(0.12, 1.12)[..., None] * np.array((0.0, 0.0, 0.0, 1.0))
    for name, covered in _FORMS.items():
        # Blender takes colours multiplied by their alpha.
        pixels = covered[..., None] * np.array(relation_color(name))
        if name != "unknown":
            pixels += (1.0 - covered[..., None]) * edge
        preview: Any = _icons.new(name)
        preview.icon_size = (SIZE, SIZE)
        preview.icon_pixels_float = pixels.ravel().tolist()


def unregister() -> None:
    global _icons
    if _icons is not None:
        bpy.utils.previews.remove(_icons)
        _icons = None
