"""Class risk: on hand-sized files, by its slow definition, and on class sizes counted elsewhere."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from adult import adult
from crypsis.measures.class_risk import class_risk
from crypsis.table.table import Table
from reference import conformance
from test_missing_stays_missing import holed


def test_two_classes_among_five_people() -> None:
    people = Table.from_columns({"town": list("aaabb"), "ill": list("xyzxy")}, {"town": "quasi", "ill": "confidential"})
    reading = crypsis.ClassRisk().against(people).explain(people)
    assert reading.value == 40.0
    assert dict(reading.counts) == {"classes": 2, "records": 5, "smallest class": 2, "worst of a person, %": 50.0}
    assert reading.scope == ("town",)


def test_a_suppressed_record_is_in_no_class_and_not_counted() -> None:
    people = Table.from_columns({"town": list("aaabb")}, {"town": "quasi"})
    fewer = people.without(np.array([True, False, False, False, True]))
    assert class_risk(fewer, ["town"]) == pytest.approx(200 / 3)
    assert class_risk(people.without(np.ones(5, dtype=bool)), ["town"]) == 0.0


def test_values_of_a_class_do_not_speak_after_perturbation() -> None:
    assert crypsis.ClassRisk.valid_for == {"aggregation", "recoding"}


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 40), seed=st.integers(0, 10_000))
def test_it_is_the_mean_of_one_over_the_class_size(n: int, seed: int) -> None:
    table = holed(n, seed, 0.2)
    names = table.quasi_identifiers
    rows = [tuple(row) for row in table.codes(names).tolist()]
    held = Counter(rows)
    assert class_risk(table, names) == pytest.approx(100 * np.mean([1 / held[row] for row in rows]))


def test_adult_has_the_risk_that_arx_prints() -> None:
    table = adult()
    with conformance("adult8_class_sizes.csv").open() as file:
        sizes = {int(row["size"]): int(row["classes"]) for row in csv.DictReader(file)}
    expected = 100 * sum(sizes.values()) / sum(size * classes for size, classes in sizes.items())
    reading = crypsis.ClassRisk().against(table).explain(table)
    assert reading.value == pytest.approx(expected, rel=1e-12)
    assert reading.value == pytest.approx(41.30362708, rel=1e-9)  # average prosecutor risk of ARX 3.9.2
    assert reading.counts["classes"] == sum(sizes.values())
