# SPDX-License-Identifier: GPL-3.0-or-later
"""A check compared with an earlier report: what is new, what is another, what is gone, and what is not known."""

from __future__ import annotations

import copy
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest

from ..conftest import FRESH_SEED
from .reports import load_report, outputs, run
from .scenes import (
    adopt,
    animate,
    collection_of,
    cube,
    fresh,
    geometry_nodes,
    instance_of,
    lens,
    link,
    mesh_object,
    open_scene,
    rigid_body,
    save_scene,
    sheet,
)
from .test_scene_check import check as check_in_panel
from .test_scene_check import two_instances

pytestmark = pytest.mark.usefixtures("empty_scene")


class Compared:
    """A check that is compared with a baseline: its exit code and its report."""

    def __init__(self, code: int, document: Any) -> None:
        self.code, self.document = code, document
        self.checks = document["checks"]

    @property
    def changes(self) -> dict[str, str]:
        """How each clash differs, by the names of its pair."""
        return {pair_of(row): row["change"] for row in self.checks[0]["findings"]}

    @property
    def gone(self) -> list[str]:
        return [pair_of(entry) for entry in self.checks[0]["gone"]]

    @property
    def not_compared(self) -> dict[str, str]:
        return {pair_of(entry): entry["reason"] for entry in self.checks[0]["not_compared"]}

    @property
    def ids(self) -> dict[str, str]:
        return {pair_of(row): row["id"] for row in self.checks[0]["findings"]}


def pair_of(row: dict[str, Any]) -> str:
    return " ".join(sorted(row[side]["name"] for side in "ab"))


def row_of_cubes() -> list[bpy.types.Object]:
    """A and B overlap by 0.5, B and C by 0.1; D is far."""
    return [cube(name, (x, 0.0, 0.0)) for name, x in zip("ABCD", (0.0, 1.5, 3.4, 20.0), strict=True)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    row_of_cubes()
    return save_scene(tmp_path / "room.blend")


def baseline_of(file: Path, *arguments: object) -> Path:
    path = file.parent / "old.json"
    run(file, "--json", path, "--quiet", *arguments)
    return path


def compare(file: Path, old: Path, *arguments: object) -> Compared:
    path = file.parent / "new.json"
    code = run(file, "--baseline", old, "--json", path, "--quiet", *arguments)
    return Compared(code, load_report(path))


def edited(file: Path, edit: Callable[[], object]) -> Path:
    """Change the scene and save it."""
    open_scene(file)
    edit()
    return save_scene(file)


def objects() -> Any:
    return bpy.data.objects


def refused(capsys: pytest.CaptureFixture[str], file: Path, old: Path, *arguments: object) -> str:
    """Compare where that cannot be; what is said. Nothing is written."""
    new = file.parent / "new.json"
    new.unlink(missing_ok=True)
    capsys.readouterr()
    assert run(file, "--baseline", old, "--json", new, *arguments) == 2
    assert not new.exists()
    assert list(file.parent.glob("*.partial")) == []
    return capsys.readouterr().err


# --- what changed ---------------------------------------------------------------------------------------------------


def test_the_same_scene_has_the_same_clashes(file: Path) -> None:
    found = compare(file, baseline_of(file), "--fail-on", "new")
    assert found.changes == {"A B": "same", "B C": "same"}
    assert (found.gone, found.not_compared, found.code) == ([], {}, 0)
    assert compare(file, file.parent / "old.json").code == 1, "any clash counts without --fail-on new"


def test_new_deeper_shallower_and_gone(file: Path) -> None:
    old = baseline_of(file)

    def move() -> None:
        objects()["A"].location.x = 0.1
        objects()["D"].location.x = 4.9

    edited(file, move)
    found = compare(file, old, "--fail-on", "new")
    assert found.changes == {"A B": "deeper", "B C": "same", "C D": "new"}
    assert found.code == 1
    by_pair = {pair_of(row): row["baseline_distance"] for row in found.checks[0]["findings"]}
    assert by_pair == {"A B": pytest.approx(-0.5), "B C": pytest.approx(-0.1), "C D": None}
    edited(file, lambda: setattr(objects()["A"].location, "x", -0.2) or setattr(objects()["D"].location, "x", 30.0))
    found = compare(file, old, "--fail-on", "new")
    assert (found.changes, found.code) == ({"A B": "shallower", "B C": "same"}, 0)
    edited(file, lambda: setattr(objects()["A"].location, "x", -5.0))
    found = compare(file, old, "--fail-on", "new")
    assert (found.changes, found.gone, found.not_compared, found.code) == ({"B C": "same"}, ["A B"], {}, 0)


@pytest.mark.parametrize(("x", "change"), [(0.004, "same"), (0.006, "deeper"), (-0.004, "same"), (-0.006, "shallower")])
def test_a_difference_of_a_percent_is_none(file: Path, x: float, change: str) -> None:
    old = baseline_of(file)
    edited(file, lambda: setattr(objects()["A"].location, "x", x))
    assert compare(file, old).changes["A B"] == change


def test_a_difference_below_the_resolution_is_none(tmp_path: Path) -> None:
    """Far from the origin, that of the coordinates of now or of then."""
    for name, x in (("A", 0.0), ("B", 1.9375)):
        cube(name, (1e6 + x, 0.0, 0.0))
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file)
    edited(file, lambda: setattr(objects()["B"].location, "x", 1e6 + 1.875))
    assert compare(file, old).changes == {"A B": "same"}, "a step of single precision is 0.0625 there"
    edited(file, lambda: setattr(objects()["B"].location, "x", 1e6 + 1.0))
    assert compare(file, old).changes == {"A B": "deeper"}


def test_a_gap_that_closes_is_deeper(file: Path) -> None:
    def move(x: float) -> None:
        objects()["D"].location.x = x

    edited(file, lambda: move(5.5))
    old = baseline_of(file, "--clearance", "0.2m")
    edited(file, lambda: move(5.45))
    found = compare(file, old, "--clearance", "0.2m", "--fail-on", "new")
    assert (found.changes["C D"], found.code) == ("deeper", 1)


def test_an_approved_clash_does_not_fail_as_new(file: Path) -> None:
    old = baseline_of(file)

    def approve() -> None:
        objects()["D"].location.x = 4.9
        check_in_panel()
        for finding in bpy.context.scene.contact_lens_check.findings:
            finding.status = "APPROVED"

    edited(file, approve)
    found = compare(file, old, "--fail-on", "new")
    assert (found.changes, found.code) == ({}, 0)
    assert set(found.not_compared.values()) == {"it is ignored: approved pairs"}, "it is still there"
    assert found.gone == []


