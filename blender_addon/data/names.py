# SPDX-License-Identifier: GPL-3.0-or-later
"""Names from files as text that can be shown anywhere."""

from __future__ import annotations

import unicodedata
from itertools import takewhile

_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control and format characters, surrogates, separators of lines and of paragraphs."""
_KEPT = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Format characters that words of some languages, and emoji, are spelled with."""


def visible(text: str) -> str:
    r"""Return `text` with what a terminal would obey, or a reader would not see, as an escape such as \x1b.

    A byte of a file name that is no UTF-8, which Python has as a surrogate, is shown as that byte.
    """
    if text.isprintable():
        return text
    return "".join(
        _escape(letter) if unicodedata.category(letter) in _ESCAPED and letter not in _KEPT else letter
        for letter in text
    )


def elided(text: str, room: int, dots: str = "…", other: str = "") -> str:
    """Return a text of at most `room` characters: what is too long loses its middle.

    other: a text that it stands beside; if they begin to differ in the middle, the text loses its beginning instead.
    """
    if len(text) <= room:
        return text
    end = max(1, (room - len(dots)) // 2)
    begin = max(1, room - len(dots) - end)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False)))
    while common and text[common - 1].isdigit():  # of numbers that differ, all digits
        common -= 1
    if begin <= common < len(text) - end:
        return dots + elided(text[min(common, len(text) - room + len(dots)) :], room - len(dots), dots)
    return f"{text[:begin]}{dots}{text[-end:]}"


def _escape(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode("ascii")
