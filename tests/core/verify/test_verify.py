# SPDX-License-Identifier: GPL-3.0-or-later
"""Verification notices every planted lie, says which check it fails, and never doubts an honest answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from contact_lens.core import Box, Contact, ConvexHull, Relation, contact, verify
from contact_lens.core.region.region import RegionKind
from contact_lens.core.result import TieKind
from contact_lens.core.shapes.feature import Feature, FeatureKind

from ..assertions import assert_verified, failed_checks
from ..generators import CUBE, rotation_about

SQUARE = np.array([[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]])
ROOF = np.array([[-1.0, 0, 0], [1, 0, 0], [-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]])

PAIRS: dict[str, tuple[Any, Any]] = {
    "overlapping cubes": (CUBE, CUBE + [0.75, 0.2, 0.1]),
    "touching faces": (CUBE, CUBE + [0.3, 0.2, 1.0]),
    "crossing edges": (ROOF, (ROOF * [1, 1, -1])[:, [1, 0, 2]] + [0.1, 0.2, -0.05]),
    "inside": (CUBE, 0.4 * CUBE + [0.1, 0.05, 0.2]),
    "polygons in one plane": (SQUARE, SQUARE + [0.4, 0.3, 0.0]),
    "crossing segments": ([[-1.0, 0, 0], [1, 0, 0]], [[0.1, -1.0, 0], [0.1, 1, 0]]),
    "segments on one line": ([[-1.0, 0, 0], [1, 0, 0]], [[0.5, 0, 0], [3, 0, 0]]),
    "squares in the plane": (SQUARE[:, :2], SQUARE[:, :2] + [0.9, 0.2]),
    "apart": (CUBE, CUBE @ rotation_about([1, 2, 3], 1.0).T + [2.0, 0.3, 0.2]),
}

Lie = Callable[[Contact], Contact | None]


def field(**changes: Any) -> Lie:
    """A lie about the contact itself; values that are functions make it from the contact."""
    return lambda c: dataclasses.replace(c, **{k: v(c) if callable(v) else v for k, v in changes.items()})


def proof(**changes: Any) -> Lie:
    """A lie in the certificate."""

    def lie(c: Contact) -> Contact:
        changed = {k: v(c.certificate) if callable(v) else v for k, v in changes.items()}
        return dataclasses.replace(c, certificate=dataclasses.replace(c.certificate, **changed))

    return lie


def place(**changes: Any) -> Lie:
    """A lie in the region, where there is one."""

    def lie(c: Contact) -> Contact | None:
        if c.region is None:
            return None
        changed = {k: v(c.region) if callable(v) else v for k, v in changes.items()}
        return dataclasses.replace(c, region=dataclasses.replace(c.region, **changed))

    return lie


def along(c: Contact) -> np.ndarray:
    """A unit vector in the contact plane."""
    normal = c.normal
    if len(normal) == 2:
        return np.array([-normal[1], normal[0]])
    across = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    return across / np.linalg.norm(across)


def moved_region(c: Contact, by: np.ndarray) -> Contact | None:
    return place(vertices=lambda r: r.vertices + by, centroid=lambda r: r.centroid + by)(c)


def half_as_large(c: Contact) -> Contact | None:
    region = c.region
    if region is None or region.kind == "point":
        return None
    vertices = region.centroid + 0.5 * (region.vertices - region.centroid)
    return place(vertices=vertices, area=0.25 * region.area, length=0.5 * region.length)(c)


def its_centre_only(c: Contact) -> Contact | None:
    region = c.region
    if region is None or region.kind == "point":
        return None
    one = {"depths": region.depths[:1], "features": ((c.feature_a, c.feature_b),), "area": 0.0, "length": 0.0}
    return place(kind=RegionKind.POINT, vertices=region.centroid[None], **one)(c)


def turned_round(c: Contact) -> Contact | None:
    return None if either_way(c) else dataclasses.replace(c, normal=-c.normal)


def proved_the_other_way(c: Contact) -> Contact | None:
    return None if either_way(c) else proof(normal=lambda p: -p.normal)(c)


def either_way(c: Contact) -> bool:
    """Flat shapes in one plane: its other normal is as good."""
    return bool((c.ties @ c.normal < -0.999).any())


def tilted(c: Contact) -> np.ndarray:
    """The normal, turned by a thousandth."""
    normal = c.normal + 1e-3 * along(c)
    return normal / np.linalg.norm(normal)


def askew(c: Contact) -> np.ndarray:
    direction = np.array([1.0, 2.0, 3.0])[: len(c.normal)]
    return direction / np.linalg.norm(direction)


WRONG = Feature(FeatureKind.VERTEX, (999,))
CONTACT, CERTIFICATE, REGION = (f"the {what} is well-formed" for what in ("contact", "certificate", "region"))

LIES: dict[str, tuple[Lie, str]] = {
    "tilted normal": (field(normal=tilted), "normal and ties separate|the first tie"),
    "normal a little too long": (field(normal=lambda c: c.normal * (1 + 1e-6)), "normals are unit vectors"),
    "normal of length zero": (field(normal=lambda c: 0.0 * c.normal), "normals are unit vectors"),
    "normal the other way": (turned_round, "normal and ties separate"),
    "one tie askew": (field(ties=lambda c: np.vstack((c.ties, askew(c)))), "normal and ties separate"),
    "one tie too long": (field(ties=lambda c: np.vstack((c.ties, 2.0 * c.normal))), "normals are unit vectors"),
    "certificate's normal the other way": (proved_the_other_way, "normal and ties separate"),
    "flipped sign": (field(signed_distance=lambda c: -c.signed_distance - 1e-3), "realise the signed distance"),
    "a millionth farther": (field(signed_distance=lambda c: c.signed_distance + 1e-6), "realise the signed distance"),
    "deeper": (field(signed_distance=lambda c: c.signed_distance - 1e-3), "realise the signed distance"),
    "moved witness": (field(point_on_a=lambda c: c.point_on_a + 1e-3), "lie on their shapes"),
    "both witnesses moved": (
        field(point_on_a=lambda c: c.point_on_a + 9, point_on_b=lambda c: c.point_on_b + 9),
        "lie on their shapes",
    ),
    "lower bound not widened": (field(lower_bound=lambda c: c.signed_distance), "proves the lower bound"),
    "upper bound not widened": (field(upper_bound=lambda c: c.signed_distance), "prove the upper bound"),
    "lower bound too high": (field(lower_bound=lambda c: c.signed_distance + 1e-3), "proves the lower bound"),
    "upper bound too low": (field(upper_bound=lambda c: c.signed_distance - 1e-3), "prove the upper bound"),
    "both bounds too high": (
        field(lower_bound=lambda c: c.signed_distance + 1e-3, upper_bound=lambda c: c.signed_distance + 2e-3),
        "proves the lower bound",
    ),
    "both bounds too low": (
        field(lower_bound=lambda c: c.signed_distance - 2e-3, upper_bound=lambda c: c.signed_distance - 1e-3),
        "prove the upper bound",
    ),
    "apart or not": (
        field(relation=lambda c: Relation.SEPARATED if c.intersects else Relation.PENETRATING),
        "the relation fits",
    ),
    "coincident": (field(relation=Relation.COINCIDENT), "the relation fits"),
    "no normal": (field(normal=None), CONTACT),
    "no distance": (field(signed_distance=float("nan")), CONTACT),
    "a distance beyond any float": (field(signed_distance=2**2000), CONTACT),
    "no ties": (field(ties=lambda c: c.ties[:0]), CONTACT),
    "no such vertex": (field(feature_a=WRONG), CONTACT),
    "regions that only compounds have": (field(regions=(None,)), CONTACT),
    "curves that only meshes have": (field(curves=None), CONTACT),
    "ties on a circle": (field(tie_kind=TieKind.CIRCLE), CONTACT),
    "unknown method": (field(method="magic"), CONTACT),
    "steps below zero": (field(iterations=-5), CONTACT),
    "cross-check below zero": (field(cross_check=-1.0), CONTACT),
    "clearance is not a number": (field(clearance=float("nan")), CONTACT),
    "a text for a relation": (field(relation="touching the void"), CONTACT),
    "too few weights": (proof(weights=()), CERTIFICATE),
    "index out of range": (proof(index_a=lambda p: (999,) * len(p.index_a)), CERTIFICATE),
    "half an index": (proof(index_b=lambda p: (0.5,) * len(p.index_b)), CERTIFICATE),
    "ragged facets": (proof(facets=((0, 1), (0, 1, 2), (3,))), CERTIFICATE),
    "pairs of nothing": (proof(pairs=((0.5, 1.5),)), CERTIFICATE),
    "no certificate": (field(certificate=None), CERTIFICATE),
    "a list for a region": (lambda c: None if c.region is None else field(region=[])(c), REGION),
    "no region": (lambda c: None if c.region is None else field(region=None)(c), "there is a region"),
    "area is not a number": (place(area=float("nan")), REGION),
    "area is three numbers": (place(area=np.zeros(3)), REGION),
    "length beyond any float": (place(length=2**2000), REGION),
    "one depth for all": (place(depths=lambda r: np.ones(len(r.vertices) + 1)), REGION),
    "no features": (place(features=()), REGION),
    "features that are none": (place(features=lambda r: ((WRONG, WRONG),) * len(r.vertices)), REGION),
    "other depths": (place(depths=lambda r: r.depths + 0.01), "the region's depths fit"),
    "larger area": (place(area=lambda r: r.area + 0.01), "size is that of its outline|well-formed"),
    "longer outline": (place(length=lambda r: r.length + 0.01), "size is that of its outline|well-formed"),
    "region off the plane": (lambda c: moved_region(c, 0.01 * c.normal), "the region"),
    "centroid beside": (place(centroid=lambda r: r.centroid + 0.01), "centroid"),
    "region moved in its plane": (lambda c: moved_region(c, 5.0 * along(c)), "the region is the intersection"),
    "region half as large": (half_as_large, "the region is the intersection"),
    "region at its centre only": (its_centre_only, "the region is the intersection"),
}


@cache
def honest_contacts() -> dict[str, tuple[ConvexHull, ConvexHull, Contact]]:
    shapes = {kind: (ConvexHull(a), ConvexHull(b)) for kind, (a, b) in PAIRS.items()}
    return {kind: (a, b, contact(a, b)) for kind, (a, b) in shapes.items()}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_fails_the_check_that_looks_for_it(lie):
    make, expected = LIES[lie]
    for kind, (a, b, honest) in honest_contacts().items():
        told = make(honest)
        if told is None:
            assert honest.region is None or honest.region.kind == "point" or either_way(honest), f"no lie: {kind}"
            continue
        result = verify(told, a, b)
        assert not result, kind
        assert any(part in check.name for check in result.failures for part in expected.split("|")), (kind, result)


@pytest.mark.parametrize("kind", PAIRS)
def test_an_honest_answer_passes_both_ways_and_at_any_size(kind):
    points_a, points_b = (np.asarray(points, dtype=float) for points in PAIRS[kind])
    for size in (1.0, 1e-300, 1e-160, 1e160, 1e300):
        a, b = ConvexHull(points_a * size), ConvexHull(points_b * size)
        for first, second in ((a, b), (b, a)):
            c = contact(first, second)
            assert verify(c, first, second), str(verify(c, first, second))
            assert not verify(c, first, second.translated(np.full(first.dim, 0.3 * size))), "of another shape"


def test_what_is_no_contact_or_no_shape_is_refused_by_name():
    a, b = ConvexHull(CUBE), ConvexHull(SQUARE[:, :2])
    c = contact(a, a)
    for words, arguments in (
        (r"^answer must be what contact\(\) or a measure returns", (None, a, a)),
        (r"^a must be a shape", (c, CUBE, a)),
        (r"^b must be a shape", (c, a, None)),
        ("same dimension", (c, a, b)),
    ):
        with pytest.raises(ValueError, match=words):
            verify(*arguments)


def test_verify_notices_a_torn_polytope_and_one_that_is_inside_out():
    a, b = ConvexHull(CUBE), ConvexHull(0.7 * CUBE + [0.45, 0.05, 0.1])
    c = contact(a, b)
    whole = c.certificate.facets
    for facets in (whole[1:], tuple(f[::-1] for f in whole), (*whole[1:], whole[0][::-1])):
        assert failed_checks(c, a, b, facets=facets) == ["points or a polytope prove the upper bound"]


def test_slivers_prove_nothing_whatever_direction_rounding_gives_their_normals():
    """All corners of the polytope are on one line, and its facets happen to face away from the origin."""
    for turn, offset, pairs in (
        ((0.9, 0.1, 0.2, 0.3), (0.3, 0.1, 0.2), ((7, 3), (6, 3), (7, 2), (4, 0))),
        ((1, 2, 3, 4), (0.3, 0.1, 0.2), ((5, 0), (4, 1), (5, 1), (6, 2))),
        ((0.5, 0.3, 0.1, 0.2), (0.1, 0.2, 0.3), ((0, 4), (3, 6), (2, 6), (0, 5))),
    ):
        a, b = Box((0, 0, 0), (1, 1, 1), turn), Box(offset, (1, 1, 1), turn)
        facets = (0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)
        failed = failed_checks(contact(a, b), a, b, pairs=pairs, facets=facets)
        assert failed == ["points or a polytope prove the upper bound"]


def test_a_point_deep_inside_is_on_the_very_features_it_names():
    """Two short ridges cross each other deep below: their ends are nearer to the point than the shapes are deep."""
    a = ConvexHull(ROOF * [0.03, 1, 1])
    b = ConvexHull((a.vertices * [1, 1, -1])[:, [1, 0, 2]] - [0, 0, 0.05])
    c = contact(a, b)
    region = c.region
    assert region is not None
    assert region.kind == "point"
    assert c.feature_a.kind == c.feature_b.kind == "edge"
    assert_verified(c, a, b)
    end = Feature(FeatureKind.VERTEX, c.feature_a.vertices[:1])
    lie = dataclasses.replace(region, features=((end, c.feature_b),))
    assert failed_checks(c, a, b, region=lie) == ["the region's vertices lie on the features they name"]


def test_vertices_at_the_edge_of_the_width_may_be_in_one_feature_and_out_of_the_other():
    a = ConvexHull([[-1, 0.5, 0.5], [-1.5, 1.5, -1.5], [0.5, 0, -1.5], [0.5, -1, -1]])
    b = ConvexHull([[-0.1666666666666666, 0.5, -1.5], [-1, 0.5, 0.5], [0.1666666666666666, -0.25, -1.25]])
    for first, second in ((a, b), (b, a)):
        assert_verified(contact(first, second, contact_tolerance=0.10724538330813563), first, second)
