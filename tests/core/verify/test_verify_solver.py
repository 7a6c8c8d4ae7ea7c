# SPDX-License-Identifier: GPL-3.0-or-later
"""What `verify` takes from the solver: proposals of certificates for pairs of pieces, of which it believes only what it
has checked."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contact_lens.core import Box, Compound, Cylinder, Mesh, Relation, Sphere, Status, contact, verify
from contact_lens.core.curved.convex_contact import convex_contact
from contact_lens.core.result import Certificate, SupportCertificate
from contact_lens.core.verify import pair_proof

from ..assertions import changed
from ..mesh_shapes import block, bumpy, sphere

SOLVERS = {"contact", "contacts", "convex_contact", "compound_contact", "mesh_contact", "polytope_contact"}
SOLVERS |= {"gjk", "epa", "sat", "shortest_escape", "curved_escape", "bracket_cores", "search_depth", "mesh_distance"}


def test_the_solver_is_asked_in_one_place():
    folder = Path(pair_proof.__file__).parent
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        taken = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert taken & SOLVERS == ({"convex_contact"} if file.name == "pair_proof.py" else set()), file.name


LUMP = Mesh(*bumpy(np.random.default_rng(1)))
L_SHAPE = Compound([Box([0, 0, 0], [2, 1, 1]), Box([-0.5, 1, 0], [1, 1, 1])])

PAIRS = {
    "compounds": (L_SHAPE, L_SHAPE.translated([0.3, 0.2, 0.1])),
    "single pieces": (Compound([Box([0, 0, 0], [1, 1, 1])]), Compound([Box([0.1, 0, 0], [0.2, 0.3, 0.4])])),
    "a ball in a compound": (L_SHAPE, Sphere([0.3, 0.2, 0.1], 0.4)),
    "compounds apart": (L_SHAPE, L_SHAPE.translated([3.0, 0.2, 0.1])),
    "a ball beside a compound": (L_SHAPE, Sphere([0.3, 0.2, 2.1], 0.4)),
    "meshes": (Mesh(*block()), Mesh(*block([1, 1, 1], [0.7, 0.2, 0.1]))),
    "a ball and a mesh": (LUMP, Sphere([0.6, 0.2, 0.1], 0.4)),
    "a cylinder in a compound": (L_SHAPE, Cylinder([0.3, 0.2, -0.5], [0.3, 0.2, 0.5], 0.3)),
    "a ball near a mesh": (LUMP, Sphere([0.9, 1.0, 0.8], 0.4)),
    "crossing triangles": (Mesh(*sphere(7)), Mesh(*sphere(7, [1.9, 0.1, 0.05]))),
}


def forged(c):
    """Contacts that say something else than an honest one, each a lie by far more than any tolerance."""
    yield changed(c, relation=Relation.SEPARATED if c.intersects else Relation.PENETRATING)
    if c.depth > 0.0:
        for factor in (0.5, 1.5):
            depth = factor * c.depth
            bounds = {"signed_distance": -depth, "lower_bound": -depth, "upper_bound": -depth}
            yield changed(c, point_on_b=c.point_on_a - depth * c.normal, **bounds)
        yield changed(c, ties=np.vstack((c.ties, -c.normal)))
        yield changed(c, relation=Relation.COINCIDENT)
        if c.method == "compound":
            yield changed(c, overlap=0.5 * c.certificate.overlap)
            yield changed(c, overlap=2.0 * c.certificate.overlap)
            yield changed(c, pairs=c.certificate.pairs[:0])
            half = {"signed_distance": -0.5 * c.depth, "lower_bound": -0.5 * c.depth}
            half["point_on_b"] = c.point_on_a - 0.5 * c.depth * c.normal
            yield changed(c, status=Status.UNVERIFIED, **half)
    else:
        gap = 0.5 * c.signed_distance
        yield changed(c, lower_bound=c.signed_distance + gap, upper_bound=c.signed_distance + gap)
        yield changed(c, signed_distance=gap, lower_bound=gap, upper_bound=gap)


def words(c, a, b):
    """All that a solver says besides the certificate, falsified."""
    return replace(
        c,
        relation=Relation.COINCIDENT,
        signed_distance=-c.signed_distance + 1.0,
        normal=-c.normal,
        lower_bound=c.lower_bound - 1.0,
        upper_bound=c.upper_bound + 1.0,
        point_on_a=c.point_on_a + 1.0,
        point_on_b=c.point_on_b - 1.0,
        ties=-c.ties,
        status=Status.UNVERIFIED,
        region=None,
    )


def elsewhere(c, a, b):
    """The contact of shapes at another place."""
    return convex_contact(a, b.translated([0.3, 0.15, 0.3]))


def with_proof(c, change):
    """The contact with the certificate of its polytopes changed, however deep inside others it is."""
    proof = c.certificate
    if isinstance(proof, SupportCertificate):
        return replace(c, certificate=replace(proof, inner=with_proof(proof.inner, change)))
    return replace(c, certificate=change(proof)) if isinstance(proof, Certificate) else c


def turned(proof):
    return replace(proof, normal=-proof.normal)


def beyond(proof):
    """Weights that make points outside of the shapes, nearer to each other."""
    count = len(proof.weights)
    return replace(proof, weights=(2.0, -1.0) + (0.0,) * (count - 2) if count > 1 else (0.0,))


def nothing(proof):
    return replace(proof, normal=np.full(3, np.nan))


def without_polytope(proof):
    return replace(proof, pairs=(), facets=())


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("kind", PAIRS)
def test_a_solver_that_lies_convinces_of_nothing(kind, monkeypatch):
    a, b = PAIRS[kind]
    c = contact(a, b, budget=0 if kind == "crossing triangles" else None)
    honest = verify(c, a, b)
    assert honest.ok, str(honest)
    lies = list(forged(c))
    assert not any(verify(lie, a, b).ok for lie in lies)
    asked = []

    def answer_with(change):
        def answer(p, q):
            asked.append((p, q))
            return change(convex_contact(p, q), p, q)

        monkeypatch.setattr(pair_proof, "convex_contact", answer)

    answer_with(words)
    assert verify(c, a, b) == honest
    assert asked
    proofs = [lambda c, a, b, of=of: with_proof(c, of) for of in (turned, beyond, nothing, without_polytope)]
    for change in (words, elsewhere, *proofs):
        answer_with(change)
        for lie in lies:
            assert not verify(lie, a, b).ok
