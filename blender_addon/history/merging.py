# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a run as the one document that the whole run would have made; docs/report.md describes parts.

1. Each part must be whole, and of the same run: of the same files, frames and options, by the same versions.
2. Each shard of each file and frame must be in exactly one of them.
3. The shards of a check are one check: counts are added, clashes and entries of what was skipped are put in order.

Of `check --jobs`, which knows what has become of its parts, the first two may fail: what is missing is named then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from ... import __version__
from ..data import messages
from ..data.frame_lists import named_list
from ..report import scene
from ..report.json_report import SCHEMA, is_sealed
from ..report.order import ordered
from ..scene.decisions import REASONS

COUNTS = ("candidate_pairs", "checked_pairs")
COUNTS_BY_WORD = ("relations", "ignored_pairs")
ROWS = ("skipped", "findings")
LOOKED_AT = "looked_at"
OF_MACHINE = ("file", "path", "motion")
"""What shards may have from different machines: paths, and the last digits of how far an object moved."""
VERSIONS = ("contact_lens", "blender", "numpy")
WEIGHTIEST = (*REASONS[:2], messages.CHECK_STOPPED, *REASONS[2:])
"""Why a decision is unused, of several reasons the first."""


class MergeError(Exception):
    """Why reports are not the parts of one run, in one sentence that names them."""


class Part(NamedTuple):
    """A part of a run."""

    name: str
    """Of its file, for the user."""
    document: dict[str, Any]
    cells: list[Cell]
    """Of its checks."""


class Cell(NamedTuple):
    """What is checked at once: the place of a file in the run, a scene, a frame (None: the current one) and a shard."""

    file: int
    scene: str
    frame: int | None
    shard: int


Shard = tuple[Part, dict[str, Any], str]
"""What a part has of a check, and the digest of all candidate pairs of that."""


class Gaps(NamedTuple):
    """Why the parts of a run on this machine may lack some of it."""

    paths: Sequence[str]
    """Of the files of the run."""
    stopped: bool
    """Whether the run was."""
    died: Sequence[str]
    """What has become of the parts that have ended without a report, in words."""


