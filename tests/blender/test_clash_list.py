# SPDX-License-Identifier: GPL-3.0-or-later
"""What the list of clashes shows is put in order once: it must be as if it were put in order anew each time."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .layouts import Layout
from .processes import wait_until
from .scenes import cube, inspect, lens, reopen, torus, update
from .test_scene_check import check, settings

pytestmark = pytest.mark.usefixtures("empty_scene")
SORTS = ("DEPTH", "NAME", "OBJECT", "AREA", "RELATION", "STATUS")
FILTERS = ("penetrating", "touching", "new", "changed", "active", "reviewed", "approved", "resolved")


def shown() -> Any:
    return lens.clashes.clash_list.shown(bpy.context.scene)


def anew() -> Any:
    lens.clashes.clash_list.drop()
    return shown()


class Changes:
    """Everything that what is shown depends on, changed at random."""

    def __init__(self, folder: Path) -> None:
        self.random = random.Random(1)
        self.folder = folder

    @property
    def objects(self) -> list[bpy.types.Object]:
        return list(bpy.context.scene.objects)

    def rename(self) -> None:
        self.random.choice(self.objects).name = f"{self.random.choice('ABCXYZ')}{self.random.random():.3f}"

    def swap_names(self) -> None:
        a, b = self.random.sample(self.objects, 2)
        name_a, name_b = a.name, b.name
        a.name, b.name = "between", name_a
        a.name = name_b

    def move(self) -> None:
        self.random.choice(self.objects).location.x += self.random.choice((-0.2, 0.1, 5.0))
        update()

    def delete(self) -> None:
        if len(self.objects) > 6:
            bpy.data.objects.remove(self.random.choice(self.objects))
            update()

    def add(self) -> None:
        cube(f"New {self.random.random():.3f}", (1.5 * self.random.randrange(8), 0.5, 0.0))

    def decide(self) -> None:
        statuses = [status[0] for status in lens.clashes.finding.STATUSES]
        if len(settings().findings):
            self.random.choice(list(settings().findings)).status = self.random.choice(statuses)

    def filter(self) -> None:
        for name in FILTERS:
            setattr(settings(), f"show_{name}", self.random.random() < 0.9)

    def search(self) -> None:
        settings().search = self.random.choice(("", "", "", "a", "new", "0."))

    def sort(self) -> None:
        settings().sort = self.random.choice(SORTS)

    def only_changed(self) -> None:
        settings().only_changed = self.random.random() < 0.3

    def check(self) -> None:
        check()

    def inspect(self) -> None:
        inspect(*self.random.sample(self.objects, 2))

    def undo(self) -> None:
        bpy.ops.ed.undo_push(message="before")
        self.decide()
        self.rename()
        bpy.ops.ed.undo_push(message="after")
        shown()
        bpy.ops.ed.undo()

    def redo(self) -> None:
        self.undo()
        shown()
        bpy.ops.ed.redo()

    def reopen(self) -> None:
        reopen(self.folder / "scene.blend")

    def clear(self) -> None:
        bpy.ops.contact_lens.clear_findings(resolved_only=True)


def test_the_list_is_as_if_put_in_order_anew_whatever_changes(tmp_path: Path) -> None:
    for k in range(10):
        cube(f"Cube {k}", (1.5 * k, 0.0, 0.0))
    check()
    changes = Changes(tmp_path)
    steps = [name for name in vars(Changes) if not name.startswith("_") and name != "objects"]
    order = changes.random.choices(steps, k=80)
    lengths = set()
    for step in [*steps, *order]:
        getattr(changes, step)()
        cached = shown()
        fresh = anew()
        assert cached == fresh, step
        assert sorted(cached.filtered[1]) == list(range(len(settings().findings)))
        lengths.add(len(cached.rows))
    assert len(lengths) > 4, "the lists differed"


def test_an_undone_decision_is_undone_in_the_list() -> None:
    for k in range(3):
        cube(f"Cube {k}", (1.5 * k, 0.0, 0.0))
    check(sort="STATUS")
    bpy.ops.ed.undo_push(message="before")
    settings().findings[0].status = "APPROVED"
    bpy.ops.ed.undo_push(message="after")
    assert shown().rows == [1, 0]
    bpy.ops.ed.undo()
    assert shown().rows == [0, 1]
    bpy.ops.ed.redo()
    assert shown().rows == [1, 0]


def test_the_flags_and_places_for_blender() -> None:
    for k, x in enumerate((0.0, 1.9, 3.0)):
        cube("ABC"[k], (x, 0.0, 0.0))
    check()
    settings().search = "c"
    flags, places = lens.ui.scene_panel.CONTACT_LENS_UL_findings.filter_items(
        SimpleNamespace(), bpy.context, settings(), "findings"
    )
    is_shown = [finding.label("b") == "C" for finding in settings().findings]
    assert [flag != 0 for flag in flags] == is_shown == [True, False]
    assert places == [0, 1]


def test_a_redraw_reads_no_clash_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed."""
    for k in range(5):
        cube(f"Cube {k}", (1.5 * k, 0.0, 0.0))
    check()
    finding, read = lens.clashes.finding.ContactLensFinding, []
    label = finding.label
    monkeypatch.setattr(finding, "label", lambda finding, letter: read.append(letter) or label(finding, letter))
    shown()
    assert len(read) == 8
    assert shown() is shown()
    settings().findings[0].status = "APPROVED"
    settings().search = "cube"
    settings().sort = "STATUS"
    assert shown().rows[-1] == 0
    assert len(read) == 8, "only names are read again when one of them changes"
    bpy.data.objects["Cube 0"].name = "Renamed"
    shown()
    assert len(read) == 16


