# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometries of a scene at several frames, of which only those are read that Blender has evaluated again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import bpy

from .local_geometry import Geometries, Geometry

_HANDLERS = ("frame_change_post", "depsgraph_update_post")
_OWN = __name__.rpartition(".blender_addon.")[0]


class FrameGeometries(Geometries):
    """Geometries of a view layer, frame by frame, while the context lasts.

    Blender reports to handlers what it evaluates. What other handlers change then is evaluated once more, and not
    reported: where there are any, everything is read at every frame. So is what the last frame did not show, for what
    is hidden is evaluated unreported once it is shown.
    """

    def __init__(self, scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
        super().__init__()
        self._layer = scene.session_uid, layer.name
        self._evaluated: set[int] = set()
        """`session_uid` of the objects with a geometry that was evaluated since the frame before was read."""
        self._is_reported = False
        """Whether Blender has reported all of these."""
        self._changed: set[int] | None = None
        """The objects whose geometry may be another than at the frame before; None: any."""
        self._noted: dict[Hashable, Geometry] = {}
        self._noted_before: dict[Hashable, Geometry] = {}

    def __enter__(self) -> FrameGeometries:
        for handlers in _handlers():
            handlers.append(self._note_evaluated)
        return self

    def __exit__(self, *_: object) -> None:
        for handlers in _handlers():
            if self._note_evaluated in handlers:  # a script may have cleared them
                handlers.remove(self._note_evaluated)

    def _note_evaluated(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        if (depsgraph.scene.session_uid, depsgraph.view_layer.name) == self._layer:
            self._is_reported = True
            for update in depsgraph.updates:
                if update.is_updated_geometry:
                    self._evaluated.add(update.id.original.session_uid)

    def next_frame(self) -> None:
        """Drop what the last frame did not use; to be called when Blender has evaluated the frame."""
        super().next_frame()
        is_known = self._is_reported and all(
            self._note_evaluated in handlers and not any(map(_is_foreign, handlers)) for handlers in _handlers()
        )
        self._changed = self._evaluated if is_known else None
        self._evaluated, self._is_reported = set(), False
        self._noted_before, self._noted = self._noted, {}

    def unchanged(self, place: Hashable, sources: Iterable[int]) -> Geometry | None:
        if self._changed is None or not self._changed.isdisjoint(sources):
            return None
        known = self._noted_before.get(place)
        if known is not None:
            self._used[known.digest] = known
        return known

    def note(self, place: Hashable, geometry: Geometry) -> None:
        self._noted[place] = geometry


def _handlers() -> list[list[Any]]:
    return [getattr(bpy.app.handlers, name) for name in _HANDLERS]


def _is_foreign(handler: Any) -> bool:
    return not str(getattr(handler, "__module__", None)).startswith(f"{_OWN}.")
