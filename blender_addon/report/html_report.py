# SPDX-License-Identifier: GPL-3.0-or-later
"""A document of scene checks as one page for a browser: a table that can be sorted and searched, pictures, settings.

The page needs nothing but itself. All that comes from the file (names, messages) is escaped.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from html import escape
from typing import Any

from ..data.names import visible
from ..data.units import UnitFormat
from . import messages
from .messages import counted
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

STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #888; --bad: #d55e00; --touch: #0a7; --near: #c8a; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
p.sum { margin: .2rem 0 1rem; } .dim { color: var(--dim); } .partial { color: var(--bad); font-weight: 600; }
input { font: inherit; padding: .3rem .5rem; width: 20rem; max-width: 100%; margin: .4rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .35rem .6rem; vertical-align: top;
  border-bottom: 1px solid var(--line); } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; } td.name { overflow-wrap: anywhere; min-width: 8rem; }
td.name + td:not(.name) { min-width: 14rem; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid; }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
.penetrating { color: var(--bad); } .touching { color: var(--touch); } .within_clearance { color: var(--near); }
p.partial:has(+ ul) { margin: .2rem 0; } ul.unchecked { margin: 0 0 1rem; }
.between { border-left: 3px solid var(--bad); padding-left: .7rem; }
tr.resolved, tr.approved, tr.outdated { opacity: .55; } img { width: 11rem; border-radius: 4px; display: block; }
button.picture { all: unset; cursor: zoom-in; } button.picture:focus-visible { outline: 2px solid; }
button.picture[aria-expanded=true] { cursor: zoom-out; }
button.picture[aria-expanded=true] img { width: 640px; }
details { margin: .6rem 0; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: var(--dim); } dd { margin: 0; }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.findings")) {
  const body = table.tBodies[0];
  table.querySelectorAll("th").forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const number = head.classList.contains("n");
      const key = row => { const cell = row.cells[column], v = cell.dataset.v ?? cell.textContent;
                           return number ? parseFloat(v) : v; };
      const rows = [...body.rows].map((row, k) => [key(row), k, row]);
      const none = r => number && Number.isNaN(r[0]);  // rows without a number come last in both orders
      rows.sort((p, q) => none(p) || none(q) ? none(p) - none(q) || p[1] - q[1] :
        (number ? p[0] - q[0] : p[0].localeCompare(q[0])) * (up ? 1 : -1) || p[1] - q[1]);
      body.append(...rows.map(r => r[2]));
    });
  });
}
for (const picture of document.querySelectorAll("button.picture"))
  picture.addEventListener("click", () =>
    picture.setAttribute("aria-expanded", picture.getAttribute("aria-expanded") !== "true"));
for (const field of document.querySelectorAll("input.search")) {
  field.hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of document.getElementById(field.dataset.table).tBodies[0].rows)
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
"""

GROUPS = {"coincident": "penetrating", "a_inside_b": "penetrating", "b_inside_a": "penetrating"}


def to_html(document: dict[str, Any]) -> str:
    """Return the document as the text of one HTML page."""
    parts = [
        f'{BEGINNING}<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_shown(_title(document))}</title><style>{STYLE}</style></head><body>",
        f"<h1>{_shown(_title(document))}</h1>",
    ]
    if document["partial"]:
        parts.append(f'<p class="partial">{messages.STOPPED_EARLY}</p>')
    for entry in document["inputs"]:
        if entry["error"] is not None:
            problem = messages.not_checked(f"{entry['path']}: {entry['error']}")
            parts.append(f'<p class="partial">{_shown(problem)}</p>')
    several_files = len(document["inputs"]) > 1
    for entry in document["between_frames"]:
        text = f"{entry['path']}: {entry['words']}" if several_files else entry["words"]
        parts.append(f'<p class="between">{_shown(text)}</p>')
    digests = {entry["path"]: entry["sha256"] for entry in document["inputs"]}
    names = Counter(entry["file"] for entry in document["inputs"])
    several = len(document["checks"]) > 1
    for number, check in enumerate(document["checks"]):
        path = check.get("path")
        name = path if names[check["file"]] > 1 else check["file"]
        parts.append(_check(check, number, name or "unsaved file", digests.get(path), several))
    parts.append(
        f'<p class="dim">Contact Lens {_shown(document["contact_lens"])}, Blender {_shown(document["blender"])}. '
        f"{messages.SIGNED_DISTANCE}</p>"
    )
    parts.append(f"<script>{SCRIPT}</script></body></html>\n")
    return "\n".join(parts)


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


