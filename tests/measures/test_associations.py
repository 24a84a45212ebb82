"""Ties between columns: against scipy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from scipy.stats.contingency import association

from crypsis.measures.utility.associations import (
    association_changes,
    correlation_ratio,
    measure_association_by_cramer,
    pearson,
)
from crypsis.table.table import Table

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=8, max_size=60)


@given(codes)
def test_cramer_equals_scipy_after_the_correction(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(each) for each in zip(*pairs, strict=True))
    table = np.zeros((4, 3), dtype=np.int64)
    np.add.at(table, (a, b), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        assert measure_association_by_cramer(a, b) == 0.0
        return
    n, (r, c) = len(a), table.shape
    plain = association(table, method="cramer", correction=False)
    phi = max(plain**2 * (min(r, c) - 1) - (r - 1) * (c - 1) / (n - 1), 0)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    # The square is a difference: where nothing is left of it but rounding, its root is some 1e-8.
    assert measure_association_by_cramer(a, b) == pytest.approx(
        min(np.sqrt(phi / least), 1.0) if least > 0 else 0.0, abs=1e-6
    )


def test_pearson_and_ratio_by_hand() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 1.0, 4.0, 4.0])
    assert pearson(x, y) == pytest.approx(pearsonr(x, y)[0])
    assert pearson(x, np.ones(4)) == 0.0
    # groups (1, 2) and (3, 5): means 1.5 and 4, between 6.25, total 8.75
    assert correlation_ratio(x, np.array([0, 0, 1, 1])) == pytest.approx(np.sqrt(6.25 / 8.75))
    assert correlation_ratio(np.ones(4), np.array([0, 0, 1, 1])) == 0.0


def test_the_largest_change_comes_first() -> None:
    original = Table.from_columns({"x": [1, 2, 3, 4], "y": [1, 2, 3, 4], "town": ["a", "a", "b", "b"]})
    masked = original.with_columns({"y": np.array([4.0, 3.0, 2.0, 1.0])})
    changes = association_changes(original, masked, original.names)
    assert (changes[0].first, changes[0].second, changes[0].tie) == ("x", "y", "pearson")
    assert (changes[0].before, changes[0].after, changes[0].change) == (pytest.approx(1.0), pytest.approx(-1.0), 1.0)
    assert {each.tie for each in changes} == {"pearson", "ratio"}
