# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspect Contact: a pair check with everything that the panel, the overlay and the report show."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from math import inf

import bpy
import numpy as np

from ...core.decomposition.concavity import Concavity
from ...core.mesh_contact.mesh_pair import NO_DEPTH
from ...core.mesh_contact.mesh_result import narrowed
from ...core.meshes.decomposition import Decomposition
from ...core.progress import Cancelled, Progress, report_progress, subrange
from ...core.result import Relation
from ...core.shapes.hull import ConvexHull
from ...core.verify.check import Check, Verification
from ..data import messages
from ..data.collision_kinds import COMPOUND, CONVEX_HULL, MESH, PRIMITIVES, Choice
from ..data.records import FIRST_ANSWER, Key, Settings
from ..data.units import UnitFormat, exact_translation
from ..geometry import local_geometry as geometry
from ..geometry.collision_shape import Fit, covers_hull
from ..geometry.local_geometry import DigestsOnly, Geometries, RecentGeometries
from ..geometry.snapshot import ReadError
from ..read.scene_objects import SceneObject
from ..read.scene_reader import snapshot_keys, snapshot_object
from ..read.world_shape import WorldShape, WorldShapeCache
from .margins import Margins, are_within
from .pair_check import PairResult, are_coplanar, check_pair
from .pair_contact import pieces_of

Keys = tuple[Key, Key]

_geometries = RecentGeometries()
_shapes = WorldShapeCache(16, triangles=200_000)


@dataclass(frozen=True, eq=False)
class CollisionProxy:
    """The shape that stood for an object, and how far that is from its mesh."""

    shape: WorldShape
    pieces: Decomposition | None
    """The convex pieces that stood for the mesh, where they were needed."""

    @property
    def kind(self) -> str:
        """Of the shape."""
        return self.shape.kind

    @property
    def choice(self) -> Choice:
        """The collision shape that was asked for."""
        return self.shape.object.choice

    @property
    def hull(self) -> ConvexHull:
        """The convex hull of the mesh."""
        return self.shape.hull

    @property
    def concavity(self) -> Concavity:
        """How far the mesh is from its convex hull."""
        return self.shape.concavity

    @property
    def fit(self) -> Fit | None:
        """How far a primitive is from the mesh; None for other shapes."""
        return self.shape.fit

    def is_the_mesh(self, resolution: float) -> bool:
        """Return whether the shape is the mesh itself, within the resolution of its coordinates."""
        if self.kind == CONVEX_HULL:
            return covers_hull(self.concavity, resolution)
        if self.kind in PRIMITIVES:
            return self.fit is not None and max(self.fit.sticks_out, self.fit.reaches_beyond) <= resolution
        return self.kind == MESH


class Stage(IntEnum):
    """How much of an inspection is made; what is made is true at each."""

    CROSSING = 0
    """Which relation, where surfaces cross, how far they are apart; no depth of meshes that cross."""
    FIRST = 1
    """A depth too, but that of meshes is only an upper bound."""
    WHOLE = 2
    """The best bounds, and everything is checked again."""


