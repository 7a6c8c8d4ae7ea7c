# SPDX-License-Identifier: GPL-3.0-or-later
"""The warnings that the panel shows: while results of a pair come one after another they stay, so that nothing below
them moves during a drag or playback."""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass

import bpy

from ...core.result import Contact
from ..check import session
from ..check.inspection import Inspection, Keys
from ..report.pair_warnings import Warning, warnings
from . import background, handlers
from .follow_pair import Status

SETTLE_S = 0.3
"""Seconds without another result after which warnings change."""

clock = time.monotonic


@dataclass
class _Shown:
    keys: Keys
    warnings: list[Warning]
    last: weakref.ref[Contact]
    """The result that was drawn last."""
    since: float
    """When it was drawn for the first time."""


_shown: dict[int, _Shown] = {}
"""By the scene's session_uid."""


def of(context: bpy.types.Context, status: Status) -> list[Warning]:
    """Return the warnings about the scene's result, or about an earlier one of the pair while it is followed."""
    inspection = session.current(context)
    if inspection is None:
        return []
    shown = _shown.get(context.scene.session_uid)
    if shown is None or shown.keys != inspection.keys:
        shown = _Shown(inspection.keys, warnings(inspection), weakref.ref(inspection.contact), clock())
        _shown[context.scene.session_uid] = shown
    elif not _is_followed(shown, inspection, status):
        shown.warnings = warnings(inspection)
    return shown.warnings


def _is_followed(shown: _Shown, inspection: Inspection, status: Status) -> bool:
    if not background.has_windows():
        return False
    if shown.last() is not inspection.contact:
        shown.last, shown.since = weakref.ref(inspection.contact), clock()
    if status.is_following:
        return True
    if (seconds := SETTLE_S - (clock() - shown.since)) <= 0.0:
        return False
    handlers.wake(handlers.redraw, seconds)
    return True


_FOLLOWER = handlers.Follower({}, timers=(handlers.redraw,), stop=_shown.clear)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
