# SPDX-License-Identifier: GPL-3.0-or-later
"""Clashes over frames: what is said of a pair that was found at some frames of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from .reports import load_report, outputs, run, run_json
from .scenes import animate, collection_of, cube, fresh, instance_of, lens, save_scene

X = None
"""Found, without a depth."""


def over(*distances: object, resolution: float = 0.01) -> Any:
    """A pair over frames: a number or X where it was found, "-" where it was apart, "?" where it was not checked."""
    found = np.array([not isinstance(of, str) for of in distances])
    checked = np.array([of != "?" for of in distances])
    numbers = [np.nan if isinstance(of, str) else -np.inf if of is X else of for of in distances]
    places = np.arange(1.0, len(distances) + 1.0)
    return lens.frames.over_frames.OverFrames(places, found, checked, np.array(numbers, float), resolution)


def row(a: str, b: str, distance: float | None, **more: object) -> dict[str, Any]:
    sides = [{"name": n, "object": n, "library": None, "instancer": None, "instance": None} for n in (a, b)]
    named = {"id": f"{a}{b}", "a": sides[0], "b": sides[1], "signed_distance": distance, "resolution": 0.01}
    found = {"relation": "penetrating", "status": "new", "apart": False, "margins": None, "change": None}
    return {**named, **found, **more}


def check(frame: float, *rows: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "path": "/a.blend",
        "scene": "Scene",
        "frame": frame,
        "findings": [*rows],
        "skipped": [],
        "partial": False,
        **more,
    }


@pytest.mark.parametrize(
    ("given", "first", "worst", "last", "intervals", "is_permanent"),
    [
        (("-", 0.0, -3.0, -3.0, "-"), 2, 3, 4, [(2, 4)], False),
        ((-1.0, "?", -1.0, "-", -1.0), 1, 1, 5, [(1, 3), (5, 5)], False),
        ((-1.0, "?", -1.009, -0.5), 1, 3, 4, [(1, 4)], True),
        (("?", -1.0, "-", "?"), 2, 2, 2, [(2, 2)], False),
        ((-1.0, -1.02), 1, 2, 2, [(1, 2)], False),
        ((-0.001, -0.0109), 1, 2, 2, [(1, 2)], True),
        (("?", -1.0), 2, 2, 2, [(2, 2)], False),
        ((0.0, X), 1, 2, 2, [(1, 2)], False),
        ((X, 0.0, X), 1, 1, 3, [(1, 3)], True),
        ((X, -1.0), 1, 2, 2, [(1, 2)], False),
        ((0.5, 0.3), 1, 2, 2, [(1, 2)], False),
        ((-1.0, -1.0), 1, 1, 2, [(1, 2)], True),
    ],
)
def test_a_pair_over_frames(
    given: Sequence[object], first: float, worst: float, last: float, intervals: list[Any], is_permanent: bool
) -> None:
    """Frames that were not checked neither end nor extend an interval, and none makes a clash permanent."""
    pair = over(*given)
    assert (pair.first, pair.worst, pair.last) == (first, worst, last)
    assert (pair.intervals, pair.is_permanent) == (intervals, is_permanent)


def test_where_no_depth_was_searched_the_worst_frame_is_that_with_the_deepest_bound() -> None:
    numbers = ((-1e-9, -1e-9), (None, -0.2), (None, -0.3), (None, -0.1))
    checks = [check(k, row("A", "B", distance, upper_bound=bound)) for k, (distance, bound) in enumerate(numbers, 1)]
    [scene] = lens.frames.over_frames.scenes_over_frames(checks)
    assert scene.clashes[0].over.worst == 3, "what touches has a depth, and is less deep"
    depths = np.array([[-np.inf if distance is None else distance, -1.0, bound] for distance, bound in numbers])
    places = np.column_stack([np.zeros(4, int), np.arange(4)])
    changes, nothing = lens.frames.found_frames.Changes, np.zeros((0, 2), int)
    series = {"depths": changes(places, depths), "unchecked": changes(nothing, np.zeros((0, 1)))}
    stored = lens.clashes.stored_frames.StoredFrames(np.arange(1.0, 5.0), ["AB"], np.array([0.01]), series)
    assert stored.over("AB").worst == 3


def test_scenes_over_frames_are_in_order_whatever_the_order_of_the_checks() -> None:
    checks = [
        check(3, row("A", "B", -0.2), row("C", "D", -1.0), row("E", "F", -9.0, status="resolved")),
        check(1, row("A", "B", -0.1), row("C", "D", -1.0), row("E", "F", -9.0, apart=True), row("G", "H", -0.5)),
        {**check(1), "scene": "Still"},
        check(2, row("C", "D", -1.0)),
        {**check(1, row("A", "B", -5.0)), "path": "/b.blend"},
        check(
            4,
            hidden=[["C", None], ["A", "library.blend"]],
            skipped=[{"name": "G and H", "unchecked": True, "kind": "pair"}],
        ),
        check(5, row("A", "B", -9.0), partial=True),
    ]
    (scene,) = lens.frames.over_frames.scenes_over_frames(checks)
    assert (scene.path, scene.scene, scene.frames, scene.checks) == ("/a.blend", "Scene", [1, 2, 3, 4], [1, 3, 0, 5])
    assert [(clash.id, clash.check, clash.row) for clash in scene.clashes] == [("GH", 1, 3), ("AB", 0, 0), ("CD", 1, 1)]
    assert [clash.id for clash in scene.permanent] == ["CD"], "it is hidden where it was not found"
    assert scene.clashes[1].rows == {1: (1, 0), 3: (0, 0)}
    assert scene.quiet == [4]
    assert scene.clashes[0].record(checks) == {
        "id": "GH",
        "a": "G",
        "b": "H",
        "permanent": False,
        "first": 1,
        "worst": 1,
        "last": 1,
        "intervals": [(1, 1)],
        "not_checked": [(4, 4)],
        "relation": "penetrating",
        "signed_distance": -0.5,
        "status": "new",
        "change": None,
    }
    assert lens.frames.sentences.counts_words(scene) == "2 transient, 1 permanent"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("-", -1.0, -3.0, "-"), "Hand meets Table at 2, deepest 3 m at 3, leaves after 3"),
        (("-", -1.0, -3.0), "Hand meets Table at 2, deepest 3 m at 3, stays to the last frame"),
        (
            (-1.0, -3.0, "-"),
            "Hand is in contact with Table from the first frame, deepest 3 m at 2, leaves after 2",
        ),
        (
            ("?", -1.0, -3.0, "?"),
            "Hand is in contact with Table from 2, the first frame that was checked, deepest 3 m at 3, "
            "stays to 3, the last frame that was checked",
        ),
        (("-", 0.0, 0.0, "-"), "Hand touches Table at 2, leaves after 3"),
        (("-", X, X, "-"), "Hand meets Table at 2, leaves after 3"),
        (("-", 0.0, "-"), "Hand touches Table at 2"),
        (("-", -0.5, "-"), "Hand meets Table at 2, 0.5 m deep"),
        (("-", 0.5, "?", 0.25, "-"), "Hand comes near Table at 2, nearest 0.25 m at 4, leaves after 4"),
        ((-1.0, "-", -2.0, -1.0), "Hand is in contact with Table at frames 1, 3 to 4, deepest 2 m at 3"),
        (
            (-1.0, "-", -2.0, "-", -1.0, "-", -1.0),
            "Hand is in contact with Table 4 times from 1 to 7, deepest 2 m at 3",
        ),
        ((-1.0, -1.0, -0.5), "Hand is in contact with Table at all 3 frames, 1 m deep"),
        ((0.5, "?", 0.5), "Hand is near Table at all 2 frames that were checked, 0.5 m away"),
    ],
)
def test_a_pair_over_frames_in_a_sentence(given: Sequence[object], sentence: str) -> None:
    units = lens.data.units.UnitFormat()
    assert lens.frames.sentences.over_frames_sentence("Hand", "Table", over(*given), units) == sentence


def test_a_sentence_has_the_depth_of_the_row() -> None:
    pair = {
        **row("Hand", "Table", -3.0, lower_bound=-3.0, upper_bound=-2.0),
        "over": SimpleNamespace(over=over("-", -3.0)),
    }
    sentence = lens.frames.sentences.sentence_of(pair, lens.data.units.UnitFormat())
    assert sentence == "Hand meets Table at 2, ≤ 3 m deep"


@pytest.mark.parametrize("distance", [-0.02, 0.02])
def test_what_touches_within_the_tolerance_has_no_depth(distance: float) -> None:
    pair = {
        **row("Hand", "Table", distance, relation="touching"),
        "over": SimpleNamespace(over=over("-", distance, "-")),
    }
    sentence = lens.frames.sentences.sentence_of(pair, lens.data.units.UnitFormat())
    assert sentence == "Hand touches Table at 2"


@pytest.mark.parametrize(
    ("given", "width", "expected"),
    [
        (("-", 0.0, -1.0, -8.0, "?", "-"), 20, "·▁▁█ ·"),
        (("-", 0.0, -1.0, -8.0, "?", "-"), 3, "▁█·"),
        (("-", "-", X, 0.5, -0.1), 5, "··▁▁█"),
        ((0.0, "-"), 2, "▁·"),
    ],
)
def test_the_depth_over_frames_as_a_strip(given: Sequence[object], width: int, expected: str) -> None:
    assert lens.frames.sentences.spark(over(*given), width) == expected


def skipped(reason: str, *objects: str) -> dict[str, Any]:
    more = {"objects": list(objects)} if objects else {}
    return {"name": "Rope", "reason": reason, "unchecked": True, "kind": "geometry", **more}


def test_what_was_skipped_over_frames_is_there_once_with_its_frames() -> None:
    shared = {"objects": 2, "checked_pairs": 1, "ignored_pairs": {"listed": 1}, "gone": None, "not_compared": None}
    at = {
        1: [skipped("'Rope' has no faces"), skipped("'Rope' is not baked up to frame 1")],
        2: [skipped("'Rope' has no faces"), skipped("'Rope' passed at 2", "Rope", "Pole")],
        3: [skipped("'Rope' has no faces"), skipped("'Rope' passed at 3", "Rope", "Pole"), skipped("'Rope' is bad")],
    }
    at[3].append(skipped("'Rope' is not baked up to frame 3"))
    still = {**check(1), "scene": "Still"}
    left_out = {frame: {"hidden": frame % 3, "rendered": 0, "excluded": 1} for frame in at}
    checks = [*(check(k, **{**shared, "skipped": of, "left_out": left_out[k]}) for k, of in at.items()), still]
    one, other = lens.frames.combined.combined(checks)
    assert other is still
    assert [entry["reason"] for entry in one["skipped"]] == [
        "'Rope' has no faces",
        "'Rope' is not baked up to frame 3 (frames 1, 3)",
        "'Rope' passed at 2 (frames 2 to 3)",
        "'Rope' is bad (frame 3)",
    ]
    assert (one["ignored_pairs"], one["checked_pairs"], one["gone"]) == ({"listed": 1}, 3, None)
    assert one["left_out"] == left_out[2], "most of all frames, not those of the first"


def test_what_is_hidden_at_some_of_the_frames_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fresh()
    file, page = room(tmp_path), tmp_path / "room.html"
    cube("Never shown", (30.0, 0.0, 0.0)).hide_viewport = True
    cube("Chosen", (-9.0, 0.0, 9.0))
    animate(bpy.data.objects["Chosen"], "hide_viewport", f1=False, f3=True, f4=False)
    save_scene(file)
    run(file, "--frames", "1-5", "--html", page, "--pictures", 0)
    printed = capfd.readouterr().out
    named = [
        f"'{name}' is hidden, and not checked ({at})"
        for name, at in (("Hides", "frame 3"), ("Wall", "frames 1, 4 to 5"))
    ]
    assert all(f"  left out: {sentence}\n" in printed for sentence in named)
    assert "Never shown" not in printed
    assert "left out: 'Chosen'" in printed
    assert "for other reasons" not in printed, "each is counted as hidden"
    assert all(sentence.replace("'", "&#x27;") in page.read_text(encoding="utf-8") for sentence in named)
    run(file, "--object", "Chosen", "--frames", "1-5")
    printed = capfd.readouterr().out
    assert "not checked: 'Chosen'" in printed
    assert "left out: 'Chosen'" not in printed, "once"


@pytest.fixture(scope="module")
def written(addon: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The reports of two pairs, one always in contact and one at frames 2 and 3."""
    fresh()
    cube("Leg"), cube("Table", (1.9, 0.0, 0.0))
    animate(cube("Hand"), "location", "CONSTANT", **{f"f{k + 1}": (z, 0, 0) for k, z in enumerate((9, 3.7, 3.5, 9, 9))})
    folder = tmp_path_factory.mktemp("over_frames")
    paths, options = outputs(folder)
    assert run(save_scene(folder / "hand.blend"), "--frames", "5,1-4", "--quiet", *options) == 1
    return {kind: load_report(path) for kind, path in paths.items()}


