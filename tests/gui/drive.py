# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a scenario in a real Blender window, with mouse and keyboard, as a user would.

blender --enable-event-simulate -P tests/gui/drive.py -- SCENARIO ZIP FOLDER

A scenario is a file, or the name of one in tests/gui/scenarios, with `def steps(window)`, a generator that does a
little and yields the seconds to wait until Blender has reacted. It puts what the test wants to know into
`window.numbers`. FOLDER gets its screenshots and result.json.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from math import radians
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Euler, Vector

MODULE = "bl_ext.user_default.contact_lens"
TICK = 0.3
"""Seconds in which Blender handles an event and draws, with software OpenGL."""
IDLE = 0.005
"""Seconds that Blender sleeps between two looks for events, as it does unless events are simulated."""
SLOWEST_STEP = 60.0
"""Seconds a scenario may ask to wait at once; more is a mistake."""
PATIENCE = 120.0
"""Seconds until what a scenario waits for counts as not coming, on a machine that is busy with other things."""
STEP = 8
"""Pixels between two places where a button is looked for; buttons are about 20 high."""
ICONS = 48
"""Pixels from the right edge of the sidebar to the middle of icons at the end of a row."""
HEADER = 40
"""Pixels from the upper edge of a button to the header of the panel below it."""
EDGE = 3
"""Pixels from there to where a button is clicked: not on its edge, and in it where Blender reported one step late."""
KEYS = {" ": "SPACE"} | dict(
    zip("0123456789", ["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"], strict=True)
)
"""What Blender calls the keys of characters that are no letters."""
IMPORT = ["import"] if shutil.which("import") else ["magick", "import"]
"""What takes pictures of the display: ImageMagick 7 may have its second name alone."""
WARNING = 26
"""Pixels from a warning to what is below it."""


