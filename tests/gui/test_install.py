# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip in a real window: installed, and its tab there."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any


def test_the_installed_extension_has_its_tab_in_the_sidebar(play: Callable[[str], Any]) -> None:
    played = play("install")
    assert played.numbers["tab"] == "Contact"
    assert played.numbers["operator"]
    assert played.numbers["sidebar"][0] > 100
    assert struct.unpack(">II", played.pictures["tab"].read_bytes()[16:24]) == (1280, 800)
