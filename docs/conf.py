# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx settings: the markdown documents, and an API reference of all that `contact_lens.core` exports."""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "tooling" / "checkout"))  # `contact_lens` is this checkout

from sphinx.ext.napoleon import Config, GoogleDocstring  # noqa: E402
from sphinx.util.inspect import TypeAliasForwardRef  # noqa: E402

from contact_lens import core  # noqa: E402

project = "Contact Lens"
author = "Contact Lens contributors"
copyright = "2026, Contact Lens contributors"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["images", "learn"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links out of docs/, to files of the repository
html_theme = "alabaster"
html_static_path: list[str] = []
html_show_copyright = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "FloatArray", "IntArray", "BoolArray")}
maximum_signature_line_length = 100
autodoc_class_signature = "mixed"
default_role = "code"

TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # else that class stands around the name in signatures

DIRECTIVES = {"class": "autoclass", "function": "autofunction", "data": "autodata"}


def kind_of(value: object) -> str:
    return "class" if inspect.isclass(value) else "function" if inspect.isroutine(value) else "data"


def class_options(cls: type) -> list[str]:
    """Return the options of a class: members of a base are shown with that base if it is exported, else here."""
    exported = {getattr(core, name) for name in core.__all__ if inspect.isclass(getattr(core, name))}
    own_page = [
        base.__name__ for base in cls.__mro__[1:] if base in exported or base.__module__ in ("builtins", "enum")
    ]
    return [":members:", ":show-inheritance:", f":inherited-members: {', '.join(own_page)}"]


def api_reference() -> str:
    """Return the directives for every exported name, under a heading for each folder of `core`."""
    folders: dict[str, list[str]] = {}
    for name in sorted(core.__all__, key=str.lower):
        value = getattr(core, name)
        module = getattr(value, "__module__", "")
        folder = module.removeprefix("contact_lens.core.").partition(".")[0] if module.count(".") > 2 else "core"
        folders.setdefault(folder, []).append(name)
    lines: list[str] = []
    for folder, names in sorted(folders.items(), key=lambda item: (item[0] != "core", item[0])):
        lines += [f"## {folder.replace('_', ' ').capitalize()}", ""]
        for name in names:
            kind = kind_of(getattr(core, name))
            options = class_options(getattr(core, name)) if kind == "class" else []
            lines += [f"### `{name}`", "", "```{eval-rst}", f".. {DIRECTIVES[kind]}:: contact_lens.core.{name}"]
            lines += [f"   {option}" for option in options]
            lines += ["```", ""]
    return "\n".join(lines)


def insert_api(app: Any, document: str, source: list[str]) -> None:
    source[0] = source[0].replace("{{ api }}", api_reference())


def escaped(line: str) -> str:
    """Escape what has a meaning to Sphinx: docstrings are plain text with code between backticks, and lists."""
    bullet, text = re.fullmatch(r"(\s*(?:[*-] )?)(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
    parts = re.split(r"(`+[^`]+`+)", text)
    return bullet + "".join(part if part.startswith("`") else re.sub(r"([*|_`])", r"\\\1", part) for part in parts)


def convert_docstring(app: Any, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText. Doctests stay as they are."""
    paragraphs = "\n".join(lines).split("\n\n")
    text = "\n\n".join(
        paragraph if paragraph.lstrip().startswith(">>>") else escaped_paragraph(paragraph) for paragraph in paragraphs
    )
    lines[:] = text.split("\n")
    if what not in (
        "attribute",
        "data",
        "property",
        "type",
    ):  # where a colon in the first line would be taken for a type
        lines[:] = GoogleDocstring(lines, Config(), None, what, name, value, options).lines()


def escaped_paragraph(paragraph: str) -> str:
    """Code between backticks may go over the end of a line: it is put on one."""
    joined = re.sub(r"`[^`]+`", lambda code: re.sub(r"\s*\n\s*", " ", code[0]), paragraph)
    return "\n".join(escaped(line) for line in joined.split("\n"))


def setup(app: Any) -> None:
    app.connect("source-read", insert_api)
    app.connect("autodoc-process-docstring", convert_docstring)
