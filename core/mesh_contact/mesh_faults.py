# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a mesh that the user should know about, as text."""

from __future__ import annotations

import numpy as np

from ..meshes.body import Body
from ..meshes.crossings import Meeting
from ..meshes.mesh import Mesh
from ..meshes.triangle_pairs import self_crossings
from ..progress import Progress


def mesh_faults(given: Mesh, body: Body, crossings: bool, progress: Progress | None) -> list[str]:
    """Return a description of each fault of a mesh; that it crosses itself only where it is asked for.

    They are those of the original, found once for all meshes transformed from it.
    """
    original, known = given.original, given.known
    if original is not given and not {"faults", "own crossings"} <= known.keys():
        body = Body.of(original)
    if "faults" not in known:
        known["faults"] = tuple(_faults(original, body))
    words = list(known["faults"])
    if crossings:
        if "own crossings" not in known:
            known["own crossings"] = _own_crossings(body.mesh, progress)
        if count := known["own crossings"]:
            words.append(f"crosses itself in {count} pair{'s' if count != 1 else ''} of triangles")
    return words


def _faults(given: Mesh, body: Body) -> list[str]:
    """Return the faults of a mesh but that it crosses itself."""
    words = []
    mesh = body.mesh
    if mesh is not given and body.mesh.is_closed:
        words.append("closed after merging points in the same place")
    if not mesh.is_closed:
        reasons = [
            f"{len(edges)} {one if len(edges) == 1 else many}"
            for edges, one, many in (
                (mesh.boundary_edges, "open edge", "open edges"),
                (mesh.nonmanifold_edges, "edge with more than two faces", "edges with more than two faces"),
                (
                    mesh.flipped_edges,
                    "edge between faces with opposite normals",
                    "edges between faces with opposite normals",
                ),
            )
            if len(edges)
        ]
        words.append(f"not closed ({', '.join(reasons) or 'no face has edges'}), so only its surface collides")
    elif not body.solid:
        words.append("closed, but it encloses no volume, so only its surface collides")
    for faces, one, many in (
        (mesh.duplicate_faces, "duplicate face", "duplicate faces"),
        (mesh.degenerate_faces, "triangle has no area", "triangles have no area"),
    ):
        if len(faces):
            words.append(f"{len(faces)} {one if len(faces) == 1 else many}")
    return words


def _own_crossings(mesh: Mesh, progress: Progress | None) -> int:
    """Return the number of crossing or overlapping pairs of a mesh's triangles.

    Triangles without area are ignored: very often they only touch.
    """
    if len(mesh.degenerate_faces) == len(mesh.triangles):
        return 0
    if len(mesh.degenerate_faces):
        mesh = Mesh(mesh.points, np.delete(mesh.triangles, mesh.degenerate_faces, axis=0))
    # Duplicate points are not crossings.
    itself = self_crossings(mesh.welded() if len(mesh.boundary_edges) else mesh, progress)
    return len(itself.of_kind(Meeting.CROSSING)) + len(itself.of_kind(Meeting.COPLANAR))
