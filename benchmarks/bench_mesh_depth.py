# SPDX-License-Identifier: GPL-3.0-or-later
"""The depth of 100 pairs of real meshes: `python -m benchmarks --only mesh_depth [--before CHECKOUT]`.

First answers (`budget=0`) and refined ones, of meshes made anew in every call, so trees are included; how much longer
the reported translation is than the best known of an offline search (benchmarks/corpus); `verify`; memory; and first
answers of all pairs of two scenes. An older checkout is asked the same in turn, each in a process of its own. FCL
reports yes or no.
Times are CPU time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from contact_lens.core import Contact, Mesh, contact, contacts, verify
from tests.core.generators import rotation
from tests.core.mesh_pairs import COUNT, TENTH, MeshPair, mesh_pairs
from tests.core.mesh_shapes import bumpy

from .peers import fcl_mesh, fcl_mesh_pairs
from .table import duration, print_table, times

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
"""Of which the median counts, of calls shorter than `LONG`; of longer ones the first."""
LONG = 0.5
"""Seconds."""
TOO_LONG = 1.05
"""Times the best known translation: reported ones above are counted and named."""
GOALS = {"first": "median 30 ms, 95 % 150 ms", "refined": "median 0.3 s"}

SCENES = {"instances of a bumpy ball of 168 triangles": (1_000, 7, 24.5), "bumpy balls of 5,040": (300, 36, 14.9)}
"""How many, their rings, and the side of the cube in which they are at random."""

Record = dict[str, Any]


# --- one pair -------------------------------------------------------------------------------------------------------


def spent(call: Callable[[], Any]) -> tuple[float, Any]:
    """The CPU seconds of a call, the median of several when it is short, and what it returned."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < ROUNDS and seconds[0] < LONG):
        begin = process_time()
        result = call()
        seconds.append(process_time() - begin)
    return median(seconds), result


def found(pair: MeshPair, budget: float | None) -> tuple[Mesh, Mesh, Contact]:
    """The contact of a pair, from arrays."""
    a, b = Mesh(*pair.a), Mesh(*pair.b)
    return a, b, contact(a, b, budget=budget)


def measure(index: int) -> Record:
    """Measure a pair: times, lengths and whether both answers are verified."""
    (pair,) = mesh_pairs([index])
    record: Record = {"name": pair.name, "triangles": len(pair.a[1]) + len(pair.b[1]), "best": pair.best_length}
    for name, budget in (("first", 0.0), ("refined", None)):
        seconds, (a, b, c) = spent(partial(found, pair, budget))
        check, verified = spent(partial(verify, c, a, b))
        record[name] = {
            "seconds": seconds,
            "relation": c.relation.value,
            "depth": c.depth,
            "least": c.least_depth,
            "verify": check,
            "failures": list(verified.failures),
        }
    return record


