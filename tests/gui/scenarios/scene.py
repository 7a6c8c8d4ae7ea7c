# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene by hand: F3, the list clicked through, Esc in a long check."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np


def _stands_apart(window: Any, exhibit: Any) -> bool:
    with window.context():
        return exhibit.current(bpy.context) is not None


def _working() -> list[str]:
    """The threads that work."""
    return [thread.name for thread in threading.enumerate() if thread.name == "Contact Lens"]


def _standing(window: Any) -> list[Any]:
    """What a check could leave behind: data, handlers, timers, operators and threads that go on."""
    data = {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "collections", "scenes", "texts")}
    kinds = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
    handlers = {name: len(getattr(bpy.app.handlers, name)) for name in kinds}
    going_on = [operator.bl_idname for operator in getattr(window.window, "modal_operators", ())]
    return [data, handlers, going_on, _working()]


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.close_splash()
    yield from window.install()
    yield from window.close_others()
    operators = window.part("blender_addon.ui.scene_operators")
    exhibit = window.part("blender_addon.ui.isolation")

    def check() -> Any:
        return bpy.context.scene.contact_lens_check  # type: ignore[attr-defined]

    def summary() -> Any:
        return json.loads(check().summary) if check().summary else {}

    def selected() -> list[str]:
        return sorted(obj.name for obj in bpy.context.view_layer.objects.selected)

    with window.context():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        for k, x in enumerate((0.0, 1.5, 8.0, 9.75, 20.0)):
            bpy.ops.mesh.primitive_cube_add(location=(x, 0.0, 0.0))
            bpy.context.object.name = "ABCDE"[k]
        bpy.ops.object.select_all(action="DESELECT")
        bpy.ops.ed.undo_push(message="Scene")
    window.look_at((8.0, 0.0, 0.0), 40.0, (68.0, 0.0, 20.0))
    yield from window.show_tab()
    # The other sections would push the list out of sight.
    panels = window.part("blender_addon.ui.panels")
    for cls in panels.CLASSES:
        if getattr(cls, "bl_space_type", "") == "VIEW_3D" and getattr(cls, "bl_region_type", "") == "UI":
            bpy.utils.unregister_class(cls)
    window.redraw()
    yield from window.rest()
    sidebar = window.region("UI")
    yield from window.click(sidebar.x + 60, sidebar.y + sidebar.height - 14)  # unfolds the section
    yield from window.screenshot("unfolded")

    yield from window.click_button("contact_lens.check_scene()")
    yield from window.until(lambda: len(check().findings) == 2, "the button ran Check Scene")
    yield from window.screenshot("found")
    numbers["found"] = [finding.row()["depth"] for finding in check().findings]

    # The list follows what happens to the objects, undo and redo too.
    follow = window.part("blender_addon.check.changes")

    def changed() -> list[str]:
        return [follow.reason(bpy.context.scene, k)[1] for k in range(len(check().findings))]

    def compared() -> bool:
        return follow.COMPARING not in changed()

    def move() -> None:
        bpy.data.objects["A"].location.x = -0.1

    def edit() -> None:
        mesh = bpy.data.objects["C"].data
        for vertex in mesh.vertices:
            vertex.co.z -= 0.5
        mesh.update()

    numbers["followed"] = []
    for change in (move, edit):
        change()
        with window.context():
            bpy.ops.ed.undo_push(message="Change")
        expected = len(numbers["followed"]) + 1
        yield from window.until(lambda n=expected: compared() and sum(map(bool, changed())) == n, "it is seen")
        numbers["followed"].append(changed())
        yield from window.screenshot(f"followed_{expected}")
    for keys in ({"ctrl": True}, {"ctrl": True}, {"ctrl": True, "shift": True}, {"ctrl": True}):
        yield from window.rest()
        yield from window.key("Z", **keys)
        yield 1.0
        yield from window.until(compared, "it is compared")
        numbers["followed"].append(changed())

    # What is inspected again, by going there or because it follows a move, is what the finding says then.
    numbers["renewed"] = []
    move()
    yield from window.until(lambda: changed()[0], "A has moved")
    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    for x in (-0.1, 0.0):
        bpy.data.objects["A"].location.x = x
        yield from window.until(lambda d=0.5 + x: abs(check().findings[0].row()["depth"] - d) < 1e-5, "it is renewed")
        numbers["renewed"].append([check().findings[0].row()["depth"], changed()[0]])
    check().active = -1

    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    below_the_list = window.mouse[1]
    yield from window.until(lambda: check().active == 0, "Next goes to the first finding")
    numbers["first"] = selected()
    numbers["looks at"] = list(window.area.spaces.active.region_3d.view_location)
    numbers["stands apart"] = [_stands_apart(window, exhibit)]
    yield from window.rest()
    yield from window.screenshot("first")

    # A click on a row goes there too.
    numbers["clicked"] = []
    for y in range(below_the_list + 150, below_the_list + 10, -12):
        yield from window.click(sidebar.x + 70, y)
        if check().active == 1:
            numbers["clicked"] = selected()
            break
    yield from window.screenshot("clicked")

    # A click into the view leaves the finding, and everything is as before.
    view = window.region("WINDOW")
    yield from window.click(view.x + 60, view.y + 40)
    numbers["stands apart"].append(_stands_apart(window, exhibit))
    yield from window.screenshot("left")

    # A pair that takes long: Blender goes on, another row gives it up, Esc too.
    opening = window.part("blender_addon.ui.open_clash")
    session = window.part("blender_addon.check.session")
    share = lambda: operators.progress_of(bpy.context.scene)  # noqa: E731
    looked = lambda: opening.progress_of(bpy.context.scene)  # noqa: E731

    def inspected() -> list[str]:
        with window.context():
            known = session.current(bpy.context)
        return [] if known is None else sorted((known.name_a, known.name_b))

    before = _standing(window)
    with window.held(0.3):
        yield from window.click_button("contact_lens.go_to_finding(step=1)")
        yield from window.until(lambda: (looked() or 0.0) >= 0.3, "the pair is looked at beside Blender")
        numbers["long"] = [selected(), inspected(), _stands_apart(window, exhibit)]
        yield from window.screenshot("looking")
        next_button = window.mouse
        first = opening._pending
        yield from window.rest()
        yield from window.click(*next_button)
        yield from window.until(lambda: check().active == 1, "Next goes on meanwhile")
        numbers["next"] = [selected(), opening._pending is first]
        yield from window.until(lambda: len(_working()) <= 1, "the first one was given up")
    yield from window.until(lambda: looked() is None, "it ends by itself")
    numbers["ended"] = [selected(), inspected(), _stands_apart(window, exhibit)]
    with window.held(0.3):
        yield from window.rest()
        yield from window.click(*next_button)
        yield from window.until(lambda: (looked() or 0.0) >= 0.3, "another one")
        yield from window.key("ESC")
        yield from window.until(lambda: looked() is None, "Esc ends it")
    numbers["given up"] = [selected(), inspected(), _stands_apart(window, exhibit)]
    yield from window.rest()
    numbers["left by looking"] = [now for now, then in zip(_standing(window), before, strict=True) if now != then]

    # Grouped by object, and the pair that was clicked separated by its button.
    with window.context():
        bpy.ops.mesh.primitive_cube_add(location=(0.4, 1.6, 0.0))
        bpy.context.object.name = "F"
    yield from window.click_button("contact_lens.check_scene()")
    yield from window.until(lambda: len(check().findings) == 4, "the new cube is found")
    check().sort = "OBJECT"
    yield from window.click_button("contact_lens.go_to_finding(step=1)")
    yield from window.rest()
    yield from window.screenshot("grouped")
    moved = check().findings[check().active].object_b
    before = moved.matrix_world.copy()
    yield from window.click_button("contact_lens.separate_finding(moves='B')")
    yield from window.until(lambda: moved.matrix_world != before, "Separate B moved B")
    stale_reason = window.part("blender_addon.check.session").stale_reason
    yield from window.until(lambda: not stale_reason(bpy.context), "the pair is inspected again")
    numbers["depth after"] = window.part("blender_addon.check.session").current(bpy.context).contact.depth
    yield from window.screenshot("separated")

    # Another pair is separated while a check goes on that has read it before: that is not told as current.
    by_names = [{finding.object_a.name, finding.object_b.name} for finding in check().findings]
    check().active = by_names.index({"C", "D"})
    yield from window.until(lambda: looked() is None, "the pair is known")
    moved = check().findings[check().active].object_b
    before = moved.matrix_world.copy()
    with window.held(0.3):
        with window.context():
            bpy.ops.contact_lens.check_scene("INVOKE_DEFAULT")
        yield from window.until(lambda: (share() or 0.0) >= 0.3, "a check goes on")
        with window.context():
            bpy.ops.contact_lens.separate_finding("INVOKE_DEFAULT", moves="B")
        yield from window.until(lambda: len(_working()) == 2, "so does Separate")
        yield from window.until(lambda: moved.matrix_world != before, "it is moved before the check ends")
        yield from window.screenshot("meanwhile")
    yield from window.until(lambda: share() is None and not _working(), "both end")
    yield from window.until(lambda: not stale_reason(bpy.context), "the pair is inspected again")
    numbers["meanwhile"] = {
        "moved": moved.matrix_world != before,
        "depth": session.current(bpy.context).contact.depth,
        "left out": [skipped["name"] for skipped in summary()["skipped"]],
        "as the check read it": [
            finding.row()["depth"]
            for finding in check().findings
            if moved in (finding.object_a, finding.object_b) and finding.relation == "penetrating"
        ],
    }

    # The animation plays while a check goes on, and something is moved by hand: only that is taken for edited.
    with window.context():
        for k, name in enumerate("PQRS"):
            bpy.ops.mesh.primitive_cube_add(location=(80.0 + 20.0 * (k // 2) + 1.5 * (k % 2), 0.0, 0.0))
            bpy.context.object.name = name
    animated, by_hand = bpy.data.objects["P"], bpy.data.objects["R"]
    animated.keyframe_insert("location", frame=1)
    animated.location.x = 60.0
    animated.keyframe_insert("location", frame=20)
    bpy.context.scene.frame_set(1)
    yield from window.rest()
    with window.held(0.3):
        with window.context():
            bpy.ops.contact_lens.check_scene("INVOKE_DEFAULT")
        yield from window.until(lambda: (share() or 0.0) >= 0.3, "a check goes on")
        with window.context():
            bpy.ops.screen.animation_play()
        yield from window.until(lambda: bpy.context.scene.frame_current > 20, "the animation plays")
        with window.context():
            bpy.ops.screen.animation_cancel(restore_frame=False)
        by_hand.location.y = 9.0
        yield from window.rest()
    yield from window.until(lambda: share() is None, "the check ends")
    yield from window.screenshot("played")
    found = {row["a"]["name"]: row for row in (finding.row() for finding in check().findings)}
    numbers["played"] = {
        "frame": summary()["frame"],
        "left out": [skipped["name"] for skipped in summary()["skipped"]],
        "animated": found["P"]["depth"],
        "by hand": "R" in found,
    }
    bpy.context.scene.frame_set(1)

    # A long check tells how far it is; Esc ends it, and what is done is kept.
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
    before = _standing(window)
    with window.held(0.3):
        with window.context():
            bpy.ops.contact_lens.check_scene("INVOKE_DEFAULT")
        yield from window.until(lambda: (share() or 0.0) > 0.2, "the check goes on")
        numbers["share"] = share()
        yield from window.screenshot("checking")
        yield from window.key("ESC")
        yield from window.until(lambda: share() is None, "Esc ends it")
    numbers["after Esc"] = {
        "partial": summary()["partial"],
        "checked": summary()["checked_pairs"],
        "candidates": summary()["candidate_pairs"],
        "findings": len(check().findings),
    }
    yield from window.screenshot("stopped")
    numbers["left behind"] = [now for now, then in zip(_standing(window), before, strict=True) if now != then]
