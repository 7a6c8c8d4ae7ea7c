# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair of things that a finding is about, objects or instances, as it is shown: its contact, and its surfaces.

The surfaces are drawn over a view that is faded, so that the rest of the scene stands back. Nothing of the file or of
the view is changed for that: when an exhibit is no longer current, it is simply not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from numpy.typing import NDArray

from ...core.meshes.solid_facets import Solid
from ...core.narrow_phase.contact import Contact
from ...core.progress import Progress
from ...core.types import FloatArray
from ..check.pair_contact import Found
from ..check.scene import contact_between
from ..check.session import Inspection, matrix_numbers
from ..data.units import UnitFormat
from ..read.scene_objects import Item
from ..ui import handlers
from .overlay_geometry import GLYPH, Layer, Style
from .overlay_shader import Pen, layers_on_gpu

FADED = 0.75
"""How much of the background's colour lies over the rest of the scene."""
LIGHT = np.array([0.35, -0.5, 0.79])
"""Unit vector towards the light that the surfaces are shaded by, world frame."""
DARKEST = 0.45
BEHIND = 4e-6
"""Of the range of depths A is drawn so much farther away: where faces of A and B coincide those of B are seen, and not
stripes of both. Some thirty steps of a depth buffer, as much as rounding may take."""
TINT = 0.45
"""How much of the colour of A or B a surface has; the rest is grey."""
GREY = 0.72


class Surface(NamedTuple):
    """A mesh in world space."""

    points: FloatArray
    """(n, 3) vertices."""
    triangles: NDArray[np.int32]
    """(t, 3) numbers of vertices."""


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A pair as it was when it was read, world space and Blender units. To the overlay it is a subject."""

    contact: Contact | Found
    shape_a: Solid
    shape_b: Solid
    name_a: str
    name_b: str
    surfaces: tuple[Surface, Surface]
    owners: tuple[int, int]
    """`session_uid` of the objects, or of what makes the instances."""
    of_instances: bool
    """Whether one of them is an instance, which cannot be inspected by itself."""
    units: UnitFormat
    deciding: frozenset[int] = frozenset()
    """`session_uid` of what else decides about the surfaces: what is instanced, its collections, parts of compounds."""

    @cached_property
    def middle(self) -> FloatArray:
        """(3,) near which both are. The surfaces are drawn relative to it, so that float32 does far away."""
        low, high = self.bounds
        return 0.5 * (low + high)

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (3,) of both."""
        points = [surface.points for surface in self.surfaces]
        low, high = (np.stack([side(p, axis=0) for p in points]) for side in (np.min, np.max))
        return low.min(axis=0), high.max(axis=0)


def of_items(
    a: Item,
    b: Item,
    clearance: float,
    contact_tolerance: float,
    units: UnitFormat,
    progress: Progress | None = None,
) -> Exhibit:
    """Return two things of the scene as an exhibit. Raises ValueError when their contact cannot be told; Cancelled."""
    one, other, contact = contact_between(a, b, clearance, contact_tolerance, progress)
    return Exhibit(
        contact=contact,
        shape_a=one.solid,
        shape_b=other.solid,
        name_a=a.name,
        name_b=b.name,
        surfaces=(surface(a), surface(b)),
        owners=(a.key[0], b.key[0]),
        of_instances=bool(a.key[2] or b.key[2]),
        units=units,
    )


def of_inspection(inspection: Inspection, a: Item, b: Item) -> Exhibit:
    """Return an inspected pair of objects, read as the items a and b, as an exhibit."""
    return Exhibit(
        contact=inspection.contact,
        shape_a=inspection.shape_a,
        shape_b=inspection.shape_b,
        name_a=a.name,
        name_b=b.name,
        surfaces=(surface(a), surface(b)),
        owners=(a.key[0], b.key[0]),
        of_instances=False,
        units=inspection.units,
    )


def surface(item: Item) -> Surface:
    """Return the mesh of a thing in world space."""
    return Surface(item.geometry.points @ item.linear.T + item.translation, item.geometry.triangles)


# --- which one is current -------------------------------------------------------------------------------------------

_exhibits: dict[int, tuple[Exhibit, list[tuple[float, ...]]]] = {}
"""The exhibit of each scene, and the world matrices of its owners when it was read."""


def show(context: bpy.types.Context, exhibit: Exhibit | None, places: Sequence[tuple[float, ...]] = ()) -> None:
    """Make it the scene's exhibit, as long as its objects stay selected; None: there is none.

    places: the world matrices of its owners when it was read.
    """
    _exhibits.pop(context.scene.session_uid, None)
    if exhibit is not None:
        _exhibits[context.scene.session_uid] = exhibit, list(places)


def current(context: bpy.types.Context) -> Exhibit | None:
    """The scene's exhibit; None when not just its objects are selected: the person went elsewhere, or one is gone."""
    if not _exhibits:
        return None
    exhibit, places = _exhibits.get(context.scene.session_uid, (None, []))
    return exhibit if exhibit is not None and len(_owners(context, exhibit)) == len(places) == 2 else None


def _owners(context: bpy.types.Context, exhibit: Exhibit) -> list[bpy.types.Object]:
    """The owners, if they and no others are selected; else none."""
    selection = context.view_layer.objects.selected
    if len(selection) != len(set(exhibit.owners)):
        return []
    selected = {obj.session_uid: obj for obj in selection if obj is not None}  # None: just deleted
    return [selected[uid] for uid in exhibit.owners if uid in selected]


