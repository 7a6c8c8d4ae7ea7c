# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of directions: their bounds are right to rounding, they leave no gaps, and they prove the depth and no more."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from contact_lens.core import Capsule, Cone, Cylinder, Ellipsoid
from contact_lens.core.curved.direction_cover import (
    COVER_ROUNDING,
    _bounds,
    _DirectionCells,
    _least,
    _patches,
    cover,
    cover_axis,
)
from contact_lens.core.curved.ellipsoid_hull import Pieces, lowest_nearby, pieces_of
from contact_lens.core.shapes.curved_shape import across
from contact_lens.core.tolerance import EPS

from ..curved.test_curved import best_slab
from ..generators import direction

FORM_ROUNDING = 4.0
"""Times EPS and the sum of a form's terms at the farthest corner: the error its least value may have."""

needs_more_digits = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-3 * EPS, reason="no float of more digits")


# ---------------------------------------------------------------------------------------------------------------------
# Least values of quadratic forms


def exact_least(slope: list[float], bend: list[float], low: list[float], high: list[float]) -> Fraction:
    p, q, xx, yy, xy, x0, y0, x1, y1 = map(Fraction, (*slope, *bend, *low, *high))

    def form(x: Fraction, y: Fraction) -> Fraction:
        return p * x + q * y + (xx * x * x + yy * y * y) / 2 + xy * x * y

    points = [(x, y) for x in (x0, x1) for y in (y0, y1)]
    if yy > 0:
        points += [(x, min(max(-(q + xy * x) / yy, y0), y1)) for x in (x0, x1)]
    if xx > 0:
        points += [(min(max(-(p + xy * y) / xx, x0), x1), y) for y in (y0, y1)]
    if xx > 0 and (det := xx * yy - xy * xy) > 0:
        x, y = (xy * q - yy * p) / det, (xy * p - xx * q) / det
        points += [(x, y)] if x0 <= x <= x1 and y0 <= y <= y1 else []
    return min(form(x, y) for x, y in points)


@pytest.mark.fast_cases(15)
@pytest.mark.parametrize("ratio", [1.0, 1e-3, 1e-8, 1e-11, 1e-14, 1e-17, 0.0, -1e-17, -1e-11, -1e-3, -1.0])
@pytest.mark.parametrize("level", [0.0, 1e-16, 1e-9, 1.0])
def test_the_least_value_of_a_form_is_right_to_rounding_however_nearly_singular(ratio, level):
    """`ratio` of the curvatures; `level`: how much steeper it is than a form that is level near the rectangle."""
    count = 150
    rng = np.random.default_rng(round(1e3 * abs(ratio)) + round(7 * level))
    turn, sign = rng.uniform(0.0, 7.0, count), 1.0 if ratio >= 0.0 else rng.choice([-1.0, 1.0], count)
    cos, sin = np.cos(turn), np.sin(turn)
    second = sign * ratio
    bend = [sign * cos**2 + second * sin**2, sign * sin**2 + second * cos**2, (sign - second) * cos * sin]
    bend = np.stack(bend, axis=1)
    half = 10.0 ** rng.uniform(-5.0, 0.0, (count, 2))
    half[::2, 1] = half[::2, 0]
    low, high = -half * rng.uniform(0.5, 1.0, (count, 2)), half * rng.uniform(0.5, 1.0, (count, 2))
    spot = low + (high - low) * rng.uniform(-0.2, 1.2, (count, 2))
    slope = -np.stack([bend[:, 0] * spot[:, 0] + bend[:, 2] * spot[:, 1], bend[:, 1] * spot[:, 1]], axis=1)
    slope[:, 1] -= bend[:, 2] * spot[:, 0]
    slope += level * rng.normal(size=(count, 2)) * half
    far = np.maximum(-low, high)
    terms = (np.abs(slope) * far + 0.5 * np.abs(bend[:, :2]) * far**2).sum(axis=1)
    terms += np.abs(bend[:, 2]) * far.prod(axis=1)
    found = _least(np.zeros(count), slope, bend, low, high)
    for value, size, *form in zip(*(rows.tolist() for rows in (found, terms, slope, bend, low, high)), strict=True):
        off = (Fraction(value) - exact_least(*form)) / Fraction(size) / Fraction(EPS)
        assert abs(off) <= FORM_ROUNDING


