# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the zip and open the sidebar at its tab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def steps(window: Any) -> Iterator[float]:
    yield from window.close_splash()
    yield from window.install()
    yield from window.show_tab("Contact")
    yield from window.screenshot("tab")
    window.numbers["blender"] = bpy.app.version_string
    window.numbers["tab"] = window.region("UI").active_panel_category
    window.numbers["sidebar"] = [window.region("UI").width, window.region("UI").height]
    window.numbers["operator"] = "inspect" in dir(bpy.ops.contact_lens)