# --- renames, order, machines ---------------------------------------------------------------------------------------


def test_renamed_objects_are_recognized(file: Path) -> None:
    old = baseline_of(file)
    before = compare(file, old).ids

    def rename() -> None:
        objects()["A"].name, objects()["B"].name = "Left", "Right"

    edited(file, rename)
    found = compare(file, old, "--fail-on", "new")
    assert found.changes == {"Left Right": "same", "C Right": "same"}
    assert found.ids == {"Left Right": before["A B"], "C Right": before["B C"]}
    assert (found.gone, found.code) == ([], 0)


def test_an_object_copied_in_place_is_not_one_renamed(file: Path) -> None:
    old = baseline_of(file)

    def copy() -> None:
        twin = objects()["A"].copy()
        bpy.context.scene.collection.objects.link(twin)
        objects()["A"].location.x = -9.0

    edited(file, copy)
    found = compare(file, old, "--fail-on", "new")
    assert found.changes == {"A.001 B": "new", "B C": "same"}
    assert (found.gone, found.code) == (["A B"], 1)


def copied(name: str, new_name: str = "") -> bpy.types.Object:
    """A copy of an object in its place."""
    twin = objects()[name].copy()
    twin.name = new_name or twin.name
    bpy.context.scene.collection.objects.link(twin)
    return twin


def test_a_copy_does_not_take_the_clash_of_an_object_whose_partner_is_renamed(file: Path) -> None:
    old = baseline_of(file)

    def change() -> None:
        copied("A")
        objects()["A"].location.x = -9.0
        objects()["B"].name = "Base"

    edited(file, change)
    found = compare(file, old, "--fail-on", "new")
    assert found.changes == {"A.001 Base": "new", "Base C": "same"}
    assert (found.gone, found.code) == (["A B"], 1)


def test_a_copy_does_not_take_the_clash_of_an_object_that_is_hidden(file: Path) -> None:
    old = baseline_of(file)
    edited(file, lambda: copied("A") and hide("A"))
    found = compare(file, old, "--fail-on", "new")
    assert (found.changes, found.code) == ({"A.001 B": "new", "B C": "same"}, 1)
    assert (found.gone, found.not_compared) == ([], {"A B": "'A' was not checked"})


def test_two_objects_do_not_take_one_clash_at_different_frames(tmp_path: Path) -> None:
    row_of_cubes()
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file, "--frames", "1-3")

    def change() -> None:
        objects()["A"].name = "One"
        other = copied("One", "Two")
        animate(objects()["One"], "location", f1=(0.0, 0.0, 0.0), f2=(-9.0, 0.0, 0.0), f3=(0.1, 0.0, 0.0))
        animate(other, "location", f1=(-20.0, 0.0, 0.0), f2=(0.0, 0.0, 0.0), f3=(0.2, 0.0, 0.0))

    edited(file, change)
    found = compare(file, old, "--frames", "1-3", "--fail-on", "new")
    changes = [{pair_of(row): row["change"] for row in check["findings"]} for check in found.checks]
    assert changes == [
        {"B One": "deeper", "B C": "same"},
        {"B Two": "new", "B C": "same"},
        {"B One": "deeper", "B Two": "new", "One Two": "new", "B C": "same"},
    ]
    for check in found.checks:
        assert len({row["id"] for row in check["findings"]}) == len(check["findings"])


def test_a_renamed_object_that_moved_away_is_found_by_its_list(file: Path) -> None:
    edited(file, check_in_panel)
    old = baseline_of(file)

    def change() -> None:
        objects()["A"].name = "Left"
        objects()["Left"].location.x = 0.2

    edited(file, change)
    assert compare(file, old).changes == {"B Left": "deeper", "B C": "same"}


def test_the_order_of_objects_and_the_machine_do_not_matter(file: Path, tmp_path: Path) -> None:
    old = baseline_of(file)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for name, x in zip("DCBA", (20.0, 3.4, 1.5, 0.0), strict=True):
        cube(name, (x, 0.0, 0.0))
    (tmp_path / "another" / "machine").mkdir(parents=True)
    there = save_scene(tmp_path / "another" / "machine" / "room.blend")
    found = compare(there, old)
    assert (found.changes, found.gone) == ({"A B": "same", "B C": "same"}, [])


def test_instances_are_compared_too(tmp_path: Path) -> None:
    two_instances()
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file)
    assert list(compare(file, old).changes.values()) == ["same"]

    edited(file, lambda: setattr(objects()["One"], "name", "First"))
    assert list(compare(file, old).changes.values()) == ["same"]

    edited(file, lambda: setattr(objects()["First"].location, "x", -20.0))
    found = compare(file, old)
    assert (found.changes, found.gone) == ({}, ["Part [0] of One Part [0] of Two"])


def test_units_may_be_others_now(file: Path) -> None:
    old = baseline_of(file, "--clearance", "1mm")

    def in_millimeters() -> None:
        bpy.context.scene.unit_settings.length_unit = "MILLIMETERS"

    edited(file, in_millimeters)
    found = compare(file, old, "--clearance", "1mm")
    assert found.changes == {"A B": "same", "B C": "same"}
    assert {row["baseline_distance"] for row in found.checks[0]["findings"]} == {
        row["signed_distance"] for row in found.checks[0]["findings"]
    }
    edited(file, lambda: setattr(objects()["A"].location, "x", -9.0))
    assert compare(file, old, "--clearance", "1mm").gone == ["A B"], "the clearance is the same"


# --- what was not checked is never gone -----------------------------------------------------------------------------


def hide(name: str) -> None:
    objects()[name].hide_set(True)


def rename_and_hide(name: str) -> None:
    objects()[name].name = "Another"
    hide("Another")


def delete(name: str) -> None:
    bpy.data.objects.remove(objects()[name])


def break_mesh(name: str) -> None:
    objects()[name].data.vertices[0].co.x = float("nan")


def exclude(name: str) -> None:
    aside = bpy.data.collections.new("Aside")
    bpy.context.scene.collection.children.link(aside)
    aside.objects.link(objects()[name])
    bpy.context.scene.collection.objects.unlink(objects()[name])
    bpy.context.view_layer.layer_collection.children["Aside"].exclude = True


