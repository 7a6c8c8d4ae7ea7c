# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene: which pairs are found, what is left out, and what the list remembers."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from .scenes import cube, inspect, mesh_object, select
from .window import TICK, modal_operator

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")


def settings() -> Any:
    return bpy.context.scene.contact_lens_check


def read_input(part: Part, **rules: object) -> Any:
    """The scene read as a check does it."""
    rules = part("blender_addon.data.records").Rules(**rules)
    bpy.context.view_layer.update()
    return part("blender_addon.read.scene").read_input(bpy.context, rules)


def check(**changes: object) -> list[Any]:
    """Run the operator with these settings; the findings."""
    for name, value in changes.items():
        setattr(settings(), name, value)
    bpy.context.view_layer.update()
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    return list(settings().findings)


def names(found: list[Any]) -> set[tuple[str, str]]:
    """The pairs by their names of today."""
    rows = [finding.row() for finding in found]
    return {tuple(sorted((row["a"]["name"], row["b"]["name"]))) for row in rows}  # type: ignore[misc]


def summary() -> Any:
    return json.loads(settings().summary)


def instance_of(collection: bpy.types.Collection, name: str, location: object) -> bpy.types.Object:
    empty = bpy.data.objects.new(name, None)
    empty.instance_type = "COLLECTION"
    empty.instance_collection = collection
    empty.location = location
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    return empty


def two_instances(distance: float = 1.5) -> list[bpy.types.Object]:
    inside = bpy.data.collections.new("Inside")
    inside.objects.link(cube("Part"))
    return [instance_of(inside, name, (10.0 + x, 0.0, 0.0)) for name, x in (("One", 0.0), ("Two", distance))]


def rigid_world() -> None:
    if bpy.context.scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()


def joined(name: str, a: bpy.types.Object, b: bpy.types.Object) -> None:
    rigid_world()
    bpy.ops.object.empty_add()
    empty = bpy.context.object
    empty.name = name
    bpy.ops.rigidbody.constraint_add()
    empty.rigid_body_constraint.object1, empty.rigid_body_constraint.object2 = a, b


def row_of_cubes() -> list[bpy.types.Object]:
    """A and B overlap by 0.5, C touches B, D is 0.01 from C, E is far."""
    places = (0.0, 1.5, 3.5, 5.51, 20.0)
    return [cube(name, (x, 0.0, 0.0)) for name, x in zip("ABCDE", places, strict=True)]


# --- what is found --------------------------------------------------------------------------------------------------


def test_all_pairs_are_found_with_their_relation() -> None:
    row_of_cubes()
    found = check(clearance=0.02)
    told = {tuple(sorted((r["a"]["name"], r["b"]["name"]))): r for r in (f.row() for f in found)}
    assert {pair: r["relation"] for pair, r in told.items()} == {
        ("A", "B"): "penetrating",
        ("B", "C"): "touching",
        ("C", "D"): "within_clearance",
    }
    assert told["A", "B"]["depth"] == pytest.approx(0.5, abs=1e-9)
    assert told["A", "B"]["area"] == pytest.approx(4.0, abs=1e-9)
    assert told["C", "D"]["signed_distance"] == pytest.approx(0.01, abs=1e-6)
    assert [f.status for f in found] == ["NEW"] * 3
    assert (summary()["objects"], summary()["partial"]) == (5, False)
    bpy.ops.contact_lens.clear_findings()
    assert names(check(clearance=0.0, touching=False)) == {("A", "B")}


def test_what_it_finds_is_what_inspect_finds(part: Part) -> None:
    """Against the single way, on turned and stretched objects of several kinds, every pair."""
    rng = np.random.default_rng(5)
    objects = []
    for k in range(24):
        make = (bpy.ops.mesh.primitive_ico_sphere_add, bpy.ops.mesh.primitive_cube_add, bpy.ops.mesh.primitive_cone_add)
        make[k % 3](
            location=rng.uniform(-3.0, 3.0, 3), rotation=rng.uniform(0.0, 6.0, 3), scale=rng.uniform(0.3, 1.2, 3)
        )
        bpy.context.object.name = f"{k:02}"
        objects.append(bpy.context.object)
    bpy.context.view_layer.update()
    bpy.context.scene.contact_lens.clearance = 0.2
    found = {frozenset((row["a"]["name"], row["b"]["name"])): row for row in (f.row() for f in check(clearance=0.2))}
    seen = set()
    report = part("blender_addon.report.pair")
    for a, b in combinations(objects, 2):
        inspect(a, b)
        single = report.report(bpy.context)["contact"]
        pair = frozenset((a.name, b.name))
        if single["relation"] == "separated":
            assert pair not in found
            continue
        seen.add(pair)
        row = found[pair]
        if row["a"]["name"] == a.name:
            assert row["relation"] == single["relation"]
        assert row["signed_distance"] == pytest.approx(single["signed_distance"], abs=1e-6)
        assert row["verified"] is None
    assert seen == set(found)
    assert len(seen) > 20


def test_collision_shapes_count() -> None:
    a, b = cube("A"), cube("B", (1.9, 1.9, 0.0))
    assert len(check()) == 1
    a.contact_lens_shape = b.contact_lens_shape = "SPHERE"
    found = check()
    assert [f.status for f in found] == ["RESOLVED"]
    b.location = (1.2, 0.9, 0.0)
    row = check()[0].row()
    assert row["a"]["checked_as"] == "sphere"
    assert row["depth"] == pytest.approx(0.5, abs=1e-6)
    a.contact_lens_shape, b.contact_lens_shape = "MESH", "COMPOUND"
    row = check()[0].row()
    assert summary()["skipped"] == []
    assert (row["a"]["checked_as"], row["b"]["checked_as"]) == ("mesh", "compound")
    assert row["depth"] == pytest.approx(0.8, abs=1e-6)
    assert row["verified"] is None
    assert row["notes"] == []
    a.contact_lens_shape = "CONVEX_HULL"
    row = check()[0].row()
    assert (row["a"]["checked_as"], row["b"]["checked_as"]) == ("convex_hull", "compound")
    assert row["depth"] == pytest.approx(0.8, abs=1e-6)


def test_a_dented_mesh_is_checked_as_it_is_unless_its_hull_is_chosen() -> None:
    bpy.ops.mesh.primitive_torus_add()
    torus = bpy.context.object
    cube("B", size=0.2)
    assert check() == [], "it is in the hole"
    torus.contact_lens_shape = "CONVEX_HULL"
    assert check()[0].row()["notes"] == ["'Torus' is not convex: its convex hull is used"]


def rigid_body(obj: bpy.types.Object, shape: str) -> bpy.types.Object:
    rigid_world()
    with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        bpy.ops.rigidbody.object_add()
    obj.rigid_body.collision_shape = shape
    return obj


def chair(x: float = 0.0) -> bpy.types.Object:
    """A compound parent, a seat and two legs with room between them."""
    parent = rigid_body(cube("Chair", (x, 0.0, 50.0)), "COMPOUND")
    seat = rigid_body(cube("Seat", (x, 0.0, 1.0), size=1.0), "BOX")
    legs = [rigid_body(cube(f"Leg {k}", (x + 0.4 * k, 0.0, 0.2), size=0.6), "CONVEX_HULL") for k in (-2, 2)]
    for part in (seat, *legs):
        part.parent, part.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    bpy.context.view_layer.update()
    return parent


