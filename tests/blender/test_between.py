# SPDX-License-Identifier: GPL-3.0-or-later
"""What moved so far that it may have passed through something between two frames is not called clean."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from .processes import in_process, modules_of
from .reports import load_report, outputs, run, run_json
from .scenes import adopt, animate, block, cube, save_scene, sheet, torus

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = ("--frames", "1-6")


def bullet(name: str = "Bullet", **more: float) -> bpy.types.Object:
    """A cube of 0.5 m that flies 6 m from frame 4 to frame 5."""
    made = cube(name, size=0.5)
    animate(made, "location", "CONSTANT", f1=(-3.0, 0.0, 0.0), f5=(3.0, 0.0, 0.0))
    return made


def wall(name: str = "Wall", x: float = 0.0) -> bpy.types.Object:
    return block(name, (0.1, 4.0, 4.0), (x, 0.0, 0.0))


def fast(data: dict[str, Any]) -> dict[float, list[dict[str, Any]]]:
    """What is not checked between frames, by the later frame."""
    entries = {check["frame"]: [of for of in check["skipped"] if of["kind"] == "fast"] for check in data["checks"]}
    return {frame: of for frame, of in entries.items() if of}


def names(data: dict[str, Any]) -> list[list[str]]:
    return [entry["objects"] for entries in fast(data).values() for entry in entries]


SENTENCE = (
    "'Bullet' may have passed through 'Wall' between frames 4 and 5: it moved 6 m, 12 times its extent in that "
    "direction"
)


def test_a_bullet_that_flies_through_a_wall_between_two_frames_is_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bullet(), wall()
    scene = save_scene(tmp_path / "range.blend")
    paths, options = outputs(tmp_path)
    assert run(scene, *FRAMES, *options) == 3
    told = capsys.readouterr()
    assert told.out.count(f"  not checked: {SENTENCE}\n") == 1
    assert SENTENCE in told.err
    data = load_report(paths["json"])
    assert list(fast(data)) == [5]
    ((entry,),) = fast(data).values()
    assert (entry["name"], entry["reason"], entry["objects"]) == ("Bullet", SENTENCE, ["Bullet", "Wall"])
    (error,) = load_report(paths["junit"]).iter("error")
    assert (error.get("type"), error.get("message")) == ("contact_lens.fast", SENTENCE)
    assert SENTENCE.replace("'", "&#x27;") in paths["html"].read_text(encoding="utf-8")
    assert run(scene, *FRAMES, "--quiet", "--allow-fast") == 0
    assert run(scene, *FRAMES, "--quiet", "--allow-skipped") == 3
    assert run(scene, "--frames", "1-4", "--quiet") == 0


def test_a_bullet_through_many_walls_is_one_entry(tmp_path: Path) -> None:
    bullet()
    for k in range(12):
        wall(f"Wall {k:02}", 0.2 * k - 1.2)
    _, data = run_json(save_scene(tmp_path / "range.blend"), *FRAMES)
    ((entry,),) = fast(data).values()
    assert entry["objects"] == ["Bullet", *(f"Wall {k:02}" for k in range(12))]
    assert "through 'Wall 00', 'Wall 01', 'Wall 02', and 9 more between" in entry["reason"]


def test_what_moves_together_or_meets_nothing_is_checked(tmp_path: Path) -> None:
    """A car turns a corner, with a passenger and a bag that is flat; another car passes in its lane."""
    car = block("Car", (4.0, 2.0, 1.5), (0.0, 0.0, 0.75))
    passenger, bag = cube("Passenger", (0.5, 0.5, 0.7), 0.4), sheet("Bag", location=(-1.0, 0.0, 0.7))
    for rider in (passenger, bag):
        rider.scale = (0.5, 0.5, 0.5)
    adopt(car, passenger, bag)
    animate(car, "location", "LINEAR", f1=(0.0, 0.0, 0.75), f6=(40.0, 10.0, 0.75))
    animate(car, "rotation_euler", "LINEAR", f1=(0.0, 0.0, 0.0), f6=(0.0, 0.0, math.pi / 2))
    other = block("Other", (4.0, 2.0, 1.5))
    animate(other, "location", "LINEAR", f1=(40.0, -5.0, 0.75), f6=(0.0, -5.0, 0.75))
    block("Road", (200.0, 50.0, 1.0), (0.0, 0.0, -0.5))
    scene = save_scene(tmp_path / "road.blend")
    _, data = run_json(scene, *FRAMES, "--ignore", "none")
    assert fast(data) == {}
    assert max(check["motion"]["extents"] or 9.0 for check in data["checks"]) > 2.0, "else this proves nothing"


def test_what_keeps_clear_of_a_shape_is_checked_though_it_is_in_the_box_of_that(tmp_path: Path) -> None:
    """A ball flies and turns in the middle of a ring, and cartons go round a post."""
    torus("Ring", major_radius=20.0, minor_radius=1.0)
    ball = cube("Ball", size=0.5)
    animate(ball, "location", "LINEAR", f1=(-3.0, 0.0, 0.0), f6=(3.0, 0.0, 0.0))
    animate(ball, "rotation_euler", "LINEAR", f1=(0.0, 0.0, 0.0), f6=(0.0, 3.0, 9.0))
    bpy.ops.mesh.primitive_cylinder_add(radius=2.0, location=(50.0, 0.0, 0.0))
    for k in range(8):
        carton = cube(f"Carton {k}", size=0.3)
        turns = {f"f{frame}": (0.0, 0.0, k * math.pi / 4 + 0.16 * frame) for frame in range(1, 7)}
        at = {frame: (50.0 + 2.5 * math.cos(z), 2.5 * math.sin(z), 0.0) for frame, (*_, z) in turns.items()}
        animate(carton, "location", "LINEAR", **at)
        animate(carton, "rotation_euler", "LINEAR", **turns)
    code, data = run_json(save_scene(tmp_path / "round.blend"), *FRAMES)
    assert (code, fast(data)) == (0, {})
    assert all(check["motion"]["extents"] > 1.0 for check in data["checks"][1:]), "else this proves nothing"


def test_what_swings_through_a_wall_may_have_passed(tmp_path: Path) -> None:
    """Of a quarter turn the wall is at the middle of the arc, which the straight way does not meet."""
    ball = cube("Ball", (5.0, 0.0, 0.0), 0.3)
    pivot = block("Pivot", (0.1, 0.1, 0.1), (0.0, 0.0, 5.0))
    adopt(pivot, ball)
    animate(pivot, "rotation_euler", "CONSTANT", f1=(0.0, 0.0, 0.0), f5=(0.0, 0.0, math.pi / 2))
    middle = 5.0 * math.sqrt(0.5)
    block("Wall", (0.4, 0.4, 1.0), (middle, middle, 0.0))
    _, data = run_json(save_scene(tmp_path / "swing.blend"), *FRAMES)
    assert names(data) == [["Ball", "Wall"]]


def test_two_that_move_towards_each_other_may_pass(tmp_path: Path) -> None:
    for name, x in (("A", -0.6), ("B", 0.6)):
        made = cube(name, size=1.0)
        animate(made, "location", "CONSTANT", f1=(x, 0.0, 0.0), f5=(-x, 0.0, 0.0))
    ((made,),) = [fast(run_json(save_scene(tmp_path / "two.blend"), *FRAMES)[1]).values()]
    assert [entry["objects"] for entry in made] == [["A", "B"]]


def test_what_is_a_clash_at_one_of_the_frames_or_touches_at_both_is_known(tmp_path: Path) -> None:
    bullet()
    for name, x in (("At the Start", -3.2), ("Between", 0.0), ("At the End", 3.2)):
        wall(name, x)
    wall("Touched at the Start", -2.7)
    slope = block("Slope", (8.0, 0.5, 1.0), (0.0, 0.0, 5.0))
    slider = cube("Slider", size=0.5)
    for tilted in (slope, slider):
        tilted.rotation_euler.y = 0.5
    along = math.cos(0.5), -math.sin(0.5)
    above = 0.75 * math.sin(0.5), 0.75 * math.cos(0.5)
    ends = {
        f"f{frame}": (x * along[0] + above[0], 0.0, 5.0 + x * along[1] + above[1]) for frame, x in ((1, -3), (5, 3))
    }
    animate(slider, "location", "CONSTANT", **ends)
    code, data = run_json(save_scene(tmp_path / "range.blend"), *FRAMES, "--fail-on", "never")
    assert {row["relation"] for check in data["checks"] for row in check["findings"]} == {"penetrating", "touching"}
    assert (code, names(data)) == (3, [["Bullet", "Between", "Touched at the Start"]])


def test_pairs_that_are_ignored_or_decided_about_are_left_out(tmp_path: Path) -> None:
    decisions = tmp_path / "decisions.json"
    listed = [{"a": "Bullet", "b": "Wall 2", "status": "ignored"}]
    head = {"schema": "contact-lens-decisions", "schema_version": 1}
    decisions.write_text(json.dumps({**head, "decisions": listed}), encoding="utf-8")
    adopt(bullet(), *(wall(f"Wall {k}", 0.5 * k) for k in (0,)))
    for k in (1, 2, 3):
        wall(f"Wall {k}", 0.5 * k)
    bpy.data.objects["Wall 0"].parent = None
    check = bpy.context.scene.contact_lens_check
    ignored = check.ignored.add()
    ignored.object_a, ignored.object_b = (bpy.data.objects[name] for name in ("Bullet", "Wall 1"))
    scene = save_scene(tmp_path / "range.blend")
    assert names(run_json(scene, *FRAMES)[1]) == [["Bullet", "Wall 0", "Wall 2", "Wall 3"]]
    assert names(run_json(scene, *FRAMES, "--decisions", decisions)[1]) == [["Bullet", "Wall 0", "Wall 3"]]
    everything = run_json(scene, *FRAMES, "--decisions", decisions, "--ignore", "none")[1]
    assert names(everything) == [["Bullet", "Wall 0", "Wall 1", "Wall 2", "Wall 3"]]
    against = run_json(scene, *FRAMES, "--object", "Wall 3")[1]
    assert names(against) == [["Bullet", "Wall 3"]]


def test_parts_have_the_entries_of_one_run(tmp_path: Path) -> None:
    bullet()
    for k in range(6):
        wall(f"Wall {k}", 0.2 * k)
        cube(f"Cube {k}", (1.9 * k, 20.0, 0.0), 2.0)
    scene = save_scene(tmp_path / "range.blend")
    command = [scene, *FRAMES, "--fail-on", "never"]
    paths, options = outputs(tmp_path)

    def written(*arguments: object) -> dict[str, bytes]:
        assert run(*arguments, *options, "--fail-on", "never", "--quiet") == 3
        return {kind: path.read_bytes() for kind, path in paths.items()}

    whole = written(*command)
    cells = [(frames, shard) for frames in ("1-4", "5-6") for shard in ("1/2", "2/2")]
    parts = [tmp_path / f"{k}.part.json" for k in range(len(cells))]
    for (frames, shard), path in zip(cells, parts, strict=True):
        only = ("--only-frames", frames, "--shard", shard)
        assert run(*command, *only, "--json", path, "--quiet") == 0
    assert written("merge", *parts) == whole


@pytest.mark.slow
@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_processes_have_the_entries_of_one(addon: ModuleType, tmp_path: Path) -> None:
    bullet(), wall()
    scene = save_scene(tmp_path / "range.blend")
    (tmp_path / "profile").mkdir()
    paths, options = outputs(tmp_path)
    assert run(scene, *FRAMES, *options, "--quiet") == 3
    whole = {kind: path.read_bytes() for kind, path in paths.items()}
    words = ["check", scene, *FRAMES, *options, "--quiet", "--jobs", 2]
    command = [sys.executable, "-m", "contact_lens", *map(str, words)]
    code, _, err = in_process(command, tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)))
    assert (code, err) == (3, f"contact_lens: not everything could be checked: {SENTENCE}\n")
    assert {kind: path.read_bytes() for kind, path in paths.items()} == whole
