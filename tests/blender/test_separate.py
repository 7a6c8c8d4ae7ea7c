# SPDX-License-Identifier: GPL-3.0-or-later
"""Separate: the objects end up just touching, or stay where they were and the reason is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from .layouts import Layout
from .scenes import add_object, cube, inspect, inspection, lens, link, mesh_object, refresh, update
from .window import ESC, TICK, Window, modal_operator

Pair = tuple[bpy.types.Object, bpy.types.Object]

pytestmark = pytest.mark.usefixtures("empty_scene")


def relation() -> str:
    assert not lens.pair.session.is_stale(bpy.context)
    return str(inspection().contact.relation)


@pytest.fixture
def pair() -> Pair:
    """Two cubes that overlap by 0.5 along X."""
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    inspect(a, b)
    return a, b


@pytest.mark.parametrize(("moves", "a_x", "b_x"), [("B", 0.0, 2.0), ("A", -0.5, 1.5), ("HALF", -0.25, 1.75)])
def test_moves_apart_and_inspects_again(pair: Pair, moves: str, a_x: float, b_x: float) -> None:
    a, b = pair
    assert bpy.ops.contact_lens.separate(moves=moves) == {"FINISHED"}
    assert tuple(a.location) == pytest.approx((a_x, 0.0, 0.0), abs=1e-6)
    assert tuple(b.location) == pytest.approx((b_x, 0.2, 0.1), abs=1e-6)
    assert relation() == "touching"
    with pytest.raises(RuntimeError, match="do not penetrate"):
        bpy.ops.contact_lens.separate()


def test_one_undo_step_takes_it_back(pair: Pair) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Separate")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert bpy.data.objects["B"].location.x == pytest.approx(1.5)
    update()
    assert lens.pair.session.is_stale(bpy.context)
    refresh()
    assert relation() == "penetrating"


def test_what_is_out_of_date_is_read_again_first(pair: Pair) -> None:
    b = pair[1]
    b.location.x = 1.75
    update()
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert b.location.x == pytest.approx(2.0)


def test_child_of_a_sheared_parent_goes_the_way_in_world_space() -> None:
    a, b, parent = cube("A"), cube("B", (0.8, 0.1, -0.3)), add_object("Parent", location=(0.5, -0.5, 0.25))
    parent.rotation_euler, parent.scale = (0.3, 0.5, 0.7), (1.0, 3.0, 0.5)
    b.parent, b.rotation_euler = parent, (0.2, 0.1, 0.9)
    mtv = inspect(a, b).contact.mtv
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


def test_locked_channel_is_respected(pair: Pair) -> None:
    a, b = pair
    b.lock_location = (True, False, False)
    for options in ({"moves": "B"}, {"moves": "HALF"}):
        stays("'B' cannot be moved: its X location is locked", a, b, **options)
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}
    a.location.x, b.lock_location = 0.0, (False, True, True)
    update()
    assert bpy.ops.contact_lens.separate(moves="B") == {"FINISHED"}, "a lock across the direction is no hindrance"


def limit(obj: bpy.types.Object) -> None:
    constraint = obj.constraints.new("LIMIT_LOCATION")
    constraint.use_max_x, constraint.max_x = True, 1.6


def drive(obj: bpy.types.Object) -> None:
    obj.driver_add("location", 0).driver.expression = "1.5"


@pytest.mark.parametrize("hold", [limit, drive])
def test_what_holds_the_object_is_found_out(pair: Pair, hold: Callable[[bpy.types.Object], None]) -> None:
    hold(pair[1])
    update()
    stays("'B' cannot be moved: constraints, drivers or its parent fix its location", *pair)
    assert pair[1].location.x == pytest.approx(1.5)


def test_child_that_moves_along_is_found_out() -> None:
    a, b = cube("A", (1.5, 0.0, 0.0)), cube("B")
    a.parent = b
    inspect(a, b)
    stays("'A' and 'B' move together", a, b)
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}


def test_linked_object_stays(tmp_path: Path) -> None:
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {cube("Linked", (1.5, 0.0, 0.0))})
    bpy.data.objects.remove(bpy.data.objects["Linked"])
    (b,) = link(library, objects=["Linked"]).objects
    bpy.context.scene.collection.objects.link(b)
    a = cube("A")
    inspect(a, b)
    stays("'Linked' cannot be moved: it is linked from .*library.blend", a, b, moves="B")
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert a.location.x == pytest.approx(-0.5), "of the two only A can be moved"
    assert relation() == "touching"


# --- which of the two moves -----------------------------------------------------------------------------------------


def lock(obj: bpy.types.Object) -> None:
    obj.lock_location = (True, True, True)


def make_passive(obj: bpy.types.Object) -> None:
    make_body(obj, "PASSIVE")


def make_active(obj: bpy.types.Object) -> None:
    make_body(obj, "ACTIVE")


def make_body(obj: bpy.types.Object, kind: str) -> None:
    with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        bpy.ops.rigidbody.object_add(type=kind)


def enlarge(obj: bpy.types.Object) -> None:
    obj.scale = (2.1, 2.1, 2.1)


def leave(obj: bpy.types.Object) -> None:
    pass


@pytest.mark.parametrize(
    ("of_a", "of_b", "moves"),
    [
        (leave, leave, "B"),
        (leave, lock, "A"),
        (lock, leave, "B"),
        (leave, make_passive, "A"),
        (make_passive, leave, "B"),
        (make_active, leave, "A"),
        (leave, enlarge, "A"),
        (enlarge, enlarge, "B"),
        (make_active, enlarge, "A"),
        (enlarge, make_passive, "A"),
        (make_active, lock, "A"),
        (lock, make_passive, ""),
        (make_passive, make_passive, ""),
    ],
)
def test_the_mover_is_chosen_by_the_first_that_tells_the_objects_apart(
    pair: Pair, of_a: Callable[[bpy.types.Object], None], of_b: Callable[[bpy.types.Object], None], moves: str
) -> None:
    for obj, change in zip(pair, (of_a, of_b), strict=True):
        change(obj)
    update()
    assert lens.pair.mover.choose(*pair) == moves
    swapped = {"A": "B", "B": "A", "": ""}[moves]
    if of_a != of_b:
        assert lens.pair.mover.choose(*pair[::-1]) == swapped


def test_a_passive_floor_stays_and_what_stands_in_it_moves() -> None:
    barrel, floor = cube("Barrel", (0.0, 0.0, 0.9)), cube("Floor", (0.0, 0.0, -1.0))
    make_passive(floor)
    update()
    inspect(barrel, floor)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert (barrel.location.z, floor.location.z) == pytest.approx((1.0, -1.0))
    barrel.location.z = 0.9
    update()
    refresh()
    assert bpy.ops.contact_lens.separate(moves="B") == {"FINISHED"}, "the user picks it"
    assert (barrel.location.z, floor.location.z) == pytest.approx((0.9, -1.1))


def test_the_button_names_what_it_moves_and_its_tooltip_how_far(pair: Pair) -> None:
    a, b = pair
    make_passive(b)
    a.name = "Barrel with a name that is far too long for a button"
    update()
    refresh()
    button, row = lens.operators.move_operators, Layout()
    operator = button.CONTACT_LENS_OT_separate
    button.draw_button(row, bpy.context, operator, "CONTACT_LENS_MT_move_out", 40)
    assert row.drawn.texts[0] == "Move 'Barrel with a…for a button' Out"
    assert row.drawn.given("separate", "moves") == ["A"]
    automatic = SimpleNamespace(moves="AUTO", along="SHORTEST")
    assert operator.description(bpy.context, automatic) == f"Move '{a.name}' out of 'B' by 0.5 m"


def test_the_button_is_disabled_after_the_move_but_not_the_operator_or_its_panel_would_go(pair: Pair) -> None:
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    row, move_operators = Layout(), lens.operators.move_operators
    operator = move_operators.CONTACT_LENS_OT_separate
    move_operators.draw_button(row, bpy.context, operator, "CONTACT_LENS_MT_move_out", 40)
    assert row.drawn.texts[0] == "Move 'B' Out"
    assert row.drawn.disabled == ["contact_lens.separate", "CONTACT_LENS_MT_move_out"]
    assert "do not penetrate" in operator.description(bpy.context, SimpleNamespace(moves="B", along="SHORTEST"))
    assert bpy.ops.contact_lens.separate.poll(), "Blender takes the panel of an operator away that cannot be run"


def test_of_two_fixed_objects_none_moves_unless_the_user_picks_it(pair: Pair) -> None:
    a, b = pair
    lock(a)
    make_passive(b)
    update()
    refresh()
    reason = "'A' has a locked location, 'B' is a Passive rigid body: pick the one to move in the menu"
    stays(reason, a, b)
    stays("'A' cannot be moved: it has a locked location", a, b, moves="A")
    row = Layout()
    operator = lens.operators.move_operators.CONTACT_LENS_OT_separate
    lens.operators.move_operators.draw_button(row, bpy.context, operator, "CONTACT_LENS_MT_move_out", 40)
    assert row.drawn.disabled == ["contact_lens.separate"]
    assert operator.description(bpy.context, SimpleNamespace(moves="AUTO", along="SHORTEST")) == reason
    assert bpy.ops.contact_lens.separate(moves="B") == {"FINISHED"}


def test_of_two_objects_that_cannot_be_moved_none_is_to_be_picked(pair: Pair) -> None:
    for obj in pair:
        lock(obj)
    update()
    refresh()
    stays("'A' has a locked location, 'B' has a locked location: unlock one of them, or make it local", *pair)


# --- along an axis --------------------------------------------------------------------------------------------------


@pytest.fixture
def slab_and_cube() -> Pair:
    """A cube that is 0.25 deep in a wide slab; its edge is nearer to the slab's end than that."""
    slab, b = cube("Slab", (0.0, 0.0, -0.5)), cube("B", (4.9, 0.3, 0.75))
    slab.scale = (4.0, 4.0, 0.5)
    update()
    inspect(slab, b)
    return slab, b


