# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact that follows from a trace: the solvers take its steps again, and each is compared.

What they search is not searched: the support points of GJK and EPA, and what they start from, are read from the trace.
A support point is right when it is as far as any vertex, to rounding; whatever follows from it has to agree to the last
digit. When EPA's polytope grows, all of its faces are looked at, not only those that its walk reaches. Source: S4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from math import frexp, hypot
from typing import NoReturn

import numpy as np

from .curved.convex_contact import convex_contact
from .narrow_phase.epa import _EPA_GRID_BITS, _plane
from .narrow_phase.exact import WholeVector, exact_dot, whole_plane
from .narrow_phase.gjk import simplex_of, size_of_difference
from .narrow_phase.step_list import StepList
from .result import Certificate, Contact
from .shapes.curved_shape import ConvexShape
from .shapes.polytope import Polytope
from .shapes.shape import validate_solids
from .shapes.simplex import Vector, Vertex
from .tolerance import EPA_FILTER, EPS, SUPPORT_ROUNDING
from .trace import TRACE_VERSION, EpaStep, FaceCorners, GjkStep, IndexPair, Step, Trace


def replay(trace: Trace, a: ConvexShape, b: ConvexShape) -> Contact:
    """Return the contact that follows from the steps of `contact(a, b, trace=True)`, equal in every field.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((1.5, 0.5, 0), (2, 2, 2))
    >>> trace = contact(a, b, trace=True).trace
    >>> replay(trace, a, b).depth
    0.5
    >>> from dataclasses import replace
    >>> replay(replace(trace, steps=trace.steps[1:]), a, b)
    Traceback (most recent call last):
    ValueError: step 0 (epa): a step of gjk is expected here

    Raises ValueError for a trace of other shapes, or one whose steps are not all in order; the message begins with the
    index of the first step that does not follow from those before, and its kind. Source: S4.5.
    """
    if not isinstance(trace, Trace):
        raise ValueError(f"trace must be that of contact(a, b, trace=True), not {type(trace).__name__}")
    validate_solids(a, b)
    if trace.version != TRACE_VERSION:
        raise ValueError(f"trace: its version is {trace.version}, not {TRACE_VERSION}; make it again")
    if trace.function != "contact":
        raise ValueError(f"trace: a trace of contact(a, b, trace=True) is needed, not one of {trace.function}")
    for name, shape, count in zip("ab", (a, b), trace.counts, strict=True):
        core = shape.skeleton if isinstance(shape, ConvexShape) else None
        if core is None:
            what = f"which a {type(shape).__name__} is not"
            raise ValueError(f"{name} must have vertices, as ConvexHull, or be rounded from some, as Sphere, {what}")
        if (core.dim, len(core.vertices)) != (trace.dim, count):
            raise ValueError(
                f"{name}: the trace is of a shape with {count} vertices in {trace.dim} dimensions, "
                f"not {len(core.vertices)} in {core.dim}"
            )
    if trace.radii != (a.rounding_radius, b.rounding_radius):
        raise ValueError(f"trace: it is of shapes with the radii {trace.radii[0]:g} and {trace.radii[1]:g}")
    found = convex_contact(
        a,
        b,
        method=trace.method,
        clearance=trace.clearance,
        contact_tolerance=trace.contact_tolerance,
        start=_start_of(trace),
        recorder=partial(_Tape, trace.steps),
    )
    assert found.trace is not None
    for number, (recorded, computed) in enumerate(zip_longest(trace.steps, found.trace.steps)):
        if recorded != computed:
            _refuse(number, recorded, computed)
    if found.trace != trace:
        raise ValueError("trace: from_start does not follow from its steps")
    return found


def _start_of(trace: Trace) -> Certificate | None:
    """Return the certificate of the last contact as far as the search started from it, if it did."""
    first = trace.steps[0] if trace.steps else None
    corners: tuple[IndexPair, ...] = ()
    facets: tuple[tuple[int, ...], ...] = ()
    if isinstance(first, EpaStep) and trace.from_start:
        corners = first.corners
        number = {corner: k for k, corner in enumerate(corners)}
        facets = tuple(tuple(number.get(corner, -1) for corner in face) for face in first.added)
    elif isinstance(first, GjkStep) and first.support is None:
        corners = first.tried
    if not corners or not all(_is_pair(corner, trace.counts) for corner in corners):
        return None
    if any(len(facet) != 3 or min(facet) < 0 for facet in facets):
        return None
    index_a, index_b = zip(*corners, strict=True)
    return Certificate(np.zeros(trace.dim), index_a, index_b, (), corners if facets else (), facets)


