# SPDX-License-Identifier: GPL-3.0-or-later
"""What was checked and how, as the page that `html_report` writes begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..data import messages
from ..data.messages import counted
from ..data.units import ratio
from ..frames.sentences import frames_of_check
from ..scene import depths
from ..scene.clash_rows import unit_format
from .html_table import shown

LONG = frozenset({"File", "SHA-256", "Report", "Baseline", "Decisions"})
"""The facts that have a line of their own."""
LINE = ' class="long"'
Facts = list[tuple[str, str]]


def list_of(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the facts as a list, if there are any."""
    items = "".join(
        f"<div{LINE if name in LONG else ''}><dt>{name}</dt><dd>{shown(text)}</dd></div>" for name, text in facts
    )
    if items:
        yield f'<dl class="facts">{items}</dl>'


def of_report(document: dict[str, Any]) -> Facts:
    """Return what is known of the report."""
    versions = f"Contact Lens {document['contact_lens']}, Blender {document['blender']}, numpy {document['numpy']}"
    facts = [("Report", versions)]
    for title, name in (("Baseline", "baseline"), ("Decisions", "decisions")):
        if (earlier := document[name]) is not None:
            facts.append((title, f"{earlier['file']}, SHA-256 {earlier['sha256']}"))
    return facts


_REPORTED_TOUCHES = {
    "point": "Reported",
    "edge": "Reported along edges and in faces",
    "face": "Reported in faces",
}
"""Which touching pairs a check reports, by what they must share."""
_SHAPES = {
    "automatic": "Those of the objects",
    "mesh": "The meshes, whatever rigid bodies have",
    "hull": "The convex hulls of the meshes",
}
"""The collision shapes of a check as the page has them."""
_DEPTHS = {
    depths.NONE: "Not searched, but of boxes and convex hulls",
    depths.FIRST: "First answers; ≤ marks an upper bound",
    depths.EXACT: "Exact where possible; ≤ marks an upper bound",
}
"""How far depths were searched."""
_VISIBILITY = {
    "viewport": "as in the viewport",
    "render": "as in a render",
    "all": "all, including hidden and excluded objects",
}
"""Which objects are visible to a check."""


def of_check(check: dict[str, Any], digest: str | None) -> Facts:
    """Return the file and the settings of a check; digest: of the bytes of its file."""
    settings, units = check["settings"], unit_format(check)
    pairs = [(settings["collection_a"], settings["collection_b"]), *(settings.get("more_collections") or ())]
    objects = [settings["object"], *(settings.get("more_objects") or ())]
    scope = {
        "visible": "Visible objects",
        "selected": "Selected objects",
        "collections": messages.capitalized(", ".join(f"collection {a} against collection {b}" for a, b in pairs)),
        "one": f"{', '.join(map(str, objects))} against all",
    }[settings["scope"]]
    scope += " with instances" if settings["instances"] else " without instances"
    # Checks of earlier versions that a file has kept do not have all settings.
    visibility = _VISIBILITY[settings.get("visibility", "viewport")]
    touching = _REPORTED_TOUCHES[settings.get("least_contact", "point")]
    clearance = settings["clearance"]
    return [
        ("File", check.get("path") or messages.capitalized(messages.UNSAVED_FILE)),
        ("Scene", f"{check['scene']}, {frames_of_check(check)}"),
        ("Scope", f"{scope}, {visibility}"),
        ("Shapes", _SHAPES[settings.get("shapes", "automatic")]),
        ("Clearance", units.length(clearance) if clearance > 0.0 else "None"),
        ("Touching", touching if settings["touching"] else "Not reported"),
        ("Depths", _DEPTHS[depths.depth_of(settings)]),
        ("Ignored", messages.capitalized(", ".join(_ignored(check))) or "Nothing"),
        ("Tolerance", f"{ratio(settings['contact_tolerance'])} of the size of the smaller object"),
        ("Unit", f"{units.words()}; a Blender unit is {check['units']['scale_length']:g} m"),
        ("SHA-256", digest or "Unknown: the open scene was checked"),
    ]


def _ignored(check: dict[str, Any]) -> Iterator[str]:
    """Yield the rules by which pairs are ignored, with the number of those that were."""
    pairs = check["ignored_pairs"]
    rules = [name[7:] for name, on in check["settings"].items() if name.startswith("ignore_") and on]
    for rule in dict.fromkeys([*rules, *pairs]):
        count = f" ({counted(pairs[rule], 'pair')})" if rule in pairs else ""
        yield f"{messages.IGNORED_PAIRS.get(rule, rule)}{count}"
