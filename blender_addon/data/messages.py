# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sentence that a user can read, once. Labels, tooltips and option help stand where they are declared.

A leaf: it imports nothing of the add-on at run time, so that all floors can raise and show its sentences. A message is
one sentence that says what to do; a reason is the end of a sentence about an object, which `about` begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from ...core.meshes.decomposition import Decomposition


class Lengths(Protocol):
    """Writes lengths in the units of a scene, as `UnitFormat` does."""

    def length(self, value: float, /, *, rounding: Literal["nearest", "up", "down"] = "nearest") -> str: ...


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
    """Return a sentence about an object, or, as in `About`, about A or B."""
    return f"'{name}' {reason}"


def quoted(names: Sequence[str], most: int) -> str:
    """Return names in a sentence: "'A'", "'A' and 'B'", "'A', 'B', 'C', and 309 more"; most: how many at most."""
    shown = [f"'{name}'" for name in names[:most]]
    if len(names) == len(shown) > 1:
        return f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{', '.join(shown)}{and_more(len(names) - len(shown))}"


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- picking and inspecting a pair ----------------------------------------------------------------------------------

SELECT_TWO = "Select two objects: the active one becomes A, the other B"
PICK_OTHER = "Pick another object: or select two, of which the active one becomes A"
ACTIVATE_ONE = "Make one of the two selected objects active: it becomes A"
NOT_PICKED = "Pick two objects first"
NOTHING_PICKED = "No object is picked"
NO_RESULT = "There is no result: run Inspect Contact first"
NO_VIEWPORT = "There is no 3D Viewport"
PAIR_GONE = "An object of the pair is hidden or deleted: check the scene again"
OBJECT_REMOVED = "An object was removed during the inspection: try again"
INSPECTION_CANCELLED = "inspection cancelled"
CHANGED_MEANWHILE = "objects changed during the inspection"
UNDONE = "a step was undone or redone"
SETTINGS_CHANGED = "the settings have changed"


def no_depth(relation: str) -> str:
    """Return why surfaces of such a relation have no depth."""
    return "the outer surface is open" if "inside" in relation else "both surfaces are open"


def too_many_selected(number: int) -> str:
    return f"{number} objects are selected: select only two"


def picked_twice(name: str) -> str:
    return f"'{name}' is picked as both A and B: pick two objects"


def shape_changed(name: str) -> str:
    return f"the collision shape of '{name}' has changed"


def pair_failed(name_a: str, name_b: str, error: Exception) -> str:
    return f"'{name_a}' and '{name_b}' cannot be inspected: {error}"


def unexpected_error(name_a: str, name_b: str, error: Exception) -> str:
    return (
        f"'{name_a}' and '{name_b}' cannot be inspected ({type(error).__name__}: {error}): please report this with the "
        "text in the system console"
    )


def cancelled(title: str) -> str:
    return f"{title} cancelled"


def in_progress(title: str, fraction: float) -> str:
    return f"{title}: {100.0 * fraction:.0f} %"


def escape_hint(keeps_partial: bool) -> str:
    return f"Esc: {'stop and keep partial results' if keeps_partial else 'cancel'}"


def overlay_failed(error: Exception) -> str:
    return f"The overlay cannot be drawn ({error}): disable and enable the add-on to retry"


# --- moving apart ---------------------------------------------------------------------------------------------------

NOT_PENETRATING = "The objects do not penetrate: there is nothing to move out"
INSTANCE_FIXED = "An instance cannot be moved: make it real first"
CHANGED_NOT_MOVED = "An object changed during the inspection, so nothing was moved: try again"
MOVED_NOT_INSPECTED = "The inspection afterwards was cancelled"
MOVED_CHECK_AGAIN = "Check the scene again to find other clashes of the moved objects"


def moved(objects: str, outlook: str) -> str:
    return f"Moved {objects}. {outlook}"


def moved_object(name: str, length: str, is_keyed: bool) -> str:
    return f"'{name}' by {length}{' (keyframe inserted)' if is_keyed else ''}"


def move_is_animated(name: str) -> str:
    return f"The location of '{name}' is animated: insert a keyframe, or the next frame change undoes the move"


def move_is_constrained(name: str) -> str:
    return f"'{name}' cannot be moved: constraints, drivers or its parent fix its location"


def move_together(name_a: str, name_b: str) -> str:
    return f"'{name_a}' and '{name_b}' move together: one is attached to the other"


def move_is_linked(name: str, library: str) -> str:
    return f"'{name}' cannot be moved: it is linked from {library}"


def move_is_override(name: str) -> str:
    return f"'{name}' cannot be moved: its library override is not editable"


def move_is_flattened(name: str, parent: str) -> str:
    return f"'{name}' cannot be moved in that direction: its parent '{parent}' has a scale of zero"


def axis_leaves_plane(axis: str) -> str:
    return f"The {axis} axis leads out of the plane in which the objects are inspected: choose another one"


def move_is_locked(name: str, axis: str) -> str:
    return f"'{name}' cannot be moved: its {axis} location is locked"


# --- reading objects ------------------------------------------------------------------------------------------------

IS_PARENT_OF_NONE = "is a compound parent rigid body without child rigid bodies"
HAS_NO_FACES = "has no faces"
PARTS_MISSING = "is a compound parent whose children are not instanced with it"
META_HINT = ": of merged metaballs, the first one has the mesh"
MODIFIERS_HINT = " after its modifiers are evaluated"
HULL_OR_MESH = "As a convex hull where the mesh is convex, otherwise as the mesh"
CHILDREN_ARE_PIECES = "the children are its pieces"


def hidden(name: str) -> str:
    return f"'{name}' is hidden, so Blender does not evaluate it: show it to inspect it"


def unsupported_type(name: str, kind: str) -> str:
    return f"'{name}' is of type {kind}, which has no surface to inspect"


def collection_instance(name: str) -> str:
    return f"'{name}' is a collection instance: run Check Scene and open a clash to inspect its objects"


def makes_instances(name: str) -> str:
    return (
        f"'{name}' makes instances, which are not part of its mesh: run Check Scene and open a clash to inspect them, "
        "or make them real"
    )


def matrix_not_finite(name: str) -> str:
    return f"The world matrix of '{name}' is not finite: clear its transforms"


def vertex_not_finite(name: str) -> str:
    return f"'{name}' has a vertex whose coordinates are not finite: remove it"


def dynamic_topology(name: str) -> str:
    return f"'{name}' is sculpted with dynamic topology: leave Sculpt Mode to inspect it"


def no_mesh(name: str, details: str) -> str:
    return f"'{name}' has no mesh{details}"


def no_vertices(name: str, details: str) -> str:
    return f"'{name}' has no vertices{details}"


def no_faces(shape: str) -> str:
    """A reason."""
    return f"has no faces, so it cannot collide as a {shape}: choose another collision shape"


def too_large(limit: float) -> str:
    """A reason."""
    return f"is too large or too far away: it extends beyond {limit:.1e} Blender units"


def bad_part(name: str, reason: str) -> str:
    """A reason."""
    return f"cannot collide: its part '{name}' {reason}"


def bad_compound(reason: str, shapes: str) -> str:
    """A reason."""
    return f"cannot collide as a compound ({reason}): choose {shapes} as its collision shape, or fill its holes"


def no_height(shape: str) -> str:
    """A reason."""
    return f"is flat along its local Z axis, and a {shape} needs a height: choose another collision shape"


def no_radius(shape: str) -> str:
    """A reason."""
    return f"has no width across its local Z axis, and a {shape} needs a radius: choose another collision shape"


