# SPDX-License-Identifier: GPL-3.0-or-later
"""A headless browser that opens a page and clicks in it, over the DevTools protocol of any Chromium."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from .programs import is_required, lacks

KINDS: dict[str, tuple[str, ...]] = {
    "chromium-headless-shell": ("chromium-headless-shell", "chrome-headless-shell"),
    "chromium": ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
}
"""The programs of both kinds, likeliest first: without any window, and as people have it."""
SECONDS = 60.0
"""Until an answer counts as not coming."""
PROBE_SECONDS = 30.0
"""The same for the first page, which is empty."""


class BrowserError(Exception):
    """The browser does not do what it is asked for."""


def browsers() -> list[str]:
    """The kinds of browsers to try a page in: those that this machine has, or the one that $CHROMIUM names."""
    if chosen := os.environ.get("CHROMIUM"):
        return [chosen]
    if is_required():
        return [*KINDS]
    return [kind for kind, names in KINDS.items() if any(map(shutil.which, names))] or ["chromium"]


def usable_browser(kind: str) -> str:
    """The path of a browser of a kind, or of that name; where none can be driven, the test is skipped."""
    if os.name != "posix":
        lacks("a browser is driven on Linux and macOS only")
    path = next(filter(None, map(shutil.which, KINDS.get(kind, (kind,)))), None)
    if path is None:
        lacks(f"there is no {kind}: install it, or name a Chromium in $CHROMIUM")
    if problem := problem_of(path):
        lacks(f"{path} cannot be driven: {problem}")
    return path


@cache
def problem_of(path: str) -> str:
    """Why a browser does not open a page; empty when it does. One in a sandbox may not see the temporary folder."""
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        page = Path(folder) / "page.html"
        page.write_text("<!DOCTYPE html><title>Here</title>", encoding="utf-8")
        try:
            with browser(path, PROBE_SECONDS) as opened:
                opened.open(page)
                return "" if opened.value("document.title") == "Here" else "it shows another page"
        except (BrowserError, OSError) as error:
            return str(error)


class Page:
    """An open page. Commands and answers are JSON texts, each with a zero byte behind it, in two pipes."""

    def __init__(self, commands: int, answers: int, seconds: float = SECONDS) -> None:
        self._commands, self._answers, self._seconds = commands, answers, seconds
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []
        """What the page's scripts threw, and what it asked for over the network."""

    def command(self, method: str, **parameters: Any) -> Any:
        """Send a command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._commands, json.dumps(message).encode() + b"\0")
        except BrokenPipeError as error:
            raise BrowserError("it has ended") from error
        end = time.monotonic() + self._seconds
        while True:
            told = self._next(end - time.monotonic())
            if told.get("id") == self._number:
                if "error" in told:
                    raise BrowserError(f"{method}: {told['error'].get('message')}")
                return told["result"]
            self._note(told)

    def _next(self, seconds: float) -> Any:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], max(seconds, 0.0))
            if not ready:
                raise BrowserError("it does not answer")
            more = os.read(self._answers, 1 << 20)
            if not more:
                raise BrowserError("it has ended")
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)

    def _note(self, told: Any) -> None:
        if told.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(told["params"]["exceptionDetails"]))
        if told.get("method") == "Network.requestWillBeSent":
            address = told["params"]["request"]["url"]
            if not address.startswith(("file:", "data:")):
                self.errors.append(f"asks for {address}")

    def open(self, path: Path) -> None:
        """Load a file and wait until it is there."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.resize(1200, 900)
        for domain in ("Runtime", "Page", "Network"):
            self.command(f"{domain}.enable")
        if reason := self.command("Page.navigate", url=path.resolve().as_uri()).get("errorText"):
            raise BrowserError(f"it does not open {path} ({reason})")
        end = time.monotonic() + self._seconds
        while self.value("document.readyState + location.protocol") != "completefile:":
            if time.monotonic() > end:
                raise BrowserError(f"it does not load {path}")

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        """Set the size of what the page is seen in; an ordinary browser's window has a frame besides."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        self.command("Emulation.setDeviceMetricsOverride", **size, mobile=False)

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression; of a promise, what it is fulfilled with."""
        told = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def drawn(self) -> float:
        """Wait until the page is drawn as it is now; return the milliseconds since it began to load."""
        frames = "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))"
        milliseconds: float = self.value(f"new Promise(done => {frames})")
        return milliseconds

    def press(self, key: str, code: int, control: bool = False) -> None:
        """Press a key and let it go; code: of Windows."""
        options = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 2 if control else 0}
        self.command("Input.dispatchKeyEvent", type="keyDown", **options)
        self.command("Input.dispatchKeyEvent", type="keyUp", **options)

    def click(self, selector: str) -> None:
        """Click with the mouse in the middle of an element."""
        self.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        x, y = self.value(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def write(self, text: str) -> None:
        """Type into what has the focus."""
        self.command("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Save a picture of what is seen."""
        told = self.command("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(told["data"]))


@contextmanager
def browser(program: str, seconds: float = SECONDS) -> Iterator[Page]:
    """A browser as long as it is needed, in a profile of its own."""
    import fcntl  # where there is none, no browser is usable

    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()
    # The browser reads from 3 and writes to 4: neither may be taken by an end of the pipes.
    reads, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser))
    with tempfile.TemporaryDirectory(prefix="contact_lens-", ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options += ["--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={profile}"]
        actions = [(os.POSIX_SPAWN_OPEN, end, os.devnull, os.O_RDWR, 0) for end in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, reads, 3), (os.POSIX_SPAWN_DUP2, writes, 4)]  # type: ignore[list-item]
        process = os.posix_spawn(program, [program, *options], os.environ, file_actions=actions, setpgroup=0)
        for end in (to_browser, from_browser, reads, writes):
            os.close(end)
        try:
            yield Page(from_us, to_us, seconds)
        finally:
            os.killpg(process, signal.SIGKILL)  # its helpers too
            os.waitpid(process, 0)
            os.close(from_us)
            os.close(to_us)
