# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of algorithms as they are drawn: every role is seen and differs from others without its colour too, and what is
written leaves nothing out and covers nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import Any, get_args

import bpy
import gpu
import numpy as np
import pytest

from .scenes import cube, lens
from .test_overlay import DARK, LIGHT, box, graphics, overlap, pair, styled, view_3d  # noqa: F401

SIZE = (640, 400)
draw, layers, study = lens.draw, lens.layers, lens.study
SENTENCE = (
    "The support point is vertex 3 of Cube minus vertex 12 of Suzanne. The simplex is now a tetrahedron, and its "
    "nearest feature to the origin is a face, 0.213 m away: the search goes on."
)


@dataclass(eq=False)
class Steps:
    """What is drawn of steps, with a picture that does not change."""

    drawn: Any = field(default_factory=lambda: study.picture.StudyPicture())
    kind: str = "gjk"
    lower: tuple[float, ...] = (np.nan, -0.9, -0.1, 0.2, 0.205)
    upper: tuple[float, ...] = (1.7, 0.8, 0.4, 0.25, 0.21)
    lengths: tuple[float, ...] = ()
    """Of the bars, below 0 overlaps."""
    words: str = SENTENCE
    shown: list[int] = field(default_factory=lambda: list(range(5)))

    @property
    def given(self) -> Any:
        """Of two boxes, the second one right of the first."""
        a, b = (lens.core.ConvexHull(box(center, (1.0, 1.0, 3.0))) for center in ((0.0, 0.0, 0.0), (6.0, 0.0, 0.0)))
        units = lens.data.units.UnitFormat("METRIC", 1.0, "METERS")
        return SimpleNamespace(units=units, a=a, b=b, in_world=np.asarray)

    @property
    def trace(self) -> Any:
        return SimpleNamespace(steps=[SimpleNamespace(kind=self.kind)] * 5)

    def title(self, number: int) -> str:
        return f"GJK, Step {number + 1} of 5"

    def sentence(self, number: int) -> str:
        return self.words

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.lower)[self.shown], np.array(self.upper)[self.shown]

    def bars(self, number: int) -> list[Any]:
        best = max(self.lengths, default=None)
        return [
            lens.study.steps.Bar(length, length == best, k == number, 10 + k) for k, length in enumerate(self.lengths)
        ]

    def picture(self, number: int) -> Any:
        return self.drawn


def roles() -> tuple[str, ...]:
    return get_args(study.picture.Role)


