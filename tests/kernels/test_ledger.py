"""Readings, worth and crossing by hand; that amendments equal full counts is tested with the measures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import table
from crypsis.kernels import ledger
from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
from crypsis.measures.probabilistic_linkage import ProbabilisticLinkage
from crypsis.searches.maskings.files import Files, seven
from naive import categorical as naive


def some_files(seed, rows=25):
    rng = np.random.default_rng(seed)
    original, *masked = (table(rng.integers(0, 4, (rows, 3)), [4, 4, 4], [True, True, False]) for _ in range(4))
    return Files(original, masked, seven())


@pytest.fixture
def files():
    return some_files(2)


def test_worth_by_hand():
    assert ledger.fitness(20.0, 30.0, np.array([0.0, 1.0, 1.0, 1.0])) == 25.0
    assert ledger.fitness(20.0, 30.0, np.array([1.0, 1.0, 1.0, 0.0])) == 30.0
    assert ledger.fitness(20.0, 30.0, np.array([1.0, 2.0, 1.0, 1.0])) == 40.0 + 35.0


def test_halves_by_hand():
    readings = np.array([3.0, 6.0, 9.0, 1.0, 2.0, 3.0, 6.0])
    assert ledger.halves(readings, np.ones(7, dtype=np.bool_)) == (6.0, 3.0)
    only = np.array([True, False, False, False, True, False, True])
    assert ledger.halves(readings, only) == (3.0, 4.0)
    first = np.arange(7) < 3
    assert ledger.halves(readings, first) == (6.0, 0.0)
    assert ledger.halves(readings, ~first) == (0.0, 3.0)


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


def test_credit_by_hand():
    """Three tuples: one of two tied is own, the only one is, and nobody; of ten records."""
    hits, ties = np.array([1, 1, 0]), np.array([2, 1, 5])
    assert ledger.linkage_risk(hits, ties, ledger.EXPECTED, 10) == 100 * (1 / 2 + 1) / 10
    assert ledger.linkage_risk(hits, ties, ledger.STRICT, 10) == 100 * 1 / 10
    assert ledger.linkage_risk(np.array([2, 1, 0]), ties, ledger.ANY, 10) == 100 * 3 / 10


def test_greatest_weight_by_hand():
    """Two attributes, patterns 0 … 3; agreeing everywhere weighs most, so a tuple's candidates are the first it sees.

    Tuple 0 sees two that agree in both, one of them its own; tuple 1 one in both, not its own; tuple 2 only
    strangers to both attributes, its own among three; tuple 3 none; tuples 4 and 5 a single one, their own.
    """
    seen, own = np.zeros((6, 4), dtype=np.int32), np.zeros((6, 4), dtype=np.int32)
    seen[:] = [[9, 0, 0, 2], [8, 2, 0, 1], [3, 0, 0, 0], [0, 0, 0, 0], [5, 4, 3, 1], [9, 0, 0, 1]]
    own[:] = [[0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]]
    patterns = seen.sum(axis=0).astype(np.int64)
    expected = 100 * (1 / 2 + 1 / 3 + 1 + 1) / 6
    assert ledger.pattern_risk(own, seen, patterns, 2, ledger.EXPECTED, 6) == pytest.approx(expected)
    assert ledger.pattern_risk(own, seen, patterns, 2, ledger.STRICT, 6) == pytest.approx(100 * 2 / 6)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.integers(1, 40), st.integers(0, 2**32))
def test_mixture_equals_its_twin(attributes, rows, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, 2**attributes) * (rng.random(2**attributes) < 0.7)
    counts[rng.integers(len(counts))] += 1
    keys = [tuple(pattern >> j & 1 for j in range(attributes)) for pattern in range(len(counts))]
    m, u, share = naive.mixture({key: int(count) for key, count in zip(keys, counts, strict=True) if count}, rows)
    assert ledger.mixture(counts, attributes, rows) == pytest.approx([*m, *u, share], abs=1e-9)
    for key, weight in zip(keys, ledger.pattern_weights(counts, attributes, rows), strict=True):
        odds = [m[j] / u[j] if same else (1 - m[j]) / (1 - u[j]) for j, same in enumerate(key)]
        assert weight == pytest.approx(np.log2(odds).sum(), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_every_reading_is_that_of_its_own_measure(seed):
    """Seven settings at once, none of them the other's: each reading as the measure alone gives it."""
    chosen = seven([
        ContingencyLoss(order=3), DistanceLoss(divisor="range"), EntropyLoss(), CategoryDisclosure(width=0.5),
        CategoryLinkage(ties="strict"), ProbabilisticLinkage(ties="expected"), RankLinkage(window=25),
    ])  # fmt: skip
    rng = np.random.default_rng(seed)
    original, masked = (table(rng.integers(0, 4, (20, 3)), [4, 4, 4], [True, True, False]) for _ in range(2))
    read = Files(original, [masked], chosen).readings[0]
    assert read.tolist() == [measure.against(original).read(masked) for measure in chosen]
    alone = Files(original, [masked], seven([DistanceLoss(), RankLinkage(window=25)])).readings[0]
    assert np.flatnonzero(~np.isnan(alone)).tolist() == [1, 6]


