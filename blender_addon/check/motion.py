# SPDX-License-Identifier: GPL-3.0-or-later
"""How far things moved between two frames that were checked, compared with their size. Knows nothing of Blender."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.types import FloatArray
from ..read.scene_objects import SceneObject


class Sample(NamedTuple):
    """The things of a scene at one frame."""

    frame: float
    objects: Sequence[SceneObject]


def motion(before: Sample | None, now: Sample) -> dict[str, Any]:
    """Return which thing moved farthest since the frame checked before, compared with its own extent, as plain data.

    Lengths are in Blender units: `distance` is that of its fastest vertex, `extent` that of the whole thing along the
    same direction; `extents` is how many of the latter the former is, None where the thing is flat. A thing that is
    only there at one of the two frames is not compared.
    """
    fastest: dict[str, Any] = {"object": None, "distance": 0.0, "extent": None, "extents": 0.0}
    most = 0.0
    known = {item.key: item for item in before.objects} if before is not None else {}
    for item in now.objects:
        start = known.get(item.key)
        if start is None:
            continue
        step = _step(start, item)
        distance = math.hypot(*step.tolist())
        if distance == 0.0:
            continue
        extent = float(np.ptp(start.geometry.points @ (start.linear.T @ (step / distance))))
        extents = distance / extent if extent > 0.0 else math.inf
        if extents > most:
            most = extents
            finite = extents if math.isfinite(extents) else None
            fastest = {"object": item.name, "distance": distance, "extent": extent, "extents": finite}
    return {"since_frame": None if before is None else before.frame, **fastest}


def _step(before: SceneObject, now: SceneObject) -> FloatArray:
    """Return (3,) how the fastest vertex moved, world space."""
    if before.geometry is now.geometry:
        turned, step = now.linear - before.linear, now.translation - before.translation
        if not turned.any():
            return step
        steps = now.geometry.points @ turned.T + step
    elif before.geometry.points.shape == now.geometry.points.shape:
        steps = now.points - before.points
    else:  # vertices cannot be told apart: the corners of the bounds
        ends = [(points.min(axis=0), points.max(axis=0)) for points in (before.points, now.points)]
        steps = np.array(ends[1]) - np.array(ends[0])
    return steps[np.einsum("ij,ij->i", steps, steps).argmax()]
