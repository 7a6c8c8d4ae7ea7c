# SPDX-License-Identifier: GPL-3.0-or-later
"""One inspection as plain data, and that data as lines for people.

The panel, the clipboard, the JSON file and scripts all read the same report.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import bpy
import numpy as np

from ... import __version__
from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.region.region import Region
from ...core.result import Contact, Status
from ...core.shapes.cylinder import Cone, Cylinder
from ...core.shapes.feature import Feature
from ...core.shapes.polytope import Polytope
from ...core.shapes.rounded import Rounded
from ..check import session
from ..check.inspection import CollisionProxy, Inspection
from ..check.pair_contact import center_of, curve_length, curves, is_convex
from ..data.collision_kinds import WORDS
from ..data.units import UnitFormat, counted, direction
from ..read.collision_shape import OPEN_SHARE
from . import messages as answer_words
from .json_report import json_text

SCHEMA = "contact-lens-report"
SCHEMA_VERSION = 1
BEGINNINGS = (f'{{\n  "schema": "{SCHEMA}"',)
"""How the JSON text begins."""

METHOD_NAMES = {"sat": "SAT", "gjk": "GJK + EPA", "both": "Both"}
OWN_WAYS = {"compound": "compounds have a way of their own", "mesh": "meshes have a way of their own"}
"""The methods of things that are not convex, which cannot be chosen."""
TOO_COARSE = 0.1
"""Resolution of the input, relative to the smaller object, from which on an answer means little."""

Report = dict[str, Any]
Lines = list[tuple[str, str]]

_RELATIONS = {
    "coincident": "Coincident",
    "touching": "Touching",
    "a_inside_b": "{a} inside {b}",
    "b_inside_a": "{b} inside {a}",
    "penetrating": "Penetrating",
    "within_clearance": "Within clearance",
    "separated": "Separated",
}


def report(context: bpy.types.Context) -> Report:
    """The scene's current result as plain, JSON-ready data: world space, lengths in Blender units.

    Raises LookupError when there is no result.
    """
    inspection = session.current(context)
    if inspection is None:
        raise LookupError("there is no inspected pair: run Inspect Contact first")
    stale = session.stale_reason(context)
    frame = session.frame_of_result(context.scene) if stale else context.scene.frame_current_final
    # A result that is not out of date holds at the frame of today, whenever it was found.
    return {
        **build(inspection, stale),
        "file": Path(bpy.data.filepath).name or None,
        "frame": int(frame) if float(frame).is_integer() else frame,
    }


_built: WeakKeyDictionary[Inspection, Report] = WeakKeyDictionary()


def build(inspection: Inspection, stale: str = "") -> Report:
    """An inspection as plain data, not to be changed. `stale` says why it may no longer hold."""
    data = _built.get(inspection)
    if data is None:
        data = _built[inspection] = _build(inspection)  # the panel asks at every redraw
    return {**data, "stale": stale or None}


def _build(inspection: Inspection) -> Report:
    found = inspection.contact
    deep = found.has_depth
    verification = inspection.verification
    return _plain(
        {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "contact_lens": __version__,
            "blender": bpy.app.version_string,
            "stale": None,
            "units": inspection.units.record(),
            "objects": {
                "a": _object(
                    inspection.name_a,
                    inspection.shape_a,
                    inspection.proxy_a,
                    inspection.resolution,
                ),
                "b": _object(
                    inspection.name_b,
                    inspection.shape_b,
                    inspection.proxy_b,
                    inspection.resolution,
                ),
            },
            "settings": asdict(inspection.settings),
            "resolution": inspection.resolution,
            "contact": {
                "relation": found.relation,
                "intersects": found.intersects,
                "has_depth": deep,
                "signed_distance": found.signed_distance if deep else None,
                "depth": found.depth if deep else None,
                "normal": found.normal if deep else None,
                "mtv": found.mtv if deep else None,
                "point_on_a": found.point_on_a,
                "point_on_b": found.point_on_b,
                "center": found.center,
                "lower_bound": found.lower_bound if deep else None,
                "upper_bound": found.upper_bound if deep else None,
                "ties": found.ties,
                "feature_a": _feature(found.feature_a, inspection.shape_a),
                "feature_b": _feature(found.feature_b, inspection.shape_b),
                **_of_pieces(found, inspection.units),
                "method": found.method,
                "iterations": found.iterations,
                "status": found.status,
                "status_reason": found.reason or None,
                "plane": _plane(inspection),
                "cross_check": found.cross_check,
                "clearance": found.clearance,
                "contact_tolerance": found.contact_tolerance,
                "region": None if found.region is None else _region(found.region),
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


def _of_pieces(found: Contact, units: UnitFormat) -> Report:
    """What only compounds and meshes have."""
    if is_convex(found):
        return {"regions": None, "curves": None, "of_pieces": False, "notes": []}
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
        "of_pieces": found.status is Status.OF_PIECES,
        "notes": [note.words(units.length) for note in found.notes],
    }


def to_json(data: Report) -> str:
    """The report as JSON text."""
    return json_text(data, indent=2) + "\n"


def _object(name: str, shape: Solid, proxy: CollisionProxy, resolution: float) -> Report:
    hull, dent = proxy.hull, proxy.concavity
    return {
        "name": name,
        "inspected_as": proxy.kind.lower(),
        "collision_shape": {
            "asked_for": proxy.choice.kind.lower(),
            "source": proxy.choice.source,
            "note": proxy.choice.note or None,
            **_measures(shape),
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
        "convex": dent.depth <= resolution and dent.open_fraction <= OPEN_SHARE,
        "dent": {
            "depth": dent.depth,
            "point": dent.point,
            "mesh_closed": dent.is_closed,
            "missing_share": dent.missing_fraction,
            "open_share": dent.open_fraction,
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


def _plain(value: Any) -> Any:
    """`value` made of dict, list, str, int, float, bool and None only; what is not finite becomes None."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return str(value)
    return value