def simulated_shape(shape: str) -> str:
    """A reason."""
    return f"is a rigid body of shape {shape}, which is not supported"


def simulated_source(source: str) -> str:
    """A reason."""
    return f"is simulated without its modifiers (Source: {source}), while the final mesh is used here"


def shape_of_rigid_body(shape: str, is_centered: bool, note: str) -> str:
    place = ", centered at its origin" if is_centered else ""
    return f"As its rigid body: {shape}{place}{f'. It {note}' if note else ''}"


def shape_of_object(shape: str, is_centered: bool) -> str:
    return f"As a {shape}{', centered in its bounding box' if is_centered else ''}"


def shape_is_linked(name: str, library: str) -> str:
    return f"'{name}' is linked from {library}: make a library override to set its collision shape"


def shape_is_override(name: str) -> str:
    return f"The library override of '{name}' is not editable: make it editable to set its collision shape"


def not_flat(name: str, distance: str) -> str:
    return f"'{name}' is not flat: it is up to {distance} off its plane. {DISABLE_2D}"


def not_in_one_plane(name_a: str, name_b: str, distance: str) -> str:
    return f"'{name_b}' is up to {distance} off the plane of '{name_a}'. {DISABLE_2D}"


def not_in_plane(name: str, shape: str) -> str:
    return f"The {shape} of '{name}' does not lie in the plane of the two objects. {DISABLE_2D}"


def no_shape_in_plane(name: str, shape: str) -> str:
    return f"'{name}' cannot be a {shape} in 2D: choose a convex hull, box, sphere or capsule. {DISABLE_2D}"


DISABLE_2D = "Disable 2D to inspect the objects in space"

# --- what Blender may have evaluated wrong --------------------------------------------------------------------------

OVERRIDES_UNLINKED = "overrides data that is no longer linked"
NO_SUCH_PROPERTY = "drives a property that does not exist"
INVALID_VARIABLE = "has an invalid variable"
ITS_LIBRARY = "its library"
ALLOW_SCRIPTS = "allow it with --enable-autoexec or Auto Run Python Scripts"


def depends_on(user: str, source: str, reason: str) -> str:
    return f"{user} depends on {source}, which {reason}"


def missing_from(library: str) -> str:
    """A reason."""
    return f"is missing from {library}"


def overrides_missing(name: str, library: str) -> str:
    """A reason."""
    return f"overrides '{name}', which is missing from {library}"


def library(path: str, is_missing: bool, is_there: bool) -> str:
    """Return a library by name; is_there: whether its file exists."""
    problem = f", which {'cannot be read' if is_there else 'does not exist'}" if is_missing else ""
    return f"the library '{path}'{problem}"


def missing_file(path: str) -> str:
    """A reason."""
    return f"uses the file '{path}', which does not exist" if path else "has no file"


def unknown(names: Sequence[str], version: str) -> str:
    """A reason."""
    return (
        f"has a {names[0]}{and_more(len(names) - 1)} that Blender {version} does not know: check the file with one "
        "that does"
    )


def saved_by_newer(what: str, version: str, own: str) -> str:
    return (
        f"{what} was saved by Blender {version}, and this is {own}, in which geometry may be missing: check it with "
        f"Blender {version} or newer"
    )


def bad_driver(place: str, reason: str, others: int) -> str:
    """A reason."""
    return f"has a driver on {place} that {reason}{and_more(others)}"


def script_disabled(expression: str) -> str:
    return f"was not run ('{expression}'), because Blender runs no scripts of this file: {ALLOW_SCRIPTS}"


def invalid_expression(expression: str) -> str:
    return f"has an invalid expression ('{expression}')"


def missing_cache(path: str, user: str, is_there: bool = False) -> str:
    """A reason."""
    if not path:
        return f"has no cache file ({user})"
    return f"uses the cache '{path}' ({user}), which {'cannot be read' if is_there else 'does not exist'}"


def missing_in_cache(path: str, user: str, place: str) -> str:
    """A reason."""
    return f"uses the cache '{path}' ({user}), which does not contain '{place}'"


def missing_bake(user: str) -> str:
    """A reason."""
    return f"has a simulation ({user}) whose baked files are missing"


def not_baked(simulation: str, user: str, frame: float, medium: str = "") -> str:
    """A reason."""
    return f"has a {simulation} ({user}) that is not baked{medium} up to frame {frame}"


def script_not_run(name: str) -> str:
    return f"The script '{name}' of the file was not run: {ALLOW_SCRIPTS}"


def and_more(number: int) -> str:
    return f", and {number:,} more" if number > 0 else ""


# --- what is checked in a scene -------------------------------------------------------------------------------------

NO_CHECK = "There is no result: run Check Scene first"
NOT_CHECKED_YET = "Not checked yet"
CHECK_RUNNING = "A scene check is already running"
NOTHING_SELECTED = "Nothing is selected: select the objects to check"
PICK_OBJECT = "Pick the object to check"
NO_CLASHES = "No clashes"
IGNORED = "Ignored from the next check on"
IGNORED_STATE = "Ignored"
SELECT_CLASH = "Select a clash in the list"
CLICK_CLASH = "Click a row to see its contact"
NO_CLASH_SHOWN = "No clash passes the filters"
NO_FILTER = "The list shows all clashes"
CLASH_HIDDEN = "The list does not show the active clash: change its filter"
SELECT_TO_IGNORE = "Select one or two objects to ignore"
CHECKED_AS_SHOWN = "it is checked as Blender shows it"
VISIBILITY = {
    "viewport": "as in the viewport",
    "render": "as in a render",
    "all": "all, including hidden and excluded objects",
}
"""Which objects are visible to a check."""
EMPTY_SIDES = {
    "visible": ("among the visible objects",),
    "selected": ("among the selected objects",),
    "collections": ("in collection '{0}'", "in collection '{1}'"),
    "one": ("in object '{0}'", "among the objects other than '{0}'"),
}
"""Where there may be no surface, by the scope of a check."""


def no_object(name: str) -> str:
    return f"There is no object '{name}' in the view layer"


def no_collection(name: str) -> str:
    return f"There is no collection '{name}' in the scene"


def pick_collection(letter: str) -> str:
    return f"Pick collection {letter} to check"


def excluded(name: str) -> str:
    return f"'{name}' is excluded from the view layer: include it to check it"


def other_scene(name: str, number: int, is_unchecked: bool) -> str:
    """Return what to know of a scene that is not checked; number: of its objects that are in no checked scene."""
    has = f"has {counted(number, 'object')} that {'is' if number == 1 else 'are'} in no checked scene"
    if is_unchecked:
        return f"The scene '{name}' was not checked and {has}: add --scene all, or --scene with each name"
    return f"The scene '{name}' is left out and {has}"


def other_layer(name: str, number: int, is_unchecked: bool) -> str:
    """Return what to know of a view layer that is not checked; number: of the objects that only it renders."""
    verb, pronoun = ("is", "it") if number == 1 else ("are", "them")
    objects = f"{counted(number, 'object')} that {verb} excluded from the one that is checked"
    hint = ", or add --visibility all" if is_unchecked else ""
    return f"The view layer '{name}' renders {objects}: include {pronoun} there to check {pronoun}{hint}"


def background_set(name: str, number: int, scene: str) -> str:
    return (
        f"The background set '{name}' has {counted(number, 'object')} that {'is' if number == 1 else 'are'} rendered "
        f"with the scene '{scene}' and not checked against it: link {'it' if number == 1 else 'them'} into the scene"
    )