# ---------------------------------------------------------------------------------------------------------------------
# Cells without gaps


def random_cells(rng: np.random.Generator, count: int) -> _DirectionCells:
    pole = rng.choice([0.0, 0.0, 0.0, 1.0, -1.0], count)
    reach = np.where(pole[:, None] == 0.0, [3.0, 1.1], [0.08, 0.08])
    half = np.where(pole[:, None] == 0.0, [0.19, 0.3], [0.08, 0.08]) * 10.0 ** rng.uniform(-9.0, 0.0, (count, 2))
    return _DirectionCells(rng.uniform(-1.0, 1.0, (count, 2)) * reach, half, pole)


def test_halves_of_a_cell_contain_all_of_it():
    """Exactly: no direction is left out, however often cells are halved."""
    rng = np.random.default_rng(1)
    cells = random_cells(rng, 400)
    first = rng.random(400) < 0.5
    halves = cells.halve(first)

    def ends(cells: _DirectionCells, k: int, side: int) -> tuple[Fraction, Fraction]:
        middle, half = Fraction(float(cells.middle[k, side])), Fraction(float(cells.half[k, side]))
        return middle - half, middle + half

    for k in range(400):
        cut = 0 if first[k] else 1
        (low, high), left, right = ends(cells, k, cut), ends(halves, k, cut), ends(halves, k + 400, cut)
        assert left[0] <= low
        assert right[0] <= left[1]
        assert right[1] >= high
        assert ends(halves, k, 1 - cut) == ends(halves, k + 400, 1 - cut) == ends(cells, k, 1 - cut)


def random_frame(rng: np.random.Generator) -> np.ndarray:
    axis = direction(rng)
    side = across(axis)[0]
    return np.stack([side, np.cross(axis, side), axis])


@needs_more_digits
def test_patches_contain_all_directions_of_their_cells():
    rng = np.random.default_rng(2)
    count, more = 3000, np.longdouble
    cells, frame = random_cells(rng, count), random_frame(rng)
    middle, u, v, low, high = (rows.astype(more) for rows in _patches(cells, frame))
    for place in np.concatenate([[[x, y] for x in (-1, 0, 1) for y in (-1, 0, 1)], rng.uniform(-1, 1, (20, 2))]):
        x, y = (cells.middle.astype(more) + place * cells.half).T
        around = np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)], axis=1)
        directions = np.where(cells.pole[:, None] == 0.0, around, np.stack([x, y, cells.pole.astype(more)], axis=1))
        directions = directions @ frame.astype(more)
        parts = [(directions * np.cross(one, other)).sum(axis=1) for one, other in ((u, v), (v, middle), (middle, u))]
        found = np.stack([parts[1] / parts[0], parts[2] / parts[0]], axis=1)
        assert (found >= low).all()
        assert (found <= high).all()


# ---------------------------------------------------------------------------------------------------------------------
# Pairs, with support functions of their own, written down a second time about a place near both


def body(rng: np.random.Generator, kind: str, at: np.ndarray, size: float, axis: np.ndarray, base: np.ndarray) -> Any:
    """A shape at `base` + `at` and its support function about `base`: unit directions (k, 3) to heights (k,)."""
    half = size * axis
    wide = size * 10.0 ** rng.uniform(-1.5, 0.5)
    near = base + at
    if kind == "capsule":  # its core
        solid = Capsule(near - half, near + half, 0.0)
        start, end = solid.core.vertices - base
        return solid, lambda n: np.maximum(n @ start, n @ end)
    if kind == "ellipsoid":
        turn = rng.normal(size=4)
        solid = Ellipsoid(near, (size, wide, size * 10.0 ** rng.uniform(-1.0, 0.0)), turn)
        middle = solid.center - base
        return solid, lambda n: n @ middle + np.linalg.norm((n @ solid.axes.T) * solid.semi_axes, axis=1)
    solid = (Cylinder if kind == "cylinder" else Cone)(near - half, near + half, wide)
    start, end = solid.start - base, solid.end - base
    axis = (end - start) / np.linalg.norm(end - start)

    def height(n: np.ndarray) -> np.ndarray:
        rim = wide * np.linalg.norm(np.cross(n, axis), axis=1)
        return np.maximum(n @ start + rim, n @ end + (rim if kind == "cylinder" else 0.0))

    return solid, height


