# SPDX-License-Identifier: GPL-3.0-or-later
"""How far depths are searched: `--depth`, the setting of that name, and what reports say without a depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, outputs, run, run_json
from .scenes import animate, cube, lens, save_scene, torus
from .test_scene_check import activate, check, read_input, settings

pytestmark = pytest.mark.usefixtures("empty_scene")
OF_DEPTH = ("signed_distance", "depth", "normal", "mtv")


@pytest.fixture
def rings(tmp_path: Path) -> Path:
    """Three rings, the first and the last of which are in the middle one, one deeper than the other; and two boxes."""
    for name, at in (("A", (0.0, 0.0, 0.0)), ("B", (1.1, 0.0, 0.0)), ("C", (2.0, 0.0, 0.0))):
        torus(name, at, rotation=(0.5 * at[0], 0.1, 0.2), major_segments=16, minor_segments=6)
    for k in range(2):
        cube(f"Box {k}", (1.5 * k, 9.0, 0.0))
    return save_scene(tmp_path / "rings.blend")


def findings(file: Path, *options: object) -> dict[tuple[str, str], Any]:
    rows = run_json(file, *options)[1]["checks"][0]["findings"]
    return {(row["a"]["name"], row["b"]["name"]): row for row in rows}


def test_without_depths_relations_are_those_with_depths(
    rings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, none = findings(rings), findings(rings, "--depth", "none")
    boxes = ("Box 0", "Box 1")
    assert none.pop(boxes) == first.pop(boxes), "boxes have their depth"
    assert len(none) >= 2
    for pair, row in none.items():
        known = first[pair]
        assert {row[name] for name in ("relation", "intersects")} == {known["relation"], known["intersects"]}
        assert [row[name] for name in OF_DEPTH] == [None] * len(OF_DEPTH)
        assert (row["has_depth"], row["exactness"], row["region"]) == (False, "bounds_only", "curves")
        assert row["lower_bound"] <= known["upper_bound"]
        assert known["lower_bound"] <= row["upper_bound"] < 0.0
        assert row["notes"] == known["notes"][: len(row["notes"])]
    bounds = [row["upper_bound"] for row in none.values()]
    assert bounds == sorted(bounds), "the deepest by what is known are first"
    paths, options = outputs(tmp_path)
    assert run(rings, "--depth", "none", *options) == 1
    text = capsys.readouterr().out
    assert text.count("depths of meshes not searched") == 1
    assert [line for line in text.splitlines() if line.endswith("  B")] == ["  penetrating  A      B"]
    table = load_report(paths["csv"])
    assert [row["depth"] for row in table if row["a"] != "Box 0"] == [""] * len(none)
    page, junit = paths["html"].read_text(encoding="utf-8"), paths["junit"].read_text(encoding="utf-8")
    assert "no depth" not in f"{text}{page}{junit}".casefold()
    assert "Not searched, but of boxes and convex hulls" in page
    assert page.count('<span class="dim">Not searched</span>') == len(none)
    assert 'message="Penetrating"' in junit


def test_what_needs_depths_is_refused_without_them(rings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, told in (
        (["--depth", "none", "--exact"], "--depth none and --exact contradict each other"),
        (["--no-exact", "--depth", "exact"], "contradict each other"),
        (["--depth", "none", "--verify"], "--verify needs the depths"),
        (["--depth", "none", "--frames", "1-2", "--fail-on", "transient"], "--fail-on transient needs the depths"),
        (["--depth", "none", "--baseline", rings, "--fail-on", "new"], "--fail-on new needs the depths"),
    ):
        assert run(rings, *words) == 2, words
        assert told in capsys.readouterr().err
    settings().depth = "NONE"
    save_scene(rings)
    assert run(rings, "--verify") == 2
    assert "--verify needs the depths" in capsys.readouterr().err
    for name in "ABC":  # whose exact depths take long
        bpy.data.objects.remove(bpy.data.objects[name])
    save_scene(rings)
    assert run(rings, "--depth", "exact", "--exact", "--fail-on", "never") == 0


def test_files_of_an_earlier_version_keep_their_exact_depths() -> None:
    assert settings().depth == "FIRST"
    settings().exact = True  # what such a file has
    assert settings().depth == "EXACT"
    for depth in ("NONE", "FIRST", "EXACT"):
        settings().depth = depth
        assert (settings().depth, settings().as_rules(bpy.context).depth) == (depth, depth.lower())


def test_parts_of_one_depth_are_merged(rings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [tmp_path / f"{k}.json" for k in (1, 2)]
    for k, path in enumerate(parts, 1):
        assert run(rings, "--depth", "none", "--shard", f"{k}/2", "--json", path, "--quiet") == 0
    whole = run_json(rings, "--depth", "none")[1]["checks"][0]["findings"]
    assert run("merge", *parts, "--json", tmp_path / "merged.json", "--quiet") == 1
    assert load_report(tmp_path / "merged.json")["checks"][0]["findings"] == whole
    assert run("merge", *parts, "--fail-on", "transient") == 2
    assert run(rings, "--shard", "2/2", "--json", parts[1], "--quiet") == 0
    assert run("merge", *parts) == 2
    assert "depth" in capsys.readouterr().err


def test_without_depths_a_baseline_compares_relations(
    rings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.json"
    for before, now in (("first", "none"), ("none", "first")):
        assert run(rings, "--depth", before, "--json", old, "--quiet") == 1
        found = findings(rings, "--depth", now, "--baseline", old)
        assert {row["change"] for row in found.values()} == {"same"}
        run(rings, "--depth", now, "--baseline", old)
        assert "by relation where no depth was searched" in capsys.readouterr().out
    change, clash_of = lens.history.baseline._change, lens.history.baseline._Clash.of_row
    row = {**found["A", "B"], "signed_distance": 0.0, "upper_bound": 0.0}
    for relation, wanted in (("touching", "deeper"), ("within_clearance", "deeper"), ("a_inside_b", "same")):
        before = clash_of({**row, "relation": relation}, 1.0, 1.0, None)
        assert change(before, None, [found["A", "B"]], 0, 1.0) == wanted


def test_over_frames_pairs_without_a_depth_are_permanent_by_their_relation(rings: Path) -> None:
    animate(bpy.data.objects["A"], "location", f1=(0.0, 0.0, 0.0), f3=(0.2, 0.0, 0.0))
    save_scene(rings)
    for depth, permanent in (("none", True), ("first", False)):
        (over,) = run_json(rings, "--depth", depth, "--frames", "1-3")[1]["over_frames"]
        (pair,) = (pair for pair in over["clashes"] if (pair["a"], pair["b"]) == ("A", "B"))
        assert (pair["permanent"], pair["signed_distance"] is None) == (permanent, depth == "none")


def test_depths_are_searched_last_and_the_deepest_first(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene_pairs, stopped = lens.scene.scene_check, []
    given = read_input()
    whole = [clash for clash in scene_pairs.check(given).clashes if clash.reason]
    none = scene_pairs.check(read_input(depth="none")).clashes
    deepest = min((clash for clash in none if not clash.has_depth), key=lambda clash: clash.upper_bound)
    check_pair = scene_pairs.check_pair

    def searched(*args: Any) -> Any:
        stopped.append(True)
        return check_pair(*args)

    monkeypatch.setattr(scene_pairs, "check_pair", searched)
    found = scene_pairs.check(given, lambda fraction: len(stopped) < 2)
    assert found.partial
    assert len(stopped) == 2, "the second is stopped"
    assert [(clash.a, clash.b) for clash in found.clashes if clash.has_depth and clash.reason] == [
        (deepest.a, deepest.b)
    ]
    assert {(clash.a, clash.b) for clash in found.clashes} >= {(clash.a, clash.b) for clash in whole}


def two_meshes(shape: str = "MESH") -> None:
    for k in range(2):
        cube(f"{k}", (1.5 * k, 0.0, 0.0)).contact_lens_shape = shape


@pytest.mark.parametrize("shape", ["MESH", "COMPOUND"])
def test_a_picture_shows_no_depth_that_was_not_searched(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_meshes(shape)
    drawn: dict[str, Any] = {}

    def draw(context: bpy.types.Context, inspection: Any, path: str, *size: object) -> None:
        drawn[depth] = inspection.contact
        Path(path).write_bytes(b"PNG")

    monkeypatch.setattr(lens.report.pictures, "render_isolated", draw)
    file = save_scene(tmp_path / "two.blend")
    for depth in ("first", "none"):
        run(file, "--depth", depth, "--html", tmp_path / "page.html", "--quiet")
        assert lens.layers.overlay_geometry.has_vector(drawn[depth]) == (depth == "first")
    assert drawn["none"].relation == drawn["first"].relation


def test_a_clash_without_a_depth_gets_it_when_it_is_opened() -> None:
    two_meshes()
    [finding] = check(depth="NONE")
    panel, units = lens.ui.scene_panel, lens.data.units.UnitFormat.of_scene(bpy.context.scene)
    assert not finding.has_depth
    assert panel._number(settings(), finding, units) == ""
    assert "no depth" not in finding.tooltip
    assert not finding.is_at_most
    a, b = (finding.label(letter) for letter in "ab")
    activate(a, b)
    row = finding.row()
    assert (finding.is_refined, row["has_depth"], row["depth"] > 0.0) == (True, True, True)


def test_an_approval_without_a_depth_holds_until_depths_are_searched_and_says_why() -> None:
    two_meshes()
    [finding] = check(depth="NONE", ignore_approved=False)
    assert not finding.has_depth
    finding.status = "APPROVED"
    for depth, wanted in (("NONE", "APPROVED"), ("FIRST", "CHANGED")):
        [finding] = check(depth=depth)
        assert finding.status == wanted
    assert finding.row()["notes"][0].startswith("Approved at an intersection without depth, now a depth of ")


def test_large_meshes_are_related_in_groups_that_the_cache_keeps(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene_pairs, asked = lens.scene.scene_check, []
    given, contacts = read_input(depth="none"), scene_pairs.contacts
    monkeypatch.setattr(
        scene_pairs, "contacts", lambda *args, **of: (asked.append(len(args[0])), contacts(*args, **of))[1]
    )
    whole = [(clash.a, clash.b) for clash in scene_pairs.check(given).clashes]
    assert asked == [3]
    cache = lens.scene.frame_cache.FrameCache(follows=False)
    cache.shapes = lens.read.world_shape.WorldShapeCache(triangles=2 * 2 * 16 * 6)
    outcome = scene_pairs.check(given, known=cache)
    assert asked[1:] == [2, 2, 2]
    assert [(clash.a, clash.b) for clash in outcome.clashes] == whole


def test_nothing_is_computed_of_what_touches_and_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(2):
        pit = torus(f"{k}", (2.5 * k, 0.0, 0.0))
        pit.data.transform(pit.matrix_world.to_3x3().to_4x4())
    scene_pairs, asked = lens.scene.scene_check, []
    contacts = scene_pairs.contacts
    monkeypatch.setattr(
        scene_pairs, "contacts", lambda *args, **of: (asked.append(of["regions"]), contacts(*args, **of))[1]
    )
    monkeypatch.setattr(scene_pairs, "check_pair", lambda *args: pytest.fail("a depth is searched"))
    for touching in (True, False):
        outcome = scene_pairs.check(read_input(touching=touching))
        assert len(outcome.clashes) == touching
        assert asked.pop() == touching
    assert outcome.ignored == {"touching": 1}
