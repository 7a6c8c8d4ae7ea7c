# SPDX-License-Identifier: GPL-3.0-or-later
"""What is checked in a scene, as it was read from Blender: plain data, for any thread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.decomposition.concavity import Concavity, max_concavity
from ...core.decomposition.mesh_pieces import mesh_pieces
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.progress import Progress
from ...core.shapes.hull import ConvexHull
from ...core.types import FloatArray
from ..data.units import UnitFormat
from .collision_shape import Choice
from .collision_solid import RESOLUTION_STEPS, covers_hull, float32_step, kind_for

Key = tuple[int, int, str]
"""Which thing: `session_uid` of the object, or of what makes the instance; that of the instanced object, else 0; the
instance's number, else empty."""

APPROVAL_SLACK = 0.01
"""Relative to the approved depth or gap: a pair that is deeper or closer by no more is still approved."""
DENT_SLACK = 1e-3
"""Relative: dents are found to less than that of themselves."""


class Geometry:
    """A mesh in its own space; all objects of the same geometry share one."""

    def __init__(self, points: FloatArray, triangles: NDArray[np.int32], digest: bytes = b"") -> None:
        """points (n, 3), triangles (t, 3); digest: of both, as Blender holds them."""
        self.points = points
        self.triangles = triangles
        self.digest = digest
        self._pieces: Decomposition | None = None

    @cached_property
    def hull(self) -> ConvexHull:
        return ConvexHull(self.points)

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def is_box(self) -> bool:
        """Whether the hull is the local bounding box: boxes are made, and their contacts found, many times faster."""
        low, high = self.bounds
        corners = self.hull.vertices
        return bool(self.hull.rank == 3 and len(corners) == 8 and ((corners == low) | (corners == high)).all())

    @cached_property
    def dent(self) -> Concavity:
        """How far the mesh is from its hull."""
        return max_concavity(self.hull, self.hull.vertex_ids, self.points, self.triangles)

    @cached_property
    def magnitude(self) -> float:
        """The largest absolute coordinate."""
        return float(np.abs(self.hull.vertices).max())

    def pieces(self, progress: Progress | None = None) -> Decomposition:
        """Return the convex pieces that stand for the mesh; cut once. Raises Cancelled."""
        if self._pieces is None:
            self._pieces = mesh_pieces(Mesh(self.points, self.triangles.astype(np.intp)), progress=progress)
        return self._pieces


class State(NamedTuple):
    """Where a thing was and what it was made of, as digests, to be kept in a file and compared."""

    place: str
    """Of the world matrix of the object, or of what makes the instance: compared at once."""
    made: str
    """Of all else: geometry, collision shape, parts, and the place of an instance in what makes it."""


def place_of(matrix: Sequence[float]) -> str:
    """Return the digest of the numbers of a world matrix; 0 and -0 are the same."""
    numbers = np.array(matrix, dtype=np.float32) + np.float32(0.0)
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()


def _pose(item: Item) -> bytes:
    numbers = np.concatenate([item.linear.ravel(), item.translation]).astype(np.float32) + np.float32(0.0)
    return numbers.tobytes()


@dataclass(frozen=True, eq=False)
class Item:
    """One thing in the scene: an object, or an instance of one."""

    key: Key
    name: str
    """For people: unlike the key it may be that of another thing."""
    object_name: str
    instancer_name: str | None
    """Which object makes the instance; None for an object that is no instance."""
    geometry: Geometry
    linear: FloatArray
    """(3, 3) of the world matrix."""
    translation: FloatArray
    """(3,) of the world matrix."""
    choice: Choice
    above: frozenset[int] = frozenset()
    """`session_uid` of its parents, of theirs, and so on; of an instance those of what makes it, and within an
    instanced collection its own."""
    collections: frozenset[object] = frozenset()
    """Which collections it is in; of an instance within what makes it."""
    parts: tuple[Item, ...] = ()
    """What a compound parent is made of; its geometry is all of theirs then, in world space."""
    fault: str = ""
    """Why Blender may have evaluated it wrong, as a sentence; empty where nothing is known."""
    owner_matrix: tuple[float, ...] = ()
    """The 16 numbers of the world matrix of the object, or of what makes the instance."""

    @property
    def uid(self) -> int:
        """`session_uid` of the object itself, which for an instance is the instanced one."""
        return self.key[1] or self.key[0]

    @property
    def state(self) -> State:
        """By what it is known again."""
        return State(place_of(self.owner_matrix), self._made.hex())

    @property
    def _made(self) -> bytes:
        """Digest of its geometry and of what it collides as; of an instance also of where it is."""
        digest = hashlib.blake2b(self.geometry.digest, digest_size=16)
        digest.update(f"{self.choice.kind} {self.choice.source}".encode())
        if self.key[2]:
            digest.update(_pose(self))
        for part in self.parts:
            digest.update(part._made + _pose(part))
        return digest.digest()

    @cached_property
    def matrix(self) -> FloatArray:
        """(4, 4) the world matrix."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.linear, self.translation
        return matrix

    @cached_property
    def kind(self) -> str:
        """What it collides as, as in `collision_shape`."""
        return kind_for(self.choice, len(self.geometry.triangles) > 0, lambda: self.is_convex)

    @cached_property
    def is_convex(self) -> bool:
        """Whether the mesh, where it is, is its convex hull, as exactly as float32 tells."""
        geometry, dent = self.geometry, self.geometry.dent
        if dent.depth == 0.0 and dent.open_fraction == 0.0:
            return True
        magnitude = float(np.abs(geometry.hull.vertices @ self.linear.T + self.translation).max())
        # Lengths grow by the largest stretch at most, and by the least at least; areas by products of two stretches.
        most, _, least = np.linalg.svd(self.linear, compute_uv=False).tolist()
        if least > 0.0:
            twist = (most / least) ** 2
            largest = Concavity(dent.depth * most, dent.point, dent.is_closed, None, dent.open_fraction * twist)
            if covers_hull(largest, magnitude):
                return True
            if dent.depth * least > (1.0 + DENT_SLACK) * RESOLUTION_STEPS * float32_step(magnitude):
                return False
        hull = geometry.hull.transformed(self.matrix)
        points = geometry.points @ self.linear.T + self.translation
        return covers_hull(max_concavity(hull, hull.vertex_ids, points, geometry.triangles), magnitude)


def all_parts(item: Item) -> Iterator[Item]:
    """What a compound parent is made of, and these are."""
    for part in item.parts:
        yield part
        yield from all_parts(part)


@dataclass(frozen=True)
class Ignore:
    """Which pairs are not looked at."""

    parents: bool = False
    """A thing and one it hangs on."""
    collections: bool = False
    """Things in one collection."""
    joined: frozenset[frozenset[int]] = frozenset()
    """Pairs of objects, by `session_uid`, joined by rigid-body constraints."""
    listed: frozenset[frozenset[int]] = frozenset()
    """Pairs in the person's list; a single object is ignored altogether."""

    def why(self, a: Item, b: Item) -> str:
        """Return the rule by which a pair is ignored, or an empty string."""
        if self.parents and _hang(a, b):
            return "parents"
        if self.collections and a.collections & b.collections:
            return "collections"
        if self.joined and frozenset((a.key[0], b.key[0])) in self.joined:
            return "joined"
        if self.listed:
            for one in {a.key[0], a.uid}:
                for other in {b.key[0], b.uid}:
                    if self.listed & {frozenset((one, other)), frozenset((one,)), frozenset((other,))}:
                        return "listed"
        return ""