def validated(name: str, document: Any) -> Part:
    """Return a report as a part. Raises MergeError where it is none, or is not whole."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise MergeError(f"{name}: this is not a scene report of Contact Lens: give the JSON reports of the parts")
    if document.get("contact_lens") != __version__:
        raise MergeError(
            f"{name}: this report was written by Contact Lens {document.get('contact_lens')}, not by {__version__}: "
            "check and merge with one version"
        )
    if document.get("part") is None:
        raise MergeError(
            f"{name}: this is the report of a whole run, not of a part: give the reports of runs with --only-files, "
            "--only-frames or --shard"
        )
    try:
        if document["partial"]:
            raise MergeError(f"{name}: this part was stopped early: run it again")
        for entry in document["inputs"]:
            if entry["error"] is not None:
                raise MergeError(
                    f"{name}: {entry['file']} could not be checked ({entry['error']}): run this part again"
                )
        covered = document["part"]["covers"]
        cells = list(_cells(covered))
        is_whole = (
            document["schema_version"] == scene.SCHEMA_VERSION
            and len(document["checks"]) == len(document["part"]["candidates"]) == len(cells)
            and len(document["inputs"]) == len(covered["files"])
            and all(
                cell.scene == check["scene"] and cell.frame in (None, check["frame"])
                for cell, check in zip(cells, document["checks"], strict=True)
            )
        )
    except (KeyError, TypeError, AttributeError, ValueError):
        is_whole = False
    if not is_whole or not is_sealed(document):
        raise MergeError(_is_damaged(name))
    return Part(name, document, cells)


def left(name: str, document: dict[str, Any], paths: Sequence[str]) -> Part:
    """Return a report of a part of this run that may have been stopped or lack files; paths: of the files of the run.
    Raises MergeError where a check is of nothing that the part covers."""
    wanted, cells = _cells(document["part"]["covers"]), []
    for check in document["checks"]:
        for cell in wanted:  # they are in this order
            named = paths[cell.file], cell.scene
            if named == (check["path"], check["scene"]) and cell.frame in (None, check["frame"]):
                cells.append(cell)
                break
        else:
            raise MergeError(_is_damaged(name))
    return Part(name, document, cells)


def _is_damaged(path: str) -> str:
    return f"{path}: this part is damaged, or was edited: run it again"


def merged(parts: Sequence[Part], gaps: Gaps | None = None) -> dict[str, Any]:
    """Return the document of the whole run, or with `gaps` what there is of it. Raises MergeError."""
    first = parts[0]
    for part in parts[1:]:
        _refuse_another_run(first, part)
    found = _covered(parts)
    run = first.document["part"]["run"]
    if gaps is None or not (gaps.stopped or gaps.died or _errors(parts)):
        _refuse_gaps(parts, found, run)
    inputs = _inputs(parts) if gaps is None else _inputs_left(parts, found, gaps)
    checks = []
    for file, scenes in enumerate(scenes_of(parts)):
        for scene_name, frame in product(scenes, run["frames"] or [None]):
            if shards := _shards(found, Cell(file, scene_name, frame, 0), run):
                names = {"file": inputs[file]["file"], "path": inputs[file]["path"]}
                checks.append({**_joined(shards, run["shards"]), **names})
    stopped = gaps is not None and gaps.stopped
    is_whole = gaps is None or not (stopped or gaps.died)
    earlier = {"baseline": None, "decisions": _decisions(parts, is_whole)}
    document = scene.document(checks, stopped, inputs, earlier=earlier)
    return {**document, **{name: first.document[name] for name in VERSIONS}}


def _shards(found: Mapping[Cell, Shard], cell: Cell, run: dict[str, Any]) -> list[Shard]:
    """Return what there is of a check, whatever the shard of its cell."""
    cells = [cell._replace(shard=number) for number in range(1, run["shards"] + 1)]
    return [found[cell] for cell in cells if cell in found]


def _cells(covers: dict[str, Any]) -> Iterator[Cell]:
    """Yield what a part covers, in the order of its checks."""
    for file, scenes in zip(covers["files"], covers["scenes"], strict=False):
        for scene_name, frame in product(scenes, covers["frames"] or [None]):
            yield Cell(file, scene_name, frame, covers["shard"])


def scenes_of(parts: Sequence[Part]) -> list[list[str]]:
    """Return the scenes that are checked of each file of a run, in order; one without a name of a file in no part.

    Raises MergeError where two parts do not agree.
    """
    found: dict[int, tuple[Part, list[str]]] = {}
    for part in parts:
        covers = part.document["part"]["covers"]
        for file, scenes in zip(covers["files"], covers["scenes"], strict=False):
            if not scenes:  # it was not opened
                continue
            other, known = found.setdefault(file, (part, scenes))
            if known != scenes:
                raise MergeError(_checks_differ(other.name, part.name, "scene"))
    count = len(parts[0].document["part"]["run"]["files"])
    return [found[file][1] if file in found else [""] for file in range(count)]


def _refuse_another_run(first: Part, part: Part) -> None:
    """Raise MergeError when two parts are not of the same run, by the same versions."""
    for name in VERSIONS:
        versions = first.document[name], part.document[name]
        if versions[0] != versions[1]:
            raise MergeError(_versions_differ(first.name, part.name, name, *versions))
    runs = [_flat(of.document["part"]["run"]) for of in (first, part)]
    names = [name for name in {**runs[0], **runs[1]} if runs[0].get(name, ...) != runs[1].get(name, ...)]
    if names:
        raise MergeError(
            f"{first.name} and {part.name} are parts of different runs: they differ in "
            f"{', '.join(name.replace('_', '-') for name in names)}"
        )


def _versions_differ(first: str, other: str, program: str, version: str, another: str) -> str:
    of = {"contact_lens": "Contact Lens", "blender": "Blender"}.get(program, program)
    versions = f"different versions of {of}, {version} and {another}"
    return f"{first} and {other} were written with {versions}: check with one version"


def _flat(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, **run["options"], "options": None}


def _inputs(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return what the document says of each file that is in a part. Raises MergeError where two had different bytes."""
    found: dict[int, tuple[Part, dict[str, Any]]] = {}
    for part in parts:
        for place, entry in zip(part.document["part"]["covers"]["files"], part.document["inputs"], strict=True):
            other, known = found.setdefault(place, (part, entry))
            if known["sha256"] != entry["sha256"]:
                raise MergeError(_file_differs(other.name, part.name, entry["file"]))
            if libraries := _different(known["libraries"], entry["libraries"]):
                raise MergeError(
                    f"{other.name} and {part.name} checked {entry['file']} with different libraries: "
                    f"{', '.join(libraries)}"
                )
    count = len(parts[0].document["part"]["run"]["files"])
    return [found[place][1] if place in found else {} for place in range(count)]


