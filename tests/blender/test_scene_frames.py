# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of many frames read and find again only what has changed, and find what a check of each frame alone does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .scenes import (
    add_object,
    animate,
    collection_of,
    cube,
    geometry_nodes,
    instance_of,
    lens,
    select,
    shape_key,
    torus,
    update,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = range(1, 7)


@pytest.fixture
def read_again(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the objects whose geometry was read; whoever looks at it empties it."""
    snapshot, names = lens.geometry.snapshot, list[str]()
    honest = snapshot.geometry

    @contextmanager
    def noted(obj: bpy.types.Object, evaluated: bpy.types.Object) -> Iterator[Any]:
        names.append(obj.name)
        with honest(obj, evaluated) as found:
            yield found

    monkeypatch.setattr(snapshot, "geometry", noted)
    return names


def read_frames(
    read_again: list[str], visibility: str = "viewport", before: Callable[[int], None] = lambda frame: None
) -> dict[int, set[str]]:
    """Read a scene frame by frame, and each frame alone too: they are the same. Return by frame what was read."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    read, go_to = lens.read.scene.read_input, lens.read.visibility.go_to
    rules, plain = lens.data.records.Rules(), lens.geometry.local_geometry.Geometries
    names = {}
    with lens.geometry.frame_geometries.FrameGeometries(scene, layer) as geometries:
        for frame in FRAMES:
            before(frame)
            go_to(scene, layer, visibility, frame)
            geometries.next_frame()
            read_again.clear()
            given = read(bpy.context, rules, geometries=geometries)
            names[frame] = set(read_again)
            alone = read(bpy.context, rules, geometries=plain())
            assert {obj.key: obj.state for obj in given.objects} == {obj.key: obj.state for obj in alone.objects}
    return names


def still_and_moving() -> bpy.types.Object:
    """Things that keep their geometry: one that stands still, one that moves and one that moves along."""
    cube("Still")
    moving = cube("Moving", (5.0, 0.0, 0.0))
    animate(moving, "location", f1=(5.0, 0.0, 0.0), f9=(9.0, 0.0, 0.0))
    cube("Along").parent = moving
    return moving


def by_modifier(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    displace = obj.modifiers.new("Displace", "DISPLACE")
    animate(displace, "strength", f1=0.0, f9=2.0)


def by_driver(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    displace = obj.modifiers.new("Displace", "DISPLACE")
    curve = displace.driver_add("strength")
    variable = curve.driver.variables.new()
    variable.type, variable.targets[0].id = "TRANSFORMS", moving
    curve.driver.expression = variable.name


def by_shape_key(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    key = shape_key(obj)
    key.data[0].co.x += 1.0
    animate(key, "value", f1=0.0, f9=1.0)


def by_driven_shape_key(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    key = shape_key(obj)
    key.data[0].co.x += 1.0
    key.driver_add("value").driver.expression = "0.1 * frame"


def by_armature(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    rig = add_object("Rig", bpy.data.armatures.new("Skeleton"))
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Arm").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.vertex_groups.new(name="Arm").add([0, 1, 2], 1.0, "REPLACE")
    animate(rig.pose.bones["Arm"], "location", f1=(0.0, 0.0, 0.0), f9=(1.0, 0.0, 0.0))


def by_nodes_of_time(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    link, own, out, time, move = geometry_nodes(obj, "GeometryNodeInputSceneTime", "GeometryNodeTransform")
    link(own.outputs[0], move.inputs["Geometry"])
    link(time.outputs["Seconds"], move.inputs["Translation"])
    link(move.outputs[0], out.inputs[0])


def by_nodes_of_another(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    link, own, out, other, move = geometry_nodes(obj, "GeometryNodeObjectInfo", "GeometryNodeTransform")
    other.inputs["Object"].default_value, other.transform_space = moving, "RELATIVE"
    link(own.outputs[0], move.inputs["Geometry"])
    link(other.outputs["Location"], move.inputs["Translation"])
    link(move.outputs[0], out.inputs[0])


def by_vertices(obj: bpy.types.Object, moving: bpy.types.Object) -> None:
    animate(obj.data.vertices[0], "co", f1=(0.0, 0.0, 0.0), f9=(3.0, 0.0, 0.0))


WAYS = [
    by_modifier,
    by_driver,
    by_shape_key,
    by_driven_shape_key,
    by_armature,
    by_nodes_of_time,
    by_nodes_of_another,
    by_vertices,
]


@pytest.mark.parametrize("deform", WAYS)
@pytest.mark.parametrize("visibility", ["viewport", "all", "render"])
def test_only_what_deforms_is_read_again(
    read_again: list[str], deform: Callable[[bpy.types.Object, bpy.types.Object], None], visibility: str
) -> None:
    moving = still_and_moving()
    deform(cube("Deforming", (0.0, 9.0, 0.0)), moving)
    update()
    names = read_frames(read_again, visibility)
    assert names[1] >= {"Still", "Moving", "Along", "Deforming"}
    assert [names[frame] for frame in FRAMES[2:]] == [{"Deforming"}] * len(FRAMES[2:])


def test_instances_of_what_deforms_are_read_again(read_again: list[str]) -> None:
    source, still = cube("Source"), cube("Still")
    by_shape_key(source, still)
    instance_of(collection_of("Inside", source, still, is_only=True), "Instances", (5.0, 0.0, 0.0))
    field = cube("Field", (20.0, 0.0, 0.0))
    link, own, out, place, other = geometry_nodes(field, "GeometryNodeInstanceOnPoints", "GeometryNodeObjectInfo")
    other.inputs["Object"].default_value = source
    link(own.outputs[0], place.inputs["Points"])
    link(other.outputs["Geometry"], place.inputs["Instance"])
    link(place.outputs[0], out.inputs[0])
    update()
    names = read_frames(read_again)
    assert names[1] >= {"Source", "Still"}
    assert all("Source" in names[frame] and "Still" not in names[frame] for frame in FRAMES[2:])


def test_what_deforms_while_it_is_hidden_is_read_when_it_is_shown(read_again: list[str]) -> None:
    still_and_moving()
    blinking = cube("Blinking", (0.0, 9.0, 0.0))
    by_shape_key(blinking, blinking)
    animate(blinking, "hide_viewport", "CONSTANT", f1=False, f3=True, f5=False)
    steady = cube("Steady", (0.0, 20.0, 0.0))
    animate(steady, "hide_viewport", "CONSTANT", f1=False, f3=True, f5=False)
    update()
    names = read_frames(read_again)
    assert "Blinking" in names[5] & names[6]
    assert "Steady" in names[5]
    assert names[6] == {"Blinking"}


@pytest.mark.parametrize("module", ["another_add_on", None])
def test_what_handlers_change_is_read(read_again: list[str], module: str | None) -> None:
    still = cube("Still")
    update()

    def deform(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        still.data.vertices[0].co.x -= 0.1
        still.data.update()

    deform.__module__ = module  # that of code that a script executes is None
    bpy.app.handlers.frame_change_post.append(deform)
    try:
        names = read_frames(read_again)
    finally:
        bpy.app.handlers.frame_change_post.remove(deform)
    assert all("Still" in names[frame] for frame in FRAMES)


def test_nothing_is_taken_as_known_once_a_script_has_cleared_the_handlers(read_again: list[str]) -> None:
    still = cube("Still")
    update()

    def clear(frame: int) -> None:
        if frame == 4:
            bpy.app.handlers.depsgraph_update_post.clear()
        if frame > 4:
            still.data.vertices[0].co.x -= 0.1
            still.data.update()

    kept = list(bpy.app.handlers.depsgraph_update_post)
    try:
        names = read_frames(read_again, before=clear)
    finally:
        bpy.app.handlers.depsgraph_update_post[:] = kept
    assert all("Still" in names[frame] for frame in FRAMES if frame >= 4)


def test_what_is_edited_between_frames_is_read(read_again: list[str]) -> None:
    still, other = cube("Still"), cube("Other", (9.0, 0.0, 0.0))
    update()

    def edit(frame: int) -> None:
        if frame == 4:
            still.data.vertices[0].co.x -= 0.1
            still.data.update()
        if frame == 5:
            other.data = still.data

    assert "Still" in read_frames(read_again, before=edit)[4]


@pytest.fixture
def found_alone(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The names of the pairs that were found by themselves; whoever looks at it empties it."""
    scene_pairs, found = lens.scene.scene_check, list[tuple[str, str]]()
    honest = scene_pairs.check_pair

    def noted(a: Any, b: Any, *more: Any) -> Any:
        found.append((a.object.name, b.object.name))
        return honest(a, b, *more)

    monkeypatch.setattr(scene_pairs, "check_pair", noted)
    return found


def chain() -> None:
    """Three rings in a chain, the last of which moves."""
    for k in range(3):
        torus(f"{k}", (1.5 * k, 0.0, 0.0), rotation=(0.5 * k, 0.1, 0.2))
    animate(bpy.context.object, "location", f1=(3.0, 0.0, 0.0), f9=(2.5, 0.1, 0.0))


def test_pairs_that_stay_are_found_once(found_alone: list[tuple[str, str]]) -> None:
    scene_pairs, cache = lens.scene.scene_check, lens.scene.frame_cache.FrameCache()
    read, rules = lens.read.scene.read_input, lens.data.records.Rules()
    chain()

    def clashes(outcome: Any) -> list[tuple[int, int, float, float]]:
        return [(clash.a, clash.b, clash.signed_distance, clash.lower_bound) for clash in outcome.clashes]

    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        given = read(bpy.context, rules)
        found_alone.clear()
        now = clashes(scene_pairs.check(given, known=cache))
        assert sorted(found_alone) == [("0", "1"), ("1", "2")][min(frame, 2) - 1 :]
        assert now == clashes(scene_pairs.check(given))
        assert len(now) == 2


def test_what_deforms_at_each_frame_is_found_at_each() -> None:
    """Convex shapes of earlier frames are dropped, sooner or later, with what was made of them."""
    scene_pairs, cache = lens.scene.scene_check, lens.scene.frame_cache.FrameCache()
    read, rules = lens.read.scene.read_input, lens.data.records.Rules()
    for k in range(3):
        by_modifier(cube(f"{k}", (1.5 * k, 0.1 * k, 0.0)), bpy.context.scene.camera)
    for frame in range(1, 10):
        bpy.context.scene.frame_set(frame)
        given = read(bpy.context, rules)
        now, alone = (scene_pairs.check(given, known=known).clashes for known in (cache, None))
        assert [clash.signed_distance for clash in now] == pytest.approx([clash.signed_distance for clash in alone])
        assert len(now) >= 2


def test_a_check_again_finds_only_the_pairs_that_have_changed(found_alone: list[tuple[str, str]]) -> None:
    chain()
    bpy.context.object.animation_data_clear()

    def checked(**rules: object) -> list[tuple[str, str]]:
        found_alone.clear()
        update()
        for name, value in rules.items():
            setattr(bpy.context.scene.contact_lens_check, name, value)
        assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
        assert len(bpy.context.scene.contact_lens_check.findings) == 2
        return sorted(found_alone)

    both = [("0", "1"), ("1", "2")]
    assert checked() == both
    assert checked() == []
    bpy.data.objects["2"].location.x += 0.1
    assert checked() == [("1", "2")]
    bpy.data.objects["0"].data.vertices[0].co.x += 0.1
    bpy.data.objects["0"].data.update()
    assert checked() == [("0", "1")]
    bpy.data.objects["0"].name = "3"
    assert checked() == [("1", "3")], "messages name it"
    assert checked(clearance=0.01) == [("1", "2"), ("1", "3")], "it is another question"
    assert checked() == []


def test_a_check_that_was_dropped_keeps_its_cache_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread may still run when the next one begins."""
    operators, scene_pairs = lens.operators.scene_operators, lens.scene.scene_check
    chain()
    caches: list[object] = []
    monkeypatch.setattr(scene_pairs, "check", lambda given, progress, known: caches.append(known))

    def steps() -> Any:
        operator = SimpleNamespace(flow=None, is_modal=False, selected=False)
        return operators.CONTACT_LENS_OT_check_scene.steps(operator, bpy.context)

    dropped, again = steps(), steps()
    next(dropped)(None)
    dropped.close()
    next(again)(None)
    again.close()
    assert caches[0] is not caches[1]