def _is_pair(pair: object, counts: tuple[int, int]) -> bool:
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(index, int) for index in pair)):
        return False
    return all(0 <= index < count for index, count in zip(pair, counts, strict=True))


def _refuse(number: int, recorded: Step | None, computed: Step | None) -> NoReturn:
    """Raise for a recorded step that is not the one computed."""
    shown = recorded or computed
    assert shown is not None
    if computed is None:
        reason = "the contact is known before it"
    elif recorded is None:
        reason = "it is missing"
    elif recorded.kind != computed.kind:
        reason = f"a step of {computed.kind} is expected here"
    else:
        found, given = vars(computed), vars(recorded)
        name = next((name for name in ("support", *found) if found.get(name) != given.get(name)), "kind")
        reason = (
            f"{given.get(name)} is not a support point"
            if name == "support"
            else f"{name} does not follow from the steps before"
        )
    raise ValueError(f"step {number} ({shown.kind}): {reason}")


class _Tape(StepList):
    """The steps that are taken again on two polytopes of ordinary size, with the support points of those recorded."""

    def __init__(self, recorded: Sequence[Step], a: Polytope, b: Polytope) -> None:
        super().__init__(a, b)
        self.recorded = recorded
        size = size_of_difference(a, b)
        self.rounding, self.filtered = SUPPORT_ROUNDING * EPS * size, EPA_FILTER * EPS * size
        self.cells = 2.0 ** (_EPA_GRID_BITS - frexp(size)[1])
        self.faces: dict[FaceCorners, tuple[tuple[Vertex, ...], tuple[float, float, float, float] | None]] = {}
        """Of each face of EPA's polytope its corners, and its plane where floats know it."""

    def support(self, direction: Vector, found: Vertex) -> Vertex:
        """Return the support point in the step that comes next, if it is as far as the one found."""
        number = len(self)
        pair = getattr(self.recorded[number], "support", None) if number < len(self.recorded) else None
        if pair is None or pair == found[3:] or not _is_pair(pair, (len(self.a.vertices), len(self.b.vertices))):
            return found
        (point,) = simplex_of(self.a, self.b, [pair])
        lack = sum(x * (far - near) for x, far, near in zip(direction, found, point, strict=False))
        if lack > self.rounding * hypot(*direction):  # mutant: replay-any-support-point
            return found
        return point

    def append(self, step: Step) -> None:
        """Add a step; of EPA in space it must change the polytope as all of its faces say."""
        if isinstance(step, EpaStep) and self.a.dim == 3:
            if step.outcome == "start":
                self.faces.clear()
            elif step.outcome == "grown":
                self._look_at_all_faces(step)
            for face in step.removed:
                del self.faces[face]
            for face in step.added:
                corners = simplex_of(self.a, self.b, face)
                self.faces[face] = corners, _plane(*corners)
        super().append(step)

    def _look_at_all_faces(self, step: EpaStep) -> None:
        """Raise if other faces see the support point than those that are removed, or their border is another one."""
        assert step.support is not None
        (point,) = simplex_of(self.a, self.b, [step.support])
        seen = {face for face in self.faces if self._sees(face, point)}
        sides = {(face[k - 1], face[k]) for face in seen for k in range(3)}
        border = {(start, end) for start, end in sides if (end, start) not in sides}
        cone = tuple((start, end, step.support) for start, end in reversed(step.silhouette))
        if {*step.removed} != seen or {*step.silhouette} != border or step.added != cone:
            raise ValueError(f"step {len(self)} (epa): its faces are not those that the support point has to change")

    def _sees(self, face: FaceCorners, point: Vertex) -> bool:
        """Return whether a point is above a face: by integers on EPA's grid where floats do not decide."""
        corners, plane = self.faces[face]
        if plane is not None:
            x, y, z, offset = plane
            height = x * point[0] + y * point[1] + z * point[2] - offset
            if abs(height) > self.filtered:
                return height > 0.0
        x_, y_, z_, offset_ = whole_plane(*map(self._whole, corners))
        return exact_dot((x_, y_, z_), self._whole(point)) > offset_

    def _whole(self, point: Vertex) -> WholeVector:
        x, y, z, _, _ = point
        return int(x * self.cells), int(y * self.cells), int(z * self.cells)
