from __future__ import annotations

import numpy as np
import pytest

from crypsis.errors import TableError
from crypsis.privacy.closeness import TCloseness
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.model import models
from crypsis.table.table import Table

BARE = Table.from_columns({"a": [1.0, 2.0], "s": ["x", "y"]}, {"a": "quasi"})


@pytest.mark.parametrize("name", list(models))
def test_every_model_refuses_a_table_without_quasi_identifiers(name: str) -> None:
    bare = Table.from_columns({"a": [1.0, 2.0], "member": ["yes", "no"]}, {"member": "confidential"})
    model = models.build(name)
    assert "quasi" in model.obstacle(bare)
    with pytest.raises(TableError):
        model.judge(bare)


def test_levels_without_a_confidential_column_say_so() -> None:
    with pytest.raises(TableError, match="role 'confidential'"):
        LDiversity().levels(BARE)


def test_a_model_that_sees_no_obstacle_still_needs_a_confidential_column() -> None:
    class Careless(LDiversity):
        def obstacle(self, table: Table) -> str:
            return ""

    with pytest.raises(TableError, match=r"^no confidential column was named$"):
        Careless().levels(BARE)


def test_a_verdict_on_no_records_does_not_hold() -> None:
    table = BARE.with_roles({"s": "confidential"}).without(np.ones(2, dtype=bool))
    for model in (LDiversity(), TCloseness()):
        verdict = model.judge(table)
        assert not verdict.holds
        assert verdict.offending == 0
        assert "no record is left" in verdict.statement


def test_the_worst_column_decides_in_either_sense() -> None:
    table = Table.from_columns(
        {"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"], "t": ["u", "u", "v", "v"]},
        {"q": "quasi", "s": "confidential", "t": "confidential"},
    )
    assert LDiversity().judge(table).attained == 1
    assert TCloseness().judge(table).attained == 0.5