@pytest.mark.parametrize(("axis", "place"), [("X", (5.0, 0.3, 0.75)), ("Y", (4.9, 5.0, 0.75)), ("Z", (4.9, 0.3, 1.0))])
def test_moves_along_an_axis_by_the_overlap_there(slab_and_cube: Pair, axis: str, place: tuple[float, ...]) -> None:
    slab, b = slab_and_cube
    assert bpy.ops.contact_lens.separate(along=axis) == {"FINISHED"}
    assert tuple(b.location) == pytest.approx(place, abs=1e-6)
    assert tuple(slab.location) == (0.0, 0.0, -0.5)
    assert relation() == "touching"
    with pytest.raises(RuntimeError, match="do not penetrate"):
        bpy.ops.contact_lens.separate(along=axis)


def test_the_other_objects_move_along_an_axis_too(slab_and_cube: Pair) -> None:
    slab, b = slab_and_cube
    assert bpy.ops.contact_lens.separate(moves="A", along="Z") == {"FINISHED"}
    assert (slab.location.z, b.location.z) == pytest.approx((-0.75, 0.75))
    slab.location.z = -0.5
    update()
    assert bpy.ops.contact_lens.separate(moves="HALF", along="Z") == {"FINISHED"}
    assert (slab.location.z, b.location.z) == pytest.approx((-0.625, 0.875))


