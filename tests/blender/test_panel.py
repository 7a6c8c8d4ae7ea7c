# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of a pair and of bounding volumes, as drawn into a layout that stands for Blender's."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from .layouts import Drawn, Layout
from .scenes import add_object, cube, edit, inspect, inspection, lens, rigid_body, select, sheet, update

pytestmark = pytest.mark.usefixtures("empty_scene")


def drawn_by(panel: Any, *methods: str) -> Drawn:
    """Return what methods of a panel draw, those that it has."""
    layout = Layout()
    if not hasattr(panel, "poll") or panel.poll(bpy.context):
        for method in methods:
            if hasattr(panel, method):
                getattr(panel, method)(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def drawn(name: str) -> Drawn:
    """Return what the panel of this name draws below its header."""
    return drawn_by(getattr(lens.ui.panels, f"CONTACT_LENS_PT_{name}"), "draw")


def main() -> Drawn:
    return drawn("contact")


def header() -> Drawn:
    return drawn_by(lens.ui.panels.CONTACT_LENS_PT_contact, "draw_header_preset")


def place_of_button(texts: list[str]) -> int:
    """Return where the button that moves an object out is among texts."""
    return next(k for k, text in enumerate(texts) if re.fullmatch(r"Move '.*' Out|Move Out", text))


def result() -> list[str]:
    """Return the texts of the box of the result, without the button Frame."""
    texts = main().texts
    start, end = texts.index("B") + 1, place_of_button(texts)
    return [text for text in texts[start:end] if text != "Frame"]


def warnings() -> list[str]:
    """Return the texts below the buttons."""
    texts = main().texts
    return texts[place_of_button(texts) + 1 :]


# --- the pair -------------------------------------------------------------------------------------------------------


def test_without_a_pair_a_big_button_and_one_line() -> None:
    assert main().texts == ["A", "B", "Select two objects"]
    assert main().names == {"inspect", "explain"}
    assert main().given("explain", "sentence") == ["Select two objects: the active one becomes A, the other B"]
    assert {"object_a", "object_b"} <= set(main().props)
    assert header().names == set()


def test_what_will_be_inspected_is_shown_with_its_shapes() -> None:
    a, b, light = cube("Left"), cube("Right"), add_object("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    select(a, b)
    assert main().texts == ["A", "Left", "B", "Right"]
    assert main().props.count("contact_lens_shape") == 2
    select(a, light)
    assert main().texts[-1].startswith("'Lamp' is of type light")


@pytest.mark.parametrize("is_pinned", [False, True])
def test_for_more_objects_than_a_pair_a_check_of_them_is_offered(is_pinned: bool) -> None:
    a, b, c = cube("A"), cube("B", (1.5, 0.0, 0.0)), cube("C", (0.0, 1.5, 0.0))
    cube("Other", (0.0, 0.0, 1.5))
    if is_pinned:
        inspect(a, b)
    select(a, b, c)
    panel = header() if is_pinned else main()
    assert "inspect" not in panel.names
    assert panel.given("check_scene", "selected") == [True]
    if not is_pinned:
        assert panel.texts == ["Check Selected", "A", "B", "3 objects are selected"]
    assert bpy.ops.contact_lens.check_scene(selected=True) == {"FINISHED"}
    check = bpy.context.scene.contact_lens_check
    assert (check.scope, len(check.findings)) == ("SELECTED", 3)


def test_two_flat_objects_of_one_plane_are_offered_to_be_inspected_in_it() -> None:
    a, b = sheet("A"), sheet("B", location=(1.5, 0.2, 0.0))
    inspect(a, b)
    assert "flat" in main().props
    bpy.context.scene.contact_lens.flat = True
    bpy.ops.contact_lens.refresh()
    assert result()[:2] == ["Penetrating", "0.5 m"]
    assert "flat" in main().props, "to end it"
    b.location.z = 0.25
    bpy.context.scene.contact_lens.flat = False
    bpy.ops.contact_lens.refresh()
    assert "flat" not in main().props, "not in one plane"
    inspect(a, cube("C"))
    assert "flat" not in main().props


def test_when_one_of_the_pair_is_deleted_the_panel_asks_for_another() -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    bpy.data.objects.remove(b)
    update()
    select(a)
    assert main().texts[-1] == "Pick another object"


def test_with_a_pair_the_button_is_an_icon_in_the_header() -> None:
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    assert header().names == {"inspect", "clear"}
    assert header().texts == []
    assert main().names == {"swap", "copy", "frame", "separate"}
    assert main().props == ["object_a", "contact_lens_shape", "object_b", "contact_lens_shape"]


def test_the_header_offers_to_inspect_another_pair_that_is_selected() -> None:
    a, b, c = cube("A"), cube("B", (1.5, 0.0, 0.0)), cube("C")
    inspect(a, b)
    select(b, a)
    assert header().texts == []
    select(a, c)
    assert header().texts == ["Inspect"]


def test_long_names_get_the_room_of_the_words_for_shapes() -> None:
    a, b = cube("Bracket.left.001"), cube("Bracket.left.002", (1.5, 0.0, 0.0))
    a.contact_lens_shape = "BOX"
    inspect(a, b)
    assert [icon for icon in main().icons if icon in ("MESH_CUBE", "PHYSICS")] == ["MESH_CUBE", "PHYSICS"]
    b.name = "B"
    assert "MESH_CUBE" in main().icons
    a.name = "A"
    assert "MESH_CUBE" not in main().icons


def test_swap_exchanges_a_and_b_and_their_result() -> None:
    a, b = cube("Left"), cube("Right", (1.5, 0.0, 0.0))
    inspect(a, b)
    assert result() == ["Penetrating", "0.5 m", "along +X", "Up to date"]
    assert bpy.ops.contact_lens.swap() == {"FINISHED"}
    settings = bpy.context.scene.contact_lens
    assert (settings.object_a, settings.object_b) == (b, a)
    assert result() == ["Penetrating", "0.5 m", "along -X", "Up to date"]
    bpy.ops.contact_lens.clear()
    assert not bpy.ops.contact_lens.swap.poll()


def test_a_pair_that_cannot_be_inspected_can_be_swapped() -> None:
    a, b = cube("Left"), cube("Right", (1.5, 0.0, 0.0))
    inspect(a, b)
    b.data.clear_geometry()
    update()
    assert bpy.ops.contact_lens.swap() == {"FINISHED"}
    assert bpy.context.scene.contact_lens.object_a == b
    assert result() == ["Cannot Be Inspected", "'Right' has no vertices"]


# --- the result -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "size", "rows"),
    [
        (4.0, 2.0, ["Separated", "2 m", "along +X", "Up to date"]),
        (2.0, 2.0, ["Touching", "along +X", "Up to date"]),
        (1.0, 2.0, ["Penetrating", "1 m", "along +X", "Up to date"]),
        (0.25, 1.0, ["B Inside A", "1.25 m", "along +X", "Up to date"]),
        (0.25, 4.0, ["A Inside B", "2.75 m", "along +X", "Up to date"]),
        (0.0, 2.0, ["Coincident", "2 m", "up, along +Z", "Up to date"]),
    ],
)
def test_the_answer_is_in_three_rows(x: float, size: float, rows: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    inspect(cube("A"), cube("B", (x, 0.0, 0.0), size))
    assert result() == rows
    assert warnings() == []
    monkeypatch.setattr(lens.ui.status_icons, "icon", lambda relation: relation)
    assert main().dots == [inspection().contact.relation]
    is_movable = rows[0] not in ("Separated", "Touching")
    assert main().disabled == ([] if is_movable else ["contact_lens.separate", "CONTACT_LENS_MT_move_out"])


def test_what_makes_a_result_outdated_is_shown_and_all_but_the_reason_is_greyed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    assert (result()[-1], main().greyed) == ("Up to date", [])
    numbers = drawn("measurements").texts
    assert not drawn("measurements").greyed
    b.location.x = 1.75
    update()
    assert result() == ["Penetrating", "0.5 m", "along +X", "'B' has moved"]
    assert set(main().greyed) == {"Penetrating", "0.5 m", "along +X", "Frame"}
    assert set(drawn("measurements").greyed) == set(numbers) - {"Copy All"}
    follow = lens.live.follow_pair
    monkeypatch.setattr(
        follow, "status", lambda context: follow.PairStatus("Updating", is_pending=True, is_following=True)
    )
    assert result() == ["...", "Updating"], "the answer is on its way"
    assert drawn("measurements").texts == [word if word in numbers[::2] else "..." for word in numbers]
    monkeypatch.undo()
    assert "refresh" in main().names
    b.location.x = 1.5
    update()
    assert result()[-1] == "Up to date"
    assert "refresh" not in main().names
    edit(b, -0.25)
    assert result()[-1] == "'B' has changed"
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert result()[-1] == "Up to date"
    bpy.context.scene.contact_lens.clearance = 1.0
    assert result()[-1] == "The settings have changed"


@pytest.mark.parametrize(
    ("state", "icon", "offers_refresh"),
    [
        ({"text": "Up to date"}, "CHECKMARK", False),
        ({"text": "First answer only", "is_provisional": True}, "SORTTIME", True),
        ({"text": "Updating", "is_provisional": True, "is_following": True}, "SORTTIME", False),
        ({"text": "Updating", "is_pending": True, "is_following": True}, "SORTTIME", False),
        ({"text": "'B' has moved", "is_outdated": True}, "ERROR", True),
    ],
)
def test_the_status_has_an_icon_and_refresh_where_it_helps(
    state: dict[str, Any], icon: str, offers_refresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    follow = lens.live.follow_pair
    monkeypatch.setattr(follow, "status", lambda context: follow.PairStatus(**state))
    panel = main()
    assert state["text"] in panel.texts
    assert [each for each in panel.icons if each in ("CHECKMARK", "SORTTIME", "ERROR")] == [icon]
    assert ("refresh" in panel.names) == offers_refresh
    assert bool(drawn("accuracy").greyed) == bool(state.keys() & {"is_outdated", "is_pending"})


def test_progress_stands_in_place_of_the_reason_why_there_is_no_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main().texts[-1] == "Select two objects"
    follow = lens.live.follow_pair
    monkeypatch.setattr(follow, "status", lambda context: follow.PairStatus(progress=0.25))
    assert (main().texts[-1], main().bars) == ("Inspecting: 25 %", ["Inspecting: 25 %"])


def test_no_button_moves_whatever_the_result_is(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)

    def places() -> tuple[dict[str, int], int]:
        """The rows of the buttons that are always there, and the height of the panel."""
        now = main()
        fixed = {"swap", "frame", "separate"}
        rows = {name.split(" ")[0].split(".")[1]: row for name, row in now.places.items()}
        return {name: row for name, row in rows.items() if name in fixed}, now.row

    fresh = places()
    assert len(fresh[0]) == 3
    b.location.x = 4.0
    update()
    assert places() == fresh, "outdated"
    with monkeypatch.context() as patch:
        patch.setattr(lens.live.follow_pair, "progress_of", lambda scene: 0.25)
        assert main().bars == ["Inspecting: 25 %"]
        assert "cancel" in main().names
        assert places() == fresh, "while it is inspected"
    bpy.ops.contact_lens.refresh()
    assert result()[0] == "Separated"
    assert places() == fresh, "no depth"
    b.data.clear_geometry()
    update()
    with pytest.raises(RuntimeError, match="has no vertices"):
        bpy.ops.contact_lens.refresh()
    assert result() == ["Cannot Be Inspected", "'B' has no vertices"]
    assert places() == fresh, "no result"
    bpy.ops.contact_lens.clear()
    settings = bpy.context.scene.contact_lens
    settings.object_a, settings.object_b = a, cube("C", (9.0, 0.0, 0.0))
    assert result() == ["No Result", "Not inspected yet"]
    assert places() == fresh, "not inspected"
    assert "refresh" in main().names


def test_the_status_fits_its_row_and_its_tooltip_is_whole() -> None:
    name, reason = "The left part of the hinge, 2nd", "has changed"
    inspect(cube("A"), cube(name, (1.5, 0.0, 0.0)))
    lens.pair.session.mark_stale(bpy.context.scene, f"'{name}' {reason}")
    status = result()[-1]
    assert len(status) <= lens.operators.layout.characters(bpy.context)
    assert status.startswith("'The")
    assert status.endswith(f"2nd' {reason}")
    assert main().given("explain", "sentence") == [f"'{name}' {reason}"]


def test_a_button_copies_the_number_with_all_its_digits_and_rows_copy_theirs() -> None:
    inspect(cube("A"), cube("B", (1.5123456, 0.25, 0.0)))
    assert main().given("copy", "what") == ["Number", "Direction"]
    texts, asked = drawn("measurements").texts, drawn("measurements").given("copy", "what")
    assert {"Depth", "Direction", "Move B By", "Center", "Area", None} <= set(asked)
    assert all(what in texts for what in asked if what)
    copied = {}
    for what in ("Number", "Depth", "Direction", "Center"):
        assert bpy.ops.contact_lens.copy(what=what) == {"FINISHED"}
        copied[what] = lens.operators.pair_operators.text_to_copy(bpy.context, what)
    assert copied["Number"] == copied["Depth"] == "0.4876545 m"
    assert copied["Direction"] == "[1, 0, 0]"
    operator = lens.operators.pair_operators.CONTACT_LENS_OT_copy
    assert operator.description(bpy.context, SimpleNamespace(what="Number")) == "Copy 0.4876545 m to the clipboard"
    assert operator.description(bpy.context, SimpleNamespace(what="")) == "", "its own"
    with pytest.raises(RuntimeError, match="has no row 'Weight'"):
        bpy.ops.contact_lens.copy(what="Weight")


def test_sub_panels_are_there_with_a_pair_and_closed() -> None:
    panels = lens.ui.panels
    below = [panel for panel in panels.CLASSES if getattr(panel, "bl_parent_id", "") == "CONTACT_LENS_PT_contact"]
    assert [panel.bl_label for panel in below] == [
        "Measurements",
        "Overlap and Clearance",
        "Accuracy",
        "Display",
        "Settings",
    ]
    assert all("DEFAULT_CLOSED" in panel.bl_options for panel in below)
    assert drawn("measurements").texts == drawn("accuracy").texts == []
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    assert {"Depth", "0.5 m", "Copy All"} <= set(drawn("measurements").texts)
    assert {"Method", "Checks", "Resolution"} <= set(drawn("accuracy").texts)
    assert {"copy", "save_json"} == drawn("measurements").names
    assert drawn("accuracy").names == set(), "words are not copied"
    toggles = {
        field.identifier
        for field in bpy.context.scene.contact_lens.bl_rna.properties
        if field.identifier.startswith("show_")
    }
    assert {*toggles, "ghost"} == {*drawn("display").props, "show_overlay", "show_volumes"}
    assert drawn("settings").props == ["method", "clearance", "contact_tolerance", "flat"]


def test_every_relation_has_words_and_a_dot_of_a_form_of_its_own() -> None:
    icons = lens.ui.status_icons
    relations = {str(relation) for relation in lens.core.Relation}
    assert set(lens.data.messages.RELATIONS) == relations < set(icons._icons)
    alphas = {name: np.array(icons._icons[name].icon_pixels_float)[3::4] for name in relations - {"b_inside_a"}}
    for one, other in combinations(alphas, 2):
        assert np.abs(alphas[one] - alphas[other]).mean() > 0.02, (one, other)


# --- warnings -------------------------------------------------------------------------------------------------------


def sphere(name: str, x: float = 0.0, radius: float = 1.0) -> bpy.types.Object:
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=radius, location=(x, 0.0, 0.0))
    bpy.context.object.name = name
    return bpy.context.object


def monkey(name: str = "Suzanne", x: float = 0.0) -> bpy.types.Object:
    bpy.ops.mesh.primitive_monkey_add(location=(x, 0.0, 0.0))
    bpy.context.object.name = name
    return bpy.context.object


def joined(name: str, *parts: bpy.types.Object) -> bpy.types.Object:
    with bpy.context.temp_override(active_object=parts[0], selected_editable_objects=list(parts)):
        bpy.ops.object.join()
    parts[0].name = name
    return parts[0]


NORMAL: dict[str, Callable[[], tuple[bpy.types.Object, bpy.types.Object]]] = {
    "cubes": lambda: (cube("A"), cube("B", (1.5, 0.2, 0.1))),
    "Suzanne": lambda: (monkey(), cube("B", (2.2, 0.0, 0.0))),
    "joined parts": lambda: (joined("Seat", cube("Leg"), cube("Top", (0.0, 0.0, 4.0))), cube("B", (1.5, 0.0, 0.0))),
    "shells that cross": lambda: (joined("Shells", cube("Leg"), cube("Top", (1.0, 0.5, 0.5))), cube("B", (2.5, 1, 1))),
    "smooth spheres": lambda: (sphere("Sphere"), sphere("Ball", 1.5)),
    "a sphere in a cube": lambda: (sphere("Sphere", 0.2, 0.5), cube("B")),
}


@pytest.mark.parametrize("pair", NORMAL)
def test_normal_meshes_give_no_warning(pair: str) -> None:
    inspect(*NORMAL[pair]())
    assert warnings() == []


def test_stand_ins_for_what_is_not_convex_are_warned_of_and_at_most_two() -> None:
    a, b = rigid_body(monkey("Left"), "CONVEX_HULL"), rigid_body(monkey("Right", 1.5), "CONVEX_HULL")
    inspect(a, b)
    assert warnings() == ["'Left': convex hull used", "'Right': convex hull used"]
    assert main().given("explain", "sentence")[0].startswith("'Left' is not convex: its convex hull is used, concavity")
    a.matrix_world.translation.x = b.matrix_world.translation.x = 1e7
    a.location.x = b.location.x = 1e7
    b.location.x += 1.0
    update()
    bpy.ops.contact_lens.refresh()
    assert warnings() == ["Coordinates too coarse", "'Left': convex hull used"]


@pytest.mark.parametrize(
    ("x", "clearance", "are_warned_of"),
    [
        (1.545, 0.0, False),  # 205 mm deep, the concavity at the corners is 0.18 mm
        (1.7345, 0.0, True),  # 15.5 mm deep
        (1.75, 0.0, True),  # touching: the band is narrower than the concavity
        (1.751, 0.0, True),  # a gap of 1 mm
        (1.8, 0.0, False),
        (1.8, 0.06, True),  # 10 mm closer than the clearance
        (1.8, 0.5, False),
    ],
)
def test_a_concavity_is_warned_of_where_it_counts(x: float, clearance: float, are_warned_of: bool) -> None:
    a, b = bevelled("A"), bevelled("B", x)
    concavity = inspect(a, b, clearance=clearance).proxy_a.concavity.depth
    assert 1.7e-4 < concavity < 1.9e-4
    assert warnings() == (["'A': convex hull used", "'B': convex hull used"] if are_warned_of else [])


def bevelled(name: str, x: float = 0.0) -> bpy.types.Object:
    """A crate whose corners are a little concave, as Blender bevels them; a rigid body."""
    crate = rigid_body(cube(name, (x, 0.0, 0.0), 1.75), "CONVEX_HULL")
    bevel = crate.modifiers.new("Bevel", "BEVEL")
    bevel.width, bevel.segments = 0.05, 3
    return crate


def test_what_is_mostly_hollow_is_warned_of_however_thin_its_wall_is() -> None:
    tray = rigid_body(cube("Tray"), "CONVEX_HULL")
    top = max(tray.data.polygons, key=lambda face: face.center.z)
    mesh = bpy.data.meshes.new("Tray")
    faces = [list(face.vertices) for face in tray.data.polygons if face != top]
    mesh.from_pydata([vertex.co for vertex in tray.data.vertices], [], faces)
    tray.data = mesh
    tray.modifiers.new("Wall", "SOLIDIFY").thickness = 0.001
    found = inspect(tray, cube("B", (1.5, 0.0, 0.0)))
    assert found.proxy_a.concavity.is_closed
    assert found.proxy_a.concavity.depth < 0.01 * found.contact.depth
    assert warnings() == ["'Tray': convex hull used"]


def test_a_hull_that_the_user_has_chosen_is_not_warned_of() -> None:
    a = monkey("Left")
    a.contact_lens_shape = "CONVEX_HULL"
    inspect(a, cube("B", (1.5, 0.0, 0.0)))
    assert warnings() == []
    assert "'Left' is not convex: its convex hull is used" in drawn("accuracy").words


def test_pieces_that_are_not_exact_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    a.contact_lens_shape = "COMPOUND"
    inspect(a, b)
    assert warnings() == [], "exact ones are the object itself"
    session = lens.pair.session
    found = session.current(bpy.context)
    pieces = replace(found.proxy_a.pieces, exact=False)
    session.store(bpy.context.scene, replace(found, proxy_a=replace(found.proxy_a, pieces=pieces)))
    assert warnings() == ["'A': approximate pieces"]
    assert main().given("explain", "sentence")[0].startswith("'A' is approximated by 1 convex piece")


def test_open_surfaces_without_a_depth_are_warned_of() -> None:
    a, b = monkey("Left"), monkey("Right", 0.5)
    inspect(a, b)
    assert warnings() == ["No depth: open surfaces"]
    assert result() == ["Penetrating", "Up to date"]
    assert "fill the holes" in main().given("explain", "sentence")[0]


def test_bounds_that_are_far_apart_and_failed_checks_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    pair_contact, core = lens.pair.pair_contact, lens.core
    honest = pair_contact.contact

    def stalled(*shapes: Any, **options: Any) -> Any:
        found = honest(*shapes, **options)
        return replace(found, status=core.Status.STALLED, upper_bound=-0.125)

    monkeypatch.setattr(pair_contact, "contact", stalled)
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    assert result()[1] == "≤ 0.5 m"
    assert warnings() == ["Depth is 0.125 to 0.5 m"]
    assert "moving by 0.5 m separates them" in main().given("explain", "sentence")[0]
    assert "0.125 to 0.5 m" in drawn("accuracy").texts

    def wrong(*shapes: Any, **options: Any) -> Any:
        found = honest(*shapes, **options)
        return replace(found, point_on_a=found.point_on_a + 0.25)

    monkeypatch.setattr(pair_contact, "contact", wrong)
    inspect(cube("C"), cube("D", (1.5, 0.2, 0.1)))
    assert warnings() == ["Verification failed"]
    assert "did not pass its own verification" in drawn("accuracy").words
    assert "Proved No" in drawn("accuracy").words


def test_lines_of_warnings_stay_and_are_of_the_present_result(monkeypatch: pytest.MonkeyPatch) -> None:
    steady = lens.live.steady_warnings
    now = 100.0
    monkeypatch.setattr(steady, "clock", lambda: now)
    monkeypatch.setattr(steady.background, "has_windows", lambda: True)
    monkeypatch.setattr(steady.handlers, "wake", lambda timer, seconds: None)

    def followed(x: float) -> tuple[list[str], int]:
        """The warnings, and the height of the panel, when B has been dragged and is inspected where it is."""
        b.location.x = x
        update()
        bpy.ops.contact_lens.refresh()
        return warnings(), main().row

    a, b = monkey("Left"), monkey("Right", 9.0)
    inspect(a, b)
    without = main().row
    assert warnings() == []
    assert followed(0.5) == ([], without)
    now += 0.2
    assert followed(0.4) == ([], without)
    now += 0.4
    assert (warnings(), main().row) == (["No depth: open surfaces"], without + 1)
    assert followed(9.0) == ([], without + 1), "what no longer holds leaves an empty line"
    rigid_body(a, "CONVEX_HULL")
    update()
    assert followed(9.0) == (["'Left': convex hull used"], without + 1)
    now += 0.4
    assert main().row == without + 1
    edit(b, 0.0)
    b.data.clear_geometry()
    update()
    with pytest.raises(RuntimeError, match="has no vertices"):
        bpy.ops.contact_lens.refresh()
    gc.collect()  # the earlier result is really gone
    assert (warnings(), main().row) == ([], without + 1), "nor does an error move anything"
    now += 0.4
    assert main().row == without
    inspect(a, monkey("Other", 9.0))
    assert warnings() == ["'Left': convex hull used"], "another pair"


def test_a_warning_has_no_number_that_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    contact, core = lens.pair.pair_contact, lens.core
    honest = contact.contact

    def bracket(*shapes: Any, **options: Any) -> Any:
        found = honest(*shapes, **options)
        return replace(found, status=core.Status.BRACKET, upper_bound=0.5 * found.signed_distance)

    monkeypatch.setattr(contact, "contact", bracket)
    b = cube("B", (1.5, 0.2, 0.1))
    inspect(cube("A"), b)
    assert (result()[1], warnings()) == ("≤ 0.5 m", ["Depth is 0.25 to 0.5 m"])
    b.location.x = 1.75
    update()
    assert "Depth is 0.25 to 0.5 m" in main().greyed, "outdated"

    follow = lens.live.follow_pair
    status = follow.PairStatus("Updating", is_pending=True, is_following=True)
    with monkeypatch.context() as patch:
        patch.setattr(follow, "status", lambda context: status)
        assert warnings() == ["Depth is ..."]
        assert set(warnings()) <= set(main().greyed)
        assert main().given("explain", "sentence") == ["Depth is ..."]
        accuracy = drawn("accuracy")
        assert set(accuracy.texts[1 : accuracy.texts.index("Checks") + 2 : 2]) == {"..."}
        assert accuracy.greyed == accuracy.texts, "the notes, too"

    bpy.ops.contact_lens.refresh()
    session = lens.pair.session
    first = {"stage": session.Stage.FIRST, "verification": None}
    session.store(bpy.context.scene, replace(session.current(bpy.context), **first))
    assert result() == ["Penetrating", "≤ 0.25 m", "along +X", "First answer only"]
    assert warnings() == ["Depth is 0.125 to 0.25 m"], "the bound of the first answer"
    rows = drawn("accuracy").texts
    assert rows[rows.index("Status") + 1] == "First answer only"
    assert rows[rows.index("Checks") + 1] == "..."


def test_what_is_no_warning_is_a_note() -> None:
    inspect(monkey(), cube("B", (1.5, 0.0, 0.0)))
    assert "'Suzanne': not closed (42 open edges), so only its surface collides" in drawn("accuracy").words
    assert max(len(text) for text in drawn("accuracy").texts) < 60, "sentences are wrapped"


# --- other places ---------------------------------------------------------------------------------------------------


def test_the_collision_shape_is_in_the_properties_of_the_active_object() -> None:
    panel = lens.ui.panels.CONTACT_LENS_PT_shape
    assert (panel.bl_space_type, panel.bl_context) == ("PROPERTIES", "object")

    def words() -> str:
        assert drawn("shape").props == ["contact_lens_shape"]
        return drawn("shape").words.removeprefix("Shape ")

    obj = cube("A")
    select(obj)
    assert panel.poll(bpy.context)
    assert words() == "As a convex hull where the mesh is convex, otherwise as the mesh"
    obj.contact_lens_shape = "BOX"
    assert words() == "As a box, centered in its bounding box"
    obj.contact_lens_shape = "AUTOMATIC"
    bpy.ops.rigidbody.object_add()
    obj.rigid_body.collision_shape = "CAPSULE"
    assert words() == "As its rigid body: capsule, centered at its origin"
    obj.rigid_body.collision_shape = "COMPOUND"
    assert "without child rigid bodies" in words()
    bpy.ops.object.empty_add()
    assert not panel.poll(bpy.context)


def test_bounding_volumes_are_told_or_why_there_are_none() -> None:
    settings = bpy.context.scene.contact_lens
    assert drawn("volumes").props == ["volumes_of", "volume_kind", "volume_climb"]
    assert "show_volumes" not in drawn("volumes").names
    settings.show_volumes = True  # in background mode nothing follows by itself
    assert "show_volumes" in drawn("volumes").names
    with pytest.raises(RuntimeError):
        bpy.ops.contact_lens.show_volumes()
    assert "Select objects with a surface to see their bounding volumes" in drawn("volumes").words
    select(cube("Cube"))
    settings.volume_kind, settings.volumes_of, settings.tree_method = "KDOP", "TRIANGLES", "TOP_DOWN"
    assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
    assert "Cube 12 triangles, " in drawn("volumes").words
    assert {"volume_planes", "tree_method", "tree_split", "tree_level", "tree_above"} <= set(drawn("volumes").props)

    select(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    settings.tree_descent, bpy.context.window_manager.contact_lens_test = True, 1_000_000
    assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
    panel = drawn("volumes")
    assert "tree_level" not in panel.props
    assert {"tree_compare", "tree_descent", "contact_lens_test"} <= set(panel.props)
    descent = lens.live.follow_volumes.current(bpy.context.scene).descent
    assert descent.sentence(descent.found.tests - 1).startswith("Test ")
    assert f"Test {descent.found.tests:,} of {descent.found.tests:,}: " in panel.words
    assert "Triangle Pairs Cut Off " in panel.words
    select(cube("Alone"))
    assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
    assert "tree_level" in drawn("volumes").props, "one tree has no descent: a level is shown"
    settings.volumes_of, settings.volume_kind, settings.volume_planes = "OBJECTS", "KDOP", "8"
    assert "volume_climb" not in drawn("volumes").props, "flat ones do not climb"


def test_preferences_menus_and_the_overlays_popover_draw(addon: ModuleType) -> None:
    preferences = lens.data.preferences.ContactLensPreferences
    layout = Layout()
    bl_rna = bpy.context.preferences.addons[addon.__name__].preferences.bl_rna
    preferences.draw(SimpleNamespace(layout=layout, bl_rna=bl_rna), bpy.context)
    assert {"color_a", "label_size"} <= set(layout.drawn.props)
    menu, move_operators = lens.ui.menu, lens.operators.move_operators
    listed = drawn_by(menu.CONTACT_LENS_MT_contact, "draw")
    assert len(listed.operators) == 35
    layout = Layout()
    menu._draw_all(SimpleNamespace(layout=layout), bpy.context)
    assert layout.drawn.names == {"inspect"}
    assert drawn_by(move_operators.CONTACT_LENS_MT_move_out, "draw").operators == [], "there is no pair"
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    moves = drawn_by(move_operators.CONTACT_LENS_MT_move_out, "draw")
    assert moves.given("separate", "moves") == ["A", "HALF", "B", "B", "B"]
    assert moves.given("separate", "along") == [None, None, "X", "Y", "Z"]
    toggles = [*lens.ui.panels.TOGGLES, "ghost"]
    assert (drawn("overlay").props, drawn("overlay").greyed) == (["show_dots", "show_overlay", *toggles], [])
    bpy.context.scene.contact_lens.show_overlay = False
    assert drawn("overlay").greyed == drawn("display").greyed == [*lens.ui.panels.TOGGLES, "Ghost", "ghost"]


def test_why_the_overlay_is_not_drawn_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lens.views.viewport, "error", lambda: "The overlay cannot be drawn")
    assert "The overlay cannot be drawn" in main().words


def test_a_shape_that_cannot_be_chosen_is_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    select(cube("A"), cube("B"))
    assert main().disabled == drawn("shape").disabled == []
    monkeypatch.setattr(lens.geometry.collision_shape, "readonly_reason", lambda obj: f"{obj.name} is linked")
    assert main().disabled == ["contact_lens_shape"] * 2
    assert drawn("shape").disabled == ["contact_lens_shape"]
    assert "is linked" in drawn("shape").words


def test_what_is_too_long_for_the_sidebar_loses_its_middle_or_takes_two_lines() -> None:
    layout, elided = lens.operators.layout, lens.data.names.elided
    assert elided("Beam.Y.07", 9) == "Beam.Y.07"
    assert elided("Beam.Y.Level.07", 9) == "Beam…l.07"
    assert elided("Beam.Y.Level.07", 9, other="Beam.Y.Level.08") == "Beam…l.07", "its end tells it from the other"
    assert elided("Warehouse crate 10 with lid", 22, other="Warehouse crate 11 with lid") == "…use crate 10 with lid"
    assert elided("Chair [0].Seat.chair.401", 14, other="Chair [0].Back.chair.401") == "…Seat.c…ir.401"
    assert elided("Chair [0].Seat.401", 14, other="Chair [0].Back.401") == "… [0].Seat.401"
    assert elided("Chair [0].Seat.401", 14, other="Chair [0].Seat.401.B") == "Chair […at.401"
    assert layout.fitting("'The left part of the hinge' has moved", 24) == "'The le…hinge' has moved"
    assert layout.fitting("Select two objects of a kind", 12) == "Select two …"
    lines = [("Depth", "1 m", ""), ("Name", "a text that is as long as two lines", "copied")]
    drawing = Layout()
    layout.rows(drawing, bpy.context, lines)
    assert drawing.drawn.icons == ["NONE", "NONE", "NONE", "BLANK1", "COPYDOWN"]
    assert drawing.drawn.row == 3


def test_look_follows_the_preferences(addon: ModuleType) -> None:
    preferences = lens.data.preferences
    stored = bpy.context.preferences.addons[addon.__name__].preferences
    assert preferences.look(bpy.context).line_width == preferences.DEFAULT_LOOK.line_width
    assert preferences.look(bpy.context).color_a == pytest.approx(preferences.DEFAULT_LOOK.color_a)
    stored.line_width = 4.0
    try:
        assert preferences.look(bpy.context).line_width == 4.0
    finally:
        stored.property_unset("line_width")
