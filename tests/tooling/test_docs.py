# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents and the code agree."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_command_of_the_documents_is_run_by_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    run = set(re.findall(r"python3 build\.py (\w+)", script))
    for name in ("README.md", "CONTRIBUTING.md"):
        commands = set(re.findall(r"python3 build\.py (\w+)", (ROOT / name).read_text(encoding="utf-8")))
        assert commands - {"bench"} <= run, name
    for option in ("", " --core", " --slow", " --gui"):
        assert f"python3 build.py test{option}" in script


def test_every_source_that_a_docstring_names_can_be_looked_up() -> None:
    listed = set(re.findall(r"^\| (S\d(?:\.\d)?) \|", (ROOT / "docs" / "sources.md").read_text(encoding="utf-8"), re.M))
    named = set()
    for folder in ("core", "blender_addon"):
        for path in (ROOT / folder).rglob("*.py"):
            named |= set(re.findall(r"\bS[0-4](?:\.\d)?\b", path.read_text(encoding="utf-8")))
    assert len(listed) == 35
    assert named <= listed


def test_every_file_that_a_document_links_to_exists() -> None:
    for document in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
