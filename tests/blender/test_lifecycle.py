# SPDX-License-Identifier: GPL-3.0-or-later
"""Results while the file changes under them: moved, edited, undone, loaded, renamed, deleted, switched off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bmesh
import bpy
import pytest
from mathutils import Matrix

from .reports import pair_report
from .scenes import (
    adopt,
    animate,
    cube,
    edit,
    fresh,
    inspect,
    inspection,
    lens,
    open_scene,
    refresh,
    rigid_body,
    save_scene,
    select,
    shape_key,
    torus,
    update,
)

Pair = tuple[bpy.types.Object, bpy.types.Object]

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def session() -> ModuleType:
    return lens.pair.session


@pytest.fixture
def follow() -> ModuleType:
    return lens.live.follow_pair


@pytest.fixture
def pair() -> Pair:
    """Two cubes that overlap by 0.5 along X, inspected."""
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    return a, b


def move(obj: bpy.types.Object, x: float) -> None:
    obj.location.x = x
    update()


def shift(obj: bpy.types.Object, distance: float) -> None:
    """Edit the mesh: move its vertices along X."""
    obj.data.transform(Matrix.Translation((distance, 0.0, 0.0)))
    obj.data.update()
    update()


def assert_fresh(session: ModuleType, depth: float) -> None:
    """The result is of the scene as it is, with this depth."""
    assert session.stale_reason(bpy.context) == ""
    assert not session.is_stale(bpy.context)
    assert inspection().contact.depth == pytest.approx(depth)


def assert_stale(session: ModuleType, reason: str) -> None:
    """The result is stale for this reason, and Refresh inspects the pair again."""
    assert session.stale_reason(bpy.context) == reason
    refresh()


def test_move_and_edit_make_stale_and_refresh_makes_right(session: ModuleType, pair: Pair) -> None:
    move(pair[1], 1.75)
    assert_stale(session, "'B' has moved")
    assert_fresh(session, 0.25)
    shift(pair[1], 0.125)
    assert_stale(session, "'B' has changed")
    assert_fresh(session, 0.125)


def test_parent_that_moves_makes_stale(session: ModuleType, pair: Pair) -> None:
    parent = cube("Parent", (0.0, 0.0, 9.0))
    adopt(parent, pair[1])
    refresh()
    move(parent, 0.25)
    assert_stale(session, "'B' has moved")
    assert_fresh(session, 0.25)


@pytest.mark.parametrize("kind", ["moved", "changed"])
def test_animation_makes_stale_and_a_frame_without_a_change_does_not(
    session: ModuleType, pair: Pair, kind: str
) -> None:
    b = pair[1]
    if kind == "moved":
        animate(b, "location", f1=(1.5, 0.0, 0.0), f11=(1.75, 0.0, 0.0))
    else:
        key = shape_key(b)
        for point in key.data:
            point.co.x += 0.25
        animate(key, "value", f1=0.0, f11=1.0)
    bpy.context.scene.frame_set(1)
    refresh()
    bpy.context.scene.frame_set(11)
    assert_stale(session, f"'B' has {kind}")
    assert_fresh(session, 0.25)
    bpy.context.scene.frame_set(12)
    assert_fresh(session, 0.25)


def test_unrelated_changes_do_not_make_stale(session: ModuleType, pair: Pair) -> None:
    cube("Other").location.z = 4.0
    pair[0].select_set(False)
    pair[0].color = (1.0, 0.0, 0.0, 1.0)
    update()
    assert session.stale_reason(bpy.context) == ""


def test_unchanged_pair_keeps_its_very_result(session: ModuleType, follow: ModuleType, pair: Pair) -> None:
    # The overlay keeps what it made for a result for as long as that lives.
    before = inspection()
    refresh()
    assert inspection() is before


@pytest.mark.parametrize("change", [lambda b: move(b, 1.75), lambda b: shift(b, 0.25)], ids=["move", "edit"])
def test_undo_and_redo_of_a_change(session: ModuleType, pair: Pair, change: Callable[[bpy.types.Object], None]) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    change(pair[1])
    refresh()
    bpy.ops.ed.undo_push(message="Change")
    for step, depth in ((bpy.ops.ed.undo, 0.5), (bpy.ops.ed.redo, 0.25)):
        assert step() == {"FINISHED"}
        update()
        assert session.is_stale(bpy.context)
        refresh()
        assert_fresh(session, depth)


def test_undo_of_the_inspection_itself(session: ModuleType) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    bpy.ops.ed.undo_push(message="Before")
    inspect(a, b)
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert inspection() is None
    assert bpy.ops.ed.redo() == {"FINISHED"}
    assert inspection().contact.depth == pytest.approx(0.5)


def test_redo_panel_tweak_ends_up_fresh(session: ModuleType) -> None:
    # Blender undoes the operator and runs it again with the settings of the panel.
    a, b = cube("A"), cube("B", (2.5, 0.0, 0.0))
    bpy.ops.ed.undo_push(message="Before")
    inspect(a, b)
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    inspect(bpy.data.objects["A"], bpy.data.objects["B"], clearance=1.0, swap=True)
    assert not session.is_stale(bpy.context)
    assert inspection().contact.relation == "within_clearance"
    assert inspection().name_a == "B"


def test_renamed_objects_are_shown_by_their_new_names(session: ModuleType, pair: Pair) -> None:
    pair[0].name, pair[1].name = "B", "A"
    pair[0].name = "Left"
    assert (inspection().name_a, inspection().name_b) == (pair[0].name, pair[1].name)
    assert pair_report()["objects"]["a"]["name"] == "Left"
    assert not session.is_stale(bpy.context)


@pytest.mark.parametrize("how", ["operator", "data", "unlinked"])
def test_deleted_object_takes_the_result_along(session: ModuleType, pair: Pair, how: str) -> None:
    b = pair[1]
    if how == "operator":
        with bpy.context.temp_override(selected_objects=[b]):
            bpy.ops.object.delete()
    elif how == "data":
        bpy.data.objects.remove(b)
    else:
        bpy.context.scene.collection.objects.unlink(b)
        update()  # until then the view layer itself still has it
    assert inspection() is None
    assert not session.is_stale(bpy.context)
    for operator in (bpy.ops.contact_lens.refresh, bpy.ops.contact_lens.separate, bpy.ops.contact_lens.frame):
        assert not operator.poll()
    update()
    assert inspection() is None


def test_picker_lets_go_of_a_deleted_object(follow: ModuleType, pair: Pair) -> None:
    bpy.context.scene.collection.objects.unlink(pair[1])
    update()
    follow._drop_deleted(bpy.context.scene)
    assert bpy.context.scene.contact_lens.object_b is None
    assert bpy.context.scene.contact_lens.object_a == pair[0]


def test_undo_of_a_deletion(session: ModuleType, pair: Pair) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    bpy.data.objects.remove(pair[1])
    bpy.ops.ed.undo_push(message="Delete")
    assert inspection() is None
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert inspection().contact.depth == pytest.approx(0.5)


def test_hidden_object_keeps_the_result_and_says_that_it_is_not_followed(
    session: ModuleType, follow: ModuleType, pair: Pair
) -> None:
    pair[1].hide_set(True)
    update()
    assert not session.is_stale(bpy.context)
    with pytest.raises(RuntimeError, match="'B' is hidden"):
        refresh()
    assert inspection().contact.depth == pytest.approx(0.5)
    assert "'B' is hidden" in session.stale_reason(bpy.context)
    pair[1].hide_set(False)
    refresh()
    assert not session.is_stale(bpy.context)


def test_saved_pair_is_there_after_loading_but_not_its_result(tmp_path: Path, pair: Pair) -> None:
    bpy.context.scene.contact_lens.clearance = 0.5
    path = save_scene(tmp_path / "pair.blend")
    fresh()
    assert inspection() is None
    assert bpy.context.scene.contact_lens.object_a is bpy.context.scene.contact_lens.object_b is None
    open_scene(path)
    settings = bpy.context.scene.contact_lens
    assert [settings.object_a.name, settings.object_b.name] == ["A", "B"]
    assert inspection() is None
    assert refresh().settings.clearance == 0.5


@pytest.mark.own_process
def test_scenes_have_results_of_their_own(session: ModuleType, pair: Pair) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    assert inspection() is None
    inspect(cube("C"), cube("D", (1.75, 0.0, 0.0)))
    assert inspection().contact.depth == pytest.approx(0.25)
    bpy.context.window.scene = first
    assert inspection().contact.depth == pytest.approx(0.5)


def test_timer_refreshes_the_scene_in_the_window(session: ModuleType, follow: ModuleType, pair: Pair) -> None:
    move(pair[1], 1.75)
    assert bpy.app.timers.is_registered(follow._run) == (not bpy.app.background), "it is not asked for there"
    follow._note(bpy.context.scene)
    follow._run()
    assert_fresh(session, 0.25)
    bpy.data.objects.remove(pair[1])
    follow._note(bpy.context.scene)
    follow._run()
    assert inspection() is None


def test_a_tag_that_changes_nothing_makes_nothing_stale(session: ModuleType, pair: Pair) -> None:
    rigid_body(pair[1], "BOX")  # tags the geometry, once more after the next evaluation
    inspect(*pair)
    assert session.stale_reason(bpy.context) == ""
    edit(pair[1], 0.0)
    assert session.stale_reason(bpy.context) == ""


class Slow:
    """A pair whose whole inspections run until they are released, and whose first answers are not cheap either, by a
    clock that stands still until it is set."""

    def __init__(self, b: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
        self.b = b
        self.follow, self.scene = lens.live.follow_pair, bpy.context.scene
        self.now, self.go_on = 100.0, threading.Event()
        self.begun: list[str] = []
        inspection, report_progress = lens.pair.inspection, lens.core.progress.report_progress
        honest = inspection.Work._inspection

        def slowly(work: object, progress: Callable[[float], bool], stage: Any) -> object:
            self.begun.append(stage.name.lower())
            while stage is stage.WHOLE and not self.go_on.wait(0.01):
                report_progress(progress, 0.5)
            return honest(work, progress, stage)

        monkeypatch.setattr(inspection.Work, "_inspection", slowly)
        monkeypatch.setattr(self.follow, "clock", lambda: self.now)
        monkeypatch.setattr(self.follow, "QUICK_S", 0.0)
        monkeypatch.setattr(self.follow, "CHEAP_S", 0.0)
        session = lens.pair.session
        for stage in inspection.Stage:
            session.note_seconds(self.scene, 5.0, stage)
        monkeypatch.setattr(session, "forget_seconds", lambda scene: None)

    def change(self, x: float) -> None:
        """Move B, as Blender's handler notes it where there is a window, and let Blender's timer come."""
        move(self.b, x)
        self.follow._note(self.scene)
        self.follow._run()

    def settle(self) -> Any:
        """Let time pass until the whole inspection runs; return what runs."""
        self.now += 2.0 * self.follow.SETTLE_S
        count = self.begun.count("whole")
        for _ in range(6000):
            self.follow._run()
            if self.begun.count("whole") > count:
                return self.job
            time.sleep(0.01)
        pytest.fail(f"it never begins: {self.follow._following}, {self.begun}")

    def begin(self, x: float) -> Any:
        """Move B and let time pass until the whole inspection runs; return what runs."""
        self.change(x)
        return self.settle()

    @property
    def job(self) -> Any:
        """What runs; None when nothing does."""
        entry = self.follow._following.get(self.scene.session_uid)
        return None if entry is None or entry.flow is None else entry.flow.task

    def end(self) -> None:
        """Let it end, and Blender's timer come."""
        self.go_on.set()
        assert self.job.wait(60.0)
        self.go_on.clear()
        self.follow._run()