def nothing_checked(place: str) -> str:
    return f"Nothing was checked: there is no surface {place}"


def no_surface(name: str, kind: str) -> str:
    return f"'{name}' {kind}, which {'have' if kind.endswith('s') else 'has'} no surface"


def only_edges(name: str, may_choose: bool = True) -> str:
    """may_choose: whether a collision shape of its own counts."""
    advice = ": choose Convex Hull as its collision shape if it is solid" if may_choose else ""
    return f"'{name}' has no faces, so it has no surface{advice}"


def scaled_to_zero(name: str) -> str:
    return f"'{name}' is scaled to zero, so it has no surface"


def no_instances(name: str) -> str:
    return f"'{name}' has no instances that can be checked"


def instances_left_out(name: str) -> str:
    return f"'{name}' has instances, which are left out"


def changed_while_checked(name: str) -> str:
    return f"'{name}' changed during the check: check the scene again"


def objects_changed(number: int) -> str:
    return f"{counted(number, 'object')} changed during the check: check the scene again"


def pair_not_checked(name_a: str, name_b: str, error: Exception) -> str:
    return f"'{name_a}' and '{name_b}' cannot be checked: {error}"


def clash_gone(name: str) -> str:
    return f"'{name}' is gone: check the scene again"


# --- the result of a pair -------------------------------------------------------------------------------------------

CHECK_FAILED = "The result did not pass its own verification: see Accuracy, and please report it"
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
STATUSES = {
    "certified": "Exact",
    "gjk_stalled": "Limited by rounding",
    "epa_stalled": "Limited by rounding",
    "curved_bracket": "Between bounds",
    "methods_disagree": "The methods disagree",
    "bounds_only": "Bounds only",
    "budget": "Out of time",
    "stalled": "Limited by rounding",
    "bracket": "Between bounds",
    "unverified": "Pieces still overlap",
    "no_depth": "No depth",
}
"""How the search for an answer ended, in words."""
BOUNDS_APART = frozenset({"bracket", "budget", "stalled"})
"""The statuses of an answer whose bounds are valid and do not meet."""


def inside(inner: str, outer: str) -> str:
    return f"{inner} inside {outer}"


FAILED_SHORT = "Verification failed"
TOO_COARSE_SHORT = "Coordinates too coarse"
WITHIN_MARGINS_SHORT = "Within collision margins"
NO_DEPTH_SHORT = "No depth: open surfaces"


def no_depth_to_separate(relation: str) -> str:
    return f"There is no depth to move out by: {no_depth(relation)}"


def no_depth_hint(relation: str) -> str:
    """Return what to do about a pair without a depth."""
    why = capitalized(no_depth(relation))
    return f"{why}, so there is no depth: fill the holes of one object, or choose another collision shape"


def hull_short(name: str) -> str:
    return f"'{name}': convex hull used"


def pieces_short(name: str) -> str:
    return f"'{name}': approximate pieces"


def of_a_or_b(note: str, names: tuple[str, str]) -> str:
    """Return a note of a result with the name in place of a leading "A: " or "B: "."""
    letter, _, text = note.partition(": ")
    return f"'{names['AB'.index(letter)]}': {text}" if letter in ("A", "B") and text else capitalized(note)


def pieces(name: str, decomposition: Decomposition, units: Lengths) -> str:
    reason, number = decomposition.reason or decomposition.message, len(decomposition.pieces)
    distance = units.length(decomposition.distance, rounding="up")
    return (
        f"'{name}' is approximated by {counted(number, 'convex piece')} ({reason}): its surface is within {distance} "
        f"of {'it' if number == 1 else 'them'}, but filled hollows may be deeper"
    )


SHAPES = {
    "automatic": "Those of the objects",
    "mesh": "The meshes, whatever rigid bodies have",
    "hull": "The convex hulls of the meshes",
}
"""The collision shapes of a check as the page has them."""
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


def some_within_margins(text: str, count: int, total: int) -> str:
    """Return how many gaps are within the clearance, or within collision margins; text: the former."""
    return f"{count:,} within margins" if count == total else f"{text} ({count:,} within margins)"


def protrudes(name: str, shape: str, length: float, units: Lengths) -> str:
    return f"'{name}' extends beyond its {shape} by up to {units.length(length, rounding='up')}"


def other_shape(name: str, note: str, shape: str) -> str:
    """Return what to know of a collision shape; shape: what is used in its place, if anything."""
    return f"'{name}' {note}{f': its {shape} is used' if shape else ''}"


def hull_used(name: str) -> str:
    return f"'{name}' is not convex: its convex hull is used"


def hull_concavity(name: str, depth: str, empty: float) -> str:
    """Return what to know of a convex hull; empty: the fraction of it that is outside the mesh, 0 where unknown."""
    text = f"{hull_used(name)}, concavity {depth}"
    return f"{text}, {percent(empty)} of the hull is empty" if empty else text


def hull_of_points(name: str) -> str:
    return f"'{name}' has no faces: its convex hull is used"


def hull_open(name: str, fraction: float) -> str:
    return f"'{name}' has no surface on {percent(fraction)} of its convex hull: the hull is used"


def not_closed(name: str) -> str:
    return f"'{name}' is not closed: it is treated as a solid"


def method_ignored(method: str, kind: str) -> str:
    return f"Method {method} is for convex shapes: {kind} use their own method"


def too_coarse(names: Sequence[str], resolution: str, most: int = 3) -> str:
    """Return that coordinates are too coarse for objects of this size; most: how many are named."""
    size = "its size" if len(names) == 1 else "their sizes"
    return (
        f"The coordinates of {quoted(names, most)} are too coarse for {size} ({resolution}): move the objects closer "
        "to the world origin"
    )


def tolerance_raised(resolution: str) -> str:
    return f"Blender stores these coordinates to {resolution}, which is used as the tolerance"


def not_verified(name_a: str, name_b: str) -> str:
    return f"the contact of '{name_a}' and '{name_b}' did not pass its own verification"


def failed_verification(names: Sequence[str]) -> str:
    return f"The result did not pass its own verification ({', '.join(names)}): please report it"


def status(name: str) -> str:
    """Return how the search for an answer ended."""
    return STATUSES[name]


def bounds_apart(contact: Any, least: str, most: str) -> str:
    """Return why the bounds of a contact do not meet and what is known instead; empty when they do.

    least, most: the bounds of the depth or gap, empty where there are none.
    """
    if not contact.reason or not contact.has_depth:  # that surfaces are open is in the notes of the contact
        return ""
    if contact.status in BOUNDS_APART and contact.depth and most:
        separates = f"The exact depth is not known: moving by {most} separates them"
        return f"{separates}, {f'moving by less than {least} does not' if least else 'and a shorter move may, too'}"
    known = " and ".join(words for words in (least and f"at least {least}", most and f"at most {most}") if words)
    name = "gap" if contact.signed_distance > 0.0 else "depth"
    return f"Less exact than usual: {contact.reason}{f'; the {name} is {known}' if known else ''}"


# --- the state of a result ------------------------------------------------------------------------------------------

