# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the normals of a contact are right, and the ties all of what is known to be as good, of the kind contact."""

from __future__ import annotations

import numpy as np

from ..curved.curved_inside import spread
from ..curved.curved_section import common_axis
from ..result import Contact, ConvexCertificate, TieKind
from ..shapes.curved_shape import ConvexShape
from ..tolerance import CURVED_AXIS, EPS, VERIFY_UNIT
from ..types import FloatArray
from .bounds import overlap_along
from .check import Check

_VERIFY_TIE_ANGLE = 1e-6
"""Radians: two ties this near to each other are one, and a tie this near to a facet's normal is that normal. Four ties
that stand for a circle or six for a sphere are on it within as much."""
_VERIFY_TIE_CLEAR = 0.1
"""Times the promised tolerance: a facet's normal whose depth differs by less from the reported one is as good beyond
doubt, and must be among the ties."""

_AROUND = 100
"""Directions in which a circle or a sphere of ties is looked at."""

_KIND = "the ties are of the kind reported"
_ALL = "all normals known to be equally good are reported"


def overlaps_of_normals(contact: Contact, a: ConvexShape, b: ConvexShape) -> tuple[FloatArray, FloatArray]:
    """Return lengths (k,) and overlaps (k,) along the normal, that of the certificate and the ties, in this order."""
    proof = contact.certificate
    assert isinstance(proof, ConvexCertificate)
    normals = np.concatenate(([contact.normal, proof.normal], contact.ties))
    return np.sqrt((normals * normals).sum(axis=1)), overlap_along(a, b, normals)


def check_normals(contact: Contact, lengths: FloatArray, overlaps: FloatArray, tolerance: float) -> list[Check]:
    """Return whether the reported normals are unit vectors across which the pair is as far apart as is contact."""
    error = max(np.abs(lengths - 1.0).tolist())
    worst = max(np.abs(overlaps + contact.signed_distance).tolist())
    differs = max(np.abs(contact.ties[0] - contact.normal).tolist())
    return [
        Check("normals are unit vectors", error <= VERIFY_UNIT * EPS, f"off by {error:.3g}"),
        Check(
            "normal and ties separate the pair by the signed distance",
            worst <= tolerance,
            f"off by {worst:.3g}, tolerance {tolerance:.3g}",
        ),
        Check("the chosen normal is the first tie", differs == 0.0, f"off by {differs:.3g}"),
    ]


def check_realised(contact: Contact, tolerance: float) -> Check:
    """Return whether `point_on_b - point_on_a` is `signed_distance * normal`."""
    off = contact.point_on_b - contact.point_on_a - contact.signed_distance * contact.normal
    miss = float(np.linalg.norm(off))
    name = "witness points realise the signed distance"
    return Check(name, miss <= tolerance, f"off by {miss:.3g}, tolerance {tolerance:.3g}")


