#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Break the engine in many ways, one after the other, and see that the tests notice each.

    python tests/mutation.py                   all of them: some minutes
    python tests/mutation.py --list            their names, and where they are
    python tests/mutation.py --only gjk-one-step sat-no-edge-pairs

A line of the engine with the comment `# mutant: NAME` (or the line after such a comment) is changed as `MUTATIONS` says
for that name, in a copy of the package: the change is one of the syntax tree, so that renaming does not concern it. The
tests that are likely to notice run first, and only if they all pass the others but the slow ones; a file
that notices runs without the mutation too. The checkout itself is never touched. This is not part of the test run: a
mutation that survives is a gap in the tests, and this finds it.

Exit code: 0 every mutation was noticed, 1 one survived or the tests fail without any, 2 a name has no mark, a mark no
name, or the change does not fit the marked line.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPIED = (
    "__init__.py",
    "pyproject.toml",
    "core",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/core",
    "tests/promises",
    "tests/data",
)
TIME_LIMIT = 240.0
"""Seconds for one run of tests: a broken engine may never end, and that is noticed too."""
MARK = re.compile(r"#\s*mutant:\s*([a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*)")
REVERSED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Is: ast.IsNot, ast.IsNot: ast.Is}


class UnfitError(Exception):
    """A mutation does not fit the code."""


class Marked(NamedTuple):
    """A marked line in the syntax tree of its file."""

    tree: ast.Module
    line: int

    def nodes(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """Return the nodes of these kinds that begin on the line, in the order of the source, outer ones first."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, kinds) and node.lineno == self.line]  # type: ignore[attr-defined]
        return sorted(found, key=lambda node: (node.col_offset, -node.end_col_offset))  # type: ignore[attr-defined]

    def node(self, *kinds: type[ast.AST], index: int = 0) -> ast.AST:
        found = self.nodes(*kinds)
        if len(found) <= index:
            raise UnfitError(f"line {self.line} has no {' or '.join(kind.__name__ for kind in kinds)} number {index}")
        return found[index]

    def replace(self, old: ast.AST, new: ast.AST) -> None:
        for parent in ast.walk(self.tree):
            for name, value in ast.iter_fields(parent):
                if value is old:
                    setattr(parent, name, ast.copy_location(new, old))
                elif isinstance(value, list) and any(item is old for item in value):
                    setattr(parent, name, [ast.copy_location(new, old) if item is old else item for item in value])


Change = Callable[[Marked], None]
"""Changes the tree at a marked line."""


def negative(value: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), value)


def condition(value: bool) -> Change:
    """The condition of an `if`, `while` or conditional expression is always this."""

    def change(marked: Marked) -> None:
        marked.node(ast.If, ast.While, ast.IfExp).test = ast.Constant(value)  # type: ignore[attr-defined]

    return change


def operand(index: int) -> Change:
    """One operand of an `and` is true."""

    def change(marked: Marked) -> None:
        marked.node(ast.BoolOp).values[index] = ast.Constant(True)  # type: ignore[attr-defined]

    return change


def drop(marked: Marked) -> None:
    """The statement does nothing."""
    marked.replace(marked.node(ast.stmt), ast.Pass())


def flip(marked: Marked) -> None:
    """A comparison is the other way round."""
    compare = marked.node(ast.Compare)
    compare.ops[0] = REVERSED[type(compare.ops[0])]()  # type: ignore[attr-defined]


def strict(marked: Marked) -> None:
    """A comparison excludes equality."""
    compare = marked.node(ast.Compare)
    compare.ops[0] = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}[type(compare.ops[0])]()  # type: ignore[attr-defined]


def compared(make: Callable[[ast.expr], ast.expr]) -> Change:
    """A comparison is with another right side."""

    def change(marked: Marked) -> None:
        compare = marked.node(ast.Compare)
        compare.comparators[0] = make(compare.comparators[0])  # type: ignore[attr-defined]

    return change


def compare_with(value: float) -> Change:
    return compared(lambda _: ast.Constant(value))


def compare_with_times(factor: float) -> Change:
    return compared(lambda right: ast.BinOp(ast.Constant(factor), ast.Mult(), right))


def positive(marked: Marked) -> None:
    """A condition only asks whether what it compares first is above 0."""
    compare = marked.node(ast.Compare)
    first = ast.Compare(compare.left, [ast.Gt()], [ast.Constant(0.0)])  # type: ignore[attr-defined]
    marked.node(ast.If, ast.While).test = first  # type: ignore[attr-defined]


def true(marked: Marked) -> None:
    """A comparison, or else the value returned, is True."""
    comparisons = marked.nodes(ast.Compare)
    if comparisons:
        marked.replace(comparisons[0], ast.Constant(True))
    else:
        marked.node(ast.Return).value = ast.Constant(True)  # type: ignore[attr-defined]


def sign(index: int = 0) -> Change:
    """A plus is a minus or a minus a plus."""

    def change(marked: Marked) -> None:
        found = [node for node in marked.nodes(ast.BinOp) if isinstance(node.op, ast.Add | ast.Sub)]  # type: ignore[attr-defined]
        if len(found) <= index:
            raise UnfitError(f"line {marked.line} has no sum or difference number {index}")
        found[index].op = ast.Sub() if isinstance(found[index].op, ast.Add) else ast.Add()  # type: ignore[attr-defined]

    return change


def left(marked: Marked) -> None:
    """A sum or difference is its left side only."""
    found = [node for node in marked.nodes(ast.BinOp) if isinstance(node.op, ast.Add | ast.Sub)]  # type: ignore[attr-defined]
    if not found:
        raise UnfitError(f"line {marked.line} has no sum or difference")
    marked.replace(found[0], found[0].left)  # type: ignore[attr-defined]


def unsigned(marked: Marked) -> None:
    """A minus sign is missing."""
    minus = marked.node(ast.UnaryOp)
    marked.replace(minus, minus.operand)  # type: ignore[attr-defined]


def times(factor: float) -> Change:
    """The value assigned is this many times as large."""

    def change(marked: Marked) -> None:
        statement = marked.node(ast.Assign, ast.AnnAssign)
        statement.value = ast.BinOp(ast.Constant(factor), ast.Mult(), statement.value)  # type: ignore[attr-defined]

    return change


def scale(factor: float) -> Change:
    """The first number on the line is this many times as large."""

    def change(marked: Marked) -> None:
        numbers = [node for node in marked.nodes(ast.Constant) if isinstance(node.value, float)]  # type: ignore[attr-defined]
        if not numbers:
            raise UnfitError(f"line {marked.line} has no number")
        numbers[0].value *= factor  # type: ignore[attr-defined]

    return change


def negate(marked: Marked) -> None:
    """The last element of a tuple, a conditional's second arm, each element of a list, or the result is minus that."""
    found = marked.nodes(ast.Tuple, ast.IfExp, ast.ListComp)
    node = found[0] if found else marked.node(ast.Return)
    if isinstance(node, ast.Tuple):
        node.elts[-1] = negative(node.elts[-1])
    elif isinstance(node, ast.IfExp):
        node.orelse = negative(node.orelse)
    elif isinstance(node, ast.ListComp):
        node.elt = negative(node.elt)
    elif isinstance(node, ast.Return) and node.value is not None:
        node.value = negative(node.value)


def negate_vector(marked: Marked) -> None:
    """The last element of the assigned tuple, a vector of floats, points the other way."""
    node = marked.node(ast.Assign).value  # type: ignore[attr-defined]
    turned = ast.parse("tuple(-x for x in _)", mode="eval").body
    turned.args[0].generators[0].iter = node.elts[-1]  # type: ignore[attr-defined]
    node.elts[-1] = turned


def swap(marked: Marked) -> None:
    """The arms of a conditional, or the two elements of the tuples of a comprehension, change places."""
    node = marked.node(ast.IfExp, ast.ListComp)
    if isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Tuple):
        node.elt.elts.reverse()


