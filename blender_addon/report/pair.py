# SPDX-License-Identifier: GPL-3.0-or-later
"""An inspection as lines for the panel and the clipboard, and as plain data for the JSON file and for scripts."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ... import __version__
from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.region.region import Region, RegionKind
from ...core.result import Contact, Relation
from ...core.shapes.cylinder import Cone, Cylinder
from ...core.shapes.feature import Feature
from ...core.shapes.polytope import Polytope
from ...core.shapes.rounded import Rounded
from ..check import session
from ..check.clash_rows import failed_checks
from ..check.inspection import CollisionProxy, Inspection
from ..check.pair_contact import center_of, curve_length, curves, is_convex
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL, WORDS
from ..data.messages import counted
from ..data.units import UnitFormat, direction
from ..read.collision_shape import OPEN_SHARE
from .json_report import json_text, plain

SCHEMA = "contact-lens-report"
SCHEMA_VERSION = 1
BEGINNINGS = (f'{{\n  "schema": "{SCHEMA}"',)
"""How the JSON text begins."""

METHOD_NAMES = {"sat": "SAT", "gjk": "GJK + EPA", "both": "Both"}
OWN_METHODS = {"compound": "compounds", "mesh": "meshes"}
"""The methods of things that are not convex, which cannot be chosen."""
TOO_COARSE = 0.1
"""Resolution of the input, relative to the smaller object, from which on an answer means little."""

Report = dict[str, Any]
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


class _Side(NamedTuple):
    """A or B of an inspection."""

    letter: str
    """"a" or "b"."""
    name: str
    shape: Solid
    proxy: CollisionProxy


def _sides(inspection: Inspection) -> tuple[_Side, _Side]:
    return (
        _Side("a", inspection.name_a, inspection.shape_a, inspection.proxy_a),
        _Side("b", inspection.name_b, inspection.shape_b, inspection.proxy_b),
    )


def _is_convex(proxy: CollisionProxy, resolution: float) -> bool:
    """Return whether a mesh is its convex hull, as exactly as its coordinates are known."""
    return proxy.concavity.depth <= resolution and proxy.concavity.open_fraction <= OPEN_SHARE


def inspected(context: bpy.types.Context) -> Inspection:
    """Return the scene's current result. Raises LookupError when there is none."""
    inspection = session.current(context)
    if inspection is None:
        raise LookupError(messages.NO_RESULT)
    return inspection


def report(context: bpy.types.Context) -> Report:
    """Return the scene's current result as plain, JSON-ready data: world space, lengths in Blender units.

    Raises LookupError when there is no result.
    """
    inspection = inspected(context)
    stale = session.stale_reason(context)
    frame = session.frame_of_result(context.scene) if stale else context.scene.frame_current_final
    # A result that is not out of date holds at the frame of today, whenever it was found.
    return {
        **_build(inspection, stale),
        "file": Path(bpy.data.filepath).name or None,
        "frame": int(frame) if float(frame).is_integer() else frame,
    }


def _build(inspection: Inspection, stale: str) -> Report:
    contact, verification = inspection.contact, inspection.verification

    def deep(value: object) -> object:
        return value if contact.has_depth else None

    return plain(
        {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "contact_lens": __version__,
            "blender": bpy.app.version_string,
            "stale": stale or None,
            "units": inspection.units.record(),
            "objects": {side.letter: _object(side, inspection.resolution) for side in _sides(inspection)},
            "settings": asdict(inspection.settings),
            "resolution": inspection.resolution,
            "contact": {
                "relation": contact.relation,
                "intersects": contact.intersects,
                "has_depth": contact.has_depth,
                "signed_distance": deep(contact.signed_distance),
                "depth": deep(contact.depth),
                "normal": deep(contact.normal),
                "mtv": deep(contact.mtv),
                "point_on_a": contact.point_on_a,
                "point_on_b": contact.point_on_b,
                "center": contact.center,
                "lower_bound": deep(contact.lower_bound),
                "upper_bound": deep(contact.upper_bound),
                "ties": contact.ties,
                "feature_a": _feature(contact.feature_a, inspection.shape_a),
                "feature_b": _feature(contact.feature_b, inspection.shape_b),
                **_of_compounds(contact, inspection.units),
                "method": contact.method,
                "iterations": contact.iterations,
                "status": contact.status,
                "status_reason": contact.reason or None,
                "plane": _plane(inspection),
                "cross_check": contact.cross_check,
                "clearance": contact.clearance,
                "contact_tolerance": contact.contact_tolerance,
                "region": None if contact.region is None else _region(contact.region),
            },
            "verify": {
                "ok": verification.ok,
                "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in verification.checks],
            },
        }
    )


