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

LARGEST_COORDINATE = 2.0**1000
"""Not relative: larger coordinates are refused, for distances of shapes, and their regions' lengths, must be finite."""

EXTREME_EXPONENT = 100
"""A pair larger than 2**100 or smaller than 2**-100 is computed at another scale: products of four lengths, and the
squares of what rounding leaves of them, must neither overflow nor vanish."""

SUPPORT_ROUNDING = 4.0
"""Times EPS R: what choosing a support point and measuring it along a unit vector can be wrong by. Two dot products
of three terms (1.5 EPS of the length each), one rounded difference, one normalisation."""

GJK_TOUCH = 8.0
"""Times EPS R: a simplex this close to the origin holds it. Its own points are rounded by EPS R."""

GJK_GAP = 4.0
"""Times EPS (|v| + R): duality gap at which more iterations cannot improve the distance."""

GJK_INSIDE = 64.0
"""Times EPS R**3: six times the volumes of the parts of a tetrahedron are surely told by floats above this."""

EPA_CONVERGED = 2.0
"""Times EPS R: a face that no support point exceeds by more lies on the boundary of the Minkowski difference."""

EPA_FILTER = 200.0
"""Times EPS R: a point nearer than this to the plane of a face (not a sliver) is put on one side of it by exact integer
arithmetic. A plane's normal is rounded by up to EPS / SLIVER."""

EPA_GRID_BITS = 60
"""Bits of the integer grid for exact arithmetic: its step is 2**-60 R, far below the rounding of a point."""

EXACT_GRID_BITS = 120
"""Bits of the integer grid on which GJK decides exactly: its step is 2**-120 of the largest coordinate."""

FLAT = 8.0
"""Times EPS R: a Minkowski difference thinner than this is flat."""

COPLANAR = 1e-12
"""Radians (sum of the components): triangles of the Minkowski difference with normals this close are one face."""

TIE_WIDTH = 0.5
"""Times the promised tolerance: by how much normals may be worse than the best and still be equally good. Any of them
may be the chosen one, and its depth has to keep the promise with some room for rounding."""

TIE_HOLLOW = 8.0
"""Times TIE_WIDTH and the promised tolerance: normals of round shapes between which no hollow is deeper than that are
told as one. Along a crease all are nearly as good, and as it bends, those halfway between two of them are worse."""

SAME_DIRECTION = 1e-7
"""Radians (sum of the components): equally good normals this close are told as one."""

THIN_START = 1e-3
"""Height over length below which GJK's tetrahedron is too thin to grow from and a wider one is looked for."""

SLIVER = 0.1
"""Sine below which the normal of a triangle is computed the careful way, because a plain cross product would leave
its corners EPS R / SLIVER out of the plane."""

REGION_ROUNDING = 16.0
"""Times EPS M: points of the contact plane closer than this are one point; thinner outlines are segments."""

REGION_NAMED = 2.0
"""Times REGION_ROUNDING EPS M: a corner of the region is on the corner or side of an outline that it names, or another
is looked up for it. The corner is rounded and the side too."""

REGION_SUPPORT = 16.0
"""Times EPS M: least width of a support feature, and heights this close are one height. Three products of rounded
coordinates with a rounded normal."""

REGION_SHARP = -0.9
"""Cosine between the directions of two sides that follow each other: below it the corner is sharp (less than 26
degrees), and points within a rounding error of both sides can be several of them beyond the corner."""

REGION_TILT = 1e-10
"""Sine: most that the rounding of the smaller shape may be taken to tilt the normal against the larger shape's face."""

VERIFY_UNIT = 16.0
"""Times EPS: how far the length of a unit vector, or a sum of weights, may be from 1."""

VERIFY_TURN = 0.25
"""Turns: how far the winding number of a polytope around the origin, a whole number, may be from 1 by rounding."""

VERIFY_REGION = 1e-6
"""Relative: how far the stored area or length of a region may be from that of its outline."""

