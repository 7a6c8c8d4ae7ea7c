# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of each scene's pair, made beside Blender once the pair rests, and never of an older inspection.

An overlap that is made in no time, as those of boxes are, is there as soon as it is asked for, also while the
pair moves. All else is made in a thread, one after the other, and what is requested again when the pair has changed.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled, Progress
from ...core.shapes.curved_shape import ConvexShape
from ..data import properties
from ..measure.pair_measures import MEASURES, PairMeasures, is_of_same
from ..pair import session
from . import background, follow_pair, handlers
from .background import Flow, Steps

QUICK_S = 0.02
"""Seconds for which Blender waits for an overlap, unless the last one of the pair took longer."""
SETTLE_S = 0.1
"""Seconds for which a pair is the same before what takes long is made."""
GRACE_S = 0.3
"""Seconds for which nothing is said of what may end at once."""
MODAL_AFTER_S = 1.0
"""Seconds after which Esc is heard by what runs beside Blender."""
POLL_INTERVAL_S = 0.05

clock = time.monotonic


@dataclass(eq=False)
class _Measuring:
    """What is known, and what is to be made, of a scene's pair."""

    measures: PairMeasures
    wanted: dict[str, tuple[float, ...]]
    """The measures that are requested, in order, and what they are given."""
    is_quick: bool
    """Whether the overlap may be made in no time: the last one of the pair was, or, of the first, both are convex."""
    since: float
    """When it was first asked for."""
    errors: dict[str, str] = field(default_factory=dict)
    """By measure: why there is none, as a sentence; empty where it was cancelled."""
    flow: Flow | None = None
    start: float = 0.0
    """When the flow began."""


_of_scene: dict[int, _Measuring] = {}
"""By the scene's session_uid."""


def current(scene: bpy.types.Scene) -> PairMeasures | None:
    """Return what is measured of the inspection that is shown; None without one. What is not there yet comes soon."""
    entry = _current(scene)
    return None if entry is None else entry.measures


def valid(context: bpy.types.Context) -> PairMeasures | None:
    """Return what is measured of the scene's pair as it is now; None where the inspection is of before."""
    status = follow_pair.status(context)
    return None if status.is_outdated or status.is_pending else current(context.scene)


def _current(scene: bpy.types.Scene) -> _Measuring | None:
    """Return what is known of the scene's last inspection, made anew where that is of another pair or place."""
    inspection, entry = session.stored(scene), _of_scene.get(scene.session_uid)
    if inspection is None or inspection.keys != properties.pair_keys(scene):
        _drop(scene)
        return None
    if entry is not None and is_of_same(entry.measures.inspection, inspection):
        if entry.measures.inspection is not inspection:
            entry.measures = replace(entry.measures, inspection=inspection)  # a later stage, or other names
    else:
        is_quick = isinstance(inspection.shape_a, ConvexShape) and isinstance(inspection.shape_b, ConvexShape)
        # The volume of convex shapes costs next to nothing.
        wanted: dict[str, tuple[float, ...]] = {"volume": ()} if is_quick else {}
        if entry is not None and entry.measures.inspection.keys == inspection.keys:
            wanted, is_quick = entry.wanted, entry.is_quick
        _drop(scene)
        entry = _of_scene[scene.session_uid] = _Measuring(PairMeasures(inspection), wanted, is_quick, clock())
        if is_quick:
            _begin(entry, QUICK_S if background.has_windows() else None)
        if wanted and not background.has_windows():
            _make_all(entry)
    if entry.flow is not None or _next(entry):
        _wake()
    return entry


def _next(entry: _Measuring) -> str:
    """Return the measure that is made next; empty when there is none."""
    waiting = (kind for kind in ("surface", *entry.wanted) if kind not in entry.errors)
    return next((kind for kind in waiting if getattr(entry.measures, kind) is None), "")


def request(scene: bpy.types.Scene, kind: str, *given: float) -> None:
    """Measure the scene's pair, now and after each change, until `leave`.

    kind: a key of MEASURES. given: to its function, after the inspection.
    """
    entry = _current(scene)
    if entry is None:
        return
    entry.wanted[kind] = given
    entry.errors.pop(kind, None)
    entry.measures = replace(entry.measures, **{kind: None})
    if background.has_windows():
        _wake()
    else:
        _make_all(entry)
    handlers.redraw()


def _make_all(entry: _Measuring) -> None:
    """Make all that is wanted now."""
    while _next(entry):
        _begin(entry, None)


