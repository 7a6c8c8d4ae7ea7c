# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a terminal: `check`, `merge` and `farm`; `commands.outcome` has their exit codes.

blender -b FILE.blend --command contact_lens check [OPTIONS]
python -m contact_lens FILE.blend ... [OPTIONS]          (a Python with the bpy module)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import bpy

from .commands import farm, jobs, merge
from .data import messages
from .history.baseline import BaselineError
from .history.decisions_file import DecisionsError
from .report import files as report_files
from .report.files import ReportFileError
from .terminal.outcome import STOPPED, WRONG, UsageError, complain_of, complain_of_a_fault
from .terminal.streams import complain

NAME = "contact_lens"
COMMANDS: dict[str, Callable[[Sequence[str], str], int]] = {"check": jobs.run, "merge": merge.run, "farm": farm.run}
"""Each runs with its arguments and with what starts the program, for its usage; it returns the exit code."""
IN_BLENDER = "blender -b FILE.blend --command contact_lens"


def command(arguments: Sequence[str]) -> int:
    """`blender --command contact_lens ...`. Returns the exit code."""
    given = list(arguments)
    if not given or not (given[0] in COMMANDS or given[0].startswith("-")):
        complain("usage: blender -b FILE.blend --command contact_lens {check,merge,farm} [OPTIONS]")
        complain_of(_unknown_command(given[0] if given else None, list(COMMANDS)))
        return WRONG
    return main(given, IN_BLENDER)


def main(arguments: Sequence[str], prog: str) -> int:
    """Run a command, `check` where none is named. Returns the exit code; what is wrong goes to standard error."""
    name, given = "check", list(arguments)
    if given[:1] and given[0] in COMMANDS:
        name, given = given[0], given[1:]
    elif given[:1] and given[0].isalpha() and not os.path.exists(given[0]):  # a word, and not the path of a file
        complain_of(_unknown_command(given[0], list(COMMANDS)))
        return WRONG
    try:
        return COMMANDS[name](given, f"{prog} {name}")
    except SystemExit as ended:  # --help
        return int(ended.code or 0)
    except (UsageError, ReportFileError, BaselineError, DecisionsError, OSError) as error:
        complain_of(report_files.reason(error))
        return WRONG
    except KeyboardInterrupt:
        complain_of(messages.STOPPED)
        return STOPPED
    except Exception:  # an exit code of the table, not that of a Python which has failed
        complain_of_a_fault()
        return WRONG


def _unknown_command(command: str | None, commands: Sequence[str]) -> str:
    names = f"{', '.join(commands[:-1])} or {commands[-1]}"
    return f"expected {names}" if command is None else f"expected {names}, not {command!r}"


_handle: Any = None


def register() -> None:
    global _handle
    if hasattr(bpy.utils, "register_cli_command"):
        _handle = bpy.utils.register_cli_command(NAME, command)


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.utils.unregister_cli_command(_handle)
        _handle = None
