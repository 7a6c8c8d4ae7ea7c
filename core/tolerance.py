# SPDX-License-Identifier: GPL-3.0-or-later
"""Every tolerance of the engine, with what it multiplies. None of them is a length: all are relative.

Lengths they multiply: L, the smaller bounding-box diagonal of the pair; M, its largest absolute coordinate; R, the
size of the Minkowski difference (sum of both diagonals and of the distance of the centres).
"""

from __future__ import annotations

EPS = 2.0**-52
"""Spacing of float64 at 1.0; the unit of all rounding bounds below."""

# What the engine promises: |error| <= PROMISE_RELATIVE |signed distance| + PROMISE_EXTENT L + PROMISE_ROUNDING EPS M.
PROMISE_RELATIVE = 1e-9
PROMISE_EXTENT = 1e-10
PROMISE_ROUNDING = 64.0

DEFAULT_CONTACT_TOLERANCE = 1e-5
"""Times the smaller non-zero extent: default band of TOUCHING and width of the support features."""

SUPPORT_ROUNDING = 4.0
"""Times EPS R: what choosing a support point and measuring it along a unit vector can be wrong by. Two dot products
of three terms (1.5 EPS of the length each), one rounded difference, one normalisation."""

GJK_TOUCH = 8.0
"""Times EPS R: a simplex this close to the origin holds it. Its own points are rounded by EPS R."""

GJK_GAP = 4.0
"""Times EPS (|v| + R): duality gap at which more iterations cannot improve the distance."""

EPA_CONVERGED = 8.0
"""Times EPS R: a face that no support point exceeds by more lies on the boundary of the Minkowski difference."""

EPA_VISIBLE = 2.0
"""Times EPS R: a point must be this far above a face to see it. Below EPA_CONVERGED, so that the face that asked for
the point always sees it."""

FLAT = 8.0
"""Times EPS R: a Minkowski difference thinner than this is flat."""

SAME_DIRECTION = 1e-7
"""Radians (sum of the components): two faces of the Minkowski difference with normals this close count as one."""

THIN_START = 1e-3
"""Height over length below which GJK's tetrahedron is too thin to grow from and a wider one is looked for."""

SLIVER = 1e-2
"""Sine below which the normal of a triangle is computed the careful way, because a plain cross product would leave
its corners EPS R / SLIVER out of the plane."""

REGION_ROUNDING = 16.0
"""Times EPS M: points of the contact plane closer than this are one point; thinner outlines are segments."""

REGION_SUPPORT = 16.0
"""Times EPS M: least width of a support feature, and heights this close are one height. Three products of rounded
coordinates with a rounded normal."""

REGION_TILT = 1e-10
"""Sine: most that the rounding of the smaller shape may be taken to tilt the normal against the larger shape's face."""


def promised(signed_distance: float, extent: float, magnitude: float) -> float:
    """Return the promised accuracy of a signed distance, in its unit.

    `extent` is L, `magnitude` M: see the module's first lines.
    """
    return PROMISE_RELATIVE * abs(signed_distance) + PROMISE_EXTENT * extent + PROMISE_ROUNDING * EPS * magnitude
