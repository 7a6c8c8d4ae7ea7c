# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents and the code agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ("core", "blender_addon", "benchmarks", "docs", "tests")
PATH = re.compile(r"`((?:\w+/)*\w+\.py)`")


def test_every_command_of_the_documents_is_run_by_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    run = set(re.findall(r"python3 build\.py (\w+)", script))
    for name in ("README.md", "CONTRIBUTING.md"):
        commands = set(re.findall(r"python3 build\.py (\w+)", (ROOT / name).read_text(encoding="utf-8")))
        assert commands - {"bench"} <= run, name
    for option in ("", " --core", " --slow", " --gui"):
        assert f"python3 build.py test{option}" in script


def test_the_code_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), {})
    assert "penetrating" in capsys.readouterr().out


def test_every_source_that_a_docstring_names_can_be_looked_up() -> None:
    listed = set(re.findall(r"^\| (S\d(?:\.\d)?) \|", sources(), re.M))
    assert len(listed) == 35
    assert sources_named() <= listed


def test_every_source_that_was_taken_is_named_where_it_is_implemented() -> None:
    parts = dict(re.findall(r"^\| (S\d\.\d) \| .*? \| (.*?) \|$", sources(), re.M))
    assert len(parts) == 30
    assert {part for part, taken in parts.items() if not taken.startswith("Nothing yet")} == {
        name for name in sources_named() if "." in name
    }


def sources() -> str:
    return (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")


def sources_named() -> set[str]:
    """Return the sources that the code names, of "S0.3 to S0.5" the one between too."""
    named = set()
    for folder in ("core", "blender_addon"):
        for path in (ROOT / folder).rglob("*.py"):
            text = " ".join(path.read_text(encoding="utf-8").split())
            named |= set(re.findall(r"\bS[0-4](?:\.\d)?\b", text))
            for article, first, last in re.findall(r"\b(S\d)\.(\d) to S\d\.(\d)", text):
                named |= {f"{article}.{part}" for part in range(int(first), int(last) + 1)}
    return named


def test_every_file_and_heading_that_a_document_links_to_exists() -> None:
    for document in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for link, name in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", document.read_text(encoding="utf-8")):
            target = document.parent / link if link else document
            assert target.exists(), f"{document.name}: {link}"
            assert not name or name in anchors(target), f"{document.name}: {link}#{name}"


def anchors(document: Path) -> set[str]:
    """Return the names of the headings of a document, as GitHub makes them, or the ids of a page."""
    text = document.read_text(encoding="utf-8")
    if document.suffix == ".html":
        return set(re.findall(r' id="([^"]*)"', text))
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M)}


def test_every_module_that_a_document_or_the_code_names_by_its_path_exists() -> None:
    paths = [*ROOT.glob("*.py"), *(path for folder in PYTHON for path in (ROOT / folder).rglob("*.py"))]
    modules = [path.relative_to(ROOT) for path in paths]
    known = {"/".join(path.parts[k:]) for path in modules for k in range(len(path.parts))}
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *paths]
    named = {(path.name, name) for path in documents for name in PATH.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 50
    assert [(document, name) for document, name in sorted(named) if name not in known] == []


def test_every_name_of_the_code_that_the_chapters_give_is_in_the_engine() -> None:
    words = {word for path in (ROOT / "core").rglob("*.py") for word in re.findall(r"\w+", path.read_text("utf-8"))}
    for document in (ROOT / "docs" / "engine.md", *(ROOT / "docs" / "learn").glob("*.md")):
        names = re.findall(r"`(_?\w+(?:\.\w+)*)`", PATH.sub("", document.read_text(encoding="utf-8")))
        unknown = [name for name in names if not words.issuperset(name.split("."))]
        assert set(unknown) <= {"contact_lens.core", "index.html"}, document.name


def imports(path: Path, package: str) -> Iterator[str]:
    """Yield the parts of a package, folders or files, from which one of its files imports when it is loaded."""
    tree, folders = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).parent.parts
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    left_out = {id(inner) for node in for_types for part in node.body for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in left_out:
            origin = (*folders[: len(folders) - node.level + 1], *(node.module or "").split("."))
            for name in node.names:
                parts = [part for part in (*origin, name.name) if part]
                if parts[0] == package:
                    yield parts[1]


@pytest.mark.parametrize("package", ["core", "blender_addon"])
def test_imports_run_down_in_the_order_of_the_layers(package: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Layers")[1]
    (line,) = re.findall(rf"\* `{package}`: (.*?)(?=\.\n|\n\*)", text, re.S)
    groups = [re.findall(r"\w+", group) for group in re.sub(r"\(.*?\)", "", line).split("<")]
    level = {name: k for k, group in enumerate(groups) for name in group}
    for path in (ROOT / package).rglob("*.py"):
        part = path.relative_to(ROOT / package).parts[0].removesuffix(".py")
        if part in level:
            for origin in imports(path, package):
                assert level[origin] < level[part] or origin == part or level[origin] == 0, f"{path}: {origin}"
        else:
            assert part in {"__init__", "command_line", "registration"}, f"{path}: in no layer"


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports of its own package: late ones and those for types, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in node.names:
                found = [
                    base / f"{name.name}.py",
                    base / name.name / "__init__.py",
                    base.with_suffix(".py"),
                    base / "__init__.py",
                ]
                yield str(next(file for file in found if file.exists()))


@pytest.mark.parametrize("package", ["core", "blender_addon"])
def test_no_imports_run_in_a_circle(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    TopologicalSorter({str(path): {*imported_modules(path)} - {str(path)} for path in files}).prepare()


def test_imports_of_the_engine_inside_of_functions_are_those_that_the_document_lists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"these files import in the functions that need it:\n(.*?)\.\n", text, re.S)
    late = {
        path.relative_to(ROOT / "core").as_posix()
        for path in (ROOT / "core").rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert late == set(re.findall(r"`(.*?)`", listed))


def test_each_room_of_the_addon_has_a_dozen_files_at_most_and_says_what_is_in_it() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for path in (ROOT / "blender_addon").glob("*/__init__.py"):
        assert len(list(path.parent.glob("*.py"))) <= 12 + 1, path.parent.name
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert f"| `{path.parent.name}` | {docstring} |\n" in text


def test_each_field_of_a_trace_is_described() -> None:
    tree = ast.parse((ROOT / "core" / "trace.py").read_text(encoding="utf-8"))
    for record in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for field, following in zip(record.body, [*record.body[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign) and "ClassVar" not in ast.unparse(field.annotation):
                is_described = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
                assert is_described, f"{record.name}.{ast.unparse(field.target)}"