def leave(scene: bpy.types.Scene, kind: str) -> None:
    """Measure this no longer, and drop what was found."""
    entry = _of_scene.get(scene.session_uid)
    if entry is not None and kind in entry.wanted:
        del entry.wanted[kind]
        entry.errors.pop(kind, None)
        entry.measures = replace(entry.measures, **{kind: None})
        handlers.redraw()


def is_wanted(scene: bpy.types.Scene, kind: str) -> bool:
    """Return whether this is measured of the scene's pair."""
    entry = _of_scene.get(scene.session_uid)
    return entry is not None and kind in entry.wanted


def error(scene: bpy.types.Scene) -> str:
    """Return why something could not be measured, as a sentence; empty when nothing failed."""
    entry = _of_scene.get(scene.session_uid)
    return "" if entry is None else next((text for text in entry.errors.values() if text), "")


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of what is measured; None when nothing has run for GRACE_S."""
    entry = _of_scene.get(scene.session_uid)
    if entry is None or entry.flow is None or clock() - entry.start < GRACE_S:
        return None
    return entry.flow.progress


def cancel(scene: bpy.types.Scene) -> None:
    """Cancel what is measured of a scene's pair: it is not made again until the pair changes."""
    entry = _of_scene.get(scene.session_uid)
    if entry is not None and entry.flow is not None:
        entry.flow.cancel()
        handlers.redraw()


def _wake() -> None:
    if background.has_windows():
        handlers.wake(_run, POLL_INTERVAL_S)


def _run() -> float | None:
    """The timer: look at every scene that is in a window and has something to be measured."""
    waiting = False
    for context in handlers.window_contexts():
        entry = _of_scene.get(context.scene.session_uid)
        if entry is not None and (entry.flow is not None or _next(entry)):
            waiting |= _follow(context, entry)
    return POLL_INTERVAL_S if waiting else None


def _follow(context: bpy.types.Context, entry: _Measuring) -> bool:
    """Take what is done, end what is of an older inspection, begin what is to be made; return whether to go on."""
    scene = context.scene
    if session.current(context) is None or session.is_stale(context):
        _drop_flow(entry)  # whoever draws the inspection that follows asks again
        return False
    if _current(scene) is not entry:
        return True  # of another place
    if entry.flow is not None:
        if not entry.flow.run(0.0) and clock() - entry.start > MODAL_AFTER_S and background.has_windows():
            background.wait_for(entry.flow)
    elif clock() - entry.since >= SETTLE_S:
        _begin(entry, 0.0)
    handlers.redraw()
    return True


def _begin(entry: _Measuring, seconds: float | None) -> None:
    """Make the next measure; what takes longer than `seconds` beside Blender, None: all of it now."""
    kind = _next(entry)
    title, measure = MEASURES[kind]
    entry.start = clock()
    flow = entry.flow = Flow(
        title, _steps(entry, kind, partial(measure, entry.measures.inspection, *entry.wanted.get(kind, ())))
    )
    if not flow.run(seconds) and kind == "surface":
        entry.is_quick = False


def _steps(entry: _Measuring, kind: str, work: Callable[[Progress], Any]) -> Steps:
    """Make what the work returns the measure of a scene's pair, or remember why there is none."""
    seconds = [0.0]

    def timed(progress: Progress) -> Any:
        start = time.perf_counter()
        found = work(progress)
        seconds[0] = time.perf_counter() - start
        return found

    try:
        found = yield timed
        if kind == "surface":
            entry.is_quick = seconds[0] < QUICK_S
        entry.measures = replace(entry.measures, **{kind: found})
    except Cancelled:
        entry.errors[kind] = ""
        entry.wanted.pop(kind, None)
        raise
    except ValueError as problem:
        entry.errors[kind] = str(problem)
    except Exception as problem:
        # A defect, or no memory: the user gets a sentence, and Blender goes on.
        traceback.print_exc()
        entry.errors[kind] = (
            f"This cannot be measured ({type(problem).__name__}: {problem}): please report this with the text in the "
            "system console"
        )
    finally:
        entry.flow = None
    return {"FINISHED"}


def _drop_flow(entry: _Measuring) -> None:
    flow, entry.flow = entry.flow, None
    if flow is not None:
        flow.drop()


def _drop(scene: bpy.types.Scene) -> None:
    """Forget what is known of a scene's pair, and drop what runs."""
    entry = _of_scene.pop(scene.session_uid, None)
    if entry is not None:
        _drop_flow(entry)


@persistent
def _loaded(*_: object) -> None:
    for entry in _of_scene.values():
        _drop_flow(entry)
    _of_scene.clear()


background.CANCELLATIONS["measures"] = "Cancel measuring the pair", cancel
_FOLLOWER = handlers.Follower({"load_post": _loaded}, timers=(_run,), stop=_loaded)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