def random_pair(seed: int) -> tuple[Any, Any, Any]:
    """Two shapes, of which one is in or near the other, and how far their difference reaches along unit directions."""
    rng = np.random.default_rng(seed)
    kinds = ["ellipsoid", "cylinder", "cone", "capsule"]
    kind_a, kind_b = list(product(kinds[:3], kinds))[seed % 12]
    base = rng.normal(size=3) * rng.choice([0.0, 1e4])
    axis = direction(rng)
    lean = axis + rng.choice([0.0, 1e-4, 1.0]) * rng.normal(size=3)
    size = 10.0 ** rng.uniform(-3.0, 0.0)
    a, height_a = body(rng, kind_a, np.zeros(3), 1.0, axis, base)
    spot = rng.normal(size=3) * rng.choice([0.0, 1e-9, 0.03, 0.3])
    b, height_b = body(rng, kind_b, spot, size, lean / np.linalg.norm(lean), base)
    return a, b, lambda n: height_a(n) + height_b(-n)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_cells_prove_the_depth_that_a_search_finds_and_no_more(seed):
    a, b, height = random_pair(seed)
    pieces, axis = pieces_of(a, b), cover_axis(a, b)
    assert pieces is not None
    rng = np.random.default_rng(seed)
    directions = [lowest_nearby(pieces, direction(rng)) for _ in range(60)]
    # Either search may miss the best direction; neither finds too good a one.
    least = min(-best_slab(height, lambda n: np.zeros(len(n)), rng), float(height(np.array(directions)).min()))
    rounding = 8.0 * EPS * (pieces.size + max(a.magnitude, b.magnitude))
    for excess in (1e-9, 1e-3):
        assert not cover(pieces, axis, max(least * (1.0 + excess), 1e-6 * pieces.size) + rounding).complete
    if least > 1e-3 * min(a.extent, b.extent):
        assert cover(pieces, axis, 0.999 * least).complete


@needs_more_digits
@pytest.mark.fast_cases(12)
@pytest.mark.parametrize("seed", range(32))
def test_bounds_of_cells_are_wrong_by_less_than_what_they_must_exceed(seed):
    """In cells so small that all but rounding vanishes, and in larger ones."""
    a, b, _ = random_pair(seed)
    rng, more, count = np.random.default_rng(seed), np.longdouble, 40
    pieces = pieces_of(a, b)
    assert pieces is not None
    patch = _patches(random_cells(rng, count), random_frame(rng))
    depth = 0.9 * abs(float((pieces.heights(patch.middle) / np.linalg.norm(patch.middle, axis=1)).min()))
    bounds, _ = _bounds(pieces, patch, depth)
    fraction = np.linspace(0, 1, 9).astype(more)
    sides = [patch.low[:, [k]] + fraction * (patch.high - patch.low)[:, [k]] for k in (0, 1)]
    directions = (
        patch.middle[:, None, None]
        + sides[0][:, :, None, None] * patch.u[:, None, None]
        + sides[1][:, None, :, None] * patch.v[:, None, None]
    ).reshape(-1, 3)
    exact = Pieces(pieces.centers.astype(more), pieces.maps.astype(more))
    reach = [[np.sqrt(((directions @ one.T) ** 2).sum(axis=1)) for one in maps] for maps in exact.maps]
    heights = (np.sum(reach, axis=0).T + directions @ exact.centers.T).max(axis=1)
    least = (heights - more(depth) * np.sqrt((directions**2).sum(axis=1))).reshape(count, -1).min(axis=1)
    allowed = COVER_ROUNDING * EPS * pieces.size * (1.0 + (patch.high - patch.low).sum(axis=1))
    assert (bounds - least <= 0.5 * allowed).all()
