# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes whose corners are torn apart a little: closed within the promise's margin, and beyond with advice."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from contact_lens.core import Mesh, Relation, contact, pairs_intersect, verify
from contact_lens.core.meshes.body import Body
from contact_lens.core.meshes.near_points import near_clusters

from ..generators import rotation
from ..mesh_shapes import Surface, block, bumpy, sphere

RNG = np.random.default_rng(7)
SURFACES = {"block": block((1.0, 1.3, 0.7)), "sphere": sphere(6), "bumpy": bumpy(RNG, 5)}
OTHER = Mesh(*sphere(5, (0.6, 0.5, 0.4)))


def soup(surface: Surface, far: float) -> Mesh:
    """Every triangle with corners of its own, those of one corner as far apart at most."""
    points, triangles = surface
    corners = np.asarray(points, dtype=float)[triangles].reshape(-1, 3)
    steps = RNG.normal(size=corners.shape)
    steps *= 0.5 * far / np.linalg.norm(steps, axis=1, keepdims=True)
    return Mesh(corners + steps, np.arange(len(corners)).reshape(-1, 3))


def cut(surface: Surface, far: float) -> Mesh:
    """One corner of one triangle is as far from the others."""
    points, triangles = np.asarray(surface[0], dtype=float), np.array(surface[1])
    step = RNG.normal(size=3)
    corner = points[triangles[0, 0]] + far * step / np.linalg.norm(step)
    triangles[0, 0] = len(points)
    return Mesh(np.concatenate([points, [corner]]), triangles)


def notes_of(mesh: Mesh, other: Mesh = OTHER) -> list[str]:
    found = contact(mesh, other, budget=0.0)
    assert verify(found, mesh, other)
    return [note.words() for note in found.notes if note.about == "A"]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("tear", [soup, cut])
@pytest.mark.parametrize("name", ["block", "sphere", "bumpy"])
def test_corners_within_the_margin_close_a_mesh(name: str, tear) -> None:
    """The answer is that of the whole mesh, to the slit, and bounds have room for it."""
    whole = Mesh(*SURFACES[name])
    for times in (0.1, 0.9):
        mesh = tear(SURFACES[name], times * whole.margin)
        given = mesh.points.copy()
        for other in (OTHER, OTHER.translated([4.0, 0.0, 0.0]), OTHER.scaled(0.05)):
            for swapped in (False, True):
                pair, of_whole = ((other, m) if swapped else (m, other) for m in (mesh, whole))
                found, wanted = contact(*pair, budget=0.0), contact(*of_whole, budget=0.0)
                assert found.relation is wanted.relation
                assert abs(found.signed_distance - wanted.signed_distance) <= 1e-6 * whole.extent
                slit = Body.of(mesh).slit
                assert 0.3 * times * whole.margin <= slit <= whole.margin
                assert found.upper_bound - found.signed_distance >= slit - 1e-15
                assert found.signed_distance - found.lower_bound >= slit - 1e-15
                checked = verify(found, *pair)
                assert checked, checked.failures
                tight = replace(found, lower_bound=found.signed_distance, upper_bound=found.signed_distance)
                assert not verify(tight, *pair)
        edges = 4 if tear is cut else 3 * len(whole.triangles)
        (note,) = (note for note in notes_of(mesh) if "joining" in note)
        assert note.startswith(f"A: closed after joining {edges} open edges at corners up to ")
        assert np.array_equal(mesh.points, given)
        assert not mesh.is_closed