UP_TO_DATE = "Up to date"
FOLLOWING = "Updating"
"""Objects move: the first answer is shown, or none."""
FIRST_ANSWER = "First answer only"
PENDING = "..."
"""What is not known yet."""
MOVED, EDITED, GONE = "has moved", "has changed", "is gone"
ELSEWHERE = "was changed at another frame"
UNREADABLE = "is hidden or cannot be read"
UNKNOWN_STATE = "was checked by an earlier version, which did not store its state"
COMPARING = "is being compared"
IS_HIDDEN = "is hidden"
APPROVED_EARLIER = "Approved in an earlier version, which did not store the depth: approve it again"
CROSSING = "an intersection without depth"
NOT_IN_SCENE = "no longer in the scene"
NOT_AS_CHECKED = "no picture: the objects are not as they were checked"
OUT_OF_DATE = "out of date"
NOTES_OUT_OF_DATE = "The unit scale has changed, so the notes are out of date: check the scene again"


def outdated(reason: str) -> str:
    return f"Out of date: {reason}"


def approved_at(before: str, now: str) -> str:
    return f"Approved at {before}, now {now}"


def depth_or_gap(signed_distance: float | None, units: Lengths) -> str:
    if signed_distance is None:
        return CROSSING
    return f"a {'depth' if signed_distance <= 0.0 else 'gap'} of {units.length(abs(signed_distance))}"


def found_at(frame: float) -> str:
    return f"found at frame {frame}"


# --- test cases of JUnit XML ----------------------------------------------------------------------------------------

CHECK_ENDED = "The check ran to the end"
WHOLE_FILE = "The file is checked to the end"
WHOLE_RUN = "The run was not stopped"


def check_name(file: str | None, scene: str, frame: float) -> str:
    return f"{(file or UNSAVED_FILE).removesuffix('.blend')}, {scene}, frame {frame}"


def pair_name(name_a: str, name_b: str) -> str:
    return f"{name_a} and {name_b}"


def is_checked(name: str) -> str:
    return f"{name} is checked"


# --- a check in the panel and in reports ----------------------------------------------------------------------------

STOPPED_EARLY = "Stopped early: pairs that were not reached are not in this report."
SAMPLES = "Frames are samples: what happens between them is not checked."
NOT_EVERYTHING = "Not everything was checked"
SCRIPT_BLOCKED = "The table is drawn by the script of this page, which is blocked here: open the page in a browser."
MATCHES = "{shown} of {all} match"
GROUP_BY_OBJECT = "Group by object"
UNSAVED_FILE = "unsaved file"
REPORTED_TOUCHES = {
    "point": "Reported",
    "edge": "Reported along edges and in faces",
    "face": "Reported in faces",
}
"""Which touching pairs a check reports, by what they must share."""
FIRST_DEPTHS = "First answers; ≤ marks an upper bound"
DEPTHS_IN_FULL = "Exact where possible; ≤ marks an upper bound"
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
}
"""What their pairs are, in counts: '4 pairs of parent and child, 2 approved'."""
DECISIONS_FILE = "the file of decisions"
NOT_REACHED = "the run was stopped before it was reached"
APART_NOW = "the objects were apart when last checked; these are the earlier numbers"


def stopped_before(what: str) -> str:
    return f"the run was stopped before it reached {what}"


def scenes_and_frames(frames: Mapping[str, str]) -> str:
    """Return frames of scenes, each a list or empty, in words; of a single scene without its name."""
    words = {name: f"frames {text}" if text else "" for name, text in frames.items()}
    if len(frames) == 1:
        return "".join(words.values())
    return "; ".join(f"'{name}'{', ' if text else ''}{text}" for name, text in words.items())


def stopped_at(fraction: float) -> str:
    return f"Stopped at {percent(fraction)}"


def checked_at(frame: float) -> str:
    return f"Checked at frame {frame:g}"


def count_resolved(number: int) -> str:
    return f"{number:,} resolved"


def count_out_of_date(number: int) -> str:
    return f"{number:,} out of date"


def search_clashes(number: int) -> str:
    """Return the label of the field that searches a table of clashes."""
    return f"Search {clashes(number)}"


def table_of_clashes(check: str) -> str:
    """Return the caption of the table of a check's clashes."""
    return f"Clashes in {check}, most severe first"


def not_everything_in(number: int, total: int) -> str:
    verb = "names" if number == 1 else "name"
    return f"{NOT_EVERYTHING}: something is missing in {number:,} of {counted(total, 'check')}, which {verb} it below"


def settings_differ(number: int) -> str:
    return f"{counted(number, 'setting differs', 'settings differ')} between viewport and renders"


def places_left_out(number: int) -> str:
    return f"{counted(number, 'other scene or view layer', 'other scenes and view layers')} left out"


def objects_left_out(number: int) -> str:
    return f"{counted(number, 'object')} left out"


def clashes_out_of_date(number: int, total: int) -> str:
    return f"{number:,} of {clashes(total)} {'is' if number == 1 else 'are'} out of date: check the scene again"


def comparing_clashes(number: int) -> str:
    return f"Comparing {clashes(number)}"


def place_in_list(place: int | None, count: int, total: int) -> str:
    """Return which clash of those that the list shows is active; place: None for none, the first is 0."""
    if place is not None:
        return f"{place + 1:,} of {count:,}"
    return clashes(count) if count == total else f"{count:,} of {total:,} shown"


def row_state(reason: str, is_ignored: bool) -> str:
    """Return what stands for the number in a row of the list that is out of date or ignored; empty in others."""
    return (
        "comparing" if reason == COMPARING else OUT_OF_DATE if reason else IGNORED_STATE.lower() if is_ignored else ""
    )


def clash_tooltip(names: tuple[str, str], relation: str, number: str, status: str, note: str) -> str:
    """Return the explanation of a row of the list."""
    what = f"{RELATIONS[relation]}{', ' if number else ''}{number}"
    lines = [f"A: {names[0]}", f"B: {names[1]}", what, f"Status: {status}"]
    return "\n".join([*lines, capitalized(note)] if note else lines)


def all_pairs_of(name: str) -> str:
    return f"All Pairs of {name}"


def things_not_checked(number: int) -> str:
    return f"{number:,} not checked"


def more_left_out(number: int) -> str:
    return f"{number:,} more: save a report to see all"


def not_checked(reason: str) -> str:
    return f"Not checked: {reason}"


def differs_in_renders(entry: Mapping[str, Any]) -> str:
    return f"Differs in renders: {difference(entry)}"


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
        is_short = len(", ".join([*found, words])) + len(" left out") <= room
        found.append(f"{words if is_short else f'{number:,}'} left out")
    return ", ".join(found) or counted(notes, "note")


def _counts(noun: str, counts: Mapping[str, int]) -> list[str]:
    """Return numbers with what they are of, the first one with its noun: '3 objects hidden', '1 excluded'."""
    found = [(number, word) for word, number in counts.items() if number]
    return [f"{f'{number:,}' if k else counted(number, noun)} {word}" for k, (number, word) in enumerate(found)]


def _objects_left_out(check: Mapping[str, Any]) -> dict[str, int]:
    """Return how many objects a check left out on purpose, by the reason."""
    counts = check.get("left_out") or {"hidden": 0, "rendered": 0, "excluded": 0}  # files saved earlier do not say
    hidden = "not rendered" if check["settings"].get("visibility") == "render" else "hidden"
    if counts["rendered"]:
        part = "all " if counts["rendered"] == counts["hidden"] else f"{counts['rendered']:,} of them "
        hidden += f" ({part if counts['hidden'] > 1 else ''}rendered)"
    kinds = Counter(entry.get("kind") for entry in check["skipped"] if not entry["unchecked"])
    words = {"no_surface": "without a surface", "emptied": "emptied by modifiers"}
    return {
        hidden: counts["hidden"],
        "excluded": counts["excluded"],
        **{word: kinds.pop(kind, 0) for kind, word in words.items()},
        "for other reasons": sum(number for kind, number in kinds.items() if kind not in PLACES_LEFT_OUT),
    }


