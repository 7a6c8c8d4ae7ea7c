# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the proof that no short translation separates two solids: cells, a ball or two triangles inside both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..connected import connected_parts
from ..meshes.body import Body
from ..meshes.depth_proof import CommonBall, CommonCells, CrossingPair, DepthProof, Lattice
from ..narrow_phase.sat import sat
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross
from .check import Check
from .form import is_array, is_length
from .inside import turns
from .surfaces import off_surface

_ORTHOGONAL = 1e-12
"""Error of the products of the axes of a lattice."""
_BOXES = 1e-9
"""Cells: how much a cell is widened, and relative: how much a bound may be too long."""
_CHUNK = 1 << 15
"""Pairs of cells and triangles in one go."""
_MOST_CELLS = 1 << 22
"""Boxes of translations: a proof with more is not checked."""


def proof_faults(proof: object, triangles: tuple[int, int]) -> Iterator[str]:
    """Yield what is wrong with the form of a proof of a depth, of meshes with so many triangles."""
    if isinstance(proof, CommonCells):
        lattice = proof.lattice
        if not (
            isinstance(lattice, Lattice)
            and is_array(lattice.frame, (3, 3))
            and is_array(lattice.origin, (3,))
            and is_length(lattice.size)
            and lattice.size > 0.0
            and np.abs(lattice.frame @ lattice.frame.T - np.eye(3)).max() <= _ORTHOGONAL
        ):
            yield f"the cells of the proof of the depth are {lattice!r}"
        for cells in (proof.of_a, proof.of_b):
            if not (isinstance(cells, np.ndarray) and cells.dtype.kind == "i" and cells.shape == (len(proof.of_a), 3)):
                yield f"the cells of the proof of the depth are {cells!r}"
    elif isinstance(proof, CommonBall):
        if not (is_array(proof.middle, (3,)) and is_length(proof.radius)):
            yield f"the ball inside both is {proof!r}"
    elif isinstance(proof, CrossingPair):
        for number, count in zip((proof.triangle_a, proof.triangle_b), triangles, strict=True):
            if not (isinstance(number, int) and 0 <= number < count):
                yield f"the crossing triangles are {proof!r}"
    elif proof is not None:
        yield f"the proof of the depth is {proof!r}"
    if isinstance(proof, CommonCells | CrossingPair) and not is_length(proof.least):
        yield f"the depth that is proved is {proof.least!r}"


def check_depth_proof(proof: DepthProof | None, a: Body, b: Body, least: float, room: float) -> Check:
    """Check that a proof shows that no translation shorter than `least`, but for `room`, separates two solids."""
    name = "no shorter translation separates"
    wanted = least * (1.0 - _BOXES) - room
    if wanted <= 0.0:
        return Check(name, True, "none is reported to be proved")
    if proof is None:
        return Check(name, False, "there is no proof")
    if isinstance(proof, CommonBall):
        inside = all(body.solid and abs(turns(proof.middle, body.mesh)) > 0.5 for body in (a, b))
        radius = min(off_surface(proof.middle, body.mesh) for body in (a, b))
        ok = inside and 2.0 * min(radius, proof.radius) >= wanted
        return Check(name, ok, f"a ball inside both has the radius {radius:.9g}, its middle is inside: {inside}")
    if isinstance(proof, CrossingPair):
        p, q = (
            ConvexHull(body.mesh.points[body.mesh.triangles[number]])
            for body, number in ((a, proof.triangle_a), (b, proof.triangle_b))
        )
        depth = -sat(p, q).signed_distance
        return Check(name, depth >= wanted, f"two triangles are {depth:.9g} deep in each other")
    for body, cells in ((a, proof.of_a), (b, proof.of_b)):
        fault = _cells_fault(body, proof.lattice, np.unique(cells, axis=0))
        if fault:
            return Check(name, False, fault)
    covered = _covered_length(proof)
    return Check(name, covered >= wanted, f"{len(proof.of_a)} pairs of cells inside both prove {covered:.9g}")


def _covered_length(proof: CommonCells) -> float:
    """Return how long all translations may be that pairs of cells prevent from separating."""
    steps = proof.of_a - proof.of_b
    most = int(proof.least / proof.lattice.size) + 2
    if (2 * most) ** 3 > _MOST_CELLS:
        return 0.0
    steps = steps[(np.abs(steps) <= most).all(axis=1)] + most
    covered = np.zeros((2 * most + 2,) * 3, dtype=np.bool_)
    for corner in np.ndindex(2, 2, 2):
        # The box before and that behind each coordinate.
        covered[tuple((steps + corner).T)] = True
    near = np.arange(-most - 1, most + 1, dtype=np.float64)
    near = np.maximum(np.maximum(near, -1.0 - near), 0.0) ** 2
    squares = near[:, None, None] + near[:, None] + near
    return float(squares.min(where=~covered, initial=float(most**2))) ** 0.5 * proof.lattice.size


def _cells_fault(body: Body, lattice: Lattice, cells: IntArray) -> str:
    """Return what is wrong with cells (k, 3) that are said to be inside a solid; empty when they are."""
    if not body.solid:
        return "cells are inside of a surface that is not closed"
    corners = lattice.cells_from(body.mesh.points)[body.mesh.triangles]  # (m, 3, 3)
    low, high = cells.min(axis=0), cells.max(axis=0) + 1.0
    near = ((corners.min(axis=1) <= high) & (corners.max(axis=1) >= low)).all(axis=1)
    corners = corners[near]
    if len(corners):
        pairs = candidate_pairs(cells - _BOXES, cells + (1.0 + _BOXES), corners.min(axis=1), corners.max(axis=1)).pairs
        for part in chunks(len(pairs), _CHUNK):
            i, j = pairs[part].T
            if _boxes_meet(cells[i] + 0.5, corners[j]).any():
                return "a triangle enters a cell that is said to be inside"
    # Cells that touch along a face without a triangle in them are on one side of the surface.
    links = [np.zeros((0, 2), dtype=np.intp)]
    for axis in range(3):
        along = np.lexsort((cells[:, axis], cells[:, axis - 1], cells[:, axis - 2]))
        steps = np.diff(cells[along], axis=0)
        beside = np.flatnonzero((steps[:, axis] == 1) & (np.abs(steps).sum(axis=1) == 1))
        links.append(np.stack([along[beside], along[beside + 1]], axis=1))
    part_of = connected_parts(np.concatenate(links), len(cells))
    heads = np.flatnonzero(part_of == np.arange(len(cells)))
    outside = int((~body.contains(lattice.points_at(np.add(cells[heads], 0.5)))).sum())
    return f"{outside} groups of cells are outside" if outside else ""


def _boxes_meet(middles: FloatArray, corners: FloatArray) -> BoolArray:
    """Return (k,) whether boxes with sides of 1 around `middles` (k, 3) may meet triangles (k, 3, 3)."""
    p, q, r = (corners[:, k].T - middles.T for k in range(3))
    half = 0.5 + _BOXES
    edges = (q - p, r - q, p - r)
    axes = [cross(edges[0], edges[1])]
    for edge in edges:
        none = np.zeros_like(edge[0])
        axes += [
            np.stack([none, edge[2], -edge[1]]),
            np.stack([-edge[2], none, edge[0]]),
            np.stack([edge[1], -edge[0], none]),
        ]
    meet = np.ones(len(middles), dtype=np.bool_)
    for axis in axes:
        heights = np.stack([(axis * corner).sum(axis=0) for corner in (p, q, r)])
        reach = half * np.abs(axis).sum(axis=0)
        meet &= (heights.min(axis=0) <= reach) & (heights.max(axis=0) >= -reach)
    return meet
