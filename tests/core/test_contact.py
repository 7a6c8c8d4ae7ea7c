# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door: what it refuses, what it calls things, and that it always says the same."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from contact_lens.core import Box, Contact, ConvexHull, Relation, Status, box_sat, contact, verify
from contact_lens.core.shapes.feature import FeatureKind

from .assertions import fingerprint
from .generators import CLASSES, CUBE, box, disc, pair, rotation_about, sphere
from .oracles import exact, gap_along, sat_axes, tolerance

METHODS = ("auto", "gjk", "sat", "both")
every_method = pytest.mark.parametrize("method", METHODS)


def touch(a, b, **options) -> Contact:
    return contact(ConvexHull(a), ConvexHull(b), **options)


# ---------------------------------------------------------------------------------------------------------------------
# Input


@pytest.mark.parametrize("method", ["", "GJK", "epa", None, 1])
def test_methods_that_are_none_are_refused_by_name(method):
    with pytest.raises(ValueError, match=r"\bmethod\b"):
        touch(CUBE, CUBE, method=method)


def test_methods_that_disagree_are_reported(monkeypatch):
    module = importlib.import_module("contact_lens.core.narrow_phase.polytope_contact")
    honest = module.sat
    a, b = ConvexHull(CUBE), ConvexHull(CUBE + [0.75, 0.25, 0.125])
    wrong = dataclasses.replace(honest(a, b), signed_distance=honest(a, b).signed_distance + 0.0625)
    assert contact(a, b, method="both").cross_check == 0.0
    monkeypatch.setattr(module, "sat", lambda *_, **__: wrong)
    c = contact(a, b, method="both")
    assert (c.status, c.cross_check) == (Status.METHODS_DISAGREE, 0.0625)


def test_a_depth_of_zero_has_no_sign():
    c = touch(CUBE, CUBE + [1, 0, 0])
    assert (str(c.depth), str(c.mtv.tolist())) == ("0.0", "[0.0, 0.0, 0.0]")


# ---------------------------------------------------------------------------------------------------------------------
# Relations: each of the seven, and their order

OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)]) * 0.1

RELATIONS = [
    (Relation.COINCIDENT, CUBE, CUBE[::-1], {}),
    (Relation.COINCIDENT, CUBE, CUBE + 1e-7, {}),
    (Relation.COINCIDENT, disc(5), disc(5), {}),
    (Relation.COINCIDENT, CUBE[:2], CUBE[:2], {}),
    (Relation.TOUCHING, CUBE[:4], CUBE[:3], {}),  # a square, and a triangle of three of its corners
    (Relation.TOUCHING, CUBE[:3], CUBE[:4], {}),
    (Relation.TOUCHING, CUBE, CUBE + [1, 0, 0], {}),
    (Relation.TOUCHING, CUBE, CUBE + [1 + 1e-6, 0, 0], {}),
    (Relation.TOUCHING, CUBE, CUBE + [1 - 1e-6, 0, 0], {}),
    (Relation.TOUCHING, disc(6), disc(6) + [0.5, 0, 0], {}),
    (Relation.TOUCHING, CUBE, CUBE + [1.05, 0, 0], {"contact_tolerance": 0.1}),
    (Relation.A_INSIDE_B, OCTAHEDRON, CUBE, {}),
    (Relation.A_INSIDE_B, CUBE[[0, 3, 5, 6]], CUBE, {}),
    (Relation.A_INSIDE_B, OCTAHEDRON + [0.3, 0.2, 0.1], CUBE, {}),
    (Relation.B_INSIDE_A, CUBE, OCTAHEDRON, {}),
    (Relation.B_INSIDE_A, CUBE, OCTAHEDRON + [0.4, 0, 0], {}),
    (Relation.PENETRATING, CUBE, CUBE + [0.5, 0.25, 0], {}),
    (Relation.PENETRATING, CUBE, CUBE + [1 - 1e-3, 0, 0], {}),
    (Relation.PENETRATING, CUBE * [3, 0.5, 0.5], CUBE * [0.5, 3, 0.5], {}),
    (Relation.WITHIN_CLEARANCE, CUBE, CUBE + [1.25, 0, 0], {"clearance": 0.25}),
    (Relation.WITHIN_CLEARANCE, CUBE, CUBE + [1.25, 0, 0], {"clearance": 3.0}),
    (Relation.SEPARATED, CUBE, CUBE + [1.25, 0, 0], {"clearance": 0.24}),
    (Relation.SEPARATED, CUBE, CUBE + [1.25, 0, 0], {}),
    (Relation.SEPARATED, CUBE, CUBE + [1 + 1e-3, 0, 0], {}),
    (Relation.SEPARATED, [[0.0, 0, 0]], [[0.0, 0, 1e-12]], {}),
    (Relation.B_INSIDE_A, CUBE[:, :2], CUBE[:, :2] * 0.5, {}),
    (Relation.COINCIDENT, CUBE[:, :2], CUBE[:, :2], {}),
]


