from __future__ import annotations

import math
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.privacy.model import find_records_failing_model, worst_record_under_model
from crypsis.table.equivalence_classes import equivalence_class_sizes
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
    assert equivalence_class_sizes(SIX, ["a", "b"]).tolist() == [3, 3, 3, 1, 1, 1]
    assert equivalence_class_sizes(SIX, ["a"]).tolist() == [3, 3, 3, 2, 2, 1]
    assert worst_record_under_model(equivalence_class_sizes(SIX, ["a", "b"]), "at least") == 1


def test_missing_values_equal_each_other() -> None:
    table = Table.from_columns({"a": [None, None, 1.0], "b": [None, None, "x"]}, {"a": "quasi", "b": "quasi"})
    assert equivalence_class_sizes(table, ["a", "b"]).tolist() == [2, 2, 1]


def test_suppressed_records_belong_to_no_class() -> None:
    held = SIX.without(np.array([True, False, False, False, False, True]))
    sizes = equivalence_class_sizes(held, ["a", "b"])
    assert np.isnan(sizes[[0, 5]]).all()
    assert sizes[1:5].tolist() == [2, 2, 1, 1]


def test_nothing_left_is_as_bad_as_can_be() -> None:
    empty = SIX.without(np.ones(6, dtype=bool))
    assert worst_record_under_model(equivalence_class_sizes(empty, ["a"]), "at least") == 0
    assert math.isinf(worst_record_under_model(equivalence_class_sizes(empty, ["a"]), "at most"))


@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_equal_to_plain_counting(seed: int, n: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 3, (n, p)).astype(np.int32)
    kept = rng.random(n) < 0.8
    columns = {f"q{j}": [None if v < 0 else str(v) for v in rows[:, j]] for j in range(p)}
    table = Table.from_columns(columns).without(~kept)
    sizes = naive.property_vector(rows.tolist(), kept.tolist(), lambda members: float(len(members)))
    assert np.array_equal(equivalence_class_sizes(table, list(columns)), sizes, equal_nan=True)


def test_failing_allows_rounding_only() -> None:
    levels = np.array([3 - 1e-12, 2.9, np.nan, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_records_failing_model(levels, 3, "at least").tolist() == [False, True, False, False]
        assert find_records_failing_model(levels, 2.95, "at most").tolist() == [True, False, False, True]