def camera(middle: object = (0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """From above, 6 units wide."""
    view, projection = np.eye(4), np.diag([2.0 / 6.0, 2.0 / 6.0 * SIZE[0] / SIZE[1], -0.01, 1.0])
    view[:3, 3] = -np.array(middle)
    return view, projection


def seen(
    steps: Steps, background=DARK, part: object = None, view: object = None, style: object = None, number: int = 2
) -> np.ndarray:
    """The pixels (height, width, 3) of a step over nothing."""
    offscreen = gpu.types.GPUOffScreen(*SIZE)
    try:
        with offscreen.bind():
            gpu.state.active_framebuffer_get().clear(color=(*background, 1.0), depth=1.0)
            stage = part or draw.overlay.DrawingStage.WORLD
            draw.overlay.draw_study(
                steps.picture(number), draw.step_sheet.NO_PLATE, style or styled(), *(view or camera()), SIZE, stage
            )
            return draw.picture.read_pixels(*SIZE).astype(int)
    finally:
        offscreen.free()


def grey(pixels: np.ndarray) -> np.ndarray:
    return pixels @ (0.2126, 0.7152, 0.0722)


TRIANGLE = np.array([[(-1.5, -1.0, 0.0), (1.5, -1.0, 0.0), (0.0, 1.2, 0.0)]])
SEGMENT = np.array([[(-2.0, 0.0, 0.0), (2.0, 0.5, 0.0)]])


def of_role(role: str, kind: str) -> Any:
    given = {
        "fills": (study.picture.Fills(role, TRIANGLE),),
        "lines": (study.picture.Lines(role, SEGMENT),),
        "points": (study.picture.Points(role, np.zeros((1, 3))),),
    }
    return study.picture.StudyPicture(**{kind: given[kind]})


# --- in the world -----------------------------------------------------------------------------------------------------


def test_every_role_has_a_form_and_an_opaque_color():
    assert set(lens.data.look.ROLE_FORMS) == set(roles())
    assert all(lens.data.look.role_color(role)[3] == 1.0 for role in roles())


def test_roles_that_the_overlay_has_too_have_the_users_color():
    look = replace(lens.data.look.DEFAULT_LOOK, color_a=(0.1, 0.2, 0.3, 0.4))
    assert lens.data.look.role_color("a", look) == (0.1, 0.2, 0.3, 1.0)


@pytest.mark.parametrize("background", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("kind", ["fills", "lines", "points"])
def test_every_role_is_seen_on_dark_and_on_light(graphics, kind, background):  # noqa: F811
    empty = grey(seen(Steps(), background))
    contrast, least = {"fills": (2.0, 8000), "lines": (35.0, 300), "points": (35.0, 8)}[kind]
    for role in roles():
        if kind == "fills" and role in ("axis", "origin", "direction", "support", "silhouette"):
            continue  # which have no area
        different = np.abs(grey(seen(Steps(of_role(role, kind)), background)) - empty) > contrast
        assert different.sum() >= least, role


TOGETHER = {
    "points": ("origin", "support", "simplex", "nearest", "removed"),
    "lines": ("a", "b"),
    "fills": ("removed", "added", "nearest", "voronoi", "simplex", "plane"),
}


@pytest.mark.parametrize("kind", TOGETHER)
def test_roles_that_are_seen_together_differ_without_color(graphics, monkeypatch, kind):  # noqa: F811
    monkeypatch.setattr(layers.study_geometry, "role_color", lambda role, look: (0.8, 0.8, 0.8, 1.0))
    pictures = {role: grey(seen(Steps(of_role(role, kind)))) for role in TOGETHER[kind]}
    for one, other in combinations(pictures, 2):
        different = np.abs(pictures[one] - pictures[other])
        assert (different > 8.0).sum() > (25 if kind == "points" else 300), (one, other)


def test_a_translucent_hull_does_not_hide_what_is_in_it(graphics):  # noqa: F811
    hull = lens.core.ConvexHull(box(size=(4.0, 3.0, 2.0)))
    fans = [hull.vertices[[facet[0], *facet[k : k + 2]]] for facet in hull.facets for k in range(1, len(facet) - 1)]
    around = study.picture.StudyPicture(
        (study.picture.Fills("hull", np.array(fans)),),
        (study.picture.Lines("hull", hull.vertices[hull.edges]), study.picture.Lines("simplex", SEGMENT)),
    )
    alone, inside = (seen(Steps(picture)) for picture in (of_role("simplex", "lines"), around))
    color = np.round(255.0 * np.array(lens.data.look.role_color("simplex")[:3]))
    lit = np.abs(alone - color).max(axis=2) <= 4
    assert lit.sum() > 300
    assert (np.abs(inside - color).max(axis=2)[lit] <= 4).mean() > 0.9


def test_fills_have_both_sides(graphics):  # noqa: F811
    front, back = (
        seen(Steps(study.picture.StudyPicture(fills=(study.picture.Fills("hull", corners),))))
        for corners in (TRIANGLE, TRIANGLE[:, ::-1])
    )
    assert np.array_equal(front, back)


def test_arrows_dashes_and_widths_are_those_of_the_picture(graphics):  # noqa: F811
    plain = study.picture.Lines("axis", SEGMENT)
    lit = {
        name: int(
            (np.abs(seen(Steps(study.picture.StudyPicture(lines=(line,)))) - seen(Steps())) > 40).any(axis=2).sum()
        )
        for name, line in {
            "plain": plain,
            "dashed": replace(plain, is_dashed=True),
            "arrow": replace(plain, is_arrow=True),
            "wide": replace(plain, width=3.0),
        }.items()
    }
    assert lit["dashed"] < 0.9 * lit["plain"]
    assert lit["arrow"] > lit["plain"] + 20
    assert lit["wide"] > 1.8 * lit["plain"]


@pytest.mark.parametrize("place", [(1e6, -2e6, 5e5)])
def test_far_from_the_world_origin_a_step_looks_the_same(graphics, place):  # noqa: F811
    near = study.picture.StudyPicture(
        (study.picture.Fills("simplex", TRIANGLE),),
        (study.picture.Lines("axis", SEGMENT, is_arrow=True),),
        (study.picture.Points("a", SEGMENT[0]),),
    )
    far = study.picture.StudyPicture(
        (study.picture.Fills("simplex", TRIANGLE + place),),
        (study.picture.Lines("axis", SEGMENT + place, is_arrow=True),),
        (study.picture.Points("a", SEGMENT[0] + place),),
    )
    assert np.abs(seen(Steps(far), view=camera(place)) - seen(Steps(near))).max() <= 8


def test_a_step_that_stays_is_uploaded_once(graphics, monkeypatch):  # noqa: F811
    made = []
    layers = draw.overlay.study_layers
    monkeypatch.setattr(draw.overlay, "study_layers", lambda *given: (made.append(1), layers(*given))[1])
    steps = Steps(of_role("axis", "lines"))
    for turn in (0.0, 0.1, 0.2):
        seen(steps, view=camera((turn, 0.0, 0.0)))
    assert len(made) == 1
    seen(Steps(of_role("axis", "lines")))
    assert len(made) == 2


# --- what is written --------------------------------------------------------------------------------------------------


def plate_of(steps: Steps, number: int = 2, size=(1280.0, 720.0), scale: float = 1.0, taken=()) -> Any:
    room = draw.label_sheet.LabelRoom((0.0, 0.0, *size), taken)
    return draw.overlay.plate_of(steps, number, styled(scale=scale), room)


def is_within(box: Any, other: Any) -> bool:
    return box[0] >= other[0] and box[1] >= other[1] and box[2] <= other[2] and box[3] <= other[3]


def text_box(text: Any) -> tuple[float, float, float, float]:
    width, _ = draw.overlay.measure(text.text, text.size)
    return (text.x, text.y, text.x + width, text.y + 0.72 * text.size)


@pytest.mark.parametrize("lengths", [(), (-0.3, -0.9, -0.2, -0.7, 0.1)], ids=["bounds", "axes"])
@pytest.mark.parametrize("size", [(1280, 720), (900, 560), (620, 600), (440, 280), (330, 260)], ids=str)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_sentence_is_never_cut(size, scale, lengths):
    size = tuple(scale * part for part in size) if scale > 1.0 and min(size) < 400 else size
    plate = plate_of(Steps(lengths=lengths), size=size, scale=scale)
    assert is_within(plate.box, (0.0, 0.0, *size))
    words = [text for text in plate.texts if text.size == 12.0 * scale]
    assert " ".join(text.text for text in words) == f"GJK, Step 3 of 5 {SENTENCE}"
    boxes = [text_box(text) for text in plate.texts]
    assert all(is_within(each, plate.box) for each in boxes)
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]


def test_where_there_is_little_room_the_plot_goes_first():
    plots = [len(plate_of(Steps(), size=size).texts) for size in ((1280.0, 720.0), (420.0, 700.0), (420.0, 240.0))]
    heights = [plate_of(Steps(), size=(420.0, height)).box[3] for height in (700.0, 400.0, 240.0)]
    assert plots[2] == len(plate_of(Steps(lower=(np.nan,) * 5, upper=(np.nan,) * 5), size=(420.0, 240.0)).texts)
    assert heights[0] > heights[1] > heights[2]


def test_no_line_ends_between_a_number_and_its_unit_or_in_a_difference():
    words = "The gap between A - B and the origin (12, 4) is 0.4193 m, the widest of 15, at least 12.5 cm away."
    for width in range(300, 700, 10):
        lines = [text.text for text in plate_of(Steps(words=words), size=(float(width), 700.0)).texts]
        assert not [line for line in lines if line.split()[-1] in ("0.4193", "12.5", "A", "-", "(12,")], lines


def test_in_a_quad_view_the_sentence_is_written_once(graphics):  # noqa: F811
    room = draw.label_sheet.LabelRoom((0.0, 0.0, 640.0, 400.0), is_main=False)
    steps, kept = Steps(labelled(2)), draw.label_sheet.Kept()
    plate = draw.overlay.plate_of(steps, 2, styled(), room)
    stage = draw.overlay.DrawingStage.LABELS
    draw.overlay.draw_study(steps.picture(2), plate, styled(), *camera(), SIZE, stage, room, kept)
    assert [text.text for text in kept.notes.texts] == ["a 0", "b 1"]
    assert plate.bar_at(0.0, 0.0) is None


def test_the_plate_is_beside_or_above_what_blender_shows_at_the_bottom():
    panel, wide = (0.0, 0.0, 260.0, 130.0), (0.0, 0.0, 900.0, 130.0)
    beside, above = (plate_of(Steps(), taken=(taken,)).box for taken in (panel, wide))
    assert beside[0] >= panel[2]
    assert beside[1] < panel[3]
    assert above[1] >= wide[3]


def glyphs_in(plate: Any, color: tuple[float, ...], form: int) -> np.ndarray:
    chosen = (plate.glyphs["form"][:, 0] == form) & (plate.glyphs["color"] == np.float32(color)).all(axis=1)
    return plate.glyphs[chosen]


def test_the_plot_marks_the_current_step_and_says_its_numbers():
    shown = draw.step_sheet.SHOWN
    places = [glyphs_in(plate_of(Steps(), k), shown, layers.glyphs.FILL)["start"][:, 0] for k in range(5)]
    for before, after in pairwise(places):
        assert before.max() == pytest.approx(after.min()), "one column a step"
    texts = [text.text for text in plate_of(Steps(), 3).texts]
    assert texts[-4:] == ["1.7 m", "-0.9 m", "upper 0.25 m", "lower 0.2 m"]
    assert [text.text for text in plate_of(Steps(), 0).texts][-1] == "upper 1.7 m", "there is no lower bound yet"
    close = Steps(lower=(0.12346,) * 5, upper=(0.12352,) * 5)
    assert [text.text for text in plate_of(close, 3).texts][-2:] == ["upper 0.1236 m", "lower 0.1234 m"], (
        "rounded outward"
    )


def test_upper_and_lower_bound_differ_without_color_and_close():
    plate, look = plate_of(Steps()), lens.data.look
    upper, lower = (glyphs_in(plate, look.role_color(role), layers.glyphs.STROKE) for role in ("support", "simplex"))
    assert (upper["form"][:, 3] > 0.0).all()
    assert (lower["form"][:, 3] == 0.0).all()
    assert upper["start"][:, 1].min() > lower["start"][:, 1].max()


def test_the_plot_is_of_the_algorithm_of_the_step():
    @dataclass(eq=False)
    class Two(Steps):
        @property
        def trace(self) -> Any:
            return SimpleNamespace(steps=[SimpleNamespace(kind=kind) for kind in ("sat", "sat", "gjk", "gjk", "gjk")])

    texts = [text.text for text in plate_of(Two(lower=(-50.0, -9.0, 0.1, 0.2, 0.21)), 3).texts]
    assert "0.1 m" in texts
    assert "-50 m" not in texts


def test_a_click_hits_each_bar_and_nothing_beside_them():
    lengths = (-0.3, -0.9, -0.2, 0.4, -0.7)
    plate = plate_of(Steps(lengths=lengths), 1)
    overlaps, gaps = (
        [
            glyph
            for glyph in plate.glyphs.reshape(-1)[plate.glyphs["form"][:, 0] == layers.glyphs.FILL]
            if is_hatched(glyph)
        ]
        for is_hatched in (
            lambda glyph: glyph["form"][3] == 0.0 and (glyph["color"][:3] == np.float32(look_of("overlap"))).all(),
            lambda glyph: glyph["form"][3] != 0.0 and (glyph["color"][:3] == np.float32(look_of("gap"))).all(),
        )
    )
    assert (len(overlaps), len(gaps)) == (4 * 6, 6), "two triangles each, and gaps are hatched"
    assert min(glyph["start"][1] for glyph in overlaps) == pytest.approx(max(glyph["start"][1] for glyph in gaps))
    for k in range(5):
        (place,) = [where for where, step in plate.bars if step == 10 + k]
        middle = 0.5 * (place[0] + place[2]), 0.5 * (place[1] + place[3])
        assert is_within(place, plate.box)
        assert plate.bar_at(*middle) == 10 + k
    left, right = plate.bars[0][0], plate.bars[-1][0]
    for x, y in ((left[0] - 2.0, left[1] + 5.0), (right[2] + 2.0, right[1] + 5.0), (left[0] + 2.0, left[1] - 3.0)):
        assert plate.bar_at(x, y) is None
    (best,) = glyphs_in(plate, (1.0, 1.0, 1.0, 1.0), layers.glyphs.DIAMOND).reshape(-1, 6)
    assert plate.bar_at(best["start"][0, 0], 0.5 * (left[1] + left[3])) == 13
    assert "best: gap 0.4 m" in [text.text for text in plate.texts]


def look_of(role: str) -> tuple[float, ...]:
    return lens.data.look.role_color(role)[:3]


def test_of_very_many_axes_the_best_and_the_current_one_can_be_clicked():
    lengths = -np.random.default_rng(3).uniform(0.5, 2.0, 5000)
    plate = plate_of(Steps(lengths=tuple(lengths.tolist()), shown=list(range(5))), 3)
    steps = {step for _, step in plate.bars}
    assert 50 < len(plate.bars) < 200
    assert {13, 10 + int(lengths.argmax())} <= steps
    assert all(after[0][0] == pytest.approx(before[0][2]) for before, after in pairwise(plate.bars))


def labelled(count: int) -> Any:
    turns = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    points = np.stack([0.9 * np.cos(turns), 0.9 * np.sin(turns), 0.0 * turns], axis=1)
    labels = [
        study.picture.Label(role, f"{role} {k}", point)
        for k, (role, point) in enumerate(zip(roles(), points, strict=False))
    ]
    return study.picture.StudyPicture(points=(study.picture.Points("simplex", points),), labels=tuple(labels))


@pytest.mark.parametrize("size", [(1280, 720), (640, 400)])
def test_labels_cover_neither_each_other_nor_the_plate_nor_other_labels(size):
    steps = Steps(labelled(8))
    room = draw.label_sheet.LabelRoom((0.0, 0.0, float(size[0]), float(size[1])))
    plate = draw.overlay.plate_of(steps, 2, styled(), room)
    others = ((0.45 * size[0], 0.6 * size[1], 0.55 * size[0], 0.65 * size[1]),)
    view, projection = camera()
    notes = draw.step_sheet.annotate_steps(
        steps.drawn,
        plate,
        styled(),
        projection @ view,
        size,
        draw.overlay.measure,
        room,
        others,
        draw.label_sheet.Kept(),
    )
    assert [text.text for text in notes.texts[:8]] == [label.text for label in steps.drawn.labels]
    for one, other in combinations((*notes.boxes, *others), 2):
        assert not overlap(one, other)
    assert all(is_within(each, room.free) for each in notes.boxes)


def test_a_label_out_of_view_or_turned_off_is_left_out():
    behind = study.picture.StudyPicture(labels=(study.picture.Label("a", "far", np.array([50.0, 0.0, 0.0])),))
    for picture, style, wanted in (
        (behind, styled(), 0),
        (labelled(3), styled(), 3),
        (labelled(3), styled(show_labels=False), 0),
    ):
        room = draw.label_sheet.LabelRoom((0.0, 0.0, 640.0, 400.0))
        plate = draw.overlay.plate_of(Steps(picture), 2, style, room)
        view, projection = camera()
        notes = draw.step_sheet.annotate_steps(
            picture, plate, style, projection @ view, SIZE, draw.overlay.measure, room, (), draw.label_sheet.Kept()
        )
        assert len(notes.boxes) == wanted + 1, "and the plate"


def test_beside_a_step_the_overlay_keeps_outlines_and_names():
    p = pair(box(), box((1.6, -0.4, 0.7), (1.6, 1.6, 1.6), (32, 28, 40)))
    beside = draw.overlay.beside_steps(styled(show_witness=True, show_ties=True), is_contact=False)
    assert {layer.name for layer in layers.overlay_geometry.layers(p, beside)} == {"outline a", "outline b"}
    assert beside.show_labels
    assert draw.overlay.beside_steps(styled(), is_contact=True) == styled()


def test_what_is_written_is_laid_out_again_only_for_a_change(graphics, monkeypatch):  # noqa: F811
    made = []
    annotate = draw.overlay.annotate_steps
    monkeypatch.setattr(draw.overlay, "annotate_steps", lambda *given: (made.append(1), annotate(*given))[1])
    steps, kept = Steps(labelled(3)), draw.label_sheet.Kept()

    room = draw.label_sheet.LabelRoom((0.0, 0.0, *map(float, SIZE)))

    def redraw(number: int) -> None:
        stage, plate = draw.overlay.DrawingStage.LABELS, draw.overlay.plate_of(steps, number, styled(), room)
        offscreen = gpu.types.GPUOffScreen(*SIZE)
        with offscreen.bind():
            draw.overlay.draw_study(steps.picture(number), plate, styled(), *camera(), SIZE, stage, room, kept)
        offscreen.free()

    for number, count in ((2, 1), (2, 1), (3, 2)):
        redraw(number)
        assert len(made) == count
    steps.shown.append(4)  # an axis that was clicked is one more of those that are played
    redraw(3)
    assert len(made) == 3


def test_a_picture_of_a_step_has_both_objects_and_the_step_above_the_sentence(graphics, empty_scene, tmp_path):  # noqa: F811
    drawn = study.picture.StudyPicture(points=(study.picture.Points("a", np.array([[3.0, 0.0, 0.0]])),))
    steps, path = Steps(drawn), tmp_path / "step.png"
    for x in (0.0, 6.0):
        cube("Box", (x, 0.0, 0.0), 1.0).scale.z = 3.0

    draw.picture.render_steps(bpy.context, steps, 2, str(path), *SIZE)
    image = bpy.data.images.load(str(path))
    pixels = np.round(255.0 * np.array(image.pixels).reshape(SIZE[1], SIZE[0], 4)[..., :3])
    bpy.data.images.remove(image)
    room = draw.label_sheet.LabelRoom((0.0, 0.0, *map(float, SIZE)))
    left, bottom, right, top = map(int, draw.overlay.plate_of(steps, 2, draw.overlay.style_of(bpy.context), room).box)
    assert (pixels[bottom + 4 : top - 4, left + 4 : right - 4].max(axis=2) > 230).sum() > 300, "letters"
    above = pixels[top + 1 :]
    assert (np.abs(above - 255.0 * np.array(look_of("a"))).max(axis=2) < 6).sum() > 20
    rows, columns = np.nonzero(np.abs(above - above[-1, -1]).max(axis=2) > 20)
    assert rows.max() < len(above) - 5, "none of the objects is cut off"
    assert 5 < columns.min() < 0.3 * SIZE[0]
    assert 0.7 * SIZE[0] < columns.max() < SIZE[0] - 5


def test_progress_of_work_is_shown_above_the_plate(empty_scene, monkeypatch):
    drawn, viewport, steps = [], lens.views.viewport, Steps()
    monkeypatch.setattr(
        viewport.background, "shown_flows", lambda scene: [SimpleNamespace(title="", status="Works", progress=0.5)]
    )
    monkeypatch.setattr(viewport.overlay, "draw_progress", lambda *given: drawn.append(given[4]))
    with bpy.context.temp_override(**view_3d()):
        room = lens.views.view_room.room_of(bpy.context)
        plate = draw.overlay.plate_of(steps, 2, draw.overlay.style_of(bpy.context), room).box
        for shown in (None, (steps, 2)):
            monkeypatch.setattr(viewport.follow_steps, "current", lambda scene, shown=shown: shown)
            viewport._draw_progress(bpy.context)
    assert room.is_main
    assert drawn == [room.free, (room.free[0], plate[3], *room.free[2:])]


def test_names_of_the_objects_keep_clear_of_the_lines_of_a_step():
    p = pair(box((-1.0, 0.0, 0.0), (1.5, 1.5, 1.5)), box((1.0, 0.0, 0.0), (1.5, 1.5, 1.5)))
    turned = np.linspace(0.0, np.pi, 12, endpoint=False)
    around = np.stack([np.cos(turned), np.sin(turned), 0.0 * turned], axis=1)
    room = draw.label_sheet.LabelRoom((0.0, 0.0, 640.0, 400.0))

    def names(room: Any) -> list[Any]:
        style = draw.overlay.beside_steps(styled(), is_contact=False)
        return draw.overlay_labels.annotate(p, style, *camera(), SIZE, draw.overlay.measure, room).boxes

    def is_on(boxes: list[Any], line: Any) -> bool:
        starts, stops = (np.array([end]) for end in line)
        return bool(draw.label_sheet._crossed(np.array(boxes), starts, stops).any())

    would_be = []
    for middle in around:
        along = 3.0 * np.array([middle[1], -middle[0], 0.0])
        steps = Steps(
            study.picture.StudyPicture(
                lines=(study.picture.Lines("axis", np.array([[middle - along, middle + along]])),)
            )
        )
        plate, (view, projection) = draw.overlay.plate_of(steps, 2, styled(), room), camera()
        beside = draw.step_sheet.room_beside(steps.picture(2), plate, projection @ view, SIZE, room)
        (line,) = beside.lines
        found = names(beside)
        assert len(found) == 2
        assert not is_on(found, line)
        assert not [name for name in found if overlap(name, plate.box)]
        would_be.append(is_on(names(room), line))
    assert any(would_be)
