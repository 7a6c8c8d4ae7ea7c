# SPDX-License-Identifier: GPL-3.0-or-later
"""Which meshes are paired, and the rigid poses in which each pair penetrates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from manifold3d import Manifold

from tests.core.mesh_shapes import Surface

from .solids import as_manifold

TOUCH = 1e-7
"""Times the volume of the smaller solid: overlaps that count as penetration are larger."""
TRIES = 400
"""Random placements of a pair before it is refused."""

Rng = np.random.Generator
Place = Callable[[Rng, Surface, Surface], np.ndarray]
"""Returns the pose (4, 4) of B in the frame of A."""


def turned(rng: Rng, most: float | None = None) -> np.ndarray:
    """A random rotation (3, 3), by at most some radians."""
    if most is None:
        q = rng.normal(size=4)
        w, x, y, z = q / np.linalg.norm(q)
    else:
        axis = rng.normal(size=3)
        angle = 0.5 * most * rng.uniform(0.3, 1.0)
        w, (x, y, z) = np.cos(angle), np.sin(angle) * axis / np.linalg.norm(axis)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose(turn: np.ndarray, move: np.ndarray) -> np.ndarray:
    """A matrix (4, 4)."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = turn, move
    return result


def aside(fraction: float) -> Place:
    """From beside A along a random direction, as far into it as this fraction of the way through both."""

    def place(rng: Rng, a: Surface, b: Surface) -> np.ndarray:
        turn, direction = turned(rng), rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        middle = a[0].mean(axis=0) + rng.normal(size=3) * 0.15 * np.ptp(a[0], axis=0)
        points = b[0] @ turn.T
        move = middle - points.mean(axis=0)
        beyond = (a[0] @ direction).max() - ((points + move) @ direction).min()
        return pose(turn, move + (1.0 - fraction) * beyond * direction)

    return place


def centered(spread: float = 0.1) -> Place:
    """The middles of both nearly at one place, B turned at random."""

    def place(rng: Rng, a: Surface, b: Surface) -> np.ndarray:
        turn = turned(rng)
        low, high = a[0].min(axis=0), a[0].max(axis=0)
        move = (low + high) / 2 + spread * rng.normal(size=3) * (high - low)
        return pose(turn, move - (b[0] @ turn.T).mean(axis=0))

    return place


def placed(
    *move: float, turn: tuple[float, float, float] = (0, 0, 0), jitter: float = 0.02, tilt: float = 0.05
) -> Place:
    """B turned by degrees about x, y, z and moved, then a little more at random."""

    def place(rng: Rng, a: Surface, b: Surface) -> np.ndarray:
        matrix = np.eye(3)
        for axis, degrees in enumerate(turn):
            c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
            i, j = (axis + 1) % 3, (axis + 2) % 3
            rotation = np.eye(3)
            rotation[i, i], rotation[i, j], rotation[j, i], rotation[j, j] = c, -s, s, c
            matrix = rotation @ matrix
        return pose(turned(rng, tilt) @ matrix, np.array(move) + jitter * rng.normal(size=3))

    return place


def inside(rng: Rng, a: Surface, b: Surface) -> np.ndarray:
    """Anywhere in the box of A; only where no part of B is outside of A."""
    low, high = a[0].min(axis=0), a[0].max(axis=0)
    turn = turned(rng)
    return pose(turn, rng.uniform(low, high) - (b[0] @ turn.T).mean(axis=0))


