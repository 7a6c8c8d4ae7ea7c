# SPDX-License-Identifier: GPL-3.0-or-later
"""The Minkowski difference as a shape: its facets by support points and by Qhull, its distance from the origin by the
solvers, and where its facets are from by the axes of the shapes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Qhull

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    MinkowskiHull,
    Polygon,
    Rounded,
    Sphere,
    contact,
    minkowski_difference,
    minkowski_hull,
    minkowski_sum,
)
from contact_lens.core.shapes import minkowski_hull as module

from ..curved.test_curved import PAIRS, STATES, placed
from ..generators import CLASSES, COMPOSED, CUBE, LARGE, disc, random_hulls, rotation, sphere_points
from ..oracles import EPS, tolerance

EVERY = CLASSES | LARGE | COMPOSED


def distance(found: MinkowskiHull) -> float:
    return float(found.shape.signed_distance(np.zeros((1, found.shape.dim)))[0])


def made(name: str, seed: int) -> tuple[ConvexHull, ConvexHull, np.ndarray, np.ndarray]:
    a, b = EVERY[name](np.random.default_rng([32, seed]))
    return ConvexHull(a), ConvexHull(b), a, b


def rounding(a: ConvexHull, b: ConvexHull) -> float:
    """How far planes of the hull may be off: it rounds differences of coordinates of both shapes."""
    return 64 * EPS * max(a.magnitude, b.magnitude) + 1e-12 * (a.extent + b.extent)


def assert_sound(found: MinkowskiHull, sign: float) -> None:
    """Corners are those of the pairs, facets reach as far as the shapes do, and each has an origin."""
    a, b, hull = found.a, found.b, found.hull
    i, j = found.pairs.T
    assert np.array_equal(hull.vertices, a.vertices[i] + sign * b.vertices[j])
    near = rounding(a, b)
    reach = (a.vertices @ hull.normals.T).max(axis=0) + (sign * b.vertices @ hull.normals.T).max(axis=0)
    assert np.abs(reach - hull.offsets - hull.normals @ hull.center).max(initial=0.0) <= near
    low, high = (a.bounds[k] + (b.bounds[k] if sign > 0 else -b.bounds[1 - k]) for k in (0, 1))
    assert np.abs(hull.bounds[0] - low).max() <= near
    assert np.abs(hull.bounds[1] - high).max() <= near
    assert len(found.faces) == len(found.edges) == len(hull.facets)
    assert ((found.faces >= 0).any(axis=1) | (found.edges >= 0).all(axis=1)).all()
    assert not ((found.faces >= 0) & (found.edges >= 0)).any()


def assert_origins_fit(found: MinkowskiHull, sign: float) -> None:
    """Facets have the normals of the faces and are across the edges that they are from."""
    for k, normal in enumerate(found.hull.normals):
        for shape, face, turn in ((found.a, found.faces[k, 0], 1.0), (found.b, found.faces[k, 1], sign)):
            assert face < 0 or np.allclose(turn * shape.normals[face], normal, atol=1e-9)
        for shape, edge in ((found.a, found.edges[k, 0]), (found.b, found.edges[k, 1])):
            assert edge < 0 or abs(shape.edge_directions[edge] @ normal) < 1e-9


@pytest.mark.fast_cases(len(EVERY))
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", EVERY)
def test_the_difference_of_any_pair_is_as_far_from_the_origin_as_the_shapes_from_each_other(name, seed):
    a, b, points_a, points_b = made(name, seed)
    found = minkowski_hull(a, b)
    assert_sound(found, -1.0)
    c = contact(a, b)
    assert distance(found) == pytest.approx(c.signed_distance, abs=2 * tolerance(points_a, points_b, c.signed_distance))


@pytest.mark.parametrize("name", EVERY)
def test_the_sum_and_the_exchanged_difference_have_the_same_corners(name):
    a, b, _, _ = made(name, 100)
    both = minkowski_hull(a, b, difference=False)
    assert_sound(both, 1.0)
    assert_sound(minkowski_hull(b, a, difference=False), 1.0)
    one, other = minkowski_hull(a, b), minkowski_hull(b, a)
    assert_sound(other, -1.0)
    near = rounding(a, b)
    # B - A is A - B about the origin: no corner of either is outside of the other.
    for mine, its in ((one.hull, other.hull), (other.hull, one.hull)):
        assert (-its.vertices @ mine.normals.T - mine.offsets - mine.normals @ mine.center).max(initial=0) <= near
        assert (mine.core_distances(-its.vertices)).max() <= near


@pytest.mark.parametrize("name", EVERY)
def test_corners_searched_from_inside_are_those_of_all_pairs(name, monkeypatch):
    a, b, _, _ = made(name, 200)
    every = minkowski_hull(a, b)
    monkeypatch.setattr(module, "_ALL_PAIRS", 0)
    found = minkowski_hull(a, b)
    assert_sound(found, -1.0)
    near = rounding(a, b)
    assert (every.hull.core_distances(found.hull.vertices)).max() <= near
    assert (found.hull.core_distances(every.hull.vertices)).max() <= near


@pytest.mark.parametrize("seed", range(8))
def test_corners_and_volume_are_those_of_qhull(seed):
    a, b = map(ConvexHull, random_hulls(np.random.default_rng(seed)))
    for found, points in (
        (minkowski_hull(a, b), minkowski_difference(a, b).points),
        (minkowski_hull(a, b, difference=False), minkowski_sum(a, b)),
    ):
        expected = Qhull(points)
        assert found.hull.volume == pytest.approx(expected.volume, rel=1e-12)
        # Qhull keeps coplanar corners too.
        corners = {tuple(x) for x in points[expected.vertices]}
        assert {tuple(x) for x in found.hull.vertices} <= corners
    assert_origins_fit(minkowski_hull(a, b), -1.0)
    assert_origins_fit(minkowski_hull(a, b, difference=False), 1.0)


def test_solids_in_general_position_give_each_face_once():
    rng = np.random.default_rng(5)
    a, b = (ConvexHull(sphere_points(rng, count)) for count in (30, 20))
    found = minkowski_hull(a, b)
    for k, shape in enumerate((a, b)):
        faces = found.faces[:, k]
        assert sorted(faces[faces >= 0].tolist()) == list(range(len(shape.facets)))
    of_edges = found.edges.min(axis=1) >= 0
    assert np.array_equal(of_edges, found.faces.max(axis=1) < 0)
    assert all(len(found.hull.facets[k]) == 4 for k in np.flatnonzero(of_edges))


def test_boxes_along_the_axes_share_all_faces_and_span_none():
    found = minkowski_hull(Box((0, 0, 0), (2, 2, 2)), Box((3, 0, 0), (1, 2, 3)))
    assert (found.faces >= 0).all()
    assert (found.edges < 0).all()
    assert np.array_equal(found.a.normals[found.faces[:, 0]], -found.b.normals[found.faces[:, 1]])


@pytest.mark.parametrize("seed", range(20))
def test_in_the_plane_the_sides_are_those_of_both_sorted_by_angle(seed):
    rng = np.random.default_rng(seed)
    a, b = (ConvexHull(rng.uniform(-1, 1, (12, 2))) for _ in range(2))
    found = minkowski_hull(a, b, difference=False)
    sides = np.concatenate([np.diff(shape.vertices[shape.edges], axis=1)[:, 0] for shape in (a, b)])
    sides = sides[np.argsort(np.arctan2(sides[:, 1], sides[:, 0]))]
    lowest = [shape.vertices[np.lexsort((shape.vertices[:, 0], shape.vertices[:, 1]))[0]] for shape in (a, b)]
    turn = np.arctan2(sides[:, 1], sides[:, 0])
    sides = np.concatenate([sides[turn >= 0], sides[turn < 0]])
    outline = sum(lowest) + np.concatenate([np.zeros((1, 2)), np.cumsum(sides, axis=0)[:-1]])
    begin = int(np.linalg.norm(found.hull.vertices - outline[0], axis=1).argmin())
    assert np.allclose(np.roll(found.hull.vertices, -begin, axis=0), outline, atol=1e-12)
    assert_origins_fit(found, 1.0)
    assert (found.edges < 0).all()
    assert sorted(found.faces[found.faces[:, 0] >= 0, 0].tolist()) == list(range(len(a.facets)))


@pytest.mark.parametrize(
    ("a", "b", "corners", "rank"),
    [
        ([[0, 0, 0]], [[1, 2, 2]], 1, 0),
        ([[0, 0, 0], [2, 0, 0]], [[1, 0, 1]], 2, 1),
        ([[0, 0, 0], [2, 0, 0]], [[5, 0, 0], [6, 0, 0]], 2, 1),
        ([[0, 0, 0], [2, 0, 0]], [[0, -1, 1], [0, 1, 1]], 4, 2),
        (disc(3), disc(5, turn=0.1), 8, 2),
        (disc(6), disc(6, turn=0.1) @ [[1, 0, 0], [0, 0, 1], [0, -1, 0]], 24, 3),
        (CUBE[[0, 0, 1, 2, 2, 3, 3]], CUBE, 8, 3),
        ([[0, 0], [1, 1]], [[3, 3]], 2, 1),
        ([[0, 0], [1, 1]], [[0, 1], [1, 0]], 4, 2),
    ],
)
def test_flat_and_degenerate_pairs(a, b, corners, rank):
    a, b = ConvexHull(np.asarray(a, float)), ConvexHull(np.asarray(b, float))
    for difference, sign in ((True, -1.0), (False, 1.0)):
        found = minkowski_hull(a, b, difference=difference)
        assert (len(found.hull.vertices), found.hull.rank) == (corners, rank)
        assert_sound(found, sign)
        assert_origins_fit(found, sign)
    assert distance(minkowski_hull(a, b)) == pytest.approx(contact(a, b).signed_distance, abs=1e-14)


ROUNDED = [
    (Sphere((0, 0, 0), 1), Sphere((1, 0.5, 0), 0.75)),
    (Sphere((0, 0, 0), 1), Ellipsoid((3, 0, 0), (1, 1, 1))),
    (Capsule((0, 0, -1), (0, 0, 1), 0.5), Box((0.75, 0, 0), (1, 1, 1), (1, 0.2, 0.3, 0.4))),
    (Capsule((0, 0, -1), (0, 0, 1), 0.5), Capsule((-1, 0.1, 0), (1, 0.1, 0), 0.25)),
    (Rounded(Box((0, 0, 0), (1, 2, 1)), 0.1), Rounded(ConvexHull(CUBE + 0.9), 0.2)),
    (Circle((0, 0), 1), Polygon([(0.5, 0), (2, 0), (2, 2)])),
]


@pytest.mark.parametrize(("a", "b"), ROUNDED)
def test_round_shapes_are_the_difference_of_their_cores_rounded_by_both_radii(a, b):
    for first, second in ((a, b), (b, a)):
        found = minkowski_hull(first, second)
        assert isinstance(found.shape, Rounded)
        assert found.shape.core is found.hull
        assert found.shape.radius == a.rounding_radius + b.rounding_radius
        assert_sound(found, -1.0)
        assert distance(found) == pytest.approx(contact(first, second).signed_distance, abs=1e-14)


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_inside_and_around_curved_shapes_there_are_polytopes_that_enclose_the_distance(names):
    for state in STATES:
        a, b, _, _ = placed(*names, state, 1)
        truth, slack = contact(a, b).signed_distance, 1e-12 * (a.extent + b.extent)
        around, inside = minkowski_hull(a, b), minkowski_hull(a, b, inner=True)
        assert distance(around) - slack <= truth <= distance(inside) + slack, state
        assert distance(inside) - distance(around) < 0.05 * (a.extent + b.extent), state
        assert_sound(around, -1.0)
        assert_sound(inside, -1.0)


@pytest.mark.parametrize("matrix", [np.eye(3), rotation(np.random.default_rng(3))])
@pytest.mark.parametrize("kind", [Cylinder, Cone, Ellipsoid])
def test_polytopes_around_a_curved_shape_have_its_points_inside(kind, matrix):
    middle = matrix @ [0.3, 0.2, 2.0]
    shape = kind((0, 0, 0), (1, 1e-3, 0.5)) if kind is Ellipsoid else kind((0, 0, 0), middle, 0.7)
    points = shape.supports(sphere_points(np.random.default_rng(4), 2000))
    point = ConvexHull([[0, 0, 0]])
    around, inside = (minkowski_hull(shape, point, inner=inner).hull for inner in (False, True))
    assert around.core_distances(points).max() <= 1e-14
    assert shape.signed_distance(inside.vertices).max() <= 1e-14


@pytest.mark.parametrize(
    "shape", [Compound([Sphere((0, 0, 0), 1)]), Mesh(CUBE, [[0, 1, 2]])], ids=lambda shape: type(shape).__name__
)
def test_what_is_not_convex_is_refused_with_what_to_take_instead(shape):
    box = Box((0, 0, 0), (1, 1, 1))
    for name, a, b in (("a", shape, box), ("b", box, shape)):
        with pytest.raises(ValueError, match=rf"^{name} must be convex.*one of its pieces, or the ConvexHull"):
            minkowski_hull(a, b)
    with pytest.raises(ValueError, match=r"^a and b must have the same dimension"):
        minkowski_hull(box, Circle((0, 0), 1))
    with pytest.raises(ValueError, match=r"^b must be a shape"):
        minkowski_hull(box, CUBE)
