# SPDX-License-Identifier: GPL-3.0-or-later
"""`check`: find the clashes of scenes, and write reports of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ..clashes import check_settings, clash_renewal
from ..data import messages
from ..data.records import Rules, Shard
from ..data.units import UnitFormat
from ..frames import between
from ..frames import motion as scene_motion
from ..frames.combined import combined
from ..frames.over_frames import HIDDEN
from ..geometry.snapshot import ReadError
from ..history.baseline import BaselineError
from ..read import visibility as scene_visibility
from ..read.elsewhere import Elsewhere
from ..read.faults import version_of
from ..report import files as report_files
from ..report import json_report as report_json
from ..report import scene as scene_report
from ..scene import depths
from ..scene import scene_check as scene_pairs
from ..scene.frame_cache import FrameCache
from ..terminal.check_lines import Listing, closing_lines, lines, total_lines
from ..terminal.interruption import Stop
from ..terminal.outcome import CLEAN, UsageError, complain_of, complain_of_a_fault
from ..terminal.progress import Progress, is_of_jobs
from ..terminal.streams import Screen, blender_aside
from . import blend_file
from .check_options import parser, require_depths
from .earlier import Earlier, lines_of_earlier
from .part import make_folder, part_of
from .reporting import Stopped, criteria_of, exit_code, exit_code_of_incomplete, places_of, write_reports
from .scene_frames import ALL_SCENES, SceneFrames, chosen_scenes
from .worst_pictures import draw_worst

LONGEST = 1e30
"""Blender units: a clearance whose square is a number."""


class _Shared(NamedTuple):
    """What all checks of a run share."""

    options: argparse.Namespace
    part: dict[str, Any] | None
    """What a report says of its part in a run; None of a whole one."""
    progress: Progress
    stop: Stop
    earlier: Earlier
    partials: report_files.Partials


def run(arguments: Sequence[str], prog: str) -> int:
    """Run the check that the arguments ask for. Returns the exit code. Raises UsageError and ReportFileError."""
    options = parser(prog).parse_args(list(arguments))
    if not options.files and not bpy.data.filepath:
        raise UsageError(messages.NO_FILE_OPEN)
    criteria = criteria_of(options, options.frames)
    files = options.files or [None]
    earlier = Earlier.read(options.baseline, options.decisions, [path_of(file) for file in files], options.frames)
    part = part_of(options, earlier.digests)
    if part is not None:
        files = [files[place] for place in part["covers"]["files"]]
    missing = [file for file in files if file is not None and not Path(file).is_file()]
    if not is_of_jobs() and missing and len(missing) == len(files):  # nothing to check: reports stay as they are
        raise UsageError("; ".join(f"{file}: {blend_file.why_missing(file)}" for file in missing))
    if part is not None:
        make_folder(options.json)
    places = places_of(options)
    prints_report = any(place.descriptor == 1 for place in places.values())
    screen = Screen(options.quiet or prints_report)
    frames = options.frames if part is None else part["covers"]["frames"]
    listing = Listing.of(options)
    inputs = [scene_report.input_of(path_of(file)) for file in files]
    checks: list[dict[str, Any]] = []
    decisions = earlier.record(stopped=True)["decisions"]
    with (
        blender_aside(prints_report, options.quiet) as output,
        Stop(options.timeout) as stop,
        report_files.Partials(places.values()) as partials,
    ):
        progress = Progress(options.quiet, len(files), stop)
        shared = _Shared(options, part, progress, stop, earlier, partials)
        opened: str | None = None
        for place, (file, source) in enumerate(zip(files, inputs, strict=True)):
            if part is not None:  # of those that could not be opened
                part["covers"]["scenes"] += [[] for _ in range(place - len(part["covers"]["scenes"]))]
            if stop.asked:
                source["error"] = messages.NOT_REACHED
                continue
            before = len(checks)
            progress.begin_file(source["file"])
            of_file = _checks_of_file(shared, file, source)
            while of_scene := list(islice(of_file, len(frames or [None]))):  # only the last can be incomplete
                of_scene = earlier.compared(of_scene) if part is None else of_scene
                checks += of_scene
                if part is not None and len(of_scene) > 1:  # what is permanent only merge can say
                    screen.say(messages.of_scene(file or source["file"], *total_lines(of_scene, decisions)))
                    continue
                for check in combined(of_scene) if not screen.quiet else ():
                    screen.say(*lines(check, file, decisions, listing))
            screen.say(*closing_lines(checks[before:]))
            if part is None and source["error"] is None and stop.noted:
                scenes = [scene.name for scene in chosen_scenes(options.scene)]
                wanted = list(product(scenes, frames or [None]))
                left = wanted[len(checks) - before :]
                source["error"] = scene_report.not_reached(left, len(wanted)) if left else None
            if source["error"] is not None:
                _add(shared, [], source)
            opened = bpy.data.filepath if source["error"] is None else None
        stopped = Stopped.by(stop)  # a signal after this changes nothing that was checked
        is_stopped = stopped is not None
        record = earlier.record(is_stopped)
        if part is None:
            screen.say(*total_lines(combined(checks), decisions), *lines_of_earlier(record))
        document = report_json.sealed(scene_report.document(checks, is_stopped, inputs, part, record))
        are_all_drawn = options.html is None or draw_worst(
            document,
            options.pictures,
            progress,
            lambda: stop.asked,
            with_scripts=options.enable_autoexec,
            run_scripts=options.enable_autoexec,
            opened=opened,
        )
        is_written = write_reports(places, document, criteria, partials, screen, output)
        is_whole = not is_stopped and all(source["error"] is None for source in inputs)
        if part is not None and is_whole and is_written:
            screen.say("This is a part of a run: merge it with the others for the reports and the exit code of the run")
    code = exit_code_of_incomplete(document, stop, stopped, criteria, screen, are_all_drawn, is_written)
    if code is not None:
        return code
    return exit_code(criteria, checks, screen) if part is None else CLEAN


def path_of(file: str | None) -> str:
    """Return the absolute path of a file, or of the open one."""
    path = os.path.abspath(file or bpy.data.filepath)
    return path[1:] if os.name != "nt" and path.startswith("//") else path  # Blender has one slash there


def _add(shared: _Shared, checks: list[dict[str, Any]], source: dict[str, Any]) -> None:
    """Add what is done to the partial reports, as a document that is a part of one."""
    if shared.partials.grow:
        document = scene_report.document(checks, True, [source], shared.part)
        for problem in shared.partials.add(report_json.line_parts(document)):
            complain_of(problem)


def _checks_of_file(shared: _Shared, file: str | None, source: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Check a file, or the open one, scene by scene and frame by frame; why that cannot be goes to standard error and
    into `source`."""
    name, run_scripts = "" if file is None else f"{file}: ", shared.options.enable_autoexec
    try:
        source["sha256"] = blend_file.digest(source["path"])
        if file is not None:
            blend_file.open_file(file, run_scripts)
        elif run_scripts and bpy.app.autoexec_fail:
            blend_file.open_file(bpy.data.filepath, run_scripts=True)
        source["saved_with"], source["libraries"] = version_of(bpy.data), blend_file.libraries()
        if blend_file.digest(source["path"]) != source["sha256"]:
            raise UsageError("the file was saved while it was opened: check it again")
        for check in _checks(shared):
            _add(shared, [check], source)
            yield check
    except Exception as error:  # also a fault: what is met in one file costs no report of the others
        is_fault = not isinstance(error, UsageError | ReadError | BaselineError | OSError)
        source["error"] = f"{type(error).__name__}: {error}" if is_fault else report_files.reason(error)
        complain_of(f"{name}{source['error']}")
        if is_fault:
            complain_of_a_fault()


