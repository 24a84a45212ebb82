from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.measures.probabilistic_loss import PARTS, ProbabilisticLoss, density, pair_variances
from crypsis.table.table import Table
from naive import measures as naive


def table(values: np.ndarray) -> Table:
    names = [f"v{j}" for j in range(values.shape[1])]
    return Table.from_columns(dict(zip(names, values.T, strict=True)), dict.fromkeys(names, "quasi"))


def test_one_mean_by_hand() -> None:
    """0 and 2, variance 1, n = 2: the mean's sampling deviation is √½; moved by 1 it is √2 deviations off."""
    original, masked = table(np.array([[0.0], [2.0]])), table(np.array([[1.0], [3.0]]))
    value = ProbabilisticLoss(statistic="means").against(original).read(masked)
    assert value == pytest.approx(100 * (2 * 0.9213503964748574 - 1))


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(8, 60))
@settings(max_examples=30, deadline=None)
def test_parts_equal_the_printed_formulas(seed: int, p: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=(n, 1)) + rng.standard_normal((n, p))
    y = x + 0.2 * rng.standard_normal((n, p))
    counts = ProbabilisticLoss().against(table(x)).explain(table(y)).counts
    means = [naive.pil(naive.mean(a), naive.mean(b), naive.variance(a) / n) for a, b in zip(x.T, y.T, strict=True)]
    assert counts["means"] == pytest.approx(naive.mean(means))
    spreads = [
        naive.pil(naive.variance(a), naive.variance(b), (naive.mean((a - a.mean()) ** 4) - naive.variance(a) ** 2) / n)
        for a, b in zip(x.T, y.T, strict=True)
    ]
    assert counts["variances"] == pytest.approx(naive.mean(spreads))
    links, pairs = [], []
    for j in range(p):
        for k in range(j + 1, p):
            a, b = x[:, j], x[:, k]
            m22 = naive.mean((a - a.mean()) ** 2 * (b - b.mean()) ** 2)
            before = naive.covariance(a, b)
            pairs.append(naive.pil(before, naive.covariance(y[:, j], y[:, k]), (m22 - before**2) / n))
            after = naive.correlation(y[:, j], y[:, k])
            links.append(naive.pil(naive.correlation(a, b), after, naive.variance_of_correlation(a, b)))
    assert counts["covariances"] == pytest.approx(naive.mean(pairs))
    assert counts["correlations"] == pytest.approx(naive.mean(links), rel=1e-6)


def test_variance_of_a_correlation_of_zero_is_finite() -> None:
    a, b = np.array([1.0, -1, 0, 0]), np.array([0.0, 0, 1, -1])
    assert pair_variances(a, b) == (0.0, 0.0)
    a, b = np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1])
    assert pair_variances(a, b)[1] == pytest.approx(1 / 4)


def test_quantiles_of_a_normal_sample_have_the_normal_density() -> None:
    sample = np.random.default_rng(0).standard_normal(40_000)
    at = np.array([-1.0, 0.0, 1.0])
    assert density(sample, at) == pytest.approx(np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi), rel=0.05)


def test_nothing_lost_by_the_original_and_much_by_a_constant() -> None:
    x = np.random.default_rng(1).standard_normal((300, 3))
    gauge = ProbabilisticLoss().against(table(x))
    assert gauge.read(table(x)) == pytest.approx(0, abs=1e-9)
    flat = gauge.explain(table(np.broadcast_to(x.mean(axis=0), x.shape)))
    assert flat.counts["variances"] == pytest.approx(100)
    assert flat.counts["means"] == pytest.approx(0, abs=1e-9)
    assert set(flat.counts) >= set(PARTS)


def test_one_column_has_no_pairs_and_constants_are_sure() -> None:
    x = np.random.default_rng(2).standard_normal((50, 1))
    assert "correlations" not in ProbabilisticLoss().against(table(x)).explain(table(x + 1)).counts
    assert "at least 2" in ProbabilisticLoss(statistic="correlations").obstacle(table(x))
    constant = np.full((50, 1), 0.1)
    assert ProbabilisticLoss(statistic="means").against(table(constant)).read(table(constant)) == 0.0
    assert ProbabilisticLoss(statistic="means").against(table(constant)).read(table(constant + 1)) == 100.0
