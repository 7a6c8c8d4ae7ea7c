# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a pair is moved to: out of each other, along the normal or an axis of the world, and on to a margin."""

from __future__ import annotations

import numpy as np

from ...core.directional_depth import depth_along
from ...core.placing import place_along
from ...core.progress import Progress, equal_parts, subrange
from ...core.result import Contact, Relation
from ...core.types import FloatArray
from ..data import messages
from ..geometry.collision_shape import RESOLUTION_STEPS
from .inspection import Inspection
from .separate import SeparateError

SHORTEST = "SHORTEST"
"""Along the normal, else along the axis of that name."""
OUT_OF_PLANE = 1e-6
"""Of a unit vector: an axis that leads out of a plane by less is in it."""
TOLERANCE = 1e-6
"""Times the diagonal of the smaller bounding box: how far from its margin a pair may be."""
VISIBLE = 0.05
"""Times the margin: how far from it a pair may be where the resolution of the coordinates allows more."""


NOTHING_TO_MOVE = "The objects do not penetrate: there is nothing to move out"


def no_depth_reason(found: Contact) -> str:
    """Return why two objects that penetrate cannot be separated, as a sentence; empty where they can."""
    if found.intersects and not found.has_depth:
        return f"There is no depth to move out by: {messages.no_depth(found.relation)}"
    return ""


def idle_reason(inspection: Inspection, margin: float) -> str:
    """Return why there is nothing to move to a margin of 0 or more, as a sentence; empty where there is."""
    found = inspection.contact
    if reason := no_depth_reason(found):
        return reason
    if found.relation == Relation.TOUCHING or not found.intersects:
        is_near = found.signed_distance < margin - margin_tolerance(inspection)
        return "" if is_near else NOTHING_TO_MOVE
    return ""


def margin_tolerance(inspection: Inspection) -> float:
    """Return how far from its margin a pair may be, Blender units."""
    return max(TOLERANCE * min(inspection.shape_a.extent, inspection.shape_b.extent), inspection.resolution)


def translation_to(inspection: Inspection, along: str, margin: float, progress: Progress | None = None) -> FloatArray:
    """Return the translation of B that sets it free from A and places it at a margin, below 0 an overlap.

    along: SHORTEST, or "X", "Y" or "Z": in whichever direction is shorter. Raise SeparateError where there is none, and
    Cancelled.
    """
    found, pair = inspection.contact, inspection.flat or inspection
    a, b, tolerance = pair.shape_a, pair.shape_b, inspection.contact_tolerance
    freeing, placing = subrange(progress, 0.0, 0.5), subrange(progress, 0.5, 1.0)
    if along == SHORTEST:
        direction, in_pair, start = found.normal, pair.contact.normal, found.depth
        if not direction.any():
            raise SeparateError("The direction is not known: choose an axis to move along")
    else:
        direction = np.eye(3)["XYZ".index(along)]
        in_pair = direction if inspection.flat is None else inspection.flat.plane.axes @ direction
        if np.linalg.norm(in_pair) < 1.0 - OUT_OF_PLANE:
            raise SeparateError(
                f"The {along} axis leads out of the plane in which the objects are inspected: choose another one"
            )
        lengths = [
            sign * depth_along(a, b, sign * in_pair, contact_tolerance=tolerance, progress=part)
            for sign, part in equal_parts((1.0, -1.0), freeing)
        ]
        shorter = min(lengths, key=abs)
        start = abs(shorter)
        if (shorter or found.normal @ direction) < 0.0:
            direction, in_pair = -direction, -in_pair
    if margin == 0.0 and start > 0.0:
        return start * direction
    # Half a step that Blender rounds away must not leave a gap within the clearance.
    wanted = margin + inspection.resolution / RESOLUTION_STEPS if margin > 0.0 else margin
    length = place_along(a, b, in_pair, wanted, start=start, contact_tolerance=tolerance, progress=placing)
    if length is None:
        text = inspection.units.length(margin)
        raise SeparateError(f"No place in that direction has a margin of {text}: choose another margin or axis")
    return length * direction


def off_margin(after: Inspection, margin: float) -> str:
    """Return how far a pair that was moved is from its margin, as a sentence; empty where it is at the margin."""
    if not after.contact.has_depth:
        return ""
    error, length = after.contact.signed_distance - margin, after.units.length
    if abs(error) <= margin_tolerance(after) and not abs(error) > VISIBLE * abs(margin) > 0.0:
        return ""
    text = f"The margin is {length(abs(error))} {'larger' if error > 0.0 else 'smaller'} than asked for"
    if abs(error) <= 2.0 * after.resolution:
        text += f": coordinates are stored in steps of {length(after.resolution / RESOLUTION_STEPS)} there"
    return text
