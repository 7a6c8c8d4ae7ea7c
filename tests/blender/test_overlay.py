# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: what it draws, that it is seen, and that it looks as it did.

The pictures in `tests/data/images` are compared with what is drawn now. To make them anew after a wanted change, set
CONTACT_LENS_WRITE_PICTURES=1, run this file and look at every one of them. A picture that does not match is written
beside the reference's name in `build/pictures`.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import gpu
import numpy as np
import pytest
from gpu_extras.batch import batch_for_shader

from .scenes import lens, mesh_object

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "tests" / "data" / "images"
SIZE = (480, 320)
DARK, LIGHT = (0.19, 0.19, 0.19), (0.85, 0.85, 0.85)
draw, layers = lens.draw, lens.layers


def look() -> Any:
    """Colours and widths as they are at first."""
    return lens.data.preferences.DEFAULT_LOOK


def styled(**changes: object) -> Any:
    """The style as it is at first, but for these changes."""
    return layers.overlay_geometry.Style(look(), **changes)


def only(**shown: object) -> Any:
    """A style that shows nothing but this."""
    toggles = [field.name for field in fields(styled()) if field.name.startswith("show_")]
    return styled(**dict.fromkeys(toggles, False) | shown)


@dataclass(frozen=True)
class Proxy:
    """What stands for an object, as the overlay needs it."""

    kind: str = "COMPOUND"
    concavity: object = None
    fit: object = None

    def is_the_mesh(self, resolution: float) -> bool:
        return lens.pair.inspection.CollisionProxy.is_the_mesh(self, resolution)


ITSELF = Proxy("MESH")


@dataclass(frozen=True, eq=False)
class Pair:
    """What the overlay reads of an inspection."""

    contact: object
    shape_a: Any
    shape_b: Any
    name_a: str = "Left"
    name_b: str = "Right"
    units: Any = None
    proxy_a: object = Proxy()
    proxy_b: object = Proxy()
    resolution: float = 1e-6
    is_depth_pending: bool = False
    flat: object = None


def pair(a: object, b: object) -> Pair:
    """Two shapes, or the hulls of two sets of points, and their contact."""
    a, b = (lens.core.ConvexHull(each) if isinstance(each, np.ndarray) else each for each in (a, b))
    return Pair(lens.core.contact(a, b), a, b, units=lens.data.units.UnitFormat())


def box(center=(0.0, 0.0, 0.0), size=(2.0, 2.0, 2.0), turn=(0.0, 0.0, 0.0)) -> np.ndarray:
    """The eight corners of a box turned by Euler angles about x, y, z, in degrees."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    for axis, angle in enumerate(np.radians(turn)):
        i, j = [k for k in range(3) if k != axis]
        rotation = np.eye(3)
        rotation[i, i] = rotation[j, j] = np.cos(angle)
        rotation[i, j], rotation[j, i] = -np.sin(angle), np.sin(angle)
        corners = corners @ rotation.T
    return corners + center


PAIRS = {
    "corner_in_face": lambda: pair(box(), box((1.6, -0.4, 0.7), (1.6, 1.6, 1.6), (32, 28, 40))),
    "face_on_face": lambda: pair(box(size=(3, 2, 1)), box((0.6, -0.3, 0.9), (1.5, 1.5, 1.0), (0, 0, 28))),
    "edge_on_edge": lambda: pair(box(size=(3, 1, 1), turn=(45, 0, 0)), box((0, 0, 1.3), (1, 3, 1), (0, 45, 0))),
    "parallel_edges": lambda: pair(box(size=(3, 1, 1), turn=(45, 0, 0)), box((0.8, 0, 1.3), (3, 1, 1), (45, 0, 0))),
    "gap": lambda: pair(box(), box((2.6, 0.3, 0.5), (1.4, 1.4, 1.4), (20, 40, 30))),
    "shallow": lambda: pair(box(), box((0.2, 0.1, 1.4995), (1, 1, 1), (0, 0, 20))),
    "inside": lambda: pair(box(), box(size=(1, 1, 1), center=(0.2, 0.2, 0.0))),
}


def view_of(p: Pair) -> tuple[np.ndarray, np.ndarray]:
    return draw.picture.camera(p, SIZE[0] / SIZE[1])


def notes_of(p: Pair, style: object = None, view=None, size=SIZE, **more) -> Any:
    view_matrix, projection = view or view_of(p)
    return draw.overlay_labels.annotate(
        p, style or styled(), view_matrix, projection, size, draw.overlay.measure, **more
    )


def layer_named(p: Pair, name: str, style: object = None) -> np.ndarray:
    """The glyphs of a layer, of which `start` and `end` are in the world."""
    (found,) = [
        layer.glyphs.copy() for layer in layers.overlay_geometry.layers(p, style or styled()) if layer.name == name
    ]
    for end in ("start", "end"):
        found[end] += layers.overlay_geometry.origin(p)
    return found


# --- what is drawn, as geometry ---------------------------------------------------------------------------------------


def projected(points: object, view: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The pixels at which points are seen, and which of them are ahead."""
    return draw.overlay_labels.project(np.array(points), view[1] @ view[0], SIZE)


@pytest.mark.parametrize("name", ["corner_in_face", "face_on_face", "edge_on_edge", "inside", "crossing_meshes"])
def test_the_arrow_goes_from_the_contact_center_in_true_length(name):
    p = (PAIRS | OTHERS)[name]()
    start, end = (layer_named(p, "vector")[each] for each in ("start", "end"))
    assert np.allclose(start, p.contact.center, atol=1e-6)
    assert np.allclose(end - start, p.contact.mtv, atol=1e-6)


@pytest.mark.parametrize("name", ["face_on_face", "parallel_edges", "peg_in_a_fork", "crossing_meshes"])
def test_the_contact_center_is_marked_by_a_disc_among_the_corners(name):
    p = (PAIRS | OTHERS)[name]()
    (disc,) = layer_named(p, "center").reshape(-1, 6)
    assert (disc["form"][:, 0] == layers.glyphs.DISC).all()
    assert np.allclose(disc["start"], p.contact.center, rtol=0.0, atol=1e-6)
    assert name == "crossing_meshes" or len(layer_named(p, "corners")) >= 2 * 6
    assert np.array_equal(layers.overlay_geometry.origin(p), p.contact.center)


def test_a_separated_pair_has_a_gap_line_and_neither_region_nor_arrow():
    p = PAIRS["gap"]()
    line = layer_named(p, "gap")[0]
    assert np.allclose([line["start"], line["end"]], [p.contact.point_on_a, p.contact.point_on_b], atol=1e-6)
    assert {layer.name for layer in layers.overlay_geometry.layers(p, styled())} == {"outline a", "outline b", "gap"}


def test_a_box_has_twelve_edges_and_only_the_outline_of_b_is_dashed():
    a, b = (layer_named(PAIRS["corner_in_face"](), f"outline {side}")["form"] for side in "ab")
    assert len(a) == len(b) == 12 * 6
    assert (a[:, [0, 3]] == (layers.glyphs.STROKE, 0.0)).all()
    assert (b[:, 3] > 0.0).all()


def test_witness_points_are_round_on_a_and_square_on_b():
    p = PAIRS["corner_in_face"]()
    glyphs = layer_named(p, "witness", styled(show_witness=True))
    for form, point in (layers.glyphs.DISC, p.contact.point_on_a), (layers.glyphs.SQUARE, p.contact.point_on_b):
        assert np.allclose(glyphs["start"][glyphs["form"][:, 0] == form], point, atol=1e-6)


def test_equally_good_ways_out_are_drawn_without_the_chosen_one():
    p = PAIRS["inside"]()
    assert len(p.contact.ties) > 1
    ties = layer_named(p, "ties", styled(show_ties=True))
    assert len(ties) == (len(p.contact.ties) - 1) * len(layer_named(p, "vector"))


def test_a_toggle_takes_its_own_layers_away_and_no_other():
    p, full = PAIRS["inside"](), styled(show_witness=True, show_ties=True)
    everything = {layer.name for layer in layers.overlay_geometry.layers(p, full)}
    for toggle, gone in {
        "show_hulls": {"outline a", "outline b"},
        "show_overlap": set(),  # that of shapes without measures
        "show_region": {"region", "region border"},
        "show_points": {"corners", "center"},
        "show_witness": {"witness"},
        "show_vector": {"vector"},
        "show_ties": {"ties"},
    }.items():
        left = {layer.name for layer in layers.overlay_geometry.layers(p, replace(full, **{toggle: False}))}
        assert (gone <= everything, left) == (True, everything - gone), toggle


