"""pMSE: against an independent logistic regression and tree, its null by simulation, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from crypsis.masking import Microaggregation
from crypsis.measures.utility import Propensity, propensity_score
from crypsis.measures.utility.estimates import fit_labelled_estimates
from crypsis.measures.utility.propensity import (
    LEVELS,
    TERMS,
    logistic_propensity_scores,
    pair_terms,
    paired_design,
    pmse,
)
from crypsis.table.example import example
from crypsis.table.table import Table
from reference import numeric


def independent(before: np.ndarray, after: np.ndarray) -> float:
    """pMSE by the generalised linear model of statsmodels."""
    x = np.concatenate([before, after])
    x = x[:, x.std(axis=0) > 1e-12]
    label = np.repeat([0.0, 1.0], [len(before), len(after)])
    fitted = sm.GLM(label, sm.add_constant(x), family=sm.families.Binomial()).fit(maxiter=200).fittedvalues
    return float(((fitted - len(after) / len(label)) ** 2).mean())


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.floats(0.0, 1.0))
def test_pmse_equals_an_independent_fit(seed: int, columns: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    before = rng.standard_normal((80, columns))
    after = rng.standard_normal((60, columns)) * (1 + shift) + shift / 2
    assert pmse("main", before, after)[0] == pytest.approx(independent(before, after), rel=1e-4, abs=1e-8)


def test_pairs_of_a_masked_table_equal_an_independent_fit() -> None:
    table = example(300)
    masked = Microaggregation(columns=("age", "hours"), k=5).mask(table, np.random.default_rng(0))
    before, after = pair_terms(*paired_design(table, masked, ("age", "hours", "sex"), np.arange(300)))
    assert before.values.shape[1] > 3
    value = pmse("pairs", before.values, after.values)[0]
    assert value == pytest.approx(independent(before.values, after.values), rel=1e-3)


def test_means_hide_from_main_effects_and_show_in_pairs() -> None:
    """Microaggregation keeps every mean: a model of main effects is blind to it."""
    names = ("x", "y")
    numbers = np.random.default_rng(2).standard_normal((400, 2))
    table = Table.from_columns(dict(zip(names, numbers.T, strict=True)), roles=dict.fromkeys(names, "quasi"))
    masked = Microaggregation(k=80).mask(table, np.random.default_rng(0))
    assert propensity_score(table, masked, names, "main").value == pytest.approx(0.0, abs=1e-6)
    pairs = propensity_score(table, masked, names, "pairs")
    assert pairs.standardised is not None
    assert pairs.standardised > 3
    tree = propensity_score(table, masked, names, "cart")
    assert tree.value > tree.null_mean
    assert tree.parameters > 1


def test_the_null_is_that_of_exchanged_records() -> None:
    """By simulation: after exchanging at random, the figure lies where the stated null says."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal(400)
    table = Table.from_columns({"x": x, "y": rng.standard_normal(400)}, roles={"x": "quasi", "y": "quasi"})
    masked = table.with_columns({"x": x + 0.3 * rng.standard_normal(400)})
    stated = propensity_score(table, masked, ("x", "y"), "pairs", swaps=50)
    values = []
    for _ in range(200):
        swap = rng.random(400) < 0.5
        first = np.where(swap, masked.column("x"), table.column("x"))
        last = np.where(swap, table.column("x"), masked.column("x"))
        one, other = table.with_columns({"x": first}), table.with_columns({"x": last})
        values.append(propensity_score(one, other, ("x", "y"), "pairs", swaps=0).value)
    assert stated.null_mean == pytest.approx(np.mean(values), rel=0.35)
    assert stated.null_deviation == pytest.approx(np.std(values, ddof=1), rel=0.5)


def test_two_independent_samples_have_the_expectation_of_the_literature() -> None:
    """(k − 1) c (1 − c) / N for two samples of one distribution: 3 · 0.25 / 400."""
    rng = np.random.default_rng(11)
    values = [pmse("main", rng.standard_normal((200, 3)), rng.standard_normal((200, 3)))[0] for _ in range(300)]
    assert np.mean(values) == pytest.approx(3 * 0.25 / 400, rel=0.12)


def test_a_file_that_is_all_different_is_told_apart() -> None:
    table = Table.from_columns(
        {"town": ["a", "b"] * 20, "age": list(range(40))}, roles={"town": "quasi", "age": "quasi"}
    )
    other = Table.from_columns(
        {"town": ["c", "d"] * 20, "age": list(range(40))}, roles={"town": "quasi", "age": "quasi"}
    )
    assert Propensity(model="main").against(table).read(other) > 99
    assert Propensity().against(table).read(table) == 0.0


def test_suppressed_records_and_many_values() -> None:
    table = Table.from_columns({"id": [f"v{n % 50}" for n in range(200)], "x": list(range(200))}, roles={"id": "quasi"})
    before, after = paired_design(table, table, ("id",), np.arange(200))
    assert before.values.shape == (200, LEVELS - 1)
    assert np.array_equal(before.values, after.values)
    wide = Table.from_columns({f"c{n}": np.random.default_rng(n).standard_normal(800) for n in range(30)})
    for rows, terms in ((800, TERMS), (400, 80), (100, 30)):  # ten records of both files for each column
        assert pair_terms(*paired_design(wide, wide, wide.names, np.arange(rows)))[0].values.shape[1] == terms
    half = table.without(np.arange(200) < 100)
    score = propensity_score(table, half, ("x",), "main")
    assert score.records == 300
    assert score.largest == pytest.approx(2 / 9)
    assert score.value == pytest.approx(score.null_mean, rel=5e-3)  # what both files hold is the same
    assert score.null_deviation < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_fits_that_share_a_hessian_are_those_of_newton(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = np.concatenate([rng.standard_normal((300, 8)), rng.random((300, 4)) < 0.03], axis=1)
    labels = (rng.random((300, 5)) < 0.5).astype(np.float64)
    shared = ((fit_labelled_estimates(design, labels) - 0.5) ** 2).mean(axis=0)
    alone = [((logistic_propensity_scores(design, label) - 0.5) ** 2).mean() for label in labels.T]
    assert shared == pytest.approx(alone, rel=1e-2)


def test_separated_files_have_finite_scores() -> None:
    scores = logistic_propensity_scores(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert np.isfinite(scores).all()
    assert scores[0] < 0.01
    assert scores[-1] > 0.99


def test_census_by_mdav_has_the_figures_of_an_independent_computation() -> None:
    """Census, MDAV with k = 3, all thirteen numbers: main effects 0, pairs 0.0422407 (rank 91), null 0.00448."""
    values = numeric("census.csv")
    names = tuple(f"x{place}" for place in range(values.shape[1]))
    table = Table.from_columns(dict(zip(names, values.T, strict=True)), roles=dict.fromkeys(names, "quasi"))
    masked = Microaggregation(k=3).mask(table, np.random.default_rng(0))
    assert propensity_score(table, masked, names, "main", swaps=0).value == pytest.approx(0.0, abs=1e-9)
    pairs = propensity_score(table, masked, names, "pairs", swaps=20)
    assert pairs.value == pytest.approx(0.0422407, rel=1e-3)
    assert pairs.null_mean == pytest.approx(0.00448, abs=0.0006)
    assert pairs.null_deviation == pytest.approx(0.00056, rel=0.6)
    assert pairs.standardised is not None
    assert pairs.standardised > 30
