# SPDX-License-Identifier: GPL-3.0-or-later
"""A crate that sinks into a ramp: copied and moved out with the panel's buttons. Also the README's picture."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, radians, sin, tan
from typing import Any

import bpy
from mathutils import Matrix, Vector

SLOPE, TURN = radians(18.0), radians(55.0)
SIDE, DEPTH = 1.0, 0.4
LENGTH, WIDTH = 3.2, 2.0
PLACE = (0.2, -0.55)
"""Where the crate is on the slope: along it and across it, from its middle."""
VIEW = (60.0, 0.0, -24.0)
"""Degrees by which the view is turned."""
FEW = 1000
"""Pixels of a view in the color of a band that it does not show."""
COLORS = {"Ramp": (0.42, 0.44, 0.46, 1.0), "Crate": (0.55, 0.36, 0.20, 1.0)}


def ramp_and_crate() -> tuple[bpy.types.Object, bpy.types.Object]:
    """The crate stands `DEPTH` deep in the slope, turned by `TURN`; one corner hangs over the ramp's edge."""
    x, y, z = LENGTH / 2, WIDTH / 2, LENGTH * tan(SLOPE)
    corners = [(-x, -y, 0), (x, -y, 0), (x, -y, z), (-x, y, 0), (x, y, 0), (x, y, z)]
    mesh = bpy.data.meshes.new("Ramp")
    mesh.from_pydata(corners, [], [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (0, 2, 5, 3)])
    ramp = bpy.data.objects.new("Ramp", mesh)
    bpy.context.scene.collection.objects.link(ramp)
    bpy.ops.mesh.primitive_cube_add(size=SIDE)
    crate = bpy.context.object
    crate.name = "Crate"
    turn = Matrix.Rotation(-SLOPE, 3, "Y") @ Matrix.Rotation(TURN, 3, "Z")
    normal, along = Vector((-sin(SLOPE), 0.0, cos(SLOPE))), Vector((cos(SLOPE), 0.0, sin(SLOPE)))
    middle = Vector((0.0, 0.0, z / 2))
    crate.rotation_euler = turn.to_euler()
    crate.location = middle + PLACE[0] * along + Vector((0.0, PLACE[1], 0.0)) + (SIDE / 2 - DEPTH) * normal
    for obj in (ramp, crate):
        material = bpy.data.materials.new(obj.name)
        material.diffuse_color = COLORS[obj.name]
        obj.data.materials.append(material)
    return ramp, crate


