# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene: which pairs are found, what is left out, and what the list remembers."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ..programs import lacks
from .reports import load_report, pair_report, run
from .scenes import (
    add_object,
    adopt,
    animate,
    block,
    collection_of,
    cube,
    edit,
    geometry_nodes,
    inspect,
    inspection,
    instance_of,
    lens,
    mesh_object,
    notes,
    open_scene,
    refresh,
    reopen,
    rigid_body,
    save_scene,
    select,
    torus,
    update,
)
from .window import TICK, modal_operator

pytestmark = pytest.mark.usefixtures("empty_scene")


def settings() -> Any:
    return bpy.context.scene.contact_lens_check


def read_input(**rules: object) -> Any:
    """The scene read as a check does it."""
    rules = lens.data.records.Rules(**rules)
    update()
    return lens.read.scene.read_input(bpy.context, rules)


def check(**changes: object) -> list[Any]:
    """Run the operator with these settings; the findings."""
    for name, value in changes.items():
        setattr(settings(), name, value)
    update()
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    return list(settings().findings)


def names(found: list[Any]) -> set[tuple[str, str]]:
    """The pairs by their names of today."""
    return {tuple(sorted(row[side]["name"] for side in "ab")) for row in (f.row() for f in found)}  # type: ignore[misc]


def summary() -> Any:
    return json.loads(settings().summary)


def two_instances(distance: float = 1.5) -> list[bpy.types.Object]:
    inside = bpy.data.collections.new("Inside")
    inside.objects.link(cube("Part"))
    return [instance_of(inside, name, (10.0 + x, 0.0, 0.0)) for name, x in (("One", 0.0), ("Two", distance))]


def names_of_new(**changes: object) -> set[tuple[str, str]]:
    """The pairs that a check finds with an empty list."""
    bpy.ops.contact_lens.clear_findings()
    return names(check(**changes))


def finding_of(a: str, b: str) -> Any:
    return next(finding for finding in settings().findings if names([finding]) == {tuple(sorted((a, b)))})


def activate(a: str, b: str) -> None:
    """Click the row of this pair."""
    settings().active = [names([finding]) for finding in settings().findings].index({tuple(sorted((a, b)))})


def skipped_names() -> list[str]:
    return sorted(skipped["name"] for skipped in summary()["skipped"])


def selected() -> set[str]:
    return {obj.name for obj in bpy.context.selected_objects}


def joined(name: str, a: bpy.types.Object, b: bpy.types.Object) -> None:
    """Join two objects by a rigid body constraint."""
    select(add_object(name))
    bpy.ops.rigidbody.world_add()
    bpy.ops.rigidbody.constraint_add()
    constraint = bpy.context.object.rigid_body_constraint
    constraint.object1, constraint.object2 = a, b


def row_of_cubes() -> list[bpy.types.Object]:
    """A and B overlap by 0.5, C touches B, D is 0.01 from C, E is far."""
    places = (0.0, 1.5, 3.5, 5.51, 20.0)
    return [cube(name, (x, 0.0, 0.0)) for name, x in zip("ABCDE", places, strict=True)]


# --- what is found --------------------------------------------------------------------------------------------------


def test_all_pairs_are_found_with_their_relation() -> None:
    row_of_cubes()
    check(clearance=0.02)
    relations = {"AB": "penetrating", "BC": "touching", "CD": "within_clearance"}
    assert statuses() == {pair: (relation, "NEW") for pair, relation in relations.items()}
    row = finding_of("A", "B").row()
    assert (row["depth"], row["area"]) == (pytest.approx(0.5, abs=1e-9), pytest.approx(4.0, abs=1e-9))
    assert finding_of("C", "D").row()["signed_distance"] == pytest.approx(0.01, abs=1e-6)
    assert (summary()["objects"], summary()["partial"]) == (5, False)
    assert names_of_new(clearance=0.0, touching=False) == {("A", "B")}


def convex_scene() -> list[bpy.types.Object]:
    """Turned and stretched objects of several kinds."""
    rng, objects, add = np.random.default_rng(5), [], bpy.ops.mesh
    for k in range(14):
        make = (add.primitive_ico_sphere_add, add.primitive_cube_add, add.primitive_cone_add)[k % 3]
        make(location=rng.uniform(-2, 2, 3), rotation=rng.uniform(0, 6, 3), scale=rng.uniform(0.3, 1.2, 3))
        bpy.context.object.name = f"{k:02}"
        objects.append(bpy.context.object)
    return objects


def concave_scene() -> list[bpy.types.Object]:
    """Concave meshes and rigid bodies of every kind, in centimeters."""
    stretched = torus("Torus", major_segments=6, minor_segments=4)
    stretched.scale = (1.0, 1.0, 1.5)
    corners = [(0.9, -1, 0), (0.9, 1, 0), (1.1, 1, 1), (1.1, -1, 1), (2, 0, 0.5)]
    bent = mesh_object("Open", corners, [(0, 1, 2, 3), (1, 2, 4)])
    rim = [(-1.4, -1.4, 0.3), (0.9, -1.4, 0.3), (0.9, 0.9, 0.3), (-1.4, 0.9, 0.3), (0.0, 0.0, -1.0)]
    cup = mesh_object("Cup", rim, [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)])
    chosen, ball = cube("Chosen", (0.7, 0.7, 0.3), 0.7, "COMPOUND"), cube("Ball", (-1.0, 0.4, 0.3), size=0.5)
    ball.data.transform(Matrix.Translation((0.3, 0.0, 0.0)))
    crate = rigid_body(cube("Crate", (1.2, -0.6, 0.0), size=0.8), "MESH")
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    return [stretched, bent, cup, chosen, rigid_body(ball, "SPHERE"), crate, chair()]


@pytest.mark.parametrize(
    ("scene", "clearance", "at_least"),
    [(convex_scene, 0.2, 20), pytest.param(concave_scene, 0.0, 9, marks=pytest.mark.slow)],
    ids=["convex", "concave"],
)
def test_what_it_finds_is_what_inspect_finds(
    scene: Callable[[], list[bpy.types.Object]], clearance: float, at_least: int
) -> None:
    """Kinds, numbers and notes, against the inspection of one pair, every pair."""
    objects = sorted(scene(), key=lambda obj: obj.name)
    bpy.context.scene.contact_lens.clearance = clearance
    found = check(clearance=clearance, ignore_parents=False, exact=True)
    rows = {(row["a"]["name"], row["b"]["name"]): row for row in (f.row() for f in found)}
    assert summary()["skipped"] == []
    assert {name for pair in rows for name in pair} <= {obj.name for obj in objects}, "parts are the chair"
    seen = set()
    for a, b in combinations(objects, 2):
        inspect(a, b)
        data = pair_report()
        single, pair = data["contact"], (a.name, b.name)
        if single["relation"] == "separated":
            continue
        seen.add(pair)
        row = rows[pair]
        assert {
            "kinds": [row[side]["checked_as"] for side in "ab"],
            "notes": [note.replace("is checked", "is inspected") for note in row["notes"]],
            **{name: row[name] for name in ("relation", "has_depth", "exactness", "verified")},
            **{name: row[name] for name in ("depth", "signed_distance")},
        } == {
            "kinds": [data["objects"][side]["inspected_as"] for side in "ab"],
            "notes": notes(),
            **{name: single[name] for name in ("relation", "has_depth")},
            "exactness": single["status"],
            "verified": None,
            **{name: pytest.approx(single[name], abs=1e-6) for name in ("depth", "signed_distance")},
        }, pair
    assert seen == set(rows)
    assert len(seen) >= at_least
    if scene is concave_scene:
        assert any(" cm" in note for row in rows.values() for note in row["notes"])


def test_collision_shapes_count() -> None:
    a, b = cube("A"), cube("B", (1.9, 1.9, 0.0))
    assert len(check()) == 1
    a.contact_lens_shape = b.contact_lens_shape = "SPHERE"
    assert [f.status for f in check()] == ["RESOLVED"]
    b.location = (1.2, 0.9, 0.0)
    beyond = [f"'{name}' extends beyond its sphere by up to 0.7321 m" for name in "AB"]
    for kinds, depth, words in (
        (("sphere", "sphere"), 0.5, beyond),
        (("mesh", "compound"), 0.8, []),
        (("convex_hull", "compound"), 0.8, []),
    ):
        a.contact_lens_shape, b.contact_lens_shape = (kind.upper() for kind in kinds)
        row = check(exact=True)[0].row()
        assert (row["a"]["checked_as"], row["b"]["checked_as"]) == kinds
        assert (row["depth"], row["verified"], row["notes"]) == (pytest.approx(depth, abs=1e-6), None, words)
        assert summary()["skipped"] == []


