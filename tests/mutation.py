#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Break the engine in many ways, one after the other, and see that the tests notice each.

    python tests/mutation.py                   all of them: some minutes
    python tests/mutation.py --list            their names
    python tests/mutation.py --only gjk-one-step sat-no-edge-pairs

Each mutation replaces one piece of text in one file of a copy of the package; the files of tests that are likely to
notice run first, then all of tests/core but the slow ones. The checkout itself is never touched. No part of the test
run: a mutation that survives is a hole in the tests, and this finds it.

Exit code: 0 every mutation was noticed, 1 one survived or the tests fail without any, 2 a mutation no longer fits the
code it was written for.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("__init__.py", "pyproject.toml", "core", "tests/__init__.py", "tests/conftest.py", "tests/core", "tests/data")
ALL_TESTS = ("tests/core",)
TIME_LIMIT = 240.0
"""Seconds for one run of tests: an engine that is broken may never come to an end, and that is noticed too."""


class Mutation(NamedTuple):
    """One way to break the engine."""

    name: str
    file: str
    """Its name; core/ has each only once."""
    old: str
    """Occurs once in the file."""
    new: str
    tests: str
    """The test files that run first: what is between `test_` and `.py`, separated by spaces."""


class UnfitError(Exception):
    """A mutation does not fit the code."""


