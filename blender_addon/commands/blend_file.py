# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are opened to be checked: their bytes, and the libraries that they use."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import bpy

from ..read.faults import version_of
from ..terminal.outcome import UsageError

GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""How compressed files begin, the first those of before Blender 3.0."""
HEADER = re.compile(rb"BLENDER(?:[-_][vV](\d)(\d\d)|\d\d-\d\d[vV](\d\d)(\d\d))")
"""How a file begins, up to Blender 4.5 and from 5.0 on."""
LENGTH_OF_HEADER = 17


def why_missing(file: str) -> str:
    return "is a folder" if Path(file).is_dir() else "there is no such file"


def digest(file: str) -> str:
    """Return the SHA-256 of a file's bytes. Raises UsageError."""
    try:
        return _sha256(file)
    except OSError as error:
        # Of a folder Windows says that permission is denied.
        problem = error.strerror or str(error) if Path(file).is_file() else why_missing(file)
        raise UsageError(problem) from error


def _sha256(file: str) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def saved_by(file: str) -> tuple[int, int] | None:
    """Return the version of Blender that a file was saved with, which is not opened; None where it cannot be read.

    Raises OSError.
    """
    with open(file, "rb") as stream:
        start = stream.read(LENGTH_OF_HEADER)
        stream.seek(0)
        try:
            if start.startswith(GZIP):
                start = gzip.GzipFile(fileobj=stream).read(LENGTH_OF_HEADER)
            elif start.startswith(ZSTANDARD):
                if sys.version_info >= (3, 14):
                    from compression import zstd
                else:
                    import zstandard as zstd  # type: ignore[import-not-found,unused-ignore]
                start = zstd.open(stream, "rb").read(LENGTH_OF_HEADER)
        except Exception:  # the file is cut or damaged, or a distribution has left the module out of its Blender
            return None
    found = HEADER.match(start)
    if found is None:
        return None
    major, minor = (int(number) for number in found.groups() if number is not None)
    return major, minor


def open_file(file: str, run_scripts: bool) -> None:
    """Open a file, its scripts allowed too, or as the preferences say. Raises UsageError when it is not read."""
    allowed: dict[str, Any] = {"use_scripts": True} if run_scripts else {}
    before = bpy.context.scene.session_uid
    try:
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath(file), load_ui=False, **allowed)
    except RuntimeError as error:
        # Blender raises it for a library too, of a file that it has read: the check names what is missing then.
        if bpy.context.scene.session_uid == before:
            _refuse_newer(file)
            raise UsageError(str(error).strip().splitlines()[-1].removeprefix("Error: ")) from error


def _refuse_newer(file: str) -> None:
    """Raise UsageError for a file of a Blender that this one cannot read, which Blender calls no blend file."""
    version = saved_by(file) or (0, 0)
    if version > bpy.app.version[:2]:
        raise UsageError(_needs_newer(f"{version[0]}.{version[1]}", version_of(bpy.app)))


def _needs_newer(version: str, own: str) -> str:
    return (
        f"the file was saved by Blender {version}, and Blender {own} cannot read it: check it with {version} or newer"
    )


def libraries() -> list[dict[str, str | None]]:
    """Return the libraries that the open file uses, and those that they use: the path of each, the SHA-256 of its
    bytes, None where it cannot be read, and the version that has saved it. What is packed into the file is part of it.
    """
    found: dict[str, tuple[str | None, str | None]] = {}
    for library in bpy.data.libraries:
        if library.packed_file is not None:
            continue
        path = os.path.realpath(bpy.path.abspath(library.filepath))  # relative to the open file, whoever uses it
        if path not in found:
            try:
                found[path] = _sha256(path), None if library.is_missing else version_of(library)
            except OSError:
                found[path] = None, None
    return [{"path": path, "sha256": sha256, "saved_with": saved} for path, (sha256, saved) in sorted(found.items())]
