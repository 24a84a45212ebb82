"""Readings, worth and crossing by hand; that amendments equal full counts is tested with the measures."""

from __future__ import annotations

import numpy as np
import pytest

from categories import table
from crypsis.kernels import ledger
from crypsis.searches.maskings.files import Files, seven


@pytest.fixture
def files():
    rng = np.random.default_rng(2)
    original, *masked = (table(rng.integers(0, 4, (25, 3)), [4, 4, 4], [True, True, False]) for _ in range(4))
    return Files(original, masked, seven())


def test_worth_by_hand():
    assert ledger.worth(20.0, 30.0, np.array([0.0, 1.0, 1.0, 1.0])) == 25.0
    assert ledger.worth(20.0, 30.0, np.array([1.0, 1.0, 1.0, 0.0])) == 30.0
    assert ledger.worth(20.0, 30.0, np.array([1.0, 2.0, 1.0, 1.0])) == 40.0 + 35.0


def test_halves_by_hand():
    readings = np.array([3.0, 6.0, 9.0, 1.0, 2.0, 3.0, 6.0])
    assert ledger.halves(readings, np.ones(7, dtype=np.bool_)) == (6.0, 3.0)
    only = np.array([True, False, False, False, True, False, True])
    assert ledger.halves(readings, only) == (3.0, 4.0)


def test_no_pairs_leave_the_mixture_where_it_starts():
    assert ledger.mixture(np.zeros(4, dtype=np.int64), 2, 10).tolist() == [0.9, 0.9, 0.1, 0.1, 0.1]


def test_a_rejected_change_leaves_every_tally_as_it_was(files):
    before = [array.copy() for array in files.stack.tallies]
    files.trial.pairs[0] = 0.0  # nothing can beat this
    moves = np.array([[3, 0, 1], [3, 1, 2], [7, 2, 0], [7, 2, 3]])
    assert ledger.attempts(files.stack.frame, files.stack.tallies, files.trial, 0, moves) == 0
    for old, new in zip(before, files.stack.tallies, strict=True):
        assert np.array_equal(old, new)


def test_crossing_equals_a_fresh_count(files):
    stack = files.stack
    for first, last in [(0, 74), (4, 4), (10, 31)]:
        child = stack.tallies.codes[0].copy()
        child.ravel()[first : last + 1] = stack.tallies.codes[1].ravel()[first : last + 1]
        stack.copy(0, 3)
        ledger.cross(stack.frame, stack.tallies, 1, 3, first, last)
        stack.fill(4, child)
        for array in stack.tallies:
            assert np.array_equal(array[3], array[4])
