# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known about the inspected pair of each scene, and whether it still holds.

Results are Python objects with NumPy arrays: they live here, not in properties. Nothing here holds a reference to
Blender data (undo and file load would kill it); objects and scenes are named by their `session_uid`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, cast

from ...core.decomposition.concavity import Concavity
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.narrow_phase.contact import Contact
from ...core.shapes.hull import ConvexHull
from ...core.verify.verify import Verification
from ..data.units import UnitFormat
from ..read import collision_shape
from ..read.collision_shape import Choice, Fit
from ..read.plane import Plane
from .pair_contact import Found

if TYPE_CHECKING:
    import bpy

    from ..data.properties import ContactLensSettings


@dataclass(frozen=True)
class Settings:
    """What the person asked for."""

    method: str
    """"auto", "sat", "gjk" or "both"."""
    clearance: float
    """Blender units."""
    contact_tolerance: float
    """As set by the person, relative to the smaller shape's extent."""
    flat: bool = False
    """Whether the two are flat and inspected in their plane."""


@dataclass(frozen=True)
class State:
    """Where an object was and what it was made of when it was read."""

    matrix: tuple[float, ...]
    """The 16 numbers of the world matrix, row by row, as Blender holds them."""
    digest: bytes
    """Digest of the evaluated geometry in local space."""
    choice: Choice
    """What it was set to collide as."""


@dataclass(frozen=True, eq=False)
class Stand:
    """What an object was inspected as."""

    kind: str
    """The shape, as in `collision_shape`."""
    choice: Choice
    """What was asked for."""
    fit: Fit | None
    """How far a primitive is from the mesh; None for the hull."""
    mesh: Mesh | None = None
    """The mesh in world space, of a compound or a mesh."""
    pieces: Decomposition | None = None
    """The convex pieces that stood for the mesh, where they were needed."""


@dataclass(frozen=True, eq=False)
class Flat:
    """A pair inspected in its plane."""

    plane: Plane
    contact: Contact | Found
    """In the frame of the plane."""
    shape_a: Solid
    shape_b: Solid


@dataclass(frozen=True, eq=False)
class Inspection:
    """Everything known about one inspected pair, in world space and Blender units. A was the active object."""

    contact: Contact | Found
    shape_a: Solid
    """What A was inspected as."""
    shape_b: Solid
    stand_a: Stand
    """Why that, and how far it is from the mesh."""
    stand_b: Stand
    hull_a: ConvexHull
    """The convex hull of the mesh of A."""
    hull_b: ConvexHull
    name_a: str
    name_b: str
    uid_a: int
    """`session_uid` of object A."""
    uid_b: int
    state_a: State
    state_b: State
    dent_a: Concavity
    """How far the mesh of A is from its convex hull."""
    dent_b: Concavity
    verification: Verification
    """The answer checked again, independently of the solver."""
    settings: Settings
    contact_tolerance: float
    """The tolerance that was used: the person's, or the input's resolution where that is coarser."""
    resolution: float
    """Blender units: four steps of the input's float32 coordinates. Nothing smaller can be known."""
    units: UnitFormat
    """The scene's unit settings: `units.length(x)`, `units.area(x)`, `units.vector(p)` make text."""
    seconds_read: float
    """Time it took to read the objects, hulls included."""
    seconds_contact: float
    """Time it took the core."""
    flat: Flat | None = None
    """The pair as it is in its plane, when it was inspected there; `contact` is that in space then."""


on_store: list[Callable[[bpy.types.Scene, Inspection], None]] = []
"""Called with every result once it is that of its scene."""
_inspections: dict[int, Inspection] = {}
_stale: dict[int, str] = {}
_errors: dict[int, str] = {}
_frames: dict[int, float] = {}
_seconds: dict[int, deque[float]] = {}

LAST = 5
"""Inspections of a pair by whose times is known how long the next one takes."""


def store(scene: bpy.types.Scene, inspection: Inspection) -> None:
    """Make `inspection` the scene's current one.

    Called in Blender's handlers, too, where its data must not be changed: what follows from it there is up to a timer.
    """
    last = _inspections.get(scene.session_uid)
    if last is None or (last.uid_a, last.uid_b) != (inspection.uid_a, inspection.uid_b):
        _seconds.pop(scene.session_uid, None)
    if inspection is not last:
        note_seconds(scene, inspection.seconds_read + inspection.seconds_contact)
    _inspections[scene.session_uid] = inspection
    _frames[scene.session_uid] = scene.frame_current_final
    _stale.pop(scene.session_uid, None)
    _errors.pop(scene.session_uid, None)
    for call in on_store:
        call(scene, inspection)


def drop_result(scene: bpy.types.Scene) -> None:
    """Drop the scene's result: its objects can no longer be inspected."""
    for of_scene in (_inspections, _stale, _frames, _seconds):
        of_scene.pop(scene.session_uid, None)


def note_seconds(scene: bpy.types.Scene, seconds: float) -> None:
    """Remember how long an inspection of the scene's pair took, or went on until it was ended."""
    _seconds.setdefault(scene.session_uid, deque(maxlen=LAST)).append(seconds)