def test_a_table_for_spreadsheets_has_a_row_a_pair(written: dict[str, Any]) -> None:
    names = ("a", "b", "frame", "signed_distance", "permanent", "first_frame", "last_frame", "frames")
    rows = [[row[name] for name in names] for row in written["csv"]]
    assert [*written["csv"][0]][-4:] == [*names[-4:]]
    assert [row[:3] + row[4:] for row in rows] == [
        ["Hand", "Table", "3", "False", "2", "3", "2 to 3"],
        ["Leg", "Table", "1", "True", "1", "5", "1 to 5"],
    ]
    assert [float(row[3]) for row in rows] == pytest.approx([-0.4, -0.1], abs=1e-6)


def room(folder: Path) -> Path:
    """Cubes on a table: one rests on it, one enters it, one is hidden for a frame, one cannot be checked at one."""
    cube("Table", size=8.0)
    cube("Rests", (3.0, 3.0, 4.4))
    cube("Enters", (0.0, 0.0, 9.0), size=2.0)
    animate(bpy.data.objects["Enters"], "location", "LINEAR", f1=(0.0, 0.0, 9.0), f5=(0.0, 0.0, 3.0))
    animate(cube("Hides", (-3.0, -3.0, 4.9)), "hide_viewport", f1=False, f3=True, f4=False)
    fails = cube("Fails", (3.5, -3.0, 4.5), kind="MESH")
    fails.scale = (2.0, 2.0, 2.0)
    animate(fails.data.vertices[7], "co", "CONSTANT", f1=(1.0, 1.0, 1.0), f2=(1.0, 1.0, 3e38), f3=(1.0, 1.0, 1.0))
    brick = collection_of("Bricks", cube("Brick", (-3.0, 3.0, 4.8)), is_only=True)
    animate(instance_of(brick, "Wall"), "hide_viewport", f1=True, f2=False, f4=True)
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(bpy.data.objects["Table"])
    other.collection.objects.link(bpy.data.objects["Rests"])
    return save_scene(folder / "room.blend")


