# SPDX-License-Identifier: GPL-3.0-or-later
"""Where reports are written to: nothing else is written over, and what is there stays whole until the new one is.

A report that is a file is written beside its place under a name of its own and then takes that place in one step. While
a run lasts, `PATH.partial` has what is done so far. Pipes, devices and open descriptors are written to as they are.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from ..data import messages
from ..page import html_page, html_report
from . import csv_report, json_report, junit_report, pair, windows_paths

BEGINNINGS = tuple(
    text.encode()
    for text in (
        json_report.BEGINNING,
        json_report.LINE_BEGINNING,
        *pair.BEGINNINGS,
        csv_report.BEGINNING,
        html_page.BEGINNING,
        html_report.BEGINNING_0_1,
        junit_report.BEGINNING,
    )
)
"""What a file has to begin with to be replaced by a report."""
LONGEST_BEGINNING = max(map(len, BEGINNINGS))
BLOCK = 1_000_000
"""Characters that are written to partial reports at a time."""
MOST_LINKS = 40
"""How many symbolic links are followed, one to the next."""
ON_WINDOWS = os.name == "nt"
SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between attempts to replace a file on Windows, where virus scanners and indexers keep new files open for a
moment."""


class ReportFileError(Exception):
    """Why a report is not written to a path, in one sentence that names it."""