MUTATIONS = (
    # Separating axes.
    Mutation("sat-no-faces-of-b", "sat.py", "if not len(axes_b):", "if True:", "sat"),
    Mutation("sat-no-edge-pairs", "sat.py", "not search.done and a.dim == 3", "not search.done and a.dim == 4", "sat"),
    Mutation("sat-normal-turned", "sat.py", "if place < count else -self.axes", "if place < 0 else -self.axes", "sat"),
    Mutation("sat-arcs-on-the-other-side", "sat.py", "side * end > 0.0", "side * end < 0.0", "sat"),
    Mutation("sat-gap-of-the-nearer-side", "sat.py", "between + low_b - high_a", "between + high_b - low_a", "sat"),
    Mutation("sat-careless-cross-product", "sat.py", "careful = _careful_cross(", "careful = _cross(", "sat"),
    Mutation("sat-no-ties", "sat.py", "if len(found) <= 2:", "if len(found) > 0:", "sat"),
    Mutation("sat-nothing-within-the-plane", "sat.py", "search.flat()", "pass", "sat"),
    Mutation(
        "boxes-axis-10-never-the-best",
        "box_sat.py",
        "best, axis, side, u, v = overlap / sqrt(square), 10, along, r21, r01",
        "pass",
        "box_sat",
    ),
    Mutation(
        "boxes-axis-14-never-separates",
        "box_sat.py",
        "return _edges(a, 2, r02, r12, along, overlap, 14)",
        "pass",
        "box_sat",
    ),
    Mutation("boxes-half-way-too-far", "box_sat.py", "and t1 <= h1 + h1\n", "and t1 <= h1 + h1 + h1\n", "box_sat"),
    Mutation("boxes-half-way-of-b-too-far", "box_sat.py", "<= g2 + g2\n", "<= g2 + g2 + g2\n", "box_sat"),
    Mutation(
        "boxes-normal-turned",
        "box_sat.py",
        "normal = (nx, ny, nz) if along >= 0.0",
        "normal = (nx, ny, nz) if along < 0.0",
        "box_sat",
    ),
    Mutation("boxes-careless-when-parallel", "box_sat.py", "if q20 < _BOX_WIDE:", "if q20 < 2.0:", "box_sat"),
    # GJK and what it stands on.
    Mutation(
        "gjk-one-step",
        "gjk.py",
        "if v2 - v_w <= GJK_GAP * EPS * length * (length + size):",
        "if True:",
        "gjk",
    ),
    Mutation(
        "gjk-touch-too-wide", "gjk.py", "touch = GJK_TOUCH * EPS * size", "touch = 1e6 * GJK_TOUCH * EPS * size", "gjk"
    ),
    Mutation(
        "gjk-normal-turned",
        "gjk.py",
        "best_gap, best_normal = gap, normal",
        "best_gap, best_normal = gap, (-nx, -ny, -nz)",
        "gjk",
    ),
    Mutation(
        "gjk-thin-tetrahedra-by-floats",
        "gjk.py",
        "found = nearest_on_simplex_exactly(tried)",
        "pass",
        "gjk regressions",
    ),
    Mutation(
        "gjk-inside-by-floats",
        "gjk.py",
        "if found is None and not encloses_origin(",
        "if found is not None and not encloses_origin(",
        "gjk regressions",
    ),
    Mutation("gjk-never-starts-again-exactly", "gjk.py", "if not settled:", "if False:", "gjk regressions hard_pairs"),
    Mutation("gjk-witness-of-b-mirrored", "gjk.py", "qx + weight * (x - bx)", "qx - weight * (x - bx)", "gjk"),
    Mutation(
        "simplex-wrong-side-of-a-triangle",
        "simplex.py",
        "az + t * vz, (a, c)",
        "az + t * vz, (a, b)",
        "gjk",
    ),
    Mutation("simplex-open-segment", "simplex.py", "if along >= length2:", "if False:", "gjk"),
    Mutation(
        "exact-volume-sign",
        "exact.py",
        "-sign * _dot(_cross(p, r), s)",
        "sign * _dot(_cross(p, r), s)",
        "gjk regressions",
    ),
    Mutation(
        "exact-farthest-face",
        "exact.py",
        "square * best_scale < best_square * scale",
        "square * best_scale > best_square * scale",
        "gjk regressions",
    ),
    Mutation(
        "exact-plane-offset", "exact.py", "(*normal, _dot(normal, p))", "(*normal, -_dot(normal, p))", "epa contact"
    ),
    Mutation("support-nearest-vertices", "support.py", "np.argmax(directions", "np.argmin(directions", "support"),
    Mutation(
        "support-triangle-wound-backwards",
        "support.py",
        "(i, j, k) if turn_ab > 0.0",
        "(i, j, k) if turn_ab < 0.0",
        "support",
    ),
    Mutation("support-no-faces", "support.py", "> width * width * length2:", "> 1e300:", "support"),
    # EPA.
    Mutation(
        "epa-converged-too-early",
        "epa.py",
        "converged = EPA_CONVERGED * EPS * size\n    filtered",
        "converged = 1e6 * EPA_CONVERGED * EPS * size\n    filtered",
        "epa contact",
    ),
    Mutation("epa-first-face", "epa.py", "if gap > converged and (w_a, w_b) not in known:", "if False:", "epa"),
    Mutation(
        "epa-ties-found-in-the-wrong-place",
        "directions.py",
        "bisect_left(heights, height - width)",
        "bisect_left(heights, height)",
        "directions",
    ),
    Mutation("epa-no-ties", "epa.py", "return tuple(distinct)", "return tuple(distinct[:1])", "epa"),
    Mutation(
        "epa-sides-by-floats",
        "epa.py",
        "if height >= below and (height > -below or grid.height(across, p2, q2, r2, apex) > 0):",
        "if height > 0.0:",
        "epa contact regressions",
    ),
    Mutation(
        "epa-slivers-by-floats",
        "epa.py",
        "if length2 > sliver2 * u2 * v2:",
        "if length2 > 0.0:",
        "epa contact regressions",
    ),
    Mutation(
        "epa-inner-radius-forgotten",
        "epa.py",
        "directions.add(x, y, z)\n            inner = min(inner, offset)",
        "directions.add(x, y, z)",
        "epa contact",
    ),
    Mutation(
        "epa-flat-one-way-only",
        "epa.py",
        "for sign in (1.0, -1.0):\n        normal",
        "for sign in (1.0,):\n        normal",
        "epa",
    ),
    Mutation(
        "epa-polygon-clockwise",
        "epa.py",
        "(p, q, r) if height > 0.0 else (p, r, q)",
        "(p, r, q) if height > 0.0 else (p, q, r)",
        "epa",
    ),
    # The region.
    Mutation(
        "clip-outer-half-planes",
        "clip.py",
        "insides = [gx * (c[0] - x0) + gy",
        "insides = [-gx * (c[0] - x0) - gy",
        "region",
    ),
    Mutation(
        "region-half-the-area", "region.py", "_POLYGON, 0.5 * twice_area", "_POLYGON, 0.25 * twice_area", "region"
    ),
    Mutation(
        "region-mean-of-corners",
        "region.py",
        "x0 + mx / thrice, y0 + my / thrice",
        "sum(c[0] for c in corners) / count, sum(c[1] for c in corners) / count",
        "region",
    ),
    Mutation("region-one-depth-for-all", "region.py", "if lower.level and upper.level:", "if True:", "region"),
    Mutation(
        "region-features-of-the-other",
        "region.py",
        "[(second, first) for first, second in reversed(pairs)]",
        "pairs[::-1]",
        "region",
    ),
    Mutation(
        "region-in-the-plane-of-a", "region.py", "0.5 * (lower.support + upper.support)", "lower.support", "region"
    ),
    # What the contact says.
    Mutation(
        "relation-band-without-floor",
        "relation.py",
        "promised(0.0, small, max(a.magnitude, b.magnitude))",
        "0.0",
        "contact metamorphic",
    ),
    Mutation(
        "relation-inside-mixed", "relation.py", "return Relation.A_INSIDE_B", "return Relation.B_INSIDE_A", "contact"
    ),
    Mutation(
        "relation-inside-by-bounding-boxes",
        "relation.py",
        "if a_in_b and _inside(a, b, band):",
        "if a_in_b:",
        "contact",
    ),
    Mutation(
        "relation-no-band", "relation.py", "if signed_distance >= -band:", "if signed_distance >= 0.0:", "contact"
    ),
    Mutation(
        "relation-part-of-the-corners",
        "relation.py",
        "return _corners_match(a, b, slack) and _corners_match(b, a, slack)",
        "return _corners_match(a, b, slack)",
        "contact",
    ),
    Mutation(
        "relation-clearance-left-out",
        "relation.py",
        "signed_distance <= clearance",
        "signed_distance < clearance",
        "contact",
    ),
    Mutation(
        "contact-upper-bound-not-widened", "contact.py", "signed_distance) + rounding", "signed_distance)", "contact"
    ),
    Mutation("contact-lower-bound-not-widened", "contact.py", "answer.slab) - rounding", "answer.slab)", "contact"),
    Mutation(
        "contact-witness-points-swapped",
        "contact.py",
        "point_on_a=read_only(point_on_a),\n        point_on_b=read_only(point_on_b),",
        "point_on_a=read_only(point_on_b),\n        point_on_b=read_only(point_on_a),",
        "contact",
    ),
    Mutation("contact-witness-not-in-the-middle", "contact.py", "if len(region.vertices) > 1:", "if False:", "witness"),
    Mutation("contact-disagreement-untold", "contact.py", "if contradiction > tolerance:", "if False:", "contact"),
    Mutation(
        "contact-mtv-of-a",
        "separation.py",
        "else self.depth * self.normal",
        "else -self.depth * self.normal",
        "contact",
    ),
    Mutation("witness-wrong-triangle", "witness.py", "(z - az) * tz >= 0.0:", "(z - az) * tz <= 0.0:", "witness"),
    # The verifier.
    Mutation("verify-always-ok", "check.py", "return all(check.ok for check in self.checks)", "return True", "verify"),
    Mutation("verify-believes-the-lower-bound", "verify.py", "contact.lower_bound <= proven and", "", "verify"),
    Mutation("verify-believes-the-upper-bound", "verify.py", "contact.upper_bound >= proven and", "", "verify"),
    Mutation("verify-believes-the-relation", "verify.py", "contact.relation in possible", "True", "verify"),
    # Hulls.
    Mutation(
        "hull-sharp-tips-left-out",
        "quickhull.py",
        "self._grow(ids[outside], owner[outside], volume[outside], progress, exactly=True)",
        "pass",
        "hull",
    ),
    Mutation(
        "hull-sides-by-floats",
        "quickhull.py",
        "unclear = np.flatnonzero(np.abs(height) <= self.grid.filter)",
        "unclear = np.flatnonzero(height > np.inf)",
        "hull",
    ),
    # Tolerances, each 10,000 times what it is or more, or nothing.
    Mutation("tolerance-hull-drop", "tolerance.py", "HULL_DROP = 2.0", "HULL_DROP = 2e4", "hull"),
    Mutation("tolerance-hull-merge", "tolerance.py", "HULL_MERGE = 4.0", "HULL_MERGE = 4e4", "hull"),
    Mutation("tolerance-hull-straight", "tolerance.py", "HULL_STRAIGHT = 3.0", "HULL_STRAIGHT = 3e4", "hull"),
    Mutation("tolerance-hull-rank", "tolerance.py", "HULL_RANK = 7.0", "HULL_RANK = 7e4", "hull"),
    Mutation("tolerance-flat", "epa.py", "\n_FLAT = 8.0", "\n_FLAT = 8e6", "epa contact"),
    Mutation(
        "tolerance-same-direction", "tolerance.py", "SAME_DIRECTION = 1e-7", "SAME_DIRECTION = 1e-3", "epa sat contact"
    ),
    Mutation("tolerance-gjk-gap", "tolerance.py", "GJK_GAP = 4.0", "GJK_GAP = 4e4", "gjk contact"),
    Mutation("tolerance-region-rounding", "tolerance.py", "REGION_ROUNDING = 16.0", "REGION_ROUNDING = 16e4", "region"),
    Mutation(
        "tolerance-contact",
        "tolerance.py",
        "DEFAULT_CONTACT_TOLERANCE = 1e-5",
        "DEFAULT_CONTACT_TOLERANCE = 0.1",
        "contact",
    ),
    Mutation("tolerance-sat-parallel", "tolerance.py", "SAT_PARALLEL = 1e-13", "SAT_PARALLEL = 1e-9", "sat"),
    Mutation("tolerance-box-parallel", "tolerance.py", "BOX_PARALLEL = 1e-13", "BOX_PARALLEL = 1e-9", "box_sat"),
    Mutation(
        "tolerance-support-rounding",
        "tolerance.py",
        "SUPPORT_ROUNDING = 4.0",
        "SUPPORT_ROUNDING = 4e4",
        "contact verify",
    ),
)


