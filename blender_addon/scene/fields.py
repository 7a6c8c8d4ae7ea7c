# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a clash, one record each: what is stored, reported and documented of a clash follows from this table.

It makes the arrays of `Clashes`, the rows of reports with their units, the columns of CSV and of the page, and, by
`build.py docs`, the table in docs/report.md and the JSON Schema of a finding. It imports the standard library only, so
that `build.py` can read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """What a number is."""

    name: str
    power: int
    """Of the unit of length that it is in."""
    width: int = 1
    """Numbers that it consists of."""


LENGTH, AREA, VOLUME, NUMBER = Kind("length", 1), Kind("area", 2), Kind("volume", 3), Kind("number", 0)
WORD = Kind("", 0, 0)
POINT, VECTOR, DIRECTION = Kind("point", 1, 3), Kind("vector", 1, 3), Kind("direction", 0, 3)

CHECK = "check"
"""The source of numbers that a check computes beside the contact."""
DERIVED = "derived"
"""The source of numbers that are properties of `Clash`."""

Schema = Mapping[str, Any]


def _words(words: str, *more: None) -> Schema:
    return {"enum": [*words.split(), *more]}


_REAL: Schema = {"type": ["number", "null"]}
_SIZE: Schema = {"type": ["number", "null"], "minimum": 0}
_TRUTH: Schema = {"type": "boolean"}
_POINT: Schema = {"$ref": "#/$defs/point"}
_POINT_OR_NULL: Schema = {"anyOf": [_POINT, {"type": "null"}]}
_SIDE: Schema = {"$ref": "#/$defs/side"}


@dataclass(frozen=True)
class Field:
    """A field of a clash in reports."""

    name: str
    text: str
    """What it is, a sentence in Markdown without the period."""
    schema: Schema
    """Its JSON Schema, without the description."""
    kind: Kind = WORD
    """WORD of all that is not a number."""
    source: str = ""
    """Of numbers of the contact: the array of `Contacts` and attribute of `Contact`, or CHECK or DERIVED."""
    csv: bool = False
    """Whether the table for spreadsheets has it; new ones are at the end."""
    title: str = ""
    """Its column on the page; empty without one."""
    needs_depth: bool = False
    """Whether it is null where there is no depth, as of two open surfaces that meet."""
    is_added: bool = False
    """Whether it is added to the row of a clash by what has the row, the list or a report."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns in the table for spreadsheets."""
        return tuple(f"{self.name}_{axis}" for axis in "xyz") if self.kind.width == 3 else (self.name,)


