from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crypsis.evolution import selection
from naive import dominance as naive

rows = arrays(np.float64, st.tuples(st.integers(1, 15), st.just(2)), elements=st.integers(0, 9).map(float))


def test_worths_by_hand():
    scores = np.array([[1.0, 3.0], [4.0, 0.0]])
    assert selection.WeightedMean()(scores).tolist() == [2.0, 2.0]
    assert selection.WeightedMean((3.0, 1.0))(scores).tolist() == [1.5, 3.0]
    assert selection.Worst()(scores).tolist() == [3.0, 4.0]
    assert selection.roulette_weights(np.array([1.0, 4.0])).tolist() == [4.0, 1.0]


@settings(max_examples=50, deadline=None)
@given(rows)
def test_dominance_order_never_puts_a_later_front_first(scores):
    order = selection.DominanceOrder()(scores)
    assert np.floor(np.minimum(order, np.round(order) + 0.5)).astype(int).tolist() == naive.fronts(scores.tolist())


def test_ends_of_a_front_come_before_its_crowd():
    scores = np.array([[0.0, 10.0], [5.0, 5.0], [5.1, 4.9], [10.0, 0.0]])
    order = selection.DominanceOrder()(scores)
    assert set(np.argsort(order, kind="stable")[:2].tolist()) == {0, 3}


def test_truncation_prefers_the_earlier_of_equals():
    assert selection.truncation(np.array([2.0, 1.0, 1.0]), 2).tolist() == [1, 2]


def test_roulette_follows_its_weights_and_survives_their_absence():
    rng = np.random.default_rng(0)
    drawn = selection.roulette(np.array([1.0, 0.0, 3.0]), 4000, rng)
    counts = np.bincount(drawn, minlength=3)
    assert counts[1] == 0
    assert abs(counts[2] / 4000 - 0.75) < 0.03
    assert set(selection.roulette(np.zeros(3), 100, rng).tolist()) == {0, 1, 2}


def test_tournament_of_all_is_won_by_the_best():
    winners = selection.tournament(np.array([3.0, 0.0, 2.0]), 200, np.random.default_rng(0), contestants=12)
    assert np.bincount(winners, minlength=3)[1] > 190
