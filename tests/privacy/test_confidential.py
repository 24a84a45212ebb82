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
        assert "no record is left" in verdict.demand


def test_the_worst_column_decides_in_either_sense() -> None:
    table = Table.from_columns(
        {"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"], "t": ["u", "u", "v", "v"]},
        {"q": "quasi", "s": "confidential", "t": "confidential"},
    )
    assert LDiversity().judge(table).attained == 1
    assert TCloseness().judge(table).attained == 0.5


LOOK_ALIKE = Table.from_columns(
    {
        "q": ["a"] * 6 + ["b"] * 6,
        "s": ["HIV", "HIV ", "hiv", "h\u00eft", "hi\u0308t", "H\u00cfT", "HIV", "x", "y", "HIV", "x", None],
    },
    {"q": "quasi", "s": "confidential"},
)
"""Six spellings of two values beside five spellings of three and a missing one."""
FOLDED = Table.from_columns(
    {"q": ["a"] * 6 + ["b"] * 5, "s": ["1", "1", "1", "2", "2", "2", "1", "3", "4", "1", "3"]},
    {"q": "quasi", "s": "confidential"},
)
"""The same, every value in one spelling and without the record that has none."""


@pytest.mark.parametrize(
    ("name", "settings_of"),
    [
        ("l-diversity", {"l": 2}),
        ("l-diversity", {"kind": "entropy", "l": 1.5}),
        ("l-diversity", {"kind": "recursive", "l": 2}),
        ("t-closeness", {}),
        ("beta-likeness", {"kind": "basic"}),
        ("beta-likeness", {}),
        ("alpha-k-anonymity", {"k": 2}),
    ],
)
def test_look_alikes_are_one_value_and_missing_is_none(name: str, settings_of: dict[str, object]) -> None:
    model = models.build(name, **settings_of)
    assert model.levels(LOOK_ALIKE)[:11].tolist() == model.levels(FOLDED).tolist()
    assert model.judge(LOOK_ALIKE).attained == model.judge(FOLDED).attained


def test_spellings_do_not_diversify() -> None:
    table = Table.from_columns(
        {"q": ["a"] * 5, "s": ["HIV", "HIV ", "hiv", "H\u200bIV", None]}, {"q": "quasi", "s": "confidential"}
    )
    assert LDiversity(l=2).judge(table).attained == 1
    assert models.build("alpha-k-anonymity", k=5, alpha=0.5).judge(table).attained == 1


def test_k_of_a_class_counts_those_who_lack_a_value() -> None:
    table = Table.from_columns({"q": ["a"] * 4, "s": ["x", "y", None, None]}, {"q": "quasi", "s": "confidential"})
    assert models.build("alpha-k-anonymity", k=4, alpha=0.5).judge(table).holds
    assert not models.build("alpha-k-anonymity", k=5, alpha=0.5).judge(table).holds


def test_a_class_in_which_nobody_has_a_value_gives_none_away() -> None:
    table = Table.from_columns(
        {"q": ["a", "a", "b", "b"], "s": ["x", "y", None, None]}, {"q": "quasi", "s": "confidential"}
    )
    assert TCloseness().levels(table).tolist() == [0, 0, 0, 0]
    assert not LDiversity(l=2).judge(table).holds, "nor has it two values"
