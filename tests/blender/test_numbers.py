# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as a person reads them: no digit that is not known, and the same number everywhere.

Blender itself reads them back: `bpy.utils.units.to_value` is what its fields do with what is typed or pasted.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from .layouts import Layout
from .reports import save_report
from .scenes import cube, inspect, inspection, lens, torus

UNITS = {
    "METRIC": ("ADAPTIVE", "KILOMETERS", "METERS", "CENTIMETERS", "MILLIMETERS", "MICROMETERS"),
    "IMPERIAL": ("ADAPTIVE", "MILES", "FEET", "INCHES", "THOU"),
    "NONE": ("ADAPTIVE",),
}
SCALES = (1.0, 0.001, 0.01, 25.4)
ROUNDING = 1e-7
"""Relative: Blender's units are known to single precision."""


@pytest.fixture
def units() -> ModuleType:
    return lens.data.units


def cases(units: ModuleType, number: int = 2_000) -> Iterator[tuple[Any, float, float]]:
    """Unit settings, a length in Blender units of 1e-7 to 1e7 m, and the width of its proved bounds."""
    chosen = random.Random(18)
    for _ in range(number):
        system = chosen.choice(tuple(UNITS))
        unit = units.UnitFormat(system, chosen.choice(SCALES), chosen.choice(UNITS[system]))
        length = 10.0 ** chosen.uniform(-7.0, 7.0) / unit.scale_length
        yield unit, length, chosen.choice((0.0, 10.0 ** chosen.uniform(-9.0, 0.5) * length))


def read(text: str, unit: Any) -> float:
    """A length in Blender units, as Blender's own fields read it."""
    if unit.system == "NONE":
        return float(text)
    return bpy.utils.units.to_value(unit.system, "LENGTH", text) / unit.scale_length


def last_place(text: str) -> float:
    """What one of the last digit of a length is, in its unit; zeros before the point may be digits or not."""
    number = re.match(r"-?(\d+)\.?(\d*)(?:e([-+]\d+))?", text)
    assert number is not None
    return 10.0 ** (int(number[3] or 0) - len(number[2]))


def shown_places(text: str) -> int:
    """The significant digits of a number."""
    return len(re.sub(r"e.*|[^\d]", "", text.split(" ")[0]).lstrip("0").rstrip("0"))


def test_blender_reads_what_is_shown_to_the_last_digit_that_is_known(units: ModuleType) -> None:
    for unit, length, error in cases(units):
        text = unit.length(length, error)
        one = read(" ".join(["1", *text.split(" ")[1:]]), unit)
        fourth = one * 10.0 ** (math.floor(math.log10(length / one)) - 3)
        known = max(0.5 * fourth, 2.5 * error)
        assert abs(read(text, unit) - length) <= known * (1.0 + 1e-6) + ROUNDING * length, (unit, length, error, text)
        assert shown_places(text) <= 4
        assert not re.match(r"-0|.*\.\d*0( |$)", text), f"{text} has zeros that say nothing"


def test_the_last_digit_is_at_most_two_off_and_the_next_would_say_nothing(units: ModuleType) -> None:
    metres = units.UnitFormat("METRIC", 1.0, "METERS")
    assert metres.length(0.002846312, 0.000015) == "0.00285 m", "between 2.831 and 2.846 mm"
    assert metres.length(0.002846312, 0.000021) == "0.0028 m"
    assert metres.length(0.002846312, 0.000001) == "0.002846 m"
    assert metres.length(0.002846312, 1.0) == "0 m"
    for unit, length, error in cases(units):
        text = unit.length(length, error)
        if error > 0.0 and "." in text:
            one = last_place(text) * read(" ".join(["1", *text.split(" ")[1:]]), unit)
            assert error <= 2.1 * one, (unit, length, error, text)


def test_bounds_that_are_shown_are_bounds(units: ModuleType) -> None:
    for unit, length, _ in cases(units):
        low, high = unit.length(length, rounding="down"), unit.length(length, rounding="up")
        spare = ROUNDING * length
        assert read(low, unit) - spare <= length <= read(high, unit) + spare, (unit, length, low, high)
        assert read(high, unit) - read(low, unit) <= 1.1e-3 * length + spare
    millimetres = units.UnitFormat("METRIC", 1.0, "MILLIMETERS")
    assert millimetres.length(0.1, rounding="up") == "100 mm", "the product of 0.1 and 1000 is a little more than 100"


