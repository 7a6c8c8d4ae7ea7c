# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels, drawn into a layout that notes what it is given and refuses what Blender would refuse."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import add_object, cube, edit, inspect, lines, part, select, update

pytestmark = pytest.mark.usefixtures("empty_scene")

ICONS = set(bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys())


class Layout:
    """Stands for `bpy.types.UILayout`."""

    def __init__(self, parent: Layout | None = None) -> None:
        self.texts: list[str] = parent.texts if parent else []
        self.icons: list[str] = parent.icons if parent else []
        self.props: list[str] = parent.props if parent else []
        self.operators: list[str] = parent.operators if parent else []
        self.greyed: list[str] = parent.greyed if parent else []
        self.rows: list[int] = parent.rows if parent else [0]
        self.places: dict[str, int] = parent.places if parent else {}
        self.bars: list[str] = parent.bars if parent else []
        self.active = parent.active if parent else True
        self._is_row = parent is not None and parent._is_row

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, list | dict) and not name.startswith("_"):
            assert name in bpy.types.UILayout.bl_rna.properties, f"UILayout has no {name}"
        super().__setattr__(name, value)

    def _inner(self, **options: Any) -> Layout:
        return Layout(self)

    column = box = _inner

    def row(self, **options: Any) -> Layout:
        inner = Layout(self)
        self._next_row()
        inner._is_row = True
        return inner

    split = row

    def _next_row(self) -> None:
        if not self._is_row:
            self.rows[0] += 1

    def progress(self, factor: float, text: str) -> None:
        self._next_row()
        self.bars.append(text)

    def label(self, text: str = "", icon: str = "NONE") -> None:
        assert icon in ICONS
        self._next_row()
        self.texts.append(text)
        if not self.active:
            self.greyed.append(text)
        self.icons.append(icon)

    def prop(self, data: Any, name: str, text: str | None = None) -> None:
        assert name in data.bl_rna.properties
        self._next_row()
        self.props.append(name)

    def operator(self, name: str, text: str | None = None, icon: str = "NONE") -> Any:
        assert icon in ICONS
        group, identifier = name.split(".")
        properties = getattr(getattr(bpy.ops, group), identifier).get_rna_type().properties
        self._next_row()
        self.places[f"{name} {text}"] = self.rows[0]
        self.operators.append(name)
        return SimpleNamespace(**dict.fromkeys(properties.keys()))

    def separator(self) -> None:
        pass

    def menu(self, name: str) -> None:
        assert hasattr(bpy.types, name)


MAIN = {f"contact_lens.{name}" for name in ("inspect", "refresh", "frame", "clear", "separate", "copy", "save_json")}
"""The buttons of the panel of a pair."""


@pytest.fixture
def draw() -> Callable[..., Layout]:
    panels = part("blender_addon.ui.panels")

    def draw_panels() -> Layout:
        """Everything the sidebar shows, sub-panels opened."""
        layout = Layout()
        for panel in panels.CLASSES:
            if panel.bl_space_type != "VIEW_3D" or (hasattr(panel, "poll") and not panel.poll(bpy.context)):
                continue
            stand_in = SimpleNamespace(layout=layout)
            if hasattr(panel, "draw_header"):
                panel.draw_header(stand_in, bpy.context)
            panel.draw(stand_in, bpy.context)
        return layout

    return draw_panels


def test_nothing_inspected(draw: Callable[..., Layout]) -> None:
    layout = draw()
    assert "Select two objects" in sentence(layout)
    assert {"object_a", "object_b"} <= set(layout.props)
    assert layout.operators == ["contact_lens.inspect"]


def test_everything_about_a_contact_is_shown(draw: Callable[..., Layout]) -> None:
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    layout = draw()
    assert layout.texts[0] == "Penetrating"
    assert layout.texts[1] == "Up to Date"
    shown = dict(zip(layout.texts[2::2], layout.texts[3::2], strict=False))
    assert shown["Depth"] == "0.5 m"
    assert shown["Direction"] == "1.00 0.00 0.00"
    assert shown["MTV"] == "0.5 0 0 m"
    assert shown["Contact Area"] == "3.42 m²"
    for name in ("Center", "Point on A", "Point on B", "Decided By", "Method", "Steps", "Contact Tolerance"):
        assert shown[name], name
    assert re.fullmatch(r"To 1\d digits", shown["Proved"])
    assert re.fullmatch(r"\d+ passed", shown["Checks"])
    assert shown["Resolution"]
    assert all(shown.get(name, text) == text for name, text in lines().items())
    assert set(layout.operators) == MAIN
    names = {field.identifier for field in bpy.context.scene.contact_lens.bl_rna.properties}
    toggles = {name for name in names if name.startswith("show_")}
    assert len(toggles) == 9
    assert toggles <= set(layout.props)


