# SPDX-License-Identifier: GPL-3.0-or-later
"""Every label and tooltip that is registered with Blender is written as Blender's own are."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy

SMALL = {"as", "at", "and", "by", "in", "of", "or", "the", "to"}
"""Words that are not capitalized inside a label."""
OF_LISTS = {"active", "object_a", "object_b"}
"""Properties of rows, which have tooltips of their own."""
LONGEST = 100
"""Characters of a tooltip: one line of Blender's."""


def operators() -> Iterator[bpy.types.Struct]:
    for name in dir(bpy.ops.contact_lens):
        yield getattr(bpy.ops.contact_lens, name).get_rna_type()


def groups() -> Iterator[bpy.types.Struct]:
    yield from operators()
    for cls in (*bpy.types.PropertyGroup.__subclasses__(), *bpy.types.AddonPreferences.__subclasses__()):
        if cls.__name__.startswith("ContactLens") and cls.is_registered:
            yield cls.bl_rna


def shown_properties() -> Iterator[bpy.types.Property]:
    """Yield the properties that have a label: those for the add-on itself are named by their identifiers."""
    for group in groups():
        for prop in group.properties:
            if not (prop.is_hidden or prop.name == prop.identifier or prop.identifier in ("rna_type", "filepath")):
                yield prop
    yield bpy.types.Object.bl_rna.properties["contact_lens_shape"]


def panels_and_menus() -> Iterator[type]:
    return (getattr(bpy.types, name) for name in dir(bpy.types) if re.match("CONTACT_LENS_(PT|MT)_", name))


def labels() -> Iterator[str]:
    yield from (operator.name for operator in operators())
    yield from (cls.bl_label for cls in panels_and_menus())  # type: ignore[attr-defined]
    for prop in shown_properties():
        yield prop.name
        yield from (item.name for item in getattr(prop, "enum_items", ()))


def tooltips() -> Iterator[tuple[str, str]]:
    """Yield what has a tooltip, and the tooltip."""
    yield from ((operator.identifier, operator.description) for operator in operators())
    for prop in shown_properties():
        yield prop.identifier, prop.description
        yield from ((f"{prop.identifier}: {item.name}", item.description) for item in getattr(prop, "enum_items", ()))


def is_title_case(label: str) -> bool:
    first, *words = label.split()
    return all(word[0].isupper() or not word[0].isalpha() or word in SMALL for word in words) and (
        first[0].isupper() or not first[0].isalpha() or first == "k-DOP"
    )


def is_tooltip(text: str) -> bool:
    return bool(re.fullmatch(r"(k-DOP|[A-Z1-9]).*\w", text)) and len(text) <= LONGEST


def test_labels_are_in_title_case() -> None:
    found = list(labels())
    assert len(found) > 100, "they were found"
    assert not [label for label in found if not is_title_case(label)]


def test_tooltips_are_one_short_sentence_without_a_full_stop() -> None:
    assert not {name: text for name, text in tooltips() if name not in OF_LISTS and not is_tooltip(text)}
