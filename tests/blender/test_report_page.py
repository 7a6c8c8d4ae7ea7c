# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a scene report in real browsers: sorted by clicks, searched, not to be tricked by names, and large."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import pytest

from ..browser import Page, browser, browsers, usable_browser
from .reports import save_report
from .scenes import cube, fresh, lens, pane, sheet

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><script>owned=1</script>',
    "' onmouseover='owned=1",
    "</script><b>A",
    "&lt;b&gt; &amp; {{7*7}}",
    "Räder 轮子 \u202eevil",
)
"""Names of objects; Blender allows 63 bytes."""

KEYS = "[...document.querySelectorAll('table.findings tbody tr')].filter(row => !row.hidden)"


@pytest.fixture(scope="module", params=browsers())
def chromium(request: pytest.FixtureRequest) -> str:
    """A browser of each kind."""
    return usable_browser(request.param)


@pytest.fixture(scope="module")
def file(addon: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a row of cubes, each deeper in the next than the one before."""
    fresh()
    x = 0.0
    for k, name in enumerate(HOSTILE):
        cube(name, (x, 0.0, 0.0))
        x += 1.9 - 0.2 * k
    cube("Far", (40.0, 0.0, 0.0))
    cube("Near Far", (42.015, 0.0, 0.0))
    pane("Held", 59.5)
    sheet("Sheet", [(59, -1), (60, -1), (60, 1)], kind="MESH")  # open surfaces have no depth
    bpy.context.scene.contact_lens_check.clearance = 0.02
    bpy.ops.contact_lens.check_scene()
    bpy.context.scene.contact_lens_check.findings[1].status = "APPROVED"
    path = tmp_path_factory.mktemp("page") / "page.html"
    bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="HTML", pictures=3)
    return path


@pytest.fixture(scope="module")
def page(chromium: str, file: Path) -> Iterator[Page]:
    with browser(chromium) as opened:
        opened.open(file)
        yield opened


def column(page: Page, number: int) -> list[str]:
    texts: list[str] = page.value(f"{KEYS}.map(row => row.cells[{number}].textContent)")
    return texts


def names(page: Page) -> list[list[str]]:
    """The names of A and B in the rows that are shown."""
    pairs: list[list[str]] = page.value(
        f"{KEYS}.map(row => [...row.querySelectorAll('.a, .b')].map(name => name.textContent))"
    )
    return pairs


def test_names_are_text_and_nothing_else(page: Page) -> None:
    told = {name for pair in names(page) for name in pair}
    assert told == {*HOSTILE, "Far", "Near Far", "Held", "Sheet"}
    assert page.value("typeof owned") == "undefined"
    assert page.value("[...document.images].every(image => image.src.startsWith('data:image/png'))")
    assert page.value("document.querySelectorAll('script').length") == 1
    assert page.value("document.querySelectorAll('[onerror], [onmouseover], table b').length") == 0
    assert page.errors == []


def test_the_most_severe_is_first_and_what_is_done_last(page: Page) -> None:
    assert column(page, 1) == [*["Penetrating"] * 5, "Within Clearance", "Penetrating"]
    assert column(page, 4) == [*["New"] * 6, "Approved"]


def test_a_click_on_a_head_sorts_and_another_turns_it_round(page: Page) -> None:
    head = "table.findings th:nth-child({}) button"
    page.click(head.format(3))
    *texts, none = page.value(f"{KEYS}.map(row => row.cells[2].dataset.v)")
    depths = [float(text) for text in texts]
    assert depths == sorted(depths)
    assert len(depths) > 5
    assert none == "", "what has no depth is last, whichever way"
    assert page.value("document.querySelector('th:nth-child(3)').getAttribute('aria-sort')") == "ascending"
    page.click(head.format(3))
    *texts, none = page.value(f"{KEYS}.map(row => row.cells[2].dataset.v)")
    assert ([float(text) for text in texts], none) == (depths[::-1], "")
    page.click(head.format(4))
    areas = [float(text) for text in page.value(f"{KEYS}.map(row => row.cells[3].dataset.v)")]
    assert areas == sorted(areas)
    page.click(head.format(2))
    assert page.value("document.querySelectorAll('[aria-sort]').length") == 1
    relations = column(page, 1)
    assert relations == sorted(relations, key=("Penetrating", "Within Clearance").index)
    assert len(set(relations)) == 2
    page.click(head.format(1))
    known = [name for name, _ in names(page) if name.isalpha()]
    assert known == ["Far", "Held"], "the name of A first"
    assert page.errors == []


def test_a_click_on_a_picture_shows_it_in_full(page: Page) -> None:
    width = "document.querySelector('{}').getBoundingClientRect().width"
    assert 200 < page.value(width.format("button.picture img")) < 300
    page.click("button.picture")
    assert page.value(width.format("dialog[open] img")) == 960
    assert page.value("document.querySelector('dialog img').naturalWidth") >= 960
    assert page.value("document.querySelector('dialog p').textContent") == " and ".join(names(page)[0])
    page.press("Escape", 27)
    assert page.value("document.querySelector('dialog[open]')") is None
    assert page.value("document.activeElement.className") == "picture"
    page.click("button.picture")
    assert page.value("document.activeElement.textContent") == "Close"
    page.click("dialog img")
    assert page.value("document.querySelector('dialog[open]')") is None


def test_the_search_hides_what_does_not_match(page: Page) -> None:
    page.click("input.search")
    page.write("near far")
    assert names(page) == [["Far", "Near Far"]]
    page.value("document.querySelector('input.search').select()")
    page.press("Delete", 46)
    assert len(column(page, 0)) > 5


def test_relations_and_statuses_are_filtered(page: Page) -> None:
    chip = "[role=group][aria-label={}] button:nth-child({})"
    labels = "[...document.querySelectorAll('[role=group] button')].map(button => button.textContent)"
    assert page.value(labels) == ["Penetrating 6", "Within Clearance 1", "New 6", "Approved 1"]
    told = "document.querySelector('output').textContent"
    page.click(chip.format("Relation", 2))
    assert (column(page, 1), page.value(told)) == (["Within Clearance"], "1 of 7 match")
    page.click(chip.format("Status", 2))
    assert column(page, 1) == [], "both must fit"
    page.click(chip.format("Relation", 1))
    assert column(page, 4) == ["Approved"], "either relation"
    assert page.value("[...document.querySelectorAll('[aria-pressed=true]')].length") == 3
    for kind, number in ("Relation", 1), ("Relation", 2), ("Status", 2):
        page.click(chip.format(kind, number))
    assert (len(column(page, 0)), page.value(told)) == (7, "")


def test_clashes_are_grouped_by_object(page: Page) -> None:
    page.click("button.grouping")
    heads = page.value("[...document.querySelectorAll('tr.group')].map(row => row.textContent)")
    assert [head.rpartition(" ")[2] for head in heads] == ["2", "2", "1", "1", "1"]
    assert "Far 1" in heads
    named = "const [head, row] = [...document.querySelectorAll('tr.group, tr.group + tr')];"
    assert page.value(f"{{{named} row.textContent.includes(head.firstChild.firstChild.data.trim())}}")
    page.click("button.grouping")
    assert len(column(page, 0)) == 7


def test_a_screen_reader_finds_its_way(page: Page) -> None:
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")
    ]
    roles = [role for role, _ in found]
    assert {"banner", "main", "search", "table", "status"} <= set(roles)
    assert [name for role, name in found if role == "heading"] == ["Clashes in unsaved file", "Clashes"]
    assert [name for role, name in found if role == "table"] == [
        "Clashes in unsaved file, Scene, frame 1, most severe first"
    ]
    assert [name for role, name in found if role == "columnheader"] == [
        "Objects",
        "Relation",
        "Depth or Gap",
        "Area",
        "Status",
        "Picture",
    ]
    assert "A Far B Near Far" in [" ".join(name.split()) for role, name in found if role == "rowheader"]
    assert all(name for role, name in found if role in ("button", "searchbox", "image", "group", "dialog"))


def test_an_open_picture_does_not_hide_the_page_in_print(page: Page) -> None:
    page.click("button.picture")
    page.command("Emulation.setEmulatedMedia", media="print")
    assert page.value("document.querySelector('dialog').getBoundingClientRect().width") == 0
    page.command("Emulation.setEmulatedMedia", media="")
    page.press("Escape", 27)


def test_the_keyboard_sorts_too(page: Page) -> None:
    page.value("document.querySelector('th:nth-child(5) button').focus()")
    for kind in ("keyDown", "keyUp"):
        page.command("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r", windowsVirtualKeyCode=13)
    assert page.value("document.querySelector('th:nth-child(5)').getAttribute('aria-sort')") == "ascending"
    assert page.errors == []


def test_a_narrow_window_scrolls_the_table_and_not_the_page(page: Page, tmp_path: Path) -> None:
    page.resize(420, 800)
    assert page.value("document.documentElement.scrollWidth <= window.innerWidth")
    page.resize(1200, 900)
    page.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


# --- a page of many rows --------------------------------------------------------------------------------------------

ROWS = 3000
MARKUP = "</noscript></td>\n<td>&amp;\u2028\u202e\x85$&</textarea><script>owned=1</script>"
DRAWN = "[...document.querySelectorAll('#{} tr[id]')]"
"""The rows of a table that are drawn."""


@pytest.fixture(scope="module")
def large_file(addon: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a table of many clashes and a small one; every third row has a note, one a name that is markup."""
    fresh()
    cube("A")
    cube("B", (1.5, 0.0, 0.0))
    bpy.ops.contact_lens.check_scene()
    folder = tmp_path_factory.mktemp("large")
    document = save_report(folder / "page.json")
    (check,) = document["checks"]
    (row,) = check["findings"]
    findings = [
        {
            **row,
            "a": {**row["a"], "name": f"Brick {k * 7 % ROWS}"},
            "b": {**row["b"], "name": MARKUP if k == 2000 else f"Wall {k % 4}"},
            "relation": "b_inside_a" if k == 2000 else row["relation"],
            "signed_distance": None if k % 50 == 0 else row["signed_distance"] * (1.0 - k / ROWS),
            "notes": ["A sentence that explains the numbers of this row. " * 3] if k % 3 == 0 else [],
        }
        for k in range(ROWS)
    ]
    findings[1501] |= {"relation": HOSTILE[1], "picture": HOSTILE[1]}  # as a file may have that others made
    document["checks"] = [{**check, "findings": findings}, {**check, "scene": "Other", "findings": findings[:3]}]
    (folder / "page.html").write_text(lens.page.html_report.to_html(document), encoding="utf-8")
    return folder / "page.html"


@pytest.fixture
def large(chromium: str, large_file: Path) -> Iterator[Page]:
    with browser(chromium) as opened:
        opened.open(large_file)
        opened.drawn()
        yield opened
        assert opened.errors == []


def first_names(page: Page, count: int = 5) -> list[str]:
    page.drawn()
    names: list[str] = page.value(
        f"{DRAWN.format('t0')}.slice(0, {count}).map(row => row.querySelector('.a').textContent)"
    )
    return names


def count_of_rows(page: Page, table: str = "t0") -> int:
    count: int = page.value(f"{DRAWN.format(table)}.length")
    return count


def seen_row(page: Page) -> tuple[str, float]:
    """The first row that is seen in full, and where its top is."""
    page.drawn()
    page.drawn()
    name, top = page.value(
        "[...document.querySelectorAll('tr[id]')].map(row => [row.id, row.getBoundingClientRect().top])"
        ".find(([id, top]) => top > 100)"
    )
    return name, top


def test_rows_are_drawn_where_the_page_is_scrolled_to(large: Page) -> None:
    assert count_of_rows(large) < 200
    assert large.value("document.getElementById('t0').getAttribute('aria-rowcount')") == str(ROWS + 1)
    large.value("scrollTo(0, document.getElementById('t0').getBoundingClientRect().bottom - innerHeight)")
    large.drawn()
    large.value(f"document.getElementById('t0-{ROWS - 1}').scrollIntoView({{block: 'end'}})")
    large.drawn()
    assert count_of_rows(large) < 200
    assert large.value(f"document.getElementById('t0-{ROWS - 1}').getAttribute('aria-rowindex')") == str(ROWS + 1)
    # Rows that are drawn above what is seen do not move it, though a third of them is higher than the others.
    for _ in range(20):
        name, top = seen_row(large)
        large.value("scrollBy(0, -150)")
        large.drawn()
        large.drawn()
        now = large.value(f"document.getElementById('{name}').getBoundingClientRect().top")
        assert now == pytest.approx(top + 150.0, abs=1.5)


def test_all_rows_are_sorted_and_searched_not_those_that_are_drawn(large: Page) -> None:
    head = "#t0 th:nth-child({}) button"
    large.value("scrollTo(0, 20000)")
    large.click(head.format(1))
    assert first_names(large) == [f"Brick {k}" for k in range(5)], "1000 is after 999"
    top = large.value(f"{DRAWN.format('t0')}[0].getBoundingClientRect().top")
    assert 0.0 < top < 200.0, "the beginning is shown"
    large.click(head.format(1))
    assert first_names(large) == [f"Brick {ROWS - 1 - k}" for k in range(5)]
    large.click(head.format(3))
    assert first_names(large, 3) == [f"Brick {k * 7 % ROWS}" for k in (1, 2, 3)]
    large.click("input.search")
    large.write("brick 299")
    large.drawn()
    told = "document.querySelector('output').textContent"
    assert (count_of_rows(large), large.value(told)) == (11, "11 of 3,000 match")
    assert large.value("document.getElementById('t0').getAttribute('aria-rowcount')") == "12"
    assert count_of_rows(large, "t1") == 3, "each table has a search of its own"
    large.value("document.querySelector('input.search').select()")
    large.write("owned")
    large.drawn()
    shown = MARKUP.replace("\n", r"\n").replace("\x85", r"\x85")
    cells = "[row.querySelector('.b').textContent, row.cells[1].textContent]"
    assert large.value(f"{DRAWN.format('t0')}.map(row => {cells})") == [
        ["Wall 1", HOSTILE[1]],
        [shown, "B Inside A"],
    ]
    assert large.value("typeof owned") == "undefined"


def test_a_link_to_a_row_leads_to_it(large: Page) -> None:
    large.click("input.search")
    large.write("no such name")
    large.value("location.hash = 't0-2345'")
    large.drawn()
    linked = "[...document.querySelectorAll('tr.target')].map(row => [row.id, row.getBoundingClientRect().top])"
    ((name, top),) = large.value(linked)
    assert (name, 0.0 < top < large.value("innerHeight")) == ("t0-2345", True)
    large.value("location.hash = 't1-2'")
    for _ in range(4):  # the rows of the table above are drawn one frame after the other
        large.drawn()
    ((name, top),) = large.value(linked)
    assert (name, 0.0 < top < large.value("innerHeight")) == ("t1-2", True)
    for nothing in ("t0-3000", "t7-1", "%22%5D"):
        large.value(f"location.hash = '{nothing}'")


@pytest.mark.slow
def test_all_rows_are_printed(large: Page) -> None:
    large.value("addEventListener('beforeprint', () => { printed = document.querySelectorAll('tr[id]').length; })")
    large.command("Page.printToPDF")
    assert large.value("printed") == ROWS + 3
    assert count_of_rows(large) < 200


def test_the_browsers_search_is_the_pages_first(large: Page) -> None:
    large.value("addEventListener('keydown', event => { prevented = event.defaultPrevented; })")
    large.press("f", 70, control=True)
    assert large.value("[document.activeElement.className, prevented]") == ["search", True]
    large.press("f", 70, control=True)
    assert large.value("prevented") is False


def test_what_has_the_focus_stays(large: Page) -> None:
    large.value("document.getElementById('t0-5').tabIndex = 0; document.getElementById('t0-5').focus()")
    large.value("scrollTo(0, 60000)")
    large.drawn()
    large.drawn()
    assert large.value("document.activeElement.id") == "t0-5"
    assert count_of_rows(large) < 200


def test_a_page_that_was_saved_from_a_browser_works(large: Page, tmp_path: Path) -> None:
    saved = tmp_path / "saved.html"
    saved.write_text(f"<!DOCTYPE html>{large.value('document.documentElement.outerHTML')}", encoding="utf-8")
    large.open(saved)
    large.drawn()
    assert large.value("document.querySelectorAll('table, dialog').length") == 3
    large.click("#t0 th:nth-child(1) button")
    assert first_names(large) == [f"Brick {k}" for k in range(5)]


def test_without_scripts_the_page_has_all_rows(large_file: Path, large: Page) -> None:
    large.command("Emulation.setScriptExecutionDisabled", value=True)
    large.command("Page.navigate", url=large_file.resolve().as_uri())
    end = time.monotonic() + 60.0
    while count_of_rows(large) < ROWS:
        assert time.monotonic() < end
    assert large.value("document.querySelectorAll('th button').length") == 0, "nothing that does nothing"
    assert large.value("getComputedStyle(document.querySelector('.blocked')).display") == "none"
