# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a pair, as plain data for the list and the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ...core.narrow_phase.contact import Contact
from ...core.narrow_phase.relation import Relation
from ...core.note import Note
from ...core.region.region import Region
from ...core.types import FloatArray
from ..check.pair_contact import Found, checked
from ..data.units import UnitFormat
from ..read import collision_shape
from ..read.collision_shape import CONVEX_HULL, PRIMITIVES, WORDS
from ..read.collision_solid import RESOLUTION_STEPS
from ..read.scene_objects import Approval, Item
from ..read.world_shape import Ready
from . import messages as answer_words


class Verdict(Enum):
    """How a pair that the user approved is now."""

    WITHIN = "within"
    """No worse than approved."""
    WORSE = "worse"
    """Deeper or closer than approved."""
    UNKNOWN = "unknown"
    """The file does not say at which depth it was approved."""


OF_DEPTH = ("signed_distance", "depth", "normal", "mtv", "lower_bound", "upper_bound")
"""What of a row is None where surfaces meet of which one is open: such a pair has no depth."""


@dataclass(frozen=True, eq=False)
class PairFound:
    """The contact of one pair, as plain data."""

    a: int
    b: int
    row: dict[str, Any]
    resolution: float = 0.0
    """Blender units: smaller differences of the signed distance are not known."""
    verdict: Verdict | None = None
    """How it stands to the user's approval; None without one."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What is told of one contact, found alone or with others. The fields are those of `Contact`."""

    relation: Relation
    signed_distance: float
    normal: FloatArray
    point_on_a: FloatArray
    point_on_b: FloatArray
    center: FloatArray
    lower_bound: float
    upper_bound: float
    region: Region | Found | None
    """Where they meet; of compounds and meshes all that was found."""
    status: str
    reason: str = ""
    """Why the bounds do not meet, in words; empty when they do."""
    notes: tuple[Note, ...] = ()
    has_depth: bool = True
    """False where surfaces meet of which one is open."""
    of_pieces: bool = False
    """Whether the depth is that of convex pieces, because a surface is open."""
    failed: tuple[str, ...] | None = None
    """The checks of `verify` that it fails; None for one found together with others: it has no certificate."""


def answer_of(found: Contact | Found, a: Ready, b: Ready) -> Answer:
    """Return what is told of a contact, checked again."""
    reason = found.reason if isinstance(found, Found) else found.status.reason
    checks = [(check.name, check.ok) for check in checked(found, a.solid, b.solid).checks]
    return Answer(
        relation=found.relation,
        signed_distance=float(found.signed_distance),
        normal=found.normal,
        point_on_a=found.point_on_a,
        point_on_b=found.point_on_b,
        center=found.center,
        lower_bound=float(found.lower_bound),
        upper_bound=float(found.upper_bound),
        region=found if isinstance(found, Found) else found.region,
        status=str(found.status),
        reason=reason,
        notes=found.notes if isinstance(found, Found) else (),
        has_depth=not isinstance(found, Found) or found.has_depth,
        of_pieces=isinstance(found, Found) and found.of_pieces is not None,
        failed=tuple(answer_words.failed_checks(checks, reason)),
    )


def row_of(found: Answer, a: Ready, b: Ready, units: UnitFormat) -> dict[str, Any]:
    """Return a contact as plain data: world space, Blender units; the lengths in its notes in those of the scene."""
    region = found.region
    kind: str | None = None
    if isinstance(region, Found):
        kind = "regions" if region.regions else "curves" if region.curves else None
    elif region is not None:
        kind = str(region.kind)
    depth = max(0.0, -found.signed_distance)
    centroid = None if region is None else region.centroid
    row = {
        "relation": str(found.relation),
        "intersects": region.intersects if isinstance(region, Found) else found.signed_distance <= 0.0,
        "has_depth": found.has_depth,
        "of_pieces": found.of_pieces,
        "signed_distance": found.signed_distance,
        "depth": depth,
        "normal": found.normal.tolist(),
        "mtv": (depth * found.normal + 0.0).tolist(),
        "point_on_a": found.point_on_a.tolist(),
        "point_on_b": found.point_on_b.tolist(),
        "center": found.center.tolist(),
        "lower_bound": found.lower_bound,
        "upper_bound": found.upper_bound,
        "region": kind,
        "area": 0.0 if region is None else float(region.area),
        "centroid": None if centroid is None else centroid.tolist(),
        "exactness": found.status,
        "verified": None if found.failed is None else not found.failed,
        "approved_at": None,
        "notes": [*_notes_of(a, units), *_notes_of(b, units), *_notes_of_answer(found, a, b, units)],
    }
    return row if found.has_depth else {**row, **dict.fromkeys(OF_DEPTH)}


