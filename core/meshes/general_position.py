# SPDX-License-Identifier: GPL-3.0-or-later
"""Two meshes in general position: how their surfaces cut each other when B is moved by an infinitesimal step.

The step is (e, e**2, e**3) for an e that tends to 0, so no corner of one mesh is in the plane of a triangle of the
other and no two edges meet: what is left are edges that go through triangles, and each two triangles that cross have a
segment between two such points. Whatever touches or coincides is decided by the step, everywhere in the same way: the
cuts of closed surfaces bound closed parts. The decisions are exact; the points are those of the meshes as they are.

Source: H. Edelsbrunner, E. P. Muecke, Simulation of simplicity, 1990.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runs import chunks
from ..shapes.orientation import (
    SignArray,
    precise_areas,
    precise_volumes,
    signs_of_areas,
    signs_of_turns,
    signs_of_volumes,
)
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays
from ..vectors import length

_BATCH = 1 << 14
"""Pairs of triangles in one go."""
_NEXT = np.array([1, 2, 0])
_PLANES = ((1, 2), (2, 0), (0, 1))
"""The two other axes of each axis."""

Columns = FloatArray
"""Points (3, n) at a scale at which products of three lengths neither overflow nor vanish."""


@dataclass(frozen=True, eq=False)
class Cuts(ReadOnlyArrays):
    """How the surface of one mesh is cut by that of the other; k cut edges in points, s segments."""

    edges: IntArray
    """(k, 2) the corners of the edge that point `nodes[k]` is on, the smaller number first."""
    others: IntArray
    """(k,) the triangle of the other mesh that the edge goes through there."""
    steps: IntArray
    """(k,) 1 where the edge, from its first corner, goes through it against its normal, -1 where along it."""
    nodes: IntArray
    """(k,) the number of the point."""
    triangles: IntArray
    """(s,) the triangle that a segment is in."""
    segments: IntArray
    """(s, 2) the points that it goes from and to: behind the other surface is on its left, seen from outside."""


@dataclass(frozen=True, eq=False)
class GeneralPosition(ReadOnlyArrays):
    """The cuts of two meshes in general position."""

    a: Cuts
    b: Cuts
    fractions: FloatArray
    """(n,) where on its edge each point is: 0.0 at the first corner, 1.0 at the second. The first points are on edges
    of A. They are quotients of heights above planes that are known to twice the digits."""
    heights: FloatArray
    """(n,) six times the volumes between the edge's ends and the triangle, together: the scale of these heights."""
    areas: FloatArray
    """(n,) twice the area of the triangle."""
    is_consistent: bool
    """Whether every cut has two ends, as those of all triangles with an area have."""


def general_position(a: Columns, b: Columns, triangles: tuple[IntArray, IntArray], pairs: IntArray) -> GeneralPosition:
    """Return the cuts of two meshes with corners `a` and `b`, of the pairs (p, 2) of triangles that meet or touch."""
    found = [_cuts_of_pairs(a, b, triangles, pairs[part]) for part in chunks(len(pairs), _BATCH)]
    pairs = np.concatenate([np.zeros((0, 2), np.intp), *(of for of, _, _ in found)])
    through_a, through_b = (np.concatenate([np.zeros((0, 3), np.int8), *(each[k] for each in found)]) for k in (1, 2))
    # A pair that is cut has two ends.
    both = np.count_nonzero(through_a, axis=1) + np.count_nonzero(through_b, axis=1) == 2
    pairs, through_a, through_b = pairs[both], through_a[both], through_b[both]
    numbers_a, of_a = _nodes_of(triangles[0], pairs[:, 0], pairs[:, 1], through_a, 0)
    numbers_b, of_b = _nodes_of(triangles[1], pairs[:, 1], pairs[:, 0], through_b, len(of_a))
    # In a triangle of A a segment begins where an edge of A leaves B, or an edge of B enters A, and ends elsewhere.
    numbers = np.concatenate([numbers_a, numbers_b], axis=1)
    begins = np.concatenate([through_a < 0, through_b > 0], axis=1)
    ends = np.concatenate([through_a > 0, through_b < 0], axis=1)
    whole = begins.any(axis=1) & ends.any(axis=1)
    rows = np.flatnonzero(whole)
    links = np.stack([table.argmax(axis=1)[rows] for table in (begins, ends)], axis=1)
    segments = numbers[rows[:, None], links]
    nodes = np.arange(len(of_a) + len(of_b))
    cuts_a = Cuts(of_a[:, :2], of_a[:, 2], of_a[:, 3], nodes[: len(of_a)], pairs[rows, 0], segments)
    cuts_b = Cuts(of_b[:, :2], of_b[:, 2], of_b[:, 3], nodes[len(of_a) :], pairs[rows, 1], segments[:, ::-1])
    fractions = [
        _fractions(own, other, triangles[1 - k], cuts)
        for k, (own, other, cuts) in enumerate(((a, b, cuts_a), (b, a, cuts_b)))
    ]
    where, heights, areas = (np.concatenate(part) for part in zip(*fractions, strict=True))
    return GeneralPosition(cuts_a, cuts_b, where, heights, areas, bool(both.all() and whole.all()))


