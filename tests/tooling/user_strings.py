# SPDX-License-Identifier: GPL-3.0-or-later
"""Every string that a user can read, as a table: its place, its kind and its text. `build.py words` prints it.

Read are the string constants and f-strings of the product that have a space or are one capitalized word, without
docstrings and code of other languages. An f-string is one text, with its values in braces.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("blender_addon", "core")
PROGRAMS = ("__init__.py", "__main__.py", "demo/run.py")
KINDS = {
    "help": "help",
    "bl_label": "label",
    "name": "label",
    "text": "label",
    "bl_description": "tooltip",
    "description": "tooltip",
}
"""What the string of a keyword argument, or of a name that is assigned to, is for; of others it is a message."""
CAPITALIZED = re.compile(r"[A-Z][a-z]+(-[A-Za-z]+)?|[AB]")


class UserString(NamedTuple):
    line: int
    kind: str
    text: str
    template: str
    """The text with nothing in the braces, by which two versions are compared."""


def files(root: Path) -> list[Path]:
    """Return the files of a checkout that have strings for users."""
    return sorted(
        [
            *(path for name in FOLDERS for path in (root / name).rglob("*.py")),
            *(path for name in PROGRAMS if (path := root / name).exists()),
        ]
    )


def strings(source: str) -> Iterator[UserString]:
    """Yield all string constants and f-strings of a file that are not docstrings."""
    yield from _strings(ast.parse(source), "message")


def user_strings(source: str) -> Iterator[UserString]:
    """Yield the strings of a file that a user can read."""
    for found in strings(source):
        is_code = found.template.startswith("\n")
        if CAPITALIZED.fullmatch(found.text) or (" " in found.template.strip() and not is_code):
            yield found


def _strings(node: ast.AST, kind: str) -> Iterator[UserString]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield UserString(node.lineno, kind, node.value, node.value)
        return
    if isinstance(node, ast.JoinedStr):
        text = template = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                text += f"{{{ast.unparse(part.value)}{_format(part)}}}"
                template += f"{{{_format(part)}}}"
                yield from _strings(part.value, kind)
            else:
                text += part.value
                template += part.value
        yield UserString(node.lineno, kind, text, template)
        return
    for child in ast.iter_child_nodes(node):
        yield from _strings(child, _kind(node, child, kind))


def _kind(node: ast.AST, child: ast.AST, kind: str) -> str:
    """Return for what the strings of a part of a node are; kind: that of the node."""
    if isinstance(node, ast.Raise):
        return "error"
    if isinstance(node, ast.keyword):
        return KINDS.get(node.arg or "", kind)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and child is node.value:
        return KINDS.get(node.targets[0].id, kind)
    return "message" if isinstance(node, ast.Call) and kind != "error" else kind


def _format(value: ast.FormattedValue) -> str:
    conversion = f"!{chr(value.conversion)}" if value.conversion > 0 else ""
    return conversion + (f":{ast.unparse(value.format_spec)[2:-1]}" if value.format_spec else "")


def main(root: Path) -> None:
    for path in files(root):
        for found in user_strings(path.read_text(encoding="utf-8")):
            text = found.text.replace("\n", "\\n").replace("\t", "\\t")
            print(f"{path.relative_to(root).as_posix()}:{found.line}", found.kind, text, sep="\t")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main(Path(sys.argv[1]))
