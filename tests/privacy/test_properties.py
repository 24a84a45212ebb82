from __future__ import annotations

import math
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.privacy.model import (
    class_sizes,
    find_failing,
    sensitive_counts,
    spread,
    worst,
)
from crypsis.table.table import Table
from naive import models as naive

SIX = Table.from_columns(
    {
        "a": ["x", "x", "x", "y", "y", None],
        "b": [1, 1, 1, 2, None, 2],
        "ill": ["flu", "flu", "hiv", "flu", "hiv", "flu"],
    },
    {"a": "quasi", "b": "quasi", "ill": "confidential"},
)


def test_by_hand() -> None:
    """Classes {0,1,2}, {3}, {4}, {5}: a missing value is a value of its own."""
    assert class_sizes(SIX, ["a", "b"]).tolist() == [3, 3, 3, 1, 1, 1]
    assert class_sizes(SIX, ["a"]).tolist() == [3, 3, 3, 2, 2, 1]
    assert sensitive_counts(SIX, ["a", "b"], "ill").tolist() == [2, 2, 1, 1, 1, 1]
    assert spread(class_sizes(SIX, ["a", "b"])) == 3 * 3 + 3
    assert worst(class_sizes(SIX, ["a", "b"]), "at least") == 1


def test_missing_values_equal_each_other() -> None:
    table = Table.from_columns({"a": [None, None, 1.0], "b": [None, None, "x"]}, {"a": "quasi", "b": "quasi"})
    assert class_sizes(table, ["a", "b"]).tolist() == [2, 2, 1]


def test_suppressed_records_belong_to_no_class() -> None:
    held = SIX.without(np.array([True, False, False, False, False, True]))
    sizes = class_sizes(held, ["a", "b"])
    assert np.isnan(sizes[[0, 5]]).all()
    assert sizes[1:5].tolist() == [2, 2, 1, 1]
    assert sensitive_counts(held, ["a", "b"], "ill")[1:5].tolist() == [1, 1, 1, 1]


def test_nothing_left_is_as_bad_as_can_be() -> None:
    empty = SIX.without(np.ones(6, dtype=bool))
    assert worst(class_sizes(empty, ["a"]), "at least") == 0
    assert math.isinf(worst(class_sizes(empty, ["a"]), "at most"))
    assert spread(class_sizes(empty, ["a"])) == 0


@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_equal_to_plain_counting(seed: int, n: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 3, (n, p)).astype(np.int32)
    secret = rng.integers(0, 3, n)
    kept = rng.random(n) < 0.8
    columns = {f"q{j}": [None if v < 0 else str(v) for v in rows[:, j]] for j in range(p)}
    table = Table.from_columns(columns | {"s": [str(v) for v in secret]}).without(~kept)
    sizes = naive.property_vector(rows.tolist(), kept.tolist(), lambda members: float(len(members)))
    assert np.array_equal(class_sizes(table, list(columns)), sizes, equal_nan=True)
    counts = [
        float(sum(secret[o] == secret[row] for o in naive.class_of(rows.tolist(), kept.tolist(), row)))
        if kept[row]
        else math.nan
        for row in range(n)
    ]
    assert np.array_equal(sensitive_counts(table, list(columns), "s"), counts, equal_nan=True)


def test_failing_allows_rounding_only() -> None:
    levels = np.array([3 - 1e-12, 2.9, np.nan, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_failing(levels, 3, "at least").tolist() == [False, True, False, False]
        assert find_failing(levels, 2.95, "at most").tolist() == [True, False, False, True]
