# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane that a part of a surface is cut by: of many, the one that leaves its two sides least concave."""

from __future__ import annotations

import numpy as np

from ..types import FloatArray, IntArray
from .main_axes import FACES, grid_axes, inertia_axes, one_of_opposites, unit_normals
from .sampled_part import SampledPart, SampledRoom, depths_under, rows_between
from .solid_grid import Float32Array

_DEEP_AXES = grid_axes(1)
_ACROSS = 12
"""Cuts across an axis."""
_MOST_OUTSIDE = 6000
"""Samples of the room outside that cuts are scored by."""
_COARSE = 4
"""Of so many samples one is tested first."""
_FINE = 12
"""Planes that are tested on all samples."""
_STEPS = 64.0, 256.0
"""Normals and offsets in the same steps of these fractions are one plane."""
_MARGIN = 1e-3
"""Times the extent: what a cut takes off is at least as thick."""

_Planes = list[tuple[FloatArray, list[float]]]
"""Unit normals, and for each the offsets of planes."""


def best_plane(part: SampledPart, room: SampledRoom) -> tuple[FloatArray, float] | None:
    """Return normal and offset, in the frame of the room, of the plane to cut a part by; None where there is none."""
    scores = _scores(part, room, _axis_planes(part, room) + _face_planes(part, room), _COARSE)
    best = np.argsort([score for score, _, _ in scores], kind="stable")[:_FINE].tolist()
    scores = _scores(part, room, [(normal, [offset]) for _, normal, offset in (scores[k] for k in best)], 1)
    if not scores:
        return None
    _, normal, offset = min(scores, key=lambda item: item[0])
    return normal, offset


def _axis_planes(part: SampledPart, room: SampledRoom) -> _Planes:
    """Return planes across the axes of the mesh and of the part, and through the deepest places."""
    places = [part.points[int(part.depths.argmax())]]
    if len(part.outside):
        places.append(room.points[part.outside[int(room.distances[part.outside].argmax())]])
    fractions = (np.arange(_ACROSS) + 1.0) / (_ACROSS + 1.0)
    planes: _Planes = []
    for axis in np.concatenate([np.eye(3), inertia_axes(part.points)]):
        h = part.points @ axis
        low, high = float(h.min()), float(h.max())
        planes.append((axis, (low + fractions * (high - low)).tolist() + [float(place @ axis) for place in places]))
    return planes + [(axis, [float(place @ axis) for place in places]) for axis in _DEEP_AXES]


def _face_planes(part: SampledPart, room: SampledRoom) -> _Planes:
    """Return the planes of the largest faces."""
    points, triangles = room.local(part.surface.points), part.surface.triangles
    normals, areas, has_area = unit_normals(points, triangles)
    offsets = (normals * points[triangles[has_area, 0]]).sum(axis=1)
    steps = np.rint(np.concatenate([normals * _STEPS[0], offsets[:, None] * _STEPS[1]], axis=1))
    _, first, group = np.unique(steps * one_of_opposites(steps), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(-np.bincount(group.ravel(), weights=areas), kind="stable")[:FACES]
    return [(normals[k], [float(offsets[k])]) for k in first[order].tolist()]


def _scores(part: SampledPart, room: SampledRoom, planes: _Planes, step: int) -> list[tuple[float, FloatArray, float]]:
    """Return how concave the two sides of planes are, by every `step`-th sample, with the planes."""
    outside = part.outside
    if len(outside) > _MOST_OUTSIDE:
        outside = outside[np.linspace(0, len(outside) - 1, _MOST_OUTSIDE).astype(np.intp)]
    outside = outside[::step]
    points, heights, between = part.points[::step], part.heights[:, ::step], part.between[::step]
    rooms, room_heights, distances = room.points[outside], room.heights[:, outside], room.distances[outside]
    first, second = part.points[part.first[::step]], part.points[part.second[::step]]
    found = []
    for normal, offsets in planes:
        h, g = points @ normal, rooms @ normal
        order, room_order = np.argsort(h, kind="stable"), np.argsort(g, kind="stable")
        h, g = h[order], g[room_order]
        samples = heights.take(order, axis=1), room_heights.take(room_order, axis=1), distances[room_order]
        a, b = first @ normal, second @ normal
        lower, upper = np.minimum(a, b), np.maximum(a, b)
        for offset in offsets:
            if h[0] + _MARGIN < offset < h[-1] - _MARGIN:
                filled, concavity = _score(samples, h - offset, g - offset)
                on_one_side = (lower >= offset) | (upper <= offset)
                concavity = max(concavity, float(between[on_one_side].max(initial=0.0)))
                score = (filled + 1.0) / (len(outside) + 1.0) + concavity / part.concavity
                found.append((score, normal, offset))
    return found


def _score(samples: tuple[Float32Array, Float32Array, Float32Array], h: FloatArray, g: FloatArray) -> tuple[int, float]:
    """Return how many samples of the room the sides of a plane contain, and how concave they are.

    samples: of the surface in the order of their heights `h` above the plane, and of the room in that of `g`.
    """
    heights, rooms, distances = samples
    k, r = int(np.searchsorted(h, 0.0)), int(np.searchsorted(g, 0.0))
    count, concavity = 0, 0.0
    for own, near in ((slice(k), slice(r)), (slice(k, None), slice(r, None))):
        top, bottom = heights[:, own].max(axis=1), heights[:, own].min(axis=1)
        depths = np.minimum(depths_under(heights[:, own], top, bottom), np.abs(h[own]))
        inside: IntArray = rows_between(rooms[:, near], np.arange(rooms[:, near].shape[1]), top, bottom)
        count += len(inside)
        concavity = max(concavity, float(depths.max()), float(distances[near][inside].max(initial=0.0)))
    return count, concavity