def swap_with_next(marked: Marked) -> None:
    """A keyword argument and the one on the next line change places."""
    keywords = [node for node in ast.walk(marked.tree) if isinstance(node, ast.keyword)]
    first, second = (next(k for k in keywords if k.lineno == line) for line in (marked.line, marked.line + 1))
    first.value, second.value = second.value, first.value


def first(marked: Marked) -> None:
    """Only the first element is returned, or gone through by a loop."""
    node = marked.node(ast.Return, ast.For)
    name = "iter" if isinstance(node, ast.For) else "value"
    sliced = ast.Subscript(getattr(node, name), ast.Slice(None, ast.Constant(1)), ast.Load())
    setattr(node, name, sliced)


def shorten(marked: Marked) -> None:
    """The last element of the returned tuple lacks its own last element."""
    node = marked.node(ast.Return).value  # type: ignore[attr-defined]
    node.elts[-1].elts.pop()


def call(name: str) -> Change:
    """Another function is called, which the file must know."""

    def change(marked: Marked) -> None:
        function = marked.node(ast.Call).func  # type: ignore[attr-defined]
        if isinstance(function, ast.Attribute):
            function.attr = name
        elif any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(marked.tree)):
            function.id = name
        else:
            raise UnfitError(f"the file has no function {name}")

    return change


def attribute(name: str) -> Change:
    """Another member of an enumeration is taken."""

    def change(marked: Marked) -> None:
        marked.node(ast.Attribute).attr = name  # type: ignore[attr-defined]

    return change


