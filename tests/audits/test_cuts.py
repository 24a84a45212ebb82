"""Masked categories that follow from which interval a published number lies in; and what is no such thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.audits import FindingKind, audit
from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.partial_values import _match_neighbours, find_partial_numbers
from crypsis.audits.published import Published
from crypsis.table.profile import profile
from crypsis.table.table import Table

ROLES = {"group": "quasi", "age": "quasi", "number": "confidential"}


def people(number: np.ndarray, group: np.ndarray) -> Table:
    ages = np.random.default_rng(5).integers(20, 60, len(number))
    return Table.from_columns({"group": [f"g{each}" for each in group], "age": ages, "number": number}, ROLES)


def masked(table: Table, share: float) -> Table:
    """Some cells of the group hold the value of another record."""
    rng, column = np.random.default_rng(3), table.column("group").copy()
    chosen = rng.random(len(column)) < share
    column[chosen] = rng.permutation(column)[chosen]
    return table.with_columns({"group": column})


@pytest.mark.parametrize("edges", [[2500.0], [1500.0, 2500.0, 3500.0]])
def test_intervals_of_a_number_restore_a_category(edges: list[float]) -> None:
    number = np.random.default_rng(1).uniform(500, 4500, 300)
    table = people(number, np.searchsorted(edges, number))
    shown = masked(table, 0.3)
    (each,) = find_partial_numbers(Published(shown, table))
    assert (each.kind, each.columns) == (FindingKind.DEPENDENCE, ("number", "group"))
    changed = int((shown.column("group") != table.column("group")).sum())
    assert 0.7 * changed < each.records <= changed
    assert each.refuses
    assert each in audit(shown, table).findings
    assert find_partial_numbers(Published(table, table)) == [], "nothing is masked"
    assert find_partial_numbers(Published(shown)) == [], "without an original nobody knows what is masked"
    assert {c.name: c.role for c in assign_default_roles(profile(table), table).columns}["number"] == "quasi"


@given(st.integers(0, 10_000), st.floats(0, 1.5))
@settings(max_examples=30, deadline=None)
def test_a_correlation_is_no_cut(seed: int, strength: float) -> None:
    """A group that is likelier the larger the number, or has nothing to do with it; few of one group."""
    rng = np.random.default_rng(seed)
    number, rows = rng.normal(0, 1, 200), 200
    for group in ((strength * number + rng.normal(0, 1, rows) > 0), rng.random(rows) < 0.03):
        table = people(number, group.astype(int))
        assert find_partial_numbers(Published(masked(table, 0.3), table)) == []


def test_the_order_of_rows_is_no_cut() -> None:
    """Few different numbers in a file that is sorted by group: equal numbers stand beside each other as in the file."""
    number = np.random.default_rng(2).integers(1, 4, 300).astype(float)
    table = people(number, np.arange(300) // 100)
    assert find_partial_numbers(Published(masked(table, 0.3), table)) == []


def test_two_records_on_either_side_decide() -> None:
    told = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0], dtype=np.int32)
    assert _match_neighbours(told).tolist() == [True, True, False, False, False, False, False, False, False]
