# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a result changes what the user should do, in a few words each; everything else is a note."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...core.result import Relation
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL
from ..data.distance import Distance
from ..pair.inspection import Inspection
from . import pair_lines
from .pair import InspectedSide, sides_of

MOST = 2
"""So many are shown at most: the first are those that matter most."""
NEGLIGIBLE = 0.01
"""Of a concavity, relative to the size of the object and to what is reported: a hull is warned of only above it."""


class Warning(NamedTuple):
    """What the user should know before using a result."""

    text: str
    """A few words, for one line of the sidebar."""
    sentence: str
    """The whole sentence; empty where there is no more to say."""


def warnings(inspection: Inspection, is_pending: bool = False) -> list[Warning]:
    """Return the warnings about a result, at most `MOST`; is_pending: without numbers, which are those of before."""
    contact, units = inspection.contact, inspection.units
    found = []
    if pair_lines.failed_checks_of(inspection):
        found.append(Warning("Verification failed", messages.CHECK_FAILED))
    if sentence := pair_lines.too_coarse(inspection):
        found.append(Warning("Coordinates too coarse", sentence))
    if sentence := pair_lines.margins_note(inspection):
        found.append(Warning("Within collision margins", "" if is_pending else sentence))
    if not contact.has_depth and not inspection.is_depth_pending:
        found.append(Warning(messages.NO_DEPTH_SHORT, _no_depth_hint(contact.relation)))
    for side in sides_of(inspection):
        proxy, text = side.proxy, ""
        if proxy.kind == CONVEX_HULL and proxy.choice.source != "chosen" and not _is_negligible(side, inspection):
            text = f"'{side.name}': convex hull used"
        elif proxy.kind == COMPOUND and proxy.pieces is not None and not proxy.pieces.exact:
            text = f"'{side.name}': approximate pieces"
        if text:
            found.append(Warning(text, ". ".join(pair_lines.shape_notes(side, inspection))))
    distance = Distance.of_contact(contact)
    if distance.is_at_most:
        text = f"{distance.name} is {messages.PENDING if is_pending else distance.span_text(units)}"
        bounds = distance.bound_texts(units)
        found.append(Warning(text, "" if is_pending else messages.bounds_apart(contact, *bounds)))
    return found[:MOST]


def _is_negligible(side: InspectedSide, inspection: Inspection) -> bool:
    """Return whether a convex hull says the same as the mesh that it stands for."""
    proxy, concavity = side.proxy, side.proxy.concavity
    if proxy.is_the_mesh(inspection.resolution):
        return True
    # A hollow with a thin wall is nowhere deep under its hull, but most of that is empty.
    empty = concavity.open_fraction if proxy.hull.rank == 2 else concavity.missing_fraction
    if empty is None or empty > NEGLIGIBLE:
        return False
    return concavity.depth <= NEGLIGIBLE * min(proxy.hull.extent, _reported(inspection))


def _reported(inspection: Inspection) -> float:
    """Return the length that a concavity would make wrong: the depth or gap, or what is left to another relation."""
    contact = inspection.contact
    if inspection.is_depth_pending:
        return math.inf
    if not contact.has_depth:
        return 0.0
    if contact.relation in (Relation.TOUCHING, Relation.COINCIDENT):
        return contact.contact_tolerance * min(inspection.shape_a.diameter, inspection.shape_b.diameter)
    if contact.relation is Relation.WITHIN_CLEARANCE:
        return min(contact.signed_distance, contact.clearance - contact.signed_distance)
    return abs(contact.signed_distance)


def _no_depth_hint(relation: str) -> str:
    """Return what to do about a pair without a depth."""
    why = messages.capitalized(messages.no_depth(relation))
    return f"{why}, so there is no depth: fill the holes of one object, or choose another collision shape"
