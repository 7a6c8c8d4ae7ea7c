# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers of Blender's events, added and removed together."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import bpy

Handlers = tuple[tuple[str, Callable[..., None]], ...]
"""The list in bpy.app.handlers, and what is called."""


def is_edited(update: bpy.types.DepsgraphUpdate) -> bool:
    """Return whether an update of an object may have changed its geometry. Strokes in Sculpt Mode do, unreported."""
    return update.is_updated_geometry or cast(bpy.types.Object, update.id.original).mode == "SCULPT"


def add(handlers: Handlers) -> None:
    """Have them called."""
    for name, handler in handlers:
        getattr(bpy.app.handlers, name).append(handler)


def remove(handlers: Handlers) -> None:
    """Have them called no more."""
    for name, handler in handlers:
        getattr(bpy.app.handlers, name).remove(handler)