@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize("kind", ["cache", "driver", "file", "library", "render", "undefined"])
def test_what_may_be_evaluated_wrong_is_not_permanent_where_it_is_apart(kind: str) -> None:
    skipped = [{"name": "B", "unchecked": True, "kind": kind}]
    rows = [[row("A", "B", -1.0)] if frame in (2, 3) else [] for frame in (1, 2, 3, 4)]
    checks = [check(frame, *of, skipped=skipped) for frame, of in enumerate(rows, 1)]
    ((clash,),) = (scene.clashes for scene in lens.frames.over_frames.scenes_over_frames(checks))
    assert (clash.over.intervals, clash.over.not_checked) == ([(2, 3)], [])
    assert not clash.over.is_permanent


def test_a_file_that_is_named_twice_is_twice_over_frames() -> None:
    checks = [check(frame, row("A", "B", -1.0)) for frame in (1, 2, 1, 2)]
    assert [scene.checks for scene in lens.frames.over_frames.scenes_over_frames(checks)] == [[0, 1], [2, 3]]


def test_the_total_has_the_clashes_of_a_scene_that_was_stopped_at_its_first_frame() -> None:
    counts = {"objects": 2, "checked_pairs": 1, "ignored_pairs": {}, "left_out": {}, "differences": []}
    whole = [check(1, **counts), check(2, **counts)]
    stopped = check(1, row("A", "B", -1.0), **counts, path="/b.blend", scene="Other")
    total = partial(lens.terminal.check_lines.total_lines, decisions=None)
    combined = lens.frames.combined.combined
    assert total(combined([*whole, stopped])) == ["In 2 checks: 1 penetrating, of 1 pair"]
    whole.append(check(3, row("A", "B", -1.0), **counts))
    text = "In 2 checks: 1 transient, 0 permanent, 1 penetrating, of 1 pair"
    assert total(combined([*whole, stopped])) == [text]


