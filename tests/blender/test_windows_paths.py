# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on Windows and on file systems that fold case, simulated: the paths, and files that others have open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from .reports import KINDS, load_report, run
from .scenes import cube, lens, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    cube("A")
    cube("B", (1.5, 0.0, 0.0))
    return save_scene(tmp_path / "scene.blend")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of files as on Windows, without pauses."""
    files = lens.report.files
    monkeypatch.setattr(files, "ON_WINDOWS", True)
    monkeypatch.setattr(files, "PAUSES", (0.0, 0.0, 0.0))
    return files


@pytest.mark.parametrize(
    ("path", "device"),
    [
        ("NUL", "NUL"),
        ("nul", "NUL"),
        (r"C:\reports\aux.json", "AUX"),
        ("C:/reports/Com1.tar.gz", "COM1"),
        ("lpt²", "LPT²"),
        ("con .txt", "CON"),
        ("CONOUT$", "CONOUT$"),
        ("nul:", "NUL"),
        ("C:aux", "AUX"),
        (r"\\.\NUL", "NUL"),
        ("console.json", None),
        ("com10.json", None),
        (r"C:\aux\out.json", None),
        ("out.nul", None),
        ("", None),
    ],
)
def test_names_of_devices(path: str, device: str | None) -> None:
    assert lens.report.windows_paths.device_of(path) == device


@pytest.mark.parametrize(
    ("path", "stream"),
    [
        ("out.json:notes", "notes"),
        (r"C:\reports\12:30.json", "30.json"),
        ("C:out.json:", ""),
        ("C:out.json", None),
        (r"\\server\share\out.json", None),
        (r"\\?\C:\out.json", None),
    ],
)
def test_second_streams_of_files(path: str, stream: str | None) -> None:
    assert lens.report.windows_paths.stream_of(path) == stream


def test_only_long_paths_are_extended() -> None:
    extended, name = lens.report.windows_paths.extended, "long\\" * 50 + "out.json"
    assert extended(rf"C:\{name}") == rf"\\?\C:\{name}"
    assert extended(rf"\\server\share\{name}") == rf"\\?\UNC\server\share\{name}"
    for path in (r"C:\out.json", r"\\server\share\out.json", rf"\\?\C:\{name}", rf"\\.\{name}"):
        assert extended(path) == path


def test_no_report_goes_to_a_device_but_the_null_device(windows: Any, tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "aux.json", "AUX is the name of a device on Windows: name another file"),
        (tmp_path / "12:30.json", "a file name cannot contain a colon on Windows: name another file"),
    ):
        with pytest.raises(windows.ReportFileError, match=words):
            windows.place_of(str(path))
    place = windows.place_of("nul")
    assert (place.file, place.replaced) == ("NUL", False)


def test_a_path_that_ends_in_any_separator_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = lens.report.files
    monkeypatch.setattr(files, "SEPARATORS", ("\\", "/"))
    for end in "\\/":
        with pytest.raises(files.ReportFileError, match="is a folder"):
            files.place_of(f"{tmp_path / 'out'}{end}")


def refusing(times: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let files be replaced only after so many attempts. Gives the list of the attempts."""
    replace, attempts = os.replace, []

    def attempt(source: str, target: str) -> None:
        attempts.append(target)
        if len(attempts) <= times:
            raise PermissionError(13, "Access is denied", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", attempt)
    return attempts


def test_a_virus_scanner_costs_no_report(
    windows: Any, scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = refusing(2, monkeypatch)
    assert run(scene_file, "--json", tmp_path / "out.json", "--quiet") == 1
    assert len(attempts) == 3
    assert len(load_report(tmp_path / "out.json")["checks"][0]["findings"]) == 1
    assert set(tmp_path.iterdir()) == {scene_file, tmp_path / "out.json"}


def test_a_report_that_is_open_elsewhere_stays_and_what_was_done_too(
    windows: Any,
    scene_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As in a spreadsheet."""
    path = tmp_path / "out.csv"
    assert run(scene_file, "--csv", path, "--quiet") == 1
    before = path.read_bytes()
    attempts = refusing(99, monkeypatch)
    assert run(scene_file, "--csv", path, "--quiet") == 2
    assert len(attempts) == 4
    assert path.read_bytes() == before
    assert capsys.readouterr().err == (
        f"contact_lens: {path} cannot be written: it is read-only, or open in another program: close it there; "
        f"what was done is in {path}.partial\n"
    )
    assert set(tmp_path.iterdir()) == {scene_file, path, tmp_path / "out.csv.partial"}


def test_elsewhere_a_refusal_is_not_tried_again(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lens.report.files, "ON_WINDOWS", False)
    attempts = refusing(1, monkeypatch)
    assert run(scene_file, "--json", tmp_path / "out.json", "--quiet") == 2
    assert len(attempts) == 1


def test_two_names_of_one_file_are_refused(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Out.json and out.json are on Windows and macOS, before there is such a file."""
    files = lens.report.files
    open_partial = files._open
    monkeypatch.setattr(files, "_open", lambda path: open_partial(path.lower()))
    folder = tmp_path / "reports"
    folder.mkdir()
    words = [word for kind, name in zip(KINDS, ("out", "Out", "oUT"), strict=False) for word in (f"--{kind}", name)]
    monkeypatch.chdir(folder)
    assert run(scene_file, *words[:4]) == 2
    assert capsys.readouterr().err == "contact_lens: each report needs a file of its own\n"
    assert not list(folder.iterdir())
