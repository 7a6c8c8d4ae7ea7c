# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as one page for a browser: what was checked and how, the verdict, and the clashes.

The page needs nothing but itself. All that comes from the file (names, messages) is escaped.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from ..data import messages
from ..data.lazy_rows import column
from ..data.messages import counted
from . import html_page
from .html_table import dot, of_relations, shown, table
from .scene_units import unit_format

BEGINNING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="Contact Lens">
"""
"""How a page begins."""
BEGINNING_0_1 = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contacts in """
"""How it did in version 0.1.0."""

LONG, LINE = 60, ' class="long"'
"""Letters of a fact that has a line of its own, and what says so."""
Facts = list[tuple[str, str]]
"""Names and values of what was checked and how."""


def to_html(document: dict[str, Any]) -> str:
    """Return the document as the text of one HTML page."""
    return "\n".join(_page(document))


def _page(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    checks = document["checks"]
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    facts = [_facts(check, digests.get(check.get("path"))) for check in checks]
    common = [fact for fact in facts[0] if all(fact in others for others in facts)] if facts else []
    yield f'{BEGINNING}<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{shown(_title(document))}</title><style>{html_page.STYLE}</style>"
    yield "<noscript><style>.blocked { display: none; }</style></noscript></head><body>"
    yield f"<header><h1>{shown(_title(document))}</h1>"
    written = datetime.now().astimezone().isoformat(" ", "minutes")
    versions = f"Contact Lens {document['contact_lens']}, Blender {document['blender']}"
    yield from _list_of([("Report", f"{written}, {versions}"), *common])
    yield "</header><main>"
    if len(checks) > 1:
        yield from _verdict(checks)
    if document["partial"]:
        yield f'<p class="partial">{messages.STOPPED_EARLY}</p>'
    for entry in document["inputs"]:
        if entry["error"] is not None:
            problem = messages.not_checked(f"{entry['path']}: {entry['error']}")
            yield f'<p class="partial">{shown(problem)}</p>'
    several_files = len(document["inputs"]) > 1
    for entry in document["between_frames"]:
        text = f"{entry['path']}: {entry['words']}" if several_files else entry["words"]
        yield f'<p class="between">{shown(text)}</p>'
    names = Counter(entry["file"] for entry in document["inputs"])
    for number, (check, own) in enumerate(zip(checks, facts, strict=True)):
        path = check.get("path")
        name = (path if names[check["file"]] > 1 else check["file"]) or messages.UNSAVED_FILE
        head = f"{name}, {check['scene']}, frame {check['frame']}"
        if len(checks) == 1:
            yield from _check(check, number, head, "h2")
            continue
        yield f'<section aria-labelledby="c{number}"><h2 id="c{number}">{shown(head)}</h2>'
        yield from _list_of(fact for fact in own if fact not in common)
        yield from _check(check, number, head, "h3")
        yield "</section>"
    yield f"</main><dialog></dialog><script>{html_page.SCRIPT}</script></body></html>\n"


def _title(document: dict[str, Any]) -> str:
    files = [name or messages.UNSAVED_FILE for name in document["files"]]
    return f"Clashes in {', '.join(files[:3])}{' and others' if len(files) > 3 else ''}"


def _list_of(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    items = "".join(
        f"<div{LINE if len(text) > LONG else ''}><dt>{shown(name)}</dt><dd>{shown(text)}</dd></div>"
        for name, text in facts
    )
    if items:
        yield f'<dl class="facts">{items}</dl>'


def _facts(check: dict[str, Any], digest: str | None) -> Facts:
    """Return what was checked and how."""
    settings, units = check["settings"], unit_format(check)
    scope = {
        "visible": "visible objects",
        "selected": "selected objects",
        "collections": f"collection {settings['collection_a']} against collection {settings['collection_b']}",
        "one": f"{settings['object']} against all",
    }[settings["scope"]]
    scope += " with instances" if settings["instances"] else " without instances"
    visibility = messages.VISIBILITY[settings.get("visibility", "viewport")]  # files saved earlier do not say
    clearance, path = settings["clearance"], check.get("path")
    return [
        ("File", path or messages.UNSAVED_FILE),
        ("Saved", _saved_at(path)),
        ("Scene", f"{check['scene']}, frame {check['frame']}"),
        ("Scope", f"{scope}, {visibility}"),
        ("Clearance", units.length(clearance) if clearance > 0.0 else "none"),
        ("Touching", "reported" if settings["touching"] else "not reported"),
        ("Tolerance", f"{settings['contact_tolerance']:g} of the smaller object"),
        ("Ignored", ", ".join(_ignored(check)) or "nothing"),
        ("Unit", f"{units.words()}; a Blender unit is {check['units']['scale_length']:g} m"),
        ("SHA-256", digest or "unknown: the open scene was checked"),
    ]


def _ignored(check: dict[str, Any]) -> Iterator[str]:
    """Yield the rules by which pairs are ignored, with the number of those that were."""
    pairs = check["ignored_pairs"]
    rules = [name[7:] for name, on in check["settings"].items() if name.startswith("ignore_") and on]
    for rule in dict.fromkeys([*rules, *pairs]):
        count = f" ({counted(pairs[rule], 'pair')})" if rule in pairs else ""
        yield f"{rule.replace('_', ' ')}{count}"


def _saved_at(path: str | None) -> str:
    with suppress(OSError, ValueError):
        if path:
            return datetime.fromtimestamp(os.stat(path).st_mtime).astimezone().isoformat(" ", "minutes")
    return "unknown"


def _verdict(checks: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield how many clashes of each relation there are, and what was not checked."""
    relations: Counter[str] = Counter()
    for check in checks:
        both = zip(column(check["findings"], "relation"), column(check["findings"], "status"), strict=True)
        relations.update("resolved" if status == "resolved" else relation for relation, status in both)
    counts = "".join(
        f"<span>{dot(relation)}{number:,} {shown(relation.replace('_', ' '))}</span>"
        for relation, number in of_relations(relations)
    )
    objects = max(check["objects"] for check in checks)
    pairs = sum(check["checked_pairs"] for check in checks)
    where = f" in {counted(len(checks), 'check')}" if len(checks) > 1 else ""
    yield f'<p class="verdict"><strong>{messages.clashes(relations.total())}{where}</strong>{counts}</p>'
    left_out = [] if len(checks) > 1 else messages.left_out_counts(checks[0])
    of_all = ", ".join([counted(objects, "object"), f"{counted(pairs, 'pair')} checked", *left_out])
    yield f'<p class="dim">{shown(of_all)}</p>'
    unchecked = sum(any(entry["unchecked"] for entry in check["skipped"]) for check in checks)
    if unchecked and len(checks) > 1:
        yield f'<p class="partial">{messages.not_everything_in(unchecked, len(checks))}</p>'


def _check(check: dict[str, Any], number: int, head: str, heading: str) -> Iterator[str]:
    """Yield a check, with headings of this kind."""
    found = check["findings"]
    yield from _verdict([check])
    unchecked = [shown(entry["reason"]) for entry in check["skipped"] if entry["unchecked"]]
    if unchecked:
        reasons = "".join(f"<li>{reason}</li>" for reason in unchecked)
        yield f'<div class="unchecked"><{heading}>{messages.NOT_EVERYTHING}</{heading}><ul>{reasons}</ul></div>'
    if check["out_of_date"]:
        yield f'<p class="partial">{messages.clashes_out_of_date(check["out_of_date"], len(found))}</p>'
    if found:
        yield f"<{heading}>Clashes</{heading}>"
        if check.get("pictures"):
            yield f'<p class="dim">{shown(check["pictures"])}</p>'
        yield from table(check, number, head)
    elif check.get("pictures"):
        yield f'<p class="dim">{shown(check["pictures"])}</p>'
    yield from _details(check)


def _details(check: dict[str, Any]) -> Iterator[str]:
    """Yield what differs in renders and what was left out on purpose."""
    differences = [messages.difference(entry) for entry in check.get("differences", ())]
    left_out = [entry["reason"] for entry in check["skipped"] if not entry["unchecked"]]
    for title, lines in (
        (messages.settings_differ(len(differences)), differences),
        (messages.objects_left_out(len(left_out)), left_out),
    ):
        if lines:
            items = "".join(f"<li>{shown(line)}</li>" for line in lines)
            yield f"<details><summary>{title}</summary><ul>{items}</ul></details>"