def windings_by_rays(points: Columns, far: FloatArray, others: Columns, triangles: IntArray, is_a: bool) -> IntArray:
    """Return (q,) how often a closed mesh goes around points (3, q) in general position, by how its triangles cut the
    line to a point outside of it; `is_a`: whether the points are of A, and the mesh is B."""
    result = np.zeros(points.shape[1], dtype=np.intp)
    face = [others.take(triangles[:, k], axis=1) for k in range(3)]
    count = len(triangles)
    end = np.repeat(far[:, None], count, axis=1)
    toward = 1 if is_a else -1
    outer = _heights(face, end, toward)
    for k in range(points.shape[1]):
        begin = np.repeat(points[:, k : k + 1], count, axis=1)
        inner = _heights(face, begin, toward)
        which = np.flatnonzero(inner * outer < 0)
        line = begin.take(which, axis=1), end.take(which, axis=1)
        corners = [corner.take(which, axis=1) for corner in face]
        sides = [_sides(line, (corners[j], corners[_NEXT[j]]), toward) for j in range(3)]
        through = np.abs(np.sum(sides, axis=0)) == 3
        result[k] = -int(inner.take(which)[through].sum())
    return result


def _cuts_of_pairs(
    a: Columns, b: Columns, triangles: tuple[IntArray, IntArray], pairs: IntArray
) -> tuple[IntArray, SignArray, SignArray]:
    """Return the pairs that are cut, and for each side (3,) of their triangles whether it goes through the other: 1
    against its normal, -1 along it, 0 not at all."""
    above_b = _corners_above(a, triangles[0][pairs[:, 0]], b, triangles[1], pairs[:, 1], 1)
    above_a = _corners_above(b, triangles[1][pairs[:, 1]], a, triangles[0], pairs[:, 0], -1)
    maybe = np.flatnonzero((np.abs(above_a.sum(axis=0)) < 3) & (np.abs(above_b.sum(axis=0)) < 3))
    above_a, above_b = above_a.take(maybe, axis=1), above_b.take(maybe, axis=1)
    corners = [
        [points.take(of[which, k], axis=1) for k in range(3)]
        for points, of, which in zip((a, b), triangles, pairs[maybe].T, strict=True)
    ]
    sides = np.empty((3, 3, len(maybe)), dtype=np.int8)
    for i in range(3):
        for j in range(3):
            edge, other = (corners[0][i], corners[0][_NEXT[i]]), (corners[1][j], corners[1][_NEXT[j]])
            sides[i, j] = _sides(edge, other, 1)
    through = [
        np.where((above != above[_NEXT]) & (np.abs(sides.sum(axis=axis)) == 3), above, 0).T.astype(np.int8)
        for above, axis in ((above_b, 1), (above_a, 0))
    ]
    cut = np.flatnonzero(through[0].any(axis=1) | through[1].any(axis=1))
    return pairs.take(maybe.take(cut), axis=0), through[0][cut], through[1][cut]


