# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the proof that no short translation separates two solids: cells, a ball or a point inside, triangles that
cross."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..connected import connected_parts
from ..meshes.body import Body
from ..meshes.crossings import Crossings
from ..meshes.depth_bounds import triangle_depths
from ..meshes.depth_proof import (
    CommonBall,
    CommonCells,
    CommonPoints,
    CrossingBoxes,
    CrossingPair,
    DepthProof,
    Lattice,
    Octree,
    PointInside,
)
from ..meshes.triangle_distance import triangle_distances
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross
from .bounds import Proven
from .check import Check
from .form import are_pairs, is_array, is_length
from .inside import distances, turns
from .pair_proof import pair_bounds
from .surfaces import off_surface

_ORTHOGONAL = 1e-12
"""Error of the products of the axes of a lattice."""
_BOXES = 1e-9
"""Cells: how much a cell is widened, and relative: how much a bound may be too long."""
_CHUNK = 1 << 15
"""Pairs of cells and triangles in one go."""
_MOST_CELLS = 1 << 22
"""Boxes of translations: a proof with more is not checked."""
_MOST_LEVELS = 7
"""Of an octree: the same."""
_DEEPEST = 8
"""Pairs of crossing triangles whose depth is proved: of those that are nearly flat rounding may exaggerate it."""


def proof_faults(proof: object, triangles: tuple[int, int]) -> Iterator[str]:
    """Yield what is wrong with the form of a proof of a depth, of meshes with so many triangles."""
    if isinstance(proof, CommonCells | CommonPoints):
        lattice = proof.lattice
        if not (
            isinstance(lattice, Lattice)
            and _is_frame(lattice.frame)
            and is_array(lattice.origin, (3,))
            and is_length(lattice.size)
            and lattice.size > 0.0
        ):
            yield f"the cells of the proof of the depth are {lattice!r}"
        both = (proof.of_a, proof.of_b) if isinstance(proof, CommonCells) else (proof.cells,)
        if not len(both[0]):
            yield "the proof of the depth has no cells"
        for cells in both:
            if not (isinstance(cells, np.ndarray) and cells.dtype.kind == "i" and cells.shape == (len(both[0]), 3)):
                yield f"the cells of the proof of the depth are {cells!r}"
        if isinstance(proof, CommonPoints):
            of_surface = triangles[0 if proof.of_a else 1]
            yield from _points_faults(proof.points, proof.triangles, of_surface, len(proof.cells))
    elif isinstance(proof, CommonBall):
        if not (is_array(proof.middle, (3,)) and is_length(proof.radius)):
            yield f"the ball inside both is {proof!r}"
    elif isinstance(proof, PointInside):
        yield from _points_faults(proof.point, np.array([proof.triangle]), triangles[0 if proof.of_a else 1], None)
    elif isinstance(proof, CrossingPair):
        for number, count in zip((proof.triangle_a, proof.triangle_b), triangles, strict=True):
            if not (isinstance(number, int) and 0 <= number < count):
                yield f"the crossing triangles are {proof!r}"
    elif isinstance(proof, CrossingBoxes):
        octree, levels, places, pairs = proof.octree, proof.levels, proof.places, proof.pairs
        if not (isinstance(octree, Octree) and _is_frame(octree.frame) and is_length(octree.reach)):
            yield f"the octree of the proof of the depth is {octree!r}"
        if not (
            all(isinstance(of, np.ndarray) and of.dtype.kind == "i" for of in (levels, places, pairs))
            and are_pairs(pairs, *triangles)
            and levels.shape == (len(pairs),)
            and places.shape == (len(pairs), 3)
            and len(pairs) > 0
            and bool(((levels >= 0) & (levels <= _MOST_LEVELS)).all())
        ):
            yield "the boxes of the proof of the depth are not levels, places and pairs of triangles"
    elif proof is not None:
        yield f"the proof of the depth is {proof!r}"
    if not isinstance(proof, CommonBall | None) and hasattr(proof, "least") and not is_length(proof.least):
        yield f"the depth that is proved is {proof.least!r}"


def _is_frame(frame: object) -> bool:
    """Return whether these are orthogonal unit vectors."""
    return (
        isinstance(frame, np.ndarray)
        and is_array(frame, (3, 3))
        and bool(np.abs(frame @ frame.T - np.eye(3)).max() <= _ORTHOGONAL)
    )


def _points_faults(points: object, triangles: object, most: int, count: int | None) -> Iterator[str]:
    """Yield what is wrong with the form of points on some of so many triangles; `count` is None for one point."""
    if not is_array(points, (3,) if count is None else (count, 3)):
        yield f"the points of the proof of the depth are {points!r}"
    if not (
        isinstance(triangles, np.ndarray)
        and triangles.dtype.kind == "i"
        and triangles.shape == (count or 1,)
        and bool(((triangles >= 0) & (triangles < most)).all())
    ):
        yield f"the triangles of the proof of the depth are {triangles!r}"


