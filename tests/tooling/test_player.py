# SPDX-License-Identifier: GPL-3.0-or-later
"""The player of steps in real browsers: stepped, turned, asked, printed and read, and not to be tricked by names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from contact_lens.blender_addon.data.units import UnitFormat
from contact_lens.blender_addon.page.player_page import page as page_around
from contact_lens.blender_addon.page.player_page import player_figure, player_page
from contact_lens.blender_addon.study.playable import Playable, playable
from contact_lens.blender_addon.study.steps import steps_of
from contact_lens.blender_addon.study.traced_pair import StepSettings, StepsInput
from contact_lens.core import ConvexHull

from ..browser import Page, browser, browsers, usable_browser

HOSTILE = "</script><img src=x onerror='owned=1'>", "Donaudampfschifffahrtsgesellschaftskapitän \"&amp;' 轮子"
CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))
P = "players.player"
TEXT = "document.querySelector('.words {}').textContent"
PIXELS = "[...document.querySelectorAll('.views canvas')].map(canvas => canvas.toDataURL())"
ASKED = "document.querySelector('.question select').checkVisibility()"


def made(algorithm: str, gap: float = 0.3, names: tuple[str, str] = HOSTILE) -> Playable:
    """The steps of a cube and a roof that is turned."""
    turn = np.array([(0.8, -0.6, 0.0), (0.6, 0.8, 0.0), (0.0, 0.0, 1.0)])
    roof = np.array([(-1, -0.5, 0), (-1, 0.5, 0), (1, -0.5, 0), (1, 0.5, 0), (-0.6, 0, 0.9), (0.6, 0, 0.9)]) @ turn.T
    shapes = ConvexHull(CUBE), ConvexHull(roof + (0.4, 0.3, 1.0 + gap))
    return playable(steps_of(StepsInput(*shapes, *names, UnitFormat(), StepSettings(algorithm))))


@pytest.fixture(scope="module")
def shown() -> Playable:
    return made("all", -0.25)


@pytest.fixture(scope="module", params=browsers())
def chromium(request: pytest.FixtureRequest) -> str:
    """A browser of each kind."""
    return usable_browser(request.param)


@pytest.fixture(scope="module")
def browsed(chromium: str, shown: Playable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Path]]:
    file = tmp_path_factory.mktemp("player") / "player.html"
    file.write_text(player_page(shown), encoding="utf-8")
    with browser(chromium) as opened:
        yield opened, file


@pytest.fixture
def page(browsed: tuple[Page, Path]) -> Iterator[Page]:
    opened, file = browsed
    opened.open(file)
    yield opened
    assert opened.errors == []


def mouse(page: Page, *events: tuple[str, float, float]) -> None:
    for kind, x, y in events:
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        page.command("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **button)


def place_of(page: Page, view: int, choice: int) -> tuple[float, float]:
    """Where a choice is in the window."""
    x, y = page.value(
        f"(() => {{ const view = document.querySelectorAll('.views canvas')[{view}]; view.scrollIntoView();"
        f"const r = view.getBoundingClientRect(), p = {P}.places[{choice}]; return [r.x + p[0], r.y + p[1]]; }})()"
    )
    return x, y


def test_buttons_keys_slider_and_plot_show_the_sentence_of_a_step(page: Page, shown: Playable) -> None:
    def check(number: int) -> None:
        frame = shown.frames[number]
        assert page.value(f"[{TEXT.format('b')}, {TEXT.format('p')}]") == [frame.title, frame.sentence]
        slider = "document.querySelector('[type=range]')"
        assert page.value(f"[{slider}.value, {slider}.getAttribute('aria-valuetext')]") == [str(number), frame.title]

    last = len(shown.frames) - 1
    check(0)
    for name, number in (("forward", 1), ("forward", 2), ("back", 1), ("last", last), ("first", 0)):
        page.click(f"button.{name}")
        check(number)
    assert page.value("document.activeElement.className") == "first"
    for key, code, number in (("ArrowRight", 39, 1), ("ArrowLeft", 37, 0), ("End", 35, last), ("Home", 36, 0)):
        page.press(key, code)
        check(number)
    page.value("document.querySelector('[type=range]').focus()")
    page.press("ArrowRight", 39)
    check(1)
    page.value(
        "(slider => { slider.value = 4; slider.dispatchEvent(new Event('input')); })"
        "(document.querySelector('[type=range]'))"
    )
    check(4)
    page.value("document.querySelector('.plot').scrollIntoView()")
    x, y = page.value(
        f"(r => [r.x + 12 + 2.5 * {P}.step, r.y + 60])(document.querySelector('.plot').getBoundingClientRect())"
    )
    mouse(page, ("Pressed", x, y), ("Released", x, y))
    check(shown.frames[4].bars[2].step)
    page.click("summary")
    page.click("ol.all li:nth-child(4)")
    check(3)


def test_a_drag_turns_both_views_and_a_double_click_resets_them(page: Page) -> None:
    first = page.value(PIXELS)
    assert len(first) == 2
    mouse(page, ("Pressed", 300, 250), ("Moved", 340, 260), ("Moved", 380, 270), ("Released", 380, 270))
    turned = page.value(PIXELS)
    assert all(now != before for now, before in zip(turned, first, strict=True))
    page.value("document.querySelector('.views canvas').focus()")
    page.press("ArrowLeft", 37)
    assert page.value(PIXELS)[1] != turned[1]
    assert page.value(f"{P}.number") == 0, "arrow keys turn the view that has the focus"
    for name in ("Pressed", "Released"):
        for count in (1, 2):
            page.command("Input.dispatchMouseEvent", type=f"mouse{name}", x=300, y=250, button="left", clickCount=count)
    assert page.value(PIXELS) == first


def test_a_finger_turns_a_view_sideways_and_scrolls_the_page_upward(page: Page) -> None:
    page.command("Emulation.setDeviceMetricsOverride", width=360, height=640, deviceScaleFactor=2, mobile=True)
    page.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    page.drawn()

    def drag(right: float, down: float) -> list[bool]:
        seen = f"[scrollY, {P}.turntable.yaw, {P}.turntable.pitch]"
        before = page.value(seen)
        places = [[{"x": 180 + k * right, "y": 200 + k * down}] for k in range(9)]
        for kind, points in (("Start", places[0]), *(("Move", place) for place in places[1:]), ("End", [])):
            page.command("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)
            page.drawn()
        return [abs(now - then) > 1e-9 for now, then in zip(page.value(seen), before, strict=True)]

    assert drag(10, 2) == [False, True, True]
    assert drag(0, -10) == [True, False, False]
    page.command("Emulation.setTouchEmulationEnabled", enabled=False)


def test_buttons_are_seen_in_colors_that_the_system_forces(page: Page) -> None:
    page.command("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    icon = "getComputedStyle(document.querySelector('.forward'), '::before').backgroundColor"
    assert page.value(icon) != page.value("getComputedStyle(document.body).backgroundColor")


def test_guesses_are_asked_before_a_step_and_counted(page: Page, shown: Playable) -> None:
    asked = [k for k, frame in enumerate(shown.frames) if frame.guess]
    page.click("button.guess")
    right = 0
    for tries, number in enumerate(asked[:4], 1):
        page.value(f"{P}.show({number})")
        guess = shown.frames[number].guess
        assert guess is not None
        assert page.value(TEXT.format("p")) == guess.question
        assert page.value("getComputedStyle(document.querySelector('.plot')).visibility") == "hidden"
        wrong = next(k for k in range(len(guess.choices)) if k not in guess.right)
        choice = guess.right[0] if tries % 2 else wrong
        if tries < 3:  # with the mouse a few pixels beside it
            x, y = place_of(page, guess.space, choice)
            mouse(page, ("Pressed", x + 1, y), ("Released", x + 1, y))
        else:
            page.click("button.answer")
            assert page.value(TEXT.format(".verdict")) == "", "nothing is chosen yet"
            page.value(f"document.querySelector('select').selectedIndex = {choice + 1}")
            page.click("button.answer")
        right += tries % 2
        verdict = "Right." if tries % 2 else "Not right."
        assert page.value(TEXT.format(".verdict")) == f"{verdict} {guess.answer}"
        assert page.value("document.querySelector('output').textContent") == f"{right} of {tries} right"
        if tries == 2:  # what is answered is not asked again, also without Next
            page.value(f"{P}.show({number + 1}); {P}.show({number})")
        else:
            page.click("button.next")
            assert page.value("document.activeElement.className") == "forward"
        assert page.value(TEXT.format("p")) == shown.frames[number].sentence
    page.value(f"{P}.show({asked[0]})")
    assert page.value(f"[{ASKED}, {TEXT.format('p')}]") == [False, shown.frames[asked[0]].sentence], "once"


def test_names_are_text_and_a_screen_reader_finds_the_sentence(page: Page, shown: Playable) -> None:
    assert page.value("[typeof owned, document.querySelectorAll('figure img, figure script').length]") == [
        "undefined",
        1,
    ]
    assert page.value("document.querySelector('figcaption').textContent") == shown.title
    page.value(f"{P}.show(2)")
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    sentence = shown.frames[2].sentence
    assert ("StaticText", sentence) in found
    pictures = [name for role, name in found if role == "image"]
    assert pictures[:2] == [f"{space.name}: {sentence}" for space in shown.spaces]
    assert [role for role, name in found if not name and role in ("button", "slider", "image", "combobox")] == []


@pytest.mark.parametrize(("width", "height"), [(360, 740), (320, 568), (740, 360)])
def test_on_a_phone_all_is_as_wide_as_the_window(page: Page, tmp_path: Path, width: int, height: int) -> None:
    page.resize(width, height, 2.0)
    page.drawn()
    page.click("button.guess")
    assert page.value("document.documentElement.scrollWidth") == width
    small = (
        "[...document.querySelectorAll('button, select, [type=range], summary')].filter(part => part.checkVisibility()"
    )
    assert page.value(f"{small} && part.getBoundingClientRect().height < 40).map(part => part.className)") == []
    assert page.value("[...document.querySelectorAll('.views canvas')].map(view => view.width)")[0] <= 2 * width
    page.picture(tmp_path / "phone.png")


def test_print_has_the_step_that_is_shown_and_nothing_else(page: Page, shown: Playable) -> None:
    page.value(f"{P}.show(1)")
    page.command("Emulation.setEmulatedMedia", media="print")
    page.drawn()
    seen = (
        "[...document.querySelectorAll('figure *')].filter(part => part.checkVisibility()).map(part => part.className"
    )
    names = set(page.value(f"{seen} || part.localName)"))
    assert names == {"figcaption", "views", "canvas", "below", "div", "words", "b", "p", "plot"}
    corner = "document.querySelector('.views canvas').getContext('2d').getImageData(5, 5, 1, 1).data"
    assert page.value(f"[...{corner}]") == [255] * 4, "paper is white"
    assert page.value("(view => view.width >= 2 * view.clientWidth)(document.querySelector('.views canvas'))")
    page.command("Emulation.setEmulatedMedia", media="")
    page.drawn()
    assert page.value(f"[...{corner}]") == [38, 38, 42, 255]
    page.value("addEventListener('beforeprint', () => { printed = document.querySelector('.plot').width; })")
    page.command("Page.printToPDF")
    assert page.value("printed >= 2 * document.querySelector('.plot').clientWidth")


def test_pictures_are_of_the_size_and_the_step_that_is_wanted(page: Page) -> None:
    first = page.value(f"{P}.picture(800, 300)")
    assert first.startswith("data:image/png;base64,")
    size = "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
    assert page.value(f"({size})(Object.assign(new Image(), {{src: {json.dumps(first)}}}))") == [800, 300]
    page.value(f"{P}.show(3)")
    assert page.value(f"{P}.picture(800, 300)") != first


def test_players_of_one_page_have_their_own_keys_and_names(browsed: tuple[Page, Path], tmp_path: Path) -> None:
    page, file = browsed
    figures = [player_figure(made(name, names=("A", "B")), name=name) for name in ("sat", "gjk")]
    file = tmp_path / "two.html"
    file.write_text(page_around("Two", "<p>Text.</p>".join(figures)), encoding="utf-8")
    page.open(file)
    assert page.value("Object.keys(players)") == ["sat", "gjk"]
    numbers = "Object.values(players).map(player => player.number)"
    page.press("ArrowRight", 39)
    assert page.value(numbers) == [0, 0], "none has the focus"
    page.click("#gjk .views canvas")
    page.press("ArrowRight", 39)
    assert page.value(numbers) == [0, 1]
    page.value("location.hash = 'sat'; location.hash = 'gjk'")
    page.drawn()
    assert -1.0 < page.value("document.getElementById('gjk').getBoundingClientRect().top") < 450.0
    assert page.errors == []


def test_the_script_is_short() -> None:
    root = Path(__file__).resolve().parents[2]
    script = (root / "blender_addon" / "page" / "player.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 420
    assert not re.search(r"innerHTML|outerHTML|eval\(|fetch\(|https?://(?!www\.w3\.org)", script)
