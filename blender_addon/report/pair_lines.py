# SPDX-License-Identifier: GPL-3.0-or-later
"""An inspection as lines in the scene's units: for the panel, the status bar and the clipboard."""

from __future__ import annotations

import math

from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.region.region import RegionKind
from ...core.result import Contact, Relation
from ..check.clash_rows import failed_checks
from ..check.inspection import Inspection
from ..check.pair_contact import curve_length
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL, WORDS
from ..data.messages import counted
from ..data.units import direction
from ..read.collision_shape import OPEN_SHARE
from .pair import Side, is_convex_mesh, sides_of

METHOD_NAMES = {"sat": "SAT", "gjk": "GJK + EPA", "both": "Both"}
OWN_METHODS = {"compound": "compounds", "mesh": "meshes"}
"""The methods of things that are not convex, which cannot be chosen."""
TOO_COARSE = 0.1
"""Resolution of the input, relative to the smaller object, from which on an answer means little."""


Lines = list[tuple[str, str]]

_KINDS = (RegionKind.POLYGON, RegionKind.SEGMENT, RegionKind.POINT)
"""The kinds of regions, in the order in which they are counted."""
_RELATIONS = {
    "coincident": "Coincident",
    "touching": "Touching",
    "a_inside_b": "{a} inside {b}",
    "b_inside_a": "{b} inside {a}",
    "penetrating": "Penetrating",
    "within_clearance": "Within clearance",
    "separated": "Separated",
}


def relation_words(inspection: Inspection) -> str:
    """Return the relation in words, such as 'Cube inside Sphere'."""
    return _RELATIONS[inspection.contact.relation].format(a=inspection.name_a, b=inspection.name_b)


def distance_line(inspection: Inspection) -> tuple[str, str]:
    """Return the one number: the depth when they intersect, else the distance."""
    contact, units = inspection.contact, inspection.units
    if not contact.has_depth:
        return "Depth", f"none: {messages.NO_DEPTH}"
    if _is_between(contact):
        least, most = units.length(contact.least_depth), units.length(contact.depth)
        if contact.least_depth <= 0.0:
            return "Depth", f"at most {most}"
        return "Depth", most if least == most else f"{least} to {most}"
    if contact.intersects:
        return "Depth", units.length(contact.depth)
    return "Distance", units.length(contact.signed_distance)


def _is_between(contact: Contact) -> bool:
    """Return whether only bounds of the depth are known."""
    return messages.is_between(contact.status, contact.depth, _lower_bound(contact))


def _lower_bound(contact: Contact) -> float | None:
    return contact.lower_bound if math.isfinite(contact.lower_bound) else None


def one_line(inspection: Inspection) -> str:
    """Return the result in one line, for the status bar."""
    contact, sides = inspection.contact, sides_of(inspection)
    name, value = distance_line(inspection)
    line = f"{inspection.name_a} and {inspection.name_b}: {relation_words(inspection).lower()}"
    if contact.relation in (Relation.A_INSIDE_B, Relation.B_INSIDE_A):
        line = relation_words(inspection)
    line += f", {name.lower()} {value}" if contact.has_depth else f", no depth: {messages.NO_DEPTH}"
    if any(side.proxy.kind != CONVEX_HULL for side in sides):
        line += f" (as {' and '.join(WORDS[side.proxy.kind] for side in sides)})"
    elif not all(is_convex_mesh(side.proxy, inspection.resolution) for side in sides):
        line += " (of their convex hulls)"
    if inspection.flat is not None:
        line += " (2D)"
    if _is_too_coarse(inspection):
        line += " (coordinates too coarse)"
    return line


def main_lines(inspection: Inspection) -> Lines:
    """Return distance, directions and region, and how exact they are proved to be."""
    contact, units = inspection.contact, inspection.units
    lines = []
    if contact.has_depth:
        distance = "Signed Distance", units.length(contact.signed_distance)
        if _is_between(contact):
            distance = distance_line(inspection)
        lines = [distance, ("Normal", direction(contact.normal)), ("MTV", units.vector(contact.mtv))]
    region = contact.region
    if region is not None:
        is_polygon = region.kind is RegionKind.POLYGON
        corners = f", {counted(len(region.vertices), 'point')}" if is_polygon else ""
        if region.arcs:
            corner_count = len(region.vertices) if is_polygon else 0
            corners = f", {counted(len(region.arcs), 'arc')}" if corner_count > len(region.arcs) else ", round"
        lines.append(("Region", f"{region.kind.capitalize()}{corners}"))
        if is_polygon:
            lines.append(("Area", units.area(region.area)))
        elif region.kind is RegionKind.SEGMENT:
            lines.append(("Length", units.length(region.length)))
    lines.append(("Center", units.vector(contact.center)))
    if inspection.flat is not None:
        lines.append(("Normal of 2D Plane", direction(inspection.flat.plane.normal)))
    lines += [(f"{side.letter.upper()} as", _shape_words(side)) for side in sides_of(inspection)]
    if contact.regions:
        kinds = [region.kind for region in contact.regions]
        lines.append(("Regions", ", ".join(counted(kinds.count(kind), kind) for kind in _KINDS if kind in kinds)))
        if contact.area > 0.0:
            lines.append(("Area", units.area(contact.area)))
        elif RegionKind.SEGMENT in kinds:
            lines.append(("Length", units.length(sum(region.length for region in contact.regions))))
    if contact.curves:
        lines.append(("Contact Curves", f"{len(contact.curves)}, {units.length(curve_length(contact))}"))
    if not contact.has_depth:
        return [*lines, ("Common Point", units.vector(contact.point_on_a))]
    is_known = math.isfinite(contact.lower_bound) and not _failed_checks(inspection)
    width = f"to {units.rough(contact.upper_bound - contact.lower_bound)}" if is_known else "no"
    points = [(f"Point on {k}", units.vector(p)) for k, p in (("A", contact.point_on_a), ("B", contact.point_on_b))]
    return [*lines, *points, ("Verified", width)]