def test_a_report_has_each_pair_once(tmp_path: Path) -> None:
    file = room(tmp_path)
    _, report = run_json(file, "--scene", "all", "--frames", "5,1-4", "--allow-skipped")
    other, scene = report["over_frames"]
    assert (other["scene"], other["transient"], other["permanent"], other["quiet"]) == ("Other", 0, 1, [])
    assert (scene["frames"], scene["transient"], scene["permanent"], scene["quiet"]) == ([1, 2, 3, 4, 5], 1, 4, [])
    found = {
        (clash["a"], clash["b"]): (clash["first"], clash["worst"], clash["intervals"], clash["not_checked"])
        for clash in scene["clashes"]
    }
    assert found == {
        ("Enters", "Table"): (4, 5, [[4, 5]], []),
        ("Rests", "Table"): (1, 1, [[1, 5]], []),
        ("Fails", "Table"): (1, 1, [[1, 5]], [[2, 2]]),
        ("Hides", "Table"): (1, 1, [[1, 5]], [[3, 3]]),
        ("Brick [0] of Wall", "Table"): (2, 2, [[2, 3]], [[1, 1], [4, 5]]),
    }
    assert next(iter(found)) == ("Enters", "Table"), "transient ones are on top"
    rows = {row["id"]: row for check in report["checks"] for row in check["findings"] if check["frame"] == 5}
    enters = scene["clashes"][0]
    assert {
        name: rows[enters["id"]][name] for name in ("relation", "signed_distance", "status")
    }.items() <= enters.items()
    assert not any("hidden" in check for check in report["checks"])


