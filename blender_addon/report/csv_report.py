# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as a table for spreadsheets: one row a finding, or a pair of several frames, its unit in a
column, RFC 4180.

A value that a clash does not have is an empty field. What could not be checked has a row that says so: a table without
rows is that of a clean scene.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from ..data import messages
from ..data.names import visible
from ..frames.combined import combined
from ..frames.sentences import frames_words
from ..scene.fields import FIELDS

_FIRST = (
    *("file", "scene", "frame", "status", "a", "b", "relation", "signed_distance", "depth", "area", "normal", "center"),
    *("point_on_a", "point_on_b", "lower_bound", "upper_bound", "a_checked_as", "b_checked_as", "length_unit"),
    *("area_unit", "blender_units_per_unit", "notes", "out_of_date", "path", "sha256", "id", "change"),
    *("baseline_distance", "margins"),
)
"""The first columns, which keep their places: later fields are after them."""
_FIELDS = {field.name: field for field in FIELDS if field.csv}
_ORDER = (*_FIRST, *(name for name in _FIELDS if name not in _FIRST))
COLUMNS = tuple(column for name in _ORDER for column in (_FIELDS[name].columns if name in _FIELDS else (name,)))
_VECTORS = [(field.name, field.columns) for field in _FIELDS.values() if field.kind.width > 1]
OVER_FRAMES = ("permanent", "first_frame", "last_frame", "frames")
"""The last columns where a row is of a pair over frames, at its worst frame."""
BEGINNING = "file,scene,frame,status,a,b,relation,"
"""How a table begins."""
FORMULA = frozenset("=+-@\N{MINUS SIGN}")
"""What makes a spreadsheet take a text for a formula, wide, small and raised forms included."""
CONTROL = frozenset("\t\r\n")
"""What does so where a text begins with it."""


def csv_parts(document: dict[str, Any]) -> Iterator[str]:
    """Yield the findings as CSV text, row by row."""
    file = io.StringIO()
    writer = csv.writer(file)
    for row in _rows(document):
        writer.writerow(row)
        yield file.getvalue()
        file.seek(0)
        file.truncate()


def _rows(document: dict[str, Any]) -> Iterator[Sequence[Any]]:
    checks = combined(document["checks"])
    columns = (*COLUMNS, *OVER_FRAMES) if any("over" in check for check in checks) else COLUMNS
    yield columns
    for cells in _cells_of(document, checks):
        yield [cells.get(column) for column in columns]


def _cells_of(document: dict[str, Any], checks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the cells of each row by their columns."""
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    if document["partial"]:
        yield _not_checked({}, messages.STOPPED_EARLY)
    for entry in document["inputs"]:
        if entry["error"] is not None:
            yield _not_checked(entry, entry["error"], entry["sha256"])
    for check in checks:
        of_check = _of_check(check, digests.get(check.get("path")))
        for entry in check["skipped"]:
            if entry["unchecked"]:
                yield _not_checked(check, entry["reason"], of_check["sha256"])
        for status in ("gone", "not_compared"):
            yield from ({**of_check, **_earlier(status.replace("_", " "), entry)} for entry in check[status] or ())
        for row in check["findings"]:
            cells = {
                **of_check,
                **row,
                **{letter: _text(row[letter]["name"]) for letter in "ab"},
                **{f"{letter}_checked_as": row[letter]["checked_as"] for letter in "ab"},
                "notes": _text("; ".join(row["notes"])),
                "out_of_date": _text(row["out_of_date"] or ""),
            }
            for name, columns in _VECTORS:
                if value := row.get(name):
                    cells.update(zip(columns, value, strict=True))
            if "over" in row:
                over = row["over"].over
                ends = over.is_permanent, over.first, over.last, frames_words(over.intervals)
                cells.update(zip(OVER_FRAMES, ends, strict=True))
            yield cells


def _of_check(check: dict[str, Any], digest: str | None) -> dict[str, Any]:
    """Return the cells that all clashes of a check have."""
    units = check["units"]
    return {
        **{column: _text(check.get(column) or "") for column in ("file", "scene", "path")},
        **{f"{name}_unit": units[name] for name in ("length", "area")},
        "frame": check["frame"],
        "blender_units_per_unit": units["blender_units_per_unit"],
        "sha256": digest,
    }


def _earlier(change: str, entry: dict[str, Any]) -> dict[str, Any]:
    """The cells of a clash of the baseline that is no longer found, but for those of its check."""
    return {
        **{letter: _text(entry[letter]["name"]) for letter in "ab"},
        "relation": entry["relation"],
        "notes": _text(entry.get("reason", "")),
        "id": entry["id"],
        "change": change,
        "baseline_distance": entry["signed_distance"],
    }


def _not_checked(where: dict[str, Any], reason: str, digest: str | None = None) -> dict[str, Any]:
    """A row of what could not be checked; where: the file or the check."""
    return {
        **{column: _text(where.get(column) or "") for column in ("file", "scene", "path")},
        "frame": where.get("frame"),
        "status": "not checked",
        "notes": _text(reason),
        "sha256": digest,
    }


def _text(text: str) -> str:
    """A name as a text that no spreadsheet runs as a formula, with what cannot be seen as escapes.

    A spreadsheet may take a semicolon for the end of a cell: what follows could be a formula too.
    """
    return ";".join(map(_cell, text.split(";")))


def _cell(text: str) -> str:
    # Quotes are passed over: CSV doubles them, and a program that splits at semicolons takes two for an empty text.
    hidden = ("Cc", "Cf")
    shown = (x for x in text if not x.isspace() and x != '"' and unicodedata.category(x) not in hidden)
    seen = next(shown, "")
    formula = text[:1] in CONTROL or unicodedata.normalize("NFKC", seen)[:1] in FORMULA
    return f"'{visible(text)}" if formula else visible(text)
