# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions about clashes as a JSON file, one decision a line, that people write too: errors are named by their lines.

docs/report.md describes it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..clashes.listed_decisions import Saved
from ..data.units import WrittenLength, written_length
from ..report import files as report_files
from ..report import json_report
from ..scene.clash_ids import PATTERN
from ..scene.decisions import APPROVED, IGNORED, REVIEWED, Decision, Decisions

SCHEMA, SCHEMA_VERSION = "contact-lens-decisions", 1
STATUSES = (APPROVED, REVIEWED, IGNORED)
FIELDS = ("id", "a", "b", "status", "approved_at", "file", "note", "author", "a_place", "b_place")
_SPACE = re.compile(r"[ \t\r\n]*")


class DecisionsError(Exception):
    """Why a file of decisions is not read, as one sentence that names it and the line."""


class _WrongError(Exception):
    """What is wrong at a place of the text."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place, self.reason = place, reason


class _Member(NamedTuple):
    """A member of an object of JSON."""

    place: int
    """Where its name begins."""
    value: Any


def read(path: str) -> Decisions:
    """Read a file. Raises DecisionsError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DecisionsError(report_files.reason(error)) from error
    text = ""
    try:
        text = data.decode("utf-8-sig")
        decisions = list(_decisions(text))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DecisionsError(_decisions_error(path, line, "expected text in UTF-8")) from None
    except _WrongError as error:
        line = text.count("\n", 0, error.place) + 1
        raise DecisionsError(_decisions_error(path, line, error.reason)) from None
    return Decisions(path, hashlib.sha256(data).hexdigest(), decisions)


def _decisions_error(path: str, line: int, reason: str) -> str:
    return f"{path}, line {line}: {reason}"


def record(decisions: Decisions, stopped: bool) -> dict[str, Any]:
    """Return what a document says of decisions; stopped: whether the run was."""
    unused = [entry._asdict() for entry in decisions.unused(stopped)]
    return {"file": Path(decisions.path).name, "sha256": decisions.sha256, "unused": unused}


def save(path: str, replace: Callable[[Decisions | None], Saved]) -> Saved:
    """Save what a function of the decisions of the file at a path, None where there is none, returns, and return that.

    Raises DecisionsError where something else is there, and ReportFileError.
    """
    place = report_files.place_of(path, beginnings=(b"",))  # whatever is read as decisions
    saved = replace(read(path) if os.path.exists(path) else None)
    report_files.write(place, parts(saved.entries))
    return saved


