# SPDX-License-Identifier: GPL-3.0-or-later
"""Short ids of clashes, the same whenever and wherever a file is checked.

An id is derived from the names of both things, in any order. A clash of the file's list keeps the id that it was given
there when its things are renamed. An id depends on nothing else, so checks of some of the pairs agree on it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..data.records import Pair
from ..read.scene_objects import SceneObject, identity_of
from .clashes import Clashes

LENGTH = 12
"""Letters, of five bits each: of a hundred thousand clashes two have the same id once in a hundred million checks."""
KEPT = 1 << 16
"""So many ids of those used last are kept: at all frames they are the same."""
PATTERN = re.compile(f"[a-z2-7]{{{LENGTH}}}")


@dataclass(frozen=True)
class KnownIds:
    """The ids of the clashes of a list."""

    of_pairs: Mapping[Pair, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    """Those of pairs of which a thing is gone, too."""

    def of(self, first: str, other: str) -> str:
        """Return an id, derived from the identities of two things, that no clash of the list has."""
        attempt = 0
        while (found := derived(first, other, attempt)) in self.taken:
            attempt += 1
        return found


@lru_cache(KEPT)
def derived(first: str, other: str, attempt: int = 0) -> str:
    """Return the id of the clash of two things by their identities; attempt: another one for each number."""
    text = "\n".join([*sorted((first, other)), *([str(attempt)] if attempt else [])])
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return base64.b32encode(digest).decode("ascii")[:LENGTH].lower()


def of_clashes(objects: Sequence[SceneObject], clashes: Clashes, known: KnownIds) -> list[str]:
    """Return the ids of clashes; known: those of the list."""
    identities = {k: objects[k].identity for k in set(clashes.pairs.ravel().tolist())}
    kept = {row: known.of_pairs[pair] for pair, row in clashes.rows_of(objects, known.of_pairs).items()}
    return [
        kept[row] if row in kept else known.of(identities[a], identities[b])
        for row, (a, b) in enumerate(clashes.pairs.tolist())
    ]


def of_sides(sides: Iterable[Mapping[str, Any]]) -> str:
    """Return the id that is derived from the names of both sides of a finding."""
    names = ("object", "library", "instancer", "instancer_library", "instance")
    first, other = (identity_of(*(side.get(name) for name in names)) for side in sides)
    return derived(first, other)
