# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pair each scene isolates, for as long as its objects are selected and their surfaces are as they were read."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.types import FloatArray
from ..data.objects import matrix_numbers
from ..draw.isolated_pair import IsolatedPair
from ..pair.inspection import Inspection
from . import handlers

_isolated: dict[int, IsolatedPair] = {}
"""The pair of each scene, by its session_uid."""


def isolate(context: bpy.types.Context, pair: IsolatedPair | None) -> None:
    """Isolate a pair for as long as its objects stay selected; None ends that."""
    _isolated.pop(context.scene.session_uid, None)
    if pair is not None:
        _isolated[context.scene.session_uid] = pair


def current(context: bpy.types.Context) -> IsolatedPair | None:
    """Return the scene's isolated pair; None unless its objects and no others are selected."""
    pair = _isolated.get(context.scene.session_uid)
    return pair if pair is not None and len(_owners(context, pair)) == 2 else None


def _owners(context: bpy.types.Context, pair: IsolatedPair) -> list[bpy.types.Object]:
    """Return the owners, if they and no others are selected; else none."""
    selection = context.view_layer.objects.selected
    if len(selection) != len(set(pair.owners)):
        return []
    selected = {obj.session_uid: obj for obj in selection if obj is not None}  # None: just deleted
    return [selected[uid] for uid in pair.owners if uid in selected]


def steps(context: bpy.types.Context, pair: IsolatedPair) -> tuple[FloatArray, FloatArray]:
    """Return the matrices (4, 4) that take A and B from where they were to where their owners are now."""
    a, b = _owners(context, pair)
    return steps_of((a, b), pair.inspection)


def steps_of(
    owners: tuple[bpy.types.Object | None, bpy.types.Object | None], inspection: Inspection
) -> tuple[FloatArray, FloatArray]:
    """Return the matrices (4, 4) that take A and B from where they were read to where their owners are now."""
    found = []
    for obj, then in zip(owners, inspection.objects, strict=True):
        now = then.owner_matrix if obj is None else matrix_numbers(obj)
        before, after = (np.array(numbers).reshape(4, 4) for numbers in (then.owner_matrix, now))
        # The inverse may be none: a matrix that flattens has only a pseudo-inverse.
        found.append(np.eye(4) if then.owner_matrix == now else after @ np.linalg.pinv(before))
    return found[0], found[1]


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if scene.session_uid not in _isolated:
        return
    pair = _isolated[scene.session_uid]
    for update in depsgraph.updates:
        if not isinstance(update.id, (bpy.types.Object, bpy.types.Collection)):
            continue
        uid = update.id.original.session_uid
        is_changed = update.is_updated_transform or update.is_updated_geometry
        if (uid in pair.owners and update.is_updated_geometry) or (uid in pair.dependencies and is_changed):
            del _isolated[scene.session_uid]  # its surface is another now
            return


@persistent
def _forget(*_: object) -> None:
    _isolated.clear()


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _depsgraph_changed,
        "frame_change_post": _depsgraph_changed,
        "undo_post": _forget,
        "redo_post": _forget,
        "load_pre": _forget,
    },
    stop=_forget,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
