# SPDX-License-Identifier: GPL-3.0-or-later
"""The standard streams of the process, to which Blender and the scripts of files print as well."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO

from ..data.names import visible

_errors: TextIO | None = None
"""Where errors are shown while Blender's standard error is discarded."""


class Screen:
    """Lines for the user, on standard output."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.failure: OSError | None = None
        """Why lines are shown no more."""

    def say(self, *lines: str) -> None:
        """Show lines. Where that fails nothing is shown from then on: it costs no report."""
        if self.quiet or self.failure is not None:
            return
        try:
            for text in lines:
                _print(text, sys.stdout)
        except OSError as error:
            self.failure = error
            # What Python still has for it goes nowhere, rather than fail again at the end.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def complain(text: str) -> None:
    """Show what is wrong, on standard error, as this program's."""
    with suppress(OSError):  # there is no other place to say it
        for line in text.splitlines():
            _print(line, _errors or sys.stderr)


def complain_in_signal(text: str) -> None:
    """Show a line of ASCII from within a handler of signals.

    Not by `print`: that may be what was interrupted, and does not continue within itself.
    """
    with suppress(OSError):  # the terminal may be what was closed
        os.write(2 if _errors is None else _errors.fileno(), f"\n{text}\n".encode())


def _print(text: str, stream: TextIO | None) -> None:
    """Print a line as data: nothing in it does anything to a terminal, and any encoding will do."""
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        print(visible(text).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


@contextmanager
def blender_aside(report: bool, quiet: bool) -> Iterator[int]:
    """Keep what Blender and scripts print apart from what this program does.

    report: a report goes to the standard output, so Blender's goes to the standard error; quiet: both of its streams
    are discarded. Gives the descriptor that is the standard output.
    """
    if not (report or quiet):
        _flush_c()  # what Blender said before, as its name and version: in its order
        yield 1
        return
    with ExitStack() as stack:
        if not quiet:
            output = stack.enter_context(_redirected(1, 2))
            # Also in Python: a stream of Windows that was opened for a console fails on anything else.
            stack.enter_context(redirect_stdout(sys.stderr))
            yield output
            return
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8", errors="replace"))
        output = stack.enter_context(_redirected(1, nowhere.fileno()))
        errors = stack.enter_context(_redirected(2, nowhere.fileno()))
        stack.enter_context(_errors_to(sys.stderr, errors))
        stack.enter_context(redirect_stdout(nowhere))
        stack.enter_context(redirect_stderr(nowhere))
        yield output


@contextmanager
def _redirected(descriptor: int, to: int) -> Iterator[int]:
    """Let a descriptor be another one. Gives a duplicate of what it was."""
    _flush_python()
    kept = os.dup(descriptor)
    os.dup2(to, descriptor)
    _flush_c()  # only now: what Blender said before the command ran goes where the rest of it goes
    try:
        yield kept
    finally:
        _flush_python()
        _flush_c()
        os.dup2(kept, descriptor)
        os.close(kept)


@contextmanager
def _errors_to(stream: TextIO | None, descriptor: int) -> Iterator[None]:
    """Show errors on a descriptor, which was that of the stream; on the stream itself if it has one of its own."""
    global _errors
    with ExitStack() as stack:
        _errors = stream
        if stream is not None and _is_standard_error(stream):
            _errors = stack.enter_context(
                open(descriptor, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)
            )
        try:
            yield
        finally:
            _errors = None


def _is_standard_error(stream: TextIO) -> bool:
    try:
        return stream.fileno() == 2
    except (OSError, ValueError):  # it is in memory, or closed
        return False


def _flush_python() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is None where the stream was closed
            with suppress(OSError):
                stream.flush()


def _flush_c() -> None:
    """Write out what C code has printed: it has a buffer of its own, which else would follow all that Python wrote."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
