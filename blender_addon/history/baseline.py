# SPDX-License-Identifier: GPL-3.0-or-later
"""An earlier report that a run is compared with: what is new, deeper, shallower or the same, and what is gone.

A check is compared with that of the same file name, scene and frame; those of a list of frames together with all of the
scene, by pairs, each where it is deepest. Clashes are recognized by their ids, and where both of their objects have
other names by the geometry and place of these; they get the earlier id then. A clash of the earlier report is gone only
if its objects were looked at, at all frames at which it was found, with the same settings.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product, takewhile
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from ..clashes.finding import RELATIONS
from ..data import messages
from ..data.frame_lists import named_list
from ..data.lazy_rows import LazyRows, Row, column, columns
from ..data.records import APPROVAL_SLACK, AUTOMATIC_SHAPES
from ..frames.over_frames import TOUCHING, frame_number
from ..read.scene_objects import identity_of
from ..report import files as report_files
from ..report import json_report
from ..report.scene import SCHEMA_VERSION
from ..scene import clash_ids
from .looked_at import EarlierClash, EarlierSide
from .merging import LOOKED_AT

NEW, SAME, DEEPER, SHALLOWER = "new", "same", "deeper", "shallower"
CHANGES = (NEW, DEEPER, SAME, SHALLOWER)
"""In the order of their urgency. Deeper is closer, too, and shallower farther apart."""
SAME_LENGTH = 1e-9
"""Relative: a clearance in other units differs by no more."""
NAMES = ("name", "object", "library", "instancer", "instancer_library", "instance")
"""What an entry says of an object."""
FRAME_NOT_CHECKED = "this frame was not checked"
NOT_DECIDING = frozenset({"exact", "depth", "volume"})
"""Settings that do not decide which pairs are clashes."""


class BaselineError(Exception):
    """Why a report cannot be compared with, as one sentence that names it."""


@dataclass(frozen=True, eq=False)
class _Clash:
    """A clash of the baseline; lengths in Blender units."""

    id: str
    sides: tuple[Row, Row]
    things: tuple[EarlierSide, EarlierSide]
    relation: str
    signed_distance: float | None
    upper_bound: float | None
    """Of the signed distance; None where there is no depth, as of two open surfaces that meet."""
    resolution: float
    frame: float
    """At which it was found: not that of its check where this did not cover it."""
    of_check: float
    blender: str | None
    """See `EarlierClash`."""

    @classmethod
    def of_row(cls, row: Row, unit: float, frame: float, blender: str | None) -> _Clash:
        distance, bound, resolution = row["signed_distance"], row.get("upper_bound"), row["resolution"]
        if not (clash_ids.PATTERN.fullmatch(row["id"]) and row["relation"] in RELATIONS):
            raise ValueError(row)
        return cls(
            row["id"],
            (_scaled(row["a"], unit), _scaled(row["b"], unit)),
            (_side(row["a"]), _side(row["b"])),
            row["relation"],
            None if distance is None else _number(distance) * unit,
            None if bound is None else _number(bound) * unit,
            0.0 if resolution is None else _number(resolution) * unit,
            _number(row["frame"]),
            frame,
            None if row.get("margins") is None else blender,
        )

    @property
    def weight(self) -> float:
        return _weight(self.signed_distance, self.upper_bound)

    def is_renamed(self, sides: Sequence[EarlierSide], present: str) -> bool:
        """Return whether the sides of a clash, in any order, are those of this one, of which only those that are not
        `present` have other names."""
        return any(
            all(
                now.digests == before.digests and (letter not in present or now.identity == before.identity)
                for letter, now, before in zip("ab", of, self.things, strict=True)
            )
            for of in (sides, sides[::-1])
        )

    def entry(self, unit: float) -> Row:
        """Return it as a report lists it; unit: Blender units of one of its lengths."""
        a, b = (_scaled(side, 1.0 / unit, (*NAMES, "location")) for side in self.sides)
        distance = None if self.signed_distance is None else self.signed_distance / unit
        return {"id": self.id, "a": a, "b": b, "relation": self.relation, "signed_distance": distance}


@dataclass(frozen=True, eq=False)
class _Check:
    """A check of the baseline."""

    file: str | None
    path: str | None
    scene: str
    frame: float
    settings: Row
    """The clearance in Blender units."""
    clashes: dict[str, _Clash]
    """Those that were there, by their ids."""

    @property
    def place(self) -> str | None:
        """The path of its file, or its name where that is all there is."""
        return self.path or self.file

    @classmethod
    def of_record(cls, check: Row, blender: str | None) -> _Check:
        """blender: the version that made it."""
        unit, frame = _number(check["units"]["blender_units_per_unit"]), _number(check["frame"])
        rows = [row for row in check["findings"] if row.get("status") != "resolved" and not row["apart"]]
        clashes = [_Clash.of_row(row, unit, frame, blender) for row in rows]
        return cls(
            _text(check["file"]),
            _text(check["path"]),
            str(check["scene"]),
            frame,
            _settings(check),
            {clash.id: clash for clash in clashes},
        )


@dataclass
class Baseline:
    """An earlier report, and what of it a run has been compared with so far."""

    path: str
    """As the user named it."""
    sha256: str
    _checks: list[_Check]
    _is_over_frames: bool = False
    """Whether the run is of a list of frames."""
    _place: dict[str | None, str | None] = field(default_factory=dict)
    """By the paths of the run those of the baseline."""
    _compared: set[_Check] = field(default_factory=set)
    _scenes: set[tuple[str | None, str]] = field(default_factory=set)
    """The scenes that were checked, by the paths of the baseline."""
    _frames: list[Row] = field(default_factory=list)
    """The frames of scenes that were compared over others."""

    @classmethod
    def read(cls, path: str) -> Baseline:
        """Read a report. Raises BaselineError where it is not a whole one of this version."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise BaselineError(report_files.reason(error)) from error
        try:
            document = json.loads(data)
            checks = _checks_of(document)
        except BaselineError as error:
            raise BaselineError(_baseline_unreadable(path, str(error))) from None
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            raise BaselineError(_baseline_unreadable(path, "is not a complete JSON report of a check")) from None
        return cls(path, hashlib.sha256(data).hexdigest(), checks)

    def begin(self, paths: Sequence[str | None], frames: Sequence[int] | None = None) -> None:
        """Begin a run of some files, at a list of frames. Raises BaselineError where the baseline has none of them."""
        self._is_over_frames = len(frames or ()) > 1
        known = list(dict.fromkeys(check.place for check in self._checks))
        self._place = self._matched(list(dict.fromkeys(paths)), known)
        self._compared, self._scenes, self._frames = set(), set(), []
        if not self._place and paths:
            for path, earlier in product(paths, known):
                if _equal_ends(path, earlier):
                    self._refuse(
                        f"cannot be compared: several files are named {_parts(path or '')[-1]}, and their folders do "
                        "not say which is which"
                    )
            files = sorted({check.file or messages.UNSAVED_FILE for check in self._checks})
            self._refuse(f"covers {' and '.join(files) or 'no file'}, and none of the files of this run")

    def _matched(self, paths: list[str | None], known: list[str | None]) -> dict[str | None, str | None]:
        """Return by the paths of a run those of the baseline: of one file name, and of folders of the same names as far
        as these tell the files of either side apart."""
        needed, needed_earlier = _lengths(paths), _lengths(known)
        return {
            path: earlier
            for path, earlier in product(paths, known)
            if _equal_ends(path, earlier) >= max(needed[path], needed_earlier[earlier])
        }

    def open(self, path: str | None, wanted: Mapping[str, Sequence[float]]) -> None:
        """Begin a file; wanted: frames of its scenes. Raises BaselineError where the baseline has the file, but none of
        the scenes, or not the only frame."""
        if path not in self._place:
            return
        checks = [check for check in self._checks if check.place == self._place[path]]
        file, scenes = _parts(path or "")[-1], sorted({check.scene for check in checks})
        found = [scene for scene in wanted if scene in scenes]
        if not found:
            known, asked = (" and ".join(f"'{name}'" for name in names) for names in (scenes, wanted))
            self._refuse(f"has the scene {known} of {file}, not {asked}")
        there = {(check.scene, check.frame) for check in checks if check.scene in found}
        frames = {float(frame) for scene in found for frame in wanted[scene]}
        if not self._is_over_frames and not any((scene, frame) in there for scene in found for frame in frames):
            self._refuse(f"has {_frames_words(frame for _, frame in there)} of {file}, not {_frames_words(frames)}")

    def _refuse(self, reason: str) -> None:
        raise BaselineError(_baseline_unreadable(self.path, reason))

    def earlier(self, path: str | None, scene: str, frame: float) -> list[EarlierClash]:
        """Return the clashes that the check of a file, scene and frame looks at."""
        check = self._by_frame.get((self._place[path], scene, float(frame))) if path in self._place else None
        clashes = [] if check is None else check.clashes.values()
        return [EarlierClash(clash.id, clash.things, clash.blender) for clash in clashes]

    @cached_property
    def _by_frame(self) -> dict[tuple[str | None, str, float], _Check]:
        """The checks, the first one of each file, scene and frame."""
        return {(check.place, check.scene, check.frame): check for check in reversed(self._checks)}

    def compared(self, checks: Sequence[Row]) -> list[Row]:
        """Return the checks of a scene, each of another frame and with what it has looked at, as compared. What is
        gone, and what was not compared, is in that of the first frame."""
        now = {float(check["frame"]): check for check in sorted(checks, key=itemgetter("frame"))}
        unit = float(checks[0]["units"]["blender_units_per_unit"])
        earlier = self._earlier(checks[0]["path"], checks[0]["scene"], now.keys())
        known: dict[str, list[_Clash]] = {}
        for clash in chain.from_iterable(check.clashes.values() for check in earlier.values()):
            known.setdefault(clash.id, []).append(clash)
        other = list(dict.fromkeys(chain(*(_differing(of.settings, _settings(checks[0])) for of in earlier.values()))))
        ids = _recognized(now, earlier, known)
        thens = _ids_then(now, earlier, ids)
        deepest = {name: min(clashes, key=attrgetter("weight")) for name, clashes in known.items()}
        found: dict[str, list[tuple[float, float, int, float | None]]] = {}
        before: dict[str, dict[str, _Clash]] = {}
        for frame, check in now.items():
            numbers = columns(check["findings"], "signed_distance", "upper_bound")
            for k, (name, then, distance, bound) in enumerate(zip(ids[frame], thens[frame], *numbers, strict=True)):
                found.setdefault(name, []).append((_weight(distance, bound), frame, k, distance))
                if then in deepest:
                    before.setdefault(name, {})[then] = deepest[then]
        are_there = set(chain(*thens.values()))
        changes, distances = dict.fromkeys(found, NEW), dict[str, float | None]()
        for name, clashes in before.items():
            clash = min(clashes.values(), key=attrgetter("weight"))
            _, frame, k, distance = min(found[name])
            changes[name] = _change(clash, distance, now[frame]["findings"], k, unit)
            is_found = any(of[1] == clash.of_check for of in found[name])
            if changes[name] == SHALLOWER and not is_found and _unknown(clash, now, other):
                changes[name] = SAME  # it may be as deep there as it was
            distances[name] = None if clash.signed_distance is None else clash.signed_distance / unit
        gone, not_compared = [], []
        for name in (name for name in known if name not in are_there):
            entry = deepest[name].entry(unit)
            if reason := _why_unknown(known[name], now, other):
                not_compared.append({**entry, "reason": reason})
            else:
                gone.append(entry)
        more: dict[str, dict[str, Any]] = {"change": changes, "baseline_distance": distances}
        compared: list[Row] = []
        for check in checks:
            names = ids[float(check["frame"])]
            added = {name: [of.get(one) for one in names] for name, of in more.items()} | {"id": names}
            compared.append({**check, "gone": [], "not_compared": [], "findings": _with(check["findings"], added)})
            del compared[-1][LOOKED_AT]
        min(compared, key=itemgetter("frame")).update(gone=gone, not_compared=not_compared)
        return compared

    def _earlier(self, path: str | None, scene: str, frames: Collection[float]) -> dict[float, _Check]:
        """Return by ascending frame the checks that those of a file and scene at some frames are compared with."""
        place = self._place.get(path)
        self._scenes.add((place, scene))
        found = {
            frame: check
            for (*of, frame), check in sorted(self._by_frame.items(), key=lambda of: of[1].frame)
            if path in self._place and of == [place, scene] and (self._is_over_frames or frame in frames)
        }
        self._compared.update(found.values())
        if found and found.keys() != {*frames}:
            file = next(iter(found.values())).file
            self._frames.append({"file": file, "scene": scene, "frames": list(map(frame_number, found))})
        return found

    def record(self) -> Row:
        """Return what a document says of its baseline."""
        return {
            "file": Path(self.path).name,
            "sha256": self.sha256,
            **({"frames": self._frames} if self._frames else {}),
            "not_compared": [
                {
                    "file": check.file,
                    "scene": check.scene,
                    "frame": frame_number(check.frame),
                    "clashes": len(check.clashes),
                    "reason": self._why_not_compared(check),
                }
                for check in self._checks
                if check not in self._compared
            ],
        }

    def _why_not_compared(self, check: _Check) -> str:
        if check.place not in self._place.values():
            return messages.FILE_NOT_CHECKED
        is_checked = (check.place, check.scene) in self._scenes
        return FRAME_NOT_CHECKED if is_checked else "this scene was not checked"


