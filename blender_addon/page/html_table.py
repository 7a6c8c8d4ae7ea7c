# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of clashes on the page that `html_report` writes, most severe first, and what filters it.

What the page's script needs to draw and filter it is in the markup, see `html_page`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from ...core.types import BoolArray
from ..clashes.finding import OPEN_STATUSES, STATUSES
from ..data import messages
from ..data.distance import Distance
from ..data.lazy_rows import Row, column, columns, has_added
from ..data.names import visible
from ..data.units import UnitFormat
from ..frames.over_frames import intervals_of
from ..frames.sentences import frames_words, sentence_of
from ..scene.clash_rows import unit_format
from ..scene.fields import AREA, CHECK, TITLED, Field
from .strip import strip

KINDS = {"a_inside_b": "inside", "b_inside_a": "inside"}
"""Relations of a pair of which one is inside the other, as they are counted and filtered."""
RELATIONS = (*messages.DEEP, *messages.MILD)
MILDER = {"touching": 1, "within_clearance": 2}
"""What is less severe than all other relations, and by how much."""
_KINDS = {field.name: f"{'depth' if field.name == 'signed_distance' else field.name} n" for field in TITLED}
"""The classes of the columns of numbers."""
_HEADS = {_KINDS[field.name]: field.title for field in TITLED}
URGENCY = tuple(status[0].lower() for status in STATUSES)
CLOSED = frozenset(URGENCY) - {status.lower() for status in OPEN_STATUSES}
"""The statuses in which nothing is left to be done: such clashes are at the end."""


def shown(text: str) -> str:
    """Text of a file as text of the page: what cannot be seen as a reference, or where there is none as an escape."""
    if text.isprintable():
        return escape(text)
    return "".join(
        f"&#{ord(letter)};" if unicodedata.category(letter) in ("Cf", "Zl", "Zp") else visible(letter)
        for letter in escape(text)
    )


def dot(relation: str) -> str:
    """Return the mark of a relation, which differs from others in colour and form."""
    return f'<i class="dot {shown(relation)}"></i>'


def severity(relation: str) -> int:
    """Return how much milder than the most severe ones a relation is."""
    return MILDER.get(relation, 0)


def shared_notes(checks: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Return what notes of all clashes say, where there are several, with the objects that they are about."""
    if sum(len(check["findings"]) for check in checks) < 2:
        return {}
    found: dict[str, dict[str, None]] | None = None
    for row in (row for check in checks for row in check["findings"]):
        texts: dict[str, dict[str, None]] = {}
        for name, text in _notes(row):
            texts.setdefault(text, {})[name] = None
        found = texts if found is None else {text: names for text, names in found.items() if text in texts}
        for text, names in found.items():
            names |= texts[text]
        if not found:
            break
    return {text: sorted(names) for text, names in (found or {}).items()}


def _notes(row: Row) -> list[tuple[str, str]]:
    """Return the notes of a clash: the object that each begins with, empty where it is about both, and the rest."""
    found = []
    for note in row["notes"]:
        names = (row[letter]["name"] for letter in "ab")
        name = next((name for name in names if note.startswith(f"'{name}'")), "")
        found.append((name, note.removeprefix(f"'{name}'")))
    return found


def _in_order(found: Sequence[Row]) -> list[int]:
    """Return findings, of which equally severe ones are the deepest first, the most severe first; what is done last."""
    statuses, relations = columns(found, "status", "relation")
    keys = [(status in CLOSED, severity(relation)) for status, relation in zip(statuses, relations, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__)


def table(check: dict[str, Any], number: int, title: str, shared: Collection[str]) -> Iterator[str]:
    """Yield the lines of the table, the number-th of the page, and of what searches and filters it.

    shared: what `shared_notes` returns, which is not repeated.
    """
    found = check["findings"]
    relations = [KINDS.get(relation, relation) for relation in column(found, "relation")]
    statuses = [status or "" for status in column(found, "status")]
    changes = [change or "" for change in column(found, "change")]
    orders = (relations, RELATIONS), (statuses, URGENCY), (changes, tuple(messages.CHANGES))
    counts = [_counted(words, order) for words, order in orders]
    rank, urgency, newness = ({word: k for k, (word, _) in enumerate(of)} for of in counts)
    units = unit_format(check)
    numbers = [field for field in TITLED if field.source != CHECK or any(column(found, field.name))]
    numbers = [field for field in numbers if "over" not in check or field.kind is not AREA]  # room for the strip
    kinds = ["objects", "relation", *(_KINDS[field.name] for field in numbers), "status"]
    kinds += ["frames"] if "over" in check else []
    kinds += ["picture"] if has_added(found, "picture", "no_picture") else []
    widths = "".join(f'<col class="{kind}">' for kind in kinds)
    heads = "".join(f'<th scope="col" class="{kind}">{_head(kind)}</th>' for kind in kinds)
    yield from _controls(len(found), *counts)
    yield (
        '<div class="wide"><p class="blocked">The table is drawn by the script of this page, which is blocked here: '
        'open the page in a browser.</p><noscript class="rows">'
    )
    yield (
        f'<table class="findings{" over" if "over" in check else ""}" id="t{number}">'
        f"<caption>{shown(f'Clashes in {title}, most severe first')}</caption>"
        f"<colgroup>{widths}</colgroup><thead><tr>{heads}</tr></thead><tbody>"
    )
    for place, k in enumerate(_in_order(found)):
        row = found[k]
        data = f"{rank[relations[k]]} {urgency[statuses[k]]} {newness[changes[k]]}"
        frames = _frames(row, check["checks"], units) if "over" in check else ""
        picture = f"<td>{_picture(row)}</td>" if "picture" in kinds else ""
        cells = _cells(row, check["frame"], units, shared, numbers)
        yield f'<tr id="t{number}-{place}" data-of="{data}"{cells}{frames}{picture}</tr>'
    yield "</tbody></table>"
    yield "</noscript></div>"


def _counted(words: Iterable[str], order: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return how many there are of each word, in this order, others at the end."""
    return sorted(Counter(words).items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))


