# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for two shapes of any kind: checks the arguments and calls what solves such a pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from .arguments import as_length
from .budget import Budget
from .compounds.compound import ConvexPieces, as_compound
from .curved.convex_contact import convex_contact
from .narrow_phase.polytope_contact import polytope_contact
from .narrow_phase.step_list import Recorder, StepList
from .progress import Progress
from .result import Contact, Method, Proof
from .shapes.curved_shape import ConvexShape, CurvedShape
from .shapes.polytope import Polytope
from .shapes.shape import Shape, validate_solids
from .tolerance import DEFAULT_CONTACT_TOLERANCE

if TYPE_CHECKING:
    from .mesh_contact.mesh_pair import Pieces
    from .meshes.solid_facets import Solid

_METHODS = get_args(Method)


def contact(
    a: Solid,
    b: Solid,
    *,
    method: Method = "auto",
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    start: Contact | None = None,
    budget: float | None = None,
    pieces_a: Pieces | None = None,
    pieces_b: Pieces | None = None,
    depth: bool = True,
    regions: bool = True,
    progress: Progress | None = None,
    trace: bool = False,
) -> Contact:
    """Return where, how deep and in which direction two shapes collide, or how far apart they are.

    Args:
        a, b: convex shapes such as `ConvexHull` or `Sphere`, a `Compound`, or a `Mesh`; of one dimension. A closed mesh
            stands for the solid inside of it, any other for a bare surface; its faults are listed in `notes` and never
            refused.
        method: of two convex shapes. "gjk" is GJK and EPA, "sat" is SAT (whose gap is only a lower bound of the
            distance, so a separated pair gets distance and witness points from GJK started at the separating axis) and
            slow beyond some hundred vertices, "both" computes both and compares them in `cross_check`, "auto" picks the
            fastest, which is GJK and EPA. Compounds and meshes have an algorithm of their own, whatever it is.
        clearance: a length in world units; gaps up to this are WITHIN_CLEARANCE.
        contact_tolerance: relative to the smaller non-zero `diameter` of the two shapes: the band of TOUCHING around 0
            and the width of the support features, neither less than rounding.
        start: the last contact of two polytopes that have moved little since then, their vertices in the same order:
            they are solved from the features that decided, faster. The result is as right whatever it is.
        budget: seconds for refining the depth of compounds and meshes, until its bounds meet; 0 gives the first answer,
            whose translation separates; None ends the search after as many steps on every machine.
        pieces_a, pieces_b: the result of `mesh_pieces` for a mesh as it is now, to save time, or a function that
            returns it when it is needed, or None without exact ones; None: made when needed.
        depth: False: no depth is searched of compounds and meshes that are deeper in each other than the contact
            tolerance; see `Status.BOUNDS_ONLY`.
        regions: False: compounds and meshes that touch or are within the clearance have no regions, which `verify`
            then misses.
        progress: called with the fraction done, 0 to 1, of compounds and meshes; False cancels.
        trace: whether the result has the steps of SAT, GJK, EPA and the region in `trace`, for study. Of spheres,
            capsules and rounded shapes they are those of the cores, without the region; other shapes that have no
            vertices, compounds and meshes are refused.

    Raises ValueError, naming the argument, when one is not a shape, the dimensions differ, or an option is not valid;
    Cancelled when `progress` returns False. Source: S1.1 to S1.5, S2.1 to S2.6, S4.1, S4.2.

    >>> c = contact(Box([0, 0, 0], [1, 1, 1]), Box([0.5, 0, 0], [1, 1, 1]))
    >>> c.relation.value, c.depth, c.normal.tolist()
    ('penetrating', 0.5, [1.0, 0.0, 0.0])
    """
    validate_solids(a, b)
    if not (isinstance(method, str) and method in _METHODS):
        raise ValueError(f'method must be "auto", "sat", "gjk" or "both", not {method!r}')
    clearance = as_length("clearance", clearance)
    contact_tolerance = as_length("contact_tolerance", contact_tolerance)
    if start is not None and not isinstance(start, Contact):
        raise ValueError(f"start must be what contact(a, b) returned, not {type(start).__name__}")
    seconds = None if budget is None else as_length("budget", budget)
    if (pieces_a is not None or pieces_b is not None) and isinstance(a, ConvexPieces) and isinstance(b, ConvexPieces):
        raise ValueError("pieces_a and pieces_b must be None: only a Mesh has pieces")
    last, recorder = None if start is None else start.certificate, StepList if trace else None
    options = _Options(
        method, clearance, contact_tolerance, last, recorder, seconds, pieces_a, pieces_b, depth, regions, progress
    )
    for solver in SOLVERS:
        if isinstance(a, solver.shapes) and isinstance(b, solver.shapes):
            break
    return solver.solve(a, b, options)