def _plane(inspection: Inspection) -> Report | None:
    """The plane of a pair that was inspected in it."""
    if inspection.flat is None:
        return None
    plane = inspection.flat.plane
    return {"point": plane.point, "axes": plane.axes, "normal": plane.normal}


def _of_compounds(found: Contact, units: UnitFormat) -> Report:
    """What only compounds and meshes have."""
    if is_convex(found):
        return {"regions": None, "curves": None, "notes": []}
    return {
        "regions": [
            {
                "kind": region.kind,
                "normal": region.normal,
                "area": region.area,
                "length": region.length,
                "centroid": region.centroid,
                "patches": [
                    {"piece_a": p.piece_a, "piece_b": p.piece_b, "region": _region(p.region)} for p in region.patches
                ],
            }
            for region in found.regions
        ],
        "regions_area": found.area,
        "regions_centroid": center_of(found),
        "curves": curves(found),
        "curves_length": curve_length(found),
        "notes": [note.words(units.length) for note in found.notes],
    }


def to_json(data: Report) -> str:
    """The report as JSON text."""
    return json_text(data, indent=2) + "\n"


def _object(side: _Side, resolution: float) -> Report:
    proxy, hull, concavity = side.proxy, side.proxy.hull, side.proxy.concavity
    return {
        "name": side.name,
        "inspected_as": proxy.kind.lower(),
        "collision_shape": {
            "asked_for": proxy.choice.kind.lower(),
            "source": proxy.choice.source,
            "note": proxy.choice.note or None,
            **_measures(side.shape),
            "mesh_sticks_out": None if proxy.fit is None else proxy.fit.sticks_out,
            "reaches_beyond_mesh": None if proxy.fit is None else proxy.fit.reaches_beyond,
            "stand_ins": None if proxy.pieces is None else len(proxy.pieces.pieces),
            "exact": None if proxy.pieces is None else proxy.pieces.exact,
            "distance_from_mesh": None if proxy.pieces is None else proxy.pieces.distance,
            "how": None if proxy.pieces is None else proxy.pieces.message,
            "why_not_exact": None if proxy.pieces is None else proxy.pieces.reason or None,
        },
        "hull": {
            "vertices": len(hull.vertices),
            "edges": len(hull.edges),
            "facets": len(hull.facets),
            "rank": hull.rank,
            "extent": hull.extent,
        },
        "convex": _is_convex(proxy, resolution),
        "dent": {
            "depth": concavity.depth,
            "point": concavity.point,
            "mesh_closed": concavity.is_closed,
            "missing_share": concavity.missing_fraction,
            "open_share": concavity.open_fraction,
        },
    }


def _measures(shape: Solid) -> Report:
    """What a shape is made of: corners, or ends and a radius."""
    if isinstance(shape, Compound):
        return {"pieces": len(shape.pieces), "points": None, "radius": 0.0}
    if isinstance(shape, Mesh):
        return {"triangles": len(shape.triangles), "closed": shape.is_closed, "points": None, "radius": 0.0}
    if isinstance(shape, Cylinder | Cone):
        return {"points": [shape.start, shape.end], "radius": shape.rim}
    if isinstance(shape, Rounded) and isinstance(shape.core, Polytope):
        return {"points": shape.core.vertices, "radius": shape.radius}
    return {
        "points": shape.vertices if isinstance(shape, Polytope) and len(shape.vertices) <= 8 else None,
        "radius": 0.0,
    }