@pytest.fixture
def slow(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow(pair[1], monkeypatch)
    yield slow
    slow.go_on.set()


def test_a_long_inspection_runs_beside_blender_without_a_limit(session: ModuleType, slow: Slow, pair: Pair) -> None:
    job = slow.begin(1.75)
    assert slow.begun == ["first", "whole"]
    assert inspection().is_provisional, "the first answer is there"
    assert_fresh(session, 0.25)
    slow.now += 3600.0
    assert slow.follow._run() == slow.follow.POLL_INTERVAL_S
    assert slow.job is job, "an hour later it still does"
    while job.progress == 0.0:
        time.sleep(0.01)
    done = pytest.approx(0.1 + 0.9 * 0.5)
    assert slow.follow.status(bpy.context) == slow.follow.PairStatus(
        "Updating", is_provisional=True, is_following=True, progress=done
    )
    slow.end()
    assert slow.job is None
    assert_fresh(session, 0.25)
    assert slow.follow.status(bpy.context) == slow.follow.PairStatus("Up to date")


def test_a_newer_change_ends_what_takes_long_and_is_inspected_when_the_changes_end(
    session: ModuleType, slow: Slow, pair: Pair
) -> None:
    first = slow.begin(1.75)
    slow.change(1.7)
    assert first.wait(60.0), "it was cancelled"
    assert slow.job is None
    for x in (1.6, 1.625, 1.65):  # the drag goes on
        slow.now += 0.2
        slow.change(x)
        assert slow.job is None, "nothing is begun that the next change would end"
    slow.settle()
    slow.end()
    assert_fresh(session, 0.35)


def test_a_tag_without_a_change_does_not_end_what_takes_long(slow: Slow, pair: Pair) -> None:
    job = slow.begin(1.75)
    slow.now += 10.0
    slow.follow._note(slow.scene)
    slow.follow._run()
    assert slow.job is job


def test_an_inspection_is_cancelled_and_the_next_change_begins_another(slow: Slow, pair: Pair) -> None:
    job = slow.begin(1.75)
    slow.now += 5.0
    assert slow.follow.progress_of(slow.scene) is not None
    assert bpy.ops.contact_lens.cancel(work="inspection") == {"FINISHED"}
    assert job.wait(60.0)
    assert slow.follow._run() is None
    assert slow.follow.status(bpy.context) == slow.follow.PairStatus("First answer only", is_provisional=True)
    slow.begin(1.625)
    slow.end()
    assert slow.follow.status(bpy.context) == slow.follow.PairStatus("Up to date")
    assert inspection().contact.depth == pytest.approx(0.375)


def test_what_is_cancelled_without_a_first_answer_is_outdated(
    follow: ModuleType, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow.change(1.75)
    follow.cancel(slow.scene)
    assert follow.status(bpy.context) == follow.PairStatus("Inspection cancelled", is_outdated=True)
    assert follow.status(bpy.context).text == "Inspection cancelled"


def test_a_pair_that_takes_long_is_pending_from_the_first_change_to_the_answer(
    session: ModuleType, slow: Slow, pair: Pair
) -> None:
    shown = []
    for k in range(12):  # of a drag, with a change each 0.125 s
        slow.change(1.75 + 0.01 * k)
        shown.append(slow.follow.status(bpy.context))
        slow.now += 0.125
    assert shown == [slow.follow.PairStatus("Updating", is_pending=True, is_following=True)] * 12, "nothing flashes"
    assert slow.begun == []
    showing = lens.views.viewport._showing(bpy.context, inspection())
    assert showing.is_pending
    assert showing.moved[1][0, 3] == pytest.approx(0.36), "the overlay draws it where it is"
    slow.settle()
    assert not slow.follow.status(bpy.context).is_pending
    slow.end()
    assert slow.follow.status(bpy.context) == slow.follow.PairStatus("Up to date")


def test_an_answer_of_an_older_mesh_is_not_taken_for_one_of_the_present_mesh(
    session: ModuleType, slow: Slow, pair: Pair
) -> None:
    def edit() -> None:
        shift(pair[1], 0.125)
        session.mark_stale(slow.scene, "'B' has changed")
        slow.follow._note(slow.scene, "'B' has changed")

    edit()
    slow.settle()
    edit()
    slow.end()
    assert inspection().contact.depth == pytest.approx(0.375)
    assert session.stale_reason(bpy.context) == "'B' has changed"
    slow.settle()
    slow.end()
    assert_fresh(session, 0.25)


@pytest.fixture
def quick(follow: ModuleType, pair: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """As if there were a window, and a machine as fast as it takes; returns how often the timer was asked for."""
    asked = []
    monkeypatch.setattr(follow.background, "has_windows", lambda: True)
    monkeypatch.setattr(follow, "_wake", lambda: asked.append(True))
    monkeypatch.setattr(follow, "CHEAP_S", 60.0)
    yield lambda: len(asked)
    follow._loaded()


def test_a_quick_pair_is_inspected_before_the_frame_is_drawn(
    session: ModuleType,
    follow: ModuleType,
    quick: Callable[[], int],
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow, "QUICK_S", 60.0)
    b, calls = pair[1], []
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: calls.append("update"))
    bpy.app.handlers.frame_change_post.append(lambda *_: calls.append("frame"))
    try:
        animate(b, "location", "LINEAR", f1=(0.5, 0.0, 0.0), f61=(3.5, 0.0, 0.0))
        update()
        calls.clear()
        for frame in range(1, 62):
            bpy.context.scene.frame_set(frame)
            assert session.stale_reason(bpy.context) == ""
            gap = (0.5 + (frame - 1) * 0.05) - 2.0
            assert inspection().contact.signed_distance == pytest.approx(gap, abs=1e-6)
        assert calls == ["frame"] * 61, "what is read tags nothing, so no handler is called again"
        calls.clear()
        b.animation_data_clear()
        for x in (1.75, 1.5, 1.25):
            move(b, x)
            assert_fresh(session, 2.0 - x)
        edit(b, -0.25)
        assert session.stale_reason(bpy.context) == ""
        assert inspection().contact.depth > 0.8
    finally:
        bpy.app.handlers.depsgraph_update_post.pop()
        bpy.app.handlers.frame_change_post.pop()
    assert quick() == 0, "the timer is not asked for"


def test_a_pair_that_is_not_read_at_once_is_up_to_date_while_it_is_only_tagged(
    session: ModuleType, follow: ModuleType, quick: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any selection makes Blender tag all active rigid bodies."""
    monkeypatch.setattr(follow, "_stage_at_once", lambda scene: None)
    a, b = rigid_body(cube("Rigid A"), "MESH"), rigid_body(cube("Rigid B", (1.5, 0.0, 0.0)), "MESH")
    inspect(a, b)
    for change, reason in (
        (lambda: select(a), ""),
        (lambda: move(b, 1.25), "'Rigid B' has moved"),
        (lambda: edit(b), "'Rigid B' has changed"),
        (lambda: select(b), "'Rigid B' has changed"),
    ):
        change()
        update()
        assert session.stale_reason(bpy.context) == reason


@pytest.fixture
def rings(quick: object) -> Pair:
    """Two rings that cross, inspected."""
    a, b = torus("Ring A"), torus("Ring B", (0.3, 0.0, 0.1), rotation=(1.4, 0.2, 0.0))
    inspect(a, b)
    return a, b


def test_first_answers_before_each_frame_are_bounds_that_the_whole_inspection_replaces(
    session: ModuleType,
    follow: ModuleType,
    rings: Pair,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow, "QUICK_S", 0.0)
    stored = []
    monkeypatch.setattr(session, "on_store", [lambda _, inspection: stored.append(inspection)])
    for x in (0.25, 4.0, 0.2):
        move(rings[1], x)
        first = inspection()
        assert follow.status(bpy.context) == follow.PairStatus("Updating", is_provisional=True, is_following=True)
        assert first.is_provisional
        assert session.stale_reason(bpy.context) == ""
        assert first.verify().ok
    assert stored == [], "a row of a scene check waits for the whole inspection"
    assert first.contact.intersects
    move(rings[1], 0.2)  # a tag without a change
    assert inspection() is first
    monkeypatch.setattr(follow, "SETTLE_S", 0.0)
    while follow._following:
        follow._run()
    assert follow.status(bpy.context) == follow.PairStatus("Up to date")
    whole = inspection()
    assert stored == [whole]
    assert whole.verification.ok
    assert 0.0 < whole.contact.least_depth <= whole.contact.depth <= first.contact.depth
    assert first.contact.least_depth <= whole.contact.least_depth


def test_progress_does_not_go_back_when_the_first_answer_is_there(
    follow: ModuleType, rings: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "QUICK_S", 0.0)
    done = []
    monkeypatch.setattr(follow.background.Task, "_report", lambda task, fraction: done.append(fraction) or True)
    move(rings[1], 0.25)
    assert inspection().is_provisional
    assert max(done) == lens.pair.inspection.BEGINNINGS[lens.pair.inspection.Stage.WHOLE]


def test_where_a_first_answer_takes_long_the_relation_and_the_curves_follow(
    session: ModuleType, follow: ModuleType, rings: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "QUICK_S", 0.0)

    def followed(x: float) -> Any:
        for _ in range(session.LAST):
            session.note_seconds(bpy.context.scene, 100.0, session.Stage.FIRST)
        move(rings[1], x)
        assert session.stale_reason(bpy.context) == ""
        assert inspection().stage is session.Stage.CROSSING
        assert follow.status(bpy.context) == follow.PairStatus("Updating", is_provisional=True, is_following=True)
        return inspection()

    crossing = followed(0.25)
    assert crossing.is_depth_pending
    lines, warnings = lens.report.pair_lines, lens.report.pair_warnings.warnings
    assert lines.headline(crossing) == ("Penetrating", "...", "")
    rows = lines.measurements(crossing)
    assert rows[:3] == [("Depth", "...", ""), ("Direction", "...", ""), ("Move B By", "...", "")]
    assert warnings(crossing) == []
    assert lens.draw.overlay_labels.vector_label(crossing) == "..."
    assert bpy.ops.contact_lens.separate.poll(), "it is inspected first"
    reported = pair_report()
    assert reported["verify"]["ok"]
    assert reported["contact"]["depth"] > 0.0
    whole = refresh()
    assert whole.contact.relation == crossing.contact.relation == "penetrating"
    assert [c.points.tolist() for c in crossing.contact.curves] == [c.points.tolist() for c in whole.contact.curves]

    apart = followed(4.0)
    assert not apart.is_depth_pending
    assert apart.contact.signed_distance == refresh().contact.signed_distance


def test_an_operator_does_not_take_a_first_answer_for_the_result(
    session: ModuleType, follow: ModuleType, rings: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "QUICK_S", 0.0)
    move(rings[1], 0.2)
    assert inspection().is_provisional
    assert pair_report()["verify"]["ok"], "a report checks it"
    assert not refresh().is_provisional


def test_an_operator_in_a_window_shows_each_stage_as_soon_as_it_is_made(
    session: ModuleType, follow: ModuleType, rings: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, stages = session.store, []

    def noted(scene: Any, found: Any) -> None:
        stages.append(found.stage.name)
        store(scene, found)

    monkeypatch.setattr(session, "store", noted)
    rings[1].location.x = 0.25
    refresh()
    assert stages[-3:] == ["CROSSING", "FIRST", "WHOLE"]
    for ring in rings:  # open surfaces have no depth, and so no first one
        mesh = bmesh.new()
        mesh.from_mesh(ring.data)
        mesh.faces.ensure_lookup_table()
        bmesh.ops.delete(mesh, geom=mesh.faces[:1], context="FACES_ONLY")
        mesh.to_mesh(ring.data)
        mesh.free()
    refresh()
    assert stages[-2:] == ["CROSSING", "WHOLE"]
    assert lens.draw.overlay_labels.vector_label(inspection()) == "penetrating, no depth"


def test_of_an_inspection_that_is_cancelled_what_was_shown_stays(
    session: ModuleType, follow: ModuleType, rings: Pair
) -> None:
    rings[1].location.x = 0.25
    bpy.context.view_layer.update()
    operators = lens.operators.pair_operators
    for number, reason in ((1, "inspection cancelled"), (2, "")):
        session.clear()
        work = operators.read_pair(bpy.context, operators.picked_keys(bpy.context))
        steps = operators.inspect_in_stages(bpy.context.scene, work)
        part = next(steps)
        for _ in range(number):
            part = steps.send(part(lambda fraction: True))
        with pytest.raises(lens.core.progress.Cancelled):
            steps.throw(lens.core.progress.Cancelled())
        assert inspection().is_provisional
        assert session.stale_reason(bpy.context).lower() == reason, "without its depth it is no answer"


@pytest.mark.parametrize(
    ("seconds", "is_quick"),
    [
        ([0.02], True),
        ([0.02, 0.02, 0.02, 0.5, 0.5], True),
        ([0.02, 0.02, 0.5, 0.5, 0.5], False),
        ([0.5, 0.5, 0.5, 0.02, 0.02, 0.02], True),
        ([0.031], False),
    ],
)
def test_quick_is_less_than_30_ms_by_the_median_of_the_last_five(
    session: ModuleType,
    follow: ModuleType,
    quick: Callable[[], int],
    pair: Pair,
    seconds: list[float],
    is_quick: bool,
) -> None:
    session._seconds.clear()
    for second in seconds:
        session.note_seconds(bpy.context.scene, second)
    move(pair[1], 1.75)
    assert_fresh(session, 0.25)
    assert inspection().is_provisional == (not is_quick)
    assert quick() == (0 if is_quick else 1), "the timer makes the whole inspection"


def test_nothing_is_inspected_while_blender_renders(
    session: ModuleType,
    follow: ModuleType,
    quick: Callable[[], int],
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow, "QUICK_S", 60.0)
    with monkeypatch.context() as patch:
        patch.setattr(follow.handlers, "is_rendering", lambda: True)
        move(pair[1], 1.75)
        assert follow._run() == follow.RENDER_INTERVAL_S
        assert session.stale_reason(bpy.context) == "'B' has moved"
    assert follow._run() is None, "afterwards it is"
    assert_fresh(session, 0.25)


def test_a_new_name_or_unit_while_it_is_inspected_costs_no_answer(session: ModuleType, slow: Slow, pair: Pair) -> None:
    slow.change(1.75)
    pair[1].name = "Renamed"
    bpy.context.scene.unit_settings.length_unit = "MILLIMETERS"
    assert session.stale_reason(bpy.context) == "'Renamed' has moved"  # the panel asks for it with every drawing
    slow.settle()
    bpy.context.scene.unit_settings.length_unit = "METERS"
    assert inspection().is_provisional  # as the panel does
    slow.end()
    assert_fresh(session, 0.25)
    assert inspection().name_b == "Renamed"


@pytest.mark.own_process
def test_a_scene_that_is_in_no_window_for_a_moment_is_still_followed(
    session: ModuleType, slow: Slow, pair: Pair
) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("Second")
    job = slow.begin(1.75)
    bpy.context.window.scene = second
    slow.now += 10.0
    slow.follow._run()
    assert slow.job is job, "it goes on"
    bpy.context.window.scene = first
    slow.end()
    assert_fresh(session, 0.25)
    job = slow.begin(1.5)
    bpy.context.window.scene = second
    bpy.data.scenes.remove(first)
    assert slow.follow._run() is None
    assert job.wait(60.0), "of a scene that was deleted it is cancelled"


def test_selecting_does_not_begin_again_what_was_cancelled(
    follow: ModuleType, quick: Callable[[], int], pair: Pair
) -> None:
    follow.cancel(bpy.context.scene)
    select(pair[0])
    update()
    assert quick() == 0
    assert follow.status(bpy.context).text == "Inspection cancelled"


@pytest.fixture(params=[(0.0, 0.0), (0.0, 60.0), (60.0, 60.0)], ids=["by the timer", "first answers", "in the handler"])
def settled(
    request: pytest.FixtureRequest,
    follow: ModuleType,
    quick: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], None]:
    """Evaluate the scene, and let Blender's timer come where it was asked for, until nothing is left to be done."""
    for name, seconds in zip(("QUICK_S", "CHEAP_S"), request.param, strict=True):
        monkeypatch.setattr(follow, name, seconds)
    monkeypatch.setattr(follow, "SETTLE_S", 0.0)

    def settle() -> None:
        update()
        for _ in range(6000):
            if not follow._following:
                return
            follow._run()
            time.sleep(0.01)
        pytest.fail("it never ends")

    return settle


def test_what_is_empty_at_a_frame_is_inspected_at_the_next_one(
    session: ModuleType, settled: Callable[[], None], pair: Pair
) -> None:
    build = pair[1].modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 5, 1
    for frame, error in ((10, ""), (2, "'B' has no vertices"), (10, "")):
        bpy.context.scene.frame_set(frame)
        settled()
        assert session.error(bpy.context).startswith(error)
        assert bool(session.error(bpy.context)) == bool(error)
        assert (inspection() is None) == bool(error)


def test_a_pair_picked_while_one_was_hidden_is_inspected_when_it_is_shown(
    session: ModuleType, settled: Callable[[], None], pair: Pair
) -> None:
    other = cube("Other", (1.75, 0.0, 0.0))
    other.hide_set(True)
    bpy.context.scene.contact_lens.object_b = other
    settled()
    assert session.error(bpy.context).startswith("'Other' is hidden")
    other.hide_set(False)
    settled()
    assert session.error(bpy.context) == ""
    assert inspection().contact.depth == pytest.approx(0.25)


def test_where_something_unexpected_fails_no_old_answer_stays(
    session: ModuleType,
    settled: Callable[[], None],
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object) -> None:
        raise MemoryError("no room for 9 GB")

    with monkeypatch.context() as patch:
        patch.setattr(lens.pair.inspection.Work, "_inspection", fails)
        shift(pair[1], 0.25)
        settled()
        assert inspection() is None
        assert "'A' and 'B' cannot be inspected (MemoryError: no room for 9 GB)" in session.error(bpy.context)
        with pytest.raises(RuntimeError, match="cannot be inspected"):  # what an operator reports, to a script
            refresh()
    assert "Error in bpy.app.handlers" not in capfd.readouterr().err
    pair[1].location.x = 1.625
    settled()
    assert session.error(bpy.context) == ""
    assert inspection().contact.depth == pytest.approx(0.125)


@pytest.mark.parametrize("last", [False, True], ids=["one of two", "the only one"])
def test_a_part_that_ceases_to_be_one_is_followed(
    session: ModuleType, settled: Callable[[], None], pair: Pair, last: bool
) -> None:
    parent, near, far = cube("Parent", size=1.0), cube("Near", (0.75, 0.0, 0.0), 1.0), cube("Far", (-3.0, 0.0, 0.0))
    rigid_body(parent, "COMPOUND")
    adopt(parent, *(rigid_body(obj, "CONVEX_HULL") for obj in ((near,) if last else (near, far))))
    inspect(parent, pair[1])
    settled()
    assert inspection().contact.signed_distance == pytest.approx(-0.75)
    select(near)
    bpy.ops.rigidbody.object_remove()
    settled()
    assert session.stale_reason(bpy.context) == ""
    # B begins at x = 0.5, where the parent's own mesh ends; the far part ends at x = -2.
    assert inspection().contact.signed_distance == pytest.approx(0.0 if last else 2.5, abs=1e-6)


def test_no_thread_is_left_when_the_addon_is_switched_off(follow: ModuleType, slow: Slow, pair: Pair) -> None:
    job = slow.begin(1.75)
    assert not job.wait(0.0)
    follow.unregister()
    follow.register()
    follow.background.end_all()
    assert job.wait(0.0)
