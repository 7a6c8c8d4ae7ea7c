# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two ellipsoids, or of one and a ball: the best direction, and in closed form the proof that it is.

The Minkowski difference of two ellipsoids extends c.n + |M n| + |N n| along a unit vector n. For any orthogonal matrix
S that is no less than the extent of an ellipsoid:

    |M n| + |N n| = |S M n| + |N n| >= |(S M + N) n|

Where S M n is along N n both are equal: the ellipsoid, which is inside the difference, touches its surface there. Of
these matrices the one is taken for which S M and N differ least across n: both surfaces bend nearly alike.

One number proves that an ellipsoid contains a ball about a point p. For every u from 0 to the square of the smallest of
its semi-axes s, in their frame,

    d^2 = u (1 - sum p_k^2 / (s_k^2 - u))

makes (d^2 - |x - p|^2) no more than u (1 - sum x_k^2 / s_k^2) for all x: the difference is a square and more, as
completing it shows. So the ball of radius d about p is in the ellipsoid; with the u of the nearest point, which is d
times the extent from the centre, it touches.
Sources: A. B. Kurzhanski and I. Valyi, Ellipsoidal Calculus for Estimation and Control, 1997 (ellipsoids in a sum);
V. A. Yakubovich, the S-procedure, 1971.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ..result import BallCertificate, Status
from ..shapes.curved_shape import ConvexShape
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.rounded import core_of
from ..tolerance import EPS
from ..types import FloatArray
from .curved_core import Core, Solved, perpendiculars, slab_noise
from .ellipsoid_hull import Pieces, pieces_of

_STEPS = 100
"""Newton steps: few, but along bent valleys of directions that are nearly as good."""
_SADDLE = 0.1
"""Radians: the least step where the extent bends downwards, as symmetric shapes have no slope there."""
_ROUNDING = 16.0
"""Times EPS and the size of the difference: by how much the ellipsoid inside of it may extend too far."""


def ellipsoid_pair(a: ConvexShape, b: ConvexShape) -> Pieces | None:
    """Return the difference of the cores of two shapes where these are ellipsoids or points; else None."""
    pieces = pieces_of(a, b)
    return pieces if pieces is not None and len(pieces.centers) == 1 else None


def solve_ellipsoids(core_a: Core, core_b: Core, pieces: Pieces) -> Solved:
    """Return the result for ellipsoids or points; bounds of two ellipsoids do not meet where another direction may be
    better."""
    method, steps = "newton" if core_a.smooth and core_b.smooth else "secular", 1
    if method == "newton":
        starts = np.concatenate([core_a.directions, core_b.directions])
        normal, steps = _lowest(pieces, starts, slab_noise(core_a, core_b))
    elif core_a.smooth:
        normal = _ellipsoid(core_a).nearest_normals(core_b.inner.vertices)[0]
    else:
        normal = -_ellipsoid(core_b).nearest_normals(core_a.inner.vertices)[0]
    on_a, on_b = core_a.supports(normal[None])[0], core_b.supports(-normal[None])[0]
    slab = float((on_b - on_a) @ normal)
    if method == "secular":  # the support point of a needle is not accurate
        on_a, on_b = (on_b - slab * normal, on_b) if core_a.smooth else (on_a, on_a + slab * normal)
    semi_axes, axes, _ = _inside(pieces, normal)
    least = float(semi_axes.min())
    reach = float(np.linalg.norm(pieces.maps[:, 0] @ normal, axis=1).sum())
    gap = min(max(least - sqrt(-slab * reach), EPS * least), least) if slab < 0.0 else None
    # A direction that is as good is so for the ellipsoid inside as well; symmetric shapes may have others.
    axes = np.concatenate([axes, *(_ellipsoid(core).axes for core in (core_a, core_b) if core.smooth)])
    return Solved(
        core_a,
        core_b,
        normal,
        slab,
        slab,
        proven_above(pieces, normal, gap),
        (on_a, on_b),
        np.concatenate([-normal[None], normal - 2.0 * (axes @ normal)[:, None] * axes]),
        method,
        steps,
        Status.CURVED_BRACKET,
        None,
        BallCertificate(normal, gap),
    )


def _ellipsoid(core: Core) -> Ellipsoid:
    found = core_of(core.shape)
    assert isinstance(found, Ellipsoid)
    return found


