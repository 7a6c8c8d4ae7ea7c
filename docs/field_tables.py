# SPDX-License-Identifier: GPL-3.0-or-later
"""Write tables of the code into the documents, as `build.py docs` does: the fields of a clash into docs/report.md and
the JSON Schema of scene reports, the solvers of kinds of shapes into docs/architecture.md.

With `--check` nothing is written, and the exit code is 1 where a file is not as it would be. Standard library only.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
TABLE = DOCS / "report.md"
SOLVERS = DOCS / "architecture.md"
SCHEMA = DOCS / "schemas" / "scene-report.schema.json"
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_PROPERTIES = re.compile(r'(?<=    "finding": \{\n).*?"properties": \{\n(.*?)\n      \}', re.DOTALL)


def with_rows(text: str, name: str, rows: list[str]) -> str:
    """Return the page with these rows between the marks of a table."""
    begin, end = f"<!-- {name}: `build.py docs` writes this table -->\n", f"<!-- end of {name} -->\n"
    before, _, after = text.partition(begin)
    return f"{before}{begin}\n{chr(10).join(rows)}\n\n{end}{after.partition(end)[2]}"


def with_solvers(text: str, calls: tuple[Any, ...]) -> str:
    """Return the page with its table of solvers, of the calls that make them."""
    rows = [f"| {call.args[0].value} | {call.args[-1].value} |" for call in calls]
    return with_rows(text, "solvers", ["| kind | solver |", "| --- | --- |", *rows])


def with_table(text: str, fields: tuple[Any, ...]) -> str:
    """Return the page with its table of fields, those with the same sentence in one row."""
    rows = ["| field | kind | |", "| --- | --- | --- |"]
    for (sentence, kind), group in itertools.groupby(fields, lambda field: (field.text, field.kind.name)):
        rows.append(f"| {', '.join(f'`{field.name}`' for field in group)} | {kind} | {sentence} |")
    return with_rows(text, "fields", rows)


def with_properties(text: str, fields: tuple[Any, ...]) -> str:
    """Return the schema with the fields of a finding, a line each; a new one follows the one before it in the table."""
    found = _PROPERTIES.search(text)
    assert found is not None
    lines = {line.split('"')[1]: line.rstrip(",") for line in found[1].splitlines()}
    names, before = list(lines), -1
    for field in fields:
        sentence = _LINK.sub(r"\1", field.text)
        schema = {**field.schema, "description": f"{sentence[0].upper()}{sentence[1:]}."}
        lines[field.name] = f"        {json.dumps(field.name)}: {json.dumps(schema, ensure_ascii=False)}"
        if field.name not in names:
            names.insert(before + 1, field.name)
        before = names.index(field.name)
    return f"{text[: found.start(1)]}{f',{chr(10)}'.join(lines[name] for name in names)}{text[found.end(1) :]}"


def main(arguments: list[str]) -> int:
    fields = runpy.run_path(str(DOCS.parent / "blender_addon" / "scene" / "fields.py"))["FIELDS"]
    tree = ast.parse((DOCS.parent / "core" / "contact.py").read_text(encoding="utf-8"))  # which needs numpy to run
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    solvers = tuple(call for call in calls if call.func.id == "Solver")
    old = []
    for path, turn, records in (
        (TABLE, with_table, fields),
        (SCHEMA, with_properties, fields),
        (SOLVERS, with_solvers, solvers),
    ):
        text = path.read_text(encoding="utf-8")
        if (new := turn(text, records)) != text:
            old.append(path)
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8", newline="\n")
    if "--check" in arguments and old:
        print(*(f"{path} is not as the code has it: run `python3 build.py docs`" for path in old), sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
