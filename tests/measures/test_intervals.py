from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.measures.intervals import NORMAL_95, wilson


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(1, 10, 1.7876, 40.4150), (5, 10, 23.6593, 76.3407), (9, 10, 59.5850, 98.2124), (1, 1, 20.6549, 100)],
)
def test_by_hand(hits: int, trials: int, low: float, high: float) -> None:
    """z² = 3.8415; one of ten: centre (0.1 + 0.19207) / 1.38415, half width 1.96 · √(0.009 + 0.009604) / 1.38415."""
    assert wilson(hits, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 500), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_the_ends_are_the_rates_that_the_test_just_accepts(trials: int, share: float) -> None:
    """Both ends p solve (hits/n - p)² = z² p (1 - p) / n, one below the rate and one above it."""
    hits = share * trials
    low, high = (end / 100 for end in wilson(hits, trials))
    assert 0 <= low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= high <= 1
    for end in (low, high):
        assert (hits / trials - end) ** 2 == pytest.approx(NORMAL_95**2 * end * (1 - end) / trials, abs=1e-9)


@pytest.mark.parametrize("trials", [1, 2, 3, 5, 7, 10, 49, 100, 1001])
def test_none_and_all_reach_the_ends_exactly(trials: int) -> None:
    """z²/(n + z²) is the end that is left open."""
    open_end = 100 * NORMAL_95**2 / (trials + NORMAL_95**2)
    low, high = wilson(0, trials)
    assert (low, high) == (0.0, pytest.approx(open_end))
    low, high = wilson(trials, trials)
    assert (low, high) == (pytest.approx(100 - open_end), 100.0)


def test_without_trials_anything_is_possible() -> None:
    assert wilson(0, 0) == (0.0, 100.0)