def _frames_words(frames: Iterable[float]) -> str:
    return named_list(sorted({frame_number(frame) for frame in frames}))


def _weight(distance: float | None, bound: float | None) -> float:
    """Return by what clashes are in order, the deepest first; bound: the upper one, of those not searched."""
    return distance if distance is not None else TOUCHING if bound is None else bound


def _recognized(
    now: Mapping[float, Row], earlier: Mapping[float, _Check], known: Collection[str]
) -> dict[float, list[str]]:
    """Return by frame the ids of the rows of checks: where objects were renamed those of before."""
    ids = {frame: list(column(check["findings"], "id")) for frame, check in now.items()}
    taken = set(chain(*ids.values()))
    taken |= {name for check in now.values() for name, sides in check[LOOKED_AT]["present"].items() if sides == "ab"}
    renamed: dict[str, str] = {}
    for frame in (frame for frame in now if frame in earlier):
        rows, present = now[frame]["findings"], now[frame][LOOKED_AT]["present"]
        free: dict[tuple[tuple[Any, ...], ...], list[_Clash]] = {}
        for clash in earlier[frame].clashes.values():
            if clash.id not in taken and (digests := _digests(clash.things)) is not None:
                free.setdefault(digests, []).append(clash)
        new = {name: k for k, name in enumerate(ids[frame]) if name not in known and name not in renamed}
        for name, k in sorted(new.items()) if free else ():
            sides = list(map(_side, itemgetter("a", "b")(rows[k])))
            alike = free.get(_digests(sides), [])
            found = next((clash for clash in alike if clash.is_renamed(sides, present.get(clash.id, ""))), None)
            if found is not None:
                alike.remove(found)
                renamed[name] = found.id
                taken.add(found.id)
    return {frame: [renamed.get(name, name) for name in names] for frame, names in ids.items()}