LEAST_SEARCH_S, LONGER_SEARCH = 10.0, 3.0
"""Seconds of the first search that refines a depth; how many times as long the next one is."""
BEGINNINGS = (0.0, 0.05, 0.1)
"""Of the progress of an inspection: where each stage begins."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Inspection(PairResult):
    """Everything known about one inspected pair, in world space and Blender units. A was the active object."""

    objects: tuple[SceneObject, SceneObject]
    """A and B as they were read."""
    proxy_a: CollisionProxy
    """Why A has that shape, and how far it is from the mesh."""
    proxy_b: CollisionProxy
    name_a: str
    name_b: str
    stage: Stage
    verification: Verification | None
    """The contact checked again, independently of the solver; None unless the stage is WHOLE."""
    settings: Settings
    units: UnitFormat
    """The scene's unit settings: `units.length(x)`, `units.area(x)`, `units.vector(p)` make text."""
    seconds_read: float
    """Time it took to read the objects."""
    seconds_contact: float
    """Time it took to make the shapes and find the contact."""
    searched: float = 0.0
    """Seconds for which the depth was refined; infinite when that search came to its end, so that no longer one finds
    more."""

    @property
    def keys(self) -> Keys:
        """Identity of A and B."""
        return self.objects[0].key, self.objects[1].key

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of the contact; none unless the stage is WHOLE."""
        return () if self.verification is None else self.verification.checks

    @property
    def margins(self) -> float | None:
        """Up to which gap Blender's simulation pushes the two apart; None unless their gap is smaller."""
        found = self.contact
        if not found.has_depth or found.relation not in (Relation.SEPARATED, Relation.WITHIN_CLEARANCE):
            return None
        margins = Margins(self.objects).of(np.array([[0, 1]]), found.normal[None])
        return float(margins[0]) if are_within(np.array([found.signed_distance]), margins).all() else None

    @cached_property
    def _tried(self) -> dict[tuple[str, ...], bool]:
        return {}

    def separates(self, translation: list[float], slack: float = 0.0) -> bool:
        """Return whether B is free from A after a translation, see `is_separated_by`; while the objects move, by its
        length along the normal only."""
        key = (f"{slack}", *(f"{x:.15g}" for x in translation))  # the same in other units
        if key not in self._tried:
            self._tried[key] = self.is_separated_by(translation, slack, exactly=not self.is_provisional)
        return self._tried[key]

    def move_text(self, units: UnitFormat) -> str:
        """Return the MTV as text that separates as it is written, but for the resolution of the coordinates."""
        return units.translation(self.contact.mtv, lambda move: self.separates(move, self.resolution), self.resolution)

    @property
    def exact_move(self) -> str:
        """The MTV with all digits, for Blender's fields: it separates as it is written."""
        return exact_translation(self.contact.mtv, self.separates)

    @cached_property
    def are_coplanar(self) -> bool:
        """Whether both objects are flat and in one plane, so that they can be inspected in it."""
        solids = self.shape_a, self.shape_b
        return are_coplanar(self.proxy_a.shape, self.proxy_b.shape, solids, self.settings, self.resolution)

    @property
    def is_provisional(self) -> bool:
        """Whether it was made while the objects move, and more of it will be made when they rest."""
        return self.stage < Stage.WHOLE

    @property
    def is_depth_pending(self) -> bool:
        """Whether there is a depth, which is not computed yet."""
        return self.is_provisional and not self.contact.has_depth and NO_DEPTH not in self.contact.notes


@dataclass(frozen=True, eq=False)
class Work:
    """An inspection of two objects as they were read, still to be made: in any thread, without touching Blender."""

    objects: tuple[SceneObject, SceneObject]
    settings: Settings
    units: UnitFormat
    seconds: float = 0.0
    """Time it took to read them."""

    @property
    def keys(self) -> Keys:
        """Identity of A and B."""
        return self.objects[0].key, self.objects[1].key

    def stage_after(self, found: Inspection | None) -> Stage:
        """Return the stage that says more than what was found; None: than nothing."""
        kinds = {obj.kind for obj in self.objects}
        if MESH in kinds:
            return Stage.CROSSING if found is None else Stage.FIRST if found.is_depth_pending else Stage.WHOLE
        # Of compounds a first answer would take as long as the depth.
        return Stage.FIRST if found is None and COMPOUND not in kinds else Stage.WHOLE

    def part(self, stage: Stage) -> Callable[[Progress], Inspection]:
        """Return the work of a stage, after those before it; its progress is a part of that of them all."""
        end = 1.0 if stage is Stage.WHOLE else BEGINNINGS[stage + 1]
        return lambda progress: self(subrange(progress, BEGINNINGS[stage], end), stage)

    def __call__(self, progress: Progress | None = None, stage: Stage = Stage.WHOLE) -> Inspection:
        """Make it. Raises ReadError, and Cancelled when the progress function returns False."""
        try:
            return self._inspection(subrange(progress, 0.0, 1.0), stage)
        except (ReadError, Cancelled):
            raise
        except Exception as error:
            a, b = (obj.name for obj in self.objects)
            if isinstance(error, ValueError):
                raise ReadError(f"'{a}' and '{b}' cannot be inspected: {error}") from error
            # A defect, or no memory: the user gets a sentence, and no old result stays as if it were valid.
            traceback.print_exc()
            raise ReadError(
                f"'{a}' and '{b}' cannot be inspected ({type(error).__name__}: {error}): please report this with the "
                "text in the system console"
            ) from error

    def _inspection(self, progress: Progress | None, stage: Stage) -> Inspection:
        start = time.perf_counter()
        a, b = (_shapes.of(obj) for obj in self.objects)
        is_whole = stage is Stage.WHOLE
        settings = self.settings if is_whole else replace(self.settings, budget=FIRST_ANSWER)
        has_depth = stage is not Stage.CROSSING
        result = check_pair(a, b, settings, subrange(progress, 0.0, 0.95), self.units.length, has_depth)
        pieces = pieces_of(result.contact)
        proxies = _proxy(a, result, pieces[0]), _proxy(b, result, pieces[1])
        if is_whole:
            for proxy in proxies:
                _ = proxy.hull, proxy.concavity, proxy.fit  # here, not when they are drawn
        verification = result.verify() if is_whole else None
        report_progress(progress, 1.0)
        inspection = Inspection(
            **vars(result),
            objects=self.objects,
            proxy_a=proxies[0],
            proxy_b=proxies[1],
            name_a=self.objects[0].name,
            name_b=self.objects[1].name,
            stage=stage,
            verification=verification,
            settings=self.settings,
            units=self.units,
            seconds_read=self.seconds,
            seconds_contact=time.perf_counter() - start,
        )
        if is_whole and inspection.contact.depth > inspection.resolution:
            _ = inspection.move_text(self.units), inspection.exact_move  # tested here, too
        return inspection


