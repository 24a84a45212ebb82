from __future__ import annotations

import numpy as np
import pytest

from crypsis.errors import PlanError, TableError
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.model import models
from crypsis.table.table import Table

FIVE = Table.from_columns(
    {"age": [30, 30, 40, 40, 40], "sex": ["f", "f", "m", "m", "m"], "name": ["a", "b", "c", "d", "e"]},
    {"age": "quasi", "sex": "quasi", "name": "identifier"},
)


def test_by_hand() -> None:
    verdict = KAnonymity(k=3).judge(FIVE)
    assert (verdict.required, verdict.attained, verdict.holds) == (3, 2, False)
    assert (verdict.offending, verdict.records, verdict.sense) == (2, 5, "at least")
    assert KAnonymity(k=2).judge(FIVE).holds
    assert KAnonymity(k=3).levels(FIVE).tolist() == [2, 2, 3, 3, 3]


def test_suppressing_the_small_class_helps() -> None:
    verdict = KAnonymity(k=3).judge(FIVE.without(np.array([True, True, False, False, False])))
    assert (verdict.holds, verdict.attained, verdict.records, verdict.offending) == (True, 3, 3, 0)


def test_columns_named_by_hand() -> None:
    assert KAnonymity(k=2, quasi_identifiers=("name",)).judge(FIVE).attained == 1


def test_no_record_left_satisfies_nothing() -> None:
    verdict = KAnonymity(k=2).judge(FIVE.without(np.ones(5, dtype=bool)))
    assert not verdict.holds
    assert verdict.records == 0
    assert "no record" in verdict.demand


def test_declared_facts() -> None:
    assert KAnonymity.monotone_in_generalisation
    assert KAnonymity(k=7).least_class_size == 7


def test_refusals() -> None:
    with pytest.raises(PlanError, match="greater than or equal to 2"):
        models.build("k-anonymity", k=1)
    bare = Table.from_columns({"a": [1, 2]})
    assert "role 'quasi'" in KAnonymity().obstacle(bare)
    with pytest.raises(TableError, match="no quasi-identifier"):
        KAnonymity().judge(bare)
    assert "did you mean 'age'" in KAnonymity(quasi_identifiers=("agee",)).obstacle(FIVE)
