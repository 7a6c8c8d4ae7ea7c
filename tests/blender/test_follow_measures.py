# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of the pair of a scene: beside Blender, of the pair as it is now, and no older one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .scenes import block, inspect, lens, select, torus, update
from .window import Held

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, as if in a window, with a clock that the test moves on and work that it holds."""
    module, now = lens.live.follow_measures, SimpleNamespace(time=0.0)
    monkeypatch.setattr(lens.live.background, "has_windows", lambda: True)
    monkeypatch.setattr(module, "clock", lambda: now.time)
    monkeypatch.setattr(lens.live.background, "Task", Held)
    monkeypatch.setattr(lens.live.background, "wait_for", lambda flow: None)
    monkeypatch.setattr(lens.live.handlers, "wake", lambda timer, seconds: None)
    module.now = now
    yield module
    module._loaded()


def rings() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two linked tori whose tubes overlap."""
    a, b = torus("A"), torus("B", (1.0, 0.0, 0.0))
    b.rotation_euler.x = 1.5
    update()
    return a, b


def ticks(follow: Any, seconds: float = 1.0) -> Any:
    """Let the timer run for some time; return what is known then."""
    for _ in range(3):
        follow.now.time += 0.5 * seconds
        if follow._run() is None:
            break
    return follow.current(bpy.context.scene)


def work_of(follow: Any) -> Held:
    return follow._of_scene[bpy.context.scene.session_uid].flow.task


def test_the_overlap_of_convex_shapes_is_there_at_once_and_that_of_meshes_beside_blender(follow, monkeypatch):
    scene = bpy.context.scene
    monkeypatch.setattr(follow.background, "Task", lambda work, is_blocking: Held(work, True))
    inspect(block("A", (2.0, 2.0, 2.0), kind="BOX"), block("B", (2.0, 2.0, 2.0), (1.5, 0.0, 0.0), kind="BOX"))
    assert follow.current(scene).surface is not None
    monkeypatch.setattr(follow.background, "Task", Held)
    inspect(*rings())
    assert follow.current(scene).surface is None
    assert ticks(follow).surface is None, "it is being made"
    work_of(follow).end()
    assert ticks(follow).surface is not None
    assert follow._run() is None, "nothing is left to do"


def test_an_overlap_that_takes_long_keeps_blender_waiting_for_no_more_than_a_moment(follow):
    scene = bpy.context.scene
    a, b = block("A", (2.0, 2.0, 2.0), kind="BOX"), block("B", (2.0, 2.0, 2.0), (1.5, 0.0, 0.0), kind="BOX")
    waits: list[float] = []

    class Slow(Held):
        def wait(self, seconds: float) -> bool:
            waits.append(seconds)
            return self.is_done

    follow.background.Task = Slow
    inspect(a, b)
    waits.clear()
    assert follow.current(scene).surface is None
    assert waits == [follow.QUICK_S]
    b.location.x += 0.05
    update()
    inspect(a, b)
    waits.clear()
    assert follow.current(scene).surface is None
    assert waits == [], "the last one of the pair took longer"
    ticks(follow)
    work_of(follow).end()
    assert ticks(follow).surface is not None


def test_nothing_runs_while_the_pair_is_out_of_date(follow):
    scene, (a, b) = bpy.context.scene, rings()
    inspect(a, b)
    follow.current(scene)
    place = a.location.x
    a.location.x += 0.05
    update()
    assert follow._run() is None
    a.location.x = place
    update()
    woken: list[Any] = []
    follow.handlers.wake = lambda timer, seconds: woken.append(timer)
    follow.current(scene)
    assert woken == [follow._run]


def test_what_is_measured_of_a_pair_that_has_moved_is_dropped_and_never_shown(follow):
    scene, (a, b) = bpy.context.scene, rings()
    inspect(a, b)
    follow.current(scene)
    ticks(follow)
    work = work_of(follow)
    b.location.x += 0.05
    update()
    follow._run()
    assert work.is_cancelled
    inspect(a, b)
    assert follow.current(scene).surface is None
    ticks(follow)
    work_of(follow).end()
    assert ticks(follow).surface is not None
    select(a, b)
    assert follow.current(scene).surface is not None, "the same pair at the same place"
    b.location.x += 0.05
    update()
    inspect(a, b)
    assert follow.current(scene).surface is None


def test_requests_are_measured_in_turn_and_again_after_a_change_until_they_are_left(follow, monkeypatch):
    scene, (a, b) = bpy.context.scene, rings()
    made: list[str] = []
    for kind in "volume", "deepest":
        monkeypatch.setitem(
            follow.MEASURES, kind, (kind, lambda inspection, progress, kind=kind: made.append(kind) or 1)
        )
    inspect(a, b)
    follow.request(scene, "volume")
    follow.request(scene, "deepest")

    def finish() -> Any:
        found = ticks(follow)
        while follow._of_scene[scene.session_uid].flow is not None:
            work_of(follow).end()
            found = ticks(follow)
        return found

    found = finish()
    assert (made, found.volume, found.deepest) == (["volume", "deepest"], 1, 1)
    b.location.x += 0.05
    update()
    inspect(a, b)
    found = follow.current(scene)
    assert (found.volume, follow.is_wanted(scene, "volume")) == (None, True)
    follow.leave(scene, "deepest")
    found = finish()
    assert (made, found.volume, found.deepest) == (["volume", "deepest", "volume"], 1, None)


def test_a_measure_that_fails_or_is_cancelled_is_not_tried_again_until_the_pair_changes(follow, monkeypatch):
    scene, (a, b) = bpy.context.scene, rings()

    def refuse(inspection: Any, progress: Any) -> None:
        raise ValueError("'A' is open: fill its holes")

    monkeypatch.setitem(follow.MEASURES, "volume", ("Volume", refuse))
    inspect(a, b)
    follow.request(scene, "volume")
    ticks(follow)
    follow.cancel(scene)
    assert follow.current(scene).surface is None
    assert follow.error(scene) == ""
    ticks(follow)
    monkeypatch.setattr(Held, "end", lambda self: setattr(self, "is_done", True))
    monkeypatch.setattr(Held, "result", lambda self: self._work(lambda fraction: True))
    work_of(follow).end()
    ticks(follow)
    assert follow.error(scene) == "'A' is open: fill its holes"
    assert follow._run() is None
    follow.leave(scene, "volume")
    assert follow.error(scene) == ""