def _notes_of(thing: Ready, units: UnitFormat) -> list[str]:
    """What to know of how a thing collides."""
    item, words = thing.item, WORDS[thing.kind]
    notes = [f"{item.fault}: it is checked as Blender shows it"] if item.fault else []
    if item.choice.note:
        instead = "" if item.choice.source == "rigid_body" else f": its {words} is checked"
        notes.append(f"'{item.name}' {item.choice.note}{instead}")
    if thing.kind in PRIMITIVES and thing.around is not None:
        out = collision_shape.sticks_out(thing.around, item.geometry.hull.vertices @ item.linear.T + item.translation)
        if out > RESOLUTION_STEPS * thing.step:
            notes.append(answer_words.sticks_out_words(item.name, words, out, units))
    if thing.kind == CONVEX_HULL and not item.is_convex:
        notes.append(f"'{item.name}' is not convex: its hull is checked")
    if thing.stands is not None:
        notes.append(answer_words.pieces_words(item.name, *thing.stands, units))
    return notes


def _notes_of_answer(found: Answer, a: Ready, b: Ready, units: UnitFormat) -> list[str]:
    """What to know of an answer."""
    names = a.item.name, b.item.name
    notes = [answer_words.named(note.words(units.length), names) for note in found.notes]
    depth = max(0.0, -found.signed_distance)
    bounds = found.lower_bound, found.upper_bound
    why = answer_words.reason_words(found.reason, found.status, found.has_depth, found.of_pieces, depth, bounds, units)
    if why:
        notes.append(why)
    if found.failed:
        notes.append(f"The answer did not pass its own check ({', '.join(found.failed)}): please report it")
    return notes


def judged(pair: PairFound, approval: Approval | None, units: UnitFormat) -> PairFound:
    """Return a pair with how it stands to its approval: in its row, and in words where it is no longer covered."""
    if approval is None:
        return pair
    now = pair.row["signed_distance"]
    row = {**pair.row, "approved_at": approval.signed_distance}
    if approval.covers(now, pair.resolution):
        return replace(pair, row=row, verdict=Verdict.WITHIN)
    if approval.is_known:
        verdict = Verdict.WORSE
        note = f"Approved at {_distance_words(approval.signed_distance, units)}, now {_distance_words(now, units)}"
    else:
        verdict = Verdict.UNKNOWN
        note = "Approved in an earlier version, which did not keep the depth: approve it again"
    return replace(pair, row={**row, "notes": [note, *row["notes"]]}, verdict=verdict)


def _distance_words(signed_distance: float | None, units: UnitFormat) -> str:
    if signed_distance is None:
        return "a crossing without a depth"
    return f"a {'depth' if signed_distance <= 0.0 else 'gap'} of {units.length(abs(signed_distance))}"


def _told(item: Item) -> dict[str, Any]:
    """Return a thing of a pair as plain data."""
    return {
        "name": item.name,
        "object": item.object_name,
        "instancer": item.instancer_name,
        "instance": item.key[2] or None,
        "checked_as": item.kind.lower(),
        "convex": item.is_convex,
    }


def rows(items: Sequence[Item], found: Sequence[PairFound]) -> list[dict[str, Any]]:
    """Return the findings as plain data, deepest first."""
    return [{"a": _told(items[pair.a]), "b": _told(items[pair.b]), **pair.row} for pair in found]
