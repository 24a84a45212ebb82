"""Minimal sample uniques: by hand, by trying every set of columns, and with a limit on their size."""

from __future__ import annotations

import doctest
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.table import sample_uniques as module
from crypsis.table.sample_uniques import largest_sample_unique_size, minimal_sample_uniques
from naive.population import minimal_uniques

TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(-1, 2), min_size=width, max_size=width), min_size=1, max_size=12)
)


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


@settings(max_examples=150, deadline=None)
@given(TABLES, st.integers(0, 4))
def test_equal_to_trying_every_set_of_columns(rows: list[list[int]], limit: int) -> None:
    codes, width = np.array(rows, dtype=np.int32), len(rows[0])
    largest = min(limit or width, width)
    slow = [{each for each in found if len(each) <= largest} for found in minimal_uniques(rows)]
    fast = minimal_sample_uniques(codes, limit)
    assert fast.largest == largest
    assert fast.count().tolist() == [len(each) for each in slow]
    assert fast.smallest().tolist() == [min(map(len, each), default=0) for each in slow]
    assert fast.scores().tolist() == [sum(factorial(width - len(s)) for s in each) for each in slow]
    other = [sum((2 ** (width - len(s)) - 1) / comb(width, len(s)) for s in each) for each in slow]
    assert fast.scores(alternative=True) == pytest.approx(other)
    total = sum(factorial(width - len(s)) for each in slow for s in each)
    parts = [sum(factorial(width - len(s)) for each in slow for s in each if c in s) for c in range(width)]
    assert fast.contributions() == pytest.approx([part / total if total else 0.0 for part in parts])


def test_scores_of_intrusion_by_hand() -> None:
    """Two columns, S = (1, 1), one class of two: P = 2, Q = 1.3, Σ S^−Q = 2, so that DIS is δ."""
    uniques = minimal_sample_uniques(np.array([[0, 0], [0, 1], [1, 0], [1, 0]]))
    assert uniques.scores().tolist() == [1, 1, 0, 0]
    assert uniques.intrusion_scores(0.2).tolist() == pytest.approx([0.2, 0.2, 0, 0])
    assert uniques.intrusion_scores(1.0).tolist() == [1, 1, 0, 0], "a census leaves no doubt"


def test_without_classes_of_two_every_score_is_one() -> None:
    assert minimal_sample_uniques(np.array([[0], [1], [2]])).intrusion_scores(0.01).tolist() == [1, 1, 1]


def test_wide_tables_are_looked_at_as_far_as_time_allows() -> None:
    assert largest_sample_unique_size(10_000, 20) == 3
    assert largest_sample_unique_size(10**9, 5) == 1
    assert [largest_sample_unique_size(100, columns) for columns in (12, 13, 28)] == [12, 6, 3]
