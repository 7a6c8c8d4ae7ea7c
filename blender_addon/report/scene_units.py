# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene check with its lengths and areas in the scene's units, as files give them.

What a check finds and the file keeps is in Blender units; this is the one place where that is turned, each number by
one multiplication.
"""

from __future__ import annotations

from typing import Any

from ..data.lazy_rows import mapped
from ..data.units import Unit, UnitFormat

LENGTHS = frozenset(
    {
        "signed_distance",
        "depth",
        "mtv",
        "point_on_a",
        "point_on_b",
        "center",
        "lower_bound",
        "upper_bound",
        "resolution",
        "centroid",
        "distance",
        "extent",
        "clearance",
        "approved_at",
    }
)
"""The lengths, points and vectors of a clash, of the settings and of a motion."""
AREAS = frozenset({"area"})


def unit_format(check: dict[str, Any]) -> UnitFormat:
    """Return the unit settings of the scene that was checked."""
    units = check["units"]
    return UnitFormat(units["system"], units["scale_length"], units["length_unit"])


def in_scene_units(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check in Blender units as one in the units of its scene, which it names."""
    unit = unit_format(check).fixed()
    named = {
        "length": unit.symbol,
        "area": unit.squared,
        "blender_units_per_unit": unit.blender_units,
        **check["units"],
        "numbers_in": "scene_units",
    }
    findings = mapped(check["findings"], lambda row: _turned(row, unit))
    turned = {**check, "units": named, "settings": _turned(check["settings"], unit), "findings": findings}
    if check.get("motion") is not None:
        turned["motion"] = _turned(check["motion"], unit)
    return turned


def _turned(numbers: dict[str, Any], unit: Unit) -> dict[str, Any]:
    per, per_area = unit.per_blender_unit, unit.per_blender_unit**2
    return {
        name: _times(value, per) if name in LENGTHS else _times(value, per_area) if name in AREAS else value
        for name, value in numbers.items()
    }


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, list):
        return [_times(one, factor) for one in value]
    return None if value is None else value * factor
