# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations that end in a notch: whoever moves a little farther than they say must stay apart, or be found."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from contact_lens.core import Capsule, Compound, Contact, ConvexHull, Mesh, contact, verify
from contact_lens.core.budget import Budget
from contact_lens.core.mesh_contact.mesh_contact import mesh_contact
from contact_lens.core.meshes.body import Body, are_disjoint
from contact_lens.core.meshes.separation import SeparationSearch
from contact_lens.core.note import NOTCH

from ..assertions import assert_verified
from ..generators import rotation
from ..mesh_shapes import Surface, block, bumpy, notch_pair, torus, voxels

pytestmark = pytest.mark.slow

TOLERANCE = 1e-5


def assert_stays_clear(c: Contact, a: Mesh, b: Mesh) -> None:
    """Moved by the translation and by up to what rounding to three digits adds, B shares nothing with A."""
    farther = max(1e-5 * min(a.extent, b.extent), 1e-3 * c.depth)
    one, other = Body.of(a), Body.of(b)
    for more in (1e-5, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0):
        assert are_disjoint(one, other.translated(c.mtv + more * farther * c.normal)), more


def test_a_translation_out_of_a_notch_is_preferred_and_verified():
    a, b = notch_pair()
    rng = np.random.default_rng(3)
    for k in range(3):
        turn = rotation(rng) if k else np.eye(3)
        shift = rng.normal(size=3) * 3.0 if k else np.zeros(3)
        meshes = [Mesh(points @ turn.T + shift, triangles) for points, triangles in (a, b)]
        for one, other in (meshes, meshes[::-1]):
            c = contact(one, other)
            assert NOTCH not in c.notes
            assert_stays_clear(c, one, other)
            assert c.depth == pytest.approx(0.65628242, rel=1e-4), "hardly longer than into the notch"
            assert_verified(c, one, other)


def test_one_that_ends_in_a_notch_and_does_not_say_so_is_refused():
    a, b = (Mesh(*surface) for surface in notch_pair())
    found = contact(a, b)
    search = SeparationSearch(Body.of(a), Body.of(b), Budget(0))
    search.slide_to_minimum(found.mtv, found.depth)
    into, length = search.best, float(np.linalg.norm(search.best))
    assert 0.0 < found.depth - length < 1e-4 * length
    normal = into / length
    ends = replace(found, normal=normal, ties=normal[None], signed_distance=-length, lower_bound=-length)
    names = [check.name for check in verify(ends, a, b).failures]
    assert names == ["moved a little farther they stay apart"]
    assert verify(replace(ends, notes=(*found.notes, NOTCH)), a, b).ok
    for depth in (0.99 * length, 0.3):
        short = replace(ends, signed_distance=-depth, lower_bound=-depth, notes=(*found.notes, NOTCH))
        assert "the translation separates the meshes" in [check.name for check in verify(short, a, b).failures]


SLOT = Mesh(*voxels([(x, 0, z) for x in (0, 1, 3, 4) for z in range(4)] + [(2, 0, 0)]))
"""A block with a slot of 1 x 1 x 3."""
TOOTH = Mesh(*voxels([(0, 0, z) for z in range(4)]))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("room", [0.0, 1e-6, 2e-4, 1e-2])
def test_a_tooth_beside_a_slot_that_it_fits_exactly(room, swapped, turned):
    """Sideways into the slot is the shortest way; farther the same way it is in the other wall at once."""
    turn, shift = np.eye(3), np.zeros(3)
    if turned:
        turn, shift = rotation(np.random.default_rng(8)), np.array([3.0, -2.0, 1.0])
    tooth = TOOTH.points * [1.0 - room, 1.0, 1.0] + [1.75, 0.0, 1.5]
    slot, tooth = Mesh(SLOT.points @ turn.T + shift, SLOT.triangles), Mesh(tooth @ turn.T + shift, TOOTH.triangles)
    a, b = (tooth, slot) if swapped else (slot, tooth)
    c = contact(a, b)
    assert c.depth == pytest.approx(0.25, rel=1e-6)
    assert c.mtv == pytest.approx((-0.25 if swapped else 0.25) * turn[:, 0], abs=1e-6)
    assert (NOTCH in c.notes) == (room < 1e-3)
    assert_verified(c, a, b)
    if room < 1e-3:
        silent = tuple(note for note in c.notes if note != NOTCH)
        assert not verify(replace(c, notes=silent), a, b).ok
    else:
        assert verify(replace(c, notes=(*c.notes, NOTCH)), a, b).ok


@pytest.mark.parametrize("swapped", [False, True])
def test_compounds_say_it_too(swapped):
    walls = [block((2.0, 1.0, 4.0), (x, 0.0, 0.0))[0] for x in (0.0, 3.0)]
    slot = Compound([ConvexHull(points) for points in (*walls, block((1.0, 1.0, 1.0), (2.0, 0.0, 0.0))[0])])
    for room in (0.0, 2e-4, 1e-2):
        tooth = ConvexHull(block((1.0 - room, 1.0, 4.0), (1.75, 0.0, 1.5))[0])
        a, b = (tooth, slot) if swapped else (slot, tooth)
        c = contact(a, b)
        assert c.depth == pytest.approx(0.25)
        assert (NOTCH in c.notes) == (room < 1e-3)
        assert_verified(c, a, b)
        if room < 1e-3:
            assert not verify(replace(c, notes=()), a, b).ok


