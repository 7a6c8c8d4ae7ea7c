# SPDX-License-Identifier: GPL-3.0-or-later
"""The active clash over frames: its plot, what goes to its frames, and how the list shows when it is found."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import animate, cube, lens
from .test_clash_list import panel, row, shown
from .test_over_frames import over
from .test_scene_check import check, settings

BOX = (10.0, 20.0, 210.0, 120.0)
BACK, TEXT, GAP = (0.1, 0.1, 0.1, 1.0), (0.9, 0.9, 0.9, 1.0), 3.0


def plot(*distances: object, gap: float = np.nan, width: float = 0.0, is_exact: bool = True) -> Any:
    """The plot of a pair: see `over`; gap: where it is apart, width: of the bounds."""
    part, series = lens.draw.frames_plot, over(*distances)
    numbers, apart = series.distances, series.checked & ~series.found
    bounds = numbers - width, np.where(np.isneginf(numbers), np.nan, numbers)
    gaps = np.where(apart, gap, np.nan), apart & is_exact
    given = part.ClashSeries(series, bounds, gaps, "penetrating")
    style = lens.layers.overlay_geometry.Style(lens.data.look.DEFAULT_LOOK)
    units = lens.data.units.UnitFormat()
    measure = lambda text, size: (0.5 * size * len(text), size)  # noqa: E731
    return part.frames_plot(given, BOX, part.PlotColors(BACK, TEXT), style, units, measure)


def filled(made: Any, color: object, form: int = 0) -> list[list[float]]:
    """The boxes of what has a color, from the left: fills, or lines with another form."""
    glyphs = made.notes.plates
    mask = (np.abs(glyphs["color"] - np.array(color)) < 1e-6).all(axis=1) & (glyphs["form"][:, 0] == form)
    points = np.concatenate([glyphs[mask]["start"], glyphs[mask]["end"]] if form else [glyphs[mask]["start"]])
    corners = points[:, :2].reshape(-1, 2)
    return sorted(map(list, {tuple(point) for point in corners.round(1).tolist()}))


def test_each_frame_is_a_column_of_its_depth() -> None:
    made = plot("-", -1.0, -2.0, "-", "?", gap=0.5)
    left, bottom, right, top = made.area
    wide, unit = (right - left) / 5.0, (top - bottom) / 2.5
    zero = top - 0.5 * unit
    paint = lens.data.look.relation_color("penetrating")
    columns = [(left + wide, left + 2 * wide, zero - unit), (left + 2 * wide, left + 3 * wide, bottom)]
    corners = {(x, y) for a, b, low in columns for x in (a, b) for y in (low, zero)}
    assert np.allclose(filled(made, paint), sorted(corners), rtol=0.0, atol=0.06)
    hatched = filled(made, (*TEXT[:3], lens.draw.frames_plot.FAINT))
    assert [hatched[0][0], hatched[-1][0]] == pytest.approx([left + 4 * wide, right], abs=0.06), "not checked"
    assert [text.text for text in made.notes.texts] == ["2 m", "0"]
    assert made.series.over.worst == 3


def test_what_only_touches_is_not_as_deep_as_the_plot() -> None:
    made = plot("-", -0.001, 0.001, "-")
    heights = np.array(filled(made, lens.data.look.relation_color("penetrating")))[:, 1]
    assert np.ptp(heights) < 0.1 * (made.area[3] - made.area[1])
    assert [text.text for text in made.notes.texts] == ["0"]


def test_clicks_and_the_playhead_are_at_the_same_places() -> None:
    made = plot(*["-"] * 10, -1.0, *["-"] * 9)
    for frame in range(1, 21):
        line = made.playhead(frame).plates["start"][:, 0]
        assert made.frame_at(float(line[0])) == frame
    assert (made.frame_at(-1e3), made.frame_at(1e3)) == (1.0, 20.0)
    assert len(made.playhead(21.0).plates) == 0
    words = [text.text for text in made.playhead(11).texts]
    assert words == ["11", "1", "20"]
    assert [text.text for text in made.playhead(20).texts] == ["20", "1"], "no number covers another"


def test_bounds_and_gaps_say_what_is_proved() -> None:
    paint, parts = lens.data.look.relation_color("penetrating"), lens.draw.frames_plot
    certain, faint = (filled(plot(-1.0, -1.0, width=1.0), (*paint[:3], alpha)) for alpha in (1.0, parts.FAINT))
    assert min(y for _, y in certain) == pytest.approx(max(y for _, y in faint)), "the band is below the proved depth"
    for is_exact, alpha in ((True, 1.0), (False, parts.FAINT)):
        made = plot("-", "-", -1.0, "-", gap=0.3, is_exact=is_exact)
        assert filled(made, (*TEXT[:3], alpha), form=1), is_exact
    assert not filled(plot("-", "-", -1.0, "-"), (*TEXT[:3], 1.0), form=1), "an unknown gap is no line"
    touching = filled(plot("-", 0.0, "-", gap=0.3), paint)
    assert touching[-1][1] - touching[0][1] == pytest.approx(parts.LEAST, abs=0.06), "what touches is seen"
    assert filled(plot("-", None, -1.0), paint), "and what has no depth"


def moving_scene() -> None:
    """Cubes of which two are in contact from frame 4 to 6, and two all the time."""
    cube("A")
    b = cube("B", (4.0, 0.0, 0.0))
    cube("Base", (20.0, 0.0, 0.0))
    cube("Floor", (21.0, 0.0, 0.0))
    animate(b, "location", "LINEAR", f1=(4.0, 0.0, 0.0), f5=(1.0, 0.0, 0.0), f9=(4.0, 0.0, 0.0))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 9
    bpy.context.scene.frame_set(1)
    assert bpy.ops.contact_lens.check_frames() == {"FINISHED"}


def open_pair(names: str) -> None:
    settings().active = next(k for k, f in enumerate(settings().findings) if f.label("a") + f.label("b") == names)


@pytest.mark.usefixtures("empty_scene")
def test_buttons_go_to_the_frames_of_the_active_clash() -> None:
    moving_scene()
    with pytest.raises(RuntimeError, match="click a row"):
        bpy.ops.contact_lens.go_to_contact(to="FIRST")
    frames = []
    open_pair("AB")
    for to in ("FIRST", "NEXT", "WORST", "PREVIOUS", "LAST", "NEXT"):
        bpy.ops.contact_lens.go_to_contact(to=to)
        frames.append(bpy.context.scene.frame_current)
    assert frames == [4, 5, 5, 4, 6, 6], "after the last one there is no next"


@pytest.mark.usefixtures("empty_scene")
def test_the_list_says_when_and_what_is_permanent_does_not_bury_the_rest() -> None:
    with pytest.raises(RuntimeError, match="run Check Frames first"):
        bpy.ops.contact_lens.go_to_contact(to="FIRST")
    moving_scene()
    pairs = [frozenset(shown().clashes[k].names) for k in shown().rows]
    assert pairs == [{"A", "B"}], "of what is always there only the number is shown"
    assert "1 permanent" in panel().texts
    settings().show_penetrating = False
    assert lens.clashes.clash_list.why_empty(bpy.context.scene) == "No clash passes the filters"
    settings().show_penetrating = settings().show_permanent = True
    assert [frozenset(shown().clashes[k].names) for k in shown().rows] == [{"A", "B"}, {"Base", "Floor"}]
    open_pair("AB")
    assert "A meets B at 4, deepest 1 m at 5, leaves after 6" in " ".join(panel().texts)
    assert row("AB").texts[-2:] == ["···▂█▂··· from 4", "B"]
    settings().show_permanent = False
    assert lens.clashes.clash_list.is_filtered(settings())
    check()
    assert not lens.clashes.clash_list.is_filtered(settings()), "nothing is permanent in a list of one frame"


@pytest.mark.usefixtures("empty_scene")
def test_a_plot_that_cannot_be_drawn_ends_nothing_else() -> None:
    viewport, part = lens.views.viewport, lens.views.sidebar_plot
    viewport._draw(None)  # there is no region to draw into
    assert (viewport.error(), part._icons) == ("", None)
    moving_scene()
    open_pair("AB")
    assert "1 transient" in panel().texts
    part.register()
