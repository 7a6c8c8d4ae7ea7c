# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options of all commands have in common."""

from __future__ import annotations

import argparse
import platform
import textwrap
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ... import __version__
from .given_options import given
from .outcome import UsageError


class Collected(argparse.Action):
    """Collects what an option names each time that it is given, every thing once: the only kind that has a list.

    Its type may return several things at once.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        things = values if isinstance(values, list) and self.nargs is None else [values]
        things = [tuple(thing) if isinstance(thing, list) else thing for thing in things]
        setattr(namespace, self.dest, list(dict.fromkeys([*(getattr(namespace, self.dest) or ()), *things])))


class CommandParser(argparse.ArgumentParser):
    """A parser that raises UsageError, and has --version.

    An option that is given again says the same or is refused, unless it is `Collected`: none is silently the last.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Lines, **settings)
        self.add_argument("--version", action=_Version, nargs=0, help="print the versions in use and exit")

    def parse_args(self, args: Sequence[str], namespace: argparse.Namespace | None = None) -> Any:
        options = super().parse_args(args, namespace)
        before: dict[str, tuple[list[Any], str]] = {}
        for action, words in given(self, args):
            if action is None or isinstance(action, Collected):
                continue
            name, equals, value = words[0].partition("=")
            values = [value, *words[1:]] if equals else words[1:]
            said = [action.const] if isinstance(action, argparse._StoreConstAction) else values or [name]
            option = " ".join([name, *values])
            if before.setdefault(action.dest, (said, option))[0] != said:
                self.error(_option_again(before[action.dest][1], option))
        return options

    def error(self, message: str) -> Any:
        raise UsageError(f"{message}; see {self.prog} --help")


def _option_again(first: str, second: str) -> str:
    return f"{first} and {second} contradict each other: give one of them"


class _Lines(argparse.HelpFormatter):
    """Keeps the lines of a description, and wraps each by itself; one that begins with blanks is an item of a list."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            textwrap.fill(
                line, width, initial_indent=indent, subsequent_indent=indent + "       " * line.startswith(" ")
            )
            for line in text.splitlines()
        )


class _Version(argparse.Action):
    """argparse's own would wrap the lines."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        print("\n".join(versions()))
        parser.exit()


def versions() -> Sequence[str]:
    """Return the versions of everything that a result depends on, one a line."""
    return (
        f"Contact Lens {__version__}",
        f"Blender {bpy.app.version_string}",
        f"numpy {np.__version__}",
        f"Python {platform.python_version()}",
    )


def duration(text: str) -> float:
    """Return the seconds of a time such as '90', '90s', '10m' or '1.5h'. Raises argparse.ArgumentTypeError."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in SECONDS else (text, "s")
    try:
        seconds = float(number) * SECONDS[unit]
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"expected a time above 0 such as 90, 10m or 1.5h, not {text!r}")
    return seconds


SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST = 366 * SECONDS["d"]


def positive(text: str) -> int:
    """Return a whole number of 1 or more. Raises argparse.ArgumentTypeError."""
    return _whole_number(text, 1)


def natural(text: str) -> int:
    """Return a whole number of 0 or more. Raises argparse.ArgumentTypeError."""
    return _whole_number(text, 0)


def _whole_number(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise argparse.ArgumentTypeError(f"expected a number of {least} or more, not {text!r}")
    return int(text)