def _hang(a: Item, b: Item) -> bool:
    """Tell whether one thing is a parent of the other, or makes it."""
    if a.key[0] != b.key[0]:
        return a.key[0] in b.above or b.key[0] in a.above
    if not (a.key[2] and b.key[2]):  # an object and an instance that it makes
        return True
    return a.key[1] in b.above or b.key[1] in a.above


@dataclass(frozen=True)
class Approval:
    """What a pair was when the user approved it, which it may be and stay approved."""

    signed_distance: float | None
    """Blender units; None where surfaces crossed of which one is open: such a pair has no depth."""
    is_known: bool = True
    """False when the file, saved by an earlier version, does not say."""

    def covers(self, signed_distance: float | None, resolution: float) -> bool:
        """Return whether a pair of that signed distance (None: crossing without a depth) is no worse than approved.

        resolution: of the pair's coordinates, Blender units; smaller differences are not known.
        """
        if not self.is_known:
            return False
        if self.signed_distance is None:
            return signed_distance is None or signed_distance >= -resolution
        if signed_distance is None:
            return False
        slack = max(APPROVAL_SLACK * abs(self.signed_distance), resolution)
        return signed_distance >= self.signed_distance - slack


class Skipped(NamedTuple):
    """What is left out of a check: a thing or a pair."""

    name: str
    reason: str
    """A sentence."""
    unchecked: bool = True
    """Whether something was to be checked and was not. Not so of what has no geometry, or is left out by the rules."""
    kind: str = "geometry"
    """Which sort of reason it is; docs/report.md lists them."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What is checked, as read from Blender."""

    items: list[Item]
    other: list[int] | None
    """When not all are checked against all: the items of the second side. `first` are those of the first."""
    first: list[int]
    ignore: Ignore
    clearance: float
    contact_tolerance: float
    touching: bool
    """Whether pairs that only touch are told."""
    instances: bool = True
    """Whether instances are checked too."""
    skipped: list[Skipped] = field(default_factory=list)
    approved: Mapping[frozenset[Key], Approval] = field(default_factory=dict)
    """Pairs that the user approved."""
    without_approved: bool = False
    """Whether pairs that are no worse than approved are left out of the findings."""
    units: UnitFormat = field(default_factory=UnitFormat)
    """For the lengths in notes."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many objects are not visible, as `scene_visibility.left_out` counts them."""
    differences: list[dict[str, Any]] = field(default_factory=list)
    """What differs between viewport and render, as `scene_visibility.differences` has it."""

    def sides(self) -> tuple[list[Item], list[Item]]:
        """Return the things of both sides, the parts of compound parents too. All against all, they are the same."""

        def side(numbers: list[int]) -> list[Item]:
            return [one for k in numbers for one in (self.items[k], *all_parts(self.items[k]))]

        first = side(self.first)
        return first, first if self.other is None else side(self.other)


def by_geometry(items: Sequence[Item], numbers: Iterable[int] | None = None) -> dict[Geometry, list[int]]:
    """Return which items have each geometry, of those with the numbers or of all."""
    groups: dict[Geometry, list[int]] = {}
    for k in range(len(items)) if numbers is None else numbers:
        groups.setdefault(items[k].geometry, []).append(k)
    return groups
