"""Patterns of households: by hand, by sorted members, and where sums of hashes collide."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.table import households as module
from crypsis.table.households import group_alike_households, household_member_words, read_households
from crypsis.table.table import Table
from naive.population import households_alike

HOMES = st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 2)), min_size=1, max_size=25)


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


@settings(max_examples=150, deadline=None)
@given(HOMES, st.booleans())
def test_households_are_alike_if_their_sorted_members_are(people: list[tuple[int, int]], colliding: bool) -> None:
    """With hashes that are all equal, only the members tell households apart."""
    homes, classes = (np.array(each, dtype=np.int64) for each in zip(*people, strict=True))
    words = (lambda each: np.ones((len(each), 2), dtype=np.uint64)) if colliding else household_member_words
    found, slow = group_alike_households(homes, classes, words), households_alike(homes.tolist(), classes.tolist())
    assert {home: int(found.alike[home]) for home in slow} == slow
    assert all(found.pattern[home] == -1 for home in set(homes.tolist()) - set(slow))
    assert found.count == len({pattern for pattern in found.pattern.tolist() if pattern >= 0})


def test_a_record_without_a_household_is_one_of_its_own() -> None:
    table = Table.from_columns({"home": ["h", None, "h", None]}, {"home": "household"})
    homes = read_households(table)
    assert homes[0] == homes[2]
    assert len(set(homes.tolist())) == 3
    with pytest.raises(TableError, match="role 'household'"):
        read_households(Table.from_columns({"home": ["h"]}, {"home": "quasi"}))
