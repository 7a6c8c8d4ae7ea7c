# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths and areas as text in the scene's units, as a person reads them.

At most `DIGITS` significant digits, fewer where the proof knows fewer, and no trailing zeros: '2.85 mm', '0.4 m'. Where
`error` is given, the width between the proved bounds, the last digit shown is at most two off.
`bpy.utils.units.to_string` ignores the scene's length unit, so the text is made here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, ROUND_UP, Context, Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import bpy

DIGITS = 4
"""Significant digits of a length in the interface; files carry the full float."""
VECTOR_DIGITS = (4, 3, 2)
"""Of the largest component of a vector, and all before the point: the first with which it is no longer than a line."""
LINE = 20
"""Characters beside a name in the sidebar."""
LONGEST = 7
"""Digits before the point from which on, and zeros behind it, a number is written with an exponent."""
ROUGH_DIGITS = 2
"""Of errors and differences."""
DIGITS_OF_BOUND = 3
"""Of bounds that are far apart."""
EXACT_DIGITS = 7
"""Of what is copied: as many as Blender's properties keep."""

UPRIGHT = {"+Z": "up", "-Z": "down"}
"""The axes that have words."""
ALL_DIGITS = 17
"""Of a float: with as many it is read back as it was."""

Rounding = Literal["nearest", "up", "down", "away"]
"""Upper bounds are rounded up and lower bounds down, so that what is shown is a bound, too; components of a translation
that would not separate if they were rounded to the nearest, away from 0."""
_ROUNDINGS = {"nearest": ROUND_HALF_UP, "up": ROUND_CEILING, "down": ROUND_FLOOR, "away": ROUND_UP}
_OF_TRANSLATIONS: tuple[Rounding, ...] = ("nearest", "away")
Separates = Callable[[list[float]], bool]
"""Whether a translation, in Blender units, separates."""

_METRIC = {  # identifier: (symbol, metres), largest first
    "KILOMETERS": ("km", 1e3),
    "METERS": ("m", 1.0),
    "CENTIMETERS": ("cm", 1e-2),
    "MILLIMETERS": ("mm", 1e-3),
    "MICROMETERS": ("µm", 1e-6),
}
_IMPERIAL = {
    "MILES": ("mi", 1609.344),
    "FEET": ("ft", 0.3048),
    "INCHES": ("in", 0.0254),
    "THOU": ("thou", 0.0000254),
}
_LEAST = {"MILLIMETERS": 0.1}
"""The least number of a unit that is shown in it where units adapt, else 1: as in Blender, 0.5 mm are not 500 µm."""
_SYSTEMS = {"METRIC": _METRIC, "IMPERIAL": _IMPERIAL}
_PLAIN = "BU"
"""What a Blender unit is called where the scene has no units."""
_METRES = {symbol: metres for units in _SYSTEMS.values() for symbol, metres in units.values()}
_METRES["um"] = _METRES["µm"]
_POWERS = ("", "", "²", "³")
_ROOTS: tuple[Callable[[float], float], ...] = (abs, abs, math.sqrt, math.cbrt)
WRITTEN_UNITS = (*_METRES, _PLAIN)
"""The symbols that `written_length` takes."""


class Unit(NamedTuple):
    """The one unit of the lengths in a file; its areas are in the square of it."""

    symbol: str
    per_blender_unit: float
    """How many of it make one Blender unit."""
    blender_units: float
    """How many Blender units make one of it."""

    @property
    def squared(self) -> str:
        """The unit of areas."""
        return f"{self.symbol}²"


class WrittenLength(NamedTuple):
    """A length as the user wrote it."""

    number: float
    symbol: str
    """One of `WRITTEN_UNITS`; empty: that of the scene."""


def written_length(text: str) -> WrittenLength:
    """Return a length such as '0.002' or '2 mm'. Raises ValueError when it is none, negative or not finite."""
    parts = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d]*)\s*", text)
    symbols = {symbol.casefold(): symbol for symbol in WRITTEN_UNITS}
    symbol = symbols.get(parts[2].casefold(), "" if parts[2] == "" else None) if parts else None
    if parts is None or symbol is None:
        raise ValueError(f"expected a length such as 0.002 or 2mm, not {text!r}")
    number = float(parts[1])
    if not 0.0 <= number < math.inf:
        raise ValueError(f"expected a length of 0 or more, not {text!r}")
    return WrittenLength(number, symbol)


