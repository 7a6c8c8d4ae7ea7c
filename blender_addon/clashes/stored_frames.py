# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check of frames keeps in the scene beside its list: of each pair at which frames it is how deep or far apart.

One text, as that of `stored_clashes`. Numbers are stored where they change only: of what stands still, once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import bpy
import numpy as np

from ...core.types import BoolArray, FloatArray
from ..frames.found_frames import Changes
from ..frames.over_frames import OverFrames
from ..geometry.cache import LruCache
from .stored_clashes import KEPT, packed, table_of_frames, unpacked

SERIES = {"depths": 3, "unchecked": 1, "gaps": 2}
"""The numbers of each pair at a frame."""


@dataclass(frozen=True, eq=False)
class StoredFrames:
    """The pairs of a check of frames, by the ids of their clashes. Blender units."""

    frames: FloatArray
    """(n,) ascending."""
    ids: Sequence[str]
    resolutions: FloatArray
    series: Mapping[str, Changes]

    def over(self, clash_id: str) -> OverFrames | None:
        """Return a pair over the frames; None of a clash that the check has not found, such as a resolved one."""
        pair = self._numbers.get(clash_id)
        if pair is None:
            return None
        distances, _, bounds = self._of("depths", pair).T
        found = ~np.isnan(distances)
        checked = found | np.isnan(self._of("unchecked", pair)[:, 0])
        return OverFrames(self.frames, found, checked, distances, float(self.resolutions[pair]), bounds)

    def bounds(self, clash_id: str) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of the signed distance of a pair, lower and upper (n,); NaN where they are not known."""
        numbers = self._of("depths", self._numbers.get(clash_id, -1))
        return numbers[:, 1], numbers[:, 2]

    def gaps(self, clash_id: str) -> tuple[FloatArray, BoolArray]:
        """Return the gap of a pair where it is apart (n,), NaN where it is not known, and whether it is exact; else it
        is a lower bound."""
        numbers = self._of("gaps", self._numbers.get(clash_id, -1))
        return numbers[:, 0], numbers[:, 1] == 1.0

    @cached_property
    def permanent(self) -> frozenset[str]:
        """The ids of the permanent clashes."""
        return frozenset(name for name in self.ids if name and (over := self.over(name)) and over.is_permanent)

    def counts_words(self) -> str:
        """Return how many clashes are transient and permanent; nothing where one frame alone was reached."""
        if len(self.frames) < 2:
            return ""
        count = len(self.permanent)
        return f"{sum(map(bool, self.ids)) - count:,} transient, {count:,} permanent"

    def scaled(self, factor: float) -> StoredFrames:
        """Return them with lengths in another unit."""
        factors = {"depths": [factor] * 3, "unchecked": [1.0], "gaps": [factor, 1.0]}
        series = {name: replace(of, values=of.values * factors[name]) for name, of in self.series.items()}
        return replace(self, resolutions=self.resolutions * factor, series=series)

    def _of(self, name: str, pair: int) -> FloatArray:
        return self.series[name].of(pair, len(self.frames))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {clash_id: k for k, clash_id in enumerate(self.ids)}

    def as_text(self) -> str:
        """Return them as text."""
        series = {
            name: {"at": packed(of.where.astype("<i4")), "values": packed(of.values.astype("<f8"))}
            for name, of in self.series.items()
        }
        numbers = {name: packed(getattr(self, name).astype("<f8")) for name in ("frames", "resolutions")}
        return json.dumps({"ids": list(self.ids), **numbers, **series})

    @classmethod
    def from_text(cls, text: str) -> StoredFrames:
        """Return what `as_text` has written."""
        data = json.loads(text)
        series = {}
        for name, width in SERIES.items():
            where = unpacked(data[name]["at"], "<i4").reshape(-1, 2).astype(np.intp)
            series[name] = Changes(where, unpacked(data[name]["values"], "<f8").reshape(-1, width))
        return cls(unpacked(data["frames"], "<f8"), data["ids"], unpacked(data["resolutions"], "<f8"), series)


_known: LruCache[StoredFrames] = LruCache(KEPT)


def store(scene: bpy.types.Scene, frames: StoredFrames | None) -> None:
    """Store what a scene's list is of over frames; None: it is of one frame."""
    table_of_frames(scene).put("" if frames is None else frames.as_text())


def stored_frames(scene: bpy.types.Scene) -> StoredFrames | None:
    """Return what the scene's list is of over frames; None where it is of one."""
    table = table_of_frames(scene)
    return _known.get(table.digest, lambda: StoredFrames.from_text(table.text)) if table.digest else None