UNKNOWN = {
    "hidden": (lambda: hide("A"), [], "'A' was not checked"),
    "excluded": (lambda: exclude("A"), [], "'A' was not checked"),
    "renamed and hidden": (lambda: rename_and_hide("A"), [], "'A' is gone or renamed, and 'Another' was not checked"),
    "not readable": (lambda: break_mesh("A"), [], "'A' was not checked"),
    "parented": (lambda: adopt(objects()["A"], objects()["B"]), [], "it is ignored: parent and child"),
    "other scope": (lambda: None, ["--object", "C"], "other settings: scope, object"),
    "less touching": (
        lambda: setattr(objects()["A"].location, "x", -9.0),
        ["--no-touching"],
        "other settings: touching",
    ),
    "other visibility": (
        lambda: setattr(objects()["A"], "hide_render", True),
        ["--visibility", "render"],
        "other settings: visibility",
    ),
}


@pytest.mark.parametrize("why", UNKNOWN)
def test_what_was_not_checked_is_not_gone(file: Path, why: str) -> None:
    old = baseline_of(file)
    edit, arguments, reason = UNKNOWN[why]
    edited(file, edit)
    found = compare(file, old, *arguments)
    assert found.gone == []
    assert found.not_compared["A B"] == reason


def test_what_is_deleted_is_gone(file: Path) -> None:
    old = baseline_of(file)
    edited(file, lambda: delete("A"))
    found = compare(file, old)
    assert (found.gone, found.not_compared) == (["A B"], {})


def furniture(tmp_path: Path, is_linked: bool) -> Path:
    """A chair in the floor, in a collection with a lamp that is far; linked into the scene, or instanced."""
    fresh()
    collection = collection_of("Furniture", cube("Chair", (0.5, 0.0, 0.0)), cube("Lamp", (9.0, 0.0, 0.0)), is_only=True)
    if is_linked:
        bpy.data.libraries.write(str(tmp_path / "library.blend"), {collection})
        fresh()
        save_scene(tmp_path / "room.blend")
        (collection,) = link(tmp_path / "library.blend", collections=["Furniture"]).collections
        bpy.context.scene.collection.children.link(collection)
    else:
        instance_of(collection, "Group")
    cube("Floor")
    return save_scene(tmp_path / "room.blend")


def test_what_was_of_a_library_that_is_missing_is_not_gone(tmp_path: Path) -> None:
    file = furniture(tmp_path, is_linked=True)
    old = baseline_of(file)
    (tmp_path / "library.blend").unlink()
    found = compare(file, old)
    assert (found.gone, found.code) == ([], 3)
    assert found.not_compared == {"Chair Floor": "'Chair' is gone or renamed, and 'Furniture' was not checked"}


def test_what_the_list_knows_of_a_missing_library_is_neither_gone_nor_resolved(tmp_path: Path) -> None:
    file = furniture(tmp_path, is_linked=True)
    edited(file, check_in_panel)
    old = baseline_of(file)
    (tmp_path / "library.blend").unlink()
    found = compare(file, old)
    assert (found.gone, list(found.not_compared)) == ([], ["Chair Floor"])
    open_scene(file)
    assert [finding.status for finding in check_in_panel()] == ["NEW"]


def test_a_list_whose_pair_is_one_object_now_is_no_fault(file: Path) -> None:
    edited(file, check_in_panel)
    old = baseline_of(file)
    edited(file, lambda: objects()["A"].user_remap(objects()["B"]))
    found = compare(file, old)
    assert (found.gone, found.changes, found.code) == (["A B"], {"B C": "same"}, 1)


def test_an_instance_of_a_child_that_is_excluded_is_neither_gone_nor_resolved(tmp_path: Path) -> None:
    """It is shown in another instance, but not on the vertices of its parent."""
    child = cube("Child", (0.0, 0.0, 0.0), size=0.5)
    child_on_vertices(child)
    instance_of(collection_of("Shown", child), "Far", (50.0, 0.0, 0.0))
    bpy.context.scene.collection.objects.unlink(child)
    cube("Floor", (1.0, 1.0, 0.0))
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file)
    on_sheet = [pair_of(row) for row in load_report(old)["checks"][0]["findings"] if "of Sheet" in pair_of(row)]
    assert on_sheet

    def change() -> None:
        bpy.context.view_layer.layer_collection.children["Shown"].exclude = True

    edited(file, change)
    assert compare(file, old).gone == []


INSIDE = {
    "hidden": (
        lambda: setattr(objects()["Chair"], "hide_viewport", True),
        "'Chair [0] of Group' is gone or renamed, and 'Chair' was not checked",
    ),
    "not readable": (lambda: break_mesh("Chair"), "'Chair [0] of Group' was not checked"),
}


@pytest.mark.parametrize("is_listed", [False, True])
@pytest.mark.parametrize("why", INSIDE)
def test_an_instance_that_was_not_checked_is_not_gone(tmp_path: Path, why: str, is_listed: bool) -> None:
    file = furniture(tmp_path, is_linked=False)
    if is_listed:
        edited(file, check_in_panel)
    old = baseline_of(file)
    edit, reason = INSIDE[why]
    edited(file, edit)
    found = compare(file, old)
    assert found.gone == []
    assert list(found.not_compared) == ["Chair [0] of Group Floor"]
    assert is_listed or list(found.not_compared.values()) == [reason]


def renamed_and_moved() -> bpy.types.Object:
    """A, which still cuts B."""
    obj = objects()["A"]
    obj.name, obj.location.x = "A2", 0.1
    return obj


def without_faces(obj: bpy.types.Object) -> None:
    obj.data.clear_geometry()
    obj.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [])
    obj.contact_lens_shape = "MESH"


def put_into_a_hidden_instance() -> None:
    instance_of(collection_of("Inside", objects()["A"], is_only=True), "Group")
    objects()["A"].hide_viewport = True


def compound_of(*parts: bpy.types.Object) -> None:
    parent = cube("Parent", (0.0, 0.0, 50.0))
    adopt(parent, *parts)
    for obj in parts:
        rigid_body(obj, "BOX")
    rigid_body(parent, "COMPOUND")


def nudged_to_an_edge() -> None:
    renamed_and_moved().location = (-0.5, 2.0, 0.0)


