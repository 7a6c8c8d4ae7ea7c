# SPDX-License-Identifier: GPL-3.0-or-later
"""Depth told by the meshes themselves: the same in every pose and order, never below what is proved.

Oracles: the same pair moved, turned, scaled and swapped; translations tried on the meshes; bisection.
"""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Compound, Contact, ConvexHull, Mesh, Relation, contact, mesh_pieces
from contact_lens.core.meshes.body import Body, are_disjoint
from contact_lens.core.meshes.decomposition import Decomposition
from contact_lens.core.meshes.mesh_sweep import first_impact, gaps_between

from ..assertions import assert_progress, longest_silence
from ..generators import rotation
from ..mesh_shapes import Surface, block, bumpy, prism, sphere, torus
from .test_mesh_contact import UPRIGHT

pytestmark = pytest.mark.slow


def pairs() -> dict[str, tuple[Surface, Surface]]:
    rng = np.random.default_rng(21)
    ring = torus(24, 12)
    found = {
        "ring and ball": (torus(30, 15), sphere(8, [1.2, 0.3, 0.1])),
        "linked rings": (ring, (ring[0] @ UPRIGHT.T + [0.6, 0.02, 0.01], ring[1])),
    }
    for k in range(4):
        other = bumpy(rng)
        found[f"bumpy {k}"] = bumpy(rng), (other[0] @ rotation(rng).T + rng.normal(size=3) * 0.5, other[1])
    return found


PAIRS = pairs()


@pytest.mark.parametrize("name", PAIRS)
def test_depth_is_the_same_in_every_pose(name):
    a, b = PAIRS[name]
    first = contact(Mesh(*a), Mesh(*b))
    assert first.intersects
    assert first.certificate.compound is None
    rng = np.random.default_rng(22)
    for k in range(3):
        turn, shift, size = rotation(rng), rng.normal(size=3) * 4.0, float(10.0 ** rng.uniform(-3, 3))
        if k == 0:
            turn, shift, size = np.eye(3), np.zeros(3), 1.0
        meshes = [Mesh((points @ turn.T + shift) * size, triangles) for points, triangles in (a, b)]
        for c in (contact(*meshes), contact(*meshes[::-1])):
            assert c.relation is first.relation
            assert c.depth == pytest.approx(first.depth * size, rel=1e-9)
            assert c.least_depth == pytest.approx(first.least_depth * size, rel=1e-6)


def tried(c: Contact, a: Mesh, b: Mesh, count: int = 300) -> None:
    """No translation shorter than the least depth separates, and the one told does."""
    one, other = Body.of(a), Body.of(b)
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(count, 3))
    directions = np.concatenate(
        [directions, np.repeat(c.mtv[None], 30, axis=0) + 0.1 * c.depth * rng.normal(size=(30, 3))]
    )
    for direction in directions / np.linalg.norm(directions, axis=1)[:, None]:
        assert not are_disjoint(one, other.translated(direction * (c.least_depth * rng.uniform(0.0, 1.0 - 1e-9))))
    if c.depth > 0.0:
        assert are_disjoint(one, other.translated(c.mtv * (1.0 + 1e-9)))


@pytest.mark.parametrize("name", PAIRS)
def test_no_shorter_translation_separates(name):
    a, b = (Mesh(*surface) for surface in PAIRS[name])
    tried(contact(a, b), a, b)


def test_solids_that_bend_inward_at_many_edges_are_left_off_at_any_time():
    """Some 350 triangles each, of which most edges bend inward: far beyond what is cut into pieces."""
    rng = np.random.default_rng(1)
    (points, triangles), other = bumpy(rng, 10), bumpy(rng, 10)
    a, b = Mesh(points, triangles), Mesh(other[0] + [0.8, 0.2, 0.1], other[1])
    c = contact(a, b)
    assert c.certificate.compound is None
    assert len(triangles) > 300
    stops = np.linspace(0.0, 1.0, 10)

    def search(progress=None) -> Contact:
        return contact(a, b, progress=progress)

    assert_progress(search, start=0.1, stops=stops)
    assert longest_silence(search) < 0.1


def test_rings_part_by_a_little_though_they_stay_linked():
    """The shortest translation is through the hole of each, far from that around the hulls."""
    a, b = PAIRS["linked rings"]
    c = contact(Mesh(*a), Mesh(*b))
    assert c.depth < 2e-3
    assert c.depth == pytest.approx(c.least_depth, rel=1e-6)


