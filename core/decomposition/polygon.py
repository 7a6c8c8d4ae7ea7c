# SPDX-License-Identifier: GPL-3.0-or-later
"""A convex polygon in the plane as a shape, made from its outline."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ..shapes.hull import ConvexHull
from .polygon_convexity import as_polygon, outline_of


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Polygon(ConvexHull):
    """A convex polygon given by its outline; of any rank, for points on one line are a segment or a point.

    Unlike `ConvexHull` it takes no other points than corners in order, wound either way, and refuses an outline that
    is concave: what comes out is what went in. Its vertices are in the order of `ConvexHull`, counter-clockwise from
    the lowest number, without repetitions and without points on straight sides; `vertex_ids` are their numbers.
    Source: S1.1.
    """

    def __init__(self, points: ArrayLike) -> None:
        """Build the polygon with corners `points` (n, 2), n >= 1, world frame.

        Raises ValueError, naming the argument, when the points are not such an array of finite real numbers, when
        sides cross or touch, or when the outline is not convex by more than rounding: the deepest corner is named.
        """
        array = as_polygon(points)
        convexity = outline_of(array).convexity
        if not convexity.convex:
            worst = int(convexity.depths.argmax())
            corner = int(convexity.corners[worst])
            x, y = array[corner].tolist()
            more = len(convexity.corners) - 1
            others = "" if more == 0 else f" (and {more} more)"
            raise ValueError(
                f"points: not convex: corner {corner} at ({x:.6g}, {y:.6g}) is concave, {convexity.depths[worst]:.3g} "
                f"deep{others}; decompose_polygon(points) makes convex pieces, ConvexHull(points) fills concavities"
            )
        super().__init__(array)
