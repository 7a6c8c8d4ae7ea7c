# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of a command as they were given, option by option: to run it again with others."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence


def divided(
    parser: argparse.ArgumentParser, arguments: Sequence[str], chosen: Collection[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return arguments that the parser accepts in three lists: positional ones, options whose `dest` is chosen, others.

    Each option is with its values, in its order. The parser must not take abbreviations.
    """
    positional: list[str] = []
    taken: list[str] = []
    others: list[str] = []
    for action, words in given(parser, arguments):
        if action is None:
            positional.extend(words)
        else:
            (taken if action.dest in chosen else others).extend(words)
    return positional, taken, others


def given(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> Iterator[tuple[argparse.Action | None, list[str]]]:
    """Yield the options of arguments that the parser accepts, each with its words, and None with positional ones.

    The parser must not take abbreviations.
    """
    left = list(arguments)
    while left:
        word = left.pop(0)
        action = parser._option_string_actions.get(word.partition("=")[0])  # argparse has no other list of them
        if word == "--":
            yield None, left
            return
        count = 0 if action is None or "=" in word else _values(action, left)
        yield action, [word, *left[:count]]
        del left[:count]


def _values(action: argparse.Action, words: Sequence[str]) -> int:
    """Return how many of the words after an option are its values."""
    if action.nargs == "+":  # all up to the next option
        return next((k for k, word in enumerate(words) if word.startswith("--")), len(words))
    return 1 if action.nargs is None else int(action.nargs)
