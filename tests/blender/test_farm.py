# SPDX-License-Identifier: GPL-3.0-or-later
"""Job descriptions for many machines: what `farm` writes."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import bpy
import pytest

from .farms import as_submitted, compiled, moving_cube, written
from .reports import run
from .scenes import lens

pytestmark = pytest.mark.usefixtures("empty_scene")

WRITTEN = {"contact_lens_check.js", "check.yaml", "gnu_parallel.sh", "github_actions.yml"}


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    return moving_cube(tmp_path)


# --- what is written ------------------------------------------------------------------------------------------------


def test_each_description_has_the_files_frames_and_options(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--chunk-size", 2, "--shards", 2, "--clearance=2mm", "--collections", "Props", "Outer Walls", "--exact"]
    texts = written(tmp_path / "jobs", scene_file, "--frames", "1-6", *options)
    assert texts.keys() == WRITTEN
    said = capsys.readouterr().out
    assert all(str(tmp_path / "jobs" / name) in said for name in WRITTEN), "it names what it wrote"
    next_step = ["openjd", "run", str(tmp_path / "jobs" / "check.yaml"), "-p", f"File={scene_file}"]
    assert shlex.join(next_step) in said, "and what to do next"
    check = ["--clearance=2mm", "--collections", "Props", "Outer Walls", "--exact"]

    shell = texts["gnu_parallel.sh"]
    values = {name: shlex.split(value) for name, value in re.findall(r"^(\w+)=\((.*)\)$", shell, re.MULTILINE)}
    assert values["program"] == lens.commands.farm.program()
    assert values["run"] == [str(scene_file), "--frames=1-6", *check]
    assert values["covers"] == ["--only-frames=1-2", "--only-frames=3-4", "--only-frames=5-6"]
    assert "\nshards=2\n" in shell

    workflow = " ".join(texts["github_actions.yml"].split())
    assert 'covers: ["--only-frames=1-2", "--only-frames=3-4", "--only-frames=5-6"]' in workflow
    assert f"check {shlex.join([scene_file.name, '--frames=1-6', *check])} ${{{{ matrix.covers }}}}" in workflow
    assert "--shard ${{ matrix.shard }}/2 " in workflow

    job_type = texts["contact_lens_check.js"]
    assert 'default: "--clearance=2mm --collections Props \\"Outer Walls\\" --exact",' in job_type

    template = texts["check.yaml"]
    assert template.count("default: 2\n") == 2, "frames in a chunk, and shards"
    items = [line.strip().removeprefix("- ").strip('"') for line in template.splitlines()]
    place = items.index("{{Param.File}}")
    assert items[place + 1 : place + 1 + len(check)] == check


@pytest.mark.parametrize("frames", [["--frames", "3-9", "--chunk-size", "4"], []], ids=["frames", "stills"])
def test_no_line_of_a_description_is_left_as_it_is_in_the_package(
    scene_file: Path, tmp_path: Path, frames: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a template was edited, and `farm` does not find the line any more."""
    farm = lens.commands.farm
    monkeypatch.setattr(farm.blend_file, "saved_by", lambda file: (4, 2))
    made = farm.parser("farm")
    arguments = [str(tmp_path), str(scene_file), *frames, "--shards", "3", "--exact"]
    arguments += ["--csv", str(tmp_path / "a.csv"), "--fail-on", "never", "--pictures", "3", "--allow-skipped"]
    job = farm._job(made, made.parse_args(arguments), arguments)
    for template in farm.WRITTEN:
        lines = template.lines(job)
        assert lines
        for line in lines:
            assert f"\n{line}\n" in template.text, f"{template.path} has no line {line!r}"
            assert f"\n{line}\n" not in template.filled(job)


