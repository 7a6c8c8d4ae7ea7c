# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of many pairs at once: batches of boxes and of convex polytopes.

The engine is imported when `convex_pairs` is first used: importing `contact_lens.core` stays fast.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import convex_pairs as convex_pairs


def __getattr__(name: str) -> ModuleType:
    """Return the module of the engine."""
    if name != "convex_pairs":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
