# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as a table for spreadsheets: one row a finding, its unit in a column, RFC 4180.

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

COLUMNS = (
    "file",
    "scene",
    "frame",
    "status",
    "a",
    "b",
    "relation",
    "signed_distance",
    "depth",
    "area",
    "normal_x",
    "normal_y",
    "normal_z",
    "center_x",
    "center_y",
    "center_z",
    "point_on_a_x",
    "point_on_a_y",
    "point_on_a_z",
    "point_on_b_x",
    "point_on_b_y",
    "point_on_b_z",
    "lower_bound",
    "upper_bound",
    "a_checked_as",
    "b_checked_as",
    "length_unit",
    "area_unit",
    "blender_units_per_unit",
    "notes",
    "out_of_date",
    "path",
    "sha256",
    "id",
    "change",
    "baseline_distance",
    "margins",
)
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
    yield COLUMNS
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    if document["partial"]:
        yield _not_checked({}, messages.STOPPED_EARLY)
    for entry in document["inputs"]:
        if entry["error"] is not None:
            yield _not_checked(entry, entry["error"], entry["sha256"])
    for check in document["checks"]:
        for entry in check["skipped"]:
            if entry["unchecked"]:
                yield _not_checked(check, entry["reason"], digests.get(check.get("path")))
        for status in ("gone", "not_compared"):
            for entry in check[status] or ():
                yield _earlier(check, status.replace("_", " "), entry, digests.get(check.get("path")))
        for row in check["findings"]:
            yield [
                _text(check["file"] or ""),
                _text(check["scene"]),
                row.get("frame", check["frame"]),
                row.get("status", ""),
                _text(row["a"]["name"]),
                _text(row["b"]["name"]),
                row["relation"],
                row["signed_distance"],
                row["depth"],
                row["area"],
                *(row["normal"] or ("", "", "")),
                *row["center"],
                *row["point_on_a"],
                *row["point_on_b"],
                row["lower_bound"],
                row["upper_bound"],
                row["a"]["checked_as"],
                row["b"]["checked_as"],
                check["units"]["length"],
                check["units"]["area"],
                check["units"]["blender_units_per_unit"],
                _text("; ".join(row["notes"])),
                _text(row["out_of_date"] or ""),
                _text(check.get("path") or ""),
                digests.get(check.get("path")),
                row["id"],
                row["change"],
                row["baseline_distance"],
                row.get("margins"),
            ]


def _earlier(check: dict[str, Any], change: str, entry: dict[str, Any], digest: str | None) -> list[Any]:
    """A row of a clash of the baseline that is no longer found."""
    units = check["units"]
    values = {
        **{column: _text(check.get(column) or "") for column in ("file", "scene", "path")},
        **{letter: _text(entry[letter]["name"]) for letter in "ab"},
        **{f"{name}_unit": units[name] for name in ("length", "area")},
        "frame": check["frame"],
        "relation": entry["relation"],
        "blender_units_per_unit": units["blender_units_per_unit"],
        "notes": _text(entry.get("reason", "")),
        "sha256": digest,
        "id": entry["id"],
        "change": change,
        "baseline_distance": entry["signed_distance"],
    }
    return [values.get(column) for column in COLUMNS]


def _not_checked(where: dict[str, Any], reason: str, digest: str | None = None) -> list[Any]:
    """A row of what could not be checked; where: the file or the check."""
    values = {
        **{column: _text(where.get(column) or "") for column in ("file", "scene", "path")},
        "frame": where.get("frame"),
        "status": "not checked",
        "notes": _text(reason),
        "sha256": digest,
    }
    return [values.get(column) for column in COLUMNS]


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