def test_more_is_not_shown_as_less(units: ModuleType) -> None:
    chosen = random.Random(2)
    for unit, length, _ in cases(units, 500):
        more = length * (1.0 + 10.0 ** chosen.uniform(-6.0, 1.0))
        for rounding in ("nearest", "up", "down"):
            less_text, more_text = unit.length(length, rounding=rounding), unit.length(more, rounding=rounding)
            assert read(less_text, unit) <= read(more_text, unit) * (1.0 + ROUNDING), (unit, less_text, more_text)


def test_what_is_copied_is_read_back_with_all_digits(units: ModuleType) -> None:
    for unit, length, _ in cases(units):
        assert read(unit.exact(length), unit) == pytest.approx(length, rel=6e-7)
    metres = units.UnitFormat("METRIC", 1.0, "MILLIMETERS")
    assert (metres.exact(0.0028463123), metres.exact(0.4)) == ("2.846312 mm", "400 mm")
    assert units.exact_vector((1.0 / 3.0, -0.0, 1250.0)) == "[0.3333333, 0, 1250]"


def test_adaptive_lengths_have_the_unit_that_blender_gives_them(units: ModuleType) -> None:
    adaptive = units.UnitFormat("METRIC", 1.0, "ADAPTIVE")
    chosen = random.Random(3)
    for _ in range(500):
        length = 10.0 ** chosen.uniform(-5.9, 6.0)
        ours = adaptive.length(length)
        theirs = bpy.utils.units.to_string("METRIC", "LENGTH", read(ours, adaptive), precision=6, split_unit=False)
        assert ours.split(" ")[1] == theirs.split(" ")[1], (length, ours, theirs)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0.0, "0 m"),
        (-0.0, "0 m"),
        (1.0, "1 m"),
        (-2.5, "-2.5 m"),
        (999.0, "999 m"),
        (1234.5, "1.235 km"),
        (0.999999, "1 m"),
        (0.9999, "99.99 cm"),
        (0.5, "50 cm"),
        (0.28154, "28.15 cm"),
        (0.00123456, "1.235 mm"),
        (0.0005, "0.5 mm"),
        (0.00009, "90 µm"),
        (4.2e-6, "4.2 µm"),
        (4.2e-9, "0.0042 µm"),
        (4.2e-12, "4.2e-6 µm"),
        (1e9, "1000000 km"),
        (float("inf"), "inf km"),
    ],
)
def test_adaptive_lengths(units: ModuleType, length: float, text: str) -> None:
    assert units.UnitFormat("METRIC", 1.0, "ADAPTIVE").length(length) == text


def test_small_lengths_in_a_fixed_unit_are_written_with_an_exponent(units: ModuleType) -> None:
    metres = units.UnitFormat("METRIC", 1.0, "METERS")
    assert [metres.length(x) for x in (0.0001, 0.000099, 3e-7)] == ["0.0001 m", "9.9e-5 m", "3e-7 m"]
    assert [metres.length(x) for x in (1234567.0, 12345678.0)] == ["1235000 m", "1.235e+7 m"]


def test_small_components_of_a_vector_do_not_look_important(units: ModuleType) -> None:
    metres = units.UnitFormat("METRIC", 1.0, "METERS")
    assert metres.vector((2.5, -1e-9, 0.25)) == "2.5 0 0.25 m"
    assert metres.vector((12.5, -0.02, 0.25), 0.5) == "13 0 0 m"
    assert metres.vector((0.0, -0.0, 0.0)) == "0 0 0 m"
    assert metres.vector((44.7123, -18.678, -0.4312)) == "44.71 -18.68 -0.43 m", "as long as a line"
    assert metres.vector((-44.7123, -18.678, -0.4312)) == "-44.7 -18.7 -0.4 m", "and no longer"
    assert metres.vector((-0.00011, 0.000311, 0.02581)) == "0 0 0.026 m", "as long as a line"
    assert metres.vector((12345.6, 4.2, -300.0)) == "12346 4 -300 m", "no digit before the point is left out"
    assert metres.vector((1.25e9, 0.0, 3.0)) == "1.25e+9 0 0 m"
    assert units.direction((0.3512, -0.936, -1e-12)) == "0.35 -0.94 0.00"


