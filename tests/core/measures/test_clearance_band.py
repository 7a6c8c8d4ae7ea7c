# SPDX-License-Identifier: GPL-3.0-or-later
"""The clearance band: pins in bores and other closed forms, dense sampling, frames, forged answers."""

from __future__ import annotations

from dataclasses import replace
from math import cos, inf, pi, radians, sqrt, tan

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Circle,
    ClearanceBand,
    Compound,
    ConvexHull,
    Cylinder,
    Mesh,
    Sphere,
    clearance_band,
    contact,
    points_to_mesh,
    verify,
)
from contact_lens.core.measures.surface_samples import subdivided

from ..assertions import assert_progress
from ..generators import as_matrix, rotation
from ..mesh_shapes import block, bumpy, flipped, joined, sheet, sphere, torus

SIDES = 32
BORE, PIN, LENGTH = 5.3, 5.0, 10.0
FLATS = BORE * (1.0 - cos(pi / SIDES))
"""How far the middle of a bore's flat is from its circle: what the tessellation takes of the clearance."""


def pin(length: float, low: float, center=(0.0, 0.0), radius: float = PIN) -> Mesh:
    """A prism of many sides along z."""
    turn = np.arange(SIDES) * 2.0 * pi / SIDES
    ring = np.stack([radius * np.cos(turn) + center[0], radius * np.sin(turn) + center[1]], axis=1)
    ends = [np.column_stack([ring, np.full(SIDES, z)]) for z in (low, low + length)]
    points = np.concatenate([*ends, [[*center, low], [*center, low + length]]])
    i, j = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    tips = np.full((2, SIDES), [[2 * SIDES], [2 * SIDES + 1]])
    triangles = [(i, j, SIDES + j), (i, SIDES + j, SIDES + i), (j, i, tips[0]), (SIDES + i, SIDES + j, tips[1])]
    return Mesh(points, np.concatenate([np.stack(t, axis=1) for t in triangles]))


def bored_block() -> Mesh:
    """A block from z = 0 on, with a bore along z."""
    turn = np.arange(SIDES) * 2.0 * pi / SIDES
    ring = np.stack([BORE * np.cos(turn), BORE * np.sin(turn)], axis=1)
    outer = ring / np.abs(ring).max(axis=1)[:, None] * 8.0
    points = np.concatenate([np.column_stack([r, np.full(SIDES, z)]) for z in (0.0, LENGTH) for r in (ring, outer)])
    i, j = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    low, rim, high, top = (k * SIDES for k in range(4))
    quads = [(low, high, high, low), (rim, rim, top, top), (high, top, top, high), (low, low, rim, rim)]
    ends = [(i, i, j, j), (i, j, j, i), (i, i, j, j), (i, j, j, i)]
    corners = [[k + e for k, e in zip(quad, end, strict=True)] for quad, end in zip(quads, ends, strict=True)]
    triangles = [np.stack([q[0], q[k], q[k + 1]], axis=1) for q in corners for k in (1, 2)]
    return Mesh(points, np.concatenate(triangles))


BLOCK = bored_block()
BOX = Box((0.05, 0, 0), (1, 1, 1))
TUBE = Compound([Box((x, 0, 0), (0.5, 2, 1)) for x in (-1, 1)] + [Box((0, y, 0), (1.5, 0.5, 1)) for y in (-1, 1)])


def assert_band(band: ClearanceBand, a, b) -> None:
    verification = verify(band, a, b)
    assert verification.ok, str(verification)


