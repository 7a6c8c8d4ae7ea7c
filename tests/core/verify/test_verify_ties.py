# SPDX-License-Identifier: GPL-3.0-or-later
"""Ties of meshes: B moved by the depth along any of them is separated, and of one along which it is not `verify` says
so."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, Compound, Contact, Mesh, Relation, Sphere, contact, verify

from ..assertions import assert_lies_found, assert_verified, changed
from ..generators import rotation
from ..mesh_shapes import block, bumpy, sheet, sphere, torus

WELL_FORMED, TIES = "the contact is well-formed", "all ties are unit vectors"


def moved(surface, move=(0.0, 0.0, 0.0), seed: int | None = None) -> Mesh:
    turn = np.eye(3) if seed is None else rotation(np.random.default_rng(seed))
    return Mesh(surface[0] @ turn.T + np.array(move), surface[1])


OUTER, INNER = block([2, 2, 2], [-1, -1, -1]), block([1, 1, 1], [-0.5, -0.5, -0.5])
GROUND = moved(sheet(6, 6.0, (-3.0, -3.0, 0.0)))
STEP = Compound([Box([0.0, 0.0, 0.2], [1.0, 1.0, 1.0]), Box([0.8, 0.0, 0.2], [1.0, 0.6, 0.6])])

PAIRS = {
    "a cube in a cube": (moved(OUTER), moved(INNER)),
    "blocks": (moved(OUTER), moved(OUTER, [1.5, 0.3, 0.2])),
    "without exact pieces": (
        moved(bumpy(np.random.default_rng(1))),
        moved(bumpy(np.random.default_rng(2)), [0.7, 0, 0]),
    ),
    "a ring and a ball": (moved(torus(16, 8)), moved(sphere(6), [1.0, 0.3, 0.4], 3)),
    "on open ground": (GROUND, moved(sphere(6), [0.3, 0.2, 0.6])),
    "a compound on open ground": (GROUND, STEP),
    "a curved one beside a mesh": (moved(bumpy(np.random.default_rng(1))), Sphere([0.6, 0.2, 0.1], 0.4)),
    "a curved one on open ground": (GROUND, Sphere([0.6, 0.2, 0.1], 0.4)),
}


def penetrates_after(c: Contact, a, b, direction) -> bool:
    """Whether B moved by the depth along a unit vector is still deeper in A than rounding."""
    after = contact(a, b.translated(c.depth * direction), budget=0)
    return after.relation is not Relation.TOUCHING and after.least_depth > 1e-6


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("kind", PAIRS)
def test_a_direction_that_does_not_separate_is_no_tie(kind):
    rng = np.random.default_rng(5)
    for a, b in (PAIRS[kind], PAIRS[kind][::-1]):
        c = contact(a, b, budget=0)
        assert c.depth > 0.0
        assert_verified(c, a, b)
        sideways = np.cross(c.normal, rng.normal(size=3))
        sideways /= np.linalg.norm(sideways)
        directions = rng.normal(size=(3, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        turned = [np.cos(angle) * c.normal + np.sin(angle) * sideways for angle in (0.003, 0.03, 0.3)]
        false = [tie for tie in (*directions, *turned) if penetrates_after(c, a, b, tie)]
        assert len(false) >= 3
        wrong = (*false, 1.001 * c.normal, 0.999 * c.normal, np.zeros(3))
        assert_lies_found(c, a, b, [(TIES, {"ties": np.vstack((c.ties, tie))}) for tie in wrong])
        # Also behind many true ones.
        assert_lies_found(c, a, b, [(TIES, {"ties": np.vstack((*[c.normal] * 20, false[0]))})])
        assert_lies_found(c, a, b, [(WELL_FORMED, {"ties": np.vstack((c.ties, np.full(3, np.nan)))})])


def test_ties_of_apart_or_touching_meshes_are_their_normal_alone():
    for move in ([2.5, 0.1, 0.2], [2.0, 0.1, 0.2]):
        a, b = moved(OUTER), moved(OUTER, move)
        c = contact(a, b)
        assert c.depth < 1e-9
        assert_verified(c, a, b)
        assert_lies_found(c, a, b, [(TIES, {"ties": np.vstack((c.ties, np.roll(c.normal, 1)))})])


@pytest.mark.parametrize("far", [0.0, 1e3])
@pytest.mark.parametrize("kind", ["as modelled", "turned", "turned in single precision"])
def test_a_cube_in_a_cube_leaves_through_each_of_six_faces(kind, far):
    turn = np.eye(3) if kind == "as modelled" else rotation(np.random.default_rng(8))
    points = [surface[0] @ turn.T + far * np.array([1.0, 2.0, -0.5]) for surface in (OUTER, INNER)]
    if kind == "turned in single precision":
        points = [corners.astype(np.float32).astype(np.float64) for corners in points]
    a, b = (Mesh(corners, surface[1]) for corners, surface in zip(points, (OUTER, INNER), strict=True))
    c = contact(a, b)
    assert_verified(c, a, b)
    if kind != "turned in single precision":
        assert len(c.ties) == 6
        np.testing.assert_allclose(np.sort((c.ties @ turn).ravel()), [-1.0] * 3 + [0.0] * 12 + [1.0] * 3, atol=1e-9)
        # Each is as good as another: any may come first.
        for k in range(6):
            shift = c.depth * c.ties[k]
            alike = changed(c, normal=c.ties[k], ties=np.roll(c.ties, -k, axis=0), point_on_b=c.point_on_a - shift)
            assert TIES not in " ".join(check.name for check in verify(alike, a, b).failures)
    edge = (c.ties[0] + c.normal[[1, 2, 0]]) / np.linalg.norm(c.ties[0] + c.normal[[1, 2, 0]])
    if penetrates_after(c, a, b, edge):
        assert_lies_found(c, a, b, [(TIES, {"ties": np.vstack((c.ties, edge))})])


def test_a_ball_must_be_separated_itself_and_not_only_its_facets():
    """Facets of a ball are inside of it: where they are clear of the mesh, the ball may not be yet."""
    turn = rotation(np.random.default_rng(3))
    a, b = Mesh(GROUND.points @ turn.T, GROUND.triangles), Sphere(turn @ [0.6, 0.2, 0.1], 0.4)
    c = contact(a, b)
    assert abs(c.depth - 0.3) < 1e-9
    assert 0.0 < c.certificate.slack_b < 0.1
    short = 0.3 - 0.2 * c.certificate.slack_b
    changes = {"signed_distance": -short, "lower_bound": -short, "upper_bound": max(c.upper_bound, -short)}
    assert_verified(c, a, b)
    assert_lies_found(c, a, b, [("separates the curved surface", changes)])
