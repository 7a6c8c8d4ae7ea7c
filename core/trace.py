# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that SAT, GJK, EPA and the contact region took, as records. Imports no solver.

The solvers fill an optional list as they go, so a trace has their own numbers. A point of the Minkowski difference
A - B is written as a pair of indices, (vertex of A, vertex of B), a face of it as its corners. Everything else follows
from the indices: `replay` computes it again. Source: S4.5.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

TRACE_VERSION = 1
"""Version of the form of `Trace.to_dict()`: incremented when a key changes its meaning or is removed."""

IndexPair = tuple[int, int]
"""A point of A - B: vertex i of A minus vertex j of B."""
Vector = tuple[float, ...]
"""(dim,) world frame and units."""
TracedFunction = Literal["contact", "sat", "gjk", "epa"]
_S = TypeVar("_S", bound="Step")


@dataclass(frozen=True)
class Step:
    """One step of an algorithm."""

    kind: ClassVar[str] = ""
    """"sat", "gjk", "epa" or "region"."""
    lengths: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that are in world units, besides both bounds."""

    lower: float | None
    """Lower bound of the signed distance after this step, world units; None where there is none. Of round shapes it is
    that of their cores: the signed distance is less by the radii of the trace."""
    upper: float | None
    """Upper bound of the signed distance after this step, world units; None where there is none."""

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the fields as plain numbers, lists and words, ready for `json.dumps`."""
        return {"kind": self.kind, **{field.name: _plain(getattr(self, field.name)) for field in fields(self)}}

    def scaled(self: _S, exponent: int) -> _S:
        """Return the step for the shapes scaled by 2**exponent."""
        names = ("lower", "upper", *self.lengths)
        return replace(self, **{name: _scaled(getattr(self, name), exponent) for name in names})


AxisOrigin = Literal["face_a", "face_b", "edges", "flat", "sharp"]
AxisSkip = Literal["", "parallel", "duplicate", "no_facet", "no_better", "separated"]


@dataclass(frozen=True)
class AxisStep(Step):
    """SAT: one candidate axis. `lower` is the gap across the best so far, negative for an overlap."""

    kind: ClassVar[str] = "sat"
    lengths: ClassVar[tuple[str, ...]] = ("interval_a", "interval_b", "signed_distance")

    origin: AxisOrigin
    """Where the axis is from: a facet of A or of B, an edge of A x an edge of B; of flat shapes a direction in their
    plane; beside a sharp edge."""
    index_a: int
    """Facet or edge of A that it is from, an index into its `facets` or `edges`; -1 without one. Of two parallel facets
    that which faces B."""
    index_b: int
    """The same of B."""
    axis: Vector | None
    """Unit vector; None where it was not computed."""
    interval_a: tuple[float, float] | None
    """Least and greatest `axis . x` of the points x of A, world frame; None where it was not measured."""
    interval_b: tuple[float, float] | None
    """The same of B."""
    signed_distance: float | None
    """The gap across the axis, or minus the shorter translation along it that separates."""
    is_flipped: bool
    """Whether that is measured against `axis`: the direction from A to B is then `-axis`."""
    best: int
    """The step with the best axis so far, this one included: an index into the steps of the trace; -1 without one. An
    axis of a facet is preferred to an equally good one of two edges, as in the result."""
    skipped: AxisSkip
    """Why it does not count: the edges are "parallel"; the axis is a "duplicate" of one in another step; its edges span
    no facet of A - B ("no_facet"); in the direction of the facet they span it can be "no_better" than the best; the
    search ended, as an earlier one has "separated" the shapes. Empty when it was measured."""


@dataclass(frozen=True)
class AxesSkippedStep(Step):
    """SAT: candidate axes of edge pairs that were left out together: all that span no facet of A - B, and of others
    those beyond the first 1,000."""

    kind: ClassVar[str] = "sat"

    skipped: AxisSkip
    """Why, as in `AxisStep`."""
    count: int
    """How many."""
    best: int
    """As in `AxisStep`."""


GjkOutcome = Literal["", "converged", "repeated", "no_nearer", "stalled", "inside", "touching"]


@dataclass(frozen=True)
class GjkStep(Step):
    """GJK: one support point, and the nearest point of the simplex with it."""

    kind: ClassVar[str] = "gjk"
    lengths: ClassVar[tuple[str, ...]] = ("point", "nearest")

    direction: Vector
    """Unit vector in which the support point of A - B is searched: from the nearest point so far to the origin. Zero in
    a step that starts from a known simplex."""
    support: IndexPair | None
    """The support point; None in a step that starts from a known simplex."""
    point: Vector | None
    """Its coordinates."""
    before: tuple[IndexPair, ...]
    """The simplex before."""
    tried: tuple[IndexPair, ...]
    """The simplex whose nearest point is computed, the support point first. The first tetrahedron has four support
    points of its own: three around the direction and the opposite one. Empty when the search ends before."""
    after: tuple[IndexPair, ...]
    """The smallest feature of `tried` that contains the nearest point, in whose Voronoi region the origin is; all of it
    when the origin is inside."""
    nearest: Vector
    """The point of `after` nearest to the origin."""
    outcome: GjkOutcome
    """Why the search ends here, empty when it goes on: the slab is as wide as the nearest point is far ("converged");
    a support point is "repeated"; rounding finds "no_nearer" point; floats have "stalled", so it continues in exact
    arithmetic after this step; the origin is "inside" of the simplex or "touching" it."""
    is_exact: bool
    """Whether the nearest point is computed in exact arithmetic: where floats have stalled, and of thin tetrahedra."""