def slit_block(width: float) -> tuple[Mesh, Decomposition]:
    """A block with a slit from above, and pieces that fill the slit: they are nowhere farther from it than half of its
    width, but what was in the slit cannot leave sideways any more."""
    w = 0.5 * width
    outline = [(-1, 0), (1, 0), (1, 1), (w, 1), (w, 0.2), (-w, 0.2), (-w, 1), (-1, 1)]
    points, triangles = prism(outline, [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)], (-1.0, 0.0))
    mesh = Mesh(points[:, [0, 2, 1]] * [1, -1, 1], triangles)  # upright
    halves = [ConvexHull(block((1.0, 1.0, 1.0), (x, 0.0, 0.0))[0]) for x in (-1.0, 0.0)]
    return mesh, Decomposition(tuple(halves), False, 0.5001 * width, 2, "halves")


def test_pieces_that_fit_but_are_not_exact_prove_nothing():
    slit, halves = slit_block(2e-6)
    assert slit.is_closed
    # In the slit, a tenth of a micrometre into the left wall: to be moved by as much to the right.
    blade = Mesh(*block((5e-7, 1.0, 2.0), (-1.1e-6, 0.0, 0.5)))
    of_pieces = contact(Compound(halves.pieces), ConvexHull(blade.points))
    assert of_pieces.least_depth > 0.1
    c = contact(slit, blade, pieces_a=halves)
    assert c.depth <= 1.01e-7
    assert c.certificate.compound is None
    tried(c, slit, blade, 50)
    assert are_disjoint(Body.of(slit), Body.of(blade).translated(np.array([1.01e-7, 0.0, 0.0])))


def test_single_precision_pieces_keep_their_claims():
    """Dents and bends as large as float32 leaves them."""
    rng = np.random.default_rng(6)
    for _ in range(6):
        meshes = []
        for shift in (np.zeros(3), rng.uniform(-0.4, 0.4, size=3)):
            points, triangles = block((2.0, 1.0, 1.0)) if rng.random() < 0.5 else sphere(5)
            points = (points @ rotation(rng).T + shift).astype(np.float32).astype(np.float64)
            meshes.append(Mesh(points, triangles))
        c = contact(*meshes)
        tried(c, *meshes, 60)
        assert c.depth - c.least_depth <= 1e-4 * c.depth


def test_a_moving_mesh_is_stopped_where_bisection_says():
    rng = np.random.default_rng(4)
    stopped = 0
    for _ in range(30):
        a, b = Mesh(*bumpy(rng, 5)), Mesh(*bumpy(rng, 5))
        start = rng.normal(size=3)
        start *= 4.0 / np.linalg.norm(start)
        direction = -start + rng.normal(size=3) * 0.8
        found = first_impact(a, b, start, direction)
        bodies = Body(a, False), Body(b, False)
        if found is None:
            assert all(
                are_disjoint(bodies[0], bodies[1].translated(start + s * direction)) for s in np.linspace(0, 1, 100)
            )
            continue
        stopped += 1
        for before in np.linspace(0.0, 1.0, 30):
            assert are_disjoint(bodies[0], bodies[1].translated(start + (found.fraction - 1e-9) * before * direction))
        assert not are_disjoint(bodies[0], bodies[1].translated(start + (found.fraction + 1e-9) * direction))
        assert found.normal @ direction < 0.0
        at = start + found.fraction * direction
        assert found.normal @ at == pytest.approx(found.offset, abs=1e-12)
    assert stopped > 15


def test_gaps_along_a_way():
    """A small block on its way through the hole of a ring, from within its side."""
    ring, small = Mesh(*torus(48, 24)), Mesh(*block((0.1, 0.1, 0.1), (-1.05, -0.05, -0.05)))
    found = gaps_between(ring, small, np.zeros(3), np.array([4.0, 0.0, 0.0]), 1e-12)
    # Out of the side's inside the surfaces do not meet; then in the hole, in the other side, beyond it.
    expected = [0.0, 0.35 / 4.0, (0.7 + 1.05) / 4.0, (1.35 + 1.0) / 4.0]
    assert len(found) >= len(expected)
    for fraction in expected[1:2]:
        assert min(abs(fraction - gap) for gap in found) < 0.01


def test_large_meshes_tell_how_far_they_are_and_can_be_cancelled():
    rng = np.random.default_rng(3)
    points, triangles = sphere(72)
    meshes = [Mesh(points * rng.uniform(0.97, 1.03, size=(len(points), 1)) + x, triangles) for x in (0.0, 0.9)]
    pieces = [mesh_pieces(mesh) for mesh in meshes]

    def touch(progress=None) -> Contact:
        return contact(*meshes, pieces_a=pieces[0], pieces_b=pieces[1], progress=progress)

    c = touch()
    assert c.relation is Relation.PENETRATING
    assert 0.3 < c.least_depth < c.depth < 0.7
    assert_progress(touch, start=0.1, stops=(0.75, 0.95))
    assert longest_silence(touch) < 0.1
