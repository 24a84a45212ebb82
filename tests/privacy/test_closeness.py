from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.privacy.closeness import TCloseness
from crypsis.privacy.model import models
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table
from naive import models as naive

SALARIES = Table.from_columns(
    {
        "zip": ["476"] * 3 + ["4790"] * 3 + ["476x"] * 3,
        "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "ill": ["ulcer", "gastritis", "cancer", "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia", "cancer"],
    },
    {"zip": "quasi", "salary": "confidential"},
)
"""The salaries of Li et al. (2007), in thousands."""


def test_the_example_of_the_paper() -> None:
    """D({3k,4k,5k}, all) = 0.375 and D({6k,8k,11k}, all) = 0.167."""
    levels = TCloseness().levels(SALARIES)
    assert levels[0] == pytest.approx(0.375)
    assert levels[3] == pytest.approx(1 / 6)


def test_equal_distance_by_hand() -> None:
    """Overall x ¾, y ¼; class a all x: ½(¼ + ¼) = ¼; class b half and half: ¼."""
    table = Table.from_columns(
        {"q": ["a", "a", "b", "b"], "s": ["x", "x", "x", "y"]}, {"q": "quasi", "s": "confidential"}
    )
    assert TCloseness().levels(table).tolist() == [0.25] * 4
    verdict = TCloseness(t=0.25).judge(table)
    assert (verdict.holds, verdict.attained, verdict.sense) == (True, 0.25, "at most")
    assert TCloseness(t=0.2).judge(table).offending == 4


def test_distance_moves_something() -> None:
    assert TCloseness(distance="equal").levels(SALARIES)[0] == pytest.approx(2 / 3)
    assert TCloseness(distance="ordered").levels(SALARIES)[0] == pytest.approx(0.375)


def test_worst_column_counts_and_one_class_is_the_table() -> None:
    worst = TCloseness(confidential=("salary", "ill")).levels(SALARIES)
    alone = [TCloseness(confidential=(name,)).levels(SALARIES) for name in ("salary", "ill")]
    assert np.array_equal(worst, np.maximum(*alone))
    whole = SALARIES.with_columns({"zip": np.zeros(9, dtype=np.int32)})
    assert TCloseness().levels(whole) == pytest.approx(np.zeros(9))


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_equal_to_plain_counting(seed: int, n: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    rows, secret, kept = rng.integers(0, 4, (n, 1)), rng.integers(0, values, n), rng.random(n) < 0.9
    attributes = (
        Attribute("q", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d")),
        Attribute("s", Kind.ORDINAL, Role.CONFIDENTIAL, tuple(str(v) for v in range(values))),
    )
    table = Table(attributes, (rows[:, 0].astype(np.int32), secret.astype(np.int32))).without(~kept)
    everyone = secret[kept].tolist()
    for distance, of in (("equal", naive.equal_distance), ("ordered", naive.ordered_distance)):
        expected = naive.property_vector(
            rows.tolist(), kept.tolist(), lambda members, of=of: of([int(secret[i]) for i in members], everyone)
        )
        assert TCloseness(distance=distance).levels(table) == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_merging_classes_never_hurts() -> None:
    rng = np.random.default_rng(1)
    table = Table.from_columns(
        {"q": rng.integers(0, 6, 200).astype(str), "s": rng.integers(0, 50, 200)}, {"q": "quasi", "s": "confidential"}
    )
    merged = table.with_columns({"q": table.column("q") // 2})
    assert TCloseness().judge(merged).attained <= TCloseness().judge(table).attained + 1e-12


def test_refusals() -> None:
    nominal = TCloseness(distance="ordered", confidential=("ill",))
    assert "has no order" in nominal.obstacle(SALARIES)
    assert TCloseness(distance="ordered").obstacle(SALARIES) == ""
    assert TCloseness().least_class_size == 1
    assert models.build("t-closeness", t=0.3).required == 0.3


@pytest.mark.parametrize(("kind", "level"), [(Kind.ORDINAL, 0.125), (Kind.NOMINAL, 0.25)])
def test_the_distance_follows_the_kind_of_the_column(kind: Kind, level: float) -> None:
    """Low, low, high, high among three low, two middle and three high: an eighth moves one step of two up and one down.

    Without an order a quarter of the grades are others.
    """
    grades = Attribute("grade", kind, Role.CONFIDENTIAL, ("low", "middle", "high"))
    towns = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b"))
    held = np.array([0, 0, 2, 2, 0, 1, 1, 2], dtype=np.int32), np.repeat(np.arange(2, dtype=np.int32), 4)
    assert TCloseness().levels(Table((grades, towns), held)).tolist() == [level] * 8
