"""Weighted figures and their design-based errors: hand-sized answers, slow twins, and what the card and uses make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import survey

import crypsis
from crypsis.errors import PlanError
from crypsis.measures.estimate_use import EstimateUse
from crypsis.measures.uses import weights_for_uses
from crypsis.measures.utility.weighted_estimates import SampleDesign, WeightedRecords
from crypsis.table.table import Table

FIVE = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
ROLES = {"home": "household", "region": "stratum", "w": "weight", "age": "quasi", "income": "quasi"}


def records(values: list[float], weights: list[float]) -> WeightedRecords:
    return WeightedRecords.of(SampleDesign.of_records(len(values)), np.array(values), np.array(weights))


def sample(seed: int = 0, homes: int = 150) -> Table:
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5, homes)
    home = np.repeat(np.arange(homes), size)
    region = rng.choice(["a", "b", "c"], homes)[home]
    income = np.round(rng.lognormal(9, 0.6, homes)[home] * rng.lognormal(0, 0.3, len(home)))
    weight = np.round(rng.uniform(20, 200, homes), 1)[home]
    columns = {"home": home, "region": region, "age": rng.integers(0, 90, len(home)), "income": income, "w": weight}
    return Table.from_columns({name: column.tolist() for name, column in columns.items()}, ROLES)


def test_hand_sized_figures() -> None:
    # Weights 1, 1, 2: mean (1 + 2 + 6) / 4, total 9; error of the total: z = 1, 2, 6, mean 3, 3/2 (4 + 1 + 9) = 21.
    three = records([1, 2, 3], [1, 1, 2])
    assert three.mean().value[0] == pytest.approx(2.25)
    assert three.total().value[0] == 9
    assert three.total().error[0] == pytest.approx(np.sqrt(21))
    # z of the mean: (w (y − 2.25)) / 4 = −1.25, −0.25, 1.5 over 4, sum 0: 3/2 · (1.5625 + 0.0625 + 2.25) / 16.
    assert three.mean().error[0] == pytest.approx(np.sqrt(1.5 * 3.875 / 16))


def test_strata_and_units_of_a_hand_sized_sample() -> None:
    # Two strata of two homes each; totals of homes 3, 5 and 10, 4: variance 2/1 (1 + 1) + 2/1 (9 + 9) = 40.
    columns = {"region": list("aaabbb"), "home": [1, 1, 2, 3, 4, 4], "y": [1, 2, 5, 10, 1, 3], "w": [1] * 6}
    table = Table.from_columns(columns, ROLES)
    design = SampleDesign.of(table)
    assert WeightedRecords.of(design, table.column("y"), table.column("w")).total().error[0] == pytest.approx(40**0.5)
    assert design.single == 0


def test_a_stratum_of_one_unit_is_read_against_the_mean_of_all_units() -> None:
    # Totals of homes 3, 5 in a and 10 in b: 2/1 (1 + 1) + (10 − 6)².
    columns = {"region": list("aaab"), "home": [1, 1, 2, 3], "y": [1, 2, 5, 10], "w": [1] * 4}
    table = Table.from_columns(columns, ROLES)
    design = SampleDesign.of(table)
    assert design.single == 1
    assert WeightedRecords.of(design, table.column("y"), table.column("w")).total().error[0] == pytest.approx(20**0.5)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=10, max_size=30))
def test_figures_are_those_of_the_slow_twins(people: list[tuple[int, int]]) -> None:
    values, weights = [float(y) for y, _ in people], [float(w) for _, w in people]
    found = records(values, weights)
    assert found.quantile_value(0.5) == pytest.approx(survey.median(values, weights))
    assert found.poverty().value[0] == pytest.approx(survey.poverty(values, weights))
    if any(values):
        assert found.gini().value[0] == pytest.approx(survey.gini(values, weights))


@pytest.mark.parametrize(("figure", "near"), [("mean", 0.02), ("total", 0.02), ("gini", 0.05), ("poverty", 0.6)])
def test_errors_are_near_those_of_leaving_out_units(figure: str, near: float) -> None:
    table = sample()
    design, weights = SampleDesign.of(table), table.column("w")

    def estimate(held: np.ndarray) -> WeightedRecords:
        return WeightedRecords.of(design, table.column("income"), held)

    slow = survey.jackknife_error(
        lambda held: float(getattr(estimate(held), figure)().value[0]),
        weights,
        np.array(table.labels("region"))[table.column("region")].tolist(),
        table.column("home").tolist(),
    )
    assert getattr(estimate(weights), figure)().error[0] == pytest.approx(slow, rel=near)


def test_intervals_hold_the_population_about_as_often_as_they_say() -> None:
    rng, held = np.random.default_rng(1), 0
    population = rng.lognormal(9, 0.7, 20_000)
    truth = records(population.tolist(), [1.0] * len(population)).poverty().value[0]
    for _ in range(60):
        drawn = rng.choice(population, 400)
        found = records(drawn.tolist(), [50.0] * 400).poverty()
        held += abs(found.value[0] - truth) <= 1.96 * found.error[0]
    assert 50 <= held <= 60


def test_the_card_prints_weighted_figures_by_the_published_weight() -> None:
    table = sample()
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(0))
    masked = masked.with_columns({"w": np.round(table.column("w"), -1)})
    useful = crypsis.Usefulness(income="income")
    weighted = crypsis.utility_card(table, masked, useful, general=(), analyses=0).weighted
    assert weighted is not None
    assert (weighted.weights, weighted.strata, weighted.units) == ("w", ("region",), "home")
    income = next(each for each in weighted.columns if each.name == "income")
    mean, poor = income.figure("mean"), income.figure("at risk of poverty, %")
    assert mean is not None
    assert poor is not None
    assert mean.after == pytest.approx(np.average(masked.column("income"), weights=masked.column("w")))
    assert poor.before == pytest.approx(survey.poverty(table.column("income").tolist(), table.column("w").tolist()))
    assert poor.error is not None
    assert crypsis.utility_card(crypsis.example(50), crypsis.example(50), general=(), analyses=0).weighted is None


def test_uses_are_weighted_by_the_role_unless_they_say_otherwise() -> None:
    table = sample()
    assert np.array_equal(weights_for_uses(table, ""), table.column("w"))
    assert np.array_equal(weights_for_uses(table, "none"), np.ones(len(table)))
    by_role = EstimateUse.read("mean income").against(table).prepared.before.value[0]
    assert by_role == pytest.approx(np.average(table.column("income"), weights=table.column("w")))
    plain = EstimateUse.read("mean income weight none").against(table).prepared.before.value[0]
    assert plain == pytest.approx(table.column("income").mean())


@pytest.mark.parametrize("text", ["gini income", "poverty income", "gini income by region", "poverty income by region"])
def test_inequality_and_poverty_are_uses(text: str) -> None:
    table = sample()
    bound = EstimateUse.read(text).against(table)
    assert bound.read(table) == pytest.approx(0.0, abs=1e-9)
    levelled = table.with_columns({"income": np.full(len(table), table.column("income").mean())})
    assert bound.read(levelled) > 90
    by_hand = survey.gini if text.startswith("gini") else survey.poverty
    if " by " not in text:
        value = by_hand(table.column("income").tolist(), table.column("w").tolist())
        assert bound.prepared.before.value[0] == pytest.approx(value)


def test_poverty_of_groups_is_read_by_the_median_of_all() -> None:
    table = sample()
    bound = EstimateUse.read("poverty income by region").against(table)
    income, weights = table.column("income"), table.column("w")
    line = 0.6 * survey.median(income.tolist(), weights.tolist())
    for cell, value in zip(bound.prepared.grid.cells[:, 0], bound.prepared.before.value, strict=True):
        here = table.column("region") == cell
        assert value == pytest.approx(100 * weights[here & (income < line)].sum() / weights[here].sum())


def test_a_weight_is_not_analysed_by_itself() -> None:
    assert "stands twice" in EstimateUse.read("mean w").obstacle(sample())
    with pytest.raises(PlanError):
        EstimateUse.read("gini")