def test_a_mesh_moves_along_an_axis_into_the_nearest_opening() -> None:
    bpy.ops.mesh.primitive_torus_add(major_radius=2.0, minor_radius=0.5, major_segments=48, minor_segments=24)
    ring, b = bpy.context.object, cube("B", (1.4, 0.0, 0.0))
    b.scale = (0.25, 0.25, 0.25)
    update()
    inspect(ring, b)
    assert bpy.ops.contact_lens.separate(along="X") == {"FINISHED"}
    assert b.location.x == pytest.approx(1.24, abs=0.02), "into the hole"
    assert relation() == "touching"


def test_flat_objects_move_along_the_axes_of_their_plane() -> None:
    square = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
    a, b = (mesh_object(name, square, [(0, 1, 2, 3)], (x, 0.0, 0.0)) for name, x in (("A", 0.0), ("B", 1.5)))
    inspect(a, b, flat=True)
    stays("The Z axis leads out of the plane", a, b, along="Z")
    assert bpy.ops.contact_lens.separate(along="Y") == {"FINISHED"}
    assert tuple(b.location) == pytest.approx((1.5, 2.0, 0.0), abs=1e-6)


def test_what_holds_the_object_is_found_out_along_an_axis_too(slab_and_cube: Pair) -> None:
    b = slab_and_cube[1]
    b.lock_location = (True, True, False)
    stays("'B' cannot be moved: its Y location is locked", *slab_and_cube, along="Y", moves="B")
    constraint = b.constraints.new("LIMIT_LOCATION")
    constraint.use_max_z, constraint.max_z = True, 0.8
    update()
    stays("'B' cannot be moved: constraints, drivers or its parent fix", *slab_and_cube, along="Z", moves="B")


