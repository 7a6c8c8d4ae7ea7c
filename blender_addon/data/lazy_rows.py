# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of plain data that are made on access: a check may have a hundred thousand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, overload

Row = dict[str, Any]


class LazyRows(Sequence[Row]):
    """Rows made one by one, on each access, with what was added to some of them."""

    def __init__(
        self,
        count: int,
        make: Callable[[int], Row],
        columns: Mapping[str, Sequence[Any]] | None = None,
        source: LazyRows | None = None,
    ) -> None:
        """make: returns a row by its number; columns: fields of which the values of all rows are known already; source:
        the rows that these are made of."""
        self._count, self._make, self._source = count, make, source
        self._columns = columns or {}
        self._more: dict[int, Row] = {}

    @classmethod
    def of(cls, rows: Sequence[Row]) -> LazyRows:
        """Return rows as lazy ones, to which fields can be added."""
        return rows if isinstance(rows, cls) else cls(len(rows), rows.__getitem__)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, k: int) -> Row: ...

    @overload
    def __getitem__(self, k: slice) -> list[Row]: ...

    def __getitem__(self, k: int | slice) -> Row | list[Row]:
        if isinstance(k, slice):
            return [self[place] for place in range(*k.indices(self._count))]
        place = range(self._count)[k]
        known = {name: values[place] for name, values in self._columns.items()}
        return {**self._make(place), **known, **self._more.get(place, {})}

    def add(self, k: int, **values: object) -> None:
        """Add fields to a row."""
        self._more.setdefault(k, {}).update(values)

    def added(self, name: str) -> list[int]:
        """Return the numbers of the rows that a field was added to, in order."""
        return sorted(k for k, fields in self._more.items() if name in fields)

    def has_added(self, names: Collection[str]) -> bool:
        """Return whether one of some fields was added to a row, or to one of the source."""
        of_source = self._source is not None and self._source.has_added(names)
        return of_source or any(name in fields for fields in self._more.values() for name in names)

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> LazyRows:
        """Return the rows with other values of some fields, known of all."""
        return LazyRows(self._count, lambda k: self[k], {**self._columns, **columns}, self)

    def mapped(self, turn: Callable[[Row], Row]) -> LazyRows:
        """Return the rows turned into others. `turn` takes the fields that are known of all rows too, as lists."""
        columns = turn({name: of if isinstance(of, list) else list(of) for name, of in self._columns.items()})
        return LazyRows(self._count, lambda k: turn({**self._make(k), **self._more.get(k, {})}), columns, self)

    def taken(self, order: Sequence[int]) -> LazyRows:
        """Return some of the rows, in this order."""
        if list(order) == list(range(self._count)):
            return self
        columns = {name: [values[k] for k in order] for name, values in self._columns.items()}
        return LazyRows(len(order), lambda k: self[order[k]], columns, self)

    def columns(self, names: Sequence[str]) -> list[Sequence[Any]]:
        """Return the values (n) of some fields; None in rows that do not have one."""
        if all(name in self._columns for name in names):
            return [self._columns[name] for name in names]
        values = [[row.get(name) for name in names] for row in self]
        return [[row[k] for row in values] for k in range(len(names))]


def column(rows: Sequence[Row], name: str) -> Sequence[Any]:
    """Return the values (n) of a field, without making rows of which it is known; None in rows that do not have it."""
    return columns(rows, name)[0]


def columns(rows: Sequence[Row], *names: str) -> list[Sequence[Any]]:
    """Return the values (n) of some fields, as `column`."""
    if isinstance(rows, LazyRows):
        return rows.columns(names)
    return [[row.get(name) for row in rows] for name in names]


def added(rows: Sequence[Row], name: str) -> list[int]:
    """Return the numbers of the rows that a field was added to, of lazy rows to these themselves."""
    return rows.added(name) if isinstance(rows, LazyRows) else [k for k, row in enumerate(rows) if name in row]


def has_added(rows: Sequence[Row], *names: str) -> bool:
    """Return whether a row has one of some fields that are added to rows and never made with them."""
    if isinstance(rows, LazyRows):
        return rows.has_added(names)
    return any(name in row for row in rows for name in names)


def mapped(rows: Sequence[Row], turn: Callable[[Row], Row]) -> Sequence[Row]:
    """Return rows converted into others, on access where the rows are lazy."""
    return rows.mapped(turn) if isinstance(rows, LazyRows) else [turn(row) for row in rows]


def taken(rows: Sequence[Row], order: Sequence[int]) -> Sequence[Row]:
    """Return some of the rows, in this order, made on access where the rows are lazy."""
    return rows.taken(order) if isinstance(rows, LazyRows) else [rows[k] for k in order]


def joined_rows(first: Sequence[Row], other: Sequence[Row]) -> LazyRows:
    """Return the rows of both, one after the other."""
    return LazyRows(len(first) + len(other), lambda k: first[k] if k < len(first) else other[k - len(first)])
