# SPDX-License-Identifier: GPL-3.0-or-later
"""Section at Contact: a plane through the inspected contact, along its direction, cuts 3D views by Blender's clipping.

A view is cut as long as the last of its clipping planes is that of the section, so one that the user clips again, or
not at all, is left alone. What the user clipped before stays clipped, and is as it was when the section ends. Files are
saved without the section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, FloatProperty
from numpy.typing import NDArray

from ...core.measures.surface_record import OverlapSurface
from ...core.meshes.cross_section import cross_section
from ...core.types import FloatArray
from ..data.properties import pair_keys
from ..data.records import Pair
from ..layers.overlay_geometry import origin
from ..layers.section_geometry import PairSection
from ..live import handlers
from ..pair import session
from ..pair.inspection import Inspection

EDGE_ON = 0.25
"""Sine of the angle between the direction and the viewer's below which no plane along the direction is readable."""
ALONG_OBJECTS = 0.5
"""Cosine to the viewer from which on a plane along an axis of A or B is taken instead of the one that faces most."""
INTERVAL_S = 0.05
MARK = "contact_lens_section"
"""Custom property of a screen that is cut, with the plane: a file that Blender saves by itself, as when it crashes, is
restored by it when it is opened."""

Plane = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Section:
    """A plane by which views are cut."""

    scene: int
    """`session_uid`."""
    pair: Pair
    point: FloatArray
    """(3,) the contact center."""
    normal: FloatArray
    """(3,) unit vector toward the viewer for whom it was made."""
    offset: float = 0.0
    """How far from the point the plane is along its normal, Blender units."""
    is_flipped: bool = False
    """Whether what is behind the plane is cut away, and not what is in front."""

    @property
    def plane(self) -> Plane:
        """(4,) the plane as Blender clips: what is on its positive side is seen."""
        normal = self.normal if self.is_flipped else -self.normal
        return np.array((*normal, -normal @ self.place), dtype=np.float32)

    @property
    def place(self) -> FloatArray:
        """(3,) a point of the plane."""
        return self.point + self.offset * self.normal

    @property
    def axes(self) -> FloatArray:
        """(3, 3) rows: two unit vectors along the plane, and its normal."""
        across = np.cross(self.normal, np.eye(3)[np.abs(self.normal).argmin()])
        across /= np.linalg.norm(across)
        return np.array((across, np.cross(self.normal, across), self.normal))

    def followed(self, inspection: Inspection) -> Section:
        """Return the section through the contact as it is now, turned no more than needed."""
        contact = inspection.contact
        return replace(self, point=contact.center, normal=facing(contact.normal, self.normal))

    def cut(self, inspection: Inspection, overlap: OverlapSurface | None) -> PairSection:
        """Return where it cuts the surfaces of A and B, and that of their overlap."""
        a, b = (
            cross_section(obj.points, obj.geometry.triangles.astype(np.intp, copy=False), self.place, self.axes)
            for obj in inspection.objects
        )
        body = None
        if overlap is not None:
            body = cross_section(overlap.points, overlap.triangles, self.place, self.axes, overlap.is_closed)
        return PairSection(origin(inspection), a, b, body, inspection.contact.relation)


def facing(direction: FloatArray, toward: FloatArray, axes: Sequence[FloatArray] = ()) -> FloatArray:
    """Return the normal (3,) of a plane along a direction (3,) that faces a viewer well: along one of the axes (3,) too
    where that is hardly worse. toward: (3,) unit vector to the viewer, who sees the plane from in front.

    Who looks along the direction would see any such plane from its edge, and gets one across it.
    """
    across = toward - (toward @ direction) * direction
    length = float(np.linalg.norm(across))
    if length < EDGE_ON:
        return toward
    best = across / length
    normals = [np.cross(direction, axis) for axis in axes] if direction.any() else list(axes)
    aligned = [normal / size for normal in normals if (size := np.linalg.norm(normal)) > EDGE_ON]
    aligned = [normal * np.copysign(1.0, normal @ best) for normal in aligned]
    nearest = max(aligned, key=lambda normal: float(normal @ best), default=best)
    return nearest if nearest @ best >= ALONG_OBJECTS else best


_section: Section | None = None
_before: dict[int, Any] = {}
"""By the address of a view that was cut: its planes of before, None where it was not clipped."""
_kept: tuple[Section, Inspection, OverlapSurface | None, PairSection] | None = None