ELSEWHERE = {
    "adopted": (lambda: adopt(objects()["B"], renamed_and_moved()), [], "it is ignored: parent and child"),
    "in its collection": (
        lambda: collection_of("K", renamed_and_moved(), objects()["B"]),
        ["--ignore", "collections"],
        "it is ignored: same collection",
    ),
    "barely touching": (nudged_to_an_edge, ["--least-contact", "face"], "it is ignored: smaller touches"),
    "without faces": (lambda: without_faces(renamed_and_moved()), [], "'A2' was not checked"),
    "in a hidden instance": (put_into_a_hidden_instance, [], "'A' was not checked"),
    "a part beside it": (
        lambda: compound_of(renamed_and_moved(), objects()["B"]),
        ["--ignore", "none"],
        "it is checked as a part of a compound parent",
    ),
    "parts both": (
        lambda: compound_of(objects()["A"], objects()["B"]),
        ["--ignore", "none"],
        "it is checked as a part of a compound parent",
    ),
}


@pytest.mark.parametrize("why", ELSEWHERE)
def test_what_may_be_something_else_now_is_not_gone(file: Path, why: str) -> None:
    """A has another name and place, and its pair with B was not compared."""
    edit, arguments, reason = ELSEWHERE[why]
    old = baseline_of(file, *arguments)
    edited(file, edit)
    found = compare(file, old, *arguments)
    assert found.gone == []
    assert found.not_compared["A B"] == reason


def to_a_wire(obj: bpy.types.Object) -> None:
    without_faces(obj)
    obj.contact_lens_shape = "CONVEX_HULL"


def test_a_wire_that_collided_as_its_hull_is_not_gone(file: Path) -> None:
    """Also under another name; what was never one is gone, whatever wires there are."""
    edited(file, lambda: to_a_wire(objects()["A"]))
    old = baseline_of(file)
    edited(file, lambda: setattr(objects()["A"], "contact_lens_shape", "AUTOMATIC"))
    found = compare(file, old)
    assert (found.gone, found.not_compared) == ([], {"A B": "'A' was not checked"})
    edited(file, lambda: setattr(objects()["A"], "name", "Path"))
    found = compare(file, old)
    assert (found.gone, found.not_compared) == ([], {"A B": "'Path' was not checked"})
    wire = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    edited(file, lambda: mesh_object("Where C Was", wire, location=objects()["C"].location))
    edited(file, lambda: objects().remove(objects()["C"]))
    found = compare(file, old)
    assert (found.gone, found.not_compared) == (["B C"], {"A B": "'Path' was not checked"})


def test_an_instance_of_a_wire_that_collided_as_its_hull_is_not_gone(file: Path) -> None:
    def instances() -> None:
        to_a_wire(objects()["A"])
        instance_of(collection_of("Rig", objects()["A"], objects()["D"], is_only=True), "Rig")

    edited(file, instances)
    old = baseline_of(file)
    edited(file, lambda: setattr(objects()["A"], "contact_lens_shape", "AUTOMATIC"))
    found = compare(file, old)
    assert found.gone == []
    assert list(found.not_compared.values()) == ["'A [0] of Rig' was not checked"]


def test_of_one_instancer_a_wire_is_kept_in_the_list_and_what_is_gone_is_resolved() -> None:
    cube("Wall")
    wire, crate, far = cube("Wire"), cube("Crate"), cube("Far", (50.0, 0.0, 0.0))
    instance_of(collection_of("Rig", wire, crate, far, is_only=True), "Rig", (0.5, 0.0, 0.0))
    to_a_wire(wire)
    assert {finding.status for finding in check_in_panel(ignore_parents=False)} == {"NEW"}
    wire.contact_lens_shape = "AUTOMATIC"
    bpy.data.collections["Rig"].objects.unlink(crate)
    statuses = {pair_of(finding.row()): finding.status for finding in check_in_panel(ignore_parents=False)}
    assert statuses["Wall Wire [0] of Rig"] == "NEW"
    assert statuses["Crate [1] of Rig Wall"] == "RESOLVED"


def test_a_clash_whose_partner_cannot_be_read_is_not_gone(file: Path) -> None:
    """Whatever has become of the other."""
    old = baseline_of(file)

    def change() -> None:
        renamed_and_moved()
        without_faces(objects()["B"])

    edited(file, change)
    found = compare(file, old)
    assert (found.gone, found.not_compared["A B"]) == ([], "'B' was not checked")


def table(at: float) -> None:
    """A compound of two cubes that has no clash."""
    legs = cube("Leg", (at, 0.0, 0.0), size=0.3), cube("Other Leg", (at, 1.0, 0.0), size=0.3)
    parent = cube("Table", (at, 0.0, 9.0))
    adopt(parent, *legs)
    for leg in legs:
        rigid_body(leg, "BOX")
    rigid_body(parent, "COMPOUND")


def asset() -> None:
    """A collection that nothing uses."""
    collection_of("Assets", cube("Asset"), is_only=True).use_fake_user = True


@pytest.mark.parametrize("beside", [lambda: table(60.0), asset], ids=["a compound", "an unused collection"])
def test_what_is_deleted_is_gone_whatever_is_beside_it(file: Path, beside: Callable[[], None]) -> None:
    edited(file, beside)
    old = baseline_of(file)
    edited(file, lambda: delete("A"))
    found = compare(file, old)
    assert (found.gone, found.not_compared) == (["A B"], {})


def test_what_is_deleted_from_one_of_two_collections_is_gone(file: Path) -> None:
    def sides() -> None:
        for name in "CD":
            objects()[name].data.vertices[0].co.z -= 0.1
        collection_of("X", objects()["A"], objects()["D"])
        collection_of("Y", objects()["B"], objects()["C"])

    edited(file, sides)
    old = baseline_of(file, "--collections", "X", "Y")
    edited(file, lambda: delete("A"))
    assert compare(file, old, "--collections", "X", "Y").gone == ["A B"]


def test_a_part_that_is_checked_by_itself_is_looked_at(tmp_path: Path) -> None:
    table(0.0)
    cube("Crate", (0.3, 0.0, 0.0), size=0.5)
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file, "--object", "Leg")
    edited(file, lambda: setattr(objects()["Crate"].location, "x", 50.0))
    found = compare(file, old, "--object", "Leg")
    assert (found.gone, found.not_compared) == (["Crate Leg"], {})


def test_what_has_moved_to_the_side_of_its_partner_is_not_gone(file: Path) -> None:
    def sides() -> None:
        collection_of("X", objects()["A"], objects()["D"])
        collection_of("Y", objects()["B"], objects()["C"])

    edited(file, sides)
    arguments = ("--collections", "X", "Y")
    old = baseline_of(file, *arguments)

    def change() -> None:
        bpy.data.collections["Y"].objects.link(renamed_and_moved())
        bpy.data.collections["X"].objects.unlink(objects()["A2"])

    edited(file, change)
    found = compare(file, old, *arguments, "--allow-empty")
    assert (found.gone, found.not_compared) == ([], {"A B": "the check covers other objects"})


