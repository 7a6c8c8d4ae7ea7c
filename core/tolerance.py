# SPDX-License-Identifier: GPL-3.0-or-later
"""Tolerances that several files use, with what they multiply. None of them is a length: all are relative.

A tolerance of one file stands in that file.

Lengths they multiply: L, the smaller bounding-box diagonal of the pair; M, its largest absolute coordinate; R, the
size of the Minkowski difference (sum of both diagonals and of the distance of the centres).
"""

from __future__ import annotations

# --- Floating-point numbers and the promise -------------------------------------------------------------------------

EPS = 2.0**-52
"""Spacing of float64 at 1.0; the unit of all rounding bounds below."""

SINGLE_EPS = 2.0**-23
"""Relative gap between neighbouring float32 numbers."""

SMALLEST_STEP = 2.0**-1074
"""Not relative: the step of float64 near 0. There a product is wrong by half of it, however small its factors."""

SUBNORMAL_SUM = 16.0
"""Times SMALLEST_STEP: what sums of up to 24 products, or two roots, are wrong by near 0. Nothing anywhere else."""

LARGEST_COORDINATE = 2.0**1000
"""Not relative: larger coordinates are refused, for distances of shapes, and their regions' lengths, must be finite."""

EXTREME_EXPONENT = 100
"""A pair larger than 2**100 or smaller than 2**-100 is computed at another scale: products of four lengths, and the
squares of what rounding leaves of them, must neither overflow nor vanish."""

DEFAULT_CONTACT_TOLERANCE = 1e-5  # mutant: tolerance-contact
"""Times the smaller non-zero diameter: default band of TOUCHING and width of the support features."""

# |error| <= PROMISE_RELATIVE |signed distance| + PROMISE_EXTENT L + PROMISE_ROUNDING EPS M
PROMISE_RELATIVE = 1e-9
PROMISE_EXTENT = 1e-10
PROMISE_ROUNDING = 64.0


def promised(signed_distance: float, extent: float, magnitude: float) -> float:
    """Return the promised accuracy of a signed distance, in its unit.

    `extent` is L, `magnitude` M: see the module's first lines.
    """
    return PROMISE_RELATIVE * abs(signed_distance) + PROMISE_EXTENT * extent + PROMISE_ROUNDING * EPS * magnitude


# --- GJK, EPA and equally good normals ------------------------------------------------------------------------------

SUPPORT_ROUNDING = 4.0  # mutant: tolerance-support-rounding
"""Times EPS R: what choosing a support point and measuring it along a unit vector can be wrong by. Two dot products
of three terms (1.5 EPS of the length each), one rounded difference, one normalisation."""

GJK_TOUCH = 8.0
"""Times EPS R: a simplex this close to the origin contains it. Its own points are rounded by EPS R."""

GJK_GAP = 4.0  # mutant: tolerance-gjk-gap
"""Times EPS (|v| + R): duality gap at which more iterations cannot improve the distance."""

GJK_INSIDE = 64.0
"""Times EPS R**3: six times the volumes of the parts of a tetrahedron have the right sign in floats above this."""

EPA_CONVERGED = 2.0
"""Times EPS R: a face that no support point exceeds by more lies on the boundary of the Minkowski difference."""

EPA_FILTER = 200.0
"""Times EPS R: a point nearer than this to the plane of a face (not a sliver) is put on one side of it by exact integer
arithmetic. A plane's normal is rounded by up to EPS / SLIVER."""

SLIVER = 0.1
"""Sine below which the normal of a triangle is computed the careful way, because a plain cross product would leave
its corners EPS R / SLIVER out of the plane."""

COPLANAR = 1e-12
"""Radians (sum of the components): triangles of the Minkowski difference with normals this close are one face."""

TIE_WIDTH = 0.5
"""Times the promised tolerance: by how much normals may be worse than the best and still be equally good. Any of them
may be chosen, and its depth has to keep the promise with some room for rounding."""

SAME_DIRECTION = 1e-7  # mutant: tolerance-same-direction
"""Radians (sum of the components): equally good normals this close are reported as one."""


# --- Separating axes ------------------------------------------------------------------------------------------------

SAME_AXIS = 4.0
"""Times EPS: facet normals whose components differ by less are parallel axes and tested once."""

