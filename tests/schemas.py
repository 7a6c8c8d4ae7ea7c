# SPDX-License-Identifier: GPL-3.0-or-later
"""The schemas of docs/schemas: every report that a test reads is validated."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schemas"
OF_REPORTS = {"contact-lens-scene-report": "scene-report", "contact-lens-report": "pair-report"}
"""The files of the schemas that documents name."""
IS_AVAILABLE = all(map(importlib.util.find_spec, ("jsonschema_rs", "xmlschema")))
"""An installed Blender has no validators; its reports are those of the module."""

UNLISTED = "unlisted"
"""A field and a word that no schema has."""


@cache
def schema_of(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))


@cache
def _validator(name: str) -> Any:
    import jsonschema_rs

    names = [path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json")]
    registry = jsonschema_rs.Registry([(schema_of(known)["$id"], schema_of(known)) for known in names])
    return jsonschema_rs.Draft202012Validator(schema_of(name), registry=registry)


def faults(data: Any, name: str) -> list[str]:
    """Where data is not as a schema says, and how."""
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in _validator(name).iter_errors(data)
    ]


def validated(data: Any, name: str = "") -> Any:
    """Return a document that is as its schema says, which is the one it names if no other is given."""
    if IS_AVAILABLE:
        found = faults(data, name or OF_REPORTS[data["schema"]])
        assert not found, "\n".join(found[:20])
    return data


def read_json(text: str | bytes) -> Any:
    """The report in a JSON text."""
    return validated(json.loads(text))


@cache
def _junit_schema() -> Any:
    import xmlschema

    return xmlschema.XMLSchema(str(FOLDER / "junit.xsd"))


def junit_faults(root: Element) -> list[str]:
    """How JUnit XML is not as its schema says."""
    return [f"{error.path}: {error.reason}" for error in _junit_schema().iter_errors(root)]


def read_junit(text: str) -> Element:
    """The test suites of JUnit XML: each counts its cases, and has none twice."""
    root = ElementTree.fromstring(text)
    assert not IS_AVAILABLE or not junit_faults(root)
    for suite in root:
        cases = suite.findall("testcase")
        outcomes = Counter(child.tag for case in cases for child in case)
        counted = [len(cases), *(outcomes[outcome] for outcome in ("failure", "error", "skipped"))]
        assert [int(suite.get(name, "")) for name in ("tests", "failures", "errors", "skipped")] == counted
        assert len({case.get("name") for case in cases}) == len(cases)
    return root


def mutants(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield what was done to a document, and the document with it: of each kind of record a field more and each field
    less, and each value of another type."""
    seen = set()
    for where in _places(data):
        what = (tuple("*" if isinstance(step, int) else step for step in where), type(_at(data, where)))
        if what in seen:
            continue
        seen.add(what)
        words = "/".join(map(str, what[0]))
        if isinstance(_at(data, where), dict):
            changed = copy.deepcopy(data)
            _at(changed, where)[UNLISTED] = 0
            yield f"more in {words}", changed
        if where:
            changed = copy.deepcopy(data)
            _at(changed, where[:-1])[where[-1]] = {UNLISTED: 0}
            yield f"another {words}", changed
            if isinstance(where[-1], str):
                changed = copy.deepcopy(data)
                del _at(changed, where[:-1])[where[-1]]
                yield f"no {words}", changed


def _places(data: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield where
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in entries:
        yield from _places(value, (*where, step))


def _at(data: Any, where: tuple[str | int, ...]) -> Any:
    for step in where:
        data = data[step]
    return data
