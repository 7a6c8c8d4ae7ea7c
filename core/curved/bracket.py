# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of the signed distance of smooth cores from both sides.

1. The contact of two polytopes inside the cores gives an upper bound of the signed distance and directions.
2. Support points in these, improved by Newton's method, give a lower bound.
3. Rings of points around the best direction make the polytopes grow, until both bounds meet.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..narrow_phase.polytope_contact import polytope_contact
from ..result import Certificate, Contact, Status, SupportCertificate
from ..tolerance import CURVED_BRACKET, CURVED_RINGS, EPS
from ..types import FloatArray
from .curved_core import Core, Solved, bound_widening, is_better_slab, perpendiculars, rings, slab_noise, slab_widths

_CURVED_LOOSE = 1e-10
"""Times the smaller extent: how much worse than the best direction that of the inner polytopes may be and still be
reported, as its witness points realise it."""
_MOST = 2000
"""Largest number of points of an inner polytope that grows."""
_FACETS = 200
"""Facets of EPA's polytope across which points are added per round."""
_TIES = 4
"""Equally good directions that are improved."""
_STEPS = 12
"""Newton steps from one direction."""
_IDLE = 3
"""Rounds without a better bound after which bounds that have met suffice: no nearer witness points will be found."""
_PROBE = 1e-5
"""Angle between the directions whose support points give the curvature of the surface."""
_FLAT = 4.0 * EPS
"""Times the largest curvature: one that rounding cannot tell from none, as across a needle that touches."""


def bracket_cores(core_a: Core, core_b: Core, small: float) -> Solved:
    """Return the result of inner polytopes that grow until the bounds meet, with the grown cores."""
    best, off, normal = -inf, inf, np.zeros(core_a.shape.dim)
    noise = slab_noise(core_a, core_b)
    iterations = 0
    before, last, idle = (0, 0), inf, 0
    while True:
        inner = polytope_contact(core_a.inner, core_b.inner, contact_tolerance=0.0)
        iterations += inner.iterations
        directions = np.array(
            [inner.normal, *(_refine_direction(core_a, core_b, direction) for direction in inner.ties[:_TIES])]
        )
        directions = np.concatenate(
            [directions, *(_flat_directions(core_a, core_b, direction) for direction in directions)]
        )
        # The reported direction must be that of witness points: the support points of the best one, if they meet,
        # or those of the inner polytopes.
        between = core_b.supports(-directions) - core_a.supports(directions)
        slabs = (between * directions).sum(axis=1)
        offs = np.linalg.norm(between - slabs[:, None] * directions, axis=1)
        k = int(np.where(slabs >= slabs.max() - noise, offs, inf).argmin())
        if is_better_slab(float(slabs[k]), float(offs[k]), best, off, noise):
            best, off, normal = float(slabs[k]), float(offs[k]), directions[k]
        enough = CURVED_BRACKET * small
        inner_off = inner.signed_distance - float(slabs[0])
        met = inner.signed_distance - best <= enough
        idle = idle + 1 if met and inner.signed_distance >= last else 0
        last = inner.signed_distance
        settled = met and (min(off, inner_off) <= enough or idle == _IDLE)
        points = len(core_a.inner.vertices), len(core_b.inner.vertices)
        if settled or max(points) > _MOST or points == before:  # or rounding prevents growth
            if inner_off <= min(off, _CURVED_LOOSE * small):
                best, normal = float(slabs[0]), inner.normal
            normal = normal + 0.0
            return Solved(
                core_a,
                core_b,
                normal,
                best,
                best,
                inner.upper_bound - bound_widening(core_a.inner, core_b.inner),
                (inner.point_on_a, inner.point_on_b),
                np.concatenate([directions, -directions]),  # many shapes are symmetric
                inner.method,
                iterations,
                Status.CURVED_BRACKET,
                inner.cross_check,
                SupportCertificate(normal, core_a.directions, core_b.directions, inner),
            )
        before = points
        new = np.concatenate(
            [directions, rings(normal, CURVED_RINGS), _near_normals(core_a, core_b, inner, -best - enough)]
        )
        core_a, core_b = core_a.grow(new), core_b.grow(-new)


