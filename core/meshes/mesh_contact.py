# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh and another solid: whether, where and how deep they collide, or how far apart they are.

A closed mesh is the solid inside of it, any other a bare surface. Whether triangles meet is decided exactly, whether
one solid holds the other by winding numbers, and the depth of two solids by convex pieces that stand for them. Pieces
are only believed as far as they are the meshes: unless they are exact, both bounds of the depth are proved on the
meshes themselves.

A polytope, or a compound of them, is the mesh of its facets with itself as pieces. Curved shapes are measured exactly
while they are apart from a mesh; where they enter it, facets inside of them tell what no translation can do better, and
the translation told separates the curved shapes themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from ..arguments import as_length
from ..compounds.compound import BEYOND, DEFAULT_BUDGET, Compound, CompoundContact, CompoundStatus, compound_contact
from ..compounds.compound_region import MergedRegion
from ..compounds.covered import is_covered
from ..curved.curved_inside import sticks_out
from ..decomposition.mesh_pieces import check_pieces, inner_pieces, mesh_pieces, note_of_pieces
from ..meshes.decomposition import Decomposition
from ..narrow_phase.contact import contact
from ..narrow_phase.relation import Relation
from ..narrow_phase.separation import Separation
from ..note import NOTCH, Note
from ..progress import Progress, report_progress, subrange
from ..region.center import middle
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import (
    CONVEX_COVERED,
    CURVED_ROUNDING,
    DEFAULT_CONTACT_TOLERANCE,
    EPS,
    MESH_DEPTH_STEP,
    MESH_GAP,
    promised,
)
from ..types import FloatArray, read_only
from .body import Body, are_disjoint, length_of
from .contact_curves import ContactCurve, contact_curves, curves_center
from .crossings import Crossings, Meeting
from .curved_nearest import Nearest, all_inside, find_separation, has_entered, nearest_to_mesh
from .depth_bounds import Samples, find_ball_inside, sample_surface, triangle_depth
from .mesh import Mesh
from .mesh_distance import mesh_distance
from .separation import SeparationSearch, contact_directions, frame_directions
from .solid_facets import Solid, SolidFacets, pieces_of, solid_facets
from .triangle_pairs import crossing_triangles, self_crossings

NO_DEPTH = Note("a bare surface has no inside, so no depth is told")
"""The note of contacts that have no depth."""

_TRY = 50  # nodes of the budget that a translation of meshes counts for
_MOST_WORK = 5_000_000  # pairs of edges of pieces: some seconds
_MOST_EDGES = 6_000  # of pieces that are made smaller
_MOST_CURVED = 64  # pairs of pieces of which one is curved: a second or two
_INNER_SHARE = 4  # pieces without their rims get this part of the budget


