# SPDX-License-Identifier: GPL-3.0-or-later
"""`Contact.to_dict()` is as its JSON Schema says, and the schemas are closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from contact_lens.core import Box, Circle, Compound, Contact, ConvexHull, Mesh, Polygon, Sphere, contact

from ..schemas import FOLDER, faults, mutants, schema_of, validated
from .generators import box

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
CUBE_TRIANGLES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]
NAMES = [path.name.removesuffix(".schema.json") for path in sorted(FOLDER.glob("*.schema.json"))]


def cube_mesh(place: float, size: float = 1.0) -> Mesh:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    return Mesh(size * corners + place, CUBE_TRIANGLES)


def sheet_mesh(turn: bool) -> Mesh:
    corners = np.column_stack((SQUARE - 0.5, np.zeros(4)))
    return Mesh(corners[:, [2, 1, 0]] if turn else corners, [(0, 1, 2), (0, 2, 3)])


def hull(*place: float) -> ConvexHull:
    return ConvexHull(box((1.0, 1.0, 1.0), place))


PAIRS: dict[str, tuple[Any, Any]] = {
    "faces": (hull(0, 0, 0), hull(0.9, 0.2, 0.1)),
    "apart": (hull(0, 0, 0), hull(3, 0, 0)),
    "round": (Sphere([0, 0, 0], 1), Sphere([1, 0, 0], 1)),
    "concentric": (Sphere([0, 0, 0], 1), Sphere([0, 0, 0], 2)),
    "plane": (Polygon(SQUARE), Polygon(SQUARE + 0.5)),
    "circles": (Circle([0, 0], 1), Circle([1, 0], 1)),
    "compound": (Compound([hull(0, 0, 0), hull(1, 0, 0)]), hull(0.5, 0.9, 0)),
    "meshes": (cube_mesh(0.0), cube_mesh(0.75)),
    "mesh and ball": (cube_mesh(0.0), Sphere([1.2, 0.5, 0.5], 0.4)),
    "sheets": (sheet_mesh(False), sheet_mesh(True)),
    "boxes": (Box([0, 0, 0], [1, 1, 1]), Box([0.5, 0.5, 1.9], [1, 1, 1])),
}


def contact_of(name: str) -> Contact:
    return contact(*PAIRS[name])


@pytest.mark.parametrize("name", PAIRS)
def test_contacts_are_as_their_schema_says(name: str) -> None:
    validated(json.loads(json.dumps(contact_of(name).to_dict(), allow_nan=False)), "contact")


@pytest.mark.parametrize("name", ["faces", "compound", "meshes", "mesh and ball"])
def test_the_schema_of_contacts_takes_nothing_else(name: str) -> None:
    found = contact_of(name).to_dict()
    assert [what for what, changed in mutants(found) if not faults(changed, "contact")] == []


def records(schema: Any) -> Iterator[dict[str, Any]]:
    """The parts of a schema that describe records by their fields."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from records(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from records(part)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_closed_and_named(name: str) -> None:
    import jsonschema_rs

    schema = schema_of(name)
    jsonschema_rs.meta.validate(schema)
    kind, version = schema["$id"].rsplit(":", 1)
    assert (schema["$schema"][-20:], kind) == ("draft/2020-12/schema", f"urn:contact-lens:schema:{name}")
    assert schema["title"].endswith(f"version {version}")
    assert schema["description"]
    for record in records(schema):
        assert "additionalProperties" in record, record
        assert set(record.get("required", ())) <= set(record.get("properties", ())), record