def mutated(mutation: Mutation, source: str) -> str:
    """Return the file with the mutation. Raises UnfitError when its old text is not there exactly once."""
    count = source.count(mutation.old)
    if count != 1:
        raise UnfitError(f"{mutation.name}: its old text is {count} times in {mutation.file}: {mutation.old!r}")
    text = source.replace(mutation.old, mutation.new)
    try:
        compile(text, mutation.file, "exec")
    except SyntaxError as error:
        raise UnfitError(f"{mutation.name}: {mutation.file} is no Python with it: {error}") from error
    return text


def copy_package(folder: Path) -> Path:
    """Copy what the tests of the core need into a folder, and return the root of the copy."""
    copy = folder / "contact_lens"
    for name in COPIED:
        source, target = ROOT / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "images"))
        else:
            shutil.copy2(source, target)
    return copy


def environment(copy: Path) -> dict[str, str]:
    """Return the variables under which Python imports the copy, and keeps no compiled file of an earlier mutation."""
    return {**os.environ, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}


def check_import(copy: Path) -> None:
    """Raise UnfitError when `contact_lens` would be another package than the copy."""
    program = "import contact_lens.core; print(contact_lens.core.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=copy, env=environment(copy), capture_output=True, text=True, check=True
    )
    found = Path(done.stdout.strip()).resolve()
    if found != (copy / "core" / "__init__.py").resolve():
        raise UnfitError(f"Python imports {found} instead of the copy")


