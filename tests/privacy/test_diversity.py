from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.model import models
from crypsis.table.table import Table
from naive import models as naive

EIGHT = Table.from_columns(
    {
        "zip": ["1", "1", "1", "1", "2", "2", "2", "2"],
        "ill": ["flu", "flu", "hiv", "cold", "flu", "flu", "hiv", "hiv"],
        "pay": [1, 1, 1, 1, 1, 2, 3, 4],
    },
    {"zip": "quasi", "ill": "confidential"},
)


def test_by_hand() -> None:
    """Class 1: flu 2, hiv 1, cold 1; class 2: flu 2, hiv 2."""
    assert LDiversity().levels(EIGHT).tolist() == [3, 3, 3, 3, 2, 2, 2, 2]
    entropy = LDiversity(kind="entropy").levels(EIGHT)
    assert entropy[0] == pytest.approx(2 ** (0.5 + 0.25 * 2 + 0.25 * 2))
    assert entropy[7] == pytest.approx(2)
    # c = 1: class 1 needs 2 < r_l + …: 4 (l=1) yes, 2 (l=2) no; class 2: 2 < 4 yes, 2 < 2 no.
    assert LDiversity(kind="recursive", c=1).levels(EIGHT).tolist() == [1] * 8
    # c = 2.5: class 1: 2 < 2.5·2 (l=2), 2 < 2.5·1 (l=3); class 2: 2 < 2.5·2 (l=2).
    assert LDiversity(kind="recursive", c=2.5).levels(EIGHT).tolist() == [3] * 4 + [2] * 4


def test_verdicts() -> None:
    verdict = LDiversity(l=3).judge(EIGHT)
    assert (verdict.holds, verdict.attained, verdict.offending, verdict.records) == (False, 2, 4, 8)
    assert LDiversity(l=2, kind="entropy").judge(EIGHT).holds, "exactly 2 is enough, whatever rounding says"
    assert "less than 3 times" in LDiversity(kind="recursive").judge(EIGHT).demand


def test_the_worst_confidential_column_counts() -> None:
    both = LDiversity(confidential=("ill", "pay")).levels(EIGHT)
    assert both.tolist() == [1] * 4 + [2] * 4
    assert LDiversity(confidential=("pay",)).levels(EIGHT).tolist() == [1] * 4 + [4] * 4


def test_suppressed_records_do_not_diversify() -> None:
    held = EIGHT.without(np.arange(8) == 3)
    assert LDiversity().levels(held)[:3].tolist() == [2, 2, 2]
    assert math.isnan(LDiversity().levels(held)[3])


def test_a_missing_value_is_no_value() -> None:
    table = Table.from_columns(
        {"q": ["a", "a", "a", "b", "b", "c"], "s": ["x", None, None, "x", "y", None]},
        {"q": "quasi", "s": "confidential"},
    )
    assert LDiversity().levels(table).tolist() == [1, 1, 1, 2, 2, 0]
    assert LDiversity(kind="entropy").levels(table) == pytest.approx([1, 1, 1, 2, 2, 0])
    assert LDiversity(kind="recursive", c=1.5).levels(table).tolist() == [1, 1, 1, 2, 2, 0]


@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from([0.5, 1.0, 1.5, 3.0]))
@settings(max_examples=50, deadline=None)
def test_equal_to_plain_counting(seed: int, n: int, c: float) -> None:
    rng = np.random.default_rng(seed)
    rows, secret, kept = rng.integers(0, 3, (n, 2)), rng.integers(0, 5, n) ** 2 // 4, rng.random(n) < 0.9
    table = Table.from_columns(
        {"a": rows[:, 0].astype(str), "b": rows[:, 1].astype(str), "s": secret.astype(str)},
        {"a": "quasi", "b": "quasi", "s": "confidential"},
    ).without(~kept)

    def expected(of: object) -> list[float]:
        return naive.property_vector(rows.tolist(), kept.tolist(), lambda members: of([secret[i] for i in members]))

    for kind, of in (("distinct", naive.distinct), ("entropy", naive.effective)):
        assert LDiversity(kind=kind).levels(table) == pytest.approx(expected(of), nan_ok=True)
    depth = LDiversity(kind="recursive", c=c).levels(table)
    assert depth == pytest.approx(expected(lambda values: naive.recursive(values, c)), nan_ok=True)


def test_refusals() -> None:
    with pytest.raises(PlanError, match="belongs to kind"):
        models.build("l-diversity", c=2.0)
    with pytest.raises(PlanError, match="whole number"):
        models.build("l-diversity", l=2.5)
    with pytest.raises(PlanError, match="greater than 1"):
        models.build("l-diversity", l=1)
    assert models.build("l-diversity", l=2.5, kind="entropy").least_class_size == 3
    bare = Table.from_columns({"q": [1, 2]}, {"q": "quasi"})
    assert "role 'confidential'" in LDiversity().obstacle(bare)
    with pytest.raises(TableError, match="no confidential"):
        LDiversity().judge(bare)
    assert "at once" in LDiversity(confidential=("zip",)).obstacle(EIGHT)
    assert "no column 'wages'" in LDiversity(confidential=("wages",)).obstacle(EIGHT)
