# SPDX-License-Identifier: GPL-3.0-or-later
r"""Paths of Windows that do not lead where they seem to: names of devices, second streams of files, long paths.

Pure functions of text, which work on every system.
"""

from __future__ import annotations

import ntpath
import re

DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*([.:].*)?", re.IGNORECASE)
r"""What Windows takes for a device in every folder, whatever follows a dot. Source: "Naming Files, Paths, and
Namespaces" of Microsoft's documentation."""
NULL = "NUL"
"""The device that discards what is written to it."""
LONGEST = 200
"""Characters of a path that every program can open, 259, less those of the names in which a report grows beside it."""


def device_of(path: str) -> str | None:
    r"""Return the device that a path leads to, else None.

    >>> device_of(r"C:\reports\aux.json")
    'AUX'
    >>> device_of(r"\\.\NUL")
    'NUL'
    """
    named = DEVICE.fullmatch(re.split(r"^[a-zA-Z]:|[\\/]", path)[-1])
    return named[1].upper() if named else None


def stream_of(path: str) -> str | None:
    r"""Return the name of a second stream of a file that a path leads to, else None: the file would stay empty.

    >>> stream_of(r"C:\reports\out.json")
    >>> stream_of(r"reports\12:30.json")
    '30.json'
    """
    _, found, stream = ntpath.basename(ntpath.splitdrive(path)[1]).partition(":")
    return stream if found else None


def extended(path: str) -> str:
    r"""Return an absolute path in the form that may have any length, if it is long.

    >>> extended(r"C:\out.json")
    'C:\\out.json'
    >>> extended("C:\\" + "long" * 60)[:10]
    '\\\\?\\C:\\lon'
    """
    if len(path) < LONGEST or path.startswith(("\\\\?\\", "\\\\.\\")):
        return path
    return rf"\\?\UNC\{path[2:]}" if path.startswith("\\\\") else rf"\\?\{path}"