def check_ties(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    """Return the checks of `tie_kind` and of what `ties` lacks. `tolerance` is the promised one."""
    ties, dim = contact.ties, a.dim
    axis = common_axis(a, b)
    cosines = ties @ ties.T - np.eye(len(ties))
    if float(cosines.max(initial=-1.0)) > 1.0 - _VERIFY_TIE_ANGLE * _VERIFY_TIE_ANGLE:
        return [Check(_KIND, False, "a tie is reported twice")]
    if contact.tie_kind is TieKind.FINITE:
        around = axis is not None and (len(axis) == 0 or float(_sideways(ties, axis[1]).max()) > _VERIFY_TIE_ANGLE)
        checks = [Check(_KIND, not around, "the pair may be turned about an axis" if around else "finite")]
    elif contact.tie_kind is TieKind.SPHERE or dim == 2:
        worst = _worst(contact, a, b, spread(dim, _AROUND))
        full = len(ties) == 2 * dim and (contact.tie_kind is TieKind.SPHERE) == (dim == 3)
        full = full and float(np.abs(ties.T @ ties - 2.0 * np.eye(dim)).max()) <= _VERIFY_TIE_ANGLE
        return [Check(_KIND, full and worst <= tolerance, f"{contact.tie_kind}, all around off by {worst:.3g}")]
    else:
        checks = [_check_circle(contact, a, b, axis, tolerance)]
    return [*checks, *_check_missing(contact, a, b, tolerance)]


def _check_circle(contact: Contact, a: ConvexShape, b: ConvexShape, axis: FloatArray | None, tolerance: float) -> Check:
    ties = contact.ties
    if axis is not None and len(axis) == 0:
        return Check(_KIND, False, "a circle, but all directions are equally good")
    # Four ties of each circle: the first and third are mirrored at the axis.
    direction = axis[1] if axis is not None else None
    if direction is None:
        if len(ties) != 4:
            return Check(_KIND, False, f"{len(ties)} ties of a circle")
        direction = np.cross(ties[0], ties[1])
        direction = direction / max(float(np.linalg.norm(direction)), float(np.finfo(np.float64).tiny))
    level = ties[_sideways(ties, direction) > CURVED_AXIS]
    if not len(level) or len(level) % 4:
        return Check(_KIND, False, f"{len(level)} ties of circles")
    worst = 0.0
    for start in range(0, len(level), 4):
        four = level[start : start + 4]
        along = four @ direction
        off = float(np.ptp(along)) + float(np.abs(four.sum(axis=0) - along.sum() * direction).max())
        if off > _VERIFY_TIE_ANGLE:
            return Check(_KIND, False, f"four ties are off a circle by {off:.3g}")
        out = four[0] - along[0] * direction
        turn = 2.0 * np.pi * np.arange(_AROUND)[:, None] / _AROUND
        directions = along[0] * direction + np.cos(turn) * out + np.sin(turn) * np.cross(direction, out)
        worst = max(worst, _worst(contact, a, b, directions / np.linalg.norm(directions, axis=1)[:, None]))
    return Check(_KIND, worst <= tolerance, f"circle, off by {worst:.3g}")


def _check_missing(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    """Look among the normals of facets for one that is as good and not contact."""
    if contact.signed_distance > tolerance:
        return [Check(_ALL, len(contact.ties) >= 1, "separated: there is only one direction")]
    cores = [shape.skeleton for shape in (a, b)]
    name = "not checked: that no other normal is as good"
    if cores[0] is None or cores[1] is None:
        return [Check(name, True, "smooth shapes have no list of normals")]
    radii = a.rounding_radius + b.rounding_radius
    if contact.signed_distance + radii > -tolerance:
        # Cores apart have one way only; of cores that only touch it is reported which way the balls leave.
        return [Check(name, True, "the cores are not inside each other")]
    normals = [sign * core.normals for sign, core in ((1.0, cores[0]), (-1.0, cores[1])) if core.rank == core.dim]
    if not normals:
        return [Check(name, True, "the cores are flat")]
    directions = np.concatenate(normals)
    good = directions[
        np.abs(overlap_along(a, b, directions) + contact.signed_distance) <= _VERIFY_TIE_CLEAR * tolerance
    ]
    missing = int(((good @ contact.ties.T).max(axis=1) < 1.0 - _VERIFY_TIE_ANGLE).sum()) if len(good) else 0
    checks = [Check(_ALL, missing == 0, f"{len(good)} facets are equally good, {missing} of them not reported")]
    return [*checks, Check(name, True, "only facets were checked, not pairs of edges")]


def _sideways(ties: FloatArray, direction: FloatArray) -> FloatArray:
    return np.linalg.norm(ties - (ties @ direction)[:, None] * direction, axis=1)


def _worst(contact: Contact, a: ConvexShape, b: ConvexShape, directions: FloatArray) -> float:
    return float(np.abs(overlap_along(a, b, directions) + contact.signed_distance).max())
