# SPDX-License-Identifier: GPL-3.0-or-later
"""A pair that was inspected writes what it is now into its finding, when that is out of date.

By the rules of the scene's check, which are not those of a single inspection, and beside Blender: a drag of which every
step is inspected is followed once it ends.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled, Progress
from ..check import changes, session
from ..check import results as scene_results
from ..check import scene as scene_pairs
from ..check.scene import Outcome
from ..check.session import Inspection
from ..data.units import UnitFormat
from ..read import faults as scene_faults
from ..read import scene as scene_check
from ..read.scene_objects import Ignore, Key, Subject
from . import handlers
from .background import Job

if TYPE_CHECKING:
    from ..check.results import ContactLensFinding

QUIET = 0.2
"""Seconds after the last inspection of a pair until its finding is looked at."""
POLL = 0.1
"""Seconds between two looks at what goes on."""
END = 10.0
"""Seconds that cancelled work may take to end when the add-on is switched off."""

Pair = frozenset[Key]


@dataclass
class _Run:
    """The check of a pair that goes on."""

    scene: int
    """`session_uid`."""
    pair: Pair
    subject: Subject
    frame: float
    job: Job[Outcome]


_wanted: dict[int, tuple[Pair, float]] = {}
"""By scene: the pair that was inspected last, and when."""
_running: _Run | None = None


def subject_of(context: bpy.types.Context, finding: ContactLensFinding) -> Subject | None:
    """The pair of a finding as it is now, to be checked by itself; None when it is gone."""
    check = scene_results.of_scene(context.scene)
    rules = check.as_rules(context)
    a, b = finding.key("a"), finding.key("b")
    keys = [key for key in (a, b) if key is not None]
    items = scene_check.items_of(context, keys, faults=scene_faults.affected(context))
    if a not in items or b not in items:
        return None
    return Subject(
        [items[a], items[b]],
        None,
        [0, 1],
        Ignore(),
        rules.clearance,
        rules.contact_tolerance,
        rules.touching,
        approved=scene_results.approvals(check),
        units=UnitFormat.of_scene(context.scene),
    )


def request(scene: bpy.types.Scene, pair: Pair) -> None:
    """A pair was inspected: when its finding is out of date, look at it by the scene's rules. A script waits for it."""
    if not scene_results.of_scene(scene).findings:
        return
    _wanted[scene.session_uid] = pair, time.monotonic()
    if not bpy.app.background:
        if not bpy.app.timers.is_registered(_tick):
            bpy.app.timers.register(_tick, first_interval=QUIET)
    elif bpy.context.scene == scene:
        subject = _subject(bpy.context)
        if subject is not None:
            _take(bpy.context, pair, subject, scene_check.frame_of(scene), scene_pairs.check(subject))


def _tick() -> float | None:
    """The timer: take over what is done, begin what is asked for. Returns when to come again."""
    global _running
    if _running is not None and not _running.job.done:
        return POLL
    ended, _running = _running, None
    wanted = set(_wanted)
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            uid = window.scene.session_uid
            with bpy.context.temp_override(window=window):
                if ended is not None and ended.scene == uid:
                    with suppress(Cancelled):
                        _take(bpy.context, ended.pair, ended.subject, ended.frame, ended.job.result())
                    ended = None
                    handlers.redraw()
                if uid in wanted and _running is None and time.monotonic() - _wanted[uid][1] >= QUIET:
                    wanted.discard(uid)
                    _running = _begun(bpy.context)
    return POLL if _running is not None or _wanted else None


def _begun(context: bpy.types.Context) -> _Run | None:
    """Begin to look at what is asked for in the scene; None when there is nothing to do."""
    pair = _wanted[context.scene.session_uid][0]
    subject = _subject(context)
    if subject is None:
        return None

    def work(progress: Progress) -> Outcome:
        return scene_pairs.check(subject, progress)

    return _Run(context.scene.session_uid, pair, subject, scene_check.frame_of(context.scene), Job(work))


def _subject(context: bpy.types.Context) -> Subject | None:
    """Return the pair that is asked for in the scene as it is now; None when its finding is not out of date."""
    scene = context.scene
    pair, _ = _wanted.pop(scene.session_uid)
    k = changes.row_of_pair(scene, pair)
    if k is None or not changes.can_be_renewed(context, k):
        return None
    return subject_of(context, scene_results.of_scene(scene).findings[k])


def _take(context: bpy.types.Context, pair: Pair, subject: Subject, frame: float, outcome: Outcome) -> None:
    """Take what was found into the finding, unless its things are others by now."""
    scene = context.scene
    k = changes.row_of_pair(scene, pair)
    if k is None or scene_check.frame_of(scene) != frame:
        return
    if scene_check.states_of(context, pair) != {item.key: item.state for item in subject.items}:
        return  # it is still out of date, and is looked at when the pair is inspected again
    scene_results.update(scene_results.of_scene(scene).findings[k], subject, outcome, frame)


def _inspected(scene: bpy.types.Scene, inspection: Inspection) -> None:
    request(scene, frozenset(((inspection.uid_a, 0, ""), (inspection.uid_b, 0, ""))))


@persistent
def _clear(*_: object) -> None:
    global _running
    _wanted.clear()
    if _running is not None:
        _running.job.cancel()
    _running = None


def _stop() -> None:
    ended = _running
    _clear()
    if ended is not None:
        ended.job.wait(END)


_FOLLOWER = handlers.Follower(
    {"load_pre": _clear}, timers=(_tick,), hooks=((session.on_store, _inspected),), stop=_stop
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
