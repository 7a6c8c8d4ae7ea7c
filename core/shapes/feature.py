# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices, edges and faces: the parts of a shape that take part in a contact."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FeatureKind(StrEnum):
    """What part of a shape."""

    VERTEX = "vertex"
    EDGE = "edge"
    FACE = "face"


@dataclass(frozen=True)
class Feature:
    """One vertex, edge or face of a shape, named by indices into the shape's `vertices`."""

    kind: FeatureKind
    vertices: tuple[int, ...]
    """One index for a vertex, two for an edge (ascending), three or more for a face: its outline, in cyclic order,
    counter-clockwise seen from outside of the shape."""
