from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crypsis.measures.numeric_loss import (
    PARTS,
    ProbabilisticLoss,
    numeric_density,
    numeric_pair_variances,
    probabilistic_numeric_loss,
)
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
    assert ProbabilisticLoss().against(table(x)).read(table(y)) == pytest.approx(np.mean([counts[p] for p in PARTS]))


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(5, 40), st.booleans())
@example(166, 2, 13, True)  # a quantile at which the density is too small for a number
@settings(max_examples=20, deadline=None)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_quantiles_equal_the_printed_formula(seed: int, p: int, n: int, lumpy: bool) -> None:
    """Lumpy columns have most of their mass in one value, so that their quartiles may be equal."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((n, p)) < 0.7 * lumpy, 0.0, rng.gamma(2.0, size=(n, p)))
    x[0], x[1] = 0.0, 3.0
    y = x + 0.2 * rng.standard_normal((n, p))
    expected = [
        naive.pil(naive.quantile(a, share), naive.quantile(b, share), naive.variance_of_quantile(a, share))
        for a, b in zip(x.T, y.T, strict=True)
        for share in np.arange(1, 20) / 20
    ]
    assert ProbabilisticLoss(statistic="quantiles").against(table(x)).read(table(y)) == pytest.approx(
        naive.mean(expected), rel=1e-6
    )


def test_missing_cells_take_no_part() -> None:
    """A column with holes is the shorter column; a pair of columns is the records that hold both."""
    rng = np.random.default_rng(4)
    x = rng.gamma(2.0, size=(30, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    y = x + 0.3 * rng.standard_normal((30, 2))
    x[:6, 0], x[4:11, 1] = np.nan, np.nan
    counts = ProbabilisticLoss().against(table(x)).explain(table(y)).counts
    for j, rows in enumerate((slice(6, None), np.r_[0:4, 11:30])):
        alone = ProbabilisticLoss(columns=(f"v{j}",)).against(table(x)).explain(table(y)).counts
        short = ProbabilisticLoss().against(table(x[rows, j : j + 1])).explain(table(y[rows, j : j + 1])).counts
        for part in ("means", "quantiles", "variances"):
            assert alone[part] == pytest.approx(short[part])
    both = ProbabilisticLoss().against(table(x[11:])).explain(table(y[11:])).counts
    for part in ("covariances", "correlations"):
        assert counts[part] == pytest.approx(both[part], rel=1e-6)
    holes = table(np.column_stack([x[:, 0], np.full(30, np.nan)]))
    assert ProbabilisticLoss().against(holes).read(holes) == 0


def test_a_lone_record_has_no_sampling_variance() -> None:
    assert numeric_pair_variances(np.array([3.0]), np.array([4.0])) == (0.0, 0.0)
    a, b = np.array([0.0, 0, 1, 3]), np.array([2.0, 2, 2, 2])
    assert numeric_pair_variances(a, b) == (0.0, 0.0)
    assert numeric_pair_variances(b, a) == (0.0, 0.0)
    # Two records: (0, 0) and (2, 6) have covariance 3 and every product of deviations 3, so it cannot vary.
    assert numeric_pair_variances(np.array([0.0, 2]), np.array([0.0, 6])) == (0.0, pytest.approx(0))
    # 0, 0, 3 and 0, 3, 3: products of deviations 2, -1, 2, mean 1, mean square 3: (3 - 1) / 3.
    assert numeric_pair_variances(np.array([0.0, 0, 3]), np.array([0.0, 3, 3]))[0] == pytest.approx(2 / 3)


def test_what_cannot_vary_loses_all_as_soon_as_it_moves() -> None:
    """A constant column cannot vary; rounding is no move, and is measured by the size of the value."""
    assert numeric_density(np.full(5, 2.0), np.array([2.0, 3.0])).tolist() == [np.inf, np.inf]
    constant = table(np.full((50, 1), 0.1))
    for statistic in ("means", "quantiles"):
        bound = ProbabilisticLoss(statistic=statistic).against(constant)
        assert bound.read(constant) == 0
        assert bound.read(table(np.full((50, 1), 0.1 + 1e-6))) == 100
    before, after = np.array([1e6, 1e-6, 0.0]), np.array([1e6 + 1e-8, 1.1e-6, 0.0])
    assert probabilistic_numeric_loss(before, after, np.zeros(3)).tolist() == [0, 100, 0]


def test_what_it_is_a_reading_of() -> None:
    x = np.random.default_rng(5).standard_normal((20, 2))
    bound = ProbabilisticLoss(statistic="variances").against(table(x))
    reading = bound.explain(table(2 * x))
    assert reading.value == reading.counts["variances"]
    assert ProbabilisticLoss(statistic="variances").obstacle(table(x[:, :1])) == ""
    assert ProbabilisticLoss(statistic="covariances").obstacle(table(x)) == ""
    assert "at least 2" in ProbabilisticLoss(statistic="covariances").obstacle(table(x[:, :1]))


def test_variance_of_a_correlation_of_zero_is_finite() -> None:
    a, b = np.array([1.0, -1, 0, 0]), np.array([0.0, 0, 1, -1])
    assert numeric_pair_variances(a, b) == (0.0, 0.0)
    a, b = np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1])
    assert numeric_pair_variances(a, b)[1] == pytest.approx(1 / 4)


def test_quantiles_of_a_normal_sample_have_the_normal_density() -> None:
    sample = np.random.default_rng(0).standard_normal(40_000)
    at = np.array([-1.0, 0.0, 1.0])
    assert numeric_density(sample, at) == pytest.approx(np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi), rel=0.05)


def test_nothing_lost_by_the_original_and_much_by_a_constant() -> None:
    x = np.random.default_rng(1).standard_normal((300, 3))
    bound = ProbabilisticLoss().against(table(x))
    assert bound.read(table(x)) == pytest.approx(0, abs=1e-9)
    flat = bound.explain(table(np.broadcast_to(x.mean(axis=0), x.shape)))
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