class _Options(NamedTuple):
    """The validated options of `contact`."""

    method: Method
    clearance: float
    contact_tolerance: float
    start: Proof | None
    recorder: Recorder | None
    seconds: float | None
    pieces_a: Pieces | None
    pieces_b: Pieces | None
    depth: bool
    regions: bool
    progress: Progress | None


def _of_polytopes(a: Polytope, b: Polytope, options: _Options) -> Contact:
    return polytope_contact(a, b, *options[:5])


def _of_convex(a: ConvexShape, b: ConvexShape, options: _Options) -> Contact:
    method, clearance, contact_tolerance, *_ = options
    for shape in (a, b):
        if options.recorder and shape.skeleton is None:
            what = f"this {type(shape).__name__} has no vertices"
            raise ValueError(f"trace: {what}; take the ConvexHull of points of its surface")
    if method in ("sat", "both") and any(isinstance(s, CurvedShape) and s.skeleton is None for s in (a, b)):
        raise ValueError(
            f'method {method!r} needs polytopes, or polytopes with a radius: take "auto" for smooth shapes'
        )
    return convex_contact(
        a, b, method=method, clearance=clearance, contact_tolerance=contact_tolerance, recorder=options.recorder
    )


def _of_compounds(a: ConvexPieces, b: ConvexPieces, options: _Options) -> Contact:
    from .compounds.compound_contact import compound_contact

    if options.recorder:
        raise ValueError("trace: a Compound has no steps of its own; pick two of its pieces, or take a ConvexHull")
    return compound_contact(
        as_compound(a),
        as_compound(b),
        clearance=options.clearance,
        contact_tolerance=options.contact_tolerance,
        budget=Budget.of_seconds(options.seconds),
        depth=options.depth,
        regions=options.regions,
        progress=options.progress,
    )


def _of_meshes(a: Solid, b: Solid, options: _Options) -> Contact:
    from .mesh_contact.mesh_contact import mesh_contact

    if options.recorder:
        raise ValueError("trace: a Mesh has no steps of its own; take the ConvexHull of its points, or of a piece")
    return mesh_contact(
        a,
        b,
        clearance=options.clearance,
        contact_tolerance=options.contact_tolerance,
        budget=Budget.of_seconds(options.seconds),
        pieces_a=options.pieces_a,
        pieces_b=options.pieces_b,
        depth=options.depth,
        regions=options.regions,
        progress=options.progress,
    )


class Solver(NamedTuple):
    """What solves a kind of pair."""

    kind: str
    shapes: Any
    """A class, or a union of some, of both shapes of the pair."""
    solve: Callable[[Any, Any, _Options], Contact]
    steps: str


SOLVERS = (
    Solver("polytopes", Polytope, _of_polytopes, "GJK; if they intersect EPA, or SAT on request"),
    Solver(
        "curved shapes",
        ConvexShape,
        _of_convex,
        "polytopes inside give one bound, support points the other, until they meet; closed forms where there are any",
    ),
    Solver(
        "compounds",
        ConvexPieces,
        _of_compounds,
        "the nearest pieces; if they intersect, the shortest translation out of the union of Minkowski differences",
    ),
    Solver(
        "meshes",
        Shape,
        _of_meshes,
        "triangles that cross give curves; distance and winding numbers; a depth is searched and proved on the meshes",
    ),
)
"""In this order: a pair is solved by the first row that both of its shapes belong to, so `kind` is that of one of them,
and the other is of that or an earlier kind."""