def _controls(
    count: int, relations: list[tuple[str, int]], statuses: list[tuple[str, int]], changes: list[tuple[str, int]]
) -> Iterator[str]:
    """Yield the field that searches the table and the buttons that filter and group it."""
    search = f"Search {messages.clashes(count)}"
    yield f'<div class="controls" role="search" aria-label="{search}" hidden>'
    yield f'<input type="search" class="search" placeholder="{search}" aria-label="{search}">'
    heads = {"s": "Status", "c": "Since the baseline"} if len(changes) > 1 else {}  # both have a button New
    groups = (("Relation", "r", relations), ("Status", "s", statuses), ("Change", "c", changes))
    for title, letter, kinds in groups:
        if len(kinds) < 2:
            continue
        buttons = "".join(
            f'<button type="button" aria-pressed="false" data-of="{letter}{place}">'
            f"{dot(kind) if letter == 'r' else ''}{_label(letter, kind)} <span>{number:,}</span></button>"
            for place, (kind, number) in enumerate(kinds)
        )
        head = f'<span class="dim">{heads[letter]}</span>' if letter in heads else ""
        yield f'<div class="chips" role="group" aria-label="{title}">{head}{buttons}</div>'
    yield '<button type="button" class="grouping" aria-pressed="false">Group by object</button>'
    yield '<output data-words="{shown} of {all} match"></output></div>'


def _label(letter: str, kind: str) -> str:
    return shown(messages.CHANGES[kind]) if letter == "c" else _word(kind)


def _head(kind: str) -> str:
    return _HEADS.get(kind, kind.split()[0].capitalize())


def _word(word: str) -> str:
    return shown(messages.capitalized(messages.RELATIONS.get(word, word)))