@pytest.fixture
def baseline(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A report of frame 1 of the file."""
    path = tmp_path / "old.json"
    assert run("check", scene_file, "--frames", "1", "--json", path) == 0
    capsys.readouterr()
    return path


def test_each_job_makes_the_reports_and_judges_as_it_was_asked_to(
    scene_file: Path,
    baseline: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (scene_file.parent / ".git").mkdir()
    (tmp_path / "reports").mkdir()
    monkeypatch.chdir(baseline.parent)
    options = ["--csv", "reports/room.csv", "--html=reports/room.html", "--fail-on", "new", "--pictures", 3]
    options += ["--baseline", baseline.name, "--allow-skipped", "--quiet"]
    texts = written(tmp_path / "jobs", scene_file, "--frames", "1", *options)
    html, csv = (str(tmp_path / "reports" / name) for name in ("room.html", "room.csv"))
    said = capsys.readouterr().out
    assert f"-p Reports={tmp_path / 'reports'}\n  it writes {html}, {csv}\n" in said
    assert f"gnu_parallel.sh\n  it writes {html}, {csv}\n" in said

    verdict = f"--pictures 3 --fail-on new --allow-skipped --quiet --baseline {baseline}"
    shell = texts["gnu_parallel.sh"]
    assert f"merge=(--html {html} --csv {csv} {verdict})" in shell
    assert f" --quiet --baseline {baseline})" in shell, "a part does not judge"

    workflow = " ".join(texts["github_actions.yml"].split())
    assert "--html room.html --csv room.csv --pictures 3 --fail-on new --allow-skipped --quiet --baseline" in workflow
    assert "path: | room.html room.csv" in workflow

    template = " ".join(texts["check.yaml"].split())
    assert '- --html - "{{Param.Reports}}/room.html" - --csv - "{{Param.Reports}}/room.csv" - --pictures' in template
    assert f'- "{{{{Param.FailOn}}}}" - "--allow-skipped" - "--quiet" - "--baseline" - "{baseline}"' in template
    assert "default: new" in template
    assert "default: 3 " in template
    assert f"allowedValues: [{', '.join(lens.report.criteria.FAIL_ON)}]" in template

    job_type = texts["contact_lens_check.js"]
    assert 'const REPORTS = {"html": ".html", "csv": ".csv"};' in job_type
    assert "choices: [" + ", ".join(f'"{word}"' for word in lens.report.criteria.FAIL_ON) + "]" in job_type
    assert f'default: "--quiet --baseline {baseline}",' in job_type
    assert f'default: "--allow-skipped --quiet --baseline {baseline}",' in job_type
    assert 'default: "new",' in job_type


def test_reports_of_one_name_are_refused(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = ("--json", tmp_path / "room", "--html", scene_file.parent / "room")
    assert run("farm", tmp_path / "jobs", scene_file, "--frames", "1", *reports) == 2
    assert "each report needs a name of its own" in capsys.readouterr().err


def test_rules_that_each_part_would_refuse_are_refused(scene_file: Path, tmp_path: Path) -> None:
    rules = ("--ignore", "none", "--ignore", "parents")
    assert run("farm", tmp_path / "jobs", scene_file, "--frames", "1", *rules) == 2
    assert not (tmp_path / "jobs").exists()


def test_each_job_makes_three_reports_in_the_folder_if_none_is_named(scene_file: Path, tmp_path: Path) -> None:
    shell = written(tmp_path / "jobs", scene_file, "--frames", "1")["gnu_parallel.sh"]
    places = " ".join(
        f"--{kind} {tmp_path / 'jobs'}/clashes.{ending}"
        for kind, ending in (("html", "html"), ("json", "json"), ("junit", "xml"))
    )
    assert f"merge=({places} --pictures 20 --fail-on any)" in shell


def test_the_open_file_and_its_frames_are_the_default(scene_file: Path, tmp_path: Path) -> None:
    shell = written(tmp_path / "jobs")["gnu_parallel.sh"]
    assert f"run=('{scene_file}' --frames=1-6)" in shell


def test_the_default_frames_are_those_of_the_scene_that_is_checked(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bpy.data.scenes.new("Other").frame_end = 3
    assert "--frames=1-3 --scene Other)" in written(tmp_path / "jobs", "--scene", "Other")["gnu_parallel.sh"]
    assert run("farm", tmp_path / "none", "--scene", "Missing") == 2
    assert "Missing" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_yaml_has_no_letter_as_two_escapes(scene_file: Path, tmp_path: Path) -> None:
    name = 'a "\N{LATIN SMALL LETTER E WITH ACUTE}" \N{GRINNING FACE}'
    template = written(tmp_path / "jobs", scene_file, "--frames", "1-6", "--object", name)["check.yaml"]
    assert '            - "a \\"\\u00e9\\" \N{GRINNING FACE}"\n' in template


def test_a_part_of_a_job_of_stills_is_a_file(scene_file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(scene_file, tmp_path / "other"))
    texts = written(tmp_path / "jobs", scene_file, other, scene_file, "--shards", 2)
    covers = [f"--only-files={file}" for file in (scene_file, other)]
    assert f"\nrun=({shlex.join(map(str, (scene_file, other, scene_file)))})\n" in texts["gnu_parallel.sh"]
    assert f"\ncovers=({shlex.join(covers)})\n" in texts["gnu_parallel.sh"]
    places = [f"\"'--only-files=a scene/{scene_file.name}'\"", f"\"'--only-files=other/{scene_file.name}'\""]
    assert f"covers: [{', '.join(places)}]\n" in texts["github_actions.yml"]
    assert "range: 1-2\n        - name: Shard\n" in texts["check.yaml"]
    for name, text in texts.items():
        frames = [line for line in text.splitlines() if re.search(r"--(only-)?frames", line)]
        assert not frames or name == "contact_lens_check.js", f"{name} has frames"


@pytest.mark.parametrize(
    ("saved", "bpy_version", "python"),
    [
        ([(3, 6)], "4.2", "3.11"),
        ([(4, 5)], "4.5", "3.11"),
        ([(5, 0), (4, 2)], "5.0", "3.11"),
        ([(4, 2), (5, 1)], "5.1", "3.13"),
        ([(9, 9)], "5.2", "3.13"),
        ([(4, 2), None], "5.2", "3.13"),
    ],
)
def test_the_workflow_installs_the_oldest_blender_that_is_not_older_than_the_files(
    scene_file: Path,
    tmp_path: Path,
    saved: list[tuple[int, int] | None],
    bpy_version: str,
    python: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = iter(saved)
    monkeypatch.setattr(lens.commands.blend_file, "saved_by", lambda file: next(versions))
    text = written(tmp_path / "jobs", *[scene_file] * len(saved))["github_actions.yml"]
    assert f'"bpy=={bpy_version}.*" ' in text
    assert f'PYTHON: "{python}"\n' in text


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_file_says_which_blender_has_saved_it(tmp_path: Path, is_compressed: bool) -> None:
    path = tmp_path / "file.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=is_compressed)
    assert lens.commands.blend_file.saved_by(str(path)) == bpy.app.version[:2]


@pytest.mark.parametrize(
    ("beginning", "version"),
    [
        (b"BLENDER-v402RENDH", (4, 2)),
        (b"BLENDER_V279RENDH", (2, 79)),
        (b"BLENDER17-01v0502", (5, 2)),
        (gzip.compress(b"BLENDER-v293RENDH", mtime=0), (2, 93)),
        (gzip.compress(b"BLENDER-v293RENDH", mtime=0)[:12], None),
        (b"\x28\xb5\x2f\xfd and no frame", None),
        (b"BLENDER", None),
        (b"", None),
    ],
    ids=["4", "2", "5", "gzip", "cut", "damaged", "short", "empty"],
)
def test_the_version_is_read_from_the_beginning(
    tmp_path: Path, beginning: bytes, version: tuple[int, int] | None
) -> None:
    path = tmp_path / "file.blend"
    path.write_bytes(beginning)
    assert lens.commands.blend_file.saved_by(str(path)) == version


def test_the_workflow_installs_blender_and_the_wheel(scene_file: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    workflow = yaml.safe_load(written(tmp_path / "jobs", scene_file, "--frames", "1")["github_actions.yml"])
    for name, job in workflow["jobs"].items():
        (command,) = (step["run"] for step in job["steps"] if "INSTALL" in step.get("run", ""))
        # A variable of the shell would keep the quotes in its words.
        words = shlex.split(command.replace("${{ env.INSTALL }}", workflow["env"]["INSTALL"]))
        assert words == ["pip", "install", "bpy=={}.{}.*".format(*bpy.app.version), "contact_lens-*.whl"], name
        (setup,) = (step["with"] for step in job["steps"] if "setup-python" in step.get("uses", ""))
        assert setup["python-version"] == "${{ env.PYTHON }}"
        assert (setup["cache"], setup["cache-dependency-path"]) == ("pip", ".github/workflows/*.yml"), name
    assert workflow["env"]["PYTHON"] == "{}.{}".format(*sys.version_info)
    assert workflow["jobs"]["check"]["strategy"]["fail-fast"] is False


@pytest.mark.parametrize("file", ["docs/many-machines.md", "farm/github_actions.yml"])
def test_recipes_have_the_python_of_their_blender(file: str) -> None:
    farm = lens.commands.farm
    text = (Path(__file__).resolve().parents[2] / file).read_text(encoding="utf-8")
    versions = {tuple(map(int, version)) for version in re.findall(r'"bpy==(\d)\.(\d)\.\*"', text)}
    pythons = set(re.findall(r'(?:python-version: |PYTHON: |python:)"?(3[.0-9]+)', text))
    assert pythons == {farm.PYTHON_OF_BPY[version] for version in versions}
    assert versions == {max(farm.PYTHON_OF_BPY)}, "a new version of Blender is in all of them"


def test_the_recipes_for_one_machine_run(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    guide = Path(__file__).resolve().parents[2] / "docs" / "many-machines.md"
    github, gitlab, jenkins = re.findall(r"^```(?:yaml|groovy)\n(.*?)^```", guide.read_text("utf-8"), re.M | re.S)
    steps = yaml.safe_load(github)["jobs"]["clashes"]["steps"]
    job = yaml.safe_load(gitlab)["clashes"]
    (at_github,) = (step["run"] for step in steps if "check" in step.get("run", ""))
    (at_gitlab,) = job["script"]
    at_jenkins = re.findall(r"sh '''\s*(.*?)\s*'''", jenkins, re.S)[0].replace("\\\n", "")
    name, *words = shlex.split(at_github)
    assert [name, *words] == shlex.split(at_gitlab) == shlex.split(at_jenkins)
    assert name == "contact-lens"

    words[words.index("1-250")] = "1-6"
    monkeypatch.chdir(scene_file.parent)
    scene_file.rename("room.blend")
    place = words.index("--jobs")
    assert run(*words[:place], *words[place + 2 :], "--pictures", 0) == 1
    made = {path.name for path in scene_file.parent.iterdir()} - {"room.blend"}
    for pattern in (
        steps[-1]["with"]["path"],
        *job["artifacts"]["paths"],
        *re.findall("archiveArtifacts '(.*)'", jenkins),
    ):
        assert {path.name for path in scene_file.parent.glob(pattern)} == made
    assert {job["artifacts"]["reports"]["junit"], *re.findall("junit '(.*)'", jenkins)} == {"clashes.xml"} <= made


def test_only_descriptions_are_written_over(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "jobs"
    written(folder, scene_file, "--frames", "1-6")
    again = written(folder, scene_file, "--frames", "1-6")
    assert "--frames=1-6)" in again["gnu_parallel.sh"]
    (folder / "check.yaml").write_text("name: mine\n", encoding="utf-8")
    assert run("farm", folder, scene_file, "--frames", "1-3") == 2
    assert f"{folder / 'check.yaml'}: the file there is not a job description" in capsys.readouterr().err
    assert (folder / "gnu_parallel.sh").read_text(encoding="utf-8") == again["gnu_parallel.sh"], "nothing is written"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.blend", "--frames", "1"], "none.blend: there is no such file"),
        (["SCENE", "--chunk-size", "3"], "--chunk-size divides frames: name them with --frames"),
        (["SCENE", "--frames", "1", "--shards", "0"], "--shards: expected a number of 1 or more, not '0'"),
        (["SCENE", "--frames", "1", "--json", "-"], "-: a job writes its reports to files: name one"),
        (["SCENE", "--frames", "1", "--json", "none/x.json"], "there is no folder"),
        (["SCENE", "--frames", "1", "--pictures", "-1"], "--pictures: expected a number of 0 or more, not '-1'"),
        (["SCENE", "--frames", "1", "--fail-on", "new"], "--fail-on new needs a report to compare with"),
        (["SCENE", "--frames", "1", "--fail-on", "transient"], "--fail-on transient needs two frames or more"),
        (["SCENE", "--frames", "1", "--baseline", "none.json"], "none.json: "),
        (["SCENE", "--frames", "1", "--shard", "1/2"], "unrecognized arguments: --shard 1/2"),
        (["SCENE", "--frames", "1", "--object", "\"A\" 'b'"], "both kinds of quotes"),
        (["SCENE", "--frames", "1", "--shards", "100001"], "--shards: at most 100,000"),
        (["SCENE", "--frames", "1", "--object", "A\nB"], "A\\nB: a name with a control character"),
        (
            ["SCENE", "--frames", "1", "--object", "A\udcff"],
            "A\\xff: a name with a control character, or that is not UTF-8",
        ),
        (["SCENE", "--frames", "1", "--object", "A{}"], "A{}: a name with {} or the like would be replaced by GNU"),
        (["SCENE", "--frames", "1", "--scene", "{= $_=`touch x` =}"], "would be replaced by GNU parallel"),
        (["SCENE", "--frames", "1", "--scene", "a{1}"], "would be replaced by GNU parallel"),
        (["SCENE", "--frames", "1", "--object", "A{{1}}"], "A{{1}}: a name with {{ would be taken for an expression"),
    ],
)
def test_what_cannot_be_described_is_refused(
    scene_file: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("farm", tmp_path / "jobs", *(scene_file if word == "SCENE" else word for word in arguments)) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "jobs").exists()


@pytest.mark.parametrize("top", ["", "."])
def test_files_of_one_name_are_distinguished_at_github(scene_file: Path, tmp_path: Path, top: str) -> None:
    """By their paths in the repository, or in the folder that they share."""
    (tmp_path / "other").mkdir()
    other = shutil.copy(scene_file, tmp_path / "other")
    if top:
        (tmp_path / top / ".git").mkdir()
    texts = written(tmp_path / "jobs", scene_file, other, "--frames", "1")
    assert f"'a scene/{scene_file.name}' 'other/{scene_file.name}' --frames=1" in " ".join(
        texts["github_actions.yml"].split()
    )


@pytest.mark.parametrize(
    ("frames", "text"), [("1-9:2,2-8:2", "1,3,5,7,9,2,4,6,8"), ("1-9:2,10-12", "1-9:2,10-12"), ("3,1", "3,1")]
)
def test_frames_are_a_range_of_open_job_description(scene_file: Path, tmp_path: Path, frames: str, text: str) -> None:
    """Spans that overlap are refused there."""
    assert f'default: "{text}"' in written(tmp_path / "jobs", scene_file, "--frames", frames)["check.yaml"]


def test_a_folder_that_cannot_be_described_is_refused(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "A{{1}}").mkdir()
    monkeypatch.chdir(tmp_path / "A{{1}}")
    assert run("farm", "jobs", scene_file, "--frames", "1") == 2
    assert "a name with {{ would be taken for an expression" in capsys.readouterr().err
    assert not Path("jobs").exists()


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ([5], "5"),
        ([1, 2], "1-2"),
        ([1, 3], "1,3"),
        ([1, 2, 3, 4, 9], "1-4,9"),
        ([1, 5, 9, 13, 14, 15], "1-13:4,14-15"),
        ([-5, -4, -3, 7, 3], "-5--3,7,3"),
    ],
)
def test_frames_as_text(frames: list[int], text: str) -> None:
    assert lens.data.frame_lists.frames_text(frames) == text
    assert lens.commands.check_options.frames(text) == frames


def test_arguments_are_divided_as_they_were_given() -> None:
    made = lens.commands.check_options.parser("check")
    given = ["a.blend", "--collections", "A", "--json", "b.blend", "--json=out.json", "--verify", "--clearance", "2mm"]
    given += ["--no-exact", "--html", "out.html", "--only-files", "a.blend", "b.blend", "--", "--c.blend"]
    divided = lens.terminal.given_options.divided
    assert divided(made, given, ("json", "html")) == (
        ["a.blend", "b.blend", "--c.blend"],
        ["--json=out.json", "--html", "out.html"],
        ["--collections", "A", "--json", "--verify", "--clearance", "2mm", "--no-exact"]
        + ["--only-files", "a.blend", "b.blend"],
    )


def test_a_matrix_that_github_would_refuse_is_named(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    too_many = "GitHub runs 256 at most"
    written(tmp_path / "jobs", scene_file, "--frames", "1-128", "--chunk-size", "1", "--shards", "2")
    assert too_many not in capsys.readouterr().out
    written(tmp_path / "jobs", scene_file, "--frames", "1-129", "--chunk-size", "1", "--shards", "2")
    assert f"it has 258 jobs, and {too_many}" in capsys.readouterr().out


# --- what Flamenco makes of it ------------------------------------------------------------------------------------


def test_the_form_of_a_flamenco_job_names_a_scene_unless_its_options_do(scene_file: Path, tmp_path: Path) -> None:
    script = tmp_path / "jobs" / "contact_lens_check.js"
    for options, expected in (([], ["--scene=Scene"]), (["--scene", "Scene"], ["--scene"])):
        written(script.parent, scene_file, "--frames", "1", *options)
        check, *_ = compiled(script, as_submitted(script))
        words = check["commands"][0]["parameters"]["args"]
        assert [word for word in words if word.startswith("--scene")] == expected


@pytest.mark.parametrize(
    "name", ["A", "Wall A", "Wall\u00a0A", "\u524d\u3000\u666f", "Wall's end", 'a "B"', "a\\b", "#", "$A"]
)
def test_a_name_is_one_word_of_a_flamenco_job(scene_file: Path, tmp_path: Path, name: str) -> None:
    """Whatever JavaScript takes for a blank."""
    written(tmp_path / "jobs", scene_file, "--frames", "1", "--object", name)
    script = tmp_path / "jobs" / "contact_lens_check.js"
    check, *_ = compiled(script, as_submitted(script))
    words = check["commands"][0]["parameters"]["args"]
    assert words[words.index("--object") + 1] == name


def test_the_settings_of_the_flamenco_job_are_of_the_scene(scene_file: Path, tmp_path: Path) -> None:
    written(tmp_path / "jobs", scene_file, "--frames", "1", "--collections", "A", "the B")
    values = as_submitted(tmp_path / "jobs" / "contact_lens_check.js")
    assert values["frames"] == "1-6"
    assert values["scene"] == bpy.context.scene.name
    assert values["report"] == str(scene_file.with_suffix(""))

    values.update(frames="3..6, 9,20", chunk_size=3, shards=2, report="/shared/room", blendfile="/shared/room.blend")
    values.update(options='--object "Wall\'s end" --clearance 2mm')
    tasks = compiled(tmp_path / "jobs" / "contact_lens_check.js", values)
    *checks, merge, verdict = tasks
    assert merge["dependencies"] == [task["name"] for task in checks]
    assert verdict["dependencies"] == ["merge"]
    assert {task["type"] for task in tasks} == {"blender"}
    commands = [command for task in tasks for command in task["commands"]]
    assert {(command["name"], command["parameters"]["exe"]) for command in commands} == {("exec", "{blender}")}
    *parts, reports, last = (command["parameters"]["args"] for command in commands)
    places = {args[args.index("--json") + 1] for args in parts}
    assert len(places) == 4, "each part is a file of its own"
    covers = [[f"--only-frames={chunk}", "--shard", f"{shard}/2"] for chunk in ("3-5", "6,9,20") for shard in (1, 2)]
    assert [args[-5:-2] for args in parts] == covers
    (folder,) = {os.path.dirname(place) for place in places}
    assert reports[:5] == ["-b", "--command", "contact_lens", "merge", folder]
    assert reports[-1] == "--no-verdict", "it is not tried again because of clashes"
    assert last == [*reports[:5], "--fail-on", "any"], "the verdict is without reports and pictures"
    run_of = ["--scene=Scene", "--frames=3-6,9,20", "--object", "Wall's end", "--clearance", "2mm"]
    assert parts[0][:11] == ["-b", "--command", "contact_lens", "check", "/shared/room.blend", *run_of]
