# SPDX-License-Identifier: GPL-3.0-or-later
"""Depth of what is not convex, and its bounds, are the same in every pose, order and size, though the budget ends the
search.

Oracle: the same pair moved, turned, scaled and swapped.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from contact_lens.core import (
    Capsule,
    Compound,
    ConvexHull,
    Mesh,
    Relation,
    Sphere,
    Status,
    contact,
    mesh_pieces,
)
from contact_lens.core.budget import Budget
from contact_lens.core.compounds.compound_contact import compound_contact
from contact_lens.core.compounds.pair_frame import pair_frame
from contact_lens.core.mesh_contact.mesh_contact import mesh_contact
from contact_lens.core.meshes.mesh_sweep import gaps_between

from ..assertions import assert_verified
from ..generators import rotation
from ..mesh_shapes import Surface, block, bumpy, prism, torus

MOTIONS = [(0.0, 1.0, True), (3.0, 1.0, False), (3.0, 1e3, True), (0.5, 1e-3, False)]
"""How far moved, how many times as large, and whether swapped; all but the first turned, too."""


def motions():
    rng = np.random.default_rng(3)
    for shift, size, swapped in MOTIONS:
        turn = rotation(rng) if shift else np.eye(3)
        yield turn, rng.normal(size=3) * shift, size, swapped


def ell() -> Surface:
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
    return prism(outline, [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])


def dented_block() -> Surface:
    points, triangles = block((2.0, 2.0, 2.0))
    top = (points[triangles][:, :, 2] == 2.0).all(axis=1)
    around = [1, 5, 7, 3]
    dent = [[around[k], around[(k + 1) % 4], 8] for k in range(4)]
    return np.concatenate([points, [[1.0, 1.0, 0.8]]]), np.concatenate([triangles[~top], dent])


def rough(seed: int, rings: int) -> Surface:
    return bumpy(np.random.default_rng(seed), rings, 0.75, 1.15)


def turned(surface: Surface, seed: int, move) -> Surface:
    points, triangles = surface
    return points @ rotation(np.random.default_rng(seed)).T + move, triangles


PAIRS = {
    "ells": (ell(), turned(ell(), 1, (0.5, 0.4, 0.3)), 4_000),
    "ells along the axes": (ell(), (ell()[0] + (0.5, 0.4, 0.3), ell()[1]), 4_000),
    "dented blocks": (dented_block(), turned(dented_block(), 2, (0.4, 0.9, 1.2)), 4_000),
    "a dented block and a ring, the budget ends": (dented_block(), turned(torus(12, 6), 3, (1.0, 1.0, 1.7)), 2),
    "a bumpy ball and an ell": (rough(3, 7), turned(ell(), 4, (0.2, 0.4, 0.3)), 500),
    "a bumpy ball and a ring, the budget ends": (rough(4, 4), turned(torus(8, 5), 5, (0.5, 0.4, 0.3)), 10),
    "bumpy balls": (rough(5, 9), turned(rough(6, 8), 6, (0.4, 0.5, 0.3)), 1_000),
}
SWAPPED = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_of_meshes(name):
    a, b, nodes = PAIRS[name]
    first = mesh_contact(Mesh(*a), Mesh(*b), budget=Budget(nodes))
    assert first.depth > 0.0
    assert_verified(first, Mesh(*a), Mesh(*b))
    if "the budget ends" in name:
        assert first.status is Status.BRACKET
    for turn, shift, size, swapped in motions():
        meshes = [Mesh((points @ turn.T + shift) * size, triangles) for points, triangles in (a, b)]
        if swapped:
            meshes.reverse()
        c = mesh_contact(*meshes, budget=Budget(nodes))
        assert c.relation is (SWAPPED.get(first.relation, first.relation) if swapped else first.relation)
        assert c.depth == pytest.approx(first.depth * size, rel=1e-9)
        assert c.least_depth == pytest.approx(first.least_depth * size, rel=1e-9)
        assert -c.lower_bound == pytest.approx(-first.lower_bound * size, rel=1e-9)
        assert c.iterations == first.iterations


@pytest.mark.parametrize("name", PAIRS)
def test_bounds_of_any_budget_are_valid_and_not_far_apart(name):
    a, b = (Mesh(*surface) for surface in PAIRS[name][:2])
    known = contact(a, b)
    for seconds in (0.0, 1e-9):
        c = contact(a, b, budget=seconds)
        assert c.status in (Status.BRACKET, Status.CERTIFIED)
        assert_verified(c, a, b)
        assert known.least_depth <= c.depth * (1.0 + 1e-9)
        assert 0.6 * c.depth < c.least_depth <= known.depth * (1.0 + 1e-9)


def cloud(seed: int, count: int) -> Compound:
    rng = np.random.default_rng(seed)
    return Compound([ConvexHull(rng.normal(size=(10, 3)) * 0.15 + rng.normal(size=3) * 0.5) for _ in range(count)])


def bricks(seed: int, count: int) -> Compound:
    rng = np.random.default_rng(seed)
    boxes = [np.sort(rng.uniform(-1.0, 1.0, size=(2, 3)), axis=0) for _ in range(count)]
    return Compound([ConvexHull(list(product(*box.T))) for box in boxes])


COMPOUNDS = {
    "clouds": (cloud(1, 20), cloud(2, 20), 200),
    "clouds, no budget": (cloud(1, 20), cloud(2, 20), 0),
    "bricks": (bricks(1, 12), bricks(2, 12), 0),
    "bricks and a cloud": (bricks(3, 15), cloud(4, 15), 100),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPOUNDS)
def test_of_compounds_whose_search_the_budget_ends(name):
    a, b, nodes = COMPOUNDS[name]
    first = compound_contact(a, b, budget=Budget(nodes))
    assert first.status is Status.BUDGET
    assert_verified(first, a, b)
    for turn, shift, size, swapped in motions():
        pair = [Compound([ConvexHull((p.vertices @ turn.T + shift) * size) for p in shape.pieces]) for shape in (a, b)]
        if swapped:
            pair.reverse()
        c = compound_contact(*pair, budget=Budget(nodes))
        assert c.relation is (SWAPPED.get(first.relation, first.relation) if swapped else first.relation)
        assert c.status is first.status
        assert c.depth == pytest.approx(first.depth * size, rel=1e-9)
        assert c.least_depth == pytest.approx(first.least_depth * size, rel=1e-9)
        normal = turn @ first.normal * (-1.0 if swapped else 1.0)
        assert np.allclose(c.normal, normal, atol=1e-7)


@pytest.mark.slow
def test_the_order_of_pieces_and_corners_does_not_matter():
    a, b = cloud(1, 20), cloud(2, 20)
    first = compound_contact(a, b, budget=Budget(200))
    rng = np.random.default_rng(8)
    mixed = Compound([ConvexHull(piece.vertices[rng.permutation(len(piece.vertices))]) for piece in a.pieces[::-1]])
    c = compound_contact(mixed, b, budget=Budget(200))
    assert c.depth == pytest.approx(first.depth, rel=1e-9)
    assert c.least_depth == pytest.approx(first.least_depth, rel=1e-9)


def test_axes_turn_with_the_pair_and_point_from_a_to_b():
    rng = np.random.default_rng(9)
    for a, b in ((cloud(1, 3), cloud(2, 3)), (bricks(1, 3), cloud(2, 3)), (bricks(1, 1), bricks(2, 2))):
        axes = pair_frame(a.pieces, b.pieces)
        assert np.allclose(axes @ axes.T, np.eye(3), rtol=0.0, atol=1e-15)
        assert np.allclose(pair_frame(b.pieces, a.pieces), -axes, atol=1e-12)
        turn, shift = rotation(rng), rng.normal(size=3)
        one, two = ([ConvexHull(p.vertices @ turn.T + shift) for p in shape.pieces] for shape in (a, b))
        assert np.allclose(pair_frame(one, two), axes @ turn.T, atol=1e-9)


def test_axes_of_boxes_are_theirs():
    turn = rotation(np.random.default_rng(10))
    sizes = ((3.0, 2.0, 1.0), (0, 0, 0)), ((1.0, 1.0, 1.0), (0.5, 0.6, 0.7))
    boxes = [ConvexHull(block(size, low)[0] @ turn.T) for size, low in sizes]
    axes = pair_frame(boxes[:1], boxes[1:])
    assert np.allclose(np.sort(np.abs(axes @ turn).ravel()), [0] * 6 + [1] * 3, atol=1e-12)


@pytest.mark.parametrize(
    "pieces",
    [
        [Sphere((0, 0, 0), 1)],
        [Sphere((0, 0, 0), 1), Sphere((1, 2, 3), 1)],
        [Capsule((0, 0, 0), (0, 0, 2), 1)],
        [ConvexHull([[0, 0, 0]])],
        [ConvexHull([[0, 0], [4, 0], [4, 1]])],
    ],
)
def test_there_are_axes_of_any_pieces(pieces):
    for other in (pieces, [piece.translated(np.full(pieces[0].dim, 0.25)) for piece in pieces]):
        axes = pair_frame(pieces, other)
        assert np.allclose(axes @ axes.T, np.eye(3), rtol=0.0, atol=1e-15)
        if pieces[0].dim == 2:
            assert np.array_equal(np.abs(axes[2]), [0.0, 0.0, 1.0])
            assert not axes[:2, 2].any()


@pytest.mark.slow
def test_a_ring_has_the_same_pieces_in_every_pose():
    """Its flat sides are two triangles each, which rounding turns against each other."""
    points, triangles = torus(12, 6, 0.8, 0.25)
    volumes = None
    rng = np.random.default_rng(11)
    for k in range(4):
        turn = rotation(rng) if k else np.eye(3)
        found = mesh_pieces(Mesh(points @ turn.T + rng.normal(size=3), triangles))
        assert found.exact
        own = np.sort([piece.volume for piece in found.pieces])
        volumes = own if volumes is None else volumes
        assert np.allclose(own, volumes, rtol=1e-9, atol=0.0)


def test_gaps_are_the_same_in_every_pose():
    a, b = rough(7, 8), turned(rough(8, 8), 7, (0.3, 0.2, 0.1))
    rng = np.random.default_rng(12)
    way = np.array([1.0, 0.7, 0.3])
    first = None
    for k in range(4):
        turn = rotation(rng) if k else np.eye(3)
        meshes = (Mesh(points @ turn.T + (0, 0, k), triangles) for points, triangles in (a, b))
        found = gaps_between(*meshes, np.zeros(3), turn @ (8.0 * way), 1e-12)
        first = found if first is None else first
        assert len(found)
        assert found == pytest.approx(first, rel=1e-9)