def _cells(
    row: dict[str, Any], frame: float, units: UnitFormat, shared: Collection[str], numbers: Iterable[Field]
) -> str:
    """Return the rest of the row's tag, and its cells but that of its picture; without notes that are shared."""
    relation, status = row["relation"], row.get("status", "")
    kind = KINDS.get(relation, relation)
    found_at = row.get("frame", frame)
    of_frame = [] if found_at == frame or "over" in row else [messages.found_at(found_at)]
    if row["apart"]:
        of_frame.append(messages.APART_NOW)
    own = [note for note, (_, text) in zip(row["notes"], _notes(row), strict=True) if text not in shared]
    notes = "".join(f"<p>{shown(messages.capitalized(note))}</p>" for note in [*of_frame, *own])
    if "over" in row:
        notes = f'<p class="over">{shown(sentence_of(row, units))}</p>{notes}'
    if row["out_of_date"]:
        notes = f'<p class="partial">{shown(messages.outdated(row["out_of_date"]))}</p>{notes}'
    outdated = " outdated" if row["out_of_date"] else ""
    names = [messages.placed(row[letter]["name"], row[letter], units) for letter in "ab"]
    changed = shown(messages.capitalized(messages.changed_since(row, units)))
    change = f'<p class="dim">{changed}</p>' if changed else ""
    return (
        f' class="{shown(status)}{outdated}"><th scope="row"><div class="a">{shown(names[0])}</div>'
        f'<div class="b">{shown(names[1])}</div>{notes}</th>'
        f'<td class="relation">{dot(kind)}{shown(messages.RELATIONS.get(relation, relation))}</td>'
        f"{''.join(_number(field, row, units) for field in numbers)}"
        f"<td>{_word(status)}{change}</td>"
    )


def _number(field: Field, row: dict[str, Any], units: UnitFormat) -> str:
    """Return the cell of a number of a clash."""
    if field.name == "signed_distance":
        return _distance(row, units)
    size = row.get(field.name) or 0.0
    text = units.measure(size, field.kind.power) if size else ""
    if field.name == "area" and text and row["relation"] == "within_clearance":
        text, size = f"{text} {messages.FACING}", 0.0  # it is behind all that meet
    return f'<td class="n" data-v="{float(size)!r}">{shown(text)}</td>'


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    """Return the cell of a clash's depth or gap."""
    distance = Distance.of_row(row)
    if distance.signed_distance is None:
        text = messages.NO_DEPTH_SHORT if distance.no_depth_reason else '<span class="dim">Not searched</span>'
        return f'<td class="n" data-v="">{text}</td>'
    text = distance.text(units)
    name = f'<span class="dim">{distance.name}</span> ' if text else ""
    return f'<td class="n" data-v="{distance.signed_distance!r}">{name}{shown(text)}</td>'


def _frames(row: Row, checks: Sequence[dict[str, Any]], units: UnitFormat) -> str:
    """Return the cell of the frames of a pair: its strip, the frames, and folded what differs from one to the next."""
    if "over" not in row:
        return '<td data-v=""></td>'
    over = row["over"].over
    texts: dict[str, BoolArray] = {}
    for k, (check, place) in zip(np.flatnonzero(over.found), row["over"].rows.values(), strict=True):
        text = _at_a_frame(checks[check]["findings"][place], row, units)
        texts.setdefault(text, np.zeros(len(over.frames), dtype=bool))[k] = True
    lines = [
        f"<li>{frames_words(intervals_of(over.frames[over.checked], mask[over.checked]))}: {shown(text)}</li>"
        for text, mask in texts.items()
    ]
    each = f"<details><summary>Each frame</summary><ul>{''.join(lines)}</ul></details>" if len(lines) > 1 else ""
    kind = KINDS.get(row["relation"], row["relation"])
    words = frames_words(over.intervals)
    return f'<td class="frames {shown(kind)}" data-v="{over.first}">{strip(over)}<p>{words}</p>{each}</td>'


def _at_a_frame(row: Row, worst: Row, units: UnitFormat) -> str:
    """Return how deep or near a pair is at a frame, and its status and notes where these are not those of the worst."""
    distance = Distance.of_row(row)
    relation = messages.RELATIONS.get(row["relation"], row["relation"])
    status = [messages.capitalized(row["status"])] if row["status"] != worst["status"] else []
    notes = (messages.capitalized(note) for note in row["notes"] if note not in worst["notes"])
    return "; ".join([f"{distance.name} {text}" if (text := distance.text(units)) else relation, *status, *notes])


def _picture(row: dict[str, Any]) -> str:
    """Return the picture of a clash, or why there is none."""
    if "picture" in row:
        at_frame = f", frame {row['frame']}" if "over" in row else ""
        names = f"{row['a']['name']} and {row['b']['name']}{at_frame}"
        image = f'<img alt="{shown(names)}" src="data:image/png;base64,{shown(row["picture"])}">'
        caption = f"<p>At frame {row['frame']}</p>" if at_frame else ""
        return f'<button type="button" class="picture">{image}</button>{caption}'
    return f'<span class="dim">{shown(messages.capitalized(row.get("no_picture", "")))}</span>'
