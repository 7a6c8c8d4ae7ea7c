# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume in which meshes overlap. Oracles: rational numbers for small hulls, common cells of voxels, and that it is
the same in every order, pose and scale and where triangles are cut; forged answers fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Box, Cancelled, Compound, ConvexHull, Mesh, Sphere, verify
from contact_lens.core.measures.mesh_overlap import mesh_overlap_volume
from contact_lens.core.measures.overlap_volume import overlap_volume
from contact_lens.core.meshes.solid_facets import mesh_of

from ..generators import as_matrix, rotation, rotation_about
from ..mesh_pairs import mesh_pairs
from ..mesh_shapes import block, bumpy, flipped, joined, random_cells, sheet, sphere, torus, voxels
from .exact_overlap import exact_overlap

TURN = rotation_about([1, 2, 3], 0.7)


def cut(surface, level: int = 1):
    """Each triangle cut into four."""
    points, t = surface
    sides = np.sort(np.stack([t, np.roll(t, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, of = np.unique(sides, axis=0, return_inverse=True)
    middle = len(points) + of.reshape(-1, 3)
    corners = [np.stack([t[:, k], middle[:, k], middle[:, k - 1]], axis=1) for k in range(3)]
    found = np.concatenate([points, points[edges].mean(axis=1)]), np.concatenate([*corners, middle])
    return found if level == 1 else cut(found, level - 1)


def with_slivers(surface, rng: np.random.Generator, count: int = 6):
    """Some edges bent by a triangle without area, to their middles or in their ends."""
    points, triangles = list(surface[0]), surface[1].tolist()
    for _ in range(count):
        k = int(rng.integers(len(triangles)))
        p, q, r = triangles[k]
        new = len(points)
        points.append(0.5 * points[p] + 0.5 * points[q] if rng.random() < 0.7 else points[p])
        triangles[k] = [p, new, r]
        triangles += [[new, q, r], [p, q, new]]
    return np.array(points), np.array(triangles)


def checked(a, b):
    found = overlap_volume(a, b)
    result = verify(found, a, b)
    assert result.ok, result.failures
    return found


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_contain_the_exact_volume_of_small_hulls_wherever_they_are(seed):
    rng = np.random.default_rng(seed)
    far = (rng.normal(size=3) * 1e6).round() if seed % 3 == 2 else np.zeros(3)
    size = [1e-6, 1e6, 1.0][seed % 3]
    hulls: list[ConvexHull] = []
    while len(hulls) < 2:
        points = rng.normal(size=(5, 3)) if seed % 2 else rng.integers(0, 4, (6, 3)) * 0.25
        hull = ConvexHull(points * [1.0, 1.0, 1e-3 if seed in (5, 6) and hulls else 1.0] * size + far)
        if hull.rank == 3:
            hulls.append(hull)
    a, b = (mesh_of([hull]) for hull in hulls)
    exact = exact_overlap(*(hull.vertices for hull in hulls))
    for own, other in ((a, b), (b, a), (hulls[0], b), (a, hulls[1])):
        found = checked(own, other)
        # The facets of a hull far away are flat to rounding only.
        bend = 8.0 * np.finfo(float).eps * max(a.magnitude, b.magnitude) * min(a.area, b.area)
        assert found.lower - bend <= exact <= found.upper + bend
        width = found.upper - found.lower
        assert width <= 1e-9 * min(abs(a.volume), abs(b.volume)) or far.any()


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("turn", [np.eye(3), TURN], ids=["as they are", "turned"])
@pytest.mark.parametrize("seed", range(6))
def test_voxels_have_their_common_cells_in_common(seed, turn):
    rng = np.random.default_rng(seed)
    pair = [random_cells(rng), random_cells(rng)]
    shift = np.eye(3, dtype=int)[seed % 3]
    common = len(pair[0] & {tuple(cell + shift) for cell in pair[1]})
    a = Mesh(*voxels(pair[0])).transformed(as_matrix(turn, [0, 0, 0]))
    b = Mesh(*cut(voxels(pair[1]))).transformed(as_matrix(turn, turn @ shift))
    for own, other in ((a, b), (b, a)):
        found = checked(own, other)
        assert found.volume == pytest.approx(common, abs=1e-12)
        assert found.upper - found.lower < 1e-11
        assert turn is TURN or found.lower <= common <= found.upper


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("seed", range(8))
def test_triangles_without_area_change_no_volume(seed):
    rng = np.random.default_rng(seed)
    cells = [[(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)], [(0, 0, 0), (0, 1, 0), (1, 1, 0)]]
    shift = rng.integers(-1, 2, 3) * 0.5
    overlap = sum(np.prod(np.maximum(0, 1 - np.abs(np.subtract(p, q + shift)))) for p in cells[0] for q in cells[1])
    a, b = (with_slivers(voxels(part), rng) for part in cells)
    found = checked(Mesh(*a), Mesh(b[0] + shift, b[1]))
    assert found.volume == pytest.approx(overlap, abs=1e-12)
    assert found.upper - found.lower < 1e-9
    turned = checked(Mesh(a[0] @ TURN.T, a[1]), Mesh((b[0] + shift) @ TURN.T, b[1]))
    assert turned.volume is None or turned.volume == pytest.approx(overlap, abs=1e-12)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("number", [3, 20, 27, 40, 55, 62, 78, 99])
def test_the_volume_of_real_meshes_is_the_same_in_every_order_pose_and_scale(number):
    (pair,) = mesh_pairs([number])
    a, b = Mesh(*pair.a), Mesh(*pair.b)
    found = mesh_overlap_volume(a, b)
    assert verify(found, a, b).ok
    assert found.upper - found.lower < 1e-10 * min(a.volume, b.volume)
    pose = as_matrix(TURN, [0.5, -2.0, 1.0])
    order = np.random.default_rng(number).permutation(len(b.triangles))
    for own, other, scale in (
        (b, a, 1.0),
        (a, Mesh(b.points, np.roll(b.triangles[order], 1, axis=1)), 1.0),
        (a.transformed(pose), b.transformed(pose), 1.0),
        (a.scaled(1e-6), b.scaled(1e-6), 1e-6),
        (a.scaled(1e6), b.scaled(1e6), 1e6),
    ):
        same = mesh_overlap_volume(own, other)
        assert same.volume == pytest.approx(found.volume * scale**3, rel=1e-11)
        assert same.centroid is not None


def test_shells_inside_each_other_cavities_and_meshes_turned_over():
    outer, inner, hole = block((4, 4, 4)), block((2, 2, 2), (1, 1, 1)), flipped(block((2, 2, 2), (1, 1, 1)))
    low, high = Mesh(*block((4, 4, 2), (0, 0, -1))), Mesh(*block((4, 4, 3), (0, 0, 2)))
    for surface, above in (
        (outer, 32.0),
        (joined([outer, inner]), 32.0),
        (joined([outer, hole]), 28.0),
        (joined([outer, block((1, 1, 1), (9, 9, 9))]), 32.0),
        (joined([outer, hole, block((1, 1, 1), (1.5, 1.5, 1.75))]), 28.75),
        (flipped(joined([outer, hole])), 28.0),
    ):
        own = Mesh(*surface)
        assert checked(own, low).volume == pytest.approx(16.0, abs=1e-12)
        assert checked(own, high).volume == pytest.approx(above, abs=1e-12)
    nested = Mesh(*block((1, 1, 1), (1.5, 1.5, 1.5)))
    assert checked(nested, Mesh(*outer)).volume == pytest.approx(1.0, abs=1e-12)
    assert checked(Mesh(*joined([outer, hole])), nested).volume == 0.0
    assert checked(Mesh(*outer), Mesh(*block((1, 1, 1), (4, 0, 0)))).volume == 0.0


def test_what_has_no_clear_inside_has_no_volume_and_says_why():
    box, crossed = Mesh(*block()), Mesh(*joined([block(), block((1, 1, 1), (0.5, 0.5, 0.5))]))
    ground, flat = Mesh(*sheet(2)), Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]])
    for a, b, reason in (
        (box, ground, "B is open: only closed meshes have a volume"),
        (ground, box, "A is open: only closed meshes have a volume"),
        (Box((0.5, 0.5, 0), (1, 1, 1)), ground, "B is open: only closed meshes have a volume"),
        (crossed, box, "A crosses itself in 12 pairs of triangles: it has no clear inside"),
    ):
        found = overlap_volume(a, b)
        assert found.volume is None
        assert reason.split(" in ")[0] in found.unsupported_reason
        assert verify(found, a, b).ok
        assert not verify(found, box, box).ok
    found = mesh_overlap_volume(flat, box)
    assert (found.volume, found.unsupported_reason) == (0.0, "A encloses nothing: it has no volume")
    assert not verify(overlap_volume(box, box), ground, box).ok


def test_round_shapes_and_compounds_beside_a_mesh_are_between_bounds():
    room = Mesh(*block((4, 4, 2), (-2, -2, 0)))
    ball = checked(room, Sphere((0, 0, 0), 1.0))
    half = 2.0 / 3.0 * np.pi
    assert ball.lower <= half <= ball.upper
    assert ball.upper - ball.lower < 1e-2 * half
    table = Compound(
        [Box((0, 0, 1.0), (2, 2, 0.5)), *(Box((x, y, 0.5), (0.25, 0.25, 1)) for x in (0, 1) for y in (0, 1))]
    )
    for a, b in ((room, table), (table, room)):
        found = checked(a, b)
        legs = 4 * 0.25 * 0.25 * 1.0
        both = 0.25 * (0.25 * 0.25 + 2 * 0.25 * 0.125 + 0.125 * 0.125)
        exact = 2 * 2 * 0.5 + legs - both
        assert found.lower <= exact <= found.upper
        assert found.volume == pytest.approx(exact, abs=1e-9)
        assert found.upper - found.lower < both + 1e-9


def test_forged_answers_fail():
    a, b = Mesh(*bumpy(np.random.default_rng(1))), Mesh(*torus(24, 12, 1.0, 0.4))
    found = overlap_volume(a, b)
    assert verify(found, a, b).ok
    up = 1.0 + 1e-6
    for forged in (
        replace(found, volume=found.volume * up, lower=found.lower * up, upper=found.upper * up),
        replace(found, volume=found.volume / up, lower=found.lower / up, upper=found.upper / up),
        replace(found, volume=0.0, lower=0.0, upper=0.0, centroid=None),
        replace(found, lower=found.upper, upper=found.lower),
        replace(found, upper=np.inf),
        replace(found, centroid=found.centroid + 1e-6),
        replace(found, centroid=None),
        replace(found, centroid=found.centroid[:2]),
        replace(found, volume=None, lower=None, upper=None, unsupported_reason="A is open"),
    ):
        assert not verify(forged, a, b).ok
    assert not verify(found, a, Mesh(b.points * 1.00001, b.triangles)).ok


def test_random_bumpy_solids_cut_finely_have_the_same_volume():
    rng = np.random.default_rng(5)
    for k in range(4):
        a, b = bumpy(rng), bumpy(rng)
        turned = b[0] @ rotation(rng).T + rng.normal(size=3) * 0.4
        found = checked(Mesh(*a), Mesh(turned, b[1]))
        finer = mesh_overlap_volume(Mesh(*cut(a)), Mesh(*cut((turned, b[1]), 1 + k % 2)))
        assert finer.volume == pytest.approx(found.volume, rel=1e-12)
        assert finer.centroid == pytest.approx(found.centroid, abs=1e-12)


def test_it_can_be_cancelled():
    a, b = Mesh(*sphere(8)), Mesh(*sphere(8, (0.7, 0.3, 0.2)))
    done: list[float] = []
    mesh_overlap_volume(a, b, done.append)
    assert done == sorted(done)
    assert done[-1] == 1.0
    with pytest.raises(Cancelled):
        mesh_overlap_volume(a, b, lambda fraction: fraction < 0.7)