def test_what_it_finds_of_dented_meshes_and_rigid_bodies_is_what_inspect_finds(part: Part) -> None:
    """Kinds, numbers and notes, against the single way: every pair within reach."""
    report = part("blender_addon.report.pair")
    bpy.ops.mesh.primitive_torus_add(major_segments=8, minor_segments=5)
    objects = [bpy.context.object]
    objects[0].scale = (1.0, 1.0, 1.5)
    objects.append(
        mesh_object(
            "Open", [(0.9, -1, 0), (0.9, 1, 0), (1.1, 1, 1), (1.1, -1, 1), (2, 0, 0.5)], [(0, 1, 2, 3), (1, 2, 4)]
        )
    )
    rim = [(-1.4, -1.4, 0.3), (0.9, -1.4, 0.3), (0.9, 0.9, 0.3), (-1.4, 0.9, 0.3), (0.0, 0.0, -1.0)]
    objects.append(mesh_object("Cup", rim, [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]))
    objects.append(cube("Chosen", (0.7, 0.7, 0.3), size=0.7))
    objects[-1].contact_lens_shape = "COMPOUND"
    objects.append(cube("Ball", (-1.0, 0.4, 0.3), size=0.5))
    objects[-1].data.transform(Matrix.Translation((0.3, 0.0, 0.0)))
    rigid_body(objects[-1], "SPHERE")
    objects.append(rigid_body(cube("Crate", (1.2, -0.6, 0.0), size=0.8), "MESH"))
    objects.append(chair())
    bpy.context.view_layer.update()
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    rows = {(row["a"]["name"], row["b"]["name"]): row for row in (f.row() for f in check(ignore_parents=False))}
    assert summary()["skipped"] == []
    assert not {name for pair in rows for name in pair} & {"Seat", "Leg -2", "Leg 2"}, "they are the chair"
    seen = set()
    for a, b in combinations(sorted(objects, key=lambda obj: obj.name), 2):
        inspect(a, b)
        data = report.report(bpy.context)
        single, pair = data["contact"], (a.name, b.name)
        if single["relation"] == "separated":
            assert pair not in rows
            continue
        seen.add(pair)
        row = rows[pair]
        assert [row[k]["checked_as"] for k in "ab"] == [data["objects"][k]["inspected_as"] for k in "ab"], pair
        assert (row["relation"], row["has_depth"], row["of_pieces"]) == (
            single["relation"],
            single["has_depth"],
            single["of_pieces"],
        ), pair
        assert row["exactness"] == single["status"], pair
        assert row["verified"] is None, pair
        if single["has_depth"]:
            assert row["depth"] == pytest.approx(single["depth"], abs=1e-6), pair
        said = report.warnings(report.inspected(bpy.context))
        assert [note.replace("is checked", "is inspected") for note in row["notes"]] == said, pair
    assert seen == set(rows)
    assert len(seen) > 8
    assert any(row["of_pieces"] for row in rows.values())
    assert any(" cm" in note for row in rows.values() for note in row["notes"])


def test_a_compound_that_would_become_its_hull_is_not_checked_and_says_so() -> None:
    """Named once, however many things are near it; what is near each other is checked."""
    bpy.ops.mesh.primitive_torus_add()
    torus = bpy.context.object
    torus.contact_lens_shape = "COMPOUND"
    for k in range(3):
        cube(f"{k}", (0.15 * k, 0.0, 0.0), size=0.2)
    assert names(check()) == {("0", "1"), ("1", "2")}
    (entry,) = summary()["skipped"]
    assert entry["name"] == "Torus"
    assert entry["unchecked"]
    assert re.fullmatch(
        r"'Torus' cannot collide as a compound: \d+ edges bend inward and 48 are allowed. "
        r"Choose Mesh or Convex Hull as its collision shape, or simplify it",
        entry["reason"],
    )
    parent = rigid_body(cube("Parent", (0.0, 0.0, 50.0)), "COMPOUND")
    torus.contact_lens_shape = "AUTOMATIC"
    rigid_body(torus, "MESH").parent = parent
    torus.matrix_parent_inverse = parent.matrix_world.inverted()
    assert names(check()) == {("0", "1"), ("1", "2")}
    (entry,) = summary()["skipped"]
    assert entry["reason"].startswith("'Parent' cannot collide: its part 'Torus' cannot collide as a compound")
    torus.contact_lens_shape = "CONVEX_HULL"
    assert len(check()) == 5
    assert summary()["skipped"] == []


