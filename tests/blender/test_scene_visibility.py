# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects are checked is an explicit choice: as in the viewport, as in a render, or all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, run, run_json
from .scenes import animate, collection_of, cube, fresh, geometry_nodes, instance_of, link, open_scene, save_scene
from .test_scene_faults import texts_of_panel

pytestmark = pytest.mark.usefixtures("empty_scene")


def checks(scene: Path, *arguments: object) -> list[dict[str, Any]]:
    before = scene.read_bytes()
    _, data = run_json(scene, "--allow-empty", *arguments)
    assert scene.read_bytes() == before, "the file is never saved"
    found: list[dict[str, Any]] = data["checks"]
    return found


def found(check: dict[str, Any]) -> set[frozenset[str]]:
    return {frozenset((row["a"]["name"], row["b"]["name"])) for row in check["findings"]}


def pairs(*names: str) -> set[frozenset[str]]:
    """As in "AB" for A and B."""
    return {frozenset(name) for name in names}


def in_collection(name: str, obj: bpy.types.Object) -> bpy.types.LayerCollection:
    collection = collection_of(name, obj, is_only=True)
    bpy.context.scene.collection.children.link(collection)
    return bpy.context.view_layer.layer_collection.children[name]


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """Seven cubes in one place, each of them hidden in another way, but for A.

    B by the eye, C by the screen, D by the camera only, E in a collection hidden by the screen, F in one hidden from
    renders only, G in an excluded one.
    """
    a, b, c, d, e, f, g = (cube(name) for name in "ABCDEFG")
    assert a
    b.hide_set(True)
    c.hide_viewport = c.hide_render = True
    d.hide_render = True
    in_collection("Off", e).collection.hide_viewport = True
    in_collection("Cut", f).collection.hide_render = True
    in_collection("Out", g).exclude = True
    bpy.ops.object.light_add()
    bpy.context.object.hide_set(True)
    return save_scene(tmp_path / "scene.blend")


