# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as JSON: all numbers in full, in the scene's unit. docs/report.md describes it."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from .scene_units import in_scene_units

PICTURES = frozenset({"picture", "no_picture", "pictures"})
"""What only the page for the browser has."""


SCHEMA = "contact-lens-scene-report"
BEGINNING = f'{{\n  "schema": "{SCHEMA}"'
"""How a document begins."""
LINE_BEGINNING = f'{{"schema": "{SCHEMA}"'
"""How a line of a partial report does."""
_ESCAPED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may have as it is, and a terminal, an editor or UTF-8 may not: each a single code unit."""


def to_json(document: dict[str, Any]) -> str:
    """Return the document as JSON text. The same checks give the same text: it holds no times."""
    return json_text(plain(in_scene_units(document)), indent=2) + "\n"


def to_line(document: dict[str, Any]) -> str:
    """Return the document as JSON text in one line, without its end."""
    return json_text(plain(in_scene_units(document)), indent=None)


def json_text(value: Any, indent: int | None) -> str:
    """Return plain data as JSON text that any encoding of Unicode takes and no terminal obeys."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(value: Any) -> Any:
    """Return `value` as dict, list, str, int, float, bool and None; no pictures, None for what is not finite."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items() if key not in PICTURES}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, str) else value