def check_depth_proof(proof: DepthProof | None, a: Body, b: Body, least: float, room: float) -> Check:
    """Check that a proof shows that no translation shorter than `least`, but for `room`, separates two solids."""
    name = "no shorter translation separates"
    wanted = least * (1.0 - _BOXES) - room
    if wanted <= 0.0:
        return Check(name, True, "the reported bound needs no proof")
    if proof is None:
        return Check(name, False, "there is no proof")
    if isinstance(proof, CommonBall):
        inside = all(body.solid and abs(turns(proof.middle, body.mesh)) > 0.5 for body in (a, b))
        radius = min(off_surface(proof.middle, body.mesh) for body in (a, b))
        ok = inside and 2.0 * min(radius, proof.radius) >= wanted
        return Check(name, ok, f"a ball inside both has the radius {radius:.9g}, its middle is inside: {inside}")
    if isinstance(proof, CrossingPair):
        depth = -_bounds_of_pair(a, b, proof.triangle_a, proof.triangle_b).upper
        return Check(name, depth >= wanted, f"two triangles are {depth:.9g} deep in each other")
    if isinstance(proof, PointInside):
        surface, solid = (a, b) if proof.of_a else (b, a)
        if _off_triangles(surface, proof.point[None], np.array([proof.triangle])) > room:
            return Check(name, False, "the point is not on its triangle")
        inside = solid.solid and abs(turns(proof.point, solid.mesh)) > 0.5
        depth = off_surface(proof.point, solid.mesh)
        return Check(name, inside and depth >= wanted, f"a point is {depth:.9g} deep inside, inside: {inside}")
    if isinstance(proof, CrossingBoxes):
        covered = 0.0 if _are_parted(proof, a, b) else _length_in_boxes(proof)
        return Check(name, covered >= wanted, f"{len(proof.levels)} boxes in which triangles cross prove {covered:.9g}")
    lattice = proof.lattice
    if isinstance(proof, CommonCells):
        of_a, of_b = proof.of_a, proof.of_b
        fault = _cells_fault(a, lattice, np.unique(of_a, axis=0)) or _cells_fault(b, lattice, np.unique(of_b, axis=0))
    else:
        surface, solid = (a, b) if proof.of_a else (b, a)
        around = proof.cells[:, None] + (np.array(list(np.ndindex(3, 3, 3))) - 1)
        fault = _cells_fault(solid, lattice, np.unique(around.reshape(-1, 3), axis=0))
        if not fault and _off_triangles(surface, proof.points, proof.triangles) > room:
            fault = "a point is not on its triangle"
        spots = np.floor(lattice.cells_from(proof.points)).astype(np.intp)
        of_a, of_b = (spots, proof.cells) if proof.of_a else (proof.cells, spots)
    if fault:
        return Check(name, False, fault)
    covered = _covered_length(of_a - of_b, lattice.size, proof.least)
    return Check(name, covered >= wanted, f"{len(of_a)} pairs of cells prove {covered:.9g}")


def crossing_depth(crossings: Crossings, a: Body, b: Body, limit: float) -> float:
    """Return how deep the triangles of a pair that crosses may be in each other, of all such pairs of two bodies; 0.0
    where it is proved that none is deeper than `limit`."""
    pairs = crossings.pairs
    depths = np.zeros(len(pairs))
    for part in chunks(len(pairs), _CHUNK):
        depths[part] = triangle_depths(a.mesh.corner_rows(pairs[part, 0]), b.mesh.corner_rows(pairs[part, 1]))
    depths[~np.isfinite(depths)] = 0.0  # all of their sides are parallel
    first = np.argsort(-depths, kind="stable")[:_DEEPEST]
    deepest = max((-_bounds_of_pair(a, b, *pairs[k].tolist()).lower for k in first if depths[k] > limit), default=0.0)
    return deepest if deepest > limit else 0.0


def _bounds_of_pair(a: Body, b: Body, triangle_a: int, triangle_b: int) -> Proven:
    """Return what is proved of the signed distance of a triangle of A and one of B."""
    p, q = (
        ConvexHull(body.mesh.points[body.mesh.triangles[number]]) for body, number in ((a, triangle_a), (b, triangle_b))
    )
    return pair_bounds(p, q)


def _are_parted(proof: CrossingBoxes, a: Body, b: Body) -> bool:
    """Return whether two triangles of a box are apart for a translation in it: then they are at one of its corners, for
    those for which they meet are convex."""
    p, q = (body.mesh.points[body.mesh.triangles[of]] for body, of in zip((a, b), proof.pairs.T, strict=True))
    for corner in np.ndindex(2, 2, 2):
        moved = np.zeros((len(proof.levels), 3))
        for level in np.unique(proof.levels).tolist():
            of = proof.levels == level
            # The corners are the middles of boxes half a box aside.
            moved[of] = proof.octree.middles(level, proof.places[of] + np.array(corner) - 0.5)
        if triangle_distances(p, q + moved[:, None]).distance.any():
            return True
    return False


def _length_in_boxes(proof: CrossingBoxes) -> float:
    """Return how long all translations may be that are in a box of a proof; no longer than it says."""
    octree, places = proof.octree, np.zeros((1, 3), dtype=np.intp)
    for level in range(int(proof.levels.max()) + 1):
        listed = np.zeros((2**level,) * 3, dtype=np.bool_)
        own = proof.places[proof.levels == level]
        listed[tuple(own[((own >= 0) & (own < 2**level)).all(axis=1)].T)] = True
        places = octree.parts(places) if level else places
        places = places[~listed[tuple(places.T)] & (octree.nearest(level, places) < proof.least)]
    return float(octree.nearest(level, places).min(initial=min(octree.reach, proof.least)))


def _off_triangles(body: Body, points: FloatArray, triangles: IntArray) -> float:
    """Return how far the farthest of points (k, 3) is from its triangle (k,)."""
    return float(distances(points, body.mesh.points[body.mesh.triangles[triangles]]).max(initial=0.0))


def _covered_length(steps: IntArray, size: float, least: float) -> float:
    """Return how long all translations may be that are less than a cell along each axis from one of steps (k, 3) in
    cells, as far as needed to prove `least`."""
    most = int(least / size) + 2
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
    return float(squares.min(where=~covered, initial=float(most**2))) ** 0.5 * size


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
