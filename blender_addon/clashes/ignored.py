# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs that the user has listed as ignored, and the objects of which all pairs are."""

from __future__ import annotations

import itertools

import bpy
from bpy.props import PointerProperty

from ..data.records import Pair


class ContactLensIgnored(bpy.types.PropertyGroup):
    object_a: PointerProperty(name="A", type=bpy.types.Object)  # type: ignore[valid-type]
    object_b: PointerProperty(name="B", type=bpy.types.Object)  # type: ignore[valid-type]


def listed(scene: bpy.types.Scene) -> frozenset[frozenset[int]]:
    """Return the ignored pairs, and the objects of which all pairs are, by their `session_uid`."""
    entries = scene.contact_lens_check.ignored  # type: ignore[attr-defined]
    pairs = ((entry.object_a, entry.object_b) for entry in entries)
    return frozenset(frozenset(obj.session_uid for obj in pair if obj is not None) for pair in pairs) - {frozenset()}


def listed_now(scene: bpy.types.Scene) -> frozenset[frozenset[int]]:
    """Return what the next check leaves out because it is in the list of ignored pairs."""
    return listed(scene) if scene.contact_lens_check.ignore_listed else frozenset()  # type: ignore[attr-defined]


def is_in(ignored: frozenset[frozenset[int]], pair: Pair | None) -> bool:
    """Return whether a pair is in a list of pairs and of objects of which all pairs are."""
    sides = [{owner, source or owner} for owner, source, _ in pair or ()]
    pairs = itertools.product(*sides) if len(sides) == 2 else ()
    return any(ignored & {frozenset((i, j)), frozenset((i,)), frozenset((j,))} for i, j in pairs)