SAT_PARALLEL = 1e-13  # mutant: tolerance-sat-parallel
"""Sine below which two edges give no axis; leaving one out costs this times the shorter edge."""

SAT_PLAIN_CROSS = 0.1
"""Sine above which a plain cross product of two edges is exact enough; below, it is done in twice the digits."""

BOX_ORTHOGONAL = 8.0
"""Times EPS: cosine between two axes of a box up to which it counts as not sheared."""

BOX_PARALLEL = 1e-13  # mutant: tolerance-box-parallel
"""Sine below which two edges of boxes give no axis; leaving one out costs this times the shorter edge."""

BOX_PREFER_FACE = 1e-11
"""Relative: by how much less an axis of two boxes must overlap than an earlier one to be better."""


# --- Hulls and orientation tests ------------------------------------------------------------------------------------

HULL_DROP = 2.0  # mutant: tolerance-hull-drop
"""Times EPS M: a point this little outside a hull is left out; two roundings of one coordinate."""

HULL_STRAIGHT = 3.0  # mutant: tolerance-hull-straight
"""Times EPS M: a corner of a polygon this close to the straight line between its neighbours is no corner."""

HULL_MERGE = 4.0  # mutant: tolerance-hull-merge
"""Times EPS M: corners this close to one plane, on either side, share a facet. What a float64 affine map does to
coplanar points."""

HULL_RANK = 7.0  # mutant: tolerance-hull-rank
"""Times EPS M: points no farther than this from a point, a line or a plane coincide or are collinear or flat."""

HULL_SLIVER = 0.25
"""Sine between two sides of a triangle below which its normal is computed from whole numbers."""

ORIENTATION_FILTER = 8.0
"""Times EPS and the sum of the sizes of its products: a determinant of three differences of points is right within
this. It is rounded eight times by half of EPS; the rest is room for the rounding of the bound itself."""

ORIENTATION_LEAST = 2.0**-900
"""Not relative: products below this lose digits because floats end there. Points are scaled to about 1 before."""


# --- Bounding volumes -----------------------------------------------------------------------------------------------

KDOP_SUM = 2.0
"""Times EPS and the sums on the way: by how much the slab of a k-DOP is moved outward where a sum of two or three
coordinates had to be rounded. Each rounding is half of EPS times its sum; the rest is for moving it."""

KDOP_GAP = 8.0
"""Times EPS: by how much, relatively, a gap between k-DOPs is made smaller: a difference, a division or two roots."""


# --- Contact regions and witness points -----------------------------------------------------------------------------

REGION_ROUNDING = 16.0  # mutant: tolerance-region-rounding
"""Times EPS M: points of the contact plane closer than this are one point; thinner outlines are segments."""

REGION_NAMED = 2.0
"""Times REGION_ROUNDING EPS M: a corner of the region is on the corner or side of an outline that it names, or another
is looked up for it. The corner is rounded and the side too."""

REGION_SUPPORT = 16.0
"""Times EPS M: least width of a support feature, and heights this close are one height. Three products of rounded
coordinates with a rounded normal."""

REGION_TILT = 1e-10
"""Sine: most that the rounding of the smaller shape may be taken to tilt the normal against the larger shape's face."""

PARALLEL_EDGES = 1e-6
"""Sine below which two edges are looked at as parallel when witness points are put in the middle: whether they realise
the distance there is measured afterwards."""


# --- Curved shapes --------------------------------------------------------------------------------------------------

CURVED_BRACKET = 1e-11
"""Times the smaller extent: bounds of smooth cores this near to each other have met."""

