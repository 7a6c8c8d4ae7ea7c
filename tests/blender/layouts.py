# SPDX-License-Identifier: GPL-3.0-or-later
"""A layout that stands for Blender's: it notes what it is given and refuses what Blender would refuse."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy

FUNCTIONS = bpy.types.UILayout.bl_rna.functions
ICONS = set(FUNCTIONS["label"].parameters["icon"].enum_items.keys())


class Drawn:
    """What was drawn into a layout and its inner layouts."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """Of labels, buttons and bars."""
        self.greyed: list[str] = []
        """Those of the texts, and properties, that are dimmed."""
        self.disabled: list[str] = []
        """Operators, menus and properties that cannot be used."""
        self.icons: list[str] = []
        self.dots: list[Any] = []
        """Icons of the add-on's own."""
        self.props: list[str] = []
        self.operators: list[tuple[str, Any]] = []
        """Their names and what they are given."""
        self.bars: list[str] = []
        self.places: dict[str, int] = {}
        """The rows in which operators are, by name and text."""
        self.row = 0

    @property
    def names(self) -> set[str]:
        """The operators, without the add-on's name."""
        return {name.removeprefix("contact_lens.") for name, _ in self.operators}

    @property
    def words(self) -> str:
        return " ".join(self.texts)

    def given(self, name: str, of: str) -> list[Any]:
        """Return what an operator is given of a property, wherever it is drawn."""
        return [getattr(given, of) for operator, given in self.operators if operator == f"contact_lens.{name}"]


class Layout:
    """Stands for `bpy.types.UILayout`."""

    def __init__(self, parent: Layout | None = None, is_row: bool = False) -> None:
        self._drawn: Drawn = parent._drawn if parent else Drawn()
        self._is_row = is_row
        self._parent = parent
        self.active = self.enabled = True

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            assert name in bpy.types.UILayout.bl_rna.properties, f"UILayout has no {name}"
        super().__setattr__(name, value)

    @property
    def drawn(self) -> Drawn:
        return self._drawn

    def _is(self, state: str) -> bool:
        """Return whether it and all layouts around it are active or enabled."""
        return getattr(self, state) and (self._parent is None or self._parent._is(state))

    def column(self, **options: Any) -> Layout:
        return Layout(self, self._is_row)

    box = column

    def row(self, **options: Any) -> Layout:
        self._next_row()
        return Layout(self, True)

    split = row

    def _next_row(self) -> None:
        if not self._is_row:
            self._drawn.row += 1

    def _note(self, function: str, text: str | None, icon: str = "NONE", name: str = "", **options: Any) -> None:
        assert icon in ICONS
        assert set(options) <= set(FUNCTIONS[function].parameters.keys())
        self._next_row()
        self._drawn.icons.append(icon)
        if options.get("icon_value"):
            self._drawn.dots.append(options["icon_value"])
        if name and not self._is("enabled"):
            self._drawn.disabled.append(name)
        if text:
            self._drawn.texts.append(text)
            if not self._is("active"):
                self._drawn.greyed.append(text)

    def label(self, text: str = "", **options: Any) -> None:
        self._note("label", text, **options)

    def progress(self, factor: float, text: str) -> None:
        self._note("progress", text)
        self._drawn.bars.append(text)

    def prop(self, data: Any, name: str, text: str | None = None, placeholder: str = "", **options: Any) -> None:
        assert name in data.bl_rna.properties
        self._note("prop", text or placeholder, name=name, **options)
        self._drawn.props.append(name)
        if not self._is("active"):
            self._drawn.greyed.append(name)

    def prop_menu_enum(self, data: Any, name: str, text: str = "", **options: Any) -> None:
        assert name in data.bl_rna.properties
        self._note("prop_menu_enum", text, name=name, **options)

    def operator(self, name: str, text: str | None = None, **options: Any) -> Any:
        group, identifier = name.split(".")
        properties = getattr(getattr(bpy.ops, group), identifier).get_rna_type().properties
        self._note("operator", text, name=name, **options)
        self._drawn.places[f"{name} {text}"] = self._drawn.row
        given = SimpleNamespace(**dict.fromkeys(properties.keys()))
        self._drawn.operators.append((name, given))
        return given

    def menu(self, name: str, text: str | None = None, **options: Any) -> None:
        assert hasattr(bpy.types, name)
        self._note("menu", text, name=name, **options)

    def popover(self, panel: str, text: str, **options: Any) -> None:
        assert hasattr(bpy.types, panel)
        self._note("popover", text, **options)

    def panel(self, name: str, default_closed: bool = False) -> tuple[Layout, Layout]:
        """Stands for a part that the user has unfolded."""
        return self.row(), self.column()

    def template_list(self, *arguments: Any, **options: Any) -> None:
        assert set(options) <= set(FUNCTIONS["template_list"].parameters.keys())

    def template_icon(self, **options: Any) -> None:
        assert set(options) <= set(FUNCTIONS["template_icon"].parameters.keys())

    def separator(self, **options: Any) -> None:
        assert set(options) <= set(FUNCTIONS["separator"].parameters.keys())
