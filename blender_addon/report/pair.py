# SPDX-License-Identifier: GPL-3.0-or-later
"""An inspection as plain data, for the JSON file and for scripts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ... import __version__
from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.region.region import Region
from ...core.result import Contact
from ...core.shapes.cylinder import Cone, Cylinder
from ...core.shapes.feature import Feature
from ...core.shapes.polytope import Polytope
from ...core.shapes.rounded import Rounded
from ..data import messages
from ..data.units import UnitFormat
from ..geometry.collision_shape import covers_hull
from ..measure.pair_measures import PairMeasures
from ..pair import session
from ..pair.inspection import CollisionProxy, Inspection, Stage, Work
from ..pair.pair_contact import center_of, curve_length, curves, is_convex
from .json_report import json_text, plain

SCHEMA = "contact-lens-report"
SCHEMA_VERSION = 1
BEGINNINGS = (f'{{\n  "schema": "{SCHEMA}"',)
"""How the JSON text begins."""

Report = dict[str, Any]


class InspectedSide(NamedTuple):
    """A or B of an inspection."""

    letter: str
    """"a" or "b"."""
    name: str
    shape: Solid
    proxy: CollisionProxy


def sides_of(inspection: Inspection) -> tuple[InspectedSide, InspectedSide]:
    return (
        InspectedSide("a", inspection.name_a, inspection.shape_a, inspection.proxy_a),
        InspectedSide("b", inspection.name_b, inspection.shape_b, inspection.proxy_b),
    )


def inspected(context: bpy.types.Context) -> Inspection:
    """Return the scene's current result. Raises LookupError when there is none."""
    inspection = session.current(context)
    if inspection is None:
        raise LookupError(messages.NO_RESULT)
    return inspection


def report(context: bpy.types.Context, measures: PairMeasures | None = None) -> Report:
    """Return the scene's current result as plain, JSON-ready data: world space, lengths in Blender units.

    measures: what else was measured of the pair. Raises LookupError when there is no result.
    """
    inspection = inspected(context)
    if inspection.is_depth_pending:
        inspection = Work(inspection.objects, inspection.settings, inspection.units)(stage=Stage.FIRST)
    stale = session.stale_reason(context)
    frame = session.frame_of_result(context.scene) if stale else context.scene.frame_current_final
    # A result that is not out of date holds at the frame of today, whenever it was found.
    return {
        **_build(inspection, stale),
        "file": Path(bpy.data.filepath).name or None,
        "frame": int(frame) if float(frame).is_integer() else frame,
        **({} if measures is None else _measured(measures)),
    }


def _build(inspection: Inspection, stale: str) -> Report:
    contact, verification = inspection.contact, inspection.verification
    if verification is None:
        verification = inspection.verify()

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
            "objects": {side.letter: _object(side, inspection.resolution) for side in sides_of(inspection)},
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
                "margins": inspection.margins,
                "contact_tolerance": contact.contact_tolerance,
                "region": None if contact.region is None else _region(contact.region),
            },
            "verify": {
                "ok": verification.ok,
                "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in verification.checks],
            },
        }
    )


def _measured(measures: PairMeasures) -> Report:
    """What was measured beyond the contact; nothing where nothing was."""
    found: Report = {}
    if measures.volume is not None:
        found["overlap_volume"] = measures.volume.to_dict()
    if measures.deepest is not None:
        found["deepest_point"] = measures.deepest.to_dict()
    if measures.band is not None:
        found["clearance_band"] = measures.band.to_dict()
    return {"measures": plain(found)} if found else {}


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


def _object(side: InspectedSide, resolution: float) -> Report:
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
            "reaches_beyond_mesh": _reach(proxy),
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
        "convex": covers_hull(concavity, resolution),
        "dent": {
            "depth": concavity.depth,
            "point": concavity.point,
            "mesh_closed": concavity.is_closed,
            "missing_share": concavity.missing_fraction,
            "open_share": concavity.open_fraction,
        },
    }


def _reach(proxy: CollisionProxy) -> float | None:
    """How far a primitive reaches beyond the hull of the mesh, or pieces outside of it; None for any other shape."""
    if proxy.fit is not None:
        return proxy.fit.reaches_beyond
    return None if proxy.pieces is None else proxy.pieces.outside


def _measures(shape: Solid) -> Report:
    """What a shape is made of: corners, or ends and a radius."""
    if isinstance(shape, Compound):
        return {"pieces": len(shape.pieces), "points": None, "radius": 0.0}
    if isinstance(shape, Mesh):
        return {"triangles": len(shape.triangles), "closed": shape.is_closed, "points": None, "radius": 0.0}
    if isinstance(shape, Cylinder | Cone):
        return {"points": [shape.start, shape.end], "radius": shape.radius}
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