def _ids_then(
    now: Mapping[float, Row], earlier: Mapping[float, _Check], ids: Mapping[float, Sequence[str]]
) -> dict[float, list[str | None]]:
    """Return by frame the ids that rows have in the baseline, None where an instance has another one's number there.

    What is known of a frame that the baseline has holds for the others. ids: as `_recognized` returns them.
    """
    renumbered = dict(chain.from_iterable(check[LOOKED_AT]["ids"].items() for check in now.values()))
    found: dict[float, list[str | None]] = {}
    for frame, check in now.items():
        clashes = earlier[frame].clashes if frame in earlier else {}
        others = {then: name for then, name in renumbered.items() if then not in clashes} | check[LOOKED_AT]["ids"]
        before = {name: then for then, name in others.items() if name is not None}
        names = zip(column(check["findings"], "id"), ids[frame], strict=True)
        found[frame] = [before.get(name, None if name in others else of) for name, of in names]
    return found


def _unknown(clash: _Clash, now: Mapping[float, Row], other: Sequence[str]) -> str:
    """Return why a clash, as it was at a frame, was not looked at; empty where it was. other: settings that differ."""
    check = now.get(clash.of_check)
    if clash.frame != clash.of_check:
        return f"it was found at frame {clash.frame}"
    if other:
        return f"other settings: {', '.join(name.replace('_', ' ') for name in other)}"
    if check is None:
        return FRAME_NOT_CHECKED
    if check["partial"]:  # of shards that are not there nothing is known
        return messages.CHECK_STOPPED
    return min(check[LOOKED_AT]["reasons"].get(clash.id, ()), default="")


