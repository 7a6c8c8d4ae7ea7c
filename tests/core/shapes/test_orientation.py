# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of volumes and areas against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from contact_lens.core.shapes.orientation import precise_volumes, signs_of_areas, signs_of_volumes

from ..oracles import cross, dot, minus


def exact(corners: list[list[float]]) -> Fraction:
    """The determinant of the differences to the first corner."""
    first, *others = [[Fraction(x) for x in corner] for corner in corners]
    edges = [minus(corner, first) for corner in others]
    if len(edges) == 2:
        edges = [(*edge, 0) for edge in edges] + [(0, 0, 1)]
    return dot(cross(edges[0], edges[1]), edges[2])


def cases(rng: np.random.Generator, dim: int, count: int) -> dict[str, np.ndarray]:
    """Corners (dim + 1, dim, count) of many kinds."""
    shape = (dim + 1, dim, count)
    lattice = rng.integers(-3, 4, shape).astype(float)
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    flat = lattice.copy()
    flat[:, -1] = 0.0
    turned = np.einsum("ij,kjn->kin", turn, flat)
    return {
        "any": rng.normal(size=shape),
        "lattice": lattice,
        "fine lattice": rng.integers(-3, 4, shape) * 2.0**-40 + 1.0,
        "tenths": lattice * 0.1,
        "far away": lattice * 0.1 + 1e6,
        "nearly flat": turned,
        "a rounding error apart": lattice + rng.normal(size=shape) * 1e-16,
        "sizes": lattice * 10.0 ** rng.integers(-40, 40, shape),
        "tiny beside huge": lattice * 10.0 ** rng.choice([-150.0, 0.0, 100.0], shape),
        "zeros": lattice * rng.integers(0, 2, shape),
    }


@pytest.mark.parametrize("dim", [2, 3])
def test_signs_are_exact(dim: int) -> None:
    """Also where rounding could turn them, and where the result is zero."""
    for name, corners in cases(np.random.default_rng(dim), dim, 400).items():
        found = (signs_of_volumes if dim == 3 else signs_of_areas)(*corners)
        wanted = [exact(corners[:, :, k].tolist()) for k in range(corners.shape[2])]
        assert found.signs.tolist() == [(x > 0) - (x < 0) for x in wanted], name
        assert ((found.values == 0.0) >= (found.signs == 0)).all()


def test_precise_volumes_keep_their_digits() -> None:
    """Of nearly flat corners floats keep none."""
    rng = np.random.default_rng(5)
    corners = rng.normal(size=(4, 3, 300))
    corners[3] = 0.3 * corners[0] + 0.5 * corners[1] + 0.2 * corners[2] + rng.normal(size=(3, 300)) * 1e-15
    found = precise_volumes(*corners)
    wanted = np.array([float(exact(corners[:, :, k].tolist())) for k in range(300)])
    assert np.allclose(found, wanted, rtol=1e-12, atol=0.0)
