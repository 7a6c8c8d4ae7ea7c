# SPDX-License-Identifier: GPL-3.0-or-later
"""The polytope between the planes of a k-DOP: directions of the planes, corners and volume. Source: S3.1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from ..runs import chunks
from ..tolerance import EPS
from ..types import FloatArray, IntArray, read_only

_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_CORNERS = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))
_EDGES = ((1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1))
_DIRECTIONS: dict[int, dict[int, tuple[tuple[int, ...], ...]]] = {
    2: {4: ((1, 0), (0, 1)), 8: ((1, 0), (0, 1), (1, 1), (1, -1))},
    3: {6: _AXES, 14: _AXES + _CORNERS, 18: _AXES + _EDGES, 26: _AXES + _CORNERS + _EDGES},
}

_KDOP_CORNER = 16.0
"""Times EPS M: most by which a common point of three planes may be outside of another and be a corner of the k-DOP."""
_CELLS = 1 << 18
"""Numbers held at once while volumes are measured."""


def kdop_directions(k: int, dim: int) -> FloatArray:
    """Return the directions (k / 2, dim) across the slabs of a k-DOP: whole numbers -1, 0 and 1, the axes first.

    k is 6, 14, 18 or 26 in space, 4 or 8 in the plane; any other raises ValueError. Source: S3.1.
    """
    if dim not in _DIRECTIONS:
        raise ValueError(f"dim must be 2 or 3, not {dim!r}")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k not in _DIRECTIONS[dim]:
        known = ", ".join(map(str, _DIRECTIONS[dim]))
        raise ValueError(f"k must be one of {known} in dimension {dim}, not {k!r}")
    return _directions(int(k), dim)


@cache
def _directions(k: int, dim: int) -> FloatArray:
    return read_only(np.array(_DIRECTIONS[dim][k], dtype=np.float64))


def default_k(dim: int) -> int:
    """Return the number of planes when none is given."""
    return 18 if dim == 3 else 8


def kdop_norms(directions: FloatArray) -> FloatArray:
    """Return the lengths (h,) of directions (h, dim), rounded up."""
    norms = np.sqrt((directions * directions).sum(axis=1))
    return np.where(norms > 1.0, np.nextafter(norms, np.inf), norms)


def kdop_corners(directions: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the corners (c, dim) of one k-DOP with bounds (h,), to a few rounding errors; none if it is empty."""
    center, planes = _planes(directions, low, high)
    normals, corners, inverses = _corners(len(planes), len(center))
    unit = EPS * max(float(np.abs(low).max()), float(np.abs(high).max()))
    points = np.matmul(inverses, planes[corners][:, :, None])[:, :, 0]
    points = points[(points @ normals.T <= planes + _KDOP_CORNER * unit).all(axis=1)]
    # Where more planes than needed meet, rounding makes several corners of one.
    apart = np.abs(points[:, None] - points).max(axis=2) > 2.0 * _KDOP_CORNER * unit
    first = np.flatnonzero((apart | np.tri(len(points), dtype=np.bool_).T).all(axis=1))
    return points[first] + center


