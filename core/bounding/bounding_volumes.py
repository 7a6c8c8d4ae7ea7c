# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes behind one interface, many at a time: spheres, axis-aligned and oriented boxes, k-DOPs.

Source: S3.1, S3.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_cloud, as_indices
from ..progress import Progress
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.polytope import Polytope, as_polytope
from ..types import FloatArray, IntArray
from .bounding_sphere import bounding_spheres
from .kdop import bounding_kdops, kdops_of_triangles
from .kdop_polytope import default_k, kdop_directions
from .obb import bounding_obbs, obbs_of_shapes
from .round_volumes import kdop_of_round, obb_of_round, sphere_of_round
from .volumes import Volumes, as_starts

Kind = Literal["sphere", "aabb", "obb", "kdop"]
"""Kinds of bounding volume. "aabb" is the k-DOP of 6 directions in space, of 4 in the plane."""


def bounding_volumes(
    kind: Kind,
    points: ArrayLike,
    starts: ArrayLike | None = None,
    *,
    k: int | None = None,
    progress: Progress | None = None,
) -> Volumes:
    """Return the bounding volumes of groups of points, world frame.

    >>> boxes = bounding_volumes("aabb", [(0, 0, 0), (1, 2, 3), (4, 4, 4), (5, 5, 6)], [0, 2])
    >>> print(boxes.low.tolist(), boxes.high.tolist())
    [[0.0, 0.0, 0.0], [4.0, 4.0, 4.0]] [[1.0, 2.0, 3.0], [5.0, 5.0, 6.0]]

    points (N, dim), dim 2 or 3. `starts` (g,) are the indices of the first point of each group; a group ends where
    the next begins, the last with the points. It must grow. None: all points are one group. `k` is for "kdop" only: 6,
    14, 18 or 26 in space, 4 or 8 in the plane; 18 and 8 when it is not given. No groups, no volumes.
    `progress` is called with the fraction done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is of another kind or shape or not finite, when a group has no
    points or when there is no such k; Cancelled when `progress` says so. Source: S3.1.

    >>> triangles = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 5.0], [5.0, 7.0]]
    >>> boxes = bounding_volumes("aabb", triangles, [0, 3])
    >>> boxes.centers.tolist()
    [[1.0, 0.5], [5.5, 6.0]]
    >>> boxes.overlaps(boxes.take([1, 0])).tolist()
    [False, False]
    """
    _validate_kind(kind, k)
    array, first = _as_groups(points, starts)
    return _bound(kind, array, first, k, progress)


def volumes_of_triangles(
    kind: Kind,
    points: ArrayLike,
    triangles: ArrayLike,
    *,
    k: int | None = None,
    progress: Progress | None = None,
) -> Volumes:
    """Return the bounding volumes of the triangles of a mesh, world frame, as of groups of three points.

    >>> boxes = volumes_of_triangles("aabb", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2), (0, 2, 3)])
    >>> print(boxes.high.tolist())
    [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]

    points (N, dim), dim 2 or 3; triangles (m, 3) indices into them, m may be 0; `k` and `progress` as for
    `bounding_volumes`.

    Raises ValueError, naming the argument, when one is of another kind or shape or not finite, when an index has no
    point or when there is no such k; Cancelled when `progress` says so. Source: S3.1.

    >>> square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    >>> volumes_of_triangles("aabb", square, [[0, 1, 2], [0, 2, 3]]).centers.tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]
    """
    _validate_kind(kind, k)
    array, _ = _as_groups(points, [])
    corners = as_indices("triangles", triangles, len(array), "points", columns=3)
    if kind in ("aabb", "kdop"):
        return kdops_of_triangles(array, corners, _plane_count(kind, k, array.shape[1]), progress)
    return _bound(kind, array.take(corners.ravel(), axis=0), np.arange(0, corners.size, 3), k, progress)


