# SPDX-License-Identifier: GPL-3.0-or-later
"""The clashes of a check as one text in the scene: what is stored of a finding is which row of which text it is.

Properties of Blender take some kilobytes and microseconds for each clash; a text of arrays takes 0.2 kB. Rows are made
on access. Texts are read once, the last few are kept.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

import bpy
import numpy as np
from bpy.props import IntProperty, StringProperty
from numpy.typing import NDArray

from ...core.types import FloatArray
from ..data.lazy_rows import Row
from ..data.units import UnitFormat
from ..geometry.cache import LruCache
from ..read.scene_objects import SceneObject
from ..scene.clash_rows import row_of, shape_notes, side_of
from ..scene.clashes import DTYPE, Clashes, ShapeFacts
from ..scene.coarse import coarse_sides
from ..scene.fields import STORED

KEPT = 4
"""Texts that are kept as they were read."""
ARRAYS = {"pairs": "<i4", "codes": "<i1", "numbers": "<f8"}
"""The arrays of clashes, and their types in the text."""
FIRST_WIDTHS = {
    **dict.fromkeys(("signed_distance", "lower_bound", "upper_bound", "resolution", "area"), 1),
    **dict.fromkeys(("normal", "point_on_a", "point_on_b", "center", "centroid"), 3),
}
"""The numbers of a clash that version 0.2.0 has, and their widths, in one array as it reads them."""
LATER = tuple(stored.name for stored in STORED if stored.name not in FIRST_WIDTHS)
"""The others, each an array of its own: a version reads those that it knows."""


class ContactLensTable(bpy.types.PropertyGroup):
    """The clashes of one check, or what they are over frames."""

    serial: IntProperty()  # type: ignore[valid-type]
    digest: StringProperty()  # type: ignore[valid-type]
    text: StringProperty()  # type: ignore[valid-type]
    edited: StringProperty()  # type: ignore[valid-type]

    def put(self, text: str) -> None:
        """Store a text with its digest."""
        self.text, self.edited = text, ""
        self.digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest() if text else ""


@dataclass(frozen=True, eq=False)
class StoredClashes:
    """The clashes of a check, with what their rows say of their objects."""

    clashes: Clashes
    """The indices of objects are those of the lists below."""
    sides: list[Row]
    notes: list[list[str]]
    """About the objects' shapes."""
    states: list[str]
    frame: float
    scale_length: float
    whole: dict[int, Row] = field(default_factory=dict)
    """Rows that are more than their numbers."""
    ids: list[str] = field(default_factory=list)
    """Of the clashes; none in files of an earlier version."""
    frames: list[float] = field(default_factory=list)
    """Of the clashes of a check over frames; else none, as all are of `frame`."""

    @classmethod
    def of(
        cls,
        objects: Sequence[SceneObject],
        clashes: Clashes,
        facts: dict[int, ShapeFacts],
        units: UnitFormat,
        frame: float,
        rows: Sequence[Row],
        ids: list[str],
        frames: list[float],
    ) -> StoredClashes:
        """Return the clashes of a check; rows: as plain data; ids, frames: of the clashes."""
        used, places = np.unique(clashes.pairs, return_inverse=True)
        coarse = coarse_sides(objects, clashes.pairs, clashes.column("resolution")).any(axis=1)
        whole = {k: rows[k] for k in sorted({*clashes.detailed_rows, *np.flatnonzero(coarse).tolist()})}
        things = [objects[k] for k in used.tolist()]
        return cls(
            clashes.renumbered(places.reshape(-1, 2)),
            [side_of(obj) for obj in things],
            [shape_notes(objects[k], facts[k], units) for k in used.tolist()],
            [":".join(obj.state) for obj in things],
            frame,
            units.scale_length,
            whole,
            ids,
            frames,
        )

    def frame_of(self, k: int) -> float:
        """Return the frame at which a clash was found."""
        return self.frames[k] if self.frames else self.frame

    def row(self, k: int) -> Row:
        """Return a clash as plain data."""
        more = {"frame": self.frame_of(k), "scale_length": self.scale_length}
        if k in self.whole:
            return {**self.whole[k], **more}
        return {**row_of(self.clashes[k], self._sides, self._notes, UnitFormat()), **more}

    @cached_property
    def _sides(self) -> dict[int, Row]:
        return dict(enumerate(self.sides))

    @cached_property
    def _notes(self) -> dict[int, list[str]]:
        return dict(enumerate(self.notes))

    @cached_property
    def pairs(self) -> list[list[int]]:
        """The numbers of the things of each clash."""
        result: list[list[int]] = self.clashes.pairs.tolist()
        return result

    @cached_property
    def words(self) -> list[str]:
        """The relations."""
        return self.clashes.words()

    @cached_property
    def distances(self) -> list[float]:
        """The signed distances; where there is no depth its bound, or 0.0."""
        values: list[float] = self.clashes.column("signed_distance").tolist()
        for k, row in self.whole.items():
            values[k] = (row.get("upper_bound") if row["signed_distance"] is None else row["signed_distance"]) or 0.0
        return values

    @cached_property
    def margins(self) -> list[float | None]:
        """The collision margins of those whose gap is within them."""
        return self.clashes.margins

    @cached_property
    def areas(self) -> list[float]:
        values: list[float] = self.clashes.column("area").tolist()
        return values

    @cached_property
    def centers(self) -> list[list[float]]:
        values: list[list[float]] = self.clashes.column("center").tolist()
        return values

    @cached_property
    def volumes(self) -> list[float]:
        """The volumes of the overlaps; 0.0 where none was computed."""
        return [volume or 0.0 for volume in self.clashes.volumes]

    def as_text(self) -> str:
        """Return them as text."""
        pairs, codes, numbers = self.clashes.arrays()
        columns = [numbers[name].reshape(len(numbers), width) for name, width in FIRST_WIDTHS.items()]
        arrays = pairs, codes, np.concatenate(columns, axis=1)
        data = {
            "frame": self.frame,
            "frames": self.frames,
            "scale_length": self.scale_length,
            "sides": self.sides,
            "notes": self.notes,
            "states": self.states,
            "ids": self.ids,
            "rows": {str(k): row for k, row in self.whole.items()},
            "later": {name: packed(numbers[name].astype(ARRAYS["numbers"])) for name in LATER},
            **{name: packed(array.astype(kind)) for (name, kind), array in zip(ARRAYS.items(), arrays, strict=True)},
        }
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> StoredClashes:
        """Return what `as_text` has written."""
        data = json.loads(text)
        pairs, codes, numbers = (unpacked(data[name], kind) for name, kind in ARRAYS.items())
        count = len(pairs) // 2
        clashes = Clashes(
            pairs.reshape(count, 2).astype(np.intp),
            codes.reshape(count, -1).astype(np.int8),
            _named(numbers.reshape(count, -1), data.get("later", {})),
        )
        whole = {int(k): row for k, row in data["rows"].items()}
        about = data["sides"], data["notes"], data["states"], data["frame"], data["scale_length"]
        return cls(clashes, *about, whole, data.get("ids", []), data.get("frames", []))


