# SPDX-License-Identifier: GPL-3.0-or-later
"""Results while the file changes under them: moved, edited, undone, loaded, renamed, deleted, switched off."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import addon_utils
import bpy
import pytest

from .scenes import cube, inspect, select

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def session(part: Part) -> ModuleType:
    return part("blender_addon.session")


@pytest.fixture
def refresh(part: Part) -> ModuleType:
    return part("blender_addon.refresh")


@pytest.fixture
def tell(part: Part) -> Callable[..., None]:
    return part("core.progress").tell


@pytest.fixture
def pair() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two cubes that overlap by 0.5 along X, inspected."""
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    return a, b


def test_move_and_edit_make_stale_and_refresh_makes_right(
    session: ModuleType, refresh: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    b = pair[1]
    b.location.x = 1.75
    bpy.context.view_layer.update()
    assert session.stale_reason(bpy.context) == "'B' has moved"
    assert refresh.refresh(bpy.context) == ""
    assert not session.is_stale(bpy.context)
    assert session.current(bpy.context).contact.depth == pytest.approx(0.25)
    for vertex in b.data.vertices:
        vertex.co.x += 0.125
    b.data.update()
    bpy.context.view_layer.update()
    assert session.stale_reason(bpy.context) == "'B' has changed"
    assert refresh.refresh(bpy.context) == ""
    assert session.current(bpy.context).contact.depth == pytest.approx(0.125)


def test_parent_that_moves_makes_stale(session: ModuleType) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    b.parent = parent
    inspect(a, b)
    parent.location.x = 0.25
    bpy.context.view_layer.update()
    assert session.stale_reason(bpy.context) == "'B' has moved"


def test_animation_makes_stale(session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    b = pair[1]
    b.keyframe_insert("location", frame=1)
    b.location.x = 1.75
    b.keyframe_insert("location", frame=11)
    bpy.context.scene.frame_set(1)
    bpy.ops.contact_lens.refresh()
    bpy.context.scene.frame_set(11)
    assert session.stale_reason(bpy.context) == "'B' has moved"


def test_deformation_by_animation_makes_stale_and_an_unmoving_frame_does_not(
    session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    b = pair[1]
    b.shape_key_add(name="Basis")
    key = b.shape_key_add(name="Moved")
    for point in key.data:
        point.co.x += 1.0
    for frame, value in ((1, 0.0), (11, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    scene = bpy.context.scene
    scene.frame_set(1)
    bpy.ops.contact_lens.refresh()
    before = session.current(bpy.context).contact.signed_distance
    scene.frame_set(11)
    assert session.stale_reason(bpy.context) == "'B' has changed with the frame"
    bpy.ops.contact_lens.refresh()
    assert session.current(bpy.context).contact.signed_distance > before + 0.9
    assert session.stale_reason(bpy.context) == ""


def test_unrelated_changes_do_not_make_stale(
    session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    cube("Other").location.z = 4.0
    pair[0].select_set(False)
    pair[0].color = (1.0, 0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    assert session.stale_reason(bpy.context) == ""


def test_unchanged_pair_keeps_its_very_result(
    session: ModuleType, refresh: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    # The overlay keeps what it made for a result for as long as that lives.
    before = session.current(bpy.context)
    assert refresh.refresh(bpy.context) == ""
    assert session.current(bpy.context) is before


def test_undo_and_redo_of_a_move(session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    pair[1].location.x = 1.75
    bpy.context.view_layer.update()
    bpy.ops.contact_lens.refresh()
    bpy.ops.ed.undo_push(message="Move")
    for step, depth in ((bpy.ops.ed.undo, 0.5), (bpy.ops.ed.redo, 0.25)):
        assert step() == {"FINISHED"}
        bpy.context.view_layer.update()
        assert session.is_stale(bpy.context)
        assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
        assert not session.is_stale(bpy.context)
        assert session.current(bpy.context).contact.depth == pytest.approx(depth)


def test_undo_of_an_edit(session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    for vertex in pair[1].data.vertices:
        vertex.co.x += 0.25
    pair[1].data.update()
    bpy.context.view_layer.update()
    bpy.ops.contact_lens.refresh()
    assert session.current(bpy.context).contact.depth == pytest.approx(0.25)
    bpy.ops.ed.undo_push(message="Edit")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert session.is_stale(bpy.context)
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert session.current(bpy.context).contact.depth == pytest.approx(0.5)


def test_undo_of_the_inspection_itself(session: ModuleType) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    bpy.ops.ed.undo_push(message="Before")
    inspect(a, b)
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert session.current(bpy.context) is None
    assert bpy.ops.ed.redo() == {"FINISHED"}
    assert session.current(bpy.context).contact.depth == pytest.approx(0.5)


def test_redo_panel_tweak_ends_up_fresh(session: ModuleType) -> None:
    # Blender undoes the operator and runs it again with the settings of the panel.
    a, b = cube("A"), cube("B", (2.5, 0.0, 0.0))
    bpy.ops.ed.undo_push(message="Before")
    inspect(a, b)
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    inspect(bpy.data.objects["A"], bpy.data.objects["B"], clearance=1.0, swap=True)
    assert not session.is_stale(bpy.context)
    assert session.current(bpy.context).contact.relation == "within_clearance"
    assert session.current(bpy.context).name_a == "B"


def test_renamed_objects_are_shown_by_their_new_names(
    session: ModuleType, part: Part, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    pair[0].name, pair[1].name = "B", "A"
    pair[0].name = "Left"
    report = part("blender_addon.report")
    inspection = session.current(bpy.context)
    assert (inspection.name_a, inspection.name_b) == (pair[0].name, pair[1].name)
    assert report.report(bpy.context)["objects"]["a"]["name"] == "Left"
    assert not session.is_stale(bpy.context)


@pytest.mark.parametrize("how", ["operator", "data", "unlinked"])
def test_deleted_object_takes_the_result_along(
    session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object], how: str
) -> None:
    b = pair[1]
    if how == "operator":
        with bpy.context.temp_override(selected_objects=[b]):
            bpy.ops.object.delete()
    elif how == "data":
        bpy.data.objects.remove(b)
    else:
        bpy.context.scene.collection.objects.unlink(b)
        bpy.context.view_layer.update()  # until then the view layer itself still has it
    assert session.current(bpy.context) is None
    assert not session.is_stale(bpy.context)
    for operator in (bpy.ops.contact_lens.refresh, bpy.ops.contact_lens.separate, bpy.ops.contact_lens.frame):
        assert not operator.poll()
    bpy.context.view_layer.update()
    assert session.current(bpy.context) is None


def test_picker_lets_go_of_a_deleted_object(
    refresh: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    bpy.context.scene.collection.objects.unlink(pair[1])
    bpy.context.view_layer.update()
    refresh._drop_deleted(bpy.context.scene)
    assert bpy.context.scene.contact_lens.object_b is None
    assert bpy.context.scene.contact_lens.object_a == pair[0]


def test_undo_of_a_deletion(session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    bpy.data.objects.remove(pair[1])
    bpy.ops.ed.undo_push(message="Delete")
    assert session.current(bpy.context) is None
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert session.current(bpy.context).contact.depth == pytest.approx(0.5)


def test_hidden_object_keeps_the_result_and_says_that_it_is_not_followed(
    session: ModuleType, refresh: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    pair[1].hide_set(True)
    bpy.context.view_layer.update()
    assert not session.is_stale(bpy.context)
    assert "'B' is hidden" in refresh.refresh(bpy.context)
    assert session.current(bpy.context).contact.depth == pytest.approx(0.5)
    assert "'B' is hidden" in session.stale_reason(bpy.context)
    pair[1].hide_set(False)
    assert refresh.refresh(bpy.context) == ""
    assert not session.is_stale(bpy.context)


def test_saved_pair_is_there_after_loading_but_not_its_result(
    session: ModuleType, tmp_path: Path, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    bpy.context.scene.contact_lens.clearance = 0.5
    path = tmp_path / "pair.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert session.current(bpy.context) is None
    assert session.picked(bpy.context.scene) == []
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert [obj.name for obj in session.picked(bpy.context.scene)] == ["A", "B"]
    assert session.current(bpy.context) is None
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert session.current(bpy.context).settings.clearance == 0.5


def test_scenes_have_results_of_their_own(session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    assert session.current(bpy.context) is None
    inspect(cube("C"), cube("D", (1.75, 0.0, 0.0)))
    assert session.current(bpy.context).contact.depth == pytest.approx(0.25)
    bpy.context.window.scene = first
    assert session.current(bpy.context).contact.depth == pytest.approx(0.5)


def test_timer_is_not_asked_for_in_background_mode(
    refresh: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    pair[1].location.x = 1.75
    bpy.context.view_layer.update()
    assert bpy.app.timers.is_registered(refresh._run) == (not bpy.app.background)


def test_timer_refreshes_the_scene_in_the_window(
    session: ModuleType, refresh: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    pair[1].location.x = 1.75
    bpy.context.view_layer.update()
    refresh._pending.add(bpy.context.scene.session_uid)
    refresh._run()
    assert not session.is_stale(bpy.context)
    assert session.current(bpy.context).contact.depth == pytest.approx(0.25)
    bpy.data.objects.remove(pair[1])
    refresh._pending.add(bpy.context.scene.session_uid)
    refresh._run()
    assert session.current(bpy.context) is None


def test_a_tag_that_changes_nothing_makes_nothing_stale(
    session: ModuleType, pair: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    select(pair[1])
    bpy.ops.rigidbody.object_add()  # tags the geometry, once more after the next evaluation
    pair[1].rigid_body.collision_shape = "BOX"
    inspect(*pair)
    assert session.stale_reason(bpy.context) == ""
    pair[1].data.update()
    bpy.context.view_layer.update()
    assert session.stale_reason(bpy.context) == ""


def test_what_takes_long_is_followed_beside_blender_and_given_up_when_it_takes_too_long(
    session: ModuleType,
    refresh: ModuleType,
    tell: Callable[..., None],
    pair: tuple[bpy.types.Object, bpy.types.Object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest, uid = refresh.begun, bpy.context.scene.session_uid
    go_on = threading.Event()

    def slowly(*arguments: object) -> object:
        made = honest(*arguments)

        def work(progress: Callable[[float], bool]) -> object:
            for _ in range(1_000):  # were it waited for, it would have ended when it is asked for
                if go_on.wait(0.01):
                    break
                tell(progress, 0.5)
            return made(progress)

        return work

    monkeypatch.setattr(refresh, "begun", slowly)
    pair[1].location.x = 1.75
    bpy.context.view_layer.update()
    refresh._pending.add(uid)
    assert refresh._run() == refresh.POLL, "it goes on, and the timer comes again"
    assert session.stale_reason(bpy.context) == "'B' has moved"
    go_on.set()
    refresh._running[uid].job.wait(10.0)
    assert refresh._run() is None
    assert not session.is_stale(bpy.context)
    assert session.current(bpy.context).contact.depth == pytest.approx(0.25)

    go_on.clear()
    monkeypatch.setattr(refresh, "FOLLOWED", 0.0)
    pair[1].location.x = 1.5
    bpy.context.view_layer.update()
    refresh._pending.add(uid)
    assert refresh._run() == refresh.POLL
    job = refresh._running[uid].job
    assert refresh._run() is None
    assert session.stale_reason(bpy.context) == refresh.TOO_LONG
    assert job.wait(10.0), "it was cancelled"
    refresh._pending.add(uid)
    assert refresh._run() is None, "not tried again for every move"
    assert session.stale_reason(bpy.context) == refresh.TOO_LONG
    monkeypatch.undo()
    bpy.context.scene.contact_lens.clearance = 0.5  # another question is tried again
    refresh._pending.add(uid)
    refresh._run()
    assert not session.is_stale(bpy.context)


def in_blender() -> dict[str, object]:
    """All that an add-on can leave behind."""
    handlers = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
    names = [name for name in dir(bpy.types) if "contact_lens" in name.lower() or "ContactLens" in name]
    return {
        "handlers": {name: len(getattr(bpy.app.handlers, name)) for name in handlers},
        "classes": names,
        "operators": list(dir(bpy.ops.contact_lens)),
        "scene": "contact_lens" in bpy.types.Scene.bl_rna.properties,
        "menus": {
            name: len(getattr(bpy.types, name)._dyn_ui_initialize())
            for name in ("VIEW3D_MT_object", "VIEW3D_MT_object_context_menu", "VIEW3D_MT_edit_mesh")
        },
    }


def test_ten_times_off_and_on_leaves_nothing(addon: ModuleType, part: Part) -> None:
    module = addon.__name__
    with_addon = in_blender()
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    session, read, overlay = (part(f"blender_addon.{name}") for name in ("session", "read", "overlay"))
    addon_utils.disable(module)
    without = in_blender()
    assert not without["scene"]
    assert not without["operators"]
    assert without["classes"] == []
    assert session._inspections == {}
    assert not any(memory._values for memory in (read._local_hulls, read._world_hulls, read._dents))
    assert not overlay._handlers
    counts = []
    try:
        for _ in range(10):
            assert addon_utils.enable(module) is not None
            assert in_blender() == with_addon
            inspect(bpy.data.objects["A"], bpy.data.objects["B"])
            addon_utils.disable(module)
            assert in_blender() == without
            gc.collect()
            counts.append(len(gc.get_objects()))
    finally:
        addon_utils.enable(module)
    assert sys.modules[module] is addon
    # The same number of Python objects every time, but for a few of the interpreter's own.
    assert counts[-1] - counts[2] < 200