@dataclass(frozen=True, eq=False)
class MeshContact(Separation):
    """Where, how deep and which way A and B collide, of which one at least is a mesh. World frame, the unit of the
    coordinates, float64.

    `crossings`, `curves` and pieces are of meshes: of any other solid its facets stand for it. Of a curved one they are
    inside of it by up to `slack_a` or `slack_b`; all else that is told holds for the solid itself."""

    relation: Relation
    """What a person would call it. Between exact pieces certain; otherwise `notes` tell what was decided by samples."""
    intersects: bool
    """The bare truth, no tolerance: triangles have a common point, or a part of one mesh is inside the other's solid.
    Exact; of curved solids to the rounding of their distance."""
    distance: float
    """How far apart they are; 0.0 when they intersect."""
    signed_distance: float
    """> 0 gap; < 0 minus the length of the smallest translation known to separate two solids, or of one that stays
    clear beyond it and is longer by no more than MESH_DEPTH_STEP of it; 0.0 when they only touch, and when they meet
    and one of them is a bare surface, which has no depth."""
    lower_bound: float
    """The true signed distance is not below. Penetrating: minus the length of a translation that separates."""
    upper_bound: float
    """The true signed distance is not above. Penetrating: no translation shorter than minus this separates."""
    normal: FloatArray | None
    """(3,) unit vector from A to B. Moving B by `depth * normal` separates two solids, and so does moving it farther
    along the normal by up to the contact tolerance, unless `NOTCH` is among the notes; apart, the direction from A to
    B. None where surfaces meet and no depth is known."""
    point_on_a: FloatArray
    """(3,) witness point on A: nearest to B when apart; of the pieces when they are exact, where B touches A once it is
    moved; otherwise a point in common."""
    point_on_b: FloatArray
    """(3,) witness point on B: `point_on_b - point_on_a = signed_distance * normal` when apart or the pieces exact."""
    surface_distance: float
    """How far apart the two surfaces are, 0.0 when they meet: how much room one has that is inside the other."""
    crossings: Crossings
    """The triangles that meet."""
    curves: tuple[ContactCurve, ...]
    """Where the surfaces meet."""
    regions: tuple[MergedRegion, ...]
    """Where the solids touch, or do once B is moved: those of `compound` when its pieces fit; empty otherwise."""
    a_solid: bool
    """Whether A is closed and stands for the solid inside."""
    b_solid: bool
    """Whether B is closed and stands for the solid inside."""
    slack_a: float
    """Certified: no point of A is farther from its facets, where they stood for it; 0.0 when they are A itself, and
    when they were not needed."""
    slack_b: float
    """The same of B."""
    notes: tuple[Note, ...]
    """What to know about the meshes (open edges, edges of many faces, faces there twice, crossings with itself), about
    the facets that stand for curved solids and about the answer, in words."""
    compound: CompoundContact | None
    """The contact of the pieces, for two solids that are not apart, with the depth of the pieces. None when they have
    too many edges for that. Of a curved solid's own pieces where those of the mesh are exact, else of its facets."""
    compound_of_facets: bool
    """Whether facets stand for a curved solid in `compound`."""
    pieces_a: Decomposition | None
    """What stood for A in `compound`."""
    pieces_b: Decomposition | None
    """What stood for B in `compound`."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float
    """As given: relative to the smaller diagonal."""

    @cached_property
    def center(self) -> FloatArray:
        """(3,) contact centre, world frame: the centroid of all `regions` by area; where there is none, that of all
        `curves` by length (in the middle of what a curve goes round, and of the curves where there are several); the
        middle of the witness points where there is none either: apart, or one inside the other. Always valid."""
        if self.regions and self.compound is not None:
            return self.compound.center
        if self.curves:
            return curves_center(self.curves)
        return read_only(middle(self.point_on_a, self.point_on_b))


def mesh_contact(
    a: Solid,
    b: Solid,
    *,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    budget: int = DEFAULT_BUDGET,
    pieces_a: Decomposition | Callable[[], Decomposition] | None = None,
    pieces_b: Decomposition | Callable[[], Decomposition] | None = None,
    progress: Progress | None = None,
) -> MeshContact:
    """Return where, how deep and which way a mesh and any other solid collide, or how far apart they are.

    Args:
        a, b: at least one a Mesh; the other a Mesh, a Compound or a convex shape. Closed meshes stand for solids,
            others for bare surfaces; faults are told in `notes` and never refused.
        clearance: a length in world units; gaps up to this are WITHIN_CLEARANCE.
        contact_tolerance: relative to the smaller non-zero diagonal of the two: the band of TOUCHING around 0.
        budget: how many nodes searches for the smallest translation may look at, >= 0.
        pieces_a, pieces_b: what `mesh_pieces` returned for these meshes as they are now, to spare the time, or what
            returns that when it is asked; made or asked for when they are needed. Other solids are their own pieces.
        progress: called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is not of that kind; Cancelled when `progress` says so.
    """
    if not isinstance(a, Mesh) and not isinstance(b, Mesh):
        for name, solid in (("a", a), ("b", b)):
            if not isinstance(solid, Compound | ConvexShape):
                raise ValueError(f"{name} must be a Mesh, a Compound or a shape, not {type(solid).__name__}")
        by = "compound_contact()" if isinstance(a, Compound) or isinstance(b, Compound) else "contact()"
        raise ValueError(f"a or b must be a Mesh; for a {type(a).__name__} and a {type(b).__name__} use {by}")
    facets = solid_facets("a", a), solid_facets("b", b)
    clearance = as_length("clearance", clearance)
    contact_tolerance = as_length("contact_tolerance", contact_tolerance)
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 0:
        raise ValueError(f"budget must be a whole number that is not negative, not {budget!r}")
    for name, given, pieces in (("pieces_a", a, pieces_a), ("pieces_b", b, pieces_b)):
        if pieces is None:
            continue
        if not isinstance(given, Mesh):
            raise ValueError(f"{name} must be None: a {type(given).__name__} is its own pieces")
        if not callable(pieces):
            _check_given(name, given, pieces)
    known = [given or found.pieces for given, found in zip((pieces_a, pieces_b), facets, strict=True)]
    pair = _Pair(facets, clearance, contact_tolerance, int(budget), known, subrange(progress, 0.0, 1.0))
    if facets[0].curved:
        return _Curved(a, b, pair).contact()  # type: ignore[arg-type]
    if facets[1].curved:
        return _Curved(b, a, pair).contact()  # type: ignore[arg-type]
    return pair.contact()


def _check_given(name: str, mesh: Mesh, pieces: object) -> Decomposition:
    """Return pieces that somebody gave for a mesh. Raises ValueError that begins with their name."""
    if not (isinstance(pieces, Decomposition) and pieces.pieces):
        raise ValueError(f"{name} must be None or what mesh_pieces returns, not {type(pieces).__name__}")
    check_pieces(name, mesh, pieces)
    return pieces


@dataclass
class _Depth:
    """What is known of two solids that are not apart."""

    relation: Relation
    signed_distance: float
    lower: float
    upper: float
    normal: FloatArray | None
    points: tuple[FloatArray, FloatArray] | None = None
    compound: CompoundContact | None = None
    regions: tuple[MergedRegion, ...] = ()


class _Pair:
    """The work of `mesh_contact`."""

    def __init__(
        self,
        facets: tuple[SolidFacets, SolidFacets],
        clearance: float,
        contact_tolerance: float,
        budget: int,
        pieces: list[Decomposition | Callable[[], Decomposition] | None],
        progress: Progress | None,
    ) -> None:
        self.facets = facets
        a, b = facets[0].mesh, facets[1].mesh
        self.a, self.b = Body.of(a), Body.of(b)
        self.clearance, self.contact_tolerance, self.budget = clearance, contact_tolerance, budget
        self.pieces = [given if isinstance(given, Decomposition) else None for given in pieces]
        self._makers = [None if isinstance(given, Decomposition) else given for given in pieces]
        self.progress = progress
        small, large = sorted((a.extent, b.extent))
        self.magnitude = max(a.magnitude, b.magnitude)
        self.promise = promised(0.0, small, self.magnitude)
        self.band = max(contact_tolerance * (small or large), self.promise)
        self.notes: list[Note] = []
        for k, (name, given, body) in enumerate((("A", facets[0], self.a), ("B", facets[1], self.b))):
            part = subrange(progress, 0.05 * k, 0.05 * (k + 1))
            if given.pieces is None:
                self.notes += [Note(words, about=name) for words in _faults(given.mesh, body, part)]
            elif not body.solid and not given.curved:
                self.notes.append(Note("it is flat, taken as a bare surface", about=name))

    def contact(self) -> MeshContact:
        a, b = self.a, self.b
        self.crossings = crossings = crossing_triangles(a.mesh, b.mesh, subrange(self.progress, 0.1, 0.2))
        curves = tuple(contact_curves(crossings, a.mesh, b.mesh))
        surface, proved = 0.0, 0.0
        normal: FloatArray | None = None
        if len(crossings):
            ends = crossings.segments
            longest = int(np.abs(ends[:, 1] - ends[:, 0]).max(axis=1).argmax())
            on_a = on_b = 0.5 * ends[longest, 0] + 0.5 * ends[longest, 1]
            a_in_b = b_in_a = np.zeros(0, dtype=np.bool_)
        else:
            found = mesh_distance(a.mesh, b.mesh, subrange(self.progress, 0.2, 0.3))
            surface, proved = found.distance, found.lower_bound
            on_a, on_b = found.point_on_a, found.point_on_b
            a_in_b, b_in_a = b.contains(a.starts), a.contains(b.starts)
            if a_in_b.any() or b_in_a.any():
                on_a = on_b = a.starts[a_in_b][0] if a_in_b.any() else b.starts[b_in_a][0]
            else:
                apart = on_b - on_a
                largest = float(np.abs(apart).max())
                if largest > self._rounding:  # what rounding leaves of a touch has no direction
                    normal = apart / largest / length_of(apart / largest)
        held = bool(a_in_b.any() or b_in_a.any())
        intersects = bool(len(crossings)) or held
        distance = 0.0 if intersects else surface
        near = subrange(self.progress, 0.3, 1.0)
        if not intersects and surface > self.band:
            relation = Relation.WITHIN_CLEARANCE if surface <= self.clearance else Relation.SEPARATED
            deep = _Depth(relation, surface, proved, surface + self._rounding, normal)
        elif not (a.solid and b.solid):
            deep = self._surfaces(surface, proved, normal, a_in_b, b_in_a, near)
        elif not intersects:
            deep = self._beside(surface, proved, normal, near)
        else:
            deep = self._solids(a_in_b, b_in_a, held, near)
        if deep.points is not None:
            on_a, on_b = deep.points
        report_progress(self.progress, 1.0)
        return MeshContact(
            relation=deep.relation,
            intersects=intersects,
            distance=distance,
            signed_distance=deep.signed_distance + 0.0,
            lower_bound=min(deep.lower, deep.signed_distance) + 0.0,
            upper_bound=max(deep.upper, deep.signed_distance) + 0.0,
            normal=None if deep.normal is None else read_only(deep.normal + 0.0),
            point_on_a=read_only(np.array(on_a)),
            point_on_b=read_only(np.array(on_b)),
            surface_distance=surface,
            crossings=crossings,
            curves=curves,
            regions=deep.regions,
            a_solid=a.solid,
            b_solid=b.solid,
            slack_a=0.0,
            slack_b=0.0,
            notes=tuple(self.notes),
            compound=deep.compound,
            compound_of_facets=any(facets.curved for facets in self.facets),
            pieces_a=self.pieces[0],
            pieces_b=self.pieces[1],
            clearance=self.clearance,
            contact_tolerance=self.contact_tolerance,
        )

    @property
    def _rounding(self) -> float:
        return MESH_GAP * EPS * self.magnitude

    # Bare surfaces

    def _surfaces(
        self,
        surface: float,
        proved: float,
        normal: FloatArray | None,
        a_in_b: np.ndarray[tuple[int], np.dtype[np.bool_]],
        b_in_a: np.ndarray[tuple[int], np.dtype[np.bool_]],
        progress: Progress | None,
    ) -> _Depth:
        """Tell how two meshes meet of which one at least is a bare surface."""
        a, b, crossings = self.a, self.b, self.crossings
        if a_in_b.any() or b_in_a.any():
            relation = Relation.PENETRATING
            if a_in_b.any():
                relation = Relation.A_INSIDE_B if a_in_b.all() else relation
            elif b_in_a.all():
                relation = Relation.B_INSIDE_A
            self.notes.append(NO_DEPTH)
            return _Depth(relation, 0.0, 0.0, 0.0, None)
        # What sticks out of the other's box is neither the same surface nor inside: no samples, which take long.
        a_within, b_within = self._within(a, b), self._within(b, a)
        of_a = sample_surface(a, b, crossings, 0, self.band) if a_within and (b.solid or b_within) else None
        of_b = sample_surface(b, a, crossings, 1, self.band) if b_within and (a.solid or a_within) else None
        if of_a is not None and of_b is not None and self._coincide(of_a, of_b):
            return _Depth(Relation.COINCIDENT, *self._touch(surface, proved), normal)
        if not len(crossings):
            return _Depth(Relation.TOUCHING, surface, proved, surface + self._rounding, normal)
        if b.solid and of_a is not None and of_a.farthest <= self.band < of_a.deepest:
            relation = Relation.A_INSIDE_B
        elif a.solid and of_b is not None and of_b.farthest <= self.band < of_b.deepest:
            relation = Relation.B_INSIDE_A
        elif triangle_depth(a.mesh, b.mesh, crossings, self.band) > self.band:
            relation = Relation.PENETRATING
        else:
            leaving = self._leaving(progress)
            if leaving is not None:
                return _Depth(Relation.TOUCHING, 0.0, 0.0, 0.0, leaving)
            relation = Relation.PENETRATING
            self.notes.append(Note("no translation as short as the contact tolerance was found that parts them"))
        self.notes.append(NO_DEPTH)
        return _Depth(relation, 0.0, 0.0, 0.0, None)

    def _within(self, one: Body, other: Body) -> bool:
        """Tell whether one is within the box of the other, but for the contact tolerance."""
        (low, high), (other_low, other_high) = one.mesh.bounds, other.mesh.bounds
        return bool((low >= other_low - self.band).all() and (high <= other_high + self.band).all())

    def _touch(self, surface: float, proved: float) -> tuple[float, float, float]:
        return surface, proved, surface + (self._rounding if surface > 0.0 else 0.0)

    def _leaving(self, progress: Progress | None) -> FloatArray | None:
        """Return the way in which B leaves A within the contact tolerance, if one is found."""
        ways = contact_directions(self.a, self.b, self.crossings)
        for k, way in enumerate(ways):
            report_progress(progress, k, len(ways))
            if are_disjoint(self.a, self.b.translated(way * self.band)):
                return way
        return None

    def _coincide(self, of_a: Samples, of_b: Samples) -> bool:
        """Tell whether the surfaces are one, by their samples, and what they hold."""
        if max(float(of_a.distance.max()), float(of_b.distance.max())) > self.band:
            return False
        if self.a.solid != self.b.solid:
            return False
        if not self.a.solid:
            return True
        one, other = abs(self.a.mesh.volume), abs(self.b.mesh.volume)
        return abs(one - other) <= 2.0 * self.band * self.a.mesh.area + CONVEX_COVERED * one

    # Solids

    def _decomposed(self, progress: Progress | None) -> tuple[Decomposition, Decomposition]:
        """Return the pieces of both."""
        found: list[Decomposition] = []
        for k in (0, 1):
            pieces = self.pieces_of(k, subrange(progress, 0.5 * k, 0.5 * k + 0.5))
            found.append(pieces)
            if not self._fit(pieces):
                self.notes.append(note_of_pieces("AB"[k], pieces))
        return found[0], found[1]

    def pieces_of(self, k: int, progress: Progress | None) -> Decomposition:
        """Return the pieces of A (0) or B (1)."""
        pieces, make, other = self.pieces[k], self._makers[k], self.pieces[1 - k]
        bodies = self.a, self.b
        if pieces is None and make is not None:
            pieces = _check_given(f"pieces_{'ab'[k]}", self.facets[k].mesh, make())
        elif pieces is None and other is not None and bodies[0].mesh is bodies[1].mesh:
            pieces = other
        elif pieces is None:
            pieces = mesh_pieces(bodies[k].mesh, progress=progress)
        self.pieces[k] = pieces
        return pieces

    def _fit(self, pieces: Decomposition) -> bool:
        """Tell whether what pieces are from the mesh is no matter."""
        return pieces.exact or pieces.distance <= 0.25 * self.band

    def _compound(
        self, pieces: tuple[Decomposition, Decomposition], progress: Progress | None
    ) -> CompoundContact | None:
        one, other = (Compound(found.pieces) for found in pieces)
        if _work(one, other) > _MOST_WORK:
            self.notes.append(Note("the pieces have too many edges: the depth is told by the meshes alone"))
            return None
        return compound_contact(
            one,
            other,
            budget=self.budget,
            clearance=self.clearance,
            contact_tolerance=self._relative(one, other),
            progress=progress,
        )

    def _relative(self, one: Compound, other: Compound) -> float:
        """Return the contact tolerance that gives compounds the band of the meshes."""
        small, large = sorted((one.extent, other.extent))
        return self.band / (small or large) if large > 0.0 else self.contact_tolerance

    def _beside(self, surface: float, proved: float, normal: FloatArray | None, progress: Progress | None) -> _Depth:
        """Tell of two solids that are apart, but no more than the contact tolerance."""
        deep = _Depth(Relation.TOUCHING, surface, proved, surface + self._rounding, normal)
        pieces = self._decomposed(subrange(progress, 0.0, 0.7))
        deep.compound = self._compound(pieces, subrange(progress, 0.7, 1.0))
        if deep.compound is not None and all(map(self._fit, pieces)):
            deep.regions = deep.compound.regions
            if normal is None:
                deep.normal = deep.compound.normal
        return deep

    def _solids(
        self,
        a_in_b: np.ndarray[tuple[int], np.dtype[np.bool_]],
        b_in_a: np.ndarray[tuple[int], np.dtype[np.bool_]],
        held: bool,
        progress: Progress | None,
    ) -> _Depth:
        """Tell of two solids that have points in common."""
        pieces = self._decomposed(subrange(progress, 0.0, 0.3))
        found = self._compound(pieces, subrange(progress, 0.3, 0.7))
        spare = pieces[0].distance + pieces[1].distance
        fit = all(map(self._fit, pieces))
        rest = subrange(progress, 0.7, 1.0)
        if found is None:
            search = SeparationSearch(self.a, self.b, 4 + self.budget // _TRY, subrange(rest, 0.0, 0.3))
            return self._by_meshes(pieces, None, search, a_in_b, b_in_a, held, subrange(rest, 0.3, 1.0))
        exact = pieces[0].exact and pieces[1].exact
        touch = found.depth <= found.tolerance + spare and not held
        if exact and touch:
            return self._touching(found, min(0.0, found.lower_bound) - spare - found.tolerance)
        search = SeparationSearch(self.a, self.b, 4 + self.budget // _TRY, subrange(rest, 0.0, 0.3))
        ways = [tie * found.depth for tie in found.ties] if found.depth > 0.0 else []
        taken = search.try_all(ways[:8], found.tolerance, spare)
        if fit and touch and search.proved and search.length <= self.band:
            return self._touching(found, -search.length)
        if fit and taken is not None and (exact or search.length > found.depth * (1.0 - MESH_DEPTH_STEP)):
            length = length_of(taken)
            if length <= found.depth + 8.0 * (found.tolerance + spare) + 64.0 * EPS * self.magnitude:
                # What fills a gap closes a way out, however narrow: pieces that are not exact prove nothing, but what
                # of them is inside the meshes does.
                parts = subrange(rest, 0.3, 1.0)
                least = found.least_depth - spare if exact else self._proved(pieces, parts)[0]
                if search.length < found.depth - found.tolerance:
                    return self._shorter(search, least, found, a_in_b, b_in_a, held)
                upper = -min(max(0.0, least), found.depth)
                lower = min(found.lower_bound - spare, -length)
                chosen = taken / length
                same = float(chosen @ found.normal) > 1.0 - 1e-9
                if (NOTCH in found.notes) if exact and same else not self._stays_clear(search, taken):
                    self.notes.append(NOTCH)
                return _Depth(
                    self._held(found.relation, a_in_b, b_in_a) if held else found.relation,
                    found.signed_distance,
                    lower,
                    upper,
                    found.normal if same else chosen,
                    (found.point_on_a, found.point_on_b) if same else None,
                    found,
                    found.regions if same else (),
                )
        if exact and found.status is not CompoundStatus.UNVERIFIED:
            if search.proved and search.length < found.depth - found.tolerance:
                return self._shorter(search, found.least_depth - spare, found, a_in_b, b_in_a, held)
            self.notes += found.notes
            # The pieces are the solids. Moved, they may still touch, as a peg does that fits its slot exactly: that is
            # no overlap, though meshes cannot tell.
            return _Depth(
                self._held(found.relation, a_in_b, b_in_a) if held else found.relation,
                found.signed_distance,
                found.lower_bound - spare,
                min(0.0, found.upper_bound + spare),
                found.normal,
                (found.point_on_a, found.point_on_b),
                found,
                found.regions,
            )
        return self._by_meshes(pieces, found, search, a_in_b, b_in_a, held, subrange(rest, 0.3, 1.0))

    def _shorter(
        self,
        search: SeparationSearch,
        least: float,
        found: CompoundContact,
        a_in_b: np.ndarray[tuple[int], np.dtype[np.bool_]],
        b_in_a: np.ndarray[tuple[int], np.dtype[np.bool_]],
        held: bool,
    ) -> _Depth:
        """Tell of pieces that fit, of which the search ended with a longer translation than separates the meshes."""
        chosen = self._clear(search)
        length = length_of(chosen)
        return _Depth(
            self._held(found.relation, a_in_b, b_in_a) if held else found.relation,
            -length,
            -length,
            -min(max(0.0, least), length),
            chosen / length,
            compound=found,
        )

    def _beyond(self, length: float) -> float:
        """Return for how much more of a translation of that length the solids are to stay apart."""
        return max(self.band, self.contact_tolerance * length)

    def _stays_clear(self, search: SeparationSearch, translation: FloatArray) -> bool:
        return search.stays_clear(translation, self._beyond(length_of(translation)))

    def _clear(self, search: SeparationSearch) -> FloatArray:
        """Return the translation that is reported: the best, or one about as short that stays clear beyond."""
        clear = (
            search.find_clear(self._beyond(search.length))
            if search.proved and search.length > self.band
            else search.best
        )
        if clear is None:
            self.notes.append(NOTCH)
            return search.best
        return clear

    def _touching(self, found: CompoundContact, lower: float) -> _Depth:
        """Tell of a touch of pieces that fit: the signs of what is left are rounding."""
        relation = found.relation if found.relation is Relation.COINCIDENT else Relation.TOUCHING
        points = (found.point_on_a, found.point_on_b)
        return _Depth(relation, 0.0, lower, 0.0, found.normal, points, found, found.regions)

    def _by_meshes(
        self,
        pieces: tuple[Decomposition, Decomposition],
        found: CompoundContact | None,
        search: SeparationSearch,
        a_in_b: np.ndarray[tuple[int], np.dtype[np.bool_]],
        b_in_a: np.ndarray[tuple[int], np.dtype[np.bool_]],
        held: bool,
        progress: Progress | None,
    ) -> _Depth:
        """Tell of two solids whose pieces are not the meshes: by the meshes themselves."""
        a, b, crossings = self.a, self.b, self.crossings
        least, of_a, of_b = self._proved(pieces, subrange(progress, 0.0, 0.5))
        search.progress = subrange(progress, 0.5, 1.0)
        if least <= self.band:
            way = self._leaving(None)
            if way is not None and self.band < search.length:
                search.separates(way * self.band)
        search.slide_to_minimum(search.best)
        search.improve(contact_directions(a, b, crossings), least)
        search.improve([*search.ties, *frame_directions(a, b)], least)
        search.refine(least)
        if not search.proved:
            self.notes.append(Note("no translation was found that is known to separate the meshes"))
        best = self._clear(search)
        length = length_of(best)
        chosen = best / length if length > 0.0 else None
        deep = _Depth(Relation.PENETRATING, -length, -length if search.proved else -inf, -min(least, length), chosen)
        deep.compound = found
        if length <= self.band:
            deep.relation = Relation.TOUCHING
            if length <= self.promise:
                deep.signed_distance, deep.upper = 0.0, 0.0
        elif self._coincide(of_a, of_b):
            deep.relation = Relation.COINCIDENT
        elif held:
            deep.relation = self._held(deep.relation, a_in_b, b_in_a)
        elif least <= self.band and max(of_a.deepest, of_b.deepest) <= self.band:
            # Nothing is known to be inside: a shape that fits into a hollow, for one.
            deep.relation, deep.signed_distance, deep.normal = Relation.TOUCHING, 0.0, None
            self.notes.append(Note("that they only touch is told by samples of their surfaces"))
        elif of_a.farthest <= self.band and of_b.deepest <= self.band:
            deep.relation = Relation.A_INSIDE_B
            self.notes.append(Note("that A is inside B is told by samples of its surface"))
        elif of_b.farthest <= self.band and of_a.deepest <= self.band:
            deep.relation = Relation.B_INSIDE_A
            self.notes.append(Note("that B is inside A is told by samples of its surface"))
        return deep

    def _proved(
        self, pieces: tuple[Decomposition, Decomposition], progress: Progress | None
    ) -> tuple[float, Samples, Samples]:
        """Return a certified lower bound of the depth, by the meshes themselves, and the samples of both."""
        a, b, crossings = self.a, self.b, self.crossings
        of_a = sample_surface(a, b, crossings, 0, self.band, subrange(progress, 0.0, 0.3))
        of_b = sample_surface(b, a, crossings, 1, self.band, subrange(progress, 0.3, 0.6))
        radius, _ = find_ball_inside(a, b, (of_a, of_b), subrange(progress, 0.6, 0.8))
        least = max(2.0 * radius, triangle_depth(a.mesh, b.mesh, crossings))
        return max(least, self._depth_of_inner(pieces, subrange(progress, 0.8, 1.0))), of_a, of_b

    def _depth_of_inner(self, pieces: tuple[Decomposition, Decomposition], progress: Progress | None) -> float:
        """Return a certified lower bound: the depth of what of the pieces is inside the meshes for certain."""
        if max(sum(len(piece.edges) for piece in found.pieces) for found in pieces) > _MOST_EDGES:
            return 0.0
        # The larger first, whichever it is: so the answer is the same when A and B change places.
        inner, bodies = [], sorted(zip((self.a, self.b), pieces, strict=True), key=lambda pair: -pair[0].size)
        for k, (body, found) in enumerate(bodies):
            report_progress(progress, 0.25 * k)
            inner.append(inner_pieces(body.mesh, found))
        if not (inner[0] and inner[1]):
            return 0.0
        one, other = map(Compound, inner)
        if _work(one, other) > _MOST_WORK:
            return 0.0
        if len(one.pieces) > 1 or len(other.pieces) > 1:
            # Looked at in the frame of the pair, a search that the budget ends comes equally far in every pose.
            frame, bounds = bodies[0][0].frame, self.a.mesh.bounds
            middle = 0.5 * bounds[0] + 0.5 * bounds[1]
            one, other = (
                Compound([ConvexHull((piece.vertices - middle) @ frame.T) for piece in cores]) for cores in inner
            )
        report_progress(progress, 0.5)
        budget = self.budget // _INNER_SHARE
        least = compound_contact(one, other, budget=budget, progress=subrange(progress, 0.5, 1.0)).least_depth
        return max(0.0, least - self._rounding)

    def _held(
        self,
        otherwise: Relation,
        a_in_b: np.ndarray[tuple[int], np.dtype[np.bool_]],
        b_in_a: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> Relation:
        """Return the relation of solids whose surfaces do not meet, of which parts of one are inside the other."""
        if otherwise in (Relation.COINCIDENT, Relation.TOUCHING):
            return otherwise
        if a_in_b.all() and not b_in_a.any():
            return Relation.A_INSIDE_B
        if b_in_a.all() and not a_in_b.any():
            return Relation.B_INSIDE_A
        return Relation.PENETRATING


class _Curved:
    """The work of `mesh_contact` for a solid of which pieces are curved, and a mesh."""

    def __init__(self, solid: Compound | ConvexShape, mesh: Mesh, pair: _Pair) -> None:
        """Get ready; `pair` is of the mesh and of the solid's facets, in the order asked for."""
        self.solid, self.pieces, self.pair = solid, pieces_of(solid), pair
        self.of_a = pair.facets[0].curved > 0
        self.mesh = pair.b if self.of_a else pair.a
        self.slack = pair.facets[0 if self.of_a else 1].slack
        small, large = sorted((solid.extent, mesh.extent))
        magnitude = max(solid.magnitude, mesh.magnitude)
        self.tolerance = promised(0.0, small, magnitude) + CURVED_ROUNDING * EPS * magnitude
        self.band = max(pair.contact_tolerance * (small or large), self.tolerance)

    def contact(self) -> MeshContact:
        near = nearest_to_mesh(self.pieces, self.mesh, self.tolerance, progress=subrange(self.pair.progress, 0.0, 0.1))
        if near.signed_distance >= -self.tolerance and not has_entered(self.pieces, self.mesh):
            answer = self._apart(near)
        else:
            answer = self._by_pieces(near) or self._by_facets(near)
        report_progress(self.pair.progress, 1.0)
        return answer

    def _signed(self, normal: FloatArray) -> FloatArray:
        """Return a vector from the solid to the mesh as one from A to B, or the other way round."""
        return normal if self.of_a else -normal

    def _apart(self, near: Nearest) -> MeshContact:
        """Return the answer for what shares no more than a touch: nothing in it is of facets."""
        pair, gap = self.pair, max(near.signed_distance, 0.0)
        relation = Relation.TOUCHING
        if gap > self.band:
            relation = Relation.WITHIN_CLEARANCE if gap <= pair.clearance else Relation.SEPARATED
        points = (near.on_piece, near.on_mesh) if self.of_a else (near.on_mesh, near.on_piece)
        if gap - near.lower_bound > 2.0 * self.tolerance:
            pair.notes.append(Note("very many triangles are about as near, so only bounds of the distance are known"))
        beside = self._compound() if gap <= self.band and self.mesh.solid else None
        return MeshContact(
            relation=relation,
            intersects=near.signed_distance <= 0.0,
            distance=gap,
            signed_distance=gap,
            lower_bound=min(near.lower_bound, gap),
            upper_bound=max(near.upper_bound, gap),
            normal=read_only(self._signed(near.normal) + 0.0),
            point_on_a=read_only(np.array(points[0])),
            point_on_b=read_only(np.array(points[1])),
            surface_distance=gap,
            crossings=Crossings.none(),
            curves=(),
            regions=() if beside is None else beside.regions,
            a_solid=pair.a.solid,
            b_solid=pair.b.solid,
            slack_a=0.0,
            slack_b=0.0,
            notes=tuple(pair.notes),
            compound=beside,
            compound_of_facets=False,
            pieces_a=pair.pieces[0],
            pieces_b=pair.pieces[1],
            clearance=pair.clearance,
            contact_tolerance=pair.contact_tolerance,
        )

    def _compound(self) -> CompoundContact | None:
        """Return the contact of the solid itself with the pieces of the mesh; None when these are not exact, or too
        many."""
        pair, k = self.pair, 1 if self.of_a else 0
        pieces = pair.pieces_of(k, subrange(pair.progress, 0.1, 0.3))
        if not pieces.exact or len(pieces.pieces) * len(self.pieces) > _MOST_CURVED:
            return None
        one, other = Compound(self.pieces), Compound(pieces.pieces)
        if not self.of_a:
            one, other = other, one
        found = compound_contact(
            one,
            other,
            budget=pair.budget,
            clearance=pair.clearance,
            contact_tolerance=pair._relative(one, other),
            progress=subrange(pair.progress, 0.3, 0.9),
        )
        return None if found.status is CompoundStatus.UNVERIFIED else found

    def _by_pieces(self, near: Nearest) -> MeshContact | None:
        """Return the answer for what has points in common with a solid of exact pieces; None for any other."""
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
            # It is in more than one of the mesh's pieces, or has more than one itself.
            relation = Relation.A_INSIDE_B if self.of_a else Relation.B_INSIDE_A
        if self._around and not len(crossings):
            room = mesh_distance(pair.a.mesh, pair.b.mesh, subrange(pair.progress, 0.95, 1.0)).distance
        return MeshContact(
            relation=relation,
            intersects=True,
            distance=0.0,
            signed_distance=min(found.signed_distance, 0.0),
            lower_bound=min(found.lower_bound - spare, found.signed_distance, 0.0),
            upper_bound=max(min(found.upper_bound + spare, 0.0), min(found.signed_distance, 0.0)),
            normal=found.normal,
            point_on_a=found.point_on_a,
            point_on_b=found.point_on_b,
            surface_distance=room,
            crossings=crossings,
            curves=tuple(contact_curves(crossings, pair.a.mesh, pair.b.mesh)),
            regions=found.regions,
            a_solid=pair.a.solid,
            b_solid=pair.b.solid,
            slack_a=self.slack if self.of_a else 0.0,
            slack_b=0.0 if self.of_a else self.slack,
            notes=(*pair.notes, *found.notes),
            compound=found,
            compound_of_facets=False,
            pieces_a=pair.pieces[0],
            pieces_b=pair.pieces[1],
            clearance=pair.clearance,
            contact_tolerance=pair.contact_tolerance,
        )

    def _by_facets(self, near: Nearest) -> MeshContact:
        """Return the answer for what has points in common, from that of the facets."""
        found, letter = self.pair.contact(), "A" if self.of_a else "B"
        note = Note(f"its surface is taken as {self._facets} facets, at most {{}} inside of it", (self.slack,), letter)
        found = replace(
            found,
            intersects=True,
            distance=0.0,
            slack_a=self.slack if self.of_a else 0.0,
            slack_b=0.0 if self.of_a else self.slack,
            surface_distance=0.0 if near.signed_distance <= 0.0 and not self._around else found.surface_distance,
            notes=(*found.notes, note),
        )
        start = self._signed(-found.mtv) if found.depth > 0.0 else np.zeros(3)
        out = find_separation(self.pieces, self.mesh, start, self.tolerance, subrange(self.pair.progress, 1.0, 1.0))
        if not self.mesh.solid:
            return self._of_surface(found, near, None if out is None else out.translation)
        whole = self.solid.hull if isinstance(self.solid, Compound) else self.solid
        over = contact(whole, ConvexHull(self.mesh.mesh.points))
        translation, touch = -over.mtv, None
        if out is not None and 0.0 < length_of(out.translation) <= over.depth + self.tolerance:
            translation, touch = out.translation, out.touch
        length = length_of(translation)
        notes = tuple(note for note in found.notes if note != NOTCH)
        if length > self.band and not self._stays_clear(translation, length):
            notes += (NOTCH,)
        upper = found.upper_bound if found.signed_distance < 0.0 else 0.0
        if near.signed_distance > -inf:
            upper = min(upper, near.upper_bound)
        a, b = found.point_on_a, found.point_on_b
        if touch is not None:
            a, b = (touch - translation, touch) if self.of_a else (touch, touch - translation)
        elif found.depth > 0.0 or not np.array_equal(a, b):
            a = b = near.on_piece if near.signed_distance > -inf else self._inside()
        way = self._signed(-translation) / length if length > 0.0 else None
        kept = way is not None and found.normal is not None and float(way @ found.normal) > 1.0 - EPS**0.5
        return replace(
            found,
            relation=self._relation(found.relation, near, length, -upper),
            signed_distance=-length,
            lower_bound=-length - self.tolerance,
            upper_bound=max(-length, min(upper, 0.0)),
            normal=None if way is None else read_only(way + 0.0),
            point_on_a=read_only(np.array(a)),
            point_on_b=read_only(np.array(b)),
            regions=found.regions if kept else (),
            notes=notes,
        )

    def _stays_clear(self, translation: FloatArray, length: float) -> bool:
        """Tell whether the solid, once moved by a translation that separates, stays so as it goes on."""
        more = translation * (max(self.band, self.pair.contact_tolerance * length) / length)
        return all(
            nearest_to_mesh(
                [piece.translated(translation + share * more) for piece in self.pieces], self.mesh, self.tolerance
            ).signed_distance
            >= -self.tolerance
            for share in BEYOND
        )

    def _of_surface(self, found: MeshContact, near: Nearest, translation: FloatArray | None) -> MeshContact:
        """Return the answer for a mesh that is a bare surface."""
        point = near.on_mesh if near.signed_distance > -inf else found.point_on_a
        told = replace(
            found,
            signed_distance=0.0,
            lower_bound=0.0,
            upper_bound=0.0,
            point_on_a=read_only(np.array(point)),
            point_on_b=read_only(np.array(point)),
            regions=(),
        )
        if translation is not None and 0.0 < length_of(translation) <= self.band:
            way = self._signed(-translation) / length_of(translation)
            return replace(told, relation=Relation.TOUCHING, normal=read_only(way + 0.0))
        notes = (*(note for note in found.notes if note != NO_DEPTH), NO_DEPTH)
        relation = self._relation(found.relation, near, inf, inf)
        return replace(told, relation=relation, normal=None, notes=notes)

    def _relation(self, of_facets: Relation, near: Nearest, length: float, least: float) -> Relation:
        """Return the relation of a solid that is left after `length`, and after no less than `least`."""
        if self._around:
            return Relation.B_INSIDE_A if self.of_a else Relation.A_INSIDE_B
        if of_facets is Relation.COINCIDENT:
            return of_facets
        if length <= self.band:
            return Relation.TOUCHING
        inside = Relation.A_INSIDE_B if self.of_a else Relation.B_INSIDE_A
        if of_facets is inside and -inf < near.signed_distance < -self.band:
            return Relation.PENETRATING  # it reaches beyond its facets, deeper into the surface than a touch
        if of_facets is inside or self._inside_all(near):
            return inside
        return of_facets if of_facets in (Relation.A_INSIDE_B, Relation.B_INSIDE_A) else Relation.PENETRATING

    def _inside_all(self, near: Nearest, holding: tuple[ConvexHull, ...] = ()) -> bool:
        """Whether the mesh's solid holds all of the solid: no piece is deeper in its surface than a touch, and all are
        on the inner side; or they are polytopes inside of exact pieces of the mesh, `holding`."""
        pieces = [p for p in self.pieces if not (isinstance(p, Polytope) and is_covered([p], holding, self.band))]
        if pieces and (len(pieces) < len(self.pieces) or -self.band <= near.signed_distance < -self.tolerance):
            # Until now was looked no further than to the first that overlaps.
            near = nearest_to_mesh(pieces, self.mesh, self.band)
        proved = min(near.signed_distance, near.lower_bound) >= -self.band - self.tolerance
        return not pieces or (proved and all_inside(pieces, self.mesh))

    @cached_property
    def _around(self) -> bool:
        """Whether one piece holds all of the mesh, but for the contact tolerance."""
        low, high = self.mesh.mesh.bounds
        around = [
            piece
            for piece in self.pieces
            if (piece.bounds[0] <= low + self.band).all() and (piece.bounds[1] >= high - self.band).all()
        ]
        if not around:
            return False
        corners = ConvexHull(self.mesh.mesh.points.take(np.unique(self.mesh.mesh.triangles), axis=0))
        return any(sticks_out(corners, piece, self.band) <= self.band for piece in around)

    @property
    def _facets(self) -> int:
        found = self.pair.facets[0 if self.of_a else 1].pieces
        assert found is not None
        return sum(len(hull.facets) for hull, piece in zip(found.pieces, self.pieces, strict=True) if hull is not piece)

    def _inside(self) -> FloatArray:
        """Return a point of a piece that is in the mesh's solid, or one of the mesh that is in a piece."""
        middles = np.array([piece.center for piece in self.pieces])
        held = self.mesh.contains(middles)
        return middles[held][0] if held.any() else self.mesh.starts[0]


