# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Frames: the list has a row a pair, what it is over the frames is kept, and nothing of it is shown as of now
once it is not."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from .reports import SAVED, load_report, outputs, run, save_report
from .scenes import animate, collection_of, cube, edit, inspect, lens, reopen, shape_key, update
from .test_over_frames import room
from .test_scene_check import check, settings
from .test_scene_follow import listed, panel
from .window import ESC, TICK, modal_operator

pytestmark = pytest.mark.usefixtures("empty_scene")


def check_frames(start: int = 1, end: int = 10, step: int = 1) -> Any:
    """Check these frames; return what is stored of them."""
    settings().use_scene_frames = False
    settings().frame_start, settings().frame_end, settings().frame_step = start, end, step
    assert bpy.ops.contact_lens.check_frames() == {"FINISHED"}
    return stored()


def stored() -> Any:
    return lens.clashes.stored_frames.stored_frames(bpy.context.scene)


def over(name: str) -> Any:
    """The pair of the row that has this name on one side, over the frames."""
    return stored().over(row(name).clash_id)


def row(name: str) -> Any:
    return next(finding for finding in settings().findings if name in (finding.label("a"), finding.label("b")))


def reasons() -> list[str]:
    scene = bpy.context.scene
    return [lens.clashes.changes.reason(scene, k)[1] for k in range(len(settings().findings))]


def a_hand_and_a_table() -> bpy.types.Object:
    """A table with a leg in its top, and a hand that is in the table at frames 4 to 6, deepest at 5."""
    cube("Table")
    cube("Leg", (0.0, 0.0, -1.5))
    hand = cube("Hand", (0.0, 0.0, 3.0))
    heights = {"f1": 5.0, "f3": 2.5, "f4": 1.75, "f5": 1.5, "f6": 1.75, "f7": 2.5, "f10": 5.0}
    animate(hand, "location", "LINEAR", **{frame: (0.0, 0.0, z) for frame, z in heights.items()})
    bpy.context.scene.frame_set(2)
    return hand


def test_the_list_has_a_row_a_pair_and_the_frames_are_kept(tmp_path: Path) -> None:
    a_hand_and_a_table()
    frames = check_frames()
    assert bpy.context.scene.frame_current == 2
    assert frames.counts_words() == "1 transient, 1 permanent"
    hand, leg = over("Hand"), over("Leg")
    assert (hand.first, hand.worst, hand.last, hand.intervals) == (4, 5, 6, [(4, 6)])
    assert leg.is_permanent
    assert (leg.first, leg.worst, leg.last) == (1, 1, 10)
    assert [finding.row()["frame"] for finding in (row("Hand"), row("Leg"))] == [5, 1]
    assert row("Hand").signed_distance == pytest.approx(-0.5)
    assert hand.distances[3:6].tolist() == pytest.approx([-0.25, -0.5, -0.25])
    low, high = frames.bounds(row("Hand").clash_id)
    assert (low[3:6] <= hand.distances[3:6]).all()
    assert (hand.distances[3:6] <= high[3:6]).all()
    gaps, are_exact = frames.gaps(row("Hand").clash_id)
    assert gaps[[0, 1, 2, 6, 9]].tolist() == pytest.approx([3.0, 1.75, 0.5, 0.5, 3.0])
    assert are_exact[np.isfinite(gaps)].all()
    assert np.isnan(gaps[3:6]).all()
    assert list(listed()) == ["Hand | Table", "Leg | Table"], "what is not in all frames comes first"
    assert {"1 transient", "1 permanent"} <= set(panel())
    of_leg = frames.series["depths"].where[:, 0] == frames.ids.index(row("Leg").clash_id)
    assert of_leg.sum() == 1, "what stands still is stored once"
    text = settings().frames.text
    reopen(tmp_path / "frames.blend")
    assert settings().frames.text == text
    assert over("Hand").intervals == [(4, 6)]
    assert row("Hand").row()["frame"] == 5
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    assert stored() is None
    assert [finding.label("a") for finding in settings().findings] == ["Leg"], "of other frames nothing is known"