def _check(check: dict[str, Any], number: int, name: str, digest: str | None, several: bool) -> str:
    units = unit_format(check).for_table([abs(row["signed_distance"] or 0.0) for row in check["findings"]])
    found = check["findings"]
    counts = messages.relation_counts(
        [row if row.get("status") != "resolved" else {"relation": "resolved"} for row in found]
    )
    head = f"{name}, {check['scene']}, frame {check['frame']}"
    parts = [f"<section><h2>{_shown(head)}</h2>" if several else f'<p class="dim">{_shown(head)}</p>']
    left_out = "".join(f"; {words}" for words in messages.left_out_counts(check))
    parts.append(
        f'<p class="sum">{counted(check["objects"], "object")}, {counted(check["checked_pairs"], "pair")} checked, '
        f"<b>{messages.clashes(len(found))}</b>{f': {_shown(counts)}' if counts else ''}{left_out}</p>"
    )
    unchecked = [_shown(entry["reason"]) for entry in check["skipped"] if entry["unchecked"]]
    if unchecked:
        shown = "".join(f"<li>{reason}</li>" for reason in unchecked)
        parts.append(f'<p class="partial">{messages.NOT_EVERYTHING}:</p><ul class="unchecked">{shown}</ul>')
    if check["out_of_date"]:
        parts.append(f'<p class="partial">{messages.clashes_out_of_date(check["out_of_date"], len(found))}</p>')
    if check.get("pictures"):
        parts.append(f'<p class="dim">{_shown(check["pictures"])}</p>')
    if found:
        parts.append(_table(check, number, units))
    parts.append(_settings(check, units, digest))
    if several:
        parts.append("</section>")
    return "\n".join(parts)


def _table(check: dict[str, Any], number: int, units: UnitFormat) -> str:
    pictures = any("picture" in row or "no_picture" in row for row in check["findings"])
    unit, number_cell = units.symbol(), ' class="n"'
    heads = [
        *(("A", ""), ("B", ""), ("Relation", "")),
        (f"Signed distance ({unit})" if unit else "Signed distance", number_cell),
        (f"Area ({unit}²)" if unit else "Area", number_cell),
        ("Status", ""),
    ]
    parts = [
        f'<input class="search" data-table="t{number}" type="search" placeholder="Search" aria-label="Search" hidden>',
        f'<div class="wide"><table class="findings" id="t{number}"><thead><tr>',
        *(f'<th scope="col"{cls}><button type="button">{_shown(text)}</button></th>' for text, cls in heads),
    ]
    if pictures:
        parts.append('<th scope="col">Picture</th>')
    parts.append("</tr></thead><tbody>")
    for row in check["findings"]:
        relation, status = row["relation"], row.get("status", "")
        words = relation.replace("_", " ")
        if relation in ("a_inside_b", "b_inside_a"):
            inner, outer = ("a", "b") if relation == "a_inside_b" else ("b", "a")
            words = f"{row[inner]['name']} inside {row[outer]['name']}"
        frame = row.get("frame", check["frame"])
        of_frame = [] if frame == check["frame"] else [messages.found_at(frame)]
        if row["apart"]:
            of_frame.append(messages.APART_NOW)
        notes = "".join(f'<br><span class="dim">{_shown(note)}</span>' for note in [*of_frame, *row["notes"]])
        if row["out_of_date"]:
            notes = f'<br><span class="partial">{_shown(messages.outdated(row["out_of_date"]))}</span>{notes}'
        cells = [
            f'<td class="name">{_shown(row["a"]["name"])}</td>',
            f'<td class="name">{_shown(row["b"]["name"])}</td>',
            f'<td class="{GROUPS.get(relation, relation)}">{_shown(words)}{notes}</td>',
            _distance(row, units),
            f'<td class="n" data-v="{row["area"]!r}">'
            f"{_shown(units.number_of_area(row['area'])) if row['area'] > 0.0 else ''}</td>",
            f"<td>{_shown(status)}</td>",
        ]
        if pictures:
            cells.append(f"<td>{_picture(row)}</td>")
        outdated = " outdated" if row["out_of_date"] else ""
        parts.append(f'<tr class="{_shown(status)}{outdated}">{"".join(cells)}</tr>')
    parts.append("</tbody></table></div>")
    return "\n".join(parts)


def _distance(row: dict[str, Any], units: UnitFormat) -> str:
    value: float | None = row["signed_distance"]
    if value is None:
        return f'<td class="n" data-v="">&ndash;<br><span class="dim">no depth: {messages.NO_DEPTH}</span></td>'
    of_pieces = row.get("of_pieces") and row["intersects"]  # files saved earlier do not say
    more = '<br><span class="dim">depth of pieces</span>' if of_pieces else ""
    if messages.is_at_most(row):
        more += '<br><span class="dim">upper bound of the depth</span>'
    return f'<td class="n" data-v="{value!r}">{_shown(units.number(value))}{more}</td>'


def _picture(row: dict[str, Any]) -> str:
    if "picture" in row:
        names = _shown(f"{row['a']['name']} and {row['b']['name']}")
        image = f'<img alt="{names}" loading="lazy" src="data:image/png;base64,{row["picture"]}">'
        return f'<button type="button" class="picture" aria-expanded="false">{image}</button>'
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
