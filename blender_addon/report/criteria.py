# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a report counts: the exit code and JUnit XML agree on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..clashes.finding import OPEN_STATUSES, RELATIONS
from ..data import messages
from ..data.lazy_rows import Row, column
from ..scene.clash_rows import WORSE

TRANSIENT = "transient"
FAIL_ON = {
    "any": frozenset(RELATIONS),
    "touching": frozenset(RELATIONS) - {"within_clearance"},
    "penetrating": frozenset(RELATIONS) - {"within_clearance", "touching"},
    "new": frozenset(RELATIONS),
    TRANSIENT: frozenset(),
    "never": frozenset(),
}
"""The relations of clashes that count. Transient ones are pairs over frames: at one frame there are none."""
NEEDS_DEPTH = frozenset({"new", TRANSIENT})
"""Those that count what is deeper than before."""
OPEN = frozenset(map(str.lower, OPEN_STATUSES))


ALLOWANCES = ("skipped", "empty", "newer", "coarse", "fast")
"""What may be allowed, each by an option of its own: `allow_skipped` and so on."""


def allowance_of(kind: str | None) -> str:
    """Return which word of `ALLOWANCES` is about what was skipped for a reason of this kind."""
    return kind if kind in ALLOWANCES else "skipped"


@dataclass(frozen=True)
class Criteria:
    """Which clashes count, and which of what could not be checked does."""

    fail_on: str = "any"
    """A word of `FAIL_ON`."""
    allowed: frozenset[str] = frozenset()
    """Words of `ALLOWANCES`: what could not be checked and does not count."""

    def failing(self, check: dict[str, Any]) -> list[bool]:
        """Return of each finding of a check whether it counts."""
        relations = FAIL_ON[self.fail_on]
        words = (column(check["findings"], name) for name in ("relation", "status", "change"))
        return [
            relation in relations and status in OPEN and (self.fail_on != "new" or change in WORSE)
            for relation, status, change in zip(*words, strict=True)
        ]

    def judged(self, check: dict[str, Any]) -> tuple[Sequence[Row], list[bool]]:
        """Return the findings of a check as `combined` has it, and of each whether it counts.

        A pair over frames counts if it does at one: its finding is then the worst one, or the first that counts.
        """
        if "over" not in check:
            return check["findings"], self.failing(check)
        checks, of_rows = check["checks"], replace(self, fail_on="any") if self.fail_on == TRANSIENT else self
        fails = {place: of_rows.failing(checks[place]) for place in check["over"].checks}
        rows, counts = list(check["findings"]), []
        for k, clash in enumerate(check["over"].clashes):
            is_left_out = self.fail_on == TRANSIENT and clash.over.is_permanent
            places = [] if is_left_out else [of for of in clash.rows.values() if fails[of[0]][of[1]]]
            if places and (clash.check, clash.row) not in places:
                rows[k] = {**checks[places[0][0]]["findings"][places[0][1]], "over": clash}
            counts.append(bool(places))
        return rows, counts

    def allows(self, entry: dict[str, Any]) -> bool:
        """Return whether an object or pair that could not be checked does not count; entry: as `unchecked` has it."""
        return allowance_of(entry.get("kind")) in self.allowed


def unchecked(check: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what could not be checked: entries of what was skipped, and of clashes that fail their verification."""
    yield from (entry for entry in check["skipped"] if entry["unchecked"])
    for k, verified in enumerate(column(check["findings"], "verified")):
        if verified is False:
            names = [check["findings"][k][side]["name"] for side in "ab"]
            reason = f"the contact of '{names[0]}' and '{names[1]}' did not pass its own verification"
            yield {"name": messages.pair_name(*names), "reason": reason, "kind": "verification"}