def test_frames_have_what_a_check_of_each_alone_finds() -> None:
    chance = random.Random(1)
    for k in range(6):
        obj = cube(f"Cube {k}", size=chance.uniform(1.0, 2.0))
        places = {f"f{f}": [chance.uniform(-2.0, 2.0) for _ in range(3)] for f in (1, 4, 8)}
        animate(obj, "location", **places)
    deforms = cube("Deforms", (1.0, 0.0, 0.0))
    shape_key(deforms).data[0].co.x -= 3.0
    animate(deforms.data.shape_keys.key_blocks[-1], "value", f1=0.0, f8=1.0)
    grows = cube("Topology changes", (0.0, 1.0, 0.0)).modifiers.new("Array", "ARRAY")
    animate(grows, "count", f1=1, f8=4)
    animate(bpy.data.objects["Cube 0"], "hide_viewport", "CONSTANT", f1=False, f3=True, f5=False)
    alone: dict[str, dict[int, float]] = {}
    for frame in range(1, 9):
        bpy.context.scene.frame_set(frame)
        for finding in check():
            alone.setdefault(finding.clash_id, {})[frame] = finding.row()["signed_distance"]
        assert bpy.ops.contact_lens.clear_findings() == {"FINISHED"}
    frames = check_frames(1, 8)
    assert set(frames.ids) == alone.keys()
    assert len(alone) > 5
    assert any("Topology changes" in (finding.label("a"), finding.label("b")) for finding in settings().findings)
    for finding in settings().findings:
        found, pair = frames.over(finding.clash_id), alone[finding.clash_id]
        numbers = frames.frames[found.found].tolist(), found.distances[found.found].tolist()
        assert dict(zip(*numbers, strict=True)) == pair
        assert finding.row()["frame"] == min(pair, key=lambda f: (pair[f], f))
        assert finding.row()["signed_distance"] == min(pair.values())
        is_of_hidden = "Cube 0" in (finding.label("a"), finding.label("b"))
        assert found.checked.tolist() == [f not in (3, 4) or not is_of_hidden for f in range(1, 9)]
    skipped = {entry["name"]: entry["reason"] for entry in json.loads(settings().summary)["skipped"]}
    assert skipped["Cube 0"] == "'Cube 0' is hidden, and not checked (frames 3 to 4)"


def test_rows_are_out_of_date_once_something_is_changed_and_not_before(tmp_path: Path) -> None:
    hand = a_hand_and_a_table()
    check_frames()
    for frame in range(1, 11):
        bpy.context.scene.frame_set(frame)
        assert reasons() == ["", ""]
    settings().active = 0 if row("Hand") == settings().findings[0] else 1
    assert bpy.context.scene.frame_current == 5, "a click goes to the worst frame"
    before = [finding.row()["signed_distance"] for finding in settings().findings]
    bpy.context.scene.frame_set(8)
    table = bpy.data.objects["Table"]
    table.location.z = 0.2
    update()
    assert reasons() == ["was changed at another frame"] * 2
    inspect(hand, table)
    assert [finding.row()["signed_distance"] for finding in settings().findings] == before, "one frame renews no row"
    bpy.context.scene.frame_set(5)
    assert all(reasons())
    table.location.z = 0.0
    update()
    assert row("Hand").why_out_of_date(settings().active) == "", "it is as it was at the frame of the row"
    hand.location.z = 1.0
    hand.keyframe_insert("location", frame=9)
    update()
    assert row("Hand").why_out_of_date(settings().active) == "'Hand' had its animation edited"
    before = reasons()
    reopen(tmp_path / "edited.blend")
    assert reasons() == before, "the file says so"
    check_frames()
    assert reasons() == ["", ""]
    assert over("Hand").found[8]


def test_a_list_that_an_undo_brings_back_is_as_outdated_as_it_was() -> None:
    hand = a_hand_and_a_table()
    check_frames()
    hand.location.z = 1.0
    hand.keyframe_insert("location", frame=9)
    update()
    before = reasons()
    bpy.ops.ed.undo_push(message="Edit")
    check_frames()
    assert reasons() == ["", ""]
    bpy.ops.ed.undo_push(message="Check Frames")
    bpy.ops.ed.undo()
    assert not over("Hand").found[8]
    assert reasons() == before


def test_decisions_follow_the_worst_frame() -> None:
    hand = a_hand_and_a_table()
    check_frames()
    row("Hand").status = row("Leg").status = "APPROVED"
    known = row("Hand").clash_id
    check_frames()
    assert [finding.status for finding in settings().findings] == ["APPROVED"] * 2
    hand.location.z = 1.2
    hand.keyframe_insert("location", frame=5)
    check_frames()
    assert (row("Hand").status, row("Leg").status, row("Hand").clash_id) == ("CHANGED", "APPROVED", known)
    check_frames(8, 10)
    assert row("Hand").status == "CHANGED", "the frames in which it was found were not checked"
    hand.animation_data_clear()
    hand.location.z = 9.0
    check_frames()
    assert row("Hand").status == "RESOLVED"
    assert stored().over(known) is None


def test_what_has_left_the_scene_is_resolved_whatever_frames_are_checked() -> None:
    hand = a_hand_and_a_table()
    check_frames()
    bpy.context.collection.objects.unlink(hand)
    update()
    check_frames(8, 10)
    assert {finding.label("a"): finding.status for finding in settings().findings} == {
        "Leg": "ACTIVE",
        "Hand": "RESOLVED",
    }