def argument(index: int, value: float) -> Change:
    """An argument of the call is this number."""

    def change(marked: Marked) -> None:
        marked.node(ast.Call).args[index] = ast.Constant(value)  # type: ignore[attr-defined]

    return change


MUTATIONS: dict[str, tuple[Change, str]] = {
    # Name: the change, and which tests run first (what is between `test_` and `.py`). Separating axes.
    "sat-no-faces-of-b": (condition(True), "sat"),
    "sat-no-edge-pairs": (condition(False), "sat"),
    "sat-normal-turned": (condition(False), "sat"),
    "sat-arcs-on-the-other-side": (flip, "sat"),
    "sat-gap-of-the-nearer-side": (sign(), "sat"),
    "sat-careless-cross-product": (call("_cross"), "sat"),
    "sat-no-ties": (condition(True), "sat"),
    "sat-nothing-within-the-plane": (drop, "sat"),
    "boxes-no-faces-of-b": (left, "box_sat"),
    "boxes-edges-of-one-direction": (first, "box_sat"),
    "boxes-half-way-too-far": (sign(), "box_sat"),
    "boxes-normal-turned": (swap, "box_sat"),
    "boxes-careless-when-parallel": (swap, "box_sat"),
    # GJK and what it stands on.
    "gjk-one-step": (condition(True), "gjk"),
    "gjk-touch-too-wide": (times(1e12), "gjk regressions hard_pairs metamorphic"),
    "gjk-normal-turned": (negate_vector, "gjk"),
    "gjk-thin-tetrahedra-by-floats": (drop, "gjk regressions"),
    "gjk-inside-by-floats": (flip, "gjk regressions"),
    "gjk-never-starts-again-exactly": (condition(False), "gjk regressions hard_pairs"),
    "gjk-witness-of-b-mirrored": (sign(), "gjk"),
    "simplex-wrong-side-of-a-triangle": (shorten, "gjk"),
    "simplex-open-segment": (condition(False), "gjk"),
    "exact-volume-sign": (unsigned, "gjk regressions"),
    "exact-farthest-face": (flip, "gjk regressions"),
    "exact-plane-offset": (negate, "epa contact"),
    "support-nearest-vertices": (call("argmin"), "sources"),
    "support-triangle-wound-backwards": (swap, "feature"),
    "support-no-faces": (condition(False), "feature"),
    # EPA.
    "epa-converged-too-early": (times(1e6), "epa contact"),
    "epa-first-face": (condition(False), "epa"),
    "epa-ties-found-in-the-wrong-place": (left, "directions"),
    "epa-no-ties": (first, "epa"),
    "epa-sides-by-floats": (positive, "epa contact regressions"),
    "epa-slivers-by-floats": (compare_with(0.0), "contacts"),
    "epa-inner-radius-forgotten": (drop, "epa contact"),
    "epa-flat-one-way-only": (first, "epa"),
    "epa-polygon-clockwise": (swap, "epa center"),
    # The region.
    "clip-outer-half-planes": (negate, "region"),
    "region-half-the-area": (scale(0.5), "region"),
    "region-mean-of-corners": (scale(1.1), "region"),
    "region-one-depth-for-all": (condition(True), "region"),
    "region-features-of-the-other": (swap, "region"),
    "region-in-the-plane-of-a": (left, "region"),
    # The contact.
    "relation-band-without-floor": (argument(1, 0.0), "contact metamorphic"),
    "relation-inside-mixed": (attribute("B_INSIDE_A"), "contact"),
    "relation-inside-by-bounding-boxes": (operand(1), "contact compound"),
    "relation-no-band": (compare_with(0.0), "contact"),
    "relation-part-of-the-corners": (operand(1), "contact"),
    "relation-clearance-left-out": (strict, "contact"),
    "contact-upper-bound-not-widened": (left, "contact"),
    "contact-lower-bound-not-widened": (left, "contact"),
    "contact-witness-points-swapped": (swap_with_next, "contact"),
    "contact-witness-not-in-the-middle": (condition(False), "witness"),
    "contact-disagreement-unreported": (condition(False), "contact"),
    "contact-mtv-of-a": (negate, "contact"),
    "replay-any-support-point": (condition(False), "replay"),
    "witness-wrong-triangle": (flip, "witness"),
    # The verifier.
    "verify-always-ok": (true, "verify"),
    "verify-believes-the-lower-bound": (true, "verify"),
    "verify-believes-the-upper-bound": (true, "verify"),
    "verify-believes-the-relation": (true, "verify"),
    # Hulls.
    "hull-sharp-tips-left-out": (drop, "hull"),
    "hull-sides-by-floats": (compared(negative), "hull"),
    # Tolerances, each 10,000 times as large or more.
    "tolerance-hull-drop": (scale(1e4), "hull"),
    "tolerance-hull-merge": (scale(1e4), "hull"),
    "tolerance-hull-straight": (scale(1e4), "hull"),
    "tolerance-hull-rank": (scale(1e4), "hull"),
    "tolerance-flat": (scale(1e6), "epa contact"),
    "tolerance-same-direction": (scale(1e4), "epa sat contact"),
    "tolerance-gjk-gap": (scale(1e7), "hard_pairs"),
    "tolerance-region-rounding": (scale(1e4), "region"),
    "tolerance-contact": (scale(1e4), "contact"),
    "tolerance-sat-parallel": (scale(1e4), "sat"),
    "tolerance-box-parallel": (scale(1e4), "box_sat"),
    "tolerance-support-rounding": (scale(1e4), "contact verify"),
}


