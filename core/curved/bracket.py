# SPDX-License-Identifier: GPL-3.0-or-later
"""The bracket of smooth cores.

1. The contact of two polytopes inside the cores gives an upper bound of the signed distance and directions.
2. Support points in these, improved by Newton's method, give a lower bound.
3. Rings of points around the best direction make the polytopes grow, until both bounds meet.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..narrow_phase.polytope_contact import polytope_contact
from ..result import Certificate, Contact, Status, SupportCertificate
from ..shapes.curved_shape import CurvedShape
from ..tolerance import CURVED_BRACKET, CURVED_RINGS
from ..types import FloatArray
from .curved_core import Core, Solved, bound_widening, is_better_slab, perpendiculars, rings, slab_noise, slab_widths

_CURVED_LOOSE = 1e-10
"""Times the smaller extent: how much less than the best direction that of the inner polytopes may separate and still be
reported, for its witness points realise it."""
_MOST = 2000
"""Points of an inner polytope; with more it does not grow."""
_FACETS = 200
"""Facets of EPA's polytope across which points are added at a time."""
_TIES = 4
"""Equally good directions that are improved."""
_STEPS = 12
"""Newton steps from one direction."""
_IDLE = 3
"""Rounds without a better bound, after which bounds that have met are enough: no witness points will be nearer."""
_PROBE = 1e-5
"""Angle between the directions whose support points tell how the surface curves."""


def bracket_cores(one: Core, other: Core, small: float) -> Solved:
    """Return the result of inner polytopes that grow until the bounds meet, and the cores with these."""
    best, off, normal = -inf, inf, np.zeros(one.shape.dim)
    noise = slab_noise(one, other)
    iterations = 0
    before, last, idle = (0, 0), inf, 0
    while True:
        inner = polytope_contact(one.inner, other.inner, contact_tolerance=0.0)
        iterations += inner.iterations
        directions = np.array([inner.normal, *(_polished(one, other, direction) for direction in inner.ties[:_TIES])])
        directions = np.concatenate(
            [directions, *(_flat_directions(one, other, direction) for direction in directions)]
        )
        # The reported direction must be that of witness points: the support points of the best one, if they meet,
        # or those of the inner polytopes.
        between = other.supports(-directions) - one.supports(directions)
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
        points = len(one.inner.vertices), len(other.inner.vertices)
        if settled or max(points) > _MOST or points == before:  # or rounding lets nothing grow
            if inner_off <= min(off, _CURVED_LOOSE * small):
                best, normal = float(slabs[0]), inner.normal
            normal = normal + 0.0
            return Solved(
                one,
                other,
                normal,
                best,
                best,
                inner.upper_bound - bound_widening(one.inner, other.inner),
                (inner.point_on_a, inner.point_on_b),
                np.concatenate([directions, -directions]),  # many shapes look the same from behind
                inner.method,
                iterations,
                Status.CURVED_BRACKET,
                inner.cross_check,
                SupportCertificate(normal, one.directions, other.directions, inner),
            )
        before = points
        new = np.concatenate([directions, rings(normal, CURVED_RINGS), _too_near(one, other, inner, -best - enough)])
        one, other = one.grown(new), other.grown(-new)


def _too_near(one: Core, other: Core, inner: Contact, depth: float) -> FloatArray:
    """Return the normals (k, dim) of the facets of EPA's polytope that are nearer to the origin than `depth`: either
    the surface is no farther there, or the polytope is not near enough to it."""
    proof = inner.certificate
    assert isinstance(proof, Certificate)
    if not proof.facets:
        return np.zeros((0, len(inner.normal)))
    index_a, index_b = np.array(proof.pairs).T
    corners = (one.inner.vertices[index_a] - other.inner.vertices[index_b])[np.array(proof.facets)]
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


def _flat_directions(one: Core, other: Core, normal: FloatArray) -> FloatArray:
    """Return directions (k, dim) near one in which one of the cores ends in more than a point."""
    on_a, on_b = one.supports(normal[None])[0], other.supports(-normal[None])[0]
    found = [np.zeros((0, len(normal)))]
    if isinstance(one.shape, CurvedShape):
        found.append(one.shape.flat_directions(normal, on_b))
    if isinstance(other.shape, CurvedShape):
        found.append(-other.shape.flat_directions(-normal, on_a))
    return np.concatenate(found)


def _polished(one: Core, other: Core, normal: FloatArray) -> FloatArray:
    """Return a direction nearby across which the slab is wider, if there is one: Newton's method on the unit sphere.

    The difference of the support points is the gradient of the overlap; how it changes tells the curvature.
    """
    here, noise = float(slab_widths(one, other, normal[None])[0]), slab_noise(one, other)
    for _ in range(_STEPS):
        sides = perpendiculars(normal)
        directions = np.concatenate([normal[None], normal + _PROBE * sides, normal - _PROBE * sides])
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        points = one.supports(directions) - other.supports(-directions)
        overlap = float(points[0] @ normal)
        slope = sides @ points[0]
        steep = float(np.linalg.norm(slope))
        changes = (points[1 : 1 + len(sides)] - points[1 + len(sides) :]) / (2.0 * _PROBE)
        bend = changes @ sides.T
        bend = 0.5 * (bend + bend.T) - overlap * np.eye(len(sides))
        if np.linalg.eigvalsh(bend)[0] > 0.0:
            step = np.linalg.solve(bend, -slope)
        else:
            largest = float(np.abs(np.diagonal(bend)).sum())
            if largest == 0.0:
                break
            step = -slope / largest
        for _ in range(4):
            direction = normal + step @ sides
            direction = direction / np.linalg.norm(direction)
            between = other.supports(-direction[None])[0] - one.supports(direction[None])[0]
            there = float(between @ direction)
            if is_better_slab(there, float(np.linalg.norm(between - there * direction)), here, steep, noise):
                normal, here = direction, there
                break
            step = 0.25 * step
        else:
            break
    return normal
