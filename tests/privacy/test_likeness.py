from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.privacy.likeness import BetaLikeness
from crypsis.table.table import Table
from naive import models as naive

SIX = Table.from_columns(
    {"q": ["a", "a", "a", "b", "b", "b"], "s": ["x", "x", "y", "x", "y", "y"]}, {"q": "quasi", "s": "confidential"}
)


def test_by_hand() -> None:
    """Overall ½ each; class a holds x twice of three: (⅔ - ½)/½ = ⅓; -ln ½ = 0.69 allows it."""
    assert BetaLikeness().levels(SIX) == pytest.approx([1 / 3] * 6)
    assert BetaLikeness(beta=1 / 3).judge(SIX).holds
    assert BetaLikeness(beta=0.3).judge(SIX).offending == 6


def test_enhanced_forbids_what_beta_would_allow() -> None:
    """Class a is all x: the gain is 1 > -ln ½."""
    table = Table.from_columns(
        {"q": ["a", "a", "b", "b"], "s": ["x", "x", "y", "y"]}, {"q": "quasi", "s": "confidential"}
    )
    assert BetaLikeness(beta=5, kind="basic").judge(table).holds
    verdict = BetaLikeness(beta=5).judge(table)
    assert not verdict.holds
    assert math.isinf(verdict.attained)


def test_a_value_that_everybody_has_cannot_be_learnt() -> None:
    """Its share is 1 in the table and in every class: a gain of 0, which -ln 1 = 0 just allows."""
    table = Table.from_columns({"q": ["a", "a", "b"], "s": ["x", "x", "x"]}, {"q": "quasi", "s": "confidential"})
    for kind in ("basic", "enhanced"):
        assert BetaLikeness(kind=kind).levels(table).tolist() == [0, 0, 0]
        assert BetaLikeness(kind=kind).judge(table).holds


@given(st.integers(0, 10_000), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_equal_to_plain_counting(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows, secret, kept = rng.integers(0, 3, (n, 1)), rng.integers(0, 4, n), rng.random(n) < 0.9
    table = Table.from_columns(
        {"q": rows[:, 0].astype(str), "s": secret.astype(str)}, {"q": "quasi", "s": "confidential"}
    ).without(~kept)
    everyone = secret[kept].tolist()
    expected = naive.property_vector(
        rows.tolist(), kept.tolist(), lambda members: naive.largest_gain([int(secret[i]) for i in members], everyone)
    )
    levels = BetaLikeness(kind="basic").levels(table)
    assert levels == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_obstacle() -> None:
    assert "confidential" in BetaLikeness().obstacle(SIX.drop(["s"]))
