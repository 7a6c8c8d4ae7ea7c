# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that are shown of each scene's pair: which one, and how they follow the objects and end by themselves.

They are of the inspection, so whatever makes that one stale hides them, and the next one makes them anew: where that is
quick when they are drawn, else in a thread once the objects rest. No operator stays modal for them, which would keep
Blender from saving automatically; keys and clicks come by keymap and gizmo. Nothing of it is saved or undone.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from math import inf
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import FloatProperty

from ...core.progress import Cancelled
from ...core.shapes.curved_shape import ConvexShape
from ..data import properties
from ..pair import session
from ..pair.inspection import Inspection
from ..study.steps import Steps, steps_of
from ..study.traced_pair import StepSettings, StepsInput
from . import background, follow_pair, handlers
from .background import Flow

QUICK_S = 0.03
"""Seconds that steps may take to be made while the objects move."""
INTERVAL_S = 0.1
"""Seconds between two looks at whether there is something to make, or nothing left to show."""
LEAST_PAUSE_S = 0.005
NO_PAIR = "The steps ended for want of a pair: select two objects, then choose Show Steps"
AGAIN = "choose Show Steps to see them again"

_Wanted = tuple[Inspection, StepSettings]


@dataclass(eq=False)
class _Stepping:
    """The steps of a scene."""

    is_on: bool = False
    problem: str = ""
    """Why there are none, or why they ended, as a sentence."""
    steps: Steps | None = None
    made_of: _Wanted | None = None
    """What `steps` or `problem` are of."""
    number: int = 0
    """Of the step that is shown."""
    seconds: float = inf
    """What making those of a pair took last."""
    plays_at: float = inf
    """When the next step is shown, of `time.monotonic`; infinite while they are not played."""
    flow: Flow | None = None
    """Makes them."""
    seen: _Wanted | None = None
    """What was wanted when the timer looked last: what changes all the time is not begun each time."""

    def end(self, problem: str = "") -> None:
        """Show no steps; problem: why, unless the user asked for it."""
        self.is_on, self.problem, self.steps, self.made_of, self.plays_at = False, problem, None, None, inf
        self.drop()

    def drop(self) -> None:
        """Drop what is being made."""
        flow, self.flow = self.flow, None
        if flow is not None:
            flow.drop()


_of_scene: dict[int, _Stepping] = {}
"""By the scene's session_uid."""
_NONE = _Stepping()


def _get(scene: bpy.types.Scene) -> _Stepping:
    return _of_scene.get(scene.session_uid, _NONE)


def is_on(scene: bpy.types.Scene) -> bool:
    """Return whether the scene shows steps, or will as soon as they are made."""
    return _get(scene).is_on


def error(scene: bpy.types.Scene) -> str:
    """Return why the scene shows no steps, or why they ended, as a sentence; empty when there is nothing to say."""
    return _get(scene).problem


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the scene's steps; None when none are being made."""
    flow = _get(scene).flow
    return None if flow is None else flow.progress


def current(scene: bpy.types.Scene) -> tuple[Steps, int] | None:
    """Return the steps of the pair as it is now and the number of the one that is shown; None where there are none.

    scene: that of Blender's context.
    """
    entry = _get(scene)
    return (entry.steps, entry.number) if _is_made(scene, entry) and entry.steps is not None else None


def begin(scene: bpy.types.Scene) -> None:
    """Show the steps of the scene's pair from the first one, as soon as it is inspected."""
    end(scene)
    entry = _of_scene[scene.session_uid] = _Stepping(is_on=True)
    if isinstance(wanted := _wanted(scene), tuple):
        _make(entry, wanted, background.MODAL_AFTER_S if background.has_windows() else None)
    elif wanted:
        entry.end(wanted)
    if background.has_windows():
        handlers.wake(_run, INTERVAL_S)


def end(scene: bpy.types.Scene) -> None:
    """Show no steps."""
    _get(scene).end()
    handlers.redraw()


def go(scene: bpy.types.Scene, number: int) -> None:
    """Show the step of a number, or the nearest there is, and stop playing."""
    if found := current(scene):
        entry = _get(scene)
        entry.number, entry.plays_at = min(max(number, 0), len(found[0].shown) - 1), inf
        handlers.redraw()


def show_axis(scene: bpy.types.Scene, step: int) -> None:
    """Show the axis of a step of SAT, an index into the trace."""
    if found := current(scene):
        go(scene, found[0].show_axis(step))


