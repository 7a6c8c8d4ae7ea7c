# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of a curved solid and a mesh.

Their distance is exact while they are separated; where the solid enters the mesh, facets inside the solid prove the
lower bound of the depth, and the translation reported separates the curved shapes themselves.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import inf

import numpy as np

from ..compounds.compound import Compound
from ..compounds.compound_contact import BEYOND
from ..compounds.covered import is_covered
from ..curved.convex_contact import convex_contact
from ..curved.curved_inside import protrusion
from ..meshes.body import length_of
from ..meshes.contact_curves import contact_curves
from ..meshes.crossings import Crossings
from ..meshes.curved_nearest import Nearest, all_inside, find_separation, has_entered, nearest_to_mesh
from ..meshes.mesh import Mesh
from ..meshes.mesh_distance import mesh_distance
from ..meshes.point_distance import point_triangle_distances
from ..meshes.solid_facets import pieces_of
from ..meshes.triangle_pairs import crossing_triangles
from ..narrow_phase.relation import clear_length, contact_band
from ..note import NOTCH, Note
from ..progress import report_progress, subrange
from ..result import Contact, Relation, Status
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..shapes.rounded import flat_feature
from ..tolerance import CLEAR_LONGER, CURVED_ROUNDING, EPS, promised
from ..types import FloatArray
from .curved_mesh_regions import curved_mesh_regions
from .mesh_pair import MeshPair
from .mesh_result import MeshDraft
from .mesh_solver import solve
from .pair_pieces import find_pieces, solve_pieces

_MOST_CURVED = 64
"""Limit on the pairs of pieces with a curved one: a second or two."""
_SHORTER = 1e-3
"""Relative: by how much another way out is to be shorter to be tried."""


