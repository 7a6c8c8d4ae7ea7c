# SPDX-License-Identifier: GPL-3.0-or-later
"""One record is all that a number of a clash takes, and files that know less or more numbers are read."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from ..schemas import FOLDER
from .processes import in_process, modules_of
from .reports import load_report
from .scenes import cube, lens, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")
RECORD = """
    Field("overlap", "how much the two overlap", _SIZE, LENGTH, "depth", csv=True, title="Overlap"),
    Field("centroid","""


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this starts the bpy module, which an installed Blender lacks")
def test_one_record_adds_a_number_to_every_report_and_document(addon: ModuleType, tmp_path: Path) -> None:
    cube("A", kind="MESH")
    cube("B", (1.5, 0.0, 0.0), kind="MESH")
    cube("C", (-1.75, 0.0, 0.0))
    file = save_scene(tmp_path / "scene.blend")
    modules = shutil.copytree(modules_of(addon, tmp_path), tmp_path / "modules")
    package = modules / "contact_lens"
    shutil.copytree(FOLDER.parent, package / "docs", dirs_exist_ok=True)
    table = package / "blender_addon" / "scene" / "fields.py"
    text = table.read_text(encoding="utf-8")
    assert text.count('\n    Field("centroid",') == 1
    table.write_text(text.replace('\n    Field("centroid",', RECORD), encoding="utf-8")

    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    options = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    command = [sys.executable, "-m", "contact_lens", "check", str(file), *options, "--pictures", "0"]
    code, _, errors = in_process(command, tmp_path, PYTHONPATH=str(modules))
    assert code == 1, errors
    document = json.loads(paths["json"].read_text(encoding="utf-8"))
    depths = {(row["a"]["name"], row["b"]["name"]): row["overlap"] for row in document["checks"][0]["findings"]}
    assert depths == {("A", "B"): pytest.approx(0.5), ("A", "C"): pytest.approx(0.25)}
    assert [float(row["overlap"]) for row in load_report(paths["csv"])] == pytest.approx([0.5, 0.25])
    head, first, *_ = load_report(paths["html"]).rows[-3:]
    assert first[head.index("Overlap")] == "0.5 m"

    tables = [sys.executable, str(package / "docs" / "field_tables.py")]
    assert in_process([*tables, "--check"], tmp_path)[0] == 1
    assert in_process(tables, tmp_path)[0] == in_process([*tables, "--check"], tmp_path)[0] == 0
    assert "| `overlap` | length | how much the two overlap |" in (package / "docs" / "report.md").read_text("utf-8")
    schema = json.loads((package / "docs" / "schemas" / "scene-report.schema.json").read_text("utf-8"))
    expected = {"type": ["number", "null"], "minimum": 0, "description": "How much the two overlap."}
    assert schema["$defs"]["finding"]["properties"]["overlap"] == expected


def test_stored_clashes_of_fewer_or_other_numbers_are_read() -> None:
    stored_clashes, clashes = lens.clashes.stored_clashes, lens.scene.clashes
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(3, 21))
    codes = np.array([[0, 0, 2]] * 3)
    found = clashes.Clashes(
        np.array([[0, 1], [0, 2], [1, 2]]),
        codes.astype(np.int8),
        stored_clashes._named(numbers, {}),
    )
    stored = stored_clashes.StoredClashes(found, [{"name": name} for name in "ABC"], [[], [], []], [], 1.0, 1.0)
    data = json.loads(stored.as_text())
    expected = [stored.row(k) for k in range(3)]
    assert expected[0]["margins"] == numbers[0, 20]
    assert expected[0]["normal"] == numbers[0, 5:8].tolist()

    def read(**changed: object) -> list[dict[str, object]]:
        again = stored_clashes.StoredClashes.from_text(json.dumps({**data, **changed}))
        return [again.row(k) for k in range(3)]

    packed = stored_clashes.packed
    assert read() == expected
    assert data["numbers"] == packed(numbers[:, :20]), "version 0.2.0 reads 20 numbers"
    assert read(numbers=packed(numbers), later={}) == expected
    assert read(later={**data["later"], "unknown": packed(numbers)}) == expected
    without = [{**row, "margins": None, "notes": []} for row in expected]
    assert read(later={}) == without
    data = {name: value for name, value in data.items() if name != "later"}
    assert read() == without
