# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as one page for a browser: what was checked and how, the verdict, and the clashes.

The page needs nothing but itself. All that comes from the file (names, messages) is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..data import messages
from ..data.messages import counted
from ..frames.combined import combined, is_folded
from ..frames.sentences import frames_of_check, quiet_words, sentence_of
from ..scene.clash_rows import APART, RESOLVED, changed_relations, unit_format, words
from . import html_facts, html_page
from .html_table import dot, shared_notes, shown, table

BEGINNING_0_1 = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contacts in """
"""How it did in version 0.1.0."""

DIALOG = '<dialog aria-labelledby="large"><p id="large"></p><button type="button">Close</button></dialog>'
"""Where a picture is shown in full."""
_MOST_SENTENCES = 10
"""Clashes over frames that the verdict has in words at most."""
_MOST_NAMES = 20
"""Objects that a note of all clashes names at most."""


def to_html(document: dict[str, Any]) -> str:
    """Return the document as the text of one HTML page."""
    return "\n".join(_page(document))


def _page(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    checks = combined(document["checks"])
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    facts = [html_facts.of_check(check, digests.get(check.get("path"))) for check in checks]
    common = [fact for fact in facts[0] if all(fact in others for others in facts)] if facts else []
    yield f'{html_page.BEGINNING}<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{shown(_title(document))}</title><style>{html_page.STYLE}</style>"
    yield "<noscript><style>.blocked { display: none; }</style></noscript></head><body>"
    yield f"<header><h1>{shown(_title(document))}</h1>"
    if checks:
        yield from _verdict(checks, document["decisions"])
    if len(checks) == 1 and "over" in checks[0]:
        yield from _in_words(checks[0])
    yield from _incomplete(document)
    yield from html_facts.list_of([*common, *html_facts.of_report(document)])
    shared = shared_notes(checks)
    for text, objects in shared.items():
        yield f'<p class="dim">{shown(_shared_note(text, objects))}</p>'
    for line in document.get("pictures", ()):  # JSON has none
        yield f'<p class="dim">{shown(line)}</p>'
    yield "</header><main>"
    names = Counter(entry["file"] for entry in document["inputs"])
    number = 0  # of the next table: those of a scene over frames are two
    for check, own in zip(checks, facts, strict=True):
        path = check.get("path")
        name = (path if names[check["file"]] > 1 else check["file"]) or messages.UNSAVED_FILE
        head = f"{name}, {check['scene']}, {frames_of_check(check)}"
        if len(checks) == 1:
            yield from _check(check, number, head, "h2", shared)
            continue
        yield f'<section aria-labelledby="c{number}"><h2 id="c{number}">{shown(head)}</h2>'
        yield from html_facts.list_of(fact for fact in own if fact not in common and fact[0] != "Scene")
        yield from _verdict([check], document["decisions"])
        yield from _check(check, number, head, "h3", shared)
        yield "</section>"
        number += 2 if "over" in check else 1
    yield f"</main>{DIALOG}<script>{html_page.SCRIPT}</script></body></html>\n"


def _incomplete(document: dict[str, Any]) -> Iterator[str]:
    """Yield why the checks are not all there is to know."""
    if document["partial"]:
        yield f'<p class="partial">{messages.STOPPED_EARLY}</p>'
    for entry in document["inputs"]:
        if entry["error"] is not None:
            problem = f"Not checked: {entry['path']}: {entry['error']}"
            yield f'<p class="partial">{shown(problem)}</p>'
    if document["baseline"] is not None:
        for entry in document["baseline"].get("frames", ()):
            yield f'<p class="between">{shown(messages.capitalized(messages.other_frames(entry)))}</p>'
        for entry in document["baseline"]["not_compared"]:
            yield f'<p class="between">{shown(messages.capitalized(messages.check_not_compared(entry)))}</p>'
    if document["decisions"] is not None:
        file, unused = document["decisions"]["file"], document["decisions"]["unused"]
        lines = [messages.decision_unused(file, *entry.values()) for entry in unused]
        verb = "matches" if len(lines) == 1 else "match"
        yield from _folded(f"{messages.decisions(len(lines))} {verb} no clash that was found", lines)
    several_files = len(document["inputs"]) > 1
    scenes = Counter(entry["path"] for entry in document["between_frames"])
    for entry in document["between_frames"]:
        text = entry["words"] if scenes[entry["path"]] == 1 else messages.of_scene(entry["scene"], entry["words"])
        text = f"{entry['path']}: {text}" if several_files else text
        yield f'<p class="between">{shown(text)}</p>'


def _title(document: dict[str, Any]) -> str:
    files = [name or messages.UNSAVED_FILE for name in document["files"]]
    return f"Clashes in {', '.join(files[:3])}{' and others' if len(files) > 3 else ''}"


def _verdict(checks: Sequence[dict[str, Any]], decisions: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Yield how many clashes of each relation there are, over frames how many transient and permanent ones, and what
    was not checked; decisions: their file."""
    scenes = [check["over"] for check in checks if "over" in check]
    relations: Counter[str] = Counter()
    for check in checks:
        of_frame = [row for row in check["findings"] if "over" not in row] if "over" in check else check["findings"]
        relations.update(words(of_frame))
    done = {word: relations.pop(word) for word in (RESOLVED, APART) if relations[word]}
    groups = messages.relation_groups(relations)
    counts = "".join(f"<strong>{dot(word)}{shown(text)}</strong>" for word, text in groups.items())
    if over := Counter(clash.over.is_permanent for scene in scenes for clash in scene.clashes):
        counts = f"<strong>{over[False]:,} transient</strong><span>{over[True]:,} permanent</span>{counts}"
    counts = counts or f"<strong>{messages.clashes(0)}</strong>"
    counts += "".join(f"<span>{dot(word)}{number:,} {word}</span>" for word, number in done.items())
    objects = max(check["objects"] for check in checks)
    pairs = sum(check["checked_pairs"] for check in checks)
    frames = sum(len(check["over"].frames) if "over" in check else 1 for check in checks)
    where = counted(frames, "frame" if len(checks) == 1 else "check")
    yield f'<p class="verdict">{counts}{f"<span>in {where}</span>" if frames > 1 else ""}</p>'
    yield from _since_baseline(checks)
    unchecked = [sum(entry["unchecked"] for entry in check["skipped"]) for check in checks]
    missing = [messages.things_not_checked(unchecked[0])] if len(checks) == 1 and unchecked[0] else []
    of_all = ", ".join([counted(objects, "object"), f"{counted(pairs, 'pair')} checked", *missing])
    left_out = messages.capitalized(messages.what_is_left_out(checks, decisions))
    quiet = [quiet_words(scene) for scene in scenes if scene.clashes and scene.quiet and len(checks) == 1]
    yield f'<p class="dim">{"<br>".join(shown(text) for text in (of_all, *quiet, left_out) if text)}</p>'
    if any(unchecked) and len(checks) > 1:
        incomplete = sum(number > 0 for number in unchecked)
        total = counted(len(checks), "scene" if scenes else "check")
        yield f'<p class="partial">{_not_everything_in(incomplete, total)}</p>'