def kdop_volumes(directions: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the volumes (n,), or areas, of k-DOPs with bounds (h, n)."""
    result = np.empty(low.shape[1])
    for chunk in chunks(len(result), _CELLS // (2 * len(directions)) ** 2):
        result[chunk] = _volumes(directions, low[:, chunk], high[:, chunk])
    return result


def _planes(directions: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the centres (dim, ...) of k-DOPs with bounds (h, ...), and the distances (k, ...) of the planes."""
    dim = directions.shape[1]
    center = 0.5 * low[:dim] + 0.5 * high[:dim]
    offset = directions @ center
    return center, np.concatenate([high - offset, offset - low])


def _volumes(directions: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    k, dim = 2 * len(directions), directions.shape[1]
    _, planes = _planes(directions, low, high)
    # By powers of two, so that products neither overflow nor vanish.
    exponent = np.frexp(np.abs(planes).max(axis=0))[1]
    planes = np.ldexp(planes, -exponent)
    if dim == 2:
        total = _polygon_areas(_unit_normals(k, 2), planes / np.tile(kdop_norms(directions), 2)[:, None])
    else:
        total = np.zeros(low.shape[1])
        for own, facet in enumerate(_facets(k)):
            height = planes[own] * facet.scale
            # In the plane of a facet several other planes may leave lines in one direction: the nearest one counts.
            lines = np.minimum.reduceat(
                planes[facet.others] * facet.own_factor[:, None] - height * facet.height_factor[:, None],
                facet.starts,
                axis=0,
            )
            total += height * _polygon_areas(facet.normals, lines)
        total = np.maximum(total / 3.0, 0.0)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(total, dim * exponent)


@dataclass(frozen=True, eq=False)
class _Facet:
    """The lines in which the other planes of a k-DOP cut one of them, along unit `normals` from its foot point.

    The foot point is the point of the plane nearest to the centre, `planes[own] * scale` away; the line of plane
    others[i] is at `planes[others[i]] * own_factor[i] - that * height_factor[i]`.
    """

    scale: float
    others: IntArray
    own_factor: FloatArray
    height_factor: FloatArray
    starts: IntArray
    """First of the planes for each of the lines."""
    normals: FloatArray
    """(l, 2) in coordinates of the plane."""


@cache
def _unit_normals(k: int, dim: int) -> FloatArray:
    """Return the outward unit normals (k, dim) of the planes, first those of `high`."""
    directions = _directions(k, dim)
    unit = directions / np.sqrt((directions * directions).sum(axis=1))[:, None]
    return read_only(np.concatenate([unit, -unit]))


@cache
def _facets(k: int) -> tuple[_Facet, ...]:
    """Return, for each of the k planes in space, the lines in which the others cut it."""
    normals = np.concatenate([_directions(k, 3), -_directions(k, 3)])
    result = []
    for own, normal in enumerate(_unit_normals(k, 3)):
        others = np.array([j for j in range(k) if j % (k // 2) != own % (k // 2)], dtype=np.intp)
        along = normals[others] @ normal
        within = normals[others] - along[:, None] * normal
        length = np.sqrt((within * within).sum(axis=1))
        x = within[0] / length[0]
        y = np.cross(normal, x)
        flat = np.stack([within @ x, within @ y], axis=1) / length[:, None]
        angle = np.round(np.arctan2(flat[:, 1], flat[:, 0]) % (2 * np.pi), 6) % np.round(2 * np.pi, 6)
        order = np.argsort(angle, kind="stable")
        starts = np.flatnonzero(np.diff(angle[order], prepend=-1.0) > 0.0)
        result.append(
            _Facet(
                float(1.0 / np.sqrt((normals[own] * normals[own]).sum())),
                others[order],
                1.0 / length[order],
                along[order] / length[order],
                starts,
                flat[order][starts],
            )
        )
    return tuple(result)


def _polygon_areas(normals: FloatArray, lines: FloatArray) -> FloatArray:
    """Return the areas (m,) of polygons between lines at distances `lines` (l, m) along unit `normals` (l, 2).

    All normals differ, and each has its opposite. Each line is clipped by the others.
    """
    cosine = normals @ normals.T
    sine = np.outer(normals[:, 0], normals[:, 1])
    sine = sine - sine.T  # [i, j]: how fast line i, along its normal turned left, comes nearer to the limit of line j
    total = np.zeros(lines.shape[1])
    for i in range(len(normals)):
        first, last = np.flatnonzero(sine[i] < -1e-6), np.flatnonzero(sine[i] > 1e-6)
        space = lines - cosine[i][:, None] * lines[i]
        end = (space[last] / sine[i, last][:, None]).min(axis=0)
        begin = (space[first] / sine[i, first][:, None]).max(axis=0)
        length = np.maximum(end - begin, 0.0)
        # Of two opposite lines either both count or none does, also where rounding decides.
        length[lines[i] + lines[int(cosine[i].argmin())] < 0.0] = 0.0
        total += 0.5 * lines[i] * length
    return np.maximum(total, 0.0)


@cache
def _corners(k: int, dim: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the normals (k, dim), every dim planes (t, dim) with a common point, and matrices (t, dim, dim) to it."""
    normals = np.concatenate([_directions(k, dim), -_directions(k, dim)])
    choices = np.array(list(combinations(range(k), dim)), dtype=np.intp)
    regular = np.abs(np.linalg.det(normals[choices])) > 0.5  # determinants of whole numbers
    choices = choices[regular]
    return read_only(normals), read_only(choices), read_only(np.linalg.inv(normals[choices]))
