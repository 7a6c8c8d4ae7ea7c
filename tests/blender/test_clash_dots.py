# SPDX-License-Identifier: GPL-3.0-or-later
"""The dots at all clashes: which are there, how they look, what is at a pixel, and that they follow the list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import gpu
import numpy as np
import pytest

from .scenes import cube, lens, reopen, update
from .test_scene_check import check, settings

pytestmark = pytest.mark.usefixtures("empty_scene")
SIZE = (400, 300)
WORDS = ("penetrating", "a_inside_b", "coincident", "touching", "within_clearance")


def dots_of(relations: Any, distances: Any, centers: Any = None, faded: Any = ()) -> Any:
    count = len(relations)
    centers = np.array([(k, 0.0, 0.0) for k in range(count)]) if centers is None else np.array(centers)
    is_faded = np.isin(np.arange(count), faded)
    return lens.layers.clash_dots.ClashDots.of(range(count), centers, relations, np.array(distances), is_faded)


def view() -> tuple[np.ndarray, np.ndarray]:
    """A view along -y in which a Blender unit is 40 pixels."""
    matrix = np.array([(1.0, 0, 0, 0), (0, 0, 1.0, 0), (0, -1.0, 0, -50.0), (0, 0, 0, 1.0)])
    return matrix, np.diag([80.0 / SIZE[0], 80.0 / SIZE[1], -0.01, 1.0])


def at(dots: Any, x: float, z: float) -> Any:
    matrix, projection = view()
    pixels, is_ahead = lens.draw.label_sheet.project(dots.centers, projection @ matrix, SIZE)
    return dots.at((SIZE[0] / 2 + 40.0 * x, SIZE[1] / 2 + 40.0 * z), pixels, is_ahead, 1.0)


@pytest.fixture(scope="module")
def graphics() -> None:
    lens.draw.picture.start_gpu()


def drawn(dots: Any, background: float = 0.25) -> np.ndarray:
    """(height, width, 3) the dots over a plain background."""
    style = lens.layers.overlay_geometry.Style(lens.data.look.DEFAULT_LOOK)
    offscreen = gpu.types.GPUOffScreen(*SIZE)
    try:
        with offscreen.bind():
            gpu.state.active_framebuffer_get().clear(color=(background,) * 3 + (1.0,), depth=0.0)
            lens.draw.overlay.draw_dots(dots, style, *view(), SIZE)
            return np.array(lens.draw.picture.read_pixels(*SIZE), dtype=int)
    finally:
        offscreen.free()


# --- which dot is where -----------------------------------------------------------------------------------------------


def test_the_area_of_a_dot_grows_with_the_depth() -> None:
    dots = dots_of(["penetrating"] * 3 + ["touching", "within_clearance"], [-4.0, -1.0, -0.001, -1e-9, 0.5])
    size = dict(zip(dots.rows.tolist(), dots.sizes.tolist(), strict=True))
    assert size[0] == pytest.approx(2.0 * size[1])
    assert size[1] > size[2] == size[3] == size[4] > 0.0


def test_a_click_hits_the_deepest_of_the_dots_that_lie_on_each_other() -> None:
    rng = np.random.default_rng(3)
    centers = np.zeros((60, 3))
    centers[:, [0, 2]] = rng.uniform(-2.0, 2.0, (60, 2))
    depths = rng.uniform(0.01, 1.0, 60)
    dots = dots_of(["penetrating"] * 60, -depths, centers)
    radius = dict(zip(dots.rows.tolist(), 0.5 * dots.sizes / 40.0, strict=True))
    hits = 0
    for x, z in rng.uniform(-2.2, 2.2, (400, 2)):
        distance = np.hypot(centers[:, 0] - x, centers[:, 2] - z)
        under = [k for k in range(60) if distance[k] < radius[k]]
        if any(radius[k] <= distance[k] < radius[k] + 0.1 for k in range(60)):
            continue  # a little beside a dot counts too
        assert at(dots, x, z) == max(under, key=lambda k: depths[k], default=None)
        hits += bool(under)
    assert 40 < hits < 400


def test_what_is_faded_or_behind_the_viewer_does_not_get_the_click() -> None:
    places = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.05, 0.0, 0.0)]
    dots = dots_of(["penetrating"] * 3, [-1.0, -0.5, -0.1], places, faded=[0])
    assert at(dots, 0.0, 0.0) == 1
    matrix = np.array([(1.0, 0, 0, 0), (0, 0, 1.0, 0), (0, -1.0, 0, 0), (0, 0, 0, 1.0)])
    eye = np.array([(1.0, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, -1.0, -0.2), (0, 0, -1.0, 0)]) @ matrix
    centers = np.array([(0.0, 5.0, 0.0), (0.0, -5.0, 0.0)])
    pixels, is_ahead = lens.draw.label_sheet.project(centers, eye, SIZE)
    assert is_ahead.tolist() == [True, False]
    two = dots_of(["penetrating"] * 2, [-0.5, -1.0], centers)
    pixels, is_ahead = lens.draw.label_sheet.project(two.centers, eye, SIZE)
    assert two.at((200.0, 150.0), pixels, is_ahead, 1.0) == 0


# --- how they look ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("graphics")
@pytest.mark.parametrize("background", [0.2, 0.85])
def test_dots_are_seen_through_everything_and_differ_without_colour(background: float) -> None:
    """The depth buffer is full. In grey, of the same size, each relation has another form."""
    centers = [(2.0 * k - 4.0, 0.0, 0.0) for k in range(len(WORDS))]
    depths = [-1.0] * len(WORDS)
    dots = dots_of(WORDS, depths, centers)
    object.__setattr__(dots, "sizes", np.full(len(WORDS), 25.0))
    pixels = drawn(dots, background)
    forms = []
    for x, _, _ in centers:
        column = round(SIZE[0] / 2 + 40.0 * x)
        patch = pixels[SIZE[1] // 2 - 16 : SIZE[1] // 2 + 16, column - 16 : column + 16]
        assert (np.abs(patch - round(255 * background)).max(axis=2) > 40).sum() > 300, "it is seen"
        grey = patch.mean(axis=2)
        forms.append(grey > 0.5 * (grey[8:24, 8:24].min() + grey[8:24, 8:24].max()))
    inside = np.hypot(*np.meshgrid(np.arange(32) - 15.5, np.arange(32) - 15.5)) < 11.0
    for i, word in enumerate(WORDS):
        for j in range(i):
            is_same = {word, WORDS[j]} == {"a_inside_b", "coincident"}
            assert ((forms[i] != forms[j])[inside].mean() > 0.1) != is_same, (word, WORDS[j])


@pytest.mark.usefixtures("graphics")
def test_what_is_faded_is_fainter() -> None:
    bright, faint = (drawn(dots_of(["penetrating"], [-1.0], [(0.0, 0.0, 0.0)], f)).max(axis=2) for f in ([], [0]))
    assert bright.max() > faint.max() + 40 > 64 + 40


# --- which clashes have dots ------------------------------------------------------------------------------------------


@pytest.fixture
def shown() -> Iterator[Any]:
    """The numbers of the clashes with dots in a view, each with whether it is faded."""
    view = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True), as_pointer=lambda: 1)

    class Context:
        space_data = view

        def __getattr__(self, name: str) -> Any:
            return getattr(bpy.context, name)

    def now() -> dict[int, bool]:
        update()
        dots = lens.views.clash_dots.dots_of(Context())
        if dots is None:
            return {}
        found = [f.row() for f in settings().findings]
        for k, center in zip(dots.rows.tolist(), dots.centers, strict=True):
            assert np.allclose(center, found[k]["center"], rtol=0.0, atol=0.0)
        return dict(sorted(zip(dots.rows.tolist(), dots.is_faded.tolist(), strict=True)))

    now.view = view  # type: ignore[attr-defined]
    lens.views.clash_dots.drop()
    yield now
    lens.views.clash_dots.drop()


def row_of_cubes(count: int = 5) -> None:
    for k in range(count):
        cube(f"Cube {k}", (1.2 * k + 0.05 * k * k, 0.0, 0.0))


@pytest.mark.own_process
def test_the_dots_are_those_of_the_list(shown: Any, tmp_path: Path) -> None:
    assert shown() == {}
    row_of_cubes()
    assert shown() == {}, "not checked"
    check()
    every = {0: False, 1: False, 2: False, 3: False}
    assert shown() == every
    settings().search = "Cube 0"
    assert list(shown()) == [0]
    settings().search = ""
    settings().show_penetrating = False
    assert shown() == {}
    settings().show_penetrating = True
    settings().findings[1].status = "APPROVED"
    assert shown() == every | {1: True}, "as faint as its row"
    settings().findings[1].status = "RESOLVED"
    assert list(shown()) == [0, 2, 3], "there is nothing any more"
    settings().findings[1].status = "NEW"
    entry = settings().ignored.add()
    entry.object_a = bpy.data.objects["Cube 4"]
    assert shown() == every | {3: True}
    settings().ignored.clear()
    reopen(tmp_path / "scene.blend")
    assert shown() == every
    bpy.context.window.scene = other = bpy.data.scenes.new("Other")
    assert shown() == {}
    bpy.context.window.scene = next(scene for scene in bpy.data.scenes if scene != other)
    assert shown() == every
    settings().show_dots = False
    assert shown() == {}
    settings().show_dots = True
    shown.view.overlay.show_overlays = False
    assert shown() == {}
    shown.view.overlay.show_overlays = True
    assert bpy.ops.contact_lens.clear_findings() == {"FINISHED"}
    assert shown() == {}


def test_dots_are_never_stale(shown: Any) -> None:
    row_of_cubes()
    check()
    objects = bpy.data.objects
    objects["Cube 4"].location.y = 0.3
    assert shown() == {0: False, 1: False, 2: False, 3: True}, "moved"
    objects["Cube 4"].location.y = 0.0
    assert not any(shown().values()), "and back"
    objects["Cube 0"].hide_set(True)
    assert list(shown()) == [1, 2, 3]
    objects["Cube 0"].hide_set(False)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
    assert all(shown().values()), "what was found at another frame is not of now"
    bpy.context.scene.frame_set(bpy.context.scene.frame_current - 1)
    assert not any(shown().values())
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects.remove(objects["Cube 2"])
    assert list(shown()) == [0, 3], "nothing is where an object of it is gone"
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert list(shown()) == [0, 1, 2, 3]


def test_opening_a_clash_shows_its_contact_in_place_of_its_dot(shown: Any) -> None:
    row_of_cubes(3)
    check()
    assert bpy.ops.contact_lens.open_clash(number=1) == {"FINISHED"}
    assert settings().active == 1
    assert {obj.name for obj in bpy.context.view_layer.objects.selected} == {"Cube 1", "Cube 2"}
    assert list(shown()) == [0]
    bpy.context.scene.contact_lens.show_overlay = False
    assert list(shown()) == [0, 1]
    with pytest.raises(RuntimeError, match="The list has no clash 7: check the scene again"):
        bpy.ops.contact_lens.open_clash(number=7)


def test_what_is_drawn_is_made_once(shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    row_of_cubes()
    check()
    made: list[int] = []
    make = lens.views.clash_dots._dots
    monkeypatch.setattr(lens.views.clash_dots, "_dots", lambda *given: made.append(1) or make(*given))
    for _ in range(5):
        shown()
    assert len(made) == 1
    settings().search = "Cube 0"
    shown()
    assert len(made) == 2


# --- outlines ---------------------------------------------------------------------------------------------------------


def outlined() -> dict[str, tuple[np.ndarray, str]]:
    """The corners of what is outlined, and the relation by which, by the names of the objects."""
    follow, views = lens.live.follow_outlines, lens.views.clash_dots
    context = SimpleNamespace(**{name: getattr(bpy.context, name) for name in ("scene", "mode", "visible_objects")})
    context.space_data = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True), as_pointer=lambda: 2)
    dots = views.dots_of(context)
    if dots is None:
        return {}
    views._outlines_of(bpy.context.scene, dots)
    wanted = views._outlined[dots]
    follow.read(bpy.context, [thing for thing in wanted if thing not in follow._known])
    found = views._outlines_of(bpy.context.scene, dots)
    assert found is None or len(found.layer(lens.data.look.DEFAULT_LOOK, 1.0).glyphs)
    names = {obj.session_uid: obj.name for obj in bpy.context.scene.objects}
    known = {thing: outline for thing, outline in follow._known.items() if thing in wanted and len(outline[0])}
    return {names[key[0]]: (np.unique(known[key, state][0], axis=0), wanted[key, state]) for key, state in known}


@pytest.fixture
def _no_outlines() -> Iterator[None]:
    lens.live.follow_outlines._loaded()
    yield
    lens.live.follow_outlines._loaded()


@pytest.mark.usefixtures("_no_outlines")
def test_what_clashes_is_outlined_where_it_is_and_nothing_else() -> None:
    row_of_cubes(3)
    cube("Alone", (0.0, 9.0, 0.0))
    cube("On Top", (-1.0, 0.0, 2.0))
    check()
    settings().show_touching = True
    found = outlined()
    assert {name: word for name, (_, word) in found.items()} == {
        **dict.fromkeys(("Cube 0", "Cube 1", "Cube 2"), "penetrating"),
        "On Top": "touching",
    }
    for name, (corners, _) in found.items():
        place = np.array(bpy.data.objects[name].location)
        assert np.allclose(np.abs(corners.reshape(-1, 3) - place), 1.0, rtol=0.0, atol=1e-6)
    bpy.data.objects["Cube 2"].location.z = 0.3
    update()
    assert set(outlined()) == {"Cube 0", "Cube 1", "On Top"}, "what has moved has none until it is checked again"
    settings().search = "Top"
    assert set(outlined()) == {"Cube 0", "On Top"}
    follow, known = lens.live.follow_outlines, dict(lens.live.follow_outlines._known)
    follow._loaded()
    for name in ("Cube 0", "On Top"):  # away while they are read, and back
        bpy.data.objects[name].location.z += 5.0
    update()
    follow.read(bpy.context, known)
    assert any(follow._known[thing] is follow.NOTHING for thing in known)
    for name in ("Cube 0", "On Top"):
        bpy.data.objects[name].location.z -= 5.0
    update()
    settings().search = ""
    assert {"Cube 0", "On Top"} <= set(outlined())


@pytest.mark.usefixtures("_no_outlines")
def test_outlines_follow_turned_flattened_and_mirrored_objects_and_large_ones_have_boxes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An edge of a box is part of its silhouette where exactly one of both normals beside it faces the viewer."""
    row_of_cubes(2)
    first, second = bpy.data.objects["Cube 0"], bpy.data.objects["Cube 1"]
    first.scale, first.rotation_euler = (-1.0, 2.0, 0.5), (0.3, 0.4, 0.5)
    monkeypatch.setattr(lens.live.follow_outlines, "MOST_TRIANGLES", 0)
    check()
    assert set(outlined()) == {"Cube 0", "Cube 1"}
    eye = np.array((9.0, -7.0, 5.0))
    for edges, sides in lens.live.follow_outlines._known.values():
        assert len(edges) == 12
        facing = np.einsum("ijk,ijk->ij", sides, eye - edges.mean(axis=1)[:, None]) > 0.0
        assert (facing[:, 0] != facing[:, 1]).sum() == 6, "of a box three faces are seen, within a ring of six edges"
    second.scale.z = 0.0
    update()
    lens.live.follow_outlines._loaded()
    check()
    assert all(np.isfinite(part).all() for outline in lens.live.follow_outlines._known.values() for part in outline)
