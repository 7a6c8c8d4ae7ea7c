# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods of every shape: support, distance, volume, centroid, bounds, and its image under a matrix."""

from __future__ import annotations

import numpy as np
import pytest

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
    Polygon,
    Rounded,
    Sphere,
    contact,
    mesh_pieces,
)
from contact_lens.core.shapes.box import rotate

from ..generators import as_matrix, sphere_points

RNG = np.random.default_rng(7)
TURN = RNG.normal(size=4)
FRAME = rotate(np.eye(3), TURN).T
SOLIDS = {
    "hull": ConvexHull(RNG.normal(size=(20, 3))),
    "box": Box((1, 2, 3), (2, 0.5, 1), TURN),
    "sphere": Sphere((1, 0, 2), 0.7),
    "capsule": Capsule((0, 0, 0), (1, 2, 0), 0.3),
    "cylinder": Cylinder((0, 1, 0), (1, 2, 2), 0.8),
    "cone": Cone((0, 1, 0), (1, 2, 2), 0.8),
    "ellipsoid": Ellipsoid((1, 0, 0), (1, 2, 0.5), TURN),
    "ball": Ellipsoid((1, 0, 0), (0.5, 0.5, 0.5), TURN),
    "rounded hull": Rounded(ConvexHull(RNG.normal(size=(12, 3))), 0.4),
    "rounded polygon in space": Rounded(ConvexHull([(0, 0, 0), (2, 0, 1), (2, 1, 1), (0, 1, 0)]), 0.2),
    "rounded cylinder": Rounded(Cylinder((0, 1, 0), (1, 2, 2), 0.8), 0.5),
    "rounded cone": Rounded(Cone((0, 1, 0), (1, 2, 2), 0.8), 0.5),
    "rounded ellipsoid": Rounded(Ellipsoid((1, 0, 0), (1, 2, 0.5), TURN), 0.3),
    "polygon": Polygon([(0, 0), (2, 0), (3, 1), (0, 2)]),
    "circle": Circle((1, 1), 0.5),
    "capsule in the plane": Capsule((0, 0), (1, 2), 0.3),
    "rounded polygon": Rounded(Polygon([(0, 0), (2, 0), (3, 1), (0, 2)]), 0.25),
}
THIN = {
    "flat cylinder": Cylinder((0, 1, 0), (0.01, 1, 0.02), 0.8),
    "sharp cone": Cone((0, 1, 0), (1, 2, 2), 0.02),
    "flat cone": Cone((0, 1, 0), (0.1, 1, 0.02), 0.8),
    "spheroid": Ellipsoid((1, 0, 0), (1, 1, 0.5), TURN),
    "egg": Ellipsoid((1, 0, 0), (0.5, 0.5, 2), TURN),
    "needle": Ellipsoid((1, 0, 0), (0.01, 0.02, 1), TURN),
}
FLAT = {
    "flat box": Box((1, 2, 3), (2, 0, 1), TURN),
    "polygon in space": ConvexHull([(0, 0, 0), (2, 0, 1), (2, 1, 1), (0, 1, 0)]),
    "segment": Capsule((0, 0, 0), (1, 2, 3), 0.0),
    "point": Sphere((1, 2, 3), 0.0),
    "segment in the plane": ConvexHull([(0, 0), (1, 2)]),
}
L_PIECES = Compound([Box((0, 0, 0), (4, 2, 2)), Box((1, 1, 0), (2, 4, 2)), Box((0, 0, 0), (1, 1, 1))])
TETRAHEDRON = Mesh([(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
EVERY = SOLIDS | FLAT | {"compound": L_PIECES, "mesh": TETRAHEDRON}


ATTRIBUTES = [
    (Sphere((1, 2, 3), 0.5), {"center": (1, 2, 3), "radius": 0.5}),
    (Circle((1, 2), 0.5), {"center": (1, 2), "radius": 0.5}),
    (Capsule((3, 0, 0), (0, 2, 0), 0.5), {"start": (3, 0, 0), "end": (0, 2, 0), "radius": 0.5}),
    (Capsule((3, 0), (3, 0), 0.5), {"start": (3, 0), "end": (3, 0), "radius": 0.5}),
    (Cylinder((3, 0, 0), (0, 2, 0), 0.5), {"start": (3, 0, 0), "end": (0, 2, 0), "radius": 0.5}),
    (Cone((3, 0, 0), (0, 2, 0), 0.5), {"base": (3, 0, 0), "apex": (0, 2, 0), "radius": 0.5}),
    (Ellipsoid((1, 2, 3), (3, 1, 2), TURN), {"center": (1, 2, 3), "semi_axes": (3, 1, 2), "axes": FRAME.T}),
    (Ellipsoid((1, 2, 3), (2, 2, 2)), {"center": (1, 2, 3), "semi_axes": (2, 2, 2)}),
    (Box((1, 2, 3), (4, 0.5, 1), TURN), {"center": (1, 2, 3), "size": (4, 0.5, 1), "axes": FRAME.T}),
    (Box((1, 2, 3), (4, 0, 1)), {"center": (1, 2, 3), "size": (4, 0, 1)}),
    (Rounded(Cylinder((3, 0, 0), (0, 2, 0), 0.5), 0.25), {"radius": 0.25}),
    (Rounded(Sphere((3, 0, 0), 0.5), 0.25), {"radius": 0.75}),
]


@pytest.mark.parametrize(("shape", "attributes"), ATTRIBUTES, ids=lambda value: type(value).__name__)
def test_attributes_are_what_their_names_say_also_of_images(shape, attributes):
    """Those of a shape moved along (5, 7, ...) and scaled by 2 are moved and scaled too."""
    shift = np.array([5.0, 7.0, 11.0])[: shape.dim]
    moved = shape.translated(shift).scaled(2.0)
    turned = shape.transformed(as_matrix(np.diag(-np.ones(shape.dim)), 2.0 * shift))
    for name, value in attributes.items():
        is_place = name in ("center", "start", "end", "base", "apex")
        assert getattr(shape, name) == pytest.approx(np.array(value), abs=1e-14), name
        wanted = 2.0 * (np.array(value) + shift) if is_place else np.array(value) * (1.0 if name == "axes" else 2.0)
        assert getattr(moved, name) == pytest.approx(wanted, abs=1e-13), name
        if name != "axes":
            wanted = 2.0 * shift - np.array(value) if is_place else np.array(value)
            assert getattr(turned, name) == pytest.approx(wanted, abs=1e-13), name


def test_only_what_is_round_has_a_radius():
    for name, shape in (EVERY | THIN).items():
        assert hasattr(shape, "radius") == isinstance(shape, Rounded | Cylinder | Cone), name


def test_shapes_are_written_in_one_line():
    for shape in (*EVERY.values(), *THIN.values(), Rounded(SOLIDS["box"], 0.5), SOLIDS["hull"].translated((1e9, 0, 0))):
        assert repr(shape).startswith(f"{type(shape).__name__}(")
        assert repr(shape).count("\n") == 0
        assert len(repr(shape)) < 200, shape


@pytest.mark.parametrize(
    "shape", [shape for shape, _ in ATTRIBUTES if not isinstance(shape, Rounded) or type(shape) is not Rounded]
)
def test_what_is_written_of_a_shape_of_few_numbers_makes_it(shape):
    """But for the axes of turned ones, which are made from a quaternion."""
    text = repr(shape)
    if "axes=((" not in text:
        again = eval(text)
        assert type(again) is type(shape)
        directions = sphere_points(RNG, 20, shape.dim)
        np.testing.assert_allclose(again.supports(directions), shape.supports(directions), atol=1e-12)


def test_shapes_of_many_numbers_are_written_by_how_many_parts_they_have():
    assert repr(ConvexHull([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, -0.5)])) == (
        "ConvexHull(4 vertices, 4 facets, (0, 0, -0.5) to (1, 2, 0))"
    )
    assert repr(TETRAHEDRON) == "Mesh(4 points, 4 triangles, (0, 0, 0) to (2, 3, 1))"
    assert repr(L_PIECES) == "Compound(3 pieces, (-2, -1, -1) to (2, 3, 1))"
    assert repr(mesh_pieces(TETRAHEDRON)) == "Decomposition(1 piece, exact)"
    c = contact(TETRAHEDRON, TETRAHEDRON.translated((0, 0, 1.5)))
    assert repr(c) == "Contact(separated, signed_distance=0.5, normal=(0, 0, 1), certified)"
    assert "\n" not in repr(c.certificate)


def heights(shape, normals) -> np.ndarray:
    """The support function."""
    return (shape.supports(normals) * normals).sum(axis=1)


def assert_is_image(image, shape, linear, offset, error=1e-13) -> None:
    """h(LX + t) in a direction n is h(X) in the direction L^T n, plus t.n: that is the image and no other."""
    normals = sphere_points(RNG, 200, shape.dim)
    expected = heights(shape, normals @ linear) + normals @ offset
    np.testing.assert_allclose(
        heights(image, normals), expected, rtol=0.0, atol=error * (image.extent + image.magnitude)
    )


@pytest.mark.parametrize("name", EVERY)
def test_every_shape_is_turned_mirrored_translated_and_scaled(name):
    shape = EVERY[name]
    dim = shape.dim
    turn = FRAME if dim == 3 else np.array([[0.6, -0.8], [0.8, 0.6]])
    mirror, same, offset = np.diag([1.0, -1.0, 1.0][:dim]), np.eye(dim), np.array([0.5, -2.0, 3.0])[:dim]
    images = [
        (shape.transformed(as_matrix(linear, offset)), linear, offset) for linear in (turn, turn @ mirror, 2.5 * turn)
    ]
    images += [(shape.translated(step), same, step) for step in (offset, 1e6 * offset)]
    for image, linear, step in (*images, (shape.scaled(0.3), 0.3 * same, 0.0 * offset)):
        assert type(image) is type(shape)
        assert_is_image(image, shape, linear, step)
    np.testing.assert_array_equal(shape.scaled(2.0**-7).bounds, np.ldexp(shape.bounds, -7))


@pytest.mark.parametrize("name", ["hull", "box", "ellipsoid", "ball", "polygon", "compound", "mesh", *FLAT, "sphere"])
def test_these_shapes_keep_their_class_under_any_matrix_but_a_sphere_becomes_an_ellipsoid(name):
    shape = EVERY[name]
    linear = RNG.normal(size=(shape.dim, shape.dim))
    image = shape.transformed(as_matrix(linear, np.ones(shape.dim)))
    assert type(image) is (Ellipsoid if name == "sphere" else type(shape))
    assert_is_image(image, shape, linear, np.ones(shape.dim))


@pytest.mark.parametrize("name", ["sphere", "capsule", "cylinder", "cone"])
def test_scale_is_even_within_the_digits_of_blender_or_along_the_axis(name):
    shape = SOLIDS[name]
    images = [(1.7 * FRAME, 1e-6)]
    if name in ("cylinder", "cone"):
        images.append((2.0 * FRAME @ (np.eye(3) + 3.0 * np.outer(shape.axis, shape.axis)), 1e-13))
    for linear, error in images:
        matrix = as_matrix(linear, (1, 2, 3)).astype(np.float32 if error > 1e-9 else float)
        image = shape.transformed(matrix)
        assert type(image) is type(shape)
        assert_is_image(image, shape, matrix[:3, :3].astype(float), matrix[:3, 3].astype(float), error)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("capsule", "take ConvexHull"),
        ("rounded hull", "take ConvexHull"),
        ("cylinder", "take ConvexHull"),
        ("cone", "take ConvexHull"),
        ("circle", "take Polygon"),
        ("rounded polygon", "take Polygon"),
    ],
)
def test_an_image_that_is_no_such_shape_is_refused_with_what_can_be_taken(name, instead):
    shape = SOLIDS[name]
    matrix = as_matrix(np.diag([1.0, 2.0, 1.5][: shape.dim]), np.zeros(shape.dim))
    with pytest.raises(ValueError, match=f"^matrix: a {type(shape).__name__} keeps its form under .* only; {instead}"):
        shape.transformed(matrix)


