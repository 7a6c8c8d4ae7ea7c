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
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MISSING = "There is no Chromium to open the page with: apt install chromium-headless-shell, or name one in $CHROMIUM"
SECONDS = 60.0
"""Until an answer counts as not coming."""


def find_browser() -> str | None:
    """The path of a Chromium, if this machine has one that can be driven from here."""
    if os.name != "posix":
        return None
    found = (shutil.which(name) for name in (os.environ.get("CHROMIUM", ""), *NAMES) if name)
    return next((path for path in found if path), None)


class Page:
    """An open page. Commands and answers are JSON texts, each with a zero byte behind it, in two pipes."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
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
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            told = self._next(end - time.monotonic())
            if told.get("id") == self._number:
                assert "error" not in told, told["error"]
                return told["result"]
            self._note(told)

    def _next(self, seconds: float) -> Any:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], max(seconds, 0.0))
            assert ready, "the browser does not answer"
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser has ended"
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
        target = self.command("Target.createTarget", url="about:blank", width=1200, height=900)["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Page", "Network"):
            self.command(f"{domain}.enable")
        self.command("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + SECONDS
        while self.value("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < end, "the page does not load"

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
def browser(program: str) -> Iterator[Page]:
    """A browser as long as it is needed, in a profile of its own."""
    import fcntl  # where there is none, `find_browser` finds no browser

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
            yield Page(from_us, to_us)
        finally:
            os.killpg(process, signal.SIGKILL)  # its helpers too
            os.waitpid(process, 0)
            os.close(from_us)
            os.close(to_us)
