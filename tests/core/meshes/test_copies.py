# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles that are in one place several times: an array of offset 0, duplicated faces."""

from __future__ import annotations

import re

import numpy as np
import pytest

from contact_lens.core import Mesh, Relation, Sphere, contact, pairs_intersect, self_crossings, verify
from contact_lens.core.meshes.body import Body
from contact_lens.core.meshes.winding import winding_numbers

from ..assertions import calls_of, peak_memory
from ..generators import rotation
from ..mesh_shapes import Surface, block, flipped, joined, sheet, sphere

TRIANGLE: Surface = (np.array([[-2.0, -1.0, 0.1], [2.0, -1.0, 0.2], [0.0, 2.0, -0.1]]), np.array([[0, 1, 2]]))
FLAT: Surface = (np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[0, 1, 2]]))
BALL = Mesh(*sphere(10))
AGAIN = {"copies of indices", "copies of points", "copies that begin elsewhere", "both sides", "copied cubes"}


def again(kind: str, count: int) -> Mesh:
    """A surface, each of its triangles so many times."""
    points, triangles = TRIANGLE
    if kind == "copies of indices":
        return Mesh(points, np.tile(triangles, (count, 1)))
    if kind == "copied cubes":
        return Mesh(*joined([block((1.5, 1.0, 1.0))] * count))
    soup = np.arange(3 * count).reshape(-1, 3)
    if kind == "copies that begin elsewhere":
        soup = np.array([np.roll(triangle, k % 3) for k, triangle in enumerate(soup)])
    if kind == "both sides":
        soup[: count // 2] = soup[: count // 2, ::-1]
    return Mesh(np.tile(points, (count, 1)), soup)


def verified(a: Mesh, b: Mesh | Sphere) -> None:
    assert verify(contact(a, b), a, b)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("kind", sorted(AGAIN))
def test_copies_take_the_time_of_one(kind: str) -> None:
    """Against a ball, a round shape, and as many copies: as many calls and as little memory as a few copies take."""
    few, mesh = again(kind, 20), again(kind, 2000)
    turn = np.eye(4)
    turn[:3, :3], turn[:3, 3] = rotation(np.random.default_rng(5)), [0.1, 0.05, 0.02]
    contact(Mesh(*TRIANGLE), BALL)  # what is imported late
    round_shape = Sphere([0.0, 0.0, 0.0], 1.0)
    for other, alike in ((BALL, BALL), (round_shape, round_shape), (mesh.transformed(turn), few.transformed(turn))):
        calls, peak = peak_memory(lambda other=other: calls_of(lambda: verified(mesh, other)))
        assert calls < 1.5 * calls_of(lambda alike=alike: verified(few, alike))
        assert peak < 100e6
    assert len(self_crossings(mesh)) <= 12 * 12
    assert pairs_intersect([mesh, mesh.transformed(turn)], [(0, 1)]).all()


@pytest.mark.slow
def test_twenty_thousand_copies_end() -> None:
    few, mesh = again("copies of points", 20), again("copies of points", 20_000)
    for other, alike in ((BALL, BALL), (mesh.translated([0.1, 0.0, 0.0]), few.translated([0.1, 0.0, 0.0]))):
        assert calls_of(lambda other=other: verified(mesh, other)) < 1.5 * calls_of(lambda a=alike: verified(few, a))


@pytest.mark.parametrize("kind", sorted(AGAIN - {"both sides"}))
def test_copies_have_the_contact_of_one(kind: str) -> None:
    one, many = again(kind, 1), again(kind, 7)
    for other in (BALL, BALL.translated([0.2, 0.1, 2.5]), Mesh(*sheet(6, 4.0, [-2.0, -2.0, 0.3]))):
        for swapped in (False, True):
            alone, found = (contact(*((other, mesh) if swapped else (mesh, other))) for mesh in (one, many))
            assert (found.relation, found.status) == (alone.relation, alone.status)
            assert (found.signed_distance, found.lower_bound) == (alone.signed_distance, alone.lower_bound)
            assert np.array_equal(found.normal, alone.normal)
            assert np.array_equal(found.certificate.crossings.pairs, alone.certificate.crossings.pairs)


def test_indices_are_those_of_the_mesh_given() -> None:
    """Of copies the first is named, after triangles that are elsewhere; another one is as good a proof."""
    points, triangles = joined([block((9.0, 1.0, 1.0), (0.0, 0.0, 50.0)), *[TRIANGLE] * 5, block((0.2, 0.2, 3.0))])
    mesh = Mesh(points, triangles)
    found = contact(mesh, BALL)
    assert set(found.certificate.crossings.pairs[:, 0].tolist()) == {12, *found.certificate.crossings.pairs[1:, 0]}
    assert 12 in found.certificate.crossings.pairs[:, 0]
    assert not {13, 14, 15, 16} & set(found.certificate.crossings.pairs[:, 0].tolist())
    assert found.certificate.crossings.pairs[:, 0].max() >= 17
    assert verify(found, mesh, BALL)
    pairs = found.certificate.crossings.pairs.copy()
    pairs[pairs[:, 0] == 12, 0] = 15
    object.__setattr__(found.certificate.crossings, "pairs", pairs)
    assert verify(found, mesh, BALL)
    pairs = pairs.copy()
    pairs[0, 0] = 0  # a triangle far away
    object.__setattr__(found.certificate.crossings, "pairs", pairs)
    assert not verify(found, mesh, BALL)


def test_winding_counts_all_copies() -> None:
    """Three shells outward and two inward are one solid; with as many of both nothing is inside."""
    cube, turned = block(), flipped(block())
    probe = np.array([[0.5, 0.5, 0.5], [0.25, 0.5, 0.75], [2.0, 0.5, 0.5]])
    for outward, inward in ((1, 0), (3, 0), (3, 2), (2, 2), (1, 3), (40, 39)):
        mesh = Mesh(*joined([cube] * outward + [turned] * inward))
        net = outward - inward
        assert np.allclose(winding_numbers(probe, mesh).numbers, [net, net, 0.0], atol=1e-9)
        body = Body.of(mesh)
        assert body.solid == (net != 0)
        assert body.contains(probe).tolist() == [net != 0, net != 0, False]
        assert (abs(winding_numbers(np.tile(probe, (40, 1)), body.mesh).numbers[1]) > 0.5) == (net != 0)
        inner = BALL.scaled(0.1).translated([0.5, 0.5, 0.5])
        found = contact(inner, mesh)
        assert (found.relation is Relation.A_INSIDE_B) == (net != 0)
        assert verify(found, inner, mesh)


def test_duplicated_faces_of_a_cube_stay_a_fault() -> None:
    """An edge of four triangles closes nothing, however often the same triangles are there."""
    points, triangles = block()
    for mesh in (Mesh(points, np.tile(triangles, (2, 1))), Mesh(points, np.concatenate([triangles, triangles[:1]]))):
        assert not Body.of(mesh).solid
        found = contact(mesh, BALL)
        assert any("edges with more than two faces" in str(note) for note in found.notes)
        assert verify(found, mesh, BALL)
    copied = contact(Mesh(*joined([block()] * 2)), BALL)
    assert Body.of(Mesh(*joined([block()] * 2))).solid
    assert [str(note) for note in copied.notes if note.about == "A"] == ["A: 12 duplicate faces"]


def test_copies_that_rest_on_copies_have_one_region() -> None:
    """The area counts once, and patches name triangles and corners of the meshes given."""
    floor = Mesh(*joined([block((9.0, 9.0, 1.0), (50.0, 0.0, 0.0)), *[sheet(4, 4.0, [-2.0, -2.0, 0.0])] * 3]))
    cubes = Mesh(*joined([block((1.0, 1.0, 1.0), (0.1, 0.2, 0.0))] * 5))
    soup = Mesh(cubes.points[cubes.triangles].reshape(-1, 3), np.arange(3 * len(cubes.triangles)).reshape(-1, 3))
    for mesh in (cubes, soup.without_copies):
        found = contact(floor, mesh)
        assert found.relation is Relation.TOUCHING
        assert sum(region.area for region in found.regions) == pytest.approx(1.0)
        for patch in (patch for region in found.regions for patch in region.patches):
            assert 12 <= patch.piece_a < 12 + 32
            for of_a, of_b in patch.region.features:
                assert of_a.vertices == tuple(floor.triangles[patch.piece_a].tolist())
                assert of_b.vertices == tuple(mesh.triangles[patch.piece_b].tolist())
        checked = verify(found, floor, mesh)
        assert checked, checked.failures


def nearly(count: int, of: Surface = TRIANGLE) -> Mesh:
    """Triangles whose corners are in nearly the same three places: they cross each other."""
    points = np.tile(np.array(of[0], dtype=float), (count, 1))
    points += np.random.default_rng(9).normal(size=points.shape) * 1e-12
    return Mesh(points, np.arange(3 * count).reshape(-1, 3))


def test_triangles_in_nearly_one_place_do_not_take_the_square_of_them() -> None:
    """Crossings among them are counted of some, and the note says so."""
    aside = Mesh(*block()).translated([9.0, 0.0, 0.0])
    for count, words in ((1500, r"crosses itself in at least \d+ pairs"), (20, r"crosses itself in \d+ pairs")):
        assert any(re.search(words, str(note)) for note in contact(nearly(count), aside).notes)


def test_crowds_that_lie_on_each_other_have_the_region_of_one() -> None:
    mesh = nearly(25, FLAT)
    other = Mesh(mesh.points + [0.1, 0.1, 0.0], mesh.triangles)
    found = contact(mesh, other, budget=0)
    assert verify(found, mesh, other)
    (region,) = found.regions
    assert region.area == pytest.approx(0.32, rel=1e-3), "of so many it is that of a union of slivers"


@pytest.mark.parametrize("sides", [((0, 1), (0,)), ((0,), (1, 0)), ((0, 1), (0, 1)), ((1, 1, 0), (0, 1, 1))])
def test_bare_triangles_wound_both_ways_have_one_region(sides: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Faces doubled and turned over, as of sheets with two sides, on each other: the area counts once."""
    one, other = (Mesh(*joined([flipped(FLAT) if is_turned else FLAT for is_turned in turned])) for turned in sides)
    for height in (0.0, 1e-7):
        upper = other.translated([0.1, 0.1, height])
        for a, b in ((one, upper), (upper, one)):
            found = contact(a, b)
            (region,) = found.regions
            assert region.area == pytest.approx(0.32)
            checked = verify(found, a, b)
            assert checked, checked.failures
