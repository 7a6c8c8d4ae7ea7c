# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a mesh that the user should know about, as text."""

from __future__ import annotations

from math import floor, log10

import numpy as np

from ..meshes.body import Body
from ..meshes.copies import few_in_one_place
from ..meshes.crossings import Meeting
from ..meshes.joined import closing_links, joined, longest
from ..meshes.mesh import Mesh
from ..meshes.triangle_pairs import self_crossings
from ..note import Note
from ..progress import Progress
from ..shapes.shape import counted

_MOST_IN_ONE_PLACE = 32
"""Triangles, of which the crossings are counted: their pairs grow as the square."""


def mesh_faults(given: Mesh, crossings: bool, progress: Progress | None) -> list[Note]:
    """Return a description of each fault of a mesh; that it crosses itself only where it is asked for.

    They are those of the original, found once for all meshes transformed from it; lengths are those of the mesh.
    """
    known = given.known
    if "faults" not in known:
        known["faults"] = tuple(_faults(given.original))
    notes = [*map(Note, known["faults"]), *_slits(given)]
    if crossings:
        count, is_all = own_crossings(given, progress)
        if count:
            least = "" if is_all else "at least "
            notes.append(Note(f"crosses itself in {least}{counted(count, 'pair', 'pairs')} of triangles"))
    return notes


def own_crossings(given: Mesh, progress: Progress | None = None) -> tuple[int, bool]:
    """Return the number of crossing or overlapping pairs of a mesh's triangles, found once for all poses, and whether
    it is that of all: of very many in nearly one place only some are looked at."""
    known = given.known
    if "own crossings" not in known:
        known["own crossings"] = _own_crossings(joined(given.original).surface, progress)
    found: tuple[int, bool] = known["own crossings"]
    return found


def _slits(given: Mesh) -> list[Note]:
    """Return what closes a mesh, or would."""
    found = joined(given)
    if found.edges:
        edges = counted(found.edges, "open edge", "open edges")
        return [Note(f"closed after joining {edges} at corners up to {{}} apart", (found.slit,))]
    links = None if found.is_closed else closing_links(given)
    if links is None:
        return []
    words = "Mesh.welded({}) would close it (in Blender: Merge by Distance)"
    return [Note(words, (_rounded_up(longest(given.points, links)),))]


def _rounded_up(length: float) -> float:
    """Return a length with three digits that is no shorter."""
    digits = 2 - floor(log10(length))
    return next(found for k in (0, 1) if (found := round(length + k * 10.0**-digits, digits)) >= length)


def _faults(given: Mesh) -> list[str]:
    """Return the faults of an original but that it crosses itself."""
    words = []
    found = joined(given)
    if found.is_welded and not found.edges:
        words.append("closed after merging points in the same place")
    if not found.is_closed:
        reasons = [
            counted(len(edges), one, many)
            for edges, one, many in (
                (given.boundary_edges, "open edge", "open edges"),
                (given.nonmanifold_edges, "edge with more than two faces", "edges with more than two faces"),
                (
                    given.flipped_edges,
                    "edge between faces with opposite normals",
                    "edges between faces with opposite normals",
                ),
            )
            if len(edges)
        ]
        words.append(f"not closed ({', '.join(reasons) or 'no face has edges'}), so only its surface collides")
    elif not Body.of(given).solid:
        words.append("closed, but it encloses no volume, so only its surface collides")
    by_place = found.is_welded or given.first_copies is not None
    duplicates = (given.named(given.welded_ids) if by_place else given).duplicate_faces
    for faces, one, many in (
        (duplicates, "duplicate face", "duplicate faces"),
        (given.degenerate_faces, "triangle has no area", "triangles have no area"),
    ):
        if len(faces):
            words.append(counted(len(faces), one, many))
    return words


def _own_crossings(mesh: Mesh, progress: Progress | None) -> tuple[int, bool]:
    """Return what `own_crossings` does. Triangles without area are ignored: very often they only touch."""
    kept = np.delete(np.arange(len(mesh.triangles)), mesh.degenerate_faces)
    if not len(kept):
        return 0, True
    few = kept.take(few_in_one_place(mesh.points, mesh.triangles.take(kept, axis=0), _MOST_IN_ONE_PLACE))
    if len(few) < len(mesh.triangles):
        mesh = Mesh(mesh.points, mesh.triangles.take(few, axis=0))
    # Duplicate points are not crossings.
    itself = self_crossings(mesh.welded() if len(mesh.boundary_edges) else mesh, progress)
    return len(itself.of_kind(Meeting.CROSSING)) + len(itself.of_kind(Meeting.COPLANAR)), len(few) == len(kept)
