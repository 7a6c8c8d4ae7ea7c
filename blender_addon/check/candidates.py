# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of a scene may collide: bounds of all things, and the broad phase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.broad_phase.candidate_pairs import candidate_pairs
from ...core.progress import Progress, report_progress
from ...core.tolerance import PIECES_OUT
from ...core.types import FloatArray
from ..read.collision_shape import COMPOUND, CONVEX_HULL, PRIMITIVES, WORDS
from ..read.collision_solid import RESOLUTION_STEPS
from ..read.scene_objects import Item, Subject, by_geometry
from ..read.world_shape import Ready

NUMBERS = 2_000_000
"""Coordinates that are transformed at once."""
MANY = 1000
"""Things of one geometry from which on its hull, which has fewer vertices, pays for their bounds."""
LARGEST = float(np.finfo(np.float32).max)
"""What a coordinate may be at most; Blender itself holds no larger one."""


def bounds_of(items: Sequence[Item], progress: Progress | None = None) -> tuple[FloatArray, FloatArray, dict[int, str]]:
    """Return the corners low and high (n, 3) of what the items collide as, and why some cannot be told, by number.

    Those of vertices: most things of a scene have nothing near, and no hull is made of them, but one where there are
    many of one geometry. Raises Cancelled when `progress` says so.
    """
    low, high = np.zeros((len(items), 3)), np.zeros((len(items), 3))
    problems: dict[int, str] = {}
    groups = by_geometry(items)
    before = np.cumsum([0, *(len(geometry.points) * len(members) for geometry, members in groups.items())])
    total = max(int(before[-1]), 1)
    for (geometry, members), done in zip(groups.items(), before.tolist(), strict=False):
        report_progress(progress, done, total)
        plain = [k for k in members if items[k].choice.kind not in PRIMITIVES and not items[k].parts]
        hull_is_known = "hull" in vars(geometry)  # asked without making it
        corners = (geometry.hull.vertices if hull_is_known or len(plain) >= MANY else geometry.points).T
        step = max(1, NUMBERS // max(corners.size, 1))
        for begin in range(0, len(plain), step):
            report_progress(progress, done + begin * len(geometry.points), total)
            some = plain[begin : begin + step]
            placed = np.stack([items[k].linear for k in some]) @ corners
            moved = np.stack([items[k].translation for k in some])
            low[some], high[some] = placed.min(axis=2) + moved, placed.max(axis=2) + moved
        for k in plain:
            if len(geometry.triangles) == 0 and items[k].kind != CONVEX_HULL:
                problems[k] = f"has no faces: a {WORDS[items[k].kind]} is made of them"
            if items[k].choice.kind == COMPOUND:
                diagonal = float(np.linalg.norm(np.subtract(*geometry.bounds)))
                room = PIECES_OUT * diagonal * float(np.linalg.norm(items[k].linear, 2))
                low[k], high[k] = low[k] - room, high[k] + room
        for k in set(members) - set(plain):
            try:
                low[k], high[k] = _bounds_of_one(items[k])
            except ValueError as error:
                problems[k] = str(error)
    for k in np.flatnonzero(~(np.abs([low, high]) <= LARGEST).all(axis=(0, 2))).tolist():
        low[k] = high[k] = 0.0
        problems[k] = f"is too large or too far away: it reaches beyond {LARGEST:.1e} Blender units"
    return low, high, problems


def _bounds_of_one(item: Item) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of a primitive or of a compound parent. Raises ValueError, the end of a sentence about it."""
    if not item.parts:
        return Ready(item).solid.bounds
    low, high, problems = bounds_of(item.parts)
    for k, why in problems.items():
        raise ValueError(f"cannot be checked: its part '{item.parts[k].name}' {why}")
    return low.min(axis=0), high.max(axis=0)


def candidates(
    subject: Subject, low: FloatArray, high: FloatArray, without: set[int], progress: Progress | None
) -> list[tuple[int, int]]:
    """Return the pairs that may collide: the first side's item first, or of all against all the earlier one."""
    # Touching has a width. It is that of the smaller one, so half of each one's own is enough.
    extent = np.linalg.norm(high - low, axis=1)
    largest = np.maximum(np.abs(low), np.abs(high)).max(axis=1).astype(np.float32)
    band = np.maximum(subject.contact_tolerance * extent, 2.0 * RESOLUTION_STEPS * np.spacing(largest))
    low, high = low - band[:, None], high + band[:, None]
    first = np.array([k for k in subject.first if k not in without], dtype=np.intp)
    if subject.other is None:
        found = candidate_pairs(low[first], high[first], margin=subject.clearance, progress=progress).pairs
        return [(int(i), int(j)) for i, j in first[found].tolist()]
    other = np.array([k for k in subject.other if k not in without], dtype=np.intp)
    found = candidate_pairs(
        low[first], high[first], low[other], high[other], margin=subject.clearance, progress=progress
    ).pairs
    told: dict[frozenset[int], tuple[int, int]] = {}
    for i, j in zip(first[found[:, 0]].tolist(), other[found[:, 1]].tolist(), strict=True):
        if i != j:  # things may be on both sides
            told.setdefault(frozenset((i, j)), (i, j))
    return list(told.values())