def memory(index: int) -> int:
    """Bytes allocated at most while the refined answer of a pair is found."""
    (pair,) = mesh_pairs([index])
    tracemalloc.start()
    found(pair, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def scene(index: int) -> tuple[float, int, int]:
    """The CPU seconds of the first answers of a scene, clashes and pairs; a tenth of it when < 0."""
    count, rings, side = list(SCENES.values())[abs(index) - 1]
    count, side = (count // 10, side / 10 ** (1 / 3)) if index < 0 else (count, side)
    rng, poses = np.random.default_rng(1), np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = [rotation(rng) for _ in poses]
    poses[:, :3, 3] = rng.uniform(0.0, side, (count, 3))
    bumps = [Mesh(*bumpy(rng, rings, 0.9, 1.1)) for _ in range(1 if rings < 10 else count)]
    shapes = bumps * (count // len(bumps))
    begin = process_time()
    clashes = contacts(shapes, poses=poses, budget=0.0)
    return process_time() - begin, int(clashes.intersects.sum()), len(clashes.pairs)


def serve() -> None:
    """Answer what is asked on standard input, a line each: the name of a function of this file and a pair."""
    for line in sys.stdin:
        name, index = json.loads(line)
        print(json.dumps({"measure": measure, "memory": memory, "scene": scene}[name](index)), flush=True)


class Version:
    """A process in which `contact_lens` is that of a checkout."""

    def __init__(self, checkout: Path) -> None:
        variables = {**os.environ, "PYTHONPATH": str(checkout / "tests" / "tooling" / "checkout")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, "serve"],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, name: str, index: int) -> Any:
        """What a function returns in that process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([name, index]), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"pair {index}: the process that measures ended")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


# --- tables ---------------------------------------------------------------------------------------------------------


def spread(values: Sequence[float], write: Callable[[float], str] = duration) -> list[str]:
    """Median, 90 %, 95 % and largest, as text."""
    return [write(float(q)) for q in np.percentile(values, (50, 90, 95, 100), method="higher")]


def show_times(ours: list[Record], before: list[Record]) -> None:
    """Print what answers and checks take."""
    lines = [["", "median", "90 %", "95 %", "most", "goal"]]
    for name in ("first", "refined"):
        lines.append([f"{name} answer", *spread([r[name]["seconds"] for r in ours]), GOALS[name]])
        if before:
            lines.append(["  before", *spread([r[name]["seconds"] for r in before]), ""])
            ratios = [b[name]["seconds"] / r[name]["seconds"] for r, b in zip(ours, before, strict=True)]
            lines.append(["  before / now, pair by pair", *spread(ratios, times), ""])
        lines.append(["  verify", *spread([r[name]["verify"] for r in ours]), ""])
        fractions = [r[name]["verify"] / r[name]["seconds"] for r in ours]
        lines.append(["  verify / finding", *spread(fractions, "{:.2f}".format), "most 1.00"])
    print_table(lines, left=(0, 5))


def show_lengths(records: list[Record], title: str) -> None:
    """Print how long the reported translations are, and how near the bounds."""
    for name in ("first", "refined"):
        ratios = [r[name]["depth"] / r["best"] for r in records]
        slack = [1.0 - r[name]["least"] / r[name]["depth"] if r[name]["depth"] else 1.0 for r in records]
        above = [k for k, ratio in enumerate(ratios) if ratio > TOO_LONG]
        print(
            f"{title}, {name}: reported / best median {median(ratios):.4f}, worst {max(ratios):.3f}, shortest "
            f"{min(ratios):.6f}; {len(above)} of {len(records)} above {TOO_LONG}; 1 - lower / upper bound median "
            f"{median(slack):.3f}, worst {max(slack):.3f}"
        )
        if name == "refined" and above:
            print("  " + "; ".join(f"{records[k]['name']} {ratios[k]:.3f}" for k in above))
        for record in records:
            if record[name]["failures"]:
                print(f"  NOT VERIFIED: {record['name']}: {record[name]['failures']}")
            if record[name]["depth"] < record["best"] * (1.0 - 1e-6):
                print(f"  SHORTER than the best known: {record['name']}: {record[name]['depth']!r}")
            if record[name]["least"] > record["best"] * (1.0 + 1e-6):
                print(f"  WRONG lower bound: {record['name']}: {record[name]['least']!r}, best {record['best']!r}")


def yes_or_no(pairs: list[MeshPair]) -> None:
    """Print the time that FCL takes to find that the pairs meet, trees included."""
    if not find_spec("fcl"):
        print("FCL is left out: the package python-fcl is not installed.")
        return

    def collide(pair: MeshPair) -> bool:
        return bool(fcl_mesh_pairs(fcl_mesh(*pair.a), fcl_mesh(*pair.b), 1).is_collision)

    answers = [spent(partial(collide, pair)) for pair in pairs]
    meet = sum(answer for _, answer in answers)
    medians = ", ".join(spread([seconds for seconds, _ in answers]))
    print(f"FCL, yes or no, trees included: {medians}; {meet} of {len(pairs)} meet")


def main(quick: bool = False) -> None:
    """Print the tables."""
    indices = TENTH if quick else range(COUNT)
    paths = {"now": ROOT}
    if path := os.environ.get("CONTACT_LENS_BEFORE"):
        paths["before"] = Path(path)
    versions = {name: Version(path) for name, path in paths.items()}
    records: dict[str, list[Record]] = {"now": [], "before": []}
    for k in indices:
        for name, version in versions.items():
            records[name].append(version.ask("measure", k))
    show_times(records["now"], records["before"])
    for name in versions:
        show_lengths(records[name], name)
    for k, title in enumerate(SCENES, 1):
        for name, version in versions.items():
            seconds, clashes, pairs = version.ask("scene", -k if quick else k)
            print(
                f"{name}: {title}, first answers of {pairs} pairs: {duration(seconds)}, {clashes} clashes, "
                f"{duration(seconds / max(1, clashes))} a clash"
            )
    for name, version in versions.items():
        peaks = {k: version.ask("memory", k) for k in TENTH}
        most = max(peaks, key=lambda k: peaks[k])
        print(f"{name}: at most {peaks[most] / 2**20:.0f} MiB allocated (pair {most}, of {len(peaks)})")
        version.close()
    yes_or_no(mesh_pairs(indices))


if __name__ == "__main__" and sys.argv[1:] == ["serve"]:
    serve()