CURVED_RINGS = (3e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Angles of the rings of directions around the best one. An inner polytope with points on a ring is short of the
surface by half the square of its angle times the radius of curvature: with the first by 5e-12 of it."""

CURVED_AXIS = 1e-12
"""Sine between directions, and share of the smaller extent between points, up to which axes of revolution are one."""

CURVED_LEVEL = 16.0
"""Times EPS and the largest coordinate of a feature: what is higher by less is level with the support plane."""

CURVED_ROUNDING = 4.0
"""Times EPS and R + M: by how much the bounds of curved shapes are widened. Axes and directions across them are unit
vectors to a few EPS, and radii, at most a quarter of R, are measured along them. R + M is less than 7 M where one shape
is a point that touches the other, and twice that must be within the promise."""


# --- Compounds ------------------------------------------------------------------------------------------------------

COMPOUND_PLANE = 16.0
"""Times EPS R (R of a pair of pieces): what a half-space of their Minkowski difference may be wrong by; also times
EPS M over the extent, the rounding of facet normals."""

COMPOUND_DUAL = 16.0
"""Times EPS and the sums on the way: by how much the lower bound of a distance from the origin is made smaller."""


# --- Meshes and their decomposition ---------------------------------------------------------------------------------

MESH_GAP = 64.0
"""Times EPS and the reach of two trees: what gaps of volumes other than k-DOPs may be wrong by, and how much wider
those of a tree may have to be to contain their triangles."""

MESH_APART = 16.0
"""Times EPS (M + the translation): what a translation that separates convex pieces is made longer by before meshes are
moved by it; two roundings of each coordinate, and those of the pieces' planes."""

MESH_DEPTH_STEP = 1e-3
"""Relative: how nearly the shortest separating translation of meshes along a direction is found."""

NOTCH_EXTENT = 1e-5
"""Times the smaller non-zero extent: how far beyond a separating translation shapes stay apart, or it ends in a
notch. What is typed is rounded, and moves a little farther."""

NOTCH_DEPTH = 1e-3
"""Times the length of the translation: the same, as three digits are typed of it."""

CLEAR_LONGER = 1.03
"""Times the shortest separating translation known: one up to this long is reported in its place where it ends in a
notch and the longer one does not."""

CONVEX_TURN = 4.0
"""Times EPS and the two products it is the difference of: a turn of three points less than this is decided by whole
numbers. Two rounded differences, a product and the sum are 2.5 EPS."""

CONVEX_FLAT = 16.0
"""Times EPS M: the corners of two neighbouring triangles this close to one plane bend neither way. Each corner is
rounded to M EPS by an affine map, and the thickness is that of all four."""

CONVEX_COVERED = 1e-9
"""Relative: by how much the volume or area of a convex mesh may differ from that of its hull. One that goes round
itself twice has twice as much."""

CONCAVITY_RELATIVE = 1e-2
"""Times the depth of a concavity: how nearly the deepest point of a mesh under its hull is found."""

DECOMPOSE_VOLUME = 1e-9
"""Relative: by how much the pieces of a mesh may differ from its volume, besides what rounding adds on their
surface."""

PIECES_OUT = 1e-3
"""Times the bounding box's diagonal: how far pieces of a mesh may extend beyond its box. Corners of those that are cut
with a tolerance for single precision are where planes meet that were moved by it, farther the flatter they meet."""


# --- Many pairs at once ---------------------------------------------------------------------------------------------

BATCH_CORNERS = 4.0
"""Times EPS and the largest coordinates of two boxes: how far their corners may be from where centres, axes and sizes
put them."""

BATCH_MISS = 0.25
"""Times the promised tolerance: witness points of a batch that realise the signed distance less exactly are computed by
the single call."""


# --- Measures -------------------------------------------------------------------------------------------------------

OVERLAP_ROUNDING = 8.0
"""Times EPS and the largest coordinate about a point inside: what the height of a point above a plane may be wrong by,
three products of rounded coordinates and their sum; relative, what the area of a triangle may be."""

OVERLAP_SUM = 64.0
"""Times EPS and the sum of what is added: what sums of volumes, and the powers that bounds are divided by, may be wrong
by. numpy adds in blocks of 128, eight numbers side by side."""


# --- Verification ---------------------------------------------------------------------------------------------------

VERIFY_UNIT = 16.0
"""Times EPS: how far the length of a unit vector, or a sum of weights, may be from 1."""

VERIFY_REGION = 1e-6
"""Relative: how far the stored area or length of a region may be from that of its outline."""

VERIFY_OUTLINE = 128.0
"""Times EPS M: how far a region may be beside the intersection of the support features, or short of it. REGION_ROUNDING
on each side, up to four times that at a corner of less than 26 degrees."""

VERIFY_SLIVER = 16.0
"""Times EPS, the largest coordinate and the length of an outline: what its corners' rounding makes of the area."""

VERIFY_CENTROID = 1e-9
"""Times the extent of an overlap: how far its centroid may be from that of the body; times its volume: how much of the
body's surface may be inverted by rounding."""