def relation_word(relation: str) -> str:
    """Return a relation as it stands beside names or their letters: 'B inside A', 'within clearance'."""
    words = relation.replace("_", " ")
    return f"{words[:-1].capitalize()}{words[-1].upper()}" if "inside" in words else words


FACING = "facing"
"""Beside the area of a pair that has a gap."""


def area_name(relation: str) -> str:
    """Return what the area of a contact region is called: of a pair that has a gap it is what faces the other."""
    return f"{FACING} area" if relation == "within_clearance" else "area"


def relation_counts(relations: Iterable[str]) -> str:
    """Return how many clashes there are of each relation: '2 penetrating, 1 touching'."""
    words = ("inside" if "inside" in relation else relation.replace("_", " ") for relation in relations)
    return ", ".join(f"{count:,} {word}" for word, count in Counter(words).items())


def check_line(check: Mapping[str, Any], found: Sequence[str], decisions: Mapping[str, Any] | None = None) -> str:
    """Return a check in one line: 'Scene: 12 objects, 3 clashes (2 penetrating, 1 touching); left out: 1 pair listed'.

    found: the relations of those of its findings that are not resolved; decisions: see `what_is_left_out`.
    """
    text = f"{check['scene']}: {counted(check['objects'], 'object')}, {clashes(len(found))}"
    if found:
        text += f" ({relation_counts(found)})"
    unchecked = sum(entry["unchecked"] for entry in check["skipped"])
    missing = [things_not_checked(unchecked)] if unchecked else []
    stopped = ["stopped early"] if check["partial"] else []
    left_out = what_is_left_out([check], decisions)
    return "; ".join([", ".join([text, *missing, *stopped]), *([left_out] if left_out else [])])


def total(checks: int, found: Sequence[str], pairs: int, left_out: str, incomplete: int) -> str:
    """Return several checks in one line: 'In 20 checks: 47 clashes of 3 pairs (40 penetrating, 7 touching)'.

    found: the relations of all clashes; pairs: how many different pairs they are of; left_out: see
    `what_is_left_out`; incomplete: how many of the checks have something that could not be checked.
    """
    text = f"In {counted(checks, 'check')}: {clashes(len(found))}"
    if found:
        text += f" of {counted(pairs, 'pair')} ({relation_counts(found)})"
    if left_out:
        text += f"; {left_out}"
    verb = "is" if incomplete == 1 else "are"
    return f"{text}; {incomplete:,} of the checks {verb} not complete" if incomplete else text


def smaller_touches(count: int, least: Set[str | None]) -> str:
    """Return how many touches share less than what was asked for: '93,000 corner and edge touches'."""
    return f"{count:,} {'corner' if least == {'edge'} else 'corner and edge'} touch{'es' if count != 1 else ''}"


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


def no_motion() -> str:
    return f"{SAMPLES} No checked object moved from one frame to the next, unless it was hidden at one of them."


def motion(fastest: Mapping[str, Any], frame: float, units: Lengths) -> str:
    """Return how far the object that is fastest for its size moved between two checked frames."""
    text = (
        f"{SAMPLES} The fastest object for its size, '{fastest['object']}', moved {units.length(fastest['distance'])} "
        f"from frame {fastest['since_frame']} to frame {frame}: "
    )
    unnoticed = ", so it may pass through others unnoticed."
    if fastest["extents"] is None:
        return f"{text}it has no extent in that direction{unnoticed}"
    text += f"{fastest['extents']:.3g} times its extent in that direction ({units.length(fastest['extent'])})"
    return text + (unnoticed if fastest["extents"] >= 1.0 else ".")


def may_have_passed(
    name: str, others: Sequence[str], frames: tuple[float, float], distance: str, extents: float
) -> str:
    """Return that an object may have passed through others between two checked frames; extents: how many of its own
    the distance is."""
    times = f", {extents:.3g} times its extent in that direction"
    if extents < 1.0:
        times = f", farther than its extent relative to {'that' if len(others) == 1 else 'them'}"
    elif extents == float("inf"):
        times = ", and has no extent in that direction"
    return (
        f"'{name}' may have passed through {quoted(others, 3)} between frames {frames[0]:g} and {frames[1]:g}: it "
        f"moved {distance}{times}"
    )


def upper_bounds(number: int) -> str:
    """Return how to get the depths of a check that are upper bounds."""
    text = counted(number, "depth is an upper bound", "depths are upper bounds")
    return f"{text}: add --exact to refine {'it' if number == 1 else 'them'}"


# --- pictures and volumes -------------------------------------------------------------------------------------------

NO_SCREEN = "The file has no screen to draw with"
NO_DRIVER = (
    "No OpenGL driver was found, so there are no pictures: on Debian and Ubuntu, install the software driver of the "
    "packages libegl1 and libgl1-mesa-dri"
)
NO_VISIBLE_SURFACE = "No visible object of the scene has a surface"
NO_VISIBLE_VERTEX = "No visible object of the scene has a vertex"
SELECT_SURFACES = "Select objects with a surface to see their bounding volumes"
VOLUMES_OVERLAP = "overlap: the objects may collide"


def pictures_of_first(number: int) -> str:
    return f"Pictures of the first {number:,} pairs" if number > 1 else "A picture of the first pair"


def pictures_of_worst(number: int, pairs: int, are_frames: bool) -> str:
    """Return which pairs of a report have a picture, and at which frame; nothing where that is clear."""
    if number < pairs:
        worst = f"the worst {number:,}" if number > 1 else "the worst"
        of_worst = f"{'Pictures' if number > 1 else 'A picture'} of {worst} of {pairs:,} pairs"
        return f"{of_worst}, {'each ' if number > 1 else ''}at its worst frame" if are_frames else of_worst
    return "A picture of each pair, at its worst frame" if are_frames else ""


def no_pictures(reason: str, are_some_taken: bool = False, file: str = "") -> str:
    return f"No {'more ' if are_some_taken else ''}pictures{f' of {file}' if file else ''}: {reason}"


def drawing_picture(number: int, count: int) -> str:
    return f"Drawing picture {number:,} of {count:,}"


def pictures_stopped(number: int, count: int) -> str:
    return f"stopped after {number:,} of {counted(count, 'picture')}"


def worst_at(frame: float) -> str:
    return f"At frame {frame}, the worst of this pair"


def picture_at(frame: float) -> str:
    return f"Picture at frame {frame}"


def volumes_failed(error: Exception) -> str:
    return f"The bounding volumes cannot be computed: {error}"


def volumes_drawn(number: int, total: int) -> str:
    return f"{number:,} of {total:,} volumes {'is' if number == 1 else 'are'} drawn"


def volumes_apart(gap: str) -> str:
    return f"apart: at least {gap}"


# --- files ----------------------------------------------------------------------------------------------------------

NO_PATH = "The path of a report is empty"


def copies(text: str) -> str:
    """Return the tooltip of a button that copies a text."""
    return f"Copy {text} to the clipboard"


def copied(text: str) -> str:
    return f"Copied {text}"


def no_row(name: str) -> str:
    return f"The result has no row '{name}' to copy"


def lines_copied(number: int) -> str:
    return f"{counted(number, 'line')} copied"


def saved(path: str, content: str | None = None) -> str:
    return f"Saved {path}" if content is None else f"Saved {path}: {content}"


def not_written(what: str, reason: str) -> str:
    return f"The {what} cannot be saved: {reason}"


def is_folder(path: str) -> str:
    return f"{path} is a folder: name a file"


