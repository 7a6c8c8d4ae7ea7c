# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of algorithms as objects for slides: what they consist of, that nothing is left of them, and that they are
never taken for objects to check."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from .scenes import block, cube, inspect, inspection, instance_of, lens, select, update

pytestmark = pytest.mark.usefixtures("empty_scene")

TITLE, SENTENCE = "GJK, Step 3 of 9", "The support point of A - B is vertex 3 of Cube minus vertex 5 of Block. " * 3
KINDS = ("objects", "meshes", "curves", "materials", "collections", "fonts", "images", "textures", "node_groups")


def everything() -> dict[str, list[str]]:
    return {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in KINDS}


def picture(roles: tuple[str, ...] | None = None, middle: object = (0.0, 0.0, 0.0)) -> Any:
    """One of each part in every role."""
    made = lens.study.picture
    roles = roles or get_args(made.Role)
    corners = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]) + middle
    triangles, ends = corners[[[0, 1, 2], [0, 2, 3]]], corners[[[0, 1], [1, 2]]]
    return made.StudyPicture(
        tuple(made.Fills(role, triangles + (0, 0, k)) for k, role in enumerate(roles)),
        tuple(
            made.Lines(role, ends + (0, 0, k), is_dashed=k % 3 == 1, is_arrow=k % 3 == 2, width=1.0 + k)
            for k, role in enumerate((*roles, roles[0]))
        ),
        tuple(made.Points(role, corners + (0, 0, k)) for k, role in enumerate(roles)),
        tuple(made.Label(role, f"{role} of it", corners[0] + (0, 0, 0.01 * k)) for k, role in enumerate(roles)),
    )


def bake(shown: Any, texts: tuple[str, str] = (TITLE, SENTENCE), context: Any = None) -> bpy.types.Collection:
    look = lens.data.look.DEFAULT_LOOK
    made = lens.draw.bake.bake(context or bpy.context, shown, texts, np.zeros((0, 3)), look)
    update()
    return made


def world(obj: bpy.types.Object) -> np.ndarray:
    corners = np.array([(*corner, 1.0) for corner in obj.bound_box])
    return (corners @ np.array(obj.matrix_world).T)[:, :3]


def test_a_picture_with_every_role_becomes_a_mesh_a_curve_and_points_of_each_and_texts() -> None:
    shown = picture()
    made = bake(shown)
    assert [one.name for one in bpy.context.scene.collection.children] == ["Contact Lens Steps"]
    assert made.name == TITLE
    assert made in list(bpy.context.scene.collection.children[0].children)
    roles = get_args(lens.study.picture.Role)
    names = {obj.name: obj for obj in made.objects}
    for role in roles:
        kinds = {part: names[f"{role.title()} {part}"].type for part in ("Faces", "Lines", "Points")}
        assert kinds == {"Faces": "MESH", "Lines": "CURVE", "Points": "MESH"}
        assert len(names[f"{role.title()} Faces"].data.polygons) == 2
        assert names[f"Label {role} of it"].data.body == f"{role} of it"
    assert len(made.objects) == 4 * len(roles) + 2
    assert (names["Title"].data.body, names["Sentence"].data.body) == (TITLE, SENTENCE)
    assert len(names["A Lines"].data.splines) >= 4  # of both parts
    assert sum(obj.type == "FONT" for obj in made.objects) == len(roles) + 2


def test_what_is_baked_is_where_the_picture_is_far_from_the_origin_too() -> None:
    made = bake(picture(("a", "gap"), (1e5, 0.0, -3.0)))
    low, high = (np.array([getattr(world(obj), at)(axis=0) for obj in made.objects]) for at in ("min", "max"))
    of = [obj.name for obj in made.objects]
    assert low[of.index("A Faces")] == pytest.approx([1e5, 0.0, -3.0], abs=1e-2)
    assert high[of.index("Gap Faces")] == pytest.approx([1e5 + 1.0, 1.0, -2.0], abs=1e-2)
    corner = made.objects["A Faces"].data.vertices[0].co
    assert max(map(abs, corner)) < 10.0


def test_materials_have_the_colors_of_the_roles_and_are_shared() -> None:
    made, again = bake(picture(("a", "hull"))), bake(picture(("a", "hull")))
    for obj, other in zip(made.objects, again.objects, strict=True):
        assert obj.data.materials[0] == other.data.materials[0]
    opaque, clear = (made.objects[f"A {part}"].data.materials[0] for part in ("Lines", "Faces"))
    assert opaque.diffuse_color[3] == 1.0
    assert clear.diffuse_color[3] == pytest.approx(lens.data.look.ROLE_FORMS["a"].fill)
    assert tuple(opaque.diffuse_color)[:3] == pytest.approx(tuple(clear.diffuse_color)[:3])
    assert tuple(opaque.diffuse_color)[:3] != tuple(made.objects["Hull Lines"].data.materials[0].diffuse_color)[:3]


def test_labels_in_one_place_are_written_below_each_other() -> None:
    made = bake(picture())
    heights = sorted(obj.location.z for obj in made.objects if obj.name.startswith("Label"))
    size = made.objects["Label a of it"].data.size
    assert np.diff(heights).min() >= 0.99 * size


