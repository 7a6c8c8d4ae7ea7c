# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as JUnit XML, which CI servers read: a test suite a check, a test case a clash. Of a scene
over frames it is a suite, and a case a pair.

A clash that counts is a failure, what could not be checked an error, or skipped where that is allowed. Each check has a
test case of its own, so that a clean one is seen to have passed. There is no standard: the elements and attributes are
those that Jenkins, GitLab and the reporters of GitHub all read. Times are 0, as reports do not have any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from ..data import messages
from ..data.distance import Distance
from ..data.names import visible
from ..data.units import UnitFormat
from ..frames.combined import combined
from ..frames.sentences import frames_of_check, sentence_of
from ..scene import depths
from ..scene.clash_rows import unit_format
from .criteria import Criteria, unchecked

BEGINNING = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="Contact Lens'
"""How a report begins."""
TYPE = "contact_lens."
"""How the types of outcomes begin: GitLab decodes the text of what is of type "file", and of others."""
NOT_IN_XML = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}
"""What XML does not allow, beside control characters and surrogates, which `visible` replaces."""


class Case(NamedTuple):
    """A test case."""

    name: str
    outcome: str = ""
    """"failure", "error" or "skipped"; empty when it passed."""
    kind: str = ""
    """The type of the outcome."""
    message: str = ""
    """The outcome in a line."""
    lines: tuple[str, ...] = ()
    """What else is to say, line by line."""


_WHOLE_RUN = "The run was not stopped"


def junit_parts(document: dict[str, Any], criteria: Criteria) -> Iterator[str]:
    """Yield a document as JUnit XML, suite by suite; criteria: which clashes count."""
    yield f'{BEGINNING} {_text(document["contact_lens"])}">\n'
    blender = document["blender"]
    if document["partial"]:
        case = Case(_WHOLE_RUN, "error", "partial", messages.STOPPED_EARLY)
        yield from _suite(_WHOLE_RUN, [case], {"blender": blender})
    for entry in document["inputs"]:
        if entry["error"] is not None:
            case = Case("The file is checked to the end", "error", "file", entry["error"])
            facts = {"path": entry["path"], "sha256": entry["sha256"], "blender": blender}
            yield from _suite(entry["path"], [case], facts)
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    files = Counter(entry["file"] for entry in document["inputs"])
    for check in combined(document["checks"]):
        path = check.get("path")
        file = path if path and files[check["file"]] > 1 else check["file"]
        name = f"{(file or messages.UNSAVED_FILE).removesuffix('.blend')}, {check['scene']}, {frames_of_check(check)}"
        facts = {"path": path, "sha256": digests.get(path), "blender": blender}
        yield from _suite(name, list(_cases(check, criteria, document["decisions"])), facts)
    yield "</testsuites>\n"


_CHECK_ENDED = "The check ran to the end"


def _cases(check: dict[str, Any], criteria: Criteria, decisions: dict[str, Any] | None) -> Iterator[Case]:
    """Yield the test cases of a check; decisions: their file."""
    units = unit_format(check)
    left_out = messages.capitalized(messages.what_is_left_out([check], decisions))
    unsearched = depths.depth_of(check["settings"]) == depths.NONE
    more = tuple(filter(None, (left_out, messages.capitalized(messages.DEPTHS_NOT_SEARCHED) if unsearched else "")))
    if check["partial"]:
        yield Case(_CHECK_ENDED, "error", "partial", messages.STOPPED_EARLY, more)
    else:
        yield Case(_CHECK_ENDED, lines=more)
    for entry in unchecked(check):
        outcome = "skipped" if criteria.allows(entry) else "error"
        yield Case(f"{entry['name']} is checked", outcome, entry.get("kind", "unchecked"), entry["reason"])
    for row, fails in zip(*criteria.judged(check), strict=True):
        name = _name(row)
        if fails:
            yield Case(name, "failure", row["relation"], _message(row, units), tuple(_lines(row, units)))
        else:
            yield Case(name)
    # Of the baseline: what is gone has passed, and what was not looked at has not.
    yield from (Case(_name(entry)) for entry in check.get("gone") or ())
    for entry in check.get("not_compared") or ():
        yield Case(_name(entry), "skipped", "not_compared", entry["reason"])


