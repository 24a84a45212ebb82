"""Distributions before and after show shapes, never a person."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.report.content import RecordHarm, hardest_groups_for_reports
from crypsis.report.histograms import FEW, _count_labels, class_size_histogram, histograms_of_distributions
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.builders import build_hierarchy
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from crypsis.text.reports import value_text

PLACES = Hierarchy.from_rows([["a", "west", "*"], ["b", "west", "*"], ["c", "east", "*"]])


def people(places: str, ages: list[float]) -> Table:
    attributes = (
        Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c"), PLACES),
        Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER),
    )
    return Table(attributes, (np.array(["abc".find(p) for p in places], dtype=np.int32), np.array(ages)))


def test_class_sizes_by_hand() -> None:
    drawn = class_size_histogram(np.array([1.0, 1, 2, 2, 7]), np.array([5.0, 5, 5, 5, np.nan]))
    assert drawn.labels[:4] == ("1", "2", "3–4", "5–9")
    assert drawn.before[:4] == (2, 2, 0, 1)
    assert drawn.after[:4] == (0, 0, 0, 4)
    assert "2 records are unique" in drawn.summary
    assert "smallest equivalence class has 5 records" in drawn.summary


def test_rare_categories_are_pooled_and_the_shift_is_told() -> None:
    table = people("a" * 20 + "b" * 15 + "c" * 3, [30.0] * 38)
    masked = table.with_columns({"place": np.array([0] * 25 + [1] * 13, dtype=np.int32)})
    drawn = next(each for each in histograms_of_distributions(table, masked) if each.name == "place")
    assert drawn.labels == ("a", "b", "all others")
    assert drawn.before == (20, 15, 3)
    assert drawn.after == (25, 13, 0)
    assert "a goes from 52.6 % to 65.8 %" in drawn.summary


def test_the_ends_of_a_numeric_column_hold_several_people() -> None:
    ages = [*np.repeat(np.arange(20.0, 60.0), 5), 101.0, 3.0]
    table = people("a" * len(ages), ages)
    drawn = next(each for each in histograms_of_distributions(table, table) if each.name == "age")
    assert drawn.before[0] >= FEW
    assert drawn.before[-1] >= FEW
    assert sum(drawn.before) == len(ages)
    assert not any("101" in label or label == "under 3" for label in drawn.labels)


def test_a_generalised_column_is_compared_by_its_groups() -> None:
    table = people("a" * 12 + "b" * 12 + "c" * 12, [30.0] * 36)
    leaves = table.leaf_codes("place")
    lifted = table.with_columns({"place": PLACES.lift(leaves, 1)}, levels={"place": 1})
    drawn = next(each for each in histograms_of_distributions(table, lifted) if each.name == "place")
    assert dict(zip(drawn.labels, drawn.after, strict=True)) == {"west": 24, "east": 12}
    assert drawn.before == drawn.after
    hidden = table.with_columns({"place": PLACES.lift(leaves, 2)}, levels={"place": 2})
    assert [each.name for each in histograms_of_distributions(table, hidden)] == ["age"], "one group has no shape"


def test_a_locally_recoded_column_is_compared_at_one_level() -> None:
    """Nodes: a, b, c = 0, 1, 2; west, east = 3, 4; * = 5. One record in ten may be coarser than what is shown."""
    table = people("a" * 40 + "b" * 40 + "c" * 20, [30.0] * 100)
    fine = [0] * 40 + [1] * 40 + [2] * 8 + [4] * 12

    def drawn(nodes: list[int]) -> tuple[dict[str, tuple[float, float]], str]:
        local = table.with_columns({"place": np.array(nodes, dtype=np.int32)}, levels={"place": LOCAL})
        found = next(each for each in histograms_of_distributions(table, local) if each.name == "place")
        return {la: (b, a) for la, b, a in zip(found.labels, found.before, found.after, strict=True)}, found.summary

    bars, summary = drawn(fine)
    assert bars == {"west": (80, 80), "east": (20, 20)}, "c and east are both in the east"
    assert summary == "Compared at level 1 of 2 of its hierarchy."
    bars, summary = drawn([3] * 70 + [5] * 10 + [2] * 20)
    assert bars == {"west": (80, 70), "east": (20, 20), "*": (0, 10)}
    assert "10.0 % of the records are published in coarser groups" in summary
    bars, summary = drawn([0] * 40 + [1] * 40 + [2] * 20)
    assert bars == {"a": (40, 40), "b": (40, 40), "c": (20, 20)}
    assert summary == "Compared at level 0 of 2 of its hierarchy."


def test_generalised_numbers_stand_in_their_order() -> None:
    values = np.repeat(np.arange(0.0, 40.0), 3)
    attribute = Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER)
    hierarchy = build_hierarchy("intervals:10", attribute, np.unique(values))
    table = Table((attribute.but(hierarchy=hierarchy),), (values,))
    lifted = table.with_columns({"age": hierarchy.lift(table.leaf_codes("age"), 1)}, levels={"age": 1})
    (drawn,) = histograms_of_distributions(table, lifted)
    assert list(drawn.labels) == list(hierarchy.labels[1])


@pytest.mark.parametrize("ages", [[np.nan] * 12, [5.0] * 12, [np.nan] * 11 + [7.0]])
def test_columns_with_little_in_them_are_no_trouble(ages: list[float]) -> None:
    table = people("a" * 12, ages)
    histograms_of_distributions(table, table)
    histograms_of_distributions(table, table.without(np.ones(12, dtype=bool)))


def test_dates_are_told_as_days() -> None:
    assert value_text(0.0, "date") == "1970-01-01"
    assert value_text(86400.0 * 31, "datetime") == "1970-02-01"
    assert value_text(1234.5678, "") == "1235"


def test_the_hardest_groups_by_hand() -> None:
    """Twenty in a, ten in b, three in c: c is only spoken of together with other rare values, and b bears most."""
    places = "a" * 20 + "b" * 10 + "c" * 3
    table = people(places, [30.0] * 33)
    loss = np.array([0.1] * 20 + [0.5] * 10 + [1.0] * 3)
    suppressed = np.arange(33) >= 30
    found = np.array([0.0] * 20 + [0.2] * 10 + [0.0] * 3)
    groups = hardest_groups_for_reports(table, RecordHarm(np.zeros(33, dtype=bool), suppressed, loss, found), ["place"])
    assert [(g.column, g.group, g.records) for g in groups] == [
        ("", "all records", 33),
        ("place", "b", 10),
        ("place", "a", 20),
    ]
    assert groups[1].loss == pytest.approx(50)
    assert groups[1].found == pytest.approx(20)
    assert groups[0].suppressed == pytest.approx(100 * 3 / 33)


def test_rare_values_are_spoken_of_together_once_they_are_many() -> None:
    attribute = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple("abcdefgh"))
    codes = np.array([0] * 30 + [code for code in range(1, 8) for _ in range(2)], dtype=np.int32)
    table = Table((attribute,), (codes,))
    nothing = np.zeros(len(codes))
    groups = hardest_groups_for_reports(table, RecordHarm(nothing == 1, nothing == 1, nothing, None), ["place"])
    assert {g.group for g in groups} == {"all records", "a", f"values of fewer than {FEW} records, together"}
    assert groups[0].found is None


def test_numbers_are_grouped_in_quarters_and_missing_ones_apart() -> None:
    table = people("a" * 60, [*np.arange(48.0), *([np.nan] * 12)])
    nothing = np.zeros(60)
    groups = hardest_groups_for_reports(table, RecordHarm(nothing == 1, nothing == 1, nothing, nothing), ["age"])
    assert sorted(g.records for g in groups) == [12, 12, 12, 12, 12, 60]


@given(codes=st.lists(st.integers(-1, 4), max_size=20))
def test_labels_are_counted_in_the_order_of_their_first_record(codes: list[int]) -> None:
    labels = ("a", "b", "c", "b", "d")
    one_by_one = Counter(labels[code] for code in codes if code >= 0)
    counted = _count_labels(np.array(codes, dtype=np.int32), labels)
    assert counted == one_by_one
    assert list(counted) == list(one_by_one)
