# SPDX-License-Identifier: GPL-3.0-or-later
"""The sentences that more than one file shows, and what they are made of. A sentence used once stands where it is used.

A leaf: it imports nothing of the add-on at run time, so that all floors can raise and show its sentences. A message is
one sentence that says what to do; a reason is the end of a sentence about an object, which `about` begins.
`build.py words` prints all strings that a user can read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .frame_lists import named_list

if TYPE_CHECKING:
    from ...core.meshes.decomposition import Decomposition


class Lengths(Protocol):
    """Writes lengths in the units of a scene, as `UnitFormat` does."""

    def length(self, value: float, /, *, rounding: Literal["nearest", "up", "down"] = "nearest") -> str: ...

    def place(self, values: Iterable[float], /) -> str: ...


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: '1 vertex', '2 vertices'."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def clashes(number: int) -> str:
    return counted(number, "clash", "clashes")


def percent(fraction: float) -> str:
    """Return a fraction as text; a little is not shown as nothing, nor nearly all as all."""
    if 0.0 < fraction < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < fraction < 1.0 else f"{100.0 * fraction:.0f} %"


def about(name: str, reason: str) -> str:
    """Return a sentence about an object."""
    return f"'{name}' {reason}"


def quoted(names: Sequence[str], most: int) -> str:
    """Return names in a sentence: "'A'", "'A' and 'B'", "'A', 'B', 'C', and 309 more"; most: how many at most."""
    shown = [f"'{name}'" for name in names[:most]]
    if len(names) == len(shown) > 1:
        return f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{', '.join(shown)}{and_more(len(names) - len(shown))}"


def and_more(number: int) -> str:
    return f", and {number:,} more" if number > 0 else ""


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- picking and inspecting a pair ----------------------------------------------------------------------------------

NO_RESULT = "There is no result: run Inspect Contact first"
INSPECTION_CANCELLED = "inspection cancelled"
CHANGED_MEANWHILE = "objects changed during the inspection"


def no_depth(relation: str) -> str:
    """Return why surfaces of such a relation have no depth."""
    return "the outer surface is open" if "inside" in relation else "both surfaces are open"


def picked_twice(name: str) -> str:
    return f"'{name}' is picked as both A and B: pick two objects"


def in_progress(title: str, fraction: float) -> str:
    return f"{title}: {100.0 * fraction:.0f} %"


# --- objects and clashes of a scene -----------------------------------------------------------------------------------

ALLOW_SCRIPTS = "allow it with --enable-autoexec or Auto Run Python Scripts"
NO_CLASHES = "No clashes"
IGNORED = "Ignored from the next check on"


def no_faces(shape: str) -> str:
    """A reason."""
    return f"has no faces, so it cannot collide as a {shape}: choose another collision shape"


def bad_part(name: str, reason: str) -> str:
    """A reason."""
    return f"cannot collide: its part '{name}' {reason}"


# --- the result of a pair -------------------------------------------------------------------------------------------

CHECK_FAILED = "The result did not pass its own verification: please report it (details in Accuracy)"
RELATIONS = {
    "coincident": "Coincident",
    "touching": "Touching",
    "a_inside_b": "A Inside B",
    "b_inside_a": "B Inside A",
    "penetrating": "Penetrating",
    "within_clearance": "Within Clearance",
    "separated": "Separated",
}
"""The relations as labels."""
BOUNDS_APART = frozenset({"bracket", "budget", "stalled"})
"""The statuses of an answer whose bounds are valid and do not meet."""
NO_DEPTH_SHORT = "No depth: open surfaces"
DEPTHS_NOT_SEARCHED = "depths of meshes not searched"


def of_a_or_b(note: str, names: tuple[str, str]) -> str:
    """Return a note of a result with the name in place of a leading "A: " or "B: "."""
    letter, _, text = note.partition(": ")
    return f"'{names['AB'.index(letter)]}': {text}" if letter in ("A", "B") and text else capitalized(note)


def named(sentences: str, names: tuple[str, str]) -> str:
    """Return sentences about a pair with the names in place of "A is" and "B is"."""
    return re.sub(r"\b([AB])(?= is )", lambda found: f"'{names['AB'.index(found[1])]}'", sentences)


def pieces(name: str, decomposition: Decomposition, units: Lengths) -> str:
    reason, number = decomposition.reason or decomposition.message, len(decomposition.pieces)
    distance, outside = (units.length(x, rounding="up") for x in (decomposition.distance, decomposition.outside))
    theirs, reach = ("the piece's", "which reaches") if number == 1 else ("theirs", "which reach")
    return (
        f"'{name}' is approximated by {counted(number, 'convex piece')} ({reason}): its surface is within {distance} "
        f"of {theirs}, {reach} up to {outside} outside of it"
    )


SHAPE_SOURCES = {"rigid_body": " of its rigid body"}
"""Where a collision shape comes from, if that is worth a word."""


def checked_as(name: str, shape: str, source: str | None) -> str:
    """Return the name of an object with the shape in which it collided; shape: empty where that is its mesh."""
    return f"{name} (as a {shape}{SHAPE_SOURCES.get(source or '', '')})" if shape else name


def within_margins(gap: float, margins: float, units: Lengths) -> str:
    return (
        f"within the collision margins: the gap is {units.length(gap)} and the margins are {units.length(margins)} "
        "together, so Blender's simulation may push the two apart"
    )


def protrudes(name: str, shape: str, length: float, units: Lengths) -> str:
    return f"'{name}' extends beyond its {shape} by up to {units.length(length, rounding='up')}"


def other_shape(name: str, note: str, shape: str) -> str:
    """Return what to know of a collision shape; shape: what is used in its place, if anything."""
    return f"'{name}' {note}: its {shape} is used" if shape else f"'{name}' {note}"


def hull_used(name: str) -> str:
    return f"'{name}' is not convex: its convex hull is used"


def too_coarse(names: Sequence[str], resolution: str, most: int = 3) -> str:
    """Return that coordinates are too coarse for objects of this size; most: how many are named."""
    size = "its size" if len(names) == 1 else "their sizes"
    return (
        f"The coordinates of {quoted(names, most)} are too coarse for {size} ({resolution}): move the objects closer "
        "to the world origin"
    )


def bounds_apart(contact: Any, least: str, most: str) -> str:
    """Return why the bounds of a contact do not meet and what is known instead; empty when they do.

    least, most: the bounds of the depth or gap, empty where there are none.
    """
    if not contact.reason or not contact.has_depth:  # that surfaces are open is in the notes of the contact
        return ""
    if contact.status in BOUNDS_APART and contact.depth and most:
        shorter = f"moving by less than {least} does not" if least else "and a shorter move may be enough"
        return f"The exact depth is not known: moving by {most} separates them, {shorter}"
    known = " and ".join(words for words in (least and f"at least {least}", most and f"at most {most}") if words)
    name = "gap" if contact.signed_distance > 0.0 else "depth"
    text = f"Less exact than usual: {contact.reason}"
    return f"{text}; the {name} is {known}" if known else text


# --- the state of a result ------------------------------------------------------------------------------------------

UP_TO_DATE = "Up to date"
FIRST_ANSWER = "First answer only"
PENDING = "..."
"""What is not known yet."""
MOVED, EDITED, GONE = "has moved", "has changed", "is gone"
COMPARING = "is being compared"
CROSSING = "an intersection without depth"
OUT_OF_DATE = "out of date"


def outdated(reason: str) -> str:
    return f"Out of date: {reason}"


def depth_or_gap(signed_distance: float | None, units: Lengths) -> str:
    if signed_distance is None:
        return CROSSING
    return f"a {'depth' if signed_distance <= 0.0 else 'gap'} of {units.length(abs(signed_distance))}"


def found_at(frame: float) -> str:
    return f"found at frame {frame}"


# --- test cases of JUnit XML ----------------------------------------------------------------------------------------


def placed(name: str, side: Mapping[str, Any], units: Lengths) -> str:
    """Return the name of an instance with its place, which tells it from others of its kind; of an object the name."""
    return f"{name}, at {units.place(side['location'])}" if side.get("location") else name


def pair_name(name_a: str, name_b: str) -> str:
    return f"{name_a} and {name_b}"


# --- a check in the panel and in reports ----------------------------------------------------------------------------

UP_TO_FRAME = " up to frame"
"""Before the frame, where a reason ends with it: over frames the last of such reasons is said."""
HIDDEN_AT_FRAMES = "is hidden, and not checked"
STOPPED_EARLY = "Stopped early: pairs that were not reached are not in this report."
UNSAVED_FILE = "unsaved file"
PLACES_LEFT_OUT = {"scene": "scene", "layer": "view layer"}
"""Kinds of what was skipped that are not objects, in words."""
IGNORED_PAIRS = {
    "parents": "parent and child",
    "collections": "same collection",
    "joined": "joined by constraint",
    "listed": "listed pairs",
    "approved": "approved pairs",
    "touching": "touching pairs",
    "least_contact": "smaller touches",
    "least_volume": "smaller overlaps",
    "decisions": "decided in the file of decisions",
}
"""The rules by which a check ignores pairs."""
PAIRS_LEFT_OUT = {
    "parents": "of parent and child",
    "collections": "in one collection",
    "joined": "joined by constraint",
    "listed": "listed",
    "approved": "approved",
    "touching": "touching",
    "least_volume": "with smaller overlaps",
}
"""What their pairs are, in counts: '4 pairs of parent and child, 2 approved'."""
DECISIONS_FILE = "the file of decisions"
NOT_REACHED = "the run was stopped before it was reached"
APART_NOW = "the objects were apart when last checked; these are the earlier numbers"


def things_not_checked(number: int) -> str:
    return f"{number:,} not checked"


def what_is_left_out(checks: Sequence[Mapping[str, Any]], decisions: Mapping[str, Any] | None = None) -> str:
    """Return what rules and settings left out of a check, or of several: 'left out: 4 pairs of parent and child, 2
    approved, 1 by decisions.json, 3 objects hidden'. Empty for nothing.

    decisions: their file, as documents have it. Objects are counted of a single check only: at several frames they are
    the same.
    """
    pairs: Counter[str] = Counter()
    for check in checks:
        pairs.update(check["ignored_pairs"])
    small = pairs.pop("least_contact", 0)
    words = {**PAIRS_LEFT_OUT, "decisions": f"by {decisions['file'] if decisions else DECISIONS_FILE}"}
    found = _counts("pair", {words[rule]: pairs[rule] for rule in words})
    if small:
        found.append(smaller_touches(small, {check["settings"].get("least_contact") for check in checks}))
    if len(checks) == 1:
        found += _counts("object", _objects_left_out(checks[0]))
        kinds = Counter(entry.get("kind") for entry in checks[0]["skipped"] if not entry["unchecked"])
        found += [counted(kinds[kind], f"other {name}") for kind, name in PLACES_LEFT_OUT.items() if kinds[kind]]
    return f"left out: {', '.join(found)}" if found else ""


def not_checked_in_short(check: Mapping[str, Any], notes: int, room: int) -> str:
    """Return in at most `room` characters how much was not checked, and left out: '1 not checked, 2 pairs left out'.

    notes: how many sentences there are about what was not left out.
    """
    kinds = Counter(entry.get("kind") for entry in check["skipped"] if not entry["unchecked"])
    counts = {
        "pair": sum(check["ignored_pairs"].values()),
        "object": sum(_objects_left_out(check).values()),
        **{name: kinds[kind] for kind, name in PLACES_LEFT_OUT.items()},
    }
    unchecked = sum(entry["unchecked"] for entry in check["skipped"])
    found = [things_not_checked(unchecked)] if unchecked else []
    if number := sum(counts.values()):
        words = ", ".join(counted(count, noun) for noun, count in counts.items() if count)
        if len(", ".join([*found, words])) + len(" left out") > room:
            words = f"{number:,}"
        found.append(f"{words} left out")
    return ", ".join(found) or counted(notes, "note")


def _counts(noun: str, counts: Mapping[str, int]) -> list[str]:
    """Return numbers with what they are of, the first one with its noun: '3 objects hidden', '1 excluded'."""
    found = [(number, word) for word, number in counts.items() if number]
    first = [f"{counted(number, noun)} {word}" for number, word in found[:1]]
    return first + [f"{number:,} {word}" for number, word in found[1:]]


def _objects_left_out(check: Mapping[str, Any]) -> dict[str, int]:
    """Return how many objects a check left out on purpose, by the reason."""
    counts = check.get("left_out") or {"hidden": 0, "rendered": 0, "excluded": 0}  # files saved earlier do not say
    kinds = Counter(entry.get("kind") for entry in check["skipped"] if not entry["unchecked"])
    number = max(counts["hidden"], kinds.pop("hidden", 0))  # over frames those are named that some of the frames show
    hidden = "not rendered" if check["settings"].get("visibility") == "render" else "hidden"
    if counts["rendered"]:
        part = "all " if counts["rendered"] == number else f"{counts['rendered']:,} of them "
        hidden += f" ({part if number > 1 else ''}rendered)"
    words = {"no_surface": "without a surface", "emptied": "emptied by modifiers"}
    return {
        hidden: number,
        "excluded": counts["excluded"],
        **{word: kinds.pop(kind, 0) for kind, word in words.items()},
        "for other reasons": sum(number for kind, number in kinds.items() if kind not in PLACES_LEFT_OUT),
    }


def relation_word(relation: str) -> str:
    """Return a relation as it stands beside names or their letters: 'B inside A', 'within clearance'."""
    words = relation.replace("_", " ")
    return f"{words[:-1].capitalize()}{words[-1].upper()}" if "inside" in words else words


DEEP = ("penetrating", "inside", "coincident")
"""What of clashes is in each other, as it is counted."""
MILD = ("touching", "within_clearance", "within_collision_margins")
"""What of them is not, the most severe first."""
FACING = "facing"
"""Beside the area of a pair that has a gap."""


def area_name(relation: str) -> str:
    """Return what the area of a contact region is called: of a pair that has a gap it is what faces the other."""
    return f"{FACING} area" if relation == "within_clearance" else "area"


def relation_groups(relations: Iterable[str] | Mapping[str, int]) -> dict[str, str]:
    """Return how many clashes there are of each group, most severe first: 'touching': '147 touching'.

    Those inside each other and coincident ones penetrate, too: '90 penetrating (3 inside)'; the key is that of the dot.
    """
    counts: Counter[str] = Counter()
    for relation, count in Counter(relations).items():
        counts["inside" if "inside" in relation else relation] += count
    words = [word for word in dict.fromkeys((*DEEP, *MILD, *counts)) if counts[word]]
    groups = {word: f"{counts[word]:,} {word.replace('_', ' ')}" for word in words}
    deep = [word for word in DEEP if word in groups]
    if len(deep) < 2:
        return groups
    kinds = ", ".join(groups.pop(word) for word in deep if word != DEEP[0])
    groups.pop(DEEP[0], None)
    return {DEEP[0]: f"{sum(counts[word] for word in deep):,} {DEEP[0]} ({kinds})", **groups}


def relation_counts(relations: Iterable[str] | Mapping[str, int]) -> str:
    """Return the clashes of a check as a headline: '90 penetrating (3 inside), 147 touching', '0 clashes'."""
    return ", ".join(relation_groups(relations).values()) or clashes(0)


def check_line(check: Mapping[str, Any], found: str, decisions: Mapping[str, Any] | None = None) -> str:
    """Return a check in one line: 'Scene: 12 objects, 2 penetrating, 1 touching; left out: 1 pair listed'.

    found: how many clashes it has; decisions: see `what_is_left_out`.
    """
    text = f"{check['scene']}: {counted(check['objects'], 'object')}, {found}"
    unchecked = sum(entry["unchecked"] for entry in check["skipped"])
    missing = [things_not_checked(unchecked)] if unchecked else []
    stopped = ["stopped early"] if check["partial"] else []
    left_out = what_is_left_out([check], decisions)
    return "; ".join([", ".join([text, *missing, *stopped]), *([left_out] if left_out else [])])


def smaller_touches(count: int, least: Set[str | None]) -> str:
    """Return how many touches share less than what was asked for: '93,000 corner and edge touches'."""
    kind = "corner" if least == {"edge"} else "corner and edge"
    return counted(count, f"{kind} touch", f"{kind} touches")


def difference(entry: Mapping[str, Any]) -> str:
    """Return a setting that differs between viewport and renders, as a sentence."""
    name, setting = entry["modifier"], entry["setting"]
    part = "its geometry" if name is None else f"the modifier '{name}'"
    owner = f"'{entry['object']}': {part}"
    if setting == "Is Viewport":
        return f"{owner} has an Is Viewport node, which is always on in a check"
    if setting == "show_viewport":
        on, off = ("the viewport", "renders") if entry["viewport"] else ("renders", "the viewport")
        return f"{owner} is on in {on} and off in {off}"
    values = f"{entry['viewport']:g} in the viewport and {entry['render']:g} in renders"
    return f"{owner} has {setting.replace('_', ' ')} {values}"


# --- pictures and volumes -------------------------------------------------------------------------------------------


def no_pictures(reason: str, are_some_taken: bool = False, file: str = "") -> str:
    text = "No more pictures" if are_some_taken else "No pictures"
    return f"{text} of {file}: {reason}" if file else f"{text}: {reason}"


# --- files ----------------------------------------------------------------------------------------------------------


def saved(path: str, content: str | None = None) -> str:
    return f"Saved {path}" if content is None else f"Saved {path}: {content}"


def other_file(path: str, kind: str) -> str:
    return f"{path}: the file there is not a {kind} of Contact Lens: name another path, or remove it first"


def partial_report_at(path: str) -> str:
    """Return the end of a sentence."""
    return f"; what was done is in {path}"


# --- the command line -----------------------------------------------------------------------------------------------

NO_FILE_OPEN = "no file is open: name a .blend file; see --help"
SHARED_REPORT_FILE = "each report needs a file of its own"
STOPPED = "stopped"
STOPPED_UNDRAWN = "stopped: not all pictures were drawn"
STOPPED_UNCHECKED = "stopped: not everything was checked"


def of_scene(name: str, text: str) -> str:
    """Return what is to say of one scene of several."""
    return f"{name}: {text}"


def stopping(signal_name: str) -> str:
    """Return what is shown when a signal asks to stop; empty name: Ctrl-C."""
    return f"stopping: {signal_name}" if signal_name else "stopping; press Ctrl-C again to end at once"


def timed_out(seconds: float) -> str:
    return f"stopped after {duration(seconds)}: not everything was checked (--timeout)"


def duration(seconds: float) -> str:
    """Return a time in the unit that --timeout takes it in: 90 s, 10 min, 1.5 h."""
    for length, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= length:
            return f"{seconds / length:.4g} {unit}"
    return f"{seconds:.4g} s"


# --- compared with an earlier report --------------------------------------------------------------------------------

CHECK_STOPPED = "the check was stopped"
FILE_NOT_CHECKED = "this file was not checked"
CHANGES = {
    "new": "New",
    "deeper": "Deeper",
    "shallower": "Shallower",
    "same": "Same",
}
"""How clashes differ from the baseline, as labels."""


def check_not_compared(entry: Mapping[str, Any]) -> str:
    file = entry["file"] or UNSAVED_FILE
    found = clashes(entry["clashes"])
    return f"not compared: {file}, {entry['scene']}, frame {entry['frame']}, with {found}: {entry['reason']}"


def other_frames(entry: Mapping[str, Any]) -> str:
    """Return with which frames of the baseline a scene was compared over others."""
    file = entry["file"] or UNSAVED_FILE
    return f"compared with {named_list(entry['frames'])} of the baseline: {file}, {entry['scene']}"


def since_baseline(changes: Mapping[str, Sequence[str]], gone: int, not_compared: int) -> str:
    """Return what differs from the baseline: '3 new (2 touching), 2 deeper, 1 gone since the baseline'.

    changes: the relations of the clashes that differ in each way.
    """
    counts = {word: len(changes.get(word, ())) for word in ("new", "deeper", "shallower")} | {"gone": gone}
    found = {word: f"{number:,} {word}" for word, number in counts.items() if number}
    if touching := Counter(changes.get("new", ()))["touching"]:
        found["new"] += f" ({touching:,} touching)"
    words = ", ".join(found.values()) or "no change"
    text = f"{words} since the baseline"
    return f"{text}, {not_compared:,} not compared with it" if not_compared else text


def earlier_clash(entry: Mapping[str, Any], units: Lengths) -> str:
    """Return a clash of the baseline as text."""
    a, b = (placed(entry[letter]["name"], entry[letter], units) for letter in "ab")
    what = f"{pair_name(a, b)}: {entry['relation'].replace('_', ' ')}"
    if entry["signed_distance"] is not None:
        what += f", {depth_or_gap(entry['signed_distance'], units)}"
    return f"{what}: {entry['reason']}" if "reason" in entry else what


def changed_since(row: Mapping[str, Any], units: Lengths) -> str:
    """Return how a clash differs from the baseline, as in 'deeper: was a depth of 2 mm'; nothing where it does not."""
    if (change := row["change"]) in (None, "same"):
        return ""
    return (
        "new since the baseline"
        if change == "new"
        else f"{change}: was {depth_or_gap(row['baseline_distance'], units)}"
    )


# --- decisions beside the file ----------------------------------------------------------------------------------------


def decision_unused(path: str, line: int, clash: str, reason: str) -> str:
    return f"{path}, line {line}: {clash}: {reason}"


def decisions(number: int) -> str:
    return counted(number, "decision")