def test_a_direction_is_in_words(units: ModuleType) -> None:
    turned = [(math.sin(a), 0.0, -math.cos(a)) for a in map(math.radians, (0.4, 0.6, 9.2))]
    words = ["down, along -Z", "down, 1° off -Z", "down, 9° off -Z"]
    assert [units.along(v) for v in turned] == words
    assert [units.along(v) for v in ((1e-12, 1.0, 0.0), (-1.0, 0.0, 0.0), (-0.6, -0.8, 0.0))] == [
        "along +Y",
        "along -X",
        "37° off -Y",
    ]
    half = math.sqrt(0.5)
    for noise in (0.0, 1e-9, -1e-9):
        assert units.along((half + noise, half, 0.0)) == "45° off +X"
        assert units.along((half + noise, 0.0, half)) == "up, 45° off +Z"


def test_what_lengths_are_in_is_told(units: ModuleType) -> None:
    told = [units.UnitFormat(system, 1.0, unit).words() for system in UNITS for unit in UNITS[system][:2]]
    assert told == ["adaptive", "km", "adaptive", "mi", "Blender units"]


def test_areas(units: ModuleType) -> None:
    adaptive = units.UnitFormat("METRIC", 1.0, "ADAPTIVE")
    assert [adaptive.area(x) for x in (0.0, 0.0004, 2.5)] == ["0 m²", "4 cm²", "2.5 m²"]
    assert units.UnitFormat("METRIC", 0.001, "MILLIMETERS").area(12.345678) == "12.35 mm²"
    assert units.UnitFormat("NONE").area(2.0) == "2"
    assert adaptive.exact_area(0.00041234567) == "4.123457 cm²"


def test_differences_are_told_to_two_digits(units: ModuleType) -> None:
    metres = units.UnitFormat("METRIC", 1.0, "METERS")
    told = [metres.rough(value) for value in (0.0, 9.54e-7, 0.25, 0.30000001, 12.34, 262144.0, 1.5e12)]
    assert told == ["0 m", "9.5e-7 m", "0.25 m", "0.3 m", "12 m", "260000 m", "1.5e+12 m"]


# --- the number of a pair ---------------------------------------------------------------------------------------------


def distance(relation: str, signed_distance: float | None, lower: float | None, upper: float | None) -> Any:
    return lens.data.distance.Distance(relation, signed_distance, lower, upper)


@pytest.mark.parametrize(
    ("relation", "signed_distance", "lower", "upper", "name", "text"),
    [
        ("penetrating", -2.846312, -2.846312, -2.846312, "Depth", "2.846 mm"),
        ("penetrating", -2.846312, -2.846312, -2.831, "Depth", "2.85 mm"),
        ("penetrating", -2.841, -2.841, -2.5, "Depth", "\N{LESS-THAN OR EQUAL TO} 2.85 mm"),
        ("a_inside_b", -2.841, -2.841, 0.0, "Depth", "\N{LESS-THAN OR EQUAL TO} 2.85 mm"),
        ("separated", 12.0, 12.0, 12.0, "Gap", "12 mm"),
        ("separated", 12.34, 10.0, 12.34, "Gap", "\N{LESS-THAN OR EQUAL TO} 12.4 mm"),
        ("within_clearance", 0.5, None, None, "Gap", "0.5 mm"),
        ("touching", -1.2e-7, -2.4e-7, -1.2e-7, "Depth", ""),
        ("penetrating", None, None, None, "Depth", ""),
    ],
)
def test_the_number_of_a_pair(
    units: ModuleType, relation: str, signed_distance: Any, lower: Any, upper: Any, name: str, text: str
) -> None:
    found = distance(relation, signed_distance, lower, upper)
    assert (found.name, found.text(units.UnitFormat("METRIC", 0.001, "MILLIMETERS"))) == (name, text)
    assert found.is_at_most == text.startswith("\N{LESS-THAN OR EQUAL TO}")


def test_an_upper_bound_is_never_shown_as_less_than_it_is(units: ModuleType) -> None:
    chosen = random.Random(4)
    for unit, length, _ in cases(units, 500):
        text = distance("penetrating", -length, -length, -length * chosen.uniform(0.0, 0.9)).text(unit)
        assert text.startswith("\N{LESS-THAN OR EQUAL TO} ")
        assert length * (1.0 - ROUNDING) <= read(text[2:], unit) <= 1.011 * length


