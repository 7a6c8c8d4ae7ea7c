# SPDX-License-Identifier: GPL-3.0-or-later
"""The shells of a closed mesh: its parts that are connected by edges, and which side of each is inside."""

from __future__ import annotations

import numpy as np

from ..connected import connected_parts
from ..types import IntArray
from .body import Body
from .mesh import Mesh
from .winding import winding_numbers

_ASKED = 8
"""Corners of a shell whose winding numbers tell what is around it."""


def outward_shells(body: Body) -> Mesh | None:
    """Return the mesh of the shells of a body that have its inside on one side, each wound outward; None where several
    are in one place."""
    mesh = body.mesh
    if mesh.times is not None:
        if np.setdiff1d(np.flatnonzero(mesh.times > 1), mesh.degenerate_faces).size or body.given is None:
            return None
        # Copies of triangles without area only: all of them are needed, for the edges.
        mesh = body.given if body.given.is_closed else body.given.with_common_corners
    shell = _edge_parts(mesh)
    firsts = np.unique(shell)
    if len(firsts) == 1:
        return mesh if mesh.volume > 0.0 else Mesh(mesh.points, mesh.triangles[:, ::-1])
    order = np.argsort(shell, kind="stable")
    begins = np.searchsorted(shell[order], firsts)
    counts = np.diff(np.append(begins, len(order)))
    steps = (np.arange(_ASKED)[:, None] * counts // _ASKED) + begins
    corners = mesh.triangles[order[steps], 0]
    numbers = winding_numbers(mesh.points.take(corners.ravel(), axis=0), mesh).numbers.reshape(corners.shape)
    # At a corner of a shell the number is between those of both of its sides; where shells touch, it is not.
    before = np.sort(np.floor(numbers), axis=0)[_ASKED // 2]
    outward = (np.abs(before + 1.0) > 0.5).astype(np.intp) - (np.abs(before) > 0.5)
    times = outward[np.searchsorted(firsts, shell)]
    if (times == 1).all():
        return mesh
    triangles = np.where(times[:, None] < 0, mesh.triangles[:, ::-1], mesh.triangles)
    return Mesh(mesh.points, triangles[times != 0])


def _edge_parts(mesh: Mesh) -> IntArray:
    """Return (m,) the first triangle of the part that each triangle is connected with by edges, of a closed mesh."""
    starts, ends = mesh.triangles.ravel(), np.roll(mesh.triangles, -1, axis=1).ravel()
    order = np.argsort(np.minimum(starts, ends) * len(mesh.points) + np.maximum(starts, ends), kind="stable")
    return connected_parts(order.reshape(-1, 2) // 3, len(mesh.triangles))
