# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a scenario in a real Blender window, the way a person would: with mouse and keyboard.

blender --enable-event-simulate -P tests/gui/drive.py -- SCENARIO ZIP FOLDER

A scenario is a file in tests/gui/scenarios with `def steps(window)`, a generator that does a little and yields the
seconds to wait until Blender has reacted. It puts what the test wants to know into `window.numbers`. FOLDER gets its
screenshots and result.json.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy

MODULE = "bl_ext.user_default.contact_lens"
TICK = 0.3
"""Seconds in which Blender handles an event and draws, with software OpenGL."""
SLOWEST_STEP = 60.0
"""Seconds a scenario may ask to wait at once; more is a mistake."""


class Window:
    """Blender's main window, its mouse and keyboard. Pixels count from the lower left corner of the window."""

    def __init__(self, packed: Path, folder: Path) -> None:
        self.packed = packed
        """The extension's zip."""
        self.folder = folder
        """Where the screenshots go."""
        self.numbers: dict[str, Any] = {}
        """What the test gets to see; anything that JSON can hold."""
        self._mouse = (0, 0)

    @property
    def window(self) -> bpy.types.Window:
        """Always asked for anew: loading a file makes other windows."""
        return bpy.context.window_manager.windows[0]

    @property
    def area(self) -> bpy.types.Area:
        """The largest 3D view."""
        views = [area for area in self.window.screen.areas if area.type == "VIEW_3D"]
        return max(views, key=lambda area: area.width * area.height)

    def region(self, kind: str) -> bpy.types.Region:
        """The 3D view's region of a kind: "WINDOW", "UI" (the sidebar), "HUD" (the redo panel)."""
        return next(region for region in self.area.regions if region.type == kind)

    def context(self, kind: str = "WINDOW") -> Any:
        """`with window.context(): bpy.ops...` as if the mouse were in the 3D view."""
        return bpy.context.temp_override(window=self.window, area=self.area, region=self.region(kind))

    def redraw(self) -> None:
        for area in self.window.screen.areas:
            area.tag_redraw()

    # mouse and keyboard -------------------------------------------------------------------------------------------

    def move(self, x: float, y: float) -> Iterator[float]:
        """Move the mouse. Buttons light up one tick later, and only then take a click."""
        self._mouse = (round(x), round(y))
        self._event("MOUSEMOVE", "NOTHING")
        yield TICK

    def click(self, x: float, y: float, button: str = "LEFTMOUSE") -> Iterator[float]:
        """Move there and click."""
        yield from self.move(x, y)
        yield from self.move(x + 1, y)
        self._event(button, "PRESS")
        yield TICK
        self._event(button, "RELEASE")
        yield TICK

    def key(self, key: str, **modifiers: bool) -> Iterator[float]:
        """Press and release a key by Blender's name for it, such as "F3", "RET" or "Z" with ctrl=True."""
        self._event(key, "PRESS", **modifiers)
        self._event(key, "RELEASE", **modifiers)
        yield TICK

    def write(self, text: str) -> Iterator[float]:
        """Type text, letter by letter, into whatever field is open."""
        for letter in text:
            name = "SPACE" if letter == " " else letter.upper()
            if name not in bpy.types.Event.bl_rna.properties["type"].enum_items:
                raise ValueError(f"no key is called {letter!r}")
            self._event(name, "PRESS", unicode=letter)
            self._event(name, "RELEASE")
            yield TICK / 3

    def search(self, words: str) -> Iterator[float]:
        """Run the first operator that F3 search finds for some words, the mouse over the 3D view."""
        region = self.region("WINDOW")
        yield from self.move(region.x + region.width / 2, region.y + region.height / 2)
        yield from self.key("F3")
        yield 2 * TICK
        yield from self.write(words)
        yield 3 * TICK
        yield from self.key("RET")
        yield 2 * TICK

    def _event(self, kind: str, value: str, **details: Any) -> None:
        x, y = self._mouse
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **details)

    # what a person sees -------------------------------------------------------------------------------------------

    def install(self) -> Iterator[float]:
        """Install and enable the zip."""
        with self.context():
            bpy.ops.extensions.package_install_files(
                filepath=str(self.packed), repo="user_default", enable_on_install=True
            )
        yield 2 * TICK
        if MODULE not in bpy.context.preferences.addons:
            raise AssertionError("the installed zip was not enabled")

    def part(self, name: str) -> ModuleType:
        """A part of the installed add-on, such as "core.contact"."""
        return importlib.import_module(f"{MODULE}.{name}")

    def show_tab(self, category: str = "Contact") -> Iterator[float]:
        """Open the sidebar at a tab. The sidebar has tabs only once it was drawn."""
        self.area.spaces.active.show_region_ui = True
        self.redraw()
        yield 3 * TICK
        self.region("UI").active_panel_category = category
        self.redraw()
        yield 3 * TICK

    def screenshot(self, name: str) -> Iterator[float]:
        """Take a picture of the whole display as FOLDER/NAME.png."""
        self.redraw()
        yield 2 * TICK
        # Blender's own screenshot is black on a virtual display.
        subprocess.run(["import", "-window", "root", str(self.folder / f"{name}.png")], check=True, timeout=30)


def load(scenario: str) -> ModuleType:
    path = Path(__file__).parent / "scenarios" / f"{scenario}.py"
    spec = importlib.util.spec_from_file_location(f"scenario_{scenario}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no scenario")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    scenario, packed, folder = sys.argv[sys.argv.index("--") + 1 :]
    window = Window(Path(packed), Path(folder))

    def end(error: str) -> None:
        answer = {"numbers": window.numbers, "error": error}
        (window.folder / "result.json").write_text(json.dumps(answer, indent=1), encoding="utf-8")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1 if error else 0)  # quitting through Blender may ask to save

    def failed() -> None:
        error = traceback.format_exc()
        try:
            subprocess.run(["import", "-window", "root", str(window.folder / "failed.png")], check=True, timeout=30)
        except (OSError, subprocess.SubprocessError) as trouble:
            error += f"and no picture of it: {trouble}\n"
        end(error)

    try:
        steps = load(scenario).steps(window)
    except Exception:
        failed()

    def step() -> float | None:
        try:
            wait = float(next(steps))
            if wait > SLOWEST_STEP:
                raise ValueError(f"a step asks to wait {wait} s")
        except StopIteration:
            end("")
        except Exception:
            failed()
        return wait

    bpy.app.timers.register(step, first_interval=2.0, persistent=True)


main()
