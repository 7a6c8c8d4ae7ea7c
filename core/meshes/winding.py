# SPDX-License-Identifier: GPL-3.0-or-later
"""Generalised winding numbers: how often a surface made of triangles goes around a point, and what is inside of it.

The winding number is the sum of the solid angles of the triangles, over that of the whole sphere. It is 1 inside and 0
outside of a closed surface whose normals point outward, also where the surface crosses itself (2 where it is inside
twice), and changes smoothly where there are holes. Triangles far away are seen as a fan over their border, which has
the same solid angle, exactly: nothing is approximated. Angles that floats cannot decide, next to an edge or a face,
come from whole numbers.

Source: A. Jacobson, L. Kavan, O. Sorkine, Robust inside-outside segmentation using generalized winding numbers, 2013;
A. van Oosterom, J. Strackee, The solid angle of a plane triangle, 1983.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan2, isqrt, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_points, validate_magnitude
from ..hierarchy.bvh import Bvh
from ..narrow_phase.exact import WholeVector, exact_cross, exact_difference, exact_dot
from ..progress import Progress, report_progress, subrange
from ..runs import chunks
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from ..vectors import dot
from .coordinates import scale_exponent, scale_points, whole_vectors
from .fans import LEAF, fans_of
from .surface import Surface, node_bounds, validate_mesh

_WINDING_ROUNDING = 16.0
"""Times EPS and the product of the distances of a triangle's corners from a point: the point may be on either side of
its plane where the determinant of the three is less."""
_WINDING_SHARP = 1e-6
"""Times the same product: where the sine and the cosine of half a solid angle, times it, are both less, the point is
next to an edge, and rounding would turn the angle by more than EPS over this."""

_HALF = 1e-9
"""Not relative: winding numbers less than a half by no more than this count as a half. Far more than sums of the angles
of all triangles, or of fans instead, are rounded by; numbers at which they differ are those of no plane or symmetry."""

_BATCH = 1 << 14
"""Pairs of a point and a triangle, or a node, in one go."""

_POINTS = 1 << 12
"""Points that go down the tree together."""

_FEW = 1 << 16
"""Pairs of points and triangles up to which all are added up."""

_MANY = 8
"""Points from which on it pays to make fans."""


@dataclass(frozen=True, eq=False)
class Winding(ReadOnlyArrays):
    """Winding numbers of q points. The arrays are read-only."""

    numbers: FloatArray
    """(q,) how often the surface goes around each point, against the clock as seen from outside. Whole numbers, but
    for rounding, where the surface is closed. On the surface itself the mean of its sides, 0.5 on a face."""
    on_surface: BoolArray
    """(q,) whether a point is on a triangle. This is exact."""


def winding_numbers(points: ArrayLike, mesh: Surface, progress: Progress | None = None) -> Winding:
    """Return how often the surface of a mesh goes around each of some points.

    Args:
        points: (q, 3), world frame; q may be 0.
        mesh: any mesh; its surface may have holes, cross itself, or be in one place several times. Points of the same
            coordinates count as one.
        progress: called with the fraction done, 0 to 1; False cancels.

    The numbers are right to about 1e-9. Raise ValueError, naming the argument, when the points are not such an array or
    the mesh is not a Mesh; Cancelled when `progress` returns False. Source: S3.4.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> tetrahedron = Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    >>> winding_numbers([[0.1, 0.1, 0.1], [1, 1, 1]], tetrahedron).numbers.round(9) + 0.0
    array([1., 0.])
    """
    return _winding(points, mesh, 0, progress)


def contains(points: ArrayLike, mesh: Surface, progress: Progress | None = None) -> BoolArray:
    """Return (q,) whether a mesh contains each of some points (q, 3), its surface included.

    Inside is where the surface goes around by more than a half, in either direction: normals may point outward or
    inward. For closed meshes this is exact. Holes are closed by the surface on which the winding number is a half. That
    is included too: points on the plane of a bowl's rim are inside, whatever rounding says and was asked before.

    Arguments and errors are those of `winding_numbers`.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> contains([[0.1, 0.1, 0.1], [1, 1, 1]], Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    array([ True, False])
    """
    # The more often some points are asked for, the sooner the way down the tree pays.
    asked = mesh.known.get("points asked", 0) if isinstance(mesh, Surface) else 0
    winding = _winding(points, mesh, asked, progress)
    mesh.known["points asked"] = asked + len(winding.numbers)
    return read_only(winding.on_surface | (np.abs(winding.numbers) > 0.5 - _HALF))


def _winding(points: ArrayLike, mesh: Surface, asked: int, progress: Progress | None) -> Winding:
    """Return the result of `winding_numbers`; `asked`: how many points were asked for before."""
    array = as_points("points", points, 3)
    validate_magnitude("points", array)
    validate_mesh("mesh", mesh)
    report_progress(progress, 0.0)
    count = len(array)
    total, touching = np.zeros(count), np.zeros(count, dtype=np.bool_)
    faces, number = _SolidAngles.of(array, mesh), len(mesh.triangles)
    if count + asked < _MANY or (count + asked) * number <= _FEW:
        for part in chunks(count, _BATCH // number, progress):
            faces.add_all(part, total, touching)
    else:
        descent = _WindingDescent.of(mesh, faces)
        for part in chunks(count, _POINTS):
            of = np.arange(part.start, part.stop)
            descent.add(of, total, touching, subrange(progress, part.start / count, part.stop / count))
    report_progress(progress, 1.0)
    total /= 4.0 * pi
    return Winding(read_only(total), read_only(touching))


@dataclass(frozen=True, eq=False)
class _SolidAngles:
    """Points and triangles, whose solid angles from there are added up."""

    points: FloatArray
    vertices: FloatArray
    triangles: IntArray | NDArray[np.int32]
    rows: FloatArray
    """(3, q) the points at a scale at which products of three lengths neither overflow nor vanish."""
    corners: FloatArray
    """(3, n) the vertices at the same scale."""
    times: IntArray | None
    """(m,) how often each triangle counts; None where each counts once."""

    @classmethod
    def of(cls, points: FloatArray, mesh: Surface) -> _SolidAngles:
        """Return those of all triangles of a mesh."""
        reach = max(float(np.abs(corner).max()) for corner in mesh.reach)
        exponent = scale_exponent(max(reach, float(np.abs(points).max(initial=0.0))))
        rows, corners = (scale_points(np.ascontiguousarray(x.T), exponent) for x in (points, mesh.points))
        return cls(points, mesh.points, mesh.triangles, rows, corners, mesh.times)

    def add(self, of: IntArray, chosen: IntArray, total: FloatArray, touching: BoolArray) -> None:
        """Add the solid angle of triangle chosen[k] from point of[k] to `total`, and note which points are on one."""
        if not len(of):
            return
        point = self.rows.take(of, axis=1)
        third = self.triangles.take(chosen, axis=0).T
        angle, unsure = _angles(*(self.corners.take(corner, axis=1) - point for corner in third))
        for k in np.flatnonzero(unsure).tolist():
            angle[k] = self._exactly(of[k], chosen[k], touching)
        if self.times is not None:
            angle *= self.times.take(chosen)
        begin = int(of.min())
        sums = np.bincount(of - begin, angle)
        total[begin : begin + len(sums)] += sums

    def add_all(self, of: slice, total: FloatArray, touching: BoolArray) -> None:
        """Add the solid angles of all triangles from some points to `total`, and note which points are on one."""
        points = self.rows[:, of, None]
        for part in chunks(len(self.triangles), _BATCH // points.shape[1]):
            third = self.triangles[part].T
            angle, unsure = _angles(*(self.corners.take(corner, axis=1)[:, None] - points for corner in third))
            for k, triangle in np.argwhere(unsure).tolist():
                angle[k, triangle] = self._exactly(of.start + k, part.start + triangle, touching)
            if self.times is not None:
                angle *= self.times[part]
            total[of] += angle.sum(axis=1)

    def _exactly(self, point: int, triangle: int, touching: BoolArray) -> float:
        """Return the solid angle of a triangle, and note whether the point is on it."""
        angle, on = _angle_exactly(self.points[point], self.vertices[self.triangles[triangle]])
        touching[point] |= on
        return angle


def _angles(a: FloatArray, b: FloatArray, c: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the solid angles of triangles with these corners (3, ...) as seen from the origin, and a mask of those
    that rounding may have turned."""
    length_a, length_b, length_c = (np.sqrt(dot(v, v)) for v in (a, b, c))
    sine = a[0] * (b[1] * c[2] - b[2] * c[1])
    sine += a[1] * (b[2] * c[0] - b[0] * c[2])
    sine += a[2] * (b[0] * c[1] - b[1] * c[0])
    product = length_a * length_b * length_c
    cosine = product + dot(a, b) * length_c
    cosine += dot(b, c) * length_a
    cosine += dot(c, a) * length_b
    angle = np.arctan2(sine, cosine)
    angle *= 2.0
    # Next to an edge both are rounding; in front of a face the sign of one decides between half a turn either way.
    size = np.abs(sine)
    unsure = (cosine < 0.0) & (size <= _WINDING_ROUNDING * EPS * product)
    size += np.abs(cosine)
    unsure |= size <= _WINDING_SHARP * product
    return angle, unsure


@dataclass(frozen=True, eq=False)
class _WindingDescent:
    """The descent of points in the tree of a mesh: what they are outside of is replaced by a fan."""

    faces: _SolidAngles
    fans: _SolidAngles
    """The triangles of all fans."""
    tree: Bvh
    low: FloatArray
    """(3, m) lowest coordinates of the nodes' boxes; what is below is inside exactly."""
    high: FloatArray
    """(3, m) highest."""
    first: NDArray[np.int32]
    """(m,) the first triangle of each node's fan."""
    count: NDArray[np.int32]
    """(m,) how many its fan has."""

    @classmethod
    def of(cls, mesh: Surface, faces: _SolidAngles) -> _WindingDescent:
        """Return the descent of the tree of a mesh."""
        fans = fans_of(mesh)
        triangles = fans.triangles[:, ::-1] if mesh.is_turned else fans.triangles
        return cls(
            faces,
            replace(faces, triangles=triangles, times=None),
            mesh.tree,
            *node_bounds(mesh),
            fans.first,
            fans.count,
        )

    def add(self, of: IntArray, total: FloatArray, touching: BoolArray, progress: Progress | None) -> None:
        """Add the solid angles of all triangles from some points to `total`, and note which points are on one."""
        tree, points = self.tree, self.faces.points
        rows = np.ascontiguousarray(points.take(of, axis=0).T)
        begin = int(of[0])
        waiting = [(of, np.zeros(len(of), dtype=np.intp), 1.0)]
        done = 0.0
        while waiting:
            of, nodes, fraction = waiting.pop()
            if len(of) > _BATCH:
                part = fraction * _BATCH / len(of)
                waiting.append((of[:-_BATCH], nodes[:-_BATCH], fraction - part))
                of, nodes, fraction = of[-_BATCH:], nodes[-_BATCH:], part
            inside = np.ones(len(of), dtype=np.bool_)
            for axis in range(3):
                x = rows[axis].take(of - begin)
                inside &= self.low[axis].take(nodes) <= x
                inside &= x <= self.high[axis].take(nodes)
            left, count, below = tree.left.take(nodes), self.count.take(nodes), tree.count.take(nodes)
            # A fan of more triangles than there are is of no use.
            few = count <= below
            lowest = (below <= LEAF) | (left < 0)
            self._add(np.flatnonzero(~inside & few), of, nodes, True, total, touching)
            self._add(np.flatnonzero((inside & lowest) | ~(inside | few)), of, nodes, False, total, touching)
            k = np.flatnonzero(inside & ~lowest)
            if len(k):
                waiting.append((np.repeat(of.take(k), 2), (left.take(k)[:, None] + np.arange(2)).ravel(), fraction))
            else:
                done += fraction
            report_progress(progress, done)

    def _add(
        self, k: IntArray, of: IntArray, nodes: IntArray, fans: bool, total: FloatArray, touching: BoolArray
    ) -> None:
        """Add what the fan of node nodes[k], or all triangles below it, have from point of[k]."""
        of, nodes = of.take(k), nodes.take(k)
        columns = (self.first, self.count) if fans else (self.tree.first, self.tree.count)
        first, count = (column.take(nodes).astype(np.intp, copy=False) for column in columns)
        ends = np.cumsum(count)
        for begin in range(0, int(ends[-1]) if len(ends) else 0, _BATCH):
            number = np.arange(begin, min(begin + _BATCH, int(ends[-1])))
            pair = np.searchsorted(ends, number, side="right")
            number += (first - (ends - count)).take(pair)
            if fans:
                self.fans.add(of.take(pair), number, total, touching)
            else:
                self.faces.add(of.take(pair), self.tree.items.take(number), total, touching)


def _angle_exactly(point: FloatArray, triangle: FloatArray) -> tuple[float, bool]:
    """Return the solid angle of a triangle (3, 3) from a point, 0 in its plane, and whether the point is on it."""
    (p, *corners), _ = whole_vectors(np.concatenate([point[None], triangle]))
    a, b, c = (exact_difference(corner, p) for corner in corners)
    sine = exact_dot(a, exact_cross(b, c))
    if sine == 0:
        return 0.0, _contains_origin(a, b, c)
    squares = [exact_dot(v, v) for v in (a, b, c)]
    # A cosine is what is left of products of three lengths: to the square of how near the point is to an edge.
    digits = 64 + 3 * max(square.bit_length() for square in squares)
    length_a, length_b, length_c = (isqrt(square << 2 * digits) for square in squares)
    remaining = exact_dot(a, b) * length_c + exact_dot(b, c) * length_a + exact_dot(c, a) * length_b
    cosine = length_a * length_b * length_c + (remaining << 2 * digits)
    sine <<= 3 * digits
    shorter = max(0, max(sine.bit_length(), cosine.bit_length()) - 1000)
    return 2.0 * atan2(sine >> shorter, cosine >> shorter), False


def _contains_origin(a: WholeVector, b: WholeVector, c: WholeVector) -> bool:
    """Return whether a triangle in one plane with the origin contains it."""
    sides = [(a, b), (b, c), (c, a)]
    turns = [exact_cross(p, q) for p, q in sides]
    normal = (sum(t[0] for t in turns), sum(t[1] for t in turns), sum(t[2] for t in turns))
    if any(normal):
        return all(exact_dot(normal, turn) >= 0 for turn in turns)
    return any(not any(turn) and exact_dot(p, q) <= 0 for (p, q), turn in zip(sides, turns, strict=True))
