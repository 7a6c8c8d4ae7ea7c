# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points face a surface: where the vector to the nearest point of it is along both normals, about.

At an edge or a corner that turns by more than 30 degrees nothing is faced, unless the vector is along the normal of a
face there: what is beside the end of a bore is no longer in it.
"""

from __future__ import annotations

import numpy as np

from ..meshes.body import Body
from ..runs import chunks, ranges
from ..tolerance import EPS, MESH_GAP
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import unit_rows

_ROUNDED = 1e-9
"""Not relative: angles that are just 45, 30 or 1 degrees, or rounded to more, are no more."""
FACING = float(np.cos(np.radians(45.0))) - _ROUNDED
"""Cosine: as far from the vector normals may be."""
ALONG = float(np.cos(np.radians(1.0))) - _ROUNDED
"""Cosine: within it a vector is along a normal."""
SHARP = float(np.cos(np.radians(30.0))) - _ROUNDED
"""Cosine of the turn beyond which an edge or a corner is sharp."""
ON_EDGE = 1e-7
"""Times the diameter: a foot beside a face's normal is on an edge or a corner, and the nearest one is not farther."""
_PRODUCTS = 1 << 18
"""Scalar products of normals in one go."""


class FacedSurface:
    """The surface of a body, with what meets at its edges and corners."""

    def __init__(self, body: Body) -> None:
        """Look up normals and the triangles at each corner."""
        mesh = body.mesh.with_common_corners
        self.body, self.points, self.triangles = body, mesh.points, mesh.triangles
        self.normals = body.normals(np.arange(len(mesh.triangles)))
        self.order = np.argsort(self.triangles.ravel(), kind="stable")
        self.sorted = self.triangles.ravel().take(self.order)
        self.is_rim = np.zeros(len(self.points), dtype=np.bool_)
        if not body.solid:
            self.is_rim[mesh.boundary_edges] = True
        self.width = ON_EDGE * mesh.diameter + MESH_GAP * EPS * mesh.magnitude

    def along(self, vectors: FloatArray, normals: FloatArray) -> FloatArray:
        """Return (n,) cosines between unit vectors and normals; of a bare surface with the side that is nearer."""
        found = np.einsum("ij,ij->i", vectors, normals)
        return found if self.body.solid else np.abs(found)

    def is_faced(self, vectors: FloatArray, feet: FloatArray, triangles: IntArray) -> BoolArray:
        """Return (n,) whether unit vectors (n, 3) to feet (n, 3), the nearest points, on triangles, meet what faces
        them."""
        result = self.along(-vectors, self.normals.take(triangles, axis=0)) >= ALONG
        other = np.flatnonzero(~result)
        if len(other):
            codes = self._spots(feet[other], triangles[other]) @ [len(self.points), 1]
            found, place = np.unique(codes, return_inverse=True)
            spots, place = np.stack(np.divmod(found, len(self.points)), axis=1), place.ravel()
            owner, face = self._around(spots)
            sharp = self._turns(spots, owner, face) < SHARP
            # Each foot with all faces at its spot.
            count = np.bincount(owner, minlength=len(spots))
            first = np.cumsum(count) - count
            faces = face.take(ranges(first.take(place), count.take(place)))
            of = np.repeat(np.arange(len(other)), count.take(place))
            cosines = np.full(len(other), -1.0)
            np.maximum.at(
                cosines, of, self.along(-vectors.take(other.take(of), axis=0), self.normals.take(faces, axis=0))
            )
            result[other] = np.where(sharp.take(place), cosines >= ALONG, cosines >= FACING)
        return result

    def _spots(self, feet: FloatArray, triangles: IntArray) -> IntArray:
        """Return the corner that each foot is at, twice, or the two corners of the edge that is nearest."""
        named = self.triangles.take(triangles, axis=0)
        corners = self.points.take(named, axis=0)
        out = feet[:, None] - corners
        to_corner = np.sqrt((out * out).sum(axis=2))
        sides = unit_rows((np.roll(corners, -1, axis=1) - corners).reshape(-1, 3)).reshape(-1, 3, 3)
        off = out - (out * sides).sum(axis=2)[:, :, None] * sides
        is_side = sides.any(axis=2)
        edge = np.where(is_side, np.sqrt((off * off).sum(axis=2)), np.inf).argmin(axis=1)
        rows = np.arange(len(feet))
        nearest = to_corner.argmin(axis=1)
        at_corner = to_corner[rows, nearest] <= self.width
        first = named[rows, np.where(at_corner, nearest, edge)]
        second = named[rows, np.where(at_corner, nearest, (edge + 1) % 3)]
        return np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)

    def _around(self, spots: IntArray) -> tuple[IntArray, IntArray]:
        """Return pairs of a spot and a triangle there that has an area, spot by spot."""
        begin, end = (np.searchsorted(self.sorted, spots[:, 0], side=side) for side in ("left", "right"))
        owner = np.repeat(np.arange(len(spots)), end - begin)
        face = self.order.take(ranges(begin, end - begin)) // 3
        kept = (self.triangles.take(face, axis=0) == spots[:, 1].take(owner)[:, None]).any(axis=1)
        kept &= self.normals.take(face, axis=0).any(axis=1)
        return owner[kept], face[kept]

    def _turns(self, spots: IntArray, owner: IntArray, face: IntArray) -> FloatArray:
        """Return the least cosine between normals of faces at each spot; -1 where the surface ends there."""
        count = np.bincount(owner, minlength=len(spots))
        first = np.cumsum(count) - count
        is_edge = spots[:, 0] != spots[:, 1]
        result = np.where(np.where(is_edge, count < 2, self.is_rim.take(spots[:, 0])), -1.0, 1.0)
        for size in np.unique(count[count > 1]).tolist():
            alike = np.flatnonzero(count == size)
            for part in chunks(len(alike), _PRODUCTS // size**2):
                rows = alike[part]
                normals = self.normals.take(face.take(first.take(rows)[:, None] + np.arange(size)), axis=0)
                for each in chunks(size, _PRODUCTS // size):
                    least = (normals[:, each] @ normals.transpose(0, 2, 1)).min(axis=(1, 2))
                    result[rows] = np.minimum(result[rows], least)
        return result
