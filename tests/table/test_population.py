"""The population behind a file: individual risk, uniqueness, weights and members, by hand and by slow definitions."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.table import population as module
from crypsis.table.population import (
    ClassSizes,
    believed_population_count,
    combine_population_risks,
    count_people_in_population,
    estimate_population_by_snb,
    estimate_population_by_zayatz,
    estimate_uniqueness_behind_file,
    find_members_of_population,
    fit_population_pitman,
    individual_population_risks,
    record_weights,
    sampling_fraction,
    weight_obstacle,
)
from crypsis.table.table import Table
from naive import population as naive


def risk(f: float, people: float, approximate: bool = False) -> float:
    return float(individual_population_risks(np.array([f]), np.array([people]), approximate)[0])


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


def test_closed_forms_of_one_and_two_records() -> None:
    """f = 1: (p/q) ln(1/p); f = 2: p/q − (p/q)² ln(1/p)."""
    for people in (1.5, 2.0, 10.0, 1e6):
        p, q = 1 / people, 1 - 1 / people
        assert risk(1, people) == pytest.approx(p / q * -math.log(p), rel=1e-13)
        p, q = 2 / (2 * people), 1 - 1 / people
        assert risk(2, 2 * people) == pytest.approx(p / q - (p / q) ** 2 * -math.log(p), rel=1e-9)


def test_a_class_that_is_the_whole_population_is_found_by_a_guess() -> None:
    assert [risk(f, people) for f, people in ((1, 1), (4, 4), (4, 2), (3, 0))] == pytest.approx(
        [1, 1 / 4, 1 / 4, 1 / 3]
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80), st.floats(1.0, 20.0))
def test_it_is_the_mean_of_one_over_a_negative_binomial_number(f: int, times: float) -> None:
    assert risk(f, f * times) == pytest.approx(naive.individual_risk(f, f * times), rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5000), st.floats(1.0, 1e6))
def test_it_lies_between_one_over_the_population_and_one_over_the_class(f: int, times: float) -> None:
    """Jensen: E[1/F] ≥ 1/E[F]; and F ≥ f. The approximation is never below."""
    found = risk(f, f * times)
    assert 1 / (f * times) * (1 - 1e-9) <= found <= 1 / f * (1 + 1e-12)
    assert risk(f, f * times, approximate=True) >= found * (1 - 1e-9)


def test_one_member_found_is_a_household_found() -> None:
    assert combine_population_risks(np.array([0.1, 0.2, 1.0, 0.3]), np.array([0, 0, 1, 1])).tolist() == pytest.approx(
        [0.28, 1.0]
    )
    assert combine_population_risks(np.array([1e-18]), np.array([0])).tolist() == [1e-18], "no digit is lost"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=15), st.integers(1, 9))
def test_zayatz_is_what_exact_fractions_give(sizes: list[int], times: int) -> None:
    found = estimate_population_by_zayatz(ClassSizes.of(np.array(sizes)), 1 / times)
    assert found == pytest.approx(naive.zayatz(sizes, times * sum(sizes)), rel=1e-9)


def test_a_census_knows_its_uniques() -> None:
    sizes = ClassSizes.of(np.array([1, 1, 2, 3]))
    assert estimate_population_by_zayatz(sizes, 1.0) == pytest.approx(2 / 7)
    assert estimate_uniqueness_behind_file(sizes, 1.0).rule == pytest.approx(2 / 7)


def test_without_a_unique_record_nobody_is_unique() -> None:
    found = estimate_uniqueness_behind_file(ClassSizes.of(np.array([2, 3])), 0.05)
    assert (found.pitman, found.zayatz, found.snb, found.rule) == (0.0, 0.0, 0.0, 0.0)


def test_where_pitman_does_not_fit_the_rule_takes_zayatz() -> None:
    alone = ClassSizes.of(np.ones(20, dtype=np.int64))
    assert fit_population_pitman(alone) is None
    found = estimate_uniqueness_behind_file(alone, 0.05)
    assert (found.pitman, found.snb, found.chosen) == (None, None, "zayatz")
    assert found.rule == found.zayatz == 1.0


def test_pitman_solves_its_equations() -> None:
    """Both likelihood equations by plain sums."""
    sizes = ClassSizes.of(np.array([1] * 40 + [2] * 12 + [3] * 5 + [9, 14]))
    model = fit_population_pitman(sizes)
    assert model is not None
    n, u = int(sizes.records), int(sizes.count)
    first = sum(1 / (model.theta + i * model.alpha) for i in range(1, u))
    assert first == pytest.approx(sum(1 / (model.theta + i) for i in range(1, n)), rel=1e-9)
    second = sum(i / (model.theta + i * model.alpha) for i in range(1, u))
    pairs = zip(sizes.size, sizes.classes, strict=True)
    right = sum(c * sum(1 / (i - model.alpha) for i in range(1, int(j))) for j, c in pairs)
    assert second == pytest.approx(right, rel=1e-9)


def test_the_slide_negative_binomial_finds_the_population_it_was_drawn_from() -> None:
    """A simulated population of its own kind: the estimate is near the truth."""
    rng = np.random.default_rng(3)
    people = 1 + rng.negative_binomial(0.5, 0.2, 60_000)
    drawn = rng.binomial(people, 0.4)
    truth = float((people == 1).sum() / people.sum())
    found = estimate_population_by_snb(ClassSizes.of(drawn), float(drawn.sum() / people.sum()))
    assert found == pytest.approx(truth, rel=0.15)


def test_so_many_records_are_hardly_drawn_from_a_small_class() -> None:
    """Poisson with mean 0.5, of those above 0: P(X ≥ 2) = 0.229, P(X ≥ 3) = 0.0366, P(X ≥ 4) = 0.00446."""
    assert [believed_population_count(5, 0.1, s) for s in (0.3, 0.05, 0.01)] == [2, 3, 4]
    assert believed_population_count(5, 1e-6, 0.05) == 2, "one record proves nothing, however small the sample"
    assert believed_population_count(5, 1.0, 0.05) == 5, "never more than k"


def weighed(weights: list[float | None], roles: dict[str, str] | None = None) -> Table:
    columns = {"town": ["a", "a", "b", "b"], "w": weights, "v": [1.0, 2, 3, 4]}
    return Table.from_columns(columns, roles or {"town": "quasi", "w": "weight"})


def test_weights_add_up_and_never_below_the_class() -> None:
    table = weighed([10, 5, 0.25, 0])
    counted = count_people_in_population(table, ["town"], weights=record_weights(table))
    assert counted.people.tolist() == [15, 15, 2, 2]
    assert sampling_fraction(table, None) == pytest.approx(4 / 15.25)
    assert (sampling_fraction(table, 0.3), sampling_fraction(table.drop(["w"]), None)) == (0.3, None)


@pytest.mark.parametrize(
    ("weights", "roles", "words"),
    [
        ([1, None, 3, 4], None, "1 missing"),
        ([1, -2, -3, 4], None, "2 negative"),
        ([1, 2, 3, 4], {"w": "weight", "v": "weight"}, "2 columns have the role 'weight'"),
        ([1, 2, 3, 4], {"town": "weight"}, "holds no numbers"),
    ],
)
def test_weights_that_count_nobody_are_refused(
    weights: list[float | None], roles: dict[str, str] | None, words: str
) -> None:
    table = weighed(weights, roles)
    assert words in weight_obstacle(table)
    with pytest.raises(TableError, match=words):
        record_weights(table)


def test_a_suppressed_record_needs_no_weight() -> None:
    table = weighed([1, None, 3, 4]).without(np.array([False, True, False, False]))
    assert weight_obstacle(table) == ""


def test_members_of_a_population() -> None:
    table = Table.from_columns({"town": list("aabb"), "in": list("ynyn"), "one": [1, 0, 1, 0]}, {"town": "quasi"})
    counted = count_people_in_population(table, ["town"], members=find_members_of_population(table, "in", "y"))
    assert counted.records[[0, 2]].tolist() == [1, 1]
    assert counted.people[[0, 2]].tolist() == [2, 2]
    assert np.isnan(counted.people[[1, 3]]).all()
    assert find_members_of_population(table, "one", "1").tolist() == [True, False, True, False]
    for member, present, words in (("x", "y", "no column 'x'"), ("in", "?", "no category"), ("one", "y", "a number")):
        with pytest.raises(TableError, match=words):
            find_members_of_population(table, member, present)