def is_moved(context: bpy.types.Context, exhibit: Exhibit) -> bool:
    """Whether an owner is no longer where it was, so that the contact may no longer hold."""
    return not all(np.array_equal(step, np.eye(4)) for step in steps(context, exhibit))


def steps(context: bpy.types.Context, exhibit: Exhibit) -> tuple[FloatArray, FloatArray]:
    """The matrices (4, 4) that take each of the two from where it was to where its owner is now."""
    told = []
    for obj, place in zip(_owners(context, exhibit), _exhibits[context.scene.session_uid][1], strict=True):
        before, now = (np.array(numbers).reshape(4, 4) for numbers in (place, matrix_numbers(obj)))
        if np.array_equal(before, now):
            told.append(np.eye(4))
        else:
            told.append(now @ np.linalg.pinv(before))  # a matrix that flattens has no inverse
    return told[0], told[1]


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    exhibit, _ = _exhibits.get(scene.session_uid, (None, []))
    if exhibit is None:
        return
    for update in depsgraph.updates:
        if not isinstance(update.id, (bpy.types.Object, bpy.types.Collection)):
            continue
        uid = update.id.original.session_uid
        moved_or_edited = update.is_updated_transform or update.is_updated_geometry
        if (uid in exhibit.owners and update.is_updated_geometry) or (uid in exhibit.deciding and moved_or_edited):
            del _exhibits[scene.session_uid]  # its surface is another now
            return


@persistent
def _forget(*_: object) -> None:
    _exhibits.clear()


_HANDLERS = (
    ("depsgraph_update_post", _depsgraph_changed),
    ("frame_change_post", _depsgraph_changed),
    ("undo_post", _forget),
    ("redo_post", _forget),
    ("load_pre", _forget),
)


def register() -> None:
    handlers.add(_HANDLERS)


def unregister() -> None:
    handlers.remove(_HANDLERS)
    _forget()


# --- drawing --------------------------------------------------------------------------------------------------------


def draw_apart(
    exhibit: Exhibit,
    style: Style,
    background: tuple[float, float, float],
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    moved: tuple[FloatArray, FloatArray] | None = None,
) -> None:
    """Fade all that is in the active framebuffer and draw the pair over it; its depth is then that of the pair alone.

    background: the colour (display space) that the rest fades to. view, projection: (4, 4) world to view and view to
    clip space. size: width and height in pixels. moved: what `steps` tells.
    """
    base = exhibit.middle
    on_gpu = layers_on_gpu((exhibit, style.look, "surfaces"), lambda: surface_layers(exhibit, style))
    blend, depth_test = gpu.state.blend_get(), gpu.state.depth_test_get()
    depth_mask = gpu.state.depth_mask_get()
    try:
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_test_set("NONE")
        gpu.state.depth_mask_set(False)
        Pen(np.eye(4), size).draw_once(_whole_view((*background, FADED)))
        gpu.state.depth_mask_set(True)
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.active_framebuffer_get().clear(depth=1.0)
        for (_, batch), step, behind in zip(on_gpu, moved or (np.eye(4), np.eye(4)), (BEHIND, 0.0), strict=True):
            local = view @ step
            local[:3, 3] += local[:3, :3] @ base
            matrix = projection @ local
            matrix[2] += behind * matrix[3]
            Pen(matrix, size).draw(batch, 1.0)
    finally:
        gpu.state.blend_set(blend)  # type: ignore[arg-type]
        gpu.state.depth_test_set(depth_test)  # type: ignore[arg-type]
        gpu.state.depth_mask_set(depth_mask)


def background_of(context: Any) -> tuple[float, float, float]:
    """The colour of the 3D view's background in the theme, display space."""
    themes = context.preferences.themes
    if not themes:
        return (0.24, 0.24, 0.24)
    red, green, blue = themes[0].view_3d.space.gradients.high_gradient
    return (float(red), float(green), float(blue))


def surface_layers(exhibit: Exhibit, style: Style) -> list[Layer]:
    """The surfaces of A and B as two layers of shaded triangles, relative to `exhibit.middle`."""
    told = []
    colors = (style.look.color_a, style.look.color_b)
    for name, surface, color in zip(("A", "B"), exhibit.surfaces, colors, strict=True):
        triangles = surface.triangles if len(surface.triangles) else np.zeros((1, 3), dtype=np.int32)
        corners = (surface.points - exhibit.middle)[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        normals /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
        # From both sides alike: an open mesh has two, and a mirrored one is inside out.
        shade = DARKEST + (1.0 - DARKEST) * np.abs(normals @ LIGHT)
        paint = (1.0 - TINT) * GREY + TINT * np.array(color[:3])
        rgba = np.concatenate([shade[:, None] * paint, np.ones((len(shade), 1))], axis=1)
        told.append(Layer(name, _fills(corners, rgba), 1.0, 0.0))
    return told


def _whole_view(color: tuple[float, float, float, float]) -> NDArray[np.void]:
    """Two triangles over all of clip space."""
    corners = np.array([[(-1, -1, 0), (1, -1, 0), (1, 1, 0)], [(-1, -1, 0), (1, 1, 0), (-1, 1, 0)]], dtype=np.float64)
    return _fills(corners, np.array([color, color]))


def _fills(corners: FloatArray, colors: FloatArray) -> NDArray[np.void]:
    """Triangles (t, 3, 3), each of a colour (t, 4), as glyphs."""
    glyphs = np.zeros((len(corners), 3), dtype=GLYPH)
    glyphs["start"] = glyphs["end"] = corners
    glyphs["color"] = colors[:, None, :]
    return glyphs.ravel()
