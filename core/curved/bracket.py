# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of the signed distance of smooth cores from both sides.

1. The contact of two polytopes inside the cores gives an upper bound of the signed distance and directions.
2. Support points in these, improved by Newton's method, give a lower bound.
3. Rings of points around the best direction make the polytopes grow, until both bounds meet.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ..narrow_phase.polytope_contact import polytope_contact
from ..result import Certificate, Contact, Status, SupportCertificate
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.rounded import core_of
from ..tolerance import CURVED_BRACKET, CURVED_RINGS, EPS
from ..types import FloatArray
from .curved_core import Core, Solved, bound_widening, is_better_slab, perpendiculars, rings, slab_noise, slab_widths
from .ellipsoid_hull import lowest_nearby, pieces_of

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
_BASIN = 0.99
"""Cosine of the angle from a direction that was improved, up to which others lead to the same one."""
_EVEN = 1e-3
"""Relative: slabs that differ by less are looked at around both directions."""
_DEEP_RINGS = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
"""CURVED_RINGS, with more of them, for cores that penetrate along a crease of their difference."""
_PROBE = 1e-5
"""Angle between the directions whose support points give the curvature of the surface."""
_FLAT = 4.0 * EPS
"""Times the largest curvature: one that rounding cannot tell from none, as across a needle that touches."""


def bracket_cores(core_a: Core, core_b: Core, small: float) -> Solved:
    """Return the result of inner polytopes that grow until the bounds meet, with the grown cores."""
    best, off, normal = -inf, inf, np.zeros(core_a.shape.dim)
    points: tuple[FloatArray, FloatArray] | None = None
    tried = np.zeros((0, core_a.shape.dim))
    noise, enough = slab_noise(core_a, core_b), CURVED_BRACKET * small
    iterations = 0
    before, last, idle = (0, 0), inf, 0
    ringed = tried
    # The difference of an ellipsoid and a polytope is smooth but for creases. Rims, which other solids have among their
    # first points, meet creases soon.
    strict = any(
        isinstance(core_of(core.shape), Ellipsoid) and not other.smooth
        for core, other in ((core_a, core_b), (core_b, core_a))
    )
    while True:
        inner = polytope_contact(core_a.inner, core_b.inner, contact_tolerance=0.0)
        iterations += inner.iterations
        directions, crease = inner.normal[None], None
        # Where the inner polytopes lead to nothing new, only their bound has to follow.
        leads = not strict or float((tried @ inner.normal).max(initial=-1.0)) < _BASIN
        slab = float(slab_widths(core_a, core_b, directions)[0])
        if leads or slab > best - noise:
            crease = _on_crease(core_a, core_b, inner) if strict and inner.signed_distance - slab > enough else None
            better = [_refine_direction(core_a, core_b, direction) for direction in inner.ties[:_TIES]]
            better += [] if crease is None else [crease.normal]
            directions = np.array([inner.normal, *better])
            tried = np.concatenate([tried, better])
        directions = np.concatenate(
            [directions, *(_flat_directions(core_a, core_b, direction) for direction in directions)]
        )
        # The reported direction must be that of witness points: the support points of the best one, if they meet,
        # or those of the inner polytopes.
        between = core_b.supports(-directions) - core_a.supports(directions)
        slabs = (between * directions).sum(axis=1)
        offs = np.linalg.norm(between - slabs[:, None] * directions, axis=1)
        if crease is not None:
            offs[len(better)] = min(offs[len(better)], crease.off)
        k = int(np.where(slabs >= slabs.max() - noise, offs, inf).argmin())
        if is_better_slab(float(slabs[k]), float(offs[k]), best, off, noise):
            best, off, normal = float(slabs[k]), float(offs[k]), directions[k]
            points = crease.points if crease is not None and off == crease.off else None
        inner_off = inner.signed_distance - float(slabs[0])
        met = inner.signed_distance - best <= enough
        idle = idle + 1 if met and inner.signed_distance >= last else 0
        last = inner.signed_distance
        settled = met and (min(off, inner_off) <= enough or idle == _IDLE)
        counts = len(core_a.inner.vertices), len(core_b.inner.vertices)
        if settled or max(counts) > _MOST or counts == before:  # or rounding prevents growth
            ties = inner.ties[inner.ties @ normal < _BASIN][: _TIES if strict else 0]
            better = [_refine_direction(core_a, core_b, direction) for direction in ties]
            if inner_off <= min(off, _CURVED_LOOSE * small):
                best, normal, points = float(slabs[0]), inner.normal, None
            normal = normal + 0.0
            directions = np.array([normal, *directions, *better])
            return Solved(
                core_a,
                core_b,
                normal,
                best,
                best,
                inner.upper_bound - bound_widening(core_a.inner, core_b.inner),
                points or (inner.point_on_a, inner.point_on_b),
                np.concatenate([directions, -directions]),  # many shapes are symmetric
                inner.method,
                iterations,
                Status.CURVED_BRACKET,
                inner.cross_check,
                SupportCertificate(normal, core_a.directions, core_b.directions, inner),
            )
        before = counts
        new = [directions, _near_normals(core_a, core_b, inner, -best - enough)]
        for direction in (normal, *directions[slabs >= best - _EVEN * abs(best)]) if strict else (normal,):
            if float((ringed @ direction).max(initial=-1.0)) < 1.0 - EPS:
                ringed = np.concatenate([ringed, direction[None]])
                new.append(rings(direction, _DEEP_RINGS if last < 0.0 and crease is not None else CURVED_RINGS))
        added = np.concatenate(new)
        core_a, core_b = core_a.grow(added), core_b.grow(-added)


class _Crease(NamedTuple):
    """A direction on a crease of the difference of two cores, and points of both that are nearest along it."""

    normal: FloatArray
    points: tuple[FloatArray, FloatArray]
    off: float
    """How far the points are from realising the slab across the direction; world units."""


def _on_crease(core_a: Core, core_b: Core, inner: Contact) -> _Crease | None:
    """Return the best direction near that of the inner polytopes on a crease of the difference: between the corners of
    a polytope that meet there, or the ends of a round solid. None where there is no crease."""
    proof = inner.certificate
    assert isinstance(proof, Certificate)
    corners = [() if core.smooth else index for core, index in ((core_a, proof.index_a), (core_b, proof.index_b))]
    pieces = pieces_of(core_a.shape, core_b.shape, *corners) if len(inner.normal) == 3 else None
    if pieces is None or len(pieces.centers) == 1:
        return None
    normal = lowest_nearby(pieces, inner.normal)
    tops = core_a.supports(normal[None])[0], core_b.supports(-normal[None])[0]
    across = float((tops[1] - tops[0]) @ normal) * normal
    on_a, on_b = (
        top if core.smooth else _mean_near(core.inner.vertices[sorted(set(index))], place, top)
        for core, index, place, top in zip(
            (core_a, core_b), corners, (tops[1] - across, tops[0] + across), tops, strict=True
        )
    )
    return _Crease(normal, (on_a, on_b), float(np.linalg.norm(on_b - on_a - across)))


def _mean_near(corners: FloatArray, place: FloatArray, top: FloatArray) -> FloatArray:
    """Return the mean of some corners (k, 3) of a polytope nearest to a place (3,); `top` where that is outside."""
    sides = corners[1:] - corners[0]
    weights = np.linalg.lstsq(sides.T, place - corners[0], rcond=None)[0]
    return top if min(weights.min(initial=0.0), 1.0 - weights.sum()) < 0.0 else corners[0] + weights @ sides


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