def _checks(shared: _Shared) -> Iterator[dict[str, Any]]:
    """Check the scenes of the open file, or a part of them, frame by frame, until the user stops it."""
    options = shared.options
    scenes = chosen_scenes(options.scene)
    shared.earlier.open(scenes, options.frames)
    if shared.part is not None:
        shared.part["covers"]["scenes"].append([scene.name for scene in scenes])
    are_all = ALL_SCENES in (options.scene or ())
    elsewhere = Elsewhere(scenes, scenes=not options.scene, layers=True, are_all=are_all)
    for k, scene in enumerate(scenes):
        shared.progress.begin_scene(k, len(scenes), scene.name)
        try:
            yield from _checks_of_scene(shared, scene, elsewhere)
        except ReadError as error:
            raise error if len(scenes) == 1 else ReadError(messages.of_scene(scene.name, str(error))) from error


def _checks_of_scene(shared: _Shared, scene: bpy.types.Scene, elsewhere: Elsewhere) -> Iterator[dict[str, Any]]:
    """Check a scene frame by frame, until the user stops it."""
    options, part, progress, stop, earlier, _ = shared
    frames, shard = options.frames, None
    if part is not None:
        frames, shard = part["covers"]["frames"], Shard(part["covers"]["shard"], part["run"]["shards"])
    before = {frame: previous for previous, frame in pairwise(options.frames or ())}
    known = FrameCache(follows=len(frames or ()) > 1)
    with SceneFrames(scene.name) as frames_of_scene:
        context = bpy.context
        rules = _rules(options, check_settings.of_scene(scene).as_rules(context), UnitFormat.of_scene(scene))
        sides: dict[object, dict[str, Any]] = {}
        wanted = frames or [None]
        last: scene_motion.Sample | None = None
        for k, frame in enumerate(wanted):
            if stop.asked:
                return
            progress.begin_frame(k, len(wanted), scene.frame_current_final if frame is None else frame)
            found, begin = progress.add_clashes, progress.begin_phase
            try:
                if frame in before and (last is None or last.frame != before[frame]):  # another part checks that one
                    last = scene_motion.Sample(before[frame], frames_of_scene.read(before[frame], rules))
                given = frames_of_scene.read(frame, rules)
                elsewhere.add(given, scene, frames_of_scene.layer)
                ids = clash_renewal.known_ids(scene, given)
                decide = earlier.decide(given, ids)
                outcome = scene_pairs.check(given, progress, options.verify, known, found, shard, decide, begin)
            finally:
                progress.end_frame()
            statuses = clash_renewal.statuses_with(scene, given, outcome.decided)
            check = scene_report.check_record(scene, given, outcome, statuses, ids, known_sides=sides)
            if len(options.frames or ()) > 1:
                check[HIDDEN] = scene_visibility.hidden(frames_of_scene.layer)
            if frame is not None:
                sample = scene_motion.Sample(frame, given, outcome.bounds)
                steps = None if last is None else scene_motion.steps_between(last, sample)
                check["motion"], last = scene_motion.motion(steps), sample
                if steps is not None:
                    check["skipped"] += [entry.record() for entry in between.not_checked_between(steps, decide)]
            check = scene_report.reported(check) | earlier.looked_at(check, scene, given, outcome, ids)
            if part is not None:
                part["candidates"].append(outcome.shards_digest)
            elif len(wanted) == 1:
                (check,) = earlier.compared([check])
            yield check


