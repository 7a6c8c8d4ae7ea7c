# SPDX-License-Identifier: GPL-3.0-or-later
"""The clashes of a scene check as plain data, one row each, for the list and the reports.

What a check finds and the file keeps is in Blender units; `in_scene_units` is the one place where that is turned, each
number by one multiplication. No number is infinite then, as JSON has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from operator import attrgetter
from typing import Any

import numpy as np

from ..data import messages
from ..data.collision_kinds import CONVEX_HULL, WORDS
from ..data.distance import Distance
from ..data.lazy_rows import LazyRows, Row, column, columns, mapped
from ..data.records import Approval
from ..data.units import Unit, UnitFormat
from ..read.scene_objects import SceneObject
from . import depths
from .clashes import REPORTED_ONLY, Clash, Clashes, ShapeFacts, Verdict
from .coarse import coarse_sides
from .fields import FIELDS, NUMBERS, OF_DEPTH, WORD

RESOLVED, APART, WITHIN_MARGINS = "resolved", "apart", "within_collision_margins"
"""What a clash counts as where that is not its relation."""
SERIES = "series"
"""What a check of frames has that the window keeps: its pairs over these, as `StoredFrames`. Its findings are those of
the worst frames."""
WORSE = frozenset({"new", "deeper"})
"""How clashes differ from a baseline that are worse than in it, and count where only new ones do."""
_BLANK: Row = {field.name: None for field in FIELDS if not field.is_added}
_NUMBERS = tuple(field.name for field in NUMBERS if field.name not in REPORTED_ONLY)
_values_of = attrgetter(*_NUMBERS)
_POWERS = {field.name: field.kind.power for field in FIELDS if field.kind is not WORD}
_POWERS |= {
    "a": 1,  # their locations
    "b": 1,
    "clearance": 1,
    "distance": 1,
    "extent": 1,
    "extents": 0,
    "least_volume": 3,
}  # of the settings and of a motion
"""Of numbers: the power of the unit of length that they are in."""


def rows(
    objects: Sequence[SceneObject],
    clashes: Clashes,
    facts: Mapping[int, ShapeFacts],
    units: UnitFormat,
    more: Row,
    columns: Mapping[str, Sequence[Any]] | None = None,
    known_sides: dict[object, Row] | None = None,
) -> LazyRows:
    """Return clashes as plain data: world space, Blender units; the lengths in their notes in those of the scene.

    facts: how the objects were checked; more: fields that all rows have; columns: the values of others, one for each
    row. Of the objects only what the rows say is kept; known_sides: of the rows of other frames, which have most of it.
    """
    shared = {} if known_sides is None else known_sides
    keys = {k: _side_key(objects[k]) for k in facts}
    shared.update((key, side_of(objects[k])) for k, key in keys.items() if key not in shared)
    sides = {k: shared[key] for k, key in keys.items()}
    notes = {k: found for k in facts if (found := shape_notes(objects[k], facts[k], units))}
    coarse = coarse_sides(objects, clashes.pairs, clashes.column("resolution"))

    def make(row: int) -> Row:
        return row_of(clashes[row], sides, notes, units, coarse[row].tolist())

    verified: list[bool | None] = [None] * len(clashes)
    for row, clash in clashes.verified.items():
        verified[row] = not failed_checks(clash.checks or (), clash.reason)
    known: dict[str, Sequence[Any]] = {
        "a": [sides[k] for k in clashes.pairs[:, 0].tolist()],
        "b": [sides[k] for k in clashes.pairs[:, 1].tolist()],
        "change": [None] * len(clashes),
        "relation": clashes.words(),
        "signed_distance": clashes.distances,
        "upper_bound": clashes.upper_bounds,
        "resolution": clashes.column("resolution").tolist(),
        "verified": verified,
        "margins": clashes.margins,
        "overlap_volume": clashes.volumes,
    }
    known |= {name: [value] * len(clashes) for name, value in more.items()}
    return LazyRows(len(clashes), make, {**known, **(columns or {})})


def row_of(
    clash: Clash,
    sides: Mapping[int, Row],
    notes: Mapping[int, list[str]],
    units: UnitFormat,
    coarse: Sequence[bool] = (False, False),
) -> Row:
    """Return a clash as plain data; sides, notes: its objects and their notes, by their indices; coarse: whether the
    coordinates are too coarse for each."""
    failed = None if clash.checks is None else failed_checks(clash.checks, clash.reason)
    names = sides[clash.a]["name"], sides[clash.b]["name"]
    values = [value.tolist() if type(value) is np.ndarray else value for value in _values_of(clash)]
    row = {
        **_BLANK,
        **dict(zip(_NUMBERS, values, strict=True)),
        "a": dict(sides[clash.a]),
        "b": dict(sides[clash.b]),
        "relation": str(clash.relation),
        "intersects": clash.intersects,
        "has_depth": clash.has_depth,
        "region": clash.region,
        "exactness": clash.status,
        "verified": None if failed is None else not failed,
        "approved_at": None if clash.approval is None else clash.approval.signed_distance,
        "notes": [
            *_approval_notes(clash, units),
            *_margin_notes(clash, units),
            *notes.get(clash.a, ()),
            *notes.get(clash.b, ()),
            *_coarse_notes(clash, sides, units, coarse),
            *_contact_notes(clash, names, failed or [], units),
        ],
    }
    for name, value in clash.more.items():
        row[name] = value.tolist() if isinstance(value, np.ndarray) else value
    return row if clash.has_depth else {**row, **without_depth(row)}


def without_depth(row: Row) -> Row:
    """Return the fields that a row without a depth does not have; where it was not searched there are bounds."""
    return dict.fromkeys(
        OF_DEPTH if row["exactness"] != depths.NOT_SEARCHED else [name for name in OF_DEPTH if "_bound" not in name]
    )


def _side_key(obj: SceneObject) -> tuple[object, ...]:
    """Equal keys: the same side, within a run."""
    return obj.key, obj.geometry.digest, obj.choice, obj.pose, *map(_side_key, obj.parts)


def side_of(obj: SceneObject) -> Row:
    """Return an object of a pair as plain data."""
    return {
        "name": obj.name,
        "object": obj.object_name,
        "library": obj.library,
        "instancer": obj.instancer_name,
        "instancer_library": obj.instancer_library,
        "instance": obj.key[2] or None,
        "checked_as": obj.kind.lower(),
        "shape_source": obj.choice.source,
        "convex": obj.is_convex,
        "geometry": obj.geometry_digest,
        "place": obj.place_digest,
        "location": obj.placed.translation.tolist() if obj.key[2] else None,
    }


def shape_notes(obj: SceneObject, shape: ShapeFacts, units: UnitFormat) -> list[str]:
    """Return notes about the collision shape of an object."""
    words = WORDS[shape.kind]
    notes = [f"{obj.fault}: it is checked as Blender shows it"] if obj.fault else []
    if obj.choice.note:
        instead = "" if obj.choice.source == "rigid_body" else words
        notes.append(messages.other_shape(obj.name, obj.choice.note, instead))
    if shape.protrusion > 0.0:
        notes.append(messages.protrudes(obj.name, words, shape.protrusion, units))
    if shape.kind == CONVEX_HULL and not obj.is_convex:
        notes.append(messages.hull_used(obj.name))
    if (pieces := shape.approximation) is not None:
        notes.append(messages.pieces(obj.name, pieces, units))
    return notes


def _coarse_notes(clash: Clash, sides: Mapping[int, Row], units: UnitFormat, coarse: Sequence[bool]) -> list[str]:
    """Return a note where coordinates are too coarse for an object."""
    names = [sides[k]["name"] for k, is_coarse in zip((clash.a, clash.b), coarse, strict=True) if is_coarse]
    return [messages.too_coarse(names, units.rough(clash.resolution))] if names else []


def _contact_notes(clash: Clash, names: tuple[str, str], failed: list[str], units: UnitFormat) -> list[str]:
    """Return notes about a contact."""
    notes = [messages.of_a_or_b(note.words(units.length), names) for note in clash.notes]
    if clash.reason and (reason := messages.bounds_apart(clash, *Distance.of_contact(clash).bound_texts(units))):
        notes.append(reason)
    if clash.unmeasured:
        notes.append(f"No overlap volume: {messages.named(clash.unmeasured, names)}")
    if failed:
        notes.append(f"The result did not pass its own verification ({', '.join(failed)}): please report it")
    return notes


def _margin_notes(clash: Clash, units: UnitFormat) -> list[str]:
    """Return a note where Blender's simulation pushes the two apart though they do not meet."""
    return [] if clash.margins is None else [messages.within_margins(clash.signed_distance, clash.margins, units)]


