# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pages of the chapters, each of which needs nothing but itself, and check what they say.

  make.py                     docs/learn/CHAPTER.html of each CHAPTER.md and of the players in it
  make.py --pictures BROWSER  these and pictures/PLAYER.png of each player, for those who read the Markdown, and the
                              figures of docs/engine.md in docs/images/engine
  make.py --check             nothing: a page that is no longer what text and code give, an example that prints
                              something else, and a number that neither example nor player gives are errors

Needs numpy and markdown-it-py. `build.py learn` and `build.py check` run it.
"""

from __future__ import annotations

import argparse
import base64
import doctest
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from figures import FIGURES, TEXT
from players import PLAYERS, STILLS

from contact_lens.blender_addon.page.player_page import page, player_figure
from contact_lens.blender_addon.study.playable import Playable

HERE = Path(__file__).resolve().parent
MOST_BYTES = 300_000
"""Of a page."""
TOLERANCE = 2e-4
"""By which a coordinate may differ, relative to the size of its space: another numpy rounds otherwise."""
PICTURE_SIZE = 620, 520
"""Pixels, of each space of a player."""

PLAYER = r'<p><a href="{}\.html#(\w+)"><img src="pictures/\1\.png" alt="[^"]*" ?/?></a></p>'
"""The paragraph of a player in a chapter, as HTML."""
EXAMPLE = re.compile(r"^ *```pycon\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
DATA = re.compile(r'(?<=<script type="application/json">).*?(?=</script>)', re.DOTALL)
NO_PROSE = re.compile(
    r"^ *```.*?^ *```|`[^`]*`|^#.*?$|!?\[(?:[^][]|\[[^]]*\])*\]\([^)]*\)|^ *\d+\. ", re.MULTILINE | re.DOTALL
)
"""Code, headings, links and markers of lists."""
NUMBER = re.compile(r"(?<![a-zA-Z\d.])(?>(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)(?:e[+-]?\d+)?)(?!D\b|-DOP)")
"""As it is read; that of a source, of dimensions or of slabs (S0.3, 2D, 8-DOP) is a name."""
PRINTED = re.compile(r"\d+(?:\.\d*)?(?:e[+-]?\d+)?")

STYLE = """
body { max-width: 60rem; padding: 0 1rem 3rem; font-size: 1.05rem; line-height: 1.6; }
article > :not(figure, table, pre) { max-width: 36rem; } article > figure { margin: 1.2rem 0 1.6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 1rem 0 .8rem; } li { margin: .35rem 0; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.4rem 0 .6rem; } a { color: var(--accent); }
ol, ul { padding-left: 1.4rem; } nav { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; padding: 1rem 0; }
nav [rel="next"] { margin-left: auto; } article + nav { margin-top: 3rem; border-top: 1px solid var(--line); }
code, pre { font: .88em/1.5 ui-monospace, monospace; } code { overflow-wrap: anywhere; }
pre { padding: .8rem 1rem; overflow-x: auto; background: var(--soft); border-radius: 6px; }
pre code { overflow-wrap: normal; font-size: 1em; }
table { border-collapse: collapse; font-size: .95rem; line-height: 1.45; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .45rem 1.2rem .45rem 0; border-bottom: 1px solid var(--line); }
@media print { :root { font-size: 12px; } nav { display: none; } h2 { break-after: avoid; }
  pre { white-space: pre-wrap; } }