# --- the place in the list ------------------------------------------------------------------------------------------


def three_pairs() -> list[bpy.types.Object]:
    """Stand three pairs of cubes, the first the deepest, far from each other."""
    cubes = [cube("ABCDEF"[k], (10.0 * (k // 2) + (k % 2) * (0.5 + 0.1 * (k // 2)), 0.0, 0.0)) for k in range(6)]
    check()
    return cubes


def pairs() -> list[str]:
    """Return the names of the pairs that the list shows."""
    return ["".join(settings().findings[k].label(letter) for letter in "ab") for k in shown().rows]


def active() -> str:
    return "".join(settings().findings[settings().active].label(letter) for letter in "ab")


def go(steps: int = 1) -> str:
    for _ in range(steps):
        bpy.ops.contact_lens.go_to_finding()
    return active()


def panel() -> Any:
    layout = Layout()
    lens.ui.scene_panel.CONTACT_LENS_PT_scene.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def row(names: str) -> Any:
    """Return the row of a clash as the list draws it."""
    layout, k = Layout(), shown().rows[pairs().index(names)]
    rows = lens.ui.scene_panel.CONTACT_LENS_UL_findings
    rows.draw_item(None, bpy.context, layout, settings(), settings().findings[k], 0, settings(), "active", k)
    return layout.drawn


def test_a_clash_that_is_moved_out_keeps_its_place_and_next_goes_on_from_there() -> None:
    three_pairs()
    settings().show_touching = True
    assert pairs() == ["AB", "CD", "EF"]
    assert go(2) == "CD"
    assert bpy.ops.contact_lens.separate_finding(moves="B") == {"FINISHED"}
    assert (active(), pairs()) == ("CD", ["AB", "CD", "EF"])
    assert "2 of 3" in panel().texts
    assert go() == "EF"
    assert pairs() == ["AB", "EF", "CD"], "it is in order again when it is left"
    bpy.ops.contact_lens.previous_finding()
    assert active() == "AB"


def test_a_clash_that_is_approved_stays_until_it_is_left_though_approved_ones_are_filtered_out() -> None:
    three_pairs()
    settings().show_approved = False
    go()
    bpy.ops.contact_lens.set_status(status="APPROVED")
    assert pairs() == ["AB", "CD", "EF"]
    assert go() == "CD"
    assert pairs() == ["CD", "EF"]
    bpy.ops.contact_lens.set_status(status="APPROVED")
    settings().search = "d"
    assert pairs() == [], "a filter that is set begins anew"


def test_only_out_of_date_ends_with_the_next_check_and_filters_nothing_when_nothing_is() -> None:
    cubes = three_pairs()
    settings().only_changed = True
    assert pairs() == ["AB", "CD", "EF"]
    assert "only_changed" not in panel().props, "there is nothing to filter by"
    for name in "AC":
        bpy.data.objects[name].location.x += 0.05
    update()
    assert pairs() == ["AB", "CD"]
    assert "only_changed" in panel().props
    assert go() == "AB", "which renews it"
    assert pairs() == ["AB", "CD"]
    assert go() == "CD"
    cubes[0].location.x += 0.05
    update()
    check()
    assert not settings().only_changed
    assert pairs() == ["AB", "CD", "EF"]


def test_a_list_in_which_nothing_is_shown_says_so_and_one_button_shows_all_again() -> None:
    settings().show_touching = True
    three_pairs()
    show_all = bpy.ops.contact_lens.show_all_clashes
    assert not show_all.poll()
    settings().search, settings().show_touching = "nothing", False
    drawn = panel()
    assert {"No clash passes the filters", "0 shown"} <= set(drawn.texts)
    assert show_all() == {"FINISHED"}
    assert pairs() == ["AB", "CD", "EF"]
    assert settings().show_touching
    assert "3 clashes" in panel().texts


def touching_pairs() -> None:
    """Stand A in B, and B and C so that they touch."""
    for k, x in enumerate((0.0, 1.5, 3.5)):
        cube("ABC"[k], (x, 0.0, 0.0))


def test_the_first_check_of_a_file_hides_what_touches_and_counts_it() -> None:
    touching_pairs()
    check()
    assert pairs() == ["AB"]
    assert {"1 penetrating", "1 touching"} <= set(panel().texts), "the button has their number"
    assert (go(), go()) == ("AB", "AB"), "next leaves them out"
    settings().show_touching = True
    check()
    assert pairs() == ["AB", "BC"], "the user has pressed it"
    bpy.ops.contact_lens.clear_findings()
    check()
    assert pairs() == ["AB", "BC"]


def test_a_list_saved_with_what_touches_keeps_it(tmp_path: Path) -> None:
    """A version that showed it unless the user had filtered it out stored nothing of that."""
    touching_pairs()
    check()
    settings().property_unset("show_touching")
    reopen(tmp_path / "earlier.blend")
    assert pairs() == ["AB", "BC"]
    check()
    assert pairs() == ["AB", "BC"]
    settings().show_touching = False
    reopen(tmp_path / "filtered.blend")
    check()
    assert pairs() == ["AB"]


def test_a_list_of_nothing_but_touching_pairs_does_not_look_clean() -> None:
    touching_pairs()
    bpy.data.objects["A"].location.x = -9.0
    check()
    words = "1 touching is hidden"
    assert pairs() == []
    assert {words, "0 shown"} <= set(panel().texts)
    settings().search = "no such name"
    assert "No clash passes the filters" in panel().texts
    assert bpy.ops.contact_lens.show_all_clashes() == {"FINISHED"}
    assert pairs() == ["BC"]


def test_nothing_is_done_with_a_clash_that_the_list_does_not_show() -> None:
    three_pairs()
    go()
    operators = bpy.ops.contact_lens
    assert operators.set_status.poll()
    settings().search = "c"
    assert not operators.set_status.poll()
    assert not operators.separate_finding.poll()
    with pytest.raises(RuntimeError, match="does not show the active clash"):
        operators.ignore_pair(what="FINDING")
    assert not settings().ignored


def test_an_ignored_pair_says_so_in_its_row_and_comes_last_once_it_is_left() -> None:
    three_pairs()
    go()
    bpy.ops.contact_lens.ignore_pair(what="FINDING")
    assert {"A", "B", "ignored"} == set(row("AB").greyed)
    assert "Ignored from the next check on" in settings().findings[settings().active].tooltip
    assert pairs() == ["AB", "CD", "EF"]
    assert go() == "CD"
    assert pairs() == ["CD", "EF", "AB"]
    bpy.ops.contact_lens.ignore_pair(what="B")
    assert {"ignored"} < set(row("CD").greyed)
    settings().ignore_listed = False
    assert not row("CD").greyed, "the next check finds it"
    assert pairs() == ["AB", "CD", "EF"]
    settings().ignore_listed = True
    settings().findings[shown().rows[pairs().index("CD")]].status = "REVIEWED"
    check()
    assert pairs() == ["EF", "CD"], "what was decided is kept"


def test_counts_are_those_of_the_list_and_of_the_report() -> None:
    cubes = three_pairs()
    settings().findings[0].status = "APPROVED"
    assert "3 penetrating" in panel().texts
    cubes[5].location.x += 5.0
    check()
    assert "2 penetrating" in panel().texts
    assert "show_resolved" in panel().props
    layout = Layout()
    lens.ui.scene_panel.CONTACT_LENS_PT_scene.draw_header_preset(SimpleNamespace(layout=layout), bpy.context)
    assert layout.drawn.greyed == ["2 penetrating"]
    settings().show_penetrating = False
    assert pairs() == ["EF"], "a clash that is resolved does not penetrate"


def test_while_depths_are_refined_the_list_says_so_and_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    follow = lens.live.follow_clashes
    monkeypatch.setattr(follow.background, "has_windows", lambda: True)
    monkeypatch.setattr(follow.handlers, "window_contexts", lambda: iter([bpy.context]))
    monkeypatch.setattr(follow.handlers, "wake", lambda timer, delay: None)
    for k, name in enumerate("ACE"):
        torus(name, (10.0 * k, 0.0, 0.0))
        torus("BDF"[k], (10.0 * k + 1.05, 1.1, 0.0), rotation=(1.5, 0.8, 0.4))
    check()
    order = pairs()
    first = [finding.row()["depth"] for finding in settings().findings]
    assert "Refining 1 of 3" in panel().texts
    seen = []

    def is_done() -> bool:
        follow._renew()
        done = [finding.is_refined for finding in settings().findings]
        if sum(done) not in [k for k, _ in seen]:
            seen.append((sum(done), pairs()))
        assert ("Up to date" in panel().texts) == all(done)
        return all(done)

    wait_until(is_done)
    assert seen == [(k, order) for k in range(3)] + [(3, pairs())]
    assert all(finding.row()["depth"] < depth for finding, depth in zip(settings().findings, first, strict=True))
    settings().findings[0].data = json.dumps({**settings().findings[0].row(), "signed_distance": -1e-3})
    lens.clashes.finding.revise()
    assert pairs()[-1] == "".join(settings().findings[0].label(letter) for letter in "ab"), "in order again"


def test_a_row_is_marked_only_by_what_sets_it_apart() -> None:
    three_pairs()
    settings().findings[0].status = "APPROVED"
    assert "CHECKMARK" in row(pairs()[0]).icons
    assert "DOT" not in row("CD").icons, "all others are new"
    check()
    cube("G", (30.0, 0.0, 0.0)), cube("H", (31.0, 0.0, 0.0))
    check()
    assert "DOT" in row("GH").icons, "others were found before"
    assert "DOT" not in row("CD").icons


def test_names_of_a_group_are_as_bright_as_those_of_any_other_clash() -> None:
    for k in range(3):
        cube(f"Cube {k}", (1.5 * k, 0.0, 0.0))
    check()
    settings().sort = "OBJECT"
    assert [row(names).greyed for names in pairs()] == [[], []]


def test_the_list_offers_the_moves_that_the_panel_of_a_pair_does() -> None:
    cubes = three_pairs()
    go()
    menus, drawn = lens.operators.move_operators, []
    for menu in (menus.CONTACT_LENS_MT_move_out, menus.CONTACT_LENS_MT_move_out_of_clash):
        layout = Layout()
        menu.draw(SimpleNamespace(layout=layout), bpy.context)
        drawn.append(
            [
                (text, given.moves, given.along)
                for (_, given), text in zip(layout.drawn.operators, layout.drawn.texts, strict=True)
            ]
        )
    assert len(drawn[0]) == 5
    assert drawn[0] == drawn[1]
    assert bpy.ops.contact_lens.separate_finding(moves="B", along="Y") == {"FINISHED"}
    assert cubes[1].location.x == pytest.approx(0.5)
    assert abs(cubes[1].location.y) == pytest.approx(2.0, abs=1e-6)
