# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON Schemas of docs/schemas: every report that a test reads is validated."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schemas"
OF_REPORTS = {"contact-lens-scene-report": "scene-report", "contact-lens-report": "pair-report"}
"""The files of the schemas that documents name."""
IS_AVAILABLE = importlib.util.find_spec("jsonschema_rs") is not None
"""An installed Blender has no validator; its reports are those of the module."""


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
