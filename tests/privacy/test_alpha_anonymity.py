from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.privacy.anonymity import AlphaKAnonymity
from crypsis.table.table import Table
from naive import models as naive

SEVEN = Table.from_columns(
    {"q": ["a", "a", "a", "a", "b", "b", "c"], "s": ["x", "x", "y", "z", "x", "y", "z"]},
    {"q": "quasi", "s": "confidential"},
)


def test_by_hand() -> None:
    assert AlphaKAnonymity(k=2).levels(SEVEN).tolist() == [0.5] * 6 + [1]
    assert AlphaKAnonymity(k=3).levels(SEVEN).tolist() == [0.5] * 4 + [1] * 3
    verdict = AlphaKAnonymity(k=2, alpha=0.5).judge(SEVEN)
    assert (verdict.holds, verdict.offending, verdict.attained) == (False, 1, 1)
    assert AlphaKAnonymity(k=2, alpha=0.5).judge(SEVEN.without(np.arange(7) == 6)).holds


def test_least_class_size() -> None:
    assert AlphaKAnonymity(k=2, alpha=0.25).least_class_size == 4
    assert AlphaKAnonymity(k=9, alpha=0.25).least_class_size == 9


@given(st.integers(0, 10_000), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_equal_to_plain_counting(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows, secret = rng.integers(0, 4, (n, 1)), rng.integers(0, 4, n)
    table = Table.from_columns(
        {"q": rows[:, 0].astype(str), "s": secret.astype(str)}, {"q": "quasi", "s": "confidential"}
    )
    expected = naive.property_vector(
        rows.tolist(),
        [True] * n,
        lambda members: naive.largest_share([int(secret[i]) for i in members]) if len(members) >= 3 else 1.0,
    )
    assert AlphaKAnonymity(k=3).levels(table) == pytest.approx(expected)


def test_obstacle() -> None:
    assert "quasi" in AlphaKAnonymity().obstacle(SEVEN.drop(["q"]))