def parts(decisions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a file of decisions, given as plain data, as text."""
    yield f'{{\n  "schema": "{SCHEMA}",\n  "schema_version": {SCHEMA_VERSION},\n  "decisions": ['
    for k, decision in enumerate(decisions):
        yield f"{',' if k else ''}\n    {json_report.row_text(decision)}"
    yield f"{chr(10) + '  ' if decisions else ''}]\n}}\n"


def _decisions(text: str) -> Iterator[Decision]:
    members, end = _object(text, _skip(text, 0), {"decisions": _entries})
    if _skip(text, end) < len(text):
        raise _WrongError(_skip(text, end), _expected_json("the end of the file"))
    for name, member in members.items():
        if name not in ("schema", "schema_version", "decisions"):
            raise _WrongError(member.place, _unknown_field(name, ("schema", "schema_version", "decisions")))
    for name, wanted in (("schema", SCHEMA), ("schema_version", SCHEMA_VERSION), ("decisions", "[...]")):
        if name not in members:
            raise _WrongError(len(text.rstrip()) - 1, _missing_field(name, json.dumps(wanted)))
        value = members[name].value
        if name != "decisions" and (value != wanted or isinstance(value, bool)):
            raise _WrongError(members[name].place, _wrong_value(name, json.dumps(wanted), value))
    known: dict[object, int] = {}
    line, before = 1, 0
    for start, entry in members["decisions"].value:
        line, before = line + text.count("\n", before, start), start
        decision = _decision(line, start, entry)
        same = (decision.id or decision.names, decision.places, decision.file)
        if same in known:
            raise _WrongError(start, f"{decision.words} is decided twice, first in line {known[same]}")
        known[same] = decision.line
        yield decision


_A_SIGNED_DISTANCE = "a signed distance as reports have it, such as -0.002 or '-2 mm', or null where there is no depth"


def _decision(line: int, start: int, entry: dict[str, _Member]) -> Decision:
    """Return the decision that begins in a line, at a place of the text."""
    values = {name: member.value for name, member in entry.items()}

    def wrong(name: str, expected: str) -> _WrongError:
        return _WrongError(entry[name].place, _wrong_value(name, expected, values[name]))

    for name, member in entry.items():
        if name not in FIELDS:
            raise _WrongError(member.place, _unknown_field(name, FIELDS))
        if name not in ("approved_at", "id", "status") and not (isinstance(member.value, str) and member.value):
            raise wrong(name, "text")
    if "id" in values and not (isinstance(values["id"], str) and PATTERN.fullmatch(values["id"])):
        raise wrong("id", "an id as reports have it, such as 'vfusp33mcfix'")
    if ("a" in values) != ("b" in values):
        raise _WrongError(start, _missing_field("b" if "a" in values else "a", "the name of the other object"))
    for place in {"a_place", "b_place"} & values.keys():
        if "a" not in values:
            raise _WrongError(start, _missing_field("a", "the name of the object, beside its place"))
        if len(values[place].split()) not in (2, 3):
            raise wrong(place, "the digests of geometry and place that reports have, with a space between them")
    if not ("id" in values or "a" in values):
        raise _WrongError(start, _missing_field("id", "the id of the clash, or the names a and b of its objects"))
    if "status" not in values:
        raise _WrongError(start, _missing_field("status", " or ".join(STATUSES)))
    if values["status"] not in STATUSES:
        raise wrong("status", " or ".join(STATUSES))
    is_approved = values["status"] == APPROVED
    if is_approved and "approved_at" not in values:
        raise _WrongError(start, _missing_field("approved_at", _A_SIGNED_DISTANCE))
    if not is_approved and "approved_at" in values:
        raise _WrongError(entry["approved_at"].place, "'approved_at' is allowed only for approved clashes")
    length = None
    if is_approved:
        try:
            length = _signed_length(values["approved_at"])
        except (ValueError, OverflowError):
            raise wrong("approved_at", _A_SIGNED_DISTANCE) from None
    names = frozenset((values["a"], values["b"])) if "a" in values else None
    return Decision(line, values["status"], values.get("id"), names, values.get("file"), length, values)


def _wrong_value(name: str, expected: str, value: object) -> str:
    return f"'{name}': expected {expected}, not {value!r}"


def _missing_field(name: str, expected: str) -> str:
    return f"expected '{name}': {expected}"


def _unknown_field(name: str, known: Sequence[str]) -> str:
    return f"unknown field '{name}': expected {', '.join(known)}"


def _signed_length(value: Any) -> WrittenLength | None:
    """Return a signed distance: a number in the scene's unit, or a text with a unit. Raises ValueError."""
    if value is None:
        return None
    if isinstance(value, str):
        sign, text = (-1.0, value.strip()[1:]) if value.strip()[:1] == "-" else (1.0, value)
        if text[:1] in ("-", "+"):
            raise ValueError
        length = written_length(text)
        return length._replace(number=sign * length.number)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return WrittenLength(float(value), "")


# --- JSON with the places of what is in it --------------------------------------------------------------------------


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()


def _expect(text: str, place: int, letters: str, what: str) -> int:
    """Return the place of one of some letters after white space."""
    place = _skip(text, place)
    if place >= len(text) or text[place] not in letters:
        raise _WrongError(min(place, len(text)), _expected_json(what))
    return place


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _value(text: str, place: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and where it ends."""
    try:
        return _DECODER.raw_decode(text, place)
    except json.JSONDecodeError as error:
        raise _WrongError(error.pos, _expected_json("a JSON value")) from None
    except RecursionError:
        raise _WrongError(place, _expected_json("a value with fewer levels")) from None
    except ValueError as error:
        raise _WrongError(place, f"expected a JSON value, not {error}") from None


def _expected_json(what: str) -> str:
    return f"expected {what}"


def _object(
    text: str, place: int, readers: Mapping[str, Callable[[str, int], tuple[Any, int]]] | None = None
) -> tuple[dict[str, _Member], int]:
    """Return the members of the object that begins at a place, and where it ends.

    readers: what reads the values of some names as `_value` does.
    """
    place = _expect(text, place, "{", "'{'") + 1
    members: dict[str, _Member] = {}
    if text.startswith("}", _skip(text, place)):
        return members, _skip(text, place) + 1
    while True:
        begin = _expect(text, place, '"', "the name of a field in quotes")
        name, end = _value(text, begin)
        if name in members:
            raise _WrongError(begin, f"'{name}' appears twice")
        start = _skip(text, _expect(text, end, ":", "':' after a name") + 1)
        value, end = (readers or {}).get(name, _value)(text, start)
        members[name] = _Member(begin, value)
        place = _expect(text, end, ",}", "',' or '}'") + 1
        if text[place - 1] == "}":
            return members, place


def _entries(text: str, place: int) -> tuple[list[tuple[int, dict[str, _Member]]], int]:
    """Return the objects of the list that begins at a place, each with its own place, and where the list ends."""
    place = _skip(text, _expect(text, place, "[", "'[', the list of decisions,") + 1)
    entries: list[tuple[int, dict[str, _Member]]] = []
    if text[place : place + 1] == "]":
        return entries, place + 1
    while True:
        entry, end = _object(text, place)
        entries.append((place, entry))
        place = _expect(text, end, ",]", "',' or ']'") + 1
        if text[place - 1] == "]":
            return entries, place
        place = _skip(text, place)