@pytest.mark.parametrize("name", SOLIDS)
def test_volume_and_centroid_agree_with_points_that_are_inside(name):
    shape = SOLIDS[name]
    low, high = shape.bounds
    side = (high - low) / (60 if shape.dim == 3 else 400)
    axes = (np.arange(start + step / 2, end, step) for start, end, step in zip(low, high, side, strict=True))
    points = np.stack(np.meshgrid(*axes), -1).reshape(-1, shape.dim)
    inside = points[shape.contains(points)]
    assert shape.volume == pytest.approx(len(inside) * side.prod(), rel=1e-2)
    np.testing.assert_allclose(shape.centroid, inside.mean(axis=0), atol=3e-3 * shape.extent)


CLOSED_FORMS = [
    (Box((0, 0, 0), (1, 2, 3)), 6.0, (0, 0, 0)),
    (Capsule((0, 0, 0), (0, 0, 2), 1.0), np.pi * (2.0 + 4.0 / 3.0), (0, 0, 1)),
    (Rounded(Box((0, 0, 0), (1, 2, 3)), 0.5), 6.0 + 11.0 + 1.5 * np.pi + np.pi / 6.0, (0, 0, 0)),
    (Cone((0, 0, 0), (0, 0, 4), 1.0), 4.0 / 3.0 * np.pi, (0, 0, 1)),
    # The union of two bars and of a box in it; spheres apart.
    (L_PIECES, 16.0 + 16.0 - 8.0, (1 / 3, 2 / 3, 0)),
    (Compound([Sphere((0, 0, 0), 1), Sphere((5, 0, 0), 1)]), 8.0 / 3.0 * np.pi, (2.5, 0, 0)),
    (Compound([FLAT["polygon in space"], FLAT["flat box"]]), 0.0, None),
    (FLAT["segment"], 0.0, (0.5, 1.0, 1.5)),
    *((shape, 0.0, None) for shape in FLAT.values()),
    (TETRAHEDRON, 1.0, (0.5, 0.75, 0.25)),
    # Triangles still face outward.
    (TETRAHEDRON.transformed(np.diag([-1.0, 1.0, 1.0, 1.0])), 1.0, (-0.5, 0.75, 0.25)),
]


