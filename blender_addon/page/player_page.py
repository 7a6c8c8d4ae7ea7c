# SPDX-License-Identifier: GPL-3.0-or-later
"""A playable as HTML: a figure with its data and all steps as text, and a page that needs nothing but itself.

`player.js` makes the player of the data; without scripts the steps are read. Names are data, and escaped.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...core.types import FloatArray
from ..data.look import DEFAULT_LOOK, ROLE_FORMS, Look, role_color
from ..data.names import visible
from ..study.picture import StudyPicture, points_of
from ..study.playable import Frame, Guess, Playable
from .html_page import BEGINNING

STYLE, SCRIPT = (Path(__file__).with_name(f"player.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
CHAPTERS = Path(__file__).resolve().parents[2] / "docs" / "learn" / "index.html"
"""The contents of the chapters to learn from, which are packed with the extension."""
DIGITS = 4
"""After the point, of coordinates relative to the size of their space."""


def player_page(shown: Playable, look: Look = DEFAULT_LOOK) -> str:
    """Return a whole page with the player."""
    return page(shown.title, player_figure(shown, look))


def page(title: str, body: str, style: str = "") -> str:
    """Return a page around players; style: more of it. Nothing is loaded, and no other script runs."""
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return (
        f'{BEGINNING}<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{STYLE}{style}</style></head>\n"
        f"<body>\n{body}\n<script>{SCRIPT}</script>\n</body></html>\n"
    )


def player_figure(shown: Playable, look: Look = DEFAULT_LOOK, name: str = "player") -> str:
    """Return the figure of a player, which a page has beside `STYLE` and `SCRIPT`; name: its id."""
    data = json.dumps(_data(shown, look), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    steps = "\n".join(f"<li><b>{_text(frame.title)}</b> {_text(frame.sentence)}</li>" for frame in shown.frames)
    return (
        f'<figure class="player" id="{escape(name)}"><figcaption>{_text(shown.title)}</figcaption>\n'
        f'<script type="application/json">{data}</script>\n<ol class="all">{steps}</ol></figure>'
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _data(shown: Playable, look: Look) -> dict[str, Any]:
    """Return what the script plays."""
    places = []
    for k, space in enumerate(shown.spaces):
        guesses = (frame.guess for frame in shown.frames)
        drawn = [space.behind, *(frame.pictures[k] for frame in shown.frames)]
        drawn += [guess.picture for guess in guesses if guess is not None and guess.space == k]
        places.append(_Place(np.concatenate([points_of(picture) for picture in drawn])))
    return {
        "toward": shown.toward_viewer,
        "up": shown.up,
        "roles": _roles(look),
        "spaces": [
            {"name": visible(space.name), "behind": place.picture(space.behind)}
            for space, place in zip(shown.spaces, places, strict=True)
        ],
        "frames": [_frame(frame, places) for frame in shown.frames],
    }


def _roles(look: Look) -> dict[str, Any]:
    """Return how each role looks; widths and sizes in pixels."""
    return {
        role: {
            "color": "#" + "".join(f"{round(255 * part):02x}" for part in role_color(role, look)[:3]),
            "width": round(form.width * look.line_width, 3),
            "opacity": form.opacity,
            "dashed": form.is_dashed,
            "fill": form.fill,
            "hatch": form.hatch,
            "mark": form.mark,
            "size": round(form.size * look.point_size, 3),
        }
        for role, form in ROLE_FORMS.items()
    }


def _frame(frame: Frame, places: list[_Place]) -> dict[str, Any]:
    pictures = [place.picture(picture) for picture, place in zip(frame.pictures, places, strict=True)]
    return {
        "kind": frame.kind,
        "title": visible(frame.title),
        "sentence": visible(frame.sentence),
        "pictures": [picture if any(picture.values()) else None for picture in pictures],
        "lower": _rounded(frame.lower),
        "upper": _rounded(frame.upper),
        "boundTexts": frame.bound_texts,
        "bars": [
            [_rounded(bar.signed_distance), bar.is_best, bar.is_current, bar.step, bar.text] for bar in frame.bars
        ],
        **({} if frame.guess is None else {"guess": _guess(frame.guess, places[frame.guess.space])}),
    }


def _guess(guess: Guess, place: _Place) -> dict[str, Any]:
    return {
        "question": visible(guess.question),
        "space": guess.space,
        "picture": place.picture(guess.picture),
        "choices": [[visible(label), place.numbers(point)] for label, point in guess.choices],
        "right": guess.right,
        "answer": visible(guess.answer),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


class _Place:
    """Writes points of a space relative to its middle and to its size."""

    def __init__(self, points: FloatArray) -> None:
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
        self.middle, self.size = 0.5 * low + 0.5 * high, float((high - low).max()) or 1.0

    def numbers(self, points: ArrayLike) -> list[float]:
        """Return the coordinates of points, one after the other."""
        relative = (np.asarray(points, dtype=float) - self.middle) / self.size
        return [number or 0 for number in relative.round(DIGITS).ravel().tolist()]  # never -0.0

    def picture(self, picture: StudyPicture) -> dict[str, Any]:
        return {
            "fills": [[part.role, part.opacity, self.numbers(part.triangles)] for part in picture.fills],
            "lines": [
                [part.role, part.width, part.is_dashed, part.is_arrow, self.numbers(part.ends)]
                for part in picture.lines
            ],
            "points": [[part.role, self.numbers(part.points)] for part in picture.points],
            "labels": [[part.role, visible(part.text), self.numbers(part.point)] for part in picture.labels],
        }
