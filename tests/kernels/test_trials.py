"""Worth, preference, following and single changes on trial, against hand-sized cases and full counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import ledgers, table
from crypsis.kernels import mutations


def some_files(seed, rows=25):
    rng = np.random.default_rng(seed)
    original, *masked = (table(rng.integers(0, 4, (rows, 3)), [4, 4, 4], [True, True, False]) for _ in range(4))
    return ledgers(original, masked)


@pytest.fixture
def files():
    return some_files(2)


def test_worth_by_hand():
    assert mutations.fitness(20.0, 30.0, np.array([0.0, 1.0, 1.0, 1.0])) == 25.0
    assert mutations.fitness(20.0, 30.0, np.array([1.0, 1.0, 1.0, 0.0])) == 30.0
    assert mutations.fitness(20.0, 30.0, np.array([1.0, 2.0, 1.0, 1.0])) == 40.0 + 35.0


def test_halves_by_hand():
    readings = np.array([3.0, 6.0, 9.0, 1.0, 2.0, 3.0, 6.0])
    assert mutations.halves(readings, np.ones(7, dtype=np.bool_)) == (6.0, 3.0)
    only = np.array([True, False, False, False, True, False, True])
    assert mutations.halves(readings, only) == (3.0, 4.0)
    first = np.arange(7) < 3
    assert mutations.halves(readings, first) == (6.0, 0.0)
    assert mutations.halves(readings, ~first) == (0.0, 3.0)


def test_preference_by_hand():
    """The greater side decides; where it is the same, a neutral child needs a sum that is no greater."""
    pair, goal = np.array([20.0, 30.0]), np.array([1.0, 1.0, 1.0, 0.0])
    for loss, risk, strictly, neutrally in [
        (25.0, 29.0, True, True),
        (10.0, 30.0, False, True),
        (20.0, 30.0, False, True),
        (21.0, 30.0, False, False),
        (10.0, 31.0, False, False),
    ]:
        assert mutations.is_preferred(loss, risk, pair, goal, False) is strictly
        assert mutations.is_preferred(loss, risk, pair, goal, True) is neutrally


def test_a_rejected_change_leaves_every_tally_as_it_was(files):
    stack = files.stack
    codes = stack.tallies.codes[0].copy()
    changes = np.array([[3, 0, 1], [3, 1, 2], [7, 2, (codes[7, 2] + 1) % 4], [7, 2, codes[7, 2]]])
    before = [array.copy() for array in stack.tallies]
    files.trial.pairs[0] = 0.0  # nothing can beat this
    tried, kept, last, loss, risk = mutations.attempts(stack.frame, stack.tallies, files.trial, 0, changes, True)
    assert (kept, last) == (0, 2), "the last change changes nothing and is passed over"
    assert tried == sum(codes[row, column] != code for row, column, code in changes)
    for old, new in zip(before, stack.tallies, strict=True):
        assert np.array_equal(old, new)
    codes[7, 2] = changes[2, 2]
    stack.fill(3, codes)
    assert (loss, risk) == mutations.halves(stack.read(3), stack.frame.chosen)


def test_where_nothing_can_be_tried_nothing_is(files):
    stack, codes = files.stack, files.stack.tallies.codes[0]
    changes = np.array([[3, 0, codes[3, 0]]])
    tried, kept, last, loss, risk = mutations.attempts(stack.frame, stack.tallies, files.trial, 0, changes, True)
    assert (tried, kept, last) == (0, 0, -1)
    assert np.isnan([loss, risk]).all()


def test_following_equals_a_fresh_count(files):
    stack = files.stack
    for first, last in [(0, 74), (4, 4), (10, 31)]:
        child = stack.tallies.codes[0].copy()
        child.ravel()[first : last + 1] = stack.tallies.codes[1].ravel()[first : last + 1]
        stack.copy(0, 3)
        mutations.follow(stack.frame, stack.tallies, 3, child)
        stack.fill(4, child)
        for array in stack.tallies:
            assert np.array_equal(array[3], array[4])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_attempts_keep_what_is_preferred(seed, barred, neutral):
    """Against full counts: a change stays if its worth is less or, if neutral, equal with no greater sum of both."""
    files = some_files(seed % 1000, rows=6)
    stack, trial, rng = files.stack, files.trial, np.random.default_rng(seed)
    chosen = stack.frame.chosen
    trial.goals[0] = rng.choice([0.0, 0.5, 1.0], 4)
    if barred:
        strides, allowed = np.array([36, 6, 1]), rng.random(216) < 0.7
        trial = trial._replace(strides=strides, allowed=allowed)
    changes = np.stack([rng.integers(0, 6, 8), rng.integers(0, 3, 8), rng.integers(0, 4, 8)], axis=1)
    codes, readings = stack.tallies.codes[0].copy(), stack.read(0)
    tried, kept, last, scores = 0, 0, -1, (np.nan, np.nan)
    for place, (row, attribute, code) in enumerate(changes):
        changed = codes.copy()
        changed[row, attribute] = code
        if (changed == codes).all() or (barred and not allowed[changed[row] @ strides]):
            continue
        stack.fill(3, changed)
        fresh = stack.read(3)
        scores, before = mutations.halves(fresh, chosen), mutations.halves(readings, chosen)
        tried, last = tried + 1, place
        now, then = mutations.fitness(*scores, trial.goals[0]), mutations.fitness(*before, trial.goals[0])
        if now < then or (neutral and now == then and sum(scores) <= sum(before)):
            codes, readings, kept = changed, fresh, kept + 1
    found = mutations.attempts(stack.frame, stack.tallies, trial, 0, changes, neutral)
    assert found[:3] == (tried, kept, last)
    assert found[3:] == pytest.approx(scores, abs=0, nan_ok=True)
    assert stack.tallies.codes[0].tolist() == codes.tolist()
    assert trial.readings[0].tolist() == readings.tolist()
    assert tuple(trial.pairs[0]) == mutations.halves(readings, chosen)
    stack.fill(3, codes)
    for array in stack.tallies:
        assert np.array_equal(array[0], array[3])