@pytest.mark.parametrize(
    ("height", "clearance", "relation", "color"),
    [
        (1.3, 0.0, "penetrating", (0.835, 0.369, 0.0)),
        (0.0, 0.0, "b_inside_a", (0.902, 0.624, 0.0)),
        (1.5, 0.0, "touching", (0.0, 0.620, 0.580)),
        (1.6, 0.2, "within_clearance", (0.800, 0.475, 0.655)),
    ],
)
def test_the_contact_area_has_the_color_of_the_relation(height, clearance, relation, color):
    a, b = lens.core.ConvexHull(box()), lens.core.ConvexHull(box((0.1, 0.0, height), (1.0, 1.0, 1.0)))
    p = Pair(lens.core.contact(a, b, clearance=clearance), a, b)
    assert p.contact.relation == relation
    assert np.unique(layer_named(p, "region border")["color"][:, :3], axis=0) == pytest.approx(np.array([color]))
    assert lens.data.look.relation_color(relation) == (*color, 1.0)


def overlap_of(p: Pair, corners: np.ndarray, **more: object) -> Any:
    """The measures of a pair whose overlap is the hull of some points, its upper facets of A and met in its first."""
    hull = lens.core.ConvexHull(corners)
    triangles = np.array([(f[0], f[k], f[k + 1]) for f in hull.facets for k in range(1, len(f) - 1)])
    of_a = hull.vertices[triangles].mean(axis=1)[:, 2] > hull.center[2]
    rim = hull.vertices[[*hull.facets[0], hull.facets[0][0]]]
    record = sys.modules[lens.core.__name__ + ".measures.surface_record"].OverlapSurface
    surface = record(**({"points": hull.vertices, "triangles": triangles, "of_a": of_a, "curves": (rim,)} | more))
    return lens.measure.pair_measures.PairMeasures(p, surface)


def overlapping() -> tuple[Pair, Any]:
    """A box that sinks into another, which is where they overlap in a box of 1.2 by 1.2 by 0.4."""
    p = pair(box(size=(3, 2, 1)), box((0.4, 0.0, 0.7), (1.2, 1.2, 1.2)))
    return p, overlap_of(p, box((0.4, 0.0, 0.3), (1.2, 1.2, 0.4)))


def layers_with(p: Pair, measures: Any, style: Any = None) -> dict[str, Any]:
    drawn = draw.overlay._pair_layers(p, style or styled(), measures)
    return {layer.name: layer for layer in drawn}


def test_the_overlap_is_drawn_in_the_color_of_the_relation_instead_of_the_area():
    p, measures = overlapping()
    found = layers_with(p, measures)
    assert list(found)[:3] == ["overlap", "overlap edges", "overlap curves"], "below all else"
    assert not {"region", "region border", "corners"} & found.keys()
    fill, curve = found["overlap"].glyphs, found["overlap curves"].glyphs
    assert len(fill) == 3 * len(measures.surface.triangles)
    assert np.allclose(np.unique(fill["start"] + p.contact.center, axis=0), np.unique(measures.surface.points, axis=0))
    hue = np.array(look().color_vector[:3])
    shades = fill["color"][:, :3] @ hue / (hue @ hue)
    assert np.allclose(fill["color"][:, :3], shades[:, None] * hue, atol=1e-6)
    assert 0.74 < shades.min() < 0.9 < 0.94 < shades.max() < 1.01, "its faces can be told apart"
    assert (curve["color"] == np.float32(look().color_vector)).all()
    assert (fill["form"][:, 3] > 0.0).all(), "hatched"
    assert (found["overlap"].is_through, found["overlap"].is_culled) == (True, True)
    assert found.keys() - layers_with(p, measures, styled(show_overlap=False)).keys() == set(list(found)[:3])
    assert "region" in layers_with(p, measures, styled(show_overlap=False))
    inside = PAIRS["inside"]()
    amber = layers_with(inside, overlap_of(inside, box((0.2, 0.2, 0.0), (1.0, 1.0, 1.0))))["overlap curves"]
    assert (amber.glyphs["color"] == np.float32(look().color_inside)).all()


def test_the_arrow_starts_in_the_overlap_where_it_is_shown():
    p, measures = overlapping()
    aside = overlap_of(p, box((-1.0, 0.0, 0.3), (0.4, 0.4, 0.4)))
    for given, start in (measures, p.contact.center), (aside, (-0.8, 0.0, p.contact.center[2])):
        vector = layers_with(p, given)["vector"].glyphs
        assert np.allclose(vector["start"] + p.contact.center, start, atol=1e-6)
        assert np.allclose(vector["end"] - vector["start"], p.contact.mtv, atol=1e-6)
    assert "center" in layers_with(p, measures)
    assert "center" not in layers_with(p, aside), "it would be a dot in the air"
    off = layers_with(p, aside, styled(show_overlap=False))
    assert np.allclose(off["vector"].glyphs["start"], 0.0)
    assert {"center", "corners"} <= off.keys()


def test_far_from_the_world_origin_glyphs_lose_nothing_to_single_precision():
    extents = []
    for place in np.zeros(3), np.array([1e6, -2e6, 5e5]):
        p = pair(box() + place, box((1.6, -0.4, 0.7), (1.6,) * 3, (32, 28, 40)) + place)
        (glyphs,) = [layer.glyphs for layer in layers.overlay_geometry.layers(p, styled()) if layer.name == "outline b"]
        extents.append(np.ptp(glyphs["start"], axis=0))
    assert np.allclose(*extents, atol=1e-6)


# --- labels -----------------------------------------------------------------------------------------------------------


def test_the_label_tells_the_length_in_the_scene_s_units():
    p = replace(PAIRS["gap"](), units=lens.data.units.UnitFormat("METRIC", 1.0, "CENTIMETERS"))
    assert [text.text for text in notes_of(p).texts] == ["gap 42.7 cm", "A  Left", "B  Right"]
    deep = replace(PAIRS["face_on_face"](), units=lens.data.units.UnitFormat("METRIC", 1.0, "MILLIMETERS"))
    assert notes_of(deep).texts[0].text == "100 mm"


def test_long_names_lose_their_middle():
    p = replace(PAIRS["gap"](), name_a="Beam.Y.Level.07.North.07", name_b="N" * draw.overlay_names.MOST_LETTERS)
    _, a, b = (text.text for text in notes_of(p).texts)
    assert a == "A  Beam.Y.Lev\N{HORIZONTAL ELLIPSIS}.North.07"
    assert b == f"B  {p.name_b}"


def test_a_stale_result_says_so():
    p = PAIRS["corner_in_face"]()
    notes = notes_of(p, showing=layers.overlay_geometry.Showing(is_stale=True))
    assert notes.texts[0].text == f"{draw.overlay_labels.vector_label(p)} (out of date)"


def name_dots(notes: Any, color: tuple[float, ...]) -> np.ndarray:
    """The pixels (n, 2) that the name in a color points at."""
    marks = notes.marks[notes.marks["form"][:, 0] == layers.glyphs.DISC]
    return np.unique(marks["start"][(marks["color"] == np.float32(color)).all(axis=1), :2], axis=0)


def test_a_result_on_its_way_is_three_dots_and_the_names_are_where_the_objects_are():
    p, step = PAIRS["corner_in_face"](), np.eye(4)
    step[:3, 3] = (-1.2, 0.5, 0.4)
    then, now = (
        notes_of(
            p, showing=layers.overlay_geometry.Showing(is_pending=pending, moved=(np.eye(4), step) if pending else None)
        )
        for pending in (False, True)
    )
    assert (then.texts[0].text, now.texts[0].text) == (draw.overlay_labels.vector_label(p), "...")
    view, projection, size = (*view_of(p), SIZE)
    middle = now.texts[0].x, now.texts[0].y
    moved = draw.overlay_labels.project(layers.overlay_geometry.origin(p) + 0.5 * step[:3, 3], projection @ view, size)[
        0
    ]
    assert np.linalg.norm(moved - middle) < 80.0, "between them"
    assert not (now.marks["color"] == np.float32(look().color_vector)).all(axis=1).any()
    eye = np.linalg.inv(view_of(p)[0])[:3, 3]
    (pixel,) = name_dots(now, look().color_b)
    assert entered(lens.core.ConvexHull(p.shape_b.vertices + step[:3, 3]), eye, sight_line(pixel, view_of(p))) < np.inf