def modal(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Callable[..., set[str]]]:
    """Begin Check Frames in a window; return the operator, and what takes so many frames, then an event."""
    cls = lens.operators.frames_operators.CONTACT_LENS_OT_check_frames
    names = ("title", "keeps_partial", "seconds_at_once", "_check")
    members = {name: getattr(cls, name) for name in names}
    operator, window = modal_operator(lens.live.background, cls.steps, monkeypatch, **members)

    def take(count: int, event: Any = TICK) -> set[str]:
        result = set()
        for _ in range(count):
            operator.flow.task.end()
            result = operator.modal(window, event)
        return result

    return operator, take


def remove(obj: bpy.types.Object) -> None:
    bpy.data.objects.remove(obj)


def hide(obj: bpy.types.Object) -> None:
    obj.hide_viewport = True


def rename(obj: bpy.types.Object) -> None:
    obj.name = "Glove"


@pytest.mark.parametrize(
    ("change", "rows", "said"),
    [
        (remove, ["Leg"], "'Hand' was removed during the check (frames 7 to 10)"),
        (hide, ["Hand", "Leg"], "'Hand' is hidden, and not checked (frames 7 to 10)"),
        (rename, ["Glove", "Leg"], None),
        (edit, ["Leg"], None),
    ],
    ids=["removed", "hidden", "renamed", "edited"],
)
def test_what_is_changed_during_the_check(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[bpy.types.Object], None], rows: list[str], said: str | None
) -> None:
    hand = a_hand_and_a_table()
    settings().use_scene_frames, bpy.context.scene.frame_end = True, 10
    _, take = modal(monkeypatch)
    take(5)
    change(hand)
    update()
    take(6)
    skipped = [entry["reason"] for entry in json.loads(settings().summary)["skipped"]]
    assert sorted(finding.label("a") for finding in settings().findings) == rows
    assert said is None or said in skipped
    if change is edit:
        assert "'Hand' changed during the check: check the scene again" in skipped
    assert over("Leg").found.all()
    assert len(stored().frames) == 10
    assert bpy.context.scene.frame_current == 2


def test_what_cannot_be_read_any_more_ends_the_check_with_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    hand = a_hand_and_a_table()
    settings().scope, settings().collection_b = "COLLECTIONS", collection_of("Hands", hand)
    settings().collection_a = collection_of("Others", *(bpy.data.objects[name] for name in ("Table", "Leg")))
    bpy.context.scene.frame_end = 10
    operator, take = modal(monkeypatch)
    take(5)
    bpy.data.collections.remove(bpy.data.collections["Others"])
    take(2)
    assert "There is no collection 'Others' in the scene" in operator.said
    assert over("Hand").intervals == [(4, 6)]
    assert "Stopped after frame 6" in panel()


def test_esc_keeps_the_frames_that_were_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    a_hand_and_a_table()
    settings().use_scene_frames, bpy.context.scene.frame_end = True, 10
    operator, take = modal(monkeypatch)
    take(3)
    assert operator.flow.status.startswith("Check Frames, frame 3 of 10, ")
    assert lens.live.handlers.is_quiet()
    take(1, ESC)
    assert not lens.live.handlers.is_quiet()
    take(1)
    assert stored().frames.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert "Stopped after frame 4" in panel()
    assert json.loads(settings().summary)["partial"]
    assert bpy.context.scene.frame_current == 2


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        (10, 9, "The last frame is before the first one: change the range of frames"),
        (4, 4, "The range has a single frame: change it, or run Check Scene"),
    ],
)
def test_a_range_without_two_frames_is_refused(start: int, end: int, reason: str) -> None:
    settings().use_scene_frames, settings().frame_start, settings().frame_end = False, start, end
    operator = lens.operators.frames_operators.CONTACT_LENS_OT_check_frames
    assert operator.disabled_reason(bpy.context) == reason
    settings().use_scene_frames = True
    assert not operator.disabled_reason(bpy.context)
    bpy.context.scene.use_preview_range = True
    bpy.context.scene.frame_preview_start = bpy.context.scene.frame_preview_end = 7
    assert operator.disabled_reason(bpy.context)


def test_too_many_frames_are_refused_with_how_long_they_would_take() -> None:
    a_hand_and_a_table()
    check_frames()
    text = settings().frames.text
    with pytest.raises(RuntimeError, match=r"1,000,000 frames would take about .*: check fewer, or raise the step"):
        check_frames(1, 1_000_000)
    assert settings().frames.text == text
    assert bpy.context.scene.frame_current == 2


