# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a scene report in a real browser: sorted by clicks, searched, and not to be tricked by names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import pytest

from .browser import MISSING, Page, browser, find_browser
from .scenes import cube, fresh, sheet

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


@pytest.fixture(scope="module")
def page(addon: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of a row of cubes, each deeper in the next than the one before."""
    program = find_browser()
    if program is None:
        pytest.skip(MISSING)
    fresh()
    x = 0.0
    for k, name in enumerate(HOSTILE):
        cube(name, (x, 0.0, 0.0))
        x += 1.9 - 0.2 * k
    cube("Far", (40.0, 0.0, 0.0))
    cube("Near Far", (42.015, 0.0, 0.0))
    cube("Held", (60.0, 0.0, 0.0))
    sheet("Sheet", [(59, -1), (60, -1), (60, 1)], kind="MESH")  # an open surface has no depth
    bpy.context.scene.contact_lens_check.clearance = 0.02
    bpy.ops.contact_lens.check_scene()
    bpy.context.scene.contact_lens_check.findings[1].status = "APPROVED"
    path = tmp_path_factory.mktemp("page") / "page.html"
    bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="HTML", pictures=3)
    with browser(program) as opened:
        opened.open(path)
        yield opened


def column(page: Page, number: int) -> list[str]:
    texts: list[str] = page.value(f"{KEYS}.map(row => row.cells[{number}].textContent)")
    return texts


def test_names_are_text_and_nothing_else(page: Page) -> None:
    told = {name for k in (0, 1) for name in column(page, k)}
    assert told == {*HOSTILE, "Far", "Near Far", "Held", "Sheet"}
    assert page.value("typeof owned") == "undefined"
    assert page.value("[...document.images].every(image => image.src.startsWith('data:image/png'))")
    assert page.value("document.querySelectorAll('script').length") == 1
    assert page.value("document.querySelectorAll('[onerror], [onmouseover], table b').length") == 0
    assert page.errors == []


def test_a_click_on_a_head_sorts_and_another_turns_it_round(page: Page) -> None:
    head = "table.findings th:nth-child({}) button"
    page.click(head.format(4))
    *texts, none = page.value(f"{KEYS}.map(row => row.cells[3].dataset.v)")
    depths = [float(text) for text in texts]
    assert depths == sorted(depths)
    assert len(depths) > 5
    assert none == "", "what has no depth is last, whichever way"
    assert page.value("document.querySelector('th:nth-child(4)').getAttribute('aria-sort')") == "ascending"
    page.click(head.format(4))
    *texts, none = page.value(f"{KEYS}.map(row => row.cells[3].dataset.v)")
    assert ([float(text) for text in texts], none) == (depths[::-1], "")
    page.click(head.format(5))
    areas = [float(text) for text in page.value(f"{KEYS}.map(row => row.cells[4].dataset.v)")]
    assert areas == sorted(areas)
    page.click(head.format(3))
    assert page.value("document.querySelectorAll('[aria-sort]').length") == 1
    relations = column(page, 2)
    assert relations == sorted(relations, key=str.lower)
    assert page.errors == []


def test_a_click_on_a_picture_shows_it_in_full(page: Page) -> None:
    width = "document.querySelector('button.picture img').getBoundingClientRect().width"
    assert page.value(width) < 300
    page.click("button.picture")
    assert page.value(width) == 640
    page.click("button.picture")
    assert page.value(width) < 300


def test_the_search_hides_what_does_not_match(page: Page) -> None:
    page.click("input.search")
    page.write("near far")
    assert [column(page, 0), column(page, 1)] == [["Far"], ["Near Far"]]
    page.value("document.querySelector('input.search').select()")
    page.command("Input.dispatchKeyEvent", type="keyDown", key="Delete", code="Delete", windowsVirtualKeyCode=46)
    assert len(column(page, 0)) > 5


def test_the_keyboard_sorts_too(page: Page) -> None:
    page.value("document.querySelector('th:nth-child(1) button').focus()")
    for kind in ("keyDown", "keyUp"):
        page.command("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r", windowsVirtualKeyCode=13)
    assert page.value("document.querySelector('th:nth-child(1)').getAttribute('aria-sort')") == "ascending"
    assert page.errors == []


def test_a_narrow_window_scrolls_the_table_and_not_the_page(page: Page, tmp_path: Path) -> None:
    page.command("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=1, mobile=False)
    assert page.value("document.documentElement.scrollWidth <= window.innerWidth")
    page.command("Emulation.clearDeviceMetricsOverride")
    page.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