def test_volumes_and_centroids_in_closed_form():
    for shape, volume, centroid in CLOSED_FORMS:
        assert shape.volume == pytest.approx(volume, rel=1e-14)
        if centroid is not None:
            np.testing.assert_allclose(shape.centroid, centroid, atol=1e-14)
    # A prolate spheroid's surface in closed form, from the volume's growth with the radius.
    a, c = 1.0, 2.0
    e = np.sqrt(1.0 - a * a / (c * c))
    surface = 2.0 * np.pi * a * a * (1.0 + c / (a * e) * np.arcsin(e))
    assert Ellipsoid((0, 0, 0), (a, a, c)).steiner_terms[0][1] == pytest.approx(surface, rel=1e-14)
    with pytest.raises(ValueError, match=r"^pieces 0 and 1 overlap"):
        _ = Compound([Sphere((0, 0, 0), 1), Sphere((1, 0, 0), 1)]).volume


@pytest.mark.parametrize("name", EVERY)
def test_extreme_sizes_and_directions_change_no_digits(name):
    shape = EVERY[name]
    normals = sphere_points(RNG, 20, shape.dim)
    tips = shape.supports(normals)
    for length in (1e-300, 1e160, 1e307):
        np.testing.assert_allclose(shape.supports(normals * length), tips, atol=1e-13)
        np.testing.assert_allclose(shape.support(normals[0] * length), tips[0], atol=1e-13)
    for exponent in (-500, 330, 500):
        scaled = shape.scaled(2.0**exponent)
        np.testing.assert_allclose(scaled.centroid * 2.0**-exponent, shape.centroid, rtol=1e-13, atol=1e-13)
        if exponent == 330:
            assert scaled.volume * 2.0 ** (-exponent * shape.dim) == pytest.approx(shape.volume, rel=1e-13)