def is_device(path: str, device: str) -> str:
    return f"{path}: {device} is the name of a device on Windows: name another file"


def name_with_colon(path: str) -> str:
    return f"{path}: a file name cannot contain a colon on Windows: name another file"


def in_use(path: str) -> str:
    return f"{path} cannot be written: it is read-only, or open in another program: close it there"


def no_folder(path: str, folder: str) -> str:
    return f"{path}: there is no folder {folder}"


def other_file(path: str, kind: str) -> str:
    return f"{path}: the file there is not a {kind} of Contact Lens: name another path, or remove it first"


def not_regular(path: str) -> str:
    return f"{path} is not a regular file, and the partial report is written there: remove it first"


def no_partial(path: str, reason: str) -> str:
    return f"{path}: a partial report cannot be written meanwhile: {reason}"


def partial_report_at(path: str) -> str:
    """Return the end of a sentence."""
    return f"; what was done is in {path}"


# --- parts of a run, and merging them -------------------------------------------------------------------------------

ONLY_FRAMES_ALONE = "--only-frames needs --frames, the frames of the whole run"
PART_IS_JSON = "a part of a run is written with --json only: merge writes the other reports"
PART_NEEDS_JSON = "a part of a run needs --json, which merge reads"
SCRIPTS_FOR_PICTURES = "the parts were checked with --enable-autoexec: give it to merge too"


def no_parts_in(folder: str) -> str:
    return f"{folder}: there is no JSON report in this folder"


def not_json(path: str) -> str:
    return f"{path}: this is not JSON, or was cut off: run this part again"


def not_a_scene_report(path: str) -> str:
    return f"{path}: this is not a scene report of Contact Lens: give the JSON reports of the parts"


def of_another_version(path: str, version: str, own: str) -> str:
    return f"{path}: this was written by Contact Lens {version}, and this is {own}: check and merge with one version"


def is_whole(path: str) -> str:
    return (
        f"{path}: this is the report of a whole run, not of a part: give the reports of runs with --only-files, "
        "--only-frames or --shard"
    )


def part_was_stopped(path: str) -> str:
    return f"{path}: this part was stopped early: run it again"


def part_has_an_error(path: str, file: str, error: str) -> str:
    return f"{path}: {file} could not be checked ({error}): run this part again"


def is_damaged(path: str) -> str:
    return f"{path}: this part is damaged, or was edited: run it again"


def baseline_overwritten(path: str) -> str:
    return f"{path}: this is the baseline: write the report to another file"


def part_overwritten(path: str) -> str:
    return f"{path}: this is a part to be merged: write the report to another file"


def versions_differ(first: str, other: str, program: str, version: str, another: str) -> str:
    of = {"contact_lens": "Contact Lens", "blender": "Blender"}.get(program, program)
    return f"{first} and {other} are by different versions of {of}, {version} and {another}: check with one version"


def of_different_runs(first: str, other: str, names: Sequence[str]) -> str:
    return f"{first} and {other} are parts of different runs: they differ in {', '.join(names)}"


def file_differs(first: str, other: str, file: str) -> str:
    return f"{first} and {other} have checked different files {file}: check the same one on all machines"


def libraries_differ(first: str, other: str, file: str, names: Sequence[str]) -> str:
    return f"{first} and {other} have checked {file} with different libraries: {', '.join(names)}"


def covered_twice(first: str, other: str, what: str) -> str:
    return f"{first} and {other} are both of {what}: give only one of them"


def not_covered(what: Sequence[str]) -> str:
    """Return which cells of a run are in no part."""
    missing = f"{'; '.join(what[:5])}{and_more(len(what) - 5)}"
    return f"no part has {missing}: run what is missing, and merge again"


def machines_disagree(first: str, other: str) -> str:
    return (
        f"{first} and {other} do not agree on which pairs are close, so one may be in neither: check all shards of a "
        "file on machines of the same kind"
    )


def checks_differ(first: str, other: str, what: str) -> str:
    return f"{first} and {other} are of the same check, and differ in {what}: check both again"


def another_blender(version: str, own: str) -> str:
    return f"the parts were checked with Blender {version}, and this is {own}"


def changed_since_checked(path: str) -> str:
    return f"{path} has changed since it was checked"


CHANGED_WHILE_OPENED = "the file was saved while it was opened: check it again"


def libraries_changed(path: str) -> str:
    return f"the libraries of {path} have changed since it was checked"


def shard_expected(text: str, most: int) -> str:
    return f"expected K/N, two whole numbers with 1 <= K <= N <= {most:,}, as in 2/3, not {text!r}"


def not_of_run(option: str, names: Sequence[str], whole: str) -> str:
    """Return that a part is to cover what is not in the whole run."""
    missing = f"{', '.join(names[:5])}{and_more(len(names) - 5)}"
    return f"{option}: {missing} not among {whole}: repeat the command of the whole run"


# --- the command line -----------------------------------------------------------------------------------------------

PART_MADE = "This is a part of a run: merge it with the others for the reports and the exit code of the run"
NO_VERDICT = "No verdict: merge the same parts again, without reports, for the exit code of the run"
COMMAND_USAGE = "usage: blender -b FILE.blend --command contact_lens {check,merge,farm} [OPTIONS]"
NO_FILE_OPEN = "no file is open: name a .blend file; see --help"
IGNORE_NONE = "--ignore none cannot be combined with other --ignore options"
ONE_TO_STANDARD_OUTPUT = "only one report can be written to standard output"
SHARED_REPORT_NAME = "each report needs a name of its own: some jobs write all of them to one folder"
SHARED_REPORT_FILE = "each report needs a file of its own"
STOPPED = "stopped"
STOPPED_UNDRAWN = "stopped: not all pictures were drawn"
STOPPED_UNCHECKED = "stopped: not everything was checked"

UNEXPECTED = "unexpected error: please report it with the lines above"
FOLDER = "is a folder"
NO_FILE = "there is no such file"


def unknown_command(command: str | None, commands: Sequence[str]) -> str:
    names = f"{', '.join(commands[:-1])} or {commands[-1]}"
    return f"expected {names}{'' if command is None else f', not {command!r}'}"


def option_again(first: str, second: str) -> str:
    return f"{first} and {second} contradict each other: give one of them"


def clearance_too_large(clearance: float) -> str:
    return f"the clearance is too large: {clearance:g} Blender units"


def needs_newer(version: str, own: str) -> str:
    return (
        f"the file was saved by Blender {version}, and Blender {own} cannot read it: check it with {version} or newer"
    )


def no_scene(name: str, scenes: Sequence[str]) -> str:
    return f"there is no scene '{name}' in the file, which has {quoted(scenes, 10)}"


def failed(relations: Sequence[str], fail_on: str) -> str:
    """Return why the exit code is that of clashes, and which word of --fail-on does not count them if none penetrates;
    relations: of those that count."""
    count, kinds = len(relations), sorted({*relations})
    text = f"Exit code 1: {clashes(count)} {'counts' if count == 1 else 'count'} (--fail-on {fail_on})"
    if fail_on == "new" or not {*kinds} <= {"touching", "within_clearance"}:
        return text
    which = f"{'it is' if count == 1 else 'all are'} {' or '.join(kinds).replace('_', ' ')}"
    return f"{text}; {which}, which --fail-on {'penetrating' if 'touching' in kinds else 'touching'} does not count"