EpaOutcome = Literal["start", "grown", "nearest", "tie", "coplanar", "farther", "flat"]
FaceCorners = tuple[IndexPair, ...]


@dataclass(frozen=True)
class EpaStep(Step):
    """EPA: one face of the polytope, and what a support point beyond it changes. `lower` is minus the least height so
    far, `upper` minus the distance of the polytope's surface from the origin, None while the origin is outside."""

    kind: ClassVar[str] = "epa"
    lengths: ClassVar[tuple[str, ...]] = ("offset", "point", "height")

    outcome: EpaOutcome
    """"start": the first polytope, all faces of it in `added`; "grown": the support point was added; "nearest": the
    face is on the surface of A - B and the nearest so far; "tie": it is equally near; "farther": it is on the surface,
    and farther than the nearest; "coplanar": it is part of a face that is known; "flat": A - B has no thickness along
    `normal`, one step for each side."""
    face: FaceCorners
    """The nearest face, counter-clockwise seen from outside, in the plane a side; empty at the start."""
    normal: Vector
    """Its outward unit normal; zero at the start."""
    offset: float | None
    """Its distance from the origin, negative where the origin is outside; None at the start. Where A - B is flat, that
    of A - B."""
    support: IndexPair | None
    """The support point of A - B along the normal; None where it is not computed."""
    point: Vector | None
    """Its coordinates."""
    height: float | None
    """Its distance from the origin along the normal: moving B by this along the normal separates."""
    removed: tuple[FaceCorners, ...]
    """Faces that see the support point."""
    silhouette: tuple[tuple[IndexPair, IndexPair], ...]
    """The border of what is removed, in order around it, each edge as in the face that is added. Empty in the plane."""
    added: tuple[FaceCorners, ...]
    """New faces, each with its corners counter-clockwise seen from outside."""
    is_exact: bool
    """Whether exact arithmetic decided a side that floats did not."""
    corners: tuple[IndexPair, ...] = ()
    """At the start all corners of the polytope, in the order of `Certificate.pairs`; where A - B is flat, one to three
    points of it to which `normal` is perpendicular. Else empty: the support point is the next corner."""


RegionStage = Literal["features", "clip", "result"]


@dataclass(frozen=True)
class RegionStep(Step):
    """Contact region: the two support features, one cut of one by a side of the other, or the result."""

    kind: ClassVar[str] = "region"
    lengths: ClassVar[tuple[str, ...]] = ("origin", "kept", "cut")

    stage: RegionStage
    """"features": both are named; "clip": one is cut; "result": the region."""
    feature_a: tuple[int, ...]
    """Vertices of A's support feature in order around it."""
    feature_b: tuple[int, ...]
    """The same of B."""
    normal: Vector
    """Of the contact plane, from A to B."""
    origin: Vector
    """A point of the contact plane."""
    side: tuple[int, int] | None
    """The side that cuts: two vertices of the shape `side_of`, of the line across a sharp corner one vertex twice. None
    where all sides cut at once, as where there are many, and in other stages."""
    side_of: Literal["", "a", "b"]
    """Whose side it is."""
    kept: tuple[Vector, ...]
    """Corners of what is left, in the contact plane; empty before the first cut, at the end those of the region."""
    cut: tuple[Vector, ...]
    """Corners that were cut off."""


@dataclass(frozen=True)
class Trace:
    """The steps that an algorithm took on two shapes A and B, in order."""

    steps: tuple[Step, ...]
    """In the order in which they were taken."""
    function: TracedFunction
    """What was called."""
    dim: int
    """Dimension of the shapes, 2 or 3."""
    counts: tuple[int, int]
    """Numbers of vertices of A and B; of round shapes, of their cores."""
    radii: tuple[float, float] = (0.0, 0.0)
    """Of round shapes: the steps are of their cores, and the signed distance is less by both radii."""
    method: Literal["auto", "sat", "gjk", "both"] = "auto"
    """The argument of `contact`."""
    clearance: float = 0.0
    """The argument of `contact`."""
    contact_tolerance: float = 0.0
    """The argument of `contact`."""
    from_start: bool = False
    """Whether EPA starts from the polytope of the last contact, the argument `start` of `contact`, without GJK."""
    version: int = TRACE_VERSION
    """Of the form of `to_dict()`; `replay` refuses another."""

    def of_kind(self, *kinds: str) -> tuple[Step, ...]:
        """Return the steps of these kinds."""
        return tuple(step for step in self.steps if step.kind in kinds)

    def scaled(self, exponent: int, clearance: float | None = None) -> Trace:
        """Return the trace of the shapes scaled by 2**exponent, with `clearance` or the scaled clearance."""
        return replace(
            self,
            steps=tuple(step.scaled(exponent) for step in self.steps),
            radii=_scaled(self.radii, exponent),
            clearance=_scaled(self.clearance, exponent) if clearance is None else clearance,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain numbers, lists and words, ready for `json.dumps`."""
        found = {field.name: _plain(getattr(self, field.name)) for field in fields(self) if field.name != "steps"}
        return {**found, "steps": [step.to_dict() for step in self.steps]}


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _scaled(value: Any, exponent: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_scaled(item, exponent) for item in value)
    return None if value is None else float(np.ldexp(value, exponent))
