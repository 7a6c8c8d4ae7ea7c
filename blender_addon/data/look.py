# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours and sizes of the overlay, as plain values.

The default colours are those of Okabe and Ito, which people with any common colour blindness can distinguish.
"""

from __future__ import annotations

from dataclasses import dataclass

Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Look:
    """Colours (display space, with alpha) and sizes (pixels at interface scale 1) of the overlay."""

    color_a: Color = (0.337, 0.706, 0.914, 1.0)  # sky blue
    color_b: Color = (0.941, 0.894, 0.259, 1.0)  # yellow: orange is what Blender outlines selected objects in
    color_region: Color = (0.0, 0.620, 0.451, 0.5)  # bluish green
    color_vector: Color = (0.835, 0.369, 0.0, 1.0)  # vermillion
    color_gap: Color = (0.800, 0.475, 0.655, 1.0)  # reddish purple
    color_point: Color = (1.0, 1.0, 1.0, 1.0)
    line_width: float = 2.0
    point_size: float = 8.0
    label_size: float = 12.0


DEFAULT_LOOK = Look()

_ORANGE: Color = (0.902, 0.624, 0.0, 1.0)
_GREEN: Color = (0.0, 0.720, 0.520, 1.0)  # bluish green, brighter: it is lines
_BLUE: Color = (0.300, 0.580, 1.0, 1.0)  # brighter, to be seen on dark
_PALE: Color = (0.720, 0.760, 0.820, 1.0)
_GREY: Color = (0.600, 0.600, 0.620, 1.0)
_ROLES: dict[str, Color | str] = {
    "a": "color_a",
    "b": "color_b",
    "axis": "color_point",
    "gap": "color_gap",
    "overlap": "color_vector",
    "plane": _PALE,
    "hull": _PALE,
    "origin": "color_point",
    "direction": _ORANGE,
    "support": _ORANGE,
    "simplex": _GREEN,
    "nearest": "color_gap",
    "silhouette": "color_point",
    "removed": "color_vector",
    "added": _BLUE,
    "region": "color_region",
    "voronoi": "color_gap",
    "other": _GREY,
}
"""Of the roles of pictures for study: a colour, or the name of that of the overlay."""


def role_color(role: str, look: Look = DEFAULT_LOOK) -> Color:
    """Return the opaque colour of a role of pictures for study, which is the overlay's where that shows the same."""
    color = _ROLES[role]
    return (*(getattr(look, color) if isinstance(color, str) else color)[:3], 1.0)