def test_corners_beyond_the_margin_leave_it_open_and_name_what_closes_it() -> None:
    """Up to the contact tolerance; the distance named does close it, and half of it does not."""
    for surface in (SURFACES["block"], SURFACES["bumpy"]):
        whole = Mesh(*surface)
        for far in (1.1 * whole.margin, 1e3 * whole.margin, 0.8e-5 * whole.diameter):
            mesh = cut(surface, far)
            assert not Body.of(mesh).solid
            (note,) = (note for note in notes_of(mesh) if "welded" in note)
            distance = float(re.findall(r"Mesh.welded\((.*?)\)", note)[0])
            assert far * (1.0 - 1e-6) <= distance <= 1.01 * far
            closed = mesh.welded(distance)
            assert closed.is_closed
            assert not mesh.welded(0.5 * distance).is_closed
            assert contact(closed, OTHER, budget=0.0).relation is contact(whole, OTHER, budget=0.0).relation
            twice = mesh.transformed(np.diag([2.0, 2.0, 2.0, 1.0]))
            (note,) = (note for note in notes_of(twice) if "welded" in note)
            assert twice.welded(float(re.findall(r"Mesh.welded\((.*?)\)", note)[0])).is_closed
        for far in (1.2e-5 * whole.diameter, 1e-3 * whole.extent):
            assert not any("welded" in note or "joining" in note for note in notes_of(cut(surface, far)))
            assert not Body.of(cut(surface, far)).solid


def test_what_is_open_stays_open() -> None:
    """A missing face, and a long crack that is narrow only at its ends."""
    points, triangles = sphere(8)
    assert not Body.of(Mesh(points, triangles[1:])).solid
    crack = Mesh(*block((1.0, 1.0, 1.0)))
    mesh = cut((crack.points, crack.triangles), 0.05)
    assert not Body.of(mesh).solid


def test_a_soup_of_single_precision_is_closed_by_its_resolution() -> None:
    """A turned cube from an STL file, of which every triangle was rounded by itself."""
    points, triangles = block((1.0, 1.3, 0.7))
    turned = points @ rotation(np.random.default_rng(3)).T + [3.0, -2.0, 5.0]
    corners = turned[triangles] + np.random.default_rng(4).uniform(-2e-7, 2e-7, (len(triangles), 3, 3))
    single = corners.astype(np.float32).astype(float).reshape(-1, 3)
    faces = np.arange(len(single)).reshape(-1, 3)
    without, known = Mesh(single, faces), Mesh(single, faces, resolution=4e-6)
    assert any("welded" in note for note in notes_of(without, OTHER.translated([3.0, -2.0, 5.0])))
    inner = (
        Mesh(*sphere(4)).scaled(0.05).translated([0.5, 0.6, 0.3] @ rotation(np.random.default_rng(3)).T + [3, -2, 5])
    )
    found = contact(inner, known)
    assert found.relation is Relation.A_INSIDE_B
    assert verify(found, inner, known)
    assert pairs_intersect([inner, known, without], [(0, 1)]).all()
    moved = known.transformed(np.block([[2.0 * rotation(RNG), np.ones((3, 1))], [np.zeros(3), 1.0]]))
    assert Body.of(moved).solid
    assert np.isclose(Body.of(moved).slit, 2.0 * Body.of(known).slit, rtol=1e-6)
    with pytest.raises(ValueError, match="resolution"):
        Mesh(single, faces, resolution=-1.0)


def test_clusters_are_those_of_a_search_of_all_pairs() -> None:
    """Chains of steps no longer than the distance; the least index names them."""
    for index in range(60):
        rng = np.random.default_rng([12, index])
        points = rng.integers(0, 6, (40, 3)) * 0.3 + rng.normal(size=(40, 3)) * (0.0, 1e-3, 0.1)[index % 3]
        if index % 4 == 0:
            points[20:] = points[:20]
        distance = (0.0, 0.25, 0.31, 1e-3, 2.0)[index % 5]
        wanted = list(range(40))
        for i, j in combinations(range(40), 2):
            if np.hypot(*[np.hypot(*(points[i] - points[j])[:2]), (points[i] - points[j])[2]]) <= distance:
                low, high = sorted((wanted[i], wanted[j]))
                wanted = [low if k == high else k for k in wanted]
        assert near_clusters(points, distance)[0].tolist() == wanted
        welded = Mesh(points, [[0, 1, 2]]).welded(distance)
        assert np.array_equal(welded.points, points[np.unique(wanted)])


def test_many_points_in_nearly_one_place_are_clustered_at_once() -> None:
    points = np.repeat(RNG.normal(size=(3, 3)), 20_000, axis=0) + RNG.normal(size=(60_000, 3)) * 1e-9
    assert len(np.unique(near_clusters(points, 1e-6)[0])) == 3