def unsupported_reason(area: bpy.types.Area | None) -> str:
    """Return why a 3D view cannot be cut, as a sentence; empty where it can."""
    space = None if area is None else area.spaces.active
    is_clipped = not isinstance(space, bpy.types.SpaceView3D) or space.shading.type in ("SOLID", "WIREFRAME")
    return "" if is_clipped else "Blender clips in Solid and Wireframe shading only: choose Solid"


def of_view(view: bpy.types.RegionView3D) -> Section | None:
    """Return the section by which a view is cut; None where it is not."""
    return _section if _section is not None and _is_cut(view, _section.plane) else None


def of_area(area: bpy.types.Area | None) -> Section | None:
    """Return the section by which a 3D view is cut; None where it is not."""
    if area is None or area.type != "VIEW_3D":
        return None
    return next((found for region in _regions(area) if (found := of_view(region.data))), None)


def drawn(section: Section, inspection: Inspection, overlap: OverlapSurface | None) -> PairSection:
    """Return what a section cuts of a pair and of its overlap: kept until one of them changes."""
    global _kept
    if _kept is None or _kept[0] is not section or _kept[1] is not inspection or _kept[2] is not overlap:
        _kept = section, inspection, overlap, section.cut(inspection, overlap)
    return _kept[3]


def begin(context: bpy.types.Context, areas: Iterable[bpy.types.Area], inspection: Inspection) -> None:
    """Cut 3D views of the context's window by a plane through the contact that faces the first of them."""
    global _section
    end()
    areas, contact = list(areas), inspection.contact
    view = cast(bpy.types.SpaceView3D, areas[0].spaces.active).region_3d
    axes = [*np.eye(3)]
    for obj in inspection.objects:
        axes += [*(obj.linear / np.maximum(np.linalg.norm(obj.linear, axis=0), 1e-30)).T]
    normal = facing(contact.normal, _toward_viewer(view, contact.center), axes)
    manager: Any = context.window_manager
    manager.contact_lens_section_offset, manager.contact_lens_section_flipped = 0.0, False
    section = Section(context.scene.session_uid, frozenset(inspection.keys), contact.center, normal)
    for area in areas:
        for region in _regions(area):
            view = region.data
            _before[view.as_pointer()] = [tuple(plane) for plane in view.clip_planes] if view.use_clip_planes else None
            if not view.use_clip_planes:
                with context.temp_override(area=area, region=region):  # planes alone are ignored
                    bpy.ops.view3d.clip_border(xmin=0, xmax=region.width, ymin=0, ymax=region.height)
            _set(view, section.plane)
        area.id_data[MARK] = section.plane.tolist()
    _section = section
    handlers.redraw()


def end() -> None:
    """Restore all views that are cut."""
    global _section, _kept
    if _section is None:
        return
    plane, _section, _kept = _section.plane, None, None
    for window, area, region in _shown():
        if _is_cut(region.data, plane) and _before.get(region.data.as_pointer()) is None:
            with bpy.context.temp_override(window=window, area=area, region=region):
                bpy.ops.view3d.clip_border("INVOKE_DEFAULT")  # which ends clipping
    _uncut(plane)
    _before.clear()
    handlers.redraw()


def _uncut(plane: Plane) -> list[bpy.types.RegionView3D]:
    """Restore the clipping of all views that are cut by a plane, seen or not, and return them."""
    views = [view for view in _all_views() if _is_cut(view, plane)]
    for view in views:
        if (planes := _before.get(view.as_pointer())) is not None:
            view.clip_planes = planes
        else:
            view.use_clip_planes = False
    for screen in _marked():
        del screen[MARK]
    return views


def _change(section: Section) -> None:
    """Cut what is cut by another plane."""
    global _section
    if _section is None:
        return
    before, _section = _section.plane, section
    if not np.array_equal(before, section.plane):
        for view in _all_views():
            if _is_cut(view, before):
                _set(view, section.plane)
        for screen in _marked():
            screen[MARK] = section.plane.tolist()
        handlers.redraw()


def _set(view: bpy.types.RegionView3D, plane: Plane) -> None:
    """Clip a view by a plane, and by what the user clips it by."""
    planes = _before.get(view.as_pointer())
    view.clip_planes = [*(planes[:4] if planes else [plane] * 4), plane, plane]


def _is_cut(view: bpy.types.RegionView3D, plane: Plane) -> bool:
    return view.use_clip_planes and np.array_equal(np.array(view.clip_planes[5], dtype=np.float32), plane)


def _marked() -> list[Any]:
    """Return the screens that are cut."""
    screens: Iterable[Any] = bpy.data.screens
    return [screen for screen in screens if MARK in screen]