def _near_normals(core_a: Core, core_b: Core, inner: Contact, depth: float) -> FloatArray:
    """Return the normals (k, dim) of the facets of EPA's polytope that are nearer to the origin than `depth`: either
    the surface is no farther there, or the polytope is too far inside of it."""
    proof = inner.certificate
    assert isinstance(proof, Certificate)
    if not proof.facets:
        return np.zeros((0, len(inner.normal)))
    index_a, index_b = np.array(proof.pairs).T
    corners = (core_a.inner.vertices[index_a] - core_b.inner.vertices[index_b])[np.array(proof.facets)]
    sides = corners[:, 1:] - corners[:, :1]
    if corners.shape[2] == 2:
        normals = np.stack([sides[:, 0, 1], -sides[:, 0, 0]], axis=1)
    else:
        normals = np.cross(sides[:, 0], sides[:, 1])
    lengths = np.linalg.norm(normals, axis=1)
    good = lengths > 0.0
    normals, corners = normals[good] / lengths[good, None], corners[good]
    heights = (normals * corners[:, 0]).sum(axis=1)
    near = np.flatnonzero(heights < depth)
    return normals[near[np.argsort(heights[near], kind="stable")[:_FACETS]]]


def _flat_directions(core_a: Core, core_b: Core, normal: FloatArray) -> FloatArray:
    """Return directions (k, dim) near `normal` in which one of the cores ends in more than a point."""
    on_a, on_b = core_a.supports(normal[None])[0], core_b.supports(-normal[None])[0]
    return np.concatenate([core_a.shape.flat_directions(normal, on_b), -core_b.shape.flat_directions(-normal, on_a)])


def _refine_direction(core_a: Core, core_b: Core, normal: FloatArray) -> FloatArray:
    """Return a direction near `normal` across which the slab is wider, if there is one: Newton's method on the unit
    sphere.

    The difference of the support points is the gradient of the overlap, and its derivative the curvature.
    """
    widest, noise = float(slab_widths(core_a, core_b, normal[None])[0]), slab_noise(core_a, core_b)
    for _ in range(_STEPS):
        sides = perpendiculars(normal)
        directions = np.concatenate([normal[None], normal + _PROBE * sides, normal - _PROBE * sides])
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        points = core_a.supports(directions) - core_b.supports(-directions)
        overlap = float(points[0] @ normal)
        slope = sides @ points[0]
        steep = float(np.linalg.norm(slope))
        changes = (points[1 : 1 + len(sides)] - points[1 + len(sides) :]) / (2.0 * _PROBE)
        bend = changes @ sides.T
        bend = 0.5 * (bend + bend.T) - overlap * np.eye(len(sides))
        largest = float(np.abs(np.diagonal(bend)).sum())
        if largest == 0.0:
            break
        step = _newton_step(bend, slope, largest)
        for _ in range(4):
            direction = normal + step @ sides
            direction = direction / np.linalg.norm(direction)
            between = core_b.supports(-direction[None])[0] - core_a.supports(direction[None])[0]
            slab = float(between @ direction)
            if is_better_slab(slab, float(np.linalg.norm(between - slab * direction)), widest, steep, noise):
                normal, widest = direction, slab
                break
            step = 0.25 * step
        else:
            break
    return normal


def _newton_step(bend: FloatArray, slope: FloatArray, largest: float) -> FloatArray:
    """Return the step to where the slope vanishes if the surface bends in every direction, else one down the slope."""
    curvatures, axes = np.linalg.eigh(bend)
    if curvatures[0] > _FLAT * curvatures[-1]:
        return -axes @ ((axes.T @ slope) / curvatures)
    return -slope / largest
