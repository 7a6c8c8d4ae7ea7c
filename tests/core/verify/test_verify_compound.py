# SPDX-License-Identifier: GPL-3.0-or-later
"""Verification of contacts of compounds: honest ones pass, and each planted lie fails the check that looks for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import (
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Relation,
    Sphere,
    Status,
    contact,
    verify,
)
from contact_lens.core.budget import Budget
from contact_lens.core.compounds.compound_contact import compound_contact
from contact_lens.core.compounds.compound_planes import Planes
from contact_lens.core.result import TieKind
from contact_lens.core.verify.escape import covered

from ..assertions import assert_lies_found, assert_verified
from ..compounds.test_compound import box
from ..generators import rotation


def turned(shape: Compound, seed: int, move) -> Compound:
    m = rotation(np.random.default_rng(seed))
    return Compound([ConvexHull(piece.vertices @ m.T + np.array(move)) for piece in shape.pieces])


U = Compound([box([0, 0, 0], [4, 1, 1]), box([0, 0, 0], [1, 3, 1]), box([3, 0, 0], [4, 3, 1])])
CROSS = Compound([box([-2, -0.5, -0.5], [2, 0.5, 0.5]), box([-0.5, -2, -0.4], [0.5, 2, 0.4])])
PLANE = Compound([ConvexHull([[0, 0], [4, 0], [4, 1], [0, 1]]), ConvexHull([[0, 0], [1, 0], [1, 3], [0, 3]])])
ROUND = Compound([Sphere((0, 0, 0), 1), box([0, -0.5, -0.5], [2, 0.5, 0.5])])
SHEET = Compound([ConvexHull([[1.5, 0.5, 0.5], [2.5, 0.5, 0.5], [2.5, 2, 0.5], [1.5, 2, 0.5]])])

PAIRS = {
    "u and cross": (U, turned(CROSS, 1, [2, 1, 0.5])),
    "u and u": (U, turned(U, 2, [1, 0.5, 0.2])),
    "a box in a u": (U, Compound([box([1.5, 0.5, 0.1], [2.5, 2, 0.8])])),
    "a sheet in a u": (U, SHEET),
    "a single shape in a u": (U, SHEET.pieces[0]),
    "in the plane": (PLANE, Compound([ConvexHull([[0.5, 0.5], [2, 0.5], [2, 2]])])),
    "inside over a seam": (
        Compound([box([0, 0, 0], [2, 4, 4]), box([2, 0, 0], [4, 4, 4])]),
        Compound([box([1.5, 1, 1], [2.5, 2, 2])]),
    ),
    "curved": (ROUND, Compound([Capsule((0, 0, 0.5), (0, 2, 1), 0.3), Cylinder((1, 0, 0), (1, 0, 3), 0.4)])),
    "touching": (U, Compound([box([1, 1, 0], [2, 2, 1]), box([2, 1, 0], [3, 2, 1])])),
    "touching, curved": (
        Compound([box([-2, -2, -1], [2, 2, 0])]),
        Compound([Sphere((0, 0, 0.5), 0.5), SHEET.pieces[0]]),
    ),
    "apart": (U, turned(CROSS, 3, [2, 5, 4])),
    "apart, curved": (ROUND, Compound([Sphere((4, 1, 1), 0.5), box([5, 0, 0], [6, 1, 1])])),
}


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("kind", PAIRS)
def test_an_honest_answer_passes_both_ways_and_at_any_size(kind):
    a, b = PAIRS[kind]
    for exponent in (0, -600, 500):
        for one, other in ((a, b), (b, a)):
            one, other = one.scaled(2.0**exponent), other.scaled(2.0**exponent)
            c = contact(one, other)
            result = verify(c, one, other)
            assert result.ok, result.failures
            if c.status is Status.CERTIFIED:
                assert not any(check.name.startswith("not checked") for check in result.checks)


FORM, REGIONS = "the contact is well-formed", "the regions are well-formed"
CERTIFICATE = "the certificate is well-formed"


def lies(c):
    proof = c.certificate
    deep = c.depth > 1e-3
    tilted = c.normal + 1e-2 * np.roll(c.normal, 1)
    tilted /= np.linalg.norm(tilted)
    yield "realise the signed distance", {"signed_distance": c.signed_distance - 1e-3}
    yield "separate by the signed distance|realise", {"normal": -c.normal, "ties": -c.ties}
    yield "lie on their pieces", {"point_on_a": c.point_on_a + 9.0, "point_on_b": c.point_on_b + 9.0}
    yield "normals are unit vectors", {"normal": 2.0 * c.normal}
    yield "the chosen normal is the first tie", {"ties": np.vstack((tilted, c.ties))}
    yield "prove the upper bound", {"upper_bound": c.signed_distance - 1e-3, "lower_bound": c.signed_distance - 2e-3}
    yield "the bounds meet", {"lower_bound": c.lower_bound - 1.0, "status": Status.CERTIFIED}
    yield "the tolerance is that", {"tolerance": 1.0}
    yield "overlap is that of the deepest", {"overlap": proof.overlap + 1e-3}
    yield "the relation fits", {"relation": Relation.SEPARATED if c.intersects else Relation.PENETRATING}
    yield (
        "the deciding pieces",
        {"contact": replace(proof.contact, signed_distance=proof.contact.signed_distance + 0.01)},
    )
    if deep:
        yield (
            "the translation separates|realise",
            {"signed_distance": 0.5 * c.signed_distance, "lower_bound": 0.6 * c.signed_distance},
        )
        shorter = 0.9 * c.depth * c.normal
        yield (
            "the translation separates",
            {
                "signed_distance": -0.9 * c.depth,
                "lower_bound": -0.9 * c.depth,
                "upper_bound": max(c.upper_bound, -0.9 * c.depth),
                "point_on_b": c.point_on_a - shorter,
            },
        )
        deeper = 1.5 * c.depth
        yield (
            "prove the upper bound",
            {
                "signed_distance": -deeper,
                "lower_bound": -deeper,
                "upper_bound": -1.2 * c.depth,
                "point_on_b": c.point_on_a - deeper * c.normal,
            },
        )
    else:
        yield "nearer than the lower bound", {"lower_bound": c.signed_distance + 1e-3}
    if len(proof.pairs):
        yield "the pairs are those that touch", {"pairs": proof.pairs[1:]}
        yield (
            "the pairs are those that touch",
            {"pairs": np.concatenate((proof.pairs, proof.pairs[:1]))},
        )
    if c.regions:
        region = c.regions[0]
        patch = region.patches[0]
        beside = replace(patch, region=replace(patch.region, vertices=patch.region.vertices + 3.0))
        yield "regions unless the compounds are separated", {"regions": ()}
        yield "on both compounds", {"regions": (replace(region, patches=(beside,)), *c.regions[1:])}
        yield "areas, lengths and centroids", {"regions": (replace(region, area=region.area + 0.1), *c.regions[1:])}
        yield REGIONS, {"regions": [region]}
        yield REGIONS, {"regions": (None,)}
        yield REGIONS, {"regions": (replace(region, outline=None),)}
        yield REGIONS, {"regions": (replace(region, patches=(replace(patch, piece_b=99),)),)}
        yield REGIONS, {"regions": (replace(region, patches=(replace(patch, region=None),)),)}
    for name in ("signed_distance", "lower_bound", "upper_bound"):
        for bad in (None, "far", float("nan"), np.zeros(3)):
            yield FORM, {name: bad}
    for name in ("normal", "point_on_a", "point_on_b", "ties"):
        for bad in (None, [1, 2, 3], np.full(len(c.normal) + 2, np.nan)):
            yield FORM, {name: bad}
    for name in ("relation", "status", "iterations", "clearance", "contact_tolerance", "method", "curves"):
        for bad in (None, -1, "x", (0, 99)):
            yield FORM, {name: bad}
    inner = contact(Sphere((0, 0, 0), 1), Sphere((1, 0, 0), 1))
    for name in ("region", "feature_a", "feature_b"):
        yield FORM, {name: getattr(inner, name)}
    yield FORM, {"cross_check": 0.0}
    yield FORM, {"tie_kind": TieKind.CIRCLE}
    yield FORM, {"status": Status.NO_DEPTH}
    for name in ("overlap", "tolerance", "directions", "pairs", "contact", "pieces"):
        for bad in (None, "x", -1, float("nan"), np.full(len(c.normal) + 2, np.nan), (0, 99)):
            yield CERTIFICATE, {name: bad}


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("kind", PAIRS)
def test_a_lie_fails_the_check_that_looks_for_it(kind):
    a, b = PAIRS[kind]
    c = contact(a, b)
    assert_lies_found(c, a, b, lies(c))


def test_a_shorter_translation_that_separates_is_shown():
    a, b = PAIRS["u and u"]
    c = contact(a, b)
    told = replace(
        c,
        signed_distance=-2.0 * c.depth,
        lower_bound=-2.0 * c.depth,
        upper_bound=-1.9 * c.depth,
        point_on_b=c.point_on_a - 2.0 * c.mtv,
    )
    (failed,) = (check for check in verify(told, a, b).failures if "upper bound" in check.name)
    assert "but a shorter translation separates" in failed.detail


def test_what_a_budget_cut_short_is_still_true():
    pieces = [box([k, 0, 0], [k + 1.2, 3, 3]) for k in range(5)] + [box([0, k, 0], [6, k + 0.7, 4]) for k in range(3)]
    a, b = Compound(pieces), turned(Compound(pieces), 5, [2, 1, 1])
    for nodes in (0, 3, 4000):
        c = compound_contact(a, b, budget=Budget(nodes))
        assert_verified(c, a, b)


def test_a_covering_that_is_too_large_says_how_far_it_came():
    cube = np.concatenate((np.eye(3), -np.eye(3)))
    bodies = [Planes(cube, np.array([1.0, 1, 1, 1, 1, 1]), 0.0), Planes(cube, np.array([3.0, 0.5, 0.5, 3, 2, 2]), 0.0)]
    whole = covered(bodies, 1.0, 1e-9, 100)
    assert whole.least == 1.0
    assert whole.counterexample is None
    assert covered(bodies, 1.0, 1e-9, 0).least == 0.0
    wrong = covered(bodies, 1.5, 1e-9, 100)
    assert wrong.counterexample is not None
    assert np.linalg.norm(wrong.counterexample) == pytest.approx(np.hypot(1.0, 0.5)) or wrong.least < 1.5


def test_what_rounding_makes_of_a_sliver_is_no_lie():
    # Moved apart, two pieces overlap by rounding along a face, and their region is as thin as that.
    pieces = [box([0.5, -0.5, -1], [1.5, 0.5, 0]), box([0.5, -1.5, -1], [1.5, -0.5, 0])]
    for size in (1.0, 1e-4, 1e5):
        for turn in (np.eye(3), rotation(np.random.default_rng(5))):
            shape = Compound([ConvexHull(size * (piece.vertices @ turn.T)) for piece in pieces])
            assert_verified(contact(shape, shape), shape, shape)


def test_a_region_is_not_reported_twice_nor_turned_over():
    b = Compound([box([0, 0, 1], [4, 1, 2]), box([0, 0, 1], [1, 3, 2])])
    c = contact(U, b)
    (region,) = c.regions
    assert_verified(c, U, b)
    turned_over = replace(region, normal=-region.normal)
    assert_lies_found(c, U, b, [("two patches", {"regions": (region, region)}), ("areas", {"regions": (turned_over,)})])
