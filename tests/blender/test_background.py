# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in threads that is cancelled, as by the next change of a drag: what it keeps, and what follows it."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from .scenes import lens
from .window import TICK, Held, modal_operator

pytestmark = pytest.mark.usefixtures("empty_scene")
LIMIT_S = 60.0


class Made:
    """What work has made, as the shape of a mesh."""


@pytest.fixture(autouse=True)
def _no_search_for_cycles() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def start(log: list[str], name: str, go_on: threading.Event | None = None) -> tuple[object, Callable[[], object]]:
    """Start work that logs when it begins and ends; return its task, and what returns what it has made, if it is
    still kept."""
    made: list[weakref.ref[Made]] = []
    has_begun = threading.Event()

    def work(progress: Callable[[float], bool]) -> str:
        own = Made()
        made.append(weakref.ref(own))
        log.append(f"{name} begins")
        has_begun.set()
        if go_on is not None:
            assert go_on.wait(LIMIT_S)
        log.append(f"{name} ends")
        lens.core.progress.report_progress(progress, 1.0)
        return name

    task = lens.live.background.Task(work)
    if go_on is not None:
        assert has_begun.wait(LIMIT_S)
    return task, lambda: made[0]()


def test_what_cancelled_work_has_made_is_freed_when_it_ends() -> None:
    go_on = threading.Event()
    task, made = start([], "the first", go_on)
    assert made() is not None
    task.cancel()
    go_on.set()
    assert task.wait(LIMIT_S)
    assert made() is None
    with pytest.raises(lens.core.progress.Cancelled):
        task.result()


def test_work_begins_when_what_was_cancelled_has_ended() -> None:
    log: list[str] = []
    go_on = threading.Event()
    first, _ = start(log, "the first", go_on)
    first.cancel()
    others = [start(log, f"number {k}")[0] for k in (2, 3)]
    others[0].cancel()
    assert others[0].wait(LIMIT_S), "what is cancelled waits for nothing"
    assert not others[1].wait(0.1)
    assert log == ["the first begins"]
    go_on.set()
    assert others[1].wait(LIMIT_S)
    assert log == ["the first begins", "the first ends", "number 3 begins", "number 3 ends"]
    assert others[1].result() == "number 3"


def test_work_beside_other_work_does_not_wait() -> None:
    go_on = threading.Event()
    first, _ = start([], "the first", go_on)
    second, _ = start([], "the second")
    assert second.wait(LIMIT_S)
    go_on.set()
    assert first.wait(LIMIT_S)


@pytest.mark.parametrize(("drawing", "waited"), [(0.01, 0.25), (0.2, 0.8), (30.0, 1.0)])
def test_a_slow_display_takes_a_fifth_of_the_time(
    monkeypatch: pytest.MonkeyPatch, drawing: float, waited: float
) -> None:
    """Work is waited for four times as long as Blender has drawn, but never so long that Esc seems not to work."""
    clock, waits = [0.0], list[float]()
    monkeypatch.setattr(lens.live.background, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(Held, "wait", lambda self, seconds: bool(waits.append(seconds)))
    operator, window = modal_operator(
        lens.live.background, lambda *_: (work for work in [lambda progress: None]), monkeypatch, seconds_at_once=0.25
    )
    operator.modal(window, TICK)
    clock[0] += drawing
    operator.modal(window, TICK)
    assert waits[-1] == pytest.approx(waited)