def place(scene: bpy.types.Scene) -> tuple[float, ...] | None:
    """Return where the origin of the Minkowski difference is shown, world space; None where it is not."""
    found = current(scene)
    if found is None:
        return None
    origins = [points.points[0] for points in found[0].picture(found[1]).points if points.role == "origin"]
    return tuple(origins[0].tolist()) if origins else None


def is_playing(scene: bpy.types.Scene) -> bool:
    """Return whether the scene's steps are played."""
    return _get(scene).plays_at < inf


def play(scene: bpy.types.Scene) -> None:
    """Play the steps to the last one, from the first one where that is shown; or stop playing."""
    found, entry = current(scene), _get(scene)
    if found is None or entry.plays_at < inf:
        entry.plays_at = inf
    else:
        if found[1] == len(found[0].shown) - 1:
            entry.number = 0
        entry.plays_at = time.monotonic() + _pause(scene)
    handlers.redraw()


def _pause(scene: bpy.types.Scene) -> float:
    """Return the seconds between two steps that are played."""
    return 1.0 / float(properties.settings_of(scene).step_speed)


def _wanted(scene: bpy.types.Scene) -> _Wanted | str | None:
    """Return what the steps are to be made of; a sentence where there can be none; None where it is not known yet."""
    context = bpy.context
    if problem := session.error(context):
        return problem
    if properties.pair_keys(scene) is None:  # of an inspection that runs it is picked once something is found
        return None if follow_pair.progress_of(scene) is not None else NO_PAIR
    inspection = session.current(context)
    if inspection is None or session.is_stale(context):
        return None
    settings = properties.settings_of(scene)
    place = None if settings.step_beside else tuple(settings.step_place)
    return inspection, StepSettings(settings.step_algorithm.lower(), settings.step_sum, place, settings.step_all_axes)


def _is_made(scene: bpy.types.Scene, entry: _Stepping) -> bool:
    """Return whether the steps are of the pair as it is now. Make them where that is quick; end them where there can
    be none."""
    if not entry.is_on:
        return False
    wanted = _wanted(scene)
    if isinstance(wanted, str):
        entry.end(wanted)
    elif wanted not in (None, entry.made_of) and (not background.has_windows() or _is_quick(entry, wanted)):
        _make(entry, wanted, None)
    return entry.is_on and wanted is not None and wanted == entry.made_of


def _is_quick(entry: _Stepping, wanted: _Wanted) -> bool:
    """Return whether steps take no time to make: as the last ones did, or because they differ only in what is shown."""
    if entry.made_of is None:
        return False
    (before, last), (now, settings) = entry.made_of, wanted
    is_same_body = before is now and last.is_sum == settings.is_sum
    return last.algorithm == settings.algorithm and (entry.seconds < QUICK_S or is_same_body)


def _make(entry: _Stepping, wanted: _Wanted, seconds: float | None) -> None:
    """Make the steps: what takes longer than `seconds` beside Blender; None: all of it now."""
    entry.drop()
    flow = entry.flow = Flow("Steps", _taken(entry, wanted))
    if not flow.run(seconds):
        background.wait_for(flow)


def _taken(entry: _Stepping, wanted: _Wanted) -> background.Steps:
    """Make the steps those of the scene; end them where the pair has none at all."""
    start, made, problem = time.perf_counter(), None, ""
    last = entry.steps if entry.made_of is not None and entry.made_of[0] is wanted[0] else None
    try:
        made = yield lambda progress: _made(last, wanted)
    except Cancelled:
        entry.flow = None
        entry.end(f"The steps were cancelled: {AGAIN}")
        raise
    except ValueError as error:
        problem = str(error)
    except Exception as error:  # a defect: the user gets a sentence, and the view stays
        traceback.print_exc()
        problem = f"The steps cannot be computed: {error}"
    entry.flow = None
    if made is None and not all(isinstance(shape, ConvexShape) for shape in (wanted[0].shape_a, wanted[0].shape_b)):
        entry.end(problem)
        return {"CANCELLED"}
    # An algorithm that has nothing to do with the pair where it is has once it moves, and others have now.
    entry.number = 0 if made is None else _number_in(made, entry, wanted)
    entry.steps, entry.problem, entry.made_of = made, problem, wanted
    if last is None:
        entry.seconds = time.perf_counter() - start
    handlers.redraw()
    return {"FINISHED"}


def _made(last: Steps | None, wanted: _Wanted) -> Steps:
    """Return the steps that are wanted; last: others of the same inspection. Raise ValueError with a sentence."""
    inspection, settings = wanted
    if last is None:
        pair: Any = inspection.flat or inspection
        plane = None if inspection.flat is None else inspection.flat.plane
        names = inspection.name_a, inspection.name_b
        options = inspection.contact.clearance, inspection.contact.contact_tolerance
        made = steps_of(StepsInput(pair.shape_a, pair.shape_b, *names, inspection.units, settings, plane, *options))
    else:
        made = last.with_settings(settings)
    made.prepare()
    return made