def child_on_vertices(child: bpy.types.Object) -> None:
    parent = sheet("Sheet", location=(0.0, 0.0, 0.0))
    adopt(parent, child)
    parent.instance_type = "VERTS"


def children_of_nodes(child: bpy.types.Object) -> None:
    link_nodes, _, out, info = geometry_nodes(mesh_object("Host", [(0, 0, 0)]), "GeometryNodeCollectionInfo")
    info.inputs["Collection"].default_value = collection_of("Inside", child, is_only=True)
    link_nodes(info.outputs[0], out.inputs[0])


@pytest.mark.parametrize("make", [child_on_vertices, children_of_nodes])
@pytest.mark.parametrize("name", ["Child", "Other"])
def test_instances_of_what_is_hidden_are_not_gone(tmp_path: Path, make: Callable[[Any], None], name: str) -> None:
    """Whatever makes them, and whatever it is called now."""
    make(cube("Child", (0.5, 0.0, 0.0)))
    cube("Floor", (1.0, 1.0, 0.0))
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file, "--ignore", "none")
    of_child = [pair_of(row) for row in load_report(old)["checks"][0]["findings"] if "Child [" in pair_of(row)]
    assert of_child

    def change() -> None:
        objects()["Child"].hide_viewport = True
        objects()["Child"].name = name

    edited(file, change)
    found = compare(file, old, "--ignore", "none")
    assert found.gone == []
    assert set(of_child) <= set(found.not_compared)


def test_an_instance_that_is_no_longer_made_is_gone(tmp_path: Path) -> None:
    """Others of its source are."""
    child_on_vertices(cube("Child", (0.0, 0.0, 0.0), size=0.5))
    cube("Floor", (1.0, 1.0, 0.0))
    file = save_scene(tmp_path / "room.blend")
    old = baseline_of(file)
    (lost,) = (
        row
        for row in load_report(old)["checks"][0]["findings"]
        if "Child [" in pair_of(row) and "Floor" in pair_of(row)
    )

    def change() -> None:
        mesh = objects()["Sheet"].data
        number = int(lost["a" if "Child" in lost["a"]["name"] else "b"]["instance"])
        corners = [vertex.co[:] for vertex in mesh.vertices]
        corners[number] = (-5.0, -5.0, 9.0)
        mesh.clear_geometry()
        mesh.from_pydata(corners, [], [])

    edited(file, change)
    assert pair_of(lost) in compare(file, old).gone


def test_a_report_is_not_written_over_its_baseline(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = baseline_of(file)
    before = old.read_bytes()
    assert run(file, "--baseline", old, "--json", file.parent / "." / old.name) == 2
    assert "this is the baseline: write the report to another file" in capsys.readouterr().err
    assert old.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="paths begin otherwise")
def test_a_path_may_begin_with_two_slashes(file: Path) -> None:
    old = baseline_of(file)
    assert set(compare(Path(f"/{file}"), old).changes.values()) == {"same"}


def test_of_two_renamed_copies_in_one_place_a_hidden_one_is_not_gone(file: Path) -> None:
    edited(file, lambda: copied("A", "Twin"))
    old = baseline_of(file)

    def change() -> None:
        objects()["A"].name, objects()["Twin"].name = "One", "Two"
        hide("Two")

    edited(file, change)
    found = compare(file, old)
    assert found.gone == []
    assert set(found.not_compared) == {"A Twin", "B Twin"}
    assert all(reason.endswith("'Two' was not checked") for reason in found.not_compared.values())


def test_a_smaller_clearance_says_nothing_of_gaps(file: Path) -> None:
    edited(file, lambda: setattr(objects()["D"].location, "x", 5.5))
    old = baseline_of(file, "--clearance", "0.2m")
    found = compare(file, old)
    assert (found.gone, found.not_compared) == ([], {"C D": "other settings: clearance"})