def _why_unknown(clashes: Sequence[_Clash], now: Mapping[float, Row], other: Sequence[str]) -> str:
    """Return why a clash was not looked at, at one of the frames at which it was found; empty where it was at all."""
    frames: dict[str, list[float]] = {}
    for clash in clashes:
        frames.setdefault(_unknown(clash, now, other), []).append(clash.of_check)
    reason = next(filter(None, frames), "")
    if not reason or (reason != FRAME_NOT_CHECKED and len(frames) == 1):
        return reason
    words, were = _frames_words(frames[reason]), "was" if len(frames[reason]) == 1 else "were"
    return (
        f"at {words} {reason}" if reason != FRAME_NOT_CHECKED else f"it was found at {words}, which {were} not checked"
    )


def _baseline_unreadable(path: str, reason: str) -> str:
    return f"{path} {reason}; give --baseline a complete JSON report of an earlier check"


def _checks_of(document: Any) -> list[_Check]:
    """Return the checks of a document. Raises BaselineError, or another error where it is not one."""
    schema, version = document["schema"], document["schema_version"]
    if (schema, version) != (json_report.SCHEMA, SCHEMA_VERSION):
        raise BaselineError(f"has the schema {schema} {version!r}, not {json_report.SCHEMA} {SCHEMA_VERSION}")
    if document.get("part") is not None:
        raise BaselineError("is only a part of a run (merge combines the parts)")
    if document["partial"]:
        raise BaselineError("is from a check that was stopped")
    if any("id" not in row or "resolution" not in row for check in document["checks"] for row in check["findings"]):
        raise BaselineError("has clashes without ids")
    return [_Check.of_record(check, _text(document["blender"])) for check in document["checks"]]


