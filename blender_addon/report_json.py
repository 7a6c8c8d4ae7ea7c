# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as JSON: all numbers in full, in the scene's unit. docs/report.md describes it."""

from __future__ import annotations

import json
import math
from typing import Any

from .report_units import in_scene_units

PICTURES = frozenset({"picture", "no_picture", "pictures"})
"""What only the page for the browser has."""


def to_json(document: dict[str, Any]) -> str:
    """Return the document as JSON text. The same checks give the same text: it holds no times."""
    return json.dumps(_plain(in_scene_units(document)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """`value` without pictures; what is not finite becomes None."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items() if key not in PICTURES}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