def test_one_undo_step_takes_a_move_along_an_axis_back(slab_and_cube: Pair) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.separate(along="Z") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Move Out")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert bpy.data.objects["B"].location.z == pytest.approx(0.75)


def test_the_menu_offers_all_moves_and_says_what_each_does(slab_and_cube: Pair) -> None:
    layout = Layout()
    bpy.types.CONTACT_LENS_MT_move_out.draw(SimpleNamespace(layout=layout), bpy.context)
    assert [text for text in layout.drawn.texts if text] == [
        "Move 'Slab' Out",
        "Move Both by Half",
        *(f"Move 'B' Along {axis}" for axis in "XYZ"),
    ]
    operator = lens.operators.move_operators.CONTACT_LENS_OT_separate
    described = {
        axis: operator.description(bpy.context, SimpleNamespace(moves="B", along=axis)) for axis in ("SHORTEST", "Z")
    }
    assert described == {
        "SHORTEST": "Move 'B' out of 'Slab' by 0.1 m",
        "Z": "Move 'B' out of 'Slab' along the world Z axis, in the shorter direction",
    }


# --- to a margin ----------------------------------------------------------------------------------------------------


def gap() -> float:
    """The signed distance of the pair, inspected as Blender has stored it."""
    assert not lens.pair.session.is_stale(bpy.context)
    return float(inspection().contact.signed_distance)


def assert_at(margin: float) -> None:
    """The pair is at its margin, to a millionth of the smaller object or four steps of its coordinates."""
    found = inspection()
    extent = min(found.shape_a.extent, found.shape_b.extent)
    assert abs(gap() - margin) <= max(1e-6 * extent, found.resolution)


