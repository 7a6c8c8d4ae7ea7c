# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of the overlap of two meshes. Oracles: common cells of voxels, boxes, the convex overlap of two spheres,
and that the surface is the same in every order and pose; whatever the input, it ends and is finite."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from contact_lens.core import Box, Cancelled, ConvexHull, Mesh, Sphere, contact
from contact_lens.core.measures.overlap_surface import OverlapSurface, overlap_surface
from contact_lens.core.meshes.solid_facets import mesh_of

from ..generators import as_matrix, rotation_about
from ..mesh_pairs import mesh_pairs
from ..mesh_shapes import block, bumpy, flipped, joined, random_cells, sheet, sphere, suzanne, torus, voxels

TURN = rotation_about([1, 2, 3], 0.7)


def volume_and_area(surface: OverlapSurface) -> tuple[float, float]:
    if not len(surface.triangles):
        return 0.0, 0.0
    p, q, r = np.moveaxis((surface.points - surface.points.mean(axis=0))[surface.triangles], 1, 0)
    across = np.cross(q - p, r - p)
    return float((p * across).sum()) / 6.0, float(np.sqrt((across**2).sum(axis=1)).sum()) / 2.0


def rims(surface: OverlapSurface) -> float:
    """How long the vector sum over all sides is that are missing: 0 for a closed surface."""
    p, q, r = np.moveaxis(surface.points[surface.triangles], 1, 0)
    return float(np.abs(np.cross(q - p, r - p).sum(axis=0)).max())


def ball(level: int, middle=(0.0, 0.0, 0.0)) -> Mesh:
    found = trimesh.creation.icosphere(level)
    return Mesh(found.vertices + np.asarray(middle), found.faces)


def moved(mesh: Mesh, turn=TURN, place=(0.3, -0.2, 0.5)) -> Mesh:
    return mesh.transformed(as_matrix(turn, place))


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("turn", [np.eye(3), TURN], ids=["as they are", "turned"])
@pytest.mark.parametrize("seed", range(6))
def test_voxels_have_their_common_cells_in_common_and_faces_that_face_each_other_nothing(seed, turn):
    rng = np.random.default_rng(seed)
    pair = [random_cells(rng), random_cells(rng)]
    common = pair[0] & pair[1]
    faces = Mesh(*voxels(common)).area
    a, b = (Mesh(*voxels(cells)).transformed(as_matrix(turn, [0, 0, 0])) for cells in pair)
    for own, other in ((a, b), (b, a)):
        found = overlap_surface(own, other)
        volume, area = volume_and_area(found)
        assert volume == pytest.approx(len(common), abs=1e-12)
        # Turned, rounding decides whether faces that coincided cross: there may be slivers.
        assert area == pytest.approx(faces, abs=1e-9) or turn is TURN
        assert found.is_closed
        assert rims(found) < 1e-12


@pytest.mark.parametrize(
    ("low", "size", "volume", "area"),
    [
        ((0.5, 0.5, 0.5), (2, 2, 2), 0.125, 1.5),
        ((0.5, 0, 0), (1, 1, 1), 0.5, 4.0),
        ((0, 0, 0), (1, 1, 1), 1.0, 6.0),
        ((1, 0, 0), (1, 1, 1), 0.0, 0.0),
        ((1, 1, 0), (1, 1, 1), 0.0, 0.0),
        ((0.25, 0.25, 0.25), (0.5, 0.5, 0.5), 0.125, 1.5),
        ((-1, 0.25, 0), (3, 0.5, 1), 0.5, 4.0),
        ((0.25, 0.25, -1), (0.5, 0.5, 3), 0.25, 2.5),
    ],
)
def test_boxes_with_faces_in_common(low, size, volume, area):
    a, b = Mesh(*block()), Mesh(*block(size, low))
    for own, other in ((a, b), (b, a), (Mesh(*flipped(block())), b), (Box((0.5, 0.5, 0.5), (1, 1, 1)), b)):
        found = overlap_surface(own, other)
        assert volume_and_area(found) == pytest.approx((volume, area), abs=1e-12)
        assert found.is_closed


def test_an_l_shape_on_a_box_overlaps_where_it_goes_down_into_it_and_not_where_it_lies_on_it():
    box = Mesh(*voxels([(i, j, k) for i in range(3) for j in range(3) for k in range(2)]))
    hook = Mesh(*voxels([(0, 1, 2), (1, 1, 2), (1, 1, 1)]))
    for own, other in ((box, hook), (hook, box)):
        assert volume_and_area(overlap_surface(own, other)) == pytest.approx((1.0, 6.0), abs=1e-12)


