# SPDX-License-Identifier: GPL-3.0-or-later
"""A pair of objects or instances, isolated: its contact and its two surfaces over a faded view of the scene.

Nothing of the file or of the view is changed for that: when no pair is isolated any more, it is simply not drawn.
"""

from __future__ import annotations

from typing import Any

import gpu
import numpy as np

from ...core.types import FloatArray
from ..geometry.shape_outline import fan
from ..layers.glyphs import fills
from ..layers.overlay_geometry import Layer, Style, origin
from ..pair.inspection import Inspection
from .overlay_shader import NOT_CUT, Pen, layers_on_gpu, state_restored

FADED = 0.75
"""Opacity of the background's colour over the rest of the scene."""
LIGHT = np.array([0.35, -0.5, 0.79])
"""Unit vector towards the light that the surfaces are shaded by, world frame."""
DARKEST = 0.45
"""Brightness of a surface that the light grazes; 1 where it faces the light."""
BEHIND = 4e-6
"""Fraction of the depth range by which A is drawn farther away: where faces of A and B coincide those of B are seen,
and not stripes of both. Some thirty steps of a depth buffer, as much as rounding may take."""
TINT = 0.45
"""Fraction of the colour of A or B in the colour of its surface; the rest is grey."""
GREY = 0.72
NEAR = 1.5
"""How far from the contact the surface of the far larger object is seen, relative to how far the other one reaches."""
FAR_LARGER = 2.0
"""How many times as far a far larger object reaches at least."""
_WHOLE_VIEW = fan(np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]))
"""(2, 3, 3) triangles over all of clip space."""


def draw_isolated(
    inspection: Inspection,
    style: Style,
    background: tuple[float, float, float] | None,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    moved: tuple[FloatArray, FloatArray] | None = None,
    cut: FloatArray = NOT_CUT,
) -> None:
    """Fade all that is in the active framebuffer and draw the pair over it; its depth is then that of the pair alone.

    background: the colour (display space) that the rest fades to; None: it becomes transparent. view, projection:
    (4, 4) world to view and view to clip space. size: width and height in pixels. moved: (4, 4) each, how A and B have
    moved since they were read. cut: (4,) a plane, world frame: only what is on its positive side is drawn.
    """
    on_gpu = layers_on_gpu((inspection, style.look, "surfaces"), lambda: surface_layers(inspection, style))
    with state_restored():
        gpu.state.depth_test_set("NONE")
        if background is None:
            gpu.state.blend_set("MULTIPLY")
            Pen(np.eye(4), size).draw_once(fills(_WHOLE_VIEW, (1.0 - FADED,) * 4))
            gpu.state.blend_set("ALPHA")
        else:
            Pen(np.eye(4), size).draw_once(fills(_WHOLE_VIEW, (*background, FADED)))
        gpu.state.depth_mask_set(True)
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.active_framebuffer_get().clear(depth=1.0)
        for layer, batch in on_gpu:
            to_world = np.eye(4) if moved is None else moved[layer.side].copy()
            to_world[:3, 3] += to_world[:3, :3] @ origin(inspection)
            matrix = projection @ (view @ to_world)
            if layer.side == 0:
                matrix[2] += BEHIND * matrix[3]
            Pen(matrix, size, cut @ to_world).draw(batch, 1.0)


def background_of(context: Any) -> tuple[float, float, float]:
    """Return the colour of the 3D view's background in the theme, display space."""
    themes = context.preferences.themes
    if not themes:
        return (0.24, 0.24, 0.24)
    red, green, blue = themes[0].view_3d.space.gradients.high_gradient
    return (float(red), float(green), float(blue))


def surface_layers(inspection: Inspection, style: Style) -> list[Layer]:
    """Return the surfaces of A and B as two layers of shaded triangles, relative to `origin(inspection)`.

    One that is far larger than the other, as a floor or a wall, fades around the contact, and is drawn over the other.
    """
    points = [obj.points - origin(inspection) for obj in inspection.objects]
    reaches = [float(np.linalg.norm(each, axis=1).max()) for each in points]
    radii = [NEAR * reaches[1 - k] if reaches[k] > FAR_LARGER * NEAR * reaches[1 - k] else 0.0 for k in (0, 1)]
    layers = []
    for k, (name, color) in enumerate((("A", style.look.color_a), ("B", style.look.color_b))):
        triangles = inspection.objects[k].geometry.triangles
        corners = points[k][triangles if len(triangles) else np.zeros((1, 3), dtype=np.int32)]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        normals /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
        # From both sides alike: an open mesh has two, and a mirrored one is inside out.
        shade = DARKEST + (1.0 - DARKEST) * np.abs(normals @ LIGHT)
        paint = (1.0 - TINT) * GREY + TINT * np.array(color[:3])
        rgba = np.concatenate([shade[:, None] * paint, np.ones((len(shade), 1))], axis=1)
        glyphs = fills(corners, rgba[:, None, :], radii[k])
        layers.append(Layer(name, glyphs, 1.0, 0.0, side=k))
    return sorted(layers, key=lambda layer: radii[layer.side])