@pytest.mark.parametrize(
    ("x", "size", "words"),
    [
        (4.0, 2.0, "Separated"),
        (2.0, 2.0, "Touching"),
        (1.0, 2.0, "Penetrating"),
        (0.25, 1.0, "B inside A"),
        (0.25, 4.0, "A inside B"),
        (0.0, 2.0, "Coincident"),
    ],
)
def test_relation_in_words_with_an_icon(draw: Callable[..., Layout], x: float, size: float, words: str) -> None:
    inspect(cube("A"), cube("B", (x, 0.0, 0.0), size))
    layout = draw()
    assert layout.texts[0] == words
    assert layout.icons[0] not in ("NONE", "BLANK1")


def test_every_relation_has_words_and_an_icon() -> None:
    relations = {str(relation) for relation in part("core").Relation}
    assert set(part("blender_addon.ui.layout").RELATION_ICONS) == relations
    assert set(part("blender_addon.data.messages").RELATIONS) == relations


def test_the_dots_of_relations_differ_without_their_colours() -> None:
    icons = part("blender_addon.ui.status_icons")
    relations = {str(relation) for relation in part("core").Relation}
    assert relations < set(icons._icons)
    alphas = {name: np.array(icons._icons[name].icon_pixels_float)[3::4] for name in relations - {"b_inside_a"}}
    for one, other in combinations(alphas, 2):
        assert np.abs(alphas[one] - alphas[other]).mean() > 0.02, (one, other)


def sentence(layout: Layout) -> str:
    return " ".join(layout.texts)


def test_what_makes_a_result_outdated_is_shown_and_all_but_the_reason_is_greyed(draw: Callable[..., Layout]) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    layout = draw()
    assert (layout.texts[:2], layout.greyed) == (["Penetrating", "Up to Date"], [])
    report = part("blender_addon.report.pair")
    words = {
        word
        for row in part("blender_addon.report.pair_lines").measurements(report.inspected(bpy.context))
        for word in row[:2]
    }
    b.location.x = 1.75
    update()
    layout = draw()
    assert layout.texts[:2] == ["Outdated: Penetrating", "'B' has moved"]
    assert {"Outdated: Penetrating", *words} <= set(layout.greyed)
    assert "'B' has moved" not in layout.greyed
    b.location.x = 1.5
    update()
    assert draw().texts[:2] == ["Penetrating", "Up to Date"]
    edit(b, -0.25)
    assert draw().texts[:2] == ["Outdated: Penetrating", "'B' has changed"]
    assert bpy.ops.contact_lens.refresh() == {"FINISHED"}
    assert draw().texts[:2] == ["Penetrating", "Up to Date"]
    bpy.context.scene.contact_lens.clearance = 1.0
    assert draw().texts[:2] == ["Outdated: Penetrating", "The settings have changed"]


def test_no_button_moves_whatever_the_result_is(draw: Callable[..., Layout], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)

    def places() -> dict[str, int]:
        return {name: place for name, place in draw().places.items() if name.split(" ")[0] in MAIN}

    fresh = places()
    assert len(fresh) == 9
    b.location.x = 4.0
    update()
    assert places() == fresh, "outdated"
    with monkeypatch.context() as patch:
        patch.setattr(part("blender_addon.ui.follow_pair"), "progress_of", lambda scene: 0.25)
        layout = draw()
        assert layout.bars == ["Inspecting: 25 %"]
        assert "contact_lens.cancel" in layout.operators
        assert places() == fresh, "while it is inspected"
    bpy.ops.contact_lens.refresh()
    assert draw().texts[0] == "Separated"
    assert places() == fresh, "fewer numbers"
    b.data.clear_geometry()
    update()
    with pytest.raises(RuntimeError, match="has no vertices"):
        bpy.ops.contact_lens.refresh()
    assert places() == fresh, "no result"


def test_the_status_fits_its_row(draw: Callable[..., Layout]) -> None:
    layout, session = part("blender_addon.ui.layout"), part("blender_addon.check.session")
    reason = "has changed"
    inspect(cube("A"), cube("The left part of the hinge, 2nd", (1.5, 0.0, 0.0)))
    session.mark_stale(bpy.context.scene, f"'The left part of the hinge, 2nd' {reason}")
    status = draw().texts[1]
    assert len(status) <= layout.characters(bpy.context)
    assert status.startswith("'The")
    assert status.endswith(f"…' {reason}")


