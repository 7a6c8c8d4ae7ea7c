# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about many processes: its example runs, and gives what one process does when another one is killed."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from contact_lens.core import ConvexHull, ShapeSet, contacts

from ..assertions import assert_same_rows

PAGE = Path(__file__).parents[3] / "docs" / "many-processes.md"


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The code of the page as a module, which other processes can import too."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "dask_example.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "dask_example", raising=False)
    return importlib.import_module("dask_example")


@pytest.mark.slow
def test_the_example_of_the_page_runs(example: ModuleType) -> None:
    assert example.__file__ is not None
    done = subprocess.run([sys.executable, example.__file__], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in PAGE.read_text(encoding="utf-8")
    assert done.stdout.strip().endswith("collide")


@pytest.mark.slow
def test_a_hundred_thousand_shapes_in_two_processes_of_which_one_is_killed(example: ModuleType) -> None:
    from distributed import Client, LocalCluster, as_completed

    random = np.random.default_rng(19)
    count = 100_000
    points = [random.normal(size=(12, 3)) for _ in range(20)]
    kinds, poses = random.integers(0, len(points), count), np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
    poses[:, :3, 3] = random.uniform(0.0, 200.0, (count, 3))
    killed: list[int] = []

    class KillingClient(Client):
        """Kills one of two processes as soon as three parts have an answer."""

        def gather(self, futures, *args, **kwargs):
            if not killed:
                processes = self.run(os.getpid)
                for done, _ in enumerate(as_completed(futures), 1):
                    if done == 3:
                        break
                killed.append(next(iter(processes.values())))
                os.kill(killed[0], getattr(signal, "SIGKILL", signal.SIGTERM))
                assert any(future.status == "pending" for future in futures)
            return super().gather(futures, *args, **kwargs)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        KillingClient(cluster) as client,
    ):
        found = example.find_contacts(client, points, kinds, poses, number=24)
        assert killed[0] not in client.run(os.getpid).values()
    hulls = [ConvexHull(cloud) for cloud in points]
    shapes = ShapeSet([hulls[kind] for kind in kinds])
    whole = contacts(shapes, poses=poses, regions=False, certificates=False, reproducible=True)
    assert len(whole) > 20_000
    assert_same_rows(found, whole)
