# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run of the command line is."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable

from ..data import messages
from .interruption import Stop
from .streams import complain

PAUSE = 60.0
"""Seconds from one line to the next where there is no terminal."""
BLINK = 0.2
"""The same from one text to the next of the line on a terminal, unless the percentage has changed."""
PART = "CONTACT_LENS_PART"
"""A variable of processes that check a part of a run on this machine, with the process that started them: their
progress is lines for it, and they end when it has gone."""
OF_A_PART = "contact_lens progress "
"""The beginning of such a line; the fraction that is done and the number of clashes follow."""


def is_of_jobs() -> bool:
    """Return whether this process checks a part of a run for the one that started it, and not for a user."""
    return PART in os.environ


class Progress:
    """On standard error: on a terminal a line that renews itself, elsewhere, as in the log of a farm, a line a minute.

    It is the progress function of every check of the run, which the run's `stop` ends.
    """

    def __init__(self, quiet: bool, files: int, stop: Stop, clock: Callable[[], float] = time.monotonic) -> None:
        self._stop, self._clock = stop, clock
        self._shown = not quiet and sys.stderr is not None
        self._renews = self._shown and sys.stderr.isatty()
        self._start = self._last = clock()
        self._percent = -1
        self._parent = int(os.environ[PART]) if is_of_jobs() else None
        self._files, self._file, self._name = files, -1, ""
        self._scene, self._scenes, self._scene_name = 0, 1, ""
        self._frame, self._frames, self._number = 0, 1, 0.0
        self._fraction, self._phase, self._clashes = 0.0, "", 0
        self._text, self._last_shown = "", -math.inf

    def begin_file(self, name: str) -> None:
        self._file, self._name = self._file + 1, name
        self.begin_scene(0, 1, "")
        self._phase = "opening the file"  # not shown on a terminal, where Blender says so in a line of its own

    def begin_scene(self, index: int, count: int, name: str) -> None:
        """Begin the check of a scene: the how many of how many, and its name, shown if it is one of several."""
        self._scene, self._scenes, self._scene_name = index, count, name if count > 1 else ""
        self._frame, self._frames = 0, 1

    def begin_frame(self, index: int, count: int, number: float) -> None:
        """Begin the check of a frame, which is read first: the how many of how many, and its number."""
        self._frame, self._frames, self._number = index, count, number
        self._fraction = 0.0
        self.begin_phase("reading objects")

    def begin_phase(self, name: str) -> None:
        """Begin what a check does next, named in words."""
        self._phase, self._last_shown = name, -math.inf
        self._show_check()

    def begin_picture(self, number: int, count: int) -> None:
        """Begin to draw a picture: in a log one a minute is shown."""
        if self._renews:
            self._renew(_drawing_picture(number, count))
        elif self._shown and (now := self._clock()) >= self._last + PAUSE:
            self._last = now
            complain(f"contact_lens: {_drawing_picture(number, count)}")

    def add_clashes(self, number: int) -> None:
        """Count clashes as found."""
        self._clashes += number

    def __call__(self, fraction: float) -> bool:
        """Show the fraction of the check that is done. Returns whether to continue."""
        self._fraction = fraction
        self._show_check()
        # At 1 nothing is left to stop.
        return fraction >= 1.0 or not (self._stop.asked or self._parent_is_gone())

    def _show_check(self) -> None:
        of_scene = (self._frame + self._fraction) / self._frames
        done = (self._file + (self._scene + of_scene) / self._scenes) / self._files
        scene = f"{self._scene_name}, " if self._scene_name else ""
        self.show(done, self._details, f"{self._name}, {scene}frame {self._number:g}, ")

    def _details(self) -> str:
        found = f"{messages.clashes(self._clashes)} so far"
        return f"{self._phase}, {found}" if self._phase else found

    def show(self, done: float, details: Callable[[], str], place: str = "") -> None:
        """Show which fraction of the run is done, with details; place: what is checked, in logs."""
        now, percent = self._clock(), int(100.0 * done)
        if self._parent is not None or self._renews:
            if percent != self._percent or now >= self._last_shown + BLINK:
                self._percent, self._last_shown = percent, now
                if self._parent is not None:
                    complain(f"{OF_A_PART}{done:.3f} {self._clashes}")
                else:
                    self._renew(f"{messages.in_progress('Checking', percent / 100.0)}, {details()}")
        elif self._shown and now >= self._last + PAUSE:
            self._last = now
            complain(
                f"contact_lens: {messages.percent(done)} after {(now - self._start) / 60.0:.0f} min: "
                f"{place + details()}"
            )

    def _parent_is_gone(self) -> bool:
        if self._parent is None or os.name == "nt":  # where signal 0 is no question
            return False
        try:
            os.kill(self._parent, 0)
        except OSError:  # there is none, or its number is of another user's process by now
            return True
        return False

    def end_frame(self) -> None:
        if self._renews:
            self._show(f"\r{' ' * len(self._text)}\r")
            self._text, self._percent = "", -1

    def _renew(self, text: str) -> None:
        """Write a text over the last one."""
        if text != self._text:
            self._show(f"\r{text.ljust(len(self._text))}")
            self._text = text

    def _show(self, text: str) -> None:
        try:
            print(text, end="", file=sys.stderr, flush=True)
        except OSError:  # the terminal has been closed
            self._shown = self._renews = False


def _drawing_picture(number: int, count: int) -> str:
    return f"Drawing picture {number:,} of {count:,}"
