# SPDX-License-Identifier: GPL-3.0-or-later
"""Prisms of which the turn was applied in single precision: their faces lean against each other by 1e-7, and are cut as
they are. Oracles: sums of solid angles, distances from triangles, what meets after a translation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Box, Compound, ConvexHull, Mesh, contact, crossing_triangles, mesh_pieces
from contact_lens.core.decomposition.mesh_pieces import exact_pieces
from contact_lens.core.meshes.point_distance import points_to_mesh

from ..core.assertions import assert_lies_found, assert_verified
from ..core.decomposition.test_decompose_mesh import extruded
from ..core.decomposition.test_decompose_polygon import L, comb
from ..core.generators import rotation
from ..core.mesh_shapes import Surface
from ..core.meshes.test_winding import summed

U = np.array([[0, 0], [3, 0], [3, 2], [2.5, 2], [2.5, 0.5], [0.5, 0.5], [0.5, 2], [0, 2]], float)
T = np.array([[0, 0], [1, 0], [1, 2], [2, 2], [2, 3], [-1, 3], [-1, 2], [0, 2]], float)


def gear(teeth: int, root: float = 0.7) -> np.ndarray:
    turn = 2.0 * np.pi * (np.arange(teeth)[:, None] + [0.0, 0.3, 0.5, 0.8]).ravel() / teeth
    return np.tile([1.0, 1.0, root, root], teeth)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)


OUTLINES = {"L": L, "U": U, "T": T, "comb": comb(3), "gear": gear(5)}


def single(points: np.ndarray) -> np.ndarray:
    return points.astype(np.float32).astype(np.float64)


def turned(surface: Surface, rng: np.random.Generator, scale: float = 1.0, move: object = 0.0) -> Mesh:
    points = surface[0] - surface[0].mean(axis=0)
    return Mesh(single(points @ rotation(rng).T * scale + move), surface[1])


@pytest.mark.parametrize("name", OUTLINES)
def test_no_piece_reaches_out_of_its_solid(name):
    rng = np.random.default_rng(471)
    for scale in (1e-3, 1.0, 1e4):
        mesh = turned(extruded(OUTLINES[name], 0.5), rng, scale, scale * rng.uniform(-3, 3, 3))
        found = exact_pieces(mesh)[0]
        assert found.exact
        corners = np.concatenate([piece.vertices for piece in found.pieces])
        outside = corners[np.abs(summed(corners, (mesh.points, mesh.triangles))) < 0.5]
        assert points_to_mesh(outside, mesh).distance.max(initial=0.0) <= 64 * 2.0**-52 * mesh.magnitude
        assert abs(sum(piece.volume for piece in found.pieces) / mesh.volume - 1.0) <= 1e-12


def pairs(count: int):
    """Pairs that are deep in each other, that cross, or that a few corners reach into."""
    rng = np.random.default_rng(38)
    names = list(OUTLINES)
    for k in range(count):
        scale = float(10.0 ** rng.uniform(-3, 4))
        first, second = (extruded(OUTLINES[names[i]], 0.5) for i in rng.integers(len(names), size=2))
        a, b = turned(first, rng, scale), turned(second, rng, scale)
        direction = rotation(rng)[0]
        least = float((a.points @ direction).max() - (b.points @ direction).min())
        apart = (0.0, 0.5 * least, least * (1.0 - 1e-4 * rng.random()))[k % 3]
        yield a, Mesh(single(b.points + apart * direction), b.triangles)


def assert_honest(a: Mesh, b: Mesh) -> None:
    told = contact(a, b)
    assert_verified(told, a, b)
    farther = Mesh(b.points + told.mtv + 1e-5 * a.extent * told.normal, b.triangles)
    assert told.notes or not len(crossing_triangles(a, farther))


def test_honest_depths_are_verified():
    for a, b in pairs(2):
        assert_honest(a, b)


@pytest.mark.slow
def test_honest_depths_of_many_prisms_are_verified():
    for a, b in pairs(75):
        assert_honest(a, b)


def resting(name: str, other: str, seed: int):
    """A prism on another as modelled, and the pair turned in single precision: its faces are in many planes then."""
    rng = np.random.default_rng(seed)
    (below, faces), (above, others) = (extruded(OUTLINES[of], 0.5) for of in (name, other))
    scale = 1.0 / np.ptp(below, axis=0).max()
    below, above = below * scale, above * scale + [*np.round(rng.uniform(-0.3, 0.3, 2), 1), 0.0]
    above[:, 2] += below[:, 2].max() - above[:, 2].min()
    turn, move = rotation(rng).T, 10.0 * rng.uniform(-3, 3, 3)
    yield Mesh(below, faces), Mesh(above, others)
    yield Mesh(single(below @ turn + move), faces), Mesh(single(above @ turn + move), others)


def assert_same_area(name: str, other: str, seed: int) -> None:
    modelled, moved = resting(name, other, seed)
    told = contact(*moved)
    assert_verified(told, *moved)
    assert np.isclose(told.area, contact(*modelled).area, rtol=1e-4)


def test_patches_that_single_precision_tilts_have_the_area_of_their_union():
    assert_same_area("comb", "comb", 5)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("gear", 0), ("comb", 4)])
def test_many_patches_that_single_precision_tilts_have_the_area_of_their_union(name, seed):
    assert_same_area(name, name, seed)


def test_a_piece_that_reaches_out_by_less_than_single_precision_is_found():
    rng = np.random.default_rng(5)
    a = turned(extruded(T, 0.5), rng)
    b = Mesh(turned(extruded(L, 0.5), rng).points + [0.5, 0.4, 0.1], extruded(L, 0.5)[1])
    told = contact(a, b)
    assert_verified(told, a, b)
    own = told.certificate.pieces_a
    for k, piece in list(enumerate(own.pieces))[::3]:
        spiked = piece.vertices + 1e-8 * (piece.vertices - piece.center)
        pieces = (*own.pieces[:k], ConvexHull(spiked), *own.pieces[k + 1 :])
        found = contact(Compound(pieces), Compound(told.certificate.pieces_b.pieces))
        names = ("signed_distance", "normal", "ties", "lower_bound", "upper_bound", "regions", "iterations", "status")
        forged = {of: getattr(found, of) for of in (*names, "point_on_a", "point_on_b")}
        lie = {**forged, "compound": found, "pieces_a": replace(own, pieces=pieces)}
        assert_lies_found(told, a, b, [("the pieces are those of their meshes", lie)])


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("teeth", "root", "seed"), [(10, 0.84, 7), (7, 0.67, 17)])
def test_planes_that_nearly_coincide_meet_in_no_corner_of_a_piece(teeth, root, seed):
    """With too many edges that bend inward for exact pieces, they met beyond the box of the mesh."""
    mesh = turned(extruded(gear(teeth, root), 0.5), np.random.default_rng(seed), 1.0, [9.0, -3.0, -6.0])
    other = Box(mesh.points[0], (0.3, 0.3, 0.3))
    told = contact(mesh, other, pieces_a=mesh_pieces(mesh))
    assert_verified(told, mesh, other)
