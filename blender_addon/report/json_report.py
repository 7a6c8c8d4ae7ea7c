# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as JSON: all numbers in full, in the scene's unit. docs/report.md describes it."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ..frames.over_frames import HIDDEN
from ..scene.clash_rows import SERIES

PICTURES = frozenset({"picture", "no_picture", "pictures"})
"""What only the page for the browser has."""


SCHEMA = "contact-lens-scene-report"
BEGINNING = f'{{\n  "schema": "{SCHEMA}"'
"""How a document begins."""
LINE_BEGINNING = f'{{"schema": "{SCHEMA}"'
"""How a line of a partial report does."""
_ESCAPED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may have as it is, and a terminal, an editor or UTF-8 may not: each a single code unit."""


def json_parts(document: dict[str, Any]) -> Iterator[str]:
    """Yield a document as JSON text, row by row, a line each. The same checks give the same text: it holds no times."""
    yield from _parts(document, indent=2)
    yield "\n"


def line_parts(document: dict[str, Any]) -> Iterator[str]:
    """Yield a document as JSON text in one line, without its end."""
    yield from _parts(document, indent=None)


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with a digest of itself in its part, if it is one."""
    part = document["part"]
    return document if part is None else {**document, "part": {**part, "sha256": _digest(document)}}


def is_sealed(document: dict[str, Any]) -> bool:
    """Return whether a part, as read from JSON, is as it was sealed."""
    try:
        return bool(document["part"]["sha256"] == _digest(document))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False  # it is not even a document


def _digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of what a part says, whatever its JSON is laid out like."""
    found = hashlib.sha256()
    for text in _parts({**document, "part": {**document["part"], "sha256": None}}, indent=None):
        found.update(text.encode())
    return found.hexdigest()


def _parts(document: dict[str, Any], indent: int | None) -> Iterator[str]:
    """Yield a document whose last keys are `over_frames` and `checks`."""

    def before(data: dict[str, Any], key: str, depth: int) -> str:
        """Return data as text that breaks off where the list of another, last key begins."""
        text = json_text(plain({**data, key: []}), indent)
        return text[: text.rindex("[") + 1].replace("\n", line(depth)) if indent else text[:-2]

    def line(depth: int) -> str:
        """Return the end of a line and the beginning of the next one."""
        return "\n" + " " * (depth * indent) if indent else ""

    def listed(records: Sequence[dict[str, Any]], key: str, without: Collection[str] = ()) -> Iterator[str]:
        """Yield records and the end of their list; key: of the rows of each, a line each; without: keys left out."""
        for number, record in enumerate(records):
            head = {name: value for name, value in record.items() if name not in (key, *without)}
            yield f"{comma if number else ''}{line(2)}{before(head, key, 2)}"
            for k, row in enumerate(record[key]):
                yield f"{comma if k else ''}{line(4)}{row_text(row)}"
            yield f"{line(3) if record[key] else ''}]{line(2)}}}"
        yield f"{line(1) if records else ''}]"

    comma = "," if indent else ", "
    head = {name: value for name, value in document.items() if name not in ("over_frames", "checks")}
    if document["over_frames"] is None:
        yield before({**head, "over_frames": None}, "checks", 0)
    else:
        yield before(head, "over_frames", 0)
        yield from listed(document["over_frames"], "clashes")
        yield f',{line(1) or " "}"checks": ['
    yield from listed(document["checks"], "findings", (HIDDEN, SERIES) if document["part"] is None else ())
    yield f"{line(0)}}}"


def row_text(row: dict[str, Any]) -> str:
    """Return a row as JSON text in one line."""
    return json_text({key: value for key, value in row.items() if key not in PICTURES}, indent=None)


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
