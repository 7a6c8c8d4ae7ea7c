# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of a scene check as a program reads them, from the sidebar and from the command line."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import bpy

from ..schemas import read_json, read_junit
from .scenes import lens

KINDS = {"json": "json", "csv": "csv", "html": "html", "junit": "xml"}
"""The endings of files, by the options that write them."""
SAVED = ("json", "csv", "html")
"""What the sidebar saves."""


class Cells(HTMLParser):
    """The rows of the page's tables as text, each block of a cell on a line, and the tags it has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True
        elif tag in ("div", "p", "br") and self._in_cell and self.rows[-1][-1]:
            self.rows[-1][-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


def pair_report() -> Any:
    """The report of the inspected pair, as JSON has it."""
    pair = lens.report.pair
    return read_json(pair.to_json(lens.operators.pair_operators.report_of(bpy.context)))


def table_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def load_report(path: Path) -> Any:
    """What is in a file: a JSON document, rows of a CSV table as dictionaries, cells of a page, or suites of JUnit XML.

    JSON and XML are validated.
    """
    load = {".json": read_json, ".csv": table_of, ".html": Cells, ".xml": read_junit}[path.suffix]
    return load(path.read_text(encoding="utf-8"))  # type: ignore[operator]


def save_report(path: Path, **options: Any) -> Any:
    """Save the report from the sidebar and load it."""
    kind = path.suffix[1:].upper()
    assert bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind=kind, **options) == {"FINISHED"}
    return load_report(path)


def outputs(folder: Path) -> tuple[dict[str, Path], list[object]]:
    """A path for each kind of report, and the options that ask for them without pictures."""
    paths = {kind: folder / f"out.{ending}" for kind, ending in KINDS.items()}
    return paths, ["--pictures", 0, *(word for kind, path in paths.items() for word in (f"--{kind}", path))]


def run(*arguments: object) -> int:
    code = lens.command_line.main([str(argument) for argument in arguments], "contact_lens")
    assert isinstance(code, int)
    return code


def run_json(file: Path, *arguments: object) -> tuple[int, Any]:
    """Check a scene; return the exit code and the document of the JSON report, which is beside the scene."""
    path = file.parent / "out.json"
    return run(file, *arguments, "--json", path, "--quiet"), load_report(path)
