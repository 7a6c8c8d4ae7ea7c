# SPDX-License-Identifier: GPL-3.0-or-later
"""Move all objects of the list of clashes, or all that are selected, out of each other: who moves, and by how much.

An object moves with the topmost of its parents that may move too, an instance with what makes it. What is fixed, and
all that is neither in the list nor selected, stays as an obstacle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.broad_phase.candidate_pairs import candidate_pairs
from ...core.penetration_resolution import resolve_penetrations
from ...core.progress import Progress, subrange, tracked
from ...core.types import BoolArray, FloatArray, IntArray
from ..geometry.collision_shape import RESOLUTION_STEPS
from ..geometry.snapshot import ReadError
from ..pair import mover
from ..pair.mover import Ties
from ..read.scene import read_input
from ..read.scene_objects import CheckInput
from ..read.world_shape import WorldShape
from ..scene.candidates import bounds_of
from . import check_settings
from .finding import ContactLensFinding
from .ignored import is_in, listed_now

NOTHING_LEFT = "No clash is left to move out"
LISTED, SELECTED = "LIST", "SELECTED"
"""Whose clashes are moved out."""
_SLACK = 0.5
"""Times the contact tolerance of a pair: what may be left, so that with what Blender's coordinates round it touches."""
_NEGLIGIBLE = 0.1
"""Times that: an object that would move by less stays."""


@dataclass(frozen=True, eq=False)
class MovingBody:
    """An object that may move, with all that moves with it."""

    uid: int
    """Its `session_uid`."""
    name: str
    ties: Ties
    free: tuple[bool, bool, bool]
    """Along which axes of the world it may."""


@dataclass(frozen=True, eq=False)
class Moves:
    """What is to move, and its obstacles."""

    given: CheckInput
    bodies: list[MovingBody]
    of_owners: dict[int, int]
    """The body of each object and instancer that moves, by its `session_uid`."""

    def solve(self, progress: Progress | None = None) -> tuple[dict[int, FloatArray], list[tuple[str, str]]]:
        """Return the translations of the bodies by their `session_uid`, and the names of pairs that are left as they
        should not be. For any thread. Raises Cancelled."""
        objects, rules = self.given.objects, self.given.rules
        bodies = np.array([self.of_owners.get(obj.key[0], -1) for obj in objects], dtype=np.intp)
        low, high, problems = bounds_of(objects, subrange(progress, 0.0, 0.05))
        moving = np.flatnonzero(bodies >= 0)
        if not len(moving):
            return {}, []
        sizes = np.linalg.norm(high - low, axis=1)
        near = candidate_pairs(low[moving], high[moving], low, high, margin=float(sizes[moving].max())).pairs[:, 1]
        shapes, solids = [], []
        for k in tracked(sorted({*near.tolist(), *moving.tolist()} - problems.keys()), subrange(progress, 0.05, 0.2)):
            shape = WorldShape(objects[k])
            try:
                shape.prepare()
                solids.append(shape.solid)
            except ValueError:  # it cannot be checked, as the check says
                continue
            shapes.append((k, max(rules.contact_tolerance * shape.diameter, RESOLUTION_STEPS * shape.step), shape.step))
        numbers = np.array([k for k, *_ in shapes], dtype=np.intp)
        slack = _SLACK * np.array([band for _, band, _ in shapes])
        step = max((step for *_, step in shapes), default=0.0)
        found = resolve_penetrations(
            solids,
            bodies[numbers],
            lambda pairs: self._yielding(numbers[pairs]),
            free=[body.free for body in self.bodies],
            clearance=rules.clearance + (RESOLUTION_STEPS * step if rules.clearance > 0.0 else 0.0),
            tolerances=slack,
            limit=float(np.linalg.norm(high[moving].max(axis=0) - low[moving].min(axis=0))),
            progress=subrange(progress, 0.2, 1.0),
        )
        least = _NEGLIGIBLE * slack.min(initial=np.inf)
        translations = {
            body.uid: step
            for body, step in zip(self.bodies, found.translations, strict=True)
            if np.linalg.norm(step) > least
        }
        left = [(objects[a].name, objects[b].name) for a, b in numbers[found.pairs].tolist()]
        return translations, left

    def _yielding(self, pairs: IntArray) -> BoolArray:
        """Return which objects of pairs (p, 2) are moved because of each other (p, 2)."""
        given, objects = self.given, self.given.objects
        result = np.zeros(pairs.shape, dtype=bool)
        ignored = np.concatenate([np.zeros(0, np.intp), *given.ignored_rows(pairs).values()])
        for row in np.setdiff1d(np.flatnonzero(self._are_compared(pairs)), ignored).tolist():
            a, b = (objects[k] for k in pairs[row].tolist())
            if frozenset((a.key, b.key)) in given.approved:
                continue
            i, j = (self.of_owners.get(obj.key[0]) for obj in (a, b))
            if i is None or j is None:
                result[row] = i is not None, j is not None
            else:
                of_a, of_b = self.bodies[i].ties, self.bodies[j].ties
                result[row] = not mover.stays(of_a, of_b), not mover.stays(of_b, of_a)
        return result

    def _are_compared(self, pairs: IntArray) -> BoolArray:
        """Return which of pairs (p, 2) of objects the check compares (p,)."""
        result = np.zeros(len(pairs), dtype=bool)
        for scope in self.given.scopes:
            first, other = (np.isin(pairs, side) for side in scope.sides)
            result |= (first[:, 0] & other[:, 1]) | (first[:, 1] & other[:, 0])
        return result


