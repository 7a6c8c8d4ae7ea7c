# SPDX-License-Identifier: GPL-3.0-or-later
"""The players of the chapters: what the engine does with small pairs, in the add-on's sentences and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from contact_lens.blender_addon.data.units import UnitFormat
from contact_lens.blender_addon.geometry.plane import Plane
from contact_lens.blender_addon.study.picture import Canvas, StudyPicture
from contact_lens.blender_addon.study.playable import Frame, Playable, Space, playable
from contact_lens.blender_addon.study.steps import Steps, steps_of
from contact_lens.blender_addon.study.traced_pair import StepSettings, StepsInput
from contact_lens.core import Box, ConvexHull
from contact_lens.core.shapes.curved_shape import ConvexShape

UNITS = UnitFormat("NONE")
"""Numbers without a unit, as those of the chapters."""
PLANE = Plane(np.zeros(3), np.eye(3)[:2])
"""Where shapes of dimension 2 are."""
FROM_ABOVE = {"toward_viewer": (0.0, 0.0, 1.0), "up": (0.0, 1.0, 0.0)}
"""How a player sees that plane."""


# --- helpers


def pair_steps(
    a: ConvexShape, b: ConvexShape, algorithm: str = "all", names: tuple[str, str] = ("A", "B"), all_axes: bool = False
) -> Steps:
    """Return the steps of an algorithm ("sat", "gjk", "epa", "region" or "all") on two shapes of one dimension."""
    settings = StepSettings(algorithm, all_axes=all_axes)
    return steps_of(StepsInput(a, b, *names, UNITS, settings, PLANE if a.dim == 2 else None))


def pair(title: str, a: ConvexShape, b: ConvexShape, algorithm: str = "all", **options: object) -> Playable:
    """Return the player of those steps; options: of `pair_steps`."""
    return playable(pair_steps(a, b, algorithm, **options), title)  # type: ignore[arg-type]


def by_hand(
    title: str,
    kind: str,
    frames: Iterable[tuple[str, str, Canvas]],
    behind: Canvas | None = None,
    space: str = "Objects",
    is_flat: bool = True,
) -> Playable:
    """Return a player of frames, each a title, a sentence and what is drawn; kind: what the frames are of, a word."""
    made = tuple(Frame(kind, name, text, (drawn.picture(),)) for name, text, drawn in frames)
    picture = StudyPicture() if behind is None else behind.picture()
    return Playable(title, (Space(space, picture),), made, **(FROM_ABOVE if is_flat else {}))


# --- separating axes


def two_boxes() -> Playable:
    """Two boxes on their edges, which cross: of 15 axes a product of edges is the best."""
    a = Box((0, 0, 0), (2, 2, 2), (3, 1, 0, 0))
    b = Box((0, 0, 2.6), (2, 2, 2), (3, 0, 1, 0))
    return pair("Two boxes, edge to edge", a, b, "sat", all_axes=True)


# --- GJK


def gjk() -> Playable:
    """Two polyhedra of a few vertices, apart."""
    a = ConvexHull([(0, 0, 0), (2, 0, 0), (0, 2, 0), (2, 2, 0), (1, 1, 2)])
    b = ConvexHull([(4, 1, 1), (6, 0, 1), (5, 3, 0), (5, 1, 3)])
    return pair("A pyramid and a tetrahedron, apart", a, b, "gjk", names=("Pyramid", "Tetrahedron"))


PLAYERS: dict[str, Callable[[], Playable]] = {
    "two_boxes": two_boxes,
    "gjk": gjk,
}
"""By the name that a chapter calls them."""
