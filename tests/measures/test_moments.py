from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.measures.numeric_loss import (
    CorrelationLoss,
    CovarianceLoss,
    EigenvalueLoss,
    GammaLoss,
    MomentLoss,
    Moments,
    numeric_loss_discrepancy,
)
from crypsis.table.table import Table
from naive import measures as naive

NAN = float("nan")


def table(values: np.ndarray) -> Table:
    names = [f"v{j}" for j in range(values.shape[1])]
    return Table.from_columns(dict(zip(names, values.T, strict=True)), dict.fromkeys(names, "quasi"))


def test_by_hand() -> None:
    """Means 2 and 3, variances 1; published with means 3 and 3, variances 4 and 1, correlation from −1 to +1."""
    original, masked = table(np.array([[1.0, 4], [3, 2]])), table(np.array([[1.0, 2], [5, 4]]))
    moments = MomentLoss().against(original).explain(masked)
    assert moments.counts["means"] == pytest.approx(100 * (1 / 2 + 0) / 2)
    assert moments.counts["variances"] == pytest.approx(100 * (3 / 1 + 0) / 2)
    assert moments.value == pytest.approx((25 + 150) / 2)
    assert MomentLoss(statistic="means", discrepancy="absolute").against(original).read(masked) == pytest.approx(0.5)
    assert MomentLoss(statistic="variances", discrepancy="square").against(original).read(masked) == pytest.approx(4.5)
    assert CovarianceLoss().against(original).read(masked) == pytest.approx(100 * (3 + 3 + 0) / 3)
    assert CorrelationLoss().against(original).read(masked) == pytest.approx(200)
    assert CorrelationLoss(discrepancy="square").against(original).read(masked) == pytest.approx(4)
    assert EigenvalueLoss().against(original).read(masked) == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(3, 30))
@settings(max_examples=40, deadline=None)
def test_equal_to_the_plain_loops(seed: int, p: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + 5
    y = x + 0.3 * rng.standard_normal((n, p))
    y[rng.random((n, p)) < 0.1] = NAN
    shown = naive.filled(x, y)
    original, masked = table(x), table(y)
    means = naive.mean_variation([naive.mean(c) for c in x.T], [naive.mean(c) for c in shown.T])
    assert MomentLoss(statistic="means").against(original).read(masked) == pytest.approx(means)
    spread = naive.mean_variation([naive.variance(c) for c in x.T], [naive.variance(c) for c in shown.T])
    assert MomentLoss(statistic="variances").against(original).read(masked) == pytest.approx(spread)
    both = [naive.over_pairs(v, naive.covariance, True) for v in (x, shown)]
    assert CovarianceLoss().against(original).read(masked) == pytest.approx(naive.mean_variation(*both))
    before, after = (np.array(naive.over_pairs(v, naive.correlation, False)) for v in (x, shown))
    assert CorrelationLoss().against(original).read(masked) == pytest.approx(100 * np.abs(before - after).mean())


def test_eigenvalues_and_gamma_from_numpy() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    y = x + 0.5 * rng.standard_normal((200, 4))
    before, after = np.corrcoef(x.T), np.corrcoef(y.T)
    old, new = (np.sort(np.linalg.eigvalsh(m))[::-1] for m in (before, after))
    assert EigenvalueLoss().against(table(x)).read(table(y)) == pytest.approx(np.sum(np.abs(old - new) / old))
    d, e = (np.diag(np.linalg.inv(m)) for m in (before, after))
    gap = np.linalg.norm(d / np.linalg.norm(d) - e / np.linalg.norm(e)) / np.sqrt(2)
    assert GammaLoss().against(table(x)).read(table(y)) == pytest.approx(100 * gap)
    assert GammaLoss().against(table(x)).read(table(x)) == pytest.approx(0, abs=1e-9)


def test_pairwise_complete_where_values_are_missing() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3))
    y = x + rng.standard_normal((60, 3))
    x[rng.random((60, 3)) < 0.2] = NAN
    expected = []
    for j in range(3):
        for k in range(j + 1, 3):
            here = ~np.isnan(x[:, j]) & ~np.isnan(x[:, k])
            before, after = (np.corrcoef(v[here, j], v[here, k])[0, 1] for v in (x, y))
            expected.append(abs(before - after))
    assert CorrelationLoss().against(table(x)).read(table(y)) == pytest.approx(100 * np.mean(expected))


def test_singular_matrices() -> None:
    x = np.random.default_rng(5).standard_normal((20, 2))
    doubled = np.hstack([x, x[:, :1]])
    assert GammaLoss().obstacle(table(doubled)) == (
        "the original's correlation matrix is singular (a column is constant or determined by others), so its inverse "
        "does not exist; name columns without the redundant ones"
    )
    assert GammaLoss().obstacle(table(x)) == ""
    constant = np.column_stack([x[:, 0], np.full(20, 0.1)])
    assert GammaLoss().against(table(x)).read(table(constant)) == 100.0
    assert EigenvalueLoss().against(table(doubled)).explain(table(doubled)).counts["eigenvalues"] == 2


