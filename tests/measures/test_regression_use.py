"""A fit beside the textbook, and the overlap of intervals by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from crypsis.errors import TableError
from crypsis.measures.estimate_use import (
    Fit,
    RegressionUse,
    Regressor,
    fit_regression_for_use,
    overlap_of_used_estimates,
)
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

NAN = float("nan")


def fitted(*intervals: tuple[float, float]) -> Fit:
    """A fit from (estimate, half width) pairs."""
    estimate, half = np.array(intervals).T
    return Fit(estimate, half, 9)


def test_a_line_by_hand() -> None:
    """0, 1, 2 → 0, 1, 5: slope 2.5, residuals ½, -1, ½, variance 1.5 on one degree of freedom, Sxx 2."""
    found = fit_regression_for_use(np.array([[0.0], [1], [2]]), np.array([0.0, 1, 5]))
    assert found.estimate == pytest.approx([2.5])
    assert found.half_width == pytest.approx([12.706204736 * (1.5 / 2) ** 0.5])
    assert found.records == 3


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(8, 30))
@settings(max_examples=30, deadline=None)
def test_a_fit_is_the_textbook(seed: int, p: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    design, target = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p), rng.standard_normal(n)
    holes = design.copy()
    holes[0, 0], target[1] = NAN, NAN
    x, y = np.column_stack([np.ones(n - 2), design[2:]]), target[2:]
    inverse = np.linalg.inv(x.T @ x)
    b = inverse @ x.T @ y
    variance = ((y - x @ b) ** 2).sum() / (n - 2 - p - 1)
    half = stats.t.ppf(0.975, n - 2 - p - 1) * np.sqrt(variance * np.diag(inverse))
    found = fit_regression_for_use(holes, target)
    assert found.estimate == pytest.approx(b[1:], rel=1e-5)
    assert found.half_width == pytest.approx(half[1:], rel=1e-5)
    assert found.records == n - 2


def test_what_the_data_are_silent_about() -> None:
    """A constant regressor and two equal ones have no slopes of their own; the third keeps its own."""
    rng = np.random.default_rng(1)
    x, z, y = rng.standard_normal(12), rng.standard_normal(12), rng.standard_normal(12)
    found = fit_regression_for_use(np.column_stack([np.full(12, 3.0), x, x, z]), y)
    assert np.isnan(found.estimate).tolist() == [True, True, True, False]
    assert np.isnan(found.half_width).tolist() == [True, True, True, False]
    assert found.estimate[3] == pytest.approx(fit_regression_for_use(np.column_stack([x, z]), y).estimate[1])
    assert found.half_width[3] == pytest.approx(fit_regression_for_use(np.column_stack([x, z]), y).half_width[1])
    for few in (
        fit_regression_for_use(np.empty((0, 2)), np.empty(0)),
        fit_regression_for_use(np.full((3, 2), NAN), np.zeros(3)),
    ):
        assert (np.isnan(few.estimate).all(), np.isnan(few.half_width).all(), few.records) == (True, True, 0)
    exact = fit_regression_for_use(np.array([[0.0], [1]]), np.array([0.0, 1]))
    assert (np.isnan(exact.estimate).all(), np.isnan(exact.half_width).all(), exact.records) == (True, True, 2)


def test_a_target_that_does_not_vary_has_a_slope_of_zero_and_no_error() -> None:
    """What is left of 4, 4, 4, … is rounding: no interval, and nothing lost where some of the records go."""
    x = np.random.default_rng(3).standard_normal(9)
    for level in (4.0, 1 / 3, 1e6 / 7, 0.0):
        found = fit_regression_for_use(x[:, None], np.full(9, level))
        assert found.half_width.tolist() == [0]
        assert found.estimate == pytest.approx([0], abs=1e-9)
        table = Table.from_columns({"x": x, "y": np.full(9, level)})
        bound = RegressionUse(columns=("x",), target="y").against(table)
        for gone in range(9):
            assert bound.read(table.without(np.arange(9) == gone)) == 0


def test_a_perfect_fit_has_intervals_of_no_length_on_any_scale() -> None:
    x = np.array([[0.1], [0.7], [1.3], [2.9], [4.2]])
    for scale in (1e-15, 1e-6, 1.0, 1e6):
        found = fit_regression_for_use(x, scale * (3 + x[:, 0] / 7))
        assert found.half_width.tolist() == [0]
        assert found.estimate == pytest.approx([scale / 7])


def test_overlaps_by_hand() -> None:
    """[0, 2] and [1, 5] share 1: half of the first, a quarter of the second."""
    assert overlap_of_used_estimates(fitted((1, 1)), fitted((3, 2))) == pytest.approx([(1 / 2 + 1 / 4) / 2])
    assert overlap_of_used_estimates(fitted((3, 2)), fitted((1, 1))) == pytest.approx([(1 / 2 + 1 / 4) / 2])
    # One inside the other: all of the shorter, half of the longer.
    assert overlap_of_used_estimates(fitted((0, 2)), fitted((0.5, 1))) == pytest.approx([3 / 4])
    # Touching, equal, not estimable; a gap of half their length, and one longer than both.
    got = overlap_of_used_estimates(fitted((0, 1), (0, 1), (0, 1)), fitted((2, 1), (0, 1), (NAN, NAN)))
    assert got.tolist() == [0, 1, -1]
    assert overlap_of_used_estimates(fitted((0, 1), (0, 1)), fitted((3, 1), (50, 1))).tolist() == [-1 / 2, -1]
    # [0, 2] and [3, 7]: the gap of 1 is half of the first and a quarter of the second.
    assert overlap_of_used_estimates(fitted((1, 1)), fitted((5, 2))) == pytest.approx([-(1 / 2 + 1 / 4) / 2])
    # Intervals of no length overlap only if equal: with each other, and not with one of some length.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = overlap_of_used_estimates(fitted((2, 0), (2, 0), (2, 0), (2, 1)), fitted((2, 0), (3, 0), (2, 1), (2, 0)))
    assert got.tolist() == [1, -1, -1, -1]
    assert overlap_of_used_estimates(fitted((1e6, 0)), fitted((1e6 + 1e-5, 0))).tolist() == [1], (
        "rounding grows with the slope"
    )
    assert overlap_of_used_estimates(fitted((1e6, 0)), fitted((1e6 + 1, 0))).tolist() == [-1]


REGION = Hierarchy.from_rows([["a", "west", "*"], ["b", "west", "*"], ["c", "east", "*"], ["d", "east", "*"]])


def table(codes: list[int], numbers: list[float]) -> Table:
    attributes = (
        Attribute("region", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d"), REGION),
        Attribute("x", Kind.NUMERIC),
    )
    return Table(attributes, (np.array(codes, dtype=np.int32), np.array(numbers)))


def test_columns_of_the_design_by_hand() -> None:
    """b is the commonest and has no column; d does not occur; a missing value is missing in every column."""
    original = table([0, 1, 1, 2, -1], [1.0, 3, NAN, 5, 3])
    region = Regressor.of(original, "region")
    expected = [[1, 0], [0, 0], [0, 0], [0, 1], [NAN, NAN]]
    assert region.columns(original, original) == pytest.approx(np.array(expected), nan_ok=True)
    nodes = original.with_columns({"region": np.array([4, 6, 5, 2, -1])}, levels={"region": LOCAL})
    spread = [[1 / 2, 0], [1 / 4, 1 / 4], [0, 1 / 2], [0, 1], [NAN, NAN]]
    assert region.columns(original, nodes) == pytest.approx(np.array(spread), nan_ok=True)
    number = Regressor.of(original, "x")
    # 1, 3, 5, 3 have mean 3 and deviation √2.
    scaled = np.array([[-2], [0], [NAN], [2], [0]]) / np.sqrt(2)
    assert number.columns(original, original) == pytest.approx(scaled, nan_ok=True)
    lone, empty = table([1, 1, -1], [7.0, 7, 7]), table([-1, -1], [NAN, NAN])
    assert Regressor.of(lone, "region").columns(lone, lone).shape == (3, 0)
    assert Regressor.of(lone, "x").columns(lone, lone).tolist() == [[0], [0], [0]]
    assert Regressor.of(empty, "region").columns(empty, empty).shape == (2, 0)
    assert np.isnan(Regressor.of(empty, "x").columns(empty, empty)).all()


def test_what_a_regression_reads_and_refuses() -> None:
    rng = np.random.default_rng(2)
    original = Table.from_columns({"x": rng.standard_normal(20), "k": np.full(20, 2.0), "y": rng.standard_normal(20)})
    use = RegressionUse(columns=("x", "k"), target="y")
    reading = use.against(original).explain(original)
    assert reading.value == pytest.approx(0)
    assert reading.counts == {
        "slopes": 1,
        "slopes not estimable": 0,
        "slopes with disjoint intervals": 0,
        "mean overlap": 1.0,
        "records released": 20,
    }
    nobody = use.against(original).explain(original.without(np.ones(20, dtype=bool)))
    assert (nobody.value, nobody.counts["slopes not estimable"]) == (100, 1)
    message = (
        "^the regression of 'y' cannot be estimated on the original: 20 complete records and 1 slopes; "
        "choose fewer regressors or ones that vary$"
    )
    with pytest.raises(TableError, match=message):
        RegressionUse(columns=("k",), target="y").against(original)
    itself = RegressionUse(columns=("y", "x"), target="y").obstacle(original)
    assert itself == "column 'y' cannot explain itself; leave it out of the regressors"


def test_a_constant_added_to_the_target_leaves_slopes_and_intervals() -> None:
    """Residuals of ±1 are an error, however far from zero the target lies."""
    x = np.arange(8.0)[:, None]
    y = 2 * x[:, 0] + np.array([1.0, -1, -1, 1, 1, -1, -1, 1])
    near, far = fit_regression_for_use(x, y), fit_regression_for_use(x, y + 1e9)
    assert near.half_width[0] > 0.1
    assert far.estimate == pytest.approx(near.estimate, rel=1e-4)
    assert far.half_width == pytest.approx(near.half_width, rel=1e-4)


def test_fewer_records_than_slopes_say_nothing_of_any() -> None:
    """Three equal records and four regressors: the constant is all there is to estimate."""
    found = fit_regression_for_use(np.ones((3, 4)), np.array([1.0, 2.0, 4.0]))
    assert found.records == 3
    assert np.isnan(found.estimate).tolist() == np.isnan(found.half_width).tolist() == [True] * 4
