# SPDX-License-Identifier: GPL-3.0-or-later
"""What is played outside Blender: the sentences and pictures of the add-on, and questions with the right answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import escape
from itertools import product
from typing import Any

import numpy as np
import pytest

from .scenes import lens
from .test_steps import KINDS, plane

study = lens.study


def units() -> Any:
    return lens.data.units.UnitFormat("METRIC", 1.0, "METERS")


def steps_of(a: Any, b: Any, names: tuple[str, str] = ("Alpha", "Beta"), **settings: Any) -> Any:
    flat = plane() if a.dim == 2 else None
    given = study.traced_pair.StepsInput(a, b, *names, units(), study.traced_pair.StepSettings(**settings), flat)
    return study.steps.steps_of(given)


def random_steps(kind: str, seed: int, **settings: Any) -> Any:
    return steps_of(*KINDS[kind](np.random.default_rng(seed)), **settings)


def data_of(html: str) -> Any:
    [text] = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


def drawn(picture: Any, shift: Any = 0.0) -> Counter[Any]:
    """All that is drawn, with coordinates to a millionth."""
    found: Counter[Any] = Counter()
    for part in (*picture.fills, *picture.lines, *picture.points, *picture.labels):
        values = [
            tuple(np.round(value + shift, 6).ravel() + 0.0) if isinstance(value, np.ndarray) else value
            for value in vars(part).values()
        ]
        found[type(part).__name__, *values] += 1
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_sum", [False, True])
def test_a_playable_has_the_words_and_the_pictures_of_the_steps(kind: str, is_sum: bool) -> None:
    for seed in range(3):
        steps = random_steps(kind, seed, is_sum=is_sum)
        made = study.playable.playable(steps)
        assert [frame.sentence for frame in made.frames] == [steps.sentence(k) for k in range(len(steps.shown))]
        assert [frame.title for frame in made.frames] == [steps.title(k) for k in range(len(steps.shown))]
        for number, frame in enumerate(made.frames):
            whole, parts = drawn(steps.picture(number)), drawn(frame.pictures[0])
            if frame.kind in ("gjk", "epa"):
                origin = steps.difference_pictures.origin
                labels = [label for label in steps.difference_pictures.behind.labels if label.role == "hull"]
                parts += drawn(study.picture.StudyPicture(labels=tuple(labels)))
                parts += drawn(frame.pictures[1], origin) + drawn(made.spaces[1].behind, origin)
            assert whole == parts


@pytest.mark.parametrize("scale", [1e-4, 1.0])
@pytest.mark.parametrize("kind", ["clouds", "boxes", "round", "polygons"])
def test_the_right_vertices_are_the_farthest_of_all_pairs(kind: str, scale: float) -> None:
    asked = 0
    for seed in range(4):
        shapes = KINDS[kind](np.random.default_rng(seed))
        size = np.eye(shapes[0].dim + 1) * np.append(np.full(shapes[0].dim, scale), 1.0)
        steps = steps_of(*(shape.transformed(size) for shape in shapes))
        made = study.playable.playable(steps)
        names = {f"({i}, {j})": (k, m) for (k, i), (m, j) in product(*map(enumerate, steps.ids))}
        for place, frame in zip(steps.shown, made.frames, strict=True):
            step, guess = steps.trace.steps[place], frame.guess
            if guess is None or frame.kind == "sat":
                continue
            asked += 1
            direction = np.array(step.direction if frame.kind == "gjk" else step.normal)[: steps.trace.dim]
            a, b = (core.vertices for core in steps.cores)
            heights = (a @ direction)[:, None] - b @ direction
            chosen = np.array([heights[names[label]] for label, _ in guess.choices])
            assert chosen[list(guess.right)] == pytest.approx(heights.max(), abs=1e-9 * np.ptp(heights))
            wrong = np.delete(chosen, guess.right)
            assert len(wrong)
            assert wrong.max() < heights.max()
            others = " There are other right answers." if len(guess.right) > 1 else ""
            assert guess.answer == f"The support point is {steps.sentences.point(step.support)}.{others}"
            points = np.array([point for _, point in guess.choices])
            pairs = np.array([names[label] for label, _ in guess.choices])
            own = a[pairs[:, 0]] - b[pairs[:, 1]]
            assert points == pytest.approx(own if steps.trace.dim == 3 else own @ plane().axes, rel=1e-12)
            labels = {label.text for label in guess.picture.labels}
            assert labels <= {"Origin", "Direction", "Normal"}, "nothing says the answer"
            assert not {part.role for part in (*guess.picture.lines, *guess.picture.points)} & {"support", "added"}
    assert asked > 10


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_axes_separate_or_overlap_least(kind: str) -> None:
    for seed in range(6):
        steps = random_steps(kind, seed)
        made = study.playable.playable(steps)
        guesses = [frame.guess for frame in made.frames if frame.kind == "sat"]
        assert not any(guesses[1:])
        if guesses[0] is None:
            continue
        distances = {
            f"Axis {number}": steps.trace.steps[place].signed_distance
            for place, number in steps.sentences.axis_numbers.items()
        }
        best = max(distances.values())
        for k, (label, _) in enumerate(guesses[0].choices):
            is_right = distances[label] > 0.0 if best > 0.0 else distances[label] >= best - 1e-9 * abs(best)
            assert is_right == (k in guesses[0].right)


def test_nothing_is_asked_where_all_are_right_or_none_is_searched() -> None:
    sphere, other = lens.core.Sphere((0, 0, 0), 1.0), lens.core.Sphere((3, 0, 0), 1.0)
    assert not any(frame.guess for frame in study.playable.playable(steps_of(sphere, other)).frames)
    summed = study.playable.playable(random_steps("boxes", 1, algorithm="gjk", is_sum=True))
    assert summed.spaces[1].name == "Minkowski Sum A + B"
    assert not any(frame.guess for frame in summed.frames)


def test_bounds_and_bars_are_those_of_the_plate() -> None:
    steps = random_steps("boxes", 3)
    made = study.playable.playable(steps)
    lower, upper = steps.bounds()
    for number, frame in enumerate(made.frames):
        found = np.array([frame.lower, frame.upper], dtype=float)
        assert np.array_equal(found, [lower[number], upper[number]], equal_nan=True)
        plate = _plate(steps, number)
        assert {text for text in frame.bound_texts if text} == plate or frame.bars
        bars = steps.bars(number)
        assert [bar.signed_distance for bar in frame.bars] == [bar.signed_distance for bar in bars]
        for bar, known in zip(frame.bars, bars, strict=True):
            assert bar.text.removeprefix("gap ").removeprefix("overlap ") == units().length(abs(bar.signed_distance))
            assert bar.step == (steps.shown.index(known.step) if known.step in steps.shown else -1)


def _plate(steps: Any, number: int) -> set[str]:
    """Both bounds as the plate of the add-on writes them."""
    sheet = lens.draw.step_sheet
    style = lens.layers.overlay_geometry.Style(lens.data.look.DEFAULT_LOOK, 1.0, True)
    room = lens.draw.label_sheet.LabelRoom((0.0, 0.0, 2000.0, 1000.0))
    plate = sheet.step_plate(steps, number, style, room, lambda text, size: (0.5 * size * len(text), size))
    return {text.text for text in plate.texts if text.text.split()[0] in ("lower", "upper")}


def test_many_axes_are_few_bars() -> None:
    rng = np.random.default_rng(5)
    a, b = (lens.core.ConvexHull(rng.normal(size=(90, 3))) for _ in range(2))
    steps = steps_of(a, b, algorithm="sat")
    made = study.playable.playable(steps)
    for number, frame in enumerate(made.frames):
        assert len(frame.bars) <= study.playable.MOST_BARS < len(steps.bars(number))
        [best] = [bar for bar in frame.bars if bar.is_best]
        assert best.signed_distance == next(bar for bar in steps.bars(number) if bar.is_best).signed_distance
        if isinstance(steps.trace.steps[steps.shown[number]], lens.core.trace.AxisStep):
            assert [bar.step for bar in frame.bars if bar.is_current] == [number]


def test_flat_objects_are_seen_from_where_blender_looks() -> None:
    made = study.playable.playable(random_steps("polygons", 0))
    assert np.allclose(made.toward_viewer, (1.0, 0.0, 0.0)), "the plane of y and z"
    assert made.up == (0.0, 0.0, 1.0)
    assert [fill.role for fill in made.spaces[0].behind.fills] == ["a", "b"]


def test_a_page_has_the_data_and_all_names_are_data() -> None:
    names = '</script><img src=x onerror="alert(1)">', "B & \u202eb"
    box = lens.core.Box((1e6, 2.0, -1e6), (1e-2, 1e-2, 1e-2))
    steps = steps_of(box, lens.core.Box((1e6 + 5e-3, 2.003, -1e6), (1e-2, 1e-2, 1e-2)), names)
    made = study.playable.playable(steps)
    html = lens.page.player_page.player_page(made)
    assert html.startswith(lens.page.html_page.BEGINNING)
    assert html.count("<img") == html.count('onerror="') == 0
    assert "\u202e" not in html
    data = data_of(html)
    assert f"<figcaption>{escape(names[0])}" in html
    assert {label[1] for label in data["spaces"][0]["behind"]["labels"]} == {names[0], "B & \\u202eb"}
    assert [frame["kind"] for frame in data["frames"]] == [frame.kind for frame in made.frames]
    assert html.count("<li>") == len(made.frames)
    corners = np.array(data["spaces"][0]["behind"]["fills"][0][2]).reshape(-1, 3)
    sizes = np.ptp(corners, axis=0)
    assert np.abs(corners).max() <= 0.5, "relative to the middle of the space"
    assert sizes == pytest.approx(sizes.max() * np.ones(3), abs=2e-4), "a cube stays one far from the origin"
    assert len(data["spaces"]) == 2
    assert all(
        value is None or abs(value) < 1.0 for frame in data["frames"] for value in (frame["lower"], frame["upper"])
    )
    assert "default-src 'none'" in html


def test_objects_are_outlined_as_far_as_it_is_no_blot_and_named_where_they_are_apart() -> None:
    points = np.random.default_rng(7).normal(size=(200, 3))
    ball = lens.core.ConvexHull(points / np.linalg.norm(points, axis=1)[:, None] + (3.0, 0.0, 0.0))
    made = study.playable.playable(steps_of(lens.core.Box((0, 0, 0), (2, 2, 2)), ball, algorithm="gjk"))
    behind = made.spaces[0].behind
    counts = {role: sum(len(part.ends) for part in behind.lines if part.role == role) for role in "ab"}
    assert counts["a"] == 12
    assert counts["b"] < 100 < len(ball.edges)
    assert [len(part.triangles) for part in behind.fills] == [12, sum(len(facet) - 2 for facet in ball.facets)]
    (a, b), middle = (label.point for label in behind.labels), 1.5
    assert a[0] == -1.0
    assert b[0] > middle + 1.5