def test_offset_and_constant_columns() -> None:
    x = np.round(np.random.default_rng(6).standard_normal((100, 2)) * 1000)
    y = x[::-1].copy()
    y[:, 0] = x[:, 0]
    plain = CorrelationLoss().against(table(x)).read(table(y))
    assert CorrelationLoss().against(table(x + 1e11)).read(table(y + 1e11)) == pytest.approx(plain, rel=1e-6)
    constant = np.column_stack([x[:, 0], np.full(100, 0.1)])
    assert CorrelationLoss().against(table(constant)).read(table(constant)) == 0.0
    assert "at least 2" in CorrelationLoss().obstacle(table(x[:, :1]))


def test_statistics_of_zero_take_no_part_in_a_mean_variation() -> None:
    """Means 0 and 2 published as 1 and 3: only the second is compared, and it grows by half."""
    original, masked = table(np.array([[-1.0, 1], [1, 3]])), table(np.array([[0.0, 2], [2, 4]]))
    assert MomentLoss(statistic="means").against(original).read(masked) == pytest.approx(50)
    nothing = table(np.array([[-1.0], [1]])), table(np.array([[0.0], [2]]))
    assert MomentLoss(statistic="means").against(nothing[0]).read(nothing[1]) == 0
    assert numeric_loss_discrepancy("absolute", np.empty(0), np.empty(0)) == 0


def test_two_columns_held_together_by_one_record_do_not_covary() -> None:
    """Variances 1 and 4 published as 4 and 4; the covariance rests on the middle record alone, so it is 0."""
    original = table(np.array([[1.0, NAN], [3, 5], [NAN, 9]]))
    masked = table(np.array([[1.0, NAN], [5, 5], [NAN, 9]]))
    assert CovarianceLoss(discrepancy="absolute").against(original).read(masked) == pytest.approx((3 + 0 + 0) / 3)


@pytest.mark.parametrize("factor", [1e-18, 1e-9, 1e9, 1e18])
def test_the_unit_of_a_column_changes_no_correlation(factor: float) -> None:
    x = np.random.default_rng(7).standard_normal((50, 3))
    y = x + np.random.default_rng(8).standard_normal((50, 3))
    scale = np.array([factor, 1.0, 1.0])
    plain = CorrelationLoss().against(table(x)).read(table(y))
    assert CorrelationLoss().against(table(x * scale)).read(table(y * scale)) == pytest.approx(plain, rel=1e-9)


def test_moments_are_the_same_around_any_centre() -> None:
    x = np.random.default_rng(9).standard_normal((40, 3)) + 2
    for centre in (np.zeros(3), np.array([1.0, -2, 5])):
        moments = Moments.of(x, np.ones(x.shape, dtype=bool), centre)
        assert moments.mean == pytest.approx(x.mean(axis=0))
        assert moments.covariance == pytest.approx(np.cov(x.T, bias=True))
        assert moments.correlation == pytest.approx(np.corrcoef(x.T))


def test_correlations_keep_their_bounds() -> None:
    """A column and its multiples correlate at 1 and -1 and not a rounding error beyond; a constant one at 0."""
    for seed in range(60):
        x = np.random.default_rng(seed).standard_normal(37)
        columns = np.stack([x, 3 * x, -7 * x, np.full(37, 0.1)], axis=1)
        correlation = Moments.of(columns, np.ones(columns.shape, dtype=bool), np.zeros(4)).correlation
        assert correlation[:3, :3] == pytest.approx(np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 1]]))
        assert np.abs(correlation).max() <= 1
        assert (correlation[3] == 0).all()
        assert (correlation[:, 3] == 0).all()


def test_a_reading_counts_its_statistics_and_names_its_unit() -> None:
    x = np.random.default_rng(10).standard_normal((30, 3))
    original = table(x)
    covariances = CovarianceLoss().against(original).explain(original)
    assert (covariances.counts["statistics"], covariances.unit) == (6, "% of the original statistic")
    correlations = CorrelationLoss().against(original).explain(original)
    assert (correlations.counts["statistics"], correlations.unit) == (3, "hundredths of a correlation")
    squares = CorrelationLoss(discrepancy="square").against(original).explain(original)
    assert squares.unit == "mean square error"
    assert CovarianceLoss(discrepancy="absolute").against(original).explain(original).unit == "mean absolute error"
    assert GammaLoss().against(original).explain(original).counts["singular"] == 0
    flat = table(np.column_stack([x[:, :2], np.ones(30)]))
    assert GammaLoss().against(original).explain(flat).counts["singular"] == 1


def test_gamma_needs_numbers_and_an_inverse() -> None:
    assert "at least 2" in GammaLoss().obstacle(table(np.array([[1.0], [2]])))
    with pytest.raises(TableError, match=r"^the original's correlation matrix is singular; .* out of 'gamma'$"):
        GammaLoss().against(table(np.array([[1.0, 2], [2, 4], [3, 6]])))