def test_a_report_says_of_each_row_its_frame(tmp_path: Path) -> None:
    a_hand_and_a_table()
    check_frames()
    report = tmp_path / "frames.json"
    assert bpy.ops.contact_lens.save_scene_report(filepath=str(report)) == {"FINISHED"}
    document = load_report(report)
    assert {row["a"]["name"]: row["frame"] for row in document["checks"][0]["findings"]} == {"Hand": 5, "Leg": 1}
    assert document["between_frames"][0]["words"] == "Frames are samples: what happens between them is not checked."
    (scene,) = document["over_frames"]
    assert (scene["transient"], scene["permanent"], scene["quiet"]) == (1, 1, [])
    hand, leg = scene["clashes"]
    assert (hand["a"], hand["intervals"], hand["signed_distance"]) == ("Hand", [[4, 6]], pytest.approx(-0.5))
    assert (leg["a"], leg["permanent"]) == ("Leg", True)
    for kind, words in (("html", "Hand meets Table at 4, deepest 0.5 m at 5, leaves after 6"), ("csv", "4,6,4 to 6")):
        report = tmp_path / f"frames.{kind}"
        assert bpy.ops.contact_lens.save_scene_report(filepath=str(report), pictures=0) == {"FINISHED"}
        assert words in report.read_text(encoding="utf-8")


def test_reports_say_the_same_as_those_of_the_command(tmp_path: Path) -> None:
    """Their clashes over frames are equal, to the last digit; each frame's own numbers are those of the worst only."""
    units = bpy.context.scene.unit_settings
    units.scale_length, units.length_unit = 0.01, "CENTIMETERS"
    file = room(tmp_path)
    check_frames(1, 5)
    saved = {kind: save_report(tmp_path / f"saved.{kind}") for kind in SAVED}
    paths, options = outputs(tmp_path)
    run(file, "--scene", "Scene", "--frames", "1-5", "--quiet", *options)
    printed = {kind: load_report(paths[kind]) for kind in SAVED}
    assert saved["json"]["over_frames"] == printed["json"]["over_frames"]
    assert [clash["not_checked"] for clash in saved["json"]["over_frames"][0]["clashes"]].count([]) == 2
    assert saved["json"]["frames"] == [1, 2, 3, 4, 5]
    (one,) = saved["json"]["checks"]
    assert {row["id"]: row["frame"] for row in one["findings"]} == {
        clash["id"]: clash["worst"] for clash in saved["json"]["over_frames"][0]["clashes"]
    }
    assert (
        saved["json"]["between_frames"][0]["words"] == "Frames are samples: what happens between them is not checked."
    )
    unknown = {"sha256", "notes"}  # of the open file; where something was not checked, the frames in other words
    rows, others = (
        [{k: v for k, v in row.items() if k not in unknown} for row in of["csv"]] for of in (saved, printed)
    )
    assert rows == others
    cells, others = (
        [[cell.split("Each frame")[0] for cell in row] for row in of["html"].rows] for of in (saved, printed)
    )
    assert [row[:5] for row in cells] == others
    assert [row[5] for row in cells if len(row) > 5 and row[5] != "Picture"][:1] == ["Found at frame 5"]
    pages = [(tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("saved", "out")]
    for pattern in (
        '<p class="verdict">.*?</p>',
        '<ul class="answer">.*?</ul>',
        "<svg.*?</svg>",
        "<dd>Scene, .*?</dd>",
    ):
        first, second = (re.findall(pattern, page) for page in pages)
        assert first == second != []


def test_reports_have_the_clashes_that_are_of_other_frames_too(tmp_path: Path) -> None:
    a_hand_and_a_table()
    check_frames()
    row("Hand").status = "REVIEWED"
    check_frames(8, 10)
    document, table, page = (save_report(tmp_path / f"saved.{kind}") for kind in ("json", "csv", "html"))
    assert [clash["a"] for clash in document["over_frames"][0]["clashes"]] == ["Leg"]
    assert {row["a"]["name"]: row["frame"] for row in document["checks"][0]["findings"]} == {"Hand": 5, "Leg": 8}
    assert [[row[name] for name in ("a", "frame", "status", "frames")] for row in table] == [
        ["Leg", "8", "active", "8 to 10"],
        ["Hand", "5", "reviewed", ""],
    ]
    assert page.rows[1][0] == "Hand\nTable\nFound at frame 5"
    assert page.rows[1][4] == ""


def test_a_report_of_a_check_that_ended_after_one_frame_is_not_over_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_hand_and_a_table()
    settings().use_scene_frames, bpy.context.scene.frame_end = True, 10
    _, take = modal(monkeypatch)
    take(1, ESC)
    take(1)
    assert stored().frames.tolist() == [1.0]
    assert "transient" not in lens.operators.scene_operators.summary(bpy.context.scene)
    assert "transient" not in panel()
    document, table, page = (save_report(tmp_path / f"saved.{kind}") for kind in ("json", "csv", "html"))
    assert document["over_frames"] == []
    assert "permanent" not in table[0]
    assert len(page.rows) == 2