def test_a_depth_of_meshes_is_a_bound_until_the_clash_is_opened() -> None:
    torus("A")
    torus("B", (1.05, 1.1, 0.0), rotation=(1.5, 0.8, 0.4))
    (finding,) = check()
    first = finding.row()
    assert (finding.is_at_most, finding.is_refined, first["verified"]) == (True, False, None)
    (exact,) = check(exact=True)
    wanted = exact.row()
    assert first["upper_bound"] > wanted["upper_bound"]
    (finding,) = check(exact=False)
    activate("A", "B")
    row = finding.row()
    assert finding.is_refined
    assert (row["lower_bound"], row["upper_bound"]) == (wanted["lower_bound"], wanted["upper_bound"])
    assert row["verified"]
    settings().active = -1
    update()
    assert finding.row() == row, "a check alone makes it a bound again"
    (finding,) = check()
    assert not finding.is_refined


def test_a_dented_mesh_is_checked_as_it_is_unless_its_hull_is_chosen() -> None:
    dented = torus("Torus")
    cube("B", size=0.2)
    assert check() == [], "it is in the hole"
    dented.contact_lens_shape = "CONVEX_HULL"
    assert check()[0].row()["notes"] == ["'Torus' is not convex: its convex hull is used"]


def ring(name: str, location: object = (0.0, 0.0, 0.0), kind: str = "AUTOMATIC") -> bpy.types.Object:
    return torus(name, location, kind, major_segments=8, minor_segments=4)


def chair(x: float = 0.0) -> bpy.types.Object:
    """A compound parent, a seat and two legs with room between them."""
    parent = rigid_body(cube("Chair", (x, 0.0, 50.0)), "COMPOUND")
    seat = rigid_body(cube("Seat", (x, 0.0, 1.0), size=1.0), "BOX")
    legs = [rigid_body(cube(f"Leg {k}", (x + 0.4 * k, 0.0, 0.2), size=0.6), "CONVEX_HULL") for k in (-2, 2)]
    adopt(parent, seat, *legs)
    return parent


def test_a_compound_of_an_open_mesh_is_not_checked_and_says_so() -> None:
    """Named once, however many things are near it; what is near each other is checked."""
    rim = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, -1)]
    cup = mesh_object("Cup", rim, [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)], kind="COMPOUND")
    for k in range(3):
        cube(f"{k}", (0.15 * k, 0.0, 0.0), size=0.2)
    assert names(check()) == {("0", "1"), ("1", "2")}
    (entry,) = summary()["skipped"]
    assert (entry["name"], bool(entry["unchecked"])) == ("Cup", True)
    assert entry["reason"] == (
        "'Cup' cannot collide as a compound (the mesh is not closed): "
        "choose Mesh or Convex Hull as its collision shape, or fill its holes"
    )
    parent = rigid_body(cube("Parent", (0.0, 0.0, 50.0)), "COMPOUND")
    cup.contact_lens_shape = "AUTOMATIC"
    adopt(parent, rigid_body(cup, "MESH"))
    assert names(check()) == {("0", "1"), ("1", "2")}
    (entry,) = summary()["skipped"]
    assert entry["reason"].startswith("'Parent' cannot collide: its part 'Cup' cannot collide as a compound")
    cup.contact_lens_shape = "CONVEX_HULL"
    assert (len(check()), summary()["skipped"]) == (5, [])