@pytest.mark.parametrize("is_perspective", [True, False])
def test_texts_face_the_view_and_stand_before_everything_else(is_perspective: bool) -> None:
    turn = Euler((1.1, 0.0, 0.4)).to_matrix()
    eye = Matrix.Translation(Vector((0.5, 0.5, 8.0)) + turn @ Vector((0.0, 0.0, 40.0)))
    to_view = (eye @ turn.to_4x4()).inverted()
    window = Matrix.Diagonal((2.0, 2.0, -1.0, 1.0)) if is_perspective else Matrix.Diagonal((0.05, 0.05, -0.01, 1.0))
    if is_perspective:
        window[3][2], window[3][3] = -1.0, 0.0
    view = SimpleNamespace(
        view_matrix=to_view, window_matrix=window, perspective_matrix=window @ to_view, is_perspective=is_perspective
    )
    regions = [SimpleNamespace(type="WINDOW", height=800)]
    shown = picture()
    # Without a window the views of Blender have no matrices.
    made = bake(
        shown,
        context=SimpleNamespace(
            scene=bpy.context.scene,
            space_data=SimpleNamespace(region_3d=view),
            area=SimpleNamespace(regions=regions),
            preferences=bpy.context.preferences,
        ),
    )

    def seen(points: Any) -> np.ndarray:
        """The points in the axes of the view, as they are seen."""
        local = (np.c_[points, np.ones(len(points))] @ np.array(to_view).T)[:, :3]
        return local / (-local[:, 2:] if is_perspective else 1.0)

    solid = np.concatenate([fill.triangles.reshape(-1, 3) for fill in shown.fills])
    nearest = (np.c_[solid, np.ones(len(solid))] @ np.array(to_view).T)[:, 2].max()
    for obj in made.objects:
        if obj.type == "FONT":
            assert np.allclose(obj.matrix_world.to_3x3(), turn, atol=1e-5)
            assert (to_view @ obj.location).z > nearest - 0.01
    label, *_ = shown.labels
    (x, y, _), (at_x, at_y, _) = seen(np.array([made.objects[f"Label {label.text}"].location, label.point]))
    pixels = 800 * (1.0 if is_perspective else 0.025) * np.array((x - at_x, y - at_y))
    assert (pixels > 5.0).all()
    assert (pixels < 40.0).all()
    assert seen([made.objects["Title"].location])[0, 1] < seen(solid)[:, 1].min()


def test_removing_leaves_the_file_as_it_was_and_what_is_the_users() -> None:
    cube("Mine")
    before = everything()
    bake(picture())
    bake(picture(("a",)), ("GJK, Step 4 of 9", "Another."))
    assert lens.draw.bake.has_baked()
    assert lens.draw.bake.remove_baked() == 2
    assert everything() == before
    assert not lens.draw.bake.has_baked()

    made = bake(picture(("a",)))
    mine, material = bpy.data.objects["Mine"], made.objects["A Faces"].data.materials[0]
    made.objects.link(mine)
    mine.data.materials.append(material)
    assert lens.draw.bake.remove_baked() == 1
    assert mine.name in bpy.context.scene.objects
    assert mine.data.materials[0] == material
    assert [obj.name for obj in bpy.data.objects] == ["Mine"]


# --- what is no object to check --------------------------------------------------------------------------------------


def read() -> Any:
    update()
    return lens.read.scene.read_input(bpy.context, lens.data.records.Rules())


def test_a_check_of_the_scene_leaves_baked_steps_out_shown_hidden_and_instanced() -> None:
    cube("A"), block("B", (1, 1, 1), (1.2, 0, 0))
    alone = read()
    made = bake(picture())
    instance_of(made, "Slide")
    for is_hidden in (False, True):
        made.objects["A Faces"].hide_viewport = made.objects["Sentence"].hide_viewport = is_hidden
        found = read()
        assert [obj.name for obj in found.objects] == ["A", "B"]
        assert not found.skipped
        assert found.left_out == alone.left_out
        assert not found.without_surface


def test_baked_steps_are_no_pair_and_have_no_collision_shape() -> None:
    solid = cube("A")
    drawn = bake(picture(("hull",))).objects["Hull Faces"]
    select(solid, drawn)
    with pytest.raises(RuntimeError, match="'Hull Faces' is part of a baked step, which is only a drawing"):
        bpy.ops.contact_lens.inspect()
    assert lens.data.objects.unsupported_reason(drawn)
    assert not lens.data.objects.may_have_surface(drawn)
    with bpy.context.temp_override(object=drawn):
        assert not lens.ui.panels.CONTACT_LENS_PT_shape.poll(bpy.context)


def test_moving_what_is_baked_makes_nothing_out_of_date() -> None:
    cube("A"), cube("B", (1.5, 0.0, 0.0))
    drawn = bake(picture(("a",))).objects["A Faces"]
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    drawn.location.x += 5.0
    update()
    settings = bpy.context.scene.contact_lens_check
    assert [finding.relation for finding in settings.findings] == ["penetrating"]
    assert not lens.clashes.changes.unlisted(bpy.context.scene)


