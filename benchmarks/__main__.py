# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benchmarks: `python3 build.py bench`, with options `python3 build.py bench -- --quick --only hull`.

Every file bench_NAME.py beside this one is a benchmark; its `main(quick)` prints a table.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

# One thread: a pair is too small to be shared, and what else the machine does would be measured.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def main(arguments: list[str]) -> int:
    """Run the benchmarks asked for; return the exit code."""
    names = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few inputs and few rounds: does it all still run?")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--plots", action="store_true", help="only the picture of how the cost of a scene grows")
    parser.add_argument("--before", metavar="PATH", help="checkout of an earlier version, to be compared with")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the same without --only")
    options = parser.parse_args(arguments)
    if options.before:
        os.environ["CONTACT_LENS_BEFORE"] = os.path.abspath(options.before)
    wanted = [*(options.only or []), *options.names]
    if unknown := set(wanted) - set(names):
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}.", file=sys.stderr)
        return 2
    if options.plots:
        from . import plots

        return plots.main(options.quick)
    print("Ratios are the peer's time / ours: above 1 we win. A goal is met at 0.8 of it, machines are noisy.")
    for name in wanted or names:
        print(f"\n--- {name}", flush=True)
        import_module(f"{__package__}.bench_{name}").main(options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