def _toward_viewer(view: bpy.types.RegionView3D, point: FloatArray) -> FloatArray:
    """Return the unit vector (3,) from a point to the viewer."""
    turn = np.array(view.view_matrix.inverted(), dtype=np.float64)
    toward = turn[:3, 3] - point if view.is_perspective else turn[:3, 2]
    return toward / max(float(np.linalg.norm(toward)), 1e-30)


def _regions(area: bpy.types.Area) -> list[bpy.types.Region]:
    """Return the parts of a 3D view that show the scene: four in a quad view, none before it was drawn."""
    return [region for region in area.regions if region.type == "WINDOW" and region.data is not None]


def _shown() -> Iterator[tuple[bpy.types.Window, bpy.types.Area, bpy.types.Region]]:
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                for region in _regions(area) if area.type == "VIEW_3D" else ():
                    yield window, area, region


def _all_views() -> Iterator[bpy.types.RegionView3D]:
    """Yield the views of all screens, those of workspaces and editors that are not shown too."""
    for screen in bpy.data.screens:
        for area in screen.areas:
            for space in area.spaces:
                if isinstance(space, bpy.types.SpaceView3D):
                    yield from {view.as_pointer(): view for view in (space.region_3d, *space.region_quadviews)}.values()


# --- following ------------------------------------------------------------------------------------------------------


def _moved(self: Any, context: bpy.types.Context) -> None:
    if _section is not None:
        offset, is_flipped = self.contact_lens_section_offset, self.contact_lens_section_flipped
        _change(replace(_section, offset=offset, is_flipped=is_flipped))


def _inspected(scene: bpy.types.Scene, inspection: Inspection) -> None:
    if _section is None or not handlers.is_main_thread():
        return
    if scene.session_uid == _section.scene and frozenset(inspection.keys) == _section.pair:
        _change(_section.followed(inspection))


def _check() -> None:
    """The timer: end the section when its scene is in no window any more, or its pair not in the pickers."""
    if _section is not None:
        scenes = (context.scene for context in handlers.window_contexts())
        keys = next((pair_keys(scene) for scene in scenes if scene.session_uid == _section.scene), None)
        if keys is None or frozenset(keys) != _section.pair:
            end()


def follow(scene: bpy.types.Scene) -> None:
    """End the section soon where another scene is drawn in place of its own, which no handler tells."""
    if _section is not None and scene.session_uid != _section.scene:
        handlers.wake(_check, INTERVAL_S)


@persistent
def _changed(*_: object) -> None:
    if _section is not None:
        handlers.wake(_check, INTERVAL_S)


_suspended: list[bpy.types.RegionView3D] = []
"""The views that were cut before the file is saved."""


@persistent
def _saving(*_: object) -> None:
    if _section is not None:
        _suspended[:] = _uncut(_section.plane)


@persistent
def _saved(*_: object) -> None:
    if _section is not None:
        for view in _suspended:
            view.use_clip_planes = True
            _set(view, _section.plane)
            view.id_data[MARK] = _section.plane.tolist()
    _suspended.clear()


@persistent
def _loading(*_: object) -> None:
    end()


@persistent
def _loaded(*_: object) -> None:
    for plane in [np.array(screen[MARK], dtype=np.float32) for screen in _marked()]:
        _uncut(plane)


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _changed,
        "undo_post": _changed,
        "redo_post": _changed,
        "save_pre": _saving,
        "save_post": _saved,
        "save_post_fail": _saved,
        "load_pre": _loading,
        "load_post": _loaded,
    },
    timers=(_check,),
    hooks=((session.on_store, _inspected),),
    stop=end,
)


def register() -> None:
    # Of the window manager: what is set in a scene changes it.
    bpy.types.WindowManager.contact_lens_section_offset = FloatProperty(  # type: ignore[attr-defined]
        name="Offset",
        description="Distance of the section from the contact, toward the viewer for whom it was made",
        subtype="DISTANCE",
        precision=4,
        step=1,
        options={"SKIP_SAVE"},
        update=_moved,
    )
    bpy.types.WindowManager.contact_lens_section_flipped = BoolProperty(  # type: ignore[attr-defined]
        name="Flip", description="Cut away the other side", options={"SKIP_SAVE"}, update=_moved
    )
    _FOLLOWER.register()


def unregister() -> None:
    _FOLLOWER.unregister()
    del bpy.types.WindowManager.contact_lens_section_offset  # type: ignore[attr-defined]
    del bpy.types.WindowManager.contact_lens_section_flipped  # type: ignore[attr-defined]
