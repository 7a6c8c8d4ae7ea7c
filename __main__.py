# SPDX-License-Identifier: GPL-3.0-or-later
"""`contact-lens check FILE.blend ...` or `python -m contact_lens check ...`: check scenes from a terminal, in a Python
with the `bpy` module.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> int:
    """Run the command that the arguments name, `check` if none. Returns the exit code."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file that is opened, a report too, would take its place
            os.open(os.devnull, os.O_RDWR)
    kept = os.dup(1)
    os.dup2(2, 1)  # what Blender says while it starts is no report
    try:
        import bpy

        # The user's own extensions, this one among them, are none of a check's business.
        bpy.ops.wm.read_factory_settings(use_empty=True)
    except ModuleNotFoundError:
        problem = "this needs Blender's Python module, for CPython 3.11 or 3.13: pip install bpy"
        print(f"contact_lens: {problem}", file=sys.stderr)
        return 2
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    from . import register
    from .blender_addon import command_line

    register()
    return command_line.main(sys.argv[1:], "python -m contact_lens")


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
    os._exit(code)  # bpy may crash on the way out, after all is done


if __name__ == "__main__":
    run()