def test_the_overlap_of_two_spheres_is_that_of_their_hulls():
    a, b = ball(3), ball(3, (0.7, 0.3, 0.2))
    hulls = ConvexHull(a.points), ConvexHull(b.points)
    found = overlap_surface(a, b)
    hull = ConvexHull(found.points[found.triangles].reshape(-1, 3))
    assert volume_and_area(found) == pytest.approx((hull.volume, mesh_of([hull]).area), rel=1e-9)
    for side, one in ((found.of_a, hulls[0]), (~found.of_a, hulls[1])):
        middles = found.points[found.triangles[side]].mean(axis=1) - one.center
        assert np.abs((middles @ one.normals.T - one.offsets).max(axis=1)).max() < 1e-12
    (curve,) = found.curves
    assert (curve[0] == curve[-1]).all()
    assert volume_and_area(overlap_surface(a, Sphere((0.7, 0.3, 0.2), 1.0)))[0] == pytest.approx(hull.volume, rel=2e-2)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("number", [3, 14, 27, 40, 55, 62, 78, 99])
def test_the_overlap_of_real_meshes_is_closed_and_the_same_in_every_order_pose_and_scale(number):
    (pair,) = mesh_pairs([number])
    a, b = Mesh(*pair.a), Mesh(*pair.b)
    found = overlap_surface(a, b)
    volume, area = volume_and_area(found)
    assert found.is_closed
    assert rims(found) <= 1e-11 * area
    assert volume > 0.0
    for own, other, scale in (
        (b, a, 1.0),
        (moved(a), moved(b), 1.0),
        (a.scaled(1e-6), b.scaled(1e-6), 1e-6),
        (a.scaled(1e6), b.scaled(1e6), 1e6),
    ):
        same = volume_and_area(overlap_surface(own, other))
        assert same == pytest.approx((volume * scale**3, area * scale**2), rel=1e-9)


def test_open_meshes_stay_open_and_what_a_terrain_has_above_it_is_not_inside():
    ground, leg = Mesh(*sheet(8, 4.0, (-2, -2, 0))), Mesh(*block((0.5, 0.5, 2), (-0.25, -0.25, -0.125)))
    for own, other in ((leg, ground), (ground, leg), (leg, Mesh(*flipped(sheet(8, 4.0, (-2, -2, 0)))))):
        found = overlap_surface(own, other, contact(own, other))
        assert volume_and_area(found) == pytest.approx((0.25 * 0.125, 0.5 + 4 * 0.5 * 0.125), abs=1e-12)
        assert found.is_closed
    # A box without a lid: its walls are cut, and what is above the rim is open.
    bowl = Mesh(block()[0], block()[1][[k for k in range(12) if k not in (10, 11)]])
    rod = Mesh(*block((1, 0.25, 0.25), (0.5, 0.375, 0.25)))
    found = overlap_surface(rod, bowl)
    assert len(found.triangles) > 0
    assert found.curves
    head = Mesh(*suzanne(0))
    found = overlap_surface(head, head.transformed(as_matrix(TURN, [1.2, 0.4, 0.3])))
    assert found.of_a.any()
    assert not found.of_a.all()
    assert not overlap_surface(ground, moved(ground, place=(0, 0, 0))).triangles.size


def test_whatever_the_input_it_ends_and_is_finite():
    rng = np.random.default_rng(3)
    for k in range(30):
        pair = []
        for _ in range(2):
            points = rng.normal(size=(rng.integers(1, 12), 3)) if k % 3 else rng.integers(0, 3, (9, 3)) * 0.1
            triangles = rng.integers(0, len(points), (rng.integers(1, 20), 3))
            pair.append(Mesh(points, np.concatenate([triangles, triangles[:2], triangles[:2, ::-1]])))
        found = overlap_surface(*pair)
        assert np.isfinite(found.points).all()
        assert not found.triangles.size or found.triangles.max() < len(found.points)
        assert len(found.of_a) == len(found.triangles)
    crossing = joined([sphere(6), sphere(6, (0.5, 0, 0)), flipped(torus(12, 8))])
    own = Mesh(*crossing)
    for other in (own, Mesh(*bumpy(rng)), moved(own)):
        assert np.isfinite(overlap_surface(own, other).points).all()


def test_it_can_be_cancelled_and_reports_its_progress():
    a, b = ball(2), ball(2, (0.7, 0.3, 0.2))
    done: list[float] = []
    overlap_surface(a, b, progress=done.append)
    assert done == sorted(done)
    assert done[-1] == 1.0
    with pytest.raises(Cancelled):
        overlap_surface(a, b, progress=lambda fraction: fraction < 0.5)
