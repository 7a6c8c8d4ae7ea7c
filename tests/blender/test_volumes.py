# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes in Blender: what is drawn and told of the selected objects and of the scene."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import cube, lens, mesh_object, reopen, select, update

PICTURES = Path(__file__).parents[2] / "build" / "pictures"
pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def view() -> Callable[..., Any]:
    def shown(**settings: Any) -> Any:
        scene = bpy.context.scene
        for name, value in settings.items():
            setattr(scene.contact_lens, name, value)
        assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
        return lens.live.follow_volumes.current(scene)

    return shown


def bounds(view: Any) -> np.ndarray:
    points = view.segments.reshape(-1, 3)
    return np.array([points.min(axis=0), points.max(axis=0)])


def monkey(location: object = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    bpy.ops.mesh.primitive_monkey_add(location=location)
    return bpy.context.object


def test_the_box_around_a_turned_cube_is_larger_than_the_cube(view: Callable[..., Any]) -> None:
    obj = cube("Cube", (1.0, 2.0, 3.0))
    obj.rotation_euler.z = np.pi / 4
    select(obj)
    shown = view(volume_kind="AABB")
    half = float(np.sqrt(2.0))
    assert np.allclose(bounds(shown), [[1 - half, 2 - half, 2.0], [1 + half, 2 + half, 4.0]], atol=1e-5)
    assert len(shown.segments) == 12
    assert shown.lines == [("Cube", "fills 50 % of its volume")]
    assert view(volume_kind="OBB").lines == [("Cube", "fills 100 % of its volume")]


@pytest.mark.parametrize(
    ("kind", "planes"), [("AABB", "6"), ("OBB", "6"), ("SPHERE", "6"), ("KDOP", "14"), ("KDOP", "26")]
)
def test_every_kind_is_drawn_around_all_of_the_object(view: Callable[..., Any], kind: str, planes: str) -> None:
    obj = monkey((5.0, 0.0, 0.0))
    select(obj)
    shown = view(volume_kind=kind, volume_planes=planes)
    world = np.array([obj.matrix_world @ v.co for v in obj.data.vertices])
    low, high = bounds(shown)
    assert (low <= world.min(axis=0) + 1e-2).all(), "circles are a hair smaller than the sphere"
    assert (high >= world.max(axis=0) - 1e-2).all()
    (name, text), *_ = shown.lines
    assert name == obj.name
    assert 5 < int(text.split()[1]) <= 100


def test_two_objects_tell_whether_their_volumes_overlap(view: Callable[..., Any]) -> None:
    a, b = cube("A"), cube("B", (2.5, 0.0, 0.0))
    select(a, b)
    assert view(volume_kind="AABB").lines[-1] == ("Volumes", "apart: at least 0.5 m")
    assert view(volume_kind="SPHERE").lines[-1] == ("Volumes", "overlap: the objects may collide")


def test_a_level_of_a_tree_holds_every_triangle(view: Callable[..., Any]) -> None:
    obj = monkey()
    select(obj)
    root = view(volumes_of="TRIANGLES", volume_kind="AABB", tree_level=0)
    assert len(root.segments) == 12
    assert (root.tints == 0.0).all()
    deeper = view(tree_level=4)
    assert len(deeper.segments) == 16 * 12
    assert np.array_equal(bounds(deeper), bounds(root))
    all_of_them = view(tree_above=True)
    assert len(all_of_them.segments) == 31 * 12
    assert len(np.unique(all_of_them.tints)) == 5
    assert deeper.lines == [(obj.name, "968 triangles, 11 levels, balance 100 %")]


@pytest.mark.parametrize("method", ["LINEAR", "TOP_DOWN", "BOTTOM_UP"])
def test_of_two_meshes_the_leaf_pairs_that_remain_are_told_and_drawn(view: Callable[..., Any], method: str) -> None:
    a, b = monkey(), monkey((1.9, 0.0, 0.0))
    select(a, b)
    shown = view(volumes_of="TRIANGLES", volume_kind="AABB", tree_method=method, tree_level=0)
    left, possible = (int(word.replace(",", "")) for word in dict(shown.lines)["Triangle Pairs Left"].split(" of "))
    assert possible == 968 * 968
    assert 0 < left < 2000
    assert int(dict(shown.lines)["Volume Tests"].replace(",", "")) < possible / 20
    remaining = shown.segments[shown.tints >= 2.0].reshape(-1, 3)
    assert 0.3 < remaining[:, 0].min() < remaining[:, 0].max() < 1.6, "between the two heads"


def test_the_tree_over_the_scene(view: Callable[..., Any]) -> None:
    for place in range(8):
        cube(f"Cube {place}", (3.0 * place, 0.0, 0.0))
    cube("Near", (1.0, 0.5, 0.0))
    shown = view(volumes_of="SCENE", volume_kind="AABB", tree_level=0)
    assert len(shown.segments) == 12
    lines = dict(shown.lines)
    assert lines["Scene"].startswith("9 objects, 5 levels")
    assert lines["Object Pairs Left"] == "2 of 36"


@pytest.mark.parametrize("kind", ["AABB", "SPHERE"])
def test_what_is_empty_is_not_in_the_tree_over_the_scene(view: Callable[..., Any], kind: str) -> None:
    mesh_object("Nothing", [])
    with pytest.raises(RuntimeError, match="No visible object of the scene has a vertex"):
        view(volumes_of="SCENE", volume_kind=kind)
    cube("A")
    shown = view(volumes_of="SCENE", volume_kind=kind, tree_level=0)
    assert shown.lines[0] == ("Scene", "1 object, 1 level, balance 100 %")


def test_what_cannot_be_shown_is_said(view: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError, match="Select objects with a surface"):
        view(volumes_of="OBJECTS")
    assert lens.live.follow_volumes.current(bpy.context.scene) is None
    wire = mesh_object("Wire", [(0, 0, 0), (1, 0, 0)])
    select(wire)
    with pytest.raises(RuntimeError, match="'Wire' has no faces"):
        view(volumes_of="TRIANGLES")
    select(wire)
    assert view(volumes_of="OBJECTS").lines == [("Wire", "fills 0 % of its volume")]


def crowd(columns: int) -> bpy.types.Object:
    """A sheet of many triangles."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=columns, y_subdivisions=columns)
    return bpy.context.object


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Begin to compute the view as in a window; return its flow, which runs on."""
    background, follow = lens.live.background, lens.live.follow_volumes
    monkeypatch.setattr(background, "wait_for", lambda flow: None)

    def begin() -> Any:
        follow.begin(bpy.context, 0.0)
        return follow._get(bpy.context.scene).flow

    return begin


def test_a_view_that_takes_long_can_be_waited_for_or_cancelled(
    view: Callable[..., Any], begun: Callable[[], Any]
) -> None:
    follow, scene = lens.live.follow_volumes, bpy.context.scene
    select(cube("Cube"))
    before = view(volumes_of="TRIANGLES", volume_kind="AABB", tree_method="INSERTION")
    select(crowd(250))  # 125,000 triangles one by one
    task = begun().task
    assert 0.0 <= follow.progress_of(scene) < 1.0
    assert follow.current(scene) is before
    follow.cancel(scene)
    assert task.wait(10.0)
    with pytest.raises(lens.core.Cancelled):
        task.result()
    assert follow.progress_of(scene) is None
    assert follow.current(scene) is before, "what was shown stays"
    assert follow.is_outdated(scene)

    scene.contact_lens.tree_method = "LINEAR"
    assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
    assert follow.current(scene).lines[0][1].startswith("125,000 triangles")
    assert not follow.is_outdated(scene)


def test_what_changes_while_a_view_is_made_is_told(begun: Callable[[], Any]) -> None:
    follow, scene = lens.live.follow_volumes, bpy.context.scene
    obj = crowd(120)
    select(obj)
    scene.contact_lens.show_volumes = True
    scene.contact_lens.volumes_of, scene.contact_lens.tree_method = "TRIANGLES", "INSERTION"
    flow = begun()
    obj.location.x += 1.0
    update()
    assert flow.run(60.0)
    assert follow.current(scene) is not None
    assert follow.is_outdated(scene)

    scene.contact_lens.tree_method = "BOTTOM_UP"  # of the same one the tree would only be refitted
    first = begun().task
    second = begun().task
    assert not second.wait(0.0), "asked again, the first is dropped"
    scene.contact_lens.show_volumes = False
    assert follow.progress_of(scene) is None
    assert first.wait(10.0)
    assert second.wait(10.0)
    assert follow.current(scene) is None


def test_settings_are_saved_and_turning_it_off_forgets(view: Callable[..., Any], tmp_path: Path) -> None:
    select(cube("Cube"))
    view(volume_kind="KDOP", volume_planes="18")
    follow = lens.live.follow_volumes
    reopen(tmp_path / "volumes.blend")
    settings = bpy.context.scene.contact_lens
    assert (settings.show_volumes, settings.volume_kind, settings.volume_planes) == (True, "KDOP", "18")
    assert follow.current(bpy.context.scene) is None
    assert follow.is_outdated(bpy.context.scene), "in background mode it waits for its button"
    select(bpy.data.objects["Cube"])
    assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
    assert follow.current(bpy.context.scene) is not None
    settings.show_volumes = False
    assert follow.current(bpy.context.scene) is None
    assert not follow.is_outdated(bpy.context.scene)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("aabb", {"volume_kind": "AABB"}),
        ("obb", {"volume_kind": "OBB"}),
        ("sphere", {"volume_kind": "SPHERE"}),
        ("kdop", {"volume_kind": "KDOP", "volume_planes": "26"}),
        ("tree", {"volumes_of": "TRIANGLES", "volume_kind": "AABB", "tree_level": 5, "tree_method": "BOTTOM_UP"}),
        ("levels", {"volumes_of": "TRIANGLES", "volume_kind": "AABB", "tree_level": 4, "tree_above": True}),
        ("pair", {"volumes_of": "TRIANGLES", "volume_kind": "AABB", "tree_level": 1}),
    ],
)
def test_a_picture_shows_the_volumes(view: Callable[..., Any], name: str, settings: dict[str, Any]) -> None:
    objects = [monkey()]
    if name == "pair":
        objects.append(monkey((1.9, 0.3, 0.0)))
    select(*objects)
    volumes = view(**settings)
    snapshot = lens.draw.picture
    path = PICTURES / f"volumes_{name}.png"
    snapshot.render_volumes(bpy.context, volumes, str(path), 960, 640)
    with_volumes = _pixels(path)
    bpy.context.scene.contact_lens.show_overlay = False
    assert len(np.unique(with_volumes.reshape(-1, 3), axis=0)) > 50
    # The volumes' edges are the only saturated colours in a grey picture.
    saturation = with_volumes.max(axis=2).astype(int) - with_volumes.min(axis=2)
    assert (saturation > 60).sum() > 400


def _pixels(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    try:
        pixels = np.array(image.pixels[:]).reshape(image.size[1], image.size[0], 4)
    finally:
        bpy.data.images.remove(image)
    return (pixels[..., :3] * 255.0).round().astype(np.uint8)
