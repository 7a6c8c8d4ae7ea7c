# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations that move many bodies out of each other, as little as is enough.

1. Each pair that penetrates asks for a plane between its shapes: that of its minimum translation vector, or, where
   bodies move along some axes only, of the shortest translation along one. Pairs that are near ask that it stays empty.
2. Of all translations that keep every plane empty, take those with the least sum of squares: the bodies of a pair
   yield by half each, those that are in between stay. The solution does not depend on the order of anything.
3. Convex shapes on both sides of a plane are apart, so planes are made again only where one cannot be kept, the shapes
   are not convex, or others are near by now.
4. A body for which there is no room leaves by the shortest translation out of all that is around it, one in each round.

Source: C. Hildreth, A quadratic programming procedure, 1957 (2., by A. Beck, M. Teboulle, A fast iterative
shrinkage-thresholding algorithm, 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .arguments import as_length
from .broad_phase.candidate_pairs import candidate_pairs
from .compounds.compound import Compound, ConvexPieces, as_compound
from .contact import contact
from .directional_depth import depth_along
from .many.contacts import contacts
from .many.shape_set import ShapeSet
from .progress import Progress, report_progress, subrange
from .shapes.shape import Shape
from .types import BoolArray, FloatArray, IntArray

ROUNDS = 20
"""Times that each body is moved at most."""
_SWEEPS = 2_000
"""Steps of the search for the translations of a round at most."""
_LEFT = 0.1
"""Times the tolerance: what of a plane may be left when that search ends."""
_REACH = 2.0
"""Times the largest distance that a pair lacks: pairs within it may come to penetrate, and keep a plane, too."""
_FOLLOWED = 0.25
"""The least part of a normal, squared, that a body must be free to follow."""


@dataclass(frozen=True)
class Resolution:
    """Translations of bodies."""

    translations: FloatArray
    """(m, dim) of each body, world frame; zero of those that stay."""
    pairs: IntArray
    """(k, 2) indices of shapes that still lack distance, of pairs of which a body yields; ascending."""
    rounds: int
    """How many times bodies were moved."""


def resolve_penetrations(
    shapes: Sequence[Shape],
    bodies: ArrayLike,
    yielding: Callable[[IntArray], BoolArray],
    *,
    free: ArrayLike | None = None,
    clearance: float = 0.0,
    tolerances: ArrayLike = 0.0,
    limit: float = np.inf,
    progress: Progress | None = None,
) -> Resolution:
    """Return translations that move bodies out of each other, to the clearance.

    No more pairs lack distance afterwards than before, and where as many do, they lack less together.

    Args:
        shapes: see `contacts`.
        bodies: (n,) the index of the body that each shape is part of, from 0; -1: the shape stays.
        yielding: called with pairs (p, 2) of shapes of different bodies; return (p, 2) which of both are moved because
            of each other. A pair of which neither is stays as it is.
        free: (m, dim) along which axes of the world each body can be moved; None: along all.
        clearance: the least gap that pairs are to have.
        tolerances: (n,) lengths: a pair may lack as much as that of one of its shapes.
        limit: the longest translation of a body.
        progress: called with the fraction done, 0 to 1; False cancels.

    Deterministic. Raises ValueError, naming the argument, when one is not valid, and Cancelled.

    >>> row = [Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.5, 1.0)]
    >>> found = resolve_penetrations(row, [0, 1, 2], lambda pairs: np.ones(pairs.shape, dtype=bool))
    >>> print(found.translations[:, 0].round(6), len(found.pairs))
    [-0.5  0.   0.5] 0
    """
    known = ShapeSet(shapes)
    numbers = np.asarray(bodies, dtype=np.intp)
    if numbers.shape != (len(known),) or (numbers < -1).any():
        raise ValueError(f"bodies: {len(known)} indices from -1 expected")
    count = int(numbers.max(initial=-1)) + 1
    axes = np.ones((count, known.dim), dtype=bool) if free is None else np.asarray(free, dtype=bool)
    if axes.shape != (count, known.dim):
        raise ValueError(f"free: an array ({count}, {known.dim}) expected, got the shape {axes.shape}")
    slack = np.asarray(tolerances, dtype=np.float64)
    if slack.shape not in ((), (len(known),)) or not (slack >= 0.0).all():
        raise ValueError(f"tolerances: a length, or {len(known)}, from 0 expected")
    slack = np.broadcast_to(slack, (len(known),))
    if not limit >= 0.0:
        raise ValueError(f"limit must be at least 0, not {limit!r}")
    scene = _Scene(known, numbers, axes.astype(np.float64), yielding, as_length("clearance", clearance), slack)
    return scene.resolve(limit, subrange(progress, 0.0, 1.0))


class _Planes:
    """Planes between pairs of shapes, one row each: `normal @ (translation of B - translation of A) >= offset`."""

    def __init__(self, dim: int) -> None:
        self.pairs = np.zeros((0, 2), dtype=np.intp)
        self.normals = np.zeros((0, dim))
        self.offsets = np.zeros(0)
        self.weights = np.zeros((0, 2))
        self.forces = np.zeros(0)
        """Multipliers of the last solution, from which the next search starts."""

    def replace(self, pairs: IntArray, normals: FloatArray, offsets: FloatArray, weights: FloatArray) -> None:
        """Put in planes instead of those of the same pairs."""
        new = set(map(tuple, pairs.tolist()))
        self.keep(np.array([tuple(pair) not in new for pair in self.pairs.tolist()], dtype=bool))
        added = {"pairs": pairs, "normals": normals, "offsets": offsets, "weights": weights, "forces": 0.0 * offsets}
        for name, rows in added.items():
            setattr(self, name, np.concatenate([getattr(self, name), rows]))

    def keep(self, rows: IntArray | BoolArray) -> None:
        """Take the other planes out."""
        for name in ("pairs", "normals", "offsets", "weights", "forces"):
            setattr(self, name, getattr(self, name)[rows])


@dataclass(eq=False)
class _Scene:
    """Shapes, the bodies that they are parts of, and what these are free to do."""

    shapes: ShapeSet
    bodies: IntArray
    free: FloatArray
    """(m, dim) 1.0 or 0.0."""
    yielding: Callable[[IntArray], BoolArray]
    clearance: float
    tolerances: FloatArray
    has_left: list[int] = field(default_factory=list)
    """Bodies for which there was no room: nothing yields to them any more."""

    def resolve(self, limit: float, progress: Progress | None) -> Resolution:
        """Return the best translations of all rounds."""
        dim = self.shapes.dim
        moves, planes = np.zeros((len(self.free), dim)), _Planes(dim)
        best, score = Resolution(moves, np.zeros((0, 2), dtype=np.intp), 0), (np.inf, np.inf)
        reach = self.clearance
        for done in range(ROUNDS + 1):
            part = subrange(progress, done / (ROUNDS + 1), (done + 1) / (ROUNDS + 1))
            pairs, weights = self._near(moves, reach)
            if done == 0 and len(pairs):
                lacking, _ = self._lacking(pairs, moves, subrange(part, 0.0, 0.5))
                reach = self.clearance + _REACH * float(lacking.max(initial=0.0))
                pairs, weights = self._near(moves, reach)
            lacking, normals = self._lacking(pairs, moves, subrange(part, 0.5, 0.9))
            is_short = lacking > self.tolerances[pairs].max(axis=1, initial=0.0)
            now = int(is_short.sum()), float(lacking[is_short].sum())
            if now < score:
                best, score = Resolution(moves, pairs[is_short], done), now
            if not is_short.any() or done == ROUNDS:
                break
            reach = max(reach, self.clearance + _REACH * float(lacking.max()))
            self._lay(planes, pairs, weights, lacking, normals, is_short, moves, part)
            moves, left = self._solve(planes)
            length = np.linalg.norm(moves, axis=1, keepdims=True)
            moves = moves * np.minimum(length, limit) / np.where(length > 0.0, length, 1.0)
            if left.any() and done:
                moves = self._escape(planes, moves, left, limit, part)
        report_progress(progress, 1.0)
        return best

    def _poses(self, moves: FloatArray) -> FloatArray:
        poses = np.tile(np.eye(self.shapes.dim + 1), (len(self.shapes), 1, 1))
        poses[:, :-1, -1] = self._of_shapes(moves)
        return poses

    def _of_shapes(self, moves: FloatArray) -> FloatArray:
        """Return the translations (n, dim) of the shapes."""
        return np.concatenate([moves, np.zeros((1, moves.shape[1]))])[self.bodies]

    def _near(self, moves: FloatArray, reach: float) -> tuple[IntArray, FloatArray]:
        """Return pairs (p, 2) within reach of which a body yields, and which do (p, 2), 1.0 or 0.0."""
        low, high = self.shapes.bounds(self._poses(moves))
        pairs = candidate_pairs(low, high, margin=reach).pairs
        of_bodies = self.bodies[pairs]
        pairs = pairs[of_bodies[:, 0] != of_bodies[:, 1]]
        weights = np.asarray(self.yielding(pairs), dtype=bool) & (self.bodies[pairs] >= 0)
        has_left = np.isin(self.bodies[pairs], self.has_left) & weights
        weights &= ~has_left[:, ::-1] | has_left
        rows = weights.any(axis=1)
        return pairs[rows], weights[rows].astype(np.float64)

    def _lacking(self, pairs: IntArray, moves: FloatArray, progress: Progress | None) -> tuple[FloatArray, FloatArray]:
        """Return by how much the distance of each pair (p,) is less than the clearance, and their normals (p, dim)."""
        found = contacts(
            self.shapes,
            pairs,
            poses=self._poses(moves),
            budget=0.0,
            regions=False,
            certificates=False,
            progress=progress,
        )
        return self.clearance - found.signed_distance, found.normal

    def _lay(
        self,
        planes: _Planes,
        pairs: IntArray,
        weights: FloatArray,
        lacking: FloatArray,
        normals: FloatArray,
        is_short: BoolArray,
        moves: FloatArray,
        progress: Progress | None,
    ) -> None:
        """Put in planes of the pairs that have none, or one that is not kept or not enough."""
        of_shapes = self._of_shapes(moves)
        kept = {
            tuple(pair): normal @ (of_shapes[pair[1]] - of_shapes[pair[0]]) >= offset - _LEFT * self._tolerance(pair)
            for pair, normal, offset in zip(planes.pairs.tolist(), planes.normals, planes.offsets, strict=True)
        }
        is_new = is_short | np.array([not kept.get(tuple(pair), False) for pair in pairs.tolist()], dtype=bool)
        rows = np.flatnonzero(is_new)
        normals = normals[rows].copy()
        lengths = lacking[rows].copy()
        for k, row in enumerate(rows.tolist()):
            if is_short[row] and lacking[row] > self.clearance and not self._is_free(pairs[row], weights[row]):
                report_progress(progress, 0.9)
                normals[k], lengths[k] = self._shortest_along(
                    pairs[row], weights[row], normals[k], lengths[k], of_shapes
                )
        before = of_shapes[pairs[rows, 1]] - of_shapes[pairs[rows, 0]]
        planes.replace(pairs[rows], normals, (before * normals).sum(axis=1) + lengths, weights[rows])

    def _tolerance(self, pair: Sequence[int]) -> float:
        return float(self.tolerances[list(pair)].max())

    def _is_free(self, pair: IntArray, weights: FloatArray) -> bool:
        """Return whether the bodies of a pair that yield can do so in all directions."""
        return all(self.free[self.bodies[k]].all() for k, w in zip(pair.tolist(), weights.tolist(), strict=True) if w)

    def _shortest_along(
        self, pair: IntArray, weights: FloatArray, normal: FloatArray, length: float, of_shapes: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return a normal that the bodies can follow, and how far they have to."""
        i, j = pair.tolist()
        a, b = (self.shapes[k].translated(of_shapes[k]) for k in (i, j))
        axes = np.zeros(self.shapes.dim)
        for k, w in zip((i, j), weights.tolist(), strict=True):
            if w:
                axes = np.maximum(axes, self.free[self.bodies[k]])
        found = normal, length
        least = np.inf
        followed = float((normal * normal * axes).sum())
        if followed >= _FOLLOWED:
            least = (length - self.clearance) / np.sqrt(followed)
        for axis in np.flatnonzero(axes).tolist():
            for sign in (1.0, -1.0):
                along = sign * np.eye(self.shapes.dim)[axis]
                depth = depth_along(a, b, along)
                if depth < least:
                    least, found = depth, (along, depth + self.clearance)
        return found

    # --- the least translations that keep all planes ------------------------------------------------------------------

    def _solve(self, planes: _Planes) -> tuple[FloatArray, BoolArray]:
        """Return the translations (m, dim), and which planes (k,) they do not keep."""
        sides = [np.where(self.bodies[planes.pairs[:, s]] >= 0, self.bodies[planes.pairs[:, s]], 0) for s in (0, 1)]
        pushes = [
            sign * (planes.weights[:, s, None] * planes.normals * self.free[sides[s]])
            for s, sign in ((0, -1.0), (1, 1.0))
        ]
        squares = [(push * push).sum(axis=1) for push in pushes]
        can = squares[0] + squares[1] >= _FOLLOWED * np.maximum(planes.weights.max(axis=1), 1e-9)
        degrees = np.zeros(len(self.free))
        for side, square in zip(sides, squares, strict=True):
            np.add.at(degrees, side, square * can)
        steps = sum(square * degrees[side] for side, square in zip(sides, squares, strict=True))
        steps = np.where(can, 1.0 / np.where(can, steps, 1.0), 0.0)
        enough = _LEFT * self.tolerances[planes.pairs].max(axis=1)

        def moved(forces: FloatArray) -> FloatArray:
            moves = np.zeros_like(self.free)
            for side, push in zip(sides, pushes, strict=True):
                for axis in range(moves.shape[1]):
                    moves[:, axis] += np.bincount(side, forces * push[:, axis], len(moves))
            return moves

        def lacking(moves: FloatArray) -> FloatArray:
            all_moves = np.concatenate([moves, np.zeros((1, moves.shape[1]))])
            a, b = (all_moves[self.bodies[planes.pairs[:, s]]] for s in (0, 1))
            return planes.offsets - ((b - a) * planes.normals).sum(axis=1)

        forces, ahead, momentum = planes.forces, planes.forces, 1.0
        for _ in range(_SWEEPS):
            gradient = lacking(moved(ahead))
            new = np.maximum(0.0, ahead + steps * gradient)
            if ((gradient <= enough) | ~can).all() and (new * np.abs(gradient) <= new * 10.0 * enough).all():
                forces = new
                break
            step = new - forces
            if (gradient * step).sum() < 0.0:  # beyond the best: begin again from here
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            ahead = new + (momentum - 1.0) / following * step
            forces, momentum = new, following
        planes.forces = forces
        moves = moved(forces)
        left: BoolArray = lacking(moves) > self.tolerances[planes.pairs].max(axis=1)
        return moves, left

    # --- where there is no room ---------------------------------------------------------------------------------------

    def _escape(
        self, planes: _Planes, moves: FloatArray, left: BoolArray, limit: float, progress: Progress | None
    ) -> FloatArray:
        """Move the one body that lacks most out of all that is around it, by the shortest translation."""
        lacking: dict[int, int] = {}
        for (i, j), weights in zip(planes.pairs[left].tolist(), planes.weights[left].tolist(), strict=True):
            for k, w in zip((i, j), weights, strict=True):
                if w and self.free[self.bodies[k]].all():
                    lacking[int(self.bodies[k])] = lacking.get(int(self.bodies[k]), 0) + 1
        of_shapes = self._of_shapes(moves)
        for body in sorted(lacking, key=lambda each: (-lacking[each], each)):
            own = np.flatnonzero(self.bodies == body)
            low, high = self.shapes.bounds(self._poses(moves))
            reach = float(np.linalg.norm(high[own].max(axis=0) - low[own].min(axis=0)))
            pairs, _ = self._near(moves, reach)
            around = np.setdiff1d(pairs[np.isin(pairs, own).any(axis=1)], own)
            solids = [self.shapes[k].translated(of_shapes[k]) for k in (*around.tolist(), *own.tolist())]
            if not all(isinstance(solid, ConvexPieces) for solid in solids):
                continue
            others, itself = (
                Compound([piece for solid in part for piece in as_compound(solid).pieces])
                for part in (solids[: len(around)], solids[len(around) :])
            )
            found = contact(others, itself, budget=0.0, progress=subrange(progress, 0.9, 1.0))
            step = moves[body] + (found.depth + self.clearance) * found.normal
            if found.depth > 0.0 and np.linalg.norm(step) <= limit:
                moves = moves.copy()
                moves[body] = step
                self.has_left.append(body)
                planes.keep(np.flatnonzero(~np.isin(planes.pairs, own).any(axis=1)))
                planes.forces = np.zeros(len(planes.pairs))  # they have grown without end
                break
        return moves
