"""One-to-one linkage on hand-sized files, and its costs against sets of values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.kernels.linkage import link_nearest_classes
from crypsis.measures.one_to_one_linkage import PublishedClasses, attack_one_to_one
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from naive import one_to_one as naive
from test_missing_stays_missing import holed


def test_one_to_one_finds_all_where_the_nearest_record_finds_one() -> None:
    people = Table.from_columns({"x": [0.0, 10.0, 20.0]}, {"x": "quasi"})
    masked = people.with_columns({"x": np.array([9.0, 12.0, 30.0])})
    # 10 lies nearest to 9 and 20 to 12, but 9 belongs to somebody nearer still: to 0, who has no other record.
    assert crypsis.RecordLinkage().against(people).read(masked) == pytest.approx(100 / 3)
    reading = crypsis.OneToOneLinkage().against(people).explain(masked)
    assert reading.value == 100.0
    assert reading.scope == ("x",)
    assert reading.counts["by cell loss"] == 1


def recoded(people: Table, name: str, labels: list[str]) -> Table:
    """A column recoded record by record to nodes of its hierarchy, given by their labels."""
    hierarchy = people.attribute(name).hierarchy
    assert hierarchy is not None
    codes = np.array([hierarchy.node_labels.index(label) for label in labels], dtype=np.int32)
    return people.with_columns({name: codes}, levels={name: LOCAL})


def towns() -> Table:
    rows = [[town, country, "*"] for town, country in zip("abcdef", "xxyyzz", strict=True)]
    people = Table.from_columns({"town": list("aabbcdef")}, {"town": "quasi"})
    return people.with_columns(
        {}, attributes={"town": people.attribute("town").but(hierarchy=Hierarchy.from_rows(rows))}
    )


def test_the_tightest_class_that_contains_a_person_wins() -> None:
    people = towns()
    masked = recoded(people, "town", ["x", "x", "x", "x", "*", "*", "*", "*"])
    # a and b lie in the class x of four and in the class * of four: eight equal records to the nearest-record attack.
    assert crypsis.RecordLinkage().against(people).read(masked) == pytest.approx(100 * (4 / 8 + 4 / 4) / 8)
    reading = crypsis.OneToOneLinkage().against(people).explain(masked)
    assert reading.value == pytest.approx(100 * 2 / 8)
    assert reading.value == crypsis.ClassRisk().against(people).read(masked)


def test_a_suppressed_record_is_not_found_and_nobody_is_where_all_are() -> None:
    people = Table.from_columns({"x": [1.0, 2.0, 3.0, 4.0]}, {"x": "quasi"})
    measure = crypsis.OneToOneLinkage().against(people)
    assert measure.read(people.without(np.array([True, False, False, False]))) == 75.0
    assert measure.read(people.without(np.ones(4, dtype=bool))) == 0.0


def test_a_draw_depends_on_the_seed_alone_and_its_interval_is_of_the_whole_file() -> None:
    table = crypsis.example(600)
    masked = crypsis.Microaggregation(k=3).mask(table, np.random.default_rng(0))
    whole = crypsis.OneToOneLinkage().against(table).explain(masked)
    some = [crypsis.OneToOneLinkage(sample=200, seed=seed).against(table).explain(masked) for seed in (1, 1, 2)]
    assert some[0] == some[1]
    assert some[0].value != some[2].value
    assert some[0].counts["people"] == 200
    assert some[0].counts["people in all"] == 600
    assert whole.interval is not None
    assert whole.interval[0] < whole.value < whole.interval[1]


MASKINGS = [
    crypsis.Microaggregation(k=3),
    crypsis.LocalRecoding(k=3),
    crypsis.Generalisation(level=1, suppression=1.0),
    crypsis.RankSwapping(percent=30),
    crypsis.Noise(amount=0.3),
    crypsis.Pram(theta=0.5),
]


@pytest.mark.parametrize("method", MASKINGS, ids=lambda each: type(each).__name__)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.0, 0.2]))
def test_costs_are_those_of_the_definition(method: crypsis.MaskingMethod, seed: int, share: float) -> None:
    table = holed(20, seed, share)
    names = table.quasi_identifiers
    masked = method.mask(table, np.random.default_rng(seed))
    published = PublishedClasses.of(table, masked, names)
    first = [int(np.flatnonzero(published.own == g)[0]) for g in range(len(published.sizes))]
    if not first:
        return
    costs, classes = link_nearest_classes(published.known, published.shown, len(first))
    parts = [naive.costs_of(table, masked, name, first) for name in names]
    for place, (found, listed) in enumerate(zip(costs, classes, strict=True)):
        full = np.sum([np.array(part[place]) for part in parts], axis=0)
        np.testing.assert_allclose(found, np.take_along_axis(full, listed, axis=1), atol=1e-9)
        np.testing.assert_allclose(found, np.sort(full, axis=1), atol=1e-9)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_nobody_finds_more_than_the_class_risk(seed: int) -> None:
    table = holed(40, seed, 0.1)
    masked = crypsis.LocalRecoding(k=3).mask(table, np.random.default_rng(seed))
    names = table.quasi_identifiers
    found = attack_one_to_one(PublishedClasses.of(table, masked, names), np.arange(40)).earned
    assert 100 * found.mean() <= crypsis.ClassRisk().against(table).read(masked) + 1e-9


def test_a_blank_may_be_any_value_where_some_were_blanked() -> None:
    people = Table.from_columns({"town": list("aabb"), "job": list("xyxy")}, {"town": "quasi", "job": "quasi"})
    masked = people.with_columns({"job": np.array([-1, 1, 0, 1], dtype=np.int32)})
    # Only the blank record can be that of the first person, who is equal to no other.
    assert crypsis.OneToOneLinkage().against(people).read(masked) == 100.0
