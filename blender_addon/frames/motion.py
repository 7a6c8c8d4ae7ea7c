# SPDX-License-Identifier: GPL-3.0-or-later
"""How far things moved between two frames that were checked, compared with their size. Knows nothing of Blender."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.types import FloatArray, IntArray
from ..read.scene_objects import CheckInput, SceneObject
from ..scene.candidates import Bounds, bounds_of


@dataclass(frozen=True, eq=False)
class Sample:
    """The things of a scene at one frame."""

    frame: float
    given: CheckInput
    known_bounds: Bounds | None = None

    @cached_property
    def bounds(self) -> Bounds:
        """Of all objects."""
        return bounds_of(self.given.objects) if self.known_bounds is None else self.known_bounds


@dataclass(frozen=True, eq=False)
class FrameSteps:
    """The things that are there at two frames: of those that moved an element each, Blender units."""

    before: Sample
    now: Sample
    start: IntArray
    """By index at the second frame, of all things, the index at the first one; -1 of one that was not there."""
    moved: IntArray
    """(n,) indices of those that moved."""
    steps: FloatArray
    """(n, 3) how their fastest vertices moved."""
    distances: FloatArray
    """(n,) the lengths of these."""
    extents: FloatArray
    """(n,) the extents of the things along these directions, at the first frame."""


def steps_between(before: Sample, now: Sample) -> FrameSteps:
    """Return how things moved from one frame to another."""
    places = {item.key: k for k, item in enumerate(before.given.objects)}
    start = np.array([places.get(item.key, -1) for item in now.given.objects], dtype=np.intp)
    rows = []
    for k, earlier in enumerate(start.tolist()):
        if earlier < 0:
            continue
        first = before.given.objects[earlier]
        step = _step(first, now.given.objects[k])
        distance = math.hypot(*step.tolist())
        if distance > 0.0:
            rows.append((k, step, distance, float(extents_along(first, step / distance))))
    moved, steps, distances, extents = zip(*rows, strict=True) if rows else ((), np.zeros((0, 3)), (), ())
    return FrameSteps(
        before, now, start, np.array(moved, np.intp), np.array(steps), np.array(distances), np.array(extents)
    )


def extents_along(item: SceneObject, directions: FloatArray) -> FloatArray:
    """Return the extents of a thing along unit vectors (3,) or (3, n)."""
    extents: FloatArray = np.ptp(item.geometry.points @ (item.linear.T @ directions), axis=0)
    return extents


def motion(steps: FrameSteps | None) -> dict[str, Any]:
    """Return which thing moved farthest since the frame checked before, compared with its own extent, as plain data.

    Lengths are in Blender units: `distance` is that of its fastest vertex, `extent` that of the whole thing along the
    same direction; `extents` is how many of the latter the former is, None where the thing is flat. A thing that is
    only there at one of the two frames is not compared. steps: None at the first frame.
    """
    since = None if steps is None else steps.before.frame
    if steps is None or not len(steps.moved):
        return {"since_frame": since, "object": None, "distance": 0.0, "extent": None, "extents": 0.0}
    with np.errstate(divide="ignore"):
        extents = steps.distances / steps.extents
    k = int(extents.argmax())
    return {
        "since_frame": since,
        "object": steps.now.given.objects[int(steps.moved[k])].name,
        "distance": float(steps.distances[k]),
        "extent": float(steps.extents[k]),
        "extents": float(extents[k]) if np.isfinite(extents[k]) else None,
    }


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