def open_clashes(scene: bpy.types.Scene) -> Iterator[tuple[int, ContactLensFinding]]:
    """Yield the clashes that are open, each with its number."""
    listed = listed_now(scene)
    for k, finding in enumerate(check_settings.of_scene(scene).findings):
        pair = finding.pair
        if pair is not None and finding.is_open and not finding.is_apart and not is_in(listed, pair):
            yield k, finding


def listed_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the objects of the clashes that are open, of instances what makes them."""
    return list(dict.fromkeys(obj for _, clash in open_clashes(scene) for obj in (clash.object_a, clash.object_b)))


def read_moves(context: bpy.types.Context, of: str, along: str, fixed: Set[int]) -> Moves:
    """Read what is to move, and its obstacles.

    of: LISTED or SELECTED. along: an axis, "X", "Y" or "Z", or any other word. fixed: `session_uid` of objects that are
    known to stay. Raises ReadError where nothing can move.
    """
    scene, layer = context.scene, context.view_layer
    rules = check_settings.of_scene(scene).as_rules(context)
    if SELECTED in (of, rules.scope.upper()):  # what is selected is no longer what was when the list was made
        rules = replace(rules, scope="visible")
    given = read_input(context, rules, check_settings.reviewed(scene))
    wanted = listed_objects(scene) if of == LISTED else list(layer.objects.selected)
    if not wanted:
        raise ReadError(NOTHING_LEFT)
    movable = {obj for obj in wanted if obj.session_uid not in fixed and not mover.fixed_reason(obj)}
    if not movable:
        raise ReadError("No object can move, as all are linked, locked or Passive rigid bodies: change one of them")
    by_uid = {obj.session_uid: obj for obj in layer.objects}
    bodies: list[MovingBody] = []
    numbers: dict[int, int] = {}
    of_owners: dict[int, int] = {}
    for uid in dict.fromkeys(obj.key[0] for obj in given.objects):
        above = [obj for obj in _with_parents(by_uid[uid]) if obj in movable]
        if above:
            top = above[-1]
            if top.session_uid not in numbers:
                numbers[top.session_uid] = len(bodies)
                bodies.append(MovingBody(top.session_uid, top.name, mover.ties_of(top), _free(top, along)))
            of_owners[uid] = numbers[top.session_uid]
    return Moves(given, bodies, of_owners)


def _with_parents(obj: bpy.types.Object) -> Sequence[bpy.types.Object]:
    """Return an object, its parent, the parent of that, and so on."""
    chain: list[bpy.types.Object] = []
    each: bpy.types.Object | None = obj
    while each is not None:
        chain.append(each)
        each = each.parent
    return chain


def _free(obj: bpy.types.Object, along: str) -> tuple[bool, bool, bool]:
    """Return along which axes of the world an object may move; the locks of a child are of its parent's axes."""
    locks = (False, False, False) if obj.parent is not None else tuple(obj.lock_location)  # type: ignore[arg-type]
    x, y, z = (not locked and (along == axis or along not in "XYZ") for axis, locked in zip("XYZ", locks, strict=True))
    return x, y, z
