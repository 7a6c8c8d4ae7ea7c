# SPDX-License-Identifier: GPL-3.0-or-later
"""How far one surface is inside the other, as a picture: the deepest point of each and the nearest one on the other."""

from __future__ import annotations

from functools import lru_cache

from ...core.measures.deepest_record import DeepestPoints
from ..data.units import UnitFormat
from ..study.picture import SIDES, Canvas, StudyPicture


@lru_cache(4)
def deepest_picture(deepest: DeepestPoints, units: UnitFormat) -> StudyPicture:
    """Return a line from the deepest point of A to the nearest one of B's surface, with a mark at each and a label, and
    the same of B."""
    canvas = Canvas()
    for found, role, other in zip((deepest.of_a, deepest.of_b), SIDES, reversed(SIDES), strict=True):
        if found is not None:
            canvas.line(role, [found.point, found.nearest])
            canvas.mark(other, found.nearest)
            canvas.mark(role, found.point)
            length = units.length(found.distance, found.upper - found.lower)
            canvas.label(role, f"{role.upper()} {length} deep", found.point)
    return canvas.picture()