def _errors(parts: Sequence[Part]) -> dict[str, list[str]]:
    """Return by the paths of files why they could not be checked; not those that a part had no time for."""
    found: dict[str, list[str]] = {}
    for part in parts:
        for entry in part.document["inputs"]:
            if entry["error"] not in (None, messages.NOT_REACHED):
                found.setdefault(entry["path"], []).append(entry["error"])
    return found


def _inputs_left(parts: Sequence[Part], found: Mapping[Cell, Shard], gaps: Gaps) -> list[dict[str, Any]]:
    """Return what the document says of each file of the run, and of those that lack something why.

    Raises MergeError where two parts had different bytes.
    """
    run, errors = parts[0].document["part"]["run"], _errors(parts)
    known: dict[str, dict[str, Any]] = {}
    for part in parts:
        for entry in part.document["inputs"]:
            before = known.setdefault(entry["path"], entry)
            if None not in (before["sha256"], entry["sha256"]) and before["sha256"] != entry["sha256"]:
                raise MergeError(_file_differs(parts[0].name, part.name, entry["file"]))
            if before["libraries"] is None:
                known[entry["path"]] = entry
    inputs = []
    for file, (path, scenes) in enumerate(zip(gaps.paths, scenes_of(parts), strict=True)):
        wanted = product(scenes, run["frames"] or [None])
        shards = {(name, frame): _shards(found, Cell(file, name, frame, 0), run) for name, frame in wanted}
        reasons = list(dict.fromkeys(errors.get(path, ())))
        short = [cell for cell, of in shards.items() if len(of) < run["shards"]]
        missing = [cell for cell in short if not shards[cell]]
        if short and gaps.died:
            what = "not checked to the end", scene.cells_text(short), ", ".join(gaps.died)
            reasons.append(": ".join(filter(None, what)))
        elif missing and gaps.stopped and not reasons:
            reasons.append(scene.not_reached(missing, len(shards)))
        entry = known.get(path) or scene.input_of(path)
        inputs.append({**entry, "error": "; ".join(reasons) or None})
    return inputs


def _file_differs(first: str, other: str, file: str) -> str:
    return f"{first} and {other} checked different versions of {file}: check the same file on all machines"