class Place(NamedTuple):
    """Where a mark is."""

    file: Path
    """Relative to the repository."""
    line: int
    """Of the code, from 1."""


def marks() -> dict[str, Place]:
    """Return the place of each marked mutation. Raise UnfitError when a name is marked twice or unknown."""
    found: dict[str, Place] = {}
    for path in sorted((ROOT / "core").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            mark = MARK.search(line)
            for name in re.split(r"\s*,\s*", mark[1]) if mark else ():
                place = Place(path.relative_to(ROOT), number + line.lstrip().startswith("#"))
                if name in found or name not in MUTATIONS:
                    raise UnfitError(f"{path}:{number}: the mark {name} is {'doubled' if name in found else 'unknown'}")
                found[name] = place
    return found


def mutated(name: str, place: Place) -> str:
    """Return the file with the mutation. Raise UnfitError when it does not fit."""
    source = (ROOT / place.file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    try:
        MUTATIONS[name][0](Marked(tree, place.line))
    except (UnfitError, AttributeError, IndexError, KeyError, StopIteration) as error:
        raise UnfitError(f"{name} does not fit {place.file}:{place.line}: {error}") from error
    text = ast.unparse(ast.fix_missing_locations(tree))
    if text == ast.unparse(ast.parse(source)):
        raise UnfitError(f"{name} changes nothing at {place.file}:{place.line}")
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


def first_failure(copy: Path, file: str) -> str | None:
    """Run a file of tests on the copy and return the first test that fails; None when all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-m", "not slow"]
    try:
        done = subprocess.run(
            [*command, file],
            cwd=copy,
            env=environment(copy),
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f"the clock: {file} did not end in {TIME_LIMIT:.0f} s"
    if done.returncode in (0, 5):  # 5: all tests of the file are slow
        return None
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if found is None or done.returncode not in (1, 2):
        raise UnfitError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found[1]


def noticed_by(copy: Path, name: str, place: Place, passing: set[str]) -> str | None:
    """Return the test that notices the mutation, None when it survives all of them.

    `passing`: the files that pass without a mutation; this adds those it finds out. Raise UnfitError when one does not.
    """
    path = copy / place.file
    source = path.read_text(encoding="utf-8")
    files = {path.stem.removeprefix("test_"): str(path.relative_to(copy)) for path in copy.glob("tests/**/test_*.py")}
    likely = [files[test] for test in MUTATIONS[name][1].split()]
    others = sorted({*files.values()} - {*likely})
    for file in likely + others:
        path.write_text(mutated(name, place), encoding="utf-8")
        try:
            failure = first_failure(copy, file)
        finally:
            path.write_text(source, encoding="utf-8")
        if failure and file not in passing and (without := first_failure(copy, file)):
            raise UnfitError(f"{without} fails without any mutation")
        if failure:
            passing.add(file)
            return failure
    return None


def run(names: list[str], places: dict[str, Place]) -> list[str]:
    """Try mutations, and return those that survive."""
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_package(Path(folder))
        check_import(copy)
        passing: set[str] = set()
        for name in names:
            start = time.monotonic()
            test = noticed_by(copy, name, places[name], passing)
            verdict = "SURVIVED" if test is None else f"noticed by {test}"
            print(f"{name}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
            if test is None:
                survived.append(name)
    return survived


def main() -> int:
    """Run what the command line asks for and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the mutations and stop")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these mutations only")
    options = parser.parse_args()
    if unknown := set(options.only) - set(MUTATIONS):
        parser.error(f"there are no mutations {', '.join(sorted(unknown))}")
    names = options.only or list(MUTATIONS)
    try:
        places = marks()
        if options.list:
            for name in names:
                print(f"{name:36} {'{}:{}'.format(*places[name]) if name in places else 'NO MARK'}")
            return 0
        if missing := [name for name in names if name not in places]:
            raise UnfitError(f"no line of core is marked {', '.join(missing)}")
        for name in names:  # before any time is spent
            mutated(name, places[name])
        survived = run(names, places)
    except UnfitError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(names) - len(survived)} of {len(names)} mutations noticed")
    if survived:
        print(f"survived: {', '.join(survived)}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