HULL_FILTER = 32.0
"""Times EPS R (R: farthest point from the middle of the box): a point this far from a facet plane in float64 is surely
on that side. Bounds the rounding of a plane through three corners and of the dot product with it."""

HULL_DROP = 2.0
"""Times EPS M: a point this little outside a hull is left out; two roundings of one coordinate."""

HULL_STRAIGHT = 3.0
"""Times EPS M: a corner of a polygon this close to the straight line between its neighbours is no corner."""

HULL_MERGE = 4.0
"""Times EPS M: corners this close to one plane, on either side, share a facet. What a float64 affine map does to
coplanar points."""

HULL_BURIED = 5.0
"""Times EPS M: a corner that stands out by less from the middle of a merged facet, or from the straight line of the
edge between two facets, is left out."""

HULL_RANK = 7.0
"""Times EPS M: points that fill less than this across a line or a plane are collinear or flat; likewise a point."""


def promised(signed_distance: float, extent: float, magnitude: float) -> float:
    """Return the promised accuracy of a signed distance, in its unit.

    `extent` is L, `magnitude` M: see the module's first lines.
    """
    return PROMISE_RELATIVE * abs(signed_distance) + PROMISE_EXTENT * extent + PROMISE_ROUNDING * EPS * magnitude


DENT_RELATIVE = 1e-2
"""Times the dent's depth: how nearly the deepest point of a mesh under its hull is found. It is a warning's number."""

DENT_FLOOR = 64.0
"""Times EPS M: a mesh this near to its hull is convex; the rounding of the planes."""

BOX_ORTHOGONAL = 8.0
"""Times EPS: cosine between two axes of a box up to which it counts as not sheared."""

BOX_SOLID = 64.0
"""Times EPS M: a box thinner than this takes its planes from the hull of its corners, which knows what is flat."""

BOX_WIDE = 0.968
"""Cosine (sine 0.25) up to which the products of axes of two boxes may stand for one another."""

BOX_PARALLEL = 1e-13
"""Sine below which two edges of boxes give no axis; leaving one out costs this times the shorter edge."""

BOX_PREFER_FACE = 1e-11
"""Relative: by how much less an axis of two boxes must overlap than an earlier one to be better."""

SAME_AXIS = 4.0
"""Times EPS: facet normals whose components differ by less are parallel axes and tested once."""

SAT_ROUNDING = 8.0
"""Times EPS R: what the gap along an axis may be wrong by; gaps nearer to 0 decide nothing about thin shapes."""

SAT_PREFER = 1e-12
"""Times L: by how much a face may be worse than the best axis and still be preferred to it."""

SAT_PREFER_ROUNDING = 4.0
"""Times EPS M: the same, for shapes far from the origin."""

SAT_PARALLEL = 1e-13
"""Sine below which two edges give no axis; leaving one out costs this times the shorter edge."""

SAT_PLAIN_CROSS = 0.1
"""Sine above which a plain cross product of two edges is exact enough; below, it is done in twice the digits."""

UNIT_LENGTH = 16.0
"""Times EPS: a normal whose length is this near to 1 is taken as it is, and any other is made a unit vector."""

VERIFY_ROUNDING = 2.0
"""Times EPS R: what `verify` itself can be wrong by where it measures along a unit vector; a bound must be at least
this much wider than what it measures. Less than SUPPORT_ROUNDING, by which the bounds are widened."""

VERIFY_OUTLINE = 128.0
"""Times EPS M: how far a region may be beside the intersection of the support features, or short of it. REGION_ROUNDING
on each side, up to four times that at a corner that REGION_SHARP lets pass."""

VERIFY_MISS = 4.0
"""Times EPS M: features separated by more have no common point, and sides that part by more over their length are not
parallel. Less than REGION_ROUNDING."""

VERIFY_SAME_HEIGHT = 16.0
"""Times EPS M: a vertex this near to the edge of a support feature's width may be in the feature or not."""

HULL_SLIVER = 0.25
"""Sine between two sides of a triangle below which its normal is computed from whole numbers."""

