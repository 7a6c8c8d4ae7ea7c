# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a contact region: the two support features, each cut of one by a side of the other, the result."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from ..trace import RegionStage, RegionStep, Vector
from ..types import FloatArray
from .clip import Left, is_clipped_by_upper
from .outline import OutlinePoint


def region_steps(
    lower: list[OutlinePoint],
    upper: list[OutlinePoint],
    is_lower_a: bool,
    cuts: list[Left],
    vertices: FloatArray,
    normal: FloatArray,
    plane: tuple[FloatArray, FloatArray],
) -> list[RegionStep]:
    """Return the steps.

    Args:
        lower, upper: the outlines of the two features.
        is_lower_a: whether the lower one is A's.
        cuts: what `intersection` recorded.
        vertices: (k, dim) of the region.
        normal: (dim,) from A to B.
        plane: a point (dim,) of the contact plane and its two axes (2, dim).
    """
    origin, axes = plane
    feature_a, feature_b = (
        tuple(point[3] for point in outline) for outline in ((lower, upper) if is_lower_a else (upper, lower))
    )
    by_upper = is_clipped_by_upper(lower, upper)
    clip = upper if by_upper else lower

    def world(corners: list[tuple[float, float]]) -> tuple[Vector, ...]:
        return tuple(tuple(point) for point in (origin + np.array(corners).reshape(-1, 2) @ axes).tolist())

    def step(
        stage: RegionStage,
        kept: tuple[Vector, ...] = (),
        cut: tuple[Vector, ...] = (),
        side: tuple[int, int] | None = None,
        side_of: Literal["", "a", "b"] = "",
    ) -> RegionStep:
        along, point = tuple(normal.tolist()), tuple(origin.tolist())
        return RegionStep(None, None, stage, feature_a, feature_b, along, point, side, side_of, kept, cut)

    steps = [step("features")]
    for (line, before), (_, after) in pairwise(cuts):
        first = line >> 1
        second = (first + line % 2) % len(clip)
        gone = world([corner for corner in before if corner not in after])
        steps.append(
            step("clip", world(after), gone, (clip[first][3], clip[second][3]), "a" if by_upper != is_lower_a else "b")
        )
    result = tuple(tuple(vertex) for vertex in vertices.tolist())
    if not cuts:
        steps.append(step("clip", result))
    return [*steps, step("result", result)]
