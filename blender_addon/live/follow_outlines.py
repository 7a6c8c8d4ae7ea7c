# SPDX-License-Identifier: GPL-3.0-or-later
"""The outlines of objects in clashes, as they were when they were found to clash.

Whoever draws asks for them; what is not known is read a moment later by a timer, some objects at a time. Each belongs
to a state of its object, so none is of another place or shape than it is asked for.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable
from itertools import product

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.types import FloatArray
from ..data.records import Key, State
from ..geometry.local_geometry import Geometry
from ..geometry.shape_outline import mesh_edges
from ..read.scene_objects import SceneObject
from ..read.scene_reader import snapshot_keys
from . import background, handlers

Outline = tuple[FloatArray, FloatArray]
"""Edges (k, 2, 3) in the world frame, and normals (k, 2, 3) of the faces beside each, of any length."""
MOST_TRIANGLES = 2_000
"""Of a mesh with more the bounding box is outlined."""
MOST_KEPT = 1_000
"""Outlines that are kept, of those used last."""
CHUNK = 8
"""Objects that are read at a time."""
SLICE_S = 0.03
"""Seconds of reading at a time."""
AFTER_S = 0.05
_BOX = np.array([(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5)])
_BOX = np.concatenate([_BOX, [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]])
"""Triangles of the box with the corners `product(xs, ys, zs)`."""
NOTHING: Outline = np.zeros((0, 2, 3)), np.zeros((0, 2, 3))

_known: OrderedDict[tuple[Key, State], Outline] = OrderedDict()
_wanted: dict[int, dict[tuple[Key, State], None]] = {}
"""By the scene's session_uid: what is not known yet."""


def outlines(scene: bpy.types.Scene, wanted: Iterable[tuple[Key, State]]) -> dict[tuple[Key, State], Outline]:
    """Return the outlines of things in a state, those that are known; the others are read in a moment."""
    found: dict[tuple[Key, State], Outline] = {}
    missing: dict[tuple[Key, State], None] = {}
    for thing in wanted:
        if thing in _known:
            _known.move_to_end(thing)
            found[thing] = _known[thing]
        else:
            missing[thing] = None
    if missing and background.has_windows():
        _wanted[scene.session_uid] = missing
        handlers.wake(_read, AFTER_S)
    return found


def retry(things: Iterable[tuple[Key, State]]) -> None:
    """Read those of things again that were in another state when they were read: they may be in this one now."""
    for thing in things:
        if _known.get(thing) is NOTHING:
            del _known[thing]


def _read() -> float | None:
    """The timer: read some more of what is wanted in the scenes that are in windows."""
    if handlers.is_rendering():
        return AFTER_S
    begin = time.monotonic()
    for context in handlers.window_contexts():
        missing = _wanted.pop(context.scene.session_uid, {})
        while missing and time.monotonic() - begin < SLICE_S:
            read(context, [missing.popitem()[0] for _ in range(min(CHUNK, len(missing)))])
        if missing:
            _wanted[context.scene.session_uid] = missing
    handlers.redraw()
    return AFTER_S if _wanted else None


def read(context: bpy.types.Context, things: Iterable[tuple[Key, State]]) -> None:
    """Read the outlines of things, now; of what is in another state there is nothing."""
    things = list(things)
    objects = snapshot_keys(context.evaluated_depsgraph_get(), {key for key, _ in things})
    for key, state in things:
        obj = objects.get(key)
        _known[key, state] = NOTHING if obj is None or obj.state != state else _outline(obj)
    while len(_known) > MOST_KEPT:
        _known.popitem(last=False)


def _outline(obj: SceneObject) -> Outline:
    edges, sides = _local_outline(obj.geometry)
    # Normals go by the inverse transpose, here times the determinant: what is pressed flat has no inverse.
    x, y, z = obj.linear.T
    normals = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)])
    return edges @ obj.linear.T + obj.translation, sides @ normals


def _local_outline(geometry: Geometry) -> Outline:
    if len(geometry.points) == 0:
        return NOTHING
    if len(geometry.triangles) <= MOST_TRIANGLES:
        return mesh_edges(geometry.points, geometry.triangles)
    return mesh_edges(np.array(list(product(*zip(*geometry.bounds, strict=True)))), _BOX)


@persistent
def _loaded(*_: object) -> None:
    _known.clear()
    _wanted.clear()


_FOLLOWER = handlers.Follower({"load_post": _loaded}, timers=(_read,), stop=_loaded)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