class CurvedPair:
    """A solid with curved pieces, and a mesh."""

    def __init__(self, solid: Compound | ConvexShape, mesh: Mesh, pair: MeshPair) -> None:
        """Prepare. `pair` is the pair of the mesh and the solid's facets, in the order given."""
        self.solid, self.pieces, self.pair = solid, pieces_of(solid), pair
        self.of_a = pair.facets[0].curved > 0
        self.facets = pair.facets[0 if self.of_a else 1]
        self.mesh = pair.b if self.of_a else pair.a
        magnitude = max(solid.magnitude, mesh.magnitude)
        self.tolerance = promised(0.0, min(solid.extent, mesh.extent), magnitude) + CURVED_ROUNDING * EPS * magnitude
        self.band = max(contact_band(solid, mesh, pair.contact_tolerance), self.tolerance)

    def draft(self) -> MeshDraft:
        """Return the results for the solid and the mesh."""
        near = nearest_to_mesh(self.pieces, self.mesh, self.tolerance, progress=subrange(self.pair.progress, 0.0, 0.1))
        if near.signed_distance >= -self.tolerance and not has_entered(self.pieces, self.mesh):
            draft = self._apart(near)
        else:
            self.pair.pieces[0 if self.of_a else 1] = self.facets.pieces
            draft = self._resting(near) or self._by_pieces(near) or self._by_facets(near)
        report_progress(self.pair.progress, 1.0)
        return draft

    @property
    def slacks(self) -> tuple[float, float]:
        """How far A and B may be from their facets."""
        return (self.facets.slack, 0.0) if self.of_a else (0.0, self.facets.slack)

    def _signed(self, normal: FloatArray) -> FloatArray:
        """Convert a vector from the solid to the mesh into one from A to B, or reversed."""
        return normal if self.of_a else -normal

    def _apart(self, near: Nearest) -> MeshDraft:
        """Return the results for shapes that at most touch, none of them derived from facets."""
        pair, gap = self.pair, max(near.signed_distance, 0.0)
        if gap - near.lower_bound > 2.0 * self.tolerance:
            pair.notes.append(
                Note("very many triangles are almost equally near, so only bounds of the distance are known")
            )
        points = (near.on_piece, near.on_mesh) if self.of_a else (near.on_mesh, near.on_piece)
        if gap > 0.0:
            enclosed = pair.enclosed() if gap > self.band and self._may_be_enclosed() else None
            if enclosed is not None:
                return MeshDraft(
                    relation=enclosed,
                    intersects=True,
                    points=points,
                    surface=gap,
                    crossings=Crossings.none(),
                    notes=tuple(pair.notes),
                )
            pair.note_side(points)
        is_near = gap <= max(self.band, pair.clearance)
        regions = curved_mesh_regions(self.pieces, self.mesh, gap, self.band, self.of_a) if is_near else ()
        normal = self._signed(near.normal)
        if regions and gap <= self.tolerance:
            normal = regions[0].normal  # a touch has that of any triangle there
        relation = pair.apart_relation(gap, self.band)
        return MeshDraft(
            relation=relation,
            intersects=near.signed_distance <= 0.0,
            signed_distance=gap,
            lower=near.lower_bound,
            upper=near.upper_bound,
            normal=normal,
            points=points,
            surface=gap,
            crossings=Crossings.none(),
            regions=regions,
            middle=self._middle(near, gap) if relation is Relation.SEPARATED else None,
            notes=tuple(pair.notes),
        )

    def _may_be_enclosed(self) -> bool:
        """Return whether one of both may be in an open mesh or in open facets, as far as their boxes say."""
        if not self.facets.is_thick:
            return True
        (low, high), (other_low, other_high) = self.solid.bounds, self.mesh.mesh.bounds
        return not self.mesh.solid and bool((low >= other_low).all() and (high <= other_high).all())

    def _middle(self, near: Nearest, gap: float) -> FloatArray | None:
        """Return the middle of the feature that faces the mesh, half-way across a gap; None where it is a point, and
        where the mesh is not as near there: regions, which would tell more, take longer than the distance."""
        normal = near.normal
        tops = np.array([piece.supports(normal[None])[0] for piece in self.pieces])
        facing = np.flatnonzero(np.abs((tops - near.on_piece) @ normal) <= self.band)
        if len(facing) != 1:
            return None
        piece = self.pieces[facing[0]]
        feature = flat_feature(piece, normal, self.band)
        if not feature.extended:
            return None
        top = feature.points.mean(axis=0) + piece.rounding_radius * normal
        foot = top + gap * normal
        around = self.mesh.mesh.tree.query_box(foot - self.band, foot + self.band)
        off, _ = point_triangle_distances(
            np.repeat(foot[:, None], len(around), axis=1), self.mesh.mesh.corner_rows(around)
        )
        return top + 0.5 * gap * normal if (off <= self.band).any() else None

    def _resting(self, near: Nearest) -> MeshDraft | None:
        """Return the results for shapes that overlap by no more than the contact tolerance, as the triangles that face
        the pieces show; None where those do not separate them."""
        if -inf < near.signed_distance < -self.band - self.tolerance:
            return None
        regions = curved_mesh_regions(self.pieces, self.mesh, 0.0, self.band, self.of_a)
        patches = [patch for region in regions for patch in region.patches]
        if not patches:
            return None
        deepest = max(patches, key=lambda patch: float(patch.region.depths.max()))
        depth = max(0.0, float(deepest.region.depths.max()))
        starts = [self._signed(-depth * regions[0].normal)]
        if near.signed_distance > -(1.0 - _SHORTER) * depth:
            starts.append(
                min(near.signed_distance, 0.0) * near.normal
            )  # beside a rim the way out is shorter than over it
        outs = (find_separation(self.pieces, self.mesh, start, self.tolerance) for start in starts)
        out = min((out for out in outs if out is not None), key=lambda out: length_of(out.translation), default=None)
        length = self.band if out is None else length_of(out.translation)
        if out is None or length > self.band:
            return None
        normal = self._signed(-out.translation) / length if length > self.tolerance else regions[0].normal
        if length <= self.tolerance:
            length = 0.0
        translation = self._signed(-length * normal)
        touch = out.touch if out.touch is not None else deepest.region.centroid
        upper = min(near.upper_bound, 0.0) if near.signed_distance > -inf else 0.0
        return MeshDraft(
            relation=Relation.TOUCHING,
            intersects=True,
            signed_distance=-length,
            lower=-length - self.tolerance,
            upper=max(-length, upper),
            normal=normal,
            points=(touch - translation, touch) if self.of_a else (touch, touch - translation),
            crossings=Crossings.none(),
            regions=regions,
            slacks=self.slacks,
            notes=tuple(self.pair.notes),
        )

    def _compound(self) -> Contact | None:
        """Return the contact of the solid itself with the pieces of the mesh; None when these are inexact or too
        many."""
        pair, k = self.pair, 1 if self.of_a else 0
        pieces = find_pieces(pair, k, subrange(pair.progress, 0.1, 0.3))
        if pieces is None or not pieces.exact or len(pieces.pieces) * len(self.pieces) > _MOST_CURVED:
            return None
        parts = Compound(self.pieces), Compound(pieces.pieces)
        a, b = parts if self.of_a else parts[::-1]
        found = solve_pieces(pair, a, b, subrange(pair.progress, 0.3, 0.9))
        return None if found.status is Status.UNVERIFIED else found

    def _by_pieces(self, near: Nearest) -> MeshDraft | None:
        """Return the results for an intersecting mesh with exact pieces; None for any other."""
        pair = self.pair
        found = self._compound() if self.mesh.solid else None
        if found is None:
            return None
        crossings = crossing_triangles(pair.a.mesh, pair.b.mesh, subrange(pair.progress, 0.9, 0.95))
        spare = max(0.0, *(pieces.distance for pieces in pair.pieces if pieces is not None))
        of_mesh = pair.pieces[1 if self.of_a else 0]
        assert of_mesh is not None
        room, relation = max(near.signed_distance, 0.0), found.relation
        if relation is Relation.PENETRATING and self._inside_all(near, of_mesh.pieces):
            # The solid is in several pieces of the mesh, or has several pieces itself.
            relation = Relation.A_INSIDE_B if self.of_a else Relation.B_INSIDE_A
        if self._around and not len(crossings):
            room = mesh_distance(pair.a.mesh, pair.b.mesh, subrange(pair.progress, 0.95, 1.0)).distance
        return MeshDraft(
            relation=relation,
            intersects=True,
            signed_distance=min(found.signed_distance, 0.0),
            lower=min(found.lower_bound - spare, 0.0),
            upper=min(found.upper_bound + spare, 0.0),
            normal=found.normal,
            points=(found.point_on_a, found.point_on_b),
            surface=room,
            crossings=crossings,
            curves=tuple(contact_curves(crossings, pair.a.mesh, pair.b.mesh)),
            regions=found.regions,
            slacks=self.slacks,
            notes=(*pair.notes, *found.notes),
            compound=found,
        )

    def _by_facets(self, near: Nearest) -> MeshDraft:
        """Return the results for shapes that intersect, from those of the facets."""
        found, letter = solve(self.pair), "A" if self.of_a else "B"
        note = Note(
            f"its surface is approximated by {self._facets} facets, at most {{}} inside it", (max(self.slacks),), letter
        )
        found = replace(
            found,
            intersects=True,
            slacks=self.slacks,
            surface=0.0 if near.signed_distance <= 0.0 and not self._around else found.surface,
            notes=(*found.notes, note),
        )
        start = self._signed(-found.mtv) if found.depth > 0.0 else np.zeros(3)
        out = find_separation(self.pieces, self.mesh, start, self.tolerance, subrange(self.pair.progress, 1.0, 1.0))
        whole = self.solid.hull if isinstance(self.solid, Compound) else self.solid
        over = convex_contact(whole, ConvexHull(self.mesh.mesh.points))
        translation, touch = -over.mtv, None
        if out is not None and 0.0 < length_of(out.translation) <= over.depth + self.tolerance:
            translation, touch = out.translation, out.touch
        length = length_of(translation)
        notes = tuple(note for note in found.notes if note != NOTCH)
        if length > self.band and not self._stays_clear(translation, length):
            if over.depth <= CLEAR_LONGER * length:
                translation, touch, length = -over.mtv, None, over.depth  # beyond hulls nothing is met
            else:
                notes += (NOTCH,)
        upper = found.upper if found.signed_distance < 0.0 else 0.0
        if near.signed_distance > -inf:
            upper = min(upper, near.upper_bound)
        a, b = found.points
        if touch is not None:
            a, b = (touch - translation, touch) if self.of_a else (touch, touch - translation)
        elif not len(found.crossings):
            known = near.signed_distance > -inf
            a = b = near.on_mesh if known and not self.mesh.solid else near.on_piece if known else self._inside()
        direction = self._signed(-translation) / length if length > 0.0 else None
        kept = direction is not None and found.normal is not None and float(direction @ found.normal) > 1.0 - EPS**0.5
        return replace(
            found,
            relation=self._relation(found.relation, near, length),
            signed_distance=-length,
            lower=-length - self.tolerance,
            upper=min(upper, 0.0),
            normal=direction,
            points=(a, b),
            regions=found.regions if kept else (),
            notes=notes,
        )

    def _stays_clear(self, translation: FloatArray, length: float) -> bool:
        """Return whether the solid stays separated when it is moved beyond `translation` in the same direction."""
        beyond = clear_length(self.solid, self.mesh.mesh, self.pair.contact_tolerance, length)
        more = translation * (max(self.band, beyond) / length)
        return all(
            nearest_to_mesh(
                [piece.translated(translation + fraction * more) for piece in self.pieces], self.mesh, self.tolerance
            ).signed_distance
            >= -self.tolerance
            for fraction in BEYOND
        )

    def _relation(self, of_facets: Relation, near: Nearest, length: float) -> Relation:
        """Return the relation of a solid separated by a translation of `length`."""
        if self._around:
            return Relation.B_INSIDE_A if self.of_a else Relation.A_INSIDE_B
        if of_facets is Relation.COINCIDENT:
            return of_facets
        if length <= self.band:
            return Relation.TOUCHING
        inside = Relation.A_INSIDE_B if self.of_a else Relation.B_INSIDE_A
        if of_facets is inside and -inf < near.signed_distance < -self.band:
            return Relation.PENETRATING  # beyond its facets it penetrates the surface
        if of_facets is inside or self._inside_all(near):
            return inside
        return of_facets if of_facets in (Relation.A_INSIDE_B, Relation.B_INSIDE_A) else Relation.PENETRATING

    def _inside_all(self, near: Nearest, outer: tuple[ConvexHull, ...] = ()) -> bool:
        """Return whether the mesh's solid contains the whole solid: the pieces at most touch its surface and all are on
        the inner side; or they are polytopes inside exact pieces of the mesh, `outer`."""
        pieces = [p for p in self.pieces if not (isinstance(p, Polytope) and is_covered([p], outer, self.band))]
        if pieces and (len(pieces) < len(self.pieces) or -self.band <= near.signed_distance < -self.tolerance):
            # So far the search has stopped at the first pair that overlaps.
            near = nearest_to_mesh(pieces, self.mesh, self.band)
        proved = min(near.signed_distance, near.lower_bound) >= -self.band - self.tolerance
        return not pieces or (proved and all_inside(pieces, self.mesh))

    @cached_property
    def _around(self) -> bool:
        """Whether one piece contains the whole mesh within the contact tolerance."""
        low, high = self.mesh.mesh.bounds
        around = [
            piece
            for piece in self.pieces
            if (piece.bounds[0] <= low + self.band).all() and (piece.bounds[1] >= high - self.band).all()
        ]
        if not around:
            return False
        corners = ConvexHull(self.mesh.mesh.points.take(np.unique(self.mesh.mesh.triangles), axis=0))
        return any(protrusion(corners, piece, self.band) <= self.band for piece in around)

    @property
    def _facets(self) -> int:
        found = self.facets.pieces
        assert found is not None
        return sum(len(hull.facets) for hull, piece in zip(found.pieces, self.pieces, strict=True) if hull is not piece)

    def _inside(self) -> FloatArray:
        """Return a point of a piece inside the mesh's solid, or a point of the mesh inside a piece."""
        middles = np.array([piece.center for piece in self.pieces])
        inside = self.mesh.contains(middles)
        return middles[inside][0] if inside.any() else self.mesh.part_points[0]