def first_failure(copy: Path, tests: tuple[str, ...]) -> str | None:
    """Run tests on the copy and return the first that fails; None when all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-m", "not slow"]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=copy, env=environment(copy), capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return f"the clock: {' '.join(tests)} did not end in {TIME_LIMIT:.0f} s"
    if done.returncode == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/core/)?(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if found is None or done.returncode not in (1, 2):
        raise UnfitError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found[1]


def broken_file(copy: Path, mutation: Mutation) -> Path:
    """Return the file of the mutation in a copy of the package."""
    found = list((copy / "core").rglob(mutation.file))
    if len(found) != 1:
        raise UnfitError(f"{mutation.name}: core/ has {len(found)} files {mutation.file}")
    return found[0]


def noticed_by(copy: Path, mutation: Mutation) -> str | None:
    """Return the test that notices the mutation, None when it survives all of them."""
    path = broken_file(copy, mutation)
    source = path.read_text(encoding="utf-8")
    path.write_text(mutated(mutation, source), encoding="utf-8")
    try:
        likely = tuple(f"tests/core/test_{name}.py" for name in mutation.tests.split())
        return first_failure(copy, likely) or first_failure(copy, ALL_TESTS)
    finally:
        path.write_text(source, encoding="utf-8")


def main() -> int:
    """Run what the command line asks for and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the mutations and stop")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these mutations only")
    options = parser.parse_args()
    if options.list:
        for mutation in MUTATIONS:
            print(f"{mutation.name:36} {mutation.file}")
        return 0
    unknown = set(options.only) - {mutation.name for mutation in MUTATIONS}
    if unknown:
        parser.error(f"no mutation has the name {', '.join(sorted(unknown))}")
    chosen = [mutation for mutation in MUTATIONS if mutation.name in options.only or not options.only]
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            copy = copy_package(Path(folder))
            for mutation in chosen:  # before any time is spent
                mutated(mutation, broken_file(copy, mutation).read_text(encoding="utf-8"))
            check_import(copy)
            failure = first_failure(copy, ALL_TESTS)
            if failure is not None:
                print(f"without any mutation {failure} fails: nothing can be told", file=sys.stderr)
                return 1
            for mutation in chosen:
                start = time.monotonic()
                test = noticed_by(copy, mutation)
                verdict = "SURVIVED" if test is None else f"noticed by {test}"
                print(f"{mutation.name}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
                if test is None:
                    survived.append(mutation.name)
        except UnfitError as error:
            print(error, file=sys.stderr)
            return 2
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutations noticed")
    if survived:
        print(f"survived: {', '.join(survived)}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