def refined(before: Inspection, progress: Progress | None = None) -> Inspection:
    """Return an inspection of a pair with its depth searched for longer than before, and no worse bounds; in any
    thread. Raise ReadError and Cancelled."""
    seconds = max(LEAST_SEARCH_S, LONGER_SEARCH * before.searched)
    start = time.perf_counter()
    work = Work(before.objects, replace(before.settings, budget=seconds), before.units, before.seconds_read)
    after = work(progress)
    has_ended = time.perf_counter() - start < seconds
    contact = narrowed(before.contact, after.contact)
    if contact is not after.contact:
        mixed = replace(after, contact=contact)
        mixed = replace(mixed, verification=mixed.verify())
        after = mixed if mixed.verification is not None and mixed.verification.ok else before
    return replace(after, settings=before.settings, searched=inf if has_ended else seconds)


def _proxy(shape: WorldShape, result: PairResult, of_mesh: Decomposition | None) -> CollisionProxy:
    """Return how a shape stood for its object; of_mesh: the pieces that the depth of its mesh was found with."""
    pieces = of_mesh if shape.kind == MESH else None
    if shape.kind == COMPOUND and result.flat is None:  # in the plane: of the outline
        pieces = shape.pieces()
    return CollisionProxy(shape, pieces)


def read_pair(
    depsgraph: bpy.types.Depsgraph, keys: Keys, geometries: Geometries | None = None
) -> tuple[SceneObject, SceneObject]:
    """Return A and B as the depsgraph has evaluated them.

    Raises ReadError, with a sentence for the user, when one of them cannot be inspected.
    """
    geometries = _geometries if geometries is None else geometries
    by_uid = {obj.session_uid: obj for obj in bpy.data.objects}
    if keys[0] == keys[1]:
        raise ReadError(messages.picked_twice(by_uid[keys[0][0]].name))
    instances = [key for key in keys if key[2]]
    found = snapshot_keys(depsgraph, instances, geometries) if instances else {}
    for key in keys:
        if not key[2] and key[0] in by_uid:
            found[key] = snapshot_object(by_uid[key[0]], depsgraph, geometries)
        if key not in found:
            raise ReadError("An object of the pair is hidden or deleted: check the scene again")
    return found[keys[0]], found[keys[1]]


def is_outdated(depsgraph: bpy.types.Depsgraph, inspection: Inspection | Work) -> bool:
    """Return whether A or B is no longer as it was read. Raises ReadError when one cannot be read."""
    a, b = inspection.objects
    return not is_of(inspection, read_pair(depsgraph, (a.key, b.key), DigestsOnly()), inspection.settings)


def is_reshaped(depsgraph: bpy.types.Depsgraph, inspection: Inspection) -> bool:
    """Return whether A or B is made of something else than when it was read, wherever it is, or cannot be read."""
    try:
        now = read_pair(depsgraph, inspection.keys, DigestsOnly())
    except ReadError:
        return True
    return any(a.state.made != b.state.made for a, b in zip(inspection.objects, now, strict=True))


def is_of(inspection: Inspection | Work, objects: tuple[SceneObject, SceneObject], settings: Settings) -> bool:
    """Return whether an inspection is of objects as they were read, with these settings."""
    return inspection.settings == settings and all(
        (then.key, then.state, then.choice) == (now.key, now.state, now.choice)
        for then, now in zip(inspection.objects, objects, strict=True)
    )


def clear_caches() -> None:
    """Drop all geometries and shapes: a file was loaded."""
    geometry.clear()
    _shapes.clear()