def proven_above(pieces: Pieces, normal: FloatArray, gap: float | None) -> float:
    """Return a certain upper bound of the signed distance of ellipsoids or points, to rounding: the distance of their
    support points for a `normal` (dim,) or, with a `gap`, minus the radius that it proves.

    `gap` is any number from 0.0 to the smallest semi-axis of the ellipsoid inside the difference; the root of u is that
    much less. World units.
    """
    center, maps = pieces.centers[0], pieces.maps[:, 0]
    above = float(np.linalg.norm(center + ((_units(maps @ normal))[:, None] @ maps).sum(axis=(0, 1))))
    if gap is None:
        return above
    semi_axes, axes, rounding = _inside(pieces, normal)
    place = axes @ center
    root = float(semi_axes.min()) - gap
    # Differences first: close to the smallest semi-axis the gap has all the digits.
    beyond = (semi_axes - semi_axes.min()) + gap
    if not 0.0 <= gap <= semi_axes.min() or bool(((beyond == 0.0) & (place != 0.0)).any()):
        return above
    beyond = np.where(place == 0.0, 1.0, beyond)
    square = 1.0 - float(((place / beyond) * (place / (semi_axes + root))).sum())
    return min(above, rounding - root * sqrt(square)) if square >= 0.0 else above


def _inside(pieces: Pieces, normal: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the semi-axes (dim,) of an ellipsoid in the difference that touches its surface where the unit `normal`
    (dim,) is that of the surface, their unit directions (dim, dim), by rows, and by how much it may extend too far."""
    first, second = pieces.maps[:, 0]
    if not first.any() or not second.any():  # of a point and an ellipsoid, which is exact
        rows = first + second
        semi_axes = np.linalg.norm(rows, axis=1)
        return semi_axes, rows / semi_axes[:, None], 0.0
    p, q = _units(pieces.maps[:, 0] @ normal)
    turn = second @ (first.T - np.outer(normal, first @ normal))
    turn = turn - np.outer(q, q @ turn)
    turn = turn - np.outer(turn @ p, p)
    left, _, right = np.linalg.svd(turn + np.linalg.norm(turn) * np.outer(q, p))
    _, semi_axes, axes = np.linalg.svd(left @ right @ first + second)
    return semi_axes, axes, _ROUNDING * EPS * pieces.size


def _units(images: FloatArray) -> FloatArray:
    """Return the unit vectors along vectors (k, dim), 0.0 for those of a point."""
    return images / np.maximum(np.linalg.norm(images, axis=1), np.finfo(float).tiny)[:, None]


def _lowest(pieces: Pieces, starts: FloatArray, noise: float) -> tuple[FloatArray, int]:
    """Return the unit direction (dim,) along which the difference extends least, as found from the best of some
    directions (k, dim) and from that of the centres, by Newton's method; and the number of steps."""
    center, maps = pieces.centers[0], pieces.maps[:, 0]
    if center.any():
        away = -center / np.abs(center).max()
        starts = np.concatenate([starts, (away / np.linalg.norm(away))[None]])
    direction = normal = starts[int(pieces.heights(starts).argmin())]
    step, least, steepest, count = normal, inf, inf, 0
    for _ in range(_STEPS):
        count += 1
        images, sides = maps @ direction, perpendiculars(direction)
        units, beside = _units(images), maps @ sides.T
        slopes = (units[:, None] @ beside)[:, 0]
        height, slope = float(direction @ center + (units * images).sum()), sides @ center + slopes.sum(axis=0)
        steep = sqrt(float(slope @ slope))
        if height < least - noise or (height <= least + noise and steep < steepest):
            normal, least, steepest = direction, height, steep
            bends = beside.transpose(0, 2, 1) @ beside - slopes[:, :, None] * slopes[:, None]
            reach = np.maximum((units * images).sum(axis=1), np.finfo(float).tiny)
            curves, axes = np.linalg.eigh((bends / reach[:, None, None]).sum(axis=0) - height * np.eye(len(slope)))
            flat = EPS * float(np.abs(curves).max())
            turn = -(slope @ axes) / np.maximum(np.abs(curves), flat)
            turn = np.where(curves < -flat, np.copysign(np.maximum(np.abs(turn), _SADDLE), turn), turn)
            step = turn @ axes.T @ sides
        else:
            step = 0.25 * step
        direction = normal + step
        direction = direction / sqrt(float(direction @ direction))
        if (np.abs(direction - normal) <= EPS).all():
            break
    return normal, count
