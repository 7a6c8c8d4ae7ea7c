# SPDX-License-Identifier: GPL-3.0-or-later
"""Make what the page of the extension shows: icon, featured image, six stills and the scene in them.

`build.py listing` runs it, in a Python with bpy. It needs a Blender with a window, xvfb-run, ImageMagick and Chromium.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from string import Template

import bpy

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
SIZE = (1920, 1080)
ICON = (256, 256)
STILLS = ("inspect", "meshes", "gears", "scene", "report", "terminal")
"""In the order of the page."""
ZOOM = 1.2
"""Of the page of the report: pictures of the listing are shown small."""
CHECK = ("--exact", "--no-touching", "--frames", "16,20,24,28")
"""What the terminal shows."""


def play(blender: str, packed: Path, workspace: Path) -> None:
    """Take the screenshots in a window of an installed Blender, on a display of its own."""
    driver = ROOT / "tests" / "gui" / "drive.py"
    screen = f"-screen 0 {SIZE[0]}x{SIZE[1]}x24 +extension GLX"
    command = ["xvfb-run", "-a", "-s", screen, blender, "--gpu-backend", "opengl", "--factory-startup"]
    command += ["--window-geometry", "0", "0", *map(str, SIZE), "--enable-event-simulate", "--python-exit-code", "1"]
    command += ["-P", str(driver), "--", str(FOLDER / "window.py"), str(packed), str(workspace)]
    log = workspace / "blender.log"
    with log.open("w", encoding="utf-8") as said:
        environment = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"}
        code = subprocess.run(command, cwd=ROOT, env=environment, stdout=said, stderr=said, check=False).returncode
    if code != 0:
        result = workspace / "result.json"
        sys.exit(f"The pictures in the window failed:\n{(result if result.exists() else log).read_text()}")


def check(demo: Path, *options: str) -> str:
    """Run the command of a terminal on the scene. Return what it printed."""
    command = [sys.executable, "-m", "contact_lens", "check", demo.name, *options]
    done = subprocess.run(command, cwd=demo.parent, capture_output=True, text=True, check=False)
    if done.returncode != 1:
        sys.exit(f"The check of the scene found no clashes:\n{done.stdout}{done.stderr}")
    return done.stdout


def photograph(browser: str, page: Path, target: Path, size: tuple[int, int], zoom: float = 1.0) -> None:
    """Write what a browser shows of a page; transparent where the page is."""
    window = f"--window-size={round(size[0] / zoom)},{round(size[1] / zoom)}"
    command = [browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--allow-file-access-from-files", window]
    command += [f"--force-device-scale-factor={zoom}", "--default-background-color=00000000"]
    command += ["--virtual-time-budget=4000", f"--screenshot={target}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def filled(name: str, workspace: Path, **values: str) -> Path:
    """Write a page of this folder into the workspace, its placeholders filled in."""
    fonts = Path(bpy.utils.system_resource("DATAFILES"), "fonts").as_uri()
    text = Template((FOLDER / name).read_text(encoding="utf-8"))
    page = workspace / name
    places = {"FONTS": fonts, "PICTURES": workspace.as_uri(), "LISTING": FOLDER.as_uri()}
    page.write_text(text.substitute(places, **values), encoding="utf-8")
    return page


def colored(command: str, printed: str) -> str:
    """Return the lines of a terminal as HTML, the relations of clashes in color."""
    lines = [f"<u>$</u> {html.escape(command)}"]
    for line in printed.splitlines():
        if line.startswith("Read blend"):  # Blender's own, with a path of this machine
            continue
        marked = re.sub(r"^(\s+)penetrating\b", r"\1<b>penetrating</b>", html.escape(line))
        lines.append(re.sub(r"^(\s+)touching\b", r"\1<i>touching</i>", marked))
    return "\n".join(lines)


def publish(path: Path, target: Path, size: tuple[int, int]) -> None:
    """Write a picture of this size to `target`, as small as it can be without losing anything."""
    convert = "convert" if shutil.which("convert") else "magick"  # ImageMagick 7 may have this alone
    subprocess.run([convert, str(path), "-strip", "-define", "png:compression-level=9", str(target)], check=True)
    found = struct.unpack(">II", target.read_bytes()[16:24])
    if found != size:
        sys.exit(f"{target.name} has {found[0]} x {found[1]} pixels, not {size[0]} x {size[1]}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--blender", required=True, help="a Blender with a window")
    parser.add_argument("--browser", required=True, help="a Chromium")
    parser.add_argument("--zip", type=Path, required=True, help="the extension")
    parser.add_argument("--output", type=Path, required=True, help="the folder that gets the files")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        workspace = Path(folder)
        demo = workspace / "demo.blend"
        subprocess.run(
            [sys.executable, str(FOLDER / "demo_scene.py"), str(demo)], check=True, stdout=subprocess.DEVNULL
        )
        play(options.blender, options.zip, workspace)
        check(demo, "--exact", "--html", "report.html", "--pictures", "3", "--quiet")
        page = workspace / "report.html"
        page.write_text(page.read_text(encoding="utf-8").replace(f"{workspace}{os.sep}", ""), encoding="utf-8")
        printed = check(demo, *CHECK)
        photograph(options.browser, page, workspace / "report.png", SIZE, ZOOM)
        text = colored(f"contact-lens check demo.blend {' '.join(CHECK)}", printed)
        photograph(options.browser, filled("terminal.html", workspace, TEXT=text), workspace / "terminal.png", SIZE)
        photograph(options.browser, filled("featured.html", workspace), workspace / "featured.png", SIZE)
        photograph(options.browser, FOLDER / "icon.svg", workspace / "icon.png", ICON)
        publish(workspace / "icon.png", options.output / "icon.png", ICON)
        publish(workspace / "featured.png", options.output / "featured.png", SIZE)
        for number, name in enumerate(STILLS, 1):
            publish(workspace / f"{name}.png", options.output / f"{number}-{name}.png", SIZE)
        shutil.copyfile(demo, options.output / demo.name)


main()