def test_each_choice_checks_what_it_names(stack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (viewport,) = checks(stack)
    assert found(viewport) == pairs("AD", "AF", "DF")
    assert (viewport["settings"]["visibility"], viewport["left_out"]) == (
        "viewport",
        {"hidden": 3, "excluded": 1, "rendered": 2},
    )
    (render,) = checks(stack, "--visibility", "render")
    assert found(render) == pairs("AB", "AE", "BE")
    assert render["left_out"] == {"hidden": 3, "excluded": 1, "rendered": 0}
    (everything,) = checks(stack, "--visibility", "all")
    assert len(found(everything)) == 21
    assert everything["left_out"] == {"hidden": 0, "excluded": 0, "rendered": 0}
    capsys.readouterr()
    run(stack)
    counted = "3 objects, 3 coincident; left out: 3 objects"
    assert f"{counted} hidden (2 of them rendered), 1 excluded\n" in capsys.readouterr().out
    run(stack, "--visibility", "render")
    assert f"{counted} not rendered, 1 excluded\n" in capsys.readouterr().out
    run(stack, "--visibility", "all")
    assert "7 objects, 21 coincident\n" in capsys.readouterr().out


def test_what_instances_of_collections_leave_out_is_counted(tmp_path: Path) -> None:
    a, b, c, d = (cube(name) for name in "ABCD")
    b.hide_viewport = True
    d.hide_viewport = d.hide_render = True
    inner = instance_of(collection_of("Inner", c, d, is_only=True), "Inner")
    outer = collection_of("Outer", a, b, inner, is_only=True)
    for name in ("Outer", "Again"):
        instance_of(outer, name)
    scene = save_scene(tmp_path / "scene.blend")
    (check,) = checks(scene)
    assert (check["objects"], check["left_out"]) == (4, {"hidden": 2, "excluded": 0, "rendered": 1})
    (check,) = checks(scene, "--visibility", "all")
    assert (check["objects"], check["left_out"]) == (8, {"hidden": 0, "excluded": 0, "rendered": 0})


def test_an_instancer_that_is_hidden_itself_is_counted(tmp_path: Path) -> None:
    instancer = cube("I")
    cube("Small", size=0.1).parent = instancer
    cube("A", (0.9, 0.0, 0.0), size=0.1)
    instancer.instance_type, instancer.show_instancer_for_viewport = "VERTS", False
    scene = save_scene(tmp_path / "scene.blend")
    (viewport,) = checks(scene)
    assert (found(viewport), viewport["left_out"]) == (set(), {"hidden": 1, "excluded": 0, "rendered": 1})
    for choice in ("render", "all"):
        (check,) = checks(scene, "--visibility", choice)
        assert frozenset("AI") in found(check)
        assert check["left_out"] == {"hidden": 0, "excluded": 0, "rendered": 0}


def test_a_named_collection_that_is_excluded_is_unchecked(stack: Path) -> None:
    (check,) = checks(stack, "--collections", "Out", "Cut")
    told = [entry["reason"] for entry in check["skipped"] if entry["kind"] == "hidden"]
    assert told == ["'G' is excluded from the view layer: include it to check it"]


def test_the_panel_counts_what_is_left_out_and_changes_nothing(stack: Path) -> None:
    open_scene(stack)

    def state() -> list[tuple[object, ...]]:
        return [(obj.name, obj.hide_viewport, obj.hide_render, obj.visible_get()) for obj in bpy.data.objects]

    before = state()
    bpy.ops.contact_lens.check_scene()
    assert state() == before
    assert "Left out: 3 objects hidden (2 of them rendered), 1 excluded" in texts_of_panel()


def test_modifiers_are_those_of_the_render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Subdivided, a cube of 2 m reaches 0.83 m instead of 1 m; made thicker, it reaches 1.5 m.
    round_one = cube("R")
    levels = round_one.modifiers.new("Round", "SUBSURF")
    levels.levels, levels.render_levels = 0, 3
    cube("S", (1.9, 0.0, 0.0))
    thick = cube("T", (10.0, 0.0, 0.0))
    solid = thick.modifiers.new("Thick", "SOLIDIFY")
    solid.thickness, solid.offset, solid.show_viewport = 0.5, 1.0, False
    cube("U", (12.2, 0.0, 0.0))
    cube("V", (30.0, 0.0, 0.0)).modifiers.new("Same", "BEVEL")
    scene = save_scene(tmp_path / "scene.blend")
    (viewport,) = checks(scene)
    assert found(viewport) == pairs("RS")
    assert viewport["differences"] == [
        {"object": "R", "modifier": "Round", "setting": "levels", "viewport": 0, "render": 3},
        {"object": "T", "modifier": "Thick", "setting": "show_viewport", "viewport": False, "render": True},
    ]
    said = (
        "'R': the modifier 'Round' has levels 0 in the viewport and 3 in renders",
        "'T': the modifier 'Thick' is on in renders and off in the viewport",
    )
    (render,) = checks(scene, "--visibility", "render")
    assert (found(render), render["differences"]) == (pairs("TU"), [])
    capsys.readouterr()
    page = tmp_path / "out.html"
    run(scene, "--html", page, "--pictures", 0, "--frames", "1-2")
    told = capsys.readouterr().out
    for words in said:
        assert told.count(f"Differs in renders: {words}\n") == 1
        assert words.replace("'", "&#x27;") in page.read_text(encoding="utf-8")
    bpy.ops.contact_lens.check_scene()
    assert [text for text in texts_of_panel() if text in said] == list(said)


def test_simplify_limits_the_levels_of_both(tmp_path: Path) -> None:
    levels = cube("R").modifiers.new("Round", "SUBSURF")
    levels.levels, levels.render_levels = 1, 3
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision, render.simplify_subdivision_render = True, 1, 1
    (check,) = checks(save_scene(tmp_path / "scene.blend"))
    assert check["differences"] == []
    bpy.context.scene.render.simplify_subdivision_render = 2
    (check,) = checks(save_scene(tmp_path / "scene.blend"))
    assert [(entry["viewport"], entry["render"]) for entry in check["differences"]] == [(1, 2)]
    (check,) = checks(tmp_path / "scene.blend", "--visibility", "render")
    assert check["differences"] == []


def test_what_a_node_does_in_the_viewport_only_is_unchecked_as_for_a_render(tmp_path: Path) -> None:
    group = bpy.data.node_groups.new("Ask", "GeometryNodeTree")
    group.nodes.new("GeometryNodeIsViewport")
    join, own, out, inner = geometry_nodes(cube("A"), "GeometryNodeGroup")
    join(own.outputs[0], out.inputs[0])
    inner.node_tree = group
    scene = save_scene(tmp_path / "scene.blend")
    words = "'A': the modifier 'Nodes' has an Is Viewport node, which is always on in a check"
    (check,) = checks(scene)
    assert [entry["setting"] for entry in check["differences"]] == ["Is Viewport"]
    assert run(scene) == 0
    assert run(scene, "--visibility", "render") == 3
    (check,) = checks(scene, "--visibility", "render")
    assert [(entry["reason"], entry["kind"]) for entry in check["skipped"]] == [(words, "render")]


@pytest.mark.parametrize("animated", ["hide_render", "hide_viewport"])
def test_animated_visibility_is_followed(tmp_path: Path, animated: str) -> None:
    cube("A")
    b = cube("B")
    animate(b, animated, "CONSTANT", f1=False, f3=True, f5=False)
    animate(b, "location", "CONSTANT", f1=(1.0, 0.0, 0.0), f3=(1.2, 0.0, 0.0), f5=(1.4, 0.0, 0.0))
    scene = save_scene(tmp_path / "scene.blend")
    shown = {
        choice: [
            [round(row["depth"], 3) for row in check["findings"]]
            for check in checks(scene, "--frames", "1-6", "--visibility", choice)
        ]
        for choice in ("viewport", "render", "all")
    }
    always = [[1.0], [1.0], [0.8], [0.8], [0.6], [0.6]]
    off = [[1.0], [1.0], [], [], [0.6], [0.6]]
    of_render = animated == "hide_render"
    assert shown == {"viewport": always if of_render else off, "render": off if of_render else always, "all": always}


def test_linked_objects_are_shown_as_in_a_render(tmp_path: Path) -> None:
    seat = cube("S")
    seat.hide_viewport = True
    library = save_scene(tmp_path / "library.blend")
    fresh()
    bpy.context.scene.collection.objects.link(link(library, objects=["S"]).objects[0])
    cube("A", (0.5, 0.0, 0.0))
    scene, before = save_scene(tmp_path / "scene.blend"), library.read_bytes()
    (check,) = checks(scene, "--visibility", "render")
    assert found(check) == pairs("AS")
    assert library.read_bytes() == before


def test_the_open_file_is_changed_in_memory_only(stack: Path, tmp_path: Path) -> None:
    open_scene(stack)
    before, path = stack.read_bytes(), tmp_path / "out.json"
    assert run("--visibility", "all", "--quiet", "--json", path) == 1
    assert len(load_report(path)["checks"][0]["findings"]) == 21
    assert stack.read_bytes() == before