def _region(region: Region) -> Report:
    """A region with its distinct features listed once: a large face is the feature of many of its vertices."""
    places: tuple[dict[Feature, int], dict[Feature, int]] = ({}, {})
    pairs = [[places[k].setdefault(pair[k], len(places[k])) for k in (0, 1)] for pair in region.features]
    return {
        "kind": region.kind,
        "sides": len(region.vertices) if region.kind == "polygon" else 0,
        "vertices": region.vertices,
        "area": region.area,
        "length": region.length,
        "centroid": region.centroid,
        "depths": region.depths,
        "features_of_a": [_feature(feature) for feature in places[0]],
        "features_of_b": [_feature(feature) for feature in places[1]],
        "features": pairs,
        "arcs": [{"side": arc.side, "center": arc.center, "radius": arc.radius} for arc in region.arcs],
    }


def _feature(feature: Feature | None, shape: Solid | None = None) -> Report | None:
    if feature is None:
        return None
    plain: Report = {"kind": feature.kind, "vertices": feature.vertices}
    if shape is not None:
        # A curved shape has no vertices to be named.
        plain["points"] = shape.vertices[list(feature.vertices)] if isinstance(shape, Polytope) else []
    return plain


# --- lines for the user ---------------------------------------------------------------------------------------------


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
    contact, sides = inspection.contact, _sides(inspection)
    name, value = distance_line(inspection)
    line = f"{inspection.name_a} and {inspection.name_b}: {relation_words(inspection).lower()}"
    if contact.relation in (Relation.A_INSIDE_B, Relation.B_INSIDE_A):
        line = relation_words(inspection)
    line += f", {name.lower()} {value}" if contact.has_depth else f", no depth: {messages.NO_DEPTH}"
    if any(side.proxy.kind != CONVEX_HULL for side in sides):
        line += f" (as {' and '.join(WORDS[side.proxy.kind] for side in sides)})"
    elif not all(_is_convex(side.proxy, inspection.resolution) for side in sides):
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
            sides = len(region.vertices) if is_polygon else 0
            corners = f", {counted(len(region.arcs), 'arc')}" if sides > len(region.arcs) else ", round"
        lines.append(("Region", f"{region.kind.capitalize()}{corners}"))
        if is_polygon:
            lines.append(("Area", units.area(region.area)))
        elif region.kind is RegionKind.SEGMENT:
            lines.append(("Length", units.length(region.length)))
    lines.append(("Center", units.vector(contact.center)))
    if inspection.flat is not None:
        lines.append(("Normal of 2D Plane", direction(inspection.flat.plane.normal)))
    lines += [(f"{side.letter.upper()} as", _shape_words(side)) for side in _sides(inspection)]
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


def _shape_words(side: _Side) -> str:
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
    for side in _sides(inspection):
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


def warnings(inspection: Inspection, stale: str = "") -> list[str]:
    """Return what the user must know to read the numbers right; stale: why they may no longer be valid."""
    contact, units, resolution = inspection.contact, inspection.units, inspection.resolution
    sides = _sides(inspection)
    lines = [messages.outdated(stale)] if stale else []
    for side in sides:
        lines += _shape_warnings(side, inspection)
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


def _shape_warnings(side: _Side, inspection: Inspection) -> list[str]:
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
    elif not _is_convex(proxy, inspection.resolution) and concavity.depth <= inspection.resolution:
        lines.append(messages.hull_open(name, concavity.open_fraction))
    elif not _is_convex(proxy, inspection.resolution):
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
        *(("Warning", text) for text in warnings(inspection, stale)),
    ]
