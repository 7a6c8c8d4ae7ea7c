# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of an algorithm in Blender: begun, gone through, followed while the scene changes, and ended."""

from __future__ import annotations

import time
from math import inf
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from .layouts import Drawn, Layout
from .scenes import cube, fresh, inspect, lens, open_scene, refresh, save_scene, select, sheet, torus, update

pytestmark = pytest.mark.usefixtures("empty_scene")
NOT_CONVEX = "is not convex: choose Convex Hull as its collision shape"


@pytest.fixture
def follow() -> ModuleType:
    return lens.live.follow_steps


def settings() -> Any:
    return bpy.context.scene.contact_lens


def current() -> Any:
    return lens.live.follow_steps.current(bpy.context.scene)


def number() -> int:
    return int(current()[1])


def count() -> int:
    return len(current()[0].shown)


def problem() -> str:
    return str(lens.live.follow_steps.error(bpy.context.scene))


def show(algorithm: str = "SAT") -> None:
    settings().step_algorithm = algorithm
    assert bpy.ops.contact_lens.show_steps() == {"FINISHED"}


def go(to: str) -> None:
    assert bpy.ops.contact_lens.go_to_step(to=to) == {"FINISHED"}


def drawn() -> Drawn:
    layout = Layout()
    lens.ui.steps_panel.CONTACT_LENS_PT_steps.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def begun(algorithm: str = "SAT") -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two cubes that overlap by 0.5 along X, and their steps."""
    a, b = cube("A"), cube("B", (1.5, 0.3, 0.2))
    inspect(a, b)
    show(algorithm)
    return a, b


def assert_ended(sentence: str) -> None:
    assert current() is None
    assert not lens.live.follow_steps.is_on(bpy.context.scene)
    assert problem() == sentence
    assert "show_steps" in drawn().names
    assert "step_algorithm" in drawn().props
    assert sentence in drawn().words
    assert not bpy.ops.contact_lens.go_to_step.poll()


def test_two_selected_objects_are_inspected_and_their_steps_shown() -> None:
    a, b = cube("A"), cube("B", (1.5, 0.3, 0.2))
    select(a, b)
    show()
    steps, first = current()
    assert first == 0
    assert (steps.given.name_a, steps.given.name_b) == ("A", "B")
    assert steps.title(0).startswith("SAT, Step 1 of ")
    words = drawn().words.replace("\u00a0", " ")
    assert steps.sentence(0) in words
    assert steps.title(0) in words


@pytest.mark.parametrize("selected", [0, 1])
def test_without_a_pair_a_sentence_says_what_to_select(selected: int) -> None:
    cube("A").select_set(bool(selected))
    with pytest.raises(RuntimeError, match="Select"):
        bpy.ops.contact_lens.show_steps()
    assert current() is None


@pytest.mark.parametrize("algorithm", ["ALL", "SAT", "GJK", "EPA", "REGION"])
def test_every_algorithm_is_gone_through(algorithm: str) -> None:
    begun(algorithm)
    seen = [number()]
    for _ in range(count() + 1):
        go("FORWARD")
        seen.append(number())
    assert seen == [*range(count()), count() - 1, count() - 1], "it stays at the last one"
    go("BACK")
    assert number() == max(count() - 2, 0)
    go("FIRST")
    assert number() == 0
    go("BACK")
    assert number() == 0
    go("LAST")
    assert number() == count() - 1


def test_the_slider_reaches_every_step_and_is_no_step_of_undo() -> None:
    begun("ALL")
    manager = bpy.context.window_manager
    for k in range(count()):
        manager.contact_lens_step = 100.0 * k / (count() - 1)
        assert number() == k
        assert manager.contact_lens_step == pytest.approx(100.0 * k / (count() - 1), abs=1e-3)
    assert "contact_lens_step" in drawn().props
    bpy.ops.contact_lens.end_steps()
    assert manager.contact_lens_step == 0.0
    manager.contact_lens_step = 50.0  # nothing to go to
    assert current() is None


def test_steps_are_played_to_the_last_one(follow: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    begun("GJK")
    now = 10.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(follow, "_is_in_view", lambda scene: True)
    monkeypatch.setattr(lens.live.handlers, "window_contexts", lambda: iter([bpy.context]))
    settings().step_speed = 2.0
    seen = []
    for _ in range(2):
        go("PLAY")
        assert follow.is_playing(bpy.context.scene)
        seen.append(number())
        while follow.is_playing(bpy.context.scene):
            assert follow._run() == pytest.approx(follow.INTERVAL_S)
            now += 0.25
            seen.append(number())
        assert number() == count() - 1
    go("PLAY")
    go("PLAY")
    assert not follow.is_playing(bpy.context.scene), "the second time it pauses"
    assert sorted(set(seen)) == list(range(count()))
    assert [seen.count(k) for k in range(1, count() - 1)] == [4] * (count() - 2), "twice, for half a second"


def test_steps_follow_moves_and_keep_their_number() -> None:
    _, b = begun()
    go("LAST")
    before, last = current()
    b.location.x = 1.6
    update()
    assert current() is None, "they are of the place before"
    assert "'B' has moved" in drawn().words
    refresh()
    steps, shown = current()
    assert steps is not before
    assert shown == min(last, len(steps.shown) - 1)
    assert steps.given.b.vertices[:, 0].mean() == pytest.approx(1.6)
    assert problem() == ""


def test_steps_follow_names_settings_and_other_pairs() -> None:
    a, _ = begun("ALL")
    go("FORWARD")
    a.name = "Renamed"
    assert current()[0].given.name_a == "Renamed"
    assert number() == 1
    settings().step_sum = True
    assert current()[0].given.settings.is_sum
    settings().step_beside, settings().step_place = False, (1.0, 2.0, 3.0)
    assert current()[0].given.settings.offset == pytest.approx((1.0, 2.0, 3.0))
    assert number() == 1
    settings().step_algorithm = "GJK"
    assert current()[0].title(0).startswith("GJK")
    assert number() == 0
    settings().step_algorithm = "SAT"
    played = current()[0].shown
    go("LAST")
    settings().step_all_axes = True
    assert len(current()[0].shown) > len(played)
    assert current()[0].shown[number()] == played[-1], "the same axis"
    inspect(a, cube("C", (0.0, 1.5, 0.3)))
    assert current()[0].given.name_b == "C"
    assert number() == 0


def test_an_axis_that_is_clicked_is_shown(follow: ModuleType) -> None:
    inspect(cube("A"), torus("B", (1.5, 0.3, 0.2), "CONVEX_HULL", major_segments=8, minor_segments=6))
    show()
    bars = current()[0].bars(0)
    assert len(bars) > count()
    other = next(bar.step for bar in bars if bar.step not in current()[0].shown)
    follow.show_axis(bpy.context.scene, other)
    assert current()[0].shown[number()] == other


def test_flat_objects_are_shown_in_their_plane() -> None:
    inspect(sheet("A"), sheet("B", location=(1.5, 0.3, 0.0)), flat=True)
    show("GJK")
    assert current()[0].given.flat is not None
    assert current()[0].trace.dim == 2


def test_an_algorithm_that_has_nothing_to_do_waits_until_the_objects_move() -> None:
    _, b = begun("EPA")
    b.location.x = 5.0
    update()
    refresh()
    assert current() is None
    assert "so EPA has nothing to do" in problem()
    assert problem() in drawn().words
    assert bpy.ops.contact_lens.go_to_step.poll(), "it is not ended"
    b.location.x = 1.5
    update()
    refresh()
    assert current() is not None
    assert problem() == ""


@pytest.mark.parametrize("is_removed", [True, False])
def test_steps_end_with_an_object_of_the_pair(follow: ModuleType, is_removed: bool) -> None:
    _, b = begun()
    if is_removed:
        bpy.data.objects.remove(b)
    else:
        bpy.ops.contact_lens.clear()
    update()
    assert current() is None
    assert_ended(follow.NO_PAIR)


def test_what_is_not_convex_is_said_and_its_hull_is_one_click_away() -> None:
    a, b = begun()
    b.contact_lens_shape = "MESH"
    refresh()
    assert current() is None
    assert_ended(f"'B' {NOT_CONVEX}")
    assert bpy.ops.contact_lens.show_steps_of_hulls() == {"FINISHED"}
    assert (a.contact_lens_shape, b.contact_lens_shape) == ("AUTOMATIC", "CONVEX_HULL")
    refresh()
    assert current() is not None

    inspect(a, torus("Torus", (0.5, 0.0, 0.0)))
    assert current() is None
    assert_ended(f"'Torus' {NOT_CONVEX}")
    assert "show_steps_of_hulls" in drawn().names


def test_steps_follow_undo_and_end_when_it_removes_the_pair(follow: ModuleType) -> None:
    bpy.ops.ed.undo_push(message="Empty")
    a, b = cube("A"), cube("B", (1.5, 0.3, 0.2))
    bpy.ops.ed.undo_push(message="Cubes")
    inspect(a, b)
    bpy.ops.ed.undo_push(message="Inspect")
    show()
    go("LAST")
    b.location.x = 1.7
    bpy.ops.ed.undo_push(message="Move")
    bpy.ops.ed.undo()
    refresh()
    assert current()[0].given.b.vertices[:, 0].mean() == pytest.approx(1.5)
    assert number() == count() - 1, "stepping is no step of undo"
    bpy.ops.ed.undo()
    assert current() is None
    assert_ended(follow.NO_PAIR)


def test_edits_are_followed_and_what_cannot_be_inspected_ends_them() -> None:
    _, b = begun()
    b.data.clear_geometry()
    update()
    with pytest.raises(RuntimeError):
        bpy.ops.contact_lens.refresh()
    assert current() is None
    assert_ended("'B' has no vertices")


def test_steps_end_with_their_file(tmp_path: Path, follow: ModuleType) -> None:
    path = save_scene(tmp_path / "other.blend")
    begun()
    settings().step_speed = 4.0
    open_scene(path)
    assert_ended("The steps were of another file: inspect a pair of this one, then choose Show Steps")
    assert settings().step_speed == 1.0
    fresh()
    assert problem() == "", "once is enough"


def test_the_user_ends_them_without_a_word() -> None:
    begun()
    assert {"end_steps", "go_to_step"} <= drawn().names
    assert bpy.ops.contact_lens.end_steps() == {"FINISHED"}
    assert_ended("")


def test_steps_that_take_long_are_made_once_the_objects_rest(
    follow: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, b = begun()
    entry, made = follow._get(bpy.context.scene), []
    entry.seconds = inf
    monkeypatch.setattr(follow, "_is_in_view", lambda scene: True)
    monkeypatch.setattr(lens.live.handlers, "window_contexts", lambda: iter([bpy.context]))
    monkeypatch.setattr(lens.live.background, "has_windows", lambda: True)
    make = follow._make
    monkeypatch.setattr(follow, "_make", lambda *given: made.append(given) or make(*given[:2], None))
    for x in (1.6, 1.7):
        b.location.x = x
        update()
        refresh()
        assert current() is None
        follow._run()
        assert made == [], "it may still move"
    follow._run()
    assert len(made) == 1
    assert current()[0].given.b.vertices[:, 0].mean() == pytest.approx(1.7)


def test_frame_has_the_difference_in_view_too() -> None:
    begun("GJK")
    view = next(area.spaces.active for area in bpy.context.screen.areas if area.type == "VIEW_3D").region_3d
    bpy.ops.contact_lens.frame()
    # From -1 to 2.5 the cubes, beside them the difference, 4 wide.
    assert 3.0 < view.view_location.x < 4.5
    assert view.view_distance > 9.0
    assert bpy.ops.contact_lens.end_steps() == {"FINISHED"}
    bpy.ops.contact_lens.frame()
    assert view.view_location.x < 2.0
    assert view.view_distance < 9.0


def test_the_difference_is_made_with_the_steps_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    steps = lens.study.steps
    minkowski_hull = steps.minkowski_hull
    monkeypatch.setattr(steps, "minkowski_hull", lambda *pair: made.append(pair) or minkowski_hull(*pair))
    begun("SAT")
    assert not made
    for algorithm in ("EPA", "ALL"):
        settings().step_algorithm = algorithm
        assert current() is not None
        assert len(made) == 1, "before a picture is drawn"
    current()[0].picture(count() - 1)
    assert len(made) == 1


def test_only_what_takes_long_waits(follow: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    begun("EPA")
    entry = follow._get(bpy.context.scene)
    monkeypatch.setattr(lens.live.background, "has_windows", lambda: True)
    entry.seconds = 1.0
    settings().step_place = (1.0, 2.0, 3.0)
    settings().step_beside = False
    assert current() is not None, "it can be dragged"
    settings().step_sum = True
    assert current() is None, "another body"
    assert entry.seconds == 1.0


def test_a_refusal_that_comes_late_pops_up(follow: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect(cube("A"), torus("Torus", (0.5, 0.0, 0.0)))
    said: list[str] = []

    def explain(self: Any, context: bpy.types.Context) -> set[str]:
        said.append(self.sentence)
        return {"FINISHED"}

    monkeypatch.setattr(lens.operators.pair_operators.CONTACT_LENS_OT_explain, "execute", explain)
    monkeypatch.setattr(lens.live.background, "has_windows", lambda: True)
    entry = follow._of_scene[bpy.context.scene.session_uid] = follow._Stepping(is_on=True)  # as begun before that
    for _ in range(2):
        follow._look(bpy.context.scene, entry)
    assert_ended(f"'Torus' {NOT_CONVEX}")
    assert said == [f"'Torus' {NOT_CONVEX}"]


def test_the_region_is_that_of_the_inspected_contact() -> None:
    inspect(cube("A"), cube("B", (2.1, 0.3, 0.2)))
    show("REGION")
    assert "are apart, so they have no region" in problem()
    settings().clearance, settings().contact_tolerance = 0.2, 1e-3
    refresh()
    steps, _ = current()
    assert problem() == ""
    assert steps.trace.contact_tolerance == pytest.approx(1e-3)
    inspection = lens.pair.session.current(bpy.context)
    assert steps.region.area == inspection.contact.region.area > 0.0
