# SPDX-License-Identifier: GPL-3.0-or-later
"""What a player shows outside Blender: the steps of an algorithm as frames of pictures, and questions before them.

Data only, and made of the steps that the add-on plays: the same sentences, pictures and bounds. The Minkowski
difference has a space of its own, around its own origin. No Blender, no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...core.shapes.polytope import Polytope
from ...core.trace import AxisStep, EpaStep, GjkStep
from ...core.types import FloatArray, IntArray
from ..data import messages
from ..data.units import Rounding
from ..geometry.plane import to_3d
from ..geometry.shape_outline import SHARP, edges_and_sides, fan, stand_in, wires
from .difference_pictures import THIN, DifferencePictures
from .picture import SIDES, Canvas, StudyPicture
from .steps import MOST_AXES, Bar, Steps, fewer_bars
from .traced_pair import StepsInput, TracedPair, measured

VIEW = (1.0, -1.0, 0.7)
"""Where Blender's view is at first."""
MOST_CHOICES = 60
"""Points among which a support point is guessed."""
MOST_BARS = 60
"""Bars of SAT: where there are more axes, a bar is the best of a few."""
AS_GOOD = 1e-9
"""By which a right choice may differ from the best, relative to the differences between all."""
FEW, MOST_OUTLINE = 60, 300
"""Edges of an object from which on they are thin, and from which on only its creases are drawn."""
REACH = 0.5
"""Length of half an axis that is guessed, relative to the objects."""
Choices = tuple[tuple[str, FloatArray], ...]
"""Labels, and points (3,)."""


@dataclass(frozen=True, eq=False)
class Guess:
    """A question about a frame, asked before it is shown."""

    question: str
    space: int
    picture: StudyPicture
    """What is drawn in that space while it is asked, instead of the pictures of the frame."""
    choices: Choices
    right: tuple[int, ...]
    """Indices of the right choices."""
    answer: str
    """As a sentence."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A step."""

    kind: str
    """Of the algorithm, as in the trace."""
    title: str
    sentence: str
    pictures: tuple[StudyPicture, ...]
    """One for each space, without what is behind all frames."""
    lower: float | None = None
    upper: float | None = None
    bound_texts: tuple[str, str] = ("", "")
    """The bounds that are known, rounded outward: 'lower 0.12 m'."""
    bars: tuple[Bar, ...] = ()
    guess: Guess | None = None


@dataclass(frozen=True, eq=False)
class Space:
    """A viewport."""

    name: str
    behind: StudyPicture
    """What is drawn in every frame."""


@dataclass(frozen=True, eq=False)
class Playable:
    """What a player shows."""

    title: str
    spaces: tuple[Space, ...]
    frames: tuple[Frame, ...]
    toward_viewer: tuple[float, float, float] = VIEW
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)


def playable(steps: Steps, title: str | None = None) -> Playable:
    """Return the steps of a pair for a player; title: the names of the objects where there is none."""
    given, trace = steps.given, steps.trace
    kinds = [trace.steps[place].kind for place in steps.shown]
    spaces, difference = [Space("Objects", _objects(given))], None
    if "gjk" in kinds or "epa" in kinds:
        around_zero = replace(given, settings=replace(given.settings, offset=(0.0, 0.0, 0.0)))
        pair = TracedPair(around_zero, trace, steps.region)
        difference = DifferencePictures(pair, steps.difference_pictures.body)
        labels = difference.behind.labels
        name = next(label.text for label in labels if label.role == "hull")
        behind = replace(difference.behind, labels=tuple(label for label in labels if label.role != "hull"))
        spaces.append(Space(name, behind))
    guesses = {kinds.index("sat"): _axis_guess(steps)} if "sat" in kinds else {}
    frames = []
    for number, (place, (lower, upper, texts)) in enumerate(zip(steps.shown, _bounds(steps), strict=True)):
        kind, guess = kinds[number], guesses.get(number)
        if difference is not None and kind in ("gjk", "epa"):
            pictures, guess = difference.parts(place), _support_guess(steps, difference, place)
        else:
            pictures = steps.picture(number), StudyPicture()
        words, seen = (steps.title(number), steps.sentence(number)), pictures[: len(spaces)]
        frames.append(Frame(kind, *words, seen, lower, upper, texts, _bars(steps, number), guess))
    view = {} if given.flat is None else _view_of_plane(given.flat.normal)
    return Playable(title or messages.pair_name(given.name_a, given.name_b), tuple(spaces), tuple(frames), **view)


