# SPDX-License-Identifier: GPL-3.0-or-later
"""The first gap on a straight path: how far a mesh has to be moved in a direction until it is out of another one.

What touches along the path, as a floor does under a table or a bore around a peg, is no hindrance: the path of the mesh
made thinner across it, by the contact tolerance, is tried, too. There a gap may have no length, as one that is filled.
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
    is_free: Callable[[float], bool],
    progress: Progress | None = None,
) -> float:
    """Return the length of the first translation along a unit vector `n` (3,) after which two meshes are disjoint, or
    would be if one were smaller by `band`, and `is_free` says so; `most` if no shorter one is found.

    Raise Cancelled when `progress` returns False.
    """
    room = 8.0 * MESH_APART * EPS * (max(a.mesh.magnitude, b.mesh.magnitude) + most)
    both_solid = a.solid and b.solid

    def is_apart(length: float) -> bool:
        # What is inside a mesh with small holes is not free, though it is disjoint.
        return are_disjoint(a, b.translated(length * n)) and (both_solid or is_free(length))

    found = _gap_of(a, b, n, most, room, is_apart, subrange(progress, 0.0, 0.5))
    if not (a.solid or b.solid):
        return found
    everywhere = band * np.eye(3)
    (thin_a, thin_b), (small_a, small_b) = (
        (a, _shrunk(b, by)) if b.solid else (_shrunk(a, by), b)
        for by in (everywhere - band * np.outer(n, n), everywhere)
    )

    def is_gap(length: float) -> bool:
        return are_disjoint(small_a, small_b.translated(length * n)) and is_free(length)

    length = _gap_of(thin_a, thin_b, n, found, -band, is_gap, subrange(progress, 0.5, 1.0))
    return length if length < found - _SLIDE * band else found


def _shrunk(body: Body, by: FloatArray) -> Body:
    """Return a solid whose points have moved inward, unit vectors turned to lengths by a matrix (3, 3)."""
    mesh = body.mesh
    p, q, r = mesh.points.take(mesh.triangles, axis=0).swapaxes(0, 1)
    normals = np.cross(q - p, r - p)
    at_points = np.stack(
        [np.bincount(mesh.triangles.ravel(), np.repeat(normals[:, axis], 3), len(mesh.points)) for axis in range(3)],
        axis=1,
    )
    lengths = np.linalg.norm(at_points, axis=1, keepdims=True)
    outward = body.outward * at_points / np.where(lengths > 0.0, lengths, 1.0)
    return Body(Mesh(mesh.points - outward @ by, mesh.triangles), True)


def _gap_of(
    a: Body,
    b: Body,
    n: FloatArray,
    most: float,
    least: float,
    is_gap: Callable[[float], bool],
    progress: Progress | None,
) -> float:
    """Return the first translation along n from which on the triangles of two meshes do not meet for at least this
    length, and which is a gap; `most` without one."""
    begin, step = 0.0, max(2.0 * grain(a.mesh), 2.0 * grain(b.mesh), _LEAST_STEP * most)
    while begin < most:
        report_progress(progress, begin, most)
        step = min(step, most - begin)
        gaps = step * gaps_between(a.mesh, b.mesh, begin * n, step * n, 2.0 * least / step)
        gaps = gaps[np.diff(gaps, append=np.inf) > -least]  # of many that are almost one the last
        for found in (begin + gaps + max(least, 0.0)).tolist():
            if is_gap(found):
                return min(found, most)
        begin, step = begin + step, 2.0 * step
    return most