def _number(value: Any) -> float:
    """Return a number of a report. Raises ValueError, TypeError or OverflowError where it is none."""
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _text(value: Any) -> str | None:
    """Return a text of a report. Raises TypeError where it is none."""
    if not isinstance(value, str | None):
        raise TypeError(value)
    return value


def _side(side: Row) -> EarlierSide:
    if any(not isinstance(side.get(name), str | None) for name in (*NAMES, "geometry", "place")) or not side["name"]:
        raise TypeError(side)
    number = side["instance"]
    source = side["object"], side["library"]
    owner = source if number is None else (side["instancer"], side["instancer_library"])
    identity = identity_of(*(side.get(name) for name in NAMES[1:]))
    return EarlierSide(
        side["name"], identity, owner, source, number is not None, (side.get("geometry"), side.get("place"))
    )


def _scaled(side: Row, factor: float, names: Iterable[str] | None = None) -> Row:
    """Return some or all fields of a side, its location in other units; a report of 0.2.0 does not have that."""
    location = side.get("location")
    scaled = None if location is None else [_number(value) * factor for value in location]
    return {**{name: side.get(name) for name in names or side}, "location": scaled}


def _digests(sides: Sequence[EarlierSide]) -> tuple[tuple[Any, ...], ...] | None:
    """Return the geometry and places of both sides, in any order; None where they are not known."""
    found = [side.digests for side in sides]
    return None if any(None in digests for digests in found) else tuple(sorted(found))