def _view_of_plane(normal: FloatArray) -> dict[str, tuple[float, float, float]]:
    """Return from where the plane of flat objects is seen: from the side of Blender's view."""
    x, y, z = (normal * (1.0 if normal @ VIEW >= 0.0 else -1.0)).tolist()
    return {"toward_viewer": (x, y, z), "up": (0.0, 1.0, 0.0) if abs(z) > 0.9 else (0.0, 0.0, 1.0)}


def _objects(given: StepsInput) -> StudyPicture:
    """Return both objects: faces, outlines and names."""
    canvas, shapes, names = Canvas(), (given.a, given.b), (given.name_a, given.name_b)
    bodies = [stand_in(shape if given.flat is None else to_3d(shape, given.flat)) for shape in shapes]
    apart = np.subtract(*(np.mean(body.bounds, axis=0) for body in bodies))
    upward = np.array((0.0, 0.0, float(np.linalg.norm(apart)) or 1.0))
    for role, shape, body, name, away in zip(SIDES, shapes, bodies, names, (apart, -apart), strict=True):
        facets = body.facets if body.rank == 3 else body.facets[:1]
        canvas.fill(role, np.concatenate([np.zeros((0, 3, 3)), *(fan(body.vertices[facet]) for facet in facets)]))
        if given.flat is not None or isinstance(shape, Polytope):
            edges, sides = edges_and_sides(body)
            is_crease = (sides[:, 0] * sides[:, 1]).sum(axis=1) < SHARP
            seen = edges if len(edges) <= MOST_OUTLINE else edges[is_crease]
            canvas.line(role, seen, 1.0 if len(edges) <= FEW else THIN)
        else:
            canvas.line(role, [ends for line in wires(shape) for ends in pairwise(line)])
        canvas.label(role, name, body.vertices[int((body.vertices @ (away + upward)).argmax())])
    return canvas.picture()


def _bounds(steps: Steps) -> list[tuple[float | None, float | None, tuple[str, str]]]:
    """Return both bounds after each frame, and in words those that its algorithm knows by then."""
    rows = np.stack(steps.bounds(), axis=1)
    kinds = np.array([steps.trace.steps[place].kind for place in steps.shown])
    known, found = dict.fromkeys(kinds.tolist(), ("", "")), []
    sides: tuple[tuple[str, Rounding], ...] = ("lower", "down"), ("upper", "up")
    for kind, row in zip(kinds.tolist(), rows, strict=True):
        finite = rows[kinds == kind][np.isfinite(rows[kinds == kind])]
        units = steps.given.units.for_table((finite.min(), finite.max())) if len(finite) else steps.given.units
        values = [value if np.isfinite(value) else None for value in row.tolist()]
        lower, upper = (
            text if value is None else f"{name} {units.length(value, rounding=rounding)}"
            for value, (name, rounding), text in zip(values, sides, known[kind], strict=True)
        )
        known[kind] = lower, upper
        found.append((values[0], values[1], known[kind]))
    return found


def _bars(steps: Steps, number: int) -> tuple[Bar, ...]:
    """Return the bars of a frame, each with the frame that shows its axis and with its length in words."""
    bars, units = steps.bars(number), steps.given.units
    frames = {place: frame for frame, place in enumerate(steps.shown)}
    return tuple(
        replace(bar, step=frames.get(bar.step, -1), text=f"{bar.kind} {units.length(abs(bar.signed_distance))}")
        for bar in fewer_bars(bars, MOST_BARS)
    )


