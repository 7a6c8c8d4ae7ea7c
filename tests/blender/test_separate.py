# SPDX-License-Identifier: GPL-3.0-or-later
"""Separate: the objects end up just touching, or stay where they were and the reason is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import cube, inspect, part
from .window import ESC, TICK, Window, modal_operator

pytestmark = pytest.mark.usefixtures("empty_scene")


def relation() -> str:
    inspection = part("blender_addon.check.session").current(bpy.context)
    assert inspection is not None
    assert not part("blender_addon.check.session").is_stale(bpy.context)
    return str(inspection.contact.relation)


@pytest.fixture
def pair() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two cubes that overlap by 0.5 along X."""
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    inspect(a, b)
    return a, b


@pytest.mark.parametrize(("moves", "a_x", "b_x"), [("B", 0.0, 2.0), ("A", -0.5, 1.5), ("HALF", -0.25, 1.75)])
def test_moves_apart_and_inspects_again(
    pair: tuple[bpy.types.Object, bpy.types.Object], moves: str, a_x: float, b_x: float
) -> None:
    a, b = pair
    assert bpy.ops.contact_lens.separate(moves=moves) == {"FINISHED"}
    assert tuple(a.location) == pytest.approx((a_x, 0.0, 0.0), abs=1e-6)
    assert tuple(b.location) == pytest.approx((b_x, 0.2, 0.1), abs=1e-6)
    assert relation() == "touching"
    with pytest.raises(RuntimeError, match="do not penetrate"):
        bpy.ops.contact_lens.separate()


