# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions about clashes that are kept beside a file, by ids or by names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..data import messages
from ..data.records import Approval, Pair
from ..data.units import UnitFormat, WrittenLength
from ..read.scene_objects import SceneObject
from . import clash_ids
from .clash_ids import KnownIds
from .clashes import Clashes

APPROVED, REVIEWED, IGNORED = "approved", "reviewed", "ignored"
REASONS = (
    "several objects have such a name: write an id instead",
    "another decision is about this clash, by its id",
    "no such clash was found",
    messages.FILE_NOT_CHECKED,
)
"""Why a decision is about no clash. The first that holds in any check, or of the last two in all checks. In a run that
was stopped, of which nothing is merged, it is CHECK_STOPPED instead of these two."""


Spot = tuple[str, ...]
"""A thing of a clash: its name, and of an instance digests of its geometry, its place and that of its instancer."""


@dataclass(frozen=True)
class Decision:
    """A decision about a clash."""

    line: int
    """Where it begins in its file."""
    status: str
    """APPROVED, REVIEWED or IGNORED."""
    id: str | None = None
    names: frozenset[str] | None = None
    """Of both objects, as reports have them; they decide where there is no id."""
    file: str | None = None
    """Name of the .blend file that it is about; None: any."""
    approved_at: WrittenLength | None = None
    """The signed distance at which it was approved; None of an intersection without depth."""
    entry: dict[str, Any] = field(default_factory=dict, compare=False)
    """All that the file says of it, as plain data."""

    @property
    def words(self) -> str:
        """The clash as text."""
        names = " and ".join(sorted(self.names)) if self.names else ""
        clash = f"{self.id} ({names})" if self.id and names else self.id or names
        return clash if self.file is None else f"{clash} in {self.file}"

    @property
    def places(self) -> frozenset[str] | None:
        """Where its instances were, and the name of what is none; None where no place is known."""
        known = {letter: self.entry.get(f"{letter}_place", "").split()[:2] for letter in "ab"}
        return (
            frozenset(" ".join(place) or self.entry[k] for k, place in known.items()) if any(known.values()) else None
        )

    def follows(self, spots: Sequence[Spot]) -> bool:
        """Return whether it can be about what has its id or names: no instance is elsewhere but with its instancer."""
        known = ((self.entry[k], text.split()[1:]) for k in "ab" if (text := self.entry.get(f"{k}_place")))
        now = [(spot[0], *spot[2:]) for spot in spots if spot[1:]]
        return all(
            any(then[0] == place or (name == called and then[1:] not in ([], [maker])) for called, place, maker in now)
            for name, then in known
        )

    def approval(self, units: UnitFormat) -> Approval:
        """Return what was approved; units: of the scene."""
        return Approval(None if self.approved_at is None else units.in_blender_units(self.approved_at))


class Unused(NamedTuple):
    """A decision that is about no clash of a run."""

    line: int
    clash: str
    reason: str


@dataclass
class Decisions:
    """Those of a file, and which of them were used."""

    path: str
    """As the user named it."""
    sha256: str
    all: list[Decision]
    _used: set[Decision] = field(default_factory=set)
    """Those that a clash was found for."""
    _ambiguous: set[Decision] = field(default_factory=set)
    """Those whose names are of several objects."""
    _overruled: set[Decision] = field(default_factory=set)
    """Those by names about a clash that another one is about by its id."""
    _files: set[str | None] = field(default_factory=set)
    """Those that were checked."""

    def about(
        self, objects: Sequence[SceneObject], clashes: Clashes, known: KnownIds, file: str | None
    ) -> dict[Pair, Decision]:
        """Return the decisions about the clashes of a check of a file; known: the ids of the list of the file."""
        self._files.add(file)
        by_clash = self.by_clash(file)
        counts = Counter(obj.name for obj in objects)
        found: dict[Pair, Decision] = {}
        spots = {k: _spot(objects[k]) for k in (np.unique(clashes.pairs).tolist() if by_clash else ())}
        for row, clash_id in enumerate(clash_ids.of_clashes(objects, clashes, known) if by_clash else ()):
            pair = clashes.pairs[row].tolist()
            a, b = (objects[k] for k in pair)
            about, named = matching(by_clash, clash_id, [spots[k] for k in pair])
            if about:
                self._overruled.update(named)
            elif max(counts[a.name], counts[b.name]) > 1:
                self._ambiguous.update(named)
            else:
                about = named
            if about:
                found[frozenset((a.key, b.key))] = about[-1]
                self._used.update(about)
        return found

    def by_clash(self, file: str | None) -> dict[str | frozenset[str] | None, list[Decision]]:
        """Return the decisions about clashes of a file, by their ids, or by names where they have none, and by the
        places of instances; the last of several counts: it is about this file alone."""
        found: dict[str | frozenset[str] | None, list[Decision]] = {}
        for wanted in (None, file):
            for decision in self.all:
                if decision.file == wanted:
                    found.setdefault(decision.id or decision.names, []).append(decision)
                    if decision.places:
                        found.setdefault(decision.places, []).append(decision)
        return found

    def unused(self, stopped: bool) -> list[Unused]:
        """Return the decisions that no clash was found for, in the order of their lines; stopped: whether the run
        was."""
        reasons = ((decision, self._why_unused(decision, stopped)) for decision in self.all)
        return sorted({Unused(decision.line, decision.words, reason) for decision, reason in reasons if reason})

    def _why_unused(self, decision: Decision, stopped: bool) -> str:
        """Return why no clash was found for a decision; empty where one was."""
        several, by_id, none, not_checked = REASONS
        if decision in self._ambiguous:
            return several
        if decision in self._overruled:
            return by_id
        if decision in self._used:
            return ""
        if stopped:
            return messages.CHECK_STOPPED
        return none if decision.file is None or decision.file in self._files else not_checked


def matching(
    by_clash: Mapping[str | frozenset[str] | None, list[Decision]], clash_id: str, spots: Sequence[Spot]
) -> tuple[list[Decision], list[Decision]]:
    """Return the decisions about a clash by the places of its instances or by its id, and those by its names."""
    names = frozenset(spot[0] for spot in spots)
    places = frozenset(" ".join(spot[1:3]) or spot[0] for spot in spots)
    by_id, named = ([one for one in by_clash.get(key, ()) if one.follows(spots)] for key in (clash_id, names))
    return (by_clash.get(places, []) if places != names else []) or by_id, named


def _spot(obj: SceneObject) -> Spot:
    digests = (obj.geometry_digest, obj.place_digest, obj.state.place) if obj.key[2] else ()
    return obj.name, *digests


def approvals(decided: Mapping[Pair, Decision], units: UnitFormat) -> dict[Pair, Approval]:
    """Return what was approved; units: of the scene."""
    return {pair: decision.approval(units) for pair, decision in decided.items() if decision.status == APPROVED}
