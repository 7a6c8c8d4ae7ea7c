# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that are imported when they are first used, so that importing `contact_lens.core` stays fast."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LateModule:
    """A module of the package that is imported when one of its names is first used."""

    def __init__(self, name: str, package: str | None) -> None:
        """Take a relative name such as ".meshes.mesh", and the `__package__` of the file that uses it."""
        self._name, self._package = name, package
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        """Return a name of the module."""
        if self._module is None:
            self._module = import_module(self._name, self._package)
        return getattr(self._module, name)
