# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress and sub-ranges of it."""

from itertools import combinations

import numpy as np
import pytest

from contact_lens.core.progress import Cancelled, report_progress, subrange


def test_a_subrange_never_passes_its_end_and_never_decreases():
    for start, end in combinations(np.arange(101) / 100.0, 2):
        reported: list[float] = []
        part = subrange(reported.append, start, end)
        for done in (0, 2, 1, 3):
            report_progress(part, done, 3)
        assert reported == sorted(reported)
        assert reported[0] == start
        assert reported[-1] <= end


@pytest.mark.parametrize("answer", [False, np.False_, 0])
def test_only_false_cancels(answer):
    report_progress(lambda _: None, 0.5)
    report_progress(lambda _: True, 0.5)
    with pytest.raises(Cancelled):
        report_progress(lambda _: answer, 0.5)
