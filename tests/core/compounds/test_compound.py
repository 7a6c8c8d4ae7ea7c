# SPDX-License-Identifier: GPL-3.0-or-later
"""Compounds: distance, smallest separating translation with both its bounds, relation, merged regions.

Oracles: shapely in the plane; in space all points where up to three facet planes of scipy's hulls meet; sampled
translations; `contact` where both are single pieces.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import shapely
from scipy.spatial import ConvexHull as QHull

from contact_lens.core import Contact, ConvexHull, Relation, Status, contact, gjk_intersects
from contact_lens.core.budget import Budget
from contact_lens.core.compounds.compound import Compound, as_compound
from contact_lens.core.compounds.compound_contact import compound_contact
from contact_lens.core.compounds.compound_planes import difference_planes

from ..assertions import assert_progress
from ..generators import CUBE as CORNERS
from ..generators import pair, rotation, sphere_points


def box(low, high) -> ConvexHull:
    return ConvexHull(np.array(list(product(*zip(low, high, strict=True))), dtype=float))


def turned(pieces, rotation, move) -> Compound:
    return Compound([ConvexHull(p.vertices @ np.asarray(rotation).T + move) for p in pieces])


def halved(shape, rng) -> list[ConvexHull]:
    """A solid cut in two by a random plane through its middle."""
    if shape.rank < shape.dim:
        return [shape]
    normal = rng.normal(size=shape.dim)
    level = (shape.vertices - shape.center) @ normal
    p, q = shape.edges[(level[shape.edges[:, 0]] < 0) != (level[shape.edges[:, 1]] < 0)].T
    share = (level[p] / (level[p] - level[q]))[:, None]
    cut = shape.vertices[p] + share * (shape.vertices[q] - shape.vertices[p])
    return [ConvexHull(np.concatenate((shape.vertices[side], cut))) for side in (level >= 0, level <= 0)]


def u_shape() -> Compound:
    return Compound([box([0, 0, 0], [4, 1, 1]), box([0, 0, 0], [1, 3, 1]), box([3, 0, 0], [4, 3, 1])])


def comb(teeth: int) -> list[ConvexHull]:
    return [box([0, 0, 0], [2 * teeth, 1, 1]), *(box([2 * k, 1, 0], [2 * k + 1, 4, 1]) for k in range(teeth))]


def ring(count: int, inner=1.0, outer=1.5, half=0.2) -> list[ConvexHull]:
    angles = np.linspace(0, 2 * np.pi, count + 1)
    return [
        ConvexHull(
            np.array(
                [
                    [r * np.cos(t), r * np.sin(t), z]
                    for r in (inner, outer)
                    for t in angles[k : k + 2]
                    for z in (-half, half)
                ]
            )
        )
        for k in range(count)
    ]


def check(c: Contact, a: Compound, b: Compound) -> None:
    """What holds for every answer."""
    size = a.extent + b.extent
    assert c.lower_bound <= c.signed_distance <= c.upper_bound
    assert abs(np.linalg.norm(c.normal) - 1.0) < 1e-12
    assert np.allclose(c.point_on_b - c.point_on_a, c.signed_distance * c.normal, atol=1e-8 * size)
    i, j = c.certificate.pieces
    for point, piece in ((c.point_on_a, a.pieces[i]), (c.point_on_b, b.pieces[j])):
        assert contact(ConvexHull(point[None]), piece).signed_distance < 1e-8 * size
    moved = b.translated(c.mtv)
    pairs = [contact(p, q).signed_distance for p in a.pieces for q in moved.pieces]
    assert min(pairs) >= -c.certificate.tolerance
    if not c.intersects:
        assert abs(min(pairs) - c.signed_distance) <= c.certificate.tolerance
        assert not c.regions
    elif c.depth > 0:
        # No translation a little shorter does: sampled.
        rng = np.random.default_rng(0)
        for direction in sphere_points(rng, 12, a.dim):
            some = b.translated(direction * c.least_depth * 0.999)
            assert any(gjk_intersects(p, q) for p in a.pieces for q in some.pieces)
    for region in c.regions:
        assert region.patches
        assert region.area <= sum(p.region.area for p in region.patches) * (1 + 1e-9) + 1e-12 * size


# ---------------------------------------------------------------------------------------------------------------------
# Oracles


def exact_depth(a: Compound, b: Compound) -> float:
    """The shortest of all points of the facets, edges and corners of the arrangement that are in no interior."""
    bodies = []
    for p in a.pieces:
        for q in b.pieces:
            difference = (p.vertices[:, None] - q.vertices[None]).reshape(-1, 3)
            bodies.append(np.unique(np.round(QHull(difference).equations, 9), axis=0))
    equations = np.concatenate(bodies)
    n, h = equations[:, :3], -equations[:, 3]
    i, j = np.array(list(combinations(range(len(n)), 2))).T
    cosine = np.einsum("ij,ij->i", n[i], n[j])
    fine = 1 - cosine**2 > 1e-9
    i, j, cosine = i[fine], j[fine], cosine[fine]
    det = 1 - cosine**2
    on_edges = ((h[i] - cosine * h[j]) / det)[:, None] * n[i] + ((h[j] - cosine * h[i]) / det)[:, None] * n[j]
    triples = np.array(list(combinations(range(len(n)), 3)))
    triples = triples[np.abs(np.linalg.det(n[triples])) > 1e-9]
    corners = np.linalg.solve(n[triples], h[triples][:, :, None])[:, :, 0]
    points = np.concatenate((np.zeros((1, 3)), h[:, None] * n, on_edges, corners))
    points = points[np.argsort(np.linalg.norm(points, axis=1))]
    for begin in range(0, len(points), 2000):
        some = points[begin : begin + 2000]
        inside = np.zeros(len(some), dtype=bool)
        for body in bodies:
            inside |= (some @ body[:, :3].T + body[:, 3]).max(axis=1) < -1e-7
        if not inside.all():
            return float(np.linalg.norm(some[~inside][0]))
    raise AssertionError("no point is outside")


def plane_distance(a: Compound, b: Compound) -> float:
    """The signed distance by shapely: of the origin from the boundary of the union of all differences."""
    bodies = [
        shapely.MultiPoint((p.vertices[:, None] - q.vertices[None]).reshape(-1, 2)).convex_hull
        for p in a.pieces
        for q in b.pieces
    ]
    union, origin = shapely.union_all(bodies), shapely.Point(0, 0)
    return float(union.boundary.distance(origin)) * (-1.0 if union.contains(origin) else 1.0)


def random_box(rng) -> ConvexHull:
    corners = CORNERS * rng.uniform(0.3, 1.5, 3)
    if rng.random() < 0.5:
        corners = corners @ rotation(rng).T
    return ConvexHull(corners + rng.uniform(-1, 1, 3))


def random_polygon(rng) -> ConvexHull:
    points = rng.uniform(-1, 1, (rng.integers(3, 8), 2)) * rng.uniform(0.3, 1)
    return ConvexHull(points + rng.uniform(-1, 1, 2))


@pytest.mark.fast_cases(12)
@pytest.mark.parametrize("seed", range(24))
def test_smallest_translation_in_space_is_that_of_all_candidates(seed):
    rng = np.random.default_rng(seed)
    if seed % 2:
        a = Compound([random_box(rng) for _ in range(2)])
        b = Compound([random_box(rng)])
    else:
        a = Compound([ConvexHull(rng.uniform(-1, 1, (4, 3))) for _ in range(rng.integers(1, 4))])
        b = Compound([ConvexHull(rng.uniform(-1, 1, (4, 3))) for _ in range(rng.integers(1, 3))])
    c = contact(a, b)
    check(c, a, b)
    assert c.status is Status.CERTIFIED
    assert abs(max(0.0, exact_depth(a, b)) - c.depth) < 1e-6


@pytest.mark.fast_cases(50)
@pytest.mark.parametrize("seed", range(150))
def test_signed_distance_in_the_plane_is_that_of_shapely(seed):
    rng = np.random.default_rng(seed)
    a = Compound([random_polygon(rng) for _ in range(rng.integers(1, 9))])
    b = Compound([random_polygon(rng) for _ in range(rng.integers(1, 9))])
    if seed % 3 == 0:
        b = b.translated(rng.normal(size=2) * 2.0)
    c = contact(a, b)
    assert c.status is Status.CERTIFIED
    assert abs(plane_distance(a, b) - c.signed_distance) < 1e-9
    if seed % 5 == 0:
        check(c, a, b)


@pytest.mark.parametrize("index", range(46))
def test_single_pieces_agree_with_contact(index):
    _, points_a, points_b = pair(5, index)
    a, b = ConvexHull(points_a), ConvexHull(points_b)
    single, c = contact(a, b), contact(Compound([a]), b)
    small, large = sorted((a.extent, b.extent))
    tolerance = 1e-9 * abs(single.signed_distance) + 4.0 * c.certificate.tolerance
    assert abs(single.signed_distance - c.signed_distance) <= tolerance
    assert c.relation is single.relation
    if single.region is not None and single.region.area > 1e-6 * (small or large) ** 2 and len(single.ties) == 1:
        assert c.area == pytest.approx(single.region.area, rel=1e-4)


# ---------------------------------------------------------------------------------------------------------------------
# Known answers


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_two_l_shapes_at_any_size_and_place(size, far):
    def shape(pieces, move):
        return Compound([ConvexHull((p.vertices + move) * size + far * size) for p in pieces])

    pieces = [box([0, 0], [2, 1]), box([0, 0], [1, 2])]
    a, b = shape(pieces, [0, 0]), shape(pieces, [0.5, 0.5])
    c = contact(a, b)
    # B's corner out of A's inner corner by the diagonal.
    assert c.status is Status.CERTIFIED
    assert c.depth == pytest.approx(np.sqrt(0.5) * size, abs=8 * c.certificate.tolerance)
    assert np.allclose(c.normal, np.sqrt([0.5, 0.5]), atol=1e-6)
    check(c, a, b)


TURN = np.linspace(0, 2 * np.pi, 17)
ROD = ConvexHull(np.array([[0.3 * np.cos(t), 0.3 * np.sin(t), z] for t in TURN for z in (-3, 3)]))
RING, RING_ACROSS, COMB = Compound(ring(16)), [[1, 0, 0], [0, 0, -1], [0, 1, 0]], Compound(comb(12))
QUARTERS = Compound([box([x, y, 0], [x + 2, y + 2, 1]) for x in (-2, 0) for y in (-2, 0)])
U = u_shape()
U_IN_HALVES = Compound([box([0, 0, 0], [2, 1, 1]), box([2, 0, 0], [4, 1, 1]), *U.pieces[1:]])
TWO = Compound([box([0, 0, 0], [1, 1, 1]), box([0, 1, 0], [1, 3, 1])])
ACROSS, NEAR = box([0.2, 0.2, 0.2], [0.8, 2, 0.8]), box([5, 0, 0], [6, 1, 1])
TABLE = Compound([box([0, 0, 0], [1, 1, 1]), box([1, 0, 0], [3, 1, 1]), box([0.5, 0, 0], [2, 1, 1])])
FLAT_TABLE = Compound([box([0, 0], [1, 1]), box([1, 0], [3, 1])])
HALVES = Compound([box([0, 0, 0], [1, 2, 1]), box([1, 0, 0], [2, 2, 1])])
LYING = ConvexHull([[0, 0, 0], [2, 0, 0], [0, 2, 0]])
PLATE = Compound([ConvexHull([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0.0]]), box([3, 0, -1], [4, 2, 1])])
FEET = Compound([box([0, 0, 1], [0.5, 0.5, 2]), box([2, 0, 1], [3, 1, 2])])
NEEDLE_AND_BOX = Compound([ConvexHull([[1, 1, -1], [1, 1, 1.0]]), box([3.9, 0, -1], [5, 2, 1])])
TRIANGLE = ConvexHull([[0.5, 0.5, 1], [1.5, 0.5, 1], [1, 1, 1.0]])
LYING_AND_BOX = Compound([LYING, box([0, 2.6, -1], [1, 3, 1])])
LYING_BESIDE = Compound([LYING.translated(np.array([0.5, 0.5, 0.0])), box([3, 0, -1], [4, 1, 1])])
FLIP = np.diag([1.0, -1, 1])
KNOWN = {
    # Out of the plane; each wall is 0.1 deep, but there are two.
    "tight": (U, box([0.9, 0.5, 0.2], [3.1, 5, 0.8]), "penetrating", {"depth": 0.8, "overlap": 0.5, "tie_count": 2}),
    "long": (U, box([0.9, 1.5, -20], [3.1, 9, 20]), "penetrating", {"mtv": (0, 1.5, 0)}),
    "loose": (U, box([1.2, 1.5, 0.2], [2.8, 5, 0.8]), "separated", {"signed_distance": 0.2}),
    "fitting": (U, box([1, 1, 0], [3, 5, 1]), "touching", {"depth": 0.0, "areas": (2, 2, 2)}),
    "rod in ring": (RING, ROD, "separated", {}),
    "rod in a ring's wall": (RING, ROD.translated(np.array([0.9, 0, 0])), "penetrating", {"mtv": (-0.2, 0, 0)}),
    "rings": (RING, turned(ring(16, 0.9, 1.4, 0.3), np.eye(3), [0.1, 0.1, 0]), "penetrating", {}),
    "linked": (RING, turned(ring(16), RING_ACROSS, [1.25, 0, 0]), "separated", {}),
    # Twelve gaps closed on both sides, but for the last.
    "combs": (COMB, turned(comb(12), FLIP, [0.9, 6, 0]), "penetrating", {"mtv": (0.1, 0, 0), "region_count": 23}),
    "deep combs": (COMB, turned(comb(12), FLIP, [0.9, 4.5, 0]), "penetrating", {"depth": np.hypot(0.1, 0.5)}),
    # Each quarter alone would push sideways.
    "quarters": (
        QUARTERS,
        box([-0.2, -0.2, 0.4], [0.2, 0.2, 3]),
        "penetrating",
        {"mtv": (0, 0, 0.6), "overlap": 0.2, "areas": (0.16,), "patch_counts": (4,), "center": (0, 0, 0.7)},
    ),
    "itself": (U, U, "coincident", {}),
    "in another order": (U, Compound(U.pieces[::-1]), "coincident", {}),
    "in other pieces": (U, U_IN_HALVES, "coincident", {}),
    "inside of the union, of no piece": (TWO, ACROSS, "b_inside_a", {}),
    "around": (ACROSS, TWO, "a_inside_b", {}),
    "over a gap": (Compound([box([0, 0, 0], [1, 0.9, 1]), TWO.pieces[1]]), ACROSS, "penetrating", {}),
    "near": (U, NEAR, "separated", {"signed_distance": 1.0}),
    # Patches of one plane are one region, and overlaps count once.
    "on a table": (
        TABLE,
        box([0.25, 0.25, 1], [2.5, 0.75, 2]),
        "touching",
        {"areas": (1.125,), "lengths": (5.5,), "patch_counts": (3,), "center": (1.375, 0.5, 1)},
    ),
    "feet": (
        TABLE,
        Compound([box([0, 0, 1], [0.5, 0.5, 2]), box([2, 0, 1], [3, 1, 2])]),
        "touching",
        {"areas": (1, 0.25)},
    ),
    "in the plane": (
        FLAT_TABLE,
        Compound([box([0.5, 1], [2, 2]), box([2.5, 1], [4, 2])]),
        "touching",
        {"length": 2.0, "lengths": (1.5, 0.5)},
    ),
    # Flat pieces are not in the way, and in one plane they only touch.
    "through a plate": (
        PLATE,
        Compound([ConvexHull([[1, 1, -1], [1, 1, 1.0]]), box([3.9, 0, -1], [5, 2, 1])]),
        "penetrating",
        {},
    ),
    "plates": (Compound([PLATE.pieces[0]] * 2), PLATE.pieces[0], "touching", {"depth": 0.0}),
    "lying": (LYING_AND_BOX, LYING_BESIDE, "touching", {"signed_distance": 0.0, "area": 0.5}),
    "lying, swapped": (LYING_BESIDE, LYING_AND_BOX, "touching", {"signed_distance": 0.0, "area": 0.5}),
    "a triangle on two": (
        HALVES,
        ConvexHull([[0.5, 0.5, 1], [1.5, 0.5, 1], [1, 1, 1.0]]),
        "touching",
        {"depth": 0.0, "area": 0.25},
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(name):
    a, b, relation, expected = KNOWN[name]
    c = contact(a, b)
    assert (c.relation, c.status) == (relation, Status.CERTIFIED)
    check(c, as_compound(a), as_compound(b))
    found = {
        "overlap": c.certificate.overlap,
        "tie_count": len(c.ties),
        "region_count": len(c.regions),
        "areas": [region.area for region in c.regions],
        "lengths": [region.length for region in c.regions],
        "patch_counts": [len(region.patches) for region in c.regions],
    }
    for field, value in expected.items():
        assert found.get(field, getattr(c, field, None)) == pytest.approx(value, abs=1e-9)


def test_within_clearance():
    assert contact(U, NEAR, clearance=2).relation is Relation.WITHIN_CLEARANCE


@pytest.mark.slow
def test_pieces_that_a_whole_is_cut_into_do_not_matter():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        cuts = np.linspace(-1, 1, 4)
        cells = [box(np.array(low), np.array(low) + 2 / 3) for low in product(cuts[:-1], repeat=3)]
        b = turned([box([-0.5] * 3, [0.5] * 3)], rotation(rng), rng.uniform(-1, 1, 3))
        c = contact(Compound(cells), b)
        whole = contact(box([-1] * 3, [1] * 3), b.pieces[0])
        assert c.signed_distance == pytest.approx(whole.signed_distance, abs=1e-9)
        assert c.relation is whole.relation


# ---------------------------------------------------------------------------------------------------------------------
# Relations, regions


@pytest.mark.parametrize("seed", range(20))
def test_area_of_overlapping_patches_is_that_of_shapely(seed):
    rng = np.random.default_rng(seed)
    floor = []
    for _ in range(rng.integers(2, 7)):
        low = rng.integers(0, 6, 2) / 2 if seed % 2 else rng.uniform(0, 3, 2)
        side = rng.integers(1, 4, 2) / 2 if seed % 2 else rng.uniform(0.5, 2, 2)
        floor.append(box([*low, 0], [*(low + side), 1]))
    top = box([0.5, 0.5, 1], [3, 3, 2])
    c = contact(Compound(floor), top)
    shadow = shapely.union_all([shapely.box(*p.bounds[0][:2], *p.bounds[1][:2]) for p in floor])
    shadow = shadow.intersection(shapely.box(0.5, 0.5, 3, 3))
    assert c.area == pytest.approx(shadow.area, abs=1e-9)
    if shadow.area > 0:
        assert np.allclose(c.center[:2], [shadow.centroid.x, shadow.centroid.y], atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Order, frame, budget, arguments


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("seed", range(12))
def test_order_and_frame_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    a = Compound([random_box(rng) for _ in range(4)])
    b = Compound([random_box(rng) for _ in range(3)])
    c = contact(a, b)
    tolerance = 4 * c.certificate.tolerance + 1e-9 * abs(c.signed_distance)
    swapped = contact(b, a)
    shuffled = contact(Compound([ConvexHull(p.vertices[rng.permutation(len(p.vertices))]) for p in a.pieces[::-1]]), b)
    turn, move = rotation(rng), rng.normal(size=3) * 3
    other = contact(turned(a.pieces, turn, move), turned(b.pieces, turn, move))
    small = contact(Compound([p.scaled(2.0**-20) for p in a.pieces]), Compound([p.scaled(2.0**-20) for p in b.pieces]))
    tiny = contact(Compound([p.scaled(2.0**-400) for p in a.pieces]), Compound([p.scaled(2.0**-400) for p in b.pieces]))
    for d, scale in ((swapped, 1.0), (shuffled, 1.0), (other, 1.0), (small, 2.0**20), (tiny, 2.0**400)):
        assert d.relation is c.relation
        assert d.status is c.status
        assert d.signed_distance * scale == pytest.approx(c.signed_distance, abs=tolerance)
    again = contact(a, b)
    assert again.mtv.tobytes() == c.mtv.tobytes()
    if len(c.ties) == 1:
        assert np.allclose(swapped.normal, -c.normal, atol=1e-6)
        assert np.allclose(other.normal, turn @ c.normal, atol=1e-6)


def cloud(rng, count) -> Compound:
    return Compound([ConvexHull(rng.normal(size=(10, 3)) * 0.15 + rng.normal(size=3) * 0.5) for _ in range(count)])


def test_the_budget_ends_the_search_with_honest_bounds():
    rng = np.random.default_rng(20)
    a, b = cloud(rng, 12), cloud(rng, 12)
    best = contact(a, b)
    before = -np.inf
    for nodes in (0, 5, 300, 1200):
        c = compound_contact(a, b, budget=Budget(nodes))
        check(c, a, b)
        assert c.iterations <= nodes
        assert c.lower_bound <= best.upper_bound
        assert c.upper_bound >= best.lower_bound
        if c.status is not Status.CERTIFIED:
            assert c.status is Status.BUDGET
            assert c.status.reason
        assert c.lower_bound >= before - 1e-9
        before = c.lower_bound


@pytest.mark.parametrize("points", [[[1, 1, 0.9]], [[1, 0.5, 0.5]], [[1, 0.2, 0.9], [1, 0.8, 0.9]]])
def test_flat_pieces_do_not_slip_between_pieces_that_meet(points):
    b = ConvexHull(np.array(points, dtype=float))
    c, whole = contact(HALVES, b), contact(HALVES.hull, b)
    assert c.signed_distance == pytest.approx(whole.signed_distance, abs=16 * c.certificate.tolerance)
    assert c.relation is whole.relation


@pytest.mark.fast_cases(23)
@pytest.mark.parametrize("index", range(69))
def test_cutting_shapes_of_every_class_to_pieces_does_not_matter(index):
    _, points_a, points_b = pair(3, index)
    rng = np.random.default_rng(index)
    a, b = ConvexHull(points_a), ConvexHull(points_b)
    whole = contact(a, b)
    c = compound_contact(Compound(halved(a, rng)), Compound(halved(b, rng)), budget=Budget(1000))
    assert c.signed_distance == pytest.approx(
        whole.signed_distance, abs=1e-8 * whole.depth + 32 * c.certificate.tolerance
    )
    assert c.lower_bound <= whole.upper_bound + 32 * c.certificate.tolerance
    assert c.upper_bound >= whole.lower_bound - 32 * c.certificate.tolerance
    assert c.relation is whole.relation


@pytest.mark.parametrize("index", range(60))
def test_half_spaces_are_those_of_the_hull_of_all_differences(index):
    _, points_a, points_b = pair(9, index)
    if points_a.shape[1] == 2 or len(points_a) * len(points_b) > 4000:
        return
    a, b = ConvexHull(points_a), ConvexHull(points_b)
    planes = difference_planes(a, b, 0.0)
    vertices = (a.vertices[:, None] - b.vertices[None]).reshape(-1, 3)
    hull = ConvexHull(vertices)
    if hull.rank < 3:
        return
    assert planes is not None
    size = a.extent + b.extent + float(np.linalg.norm(a.center - b.center))
    magnitude = max(a.magnitude, b.magnitude)
    slack = 1e-10 * size + 256 * 2.0**-52 * magnitude
    # None cuts into the difference, and each facet of it is one of them or has no thickness to speak of.
    reach = (hull._centred @ planes.normals.T).max(axis=0) + planes.normals @ hull.center
    assert np.abs(reach - planes.offsets).max() <= slack
    # Just outside of the middle of each facet is outside of one.
    for loop, normal in zip(hull.facets, hull.normals, strict=True):
        middle = hull.vertices[loop].mean(axis=0) + 4 * slack * normal
        assert (planes.normals @ middle - planes.offsets).max() > 0.0


CUBE = box([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize(
    ("match", "call"),
    [
        (r"^pieces", lambda: Compound([])),
        (r"^pieces: number 1", lambda: Compound([CUBE, "cube"])),
        (r"^pieces: number 1", lambda: Compound([CUBE, box([0, 0], [1, 1])])),
        (r"^pieces", lambda: Compound(5)),
        (r"^a must be", lambda: contact([CUBE], CUBE)),
        (r"^b must be", lambda: contact(CUBE, None)),
        ("dimension", lambda: contact(CUBE, box([0, 0], [1, 1]))),
        (r"^clearance", lambda: contact(CUBE, CUBE, clearance=-1.0)),
        (r"^contact_tolerance", lambda: contact(CUBE, CUBE, contact_tolerance=-1.0)),
    ],
)
def test_arguments_are_refused_by_name(match, call):
    with pytest.raises(ValueError, match=match):
        call()


def test_progress_rises_and_cancels():
    a, b = RING, turned(ring(16, 0.9, 1.4, 0.3), np.eye(3), [0.1, 0.1, 0])
    assert_progress(lambda progress: contact(a, b, progress=progress))