def test_every_status_has_words() -> None:
    assert set(lens.report.pair_lines._STATUSES) == set(map(str, lens.core.result.Status))


def rows(name: str) -> dict[str, str]:
    return {row.name: row.text for row in getattr(lens.report.pair_lines, name)(inspection())}


@pytest.mark.usefixtures("empty_scene")
def test_what_is_copied_of_a_row_has_all_digits() -> None:
    inspect(cube("A"), cube("B", (1.23456789, 0.2, 0.1)))
    found = {row.name: row.copied for row in lens.report.pair_lines.measurements(inspection())}
    assert found["Depth"] == "0.7654322 m", "rounded up: one moves by it"
    assert found["Direction"] == "[1, 0, 0]"
    assert found["Move B By"] == "[0.7654322, 0, 0]"
    assert found["Area"] == "3.42 m²"
    assert found["Shape of A"] == ""


@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize(("x", "least"), [(1.5, "Depth"), (2.0, "Direction"), (5.0, "Gap")])
def test_no_row_says_nothing(x: float, least: str) -> None:
    inspect(cube("A"), cube("B", (x, 0.2, 0.1)))
    found = rows("measurements")
    assert next(iter(found)) == least
    assert ("Move B By" in found) == (x == 1.5)
    assert ("Center" in found) == ("Area" in found) == (x <= 2.0)
    assert all((*found.values(), *rows("accuracy").values())), "an empty text says nothing either"
    assert not [
        text for text in (*found.values(), *rows("accuracy").values()) if text.startswith(("0 0 0", "-0", "none"))
    ]


@pytest.mark.usefixtures("empty_scene")
def test_a_depth_that_the_coordinates_cannot_tell_is_not_shown() -> None:
    inspect(cube("A", (300.0, 0.0, 0.0)), cube("B", (301.99997, 0.0, 0.0)))
    assert 0.0 < inspection().contact.depth <= inspection().resolution
    assert not {"Depth", "Move B By"} & rows("measurements").keys()


@pytest.mark.usefixtures("empty_scene")
def test_what_is_proved_to_all_digits_is_told_in_digits() -> None:
    inspect(cube("A"), cube("B", (1.3, 0.2, 0.1)))
    assert re.fullmatch(r"To 1\d digits", rows("accuracy")["Proved"])
    inspect(cube("C"), cube("D", (2.0, 0.2, 0.1)))
    assert rows("accuracy")["Proved"].startswith("Within ")


@pytest.mark.usefixtures("empty_scene")
def test_lengths_of_a_box_are_in_the_unit_of_the_depth() -> None:
    bpy.context.scene.unit_settings.length_unit = "ADAPTIVE"
    inspect(cube("A"), cube("B", (1.997, 0.0, 0.5)))
    found = rows("measurements")
    assert (found["Depth"], found["Center"]) == ("3 mm", "998.5 0 250 mm")
    inspect(cube("C", (300.0, 0.0, 0.0)), cube("D", (301.997, 0.0, 0.5)))
    found = rows("measurements")
    assert (found["Depth"], found["Center"]) == ("2.991 mm", "301 0 0.3 m"), "301000 mm are hard to read"


@pytest.mark.usefixtures("empty_scene")
def test_the_points_of_a_small_gap_differ() -> None:
    inspect(cube("A"), cube("B", (2.004, 0.0, 0.0)))
    found = rows("measurements")
    assert [found[name].split(" ")[0] for name in ("Point on A", "Point on B")] == ["1", "1.004"]


@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize(("x", "is_common"), [(1.5, False), (2.0, True), (2.001, False), (2.5, False)])
def test_only_objects_that_touch_have_a_common_point(x: float, is_common: bool) -> None:
    inspect(cube("A", (300.0, 0.0, 0.0)), cube("B", (300.0 + x, 0.0, 0.0)))
    found = rows("measurements")
    assert ("Common Point" in found) == is_common
    assert ({"Point on A", "Point on B"} <= found.keys()) == (not is_common)


# --- everywhere the same ----------------------------------------------------------------------------------------------


