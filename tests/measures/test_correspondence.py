"""Files in another order: put in order by a key, or not compared record by record."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.masking import LocalRecoding, Microaggregation
from crypsis.measures import assess
from crypsis.measures.assess import NOT_IN_PLACE, assessed_rows_correspond
from crypsis.table.aligning import align
from crypsis.table.example import example
from crypsis.table.frames import to_frame
from crypsis.table.table import Table


@pytest.mark.parametrize("method", [Microaggregation(k=5), Microaggregation(k=50), LocalRecoding(k=20)])
@pytest.mark.parametrize("rows", [150, 400])
def test_rows_in_place_and_shuffled(method: Microaggregation | LocalRecoding, rows: int) -> None:
    original = example(rows)
    masked = method.mask(original, np.random.default_rng(0))
    assert assessed_rows_correspond(original, masked)
    assert not assessed_rows_correspond(original, masked.take(np.random.default_rng(1).permutation(rows)))


@pytest.mark.parametrize(("rows", "k"), [(30, 5), (30, 12), (40, 20), (60, 25), (60, 30)])
def test_small_files_that_are_heavily_masked(rows: int, k: int) -> None:
    """Ten samples each: the right order is known in nine at least, a random one passes once at most."""
    whole = example(400)
    whole = whole.drop([name for name in whole.names if name not in whole.quasi_identifiers])
    right = shuffled = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        original = whole.take(rng.choice(400, rows, replace=False))
        masked = Microaggregation(k=k).mask(original, rng)
        right += assessed_rows_correspond(original, masked)
        shuffled += assessed_rows_correspond(original, masked.take(rng.permutation(rows)))
    assert right >= 9
    assert shuffled <= 1


def test_one_group_of_all_records_has_no_order() -> None:
    original = example(60)
    original = original.drop([name for name in original.names if name not in original.quasi_identifiers])
    masked = Microaggregation(k=50).mask(original, np.random.default_rng(0))
    assert assessed_rows_correspond(original, masked.take(np.arange(60)[::-1])), "every order has the same figures"


def test_a_column_as_collected_shows_the_order_where_all_others_say_nothing() -> None:
    rng = np.random.default_rng(2)
    roles = {"age": "quasi", "pay": "confidential"}
    original = Table.from_columns(
        {"age": rng.integers(18, 80, 40).tolist(), "pay": rng.normal(0, 1, 40).tolist()}, roles
    )
    masked = original.with_columns({"age": np.full(40, 40.0)})
    assert assessed_rows_correspond(original, masked)
    assert not assessed_rows_correspond(original, masked.take(rng.permutation(40)))


def test_what_cannot_be_judged_is_taken_at_its_word() -> None:
    few = example(20)
    assert assessed_rows_correspond(few, few.take(np.arange(20)[::-1]))
    constant = Table.from_columns({"town": ["a"] * 50}, roles={"town": "quasi"})
    assert assessed_rows_correspond(constant, constant)


def test_a_key_puts_the_rows_in_order() -> None:
    original = Table.from_columns(
        {"id": list(range(100, 140)), "age": list(range(40))}, roles={"id": "other", "age": "quasi"}
    )
    masked = original.with_columns({"age": np.repeat(np.arange(8) * 5.0 + 2, 5)})
    shuffled = masked.take(np.random.default_rng(3).permutation(40))
    again = align(original, shuffled)
    assert np.array_equal(again.column("age"), masked.column("age"))
    whole, mixed = (assess(original, align(original, each)) for each in (masked, shuffled))
    assert whole["record-linkage"].value == mixed["record-linkage"].value


def test_without_a_key_only_measures_of_the_whole_files_are_given() -> None:
    original = example(200)
    names = list(original.quasi_identifiers)
    original = original.drop([name for name in original.names if name not in names])
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    frame = to_frame(masked.take(np.random.default_rng(1).permutation(200)))
    found = assess(original, frame)
    whole = {"association-change", "propensity", "distribution-distance", "vanished-values", "tail-change"}
    whole.add("analyses-changed")
    assert {reading.measure for reading in found.readings} == whole
    assert found.skipped["record-linkage"] == NOT_IN_PLACE
    assert found.skipped["cell-loss"] == NOT_IN_PLACE
    straight = assess(original, to_frame(masked))
    assert straight["association-change"].value == pytest.approx(found["association-change"].value)
    assert "record-linkage" in {reading.measure for reading in straight.readings}
