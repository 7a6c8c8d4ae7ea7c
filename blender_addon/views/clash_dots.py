# SPDX-License-Identifier: GPL-3.0-or-later
"""All clashes of the list at once in a 3D view: which dots it shows, what is drawn of them, and which is at a pixel.

They are those of the list, with its filters: faded is what the list shows faded, and what is of another frame. Where an
object of a clash is gone or hidden, or they are no longer in contact, nothing is shown.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..clashes import changes, check_settings, clash_list
from ..clashes.finding import OPEN_STATUSES
from ..data import properties
from ..data.objects import frame_of
from ..data.records import Key, State
from ..draw import overlay
from ..draw.label_sheet import project
from ..layers.clash_dots import ClashDots, ClashOutlines
from ..live import follow_outlines, follow_steps
from ..pair import session
from .view_room import free_box

BESIDE = 0.3
"""Opacity of the dots while a pair is isolated."""
MOST_VIEWS = 16
"""3D views whose dots are kept."""
MOST_OUTLINED = 500
"""Objects that are outlined, those of the deepest clashes: of more the outlines would say nothing."""
_made: dict[tuple[int, int], tuple[Any, ClashDots | None]] = {}
"""By the `session_uid` of the scene and the address of the 3D view: what the dots depend on, and the dots."""
_outlined: WeakKeyDictionary[ClashDots, dict[tuple[Key, State], str]] = WeakKeyDictionary()
"""What is outlined with the dots, each with the relation of its deepest clash."""
_outlines: WeakKeyDictionary[ClashDots, ClashOutlines] = WeakKeyDictionary()


def is_shown(context: Any) -> bool:
    """Return whether the view shows dots. They take clicks, which in other modes are those of brushes and vertices."""
    check = check_settings.of_scene(context.scene)
    has_overlays = context.space_data.overlay.show_overlays and check.show_dots and len(check.findings) > 0
    return has_overlays and context.mode == "OBJECT" and follow_steps.current(context.scene) is None


def dots_of(context: Any) -> ClashDots | None:
    """Return the dots that the view shows; None without any."""
    if not is_shown(context):
        return None
    scene, check = context.scene, check_settings.of_scene(context.scene)
    listed, outdated, frame = clash_list.shown(scene), changes.outdated(scene), frame_of(scene)
    visible = frozenset(obj.session_uid for obj in context.visible_objects)
    opened = check.active if _is_inspected(context) else None
    key = outdated, frame, visible, opened
    place = scene.session_uid, context.space_data.as_pointer()
    made_of, dots = _made.get(place, (None, None))
    if made_of is None or made_of[0] is not listed or made_of[1] != key:
        if len(_made) >= MOST_VIEWS:
            drop()
        dots = _dots(listed, *key)
        _made[place] = (listed, key), dots
    return dots


def _dots(
    listed: clash_list.ClashList,
    outdated: frozenset[int],
    frame: float,
    visible: frozenset[int],
    opened: int | None,
) -> ClashDots | None:
    clashes, statuses = listed.clashes, listed.statuses_of
    is_known = np.isfinite(np.array([clash.center for clash in clashes]).reshape(-1, 3)).all(axis=1).tolist()
    rows = [
        k
        for k in listed.rows
        if is_known[k]
        and visible.issuperset(clashes[k].owners)
        and statuses[k] != clash_list.RESOLVED
        and not clashes[k].is_apart
        and k != opened
    ]
    if not rows:
        return None
    done = outdated | listed.ignored
    faded = [k in done or statuses[k] not in OPEN_STATUSES or clashes[k].frame != frame for k in rows]
    shown = [clashes[k] for k in rows]
    return ClashDots.of(
        rows,
        np.array([clash.center for clash in shown]),
        [clash.relation for clash in shown],
        np.array([clash.signed_distance for clash in shown]),
        np.array(faded, dtype=bool),
    )


def _is_inspected(context: Any) -> bool:
    """Return whether the view shows the contact of the active clash, which a dot would cover."""
    clash = check_settings.active_clash(context.scene)
    if clash is None or not properties.settings_of(context.scene).show_overlay or session.current(context) is None:
        return False
    return frozenset(properties.pair_keys(context.scene) or ()) == clash.pair


def draw(context: Any, view: Any, projection: Any, size: tuple[int, int], is_isolated: bool) -> None:
    """Draw the dots, and a ring around that of the active clash; is_isolated: faintly, beside the pair."""
    dots, style = dots_of(context), overlay.style_of(context)
    if dots is None:
        return
    if not is_isolated and (outlines := _outlines_of(context.scene, dots)) is not None:
        overlay.draw_outlines(outlines, style, view, projection, size)
    overlay.draw_dots(dots, style, view, projection, size, BESIDE if is_isolated else 1.0)
    active = dots.place_of(check_settings.of_scene(context.scene).active)
    if active is not None:
        overlay.draw_ring(dots.centers[active], float(dots.sizes[active]), style, projection @ view, size)


def _outlines_of(scene: Any, dots: ClashDots) -> ClashOutlines | None:
    """Return the outlines of the objects of the dots that are not faint, as far as they are known."""
    if dots not in _outlined:
        clear = [k for k in reversed(range(len(dots.rows))) if not dots.is_faded[k]]  # the deepest first
        words = {int(dots.rows[k]): dots.relations[k] for k in clear}
        things = changes.things_of(scene, words)
        _outlined[dots] = {thing: words[row] for thing, row in list(things.items())[:MOST_OUTLINED]}
        follow_outlines.retry(_outlined[dots])
    wanted = _outlined[dots]
    known = {thing: found for thing, found in follow_outlines.outlines(scene, wanted).items() if len(found[0])}
    made = _outlines.get(dots)
    if known and (made is None or len(made.outlines) != len(known)):
        made = _outlines[dots] = ClashOutlines(tuple(known.values()), tuple(wanted[thing] for thing in known))
    return made


def at(context: Any, pixel: Any) -> int | None:
    """Return the number of the clash whose dot is at a pixel of the context's region; None where none is."""
    dots = dots_of(context)
    if dots is None:
        return None
    pixels, is_ahead = project(dots.centers, _matrix(context), (context.region.width, context.region.height))
    return dots.at(pixel, pixels, is_ahead, overlay.style_of(context).scale)


def draw_pointed(context: Any, row: int) -> None:
    """Draw a ring around the dot of a clash that the mouse is on, and beside it what the list says of the clash."""
    dots, style, size = dots_of(context), overlay.style_of(context), (context.region.width, context.region.height)
    place = None if dots is None else dots.place_of(row)
    if dots is None or place is None:
        return
    diameter, matrix = float(dots.sizes[place]), _matrix(context)
    overlay.draw_ring(dots.centers[place], diameter, style, matrix, size)
    pixels, is_ahead = project(dots.centers[place], matrix, size)
    if is_ahead[0]:
        lines = check_settings.of_scene(context.scene).findings[row].tooltip.split("\n")
        free = free_box(context.area, context.region)
        overlay.draw_lines(lines, pixels[0], 0.5 * diameter * style.scale, style, free, size)


def _matrix(context: Any) -> Any:
    view, projection = context.region_data.view_matrix, context.region_data.window_matrix
    return np.array(projection, dtype=np.float64) @ np.array(view, dtype=np.float64)


def drop() -> None:
    """Drop the dots of all views."""
    _made.clear()