SETTINGS = [
    ("METRIC", "METERS", 1.0),
    ("METRIC", "MILLIMETERS", 1.0),
    ("METRIC", "ADAPTIVE", 1.0),
    ("METRIC", "MILLIMETERS", 0.001),
    ("METRIC", "ADAPTIVE", 0.001),
    ("IMPERIAL", "INCHES", 1.0),
    ("IMPERIAL", "ADAPTIVE", 1.0),
    ("NONE", "", 1.0),
]


def set_units(system: str, length_unit: str, scale: float) -> None:
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length = system, scale
    if length_unit:
        settings.length_unit = length_unit


def numbers_of_the_pair() -> dict[str, str]:
    """The number of the inspected pair, and where it is shown."""
    pair_lines, found = lens.report.pair_lines, inspection()
    report, name = dict(pair_lines.report_lines(found)), lens.data.distance.Distance
    name = name.of_contact(found.contact).name
    return {
        "headline": pair_lines.headline(found).number,
        "measurements": rows("measurements")[name],
        "clipboard": report[name],
        "label": lens.draw.overlay_labels.vector_label(found).removeprefix("gap "),
        "status bar": re.sub(rf".*, {name.lower()} (.*?)(?: \(.*)?$", r"\1", pair_lines.one_line(found)),
    }


def numbers_of_the_clash(folder: Path) -> dict[str, str]:
    """The number of the only clash of the scene, and where it is shown."""
    check = bpy.context.scene.contact_lens_check
    (finding,) = check.findings
    units = lens.data.units.UnitFormat.of_scene(bpy.context.scene)
    terminal = lens.terminal.check_lines._distance(finding.row(), units)
    return {
        "list": lens.ui.scene_panel._number(check, finding, units),
        "terminal": re.sub(r"(depth|gap) ", "", terminal).replace("at most", "\N{LESS-THAN OR EQUAL TO}"),
    }


@pytest.mark.fast_cases(10)
@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize(("system", "length_unit", "scale"), SETTINGS)
@pytest.mark.parametrize("kind", ["crossing cubes", "a gap", "meshes"])
def test_one_pair_has_one_number_everywhere(
    system: str, length_unit: str, scale: float, kind: str, tmp_path: Path
) -> None:
    set_units(system, length_unit, scale)
    bpy.context.scene.contact_lens_check.clearance = 1.0
    if kind == "meshes":
        a, b = torus("A"), torus("B", (1.05, 1.1, 0.0), rotation=(1.5, 0.8, 0.4))
        bpy.context.scene.contact_lens_check.exact = True
    else:
        a, b = cube("A"), cube("B", (2.0 + (0.0123456 if kind == "a gap" else -0.0123456), 0.1, 0.2))
    inspect(a, b)
    bpy.ops.contact_lens.check_scene()
    found = {**numbers_of_the_pair(), **numbers_of_the_clash(tmp_path)}
    assert len(set(found.values())) == 1, found
    assert shown_places(found["headline"].removeprefix("\N{LESS-THAN OR EQUAL TO} ")) in (1, 2, 3, 4)


def row_of_the_list(k: int) -> list[str]:
    """What a row of the list shows."""
    check, layout = bpy.context.scene.contact_lens_check, Layout()
    draw = lens.ui.scene_panel.CONTACT_LENS_UL_findings.draw_item
    draw(SimpleNamespace(), bpy.context, layout, check, check.findings[k], 0, check, "active", k)
    return [text for text in layout.drawn.texts if text]


@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize(("system", "length_unit", "scale"), SETTINGS)
def test_a_clash_has_the_number_of_its_panel_beside_a_larger_one(
    system: str, length_unit: str, scale: float, tmp_path: Path
) -> None:
    set_units(system, length_unit, scale)
    pairs = [(cube("A"), cube("B", (0.9, 0.0, 0.0))), (cube("C", (9.0, 0.0, 0.0)), cube("D", (10.9971, 0.0, 0.0)))]
    bpy.ops.contact_lens.check_scene()
    page = save_report(tmp_path / "out.html", pictures=0)
    for k, (a, b) in enumerate(pairs):
        inspect(a, b)
        number = lens.report.pair_lines.headline(inspection()).number
        assert row_of_the_list(k) == [a.name, number, b.name]
        assert page.rows[k + 1][2] == f"Depth {number}"
