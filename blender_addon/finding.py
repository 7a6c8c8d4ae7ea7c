# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of any two things that objects collide as, in one form: convex shapes, compounds and meshes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.broad_phase import candidate_pairs
from ..core.check import Check, Verification
from ..core.compound import Compound, CompoundContact, compound_contact
from ..core.compound_region import MergedRegion
from ..core.contact import Contact, contact
from ..core.curved_shape import ConvexShape, CurvedShape
from ..core.decompose_mesh import Decomposition
from ..core.hull import ConvexHull
from ..core.mesh import Mesh
from ..core.mesh_contact import MeshContact, mesh_contact
from ..core.mesh_depth import Body, share_nothing
from ..core.mesh_pieces import mesh_pieces
from ..core.polytope import Polytope
from ..core.progress import Progress
from ..core.relation import Relation
from ..core.tolerance import promised
from ..core.verify import verify
from .shape_outline import extent_of, fans

FloatArray = NDArray[np.float64]
Solid = ConvexShape | Compound | Mesh
"""What an object may collide as."""

FACETS = "a curved surface is taken as facets"
PIECES_MEET = 1e-6
"""Relative to the depth of pieces: bounds that differ by no more meet."""
NO_INSIDE = "a bare surface has no inside"
BOUNDS_TOLD = "the depth is from "
PIECES_TOLD = "pieces are not exact"
"""How notes of core begin that are told in other words."""
MOST_NEAR = 64
"""Pieces or triangles that a curved shape is compared with one by one."""
ROUND_POINTS = 2000
"""Corners of the polytope that stands for a curved shape beside a compound or a mesh."""


