# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects and instances as they were read from Blender: plain data, for any thread."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...core.decomposition.concavity import Concavity
from ...core.types import FloatArray, IntArray
from ..data.collision_kinds import Choice
from ..data.records import Approval, Key, Pair, Rules, SimulatedBody, Skipped, State
from ..data.units import UnitFormat
from ..geometry.collision_shape import (
    CONCAVITY_SLACK,
    RESOLUTION_STEPS,
    covers_hull,
    float32_step,
    follows_mesh,
    kind_for,
)
from ..geometry.local_geometry import Geometry


def place_of(matrix: Sequence[float]) -> str:
    """Return the digest of the numbers of a world matrix; 0 and -0 are the same."""
    numbers = np.array(matrix, dtype=np.float32) + np.float32(0.0)
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()


def identity_of(
    name: str | None, library: str | None, instancer: str | None, instancer_library: str | None, number: str | None
) -> str:
    """Return names of an object or instance that no other one of the file has, as one text."""
    return json.dumps([name, library, instancer, instancer_library, number or None], ensure_ascii=False)


@dataclass(frozen=True, eq=False)
class SceneObject:
    """An object, or an instance of one."""

    key: Key
    name: str
    """For the user: unlike the key it may be that of another one."""
    object_name: str
    instancer_name: str | None
    """The object that makes the instance; None for an object that is no instance."""
    geometry: Geometry
    linear: FloatArray
    """(3, 3) of the world matrix."""
    translation: FloatArray
    """(3,) of the world matrix."""
    choice: Choice
    above: frozenset[int] = frozenset()
    """`session_uid` of its parents, of theirs, and so on; of an instance those of its instancer, and within an
    instanced collection its own."""
    collections: frozenset[object] = frozenset()
    """Its collections; of an instance within its instancer."""
    parts: tuple[SceneObject, ...] = ()
    """The parts of a compound parent; its geometry is all of theirs then, in world space."""
    fault: str = ""
    """Why Blender may have evaluated it wrong, as a sentence; empty where nothing is known."""
    owner_matrix: tuple[float, ...] = ()
    """The 16 numbers of the world matrix of the object or instancer."""
    library: str | None = None
    """The library of the object, as `objects.library_name` has it; None of the file's own."""
    instancer_library: str | None = None
    body: SimulatedBody | None = None
    """Its rigid body, where it collides as that is simulated."""

    @property
    def identity(self) -> str:
        """What it is called, unlike any other one of the file."""
        return identity_of(self.object_name, self.library, self.instancer_name, self.instancer_library, self.key[2])

    @property
    def uid(self) -> int:
        """`session_uid` of the object itself, which for an instance is the instanced one."""
        return self.key[1] or self.key[0]

    @cached_property
    def state(self) -> State:
        """Equal states: the same in the same place."""
        return State(place_of(self.owner_matrix), self._made.hex())

    @cached_property
    def shape_key(self) -> tuple[object, ...]:
        """Equal keys: the same shape in the same place, called the same."""
        return self.key, self.name, *(part.name for part in all_parts(self)), self.choice, self._made, self.pose

    @property
    def geometry_digest(self) -> str:
        """Digest of the geometry, of a compound parent of its parts in their places."""
        parts = [part.geometry_digest + part.place_digest for part in self.parts]
        text = self.geometry.digest.hex() + "".join(parts)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def place_digest(self) -> str:
        """Digest of the world matrix."""
        return hashlib.blake2b(self.placed.pose, digest_size=8).hexdigest()

    @property
    def placed(self) -> SceneObject:
        """What says where it is: of an instance of a compound parent, which is read in world space, its first part."""
        return self.parts[0].placed if self.parts and self.key[2] else self

    @property
    def pose(self) -> bytes:
        """The world matrix in single precision, as Blender stores it."""
        numbers = np.concatenate([self.linear.ravel(), self.translation]).astype(np.float32) + np.float32(0.0)
        return numbers.tobytes()

    @property
    def _made(self) -> bytes:
        """Digest of its geometry and collision shape; of an instance also of its place."""
        digest = hashlib.blake2b(self.geometry.digest, digest_size=16)
        digest.update(f"{self.choice.kind} {self.choice.source}".encode())
        if self.body is not None and self.body.margin > 0.0:
            digest.update(repr(astuple(replace(self.body, never_meets=frozenset()))).encode())
        if self.key[2]:
            digest.update(self.pose)
        for part in self.parts:
            digest.update(part._made + part.pose)
        return digest.digest()

    @cached_property
    def matrix(self) -> FloatArray:
        """(4, 4) the world matrix."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.linear, self.translation
        return matrix

    @property
    def points(self) -> FloatArray:
        """(n, 3) vertices in world space."""
        return self.geometry.points @ self.linear.T + self.translation

    @property
    def has_surface(self) -> bool:
        """Whether there is something to collide with: faces, or a shape that was chosen for what has none, of which
        its scale leaves more than a line."""
        is_chosen = not follows_mesh(self.choice) and self.choice.source != "option"
        return not self.is_scaled_away and (is_chosen or not self.geometry.is_wire)

    @property
    def is_scaled_away(self) -> bool:
        """Whether its scale is zero along so many local axes that a point or, of faces, a line is left."""
        is_kept = self.linear.any(axis=0)
        if is_kept.all() or len(self.geometry.triangles) == 0:
            return not is_kept.any()
        low, high = self.geometry.bounds
        return int((is_kept & (high > low)).sum()) < 2

    @cached_property
    def kind(self) -> str:
        """The kind of its collision shape."""
        return kind_for(self.choice, len(self.geometry.triangles) > 0, lambda: self.is_convex)

    @cached_property
    def is_convex(self) -> bool:
        """Whether the mesh is its convex hull in world space, as exactly as float32 can say."""
        geometry = self.geometry
        if geometry.least_concavity > 0.0:  # most meshes that are concave are clearly so: no hull is needed for that
            largest = geometry.magnitude * np.abs(self.linear).sum(axis=1) + np.abs(self.translation)
            if self._is_visible(geometry.least_concavity, float(largest.max())):
                return False
        magnitude = float(np.abs(geometry.hull.vertices @ self.linear.T + self.translation).max())
        resolution = RESOLUTION_STEPS * float32_step(magnitude)
        most, least = self._stretches
        # Once its depth is visible nothing else counts.
        local = geometry.concavity((1.0 + 2.0 * CONCAVITY_SLACK) * resolution / least if least > 0.0 else np.inf)
        if local.depth == 0.0 and local.open_fraction == 0.0:
            return True
        if least > 0.0:
            twist = (most / least) ** 2
            widest = Concavity(local.depth * most, local.point, local.is_closed, None, local.open_fraction * twist)
            if covers_hull(widest, resolution):
                return True
        if self._is_visible(local.depth, magnitude):
            return False
        found = geometry.world_concavity(lambda: geometry.hull.transformed(self.matrix), self.linear, self.translation)
        return covers_hull(found, resolution)

    @cached_property
    def _stretches(self) -> tuple[float, float]:
        """The most and the least by which lengths grow; areas grow by products of two."""
        most, _, least = np.linalg.svd(self.linear, compute_uv=False).tolist()
        return most, least

    def _is_visible(self, depth: float, magnitude: float) -> bool:
        """Whether a concavity of this depth in local space is one in the world, where the largest coordinate is
        `magnitude`, however the object is turned."""
        return depth * self._stretches[1] > (1.0 + CONCAVITY_SLACK) * RESOLUTION_STEPS * float32_step(magnitude)


def all_parts(obj: SceneObject) -> Iterator[SceneObject]:
    """Yield the parts of a compound parent, and theirs."""
    for part in obj.parts:
        yield part
        yield from all_parts(part)


def by_geometry(objects: Sequence[SceneObject], indices: Iterable[int] | None = None) -> dict[Geometry, list[int]]:
    """Return the indices of the objects of each geometry, of those given or of all."""
    groups: dict[Geometry, list[int]] = {}
    for k in range(len(objects)) if indices is None else indices:
        groups.setdefault(objects[k].geometry, []).append(k)
    return groups


def _is_parent_of_either(a: SceneObject, b: SceneObject) -> bool:
    """Return whether one is a parent or the instancer of the other."""
    if a.key[0] != b.key[0]:
        return a.key[0] in b.above or b.key[0] in a.above
    if not (a.key[2] and b.key[2]):  # an object and an instance that it makes
        return True
    return a.key[1] in b.above or b.key[1] in a.above


class Scope(NamedTuple):
    """Objects, by their indices, that are checked against each other."""

    first: list[int]
    """Those of the first side."""
    other: list[int] | None
    """Those of the second side, when not all are checked against all."""

    @property
    def sides(self) -> tuple[list[int], list[int]]:
        """Both sides; the same list if all against all."""
        return self.first, self.first if self.other is None else self.other


@dataclass(frozen=True, eq=False)
class CheckInput:
    """All that a scene check needs, as read from Blender."""

    objects: list[SceneObject]
    scopes: list[Scope]
    """A pair is checked that is in one of them, or in several."""
    rules: Rules
    joined: frozenset[frozenset[int]] = frozenset()
    """Pairs of objects to ignore, by `session_uid`: those joined by rigid-body constraints."""
    listed: frozenset[frozenset[int]] = frozenset()
    """Pairs of objects to ignore, by `session_uid`, of the user's list; a single object is ignored altogether."""
    skipped: list[Skipped] = field(default_factory=list)
    without_surface: list[SceneObject] = field(default_factory=list)
    """What is left out because it has no faces."""
    approved: Mapping[Pair, Approval] = field(default_factory=dict)
    """Pairs that the user approved."""
    ordered: frozenset[tuple[Key | None, Key | None]] = frozenset()
    """Pairs that are checked in this order whatever the sides of the scopes are, as the list has them."""
    units: UnitFormat = field(default_factory=UnitFormat)
    """For the lengths in notes."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many objects are not visible, as `visibility.left_out` counts them."""
    differences: list[dict[str, Any]] = field(default_factory=list)
    """Differences between viewport and render, as `visibility.differences` returns them."""
    instances: Mapping[Key, tuple[str | None, str | None, str | None]] = field(default_factory=dict)
    """See `instances.digests_of`: of the instances of the list."""
    renumbered: Mapping[Key, Key | None] = field(default_factory=dict)
    """What instances of the list are now that have other numbers: see `instances.renumbered`."""

    def now(self, pair: Pair | None) -> Pair | None:
        """Return a pair of the list as it is numbered now; None where an instance of it is gone."""
        keys = frozenset(self.renumbered.get(key, key) for key in pair or ())
        return frozenset(filter(None, keys)) if pair is not None and None not in keys else None

    def ignored_rows(self, pairs: IntArray) -> dict[str, IntArray]:
        """Return which of pairs (n, 2) of objects are ignored, by the names of the rules."""
        listed = {uid for uids in (*self.joined, *self.listed) for uid in uids}
        # Of most scenes no rule has anything to say about most objects.
        concerned = np.array(
            [
                bool(obj.above or obj.collections or obj.key[2] or obj.key[0] in listed or obj.uid in listed)
                for obj in self.objects
            ],
            dtype=bool,
        )
        owners = np.array([obj.key[0] for obj in self.objects], dtype=np.int64)
        is_open = concerned[pairs].any(axis=1) | (owners[pairs[:, 0]] == owners[pairs[:, 1]])
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(is_open).tolist():
            if rule := self.ignoring_rule(*pairs[row].tolist()):
                found.setdefault(rule, []).append(row)
        return {rule: np.array(rows, dtype=np.intp) for rule, rows in found.items()}

    def ignoring_rule(self, i: int, j: int) -> str:
        """Return the name of the rule by which a pair of objects is ignored, or an empty string."""
        a, b = self.objects[i], self.objects[j]
        if self.rules.ignore_parents and _is_parent_of_either(a, b):
            return "parents"
        if self.rules.ignore_collections and a.collections & b.collections:
            return "collections"
        if frozenset((a.key[0], b.key[0])) in self.joined:
            return "joined"
        uids = product((a.key[0], a.uid), (b.key[0], b.uid)) if self.listed else ()
        if any(self.listed & {frozenset((i, j)), frozenset((i,)), frozenset((j,))} for i, j in uids):
            return "listed"
        return ""

    def with_parts(self, side: Iterable[int]) -> list[SceneObject]:
        """Return the objects of a side of a scope, the parts of compound parents too."""
        return [part for k in side for part in (self.objects[k], *all_parts(self.objects[k]))]