_NOT_EVERYTHING = "Not everything was checked"


def _not_everything_in(number: int, total: str) -> str:
    verb = "is" if number == 1 else "are"
    return f"{_NOT_EVERYTHING}: {number:,} of {total} {verb} incomplete, as listed below"


def _in_words(check: dict[str, Any]) -> Iterator[str]:
    """Yield the first clashes of a scene over frames in words."""
    found, units = [row for row in check["findings"] if "over" in row and not is_folded(row)], unit_format(check)
    lines = [shown(sentence_of(row, units)) for row in found[:_MOST_SENTENCES]]
    lines += [f"{len(found) - len(lines):,} more below"] if len(found) > len(lines) else []
    if lines:
        yield f'<ul class="answer">{"".join(f"<li>{line}</li>" for line in lines)}</ul>'


def _shared_note(text: str, names: Sequence[str]) -> str:
    """Return a note that all clashes have; names: the objects that it is about, empty for both of each clash."""
    if len(names) == 1:
        return messages.capitalized(f"'{names[0]}'{text}" if names[0] else text)
    return f"Each of {messages.quoted(names, _MOST_NAMES)}{text}"


def _check(check: dict[str, Any], number: int, head: str, heading: str, shared: Collection[str]) -> Iterator[str]:
    """Yield a check, with headings of this kind; shared: notes that all clashes have."""
    found = check["findings"]
    unchecked = [shown(entry["reason"]) for entry in check["skipped"] if entry["unchecked"]]
    if unchecked:
        reasons = "".join(f"<li>{reason}</li>" for reason in unchecked)
        yield f'<div class="unchecked"><{heading}>{_NOT_EVERYTHING}</{heading}><ul>{reasons}</ul></div>'
    if check["out_of_date"]:
        yield f'<p class="partial">{_clashes_out_of_date(check["out_of_date"], len(found), "over" in check)}</p>'
    yield from _of_baseline(check)
    if found:
        yield f"<{heading}>Clashes</{heading}>"
        yield from (
            table(check, number, head, shared) if "over" not in check else _over_frames(check, number, head, shared)
        )
    yield from _details(check)


