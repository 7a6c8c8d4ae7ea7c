# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a report, and its pictures: `python3 build.py bench -- --only report --before PATH`.

Pages of many clashes are opened, sorted and searched in a headless Chromium, until they are drawn; the pictures are of
Blender's primitives and of 20 frames, in seconds of the processor. All in turn with the checkout that --before names.
report_in_blender.py is the part that runs in Blender.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.browser import KINDS, Page, browser, browsers

from .in_blender import ROOT, measure_in_blender
from .table import Against, Row, print_table, show

COUNTS = (1000, 10_000, 30_000)
GOALS = {
    (10_000, "load"): ", at most 1 s",
    (10_000, "sort by name"): ", at most 0.5 s",
    (10_000, "filter"): ", at most 0.2 s",
}
PICTURES = 20
HERE = "report_in_blender"
STEPS = {
    "sort by name": ("th:nth-child(1) button", "it.click()"),
    "sort by distance": ("th.n button", "it.click()"),
    "search": ("input.search", "it.value = 'brick 1.1'; it.dispatchEvent(new Event('input'))"),
    "filter": (".chips button", "document.querySelector('input.search').value = ''; it.click()"),
    "group": ("button.grouping", "it.click()"),
}
"""What is done with a page: what with, which pages of earlier versions may not have, and the JavaScript."""


def main(quick: bool = False) -> None:
    """Print the tables."""
    before = os.environ.get("CONTACT_LENS_BEFORE")
    checkouts = [*([Path(before)] if before else []), ROOT]
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        names = (name for kind in browsers() for name in KINDS.get(kind, (kind,)))
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            print("Pages are left out: there is no Chromium to open them with.")
        else:
            _show_pages(program, checkouts, COUNTS[:1] if quick else COUNTS, 1 if quick else 3, Path(folder))
        _show_pictures(checkouts, Path(folder))
        _show_frames(checkouts, Path(folder))


def _show_pages(program: str, checkouts: list[Path], counts: tuple[int, ...], rounds: int, folder: Path) -> None:
    paths = {(k, count): folder / f"{count}_{k}.html" for k in range(len(checkouts)) for count in counts}
    written: dict[tuple[int, int], float] = {}
    for k, checkout in enumerate(checkouts):
        found = measure_in_blender(HERE, [[n, str(paths[k, n])] for n in counts], "page", checkout)
        if found is None:
            return
        written.update({(k, n): seconds for n, seconds in zip(counts, found, strict=True)})
    rows, lines = [], [["clashes", "file", "nodes of the document", "heap of the script"]]
    for count in counts:
        spent: list[dict[str, list[float]]] = [{} for _ in checkouts]
        for _ in range(rounds):
            for k in range(len(checkouts)):
                for name, value in _measure_page(program, paths[k, count]):
                    spent[k].setdefault(name, []).append(value)
        medians = [{name: median(values) for name, values in times.items()} for times in spent]
        for k, times in enumerate(medians):
            times["text"] = written[k, count]
        for name in ("text", "load", *STEPS):
            peers = {"before": Against(medians[0].get(name), medians[-1][name])} if len(checkouts) > 1 else {}
            goal = GOALS.get((count, name), "")
            rows.append(Row(f"{count:,} clashes: {name}{goal}", medians[-1][name], peers))
        for k, times in enumerate(medians):
            size = paths[k, count].stat().st_size / 1e6
            title = f"{count:,}{' before' if k < len(checkouts) - 1 else ''}"
            lines.append([title, f"{size:.1f} MB", f"{times['nodes']:,.0f}", f"{times['heap'] / 1e6:.1f} MB"])
    show(rows)
    print_table(lines)


def _measure_page(program: str, path: Path) -> Iterator[tuple[str, float]]:
    """Yield the seconds of each step that the page answers in time, and what it is made of once it is open."""
    with browser(program) as page:
        try:
            page.open(path)
            yield "load", page.drawn() / 1e3
            yield from _contents(page)
            for name, (selector, step) in STEPS.items():
                if not page.value(f"(it = document.querySelector('{selector}')) !== null"):
                    continue
                start = page.value("performance.now()")
                page.value(step)
                yield name, (page.drawn() - start) / 1e3
        except AssertionError as error:
            if "does not" not in str(error):
                raise


def _contents(page: Page) -> Iterator[tuple[str, float]]:
    page.command("Performance.enable")
    metrics = {entry["name"]: entry["value"] for entry in page.command("Performance.getMetrics")["metrics"]}
    yield "nodes", metrics["Nodes"]
    yield "heap", metrics["JSHeapUsedSize"]


def _show_pictures(checkouts: list[Path], folder: Path) -> None:
    path = str(folder / "primitives.blend")
    if measure_in_blender("scenes_in_blender", [["primitives", path]], "save") is None:
        return
    found = [
        (measure_in_blender(HERE, [[path, PICTURES]], "pictures", checkout) or [None])[0] for checkout in checkouts
    ]
    for one in found:
        if not isinstance(one, dict):
            print(f"Pictures are left out: {one}")
            return
    ours, count = found[-1], found[-1]["count"]
    rows = []
    for key, title in (("saved", f"page with {count} pictures saved"), ("drawn", f"{count} pictures drawn")):
        peers = {"before": Against(found[0][key], ours[key])} if len(found) > 1 else {}
        rows.append(Row(title, ours[key], peers, {"before": 4.0} if peers and key == "saved" else {}))
    show(rows)


def _show_frames(checkouts: list[Path], folder: Path) -> None:
    path = str(folder / "pairs.blend")
    if measure_in_blender("scenes_in_blender", [["moving_pairs", path]], "save") is None:
        return
    found = [(measure_in_blender(HERE, [[path, PICTURES]], "frames", checkout) or [None])[0] for checkout in checkouts]
    for one in found:
        if not isinstance(one, dict):
            print(f"Pictures of frames are left out: {one}")
            return
    ours, least = found[-1], f"without, and {PICTURES} pictures"
    peers = {least: Against(ours["least"], ours["spent"])}
    if len(found) > 1:
        peers["before"] = Against(found[0]["spent"], ours["spent"])
    show([Row("200 objects at 20 frames, page with pictures", ours["spent"], peers, {least: 1.0})])
    sizes = [[f"{one['count']} pictures", f"{one['size'] / 1e6:.1f} MB"] for one in found]
    print_table([["page", "size"], *sizes])
