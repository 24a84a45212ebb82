from __future__ import annotations

import numpy as np
import pytest

from crypsis.evolution import Budget, Muting, Tally, evolve
from crypsis.evolution.loop import efficiency_in_loop
from evolution.puzzle import problem


def test_efficiency_is_the_papers_equation_nine():
    got = efficiency_in_loop(np.array([90.0, 100.0, 125.0]), np.array([100.0, 100.0, 100.0]))
    assert got.tolist() == pytest.approx([10.0, 0.0, -20.0])


def test_a_hand_counted_life():
    tally = Tally.empty(("a", "b"))
    tally = tally.born(1, np.array([0, 0, 1]), np.array([10.0, -20.0, 0.0]), np.array([True, False, True]))
    tally = tally.count_removals(1, np.array([0]), np.array([1]), np.array([False]))
    tally = tally.born(2, np.array([1]), np.array([5.0]), np.array([True]))
    tally = tally.count_removals(4, np.array([0, 1]), np.array([1, 1]), np.array([True, False]))
    first, second = tally.table()[:2]
    assert (first["created"], first["improved"], first["worsened"], first["useful"]) == (2, 1, 1, 1)
    assert (first["utilisation"], first["life_time"]) == (50.0, 1.5)
    assert (first["best_gain"], first["worst_loss"]) == (10.0, -20.0)
    assert (second["utilisation"], second["life_time"]) == (100.0, 3.0)
    assert tally.last_useful.tolist() == [1, 2]


def test_muting_waits_then_silences_for_good_and_leaves_one_awake():
    tally = Tally.empty(("a", "b"))
    tally = tally.born(9, np.array([1]), np.array([5.0]), np.array([True]))
    rule = Muting(after=10, window=5)
    assert rule.find_muted(tally, 9, frozenset()) == frozenset()
    assert rule.find_muted(tally, 10, frozenset()) == {"a"}
    assert rule.find_muted(tally, 30, frozenset()) == {"a"}, "the last one useful stays on"
    assert rule.find_muted(tally, 11, frozenset({"b"})) == {"b"}, "silent stays silent, and one stays on"


def test_every_child_is_booked_once_and_dies_at_most_once():
    final = list(evolve(problem("elitist"), np.random.default_rng(3), Budget(generations=20)))[-1]
    tally = final.tally
    assert tally.column("created").sum(axis=1).tolist() == [3 * 2 + 4 + 2] * 20
    living = int((final.born > 0).sum())
    assert tally.column("died").sum() + living == tally.column("created").sum()
    assert (tally.column("unused") <= tally.column("died")).all()
    assert final.settle_tally().column("died").sum() == tally.column("created").sum()


def test_long_runs_keep_short_tallies():
    tally = Tally.empty(("a",))
    for generation in range(1, 3000):
        tally = tally.born(generation, np.array([0]), np.array([float(generation)]), np.array([True]))
    assert len(tally.counts) <= 1024
    assert tally.step == 4
    assert tally.column("created").sum() == 2999
    assert tally.column("best_gain").max() == 2999