def test_one_undo_step_takes_it_back(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Separate")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert bpy.data.objects["B"].location.x == pytest.approx(1.5)
    bpy.context.view_layer.update()
    assert part("blender_addon.check.session").is_stale(bpy.context)
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert relation() == "penetrating"


def test_what_is_out_of_date_is_read_again_first(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    b = pair[1]
    b.location.x = 1.75
    bpy.context.view_layer.update()
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert b.location.x == pytest.approx(2.0)


def test_child_of_a_sheared_parent_goes_the_way_in_world_space() -> None:
    a, b = cube("A"), cube("B")
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.rotation_euler = (0.3, 0.5, 0.7)
    parent.scale = (1.0, 3.0, 0.5)
    parent.location = (0.5, -0.5, 0.25)
    b.parent = parent
    b.location = (0.8, 0.1, -0.3)
    b.rotation_euler = (0.2, 0.1, 0.9)
    inspect(a, b)
    mtv = part("blender_addon.check.session").current(bpy.context).contact.mtv
    before = np.array(b.matrix_world, dtype=np.float64)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    after = np.array(b.matrix_world, dtype=np.float64)
    assert after[:3, 3] - before[:3, 3] == pytest.approx(mtv, abs=1e-5)
    assert np.array_equal(after[:3, :3], before[:3, :3])
    assert relation() == "touching"


def stays(match: str, *objects: bpy.types.Object, **options: object) -> None:
    """Separate refuses with these words, and nothing has moved."""
    before = [np.array(obj.matrix_world) for obj in objects]
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.contact_lens.separate(**options)
    for obj, matrix in zip(objects, before, strict=True):
        assert np.array_equal(np.array(obj.matrix_world), matrix)


def test_locked_channel_is_respected(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    a, b = pair
    b.lock_location = (True, False, False)
    stays("'B' cannot be moved: its X location is locked", a, b)
    stays("'B' cannot be moved: its X location is locked", a, b, moves="HALF")
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}


def test_lock_across_the_way_is_no_hindrance(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    pair[1].lock_location = (False, True, True)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}


def test_constraint_that_holds_the_object_is_found_out(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    a, b = pair
    limit = b.constraints.new("LIMIT_LOCATION")
    limit.use_max_x = True
    limit.max_x = 1.6
    bpy.context.view_layer.update()
    stays("'B' cannot be moved: constraints, drivers or its parent fix its location", a, b)
    assert b.location.x == pytest.approx(1.5)


def test_driver_that_holds_the_object_is_found_out(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    a, b = pair
    b.driver_add("location", 0).driver.expression = "1.5"
    bpy.context.view_layer.update()
    stays("'B' cannot be moved: constraints, drivers or its parent fix its location", a, b)


def test_child_that_moves_along_is_found_out() -> None:
    a, b = cube("A", (1.5, 0.0, 0.0)), cube("B")
    a.parent = b
    inspect(a, b)
    stays("'A' and 'B' move together", a, b)
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}


def test_linked_object_stays(tmp_path: Path, empty_scene: object) -> None:
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {cube("Linked", (1.5, 0.0, 0.0))})
    bpy.data.objects.remove(bpy.data.objects["Linked"])
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    b = bpy.data.objects["Linked"]
    bpy.context.scene.collection.objects.link(b)
    a = cube("A")
    inspect(a, b)
    stays("'Linked' cannot be moved: it is linked from .*library.blend", a, b)
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}
    assert relation() == "touching"


# --- animation ------------------------------------------------------------------------------------------------------

PUT_BACK = "The location of 'B' is animated: insert a keyframe, or the next frame change undoes the move"


def separated(capfd: pytest.CaptureFixture[str], **options: object) -> tuple[str, ...]:
    """Separate, and the warnings that the operator reports (in the background Blender prints what it reports)."""
    capfd.readouterr()
    assert bpy.ops.contact_lens.separate(**options) == {"FINISHED"}
    assert relation() == "touching"
    said = capfd.readouterr().out.splitlines()
    return tuple(line.removeprefix("Warning: ") for line in said if line.startswith("Warning: "))


def keyed(obj: bpy.types.Object, channel: int = -1) -> None:
    """The object's location is animated, and it is where its animation wants it."""
    for frame in (1, 10):
        obj.keyframe_insert("location", index=channel, frame=frame)
    bpy.context.scene.frame_set(5)


def test_keyframes_that_put_the_object_back_are_told(
    pair: tuple[bpy.types.Object, bpy.types.Object], capfd: pytest.CaptureFixture[str]
) -> None:
    keyed(pair[1])
    assert separated(capfd) == (PUT_BACK,)
    bpy.context.scene.frame_set(6)
    assert pair[1].location.x == pytest.approx(1.5), "what was told has come true"


def test_keyframes_of_what_stays_are_no_hindrance(
    pair: tuple[bpy.types.Object, bpy.types.Object], capfd: pytest.CaptureFixture[str]
) -> None:
    a, b = pair
    keyed(a)
    keyed(b, channel=1)  # the way is along X
    assert separated(capfd) == ()


def test_strips_of_the_nla_that_put_the_object_back_are_told(
    pair: tuple[bpy.types.Object, bpy.types.Object], capfd: pytest.CaptureFixture[str]
) -> None:
    b = pair[1]
    keyed(b)
    animation = b.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
    if slot is not None:
        strip.action_slot = slot
    bpy.context.scene.frame_set(5)
    assert separated(capfd) == (PUT_BACK,)
    animation.nla_tracks[0].mute = True
    b.location.x = 1.5
    bpy.context.view_layer.update()
    assert separated(capfd) == ()


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="actions have slots since Blender 4.4")
def test_keyframes_of_another_objects_slot_are_no_hindrance(
    pair: tuple[bpy.types.Object, bpy.types.Object], capfd: pytest.CaptureFixture[str]
) -> None:
    a, b = pair
    keyed(a)
    animation = b.animation_data_create()
    animation.action = a.animation_data.action
    animation.action_slot = animation.action.slots.new("OBJECT", "B")
    assert separated(capfd) == ()
    animation.action_slot = a.animation_data.action_slot
    b.location.x = 1.5
    bpy.context.view_layer.update()
    assert separated(capfd) == (PUT_BACK,)


@pytest.fixture
def auto_keying() -> Iterator[bpy.types.ToolSettings]:
    """Auto Keying is on, and makes curves where there are none."""
    tools, editing = bpy.context.scene.tool_settings, bpy.context.preferences.edit
    only_available = editing.use_keyframe_insert_available
    tools.use_keyframe_insert_auto, editing.use_keyframe_insert_available = True, False
    yield tools
    editing.use_keyframe_insert_available = only_available