def views_around(p: Pair) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Twenty views from all around, some so near that the contact is at the edge of the picture or outside."""
    view_matrix, projection = view_of(p)
    rng = np.random.default_rng(7)
    for _ in range(20):
        turned = view_matrix @ np.array(draw.picture.Matrix.Rotation(rng.uniform(0.0, 2.0 * np.pi), 4, "Z"))
        turned[:3, 3] += rng.uniform(-1.0, 1.0, 3)
        yield turned, projection


def overlap(a: Any, b: Any) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_labels_are_never_cut_off_nor_on_anything_else_nor_on_the_arrow(name):
    p = PAIRS[name]()
    # As if a toolbar, a sidebar and a header were there, Blender's text and gizmo, and the panel of an operator.
    taken = ((30.0, 230.0, 190.0, 290.0), (310.0, 150.0, 400.0, 290.0), (30.0, 0.0, 130.0, 40.0))
    room = draw.overlay_labels.LabelRoom((30.0, 0.0, 400.0, 290.0), taken)
    labels_seen = 0
    for view in views_around(p):
        notes = notes_of(p, view=view, room=room)
        for i, area in enumerate(notes.boxes):
            left, bottom, right, top = area
            assert room.free[0] <= left < right <= room.free[2]
            assert room.free[1] <= bottom < top <= room.free[3]
            assert not any(overlap(area, other) for other in (*notes.boxes[:i], *taken))
        ends, _ = projected(layers.overlay_geometry.vector_ends(p.contact), view)
        along = ends[0] + np.linspace(0.0, 1.0, 50)[:, None] * (ends[1] - ends[0])
        labelled = [
            b for b, t in zip(notes.boxes, notes.texts, strict=True) if t.text == draw.overlay_labels.vector_label(p)
        ]
        labels_seen += len(labelled)
        for area in labelled:
            assert not ((along > area[:2]).all(axis=1) & (along < area[2:]).all(axis=1)).any()
    assert labels_seen > 5


def test_a_label_far_from_its_arrow_has_a_line_to_it():
    p, style = PAIRS["inside"](), only(show_vector=True, show_labels=True)
    ends, _ = projected(layers.overlay_geometry.vector_ends(p.contact), view_of(p))
    x, y = ends.mean(axis=0)
    for half, count in (0.0, 0), (90.0, 1):
        room = draw.overlay_labels.LabelRoom((0.0, 0.0, 480.0, 320.0), ((x - half, y - half, x + half, y + half),))
        is_line = (notes_of(p, style, room=room).marks["color"] == np.float32(look().color_vector)).all(axis=1)
        assert is_line.sum() == count * len(layers.glyphs.QUAD)


def test_an_object_that_is_out_of_view_is_not_named():
    p = pair(box(), box((2.4, 0.0, 0.0), (0.6, 0.6, 0.6)))
    pixels, _ = projected(p.shape_b.vertices, view_of(p))
    beside = draw.overlay_labels.LabelRoom((0.0, 0.0, float(pixels[:, 0].min()) - 1.0, 320.0))
    assert "B  Right" in [text.text for text in notes_of(p).texts]
    assert [text.text for text in notes_of(p, room=beside).texts if "gap" not in text.text] == ["A  Left"]


def test_a_view_without_room_has_no_labels():
    p, full = PAIRS["gap"](), draw.overlay_labels.LabelRoom((0.0, 0.0, 480.0, 320.0), ((0.0, 0.0, 480.0, 320.0),))
    for room in (
        draw.overlay_labels.LabelRoom((200.0, 100.0, 230.0, 300.0)),
        draw.overlay_labels.LabelRoom((100.0, 100.0, 400.0, 110.0)),
        full,
    ):
        assert not notes_of(p, room=room).texts


@pytest.mark.parametrize("seed", range(20))
def test_what_blender_draws_into_a_view_leaves_a_rectangle_and_floating_boxes(seed):
    """Regions at the sides of an area, in the order of Blender, seen from a window region that they cover or not."""
    rng = np.random.default_rng(seed)
    width, height = rng.integers(200, 2000, 2)
    view = (0.0, 0.0, float(width), float(height))
    left, right = rng.integers(0, width // 2, 2)
    bottom, top = rng.integers(0, height // 2, 2)
    outside = rng.integers(0, 2) * 5000.0  # quad view: the regions may be beside this quarter
    regions = [
        ("LEFT", (0.0 - outside, 0.0, left - outside, height)),
        ("RIGHT", (width - right, 0.0, width, height)),
        ("TOP", (0.0, height - top, width, height)),
        ("BOTTOM", (0.0, 0.0, width, bottom)),
        ("FLOAT", (10.0, 10.0, 60.0, 40.0)),
    ]
    free, floating = lens.views.view_room.cut(view, regions)
    assert free == (0.0 if outside else left, bottom, width - right, height - top)
    assert floating == [(10.0, 10.0, 60.0, 40.0)]
    for area in (area for alignment, area in regions if alignment != "FLOAT"):
        assert not overlap(free, area)
    assert lens.views.view_room.cut(view, [])[0] == view
    assert lens.views.view_room.cut(view, [("RIGHT", view)])[0] == view, "a region without room is not drawn"
    crowded = lens.views.view_room.cut(
        view, [("LEFT", (0.0, 0.0, 0.6 * width, height)), ("RIGHT", (0.5 * width, 0.0, width, height))]
    )
    assert crowded[0][0] >= crowded[0][2], "nothing is left"


def test_an_arrow_too_short_to_see_is_continued_in_a_lighter_color():
    p, view = PAIRS["shallow"](), view_of(PAIRS["shallow"]())
    ends, _ = projected([p.contact.center, p.contact.center + p.contact.mtv], view)
    assert np.linalg.norm(ends[0] - ends[1]) < 1.0
    notes = notes_of(p, view=view)
    (head,) = np.unique(notes.marks[notes.marks["form"][:, 0] == layers.glyphs.HEAD][["start", "end", "color"]])
    further, _ = projected([p.contact.center + p.contact.normal], view)
    length, direction = np.linalg.norm((head["end"] - head["start"])[:2]), (further - ends[0])[0]
    assert head["start"][:2] == pytest.approx(ends[0], abs=0.1)
    assert 0.7 * draw.overlay_labels.SIZES.least_arrow < length < 1.3 * draw.overlay_labels.SIZES.least_arrow
    assert (head["end"] - head["start"])[:2] @ direction == pytest.approx(length * np.linalg.norm(direction), rel=1e-3)
    assert (head["color"][:3] > look().color_vector[:3]).all()
    assert notes.texts[0].text == "0.0005 m"
    assert layers.glyphs.HEAD not in notes_of(PAIRS["inside"]()).marks["form"][:, 0], "that one is long enough"


def test_an_arrow_seen_from_its_end_gets_a_ring():
    p, (_, projection) = PAIRS["shallow"](), view_of(PAIRS["shallow"]())
    above = np.eye(4)
    above[:3, 3] = -p.contact.center - (0.0, 0.0, 5.0)  # the arrow goes up
    assert layers.glyphs.RING in notes_of(p, view=(above, projection)).marks["form"][:, 0]
    assert layers.glyphs.RING not in notes_of(p).marks["form"][:, 0]


TOUCHES = {
    "point": lambda: pair(box(size=(2.0, 2.0, 2.0)), lens.core.Sphere((0.1, 0.0, 1.5), 0.5)),
    "segment": lambda: pair(box(size=(3.0, 3.0, 1.0)), box((0.0, 0.0, 0.5 + 0.5**0.5), (2.6, 1.0, 1.0), (45, 0, 0))),
    "face": lambda: pair(box(size=(3.0, 3.0, 1.0)), box((0.4, 0.0, 1.0), (1.0, 1.0, 1.0), (0, 0, 20))),
}


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("name", sorted(TOUCHES))
def test_a_touch_has_a_mark_and_a_leader_from_its_label(name, scale):
    """The mark is what is drawn of the contact, or a ring around it where that is small on screen."""
    p, sizes = TOUCHES[name](), draw.label_sheet.SIZES
    assert p.contact.relation == "touching"
    near, projection = view_of(p)
    far = near.copy()
    far[2, 3] -= 100.0
    for view_matrix, is_small in (near, name == "point"), (far, True):
        notes = notes_of(p, styled(scale=scale), view=(view_matrix, projection))
        marks, color = notes.marks, np.float32((*look().color_region[:3], 1.0))
        (middle,), _ = projected([p.contact.center], (view_matrix, projection))
        rings = marks[marks["form"][:, 0] == layers.glyphs.RING]
        assert len(rings) == len(layers.glyphs.QUAD) * is_small
        if is_small:
            assert rings["start"][0, :2] == pytest.approx(middle, abs=0.1)
            assert rings["form"][0, 1] == sizes.ring_radius * scale
        is_leader = (marks["form"][:, 0] == layers.glyphs.STROKE) & (marks["color"] == color).all(axis=1)
        (leader,) = np.unique(marks[is_leader][["start", "end"]])
        away = np.linalg.norm(leader["start"][:2] - middle)
        assert away == pytest.approx(scale * (sizes.ring_radius if is_small else 0.4 * sizes.label_distance), abs=0.1)
        label = next(area for area, text in zip(notes.boxes, notes.texts, strict=True) if text.text == "touching")
        assert leader["end"][:2] == pytest.approx(np.clip(middle, label[:2], label[2:]), abs=0.1)
    assert layers.glyphs.RING not in notes_of(PAIRS["face_on_face"]()).marks["form"][:, 0], "that one penetrates"


def view_3d() -> dict[str, object]:
    """What the context of a 3D view has."""
    area = next(area for area in bpy.context.screen.areas if area.type == "VIEW_3D")
    window = next(region for region in area.regions if region.type == "WINDOW")
    space = area.spaces.active
    return {"area": area, "region": window, "region_data": space.region_3d, "space_data": space}


def test_the_room_of_a_view_leaves_out_what_blender_writes_into_it():
    context = view_3d()
    space, view = context["space_data"], (0.0, 0.0, float(context["region"].width), float(context["region"].height))
    shown = {(space.overlay, "show_text"): 0, (space.overlay, "show_stats"): 0, (space, "show_gizmo"): 0}
    before = {(owner, name): getattr(owner, name) for owner, name in shown}

    def room(*on: str) -> Any:
        for owner, name in shown:
            setattr(owner, name, name in on)
        with bpy.context.temp_override(**context):
            return lens.views.view_room.room_of(bpy.context)

    try:
        assert room().taken == ()
        (text,), (stats,), (both,) = (
            room(*on).taken for on in (["show_text"], ["show_stats"], ["show_text", "show_stats"])
        )
        (gizmo,) = room("show_gizmo").taken
        everything = room(*(name for _, name in shown))
        space.region_3d.lock_rotation = True  # as in a quarter of a quad view
        (quarter,) = room("show_gizmo").taken
    finally:
        space.region_3d.lock_rotation = False
        for (owner, name), value in before.items():
            setattr(owner, name, value)
    free = everything.free
    assert everything.taken == (both, gizmo)
    assert all(view[k] <= free[k] for k in (0, 1))
    assert all(free[k] <= view[k] for k in (2, 3))
    assert text[0] == stats[0] == free[0]
    assert text[3] == stats[3] == both[3] == gizmo[3] == free[3]
    assert both[1] < min(text[1], stats[1])
    assert both[2] == max(text[2], stats[2])
    assert gizmo[2:] == quarter[2:] == (free[2], free[3])
    assert quarter[1] > gizmo[1], "it has fewer buttons"


@pytest.mark.usefixtures("empty_scene")
def test_the_viewport_hands_the_overlay_the_room_of_its_view_for_labels(monkeypatch):
    drawn, follow, stage = {}, lens.live.follow_pair, draw.overlay.DrawingStage
    monkeypatch.setattr(lens.views.viewport.session, "current", lambda context: "the result")
    monkeypatch.setattr(follow, "status", lambda context: follow.PairStatus("Up to date"))

    def record(*given: object) -> None:
        arguments = of_draw.bind(*given).arguments
        drawn[arguments["part"]] = tuple(arguments[name] for name in ("inspection", "size", "room"))

    of_draw = signature(draw.overlay.draw)
    monkeypatch.setattr(lens.views.viewport.overlay, "draw", record)
    bpy.context.scene.contact_lens_check.ghost = False
    with bpy.context.temp_override(**view_3d()):
        for part in stage.WORLD, stage.LABELS:
            lens.views.viewport._draw_current(bpy.context, part)
        room = lens.views.view_room.room_of(bpy.context)
        size = bpy.context.region.width, bpy.context.region.height
    assert drawn == {stage.WORLD: ("the result", size, None), stage.LABELS: ("the result", size, room)}


def test_a_name_is_not_written_on_the_other_object():
    """A bolt in a nut from above, its head out of sight: only the far end of its shaft shows below the nut."""
    p = pair(box(size=(2.0, 2.0, 1.0)), box((0.0, 0.0, 1.0), (1.2, 1.2, 4.6)))
    view = view_of(p)
    nut, _ = projected(p.shape_a.vertices, view)
    notes = notes_of(p, view=view, room=draw.overlay_labels.LabelRoom((0.0, 0.0, 480.0, float(nut[:, 1].max()))))
    (name,) = [area for area, text in zip(notes.boxes, notes.texts, strict=True) if text.text == "B  Right"]
    eye = np.linalg.inv(view[0])[:3, 3]
    inner = np.array(name) + (2.0, 2.0, -2.0, -2.0)
    for pixel in (np.array((x, y)) for x in np.linspace(*inner[::2], 9) for y in np.linspace(*inner[1::2], 5)):
        assert np.isinf(entered(p.shape_a, eye, sight_line(pixel, view)))


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_names_point_at_their_own_object_where_it_is_seen(name):
    p = PAIRS[name]()
    for view in views_around(p):
        eye = np.linalg.inv(view[0])[:3, 3]
        notes = notes_of(p, view=view)
        for color, own, other in (look().color_a, p.shape_a, p.shape_b), (look().color_b, p.shape_b, p.shape_a):
            for pixel in name_dots(notes, color):
                ray = sight_line(pixel, view)
                assert entered(own, eye, ray) < np.inf
                assert entered(own, eye, ray) < entered(other, eye, ray) or name == "inside"


def test_leaders_of_names_do_not_cross_the_arrow():
    p, crossed = PAIRS["inside"](), []
    for view in views_around(p):
        marks = notes_of(p, view=view).marks
        (tail, tip), _ = projected(layers.overlay_geometry.vector_ends(p.contact), view)
        for color in look().color_a, look().color_b:
            is_leader = (marks["form"][:, 0] == layers.glyphs.STROKE) & (marks["color"] == np.float32(color)).all(
                axis=1
            )
            for leader in np.unique(marks[is_leader][["start", "end"]]):
                start, end = leader["start"][:2].astype(float), leader["end"][:2].astype(float)
                along = np.linalg.solve(np.stack([tip - tail, start - end], axis=1), start - tail)
                crossed.append(bool(((along > 0.0) & (along < 1.0)).all()))
    assert len(crossed) > 20
    assert not any(crossed)


def sight_line(pixel: np.ndarray, view: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The ray from the viewer through a pixel."""
    inverse = np.linalg.inv(view[1] @ view[0])
    clip = inverse @ (2.0 * pixel[0] / SIZE[0] - 1.0, 2.0 * pixel[1] / SIZE[1] - 1.0, 0.0, 1.0)
    return clip[:3] / clip[3] - np.linalg.inv(view[0])[:3, 3]