def _rules(options: argparse.Namespace, rules: Rules, units: UnitFormat) -> Rules:
    """What the file says, but for what the command line says. Raises UsageError."""
    changes: dict[str, Any] = {}
    if options.visible or options.selected or options.collections or options.object:
        changes = {"scope": "visible", "collection_a": None, "collection_b": None, "object": None}
        if options.selected:
            changes["scope"] = "selected"
        if options.collections:
            (a, b), *more = map(list, options.collections)
            changes |= {"scope": "collections", "collection_a": a, "collection_b": b, "more_collections": more or None}
        if options.object:
            one, *more = options.object
            changes |= {"scope": "one", "object": one, "more_objects": more or None}
    if options.clearance is not None:
        changes["clearance"] = units.in_blender_units(options.clearance)
        if not changes["clearance"] < LONGEST:
            raise UsageError(f"the clearance is too large: {changes['clearance']:g} Blender units")
    if options.least_volume is not None:
        if options.volume is False:
            raise UsageError("--least-volume needs the volumes: leave out --no-volume")
        changes |= {"volume": True, "least_volume": units.in_blender_units(options.least_volume) ** 3}
    named = ("instances", "touching", "least_contact", "depth", "volume", "shapes")
    given = {name: getattr(options, name) for name in named}
    changes |= {name: value for name, value in given.items() if value is not None}
    changes["visibility"] = options.visibility
    if changes.get("depth", rules.depth) == depths.NONE:
        require_depths(options.fail_on, options.verify)
    if options.volume is False:
        changes["least_volume"] = 0.0
    if options.ignore:
        names = ("parents", "collections", "joined", "listed", "approved")
        changes |= {f"ignore_{name}": name in options.ignore for name in names}
    return replace(rules, **changes)
