# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job by hand: click two objects, F3, read the panel, change the redo panel, undo, redo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np


def world_points(obj: bpy.types.Object) -> Any:
    """(n, 3) the vertices of a mesh in world space, float64, read here and not by the add-on."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    local = np.array([vertex.co[:] for vertex in evaluated.data.vertices], dtype=np.float64)
    matrix = np.array([row[:] for row in evaluated.matrix_world], dtype=np.float64)
    return local @ matrix[:3, :3].T + matrix[:3, 3]


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()
    core, now = window.part("core"), window.inspection

    with window.context():
        bpy.ops.mesh.primitive_cube_add(size=1.2, location=(0.9, -0.9, 0.7), rotation=(0.6, 0.4, 0.3))
        cube = bpy.context.object
        bpy.ops.mesh.primitive_monkey_add(size=2.0)
        suzanne = bpy.context.object
        suzanne.contact_lens_shape = "CONVEX_HULL"
        window.select()
    window.look_at((0.4, -0.4, 0.2), 7.0, (65.0, 0.0, 25.0))

    # Select the two with the mouse: the second click makes Suzanne the active one, A.
    yield from window.click_point((1.1, -1.2, 0.9))
    yield from window.until(cube.select_get, "the cube is selected by a click")
    yield from window.click_point((-0.45, -0.3, 0.75), shift=True)
    yield from window.until(suzanne.select_get, "Suzanne is selected too")
    numbers["selected"] = [obj.name for obj in bpy.context.view_layer.objects.selected]
    numbers["active"] = bpy.context.view_layer.objects.active.name

    yield from window.search("Inspect Contact")
    yield from window.until(now, "F3 ran Inspect Contact")
    texts = window.listen()
    yield from window.show_tab("Contact")
    yield from window.until(lambda: "Penetrating" in texts, "the panel shows the result")
    yield from window.screenshot("inspected")
    numbers["tab"] = window.region("UI").active_panel_category
    numbers["sidebar"] = window.region("UI").width
    found = now().contact
    numbers["panel"] = list(texts)
    numbers["contact"] = {
        "a": now().name_a,
        "b": now().name_b,
        "signed_distance": found.signed_distance,
        "normal": found.normal.tolist(),
        "mtv": found.mtv.tolist(),
    }
    points = [world_points(obj) for obj in (suzanne, cube)]
    numbers["core"] = core.contact(*map(core.ConvexHull, points)).signed_distance
    numbers["points"] = [part.tolist() for part in points]

    # Frame keeps both in view, beside the sidebar, and the contact in the middle.
    before = window.area.spaces.active.region_3d.view_distance, window.area.spaces.active.region_3d.view_location.copy()
    window.look_at((0.4, -0.4, 0.2), 2.0, (65.0, 0.0, 25.0))
    yield from window.click_button("contact_lens.frame()")
    yield from window.rest()
    yield from window.screenshot("framed")
    view, sidebar = window.region("WINDOW"), window.region("UI")
    numbers["view"] = [view.x, view.y, sidebar.x, view.y + view.height]
    numbers["framed"] = [window.place(point) for each in (suzanne, cube) for point in world_points(each)]
    numbers["middle"] = [window.place(found.center), [view.x + view.width / 2, view.y + view.height / 2]]
    window.look_at(before[1], before[0], (65.0, 0.0, 25.0))
    yield 1.0

    # The redo panel: its rows are method, clearance, contact tolerance, swap.
    yield from window.open_redo_panel()
    rows = yield from window.fields("HUD")
    numbers["redo_rows"] = len(rows)
    yield from window.click(*rows[0])
    yield from window.key("B")
    yield from window.until(lambda: now() is not None and now().settings.method == "both", "the method is Both")
    numbers["both"] = {
        "method": now().contact.method,
        "cross_check": now().contact.cross_check,
        "signed_distance": now().contact.signed_distance,
        "stale": window.stale_reason(),
        "operator": bpy.context.window_manager.operators[-1].method,
    }
    yield from window.screenshot("both")
    yield from window.click(window.region("HUD").x + 0.42 * window.region("HUD").width, rows[-1][1])
    yield from window.until(lambda: now() is not None and now().name_a == "Cube", "A and B are swapped")
    before = direction(numbers["panel"])
    yield from window.until(lambda: direction(texts) not in ("", before), "the panel follows")
    numbers["swapped"] = {
        "a": now().name_a,
        "b": now().name_b,
        "pickers": [getattr(bpy.context.scene.contact_lens, f"object_{x}").name for x in "ab"],
        "signed_distance": now().contact.signed_distance,
        "normal": now().contact.normal.tolist(),
        "stale": window.stale_reason(),
        "method": now().settings.method,
        "panel": list(texts),
    }
    yield from window.screenshot("swapped")

    # Undo takes the inspection back, redo brings it again.
    yield from window.undo()
    yield from window.until(lambda: now() is None, "Ctrl+Z takes the result away")
    yield from window.until(lambda: "Penetrating" not in texts, "the panel shows no result after undo")
    numbers["undone"] = {"panel": list(texts), "objects": sorted(obj.name for obj in bpy.context.scene.objects)}
    yield from window.undo(shift=True)
    yield from window.until_fresh("redo brings it back")
    yield from window.until(lambda: "Penetrating" in texts, "the panel shows it again")
    numbers["redone"] = {"signed_distance": now().contact.signed_distance, "a": now().name_a, "panel": list(texts)}

    yield from window.screenshot("redone")

    # The panel of the move: the objects, the second of which is A, the direction and the margin.
    places = {obj.name: obj.location.copy() for obj in (suzanne, cube)}

    def moved() -> dict[str, float]:
        """How far each object is from where it was."""
        return {name: (bpy.data.objects[name].location - place).length for name, place in places.items()}

    yield from window.click_button("contact_lens.separate(moves='B')")
    yield from window.until(lambda: moved()["Suzanne"] > 0.0, "B is moved out")
    yield from window.until_fresh()
    rows = yield from window.fields("HUD")
    yield from window.click(*rows[-1])
    yield from window.key("A", ctrl=True)
    yield from window.write("10cm")
    yield from window.key("RET")
    yield from window.until(lambda: now().contact.signed_distance > 0.01, "the margin is 10 cm")
    yield from window.until_fresh()
    numbers["margin"] = {"gap": now().contact.signed_distance, "resolution": now().resolution, "moved": moved()}
    yield from window.click(*rows[0])
    yield from window.until(lambda: moved()["Cube"] > 0.0, "the other object moves instead")
    yield from window.until_fresh()
    numbers["other"] = {"gap": now().contact.signed_distance, "moved": moved()}
    yield from window.screenshot("margin")
    suzanne, cube = (bpy.data.objects[name] for name in ("Suzanne", "Cube"))  # the panel has undone, and done again

    # Repeat Last asks for 2D of another pair.
    with window.context():
        sheets = []
        for name, x in (("Poster", 0.0), ("Carpet", 1.5)):
            bpy.ops.mesh.primitive_plane_add(location=(x, 5.0, 0.0))
            bpy.context.object.name = name
            sheets.append(bpy.context.object)
        window.select(*sheets)
        bpy.ops.contact_lens.inspect("INVOKE_DEFAULT", True, flat=True)
    yield from window.until(lambda: now().flat is not None, "it is inspected in 2D")
    suzanne.select_set(True)
    sheets[1].select_set(False)
    yield from window.rest()
    yield from window.key("R", shift=True)
    yield from window.until(lambda: "Suzanne" in (now().name_a, now().name_b), "Repeat Last inspects another pair")
    numbers["repeated"] = [now().flat is not None, bpy.context.scene.contact_lens.flat]

    # One object selected: what to select is said, and the pair stays. Three: a check of them is offered.
    window.select(cube)
    before = now()
    yield from window.search("Inspect Contact")
    yield 1.0
    yield from window.screenshot("one")
    numbers["one"] = now() is before
    yield from window.key("ESC")
    yield from window.rest()
    window.select(cube, *sheets)
    yield from window.search("Inspect Contact")
    yield 1.0
    yield from window.screenshot("three")
    yield from window.key("RET")
    check = bpy.context.scene.contact_lens_check
    yield from window.until(lambda: check.summary, "they are checked")
    numbers["three"] = check.scope


def direction(texts: list[str]) -> str:
    """The row of the direction; empty without one."""
    return next((text for text in texts if "° off " in text), "")
