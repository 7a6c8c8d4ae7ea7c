# SPDX-License-Identifier: GPL-3.0-or-later
"""How a command ends: its exit code, and what was wrong."""

from __future__ import annotations

import traceback

from ..data.names import visible
from .streams import complain

CLEAN, FINDINGS, WRONG, UNCHECKED, STOPPED = 0, 1, 2, 3, 130
"""Exit codes: clean; clashes that count; wrong usage, a file that cannot be read or written, or an unexpected error;
something could not be checked, or there was no time for it; stopped by a signal."""


class UsageError(Exception):
    """An error of the command or its files, as one sentence; the exit code is 2."""


def complain_of(problem: str) -> None:
    complain(f"contact_lens: {visible(problem)}")


def complain_of_a_fault() -> None:
    """Show the exception that is being handled, which nobody expected."""
    complain(traceback.format_exc())
    complain_of("unexpected error: please report it with the lines above")