def _over_frames(check: dict[str, Any], number: int, head: str, shared: Collection[str]) -> Iterator[str]:
    """Yield the tables of a scene over frames, the second one folded: of what is permanent and no worse than before."""
    found, folded = ([row for row in check["findings"] if is_folded(row) == is_second] for is_second in (False, True))
    if found:
        yield from table({**check, "findings": found}, number, head, shared)
    if folded:
        summary = f"{len(folded):,} permanent: found at every checked frame, and never deeper than at the first"
        yield f"<details{'' if found else ' open'}><summary>{summary}</summary>"
        yield from table({**check, "findings": folded}, number + 1, f"{head}, permanent", shared)
        yield "</details>"


def _clashes_out_of_date(number: int, total: int, are_over_frames: bool) -> str:
    what, verb = "frames" if are_over_frames else "scene", "is" if number == 1 else "are"
    return f"{number:,} of {messages.clashes(total)} {verb} out of date: check the {what} again"


def _since_baseline(checks: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield how many clashes are others than in the baseline."""
    compared = [check for check in checks if check["gone"] is not None]
    if compared:
        changes = changed_relations(compared)
        gone, unknown = (sum(len(check[name]) for check in compared) for name in ("gone", "not_compared"))
        yield f'<p class="since">{messages.since_baseline(changes, gone, unknown)}</p>'


def _of_baseline(check: dict[str, Any]) -> Iterator[str]:
    """Yield what of the baseline is gone, and what was not compared with it."""
    units = unit_format(check)
    for name, verbs, what in (("gone", ("are", "is"), "gone"), ("not_compared", ("were", "was"), "not compared")):
        lines = [messages.earlier_clash(entry, units) for entry in check[name] or ()]
        title = f"{messages.clashes(len(lines))} of the baseline {verbs[len(lines) == 1]} {what}"
        yield from _folded(title, lines)


def _details(check: dict[str, Any]) -> Iterator[str]:
    """Yield what differs in renders and what was left out on purpose."""
    differences = [messages.difference(entry) for entry in check.get("differences", ())]
    entries = [entry for entry in check["skipped"] if not entry["unchecked"]]
    of_objects, of_places = (
        [entry["reason"] for entry in entries if (entry.get("kind") in messages.PLACES_LEFT_OUT) == are_places]
        for are_places in (False, True)
    )
    for title, lines in (
        (
            f"{counted(len(differences), 'setting differs', 'settings differ')} between viewport and renders",
            differences,
        ),
        (f"{counted(len(of_objects), 'object')} left out", of_objects),
        (f"{counted(len(of_places), 'other scene or view layer', 'other scenes and view layers')} left out", of_places),
    ):
        yield from _folded(title, lines)


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines, if there are any, below a title that unfolds them."""
    if lines:
        items = "".join(f"<li>{shown(line)}</li>" for line in lines)
        yield f"<details><summary>{title}</summary><ul>{items}</ul></details>"
