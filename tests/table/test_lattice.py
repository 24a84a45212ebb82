"""Nodes by number, levels described, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from crypsis.errors import TableError
from crypsis.measures.masking_description import describe_masking_level
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice, LevelDescription
from crypsis.table.lazy import count_distinct_lazily
from crypsis.table.table import Table
from crypsis.text import level_text, node_text
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


def test_descriptions_of_levels():
    ages = [[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(20, 50)]
    pay = [[str(a), f"[{a // 4 * 4}, {a // 4 * 4 + 4})", "*"] for a in range(12)]
    towns = [["Turku", "Finland", "*"], ["Tartu", "Estonia", "*"]]
    lattice = Lattice((attribute("age", ages), attribute("pay", pay), attribute("town", towns)))
    age, pay_, town = lattice.attributes
    assert describe_masking_level(age, 0) == LevelDescription("age", 0, 30, unchanged=True)
    assert describe_masking_level(age, 1) == LevelDescription("age", 1, 3, 10.0, "year", unchanged=False)
    assert describe_masking_level(age, 2).hidden
    assert describe_masking_level(pay_, 1) == LevelDescription("pay", 1, 3, 4.0, "", unchanged=False)
    assert describe_masking_level(town, 1) == LevelDescription("town", 1, 2, 0.0, "", unchanged=False)
    assert node_text(lattice, (1, 1, 1)) == "age in 10-year bands, pay in bands of 4, town in 2 groups"
    assert node_text(lattice, (0, 0, 2)) == "town hidden, the rest as collected"
    assert node_text(lattice, (2, 0, 2)) == "age and town hidden, the rest as collected"
    assert node_text(lattice, (0, 0, 0)) == "everything as collected"


def test_a_level_that_repeats_the_values_is_as_collected():
    level = describe_masking_level(attribute("town", [["Turku", "Turku", "*"], ["Tartu", "Tartu", "*"]]), 1)
    assert level.unchanged
    assert not level.hidden
    assert level_text(level) == "as collected"


def test_refusals():
    table = random_table(2, 9, 2)
    lattice = Lattice.of(table)
    with pytest.raises(TableError, match="has no level 9"):
        node_text(lattice, (9, 0))
    with pytest.raises(TableError, match="1 levels were given for 2 columns"):
        lattice.check((0,))


@given(tables)
@settings(max_examples=30, deadline=None)
def test_distinct_tuples_by_a_dictionary(table):
    names = [*Lattice.of(table).names, "illness"]
    counts = count_distinct_lazily(table, names)
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
        count_distinct_lazily(Table((town,), (column,)), ["town"])
    assert "unique" not in str(refusal.value)
