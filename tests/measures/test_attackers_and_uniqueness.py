"""Prosecutor, journalist, marketer, uniqueness in the population and SUDA2 as measures: by hand."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.errors import TableError
from crypsis.table.population import ClassSizes, estimate_population_by_zayatz
from crypsis.table.table import Table


def population() -> Table:
    """Ten people, four of them in the file; town b has one member, who is one of two there."""
    return Table.from_columns(
        {"town": list("aaaaaaaabb"), "in": ["y"] * 3 + ["n"] * 5 + ["y", "n"]}, {"town": "quasi", "in": "other"}
    )


def test_the_prosecutor_knows_that_the_person_is_in_the_file() -> None:
    table = population().take(np.array([0, 1, 2, 8]))
    values = {
        s: crypsis.ProsecutorRisk(statistic=s).against(table).read(table) for s in ("above", "highest", "average")
    }
    assert values == pytest.approx({"above": 100.0, "highest": 100.0, "average": 50.0})
    strictly = crypsis.ProsecutorRisk(threshold=1 / 3).against(table)
    assert strictly.read(table) == 25.0, "a risk of exactly the threshold is not above it"
    assert strictly.explain(table).counts["records above 0.333333"] == 1


def test_the_journalist_and_the_marketer_look_into_the_population() -> None:
    table = population()
    asked = {"member": "in", "present": "y"}
    seen = {
        s: crypsis.JournalistRisk(**asked, statistic=s).against(table).read(table)
        for s in ("above", "highest", "average")
    }  # type: ignore[arg-type]
    assert seen == pytest.approx({"above": 25.0, "highest": 50.0, "average": 100 * (3 / 8 + 1 / 2) / 4})
    marketer = crypsis.MarketerRisk(**asked).against(table)  # type: ignore[arg-type]
    assert marketer.read(table) == pytest.approx(seen["average"])
    assert np.isnan(marketer.risks(table)).sum() == 6
    assert "counted in it" in marketer.explain(table).missing


def test_weights_stand_for_the_population_and_one_is_needed() -> None:
    table = Table.from_columns({"town": list("aab"), "w": [10, 10, 4]}, {"town": "quasi", "w": "weight"})
    assert crypsis.MarketerRisk().against(table).read(table) == pytest.approx(100 * (2 / 20 + 1 / 4) / 3)
    assert crypsis.JournalistRisk().against(table).read(table) == pytest.approx(100 / 3)
    bare = table.drop(["w"])
    assert "'member'" in crypsis.JournalistRisk().obstacle(bare)
    assert crypsis.MarketerRisk().obstacle(bare) == ""
    assert crypsis.MarketerRisk().against(bare).read(bare) == pytest.approx(
        crypsis.ClassRisk().against(bare).read(bare)
    )
    assert "class-risk" in crypsis.assess(bare, bare).skipped["marketer-risk"]


def test_every_estimate_is_told_with_the_one_the_rule_takes() -> None:
    sizes = [1] * 40 + [2] * 12 + [3] * 5 + [9, 14]
    towns = [str(place) for place, size in enumerate(sizes) for _ in range(size)]
    table = Table.from_columns({"town": towns, "w": [4.0] * len(towns)}, {"town": "quasi", "w": "weight"})
    reading = crypsis.PopulationUniqueness().against(table).explain(table)
    assert reading.counts["sampling fraction"] == 0.25
    assert reading.counts["Zayatz, %"] == pytest.approx(
        100 * estimate_population_by_zayatz(ClassSizes.of(np.array(sizes)), 0.25)
    )
    assert {"Pitman, %", "Zayatz, %", "slide negative binomial, %"} <= set(reading.counts)
    assert all(word in reading.warning for word in ("Pitman", "Zayatz", "slide negative binomial", "takes"))
    chosen = min(reading.counts["Zayatz, %"], reading.counts["slide negative binomial, %"])
    assert reading.value == pytest.approx(chosen)
    by_zayatz = crypsis.PopulationUniqueness(estimator="zayatz", fraction=0.25).against(table).read(table)
    assert by_zayatz == reading.counts["Zayatz, %"]
    assert "'fraction'" in crypsis.PopulationUniqueness().obstacle(table.drop(["w"]))


def test_an_estimator_that_does_not_fit_says_so() -> None:
    table = Table.from_columns({"town": list("abcdef")}, {"town": "quasi"})
    with pytest.raises(TableError, match="has no estimate"):
        crypsis.PopulationUniqueness(estimator="pitman", fraction=0.1).against(table).read(table)
    reading = crypsis.PopulationUniqueness(fraction=0.1).against(table).explain(table)
    assert "Pitman has no estimate" in reading.warning


def test_special_records() -> None:
    """The last two are alone by both columns; 2 of the others form a class of two, as do the first two."""
    table = Table.from_columns({"sex": list("ffmmmf"), "town": list("aaaabb")}, {"sex": "quasi", "town": "quasi"})
    bound = crypsis.Suda(fraction=0.5).against(table)
    odds = 2 * 0.5 / (4 * 0.5)  # δ · S^Q · Σ S^−Q over P (1 − δ), with S = 1 twice and P = 4
    assert bound.risks(table).tolist() == pytest.approx([0, 0, 0, 0, odds / (1 + odds), odds / (1 + odds)])
    reading = bound.explain(table)
    assert reading.value == pytest.approx(100 * 2 * odds / (1 + odds) / 6)
    assert reading.counts["records with a minimal sample unique"] == 2
    assert reading.counts["share of sex, %"] == 100.0
    assert crypsis.Suda(statistic="special").against(table).read(table) == pytest.approx(100 / 3)
    assert crypsis.Suda(largest=1).against(table).read(table) == 0.0
    few = table.take(np.array([4, 5]))
    assert "say nothing" in crypsis.Suda().against(few).explain(few).warning


def test_no_new_risk_enters_the_classic_scores() -> None:
    """They are the mean of what is named in per cent; these have units of their own."""
    table = Table.from_columns({"town": list("aabbb"), "w": [5.0] * 5}, {"town": "quasi", "w": "weight"})
    names = ("individual-risk", "prosecutor-risk", "journalist-risk", "marketer-risk", "suda", "population-uniqueness")
    assert crypsis.assess(table, table, names).disclosure_risk is None
