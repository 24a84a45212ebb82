"""Values that only look different are one value: spellings of a category, digits nobody reads."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.lookalikes import LookAlikes, folded_codes, folded_label, look_alikes, merged, rounded_numbers
from crypsis.table.table import Table

SPELLINGS = ["HIV", "hiv", "HIV ", " Hiv", "\u200bHIV", "\uff28\uff29\uff36", "hiv\u00a0"]


def test_spellings_of_one_category() -> None:
    assert len({folded_label(label) for label in SPELLINGS}) == 1
    assert folded_label("type\u00a0\u2003 II") == folded_label("Type ii")
    assert folded_label("Straße") == folded_label("STRASSE")
    assert folded_label("café") == folded_label(unicodedata.normalize("NFD", "Café"))
    assert len({folded_label(label) for label in ("a b", "ab", "a-b", "a", "b")}) == 5


def test_codes_keep_the_order_and_missing_stays_missing() -> None:
    table = Table(
        (Attribute("grade", Kind.ORDINAL, Role.CONFIDENTIAL, ("low", "Low ", "mid", "high")),),
        (np.array([3, 1, 0, -1, 2], dtype=np.int32),),
    )
    assert folded_codes(table, "grade").tolist() == [3, 0, 0, -1, 2]
    assert merged(table, ["grade"]).labels("grade") == table.labels("grade")
    assert look_alikes(table, "grade") == [LookAlikes(spellings=2, records=2)]
    assert look_alikes(table.without(np.arange(5) == 1), "grade") == []


def test_numbers_that_differ_beyond_nine_digits() -> None:
    near = [1.0, 1.0 + 1e-10, 2.5, 2.5000000001, 123456789.1, 123456789.2, 1234567891, 1234567892, np.nan]
    table = Table.from_columns({"x": near})
    assert folded_codes(table, "x").tolist() == [0, 0, 1, 1, 2, 2, 3, 3, -1]
    assert look_alikes(table, "x") == [LookAlikes(2, 2)] * 4


def test_numbers_of_nine_digits_stay_as_they_are() -> None:
    exact = np.array([0.0, -1.5, 0.1, 0.3, 19.99, 1e-5, 123456789.0, -987654321.0, 1e15, 2.0**20, 5e-300, 1e300])
    assert rounded_numbers(exact).tolist() == exact.tolist()
    assert rounded_numbers(np.array([9.9999999999, 99.9999999999])).tolist() == [10.0, 100.0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200), min_size=1))
def test_rounding_is_that_of_print(values: list[float]) -> None:
    found = rounded_numbers(np.array(values) + 0.0)
    for value, rounded in zip(values, found.tolist(), strict=True):
        if abs(value) > 1e-290:
            assert rounded == pytest.approx(float(f"{value:.8e}"), rel=1.1e-8)
    again = rounded_numbers(found)
    assert again == pytest.approx(found, rel=1e-12), "rounding twice changes nothing"
    order = np.argsort(values)
    assert (np.diff(found[order]) >= 0).all(), "rounding keeps the order"


@given(st.text())
def test_folding_twice_changes_nothing(label: str) -> None:
    assert folded_label(folded_label(label)) == folded_label(label)