def _number_in(made: Steps, entry: _Stepping, wanted: _Wanted) -> int:
    """Return the number to show of new steps: that of the same step, else the same number where there is one, or 0."""
    before = entry.steps
    if before is None or entry.made_of is None or entry.made_of[0].keys != wanted[0].keys:
        return 0
    if made.trace is before.trace and before.shown[entry.number] in made.shown:
        return made.shown.index(before.shown[entry.number])
    is_same = entry.made_of[1].algorithm == wanted[1].algorithm
    return entry.number if is_same and entry.number < len(made.shown) else 0


def _run() -> float | None:
    """The timer: make what takes longer once the objects rest, play, and end what no 3D view shows any longer."""
    seen = set()
    for context in handlers.window_contexts():
        entry = _get(context.scene)
        if entry.is_on and _is_in_view(context.scene):
            seen.add(context.scene.session_uid)
            _look(context.scene, entry)
    for uid, entry in _of_scene.items():
        if entry.is_on and uid not in seen:
            entry.end(f"The steps ended with their 3D view: {AGAIN}")
    on = [entry.plays_at for entry in _of_scene.values() if entry.is_on]
    return min(INTERVAL_S, max(LEAST_PAUSE_S, min(on) - time.monotonic())) if on else None


def _look(scene: bpy.types.Scene, entry: _Stepping) -> None:
    """Make what takes longer once the objects rest, or show the next step when it is time."""
    is_first = entry.made_of is None
    if not _is_made(scene, entry):
        wanted = _wanted(scene)
        if isinstance(wanted, tuple) and wanted == entry.seen and entry.flow is None:
            _make(entry, wanted, INTERVAL_S)
        elif wanted != entry.seen:
            entry.drop()
        entry.seen = wanted if isinstance(wanted, tuple) else None
        if is_first and entry.problem:  # asked for before the pair was inspected, and perhaps with the panel closed
            bpy.ops.contact_lens.explain("INVOKE_DEFAULT", sentence=entry.problem)  # type: ignore[attr-defined]
    elif entry.plays_at <= time.monotonic():
        go(scene, entry.number + 1)  # which stops playing
        if entry.number + 1 < len(entry.steps.shown):
            entry.plays_at = time.monotonic() + _pause(scene)


def _is_in_view(scene: bpy.types.Scene) -> bool:
    """Return whether a 3D view of a window shows the scene."""
    return any(
        area.type == "VIEW_3D"
        for manager in bpy.data.window_managers
        for window in manager.windows
        if window.scene == scene
        for area in window.screen.areas
    )


def _clear() -> None:
    for entry in _of_scene.values():
        entry.end()
    _of_scene.clear()


@persistent
def _loaded(*_: object) -> None:
    was_on = any(entry.is_on for entry in _of_scene.values())
    _clear()
    for scene in bpy.data.scenes if was_on else ():
        _of_scene[scene.session_uid] = _Stepping(
            problem="The steps were of another file: inspect a pair of this one, then choose Show Steps"
        )


def _position(manager: bpy.types.WindowManager) -> float:
    found = current(bpy.context.scene)
    return 0.0 if found is None else 100.0 * found[1] / max(1, len(found[0].shown) - 1)


def _go_to(manager: bpy.types.WindowManager, position: float) -> None:
    if found := current(bpy.context.scene):
        go(bpy.context.scene, round(position / 100.0 * (len(found[0].shown) - 1)))


def register() -> None:
    _FOLLOWER.register()
    # Of the window manager: what is set there is no step to be undone.
    bpy.types.WindowManager.contact_lens_step = FloatProperty(  # type: ignore[attr-defined]
        name="Step",
        description="Step that is shown, from the first to the last one",
        subtype="PERCENTAGE",
        min=0.0,
        max=100.0,
        precision=0,
        get=_position,
        set=_go_to,
    )


def unregister() -> None:
    del bpy.types.WindowManager.contact_lens_step  # type: ignore[attr-defined]
    _FOLLOWER.unregister()


def cancel(scene: bpy.types.Scene) -> None:
    """Cancel making the steps of a scene, which end."""
    flow = _get(scene).flow
    if flow is not None:
        flow.cancel()
        handlers.redraw()


background.CANCELLATIONS["steps"] = "Cancel computing the steps", cancel
_FOLLOWER = handlers.Follower({"load_post": _loaded}, timers=(_run,), stop=_clear)
