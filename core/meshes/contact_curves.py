# SPDX-License-Identifier: GPL-3.0-or-later
"""The curves in which two meshes meet: segments of pairs of triangles, joined end to end.

An end of a segment is where a feature of A meets a feature of B: an edge a triangle, a corner an edge. Ends with the
same two features are one point; distances play no part, so neither a near miss nor rounding joins or parts curves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..region.contact_curve import ContactCurve
from ..types import BoolArray, FloatArray, IntArray, read_only
from .coordinates import scale_exponent, scale_points
from .copies import welded_ids
from .coplanar_triangles import coplanar_segments
from .crossings import FACE, Crossings, Meeting
from .mesh import Mesh
from .surface import validate_mesh

_BATCH = 8192


def contact_curves(crossings: Crossings, a: Mesh, b: Mesh) -> list[ContactCurve]:
    """Return the curves in which two meshes meet, of what `crossing_triangles(a, b)` found.

    Closed curves where they close; others end where a mesh ends, where a curve runs into another, or where more than
    two parts of a curve meet. Points with exactly the same coordinates are one, so seams of doubled vertices do not
    part curves. Where flat parts overlap there is no curve within; around them there is, and along the edges where a
    surface ends within the other. Places where the meshes touch in a point are curves of one point. For a mesh with
    itself (`self_crossings`) it is given twice.

    The order follows that of the triangles. Raise ValueError, naming the argument, when something is of another kind
    or the crossings are not of these meshes.

    >>> a = Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> b = Mesh([[1, 1, -1], [1, 1, 1], [1, 3, 1]], [[0, 1, 2]])
    >>> curves = contact_curves(crossing_triangles(a, b), a, b)
    >>> print([(len(curve.points), curve.is_closed, curve.length) for curve in curves])
    [(2, False, 1.0)]
    """
    _check(crossings, a, b)
    if not len(crossings):
        return []
    pairs, features, segments = crossings.pairs, crossings.features, crossings.segments
    used = np.flatnonzero(crossings.kinds < Meeting.COPLANAR)
    rims = _rims(crossings, a, b)
    pairs = np.concatenate([pairs.take(used, axis=0), rims.pairs])
    features = np.concatenate([features.take(used, axis=0), rims.features])
    segments = np.concatenate([segments.take(used, axis=0), rims.segments])
    ends = np.array([_codes(mesh, pairs[:, k], features[:, :, k]).ravel() for k, mesh in enumerate((a, b))])
    order = np.lexsort(ends)  # stable: the first of equals has the least index
    ranked = ends.take(order, axis=1)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranked[:, 1:] != ranked[:, :-1]).any(axis=0)
    first, node = order[new], np.empty_like(order)
    node[order] = np.cumsum(new) - 1
    points = segments.reshape(-1, 3).take(first, axis=0)
    links = node.reshape(-1, 2)
    real = links[:, 0] != links[:, 1]
    # The same segment is found from both triangles beside an edge that lies on the other mesh.
    codes = np.minimum(links[:, 0], links[:, 1]) * len(first) + np.maximum(links[:, 0], links[:, 1])
    kept = np.unique(codes[real], return_index=True)[1]
    kept.sort()
    joined = links[real][kept]
    alone = np.ones(len(first), dtype=np.bool_)
    alone[joined] = False
    result = [ContactCurve(read_only(points.take(path, axis=0)), closed) for path, closed in paths(joined, len(first))]
    order = np.flatnonzero(alone)
    order = order.take(np.argsort(first.take(order)))
    result += [ContactCurve(read_only(points.take([k], axis=0)), False) for k in order.tolist()]
    return result


class _RimCrossings(NamedTuple):
    """Where the edges at which one mesh ends lie on triangles of the other, in their plane; as in `Crossings`."""

    pairs: IntArray
    segments: FloatArray
    features: NDArray[np.uint8]


def _rims(crossings: Crossings, a: Mesh, b: Mesh) -> _RimCrossings:
    """Return the segments that neighbours beyond an edge would add if there were any. Exact."""
    flat = crossings.pairs.take(np.flatnonzero(crossings.kinds >= Meeting.COPLANAR), axis=0)
    rims = [_RimCrossings(np.empty((0, 2), np.intp), np.empty((0, 2, 3)), np.empty((0, 2, 2), np.uint8))]
    exponent = scale_exponent(max(a.magnitude, b.magnitude))
    for k, (mesh, other) in enumerate(((a, b), (b, a)) if len(flat) else ()):
        rows, sides = np.nonzero(_open_sides(mesh).take(flat[:, k], axis=0))
        for begin in range(0, len(rows), _BATCH):
            row, side = rows[begin : begin + _BATCH], sides[begin : begin + _BATCH]
            pairs = flat.take(row, axis=0)
            own = mesh.triangles.take(pairs[:, k], axis=0)
            number = np.arange(len(row))
            p, q = (
                np.ascontiguousarray(scale_points(mesh.points.take(own[number, j], axis=0), exponent).T)
                for j in (side, (side + 1) % 3)
            )
            its = other.triangles.take(pairs[:, 1 - k], axis=0)
            corners = scale_points(other.points.take(its.ravel(), axis=0), exponent)
            corners = np.ascontiguousarray(corners.reshape(-1, 9).T)
            normals = np.cross(corners[3:6] - corners[:3], corners[6:] - corners[:3], axis=0)
            met, ends, features = coplanar_segments(p, q, corners, normals)
            side = side.take(met)
            names = np.stack([side, (side + 1) % 3, side, 3 + side])
            of_own = names[features[:, 0], np.arange(len(met))].astype(np.uint8)
            named = np.stack([of_own, features[:, 1]] if k == 0 else [features[:, 1], of_own], axis=1)
            ends = scale_points(ends, -exponent)
            rims.append(_RimCrossings(pairs.take(met, axis=0), ends.transpose(2, 0, 1), named.transpose(2, 0, 1)))
    return _RimCrossings(*(np.concatenate(column) for column in zip(*rims, strict=True)))


def _open_sides(mesh: Mesh) -> BoolArray:
    """Return (m, 3) whether no other triangle has the side from a corner to the next, points of one place being one."""
    corners = mesh.welded_ids.take(mesh.triangles)
    after = np.roll(corners, -1, axis=1)
    codes = np.minimum(corners, after) * len(mesh.points) + np.maximum(corners, after)
    _, place, uses = np.unique(codes, return_inverse=True, return_counts=True)
    return (uses.take(place) == 1).reshape(codes.shape)


def _codes(mesh: Mesh, triangles: IntArray, features: NDArray[np.uint8]) -> IntArray:
    """Return a number (k, 2) for the corner, edge or triangle of the mesh that each end is on."""
    used, corners = np.unique(mesh.triangles.take(triangles, axis=0), return_inverse=True)
    corners = welded_ids(mesh.points.take(used, axis=0)).take(corners.reshape(-1, 3))
    count, rows, side = len(used), np.arange(len(triangles))[:, None], features % 3
    start, stop = corners[rows, side], corners[rows, (side + 1) % 3]
    edge = (np.minimum(start, stop) + 1) * count + np.maximum(start, stop)
    inside = (count + 1) * count + triangles[:, None]
    return np.where(features < 3, start, np.where(features == FACE, inside, edge))


def paths(links: IntArray, count: int) -> list[tuple[IntArray, bool]]:
    """Return the paths of a graph between nodes that not just two links meet in, and its rings: nodes, whether a ring.

    `links` (k, 2) are pairs of the nodes 0 to count - 1.
    """
    ends = links.ravel()
    degree = np.bincount(ends, minlength=count)
    order = np.argsort(ends, kind="stable")
    # The other end of a link at a node where two meet; ends are numbered 2 k and 2 k + 1.
    partner = np.full(len(ends), -1, dtype=np.intp)
    starts = np.cumsum(degree) - degree
    two = starts[degree == 2]
    partner[order[two]], partner[order[two + 1]] = order[two + 1], order[two]
    next_end, node = partner.tolist(), ends.tolist()
    begins = np.flatnonzero(partner < 0).tolist()
    seen = bytearray(len(links))
    result = []
    for start in [*begins, *range(0, len(node), 2)]:
        if seen[start >> 1]:
            continue
        path, end = [node[start]], start
        while end >= 0 and not seen[end >> 1]:
            seen[end >> 1] = 1
            path.append(node[end ^ 1])
            end = next_end[end ^ 1]
        closed = path[0] == path[-1] and len(path) > 3
        result.append((np.array(path[:-1] if closed else path, dtype=np.intp), closed))
    return result


def _check(crossings: object, a: object, b: object) -> None:
    if not isinstance(crossings, Crossings):
        raise ValueError(f"crossings must be what crossing_triangles returns, not {type(crossings).__name__}")
    for name, mesh, side in (("a", a, 0), ("b", b, 1)):
        validate_mesh(name, mesh)
        assert isinstance(mesh, Mesh)
        if len(crossings) and int(crossings.pairs[:, side].max()) >= len(mesh.triangles):
            raise ValueError(f"{name} has fewer triangles than the crossings refer to")
