"""Individual and household risk: by hand, with published weights, suppressed records and readings of missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.errors import TableError
from crypsis.table.table import Table
from naive.population import individual_risk

ROLES = {"town": "quasi", "w": "weight", "home": "household"}


def people() -> Table:
    """Two in town a, three in b; three households."""
    columns = {"town": list("aabbb"), "w": [5.0, 15, 2, 2, 2], "home": [1, 2, 2, 3, 3]}
    return Table.from_columns(columns, ROLES)


def test_records_and_their_mean() -> None:
    table = people()
    in_a, in_b = individual_risk(2, 20), individual_risk(3, 6)
    bound = crypsis.IndividualRisk(threshold=0.1).against(table)
    assert bound.risks(table).tolist() == pytest.approx([in_a, in_a, in_b, in_b, in_b])
    reading = bound.explain(table)
    assert reading.value == pytest.approx(100 * (2 * in_a + 3 * in_b) / 5)
    assert reading.counts["expected re-identifications"] == pytest.approx(2 * in_a + 3 * in_b)
    assert reading.counts["records above 10 %"] == 3
    assert reading.warning == ""
    assert crypsis.IndividualRisk(statistic="highest").against(table).read(table) == pytest.approx(100 * in_b)
    assert crypsis.IndividualRisk(statistic="above", threshold=0.1).against(table).read(table) == 60.0


def test_households_by_one_minus_the_product() -> None:
    table = people()
    in_a, in_b = individual_risk(2, 20), individual_risk(3, 6)
    expected = [in_a, 1 - (1 - in_a) * (1 - in_b), 1 - (1 - in_b) ** 2]
    bound = crypsis.HouseholdRisk().against(table)
    assert bound.household_risks(table).tolist() == pytest.approx(expected)
    counts = bound.explain(table).counts
    assert counts["expected households found"] == pytest.approx(sum(expected))
    assert counts["sum over records"] == pytest.approx(expected[0] + 2 * expected[1] + 2 * expected[2])


def test_without_weights_it_is_class_risk() -> None:
    table = people().drop(["w"])
    reading = crypsis.IndividualRisk().against(table).explain(table)
    assert reading.value == pytest.approx(crypsis.ClassRisk().against(table).read(table))
    assert "whole population" in reading.warning
    assert "class-risk" in crypsis.assess(table, table).skipped["individual-risk"]
    assert "individual-risk" in [r.measure for r in crypsis.assess(table, table, ["individual-risk"]).readings]


def test_the_weight_that_counts_is_the_published_one() -> None:
    table = people()
    masked = table.with_columns({"w": np.full(5, 1.0)})
    assert crypsis.IndividualRisk().against(table).read(masked) == pytest.approx(40.0)


def test_suppressed_records_are_neither_counted_nor_found() -> None:
    table = people()
    fewer = table.without(np.array([True, False, False, True, True]))
    risks = crypsis.IndividualRisk().against(table).risks(fewer)
    assert np.isnan(risks[[0, 3, 4]]).all()
    assert risks[1] == pytest.approx(individual_risk(1, 15))
    homes = crypsis.HouseholdRisk().against(table).household_risks(fewer)
    assert np.isnan(homes[[0, 2]]).all()
    nobody = table.without(np.ones(5, dtype=bool))
    assert crypsis.IndividualRisk().against(table).read(nobody) == 0.0
    assert crypsis.HouseholdRisk().against(table).read(nobody) == 0.0


def test_a_blanked_cell_by_every_reading() -> None:
    """The third of b is blanked: alone by own; by target one of the three whose town may be b, and a has one more."""
    table = people().drop(["w", "home"])
    codes = table.column("town").copy()
    codes[4] = -1
    masked = table.with_columns({"town": codes})
    found = {
        reading: crypsis.IndividualRisk(missing=reading).against(table).risks(masked).round(6).tolist()
        for reading in ("own", "conservative", "target", "wildcard")
    }
    half, third = 0.5, round(1 / 3, 6)
    assert found["own"] == [half, half, half, half, 1.0]
    assert found["conservative"] == [third, third, third, third, 1.0]
    assert found["target"] == [third] * 5
    assert found["wildcard"] == [third, third, third, third, 0.2]
    classes = {r: crypsis.ClassRisk(missing=r).against(table).read(masked) for r in found}  # type: ignore[arg-type]
    assert classes == pytest.approx({r: 100 * np.mean(risks) for r, risks in found.items()}, abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=12))
def test_each_record_has_the_risk_of_its_class(rows: list[tuple[int, int]]) -> None:
    table = Table.from_columns(
        {"town": [str(town) for town, _ in rows], "w": [float(w) for _, w in rows]}, {"town": "quasi", "w": "weight"}
    )
    expected = [
        individual_risk(sum(t == town for t, _ in rows), sum(w for t, w in rows if t == town)) for town, _ in rows
    ]
    assert crypsis.IndividualRisk().against(table).risks(table).tolist() == pytest.approx(expected, rel=1e-8)


def test_what_cannot_be_read_is_said() -> None:
    table = people()
    assert "role 'household'" in crypsis.HouseholdRisk().obstacle(table.drop(["home"]))
    twice = table.with_roles({"home": crypsis.Role.WEIGHT})
    assert "name the one" in crypsis.IndividualRisk().obstacle(twice)
    with pytest.raises(TableError, match="rows"):
        crypsis.IndividualRisk().against(table).read(table.take(np.arange(3)))
