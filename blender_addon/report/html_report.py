# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as one page for a browser: a table that can be sorted and searched, pictures, settings.

The page needs nothing but itself. All that comes from the file (names, messages) is escaped.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any

from ..data import messages
from ..data.lazy_rows import column
from ..data.messages import counted
from ..data.names import visible
from ..data.units import UnitFormat
from . import html_page
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

GROUPS = {"coincident": "penetrating", "a_inside_b": "penetrating", "b_inside_a": "penetrating"}


def to_html(document: dict[str, Any]) -> str:
    """Return the document as the text of one HTML page."""
    return "\n".join(_page(document))


def _page(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield f'{BEGINNING}<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_shown(_title(document))}</title><style>{html_page.STYLE}</style>"
    yield "<noscript><style>.blocked { display: none; }</style></noscript></head><body>"
    yield f"<h1>{_shown(_title(document))}</h1>"
    if document["partial"]:
        yield f'<p class="partial">{messages.STOPPED_EARLY}</p>'
    for entry in document["inputs"]:
        if entry["error"] is not None:
            problem = messages.not_checked(f"{entry['path']}: {entry['error']}")
            yield f'<p class="partial">{_shown(problem)}</p>'
    several_files = len(document["inputs"]) > 1
    for entry in document["between_frames"]:
        text = f"{entry['path']}: {entry['words']}" if several_files else entry["words"]
        yield f'<p class="between">{_shown(text)}</p>'
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    names = Counter(entry["file"] for entry in document["inputs"])
    several = len(document["checks"]) > 1
    for number, check in enumerate(document["checks"]):
        path = check.get("path")
        name = path if names[check["file"]] > 1 else check["file"]
        yield from _check(check, number, name or "unsaved file", digests.get(path), several)
    yield (
        f'<p class="dim">Contact Lens {_shown(document["contact_lens"])}, Blender {_shown(document["blender"])}. '
        f"{messages.SIGNED_DISTANCE}</p>"
    )
    yield f"<dialog></dialog><script>{html_page.SCRIPT}</script></body></html>\n"


def _title(document: dict[str, Any]) -> str:
    files = [name or "unsaved file" for name in document["files"]]
    return f"Contacts in {', '.join(files[:3])}{' and others' if len(files) > 3 else ''}"


def _shown(text: str) -> str:
    """Text of a file as text of the page: what cannot be seen as a reference, or where there is none as an escape."""
    if text.isprintable():
        return escape(text)
    return "".join(
        f"&#{ord(letter)};" if unicodedata.category(letter) in ("Cf", "Zl", "Zp") else visible(letter)
        for letter in escape(text)
    )


def _check(check: dict[str, Any], number: int, name: str, digest: str | None, several: bool) -> Iterator[str]:
    found = check["findings"]
    units = unit_format(check).for_table([abs(row["signed_distance"] or 0.0) for row in found])
    both = zip(column(found, "relation"), column(found, "status"), strict=True)
    counts = messages.relation_counts("resolved" if status == "resolved" else relation for relation, status in both)
    head = f"{name}, {check['scene']}, frame {check['frame']}"
    yield f"<section><h2>{_shown(head)}</h2>" if several else f'<p class="dim">{_shown(head)}</p>'
    left_out = "".join(f"; {words}" for words in messages.left_out_counts(check))
    yield (
        f'<p class="sum">{counted(check["objects"], "object")}, {counted(check["checked_pairs"], "pair")} checked, '
        f"<b>{messages.clashes(len(found))}</b>{f': {_shown(counts)}' if counts else ''}{left_out}</p>"
    )
    unchecked = [_shown(entry["reason"]) for entry in check["skipped"] if entry["unchecked"]]
    if unchecked:
        shown = "".join(f"<li>{reason}</li>" for reason in unchecked)
        yield f'<p class="partial">{messages.NOT_EVERYTHING}:</p><ul class="unchecked">{shown}</ul>'
    if check["out_of_date"]:
        yield f'<p class="partial">{messages.clashes_out_of_date(check["out_of_date"], len(found))}</p>'
    if check.get("pictures"):
        yield f'<p class="dim">{_shown(check["pictures"])}</p>'
    if found:
        yield from _table(check, number, units)
    yield _settings(check, units, digest)
    if several:
        yield "</section>"


def _table(check: dict[str, Any], number: int, units: UnitFormat) -> Iterator[str]:
    """Yield the lines of the table and of what the page's script needs to draw it, see `html_page`."""
    pictures = any("picture" in row or "no_picture" in row for row in check["findings"])
    unit = units.symbol()
    columns = [
        *(("A", "name"), ("B", "name"), ("Relation", "")),
        (f"Signed distance ({unit})" if unit else "Signed distance", "n"),
        (f"Area ({unit}²)" if unit else "Area", "n area"),
        ("Status", "status"),
        *([("Picture", "picture")] if pictures else []),
    ]
    widths = "".join(f'<col class="{kind}">' for _, kind in columns)
    heads = "".join(f'<th scope="col" class="{kind}">{_shown(text)}</th>' for text, kind in columns)
    search = messages.search_clashes(len(check["findings"]))
    yield (
        f'<p hidden><input type="search" class="search" placeholder="{search}" aria-label="{search}">'
        f'<output data-words="{messages.MATCHES}"></output></p>'
    )
    yield f'<div class="wide"><p class="blocked">{messages.SCRIPT_BLOCKED}</p><noscript class="rows">'
    yield f'<table class="findings" id="t{number}"><colgroup>{widths}</colgroup><thead><tr>{heads}</tr></thead><tbody>'
    for k, row in enumerate(check["findings"]):
        yield f'<tr id="t{number}-{k}"{_row(row, check["frame"], units, pictures)}</tr>'
    yield "</tbody></table>"
    yield "</noscript></div>"


def _row(row: dict[str, Any], frame: float, units: UnitFormat, pictures: bool) -> str:
    """Return the rest of the row's tag, and its cells."""
    relation, status = row["relation"], row.get("status", "")
    words = _shown(relation.replace("_", " "))
    if relation in ("a_inside_b", "b_inside_a"):
        inner, outer = ("a", "b") if relation == "a_inside_b" else ("b", "a")
        words = f"<bdi>{_shown(row[inner]['name'])}</bdi> inside <bdi>{_shown(row[outer]['name'])}</bdi>"
    found_at = row.get("frame", frame)
    of_frame = [] if found_at == frame else [messages.found_at(found_at)]
    if row["apart"]:
        of_frame.append(messages.APART_NOW)
    notes = "".join(f'<br><span class="dim">{_shown(note)}</span>' for note in [*of_frame, *row["notes"]])
    if row["out_of_date"]:
        notes = f'<br><span class="partial">{_shown(messages.outdated(row["out_of_date"]))}</span>{notes}'
    area = _shown(units.number_of_area(row["area"])) if row["area"] > 0.0 else ""
    outdated = " outdated" if row["out_of_date"] else ""
    return (
        f' class="{_shown(status)}{outdated}">'
        f"<td>{_shown(row['a']['name'])}</td><td>{_shown(row['b']['name'])}</td>"
        f'<td class="{_shown(GROUPS.get(relation, relation))}">{words}{notes}</td>'
        f'{_distance(row, units)}<td class="n" data-v="{float(row["area"])!r}">{area}</td><td>{_shown(status)}</td>'
        f"{f'<td>{_picture(row)}</td>' if pictures else ''}"
    )


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    value: float | None = row["signed_distance"]
    if value is None:
        return f'<td class="n" data-v="">&ndash;<br><span class="dim">no depth: {messages.NO_DEPTH}</span></td>'
    more = f'<br><span class="dim">{messages.AT_MOST}</span>' if messages.is_at_most(row) else ""
    return f'<td class="n" data-v="{float(value)!r}">{_shown(units.number(value))}{more}</td>'


def _picture(row: dict[str, Any]) -> str:
    if "picture" in row:
        names = _shown(f"{row['a']['name']} and {row['b']['name']}")
        image = f'<img alt="{names}" src="data:image/png;base64,{_shown(row["picture"])}">'
        return f'<button type="button" class="picture">{image}</button>'
    return f'<span class="dim">{_shown(row.get("no_picture", ""))}</span>'


def _settings(check: dict[str, Any], units: UnitFormat, digest: str | None) -> str:
    settings = check["settings"]
    ignored = [name[7:].replace("_", " ") for name, on in settings.items() if name.startswith("ignore_") and on]
    scope = {
        "visible": "visible objects",
        "selected": "selected objects",
        "collections": f"collection {settings['collection_a']} against collection {settings['collection_b']}",
        "one": f"{settings['object']} against all",
    }[settings["scope"]]
    visibility = settings.get("visibility", "viewport")  # files saved earlier do not say
    lines = [
        ("Checked", scope + (", with instances" if settings["instances"] else ", without instances")),
        ("Visibility", messages.VISIBILITY[visibility]),
        ("Clearance", units.length(settings["clearance"])),
        ("Contact tolerance", f"{settings['contact_tolerance']:g} of the smaller object"),
        ("Touching pairs", "reported" if settings["touching"] else "not reported"),
        ("Ignored", ", ".join(ignored) or "nothing"),
        ("Pairs ignored", ", ".join(f"{n:,} {word}" for word, n in check["ignored_pairs"].items()) or "none"),
        ("File", check.get("path") or "not saved"),
        ("SHA-256 of the file", digest or "unknown: the open scene was checked"),
        ("Unit", f"{units.symbol() or 'Blender units'}; a Blender unit is {check['units']['scale_length']:g} m"),
    ]
    rows = "".join(f"<dt>{_shown(name)}</dt><dd>{_shown(text)}</dd>" for name, text in lines)
    parts = [f"<details><summary>Settings</summary><dl>{rows}</dl></details>"]
    differences = [_shown(messages.difference(entry)) for entry in check.get("differences", ())]
    if differences:
        items = "".join(f"<li>{words}</li>" for words in differences)
        parts.append(
            f"<details><summary>{counted(len(differences), 'setting differs', 'settings differ')} between viewport and "
            f"renders</summary><ul>{items}</ul></details>"
        )
    left_out = [_shown(entry["reason"]) for entry in check["skipped"] if not entry["unchecked"]]
    if left_out:
        items = "".join(f"<li>{reason}</li>" for reason in left_out)
        parts.append(
            f"<details><summary>{counted(len(left_out), 'object')} left out</summary><ul>{items}</ul></details>"
        )
    return "\n".join(parts)
