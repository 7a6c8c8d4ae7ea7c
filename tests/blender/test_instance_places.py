# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances whose numbers shift: a baseline, decisions and the list follow their places."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .layouts import Layout
from .reports import load_report, outputs, run, run_json
from .scenes import adopt, animate, collection_of, cube, instance_of, lens, mesh_object, rigid_body, save_scene, update
from .test_baseline import baseline_of, compare, edited
from .test_decisions import decisions
from .test_scene_check import check as check_in_panel
from .test_scene_check import settings

pytestmark = pytest.mark.usefixtures("empty_scene")

POLES = [(0.0, 3.0, 9.0), (3.2, 0.1, 9.0), (6.4, 0.2, 9.0), (9.6, 3.0, 9.0)]
"""Two in the middle reach into the wall, not equally deep."""
NEW = (-3.2, 3.0, 9.0)
FIRST, SECOND = POLES[1], POLES[2]
Places = Sequence[tuple[float, ...]]


def poles(places: Places) -> None:
    """Let the row have a pole at each of some places."""
    mesh = bpy.data.objects["Row"].data
    mesh.clear_geometry()
    mesh.from_pydata(places, [], [])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    row = mesh_object("Row", POLES)
    adopt(row, cube("Pole", (0.0, 0.0, 0.0), size=0.5))
    row.instance_type = "VERTS"
    cube("Wall", (0.0, -1.0, 9.0)).scale = (20.0, 1.0, 1.0)
    return save_scene(tmp_path / "yard.blend")


def at(x: float, y: float, _: float = 0.0) -> str:
    return f"{x:g} {y:g}"