# --- questions


def _support_guess(steps: Steps, difference: DifferencePictures, place: int) -> Guess | None:
    """Return the question for the support point of a step of GJK or EPA; None where none is searched."""
    step = steps.trace.steps[place]
    if difference.is_sum or not isinstance(step, GjkStep | EpaStep) or step.support is None:
        return None
    direction = (step.direction if isinstance(step, GjkStep) else step.normal)[: difference.dim]
    pairs, support = difference.body.pairs, np.array(step.support)
    points = difference.differences(pairs)
    off = np.linalg.norm(points - difference.differences(support), axis=1)
    # At a point with several pairs, it has the name of that which was found; it can also be in a side or a face.
    pairs = np.concatenate([[support], pairs[off > AS_GOOD * off.max()]])
    pairs = pairs[np.lexsort(pairs.T)]
    points = difference.differences(pairs)
    heights = points @ np.array(direction)
    is_right = (heights >= heights.max() - AS_GOOD * np.ptp(heights)) | (pairs == support).all(axis=1)
    chosen = _chosen(is_right, MOST_CHOICES)
    labels = [steps.sentences.point((i, j)) for i, j in pairs[chosen].tolist()]
    question = "Which vertex of A - B is farthest along the arrow?"
    answer = f"The support point is {steps.sentences.point(step.support)}."
    choices = zip(labels, difference.placed(points[chosen]), strict=True)
    return _guess(question, 1, difference.before(place), tuple(choices), is_right[chosen], answer)


def _axis_guess(steps: Steps) -> Guess | None:
    """Return the question for the best axis of SAT."""
    found, given = measured(steps.trace), steps.given
    distances, numbers = np.array(list(found.values())), list(steps.sentences.axis_numbers.values())
    if len(found) < 2:
        return None
    axes = np.array([step.axis for place in found if isinstance(step := steps.trace.steps[place], AxisStep)])
    best, is_gap = int(distances.argmax()), distances.max() > 0.0
    is_right = distances > 0.0 if is_gap else distances >= distances.max() - AS_GOOD * np.abs(distances).max()
    chosen, solids = _chosen(is_right, MOST_AXES), steps.sentences.solids
    corners = np.array([given.a.bounds, given.b.bounds])
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    half = REACH * float(np.linalg.norm(high - low)) * axes[chosen]
    half *= np.where(half @ np.array(VIEW[: axes.shape[1]]) < 0.0, -1.0, 1.0)[:, None]  # ends in front of the objects
    ends = given.in_world(np.stack([0.5 * (low + high) - half, 0.5 * (low + high) + half], axis=1))
    canvas = Canvas()
    canvas.line("axis", ends, is_arrow=True)
    labels = [f"Axis {numbers[k]:,}" for k in chosen.tolist()]
    answer = f"Axis {numbers[best]:,} {f'separates {solids}' if is_gap else 'has the least overlap'}."
    question = f"Which axis separates {solids}, or has the least overlap?"
    choices = zip(labels, ends[:, 1], strict=True)
    return _guess(question, 0, canvas.picture(), tuple(choices), is_right[chosen], answer)


def _chosen(is_right: NDArray[np.bool_], most: int) -> IntArray:
    """Return the indices of the right choices, and of others evenly up to about `most`."""
    every = -(-len(is_right) // most)
    return np.union1d(np.flatnonzero(is_right), np.arange(0, len(is_right), every))


def _guess(
    question: str, space: int, picture: StudyPicture, choices: Choices, is_right: NDArray[np.bool_], answer: str
) -> Guess | None:
    """Return a question; None where all choices are right."""
    right = tuple(np.flatnonzero(is_right).tolist())
    answer += " There are other right answers." if len(right) > 1 else ""
    return Guess(question, space, picture, choices, right, answer) if len(right) < len(choices) else None