def test_the_margin_is_the_clearance_unless_it_is_set(pair: Pair, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = pair
    inspect(a, b, clearance=0.01)
    operator = lens.operators.move_operators.CONTACT_LENS_OT_separate
    automatic = SimpleNamespace(moves="AUTO", along="SHORTEST")
    assert operator.description(bpy.context, automatic) == "Move 'B' out of 'A' by 0.51 m, to a gap of 0.01 m"
    capfd.readouterr()
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert capfd.readouterr().out.startswith("Info: Moved 'B' by 0.51 m. A and B: separated, gap 0.01 m")
    assert b.location.x == pytest.approx(2.01, abs=1e-6)
    assert (relation(), gap() > 0.01) == ("separated", True), "no longer within the clearance"
    assert_at(0.01)
    with pytest.raises(RuntimeError, match="there is nothing to move out"):
        bpy.ops.contact_lens.separate()


@pytest.mark.parametrize("margin", [0.001, 0.0, -0.05])
@pytest.mark.parametrize("moves", ["A", "B", "HALF"])
def test_a_gap_within_the_clearance_is_widened_and_closed(pair: Pair, moves: str, margin: float) -> None:
    a, b = pair
    b.location.x = 2.0002
    update()
    inspect(a, b, clearance=0.001)
    assert relation() == "within_clearance"
    row = Layout()
    operator = lens.operators.move_operators.CONTACT_LENS_OT_separate
    lens.operators.move_operators.draw_button(row, bpy.context, operator, "CONTACT_LENS_MT_move_out", 40)
    assert row.drawn.disabled == []
    assert bpy.ops.contact_lens.separate(moves=moves, margin=margin) == {"FINISHED"}
    assert_at(margin)
    share = {"A": (-1.0, 0.0), "B": (0.0, 1.0), "HALF": (-0.5, 0.5)}[moves]
    step = margin - 0.0002
    assert (a.location.x, b.location.x - 2.0002) == pytest.approx([step * x for x in share], abs=1e-6)


def test_what_touches_is_moved_to_the_clearance(pair: Pair) -> None:
    a, b = pair
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    inspect(a, b, clearance=0.0002)
    assert relation() == "touching"
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert_at(0.0002)
    assert relation() == "separated"


@pytest.mark.parametrize("along", ["SHORTEST", "X", "Z"])
@pytest.mark.parametrize("margin", [0.02, -0.02])
@pytest.mark.parametrize("kind", ["CONVEX_HULL", "COMPOUND", "MESH", pytest.param("SPHERE", marks=pytest.mark.slow)])
def test_every_kind_of_shape_is_placed_at_the_margin(kind: str, margin: float, along: str) -> None:
    bpy.ops.mesh.primitive_torus_add(major_radius=2.0, minor_radius=0.5, major_segments=8, minor_segments=4)
    ring, b = bpy.context.object, cube("B", (2.3, 0.1, 0.45))
    ring.contact_lens_shape = kind if kind != "SPHERE" else "MESH"
    b.contact_lens_shape = "SPHERE" if kind == "SPHERE" else "AUTOMATIC"
    b.scale, b.rotation_euler = (0.25, 0.25, 0.25), (0.3, 0.2, 0.1)
    update()
    inspect(ring, b)
    place = ring.location.copy()
    assert bpy.ops.contact_lens.separate(margin=margin, along=along) == {"FINISHED"}
    assert_at(margin)
    assert ring.location == place


def test_flat_objects_are_placed_in_their_plane() -> None:
    square = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
    a, b = (mesh_object(name, square, [(0, 1, 2, 3)], (x, 0.0, 0.0)) for name, x in (("A", 0.0), ("B", 1.5)))
    a.rotation_euler = b.rotation_euler = (0.0, 0.0, 0.3)
    update()
    inspect(a, b, flat=True)
    for along in ("SHORTEST", "Y"):
        assert bpy.ops.contact_lens.separate(along=along, margin=0.1) == {"FINISHED"}
        assert_at(0.1)
        b.location = (1.5, 0.0, 0.0)
        update()
    assert b.location.z == 0.0


@pytest.mark.parametrize("margin", [0.01, 0.0, -0.01])
def test_far_from_the_origin_the_margin_is_as_exact_as_coordinates_are(margin: float) -> None:
    a, b = cube("A", (10_000.0, 0.0, 0.0)), cube("B", (10_001.5, 0.2, 0.1))
    inspect(a, b)
    assert bpy.ops.contact_lens.separate(margin=margin) == {"FINISHED"}
    assert_at(margin)


def test_a_margin_that_coordinates_are_too_coarse_for_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    a, b = cube("A", (10_000.0, 0.0, 0.0)), cube("B", (10_001.5, 0.2, 0.1))
    inspect(a, b)
    capfd.readouterr()
    assert bpy.ops.contact_lens.separate(margin=0.0002) == {"FINISHED"}
    (warning,) = (line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning"))
    off = inspection().units.length(gap() - 0.0002)
    assert warning == (
        f"Warning: The margin is {off} larger than asked for: coordinates are stored in steps of 0.0009766 m there"
    )


@pytest.mark.parametrize(("along", "margin"), [("SHORTEST", -3.0), ("Z", -3.0)])
def test_where_there_is_no_such_place_nothing_moves(pair: Pair, along: str, margin: float) -> None:
    stays(
        "No place in that direction has a margin of -3 m: choose another margin or axis",
        *pair,
        along=along,
        margin=margin,
    )


def test_meshes_that_lack_a_depth_are_closed_to_a_touch_but_not_to_an_overlap() -> None:
    square = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
    a, b = mesh_object("A", square, [(0, 1, 2, 3)]), mesh_object("B", square, [(0, 1, 2, 3)], (0.0, 0.0, 1.001))
    b.rotation_euler.x = np.pi / 2
    a.contact_lens_shape = b.contact_lens_shape = "MESH"
    update()
    inspect(a, b, clearance=0.01)
    assert relation() == "within_clearance"
    stays("No place in that direction has a margin of -0.1 m", a, b, margin=-0.1)
    assert bpy.ops.contact_lens.separate(margin=0.0) == {"FINISHED"}
    assert_at(0.0)


def test_one_undo_step_takes_a_move_to_a_margin_back(pair: Pair) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.separate(margin=0.1) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Move Out")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert bpy.data.objects["B"].location.x == pytest.approx(1.5)


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


def test_keyframes_that_put_the_object_back_are_told(pair: Pair, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = pair
    keyed(a)
    keyed(b, channel=1)
    assert separated(capfd) == (), "neither of A, which stays, nor across the direction are they a hindrance"
    b.location.x = 1.5
    keyed(b)
    assert separated(capfd) == (PUT_BACK,)
    bpy.context.scene.frame_set(6)
    assert b.location.x == pytest.approx(1.5), "what was told has come true"


def test_strips_of_the_nla_that_put_the_object_back_are_told(pair: Pair, capfd: pytest.CaptureFixture[str]) -> None:
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
    update()
    assert separated(capfd) == ()


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="actions have slots since Blender 4.4")
def test_keyframes_of_another_objects_slot_are_no_hindrance(pair: Pair, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = pair
    keyed(a)
    animation = b.animation_data_create()
    animation.action = a.animation_data.action
    animation.action_slot = animation.action.slots.new("OBJECT", "B")
    assert separated(capfd) == ()
    animation.action_slot = a.animation_data.action_slot
    b.location.x = 1.5
    update()
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
    pair: Pair,
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
    pair: Pair,
    capfd: pytest.CaptureFixture[str],
    auto_keying: bpy.types.ToolSettings,
) -> None:
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    assert separated(capfd) == ()
    assert pair[1].animation_data is None


def test_auto_keying_that_only_replaces_leaves_the_warning(
    pair: Pair,
    capfd: pytest.CaptureFixture[str],
    auto_keying: bpy.types.ToolSettings,
) -> None:
    keyed(pair[1])
    auto_keying.auto_keying_mode = "REPLACE_KEYS"
    assert separated(capfd) == (PUT_BACK,), "there is no key at frame 5"
    bpy.context.scene.frame_set(10)
    assert separated(capfd) == ()


# --- with what takes long -------------------------------------------------------------------------------------------


def test_esc_while_the_move_along_an_axis_is_looked_for_leaves_all_as_it_was(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    separate_steps = lens.operators.move_operators.separate_steps
    operator, window = modal_operator(lens.live.background, separate_steps, monkeypatch, moves="B", along="Z")
    assert operator.flow.task.is_cancelled is False, "the inspection is known: it looks for the move"
    assert operator.modal(window, ESC) == {"CANCELLED"}
    assert tuple(pair[1].location) == pytest.approx((1.5, 0.2, 0.1))
    assert window.timers == 0


@pytest.fixture
def separating(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Window]:
    """Separate B, begun with a button, on a pair of which any inspection takes long; and its context."""
    lens.pair.session.clear()
    separate_steps = lens.operators.move_operators.separate_steps
    return modal_operator(lens.live.background, separate_steps, monkeypatch, moves="AUTO", along="SHORTEST")


def test_what_takes_long_goes_on_beside_blender(pair: Pair, separating: tuple[Any, Window]) -> None:
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
    assert operator.said[0].startswith("Moved 'B' by 0.5 m. A and B: touching")


def test_esc_before_the_move_leaves_all_as_it_was(pair: Pair, separating: tuple[Any, Window]) -> None:
    operator, window = separating
    task = operator.flow.task
    assert operator.modal(window, ESC) == {"CANCELLED"}
    assert (task.is_cancelled, window.timers) == (True, 0)
    assert pair[1].location.x == pytest.approx(1.5)


def test_esc_after_the_move_keeps_it_as_a_step_that_can_be_undone(pair: Pair, separating: tuple[Any, Window]) -> None:
    operator, window = separating
    operator.flow.task.end()
    operator.modal(window, TICK)
    assert operator.modal(window, ESC) == {"FINISHED"}
    assert window.timers == 0
    assert pair[1].location.x == pytest.approx(2.0)
    assert operator.said == ["Moved 'B' by 0.5 m. The inspection afterwards was cancelled"]


def test_what_changed_meanwhile_is_not_moved(pair: Pair, separating: tuple[Any, Window]) -> None:
    operator, window = separating
    pair[1].location.x = 1.2
    update()
    operator.flow.task.end()
    assert operator.modal(window, TICK) == {"CANCELLED"}
    assert operator.said == ["An object changed during the inspection, so nothing was moved: try again"]
    assert (pair[1].location.x, window.timers) == (pytest.approx(1.2), 0)