def _work(one: Compound, other: Compound) -> int:
    """Return how many pairs of edges a search for the smallest translation looks at."""
    if len(one.pieces) == len(other.pieces) == 1:
        return 0
    edges = [sum(len(piece.edges) for piece in found.pieces if isinstance(piece, Polytope)) for found in (one, other)]
    return edges[0] * edges[1]


def _faults(given: Mesh, body: Body, progress: Progress | None) -> list[str]:
    """Return what there is to know about a mesh, in words."""
    words = []
    mesh = body.mesh
    if mesh is not given and body.mesh.is_closed:
        words.append("closed once points in the same place are made one")
    if not mesh.is_closed:
        reasons = [
            f"{len(edges)} {one if len(edges) == 1 else many}"
            for edges, one, many in (
                (mesh.boundary_edges, "open edge", "open edges"),
                (mesh.nonmanifold_edges, "edge of more than two faces", "edges of more than two faces"),
                (
                    mesh.flipped_edges,
                    "edge whose faces are turned against each other",
                    "edges whose faces are turned against each other",
                ),
            )
            if len(edges)
        ]
        words.append(f"not closed, taken as a bare surface: {', '.join(reasons) or 'no face has edges'}")
    elif not body.solid:
        words.append("closed but encloses no volume, taken as a bare surface")
    for faces, one, many in (
        (mesh.duplicate_faces, "face is there twice", "faces are there more than once"),
        (mesh.degenerate_faces, "triangle has no area", "triangles have no area"),
    ):
        if len(faces):
            words.append(f"{len(faces)} {one if len(faces) == 1 else many}")
    count = _own_crossings(mesh, progress)
    if count:
        words.append(f"crosses itself: {count} pair{'s' if count != 1 else ''} of triangles overlap")
    return words


def _own_crossings(mesh: Mesh, progress: Progress | None) -> int:
    """Return how many pairs of a mesh's triangles cross or overlap; what has no area only touches, very often."""
    if len(mesh.degenerate_faces) == len(mesh.triangles):
        return 0
    if len(mesh.degenerate_faces):
        mesh = Mesh(mesh.points, np.delete(mesh.triangles, mesh.degenerate_faces, axis=0))
    # Doubled points are no crossings.
    itself = self_crossings(mesh.welded() if len(mesh.boundary_edges) else mesh, progress)
    return len(itself.of_kind(Meeting.CROSSING)) + len(itself.of_kind(Meeting.COPLANAR))
