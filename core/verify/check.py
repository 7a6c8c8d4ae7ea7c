# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verification says: checks, each with its name and the numbers compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that must hold."""

    name: str
    """What is checked, in a few words."""
    ok: bool
    detail: str
    """The numbers compared."""


@dataclass(frozen=True)
class Verification:
    """What `verify` found, check by check. `bool(...)` is True only when every check holds."""

    checks: tuple[Check, ...]
    width: float
    """`upper_bound - lower_bound`, world units."""

    @property
    def ok(self) -> bool:
        """True when every check holds."""
        return all(check.ok for check in self.checks)  # mutant: verify-always-ok

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that do not hold; empty when all do."""
        return tuple(check for check in self.checks if not check.ok)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}" for check in self.checks)