def typical_seconds(scene: bpy.types.Scene) -> float:
    """How long the last inspections of the scene's pair took, their median; infinite when there was none."""
    return median(_seconds.get(scene.session_uid) or (math.inf,))


def stored(scene: bpy.types.Scene) -> Inspection | None:
    """The last result of the scene, whether or not it is about the pair of today."""
    return _inspections.get(scene.session_uid)


def frame_of_result(scene: bpy.types.Scene) -> float:
    """The frame at which the scene's last result was found."""
    return _frames.get(scene.session_uid, scene.frame_current_final)


def clear() -> None:
    """Drop everything: a file was loaded, or the add-on goes."""
    for of_scene in (_inspections, _stale, _errors, _frames, _seconds):
        of_scene.clear()


def mark_stale(scene: bpy.types.Scene, reason: str) -> None:
    """Remember why the scene's result may no longer hold; an empty reason takes the mark away."""
    if reason and scene.session_uid in _inspections:
        _stale[scene.session_uid] = reason
    else:
        _stale.pop(scene.session_uid, None)


def marked(scene: bpy.types.Scene) -> bool:
    """Whether the scene's result carries a mark of being stale."""
    return scene.session_uid in _stale


def set_error(scene: bpy.types.Scene, message: str) -> None:
    """Remember why the scene's pair could not be inspected; an empty message takes it away."""
    if message:
        _errors[scene.session_uid] = message
    else:
        _errors.pop(scene.session_uid, None)


def error(context: bpy.types.Context) -> str:
    """Why the scene's pair could not be inspected, or an empty string."""
    return _errors.get(context.scene.session_uid, "")


def settings_of(scene: bpy.types.Scene) -> ContactLensSettings:
    """`scene.contact_lens`, with its type."""
    return cast("ContactLensSettings", scene.contact_lens)  # type: ignore[attr-defined]


def object_in_scene(scene: bpy.types.Scene, obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """`obj` if it is in the scene. A deleted object lives on in a pointer property; that one is None here."""
    if obj is None:
        return None
    # View layers find a name at once, a scene by going through all its objects: that is left for excluded ones.
    collections = (*(layer.objects for layer in scene.view_layers), scene.objects)
    return obj if any(objects.get(obj.name) == obj for objects in collections) else None


def picked(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The objects in the pickers, deleted ones too."""
    settings = settings_of(scene)
    return [obj for obj in (settings.object_a, settings.object_b) if obj is not None]


def pair(scene: bpy.types.Scene) -> tuple[bpy.types.Object | None, bpy.types.Object | None]:
    """The objects A and B that the scene's pickers name, None for one that is not set or was deleted."""
    settings = settings_of(scene)
    return object_in_scene(scene, settings.object_a), object_in_scene(scene, settings.object_b)


def current(context: bpy.types.Context) -> Inspection | None:
    """The result about the scene's pair, with the objects' names of today; None when there is none.

    A result is about two objects: when one was deleted, or the pickers name another, there is none.
    """
    scene = context.scene
    inspection = _inspections.get(scene.session_uid)
    if inspection is None:
        return None
    a, b = pair(scene)
    if a is None or b is None or (a.session_uid, b.session_uid) != (inspection.uid_a, inspection.uid_b):
        return None
    if (a.name, b.name) != (inspection.name_a, inspection.name_b):
        inspection = replace(inspection, name_a=a.name, name_b=b.name)
        _inspections[scene.session_uid] = inspection
    units = UnitFormat.of_scene(scene)
    if units != inspection.units:
        inspection = replace(inspection, units=units)
        _inspections[scene.session_uid] = inspection
    return inspection


def stale_reason(context: bpy.types.Context) -> str:
    """Why the current result may no longer hold, as a sentence for the panel; empty when it holds."""
    inspection = current(context)
    if inspection is None:
        return ""
    if marked(context.scene):
        return _stale[context.scene.session_uid]
    a, b = pair(context.scene)
    for obj, state in ((a, inspection.state_a), (b, inspection.state_b)):
        if obj is not None and matrix_numbers(obj) != state.matrix:
            return f"'{obj.name}' has moved"
        if obj is not None and collision_shape.chosen(obj) != state.choice:
            return f"shape of '{obj.name}' has changed"
    if settings_of(context.scene).as_settings() != inspection.settings:
        return "the settings have changed"
    return ""


def is_stale(context: bpy.types.Context) -> bool:
    """Whether the current result may no longer hold. False when there is no result."""
    return bool(stale_reason(context))


def matrix_numbers(obj: bpy.types.Object | bpy.types.DepsgraphObjectInstance) -> tuple[float, ...]:
    """The 16 numbers of the object's or instance's world matrix, row by row."""
    # Before 5.2 numpy asks for each number, which is ten times as slow.
    return tuple(chain.from_iterable(cast(Iterable[Iterable[float]], obj.matrix_world)))