PAIRS: tuple[tuple[str, str, Place], ...] = (
    # Parts of robots and other machines, shallow to deep
    ("hip", "calf", aside(0.08)),
    ("hip", "hip", aside(0.3)),
    ("calf", "pedal", aside(0.45)),
    ("pedal", "bicycle frame", centered()),
    ("bicycle frame", "handlebar", centered(0.15)),
    ("handlebar", "wheel", aside(0.35)),
    ("wheel", "wheel", centered(0.2)),
    ("palm", "caster", aside(0.1)),
    ("palm", "big gear", centered()),
    ("caster", "jaw", aside(0.5)),
    ("hand", "frame of servo", aside(0.15)),
    ("hand", "hand", aside(0.4)),
    ("frame of servo", "cooler", aside(0.3)),
    ("cooler", "cooler", aside(0.05)),
    ("inner knuckle", "elbow", aside(0.25)),
    ("elbow", "finger", centered()),
    ("finger", "finger", aside(0.2)),
    ("lower leg", "tarsus", aside(0.4)),
    ("tarsus", "forearm", centered()),
    ("forearm", "knee", aside(0.35)),
    ("knee", "thumb", aside(0.1)),
    ("thumb", "index finger", aside(0.3)),
    ("waist", "caster wheel", centered()),
    ("caster wheel", "jaw", centered(0.2)),
    ("jaw", "jaw holder", aside(0.4)),
    ("jaw holder", "pitch bracket", aside(0.2)),
    ("pitch bracket", "wrist bracket", centered(0.15)),
    ("wrist bracket", "arm base", aside(0.45)),
    ("arm table", "lower link", centered(0.2)),
    ("arm table", "arm base", aside(0.12)),
    ("ankle", "wrist yaw", centered()),
    ("wrist yaw", "upper arm", aside(0.5)),
    ("upper arm", "foot", aside(0.15)),
    ("solo base", "solo leg", centered()),
    ("rack", "channel", aside(0.4)),
    ("body frame", "servo frame", centered()),
    ("channel", "channel", aside(0.45)),
    ("servo frame", "rack", aside(0.3)),
    ("solo leg", "foot", aside(0.06)),
    # Knots, links and springs, through each other
    ("knot 2 3", "knot 2 3", centered()),
    ("knot 2 3", "knot 3 2", centered(0.15)),
    ("knot 3 2", "knot 2 5", centered(0.2)),
    ("knot 2 5", "knot 3 4", aside(0.5)),
    ("knot 3 4", "knot 5 2", centered()),
    ("knot 5 2", "ring", centered(0.25)),
    ("knot 2 3", "spring", aside(0.45)),
    ("ring", "ring", placed(0.72, 0.0, 0.0, turn=(90, 0, 0), jitter=0.12, tilt=0.6)),
    ("link", "link", placed(0.0, 0.95, 0.0, turn=(0, 90, 0), jitter=0.12, tilt=0.4)),
    ("chain of 3", "chain of 3", centered()),
    ("chain of 3", "ring", placed(0.7, 0.5, 0.0, turn=(30, 40, 0), jitter=0.05)),
    ("spring", "spring", placed(0.15, 0.1, 0.2, jitter=0.08, tilt=0.2)),
    ("spring", "tight spring", placed(0.1, 0.0, 0.1, turn=(20, 0, 0))),
    ("tight spring", "hook", centered(0.2)),
    ("hook", "hook", placed(0.35, 0.55, 0.0, turn=(0, 90, 180), jitter=0.08, tilt=0.5)),
    ("hook", "link", placed(0.0, 0.55, 0.0, turn=(0, 90, 0), jitter=0.08, tilt=0.5)),
    # Lattices
    ("lattice 3 3 3", "lattice 3 3 3", placed(0.35, 0.35, 0.35, tilt=0.2)),
    ("lattice 4 3 2", "lattice 4 4 4", centered()),
    ("lattice 4 4 4", "lattice 4 4 4", placed(0.22, 0.22, 0.22, tilt=0.1)),
    ("lattice 5 5 1", "lattice 4 3 2", centered(0.2)),
    ("lattice 5 5 1", "comb", centered(0.1)),
    ("lattice 3 3 3", "knot 2 3", aside(0.5)),
    ("lattice 3 3 3", "small ball", centered(0.1)),
    # Gears
    ("gear of 384", "gear of 720", placed(1.8, 0.0, 0.05, jitter=0.03)),
    ("gear of 384", "gear of 384", placed(1.2, 0.3, 0.0, turn=(90, 0, 0), jitter=0.1, tilt=0.4)),
    ("gear of 720", "gear of 720", placed(0.2, 0.1, 0.1, jitter=0.05, tilt=0.3)),
    ("helical gear", "gear with holes", placed(1.75, 0.2, 0.0, tilt=0.15)),
    ("gear with holes", "hook", centered(0.2)),
    ("gear with holes", "helical gear", centered(0.15)),
    # Results of booleans
    ("mug", "mug", placed(0.9, 0.0, 0.1, turn=(90, 0, 0), jitter=0.05, tilt=0.5)),
    ("mug", "ball", placed(0.0, 0.0, 0.35, jitter=0.05)),
    ("mug", "hook", placed(0.85, 0.0, 0.0, turn=(90, 0, 0), jitter=0.06, tilt=0.5)),
    ("bracket", "bracket", aside(0.3)),
    ("bracket", "flange", aside(0.5)),
    ("flange", "tee", centered(0.2)),
    ("tee", "tube", placed(0.0, 0.0, 0.2, turn=(10, 15, 0), jitter=0.05)),
    ("cheese", "cheese", aside(0.35)),
    ("cheese", "star", centered()),
    ("notched ball", "drilled block", aside(0.25)),
    ("notched ball", "dented sphere 1", aside(0.5)),
    ("drilled block", "tube", placed(0.1, 0.05, 0.3, tilt=0.2)),
    ("comb", "comb", placed(0.14, 0.14, 0.75, turn=(180, 0, 0), tilt=0.1)),
    ("housing", "bracket", placed(0.0, 0.05, 0.3, turn=(0, 0, 20), jitter=0.06, tilt=0.4)),
    ("housing", "comb", placed(0.0, 0.1, 0.35, turn=(180, 0, 0), jitter=0.05, tilt=0.3)),
    ("nut", "screw", placed(0.0, 0.0, 0.0, jitter=0.012, tilt=0.03)),
    ("plate", "screw", placed(0.02, 0.0, 0.1, jitter=0.02, tilt=0.12)),
    ("shell", "small ball", placed(0.5, 0.1, 0.0, jitter=0.03)),
    ("opened shell", "knot 2 3", centered(0.02)),
    ("opened shell", "star", centered(0.05)),
    ("bowl", "smaller bowl", placed(0.08, 0.0, 0.05, jitter=0.03, tilt=0.25)),
    ("bowl", "bowl", placed(0.05, 0.05, 0.22, jitter=0.03, tilt=0.2)),
    # Round and rough ones
    ("dented sphere 1", "dented sphere 2", aside(0.1)),
    ("dented sphere 2", "dented sphere 3", aside(0.35)),
    ("dented sphere 3", "fine dented sphere", aside(0.6)),
    ("fine dented sphere", "rough sphere", aside(0.2)),
    ("Suzanne", "Suzanne", aside(0.3)),
    ("fine Suzanne", "dented sphere 3", aside(0.15)),
    ("fine Suzanne", "knot 2 3", centered(0.2)),
    ("terrain", "hip", aside(0.12)),
    ("terrain", "star", placed(0.1, 0.2, 0.1, jitter=0.1)),
    # Nothing of B is outside of A
    ("notched ball", "small ball", inside),
)


def overlap(a: Manifold, b: Manifold) -> float:
    """The volume that two solids have in common."""
    return float((a ^ b).volume())


def poses_of(
    name_a: str, name_b: str, place: Place, seed: int, a: Surface, b: Surface
) -> tuple[np.ndarray, np.ndarray]:
    """Two poses (4, 4) in which the solids penetrate, the same in every run."""
    rng = np.random.default_rng([17, seed])
    solid_a, solid_b = as_manifold(a), as_manifold(b)
    least = TOUCH * min(solid_a.volume(), solid_b.volume())
    for _ in range(TRIES):
        relative = place(rng, a, b)
        common = overlap(solid_a, solid_b.transform(relative[:3]))
        if common <= least or (place is inside and common < (1.0 - 1e-9) * solid_b.volume()):
            continue
        whole = pose(turned(rng), rng.uniform(-1.0, 1.0, 3))
        return whole, whole @ relative
    raise RuntimeError(f"{name_a} and {name_b} never penetrate")
