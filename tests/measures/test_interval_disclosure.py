from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.partitions import GOMM, MANHATTAN, mdav
from crypsis.measures.interval_disclosure import IntervalDisclosure
from crypsis.measures.intervals import score_confidence_interval
from crypsis.table.table import Table
from naive import measures as naive
from reference import numeric

NAN = float("nan")


def table(values: np.ndarray) -> Table:
    names = [f"v{j}" for j in range(values.shape[1])]
    return Table.from_columns(dict(zip(names, values.T, strict=True)), dict.fromkeys(names, "quasi"))


def test_by_hand() -> None:
    """Ten values 1…10, the first published as 3: two ranks off, inside at 20 % and not at 10 %."""
    values = np.arange(1.0, 11).reshape(-1, 1)
    shown = values.copy()
    shown[0] = 3
    original, masked = table(values), table(shown)
    for width, expected in ((10, 90.0), (20, 100.0)):
        assert IntervalDisclosure(width=width, steps=1).against(original).read(masked) == expected
    # Deviation √8.25 = 2.87: 2 is 69.6 % of it. Relative, from 1 on [0, 1]: 2 is 100 % of 3 − 1.
    by_deviation = {"variant": "deviation", "steps": 1}
    assert IntervalDisclosure(width=69, **by_deviation).against(original).read(masked) == 90
    assert IntervalDisclosure(width=70, **by_deviation).against(original).read(masked) == 100
    assert IntervalDisclosure(variant="value", width=99, steps=1).against(original).read(masked) == 90
    assert IntervalDisclosure(variant="value", width=100, steps=1).against(original).read(masked) == 100
    # Widths 10, 20, 30, 40 %: 90 once, 100 three times.
    assert IntervalDisclosure(width=40, steps=4).against(original).read(masked) == pytest.approx(97.5)


def test_records_need_every_column_inside() -> None:
    values = np.arange(20.0).reshape(10, 2)
    shown = values.copy()
    shown[0, 0], shown[1, 1] = 18, -50
    original, masked = table(values), table(shown)
    assert IntervalDisclosure(count="cells").against(original).read(masked) == 90
    assert IntervalDisclosure(count="records").against(original).read(masked) == 80


def test_suppression_and_missing_values_disclose_nothing() -> None:
    values = np.array([[1.0], [2], [3], [NAN]])
    original = table(values)
    assert IntervalDisclosure().against(original).read(original) == 100
    assert IntervalDisclosure().against(original).read(original.without(np.array([True, False, False, False]))) == (
        pytest.approx(200 / 3)
    )
    blank = table(np.array([[1.0], [NAN], [3], [4]]))
    assert IntervalDisclosure().against(original).read(blank) == pytest.approx(200 / 3)


@given(st.integers(0, 10_000), st.integers(2, 15), st.sampled_from(["rank", "deviation", "value"]), st.booleans())
@settings(max_examples=50, deadline=None)
def test_equal_to_the_plain_loops(seed: int, n: int, variant: str, records: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, (n, 3)).astype(float)
    y = np.round(x + rng.standard_normal((n, 3)), 1)
    x[1:][rng.random((n - 1, 3)) < 0.1] = NAN
    y[rng.random((n, 3)) < 0.1] = NAN
    measure = IntervalDisclosure(variant=variant, width=30, steps=3, count="records" if records else "cells")
    expected = naive.interval_disclosure(x, y, variant, [10, 20, 30], records)
    assert measure.against(table(x)).read(table(y)) == pytest.approx(expected)


@pytest.mark.parametrize(("k", "expected"), [(5, 32.013), (10, 25.897), (25, 21.066)])
def test_figures_of_the_attribute_grouping_paper(k: int, expected: float) -> None:
    values = numeric("census.csv")[:, :12]
    low = values.min(axis=0)
    labels = mdav((values - low) / (values.max(axis=0) - low), k, GOMM, MANHATTAN)
    sizes = np.bincount(labels)
    shown = np.stack([np.bincount(labels, weights=column) / sizes for column in values.T], axis=1)[labels]
    bound = IntervalDisclosure(variant="value").against(table(values))
    assert bound.read(table(shown)) == pytest.approx(expected, abs=1e-3)


def test_a_reading_holds_what_guessing_the_median_gets() -> None:
    values = np.arange(100.0).reshape(-1, 1)
    reading = IntervalDisclosure(width=10, steps=1).against(table(values)).explain(table(values))
    assert reading.value == 100
    assert reading.baseline == pytest.approx(20, abs=1)
    assert reading.interval is not None
    assert reading.interval[1] == 100
    assert reading.counts["cells"] == 100


def test_constant_column() -> None:
    values = np.full((4, 1), 0.3)
    for variant in ("rank", "deviation", "value"):
        bound = IntervalDisclosure(variant=variant).against(table(values))
        assert bound.read(table(values)) == 100
        assert bound.read(table(values + 5)) in (0, 100 if variant == "value" else 0)


def test_obstacle() -> None:
    assert "numeric" in IntervalDisclosure().obstacle(Table.from_columns({"a": ["x"]}, {"a": "quasi"}))
    assert IntervalDisclosure().obstacle(table(np.array([[1.0], [2]]))) == ""


def test_a_reading_tells_what_it_counted() -> None:
    """1…10, the first as 3 and the last suppressed: 8 of 10 disclosed, the interval that of 8 hits in 10 records."""
    values = np.arange(1.0, 11).reshape(-1, 1)
    shown = values.copy()
    shown[0] = 3
    masked = table(shown).without(np.arange(10) == 9)
    reading = IntervalDisclosure(width=10, steps=1).against(table(values)).explain(masked)
    assert reading.value == pytest.approx(80)
    assert reading.interval == pytest.approx(score_confidence_interval(np.repeat([1.0, 0.0], [8, 2])))
    assert reading.counts == {"cells": 10, "suppressed": 1}
    assert (reading.better, reading.warning) == ("low", "")
    by_value = IntervalDisclosure(variant="value", count="records").against(table(values)).explain(masked)
    assert by_value.counts == {"records": 10, "suppressed": 1}
    assert by_value.warning == "intervals relative to the value depend on where the column's scale begins"


@pytest.mark.parametrize("variant", ["rank", "deviation", "value"])
def test_an_untouched_file_is_disclosed_by_the_narrowest_interval(variant: str) -> None:
    values = np.array([[1.0, 5], [2, NAN], [3, 7], [4, 8]])
    for count in ("cells", "records"):
        measure = IntervalDisclosure(variant=variant, width=0.01, steps=1, count=count)
        assert measure.against(table(values)).read(table(values)) == 100


def test_the_width_that_is_needed() -> None:
    """1…10, 1 as 3: two ranks of ten, 20 %; a blank is never inside."""
    values = np.arange(1.0, 11).reshape(-1, 1)
    shown = values.copy()
    shown[0], shown[1] = 3, NAN
    needed = IntervalDisclosure().against(table(values)).needed_width(shown)[:, 0]
    assert needed.tolist() == pytest.approx([20, np.inf, *[0] * 8])


def test_empty_and_constant_columns_are_read_without_a_warning() -> None:
    constant, holed = table(np.full((4, 1), 0.3)), table(np.array([[0.3], [NAN], [0.4], [0.3]]))
    empty = table(np.array([[NAN], [NAN]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for variant in ("rank", "deviation", "value"):
            bound = IntervalDisclosure(variant=variant).against(constant)
            assert bound.read(holed) == 50
            nothing = IntervalDisclosure(variant=variant).against(empty).explain(empty)
            assert (nothing.value, nothing.baseline, nothing.counts["cells"]) == (0, 0, 0)
