# SPDX-License-Identifier: GPL-3.0-or-later
"""Every promise, on thousands of generated pairs of every class, against exact arithmetic.

Most pairs are the same in every run; some are new. A pair that fails is printed as code, as small as it goes: put it
into `test_regressions.PAIRS`. The seed of the new pairs is in the head of pytest's output; CONTACT_LENS_SEED sets it.
To look for more than these tests do: `python -m tests.core.fuzz --pairs 20000`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contact_lens.core import ConvexHull, contact

from ..core import fuzz
from ..core.fuzz import Look, as_code, failures, numbered, report, shrunk
from ..core.generators import CLASSES, COMPOSED, LARGE

SEED = 7_301
FIXED = 5_000
FRESH = 2_000
ROOT = Path(__file__).parents[2]

CERTIFIED = 0.999
"""Fraction of the pairs whose bounds meet within the promised tolerance, at least."""

CONTRADICTED = 0.002
"""Fraction of the pairs on which a float oracle may be wrong by more than the engine may."""


def searched(seed: int, count: int, file: Path) -> list[Look]:
    """Return the results for the pairs, computed by other processes."""
    command = [sys.executable, "-m", "tests.core.fuzz", "--seed", str(seed), "--pairs", str(count), "--json", str(file)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert file.exists(), run.stdout + run.stderr
    return [
        Look(name, *numbered(seed, index)[1:], tuple(words), tuple(contradicted), certified)
        for index, (name, words, contradicted, certified) in enumerate(json.loads(file.read_text(encoding="utf-8")))
    ]


def summary(looks: list[Look]) -> str:
    """Return how many pairs fail, with the first ones made small."""
    wrong = [look for look in looks if look.words]
    return f"{len(wrong)} of {len(looks)} pairs\n" + "\n\n".join(report(look) for look in wrong[:3])


@pytest.mark.slow
def test_every_promise_holds_on_five_thousand_pairs(tmp_path):
    """The bounds meet on nearly all of them too, and three other oracles agree with the exact one."""
    looks = searched(SEED, FIXED, tmp_path / "fixed.json")
    assert len(looks) == FIXED
    assert not any(look.words for look in looks), summary(looks)
    stalled = [look.name for look in looks if not look.certified]
    assert len(stalled) <= (1.0 - CERTIFIED) * len(looks), stalled[:20]
    contradicted = [f"{look.name}: {look.contradictions}" for look in looks if look.contradictions]
    assert len(contradicted) <= CONTRADICTED * len(looks), contradicted[:20]


@pytest.mark.slow
def test_every_promise_holds_on_pairs_that_are_new_in_every_run(fresh_seed, tmp_path):
    looks = searched(fresh_seed, FRESH, tmp_path / "fresh.json")
    assert len(looks) == FRESH
    assert not any(look.words for look in looks), f"seed {fresh_seed}: {summary(looks)}"


def test_all_classes_are_among_them():
    names = {numbered(SEED, index)[0] for index in range(2_000)}
    assert names == {*CLASSES, *COMPOSED, *LARGE}


def test_the_same_number_gives_the_same_pair():
    for index in (0, 5, 11, 77):
        (name, a, b), (again, c, d) = numbered(SEED, index), numbered(SEED, index)
        assert name == again
        assert a.tobytes() == c.tobytes()
        assert b.tobytes() == d.tobytes()


def test_a_failing_pair_shrinks_to_the_vertices_that_matter():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    a[17], b[4], b[21] = (9.25, 0.0, 0.125), (0.0, -8.5, 0.0), (0.0, 0.0, 7.0)

    def fails(p: np.ndarray, q: np.ndarray) -> bool:
        return bool(p[:, 0].max() > 9.0 and q[:, 1].min() < -8.0 and q[:, 2].max() > 6.0)

    p, q = shrunk(a, b, fails)
    assert p.tolist() == [[9.2, 0.0, 0.12]], "one vertex, and no more digits than it takes"
    assert sorted(q.tolist()) == [[0.0, -8.5, 0.0], [0.0, 0.0, 7.0]]


def test_a_broken_engine_is_found_and_the_pair_printed_as_code(monkeypatch):
    monkeypatch.setattr(fuzz, "contact", lambda a, b, **options: contact(b, a, **options))
    name, a, b = next(numbered(SEED, index) for index in range(100) if numbered(SEED, index)[0] == "edge_contact")
    words = failures(a, b)
    assert words
    text = report(Look(name, a, b, tuple(words), (), True))
    first, second = eval(text[text.index("(\n") : text.rindex(")  #") + 1])
    assert failures(np.array(first), np.array(second))
    assert as_code(np.array(first), np.array(second)) in text
    assert contact(ConvexHull(np.array(first)), ConvexHull(np.array(second))).normal.shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [ZeroDivisionError("division by zero"), None])
def test_an_engine_that_raises_or_never_ends_is_found(trouble, monkeypatch):
    def broken(*_, **__):
        if trouble:
            raise trouble
        while True:
            pass

    monkeypatch.setattr(fuzz, "contact", broken)
    monkeypatch.setattr(fuzz, "PAIR_SECONDS", 1)
    words = failures(np.eye(3), np.eye(3) + 0.25)
    assert words == ["ZeroDivisionError: division by zero" if trouble else "TimeoutError: no answer after 1 s"]