@pytest.mark.parametrize(
    ("shape", "off"),
    [
        (pin(20.0, -5.0), 0.0),
        pytest.param(pin(6.0, 2.0), 0.0, marks=pytest.mark.slow),
        pytest.param(pin(20.0, -5.0, (0.12, 0.05)), 0.13, marks=pytest.mark.slow),
        (pin(6.0, 2.0, (0.12, 0.05)), 0.13),
        pytest.param(Cylinder((0, 0, -5), (0, 0, 15), PIN), 0.0, marks=pytest.mark.slow),
    ],
    ids=["longer", "shorter", "eccentric", "eccentric and shorter", "round"],
)
def test_a_pin_reads_its_bore(shape, off: float) -> None:
    """Whichever is the longer: what is beside the end of the bore is not in it."""
    assert BLOCK.is_closed
    for a, b in ((shape, BLOCK), (BLOCK, shape)):
        band = clearance_band(a, b, 1.0)
        assert band.least == pytest.approx(BORE - PIN - off, abs=FLATS + 1e-9)
        assert band.greatest == pytest.approx(BORE - PIN + off, abs=FLATS + 1e-9)
        assert band.least_lower == pytest.approx(band.least, abs=1e-9)
        assert band.greatest <= band.greatest_upper <= band.greatest + 0.05
        facing = band.points[np.isfinite(band.gaps)]
        bottom, top = max(a.bounds[0][2], b.bounds[0][2]), min(a.bounds[1][2], b.bounds[1][2])
        # Within 1 degree beside an end, or the samples end before it.
        beside, spacing = (BORE - PIN + off) * tan(radians(1.0)), a.diameter / 50.0
        assert bottom - beside <= facing[:, 2].min() <= bottom + spacing
        assert top - spacing <= facing[:, 2].max() <= top + beside


@pytest.mark.parametrize(
    ("size", "far"), [(1e-6, 1e4), pytest.param(1e6, 0.0, marks=pytest.mark.slow)], ids=["tiny and far", "huge"]
)
def test_a_pin_reads_its_bore_at_any_size_and_place(size: float, far: float) -> None:
    pose = size * np.eye(4)
    pose[3, 3] = 1.0
    pose[:3, 3] = far * size
    a, b = BOX, TUBE
    wanted = clearance_band(a, b, 1.0)
    a, b = a.transformed(pose), b.transformed(pose)
    found = clearance_band(a, b, size)
    for name in ("least", "least_lower", "greatest", "greatest_upper"):
        assert getattr(found, name) == pytest.approx(size * getattr(wanted, name), rel=1e-8)
    assert_band(found, a, b)


def test_a_ball_over_a_floor_faces_it_up_to_45_degrees() -> None:
    ball, floor = Sphere((0, 0, 1.25), 1.0), Box((0, 0, -0.5), (4, 4, 1))
    band = clearance_band(ball, floor, 0.7)
    assert band.gaps == pytest.approx(
        np.where(np.isfinite(band.gaps), band.points[:, 2], np.nan), nan_ok=True, abs=1e-9
    )
    assert np.linalg.norm(band.points - [0, 0, 1.25], axis=1) == pytest.approx(np.ones(len(band.points)))
    assert band.least == pytest.approx(0.25, abs=1e-9)
    assert band.least_lower == pytest.approx(0.25, abs=1e-9)
    assert band.greatest == pytest.approx(1.25 - sqrt(0.5), abs=0.06)
    assert band.greatest_upper >= band.greatest
    assert_band(band, ball, floor)


@pytest.mark.slow
def test_a_floor_reads_a_ball_above_it() -> None:
    ball, floor = Sphere((0, 0, 1.25), 1.0), Box((0, 0, -0.5), (2, 2, 1))
    band = clearance_band(floor, ball, 0.7)
    away = np.linalg.norm(band.points - [0, 0, 1.25], axis=1) - 1.0
    assert band.gaps == pytest.approx(np.where(np.isfinite(band.gaps), away, np.nan), nan_ok=True, abs=1e-9)
    assert_band(band, floor, ball)


def test_samples_are_dense_and_cover_the_surface() -> None:
    for solid in (Box((0, 0, 0), (1, 2, 3)), Mesh(*torus(12, 7)), Mesh(*block((5, 0.01, 1)))):
        band = clearance_band(solid, Box((9, 0, 0), (1, 1, 1)), 0.1)
        surface = Mesh(band.points, band.triangles)
        sides = band.points[band.triangles] - np.roll(band.points[band.triangles], 1, axis=1)
        assert np.linalg.norm(sides, axis=2).max() <= solid.diameter / 50.0 * (1.0 + 1e-12)
        assert surface.is_closed
        assert surface.volume == pytest.approx(solid.volume)
        assert (band.least, band.least_lower, band.greatest, band.greatest_upper) == (None,) * 4
        assert np.isnan(band.gaps).all()
        assert_band(band, solid, Box((9, 0, 0), (1, 1, 1)))