# --- lines for people -----------------------------------------------------------------------------------------------


def _units(data: Report) -> UnitFormat:
    units = data["units"]
    return UnitFormat(units["system"], units["scale_length"], units["length_unit"])


def relation_words(data: Report) -> str:
    """What a person would say, such as 'Cube inside Sphere'."""
    objects = data["objects"]
    return _RELATIONS[data["contact"]["relation"]].format(a=objects["a"]["name"], b=objects["b"]["name"])


def distance_line(data: Report) -> tuple[str, str]:
    """The one number: depth when they intersect, else distance."""
    found, units = data["contact"], _units(data)
    if not found["has_depth"]:
        return "Depth", f"none: {answer_words.NO_DEPTH}"
    if found["of_pieces"]:
        return "Depth of Pieces", units.length(found["depth"])
    if between(data):
        least, most = units.length(max(0.0, -found["upper_bound"])), units.length(found["depth"])
        return "Depth", most if least == most else f"{least} to {most}"
    if found["intersects"]:
        return "Depth", units.length(found["depth"])
    return "Distance", units.length(found["signed_distance"])


def between(data: Report) -> bool:
    """Whether of a depth only is known between which two lengths it is."""
    found = data["contact"]
    return answer_words.between(found["status"], found["depth"], found["lower_bound"])


def one_line(data: Report) -> str:
    """The answer in one line, for the status bar."""
    objects = data["objects"]
    name, value = distance_line(data)
    line = f"{objects['a']['name']} and {objects['b']['name']}: {relation_words(data).lower()}"
    if data["contact"]["relation"] in ("a_inside_b", "b_inside_a"):
        line = relation_words(data)
    line += f", {name.lower()} {value}"
    kinds = [objects[letter]["inspected_as"] for letter in "ab"]
    if any(kind != "convex_hull" for kind in kinds):
        line += f" (as {WORDS[kinds[0].upper()]} and {WORDS[kinds[1].upper()]})"
    elif not (objects["a"]["convex"] and objects["b"]["convex"]):
        line += " (of their convex hulls)"
    if data["contact"]["plane"] is not None:
        line += " (2D)"
    if too_coarse(data):
        line += " (coordinates too coarse to tell)"
    return line


