# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a check searches the depths of compounds and meshes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NONE, FIRST, EXACT = DEPTHS = ("none", "first", "exact")
"""Not at all, for upper bounds, or until they are known."""
NOT_SEARCHED = "bounds_only"
"""The status of clashes whose depth was not searched."""


def depth_of(settings: Mapping[str, Any]) -> str:
    """Return how far depths were searched, by the settings of a check; those of version 0.2.0 have `exact`."""
    return str(settings.get("depth") or (EXACT if settings.get("exact") else FIRST))
