# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of warnings in the panel: of the present result, but as many of them as of an earlier one while objects
move, so that nothing below them moves during a drag or playback."""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass

import bpy

from ..data.properties import pair_keys
from ..pair import session
from ..pair.inspection import Keys
from ..report.pair_warnings import Warning, warnings
from . import background, handlers
from .follow_pair import PairStatus

SETTLE_S = 0.3
"""Seconds without a drag, playback or another result after which the number of lines changes."""
EMPTY = Warning("", "")


class _NoContact:
    """Stands for the contact where there is no result: there are weak references to it, not to None."""


NO_CONTACT = _NoContact()
clock = time.monotonic


@dataclass
class _Shown:
    keys: Keys | None
    count: int
    """How many lines there are."""
    last: weakref.ref[object]
    """The contact, or `NO_CONTACT`, that was drawn last."""
    since: float
    """When it was drawn for the first time, or last while objects moved."""


_shown: dict[int, _Shown] = {}
"""By the scene's session_uid."""


def of(context: bpy.types.Context, status: PairStatus) -> list[Warning]:
    """Return the warnings about the scene's result, EMPTY for lines that only keep their place."""
    inspection, keys = session.current(context), pair_keys(context.scene)
    found = [] if inspection is None else warnings(inspection, status.is_pending)
    contact: object = NO_CONTACT if inspection is None else inspection.contact
    shown = _shown.get(context.scene.session_uid)
    if shown is None or shown.keys != keys:
        shown = _shown[context.scene.session_uid] = _Shown(keys, len(found), weakref.ref(contact), clock())
    elif not _is_moving(context, shown, contact, status):
        shown.count = len(found)
    return [*found, *[EMPTY] * shown.count][: shown.count]


def _is_moving(context: bpy.types.Context, shown: _Shown, contact: object, status: PairStatus) -> bool:
    if not background.has_windows():
        return False
    is_new = shown.last() is not contact
    if is_new or status.is_following or handlers.is_playing() or _is_dragging(context):
        shown.last, shown.since = weakref.ref(contact), clock()
    if (seconds := SETTLE_S - (clock() - shown.since)) <= 0.0:
        return False
    handlers.wake(handlers.redraw, seconds)
    return True


def _is_dragging(context: bpy.types.Context) -> bool:
    """Return whether objects are being moved with the mouse, which may rest."""
    window = context.window
    return window is not None and any(each.bl_idname.startswith("TRANSFORM_OT_") for each in window.modal_operators)


_FOLLOWER = handlers.Follower({}, timers=(handlers.redraw,), stop=_shown.clear)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