@pytest.mark.usefixtures("empty_scene")
def test_one_frame_is_not_over_frames_and_a_part_leaves_it_to_the_whole(tmp_path: Path) -> None:
    file = room(tmp_path)
    for frames in ([], ["--frames", "3"]):
        _, report = run_json(file, *frames, "--allow-skipped")
        assert report["over_frames"] == []
    _, part = run_json(file, "--frames", "1-5", "--only-frames", "3", "--allow-skipped")
    assert part["over_frames"] is None
    assert part["checks"][0]["hidden"] == [["Hides", None]]
    _, part = run_json(file, "--frames", "3", "--shard", "1/1", "--allow-skipped")
    assert "hidden" not in part["checks"][0]


def test_a_page_has_a_row_a_pair_and_the_permanent_ones_folded(written: dict[str, Any]) -> None:
    page = written["html"]
    assert [row[0].split("\n") for row in page.rows if len(row) > 1 and "Objects" not in row] == [
        ["Hand", "Table", "Hand meets Table at 2, deepest 0.4 m at 3, leaves after 3"],
        ["Leg", "Table", "Leg is in contact with Table at all 5 frames, 0.1 m deep"],
    ]
    assert page.rows[1][-1].endswith("\n2 to 3Each frame2: Depth 0.2 m3: Depth 0.4 m")
    assert page.tags.count("svg") == page.tags.count("table") == 2
    assert page.tags.count("details") == 2, "of the permanent ones, and of the frames of a row"


def test_a_strip_has_no_line_where_it_was_not_checked_and_marks_the_worst() -> None:
    strip = lens.page.strip.strip(over("-", -1.0, -2.0, "?", 0.5, X))
    paths = dict(re.findall(r'<path class="(\w+)" d="(.*?)"', strip))
    low, high = lens.page.strip.BASE, lens.page.strip.TOP
    assert paths["contact"] == f"M0 {low}H33.33V23.5H66.67V{high}H100V{low}H166.7V33H200V{low}Z"
    assert paths["gap"] == f"M0 {low}H133.3V33H166.7V{low}H200V{low}Z"
    assert paths["axis"] == f"M0 {low}H0V35H100V{low}H133.3V35H200V{low}Z"
    assert '<text x="83.33" y="7" text-anchor="middle">3</text>' in strip
    touching = lens.page.strip.strip(over("-", -0.001))
    assert f"V{low - lens.page.strip.LEAST - 1.9:.4g}" in touching, "rounding is not deep"


@pytest.mark.usefixtures("empty_scene")
def test_what_stays_in_its_place_is_kept_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of a run of frames grows with what moves."""
    documents: list[Any] = []
    made = lens.report.scene.document
    monkeypatch.setattr(lens.report.scene, "document", lambda *args: documents.append(made(*args)) or documents[-1])
    run_json(room(tmp_path), "--frames", "1-5", "--allow-skipped")
    checks = documents[-1]["checks"]
    kept = [lens.data.lazy_rows.column(check["findings"], side) for check in checks for side in "ab"]
    assert len({id(side) for of in kept for side in of if side["name"] == "Table"}) == 1
    assert len({id(side) for of in kept for side in of if side["name"] == "Enters"}) == 2
