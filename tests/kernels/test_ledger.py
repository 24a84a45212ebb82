"""Readings by hand; that amendments equal full counts is tested with the measures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from categories import ledgers, table
from crypsis.kernels import ledger
from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
from crypsis.measures.record_linkage import ProbabilisticLinkage
from naive import categorical as naive


def test_no_pairs_leave_the_mixture_where_it_starts():
    assert ledger.mixture(np.zeros(4, dtype=np.int64), 2, 10).tolist() == [0.9, 0.9, 0.1, 0.1, 0.1]


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
    fitted = ledger.mixture(patterns, 2, 6)
    assert ledger.pattern_risk(own, seen, fitted, ledger.EXPECTED, 6) == pytest.approx(expected)
    assert ledger.pattern_risk(own, seen, fitted, ledger.STRICT, 6) == pytest.approx(100 * 2 / 6)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.integers(1, 40), st.integers(0, 2**32))
def test_mixture_equals_its_twin(attributes, rows, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, 2**attributes) * (rng.random(2**attributes) < 0.7)
    counts[rng.integers(len(counts))] += 1
    keys = [tuple(pattern >> j & 1 for j in range(attributes)) for pattern in range(len(counts))]
    m, u, share = naive.mixture({key: int(count) for key, count in zip(keys, counts, strict=True) if count}, rows)
    assume(abs(sum(m) - sum(u)) > 1e-9)  # else rounding alone decides which class is called matches
    assert ledger.mixture(counts, attributes, rows) == pytest.approx([*m, *u, share], abs=1e-9)
    for key, weight in zip(keys, ledger.pattern_weights(ledger.mixture(counts, attributes, rows)), strict=True):
        odds = [m[j] / u[j] if same else (1 - m[j]) / (1 - u[j]) for j, same in enumerate(key)]
        assert weight == pytest.approx(np.log2(odds).sum(), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_every_reading_is_that_of_its_own_measure(seed):
    """Seven settings at once, none of them the other's: each reading as the measure alone gives it."""
    chosen = (
        ContingencyLoss(order=3), DistanceLoss(divisor="range"), EntropyLoss(), CategoryDisclosure(width=0.5),
        CategoryLinkage(ties="strict"), ProbabilisticLinkage(ties="expected"), RankLinkage(window=25),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    original, masked = (table(rng.integers(0, 4, (20, 3)), [4, 4, 4], [True, True, False]) for _ in range(2))
    read = ledgers(original, [masked], *chosen).trial.readings[0]
    assert read.tolist() == [measure.against(original).read(masked) for measure in chosen]
    alone = ledgers(original, [masked], DistanceLoss(), RankLinkage(window=25)).trial.readings[0]
    assert np.flatnonzero(~np.isnan(alone)).tolist() == [1, 6]


def test_entropy_by_hand():
    """Masked a: known to hide half a bit for each of four; masked b: originals 2 and 2, one bit for each of four.

    Masked c: nobody. A second attribute cannot lose, and counts as one that lost nothing.
    """
    shape = ledger.TableLayout(*(np.array(x) for x in ([0, 6, 8], [2, 2], [0, 3, 4], np.zeros((0, 2), int), [])))
    pairs, totals = np.array([3, 1, 2, 2, 0, 0, 4, 4], dtype=np.int32), np.array([4, 4, 0, 8], dtype=np.int32)
    steps = np.array([0.0, *(c * np.log2(c) for c in range(1, 9))])
    known, logs = np.array([0.5, np.nan, 7.0, np.nan]), np.array([2.0, 0.0])
    loss = ledger.entropy_loss(pairs, totals, shape, known, logs, steps)
    assert loss == pytest.approx(100 * (4 * 1 + 4 * 0.5) / (8 * 2.0) / 2)


def test_counted_losses_by_hand():
    assert ledger.contingency_loss(3, 8.0) == 37.5
    assert ledger.distance_loss(np.array([3, 2]), np.array([4.0, 1.0]), 5) == pytest.approx(100 * (0.75 + 2) / (5 * 2))
