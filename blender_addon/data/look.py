# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours and sizes of the overlay, as plain values.

The default colours are those of Okabe and Ito, which people with any common colour blindness can distinguish.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.result import Relation

Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Look:
    """Colours (display space, with alpha) and sizes (pixels at interface scale 1) of the overlay."""

    color_a: Color = (0.337, 0.706, 0.914, 1.0)  # sky blue
    color_b: Color = (0.941, 0.894, 0.259, 1.0)  # yellow: orange is what Blender outlines selected objects in
    color_region: Color = (0.0, 0.620, 0.580, 0.5)  # teal
    color_vector: Color = (0.835, 0.369, 0.0, 1.0)  # vermillion
    color_inside: Color = (0.902, 0.624, 0.0, 1.0)  # amber
    color_gap: Color = (0.800, 0.475, 0.655, 1.0)  # reddish purple
    color_point: Color = (1.0, 1.0, 1.0, 1.0)
    line_width: float = 2.0
    point_size: float = 8.0
    label_size: float = 12.0


DEFAULT_LOOK = Look()

_OF_RELATION: dict[str, str] = {
    Relation.PENETRATING: "color_vector",
    Relation.COINCIDENT: "color_vector",
    Relation.A_INSIDE_B: "color_inside",
    Relation.B_INSIDE_A: "color_inside",
    Relation.TOUCHING: "color_region",
    Relation.WITHIN_CLEARANCE: "color_gap",
}
"""The colour of a pair by its relation; apart it has none."""
_GREY: Color = (0.600, 0.600, 0.620, 1.0)


def relation_color(relation: str, look: Look = DEFAULT_LOOK) -> Color:
    """Return the opaque colour of a pair by its relation; grey where it is apart, or not known."""
    name = _OF_RELATION.get(relation)
    return _GREY if name is None else (*getattr(look, name)[:3], 1.0)


_ORANGE: Color = (0.902, 0.624, 0.0, 1.0)
_GREEN: Color = (0.0, 0.720, 0.520, 1.0)  # bluish green, brighter: it is lines
_BLUE: Color = (0.300, 0.580, 1.0, 1.0)  # brighter, to be seen on dark
_PALE: Color = (0.720, 0.760, 0.820, 1.0)

DASH, DASH_WIDTHS = 12.0, 6.0
"""Period of dashes, in pixels at interface scale 1; of thick lines in widths."""


@dataclass(frozen=True)
class RoleForm:
    """How a role of pictures for study looks."""

    color: Color | str
    """Or the name of that of the overlay, where that shows the same."""
    width: float = 1.0
    """Of its lines, in line widths."""
    opacity: float = 1.0
    """Of its lines."""
    is_dashed: bool = False
    """Whether all of its lines are, and not only those of which the picture says so."""
    fill: float = 0.22
    """Opacity of its fills."""
    hatch: float = 0.0
    """Period of the hatch of its fills, in pixels at interface scale 1; negative where it falls to the right."""
    mark: str = "disc"
    """Of its points."""
    size: float = 1.0
    """Of that, in point sizes."""

    def dash(self, is_dashed: bool, width: float, pixel: float) -> float:
        """Return the period of the dashes of a line so wide, 0 where it has none; pixel: at interface scale 1."""
        return max(DASH * pixel, DASH_WIDTHS * width) if is_dashed or self.is_dashed else 0.0


ROLE_FORMS = {
    "a": RoleForm("color_a"),
    "b": RoleForm("color_b", is_dashed=True, mark="square"),
    "axis": RoleForm("color_point", 0.8),
    "gap": RoleForm("color_gap", 1.4),
    "overlap": RoleForm("color_vector", 1.8),
    "plane": RoleForm(_PALE, 0.8, fill=0.16, hatch=14.0),
    "hull": RoleForm(_PALE, 0.45, 0.55, fill=0.1),
    "origin": RoleForm("color_point", 1.0, mark="ring", size=2.0),
    "direction": RoleForm(_ORANGE, 1.5),
    "support": RoleForm(_ORANGE, 1.2, mark="diamond", size=1.7),
    "simplex": RoleForm(_GREEN, size=1.1),
    "nearest": RoleForm("color_gap", 1.7, fill=0.28, mark="triangle", size=1.5),
    "silhouette": RoleForm("color_point", 1.8),
    "removed": RoleForm("color_vector", 0.8, is_dashed=True, hatch=7.0, mark="cross", size=1.3),
    "added": RoleForm(_BLUE, 1.6, fill=0.25, hatch=-5.0),
    "region": RoleForm("color_region", 1.4, fill=0.5, mark="diamond", size=0.9),
    "voronoi": RoleForm("color_gap", 0.8, fill=0.3, hatch=-9.0),
    "other": RoleForm(_GREY, 0.6, 0.7, fill=0.12, size=0.6),
}
"""Every role differs from those that it is seen with by more than its colour."""


def role_color(role: str, look: Look = DEFAULT_LOOK) -> Color:
    """Return the opaque colour of a role of pictures for study."""
    color = ROLE_FORMS[role].color
    return (*(getattr(look, color) if isinstance(color, str) else color)[:3], 1.0)
