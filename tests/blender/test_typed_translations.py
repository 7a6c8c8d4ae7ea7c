# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations as they are copied and shown: who moves by what is written is apart."""

from __future__ import annotations

import json
from types import ModuleType

import numpy as np
import pytest

from contact_lens.core import Contact
from contact_lens.core.shapes.shape import Shape

from ..core.generators import rotation
from ..core.mesh_shapes import block, bumpy, notch_pair, torus, voxels
from .scenes import lens

L_SHAPE = voxels([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
SLOT = voxels([(x, 0, z) for x in (0, 1, 3, 4) for z in range(4)] + [(2, 0, 0)])


@pytest.fixture
def units() -> ModuleType:
    return lens.data.units


def shape(rng: np.random.Generator, kind: int) -> Shape:
    """A shape of a size between 0.01 and 100, turned, about the origin."""
    size = float(10.0 ** rng.uniform(-2.0, 2.0))
    turn = rotation(rng).T * size
    if kind == 0:
        return lens.core.ConvexHull(rng.normal(size=(12, 3)) @ turn)
    if kind == 1:
        return [
            lens.core.Sphere((0, 0, 0), size),
            lens.core.Cylinder((0, 0, 0), turn[0], size),
            lens.core.Capsule((0, 0, 0), turn[1], size),
        ][rng.integers(3)]
    if kind == 2:
        points, triangles = (torus(12, 6), bumpy(rng, 5))[rng.integers(2)]
        return lens.core.Mesh(points @ turn, triangles)
    if kind == 3:
        return lens.core.Mesh((L_SHAPE[0] - 1.0) @ turn, L_SHAPE[1])
    return lens.core.Compound(
        [
            lens.core.ConvexHull((block(sides, at)[0] - 1.0) @ turn)
            for sides, at in (((2, 1, 1), (0, 0, 0)), ((1, 2, 1), (0, 0, 0)))
        ]
    )


def pairs(count: int):
    """Yield pairs of shapes of a like size that penetrate, with their contacts."""
    rng = np.random.default_rng(200)
    while count:
        kinds = rng.integers(0, 5, 2)
        a, b = (shape(rng, int(kind)) for kind in kinds)
        b = b.scaled(a.extent / b.extent * rng.uniform(0.5, 1.0))
        b = b.translated(a.center - b.center + rng.normal(size=3) * 0.3 * a.extent)
        found = lens.core.contact(a, b, budget=0)
        if found.depth > 1e-4 * b.extent:
            count -= 1
            yield a, b, found


def written(found: Contact, a: Shape, b: Shape, units: ModuleType) -> tuple[str, str]:
    """Return the translation as it is copied, and as it is shown in metres."""
    pair = lens.pair.pair_check
    result = pair.PairResult(contact=found, shape_a=a, shape_b=b, contact_tolerance=1e-5, resolution=0.0)
    in_metres = units.UnitFormat("METRIC", 1.0, "METERS")
    return (
        units.exact_translation(found.mtv, result.is_separated_by),
        in_metres.translation(found.mtv, result.is_separated_by),
    )


def read(text: str) -> np.ndarray:
    return np.array(json.loads(text) if text.startswith("[") else [float(x) for x in text.split()[:3]])


def assert_apart(a: Shape, b: Shape, translation: np.ndarray, found: Contact) -> None:
    """They no longer intersect, or only as far as the engine's promise and the pieces' tolerance go."""
    after = lens.core.contact(a, b.translated(translation), budget=0)
    rounding = 4e-9 * found.depth + 1e-9 * min(a.extent, b.extent)
    assert after.signed_distance >= -rounding, (after, translation, found)


@pytest.mark.parametrize("count", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_what_is_copied_or_shown_of_a_translation_separates(count: int, units: ModuleType) -> None:
    longer = []
    for a, b, found in pairs(count):
        copied, shown = (read(text) for text in written(found, a, b, units))
        assert_apart(a, b, copied, found)
        assert_apart(a, b, shown, found)
        assert copied == pytest.approx(found.mtv, abs=2e-6 * found.depth)
        longer.append(np.linalg.norm(shown - found.mtv) / found.depth)
    assert np.median(longer) < 0.01, "with the digits of other vectors"


def test_out_of_a_notch_people_get_too(units: ModuleType) -> None:
    a, b = (lens.core.Mesh(*surface) for surface in notch_pair())
    found = lens.core.contact(a, b)
    assert lens.core.note.NOTCH not in found.notes
    for text in written(found, a, b, units):
        assert_apart(a, b, read(text), found)


def test_into_a_slot_that_it_fits_a_translation_is_copied_with_all_its_digits(units: ModuleType) -> None:
    """A third of a unit sideways into the slot: no number of digits below all ends between both walls."""
    tooth = voxels([(0, 0, z) for z in range(4)])
    b = lens.core.Mesh(tooth[0] + [2.0 - 1.0 / 3.0, 0.0, 1.5], tooth[1])
    a = lens.core.Mesh(*SLOT)
    found = lens.core.contact(a, b)
    assert lens.core.note.NOTCH in found.notes
    copied, shown = (read(text) for text in written(found, a, b, units))
    assert copied.tolist() == shown.tolist() == found.mtv.tolist()


def test_a_translation_is_rounded_away_from_the_other_object_only_where_it_must(units: ModuleType) -> None:
    a = lens.core.Box((0, 0, 0), (2, 2, 2))
    for depth, copied, shown in (
        (0.5, "[0.5, 0, 0]", "0.5 0 0 m"),
        (0.12345674, "[0.1234568, 0, 0]", "0.1235 0 0 m"),
        (0.12341234, "[0.1234124, 0, 0]", "0.1235 0 0 m"),
    ):
        b = lens.core.Box((2.0 - depth, 0.1, 0.2), (2, 2, 2))
        assert written(lens.core.contact(a, b), a, b, units) == (copied, shown)


def test_a_copied_depth_is_rounded_up_and_a_gap_is_not(units: ModuleType) -> None:
    distance = lens.data.distance.Distance
    metres = units.UnitFormat("METRIC", 1.0, "METERS")
    assert distance("penetrating", -0.12345671).exact_text(metres) == "0.1234568 m"
    assert distance("penetrating", -0.5).exact_text(metres) == "0.5 m"
    assert distance("separated", 0.12345671).exact_text(metres) == "0.1234567 m"