def test_cutting_a_compound_is_stopped(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are made with the progress of the check: one that is stopped while it cuts ends there."""
    ring("Ring", (0.0, 0.0, 0.0))
    bpy.context.object.contact_lens_shape = "COMPOUND"
    cube("B", (1.0, 0.0, 0.0), size=0.5)
    scene_pairs = part("blender_addon.check.scene")
    things, progress = part("blender_addon.read.geometry"), part("core.progress")
    told = []

    def cut(mesh: object, *, progress: object = None) -> object:
        for k in range(1000):
            progressed(progress, k / 1000)
            told.append(k)
        raise AssertionError("not stopped")

    progressed = progress.report_progress
    monkeypatch.setattr(things, "mesh_pieces", cut)
    subject = read_input(part)
    stopped = scene_pairs.check(subject, lambda share: len(told) < 10)
    assert stopped.partial
    assert len(told) == 10


def test_compound_parents_are_instanced_with_their_parts() -> None:
    inside = bpy.data.collections.new("Inside")
    parent = chair()
    for obj in (parent, *parent.children):
        inside.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    instance_of(inside, "One", (0.0, 5.0, 0.0))
    cube("Between", (0.0, 5.0, 0.0), size=0.5)
    assert check() == [], "between its legs, and the parts do not meet each other"
    bpy.data.objects["Between"].location.z = 0.3
    row = check()[0].row()
    assert (row["a"]["name"], row["b"]["object"]) == ("Between", "Chair")
    assert (row["b"]["checked_as"], row["depth"]) == ("compound", pytest.approx(0.05))
    bpy.ops.contact_lens.go_to_finding()


# --- scope ----------------------------------------------------------------------------------------------------------


def test_scopes() -> None:
    a, b, c, _d, _e = row_of_cubes()
    select(b, c)
    assert names(check(scope="SELECTED")) == {("B", "C")}
    bpy.ops.contact_lens.clear_findings()
    assert names(check(scope="ONE", object=a)) == {("A", "B")}
    bpy.ops.contact_lens.clear_findings()
    settings().object = None
    assert names(check(scope="ONE")) == {("A", "B"), ("B", "C")}  # the active one
    bpy.ops.contact_lens.clear_findings()
    left, right = bpy.data.collections.new("Left"), bpy.data.collections.new("Right")
    for collection, members in ((left, (a, c)), (right, (a, b))):
        bpy.context.scene.collection.children.link(collection)
        for member in members:
            collection.objects.link(member)
    assert names(check(scope="COLLECTIONS", collection_a=left, collection_b=right)) == {("A", "B"), ("B", "C")}


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
    collection = bpy.data.collections.new("Both")
    bpy.context.scene.collection.children.link(collection)
    for obj in (a, b):
        collection.objects.link(obj)
    assert check(scope="COLLECTIONS", collection_a=collection, collection_b=collection) == []
    assert [entry["name"] for entry in summary()["skipped"]] == ["B"]


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
    assert (row["a"]["instancer"], row["b"]["instancer"]) == ("One", "Two")
    assert row["a"]["name"] == "Part [0] of One"
    assert row["depth"] == pytest.approx(0.5)
    assert [f.status for f in check()] == ["ACTIVE"]
    found = check(instances=False)
    assert [f.status for f in found] == ["ACTIVE"]  # not looked at: as it was
    assert [entry["name"] for entry in summary()["skipped"]] == ["One", "Two"]


def test_instances_of_geometry_nodes_are_checked() -> None:
    source = cube("Source", (0.0, 0.0, 30.0))
    points = mesh_object("Points", [(0.0, 0.0, 0.0), (1.75, 0.0, 0.0), (9.0, 0.0, 0.0)])
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes = {
        kind: tree.nodes.new(kind)
        for kind in ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeInstanceOnPoints", "GeometryNodeObjectInfo")
    }
    nodes["GeometryNodeObjectInfo"].inputs[0].default_value = source
    info = nodes["GeometryNodeObjectInfo"]
    scatter = nodes["GeometryNodeInstanceOnPoints"]
    tree.links.new(nodes["NodeGroupInput"].outputs[0], scatter.inputs["Points"])
    tree.links.new(info.outputs["Geometry"], scatter.inputs["Instance"])
    tree.links.new(scatter.outputs[0], nodes["NodeGroupOutput"].inputs[0])
    points.modifiers.new("Scatter", "NODES").node_group = tree
    bpy.context.view_layer.update()
    rows = [f.row() for f in check()]
    assert [row["depth"] for row in rows] == [pytest.approx(0.25)]
    assert {row[letter]["instancer"] for row in rows for letter in "ab"} == {"Points"}
    assert summary()["skipped"] == []


# --- ignore rules ---------------------------------------------------------------------------------------------------


def test_ignore_rules() -> None:
    a, b, c, _d, _e = row_of_cubes()
    b.parent, b.matrix_parent_inverse = a, a.matrix_world.inverted()
    assert names(check()) == {("B", "C")}
    assert names(check(ignore_parents=False)) == {("A", "B"), ("B", "C")}
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    for obj in (b, c):
        together.objects.link(obj)
    bpy.ops.contact_lens.clear_findings()
    assert names(check(ignore_collections=True)) == {("A", "B")}
    bpy.ops.contact_lens.clear_findings()
    joined("Joint", a, b)
    assert names(check(ignore_collections=False)) == {("B", "C")}
    assert summary()["ignored_pairs"] == {"joined": 1}


def test_parents_within_an_instanced_collection_are_ignored_too() -> None:
    inside = bpy.data.collections.new("Inside")
    a, b, c = cube("A"), cube("B", (1.5, 0.0, 0.0)), cube("C", (3.0, 0.0, 0.0))
    b.parent, b.matrix_parent_inverse = a, a.matrix_world.inverted()
    for obj in (a, b, c):
        inside.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    instance_of(inside, "One", (10.0, 0.0, 0.0))
    assert names(check()) == {("B [1] of One", "C [2] of One")}
    instance_of(inside, "Two", (10.0, 0.5, 0.0))
    assert len(check()) == 9, "between two instances parents mean nothing"


def test_the_list_of_ignored_pairs() -> None:
    _a, _b, c, _d, _e = row_of_cubes()
    check()
    settings().active = next(k for k, f in enumerate(settings().findings) if f.relation == "penetrating")
    assert bpy.ops.contact_lens.ignore_pair() == {"FINISHED"}
    bpy.ops.contact_lens.clear_findings()
    assert names(check()) == {("B", "C")}
    select(c)
    assert bpy.ops.contact_lens.ignore_pair(what="SELECTED") == {"FINISHED"}
    bpy.ops.contact_lens.clear_findings()
    assert names(check()) == set()
    settings().active_ignored = 0
    bpy.ops.contact_lens.unignore()
    assert names(check()) == {("A", "B")}


# --- statuses -------------------------------------------------------------------------------------------------------


def status_of(a: str, b: str) -> str:
    by_name = {tuple(sorted((f.row()["a"]["name"], f.row()["b"]["name"]))): f.status for f in settings().findings}
    return str(by_name[tuple(sorted((a, b)))])


def set_status(a: str, b: str, status: str) -> None:
    for finding in settings().findings:
        row = finding.row()
        if {row["a"]["name"], row["b"]["name"]} == {a, b}:
            finding.status = status


def test_statuses_survive_the_next_check() -> None:
    a, _b, c, d, _e = row_of_cubes()
    check(clearance=0.02, ignore_approved=False)
    set_status("A", "B", "REVIEWED")
    set_status("B", "C", "APPROVED")
    check()
    assert [status_of(*pair) for pair in ("AB", "BC", "CD")] == ["REVIEWED", "APPROVED", "ACTIVE"]
    a.location.x = -5.0
    d.location.x = 9.0
    c.location.x = 4.5
    check()
    assert [status_of(*pair) for pair in ("AB", "BC", "CD")] == ["RESOLVED", "APPROVED", "RESOLVED"]
    a.location.x = 0.0
    check()
    assert status_of("A", "B") == "NEW"


def approved_at(x: float, **changes: object) -> bpy.types.Object:
    """Cube B at `x` beside cube A, found and approved there; the rule Approved Pairs leaves out what is covered."""
    cube("A")
    b = cube("B", (x, 0.0, 0.0))
    check(**changes)
    set_status("A", "B", "APPROVED")
    return b


def checked_at(b: bpy.types.Object, x: float, **changes: object) -> tuple[str, bool]:
    """The status of the pair once B is at `x` and the scene is checked, and whether the check itself lists it."""
    b.location.x = x
    check(**changes)
    return status_of("A", "B"), "approved" not in summary()["ignored_pairs"]


@pytest.mark.parametrize("ignored", [True, False], ids=["left out", "listed"])
def test_an_approval_is_bounded_by_the_depth_it_was_given_at(ignored: bool) -> None:
    b = approved_at(1.5)  # 0.5 deep
    assert checked_at(b, 1.496, ignore_approved=ignored) == ("APPROVED", not ignored), "0.8 % deeper"
    assert checked_at(b, 1.8)[0] == "APPROVED", "less deep"
    assert checked_at(b, 1.494) == ("CHANGED", True), "1.2 % deeper: the approval is of 0.5, not of what came between"
    [finding] = settings().findings
    assert "Approved at a depth of 0.50000 m, now a depth of 0.506" in finding.row()["notes"][0]
    assert finding.row()["approved_at"] == pytest.approx(-0.5)
    assert checked_at(b, 1.0) == ("CHANGED", True)
    assert checked_at(b, 1.5) == ("APPROVED", not ignored), "as it was approved"
    assert checked_at(b, 1.0) == ("CHANGED", True)
    set_status("A", "B", "APPROVED")
    assert checked_at(b, 1.0) == ("APPROVED", not ignored), "approving again renews the bound"
    assert checked_at(b, 0.9) == ("CHANGED", True)


def test_an_approved_gap_or_touch_is_bounded_too() -> None:
    b = approved_at(2.01, clearance=0.02)
    assert checked_at(b, 2.00995)[0] == "APPROVED", "0.5 % closer"
    assert checked_at(b, 2.009) == ("CHANGED", True), "10 % closer"
    assert "Approved at a gap of 0.010000 m, now a gap of 0.009000" in settings().findings[0].row()["notes"][0]
    b.location.x = 2.0
    check()
    set_status("A", "B", "APPROVED")
    assert checked_at(b, 2.0 - 1e-6)[0] == "APPROVED", "within the resolution of the coordinates"
    assert checked_at(b, 2.0 - 1e-4) == ("CHANGED", True), "it only touched"


def test_approvals_of_files_saved_earlier_are_bounded_by_the_stored_depth_or_asked_again() -> None:
    b = approved_at(1.5)
    settings().findings[0].approval = ""  # as a file saved earlier has it
    assert checked_at(b, 1.5) == ("APPROVED", False)
    settings().findings[0].approval = ""
    assert checked_at(b, 1.0) == ("CHANGED", True)
    row = json.loads(settings().findings[0].data)
    set_status("A", "B", "APPROVED")
    settings().findings[0].approval = ""
    settings().findings[0].data = json.dumps({**row, "signed_distance": 0.0, "has_depth": False})
    assert checked_at(b, 1.0) == ("NEW", True)
    assert "approve it again" in settings().findings[0].row()["notes"][0]


def test_a_crossing_of_open_surfaces_stays_approved_while_it_is_one() -> None:
    sheet = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, 0.0, 0.5)]
    faces = [(0, 1, 4), (1, 2, 4), (2, 3, 4)]
    for name, place in (("A", (0.0, 0.0, 0.0)), ("B", (0.5, 0.0, -0.2))):
        mesh_object(name, sheet, faces, place).contact_lens_shape = "MESH"
    b = bpy.data.objects["B"]
    [finding] = check()
    assert finding.row()["signed_distance"] is None
    set_status("A", "B", "APPROVED")
    assert checked_at(b, 0.6) == ("APPROVED", False)
    b.contact_lens_shape = bpy.data.objects["A"].contact_lens_shape = "CONVEX_HULL"
    assert checked_at(b, 0.6) == ("CHANGED", True), "it has a depth now, which nobody approved"


def test_renamed_duplicated_and_deleted_objects() -> None:
    a, _b, c, _d, _e = row_of_cubes()
    check()
    set_status("A", "B", "REVIEWED")
    a.name = "Zebra"
    check()
    assert status_of("Zebra", "B") == "REVIEWED"
    assert len(settings().findings) == 2
    twin = a.copy()
    bpy.context.scene.collection.objects.link(twin)
    check()
    assert status_of("Zebra", "B") == "REVIEWED"
    assert status_of(twin.name, "B") == "NEW"
    assert status_of(twin.name, "Zebra") == "NEW"
    bpy.data.objects.remove(twin)
    bpy.context.scene.collection.objects.unlink(c)
    check()
    assert status_of("B", "C") == "RESOLVED"
    assert all(obj != c for f in settings().findings for obj in (f.object_a, f.object_b))
    assert sorted(f.status for f in settings().findings) == ["RESOLVED", "RESOLVED", "RESOLVED", "REVIEWED"]
    bpy.ops.contact_lens.clear_findings(resolved_only=True)
    assert [f.status for f in settings().findings] == ["REVIEWED"]


def test_what_was_not_checked_against_each_other_stays_as_it_was() -> None:
    a, b, c, d, e = row_of_cubes()
    check()
    select(d, e)
    check(scope="SELECTED")
    assert {f.status for f in settings().findings} == {"NEW"}
    check(scope="ONE", object=e)
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "NEW")}
    sides = [bpy.data.collections.new(name) for name in ("Left", "Right")]
    for side, members in zip(sides, ((a, b), (c, d)), strict=True):
        bpy.context.scene.collection.children.link(side)
        for obj in members:
            side.objects.link(obj)
    bpy.context.view_layer.update()
    b.location.x = 0.5
    check(scope="COLLECTIONS", collection_a=sides[0], collection_b=sides[1])
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "RESOLVED")}
    b.location.x = 9.0
    check(scope="ONE", object=b)
    assert statuses()["AB"][1] == "RESOLVED"


def test_what_could_not_be_checked_stays_as_it_was(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, *_ = row_of_cubes()
    check()

    def refused(*_: object) -> None:
        raise ValueError("b is too large")

    b.contact_lens_shape = "MESH"  # so that its pairs are checked by themselves
    with monkeypatch.context() as patched:
        patched.setattr(part("blender_addon.check.scene"), "check_pair", refused)
        check()
    b.contact_lens_shape = "AUTOMATIC"
    assert {skipped["name"] for skipped in summary()["skipped"]} == {"A and B", "B and C"}
    outcome = part("blender_addon.check.scene").Outcome()
    assert {status for _, status in statuses().values()} == {"NEW"}
    results, finding = part("blender_addon.check.results"), settings().findings[0]
    subject = part("blender_addon.ui.follow_clashes").read_clash(bpy.context, finding)
    results.update(finding, subject, replace(outcome, partial=True), [], 1)
    results.update(finding, subject, replace(outcome, unchecked={results.pair_key(finding)}), [], 1)
    assert finding.status == "NEW"
    a.data.clear_geometry()
    a.data.from_pydata([(-1, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)], [(0, 1)], [])
    a.contact_lens_shape = "MESH"
    check()
    assert [skipped["name"] for skipped in summary()["skipped"]] == ["A"]
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "ACTIVE")}


def test_instances_that_are_left_out_stay_as_they_were() -> None:
    maker, child = cube("Maker"), cube("Child", size=1.0)
    child.parent = maker
    maker.instance_type = "VERTS"
    cube("Corner", (1.6, 1.6, 1.6), size=1.0)
    assert len(check(ignore_parents=False)) > 1
    before = statuses()
    assert any("of Maker" in names for names in before)
    check(instances=False)
    changed = {pair for pair, (_, status) in statuses().items() if status == "RESOLVED"}
    assert changed == set()


def test_statuses_survive_saving(tmp_path: Path) -> None:
    two_instances()
    cube("A"), cube("B", (1.5, 0.0, 0.0))
    check()
    set_status("Part [0] of One", "Part [0] of Two", "REVIEWED")
    set_status("A", "B", "APPROVED")
    path = str(tmp_path / "scene.blend")
    assert bpy.ops.wm.save_as_mainfile(filepath=path) == {"FINISHED"}
    before = [f.row() for f in settings().findings]
    bpy.ops.wm.open_mainfile(filepath=path)
    assert [f.row() for f in settings().findings] == before
    bpy.data.objects["A"].name = "Other"
    check()
    assert status_of("Part [0] of One", "Part [0] of Two") == "REVIEWED"
    assert status_of("Other", "B") == "APPROVED"


def test_a_thousand_objects_checked_again_after_loading(part: Part, tmp_path: Path) -> None:
    """The same JSON, to the byte, but for the digest of the file, which is saved between."""
    rng = np.random.default_rng(3)
    mesh = cube("First").data
    for k in range(999):
        obj = bpy.data.objects.new(f"Object {k}", mesh)
        obj.location, obj.rotation_euler = rng.uniform(0.0, 25.0, 3), rng.uniform(0.0, 6.0, 3)
        bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    command, path = part("blender_addon.command_line"), tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    texts = []
    for k in range(2):
        out = tmp_path / f"{k}.json"
        assert command.main([str(path), "--quiet", "--json", str(out), "--clearance", "0.05"], "check") == 1
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        before, found, after = out.read_text(encoding="utf-8").partition(digest)
        assert found, "the digest is that of the file"
        texts.append(before + after)
        bpy.ops.wm.open_mainfile(filepath=str(path))
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert texts[0] == texts[1]
    assert len(json.loads(texts[0])["checks"][0]["findings"]) > 100


# --- what has a mesh of its own -------------------------------------------------------------------------------------


def with_instances(obj: bpy.types.Object) -> None:
    """Let Geometry Nodes add two instances of a cube to the geometry of an object, ten to its right."""
    tree = bpy.data.node_groups.new("Beside", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeMeshCube", "GeometryNodeMeshLine")
    own, out, cubes, line = (tree.nodes.new(name) for name in names)
    place, join = tree.nodes.new("GeometryNodeInstanceOnPoints"), tree.nodes.new("GeometryNodeJoinGeometry")
    line.inputs["Count"].default_value = 2
    line.inputs["Start Location"].default_value = (10.0, 0.0, 0.0)
    line.inputs["Offset"].default_value = (5.0, 0.0, 0.0)
    for source, target in (
        (line.outputs["Mesh"], place.inputs["Points"]),
        (cubes.outputs["Mesh"], place.inputs["Instance"]),
        (own.outputs[0], join.inputs[0]),
        (place.outputs["Instances"], join.inputs[0]),
        (join.outputs[0], out.inputs[0]),
    ):
        tree.links.new(source, target)
    obj.modifiers.new("Beside", "NODES").node_group = tree


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
def test_what_blender_makes_a_mesh_of_is_checked_once(part: Part, kind: str) -> None:
    def read() -> Any:
        subject = read_input(part, ignore_parents=False)
        return sorted(obj.name for obj in subject.objects), [skipped.reason for skipped in subject.skipped]

    name = add(kind).name
    assert read() == ([name], [])
    assert check(instances=False, ignore_parents=False) == []
    assert summary()["skipped"] == []
    # In an instance of a collection too.
    if kind != "META":  # those melt together with others of their family, wherever these are
        inside = bpy.data.collections.new("Inside")
        inside.objects.link(bpy.context.object)
        bpy.context.scene.collection.objects.unlink(bpy.context.object)
        empty = bpy.data.objects.new("Empty", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", inside
        bpy.context.scene.collection.objects.link(empty)
        assert read() == ([f"{name} [0] of Empty"], [])


@pytest.mark.parametrize("kind", ["FONT", "CURVE"])
def test_instances_that_a_text_or_a_curve_makes_are_checked_beside_it(part: Part, kind: str) -> None:
    obj = add(kind)
    with_instances(obj)
    cube("A", (10.0, 0.0, 0.0))
    cube("B", (15.0, 0.0, 0.0))
    cube("C", (0.5, 0.0, 0.0))
    found = check(ignore_parents=False)
    name = obj.name
    assert names(found) == {("A", f"{name} [0.0.1] of {name}"), ("B", f"{name} [0.1.1] of {name}"), ("C", name)}


# --- what a check leaves out ------------------------------------------------------------------------------------------


def test_no_hull_is_made_of_what_has_nothing_near(part: Part) -> None:
    scene_pairs = part("blender_addon.check.scene")
    for k, x in enumerate((0.0, 10.0, 20.0, 21.5, 30.0)):
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=1.0 + 0.01 * k, location=(x, 0.0, 0.0))
        bpy.context.object.name = f"{k}"
    bpy.ops.mesh.primitive_torus_add(location=(0.0, 20.0, 0.0))
    subject = read_input(part)
    told: list[float] = []
    (found,) = scene_pairs.check(subject, told.append).clashes
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert {subject.objects[found.a].name, subject.objects[found.b].name} == {"2", "3"}
    assert {obj.name for obj in subject.objects if "hull" in vars(obj.geometry)} == {"2", "3"}
    for name in "23":
        bpy.data.objects.remove(bpy.data.objects[name])
    scene_pairs.check(read_input(part), told.append)
    assert told[-1] == 1.0, "where there is nothing to look at, too"


@pytest.mark.parametrize("kind", ["AUTOMATIC", "CONVEX_HULL", "MESH", "COMPOUND", "SPHERE", "CAPSULE", "BOX"])
def test_bounds_hold_what_a_thing_collides_as(part: Part, kind: str) -> None:
    """Known from vertices, from hulls made before, or from one hull for many things, they are the same."""
    candidates = part("blender_addon.check.candidates")
    rng = np.random.default_rng(5)
    ring("Ring", (0.0, 0.0, 0.0))
    bpy.context.object.contact_lens_shape = kind
    mesh = bpy.context.object.data
    for k in range(candidates.MANY + 1):
        obj = bpy.data.objects.new(f"{k:03}", mesh) if k else bpy.context.object
        obj.contact_lens_shape = kind
        obj.matrix_world = Matrix([*(rng.normal(size=(3, 4)) * [1, 1, 1, 10]).tolist(), [0, 0, 0, 1]])
        if k:
            bpy.context.scene.collection.objects.link(obj)
    items = read_input(part).objects
    few = items[:12]
    of_vertices = candidates.bounds_of(few)
    together = candidates.bounds_of(items)
    of_hulls = candidates.bounds_of(few)
    problems = of_vertices[2]
    assert problems == of_hulls[2]
    for k, item in enumerate(few):
        if k in problems:
            continue
        low, high = candidates.WorldShape(item).solid.bounds
        slack = 1e-12 * float(np.abs([low, high]).max())
        assert (of_vertices[0][k] <= low + slack).all()
        assert (of_vertices[1][k] >= high - slack).all()
    for corner in (0, 1):
        np.testing.assert_allclose(of_hulls[corner], of_vertices[corner], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(together[corner][:12], of_vertices[corner], rtol=1e-12, atol=1e-12)


# --- partial results ------------------------------------------------------------------------------------------------


def test_clashes_are_verified_when_that_is_asked_for(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    scene_pairs = part("blender_addon.check.scene")
    for k in range(40):
        cube(f"{k:02}", (1.5 * k, 0.01 * k * (k % 2), 0.0))
    given = read_input(part)
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
    honest = scene_pairs._clash
    monkeypatch.setattr(scene_pairs, "_clash", lambda *given: replace(honest(*given), relation="touching"))
    clash = scene_pairs.check(given, verify=True).clashes[0]
    row = part("blender_addon.report.rows").rows(given.objects, [clash], given.units)[0]
    assert (row["relation"], row["verified"]) == ("penetrating", False)
    assert row["notes"] == ["The result did not pass its own verification (the same relation): please report it"]


def ring(name: str, location: object) -> bpy.types.Object:
    bpy.ops.mesh.primitive_torus_add(major_segments=8, minor_segments=4, location=location)
    bpy.context.object.name = name
    return bpy.context.object


@pytest.mark.parametrize("kind", ["AUTOMATIC", "COMPOUND", "CONVEX_HULL"])
def test_progress_goes_in_small_steps_and_stops_the_check(part: Part, kind: str) -> None:
    scene_pairs = part("blender_addon.check.scene")
    for k in range(12):
        ring(f"Ring {k:02}", (2.2 * k, 0.0, 0.0)).contact_lens_shape = kind
    for k in range(60):
        cube(f"Box {k:02}", (1.5 * k, 20.0, 0.0))
    given = read_input(part)
    fractions = [0.0]
    assert len(scene_pairs.check(given, fractions.append).clashes) == 70
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert np.diff(fractions).max() < 0.3
    for stop in (0.05, 0.3, 0.8):
        assert scene_pairs.check(given, lambda fraction, stop=stop: fraction < stop).partial


def test_a_stopped_check_keeps_what_is_done(part: Part) -> None:
    for k in range(60):
        cube(f"{k:02}", (1.5 * k, 0.0, 0.0))
    scene_pairs = part("blender_addon.check.scene")
    subject = read_input(part)
    for stop in (0.0, 0.1, 0.6, 0.9):
        outcome = scene_pairs.check(subject, lambda share, stop=stop: share < stop)
        assert outcome.partial
        assert len(outcome.clashes) < 59
    check()
    set_status("00", "01", "REVIEWED")
    part("blender_addon.report.scene").store_check(bpy.context.scene, subject, outcome)
    assert summary()["partial"]
    # What was not reached is not resolved.
    assert {f.status for f in settings().findings} == {"ACTIVE", "NEW", "REVIEWED"}
    assert len(settings().findings) == 59


# --- what happens while a check goes on -----------------------------------------------------------------------------


class Checking:
    """Check Scene as its button runs it in a window, the work held until the test says so."""

    def __init__(self, part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
        cls = part("blender_addon.ui.scene_operators").CONTACT_LENS_OT_check_scene
        self.operator, self.window = modal_operator(
            part("blender_addon.ui.background"), cls.steps, monkeypatch, title=cls.title, keeps_partial=True
        )
        assert not cls.poll(bpy.context), "one at a time"
        self.said = self.operator.said

    def end(self) -> None:
        """Let the work end, and take what it found."""
        bpy.context.view_layer.update()
        assert self.operator.modal(self.window, TICK) == {"PASS_THROUGH"}
        self.operator.flow.task.end()
        assert self.operator.modal(self.window, TICK) == {"FINISHED"}
        assert self.window.timers == 0


@pytest.fixture
def checking(part: Part, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Checking]]:
    begun: list[Checking] = []

    def begin() -> Checking:
        begun.append(Checking(part, monkeypatch))
        return begun[-1]

    yield begin
    for each in begun:
        each.operator.cancel(each.window)


def statuses() -> dict[str, tuple[str, str]]:
    """Relation and status of each finding, by the names of its pair."""
    told = {}
    for finding in settings().findings:
        (pair,) = names([finding])
        told["".join(pair)] = finding.relation, finding.status
    return told


def test_a_check_in_a_window_finds_the_same(checking: Callable[[], Checking]) -> None:
    row_of_cubes()
    going = checking()
    assert len(settings().findings) == 0
    going.end()
    assert statuses() == {"AB": ("penetrating", "NEW"), "BC": ("touching", "NEW")}
    assert going.said == ["Scene: 5 objects, 2 clashes (1 penetrating, 1 touching)"]


def test_separating_while_a_check_goes_on_is_not_overwritten_by_what_was_before(
    checking: Callable[[], Checking],
) -> None:
    a, *_ = row_of_cubes()
    cube("F", (40.0, 0.0, 0.0)), cube("G", (41.0, 0.0, 0.0))
    check(touching=False)
    assert statuses() == {"AB": ("penetrating", "NEW"), "FG": ("penetrating", "NEW")}
    going = checking()
    settings().active = next(k for k, finding in enumerate(settings().findings) if names([finding]) == {("A", "B")})
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    assert a.location.x == pytest.approx(-0.5)
    assert statuses()["AB"][1] == "RESOLVED"
    going.end()
    assert statuses() == {"AB": ("penetrating", "RESOLVED"), "FG": ("penetrating", "ACTIVE")}
    assert names([settings().findings[settings().active]]) == {("A", "B")}, "the row stays the one that was clicked"
    assert [summary()[name] for name in ("objects", "candidate_pairs", "checked_pairs")] == [6, 3, 2]
    words = "'A' changed during the check: check the scene again"
    assert [skipped["reason"] for skipped in summary()["skipped"]] == [words]
    assert going.said[-1] == "1 object changed during the check: check the scene again"
    check()
    assert statuses()["AB"][1] == "RESOLVED"
    assert summary()["skipped"] == []


def test_what_is_moved_edited_hidden_or_removed_while_a_check_goes_on_is_not_told_as_current(
    checking: Callable[[], Checking],
) -> None:
    made = {name: cube(name, (1.5 * k, 0.0, 0.0)) for k, name in enumerate("ABCDEFGHJ")}
    made["C"].data = made["C"].data.copy()
    going = checking()
    made["A"].location.y = 7.0
    made["C"].data.vertices[0].co.x -= 0.5
    made["C"].data.update()
    made["E"].hide_set(True)
    bpy.data.objects.remove(made["G"])
    going.end()
    assert set(statuses()) == {"HJ"}
    changed = {skipped["name"] for skipped in summary()["skipped"]}
    assert changed == {"A", "C", "E", "G"}


def test_what_is_moved_or_edited_while_a_check_goes_on_is_not_told_as_current_at_another_frame(
    checking: Callable[[], Checking],
) -> None:
    made = {name: cube(name, (1.5 * k, 0.0, 0.0)) for k, name in enumerate("ABCDEFGHJKLMN")}
    made["C"].data = made["C"].data.copy()
    made["N"].keyframe_insert("location", frame=1)
    made["N"].location.y = 9.0
    made["N"].keyframe_insert("location", frame=5)
    inside = bpy.data.collections.new("Inside")
    inside.objects.link(cube("Part"))
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Part"])
    one, two = instance_of(inside, "One", (0.0, 20.0, 0.0)), instance_of(inside, "Two", (1.5, 20.0, 0.0))
    bpy.context.scene.frame_set(1)
    going = checking()
    made["A"].location.y = 7.0
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(5)
    made["C"].data.vertices[0].co.x -= 0.5
    made["C"].data.update()
    made["E"].contact_lens_shape = "SPHERE"
    made["G"].location.y = 7.0
    one.location.y = 21.0
    bpy.data.objects.remove(made["J"])
    select(made["L"])
    going.end()
    assert set(statuses()) == {"KL", "LM", "MN"}, "what is animated is told as it was at the frame"
    changed = {skipped["name"] for skipped in summary()["skipped"]}
    assert changed == {"A", "C", "E", "G", "J", "Part [0] of One"}
    assert (summary()["frame"], summary()["objects"]) == (1, 15 - 6)
    assert going.said[0] == "Scene: 9 objects, 3 clashes (3 penetrating), 6 not checked, at frame 1"
    # Back at its frame, what was only touched is known to be as it was.
    going = checking()
    bpy.context.scene.frame_set(1)
    two.location.y += 1.0
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(5)
    two.location.y -= 1.0
    going.end()
    assert (summary()["frame"], summary()["skipped"]) == (5, [])


def test_what_is_moved_while_another_scene_is_shown_is_not_told_as_current(checking: Callable[[], Checking]) -> None:
    a, *_ = row_of_cubes()
    going = checking()
    a.location.y = 7.0
    bpy.context.view_layer.update()
    going.window.scene = bpy.data.scenes.new("Other")
    going.end()
    assert statuses() == {"BC": ("touching", "NEW")}
    assert [skipped["name"] for skipped in summary()["skipped"]] == ["A"]


def test_compound_parents_and_instances_are_known_to_be_unchanged(checking: Callable[[], Checking]) -> None:
    _one, two = two_instances()
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Part"])
    parent = chair()
    cube("In the Seat", (0.0, 0.0, 0.3), size=0.5)
    inside = bpy.data.collections.new("Chairs")
    copy = chair()
    for obj in (copy, *copy.children):
        inside.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    instance_of(inside, "Other", (0.0, 5.0, 0.0))
    bpy.context.view_layer.update()
    going = checking()
    going.end()
    assert summary()["skipped"] == []
    assert len(statuses()) == 2
    going = checking()
    parent.children[0].scale.x *= 1.5
    two.location.z += 0.5
    going.end()
    assert {skipped["name"] for skipped in summary()["skipped"]} >= {"Chair", "Part [0] of Two"}
    assert {status for _, status in statuses().values()} == {"NEW"}, "nothing new is said of them"


# --- the list -------------------------------------------------------------------------------------------------------


def test_going_through_the_list_selects_and_inspects_each_pair(part: Part) -> None:
    row_of_cubes()
    check()
    session = part("blender_addon.check.session")
    assert {f.row()["verified"] for f in settings().findings} == {None}
    assert bpy.ops.contact_lens.go_to_finding() == {"FINISHED"}
    assert settings().findings[settings().active].row()["verified"] is True
    assert {obj.name for obj in bpy.context.selected_objects} == {"A", "B"}
    assert session.current(bpy.context).contact.depth == pytest.approx(0.5)
    bpy.ops.contact_lens.go_to_finding()
    assert {obj.name for obj in bpy.context.selected_objects} == {"B", "C"}
    bpy.ops.contact_lens.go_to_finding()  # round
    assert {obj.name for obj in bpy.context.selected_objects} == {"A", "B"}
    bpy.ops.contact_lens.previous_finding()
    assert {obj.name for obj in bpy.context.selected_objects} == {"B", "C"}
    check()
    assert settings().active >= 0, "the same finding stays the active one"
    assert names([settings().findings[settings().active]]) == {("B", "C")}


def test_filter_and_sort(part: Part) -> None:
    order = part("blender_addon.check.results").order
    row_of_cubes()
    found = check(clearance=0.02)

    def listed() -> list[str]:
        return ["".join(sorted(n for p in names([found[k]]) for n in p)) for k in order(settings())]

    assert listed() == ["AB", "BC", "CD"]
    settings().search = "a"
    assert listed() == ["AB"]
    settings().search = ""
    settings().show_relation = "WITHIN_CLEARANCE"
    assert listed() == ["CD"]
    settings().show_relation = "ALL"
    settings().sort = "OBJECT"
    assert listed() == ["AB", "BC", "CD"]
    grouped = part("blender_addon.check.results").grouped
    assert [grouped(settings(), k) for k in order(settings())] == [("B (2)", "A"), ("", "C"), ("C (1)", "D")]
    settings().sort = "AREA"
    assert grouped(settings(), 0) is None
    assert listed()[-1] == "CD"
    found[0].status = "APPROVED"
    settings().show_approved = False
    assert "AB" not in listed()
    for sort in ("NAME", "RELATION", "STATUS", "DEPTH"):
        settings().sort = sort
        assert sorted(listed()) == ["BC", "CD"]


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
    bpy.context.view_layer.update()
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    assert finding.status == "RESOLVED", "told apart by the settings of the check"
    settings().touching = True
    assert [f.row()["relation"] for f in check()] == ["touching", "touching"]


def test_undo_takes_the_list_back() -> None:
    row_of_cubes()
    bpy.ops.ed.undo_push()
    check()
    bpy.ops.ed.undo_push()
    assert len(settings().findings) == 2
    bpy.ops.ed.undo()
    assert len(settings().findings) == 0
    bpy.ops.ed.redo()
    assert len(settings().findings) == 2


# --- what is shown of a finding -------------------------------------------------------------------------------------


def test_a_clash_of_instances_is_inspected_as_one_of_objects_is(part: Part) -> None:
    _one, two = two_instances()
    check()
    bpy.ops.contact_lens.go_to_finding()
    assert {obj.name for obj in bpy.context.selected_objects} == {"One", "Two"}
    session, isolation = part("blender_addon.check.session"), part("blender_addon.ui.isolation")
    inspection = session.current(bpy.context)
    assert inspection.of_instances
    assert inspection.contact.depth == pytest.approx(0.5)
    assert inspection.verification.ok
    assert (inspection.name_a, inspection.name_b) == ("Part [0] of One", "Part [0] of Two")
    data = part("blender_addon.report.pair").report(bpy.context)
    assert data["objects"]["b"]["name"] == "Part [0] of Two"
    shown = isolation.current(bpy.context)
    assert [len(surface.triangles) for surface in shown.surfaces] == [12, 12]
    two.location.x += 0.25
    bpy.context.view_layer.update()
    assert session.stale_reason(bpy.context) == "'Two' has moved"
    assert isolation.steps(bpy.context, shown)[1][:3, 3] == pytest.approx([0.25, 0.0, 0.0])
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert session.current(bpy.context).contact.depth == pytest.approx(0.25)
    assert session.stale_reason(bpy.context) == ""
    bpy.data.objects["Part"].data.vertices[0].co.z += 0.5
    bpy.data.objects["Part"].data.update()
    bpy.context.view_layer.update()
    assert session.is_stale(bpy.context)
    with pytest.raises(RuntimeError, match="An instance cannot be moved"):
        bpy.ops.contact_lens.separate()
    with pytest.raises(RuntimeError, match="make it real"):
        bpy.ops.contact_lens.separate_finding()
    assert bpy.ops.contact_lens.inspect() == {"FINISHED"}
    assert session.current(bpy.context).of_instances
    select(cube("A", (50.0, 0.0, 0.0)), cube("B", (51.0, 0.0, 0.0)))
    assert bpy.ops.contact_lens.inspect() == {"FINISHED"}
    assert not session.current(bpy.context).of_instances


def test_the_rest_stands_back_only_while_the_pair_is_selected(part: Part, tmp_path: Path) -> None:
    """It changes nothing in the file or the view, so nothing has to be put back."""
    a, b, c, _d, _e = row_of_cubes()
    c.data = c.data.copy()
    exhibit = part("blender_addon.ui.isolation")

    def look_at_first() -> None:
        settings().active = -1
        bpy.ops.contact_lens.go_to_finding()
        assert exhibit.current(bpy.context) is not None

    def state() -> list[Any]:
        spaces = [s for w in bpy.data.screens for area in w.areas for s in area.spaces if s.type == "VIEW_3D"]
        shading = [(s.shading.show_xray, s.shading.xray_alpha, s.shading.type, s.local_view) for s in spaces]
        return [shading, [(o.display_type, o.hide_get(), tuple(o.color), o.show_in_front) for o in bpy.data.objects]]

    before = state()
    check()
    look_at_first()
    assert state() == before
    assert {obj.name for obj in bpy.context.selected_objects} == {"A", "B"}

    a.select_set(False)
    assert exhibit.current(bpy.context) is None
    look_at_first()
    bpy.ops.contact_lens.clear_findings()
    assert exhibit.current(bpy.context) is None
    check()
    look_at_first()
    b.data.vertices[0].co.x += 0.1
    b.data.update()
    bpy.context.view_layer.update()
    assert exhibit.current(bpy.context) is None, "the surface is another one now"
    look_at_first()
    bpy.ops.ed.undo_push(message="one")
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.ed.undo_push(message="two")
    look_at_first()
    bpy.ops.ed.undo()
    assert exhibit.current(bpy.context) is None
    look_at_first()
    bpy.data.objects.remove(bpy.data.objects["A"])
    assert exhibit.current(bpy.context) is None
    check()
    look_at_first()
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert exhibit.current(bpy.context) is None
    assert state()[0] == before[0]
    assert len(settings().findings) > 0


def gpu_picture(part: Part) -> ModuleType:
    """The module that draws pictures; the test is skipped where there is no GPU."""
    picture = part("blender_addon.draw.picture")
    try:
        picture.start_gpu()
    except picture.GpuUnavailable as error:
        pytest.skip(str(error))
    return picture


def test_the_pair_is_drawn_over_a_faded_view(part: Part, tmp_path: Path) -> None:
    snapshot, exhibit = gpu_picture(part), part("blender_addon.draw.isolated_pair")
    two_instances()
    cube("Wall", (10.75, -4.0, 0.0), size=5.0)  # hides both from the front
    check()
    bpy.ops.contact_lens.go_to_finding()
    shown = part("blender_addon.ui.isolation").current(bpy.context)
    path = tmp_path / "pair.png"
    snapshot.render_isolated(bpy.context, shown, str(path), 320, 200)
    image = bpy.data.images.load(str(path))
    pixels = np.array(image.pixels).reshape(200, 320, 4)[:, :, :3]
    style = part("blender_addon.draw.overlay").style_of(bpy.context)
    for color in (style.look.color_a, style.look.color_b):
        ways = pixels.reshape(-1, 3) / np.maximum(np.linalg.norm(pixels.reshape(-1, 3), axis=1)[:, None], 1e-9)
        paint = (1.0 - exhibit.TINT) * exhibit.GREY + exhibit.TINT * np.array(color[:3])
        assert (ways @ (paint / np.linalg.norm(paint)) > 0.9995).sum() > 1500, "the surface is seen past the wall"


def test_faces_that_coincide_are_drawn_without_stripes(part: Part) -> None:
    snapshot, exhibit = gpu_picture(part), part("blender_addon.draw.isolated_pair")
    style = part("blender_addon.draw.overlay").style_of(bpy.context)
    session, key_of = part("blender_addon.check.session"), part("blender_addon.data.properties").key_of
    # B is a rod around A, as high and as wide: of A nothing is to be seen.
    a, b = cube("A"), cube("B")
    keys = key_of(a), key_of(b)
    rng = np.random.default_rng(4)
    for _ in range(5):
        turn = Matrix.Rotation(rng.uniform(1.0, 6.0), 4, rng.normal(size=3))
        place = Matrix.Translation(rng.uniform(-20.0, 20.0, 3)) @ turn
        a.matrix_world, b.matrix_world = place, place @ Matrix.Diagonal((3.3, 1.0, 1.0, 1.0))
        bpy.context.view_layer.update()
        inspection = session.inspect(bpy.context, keys, bpy.context.scene.contact_lens.as_settings())
        shown = exhibit.IsolatedPair(inspection)
        view, projection = snapshot.camera(inspection, 1.6)
        offscreen = snapshot.gpu.types.GPUOffScreen(480, 300)
        try:
            with offscreen.bind():
                exhibit.draw_isolated(shown, style, (0.0, 0.0, 0.0), view, projection, (480, 300))
                pixels = snapshot.read_pixels(480, 300).reshape(-1, 3) / 255.0
        finally:
            offscreen.free()
        ways = pixels / np.maximum(np.linalg.norm(pixels, axis=1)[:, None], 1e-9)
        seen = []
        for color in (style.look.color_a, style.look.color_b):
            paint = (1.0 - exhibit.TINT) * exhibit.GREY + exhibit.TINT * np.array(color[:3])
            seen.append(int((ways @ (paint / np.linalg.norm(paint)) > 0.999).sum()))
        assert seen[0] == 0
        assert seen[1] > 5000


class Slow:
    """Going to a finding as in a window, where it takes as long as the test wants."""

    def __init__(self, part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
        self.show = part("blender_addon.ui.open_clash")
        self.go_on = threading.Event()
        report_progress = part("core.progress").report_progress
        inspects = self.show.prepare_inspection

        def slowly(progress: Callable[[float], bool]) -> None:
            for _ in range(1_000):  # were it waited for, it would be done then
                if self.go_on.wait(0.01):
                    break
                report_progress(progress, 0.5)

        def begun(*arguments: object) -> object:
            made = inspects(*arguments)

            class Work(type(made)):
                def __call__(self, progress: Callable[[float], bool]) -> object:
                    slowly(progress)
                    return made(progress) if callable(made) else made

            return Work(**vars(made))

        monkeypatch.setattr(self.show, "prepare_inspection", begun)
        background = part("blender_addon.ui.background")
        monkeypatch.setattr(background, "seconds_to_wait", lambda context: 0.0)
        monkeypatch.setattr(background, "wait_for", lambda flow: None)

    def go(self, first: str, second: str) -> Any:
        """Go to the finding of two things; its job goes on."""
        self.go_on.clear()
        wanted = {first, second}
        labels = [{side["name"] for side in (f.row()["a"], f.row()["b"])} for f in settings().findings]
        settings().active = labels.index(wanted)
        return self.flow.task

    def end(self) -> None:
        """Let the work end, and take it over."""
        bpy.context.view_layer.update()
        self.go_on.set()
        assert self.flow.run(10.0)
        assert self.show.progress_of(bpy.context.scene) is None

    @property
    def flow(self) -> Any:
        return self.show._pending[1]


@pytest.fixture
def slow(part: Part, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    made = Slow(part, monkeypatch)
    yield made
    made.show.drop()


def test_a_pair_that_takes_long_is_selected_at_once_and_another_click_gives_it_up(part: Part, slow: Slow) -> None:
    session, exhibit = part("blender_addon.check.session"), part("blender_addon.ui.isolation")
    row_of_cubes()
    check()
    first = slow.go("A", "B")
    assert {obj.name for obj in bpy.context.selected_objects} == {"A", "B"}
    assert {obj.name for obj in part("blender_addon.data.properties").pair(bpy.context.scene)} == {"A", "B"}
    assert session.current(bpy.context) is exhibit.current(bpy.context) is None
    assert not slow.flow.run(0.0)
    assert slow.show.progress_of(bpy.context.scene) is not None, "it is not done yet"
    second = slow.go("B", "C")
    assert first.wait(10.0), "the first one was cancelled"
    assert not second.wait(0.0)
    slow.end()
    assert {obj.name for obj in bpy.context.selected_objects} == {"B", "C"}
    shown = session.current(bpy.context)
    assert {shown.name_a, shown.name_b} == {"B", "C"}
    assert not session.is_stale(bpy.context)
    assert exhibit.current(bpy.context) is not None
    job = slow.go("A", "B")
    settings().active = -1
    assert job.wait(10.0), "the person left the list"
    job = slow.go("A", "B")
    bpy.ops.contact_lens.clear_findings()
    assert job.wait(10.0)
    assert session.stored(bpy.context.scene) is shown


def test_what_happens_while_a_pair_is_looked_at_is_noticed(part: Part, slow: Slow) -> None:
    session, exhibit = part("blender_addon.check.session"), part("blender_addon.ui.isolation")
    a, b, c, d, _ = row_of_cubes()
    b.data = b.data.copy()
    check()
    slow.go("A", "B")
    b.location.x -= 0.25
    slow.end()
    assert session.is_stale(bpy.context)
    assert not np.allclose(exhibit.steps(bpy.context, exhibit.current(bpy.context)), np.eye(4))
    slow.go("A", "B")
    b.data.vertices[0].co.x += 0.5
    b.data.update()
    slow.end()
    assert session.stale_reason(bpy.context) == "objects changed during the inspection"
    assert exhibit.current(bpy.context) is None, "its surface is another one now"
    slow.go("B", "C")
    before = session.stored(bpy.context.scene)
    bpy.context.scene.contact_lens.object_b = d
    slow.end()
    assert session.stored(bpy.context.scene) is before, "the person picked another pair"
    slow.go("B", "C")
    bpy.data.objects.remove(c)
    slow.end()
    assert session.current(bpy.context) is None
    slow.go("A", "B")
    a.hide_set(True)
    slow.end()
    assert "hidden" in session.error(bpy.context)


def test_separating_a_pair_that_is_still_looked_at(part: Part, slow: Slow) -> None:
    session = part("blender_addon.check.session")
    a, *_ = row_of_cubes()
    check(touching=False)
    slow.go("A", "B")
    assert bpy.ops.contact_lens.separate_finding(moves="A") == {"FINISHED"}
    assert a.location.x == pytest.approx(-0.5)
    finding = settings().findings[settings().active]
    assert finding.status == "RESOLVED"
    shown = session.current(bpy.context)
    assert str(shown.contact.relation) == "touching"
    slow.end()
    assert session.current(bpy.context) is shown, "what was found of the place before is not told"
    assert not session.is_stale(bpy.context)
    assert finding.status == "RESOLVED"


def test_pairs_within_the_clearance_are_shown_as_such(part: Part) -> None:
    session = part("blender_addon.check.session")
    row_of_cubes()
    check(clearance=0.02)
    settings().active = next(k for k, f in enumerate(settings().findings) if f.relation == "within_clearance")
    shown = session.current(bpy.context)
    assert (str(shown.contact.relation), {shown.name_a, shown.name_b}) == ("within_clearance", {"C", "D"})
    two_instances(2.015)
    check()
    settings().active = next(k for k, f in enumerate(settings().findings) if f.instance_a)
    contact = session.current(bpy.context).contact
    assert str(contact.relation) == "within_clearance"
    assert contact.signed_distance == pytest.approx(0.015, abs=1e-6)