def test_what_will_be_inspected_is_told(draw: Callable[..., Layout]) -> None:
    a, b, light = cube("Left"), cube("Right"), add_object("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    select(a, b)
    assert draw().texts[:2] == [f"A will be '{bpy.context.object.name}'", "B will be 'Right'"]
    select(a, light)
    assert "'Lamp' is of type light, which has no surface" in sentence(draw())
    select(a, b, light)
    assert "3 objects are selected: select only two" in sentence(draw())


def test_bounds_that_do_not_meet_are_told_with_the_step_that_stopped(
    draw: Callable[..., Layout], monkeypatch: pytest.MonkeyPatch
) -> None:
    inspection, core = part("blender_addon.check.pair_contact"), part("core")
    honest = inspection.contact

    def stalled(*shapes: Any, **options: Any) -> Any:
        found = honest(*shapes, **options)
        return replace(found, status=core.Status.EPA_STALLED, lower_bound=found.lower_bound - 0.25)

    monkeypatch.setattr(inspection, "contact", stalled)
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    words = sentence(draw())
    assert "Less exact than promised: rounding ended the growth of EPA's polytope" in words
    assert "the signed distance is known to 0.25 m" in words
    assert "Proved Between 0.5 and 0.75 m" in words
    assert "did not pass" not in words

    def wrong(*shapes: Any, **options: Any) -> Any:
        found = honest(*shapes, **options)
        return replace(found, point_on_a=found.point_on_a + 0.25)

    monkeypatch.setattr(inspection, "contact", wrong)
    inspect(cube("C"), cube("D", (1.5, 0.2, 0.1)))
    words = sentence(draw())
    assert "The result did not pass its own verification" in words
    assert "Proved No" in words


def test_dent_is_told(draw: Callable[..., Layout]) -> None:
    bpy.ops.mesh.primitive_monkey_add()
    suzanne = bpy.context.object
    inspect(suzanne, cube("B", (1.5, 0.0, 0.0)))
    assert "'Suzanne': not closed (42 open edges), so only its surface collides" in sentence(draw())
    suzanne.contact_lens_shape = "CONVEX_HULL"
    bpy.ops.contact_lens.refresh()
    assert "'Suzanne' is not convex: its convex hull is used, concavity" in sentence(draw())


def test_the_collision_shape_is_in_the_properties_of_the_active_object() -> None:
    panel = part("blender_addon.ui.panels").CONTACT_LENS_PT_shape
    assert (panel.bl_space_type, panel.bl_context) == ("PROPERTIES", "object")

    def words() -> str:
        layout = Layout()
        panel.draw(SimpleNamespace(layout=layout), bpy.context)
        assert layout.props == ["contact_lens_shape"]
        return sentence(layout)

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


def test_shapes_of_the_selected_pair_are_shown_before_it_is_inspected(draw: Callable[..., Layout]) -> None:
    select(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    assert draw().props.count("contact_lens_shape") == 2


def test_why_a_pair_cannot_be_inspected_is_told(draw: Callable[..., Layout]) -> None:
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    b.data.clear_geometry()
    update()
    with pytest.raises(RuntimeError, match="'B' has no vertices"):
        bpy.ops.contact_lens.refresh()
    layout = draw()
    assert "'B' has no vertices" in sentence(layout)
    assert "Depth" not in layout.texts


def test_picked_but_not_inspected_offers_to(draw: Callable[..., Layout]) -> None:
    settings = bpy.context.scene.contact_lens
    settings.object_a, settings.object_b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    select(settings.object_a)
    assert "contact_lens.refresh" in draw().operators


def test_bounding_volumes_are_told_or_why_there_are_none(draw: Callable[..., Layout]) -> None:
    settings = bpy.context.scene.contact_lens
    assert {"show_volumes", "volumes_of", "volume_kind"} <= set(draw().props)
    assert "contact_lens.show_volumes" not in draw().operators
    settings.show_volumes = True  # in background mode nothing follows by itself
    assert "contact_lens.show_volumes" in draw().operators
    with pytest.raises(RuntimeError):
        bpy.ops.contact_lens.show_volumes()
    assert "Select objects with a surface to see their bounding volumes" in sentence(draw())
    select(cube("Cube"))
    settings.volume_kind, settings.volumes_of, settings.tree_method = "KDOP", "TRIANGLES", "TOP_DOWN"
    assert bpy.ops.contact_lens.show_volumes() == {"FINISHED"}
    assert "Cube 12 triangles, " in sentence(draw())
    assert {"volume_planes", "tree_method", "tree_split", "tree_level", "tree_above"} <= set(draw().props)


def test_long_sentences_are_wrapped(draw: Callable[..., Layout]) -> None:
    bpy.ops.mesh.primitive_torus_add()
    inspect(bpy.context.object, cube("B", (1.5, 0.0, 0.0)))
    assert max(len(text) for text in draw().texts) < 60


def test_preferences_and_menus_draw(addon: ModuleType) -> None:
    layout = Layout()
    preferences = part("blender_addon.data.preferences")
    stand_in = SimpleNamespace(layout=layout, bl_rna=bpy.context.preferences.addons[addon.__name__].preferences.bl_rna)
    preferences.ContactLensPreferences.draw(stand_in, bpy.context)
    assert "color_a" in layout.props
    assert "label_size" in layout.props
    menu = part("blender_addon.ui.menu")
    layout = Layout()
    menu._draw_all(SimpleNamespace(layout=layout), bpy.context)
    menu.CONTACT_LENS_MT_contact.draw(SimpleNamespace(layout=layout), bpy.context)
    assert len(layout.operators) == 16


def test_look_follows_the_preferences(addon: ModuleType) -> None:
    preferences = part("blender_addon.data.preferences")
    stored = bpy.context.preferences.addons[addon.__name__].preferences
    assert preferences.look(bpy.context).line_width == preferences.DEFAULT_LOOK.line_width
    assert preferences.look(bpy.context).color_a == pytest.approx(preferences.DEFAULT_LOOK.color_a)
    stored.line_width = 4.0
    try:
        assert preferences.look(bpy.context).line_width == 4.0
    finally:
        stored.property_unset("line_width")
