# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything a user can read uses the words of the field: CONTRIBUTING.md has the list.

Read are the strings of the product and of build.py that `user_strings` finds (labels, tooltips, messages, errors,
reports, help), and the documents.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .user_strings import files as files_with_strings
from .user_strings import main, user_strings

ROOT = Path(__file__).resolve().parents[2]

WORDS = {
    r"told|tells?|telling": "report, result",
    r"(?<!-)ways?": "direction",
    r"dent(s|ed)?": "concavity, non-convex",
    r"holds? (the|a|an|its|their|all|files|what|which|nothing|it)": "contains",
    r"a person|somebody|nobody": "the user",
    r"g[ai]ve[sn]? up|giving up": "cancel, stop",
    r"stands? back": "is faded",
    r"(?<!here )(is|are|was|were) (none|no (?!longer|more|less|fewer|other)\w+)": "is not a ...",
    r"what (is|has|was) (no|not|none)": "a noun",
    r"why not": "reason",
    r"share (of|done)|shares of": "fraction",
    r"go(es)? on": "is running, continues",
    r"shall": "must",
    r"look(s|ed)? at anew|ma[dk]e anew|made anew": "again, update",
}
"""Private words and phrases, each with what to write instead."""
ANY_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of all that a user can read in a file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from ((found.line, found.template) for found in user_strings(source))
    else:
        prose = re.sub(r"```.*?```|`[^`\n]*`", lambda code: "\n" * code[0].count("\n"), source, flags=re.DOTALL)
        yield from enumerate(prose.splitlines(), 1)


def private_words(text: str) -> list[str]:
    """Return what is wrong with a text."""
    if not ANY_WORD.search(text):
        return []
    found = {better: re.search(rf"\b(?:{word})\b", text, re.IGNORECASE) for word, better in WORDS.items()}
    return [f"{match[0]!r}; write {better}" for better, match in found.items() if match]


def findings(path: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: in {text.strip()[:100]!r}: {found}"
        for line, text in texts(path)
        for found in private_words(text)
    ]


def files() -> list[Path]:
    documents = [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "blender_manifest.toml",
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "docs" / "learn" / "players.py",
    ]
    return sorted([*files_with_strings(ROOT), ROOT / "build.py", *documents])


def test_no_private_words_in_what_users_read() -> None:
    assert not [finding for path in files() for finding in findings(path)]


def test_private_words_are_found_and_code_is_not_read() -> None:
    source = '"""It is told."""\nlabel = "Pairs are told too"\nkey = "told"\nfield = told(f"{a} is no mesh")\n'
    assert [found.template for found in user_strings(source)] == ["Pairs are told too", "{} is no mesh"]
    for text in ("The other way", "Pairs are told too", "It is no mesh", "what is not closed", "It holds the names"):
        assert private_words(text), text
    for text in ("half-way", "always", "It is no longer there", "share a mesh", "students", "every check holds"):
        assert not private_words(text), text


def test_names_of_classes_are_unique_in_the_product() -> None:
    found: dict[str, list[str]] = {}
    for path in files():
        if path.suffix == ".py":
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert len(found) > 300
    assert not {name: paths for name, paths in found.items() if len(paths) > 1}


def test_the_table_of_strings_has_a_place_a_kind_and_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """class A:
    \'\'\'A docstring.\'\'\'
    bl_label = "Check"
    size: IntProperty(name="Size", description="In one\\nline", options={"HIDDEN"})
def complain(names):
    option("--size", help=f"of {names[0]!r} in {len(names):,} files")
    raise ValueError(f"no {f'scene of {names}' if names else 'scene'} is open")
CODE = \'\'\'
void main() { return; }\'\'\'
"""
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text(source, encoding="utf-8")
    main(tmp_path)
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == [
        ["core/a.py:3", "label", "Check"],
        ["core/a.py:4", "label", "Size"],
        ["core/a.py:4", "tooltip", "In one\\nline"],
        ["core/a.py:6", "help", "of {names[0]!r} in {len(names):,} files"],
        ["core/a.py:7", "error", "scene of {names}"],
        ["core/a.py:7", "error", "no {f'scene of {names}' if names else 'scene'} is open"],
    ]


def variables(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each variable and parameter that a source binds."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_variables_are_named_by_what_they_are() -> None:
    vague = {"some", "rest", "here", "at"}
    source = "def f(some): return [at for at in some]\nfirst, *rest = 1, 2\nhere: int = 3\n"
    assert {name for _, name in variables(source)} == {*vague, "first"}
    product = [path for path in files() if path.suffix == ".py"]
    found = {
        path: [entry for entry in variables(path.read_text(encoding="utf-8")) if entry[1] in vague] for path in product
    }
    assert not {str(path.relative_to(ROOT)): entries for path, entries in found.items() if entries}
