# SPDX-License-Identifier: GPL-3.0-or-later
"""Move All Out: no penetration is left, little is moved, and what is fixed stays."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import add_object, block, collection_of, cube, instance_of, lens, update
from .test_scene_check import check, row_of_cubes, settings, statuses

pytestmark = pytest.mark.usefixtures("empty_scene")


def passive(obj: bpy.types.Object) -> bpy.types.Object:
    with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        bpy.ops.rigidbody.object_add(type="PASSIVE")
    return obj


def places() -> dict[str, list[float]]:
    update()
    return {obj.name: np.round(np.array(obj.matrix_world.translation), 4).tolist() for obj in bpy.data.objects}


def move_all(**options: str) -> set[str]:
    return bpy.ops.contact_lens.move_all_out(**options)  # type: ignore[no-any-return]


def select(*objects: bpy.types.Object) -> None:
    for obj in filter(None, [*bpy.context.view_layer.objects]):  # selecting makes the layer list its objects anew
        obj.select_set(obj in objects)


def penetrating() -> list[str]:
    """The pairs that a new check finds to penetrate."""
    found = check(touching=False)
    return sorted("|".join(clash.label(letter) for letter in "ab") for clash in found if clash.status != "RESOLVED")


def crates() -> list[bpy.types.Object]:
    """Crates sunk into a passive floor, a row that is too tight, and a stack."""
    passive(block("Floor", (20.0, 20.0, 1.0), (0.0, 0.0, -0.5)))
    sunk = [cube(f"Sunk {k}", (3.0 * k - 6.0, -4.0, 0.3), 1.0) for k in range(4)]
    row = [cube(f"Row {k}", (0.8 * k - 2.0, 0.0, 0.501), 1.0) for k in range(5)]
    stack = [cube(f"Stack {k}", (5.0, 4.0, 0.4 + 0.85 * k), 1.0) for k in range(3)]
    for k, obj in enumerate((*sunk, *stack)):
        obj.rotation_euler.z = radians(17.0 * k)
    update()
    return [*sunk, *row, *stack]


def test_crates_on_a_passive_floor() -> None:
    crates()
    check(touching=False)
    assert len(settings().findings) == 11
    before = places()
    assert move_all() == {"FINISHED"}
    assert {status for _, status in statuses().values()} == {"RESOLVED"}, "and the list knows"
    after = places()
    assert after["Floor"] == before["Floor"]
    moved = {name: np.subtract(after[name], before[name]) for name in before}
    assert all(moved[f"Sunk {k}"] == pytest.approx([0.0, 0.0, 0.2], abs=1e-3) for k in range(4))
    assert [moved[f"Row {k}"][0] for k in range(5)] == pytest.approx([-0.4, -0.2, 0.0, 0.2, 0.4], abs=1e-3)
    assert [moved[f"Stack {k}"][2] for k in range(3)] == pytest.approx([0.1, 0.25, 0.4], abs=1e-3)
    assert penetrating() == []


@pytest.mark.parametrize("seed", range(2))
def test_a_pile_of_crates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    passive(block("Floor", (20.0, 20.0, 1.0), (0.0, 0.0, -0.5)))
    for k in range(20):
        crate = block(f"Crate {k}", rng.uniform(0.4, 1.0, 3), rng.uniform([-1, -1, 0.2], [1, 1, 2]))
        crate.rotation_euler = rng.uniform(-3, 3, 3)
    found = len(check(touching=False))
    assert found > 20
    move_all()
    assert penetrating() == []
    assert places()["Floor"] == [0.0, 0.0, -0.5]


def test_the_clearance_of_the_check_is_kept() -> None:
    row_of_cubes()
    found = check(clearance=0.02)
    assert {clash.relation for clash in found} == {"penetrating", "touching", "within_clearance"}
    move_all()
    assert [clash for clash in check() if clash.status != "RESOLVED"] == []


def test_along_an_axis() -> None:
    _a, _b = cube("A"), cube("B", (0.5, 0.0, 1.9))
    check()
    before = places()
    move_all(along="X")
    after = places()
    assert [after["A"][0] - before["A"][0], after["B"][0] - before["B"][0]] == pytest.approx([-0.75, 0.75], abs=1e-3)
    assert after["A"][1:] == before["A"][1:]
    assert after["B"][1:] == before["B"][1:]


def test_the_selection_needs_no_check_and_nothing_else_moves() -> None:
    a, b, _c, *_ = row_of_cubes()
    select(a, b)
    before = places()
    assert move_all(scope="SELECTED") == {"FINISHED"}
    after = places()
    assert [after[name] for name in "CDE"] == [before[name] for name in "CDE"]
    assert penetrating() == [], "B does not penetrate C, beside which it was"
    assert after["A"][0] == pytest.approx(-0.5, abs=1e-3), "C is in the way of B"


def test_the_list_of_a_check_of_what_was_selected_is_moved_whatever_is_selected_now(capfd: Any) -> None:
    a, b, c, *_ = row_of_cubes()
    select(a, b, c)
    check(scope="SELECTED", touching=False)
    select()
    assert move_all() == {"FINISHED"}
    assert places()["B"][0] - places()["A"][0] == pytest.approx(2.0, abs=1e-3)
    assert "have no room" not in capfd.readouterr().out, "though the list cannot be checked again"


def test_esc_after_the_moves_calls_nothing_left(capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancelled(*_: object, **__: object) -> Any:
        raise lens.core.Cancelled
        yield

    row_of_cubes()
    check()
    monkeypatch.setattr(lens.live.follow_clashes, "neighbours", cancelled)
    assert move_all() == {"FINISHED"}
    assert "have no room" not in capfd.readouterr().out


def test_ignored_pairs_are_not_called_left(capfd: Any) -> None:
    row_of_cubes(), cube("F", (1.5, 8.0, 0.0)), cube("G", (2.5, 8.0, 0.0))
    check(touching=False)
    settings().active = next(k for k, clash in enumerate(settings().findings) if clash.label("a") == "F")
    bpy.ops.contact_lens.ignore_pair()
    assert move_all() == {"FINISHED"}
    assert "have no room" not in capfd.readouterr().out


def locked(obj: bpy.types.Object) -> None:
    obj.lock_location = (True, True, True)


def constrained(obj: bpy.types.Object) -> None:
    constraint = obj.constraints.new("LIMIT_LOCATION")
    constraint.use_min_x = constraint.use_max_x = True
    constraint.min_x = constraint.max_x = obj.location.x
    update()


@pytest.mark.parametrize("tie", [locked, passive, constrained])
def test_what_is_tied_stays_and_the_other_moves(tie: Callable[[Any], object], capfd: Any) -> None:
    a, _b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    tie(a)
    check()
    before = places()
    move_all()
    after = places()
    assert after["A"] == before["A"]
    assert after["B"] == pytest.approx([2.0, 0.0, 0.0], abs=1e-3)
    assert ("'A' cannot be moved" in capfd.readouterr().out) == (tie is constrained)


def test_what_cannot_be_moved_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    a, b, c = cube("A"), cube("B", (1.5, 0.0, 0.0)), cube("C", (9.0, 0.0, 0.0))
    d = cube("D", (10.5, 0.0, 0.0))
    locked(a), locked(b)
    check()
    move_all()
    printed = capfd.readouterr().out
    assert "Moved 2 objects by at most 0.25" in printed
    assert "1 clash left, fixed or without room: 'A and B'" in printed
    assert places()["D"][0] - places()["C"][0] == pytest.approx(2.0, abs=1e-3)
    locked(c), locked(d)
    with pytest.raises(RuntimeError, match="No object can move"):
        move_all()


def test_approved_and_ignored_pairs_stay() -> None:
    _a, _b, c, *_ = row_of_cubes()
    check()
    next(clash for clash in settings().findings if clash.relation == "penetrating").status = "APPROVED"
    before = places()
    c.location.x -= 0.2
    check()
    move_all()
    after = places()
    assert after["B"][0] - after["A"][0] == pytest.approx(before["B"][0] - before["A"][0], abs=0.11)
    assert after["C"][0] - after["B"][0] >= 2.0 - 1e-4


def test_what_is_far_larger_stays_though_it_is_not_passive() -> None:
    block("Room", (20.0, 20.0, 1.0), (0.0, 0.0, -0.5)), cube("Crate", (0.0, 0.0, 0.4), 1.0)
    check()
    move_all()
    assert places() == {"Room": [0.0, 0.0, -0.5], "Crate": [0.0, 0.0, pytest.approx(0.5, abs=1e-3)]}


def test_children_move_with_their_parents() -> None:
    passive(block("Floor", (20.0, 20.0, 1.0), (0.0, 0.0, -0.5)))
    crate, lid = cube("Crate", (0.0, 0.0, 0.3), 1.0), block("Lid", (1.0, 1.0, 0.1), (0.0, 0.0, 0.85))
    lid.parent = crate
    lid.matrix_parent_inverse = crate.matrix_world.inverted()
    other, handle = cube("Other", (0.8, 0.0, 0.501), 1.0), add_object("Empty")
    other.parent = handle
    update()
    check(touching=False)
    move_all()
    after = places()
    assert after["Lid"][2] - after["Crate"][2] == pytest.approx(0.55, abs=1e-4)
    assert after["Empty"] == [0.0, 0.0, 0.0], "what has no surface is no part of it"
    assert penetrating() == []


def test_instances_move_with_what_makes_them() -> None:
    passive(block("Floor", (20.0, 20.0, 1.0), (0.0, 0.0, -0.5)))
    parts = cube("Part", (0.0, 0.0, 0.0), 1.0), cube("Top", (0.0, 0.0, 1.0), 1.0)
    made = instance_of(collection_of("Set", *parts, is_only=True), "Made", (0.0, 0.0, 0.3))
    check(touching=False)
    move_all()
    assert places()["Made"] == pytest.approx([0.0, 0.0, 0.5], abs=1e-3)
    assert made.location.x == 0.0
    assert penetrating() == []


def test_nothing_to_do_is_said() -> None:
    with pytest.raises(RuntimeError, match="run Check Scene first"):
        move_all()
    cube("A"), cube("B", (9.0, 0.0, 0.0))
    check()
    with pytest.raises(RuntimeError, match="No clash is left to move out"):
        move_all()


def test_esc_moves_nothing() -> None:
    row_of_cubes()
    check()
    before = places()
    moves = lens.clashes.move_all.read_moves(bpy.context, "LIST", "SHORTEST", set())
    with pytest.raises(lens.core.Cancelled):
        moves.solve(lambda fraction: False)
    assert places() == before


def test_one_step_of_undo_takes_back_all() -> None:
    crates()
    check(touching=False)
    bpy.ops.ed.undo_push(message="Checked")
    before, found = places(), statuses()
    bpy.ops.contact_lens.move_all_out("EXEC_DEFAULT", True)
    assert places() != before
    bpy.ops.ed.undo()
    assert places() == before
    assert statuses() == found
