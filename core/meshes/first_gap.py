# SPDX-License-Identifier: GPL-3.0-or-later
"""The first gap on a straight path: how far a mesh has to be moved in a direction until it is out of another one.

What touches along the path, as a floor does under a table, is no hindrance: paths beside it, as far as the contact
tolerance, are tried, too.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from ..progress import Progress, equal_parts, report_progress
from ..tolerance import EPS, MESH_APART
from ..types import FloatArray
from .body import Body, are_disjoint
from .mesh_sweep import gaps_between, grain

_BESIDE = [(cos((k + 0.25) * pi / 2.0), sin((k + 0.25) * pi / 2.0)) for k in range(4)]
"""Directions across the path; one of them leaves a floor, or a floor and a wall, that are parallel to the axes."""
_SLIDE = 10.0
"""Times the tolerance: a path beside it that is shorter by no more only leaves a little sooner, along a slope."""
_LEAST_STEP = 2.0**-20
"""Times the longest path: the first part of it that is swept, where the triangles are smaller still."""


def first_gap(a: Body, b: Body, n: FloatArray, most: float, band: float, progress: Progress | None = None) -> float:
    """Return the length of the first translation along a unit vector `n` (3,) after which two meshes are disjoint, or
    are when B is moved by `band` across it, too; `most` if no shorter one is found.

    Raise Cancelled when `progress` returns False.
    """
    axes = np.eye(3)[np.argsort(np.abs(n), kind="stable")[:2]]
    across = np.linalg.qr(np.array([n, *axes]).T)[0].T[1:]
    starts = [np.zeros(3), *(band * (np.array(beside) @ across) for beside in _BESIDE)]
    found = most
    for start, part in equal_parts(starts, progress):
        length = _gap_from(a, b, start, n, found, part)
        if not start.any() or length < found - _SLIDE * band:
            found = length
    return found


def _gap_from(a: Body, b: Body, start: FloatArray, n: FloatArray, most: float, progress: Progress | None) -> float:
    """Return the first translation from `start` along n after which meshes are disjoint, `most` without one."""
    room = 4.0 * MESH_APART * EPS * (max(a.mesh.magnitude, b.mesh.magnitude) + most)
    begin, step = 0.0, max(2.0 * grain(a.mesh), 2.0 * grain(b.mesh), _LEAST_STEP * most)
    while begin < most:
        report_progress(progress, begin, most)
        step = min(step, most - begin)
        for fraction in gaps_between(a.mesh, b.mesh, start + begin * n, step * n, 4.0 * room / step).tolist():
            found = begin + fraction * step + 2.0 * room
            if are_disjoint(a, b.translated(start + found * n)):
                return min(found, most)
        begin, step = begin + step, 2.0 * step
    return most
