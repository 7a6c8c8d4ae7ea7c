# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene by hand: F3, the list clicked through, Esc in a long check."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

APPROVE = "set_status(status='APPROVED')"
COMMANDS = (
    "previous_finding()",
    "go_to_finding(step=1)",
    APPROVE,
    "separate_finding(moves='B')",
    "move_all_out(scope='LIST')",
    "save_scene_report()",
    "frame()",
)
"""The buttons of the clash that is open, the last one beside its direction."""


def working() -> list[str]:
    """The threads that work."""
    return [thread.name for thread in threading.enumerate() if thread.name == "Contact Lens"]


def leftovers(window: Any) -> list[Any]:
    """What a check could leave behind: data, handlers, timers, operators and running threads."""
    data = {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "collections", "scenes", "texts")}
    kinds = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
    handlers = {name: len(getattr(bpy.app.handlers, name)) for name in kinds}
    running = [operator.bl_idname for operator in getattr(window.window, "modal_operators", ())]
    return [data, handlers, running, working()]


def differences(now: list[Any], before: list[Any]) -> list[Any]:
    return [a for a, b in zip(now, before, strict=True) if a != b]


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    yield from window.close_others()
    operators = window.part("blender_addon.operators.scene_operators")
    isolation = window.part("blender_addon.views.isolation")
    opening = window.part("blender_addon.views.open_clash")

    def check() -> Any:
        return bpy.context.scene.contact_lens_check  # type: ignore[attr-defined]

    def summary() -> Any:
        return json.loads(check().summary) if check().summary else {}

    def selected() -> list[str]:
        return sorted(obj.name for obj in bpy.context.view_layer.objects.selected)

    def looking() -> Any:
        return opening.progress_of(bpy.context.scene)

    def is_isolated() -> bool:
        with window.context():
            return bool(isolation.is_isolated(bpy.context))

    with window.context():
        for k, x in enumerate((0.0, 1.5, 8.0, 9.75, 20.0)):
            bpy.ops.mesh.primitive_cube_add(location=(x, 0.0, 0.0))
            bpy.context.object.name = "ABCDE"[k]
    window.select()
    window.look_at((8.0, 0.0, 0.0), 40.0, (68.0, 0.0, 20.0))
    yield from window.search("Check Scene")
    yield from window.until(lambda: len(check().findings) == 2, "it ran Check Scene")
    sidebar = window.region("UI")
    yield from window.until(lambda: sidebar.active_panel_category == "Contact", "the first check opens its list")
    yield from window.screenshot("found")
    numbers["found"] = [finding.row()["depth"] for finding in check().findings]
    rows = window.listen_to_rows()
    window.redraw()
    yield 1.0
    numbers["rows"] = [text for text in rows[0] if text]
    long_names = [f"Storey 03.Section B.Axis C.{kind}" for kind in ("Beam.Y.07.07", "Pipe.033")]
    for name, long_name in zip("AB", long_names, strict=True):
        bpy.data.objects[name].name = long_name
    yield from window.screenshot("long_names")
    numbers["long names"], numbers["long rows"] = long_names, [text for text in rows[0] if text]
    for name, long_name in zip("AB", long_names, strict=True):
        bpy.data.objects[long_name].name = name

    # The list follows what happens to the objects, undo and redo too.
    follow = window.part("blender_addon.clashes.changes")

    def changed() -> list[str]:
        return [follow.reason(bpy.context.scene, k)[1] for k in range(len(check().findings))]

    def listed() -> list[list[float]]:
        rows = (finding.row() for finding in check().findings)
        return [[round(row["depth"], 4), round(row["area"], 4)] for row in rows]

    def move() -> None:
        bpy.data.objects["A"].location.x = -0.1

    def edit() -> None:
        bpy.data.objects["C"].data.transform(Matrix.Translation((0.0, 0.0, -0.5)))
        bpy.data.objects["C"].data.update()

    numbers["followed"] = []
    for change in (move, edit):
        change()
        with window.context():
            bpy.ops.ed.undo_push(message="Change")
        before = listed()
        yield from window.until(lambda old=before: listed() != old and not any(changed()), "it is checked again")
        numbers["followed"].append(listed())
        yield from window.screenshot(f"followed_{len(numbers['followed'])}")
    for shift in (False, False, True, False):
        yield from window.undo(shift=shift)
        yield 1.0
        yield from window.until(lambda: not any(changed()), "it is checked again")
        numbers["followed"].append(listed())

    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    below_the_list = window.mouse[1]
    numbers["first click"], numbers["top"] = window.mouse, sidebar.y + sidebar.height
    yield from window.until(lambda: check().active == 0, "Next goes to the first finding")
    numbers["first"] = selected()
    numbers["looks at"] = list(window.area.spaces.active.region_3d.view_location)
    numbers["isolated"] = [is_isolated()]
    yield from window.rest()
    yield from window.screenshot("first")

    # A click on a row opens it too.
    numbers["clicked"] = []
    for y in range(below_the_list + 250, below_the_list + 10, -12):
        yield from window.click(sidebar.x + 70, y)
        if check().active == 1:
            numbers["clicked"] = selected()
            break
    yield from window.screenshot("clicked")

    # From clash to clash no button moves, however different they are.
    places = []
    check().findings[1].data = json.dumps({**check().findings[1].row(), "notes": ["A note that is long. " * 5]})
    for active in (0, 1):
        check().active = active
        yield from window.until(lambda: opening.progress_of(bpy.context.scene) is None, "the pair is known")
        found = {}
        for command in COMMANDS:
            found[command] = yield from window.find_button(f"contact_lens.{command}")
        places.append(found)
    numbers["places"] = places
    yield from window.screenshot("walked")

    # Approve, and back.
    yield from window.click_button(f"contact_lens.{APPROVE}")
    yield from window.until(lambda: check().findings[1].status == "APPROVED", "the button approves")
    numbers["approved"] = [finding.status for finding in check().findings]
    yield from window.screenshot("approved")
    check().findings[1].status = "NEW"
    yield from window.click_button("contact_lens.previous_finding()")
    yield from window.until(lambda: check().active == 0, "the button goes back")
    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    yield from window.until(lambda: check().active == 1, "and forth")

    # Ignore opens a menu; T is the letter of This Pair.
    yield from window.click(sidebar.x + sidebar.width / 2, places[0][APPROVE][1] - 5)
    yield from window.screenshot("ignore")
    yield from window.key("T")
    yield from window.until(lambda: len(check().ignored) == 1, "the menu ignores the pair")
    numbers["ignored"] = sorted(obj.name for obj in (check().ignored[0].object_a, check().ignored[0].object_b))
    check().ignored.clear()

    # A click into the view leaves the finding, and everything is as before.
    view = window.region("WINDOW")
    yield from window.click(view.x + 60, view.y + 40)
    numbers["isolated"].append(is_isolated())
    yield from window.screenshot("left")

    # A click on a dot opens its clash, a click beside dots selects as ever.
    check().active = -1
    window.select()
    window.look_at((8.0, 0.0, 0.0), 40.0, (68.0, 0.0, 20.0))
    yield 1.0
    yield from window.move(*window.place(check().findings[1].row()["center"]))
    yield from window.screenshot("dot")
    yield from window.click_point(check().findings[1].row()["center"])
    yield from window.until(lambda: check().active == 1, "a click on a dot opens its clash")
    yield from window.until(lambda: looking() is None, "the pair is known")
    numbers["dot"] = selected()
    window.look_at((8.0, 0.0, 0.0), 40.0, (68.0, 0.0, 20.0))
    yield 1.0
    yield from window.click_point((2.2, -1.0, 0.3))
    numbers["beside dots"] = [selected(), check().active]

    # A pair that takes long: Blender stays usable, another row cancels it, Esc too.
    def checking() -> Any:
        return operators.progress_of(bpy.context.scene)

    def state() -> list[Any]:
        """What is selected, inspected, and whether it is isolated."""
        found = window.inspection()
        return [selected(), [] if found is None else sorted((found.name_a, found.name_b)), is_isolated()]

    before = leftovers(window)
    with window.held(0.3):
        yield from window.click_button("contact_lens.go_to_finding(step=1)")
        yield from window.until(lambda: (looking() or 0.0) >= 0.3, "the pair is looked at beside Blender")
        numbers["long"] = state()
        yield from window.screenshot("looking")
        next_button = window.mouse
        first = opening._pending
        yield from window.rest()
        yield from window.click(*next_button)
        yield from window.until(lambda: check().active == 1, "Next opens another meanwhile")
        numbers["next"] = [selected(), opening._pending is first]
        yield from window.until(lambda: len(working()) <= 1, "the first one was cancelled")
    yield from window.until(lambda: looking() is None, "it ends by itself")
    numbers["ended"] = state()
    with window.held(0.3):
        yield from window.rest()
        yield from window.click(*next_button)
        yield from window.until(lambda: (looking() or 0.0) >= 0.3, "another one")
        yield from window.key("ESC")
        yield from window.until(lambda: looking() is None, "Esc ends it")
    numbers["cancelled"] = state()
    yield from window.rest()
    numbers["left by looking"] = differences(leftovers(window), before)

    # Grouped by object, and the pair that was clicked separated by its button.
    with window.context():
        bpy.ops.mesh.primitive_cube_add(location=(0.4, 1.6, 0.0))
        bpy.context.object.name = "F"
    yield from window.click_button("contact_lens.check_scene()")  # in the header
    yield from window.until(lambda: len(check().findings) == 4, "the new cube is found")
    check().sort = "OBJECT"
    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    yield from window.rest()
    yield from window.screenshot("grouped")
    moved = check().findings[check().active].object_b
    before = moved.matrix_world.copy()
    yield from window.click_button("contact_lens.separate_finding(moves='B')")
    yield from window.until(lambda: moved.matrix_world != before, "Separate B moved B")
    yield from window.until_fresh()
    numbers["depth after"] = window.inspection().contact.depth
    yield from window.screenshot("separated")

    # Another pair is separated while a check runs that has read it before: that is not reported as current.
    by_names = [{finding.object_a.name, finding.object_b.name} for finding in check().findings]
    check().active = by_names.index({"C", "D"})
    yield from window.until(lambda: looking() is None, "the pair is known")
    moved = check().findings[check().active].object_b
    before = moved.matrix_world.copy()
    with window.held(0.3):
        with window.context():
            bpy.ops.contact_lens.check_scene("INVOKE_DEFAULT")
        yield from window.until(lambda: (checking() or 0.0) >= 0.3, "a check runs")
        with window.context():
            bpy.ops.contact_lens.separate_finding("INVOKE_DEFAULT", moves="B")
        yield from window.until(lambda: len(working()) == 2, "so does Separate")
        yield from window.until(lambda: moved.matrix_world != before, "it is moved before the check ends")
        yield from window.screenshot("meanwhile")
    yield from window.until(lambda: checking() is None and not working(), "both end")
    yield from window.until_fresh()
    numbers["meanwhile"] = {
        "moved": moved.matrix_world != before,
        "depth": window.inspection().contact.depth,
        "left out": [skipped["name"] for skipped in summary()["skipped"]],
        "as the check read it": [
            finding.row()["depth"]
            for finding in check().findings
            if moved in (finding.object_a, finding.object_b) and finding.relation == "penetrating"
        ],
    }

    # One click moves all that clash, one step of undo takes it back.
    def penetrating() -> list[str]:
        left = [finding for finding in check().findings if finding.is_open and not finding.is_apart]
        return [finding.label("a") + finding.label("b") for finding in left if finding.relation == "penetrating"]

    def places() -> list[float]:
        return [round(bpy.data.objects[name].matrix_world.translation.x, 4) for name in "ABCDEF"]

    with window.context():
        bpy.data.objects["D"].location.x = 9.0
        bpy.data.objects["E"].location.x = 10.5
        bpy.ops.ed.undo_push(message="Move")
    yield from window.until(lambda: {"CD", "DE"} <= {*penetrating()}, "new clashes are found by themselves")
    before = places()
    yield from window.screenshot("all_penetrate")
    yield from window.click_button("contact_lens.move_all_out(scope='LIST')")
    yield from window.until(lambda: not penetrating(), "all are moved out, and the list knows")
    numbers["moved out"] = [a != b for a, b in zip(places(), before, strict=True)]
    yield from window.screenshot("all_moved_out")
    yield from window.undo()
    yield from window.until(lambda: places() == before, "one step takes all back")
    yield from window.until(lambda: {"CD", "DE"} <= {*penetrating()}, "and the clashes")

    # A long check shows its progress; Esc ends it, and what is done is kept.
    rng = np.random.default_rng(1)
    with window.context():
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4)
        mesh = bpy.context.object.data
        bpy.data.objects.remove(bpy.context.object)
        for k in range(600):
            obj = bpy.data.objects.new(f"Ball {k}", mesh)
            obj.location, obj.rotation_euler = rng.uniform(40.0, 51.0, 3), rng.uniform(0.0, 6.0, 3)
            bpy.context.scene.collection.objects.link(obj)
    yield from window.rest()
    before = leftovers(window)
    with window.held(0.3):
        with window.context():
            bpy.ops.contact_lens.check_scene("INVOKE_DEFAULT")
        yield from window.until(lambda: (checking() or 0.0) > 0.2, "the check runs")
        numbers["fraction"] = checking()
        yield from window.screenshot("checking")
        yield from window.key("ESC")
        yield from window.until(lambda: checking() is None, "Esc ends it")
    numbers["after Esc"] = {
        "partial": summary()["partial"],
        "checked": summary()["checked_pairs"],
        "candidates": summary()["candidate_pairs"],
        "findings": len(check().findings),
    }
    yield from window.screenshot("stopped")
    numbers["left behind"] = differences(leftovers(window), before)
