# SPDX-License-Identifier: GPL-3.0-or-later
"""The colours of a clearance band, which people with any common colour blindness can distinguish, and the steps of its
legend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.types import FloatArray
from ..data.look import Color
from ..data.units import UnitFormat

BELOW_WANTED: Color = (0.800, 0.160, 0.080, 1.0)
"""Red: of gaps below the wanted clearance."""
_FROM_NEAR_TO_FAR = np.array([(0.99, 0.90, 0.35), (0.42, 0.74, 0.72), (0.13, 0.30, 0.62)])
"""Yellow, teal, blue: ever darker, so that they differ without colour vision, too."""
_ROUND = np.array([1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0])
"""The numbers, times a power of ten, at which a scale may end."""
_ABOVE_WANTED = 1.5
"""Times the wanted clearance: where a scale ends at least."""
_APART, _FROM_END = 0.12, 0.22
"""Of the scale: steps that are nearer to each other, or to the end, than this would be written over each other."""


@dataclass(frozen=True)
class BandScale:
    """Which colour stands for which gap, in Blender units, from 0 on."""

    wanted: float
    """The wanted clearance: gaps below it are red."""
    end: float
    """From this gap on the colour is the last one."""
    units: UnitFormat
    """Of all lengths of the legend: one unit."""

    @classmethod
    def reaching(cls, greatest: float, wanted: float, units: UnitFormat) -> BandScale:
        """Return the scale that ends at a round number of the scene's unit above the greatest gap."""
        most = max(greatest, _ABOVE_WANTED * wanted) or 1.0
        of_table = units.for_table([most])
        factor = of_table.fixed().per_blender_unit
        power = 10.0 ** np.floor(np.log10(most * factor))
        rounded = (
            power * _ROUND[np.searchsorted(power * _ROUND, most * factor * (1.0 - 1e-9)).clip(max=len(_ROUND) - 1)]
        )
        return cls(wanted, float(rounded) / factor, of_table)

    def colors(self, gaps: FloatArray) -> FloatArray:
        """Return the opaque colours (n, 4) of gaps (n,)."""
        place = (gaps - self.wanted) / (self.end - self.wanted)
        stops = np.linspace(0.0, 1.0, len(_FROM_NEAR_TO_FAR))
        channels = [np.interp(place, stops, channel) for channel in _FROM_NEAR_TO_FAR.T]
        colors = np.stack([*channels, np.ones(len(gaps))], axis=1)
        colors[gaps < self.wanted] = BELOW_WANTED
        return colors

    def steps(self) -> list[tuple[float, str]]:
        """Return the gaps that the legend names, and their numbers, the last one with the unit."""
        middle = 0.5 * (self.wanted + self.end)
        gaps = dict.fromkeys(
            (0.0, self.wanted, *([middle] if self.end - middle > _FROM_END * self.end else []), self.end)
        )
        # The wanted clearance rather than a step beside it.
        shown = [gap for gap in gaps if gap == self.wanted or abs(gap - self.wanted) > _APART * self.end]
        numbers = [self.units.length(gap).partition(" ")[0] for gap in shown[:-1]]
        return list(zip(shown, [*numbers, self.units.length(self.end)], strict=True))