def written_volume(text: str) -> WrittenLength:
    """Return the edge of a cube of a volume such as '0.002' or '20 mm3'. Raises ValueError as `written_length`."""
    try:
        found = written_length(re.sub(r"(?<=[^\W\d])[3³]\s*$", "", text))
    except ValueError:
        raise ValueError(f"expected a volume of 0 or more such as 0.002 or 20mm3, not {text!r}") from None
    return found._replace(number=math.cbrt(found.number))


def _last_place(largest: float, error: float, digits: int) -> int:
    """Return the exponent of the last digit that is shown of numbers up to `largest`."""
    place = math.floor(math.log10(largest)) - digits + 1 if largest > 0.0 else 0
    return max(place, math.ceil(math.log10(0.5 * error))) if error > 0.0 else place


def _rounded(value: float, place: int, rounding: Rounding) -> Decimal:
    # Twelve digits: 0.1 m are 100 mm, not 100.00000000000001, which would be rounded up to 101.
    step = Decimal(1).scaleb(place)
    return (Decimal(f"{value:.11e}") / step).quantize(Decimal(1), _ROUNDINGS[rounding]) * step


def _texts(values: list[float], error: float = 0.0, rounding: Rounding = "nearest", digits: int = DIGITS) -> list[str]:
    """Return numbers as text, each to the last digit that counts in the largest of them."""
    largest = max(abs(v) for v in values)
    if not math.isfinite(largest):
        return [str(v) for v in values]
    place = _last_place(largest, error, digits)
    is_written_out = largest == 0.0 or -4 <= math.floor(math.log10(largest)) < LONGEST
    numbers = [_rounded(v, place, rounding).normalize() for v in values]
    return ["0" if number == 0 else f"{number:{'f' if is_written_out else 'e'}}" for number in numbers]


