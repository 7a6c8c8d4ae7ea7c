# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are opened to be checked: their bytes, and the libraries that they use."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import bpy

from ..data import messages
from ..read.faults import version_of
from .outcome import UsageError


def why_missing(file: str) -> str:
    return messages.FOLDER if Path(file).is_dir() else messages.NO_FILE


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
    with open(file, "rb") as stream:
        header = re.match(rb"BLENDER\d\d-\d\dv(\d\d)(\d\d)", stream.read(17))  # from 5.0 on
    version = (int(header[1]), int(header[2])) if header else (0, 0)
    if version > bpy.app.version[:2]:
        raise UsageError(messages.needs_newer(f"{version[0]}.{version[1]}", version_of(bpy.app)))


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