def main_lines(data: Report) -> Lines:
    """Distance, directions, region, and how exact they are proved to be."""
    found, units = data["contact"], _units(data)
    lines = []
    if found["has_depth"]:
        if found["of_pieces"]:
            lines.append(("Depth of Pieces", units.length(found["depth"])))
        elif between(data):
            lines.append(("Depth", distance_line(data)[1]))
        else:
            lines.append(("Signed Distance", units.length(found["signed_distance"])))
        lines += [
            ("Normal", direction(found["normal"])),
            ("MTV", units.vector(found["mtv"])),
        ]
    region = found["region"]
    if region is not None:
        polygon = region["kind"] == "polygon"
        corners = f", {counted(len(region['vertices']), 'point')}" if polygon else ""
        if region["arcs"]:
            corners = f", {counted(len(region['arcs']), 'arc')}" if region["sides"] > len(region["arcs"]) else ", round"
        lines.append(("Region", f"{region['kind'].capitalize()}{corners}"))
        if polygon:
            lines.append(("Area", units.area(region["area"])))
        elif region["kind"] == "segment":
            lines.append(("Length", units.length(region["length"])))
    lines.append(("Center", units.vector(found["center"])))
    if found["plane"] is not None:
        lines.append(("In 2D, Normal of Plane", direction(found["plane"]["normal"])))
    lines += [(f"{letter.upper()} as", shape_words(data["objects"][letter])) for letter in "ab"]
    if found["regions"]:
        kinds = [r["kind"] for r in found["regions"]]
        words = [counted(kinds.count(kind), kind) for kind in ("polygon", "segment", "point") if kind in kinds]
        lines.append(("Regions", ", ".join(words)))
        if found["regions_area"] > 0.0:
            lines.append(("Area", units.area(found["regions_area"])))
        elif "segment" in kinds:
            lines.append(("Length", units.length(sum(r["length"] for r in found["regions"]))))
    if found["curves"]:
        lines.append(("Contact Curves", f"{len(found['curves'])}, {units.length(found['curves_length'])}"))
    if not found["has_depth"]:
        lines.append(("Point in Common", units.vector(found["point_on_a"])))
        return lines
    lines.append(("Point on A", units.vector(found["point_on_a"])))
    lines.append(("Point on B", units.vector(found["point_on_b"])))
    known = found["lower_bound"] is not None and not _failed_checks(data)
    width = units.rough(found["upper_bound"] - found["lower_bound"]) if known else ""
    lines.append(("Verified", f"to {width}" if known else "no"))
    return lines


def shape_words(thing: Report) -> str:
    """What an object was inspected as and why, such as 'capsule, fitted'."""
    how = {"rigid_body": "as its rigid body", "automatic": "automatic"}.get(thing["collision_shape"]["source"], "")
    shape = thing["collision_shape"]
    more = ""
    if shape["mesh_sticks_out"] is not None:
        more = "at its origin" if shape["source"] == "rigid_body" else "fitted"
    if "pieces" in shape:
        more = f"{counted(shape['pieces'], 'piece')}{', exact' if shape['exact'] else ''}"
    elif "triangles" in shape:
        more = "solid" if shape["closed"] else "surface"
    return ", ".join(part for part in (WORDS[thing["inspected_as"].upper()], more, how) if part)


def _failed_checks(data: Report) -> list[str]:
    """The checks that the answer fails."""
    checks = [(check["name"], check["ok"]) for check in data["verify"]["checks"]]
    return answer_words.failed_checks(checks, data["contact"]["status_reason"])


def method_ignored(data: Report) -> str:
    """That the method set is not the one that was used, as a sentence; empty when it is, or none was set."""
    wanted, used = data["settings"]["method"], data["contact"]["method"]
    if wanted == "auto" or used not in OWN_WAYS:
        return ""
    return f"Method {METHOD_NAMES[wanted]} is for convex shapes: {OWN_WAYS[used]}"


def detail_lines(data: Report) -> Lines:
    """How the answer was found and how far it can be trusted."""
    found, units, objects = data["contact"], _units(data), data["objects"]
    lower, upper = found["lower_bound"], found["upper_bound"]
    features = found["feature_a"], found["feature_b"]
    lines = [] if None in features else [("Decided By", f"{features[0]['kind']} of A, {features[1]['kind']} of B")]
    if found["has_depth"]:
        lines += [
            ("Lower Bound", "none" if lower is None else units.length(lower)),
            ("Upper Bound", units.length(upper)),
        ]
        if lower is not None:
            lines.append(("Bounds Differ By", units.rough(upper - lower)))
    lines += [
        ("Method", f"{found['method'].upper().replace('+', ' + ')}, {counted(found['iterations'], 'step')}"),
        ("Status", found["status"].replace("_", " ").capitalize()),
    ]
    if found["cross_check"] is not None:
        lines.append(("Methods Differ By", units.rough(found["cross_check"])))
    failed = _failed_checks(data)
    held = sum(check["ok"] for check in data["verify"]["checks"])
    lines.append(("Checks", f"failed: {', '.join(failed)}" if failed else f"{held} hold"))
    if len(found["ties"]) > 1:
        lines.append(("Equally Short Ways", str(len(found["ties"]))))
    lines.append(("Contact Tolerance", f"{found['contact_tolerance']:.3g} of the smaller object"))
    lines.append(("Input Resolution", units.rough(data["resolution"])))
    for letter in "ab":
        hull = objects[letter]["hull"]
        parts = [counted(hull["vertices"], "vertex", "vertices")]
        parts += [counted(hull[key], noun) for key, noun in (("edges", "edge"), ("facets", "face")) if hull[key]]
        lines.append((f"Hull of {letter.upper()}", ", ".join(parts)))
        shape = objects[letter]["collision_shape"]
        if shape["mesh_sticks_out"] is not None:
            lines.append((f"Mesh of {letter.upper()} Sticks Out", units.rough(shape["mesh_sticks_out"])))
            lines.append((f"Shape of {letter.upper()} Reaches Beyond", units.rough(shape["reaches_beyond_mesh"])))
    return lines


