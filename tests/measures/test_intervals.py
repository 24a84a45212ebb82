from __future__ import annotations

import json
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.measures.intervals import NORMAL_95, score_confidence_interval, wilson_interval
from reference import conformance


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(1, 10, 1.7876, 40.4150), (5, 10, 23.6593, 76.3407), (9, 10, 59.5850, 98.2124), (1, 1, 20.6549, 100)],
)
def test_by_hand(hits: int, trials: int, low: float, high: float) -> None:
    """z² = 3.8415; one of ten: centre (0.1 + 0.19207) / 1.38415, half width 1.96 · √(0.009 + 0.009604) / 1.38415."""
    assert wilson_interval(hits, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 500), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_the_ends_are_the_rates_that_the_test_just_accepts(trials: int, share: float) -> None:
    """Both ends p solve (hits/n - p)² = z² p (1 - p) / n, one below the rate and one above it."""
    hits = share * trials
    low, high = (end / 100 for end in wilson_interval(hits, trials))
    assert 0 <= low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= high <= 1
    for end in (low, high):
        assert (hits / trials - end) ** 2 == pytest.approx(NORMAL_95**2 * end * (1 - end) / trials, abs=1e-9)


@pytest.mark.parametrize("trials", [1, 2, 3, 5, 7, 10, 49, 100, 1001])
def test_none_and_all_reach_the_ends_exactly(trials: int) -> None:
    """z²/(n + z²) is the end that is left open."""
    open_end = 100 * NORMAL_95**2 / (trials + NORMAL_95**2)
    low, high = wilson_interval(0, trials)
    assert (low, high) == (0.0, pytest.approx(open_end))
    low, high = wilson_interval(trials, trials)
    assert (low, high) == (pytest.approx(100 - open_end), 100.0)


def test_without_trials_anything_is_possible() -> None:
    assert wilson_interval(0, 0) == (0.0, 100.0)


SCORES = {
    "80 scores 1/3, 20 zeros, sample of 3000": (np.repeat([1 / 3, 0.0], [80, 20]), 3000, 2),
    "5 ones, 95 zeros, no finite population": (np.repeat([1.0, 0.0], [5, 95]), None, 1),
    "50 scores 1/5 then 50 zeros, groups of 5": (np.repeat([0.2, 0.0], [50, 50]), None, 5),
    "all 1/3": (np.full(100, 1 / 3), None, 5),
}


def test_score_intervals_are_those_of_the_published_vectors() -> None:
    cases = json.loads(conformance("score_intervals.json").read_text(encoding="utf-8"))["cases"]
    assert {each["case"] for each in cases} == set(SCORES)
    for each in cases:
        scores, population, size = SCORES[each["case"]]
        plain, grouped = (np.array(each[key]) * 100 for key in ("wilson-neff", "wilson-neff-groups"))
        assert score_confidence_interval(scores, population) == pytest.approx(plain, abs=1e-7)
        assert score_confidence_interval(scores, population, np.arange(100) // size) == pytest.approx(grouped, abs=1e-7)


def test_a_score_interval_by_hand() -> None:
    """Two scores of ½, with 0 and 1 added: variance 1/6 of four values, so 6 trials; Wilson of 3 hits in 6."""
    assert score_confidence_interval(np.array([0.5, 0.5])) == pytest.approx(wilson_interval(3, 6))
    assert score_confidence_interval(np.array([0.5, 0.5]), population=2) == (50.0, 50.0), "everybody was drawn"
    assert score_confidence_interval(np.array([])) == (0.0, 100.0)


@given(st.lists(st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]), min_size=2, max_size=200), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_a_score_interval_holds_its_mean_and_shrinks_as_the_draw_nears_the_file(scores: list[float], more: int) -> None:
    values = np.array(scores)
    low, high = score_confidence_interval(values)
    drawn = score_confidence_interval(values, len(values) + more)
    assert 0 <= low <= 100 * values.mean() + 1e-9
    assert 100 * values.mean() - 1e-9 <= high <= 100
    assert drawn[1] - drawn[0] <= high - low + 1e-9


@pytest.mark.parametrize("outside", [0.01, 0.1, 0.2])
def test_the_rate_at_an_end_is_as_unlikely_as_asked(outside: float) -> None:
    """Half of the probability lies beyond each end: the end itself, taken for the true rate, says how much."""
    for end in wilson_interval(30, 100, outside):
        rate = end / 100
        away = abs(0.3 - rate) / (rate * (1 - rate) / 100) ** 0.5
        assert 2 * (1 - NormalDist().cdf(away)) == pytest.approx(outside, rel=1e-9)