@dataclass(frozen=True)
class UnitFormat:
    """A copy of a scene's unit settings that turns Blender units into text."""

    system: str = "METRIC"
    """'NONE', 'METRIC' or 'IMPERIAL'."""
    scale_length: float = 1.0
    """Metres per Blender unit."""
    length_unit: str = "METERS"
    """'ADAPTIVE' or the identifier of one unit."""

    @classmethod
    def of_scene(cls, scene: bpy.types.Scene) -> UnitFormat:
        settings = scene.unit_settings
        # A float32 property: seven digits give back what the user typed.
        return cls(settings.system, float(f"{settings.scale_length:.7g}"), settings.length_unit)

    def record(self) -> dict[str, Any]:
        """Return the settings as plain data, with the unit and the frame of the numbers beside them."""
        return {**asdict(self), "numbers_in": "blender_units", "frame": "world"}

    def _name(self, largest: float, error: float = 0.0, rounding: Rounding = "nearest") -> str:
        """Return the identifier of the unit that suits `largest` Blender units; empty without units."""
        units = _SYSTEMS.get(self.system, {})
        if self.length_unit in units or not units:
            return self.length_unit if units else ""
        size = abs(largest) * self.scale_length
        if math.isfinite(size):  # 0.999999 m is one metre, not 100 cm
            place = _last_place(size, error * self.scale_length, DIGITS)
            size = float(_rounded(size, place, rounding if largest >= 0.0 else "nearest"))
        if size == 0.0:
            return "METERS" if self.system == "METRIC" else "FEET"
        fitting = (name for name, (_, metres) in units.items() if size >= metres * _LEAST.get(name, 1.0))
        return next(fitting, list(units)[-1])

    def _unit(self, largest: float, error: float = 0.0, rounding: Rounding = "nearest") -> tuple[str, float]:
        """Return the symbol of the unit that suits `largest` Blender units, and how many make one Blender unit."""
        name = self._name(largest, error, rounding)
        if not name:
            return "", 1.0
        symbol, metres = _SYSTEMS[self.system][name]
        return symbol, self.scale_length / metres

    def fixed(self) -> Unit:
        """The unit of files, the same whatever the lengths: metres or feet where it adapts to them."""
        symbol, factor = self._unit(0.0)
        return Unit(symbol or _PLAIN, factor, 1.0 / factor)

    def of_fixed(self) -> UnitFormat:
        """Return the format of lengths that are in the unit of `fixed`, not in Blender units."""
        return replace(self, scale_length=_METRES.get(self.fixed().symbol, self.scale_length))

    def in_blender_units(self, length: WrittenLength) -> float:
        """Return a written length in Blender units; without a unit it is in that of `fixed`."""
        if length.symbol == _PLAIN:
            return length.number
        if length.symbol == "":
            return length.number / self.fixed().per_blender_unit
        return length.number / (self.scale_length / _METRES[length.symbol])

    def length(self, value: float, error: float = 0.0, rounding: Rounding = "nearest", digits: int = DIGITS) -> str:
        """`value` Blender units as text, such as '2.85 mm'; error: how far apart the proved bounds of it are."""
        symbol, factor = self._unit(value, error, rounding)
        return f"{_texts([value * factor], error * factor, rounding, digits)[0]} {symbol}".rstrip()

    def for_table(self, lengths: Iterable[float]) -> UnitFormat:
        """This format with the one unit that suits the largest of some lengths, for a column or a box of numbers."""
        name = self._name(max(map(abs, lengths), default=0.0))
        return UnitFormat(self.system, self.scale_length, name) if name else self

    def words(self) -> str:
        """Return what lengths are in: the symbol of the unit, 'adaptive', or 'Blender units'."""
        units = _SYSTEMS.get(self.system)
        if units is None:
            return "Blender units"
        return units[self.length_unit][0] if self.length_unit in units else "adaptive"

    def rough(self, value: float) -> str:
        """`value` Blender units to two digits, for errors and differences: '9.5e-7 m', '0.25 m'."""
        symbol, factor = self._unit(value)
        return f"{_texts([value * factor], digits=ROUGH_DIGITS)[0]} {symbol}".rstrip()

    def area(self, value: float) -> str:
        """`value` square Blender units as text, such as '4.1 cm²'."""
        return self.measure(value, 2)

    def measure(self, value: float, power: int) -> str:
        """`value` Blender units to a power as text: '2.85 mm', '4.1 cm²', '7 m³'; a number without a unit for 0."""
        symbol, factor = self._unit(_ROOTS[power](abs(value))) if power else ("", 1.0)
        number = _texts([value * factor**power])[0]
        return f"{number} {symbol}{_POWERS[power]}" if symbol else number

    def bounded(self, value: float, lower: float, upper: float, power: int = 1) -> str:
        """`value` Blender units to a power as text, with its proved bounds, rounded outward, where they are farther
        apart than the last digit: '4.1 m³ (4.08 to 4.13)'."""
        symbol, factor = self._unit(_ROOTS[power](max(abs(value), upper)))
        value, lower, upper = (number * factor**power for number in (value, lower, upper))
        unit, error = f" {symbol}{_POWERS[power]}" if symbol else "", upper - lower
        text = f"{_texts([value], error)[0]}{unit}"
        if _last_place(abs(value), error, DIGITS) == _last_place(abs(value), 0.0, DIGITS):
            return text
        least = _texts([lower], rounding="down", digits=DIGITS_OF_BOUND)[0]
        most = _texts([upper], rounding="up", digits=DIGITS_OF_BOUND)[0]
        return f"{text} ({least} to {most})"

    def vector(self, values: Iterable[float], error: float = 0.0) -> str:
        """Return a point or vector in Blender units as text, in one unit: '1 0 -2.5 m'."""
        return self._vector(list(map(float, values)), error, VECTOR_DIGITS, "nearest")

    def place(self, values: Iterable[float]) -> str:
        """Return a point in Blender units in the unit of `fixed`, as it stands beside a name: '1, 0, -2.5'."""
        return ", ".join(_texts([value * self.fixed().per_blender_unit for value in values], digits=DIGITS))

    def translation(self, values: Iterable[float], separates: Separates, error: float = 0.0) -> str:
        """Return a translation as `vector` does, but so that it separates as it is written: to the first digits with
        which it does, rounded to the nearest or away from 0."""
        numbers = list(map(float, values))
        symbol, factor = self._unit(max(map(abs, numbers)), error)
        for digits in (VECTOR_DIGITS, *((more,) for more in range(VECTOR_DIGITS[0] + 1, EXACT_DIGITS + 1))):
            for rounding in _OF_TRANSLATIONS:
                line = self._vector(numbers, error if digits is VECTOR_DIGITS else 0.0, digits, rounding)
                written = line.removesuffix(symbol).split()
                if separates([float(text) / factor for text in written]):
                    return line
        return self.unrounded(numbers)

    def unrounded(self, values: Iterable[float]) -> str:
        """Return a vector in Blender units as text with all digits, in one unit."""
        numbers = list(map(float, values))
        symbol, factor = self._unit(max(map(abs, numbers)))
        return f"{' '.join(_all_digits(v * factor) for v in numbers)} {symbol}".rstrip()

    def _vector(self, numbers: list[float], error: float, some_digits: tuple[int, ...], rounding: Rounding) -> str:
        """Return the text of a vector, with the first of some digits with which it is no longer than a line, else with
        the last."""
        largest = max(abs(v) for v in numbers)
        symbol, factor = self._unit(largest, error)
        before_point = len(f"{largest * factor:.0f}")
        for digits in some_digits:
            digits = max(digits, before_point) if before_point <= LONGEST else digits
            texts = _texts([v * factor for v in numbers], error * factor, rounding, digits)
            line = f"{' '.join(texts)} {symbol}".rstrip()
            if len(line) <= LINE:
                break
        return line

    def exact(self, value: float, rounding: Rounding = "nearest") -> str:
        """`value` Blender units in the unit of `length` with all digits, for Blender's fields: '2.846312 mm'."""
        symbol, factor = self._unit(value)
        return f"{_exact(value * factor, rounding)} {symbol}".rstrip()

    def exact_area(self, value: float) -> str:
        """`value` square Blender units in the unit of `area` with all digits."""
        return self.exact_measure(value, 2)

    def exact_measure(self, value: float, power: int) -> str:
        """`value` Blender units to a power in the unit of `measure` with all digits."""
        symbol, factor = self._unit(_ROOTS[power](abs(value)))
        return f"{_exact(value * factor**power)} {symbol}{_POWERS[power]}" if symbol else _exact(value)


