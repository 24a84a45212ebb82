"""Values as the Data page shows them: counts of common ones, and on demand the people whose values are rarest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.table.attribute import date_text
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import RARE
from crypsis.table.table import Table

MOST_BARS = 12
"""Bars of a small chart."""


@dataclass(frozen=True)
class RarePerson:
    """A record that no other one equals, and how many records hold each of its values."""

    row: int  # from 0
    holders: dict[str, int]  # by column, the rarest value first


def find_rarest_people(table: Table, names: Sequence[str], most: int) -> list[RarePerson]:
    """Records that are alone with their values of some columns, those whose values fewest others hold first.

    >>> people = Table.from_columns({"sex": list("ffffm"), "town": list("aabbb")})
    >>> find_rarest_people(people, ["sex", "town"], 2)
    [RarePerson(row=4, holders={'sex': 1, 'town': 3})]
    """
    names = [name for name in names if name in table.names]
    if not names:
        return []
    codes = table.codes(names) + 1
    holders = np.stack([np.bincount(column)[column] for column in codes.T], axis=1)
    rarity = np.log(holders).sum(axis=1)
    alone = np.flatnonzero(equivalence_class_sizes(table, names) == 1)
    rows = alone[np.argsort(rarity[alone], kind="stable")[:most]]
    return [
        RarePerson(int(row), {names[at]: int(holders[row, at]) for at in np.argsort(holders[row], kind="stable")})
        for row in rows
    ]


@dataclass(frozen=True)
class ValueBar:
    """A bar: its label, empty for the inner bars of numbers, its records, and its height, 0 to 100."""

    label: str
    count: int
    height: float


def value_bars(table: Table, name: str) -> list[ValueBar]:
    """The distribution of a column: its commonest values, or equal steps of its numbers; fewer than three are 0.

    >>> people = Table.from_columns({"town": ["a"] * 6 + ["b"] * 3 + ["c"]})
    >>> [(bar.label, bar.count) for bar in value_bars(people, "town")]
    [('a', 6), ('b', 3)]
    """
    codes = table.codes([name])[:, 0]
    _, first, counts = np.unique(codes[codes != MISSING], return_index=True, return_counts=True)
    if table.holds_numbers(name) and len(counts) > MOST_BARS:
        return _steps(table, name)
    cells = table.column(name)[np.flatnonzero(codes != MISSING)[first]]
    kept = [(cell, int(count)) for cell, count in zip(cells, counts, strict=True) if count >= RARE]
    if not table.holds_numbers(name):
        kept = sorted(kept, key=lambda pair: -pair[1])
    labels = [f"{cell:g}" if table.holds_numbers(name) else table.labels(name)[int(cell)] for cell, _ in kept]
    return _bars(labels[:MOST_BARS], [count for _, count in kept[:MOST_BARS]])


def _steps(table: Table, name: str) -> list[ValueBar]:
    """Equal steps between the numbers that one in a hundred records is below and above: no extreme value is shown."""
    numbers = table.column(name)
    numbers = numbers[~np.isnan(numbers)]
    low, high = np.quantile(numbers, [0.01, 0.99])
    counts, edges = np.histogram(
        numbers, bins=MOST_BARS, range=(float(low), float(high) if high > low else float(low) + 1)
    )
    shown = [int(count) if count >= RARE else 0 for count in counts]
    dates = table.attribute(name).dates

    def label(number: float) -> str:
        return date_text(number, dates) if dates else f"{number:.3g}"

    return _bars([label(edges[0]), *[""] * (MOST_BARS - 2), label(edges[-1])], shown)


def _bars(labels: list[str], counts: list[int]) -> list[ValueBar]:
    most = max(counts, default=1) or 1
    return [ValueBar(label, count, 100 * count / most) for label, count in zip(labels, counts, strict=True)]