def _settings(check: Row) -> Row:
    unit = float(check["units"]["blender_units_per_unit"])
    return {
        "shapes": AUTOMATIC_SHAPES,
        **check["settings"],
        "clearance": _number(check["settings"]["clearance"]) * unit,
        "least_volume": _number(check["settings"].get("least_volume", 0.0)) * unit**3,
    }


def _differing(before: Row, now: Row) -> list[str]:
    """Return the names of the settings that differ and decide which pairs are clashes."""

    def is_same(name: str) -> bool:
        if name in ("clearance", "least_volume"):
            return abs(before[name] - now[name]) <= SAME_LENGTH * abs(now[name])
        return bool(before.get(name) == now.get(name))

    return [name for name in dict.fromkeys((*before, *now)) if name not in NOT_DECIDING and not is_same(name)]


def _change(before: _Clash, now: float | None, rows: Sequence[Row], k: int, unit: float) -> str:
    """Return how the clash of a row, at a signed distance `now` in units, stands to what it was.

    A difference counts as an approval's does: above one percent, and above the resolution of the coordinates. Where one
    of both depths was not searched, only relations are compared.
    """
    then, distance = before.signed_distance, None if now is None else now * unit
    if (then is None and before.upper_bound is not None) or (distance is None and rows[k]["upper_bound"] is not None):
        gained = _severity(rows[k]["relation"]) - _severity(before.relation)
        return SAME if gained == 0 else DEEPER if gained > 0 else SHALLOWER
    if then is None and distance is None:
        return SAME
    if then is not None and distance is not None and abs(distance - then) <= APPROVAL_SLACK * abs(then):
        return SAME  # without making the row
    if distance is None:
        return DEEPER
    resolution = max(before.resolution, (rows[k]["resolution"] or 0.0) * unit)
    if then is None:
        return DEEPER if distance < -resolution else SHALLOWER
    if abs(distance - then) <= resolution:
        return SAME
    return DEEPER if distance < then else SHALLOWER


def _severity(relation: str) -> int:
    return {"within_clearance": 0, "touching": 1}.get(relation, 2)


def _with(rows: Sequence[Row], columns: Mapping[str, Sequence[Any]]) -> Sequence[Row]:
    """Return rows with other values of some fields."""
    if isinstance(rows, LazyRows):
        return rows.with_columns(columns)
    return [{**row, **{name: values[k] for name, values in columns.items()}} for k, row in enumerate(rows)]


def _parts(path: str) -> list[str]:
    return re.split(r"[\\/]+", path)


def _equal_ends(path: str | None, other: str | None) -> int:
    """Return how many of the last parts of two paths are equal; 0 where the file name is another one."""
    pairs = zip(reversed(_parts(path or "")), reversed(_parts(other or "")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _lengths(paths: Iterable[str | None]) -> dict[str | None, int]:
    """Return how many of its last parts tell each path from the others."""
    return {path: 1 + max((_equal_ends(path, other) for other in paths if other != path), default=0) for path in paths}