def test_of_translations_as_short_the_one_that_stays_clear_is_told():
    """A tooth in a wall as thick as itself, on one side a slot that it fits exactly, on the other nothing."""
    wall = [block((1.0, 3.0, 4.0), (x, 0.0, 0.0))[0] for x in (0.0, 2.0)]
    for mirrored in (1.0, -1.0):
        slot = Compound([ConvexHull(points * [mirrored, 1.0, 1.0]) for points in wall])
        tooth = ConvexHull(block((1.0, 3.0, 4.0), (0.0, 0.0, 0.0))[0] * [mirrored, 1.0, 1.0])
        c = contact(slot, tooth)
        assert c.mtv == pytest.approx([-mirrored, 0.0, 0.0], abs=1e-9)
        assert NOTCH not in c.notes
        assert_verified(c, slot, tooth)


@pytest.mark.parametrize("shape", ["hull", "rod"])
@pytest.mark.parametrize("room", [2e-4, 1e-2])
def test_a_gap_as_narrow_as_rounding_to_three_digits_is_a_notch_for_curved_shapes_too(shape, room):
    """A rod along the slot, that fits into it but for a little room; also where the slot is no mesh with pieces."""
    rod = Capsule((2.25, 0.5, 2.0), (2.25, 0.5, 3.0), 0.5 - 0.5 * room)
    depth = 0.25 - (0.5 * room if shape == "rod" else 0.0)
    tooth = rod if shape == "rod" else Mesh(TOOTH.points * [1.0 - room, 1.0, 1.0] + [1.75, 0.0, 1.5], TOOTH.triangles)
    for budget in (None, 0):
        c = contact(SLOT, tooth, budget=budget)
        assert c.depth == pytest.approx(depth, abs=room)
        assert (NOTCH in c.notes) == (room < 1e-3), budget
        assert_verified(c, SLOT, tooth)


@pytest.mark.parametrize(("up", "clear"), [(0.255, True), (0.3, False)])
def test_a_clear_translation_a_little_longer_is_preferred_to_one_into_a_notch(up, clear):
    """Upward the tooth leaves the slot of which it enters the wall; sideways into the slot is 2 or 17 % shorter."""
    tooth = Mesh(TOOTH.points + [1.75, 0.0, 4.0 - up], TOOTH.triangles)
    search = SeparationSearch(Body.of(SLOT), Body.of(tooth), Budget(0))
    room = np.array([0.0, 0.0, 1e-9])
    assert search.separates(np.array([0.0, 0.0, up]) + room)
    if search.length > 0.25 + 1e-6:
        search.best, search.length = np.array([0.25, 0.0, 0.0]), 0.25
    found = search.find_clear(1e-3, 0.25 * 1.03)
    assert (found is not None) == clear
    if clear:
        assert found == pytest.approx([0.0, 0.0, up], abs=1e-6)
    exact = contact(SLOT, tooth)
    assert exact.depth == pytest.approx(0.25), "but no depth that is proved is made longer"
    assert NOTCH in exact.notes


def solids(rng: np.random.Generator, k: int) -> Surface:
    if k % 3 == 0:
        return torus(12, 6)
    if k % 3 == 1:
        return bumpy(rng, int(rng.integers(4, 7)))
    cells = [(0, 0, 0)]
    while len(cells) < 5:
        cell = list(cells[rng.integers(len(cells))])
        cell[rng.integers(3)] += rng.choice([-1, 1])
        if tuple(cell) not in cells:
            cells.append(tuple(cell))
    mesh = Mesh(*voxels(cells))
    return mesh.points - mesh.points.mean(axis=0), mesh.triangles


def test_who_moves_by_a_little_more_stays_apart_or_is_told_and_no_depth_is_longer_than_that_of_the_hulls():
    rng = np.random.default_rng(17)
    silent, kinds = 0, [int(k) for k in rng.integers(0, 3, 11)]
    for i, j in pairwise(kinds):
        (points, triangles), other = solids(rng, i), solids(rng, j)
        a = Mesh(points, triangles)
        b = Mesh(other[0] @ rotation(rng).T + rng.normal(size=3) * 0.4, other[1])
        hulls = contact(ConvexHull(a.points), ConvexHull(b.points)).depth
        for one, two in ((a, b), (b, a)):
            for nodes in (0, 400):
                c = mesh_contact(one, two, budget=Budget(nodes))
                if c.depth == 0.0:
                    continue
                assert c.depth <= hulls * (1.0 + 1e-9) + 1e-12
                assert_verified(c, one, two)
                if NOTCH not in c.notes:
                    silent += 1
                    assert_stays_clear(c, one, two)
    assert silent > 25