def _named(numbers: FloatArray, later: Mapping[str, str]) -> NDArray[np.void]:
    """Return rows of numbers by name; NaN where they have none."""
    named = np.full(len(numbers), np.nan, DTYPE)
    widths = {**FIRST_WIDTHS, "margins": 1}  # which versions of just after 0.2.0 have in the same array
    for (name, width), end in zip(widths.items(), accumulate(widths.values()), strict=True):
        if end <= numbers.shape[1]:
            named[name] = numbers[:, end - width : end].reshape(named[name].shape)
    for name in later.keys() & set(LATER):
        named[name] = unpacked(later[name], ARRAYS["numbers"]).reshape(named[name].shape)
    return named


def packed(array: NDArray[Any]) -> str:
    """Return an array as text."""
    return base64.b64encode(array.tobytes()).decode("ascii")


def unpacked(text: str, kind: str) -> NDArray[Any]:
    """Return what `packed` has written."""
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def table_of_frames(scene: bpy.types.Scene) -> ContactLensTable:
    """Return what a scene keeps of a check of frames beside its list; empty of a check of one frame."""
    return cast("ContactLensTable", scene.contact_lens_check.frames)  # type: ignore[attr-defined]


_known: LruCache[StoredClashes] = LruCache(KEPT)


def store(tables: Any, stored: StoredClashes) -> int:
    """Store clashes in the collection of a scene's tables; return the serial number of the table."""
    serial = 1 + max((table.serial for table in tables), default=0)
    table = tables.add()
    table.serial = serial
    table.put(stored.as_text())
    _known.get(table.digest, lambda: stored)
    return serial


def table_of(tables: Any, serial: int) -> StoredClashes | None:
    """Return the clashes of a table; None where there is no such table."""
    table = next((table for table in tables if table.serial == serial), None)
    return None if table is None else _known.get(table.digest, lambda: StoredClashes.from_text(table.text))


def drop_unused(tables: Any, used: set[int]) -> None:
    """Remove the tables of which no row is used."""
    for k in reversed(range(len(tables))):
        if tables[k].serial not in used:
            tables.remove(k)