FIELDS = (
    Field("id", "of the clash: the same at every check of the file, see [Ids](#ids)", {"$ref": "#/$defs/id"}, csv=True),
    Field(
        "change",
        "compared with the [baseline](#compare-with-an-earlier-report): `deeper` also means closer, `shallower` "
        "farther apart; `null` without one",
        _words("new same deeper shallower", None),
        csv=True,
    ),
    Field(
        "baseline_distance",
        "the signed distance in the baseline; `null` where the clash is not in it, or had no depth",
        _REAL,
        LENGTH,
        csv=True,
    ),
    Field("a", "the two objects: see [a side](#a-side)", _SIDE, csv=True),
    Field("b", "the two objects: see [a side](#a-side)", _SIDE, csv=True),
    Field(
        "relation",
        "`coincident`, `touching`, `a_inside_b`, `b_inside_a`, `penetrating`, `within_clearance`",
        {"$ref": "#/$defs/relation"},
        csv=True,
    ),
    Field("intersects", "whether they have a point in common: `signed_distance <= 0` where there is one", _TRUTH),
    Field(
        "has_depth",
        "`false` where two open surfaces meet, or an open one with small holes is around the other: then "
        "`signed_distance`, `depth`, `normal`, `mtv`, `lower_bound` and `upper_bound` are `null`. Also where the depth "
        "was not searched, as with `--depth none`: `exactness` is `bounds_only` then, and there are bounds",
        _TRUTH,
    ),
    Field(
        "signed_distance",
        "> 0 gap, < 0 minus the penetration depth",
        _REAL,
        LENGTH,
        "signed_distance",
        csv=True,
        title="Depth or Gap",
        needs_depth=True,
    ),
    Field(
        "depth", "moving B by `depth * normal` separates the pair", _SIZE, LENGTH, DERIVED, csv=True, needs_depth=True
    ),
    Field("normal", "unit vector from A to B", _POINT_OR_NULL, DIRECTION, "normal", csv=True, needs_depth=True),
    Field(
        "mtv",
        "`depth * normal`, the minimum translation vector of B",
        _POINT_OR_NULL,
        VECTOR,
        DERIVED,
        needs_depth=True,
    ),
    Field(
        "point_on_a",
        "witness points: they realize the distance or the depth, and may be one pair of many",
        _POINT,
        POINT,
        "point_on_a",
        csv=True,
    ),
    Field(
        "point_on_b",
        "witness points: they realize the distance or the depth, and may be one pair of many",
        _POINT,
        POINT,
        "point_on_b",
        csv=True,
    ),
    Field(
        "center",
        "the contact center: the centroid of the region, of all regions by area, or of the contact curves by length; "
        "the middle of the witness points where there is none",
        _POINT,
        POINT,
        "center",
        csv=True,
    ),
    Field(
        "lower_bound",
        "certified, of the signed distance; `null` without a bound",
        _REAL,
        LENGTH,
        "lower_bound",
        csv=True,
        needs_depth=True,
    ),
    Field("upper_bound", "certified, of the signed distance", _REAL, LENGTH, "upper_bound", csv=True, needs_depth=True),
    Field(
        "resolution",
        "smaller differences of the signed distance are not known, by the resolution of the coordinates; `null` in a "
        "list saved by an earlier version",
        _SIZE,
        LENGTH,
        CHECK,
    ),
    Field(
        "margins",
        "the gap up to which the simulation of rigid bodies pushes the two apart: see "
        "[Collision margins](user-guide.md#collision-shapes); `null` unless their gap is smaller: the "
        "relation is `within_clearance` then, whatever the clearance is. Not in reports of version 0.2.0",
        _SIZE,
        LENGTH,
        CHECK,
        csv=True,
    ),
    Field(
        "region",
        "the kind of the contact region: `point`, `segment`, `polygon`; of compounds and meshes `regions` or `curves` "
        "of several; `null` without one. Of `within_clearance` it is where the two face each other, half-way across "
        "the gap: pages, JUnit XML and the terminal call it *facing*",
        _words("point segment polygon regions curves", None),
    ),
    Field(
        "area",
        "of the contact region, in the area unit of the check; of `within_clearance` of what faces the other",
        {"$ref": "#/$defs/length"},
        AREA,
        "area",
        csv=True,
        title="Area",
    ),
    Field(
        "overlap_volume",
        "of the intersection of the two solids, in the cube of the length unit; `null` unless they penetrate and "
        "`--volume` or *Overlap Volumes* asked for it, or where there is none: a note gives the reason. Not in reports "
        "of version 0.2.0",
        _SIZE,
        VOLUME,
        CHECK,
        csv=True,
        title="Overlap",
    ),
    Field("overlap_volume_lower", "certified, of the overlap volume", _SIZE, VOLUME, CHECK, csv=True),
    Field("overlap_volume_upper", "certified, of the overlap volume", _SIZE, VOLUME, CHECK, csv=True),
    Field("centroid", "of the contact region; `null` without one", _POINT_OR_NULL, POINT, CHECK),
    Field(
        "exactness",
        "`certified` when the bounds meet, otherwise the reason: the depth is an upper bound then, or was not searched",
        _words(
            "certified gjk_stalled epa_stalled curved_bracket methods_disagree bounds_only budget stalled bracket "
            "unverified no_depth"
        ),
    ),
    Field(
        "verified",
        "whether `verify` confirms the contact; `null` if it was not verified: opening a clash in the list "
        "verifies it, `--verify` verifies all",
        {"type": ["boolean", "null"]},
    ),
    Field(
        "approved_at",
        "the signed distance at which the pair was approved; `null` where it was not, or had no depth",
        _REAL,
        LENGTH,
    ),
    Field(
        "notes",
        "sentences that explain the numbers, lengths with their unit",
        {"type": "array", "items": {"type": "string"}},
        csv=True,
    ),
    Field(
        "frame",
        "the frame at which it was found: an earlier one if this check did not cover the pair, or no longer found it",
        {"type": "number"},
        csv=True,
        is_added=True,
    ),
    Field(
        "out_of_date",
        "why the finding may no longer be true, such as `'Cube' has moved`; `null` when its objects are as they were "
        "found",
        {"type": ["string", "null"]},
        csv=True,
        is_added=True,
    ),
    Field(
        "apart",
        "of an approved or resolved pair: it was apart when it was last checked, and the finding has the earlier "
        "numbers",
        _TRUTH,
        is_added=True,
    ),
    Field(
        "status",
        "`new`, `changed`, `active`, `reviewed`, `approved`, `resolved`",
        _words("new changed active reviewed approved resolved"),
        csv=True,
        is_added=True,
    ),
)
"""In the order of a row."""

NUMBERS = tuple(field for field in FIELDS if field.source)
"""The numbers of the contact."""
STORED = tuple(field for field in NUMBERS if field.source != DERIVED)
"""What `Clashes` keeps of each clash."""
TITLED = tuple(field for field in NUMBERS if field.title)
OF_DEPTH = tuple(field.name for field in FIELDS if field.needs_depth)
