# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of a mesh take part in its contact with another solid."""

from __future__ import annotations

import numpy as np

from ..meshes.body import Body
from ..meshes.crossings import Meeting
from ..meshes.facing_triangles import facing_triangles
from ..meshes.mesh import Mesh
from ..meshes.mesh_distance import mesh_distance
from ..meshes.near_triangles import near_triangles
from ..meshes.solid_facets import Solid, solid_facets
from ..meshes.triangle_pairs import crossing_triangles
from ..meshes.triangles_inside import triangles_inside
from ..narrow_phase.relation import contact_band
from ..result import Contact, Relation
from ..types import BoolArray, IntArray

_BESIDE = (Relation.TOUCHING, Relation.WITHIN_CLEARANCE, Relation.SEPARATED)
"""Relations in which nothing is inside of the other but for rounding."""


def contact_triangles(mesh: Mesh, other: Solid, contact: Contact) -> IntArray:
    """Return the triangles of a mesh that take part in a contact with another solid, ascending; at least one.

    Of those that overlap the triangles that cross the surface of the other or are inside of it. Else, and where there
    are none, those that face the other within the clearance or, where it is farther away, as near as the nearest; where
    edges or corners are the nearest, what ends in them. `contact` is that of the two, or of shapes that stand for them.
    """
    own, facets = Body.of(mesh), solid_facets(other)
    body = Body.of(facets.mesh)
    if contact.relation not in _BESIDE:
        overlapping = np.flatnonzero(_are_overlapping(own.mesh, body))
        if len(overlapping):
            return own.named(overlapping)
    band = 2.0 * contact_band(mesh, other, contact.contact_tolerance) + facets.slack
    reach = mesh_distance(own.mesh, body.mesh).distance + band
    if contact.relation is Relation.WITHIN_CLEARANCE:
        reach = max(reach, contact.clearance)
    pairs = near_triangles(own.mesh, body.mesh, reach)
    facing = facing_triangles(own, body, pairs, 0.0, reach)[0].pairs
    return own.named(np.unique((facing if len(facing) else pairs)[:, 0]))


def _are_overlapping(mesh: Mesh, body: Body) -> BoolArray:
    """Return (m,) which triangles of a mesh cross the surface of a body, or are inside of it."""
    crossings, triangles = crossing_triangles(mesh, body.mesh), mesh.triangles
    meets = np.zeros(len(triangles), dtype=np.bool_)
    meets[crossings.pairs[:, 0]] = True
    result = triangles_inside(mesh.points, triangles, meets, body)
    # What only touches is inside where its middle is.
    result[meets] = body.contains(mesh.points[triangles[meets]].mean(axis=1))
    result[crossings.pairs[crossings.of_kind(Meeting.CROSSING), 0]] = True
    return result
