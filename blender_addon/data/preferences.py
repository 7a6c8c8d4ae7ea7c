# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences: colours and sizes of the overlay."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import bpy
from bpy.props import FloatProperty, FloatVectorProperty

from .look import DEFAULT_LOOK, Color, Look

ADDON = (__package__ or "").removesuffix(".blender_addon.data")
"""Name under which Blender knows the add-on, such as 'bl_ext.user_default.contact_lens'."""


def _color(name: str, default: Color, description: str) -> object:
    return FloatVectorProperty(
        name=name, description=description, subtype="COLOR_GAMMA", size=4, min=0.0, max=1.0, default=default
    )


class ContactLensPreferences(bpy.types.AddonPreferences):
    bl_idname = ADDON

    color_a: _color("Object A", DEFAULT_LOOK.color_a, "Outline and name of A")  # type: ignore[valid-type]
    color_b: _color("Object B", DEFAULT_LOOK.color_b, "Outline and name of B")  # type: ignore[valid-type]
    color_region: _color(  # type: ignore[valid-type]
        "Touching", DEFAULT_LOOK.color_region, "Where surfaces touch; its alpha is that of all contact areas"
    )
    color_vector: _color(  # type: ignore[valid-type]
        "Penetrating", DEFAULT_LOOK.color_vector, "Overlap, and the shortest move of B out of A"
    )
    color_inside: _color("Inside", DEFAULT_LOOK.color_inside, "Overlap where one object is inside the other")  # type: ignore[valid-type]
    color_gap: _color("Gap", DEFAULT_LOOK.color_gap, "Line between separated objects, and faces within the clearance")  # type: ignore[valid-type]
    color_point: _color("Contact Points", DEFAULT_LOOK.color_point, "Center and corners of the contact area")  # type: ignore[valid-type]
    line_width: FloatProperty(  # type: ignore[valid-type]
        name="Line Width",
        description="Width of lines",
        subtype="PIXEL",
        min=0.5,
        max=10.0,
        default=DEFAULT_LOOK.line_width,
    )
    point_size: FloatProperty(  # type: ignore[valid-type]
        name="Point Size",
        description="Diameter of points",
        subtype="PIXEL",
        min=2.0,
        max=40.0,
        default=DEFAULT_LOOK.point_size,
    )
    label_size: FloatProperty(  # type: ignore[valid-type]
        name="Label Size",
        description="Height of text",
        subtype="PIXEL",
        min=6.0,
        max=60.0,
        default=DEFAULT_LOOK.label_size,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        column = layout.column()
        for field in fields(Look):
            column.prop(self, field.name)


def look(context: bpy.types.Context) -> Look:
    """Return the user's colours and sizes; the defaults when the add-on was registered without being enabled."""
    addon: bpy.types.Addon | None = context.preferences.addons.get(ADDON)
    if addon is None or addon.preferences is None:
        return DEFAULT_LOOK
    values: dict[str, Any] = {field.name: getattr(addon.preferences, field.name) for field in fields(Look)}
    values |= {name: tuple(value) for name, value in values.items() if name.startswith("color_")}
    return Look(**values)


CLASSES = (ContactLensPreferences,)