def _approval_notes(clash: Clash, units: UnitFormat) -> list[str]:
    """Return a note where a clash is no longer covered by its approval."""
    approval = clash.approval
    if approval is None or clash.verdict == Verdict.WITHIN:
        return []
    if not approval.is_known:
        return ["Approved in an earlier version, which did not store the depth: approve it again"]
    then = messages.depth_or_gap(approval.signed_distance, units)
    now = messages.depth_or_gap(Approval(clash.approved_distance).signed_distance, units)
    return [f"Approved at {then}, now {now}"]


def words(findings: Sequence[Row]) -> list[str]:
    """Return what each finding counts as: its relation, unless it is RESOLVED, or APART though it is not; a gap within
    collision margins as WITHIN_MARGINS."""
    columns = (column(findings, name) for name in ("relation", "status", "apart", "margins"))
    return [
        RESOLVED if status == RESOLVED else APART if is_apart else relation if margins is None else WITHIN_MARGINS
        for relation, status, is_apart, margins in zip(*columns, strict=True)
    ]


def present_relations(findings: Sequence[Row]) -> list[str]:
    """Return the relations of the findings that are neither resolved nor apart."""
    return [word for word in words(findings) if word not in (RESOLVED, APART)]


def changed_relations(checks: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the relations of the findings that differ in each way from the baseline."""
    found: dict[str, list[str]] = {}
    for check in checks:
        for change, relation in zip(*columns(check["findings"], "change", "relation"), strict=True):
            found.setdefault(change, []).append(relation)
    return found


def failed_checks(checks: Iterable[tuple[str, bool]], reason: str | None) -> list[str]:
    """Return the checks, names and whether they passed, that a result fails.

    That its bounds do not meet is not a failure when it says so itself.
    """
    reported = {"the bounds meet"} if reason else set()
    return [name for name, ok in checks if not ok and name not in reported]


def unit_format(check: dict[str, Any]) -> UnitFormat:
    """Return how the lengths of a check in its scene's units are written."""
    return _settings(check).of_fixed()


def in_scene_units(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check in Blender units as one in the units of its scene, which it names."""
    unit = _settings(check).fixed()
    named = {
        "length": unit.symbol,
        "area": unit.squared,
        "blender_units_per_unit": unit.blender_units,
        **check["units"],
        "numbers_in": "scene_units",
    }
    factors = _factors(unit)
    findings = mapped(check["findings"], lambda row: _turned(row, factors))
    turned = {
        **check,
        "units": named,
        "settings": _turned(check["settings"], factors),
        "skipped": [_turned(entry, factors) for entry in check["skipped"]],
        "findings": findings,
    }
    if check.get("motion") is not None:
        turned["motion"] = _turned(check["motion"], factors)
    if check.get(SERIES) is not None:
        turned[SERIES] = check[SERIES].scaled(factors["signed_distance"])
    return turned


def _settings(check: dict[str, Any]) -> UnitFormat:
    """Return the unit settings of the scene that was checked."""
    units = check["units"]
    return UnitFormat(units["system"], units["scale_length"], units["length_unit"])


def _factors(unit: Unit) -> dict[str, float]:
    """Return by what each number is multiplied."""
    return {name: unit.per_blender_unit**power for name, power in _POWERS.items()}


def _turned(numbers: dict[str, Any], factors: dict[str, float]) -> dict[str, Any]:
    """Return data with its numbers multiplied; None for those that are not finite then."""
    turned = dict(numbers)
    for name in numbers.keys() & factors.keys():
        turned[name] = _times(numbers[name], factors[name])
    return turned


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, float | int):
        product = value * factor
        return product if isfinite(product) else None
    if isinstance(value, list):
        if value and isinstance(value[0], dict):  # sides, of which many rows have the same
            turned = {key: _times(side, factor) for key, side in {id(side): side for side in value}.items()}
            return [turned[id(side)] for side in value]
        return [
            product if isinstance(one, float) and isfinite(product := one * factor) else _times(one, factor)
            for one in value
        ]
    if isinstance(value, dict):  # a side
        return {**value, "location": _times(value["location"], factor)} if value.get("location") else value
    return value if isinstance(value, str) else None  # a setting may be called like a number