def reason(error: Exception) -> str:
    """Return what was wrong, in one sentence that names the file where there is one."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


@dataclass(frozen=True)
class Place:
    """Where a report goes: a file that it replaces, an open descriptor, or a pipe or device that is written to."""

    path: str
    """As the user named it."""
    file: str | None
    """Absolute, with links followed; None for a descriptor."""
    descriptor: int | None
    """Of this process; 1 is the standard output."""
    replaced: bool
    """Whether it is a file, or is to become one."""
    beginnings: tuple[bytes, ...] = BEGINNINGS
    """What a file there has to begin with."""


def place_of(path: str, beginnings: tuple[bytes, ...] = BEGINNINGS) -> Place:
    """Return where a path leads, '-' being the standard output. Raises ReportFileError where nothing can be written.

    beginnings: what a file there has to begin with.
    """
    descriptor = 1 if path == "-" else _descriptor(path)
    try:
        if descriptor is not None:
            _refuse_descriptor(path, descriptor)
            return Place(path, None, descriptor, replaced=False)
        if not path:
            raise ReportFileError("The path of a report is empty")
        if path.endswith(SEPARATORS) or os.path.isdir(path):
            raise ReportFileError(f"{path} is a folder: name a file")
        if ON_WINDOWS and (device := windows_paths.device_of(path)):
            if device == windows_paths.NULL:
                return Place(path, windows_paths.NULL, None, replaced=False)
            raise ReportFileError(f"{path}: {device} is the name of a device on Windows: name another file")
        if ON_WINDOWS and windows_paths.stream_of(path) is not None:
            raise ReportFileError(f"{path}: a file name cannot contain a colon on Windows: name another file")
        file = _openable(os.path.realpath(path))
        if not os.path.isdir(os.path.dirname(file)):
            raise ReportFileError(f"{path}: there is no folder {os.path.dirname(file)}")
        _refuse_file(path, file, beginnings)
        is_file = not os.path.exists(file) or os.path.isfile(file)
        return Place(path, file, None, is_file, beginnings)
    except OSError as error:
        raise ReportFileError(_why_not(path, error)) from error


def _openable(path: str) -> str:
    """Return an absolute path as it can be opened, however long it is."""
    return windows_paths.extended(path) if ON_WINDOWS else path


def _why_not(path: str, error: OSError) -> str:
    """Return why nothing can be written to a path."""
    if ON_WINDOWS and isinstance(error, PermissionError):  # which is all that Windows says of either
        return f"{path} cannot be written: it is read-only, or open in another program: close it there"
    return f"{path}: {error.strerror or error}"


def share_a_file(places: Iterable[Place]) -> bool:
    """Return whether two of the places are one, partial reports included. A device such as /dev/null is no file."""
    found: list[object] = []
    for place in places:
        if place.descriptor is not None:
            found.append(place.descriptor)
            continue
        for file in (place.file, partial_path(place)) if place.replaced else (place.file,):
            if os.path.exists(file):
                state = os.stat(file)
                if not stat.S_ISCHR(state.st_mode):
                    found.append((state.st_dev, state.st_ino))
            else:
                found.append(os.path.realpath(file))
    return len(set(found)) < len(found)


def write(place: Place, text: str | Iterable[str], standard_output: int = 1) -> None:
    """Write a report, a text or its parts, to its place. Raises ReportFileError; what was there is whole then.

    standard_output: the descriptor that stands for it now.
    """
    parts = (part.encode("utf-8") for part in ((text,) if isinstance(text, str) else text))
    try:
        if place.descriptor is not None:
            descriptor = standard_output if place.descriptor == 1 else place.descriptor
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.writelines(parts)
        elif place.replaced:
            _refuse_file(place.path, place.file, place.beginnings)  # time has passed
            replace_file(place.file, parts)
        else:
            with open(place.file, "wb") as stream:
                stream.writelines(parts)
    except OSError as error:
        raise ReportFileError(_why_not("standard output" if place.path == "-" else place.path, error)) from error


def replace_file(file: str, parts: Iterable[bytes]) -> None:
    """Write a file beside its place, then put it there in one step. Raises OSError."""
    folder = os.path.dirname(file)
    beside = os.path.join(folder, f".contact_lens-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as stream:
            if os.path.exists(file):
                shutil.copymode(file, beside)
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        _take_place(beside, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    if os.name == "posix":
        with suppress(OSError):  # not all folders can be read or synced; the report is in its place
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _take_place(beside: str, file: str) -> None:
    """Rename a file to another, which is replaced."""
    for pause in PAUSES if ON_WINDOWS else ():
        try:
            os.replace(beside, file)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(beside, file)


def _descriptor(path: str) -> int | None:
    """Return which descriptor of this process a path names, as /dev/stdout and /dev/fd/3 do; else None."""
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(os.path.dirname(path) or ".")
        path = os.path.join(folder, os.path.basename(path))
        named = re.fullmatch(rf"(?:/dev|/proc/(?:self|{os.getpid()})(?:/task/\d+)?)/fd/(\d+)", path)
        if named:
            return int(named[1])
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def _refuse_descriptor(path: str, descriptor: int) -> None:
    """Raise ReportFileError when writing to a descriptor would be over what a file has there."""
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or state.st_size <= os.lseek(descriptor, 0, os.SEEK_CUR):
        return
    if ON_WINDOWS:  # a file that is open like this can only be one to append to
        return
    import fcntl

    if not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND:
        _refuse_content(path, os.pread(descriptor, LONGEST_BEGINNING, 0))


def _refuse_file(path: str, file: str, beginnings: tuple[bytes, ...]) -> None:
    """Raise ReportFileError or OSError when a file does not begin as it should, or must not be written."""
    if os.path.isfile(file):
        with open(file, "r+b") as stream:
            _refuse_content(path, stream.read(LONGEST_BEGINNING), beginnings=beginnings)


def _refuse_content(path: str, head: bytes, kind: str = "report", beginnings: tuple[bytes, ...] = BEGINNINGS) -> None:
    if head and not head.startswith(beginnings):
        raise ReportFileError(messages.other_file(path, kind))


# --- while a run lasts ----------------------------------------------------------------------------------------------


def partial_path(place: Place) -> str:
    """Return where the report of a place grows: beside the path as it was named."""
    path = f"{place.path}.partial"
    return windows_paths.extended(os.path.abspath(path)) if ON_WINDOWS else path


class Partials:
    """The partial reports of a run: in each a line of JSON for each check that is done.

    A full disk cuts no line; when the run is killed the last one may be cut.
    What is still there in the end stays, unless it is empty.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = [place for place in places if place.replaced]
        self._files: dict[Place, io.FileIO] = {}

    def __enter__(self) -> Partials:
        """Begin them. Raises ReportFileError."""
        try:
            for place in self._places:
                self._files[place] = _open(partial_path(place))
            if len({_identity(file) for file in self._files.values()}) < len(self._files):
                raise ReportFileError(messages.SHARED_REPORT_FILE)  # OUT.json and out.json, where they are the same
            for file in self._files.values():  # only now: a run that is refused leaves what an earlier one has done
                file.truncate(0)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for place, file in list(self._files.items()):
            file.close()
            if not os.path.exists(partial_path(place)) or os.path.getsize(partial_path(place)) == 0:
                self.remove(place)

    @property
    def grow(self) -> bool:
        """Whether a line can be added to any."""
        return not all(file.closed for file in self._files.values())

    def add(self, parts: Iterable[str]) -> list[str]:
        """Add a line, of parts, to all but those in which that failed before. Returns why it fails now, each with its
        path."""
        problems = []
        ends = {place: file.seek(0, os.SEEK_END) for place, file in self._files.items() if not file.closed}
        for data in _blocks(chain(parts, ("\n",))):
            for place in list(ends):
                file = self._files[place]
                try:
                    left = memoryview(data)
                    while left:
                        left = left[file.write(left) :]
                except OSError as error:
                    reason, end = error.strerror or str(error), ends.pop(place)
                    problems.append(
                        f"{partial_path(place)}: {reason}"
                        if end
                        else f"{place.path}: a partial report cannot be written meanwhile: {reason}"
                    )
                    with suppress(OSError):  # a line that is cut stays then
                        file.truncate(end)
                    file.close()
        return problems

    def remove(self, place: Place) -> list[str]:
        """Remove one, if the place has one: what is in it is elsewhere now. Returns why it stays, with its path."""
        file = self._files.pop(place, None)
        if file is not None:
            file.close()
            try:
                os.unlink(partial_path(place))
            except FileNotFoundError:
                return []
            except OSError as error:  # on Windows, while another program reads it
                return [f"{partial_path(place)}: {error.strerror or error}"]
        return []

    def hint(self, place: Place) -> str:
        """Return where what was done can be read, as the end of a sentence."""
        path = partial_path(place)
        has_lines = place in self._files and os.path.exists(path) and os.path.getsize(path) > 0
        return messages.partial_report_at(path) if has_lines else ""


def _identity(file: io.FileIO) -> tuple[object, ...]:
    """Return what tells an open file from others; file systems that have no such number tell all apart."""
    state = os.fstat(file.fileno())
    return (state.st_dev, state.st_ino) if state.st_ino else (id(file),)


def _blocks(parts: Iterable[str]) -> Iterator[bytes]:
    """Yield texts in larger blocks of bytes."""
    block: list[str] = []
    size = 0
    for part in parts:
        block.append(part)
        size += len(part)
        if size >= BLOCK:
            yield "".join(block).encode()
            block, size = [], 0
    yield "".join(block).encode()


def _open(path: str) -> io.FileIO:
    """Open a partial report as it is. Raises ReportFileError where something else is."""
    if os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path)):
        raise ReportFileError(f"{path} is not a regular file, and the partial report is written there: remove it first")
    try:
        if os.path.exists(path):
            with open(path, "rb") as stream:
                head = stream.read(LONGEST_BEGINNING)
            _refuse_content(path, head, "partial report", (json_report.LINE_BEGINNING.encode(),))
        return open(path, "ab", buffering=0)
    except OSError as error:
        raise ReportFileError(f"{path}: {error.strerror or error}") from error
