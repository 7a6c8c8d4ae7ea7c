# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benchmarks: `python3 build.py bench`, or some by name: `python3 build.py bench -- hull`.

Every file bench_NAME.py beside this one is a benchmark; its `main()` prints a table.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main(wanted: list[str]) -> int:
    names = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    if unknown := set(wanted) - set(names):
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}.", file=sys.stderr)
        return 2
    for name in wanted or names:
        print(f"\n--- {name}", flush=True)
        import_module(f"{__package__}.bench_{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
