"""Values that only look different are one value: spellings of a category, digits nobody reads."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.privacy.diversity import LDiversity
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.lookalikes import (
    LookAlikes,
    fold_label,
    folded_codes,
    look_alikes,
    merge_lookalikes,
    round_lookalike_numbers,
)
from crypsis.table.table import Table

SPELLINGS = ["HIV", "hiv", "HIV ", " Hiv", "\u200bHIV", "\uff28\uff29\uff36", "hiv\u00a0"]


def test_spellings_of_one_category() -> None:
    assert len({fold_label(label) for label in SPELLINGS}) == 1
    assert fold_label("type\u00a0\u2003 II") == fold_label("Type ii")
    assert fold_label("Straße") == fold_label("STRASSE")
    assert fold_label("café") == fold_label(unicodedata.normalize("NFD", "Café"))
    assert len({fold_label(label) for label in ("a b", "ab", "a", "b")}) == 4


ALIKE = [
    ["HIV", "HIV.", "\u041dIV", "H\u0399V", "(HIV)", "hiv!"],
    ["HIV-1", "HIV 1", "HIV\u20131", "hiv-1.", "HIV_1", "HIV - 1"],
    ["Crohn's", "Crohns", "Crohn\u2019s"],
    ["\u0421\u041e\u0420", "COP", "\u0441\u043e\u0440"],
    ["No.5", "No 5", "no. 5"],
    ["flu, severe", "flu - severe", "flu-severe", "flu; severe"],
    ["3.4", "3.4."],
    ["\u0451\u043b\u043a\u0430", "\u0401\u041b\u041a\u0410", "\u0451\u043b\u043a\u0430."],
]
"""Labels of a line are one value."""
DIFFERENT = [
    ["3-4", "34", "3 4", "3.4", "3,4", "3:4", "3/4"],
    ["A", "A+", "A-", "A*", "A?", "A#"],
    ["1", "-1", "+1", "(1)", ".1", "1'", "1%"],
    ["<5", ">5", "5", "5+", "\u22655", "~5"],
    ["[20, 30)", "[20, 30]", "(20, 30]", "20, 30"],
    ["HIV 1", "HIV -1", "HIV 2", "HIV +1"],
    ["5 \u00b5g", "5 mg", "5 g"],
    ["O- negative", "O negative", "O+ negative"],
    ["-", ".", "?", "..."],
    ["e", "\u00e9"],
    ["1,000", "1000", "1.000"],
]
"""Labels of a line are as many values."""


@pytest.mark.parametrize("labels", ALIKE)
def test_punctuation_and_letters_that_look_alike_make_no_value(labels: list[str]) -> None:
    assert len({fold_label(label) for label in labels}) == 1, [fold_label(label) for label in labels]
    table = Table.from_columns({"ill": [*labels, "none"]})
    assert len(np.unique(folded_codes(table, "ill"))) == 2


@pytest.mark.parametrize("labels", DIFFERENT)
def test_marks_that_change_a_number_or_a_sign_make_values(labels: list[str]) -> None:
    assert len({fold_label(label) for label in labels}) == len(labels), [fold_label(label) for label in labels]


def test_spellings_do_not_pass_for_diverse() -> None:
    table = Table.from_columns(
        {"town": ["a"] * 4, "ill": ["HIV", "HIV.", "\u041dIV", "hiv "]}, {"town": "quasi", "ill": "confidential"}
    )
    assert LDiversity(l=2).judge(table).attained == 1


def test_codes_keep_the_order_and_missing_stays_missing() -> None:
    table = Table(
        (Attribute("grade", Kind.ORDINAL, Role.CONFIDENTIAL, ("low", "Low ", "mid", "high")),),
        (np.array([3, 1, 0, -1, 2], dtype=np.int32),),
    )
    assert folded_codes(table, "grade").tolist() == [3, 0, 0, -1, 2]
    assert merge_lookalikes(table, ["grade"]).labels("grade") == table.labels("grade")
    assert look_alikes(table, "grade") == [LookAlikes(spellings=2, records=2)]
    assert look_alikes(table.without(np.arange(5) == 1), "grade") == []


def test_numbers_that_differ_beyond_nine_digits() -> None:
    near = [1.0, 1.0 + 1e-10, 2.5, 2.5000000001, 123456789.1, 123456789.2, 1234567891, 1234567892, np.nan]
    table = Table.from_columns({"x": near})
    assert folded_codes(table, "x").tolist() == [0, 0, 1, 1, 2, 2, 3, 3, -1]
    assert look_alikes(table, "x") == [LookAlikes(2, 2)] * 4


def test_numbers_of_nine_digits_stay_as_they_are() -> None:
    exact = np.array([0.0, -1.5, 0.1, 0.3, 19.99, 1e-5, 123456789.0, -987654321.0, 1e15, 2.0**20, 5e-300, 1e300])
    assert round_lookalike_numbers(exact).tolist() == exact.tolist()
    assert round_lookalike_numbers(np.array([9.9999999999, 99.9999999999])).tolist() == [10.0, 100.0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200), min_size=1))
def test_rounding_is_that_of_print(values: list[float]) -> None:
    found = round_lookalike_numbers(np.array(values) + 0.0)
    for value, rounded in zip(values, found.tolist(), strict=True):
        if abs(value) > 1e-290:
            assert rounded == pytest.approx(float(f"{value:.8e}"), rel=1.1e-8)
    again = round_lookalike_numbers(found)
    assert again == pytest.approx(found, rel=1e-12), "rounding twice changes nothing"
    order = np.argsort(values)
    assert (np.diff(found[order]) >= 0).all(), "rounding keeps the order"


@given(st.text() | st.text("aA1 .-()',\u0435\u0301\u041d"))
def test_folding_twice_changes_nothing(label: str) -> None:
    assert fold_label(fold_label(label)) == fold_label(label)
