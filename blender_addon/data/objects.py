# SPDX-License-Identifier: GPL-3.0-or-later
"""Small questions about objects and scenes of Blender that every floor asks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeVar, cast

import bpy

_Block = TypeVar("_Block", bound="bpy.types.ID")

TYPES_WITH_SURFACE = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
BAKED = "contact_lens_baked"
"""Custom property of what shows a baked step of an algorithm: a drawing, which is never checked."""
OVERLAP = "contact_lens_overlap"
"""Custom property of an object that is the overlap of others: it is never checked, as it would be a clash with both."""


def matrix_numbers(obj: bpy.types.Object | bpy.types.DepsgraphObjectInstance) -> tuple[float, ...]:
    """Return the 16 numbers of the world matrix of an object or instance, row by row."""
    # Before 5.2 numpy asks for each number, which is ten times as slow.
    return tuple(chain.from_iterable(cast(Iterable[Iterable[float]], obj.matrix_world)))


def is_baked(block: Any) -> bool:
    """Return whether a data-block shows a baked step."""
    return BAKED in block


def is_overlap(block: Any) -> bool:
    """Return whether an object is the overlap of others."""
    return OVERLAP in block


def may_have_surface(obj: bpy.types.Object) -> bool:
    """Return whether an object is of a type that may have a surface, and not the drawing of a step or an overlap."""
    return obj.type in TYPES_WITH_SURFACE and not (is_baked(obj) or is_overlap(obj))


def unsupported_reason(obj: bpy.types.Object) -> str:
    """Return why an object of this type cannot be inspected, or an empty string."""
    if may_have_surface(obj):
        return ""
    if is_baked(obj):
        return f"'{obj.name}' is part of a baked step, which is only a drawing: select the objects themselves"
    if is_overlap(obj):
        return f"'{obj.name}' is the overlap of a pair, which is never checked: select the objects themselves"
    if obj.type == "EMPTY" and obj.instance_type == "COLLECTION":
        return f"'{obj.name}' is a collection instance: run Check Scene and open a clash to inspect its objects"
    types = obj.bl_rna.properties["type"].enum_items  # type: ignore[attr-defined]
    kind = types[obj.type].name.lower()
    return f"'{obj.name}' is of type {kind}, which has no surface to inspect"


def object_in_scene(scene: bpy.types.Scene, obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """Return `obj` if it is in the scene, else None: a deleted object lives on in a pointer property."""
    if obj is None:
        return None
    # View layers find a name at once, a scene by going through all its objects: that is left for excluded ones.
    collections = (*(layer.objects for layer in scene.view_layers), scene.objects)
    return obj if any(contains(objects, obj) for objects in collections) else None


def contains(objects: bpy.types.bpy_prop_collection[bpy.types.Object], obj: bpy.types.Object) -> bool:
    """Return whether `obj` is one of `objects`. A linked object may have the name of another one."""
    found: bpy.types.Object | None = objects.get(obj.name)
    return found == obj or (found is not None and obj in list(objects))


def find_named(blocks: Iterable[_Block], name: str | None) -> _Block | None:
    """Return the data-block of that name, of linked ones with their library in brackets, or else in any library."""
    found = list(blocks)
    return next((block for names in ("name_full", "name") for block in found if getattr(block, names) == name), None)


def instance_name(source: str, number: str, maker: str) -> str:
    """Return what an instance is called: after the object that is instanced and the one that makes it."""
    return f"{source} [{number}] of {maker}"


def library_name(block: bpy.types.ID) -> str | None:
    """Return the file name of the library of a data-block, the same on every machine; None where it is the file's own.

    Where libraries of the file have the same file name it is their path relative to the file.
    """
    if block.library is None:
        return None
    name = _file_name(block.library)
    if sum(_file_name(library) == name for library in bpy.data.libraries) < 2:
        return name
    path = bpy.path.abspath(block.library.filepath, library=block.library.parent)
    try:
        path = os.path.relpath(path, os.path.dirname(bpy.data.filepath))
    except ValueError:  # on another drive
        path = os.path.abspath(path)
    return path.replace(os.sep, "/")


def _file_name(library: bpy.types.Library) -> str:
    return re.split(r"[\\/]", library.filepath)[-1]


def frame_of(scene: bpy.types.Scene) -> float:
    """Return the current frame of a scene: an int, unless it is between two frames."""
    frame = float(scene.frame_current_final)
    return int(frame) if frame.is_integer() else frame
