from __future__ import annotations

import numpy as np
import pytest

from crypsis.errors import PlanError, TableError
from crypsis.privacy.model import models
from crypsis.privacy.presence import DeltaPresence
from crypsis.table.table import Table

POPULATION = Table.from_columns(
    {"zip": ["1", "1", "1", "1", "2", "2", "2"], "member": ["yes", "no", "no", "no", "yes", "yes", "no"]},
    {"zip": "quasi"},
)


def test_by_hand() -> None:
    """One of four is in the file in zip 1, two of three in zip 2."""
    assert DeltaPresence().beliefs(POPULATION) == pytest.approx([1 / 4] * 4 + [2 / 3] * 3)
    verdict = DeltaPresence(most=0.5).judge(POPULATION)
    assert (verdict.holds, verdict.offending) == (False, 3)
    assert verdict.attained == pytest.approx(2 / 3 - 1 / 2)
    assert DeltaPresence(most=0.7).judge(POPULATION).holds
    assert DeltaPresence(least=0.3, most=0.7).judge(POPULATION).offending == 4


def test_suppressed_and_numeric_members() -> None:
    held = POPULATION.without(np.arange(7) == 5)
    assert DeltaPresence().beliefs(held)[[4, 6]] == pytest.approx([0.5, 0.5])
    numbers = Table.from_columns({"zip": ["1", "1"], "in": [1, 0]}, {"zip": "quasi"})
    assert DeltaPresence(member="in", present="1").beliefs(numbers).tolist() == [0.5, 0.5]
    with pytest.raises(TableError, match="must be a number"):
        DeltaPresence(member="in").levels(numbers)


def test_refusals() -> None:
    with pytest.raises(PlanError, match="must not be above"):
        models.build("delta-presence", least=0.6, most=0.5)
    assert "no column 'joined'" in DeltaPresence(member="joined").obstacle(POPULATION)
    assert "no category" in DeltaPresence(present="ja").obstacle(POPULATION)
    assert "as well" in DeltaPresence(member="zip").obstacle(POPULATION)
    with pytest.raises(TableError, match="no category"):
        DeltaPresence(present="ja").levels(POPULATION)
