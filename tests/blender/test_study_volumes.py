# SPDX-License-Identifier: GPL-3.0-or-later
"""What bounding volumes teach: slabs of flat k-DOPs, volumes of round shapes, the descent of two trees test by test,
and what a move costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

from .scenes import adopt, block, cube, lens, mesh_object, rigid_body, select, update

pytestmark = pytest.mark.usefixtures("empty_scene")
ARTICLE = [(3.0, 1.0), (5.0, 4.0), (1.0, 5.0)]
"""The triangle of source S3."""


@pytest.fixture
def view() -> Callable[..., Any]:
    def shown(**settings: Any) -> Any:
        scene = bpy.context.scene
        for name, value in settings.items():
            setattr(scene.contact_lens, name, value)
        assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
        return lens.live.follow_volumes.current(scene)

    return shown


def triangle(height: float = 0.0, name: str = "Triangle") -> bpy.types.Object:
    return mesh_object(name, [(x, y, height) for x, y in ARTICLE], [(0, 1, 2)])


def monkey(location: object = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    bpy.ops.mesh.primitive_monkey_add(location=location)
    return bpy.context.object


# --- flat k-DOPs ----------------------------------------------------------------------------------------------------


def test_the_slabs_of_the_articles_triangle_have_the_articles_numbers(view: Callable[..., Any]) -> None:
    select(triangle(2.5))
    shown = view(volume_kind="KDOP", volume_planes="8")
    name, *slabs = shown.lines
    assert name == ("Triangle", "fills 61 % of its volume")
    assert slabs == [("x", "1 m to 5 m"), ("y", "1 m to 5 m"), ("x + y", "4 m to 9 m"), ("x - y", "-4 m to 2 m")]
    texts = [label.text for label in shown.picture.labels]
    assert texts[:4] == ["x = 1 m", "x = 5 m", "y = 1 m", "y = 5 m"]
    assert texts[4:] == ["x + y = 4 m", "x + y = 9 m", "x - y = -4 m", "x - y = 2 m"]
    lines, edges = shown.picture.lines
    assert np.array_equal(edges.ends, shown.segments)
    across = lines.ends @ np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0]]).T
    for slab, bounds in enumerate([(1, 5), (1, 5), (4, 9), (-4, 2)]):
        for side, bound in enumerate(bounds):
            assert across[2 * slab + side, :, slab] == pytest.approx([bound, bound])
    points = shown.segments.reshape(-1, 3)
    assert points[:, 2] == pytest.approx(2.5)
    assert ((points[:, 0] + points[:, 1] > 4 - 1e-9) & (points[:, 0] - points[:, 1] < 2 + 1e-9)).all()
    assert [text for _, text in view(volume_planes="4").lines[1:]] == ["1 m to 5 m", "1 m to 5 m"]


@pytest.mark.parametrize(
    ("corners", "names"),
    [
        ([(2.0, x, y) for x, y in ARTICLE], ["y", "z", "y + z", "y - z"]),
        ([(y, 2.0, x) for x, y in ARTICLE], ["z", "x", "z + x", "z - x"]),
    ],
)
def test_in_another_plane_of_the_axes_the_slabs_are_of_its_coordinates(
    view: Callable[..., Any], corners: list[tuple[float, ...]], names: list[str]
) -> None:
    select(mesh_object("Triangle", corners, [(0, 1, 2)]))
    lines = view(volume_kind="KDOP", volume_planes="8").lines[1:]
    assert lines == list(zip(names, ["1 m to 5 m", "1 m to 5 m", "4 m to 9 m", "-4 m to 2 m"], strict=True))


def test_a_tilted_flat_object_has_the_coordinates_of_its_own_plane(view: Callable[..., Any]) -> None:
    obj = triangle()
    obj.rotation_euler = (0.7, 0.3, 0.2)
    select(obj)
    shown = view(volume_kind="KDOP", volume_planes="8")
    assert [name for name, _ in shown.lines[1:]] == ["u", "v", "u + v", "u - v"]
    world = np.array([obj.matrix_world @ v.co for v in obj.data.vertices])
    normal = np.cross(world[1] - world[0], world[2] - world[0])
    normal /= np.linalg.norm(normal)
    assert (shown.segments.reshape(-1, 3) - world[0]) @ normal == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("of", ["OBJECTS", "TRIANGLES", "SCENE"])
def test_what_is_not_flat_or_in_another_plane_is_refused_with_a_sentence(view: Callable[..., Any], of: str) -> None:
    solid = cube("Solid")
    select(solid)
    with pytest.raises(RuntimeError, match="'Solid' is not flat: choose 6 or more planes"):
        view(volumes_of=of, volume_kind="KDOP", volume_planes="8")
    bpy.data.objects.remove(solid)
    select(triangle(0.0, "A"), triangle(1.0, "B"))
    with pytest.raises(RuntimeError, match=r"'[AB]' is in another plane: choose 6 or more planes"):
        view()
    bpy.data.objects["B"].location.z = -1.0
    update()
    assert view().lines


def test_trees_of_flat_objects_are_flat(view: Callable[..., Any]) -> None:
    for x in (0.0, 1.3):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, location=(x, 0.2 * x, 3.0))
    select(*bpy.data.objects)
    lines = dict(view(volumes_of="TRIANGLES", volume_kind="KDOP", volume_planes="8", tree_level=2).lines)
    shown = lens.live.follow_volumes.current(bpy.context.scene)
    assert shown.segments[..., 2] == pytest.approx(3.0)
    assert lines["Triangle Pairs Left"].endswith(f"of {72 * 72:,}")


# --- round shapes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["AABB", "OBB", "SPHERE", "KDOP"])
@pytest.mark.parametrize("shape", ["SPHERE", "CAPSULE", "CYLINDER", "CONE", "BOX"])
def test_the_volume_of_a_round_shape_is_around_the_shape(view: Callable[..., Any], kind: str, shape: str) -> None:
    obj = monkey((5.0, 0.0, 0.0))
    obj.contact_lens_shape = shape
    obj.rotation_euler = (0.4, 0.5, 0.6)
    select(obj)
    given = lens.study.volumes.read_volumes(bpy.context, _settings(volume_kind=kind))
    (enclosed,) = given.enclosed
    assert type(enclosed.shape).__name__.upper() == shape
    shown = view(volume_kind=kind, volume_planes="14")
    points = shown.segments.reshape(-1, 3)
    for axis in np.eye(3):
        reach = [(enclosed.shape.support(side) * axis).sum() for side in (axis, -axis)]
        assert (points @ axis).max() >= reach[0] - 5e-3, "circles are a hair smaller than the sphere"
        assert (points @ axis).min() <= reach[1] + 5e-3
        if kind in ("AABB", "KDOP"):
            assert (points @ axis).max() == pytest.approx(reach[0], abs=1e-9)
    if (kind, shape) in (("SPHERE", "SPHERE"), ("OBB", "BOX")):
        assert shown.lines == [(obj.name, "fills 100 % of its volume")]


def test_a_flat_disk_as_a_sphere_has_the_slabs_of_a_circle(view: Callable[..., Any]) -> None:
    bpy.ops.mesh.primitive_circle_add(radius=2.0, fill_type="NGON", location=(1.0, 2.0, 0.0))
    obj = bpy.context.object
    obj.contact_lens_shape = "SPHERE"
    select(obj)
    lines = dict(view(volume_kind="KDOP", volume_planes="8").lines)
    assert lines["x"] == "-1 m to 3 m"
    assert lines["x + y"] == f"{3 - 2 * np.sqrt(2):.4f} m to {3 + 2 * np.sqrt(2):.4f} m".replace("5.8284", "5.828")


def _settings(**changes: Any) -> Any:
    settings = bpy.context.scene.contact_lens
    for name, value in changes.items():
        setattr(settings, name, value)
    return settings.as_volume_settings()


def test_the_volume_of_a_compound_parent_is_around_its_children(view: Callable[..., Any]) -> None:
    parent, child, ball = cube("Parent"), cube("Box", (4.0, 0.0, 0.0)), cube("Ball", (8.0, 0.0, 0.0))
    adopt(parent, child, ball)
    for obj, shape in ((child, "BOX"), (ball, "SPHERE"), (parent, "COMPOUND")):
        rigid_body(obj, shape)
    select(parent)
    points = view(volume_kind="AABB").segments.reshape(-1, 3)
    assert np.ptp(points, axis=0) == pytest.approx([6.0, 2.0, 2.0])
    assert points.min(axis=0) == pytest.approx([3.0, -1.0, -1.0])
    # What the ball just reaches may collide, though a mesh of the ball does not reach it.
    surface = 8.0 * np.eye(3)[0] + (1.0 - 1e-5) / np.sqrt(3.0)
    select(parent, block("Probe", (1.0, 1.0, 1.0), surface + 0.5))
    shown = view(volume_kind="KDOP", volume_planes="14")
    assert ("Volumes", "overlap: the objects may collide") in shown.lines
    assert not any(name == "Separating Axis" for name, _ in shown.lines)


# --- the descent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["AABB", "SPHERE"])
def test_each_test_of_a_descent_says_what_follows_from_it(view: Callable[..., Any], kind: str) -> None:
    a, b = cube("Cube"), monkey((1.5, 0.0, 0.3))
    select(a, b)
    shown = view(volumes_of="TRIANGLES", volume_kind=kind, tree_descent=True)
    descent, lines = shown.descent, dict(shown.lines)
    total = int(lines["Volume Tests"].replace(",", ""))
    left = int(lines["Triangle Pairs Left"].split()[0].replace(",", ""))
    first = descent.sentence(0)
    assert first.endswith("they overlap, so their children are compared")
    assert first.startswith(f"Test 1 of {total:,}: node 0 of ")
    assert f"(12 triangles) against node 0 of {descent.names[1]} (968)" in first or "(968 triangles)" in first
    sentences = [descent.sentence(number) for number in range(total)]
    assert sum("so this pair of triangles is left" in sentence for sentence in sentences) == left
    for number in range(0, total, 17):
        first_volume, second_volume = descent._volumes(number)
        assert bool(first_volume.overlaps(second_volume)[0]) == ("they overlap" in sentences[number])
    assert descent.rows(total - 1) == [
        ("Triangle Pairs Cut Off", f"{12 * 968 - left:,} of {12 * 968:,}"),
        ("Left So Far", f"{left:,}"),
    ]
    assert descent.number_of(10 * total) == total - 1
    assert len(shown.segments) == 0, "the tests are drawn instead of a level"

    cut = next(
        number for number in range(total) if "cut off" in sentences[number] and "triangles)" in sentences[number]
    )
    picture = shown.picture_of(cut + 1)
    assert picture is shown.picture_of(cut + 1), "drawn again as it is"
    assert [lines.role for lines in picture.lines] == ["removed", "a", "removed", "b"], "no pair is left yet"
    assert "region" in {lines.role for lines in shown.picture_of(total).lines}
    assert [label.role for label in picture.labels] == ["a", "b"]


def test_the_descent_of_the_tree_of_a_scene_with_itself(view: Callable[..., Any]) -> None:
    for place in range(8):
        cube(f"Cube {place}", (1.9 * place, 0.0, 0.0))
    shown = view(volumes_of="SCENE", volume_kind="AABB", tree_descent=True)
    total = int(dict(shown.lines)["Volume Tests"])
    assert shown.descent.rows(total - 1) == [("Object Pairs Cut Off", "21 of 28"), ("Left So Far", "7")]
    assert "of the scene (" in shown.descent.sentence(0)


# --- moves ----------------------------------------------------------------------------------------------------------


def test_k_dops_climb_to_what_a_rebuild_measures_and_visit_fewer_vertices(view: Callable[..., Any]) -> None:
    obj, rng = monkey(), np.random.default_rng(3)
    select(obj)
    shown = view(volume_kind="KDOP", volume_planes="26", volume_climb=True)
    assert not any(name == "Visited by a Rebuild" for name, _ in shown.lines), "nothing has moved yet"
    for _ in range(6):
        obj.location = rng.normal(size=3)
        obj.rotation_euler = Euler(np.array(obj.rotation_euler) + rng.normal(scale=0.2, size=3))
        update()
        shown = view()
        words = dict(shown.lines)
        assert int(words["Vertices Visited"].split()[0]) < int(words["Visited by a Rebuild"]) == 13 * 66
        again = view()
        assert again.lines == shown.lines, "nothing moved: what is shown is of the last move"
        assert again.picture.lines[0].ends == pytest.approx(shown.picture.lines[0].ends)

        follow = lens.live.follow_volumes
        follow._of_scene.clear()
        rebuilt = view()
        assert rebuilt.segments == pytest.approx(shown.segments, abs=0.0)
        follow._of_scene[bpy.context.scene.session_uid].view = shown
        placed = np.array([obj.matrix_world @ v.co for v in obj.data.vertices])
        walked = shown.picture.lines[0].ends.reshape(-1, 1, 3)
        assert np.abs(walked - placed).max(axis=2).min(axis=1).max() < 1e-5, "along the hull"


def test_trees_are_refitted_to_what_rebuilt_ones_find(view: Callable[..., Any]) -> None:
    a, b = monkey(), monkey((1.9, 0.0, 0.0))
    select(a, b)
    shown = view(volumes_of="TRIANGLES", volume_kind="AABB", tree_compare=True, tree_level=3)
    assert "Refit" not in dict(shown.lines)
    b.rotation_euler.z = 0.3
    update()
    shown = view()
    lines = dict(shown.lines)
    assert (lines["Refit"], lines["Sorted by a Rebuild"]) == ("1,935 volumes", "968 triangles")
    assert 90 < int(lines["Cost"].split()[0]) < 150
    follow = lens.live.follow_volumes
    follow._of_scene.clear()
    rebuilt = dict(view().lines)
    assert rebuilt["Triangle Pairs Left"] == lines["Triangle Pairs Left"]
    assert lines["In Rebuilt Trees"] == f"{rebuilt['Volume Tests']} tests"

    # Of another mesh there is nothing to refit.
    b.data = b.data.copy()
    b.modifiers.new("More", "SUBSURF")
    update()
    assert "Refit" not in dict(view().lines)


def test_a_tree_that_moves_made_bad_is_built_anew(view: Callable[..., Any]) -> None:
    rng = np.random.default_rng(8)
    objects = [cube(f"Cube {i}", rng.uniform(-30, 30, 3)) for i in range(40)]
    view(volumes_of="SCENE", volume_kind="AABB")
    for obj in objects:
        obj.location = rng.uniform(-30, 30, 3)
    update()
    assert dict(view().lines)["Rebuilt"].startswith("refit costs ")


def test_the_last_separating_axis_decides_at_once(view: Callable[..., Any]) -> None:
    a, b = cube("A"), cube("B", (3.0, 0.0, 0.0))
    select(a, b)
    axis = "Separating Axis"
    assert axis not in dict(view(volume_kind="AABB").lines)
    b.location.y = 0.5
    update()
    assert dict(view().lines)[axis] == "the last one, in 1 test"
    b.location = (0.0, 3.0, 0.0)
    update()
    assert dict(view().lines)[axis].startswith("a new one, ")
    b.location = (0.5, 0.5, 0.0)
    update()
    assert dict(view().lines)[axis].startswith("none, ")
    assert dict(view(volume_kind="SPHERE").lines)[axis].startswith("none, "), "nothing moved"
