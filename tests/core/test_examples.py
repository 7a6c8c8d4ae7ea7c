# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in all docstrings run, and every exported function has one.

An example may use `np` and everything that `contact_lens.core` exports or its module has without importing it.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from contact_lens import core

NAMES = {name: getattr(core, name) for name in core.__all__}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = []
    for info in pkgutil.walk_packages(core.__path__, f"{core.__name__}."):
        module = importlib.import_module(info.name)
        found += finder.find(module, globs={"np": np, **NAMES, **vars(module)})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_the_example_runs(example: doctest.DocTest) -> None:
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=report.append)
    assert not report, "".join(report)


def test_every_function_has_an_example() -> None:
    functions = {name: value for name, value in NAMES.items() if inspect.isfunction(value)}
    missing = [name for name, value in functions.items() if ">>>" not in (value.__doc__ or "")]
    assert not missing