def _name(row: dict[str, Any]) -> str:
    return messages.pair_name(row["a"]["name"], row["b"]["name"])


def _message(row: dict[str, Any], units: UnitFormat) -> str:
    """Return the relation of a clash with its depth or gap; of a pair over frames a sentence."""
    if "over" in row:
        return sentence_of(row, units)
    distance, relation = Distance.of_row(row), messages.RELATIONS[row["relation"]]
    if distance.signed_distance is None:
        return f"{relation}, no depth: {reason}" if (reason := distance.no_depth_reason) else relation
    number = distance.text(units)
    return f"{relation}, {distance.name.lower()} {number}" if number else relation


def _lines(row: dict[str, Any], units: UnitFormat) -> Iterator[str]:
    """Yield what a report says of a clash, line by line."""
    yield from (f"{side.upper()}: {messages.placed(row[side]['name'], row[side], units)}" for side in "ab")
    if "over" in row:
        yield f"Frame: {row['frame']}"
    yield f"Center: {units.vector(row['center'])}"
    if row["mtv"] is not None and (row["depth"] or 0.0) > 0.0:
        yield f"Move B By: {units.unrounded(row['mtv'])}"
    if row["area"] > 0.0:
        yield f"{messages.capitalized(messages.area_name(row['relation']))}: {units.area(row['area'])}"
    if row.get("overlap_volume") is not None:
        yield f"Overlap: {units.measure(row['overlap_volume'], 3)}"
    yield f"Status: {messages.capitalized(row['status'])}"
    if row.get("change") is not None:
        yield f"Compared with the baseline: {row['change']}"
    yield f"Id: {row['id']}"
    yield from map(messages.capitalized, row["notes"])


def _suite(name: str, cases: list[Case], properties: dict[str, str | None]) -> Iterator[str]:
    """Yield a test suite. Cases of one name are numbered: of those, readers keep one."""
    outcomes = Counter(case.outcome for case in cases)
    counts = {"tests": len(cases), "failures": outcomes["failure"], "errors": outcomes["error"]}
    yield f"  <testsuite{_attributes(name=name, **counts, skipped=outcomes['skipped'], time=0)}>\n    <properties>\n"
    for key, value in properties.items():
        if value is not None:
            yield f"      <property{_attributes(name=key, value=value)}/>\n"
    yield "    </properties>\n"
    for case_name, case in zip(_unlike(case.name for case in cases), cases, strict=True):
        head = f"    <testcase{_attributes(classname=name, name=case_name, time=0)}"
        text = escape("\n".join(_text(line) for line in (case.message, *case.lines) if line))
        if case.outcome:
            yield f"{head}>\n      <{case.outcome}{_attributes(type=TYPE + case.kind, message=case.message)}>"
            yield f"{text}</{case.outcome}>\n    </testcase>\n"
        elif text:
            yield f"{head}>\n      <system-out>{text}</system-out>\n    </testcase>\n"
        else:
            yield f"{head}/>\n"
    yield "  </testsuite>\n"


def _unlike(names: Iterable[str]) -> Iterator[str]:
    """Yield names, those that were there before with a number."""
    found: Counter[str] = Counter()
    for name in names:
        unlike = name
        while found[unlike]:
            found[name] += 1
            unlike = f"{name} ({found[name]})"
        found[unlike] += 1
        yield unlike


def _attributes(**values: Any) -> str:
    return "".join(f" {name}={quoteattr(_text(str(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    """Return text of a file in characters that XML allows, what cannot be seen as an escape."""
    return visible(text).translate(NOT_IN_XML)
