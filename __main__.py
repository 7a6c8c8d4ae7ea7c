# SPDX-License-Identifier: GPL-3.0-or-later
"""`contact-lens check FILE.blend ...` or `python -m contact_lens check ...`: check scenes from a terminal, in a Python
with the `bpy` module.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import NoReturn

from . import __version__


def main() -> int:
    """Run the command that the arguments name, `check` if none. Returns the exit code."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file that is opened, a report too, would take its place
            os.open(os.devnull, os.O_RDWR)
    # Ctrl-C ends a process that starts at once: what Blender imports catches KeyboardInterrupt, and is broken then.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with blender_aside("--quiet" in sys.argv):
            import bpy

            # The user's own extensions, this one among them, are none of a check's business.
            bpy.ops.wm.read_factory_settings(use_empty=True)
    except ImportError as error:
        problem = 'this needs Blender\'s Python module: pip install bpy (CPython 3.13) or "bpy==4.5.*" (CPython 3.11)'
        if not isinstance(error, ModuleNotFoundError):
            problem = f"Blender's Python module cannot be loaded; install what this system lacks: {error}"
        elif "--version" in sys.argv:
            print_versions()
            return 0
        print(f"contact_lens: {problem}", file=sys.stderr)
        return 2
    from . import register
    from .blender_addon import command_line

    register()
    signal.signal(signal.SIGINT, handler)
    started_as = "python -m contact_lens" if os.path.basename(sys.argv[0]) == "__main__.py" else "contact-lens"
    return command_line.main(sys.argv[1:], started_as)


@contextmanager
def blender_aside(quiet: bool) -> Iterator[None]:
    """Send what Blender says while it starts to standard error, because it is no report; nowhere if quiet."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        kept = {number: os.dup(number) for number in (1, 2)}
        for number in kept if quiet else (1,):
            os.dup2(nowhere.fileno() if quiet else 2, number)
        try:
            # Also in Python: a stream of Windows that was opened for a console fails on anything else.
            with redirect_stdout(nowhere if quiet else sys.stderr), redirect_stderr(nowhere if quiet else sys.stderr):
                yield
        finally:
            for number, before in kept.items():
                os.dup2(before, number)
                os.close(before)


def print_versions() -> None:
    """Print what `--version` does, where there is no Blender."""
    numpy, python = importlib.metadata.version("numpy"), platform.python_version()
    print(f"Contact Lens {__version__}\nBlender is not installed\nnumpy {numpy}\nPython {python}")


def run() -> NoReturn:
    """Run `main` and end the process: the console script `contact-lens`."""
    try:
        code = main()
    except KeyboardInterrupt:  # while Blender starts
        print("contact_lens: stopped", file=sys.stderr)
        code = 130
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    if (bpy := sys.modules.get("bpy")) is not None:
        folder = os.path.realpath(bpy.app.tempdir)
        if folder != os.path.realpath(tempfile.gettempdir()) and re.fullmatch(
            r"blender_\w{6}", os.path.basename(folder)
        ):
            shutil.rmtree(folder, ignore_errors=True)  # that of this process, and not the system's
    os._exit(code)  # bpy may crash on the way out, after all is done


if __name__ == "__main__":
    run()
