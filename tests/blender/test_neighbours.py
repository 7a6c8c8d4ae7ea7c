# SPDX-License-Identifier: GPL-3.0-or-later
"""After a move the clashes of what has moved are those that a check of the whole scene would find, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import collection_of, cube, edit, instance_of, lens, update
from .test_scene_check import check, finding_of, row_of_cubes, settings, statuses
from .test_scene_follow import move, out_of_date

pytestmark = pytest.mark.usefixtures("empty_scene")


def look_again(*moved: bpy.types.Object, **options: int) -> set[str]:
    """What follows a move, as a script waits for it; moved: objects beside those that the list knows about."""
    steps = lens.live.follow_clashes.neighbours(bpy.context, {obj.session_uid for obj in moved}, **options)
    flow = lens.live.background.Flow("Clashes", steps)
    flow.run(None)
    return flow.result  # type: ignore[no-any-return]


def found() -> dict[str, tuple[str, float]]:
    """Relation and distance of the clashes that are there now."""
    rows = [finding.row() for finding in settings().findings if finding.status != "RESOLVED" and not finding.is_apart]
    pairs = ["|".join(sorted(row[letter]["name"] for letter in "ab")) for row in rows]
    return {
        pair: (row["relation"], pytest.approx(row["signed_distance"], abs=1e-6))
        for pair, row in zip(pairs, rows, strict=True)
    }


def test_what_is_left_is_resolved_and_what_is_met_is_new() -> None:
    _, b, *_ = row_of_cubes()
    check()
    move(b, 19.0)
    assert out_of_date() == {"AB": "'B' has moved", "BC": "'B' has moved"}
    assert look_again() == {"FINISHED"}
    assert statuses() == {
        "AB": ("penetrating", "RESOLVED"),
        "BC": ("touching", "RESOLVED"),
        "BE": ("penetrating", "NEW"),
    }
    assert set(out_of_date().values()) == {None}
    assert finding_of("B", "E").row()["depth"] == pytest.approx(1.0)
    ids = {"".join(sorted(f.label(letter) for letter in "ab")): f.clash_id for f in settings().findings}
    check()
    assert ids == {"".join(sorted(f.label(letter) for letter in "ab")): f.clash_id for f in settings().findings}


def test_decisions_active_clash_and_summary_stay() -> None:
    _a, b, _c, *_ = row_of_cubes()
    check()
    finding_of("A", "B").status = "REVIEWED"
    finding_of("B", "C").status = "APPROVED"
    settings().active, summary = 1, settings().summary
    move(b, 1.6)
    look_again()
    assert statuses() == {"AB": ("penetrating", "REVIEWED"), "BC": ("penetrating", "CHANGED")}
    assert (settings().active, settings().summary) == (1, summary)
    assert finding_of("A", "B").row()["depth"] == pytest.approx(0.4)


def test_an_object_without_clashes_is_checked_when_it_moves() -> None:
    *_, _d, e = row_of_cubes()
    check()
    assert look_again() == {"CANCELLED"}
    move(e, 7.0)
    assert look_again() == {"FINISHED"}
    assert statuses()["DE"] == ("penetrating", "NEW")
    assert not lens.live.follow_clashes.unlisted(bpy.context.scene)


def test_a_clean_scene_is_checked_where_something_moves() -> None:
    cube("A", (0.0, 0.0, 0.0))
    b = cube("B", (9.0, 0.0, 0.0))
    update()
    check()
    assert not settings().findings
    b.update_tag()  # as Blender does with all active rigid bodies when the selection changes
    update()
    assert not lens.live.follow_clashes.unlisted(bpy.context.scene)
    move(b, 1.5)
    assert len(lens.live.follow_clashes.unlisted(bpy.context.scene)) == 1
    assert look_again() == {"FINISHED"}
    assert statuses() == {"AB": ("penetrating", "NEW")}


def test_what_is_too_much_to_be_checked_unasked_is_said() -> None:
    *_, _d, e = row_of_cubes()
    check()
    move(e, 7.0)
    assert look_again(most=0) == {"CANCELLED"}
    assert len(lens.live.follow_clashes.unlisted(bpy.context.scene)) == 1
    check()
    assert not lens.live.follow_clashes.unlisted(bpy.context.scene)


def test_pairs_that_rules_leave_out_are_no_new_clashes() -> None:
    _a, b, _c, _d, e = row_of_cubes()
    child, ignored = cube("Child", (30.0, 0.0, 0.0)), settings().ignored.add()
    child.parent = b
    ignored.object_a, ignored.object_b = b, e
    check()
    move(b, 19.0)
    child.matrix_world.translation = (19.0, 0.0, 1.0)
    update()
    look_again()
    assert statuses()["AB"] == ("penetrating", "RESOLVED")
    assert "BE" not in statuses()


@pytest.mark.parametrize("scope", ["COLLECTIONS", "ONE"])
def test_the_check_s_own_scope_counts(scope: str) -> None:
    a, b, c, d, _e = row_of_cubes()
    check(
        scope=scope,
        object=a,
        collection_a=collection_of("Left", a, b),
        collection_b=collection_of("Right", c, d),
    )
    before = statuses()
    move(b, 19.0)
    look_again()
    assert {pair for pair, (_, status) in statuses().items() if status == "RESOLVED"} == set(before)
    assert statuses().keys() == before.keys(), "E is not in it"


def test_what_is_hidden_stays_out_of_date() -> None:
    a, b, *_ = row_of_cubes()
    check()
    a.hide_set(True)
    move(b, 19.0)
    look_again()
    assert out_of_date()["AB"] is not None
    assert statuses()["AB"] == ("penetrating", "NEW")
    assert statuses()["BC"] == ("touching", "RESOLVED")


def test_too_much_near_is_left_marked() -> None:
    _, b, *_ = row_of_cubes()
    check()
    move(b, 1.6)
    assert look_again(most=2) == {"CANCELLED"}
    assert out_of_date() == {"AB": "'B' has moved", "BC": "'B' has moved"}


def edit_away(obj: bpy.types.Object) -> None:
    edit(obj, 5.0)


def move_on(obj: bpy.types.Object) -> None:
    move(obj, 1.7)


@pytest.mark.parametrize(("change", "reason"), [(move_on, "'B' has moved"), (edit_away, "'B' has changed")])
def test_what_changes_meanwhile_stays_as_it_was_and_out_of_date(change: Callable[[Any], None], reason: str) -> None:
    _a, b, *_ = row_of_cubes()
    check()
    before = statuses()
    edit(b, 0.01)
    follow_clashes, uid = lens.live.follow_clashes, bpy.context.scene.session_uid
    steps = follow_clashes.neighbours(bpy.context)
    outcome = next(steps)(lambda fraction: True)
    follow_clashes._left[uid] = follow_clashes._outdated(bpy.context.scene)
    change(b)
    with pytest.raises(StopIteration):
        steps.send(outcome)
    assert out_of_date() == {"AB": reason, "BC": reason}
    assert statuses() == before
    assert not any(finding.is_apart for finding in settings().findings)
    assert uid not in follow_clashes._left, "and is looked at once more"


def set_up_cubes(rng: np.random.Generator) -> list[bpy.types.Object]:
    return [cube(f"Cube {k:02}", rng.uniform(-4, 4, 3)) for k in range(20)]


def set_up_instances(rng: np.random.Generator) -> list[bpy.types.Object]:
    source = cube("Source", (0.0, 0.0, 50.0)), cube("Other", (1.0, 1.0, 50.0))
    collection = collection_of("Set", *source, is_only=True)
    made = [instance_of(collection, f"Made {k}", rng.uniform(-3, 3, 3) - [0, 0, 50]) for k in range(4)]
    return [*made, *(cube(f"Cube {k}", rng.uniform(-4, 4, 3)) for k in range(8))]


def set_up_bodies(rng: np.random.Generator) -> list[bpy.types.Object]:
    objects = [cube(f"Body {k}", rng.uniform(-2, 2, 3)) for k in range(12)]
    for k, obj in enumerate(objects):
        with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
            bpy.ops.rigidbody.object_add()
        obj.rigid_body.collision_shape = ("SPHERE", "BOX", "CAPSULE")[k % 3]
        obj.scale = (1.0, 1.0, 0.3)
    return objects


@pytest.mark.parametrize("set_up", [set_up_cubes, set_up_instances, set_up_bodies])
@pytest.mark.parametrize("seed", range(2))
def test_any_move_leads_to_what_a_check_finds(set_up: Callable[[Any], list[bpy.types.Object]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    objects = set_up(rng)
    check(clearance=0.1)
    for _ in range(4):
        moved = [objects[k] for k in rng.choice(len(objects), 2, replace=False)]
        for obj in moved:
            obj.location = np.array(obj.location) + rng.uniform(-3, 3, 3)
        update()
        look_again(*moved)
    mine = found()
    assert len(mine) > 2
    assert set(out_of_date().values()) == {None}
    check()
    assert mine == found()