def test_a_needle_has_the_rounded_volume_of_a_disk_or_a_segment():
    for semi_axes, area, bend in (
        ((1e-200, 1.0, 1.0), 2.0 * np.pi, np.pi**2),
        ((1e-200, 1e-180, 1.0), 0.0, 2.0 * np.pi),
    ):
        needle = Ellipsoid((0, 0, 0), semi_axes)
        assert needle.volume == pytest.approx(4.0 / 3.0 * np.pi * np.prod(semi_axes), rel=1e-14, abs=0.0)
        assert Rounded(needle, 0.5).volume == pytest.approx(0.5 * area + 0.25 * bend + np.pi / 6.0, rel=1e-14)


def test_a_closed_mesh_is_a_solid_and_an_open_one_a_surface():
    hull = ConvexHull(TETRAHEDRON.points)
    points = RNG.uniform(-1.0, 3.0, size=(200, 3))
    np.testing.assert_allclose(TETRAHEDRON.signed_distance(points), hull.signed_distance(points), atol=1e-14)
    np.testing.assert_array_equal(TETRAHEDRON.contains(points), hull.contains(points))
    surface = Mesh(TETRAHEDRON.points, TETRAHEDRON.triangles[1:])
    np.testing.assert_array_equal(surface.contains([(0.1, 0.1, 0.1), (0.5, 0.0, 0.2)]), [False, True])
    assert surface.signed_distance([(0.1, 0.2, 0.3)])[0] == pytest.approx(0.1)


