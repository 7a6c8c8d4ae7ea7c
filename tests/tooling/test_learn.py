# SPDX-License-Identifier: GPL-3.0-or-later
"""The chapters to learn from: what makes their pages notices all that is no longer so."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "learn"
CHAPTER = """# Gaps

[![Two solids](pictures/gjk.png)](gaps.html#gjk)

1. The gap is 2.236, and twice that is 4.5. See S4.1, `7` and [8](index.md).

```pycon
>>> print(9 / 2)
4.5
```
"""


@pytest.fixture(scope="module")
def make() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        import make  # type: ignore[import-not-found]
        import players  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(FOLDER))
    a = players.ConvexHull([(0, 0, 0), (2, 0, 0), (0, 2, 0), (2, 2, 0), (1, 1, 2)])
    b = players.ConvexHull([(4, 1, 1), (6, 0, 1), (5, 3, 0), (5, 1, 3)])
    make.PLAYERS = {"gjk": lambda: players.pair("Two solids", a, b, "gjk", names=("Pyramid", "Tetrahedron"))}
    module: ModuleType = make
    return module


Check = Callable[[str], list[str]]


@pytest.fixture
def check(make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Write a chapter and its page, change the chapter or its page, and return the problems."""
    # The environment of the tests has no Markdown: a paragraph of a player is all that is made here.
    paragraph = re.compile(r"^\[!\[.*?\]\((.*?)\)\]\((.*?)\)(.*)$", re.MULTILINE)
    player = r'<p><a href="\2"><img src="\1" alt=""></a>\3</p>'
    monkeypatch.setattr(make, "html_of", lambda text: paragraph.sub(player, text))
    (tmp_path / "index.md").write_text("# Learn\n\n[Gaps](gaps.md)\n", encoding="utf-8")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "gjk.png").touch()

    def problems(text: str) -> list[str]:
        (tmp_path / "gaps.md").write_text(text, encoding="utf-8")
        figures = {"gjk": make.player_figure(make.PLAYERS["gjk"](), name="gjk")}
        for name in ("index", "gaps"):
            (tmp_path / f"{name}.html").write_text(make.page_of(name, figures, tmp_path), encoding="utf-8")
        found: list[str] = make.problems(make.PLAYERS, tmp_path)
        return found

    return problems


def test_a_number_or_an_example_that_the_code_does_not_give_is_a_problem(check: Check) -> None:
    assert check(CHAPTER) == []
    assert check(CHAPTER.replace("2.236", "2.24")) == ["gaps.md: nothing gives the number 2.24"]
    assert check(CHAPTER.replace("twice that", "3,000 times that")) == ["gaps.md: nothing gives the number 3,000"]
    for number in ("2.24m", ".24", "_24_", "-2.24"):
        assert len(check(CHAPTER.replace("2.236", number))) == 1, number
    assert check(CHAPTER.replace("2.236", "2.236, 3D, an 18-DOP, S1.7")) == []
    [problem] = check(CHAPTER.replace("9 / 2", "9 / 4").replace("that is 4.5", "that"))
    assert "line 8, in gaps" in problem
    assert problem.endswith("Expected:\n    4.5\nGot:\n    2.25")
    assert "Got:\n    8" in check(CHAPTER + "2. Again:\n\n   ```pycon\n   >>> 4 + 4\n   9\n   ```\n")[0]
    unused, missing = "players.py: no chapter, or several, have the player gjk", "pictures/gj.png is missing"
    assert check(CHAPTER.replace("gjk", "gj")) == ["gaps.md: there is no player gj", unused, missing]


def test_a_page_is_compared_to_the_letter_but_for_the_rounding_of_coordinates(
    make: ModuleType, check: Check, tmp_path: Path
) -> None:
    check(CHAPTER)
    page, text = tmp_path / "gaps.html", (tmp_path / "gaps.html").read_text(encoding="utf-8")
    start = text.index('"behind":{"fills":[["a",1.0,[') + 29
    number = text[start : text.index(",", start)]

    def problems(changed: str) -> list[str]:
        page.write_text(changed, encoding="utf-8")
        found: list[str] = make.problems(make.PLAYERS, tmp_path)
        return found

    stale = ["gaps.html is not what its text and its players give: run python3 build.py learn"]
    for change, expected in ((1e-4, []), (1e-2, stale)):
        assert problems(text[:start] + str(float(number) + change) + text[start + len(number) :]) == expected
    assert problems(text.replace("vertex 3 of Pyramid", "vertex 4 of Pyramid")) == stale
    page.unlink()
    assert make.problems(make.PLAYERS, tmp_path) == stale


def test_pictures_are_those_of_players_that_the_page_plays(check: Check) -> None:
    for link, other in (("(gaps.html#gjk)", "(index.html#gjk)"), ("#gjk)\n", "#gjk) Turn it.\n")):
        [problem] = check(CHAPTER.replace(link, other))
        assert problem.startswith("gaps.md: a picture is not alone"), other


def test_points_agree_in_any_order_but_no_coordinates_of_others(make: ModuleType) -> None:
    assert make._agree([0.0, 0.0, 0, 1.0, 1.0, 0], [1.0, 1.0, 0, 1e-4, 0.0, 0])
    assert not make._agree([0.0, 0.0, 0, 1.0, 1.0, 0], [0.0, 1.0, 0, 1.0, 0.0, 0])