def test_a_stopped_check_says_nothing_of_what_it_did_not_reach(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = baseline_of(file)
    scene = lens.scene.scene_check

    def stopped(run_: Any, pairs: Any, progress: Any) -> None:
        raise scene.Cancelled

    monkeypatch.setattr(scene._RunningCheck, "check_pairs", stopped)
    found = compare(file, old)
    assert (found.gone, set(found.not_compared.values())) == ([], {"the check was stopped"})


def test_files_that_are_not_checked_are_named(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "hall.blend")
    old = tmp_path / "old.json"
    run(file, tmp_path / "hall.blend", "--json", old, "--quiet")
    found = compare(file, old)
    assert found.changes == {"A B": "same", "B C": "same"}
    (entry,) = found.document["baseline"]["not_compared"]
    assert (entry["file"], entry["clashes"], entry["reason"]) == ("hall.blend", 2, "this file was not checked")


def test_files_of_one_name_are_compared_by_their_folders(file: Path, tmp_path: Path) -> None:
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        shutil.copy(file, tmp_path / folder / "room.blend")
    edited(tmp_path / "left" / "room.blend", lambda: setattr(objects()["A"].location, "x", 0.3))
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    run(tmp_path / "left" / "room.blend", tmp_path / "right" / "room.blend", "--json", old, "--quiet")
    (tmp_path / "moved").mkdir()
    for folder in ("left", "right"):
        shutil.move(tmp_path / folder, tmp_path / "moved" / folder)
    files = [tmp_path / "moved" / folder / "room.blend" for folder in ("right", "left")]
    assert run(*files, "--baseline", old, "--fail-on", "new", "--json", new, "--quiet") == 0


def test_a_file_of_another_folder_is_not_compared_with_one_that_is_left_over(file: Path, tmp_path: Path) -> None:
    def in_folders(*names: str) -> list[Path]:
        paths = [tmp_path / name / "room.blend" for name in names]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            shutil.copy(file, path)
        return paths

    old, new = tmp_path / "old.json", tmp_path / "new.json"
    run(*in_folders("chair", "table"), "--json", old, "--quiet")
    files = in_folders("chair", "lamp")
    assert run(*files, "--baseline", old, "--fail-on", "new", "--json", new, "--quiet") == 1
    document = load_report(new)
    changes = [{row["change"] for row in check["findings"]} for check in document["checks"]]
    assert changes == [{"same"}, {"new"}]
    assert [entry["reason"] for entry in document["baseline"]["not_compared"]] == ["this file was not checked"]


# --- over frames ----------------------------------------------------------------------------------------------------


ONLY_NEW = ("--fail-on", "new", "--allow-fast")


def by_frame(found: Compared) -> dict[int, dict[str, str]]:
    return {check["frame"]: {pair_of(row): row["change"] for row in check["findings"]} for check in found.checks}


def passing() -> None:
    """A stack of S, T and U, in each other at all frames; M passes through S at 3 and 4 and through T at 5."""
    for name, x in zip("STU", (0.0, 0.5, 1.0), strict=True):
        cube(name, (x, 0.0, 0.0))
    mover = cube("M", kind="BOX")
    places = {"f1": 9.0, "f2": 9.0, "f3": -1.9, "f4": -1.8, "f5": 9.0, "f6": 9.0}
    animate(mover, "location", "CONSTANT", **{frame: (x, 0.0, 0.0) for frame, x in places.items()})


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    passing()
    return save_scene(tmp_path / "room.blend")


def test_over_frames_pairs_are_compared_and_not_pairs_at_frames(
    moving: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the first frame for the baseline, only what the animation causes is new."""
    found = compare(moving, baseline_of(moving, "--frames", "1"), "--frames", "4-6,1-3", *ONLY_NEW)
    still = {"S T": "same", "S U": "same", "T U": "same"}
    assert [check["frame"] for check in found.checks] == [4, 5, 6, 1, 2, 3]
    assert by_frame(found) == {frame: still | ({"M S": "new"} if frame in (3, 4) else {}) for frame in range(1, 7)}
    assert all(check["gone"] == check["not_compared"] == [] for check in found.checks)
    frames = [{"file": "room.blend", "scene": "Scene", "frames": [1]}]
    assert (found.document["baseline"]["frames"], found.document["baseline"]["not_compared"]) == (frames, [])
    capsys.readouterr()
    run(moving, "--baseline", moving.parent / "old.json", "--frames", "1-6")
    assert "compared with frame 1 of the baseline: room.blend, Scene" in capsys.readouterr().out
    assert compare(moving, moving.parent / "old.json", "--frames", "1-2", *ONLY_NEW).code == 0


def test_a_pair_is_compared_where_it_is_deepest(moving: Path) -> None:
    old = baseline_of(moving, "--frames", "3")
    found = compare(moving, old, "--frames", "1-6")
    assert {change["M S"] for change in by_frame(found).values() if "M S" in change} == {"deeper"}
    rows = [row for check in found.checks for row in check["findings"] if pair_of(row) == "M S"]
    assert [row["baseline_distance"] for row in rows] == [pytest.approx(-0.1)] * 2
    baseline_of(moving, "--frames", "1-6")
    assert by_frame(compare(moving, old, "--frames", "2-3"))[3]["M S"] == "same", "of frame 4 nothing is known"
    edited(moving, lambda: animate(objects()["M"], "location", "CONSTANT", f4=(-1.9, 0.0, 0.0)))
    found = compare(moving, old, "--frames", "1-6")
    assert {change["M S"] for change in by_frame(found).values() if "M S" in change} == {"shallower"}


OVER_FRAMES = {
    "moved away": (lambda: setattr(objects()["U"].location, "x", 30.0), "1-6", None),
    "moved away, and some frames left out": (
        lambda: setattr(objects()["U"].location, "x", 30.0),
        "2,4",
        "it was found at frames 1-5:2,6, which were not checked",
    ),
    "hidden": (lambda: hide("U"), "1-6", "'U' was not checked"),
    "hidden at two frames": (
        lambda: (
            setattr(objects()["U"].location, "x", 30.0)
            or animate(objects()["U"], "hide_viewport", "CONSTANT", f1=False, f3=True, f5=False)
        ),
        "1-6",
        "at frames 3-4 'U' was not checked",
    ),
}


@pytest.mark.parametrize("why", OVER_FRAMES)
def test_over_frames_gone_is_said_once_and_only_where_all_was_looked_at(moving: Path, why: str) -> None:
    old = baseline_of(moving, "--frames", "1-6")
    edit, frames, reason = OVER_FRAMES[why]
    edited(moving, edit)
    found = compare(moving, old, "--frames", frames)
    pairs = {"S U", "T U"}
    if reason is None:
        assert (set(found.gone), found.not_compared) == (pairs, {})
    else:
        expected = dict.fromkeys(pairs, reason)
        assert (found.gone, {pair: found.not_compared[pair] for pair in pairs}) == ([], expected)
    assert all(check["gone"] == check["not_compared"] == [] for check in found.checks[1:])


def test_what_the_frames_of_another_run_say_is_not_lost(moving: Path) -> None:
    """Frames that the baseline has, and this run has not, nor the other way round."""
    found = compare(moving, baseline_of(moving, "--frames", "1-4"), "--frames", "5-6", *ONLY_NEW)
    assert (set(by_frame(found)[6].values()), found.code, found.gone) == ({"same"}, 0, [])
    assert found.not_compared == {"M S": "it was found at frames 3-4, which were not checked"}


def test_renamed_objects_are_recognized_at_all_frames(moving: Path) -> None:
    old = baseline_of(moving, "--frames", "4-5")
    before = compare(moving, old, "--frames", "1-6").ids

    def rename() -> None:
        objects()["M"].name, objects()["S"].name = "Mover", "Still"

    edited(moving, rename)
    found = compare(moving, old, "--frames", "1-6", *ONLY_NEW)
    assert {change for changes in by_frame(found).values() for change in changes.values()} == {"same"}
    assert found.ids == {"Still T": before["S T"], "Still U": before["S U"], "T U": before["T U"]}
    assert (found.gone, found.not_compared, found.code) == ([], {}, 0)


def test_parts_over_frames_are_compared_as_the_whole_run_is(moving: Path, tmp_path: Path) -> None:
    """Cut at random into frames and shards; and a run is the same as itself."""
    old = baseline_of(moving, "--frames", "6,1-5")
    found = compare(moving, old, "--frames", "1-6", *ONLY_NEW)
    assert {change for changes in by_frame(found).values() for change in changes.values()} == {"same"}
    assert (found.gone, found.not_compared, found.code) == ([], {}, 0)
    assert "frames" not in found.document["baseline"]

    def change() -> None:
        objects()["S"].name = "Still"
        objects()["U"].location.x = 30.0
        animate(objects()["T"], "hide_viewport", "CONSTANT", f1=False, f2=True, f3=False)

    edited(moving, change)
    whole, whole_options = outputs(tmp_path)
    common, random = [moving, "--frames", "5,1-4", "--baseline", old, "--quiet"], Random(FRESH_SEED)
    code = run(*common, *whole_options)
    before = [path.read_bytes() for path in whole.values()]
    document = load_report(whole["json"])
    assert document["baseline"]["frames"][0]["frames"] == [1, 2, 3, 4, 5, 6]
    assert [len(check["gone"]) + len(check["not_compared"]) for check in document["checks"]] == [0, 2, 0, 0, 0]
    for count in (1, random.randint(2, 3)):
        frames = random.sample(range(1, 6), 5)
        cuts = sorted(random.sample(range(1, 5), random.randint(1, 2)))
        parts = []
        for chunk in (frames[a:b] for a, b in pairwise((0, *cuts, 5))):
            for k in range(count):
                parts.append(tmp_path / f"part{len(parts)}.json")
                cut = ["--only-frames", ",".join(map(str, chunk)), "--shard", f"{k + 1}/{count}"]
                assert run(*common, *cut, "--json", parts[-1]) == 0
        random.shuffle(parts)
        assert run("merge", *parts, "--baseline", old, "--quiet", *whole_options) == code
        assert [path.read_bytes() for path in whole.values()] == before


# --- what is refused ------------------------------------------------------------------------------------------------


def changed_report(old: Path, **values: object) -> Path:
    path = old.parent / "changed.json"
    path.write_text(json.dumps({**json.loads(old.read_text(encoding="utf-8")), **values}), encoding="utf-8")
    return path


def test_bad_baselines_are_refused_by_name(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = baseline_of(file)
    data = json.loads(old.read_text(encoding="utf-8"))
    cut = tmp_path / "cut.json"
    cut.write_bytes(old.read_bytes()[:-200])
    assert "cut.json is not a complete JSON report of a check" in refused(capsys, file, cut)
    cut.write_text("[]")
    assert "is not a complete JSON report" in refused(capsys, file, cut)
    cut.write_bytes(b"\xff\xfe")
    assert "is not a complete JSON report" in refused(capsys, file, cut)
    assert "No such file" in refused(capsys, file, tmp_path / "missing.json")
    other = changed_report(old, schema_version=data["schema_version"] + 1)
    assert f"not contact-lens-scene-report {data['schema_version']}" in refused(capsys, file, other)
    assert "has the schema contact-lens" in refused(capsys, file, changed_report(old, schema="contact-lens-contact"))
    part_of_run = changed_report(old, part={"run": {}, "covers": {}})
    assert "changed.json is only a part of a run (merge combines the parts)" in refused(capsys, file, part_of_run)
    assert "is from a check that was stopped" in refused(capsys, file, changed_report(old, partial=True))
    too_large = [{**data["checks"][0], "frame": 10**400}]
    assert "is not a complete JSON report" in refused(capsys, file, changed_report(old, checks=too_large))
    units = data["checks"][0].pop("units")
    assert "is not a complete JSON report" in refused(capsys, file, changed_report(old, checks=data["checks"]))
    data["checks"][0]["units"] = units
    for row in data["checks"][0]["findings"]:
        del row["id"]
    assert "has clashes without ids" in refused(capsys, file, changed_report(old, checks=data["checks"]))


def places_in(value: Any, *before: Any) -> Iterator[tuple[Any, ...]]:
    """Yield where each value is within plain data; of a list only the first is."""
    found = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, inner in found:
        yield (*before, key)
        yield from places_in(inner, *before, key)


def test_an_edited_baseline_is_refused_or_compared_with(file: Path, tmp_path: Path) -> None:
    baseline, reports = lens.history.baseline, lens.report.scene
    criteria = lens.report.criteria
    good = load_report(baseline_of(file))
    check = {**good["checks"][0], "looked_at": {"present": {}, "reasons": {}, "ids": {}}}
    checks = [check, {**check, "findings": []}]
    changed, refusals = tmp_path / "changed.json", 0
    for place in places_in(good):
        for value in (math.nan, 10**400, "\ud800", []):
            document = copy.deepcopy(good)
            within = document
            for key in place[:-1]:
                within = within[key]
            within[place[-1]] = value
            changed.write_text(json.dumps(document), encoding="utf-8")
            try:
                earlier = baseline.Baseline.read(str(changed))
                earlier.begin([str(file)])
                found = [earlier.compared([check])[0] for check in checks]
                earlier.begin([str(file)], [1, 2])
                earlier.compared([checks[0], {**checks[1], "frame": 2}])
            except baseline.BaselineError:
                refusals += 1
                continue
            compared = {**good, "checks": found, "baseline": earlier.record()}
            assert "".join(reports.WRITERS["json"](compared, criteria.Criteria("new"))).encode()
    assert refusals > 100


def test_a_baseline_of_something_else_is_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = baseline_of(file)
    shutil.copy(file, tmp_path / "hall.blend")
    said = refused(capsys, tmp_path / "hall.blend", old)
    assert f"{old} covers room.blend, and none of the files of this run" in said
    bpy.data.scenes.new("Night")
    save_scene(file)
    said = refused(capsys, file, old, "--scene", "Night", "--allow-empty")
    assert f"{old} has the scene 'Scene' of room.blend, not 'Night'" in said
    said = refused(capsys, file, old, "--frames", "7")
    assert f"{old} has frame 1 of room.blend, not frame 7" in said


def test_a_file_that_cannot_be_compared_costs_no_report_of_the_others(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "hall.blend"
    shutil.copy(file, other)
    old = tmp_path / "old.json"
    run(file, other, "--json", old)
    open_scene(other)
    bpy.context.scene.name = "Night"
    save_scene(other)
    new = tmp_path / "new.json"
    assert run(file, other, "--baseline", old, "--json", new) == 2
    assert "hall.blend, not 'Night'" in capsys.readouterr().err
    document = load_report(new)
    assert [check["file"] for check in document["checks"]] == ["room.blend"]
    assert [entry["error"] is None for entry in document["inputs"]] == [True, False]
    assert not list(tmp_path.glob("*.partial"))


def test_new_clashes_need_a_baseline(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file, "--fail-on", "new") == 2
    assert "--fail-on new needs a report to compare with: add --baseline OLD.json" in capsys.readouterr().err


# --- what a person sees ---------------------------------------------------------------------------------------------


def test_all_reports_and_the_terminal_say_what_changed(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = baseline_of(file)

    def change() -> None:
        objects()["A"].location.x = 0.2
        objects()["C"].location.x = 30.0
        objects()["D"].location.x = 30.5

    edited(file, change)
    paths, options = outputs(tmp_path)
    capsys.readouterr()
    assert run(file, "--baseline", old, *options) == 1
    shown = capsys.readouterr().out
    assert "; 1 new, 1 deeper, 1 gone since the baseline" in shown
    assert "deeper: was a depth of 0.5 m" in shown
    assert "new since the baseline" in shown
    assert "gone: B and C: penetrating, a depth of 0.1 m" in shown
    rows = load_report(paths["csv"])
    assert [(row["a"] + row["b"], row["change"], row["relation"]) for row in rows] == [
        ("BC", "gone", "penetrating"),
        ("CD", "new", "penetrating"),
        ("AB", "deeper", "penetrating"),
    ]
    page = paths["html"].read_text(encoding="utf-8")
    assert "1 clash of the baseline is gone" in page
    assert "Deeper: was a depth of 0.5 m" in page
    assert '<p class="since">1 new, 1 deeper, 1 gone since the baseline</p>' in page
    assert page.index("1 clash of the baseline is gone") < page.index("<table")
    assert "New <span>1</span>" in page
    assert "<dt>Baseline</dt><dd>old.json, SHA-256 " in page


def test_without_a_baseline_nothing_is_said_of_one(file: Path, tmp_path: Path) -> None:
    paths, options = outputs(tmp_path)
    run(file, "--quiet", *options)
    document = load_report(paths["json"])
    assert document["baseline"] is None
    assert (document["checks"][0]["gone"], document["checks"][0]["not_compared"]) == (None, None)
    assert {row["change"] for row in document["checks"][0]["findings"]} == {None}
    assert "Baseline" not in paths["html"].read_text(encoding="utf-8")


def test_a_compared_report_is_a_baseline_too(file: Path) -> None:
    old = baseline_of(file)
    edited(file, lambda: setattr(objects()["A"].location, "x", 0.2))
    compare(file, old)
    found = compare(file, (file.parent / "new.json").rename(old), "--fail-on", "new")
    assert (found.changes, found.code) == ({"A B": "same", "B C": "same"}, 0)


# --- parts of a run -------------------------------------------------------------------------------------------------


def test_merged_parts_are_compared_as_the_whole_run_is(file: Path, tmp_path: Path) -> None:
    old = baseline_of(file)

    def change() -> None:
        objects()["A"].name = "Left"
        objects()["C"].location.x = 30.0
        objects()["D"].location.x = 31.9
        cube("E", (1.0, 0.4, 0.0))
        hide("E")

    edited(file, change)
    decisions = tmp_path / "decisions.json"
    entries = [{"a": "C", "b": "D", "status": "reviewed"}]
    entries += [{"id": clash, "status": "ignored"} for clash in ("bbbbbbbbbbbb", "aaaaaaaaaaaa")]
    texts = lens.history.decisions_file.parts(entries)
    decisions.write_text("".join(texts).replace("\n", " "), encoding="utf-8")  # all on one line
    whole, whole_options = outputs(tmp_path)
    common = ["--baseline", old, "--decisions", decisions]
    code = run(file, *common, "--quiet", "--fail-on", "new", *whole_options)
    assert code == 1
    before = [path.read_bytes() for path in whole.values()]
    parts = [tmp_path / f"part{k}.json" for k in range(3)]
    for k, path in enumerate(parts):
        assert run(file, *common, "--shard", f"{k + 1}/3", "--json", path, "--quiet") == 0
    merge = ["merge", *parts, "--quiet", "--fail-on", "new", *whole_options]
    assert run(*merge, "--baseline", old) == code
    assert [path.read_bytes() for path in whole.values()] == before
    document = load_report(whole["json"])
    assert [entry["clash"] for entry in document["decisions"]["unused"]] == ["aaaaaaaaaaaa", "bbbbbbbbbbbb"]


def adopted_and_without_faces() -> None:
    """The pair of A, which has another name and place, is ignored in one shard; that D has no faces, another finds."""
    adopt(objects()["B"], renamed_and_moved())
    objects()["D"].location.x = objects()["C"].location.x + 1.0
    without_faces(objects()["D"])


@pytest.mark.parametrize("first", [0, 1, 2])
def test_what_any_shard_says_of_a_clash_holds_for_all(file: Path, tmp_path: Path, first: int) -> None:
    """In any order of the parts."""
    edited(file, lambda: setattr(objects()["D"].location, "x", 5.3))
    old = baseline_of(file)
    edited(file, adopted_and_without_faces)
    whole = compare(file, old)
    assert (whole.gone, set(whole.not_compared)) == ([], {"A B", "C D"})
    before, parts = (tmp_path / "new.json").read_bytes(), [tmp_path / f"part{k}.json" for k in range(3)]
    for k, path in enumerate(parts):
        assert run(file, "--baseline", old, "--shard", f"{k + 1}/3", "--json", path, "--quiet") == 0
    merge = ["merge", *parts[first:], *parts[:first], "--baseline", old, "--json", tmp_path / "new.json", "--quiet"]
    assert run(*merge) == whole.code
    assert (tmp_path / "new.json").read_bytes() == before


def test_merge_needs_the_baseline_of_the_parts(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, piece = baseline_of(file), tmp_path / "new.json", tmp_path / "part.json"
    run(file, "--shard", "1/1", "--json", piece, "--quiet")
    capsys.readouterr()
    assert run("merge", piece, "--baseline", old, "--json", new) == 2
    assert "repeat --baseline in the command of each" in capsys.readouterr().err
    assert run("merge", piece, "--fail-on", "new", "--json", new) == 2
    assert "--fail-on new needs a report to compare with" in capsys.readouterr().err
    run(file, "--shard", "1/1", "--json", piece, "--quiet", "--baseline", old)
    assert run("merge", piece, "--json", new) == 2
    assert "give it to merge too, with --baseline" in capsys.readouterr().err
    edited(file, lambda: setattr(objects()["A"].location, "x", 0.1))
    other = tmp_path / "other.json"
    run(file, "--json", other, "--quiet")
    assert run("merge", piece, "--baseline", other, "--json", new) == 2
    assert "other.json is not the baseline of the parts" in capsys.readouterr().err
    assert not new.exists()
