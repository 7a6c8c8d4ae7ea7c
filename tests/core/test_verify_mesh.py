# SPDX-License-Identifier: GPL-3.0-or-later
"""Verification of contacts of meshes: honest ones pass, and each planted lie fails the check that looks for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Mesh, Relation, mesh_contact, verify

from .generators import rotation
from .mesh_shapes import Surface, block, sheet, sphere, torus


def mesh(surface: Surface, move=(0.0, 0.0, 0.0), seed: int | None = None) -> Mesh:
    turn = np.eye(3) if seed is None else rotation(np.random.default_rng(seed))
    return Mesh(surface[0] @ turn.T + np.array(move), surface[1])


PAIRS = {
    "apart": (mesh(block()), mesh(block(), [3, 0.2, 0.1], 1)),
    "apart, in a hollow": (mesh(torus(16, 8)), mesh(block([0.2, 0.2, 0.2], [-0.1, -0.1, -0.1]), [0, 0, 0], 2)),
    "blocks": (mesh(block()), mesh(block(), [0.7, 0.2, 0.1])),
    "inside": (mesh(block([4, 4, 4])), mesh(block(), [1, 1.5, 2])),
    "touching": (mesh(block()), mesh(block(), [1.0, 0.2, 0.1])),
    "not exact": (mesh(torus(16, 8)), mesh(sphere(6), [1.0, 0.3, 0.4], 3)),
    "a sheet": (mesh(sheet(3)), mesh(block(), [0.2, 0.2, -0.5])),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_an_honest_answer_passes_both_ways(kind):
    for a, b in (PAIRS[kind], PAIRS[kind][::-1]):
        c = mesh_contact(a, b)
        result = verify(c, a, b)
        assert result.ok, str(result)
        if kind == "not exact":
            assert any(check.name.startswith("not checked") for check in result.checks)


def lies(c):
    yield "points prove the upper|hold the signed", {"upper_bound": c.signed_distance - 1e-3}
    yield "points lie on their meshes", {"point_on_a": c.point_on_a + 9.0}
    yield "they intersect where", {"intersects": not c.intersects}
    yield "solids are closed", {"a_solid": not c.a_solid}
    yield "the relation fits", {"relation": Relation.SEPARATED if c.intersects else Relation.PENETRATING}
    if c.normal is not None:
        yield "unit vector", {"normal": 2.0 * c.normal}
    if not c.intersects and c.signed_distance > 1e-3:
        yield (
            "prove the lower bound",
            {"lower_bound": c.signed_distance + 1e-3, "upper_bound": c.signed_distance + 2e-3},
        )
        yield "realise the signed distance", {"normal": -c.normal}
    if len(c.crossings):
        yield "crossings lie on both", {"crossings": replace(c.crossings, segments=c.crossings.segments + 0.1)}
        curve = replace(c.curves[0], points=c.curves[0].points + 0.1)
        yield "curves lie on both", {"curves": (curve, *c.curves[1:])}
    if c.depth > 0.0 and c.compound is not None:
        yield (
            "the depth is that of the pieces|the translation separates",
            {"signed_distance": 0.5 * c.signed_distance, "lower_bound": 0.5 * c.signed_distance, "upper_bound": 0.0},
        )
        told = replace(c.compound, overlap=c.compound.overlap + 0.1)
        yield "the contact of the pieces holds", {"compound": told}
    for name in ("signed_distance", "lower_bound", "upper_bound", "distance", "point_on_a", "crossings", "curves"):
        for bad in (None, "x", np.zeros(2), float("nan")):
            yield "well-formed", {name: bad}
    for name in ("relation", "normal", "compound", "pieces_a", "regions", "clearance"):
        yield "well-formed", {name: "x"}


@pytest.mark.parametrize("kind", PAIRS)
def test_a_lie_fails_the_check_that_looks_for_it(kind):
    a, b = PAIRS[kind]
    c = mesh_contact(a, b)
    for expected, changes in lies(c):
        failed = [check.name for check in verify(replace(c, **changes), a, b).failed]
        assert any(part in name for name in failed for part in expected.split("|")), (expected, changes, failed)


def test_what_is_no_mesh_is_refused_by_name():
    a, b = PAIRS["blocks"]
    c = mesh_contact(a, b)
    with pytest.raises(ValueError, match=r"^b must be a Mesh"):
        verify(c, a, "b")