def test_cutting_a_compound_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are made with the progress of the check: one that is stopped while it cuts ends there."""
    ring("Ring", kind="COMPOUND")
    cube("B", (1.0, 0.0, 0.0), size=0.5)
    reported, progressed = [], lens.core.progress.report_progress

    def cut(mesh: object, *, progress: object = None) -> object:
        for k in range(1000):
            progressed(progress, k / 1000)
            reported.append(k)
        raise AssertionError("not stopped")

    monkeypatch.setattr(lens.geometry.local_geometry, "mesh_pieces", cut)
    stopped = lens.scene.scene_check.check(read_input(), lambda fraction: len(reported) < 10)
    assert (stopped.partial, len(reported)) == (True, 10)


def test_compound_parents_are_instanced_with_their_parts() -> None:
    parent = chair()
    instance_of(collection_of("Inside", parent, *parent.children, is_only=True), "One", (0.0, 5.0, 0.0))
    between = cube("Between", (0.0, 5.0, 0.0), size=0.5)
    assert check() == [], "between its legs, and the parts do not meet each other"
    between.location.z = 0.3
    row = check()[0].row()
    assert (row["a"]["name"], row["b"]["object"]) == ("Between", "Chair")
    assert (row["b"]["checked_as"], row["depth"]) == ("compound", pytest.approx(0.05))
    bpy.ops.contact_lens.go_to_finding()


# --- scope ----------------------------------------------------------------------------------------------------------


def test_scopes() -> None:
    a, b, c, _d, _e = row_of_cubes()
    select(b, c)
    assert names(check(scope="SELECTED")) == {("B", "C")}
    assert names_of_new(scope="ONE", object=a) == {("A", "B")}
    assert names_of_new(scope="ONE", object=None) == {("A", "B"), ("B", "C")}  # the active one
    left, right = collection_of("Left", a, c), collection_of("Right", a, b)
    assert names_of_new(scope="COLLECTIONS", collection_a=left, collection_b=right) == {("A", "B"), ("B", "C")}


def test_without_a_subject_it_is_refused() -> None:
    cube("A").select_set(False)
    for changes, sentence in (
        ({"scope": "SELECTED"}, "Nothing is selected"),
        ({"scope": "COLLECTIONS"}, "Pick collection A"),
    ):
        with pytest.raises(RuntimeError, match=sentence):
            check(**changes)
    assert not settings().findings


def test_hidden_objects_are_out_of_scope_or_named() -> None:
    a, b = cube("A"), cube("B", (1.0, 0.0, 0.0))
    b.hide_set(True)
    assert check() == []
    both = collection_of("Both", a, b)
    assert check(scope="COLLECTIONS", collection_a=both, collection_b=both) == []
    assert skipped_names() == ["B"]


def test_what_has_no_geometry_or_is_too_large_is_named_and_the_rest_checked() -> None:
    row_of_cubes()
    mesh_object("Nothing", [])
    bpy.ops.object.light_add()
    huge = mesh_object("Huge", [(1e38, 0, 0), (-1e38, 1e38, 0), (0, -1e38, 1e38)], [(0, 1, 2)])
    huge.scale = (1e30, 1e30, 1e30)
    assert names(check()) == {("A", "B"), ("B", "C")}
    empty, large = sorted((entry["reason"] for entry in summary()["skipped"]), reverse=True)
    assert empty == "'Nothing' has no vertices"
    assert large.startswith("'Huge' is too large or too far away: it extends beyond 3.4e+38")


# --- instances ------------------------------------------------------------------------------------------------------


def test_instances_of_collections_are_checked() -> None:
    two_instances()
    row = check()[0].row()
    assert (row["a"]["instancer"], row["b"]["instancer"], row["a"]["name"]) == ("One", "Two", "Part [0] of One")
    assert row["depth"] == pytest.approx(0.5)
    assert [f.status for f in check()] == ["ACTIVE"]
    assert [f.status for f in check(instances=False)] == ["ACTIVE"]  # not looked at: as it was
    assert skipped_names() == ["One", "Two"]


def test_instances_of_geometry_nodes_are_checked() -> None:
    points = mesh_object("Points", [(0.0, 0.0, 0.0), (1.75, 0.0, 0.0), (9.0, 0.0, 0.0)])
    kinds = "GeometryNodeInstanceOnPoints", "GeometryNodeObjectInfo"
    link, own, out, scatter, info = geometry_nodes(points, *kinds)
    info.inputs[0].default_value = cube("Source", (0.0, 0.0, 30.0))
    link(own.outputs[0], scatter.inputs["Points"])
    link(info.outputs["Geometry"], scatter.inputs["Instance"])
    link(scatter.outputs[0], out.inputs[0])
    (row,) = [f.row() for f in check()]
    assert (row["a"]["instancer"], row["b"]["instancer"], row["depth"]) == ("Points", "Points", pytest.approx(0.25))
    assert summary()["skipped"] == []


# --- ignore rules ---------------------------------------------------------------------------------------------------


def test_ignore_rules() -> None:
    a, b, c, _d, _e = row_of_cubes()
    adopt(a, b)
    assert names(check()) == {("B", "C")}
    assert names(check(ignore_parents=False)) == {("A", "B"), ("B", "C")}
    collection_of("Together", b, c)
    assert names_of_new(ignore_collections=True) == {("A", "B")}
    joined("Joint", a, b)
    assert names_of_new(ignore_collections=False) == {("B", "C")}
    assert summary()["ignored_pairs"] == {"joined": 1}


def test_parents_within_an_instanced_collection_are_ignored_too() -> None:
    a, b, c = (cube(name, (1.5 * k, 0.0, 0.0)) for k, name in enumerate("ABC"))
    adopt(a, b)
    inside = collection_of("Inside", a, b, c, is_only=True)
    instance_of(inside, "One", (10.0, 0.0, 0.0))
    assert names(check()) == {("B [1] of One", "C [2] of One")}
    instance_of(inside, "Two", (10.0, 0.5, 0.0))
    assert len(check()) == 9, "between two instances parents mean nothing"


def test_touches_of_edges_and_corners_can_be_left_out() -> None:
    """Of 27 bricks, and a pair that penetrates, with edges that cross."""
    for k, place in enumerate(product(range(3), repeat=3)):
        cube(f"{k:02}", place, 1.0)
    cube("Deep", (10.0, 0.0, 0.0), 1.0), cube("Deeper", (10.9, 0.9, 0.9), 1.0)
    faces, edges, corners = 54, 72, 32
    line = lens.operators.scene_operators.summary
    for least, left_out, words in (
        ("FACE", corners + edges, "; left out: 104 corner and edge touches"),
        ("EDGE", corners, "; left out: 32 corner touches"),
        ("POINT", 0, ", 1 penetrating, 158 touching"),
    ):
        relations = [finding.relation for finding in check(least_contact=least)]
        touches = faces + edges + corners - left_out
        assert (relations.count("touching"), relations.count("penetrating")) == (touches, 1)
        assert summary()["ignored_pairs"].get("least_contact", 0) == left_out
        assert line(bpy.context.scene).endswith(words)
    assert len(check(least_contact="FACE")) == 159, "what is left out is not resolved"


def test_the_list_of_ignored_pairs() -> None:
    _a, _b, c, _d, _e = row_of_cubes()
    check()
    activate("A", "B")
    assert bpy.ops.contact_lens.ignore_pair() == {"FINISHED"}
    assert names_of_new() == {("B", "C")}
    select(c)
    assert bpy.ops.contact_lens.ignore_pair(what="SELECTED") == {"FINISHED"}
    assert names_of_new() == set()
    settings().active_ignored = 0
    bpy.ops.contact_lens.unignore()
    assert names(check()) == {("A", "B")}


# --- statuses -------------------------------------------------------------------------------------------------------


def test_statuses_survive_the_next_check() -> None:
    a, _b, c, d, _e = row_of_cubes()
    check(clearance=0.02, ignore_approved=False)
    finding_of("A", "B").status, finding_of("B", "C").status = "REVIEWED", "APPROVED"
    for xs, expected in (
        ((0.0, 3.5, 5.51), "REVIEWED APPROVED ACTIVE"),
        ((-5.0, 4.5, 9.0), "RESOLVED APPROVED RESOLVED"),
        ((0.0, 4.5, 9.0), "NEW APPROVED RESOLVED"),
    ):
        a.location.x, c.location.x, d.location.x = xs
        check()
        assert [finding_of(*pair).status for pair in ("AB", "BC", "CD")] == expected.split()


def approved_at(x: float, **changes: object) -> bpy.types.Object:
    """Cube B at `x` beside cube A, found and approved there; the rule Approved Pairs leaves out what is covered."""
    cube("A")
    b = cube("B", (x, 0.0, 0.0))
    check(**changes)
    finding_of("A", "B").status = "APPROVED"
    return b


def checked_at(b: bpy.types.Object, x: float, **changes: object) -> tuple[str, bool]:
    """The status of the pair once B is at `x` and the scene is checked, and whether the check itself lists it."""
    b.location.x = x
    check(**changes)
    return finding_of("A", "B").status, "approved" not in summary()["ignored_pairs"]


@pytest.mark.parametrize("ignored", [True, False], ids=["left out", "listed"])
def test_an_approval_is_bounded_by_the_depth_it_was_given_at(ignored: bool) -> None:
    b = approved_at(1.5)  # 0.5 deep
    assert checked_at(b, 1.496, ignore_approved=ignored) == ("APPROVED", not ignored), "0.8 % deeper"
    assert checked_at(b, 1.8)[0] == "APPROVED", "less deep"
    assert checked_at(b, 1.494) == ("CHANGED", True), "1.2 % deeper: the approval is of 0.5, not of what came between"
    row = finding_of("A", "B").row()
    assert "Approved at a depth of 0.5 m, now a depth of 0.506" in row["notes"][0]
    assert row["approved_at"] == pytest.approx(-0.5)
    assert checked_at(b, 1.5) == ("APPROVED", not ignored), "as it was approved"
    assert checked_at(b, 1.0) == ("CHANGED", True)
    finding_of("A", "B").status = "APPROVED"
    assert checked_at(b, 1.0) == ("APPROVED", not ignored), "approving again renews the bound"
    assert checked_at(b, 0.9) == ("CHANGED", True)


def test_a_clash_that_is_set_to_changed_and_was_never_approved_is_active_again() -> None:
    row_of_cubes()
    check()
    finding_of("A", "B").status = "CHANGED"
    check()
    finding = finding_of("A", "B")
    assert (finding.status, finding.approval, finding.row()["approved_at"]) == ("ACTIVE", "", None)


def test_an_approved_gap_or_touch_is_bounded_too() -> None:
    b = approved_at(2.01, clearance=0.02)
    assert checked_at(b, 2.00995)[0] == "APPROVED", "0.5 % closer"
    assert checked_at(b, 2.009) == ("CHANGED", True), "10 % closer"
    assert "Approved at a gap of 0.01 m, now a gap of 0.009" in settings().findings[0].row()["notes"][0]
    checked_at(b, 2.0)
    finding_of("A", "B").status = "APPROVED"
    assert checked_at(b, 2.0 - 1e-6)[0] == "APPROVED", "within the resolution of the coordinates"
    assert checked_at(b, 2.0 - 1e-4) == ("CHANGED", True), "it only touched"


def test_approvals_of_files_saved_earlier_are_bounded_by_the_stored_depth_or_asked_again() -> None:
    b, finding = approved_at(1.5), settings().findings[0]
    for x, expected in (1.5, ("APPROVED", False)), (1.0, ("CHANGED", True)):
        finding.approval = ""  # as a file saved earlier has it
        assert checked_at(b, x) == expected
    finding.status = "APPROVED"
    finding.approval = ""
    finding.data = json.dumps({**finding.found(), "signed_distance": 0.0, "has_depth": False})
    assert checked_at(b, 1.0) == ("NEW", True)
    assert "approve it again" in finding.row()["notes"][0]


def test_a_crossing_of_open_surfaces_stays_approved_while_it_is_one() -> None:
    bent = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, 0.0, 0.5)]
    faces = [(0, 1, 4), (1, 2, 4), (2, 3, 4)]
    a, b = (mesh_object(name, bent, faces, at, "MESH") for name, at in (("A", (0, 0, 0)), ("B", (0.5, 0.0, -0.2))))
    [finding] = check()
    assert finding.row()["signed_distance"] is None
    finding.status = "APPROVED"
    assert checked_at(b, 0.6) == ("APPROVED", False)
    a.contact_lens_shape = b.contact_lens_shape = "CONVEX_HULL"
    assert checked_at(b, 0.6) == ("CHANGED", True), "it has a depth now, which nobody approved"


def test_a_linked_object_may_have_the_name_of_another(tmp_path: Path) -> None:
    cube("Cube", (1.5, 0.0, 0.0))
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    local, far = cube("Cube"), cube("Far", (4.0, 0.0, 0.0))
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Cube"]
    [linked] = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    far.location.x = 3.0
    session = lens.pair.session
    for a, b in (local, linked), (linked, local):
        inspect(a, b)
        assert session.current(bpy.context).keys == ((a.session_uid, 0, ""), (b.session_uid, 0, ""))
    for one in local, linked:
        bpy.ops.contact_lens.clear_findings()
        found = check(scope="ONE", object=one)
        assert all(one in (finding.object_a, finding.object_b) for finding in found)
        assert len(found) == (1 if one == local else 2)
        settings().active = 0
        assert session.error(bpy.context) == ""
        assert set(bpy.context.selected_objects) == {found[0].object_a, found[0].object_b}


def test_renamed_duplicated_and_deleted_objects() -> None:
    a, _b, c, _d, _e = row_of_cubes()
    check()
    finding_of("A", "B").status = "REVIEWED"
    a.name = "Zebra"
    check()
    kept = {"BZebra": ("penetrating", "REVIEWED"), "BC": ("touching", "ACTIVE")}
    assert statuses() == kept
    twin = a.copy()
    bpy.context.scene.collection.objects.link(twin)
    check()
    copied = {f"B{twin.name}": ("penetrating", "NEW"), f"Zebra{twin.name}": ("coincident", "NEW")}
    assert statuses() == kept | copied
    bpy.data.objects.remove(twin)
    bpy.context.scene.collection.objects.unlink(c)
    check()
    assert finding_of("B", "C").status == "RESOLVED"
    assert all(obj != c for f in settings().findings for obj in (f.object_a, f.object_b))
    assert sorted(f.status for f in settings().findings) == ["RESOLVED", "RESOLVED", "RESOLVED", "REVIEWED"]
    bpy.ops.contact_lens.clear_findings(resolved_only=True)
    assert [f.status for f in settings().findings] == ["REVIEWED"]


def test_what_was_not_checked_against_each_other_stays_as_it_was() -> None:
    a, b, c, d, e = row_of_cubes()
    check()
    select(d, e)
    check(scope="SELECTED")
    check(scope="ONE", object=e)
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "NEW")}
    b.location.x = 0.5
    check(scope="COLLECTIONS", collection_a=collection_of("Left", a, b), collection_b=collection_of("Right", c, d))
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "RESOLVED")}
    b.location.x = 9.0
    check(scope="ONE", object=b)
    assert finding_of("A", "B").status == "RESOLVED"


def test_what_could_not_be_checked_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, *_ = row_of_cubes()
    check()

    def refused(*_: object, **more: object) -> None:
        raise ValueError("b is too large")

    b.contact_lens_shape = "MESH"  # so that its pairs are checked by themselves
    with monkeypatch.context() as patched:
        for name in ("contacts", "check_pair"):
            patched.setattr(lens.scene.scene_check, name, refused)
        check()
    assert skipped_names() == ["A and B", "B and C"]
    before = {"AB": ("penetrating", "NEW"), "BC": ("touching", "NEW")}
    assert statuses() == before
    finding = settings().findings[0]
    subject = lens.live.follow_clashes.read_clash(bpy.context, finding)
    for given in {"partial": True}, {"unchecked": {finding.pair}}:
        outcome = replace(lens.scene.scene_check.Outcome(), **given)
        lens.clashes.clash_renewal.update(bpy.context.scene, subject, outcome, [], 1)
        assert statuses() == before
    a.data.clear_geometry()
    a.data.from_pydata([(-1, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)], [(0, 1)], [])
    a.contact_lens_shape, b.contact_lens_shape = "MESH", "AUTOMATIC"
    check()
    assert skipped_names() == ["A"]
    assert statuses() == before | {"BC": ("touching", "ACTIVE")}


def test_instances_that_are_left_out_stay_as_they_were() -> None:
    maker, child = cube("Maker"), cube("Child", size=1.0)
    child.parent, maker.instance_type = maker, "VERTS"
    cube("Corner", (1.6, 1.6, 1.6), size=1.0)
    assert any("of Maker" in name for pair in names(check(ignore_parents=False)) for name in pair)
    check(instances=False)
    assert {status for _, status in statuses().values()} <= {"NEW", "ACTIVE"}


def test_statuses_survive_saving(tmp_path: Path) -> None:
    two_instances()
    cube("A"), cube("B", (1.5, 0.0, 0.0))
    check()
    finding_of("Part [0] of One", "Part [0] of Two").status = "REVIEWED"
    finding_of("A", "B").status = "APPROVED"
    before = [f.row() for f in settings().findings]
    reopen(tmp_path / "scene.blend")
    assert [f.row() for f in settings().findings] == before
    bpy.data.objects["A"].name = "Other"
    check()
    assert finding_of("Part [0] of One", "Part [0] of Two").status == "REVIEWED"
    assert finding_of("Other", "B").status == "APPROVED"


# --- what has a mesh of its own -------------------------------------------------------------------------------------


def test_many_objects_checked_again_after_loading(tmp_path: Path) -> None:
    """The same JSON, to the byte, but for the digest of the file, which is saved between."""
    rng = np.random.default_rng(3)
    first = cube("First")
    for _ in range(199):
        obj = first.copy()
        obj.location, obj.rotation_euler = rng.uniform(0.0, 14.0, 3), rng.uniform(0.0, 6.0, 3)
        bpy.context.scene.collection.objects.link(obj)
    path, texts = save_scene(tmp_path / "scene.blend"), []
    for k in range(2):
        assert run(path, "--quiet", "--json", tmp_path / f"{k}.json", "--clearance", 0.05) == 1
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        before, found, after = (tmp_path / f"{k}.json").read_text(encoding="utf-8").partition(digest)
        assert found, "the digest is that of the file"
        texts.append(before + after)
        open_scene(path)
        save_scene(path)
    assert texts[0] == texts[1]
    assert len(load_report(tmp_path / "0.json")["checks"][0]["findings"]) > 100


def with_instances(obj: bpy.types.Object) -> None:
    """Let Geometry Nodes add two instances of a cube to the geometry of an object, ten to its right."""
    kinds = ("MeshCube", "MeshLine", "InstanceOnPoints", "JoinGeometry")
    link, own, out, cubes, line, place, join = geometry_nodes(obj, *(f"GeometryNode{kind}" for kind in kinds))
    for name, value in (("Count", 2), ("Start Location", (10.0, 0.0, 0.0)), ("Offset", (5.0, 0.0, 0.0))):
        line.inputs[name].default_value = value
    for source, target in (
        (line.outputs["Mesh"], place.inputs["Points"]),
        (cubes.outputs["Mesh"], place.inputs["Instance"]),
        (own.outputs[0], join.inputs[0]),
        (place.outputs["Instances"], join.inputs[0]),
        (join.outputs[0], out.inputs[0]),
    ):
        link(source, target)


def add(kind: str) -> bpy.types.Object:
    """A text, curve, surface or metaball with a surface, around the origin."""
    if kind == "FONT":
        bpy.ops.object.text_add()
        bpy.context.object.data.extrude = 0.2
    elif kind == "CURVE":
        bpy.ops.curve.primitive_bezier_circle_add()
        bpy.context.object.data.bevel_depth = 0.1
    elif kind == "SURFACE":
        bpy.ops.surface.primitive_nurbs_surface_sphere_add()
    else:
        bpy.ops.object.metaball_add(type="BALL")
    bpy.context.object.name = kind.title()
    return bpy.context.object


@pytest.mark.parametrize("kind", ["FONT", "CURVE", "SURFACE", "META"])
def test_what_blender_makes_a_mesh_of_is_checked_once(kind: str) -> None:
    def read() -> Any:
        subject = read_input(ignore_parents=False)
        return [obj.name for obj in subject.objects], [skipped.reason for skipped in subject.skipped]

    obj = add(kind)
    assert read() == ([obj.name], [])
    assert (check(instances=False, ignore_parents=False), summary()["skipped"]) == ([], [])
    # In an instance of a collection too.
    if kind != "META":  # those melt together with others of their family, wherever these are
        instance_of(collection_of("Inside", obj, is_only=True), "Empty", (0.0, 0.0, 0.0))
        assert read() == ([f"{obj.name} [0] of Empty"], [])


@pytest.mark.parametrize("kind", ["FONT", "CURVE"])
def test_instances_that_a_text_or_a_curve_makes_are_checked_beside_it(kind: str) -> None:
    obj = add(kind)
    with_instances(obj)
    for name, x in ("A", 10.0), ("B", 15.0), ("C", 0.5):
        cube(name, (x, 0.0, 0.0))
    found, name = check(ignore_parents=False), obj.name
    assert names(found) == {("A", f"{name} [0.0.1] of {name}"), ("B", f"{name} [0.1.1] of {name}"), ("C", name)}


# --- what a check leaves out ------------------------------------------------------------------------------------------


def test_no_hull_is_made_of_what_has_nothing_near() -> None:
    scene_pairs = lens.scene.scene_check
    for k, x in enumerate((0.0, 10.0, 20.0, 21.5, 30.0)):
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=1.0 + 0.01 * k, location=(x, 0.0, 0.0))
        bpy.context.object.name = f"{k}"
    bpy.ops.mesh.primitive_torus_add(location=(0.0, 20.0, 0.0))
    subject = read_input()
    (found,) = scene_pairs.check(subject).clashes
    assert {subject.objects[found.a].name, subject.objects[found.b].name} == {"2", "3"}
    assert {obj.name for obj in subject.objects if "hull" in vars(obj.geometry)} == {"2", "3"}
    for name in "23":
        bpy.data.objects.remove(bpy.data.objects[name])
    fractions: list[float] = []
    scene_pairs.check(read_input(), fractions.append)
    assert fractions[-1] == 1.0, "where there is nothing to look at, too"


def test_no_hull_is_made_of_a_mesh_with_few_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    scene_pairs, bounds = lens.scene.scene_check, lens.scene.convex_bounds
    for k, (x, y) in enumerate(((0.0, 0.0), (2.4, 0.0), (4.3, 1.9), (20.0, 0.0), (21.9, 1.9))):
        torus(f"{k}", (x, y, 0.0)).data.vertices[0].co.z += 0.001 * k  # each another mesh

    def hulls_and_clashes() -> tuple[list[bool], set[tuple[int, int, str, float]], set[tuple[int, int]]]:
        lens.geometry.local_geometry.clear()
        given = read_input()
        outcome = scene_pairs.check(given)
        found = {(clash.a, clash.b, str(clash.relation), clash.signed_distance) for clash in outcome.clashes}
        return [obj.geometry.has_hull for obj in given.objects], found, set(map(tuple, outcome.cleared.tolist()))

    without = hulls_and_clashes()
    monkeypatch.setattr(bounds, "WORTH_HULL", 1)
    with_hulls = hulls_and_clashes()
    assert without[0] == [False] * 5
    assert with_hulls[0] == [True] * 5
    assert without[1:] == with_hulls[1:]
    assert (len(without[1]), len(without[2])) == (1, 2)


@pytest.mark.parametrize("kind", ["AUTOMATIC", "CONVEX_HULL", "MESH", "COMPOUND", "SPHERE", "CAPSULE", "BOX"])
def test_bounds_hold_what_a_thing_collides_as(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Known from vertices, from hulls made before, or from one hull for many things, they are the same."""
    candidates = lens.scene.candidates
    monkeypatch.setattr(candidates, "MANY", 12)
    rng, first = np.random.default_rng(5), ring("Ring", kind=kind)
    for k, obj in enumerate([first, *(first.copy() for _ in range(candidates.MANY))]):
        obj.matrix_world = Matrix([*(rng.normal(size=(3, 4)) * [1, 1, 1, 10]).tolist(), [0, 0, 0, 1]])
        if k:
            bpy.context.scene.collection.objects.link(obj)
    items = read_input().objects
    few = items[:10]
    low, high, problems = candidates.bounds_of(few)
    together = candidates.bounds_of(items)
    of_hulls = candidates.bounds_of(few)
    assert problems == of_hulls[2]
    for k in set(range(len(few))) - set(problems):
        bounds = candidates.WorldShape(few[k]).solid.bounds
        slack = 1e-12 * float(np.abs(bounds).max())
        assert (low[k] <= bounds[0] + slack).all()
        assert (high[k] >= bounds[1] - slack).all()
    for corner, expected in enumerate((low, high)):
        np.testing.assert_allclose(of_hulls[corner], expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(together[corner][:10], expected, rtol=1e-12, atol=1e-12)


# --- partial results ------------------------------------------------------------------------------------------------


def test_clashes_are_verified_when_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scene_pairs = lens.scene.scene_check
    for k in range(40):
        cube(f"{k:02}", (1.5 * k, 0.01 * k * (k % 2), 0.0))
    given = read_input()
    assert {clash.checks for clash in scene_pairs.check(given).clashes} == {None}
    outcome = scene_pairs.check(given, verify=True)
    assert all(ok for clash in outcome.clashes for _, ok in clash.checks)
    fractions: list[float] = []
    scene_pairs.check(given, fractions.append, verify=True)
    late = fractions[-15]
    outcome = scene_pairs.check(given, lambda fraction: fraction < late, verify=True)
    assert (outcome.partial, len(outcome.clashes)) == (True, 39), "no pair is missing"
    assert 20 < sum(clash.checks is not None for clash in outcome.clashes) < 30
    # A clash that is another by itself fails.
    honest = scene_pairs.clash_of
    monkeypatch.setattr(scene_pairs, "clash_of", lambda *given: replace(honest(*given), relation="touching"))
    outcome = scene_pairs.check(given, verify=True)
    row = lens.scene.clash_rows.rows(given.objects, outcome.clashes, outcome.facts, given.units, {})[0]
    assert (row["relation"], row["verified"]) == ("penetrating", False)
    assert row["notes"] == ["The result did not pass its own verification (the same relation): please report it"]


@pytest.mark.parametrize("kind", ["AUTOMATIC", "COMPOUND", "CONVEX_HULL"])
def test_progress_goes_in_small_steps_and_stops_the_check(kind: str) -> None:
    scene_pairs = lens.scene.scene_check
    for k in range(6):
        ring(f"Ring {k:02}", (2.2 * k, 0.0, 0.0), kind)
    for k in range(30):
        cube(f"Box {k:02}", (1.5 * k, 20.0, 0.0))
    given = read_input()
    fractions = [0.0]
    assert len(scene_pairs.check(given, fractions.append).clashes) == 34
    steps = np.diff(fractions)
    most = 0.4 if kind == "CONVEX_HULL" else 0.3  # the boxes, then most of the pairs, are answered in two steps
    assert (fractions[-1], steps.min() >= 0.0, steps.max() < most) == (1.0, True, True)
    for stop in (0.0, 0.3, 0.8):
        outcome = scene_pairs.check(given, lambda fraction, stop=stop: fraction < stop)
        lacks_depths = any(not clash.has_depth for clash in outcome.clashes)
        assert (outcome.partial, len(outcome.clashes) < 34 or lacks_depths) == (True, True)


def test_a_stopped_check_keeps_what_is_done() -> None:
    for k in range(200):
        cube(f"{k:03}", (1.5 * k, 0.0, 0.0))
    subject = read_input()
    outcome = lens.scene.scene_check.check(subject, lambda fraction: fraction < 0.9)
    check()
    finding_of("000", "001").status = "REVIEWED"
    lens.report.scene.store_check(bpy.context.scene, subject, outcome)
    assert summary()["partial"]
    # What was not reached is not resolved.
    assert {f.status for f in settings().findings} == {"ACTIVE", "NEW", "REVIEWED"}
    assert len(settings().findings) == 199


# --- what happens while a check goes on -----------------------------------------------------------------------------


class Checking:
    """Check Scene as its button runs it in a window, the work held until the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cls = lens.operators.scene_operators.CONTACT_LENS_OT_check_scene
        self.operator, self.window = modal_operator(
            lens.live.background, cls.steps, monkeypatch, title=cls.title, keeps_partial=True, selected=False
        )
        assert not cls.poll(bpy.context), "one at a time"
        self.said = self.operator.said

    def end(self) -> None:
        """Let the work end, and take what it found."""
        update()
        assert self.operator.modal(self.window, TICK) == {"PASS_THROUGH"}
        self.operator.flow.task.end()
        assert self.operator.modal(self.window, TICK) == {"FINISHED"}
        assert self.window.timers == 0


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Checking]]:
    begun: list[Checking] = []

    def begin() -> Checking:
        begun.append(Checking(monkeypatch))
        return begun[-1]

    yield begin
    for each in begun:
        each.operator.cancel(each.window)


def statuses() -> dict[str, tuple[str, str]]:
    """Relation and status of each finding, by the names of its pair."""
    return {"".join(*names([finding])): (finding.relation, finding.status) for finding in settings().findings}


def test_a_check_in_a_window_finds_the_same(checking: Callable[[], Checking]) -> None:
    row_of_cubes()
    going = checking()
    assert len(settings().findings) == 0
    going.end()
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "NEW")}
    assert going.said == ["Scene: 5 objects, 1 penetrating, 1 touching"]


def test_separating_while_a_check_goes_on_is_not_overwritten_by_what_was_before(
    checking: Callable[[], Checking],
) -> None:
    a, *_ = row_of_cubes()
    cube("F", (40.0, 0.0, 0.0)), cube("G", (41.0, 0.0, 0.0))
    check(touching=False)
    assert statuses() == {"AB": ("penetrating", "NEW"), "FG": ("penetrating", "NEW")}
    going = checking()
    activate("A", "B")
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    assert a.location.x == pytest.approx(-0.5)
    assert finding_of("A", "B").status == "RESOLVED"
    going.end()
    assert statuses() == {"AB": ("penetrating", "RESOLVED"), "FG": ("penetrating", "ACTIVE")}
    assert names([settings().findings[settings().active]]) == {("A", "B")}, "the row stays the one that was clicked"
    assert [summary()[name] for name in ("objects", "candidate_pairs", "checked_pairs")] == [6, 3, 2]
    words = "'A' changed during the check: check the scene again"
    assert [skipped["reason"] for skipped in summary()["skipped"]] == [words]
    assert going.said[-1] == "1 object changed during the check: check the scene again"
    check()
    assert (finding_of("A", "B").status, summary()["skipped"]) == ("RESOLVED", [])


@pytest.mark.parametrize("frame", [1, 5])
def test_what_is_changed_while_a_check_goes_on_is_not_reported_as_current(
    checking: Callable[[], Checking], frame: int
) -> None:
    """Moved, edited, hidden, removed or given another shape, at the frame of the check and at another."""
    made = {name: cube(name, (1.5 * k, 0.0, 0.0)) for k, name in enumerate("ABCDEFGHJKLMN")}
    made["C"].data = made["C"].data.copy()
    animate(made["N"], "location", f1=made["N"].location.copy(), f5=made["N"].location + Vector((0.0, 9.0, 0.0)))
    inside = collection_of("Inside", cube("Part"), is_only=True)
    one, two = (instance_of(inside, name, (x, 20.0, 0.0)) for name, x in (("One", 0.0), ("Two", 1.5)))
    bpy.context.scene.frame_set(1)
    going = checking()
    made["A"].location.y = 7.0
    update()
    bpy.context.scene.frame_set(frame)
    made["C"].data.vertices[0].co.x -= 0.5
    made["C"].data.update()
    made["E"].contact_lens_shape = "SPHERE"
    if frame == 1:
        made["G"].hide_set(True)
    else:
        made["G"].location.y = 7.0
    one.location.y = 21.0
    bpy.data.objects.remove(made["J"])
    select(made["L"])
    going.end()
    assert set(statuses()) == {"KL", "LM", "MN"}, "what is animated is reported as it was at the frame"
    assert skipped_names() == ["A", "C", "E", "G", "J", "Part [0] of One"]
    assert (summary()["frame"], summary()["objects"]) == (1, 15 - 6)
    where = "; at frame 1" if frame != 1 else ""
    assert going.said[0] == f"Scene: 9 objects, 3 penetrating, 6 not checked{where}"
    # Back at its frame, what was only touched is known to be as it was.
    going = checking()
    bpy.context.scene.frame_set(1)
    two.location.y += 1.0
    update()
    bpy.context.scene.frame_set(frame)
    two.location.y -= 1.0
    going.end()
    assert (summary()["frame"], summary()["skipped"]) == (frame, [])


@pytest.mark.own_process
def test_what_is_moved_while_another_scene_is_shown_is_not_told_as_current(checking: Callable[[], Checking]) -> None:
    a, *_ = row_of_cubes()
    going = checking()
    a.location.y = 7.0
    update()
    going.window.scene = bpy.data.scenes.new("Other")
    going.end()
    assert (statuses(), skipped_names()) == ({"BC": ("touching", "NEW")}, ["A"])


def test_compound_parents_and_instances_are_known_to_be_unchanged(checking: Callable[[], Checking]) -> None:
    _one, two = two_instances()
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Part"])
    parent, copy = chair(), chair()
    cube("In the Seat", (0.0, 0.0, 0.3), size=0.5)
    instance_of(collection_of("Chairs", copy, *copy.children, is_only=True), "Other", (0.0, 5.0, 0.0))
    checking().end()
    assert (summary()["skipped"], len(statuses())) == ([], 2)
    going = checking()
    parent.children[0].scale.x *= 1.5
    two.location.z += 0.5
    going.end()
    assert set(skipped_names()) >= {"Chair", "Part [0] of Two"}
    assert {status for _, status in statuses().values()} == {"NEW"}, "nothing new is said of them"


# --- the list -------------------------------------------------------------------------------------------------------


def test_going_through_the_list_selects_and_inspects_each_pair() -> None:
    row_of_cubes()
    assert {f.row()["verified"] for f in check(show_touching=True)} == {None}
    operators = bpy.ops.contact_lens
    for go, pair in ((operators.go_to_finding, "AB"), (operators.go_to_finding, "BC"), (operators.go_to_finding, "AB")):
        assert go() == {"FINISHED"}
        assert selected() == set(pair)  # the third is the first again
    assert settings().findings[settings().active].row()["verified"] is True
    assert inspection().contact.depth == pytest.approx(0.5)
    operators.previous_finding()
    assert selected() == {"B", "C"}
    check()
    assert names([settings().findings[settings().active]]) == {("B", "C")}, "the same finding stays the active one"


def test_filter_and_sort() -> None:
    lists = lens.clashes.clash_list
    row_of_cubes()
    found = check(clearance=0.02, show_touching=True)

    def listed(**changes: object) -> list[str]:
        for name, value in changes.items():
            setattr(settings(), name, value)
        return ["".join(*names([found[k]])) for k in lists.shown(bpy.context.scene).rows]

    assert listed() == ["AB", "BC", "CD"]
    assert listed(search="a") == ["AB"]
    assert listed(search="", show_penetrating=False, show_touching=False) == ["CD"]
    assert listed(show_penetrating=True, show_touching=True, sort="OBJECT") == ["AB", "BC", "CD"]
    shown = lists.shown(bpy.context.scene)
    assert [shown.headings[k] for k in shown.rows] == [("B", "A", 2), ("B", "C", 0), ("C", "D", 1)]
    assert listed(sort="AREA")[-1] == "CD"
    assert not lists.shown(bpy.context.scene).headings
    found[0].status = "APPROVED"
    assert "AB" not in listed(show_approved=False)
    for sort in ("NAME", "RELATION", "STATUS", "DEPTH"):
        assert sorted(listed(sort=sort)) == ["BC", "CD"]


def compound_of_both(a: str, b: str) -> None:
    parent = cube("Parent", (0.0, 0.0, 50.0))
    adopt(parent, *(bpy.data.objects[name] for name in (a, b)))
    for name in (a, b):
        rigid_body(bpy.data.objects[name], "BOX")
    rigid_body(parent, "COMPOUND")


NOT_LOOKED_AT = {
    "hidden in its instance": lambda a, b: setattr(bpy.data.objects[a], "hide_viewport", True),
    "not finite": lambda a, b: setattr(bpy.data.objects[a].data.vertices[0].co, "x", float("nan")),
    "in a hidden collection": lambda a, b: setattr(bpy.data.collections["Inside"], "hide_viewport", True),
}


@pytest.mark.parametrize("why", NOT_LOOKED_AT)
def test_an_instance_that_was_not_read_is_not_resolved(why: str, capfd: pytest.CaptureFixture[str]) -> None:
    inside = collection_of("Inside", cube("Part", (0.5, 0.0, 0.0)), cube("Lamp", (9.0, 0.0, 0.0)), is_only=True)
    around = bpy.data.collections.new("Around")
    around.children.link(inside)
    instance_of(around, "Group")
    shown = bpy.data.collections.new("Shown")
    shown.objects.link(bpy.data.objects["Part"])
    instance_of(shown, "Another", (50.0, 0.0, 0.0))
    cube("Floor")
    update()
    assert [f.status for f in check()] == ["NEW"]
    NOT_LOOKED_AT[why]("Part", "Floor")
    update()
    assert [f.status for f in check()] == ["NEW"]
    assert "Traceback" not in capfd.readouterr().err


def test_what_is_moved_into_a_hidden_instance_is_not_resolved() -> None:
    a, *_ = row_of_cubes()
    assert len(check()) == 2
    a.hide_viewport = True
    instance_of(collection_of("Inside", a, is_only=True), "Group")
    update()
    assert [f.status for f in check() if "A" in names([f]).pop()] == ["NEW"]


def test_an_instance_whose_source_is_taken_out_of_its_collection_is_resolved() -> None:
    """It is in no other collection: nothing shows it."""
    part, lamp = cube("Part", (0.5, 0.0, 0.0)), cube("Lamp", (9.0, 0.0, 0.0))
    inside = collection_of("Inside", part, lamp, is_only=True)
    instance_of(inside, "Group")
    cube("Floor")
    update()
    assert [f.status for f in check()] == ["NEW"]
    inside.objects.unlink(part)
    update()
    assert [f.status for f in check()] == ["RESOLVED"]


def test_a_part_of_a_compound_in_an_instance_is_not_resolved() -> None:
    part, parent = cube("A", (0.5, 0.0, 0.0)), cube("Parent", (0.0, 0.0, 50.0))
    for obj, shape in ((part, "BOX"), (parent, "BOX")):
        rigid_body(obj, shape)
    inside = collection_of("Inside", part, parent, is_only=True)
    instance_of(inside, "Group")
    cube("Floor")
    update()
    assert [f.status for f in check()] == ["NEW"]
    adopt(parent, part)
    parent.rigid_body.collision_shape = "COMPOUND"
    update()
    assert "RESOLVED" not in [f.status for f in check()]


def test_parts_of_one_compound_are_not_resolved() -> None:
    cube("A"), cube("B", (1.5, 0.0, 0.0))
    assert [f.status for f in check()] == ["NEW"]
    compound_of_both("A", "B")
    update()
    assert [f.status for f in check(ignore_parents=False)] == ["NEW"]


def test_separate_from_the_list() -> None:
    a, *_ = row_of_cubes()
    check()
    bpy.ops.contact_lens.go_to_finding()
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    assert a.location.x == pytest.approx(-0.5)
    finding = settings().findings[settings().active]
    assert (finding.relation, finding.status) == ("touching", "NEW")
    settings().touching = False
    a.location.x = 0.0
    update()
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    assert finding.status == "RESOLVED", "told apart by the settings of the check"
    settings().touching = True
    assert [f.row()["relation"] for f in check()] == ["touching", "touching"]


def test_undo_takes_the_list_back() -> None:
    row_of_cubes()
    bpy.ops.ed.undo_push()
    check()
    bpy.ops.ed.undo_push()
    for step, count in (bpy.ops.ed.undo, 0), (bpy.ops.ed.redo, 2):
        step()
        assert len(settings().findings) == count


# --- what is shown of a finding -------------------------------------------------------------------------------------


def test_a_clash_of_instances_is_inspected_as_one_of_objects_is() -> None:
    _one, two = two_instances()
    check()
    bpy.ops.contact_lens.go_to_finding()
    assert selected() == {"One", "Two"}
    session, isolation = lens.pair.session, lens.views.isolation
    found = inspection()
    assert any(key[2] for key in found.keys)
    assert found.verification.ok
    assert found.contact.depth == pytest.approx(0.5)
    assert (found.name_a, found.name_b) == ("Part [0] of One", "Part [0] of Two")
    data = pair_report()
    assert data["objects"]["b"]["name"] == "Part [0] of Two"
    assert isolation.is_isolated(bpy.context)
    two.location.x += 0.25
    update()
    assert session.stale_reason(bpy.context) == "'Two' has moved"
    assert isolation.is_isolated(bpy.context)
    assert isolation.steps((_one, two), found)[1][:3, 3] == pytest.approx([0.25, 0.0, 0.0])
    assert refresh().contact.depth == pytest.approx(0.25)
    assert session.stale_reason(bpy.context) == ""
    edit(bpy.data.objects["Part"])
    assert session.is_stale(bpy.context)
    for operator, message in (("separate", "An instance cannot be moved"), ("separate_finding", "make it real")):
        with pytest.raises(RuntimeError, match=message):
            getattr(bpy.ops.contact_lens, operator)()
    assert bpy.ops.contact_lens.inspect() == {"FINISHED"}
    assert any(key[2] for key in inspection().keys)
    assert not any(key[2] for key in inspect(cube("A", (50.0, 0.0, 0.0)), cube("B", (51.0, 0.0, 0.0))).keys)


def test_the_rest_stands_back_only_while_the_pair_is_selected(tmp_path: Path) -> None:
    """It changes nothing in the file or the view, so nothing has to be put back."""
    _a, _b, c, _d, _e = row_of_cubes()
    c.data = c.data.copy()
    is_isolated = lens.views.isolation.is_isolated

    def look_at_first() -> None:
        check(show_touching=True)
        settings().active = -1
        bpy.ops.contact_lens.go_to_finding()
        assert is_isolated(bpy.context)

    def state() -> list[Any]:
        spaces = [s for w in bpy.data.screens for area in w.areas for s in area.spaces if s.type == "VIEW_3D"]
        shading = [(s.shading.show_xray, s.shading.xray_alpha, s.shading.type, s.local_view) for s in spaces]
        return [shading, [(o.display_type, o.hide_get(), tuple(o.color), o.show_in_front) for o in bpy.data.objects]]

    before = state()
    look_at_first()
    assert state() == before
    assert selected() == {"A", "B"}
    bpy.ops.ed.undo_push(message="one")
    bpy.ops.mesh.primitive_cube_add(location=(0.0, 50.0, 0.0))
    bpy.ops.ed.undo_push(message="two")
    for change in (
        bpy.ops.ed.undo,
        lambda: bpy.data.objects["A"].select_set(False),
        lambda: edit(bpy.data.objects["B"]),
        lambda: bpy.data.objects.remove(bpy.data.objects["A"]),
        lambda: reopen(tmp_path / "scene.blend"),
    ):
        look_at_first()
        change()
        assert not is_isolated(bpy.context)
    assert state()[0] == before[0]
    assert len(settings().findings) > 0


def test_a_pair_is_isolated_whoever_inspects_it_until_something_else_is_selected() -> None:
    """Active rigid bodies too: any selection makes Blender tag them all."""
    a, b, c, *_ = [rigid_body(obj, "MESH") for obj in row_of_cubes()]
    is_isolated = lens.views.isolation.is_isolated
    check()
    activate("A", "B")
    update()
    assert is_isolated(bpy.context)
    assert bpy.ops.contact_lens.separate() == {"FINISHED"}
    update()
    assert is_isolated(bpy.context), "where they are now"
    assert lens.views.isolation.steps((a, b), inspection())[1] == pytest.approx(np.eye(4))
    bpy.ops.contact_lens.clear_findings()
    inspect(b, c)
    update()
    assert is_isolated(bpy.context), "without a list"
    for others in ((), (a, c)):
        select(b, *others)
        update()
        assert not is_isolated(bpy.context)
    select(c, b)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not is_isolated(bpy.context), "what is modelled is not covered"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert is_isolated(bpy.context)


def gpu_picture() -> ModuleType:
    """The module that draws pictures; the test is skipped where there is no GPU."""
    picture = lens.draw.picture
    try:
        picture.start_gpu()
    except picture.GpuUnavailable as error:
        lacks(str(error))
    return picture


def painted(pixels: Any, alike: float) -> list[int]:
    """How many pixels have the color, however bright, in which the surface of A is painted, and of B."""
    exhibit, style = lens.draw.isolated_pair, lens.draw.overlay.style_of(bpy.context)
    colors = pixels.reshape(-1, 3) / np.maximum(np.linalg.norm(pixels.reshape(-1, 3), axis=1)[:, None], 1e-9)
    counts = []
    for color in (style.look.color_a, style.look.color_b):
        paint = (1.0 - exhibit.TINT) * exhibit.GREY + exhibit.TINT * np.array(color[:3])
        counts.append(int((colors @ (paint / np.linalg.norm(paint)) > alike).sum()))
    return counts


def test_the_pair_is_drawn_over_a_faded_view(tmp_path: Path) -> None:
    picture = gpu_picture()
    two_instances()
    cube("Wall", (10.75, -4.0, 0.0), size=5.0)  # hides both from the front
    check()
    bpy.ops.contact_lens.go_to_finding()
    path = str(tmp_path / "pair.png")
    preferences = bpy.context.preferences
    before = preferences.system.viewport_aa, preferences.is_dirty
    picture.render_isolated(bpy.context, inspection(), path, 320, 200)
    assert (preferences.system.viewport_aa, preferences.is_dirty) == before
    pixels = np.array(bpy.data.images.load(path).pixels).reshape(200, 320, 4)[:, :, :3]
    assert min(painted(pixels, 0.9995)) > 1500, "the surfaces are seen past the wall"
    assert (pixels[..., 0] - pixels[..., 1] > 0.15).sum() > 600, "and so is the overlap"


def test_faces_that_coincide_are_drawn_without_stripes() -> None:
    picture, exhibit = gpu_picture(), lens.draw.isolated_pair
    style = lens.draw.overlay.style_of(bpy.context)
    # B is a rod around A, as high and as wide: of A nothing is to be seen.
    a, b = cube("A"), cube("B")
    rng = np.random.default_rng(4)
    for _ in range(5):
        turn = Matrix.Rotation(rng.uniform(1.0, 6.0), 4, rng.normal(size=3))
        place = Matrix.Translation(rng.uniform(-20.0, 20.0, 3)) @ turn
        a.matrix_world, b.matrix_world = place, place @ Matrix.Diagonal((3.3, 1.0, 1.0, 1.0))
        found = inspect(a, b)
        view, projection = picture.camera(found, 1.6)
        offscreen = picture.gpu.types.GPUOffScreen(480, 300)
        try:
            with offscreen.bind():
                exhibit.draw_isolated(found, style, (0.0, 0.0, 0.0), view, projection, (480, 300))
                pixels = picture.read_pixels(480, 300) / 255.0
        finally:
            offscreen.free()
        of_a, of_b = painted(pixels, 0.999)
        assert (of_a, of_b > 5000) == (0, True)


@pytest.mark.parametrize("kind", ["CONVEX_HULL", "COMPOUND", "MESH"])
def test_of_a_floor_only_what_is_near_the_contact_is_painted(kind: str) -> None:
    picture, exhibit = gpu_picture(), lens.draw.isolated_pair
    found = inspect(block("Floor", (40.0, 40.0, 1.0), (0.0, 0.0, -0.4), kind), cube("Crate", (9.0, 9.0, 1.0)))
    style = lens.draw.overlay.style_of(bpy.context)
    offscreen = picture.gpu.types.GPUOffScreen(200, 200)
    from_above = np.diag([0.05, 0.05, -0.01, 1.0])  # the floor fills the picture
    try:
        with offscreen.bind():
            exhibit.draw_isolated(found, style, (0.0, 0.0, 0.0), np.eye(4), from_above, (200, 200))
            pixels = picture.read_pixels(200, 200) / 255.0
    finally:
        offscreen.free()
    of_floor, of_crate = painted(pixels, 0.9995)
    assert of_crate == pytest.approx(100, abs=20), "2 of 40 units each way"
    assert 100 < of_floor < 1500
    assert pixels[100:].max() < 0.3, "far from the contact nothing is"


class Slow:
    """Going to a finding as in a window, where it takes as long as the test wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.show, go_on = lens.views.open_clash, threading.Event()
        self.go_on, background = go_on, lens.live.background
        report_progress, inspects = lens.core.progress.report_progress, self.show.prepare_inspection

        def begun(*arguments: object) -> object:
            made = inspects(*arguments)

            class Work(type(made)):
                def __call__(self, progress: Callable[[float], bool]) -> object:
                    for _ in range(1_000):  # were it waited for, it would be done then
                        if go_on.wait(0.01):
                            break
                        report_progress(progress, 0.5)
                    return made(progress) if callable(made) else made

            return Work(**vars(made))

        monkeypatch.setattr(self.show, "prepare_inspection", begun)
        monkeypatch.setattr(background, "seconds_to_wait", lambda context: 0.0)
        monkeypatch.setattr(background, "wait_for", lambda flow: None)

    def go(self, first: str, second: str) -> Any:
        """Go to the finding of two things; its job goes on."""
        self.go_on.clear()
        activate(first, second)
        return self.flow.task

    def end(self) -> None:
        """Let the work end, and take it over."""
        update()
        self.go_on.set()
        assert self.flow.run(10.0)
        assert self.show.progress_of(bpy.context.scene) is None

    @property
    def flow(self) -> Any:
        return self.show._pending[1]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    made = Slow(monkeypatch)
    yield made
    made.show.drop()


def test_a_pair_that_takes_long_is_selected_at_once_and_another_click_gives_it_up(slow: Slow) -> None:
    session, isolation = lens.pair.session, lens.views.isolation
    row_of_cubes()
    check()
    first = slow.go("A", "B")
    assert selected() == {"A", "B"} == {obj.name for obj in lens.data.properties.pair(bpy.context.scene)}
    assert inspection() is None
    assert not isolation.is_isolated(bpy.context)
    assert not slow.flow.run(0.0)
    assert slow.show.progress_of(bpy.context.scene) is not None, "it is not done yet"
    second = slow.go("B", "C")
    assert first.wait(10.0), "the first one was cancelled"
    assert not second.wait(0.0)
    slow.end()
    shown = inspection()
    assert selected() == {"B", "C"} == {shown.name_a, shown.name_b}
    assert not session.is_stale(bpy.context)
    assert isolation.is_isolated(bpy.context)
    for leave in (lambda: setattr(settings(), "active", -1), bpy.ops.contact_lens.clear_findings):
        job = slow.go("A", "B")
        leave()
        assert job.wait(10.0), "the user left the list"
    assert session.stored(bpy.context.scene) is shown


def test_what_happens_while_a_pair_is_looked_at_is_noticed(slow: Slow) -> None:
    session, isolation = lens.pair.session, lens.views.isolation
    a, b, c, d, _ = row_of_cubes()
    b.data = b.data.copy()
    check()
    slow.go("A", "B")
    b.location.x -= 0.25
    slow.end()
    assert session.is_stale(bpy.context)
    assert isolation.is_isolated(bpy.context)
    assert not np.allclose(isolation.steps((a, b), inspection()), np.eye(4))
    slow.go("A", "B")
    edit(b)
    slow.end()
    assert session.stale_reason(bpy.context) == "objects changed during the inspection"
    assert not isolation.is_isolated(bpy.context), "its surface is another one now"
    slow.go("B", "C")
    before = session.stored(bpy.context.scene)
    bpy.context.scene.contact_lens.object_b = d
    slow.end()
    assert session.stored(bpy.context.scene) is before, "the user picked another pair"
    slow.go("B", "C")
    bpy.data.objects.remove(c)
    slow.end()
    assert inspection() is None
    slow.go("A", "B")
    a.hide_set(True)
    slow.end()
    assert "hidden" in session.error(bpy.context)


def test_separating_a_pair_that_is_still_looked_at(slow: Slow) -> None:
    session = lens.pair.session
    a, *_ = row_of_cubes()
    check(touching=False)
    slow.go("A", "B")
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    shown = inspection()
    assert (a.location.x, str(shown.contact.relation)) == (pytest.approx(-0.5), "touching")
    slow.end()
    assert inspection() is shown, "what was found of the place before is not reported"
    assert (session.is_stale(bpy.context), finding_of("A", "B").status) == (False, "RESOLVED")


def test_pairs_within_the_clearance_are_shown_as_such() -> None:
    row_of_cubes()
    two_instances(2.015)
    check(clearance=0.02)
    for pair, distance in (("C", "D"), 0.01), (("Part [0] of One", "Part [0] of Two"), 0.015):
        activate(*pair)
        shown = inspection()
        assert (str(shown.contact.relation), shown.name_a, shown.name_b) == ("within_clearance", *pair)
        assert shown.contact.signed_distance == pytest.approx(distance, abs=1e-6)


@pytest.mark.parametrize(("overlap", "relation"), [(0.9, "touching"), (1.2, "penetrating")])
def test_a_relation_does_not_depend_on_how_the_scene_is_turned(overlap: float, relation: str) -> None:
    tolerance = 1e-3
    lower, upper = cube("Lower"), cube("Upper")
    apart = Matrix.Translation((0.0, 0.0, 2.0 - overlap * tolerance * np.sqrt(12.0)))
    bpy.context.scene.contact_lens.contact_tolerance = tolerance
    for k in range(8):
        turn = Matrix.Rotation(0.7 * k, 4, Vector((1.0, 0.3 * k, 0.5)))
        lower.matrix_world, upper.matrix_world = turn, turn @ apart
        (found,) = check(touching=True)
        assert found.row()["relation"] == relation
        assert inspect(lower, upper, contact_tolerance=tolerance).contact.relation == relation


def test_hulls_of_meshes_that_meet_get_no_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a depth of hulls nothing follows for meshes that are not convex."""
    for k in range(2 * lens.scene.convex_bounds.WORTH_HULL):
        torus(f"{k}", (0.7 * k, 0.0, 0.0))
    asked, contacts = [], lens.scene.frame_cache.contacts
    monkeypatch.setattr(
        lens.scene.frame_cache,
        "contacts",
        lambda set_, pairs, **of: (asked.append(len(pairs)), contacts(set_, pairs, **of))[1],
    )
    outcome = lens.scene.scene_check.check(read_input())
    assert sum(asked) + len(outcome.clashes) <= outcome.candidates
    assert len(outcome.clashes) > 0
