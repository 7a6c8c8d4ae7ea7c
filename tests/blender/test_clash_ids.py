# SPDX-License-Identifier: GPL-3.0-or-later
"""Ids of clashes: the same at every check of a file, whatever order, machine and names it has."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import run_json, save_report
from .scenes import block, cube, geometry_nodes, lens, link, mesh_object, open_scene, save_scene
from .test_scene_check import check, finding_of, row_of_cubes, settings

pytestmark = pytest.mark.usefixtures("empty_scene")


def ids(checked: dict[str, Any]) -> dict[tuple[str, str], str]:
    """The id of each finding of a check, by the names of its pair."""
    return {tuple(sorted(row[side]["name"] for side in "ab")): row["id"] for row in checked["findings"]}  # type: ignore


def found_in(file: Path, *arguments: object) -> dict[tuple[str, str], str]:
    _, document = run_json(file, *arguments)
    return ids(document["checks"][0])


def listed() -> dict[tuple[str, str], str]:
    """Those of the list, as a report that the user saves has them."""
    folder = Path(bpy.app.tempdir)
    return ids(save_report(folder / "listed.json")["checks"][0])


def cubes_made_in(order: str, path: Path, **places: float) -> Path:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for name in order:
        cube(name, (places[name], 0.0, 0.0))
    return save_scene(path)


def test_ids_are_short_and_differ_within_a_check(tmp_path: Path) -> None:
    for k in range(40):
        cube(f"Cube {k}", (0.1 * k, 0.0, 0.0))
    found = found_in(save_scene(tmp_path / "scene.blend"))
    assert len(set(found.values())) == len(found) > 300
    assert all(len(known) == 12 and known.isalnum() and known == known.lower() for known in found.values())


def test_ids_do_not_depend_on_the_order_of_objects_or_sides(tmp_path: Path) -> None:
    first = found_in(cubes_made_in("ABC", tmp_path / "first.blend", A=0.0, B=1.5, C=3.4))
    swapped = found_in(cubes_made_in("CBA", tmp_path / "other.blend", A=0.0, B=1.5, C=3.4))
    assert first.keys() == {("A", "B"), ("B", "C")}
    assert swapped == first
    swapped = found_in(tmp_path / "first.blend", "--object", "C")
    assert swapped == {("B", "C"): first["B", "C"]}, "nor on the other clashes of the check"


def test_ids_are_the_same_on_another_machine(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    row_of_cubes()
    found = found_in(save_scene(tmp_path / "here" / "scene.blend"))
    shutil.copytree(tmp_path / "here", tmp_path / "there" / "project")
    assert found_in(tmp_path / "there" / "project" / "scene.blend") == found
    assert found == {("A", "B"): "vfusp33mcfix", ("B", "C"): "dddpiilvdvmu"}, "nor with another version"


def test_ids_stay_where_clashes_move_or_change(tmp_path: Path) -> None:
    row_of_cubes()
    before = found_in(save_scene(tmp_path / "scene.blend"))
    a = bpy.data.objects["A"]
    a.location.x = 0.3
    a.contact_lens_shape = "SPHERE"
    assert found_in(save_scene(tmp_path / "scene.blend")) == before


def test_the_list_keeps_ids_of_renamed_objects(tmp_path: Path) -> None:
    a, b, *_ = row_of_cubes()
    check()
    before = listed()
    a.name, b.name = "Zebra", "A"
    renamed = {("A", "Zebra"): before["A", "B"], ("A", "C"): before["B", "C"]}
    assert listed() == renamed
    check()
    assert listed() == renamed, "by the next check too"
    file = save_scene(tmp_path / "scene.blend")
    assert found_in(file) == renamed, "and where the file is checked from a terminal"
    open_scene(file)
    check()
    assert listed() == renamed, "and when it is loaded again"


def test_a_new_object_does_not_take_the_id_of_a_renamed_one() -> None:
    a, *_ = row_of_cubes()
    check()
    before = listed()
    a.name = "Zebra"
    cube("A", (0.2, 0.0, 0.0))
    check()
    found = listed()
    assert found["B", "Zebra"] == before["A", "B"]
    assert len(set(found.values())) == len(found) == 4
    again = listed()
    check()
    assert listed() == again


def test_a_clash_of_a_deleted_object_keeps_its_id() -> None:
    a, *_ = row_of_cubes()
    check()
    before = listed()
    bpy.data.objects.remove(a)
    cube("A")
    check()
    (gone,) = (finding for finding in settings().findings if finding.status == "RESOLVED")
    assert gone.row()["id"] == before["A", "B"]
    assert finding_of("B", "C").row()["id"] == before["B", "C"]
    (other,) = (f for f in settings().findings if f.status == "NEW")
    assert other.row()["id"] not in before.values(), "it is another clash"


def test_a_clash_looked_at_alone_keeps_its_id() -> None:
    a, *_ = row_of_cubes()
    check()
    before = listed()
    settings().active = 0
    a.location.x = 0.2
    bpy.context.view_layer.update()
    bpy.ops.contact_lens.go_to_finding()
    assert listed() == before


def test_instances_have_ids_of_their_own(tmp_path: Path) -> None:
    points = mesh_object("Points", [(0.0, 0.0, 0.0), (1.75, 0.0, 0.0), (3.5, 0.0, 0.0)])
    kinds = "GeometryNodeInstanceOnPoints", "GeometryNodeObjectInfo"
    connect, own, out, scatter, info = geometry_nodes(points, *kinds)
    info.inputs[0].default_value = cube("Source", (0.0, 0.0, 30.0))
    connect(own.outputs[0], scatter.inputs["Points"])
    connect(info.outputs["Geometry"], scatter.inputs["Instance"])
    connect(scatter.outputs[0], out.inputs[0])
    before = found_in(save_scene(tmp_path / "scene.blend"))
    assert len(set(before.values())) == len(before) == 2
    bpy.data.objects["Points"].location.x = 5.0
    assert found_in(save_scene(tmp_path / "scene.blend")) == before


def library_with(path: Path, size: float) -> Path:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    block("Cube", (size, size, size))
    return save_scene(path)


@pytest.mark.parametrize("folders", [("left", "right")])
def test_linked_objects_of_one_name_have_ids_of_their_own(tmp_path: Path, folders: tuple[str, str]) -> None:
    home = tmp_path / "here"
    names = [home / folder / "parts.blend" for folder in folders]
    for k, path in enumerate(names):
        library_with(path, 2.0 + k)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    cube("Cube")
    file = save_scene(home / "scene.blend")
    for path in names:
        (linked,) = link(path, objects=["Cube"]).objects
        bpy.context.scene.collection.objects.link(linked)
    save_scene(file)
    _, document = run_json(file)
    rows = document["checks"][0]["findings"]
    found = {row["id"]: frozenset(row[side]["library"] for side in "ab") for row in rows}
    assert len(found) == len(rows) == 3
    libraries = {None, "left/parts.blend", "right/parts.blend"}
    assert set(found.values()) == {frozenset(libraries - {one}) for one in libraries}
    shutil.copytree(home, tmp_path / "another" / "machine")
    shutil.rmtree(home)
    _, document = run_json(tmp_path / "another" / "machine" / "scene.blend")
    assert {row["id"] for row in document["checks"][0]["findings"]} == found.keys()


def test_a_library_is_named_by_its_file(tmp_path: Path) -> None:
    library = library_with(tmp_path / "lib" / "parts.blend", 2.0)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    cube("Cube")
    file = save_scene(tmp_path / "scene.blend")
    (linked,) = link(library, objects=["Cube"]).objects
    bpy.context.scene.collection.objects.link(linked)
    _, document = run_json(save_scene(file))
    (row,) = document["checks"][0]["findings"]
    assert {row[side]["library"] for side in "ab"} == {None, "parts.blend"}
    (tmp_path / "moved").mkdir()
    shutil.move(library, tmp_path / "moved" / "parts.blend")
    open_scene(file)
    bpy.data.libraries[0].filepath = "//moved/parts.blend"
    save_scene(file)
    _, document = run_json(file)
    assert [again["id"] for again in document["checks"][0]["findings"]] == [row["id"]]


def test_lists_of_files_saved_earlier_have_ids_of_names() -> None:
    row_of_cubes()
    check()
    before = listed()
    (table,) = settings().tables
    data = json.loads(table.text)
    del data["ids"]
    for side in data["sides"]:
        for name in ("library", "instancer_library", "geometry", "place"):
            del side[name]
    table.text, table.digest = json.dumps(data), "earlier"
    assert listed() == before
    (row,) = (row for row in save_report(Path(bpy.app.tempdir) / "old.json")["checks"][0]["findings"][:1])
    assert [row[side][name] for side in "ab" for name in ("library", "geometry", "place")] == [None] * 6


def test_both_sides_say_what_and_where_they_are(tmp_path: Path) -> None:
    row_of_cubes()
    _, document = run_json(save_scene(tmp_path / "scene.blend"))
    (ab, bc) = document["checks"][0]["findings"]
    assert ab["a"]["geometry"] == ab["b"]["geometry"] == bc["b"]["geometry"], "the same cube"
    assert len({side["place"] for side in (ab["a"], ab["b"], bc["b"])}) == 3
    assert ab["b"] == bc["a"]
    assert 0.0 < ab["resolution"] < 1e-5


def test_a_hundred_thousand_clashes_have_different_ids() -> None:
    made = lens.scene.clash_ids.derived
    assert len({made(f"Brick {k}", f"Brick {k + step}") for k in range(25_000) for step in (1, 2, 3, 4)}) == 100_000