@pytest.mark.parametrize("animated", [False, True])
def test_auto_keying_keeps_the_object_where_it_went(
    pair: tuple[bpy.types.Object, bpy.types.Object],
    capfd: pytest.CaptureFixture[str],
    auto_keying: bpy.types.ToolSettings,
    animated: bool,
) -> None:
    b = pair[1]
    if animated:
        keyed(b)
    assert separated(capfd) == ()
    bpy.context.scene.frame_set(6)
    bpy.context.scene.frame_set(5)
    assert b.location.x == pytest.approx(2.0)


def test_auto_keying_of_what_is_animated_already_leaves_the_rest_alone(
    pair: tuple[bpy.types.Object, bpy.types.Object],
    capfd: pytest.CaptureFixture[str],
    auto_keying: bpy.types.ToolSettings,
) -> None:
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    assert separated(capfd) == ()
    assert pair[1].animation_data is None


def test_auto_keying_that_only_replaces_leaves_the_warning(
    pair: tuple[bpy.types.Object, bpy.types.Object],
    capfd: pytest.CaptureFixture[str],
    auto_keying: bpy.types.ToolSettings,
) -> None:
    keyed(pair[1])
    auto_keying.auto_keying_mode = "REPLACE_KEYS"
    assert separated(capfd) == (PUT_BACK,), "there is no key at frame 5"
    bpy.context.scene.frame_set(10)
    assert separated(capfd) == ()


# --- with what takes long -------------------------------------------------------------------------------------------


@pytest.fixture
def separating(pair: tuple[bpy.types.Object, bpy.types.Object], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Window]:
    """Separate B, begun with a button, on a pair of which any inspection takes long; and its context."""
    separate_steps = part("blender_addon.ui.operators").separate_steps
    part("blender_addon.check.session").clear()
    background = part("blender_addon.ui.background")
    return modal_operator(background, lambda self, context: separate_steps(self, context, "B"), monkeypatch)


def test_what_takes_long_goes_on_beside_blender(
    pair: tuple[bpy.types.Object, bpy.types.Object], separating: tuple[Any, Window]
) -> None:
    operator, window = separating
    assert operator.modal(window, TICK) == {"PASS_THROUGH"}
    assert pair[1].location.x == pytest.approx(1.5), "not before it is known how far"
    operator.flow.task.end()
    assert operator.modal(window, TICK) == {"PASS_THROUGH"}
    assert pair[1].location.x == pytest.approx(2.0)
    assert (window.timers, window.handlers) == (1, 1)
    assert operator.modal(window, TICK) == {"PASS_THROUGH"}
    operator.flow.task.end()
    assert operator.modal(window, TICK) == {"FINISHED"}
    assert (window.timers, window.handlers) == (0, 1)
    assert relation() == "touching"
    assert operator.said[0].startswith("Moved 'B' by 0.50000 m. A and B: touching")


def test_esc_before_the_move_leaves_all_as_it_was(
    pair: tuple[bpy.types.Object, bpy.types.Object], separating: tuple[Any, Window]
) -> None:
    operator, window = separating
    task = operator.flow.task
    assert operator.modal(window, ESC) == {"CANCELLED"}
    assert (task.is_cancelled, window.timers) == (True, 0)
    assert pair[1].location.x == pytest.approx(1.5)


def test_esc_after_the_move_keeps_it_as_a_step_that_can_be_undone(
    pair: tuple[bpy.types.Object, bpy.types.Object], separating: tuple[Any, Window]
) -> None:
    operator, window = separating
    operator.flow.task.end()
    operator.modal(window, TICK)
    assert operator.modal(window, ESC) == {"FINISHED"}
    assert window.timers == 0
    assert pair[1].location.x == pytest.approx(2.0)
    assert operator.said == ["Moved 'B' by 0.50000 m. The inspection afterwards was cancelled"]


def test_what_changed_meanwhile_is_not_moved(
    pair: tuple[bpy.types.Object, bpy.types.Object], separating: tuple[Any, Window]
) -> None:
    operator, window = separating
    pair[1].location.x = 1.2
    bpy.context.view_layer.update()
    operator.flow.task.end()
    assert operator.modal(window, TICK) == {"CANCELLED"}
    assert operator.said == ["An object changed during the inspection, so nothing was moved: try again"]
    assert (pair[1].location.x, window.timers) == (pytest.approx(1.2), 0)