def steps(window: Any) -> Iterator[float]:
    numbers = window.numbers
    yield from window.start()

    def relation() -> str:
        found = window.inspection()
        return "" if found is None or window.stale_reason() else str(found.contact.relation)

    with window.context():
        ramp, crate = ramp_and_crate()
        window.select(ramp, crate)
    numbers["asked"] = {
        "depth": DEPTH,
        "normal": [-sin(SLOPE), 0.0, cos(SLOPE)],
        # The corner over the edge is a right-angled triangle, `over` high on its longest side.
        "area": SIDE**2 - (over := -PLACE[1] + SIDE * (cos(TURN) + sin(TURN)) / 2 - WIDTH / 2) ** 2 / sin(2 * TURN),
        "over": over,
    }
    yield from window.close_others()
    space = window.area.spaces.active
    # Before there is one: Blender 5.2 crashes when an open redo panel is taken away.
    space.show_region_hud = False
    space.overlay.show_cursor = False
    window.look_at((0.6, -0.12, 0.4), 4.9, VIEW)
    yield from window.search("Inspect Contact")
    yield from window.until(window.inspection, "F3 ran Inspect Contact")
    texts = window.listen()
    yield from window.show_tab("Contact")
    yield from window.widen_sidebar(60)
    window.select()
    yield from window.rest()
    yield from window.until(lambda: "Penetrating" in texts, "the panel shows the result")
    yield from window.screenshot("contact")
    found = window.inspection().contact
    numbers["contact"] = {
        "relation": relation(),
        "depth": found.depth,
        "normal": found.normal.tolist(),
        "mtv": found.mtv.tolist(),
        "area": found.region.area,
        "corners": len(found.region.vertices),
    }
    numbers["panel"] = list(texts)

    numbers["copied"] = {}

    def copy(name: str, command: str) -> Iterator[float]:
        """Click a button that copies."""
        yield from window.click_button(command)
        yield from window.until(lambda: "bpy.ops" not in bpy.context.window_manager.clipboard, f"{name} is copied")
        numbers["copied"][name] = bpy.context.window_manager.clipboard

    yield from copy("number", 'contact_lens.copy(what="Number")')
    rows = window.listen("measurements")
    yield from window.open_panel("contact_lens.separate(moves='B')")
    yield from window.until(lambda: rows, "a click on its header opens Measurements")
    numbers["measurements"] = list(rows)
    yield from copy("center", 'contact_lens.copy(what="Center")')
    yield from copy("all", "contact_lens.copy()")
    window.select()
    yield from window.rest()
    yield from window.screenshot("measurements")
    report = window.part("blender_addon.report.pair")
    pair_lines = window.part("blender_addon.report.pair_lines")
    inspected = report.inspected(bpy.context)
    measures = window.part("blender_addon.live.follow_measures").valid(bpy.context)
    numbers["report"] = [list(line) for line in pair_lines.report_lines(inspected, "", measures)]
    numbers["rows"] = [[row.name, row.text, row.copied] for row in pair_lines.measurements(inspected)]

    start = {obj.name: obj.location.copy() for obj in (ramp, crate)}

    def moved() -> dict[str, list[float]]:
        """How far each object is from where it stood."""
        return {name: list(bpy.data.objects[name].location - place) for name, place in start.items()}

    yield from window.click_button("contact_lens.separate(moves='B')")
    yield from window.until(lambda: relation() not in ("", "penetrating"), "Move 'Crate' Out was clicked")
    yield from window.until(lambda: "Penetrating" not in texts, "the panel follows")
    numbers["separated"] = {
        "relation": relation(),
        "signed_distance": window.inspection().contact.signed_distance,
        "resolution": window.inspection().resolution,
        "moved": moved(),
        "panel": list(texts),
    }
    yield from window.screenshot("separated")

    yield from window.undo()
    yield from window.until(lambda: relation() == "penetrating", "Ctrl+Z puts the crate back")
    yield from window.until(lambda: "Penetrating" in texts, "the panel follows undo")
    numbers["undone"] = {"depth": window.inspection().contact.depth, "moved": moved()}
    yield from window.screenshot("undone")

    # What a button takes long for is shown in the row of the status, with a button that cancels it.
    with window.held(0.0):
        yield from window.click_button("contact_lens.separate(moves='B')")
        yield from window.until(lambda: any("Inspecting" in text for text in texts), "the panel shows the progress")
        numbers["moving"] = list(texts)
        yield from window.click_button('contact_lens.cancel(work="inspection")')
        yield from window.until(lambda: "Inspection cancelled" in texts, "a click cancels it")
    numbers["cancelled"] = {"panel": list(texts), "moved": moved()}
    yield from window.screenshot("cancelled")
    yield from window.undo()
    yield from window.until(lambda: relation() == "penetrating", "Ctrl+Z puts the crate back")

    yield from measure(window)

    yield from window.click_button("contact_lens.swap()")
    yield from window.until(
        lambda: window.inspection() and window.inspection().name_a == "Crate", "A and B are swapped"
    )
    yield from window.until(lambda: "down, 18° off -Z" in texts, "the panel follows")
    numbers["swapped"] = {"panel": list(texts), "stale": window.stale_reason()}


def measure(window: Any) -> Iterator[float]:
    """Open Overlap and Clearance, measure the overlap, and show and hide the band of the crate lifted."""
    crate = bpy.data.objects["Crate"]  # undo has replaced it
    numbers, place = window.numbers, crate.location.copy()
    yield from window.open_panel("contact_lens.separate(moves='B')")
    texts = window.listen("measures", "measures_panel")
    yield from window.open_panel("contact_lens.separate(moves='B')", warnings=1)
    yield from window.until(lambda: "Overlap Volume" in texts, "a click on its header opens the panel")
    yield from window.click_button("contact_lens.measure_overlap()")
    yield from window.until(lambda: "Deepest of B" in texts, "a click measures the depths, too")
    numbers["overlap"] = list(texts)
    yield from window.rest()
    yield from window.screenshot("overlap")

    def blue() -> int:
        """How many pixels of the view have about the last color of the legend."""
        red, green, blue = window.pixels("WINDOW").transpose(2, 0, 1) / 255.0
        return int(((red < 0.25) & (green > 0.25) & (green < 0.45) & (blue > 0.5)).sum())

    crate.location.z += 0.7
    yield from window.until_fresh("the crate is above the ramp")
    yield from window.rest()
    yield from window.until(lambda: blue() < FEW, "the view shows no band")
    numbers["blue"] = [blue()]
    yield from window.click_button("contact_lens.clearance_band()")
    yield from window.until(lambda: "Least Gap" in texts, "a click shows the band")
    numbers["band"] = list(texts)
    yield from window.rest()
    yield from window.until(lambda: blue() > FEW, "the view shows it")
    numbers["blue"].append(blue())
    yield from window.screenshot("band")
    crate.location.z += 0.1
    yield from window.until_fresh("the crate is moved")
    yield from window.until(lambda: "Least Gap" in texts, "the band follows")
    numbers["followed"] = list(texts)
    yield from window.click_button("contact_lens.clearance_band()")
    yield from window.until(lambda: "Least Gap" not in texts, "another click hides it")
    yield from window.rest()
    yield from window.until(lambda: blue() < FEW, "the view hides it")
    numbers["blue"].append(blue())
    crate.location = place
    yield from window.until_fresh("the crate is back")