@every_method
@pytest.mark.parametrize(("relation", "a", "b", "options"), RELATIONS)
def test_relation(relation, a, b, options, method):
    c = touch(a, b, method=method, **options)
    assert c.relation == relation
    assert verify(c, ConvexHull(a), ConvexHull(b)).ok


def test_every_relation_is_tested():
    assert {relation for relation, *_ in RELATIONS} == set(Relation)


def test_a_point_on_a_point_is_depth_zero():
    c = touch([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]])
    assert (c.signed_distance, c.intersects, c.relation, c.region.kind) == (0.0, True, Relation.COINCIDENT, "point")
    assert np.array_equal(c.region.vertices, [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("flat", [0, 1, 2])
def test_flat_shapes_that_overlap_in_their_plane_touch_with_their_overlap_as_region(flat):
    turn = np.roll(np.eye(3), flat, axis=0)
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    c = touch(square @ turn.T, (square + [0.25, 0.5, 0]) @ turn.T)
    assert (c.signed_distance, c.relation) == (0.0, Relation.TOUCHING)
    assert abs((turn.T @ c.normal)[2]) == pytest.approx(1, abs=1e-15)
    assert c.region.kind == "polygon"
    assert c.region.area == pytest.approx(0.375, abs=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Answers known in closed form


@every_method
def test_two_cubes_side_by_side(method):
    c = touch(CUBE, CUBE + [0.75, 0.25, 0.125], method=method)
    assert (c.signed_distance, c.depth, c.intersects, c.status) == (-0.25, 0.25, True, Status.CERTIFIED)
    assert (c.normal.tolist(), c.mtv.tolist()) == ([1, 0, 0], [0.25, 0, 0])
    assert np.allclose(c.point_on_b - c.point_on_a, [-0.25, 0, 0], atol=1e-15)
    assert (c.region.kind, c.region.area) == ("polygon", pytest.approx(0.75 * 0.875))
    assert np.allclose(c.region.centroid, [0.375, 0.125, 0.0625])
    assert np.allclose(c.region.depths, 0.25)


@every_method
def test_two_cubes_apart_at_a_corner(method):
    c = touch(CUBE, CUBE + [2, 3, 3], method=method)
    assert c.signed_distance == pytest.approx(3.0, abs=1e-15)
    assert (c.depth, c.intersects, c.mtv.tolist(), c.region) == (0.0, False, [0, 0, 0], None)
    assert np.allclose(c.normal, np.array([1, 2, 2]) / 3)
    assert np.allclose((c.point_on_a, c.point_on_b), [[0.5] * 3, [1.5, 2.5, 2.5]])


@pytest.mark.parametrize("seed", range(8))
def test_two_boxes_are_tested_along_fifteen_axes(seed):
    random = np.random.default_rng(seed)
    a, b = (Box(random.normal(size=3), random.uniform(0.5, 2.0, 3), random.normal(size=4)) for _ in "ab")
    c, by_gjk = contact(a, b, method="sat"), contact(a, b, method="gjk")
    assert c.method.startswith("sat")
    assert c.iterations == box_sat(a, b).axes_tested <= 15
    assert c.signed_distance == pytest.approx(by_gjk.signed_distance, abs=1e-12)
    assert verify(c, a, b)


@pytest.mark.parametrize("offset", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(
    ("method", "deep", "apart"),
    [
        ("auto", "gjk+epa", "gjk"),
        ("gjk", "gjk+epa", "gjk"),
        ("sat", "sat", "sat+gjk"),
        ("both", "gjk+epa+sat", "gjk+sat"),
    ],
)
def test_the_options_are_in_the_answer_and_a_cross_check_for_both_only(method, deep, apart, offset):
    options = {"clearance": 0.125, "contact_tolerance": 1e-4}
    c = touch(CUBE, CUBE + [offset, 0.1, 0.2], method=method, **options)
    assert c.method == (apart if c.signed_distance > 0.0 else deep)
    assert (c.clearance, c.contact_tolerance, touch(CUBE, CUBE).contact_tolerance) == (0.125, 1e-4, 1e-5)
    assert (c.cross_check is not None) == (method == "both")
    assert c.cross_check is None or c.cross_check <= 1e-12


# ---------------------------------------------------------------------------------------------------------------------
# Ties


@every_method
@pytest.mark.parametrize(
    ("a", "b", "count"),
    [
        (CUBE, CUBE, 6),
        (CUBE, CUBE * 0.5, 6),
        (CUBE * [1, 1, 2], CUBE, 4),
        (CUBE * [1, 2, 2], CUBE, 2),
        (CUBE, CUBE + [0.25, 0, 0], 1),
        (CUBE, CUBE + [0.25, 0.25, 0], 2),
        (CUBE, CUBE + [0.25, 0.25, 0.25], 3),
        (CUBE[:, :2], CUBE[:, :2], 4),
        (disc(3), disc(3), 2),
        (np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]),) * 2 + (6,),
        (OCTAHEDRON, OCTAHEDRON, 8),
    ],
)
def test_equally_good_normals_are_listed(a, b, count, method):
    c = touch(a, b, method=method)
    assert len(c.ties) == count
    assert len(np.unique(np.round(c.ties, 9), axis=0)) == count
    assert np.array_equal(c.ties[0], c.normal)


@every_method
def test_slabs_of_a_billionth_are_no_planes(method):
    slab = box((1.0, 1.0, 1e-9))
    c = touch(slab, slab + [0.25, 0.125, 0.0], method=method)
    assert c.status == Status.CERTIFIED
    assert c.depth == pytest.approx(1e-9, rel=1e-6)


@every_method
def test_normals_a_ten_thousandth_apart_are_two(method):
    roof = np.array([[x, y, z] for y in (-1.0, 1.0) for x, z in ((-1.0, 0.0), (0.0, 1e-4), (1.0, 0.0), (0.0, -3.0))])
    c = touch(roof, [[0.0, 0.0, -0.1]], method=method)
    assert sorted(np.round(c.ties, 6).tolist()) == [[-1e-4, 0.0, 1.0], [1e-4, 0.0, 1.0]]


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize(
    "name",
    [
        *("coincident", "concentric", "contained", "integer_lattice", "aligned_stack", "face_contact"),
        *("flat_and_solid", "float32_scene", "far_away", "sizes", "transformed", "polygons_2d"),
    ],
)
def test_no_equally_good_normal_is_missing(name):
    """Every separating axis that is as deep as the best, by the exhaustive oracle, is in the list."""
    place = list(CLASSES).index(name)
    for cycle in range(60):
        _, a, b = pair(55, cycle * len(CLASSES) + place)
        if max(len(a), len(b)) > 12:
            continue
        c, truth = touch(a, b), exact(a, b)
        tol = tolerance(a, b, truth.signed_distance)
        if truth.signed_distance > -100 * tol:
            continue
        axes, gaps = sat_axes(a, b)
        for axis in axes[gaps >= truth.signed_distance - 1e-3 * tol]:
            nearest = np.abs(c.ties - axis).sum(axis=1).min()
            assert nearest < 1e-6 or gap_along(a, b, axis) < truth.signed_distance - tol, (cycle, axis)


# ---------------------------------------------------------------------------------------------------------------------
# Region kinds

ROOF = np.array([[-1.0, 0, 0], [1, 0, 0], [-1, -1, -1], [-1, 1, -1], [1, -1, -1], [1, 1, -1]])
TIP = np.array([[0.0, 0, 0], [1, 0, 1], [-1, 1, 1], [-1, -1, 1]])
SLAB = CUBE * [4, 4, 1] - [0, 0, 0.5]


SUPPORTED = {
    "tip on face": (SLAB, TIP, "point", 0.0),
    "crossing edges": (ROOF, ROOF * [1, 1, -1] @ rotation_about([0, 0, 1], 1.0).T, "point", 0.0),
    "edge on face": (SLAB, ROOF * [1, 1, -1], "segment", 2.0),
    "face inside face": (SLAB, CUBE + [0.25, 0.25, 0.5], "polygon", 1.0),
    "corner of faces": (SLAB, CUBE + [2, 2, 0.5], "polygon", 0.25),
    "octagon": (
        CUBE - [0, 0, 0.5],
        CUBE @ rotation_about([0, 0, 1], np.pi / 4).T + [0, 0, 0.5],
        "polygon",
        2 * np.sqrt(2) - 2,
    ),
}
"""Pairs that meet at z = 0 and keep their normal when pushed into each other."""

BALANCED = {
    "tip on edge": (ROOF, TIP, "point", 0.0),
    "edge along edge": (ROOF, ROOF * [1, 1, -1] + [0.5, 0, 0], "segment", 1.5),
}
"""Pairs that slip sideways when pushed: the way out is over the slope."""


@pytest.mark.parametrize(
    ("name", "depth"),
    [(name, depth) for name in SUPPORTED for depth in (0.0, -1e-6, 1e-3)]
    + [(name, depth) for name in BALANCED for depth in (0.0, -1e-6)],
)
def test_region_kind(name, depth):
    a, b, kind, measure = (SUPPORTED | BALANCED)[name]
    c = touch(a, b - [0, 0, depth])
    assert c.signed_distance == pytest.approx(-depth, abs=1e-12)
    assert c.region.kind == kind
    assert {"point": 0.0, "segment": c.region.length, "polygon": c.region.area}[kind] == pytest.approx(
        measure, rel=1e-6
    )
    assert np.allclose(c.region.depths, depth, atol=1e-12)
    if kind == "polygon":
        v, n = c.region.vertices, len(c.region.vertices)
        turn = sum(np.cross(v[i] - v[0], v[(i + 1) % n] - v[0]) for i in range(n))
        assert turn @ c.normal > 0, "counter-clockwise seen from the tip of the normal"


# ---------------------------------------------------------------------------------------------------------------------
# The same every time


@pytest.mark.fast_cases(8)
@pytest.mark.parametrize("name", CLASSES)
def test_called_twice_gives_the_same_bytes(name):
    place = list(CLASSES).index(name)
    for cycle in range(5):
        _, a, b = pair(9, cycle * len(CLASSES) + place)
        shape_a, shape_b = ConvexHull(a), ConvexHull(b)
        for method in METHODS:
            first = fingerprint(contact(shape_a, shape_b, method=method))
            assert first == fingerprint(contact(shape_a, shape_b, method=method))
            assert first == fingerprint(contact(ConvexHull(a.copy()), ConvexHull(np.asfortranarray(b)), method=method))


SCRIPT = """
import json, sys
import numpy as np
from contact_lens.core import ConvexHull, contact
c = contact(*(ConvexHull(np.array(p)) for p in json.load(sys.stdin)))
print(c.normal.tobytes().hex(), c.signed_distance.hex(), c.ties.tobytes().hex(), c.region.vertices.tobytes().hex())
"""


def test_another_process_gives_the_same_bytes():
    """No order of a set or a hash seed may show."""
    points = json.dumps([sphere(3, 6).tolist(), (sphere(3, 6) * 0.5).tolist()])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=points,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1


# ---------------------------------------------------------------------------------------------------------------------
# Which features decided


@pytest.mark.parametrize("method", ["gjk", "sat"])
def test_two_cubes_face_to_face_are_decided_by_their_faces_wherever_they_are(method):
    rng = np.random.default_rng(12)
    for gap in (-0.1, 0.0, 0.3):
        for across in rng.uniform(-0.8, 0.8, size=(24, 2)):
            a, b = ConvexHull(CUBE), ConvexHull(CUBE + [1.0 + gap, *across])
            c = contact(a, b, method=method)
            assert (c.feature_a.kind, c.feature_b.kind) == (FeatureKind.FACE, FeatureKind.FACE)
            assert [len(feature.vertices) for feature in (c.feature_a, c.feature_b)] == [4, 4]


def test_a_corner_on_a_face_and_two_crossed_edges_are_told_apart():
    cube = ConvexHull(CUBE)
    spike = ConvexHull(np.array([[0.1, 0.2, 0.45], [-1, -1, 2], [1, -1, 2], [0, 1, 2]]))
    c = contact(cube, spike)
    assert (c.feature_a.kind, c.feature_b.kind) == (FeatureKind.FACE, FeatureKind.VERTEX)
    assert c.feature_b.vertices == (int(np.flatnonzero(spike.vertices[:, 2] == 0.45)[0]),)
    roof = np.array([[-1.0, 0, 0], [1, 0, 0], [-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]])
    turned = (roof * [1, 1, -1])[:, [1, 0, 2]] + [0.1, 0.2, -0.05]
    c = contact(ConvexHull(roof), ConvexHull(turned))
    assert (c.feature_a.kind, c.feature_b.kind) == (FeatureKind.EDGE, FeatureKind.EDGE)
