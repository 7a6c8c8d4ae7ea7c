# SPDX-License-Identifier: GPL-3.0-or-later
"""The first gap on a straight path: how far a mesh has to be moved in a direction until it is out of another one.

What touches along the path, as a floor does under a table or a bore around a peg, is no hindrance: the path of the mesh
made thinner across it, by the contact tolerance, is tried, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..tolerance import EPS, MESH_APART
from ..types import FloatArray
from .body import Body, are_disjoint
from .mesh import Mesh
from .mesh_sweep import gaps_between, grain

_SLIDE = 10.0
"""Times the tolerance: the path of the thinner mesh that is shorter by no more only leaves sooner, along a slope."""
_LEAST_STEP = 2.0**-20
"""Times the longest path: the first part of it that is swept, where the triangles are smaller still."""


def first_gap(
    a: Body,
    b: Body,
    n: FloatArray,
    most: float,
    band: float,
    is_free: Callable[[float], bool] | None,
    progress: Progress | None = None,
) -> float:
    """Return the length of the first translation along a unit vector `n` (3,) after which two meshes are disjoint;
    `most` if no shorter one is found.

    is_free: whether they are no deeper than `band` after a translation: then that is enough where they would be
    disjoint, or touch at both ends of a gap that they fill, if one were thinner by `band` across the path. None: they
    need only be disjoint if one were.

    Raise Cancelled when `progress` returns False.
    """
    room = 8.0 * MESH_APART * EPS * (max(a.mesh.magnitude, b.mesh.magnitude) + most)
    found = _gap_of(a, b, n, most, room, None, subrange(progress, 0.0, 0.5))
    if not (a.solid or b.solid):
        return found
    thinner = (a, _thinner(b, n, band)) if b.solid else (_thinner(a, n, band), b)
    least = room if is_free is None else -band
    length = _gap_of(*thinner, n, found, least, is_free, subrange(progress, 0.5, 1.0))
    return length if length < found - _SLIDE * band else found


def _thinner(body: Body, n: FloatArray, by: float) -> Body:
    """Return a solid whose points have moved inward across `n`, by no more than a length."""
    mesh = body.mesh
    p, q, r = mesh.points.take(mesh.triangles, axis=0).swapaxes(0, 1)
    normals = np.cross(q - p, r - p)
    at_points = np.stack(
        [np.bincount(mesh.triangles.ravel(), np.repeat(normals[:, axis], 3), len(mesh.points)) for axis in range(3)],
        axis=1,
    )
    lengths = np.linalg.norm(at_points, axis=1, keepdims=True)
    outward = body.outward * at_points / np.where(lengths > 0.0, lengths, 1.0)
    across = outward - np.outer(outward @ n, n)
    return Body(Mesh(mesh.points - by * across, mesh.triangles), True)


def _gap_of(
    a: Body,
    b: Body,
    n: FloatArray,
    most: float,
    least: float,
    is_free: Callable[[float], bool] | None,
    progress: Progress | None,
) -> float:
    """Return the first translation along n that begins a gap of at least this length, in which meshes are disjoint,
    unless `is_free` is what decides; `most` without one."""
    begin, step = 0.0, max(2.0 * grain(a.mesh), 2.0 * grain(b.mesh), _LEAST_STEP * most)
    while begin < most:
        report_progress(progress, begin, most)
        step = min(step, most - begin)
        for fraction in gaps_between(a.mesh, b.mesh, begin * n, step * n, 2.0 * least / step).tolist():
            found = begin + fraction * step + max(least, 0.0)
            if are_disjoint(a, b.translated(found * n)) if is_free is None else is_free(found):
                return min(found, most)
        begin, step = begin + step, 2.0 * step
    return most