def warnings(data: Report) -> list[str]:
    """What a person must know to read the numbers right."""
    units = _units(data)
    lines = []
    if data["stale"]:
        lines.append(f"Out of date: {data['stale']}")
    for thing in (data["objects"]["a"], data["objects"]["b"]):
        dent, shape = thing["dent"], thing["collision_shape"]
        if shape["note"]:
            instead = f": its {WORDS[thing['inspected_as'].upper()]} is inspected"
            followed = shape["source"] == "rigid_body"
            lines.append(f"'{thing['name']}' {shape['note']}{'' if followed else instead}")
        if shape["mesh_sticks_out"] is not None:
            if shape["mesh_sticks_out"] > data["resolution"]:
                words = WORDS[thing["inspected_as"].upper()]
                lines.append(answer_words.sticks_out_words(thing["name"], words, shape["mesh_sticks_out"], units))
            continue
        if shape["exact"] is False and thing["inspected_as"] == "compound":  # of a mesh the notes tell
            why = shape["why_not_exact"] or shape["how"]
            lines.append(
                answer_words.pieces_words(thing["name"], shape["stand_ins"], why, shape["distance_from_mesh"], units)
            )
        if thing["inspected_as"] in ("compound", "mesh"):
            continue
        if dent["open_share"] == 1.0:
            lines.append(f"'{thing['name']}' has no faces: its convex hull is inspected")
        elif dent["depth"] <= data["resolution"] and dent["open_share"] > OPEN_SHARE:
            lines.append(
                f"'{thing['name']}' has no surface on {percent(dent['open_share'])} of its hull: the hull is inspected"
            )
        elif not thing["convex"]:
            text = f"'{thing['name']}' is not convex: its hull is inspected, deepest dent {units.length(dent['depth'])}"
            flat = thing["hull"]["rank"] == 2  # the hole of a washer is no dent
            missing = dent["open_share"] if flat else dent["missing_share"]
            if missing is not None and missing > OPEN_SHARE:
                text += f", {percent(missing)} of the hull is not in it"
            lines.append(text)
        elif thing["hull"]["rank"] == 3 and not dent["mesh_closed"]:
            lines.append(f"'{thing['name']}' is not closed: it is inspected as a solid")
    if method_ignored(data):
        lines.append(method_ignored(data))
    if too_coarse(data):
        smaller = min(data["objects"].values(), key=lambda thing: thing["hull"]["extent"] or math.inf)
        lines.append(
            f"Coordinates too coarse for the size of '{smaller['name']}': Blender holds them to "
            f"{units.rough(data['resolution'])} so far from an origin, and the answer means little"
        )
    elif data["contact"]["contact_tolerance"] > data["settings"]["contact_tolerance"]:
        lines.append(
            f"Blender holds these coordinates to {units.rough(data['resolution'])}: that is the contact tolerance"
        )
    found = data["contact"]
    names = data["objects"]["a"]["name"], data["objects"]["b"]["name"]
    lines += [answer_words.named(note, names) for note in found["notes"]]
    bounds = found["lower_bound"], found["upper_bound"]
    why = answer_words.reason_words(
        found["status_reason"] or "",
        found["status"],
        found["has_depth"],
        found["of_pieces"],
        found["depth"],
        bounds,
        units,
    )
    if why:
        lines.append(why)
    if _failed_checks(data):
        lines.append("The answer did not pass its own check: see the details, and please report it")
    return lines


def too_coarse(data: Report) -> bool:
    """Whether the coordinates are too coarse to tell anything about objects of this size."""
    return bool(data["contact"]["contact_tolerance"] > max(TOO_COARSE, data["settings"]["contact_tolerance"]))


def percent(share: float) -> str:
    """A share as text; a little is not called nothing."""
    return "less than 0.1 %" if 0.0 < share < 0.001 else f"{100.0 * share:.1f} %"


def report_lines(data: Report) -> Lines:
    """The whole report as rows of a name and a text, in the scene's units."""
    objects = data["objects"]
    return [
        ("A", objects["a"]["name"]),
        ("B", objects["b"]["name"]),
        ("Relation", relation_words(data)),
        *([distance_line(data)] if distance_line(data) not in main_lines(data) else []),
        *main_lines(data),
        *detail_lines(data),
        *(("Warning", text) for text in warnings(data)),
    ]
