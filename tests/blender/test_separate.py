# SPDX-License-Identifier: GPL-3.0-or-later
"""Separate: the objects end up just touching, or stay where they were and the reason is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from .scenes import cube, inspect

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")


def relation(part: Part) -> str:
    inspection = part("blender_addon.session").current(bpy.context)
    assert inspection is not None
    assert not part("blender_addon.session").is_stale(bpy.context)
    return str(inspection.contact.relation)


@pytest.fixture
def pair() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two cubes that overlap by 0.5 along X."""
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    inspect(a, b)
    return a, b


@pytest.mark.parametrize(("moves", "a_x", "b_x"), [("B", 0.0, 2.0), ("A", -0.5, 1.5), ("HALF", -0.25, 1.75)])
def test_moves_apart_and_inspects_again(
    part: Part, pair: tuple[bpy.types.Object, bpy.types.Object], moves: str, a_x: float, b_x: float
) -> None:
    a, b = pair
    assert bpy.ops.contact_lens.separate(moves=moves) == {"FINISHED"}
    assert tuple(a.location) == pytest.approx((a_x, 0.0, 0.0), abs=1e-6)
    assert tuple(b.location) == pytest.approx((b_x, 0.2, 0.1), abs=1e-6)
    assert relation(part) == "touching"
    with pytest.raises(RuntimeError, match="do not penetrate"):
        bpy.ops.contact_lens.separate()


def test_one_undo_step_takes_it_back(part: Part, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Separate")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert bpy.data.objects["B"].location.x == pytest.approx(1.5)
    bpy.context.view_layer.update()
    assert part("blender_addon.session").is_stale(bpy.context)
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert relation(part) == "penetrating"


def test_what_is_out_of_date_is_read_again_first(part: Part, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    b = pair[1]
    b.location.x = 1.75
    bpy.context.view_layer.update()
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    assert b.location.x == pytest.approx(2.0)


def test_child_of_a_sheared_parent_goes_the_way_in_world_space(part: Part) -> None:
    a, b = cube("A"), cube("B")
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.rotation_euler = (0.3, 0.5, 0.7)
    parent.scale = (1.0, 3.0, 0.5)
    parent.location = (0.5, -0.5, 0.25)
    b.parent = parent
    b.location = (0.8, 0.1, -0.3)
    b.rotation_euler = (0.2, 0.1, 0.9)
    bpy.context.view_layer.update()
    inspect(a, b)
    mtv = part("blender_addon.session").current(bpy.context).contact.mtv
    before = np.array(b.matrix_world, dtype=np.float64)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    after = np.array(b.matrix_world, dtype=np.float64)
    assert after[:3, 3] - before[:3, 3] == pytest.approx(mtv, abs=1e-5)
    assert np.array_equal(after[:3, :3], before[:3, :3])
    assert relation(part) == "touching"


def stays(match: str, *objects: bpy.types.Object, **options: object) -> None:
    """Separate refuses with these words, and nothing has moved."""
    before = [np.array(obj.matrix_world) for obj in objects]
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.contact_lens.separate(**options)
    for obj, matrix in zip(objects, before, strict=True):
        assert np.array_equal(np.array(obj.matrix_world), matrix)


def test_locked_channel_is_respected(part: Part, pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    a, b = pair
    b.lock_location = (True, False, False)
    stays("'B' cannot be moved: its location X is locked", a, b)
    stays("'B' cannot be moved: its location X is locked", a, b, moves="HALF")
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
    stays("'B' does not go where it is moved", a, b)
    assert b.location.x == pytest.approx(1.5)


def test_driver_that_holds_the_object_is_found_out(pair: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    a, b = pair
    b.driver_add("location", 0).driver.expression = "1.5"
    bpy.context.view_layer.update()
    stays("'B' does not go where it is moved", a, b)


def test_child_that_moves_along_is_found_out() -> None:
    a, b = cube("A", (1.5, 0.0, 0.0)), cube("B")
    a.parent = b
    inspect(a, b)
    stays("'A' and 'B' move together", a, b)
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}


def test_linked_object_stays(part: Part, tmp_path: Path, empty_scene: object) -> None:
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {cube("Linked", (1.5, 0.0, 0.0))})
    bpy.data.objects.remove(bpy.data.objects["Linked"])
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    b = bpy.data.objects["Linked"]
    bpy.context.scene.collection.objects.link(b)
    a = cube("A")
    bpy.context.view_layer.update()
    inspect(a, b)
    stays("'Linked' is linked from .*library.blend: it cannot be moved here", a, b)
    assert bpy.ops.contact_lens.separate(moves="A") == {"FINISHED"}
    assert relation(part) == "touching"