def direction(values: Iterable[float]) -> str:
    """A unit vector as text; it has no unit."""
    return " ".join(f"{float(v) + 0.0:z.2f}" for v in values)


def along(values: Iterable[float]) -> str:
    """A unit vector in words, to read at a glance: 'along +X', 'down, 9° off -Z'."""
    numbers = list(map(float, values))
    # Of axes that are equally near, the first: rounding does not decide.
    k = max((2, 0, 1), key=lambda k: round(abs(numbers[k]), 3))
    axis = ("-" if numbers[k] < 0.0 else "+") + "XYZ"[k]
    degrees = math.floor(math.degrees(math.acos(min(1.0, abs(numbers[k])))) + 0.5)
    text = f"{degrees}° off {axis}" if degrees else f"along {axis}"
    return f"{UPRIGHT[axis]}, {text}" if axis in UPRIGHT else text


def ratio(value: float) -> str:
    """Return a relative tolerance as its field shows it, unless that has too few digits."""
    return f"{value:.6f}" if value >= 1e-6 else f"{value:.2g}"


def exact_vector(values: Iterable[float]) -> str:
    """A point, vector or direction in Blender units with all digits, as Blender pastes it into a vector's fields."""
    return f"[{', '.join(_exact(float(v)) for v in values)}]"


def exact_translation(values: Iterable[float], separates: Separates) -> str:
    """A translation as `exact_vector` writes it, but so that it separates as it is written: with more digits where it
    must."""
    numbers = list(map(float, values))
    for digits in range(EXACT_DIGITS, ALL_DIGITS):
        for rounding in _OF_TRANSLATIONS:
            texts = [_exact(v, rounding, digits) for v in numbers]
            if separates(list(map(float, texts))):
                return f"[{', '.join(texts)}]"
    return f"[{', '.join(map(_all_digits, numbers))}]"


def _exact(value: float, rounding: Rounding = "nearest", digits: int = EXACT_DIGITS) -> str:
    if not math.isfinite(value):
        return str(value)
    rounded = Context(digits, _ROUNDINGS[rounding]).create_decimal(repr(value))
    return f"{float(rounded):z.{digits}g}"


def _all_digits(value: float) -> str:
    return repr(value + 0.0).removesuffix(".0")