HULL_TURN = 4.0
"""Times EPS and the two products it is the difference of: a turn of a polygon's outline less than this is decided by
whole numbers."""

HULL_MAYBE_FLAT = 8.0
"""Times HULL_RANK EPS M: points less thick than this are looked at a second time, across their outline's plane."""

HULL_SIEVE = 1e-9
"""Relative: by how much the square of the radius of the ball inside a hull is taken smaller, for the rounding of it."""

SAT_SHARP = -0.5
"""Cosine between the normals of two facets below which their edge is sharp: a gap beyond it may be far wider than any
across a facet."""

SAT_NEARLY_PARALLEL = 16.0
"""Times EPS: cosines this near to 1 or -1 are those of axes that may be the same; SAME_AXIS decides."""

PARALLEL_EDGES = 1e-6
"""Sine below which two edges are looked at as parallel when witness points are put in the middle: whether they realise
the distance there is measured afterwards."""

KDOP_SUM = 2.0
"""Times EPS and the sums on the way: by how much the slab of a k-DOP is moved outward where a sum of two or three
coordinates had to be rounded. Each rounding is half of EPS times its sum; the rest is for moving it."""

KDOP_GAP = 8.0
"""Times EPS: by how much, relatively, a gap between k-DOPs is made smaller: a difference, a division or two roots."""

SPHERE_ROUNDING = 8.0
"""Times EPS: relative rounding of a distance, a root of three squares, with some room; spheres are made wider by it."""

SPHERE_DONE = 8.0
"""Times EPS: a sphere that no point exceeds by more, relatively, encloses them."""

KDOP_CORNER = 16.0
"""Times EPS M: how far a common point of three planes may be outside of another and be a corner of the k-DOP."""

BROAD_MARGIN = 4.0
"""Times EPS (M + margin): by how much more than a margin boxes are widened where pairs are only proposed; what the sums
are rounded by. The pairs are tested with the margin itself."""

OBB_ROUNDING = 16.0
"""Times EPS and the sum of the sides: by how much oriented boxes are made wider, and what their separating axes may be
wrong by. Axes are unit vectors and perpendicular to a few EPS; two products of three terms each."""

OBB_FLAT = 1e-10
"""Times the diagonal and the surface area: what this adds to the content of a box when the best is chosen decides
between boxes of flat points, whose contents are all rounding."""

OBB_PARALLEL = 1e-3
"""Sine between two edges of boxes below which their product tells no distance; the faces tell nearly the same."""

KDOP_CLIMB = 64.0
"""Times EPS and the largest world coordinate: vertices this near to the best are climbed on from. A hull is convex, and
what is measured of it right, to a few EPS only."""

BVH_WIDER = 64.0
"""Times EPS and the largest coordinate of two trees: by how much the nodes of one are grown where tests of volumes are
rounded, so that no node hides items that pass their own test. Several times what those tests and the merging allow."""

ORIENTATION_FILTER = 8.0
"""Times EPS and the sum of the sizes of its products: a determinant of three differences of points is right within
this. It is rounded eight times by half of EPS; the rest is room for the rounding of the bound itself."""

ORIENTATION_DOUBLED = 256.0
"""Times EPS**2 and the sum of the sizes of its products: the same for a determinant in twice the digits. Each of a
dozen steps is wrong by a few EPS**2."""

ORIENTATION_LEAST = 2.0**-900
"""Not relative: products below this lose digits because floats end there. Points are scaled to about 1 before."""

MESH_SIEVE = 16.0
"""Times EPS, the largest coordinate and the sum of the sizes of the products that a normal consists of: how far from a
plane a point is, both measured from the origin, is known to this. Two products of three terms, and the normal."""

MESH_STEEP = 2.0**32
"""Times the error of a height: where an edge rises less than this from one side of a plane to the other, its heights
are computed in twice the digits, or the point where it meets the plane could be off along the edge by 1e-10 of it."""