def _different(libraries: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[str]:
    """Return the names of libraries that are not the same on two machines, whatever folders these have them in."""
    sides = (Counter((_name(entry["path"]), entry["sha256"]) for entry in side) for side in (libraries, others))
    first, second = sides
    return sorted({name for name, _ in (*(first - second), *(second - first))})


def _name(path: str) -> str:
    return PurePosixPath(path).name if path.startswith("/") else PureWindowsPath(path).name


def _covered(parts: Sequence[Part]) -> dict[Cell, Shard]:
    """Return by cell the part that has it, with its check and the digest of its candidate pairs. Raises MergeError
    where two have the same."""
    run = parts[0].document["part"]["run"]
    found: dict[Cell, Shard] = {}
    for part in parts:
        document = part.document
        for cell, check, digest in zip(part.cells, document["checks"], document["part"]["candidates"], strict=True):
            if cell in found:
                frames = [] if cell.frame is None else [cell.frame]
                raise MergeError(
                    f"{found[cell][0].name} and {part.name} both cover {_words(cell.file, frames, cell.shard, run)}: "
                    "give only one of them"
                )
            found[cell] = part, check, digest
    return found


def _refuse_gaps(parts: Sequence[Part], found: Collection[Cell], run: dict[str, Any]) -> None:
    """Raise MergeError unless all that is to be checked was found."""
    shards = range(1, run["shards"] + 1)
    missing: dict[tuple[int, int], dict[int, None]] = {}
    for file, scenes in enumerate(scenes_of(parts)):
        for cell in map(Cell._make, product([file], scenes, run["frames"] or [None], shards)):
            if cell not in found:
                missing.setdefault((file, cell.shard), {}).update({} if cell.frame is None else {cell.frame: None})
    if missing:
        words = [_words(file, list(frames), shard, run) for (file, shard), frames in missing.items()]
        what = f"{'; '.join(words[:5])}{messages.and_more(len(words) - 5)}"
        raise MergeError(f"no part has {what}: run what is missing, and merge again")


def _words(file: int, frames: Sequence[int], shard: int, run: dict[str, Any]) -> str:
    """Return cells of a file and a shard in words."""
    name = run["files"][file]
    if run["files"].count(name) > 1:
        name = f"{name} (file {file + 1})"
    of_frames = f", {named_list(frames)}" if frames else ""
    of_shard = "" if run["shards"] == 1 else f", shard {shard}/{run['shards']}"
    return f"{name}{of_frames}{of_shard}"


def _joined(shards: Sequence[Shard], count: int) -> dict[str, Any]:
    """Return the shards of a check as one check, partial where there are fewer than `count` or one was stopped.

    Raises MergeError where they are not of the same check.
    """
    is_partial = len(shards) < count or any(check["partial"] for _, check, _ in shards)
    # One that was stopped before the pairs were cut into shards has none of them.
    shards = [of for of in shards if of[2] is not None] or shards[:1]
    first, check, digest = shards[0]
    for part, other, other_digest in shards[1:]:
        if other_digest != digest:
            raise MergeError(
                f"{first.name} and {part.name} do not agree on which pairs are close, so a pair may be in neither: "
                "check all shards of a file on machines of the same kind"
            )
        for name in {**check, **other}:
            if name in (*COUNTS, *COUNTS_BY_WORD, *ROWS, *OF_MACHINE, LOOKED_AT, "partial"):
                continue
            if check.get(name) != other.get(name):
                raise MergeError(_checks_differ(first.name, part.name, name))
    checks = [of for _, of, _ in shards]
    whole = {**check, "partial": is_partial}
    whole |= {name: sum(of[name] for of in checks) for name in COUNTS}
    for name in COUNTS_BY_WORD:
        total: Counter[str] = Counter()
        for of in checks:
            total.update(of[name])
        whole[name] = dict(sorted(total.items()))
    whole |= {name: [entry for of in checks for entry in of[name]] for name in ROWS}
    if LOOKED_AT in check:
        whole[LOOKED_AT] = _looked_at([of[LOOKED_AT] for of in checks])
    return ordered(whole)


def _checks_differ(first: str, other: str, what: str) -> str:
    return f"{first} and {other} contain the same check, and differ in {what}: check both again"


def _looked_at(shards: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the shards of a check say of the clashes of the baseline together."""
    reasons: dict[str, set[str]] = {}
    for of in shards:
        for clash, found in of["reasons"].items():
            reasons.setdefault(clash, set()).update(found)
    return {
        "present": shards[0]["present"],
        "ids": shards[0]["ids"],
        "reasons": {clash: sorted(found) for clash, found in sorted(reasons.items())},
    }


def _decisions(parts: Sequence[Part], is_whole: bool) -> dict[str, Any] | None:
    """Return what the document says of decisions: unused are those of which no part has found a clash, which means
    little where the run is not whole."""
    records = [record for part in parts if (record := part.document["decisions"]) is not None]
    if not records:
        return None
    unused: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for record in records:
        for entry in record["unused"]:
            unused.setdefault((entry["line"], entry["clash"]), []).append(entry)
    weightiest = [
        (min(entries, key=lambda entry: WEIGHTIEST.index(entry["reason"])), len(entries) == len(records))
        for _, entries in sorted(unused.items())
    ]
    found = [entry for entry, in_all in weightiest if in_all or entry["reason"] in REASONS[:2]]
    if not is_whole:
        found = [{**of, "reason": messages.CHECK_STOPPED} if of["reason"] in REASONS[2:] else of for of in found]
    return {**records[0], "unused": found}