@dataclass(frozen=True)
class Note:
    """What to know about an answer; about one object it begins with "A: " or "B: "."""

    text: str
    """With {} where a length belongs."""
    lengths: tuple[float, ...] = ()
    """Blender units."""

    def words(self, length: Callable[[float], str]) -> str:
        """Return the text with its lengths, as `length` writes them."""
        return self.text.format(*map(length, self.lengths)) if self.lengths else self.text


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of two things of which one is a compound or a mesh. World frame, Blender units."""

    source: CompoundContact | MeshContact
    relation: Relation
    intersects: bool
    signed_distance: float
    normal: FloatArray
    """(3,) unit vector from A to B; zero where surfaces meet that have no depth."""
    point_on_a: FloatArray
    point_on_b: FloatArray
    lower_bound: float
    upper_bound: float
    ties: FloatArray
    regions: tuple[MergedRegion, ...]
    curves: tuple[FloatArray, ...]
    """Polylines (k, 3) in which the surfaces meet; closed ones repeat the first point."""
    curve_length: float
    area: float
    centroid: FloatArray | None
    method: str
    iterations: int
    status: str
    reason: str
    """Why the bounds do not meet, in words; empty when they do."""
    notes: tuple[Note, ...]
    """What to know."""
    clearance: float
    contact_tolerance: float
    of_cores: bool = False
    """Whether `source` is of the cores of rounded shapes: their radii were taken off afterwards."""
    of_pieces: bool = False
    """Whether the depth is that of convex pieces that stand for a mesh, whose surface is open and has none."""
    nearest: tuple[Contact, ConvexShape, ConvexShape] | None = None
    """The contact of the two convex parts that decide, and these, where that is exact and `source` is not."""
    region: None = None
    cross_check: None = None
    feature_a: None = None
    feature_b: None = None

    @property
    def has_depth(self) -> bool:
        """False where surfaces meet of which one is open: it has no inside."""
        return not self.intersects or bool(self.normal.any())

    @property
    def depth(self) -> float:
        return max(0.0, -self.signed_distance)

    @property
    def mtv(self) -> FloatArray:
        return self.depth * self.normal

    @cached_property
    def outlines(self) -> list[FloatArray]:
        """Corners (k, 3) of the patches of the regions: points, segments, polygons."""
        return [patch.region.outline(patch.normal) for region in self.regions for patch in region.patches]


def outlines(found: Contact | Found) -> list[FloatArray]:
    """Return the outlines (k, 3) of the contact regions: points, segments, polygons."""
    if isinstance(found, Found):
        return found.outlines
    return [] if found.region is None else [found.region.outline(found.normal)]


def curves(found: Contact | Found) -> tuple[FloatArray, ...]:
    """Return the polylines (k, 3) in which surfaces meet."""
    return found.curves if isinstance(found, Found) else ()


# --- any pair -------------------------------------------------------------------------------------------------------


def find(
    a: Solid,
    b: Solid,
    pieces: tuple[Callable[[], Decomposition] | None, Callable[[], Decomposition] | None],
    method: str,
    clearance: float,
    contact_tolerance: float,
    fill_open: tuple[bool, bool] = (False, False),
    progress: Progress | None = None,
) -> Contact | Found:
    """Return the contact of two things.

    pieces: make the convex pieces that stand for meshes, when they are needed. fill_open: whose mesh, where it is open
    and so has no depth, has that of its pieces told. progress: called with the share done; False cancels. Raises
    ValueError when core does, and Cancelled.
    """
    if not isinstance(a, Compound | Mesh) and not isinstance(b, Compound | Mesh):
        return contact(a, b, method=method, clearance=clearance, contact_tolerance=contact_tolerance)  # type: ignore
    notes: list[Note] = []
    apart = _by_core(a, b, clearance, contact_tolerance, progress)
    if apart is not None:
        return apart
    if isinstance(a, Mesh) or isinstance(b, Mesh):
        one, slack_a = _as_mesh("A", a, notes)
        other, slack_b = _as_mesh("B", b, notes)
        reach = contact_tolerance * max(one.diagonal, other.diagonal)
        near = bool(
            (one.bounds[0] <= other.bounds[1] + reach).all() and (other.bounds[0] <= one.bounds[1] + reach).all()
        )
        stood = [
            _own_pieces(solid) or (make() if make is not None and near else None)
            for solid, make in zip((a, b), pieces, strict=True)
        ]
        of_mesh = mesh_contact(
            one,
            other,
            clearance=clearance,
            contact_tolerance=contact_tolerance,
            pieces_a=stood[0],
            pieces_b=stood[1],
            progress=progress,
        )
        # What is said of the faces of pieces, that they cross each other, is not about the object.
        made = tuple(f"{letter}: " for letter, solid in (("A", a), ("B", b)) if not isinstance(solid, Mesh))
        of_mesh = replace(of_mesh, notes=tuple(note for note in of_mesh.notes if not note.startswith(made)))
        filled_in = [closed or fill for closed, fill in zip((of_mesh.a_solid, of_mesh.b_solid), fill_open, strict=True)]
        if of_mesh.intersects and of_mesh.normal is None and all(filled_in):
            filled = _filled(of_mesh, one, other, stood, notes, slack_a + slack_b, progress)
            if filled is not None:
                return filled
        found = _of_mesh(of_mesh, notes, slack_a + slack_b)
        return _exactly_apart(a, b, found, slack_a + slack_b) or found
    solid_a, slack_a = _as_compound("A", a, notes)
    solid_b, slack_b = _as_compound("B", b, notes)
    of_pieces = compound_contact(
        solid_a, solid_b, clearance=clearance, contact_tolerance=contact_tolerance, progress=progress
    )
    found = _of_compound(of_pieces, notes, slack_a + slack_b)
    return _exactly_apart(a, b, found, slack_a + slack_b) or found


def _polytopes(solid: Compound | Polytope) -> list[Polytope]:
    """Return the pieces of what has no curved one."""
    pieces = solid.pieces if isinstance(solid, Compound) else (solid,)
    flat = [piece for piece in pieces if isinstance(piece, Polytope)]
    assert len(flat) == len(pieces)  # `read` makes no other compounds
    return flat


def _own_pieces(solid: Solid) -> Decomposition | None:
    """Return the pieces that a compound or a polytope is made of."""
    if isinstance(solid, Compound):
        pieces = tuple(p if isinstance(p, ConvexHull) else ConvexHull(p.vertices) for p in _polytopes(solid))
        return Decomposition(pieces, True, 0.0, 0, "the pieces of the compound")
    if isinstance(solid, Polytope):
        hull = solid if isinstance(solid, ConvexHull) else ConvexHull(solid.vertices)
        return Decomposition((hull,), True, 0.0, 0, "convex as it is")
    return None


def _filled(
    of_mesh: MeshContact,
    a: Mesh,
    b: Mesh,
    stood: list[Decomposition | None],
    notes: list[Note],
    slack: float,
    progress: Progress | None,
) -> Found | None:
    """Return the contact of meshes of which one is open, with the depth of the convex pieces that stand for them.

    The relation and the curves stay those of the meshes. None when the pieces do not overlap.
    """
    pieces = [found or mesh_pieces(mesh) for found, mesh in zip(stood, (a, b), strict=True)]
    of_pieces = compound_contact(
        *(Compound(found.pieces) for found in pieces),
        contact_tolerance=of_mesh.contact_tolerance,
        progress=progress,
    )
    if of_pieces.depth <= 0.0:
        return None
    kept = tuple(note for note in of_mesh.notes if not note.startswith(NO_INSIDE))
    told = replace(of_mesh, notes=kept, pieces_a=pieces[0], pieces_b=pieces[1])
    return replace(
        _of_mesh(told, notes, slack),
        signed_distance=of_pieces.signed_distance,
        normal=of_pieces.normal,
        lower_bound=of_pieces.lower_bound - slack,
        upper_bound=of_pieces.upper_bound,
        ties=of_pieces.ties,
        iterations=of_pieces.nodes,
        status="of_pieces",
        reason="an open surface has no inside: the depth is that of its convex pieces",
        of_pieces=True,
    )


def _by_core(
    a: Solid,
    b: Solid,
    clearance: float,
    contact_tolerance: float,
    progress: Progress | None,
) -> Found | None:
    """Return the exact contact of a mesh or a compound with a rounded shape that does not enter it: that is as far away
    as its core, less the radius. None for all others, and when it enters."""
    of_a = isinstance(a, CurvedShape)
    curved, other = (a, b) if of_a else (b, a)
    if not isinstance(curved, CurvedShape) or isinstance(other, CurvedShape) or curved.skeleton is None:
        return None
    core, radius = curved.skeleton, curved.radius
    found: Found
    if isinstance(other, Mesh):
        mesh = other
        bare = Mesh(core.vertices, fans(core))
        pair = (bare, mesh) if of_a else (mesh, bare)
        of_mesh = mesh_contact(*pair, contact_tolerance=contact_tolerance, progress=progress)
        if of_mesh.intersects or of_mesh.normal is None:
            return None
        letter = "A: " if of_a else "B: "  # what is said of the core's mesh is not about the object
        found = _of_mesh(replace(of_mesh, notes=tuple(n for n in of_mesh.notes if not n.startswith(letter))), [], 0.0)
        extent = min(mesh.diagonal, curved.extent)
    else:
        assert isinstance(other, Compound | Polytope)
        solids: tuple[Compound | Polytope, Compound | Polytope] = (core, other) if of_a else (other, core)
        found = _of_compound(compound_contact(*solids, contact_tolerance=contact_tolerance, progress=progress), [], 0.0)
        if found.intersects:
            return None
        extent = min(other.extent, curved.extent)
    reach = max(float(np.abs(found.point_on_a).max()), float(np.abs(found.point_on_b).max())) + radius
    gap = found.signed_distance - radius
    if gap < -promised(gap, extent, reach):
        return None
    band = contact_tolerance * extent
    relation = Relation.TOUCHING
    if gap > band:
        relation = Relation.WITHIN_CLEARANCE if gap <= clearance else Relation.SEPARATED
    return replace(
        found,
        relation=relation,
        intersects=gap <= 0.0,
        signed_distance=gap,
        lower_bound=found.lower_bound - radius,
        upper_bound=found.upper_bound - radius,
        point_on_a=found.point_on_a + (radius * found.normal if of_a else 0.0),
        point_on_b=found.point_on_b - (0.0 if of_a else radius * found.normal),
        clearance=clearance,
        of_cores=True,
    )


def _exactly_apart(a: Solid, b: Solid, found: Found, slack: float) -> Found | None:
    """Return the exact contact of a curved shape with a compound or a mesh that it does not reach.

    found: what is known with facets instead of the curved surface, which may reach farther by `slack`. Only pieces or
    triangles that are no farther away than that can be the nearest. None when they are too many, or not all are apart.
    """
    of_a = isinstance(a, CurvedShape)
    curved, other = (a, b) if of_a else (b, a)
    if not isinstance(curved, CurvedShape) or isinstance(other, CurvedShape) or found.signed_distance <= slack:
        return None
    toward = found.normal if of_a else -found.normal
    reach = found.signed_distance + slack
    front = float(curved.supports(toward[None])[0] @ toward)
    low, high = curved.bounds
    corners: Sequence[FloatArray] | FloatArray
    if isinstance(other, Mesh):
        corners = places = other.points[other.triangles]
        lows, highs, ahead = places.min(axis=1), places.max(axis=1), (places @ toward).min(axis=1)
    else:
        corners = [part.vertices for part in _polytopes(other)]
        lows, highs = np.array([c.min(axis=0) for c in corners]), np.array([c.max(axis=0) for c in corners])
        ahead = np.array([(c @ toward).min() for c in corners])
    near = (ahead - front <= reach) & (lows <= high + reach).all(axis=1) & (highs >= low - reach).all(axis=1)
    chosen = np.flatnonzero(near).tolist()
    if not chosen or len(chosen) > MOST_NEAR:
        return None
    parts = [ConvexHull(corners[k]) for k in chosen]
    contacts = [contact(curved, part) if of_a else contact(part, curved) for part in parts]
    best = min(range(len(parts)), key=lambda k: contacts[k].signed_distance)
    c, part = contacts[best], parts[best]
    if c.signed_distance <= 0.0:
        return None
    small = min(extent_of(a), extent_of(b)) or max(extent_of(a), extent_of(b))
    relation = Relation.TOUCHING
    if c.signed_distance > found.contact_tolerance * small:
        relation = Relation.WITHIN_CLEARANCE if c.signed_distance <= found.clearance else Relation.SEPARATED
    letter = "A: " if of_a else "B: "
    return replace(
        found,
        relation=relation,
        intersects=False,
        signed_distance=c.signed_distance,
        normal=c.normal,
        point_on_a=c.point_on_a,
        point_on_b=c.point_on_b,
        lower_bound=min(reach, *(one.lower_bound for one in contacts)),
        upper_bound=c.upper_bound,
        ties=c.ties,
        status=str(c.status),
        reason=c.status.reason,
        notes=tuple(note for note in found.notes if not note.text.startswith(letter)),
        nearest=(c, curved, part) if of_a else (c, part, curved),
    )


def polytope_of(shape: CurvedShape) -> tuple[ConvexHull, float]:
    """Return a polytope inside a curved shape, and how far that may reach beyond it."""
    turn = np.arange(ROUND_POINTS) + 0.5
    if shape.dim == 2:
        angle = 2.0 * np.pi * turn / len(turn)
        hull = ConvexHull(shape.supports(np.stack([np.cos(angle), np.sin(angle)], axis=1)))
        return hull, _reach_beyond(shape, hull)
    height, angle = 1.0 - 2.0 * turn / len(turn), np.pi * (1.0 + 5.0**0.5) * turn
    radius = np.sqrt(1.0 - height * height)
    ways = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
    hull = ConvexHull(shape.supports(ways))
    return hull, _reach_beyond(shape, hull)


def _reach_beyond(shape: CurvedShape, hull: ConvexHull) -> float:
    """Return how far a shape may reach beyond a polytope inside it."""
    beyond = (shape.supports(hull.normals) - hull.center) * hull.normals
    # Across its own facets a polytope is farthest inside, but for corners between them: twice as much is enough.
    return 2.0 * float((beyond.sum(axis=1) - hull.offsets).max(initial=0.0))


def _round(letter: str, shape: CurvedShape, notes: list[Note]) -> tuple[ConvexHull, float]:
    hull, slack = polytope_of(shape)
    notes.append(
        Note(
            f"{letter}: its surface is taken as {len(hull.facets)} facets, at most {{}} inside of it",
            (slack,),
        )
    )
    return hull, slack


def _as_compound(letter: str, shape: Solid, notes: list[Note]) -> tuple[Compound | Polytope, float]:
    if isinstance(shape, CurvedShape):
        return _round(letter, shape, notes)
    assert not isinstance(shape, Mesh)
    return shape, 0.0


def _as_mesh(letter: str, shape: Solid, notes: list[Note]) -> tuple[Mesh, float]:
    """Return a shape as a mesh, of a compound the surfaces of all its pieces; and how far it may reach beyond that."""
    slack = 0.0
    if isinstance(shape, CurvedShape):
        shape, slack = _round(letter, shape, notes)
    if isinstance(shape, Mesh):
        return shape, slack
    parts = _polytopes(shape)
    if all(part.rank < 2 for part in parts):
        raise ValueError(f"{letter} has no faces, and a mesh meets faces only")
    first = np.cumsum([0, *(len(part.vertices) for part in parts)]).tolist()
    triangles = [fans(part) + start for part, start in zip(parts, first[:-1], strict=True) if part.rank >= 2]
    return Mesh(np.concatenate([part.vertices for part in parts]), np.concatenate(triangles)), slack


def _relation_of(relation: Relation, signed_distance: float, slack: float) -> Relation:
    """Return the relation, of shapes that may reach farther by `slack`: what may touch is not called separate."""
    apart = relation in (Relation.SEPARATED, Relation.WITHIN_CLEARANCE)
    return Relation.TOUCHING if apart and slack > 0.0 and signed_distance <= slack else relation


def _of_compound(c: CompoundContact, notes: list[Note], slack: float) -> Found:
    return Found(
        source=c,
        relation=_relation_of(c.relation, c.signed_distance, slack),
        intersects=c.intersects,
        signed_distance=c.signed_distance,
        normal=c.normal,
        point_on_a=c.point_on_a,
        point_on_b=c.point_on_b,
        lower_bound=c.lower_bound - slack,
        upper_bound=c.upper_bound,
        ties=c.ties,
        regions=c.regions,
        curves=(),
        curve_length=0.0,
        area=c.area,
        centroid=c.centroid,
        method="compound",
        iterations=c.nodes,
        status="bracket" if slack > 0.0 else str(c.status),
        reason=c.status.reason or (FACETS if slack > 0.0 else ""),
        notes=tuple(notes),
        clearance=c.clearance,
        contact_tolerance=c.contact_tolerance,
    )


def _notes_of(c: MeshContact) -> list[Note]:
    """Return what core has to say but what is told of the bounds and of the pieces: its lengths have no unit."""
    return [Note(text) for text in c.notes if not (text.startswith(BOUNDS_TOLD) or text[3:].startswith(PIECES_TOLD))]


def _of_mesh(c: MeshContact, notes: list[Note], slack: float) -> Found:
    inner = c.compound
    closed = [
        np.concatenate([curve.points, curve.points[:1]]) if curve.is_closed else curve.points for curve in c.curves
    ]
    magnitude = max(float(np.abs(c.point_on_a).max()), float(np.abs(c.point_on_b).max()), abs(c.signed_distance))
    meet = c.upper_bound - c.lower_bound + slack <= 1e-6 * magnitude
    deep = c.signed_distance < 0.0
    normal = np.zeros(3) if c.normal is None else c.normal
    status, reason = "certified", ""
    if c.intersects and not normal.any():
        status, reason = "no_depth", "a surface that is open has no inside, so there is no depth"
    elif not meet and slack > 0.0 and not deep:
        status, reason = "bracket", FACETS
    elif not meet:
        status, reason = "bracket", "the smallest translation of the meshes was not found, only bounds of it"
    return Found(
        source=c,
        relation=_relation_of(c.relation, c.signed_distance, slack),
        intersects=c.intersects,
        signed_distance=c.signed_distance,
        normal=normal,
        point_on_a=c.point_on_a,
        point_on_b=c.point_on_b,
        lower_bound=c.lower_bound - slack,
        upper_bound=c.upper_bound,
        ties=inner.ties if inner is not None and deep and np.array_equal(inner.normal, normal) else normal[None],
        regions=c.regions,
        curves=tuple(closed),
        curve_length=sum(curve.length for curve in c.curves),
        area=sum(region.area for region in c.regions),
        centroid=inner.centroid if inner is not None and c.regions else None,
        method="mesh",
        iterations=0 if inner is None else inner.nodes,
        status=status,
        reason=reason,
        notes=(*notes, *_notes_of(c)),
        clearance=c.clearance,
        contact_tolerance=c.contact_tolerance,
    )


# --- checks ---------------------------------------------------------------------------------------------------------


def checked(found: Contact | Found, a: Solid, b: Solid) -> Verification:
    """Check an answer again."""
    if isinstance(found, Contact):
        assert isinstance(a, Polytope | CurvedShape)
        assert isinstance(b, Polytope | CurvedShape)
        return verify(found, a, b)
    width = found.upper_bound - found.lower_bound
    # Of pieces the reason says whose depth it is, not that it is not known.
    meet = width <= PIECES_MEET * found.depth if found.of_pieces else not found.reason
    checks = [
        Check(
            "the bounds hold the signed distance",
            found.lower_bound <= found.signed_distance <= found.upper_bound,
            f"{found.lower_bound:.9g} to {found.upper_bound:.9g}",
        ),
        Check("the bounds meet", meet, found.reason),
    ]
    if found.nearest is not None:
        checks += verify(*found.nearest).checks
        return Verification(tuple(checks), width)
    if found.of_cores:
        a, b = (shape.skeleton or shape if isinstance(shape, CurvedShape) else shape for shape in (a, b))
    if isinstance(found.source, CompoundContact):
        checks += _checked_pieces(found.source, *(_as_compound("", shape, [])[0] for shape in (a, b)))
    elif found.of_cores:
        miss = float(np.linalg.norm(found.point_on_b - found.point_on_a - found.signed_distance * found.normal))
        small = min(extent_of(a), extent_of(b)) or max(extent_of(a), extent_of(b))
        checks.append(Check("witness points realise the signed distance", miss <= 1e-9 * small, f"off by {miss:.3g}"))
    else:
        checks += _checked_meshes(found, *(_as_mesh("", shape, [])[0] for shape in (a, b)))
    return Verification(tuple(checks), width)


def _checked_pieces(c: CompoundContact, a: Compound | Polytope, b: Compound | Polytope) -> list[Check]:
    one, other = (shape.pieces if isinstance(shape, Compound) else (shape,) for shape in (a, b))
    moved = [piece.moved(c.mtv) for piece in other] if c.depth > 0.0 else list(other)
    wanted = max(c.signed_distance, 0.0)
    boxes = [np.array([piece.bounds[k] for piece in pieces]) for pieces in (one, moved) for k in (0, 1)]
    pairs = candidate_pairs(boxes[0], boxes[1], boxes[2], boxes[3], margin=wanted).pairs
    worst = min((contact(one[i], moved[j]).signed_distance for i, j in pairs.tolist()), default=wanted)
    miss = float(np.linalg.norm(c.point_on_b - c.point_on_a - c.signed_distance * c.normal))
    what = "moving B by the MTV parts all pieces" if c.depth > 0.0 else "no two pieces are nearer"
    return [
        Check(what, worst >= wanted - 4.0 * c.tolerance, f"{len(pairs)} pairs, nearest {worst:.6g}"),
        Check("witness points realise the signed distance", miss <= 4.0 * c.tolerance, f"off by {miss:.3g}"),
    ]


def _checked_meshes(c: Found, a: Mesh, b: Mesh) -> list[Check]:
    small = min(a.diagonal, b.diagonal) or max(a.diagonal, b.diagonal)
    band = c.contact_tolerance * small
    checks = []
    if c.signed_distance > 0.0:
        miss = float(np.linalg.norm(c.point_on_b - c.point_on_a - c.signed_distance * c.normal))
        checks.append(Check("witness points realise the signed distance", miss <= 1e-9 * small + band, f"{miss:.3g}"))
    if c.depth > 0.0:
        parted = share_nothing(Body.of(a), Body.of(b).moved(c.mtv + band * c.normal))
        checks.append(Check("moving B by the MTV parts the meshes", parted, f"by {c.depth:.6g} and the band"))
    return checks


def lifted(found: Contact | Found, point: FloatArray, axes: FloatArray) -> Contact | Found:
    """Return a contact in a plane as one in space.

    point (3,) is the plane's origin, axes (2, 3) its unit vectors in the world.
    """

    def place(points: FloatArray) -> FloatArray:
        return point + points @ axes

    changes: dict[str, Any] = {
        "normal": found.normal @ axes,
        "point_on_a": place(found.point_on_a),
        "point_on_b": place(found.point_on_b),
        "ties": found.ties @ axes,
    }
    if isinstance(found, Contact):
        region = found.region
        if region is not None:
            changes["region"] = replace(region, vertices=place(region.vertices), centroid=place(region.centroid))
        return replace(found, **changes)
    changes["regions"] = tuple(
        replace(
            merged,
            normal=merged.normal @ axes,
            centroid=place(merged.centroid),
            outline=place(merged.outline),
            patches=tuple(
                replace(
                    patch,
                    normal=patch.normal @ axes,
                    region=replace(
                        patch.region, vertices=place(patch.region.vertices), centroid=place(patch.region.centroid)
                    ),
                )
                for patch in merged.patches
            ),
        )
        for merged in found.regions
    )
    if found.centroid is not None:
        changes["centroid"] = place(found.centroid)
    return replace(found, **changes)