def _corners_above(
    points: Columns, corners: IntArray, others: Columns, triangles: IntArray, faces: IntArray, toward: int
) -> SignArray:
    """Return on which side of its triangle `faces[k]` each of the corners (k, 3) is, (3, k); see `_heights`. Triangles
    beside each other have corners in common, of which each is tested once."""
    codes = faces[:, None] * points.shape[1] + corners
    tests, place = np.unique(codes, return_inverse=True)
    of, corner = np.divmod(tests, points.shape[1])
    face = [others.take(triangles[of, k], axis=1) for k in range(3)]
    return _heights(face, points.take(corner, axis=1), toward).take(place.reshape(codes.shape)).T


def _heights(face: list[Columns], points: Columns, toward: int) -> SignArray:
    """Return on which side of triangles points are, 1 where their normals point: of B's triangles and points of A with
    `toward` 1, of A's triangles and points of B with -1; 0 of a triangle without area, through which nothing goes."""
    signs = signs_of_volumes(face[0], face[1], face[2], points).signs
    unclear = np.flatnonzero(signs == 0)
    if len(unclear):
        corners = [corner.take(unclear, axis=1) for corner in face]
        found = np.zeros(len(unclear), dtype=np.int8)
        for y, z in _PLANES:
            left = np.flatnonzero(found == 0)
            found[left] = signs_of_areas(*(corner[[y, z]].take(left, axis=1) for corner in corners)).signs
        # B's step is along its own normal where that is positive: points of A are then behind.
        signs[unclear] = -toward * found
    return signs


def _sides(edge: tuple[Columns, Columns], other: tuple[Columns, Columns], toward: int) -> SignArray:
    """Return the signs of the volumes of edges of A and other edges of B, with `toward` -1 of B and of A; 0 where they
    are parallel and in one plane."""
    (p, q), (r, s) = edge, other
    signs = signs_of_volumes(p, q, r, s).signs
    unclear = np.flatnonzero(signs == 0)
    if len(unclear):
        p, q, r, s = (corner.take(unclear, axis=1) for corner in (p, q, r, s))
        found = np.zeros(len(unclear), dtype=np.int8)
        for y, z in _PLANES:
            left = np.flatnonzero(found == 0)
            found[left] = signs_of_turns(*(corner[[y, z]].take(left, axis=1) for corner in (p, q, s, r)))
        signs[unclear] = toward * found
    return signs


def _nodes_of(
    triangles: IntArray, own: IntArray, other: IntArray, through: SignArray, first: int
) -> tuple[IntArray, IntArray]:
    """Return for each side (p, 3) of triangles `own` that goes through a triangle `other` the number of the point
    there, any where it does not; and the table (k, 4) of these points: edge, triangle, step."""
    rows, sides = np.nonzero(through)
    starts, ends = triangles[own[rows], sides], triangles[own[rows], _NEXT[sides]]
    steps = through[rows, sides] * np.where(starts < ends, 1, -1)
    table = np.stack([np.minimum(starts, ends), np.maximum(starts, ends), other[rows], steps], axis=1)
    table, place = np.unique(table, axis=0, return_inverse=True)
    numbers = np.zeros(through.shape, dtype=np.intp)
    numbers[rows, sides] = first + place.ravel()
    return numbers, table


def _fractions(
    own: Columns, other: Columns, triangles: IntArray, cuts: Cuts
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return where on their edges points are (k,), the heights of both ends together, and the triangles' areas."""
    face = [other.take(triangles[cuts.others, k], axis=1) for k in range(3)]
    ends = [own.take(end, axis=1) for end in cuts.edges.T]
    low, high = (np.abs(precise_volumes(face[0], face[1], face[2], end)) for end in ends)
    span = low + high
    is_clear: BoolArray = span > 0.0
    areas = [precise_areas(*(corner[[y, z]] for corner in face)) for y, z in _PLANES]
    return np.where(is_clear, low / np.where(is_clear, span, 1.0), 0.5), span, length(np.stack(areas))