def by_place(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """A field of clashes by the places of their poles."""
    sides = ((row, next(row[side] for side in "ab" if row[side]["instance"])) for row in rows)
    return {at(*side["location"]): row[name] for row, side in sides}


# --- a baseline -----------------------------------------------------------------------------------------------------

MOVED = [(x + 0.05, y, z) for x, y, z in POLES]


@pytest.mark.parametrize("places", [[NEW, *POLES], POLES[1:], POLES[::-1], MOVED, [*POLES[2:], NEW, *POLES[:2]]])
def test_clashes_are_those_of_the_same_places(file: Path, places: Places) -> None:
    """Or of the same numbers, where all have moved."""
    old = baseline_of(file)
    before = load_report(old)["checks"][0]["findings"]
    (check,) = compare(edited(file, lambda: poles(places)), old).checks
    rows = check["findings"]
    assert list(by_place(rows, "change").values()) == ["same", "same"]
    assert [row["baseline_distance"] for row in rows] == [row["signed_distance"] for row in before]
    assert (check["gone"], check["not_compared"]) == ([], [])
    assert [row["id"] for row in rows] == [row["id"] for row in run_json(file)[1]["checks"][0]["findings"]], "of now"


def test_of_several_frames_each_has_the_numbers_of_the_one_that_the_baseline_has(file: Path) -> None:
    old = baseline_of(file, "--frames", "2")
    checks = compare(edited(file, lambda: poles([NEW, *POLES])), old, "--frames", "1-3").checks
    assert [[row["change"] for row in check["findings"]] for check in checks] == [["same", "same"]] * 3
    assert all(check["gone"] == check["not_compared"] == [] for check in checks)


def test_what_stands_elsewhere_is_new_though_it_has_a_number_of_before(file: Path) -> None:
    old = baseline_of(file)
    elsewhere = (12.8, 0.05, 9.0)
    (check,) = compare(edited(file, lambda: poles([NEW, elsewhere, SECOND])), old).checks
    assert by_place(check["findings"], "change") == {at(*elsewhere): "deeper", at(*SECOND): "same"}, "one moved"
    (check,) = compare(edited(file, lambda: poles([NEW, elsewhere, POLES[3], SECOND])), old).checks
    assert by_place(check["findings"], "change") == {at(*elsewhere): "new", at(*SECOND): "same"}
    assert [entry["b"]["name"] for entry in check["gone"]] == ["Wall"]
    assert at(*check["gone"][0]["a"]["location"]) == at(*FIRST)


def test_poles_in_one_place_are_told_by_their_number(file: Path) -> None:
    old = baseline_of(edited(file, lambda: poles([FIRST, SECOND, FIRST])))
    (check,) = compare(edited(file, lambda: poles([NEW, FIRST, SECOND, FIRST])), old).checks
    assert {row["change"] for row in check["findings"]} == {"same"}
    assert (len(check["findings"]), check["gone"]) == (4, [])
    (check,) = compare(edited(file, lambda: poles([NEW, FIRST, SECOND])), old).checks
    assert ([row["change"] for row in check["findings"]], len(check["gone"])) == (["same", "same"], 2)


def test_another_mesh_and_another_name_beside_a_shift(file: Path) -> None:
    old = baseline_of(file)

    def change() -> None:
        poles([NEW, *POLES])
        bpy.data.objects["Pole"].data.vertices[0].co.z -= 0.1
        bpy.data.objects["Wall"].name = "Fence"

    (check,) = compare(edited(file, change), old).checks
    assert [row["change"] for row in check["findings"]] == ["same", "same"]
    assert check["gone"] == []


def test_parts_are_compared_as_the_whole_run_is(file: Path, tmp_path: Path) -> None:
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    old = baseline_of(save_scene(file))
    edited(file, lambda: poles([NEW, (12.8, 0.05, 9.0), *POLES[2:]]))
    paths, options = outputs(tmp_path)
    code = run(file, "--baseline", old, "--quiet", *options)
    before = [path.read_bytes() for path in paths.values()]
    assert "Pole [2] of Row, at 640, 20, 900" in paths["html"].read_text(encoding="utf-8")
    assert "A: Pole [2] of Row, at 640, 20, 900" in paths["junit"].read_text(encoding="utf-8")
    parts = [tmp_path / f"part{k}.json" for k in range(2)]
    for k, path in enumerate(parts):
        run(file, "--baseline", old, "--shard", f"{k + 1}/2", "--json", path, "--quiet")
    assert run("merge", *parts, "--baseline", old, "--quiet", *options) == code
    assert [path.read_bytes() for path in paths.values()] == before


def test_lists_and_reports_of_before_have_no_places(file: Path) -> None:
    old = baseline_of(file)
    document = load_report(old)
    for side in (row[letter] for row in document["checks"][0]["findings"] for letter in "ab"):
        side.pop("location")
    old.write_text(json.dumps(document), encoding="utf-8")
    (check,) = compare(edited(file, lambda: poles(POLES[2:])), old).checks
    assert [entry["a"]["location"] for entry in check["gone"]] == [None]


# --- the list -------------------------------------------------------------------------------------------------------


def listed() -> dict[str, str]:
    """The statuses of the clashes of the list by the places of their poles."""
    return by_place([finding.row() for finding in settings().findings], "status")


@pytest.mark.parametrize(("unit", "name"), [("METERS", "Pole, at 3.2, 0.1, 9"), ("MICROMETERS", "Pole [1] of Row")])
def test_no_digit_of_a_place_is_cut(file: Path, unit: str, name: str) -> None:
    """The number stands there where the place has no room."""
    bpy.context.scene.unit_settings.length_unit = unit
    finding, layout = check_in_panel()[0], Layout()
    rows = lens.ui.scene_panel.CONTACT_LENS_UL_findings
    rows.draw_item(SimpleNamespace(), bpy.context, layout, settings(), finding, 0, settings(), "active", 0)
    assert layout.drawn.texts[0] == name


SHIFTS: dict[str, tuple[Places, dict[str, str]]] = {
    "one more": ([NEW, *POLES], {at(*FIRST): "approved", at(*SECOND): "active"}),
    "one less": (POLES[1:], {at(*FIRST): "approved", at(*SECOND): "active"}),
    "reversed": (POLES[::-1], {at(*FIRST): "approved", at(*SECOND): "active"}),
    "all moved": (MOVED, {at(*MOVED[1]): "approved", at(*MOVED[2]): "active"}),
    "gone": ([SECOND, NEW], {at(*SECOND): "active"}),
    "gone, and its number is another one's": ([NEW, SECOND], {at(*SECOND): "active"}),
    "gone elsewhere": (
        [POLES[0], (12.8, 0.05, 9.0), SECOND],
        {at(12.8, 0.05): "new", at(*SECOND): "active"},
    ),
}


def shift(what: str) -> dict[str, str]:
    """Have another row of poles; what is expected of their clashes."""
    places, expected = SHIFTS[what]
    if what == "all moved":  # with what makes them, or else each may be another one
        bpy.data.objects["Row"].location.x += 0.05
    else:
        poles(places)
    update()
    return expected


@pytest.mark.parametrize("what", SHIFTS)
def test_decisions_of_the_list_stay_where_they_were(file: Path, what: str) -> None:
    """In a check of the window and of the terminal."""
    found = check_in_panel(ignore_approved=False)
    finding = next(finding for finding in found if "3.2" in at(*finding.row()["a"]["location"]))
    finding.status = "APPROVED"
    ids = by_place([finding.row() for finding in found], "id")
    expected = shift(what)
    save_scene(file)
    (check,) = run_json(file)[1]["checks"]
    assert by_place(check["findings"], "status") == expected
    found = check_in_panel()
    assert listed() == expected
    now = by_place([finding.row() for finding in found], "id")
    elsewhere = what in ("all moved", "gone elsewhere")
    assert elsewhere or now.items() <= ids.items()
    assert len(set(now.values())) == len(found)
    known = [{**row, "status": row["status"].replace("new", "active")} for row in check["findings"]]
    assert run_json(save_scene(file))[1]["checks"][0]["findings"] == known


def test_a_clash_that_is_looked_at_again_by_itself_keeps_to_its_place(file: Path) -> None:
    """Numbers may have shifted where an instance is elsewhere and its instancer is not."""
    check_in_panel(ignore_approved=False)
    first = next(k for k, finding in enumerate(settings().findings) if finding.instance_a == "1")
    settings().findings[first].status = "APPROVED"
    poles([POLES[0], SECOND])
    update()
    lens.live.follow_clashes.renew(bpy.context.scene, settings().findings[first].pair)
    assert listed() == {at(*FIRST): "approved", at(*SECOND): "new"}


def any_row(any_of: Random) -> list[tuple[str, str]]:
    """Geometries and places, of which several may be equal."""
    return [(any_of.choice("gh"), any_of.choice("pqrstuv")) for _ in range(any_of.randint(1, 6))]


def test_of_any_rows_each_instance_stays_in_its_place() -> None:
    """Whatever of the earlier row is known: an equal one is found if there is one, and no other place is taken."""
    for seed in range(3000):
        any_of = Random(seed)
        row = any_row(any_of)
        now = {("Row", str(k)): (*one, "still") for k, one in enumerate(row)}
        earlier = [*row[any_of.randint(0, 2) :], *any_row(any_of)]
        if any_of.random() < 0.5:
            any_of.shuffle(earlier)
        before = {("Row", str(k)): (*one, "still") for k, one in enumerate(earlier) if any_of.random() < 0.7}
        others = lens.read.instances.renumbered(before, now)
        found = {one: others.get(one, one) for one in before}
        pairs = [(before[one][:2], now[other][:2]) for one, other in found.items() if other in now]
        assert len({*found.values()} & now.keys()) == len(pairs), f"seed {seed}: one is taken twice"
        assert all(then[1] == other[1] for then, other in pairs), f"seed {seed}: another place"
        same = Counter(then for then, other in pairs if then == other)
        assert same == Counter(one[:2] for one in before.values()) & Counter(row), f"seed {seed}: one is lost"


def look_again() -> None:
    """As a window looks at what has changed."""
    update()
    steps = lens.live.follow_clashes.neighbours(bpy.context)
    lens.live.background.Flow("Clashes", steps).run(None)


@pytest.mark.parametrize("again", [look_again, check_in_panel, None], ids=["window", "check", "at once"])
def test_an_approval_is_of_no_pole_that_was_in_no_clash(file: Path, again: Callable[[], object] | None) -> None:
    """Its number is that of the pole that is gone; the list never knew where it was."""
    reached = (6.4, 2.0, 9.0)
    poles([POLES[0], FIRST, reached])
    (finding,) = check_in_panel(ignore_approved=False)
    finding.status = "APPROVED"
    poles([POLES[0], reached])
    if again is not None:
        again()
    bpy.data.objects["Wall"].location.y += 1.85
    look_again()
    poles_in = [finding.row() for finding in settings().findings if finding.pair is not None]
    assert by_place(poles_in, "status") == {at(*reached): "new"}
    check_in_panel()
    assert listed() == {at(*reached): "active"}


def test_what_is_instanced_once_may_move_by_itself(file: Path) -> None:
    """As an object of an instanced collection."""
    part = cube("Part")
    instance_of(collection_of("Car", part, is_only=True), "Car 1", (0.0, 0.0, 30.0))
    cube("Ramp", (0.0, 0.0, 28.5))
    for finding in check_in_panel(ignore_approved=False):
        finding.status = "APPROVED"
    part.location.x += 0.25
    statuses = {"".join(sorted(map(finding.label, "ab"))): finding.status for finding in check_in_panel()}
    assert statuses["Part [0] of Car 1Ramp"] == "APPROVED"


def test_compound_parents_in_instances_have_places_of_their_own() -> None:
    """Their geometry is in world space, so they have no matrix."""
    parent, part = cube("Parent"), cube("Part", (0.5, 0.0, 0.0))
    adopt(parent, part)
    rigid_body(parent, "COMPOUND")
    rigid_body(part, "BOX")
    inner = collection_of("Inner", parent, part, is_only=True)
    row = [instance_of(inner, f"Inner {k}", (10.0 * k, 0.0, 0.0)) for k in range(3)]
    outer = collection_of("Outer", *row, is_only=True)
    instance_of(outer, "Row", (0.0, 0.0, 30.0))
    wall = cube("Wall", (10.5, 1.9, 30.0))
    (finding,) = check_in_panel(ignore_approved=False)
    finding.status = "APPROVED"
    outer.objects.unlink(row[1])
    wall.location.x += 10.0
    (finding,) = [finding for finding in check_in_panel() if finding.pair is not None]
    assert (finding.row()["a"]["location"], finding.status) == ([20.5, 0.0, 30.0], "NEW")


# --- decisions beside the file --------------------------------------------------------------------------------------


def saved_decisions(file: Path) -> Path:
    """The first clash approved, and nothing said of the second, in a file; the list is empty."""
    check_in_panel(ignore_approved=False)
    next(finding for finding in settings().findings if finding.instance_a == "1").status = "APPROVED"
    path = file.parent / "decisions.json"
    assert bpy.ops.contact_lens.save_decisions(filepath=str(path)) == {"FINISHED"}
    settings().findings.clear()
    return path


@pytest.mark.parametrize("what", SHIFTS)
def test_decisions_beside_the_file_stay_where_they_were(file: Path, what: str) -> None:
    path = saved_decisions(file)
    expected = shift(what)
    save_scene(file)
    document = run_json(file, "--decisions", path, "--ignore", "none")[1]
    expected = {place: status.replace("active", "new") for place, status in expected.items()}
    assert by_place(document["checks"][0]["findings"], "status") == expected
    assert len(document["decisions"]["unused"]) == what.startswith("gone")
    check_in_panel()
    assert bpy.ops.contact_lens.load_decisions(filepath=str(path)) == {"FINISHED"}
    assert listed() == expected
    bpy.ops.contact_lens.save_decisions(filepath=str(path))
    assert bpy.ops.contact_lens.load_decisions(filepath=str(path)) == {"FINISHED"}


def test_a_place_alone_is_never_left(file: Path) -> None:
    """As a decision has it that was written after a report."""
    row = next(row for row in run_json(file)[1]["checks"][0]["findings"] if row["a"]["instance"] == "1")
    place = f"{row['a']['geometry']} {row['a']['place']}"
    entry = {"a": row["a"]["name"], "b": "Wall", "a_place": place, "status": "ignored"}
    path = decisions(file, entry)
    poles([NEW, *POLES])
    (check,) = run_json(save_scene(file), "--decisions", path)[1]["checks"]
    assert list(by_place(check["findings"], "status")) == [at(*SECOND)]
    poles(POLES)
    bpy.data.objects["Row"].location.x += 0.05
    assert len(run_json(save_scene(file), "--decisions", path)[1]["checks"][0]["findings"]) == 2


def test_the_place_of_an_instance_is_not_told_by_that_of_another_ones_instancer(file: Path) -> None:
    """A pole that is elsewhere stays so beside an instance of what stands elsewhere itself."""
    poles(POLES[1:2])
    inside = collection_of("Inside", bpy.data.objects["Wall"], is_only=True)
    instance_of(inside, "Walls", (0.0, 0.0, 0.5))
    (finding,) = check_in_panel(ignore_approved=False)
    finding.status = "APPROVED"
    path = file.parent / "decisions.json"
    bpy.ops.contact_lens.save_decisions(filepath=str(path))
    settings().findings.clear()
    poles([(12.8, 0.1, 9.0)])
    (row,) = run_json(save_scene(file), "--decisions", path, "--ignore", "none")[1]["checks"][0]["findings"]
    assert row["status"] == "new"
    poles(POLES[1:2])
    bpy.data.objects["Row"].location.x += 0.05
    (row,) = run_json(save_scene(file), "--decisions", path, "--ignore", "none")[1]["checks"][0]["findings"]
    assert row["status"] == "approved"


@pytest.mark.parametrize("entry", [{"id": "aaaaaaaaaaaa", "a_place": "x y"}, {"a": "A", "b": "B", "b_place": "x"}])
def test_a_wrong_place_is_refused(file: Path, capsys: pytest.CaptureFixture[str], entry: dict[str, Any]) -> None:
    assert run(file, "--decisions", decisions(file, {**entry, "status": "ignored"})) == 2
    assert "line 5: " in capsys.readouterr().err


@pytest.mark.parametrize("what", SHIFTS)
def test_decisions_stay_where_they_were_while_the_scene_is_edited(file: Path, what: str) -> None:
    """As a window looks at what has changed."""
    check_in_panel(ignore_approved=False)
    next(finding for finding in settings().findings if finding.instance_a == "1").status = "APPROVED"
    expected = shift(what)
    look_again()
    expected = {place: status.replace("active", "new") for place, status in expected.items()}
    assert listed() == {**({at(*FIRST): "approved"} if what.startswith("gone") else {}), **expected}
    left = [finding for finding in settings().findings if finding.pair is None]
    assert len(left) == what.startswith("gone"), "nothing takes that approval"


def test_parts_of_frames_follow_places_as_the_whole_run_does(file: Path, tmp_path: Path) -> None:
    """Of a row that moves: at other frames than that of the decisions numbers count."""
    animate(bpy.data.objects["Row"], "location", f1=(0.0, 0.0, 0.0), f3=(1.0, 0.0, 0.0))
    bpy.context.scene.frame_set(1)
    path = saved_decisions(file)
    check_in_panel()
    next(finding for finding in settings().findings if finding.instance_a == "2").status = "REVIEWED"
    save_scene(file)
    frames = ("--frames", "1-3")
    old = baseline_of(file, *frames)
    poles([NEW, *POLES])
    save_scene(file)
    common, (paths, options) = ("--baseline", old, "--decisions", path, *frames, "--quiet"), outputs(tmp_path)
    code = run(file, *common, *options)
    before = [each.read_bytes() for each in paths.values()]
    first = load_report(paths["json"])["checks"][0]
    assert by_place(first["findings"], "status") == {at(*FIRST): "approved", at(*SECOND): "reviewed"}
    assert set(by_place(first["findings"], "change").values()) == {"same"}
    parts = [tmp_path / f"part{k}.json" for k in range(3)]
    for k, part in enumerate(parts):
        run(file, *common, "--only-frames", k + 1, "--json", part)
    assert run("merge", *parts[::-1], "--baseline", old, "--quiet", *options) == code
    assert [each.read_bytes() for each in paths.values()] == before