TRIANGLE_ROUNDING = 32.0
"""Times EPS and the size of a pair of triangles: what a slab between them may be wrong by. Rounded differences of
corners, two dot products of three terms, a rounded unit vector."""

TRIANGLE_LOOSE = 1e-12
"""Times the size of a pair of triangles: bounds of their distance that are farther apart are made anew in whole
numbers."""

TRIANGLE_LOOSE_RELATIVE = 1e-10
"""Times the distance of two triangles: the same."""

TRIANGLE_CROSSING = 16.0
"""Times EPS and the sum of the three products of lengths of a determinant: its sign is certain beyond. The terms'
corners are rounded by EPS of the pair's size, which is at most 1 there."""

MESH_GAP = 64.0
"""Times EPS and the reach of two trees: what gaps of volumes other than k-DOPs may be wrong by, and how much wider
those of a tree may have to be to hold their triangles."""

WINDING_ROUNDING = 16.0
"""Times EPS and the product of the distances of a triangle's corners from a point: the point may be on either side of
its plane where the determinant of the three is less."""

WINDING_SHARP = 1e-6
"""Times the same product: where the sine and the cosine of half a solid angle, times it, are both less, the point is
next to an edge, and rounding would turn the angle by more than EPS over this."""

COMPOUND_PLANE = 16.0
"""Times EPS R (R of a pair of pieces): what a half-space of their Minkowski difference may be wrong by; also times
EPS M over the extent, the rounding of facet normals."""

COMPOUND_SUPPORT = 1e-9
"""Relative: edges this near to being the farthest parts of their pieces may span a facet of the Minkowski difference.
More of them are harmless: they only touch it."""

COMPOUND_DUAL = 16.0
"""Times EPS and the sums on the way: by how much the lower bound of a distance from the origin is made smaller."""

CONVEX_TURN = 4.0
"""Times EPS and the two products it is the difference of: a turn of three points less than this is decided by whole
numbers. Two rounded differences, a product and the sum are 2.5 EPS."""

CONVEX_FLAT = 16.0
"""Times EPS M: the corners of two neighbouring triangles this close to one plane bend neither way. Each corner is
rounded to M EPS by an affine map, and the thickness is that of all four."""

CONVEX_COVERED = 1e-9
"""Relative: by how much the volume or area of a convex mesh may differ from that of its hull. One that goes round
itself twice has twice as much."""

DECOMPOSE_FILTER = 64.0
"""Times EPS and the size of a mesh: corners of its pieces this far from a plane are surely on that side."""

DECOMPOSE_ALIKE = 2.0**-30
"""Normals and, in half the size of the solid, distances of planes in the same steps of it may be one plane."""

DECOMPOSE_VOLUME = 1e-9
"""Relative: by how much the pieces of a mesh may differ from its volume, besides what rounding adds on their
surface."""

DECOMPOSE_BOUND = 1e-2
"""Times the distance of the pieces from the mesh: how nearly it is found where they are not exact."""

CURVED_BRACKET = 1e-11
"""Times the smaller extent: bounds of smooth cores this near to each other have met."""

