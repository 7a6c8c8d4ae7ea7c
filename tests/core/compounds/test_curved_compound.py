# SPDX-License-Identifier: GPL-3.0-or-later
"""Compounds with curved pieces: brackets that hold, by closed forms and by sampled translations."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from contact_lens.core import Circle, Compound, ConvexHull, Relation, Sphere, Status, contact, verify
from contact_lens.core.budget import Budget
from contact_lens.core.compounds.compound_contact import compound_contact
from contact_lens.core.compounds.curved_difference import inner_difference
from contact_lens.core.curved.curved_inside import spread, support_points

from ..assertions import assert_verified
from ..curved.test_curved import KINDS
from ..generators import direction, sphere_points

pytestmark = pytest.mark.slow


def of_kinds(name: str, other: str, seed: int, at) -> Compound:
    rng = np.random.default_rng([seed, list(KINDS).index(name), list(KINDS).index(other)])
    one, _ = KINDS[name](rng, np.asarray(at, dtype=float), 0.8)
    two, _ = KINDS[other](rng, np.asarray(at) + 1.2 * direction(rng), 0.8)
    return Compound([one, two])


def overlap(a: Compound, b: Compound) -> float:
    return max(-contact(p, q).signed_distance for p in a.pieces for q in b.pieces)


@pytest.mark.parametrize("names", list(combinations_with_replacement(KINDS, 2)), ids="-".join)
def test_two_kinds_in_a_compound_against_a_hull_and_a_ball(names):
    a = of_kinds(*names, 1, [0, 0, 0])
    for k, at in enumerate(([0.5, 0.4, 0.3], [5.0, 1.0, 0.0])):
        rng = np.random.default_rng([2, k])
        b = Compound([Sphere(at, 0.4), ConvexHull(np.array(at) + rng.normal(size=(8, 3)) * 0.5)])
        c = compound_contact(a, b, budget=Budget(300))
        assert_verified(c, a, b)
        assert c.lower_bound <= c.signed_distance <= c.upper_bound
        assert c.status in (Status.CERTIFIED, Status.CURVED_BRACKET, Status.BUDGET)
        assert overlap(a, b.translated(c.mtv)) <= c.certificate.tolerance
        nearest = min(contact(p, q).signed_distance for p in a.pieces for q in b.pieces)
        if not c.intersects:
            assert c.signed_distance == pytest.approx(nearest, abs=1e-9)
            continue
        assert c.depth >= -nearest - c.certificate.tolerance
        assert c.depth - c.least_depth <= 0.1 * c.depth
        for way in sphere_points(rng, 25):
            assert overlap(a, b.translated(0.999 * c.least_depth * way)) > 0.0


def test_two_spheres_that_are_one_compound_by_the_closed_form():
    # A ball leaves two balls side by side across the seam: over the middle between them.
    a = Compound([Sphere((-0.5, 0, 0), 1), Sphere((0.5, 0, 0), 1)])
    b = Sphere((0, 0, 0), 0.5)
    c = contact(a, b)
    expected = np.sqrt(1.5**2 - 0.5**2)
    assert c.depth == pytest.approx(expected, abs=1e-8)
    assert c.relation is Relation.B_INSIDE_A
    assert c.least_depth <= expected + 1e-9
    assert c.least_depth >= 0.9 * expected
    assert_verified(c, a, b)


def test_circles_in_the_plane():
    a = Compound([Circle((-1, 0), 1), Circle((1, 0), 1)])
    c = contact(a, Circle((0, 1.0), 0.5))
    assert c.depth == pytest.approx(np.sqrt(1.5**2 - 1) - 1.0, abs=1e-8)
    assert c.status in (Status.CERTIFIED, Status.CURVED_BRACKET)
    assert verify(c, a, Circle((0, 1.0), 0.5)).ok


@pytest.mark.parametrize("names", list(combinations_with_replacement(KINDS, 2)), ids="-".join)
def test_the_inner_difference_is_inside_and_reaches_the_surface_where_asked(names):
    rng = np.random.default_rng(5)
    a, height_a = KINDS[names[0]](rng, np.zeros(3), 1.0)
    b, height_b = KINDS[names[1]](rng, np.array([0.3, 0.2, 0.1]), 0.7)
    ways = spread(3, 40)
    inner = inner_difference(a, b, ways)
    many = sphere_points(rng, 2000)
    top = (support_points(inner, many) * many).sum(axis=1)
    assert (top <= height_a(many) + height_b(-many) + 1e-12).all()
    reached = (support_points(inner, ways) * ways).sum(axis=1)
    assert np.allclose(reached, height_a(ways) + height_b(-ways), atol=1e-9)