def clean(found: int, fail_on: str, allowed: int, options: Sequence[str]) -> str:
    """Return why the exit code is 0; found: how many clashes there are, of which none counts; allowed: how much could
    not be checked, by these options."""
    text = "no clashes"
    if found:
        text = f"{'1 clash does not count' if found == 1 else f'none of {clashes(found)} counts'} (--fail-on {fail_on})"
    left = f"; {counted(allowed, 'item')} not checked, allowed by {' and '.join(options)}" if allowed else ""
    return f"Exit code 0: {text}{left}"


def unchecked(count: int, options: Sequence[str]) -> str:
    """Return why the exit code is that of what could not be checked; options: those that allow it."""
    allow = f"{' and '.join(options)} {'allows' if len(options) == 1 else 'allow'} that"
    return f"Exit code 3: no clash counts, but {counted(count, 'item')} could not be checked ({allow})"


def files_failed(count: int, total: int) -> str:
    which = "the file" if total == 1 else f"{count:,} of {counted(total, 'file')}"
    return f"Exit code 2: {which} could not be checked to the end"


def of_scene(name: str, text: str) -> str:
    """Return what is to say of one scene of several."""
    return f"{name}: {text}"


def emptied(names: Sequence[str]) -> str:
    """Return the end of a verdict: which objects their modifiers have left nothing of; empty for none."""
    if not names:
        return ""
    return f"; left out, as modifiers leave nothing of {'it' if len(names) == 1 else 'them'}: {quoted(names, 3)}"


def not_all_checked(reasons: Sequence[str]) -> str:
    return f"not everything could be checked: {reasons[0]}{and_more(len(reasons) - 1)}"


def stopping(signal_name: str) -> str:
    """Return what is shown when a signal asks to stop; empty name: Ctrl-C."""
    return f"stopping{f': {signal_name}' if signal_name else '; press Ctrl-C again to end at once'}"


def timed_out(seconds: float) -> str:
    return f"stopped after {duration(seconds)}: not everything was checked (--timeout)"


def time_is_up(seconds: float) -> str:
    return f"stopping: {duration(seconds)} have passed (--timeout); press Ctrl-C to end at once"


def duration(seconds: float) -> str:
    """Return a time in the unit that --timeout takes it in: 90 s, 10 min, 1.5 h."""
    for length, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= length:
            return f"{seconds / length:.4g} {unit}"
    return f"{seconds:.4g} s"


def duration_expected(text: str) -> str:
    return f"expected a time above 0 such as 90, 10m or 1.5h, not {text!r}"


def so_far(fraction: float, seconds: float, details: str) -> str:
    """Return how far a run is."""
    return f"{percent(fraction)} after {seconds / 60.0:.0f} min: {details}"


OPENING = "opening the file"
READING = "reading objects"
BOUNDING_BOXES = "bounding boxes"
CLOSE_PAIRS = "pairs that are close"
CONVEX_HULLS = "convex hulls"
CONVEX_SHAPES = "pairs of convex hulls"
MESHES = "pairs of meshes"
VERIFICATION = "verification"
"""What a check does, one after the other, while its progress is shown."""


def place_of(file: str, scene: str, frame: float) -> str:
    """Return what is being checked, as the beginning of a line; scene: empty where it is the only one."""
    return f"{file}, {f'{scene}, ' if scene else ''}frame {frame:g}, "


def found_so_far(phase: str, found: int) -> str:
    return f"{f'{phase}, ' if phase else ''}{clashes(found)} so far"


def frames_expected(text: str) -> str:
    return f"expected frames such as 1-100 or 1,5,9-20:2, not {text!r}"


def frames_backwards(text: str) -> str:
    return f"frames {text!r} run backwards"


def frames_step(text: str) -> str:
    return f"frames {text!r}: expected a step of 1 or more"


def frames_range(text: str, last: int) -> str:
    return f"frames {text!r}: Blender has frames from {-last} to {last}"


def frames_too_many(most: int) -> str:
    return f"more than {most:,} frames"


def length_expected(text: str) -> str:
    return f"expected a length such as 0.002 or 2mm, not {text!r}"


def length_negative(text: str) -> str:
    return f"expected a length of 0 or more, not {text!r}"


def count_expected(text: str, least: int) -> str:
    return f"expected a number of {least} or more, not {text!r}"


def too_many_jobs(most: int) -> str:
    return f"--jobs: at most {most:,}, and more processes than this machine has cores do not help"


# --- job descriptions -----------------------------------------------------------------------------------------------

CHUNKS_OF_STILLS = "--chunk-size divides frames: name them with --frames"
FARM_FLAMENCO = (
    "copy it to the folder scripts beside flamenco-manager, restart that, and submit a job from Blender:\n"
    "it asks where the reports go"
)


def farm_github(jobs: int, most: int, are_stills: bool) -> str:
    """Return what to do with a workflow; jobs: how many its matrix has; are_stills: whether each is of a file."""
    remedy = "write a workflow for some of the files each" if are_stills else "use a larger --chunk-size"
    too_many = f"\nit has {jobs:,} jobs, and GitHub runs {most} at most: {remedy}" if jobs > most else ""
    return (
        "copy it to .github/workflows/ of the repository that contains the files, and the wheel to its top:\n"
        f"the reports are an artifact of the run{too_many}"
    )


def farm_run(command: str, reports: Sequence[str]) -> str:
    return f"run it: {command}\nit writes {', '.join(reports)}"


def report_of_a_job(path: str) -> str:
    return f"{path}: a job writes its reports to files: name one"


def format_string(text: str) -> str:
    return f"{text}: a name with {{{{ would be taken for an expression in a job description; rename it"


def replacement_string(text: str) -> str:
    return f"{text}: a name with {{}} or the like would be replaced by GNU parallel; rename it"


def not_in_a_job(text: str) -> str:
    return (
        f"{text}: a name with a control character, or that is not UTF-8, cannot be part of a job description; rename it"
    )


def too_many_shards(most: int) -> str:
    return f"--shards: at most {most:,}"


def both_quotes(text: str) -> str:
    return f"an option with both kinds of quotes cannot be part of a job description: {text}"


# --- jobs -----------------------------------------------------------------------------------------------------------

JOBS_OF_A_PART = "--jobs cannot be combined with --only-files, --only-frames or --shard"


def parts_done(number: int, total: int, found: int) -> str:
    return f"{number} of {counted(total, 'part')} done, {clashes(found)} so far"


def part_died(name: str, code: int, signal_name: str) -> str:
    """Return what is shown of a process that ended with a code, or by a signal where there is one."""
    how = f"was ended by {signal_name}" if signal_name else f"ended with exit code {code}"
    return f"part {name} {how}"


def lost(what: str, died: Sequence[str]) -> str:
    """Return what was not checked of a file because processes died."""
    return f"not checked to the end: {f'{what}: ' if what else ''}{', '.join(died)}"


# --- compared with an earlier report --------------------------------------------------------------------------------

NOT_IN_SCOPE = "the check is of other objects"
PART_OF_A_COMPOUND = "it is checked as a part of a compound parent"
COULD_NOT_BE_CHECKED = "it could not be checked"
CHECK_STOPPED = "the check was stopped"
FRAME_NOT_CHECKED = "this frame was not checked"
SCENE_NOT_CHECKED = "this scene was not checked"
FILE_NOT_CHECKED = "this file was not checked"
CHANGES = {
    "new": "New",
    "deeper": "Deeper",
    "shallower": "Shallower",
    "same": "Same",
}
"""How clashes differ from the baseline, as labels."""
SINCE_BASELINE = "Since the baseline"
BASELINE_FOR_MERGE = "the parts are compared with a baseline: give it to merge too, with --baseline"
BASELINE_FOR_PARTS = "the parts are not compared with a baseline: repeat --baseline in the command of each"
NEW_NEEDS_BASELINE = "--fail-on new needs a report to compare with: add --baseline OLD.json"