CURVED_RINGS = (3e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Angles of the rings of directions around the best one. An inner polytope with points on a ring is short of the
surface by half the square of its angle times the radius of curvature: with the first by 5e-12 of it."""

CURVED_AXIS = 1e-12
"""Sine between directions, and share of the smaller extent between points, up to which axes of revolution are one."""

CURVED_BESIDE = 0.25
"""Times the promised tolerance: sections that leave out no more are all that is looked at."""

CURVED_LEAN = 1e-6
"""Sine between axes of revolution, up to which sections are looked at too. They are wrong by it times the extent, which
is added to the bounds; rotations in single precision lean by a tenth of it."""

CURVED_POLE = 1e-6
"""Sine: a normal this near to the axis of two bodies of revolution is along it, if that separates as well."""

MESH_SINGLE = 1e-6
"""Times the bounding box's diagonal: dents of meshes that were stored in single precision, which are none."""

PIECES_OUT = 1e-3
"""Times the bounding box's diagonal: how far pieces of a mesh may stand out of its box. Corners of those that are cut
with MESH_SINGLE as the tolerance are where planes meet that were moved by it, farther the flatter they meet."""

MESH_OPEN_VOLUME = 64.0
"""Times EPS, the area and the diagonal: closed meshes, and parts of them, of less volume enclose nothing."""

MESH_APART = 16.0
"""Times EPS (M + the translation): what a translation that separates convex pieces is made longer by before meshes are
moved by it; two roundings of each coordinate, and those of the pieces' planes."""

MESH_DEPTH_STEP = 1e-3
"""Relative: translations that separate meshes are looked for along a direction until they are known as nearly."""

CURVED_LEVEL = 16.0
"""Times EPS and the largest coordinate of a feature: what is higher by less is level with the support plane."""

CURVED_LOOSE = 1e-10
"""Times the smaller extent: how much less than the best direction that of the inner polytopes may separate and still be
told, for its witness points realise it."""

CURVED_ROUNDING = 4.0
"""Times EPS and R + M: by how much the bounds of curved shapes are widened. Axes and directions across them are unit
vectors to a few EPS, and radii, at most a quarter of R, are measured along them. R + M is less than 7 M where one shape
is a point that touches the other, and twice that must be within the promise."""

SMALLEST_STEP = 2.0**-1074
"""Not relative: the step of float64 near 0. There a product is wrong by half of it, however small its factors."""

SUBNORMAL_SUM = 16.0
"""Times SMALLEST_STEP: what sums of up to 24 products, or two roots, are wrong by near 0. Nothing anywhere else."""

MESH_ALIKE = 2.0**-30
"""Times the size of the smaller mesh, or the longest of lengths: in steps of it lengths are put in order."""

MESH_SETTLED = 1e-12
"""Relative: translations that separate meshes and grow shorter by less are at a local minimum."""

BATCH_ROUNDING = 16.0
"""Times EPS and half the diagonals of two boxes: what an overlap across an axis may be wrong by when it is measured
from their centres. Axes are unit vectors and perpendicular to BOX_ORTHOGONAL EPS; some products of three terms."""

BATCH_CORNERS = 4.0
"""Times EPS and the largest coordinates of two boxes: how far their corners may be from where centres, axes and sizes
put them."""

BATCH_FLAT = 0.1
"""Times the promised tolerance: how far a feature of a box may rise across the contact plane and lie in it."""

BATCH_MISS = 0.25
"""Times the promised tolerance: witness points of a batch that realise the signed distance less exactly are looked for
by the single call."""

BATCH_CLOSED = 2.0
"""Times REGION_ROUNDING EPS M: how far the end of a side of a region may be from the start of the next one, which is
made of the rounded corners of the other box."""

BATCH_CLOSE = 1e3
"""Times REGION_ROUNDING EPS M: half an edge's way across a side of a face or another edge, below which rounding may
move the end of what is left of the edge, or the crossing, by a thousandth of it and more."""

BATCH_SLIVER = 1e-3
"""Relative: twice the area over the square of the perimeter, below which a region is left to the single call: rounding
moves the centroid of a thin one by more than its own size."""

DIRECTION_ROUNDING = 16.0
"""Times EPS, R and the sum of the components of a direction: the gap across it must be wider to separate for sure. A
product of three terms for each shape and for the way between the centres, and their sums."""

VERIFY_TIE_ANGLE = 1e-6
"""Radians: two ties this near to each other are one, and a tie this near to a facet's normal is that normal. Four ties
that stand for a circle or six for a sphere are on it within as much."""

VERIFY_TIE_CLEAR = 0.1
"""Times the promised tolerance: a facet's normal whose depth differs by less from the told one is as good beyond
doubt, and must be among the ties."""

VERIFY_SLIVER = 16.0
"""Times EPS, the largest coordinate and the length of an outline: what its corners' rounding makes of the area."""

SINGLE_EPS = 2.0**-23
"""Relative gap between neighbouring float32 numbers."""

BATCH_SLAB = 8.0
"""Times SINGLE_EPS and the farthest that a shape reaches: what the slab around it is widened by, on either side. Of
rounded corners, directions and products 2.5 of the shape's own size, of sums and differences 2.5 of all."""

BATCH_SINGLE = 64.0
"""Times SINGLE_EPS and the sum of the radii of the balls around two boxes, or the way between their centres if that is
more: what an overlap of boxes in single precision may be wrong by, of edges times their sine. Cosines are wrong by 2.5;
of products of them with sizes 10 and with the way 8.5, of the sine that divides them 8."""

BATCH_TIE = 8.0
"""Times what BATCH_SINGLE allows: by how much the second axis of boxes must be worse than the first one for single
precision to tell which one decides. Below 2 errors as large as they may be leave all pairs open; with much more, many
tie."""

BATCH_BALL = 8.0
"""Times SINGLE_EPS: relative, by how much the balls around boxes are made larger in single precision, and those inside
smaller. Of rounded radii and ways, their squares and sums 3."""

BATCH_SMALLEST = 1e-15
"""Relative to the largest box: radius below which a ball around a box counts as that large in single precision, where
the squares of smaller ones vanish."""

RAY_ROUNDING = 32.0
"""Times EPS: how far, relatively, a ray through a shape may be computed too long."""

GJK_SLIVER = 64.0
"""Times EPS and the squares of two sides: the square of twice a triangle's area up to which it is taken for its sides.
Sixteen times what three rounded products may be wrong by."""

MESH_SLIVER = 1e-5
"""Sine between two sides of a triangle, below which the foot of a point on it is found in more than two steps."""

COVER_ROUNDING = 16.0
"""Times EPS, the size of the Minkowski difference and 1 + the sum of a cell's sides: by how much it must reach farther
there than the depth that is proved. Lengths and depth in the middle, and their sums, are wrong by 10; what slopes and
curvatures add is at most 15 times the sides."""

COVER_SHARE = 0.5
"""Times the promised tolerance: bounds of curved shapes that are no farther apart are not brought nearer by cells of
directions, and how much less than the depth that is told these prove."""

COVER_OVERLAP = 2.0
"""Times EPS: by how much halves of cells of directions, coordinates below 4, are wider than half of the cell on either
side. The middle is rounded by half of that."""

COVER_PATCH = 64.0
"""Times EPS: by how much the pieces of planes that hold cells of directions are wider on either side. Sines, cosines
and tangents to a few digits' last place, products of them, and a rounded frame."""

COMPOUND_TURN = 16.0
"""Times eps times the length of a translation: by how much turned facets, and it, are elsewhere. Also times eps alone:
by how much lengths change when they are turned."""

COMPOUND_SAME = 64.0
"""Times eps: components of the normals of two facets of one body that differ by no more are one facet, where their
distances, over the longest translation, do not either. Relative: what a further facet must add to a bound."""

COMPOUND_ALIKE = 2.0**-30
"""Times the longest translation: lengths in steps of it are put in order, what is in one step as it is found."""

FRAME_PARALLEL = 1e-9
"""Times the length of an edge: one that is shorter by no more along a direction has that direction."""

FRAME_ALIKE = 1e-6
"""Relative: of total lengths along directions, and of ways ahead, that differ by no more none is the greater; in the
unit of the pair, what is no larger has no sign."""

ROOT_SMALLEST = 1e-290
"""In units of what is largest: parts of a secular equation that count as 0. What larger ones are divided by, and their
quotients by the root, are in the range of float64."""

FACET_BELOW = 16.0
"""Times EPS and the sum of a polytope's magnitude and a point's way from its centre: how far below the plane of a facet
a point may be computed to be that is above it. Facets merged of coplanar triangles are off by HULL_MERGE, products of
ways and normals by 3."""
