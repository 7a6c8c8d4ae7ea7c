# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene check with its lengths and areas in the scene's units, as files give them.

What a check finds and the file keeps is in Blender units; this is the one place where that is turned, each number by
one multiplication. No number is infinite then, as JSON has none.
"""

from __future__ import annotations

from math import isfinite
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
        "margins",
        "centroid",
        "distance",
        "extent",
        "clearance",
        "approved_at",
    }
)
"""The lengths, points and vectors of a clash, of the settings, of a motion and of what was skipped."""
AREAS = frozenset({"area"})
NUMBERS = frozenset({"normal", "extents"})
"""What has no unit."""


def unit_format(check: dict[str, Any]) -> UnitFormat:
    """Return how the lengths of a check in its scene's units are written."""
    return _settings(check).of_fixed()


def in_scene_units(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check in Blender units as one in the units of its scene, which it names."""
    unit = _settings(check).fixed()
    named = {
        "length": unit.symbol,
        "area": unit.squared,
        "blender_units_per_unit": unit.blender_units,
        **check["units"],
        "numbers_in": "scene_units",
    }
    factors = _factors(unit)
    findings = mapped(check["findings"], lambda row: _turned(row, factors))
    turned = {
        **check,
        "units": named,
        "settings": _turned(check["settings"], factors),
        "skipped": [_turned(entry, factors) for entry in check["skipped"]],
        "findings": findings,
    }
    if check.get("motion") is not None:
        turned["motion"] = _turned(check["motion"], factors)
    return turned


def _settings(check: dict[str, Any]) -> UnitFormat:
    """Return the unit settings of the scene that was checked."""
    units = check["units"]
    return UnitFormat(units["system"], units["scale_length"], units["length_unit"])


def _factors(unit: Unit) -> dict[str, float]:
    """Return by what each number is multiplied."""
    per = unit.per_blender_unit
    return dict.fromkeys(LENGTHS, per) | dict.fromkeys(AREAS, per**2) | dict.fromkeys(NUMBERS, 1.0)


def _turned(numbers: dict[str, Any], factors: dict[str, float]) -> dict[str, Any]:
    """Return data with its numbers multiplied; None for those that are not finite then."""
    turned = dict(numbers)
    for name in numbers.keys() & factors.keys():
        turned[name] = _times(numbers[name], factors[name])
    return turned


def _times(value: Any, factor: float) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_times(one, factor) for one in value]
    product = value * factor
    return product if isfinite(product) else None