def entered(hull: Any, eye: np.ndarray, ray: np.ndarray) -> float:
    """How far along a ray it enters a hull, in lengths of the ray; infinite where it does not."""
    heights = np.array(
        [hull.vertices[facet[0]] @ normal for facet, normal in zip(hull.facets, hull.normals, strict=True)]
    )
    steep, gaps = hull.normals @ ray, heights - hull.normals @ eye
    enter = (gaps[steep < 0.0] / steep[steep < 0.0]).max()
    return float(enter) if enter < (gaps[steep > 0.0] / steep[steep > 0.0]).min() + 0.02 else np.inf


def test_labels_stay_beside_the_contact_while_the_view_turns_slowly():
    p, kept = PAIRS["corner_in_face"](), draw.label_sheet.Kept()
    view_matrix, projection = view_of(p)
    before, jumps = None, []
    for angle in np.radians(np.arange(0.0, 60.0, 1.5)):
        view = (view_matrix @ np.array(draw.picture.Matrix.Rotation(angle, 4, "Z")), projection)
        boxes = np.array(notes_of(p, view=view, kept=kept).boxes)
        middle, _ = projected([p.contact.center], view)
        places = boxes[:, :2] - middle
        if before is not None and len(before) == len(places):
            jumps += np.linalg.norm(places - before, axis=1).tolist()
        before = places
    assert len(jumps) > 100
    assert np.sum(np.array(jumps) > 20.0) <= 3, "pixels"


# --- drawn ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graphics() -> None:
    """A GPU; without a driver these tests fail and say which packages bring one."""
    draw.picture.start_gpu()