def test_triangles_of_any_form_are_cut_alike() -> None:
    rng = np.random.default_rng(5)
    for step in (0.05, 1.0, 100.0):
        points = rng.normal(size=(20, 3)) * rng.choice([0.01, 1.0, 3.0], size=(20, 1))
        triangles = np.array([rng.choice(20, 3, replace=False) for _ in range(25)])
        found, parts, owners = subdivided(points, triangles, step)
        sides = found[parts] - np.roll(found[parts], 1, axis=1)
        assert np.linalg.norm(sides, axis=2).max() <= step * (1.0 + 1e-12) or step == 100.0
        areas = np.zeros((25, 3))
        np.add.at(areas, owners, np.cross(sides[:, 0], sides[:, 1]))
        whole = points[triangles] - np.roll(points[triangles], 1, axis=1)
        assert areas == pytest.approx(np.cross(whole[:, 0], whole[:, 1]), abs=1e-9)
        assert np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum() == pytest.approx(
            np.linalg.norm(np.cross(whole[:, 0], whole[:, 1]), axis=1).sum()
        )


def rule(a: Mesh, b: Mesh, limit: float, points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Oracle: the distances of points on faces of A where they face B, NaN elsewhere; for feet inside of faces."""
    corners = a.points[a.triangles[faces]]
    found = points_to_mesh(points, b)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    vectors = (found.point - points) / found.distance[:, None]
    other = b.points[b.triangles[found.triangle]]
    across = np.cross(other[:, 1] - other[:, 0], other[:, 2] - other[:, 0])
    across /= np.linalg.norm(across, axis=1)[:, None]
    ok = ((vectors * normals).sum(axis=1) >= sqrt(0.5)) & (-(vectors * across).sum(axis=1) >= cos(radians(1.0)))
    return np.where(ok & (found.distance <= limit), found.distance, np.nan)


@pytest.mark.slow
def test_dense_sampling_finds_nothing_beyond_the_bounds() -> None:
    rng = np.random.default_rng(11)
    for _ in range(2):
        a, b = Mesh(*bumpy(rng)), Mesh(*bumpy(rng)).transformed(as_matrix(rotation(rng), rng.uniform(1.2, 1.9, 3)))
        if contact(a, b, budget=0.0).intersects:
            continue
        band = clearance_band(a, b, 2.0)
        assert_band(band, a, b)
        weights = rng.dirichlet(np.ones(3), 40_000)
        faces = rng.integers(len(a.triangles), size=len(weights))
        points = (weights[:, :, None] * a.points[a.triangles[faces]]).sum(axis=1)
        gaps = rule(a, b, 2.0, points, faces)
        if band.least is None:
            assert not np.isfinite(gaps).any()
            continue
        assert np.nanmin(gaps) >= band.least_lower
        assert np.nanmax(gaps) <= band.greatest_upper


def test_trimesh_measures_the_same_gaps() -> None:
    trimesh = pytest.importorskip("trimesh")
    a, b = Mesh(*sphere(12, (0, 0, 2.3))), Mesh(*sphere(9))
    band = clearance_band(a, b, 1.0)
    faces = np.isfinite(band.gaps)
    other = trimesh.Trimesh(b.points, b.triangles)
    _, distance, _ = trimesh.proximity.closest_point_naive(other, band.points[faces][::40])
    assert band.gaps[faces][::40] == pytest.approx(distance)


@pytest.mark.slow
def test_turning_and_numbering_change_nothing() -> None:
    rng = np.random.default_rng(2)
    a, b = Mesh(*bumpy(rng)), Mesh(*sphere(6, (0.1, 0.2, 2.6)))
    wanted = clearance_band(a, b, 1.5)
    pose = as_matrix(rotation(rng), (3, -2, 1))
    order, corners = rng.permutation(len(a.triangles)), rng.permutation(len(a.points))
    renumbered = Mesh(a.points[corners], np.argsort(corners)[a.triangles[order]])
    for first, second in ((a.transformed(pose), b.transformed(pose)), (renumbered, b)):
        found = clearance_band(first, second, 1.5)
        assert len(found.points) == len(wanted.points)
        for name in ("least", "least_lower", "greatest", "greatest_upper"):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9)
        assert np.sort(found.gaps) == pytest.approx(np.sort(wanted.gaps), nan_ok=True)


def test_the_nearest_points_of_a_pair_need_not_face_each_other() -> None:
    """Two steps: edges are nearest, the surfaces that face each other are farther apart."""
    a = Compound([Box((0, 0, 0), (2, 2, 2)), Box((3, 0, -0.75), (4, 2, 0.5))])
    b = Compound([Box((2.0, 0, 1.5), (1.9, 2, 0.6)), Box((3.5, 0, 1.6), (3, 2, 0.6))])
    nearest = contact(a, b).signed_distance
    band = clearance_band(a, b, 3.0)
    assert band.least_lower == pytest.approx(nearest)
    assert nearest < 0.3 < band.least == pytest.approx(1.7, abs=0.01)
    assert_band(band, a, b)
    boxes = Box((0, 0, 0), (1, 1, 1)), Box((1.3, 1.3, 1.3), (1, 1, 1))
    band = clearance_band(*boxes, 1.0)
    assert band.least is band.greatest_upper is None
    assert_band(band, *boxes)


def test_what_is_inside_of_a_faces_nothing() -> None:
    """The joint of two pieces is none of the surface."""
    floor = Box((0, 0, -1), (4, 4, 1))
    stack = [Box((0, 0, z), (1, 1, 1)) for z in (0.25, 1.25)]
    shells = Mesh(*(np.concatenate(parts) for parts in _two_blocks()))
    for a in (Compound(stack), shells):
        band = clearance_band(a, floor, 1.5)
        assert band.greatest == pytest.approx(0.25)
        assert band.greatest_upper < 0.3
        assert_band(band, a, floor)


def _two_blocks() -> tuple:
    (points, triangles), (others, _) = block((1, 1, 1), (-0.5, -0.5, -0.25)), block((1, 1, 1), (-0.5, -0.5, 0.5))
    return (points, others), (triangles, triangles + len(points))


def test_both_sides_of_an_open_surface_count_and_its_rim_does_not() -> None:
    ground = Mesh(*sheet(4, 2.0, (-1, -1, 0)))
    a = Box((1.0, 0, 0.8), (1, 1, 1))
    for b in (ground, Mesh(*flipped((ground.points, ground.triangles)))):
        band = clearance_band(a, b, 1.0)
        facing = band.points[np.isfinite(band.gaps)]
        assert (band.least, band.greatest) == pytest.approx((0.3, 0.3), abs=1e-3)
        assert facing[:, 0].max() <= 1.0 + 0.31 * tan(radians(1.0))
        assert_band(band, a, b)
    assert_band(clearance_band(b, a, 1.0), b, a)


def test_touching_is_a_least_of_zero_and_penetrating_is_refused() -> None:
    a = Box((0, 0, 0), (1, 1, 1))
    for sunk in (1e-7, -1e-7, 0.0):
        b = Mesh(*block((3, 3, 1), (-1, -1, 0.5 - sunk)))
        band = clearance_band(a, b, 0.5)
        assert band.least == pytest.approx(0.0, abs=2e-7)
        assert band.least_lower == pytest.approx(0.0, abs=2e-7)
        assert np.isfinite(band.gaps[band.points[:, 2] == 0.5]).all()
    assert_band(band, a, b)
    for b in (Mesh(*block((3, 3, 1), (-1, -1, 0.4))), Box((0, 0, 0), (9, 9, 9)), a):
        with pytest.raises(ValueError, match=r"^a and b penetrate: .* separate them first$"):
            clearance_band(a, b, 0.5)


def test_what_cannot_be_measured_is_refused_by_name() -> None:
    a, b = Box((0, 0, 0), (1, 1, 1)), Box((2, 0, 0), (1, 1, 1))
    for words, arguments in (
        ("^limit must be", (a, b, 0.0)),
        ("^limit must be", (a, b, inf)),
        ("^a must be a shape", (None, b, 1.0)),
        ("^a and b are in the plane", (Circle((0, 0), 1), Circle((3, 0), 1), 1.0)),
    ):
        with pytest.raises(ValueError, match=words):
            clearance_band(*arguments)


def test_a_pair_reports_progress_and_plain_numbers() -> None:
    a, b = Mesh(*torus(8, 5)), Mesh(*torus(7, 5)).translated((0, 0, 0.9))
    assert_progress(lambda progress: clearance_band(a, b, 1.0, progress=progress), least=3)
    numbers = clearance_band(a, b, 1.0).to_dict()
    assert list(numbers) == ["least", "least_lower", "greatest", "greatest_upper", "limit", "samples", "facing"]
    assert all(type(value) in (int, float) for value in numbers.values())


def test_forged_bands_fail() -> None:
    """Of a bent sheet below two balls: the gap is the widest between these, and between samples."""
    corners = [[-0.5, -0.2, -0.1], [0.5, -0.2, -0.1], [0.5, 0.2, -0.1], [-0.5, 0.2, -0.1], [-0.5, 0, -0.4]]
    a = Mesh(corners, [[0, 1, 2], [0, 2, 3], [0, 3, 4]])
    b = Mesh(*joined([sphere(5, (-0.61, 0, 1.2)), sphere(5, (0.6, 0.01, 1.21))]))
    band = clearance_band(a, b, 1.0)
    assert_band(band, a, b)
    facing = np.flatnonzero(np.isfinite(band.gaps))
    other = facing[(band.gaps[facing] != band.least) & (band.gaps[facing] != band.greatest)][0]
    away = 4

    def gap(index: int, value: float) -> np.ndarray:
        gaps = band.gaps.copy()
        gaps[index] = value
        return gaps

    moved = band.points.copy()
    moved[other] *= 1.0 + 1e-6
    far = float(points_to_mesh(band.points[[away]], b).distance[0])
    lies = {
        "the band is well-formed": [
            {"least": 0.5 * band.least},
            {"greatest": 2.0 * band.greatest, "greatest_upper": 2.0 * band.greatest},
            {"least_lower": None},
            {"limit": 0.3},
            {"gaps": band.gaps[:-1]},
            {"triangles": band.triangles + len(band.points)},
            {"points": band.points[:, :2]},
        ],
        "the points are on the surface of A": [{"points": moved}],
        "the triangles cover A": [{"triangles": band.triangles[1:]}],
        "the gaps are distances from B": [{"gaps": gap(other, band.gaps[other] * (1.0 + 1e-6))}],
        "the points that face B have gaps, and no others": [
            {"gaps": gap(other, np.nan)},
            {"gaps": gap(away, far), "greatest": far, "greatest_upper": far},
        ],
        "no point between the samples is farther than the upper bound": [{"greatest_upper": band.greatest}],
    }
    for name, changes in lies.items():
        for change in changes:
            failures = [check.name for check in verify(replace(band, **change), a, b).failures]
            assert name in failures, (name, change, failures)
    assert not verify(band, a, b.translated((0, 0, 0.01)))
    assert not verify(band, b, a)
    with pytest.raises(ValueError, match=r"^answer must be"):
        verify(band.to_dict(), a, b)


def test_a_forged_lower_bound_fails() -> None:
    """Hulls whose nearest points do not face each other: between the bound and the least gap nothing is proved."""
    rng = np.random.default_rng(4)
    a, b = ConvexHull(rng.normal(size=(20, 3))), ConvexHull(rng.normal(size=(20, 3)) + [3.0, 2.0, 0])
    band = clearance_band(a, b, 3.0)
    assert clearance_band(a, b, 3.0, contact(a, b)).to_dict() == band.to_dict()
    assert_band(band, a, b)
    assert band.least_lower < 0.99 * band.least
    assert not verify(replace(band, least_lower=band.least), a, b)
