"""Which combinations of values a record may publish under edit rules, as tables that are looked up move by move."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.exchange_walk import ExchangeRules
from crypsis.table.rules import EditRule, violations
from crypsis.table.table import Table

Columns = tuple[str, ...]

MOST_COMBINATIONS = 500_000
"""Combinations of values of the columns of a rule up to which they are listed."""


def listable(table: Table, rule: EditRule) -> bool:
    """Whether the combinations of values that a rule speaks of can be listed."""
    return prod(len(_first_rows(table, name)) for name in rule.columns) <= MOST_COMBINATIONS


def _first_rows(table: Table, name: str) -> NDArray[np.int64]:
    """The first record with each value of a column, missing first where cells are."""
    return np.unique(table.codes([name])[:, 0], return_index=True)[1]


def rule_tables(table: Table, units: Sequence[Columns], rules: Sequence[EditRule]) -> ExchangeRules:
    """The rules as a walk looks them up.

    units  columns that are exchanged together
    rules  those that can be listed
    """
    names = list(dict.fromkeys(name for rule in rules for name in rule.columns))
    unit_of = {name: number for number, unit in enumerate(units) for name in unit}
    codes = [np.unique(table.codes([name])[:, 0], return_inverse=True)[1] for name in names]
    allowed, starts, strides, bounds = [np.zeros(0, np.bool_)], [], [], [0]
    for rule in rules:
        firsts = [_first_rows(table, name) for name in rule.columns]
        grid = np.indices([len(each) for each in firsts]).reshape(len(firsts), -1)
        others = rule.columns[1:]
        shown = table.take(firsts[0][grid[0]]).drop([name for name in table.names if name not in rule.columns])
        rest = zip(others, firsts[1:], grid[1:], strict=True)
        shown = shown.with_columns({name: table.column(name)[first[at]] for name, first, at in rest})
        starts.append(sum(map(len, allowed)))
        allowed.append(~violations(rule, shown))
        strides += [prod(len(each) for each in firsts[place + 1 :]) for place in range(len(firsts))]
        bounds.append(len(strides))
    columns = [name for rule in rules for name in rule.columns]
    return ExchangeRules(
        bounds=np.array(bounds, dtype=np.int32),
        columns=np.array([names.index(name) for name in columns], dtype=np.int32),
        units=np.array([unit_of.get(name, -1) for name in columns], dtype=np.int32),
        strides=np.array(strides, dtype=np.int64),
        codes=np.array(codes, dtype=np.int32).reshape(len(names), len(table)),
        allowed=np.concatenate(allowed),
        starts=np.array(starts, dtype=np.int64),
        exempt=np.array([violations(rule, table, collected=True) for rule in rules]).reshape(len(rules), len(table)),
    )


def broken(rules: ExchangeRules, donors: NDArray[np.int32]) -> NDArray[np.bool_]:
    """bool[n]: records that break a rule which they kept as collected.

    donors  int32[n, u]: whose values records publish
    """
    own, found = np.arange(len(donors)), np.zeros(len(donors), np.bool_)
    for r, start in enumerate(rules.starts):
        at = np.full(len(donors), start)
        for place in range(rules.bounds[r], rules.bounds[r + 1]):
            unit = rules.units[place]
            at += rules.strides[place] * rules.codes[rules.columns[place], own if unit < 0 else donors[:, unit]]
        found |= ~rules.allowed[at] & ~rules.exempt[r]
    return found


def ruled_together(rules: ExchangeRules, units: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Units that share a rule, and those whose rules speak of columns as collected.

    returns  int64[u]: equal for units that rules join;  bool[u]
    """
    joined, fixed = np.arange(units), np.zeros(units, np.bool_)
    for r in range(len(rules.starts)):
        inside = rules.units[rules.bounds[r] : rules.bounds[r + 1]]
        masked = inside[inside >= 0]
        if len(masked):
            joined[np.isin(joined, joined[masked])] = joined[masked].min()
            fixed[masked] |= bool((inside < 0).any())
    return joined, np.isin(joined, joined[fixed])