class RecordedLayout:
    """A layout that passes everything on to Blender's own and remembers the texts."""

    def __init__(self, layout: Any, texts: list[str]) -> None:
        object.__setattr__(self, "_layout", layout)
        object.__setattr__(self, "_texts", texts)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._layout, name, value)

    def __getattr__(self, name: str) -> Any:
        given = getattr(self._layout, name)
        if name not in ("label", "progress", "operator", "row", "column", "box", "split"):
            return given

        def record(*arguments: Any, **options: Any) -> Any:
            if name in ("label", "progress", "operator"):
                if text := options.get("text", ""):
                    self._texts.append(text)
                return given(*arguments, **options)
            return RecordedLayout(given(*arguments, **options), self._texts)

        return record


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
        self._buttons: dict[str, tuple[int, int]] = {}
        """Where buttons were clicked last, by their commands."""

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

    def click(self, x: float, y: float, button: str = "LEFTMOUSE", **modifiers: bool) -> Iterator[float]:
        """Move there and click."""
        yield from self.move(x, y)
        yield from self.move(x + 1, y)
        self._event(button, "PRESS", **modifiers)
        yield TICK
        self._event(button, "RELEASE", **modifiers)
        yield TICK

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> Iterator[float]:
        """Press the left button at one place, release it at another."""
        yield from self.move(*start)
        yield from self.move(start[0] + 1, start[1])
        self._event("LEFTMOUSE", "PRESS")
        yield TICK
        for i in range(1, 5):
            yield from self.move(*(a + (b - a) * i / 4 for a, b in zip(start, end, strict=True)))
        self._event("LEFTMOUSE", "RELEASE")
        yield TICK

    def click_point(self, point: Any, **modifiers: bool) -> Iterator[float]:
        """Click on a point of the world in the 3D view."""
        x, y = self.place(point)
        yield from self.click(x, y, **modifiers)

    def place(self, point: Any) -> tuple[float, float]:
        """Where a point of the world is on the screen."""
        region = self.region("WINDOW")
        spot = location_3d_to_region_2d(region, self.area.spaces.active.region_3d, Vector(point))
        assert spot is not None, f"{point} is behind the viewer"
        return region.x + spot.x, region.y + spot.y

    def rest(self) -> Iterator[float]:
        """Move the mouse to an empty part of the 3D view, where keys go to the view."""
        region = self.region("WINDOW")
        yield from self.move(region.x + 0.4 * region.width, region.y + 0.15 * region.height)

    @property
    def mouse(self) -> tuple[int, int]:
        """Where the mouse is."""
        return self._mouse

    def key(self, key: str, **modifiers: bool) -> Iterator[float]:
        """Press and release a key by Blender's name for it, such as "F3", "RET" or "Z" with ctrl=True."""
        self._event(key, "PRESS", **modifiers)
        self._event(key, "RELEASE", **modifiers)
        yield TICK

    def write(self, text: str) -> Iterator[float]:
        """Type letters and digits, one by one, into whatever field is open."""
        for letter in text:
            name = KEYS.get(letter, letter.upper())
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

    def click_button(self, command: str, kind: str = "UI") -> Iterator[float]:
        """Click the button that runs `bpy.ops.COMMAND`, wherever it is in a region."""
        x, y = yield from self.find_button(command, kind)
        yield from self.click(x, y - EDGE)

    def find_button(self, command: str, kind: str = "UI") -> Generator[float, None, tuple[int, int]]:
        """Find the button that runs `bpy.ops.COMMAND`; `yield from` gives a place near its upper edge.

        The mouse goes down the region, and Blender reports the command of what it is on, as for a user who copies it.
        """
        region = self.region(kind)
        wanted, seen = f"bpy.ops.{command}", set()
        places = [
            (round(region.x + across), y)
            for across in (
                0.14 * region.width,
                region.width - ICONS,
                *(part * region.width for part in (0.4, 0.58, 0.65, 0.8, 0.7)),
            )
            for y in range(region.y + region.height - STEP, region.y, -STEP)
        ]
        if wanted in self._buttons:  # seen there before: a look whether it still is
            places = [self._buttons[wanted], *places]
            yield from self.move(places[0][0], places[0][1] - EDGE)
            yield 2 * TICK
        for place in places:
            self._mouse = place
            self._event("MOUSEMOVE", "NOTHING")
            yield TICK / 6
            with self.context(kind):
                if not bpy.ops.ui.copy_python_command_button.poll():
                    continue
                bpy.ops.ui.copy_python_command_button()
            found = bpy.context.window_manager.clipboard
            seen.add(found)
            if found == wanted:
                self._buttons[wanted] = place
                return place
        raise AssertionError(f"no button runs {command}; there are {sorted(seen)}")

    def fields(self, kind: str) -> Generator[float, None, list[tuple[float, float]]]:
        """Find the fields of a region that can be edited; `yield from` gives the places of their middles, top first."""
        region = self.region(kind)
        x = region.x + region.width // 2
        rows: list[list[int]] = []
        was_on_field = False
        for y in range(region.y + region.height - 2, region.y, -2):
            self._mouse = (x, y)
            self._event("MOUSEMOVE", "NOTHING")
            yield TICK / 6
            with self.context(kind):
                on_field = bpy.ops.ui.reset_default_button.poll()
            if on_field:
                if not was_on_field:
                    rows.append([])
                rows[-1].append(y)
            was_on_field = on_field
        return [(x, sum(row) / len(row)) for row in rows]

    def _event(self, kind: str, value: str, **details: Any) -> None:
        x, y = self._mouse
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **details)

    # what a user sees ---------------------------------------------------------------------------------------------

    def start(self) -> Iterator[float]:
        """Click the splash screen away, install and enable the zip, empty the scene."""
        region = self.region("WINDOW")
        yield from self.click(region.x + 5, region.y + 5)
        with self.context():
            bpy.ops.extensions.package_install_files(
                filepath=str(self.packed), repo="user_default", enable_on_install=True
            )
        yield 2 * TICK
        if MODULE not in bpy.context.preferences.addons:
            raise AssertionError("the installed zip was not enabled")
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)

    def select(self, *selected: bpy.types.Object, message: str = "Scene") -> None:
        """Select some objects, the first as the active one, evaluate the scene and push an undo step."""
        with self.context():
            bpy.ops.object.select_all(action="DESELECT")
            for obj in selected:
                obj.select_set(True)
            bpy.context.view_layer.objects.active = selected[0] if selected else None
            bpy.context.view_layer.update()
            bpy.ops.ed.undo_push(message=message)

    def inspection(self) -> Any:
        """The inspection of the scene, None without one."""
        with self.context():
            return self.part("blender_addon.pair.session").current(bpy.context)

    def stale_reason(self) -> str:
        """Why the inspection is not of the scene as it is now; empty when it is."""
        with self.context():
            return str(self.part("blender_addon.pair.session").stale_reason(bpy.context))

    def until_fresh(self, what: str = "it is inspected again") -> Iterator[float]:
        """Wait until the inspection is of the scene as it is now."""
        yield from self.until(lambda: self.inspection() is not None and not self.stale_reason(), what)

    def undo(self, **modifiers: bool) -> Iterator[float]:
        """Press Ctrl+Z, or with shift=True redo, the mouse over the 3D view."""
        yield from self.rest()
        yield from self.key("Z", ctrl=True, **modifiers)

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

    def look_at(self, middle: Any, distance: float, degrees: tuple[float, float, float]) -> None:
        """Set the view: what is in its middle, from how far, and the turn of the viewer."""
        view = self.area.spaces.active.region_3d
        view.view_perspective = "PERSP"
        view.view_location = middle
        view.view_distance = distance
        view.view_rotation = Euler([radians(angle) for angle in degrees]).to_quaternion()
        self.redraw()

    def widen_sidebar(self, pixels: int) -> Iterator[float]:
        """Drag the sidebar's edge to the left."""
        sidebar = self.region("UI")
        width, height = sidebar.width, sidebar.y + 0.8 * sidebar.height
        yield from self.drag((sidebar.x + 2, height), (sidebar.x + 2 - pixels, height))
        yield from self.until(lambda: self.region("UI").width > width, "the sidebar is wider")

    def open_redo_panel(self) -> Iterator[float]:
        """Unfold the panel of the last operator, at the lower left of the 3D view."""
        yield from self.until(lambda: self.region("HUD").height > 1, "there is a redo panel")
        folded = self.region("HUD").height
        panel = self.region("HUD")
        yield from self.click(panel.x + 20, panel.y + panel.height - 12)
        yield from self.until(lambda: self.region("HUD").height > 2 * folded, "the redo panel is open")

    def close_others(self) -> Iterator[float]:
        """Close all other editors: the 3D view fills the window."""
        while len(self.window.screen.areas) > 1:
            count = len(self.window.screen.areas)
            keep = self.area
            for area in self.window.screen.areas:
                if area != keep:
                    with bpy.context.temp_override(window=self.window, area=area):
                        if bpy.ops.screen.area_close.poll() and bpy.ops.screen.area_close() == {"FINISHED"}:
                            break
            yield 2 * TICK
            assert len(self.window.screen.areas) < count, "an editor cannot be closed"

    def open_panel(self, below: str, warnings: int = 0) -> Iterator[float]:
        """Click the header of the panel that comes after the button that runs `bpy.ops.BELOW`, with so many warnings
        in between."""
        x, y = yield from self.find_button(below)
        yield from self.click(x, y - HEADER - warnings * WARNING)

    def listen(self, panel_name: str = "contact", file: str = "panels") -> list[str]:
        """The texts in a panel of the add-on as it was drawn last: the list is filled anew with every drawing."""
        panel = getattr(self.part(f"blender_addon.ui.{file}"), f"CONTACT_LENS_PT_{panel_name}")
        draw = panel.draw
        texts: list[str] = []

        def record(self: Any, context: bpy.types.Context) -> None:
            texts.clear()
            draw(SimpleNamespace(layout=RecordedLayout(self.layout, texts)), context)

        panel.draw = record
        return texts

    def listen_to_rows(self) -> dict[int, list[str]]:
        """The texts in the rows of the list of clashes as they were drawn last, by the numbers of the clashes."""
        cls = self.part("blender_addon.ui.scene_panel").CONTACT_LENS_UL_findings
        draw, rows = cls.draw_item, {}

        def record(
            self: Any, context: Any, layout: Any, data: Any, item: Any, i: Any, of: Any, name: str, k: int
        ) -> None:
            rows[k] = texts = []
            draw(self, context, RecordedLayout(layout, texts), data, item, i, of, name, k)

        cls.draw_item = record
        return rows

    def until(self, condition: Callable[[], Any], what: str) -> Iterator[float]:
        """Wait until a condition is true and the screen shows it."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {PATIENCE:.0f} s in vain: {what}")
            yield TICK
        self.redraw()
        yield TICK

    @contextmanager
    def held(self, fraction: float) -> Iterator[None]:
        """Work in threads pauses once this fraction of it is done, until it is cancelled or this context ends.

        However fast the machine is, the work is still running when Esc is pressed.
        """
        task = self.part("blender_addon.live.background").Task
        report, is_held = task._report, True

        def held_report(self: Any, done: float) -> bool:
            while (continues := report(self, done)) and is_held and done >= fraction:
                time.sleep(TICK / 10)
            return bool(continues)

        task._report = held_report
        try:
            yield
        finally:
            is_held = False
            task._report = report

    def pixels(self, kind: str = "UI") -> Any:
        """(height, width, 3) what the display shows of a region, top row first, without its border."""
        region = self.region(kind)
        width, height = region.width - 2, region.height - 2
        top = self.window.height - region.y - region.height + 1
        place = f"{width}x{height}+{region.x + 1}+{top}"
        call = [*IMPORT, "-window", "root", "-crop", place, "-depth", "8", "rgb:-"]
        shown = subprocess.run(call, check=True, timeout=30, capture_output=True).stdout
        return np.frombuffer(shown, dtype=np.uint8).reshape(height, width, 3)

    def screenshot(self, name: str) -> Iterator[float]:
        """Take a picture of the whole display as FOLDER/NAME.png."""
        self.redraw()
        yield 2 * TICK
        # Blender's own screenshot is black on a virtual display.
        subprocess.run([*IMPORT, "-window", "root", str(self.folder / f"{name}.png")], check=True, timeout=30)


def load(scenario: str) -> ModuleType:
    path = Path(scenario) if scenario.endswith(".py") else Path(__file__).parent / "scenarios" / f"{scenario}.py"
    spec = importlib.util.spec_from_file_location(f"scenario_{path.stem}", path)
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
            subprocess.run([*IMPORT, "-window", "root", str(window.folder / "failed.png")], check=True, timeout=30)
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

    def idle() -> float:
        time.sleep(IDLE)
        return 0.0

    bpy.app.timers.register(step, first_interval=2.0, persistent=True)
    bpy.app.timers.register(idle, persistent=True)


main()