"""


# --- pages


def chapters(folder: Path = HERE) -> list[str]:
    """Return the names of the chapters in the order of the contents."""
    return re.findall(r"\]\(([\w-]+)\.md\)", _text("index", folder))


def html_of(markdown: str) -> str:
    from markdown_it import MarkdownIt  # the tests of what is checked have no need of it

    rendered: str = MarkdownIt("commonmark").enable("table").render(markdown)
    return rendered


def page_of(chapter: str, figures: Mapping[str, str], folder: Path = HERE) -> str:
    """Return the page of a chapter, or that of the contents; figures: of the players."""
    names = ["index", *chapters(folder)]
    titles = {name: _title(_text(name, folder)) for name in names}
    body = html_of(_text(chapter, folder))
    body = re.sub(PLAYER.format(chapter), lambda found: figures.get(found[1], found[0]), body)
    body = re.sub(
        r'<a href="(?!https?:)([^"]*)">(.*?)</a>', lambda found: _link(found[1], found[2], names), body, flags=re.S
    )
    body = re.sub(r"<h2>(.*?)</h2>", lambda found: f'<h2 id="{_anchor(found[1])}">{found[1]}</h2>', body)
    place, is_chapter = names.index(chapter), chapter != "index"
    around = [("contents", "Contents", "index")] if is_chapter else []
    around += [("prev", f"← {titles[names[place - 1]]}", names[place - 1])] if place > 1 else []
    around += [("next", f"{titles[name]} →", name) for name in names[place + 1 : place + 2]]
    links = "".join(f'<a rel="{rel}" href="{name}.html">{escape(words)}</a>' for rel, words, name in around)
    title = f"{titles[chapter]} - Learn Contact Lens" if is_chapter else titles[chapter]
    return page(title, f"<nav>{links}</nav>\n<article>\n{body}</article>\n<nav>{links}</nav>", STYLE)


def _text(chapter: str, folder: Path) -> str:
    return (folder / f"{chapter}.md").read_text(encoding="utf-8")


def _title(markdown: str) -> str:
    return markdown.removeprefix("# ").partition("\n")[0]


def _anchor(heading: str) -> str:
    """Return the name of a heading as GitHub makes it."""
    return re.sub(r"[^\w -]", "", re.sub(r"<.*?>|&\w+;", "", heading)).lower().replace(" ", "-")


def _link(target: str, words: str, names: list[str]) -> str:
    """Return a link to a chapter or within it; of others the words: the page is also where their files are not."""
    name, _, anchor = target.partition("#")
    name = name.removesuffix(".md").removesuffix(".html")
    if name and name not in names:
        return words
    return f'<a href="{name and f"{name}.html"}{anchor and f"#{anchor}"}">{words}</a>'


def is_same(page: str, other: str) -> bool:
    """Return whether two pages agree: their text to the letter, the numbers of players to a tolerance."""
    if DATA.sub("", page) != DATA.sub("", other):
        return False
    return _agree(*([json.loads(data) for data in DATA.findall(each)] for each in (page, other)))


def _agree(first: Any, second: Any) -> bool:
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and (all(map(_agree, first, second)) or _are_same_points(first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_agree(value, second[key]) for key, value in first.items())
    return bool(first == second)


def _are_same_points(first: list[Any], second: list[Any]) -> bool:
    """Return whether both are the same points in any order: rounding decides in which direction a flat outline runs."""
    if len(first) % 3 or not all(isinstance(value, int | float) for value in (*first, *second)):
        return False
    distances = np.abs(np.reshape(first, (-1, 1, 3)) - np.reshape(second, (1, -1, 3))).max(axis=2)
    return all(distances.min(axis=axis).max() <= TOLERANCE for axis in (0, 1))


# --- checks


def problems(players: Mapping[str, Callable[[], Playable]] = PLAYERS, folder: Path = HERE) -> list[str]:
    """Return what is wrong with the chapters, a sentence each."""
    shown = {name: make() for name, make in players.items()}
    figures = {name: player_figure(made, name=name) for name, made in shown.items()}
    found, played = [], []
    for chapter in ("index", *chapters(folder)):
        text, file = _text(chapter, folder), folder / f"{chapter}.html"
        named = re.findall(r"\[!\[[^]]*\]\(pictures/(\w+)\.png\)\]", text)
        played += named
        found += [f"{chapter}.md: there is no player {name}" for name in named if name not in players]
        if not set(named) <= players.keys():
            continue
        made = page_of(chapter, figures, folder)
        if not file.exists() or not is_same(file.read_text(encoding="utf-8"), made):
            found.append(f"{file.name} is not what its text and its players give: run python3 build.py learn")
        if '<img src="' in made:
            found.append(f"{chapter}.md: a picture is not alone in its paragraph, or not linked to its player")
        if len(made.encode()) > MOST_BYTES:
            found.append(f"{file.name} has {len(made.encode()):,} bytes, more than {MOST_BYTES:,}")
        found += failures(chapter, text)
        words = [part for name in named for part in words_of(shown[name])]
        found += [f"{chapter}.md: nothing gives the number {number}" for number in unproved(text, words)]
    unused = [name for name in players if played.count(name) != 1]
    found += [f"players.py: no chapter, or several, have the player {name}" for name in unused]
    found += [
        f"pictures/{name}.png is missing" for name in played if not (folder / "pictures" / f"{name}.png").exists()
    ]
    return found


def engine_problems() -> list[str]:
    """Return what is wrong with `engine.md`, a sentence each."""
    text, words = TEXT.read_text(encoding="utf-8"), [part for make in FIGURES.values() for part in words_of(make())]
    shown = re.findall(r"!\[[^]]*\]\(images/engine/(\w+)\.png\)", text)
    found = [] if shown == list(FIGURES) else [f"engine.md has the figures {shown}, not {list(FIGURES)}"]
    found += failures("engine", text)
    return found + [f"engine.md: nothing gives the number {number}" for number in unproved(text, words)]


def failures(chapter: str, text: str) -> list[str]:
    """Return the examples of a chapter that print something else, with what they print."""
    found: list[str] = []
    runner, names = doctest.DocTestRunner(verbose=False), {}
    for block in EXAMPLE.finditer(text):
        line = text.count("\n", 0, block.start(1))
        test = doctest.DocTestParser().get_doctest(block[1], names, chapter, f"{chapter}.md", line)
        test.globs = names  # a later example goes on with what an earlier one made
        runner.run(test, out=found.append, clear_globs=False)
    return ["".join(found).strip()] if found else []


def unproved(text: str, words: list[str]) -> list[str]:
    """Return the numbers in the prose of a chapter that neither its examples print nor `words` have."""
    parser = doctest.DocTestParser()
    printed = [example.want for block in EXAMPLE.findall(text) for example in parser.get_examples(block)]
    known = {float(number) for part in (*printed, *words) for number in PRINTED.findall(part.replace(",", ""))}
    prose = NO_PROSE.sub(" ", text)
    return [number for number in NUMBER.findall(prose) if float(number.replace(",", "")) not in known]


def words_of(shown: Playable) -> Iterator[str]:
    """Yield what a player says, without the numbers of its steps."""
    pictures = [space.behind for space in shown.spaces]
    for frame in shown.frames:
        pictures += frame.pictures
        yield from (frame.sentence, *frame.bound_texts, *(bar.text for bar in frame.bars))
    yield from (label.text for picture in pictures for label in picture.labels)


# --- pictures and the command


def take_pictures(browser: str, figures: Mapping[str, str], folder: Path = HERE / "pictures") -> None:
    """Write the picture of each player, as a Chromium draws it: of its step in the middle, or that of `STILLS`."""
    width, height = PICTURE_SIZE
    steps = json.dumps({name: STILLS.get(name) for name in figures})
    script = (
        "document.documentElement.textContent = JSON.stringify(Object.entries(players).map(([name, player]) => {"
        f"player.show(({steps})[name] ?? Math.floor(player.data.frames.length / 2));"
        f"return [name, player.picture({width} * player.views.length, {height})]; }}))"
    )
    whole = re.sub(r"<meta http-equiv.*?>", "", page("Pictures", "\n".join(figures.values())))  # one more script runs
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as workspace:
        file = Path(workspace) / "pictures.html"
        file.write_text(whole.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={workspace}", "--dump-dom"]
        done = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, check=True)
    folder.mkdir(exist_ok=True)
    for name, address in json.loads(re.sub(r"<.*?>", "", done.stdout)):
        (folder / f"{name}.png").write_bytes(base64.b64decode(address.partition(",")[2]))


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the pages of the chapters, or check them.")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--pictures", metavar="BROWSER", help="a Chromium that takes the pictures of the players")
    options = parser.parse_args()
    if not options.check:
        figures = {name: player_figure(make(), name=name) for name, make in PLAYERS.items()}
        for chapter in ("index", *chapters()):
            (HERE / f"{chapter}.html").write_text(page_of(chapter, figures), encoding="utf-8")
        if options.pictures:
            take_pictures(options.pictures, figures)
            figures = {name: player_figure(make(), name=name) for name, make in FIGURES.items()}
            take_pictures(options.pictures, figures, TEXT.parent / "images" / "engine")
    found = problems() + engine_problems()
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