# --- operators ------------------------------------------------------------------------------------------------------


@pytest.fixture
def stepping() -> Any:
    """The steps of two cubes, the second one of them shown."""
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    assert bpy.ops.contact_lens.show_steps() == {"FINISHED"}
    lens.live.follow_steps.go(bpy.context.scene, 1)
    return lens.live.follow_steps.current(bpy.context.scene)[0]


def test_bake_step_adds_the_shown_step_beside_the_pair_as_one_step_to_be_undone(stepping: Any) -> None:
    bpy.ops.ed.undo_push(message="Show Steps")
    before = everything()
    assert bpy.ops.contact_lens.bake_step() == {"FINISHED"}
    assert "UNDO" in lens.operators.steps_operators.CONTACT_LENS_OT_bake_step.bl_options
    bpy.ops.ed.undo_push(message="Bake Step")
    made = bpy.data.collections["Contact Lens Steps"].children[0]
    assert made.name == stepping.title(1)
    assert made.objects["Sentence"].data.body == stepping.sentence(1)
    update()
    assert made.objects["Title"].location.z < -1.0, "below the cubes"
    assert lens.live.follow_steps.current(bpy.context.scene)[1] == 1, "it is still shown"
    assert inspection().contact.depth == pytest.approx(0.5)
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert everything()["objects"] == before["objects"]
    assert everything()["collections"] == before["collections"]


def test_every_step_of_every_algorithm_can_be_baked_and_all_are_removed_at_once(stepping: Any) -> None:
    before = everything()
    for number in range(len(stepping.shown)):
        lens.live.follow_steps.go(bpy.context.scene, number)
        assert bpy.ops.contact_lens.bake_step() == {"FINISHED"}
    assert len(bpy.data.collections["Contact Lens Steps"].children) == len(stepping.shown)
    assert bpy.ops.contact_lens.remove_baked_steps() == {"FINISHED"}
    assert everything() == before
    with pytest.raises(RuntimeError, match="The file has no baked steps"):
        bpy.ops.contact_lens.remove_baked_steps()


def test_copy_trace_writes_json_of_all_steps(stepping: Any) -> None:
    assert bpy.ops.contact_lens.copy_trace() == {"FINISHED"}
    # Without a window Blender has no clipboard.
    manager, said = SimpleNamespace(), []
    operator = SimpleNamespace(report=lambda kind, text: said.append(text))
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager)
    lens.operators.steps_operators.CONTACT_LENS_OT_copy_trace.execute(operator, context)
    copied = json.loads(manager.clipboard)
    assert copied == json.loads(json.dumps(stepping.trace.to_dict()))
    assert said == [f"{len(copied['steps'])} steps copied as JSON"]


def test_save_as_web_page_writes_all_steps_and_replaces_only_its_own(stepping: Any, tmp_path: Path) -> None:
    path, save = tmp_path / "steps.html", bpy.ops.contact_lens.save_steps_page
    assert save(filepath=str(path)) == {"FINISHED"}
    text = path.read_text(encoding="utf-8")
    assert text == lens.page.player_page.player_page(
        lens.study.playable.playable(stepping), lens.data.preferences.look(bpy.context)
    )
    assert text.count("<li>") == len(stepping.shown)
    bpy.context.scene.contact_lens.step_algorithm = "GJK"
    assert save(filepath=str(path)) == {"FINISHED"}
    assert 0 < path.read_text(encoding="utf-8").count("<li>") < len(stepping.shown)
    with pytest.raises(RuntimeError, match=r"The page cannot be saved: .*: there is no folder"):
        save(filepath=str(tmp_path / "no folder" / "steps.html"))
    path.write_text("of another program")
    with pytest.raises(RuntimeError, match=r"steps\.html: .* not a report of Contact Lens"):
        save(filepath=str(path))
    assert [file.read_text() for file in tmp_path.iterdir()] == ["of another program"]


def test_the_name_of_a_page_is_that_of_the_pair(stepping: Any) -> None:
    operator = lens.operators.steps_operators.CONTACT_LENS_OT_save_steps_page
    assert operator.default_path(None, bpy.context) == "A B steps.html"


def test_without_steps_there_is_nothing_to_bake_copy_or_save() -> None:
    ops = bpy.ops.contact_lens
    for operator in (ops.bake_step, ops.copy_trace, ops.save_steps_page):
        with pytest.raises(RuntimeError, match="No step is shown: choose Show Steps"):
            operator()


def test_the_chapters_that_are_packed_are_opened_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url, *_: opened.append(url) or True)
    assert bpy.ops.contact_lens.open_learn() == {"FINISHED"}
    assert opened == [lens.page.player_page.CHAPTERS.as_uri()]
    assert opened[0].endswith("docs/learn/index.html")
    monkeypatch.setattr(lens.page.player_page, "CHAPTERS", tmp_path / "index.html")
    with pytest.raises(RuntimeError, match="The chapters are missing: install the extension from its zip"):
        bpy.ops.contact_lens.open_learn()
