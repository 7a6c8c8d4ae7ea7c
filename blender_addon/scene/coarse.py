# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates that are too coarse for the size of an object, as far from the origin, and what is not known then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...core.types import BoolArray, FloatArray, IntArray
from ..data import messages
from ..data.records import Skipped
from ..geometry.collision_shape import RESOLUTION_STEPS, float32_steps
from ..read.scene_objects import SceneObject

TOO_COARSE = 1.0 / 6.0
"""Resolution of the coordinates, relative to the thickness of an object, above which an answer means little."""
FLAT = 1e-3
"""Relative to the longest side: a shorter one that is no more than rounding is not a thickness."""
MOST_NAMES = 3
"""So many objects are named in a sentence."""


def coarse_sides(objects: Sequence[SceneObject], pairs: IntArray, resolution: FloatArray) -> BoolArray:
    """Return of pairs (n, 2) which of their objects are too small for the resolution (n,) of the pair."""
    used, places = np.unique(pairs, return_inverse=True)
    thin = _thicknesses([objects[k] for k in used.tolist()])[places.reshape(-1, 2)]
    return resolution[:, None] > TOO_COARSE * thin


def resolutions(objects: Sequence[SceneObject], low: FloatArray, high: FloatArray, pairs: IntArray) -> FloatArray:
    """Return the resolution (n,) of the coordinates of pairs (n, 2); low, high: corners of the bounds of objects."""
    used, places = np.unique(pairs, return_inverse=True)
    matrices = np.reshape([objects[k].linear for k in used.tolist()], (-1, 3, 3))
    local = np.array([objects[k].geometry.magnitude for k in used.tolist()]) * np.linalg.norm(matrices, 2, axis=(1, 2))
    reach = np.maximum(np.abs(low[used]), np.abs(high[used])).max(axis=1, initial=0.0)
    steps = float32_steps(np.maximum(reach, local))
    return RESOLUTION_STEPS * steps[places.reshape(-1, 2)].max(axis=1, initial=0.0)


def entry(names: Sequence[str], resolution: float, words: Callable[[float], str]) -> Skipped:
    """Return what a check says of pairs that are not known because coordinates are too coarse.

    names: of the objects; resolution: the coarsest one; words: writes it.
    """
    name = ", ".join(names[:MOST_NAMES]) + messages.and_more(len(names) - MOST_NAMES)
    reason = messages.too_coarse(names, words(resolution), MOST_NAMES)
    return Skipped(name, reason, kind="coarse", objects=tuple(names), resolution=resolution)


def _thicknesses(objects: Sequence[SceneObject]) -> FloatArray:
    """Return the shortest side (n,) of the bounding box of each object in its own axes; infinite where it has none."""
    bounds = np.reshape([obj.geometry.bounds for obj in objects], (-1, 2, 3))
    scales = np.linalg.norm(np.reshape([obj.linear for obj in objects], (-1, 3, 3)), axis=1)
    sides = (bounds[:, 1] - bounds[:, 0]) * scales
    rounding = RESOLUTION_STEPS * float32_steps((np.abs(bounds).max(axis=1) * scales).max(axis=1, initial=0.0))
    flat = np.minimum(rounding, FLAT * sides.max(axis=1, initial=0.0))
    return np.where(sides > flat[:, None], sides, np.inf).min(axis=1, initial=np.inf)
