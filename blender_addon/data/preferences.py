# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours and sizes of the overlay.

The default colours are those of Okabe and Ito, which people with any common colour blindness tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import bpy
from bpy.props import FloatProperty, FloatVectorProperty

ADDON = (__package__ or "").removesuffix(".blender_addon.data")
"""Name under which Blender knows the add-on, such as 'bl_ext.user_default.contact_lens'."""

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


def _color(name: str, default: Color, description: str) -> object:
    return FloatVectorProperty(
        name=name, description=description, subtype="COLOR_GAMMA", size=4, min=0.0, max=1.0, default=default
    )


class ContactLensPreferences(bpy.types.AddonPreferences):
    bl_idname = ADDON

    color_a: _color("Shape A", DEFAULT_LOOK.color_a, "Hull of the active object")  # type: ignore[valid-type]
    color_b: _color("Shape B", DEFAULT_LOOK.color_b, "Hull of the other object")  # type: ignore[valid-type]
    color_region: _color("Region", DEFAULT_LOOK.color_region, "Contact region")  # type: ignore[valid-type]
    color_vector: _color("Vector", DEFAULT_LOOK.color_vector, "Penetration vector")  # type: ignore[valid-type]
    color_gap: _color("Gap", DEFAULT_LOOK.color_gap, "Line between separated objects")  # type: ignore[valid-type]
    color_point: _color("Points", DEFAULT_LOOK.color_point, "Contact and witness points")  # type: ignore[valid-type]
    line_width: FloatProperty(  # type: ignore[valid-type]
        name="Line Width", subtype="PIXEL", min=0.5, max=10.0, default=DEFAULT_LOOK.line_width
    )
    point_size: FloatProperty(  # type: ignore[valid-type]
        name="Point Size", subtype="PIXEL", min=2.0, max=40.0, default=DEFAULT_LOOK.point_size
    )
    label_size: FloatProperty(  # type: ignore[valid-type]
        name="Label Size", subtype="PIXEL", min=6.0, max=60.0, default=DEFAULT_LOOK.label_size
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        column = layout.column()
        for field in fields(Look):
            column.prop(self, field.name)


def look(context: bpy.types.Context) -> Look:
    """The person's colours and sizes; the defaults when the add-on was registered without being enabled."""
    addon: bpy.types.Addon | None = context.preferences.addons.get(ADDON)
    if addon is None or addon.preferences is None:
        return DEFAULT_LOOK
    values: dict[str, Any] = {}
    for field in fields(Look):
        value = getattr(addon.preferences, field.name)
        values[field.name] = tuple(value) if field.name.startswith("color_") else float(value)
    return Look(**values)


CLASSES = (ContactLensPreferences,)