def draw_solid(hull: Any, matrix: np.ndarray) -> None:
    """The hull as grey faces that write depth: something to be in front of and behind."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        gpu.matrix.load_matrix(draw.picture.Matrix.Identity(4))
        gpu.matrix.load_projection_matrix(draw.picture.Matrix(matrix.tolist()))
        for facet, normal in zip(hull.facets, hull.normals, strict=True):
            corners = hull.vertices[facet].astype(np.float32)
            fan = np.array([(0, i, i + 1) for i in range(1, len(corners) - 1)], dtype=np.int32)
            grey = 0.5 + 0.15 * float(normal @ (0.3, -0.5, 0.8))
            shader.bind()
            shader.uniform_float("color", (grey, grey, grey, 1.0))
            batch_for_shader(shader, "TRIS", {"pos": corners}, indices=fan).draw(shader)
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("NONE")


def picture(
    p: Pair, style: object = None, background=DARK, solid: bool = True, part: object = None, view=None, **more
) -> np.ndarray:
    """The overlay over the two shapes as solids, or over nothing: (height, width, 3)."""
    view_matrix, projection = view or view_of(p)
    offscreen = gpu.types.GPUOffScreen(*SIZE)
    try:
        with offscreen.bind():
            gpu.state.active_framebuffer_get().clear(color=(*background, 1.0), depth=1.0)
            for shape in (p.shape_a, p.shape_b) if solid else ():
                for piece in getattr(shape, "pieces", (shape,)):
                    draw_solid(draw.picture.stand_in(piece), projection @ view_matrix)
            draw.overlay.draw(
                p, style or styled(), view_matrix, projection, SIZE, part or draw.overlay.DrawingStage.ALL, **more
            )
            return draw.picture.read_pixels(*SIZE)
    finally:
        offscreen.free()


def lit(pixels: np.ndarray, color: tuple[float, ...], tolerance: int = 10) -> int:
    """How many pixels have the colour."""
    return int(is_lit(pixels, color, tolerance).sum())


def is_lit(pixels: np.ndarray, color: tuple[float, ...], tolerance: int) -> np.ndarray:
    return np.abs(pixels - np.round(255.0 * np.array(color[:3]))).max(axis=2) <= tolerance


def changed_by(pixels: np.ndarray, before: np.ndarray, tolerance: int) -> np.ndarray:
    """Which pixels differ by more than this in a channel."""
    return np.abs(pixels.astype(int) - before).max(axis=2) > tolerance


def read_png(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.array(image.pixels).reshape(height, width, 4)[::-1, :, :3]
    bpy.data.images.remove(image)
    return np.round(255.0 * pixels).astype(np.uint8)


def assert_looks_like(name: str, pixels: np.ndarray, masked=()) -> None:
    """Compare with the stored picture: at most 3 of 1000 pixels may differ by more than 16 of 255 in a channel."""
    path = PICTURES / f"{name}.png"
    if os.environ.get("CONTACT_LENS_WRITE_PICTURES"):
        draw.picture.write_png(str(path), pixels)
    reference = read_png(path)
    assert reference.shape == pixels.shape
    different = changed_by(reference, pixels, 16)
    for left, bottom, right, top in masked:  # pictures count from the top
        rows = slice(max(0, int(pixels.shape[0] - top) - 2), int(pixels.shape[0] - bottom) + 3)
        different[rows, max(0, int(left) - 2) : int(right) + 3] = False
    if different.mean() > 0.003:
        actual = ROOT / "build" / "pictures" / f"{name}.png"
        draw.picture.write_png(str(actual), pixels)
        pytest.fail(f"{different.sum()} pixels of {name} differ from the stored picture; see {actual}")


def found_of(a: object, b: object) -> Pair:
    return Pair(
        lens.pair.pair_contact.find(a, b, (None, None), "auto", 0.0, 1e-5), a, b, units=lens.data.units.UnitFormat()
    )


def peg_in_a_fork() -> Pair:
    bars = [box(size=(3, 1, 1)), box((1.0, 0.0, 1.5), (1, 1, 2)), box((-1.0, 0.0, 1.5), (1, 1, 2))]
    fork = lens.core.Compound([lens.core.ConvexHull(bar) for bar in bars])
    return found_of(fork, lens.core.ConvexHull(box((0.15, 0.1, 1.2), (0.9, 2.0, 1.6), (0, 0, 12))))


OTHERS = {
    "capsule_and_cylinder": lambda: pair(
        lens.core.Capsule((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), 0.7),
        lens.core.Cylinder((0.5, -0.3, 0.4), (3.0, 0.4, 0.8), 0.6),
    ),
    "cone_and_sphere": lambda: pair(
        lens.core.Cone((0, 0, -1), (0, 0, 1.5), 1.0), lens.core.Sphere((1.1, 0.2, 0.2), 0.7)
    ),
    "peg_in_a_fork": peg_in_a_fork,
    "crossing_meshes": lambda: found_of(mesh_of(box()), mesh_of(box((0.9, 0.3, 0.6), (1.5, 1.2, 1.2), (30, 10, 20)))),
}


def mesh_of(corners: np.ndarray) -> object:
    hull = lens.core.ConvexHull(corners)
    fans = [(f[0], f[k], f[k + 1]) for f in hull.facets for k in range(1, len(f) - 1)]
    return lens.core.Mesh(hull.vertices, np.array(fans))


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_other_shapes_look_as_stored(graphics, name):
    # Without labels: where these are put depends on the widths of letters, which differ between versions of Blender.
    assert_looks_like(f"{name}_dark", picture(OTHERS[name](), styled(show_labels=False)))


@pytest.fixture
def even_letters(monkeypatch) -> None:
    """All letters count as equally wide: they differ between versions of Blender, and with them where labels are."""
    monkeypatch.setattr(draw.overlay, "measure", lambda text, size: (0.55 * size * len(text), size))


@pytest.mark.parametrize("background", ["dark", "light"])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_the_overlay_looks_as_stored(graphics, name, background):
    # Without labels: where they are put depends on rounding, and on the widths of letters, which differ with Blender.
    ground = DARK if background == "dark" else LIGHT
    assert_looks_like(f"{name}_{background}", picture(PAIRS[name](), styled(show_labels=False), ground))


@pytest.mark.parametrize(
    ("name", "toggle", "color", "least"),
    [
        ("face_on_face", "show_hulls", "color_a", 400),
        ("face_on_face", "show_hulls", "color_b", 250),
        ("face_on_face", "show_region", "color_vector", 250),
        ("face_on_face", "show_points", "color_point", 60),
        ("face_on_face", "show_witness", "color_a", 20),
        ("face_on_face", "show_witness", "color_b", 20),
        ("corner_in_face", "show_vector", "color_vector", 50),
        ("gap", "show_vector", "color_gap", 50),
    ],
)
def test_every_element_lights_pixels_of_its_colour_and_none_when_it_is_off(graphics, name, toggle, color, least):
    p, black = PAIRS[name](), (0.0, 0.0, 0.0)
    pixels = picture(p, only(**{toggle: True}), background=black, solid=False)
    assert lit(pixels, getattr(look(), color)) >= least
    assert name != "gap" or lit(pixels, look().color_vector) == 0
    assert not picture(p, only(), background=black, solid=False).any()


def test_the_arrow_is_as_long_as_the_projected_vector(graphics):
    p = PAIRS["inside"]()
    pixels = picture(p, only(show_vector=True), background=(0.0, 0.0, 0.0), solid=False)
    (start, end), _ = projected([p.contact.center, p.contact.center + p.contact.mtv], view_of(p))
    rows, columns = np.nonzero(is_lit(pixels, look().color_vector, 59))
    drawn = np.stack([columns + 0.5, SIZE[1] - rows - 0.5], axis=1)
    length = np.linalg.norm(end - start)
    along = (drawn - start) @ (end - start) / length
    # The last three pixels of the tip are thinner than a pixel and blend with what is behind.
    assert along.max() == pytest.approx(length - 1.5, abs=1.5)
    assert along.min() == pytest.approx(-0.5 * layers.overlay_geometry.SIZES.vector * look().line_width, abs=1.5)


def test_a_region_inside_both_shapes_is_seen(graphics):
    """The contact region of two solids is always inside them: drawn only in front it would never be seen."""
    p = PAIRS["face_on_face"]()
    with_region, without = picture(p, only(show_region=True)), picture(p, only())
    changed = changed_by(with_region, without, 20)
    assert changed.sum() > 1500
    gain = (with_region.astype(int) - without)[changed]
    assert (gain[:, 0] > gain[:, 1]).mean() > 0.9, "it is vermillion, as the pair penetrates"


@pytest.mark.parametrize("background", ["dark", "light"])
def test_an_overlap_is_seen_through_everything_from_all_sides_and_without_color(graphics, background):
    p, measures = overlapping()
    ground, style = DARK if background == "dark" else LIGHT, only(show_overlap=True)
    for toward in (0.5, -0.7, 0.5), (-0.6, 0.7, 0.4), (0.4, -0.5, -0.8):
        view = draw.picture.camera(p, SIZE[0] / SIZE[1], np.array(toward) / np.linalg.norm(toward))
        pixels, without = picture(p, style, ground, view=view, measures=measures), picture(p, style, ground, view=view)
        corners, _ = projected(measures.surface.points, view)
        inner = lens.core.ConvexHull(corners.mean(axis=0) + 0.85 * (corners - corners.mean(axis=0)))
        rows, columns = np.mgrid[0 : SIZE[1], 0 : SIZE[0]]
        seen = inner.contains(np.stack([columns.ravel() + 0.5, SIZE[1] - rows.ravel() - 0.5], axis=1))
        body, before = (each.reshape(-1, 3)[seen].astype(int) for each in (pixels, without))
        assert (body[:, 0] - body[:, 2] > 50).mean() > 0.97, "it is vermillion all over"
        assert np.abs(before[:, 0] - before[:, 2]).max() < 10
        grey = body.mean(axis=1)
        assert np.abs(np.diff(grey)).mean() > 3.0, "the hatch is seen in grey"
        assert changed_by(pixels, without, 20).sum() < 1.6 * seen.sum(), "the objects are not hidden"


def test_the_overlap_looks_as_stored(graphics):
    p, measures = overlapping()
    for name, ground in ("overlap_dark", DARK), ("overlap_light", LIGHT):
        assert_looks_like(name, picture(p, styled(show_labels=False), ground, measures=measures))


def test_hull_edges_behind_are_dim_and_in_front_are_bright(graphics):
    p = PAIRS["inside"]()  # the hull of B is wholly behind the faces of A
    style = only(show_hulls=True)
    covered, front = picture(p, style), look().color_a
    assert lit(picture(p, style, solid=False), look().color_b) > 250
    assert lit(covered, look().color_b) == 0
    assert lit(covered, front) > 300  # edges on faces win the depth test
    assert changed_by(covered, picture(p, only()), 12).sum() > lit(covered, front) + 250


def ball(center, radius: float, rings: int = 32) -> np.ndarray:
    """The corners of a finely meshed sphere."""
    turns = np.arange(2 * rings) * np.pi / rings
    rises = (np.arange(1, rings) / rings - 0.5) * np.pi
    turn, rise = (grid.ravel() for grid in np.meshgrid(turns, rises))
    around = np.stack([np.cos(turn) * np.cos(rise), np.sin(turn) * np.cos(rise), np.sin(rise)], axis=1)
    return np.concatenate([around, [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]]) * radius + center


def test_the_contact_is_seen_through_dense_hulls(graphics):
    p = pair(ball((0.0, 0.0, 0.0), 2.0), ball((0.3, 0.1, 0.1), 0.8))
    pixels, alone = (picture(p, styled(show_labels=False, show_hulls=on)) for on in (True, False))
    covered = np.abs(pixels.astype(int) - alone).max(axis=2)[is_lit(alone, look().color_vector, 60)].mean()
    assert covered < 60.0, "the edges in front of the arrow leave it its colour"
    assert lit(pixels, look().color_b, 60) < 600, "B is no blot"
    assert lit(pixels, look().color_a, 60) > 400, "and A is still seen"


def test_only_creases_are_drawn_from_everywhere():
    for corners in (box(), *(box(size=(2.0, 2.0, z)) for z in (0.001, 0.0)), np.array([(0.0, 0.0, 0.0), (1.0, 0, 0)])):
        assert not layer_named(pair(corners, box((0.5, 0.0, 0.0))), "outline a")["side_a"].any()
    assert layer_named(pair(ball((0, 0, 0), 1.0), box((1.0, 0.0, 0.0))), "outline a")["side_a"].any(axis=1).all()
    wheel = np.array([(np.cos(t), np.sin(t), z) for t in np.arange(64) * np.pi / 32 for z in (-0.1, 0.1)])
    p = pair(wheel, box((1.0, 0.0, 0.0)))
    smooth = layer_named(p, "outline a")["side_a"].reshape(-1, 6, 3)[:, 0].any(axis=1)
    ends = p.shape_a.vertices[p.shape_a.edges]
    assert np.array_equal(smooth, ends[:, 0, 2] != ends[:, 1, 2]), "the rims are drawn in full"


@pytest.mark.parametrize("orthographic", [False, True])
def test_a_smooth_shape_is_drawn_as_its_silhouette(graphics, orthographic):
    p = pair(ball((0.0, 0.0, 0.0), 1.0), box((1.3, 0.0, 0.0), (1.0, 1.0, 1.0)))
    view = view_of(p)
    if orthographic:
        projection = np.diag([1.0 / 3.0, 1.0 / 2.0, -1.0 / 100.0, 1.0])
        projection[2, 3] = -0.2
        view = (view[0], projection)
    pixels = picture(p, only(show_hulls=True), view=view, solid=False)
    rows, columns = np.nonzero(is_lit(pixels, look().color_a, 10))
    seen = np.stack([columns + 0.5, SIZE[1] - rows - 0.5], axis=1)
    (center, *around), _ = projected([(0.0, 0.0, 0.0), *p.shape_a.vertices], view)
    assert len(seen) > 300
    distance = np.linalg.norm(seen - center, axis=1)
    assert distance.min() > 0.93 * np.linalg.norm(np.array(around) - center, axis=1).max(), "nothing inside the circle"


def test_the_winding_of_a_mesh_does_not_matter_to_its_outline():
    mesh = mesh_of(ball((0.0, 0.0, 0.0), 1.0, rings=8))
    triangles = np.array(mesh.triangles)
    flipped = triangles.copy()
    flipped[::3] = flipped[::3, ::-1]
    rng = np.random.default_rng(3)
    (edges, sides), (edges_flipped, sides_flipped) = (
        lens.geometry.shape_outline.edges_and_sides(lens.core.Mesh(mesh.points, each)) for each in (triangles, flipped)
    )
    assert np.array_equal(edges, edges_flipped)
    for eye in rng.normal(size=(20, 3)) * 4.0:
        seen, seen_flipped = (
            np.prod(np.einsum("ijk,ik->ij", each, eye - edges[:, 0]), axis=1) <= 0.0 for each in (sides, sides_flipped)
        )
        assert np.array_equal(seen, seen_flipped)
        assert 0 < seen.sum() < 0.3 * len(edges)


def test_dense_meshes_have_bounded_outlines_of_creases(monkeypatch):
    crate, sphere = mesh_of(box()), mesh_of(ball((0.0, 0.0, 0.0), 1.0))
    monkeypatch.setattr(lens.geometry.shape_outline, "MOST_EDGES", 100)
    assert len(lens.geometry.shape_outline.edges_and_sides(crate)[0]) == 12
    assert len(lens.geometry.shape_outline.edges_and_sides(sphere)[0]) == 0
    monkeypatch.setattr(lens.geometry.shape_outline, "MOST_EDGES", 10)
    assert len(lens.geometry.shape_outline.edges_and_sides(crate)[0]) == 10


# --- outlines of objects that are their own shape ---------------------------------------------------------------------


def test_a_mesh_that_is_its_own_shape_has_no_outline_unless_it_is_inside_the_other():
    crossing = replace(OTHERS["crossing_meshes"](), proxy_a=ITSELF, proxy_b=ITSELF)
    inside = found_of(mesh_of(box()), mesh_of(box(size=(1.0, 1.0, 1.0))))
    inside = replace(inside, proxy_a=ITSELF, proxy_b=ITSELF)
    for p, names in (crossing, set()), (inside, {"outline b"}):
        drawn = {
            layer.name: layer
            for layer in layers.overlay_geometry.layers(p, styled())
            if layer.name.startswith("outline")
        }
        assert drawn.keys() == names
        assert all(layer.only_hidden for layer in drawn.values())


@pytest.mark.parametrize(
    ("proxy", "same"),
    [
        (ITSELF, True),
        (Proxy("COMPOUND"), False),
        (Proxy("CONVEX_HULL", concavity=SimpleNamespace(depth=1e-7, open_fraction=0.0)), True),
        (Proxy("CONVEX_HULL", concavity=SimpleNamespace(depth=1e-3, open_fraction=0.0)), False),
        (Proxy("CONVEX_HULL", concavity=SimpleNamespace(depth=0.0, open_fraction=0.2)), False),
        (Proxy("BOX", fit=SimpleNamespace(sticks_out=0.0, reaches_beyond=1e-7)), True),
        (Proxy("CYLINDER", fit=SimpleNamespace(sticks_out=0.0, reaches_beyond=1e-2)), False),
    ],
)
def test_a_shape_is_the_mesh_within_the_resolution_of_its_coordinates(proxy, same):
    assert proxy.is_the_mesh(1e-6) is same


def test_an_outline_is_drawn_only_behind_geometry_for_a_convex_mesh(graphics):
    p = PAIRS["inside"]()
    style = only(show_hulls=True)
    own = replace(p, proxy_a=ITSELF, proxy_b=ITSELF)
    bare = picture(p, only())
    assert changed_by(picture(own, style, solid=False), picture(p, only(), solid=False), 12).sum() == 0
    pixels = picture(own, style)
    changed = changed_by(pixels, bare, 12)
    rows, columns = np.nonzero(changed)
    corners, _ = projected(own.shape_b.vertices, view_of(p))
    low, high = corners.min(axis=0) - 2.0, corners.max(axis=0) + 2.0
    assert changed.sum() > 300, "B is seen inside A"
    seen = np.stack([columns, SIZE[1] - rows], axis=1)
    assert ((seen >= low) & (seen <= high)).all(axis=1).mean() > 0.95, "and A has no outline"


def test_while_a_result_is_on_its_way_outlines_are_where_the_objects_are(graphics):
    p, step = PAIRS["face_on_face"](), np.eye(4)
    step[:3, 3] = (0.5, 0.2, 0.0)
    pending = layers.overlay_geometry.Showing(is_pending=True, moved=(np.eye(4), step))
    moved = replace(p, shape_b=p.shape_b.translated(step[:3, 3]))
    view, black = view_of(p), (0.0, 0.0, 0.0)
    outlines_only = only(show_hulls=True)
    one = picture(p, outlines_only, view=view, showing=pending, background=black, solid=False)
    other = picture(moved, outlines_only, view=view, background=black, solid=False)
    assert changed_by(one, other, 16).mean() < 0.003
    rest = picture(
        p,
        styled(show_hulls=False),
        black,
        view=view,
        part=draw.overlay.DrawingStage.WORLD,
        showing=pending,
        solid=False,
    )
    assert not rest.any(), "nothing stays where the contact was"


def test_round_areas_have_no_corners():
    p = pair(ball((0.0, 0.0, 0.0), 1.0, rings=2), box())
    most = layers.overlay_geometry.MOST_CORNERS
    for count, found in (most, most), (most + 1, 0):
        turns = np.arange(count) * 2.0 * np.pi / count
        disc = np.array([(np.cos(t), np.sin(t), z) for t in turns for z in (0.0, 1.0)])
        p = pair(box((0.0, 0.0, -1.0), (4.0, 4.0, 2.0)), disc)
        assert len(layers.overlay_geometry.region_corners(p.contact)) == found


def test_corners_closer_together_than_their_marks_are_left_out(graphics):
    p, style = PAIRS["face_on_face"](), only(show_points=True)
    view_matrix, projection = view_of(p)
    far = view_matrix.copy()
    far[2, 3] *= 15.0
    near, tiny = (
        lit(picture(p, style, (0.0, 0.0, 0.0), solid=False, view=(v, projection)), look().color_point)
        for v in (view_matrix, far)
    )
    assert near > 150
    assert 0 < tiny < 40, "the center is left"


def test_an_orthographic_view_is_drawn_too(graphics):
    p = PAIRS["face_on_face"]()
    projection = np.diag([1.0 / 3.0, 1.0 / 2.0, -1.0 / 100.0, 1.0])
    projection[2, 3] = -0.2
    pixels = picture(p, view=(view_of(p)[0], projection))
    assert lit(pixels, look().color_a) > 300
    assert lit(pixels, look().color_b) > 150


def test_a_viewer_inside_the_shapes_sees_lines_cut_at_the_near_plane_and_no_garbage(graphics):
    p = PAIRS["inside"]()
    view_matrix, projection = view_of(p)
    view_matrix[:3, 3] = -view_matrix[:3, :3] @ p.contact.region.centroid
    pixels = picture(p, only(show_hulls=True), view=(view_matrix, projection), solid=False)
    assert 0 < changed_by(pixels, np.round(255 * np.array(DARK)), 12).mean() < 0.1


def test_sizes_follow_the_interface_scale(graphics):
    p = PAIRS["face_on_face"]()
    once = picture(p, only(show_hulls=True), solid=False)
    twice = picture(p, only(show_hulls=True, scale=2.0), solid=False)
    assert 1.6 < lit(twice, look().color_a) / lit(once, look().color_a) < 3.5


def test_a_stale_result_is_faded(graphics):
    p = PAIRS["face_on_face"]()
    pixels = picture(
        p, part=draw.overlay.DrawingStage.WORLD, showing=layers.overlay_geometry.Showing(is_stale=True), solid=False
    )
    assert lit(pixels, look().color_a) == 0
    assert lit(picture(p, part=draw.overlay.DrawingStage.WORLD, solid=False), look().color_a) > 300
    p, only_arrow, black = PAIRS["shallow"](), only(show_vector=True), (0.0, 0.0, 0.0)
    ring, stale = (
        picture(
            p,
            only_arrow,
            black,
            part=draw.overlay.DrawingStage.LABELS,
            showing=layers.overlay_geometry.Showing(is_stale=each),
            solid=False,
        )
        for each in (False, True)
    )
    assert ring.max() > 150
    assert stale.mean() < 0.6 * ring.mean(), "the ring around a short arrow, too"


# --- housekeeping -----------------------------------------------------------------------------------------------------


def test_the_shader_has_no_more_constants_than_every_driver_takes(graphics, capfd):
    draw.overlay_shader.free()
    draw.overlay_shader._compiled()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)  # Blender warns by its own buffered output
    printed = capfd.readouterr()
    assert "ush constants" not in printed.out + printed.err


def test_batches_are_built_once_and_again_only_for_a_change(graphics):
    draw.overlay_shader.free()
    p = PAIRS["face_on_face"]()
    picture(p)
    turned = view_of(p)[0].copy()
    turned[0, 3] += 0.3
    first = list(draw.overlay_shader._batches.values())
    picture(p, view=(turned, view_of(p)[1]))
    assert list(draw.overlay_shader._batches.values()) == first
    picture(p, styled(show_ties=True))
    assert len(draw.overlay_shader._batches) == 2
    for _ in range(20):
        picture(PAIRS["gap"]())
    assert len(draw.overlay_shader._batches) <= 14
    draw.overlay_shader.free()
    assert not draw.overlay_shader._batches


def test_all_that_two_scenes_show_keeps_its_batches():
    draw.overlay_shader.free()
    built = []
    for part in [*range(10)] * 3:
        draw.overlay_shader.layers_on_gpu(("part", part), lambda part=part: built.append(part) or [])
    draw.overlay_shader.free()
    assert built == [*range(10)], "nothing is made again with every redraw"


def test_labels_are_laid_out_again_only_when_something_that_they_depend_on_is_another(graphics, monkeypatch):
    overlay, geometry, calls = draw.overlay, layers.overlay_geometry, []
    annotate, measure = overlay.annotate, overlay.measure
    monkeypatch.setattr(overlay, "annotate", lambda *given: calls.append(given) or annotate(*given))
    p, part = PAIRS["corner_in_face"](), overlay.DrawingStage.LABELS
    view_matrix, projection = view_of(p)
    turned, wider, moved = view_matrix.copy(), projection.copy(), np.eye(4)
    turned[0, 3] += 0.1
    wider[0, 0] *= 0.9
    moved[0, 3] = 0.2
    room, kept = draw.label_sheet.LabelRoom((0.0, 0.0, 400.0, 300.0)), draw.label_sheet.Kept()
    first = {"p": p, "style": styled(), "view": (view_matrix, projection), "showing": geometry.NOW, "room": None}
    pending = geometry.Showing(is_pending=True)
    changes = (
        {"p": replace(p, name_b="Lamp")},
        {"style": styled(scale=1.5)},
        {"style": styled(show_labels=False)},
        {"style": replace(styled(), look=replace(look(), color_b=(1.0, 0.0, 0.0, 1.0)))},
        {"style": replace(styled(), look=replace(look(), label_size=15.0))},
        {"view": (turned, projection)},
        {"view": (view_matrix, wider)},
        {"room": room},
        {"room": replace(room, taken=((0.0, 0.0, 300.0, 80.0),))},
        {"showing": geometry.Showing(is_stale=True)},
        {"showing": pending},
        {"showing": replace(pending, moved=(np.eye(4), moved))},
    )
    for change in changes:
        for given in first, first | change:
            picture(**given, part=part, kept=kept)
            kept.notes = None  # laid out once more: labels stay near where they were in the picture before
            picture(**given, part=part, kept=kept)
            before = len(calls)
            again = picture(**given, part=part, kept=kept)
            assert len(calls) == before, "nothing has changed"
            assert (again == picture(**given, part=part, kept=replace(kept, notes=None))).all(), change
        assert calls[-1] != calls[-2], change
    picture(**first, part=part, kept=kept)
    before = len(calls)
    monkeypatch.setattr(overlay, "measure", lambda text, size: tuple(1.1 * x for x in measure(text, size)))
    picture(**first, part=part, kept=kept)
    assert len(calls) == before + 1, "the user has chosen another font"
    monkeypatch.setattr(sys.modules[__name__], "SIZE", (400, 300))
    picture(**first, part=part, kept=kept)
    assert len(calls) == before + 2, "the view has another size"


def test_of_what_depends_on_the_view_the_gpu_has_only_the_last_picture(graphics):
    draw.overlay_shader.free()
    p, kept, counts = PAIRS["corner_in_face"](), draw.label_sheet.Kept(), []
    view_matrix, projection = view_of(p)
    for angle in 0.0, 0.0, 0.1, 0.2:
        view = (view_matrix @ np.array(draw.picture.Matrix.Rotation(angle, 4, "Z")), projection)
        picture(p, view=view, kept=kept)
        counts.append(len(draw.overlay_shader._batches_of))
    assert counts == [1, 1, 1, 1]
    picture(p)
    assert len(draw.overlay_shader._batches_of) == 1, "a picture that keeps nothing"
    assert p not in kept.made_of, "no longer than it is shown"
    draw.overlay_shader.free()
    assert not draw.overlay_shader._batches_of


def test_the_gpu_state_is_put_back_also_when_drawing_fails(graphics, monkeypatch):
    p = PAIRS["face_on_face"]()

    def state() -> tuple[str, str, bool]:
        return gpu.state.blend_get(), gpu.state.depth_test_get(), gpu.state.depth_mask_get()

    gpu.state.blend_set("ADDITIVE")
    gpu.state.depth_test_set("GREATER")
    gpu.state.depth_mask_set(True)
    before = state()
    try:
        picture(p, solid=False)
        assert state() == before
        monkeypatch.setattr(draw.overlay, "_draw_labels", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            picture(p, solid=False)
        assert state() == before
    finally:
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")


def context_stand_in(show_overlays: bool) -> SimpleNamespace:
    return SimpleNamespace(
        space_data=SimpleNamespace(overlay=SimpleNamespace(show_overlays=show_overlays)),
        scene=SimpleNamespace(
            contact_lens=SimpleNamespace(show_overlay=True, show_volumes=False),
            contact_lens_check=SimpleNamespace(show_dots=False),
            session_uid=bpy.context.scene.session_uid,
        ),
    )


@pytest.mark.parametrize(("module", "asked"), [("session", "current"), ("background", "shown_flows")])
def test_an_error_while_drawing_is_told_once(monkeypatch, capsys, module, asked):
    calls = []

    def fail(context):
        calls.append(context)
        raise RuntimeError("the shader is gone")

    monkeypatch.setattr(lens.views.viewport, "bpy", SimpleNamespace(context=context_stand_in(True)))
    monkeypatch.setattr(lens.views.viewport.session, "current", lambda context: None)
    monkeypatch.setattr(getattr(lens.views.viewport, module), asked, fail)
    monkeypatch.setattr(lens.views.viewport, "_error", "")
    for _ in range(3):
        lens.views.viewport._draw(draw.overlay.DrawingStage.LABELS)
    assert len(calls) == 1
    assert capsys.readouterr().err.count("RuntimeError: the shader is gone") == 1
    assert "the shader is gone" in lens.views.viewport.error()


def test_nothing_is_drawn_when_the_view_s_overlays_are_off(monkeypatch):
    monkeypatch.setattr(lens.views.viewport, "bpy", SimpleNamespace(context=context_stand_in(False)))
    monkeypatch.setattr(lens.views.viewport.session, "current", lambda context: pytest.fail("asked for a result"))
    monkeypatch.setattr(lens.views.viewport, "_error", "")
    lens.views.viewport._draw(draw.overlay.DrawingStage.WORLD)
    assert lens.views.viewport.error() == ""


def test_ten_cycles_of_enabling_leave_no_handler(monkeypatch):
    alive = set()

    class Space:
        @staticmethod
        def draw_handler_add(function, arguments, region, stage):
            alive.add(handle := object())
            assert (region, stage) in {("WINDOW", "POST_VIEW"), ("WINDOW", "POST_PIXEL"), ("UI", "POST_PIXEL")}
            return handle

        @staticmethod
        def draw_handler_remove(handle, region):
            alive.remove(handle)

    monkeypatch.setattr(lens.views.viewport, "_handles", [])
    monkeypatch.setattr(lens.views.viewport, "bpy", SimpleNamespace(types=SimpleNamespace(SpaceView3D=Space)))
    for _ in range(10):
        lens.views.viewport.register()
        assert len(alive) == 3
        lens.views.viewport.unregister()
        assert not alive
    assert not draw.overlay_shader._batches


# --- the picture of a scene -------------------------------------------------------------------------------------------


@pytest.fixture
def scene_with_a_contact(monkeypatch) -> Pair:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=False)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    hull = lens.core.ConvexHull(box())
    places = {"Left": (0.0, 0.0, 0.0), "Right": (1.4, -0.3, 0.9)}
    objects = [mesh_object(name, hull.vertices, hull.facets, place) for name, place in places.items()]
    objects[1].rotation_euler = (0.5, 0.4, 0.3)
    bpy.context.view_layer.update()
    matrices = [np.array(obj.matrix_world, dtype=np.float64) for obj in objects]
    p = pair(*(hull.vertices @ matrix[:3, :3].T + matrix[:3, 3] for matrix in matrices))
    monkeypatch.setattr(draw.picture.session, "current", lambda context: p)
    monkeypatch.setattr(draw.picture.session, "is_stale", lambda context: False)
    monkeypatch.setattr(draw.picture, "style_of", lambda context: styled())
    return p


def test_a_snapshot_shows_the_scene_with_the_contact(graphics, even_letters, scene_with_a_contact, tmp_path):
    def state():
        space = next(a for s in bpy.data.screens for a in s.areas if a.type == "VIEW_3D").spaces.active
        counts = [len(getattr(bpy.data, name)) for name in ("scenes", "objects", "cameras", "meshes", "images")]
        return counts, space.shading.type, space.shading.background_type, space.overlay.show_overlays

    path, before = tmp_path / "pictures" / "contact.png", state()
    draw.picture.render_contact(bpy.context, str(path), *SIZE)
    assert state() == before
    pixels = read_png(path)
    assert pixels.shape == (SIZE[1], SIZE[0], 3)
    for color, tolerance, least in (look().color_a, 10, 200), (look().color_b, 10, 120), (look().color_vector, 40, 40):
        assert lit(pixels, color, tolerance) > least
    grey = np.ptp(pixels.astype(int), axis=2) < 8
    is_overlap = pixels[..., 0].astype(int) - pixels[..., 2] > 50
    assert is_overlap.mean() > 0.01
    assert (is_overlap | (grey & (pixels.mean(axis=2) > 90))).mean() > 0.1  # the two cubes, lit
    assert_looks_like("snapshot", pixels, masked=notes_of(scene_with_a_contact).boxes)


def test_a_snapshot_needs_no_3d_view_on_the_screen(graphics, scene_with_a_contact, tmp_path):
    areas = [area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D"]
    for area in areas:
        area.type = "CONSOLE"
    try:
        draw.picture.render_contact(bpy.context, str(tmp_path / "contact.png"), *SIZE)
        assert {area.type for area in areas} == {"CONSOLE"}
    finally:
        for area in areas:
            area.type = "VIEW_3D"
    assert lit(read_png(tmp_path / "contact.png"), look().color_a) > 200


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_the_camera_shows_both_shapes_whole(name):
    p = PAIRS[name]()
    pixels, ahead = projected([*p.shape_a.vertices, *p.shape_b.vertices], view_of(p))
    assert ahead.all()
    assert ((pixels > 0) & (pixels < SIZE)).all()


def test_the_camera_goes_near_a_small_shape_on_a_large_one():
    p = pair(box(size=(1000.0, 1000.0, 1.0)), box((3.0, 4.0, 0.9)))
    pixels, ahead = projected(p.shape_b.vertices, view_of(p))
    assert ahead.all()
    assert np.ptp(pixels, axis=0).max() > 0.15 * min(SIZE)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("swapped", [False, True])
def test_the_camera_is_outside_of_a_large_shape_on_the_side_of_the_small_one(axis, side, swapped):
    where = np.zeros(3)
    where[axis] = side * 500.3
    shapes = [box(size=(1000.0, 1000.0, 1000.0)), box(where, (1.0, 1.0, 1.0))]
    p = pair(*(reversed(shapes) if swapped else shapes))
    view_matrix, _ = view_of(p)
    eye = -view_matrix[:3, :3].T @ view_matrix[:3, 3]
    assert side * eye[axis] > 500.8
    assert np.linalg.norm(eye - where) < 20.0


@pytest.mark.parametrize("place", [0.0, 1.0, 2000.0])
def test_two_points_in_one_place_have_a_camera(place):
    p = pair(np.full((1, 3), place), np.full((1, 3), place))
    with np.errstate(all="raise"):
        view = view_of(p)
    pixels, ahead = projected(p.shape_a.vertices, view)
    assert ahead.all()
    assert pixels[0] == pytest.approx(np.array(SIZE) / 2, abs=1.0)


def test_a_snapshot_of_nothing_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(draw.picture.session, "current", lambda context: None)
    with pytest.raises(ValueError, match="run Inspect Contact first"):
        draw.picture.render_contact(bpy.context, str(tmp_path / "contact.png"), 64, 64)


WITHOUT_A_DRIVER = f"""
import importlib.util, sys, bpy
spec = importlib.util.spec_from_file_location(
    "contact_lens", {str(ROOT / "__init__.py")!r}, submodule_search_locations=[{str(ROOT)!r}]
)
package = sys.modules["contact_lens"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from contact_lens.blender_addon.draw import picture as snapshot
try:
    snapshot.start_gpu()
except snapshot.GpuUnavailable as error:
    print("REFUSED", error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the driver comes with the system")
@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("hide", ["__EGL_VENDOR_LIBRARY_FILENAMES", "GALLIUM_DRIVER"])
def test_without_a_driver_the_process_lives_and_the_packages_are_named(hide, tmp_path):
    environment = os.environ | {hide: "/nonexistent", "BLENDER_USER_RESOURCES": str(tmp_path)}
    command = [sys.executable, "-c"]
    if bpy.app.binary_path:
        command = [bpy.app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr"]
    done = subprocess.run(
        [*command, WITHOUT_A_DRIVER], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("REFUSED")]
    assert {"libegl1", "libgl1-mesa-dri"} <= set(re.findall(r"[\w-]+", line))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the driver comes with the system")
def test_lines_of_egl_are_kept_out_of_logs_and_errors_are_not(capfd):
    """Blender tries one version of OpenGL after the other, and EGL complains of each that it does not have."""
    said = b"EGL Error (0x3009): EGL_BAD_MATCH: no\nlibEGL warning: no\nMESA-LOADER: no\n"
    with draw.picture._without_lines_of_egl():
        os.write(2, said + b"a real error\n")
    os.write(2, b"and another\n")
    assert capfd.readouterr().err == "a real error\nand another\n"
