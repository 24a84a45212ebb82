"""Counting by packed keys: the same as a group-by, for every type that has an order, and None for others."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.table import lazy
from crypsis.table.lazy import tally_packed_lazily

CELLS = {
    "word": st.sampled_from(["a", "b", "ab", "", "ü", None]),
    "whole": st.sampled_from([-3, 0, 7, 2**40, None]),
    "real": st.sampled_from([-0.5, 0.0, 1e9, float("nan"), None]),
    "yes": st.sampled_from([True, False, None]),
    "day": st.sampled_from([date(2020, 1, 2), date(1969, 12, 31), None]),
}
TYPES = {"word": pl.String, "whole": pl.Int64, "real": pl.Float64, "yes": pl.Boolean, "day": pl.Date}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*CELLS.values()), min_size=1, max_size=40))
def test_packed_counts_are_those_of_a_group_by(rows):
    frame = pl.DataFrame(rows, schema=TYPES, orient="row")
    names = list(CELLS)
    counted = frame.with_columns(pl.col("real").fill_nan(None)).group_by(names).agg(pl.len().cast(pl.Int64).alias("n"))
    assert tally_packed_lazily(frame.lazy(), names, "n").equals(counted.sort(names))


def test_batches_and_waiting_keys_change_nothing(monkeypatch):
    frame = pl.DataFrame({"a": [n * n % 17 for n in range(5_000)], "b": [str(n % 5) for n in range(5_000)]})
    whole = tally_packed_lazily(frame.lazy(), ["a", "b"], "n")
    monkeypatch.setattr(lazy, "BATCH", 100)
    monkeypatch.setattr(lazy, "PENDING", 50)
    assert tally_packed_lazily(frame.lazy(), ["a", "b"], "n").equals(whole)
    assert whole["n"].sum() == 5_000


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [[1], [2]]}),
        pl.DataFrame({f"c{n}": range(200) for n in range(10)}),
    ],
    ids=["a type without order", "more than one integer holds"],
)
def test_what_cannot_be_packed_is_left_to_the_engine(frame):
    assert tally_packed_lazily(frame.lazy(), frame.columns, "n") is None