def was_not_checked(name: str) -> str:
    return f"'{name}' was not checked"


def may_be_unchecked(name: str, others: Sequence[str]) -> str:
    return f"'{name}' is gone or renamed, and '{others[0]}'{and_more(len(others) - 1)} was not checked"


def pair_ignored(rule: str) -> str:
    return f"it is ignored: {IGNORED_PAIRS.get(rule, rule)}"


def other_settings(names: Sequence[str]) -> str:
    return f"other settings: {', '.join(name.replace('_', ' ') for name in names)}"


def check_not_compared(entry: Mapping[str, Any]) -> str:
    file = entry["file"] or UNSAVED_FILE
    found = clashes(entry["clashes"])
    return f"not compared: {file}, {entry['scene']}, frame {entry['frame']}, with {found}: {entry['reason']}"


def since_baseline(changes: Mapping[str, int], gone: int, not_compared: int) -> str:
    """Return what differs from the baseline: '1 new, 2 deeper, 1 gone since the baseline'."""
    counts = [(changes.get(word, 0), word) for word in ("new", "deeper", "shallower")] + [(gone, "gone")]
    words = ", ".join(f"{number:,} {word}" for number, word in counts if number) or "no change"
    return f"{words} since the baseline{f', {not_compared:,} not compared with it' if not_compared else ''}"


def earlier_clash(entry: Mapping[str, Any], units: Lengths) -> str:
    """Return a clash of the baseline as text."""
    what = f"{entry['a']['name']} and {entry['b']['name']}: {entry['relation'].replace('_', ' ')}"
    if entry["signed_distance"] is not None:
        what += f", {depth_or_gap(entry['signed_distance'], units)}"
    return f"{what}: {entry['reason']}" if "reason" in entry else what


def gone_clashes(number: int) -> str:
    return f"{clashes(number)} of the baseline {'is' if number == 1 else 'are'} gone"


def clashes_not_compared(number: int) -> str:
    return f"{clashes(number)} of the baseline {'was' if number == 1 else 'were'} not compared"


def changed_since(change: str, before: float | None, units: Lengths) -> str:
    """Return how a clash differs from the baseline, as in 'deeper: was a depth of 2 mm'."""
    return "new since the baseline" if change == "new" else f"{change}: was {depth_or_gap(before, units)}"


def more_clashes(number: int, report: str | None) -> str:
    """Return how many clashes of a check are not listed; report: the path of one that has them."""
    return f"{number:,} more {f'in {report}' if report else '(write a report, or add --list all)'}"


def more_entries(number: int) -> str:
    return f"and {number:,} more"


def was_found_at(frame: float) -> str:
    return f"it was found at frame {frame}"


def margins_of_version(version: str) -> str:
    """Return that a clash by collision margins was found in another version of Blender, as the reason why a baseline's
    clash is not compared."""
    return f"it was within the collision margins of Blender {version}"


def baseline_unreadable(path: str, reason: str) -> str:
    return f"{path}: {reason}: --baseline needs a JSON report of an earlier check"


NOT_A_REPORT = "is not a whole JSON report of a check"
IS_A_PART = "is a part of a run, which merge puts together"
IS_PARTIAL = "is of a check that was stopped"
HAS_NO_IDS = "has clashes without ids"


def baseline_of_parts(path: str) -> str:
    return f"{path}: is not the baseline of the parts: give the same file to all"


def other_schema(schema: object, version: object, expected: str, expected_version: int) -> str:
    return f"has the schema {schema} {version!r}, not {expected} {expected_version}"


def baseline_of_other_files(files: Sequence[str]) -> str:
    return f"is of {' and '.join(files) or 'no file'}, none of which is checked now"


def baseline_of_other_scenes(file: str, scenes: Sequence[str], others: Sequence[str]) -> str:
    known, asked = (" and ".join(f"'{name}'" for name in names) for names in (scenes, others))
    return f"has the scene {known} of {file}, not {asked}"


def baseline_of_other_frames(file: str, frames: Sequence[float], others: Sequence[float]) -> str:
    return f"has the frame{_list(frames)} of {file}, not{_list(others)}"


def _list(numbers: Sequence[float]) -> str:
    return f"s {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f" {numbers[0]}"


def baseline_ambiguous(name: str) -> str:
    return f"cannot be compared: several files are named {name}, and their folders do not say which is which"


# --- decisions beside the file ----------------------------------------------------------------------------------------

NO_SUCH_CLASH = "no such clash was found"
DECIDED_BY_ID = "another decision is about this clash, by its id"
SEVERAL_OF_THESE_NAMES = "several objects have such a name: write an id instead"
NOT_IN_LIST = "no such clash is in the list"
ABOUT_ANOTHER_FILE = "it is about another file"
INSTANCES_NOT_IGNORED = "a pair of instances cannot be ignored in the list"
NOT_UTF_8 = "expected text in UTF-8"
AN_ID = "an id as reports have it, such as 'vfusp33mcfix'"
A_SIGNED_DISTANCE = "a signed distance as reports have it, such as -0.002 or '-2 mm', or null where there is no depth"
NAME_OF_OTHER = "the name of the other object"
OR_NAMES = "of the clash, or the names a and b of its objects"
ONLY_APPROVED = "'approved_at' is of approved clashes only"


def decisions_error(path: str, line: int, reason: str) -> str:
    return f"{path}, line {line}: {reason}"


def expected_json(what: str) -> str:
    return f"expected {what}"


def not_a_value(text: str) -> str:
    return f"expected a value of JSON, not {text}"


def unknown_field(name: str, known: Sequence[str]) -> str:
    return f"unknown field '{name}': expected {', '.join(known)}"


def missing_field(name: str, expected: str) -> str:
    return f"expected '{name}': {expected}"


def wrong_value(name: str, expected: str, value: object) -> str:
    return f"'{name}': expected {expected}, not {value!r}"


def field_twice(name: str) -> str:
    return f"'{name}' is there twice"


def decided_twice(clash: str, line: int) -> str:
    return f"{clash} is decided twice, first in line {line}"


def decisions_unused(number: int) -> str:
    return f"{decisions(number)} {'is' if number == 1 else 'are'} about no clash that was found"


def decision_unused(path: str, line: int, clash: str, reason: str) -> str:
    return f"{path}, line {line}: {clash}: {reason}"


def decisions(number: int) -> str:
    return counted(number, "decision")


def decisions_saved(number: int, removed: int, ignored: Sequence[str]) -> str:
    """Return what a file of decisions has; removed: how many of before it has no more; ignored: objects of which all
    pairs are, which it cannot say."""
    text = decisions(number)
    if removed:
        text += f", {removed:,} of before removed: undecided in the list"
    if ignored:
        names = ", ".join(f"'{name}'" for name in ignored[:3]) + and_more(len(ignored) - 3)
        text += f", without the other ignored pairs of {names}: list these pairs one by one"
    return text


def decisions_applied(number: int, unused: Sequence[tuple[int, str, str]]) -> str:
    """Return how many decisions were applied; unused: lines, clashes and reasons of the others."""
    entries = [f"line {line}, {clash}: {reason}" for line, clash, reason in unused]
    text = f"Applied {decisions(number)}"
    return f"{text}, not {'; '.join(entries[:3])}{and_more(len(entries) - 3)}" if entries else text