@pytest.mark.parametrize("name", EVERY)
def test_support_points_bounds_and_distances_agree(name):
    shape = EVERY[name]
    normals = sphere_points(RNG, 50, shape.dim)
    tips = shape.supports(normals)
    np.testing.assert_allclose(shape.support(3.0 * normals[0]), tips[0], atol=1e-14)
    assert shape.contains(np.array([shape.centroid])).all() or name in FLAT
    low, high = shape.bounds
    np.testing.assert_allclose(np.diagonal(shape.supports(np.eye(shape.dim))), high, atol=1e-14)
    np.testing.assert_allclose(np.diagonal(shape.supports(-np.eye(shape.dim))), low, atol=1e-14)


@pytest.mark.parametrize("name", ["hull", "box", "sphere", "cylinder", "ellipsoid", "circle", "compound", "mesh"])
@pytest.mark.parametrize(
    ("method", "argument", "wrong"),
    [
        ("translated", "vector", [np.nan, 0, 0]),
        ("translated", "vector", 5),
        ("translated", "vector", (1, 2, 3, 4)),
        ("translated", "vector", [1e305] * 3),
        ("scaled", "factor", 0.0),
        ("scaled", "factor", -1.0),
        ("scaled", "factor", np.nan),
        ("scaled", "factor", True),
        ("scaled", "factor", 1e308),
        ("support", "direction", (0, 0, 0)),
        ("support", "direction", [np.inf, 0, 0]),
        ("supports", "directions", [(0.0, 0.0, 0.0)]),
        ("contains", "points", (1, 2, 3)),
        ("contains", "points", [[np.nan, 0, 0]]),
        ("signed_distance", "points", "abc"),
        ("transformed", "matrix", np.eye(2)),
        ("transformed", "matrix", np.ones((4, 4))),
        ("transformed", "matrix", np.full((4, 4), np.nan)),
        ("transformed", "matrix", 5),
    ],
)
def test_arguments_are_checked(name, method, argument, wrong):
    shape = EVERY[name]
    if shape.dim == 2 and isinstance(wrong, tuple | list) and np.ndim(wrong) == 1 and len(wrong) == 3:
        wrong = wrong[:2]
    with pytest.raises(ValueError, match=f"^{argument}[: ]"):
        getattr(shape, method)(wrong)
