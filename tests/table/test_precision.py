"""Published numbers have the precision of the source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.table.precision import at_source_precision, decimals


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([1.0, 30.0], 0),
        ([0.1, 2.25], 2),
        ([np.nan, 1.5], 1),
        ([1 / 3, 2 / 3], 5),
        ([1e6 / 3, 2e6 / 3], 0),
        ([], 0),
        ([1 / 300, 2 / 300], 6),
        ([1e-6 / 3, 2e-6 / 3], 8),
    ],
)
def test_decimals_by_hand(values: list[float], digits: int) -> None:
    assert decimals(np.array(values)) == digits


@given(st.integers(0, 5), st.lists(st.integers(-(10**7), 10**7), min_size=1, max_size=20))
def test_values_written_with_so_many_decimals_are_kept(digits: int, numbers: list[int]) -> None:
    values = np.array([float(f"{number / 10**digits:.{digits}f}") for number in numbers])
    assert decimals(values) <= digits
    assert np.array_equal(np.round(values, decimals(values)), values)


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_rounding_splits_no_class(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = crypsis.Table.from_columns({"x": rng.integers(0, 50, 40).tolist(), "y": rng.normal(0, 1, 40).tolist()})
    masked = crypsis.Microaggregation(k=4, columns=("x", "y")).mask(original, rng)
    rounded = at_source_precision(masked, original)
    before, after = masked.codes(["x", "y"]), rounded.codes(["x", "y"])
    for one, other in zip(before, after, strict=True):
        assert (after[(before == one).all(axis=1)] == other).all()


def test_a_release_writes_numbers_as_the_source_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(18, 90, 60).tolist(), "pay": (rng.integers(0, 10**6, 60) / 100).tolist()}
    original = crypsis.Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    masked = crypsis.Microaggregation(k=5).mask(original, rng)
    crypsis.publish(masked, tmp_path / "out", models=[crypsis.KAnonymity(k=5)], original=original)
    written = pl.read_csv(tmp_path / "out" / "public" / "data.csv", infer_schema=False)
    assert written["age"].str.contains(r"^\d+$").all()
    assert written["pay"].str.contains(r"^\d+\.\d{1,2}$").all()
    assert written.group_by("age", "pay").len()["len"].min() >= 5
