# SPDX-License-Identifier: GPL-3.0-or-later
"""Support features: which vertices are extreme, and in which order a face names them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from contact_lens.core import ConvexHull, contact
from contact_lens.core.shapes.feature import FeatureKind, support_feature

from ..generators import cylinder, rotation


def prism(sides: int) -> ConvexHull:
    """A prism whose corners are given in no order."""
    rng = np.random.default_rng(sides)
    return ConvexHull(rng.permutation(cylinder(sides)) @ rotation(rng).T)


def from_its_least(facet: np.ndarray) -> tuple[int, ...]:
    """The numbers of a facet's vertices from the least on, in their order."""
    return tuple(np.roll(facet, -int(facet.argmin())).tolist())


@pytest.mark.parametrize("sides", [3, 4, 5, 8, 24])
def test_a_face_is_wound_as_the_facet_is_that_it_is_made_of(sides):
    shape = prism(sides)
    for normal, facet in zip(shape.normals, shape.facets, strict=True):
        feature = support_feature(shape, normal, 1e-9)
        assert feature.kind is FeatureKind.FACE
        assert feature.vertices == from_its_least(facet)


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_quadrangle_is_wound_whatever_the_order_of_its_corners(up):
    for corners in itertools.permutations([[0, 0, 0], [2, 0, 0], [3, 2, 0], [0, 1, 0]]):
        shape = ConvexHull([*corners, [1, 1, -up]])
        feature = support_feature(shape, np.array([0.0, 0.0, up]), 1e-9)
        loop = shape.vertices[list(feature.vertices)]
        sides = np.roll(loop, -1, axis=0) - loop
        assert (up * np.cross(sides, np.roll(sides, -1, axis=0))[:, 2] > 0.0).all()
        assert feature.vertices[0] == min(feature.vertices)


def test_a_face_with_a_vertex_between_two_others_is_wound_too():
    # Three facets that are one face within the width: a low roof over a triangle and its top.
    shape = ConvexHull([[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 1e-7], [1, 1, -2]])
    feature = support_feature(shape, np.array([0.0, 0.0, 1.0]), 1e-6)
    assert set(feature.vertices) == {0, 1, 2, 3}
    assert [i for i in feature.vertices if i != 3] == [0, 1, 2]


def test_the_features_of_a_contact_are_wound_as_the_facets_seen_from_outside():
    shape = prism(6)
    cap = int(np.argmax([len(facet) for facet in shape.facets]))
    on_top = ConvexHull(shape.vertices + 0.999 * shape.normals[cap])
    c = contact(shape, on_top)
    for feature, solid, normal in ((c.feature_a, shape, c.normal), (c.feature_b, on_top, -c.normal)):
        assert feature.vertices == from_its_least(solid.facets[int((solid.normals @ normal).argmax())])


def test_in_the_plane_a_low_corner_and_its_neighbours_are_one_feature():
    shape = ConvexHull([[0, 1e-3], [-1, 0], [1, 0], [0, -1]])
    feature = support_feature(shape, np.array([0.0, 1.0]), 1.1e-3)
    assert feature.kind is FeatureKind.FACE
    assert shape.vertices[list(feature.vertices)].tolist() == [[0, 1e-3], [-1, 0], [1, 0]]
