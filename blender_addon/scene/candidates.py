# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of a scene that may collide: the bounds of all objects, and the broad phase."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ...core.broad_phase.candidate_pairs import candidate_pairs
from ...core.progress import Progress, equal_parts, report_progress
from ...core.tolerance import PIECES_OUT
from ...core.types import FloatArray, IntArray
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL, PRIMITIVES, WORDS
from ..data.records import Rules
from ..geometry.collision_shape import RESOLUTION_STEPS
from ..pair.margins import Margins
from ..read.scene_objects import CheckInput, SceneObject, by_geometry
from ..read.world_shape import WorldShape

NUMBERS = 2_000_000
"""Coordinates that are transformed at once."""
MANY = 1000
"""Objects of one geometry from which on its hull, which has fewer vertices, pays for their bounds."""
LARGEST = float(np.finfo(np.float32).max)
"""The largest coordinate; Blender itself stores no larger one."""
Bounds = tuple[FloatArray, FloatArray, dict[int, str]]
"""The corners low and high (n, 3) of collision shapes, and by index why some are not known."""


def bounds_of(objects: Sequence[SceneObject], progress: Progress | None = None) -> Bounds:
    """Return the bounds of collision shapes.

    Those of vertices: most objects of a scene have nothing near, and no hull is made for them, but one where there are
    many of one geometry. Raises Cancelled.
    """
    low, high = np.zeros((len(objects), 3)), np.zeros((len(objects), 3))
    problems: dict[int, str] = {}
    groups = by_geometry(objects)
    before = np.cumsum([0, *(len(geometry.points) * len(members) for geometry, members in groups.items())])
    total = max(int(before[-1]), 1)
    for (geometry, members), done in zip(groups.items(), before.tolist(), strict=False):
        report_progress(progress, done, total)
        plain = [k for k in members if objects[k].choice.kind not in PRIMITIVES and not objects[k].parts]
        corners = (geometry.hull.vertices if geometry.has_hull or len(plain) >= MANY else geometry.points).T
        step = max(1, NUMBERS // max(corners.size, 1))
        for begin in range(0, len(plain), step):
            report_progress(progress, done + begin * len(geometry.points), total)
            chunk = plain[begin : begin + step]
            placed = np.stack([objects[k].linear for k in chunk]) @ corners
            offsets = np.stack([objects[k].translation for k in chunk])
            low[chunk], high[chunk] = placed.min(axis=2) + offsets, placed.max(axis=2) + offsets
        for k in plain:
            if len(geometry.triangles) == 0 and objects[k].kind != CONVEX_HULL:
                problems[k] = messages.no_faces(WORDS[objects[k].kind])
            if objects[k].choice.kind == COMPOUND:
                diagonal = float(np.linalg.norm(np.subtract(*geometry.bounds)))
                room = PIECES_OUT * diagonal * float(np.linalg.norm(objects[k].linear, 2))
                low[k], high[k] = low[k] - room, high[k] + room
        for k in set(members) - set(plain):
            try:
                low[k], high[k] = _single_bounds(objects[k])
            except ValueError as error:
                problems[k] = str(error)
    for k in np.flatnonzero(~(np.abs([low, high]) <= LARGEST).all(axis=(0, 2))).tolist():
        low[k] = high[k] = 0.0
        problems[k] = f"is too large or too far away: it extends beyond {LARGEST:.1e} Blender units"
    return low, high, problems


def _single_bounds(obj: SceneObject) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of a primitive or of a compound parent. Raises ValueError, the end of a sentence about it."""
    if not obj.parts:
        return WorldShape(obj).solid.bounds
    low, high, problems = bounds_of(obj.parts)
    for k, reason in problems.items():
        raise ValueError(messages.bad_part(obj.parts[k].name, reason))
    return low.min(axis=0), high.max(axis=0)


def candidates(
    given: CheckInput,
    low: FloatArray,
    high: FloatArray,
    without: set[int],
    margins: Margins,
    progress: Progress | None,
) -> IntArray:
    """Return the pairs (n, 2) that may collide or be within their margins, each once: the object of the first side
    first, or the earlier one."""
    # Touching has a width. It is that of the smaller one, so half of each one's own is enough.
    band = touching_bands(given.rules, low, high)
    low, high = low - band[:, None], high + band[:, None]
    if not margins.of_objects.any():
        return _near(given, low, high, without, progress)
    room = margins.of_objects[:, None]
    pairs = _near(given, low - room, high + room, without, progress)
    a, b = pairs.T
    gaps = np.maximum(low[b] - high[a], low[a] - high[b]).max(axis=1)
    return pairs[gaps <= np.maximum(given.rules.clearance, margins.most(pairs))]


def _near(
    given: CheckInput, low: FloatArray, high: FloatArray, without: set[int], progress: Progress | None
) -> IntArray:
    """Return the pairs (n, 2) of each scope whose boxes, low and high (n, 3), are within the clearance."""
    of_scopes = []
    for scope, part in equal_parts(given.scopes, progress):
        first, other = (np.array([k for k in side if k not in without], dtype=np.intp) for side in scope.sides)
        if scope.other is None:
            found = candidate_pairs(low[first], high[first], margin=given.rules.clearance, progress=part).pairs
            return first[found]  # there is no other scope
        found = candidate_pairs(
            low[first], high[first], low[other], high[other], margin=given.rules.clearance, progress=part
        ).pairs
        of_scopes.append(np.stack([first[found[:, 0]], other[found[:, 1]]], axis=1))
    pairs = np.concatenate(of_scopes)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # objects may be on both sides
    _, places = np.unique(np.sort(pairs, axis=1) @ [len(low), 1], return_index=True)
    pairs = pairs[np.sort(places)]
    if given.ordered:
        keys = [obj.key for obj in given.objects]
        is_turned = np.array([(keys[b], keys[a]) in given.ordered for a, b in pairs.tolist()], dtype=bool)
        pairs[is_turned] = pairs[is_turned, ::-1]
    return pairs


def touching_bands(rules: Rules, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the width (n,) within which each object touches one that is larger; low, high: corners of its bounds."""
    largest = np.maximum(np.abs(low), np.abs(high)).max(axis=1).astype(np.float32)
    tolerance = rules.contact_tolerance * np.linalg.norm(high - low, axis=1)
    band: FloatArray = np.maximum(tolerance, 2.0 * RESOLUTION_STEPS * np.spacing(largest))
    return band


def digest_of(objects: Sequence[SceneObject], shards: Sequence[IntArray]) -> str:
    """Return a digest of the objects by name, and of the pairs (n, 2) of them in each shard.

    Machines whose coordinates differ in the last digits may find other pairs, or cut them elsewhere.
    """
    digest = hashlib.sha256("\0".join(obj.name for obj in objects).encode("utf-8", "surrogatepass"))
    for pairs in shards:
        digest.update(b"\0%d\0" % len(pairs) + np.ascontiguousarray(pairs, dtype="<i8").tobytes())
    return digest.hexdigest()
