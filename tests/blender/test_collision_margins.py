# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision margins of rigid bodies: what Blender's own simulation pushes apart is reported, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any, NamedTuple

import bmesh
import bpy
import pytest
from mathutils import Vector

from .reports import load_report, pair_report, run, run_json, table_of
from .scenes import cube, inspect, lens, notes, save_scene, update

pytestmark = pytest.mark.usefixtures("empty_scene")

SHAPES = ("BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "CONVEX_HULL", "MESH")
SAID = "the gap is 0.06 m and the margins are 0.08 m together, so Blender's simulation may push the two apart"
PUSHED = 2e-5
"""Blender units: more than rounding moves a body that nothing pushes."""


class Body(NamedTuple):
    """A rigid body of a test, made from a mesh of size 1."""

    shape: str
    margin: float | None = None
    """None: Collision Margin is off."""
    kind: str = "ACTIVE"
    scale: float = 1.0


def body(name: str, given: Body, location: Any = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A rigid body; the depsgraph is not updated, which would take long for hundreds."""
    obj = bpy.data.objects.new(name, bpy.data.meshes["Unit"])
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.scale = location, (given.scale,) * 3
    bpy.context.view_layer.objects.active = obj
    bpy.ops.rigidbody.object_add()
    settings = obj.rigid_body
    settings.type, settings.collision_shape, settings.use_deactivation = given.kind, given.shape, False
    settings.linear_damping = settings.angular_damping = 0.0
    settings.use_margin = given.margin is not None
    if given.margin is not None:
        settings.collision_margin = given.margin
    return obj


@pytest.fixture
def weightless(empty_scene: None) -> None:
    bpy.ops.rigidbody.world_add()
    bpy.context.scene.use_gravity = False
    unit = cube("Unit", size=1.0)
    unit.data.use_fake_user, unit.data.name = True, "Unit"
    bpy.data.objects.remove(unit)


def stacked(pairs: Sequence[tuple[Body, Body]], gaps: Sequence[float]) -> list[tuple[Any, Any]]:
    """Pairs one above the other, with gaps, far from all other pairs."""
    made = []
    for k, ((a, b), gap) in enumerate(zip(pairs, gaps, strict=True)):
        x, y = 5.0 * (k % 20), 5.0 * (k // 20)
        z = 0.5 * (a.scale + b.scale) + gap
        made.append((body(f"{k} a", a, (x, y, 0.0)), body(f"{k} b", b, (x, y, z))))
    update()
    return made


def are_pushed(pairs: Sequence[tuple[Any, Any]]) -> list[bool]:
    """Whether the simulation moves the bodies of pairs within five frames."""
    scene = bpy.context.scene

    def places() -> list[Vector]:
        return [b.matrix_world.translation - a.matrix_world.translation for a, b in pairs]

    scene.frame_set(1)
    before = places()
    for frame in range(2, 7):
        scene.frame_set(frame)
    moved = [(now - then).length > PUSHED for now, then in zip(places(), before, strict=True)]
    scene.frame_set(1)
    return moved


def reported_margins(**rules: object) -> dict[str, float | None]:
    """By the number of a pair its margins in a check of the scene; None of a pair without."""
    update()
    given = lens.read.scene.read_input(bpy.context, lens.data.records.Rules(**rules))
    found = lens.scene.scene_check.check(given).clashes
    return {given.objects[clash.a].name.split()[0]: clash.margins for clash in found}


def width(of: Body) -> float:
    """By how much the simulation widens a body, as the user guide says it."""
    if of.shape in ("MESH", "CONE"):
        return 0.04 if of.margin is None else of.margin
    return of.margin or 0.0 if of.shape == "CONVEX_HULL" else 0.0


def around(a: Body, b: Body) -> list[float]:
    """Gaps a little smaller and larger than where a pair may begin to be pushed apart."""
    limits = {width(a) + width(b), 0.01}
    if "MESH" in (a.shape, b.shape):
        limits |= {width(a), width(b), 0.02, 0.01 + width(a), 0.01 + width(b)}
    return sorted({factor * limit for limit in limits for factor in (0.95, 1.06) if limit > 0.0})


def assert_reported_as_simulated(pairs: Sequence[tuple[Body, Body]]) -> None:
    cases = [(a, b, gap) for a, b in pairs for gap in around(a, b)]
    made = stacked([(a, b) for a, b, _ in cases], [gap for *_, gap in cases])
    reported, pushed = reported_margins(), are_pushed(made)
    found = [reported.get(str(k)) is not None for k in range(len(cases))]
    assert {*pushed} == {True, False}
    wrong = [case for case, *both in zip(cases, pushed, found, strict=True) if both[0] != both[1]]
    assert not wrong


@pytest.mark.usefixtures("weightless")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ACTIVE", "PASSIVE"])
@pytest.mark.parametrize("margins", [(None, None), (0.1, 0.03)])
def test_what_the_simulation_pushes_apart_is_reported(kind: str, margins: tuple[float | None, float | None]) -> None:
    pairs = product(SHAPES, repeat=2) if None not in margins else combinations_with_replacement(SHAPES, 2)
    assert_reported_as_simulated([(Body(a, margins[0], kind), Body(b, margins[1])) for a, b in pairs])


@pytest.mark.usefixtures("weightless")
@pytest.mark.slow
def test_a_scaled_body_is_widened_by_the_same_length() -> None:
    shapes = (("CONE", None), ("CONVEX_HULL", None), ("CONVEX_HULL", 0.04), ("MESH", None))
    scaled = [Body(shape, margin, scale=scale) for shape, margin in shapes for scale in (0.1, 0.5, 2.0)]
    assert_reported_as_simulated([(a, Body(b)) for a in scaled for b in ("BOX", "MESH")])


@pytest.mark.usefixtures("weightless")
def test_meshes_that_are_not_along_their_axes_are_pushed_by_the_whole_margins() -> None:
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=2, radius=0.5)
    bm.to_mesh(bpy.data.meshes["Unit"])
    bm.free()
    ball = bpy.data.meshes["Unit"]
    normal = max((face.normal for face in ball.polygons), key=lambda n: min(map(abs, n)))
    reach = max(vertex.co @ normal for vertex in ball.vertices)
    made = []
    for k, gap in enumerate((0.076, 0.084)):
        at = Vector((5.0 * k, 0.0, 0.0))
        made.append((body(f"{k} a", Body("MESH"), at), body(f"{k} b", Body("MESH"), at + (2.0 * reach + gap) * normal)))
    update()
    assert are_pushed(made) == [True, False]
    assert reported_margins() == {"0": pytest.approx(0.08)}


@pytest.mark.usefixtures("weightless")
def test_bodies_that_blender_does_not_collide_have_no_margins() -> None:
    names = ("Collide", "Apart", "Passive", "Animated", "Joined", "Chosen")
    made = dict(zip(names, stacked([(Body("CONE"), Body("CONE"))] * len(names), [0.06] * len(names)), strict=True))
    made["Apart"][0].rigid_body.collision_collections = [k == 3 for k in range(20)]
    for obj in made["Passive"]:
        obj.rigid_body.type = "PASSIVE"
    for obj in made["Animated"]:
        obj.rigid_body.kinematic = True
    made["Chosen"][0].contact_lens_shape = "CONE"
    joint = bpy.data.objects.new("Joint", None)
    bpy.context.scene.collection.objects.link(joint)
    bpy.context.view_layer.objects.active = joint
    bpy.ops.rigidbody.constraint_add()
    joint.rigid_body_constraint.object1, joint.rigid_body_constraint.object2 = made["Joined"]
    update()
    rules = {"ignore_joined": False}
    assert are_pushed(list(made.values())) == [name in ("Collide", "Chosen") for name in names]
    assert reported_margins(**rules) == {"0": pytest.approx(0.08)}
    joint.rigid_body_constraint.enabled = False
    assert not are_pushed([made["Joined"]])[0]
    assert set(reported_margins(**rules)) == {"0"}, "it need not be enabled for that"
    joint.rigid_body_constraint.disable_collisions = False
    assert set(reported_margins(**rules)) == {"0", "4"}
    bpy.context.scene.rigidbody_world.enabled = False
    assert reported_margins(**rules) == {}


@pytest.mark.usefixtures("weightless")
def test_a_compound_is_as_wide_as_its_widest_part() -> None:
    ((parent, b),) = stacked([(Body("COMPOUND"), Body("BOX"))], [0.035])
    child = body("Child", Body("CONE"))
    child.parent = parent
    child.data = child.data.copy()
    update()
    assert are_pushed([(parent, b)]) == [True]
    assert reported_margins() == {"0": pytest.approx(0.04)}


@pytest.mark.usefixtures("weightless")
def test_gaps_within_margins_are_counted_apart(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cone, box = Body("CONE"), Body("BOX")
    stacked([(cone, cone), (box, box), (box, box)], [0.06, 0.03, -0.1])
    file = save_scene(tmp_path / "room.blend")
    written = [word for kind in ("json", "csv", "html") for word in (f"--{kind}", tmp_path / f"room.{kind}")]
    assert run("check", file, "--clearance", "0.05", *written) == 1
    printed, report = capfd.readouterr().out, load_report(tmp_path / "room.json")
    assert ", 1 penetrating, 1 within clearance, 1 within collision margins" in printed
    listed = [line.split("  ")[1] for line in printed.splitlines() if line.startswith("  ")]
    assert listed == ["penetrating", "within clearance", "within collision margins"]
    (check,) = report["checks"]
    assert check["relations"] == {"penetrating": 1, "within_clearance": 2}
    _, near, far = check["findings"]
    assert near["margins"] is None
    assert (far["relation"], far["depth"], far["margins"]) == ("within_clearance", 0.0, pytest.approx(0.08))
    assert far["notes"][0] == f"within the collision margins: {SAID}"
    table = table_of((tmp_path / "room.csv").read_text("utf-8"))
    assert [float(row["margins"] or 0.0) for row in table] == [0.0, 0.0, pytest.approx(0.08)]
    assert "1 within collision margins" in (tmp_path / "room.html").read_text("utf-8")
    for fail_on, expected in (("any", 1), ("touching", 1), ("penetrating", 1)):
        assert run("check", file, "--fail-on", fail_on) == expected
    assert run("check", file, "--object", "0 a") == 1
    assert run("check", file, "--object", "0 a", "--fail-on", "touching") == 0


@pytest.mark.usefixtures("weightless")
def test_parts_of_a_run_find_the_same_margins(tmp_path: Path) -> None:
    stacked([(Body(a), Body(b)) for a in ("CONE", "MESH") for b in ("CONE", "BOX")], [0.06, 0.03, 0.06, 0.005])
    file, folder = save_scene(tmp_path / "room.blend"), tmp_path / "parts"
    assert run(file, "--json", tmp_path / "one.json", "--quiet") == 1
    for shard in ("1/2", "2/2"):
        assert run(file, "--shard", shard, "--json", folder / f"{shard[0]}.json", "--quiet") == 0
    assert run("merge", folder, "--json", tmp_path / "merged.json", "--quiet") == 1
    assert (tmp_path / "merged.json").read_bytes() == (tmp_path / "one.json").read_bytes()
    (check,) = load_report(tmp_path / "one.json")["checks"]
    assert all(row["margins"] for row in check["findings"])


@pytest.mark.usefixtures("weightless")
def test_what_was_within_the_margins_of_another_blender_is_not_gone(tmp_path: Path) -> None:
    stacked([(Body("CONE"), Body("CONE"))] * 2, [0.06, -0.1])
    file, old = save_scene(tmp_path / "room.blend"), tmp_path / "old.json"
    assert run(file, "--json", old, "--quiet") == 1
    for obj in bpy.data.objects:
        obj.rigid_body.collision_margin = 0.02
    bpy.data.objects["1 b"].location.z = 2.0
    save_scene(file)

    def compared() -> tuple[list[str], list[tuple[str, str]]]:
        _, document = run_json(file, "--baseline", old)
        (check,) = document["checks"]
        names = [entry["a"]["name"] for entry in check["gone"]]
        return names, [(entry["a"]["name"], entry["reason"]) for entry in check["not_compared"]]

    assert compared() == (["1 a", "0 a"], [])
    old.write_text(old.read_text("utf-8").replace(f'"{bpy.app.version_string}"', '"5.9.0"'), "utf-8")
    assert compared() == (["1 a"], [("0 a", "it was within the collision margins of Blender 5.9.0")])


@pytest.mark.usefixtures("weightless")
def test_the_list_and_the_pair_name_the_margins() -> None:
    ((a, b),) = stacked([(Body("CONE"), Body("CONE"))], [0.06])
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    (finding,) = bpy.context.scene.contact_lens_check.findings
    assert (finding.relation, finding.margins) == ("within_clearance", pytest.approx(0.08))
    inspect(a, b)
    assert f"Within the collision margins: {SAID}" in notes()
    report = pair_report()["contact"]
    assert (report["relation"], report["margins"]) == ("separated", pytest.approx(0.08))
    a.rigid_body.collision_margin = b.rigid_body.collision_margin = 0.02
    update()
    bpy.ops.contact_lens.check_scene()
    assert finding_statuses() == ["RESOLVED"]


def finding_statuses() -> list[str]:
    return [finding.status for finding in bpy.context.scene.contact_lens_check.findings]
