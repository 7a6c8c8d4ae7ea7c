# SPDX-License-Identifier: GPL-3.0-or-later
"""The report: plain data with everything in it, lines in the scene's units, JSON, the clipboard."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from .reports import load_report, pair_report
from .scenes import cube, inspect, lens, lines, mesh_object, notes, one_line, refresh, save_scene, torus

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def report() -> ModuleType:
    return lens.report.pair


def test_report_has_everything_and_survives_json(report: ModuleType) -> None:
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    data = lens.operators.pair_operators.report_of(bpy.context)
    assert pair_report() == data
    assert (data["schema"], data["schema_version"]) == ("contact-lens-report", 1)
    assert (data["objects"]["a"]["name"], data["objects"]["b"]["name"]) == ("A", "B")
    assert data["objects"]["a"]["hull"] == {"vertices": 8, "edges": 12, "facets": 6, "rank": 3, "extent": 12.0**0.5}
    assert data["stale"] is None
    assert data["units"]["numbers_in"] == "blender_units"
    contact = data["contact"]
    assert contact["relation"] == "penetrating"
    assert contact["lower_bound"] <= contact["signed_distance"] <= contact["upper_bound"]
    assert contact["signed_distance"] == pytest.approx(-0.5)
    assert contact["mtv"] == pytest.approx([0.5, 0.0, 0.0])
    region = contact["region"]
    assert region["kind"] == "polygon"
    assert len(region["vertices"]) == len(region["depths"]) == len(region["features"]) == 4
    for of_a, of_b in region["features"]:
        assert region["features_of_a"][of_a]["vertices"]
        assert region["features_of_b"][of_b]["vertices"]
    assert region["area"] == pytest.approx(1.8 * 1.9, rel=1e-6)
    assert data["verify"]["ok"]
    assert all(check["ok"] for check in data["verify"]["checks"])


def test_faces_of_many_sides_make_no_huge_report(report: ModuleType) -> None:
    bpy.ops.mesh.primitive_cylinder_add(vertices=400, radius=1.0)
    a = bpy.context.object
    bpy.ops.mesh.primitive_cylinder_add(vertices=400, radius=1.0, location=(0.3, 0.2, 1.9))
    inspect(a, bpy.context.object)
    data = pair_report()
    assert len(data["contact"]["region"]["vertices"]) > 300
    assert len(report.to_json(data)) < 400_000


def test_separated_pair_has_no_region(report: ModuleType) -> None:
    inspect(cube("A"), cube("B", (5.0, 0.0, 0.0)))
    assert pair_report()["contact"]["region"] is None
    shown = lines()
    assert shown["Gap"] == "3 m"
    assert not {"Depth", "Move B By", "Center", "Area", "Length", "Regions"} & set(shown)


def test_no_result_is_told(report: ModuleType) -> None:
    with pytest.raises(LookupError, match="run Inspect Contact first"):
        report.report(bpy.context)


def point(name: str, location: tuple[float, float, float]) -> bpy.types.Object:
    return mesh_object(name, [(0.0, 0.0, 0.0)], (), location, "CONVEX_HULL")


def test_one_is_not_many() -> None:
    inspect(point("A", (0.0, 0.0, 0.0)), point("B", (0.0, 0.0, 0.0)))
    shown = lines()
    assert shown["Regions"] == "1 point"
    inspect(mesh_object("C", [(0, 0, 0), (1, 0, 0)], kind="CONVEX_HULL"), cube("D", (0.5, 0.0, 0.0), 0.4))
    shown = lines()
    assert not any(" 1 " in f" {text}" and text.endswith("s") for text in shown.values() if "%" not in text)


def test_coordinates_too_coarse_for_an_answer_are_told() -> None:
    a, b = cube("A", (1e6, 0.0, 0.0)), cube("B", (1e6 + 0.5, 0.0, 0.0), 0.2)
    inspect(a, b)
    text = "The coordinates of 'B' are too coarse for its size (0.25 m): move the objects closer to the world origin"
    assert notes() == [text]
    assert one_line().endswith(" (coordinates too coarse)")
    b.scale = (20.0, 20.0, 20.0)
    inspect(a, b)
    assert notes() == ["Blender stores these coordinates to 0.25 m, which is used as the tolerance"]
    assert "too coarse" not in one_line()


def test_report_names_the_file_and_the_frame(report: ModuleType, tmp_path: Path) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    bpy.context.scene.frame_set(7)
    inspect(a, b)
    data = pair_report()
    assert (data["file"], data["frame"]) == (None, 7)
    save_scene(tmp_path / "crash test.blend")
    bpy.context.scene.frame_set(8, subframe=0.5)
    data = pair_report()
    assert (data["file"], data["frame"], data["stale"]) == ("crash test.blend", 8.5, None), "nothing has changed"
    bpy.context.scene.contact_lens.clearance = 0.25
    bpy.context.scene.frame_set(9)
    data = pair_report()
    assert data["stale"]
    assert data["frame"] == 7, "a result that is out of date is of its own frame"


def test_two_boxes_are_tested_along_axes() -> None:
    inspect(cube("A", kind="BOX"), cube("B", (1.5, 0.0, 0.0), kind="BOX"), method="SAT")
    assert (lines()["Method"], lines()["Axes"]) == ("SAT", "12"), "three products are of parallel edges"


def test_save_json(report: ModuleType, tmp_path: Path) -> None:
    inspect(cube("Würfel"), cube("B", (1.5, 0.0, 0.0)))
    path = tmp_path / "contact.json"
    assert bpy.ops.contact_lens.save_json(filepath=str(path)) == {"FINISHED"}
    assert load_report(path) == lens.operators.pair_operators.report_of(bpy.context)


def test_save_json_is_off_without_a_result() -> None:
    assert not bpy.ops.contact_lens.save_json.poll()


def test_save_json_proposes_the_objects_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operators = lens.operators.pair_operators
    opened: list[Any] = []
    context = SimpleNamespace(
        scene=bpy.context.scene, window_manager=SimpleNamespace(fileselect_add=opened.append), blend_data=bpy.data
    )
    inspect(cube("Würfel.001"), cube("left/right: <B>?", (1.5, 0.0, 0.0)))
    save = operators.CONTACT_LENS_OT_save_json
    operator = SimpleNamespace(filepath="", default_path=lambda context: save.default_path(operator, context))
    save.invoke(operator, context, None)
    assert operator.filepath == "Würfel.001 left_right_ _B__ contact.json"
    assert opened == [operator]
    save_scene(tmp_path / "scene.blend")
    assert operators.path_beside_file("A" * 200, " .. ") == str(tmp_path / f"{'A' * 60} _ contact.json")
    (tmp_path / operators.path_beside_file("A" * 200, 'a\\b\n"c"|*')).touch()
    (tmp_path / operators.path_beside_file("日本語" * 30, "\N{ROCKET}" * 60)).touch()


def test_save_json_says_why_it_cannot(tmp_path: Path) -> None:
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    with pytest.raises(RuntimeError, match=r"The report cannot be saved: .*: there is no folder"):
        bpy.ops.contact_lens.save_json(filepath=str(tmp_path / "no folder" / "contact.json"))


def test_copy_puts_every_line_on_the_clipboard(report: ModuleType) -> None:
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    assert bpy.ops.contact_lens.copy() == {"FINISHED"}
    if bpy.app.background:  # no clipboard without a window: that the text is the report's is checked in a window
        return
    text = "".join(
        f"{name}\t{value}\n" for name, value in lens.report.pair_lines.report_lines(report.inspected(bpy.context))
    )
    assert bpy.context.window_manager.clipboard == text


def test_dent_and_openness_are_warned_about(report: ModuleType) -> None:
    ring = torus("Torus")
    bpy.ops.mesh.primitive_uv_sphere_add(location=(1.5, 0.0, 0.0))
    inspect(ring, bpy.context.object)
    (depth,) = notes()
    found = pair_report()["contact"]
    units = lens.data.units.UnitFormat()
    least = units.length(-found["upper_bound"], rounding="down", digits=3)
    most = units.length(found["depth"], rounding="up", digits=3)
    assert 0.4 < -found["upper_bound"] < found["depth"] < 0.75
    assert f"moving by {most} separates them, moving by less than {least} does not" in depth
    assert lines()["Proved"] == f"{least.removesuffix(' m')} to {most}"
    ring.contact_lens_shape = "CONVEX_HULL"
    refresh()
    (warning,) = notes()
    assert "'Torus' is not convex: its convex hull is used, concavity" in warning
    assert "% of the hull is empty" in warning
    closed = cube("Whole", (0.5, 0.0, 0.0)).data
    faces = [tuple(face.vertices) for face in closed.polygons][:-1]
    open_box = mesh_object("Open", [v.co for v in closed.vertices], faces, (0.5, 0.0, 0.0), "CONVEX_HULL")
    inspect(cube("Closed"), open_box)
    assert notes() == ["'Open' has no surface on 17 % of its convex hull: the hull is used"]
    assert not pair_report()["objects"]["b"]["convex"]
    assert one_line().endswith("(as convex hull and convex hull)")


def test_the_hole_of_a_flat_ring_is_told() -> None:
    rim = [(r * cos(pi * i / 32), r * sin(pi * i / 32), 0.0) for r in (1.0, 0.8) for i in range(64)]
    washer = mesh_object("Washer", rim, [(i, (i + 1) % 64, 64 + (i + 1) % 64, 64 + i) for i in range(64)])
    washer.contact_lens_shape = "CONVEX_HULL"
    inspect(cube("A"), washer)
    (warning,) = notes()
    assert warning.startswith("'Washer' is not convex: its convex hull is used, concavity ")
    assert warning.endswith("64 % of the hull is empty")


def test_a_wire_is_inspected_as_its_hull_where_that_was_chosen() -> None:
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0)
    ring = bpy.context.object
    with pytest.raises(RuntimeError, match=f"'{ring.name}' has no faces, so it has no surface: choose Convex Hull"):
        inspect(cube("A"), ring)
    ring.contact_lens_shape = "CONVEX_HULL"
    inspect(bpy.data.objects["A"], ring)
    assert notes() == [f"'{ring.name}' has no faces: its convex hull is used"]


def test_messages_agree_in_number_and_round_to_nothing_untrue() -> None:
    messages, units = lens.data.messages, lens.data.units.UnitFormat()
    page, faults = lens.page.html_report, lens.read.faults
    pictures, worst = lens.report.pictures, lens.commands.worst_pictures
    counts = {"hidden": 1, "excluded": 0, "rendered": 1}
    hidden = {"left_out": counts, "settings": {"visibility": "viewport"}, "ignored_pairs": {}, "skipped": []}
    pieces = SimpleNamespace(pieces=[None], reason="it is open", distance=0.1, outside=0.02)
    ending = "its surface is within 0.1 m of the piece's, which reaches up to 0.02 m outside of it"
    deep = ["penetrating"] * 2 + ["a_inside_b", "coincident"]
    mild = ["within_clearance", "touching", "touching"]
    changes = {"new": ["touching", "penetrating"], "deeper": ["touching"]}
    sentences = {
        messages.relation_counts([]): "0 clashes",
        messages.relation_counts(mild + deep): "4 penetrating (1 inside, 1 coincident), 2 touching, 1 within clearance",
        messages.relation_counts({"b_inside_a": 1, "a_inside_b": 1_000, "touching": 0}): "1,001 inside",
        messages.since_baseline(changes, 0, 0): "2 new (1 touching), 1 deeper since the baseline",
        page._clashes_out_of_date(1, 1, False): "1 of 1 clash is out of date: check the scene again",
        page._clashes_out_of_date(2, 3, True): "2 of 3 clashes are out of date: check the frames again",
        pictures._pictures_of_first(1): "A picture of the first pair",
        pictures._pictures_of_first(1_000): "Pictures of the first 1,000 pairs",
        worst._pictures_of_worst(1, 2, True): "A picture of the worst of 2 pairs, at its worst frame",
        worst._pictures_of_worst(2, 2, True): "A picture of each pair, at its worst frame",
        worst._pictures_of_worst(20, 1_000, True): "Pictures of the worst 20 of 1,000 pairs, each at its worst frame",
        worst._pictures_of_worst(20, 1_000, False): "Pictures of the worst 20 of 1,000 pairs",
        lens.study.volumes._volumes_drawn(1, 2): "1 of 2 volumes is drawn",
        messages.what_is_left_out([hidden]): "left out: 1 object hidden (rendered)",
        messages.pieces("A", pieces, units): f"'A' is approximated by 1 convex piece (it is open): {ending}",
        faults._missing_file(""): "has no file",
        faults._missing_cache("", "Cache"): "has no cache file (Cache)",
        messages.percent(0.99999): "more than 99 %",
        messages.percent(1.0): "100 %",
    }
    assert list(sentences) == list(sentences.values())
