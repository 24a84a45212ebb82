"""What a known or predicted confidential value adds, on hand-sized files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis
from crypsis.attacks import confidential_knowledge as knowledge
from crypsis.attacks.confidential_knowledge import (
    _count_categories,
    _frequent,
    _likeliest,
    _list_numbers,
    _nearest_numbers,
    confidential_knowledge,
)
from crypsis.table.table import Table

ROLES = {"town": "quasi", "income": "confidential", "ill": "confidential"}


def test_pairs_of_class_and_value_are_counted() -> None:
    columns = {"town": list("aaaabbbb"), "income": [1.0, 2.0, 3.0, 3.0, 5.0, 6.0, 7.0, 8.0], "ill": list("xxxxxyyy")}
    people = Table.from_columns(columns, ROLES)
    income, ill = confidential_knowledge(people, people, answered=["ill"])
    assert (income.column, income.class_risk, income.exact) == ("income", 25.0, 87.5)
    assert (ill.exact, ill.rough, ill.numeric) == (37.5, 37.5, False)
    assert income.predicted is None
    assert (income.asks, ill.asks) == (True, False)
    assert not confidential_knowledge(people, people, answered=["income"])[0].asks


def test_a_tenth_is_known_of_a_number() -> None:
    columns = {"town": ["a"] * 100, "income": [float(x) for x in range(100)], "ill": ["x"] * 100}
    income = confidential_knowledge(Table.from_columns(columns, ROLES), Table.from_columns(columns, ROLES))[0]
    assert (income.exact, income.rough) == (100.0, 10.0)


def test_a_value_that_follows_from_the_quasi_identifiers_is_predicted() -> None:
    rng = np.random.default_rng(2)
    age = rng.integers(20, 80, 600).astype(float)
    roles = {"age": "quasi", "income": "confidential", "luck": "confidential"}
    people = Table.from_columns(
        {"age": age.tolist(), "income": (1000 * age).tolist(), "luck": rng.random(600).tolist()}, roles
    )
    masked = people.with_columns({"age": np.floor(age / 20) * 20})
    income, luck = confidential_knowledge(people, masked)
    assert income.predicted is not None
    assert luck.predicted is not None
    assert luck.predicted < 3 * income.class_risk
    assert income.predicted > 5 * income.class_risk
    assert income.predicted <= income.exact


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0, 2.0, 4.0, float("nan")]), st.integers(0, 5)), min_size=1
    )
)
def test_the_nearest_numbers_are_those_of_the_definition(rows: list[tuple[int, float, int]]) -> None:
    classes, values, guesses = np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), [r[2] for r in rows]
    held, all_of_them = _list_numbers(classes, values), np.arange(len(rows))
    found = _nearest_numbers(held, np.array(guesses, dtype=float), all_of_them)
    some = all_of_them[::2]
    assert _nearest_numbers(held, np.array(guesses, dtype=float)[some], some).tolist() == found[some].tolist()
    for i, guess in enumerate(guesses):
        inside = [j for j in range(len(rows)) if classes[j] == classes[i] and not np.isnan(values[j])]
        least = min((abs(values[j] - guess) for j in inside), default=0.0)
        tied = [j for j in inside if abs(values[j] - guess) == least]
        assert found[i] == pytest.approx(1 / len(tied) if i in tied else 0.0)


def test_the_likeliest_category_of_a_class_is_taken() -> None:
    likely = np.array([[0.6, 0.3, 0.1]] * 4)
    classes, codes = np.array([0, 0, 0, 1]), np.array([1, 1, 2, 0])
    found = _likeliest(_count_categories(classes, codes)[classes], codes, likely)
    assert found.tolist() == [0.5, 0.5, 0.0, 1.0]
    assert _frequent(np.array([9, 4, 4])).tolist() == [1, 0, 0]


def test_of_many_people_some_are_predicted_and_sought_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    table = crypsis.example(1000)
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(1))
    everybody = confidential_knowledge(table, masked)
    monkeypatch.setattr(knowledge, "MOST_ASKED", 600)
    for whole, drawn in zip(everybody, confidential_knowledge(table, masked), strict=True):
        assert whole.predicted is not None
        assert drawn.predicted == pytest.approx(whole.predicted, abs=5.0)
        assert drawn.predicted != whole.predicted
        assert (drawn.exact, drawn.rough) == (whole.exact, whole.rough)


def test_the_example_has_the_figures_that_the_statement_prints() -> None:
    table = crypsis.example(1000)
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(1))
    income = confidential_knowledge(table, masked)[0]
    assert income.class_risk == 20.0
    assert income.exact > 90.0
    assert 45.0 < income.rough < 80.0
    assert income.predicted is not None
    assert income.class_risk < income.predicted < income.rough