def test_entropy_by_hand():
    """Masked a: known to hide half a bit for each of four; masked b: originals 2 and 2, one bit for each of four.

    Masked c: nobody. A second attribute cannot lose, and counts as one that lost nothing.
    """
    shape = ledger.Shape(*(np.array(x) for x in ([0, 6, 8], [2, 2], [0, 3, 4], np.zeros((0, 2), int), [])))
    pairs, totals = np.array([3, 1, 2, 2, 0, 0, 4, 4], dtype=np.int32), np.array([4, 4, 0, 8], dtype=np.int32)
    steps = np.array([0.0, *(c * np.log2(c) for c in range(1, 9))])
    known, logs = np.array([0.5, np.nan, 7.0, np.nan]), np.array([2.0, 0.0])
    loss = ledger.entropy_loss(pairs, totals, shape, known, logs, steps)
    assert loss == pytest.approx(100 * (4 * 1 + 4 * 0.5) / (8 * 2.0) / 2)


def test_counted_losses_by_hand():
    assert ledger.contingency_loss(3, 8.0) == 37.5
    assert ledger.distance_loss(np.array([3, 2]), np.array([4.0, 1.0]), 5) == pytest.approx(100 * (0.75 + 2) / (5 * 2))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_attempts_keep_what_is_no_worse(seed, barred):
    """Against full counts: a move stays if its worth is less, or equal with no greater sum of loss and risk."""
    files = some_files(seed % 1000, rows=6)
    stack, trial, rng = files.stack, files.trial, np.random.default_rng(seed)
    chosen = stack.frame.chosen
    trial.goals[0] = rng.choice([0.0, 0.5, 1.0], 4)
    if barred:
        strides, allowed = np.array([36, 6, 1]), rng.random(216) < 0.7
        trial = trial._replace(strides=strides, allowed=allowed)
    moves = np.stack([rng.integers(0, 6, 8), rng.integers(0, 3, 8), rng.integers(0, 4, 8)], axis=1)
    codes, readings, kept = stack.tallies.codes[0].copy(), stack.read(0), 0
    for row, attribute, code in moves:
        changed = codes.copy()
        changed[row, attribute] = code
        if (changed == codes).all() or (barred and not allowed[changed[row] @ strides]):
            continue
        stack.fill(3, changed)
        fresh = stack.read(3)
        (loss, risk), before = ledger.halves(fresh, chosen), ledger.halves(readings, chosen)
        now, then = ledger.fitness(loss, risk, trial.goals[0]), ledger.fitness(*before, trial.goals[0])
        if now < then or (now == then and loss + risk <= sum(before)):
            codes, readings, kept = changed, fresh, kept + 1
    assert ledger.attempts(stack.frame, stack.tallies, trial, 0, moves) == kept
    assert stack.tallies.codes[0].tolist() == codes.tolist()
    assert trial.readings[0].tolist() == readings.tolist()
    assert tuple(trial.pairs[0]) == ledger.halves(readings, chosen)
    stack.fill(3, codes)
    for array in stack.tallies:
        assert np.array_equal(array[0], array[3])