def volumes_of_shapes(
    kind: Kind, shapes: Iterable[ConvexShape], *, k: int | None = None, progress: Progress | None = None
) -> Volumes:
    """Return one bounding volume for each convex shape. No shapes: no volumes, of dimension 3.

    >>> spheres = volumes_of_shapes("sphere", [Box((0, 0, 0), (2, 2, 2)), Box((5, 0, 0), (4, 4, 2))])
    >>> print(spheres.radius.round(3).tolist())
    [1.732, 3.0]
    >>> volumes_of_shapes("aabb", [Capsule((0, 0, 0), (0, 0, 3), 0.5)]).volume.round(9).tolist()
    [4.0]

    `k` and `progress` as for `bounding_volumes`.

    Raises ValueError, naming the argument, when something is no shape, when the shapes are not of one dimension or
    when there is no such k; Cancelled when `progress` says so.

    >>> volumes_of_shapes("aabb", [Box([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])]).volume.tolist()
    [8.0]
    """
    _validate_kind(kind, k)
    if not isinstance(shapes, Iterable) or isinstance(shapes, ConvexShape):
        raise ValueError(f"shapes must be a list of shapes, not {type(shapes).__name__}")
    shapes = [
        shape if isinstance(shape, CurvedShape) else as_polytope(f"shapes[{i}]", shape)
        for i, shape in enumerate(shapes)
    ]
    dims = {shape.dim for shape in shapes}
    if len(dims) > 1:
        raise ValueError("shapes: all must have the same dimension, but there are some of 2 and some of 3")
    dim = dims.pop() if dims else 3
    polytopes = [(i, shape) for i, shape in enumerate(shapes) if isinstance(shape, Polytope)]
    curved = [(i, shape) for i, shape in enumerate(shapes) if isinstance(shape, CurvedShape)]
    found = _bound_polytopes(kind, [shape for _, shape in polytopes], dim, k, progress)
    if not curved:
        return found
    parts = [found, *(_bound_curved(kind, shape, k) for _, shape in curved)]
    return found.concatenate(parts).take(np.argsort([i for i, _ in polytopes + curved]))


def _bound_polytopes(kind: Kind, shapes: list[Polytope], dim: int, k: int | None, progress: Progress | None) -> Volumes:
    if kind == "obb":
        return obbs_of_shapes(shapes, dim, progress)
    counts = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
    starts: IntArray = np.cumsum(counts) - counts
    points = np.concatenate([shape.vertices for shape in shapes]) if len(shapes) else np.empty((0, dim))
    return _bound(kind, points, starts, k, progress)


def _bound_curved(kind: Kind, shape: CurvedShape, k: int | None) -> Volumes:
    if kind == "sphere":
        return sphere_of_round(shape)
    if kind == "obb":
        return obb_of_round(shape)
    return kdop_of_round(shape, kdop_directions(_plane_count(kind, k, shape.dim), shape.dim))


def _bound(kind: Kind, points: FloatArray, starts: IntArray, k: int | None, progress: Progress | None) -> Volumes:
    if kind == "sphere":
        return bounding_spheres(points, starts, progress)
    if kind == "obb":
        return bounding_obbs(points, starts, progress)
    return bounding_kdops(points, starts, _plane_count(kind, k, points.shape[1]), progress)


def _validate_kind(kind: Kind, k: int | None) -> None:
    if not isinstance(kind, str) or kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, not {kind!r}")
    if k is not None and kind != "kdop":
        raise ValueError(f'k is for "kdop" only, not for {kind!r}')


def _plane_count(kind: Kind, k: int | None, dim: int) -> int:
    if kind == "aabb":
        return 2 * dim
    return default_k(dim) if k is None else k


def _as_groups(points: ArrayLike, starts: ArrayLike | None) -> tuple[FloatArray, IntArray]:
    """Return points (N, 2) or (N, 3), and the index (g,) of the first point of each group."""
    array = as_cloud("points", points)
    if starts is None:
        if not len(array):
            raise ValueError("points: at least one point expected, got none")
        return array, np.zeros(1, dtype=np.intp)
    return array, as_starts(starts, len(array), "points")
