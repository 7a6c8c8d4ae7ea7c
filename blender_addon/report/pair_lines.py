# SPDX-License-Identifier: GPL-3.0-or-later
"""An inspection as rows in the scene's units: for the panel, the status bar and the clipboard."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.region.region import RegionKind
from ...core.result import Contact, Relation
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL, WORDS
from ..data.distance import AT_MOST, Distance
from ..data.messages import capitalized, counted
from ..data.units import DIGITS_OF_BOUND, UnitFormat, direction, exact_vector, ratio
from ..geometry.collision_shape import OPEN_SHARE, covers_hull
from ..measure.pair_measures import PairMeasures
from ..pair.inspection import Inspection
from ..pair.pair_contact import curve_length
from ..scene.clash_rows import failed_checks
from ..scene.coarse import coarse_sides
from .pair import InspectedSide, sides_of

DIRECTION = "Direction"
"""The name of the row of the normal."""
METHOD_NAMES = {"sat": "SAT", "gjk": "GJK + EPA", "both": "Both"}
OWN_METHODS = {"compound": "compounds", "mesh": "meshes"}
"""The methods of things that are not convex, which cannot be chosen."""
_METHODS = {
    "compound": "Search over pieces",
    "mesh": "Triangles and pieces",
    "secular, curved": "Ellipsoid and ball",
    "centers, curved": "Distance of centers",
    "newton, curved": "Two ellipsoids",
}
"""The methods that are not named by their letters."""
_CLOSE, _EPS = 1e-4, 2.0**-52
"""Bounds that differ by less, relative to the number, are one number to all digits that are shown; those that are
equal are so to the rounding of floating-point numbers."""
_MOST_IN_A_BOX = 1e5
"""Numbers in a box of one unit are below this, else all are in the unit of the largest."""


class Headline(NamedTuple):
    """The answer in one line."""

    words: str
    """The relation, such as 'A Inside B'."""
    number: str
    exact: str
    """The number with all its digits, for the clipboard; empty without one."""


class Row(NamedTuple):
    """A line of the panel."""

    name: str
    text: str
    copied: str = ""
    """What is copied of it: a number with all digits and its unit, or a vector as Blender's fields take it, in Blender
    units. Empty for words."""


_KINDS = {RegionKind.POLYGON: "area", RegionKind.SEGMENT: "line", RegionKind.POINT: "point"}
"""What the kinds of regions are called, in the order in which they are counted."""


def relation_words(inspection: Inspection) -> str:
    """Return the relation with the names of the objects, where it is of one in the other: 'Cube inside Sphere'."""
    a, b = inspection.name_a, inspection.name_b
    inside = {Relation.A_INSIDE_B: f"{a} inside {b}", Relation.B_INSIDE_A: f"{b} inside {a}"}
    relation = inspection.contact.relation
    return inside.get(relation) or messages.RELATIONS[relation]


def headline(inspection: Inspection) -> Headline:
    """Return the answer in one line: the relation, and depth or gap."""
    words, distance = messages.RELATIONS[inspection.contact.relation], Distance.of_contact(inspection.contact)
    return Headline(words, number(inspection), distance.exact_text(inspection.units))


def number(inspection: Inspection) -> str:
    """Return the depth or gap, PENDING where it is not known yet; empty when they touch or there is no depth."""
    if inspection.is_depth_pending:
        return messages.PENDING
    return Distance.of_contact(inspection.contact).text(inspection.units)


def one_line(inspection: Inspection) -> str:
    """Return the result in one line, for the status bar."""
    contact, sides = inspection.contact, sides_of(inspection)
    distance = Distance.of_contact(contact)
    line = f"{inspection.name_a} and {inspection.name_b}: {relation_words(inspection).lower()}"
    if contact.relation in (Relation.A_INSIDE_B, Relation.B_INSIDE_A):
        line = relation_words(inspection)
    if not contact.has_depth:
        line += f", no depth: {messages.no_depth(contact.relation)}"
    elif text := distance.text(inspection.units):
        line += f", {distance.name.lower()} {text}"
    if not all(side.proxy.is_the_mesh(inspection.resolution) for side in sides):
        line += f" (as {' and '.join(WORDS[side.proxy.kind] for side in sides)})"
    if inspection.flat is not None:
        line += " (2D)"
    if too_coarse(inspection):
        line += " (coordinates too coarse)"
    return line


def measurements(inspection: Inspection) -> list[Row]:
    """Return where, how far and which way, each number with what is copied of it; nothing that says nothing."""
    contact = inspection.contact
    distance, error = Distance.of_contact(contact), inspection.resolution
    units = _of_one_box(inspection, distance)
    rows = []
    if inspection.is_depth_pending:
        rows += [Row(name, messages.PENDING) for name in ("Depth", DIRECTION, "Move B By")]
    if contact.has_depth:
        depth = abs(contact.signed_distance)
        # Objects that touch have no number in the headline, but may be a little apart or in each other.
        if text := distance.text(inspection.units) or (depth > error and units.length(depth, distance.width)):
            rows.append(Row(distance.name, text, distance.exact_text(inspection.units)))
        if contact.normal.any():
            rows.append(Row(DIRECTION, direction(contact.normal), exact_vector(contact.normal)))
        if depth > error and contact.signed_distance < 0.0:
            rows.append(Row("Move B By", inspection.move_text(units), inspection.exact_move))
    if contact.region is not None or contact.intersects:
        rows.append(_point("Center", contact.center, units, error))
    rows += _extent(contact, inspection.units)
    if contact.curves:
        length = curve_length(contact)
        rows.append(Row("Curves", f"{len(contact.curves)}, {units.length(length)} long", units.exact(length)))
    on_a = _point("Point on A", contact.point_on_a, units, error)
    on_b = _point("Point on B", contact.point_on_b, units, error)
    # Else they differ, if only in digits that are not shown.
    is_common = contact.relation is Relation.TOUCHING or not contact.has_depth
    is_common = is_common and on_a.text == on_b.text
    rows += [on_a._replace(name="Common Point")] if is_common else [on_a, on_b]
    if inspection.flat is not None:
        normal = inspection.flat.plane.normal
        rows.append(Row("Plane Normal", direction(normal), exact_vector(normal)))
    for side in sides_of(inspection):
        rows.append(Row(f"Shape of {side.letter.upper()}", capitalized(_shape_words(side))))
    return rows


def measures(inspection: Inspection, found: PairMeasures) -> list[Row]:
    """Return what was measured: how much overlaps, how deep each surface is inside the other, how wide the gap is."""
    units, volume, deepest, band = inspection.units, found.volume, found.deepest, found.band
    rows = []

    def add(name: str, value: float, lower: float, upper: float, power: int = 1) -> None:
        rows.append(Row(name, units.bounded(value, lower, upper, power), units.exact_measure(value, power)))

    if volume is not None and volume.volume is not None and (volume.volume > 0.0 or inspection.contact.intersects):
        name, power = ("Overlap Volume", 3) if inspection.flat is None else ("Overlap Area", 2)
        add(name, volume.volume, volume.lower, volume.upper, power)
    for letter, point in (("A", deepest.of_a), ("B", deepest.of_b)) if deepest is not None else ():
        if point is not None:
            add(f"Deepest of {letter}", point.distance, point.lower, point.upper)
    if band is not None and band.least is not None:
        add("Least Gap", band.least, band.least_lower, band.least)
        rows.append(
            Row("Greatest Gap", _at_most(band.greatest, band.greatest_upper, units), units.exact(band.greatest))
        )
    return rows


def _at_most(value: float, upper: float, units: UnitFormat) -> str:
    """Return a length and an upper bound of it, where that is more: '0.45 mm (≤ 0.505)'."""
    text, in_unit = units.length(value), units.for_table([value])
    most = in_unit.length(upper, rounding="up", digits=DIGITS_OF_BOUND)
    return text if most == in_unit.length(value) else f"{text} ({AT_MOST}{most.partition(' ')[0]})"


def measure_notes(inspection: Inspection, found: PairMeasures) -> list[str]:
    """Return why something could not be measured, as sentences."""
    names = inspection.name_a, inspection.name_b
    measured = [each for each in (found.volume, found.deepest) if each is not None]
    notes = [messages.named(each.unsupported_reason, names) for each in measured if each.unsupported_reason]
    if found.band is not None and found.band.least is None:
        limit = inspection.units.length(found.band.limit)
        notes.append(f"Nothing of '{names[1]}' faces '{names[0]}' within {limit}: set a larger limit")
    return notes


def _of_one_box(inspection: Inspection, distance: Distance) -> UnitFormat:
    """Return the units with one for all lengths of a box: that of the depth or gap, if all can be read in it."""
    contact, units = inspection.contact, inspection.units
    largest = max(float(abs(p).max()) for p in (contact.point_on_a, contact.point_on_b, contact.center))
    of_distance = units.for_table([distance.signed_distance or largest])
    is_readable = largest * of_distance.fixed().per_blender_unit < _MOST_IN_A_BOX
    return of_distance if is_readable else units.for_table([largest])


def _point(name: str, point: Iterable[float], units: UnitFormat, error: float) -> Row:
    return Row(name, units.vector(point, error), exact_vector(point))


def _extent(contact: Contact, units: UnitFormat) -> list[Row]:
    """Return how large the contact is: its area, else its length, else its points; across a gap how much of the two
    faces each other."""
    found = contact.regions or (() if contact.region is None else (contact.region,))
    kinds = [region.kind for region in found]
    area, length = sum(region.area for region in found), sum(region.length for region in found)
    rows, facing = [], "Facing " if contact.relation is Relation.WITHIN_CLEARANCE else ""
    if area > 0.0:
        rows.append(Row(f"{facing}Area", units.area(area), units.exact_area(area)))
    elif RegionKind.SEGMENT in kinds:
        rows.append(Row(f"{facing}Length", units.length(length), units.exact(length)))
    if len(found) > 1 or kinds == [RegionKind.POINT]:
        counts = [counted(kinds.count(kind), word) for kind, word in _KINDS.items() if kind in kinds]
        rows.append(Row("Regions", ", ".join(counts)))
    return rows


def _shape_words(side: InspectedSide) -> str:
    """Return the collision shape of an object and where it comes from, such as 'capsule, fitted'."""
    proxy, shape = side.proxy, side.shape
    more = ""
    if proxy.fit is not None:
        more = "at its origin" if proxy.choice.source == "rigid_body" else "fitted"
    if isinstance(shape, Compound):
        is_exact = proxy.pieces is not None and proxy.pieces.exact
        more = f"{counted(len(shape.pieces), 'piece')}{', exact' if is_exact else ''}"
    elif isinstance(shape, Mesh):
        more = "solid" if shape.is_closed else "surface"
    source = {"rigid_body": "as its rigid body", "automatic": "automatic"}.get(proxy.choice.source, "")
    return ", ".join(part for part in (WORDS[proxy.kind], more, source) if part)


def failed_checks_of(inspection: Inspection) -> list[str]:
    """Return which statements about the contact its verification has found wrong."""
    checks = [(check.name, check.ok) for check in inspection.checks]
    return failed_checks(checks, inspection.contact.reason)


def method_ignored(inspection: Inspection) -> str:
    """Return a sentence where the method set is not the one that was used; empty when it is, or none was set."""
    wanted, used = inspection.settings.method, inspection.contact.method
    if wanted == "auto" or used not in OWN_METHODS:
        return ""
    return f"Method {METHOD_NAMES[wanted]} is for convex shapes: {OWN_METHODS[used]} use their own method"


def accuracy(inspection: Inspection) -> list[Row]:
    """Return how far the result is proved, and how it was found."""
    contact, units = inspection.contact, inspection.units
    rows = []
    if contact.has_depth or inspection.is_depth_pending:
        rows.append(Row("Proved", _proved(inspection) if contact.has_depth else messages.PENDING))
    status = messages.FIRST_ANSWER if inspection.is_provisional else _STATUSES[contact.status]
    rows.append(Row("Status", status))
    rows.append(Row("Method", _method_words(contact)))
    if contact.iterations:
        rows.append(Row("Axes" if contact.method.startswith("sat") else "Steps", f"{contact.iterations:,}"))
    if contact.cross_check is not None:
        rows.append(Row("Methods Differ By", units.rough(contact.cross_check)))
    if contact.feature_a is not None and contact.feature_b is not None:
        rows.append(Row("Features", f"{capitalized(contact.feature_a.kind)} of A, {contact.feature_b.kind} of B"))
    if len(contact.ties) > 1:
        rows.append(Row("Equal Directions", str(len(contact.ties))))
    rows.append(Row("Resolution", units.rough(inspection.resolution)))
    rows.append(Row("Tolerance", f"{ratio(contact.contact_tolerance)} of the size"))
    failed = failed_checks_of(inspection)
    passed = messages.PENDING if inspection.is_provisional else f"{sum(check.ok for check in inspection.checks)} passed"
    rows.append(Row("Checks", f"Failed: {', '.join(failed)}" if failed else passed))
    for side in sides_of(inspection):
        if (fit := side.proxy.fit) is not None:
            letter = side.letter.upper()
            rows.append(Row(f"Mesh Outside Shape {letter}", units.rough(fit.sticks_out)))
            rows.append(Row(f"Shape {letter} Outside Mesh", units.rough(fit.reaches_beyond)))
    return rows


_STATUSES = {
    "certified": "Exact",
    "gjk_stalled": "Limited by rounding",
    "epa_stalled": "Limited by rounding",
    "curved_bracket": "Between bounds",
    "methods_disagree": "The methods disagree",
    "bounds_only": "Bounds only",
    "budget": "Out of time",
    "stalled": "Limited by rounding",
    "bracket": "Between bounds",
    "unverified": "Pieces still overlap",
    "no_depth": "No depth",
}
"""How the search for an answer ended, in words."""


def _proved(inspection: Inspection) -> str:
    """Return what is proved of the depth or gap, to be read after the word 'Proved'."""
    distance, units = Distance.of_contact(inspection.contact), inspection.units
    if failed_checks_of(inspection):
        return "No"
    most = distance.bounds[1]
    if math.isinf(most):
        return f"At least {distance.bound_texts(units)[0]}"
    if most == 0.0 or not distance.text(units):
        return f"Within {units.rough(distance.width)}"
    if distance.width <= _CLOSE * most:
        return f"To {math.floor(math.log10(most / max(distance.width, _EPS * most)))} digits"
    return capitalized(distance.span_text(units))


def _method_words(contact: Contact) -> str:
    """Return the method in words, such as 'GJK and EPA'."""
    if contact.method in _METHODS:
        return _METHODS[contact.method]
    names, _, more = contact.method.partition(", ")
    text = " and ".join(name.upper() for name in names.split("+"))
    return f"{text}, {more}" if more else text


def notes(inspection: Inspection, stale: str = "") -> list[str]:
    """Return what the user must know to read the numbers right; stale: why they may no longer be valid."""
    contact, units, resolution = inspection.contact, inspection.units, inspection.resolution
    sides = sides_of(inspection)
    lines = [messages.outdated(stale)] if stale else []
    for side in sides:
        lines += shape_notes(side, inspection)
    if ignored := method_ignored(inspection):
        lines.append(ignored)
    if sentence := too_coarse(inspection):
        lines.append(sentence)
    elif contact.contact_tolerance > inspection.settings.contact_tolerance:
        lines.append(f"Blender stores these coordinates to {units.rough(resolution)}, which is used as the tolerance")
    if sentence := margins_note(inspection):
        lines.append(sentence)
    names = inspection.name_a, inspection.name_b
    lines += [messages.of_a_or_b(note.words(units.length), names) for note in contact.notes]
    if reason := messages.bounds_apart(contact, *Distance.of_contact(contact).bound_texts(units)):
        lines.append(reason)
    if failed_checks_of(inspection):
        lines.append(messages.CHECK_FAILED)
    return lines


def margins_note(inspection: Inspection) -> str:
    """Return that the gap is within the collision margins, as a sentence; empty where it is not."""
    if inspection.margins is None:
        return ""
    distance = inspection.contact.signed_distance
    return capitalized(messages.within_margins(distance, inspection.margins, inspection.units))


def shape_notes(side: InspectedSide, inspection: Inspection) -> list[str]:
    """Return what to know of the collision shape of an object."""
    name, proxy, units = side.name, side.proxy, inspection.units
    words, concavity = WORDS[proxy.kind], proxy.concavity
    lines = []
    if proxy.choice.note:
        instead = "" if proxy.choice.source == "rigid_body" else words
        lines.append(messages.other_shape(name, proxy.choice.note, instead))
    if proxy.fit is not None:
        if proxy.fit.sticks_out > inspection.resolution:
            lines.append(messages.protrudes(name, words, proxy.fit.sticks_out, units))
    elif proxy.kind == COMPOUND:
        if proxy.pieces is not None and not proxy.pieces.exact:
            lines.append(messages.pieces(name, proxy.pieces, units))
    elif proxy.kind != CONVEX_HULL:
        return lines  # the contact of a mesh has notes about it
    elif concavity.open_fraction == 1.0:
        lines.append(f"'{name}' has no faces: its convex hull is used")
    elif covers_hull(concavity, inspection.resolution):
        if proxy.hull.rank == 3 and not concavity.is_closed:
            lines.append(f"'{name}' is not closed: it is treated as a solid")
    elif concavity.depth <= inspection.resolution:
        lines.append(
            f"'{name}' has no surface on {messages.percent(concavity.open_fraction)} of its convex hull: the hull is "
            "used"
        )
    else:
        # The hole of a washer is not a concavity.
        empty = (concavity.open_fraction if proxy.hull.rank == 2 else concavity.missing_fraction) or 0.0
        depth = units.length(concavity.depth)
        lines.append(_hull_concavity(name, depth, empty if empty > OPEN_SHARE else 0.0))
    return lines


def _hull_concavity(name: str, depth: str, empty: float) -> str:
    """Return what to know of a convex hull; empty: the fraction of it that is outside the mesh, 0 where unknown."""
    text = f"{messages.hull_used(name)}, concavity {depth}"
    return f"{text}, {messages.percent(empty)} of the hull is empty" if empty else text


def too_coarse(inspection: Inspection) -> str:
    """Return that coordinates are too coarse for objects of this size, as a sentence; empty when they are not."""
    if inspection.contact.contact_tolerance <= inspection.settings.contact_tolerance:
        return ""
    both = coarse_sides(inspection.objects, np.array([[0, 1]]), np.array([inspection.resolution]))[0].tolist()
    names = [side.name for side, is_coarse in zip(sides_of(inspection), both, strict=True) if is_coarse]
    return messages.too_coarse(names, inspection.units.rough(inspection.resolution)) if names else ""


def report_lines(inspection: Inspection, stale: str = "", found: PairMeasures | None = None) -> list[tuple[str, str]]:
    """Return the whole report as rows of a name and a text, in the scene's units; found: what else was measured."""
    measured = [] if found is None else measures(inspection, found)
    rows = (*measurements(inspection), *measured, *accuracy(inspection))
    return [
        ("A", inspection.name_a),
        ("B", inspection.name_b),
        ("Relation", relation_words(inspection)),
        *((row.name, row.text) for row in rows),
        *(("Note", text) for text in notes(inspection, stale)),
        *(("Note", text) for text in ([] if found is None else measure_notes(inspection, found))),
    ]
