# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the steps of GJK and EPA in the Minkowski difference, for pairs of every class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ..core.generators import CLASSES, pairs
from .scenes import lens

PAIRS = list(pairs(32, 2 * len(CLASSES)))
FLAT = np.array([(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
TRIANGLE, SQUARE = [(0, 0), (2, 0.2), (0.8, 1.7)], [(0, 0), (1.3, -0.2), (1.6, 1.0), (0.3, 1.2)]
COMMON = ("inside", "touching")


def steps_of(a: Any, b: Any, algorithm: str = "gjk", **settings: Any) -> Any:
    steps = lens.study.steps
    shapes = [lens.core.ConvexHull(shape) if isinstance(shape, np.ndarray | list) else shape for shape in (a, b)]
    plane = lens.geometry.plane.Plane(np.array([5.0, 0.0, 0.0]), FLAT) if shapes[0].dim == 2 else None
    chosen = steps.StepSettings(algorithm, **settings)
    return steps.steps_of(steps.StepsInput(*shapes, "A", "B", lens.data.units.UnitFormat(), chosen, plane))


def of_role(parts: tuple[Any, ...], role: str) -> list[Any]:
    return [part for part in parts if part.role == role]


def texts(picture: Any, role: str) -> list[str]:
    return [label.text for label in of_role(picture.labels, role)]


def moved(points: Any, by: tuple[float, float]) -> np.ndarray:
    return np.array(points, dtype=float) + by


def twice_area(triangles: np.ndarray) -> float:
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return float(np.linalg.norm(across, axis=1).sum())


@pytest.mark.parametrize(("name", "a", "b"), PAIRS, ids=[f"{name}-{k}" for k, (name, _, _) in enumerate(PAIRS)])
def test_each_picture_says_what_its_step_says(name: str, a: np.ndarray, b: np.ndarray) -> None:
    steps = steps_of(a, b, "all")
    pictures, length = steps.difference_pictures, steps.given.units.length
    epa = steps.trace.of_kind("epa")
    for number, place in enumerate(steps.shown):
        step, picture = steps.trace.steps[place], steps.picture(number)
        if step.kind not in ("gjk", "epa"):
            continue
        (origin,) = of_role(picture.points, "origin")
        assert np.array_equal(origin.points, pictures.origin[None])
        parts = [*(part.triangles for part in picture.fills), *(part.ends for part in picture.lines)]
        assert all(np.isfinite(part).all() for part in [*parts, *(label.point for label in picture.labels)])
        if step.support is not None:
            made = [mark.points[0] for mark in of_role(picture.points, "support")]
            i, j = step.support
            shown = (
                a_points := steps.cores[0].vertices[i],
                b_points := steps.cores[1].vertices[j],
                a_points - b_points,
            )
            wanted = [*map(steps.given.in_world, shown[:2]), pictures.origin + pictures._vectors(shown[2])]
            assert np.array_equal(made, wanted)
        if step.kind == "gjk" and step.after and step.outcome not in COMMON:
            assert texts(picture, "nearest") == [length(float(np.linalg.norm(step.nearest)))]
        elif step.kind == "gjk" and step.after:
            assert texts(picture, "origin")[0].startswith("Origin ")
        elif step.kind == "epa" and step is epa[-1] and step.outcome in ("farther", "coplanar"):
            nearest = [earlier for earlier in epa if earlier.outcome == "nearest"][-1]
            assert set(texts(picture, "overlap")) == {length(abs(nearest.height))}, "the last one shows what was found"
        elif step.kind == "epa" and step.outcome in ("nearest", "tie", "flat"):
            assert set(texts(picture, "overlap")) == {length(abs(step.height))}
        elif step.kind == "epa" and step.outcome != "start":
            assert texts(picture, "nearest") == [length(abs(step.offset))]


@pytest.mark.parametrize(("name", "a", "b"), PAIRS, ids=[f"{name}-{k}" for k, (name, _, _) in enumerate(PAIRS)])
def test_the_polytope_after_the_last_step_is_that_of_epa(name: str, a: np.ndarray, b: np.ndarray) -> None:
    solvers = lens.core.narrow_phase
    shapes = lens.core.ConvexHull(a), lens.core.ConvexHull(b)
    found = solvers.gjk.gjk(*shapes)
    steps = steps_of(*shapes, "gjk")
    pictures = steps.difference_pictures
    if not steps.trace.of_kind("epa"):
        assert pictures.polytopes[-1] == ()
        return
    result = solvers.epa.epa(*shapes, found)
    pairs_of_points = [point[3:] for point in result.points]
    facets = {frozenset(pairs_of_points[k] for k in facet) for facet in result.facets}
    after = pictures.polytopes[-1]
    assert {frozenset(face) for face in after} == facets
    assert len(after) == len(result.facets)


def test_the_difference_is_beside_the_objects_or_where_it_is_wanted() -> None:
    a = lens.core.Box((0, 0, 0), (2, 2, 2))
    b = lens.core.Box((1.5, 0.5, 0), (2, 2, 2))
    steps = steps_of(a, b)
    body = steps.difference_pictures.behind
    points = np.concatenate([part.triangles.reshape(-1, 3) for part in body.fills])
    assert points[:, 0].min() > 2.5, "to the right of both"
    offset = (1.0, 2.0, 3.0)
    placed = steps.with_settings(lens.study.steps.StepSettings("gjk", offset=offset))
    assert placed.difference_pictures.body is steps.difference_pictures.body, "is made once"
    assert np.array_equal(of_role(placed.picture(0).points, "origin")[0].points, [offset])
    there = np.concatenate([part.triangles.reshape(-1, 3) for part in placed.difference_pictures.behind.fills])
    assert np.allclose(there.min(axis=0), np.array(offset) + (-3.5, -2.5, -2.0))
    assert np.allclose(there.max(axis=0), np.array(offset) + (0.5, 1.5, 2.0))


def test_facets_have_the_colour_of_what_they_are_from() -> None:
    octahedron = np.concatenate([np.eye(3), -np.eye(3)])
    steps = steps_of(lens.core.Box((0, 0, 0), (2, 2, 2)), octahedron + [2.5, 0.1, 0.2])
    body = steps.difference_pictures.behind
    counts = {part.role: len(part.triangles) for part in body.fills}
    # Faces of the box against a corner, of the octahedron against a corner, and an edge of each.
    assert counts == {"a": 6 * 2, "b": 8 * 1, "hull": 12 * 2}
    assert {part.role for part in body.lines} == {"a", "b"}, "none is between two of edges alone"


@pytest.mark.parametrize("shift", [(2.6, 0.6), (1.0, 0.3)])
def test_the_voronoi_regions_of_flat_objects_fill_the_square(shift: tuple[float, float]) -> None:
    steps = steps_of(TRIANGLE, moved(SQUARE, shift))
    pictures = steps.difference_pictures
    for number, place in enumerate(steps.shown):
        step, picture = steps.trace.steps[place], steps.picture(number)
        (tinted,), others = of_role(picture.fills, "voronoi"), of_role(picture.fills, "other")
        total = twice_area(tinted.triangles) + sum(twice_area(part.triangles) for part in others)
        assert total == pytest.approx(2.0 * np.ptp(pictures._window, axis=0).prod())
        tried = step.tried or step.after
        assert len(others) + 1 <= 2 ** len(tried) - 1
        triangles = tinted.triangles - pictures.origin
        assert np.allclose(triangles[..., 0], 0.0), "in the plane of the objects"
        sides = np.roll(triangles, -1, axis=1) - triangles
        turns = triangles[..., 1] * sides[..., 2] - triangles[..., 2] * sides[..., 1]
        slack = 1e-9 * twice_area(tinted.triangles)
        assert ((turns >= -slack).all(axis=1) | (turns <= slack).all(axis=1)).any(), "the origin is in it"


def test_two_points_at_one_place_in_the_plane_have_pictures_of_numbers() -> None:
    steps = steps_of([(1.0, 2.0)], [(1.0, 2.0)])
    for line in steps.picture(0).lines:
        assert np.isfinite(line.ends).all()


def test_where_the_origin_is_inside_it_is_said() -> None:
    steps = steps_of(TRIANGLE, moved(SQUARE, (1.0, 0.3)))
    assert texts(steps.picture(len(steps.shown) - 1), "origin") == ["Origin inside"]
    assert "The origin is inside the triangle" in steps.sentence(len(steps.shown) - 1)
    steps = steps_of(lens.core.Box((0, 0, 0), (2, 2, 2)), lens.core.Box((1.5, 0.5, 0.3), (2, 2, 2)))
    last = steps.picture(len(steps.shown) - 1)
    assert texts(last, "origin") == ["Origin inside"]
    assert any(len(part.triangles) == 4 for part in of_role(last.fills, "nearest")), "of a tetrahedron"


@pytest.mark.parametrize("is_flat", [False, True])
def test_the_depth_is_an_arrow_at_the_objects_too(is_flat: bool) -> None:
    pair = (TRIANGLE, moved(SQUARE, (1.0, 0.3)))
    if not is_flat:
        pair = lens.core.Box((0, 0, 0), (2, 2, 2)), lens.core.Box((1.5, 0.5, 0.3), (2, 2, 2))
    steps = steps_of(*pair, "epa")
    number = next(k for k, place in enumerate(steps.shown) if steps.trace.steps[place].outcome == "nearest")
    contact = lens.core.contact(steps.given.a, steps.given.b)
    plane = steps.given.flat
    mtv = contact.mtv if plane is None else contact.mtv @ plane.axes
    in_difference, at_objects = (part.ends[0] for part in of_role(steps.picture(number).lines, "overlap"))
    assert np.allclose(in_difference, [steps.difference_pictures.origin, steps.difference_pictures.origin + mtv])
    assert np.allclose(at_objects[1] - at_objects[0], mtv)


def test_the_sum_has_no_simplex() -> None:
    steps = steps_of(TRIANGLE, moved(SQUARE, (1.0, 0.3)), is_sum=True)
    picture = steps.picture(0)
    assert texts(picture, "hull") == ["Minkowski Sum A + B"]
    assert not {part.role for part in (*picture.fills, *picture.lines, *picture.points)} & {
        "simplex",
        "nearest",
        "voronoi",
    }
    assert texts(picture, "support"), "the vertices are lit"


@pytest.mark.parametrize("dim", [2, 3])
def test_the_difference_of_round_shapes_has_the_outline_of_both_radii(dim: int) -> None:
    if dim == 2:
        pair = lens.core.Circle((0, 0), 1.0), lens.core.Capsule((3, 0), (3, 1), 0.5)
    else:
        pair = lens.core.Sphere((0, 0, 0), 1.0), lens.core.Box((3, 0, 0), (1, 1, 1))
    steps = steps_of(*pair)
    outline = steps.difference_pictures.behind.lines[-1]
    assert outline.role == "hull"
    size = np.ptp(outline.ends.reshape(-1, 3), axis=0)
    wanted = (0.0, 3.0, 4.0) if dim == 2 else (3.0, 3.0, 3.0)
    assert size == pytest.approx(wanted, rel=0.02)
