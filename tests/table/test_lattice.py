"""Nodes by number and in words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from crypsis.errors import TableError
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.counts import count_distinct
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice, describe
from crypsis.table.table import Table
from lattice_tables import random_table, tables


@given(tables)
@settings(max_examples=30, deadline=None)
def test_numbers_and_levels_are_one_to_one(table):
    lattice = Lattice.of(table)
    nodes = lattice.nodes()
    assert len(nodes) == lattice.size
    for number in range(0, lattice.size, 7):
        assert lattice.levels(number) == tuple(nodes[number].tolist())
        assert lattice.number(lattice.levels(number)) == number
    assert lattice.levels(0) == lattice.bottom
    assert lattice.levels(lattice.size - 1) == lattice.top


def attribute(name, rows):
    return Attribute(name, Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple(r[0] for r in rows), Hierarchy.from_rows(rows))


def test_words():
    ages = [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(20, 50)]
    pay = [[str(a), f"[{a // 4 * 4}, {a // 4 * 4 + 4})", "*"] for a in range(12)]
    towns = [["Turku", "Finland", "*"], ["Tartu", "Estonia", "*"]]
    lattice = Lattice((attribute("age", ages), attribute("pay", pay), attribute("town", towns)))
    assert lattice.words((1, 1, 1)) == "age in 10-year bands, pay in bands of 4, town in 2 groups"
    assert lattice.words((0, 0, 2)) == "town hidden, the rest as collected"
    assert lattice.words((2, 0, 2)) == "age and town hidden, the rest as collected"
    assert lattice.words((0, 0, 0)) == "everything as collected"
    assert describe(lattice.attributes[0], 0) == "age as collected"


def test_refusals():
    table = random_table(2, 9, 2)
    lattice = Lattice.of(table)
    with pytest.raises(TableError, match="has no level 9"):
        lattice.words((9, 0))
    with pytest.raises(TableError, match="1 levels were given for 2 columns"):
        lattice.check((0,))


@given(tables)
@settings(max_examples=30, deadline=None)
def test_distinct_tuples_by_a_dictionary(table):
    names = [*Lattice.of(table).names, "illness"]
    counts = count_distinct(table, names)
    rows = list(zip(*(table.codes([n])[:, 0].tolist() for n in names), strict=True))
    assert {tuple(r): int(c) for r, c in zip(counts.codes.tolist(), counts.records, strict=True)} == {
        row: rows.count(row) for row in set(rows)
    }
    assert counts.total == len(table)


def test_values_missing_from_a_hierarchy_are_counted_and_only_common_ones_named():
    tree = Hierarchy.from_rows([["a", "*"]])
    column = np.array([0] * 20 + [1] * 12 + [2], dtype=np.int32)
    town = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "common", "unique"), tree)
    with pytest.raises(TableError, match=r"2 of its 3 values \('common', and rare ones\) are absent") as refusal:
        count_distinct(Table((town,), (column,)), ["town"])
    assert "unique" not in str(refusal.value)