def _shape_words(side: Side) -> str:
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


def _failed_checks(inspection: Inspection) -> list[str]:
    checks = [(check.name, check.ok) for check in inspection.verification.checks]
    return failed_checks(checks, inspection.contact.reason)


def method_ignored(inspection: Inspection) -> str:
    """Return a sentence where the method set is not the one that was used; empty when it is, or none was set."""
    wanted, used = inspection.settings.method, inspection.contact.method
    if wanted == "auto" or used not in OWN_METHODS:
        return ""
    return messages.method_ignored(METHOD_NAMES[wanted], OWN_METHODS[used])


def detail_lines(inspection: Inspection) -> Lines:
    """Return how the result was found and how far it can be trusted."""
    contact, units = inspection.contact, inspection.units
    lines: Lines = []
    if contact.feature_a is not None and contact.feature_b is not None:
        lines.append(("Decided By", f"{contact.feature_a.kind} of A, {contact.feature_b.kind} of B"))
    if contact.has_depth:
        lower, upper = _lower_bound(contact), contact.upper_bound
        lines.append(("Lower Bound", "none" if lower is None else units.length(lower)))
        lines.append(("Upper Bound", units.length(upper)))
        if lower is not None:
            lines.append(("Bounds Differ By", units.rough(upper - lower)))
    method = contact.method.upper().replace("+", " + ")
    steps = ("axis", "axes") if contact.method.startswith("sat") else ("step",)
    lines.append(("Method", f"{method}, {counted(contact.iterations, *steps)}"))
    lines.append(("Status", messages.status(contact.status)))
    if contact.cross_check is not None:
        lines.append(("Methods Differ By", units.rough(contact.cross_check)))
    failed = _failed_checks(inspection)
    passed = sum(check.ok for check in inspection.verification.checks)
    lines.append(("Checks", f"failed: {', '.join(failed)}" if failed else f"{passed} passed"))
    if len(contact.ties) > 1:
        lines.append(("Equal Directions", str(len(contact.ties))))
    lines.append(("Contact Tolerance", f"{contact.contact_tolerance:.3g} of the smaller object"))
    lines.append(("Input Resolution", units.rough(inspection.resolution)))
    for side in sides_of(inspection):
        hull, fit, letter = side.proxy.hull, side.proxy.fit, side.letter.upper()
        parts = [counted(len(hull.vertices), "vertex", "vertices")]
        parts += [
            counted(len(found), noun) for found, noun in ((hull.edges, "edge"), (hull.facets, "face")) if len(found)
        ]
        lines.append((f"Hull of {letter}", ", ".join(parts)))
        if fit is not None:
            lines.append((f"Mesh of {letter} Extends Beyond", units.rough(fit.sticks_out)))
            lines.append((f"Shape of {letter} Extends Beyond", units.rough(fit.reaches_beyond)))
    return lines


def notes(inspection: Inspection, stale: str = "") -> list[str]:
    """Return what the user must know to read the numbers right; stale: why they may no longer be valid."""
    contact, units, resolution = inspection.contact, inspection.units, inspection.resolution
    sides = sides_of(inspection)
    lines = [messages.outdated(stale)] if stale else []
    for side in sides:
        lines += _shape_notes(side, inspection)
    if ignored := method_ignored(inspection):
        lines.append(ignored)
    if _is_too_coarse(inspection):
        smaller = min(sides, key=lambda side: side.proxy.hull.extent or math.inf)
        lines.append(messages.too_coarse(smaller.name, units.rough(resolution)))
    elif contact.contact_tolerance > inspection.settings.contact_tolerance:
        lines.append(messages.tolerance_raised(units.rough(resolution)))
    names = inspection.name_a, inspection.name_b
    lines += [messages.of_a_or_b(note.words(units.length), names) for note in contact.notes]
    if reason := messages.bounds_apart(contact, units):
        lines.append(reason)
    if _failed_checks(inspection):
        lines.append(messages.CHECK_FAILED)
    return lines


def _shape_notes(side: Side, inspection: Inspection) -> list[str]:
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
        lines.append(messages.hull_of_points(name))
    elif not is_convex_mesh(proxy, inspection.resolution) and concavity.depth <= inspection.resolution:
        lines.append(messages.hull_open(name, concavity.open_fraction))
    elif not is_convex_mesh(proxy, inspection.resolution):
        # The hole of a washer is not a concavity.
        empty = (concavity.open_fraction if proxy.hull.rank == 2 else concavity.missing_fraction) or 0.0
        depth = units.length(concavity.depth)
        lines.append(messages.hull_concavity(name, depth, empty if empty > OPEN_SHARE else 0.0))
    elif proxy.hull.rank == 3 and not concavity.is_closed:
        lines.append(messages.not_closed(name))
    return lines


def _is_too_coarse(inspection: Inspection) -> bool:
    """Return whether coordinates are too coarse for objects of this size."""
    return inspection.contact.contact_tolerance > max(TOO_COARSE, inspection.settings.contact_tolerance)


def report_lines(inspection: Inspection, stale: str = "") -> Lines:
    """Return the whole report as rows of a name and a text, in the scene's units."""
    main, distance = main_lines(inspection), distance_line(inspection)
    return [
        ("A", inspection.name_a),
        ("B", inspection.name_b),
        ("Relation", relation_words(inspection)),
        *([] if distance in main else [distance]),
        *main,
        *detail_lines(inspection),
        *(("Note", text) for text in notes(inspection, stale)),
    ]
